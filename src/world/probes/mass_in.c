/* Mass of the particles whose centres are in a box. */
#include "world/probes/probes.h"

static int mass_in_totals(const ScreeWorld *world, const Probe *probe, ProbeTotal totals[PROBE_TOTALS]) {
  const ProbeBox box = probe_box(world, probe);
  totals[0].what = TOTAL_MASS;
  totals[0].low = box.low;
  totals[0].high = box.high;
  return 1;
}

static Status mass_in_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)world;
  (void)seconds;
  probe->state.values[0] = probe->totals[0];
  return SCREE_OK;
}

const ProbeKind PROBE_MASS_IN = {.totals = mass_in_totals, .frame = mass_in_frame};
