/* Mass of the particles whose centres are in a box. */
#include "world/probes/probes.h"

static Status mass_in_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)seconds;
  ProbeBox box = probe_box(world, probe);
  probe->state.values[0] = probe_mass(world, &box);
  return SCREE_OK;
}

const ProbeKind PROBE_MASS_IN = {.frame = mass_in_frame};
