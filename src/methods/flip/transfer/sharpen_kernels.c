#include "methods/flip/transfer/sharpen_kernels.h"

/* A sixth of the difference to each neighbour, as the kernels take it from a face between full ones. The lighter face
 * says how much is exchanged: what one takes the other gets, so that no momentum is made. */
WIDE_INLINE Wide taken_by(Wide mass, Wide from, Wide beside_mass, Wide beside_from, Wide beside_settle) {
  const Wide zero = wide_set(0);
  return wide_select(wide_less(zero, beside_settle), wide_min(mass, beside_mass) * (from - beside_from), zero);
}

void KERNEL(flip_smoothing)(const Smoothing *smoothing, int64_t b, int64_t e) {
  const Smoothing *s = smoothing;
  const float *const fields[3] = {s->mass, s->from, s->settle};
  const Wide zero = wide_set(0);
  for (int64_t strip = b; strip < e; strip++) {
    int64_t at = strip * STRIP, low = (int64_t)s->grid->near[strip][2 * s->along] * STRIP,
            high = (int64_t)s->grid->near[strip][2 * s->along + 1] * STRIP;
    WideInt settles = wide_less(zero, wide_load(s->settle + at));
    if (!wide_bits(settles)) {
      wide_store(s->to + at, zero);
      continue;
    }
    Wide here[3], below[3], above[3];
    for (int f = 0; f < 3; f++) {
      here[f] = wide_load(fields[f] + at);
      below[f] = wide_load(fields[f] + low);
      above[f] = wide_load(fields[f] + high);
      if (s->along > 0) continue;
      below[f] = wide_shift_up(below[f], here[f]);
      above[f] = wide_shift_down(here[f], above[f]);
    }
    Wide taken = taken_by(here[0], here[1], below[0], below[1], below[2]) +
                 taken_by(here[0], here[1], above[0], above[1], above[2]);
    taken = wide_select(settles, taken / (wide_set(6) * here[0]), zero);
    wide_store(s->to + at, taken);
    wide_store(s->sum + at, wide_load(s->sum + at) + taken);
  }
}
