#include "methods/flip/stress/mprgp_kernels.h"

#include <math.h>

enum { SUMMED = 64 }; /* blocks that are summed in float before they go to a double */

WIDE_INLINE int64_t element(const MprgpVectors *v, int64_t n) { return (int64_t)v->blocks[n] * LANES; }

WIDE_INLINE Wide bounded(const MprgpVectors *v, int64_t k, Wide x) {
  return wide_max(wide_min(x, wide_load(v->upper + k)), wide_load(v->lower + k));
}

/* The two parts of the gradient: on elements between their bounds, and on those at a bound that want to leave it.
 * Returns which elements are between. */
WIDE_INLINE WideInt split(const MprgpVectors *v, int64_t k, Wide x, Wide g, Wide *free, Wide *chopped) {
  const Wide zero = wide_set(0);
  Wide lower = wide_load(v->lower + k), upper = wide_load(v->upper + k);
  WideInt above = wide_less(lower, x), below = wide_less(x, upper), loose = wide_less(lower, upper);
  *free = wide_select(above & below, g, zero);
  Wide at_lower = wide_min(g, zero), at_upper = wide_max(g, zero);
  *chopped = wide_select(loose & ~above, at_lower, wide_select(loose & ~below, at_upper, zero));
  return above & below;
}

typedef struct Measured {
  Wide free, chopped, reduced;
} Measured;

WIDE_INLINE void measure(const MprgpVectors *v, int64_t n, Wide x, Wide g, Wide inverse, Measured *sum) {
  const Wide zero = wide_set(0);
  int64_t k = element(v, n);
  Wide free, chopped;
  WideInt between = split(v, k, x, g, &free, &chopped);
  sum->free += free * free;
  sum->chopped += chopped * chopped;
  if (v->cautious) {
    Wide down = (x - wide_load(v->lower + k)) * inverse, up = (x - wide_load(v->upper + k)) * inverse;
    sum->reduced += wide_max(wide_min(free, wide_max(down, zero)), wide_min(up, zero)) * free;
  }
  WideInt leaving = wide_less(zero, chopped * chopped);
  v->free[v->blocks[n]] = (uint8_t)wide_bits(v->cautious ? between : between | leaving);
}

WIDE_INLINE void add_measured(const Measured *sum, double sums[SUMS]) {
  sums[SUM_FREE] += (double)wide_sum(sum->free);
  sums[SUM_CHOPPED] += (double)wide_sum(sum->chopped);
  sums[SUM_REDUCED] += (double)wide_sum(sum->reduced);
}

void KERNEL(mprgp_clamp)(const MprgpVectors *v, int64_t b, int64_t e) {
  for (int64_t n = b; n < e; n++) {
    int64_t k = element(v, n);
    wide_store(v->x + k, bounded(v, k, wide_load(v->x + k)));
  }
}

void KERNEL(mprgp_add)(const MprgpVectors *v, int64_t b, int64_t e) {
  for (int64_t n = b; n < e; n++) {
    int64_t k = element(v, n);
    wide_store(v->g + k, wide_load(v->g + k) + wide_load(v->b + k));
  }
}

void KERNEL(mprgp_measure)(const MprgpVectors *vectors, int64_t b, int64_t e, double sums[SUMS]) {
  const MprgpVectors own = *vectors, *v = &own; /* bytes that are written to `free` could be its members, otherwise */
  const Wide inverse = wide_set(1 / v->fixed);
  for (int64_t first = b; first < e; first += SUMMED) {
    int64_t end = first + SUMMED < e ? first + SUMMED : e;
    Measured sum = {0};
    for (int64_t n = first; n < end; n++) {
      int64_t k = element(v, n);
      measure(v, n, wide_load(v->x + k), wide_load(v->g + k), inverse, &sum);
    }
    add_measured(&sum, sums);
  }
}

/* The longest step along -p before a bound. */
WIDE_INLINE Wide feasible(const MprgpVectors *v, int64_t k, Wide p) {
  const Wide zero = wide_set(0), x = wide_load(v->x + k);
  WideInt down = wide_less(zero, p), up = wide_less(p, zero);
  Wide displacement = wide_select(down, x - wide_load(v->lower + k), x - wide_load(v->upper + k));
  Wide moved = wide_select(down | up, p, wide_set(1));
  return wide_select(down | up, displacement / moved, wide_set(3e38f));
}

float KERNEL(mprgp_line)(const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]) {
  Wide longest = wide_set(3e38f);
  for (int64_t first = b; first < e; first += SUMMED) {
    int64_t end = first + SUMMED < e ? first + SUMMED : e;
    Wide gp = wide_set(0), pq = wide_set(0);
    for (int64_t n = first; n < end; n++) {
      int64_t k = element(v, n);
      Wide p = wide_load(v->p + k);
      gp += wide_load(v->g + k) * p;
      pq += p * wide_load(v->q + k);
      if (v->cautious) longest = wide_min(longest, feasible(v, k, p));
    }
    sums[SUM_GP] += (double)wide_sum(gp);
    sums[SUM_PQ] += (double)wide_sum(pq);
  }
  float least = longest[0];
  for (int lane = 1; lane < LANES; lane++) least = longest[lane] < least ? longest[lane] : least;
  return least;
}

bool KERNEL(mprgp_go)(const MprgpVectors *vectors, int64_t b, int64_t e, double sums[SUMS]) {
  const MprgpVectors own = *vectors, *v = &own; /* as above */
  const Wide a = wide_set(v->step), inverse = wide_set(1 / v->fixed);
  WideInt stopped = {0};
  for (int64_t first = b; first < e; first += SUMMED) {
    int64_t end = first + SUMMED < e ? first + SUMMED : e;
    Measured sum = {0};
    for (int64_t n = first; n < end; n++) {
      int64_t k = element(v, n);
      Wide to = wide_load(v->x + k) - a * wide_load(v->p + k), x = bounded(v, k, to);
      Wide g = wide_load(v->g + k) - a * wide_load(v->q + k);
      stopped |= wide_less(to, x) | wide_less(x, to);
      wide_store(v->x + k, x);
      wide_store(v->g + k, g);
      measure(v, n, x, g, inverse, &sum);
    }
    add_measured(&sum, sums);
  }
  return wide_bits(stopped) != 0;
}

/* The gradient of the free elements, or what the preconditioner made of it. */
WIDE_INLINE Wide direction(const MprgpVectors *v, int64_t n) {
  int64_t k = element(v, n);
  return v->z ? wide_load(v->z + k) : wide_where(v->free[v->blocks[n]], wide_load(v->g + k));
}

void KERNEL(mprgp_conjugate)(const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]) {
  for (int64_t first = b; first < e; first += SUMMED) {
    int64_t end = first + SUMMED < e ? first + SUMMED : e;
    Wide zq = wide_set(0);
    for (int64_t n = first; n < end; n++) zq += direction(v, n) * wide_load(v->q + element(v, n));
    sums[SUM_ZQ] += (double)wide_sum(zq);
  }
}

void KERNEL(mprgp_turn)(const MprgpVectors *v, int64_t b, int64_t e) {
  const Wide a = wide_set(v->step);
  const bool fresh = v->step == 0;
  for (int64_t n = b; n < e; n++) {
    int64_t k = element(v, n);
    Wide to = direction(v, n);
    if (!fresh) to -= a * wide_where(v->free[v->blocks[n]], wide_load(v->p + k));
    wide_store(v->p + k, to);
  }
}

void KERNEL(mprgp_chop)(const MprgpVectors *v, int64_t b, int64_t e) {
  for (int64_t n = b; n < e; n++) {
    int64_t k = element(v, n);
    Wide free, chopped;
    split(v, k, wide_load(v->x + k), wide_load(v->g + k), &free, &chopped);
    wide_store(v->p + k, chopped);
  }
}

void KERNEL(mprgp_expand)(const MprgpVectors *v, int64_t b, int64_t e) {
  const Wide a = wide_set(v->step), fixed = wide_set(v->fixed);
  for (int64_t n = b; n < e; n++) {
    int64_t k = element(v, n);
    Wide free, chopped, x = bounded(v, k, wide_load(v->x + k) - a * wide_load(v->p + k));
    split(v, k, x, wide_load(v->g + k) - a * wide_load(v->q + k), &free, &chopped);
    wide_store(v->x + k, bounded(v, k, x - fixed * free));
  }
}

float KERNEL(mprgp_judge)(const MprgpVectors *v, int64_t b, int64_t e, double sums[SUMS]) {
  const Wide zero = wide_set(0);
  Wide most = zero;
  for (int64_t first = b; first < e; first += SUMMED) {
    int64_t end = first + SUMMED < e ? first + SUMMED : e;
    Wide gap = zero, size = zero;
    for (int64_t n = first; n < end; n++) {
      int64_t k = element(v, n);
      Wide x = wide_load(v->x + k), g = wide_load(v->g + k), upper = wide_load(v->upper + k);
      Wide lower = wide_load(v->lower + k);
      WideInt loose = wide_less(lower, upper), bounded_below = wide_less(wide_set(-INFINITY), lower);
      Wide length = wide_select(loose, wide_select(bounded_below, x - lower, wide_max(x, -x)), zero);
      gap += length * wide_max(g, -g);
      size += length;
      most = wide_max(most, wide_select(loose & wide_less(x, upper), -g, zero));
    }
    sums[SUM_GAP] += (double)wide_sum(gap);
    sums[SUM_SIZE] += (double)wide_sum(size);
  }
  float largest = 0;
  for (int lane = 0; lane < LANES; lane++) largest = most[lane] > largest ? most[lane] : largest;
  return largest;
}
