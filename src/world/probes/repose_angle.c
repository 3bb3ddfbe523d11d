/* The angle of a heap about a vertical axis. */
#include "world/pile.h"
#include "world/probes/probes.h"

static Status repose_angle_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)seconds;
  return pile_angle(&world->core, &world->scratch, &world->state, probe->definition->axis, &probe->state.values[0]);
}

const ProbeKind PROBE_REPOSE_ANGLE = {.looks = true, .frame = repose_angle_frame};
