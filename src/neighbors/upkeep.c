/* Upkeep of a neighbour list while its points move: only the rows of those that moved are searched for anew. The other
 * rows lose the points that moved and get them back where they now are, out of the movers' rows turned round. */
#include "neighbors/upkeep.h"

#include <string.h>

#include "core/parallel.h"
#include "neighbors/boxes.h"
#include "neighbors/grid.h"

enum { UPKEEP_CHUNK = 256, MOVERS_CHUNK = 512 };
/* When one point of so many moves, putting boxes round the points and searching them is quicker than dealing the points
 * to cells. Rows are found a chunk of movers at a time: how many entries it has room for and how many eights of points
 * it may look at, for each mover. Where that does not suffice (crowds, points in no order) cells are taken after all.
 */
enum { BOXED_SHARE = 8, ROWS_CHUNK = 64, ROW_ROOM = 32, ROW_LOOKS = 128 };
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
  const int64_t *row, *row_end; /* rows of the movers */
  const int32_t *found;
  NeighborList *list;
  int32_t *written;                /* entries of the new list */
  float *x, *y, *z, *query_radius; /* of the movers */
  uint8_t *mark;                   /* per point */
  int32_t *link;                   /* per point: place among the movers; otherwise first entry of its chain, or -1 */
  int32_t *next, *from;            /* chains: entries of the movers' rows by the point that they list */
  Part *parts;                     /* per chunk of points */
  float reach;
  BoxTree tree;
  BoxesRow *search;
  int32_t *chunk_rows;        /* rows of the movers, chunk by chunk */
  int64_t *box_row, *box_end; /* where each is */
  bool *failed;               /* per chunk */
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
  int32_t entry = 0;
  for (int64_t m = amend->movers.count - 1; m >= 0; m--) {
    amend->parts[amend->movers.who[m] / UPKEEP_CHUNK].added += amend->row_end[m] - amend->row[m];
    for (int64_t k = amend->row[m]; k < amend->row_end[m]; k++) {
      int32_t j = amend->found[k];
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
  int64_t m = amend->link[i], count = 0;
  for (int64_t k = amend->row[m]; k < amend->row_end[m]; k++)
    if (amend->found[k] != i) out[count++] = amend->found[k];
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

static void search_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Amend *amend = context;
  int64_t at = b * ROW_ROOM, end = at + ROWS_CHUNK * ROW_ROOM, looks = ROW_LOOKS * (e - b);
  for (int64_t m = b; m < e; m++) {
    BoxQuery query = {amend->x[m], amend->y[m], amend->z[m], amend->radius ? amend->query_radius[m] : 0};
    bool finite = query.x - query.x + query.y - query.y + query.z - query.z == 0;
    int64_t row =
        finite ? amend->search(&amend->tree, query, amend->reach, end - at, &looks, amend->chunk_rows + at) : -1;
    amend->failed[b / ROWS_CHUNK] = row < 0;
    if (row < 0) return;
    amend->box_row[m] = at;
    amend->box_end[m] = at += row;
  }
}

/* The movers' rows by boxes round the points. */
static Status search_boxes(Core *core, Scratch *scratch, Amend *amend, bool *done) {
  int64_t movers = amend->movers.count, chunks = parallel_chunks(0, movers, ROWS_CHUNK);
  if (amend->points.count < LANES || movers > amend->points.count / BOXED_SHARE) return SCREE_OK;
  TRY(box_tree_build(core, scratch, amend->points, amend->radius, &amend->tree));
  TRY(scratch_take(core, scratch, &amend->box_row, movers, "movers"));
  TRY(scratch_take(core, scratch, &amend->box_end, movers, "movers"));
  TRY(scratch_take(core, scratch, &amend->failed, chunks, "movers"));
  TRY(scratch_take(core, scratch, &amend->chunk_rows, chunks * ROWS_CHUNK * ROW_ROOM, "movers"));
  amend->search = KERNEL_CALL(core, boxes_row);
  parallel_for(core, 0, movers, ROWS_CHUNK, search_chunk, amend);
  for (int64_t c = 0; c < chunks; c++)
    if (amend->failed[c]) return SCREE_OK;
  amend->row = amend->box_row;
  amend->row_end = amend->box_end;
  amend->found = amend->chunk_rows;
  *done = true;
  return SCREE_OK;
}

/* The same by cells. */
static Status search_cells(Core *core, CellGrid *grid, Amend *amend, float cell, NeighborList *found) {
  Points queries = {amend->movers.count, amend->x, amend->y, amend->z, NULL};
  TRY(cell_grid_hash(core, grid, amend->points, cell));
  TRY(neighbor_list_build(core, grid, queries, amend->points, amend->reach, amend->radius ? amend->query_radius : NULL,
                          amend->radius, found));
  amend->row = found->start;
  amend->row_end = found->start + 1;
  amend->found = found->index;
  return SCREE_OK;
}

static Status amend_rows(Core *core, Scratch *scratch, CellGrid *grid, Amend *amend, float cell, NeighborList *found) {
  int64_t movers = amend->movers.count, entries = 0;
  TRY(take_room(core, scratch, amend));
  parallel_for(core, 0, amend->points.count, UPKEEP_CHUNK, clear_chunk, amend);
  parallel_for(core, 0, movers, MOVERS_CHUNK, take_movers, amend);
  parallel_for(core, 0, movers, MOVERS_CHUNK, touch_old, amend);
  bool done = false;
  TRY(search_boxes(core, scratch, amend, &done));
  if (!done) TRY(search_cells(core, grid, amend, cell, found));
  for (int64_t m = 0; m < movers; m++) entries += amend->row_end[m] - amend->row[m];
  TRY(scratch_take(core, scratch, &amend->next, entries, "amended rows"));
  TRY(scratch_take(core, scratch, &amend->from, entries, "amended rows"));
  chain_rows(amend);
  return rewrite(core, scratch, amend);
}

Status neighbor_list_amend(Core *core, Scratch *scratch, CellGrid *grid, Points points, float cell, float reach,
                           const float *radius, Movers movers, NeighborList *found, NeighborList *list) {
  Amend amend = {.points = points, .radius = radius, .movers = movers, .list = list, .reach = reach};
  int mark = scratch_mark(scratch);
  Status status = amend_rows(core, scratch, grid, &amend, cell, found);
  scratch_release(core, scratch, mark);
  if (status != SCREE_OK) list->count = list->entries = 0;
  return status;
}
