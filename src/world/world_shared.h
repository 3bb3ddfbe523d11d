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
 * made, as the bits of floats; whether a particle is not finite; how many have left the place where they were known,
 * are in a sink, crowd where emitters pour, die; and the square of the largest speed of those that were thrown. */
enum { WORD_FASTEST, WORD_BAD, WORD_FARTHEST, WORD_GONE, WORD_DRAINED, WORD_CROWD, WORD_DEAD, WORD_THROWN };

enum { WORLD_OVERLAP_GROUP = 64 };

/* Who is asked about all particles: how many there are, the word that counts those that are meant, and for how many of
 * them there is room in a list. */
typedef struct GatherShared {
  double origin[3];
  int count, counter, room, unused;
} GatherShared;

/* A particle in a sink, one near where an emitter pours, one that dies. */
typedef struct DrainedThere {
  int index;
  unsigned id;
} DrainedThere;

typedef struct CrowdThere {
  float x, y, z, radius;
  int emitter;
} CrowdThere;

typedef struct DeadThere {
  int index;
  unsigned id;
  float x, y, z, mass;
} DeadThere;

/* Commit: where the words of this step and of the next begin, and how many there are. */
typedef struct MoveShared {
  int count, words, next, word_count;
} MoveShared;

#endif
