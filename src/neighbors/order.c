/* The canonical order: by cell, then by id.
 *
 * One pass deals the points into a few thousand buckets of consecutive cells, a second sorts each bucket by itself,
 * in cache. When the box round all points has not many more cells than there are points, buckets are equal runs of
 * cells and are sorted by counting; otherwise (strays, sprays) buckets are cut at quantiles of a sample and sorted by
 * the bytes in which their keys differ, so that neither the extent nor the clustering of the points matters. Both give
 * the same order: it is complete, so that it cannot depend on chunks or threads. */
#include "neighbors/grid.h"

#include <string.h>

#include "core/parallel.h"

enum {
  SURVEY_CHUNK = 2048,
  BUCKETS_MAX = 2048,
  BUCKET_POINTS = 1024,     /* aimed at: two buffers of it fit the first-level cache */
  COUNTED_CELLS_MAX = 8192, /* per bucket, when sorted by counting */
  SAMPLES_PER_BUCKET = 8
};

typedef struct SortRecord {
  uint64_t key;
  uint32_t id;
  int32_t index;
} SortRecord;

typedef struct Box {
  int32_t low[3], high[3];
  bool bad;
} Box;

typedef struct Sort {
  Core *core;
  CellGrid *grid;
  Points points;
  int32_t *order;
  Box *boxes; /* per chunk */
  Box box;
  bool dense;
  CellBox cells;
  int shift; /* dense: bucket = key >> shift */
  uint64_t *splitters;
  int64_t buckets, chunk;
  uint64_t *keys; /* per point; they and the buckets lie in the second buffer of records, not yet in use */
  uint16_t *bucket;
  uint32_t *histogram; /* [chunk][bucket]: counts, then places */
  uint32_t *bucket_start;
} Sort;

typedef struct Cells {
  int32_t x[BLOCK], y[BLOCK], z[BLOCK];
} Cells;

static bool block_cells(const Sort *sort, int64_t b, int64_t e, Cells *cells) {
  double inverse = sort->grid->inverse;
  bool good = KERNEL_CALL(sort->core, cells_of)(sort->points.x + b, e - b, inverse, cells->x);
  good &= KERNEL_CALL(sort->core, cells_of)(sort->points.y + b, e - b, inverse, cells->y);
  good &= KERNEL_CALL(sort->core, cells_of)(sort->points.z + b, e - b, inverse, cells->z);
  return good;
}

static void widen(Box *box, int axis, const int32_t *cells, int64_t count) {
  int32_t low = box->low[axis], high = box->high[axis];
  for (int64_t i = 0; i < count; i++) {
    low = cells[i] < low ? cells[i] : low;
    high = cells[i] > high ? cells[i] : high;
  }
  box->low[axis] = low;
  box->high[axis] = high;
}

static const Box nowhere = {{INT32_MAX, INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN, INT32_MIN}, false};

static void survey_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Sort *sort = context;
  Box box = nowhere;
  Cells cells;
  for (int64_t block = b; block < e; block += BLOCK) {
    int64_t end = block + BLOCK < e ? block + BLOCK : e;
    box.bad |= !block_cells(sort, block, end, &cells);
    widen(&box, 0, cells.x, end - block);
    widen(&box, 1, cells.y, end - block);
    widen(&box, 2, cells.z, end - block);
  }
  sort->boxes[b / SURVEY_CHUNK] = box;
}

static Status survey(Core *core, Sort *sort) {
  int64_t chunks = parallel_chunks(0, sort->points.count, SURVEY_CHUNK);
  TRY(memory_new(core, &sort->boxes, chunks, "sort"));
  parallel_for(core, 0, sort->points.count, SURVEY_CHUNK, survey_chunk, sort);
  sort->box = nowhere;
  for (int64_t c = 0; c < chunks; c++) {
    Box *box = &sort->boxes[c];
    sort->box.bad |= box->bad;
    for (int axis = 0; axis < 3; axis++) {
      widen(&sort->box, axis, &box->low[axis], 1);
      widen(&sort->box, axis, &box->high[axis], 1);
    }
  }
  memory_drop(core, &sort->boxes);
  return sort->box.bad ? grid_not_finite(core, sort->points) : SCREE_OK;
}

static uint16_t bucket_of(const Sort *sort, uint64_t key) {
  if (sort->dense) return (uint16_t)(key >> sort->shift);
  const uint64_t *splitters = sort->splitters; /* buckets - 1 of them; bucket b has splitters[b - 1] <= key */
  int64_t low = 0;
  for (int64_t length = sort->buckets - 1; length > 0;) {
    int64_t half = (length + 1) / 2;
    low += splitters[low + half - 1] <= key ? half : 0;
    length -= half;
  }
  return (uint16_t)low;
}

static void block_keys(const Sort *sort, int64_t b, int64_t e, uint64_t *keys) {
  Cells cells;
  block_cells(sort, b, e, &cells);
  if (sort->dense)
    for (int64_t i = 0; i < e - b; i++) keys[i] = cell_number(sort->cells, cells.x[i], cells.y[i], cells.z[i]);
  else
    for (int64_t i = 0; i < e - b; i++) keys[i] = cell_key(cells.x[i], cells.y[i], cells.z[i]);
}

/* Counts a chunk's points by bucket, and leaves keys and buckets for deal_chunk. */
static void count_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Sort *sort = context;
  uint32_t *counts = sort->histogram + b / sort->chunk * sort->buckets;
  memset(counts, 0, (size_t)sort->buckets * sizeof *counts);
  for (int64_t block = b; block < e; block += BLOCK) {
    int64_t end = block + BLOCK < e ? block + BLOCK : e;
    block_keys(sort, block, end, sort->keys + block);
    for (int64_t i = block; i < end; i++) counts[sort->bucket[i] = bucket_of(sort, sort->keys[i])]++;
  }
}

static void deal_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Sort *sort = context;
  uint32_t *places = sort->histogram + b / sort->chunk * sort->buckets;
  SortRecord *records = sort->grid->records[0];
  const uint32_t *id = sort->points.id;
  for (int64_t i = b; i < e; i++)
    records[places[sort->bucket[i]]++] = (SortRecord){sort->keys[i], id ? id[i] : (uint32_t)i, (int32_t)i};
}

static inline bool record_before(SortRecord a, SortRecord b) {
  if (a.key != b.key) return a.key < b.key;
  return a.id != b.id ? a.id < b.id : a.index < b.index;
}

enum { SHORT = 24 }; /* sorted by insertion */

static void insertion_sort(SortRecord *records, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    SortRecord record = records[i];
    int64_t k = i;
    for (; k > 0 && record_before(record, records[k - 1]); k--) records[k] = records[k - 1];
    records[k] = record;
  }
}

static inline uint64_t record_word(const SortRecord *record, bool by_id) { return by_id ? record->id : record->key; }

/* Stable, by key or by id, byte by byte from the lowest, bytes that are all the same left out. */
static void radix_sort(SortRecord *records, SortRecord *other, int64_t count, bool by_id) {
  uint64_t differing = 0;
  for (int64_t i = 1; i < count; i++) differing |= record_word(&records[i], by_id) ^ record_word(&records[0], by_id);
  SortRecord *from = records, *to = other;
  for (int shift = 0; shift < 64; shift += 8) {
    if (!(differing >> shift & 0xff)) continue;
    uint32_t places[256] = {0}, place = 0;
    for (int64_t i = 0; i < count; i++) places[record_word(&from[i], by_id) >> shift & 0xff]++;
    for (int digit = 0; digit < 256; digit++) {
      uint32_t here = places[digit];
      places[digit] = place;
      place += here;
    }
    for (int64_t i = 0; i < count; i++) to[places[record_word(&from[i], by_id) >> shift & 0xff]++] = from[i];
    SortRecord *swap = from;
    from = to;
    to = swap;
  }
  if (from != records) memcpy(records, from, (size_t)count * sizeof *records);
}

/* Records are sorted by key: sorts those of equal key by id. */
static void sort_cells(SortRecord *records, SortRecord *other, int64_t count) {
  for (int64_t b = 0, e; b < count; b = e) {
    e = b + 1;
    while (e < count && records[e].key == records[b].key) e++;
    if (e - b > SHORT) radix_sort(records + b, other + b, e - b, true);
    else insertion_sort(records + b, e - b);
  }
}

/* By counting. The result is in `other`. */
static void count_sort(const SortRecord *records, SortRecord *other, int64_t count, uint64_t first, int64_t cells) {
  uint32_t places[COUNTED_CELLS_MAX + 1];
  memset(places, 0, (size_t)(cells + 1) * sizeof *places);
  for (int64_t i = 0; i < count; i++) places[records[i].key - first + 1]++;
  for (int64_t c = 0; c < cells; c++) places[c + 1] += places[c];
  for (int64_t i = 0; i < count; i++) other[places[records[i].key - first]++] = records[i];
}

static void sort_buckets(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Sort *sort = context;
  for (int64_t bucket = b; bucket < e; bucket++) {
    int64_t first = sort->bucket_start[bucket], count = (int64_t)sort->bucket_start[bucket + 1] - first;
    SortRecord *records = sort->grid->records[0] + first, *other = sort->grid->records[1] + first;
    if (sort->dense) {
      count_sort(records, other, count, (uint64_t)bucket << sort->shift, (int64_t)1 << sort->shift);
      SortRecord *swap = records;
      records = other;
      other = swap;
    } else radix_sort(records, other, count, false);
    sort_cells(records, other, count);
    for (int64_t i = 0; i < count; i++) sort->order[first + i] = records[i].index;
  }
}

/* Chooses how to cut the keys into buckets. */
static Status plan_buckets(Core *core, Sort *sort) {
  int64_t count = sort->points.count;
  const Box *box = &sort->box;
  sort->cells = cell_box(box->low, box->high);
  double cells = cell_box_cells(&sort->cells);
  int64_t aimed = count / BUCKET_POINTS + 1;
  bool few = cells <= 16.0 * (double)count + 65536; /* to be counted */
  if (few && aimed < (int64_t)cells / COUNTED_CELLS_MAX + 1) aimed = (int64_t)cells / COUNTED_CELLS_MAX + 1;
  if (aimed > BUCKETS_MAX) aimed = BUCKETS_MAX;
  sort->shift = 0;
  while ((double)((int64_t)1 << sort->shift) * (double)aimed < cells && sort->shift < 62) sort->shift++;
  sort->dense = (int64_t)1 << sort->shift <= COUNTED_CELLS_MAX && few;
  if (sort->dense) {
    sort->buckets = ((int64_t)cells - 1) / ((int64_t)1 << sort->shift) + 1;
    return SCREE_OK;
  }
  sort->buckets = aimed;
  int64_t samples = aimed * SAMPLES_PER_BUCKET;
  SortRecord *sample = sort->grid->records[0], *other = sort->grid->records[1];
  if (samples > count) samples = count;
  for (int64_t k = 0; k < samples; k++) {
    int64_t i = k * count / samples;
    block_keys(sort, i, i + 1, &sample[k].key);
  }
  radix_sort(sample, other, samples, false);
  TRY(memory_new(core, &sort->splitters, aimed, "sort"));
  for (int64_t b = 1; b < aimed; b++) sort->splitters[b - 1] = sample[b * samples / aimed].key;
  return SCREE_OK;
}

static Status deal(Core *core, Sort *sort) {
  int64_t count = sort->points.count;
  /* Fixed chunks, few enough that the histograms stay small beside the points. */
  sort->chunk = count / 64 > SURVEY_CHUNK ? count / 64 : SURVEY_CHUNK;
  int64_t chunks = parallel_chunks(0, count, sort->chunk);
  TRY(memory_grow(core, &sort->grid->histogram, (chunks + 1) * sort->buckets + 1, "sort"));
  sort->bucket_start = sort->grid->histogram;
  sort->histogram = sort->grid->histogram + sort->buckets + 1;
  sort->keys = (uint64_t *)sort->grid->records[1];
  sort->bucket = (uint16_t *)(sort->keys + count);
  parallel_for(core, 0, count, sort->chunk, count_chunk, sort);
  uint32_t place = 0;
  for (int64_t b = 0; b < sort->buckets; b++) {
    sort->bucket_start[b] = place;
    for (int64_t c = 0; c < chunks; c++) {
      uint32_t here = sort->histogram[c * sort->buckets + b];
      sort->histogram[c * sort->buckets + b] = place;
      place += here;
    }
  }
  sort->bucket_start[sort->buckets] = place;
  parallel_for(core, 0, count, sort->chunk, deal_chunk, sort);
  parallel_for(core, 0, sort->buckets, 1, sort_buckets, sort);
  return SCREE_OK;
}

static Status take_records(Core *core, CellGrid *grid, Scratch *scratch, int64_t count) {
  for (int k = 0; k < 2; k++) {
    if (scratch) {
      TRY(scratch_take(core, scratch, &grid->records[k], count, "sort"));
      continue;
    }
    TRY(memory_grow(core, &grid->own_records[k], count, "sort"));
    grid->records[k] = grid->own_records[k];
  }
  return SCREE_OK;
}

Status grid_order(Core *core, CellGrid *grid, Scratch *scratch, Points points, int32_t *order) {
  if (points.count == 0) return SCREE_OK;
  Sort sort = {.core = core, .grid = grid, .points = points, .order = order};
  TRY(survey(core, &sort));
  int mark = scratch ? scratch_mark(scratch) : 0;
  Status status = take_records(core, grid, scratch, points.count);
  if (status == SCREE_OK) status = plan_buckets(core, &sort);
  if (status == SCREE_OK) status = deal(core, &sort);
  if (scratch) scratch_release(core, scratch, mark);
  memory_drop(core, &sort.splitters);
  return status;
}
