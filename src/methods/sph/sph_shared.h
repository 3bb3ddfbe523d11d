/* What the host hands to the kernels of sph (sph.cl): one text for both. */
#ifndef METHODS_SPH_SPH_SHARED_H
#define METHODS_SPH_SPH_SHARED_H

/* SPH_SLICE_CHUNK slices of SPH_LANES parcels each make a chunk of the residuals' sums: a group. Pairs stand in
 * slots, SPH_ABREAST parcels side by side: the items of a device read them together, SPH_FOUR at a time. */
enum { SPH_LANES = 8, SPH_SLICE_CHUNK = 32, SPH_GROUP = SPH_LANES * SPH_SLICE_CHUNK, SPH_ABREAST = 32, SPH_FOUR = 4 };
/* Parcels of a chunk of the mean compression's sum. */
enum { SPH_CHUNK = 1024 };

/* With 128 rays the density in edges and corners of any direction is right within 0.2 and 0.3 % (root mean square over
 * directions), the slope within 3 and 5 %. With half as many it is 0.4 and 0.7 %. */
enum { VIEW_RAYS = 128 };
#define USUAL_SCALE (2.0f / VIEW_RAYS) /* of what is integrated over half a sphere */

/* Friction force of a face that a parcel touched in the last step; where they are many, the last is of all others. */
enum { SPH_GRIPS = 4 };
typedef struct SphGrip {
  float force[3];
  int face; /* 0: none, -1: all others; see SphContact */
} SphGrip;

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

/* Walls that the device finds itself: what is the same for all parcels. */
typedef struct SphWallShared {
  double origin[3], spacing, slips; /* slips: see wall_touch */
  int count;                        /* parcels */
  int rows;                         /* parcels near solids */
  int words;                        /* of 32 bits, which say what solids are near a parcel */
  int walls;                        /* room for contacts */
  int memory;                       /* whether friction is remembered */
  float dt;
} SphWallShared;

/* A solid, beside SolidThere; low and inverse_cell: of its distance grid, as GridFrame has them. */
typedef struct SphSolidShared {
  double turn[9]; /* from its frame to the world's, by rows */
  double velocity[3], spin[3], friction_static, friction_kinetic;
  float low[3], inverse_cell;
  int shields, moves; /* whether it may stand between two parcels; whether sand moves it */
} SphSolidShared;

/* A contact with a solid that sand moves, as the host wants it, and what the host says of it. */
typedef struct SphMovedShared {
  double point[3];
  float normal[3], slope, part, mass;
  int contact, parcel, solid, unused;
} SphMovedShared;
typedef struct SphToldShared {
  float velocity[3], mobility, grip_gain;
  int contact;
} SphToldShared;

/* Counters: parcels near solids (in a step: those that look along rays), those near solids that may hide others (in a
 * step: contacts with solids that sand moves), room for contacts. Words of the reactions on a solid: six sums of 64
 * bits, the lower half first. */
enum {
  SPH_NEAR_ROWS,
  SPH_SHIELDED,
  SPH_WALL_ROOM,
  SPH_COUNTERS,
  SPH_LOOKING = SPH_NEAR_ROWS,
  SPH_MOVED = SPH_SHIELDED,
  SPH_REACTION_WORDS = 12
};
/* Neighbours that are looked at together for whether a solid hides them. */
enum { SPH_HIDE_GROUP = 32 };

/* Of a parcel that the host asks for: place, what a float of that size could not hold, velocity. */
enum { SPH_PLACE_FLOATS = 9 };

/* What comes down at the beginning of a step: bits of the square of the largest speed, and behind these words the
 * places. */
enum { SPH_FASTEST, SPH_WORDS = 4 };
/* What controls the iteration, doubles: means of the residuals, mean compression that the step has found, whether the
 * iteration is done, and how many there were. */
enum { SPH_FOUND = RESIDUALS, SPH_DONE, SPH_ITERATIONS, SPH_CONTROLS };

#endif
