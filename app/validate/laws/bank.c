/* A long vertical bank of cohesive sand: stands at half its critical height, falls at twice it. */
#include <math.h>
#include <stdio.h>

#include "app/validate/law.h"

#define BANK_RADIUS 0.01
#define BANK_BACK 1.5                                       /* sand behind the face, in heights */
#define BANK_STRIP 0.2                                      /* of the crest that is measured, in heights */
enum { BANK_SETTLE = 20, BANK_OPEN = 10, BANK_WATCH = 60 }; /* in sqrt(diameter / g) */
static const double bank_shares[] = {0.5, 2};

static double bank_height(Level level) { return level == LEVEL_FINE ? 40 : level == LEVEL_COARSE ? 20 : 10; }

static void bank_plan(Plan *plan) {
  double high = bank_height(plan->level);
  for (int k = 0; k < 2; k++)
    plan_run(plan, bank_shares[k], 1, method_cost(plan->method) * high * high / 80, "at %g H_c", bank_shares[k]);
}

/* Mean thickness of the strip behind the face, as a share of what it was. */
static double bank_crest(const ScreeWorld *world, double high) {
  TrialMass mass = trial_mass(world);
  double sum = 0;
  for (int64_t i = 0; i < mass.particles.count; i++) {
    double x = trial_place(&mass, i).x;
    if (x < 0 && x > -BANK_STRIP * high) sum += trial_mass_of(&mass, i);
  }
  return sum;
}

static ScreeStatus bank_run(Run *run, ScreeError *error) {
  double d = 2 * BANK_RADIUS, high = bank_height(run->level) * d, wide = 8 * d;
  /* H_c = 4 c tan(45 + angle / 2) / (density g) */
  double critical = high / run->parameter, slope = tan((45 + LAW_ANGLE_DEG / 2) * M_PI / 180);
  char material[96];
  snprintf(material, sizeof material, LAW_SAND ", cohesion: %.9g",
           critical * TRIAL_DENSITY * TRIAL_GRAVITY / 4 / slope);
  Trial trial = run_trial(run, material, BANK_RADIUS);
  double tick = trial_tick(&trial), open = BANK_SETTLE * tick;
  ScreeWorld *world = NULL;
  ScreeStatus status =
      trial_world(&trial, &world, error,
                  "frame_rate: %.9g\n"
                  "grains:\n  - {fill: {box: {min: [%.9g, %.9g, 0], max: [0, %.9g, %.9g]}}, start: dense}\n"
                  "boundaries:\n"
                  "  - {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}, " ROUGH "}\n"
                  "  - {name: left, plane: {point: [0, %.9g, 0], normal: [0, 1, 0]}, " SMOOTH "}\n"
                  "  - {name: right, plane: {point: [0, %.9g, 0], normal: [0, -1, 0]}, " SMOOTH "}\n"
                  "  - {name: back, plane: {point: [%.9g, 0, 0], normal: [1, 0, 0]}, " SMOOTH "}\n"
                  "bodies:\n  - {name: gate, box: {size: [%.9g, %.9g, %.9g]}, " SMOOTH ", motion: keyframes, keys: ["
                  "{t: %.9g, position: [%.9g, 0, %.9g]}, {t: %.9g, position: [%.9g, 0, %.9g]}]}\n",
                  1 / tick, -BANK_BACK * high, -wide / 2, wide / 2, high, -wide / 2, wide / 2, -BANK_BACK * high, 4 * d,
                  2 * wide, 4 * high, open, 2 * d, high, open + BANK_OPEN * tick, 4 * high, high);
  if (status == SCREE_OK) status = trial_seconds(&trial, world, open, error);
  double before = status == SCREE_OK ? bank_crest(world, high) : 0;
  for (int k = 0; k < BANK_OPEN + BANK_WATCH && status == SCREE_OK; k++) {
    run_point(run, k, bank_crest(world, high) / before);
    status = trial_frame(&trial, world, error);
  }
  if (status == SCREE_OK) run->values[0] = bank_crest(world, high) / before;
  scree_world_destroy(world);
  return status;
}

static void bank_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  for (int k = 0; k < count; k++) {
    bool stands = runs[k]->parameter < 1;
    Row row = {.law = runs[k]->law,
               .method = method,
               .measured = runs[k]->values[0],
               .expected = stands ? 1 : NAN,
               .low = stands ? 0.9 : 0,
               .high = stands ? 1.1 : 0.75,
               .unit = "of its height"};
    snprintf(row.label, sizeof row.label, stands ? "%g H_c: stands" : "%g H_c: falls", runs[k]->parameter);
    rows_add(rows, row);
  }
}

const Law LAW_bank = {
    .name = "bank",
    .title = "A vertical bank of cohesive sand stands at half its critical height and falls at twice it",
    .reference =
        "H_c = 4 c tan(45 + angle/2) / (density g): D. W. Taylor, Stability of earth slopes, J. Boston Soc. Civ. "
        "Eng. 24 (1937) 197-246",
    .band = "crest keeps 90 % of its height at 0.5 H_c and less than 75 % at 2 H_c",
    .scene =
        "a bank 20 diameters high (fine: 40) and 8 wide between smooth sides, backed by sand for 1.5 heights, on a "
        "rough floor; cohesion 0.5 and 2 times what its height needs; a smooth gate is drawn away",
    .measure = "mass over a strip of 0.2 heights behind the face, 60 sqrt(diameter/g) later, over what it was",
    .x_label = "t / sqrt(d/g)",
    .y_label = "height of the crest, share",
    .plan = bank_plan,
    .run = bank_run,
    .judge = bank_judge};
