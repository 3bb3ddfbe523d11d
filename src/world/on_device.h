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
  X(world_move, "device commit")                                                                                       \
  X(world_drain, "device births")                                                                                      \
  X(world_crowd, "device births")                                                                                      \
  X(world_find_dead, "device births")                                                                                  \
  X(world_close_gaps, "device births")                                                                                 \
  X(world_close_gaps_bytes, "device births")                                                                           \
  X(world_place_born, "device births")                                                                                 \
  X(world_throw, "device births")
#define WORLD_DEVICE_BUFFERS(X) X(spare) X(deepest) X(drained) X(crowd) X(dead_ids) X(dead) X(gaps) X(born)

/* Of particles in sinks, or near emitters: how many there are, how many there was room for, and those. */
typedef struct WorldDrained {
  int64_t count, room;
  DrainedThere *items;
} WorldDrained;

typedef struct WorldCrowd {
  int64_t count, room;
  CrowdThere *items;
} WorldCrowd;

struct WorldDevice {
  Device *device;
  DeviceProgram *program;
  WORLD_DEVICE_KERNELS(DEVICE_KERNEL_MEMBER)
  WORLD_DEVICE_BUFFERS(DEVICE_BUFFER_MEMBER)
  DeviceBuffer spares[WORLD_TOGETHER];
  int64_t
      gone_known; /* of those that have left their places in the step: the host counts them already, or nobody does */
  WorldDrained drained_here;
  WorldCrowd crowd_here;
  SolidsMirror sinks;
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

/* device_births.c. Where births, deaths and throws are done there, and who is in a sink is found there. */
bool world_births_are_there(const ScreeWorld *world);
bool world_sinks_are_there(const ScreeWorld *world);
/* With the commit of a step: who is in a sink, who is near emitters that want to pour. Adds to what comes down with the
 * step's counters, WORLD_GATHER_READS at most; then the rest comes down, if there is any. */
enum { WORLD_GATHER_READS = 2 };
Status world_gather_begin(ScreeWorld *world, double dt, DeviceRead *reads, int *count);
Status world_gather_end(ScreeWorld *world, double dt);

#endif
