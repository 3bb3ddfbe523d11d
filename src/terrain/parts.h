/* What the files of terrain/ share. */
#ifndef TERRAIN_PARTS_H
#define TERRAIN_PARTS_H

#include <math.h>

#include "terrain/terrain.h"

/* A piece of a body's surface. */
typedef struct Element {
  Vec3 point;  /* in the shape's frame */
  Vec3 normal; /* outward, unit */
  double area; /* m^2 */
} Element;

typedef struct BodySurface {
  Element *elements;
  int64_t count;
  bool felt; /* it can press columns */
} BodySurface;

/* Constants of the law of resistance, see resistance.c. */
typedef struct SoilLaw {
  double bearing, passive, cohesion_factor; /* N_q, K_p, N_c */
  double cohesion;                          /* Pa */
  double inertia;
} SoilLaw;

/* A rectangle of columns, [x0, x1) by [y0, y1). */
typedef struct ColumnRange {
  int32_t x0, x1, y0, y1;
} ColumnRange;

/* A periodic arrangement of grains at settled density, in metres. */
typedef struct Packing {
  double side;
  float x[PACKING_GRAINS], y[PACKING_GRAINS], z[PACKING_GRAINS], radius[PACKING_GRAINS], mass[PACKING_GRAINS];
} Packing;

struct GroundTouch;
struct Touched;

struct Ground {
  double theta_out_deg, theta_stop_deg; /* as the scene has them; NaN: the material's angle */
  double tan_high, tan_low;             /* slopes start to erode above the one and end below the other */
  double tan_bed; /* steepest surface that grains rest on: they would slide on a plane beyond friction */
  double fraction;
  double compaction, densest;
  bool exchange;
  SoilLaw law;
  BodySurface *surfaces; /* per solid */
  int32_t surface_count;
  Packing packing;
  /* work of one step, per column */
  int64_t *moves; /* units that go to each neighbour in `mask` */
  uint8_t *mask;
  double *target; /* height that the bodies leave to the column */
  int32_t *list, *level;
  uint8_t *changed, *may_slide; /* per tile */
  int32_t *tiles;
  struct GroundTouch *touches;      /* as many as all surfaces have elements */
  struct Touched *touched;          /* by part of a mechanism, or of one body */
  double *motions;                  /* of each, six numbers */
  int32_t *grain_head, *grain_next; /* grains by column */
};

/* The eight neighbours, and how far away they are in cells. */
static const int32_t NEIGHBOR_X[8] = {1, 0, -1, 0, 1, -1, -1, 1};
static const int32_t NEIGHBOR_Y[8] = {0, 1, 0, -1, 1, 1, -1, -1};
#define NEIGHBOR_OPPOSITE(n) ((n) ^ 2)
static inline double neighbor_distance(int n) { return n < 4 ? 1 : 1.4142135623730951; }

static inline Heightfield *ground_field(const State *state) {
  return state->solids.items[state->terrain->solid].shape.heights;
}
static inline int64_t column_at(const Terrain *t, int32_t i, int32_t j) { return (int64_t)j * t->nx + i; }
static inline bool column_exists(const Terrain *t, int32_t i, int32_t j) {
  return i >= 0 && j >= 0 && i < t->nx && j < t->ny;
}
/* -1: outside */
static inline int64_t column_neighbor(const Terrain *t, int64_t k, int n) {
  int32_t i = (int32_t)(k % t->nx) + NEIGHBOR_X[n], j = (int32_t)(k / t->nx) + NEIGHBOR_Y[n];
  return i < 0 || j < 0 || i >= t->nx || j >= t->ny ? -1 : column_at(t, i, j);
}
/* The column that a point of the field's frame is over, or nearest to. */
static inline int64_t column_of(const Terrain *t, double x, double y) {
  int32_t i = (int32_t)fmin(fmax(floor(x / t->cell), 0), t->nx - 1);
  int32_t j = (int32_t)fmin(fmax(floor(y / t->cell), 0), t->ny - 1);
  return column_at(t, i, j);
}
/* The four columns round a point and their weights, which sum to 1. */
typedef struct Corners {
  int64_t column[4];
  double weight[4];
} Corners;
Corners ground_corners(const Terrain *t, double x, double y);

/* columns.c */
void ground_show(State *state, int64_t k); /* height from mass, density and what is pending */
/* Adds mass of a density; the column's own is the mean by volume. */
void ground_add(Terrain *t, int64_t k, int64_t units, double bulk);
void ground_wake(Terrain *t, int64_t k);
/* A grain lies there: columns whose surface reaches below it neither slide nor take in what slides. */
void ground_load(Terrain *t, Vec3 at, double radius);
/* Units spread over the corners in proportion to the weights, exactly. */
void ground_split(const Corners *corners, int64_t units, int64_t parts[4]);

/* contact.c */
bool ground_feels(const Ground *ground, const State *state, int32_t solid);
/* Bounds of a solid in the field's frame. */
void ground_body_box(const State *state, const Solid *solid, Vec3 *low, Vec3 *high);
bool ground_range(const State *state, Vec3 low, Vec3 high, double margin, ColumnRange *range);
/* Height at which an upward ray meets the solid first, in the field's frame; INFINITY: it does not. */
double ground_underside(const State *state, const Solid *solid, double x, double y, double from);
double ground_surface_speed(const Solid *solid);

/* resistance.c */
void ground_law_create(const ScreeMaterialDef *material, SoilLaw *law);
/* Yield pressure on an element at a depth, moving into the ground with a speed along its normal. */
double ground_pressure(const SoilLaw *law, double bulk, double gravity, double depth, Vec3 normal, double speed);
Status ground_resist(Core *core, Ground *ground, State *state, double dt);

/* packing.c */
Status packing_create(Core *core, Packing *packing, const float *radii, double bulk, double grain_density,
                      uint64_t seed);

/* exhume.c */
#define DIG_LEAST 5.0 /* nominal radii: the least layer that is worth taking apart */
typedef enum Disturbance { DISTURBED_BY_BODIES, DISTURBED_BY_HITS, DISTURBED_BY_SLOPES } Disturbance;
typedef struct Digging {
  Core *core;
  Ground *ground;
  State *state;
  Scratch *scratch;
  double *heights; /* as they were */
  double radius, largest;
  double low[3], high[3]; /* where grains may come: the field's frame */
} Digging;
Status ground_exhume(Core *core, Ground *ground, State *state, Scratch *scratch, Disturbance by);
/* Grains that are in or near the room from low to high, by column: until the scratch memory is given back. */
Status ground_list_grains(Digging *dig);
/* disturb.c: lower targets to what grains that hit hard, or slopes that slide, take apart; whether there are any. */
Status ground_want_hits(Digging *dig, bool *wanted);
Status ground_want_slopes(Digging *dig, bool *wanted);
/* bury.c */
Status ground_bury(Core *core, Ground *ground, State *state, Scratch *scratch, double interval);
/* settle.c: grains at rest over marked columns settle for a while; and one step of that. */
void ground_settle_over(Core *core, State *state, const uint8_t *marked);
void ground_settle(Core *core, State *state, double dt);
/* Pending material shows, slowly; returns how far the surface rose. */
double ground_show_pending(const Ground *ground, State *state, double dt);

/* picture.c: heights of a 16-bit grey picture of nx by ny pixels, its top row at the far end of y. */
Status picture_heights(Core *core, const char *path, const char *scene, ScreeSource at, int32_t nx, int32_t ny,
                       ScreeVec2 range, double *heights);

#endif
