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
  int counters;             /* where those of the step begin */
} LeaveShared;

/* Of the counters of a step (state/mirror.h): squares of the largest speed and of the longest way since lists were
 * made, as the bits of floats; whether a particle is not finite; how many have left the place where they were known. */
enum { WORD_FASTEST, WORD_BAD, WORD_FARTHEST, WORD_GONE };

enum { WORLD_OVERLAP_GROUP = 64 };

/* Commit: where the words of this step and of the next begin, and how many there are. */
typedef struct MoveShared {
  int count, words, next, word_count;
} MoveShared;

#endif
