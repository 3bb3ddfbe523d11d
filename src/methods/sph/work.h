/* What the parts of a step share. Arrays live in scratch for one step, padded to whole groups of LANES particles.
 *
 * Pairs are stored for groups of eight particles: slot k of a group holds the k-th neighbour of each of its particles
 * as eight indices and eight gradients, so that a kernel adds up eight particles side by side. */
#ifndef METHODS_SPH_WORK_H
#define METHODS_SPH_WORK_H

#include "core/simd.h"
#include "methods/method.h"

enum { RESIDUAL_COMPRESSION, RESIDUAL_EXPANSION, RESIDUAL_SHEAR, FLOWING, RESIDUALS };
enum { SPH_WALLS_MAX = 4, SPH_GROUP_CHUNK = 32 };
enum { STRESS_PRESSURE = 6 }; /* where a row of stress has the pressure */

/* Faults of the draft that may be repeated to see what they do: the order of the parameter `fault`. */
enum { FAULT_NONE, FAULT_FACE_D, FAULT_HALF_TRACE, FAULT_OLD_STRAIN, FAULT_UNSIGNED, FAULT_ABSOLUTE, FAULT_YIELD };

/* The k-th neighbours of eight particles and the kernel's gradients there, times the volume of a parcel and the
 * spacing, in steps of 1 / SPH_GRADIENT_STEPS. The passes wait for memory, and whole numbers of 16 bits take half the
 * room. They are rounded alike up and down, so that the two of a pair still have opposite gradients to the last bit. A
 * neighbour is named by where its row of four floats begins, in floats: what an address is made of without shifting. */
typedef struct SphSlot {
  uint32_t row[LANES];
  int16_t x[LANES], y[LANES], z[LANES];
} SphSlot;
#define SPH_GRADIENT_STEPS 65536.0f /* the steepest gradient, 1 / pi, is 20861 of them */

/* Remembered from step to step: the friction force of the faces that a particle touched. */
typedef struct SphGrip {
  float force[3];
  int32_t face; /* 0: none; see SphWall */
} SphGrip;

typedef struct SphFields {
  float *pressure;   /* Pa */
  float (*shear)[6]; /* deviatoric stress xx yy zz xy xz yz, Pa */
  SphGrip (*grip)[SPH_WALLS_MAX];
} SphFields;

/* A particle near a solid. */
typedef struct SphWall {
  int32_t particle, solid;
  int32_t face;      /* which one of which solid, from 1: stays the same while the particle is at it */
  float normal[3];   /* out of the solid */
  float share;       /* what it adds to the relative density */
  float slope;       /* 1/m, how fast that falls with the distance */
  float velocity[3]; /* of the solid there */
  double point[3];   /* where it is touched, world */
  float friction;    /* Coulomb coefficient */
  float grip_gain;   /* kg/s, force per slip that a pass adds */
  float grip[3];     /* N, friction on the particle */
  float push;        /* N, along the normal */
  float yielding;    /* 1/kg, of the solid along the normal, times its number of contacts */
} SphWall;

/* How parcels of a material behave. */
typedef struct SphMaterial {
  float friction; /* sqrt(2) sin(theta) */
  float cohesion; /* sqrt(2) c, Pa */
  float wall_friction;
} SphMaterial;

typedef struct SphSettings {
  double compression, shear; /* means that end the iteration */
  int64_t most_iterations;
  double drag; /* coefficient of a parcel */
  bool memory;
  int fault;
} SphSettings;

typedef struct SphWork {
  Step *step;
  const SphSettings *settings;
  const SphMaterial *materials;
  SphFields fields;
  int64_t count, groups;
  float dt, spacing, volume;
  float pace;          /* of this step against the usual one, at most 1 */
  float kept;          /* of the stress, for the next step */
  float gradient_step; /* 1/m, of the gradients in slots */
  float collision;     /* share of its approach that a pair loses in a step, at the kernel's steepest */
  float (*place)[4];   /* x, y, z, 1/mass */
  int64_t *slice;      /* where a group's slots begin, in slots */
  int32_t *width;      /* how many it has */
  SphSlot *slots;
  float *density;  /* over rest density */
  float *sum[3];   /* sum of the gradients, 1/m */
  float *square;   /* sum of their squares over the neighbour's mass */
  float *start[3]; /* velocity without stress */
  float (*velocity)[4];
  const float (*strained)[4]; /* FAULT_OLD_STRAIN: the velocity whose strain counts; NULL: the predicted one */
  float (*stress)[8];         /* xx yy zz xy xz yz: deviator less pressure; and the pressure again */
  float *pressure, *shear[6];
  float *mobility; /* dt volume / mass */
  float *pressure_gain, *shear_gain;
  float *friction, *cohesion;
  /* Of a parcel's surroundings, what are walls, and where nothing is: as lengths of gradients, in their steps. */
  float *wall_around, *none_around;
  float *bound;        /* of the norm of the deviator, Pa */
  float *wall_gain[3]; /* velocity that walls give */
  float *shift[3];     /* displacement that takes compression back without making speed */
  int32_t *wall_start; /* count + 1 */
  SphWall *walls;
  int64_t wall_count;
  const int32_t *moving; /* walls on solids that the grains can move */
  int64_t moving_count;
  double (*residual)[RESIDUALS]; /* sums per chunk of groups, see SPH_GROUP_CHUNK */
  float shear_weight[6];         /* all 1 but with FAULT_FACE_D */
  float trace_share;             /* of the trace that the deviator leaves out: 1/3 */
  bool absolute;                 /* FAULT_ABSOLUTE */
} SphWork;

/* pairs.c: pairs, densities, sums. */
Status sph_pairs_find(SphWork *work);
/* walls.c: solids by distance and by samples. */
Status sph_walls_find(SphWork *work, float *sample_volume);
/* Forces of particle i's walls under the stress that the step before left. */
void sph_walls_begin(SphWork *work, int64_t i);
void sph_walls_split(SphWork *work);
void sph_walls_keep(SphWork *work);
void sph_walls_push(SphWork *work);
/* Solids that grains can move follow the push of the pass before. */
void sph_walls_follow(SphWork *work);
/* air.c: gravity and air give the velocity without stress. */
Status sph_air_start(SphWork *work);

#endif
