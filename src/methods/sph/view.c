#include "methods/sph/view.h"

#include <math.h>

#define LANE_SCALAR
#include "methods/sph/wall_law.h"

enum { TRACE_PASSES = 10 };
/* Of the spacing: a surface is met when it is so near; what is left so near after all passes counts as met, too; and a
 * mesh is taken for flat from here on. */
#define TRACE_MET 0.005f
#define TRACE_MET_AT_LAST 0.1f
#define TRACE_NEAR 0.15f

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
  double h = fmax(point->distance, 0), aside = h < reach ? sqrt(reach * reach - h * h) : 0;
  int flat = 0;
  for (int c = 0; c < 3; c++)
    flat +=
        vec3_get(local, c) - aside >= vec3_get(shape->low, c) && vec3_get(local, c) + aside <= vec3_get(shape->high, c);
  return flat == 2;
}

/* How far a beam may go from where it is. A convex solid's distance is convex along a line: Newton's step comes near
 * its surface and never beyond, and a beam that does not approach it misses. In a container it may go a little beyond,
 * and comes back. Through a mesh it goes by the distance, which is safe, until it is near. Returns false when it
 * misses. */
static bool go_on(const Shape *shape, float distance, float cosine, float near, float *step) {
  float newton = cosine > 0.02f ? distance / cosine : INFINITY;
  *step = newton;
  if (shape->kind != SCREE_SHAPE_MESH) {
    if (!shape->inside) return cosine > 0;
    if (!(newton < INFINITY)) *step = distance > near ? distance : near;
    return true;
  }
  if (distance > near || (distance > 0 && newton > 2 * distance))
    *step = distance > 0.1f * near ? distance : 0.1f * near;
  return *step < INFINITY;
}

void sph_trace(const Core *core, const Shape *shape, SphBeams *b, double spacing, SphMeet *meet, void *context) {
  const float met = TRACE_MET * (float)spacing, near = TRACE_NEAR * (float)spacing;
  float at[3][BEAMS_MOST], distance[BEAMS_MOST], normal[3][BEAMS_MOST];
  for (int pass = 0; pass < TRACE_PASSES && b->count > 0; pass++) {
    for (int c = 0; c < 3; c++)
      for (int k = 0; k < b->count; k++) at[c][k] = b->from[c][k] + b->t[k] * b->along[c][k];
    shape_distance_range(core, shape, b->count, at[0], at[1], at[2], WALL_SUPPORT * spacing, distance, normal[0],
                         normal[1], normal[2]);
    float enough = pass + 1 < TRACE_PASSES ? met : TRACE_MET_AT_LAST * (float)spacing;
    int kept = 0;
    for (int k = 0; k < b->count; k++) {
      const float n[3] = {normal[0][k], normal[1][k], normal[2][k]};
      float cosine = -(n[0] * b->along[0][k] + n[1] * b->along[1][k] + n[2] * b->along[2][k]), step;
      if (fabsf(distance[k]) < enough || (distance[k] < 0 && !(cosine > 0.02f))) {
        float t = b->t[k] + (cosine > 0.1f ? distance[k] / cosine : 0);
        if (t < b->end[k]) meet(context, b->who[k], t, n);
        continue;
      }
      if (!go_on(shape, distance[k], cosine, near, &step)) continue;
      float t = b->t[k] + step;
      if (!(t < b->end[k])) continue;
      b->who[kept] = b->who[k];
      b->end[kept] = b->end[k];
      b->t[kept] = t;
      for (int c = 0; c < 3; c++) b->from[c][kept] = b->from[c][k], b->along[c][kept] = b->along[c][k];
      kept++;
    }
    b->count = kept;
  }
}

/* ---- half spaces ---- */

#define SAME_PLANE 0.01f /* in spacings */

static float along(const float a[3], float x, float y, float z) { return a[0] * x + a[1] * y + a[2] * z; }

bool sph_square(SphSquare *square) {
  WallShare wall[SQUARE_MOST];
  for (int a = 0; a < square->count; a++) wall[a] = wall_flat(square->distance[a]);
  for (int a = 0; a < square->count; a++) {
    const float *n = square->normal[a];
    float hidden = 0;
    for (int b = 0; b < square->count; b++) {
      if (b == a) continue;
      const float *m = square->normal[b];
      float dot = along(n, m[0], m[1], m[2]);
      if (fabsf(dot) > 0.05f && dot > -0.95f) return false;
      hidden += wall_common(vec_make(n[0], n[1], n[2]), vec_make(m[0], m[1], m[2])) * real_min(wall[b].share, 1);
    }
    square->share[a] = wall[a].share - 0.5f * hidden * real_min(wall[a].share, 1);
    square->slope[a] = wall[a].slope * real_max(1 - hidden, 0);
  }
  return true;
}

/* Planes that rays see. */
enum { PLANES_MOST = 16, PLANE_RAYS = 5 };
typedef struct SeenPlanes {
  int count;
  float normal[PLANES_MOST][3], distance[PLANES_MOST];
  int rays[PLANES_MOST];
  int8_t of[VIEW_RAYS]; /* -1: none, or one of its own */
} SeenPlanes;

static void find_planes(const SphRays *rays, const SphView *view, SeenPlanes *planes) {
  planes->count = 0;
  for (int k = 0; k < VIEW_RAYS; k++) {
    planes->of[k] = -1;
    if (view->solid[k] < 0) continue;
    const float n[3] = {view->normal[0][k], view->normal[1][k], view->normal[2][k]};
    float distance = -view->t[k] * along(n, rays->x[k], rays->y[k], rays->z[k]);
    int at = 0;
    while (at < planes->count && !(along(planes->normal[at], n[0], n[1], n[2]) > 0.999f &&
                                   fabsf(planes->distance[at] - distance) < SAME_PLANE))
      at++;
    if (at == PLANES_MOST) continue;
    if (at == planes->count) {
      for (int c = 0; c < 3; c++) planes->normal[at][c] = n[c];
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
    for (int c = 0; c < 3; c++) square->normal[square->count][c] = planes->normal[a][c];
    square->distance[square->count] = planes->distance[a];
    now[a] = (int8_t)square->count++;
  }
  for (int k = 0; k < VIEW_RAYS; k++)
    if (planes->of[k] >= 0) planes->of[k] = now[planes->of[k]];
  return square->count > 0;
}

/* Whether every ray ends at the first of them: nothing is missing from the planes. Cached distances of a mesh round its
 * inner edges off: a few rays may end a little too early, where planes meet. They belong to the first plane. */
static bool planes_are_all(const SphRays *rays, const SphView *view, const SphSquare *square, SeenPlanes *planes) {
  int strays = 0, seen = 0;
  for (int k = 0; k < VIEW_RAYS; k++) {
    float first = WALL_SUPPORT;
    int at = -1;
    for (int a = 0; a < square->count; a++) {
      float cosine = -along(square->normal[a], rays->x[k], rays->y[k], rays->z[k]);
      if (cosine * first > square->distance[a]) first = square->distance[a] / cosine, at = a;
    }
    bool stray = view->solid[k] >= 0 && planes->of[k] < 0;
    if (fabsf(first - view->t[k]) > (stray ? 0.15f : 0.03f) * first) return false;
    if (stray) planes->of[k] = (int8_t)at;
    strays += stray;
    seen += view->solid[k] >= 0;
  }
  return 4 * strays <= seen;
}

void sph_view_square(const SphRays *rays, SphView *view) {
  SeenPlanes planes;
  SphSquare square;
  float share[SQUARE_MOST] = {0}, slope[SQUARE_MOST] = {0};
  find_planes(rays, view, &planes);
  if (!keep_planes(&planes, &square) || !planes_are_all(rays, view, &square, &planes) || !sph_square(&square)) return;
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
