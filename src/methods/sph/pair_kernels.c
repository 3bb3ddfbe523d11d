/* The pass that finds the pairs of a step, eight neighbours of a parcel side by side. */
#include "core/rng.h"
#include "methods/sph/density_law.h"
#include "methods/sph/slots.h"
#include "methods/sph/sph_kernels.h"

/* What one parcel's row adds up to. */
typedef struct RowSums {
  Real density, x, y, z, square;
} RowSums;

static void part_coincident(const SphWork *work, int64_t i, int32_t j, int k, SphGradient *gradient) {
  const uint32_t *id = work->step->state->particles.id;
  uint32_t low = id[i] < id[j] ? id[i] : id[j], high = id[i] < id[j] ? id[j] : id[i];
  uint64_t bits = rng_bits(low, high, 0, RNG_COINCIDENT), next = rng_mix(bits);
  SphGradient made = density_coincident(real(rng_unitf(bits)), real(rng_unitf(next)), real(rng_unitf(rng_mix(next))),
                                        (Mask){0} - (id[i] < id[j]));
  gradient->x[k] = made.x[0], gradient->y[k] = made.y[0], gradient->z[k] = made.z[0];
}

/* Eight neighbours of parcel i: those within the support are put into the lane's next slots. */
WIDE_INLINE int add_eight(const SphWork *work, int64_t i, int lane, const int32_t *others, unsigned valid,
                          SphSlot *slots, RowSums *sums) {
  const float *own = work->pairs.place[i];
  Real x, y, z, weight;
  wide_gather4((const float(*)[4])work->pairs.place, others, &x, &y, &z, &weight);
  LaneVec3 apart = vec_sub(vec_make(real(own[0]), real(own[1]), real(own[2])), vec_make(x, y, z));
  SphPairTerm pair = density_pair(apart, 1 / work->control.spacing);
  unsigned bits = wide_bits(pair.within) & valid;
  if (!bits) return 0;
  SphGradient at = pair.gradient;
  for (unsigned coincident = wide_bits(pair.coincident) & bits; coincident; coincident &= coincident - 1) {
    int k = __builtin_ctz(coincident);
    part_coincident(work, i, others[k], k, &at);
  }
  int found = 0;
  for (unsigned rest = bits; rest; rest &= rest - 1) {
    int k = __builtin_ctz(rest);
    SphSlot *slot = slots + found++;
    slot->row[lane] = 4 * (uint32_t)others[k];
    slot->x[lane] = (int16_t)at.x[k];
    slot->y[lane] = (int16_t)at.y[k];
    slot->z[lane] = (int16_t)at.z[k];
  }
  Mask used;
  for (int k = 0; k < LANES; k++) used[k] = -(int32_t)(bits >> k & 1);
  LaneVec3 gradient = vec_make(real_from_int(int_mask(used, at.x)), real_from_int(int_mask(used, at.y)),
                               real_from_int(int_mask(used, at.z)));
  sums->density += real_mask(used, pair.density);
  sums->x += gradient.x;
  sums->y += gradient.y;
  sums->z += gradient.z;
  sums->square += vec_dot(gradient, gradient) * weight;
  return found;
}

static int row_pairs(const SphWork *work, int64_t i, int lane, SphSlot *slots) {
  const NeighborList *list = &work->step->state->contacts.particles.list;
  int64_t begin = list->start[i], end = list->start[i + 1];
  int found = 0;
  RowSums sums = {real(0), real(0), real(0), real(0), real(0)};
  int64_t k = begin;
  const uint8_t *hidden = NULL;
  if (work->pairs.hidden_start && work->pairs.hidden_start[i] >= 0)
    hidden = work->pairs.hidden + work->pairs.hidden_start[i];
  const unsigned all = (1u << LANES) - 1;
  for (; k + LANES <= end; k += LANES)
    found += add_eight(work, i, lane, list->index + k, all & ~(hidden ? *hidden++ : 0u), slots + found, &sums);
  if (k < end) {
    int32_t tail[LANES];
    for (int c = 0; c < LANES; c++) tail[c] = k + c < end ? list->index[k + c] : (int32_t)i;
    unsigned valid = (1u << (end - k)) - 1;
    found += add_eight(work, i, lane, tail, valid & ~(hidden ? *hidden : 0u), slots + found, &sums);
  }
  work->pressure.density[i] = density_total(real(wide_sum(sums.density)))[0];
  float step = work->pairs.gradient_step;
  work->pairs.sum[0][i] = step * wide_sum(sums.x);
  work->pairs.sum[1][i] = step * wide_sum(sums.y);
  work->pairs.sum[2][i] = step * wide_sum(sums.z);
  work->pairs.square[i] = step * step * wide_sum(sums.square);
  return found;
}

void KERNEL(sph_pair_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  for (int64_t g = b; g < e; g++) {
    SphSlot *slots = work->pairs.slots + work->pairs.slot_start[g];
    int found[LANES], most = 0;
    for (int lane = 0; lane < LANES; lane++) {
      int64_t i = g * LANES + lane;
      found[lane] = i < work->count ? row_pairs(work, i, lane, slots) : 0;
      if (found[lane] > most) most = found[lane];
    }
    for (int lane = 0; lane < LANES; lane++)
      for (int k = found[lane]; k < most; k++) {
        int64_t i = g * LANES + lane;
        slots[k].row[lane] = 4 * (uint32_t)(i < work->count ? i : work->count - 1);
        slots[k].x[lane] = slots[k].y[lane] = slots[k].z[lane] = 0;
      }
    work->pairs.width[g] = most;
  }
}
