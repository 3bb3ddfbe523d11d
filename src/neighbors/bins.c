/* Dealing points to bins: in two rounds, first to a few dozen buckets of bins that follow each other, then each bucket
 * by itself, in cache. Both keep the order of the points, whatever the threads do. */
#include "neighbors/bins.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/parallel.h"
#include "neighbors/bins_search.h"

enum {
  DEAL_CHUNK = 128,     /* points, where there are few; more where they would be too many chunks to count in */
  DEAL_CHUNKS_MAX = 64, /* counts of buckets each */
  BUCKETS_FEW = 32,
  BUCKETS_MAX = 2048,
  BUCKET_POINTS = 512, /* aimed at, where there are many points */
  DENSE_BINS = 4,      /* a point, at most; and a few more */
  DENSE_BINS_FEW = 8192
};

typedef struct UnitBox {
  int32_t low[3], high[3];
} UnitBox;

typedef struct Deal {
  Core *core;
  Bins *bins;
  BinPoints points;
  int64_t chunk; /* points */
  int32_t *units[3];
  UnitBox *boxes; /* per chunk */
  int32_t *entry; /* per point */
  int shift;      /* bucket = entry >> shift */
  int64_t buckets, entries;
  int32_t *places; /* [chunk][bucket]: counts, then where the next goes */
  int32_t *begin;  /* of each bucket, and one more */
  int32_t *dealt;  /* points, bucket by bucket */
  atomic_bool bad;
} Deal;

static void units_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Deal *deal = context;
  UnitBox box;
  int32_t *const units[3] = {deal->units[0] + b, deal->units[1] + b, deal->units[2] + b};
  if (!KERNEL_CALL(deal->core, bins_units)(&deal->points, deal->bins, b, e, units)) atomic_store(&deal->bad, true);
  for (int axis = 0; axis < 3; axis++) {
    const int32_t *unit = deal->units[axis];
    int32_t low = unit[b], high = unit[b];
    for (int64_t i = b; i < e; i++) {
      low = unit[i] < low ? unit[i] : low;
      high = unit[i] > high ? unit[i] : high;
    }
    box.low[axis] = low;
    box.high[axis] = high;
  }
  deal->boxes[b / deal->chunk] = box;
}

/* A box that holds all places within reach of a point, and what is within reach of those. */
static void measure_box(const Deal *deal, int64_t chunks) {
  Bins *bins = deal->bins;
  double entries = 1;
  for (int axis = 0; axis < 3; axis++) {
    int32_t low = INT32_MAX, high = INT32_MIN;
    for (int64_t c = 0; c < chunks; c++) {
      const UnitBox *box = &deal->boxes[c];
      low = box->low[axis] < low ? box->low[axis] : low;
      high = box->high[axis] > high ? box->high[axis] : high;
    }
    int bits = axis == 0 ? BINS_BIN_BITS : BINS_ROW_BITS;
    bins->low[axis] = (low - 2 * BINS_REACH) >> bits;
    bins->size[axis] = ((high + 2 * BINS_REACH) >> bits) - bins->low[axis] + 1;
    entries *= bins->size[axis];
  }
  double most = DENSE_BINS * (double)bins->count;
  bins->hashed = entries > fmin(fmax(most, DENSE_BINS_FEW), INT32_MAX / 2);
}

static void entries_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Deal *deal = context;
  const Bins *bins = deal->bins;
  const int32_t *x = deal->units[0], *y = deal->units[1], *z = deal->units[2];
  const int32_t along_y = (int32_t)bins_along_y(bins), along_z = (int32_t)bins_along_z(bins);
  const int32_t low_x = bins->low[0], low_y = bins->low[1], low_z = bins->low[2];
  int32_t *entry = deal->entry, *counts = deal->places + b / deal->chunk * deal->buckets;
  if (bins->hashed)
    for (int64_t i = b; i < e; i++)
      entry[i] =
          (int32_t)((bins_hash(y[i] >> BINS_ROW_BITS, z[i] >> BINS_ROW_BITS) + (uint32_t)(x[i] >> BINS_BIN_BITS)) &
                    bins->mask);
  else
    for (int64_t i = b; i < e; i++)
      entry[i] = ((y[i] >> BINS_ROW_BITS) - low_y) * along_y + ((z[i] >> BINS_ROW_BITS) - low_z) * along_z +
                 (x[i] >> BINS_BIN_BITS) - low_x;
  memset(counts, 0, sizeof *counts * (size_t)deal->buckets);
  for (int64_t i = b; i < e; i++) counts[entry[i] >> deal->shift]++;
}

static void place_buckets(Deal *deal, int64_t chunks) {
  int32_t place = 0;
  for (int64_t bucket = 0; bucket < deal->buckets; bucket++) {
    deal->begin[bucket] = place;
    for (int64_t c = 0; c < chunks; c++) {
      int32_t *here = &deal->places[c * deal->buckets + bucket], count = *here;
      *here = place;
      place += count;
    }
  }
  deal->begin[deal->buckets] = place;
}

static void deal_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Deal *deal = context;
  int32_t *places = deal->places + b / deal->chunk * deal->buckets;
  for (int64_t i = b; i < e; i++) deal->dealt[places[deal->entry[i] >> deal->shift]++] = (int32_t)i;
}

/* The bins of a bucket. Where a bin's next point goes is kept where the next bin's beginning will be: when all are
 * there that is what it says. */
static void fill_bucket(const Deal *deal, int64_t bucket) {
  Bins *bins = deal->bins;
  const int32_t *entry = deal->entry, *const *units = (const int32_t *const *)deal->units;
  int64_t first = bucket << deal->shift, last = first + (1ll << deal->shift);
  if (last > deal->entries) last = deal->entries;
  int32_t *next = bins->start + 1, place = deal->begin[bucket], end = deal->begin[bucket + 1];
  memset(next + first, 0, sizeof *next * (size_t)(last - first));
  for (int32_t k = place; k < end; k++) next[entry[deal->dealt[k]]]++;
  int32_t at = place;
  for (int64_t bin = first; bin < last; bin++) {
    int32_t count = next[bin];
    next[bin] = at;
    at += count;
  }
  for (int32_t k = place; k < end; k++) {
    int32_t i = deal->dealt[k], to = next[entry[i]]++;
    bins->index[to] = i;
    bins->x[to] = (int16_t)((uint32_t)units[0][i] << BINS_LOW_BITS);
    bins->y[to] = (int16_t)((uint32_t)units[1][i] << BINS_LOW_BITS);
    bins->z[to] = (int16_t)((uint32_t)units[2][i] << BINS_LOW_BITS);
    if (bins->differ) bins->radius[to] = bins_radius(bins, deal->points.radius[i]);
  }
}

static void fill_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  for (int64_t bucket = b; bucket < e; bucket++) fill_bucket(context, bucket);
}

static Status not_finite(Core *core, BinPoints points) {
  int64_t i = 0;
  for (; i < points.count; i++) {
    float sum = points.x[i] + points.y[i] + points.z[i];
    if (points.dx) sum += points.dx[i] + points.dy[i] + points.dz[i];
    if (!isfinite(sum)) break;
  }
  return fail(core, SCREE_FAILED, "particle %lld is at (%g, %g, %g)", (long long)i, (double)points.x[i],
              (double)points.y[i], (double)points.z[i]);
}

/* What points need while they are dealt. */
static Status take_room(Deal *deal, Scratch *scratch, int64_t chunks) {
  Core *core = deal->core;
  int64_t count = deal->points.count;
  for (int axis = 0; axis < 3; axis++) TRY(scratch_take(core, scratch, &deal->units[axis], count, "bins"));
  TRY(scratch_take(core, scratch, &deal->entry, count, "bins"));
  TRY(scratch_take(core, scratch, &deal->dealt, count, "bins"));
  return scratch_take(core, scratch, &deal->boxes, chunks, "bins");
}

static Status grow_bins(Deal *deal) {
  Core *core = deal->core;
  Bins *bins = deal->bins;
  int64_t room = bins->count + NARROW_LANES;
  TRY(memory_grow(core, &bins->x, room, "bins"));
  TRY(memory_grow(core, &bins->y, room, "bins"));
  TRY(memory_grow(core, &bins->z, room, "bins"));
  TRY(memory_grow(core, &bins->index, room, "bins"));
  if (bins->differ) TRY(memory_grow(core, &bins->radius, room, "bins"));
  return memory_grow(core, &bins->start, deal->entries + 1, "bins");
}

static void choose_bins(Deal *deal, int64_t chunks) {
  Bins *bins = deal->bins;
  measure_box(deal, chunks);
  deal->entries = (int64_t)bins->size[0] * bins->size[1] * bins->size[2];
  if (bins->hashed) {
    int bits = 6;
    while ((int64_t)1 << bits < 2 * bins->count && bits < 30) bits++;
    deal->entries = (int64_t)1 << bits;
    bins->mask = (uint32_t)(deal->entries - 1);
  }
  int64_t wanted = bins->count / BUCKET_POINTS;
  wanted = wanted < BUCKETS_FEW ? BUCKETS_FEW : wanted > BUCKETS_MAX ? BUCKETS_MAX : wanted;
  while (deal->entries >> deal->shift >= wanted) deal->shift++;
  deal->buckets = ((deal->entries - 1) >> deal->shift) + 1;
}

static Status deal_points(Deal *deal, Scratch *scratch) {
  Core *core = deal->core;
  int64_t count = deal->points.count, chunks = parallel_chunks(0, count, deal->chunk);
  TRY(take_room(deal, scratch, chunks));
  parallel_for(core, 0, count, deal->chunk, units_chunk, deal);
  if (deal->bad) return not_finite(core, deal->points);
  choose_bins(deal, chunks);
  TRY(grow_bins(deal));
  TRY(scratch_take(core, scratch, &deal->places, chunks * deal->buckets, "bins"));
  TRY(scratch_take(core, scratch, &deal->begin, deal->buckets + 1, "bins"));
  parallel_for(core, 0, count, deal->chunk, entries_chunk, deal);
  place_buckets(deal, chunks);
  parallel_for(core, 0, count, deal->chunk, deal_chunk, deal);
  deal->bins->start[0] = 0;
  parallel_for(core, 0, deal->buckets, 1, fill_chunk, deal);
  return SCREE_OK;
}

Status bins_fill(Core *core, Scratch *scratch, BinPoints points, float reach, float margin, Bins *bins) {
  if (points.count > INT32_MAX / 2)
    return fail(core, SCREE_BAD_ARGUMENT, "neighbours: %lld points are too many", (long long)points.count);
  if (points.count > 0 && !(reach >= 1e-15f && reach <= 1e15f))
    return fail(core, SCREE_BAD_ARGUMENT, "neighbours: reach %g is not between 1e-15 and 1e15", (double)reach);
  bins->count = points.count;
  bins->margin = margin;
  bins->differ = points.radius != NULL;
  bins->scale = (BINS_REACH - 2) / (double)reach;
  bins->far = (float)(BINS_FAR / bins->scale);
  bins->limit = ((BINS_REACH << BINS_LOW_BITS) * (BINS_REACH << BINS_LOW_BITS) >> 16) + 1;
  if (points.count == 0) return SCREE_OK;
  Deal deal = {.core = core, .bins = bins, .points = points, .chunk = DEAL_CHUNK};
  while (parallel_chunks(0, points.count, deal.chunk) > DEAL_CHUNKS_MAX) deal.chunk *= 2;
  int mark = scratch_mark(scratch);
  Status status = deal_points(&deal, scratch);
  scratch_release(core, scratch, mark);
  return status;
}

void bins_destroy(Core *core, Bins *bins) {
  memory_drop(core, &bins->start);
  memory_drop(core, &bins->x);
  memory_drop(core, &bins->y);
  memory_drop(core, &bins->z);
  memory_drop(core, &bins->radius);
  memory_drop(core, &bins->index);
}
