/* What the host and the kernels of a world hand each other (world.cl). */
#ifndef WORLD_WORLD_SHARED_H
#define WORLD_WORLD_SHARED_H

/* Particles that leave the place where they are known, and who must be asked about solids anew. */
typedef struct LeaveShared {
  int count;
  float allowed;            /* m */
  float closer;             /* m: solids have come that much closer to everybody */
  float reach, skin, slack; /* radii, m, m: whose clearance is larger need not be asked */
} LeaveShared;

enum { WORLD_MOVED, WORLD_ASKED, WORLD_FASTEST, WORLD_BAD, WORLD_WORDS };

/* What is known of a particle that was asked about. */
typedef struct AnswerShared {
  int index, near;
  float clear;
} AnswerShared;

enum { NEAR_FLOATS = 9 }; /* x, low and d of a particle near a solid */

#endif
