/* Puts a single grain out of all solids, at the end of the frame: where walls make wedges and corners, for grains that
 * are born and for render points. */
#include <math.h>

#include "upsample/internal.h"

/* Places are looked for in so many directions, on shells about a grain that are farther and farther away; from each it
 * is led on for some steps. */
enum { WEDGE_STEPS = 64, SEARCH_DIRECTIONS = 24, SEARCH_SHELLS = 8, SEARCH_STEPS = 4 };
#define SEARCH_SHELL 0.75 /* of its radius between shells */
/* In one step a grain goes at most so many of its radii along a wedge, as its walls may be round. Normals whose cosine
 * is below minus this are those of parallel walls. */
#define WEDGE_STEP 2.0
#define PARALLEL 0.995

/* The solid that a grain is deepest in, as a plane that its centre should be beyond. */
typedef struct Plane {
  Vec3 normal;
  double offset; /* of the plane along its normal */
  double depth;  /* of the grain's centre behind it */
  const FineSolid *solid;
} Plane;

static Plane deepest_plane(const Upsample *up, Vec3 at, double radius) {
  Plane deepest = {.depth = -INFINITY};
  const float world[3] = {(float)at.x, (float)at.y, (float)at.z};
  for (int32_t k = 0; k < up->solid_count; k++) {
    const FineSolid *view = &up->solids[k];
    float local[3], normal[3];
    solid_to_view(view, 1, world, local);
    Vec3 point = vec3((double)local[0], (double)local[1], (double)local[2]);
    Shape shape = view->shape;
    double far = shape.grid ? (double)shape.grid->band : 8 * radius;
    ShapePoint near = shape_distance(&shape, point, far);
    if (!(near.distance < radius + view->doubt)) continue;
    if (view->doubt > 0) shape.grid = NULL, near = shape_distance(&shape, point, far);
    if (!(radius - near.distance > deepest.depth)) continue;
    const float inward[3] = {(float)near.normal.x, (float)near.normal.y, (float)near.normal.z};
    solid_to_world_axes(view, 1, inward, normal);
    deepest.normal = vec3((double)normal[0], (double)normal[1], (double)normal[2]);
    deepest.depth = radius - near.distance;
    deepest.solid = view;
  }
  deepest.offset = vec3_dot(deepest.normal, at) + deepest.depth;
  return deepest;
}

/* The shortest displacement that brings a point out of both planes: a n + b m with n.(a n + b m) = depth and
 * m.(a n + b m) = behind. */
static Vec3 out_of_wedge(const Plane *plane, const Plane *other, double behind, double longest) {
  double c = vec3_dot(plane->normal, other->normal), free = fmax(1 - c * c, 1e-9);
  double a = (plane->depth - c * behind) / free, b = (behind - c * plane->depth) / free;
  Vec3 displacement = vec3_madd(vec3_scale(plane->normal, a), other->normal, b);
  double length = vec3_length(displacement);
  return length > longest ? vec3_scale(displacement, longest / length) : displacement;
}

/* Walls that are nearly parallel, as the floor and a body that stands on it: it leaves away from the body's
 * middle, along both. */
static Vec3 out_from_under(const Plane *plane, const Plane *other, Vec3 at, double length) {
  bool first = !plane->solid->shape.inside && plane->solid->shape.kind != SCREE_SHAPE_PLANE;
  const FineSolid *body = first ? plane->solid : other->solid;
  Vec3 middle = vec3_scale(vec3_add(body->shape.bounds_low, body->shape.bounds_high), 0.5);
  const float local[3] = {(float)middle.x, (float)middle.y, (float)middle.z};
  float turned[3];
  solid_to_world_axes(body, 1, local, turned);
  const float *shift = body->axes[1].shift;
  Vec3 from = vec3((double)(turned[0] - shift[0]), (double)(turned[1] - shift[1]), (double)(turned[2] - shift[2]));
  Vec3 out = vec3_sub(at, from);
  out = vec3_madd(out, plane->normal, -vec3_dot(out, plane->normal));
  double size = vec3_length(out);
  return size > 0 && isfinite(size) ? vec3_scale(out, length / size) : vec3(0, 0, 0);
}

/* Between a body and the floor, or in a crack, putting a grain out of one side puts it into the other: it is moved out
 * of the wedge that the two make. Where their distance is less than a diameter that is the only place that there is.
 * Returns whether it is out. */
static bool leave_wedge(const Upsample *up, double radius, int steps, Vec3 *at) {
  Plane other = {.solid = NULL};
  for (int step = 0;; step++) {
    Plane plane = deepest_plane(up, *at, radius);
    if (!(plane.depth > (double)SLOP * radius)) return true;
    if (step == steps) return false;
    Vec3 displacement = vec3_scale(plane.normal, plane.depth);
    double behind = other.offset - vec3_dot(other.normal, vec3_add(*at, displacement));
    bool parallel = vec3_dot(plane.normal, other.normal) < -PARALLEL;
    if (other.solid && behind > 0)
      displacement =
          parallel ? out_from_under(&plane, &other, *at, WEDGE_STEP * radius)
                   : out_of_wedge(&plane, &other, other.offset - vec3_dot(other.normal, *at), WEDGE_STEP * radius);
    *at = vec3_add(*at, displacement);
    other = plane;
  }
}

/* The k-th of n directions that are spread evenly: on a spiral from pole to pole, each turned against the last by the
 * golden angle, whose cosine and sine these are. */
static Vec3 spiral_direction(int k, int n, double turn[2]) {
  const double c = -0.73736887807832, s = 0.67549029426152;
  double height = 1 - (2 * k + 1.0) / n, wide = sqrt(1 - height * height), x = turn[0], y = turn[1];
  turn[0] = c * x - s * y, turn[1] = s * x + c * y;
  return vec3(wide * x, wide * y, height);
}

/* In a pocket of three walls or more none of them leads out: the nearest place that is free. */
static bool find_room(const Upsample *up, double radius, Vec3 *at) {
  for (int shell = 1; shell <= SEARCH_SHELLS; shell++) {
    double turn[2] = {1, 0};
    for (int k = 0; k < SEARCH_DIRECTIONS; k++) {
      Vec3 displacement = vec3_scale(spiral_direction(k, SEARCH_DIRECTIONS, turn), SEARCH_SHELL * shell * radius);
      Vec3 place = vec3_add(*at, displacement);
      if (!leave_wedge(up, radius, SEARCH_STEPS, &place)) continue;
      *at = place;
      return true;
    }
  }
  return false;
}

bool solids_leave_room(const Upsample *up, double radius, Vec3 at) {
  return !(deepest_plane(up, at, radius).depth > (double)SLOP * radius);
}

bool solids_put_out(const Upsample *up, double radius, Vec3 *at) {
  Vec3 place = *at;
  if (leave_wedge(up, radius, WEDGE_STEPS, &place)) return *at = place, true;
  if (find_room(up, radius, at)) return true;
  if (find_room(up, radius, &place)) return *at = place, true;
  return false;
}
