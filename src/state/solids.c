#include "state/solids.h"

#include <string.h>

#include "core/hash.h"

void wrench_clear(Solid *solid) {
  for (int k = 0; k < 6; k++) atomic_store_explicit(&solid->wrench.part[k], 0, memory_order_relaxed);
}

bool solid_contains(const Solid *solid, Vec3 world) {
  const Shape *shape = &solid->shape;
  Vec3 at = solid_to_local(solid, world);
  bool near = shape->kind == SCREE_SHAPE_PLANE || shape->inside ||
              (at.x >= shape->bounds_low.x && at.x <= shape->bounds_high.x && at.y >= shape->bounds_low.y &&
               at.y <= shape->bounds_high.y && at.z >= shape->bounds_low.z && at.z <= shape->bounds_high.z);
  return near && shape_contains(shape, at);
}

void solid_refresh(Solid *solid) {
  solid->center = solid_to_world(solid, solid->center_in_shape);
  if (solid->motion != MOTION_FREE) return;
  memset(solid->inverse_inertia, 0, sizeof solid->inverse_inertia);
  if (!(solid->mass > 0)) return;
  Mat3 turn = mat3_from_quat(solid->rotation);
  Mat3 inertia = mat3_mul(turn, mat3_mul(solid->inertia, mat3_transpose(turn)));
  Mat3 inverse;
  if (!mat3_invert(inertia, &inverse)) return;
  for (int i = 0; i < 3; i++) {
    solid->inverse_inertia[i][i] = 1 / solid->mass;
    for (int j = 0; j < 3; j++) solid->inverse_inertia[3 + i][3 + j] = inverse.m[i][j];
  }
}

Status solids_add(Core *core, Solids *solids, Solid **solid) {
  TRY(memory_grow(core, &solids->items, solids->count + 1, "solids"));
  Solid *added = &solids->items[solids->count++];
  *added = (Solid){.rotation = {1, 0, 0, 0}, .stiffness_n = NAN, .restitution = NAN};
  *solid = added;
  return SCREE_OK;
}

int32_t solids_find(const Solids *solids, const char *name) {
  for (int32_t k = 0; k < solids->count; k++)
    if (strcmp(solids->items[k].name, name) == 0) return k;
  return -1;
}

/* What of a solid changes in the course of a run. */
static Status solid_archive(Core *core, Archive *archive, Solid *solid) {
  TRY(archive_value(core, archive, &solid->position));
  TRY(archive_value(core, archive, &solid->rotation));
  TRY(archive_value(core, archive, &solid->center));
  TRY(archive_value(core, archive, &solid->velocity));
  TRY(archive_value(core, archive, &solid->spin));
  TRY(archive_value(core, archive, &solid->inverse_inertia));
  TRY(archive_value(core, archive, &solid->outside_force));
  TRY(archive_value(core, archive, &solid->outside_torque));
  TRY(archive_value(core, archive, &solid->driven));
  TRY(archive_value(core, archive, &solid->impulse));
  TRY(archive_value(core, archive, &solid->angular_impulse));
  TRY(archive_value(core, archive, &solid->frame_force));
  return archive_value(core, archive, &solid->frame_torque);
}

Status solids_archive(Core *core, Archive *archive, Solids *solids) {
  TRY(archive_section(core, archive, "solids"));
  int64_t count = solids->count;
  TRY(archive_count(core, archive, &count, 1));
  if (count != solids->count) return archive_bad(core, archive, "checkpoint has another number of solids");
  for (int32_t k = 0; k < solids->count; k++) TRY(solid_archive(core, archive, &solids->items[k]));
  return SCREE_OK;
}

uint64_t solids_hash(const Solids *solids) {
  uint64_t hash = 0;
  for (int32_t k = 0; k < solids->count; k++) {
    const Solid *solid = &solids->items[k];
    const double record[] = {solid->position.x, solid->position.y, solid->position.z, solid->rotation.w,
                             solid->rotation.x, solid->rotation.y, solid->rotation.z, solid->velocity.x,
                             solid->velocity.y, solid->velocity.z, solid->spin.x,     solid->spin.y,
                             solid->spin.z};
    hash = hash_bytes(record, sizeof record, hash);
  }
  return hash;
}

void solids_destroy(Core *core, Solids *solids) {
  for (int32_t k = 0; k < solids->count; k++) shape_destroy(core, &solids->items[k].shape);
  memory_drop(core, &solids->items);
  *solids = (Solids){0};
}
