/* The friction solve, on strips that lie one behind the other.
 *
 * A step of the solve is one sweep over the slices of the grid (strips of the same z). Four stages follow each other
 * through them, each as far behind the one before as it looks ahead: the force of the stresses on the faces, a step
 * down the gradient, the rates of yielding, and the return to the yield surface, which looks at rates behind it only.
 * What one stage leaves for the next lies in slots for as many strips as four slices have, which stay in the core's own
 * cache; thick slices are swept in bands. Threads take bands, or blocks of their slices, and compute what they need of
 * their neighbours' themselves: results do not depend on where the blocks end. */
#ifndef METHODS_FLIP_STRESS_FRICTION_KERNELS_H
#define METHODS_FLIP_STRESS_FRICTION_KERNELS_H

#include "methods/flip/fields.h"

/* Slices that a sweep has in hand at a time; each has slots of its own. Slot 0 is that of strips that take no part. */
enum { SWEEP_DEPTH = 4 };

/* What is known of a strip, by the stage that needs it: each stage reads few streams from the front to the back. */
typedef float StripStress[STRESSES][STRIP];
typedef float StripEdges[3][STRIP];

typedef struct FrictionFaces {
  StripEdges in;       /* joint velocity without these stresses */
  StripEdges mobility; /* change of it by a force density */
} FrictionFaces;

typedef struct FrictionSteps {
  float limit[STRIP];     /* at centres: s_max = alpha p + cohesion */
  float step_size[STRIP]; /* at centres: step length times dt / cell */
  StripEdges edge_step;   /* at edges: the least step round it, halved because shear counts twice */
  StripEdges weight;      /* at edges: 1 / limit^2; 0 where that is none, and at walls: such edges count for no cell */
} FrictionSteps;

typedef struct FrictionReturn {
  StripEdges weight; /* at edges: step size over the sum of s_max of the cells round it; 0: is not scaled */
  StripEdges limit;  /* at edges: largest shear stress */
} FrictionReturn;

/* Planes that cut cells of a strip across the grid. */
typedef struct FrictionTilt {
  float normal[3][STRIP];
  float most[STRIP];    /* that the plane bears along it, Pa; TILT_NONE: there is none */
  float part[3][STRIP]; /* 1 / number of the edges at walls round the cell, by component */
} FrictionTilt;
#define TILT_NONE 1e30f

typedef struct FrictionStrips {
  StripStress *y[2]; /* extrapolated iterate: of this step and of the next, in turn */
  StripStress *x;    /* iterate */
  FrictionFaces *faces;
  FrictionSteps *steps;
  FrictionReturn *returns;
  StripEdges *parts; /* at centres: 1 / number of the edges round it that count, by component; the first: of all four */
  StripEdges *wall_weight; /* 1 / limit^2 at the edges at walls alone */
  FrictionTilt *tilts;     /* of strips that are `tilted` */
} FrictionStrips;

/* The strips beside it (0: none, an empty strip), and what there is to do. */
typedef struct FrictionLinks {
  int32_t near[SIDES];
  /* While the strip is in hand: its slot, those beside it, and those across the edges at its lower sides and at its
   * upper ones. In registers (LANES floats) from the first. */
  int32_t slot, near_slot[SIDES], across_slot[3][2];
  int32_t part;        /* in `parts`: its own number, or 0 */
  int32_t wall;        /* of those with edges at walls; 0: not one of them */
  int32_t first_group; /* of the faces that bodies move with */
  uint8_t groups;
  uint8_t walled; /* a bit per shear component: it has edges at walls */
  bool near_wall; /* it or a neighbour has edges at walls */
  bool tilted;    /* planes cut cells across the grid */
  bool bears;     /* some stress */
  bool flows;     /* it or a neighbour bears some: its faces feel it */
} FrictionLinks;

/* A strip with edges at walls. Round each of these, in the planes across its two axes, lie edges of another component.
 */
typedef struct FrictionWall {
  float part[3][2][STRIP]; /* 1 / number of those that are at walls */
  int32_t corner_slot[3][2];
  int32_t strip;
  uint8_t beside; /* a bit for each: some lane has any */
} FrictionWall;

/* What goes from stage to stage. The passes after the last step use the same memory for what they need. */
typedef struct FrictionSlot {
  union {
    float flux[3][STRIP]; /* joint velocity with the stresses y in it */
    float slip[3][STRIP]; /* strict pass, at edges: scale by which walls leave the stress */
  };
  float trial[STRESSES][STRIP];
  float square[3][STRIP];      /* of the shear, each times its weight */
  float wall_square[3][STRIP]; /* the same with the weight of walls */
  union {
    float rate[STRIP];  /* at centres: s_max times the rate at which the cell yields */
    float scale[STRIP]; /* strict pass, at centres: scale of the edges round it */
  };
} FrictionSlot;
enum { SLOT_REGISTERS = sizeof(FrictionSlot) / sizeof(float[STRIP]) };

/* Faces of a strip that the same body moves with. */
typedef struct FaceGroup {
  float share[STRIP]; /* 1 - open; 0: not one of them */
  float arm[3];       /* from the centre of mass to the face of the first lane, m */
  int32_t strip;
  int16_t axis, body;
} FaceGroup;

enum { FRICTION_MOVED, FRICTION_TURNED, FRICTION_SIZE, FRICTION_SUMS };

/* Slices first to end, of these the rows (strips of the same y) of a band. */
typedef struct FrictionBlock {
  int32_t first, end, band;
} FrictionBlock;
/* A stage may need so many slices and rows of its neighbours' blocks. */
enum { BLOCK_RIM = 2 };

typedef struct FrictionSweep {
  FrictionStrips strips;
  FrictionLinks *links;
  int32_t slices, bands;
  /* Per slice and border between bands (the two ends included): its first strip that lies at most as many rows below
   * the border as a rim has, and so on row by row to as many above it. */
  const int32_t (*border)[2 * BLOCK_RIM + 1];
  FrictionWall *walls;
  const FaceGroup *groups;
  double (*body_change)[6]; /* velocities that the stresses y give */
  double cell;
  float factor, momentum;
  int scheme;                    /* SCREE_YIELD_... */
  int now;                       /* which of the y is this step's */
  double (*sums)[FRICTION_SUMS]; /* per slice and band */
} FrictionSweep;
/* One step, of a block. */
KERNEL_DECLARE(void, flip_friction_sweep, (const FrictionSweep *o, const FrictionBlock *block, FrictionSlot *slots));
/* After which every bound is kept; from x to the next y. The shear comes first: a cell's diagonal takes what the edges
 * round it leave, and edges are scaled only where they are too much by themselves, by the least scale of the cells. */
KERNEL_DECLARE(void, flip_friction_strict, (const FrictionSweep *o, const FrictionBlock *block, FrictionSlot *slots));
/* The largest stress of a cell or edge of a block over what is allowed, in the next y. */
KERNEL_DECLARE(float, flip_friction_excess, (const FrictionSweep *o, const FrictionBlock *block, FrictionSlot *slots));
/* Adds the force of the stresses y on groups b to e of faces to the wrenches of the bodies. */
KERNEL_DECLARE(void, flip_friction_wrench, (const FrictionSweep *o, int64_t b, int64_t e, double (*wrench)[6]));
/* Fills walls b to e. */
KERNEL_DECLARE(void, flip_friction_walls, (const FrictionSweep *o, int64_t b, int64_t e));
/* Fills edge_step and parts, multiplies the weight of returns by the step and finds which strips feel stress
 * and which are near walls, of strips b to e. */
KERNEL_DECLARE(void, flip_friction_parts, (const FrictionSweep *o, int64_t b, int64_t e));

#endif
