/* Axisymmetric collapse: runout and its time. */
#include <math.h>
#include <stdio.h>

#include "app/validate/law.h"

static const double collapse_aspects[] = {0.6, 1.2, 3, 6};
enum { COLLAPSE_ASPECTS = sizeof collapse_aspects / sizeof *collapse_aspects };
#define COLLAPSE_RADIUS 0.01

/* r0. Deposits end in an edge of a few grains, whatever their size is: low columns, which do not run as far as high
 * ones, are wider, so that it is a small part of them too. */
static double collapse_diameters(Level level, double aspect) {
  return level == LEVEL_FINE ? 30 : level == LEVEL_QUICK ? 8 : aspect < 1.7 ? 20 : 15;
}

static void collapse_plan(Plan *plan) {
  double each = plan->method[0] == 'd' ? 21 : plan->method[0] == 's' ? 12 : 4;
  for (int k = 0; k < COLLAPSE_ASPECTS; k++) {
    double aspect = collapse_aspects[k], size = collapse_diameters(plan->level, aspect) / 15;
    if (plan->level != LEVEL_QUICK || aspect == 1.2)
      plan_run(plan, aspect, 1, each * pow(aspect, 1.5) * pow(size, 3.5), "a = %g", aspect);
  }
}

static ScreeStatus collapse_run(Run *run, ScreeError *error) {
  Trial trial = run_trial(run, LAW_SAND, COLLAPSE_RADIUS);
  Collapse collapse;
  double diameters = collapse_diameters(run->level, run->parameter);
  ScreeStatus status = collapse_measure(&trial, run->parameter, diameters, &collapse, error);
  if (status != SCREE_OK) return status;
  run->values[0] = collapse.radius / collapse.start;
  run->values[1] = collapse.reached / collapse.scale;
  for (int64_t k = 0; k < collapse.samples; k++)
    run_point(run, collapse.time[k] / collapse.scale, collapse.radii[k] / collapse.start);
  return status;
}

static void collapse_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  for (int k = 0; k < count; k++) {
    double wanted = collapse_lube(runs[k]->parameter);
    Row radius = {.law = runs[k]->law,
                  .method = method,
                  .measured = runs[k]->values[0],
                  .expected = wanted,
                  .low = 0.85 * wanted,
                  .high = 1.15 * wanted,
                  .unit = "r0"};
    snprintf(radius.label, sizeof radius.label, "a = %g, radius", runs[k]->parameter);
    snprintf(radius.note, sizeof radius.note, "%+.0f %%", 100 * (runs[k]->values[0] / wanted - 1));
    rows_add(rows, radius);
    Row time = {.law = runs[k]->law,
                .method = method,
                .measured = runs[k]->values[1],
                .expected = 3,
                .low = 0.75 * 3,
                .high = 1.25 * 3,
                .unit = "sqrt(h0/g)"};
    snprintf(time.label, sizeof time.label, "a = %g, time", runs[k]->parameter);
    rows_add(rows, time);
  }
}

const Law LAW_collapse = {
    .name = "collapse",
    .title = "A column that is let go runs as far, and for as long, as measured",
    .reference =
        "G. Lube, H. E. Huppert, R. S. J. Sparks, M. A. Hallworth, Axisymmetric collapses of granular columns, "
        "J. Fluid Mech. 508 (2004) 175-199",
    .band = "+-15 % of r0 (1 + 1.24 a) below a = 1.7, of r0 (1 + 1.6 sqrt a) above; 99 % of it at 3 sqrt(h0/g) +-25 %",
    .scene =
        "a dense cylinder of r0 = 20 diameters at a = 0.6 and 1.2, 15 at a = 3 and 6 (fine: 30), h0 = a r0, free at "
        "t = 0 on a rough floor",
    .measure = "rings a diameter (sph, flip: 2 radius) wide, mean thickness = mass / density / area: where the "
               "outermost one that exceeds half a diameter ends, at 8 sqrt(h0/g)",
    .x_label = "t / sqrt(h0/g)",
    .y_label = "radius / r0",
    .plan = collapse_plan,
    .run = collapse_run,
    .judge = collapse_judge};
