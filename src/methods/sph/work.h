/* The stages of a step. Arrays live in scratch for one step; those of parcels are padded to whole slices of LANES. */
#ifndef METHODS_SPH_WORK_H
#define METHODS_SPH_WORK_H

#include "core/simd.h"
#include "methods/method.h"
#include "methods/sph/sph_shared.h"

enum { STRESS_PRESSURE = 6 }; /* where a row of stress has the pressure */

/* ---- what outlives a step ---- */

/* Fields of the parcels; finish_chunk and sph_walls_keep write them for the next step. */
typedef struct SphFields {
  float *pressure;   /* Pa */
  float (*shear)[6]; /* deviatoric stress xx yy zz xy xz yz, Pa */
  SphGrip (*grip)[SPH_GRIPS];
} SphFields;

/* How parcels of a material behave. */
typedef struct SphMaterial {
  float friction; /* sqrt(2) sin(theta) */
  float cohesion; /* sqrt(2) c, Pa */
  float wall_friction;
} SphMaterial;

typedef struct SphSettings {
  double compression, shear; /* mean residuals that end the iteration */
  int64_t most_iterations;
  double drag; /* coefficient of a parcel */
  bool memory;
} SphSettings;

/* The passes of the iteration. sph_create takes those of sph_kernels.h; a test may put others in their place. */
typedef void SphPass(void *work, int64_t b, int64_t e, int thread);
typedef struct SphPasses {
  SphPass *bound, *velocity, *stress;
} SphPasses;
SphPasses *sph_passes(void *data); /* of the method's data */

/* ---- pairs ---- */

/* The k-th neighbours of the eight parcels of a slice and the kernel's gradients there, in their steps
 * (density_law.h). The passes wait for memory, and 16-bit integers take half of what floats take. A neighbour is named
 * by where its row of four floats begins, in floats: an address is made of that without shifting. */
typedef struct SphSlot {
  uint32_t row[LANES];
  int16_t x[LANES], y[LANES], z[LANES];
} SphSlot;

/* Neighbours within the support. sph_pairs_find fills it; it holds until the end of the step. */
typedef struct SphPairs {
  float (*place)[4];   /* x, y, z, 1/mass */
  int64_t *slot_start; /* of a slice's slots */
  int32_t *width;      /* how many slots it has */
  SphSlot *slots;
  float gradient_step; /* 1/m, of the gradients in slots */
  float *sum[3];       /* of a parcel's gradients, 1/m */
  float *square;       /* sum of their squares over the neighbour's mass */
  /* sph_shield_find: neighbours behind a solid, a bit each of the parcel's row of the neighbour list, whole bytes. */
  const int64_t *hidden_start; /* of the bytes of a row of parcels, -1: none is; NULL: of nobody */
  const uint8_t *hidden;
  int64_t hidden_bytes;
} SphPairs;

/* ---- walls ---- */

/* A boundary contact: a parcel and a side of a solid. */
typedef struct SphContact {
  int32_t particle, solid;
  int32_t face;      /* which one of which solid, from 1: stays the same while the parcel is at it */
  float normal[3];   /* out of the solid */
  bool known;        /* friction of it is remembered */
  float share;       /* what it adds to the relative density */
  float slope;       /* 1/m, how fast that falls with the distance */
  float velocity[3]; /* of the solid there; sph_walls_follow changes it in every iteration */
  double point[3];   /* where it is touched, world */
  float friction;    /* Coulomb coefficient */
  float part;        /* of the parcel's slip that it is to stop */
  float mass;        /* of the parcel */
  float grip_gain;   /* kg/s, friction force per slip that a pass adds */
  float mobility;    /* 1/kg, of the solid along the normal, times its number of contacts */
  /* Of the iteration: sph_walls_begin and every stress pass. */
  float grip[3];      /* N, friction force on the parcel */
  float normal_force; /* N */
} SphContact;

/* sph_walls_find and sph_walls_split fill it; it holds until the end of the step, but for what the iteration changes in
 * contacts. */
typedef struct SphWalls {
  const int32_t *who; /* parcels that may have contacts: the rows; NULL: every parcel is one */
  int64_t rows;
  int32_t *start; /* of a row's contacts; rows + 1 of them */
  SphContact *contacts;
  int64_t count;
  const int32_t *moving; /* contacts with solids that the sand can move */
  int64_t moving_count;
} SphWalls;

/* ---- density and pressure ---- */

typedef struct SphPressure {
  float *density;  /* over rest density: sph_pairs_find, then sph_walls_weigh adds walls; holds to the end */
  float *source;   /* density that the iteration starts from: begin_chunk */
  float *gain;     /* gains_chunk */
  float *mobility; /* dt volume / mass: gains_chunk */
  float *pressure; /* begin_chunk, then every stress pass */
} SphPressure;

/* ---- frictional stress ---- */

typedef struct SphShear {
  float *gain;                         /* gains_chunk */
  float *friction, *cohesion;          /* of the bound: begin_chunk */
  float *wall_weight, *surface_weight; /* of confinement, in steps of the gradient: begin_chunk */
  float *bound;                        /* of the norm, Pa: bound pass, every BOUND_EVERY iterations */
  float *shear[6];                     /* begin_chunk, then every stress pass */
} SphShear;

/* ---- velocity ---- */

/* What the velocity pass reads and writes. A step uses it twice: shift_begin_chunk to shift_end_chunk for the shift,
 * then sph_air_start and begin_chunk to the end for the velocity. */
typedef struct SphMotion {
  float *start[3];      /* velocity without stress */
  float (*stress)[8];   /* xx yy zz xy xz yz: deviator less pressure; and the pressure again */
  float *wall_gain[3];  /* velocity that walls give */
  float (*velocity)[4]; /* and in air.c and collisions the mass */
} SphMotion;

/* ---- step control ---- */

/* sph_step fills the numbers; they hold for the step. */
typedef struct SphControl {
  float dt, spacing, volume;
  float pace;                    /* of this step against the usual one, at most 1 */
  float collision;               /* share of its approach that a pair loses, at the kernel's steepest */
  float slack;                   /* compression that makes no pressure */
  float down[3];                 /* unit vector; zero: nothing falls */
  float kept, held;              /* of pressure and friction, for the next step: known after the iteration */
  bool settles;                  /* friction of the next step begins as that of sand at rest */
  double (*residual)[RESIDUALS]; /* sums per chunk of slices (SPH_SLICE_CHUNK): every stress pass */
} SphControl;

typedef struct SphWork {
  Step *step;
  const SphSettings *settings;
  const SphMaterial *materials;
  const SphPasses *passes;
  SphFields fields;
  int64_t count, slices;
  SphControl control;
  SphPairs pairs;
  SphWalls walls;
  SphPressure pressure;
  SphShear shear;
  SphMotion motion;
  float *shift[3]; /* displacement that takes compression back without making speed: shift_end_chunk */
} SphWork;

struct SphRays; /* view.h */

/* pairs.c */
Status sph_pairs_find(SphWork *work);
/* walls.c. sample_volume: of the samples of solids, over that of a parcel. */
Status sph_walls_find(SphWork *work, const struct SphRays *rays, const float *sample_volume);
/* Adds their shares to the densities. */
void sph_walls_weigh(SphWork *work);
/* The parcel that a row is of. */
static inline int64_t sph_row_parcel(const SphWork *work, int64_t row) {
  return work->walls.who ? work->walls.who[row] : row;
}
/* Whether parcel i may have contacts; whether it must know where its neighbours are, since a solid may hide some. */
bool sph_walls_possible(const State *state, int64_t i);
bool sph_shield_possible(const State *state, int64_t i);
/* A plane has nothing on its other side, and no line within a convex container leaves it. */
bool sph_may_shield(const Solid *solid);
/* Whether forces move it at all. */
bool sph_can_move(const Solid *solid);
/* Reduces the slopes of a row's contacts by what counts twice where samples meet other walls, and returns that. */
float sph_walls_twice(SphWork *work, int64_t row);
/* shield.c: pairs with a solid between them, which are none. Comes before sph_pairs_find. */
Status sph_shield_find(SphWork *work);
/* Solids that sand can move share their mobility among their contacts. */
void sph_walls_split(SphWork *work);
/* Forces of parcel i's contacts under the stress that the last step left. */
void sph_walls_begin(SphWork *work, int64_t i);
/* Solids that sand can move follow the forces of the pass before. */
void sph_walls_follow(SphWork *work);
/* Friction for the next step, as far as it is held. */
void sph_walls_keep(SphWork *work);
/* Wrenches on the solids. */
void sph_walls_load(SphWork *work);
/* air.c: gravity, air and collisions give the velocity without stress. */
Status sph_air_start(SphWork *work);
/* What gravity and air do in the step; `fastest` is the square of the largest speed of a parcel. */
SphAirShared sph_air_of(const SphWork *work, double fastest);

#endif
