/* Solid volume fraction in a box: of grains, or bulk over rest density where particles are parcels. */
#include "world/probes/probes.h"

/* Share of a unit ball on the near side of a plane at distance t (in radii) from its centre. */
static double ball_share(double t) { return t <= -1 ? 0 : t >= 1 ? 1 : (2 + 3 * t - t * t * t) / 4; }

static double solid_chunk(void *context, int64_t b, int64_t e) {
  const ProbeBox *box = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++) {
    Vec3 at = state_position(box->state, i);
    double r = (double)box->state->particles.radius[i], share = 4.0 / 3 * M_PI * r * r * r;
    for (int axis = 0; axis < 3; axis++)
      share *= ball_share((vec3_get(at, axis) - vec3_get(box->low, axis)) / r) *
               ball_share((vec3_get(box->high, axis) - vec3_get(at, axis)) / r);
    sum += share;
  }
  return sum;
}

static double side_share(double center, double half, double low, double high) {
  double from = fmax(center - half, low), to = fmin(center + half, high);
  return to > from ? (to - from) / (2 * half) : 0;
}

/* A parcel is a cube of bulk material: its volume is what it would fill at rest density. */
static double bulk_chunk(void *context, int64_t b, int64_t e) {
  const ProbeBox *box = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++) {
    Vec3 at = state_position(box->state, i);
    double r = (double)box->state->particles.radius[i], share = parcel_volume(r);
    for (int axis = 0; axis < 3; axis++)
      share *= side_share(vec3_get(at, axis), r, vec3_get(box->low, axis), vec3_get(box->high, axis));
    sum += share;
  }
  return sum;
}

static Status packing_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)seconds;
  ProbeBox box = probe_box(world, probe);
  Vec3 size = vec3_sub(box.high, box.low);
  double volume = size.x * size.y * size.z;
  ParallelSumBody body = world->state.parcels ? bulk_chunk : solid_chunk;
  probe->state.values[0] = isfinite(volume) ? probe_sum(world, body, &box) / volume : NAN;
  return SCREE_OK;
}

const ProbeKind PROBE_PACKING = {.looks = true, .frame = packing_frame};
