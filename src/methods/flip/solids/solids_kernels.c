#include "methods/flip/solids/solids_kernels.h"

#include <string.h>

void KERNEL(flip_shares)(const StripSolids *const *now, const FlipFields *fields, float least, int64_t b, int64_t e) {
  const FlipFields *f = fields;
  const Wide zero = wide_set(0), some = wide_set(least);
  for (int64_t strip = b; strip < e; strip++) {
    const StripSolids *solids = now[strip];
    int64_t at = strip * STRIP;
    Wide share = zero;
    for (int o = 0; o < 8; o++) share += wide_load(solids->octant[o]);
    share *= wide_set(0.125f);
    share = wide_select(wide_less(share, some), zero, share);
    wide_store(f->solid.free_volume + at, share);
    f->solid.valid[0][strip] = (uint8_t)wide_bits(wide_less(zero, share));
    for (int a = 0; a < 3; a++) {
      Wide open = wide_load(solids->open[a]);
      wide_store(f->solid.open[a] + at, wide_select(wide_less(open, some), zero, open));
      wide_store(f->solid.velocity[a] + at, zero);
      memcpy(f->solid.owner[a] + at, solids->owner[a], sizeof solids->owner[a]);
    }
  }
}
