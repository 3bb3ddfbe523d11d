/* The radius about a vertical axis that holds a share of the mass. */
#include "world/pile.h"
#include "world/probes/probes.h"

static Status runout_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)seconds;
  return pile_runout(&world->core, &world->scratch, &world->state, probe->definition->axis, probe->definition->fraction,
                     &probe->state.values[0]);
}

const ProbeKind PROBE_RUNOUT = {.looks = true, .frame = runout_frame};
