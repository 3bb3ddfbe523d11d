#include "neighbors/bins.h"

#include <string.h>

#include "neighbors/bins_search.h"

typedef double WideDouble __attribute__((vector_size(64)));
typedef uint32_t WideBits __attribute__((vector_size(32), aligned(32)));
typedef uint64_t WideLong __attribute__((vector_size(64)));
typedef uint64_t WideLongUnaligned __attribute__((vector_size(64), aligned(8)));

/* Eight coordinates, where they are or are about to be. Those that are missing behind the last are like the first. */
WIDE_INLINE Wide load_left(const float *from, int64_t left) {
  if (__builtin_expect(left >= LANES, 1)) return wide_load(from);
  Wide some = wide_set(from[0]);
  memcpy(&some, from, (size_t)left * sizeof *from);
  return some;
}
WIDE_INLINE Wide coordinates(const float *at, const float *displacement, int64_t i, int64_t e) {
  Wide x = load_left(at + i, e - i);
  return displacement ? x + load_left(displacement + i, e - i) : x;
}

/* Becomes NaN, and stays so, in lanes that were not finite once. */
WIDE_INLINE Wide blame(Wide odd, Wide x) { return odd + x * wide_set(0); }
WIDE_INLINE bool blameless(Wide odd) { return wide_bits(wide_less_equal(odd, wide_set(0))) == (1u << LANES) - 1; }

WIDE_INLINE Wide fold(const Bins *bins, Wide x) {
  return wide_min(wide_max(x, wide_set(-bins->far)), wide_set(bins->far));
}
/* Units of eight folded coordinates. */
WIDE_INLINE WideInt units_eight(const Bins *bins, Wide x) {
  WideDouble t = __builtin_convertvector(x, WideDouble) * bins->scale + (double)BINS_BIAS;
  return (WideInt) __builtin_convertvector(t, WideInt) - BINS_BIAS;
}

bool KERNEL(bins_units)(const BinPoints *points, const Bins *bins, int64_t b, int64_t e, int32_t *const units[3]) {
  const float *const at[3] = {points->x, points->y, points->z}, *const displacement[3] = {points->dx, points->dy,
                                                                                          points->dz};
  Wide odd = {0};
  for (int axis = 0; axis < 3; axis++)
    for (int64_t i = b; i < e; i += LANES) {
      Wide x = coordinates(at[axis], displacement[axis], i, e);
      odd = blame(odd, x);
      WideInt unit = units_eight(bins, fold(bins, x));
      if (__builtin_expect(e - i < LANES, 0)) memcpy(units[axis] + i - b, &unit, (size_t)(e - i) * sizeof *units[axis]);
      else *(WideIntUnaligned *)(units[axis] + i - b) = unit;
    }
  return blameless(odd);
}

/* Eight entries of bins that are numbered through. Modulo 2^32: what lies outside the box wraps round. */
WIDE_INLINE WideInt entries_numbered(const Bins *bins, const WideInt unit[3]) {
  const uint32_t along_y = (uint32_t)bins_along_y(bins), along_z = (uint32_t)bins_along_z(bins);
  const uint32_t first = (uint32_t)bins->low[1] * along_y + (uint32_t)bins->low[2] * along_z + (uint32_t)bins->low[0];
  return (WideInt)((WideBits)(unit[1] >> BINS_ROW_BITS) * along_y + (WideBits)(unit[2] >> BINS_ROW_BITS) * along_z +
                   (WideBits)(unit[0] >> BINS_BIN_BITS) - first);
}
WIDE_INLINE WideInt entries_hashed(const Bins *bins, const WideInt unit[3]) {
  WideInt entry;
  for (int l = 0; l < LANES; l++)
    entry[l] = (int32_t)((bins_hash(unit[1][l] >> BINS_ROW_BITS, unit[2][l] >> BINS_ROW_BITS) +
                          (uint32_t)(unit[0][l] >> BINS_BIN_BITS)) &
                         bins->mask);
  return entry;
}

/* What the bins keep of eight points. */
WIDE_INLINE WideLong kept_eight(const WideInt unit[3]) {
  const WideBits x = (WideBits)unit[0] << BINS_LOW_BITS, y = (WideBits)unit[1] << (BINS_LOW_BITS + 16),
                 z = (WideBits)unit[2] << BINS_LOW_BITS;
  return __builtin_convertvector((x & UINT16_MAX) | y, WideLong) | __builtin_convertvector(z, WideLong) << 32;
}

/* The largest of eight, in all lanes. */
WIDE_INLINE Wide largest_eight(Wide v) {
  v = wide_max(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = wide_max(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  return wide_max(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
}

WIDE_INLINE bool entries_of(const BinPoints *points, const Bins *bins, int64_t b, int64_t e, int32_t *entry,
                            uint64_t *kept, BinBox *box, bool hashed) {
  const float *const at[3] = {points->x, points->y, points->z}, *const displacement[3] = {points->dx, points->dy,
                                                                                          points->dz};
  Wide odd = {0}, low[3], high[3]; /* lowest with the other sign */
  for (int axis = 0; axis < 3; axis++) low[axis] = high[axis] = wide_set(-bins->far);
  for (int64_t i = b; i < e; i += LANES) {
    WideInt unit[3];
    for (int axis = 0; axis < 3; axis++) {
      Wide x = coordinates(at[axis], displacement[axis], i, e);
      odd = blame(odd, x);
      x = fold(bins, x);
      low[axis] = wide_max(low[axis], -x);
      high[axis] = wide_max(high[axis], x);
      unit[axis] = units_eight(bins, x);
    }
    *(WideIntUnaligned *)(entry + i) = hashed ? entries_hashed(bins, unit) : entries_numbered(bins, unit);
    *(WideLongUnaligned *)(kept + i) = kept_eight(unit);
  }
  for (int axis = 0; axis < 3; axis++) {
    box->low[axis] = units_eight(bins, -largest_eight(low[axis]))[0];
    box->high[axis] = units_eight(bins, largest_eight(high[axis]))[0];
  }
  return blameless(odd);
}

bool KERNEL(bins_entries)(const BinPoints *points, const Bins *bins, int64_t b, int64_t e, int32_t *entry,
                          uint64_t *kept, BinBox *box) {
  const Bins own = *bins; /* copies: for all the compiler knows the stores might change the originals */
  const BinPoints from = *points;
  return bins->hashed ? entries_of(&from, &own, b, e, entry, kept, box, true)
                      : entries_of(&from, &own, b, e, entry, kept, box, false);
}

/* Eight sums from the first lane up to each. */
WIDE_INLINE WideInt sums_eight(WideInt v) {
  const WideInt none = {0};
  v += __builtin_shufflevector(v, none, 8, 0, 1, 2, 3, 4, 5, 6);
  v += __builtin_shufflevector(v, none, 8, 8, 0, 1, 2, 3, 4, 5);
  return v + __builtin_shufflevector(v, none, 8, 8, 8, 8, 0, 1, 2, 3);
}

void KERNEL(bins_sum)(int32_t *counts, int64_t count, int32_t from) {
  WideInt at = (WideInt){0} + from;
  int64_t k = 0;
  for (; k + LANES <= count; k += LANES) {
    const WideInt here = wide_load_int(counts + k), sums = sums_eight(here);
    *(WideIntUnaligned *)(counts + k) = sums - here + at;
    at += __builtin_shufflevector(sums, sums, 7, 7, 7, 7, 7, 7, 7, 7);
  }
  from = at[0];
  for (; k < count; k++) {
    int32_t here = counts[k];
    counts[k] = from;
    from += here;
  }
}

/* Sorted points go to the same bucket many times in a row, and each time has to wait for the last to have counted. So
 * there are two rows of counts, for the first half of the points and the second, and they take turns. */
void KERNEL(bins_deal)(const int32_t *entry, int64_t b, int64_t e, int shift, int64_t buckets, int32_t *ends,
                       int32_t *dealt) {
  int32_t next[BINS_BUCKETS_MAX][2];
  const int64_t half = (e - b) / 2;
  memset(next, 0, sizeof *next * (size_t)buckets);
  for (int64_t i = b; i < b + half; i++) {
    next[entry[i] >> shift][0]++;
    next[entry[i + half] >> shift][1]++;
  }
  if (b + 2 * half < e) next[entry[e - 1] >> shift][1]++;
  KERNEL(bins_sum)(&next[0][0], 2 * buckets, 0);
  for (int64_t i = b; i < b + half; i++) {
    dealt[next[entry[i] >> shift][0]++] = (int32_t)i;
    dealt[next[entry[i + half] >> shift][1]++] = (int32_t)(i + half);
  }
  if (b + 2 * half < e) dealt[next[entry[e - 1] >> shift][1]++] = (int32_t)(e - 1);
  for (int64_t k = 0; k < buckets; k++) ends[k] = next[k][1];
}
