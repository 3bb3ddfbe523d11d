/* One step in progress, as the files of this folder share it: what every stage reads, then a struct per stage. */
#ifndef METHODS_FLIP_WORK_H
#define METHODS_FLIP_WORK_H

#include <math.h>

#include "methods/flip/fields.h"
#include "methods/flip/flip.h"
#include "methods/flip/grid/strip_list.h"

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
  double displacement;       /* of dense sand in a step, in cells, at most */
  double loose_displacement; /* and of sand that is too loose to be pressed */
  double settle;             /* how fast noise of particles in contact is lost, in sqrt(g / cell) */
} FlipSettings;

/* A face that a body moves with: it bears its share of the stresses there (Eq. 21, 22). */
typedef struct CoupledFace {
  int32_t face, low; /* low: the cell below it */
  int16_t axis;
  int16_t body; /* in SolidStage.bodies */
  float share;  /* 1 - open */
  float arm[3]; /* from the centre of mass, m */
  bool stopped; /* closed, and its sand goes with the body: flip_stop_at_closed_faces */
  bool runs_in; /* the sand does; else it is held by what presses it to the body */
  double stop;  /* velocity that it takes on so */
} CoupledFace;

/* A solid that stresses can move. */
typedef struct CoupledBody {
  int32_t solid;
  double velocity[6];   /* twist: with outside forces and all impulses so far */
  double inverse[6][6]; /* M^-1: acceleration per unit wrench; with what it stopped, from there on */
  double impulse[6];    /* of sand that its closed faces stopped, N s and N m s: flip_add_wrenches */
} CoupledBody;

/* Stage "solids": flip_find_solids fills it; holds until the end of the step. flip_couple_bodies takes faces out of the
 * list that no stress reaches. */
typedef struct SolidStage {
  const StripSolids **strips; /* per strip: all solids, in the middle of the step */
  CoupledBody *bodies;
  int32_t body_count;
  int16_t *body_of_solid; /* -1: nothing moves it */
  CoupledFace *faces;
  int64_t face_count;
} SolidStage;

/* Stage "to grid": of the particles in the order of cells. flip_find_solids fills norm where solids are near,
 * flip_sort_materials what belongs to materials, flip_restrict_particles the rest; holds until the end of the step. */
typedef struct TransferStage {
  float *norm[4]; /* 1 / sum of the weights at centres and faces that count, in strips that are `normed` (others: 1) */
  float *volume;  /* at rest density; these three where there is more than one material */
  float *alpha_volume, *cohesion_volume; /* alpha and cohesion, times the volume */
  uint8_t *restricted;                   /* a bit per axis: gives to bearing faces alone, and takes from them */
} TransferStage;

/* Stage "stress": bodies in the solves. flip_set_tolerance and flip_couple_bodies fill it; wrench and change are those
 * of the last call of flip_accelerate_bodies. Holds until the end of flip_solve_stresses. */
typedef struct StressStage {
  double tolerance;                            /* of the solves in this step */
  double (*body_wrench)[6], (*body_change)[6]; /* wrench, and dt M^-1 of it */
  double (*wrench_parts)[6];                   /* per chunk of faces and body */
  double *body_norm;                           /* most that a body adds to a matrix, see flip_couple_bodies */
} StressStage;

/* Stage "from grid": flip_grid_to_particles fills it; holds until the end of the step. */
typedef struct AdvectionStage {
  uint8_t *kind;                    /* of shape, see shapes_kernels.h, in the order of cells */
  struct ShapeCounts *shape_counts; /* per strip */
  double speed; /* largest of the particles; of loose ones less, by how much farther than others they may move */
} AdvectionStage;

typedef struct FlipWork {
  /* Set by flip_step and advance before the stages; hold for the step. What the pointers lead to outlives it. */
  Core *core;
  Step *step;
  State *state;
  const FlipSettings *settings;
  double dt;
  float friction[MATERIALS_MAX]; /* tan(friction_angle_deg) of the materials */
  bool mixed;                    /* more than one material */
  float specific_volume;         /* 1 / rest density, when all is of one material */
  FlipGrid *grid;
  FlipOrder *order;
  FlipKept *kept;
  SolidRecords *records;
  struct FlipShapes *shapes; /* NULL: not tracked */
  /* Filled by the stages, in their order. */
  GridRows rows; /* grid_rows */
  FlipFields fields;
  SolidStage solids;
  TransferStage transfer;
  StressStage stress;
  AdvectionStage advection;
  FlipReport report; /* of this step */
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

/* Sand without pressure may move so many times as far in a step as sand under pressure: it meets nothing before the
 * next cell. */
#define UNPRESSED_FACTOR 2
/* The warm start follows the motion of a solid up to this distance from it, in cells, less and less with distance. */
#define WARM_START_REACH 20
/* Half of the longest side of its box. */
static inline double solid_half_width(const Solid *solid) {
  Vec3 size = vec3_sub(solid->shape.bounds_high, solid->shape.bounds_low);
  return 0.5 * fmax(size.x, fmax(size.y, size.z));
}
/* Cells that hold more than this share of their free volume are dense. */
#define PHI_DENSE 0.35f

#endif
