/* Fields of the grid, by the stage of a step that fills them. Every array has grid_cells() elements unless said
 * otherwise; a face field is that of the cell's lower face along the axis, an edge field that of the edge at its two
 * lower sides. */
#ifndef METHODS_FLIP_FIELDS_H
#define METHODS_FLIP_FIELDS_H

#include "methods/flip/grid/grid.h"
#include "methods/method.h"

/* Components of the frictional stress: xx yy zz at centres, then xy yz xz at edges. */
enum { S_XX, S_YY, S_ZZ, S_XY, S_YZ, S_XZ, STRESSES };

/* Cells that hold more than this of their free volume have cohesion: grains touch. The kernel sees cells at a flat side
 * 7/8 full and those at an edge 49/64: with 0.9 the outermost cells of a bank had none and fell, layer after layer. */
#define PHI_TOUCHING 0.75f

/* The lane of a place that counts from the strip's lower corner: rounding may put one just below a border on it. */
static inline int32_t strip_lane(float x) { return (int32_t)x < STRIP ? (int32_t)x : STRIP - 1; }

/* Walls whose normal is this near to an axis, its square, lie along the grid. */
#define ALONG_GRID 0.9999f
static inline bool lies_along_grid(const float n[3]) {
  return n[0] * n[0] > ALONG_GRID || n[1] * n[1] > ALONG_GRID || n[2] * n[2] > ALONG_GRID;
}

/* Solids as a strip sees them: what of its octants and lower faces is free, whose the faces are, and the signed
 * distance at the corners of its cells, in cells. */
typedef struct StripSolids {
  float octant[8][STRIP]; /* free share, x lowest bit */
  float open[3][STRIP];   /* free share of the lower faces */
  float distance[CORNERS];
  int16_t owner[3][STRIP];   /* solid nearest to the face; -1: none near */
  int16_t nearest[STRIP];    /* and to the cell */
  int16_t across_of[STRIP];  /* the solid that cuts the cell as a plane across the grid; -1: none */
  float across[3][STRIP];    /* its normal */
  float normal[3][3][STRIP]; /* of the surface at the face (axis of the face, component); along the axis beside edges */
  uint8_t cut;               /* lanes that are not wholly free, a bit each */
  bool seams;                /* the free space is in parts (solids/seams.h), or too narrow somewhere */
  uint8_t parted[3];         /* lower faces between two parts, a bit per lane */
  uint8_t parted_above[3];   /* and upper ones */
  float open_above[3][STRIP]; /* share that seams leave of what is open of the upper faces */
  uint64_t other_part[STRIP]; /* a bit per point of the cell that is in another part than the cell */
  uint8_t way_out[STRIP];     /* the side that leads to the cell which keeps that part */
  bool touched;               /* some solid is near */
} StripSolids;

/* What fixed solids leave free of the strips that they are near. A strip has the number of its record, and takes only
 * that along from step to step. */
typedef struct SolidRecords {
  StripSolids *items; /* the first is that of all strips that fixed solids are far from */
  int64_t capacity;
} SolidRecords;
enum { RECORD_FREE = 0, RECORD_UNKNOWN = -1 };

/* Goes from step to step by the key of the strip. flip_warm_start fills it from the step before; pressure and stress
 * are the start of the solves and then their results. */
typedef struct FlipKept {
  float *pressure;             /* Pa */
  float *stress[STRESSES];     /* Pa */
  float *correction_potential; /* y of Section 2.2.1 */
  int32_t *record;             /* per strip, in SolidRecords */
} FlipKept;

/* Stage "solids": flip_find_solids fills it. Holds until the end of the step, but for the velocity of faces that bodies
 * move with: flip_stop_at_closed_faces adds the impulse of what the body stops. */
typedef struct SolidFields {
  float *free_volume;      /* share of the cell that is not solid: 1 - phi_s */
  float *open[3];          /* share of the face that is not solid */
  float *velocity[3];      /* of the solid at a face that is not wholly open, m/s */
  int16_t *owner[3];       /* whose the face is; -1: none */
  uint8_t *near;           /* per strip: some node round it is not wholly free, weights need their norm */
  uint8_t *valid[4];       /* per strip, a bit per lane: centres (0) and faces (1 + axis) that are not inside a solid */
  float *kernel_volume[4]; /* free volume under the kernel of the node, in cells: 1 away from solids */
} SolidFields;

/* Share of what acts on a face that the sand bears. A face of which little is open has more sand under its kernel than
 * it has area: by its area alone it would fall along the wall, whatever the stress. Faces of bodies that stresses move
 * (`of_body`) bear by their area, as the bodies do by the rest of it. */
static inline float borne_share(const SolidFields *solid, int axis, int64_t face, bool of_body) {
  float open = solid->open[axis][face], volume = solid->kernel_volume[1 + axis][face];
  if (!(open > 0) || of_body || !(volume > open)) return open;
  return volume < 1 ? volume : 1;
}

/* Stage "to grid": flip_particles_to_grid fills it. Holds until the end of the step, but for phi, which
 * flip_correct_density corrects, and velocity, to which flip_solve_stresses adds what stresses change. flux and
 * joint_velocity follow the velocity of bodies in flip_stop_at_closed_faces. */
typedef struct SandFields {
  uint8_t *bearing[3];       /* per strip, a bit per lane: faces with enough sand to bear stress, or closed */
  uint8_t *restricted;       /* per strip, a bit per lane: some particle gives to bearing faces alone */
  uint8_t *normed;           /* per strip: weights need their norm */
  float *phi;                /* volume of the sand over that of the cell */
  float *usable;             /* 1 where every face of the cell has sand to move or is closed: stresses lose nothing */
  float *alpha;              /* largest shear stress over pressure */
  float *cohesion;           /* the same without pressure, Pa */
  float *mass[3];            /* kg */
  float *velocity[3];        /* m/s, with gravity's share of the step */
  float *specific_volume[3]; /* 1 / density, m^3/kg */
  float *flux[3];            /* open phi velocity + (1 - open) solid velocity: Eq. 7 and 25 in one */
  float *flux_mobility[3];   /* change of the flux by a force density: open phi / density */
  float *joint_velocity[3];  /* open velocity + (1 - open) solid velocity: what friction evens out */
  float *mobility[3];        /* change of it by a force density: open / density */
  float *settle[3];          /* share of its own velocity that a particle gives up for the grid's */
} SandFields;

/* Stage "stress": cleared by flip_particles_to_grid, filled by the functions named. Holds until the end of the step. */
typedef struct StressFields {
  float *correction[3];        /* displacement of the density correction, m: flip_correct_density */
  float *stopped[3];           /* velocity that closed faces take from sand that runs in: flip_stop_at_closed_faces */
  float *change[3];            /* of the velocity: by closed faces first, by everything after flip_solve_stresses */
  float *layer_depth;          /* of sand too thin for a pressure of its own, in cells: flip_push_thin_layers */
  float *unfilled;             /* what the cell can still take, in cells; 0: it counts as full: flip_find_unfilled */
  float *pressure_mobility[3]; /* change of the flux by pressure; flux_mobility, but on full cells: flip_set_fluxes */
  float *edge_limit;           /* Pa: shear stress that the edges of the cell bear: flip_solve_friction */
} StressFields;

typedef struct FlipFields {
  SolidFields solid;
  SandFields sand;
  StressFields stress;
} FlipFields;

#endif
