#include "methods/sph/view.h"

#include <math.h>

#define LANE_SCALAR
#include "methods/sph/square_shared.h"
#include "methods/sph/trace_shared.h"
#include "methods/sph/walls_shared.h"

void sph_rays_make(SphRays *rays) {
  /* A spiral: each is turned by the golden angle and covers the same part of the sphere. */
  const double turn_c = -0.73736887807831985, turn_s = 0.67549029426152352;
  double c = 1, s = 0;
  for (int k = 0; k < VIEW_RAYS; k++) {
    double z = 1 - (2 * k + 1) / (double)VIEW_RAYS, across = sqrt(1 - z * z), next = c * turn_c - s * turn_s;
    rays->x[k] = (float)(across * c);
    rays->y[k] = (float)(across * s);
    rays->z[k] = (float)z;
    s = c * turn_s + s * turn_c;
    c = next;
  }
}

void sph_view_begin(SphView *view) {
  for (int k = 0; k < VIEW_RAYS; k++) {
    view->t[k] = WALL_SUPPORT;
    view->solid[k] = -1;
    for (int c = 0; c < 3; c++) view->normal[c][k] = 0;
  }
}

bool sph_can_trace(const Shape *shape) {
  return shape->kind != SCREE_SHAPE_HEIGHTFIELD && (shape->kind != SCREE_SHAPE_MESH || shape->grid);
}

bool sph_view_is_flat(const Shape *shape, Vec3 local, const ShapePoint *point, double reach) {
  if (shape->kind == SCREE_SHAPE_PLANE || !sph_can_trace(shape)) return true;
  if (shape->kind != SCREE_SHAPE_BOX) return false;
  if (shape->inside) return true; /* each of its faces */
  return around_box_is_flat(shape->low, shape->high, local, point->distance, reach);
}

void sph_trace(const Core *core, const Shape *shape, SphBeams *b, double spacing, SphMeet *meet, void *context) {
  const bool mesh = shape->kind == SCREE_SHAPE_MESH;
  float at[3][BEAMS_MOST], distance[BEAMS_MOST], normal[3][BEAMS_MOST];
  for (int pass = 0; pass < TRACE_PASSES && b->count > 0; pass++) {
    for (int c = 0; c < 3; c++)
      for (int k = 0; k < b->count; k++) at[c][k] = b->from[c][k] + b->t[k] * b->along[c][k];
    shape_distance_range(core, shape, b->count, at[0], at[1], at[2], WALL_SUPPORT * spacing, distance, normal[0],
                         normal[1], normal[2]);
    int kept = 0;
    for (int k = 0; k < b->count; k++) {
      const float n[3] = {normal[0][k], normal[1][k], normal[2][k]};
      const BeamStep step =
          beam_step(mesh, shape->inside, pass, distance[k], vec_make(n[0], n[1], n[2]),
                    vec_make(b->along[0][k], b->along[1][k], b->along[2][k]), b->t[k], b->end[k], (float)spacing);
      if (step.end == BEAM_MEETS) meet(context, b->who[k], step.t, n);
      if (step.end != BEAM_GOES_ON) continue;
      b->who[kept] = b->who[k];
      b->end[kept] = b->end[k];
      b->t[kept] = step.t;
      for (int c = 0; c < 3; c++) b->from[c][kept] = b->from[c][k], b->along[c][kept] = b->along[c][k];
      kept++;
    }
    b->count = kept;
  }
}

/* ---- half spaces ---- */

static LaneVec3 ray_of(const SphRays *rays, int k) { return vec_make(rays->x[k], rays->y[k], rays->z[k]); }

/* Planes that rays see. */
typedef struct SeenPlanes {
  int count;
  LaneVec3 normal[PLANES_MOST];
  float distance[PLANES_MOST];
  int rays[PLANES_MOST];
  int8_t of[VIEW_RAYS]; /* -1: none, or one of its own */
} SeenPlanes;

static void find_planes(const SphRays *rays, const SphView *view, SeenPlanes *planes) {
  planes->count = 0;
  for (int k = 0; k < VIEW_RAYS; k++) {
    planes->of[k] = -1;
    if (view->solid[k] < 0) continue;
    const LaneVec3 n = vec_make(view->normal[0][k], view->normal[1][k], view->normal[2][k]);
    const float distance = plane_distance(n, ray_of(rays, k), view->t[k]);
    int at = 0;
    while (at < planes->count && !plane_same(planes->normal[at], planes->distance[at], n, distance)) at++;
    if (at == PLANES_MOST) continue;
    if (at == planes->count) {
      planes->normal[at] = n;
      planes->distance[at] = distance;
      planes->rays[at] = 0;
      planes->count++;
    }
    planes->of[k] = (int8_t)at;
    planes->rays[at]++;
  }
}

/* The planes that several rays see, if they are few; what was found of a ray becomes what is kept of it. */
static bool keep_planes(SeenPlanes *planes, SphSquare *square) {
  int8_t now[PLANES_MOST];
  square->count = 0;
  for (int a = 0; a < planes->count; a++) {
    now[a] = -1;
    if (planes->rays[a] < PLANE_RAYS) continue;
    if (square->count == SQUARE_MOST) return false;
    square_put(square, square->count, planes->normal[a], planes->distance[a]);
    now[a] = (int8_t)square->count++;
  }
  for (int k = 0; k < VIEW_RAYS; k++)
    if (planes->of[k] >= 0) planes->of[k] = now[planes->of[k]];
  return square->count > 0;
}

/* Whether every ray ends at the first of them: nothing is missing from the planes. Strays belong to the first plane. */
static bool planes_are_all(const SphRays *rays, const SphView *view, const SphSquare *square, SeenPlanes *planes) {
  int strays = 0, seen = 0;
  for (int k = 0; k < VIEW_RAYS; k++) {
    const bool stray = view->solid[k] >= 0 && planes->of[k] < 0;
    const PlaneSeen first = plane_seen(square, ray_of(rays, k), view->t[k], stray);
    if (!first.ends) return false;
    if (stray) planes->of[k] = (int8_t)first.at;
    strays += stray;
    seen += view->solid[k] >= 0;
  }
  return planes_suffice(strays, seen);
}

void sph_view_square(const SphRays *rays, SphView *view) {
  SeenPlanes planes;
  SphSquare square;
  float share[SQUARE_MOST] = {0}, slope[SQUARE_MOST] = {0};
  find_planes(rays, view, &planes);
  if (!keep_planes(&planes, &square) || !planes_are_all(rays, view, &square, &planes) || !square_weigh(&square)) return;
  for (int k = 0; k < VIEW_RAYS; k++) {
    int at = view->solid[k] < 0 ? -1 : planes.of[k];
    if (at < 0) continue;
    for (int c = 0; c < 3; c++) view->normal[c][k] = square.normal[at][c];
    share[at] += view->share[k];
    slope[at] += view->slope[k];
  }
  for (int k = 0; k < VIEW_RAYS; k++) {
    int at = view->solid[k] < 0 ? -1 : planes.of[k];
    if (at >= 0 && share[at] > 0) view->share[k] *= square.share[at] / share[at];
    if (at >= 0 && slope[at] > 0) view->slope[k] *= square.slope[at] / slope[at];
  }
}

/* ---- solids ---- */

typedef struct Seen {
  SphView *view;
  Mat3 turn; /* from the solid's frame to the world's */
  float inverse_spacing;
  int32_t solid;
} Seen;

static void see(void *context, int32_t who, float t, const float normal[3]) {
  const Seen *seen = context;
  SphView *view = seen->view;
  Vec3 n = mat3_apply(&seen->turn, vec3((double)normal[0], (double)normal[1], (double)normal[2]));
  view->t[who] = t * seen->inverse_spacing;
  view->solid[who] = seen->solid;
  for (int c = 0; c < 3; c++) view->normal[c][who] = (float)vec3_get(n, c);
}

void sph_view_solid(const Core *core, const SphRays *rays, SphView *view, const Solid *solid, int32_t index, Vec3 at,
                    double nearest, double spacing) {
  Seen seen = {view, mat3_from_quat(solid->rotation), (float)(1 / spacing), index};
  Mat3 back = mat3_transpose(seen.turn);
  Vec3 local = mat3_apply(&back, vec3_sub(at, solid->position));
  SphBeams beams;
  beams.count = VIEW_RAYS;
  for (int k = 0; k < VIEW_RAYS; k++) {
    Vec3 along = mat3_apply(&back, vec3((double)rays->x[k], (double)rays->y[k], (double)rays->z[k]));
    beams.who[k] = k;
    beams.t[k] = (float)fmax(nearest, 0);
    beams.end[k] = view->t[k] * (float)spacing;
    for (int c = 0; c < 3; c++) {
      beams.from[c][k] = (float)vec3_get(local, c);
      beams.along[c][k] = (float)vec3_get(along, c);
    }
  }
  sph_trace(core, &solid->shape, &beams, spacing, see, &seen);
}
