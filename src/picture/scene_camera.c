/* Where a scene is seen from: as it says, or so that all whose size it tells is in the picture. */
#include <math.h>

#include "parameters/table.h"
#include "picture/scene_frame.h"

typedef struct Extent {
  double low[3], high[3];
} Extent;

static void extent_add(Extent *extent, ScreeVec3 at, ScreeVec3 half) {
  const double middle[3] = {at.x, at.y, at.z}, reach[3] = {half.x, half.y, half.z};
  for (int k = 0; k < 3; k++) {
    extent->low[k] = fmin(extent->low[k], middle[k] - reach[k]);
    extent->high[k] = fmax(extent->high[k], middle[k] + reach[k]);
  }
}

/* Turned boxes count by the ball round them. Meshes tell nothing: they would have to be read. */
static void extent_shape(Extent *extent, const ScreeShapeDef *shape) {
  ScreeVec3 p = shape->position, center, half;
  if (!shape_extent(shape, &center, &half)) return;
  ScreeVec3 at = {p.x + center.x, p.y + center.y, p.z + center.z};
  if (shape->kind == SCREE_SHAPE_BOX && shape->rotation.w != 1) {
    double radius = sqrt(half.x * half.x + half.y * half.y + half.z * half.z);
    at = p;
    half = (ScreeVec3){radius, radius, radius};
  }
  extent_add(extent, at, half);
}

static Extent scene_extent(const ScreeSceneDef *scene) {
  Extent all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int32_t k = 0; k < scene->grains_count; k++) extent_shape(&all, &scene->grains[k].fill);
  for (int32_t k = 0; k < scene->emitter_count; k++) extent_shape(&all, &scene->emitters[k].shape);
  for (int32_t k = 0; k < scene->body_count; k++) extent_shape(&all, &scene->bodies[k].shape);
  for (int32_t k = 0; k < scene->boundary_count; k++) extent_shape(&all, &scene->boundaries[k].shape);
  if (scene->terrain) {
    const ScreeTerrainDef *t = scene->terrain;
    ScreeVec3 half = {t->size.x / 2, t->size.y / 2, t->height / 2};
    extent_add(&all, (ScreeVec3){t->origin.x + half.x, t->origin.y + half.y, t->base + half.z}, half);
  }
  /* What falls comes to lie on the ground below. */
  for (int32_t k = 0; k < scene->boundary_count; k++) {
    const ScreePlaneDef *plane = &scene->boundaries[k].shape.plane;
    if (scene->boundaries[k].shape.kind == SCREE_SHAPE_PLANE && plane->normal.z > 0)
      all.low[2] = fmin(all.low[2], plane->point.z);
  }
  return all;
}

static bool same(ScreeVec3 a, ScreeVec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

Camera scene_camera(const ScreeSceneDef *scene) {
  Camera camera = {scene->camera.eye, scene->camera.target, scene->camera.fov_deg};
  /* A run writes out every default: a camera with all of them is one that nobody chose. */
  ScreeCameraDef plain = scree_scene_default().camera;
  if (!same(camera.eye, plain.eye) || !same(camera.target, plain.target)) return camera;
  Extent all = scene_extent(scene);
  double middle[3], square = 0;
  for (int k = 0; k < 3; k++) {
    middle[k] = (all.low[k] + all.high[k]) / 2;
    square += (all.high[k] - all.low[k]) * (all.high[k] - all.low[k]) / 4;
  }
  double away = 1.05 * sqrt(square) / sin(camera.fov_deg * 3.14159265358979323846 / 360);
  if (!isfinite(away) || !(away > 0)) return camera;
  camera.target = (ScreeVec3){middle[0], middle[1], middle[2]};
  camera.eye = (ScreeVec3){middle[0] + 0.55 * away, middle[1] - 0.73 * away, middle[2] + 0.405 * away};
  return camera;
}
