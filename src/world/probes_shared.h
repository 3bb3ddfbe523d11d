/* Sums of probes over all particles, as the host hands them to their kernel (probes.cl). */
#ifndef WORLD_PROBES_SHARED_H
#define WORLD_PROBES_SHARED_H

#include "world/probe_total_law.h"

/* Particles of a chunk are added up in the order of storage, and chunks one after the other. */
enum { PROBE_CHUNK = 1024, PROBE_GROUP = 128 };

enum { TOTAL_CROSSED, TOTAL_MASS, TOTAL_KINETIC, TOTAL_TURNING, TOTAL_POTENTIAL };

typedef struct ProbeTotal {
  Vec3 origin, gravity;
  Vec3 low, high; /* a box; infinite where there is none */
  float height;   /* relative to the origin */
  int what;       /* TOTAL_... */
} ProbeTotal;

#endif
