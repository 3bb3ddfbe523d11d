/* Mass that goes through a height, downward less upward, a second. */
#include "world/probes/probes.h"

typedef struct Flow {
  double crossed; /* kg in this frame */
} Flow;

static int flow_totals(const ScreeWorld *world, const Probe *probe, ProbeTotal totals[PROBE_TOTALS]) {
  totals[0].what = TOTAL_CROSSED;
  totals[0].height = (float)(probe->definition->plane_z - world->state.origin.z);
  return 1;
}

static void flow_step(ScreeWorld *world, Probe *probe) {
  (void)world;
  Flow *flow = probe->data;
  flow->crossed += probe->totals[0];
}

static Status flow_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)world;
  Flow *flow = probe->data;
  probe->state.values[0] = seconds > 0 ? flow->crossed / seconds : 0;
  flow->crossed = 0;
  return SCREE_OK;
}

static Status flow_archive(ScreeWorld *world, Probe *probe, Archive *archive) {
  Flow *flow = probe->data;
  TRY(archive_value(&world->core, archive, &flow->crossed));
  return isfinite(flow->crossed) ? SCREE_OK : archive_bad(&world->core, archive, "a flow that is not finite");
}

const ProbeKind PROBE_FLOW = {
    .size = sizeof(Flow), .step = flow_step, .totals = flow_totals, .frame = flow_frame, .archive = flow_archive};
