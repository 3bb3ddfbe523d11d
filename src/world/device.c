/* Where a world runs: what does not run on its device is said. */
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

Status world_note_device(ScreeWorld *world, const char *missing) {
  const char *method = world->definition.scene.method.name, *name = device_info(world->device)->name;
  const char *fine = world->upsample ? upsample_off_device(world->upsample) : "the scene has no fine grains";
  char why[64] = "";
  if (missing) snprintf(why, sizeof why, " for %s", missing);
  if (world->on_device && !world->upsample)
    snprintf(world->device_note, sizeof world->device_note, "%s runs on %s (%s)", method, world->device_name, name);
  else if (world->on_device && !fine)
    snprintf(world->device_note, sizeof world->device_note, "%s and fine grains on %s (%s)", method, world->device_name,
             name);
  else if (world->on_device)
    snprintf(world->device_note, sizeof world->device_note, "%s runs on %s (%s); fine grains on the CPU: %s", method,
             world->device_name, name, fine);
  else if (!fine)
    snprintf(world->device_note, sizeof world->device_note, "%s runs on the CPU%s%s%s; fine grains on %s (%s)", method,
             missing ? " (no device form" : "", why, missing ? ")" : "", world->device_name, name);
  else
    snprintf(world->device_note, sizeof world->device_note, "nothing runs on %s: %s has no device form%s, and %s",
             world->device_name, method, why, fine);
  return SCREE_OK;
}

Status world_use_device(ScreeWorld *world) {
  const MethodDevice *method = world->method->device;
  const char *missing = NULL;
  if (world->upsample) TRY(upsample_use_device(&world->core, world->upsample, &world->state, world->device));
  if (method) missing = world_missing_on_device(world);
  if (method && !missing) TRY(world_enter_device(world));
  return world_note_device(world, missing);
}

void world_device_times(ScreeWorld *world) {
  if (!world->device) return;
  DeviceUse use = device_use_so_far(world->device);
  for (int32_t k = 0; k < use.phase_count; k++)
    profile_set(&world->profile, use.phases[k].name, use.phases[k].seconds, use.phases[k].calls);
}
