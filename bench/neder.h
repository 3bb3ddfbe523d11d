/* Sand of Neder 2023's sizes, as both suites that measure sph have it. */
#ifndef BENCH_NEDER_H
#define BENCH_NEDER_H

#include "bench/bench.h"
#include "world/world.h"

#define NEDER_RADIUS 0.02
#define NEDER_MS 16.0 /* a frame of 8,192 parcels and 573,440 fine grains on its author's GPU */

typedef struct NederSand {
  double radius, height; /* of the heap's cylinder, or a box of this side */
  bool box, fine;
  const char *device; /* NULL: the CPU */
  int threads;
} NederSand;

/* The paper's heap; smaller where everything is only tried out. */
NederSand neder_heap(const BenchTable *table);
/* The same depth of sand in a box, however wide. */
NederSand neder_box(double half);
Status neder_world(Core *core, const NederSand *sand, ScreeWorld **world);
/* So many frames; the shortest, where it is asked for. */
Status neder_frames(Core *core, ScreeWorld *world, int count, double *quickest);

#endif
