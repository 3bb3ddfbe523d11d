/* Where a solid is, how it is turned and how it moves. */
#include <string.h>

#include "world/probes/probes.h"

static Status pose_of_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)seconds;
  const Solid *solid = probe_target(world, probe);
  const double pose[13] = {solid->position.x, solid->position.y, solid->position.z, solid->rotation.w,
                           solid->rotation.x, solid->rotation.y, solid->rotation.z, solid->velocity.x,
                           solid->velocity.y, solid->velocity.z, solid->spin.x,     solid->spin.y,
                           solid->spin.z};
  memcpy(probe->state.values, pose, sizeof pose);
  return SCREE_OK;
}

const ProbeKind PROBE_POSE_OF = {.frame = pose_of_frame};
