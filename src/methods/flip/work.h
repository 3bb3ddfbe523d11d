/* One step in progress, as the files of this folder share it. */
#ifndef METHODS_FLIP_WORK_H
#define METHODS_FLIP_WORK_H

#include <math.h>

#include "methods/flip/fields.h"
#include "methods/flip/flip.h"

enum { STRIP_CHUNK = 64, SORT_CHUNK = 4096 };

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

/* The body's velocity along the face's axis, there. */
static inline double coupled_speed(const CoupledFace *face, const double v[6]) {
  const float *r = face->arm;
  switch (face->axis) {
  case 0: return v[0] + v[4] * (double)r[2] - v[5] * (double)r[1];
  case 1: return v[1] + v[5] * (double)r[0] - v[3] * (double)r[2];
  default: return v[2] + v[3] * (double)r[1] - v[4] * (double)r[0];
  }
}
/* Adds a push along the face's axis to a wrench: the transpose of the above. */
static inline void coupled_push(const CoupledFace *face, double push, double w[6]) {
  const float *r = face->arm;
  w[face->axis] += push;
  switch (face->axis) {
  case 0: w[4] += push * (double)r[2], w[5] -= push * (double)r[1]; break;
  case 1: w[5] += push * (double)r[0], w[3] -= push * (double)r[2]; break;
  default: w[3] += push * (double)r[1], w[4] -= push * (double)r[0]; break;
  }
}

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

/* carry.c: what is kept goes from the strips of the last step to those of this one. */
Status flip_carry(FlipWork *work, const FlipGrid *grid, const FlipKept *kept);
/* solids.c: distances, free shares, validity, rooms, norms of the particles. */
Status flip_solids_find(FlipWork *work);
void flip_wall_velocities(FlipWork *work); /* of the faces that bodies move with */
/* Where the strip begins in the world. */
Vec3 strip_origin(const FlipWork *work, int32_t strip);
/* How much of the step a solid's pose has already behind it: keyframed ones are where they will be at its end. */
double solid_ahead(const FlipWork *work, const Solid *solid);
/* Whether a point of the solid's frame is certainly farther than that from it. */
bool solid_out_of_reach(const Solid *solid, Vec3 local, double reach);
/* particles.c */
void flip_sort_materials(FlipWork *work);
Status flip_to_grid(FlipWork *work);
/* surface.c: who rides on strong faces alone; changes their norms. */
void flip_find_riders(FlipWork *work);
/* Whether somebody near the strip rides: the sums of its faces have changed. */
bool flip_surface_at(const FlipWork *work, int32_t strip);
/* beside.c: distance (cells) and its gradient at a point of a strip, in cells from its lower corner. */
float flip_distance_at(const StripSolids *solids, float x, float y, float z, float gradient[3]);
Status flip_from_grid(FlipWork *work);

#endif
