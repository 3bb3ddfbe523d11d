/* What the host and the kernels of a world hand each other (world.cl). */
#ifndef WORLD_WORLD_SHARED_H
#define WORLD_WORLD_SHARED_H

/* Particles that leave the place where they are known, and who must be asked about solids anew. */
typedef struct LeaveShared {
  double origin[3];
  int count;
  int solids, words;        /* words of 32 bits that say which solids are near a particle */
  float allowed;            /* m */
  float closer;             /* m: solids have come that much closer to everybody */
  float reach, skin, slack; /* radii, m, m: whose clearance is larger need not be asked */
  float beyond;             /* m: so much farther they look for solids */
  int unused;
} LeaveShared;

/* Of the counters of a step (state/mirror.h): squares of the largest speed and of the longest way since lists were
 * made, as the bits of floats; whether a particle is not finite. */
enum { WORD_FASTEST, WORD_BAD, WORD_FARTHEST };

enum { WORLD_OVERLAP_GROUP = 64 };

/* Commit: where the words of this step and of the next begin, and how many there are. */
typedef struct MoveShared {
  int count, words, next, word_count;
} MoveShared;

#endif
