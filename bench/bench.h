/* Benchmarks: suites fill a table, the table prints itself and writes JSON.
 *
 *   static Status suite(Core *core, BenchTable *table) {
 *     return bench_row(core, table, (BenchRow){.name = "1M points", .ours = 41, .reference = 155, .unit = "ns"});
 *   }
 *
 * A reference is a figure of another program, of a paper or of another way to do the same, never what is wanted: that
 * is in bench/targets.json. It is NaN or 0 where there is none. The ratio is ours / reference: below 1 is faster (or
 * smaller) when the unit is a time (or a size). */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdio.h>

#include "core/core.h"

enum { BENCH_NAME_MAX = 64, BENCH_NOTE_MAX = 160 };

typedef struct BenchRow {
  char name[BENCH_NAME_MAX];
  double ours, reference;
  const char *unit;          /* a string literal */
  char note[BENCH_NOTE_MAX]; /* what is measured, or what the reference is; may be empty */
} BenchRow;

/* A figure of the whole suite. */
typedef struct BenchFigure {
  const char *name; /* a string literal */
  double value;
} BenchFigure;
enum { BENCH_FIGURES_MAX = 8 };

typedef struct BenchTable {
  const char *suite;
  const char *method; /* NULL, or the only one that is to be measured */
  const char *device; /* of the suite `device` */
  const char *only;   /* NULL, or a part of the names of the rows that are wanted */
  BenchRow *rows;
  int64_t count;
  BenchFigure figures[BENCH_FIGURES_MAX];
  int figure_count;
  int threads;        /* of --threads: suites compare so many with one */
  bool quick;         /* everything is only tried out, as a test does: figures say nothing */
  const char *counts; /* which of several measurements a figure is: "the shortest of 7 runs"; a string literal */
  FILE *progress;     /* NULL, or where rows are also told one by one while the suite goes */
} BenchTable;

/* How often, or how much of something: `all`, or `few` where everything is only tried out. */
static inline int64_t bench_amount(const BenchTable *table, int64_t all, int64_t few) {
  return table->quick ? few : all;
}
/* One thread and table->threads, or one alone; the words are "1 thread", "2 threads". */
static inline int bench_thread_counts(const BenchTable *table) { return table->threads > 1 ? 2 : 1; }
typedef struct BenchWords {
  char text[24];
} BenchWords;
BenchWords bench_threads(int threads);

/* Whether a row of that name is: what takes long is not measured for nobody. */
bool bench_wants(const BenchTable *table, const char *name);
bool bench_wants_any(const BenchTable *table, const char *const *names, int count);
/* Rows that nobody wants are left out. */
Status bench_row(Core *core, BenchTable *table, BenchRow row);
/* Stands beside the rows in the JSON and below them in print. */
void bench_figure(BenchTable *table, const char *name, double value);
/* NaN without a reference. */
double bench_ratio(const BenchRow *row);
void bench_table_print(const BenchTable *table, FILE *file);
/* {"suite": ..., "threads", "counts", <figures>, "rows": [{"name", "ours", "reference", "ratio", "unit", "note"}]};
 * null for what there is not. The file appears under its name only when complete. */
Status bench_table_write(Core *core, const BenchTable *table, const char *path);
void bench_table_destroy(Core *core, BenchTable *table);

/* The suites. `core` gives memory limit and SIMD level; suites that vary the threads make cores of their own. */
Status bench_upsample(Core *core, BenchTable *table); /* the fine grains' part of sommer */
Status bench_neighbors(Core *core, BenchTable *table);
Status bench_dem(Core *core, BenchTable *table);      /* bench_exchange in it */
Status bench_exchange(Core *core, BenchTable *table); /* terrain on against off */
Status bench_holz(Core *core, BenchTable *table);
Status bench_neder(Core *core, BenchTable *table);
Status bench_geometry(Core *core, BenchTable *table);
Status bench_sommer(Core *core, BenchTable *table); /* the coarse part, then bench_upsample */
Status bench_narain(Core *core, BenchTable *table); /* whole scenes: takes many minutes */
Status bench_scaling(Core *core, BenchTable *table);
Status bench_crew(Core *core, BenchTable *table); /* `threads` */
Status bench_sampling(Core *core, BenchTable *table);
Status bench_start(Core *core, BenchTable *table);
Status bench_render(Core *core, BenchTable *table);
Status bench_frames(Core *core, BenchTable *table);
Status bench_device(Core *core, BenchTable *table);

#endif
