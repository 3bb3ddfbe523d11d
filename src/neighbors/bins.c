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
  BUCKET_POINTS = 512, /* aimed at, where there are many points */
  DENSE_BINS = 4,      /* a point, at most; and a few more */
  DENSE_BINS_FEW = 8192,
  DENSE_BINS_MOST = 1 << 30, /* with rows to spare still 31 bits */
  ROW_ALIGNMENT = 16         /* counts */
};
#define SPARE_BINS 1.5 /* times those that are needed, at most */

typedef struct Deal {
  Core *core;
  Bins *bins;
  BinPoints points;
  int64_t chunk, chunks; /* points; how many */
  BinBox *boxes;         /* per chunk */
  int32_t *entry;        /* per point */
  uint64_t *kept;
  int32_t *dealt; /* points of each chunk, bucket by bucket */
  int shift;      /* bucket = entry >> shift */
  int64_t entries, buckets, row;
  int32_t *ends; /* [chunk][bucket]: where in the chunk it ends. Rows are cache lines of their own */
  int32_t *end;  /* of each bucket, among all points; the one before the first is there too */
  atomic_bool bad;
} Deal;

/* Bins that hold all places within reach of a point of the box, and what is within reach of those. */
static void bins_round_box(const BinBox *box, int32_t low[3], int32_t size[3]) {
  for (int axis = 0; axis < 3; axis++) {
    int bits = axis == 0 ? BINS_BIN_BITS : BINS_ROW_BITS;
    low[axis] = (box->low[axis] - 2 * BINS_REACH) >> bits;
    size[axis] = ((box->high[axis] + 2 * BINS_REACH) >> bits) - low[axis] + 1;
  }
}

static bool bins_hold(const Bins *bins, const int32_t low[3], const int32_t size[3]) {
  for (int axis = 0; axis < 3; axis++)
    if (low[axis] < bins->low[axis] || low[axis] + size[axis] > bins->low[axis] + bins->size[axis]) return false;
  return true;
}

/* Points of a chunk to buckets. Where the bins turn out not to hold them that is left for the next round. */
static void deal_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Deal *deal = context;
  const Bins *bins = deal->bins;
  const int64_t c = b / deal->chunk;
  int32_t low[3], size[3];
  if (!KERNEL_CALL(deal->core, bins_entries)(&deal->points, bins, b, e, deal->entry, deal->kept, &deal->boxes[c])) {
    atomic_store(&deal->bad, true);
    return;
  }
  bins_round_box(&deal->boxes[c], low, size);
  if (!bins->hashed && !bins_hold(bins, low, size)) return;
  KERNEL_CALL(deal->core, bins_deal)
  (deal->entry, b, e, deal->shift, deal->buckets, deal->ends + c * deal->row, deal->dealt + b);
}

/* The points of a bucket: a run in each of some chunks. */
typedef struct BucketRuns {
  int64_t count, begin[DEAL_CHUNKS_MAX], end[DEAL_CHUNKS_MAX];
} BucketRuns;

static void find_runs(const Deal *deal, int64_t bucket, BucketRuns *runs) {
  int64_t count = 0;
  for (int64_t c = 0; c < deal->chunks; c++) {
    const int32_t *ends = deal->ends + c * deal->row;
    int32_t begin = bucket > 0 ? ends[bucket - 1] : 0;
    runs->begin[count] = c * deal->chunk + begin;
    runs->end[count] = c * deal->chunk + ends[bucket];
    count += ends[bucket] > begin;
  }
  runs->count = count;
}

/* The bins of a bucket. Where a bin's next point goes is kept where the next bin's beginning will be: when all are
 * there that is what it says. */
static void fill_bucket(const Deal *deal, int64_t bucket) {
  const Bins bins = *deal->bins; /* a copy: for all the compiler knows the stores might change the original */
  const int32_t *entry = deal->entry, *dealt = deal->dealt;
  const uint64_t *kept = deal->kept;
  int64_t first = bucket << deal->shift, last = first + (1ll << deal->shift);
  if (last > deal->entries) last = deal->entries;
  int32_t *next = bins.start + 1;
  BucketRuns runs;
  find_runs(deal, bucket, &runs);
  memset(next + first, 0, sizeof *next * (size_t)(last - first));
  for (int64_t r = 0; r < runs.count; r++)
    for (int64_t k = runs.begin[r]; k < runs.end[r]; k++) next[entry[dealt[k]]]++;
  KERNEL_CALL(deal->core, bins_sum)(next + first, last - first, deal->end[bucket - 1]);
  for (int64_t r = 0; r < runs.count; r++)
    for (int64_t k = runs.begin[r]; k < runs.end[r]; k++) {
      int32_t i = dealt[k], to = next[entry[i]]++;
      bins.index[to] = i;
      bins.x[to] = (int16_t)kept[i];
      bins.y[to] = (int16_t)(kept[i] >> 16);
      bins.z[to] = (int16_t)(kept[i] >> 32);
      if (bins.differ) bins.radius[to] = bins_radius(&bins, deal->points.radius[i]);
    }
}

/* The buckets that begin at places [b, e) of the bins: those who have the first of the particles in other loops have
 * the first of the bins, and equally many. */
static void fill_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Deal *deal = context;
  int64_t bucket = 0;
  while (bucket < deal->buckets && deal->end[bucket - 1] < b) bucket++;
  for (; bucket < deal->buckets && (e == deal->points.count || deal->end[bucket - 1] < e); bucket++)
    fill_bucket(deal, bucket);
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
static Status take_points(Deal *deal, Scratch *scratch) {
  Core *core = deal->core;
  int64_t room = deal->points.count + LANES;
  TRY(scratch_take(core, scratch, &deal->entry, room, "bins"));
  TRY(scratch_take(core, scratch, &deal->kept, room, "bins"));
  TRY(scratch_take(core, scratch, &deal->dealt, room, "bins"));
  return scratch_take(core, scratch, &deal->boxes, deal->chunks, "bins");
}

/* How many bins there are. */
static int64_t count_entries(Bins *bins) {
  if (!bins->hashed) return (int64_t)bins->size[0] * bins->size[1] * bins->size[2];
  int bits = 6;
  while ((int64_t)1 << bits < 2 * bins->count && bits < 30) bits++;
  bins->mask = (uint32_t)(((int64_t)1 << bits) - 1);
  return (int64_t)1 << bits;
}

/* Buckets for the bins as they are. */
static Status take_buckets(Deal *deal, Scratch *scratch) {
  Core *core = deal->core;
  Bins *bins = deal->bins;
  deal->entries = count_entries(bins);
  int64_t wanted = bins->count / BUCKET_POINTS;
  wanted = wanted < BUCKETS_FEW ? BUCKETS_FEW : wanted > BINS_BUCKETS_MAX ? BINS_BUCKETS_MAX : wanted;
  for (deal->shift = 0; deal->entries >> deal->shift >= wanted;) deal->shift++;
  deal->buckets = ((deal->entries - 1) >> deal->shift) + 1;
  deal->row = (deal->buckets + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
  TRY(scratch_take(core, scratch, &deal->ends, deal->chunks * deal->row, "bins"));
  TRY(scratch_take(core, scratch, &deal->end, 1 + deal->buckets, "bins"));
  *deal->end++ = 0;
  return SCREE_OK;
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

/* Bins that all points need, and whether they are to be hashed: a matter of these points alone. */
typedef struct Need {
  int32_t low[3], size[3];
  double entries;
  bool hashed;
} Need;

static Need need_of(const BinBox *box, int64_t points) {
  Need need;
  bins_round_box(box, need.low, need.size);
  need.entries = (double)need.size[0] * need.size[1] * need.size[2];
  need.hashed = need.entries > fmin(fmax(DENSE_BINS * (double)points, DENSE_BINS_FEW), DENSE_BINS_MOST);
  return need;
}

static Need find_need(const Deal *deal) {
  BinBox all = deal->boxes[0];
  for (int64_t c = 1; c < deal->chunks; c++)
    for (int axis = 0; axis < 3; axis++) {
      const BinBox *box = &deal->boxes[c];
      if (box->low[axis] < all.low[axis]) all.low[axis] = box->low[axis];
      if (box->high[axis] > all.high[axis]) all.high[axis] = box->high[axis];
    }
  return need_of(&all, deal->points.count);
}

/* Whether the bins hold the points and are not many more than needed. */
static bool bins_serve(const Bins *bins, const Need *need) {
  if (bins->hashed || need->hashed) return bins->hashed == need->hashed;
  return bins_hold(bins, need->low, need->size) &&
         (double)bins->size[0] * bins->size[1] * bins->size[2] <= SPARE_BINS * need->entries;
}

/* A side of the box, its old place and the one that is needed along the way out. Where points have left the box it is a
 * row to spare, since they go on, and that stays until it is more. */
static int32_t choose_side(int32_t old, int32_t needed, int32_t row) {
  return old < needed ? needed + row : old > needed + row ? needed : old;
}

static void choose_bins(Bins *bins, const Need *need) {
  const bool old = !bins->hashed && bins->size[0] > 0;
  bins->hashed = need->hashed;
  for (int axis = 0; axis < 3 && old && !need->hashed; axis++) {
    int32_t row = 1 << (BINS_ROW_BITS - (axis == 0 ? BINS_BIN_BITS : BINS_ROW_BITS));
    int32_t low = -choose_side(-bins->low[axis], -need->low[axis], row);
    bins->size[axis] = choose_side(bins->low[axis] + bins->size[axis], need->low[axis] + need->size[axis], row) - low;
    bins->low[axis] = low;
  }
  if (old && bins_serve(bins, need)) return;
  memcpy(bins->low, need->low, sizeof need->low);
  memcpy(bins->size, need->size, sizeof need->size);
}

static void place_buckets(const Deal *deal) {
  int32_t *end = deal->end;
  memcpy(end, deal->ends, sizeof *end * (size_t)deal->buckets);
  for (int64_t c = 1; c < deal->chunks; c++) {
    const int32_t *ends = deal->ends + c * deal->row;
    for (int64_t k = 0; k < deal->buckets; k++) end[k] += ends[k];
  }
}

static Status deal_round(Deal *deal, Scratch *scratch) {
  TRY(take_buckets(deal, scratch));
  parallel_for(deal->core, 0, deal->points.count, deal->chunk, deal_chunk, deal);
  return deal->bad ? not_finite(deal->core, deal->points) : SCREE_OK;
}

/* The bins of the last time are tried first: points do not go far in a step. What is found does not depend on how many
 * bins there are to spare. */
static Status deal_points(Deal *deal, Scratch *scratch) {
  Core *core = deal->core;
  TRY(take_points(deal, scratch));
  int mark = scratch_mark(scratch);
  TRY(deal_round(deal, scratch));
  const Need need = find_need(deal);
  if (!bins_serve(deal->bins, &need)) {
    choose_bins(deal->bins, &need);
    scratch_release(core, scratch, mark);
    TRY(deal_round(deal, scratch));
  }
  TRY(grow_bins(deal));
  place_buckets(deal);
  deal->bins->start[0] = 0;
  parallel_for(core, 0, deal->points.count, deal->chunk, fill_chunk, deal);
  return SCREE_OK;
}

Status bins_begin(Core *core, int64_t points, bool differ, float reach, float margin, Bins *bins) {
  if (points > INT32_MAX / 2)
    return fail(core, SCREE_BAD_ARGUMENT, "neighbours: %lld points are too many", (long long)points);
  if (points > 0 && !(reach >= 1e-15f && reach <= 1e15f))
    return fail(core, SCREE_BAD_ARGUMENT, "neighbours: reach %g is not between 1e-15 and 1e15", (double)reach);
  bins->count = points;
  bins->margin = margin;
  bins->differ = differ;
  bins->scale = (BINS_REACH - 2) / (double)reach;
  bins->far = (float)(BINS_FAR / bins->scale);
  bins->limit = ((BINS_REACH << BINS_LOW_BITS) * (BINS_REACH << BINS_LOW_BITS) >> 16) + 1;
  return SCREE_OK;
}

/* Before there was a last time they are those round one point. */
int64_t bins_entry_count(Bins *bins) {
  const BinBox point = {{0, 0, 0}, {0, 0, 0}};
  if (!bins->hashed && bins->size[0] == 0) bins_round_box(&point, bins->low, bins->size);
  return count_entries(bins);
}

bool bins_served(Bins *bins, const BinBox *box) {
  const Need need = need_of(box, bins->count);
  if (bins_serve(bins, &need)) return true;
  choose_bins(bins, &need);
  return false;
}

Status bins_fill(Core *core, Scratch *scratch, BinPoints points, float reach, float margin, Bins *bins) {
  TRY(bins_begin(core, points.count, points.radius != NULL, reach, margin, bins));
  if (points.count == 0) return SCREE_OK;
  Deal deal = {.core = core, .bins = bins, .points = points, .chunk = DEAL_CHUNK};
  while (parallel_chunks(0, points.count, deal.chunk) > DEAL_CHUNKS_MAX) deal.chunk *= 2;
  deal.chunks = parallel_chunks(0, points.count, deal.chunk);
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
