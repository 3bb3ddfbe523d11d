/* Upkeep of a neighbour list while its points move: only the rows of those that moved are searched for anew. The other
 * rows lose the points that moved and get them back where they now are, out of the movers' rows turned round. */
#include "neighbors/upkeep.h"

#include <string.h>

#include "core/parallel.h"
#include "neighbors/grid.h"

enum { UPKEEP_CHUNK = 256, MOVERS_CHUNK = 512 };
/* So few movers look at all points one after the other, which is quicker than dealing the points to cells; rows longer
 * than this are left to the cells. */
enum { SCANNED_MOVERS = 64, SCANNED_ROW = 120 };
enum { STILL, TOUCHED, MOVED };

/* Rows of a chunk of points. They are written where they have room in any case and then put behind each other. */
typedef struct Part {
  int64_t old;   /* where its entries began */
  int64_t added; /* entries of others' rows that may come into its own */
  int64_t room;  /* where it writes */
  int64_t count; /* entries */
  int64_t first; /* where they belong */
} Part;

typedef struct Amend {
  Points points;
  const float *radius;
  Movers movers;
  const NeighborList *found; /* rows of the movers */
  NeighborList *list;
  int32_t *written;                /* entries of the new list */
  float *x, *y, *z, *query_radius; /* of the movers */
  uint8_t *mark;                   /* per point */
  int32_t *link;                   /* per point: place among the movers; otherwise first entry of its chain, or -1 */
  int32_t *next, *from;            /* chains: entries of the movers' rows by the point that they list */
  Part *parts;                     /* per chunk of points */
  float reach;
  RowScan *scan;
  int32_t (*scanned)[SCANNED_ROW], *scanned_count; /* of few movers: rows; -1: too long */
} Amend;

/* Rows that only the points added since have: they are movers. */
static int64_t old_start(const Amend *amend, int64_t i) {
  const NeighborList *list = amend->list;
  return list->start[i < list->count ? i : list->count];
}

static void clear_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Amend *amend = context;
  memset(amend->mark + b, STILL, (size_t)(e - b));
  memset(amend->link + b, 0xff, (size_t)(e - b) * sizeof *amend->link);
  amend->parts[b / UPKEEP_CHUNK] = (Part){.old = old_start(amend, b)};
}

static void take_movers(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Amend *amend = context;
  for (int64_t m = b; m < e; m++) {
    int32_t i = amend->movers.who[m];
    amend->x[m] = amend->points.x[i];
    amend->y[m] = amend->points.y[i];
    amend->z[m] = amend->points.z[i];
    if (amend->radius) amend->query_radius[m] = amend->radius[i];
    amend->mark[i] = MOVED;
    amend->link[i] = (int32_t)m;
  }
}

/* Whoever had a mover in his row has his row written anew. Threads may mark the same one. */
static void touch_old(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Amend *amend = context;
  const NeighborList *list = amend->list;
  for (int64_t m = b; m < e; m++) {
    int32_t i = amend->movers.who[m];
    if (i >= list->count) continue;
    for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
      uint8_t *mark = &amend->mark[list->index[k]];
      if (__atomic_load_n(mark, __ATOMIC_RELAXED) == STILL) __atomic_store_n(mark, TOUCHED, __ATOMIC_RELAXED);
    }
  }
}

/* The movers' rows turned round. From the last mover to the first, so that chains come out ascending. */
static void chain_rows(const Amend *amend) {
  const NeighborList *found = amend->found;
  int32_t entry = 0;
  for (int64_t m = amend->movers.count - 1; m >= 0; m--) {
    amend->parts[amend->movers.who[m] / UPKEEP_CHUNK].added += found->start[m + 1] - found->start[m];
    for (int64_t k = found->start[m]; k < found->start[m + 1]; k++) {
      int32_t j = found->index[k];
      if (amend->mark[j] == MOVED) continue;
      amend->parts[j / UPKEEP_CHUNK].added++;
      amend->mark[j] = TOUCHED;
      amend->from[entry] = amend->movers.who[m];
      amend->next[entry] = amend->link[j];
      amend->link[j] = entry++;
    }
  }
}

/* As found, without the mover itself. */
static int64_t mover_row(const Amend *amend, int64_t i, int32_t *out) {
  const NeighborList *found = amend->found;
  int64_t m = amend->link[i], count = 0;
  for (int64_t k = found->start[m]; k < found->start[m + 1]; k++)
    if (found->index[k] != i) out[count++] = found->index[k];
  return count;
}

/* The old row without movers, and the movers that list this point now. */
static int64_t touched_row(const Amend *amend, int64_t i, const int32_t *old, const int32_t *end, int32_t *out) {
  int32_t entry = amend->link[i];
  int64_t count = 0;
  for (; old < end; old++) {
    if (amend->mark[*old] == MOVED) continue;
    for (; entry >= 0 && amend->from[entry] < *old; entry = amend->next[entry]) out[count++] = amend->from[entry];
    out[count++] = *old;
  }
  for (; entry >= 0; entry = amend->next[entry]) out[count++] = amend->from[entry];
  return count;
}

static int64_t amended_row(const Amend *amend, int64_t i, int64_t old, int64_t old_end, int32_t *out) {
  const int32_t *index = amend->list->index;
  if (amend->mark[i] == MOVED) return mover_row(amend, i, out);
  return touched_row(amend, i, index + old, index + old_end, out);
}

/* The first point from i on whose row is not what it was. */
static int64_t next_amended(const Amend *amend, int64_t i, int64_t e) {
  for (; i < e && amend->mark[i] == STILL; i++) {
    uint64_t eight = 1;
    if (i + 8 <= e) memcpy(&eight, amend->mark + i, sizeof eight);
    if (eight == 0) i += 7;
  }
  return i;
}

/* The rows' ends, counted from the chunk's beginning, are written over the old ones: each is read before. Rows that
 * stay are copied in runs. */
static void write_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Amend *amend = context;
  NeighborList *list = amend->list;
  Part *part = &amend->parts[b / UPKEEP_CHUNK];
  int64_t known = list->count, old = part->old, at = 0;
  int32_t *out = amend->written + part->room;
  for (int64_t i = b; i < e; i++) {
    int64_t next = next_amended(amend, i, e);
    if (next > i) {
      int64_t run = list->start[next] - old, shift = at - old;
      memcpy(out + at, list->index + old, (size_t)run * sizeof *out);
      for (int64_t k = i + 1; k <= next; k++) list->start[k] += shift;
      at += run;
      old += run;
    }
    if (next == e) break;
    int64_t old_end = next < known ? list->start[next + 1] : old;
    at += amended_row(amend, next, old, old_end, out + at);
    list->start[next + 1] = at;
    old = old_end;
    i = next;
  }
  part->count = at;
}

static void place_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Amend *amend = context;
  const Part *part = &amend->parts[b / UPKEEP_CHUNK];
  NeighborList *list = amend->list;
  memcpy(list->index + part->first, amend->written + part->room, (size_t)part->count * sizeof *amend->written);
  for (int64_t i = b; i < e; i++) list->start[i + 1] += part->first;
}

static Status rewrite(Core *core, Scratch *scratch, Amend *amend) {
  NeighborList *list = amend->list;
  int64_t count = amend->points.count, entries = 0, room = 0, chunks = parallel_chunks(0, count, UPKEEP_CHUNK);
  for (int64_t c = 0; c < chunks; c++) {
    int64_t end = c + 1 < chunks ? amend->parts[c + 1].old : list->entries;
    amend->parts[c].room = room;
    room += end - amend->parts[c].old + amend->parts[c].added;
  }
  TRY(scratch_take(core, scratch, &amend->written, room, "amended rows"));
  TRY(memory_grow(core, &list->start, count + 1, "neighbour list"));
  parallel_for(core, 0, count, UPKEEP_CHUNK, write_chunk, amend);
  for (int64_t c = 0; c < chunks; c++) {
    amend->parts[c].first = entries;
    entries += amend->parts[c].count;
  }
  TRY(memory_grow(core, &list->index, entries, "neighbour list"));
  list->count = count;
  list->entries = entries;
  parallel_for(core, 0, count, UPKEEP_CHUNK, place_chunk, amend);
  return SCREE_OK;
}

static Status take_room(Core *core, Scratch *scratch, Amend *amend) {
  int64_t count = amend->points.count, movers = amend->movers.count;
  int64_t chunks = parallel_chunks(0, count, UPKEEP_CHUNK);
  TRY(scratch_take(core, scratch, &amend->mark, count, "amended rows"));
  TRY(scratch_take(core, scratch, &amend->link, count, "amended rows"));
  TRY(scratch_take(core, scratch, &amend->parts, chunks, "amended rows"));
  TRY(scratch_take(core, scratch, &amend->x, movers, "movers"));
  TRY(scratch_take(core, scratch, &amend->y, movers, "movers"));
  TRY(scratch_take(core, scratch, &amend->z, movers, "movers"));
  return scratch_take(core, scratch, &amend->query_radius, movers, "movers");
}

static void scan_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Amend *amend = context;
  for (int64_t m = b; m < e; m++) {
    ScannedPoint from = {amend->x[m], amend->y[m], amend->z[m], amend->radius ? amend->query_radius[m] : 0};
    amend->scanned_count[m] =
        (int32_t)amend->scan(amend->points, amend->radius, from, amend->reach, SCANNED_ROW, amend->scanned[m]);
  }
}

/* The movers' rows without a grid; not done where a row is too long. */
static Status scan_rows(Core *core, Scratch *scratch, Amend *amend, NeighborList *found, bool *done) {
  int64_t movers = amend->movers.count, entries = 0;
  TRY(scratch_take(core, scratch, &amend->scanned, movers, "movers"));
  TRY(scratch_take(core, scratch, &amend->scanned_count, movers, "movers"));
  TRY(memory_grow(core, &found->start, movers + 1, "neighbour list"));
  TRY(memory_grow(core, &found->index, movers * SCANNED_ROW, "neighbour list"));
  amend->scan = KERNEL_CALL(core, row_scan);
  parallel_for(core, 0, movers, 1, scan_chunk, amend);
  found->start[0] = 0;
  for (int64_t m = 0; m < movers; m++) {
    int64_t row = amend->scanned_count[m];
    if (row < 0) return SCREE_OK;
    memcpy(found->index + entries, amend->scanned[m], (size_t)row * sizeof *found->index);
    found->start[m + 1] = entries += row;
  }
  found->count = movers;
  found->entries = entries;
  *done = true;
  return SCREE_OK;
}

static Status amend_rows(Core *core, Scratch *scratch, CellGrid *grid, Amend *amend, float cell, float reach,
                         NeighborList *found) {
  int64_t movers = amend->movers.count;
  TRY(take_room(core, scratch, amend));
  parallel_for(core, 0, amend->points.count, UPKEEP_CHUNK, clear_chunk, amend);
  parallel_for(core, 0, movers, MOVERS_CHUNK, take_movers, amend);
  parallel_for(core, 0, movers, MOVERS_CHUNK, touch_old, amend);
  bool done = false;
  if (movers <= SCANNED_MOVERS) TRY(scan_rows(core, scratch, amend, found, &done));
  if (!done) {
    Points queries = {movers, amend->x, amend->y, amend->z, NULL};
    TRY(cell_grid_hash(core, grid, amend->points, cell));
    TRY(neighbor_list_build(core, grid, queries, amend->points, reach, amend->radius ? amend->query_radius : NULL,
                            amend->radius, found));
  }
  TRY(scratch_take(core, scratch, &amend->next, found->entries, "amended rows"));
  TRY(scratch_take(core, scratch, &amend->from, found->entries, "amended rows"));
  chain_rows(amend);
  return rewrite(core, scratch, amend);
}

Status neighbor_list_amend(Core *core, Scratch *scratch, CellGrid *grid, Points points, float cell, float reach,
                           const float *radius, Movers movers, NeighborList *found, NeighborList *list) {
  Amend amend = {.points = points, .radius = radius, .movers = movers, .found = found, .list = list, .reach = reach};
  int mark = scratch_mark(scratch);
  Status status = amend_rows(core, scratch, grid, &amend, cell, reach, found);
  scratch_release(core, scratch, mark);
  if (status != SCREE_OK) list->count = list->entries = 0;
  return status;
}
