/* The force of the grains on a solid, mean over the frame. */
#include "world/probes/probes.h"

static Status force_on_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)seconds;
  Vec3 force = probe_target(world, probe)->frame_force;
  probe->state.values[0] = force.x;
  probe->state.values[1] = force.y;
  probe->state.values[2] = force.z;
  return SCREE_OK;
}

const ProbeKind PROBE_FORCE_ON = {.frame = force_on_frame};
