/* Storage order: a tree of boxes. The grains are cut along the longest side of the box round them into parts that fill
 * whole clusters of blocks, then blocks, then groups of eight: all are as compact as the cloud lets them be. (A
 * space-filling curve through cells leaves and enters the cloud at its surface again and again: a quarter of its blocks
 * lay in pieces.) Results do not depend on the order. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/portable.h"
#include "upsample/internal.h"
#include "upsample/order_kernels.h"

enum {
  BINS = 1024,
  PARTS = 8,
  LEVELS = 2,
  NODES = PARTS * PARTS,
  ORDER_CHUNK = 16384,
  CLUSTER = FINE_CLUSTER * FINE_BLOCK
};

typedef struct Order {
  const Core *core;
  const FineGrains *grains;
  FinePlace *places, *other;
  int32_t *order;
  int64_t nodes[NODES + 1]; /* where each begins */
} Order;

/* Of `bins` bins; low and high are those of all values, so that only rounding and NaN need to be held. */
static int32_t bin_of(float value, float low, float scale, int32_t bins) {
  float at = (value - low) * scale;
  return !(at > 0) ? 0 : at < (float)bins ? (int32_t)at : bins - 1;
}

typedef struct Cut {
  int axis;
  float low, high;
} Cut;

static Cut longest_side(const Core *core, const FinePlace *places, int64_t count, float side[3]) {
  float bounds[6];
  KERNEL_CALL(core, order_range)(places, count, bounds);
  for (int k = 0; k < 3; k++) side[k] = bounds[3 + k] - bounds[k];
  int axis = side[0] >= side[1] && side[0] >= side[2] ? 0 : side[1] >= side[2] ? 1 : 2;
  return (Cut){axis, bounds[axis], bounds[3 + axis]};
}

/* A bin that borders between parts fall into. */
typedef struct Border {
  int64_t begin, end;
  int part; /* before the first of them */
} Border;

/* Which part each bin belongs to, as 2 p, or 2 p + 1 where the border behind part p is in it; next[kind] = where grains
 * of that kind begin. Returns the number of bins with borders. */
static int share_bins(const uint32_t *histogram, int32_t bins, int parts, const int64_t *ends, uint8_t *kind,
                      int64_t next[2 * PARTS], Border borders[PARTS]) {
  int64_t before = 0;
  int part = 0, count = 0, last = -1;
  for (int32_t bin = 0; bin < bins; bin++) {
    int64_t behind = before + histogram[bin];
    while (part < parts - 1 && ends[part] <= before) part++;
    bool cuts = part < parts - 1 && ends[part] < behind;
    kind[bin] = (uint8_t)(2 * part + cuts);
    if (kind[bin] != last) next[kind[bin]] = before;
    last = kind[bin];
    if (cuts) borders[count++] = (Border){before, behind, part};
    before = behind;
  }
  return count;
}

/* Moves grains so that part p is [ends[p - 1], ends[p]) along the axis, by a histogram: whole bins go to their part,
 * and the bins that a border cuts lie between the parts and are looked at again. */
static void split(const Order *order, int64_t first, int64_t count, int parts, const int64_t *ends, Cut cut) {
  FinePlace *places = order->places + first, *other = order->other + first;
  if (count <= ORDER_FEW && parts == 2) {
    KERNEL_CALL(order->core, order_split_few)(places, count, ends[0], cut.axis);
    return;
  }
  if (!(cut.high > cut.low)) return; /* equal, or not finite */
  int32_t bins = count < 8 * BINS ? BINS / 8 : BINS;
  uint32_t histogram[BINS];
  uint8_t kind[BINS];
  int64_t next[2 * PARTS];
  Border borders[PARTS];
  float scale = (float)bins / (cut.high - cut.low);
  memset(histogram, 0, sizeof *histogram * (size_t)bins);
  for (int64_t i = 0; i < count; i++) histogram[bin_of(places[i].at[cut.axis], cut.low, scale, bins)]++;
  int cuts = share_bins(histogram, bins, parts, ends, kind, next, borders);
  for (int64_t i = 0; i < count; i++)
    other[next[kind[bin_of(places[i].at[cut.axis], cut.low, scale, bins)]]++] = places[i];
  memcpy(places, other, sizeof *places * (size_t)count);
  for (int k = 0; k < cuts; k++) {
    Border at = borders[k];
    for (int p = at.part; p < parts - 1 && ends[p] < at.end; p++) {
      float bounds[6];
      KERNEL_CALL(order->core, order_range)(places + at.begin, at.end - at.begin, bounds);
      split(order, first + at.begin, at.end - at.begin, 2, (const int64_t[]){ends[p] - at.begin, at.end - at.begin},
            (Cut){cut.axis, bounds[cut.axis], bounds[3 + cut.axis]});
      at.begin = ends[p];
    }
  }
}

/* Cuts a node into parts of whole clusters, blocks or groups, as many as would be about as thick as what they are made
 * of. ends[p] = end of part p, from 0. Returns how many. */
static int split_node(const Order *order, int64_t first, int64_t count, int64_t ends[PARTS]) {
  int64_t unit = count > CLUSTER ? CLUSTER : count > FINE_BLOCK ? FINE_BLOCK : LANES, units = (count + unit - 1) / unit;
  int parts = 1;
  ends[0] = count;
  if (units < 2) return 1;
  float side[3];
  Cut cut = longest_side(order->core, order->places + first, count, side);
  parts = 2;
  if (unit > LANES) {
    float thick = (float)portable_cbrt((double)(side[0] * side[1] * side[2] / (float)units)),
          wanted = roundf(side[cut.axis] / thick);
    parts = wanted >= PARTS ? PARTS : wanted > 2 ? (int)wanted : 2; /* also where it is not finite */
  }
  if (parts > units) parts = (int)units;
  for (int p = 0; p < parts; p++) ends[p] = p + 1 < parts ? units * (p + 1) / parts * unit : count;
  split(order, first, count, parts, ends, cut);
  return parts;
}

static void split_down(const Order *order, int64_t first, int64_t count) {
  int64_t ends[PARTS], begin = 0;
  if (count <= LANES) return;
  int parts = split_node(order, first, count, ends);
  for (int p = 0; p < parts; begin = ends[p++]) split_down(order, first + begin, ends[p] - begin);
}

/* The parts of a node k are the nodes PARTS k .. of the next level; those that are missing are empty. */
typedef struct Level {
  const Order *order;
  const int64_t *nodes;
  int64_t *next;
} Level;

static void level_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Level *level = context;
  for (int64_t k = b; k < e; k++) {
    int64_t first = level->nodes[k], count = level->nodes[k + 1] - first, ends[PARTS];
    int parts = count > 0 ? split_node(level->order, first, count, ends) : 0;
    for (int p = 0; p < PARTS; p++)
      level->next[PARTS * k + p] = p == 0 ? first : p - 1 < parts ? first + ends[p - 1] : first + count;
  }
}

static void down_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Order *order = context;
  for (int64_t k = b; k < e; k++) split_down(order, order->nodes[k], order->nodes[k + 1] - order->nodes[k]);
}

static void places_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Order *order = context;
  const FineGrains *g = order->grains;
  for (int64_t i = b; i < e; i++) order->places[i] = (FinePlace){{g->x[i], g->y[i], g->z[i]}, (int32_t)i};
}

static void order_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Order *order = context;
  for (int64_t i = b; i < e; i++) order->order[i] = order->places[i].index;
}

static Status sort_grains(Core *core, Upsample *up, Scratch *scratch) {
  int64_t count = up->grains.count, next[NODES + 1], nodes = 1;
  Order order = {.core = core, .grains = &up->grains, .nodes = {0, count}};
  TRY(scratch_take(core, scratch, &order.order, count, "order of fine grains"));
  int mark = scratch_mark(scratch);
  TRY(scratch_take(core, scratch, &order.places, count, "places"));
  TRY(scratch_take(core, scratch, &order.other, count, "places"));
  parallel_for(core, 0, count, ORDER_CHUNK, places_chunk, &order);
  for (int depth = 0; depth < LEVELS; depth++, nodes *= PARTS) {
    Level level = {&order, order.nodes, next};
    parallel_for(core, 0, nodes, 1, level_chunk, &level);
    next[PARTS * nodes] = count;
    memcpy(order.nodes, next, sizeof *next * (size_t)(PARTS * nodes + 1));
  }
  parallel_for(core, 0, nodes, 1, down_chunk, &order);
  parallel_for(core, 0, count, ORDER_CHUNK, order_chunk, &order);
  scratch_release(core, scratch, mark);
  return fine_permute(core, up, scratch, order.order, count, 0);
}

Status fine_sort(Core *core, Upsample *up, Scratch *scratch) {
  int mark = scratch_mark(scratch);
  Status status = sort_grains(core, up, scratch);
  scratch_release(core, scratch, mark);
  fine_sorted(up);
  return status;
}

void fine_sorted(Upsample *up) {
  up->storage.unsorted = false;
  up->storage.effort_sorted = up->storage.effort_wasted = 0;
}
