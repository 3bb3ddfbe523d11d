/* A world's own kernels on a device, for device_phases.c and device_lists.c. */
#ifndef WORLD_ON_DEVICE_H
#define WORLD_ON_DEVICE_H

#include "world/world.h"
#include "world/world_shared.h"

enum { WORLD_GROUP = WORLD_OVERLAP_GROUP };

/* Fields of one word that change places in one launch; each has a spare buffer to go to. */
enum { WORLD_TOGETHER = 4 };

#define WORLD_DEVICE_KERNELS(X)                                                                                        \
  X(world_leave, "device neighbors")                                                                                   \
  X(world_farthest, "device neighbors")                                                                                \
  X(world_permute_fields, "device neighbors")                                                                          \
  X(world_permute_words, "device neighbors")                                                                           \
  X(world_permute_bytes, "device neighbors")                                                                           \
  X(world_overlap, "device neighbors")                                                                                 \
  X(world_move, "device commit")
#define WORLD_DEVICE_BUFFERS(X) X(spare) X(deepest)

struct WorldDevice {
  Device *device;
  DeviceProgram *program;
  WORLD_DEVICE_KERNELS(DEVICE_KERNEL_MEMBER)
  WORLD_DEVICE_BUFFERS(DEVICE_BUFFER_MEMBER)
  DeviceBuffer spares[WORLD_TOGETHER];
  int64_t
      gone_known; /* of those that have left their places in the step: the host counts them already, or nobody does */
  int64_t radii_sent; /* how often radii had gone up when they were surveyed */
};

#define WORLD_LAUNCH(name, items, ...)                                                                                 \
  device_launch(&world->core, world->on_device->name, 0, (items), WORLD_GROUP, DEVICE_ARGUMENTS(__VA_ARGS__))
#define WORLD_HERE(name) DEVICE_BUFFER(&world->on_device->name)
#define WORLD_FIELD(name) DEVICE_BUFFER(&mirror_field(world->state.mirror, &world->state.particles, #name)->buffer)
#define WORLD_FIELD3(x, y, z) WORLD_FIELD(x), WORLD_FIELD(y), WORLD_FIELD(z)

/* device_phases.c: fields are valid there; places where particles are known go there, and who is near solids is looked
 * for: of those that have left by more than `shared` allows. */
Status world_to_device(ScreeWorld *world, StateSet reads);
LeaveShared world_leave_shared(const ScreeWorld *world, const NearSolids *near);
Status world_launch_leave(ScreeWorld *world, const LeaveShared *shared);

#endif
