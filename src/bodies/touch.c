#include "bodies/touch.h"

#include <math.h>

#include "core/portable.h"

enum { RIM_ROUNDS = 2 };
static const double ACROSS = 0.1; /* sine of the angle by which a normal may leave the plane across a cylinder */

void touch_add(TouchPlaces *places, TouchPlace place) {
  if (places->count < TOUCH_PLACES_MAX) places->places[places->count++] = place;
}

void touch_add_mesh(TouchPlaces *places, const Mesh *mesh, const SolidPose *pose) {
  const double golden = M_PI * (3 - sqrt(5));
  int32_t begin = places->count, most = TOUCH_PLACES_MAX - begin;
  for (int k = 0; k < most; k++) {
    double z = 1 - (2 * k + 1.0) / most, r = sqrt(1 - z * z);
    Vec3 direction = vec3(r * portable_cos(golden * k), r * portable_sin(golden * k), z);
    int64_t best = -1;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
      if (best < 0 || vec3_dot(mesh->vertices[v], direction) > vec3_dot(mesh->vertices[best], direction)) best = v;
    if (best < 0) return;
    Vec3 point = vec3_add(quat_rotate(pose->rotation, mesh->vertices[best]), pose->position);
    bool known = false;
    for (int32_t j = begin; j < places->count && !known; j++)
      known = vec3_length(vec3_sub(places->places[j].center, point)) == 0;
    if (!known) touch_add(places, (TouchPlace){.center = point});
  }
}

void touch_add_shape(TouchPlaces *places, const Shape *shape) {
  if (shape->kind == SCREE_SHAPE_MESH) {
    const SolidPose own = {vec3(0, 0, 0), quat_identity()};
    touch_add_mesh(places, &shape->mesh, &own);
    return;
  }
  Vec3 corners[SHAPE_CORNERS_MAX];
  double radius = 0;
  int count = shape_corners(shape, corners, &radius);
  for (int k = 0; k < count; k++) touch_add(places, (TouchPlace){.center = corners[k], .radius = radius});
  if (shape->kind == SCREE_SHAPE_CYLINDER)
    for (int end = 0; end < 2; end++)
      touch_add(places, (TouchPlace){.center = vec3_madd(shape->low, vec3(0, 0, 1), end * shape->height),
                                     .axis = vec3(0, 0, 1),
                                     .rim = shape->radius});
}

bool touch_point(const TouchPlace *place, const SolidPose *pose, Vec3 normal, Vec3 *point) {
  Vec3 center = vec3_add(quat_rotate(pose->rotation, place->center), pose->position);
  if (place->rim > 0) {
    Vec3 axis = quat_rotate(pose->rotation, place->axis);
    Vec3 across = vec3_madd(normal, axis, -vec3_dot(normal, axis));
    double length = vec3_length(across);
    if (!(length > 1e-6)) return false;
    center = vec3_madd(center, across, -place->rim / length);
  }
  *point = vec3_madd(center, normal, -place->radius);
  return true;
}

/* ---- rims and edges ---- */

/* No point of a solid is nearer than that: 0 for containers. */
static double least_distance(const Solid *other, Vec3 world) {
  if (other->shape.inside) return 0;
  Vec3 at = solid_to_local(other, world), low = other->shape.bounds_low, high = other->shape.bounds_high;
  return vec3_length(vec3_sub(at, vec3_max(low, vec3_min(at, high))));
}

static double distance_at(const Solid *other, Vec3 point, double reach) {
  ShapePoint near[SHAPE_CONTACTS_MAX];
  double least = INFINITY;
  int count = solid_contacts(other, point, reach, near);
  for (int k = 0; k < count; k++) least = fmin(least, near[k].distance);
  return least;
}

/* The point of an edge that is nearest to the other solid. Along a straight line the distance from a convex solid is a
 * convex function: its least value among a few points brackets the true one. Ends are corners and have places of their
 * own. */
static bool nearest_of_edge(const TouchPlace *edge, const Solid *solid, const Solid *other, double reach,
                            TouchPlace *nearest) {
  enum { POINTS = 9, ROUNDS = 16 };
  Vec3 middle = solid_to_world(solid, edge->center), along = quat_rotate(solid->rotation, edge->axis);
  double least = INFINITY, step = 2 * edge->half / (POINTS - 1);
  int best = -1;
  if (least_distance(other, middle) > reach + edge->half) return false;
  for (int k = 0; k < POINTS; k++) {
    Vec3 point = vec3_madd(middle, along, k * step - edge->half);
    double found = least_distance(other, point) > reach + step ? INFINITY : distance_at(other, point, reach + step);
    if (found < least) least = found, best = k;
  }
  if (best < 0 || least > reach + 0.5 * step) return false; /* points between are no nearer than that less */
  double low = fmax(-edge->half, (best - 1) * step - edge->half),
         high = fmin(edge->half, (best + 1) * step - edge->half);
  for (int k = 0; k < ROUNDS; k++) {
    double third = (high - low) / 3;
    double near_low = distance_at(other, vec3_madd(middle, along, low + third), reach + step);
    double near_high = distance_at(other, vec3_madd(middle, along, high - third), reach + step);
    if (near_low <= near_high) high -= third;
    if (near_low >= near_high) low += third;
  }
  *nearest = (TouchPlace){.center = vec3_madd(edge->center, edge->axis, 0.5 * (low + high)), .radius = edge->radius};
  return true;
}

/* The point of a rim that is nearest, from the surface near its centre on. It depends on the normal there: for a plane
 * the first round finds it. Faces of a container (of several) are planes, each of its own. */
static bool nearest_of_rim(const TouchPlace *rim, const SolidPose *pose, const Solid *other, bool one_of_several,
                           Vec3 *at, ShapePoint *surface) {
  Vec3 center = vec3_add(quat_rotate(pose->rotation, rim->center), pose->position);
  for (int round = 0; round < RIM_ROUNDS; round++) {
    ShapePoint again[SHAPE_CONTACTS_MAX];
    if (!touch_point(rim, pose, surface->normal, at)) return false;
    if (one_of_several) {
      surface->distance += vec3_dot(vec3_sub(*at, center), surface->normal);
      return true;
    }
    if (solid_contacts(other, *at, fabs(surface->distance) + 2 * rim->rim, again) != 1) return false;
    *surface = again[0];
  }
  return true;
}

int touch_find(const TouchPlace *place, const Solid *solid, const Solid *other, double ahead,
               TouchFound found[SHAPE_CONTACTS_MAX]) {
  const SolidPose pose = {solid->position, solid->rotation};
  TouchPlace at_point = *place;
  if (place->half > 0 && !nearest_of_edge(place, solid, other, place->radius + ahead, &at_point)) return 0;
  ShapePoint near[SHAPE_CONTACTS_MAX];
  Vec3 center = solid_to_world(solid, at_point.center), axis = quat_rotate(solid->rotation, place->axis);
  double reach = place->radius + place->rim + ahead;
  int count = least_distance(other, center) > reach ? 0 : solid_contacts(other, center, reach, near), kept = 0;
  for (int k = 0; k < count; k++) {
    Vec3 at = center;
    if (place->rim > 0 && !nearest_of_rim(place, &pose, other, count > 1, &at, &near[k])) continue;
    if (place->round && fabs(vec3_dot(near[k].normal, axis)) > ACROSS) continue;
    double gap = near[k].distance - place->radius;
    if (!(gap < ahead)) continue;
    found[kept++] = (TouchFound){vec3_madd(at, near[k].normal, -place->radius), near[k].normal, gap, at_point};
  }
  return kept;
}

bool touch_is_near(const Solid *solid, const Solid *other, double ahead) {
  double reach = solid_extent(solid, solid->center_in_shape) + ahead;
  if (least_distance(other, solid->center) > reach) return false;
  if (other->shape.kind == SCREE_SHAPE_MESH) return true; /* far from its surface its distance is dear */
  ShapePoint near[SHAPE_CONTACTS_MAX];
  return solid_contacts(other, solid->center, reach, near) > 0;
}
