/* Where a world runs. Only fine grains run on a device so far; what does not is said. */
#include <stdio.h>
#include <string.h>

#include "world/world.h"

int32_t scree_device_count(void) { return device_count(); }

ScreeStatus scree_device_info(int32_t device, ScreeDeviceInfo *info) { return device_describe(device, info); }

const char *scree_world_device_note(const ScreeWorld *world) { return world->device_note; }

Status world_open_device(ScreeWorld *world, const ScreeWorldOptions *options) {
  int32_t index = DEVICE_CPU;
  if (!options || !options->device) return SCREE_OK;
  TRY(device_find(&world->core, options->device, &index));
  if (index == DEVICE_CPU) return SCREE_OK;
  snprintf(world->device_name, sizeof world->device_name, "opencl:%d", index);
  return device_open(&world->core, index, &world->device);
}

Status world_use_device(ScreeWorld *world) {
  const char *why = "the scene has no fine grains";
  bool fine = false;
  if (world->upsample) {
    TRY(upsample_use_device(&world->core, world->upsample, world->device));
    why = upsample_off_device(world->upsample);
    fine = !why;
  }
  if (fine)
    snprintf(world->device_note, sizeof world->device_note, "%s runs on the CPU; fine grains on %s (%s)",
             world->definition.scene.method.name, world->device_name, device_info(world->device)->name);
  else
    snprintf(world->device_note, sizeof world->device_note, "nothing runs on %s: %s has no device form, and %s",
             world->device_name, world->definition.scene.method.name, why);
  return SCREE_OK;
}

void world_device_times(ScreeWorld *world) {
  if (!world->device) return;
  DeviceUse use = device_use(world->device);
  for (int32_t k = 0; k < use.phase_count; k++)
    profile_set(&world->profile, use.phases[k].name, use.phases[k].seconds, use.phases[k].calls);
}
