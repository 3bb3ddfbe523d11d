/* Heaps poured slowly from a small disc, and fast. */
#include <math.h>
#include <stdio.h>

#include "app/validate/law.h"
#include "app/validate/measure.h"

enum { HEAP_SEEDS = 5, HEAP_ANGLES = 4 };
static const double heap_angles[HEAP_ANGLES] = {20, 27, 33, 40};
#define HEAP_FAST_ANGLE 30
#define HEAP_RADIUS 0.01

static int64_t heap_grains(Level level) { return level == LEVEL_FINE ? 12000 : level == LEVEL_COARSE ? 3000 : 1000; }

/* Seconds that a heap takes on one core, roughly. */
static double heap_cost(const Plan *plan) {
  double size = (double)heap_grains(plan->level) / 3000, each = 6;
  if (plan->method[0] == 'd') each = 70;
  if (plan->method[0] == 's') each = 28;
  return each * pow(size, 5.0 / 3);
}

static void heap_plan(Plan *plan) {
  int seeds = plan->level == LEVEL_QUICK ? 1 : HEAP_SEEDS;
  for (int k = plan->level == LEVEL_QUICK ? 2 : 0; k < (plan->level == LEVEL_QUICK ? 3 : HEAP_ANGLES); k++)
    for (int seed = 1; seed <= seeds; seed++)
      plan_run(plan, heap_angles[k], seed, heap_cost(plan), "%.0f deg, seed %d", heap_angles[k], seed);
}

static void heap_fast_plan(Plan *plan) {
  int seeds = plan->level == LEVEL_QUICK ? 1 : HEAP_SEEDS;
  for (int seed = 1; seed <= seeds; seed++)
    plan_run(plan, HEAP_FAST_ANGLE, seed, heap_cost(plan) / 3, "%d deg, seed %d", HEAP_FAST_ANGLE, seed);
}

typedef ScreeStatus HeapMeasure(const Trial *trial, int64_t grains, double *angle_deg, ScreeError *error);

static ScreeStatus heap_run_as(Run *run, HeapMeasure *measure, ScreeError *error) {
  char material[64];
  snprintf(material, sizeof material, "friction_angle_deg: %g", run->parameter);
  Trial trial = run_trial(run, material, HEAP_RADIUS);
  ScreeStatus status = measure(&trial, heap_grains(run->level), &run->values[0], error);
  if (status == SCREE_OK) run_point(run, run->parameter, run->values[0]);
  return status;
}
static ScreeStatus heap_run(Run *run, ScreeError *error) { return heap_run_as(run, heap_measure, error); }
static ScreeStatus heap_fast_run(Run *run, ScreeError *error) { return heap_run_as(run, heap_measure_fast, error); }

/* One row for each angle: the runs of an angle follow each other. */
static void heap_judge_with(Rows *rows, const char *method, Run *const *runs, int count, double below, double above) {
  for (int first = 0, next; first < count; first = next) {
    double angles[HEAP_SEEDS], asked = runs[first]->parameter;
    for (next = first; next < count && runs[next]->parameter == asked; next++)
      angles[next - first] = runs[next]->values[0];
    Spread spread = spread_of(angles, next - first);
    double more = asked == 40 ? 1 : 0;
    Row row = {.law = runs[first]->law,
               .method = method,
               .measured = spread.mean,
               .expected = asked,
               .low = asked - below - more,
               .high = asked + above + more,
               .unit = "deg"};
    snprintf(row.label, sizeof row.label, "asked %.0f", asked);
    snprintf(row.note, sizeof row.note, "mean of %d, +-%.1f for one", next - first, spread.deviation);
    rows_add(rows, row);
  }
}
static void heap_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  heap_judge_with(rows, method, runs, count, 2, 2);
}
static void heap_fast_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  heap_judge_with(rows, method, runs, count, 5, 2);
}

static double heap_curve(double asked) { return asked; }

const Law LAW_heap = {.name = "heap",
                      .title = "A heap poured slowly stands at the angle asked for",
                      .reference = "the definition of the angle of repose",
                      .band = "asked 20, 27, 33: +-2 deg; 40: +-3 deg; mean of 5 seeds",
                      .scene = "3,000 grains (fine: 12,000) of 2 cm poured on a rough floor from a disc of radius 3 "
                               "diameters that stays 6 diameters over the heap, 4 grains (fine: 6.3) per "
                               "sqrt(diameter/g)",
                      .measure = "probe repose_angle 40 sqrt(diameter/g) after the last grain: line through the free "
                                 "surface between 15 and 85 % of its height",
                      .x_label = "asked, deg",
                      .y_label = "measured, deg",
                      .curve = heap_curve,
                      .plan = heap_plan,
                      .run = heap_run,
                      .judge = heap_judge};

const Law LAW_heap_fast = {.name = "heap_fast",
                           .title = "A heap poured fast and from high stands a little flatter at most",
                           .reference = "the definition of the angle of repose",
                           .band = "asked 30: -5 to +2 deg; mean of 5 seeds",
                           .scene = "as heap, from 20 diameters over the floor, three times as fast",
                           .measure = "as heap",
                           .x_label = "asked, deg",
                           .y_label = "measured, deg",
                           .curve = heap_curve,
                           .plan = heap_fast_plan,
                           .run = heap_fast_run,
                           .judge = heap_fast_judge};
