#include "methods/flip/mprgp_kernels.h"

enum { BLOCK_ELEMENTS = 512 }; /* summed in float before they go to a double */

/* The two parts of the gradient: on elements between their bounds, and on those at a bound that want to leave it. */
WIDE_INLINE void split(const MprgpVectors *v, int64_t k, Wide *free, Wide *chopped) {
  const Wide zero = wide_set(0);
  Wide x = wide_load(v->x + k), g = wide_load(v->g + k), lower = wide_load(v->lower + k),
       upper = wide_load(v->upper + k);
  WideInt above = wide_less(lower, x), below = wide_less(x, upper), loose = wide_less(lower, upper);
  *free = wide_select(above & below, g, zero);
  Wide at_lower = wide_min(g, zero), at_upper = wide_max(g, zero);
  *chopped = wide_select(loose & ~above, at_lower, wide_select(loose & ~below, at_upper, zero));
}

void KERNEL(mprgp_measure)(const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]) {
  const Wide zero = wide_set(0), inverse = wide_set(1 / v->fixed);
  for (int64_t block = b; block < e; block += BLOCK_ELEMENTS) {
    int64_t end = block + BLOCK_ELEMENTS < e ? block + BLOCK_ELEMENTS : e;
    Wide ff = zero, cc = zero, rf = zero;
    for (int64_t k = block; k < end; k += LANES) {
      Wide free, chopped;
      split(v, k, &free, &chopped);
      Wide x = wide_load(v->x + k);
      Wide down = (x - wide_load(v->lower + k)) * inverse, up = (x - wide_load(v->upper + k)) * inverse;
      Wide reduced = wide_max(wide_min(free, wide_max(down, zero)), wide_min(up, zero));
      ff += free * free;
      cc += chopped * chopped;
      rf += reduced * free;
    }
    sums[SUM_FREE] += (double)wide_sum(ff);
    sums[SUM_CHOPPED] += (double)wide_sum(cc);
    sums[SUM_REDUCED] += (double)wide_sum(rf);
  }
}

float KERNEL(mprgp_line)(const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]) {
  const Wide zero = wide_set(0), huge = wide_set(3e38f);
  Wide longest = huge;
  for (int64_t block = b; block < e; block += BLOCK_ELEMENTS) {
    int64_t end = block + BLOCK_ELEMENTS < e ? block + BLOCK_ELEMENTS : e;
    Wide gp = zero, pq = zero;
    for (int64_t k = block; k < end; k += LANES) {
      Wide p = wide_load(v->p + k), x = wide_load(v->x + k);
      gp += wide_load(v->g + k) * p;
      pq += p * wide_load(v->q + k);
      WideInt down = wide_less(zero, p), up = wide_less(p, zero);
      Wide way = wide_select(down, x - wide_load(v->lower + k), x - wide_load(v->upper + k));
      Wide moved = wide_select(down | up, p, wide_set(1));
      Wide step = wide_select(down | up, way / moved, huge);
      longest = wide_min(longest, step);
    }
    sums[SUM_GP] += (double)wide_sum(gp);
    sums[SUM_PQ] += (double)wide_sum(pq);
  }
  float least = longest[0];
  for (int lane = 1; lane < LANES; lane++) least = longest[lane] < least ? longest[lane] : least;
  return least;
}

void KERNEL(mprgp_go)(const MprgpVectors *v, int64_t b, int64_t e) {
  const Wide a = wide_set(v->step);
  for (int64_t k = b; k < e; k += LANES) {
    Wide x = wide_load(v->x + k) - a * wide_load(v->p + k);
    wide_store(v->x + k, wide_max(wide_min(x, wide_load(v->upper + k)), wide_load(v->lower + k)));
    wide_store(v->g + k, wide_load(v->g + k) - a * wide_load(v->q + k));
  }
}

/* The free gradient, or what the preconditioner made of it. */
WIDE_INLINE Wide direction(const MprgpVectors *v, int64_t k) {
  if (v->z) return wide_load(v->z + k);
  Wide free, chopped;
  split(v, k, &free, &chopped);
  return free;
}

void KERNEL(mprgp_conjugate)(const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]) {
  for (int64_t block = b; block < e; block += BLOCK_ELEMENTS) {
    int64_t end = block + BLOCK_ELEMENTS < e ? block + BLOCK_ELEMENTS : e;
    Wide fq = wide_set(0);
    for (int64_t k = block; k < end; k += LANES) fq += direction(v, k) * wide_load(v->q + k);
    sums[SUM_FQ] += (double)wide_sum(fq);
  }
}

void KERNEL(mprgp_turn)(const MprgpVectors *v, int64_t b, int64_t e) {
  const Wide a = wide_set(v->step);
  for (int64_t k = b; k < e; k += LANES) wide_store(v->p + k, direction(v, k) - a * wide_load(v->p + k));
}

void KERNEL(mprgp_chop)(const MprgpVectors *v, int64_t b, int64_t e) {
  for (int64_t k = b; k < e; k += LANES) {
    Wide free, chopped;
    split(v, k, &free, &chopped);
    wide_store(v->p + k, chopped);
  }
}

void KERNEL(mprgp_expand)(const MprgpVectors *v, int64_t b, int64_t e) {
  const Wide a = wide_set(v->fixed);
  for (int64_t k = b; k < e; k += LANES) {
    Wide free, chopped;
    split(v, k, &free, &chopped);
    Wide x = wide_load(v->x + k) - a * free;
    wide_store(v->x + k, wide_max(wide_min(x, wide_load(v->upper + k)), wide_load(v->lower + k)));
  }
}

void KERNEL(mprgp_mark)(const MprgpVectors *v, int64_t b, int64_t e) {
  for (int64_t k = b; k < e; k += LANES) {
    Wide free, chopped;
    split(v, k, &free, &chopped);
    wide_store(v->z + k, free);
    Wide x = wide_load(v->x + k);
    WideInt inside = wide_less(wide_load(v->lower + k), x) & wide_less(x, wide_load(v->upper + k));
    wide_store(v->free + k, wide_select(inside, wide_set(1), wide_set(0)));
  }
}
