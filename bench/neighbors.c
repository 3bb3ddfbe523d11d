/* Sort plus neighbour search: canonical order, the permutation of positions and ids, the grid, full lists out. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/timer.h"
#include "neighbors/neighbors.h"

typedef struct Cloud {
  int64_t count;
  float *x, *y, *z;
  uint32_t *id;
} Cloud;

static Status cloud_create(Core *core, Cloud *cloud, int64_t count) {
  cloud->count = count;
  TRY(memory_new(core, &cloud->x, count, "benchmark"));
  TRY(memory_new(core, &cloud->y, count, "benchmark"));
  TRY(memory_new(core, &cloud->z, count, "benchmark"));
  return memory_new(core, &cloud->id, count, "benchmark");
}

static void cloud_destroy(Core *core, Cloud *cloud) {
  memory_drop(core, &cloud->x);
  memory_drop(core, &cloud->y);
  memory_drop(core, &cloud->z);
  memory_drop(core, &cloud->id);
}

static Points cloud_points(const Cloud *cloud) {
  return (Points){cloud->count, cloud->x, cloud->y, cloud->z, cloud->id};
}

static double uniform(int64_t i, int axis) { return rng_unit(rng_bits(1, (uint64_t)i, (uint64_t)axis, RNG_TEST)); }

/* Uniformly random in a cube of one point per unit volume, in no order. */
static void fill_random(Cloud *cloud) {
  double size = cbrt((double)cloud->count);
  for (int64_t i = 0; i < cloud->count; i++) {
    cloud->x[i] = (float)(size * uniform(i, 0));
    cloud->y[i] = (float)(size * uniform(i, 1));
    cloud->z[i] = (float)(size * uniform(i, 2));
    cloud->id[i] = (uint32_t)i + 1;
  }
}

#define PACKING 0.6
#define JITTER 0.1 /* radii */

/* Spheres of radius 1 at solid fraction 0.6: a face-centred lattice, every site moved a little at random, sites stored
 * in random order (shuffled) or row by row. */
static void fill_packing(Cloud *cloud, bool shuffled) {
  static const double corner[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  double lattice = cbrt(4 * 4.0 / 3.0 * M_PI / PACKING);
  int64_t side = (int64_t)ceil(cbrt((double)cloud->count / 4.0) - 1e-9);
  for (int64_t i = 0; i < cloud->count; i++) {
    int64_t cube = i / 4;
    const double *offset = corner[i % 4];
    double jitter[3];
    for (int axis = 0; axis < 3; axis++) jitter[axis] = JITTER * (2 * uniform(i, axis) - 1);
    cloud->x[i] = (float)(lattice * ((double)(cube % side) + offset[0]) + jitter[0]);
    cloud->y[i] = (float)(lattice * ((double)(cube / side % side) + offset[1]) + jitter[1]);
    cloud->z[i] = (float)(lattice * ((double)(cube / side / side) + offset[2]) + jitter[2]);
    cloud->id[i] = (uint32_t)i + 1;
  }
  for (int64_t i = cloud->count - 1; shuffled && i > 0; i--) {
    int64_t k = (int64_t)(rng_bits(2, (uint64_t)i, 0, RNG_TEST) % (uint64_t)(i + 1));
    float *fields[3] = {cloud->x, cloud->y, cloud->z};
    for (int axis = 0; axis < 3; axis++) {
      float swap = fields[axis][i];
      fields[axis][i] = fields[axis][k];
      fields[axis][k] = swap;
    }
    uint32_t swap = cloud->id[i];
    cloud->id[i] = cloud->id[k];
    cloud->id[k] = swap;
  }
}

typedef struct Permutation {
  const Cloud *from;
  Cloud *to;
  const int32_t *order;
} Permutation;

static void permute_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Permutation *p = context;
  for (int64_t k = b; k < e; k++) p->to->x[k] = p->from->x[p->order[k]];
  for (int64_t k = b; k < e; k++) p->to->y[k] = p->from->y[p->order[k]];
  for (int64_t k = b; k < e; k++) p->to->z[k] = p->from->z[p->order[k]];
  for (int64_t k = b; k < e; k++) p->to->id[k] = p->from->id[p->order[k]];
}

/* Nanoseconds per point of each phase, best of several. */
typedef struct Timing {
  double order, permute, build, lists, total;
  double neighbors; /* per point */
} Timing;

typedef struct Case {
  Cloud cloud, sorted;
  int32_t *order;
  CellGrid *grid;
  NeighborList list;
} Case;

static Status search_once(Core *core, Case *c, float reach, Timing *timing) {
  double scale = 1e9 / (double)c->cloud.count, t0 = timer_now();
  TRY(cell_grid_order(core, c->grid, NULL, cloud_points(&c->cloud), reach, c->order));
  double t1 = timer_now();
  Permutation permutation = {&c->cloud, &c->sorted, c->order};
  parallel_for(core, 0, c->cloud.count, 4096, permute_chunk, &permutation);
  double t2 = timer_now();
  Points points = cloud_points(&c->sorted);
  TRY(cell_grid_build(core, c->grid, points, reach));
  double t3 = timer_now();
  TRY(neighbor_list_build(core, c->grid, points, points, reach, NULL, NULL, &c->list));
  double t4 = timer_now();
  timing->neighbors = (double)c->list.entries / (double)c->list.count;
  if (timing->total != 0 && (t4 - t0) * scale >= timing->total) return SCREE_OK;
  timing->order = (t1 - t0) * scale;
  timing->permute = (t2 - t1) * scale;
  timing->build = (t3 - t2) * scale;
  timing->lists = (t4 - t3) * scale;
  timing->total = (t4 - t0) * scale;
  return SCREE_OK;
}

static Status search_repeat(Core *core, Case *c, float reach, Timing *timing) {
  enum { REPEATS_MIN = 4, REPEATS_MAX = 40 };
  double began = timer_now();
  memset(timing, 0, sizeof *timing);
  TRY(search_once(core, c, reach, timing)); /* pages and sizes settle */
  timing->total = 0;
  for (int k = 0; k < REPEATS_MAX && (k < REPEATS_MIN || timer_now() - began < 1.5); k++)
    TRY(search_once(core, c, reach, timing));
  return SCREE_OK;
}

typedef enum Arrangement { RANDOM, SHUFFLED_PACKING, SETTLED_PACKING } Arrangement;

static Status case_fill(Core *core, Case *c, Arrangement arrangement, int64_t count, float reach) {
  TRY(cloud_create(core, &c->cloud, count));
  TRY(cloud_create(core, &c->sorted, count));
  TRY(memory_new(core, &c->order, count, "benchmark"));
  TRY(cell_grid_create(core, &c->grid));
  if (arrangement == RANDOM) fill_random(&c->cloud);
  else fill_packing(&c->cloud, arrangement == SHUFFLED_PACKING);
  if (arrangement != SETTLED_PACKING) return SCREE_OK;
  /* As in a run: in the order of a while ago, moved a little since. */
  TRY(cell_grid_order(core, c->grid, NULL, cloud_points(&c->cloud), reach, c->order));
  Permutation permutation = {&c->cloud, &c->sorted, c->order};
  permute_chunk(&permutation, 0, count, 0);
  Cloud swap = c->cloud;
  c->cloud = c->sorted;
  c->sorted = swap;
  for (int64_t i = 0; i < count; i++) c->cloud.x[i] += (float)(JITTER * uniform(i, 5));
  return SCREE_OK;
}

static Status case_run(const Core *like, int threads, Arrangement arrangement, int64_t count, float reach,
                       Timing *timing, Core *report) {
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = threads;
  options.baseline_simd = like->baseline_simd;
  options.memory_limit = memory_left(&like->memory);
  Core core;
  Status status = core_create(&core, &options);
  Case c = {.order = NULL};
  if (status == SCREE_OK) status = case_fill(&core, &c, arrangement, count, reach);
  if (status == SCREE_OK) status = search_repeat(&core, &c, reach, timing);
  if (status != SCREE_OK) fail(report, status, "%s", core.error.message);
  neighbor_list_destroy(&core, &c.list);
  cell_grid_destroy(&core, c.grid);
  memory_drop(&core, &c.order);
  cloud_destroy(&core, &c.cloud);
  cloud_destroy(&core, &c.sorted);
  core_destroy(&core);
  return status;
}

static Status timing_row(Core *core, BenchTable *table, const char *name, const Timing *t, double reference,
                         const char *remark) {
  BenchRow row = {.ours = t->total, .reference = reference, .unit = "ns/particle"};
  snprintf(row.name, sizeof row.name, "%s", name);
  snprintf(row.note, sizeof row.note, "order %.1f permute %.1f build %.1f lists %.1f; %.1f neighbours%s%s", t->order,
           t->permute, t->build, t->lists, t->neighbors, *remark ? "; " : "", remark);
  return bench_row(core, table, row);
}

enum { BYTES_PER_POINT = 160 }; /* of a case, to know beforehand what fits */

static Status packing_rows(Core *core, BenchTable *table, Arrangement arrangement, int threads) {
  static const int64_t counts[] = {10000, 100000, 1000000, 10000000};
  static const char *const words[] = {"10k", "100k", "1M", "10M"};
  double least = INFINITY, most = 0;
  for (int k = 0; k < (int)bench_amount(table, 4, 1); k++) {
    char name[BENCH_NAME_MAX];
    if (counts[k] * BYTES_PER_POINT > memory_left(&core->memory)) break;
    if (threads == 1 && counts[k] > 1000000) break;
    snprintf(name, sizeof name, "packing 0.6, %s, %s, %s", words[k],
             arrangement == SHUFFLED_PACKING ? "shuffled" : "as in a run", bench_threads(threads).text);
    Timing timing;
    TRY(case_run(core, threads, arrangement, counts[k], 2.2f, &timing, core));
    TRY(timing_row(core, table, name, &timing, 0, ""));
    if (counts[k] < 100000) continue;
    least = fmin(least, timing.total);
    most = fmax(most, timing.total);
  }
  if (threads == 1 || most == 0) return SCREE_OK;
  BenchRow row = {.ours = most / least, .unit = "slowest/fastest"};
  snprintf(row.name, sizeof row.name, "packing 0.6, %s, flatness from 100k up",
           arrangement == SHUFFLED_PACKING ? "shuffled" : "as in a run");
  return bench_row(core, table, row);
}

/* Figures of other programs for a million random points, two threads, lists out. They were measured once, on a machine
 * with two cores whose kind was not written down: the ratio is a hint. */
#define COMPACT_NSEARCH 1070.0
#define TREE_NSEARCH 155.0

static Status random_rows(Core *core, BenchTable *table) {
  const int64_t count = bench_amount(table, 1000000, 10000);
  static const double neighbors[] = {6.4, 30}; /* as of grains that touch; as of a smoothing kernel */
  for (int k = 0; k < 2; k++) {
    float reach = (float)cbrt(neighbors[k] * 3 / (4 * M_PI));
    for (int t = 0; t < bench_thread_counts(table); t++) {
      int threads = t ? table->threads : 1;
      char name[BENCH_NAME_MAX];
      Timing timing;
      TRY(case_run(core, threads, RANDOM, count, reach, &timing, core));
      snprintf(name, sizeof name, "random 1M, %.0f neighbours, %s", neighbors[k], bench_threads(threads).text);
      if (threads != 2) { /* the others ran on two */
        TRY(timing_row(core, table, name, &timing, 0, ""));
        continue;
      }
      TRY(timing_row(core, table, name, &timing, TREE_NSEARCH, "against TreeNSearch, once, on some two cores"));
      TRY(timing_row(core, table, name, &timing, COMPACT_NSEARCH, "against CompactNSearch, once, on some two cores"));
    }
  }
  return SCREE_OK;
}

Status bench_neighbors(Core *core, BenchTable *table) {
  table->counts = "the shortest of 4 to 40 searches";
  TRY(packing_rows(core, table, SHUFFLED_PACKING, 1));
  if (table->threads > 1) TRY(packing_rows(core, table, SHUFFLED_PACKING, table->threads));
  if (table->threads > 1) TRY(packing_rows(core, table, SETTLED_PACKING, table->threads));
  return random_rows(core, table);
}
