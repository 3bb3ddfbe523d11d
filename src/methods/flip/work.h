/* One step in progress, as the files of this folder share it. */
#ifndef METHODS_FLIP_WORK_H
#define METHODS_FLIP_WORK_H

#include <math.h>

#include "methods/flip/fields.h"
#include "methods/flip/flip.h"
#include "methods/flip/grid/strip_list.h"

/* Solid sides that a body moves with: its share of the stresses at a face (Eq. 21, 22). */
typedef struct CoupledFace {
  int32_t face, low; /* low: the cell below it */
  int16_t axis;
  int16_t body; /* in FlipWork.bodies */
  float share;  /* 1 - open */
  float arm[3]; /* from the centre of mass, m */
} CoupledFace;

/* A solid that stresses can move. */
typedef struct CoupledBody {
  int32_t solid;
  double velocity[6];   /* now: linear, spin; with outside forces and all impulses so far */
  double start[6];      /* what it is without any grains */
  double inverse[6][6]; /* acceleration per unit wrench */
  double impulse[6];    /* of walls that stopped sand, N s and N m s */
} CoupledBody;

typedef struct FlipSettings {
  double cell;
  int iterations;             /* staggered projections */
  double staggered_tolerance; /* of the pressure between two of them; 0: all are done */
  int scheme;                 /* SCREE_YIELD_... */
  bool pulling;               /* Fig. 11: pressure also pulls */
  bool shapes;                /* Fig. 7: ellipsoids are tracked, split and merged */
  double tolerance;
  int solver_steps; /* most steps of a solve */
  int friction_steps;
  double way;       /* of dense sand in a step, in cells, at most */
  double loose_way; /* and of sand that is too loose to be pressed */
  double settle;    /* share of the grid's velocity that particles in contact take on in a step */
} FlipSettings;

/* More of the particles in the order of cells. */
typedef struct SortedParcels {
  float *norm[4]; /* of the weights at centres and faces, in strips that are `normed` (all others: 1) */
  float *volume, *strength, *cohesion; /* at rest density, and times the material's; where there is more than one */
  uint8_t *rides;                      /* a bit per axis */
} SortedParcels;

typedef struct FlipWork {
  Core *core;
  Step *step;
  State *state;
  const FlipSettings *settings;
  FlipGrid *grid;
  FlipOrder *order;
  FlipKept *kept;
  SolidRecords *records;
  FlipFields fields;
  SortedParcels sorted;
  GridRows rows;
  bool mixed;                 /* more than one material */
  float rest_specific;        /* 1 / rest density, when all is of one material */
  const StripSolids **solids; /* per strip: all, where they are now */
  CoupledBody *bodies;
  int32_t body_count;
  int16_t *body_of_solid; /* -1: nothing moves it */
  CoupledFace *faces;
  int64_t face_count;
  double (*body_wrench)[6], (*body_change)[6]; /* for the solves */
  double (*wrench_parts)[6];                   /* per chunk of faces and body */
  double *body_norm;                           /* most that a body adds to a matrix, see flip_couple_bodies */
  double dt;
  double tolerance;          /* of the solves in this step */
  struct FlipShapes *shapes; /* NULL: not tracked */
  uint8_t *kind;             /* of shape, see gather_kernels.h, in the order of cells */
  struct OddShapes *odd;     /* per strip */
  FlipReport report;         /* of this step */
  double speed; /* of the particles on the grid; of loose ones less, by how much farther than others they may go */
} FlipWork;

static inline int64_t work_cells(const FlipWork *work) { return grid_cells(work->grid); }

/* The axis that gravity mainly acts along, and whether it points to its lower side; -1: there is none. */
static inline int work_downward(const FlipWork *work, bool *down) {
  Vec3 g = work->state->gravity;
  int axis = 2;
  if (!(vec3_length(g) > 0)) return -1;
  for (int a = 0; a < 2; a++)
    if (fabs(vec3_get(g, a)) > fabs(vec3_get(g, axis))) axis = a;
  *down = vec3_get(g, axis) < 0;
  return axis;
}

/* How many times as far as pressed sand any other may go in a step: it meets nothing before the next cell. */
#define UNPRESSED_WAY 2
/* How far from a solid, in cells, the stress that solves begin with has to do with its motion; less and less on the way
 * there. */
#define CARRY_REACH 20
/* Of its box, from its centre. */
static inline double solid_half_width(const Solid *solid) {
  Vec3 size = vec3_sub(solid->shape.bounds_high, solid->shape.bounds_low);
  return 0.5 * fmax(size.x, fmax(size.y, size.z));
}
/* Cells that hold more than this of what they can hold are dense. */
#define FILL_DENSE 0.35f

#endif
