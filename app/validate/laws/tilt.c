/* A bed on a rough plane that is tilted: rests a little below its angle, flows on a little above it. */
#include <math.h>
#include <stdio.h>

#include "app/validate/law.h"

#define TILT_RADIUS 0.01
#define TILT_MARGIN_DEG 2.0
#define TILT_PUSH_DEG 15.0 /* more than the angle: sets the bed moving */
#define TILT_SPEED 0.3     /* to which it is set moving, in sqrt(diameter g) */
#define TILT_REST 0.2      /* largest displacement of a bed that rests, in diameters */
enum { TILT_RESTS, TILT_FLOWS };

/* Times in sqrt(diameter / g). While a bed is watched no news of its ends comes to its middle. */
enum { TILT_SETTLE = 20, TILT_RAMP = 40, TILT_HOLD = 20, TILT_WATCH = 20, TILT_FRAMES = 4 };

static TrialBed tilt_bed(Level level) {
  if (level == LEVEL_QUICK) return (TrialBed){60, 6, 5};
  return level == LEVEL_COARSE ? (TrialBed){160, 12, 8} : (TrialBed){240, 18, 12};
}

static void tilt_plan(Plan *plan) {
  TrialBed bed = tilt_bed(plan->level);
  double cost = method_cost(plan->method) * bed.length * bed.depth * bed.width / 1700;
  plan_run(plan, TILT_RESTS, 1, cost, "at angle - 2");
  plan_run(plan, TILT_FLOWS, 1, cost, "at angle + 2");
}

/* Mean velocity down the slope of what lies in the middle fifth. */
static double middle_speed(const ScreeWorld *world, double length) {
  return trial_speed_between(world, 0.4 * length, 0.6 * length);
}

/* Tilted slowly, then watched: displacement of the middle in diameters. */
static ScreeStatus tilt_rest(Run *run, const Trial *trial, ScreeWorld *world, double length, ScreeError *error) {
  double tick = trial_tick(trial), moved = 0;
  ScreeStatus status = SCREE_OK;
  for (int k = 1; k <= TILT_RAMP && status == SCREE_OK; k++) {
    status = trial_tilt(world, (LAW_ANGLE_DEG - TILT_MARGIN_DEG) * k / TILT_RAMP, error);
    if (status == SCREE_OK) status = trial_seconds(trial, world, tick, error);
  }
  if (status == SCREE_OK) status = trial_seconds(trial, world, TILT_HOLD * tick, error);
  for (int k = 0; k < TILT_WATCH * TILT_FRAMES && status == SCREE_OK; k++) {
    status = trial_frame(trial, world, error);
    double speed = middle_speed(world, length);
    moved += speed * tick / TILT_FRAMES / (2 * trial->radius);
    run_point(run, (double)k / TILT_FRAMES, speed / trial_speed(trial));
  }
  run->values[0] = moved;
  return status;
}

/* Tilted steeply until it moves, then watched: speed at the end over the speed at first. */
static ScreeStatus tilt_flow(Run *run, const Trial *trial, ScreeWorld *world, double length, ScreeError *error) {
  double start = 0;
  ScreeStatus status = trial_tilt(world, LAW_ANGLE_DEG + TILT_PUSH_DEG, error);
  for (int k = 0; k < TILT_RAMP * TILT_FRAMES && start < TILT_SPEED && status == SCREE_OK; k++) {
    status = trial_frame(trial, world, error);
    start = middle_speed(world, length) / trial_speed(trial);
  }
  if (status == SCREE_OK) status = trial_tilt(world, LAW_ANGLE_DEG + TILT_MARGIN_DEG, error);
  double speed = start;
  for (int k = 0; k < TILT_WATCH * TILT_FRAMES && status == SCREE_OK; k++) {
    run_point(run, (double)k / TILT_FRAMES, speed);
    status = trial_frame(trial, world, error);
    speed = middle_speed(world, length) / trial_speed(trial);
  }
  run->values[0] = start >= TILT_SPEED ? speed / start : 0;
  return status;
}

static ScreeStatus tilt_run(Run *run, ScreeError *error) {
  Trial trial = run_trial(run, LAW_SAND, TILT_RADIUS);
  bool rests = run->parameter == TILT_RESTS;
  TrialBed bed = tilt_bed(run->level);
  double length = bed.length * 2 * trial.radius;
  ScreeWorld *world = NULL;
  /* The lower end is open where the bed shall flow: a wall there would bear a long bed that moves as one. */
  ScreeStatus status = trial_bed(&trial, bed, TILT_FRAMES / trial_tick(&trial), ROUGH, &world, error,
                                 "  - {name: upper, plane: {point: [0, 0, 0], normal: [1, 0, 0]}, " SMOOTH "}\n"
                                 "  - {name: lower, plane: {point: [%.9g, 0, 0], normal: [-1, 0, 0]}, " SMOOTH "}\n",
                                 rests ? length : 10 * length);
  if (status == SCREE_OK) status = trial_seconds(&trial, world, TILT_SETTLE * trial_tick(&trial), error);
  if (status == SCREE_OK)
    status = rests ? tilt_rest(run, &trial, world, length, error) : tilt_flow(run, &trial, world, length, error);
  scree_world_destroy(world);
  return status;
}

static void tilt_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  for (int k = 0; k < count; k++) {
    bool rests = runs[k]->parameter == TILT_RESTS;
    rows_add(rows, (Row){.law = runs[k]->law,
                         .method = method,
                         .label = {0},
                         .measured = runs[k]->values[0],
                         .expected = rests ? 0 : NAN,
                         .low = rests ? -TILT_REST : 1,
                         .high = rests ? TILT_REST : INFINITY,
                         .unit = rests ? "diameters" : "speed at first"});
    snprintf(rows->rows[rows->count - 1].label, RUN_LABEL, rests ? "31 deg: rests" : "35 deg: flows on");
  }
}

const Law LAW_tilt = {
    .name = "tilt",
    .title = "A bed on a rough plane rests 2 degrees below its angle and flows on 2 degrees above it",
    .reference = "the infinite slope: D. W. Taylor, Fundamentals of Soil Mechanics, Wiley (1948)",
    .band = "at 31 deg the middle moves less than 0.2 diameters in 20 sqrt(diameter/g); at 35 deg, once set moving at "
            "0.3 sqrt(diameter g), it is no slower after 20 sqrt(diameter/g)",
    .scene = "a dense bed 160 diameters long, 12 deep, 8 wide (fine: 240, 18, 12) between smooth sides on a rough "
             "floor; gravity turns, slowly up to 31 deg, or to 48 deg until the bed moves and back to 35 deg, where "
             "its lower end is open",
    .measure = "mean velocity of the middle fifth, over the whole depth",
    .x_label = "t / sqrt(d/g)",
    .y_label = "speed / sqrt(d g)",
    .plan = tilt_plan,
    .run = tilt_run,
    .judge = tilt_judge};
