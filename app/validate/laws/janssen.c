/* A tall cylinder: its wall bears all but a fixed load. */
#include <math.h>
#include <stdio.h>

#include "app/validate/law.h"
#include "app/validate/measure.h"

#define JANSSEN_RADIUS 0.01
#define JANSSEN_WALL 0.5 /* friction of the sand on the wall */
/* Times in sqrt(diameter / g): the fill settles, the floor goes down by a diameter, the load is read. */
enum { JANSSEN_SETTLE = 40, JANSSEN_LOWER = 80, JANSSEN_READ = 20 };
static const double janssen_fills[] = {2, 4, 6, 8}; /* in diameters of the cylinder */
enum { JANSSEN_FILLS = sizeof janssen_fills / sizeof *janssen_fills, JANSSEN_LOAD = 0, JANSSEN_WEIGHT };

static double janssen_width(Level level) { return level == LEVEL_FINE ? 20 : level == LEVEL_COARSE ? 12 : 6; }

static void janssen_plan(Plan *plan) {
  double width = janssen_width(plan->level);
  for (int k = 0; k < JANSSEN_FILLS; k++)
    plan_run(plan, janssen_fills[k], 1, method_cost(plan->method) * janssen_fills[k] * pow(width, 3) / 2000,
             "fill of %g", janssen_fills[k]);
}

static ScreeStatus janssen_run(Run *run, ScreeError *error) {
  Trial trial = run_trial(run, LAW_SAND, JANSSEN_RADIUS);
  double d = 2 * trial.radius, wide = janssen_width(run->level) * d, high = run->parameter * wide;
  double tick = trial_tick(&trial), load = 0;
  /* Friction of two materials is sqrt(mu_1 mu_2). */
  double wall = JANSSEN_WALL * JANSSEN_WALL / tan(LAW_ANGLE_DEG * M_PI / 180);
  ScreeWorld *world = NULL;
  ScreeStatus status = trial_world(
      &trial, &world, error,
      "frame_rate: %.9g\n"
      "grains:\n  - {fill: {cylinder: {base: [0, 0, 0], radius: %.9g, height: %.9g}}, start: dense}\n"
      "boundaries:\n  - {name: wall, cylinder: {base: [0, 0, %.9g], radius: %.9g, height: %.9g}, inside: true,"
      " friction_static: %.9g, friction_kinetic: %.9g}\n"
      "bodies:\n  - {name: floor, box: {size: [%.9g, %.9g, %.9g]}, motion: keyframes, keys: ["
      "{t: %.9g, position: [0, 0, %.9g]}, {t: %.9g, position: [0, 0, %.9g]}]}\n"
      "probes:\n  - {name: load, kind: force_on, target: floor}\n",
      1 / tick, wide / 2, high, -wide, wide / 2, 2 * high + 2 * wide, wall, wall, 2 * wide, 2 * wide, wide / 2,
      JANSSEN_SETTLE * tick, -wide / 4, (JANSSEN_SETTLE + JANSSEN_LOWER) * tick, -wide / 4 - d);
  if (status == SCREE_OK) status = trial_seconds(&trial, world, (JANSSEN_SETTLE + JANSSEN_LOWER) * tick, error);
  for (int k = 0; k < JANSSEN_READ && status == SCREE_OK; k++) {
    status = trial_frame(&trial, world, error);
    load -= trial_probe(world, 1, 2) / JANSSEN_READ;
  }
  if (status == SCREE_OK) {
    ScreeStatistics statistics;
    scree_world_statistics(world, &statistics);
    double section = TRIAL_DENSITY * TRIAL_GRAVITY * M_PI / 4 * wide * wide * wide; /* weight of a fill of 1 */
    run->values[JANSSEN_LOAD] = load / section;
    run->values[JANSSEN_WEIGHT] = statistics.mass_final * TRIAL_GRAVITY / section;
    run_point(run, run->values[JANSSEN_WEIGHT], run->values[JANSSEN_LOAD]);
  }
  scree_world_destroy(world);
  return status;
}

static void janssen_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  double weight[JANSSEN_FILLS], load[JANSSEN_FILLS];
  for (int k = 0; k < count; k++) {
    weight[k] = runs[k]->values[JANSSEN_WEIGHT];
    load[k] = runs[k]->values[JANSSEN_LOAD];
  }
  Saturation best = saturation_of(weight, load, count);
  double sine = sin(LAW_ANGLE_DEG * M_PI / 180), k = 1 / (4 * JANSSEN_WALL * best.length);
  rows_add(rows, (Row){.law = runs[0]->law,
                       .method = method,
                       .label = "saturates",
                       .measured = (load[count - 1] - load[count - 2]) / (weight[count - 1] - weight[count - 2]),
                       .expected = 0,
                       .low = -0.1,
                       .high = 0.1,
                       .unit = "of more weight"});
  Row fit = {.law = runs[0]->law,
             .method = method,
             .label = "one length fits all",
             .measured = 100 * best.strays,
             .expected = 0,
             .low = 0,
             .high = 15,
             .unit = "%"};
  snprintf(fit.note, sizeof fit.note, "length %.2f diameters", best.length);
  rows_add(rows, fit);
  rows_add(rows, (Row){.law = runs[0]->law,
                       .method = method,
                       .label = "K",
                       .measured = k,
                       .expected = NAN,
                       .low = (1 - sine) / (1 + sine),
                       .high = 1,
                       .unit = "1"});
}

const Law LAW_janssen = {
    .name = "janssen",
    .title = "The load on the floor of a tall cylinder saturates",
    .reference = "H. A. Janssen, Versuche ueber Getreidedruck in Silozellen, Z. Ver. Dtsch. Ing. 39 (1895) 1045-1049",
    .band = "from 6 to 8 diameters the load grows by less than a tenth of the weight; one length fits all loads within "
            "15 %; its K lies between (1 - sin)/(1 + sin) and 1",
    .scene = "a cylinder 12 diameters wide (fine: 20) with a wall friction of 0.5, filled 2, 4, 6 and 8 times as high; "
             "the floor goes down by a diameter in 80 sqrt(diameter/g)",
    .measure = "mean force on the floor in the 20 sqrt(diameter/g) after that",
    .x_label = "weight / (density g area width)",
    .y_label = "load, the same",
    .plan = janssen_plan,
    .run = janssen_run,
    .judge = janssen_judge};
