/* Mass that goes through a height, downward less upward, a second. */
#include "world/probes/probes.h"

typedef struct Flow {
  double crossed; /* kg in this frame */
} Flow;

typedef struct Crossing {
  const Particles *particles;
  float height;
} Crossing;

static double crossing_chunk(void *context, int64_t b, int64_t e) {
  const Crossing *crossing = context;
  const Particles *p = crossing->particles;
  double sum = 0;
  for (int64_t i = b; i < e; i++) {
    bool above = p->z[i] >= crossing->height, stays = p->z[i] + p->dz[i] >= crossing->height;
    if (above != stays) sum += above ? (double)p->mass[i] : -(double)p->mass[i];
  }
  return sum;
}

static void flow_step(ScreeWorld *world, Probe *probe) {
  Flow *flow = probe->data;
  Crossing crossing = {&world->state.particles, (float)(probe->definition->plane_z - world->state.origin.z)};
  flow->crossed += probe_sum(world, crossing_chunk, &crossing);
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

const ProbeKind PROBE_FLOW = {.size = sizeof(Flow),
                              .step = flow_step,
                              .step_reads = SET_FIELD(z) | SET_FIELD(dz) | SET_FIELD(mass),
                              .frame = flow_frame,
                              .archive = flow_archive};
