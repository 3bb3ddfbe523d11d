/* How well fine grains do: what tests assert and docs/figures/upsample.py draws. */
#ifndef TEST_UPSAMPLE_FIXTURE_H
#define TEST_UPSAMPLE_FIXTURE_H

#include <stdlib.h>

#include "neighbors/neighbors.h"
#include "scree/scene.h"
#include "world/world.h"
#include "world_fixture.h"

static inline ScreeWorld *fine_world(const ScreeSceneDef *scene) { return world_of(scene, 2); }

/* A shipped scene, changed by `path=value` sets. */
static inline ScreeWorld *fine_scene(const char *name, const char *const *sets, int32_t count) {
  char path[SCREE_FILE_MAX];
  ScreeSceneOptions options = {.sets = sets, .set_count = count};
  ScreeScene *scene = NULL;
  ScreeError error;
  assert_done(scree_scene_find(name, path, sizeof path, &error));
  assert_done(scree_scene_load(path, &options, &scene, &error));
  ScreeWorld *world = fine_world(scree_scene_definition(scene));
  scree_scene_free(scene);
  return world;
}

/* Positions by id, for grains whose ids run from 1 to count. */
static inline Vec3 *fine_places(ScreeParticles p) {
  Vec3 *at = calloc((size_t)p.count + 1, sizeof *at);
  for (int64_t i = 0; i < p.count; i++) at[p.id[i]] = vec3((double)p.x[i], (double)p.y[i], (double)p.z[i]);
  return at;
}

static inline double fine_farthest(const Vec3 *before, const Vec3 *after, int64_t count) {
  double worst = 0;
  for (int64_t i = 1; i <= count; i++) worst = fmax(worst, vec3_length(vec3_sub(after[i], before[i])));
  return worst;
}

/* Radii of fine grains: those of the scene times 1 - spread to 1 + spread, and of all sizes between. */
static inline void assert_radii_spread(ScreeParticles p, double radius, double spread) {
  double low = INFINITY, high = 0;
  for (int64_t i = 0; i < p.count; i++)
    low = fmin(low, (double)p.radius[i] / radius), high = fmax(high, (double)p.radius[i] / radius);
  assert_true(low > 1 - 1.001 * spread && low < 1 - 0.9 * spread);
  assert_true(high < 1 + 1.001 * spread && high > 1 + 0.9 * spread);
}

typedef struct FineTouch {
  double depth; /* of the grain's surface in the deepest solid that it is in, in its radii; negative outside */
  double up;    /* z of that solid's normal there */
} FineTouch;

static inline FineTouch fine_touch(const ScreeWorld *world, ScreeParticles p, int64_t i) {
  Vec3 at = vec3_add(world->state.origin, vec3((double)p.x[i], (double)p.y[i], (double)p.z[i]));
  double radius = (double)p.radius[i];
  FineTouch touch = {-1, 0};
  for (int32_t k = 0; k < world->state.solids.count; k++) {
    const Solid *solid = &world->state.solids.items[k];
    Shape exact = solid->shape; /* the mesh, not what is cached of it; where the cache says that it is near */
    if (shape_distance(&exact, solid_to_local(solid, at), 3 * radius).distance > 3 * radius) continue;
    exact.grid = NULL;
    ShapePoint point = shape_distance(&exact, solid_to_local(solid, at), 2 * radius);
    double depth = (radius - point.distance) / radius;
    if (depth > touch.depth) touch = (FineTouch){depth, quat_rotate(solid->rotation, point.normal).z};
  }
  return touch;
}

static inline double fine_deepest(const ScreeWorld *world) {
  ScreeParticles p = scree_world_grains(world);
  double deepest = -1;
  for (int64_t i = 0; i < p.count; i++) deepest = fmax(deepest, fine_touch(world, p, i).depth);
  return deepest;
}

typedef struct FineMetrics {
  double deepest; /* radii, of a grain's surface in a solid */
  double inside;  /* share of grains that are more than a tenth of their radius in one */
  double far;     /* share farther than three coarse radii from every coarse grain */
  double hanging; /* share of those that neither lie on something nor fall */
  double spread;  /* coefficient of variation of counts over that of a random cloud; inside the sand */
  double empty;   /* share of the cells inside the sand that hold no fine grain */
  int64_t cells;  /* that were counted for both */
} FineMetrics;

/* Sum of the weights at a point, and the nearest coarse grain. */
static inline double weight_sum(const CellGrid *grid, ScreeParticles coarse, double radius, Vec3 at, double *nearest2) {
  int32_t cell[3];
  int64_t ranges[CELL_RANGES_MAX][2];
  double sum = 0;
  *nearest2 = INFINITY;
  const int32_t *index = cell_grid_index(grid);
  cell_grid_coordinate(grid, (float)at.x, (float)at.y, (float)at.z, cell);
  int count = cell_grid_around(grid, cell, ranges);
  for (int r = 0; r < count; r++)
    for (int64_t k = ranges[r][0]; k < ranges[r][1]; k++) {
      int32_t j = index[k];
      Vec3 apart = vec3_sub(at, vec3((double)coarse.x[j], (double)coarse.y[j], (double)coarse.z[j]));
      double square = vec3_dot(apart, apart), q = 1 - square / (9 * radius * radius);
      *nearest2 = fmin(*nearest2, square);
      if (q > 0) sum += q * q * q;
    }
  return sum;
}

/* A place is inside the sand when its sum of weights is at least this: in bulk it is 2.2 to 2.6, at a flat surface half
 * of that. */
#define FINE_INTERIOR 1.9

/* The room of the coarse grains in cells of a given side. */
typedef struct FineCells {
  double side;
  int64_t low[3], size[3];
} FineCells;

static inline FineCells fine_cells_of(ScreeParticles coarse, double side) {
  const float *const at[3] = {coarse.x, coarse.y, coarse.z};
  FineCells cells = {.side = side};
  for (int axis = 0; axis < 3; axis++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < coarse.count; i++)
      low = fmin(low, (double)at[axis][i]), high = fmax(high, (double)at[axis][i]);
    cells.low[axis] = coarse.count > 0 ? (int64_t)floor(low / side) : 0;
    cells.size[axis] = coarse.count > 0 ? (int64_t)floor(high / side) - cells.low[axis] + 1 : 1;
  }
  assert_true((double)cells.size[0] * (double)cells.size[1] * (double)cells.size[2] < 1e8);
  return cells;
}

static inline uint32_t *fine_counts(const FineCells *cells, ScreeParticles fine) {
  uint32_t *counts = calloc((size_t)(cells->size[0] * cells->size[1] * cells->size[2]), sizeof *counts);
  assert_non_null(counts);
  for (int64_t i = 0; i < fine.count; i++) {
    const double at[3] = {(double)fine.x[i], (double)fine.y[i], (double)fine.z[i]};
    int64_t place[3];
    bool within = true;
    for (int axis = 0; axis < 3; axis++) {
      place[axis] = (int64_t)floor(at[axis] / cells->side) - cells->low[axis];
      within = within && place[axis] >= 0 && place[axis] < cells->size[axis];
    }
    if (within) counts[(place[2] * cells->size[1] + place[1]) * cells->size[0] + place[0]]++;
  }
  return counts;
}

/* Cells of two coarse radii all of whose corners are inside the sand, with fine grains or without: mean and variance of
 * their counts, against the variance of a random cloud, which is the mean. Walls are far from such cells, as no coarse
 * grains are behind them. */
static inline void count_spread(const CellGrid *coarse_grid, ScreeParticles coarse, ScreeParticles fine, double radius,
                                FineMetrics *metrics) {
  FineCells cells = fine_cells_of(coarse, 2 * radius);
  uint32_t *counts = fine_counts(&cells, fine);
  double count = 0, sum = 0, square = 0, empty = 0;
  for (int64_t c = 0; c < cells.size[0] * cells.size[1] * cells.size[2]; c++) {
    const int64_t at[3] = {cells.low[0] + c % cells.size[0], cells.low[1] + c / cells.size[0] % cells.size[1],
                           cells.low[2] + c / (cells.size[0] * cells.size[1])};
    bool inside = true;
    for (int corner = 0; corner < 8 && inside; corner++) {
      double nearest2, side = cells.side;
      Vec3 place = vec3((double)(at[0] + (corner & 1)) * side, (double)(at[1] + (corner >> 1 & 1)) * side,
                        (double)(at[2] + (corner >> 2)) * side);
      inside = weight_sum(coarse_grid, coarse, radius, place, &nearest2) > FINE_INTERIOR;
    }
    if (!inside) continue;
    double n = (double)counts[c];
    count++, sum += n, square += n * n, empty += n == 0;
  }
  free(counts);
  double mean = sum / count, variance = square / count - mean * mean;
  metrics->cells = (int64_t)count;
  metrics->spread = sqrt(variance / mean);
  metrics->empty = count > 0 ? empty / count : 0;
}

static inline FineMetrics fine_metrics(ScreeWorld *world) {
  FineMetrics metrics = {.deepest = -1};
  Core core = test_core(1);
  ScreeParticles fine = scree_world_grains(world), coarse = scree_world_particles(world);
  double radius = world->state.radius, nearest2;
  CellGrid *grid = NULL;
  assert_ok(&core, cell_grid_create(&core, &grid));
  assert_ok(&core, cell_grid_build(&core, grid, (Points){coarse.count, coarse.x, coarse.y, coarse.z, coarse.id},
                                   (float)(3 * radius)));
  for (int64_t i = 0; i < fine.count; i++) {
    FineTouch touch = fine_touch(world, fine, i);
    metrics.deepest = fmax(metrics.deepest, touch.depth);
    metrics.inside += touch.depth > 0.1;
    weight_sum(grid, coarse, radius, vec3((double)fine.x[i], (double)fine.y[i], (double)fine.z[i]), &nearest2);
    bool far = nearest2 > 9 * radius * radius, lies = touch.depth > -0.5 && touch.up > 0.3;
    metrics.far += far;
    metrics.hanging +=
        far && !lies && (double)fine.vz[i] > -0.2; /* at this speed a fiftieth of a second after its release */
  }
  metrics.inside /= (double)fine.count;
  metrics.far /= (double)fine.count;
  metrics.hanging /= (double)fine.count;
  count_spread(grid, coarse, fine, radius, &metrics);
  cell_grid_destroy(&core, grid);
  core_destroy(&core);
  return metrics;
}

/* A heap on a tray high over the floor; the tray tips it off and comes back to where it was, empty. Friction is
 * written out: with another a grain may be in the air over the tray as it comes back, land and lie on it. */
typedef struct Tray {
  ScreeMaterialDef sand;
  ScreeGrainsDef heap;
  ScreeBoundaryDef floor;
  ScreeBodyDef tray;
  ScreeKeyDef keys[4];
  ScreeUpsampleDef upsample;
  ScreeSceneDef scene;
} Tray;

enum { TRAY_EMPTY_FRAME = 75, TRAY_LATER_FRAME = TRAY_EMPTY_FRAME + 120 };
#define TRAY_HEIGHT 1.2
#define TRAY_RADIUS 0.03

static inline void tray_fill(Tray *t, int mode, bool rule) {
  *t = (Tray){
      .sand = scree_material_default("sand"),
      .heap = scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.2, -0.2, TRAY_HEIGHT + 0.03},
                                                           (ScreeVec3){0.2, 0.2, TRAY_HEIGHT + 0.25})),
      .floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1})),
      .tray = scree_body_default("tray", scree_shape_box((ScreeVec3){-0.3, -0.3, -0.02}, (ScreeVec3){0.3, 0.3, 0.02})),
      .upsample = scree_upsample_default(0.01),
      .scene = scree_scene_default()};
  static const struct { double t, half_turn; } moves[4] = {{0.4, 0}, {0.75, 1.1}, {0.9, 1.1}, {1.25, 0}};
  for (int k = 0; k < 4; k++)
    t->keys[k] = (ScreeKeyDef){.t = moves[k].t,
                               .position = {0, 0, TRAY_HEIGHT},
                               .rotation = {cos(moves[k].half_turn), 0, sin(moves[k].half_turn), 0}};
  t->sand.friction_static = 0.35;
  t->sand.friction_kinetic = 0.3;
  t->tray.motion = SCREE_MOTION_KEYFRAMES;
  t->tray.keys = t->keys;
  t->tray.key_count = 4;
  t->upsample.mode = mode;
  t->upsample.body_rule = rule;
  t->scene.name = "tray";
  t->scene.method = scree_method_default("pbd");
  t->scene.method.radius = TRAY_RADIUS;
  t->scene.materials = &t->sand;
  t->scene.material_count = 1;
  t->scene.grains = &t->heap;
  t->scene.grains_count = 1;
  t->scene.boundaries = &t->floor;
  t->scene.boundary_count = 1;
  t->scene.bodies = &t->tray;
  t->scene.body_count = 1;
  t->scene.upsample = &t->upsample;
}

/* Share of the fine grains that are higher than the coarse grains reach. */
static inline double tray_hanging(const ScreeWorld *world) {
  ScreeParticles fine = scree_world_grains(world), coarse = scree_world_particles(world);
  double top = 0, hanging = 0;
  for (int64_t i = 0; i < coarse.count; i++) top = fmax(top, (double)coarse.z[i]);
  for (int64_t i = 0; i < fine.count; i++) hanging += (double)fine.z[i] > top + 3 * TRAY_RADIUS;
  return hanging / (double)fine.count;
}

#endif
