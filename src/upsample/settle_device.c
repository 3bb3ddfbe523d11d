/* Fine grains that cross a solid or touch a mesh with sharp edges are looked at closer on the device (settle.cl), if it
 * has doubles. Few are left to the host: those that are stuck, and those too near to an edge to know their side of it.
 */
#define LANE_SCALAR /* laws for one grain */
#include <string.h>

#include "sampling/radii.h"
#include "upsample/internal.h"
#include "upsample/settle_device_shared.h"

struct SettleDevice {
  Device *device;
  DeviceProgram *program;
  DeviceKernel *settle;
  DeviceBuffer solids, left;
  SettleSolid *sent, *now;
  int64_t sent_count;
};

Status settle_device_create(Core *core, Device *device, SettleDevice **settle) {
  TRY(memory_new(core, settle, 1, "fine grains at solids"));
  SettleDevice *d = *settle;
  d->device = device;
  TRY(device_build(core, device, "upsample/settle.cl", "", &d->program));
  return device_kernel(core, d->program, "fine_settle", "device walls", &d->settle);
}

void settle_device_destroy(Core *core, SettleDevice *d) {
  if (!d) return;
  device_release(d->device, &d->solids);
  device_release(d->device, &d->left);
  device_kernel_free(core, d->settle);
  device_program_free(core, d->program);
  memory_drop(core, &d->sent);
  memory_drop(core, &d->now);
  memory_free(&core->memory, d);
}

static double largest_radius(const Upsample *up, const State *state) {
  double largest = up->definition.radius;
  for (int32_t m = 0; m < state->materials.count; m++) {
    const ScreeMaterialDef *material = &state->materials.items[m].definition;
    largest =
        fmax(largest, radii_largest(up->definition.radius, material->radius_spread, material->radius_distribution));
  }
  return largest;
}

Status settle_device_list(Core *core, Upsample *up, const State *state) {
  const double radius = largest_radius(up, state);
  for (int32_t k = 0; k < up->solid_count; k++) {
    FineSolid *view = &up->solids[k];
    if (!(view->doubt > 0) || view->lists.block) continue;
    const double reach = 1.001 * (radius + 3 * view->doubt);
    TRY(block_lists_make(core, &view->shape, reach, NULL, &view->lists));
    if (view->lists.begin) view->listed = reach;
  }
  return SCREE_OK;
}

/* They change where a solid moves. */
static Status send_solids(Core *core, SettleDevice *d, const Upsample *up) {
  const int64_t count = up->solid_count + 1, bytes = count * (int64_t)sizeof *d->now;
  TRY(memory_grow(core, &d->now, count, "solids on a device"));
  TRY(memory_grow(core, &d->sent, count, "solids on a device"));
  memset(d->now, 0, (size_t)bytes);
  for (int32_t k = 0; k < up->solid_count; k++) {
    const FineSolid *view = &up->solids[k];
    const Vec3 size = vec3_sub(view->shape.bounds_high, view->shape.bounds_low);
    d->now[k] = (SettleSolid){view->moved, view->doubt, view->doubt > 0 ? vec3_length(size) : 0, view->listed};
  }
  if (d->sent_count == count && memcmp(d->now, d->sent, (size_t)bytes) == 0) return SCREE_OK;
  memcpy(d->sent, d->now, (size_t)bytes);
  d->sent_count = count;
  TRY(device_reserve(core, d->device, &d->solids, bytes, 0, "solids"));
  return device_write(core, d->device, &d->solids, 0, bytes, d->sent);
}

Status settle_device_look(Core *core, SettleDevice *d, const Upsample *up, double reach, int64_t room,
                          const SettleGrains *g) {
  TRY(send_solids(core, d, up));
  TRY(device_reserve(core, d->device, &d->left, room * (int64_t)sizeof(FineRecord), 0, "grains at solids"));
  const SolidsMirror *shapes = g->shapes;
  const DeviceArgument arguments[] = {DEVICE_VALUE(reach),
                                      DEVICE_BUFFER(g->frame),
                                      DEVICE_BUFFER(g->records),
                                      DEVICE_BUFFER(&d->left),
                                      DEVICE_BUFFER(g->x),
                                      DEVICE_BUFFER(g->y),
                                      DEVICE_BUFFER(g->z),
                                      DEVICE_BUFFER(g->vx),
                                      DEVICE_BUFFER(g->vy),
                                      DEVICE_BUFFER(g->vz),
                                      DEVICE_BUFFER(g->solids),
                                      DEVICE_BUFFER(&d->solids),
                                      DEVICE_BUFFER(&shapes->solid),
                                      DEVICE_BUFFER(&shapes->numbers),
                                      DEVICE_BUFFER(&shapes->values),
                                      DEVICE_BUFFER(&shapes->triangle),
                                      DEVICE_BUFFER(g->friction),
                                      DEVICE_BUFFER(g->counters)};
  return device_launch(core, d->settle, 0, room, FINE_GROUP, arguments, sizeof arguments / sizeof *arguments);
}

const DeviceBuffer *settle_left(const SettleDevice *settle) { return &settle->left; }
