#include "state/solid_touch.h"

int solid_face(const Solid *solid, const ShapePoint *touch) {
  const Shape *shape = &solid->shape;
  const Vec3 normal = touch->normal;
  if (shape->kind == SCREE_SHAPE_MESH) return touch->face % SOLID_FACES;
  if (!shape->inside || (shape->kind != SCREE_SHAPE_BOX && shape->kind != SCREE_SHAPE_CYLINDER)) return 0;
  Vec3 n = solid_is_turned(solid) ? quat_rotate(quat_conjugate(solid->rotation), normal) : normal;
  return container_face(shape->kind == SCREE_SHAPE_CYLINDER, n);
}

typedef int (*AskShape)(const Shape *shape, Vec3 point, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]);

static int ask_shape(const Solid *solid, AskShape ask, Vec3 world, double reach,
                     ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  /* Most walls are not turned: that saves their quaternion. */
  if (!solid_is_turned(solid)) return ask(&solid->shape, vec3_sub(world, solid->position), reach, contacts);
  int count = ask(&solid->shape, solid_to_local(solid, world), reach, contacts);
  for (int k = 0; k < count; k++) contacts[k].normal = quat_rotate(solid->rotation, contacts[k].normal);
  return count;
}

int solid_contacts(const Solid *solid, Vec3 world, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  return ask_shape(solid, shape_contacts, world, reach, contacts);
}

int solid_touches(const Solid *solid, Vec3 world, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  return ask_shape(solid, shape_touches, world, reach, contacts);
}

SolidPose solid_pose_after(const Solid *solid, double seconds) {
  Quat rotation = quat_mul(quat_from_vector(vec3_scale(solid->spin, seconds)), solid->rotation);
  Vec3 center = vec3_madd(solid->center, solid->velocity, seconds);
  return (SolidPose){vec3_sub(center, quat_rotate(rotation, solid->center_in_shape)), rotation};
}

double solid_extent(const Solid *solid, Vec3 local) {
  Vec3 low = vec3_sub(solid->shape.bounds_low, local), high = vec3_sub(solid->shape.bounds_high, local);
  Vec3 far = vec3(fmax(fabs(low.x), fabs(high.x)), fmax(fabs(low.y), fabs(high.y)), fmax(fabs(low.z), fabs(high.z)));
  double extent = vec3_length(far);
  return extent < 1e6 ? extent : 1;
}

double solid_surface_speed(const Solid *solid, Vec3 velocity, Vec3 spin) {
  return vec3_length(velocity) + vec3_length(spin) * solid_extent(solid, solid->center_in_shape);
}
