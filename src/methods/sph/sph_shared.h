/* What the host hands to the kernels of sph (sph.cl): one text for both. */
#ifndef METHODS_SPH_SPH_SHARED_H
#define METHODS_SPH_SPH_SHARED_H

/* SPH_SLICE_CHUNK slices of SPH_LANES parcels each make a chunk of the residuals' sums: a group. Pairs stand in
 * slots, SPH_ABREAST parcels side by side: the items of a device read them together, SPH_FOUR at a time. */
enum { SPH_LANES = 8, SPH_SLICE_CHUNK = 32, SPH_GROUP = SPH_LANES * SPH_SLICE_CHUNK, SPH_ABREAST = 32, SPH_FOUR = 4 };
/* Parcels of a chunk of the mean compression's sum. */
enum { SPH_CHUNK = 1024 };

enum { RESIDUAL_COMPRESSION, RESIDUAL_EXPANSION, RESIDUAL_SHEAR, FLOWING, RESIDUALS };

/* A step. */
typedef struct SphShared {
  int count;
  int walls, rows; /* boundary contacts; parcels that may have any */
  int memory;      /* whether stress is remembered */
  float dt, spacing, volume, pace, slack, collision, gradient_step;
  float down[3];
  float lattice;                              /* sum of squares of a full neighbourhood, 1/m^2 */
  float layer_length, layer_sum, layer_ratio; /* of a layer of a lattice next to a parcel */
} SphShared;

/* The air of a step; drag 0: it does nothing. */
typedef struct SphAirShared {
  float wind[3], gain[3]; /* velocity of the air; velocity that gravity gives in the step */
  float drag;             /* 1/2 rho C A, kg/m */
  int blows;
} SphAirShared;

/* When the iteration ends. */
typedef struct SphStopShared {
  double most, shear, flowing; /* mean compression and expansion; strain, and the share of the flow's */
  int least;                   /* iterations */
  int chunks;
} SphStopShared;

/* Rows of four floats of the boundary contacts, `walls` of each kind: normal and slope; share, friction, grip gain and
 * mobility; velocity of the solid; friction force and normal force. Behind them are the rows of the parcels that may
 * have any: the first contact and the one behind the last, as integers, and what counts twice of their shares. */
enum { SPH_WALL_NORMAL, SPH_WALL_SHARE, SPH_WALL_VELOCITY, SPH_WALL_FORCE, SPH_WALL_KINDS };

/* Of a parcel that the host asks for: place, what a float of that size could not hold, velocity. */
enum { SPH_PLACE_FLOATS = 9 };

/* What comes down at the beginning of a step: bits of the square of the largest speed, and behind these words the
 * places. */
enum { SPH_FASTEST, SPH_WORDS = 4 };
/* What controls the iteration, doubles: means of the residuals, mean compression that the step has found, whether the
 * iteration is done, and how many there were. */
enum { SPH_FOUND = RESIDUALS, SPH_DONE, SPH_ITERATIONS, SPH_CONTROLS };

#endif
