/* What the files of this room share. */
#ifndef UPSAMPLE_INTERNAL_H
#define UPSAMPLE_INTERNAL_H

#include "geometry/distance_grid.h"
#include "neighbors/neighbors.h"
#include "upsample/upsample.h"
#include "upsample/upsample_kernels.h"

/* Lengths in radii of the coarse grains. */
#define REACH 3.0         /* of the weights (the paper's) */
#define COVERED 1.70      /* nearer to a coarse centre than this a fine grain goes with the coarse ones ... */
#define FREE 1.75         /* ... and farther than this it flies. A wide window would let it sink slowly for seconds */
#define STIR_CELL 1.5     /* side of the cells whose counts tell where it is crowded */
#define REST 0.01         /* coarse grains that moved less since they were last looked at are at rest */
#define DISTANCE_CELL 0.5 /* of the cached distance to meshes */
#define DISTANCE_BAND 6.0

/* A parcel of bulk material counts as the sphere that settles into the same room: (4/3) pi (q r)^3 = 0.6 (2 r)^3. */
#define PARCEL_SPHERE 1.0464

/* A solid as fine grains see it: the shape with a cache of distances of our own, so that what the method touches stays
 * exact, and the poses between which it moved in the frame. */
typedef struct FineSolid {
  Shape shape;
  DistanceGrid *cache; /* NULL: exact */
  bool sampled;        /* coarse samples stand for it in the paper's mode */
  Vec3 position[2];    /* of the shape's frame at the beginning and at the end of the frame */
  Quat rotation[2];
  float turn[2][3][3]; /* world to shape axes */
  float shift[2][3];   /* what to add to a position before turning it */
  float drift[3];      /* of the shape's origin over the frame */
  double moved;        /* m, no point of it moved farther in the frame */
  double friction_static, friction_kinetic;
} FineSolid;

typedef struct Upsample {
  ScreeUpsampleDef definition;
  double coarse_radius;
  FineGrains grains;
  CellGrid *coarse_grid, *moving_grid, *sample_grid;
  float *seen_x, *seen_y, *seen_z; /* fields of the particles: where each was when last looked at */
  uint8_t *seen;                   /* 0: born since */
  FineSolid *solids;
  int32_t solid_count;
  uint64_t pack[PACK_TABLE];
  uint32_t *counts; /* fine grains per cell, see stir.c */
  /* Of storage, free to be forgotten: */
  uint8_t *resting;    /* per block of FINE_BLOCK grains: nothing moves in it */
  float (*bounds)[6];  /* of resting blocks: low, high */
  bool unsorted;       /* grains came or went */
  double pairs_sorted; /* pairs looked at per grain just after sorting; 0: not known */
  double pairs;        /* in the last frame */
} Upsample;

static inline void bounds_widen(const float bounds[6], float by, float wide[6]) {
  for (int axis = 0; axis < 3; axis++) wide[axis] = bounds[axis] - by, wide[3 + axis] = bounds[3 + axis] + by;
}

/* grains.c */
Status fine_reserve(Core *core, FineGrains *grains, int64_t capacity);
Status fine_append(Core *core, Upsample *upsample, int64_t count, int64_t *first);
/* New grain k is old grain order[k]. */
Status fine_permute(Core *core, Upsample *upsample, Scratch *scratch, const int32_t *order, int64_t count);
/* Nothing is known about blocks any more. */
Status fine_forget_blocks(Core *core, Upsample *upsample);

/* order.c: sorts the grains along a space-filling curve, so that those that follow each other are near each other. */
Status fine_sort(Core *core, Upsample *upsample, Scratch *scratch);

/* births.c */
Status fine_births(Core *core, Upsample *upsample, const State *state);
Status fine_sinks(Core *core, Upsample *upsample, const State *state, const Solids *sinks, Scratch *scratch);

/* coarse.c: the coarse grains of this frame, in the order of their cells. */
typedef struct CoarseSets {
  CoarseSet grains, samples;
  int64_t moving; /* grains that are not at rest */
} CoarseSets;
Status coarse_gather(Core *core, Upsample *upsample, const State *state, Scratch *scratch, double dt, CoarseSets *sets);
/* Whether a coarse grain that is not at rest, or a moving solid, is within `reach` of a box. */
bool coarse_stirs(const Upsample *upsample, const CoarseSets *sets, const float bounds[6], float reach);

/* solids.c */
Status solids_view_create(Core *core, Upsample *upsample, const State *state);
void solids_view_refresh(Upsample *upsample, const State *state);
void solids_view_commit(Upsample *upsample);
/* A lower bound of the distance of a box from the solid, at the beginning (0) or end (1) of the frame. */
double solid_view_gap(const FineSolid *solid, const float bounds[6], int when);
/* Distance and normal of every solid that may be within `reach` of the box: the nearest, at the beginning. */
bool walls_before(const Core *core, const Upsample *upsample, const float bounds[6], double reach, FineBlock *block);
/* The paper's weights of solids without samples. */
void walls_weigh(const Core *core, const Upsample *upsample, const FineLaw *law, const float bounds[6],
                 FineBlock *block);
/* Keeps grains out of solids: stops them, with friction, and puts out what is inside. */
void walls_after(const Core *core, const Upsample *upsample, const State *state, const float bounds[6], double dt,
                 FineBlock *block);

/* stir.c: fine grains in moving sand go from crowded to sparse cells. */
typedef struct Stir {
  uint32_t *counts;
  CountCells cells;
} Stir;
Status stir_prepare(Core *core, Upsample *upsample, const CoarseSets *sets, Stir *stir);
void stir_count(const Core *core, const Stir *stir, int64_t count, const float *x, const float *y, const float *z);
void stir_push(const Stir *stir, const FineLaw *law, FineBlock *block);

#endif
