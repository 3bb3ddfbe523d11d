/* A bed on a plane that rubs less than sand on sand: rests and slides by the friction of the two. */
#include <math.h>
#include <stdio.h>

#include "app/validate/law.h"

#define SLIDE_RADIUS 0.01
#define SLIDE_FRICTION 0.3   /* of the plane */
#define SLIDE_BELOW_DEG 3.0  /* than the angle of friction with the plane: rests */
#define SLIDE_ABOVE_DEG 8.0  /* slides as one: the sand itself would still rest */
#define SLIDE_REST 0.2       /* largest displacement of a bed that rests, in diameters */
#define SLIDE_TOLERANCE 0.05 /* of the friction */
enum { SLIDE_RESTS, SLIDE_SLIDES };

/* Times in sqrt(diameter / g). */
enum { SLIDE_SETTLE = 20, SLIDE_RAMP = 20, SLIDE_HOLD = 10, SLIDE_WATCH = 20, SLIDE_FRAMES = 4 };

/* Both ends are free and slump: the bed is long enough for its middle to know nothing of them. */
static TrialBed slide_bed(Level level) {
  if (level == LEVEL_QUICK) return (TrialBed){100, 6, 5};
  return level == LEVEL_COARSE ? (TrialBed){120, 10, 7} : (TrialBed){200, 16, 11};
}

/* sqrt(tan(angle) solid's): what every method should have. */
static double slide_friction(void) { return sqrt(tan(LAW_ANGLE_DEG * M_PI / 180) * SLIDE_FRICTION); }
static double slide_angle_deg(bool rests) {
  return atan(slide_friction()) * 180 / M_PI + (rests ? -SLIDE_BELOW_DEG : SLIDE_ABOVE_DEG);
}

static void slide_plan(Plan *plan) {
  TrialBed bed = slide_bed(plan->level);
  double cost = method_cost(plan->method) * bed.length * bed.depth * bed.width / 2500;
  plan_run(plan, SLIDE_RESTS, 1, cost, "below");
  plan_run(plan, SLIDE_SLIDES, 1, cost, "above");
}

/* Gravity turns by the angle within so many ticks; the bed is then watched. `moved` is how far its middle has gone
 * while it was watched, `gained` the speed. */
static ScreeStatus slide_watch(Run *run, const Trial *trial, ScreeWorld *world, double length, double *moved,
                               double *gained, ScreeError *error) {
  bool rests = run->parameter == SLIDE_RESTS;
  double tick = trial_tick(trial), way = 0, first = 0, speed = 0;
  int ramp = rests ? SLIDE_RAMP : 1;
  ScreeStatus status = SCREE_OK;
  for (int k = 1; k <= ramp && status == SCREE_OK; k++) {
    status = trial_tilt(world, slide_angle_deg(rests) * k / ramp, error);
    if (status == SCREE_OK && rests) status = trial_seconds(trial, world, tick, error);
  }
  for (int k = -SLIDE_HOLD * SLIDE_FRAMES; k <= SLIDE_WATCH * SLIDE_FRAMES && status == SCREE_OK; k++) {
    speed = trial_speed_between(world, way + 0.4 * length, way + 0.6 * length);
    if (k == 0) first = speed, *moved = way;
    if (k >= 0) run_point(run, (double)k / SLIDE_FRAMES, speed / trial_speed(trial));
    status = trial_frame(trial, world, error);
    way += speed * tick / SLIDE_FRAMES;
  }
  *moved = (way - *moved) / (2 * trial->radius);
  *gained = speed - first;
  return status;
}

static ScreeStatus slide_run(Run *run, ScreeError *error) {
  Trial trial = run_trial(run, LAW_SAND, SLIDE_RADIUS);
  TrialBed bed = slide_bed(run->level);
  double length = bed.length * 2 * trial.radius, moved = 0, gained = 0;
  char floor[RUN_LABEL];
  snprintf(floor, sizeof floor, "friction_static: %g, friction_kinetic: %g", SLIDE_FRICTION, SLIDE_FRICTION);
  ScreeWorld *world = NULL;
  ScreeStatus status = trial_bed(&trial, bed, SLIDE_FRAMES / trial_tick(&trial), floor, &world, error, "%s", "");
  if (status == SCREE_OK) status = trial_seconds(&trial, world, SLIDE_SETTLE * trial_tick(&trial), error);
  if (status == SCREE_OK) status = slide_watch(run, &trial, world, length, &moved, &gained, error);
  double angle = slide_angle_deg(run->parameter == SLIDE_RESTS) * M_PI / 180,
         gain = gained / (SLIDE_WATCH * trial_tick(&trial));
  run->values[SLIDE_RESTS] = moved;
  run->values[SLIDE_SLIDES] = (tan(angle) - gain / (TRIAL_GRAVITY * cos(angle))) / slide_friction();
  scree_world_destroy(world);
  return status;
}

static void slide_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  for (int k = 0; k < count; k++) {
    bool rests = runs[k]->parameter == SLIDE_RESTS;
    Row row = {.law = runs[k]->law,
               .method = method,
               .measured = runs[k]->values[rests ? SLIDE_RESTS : SLIDE_SLIDES],
               .expected = rests ? 0 : 1,
               .low = rests ? -SLIDE_REST : 1 - SLIDE_TOLERANCE,
               .high = rests ? SLIDE_REST : 1 + SLIDE_TOLERANCE,
               .unit = rests ? "diameters" : "of its friction"};
    snprintf(row.label, sizeof row.label, "%.1f deg: %s", slide_angle_deg(rests), rests ? "rests" : "slides");
    rows_add(rows, row);
  }
}

const Law LAW_slide = {
    .name = "slide",
    .title = "A bed on a plane rests and slides by the friction of the two",
    .reference = "Coulomb's friction of a block on an inclined plane",
    .band =
        "3 degrees below atan(mu) the middle moves less than 0.2 diameters in 20 sqrt(diameter/g); 8 degrees above it "
        "it gains speed by g (sin - mu cos), mu within 5 %",
    .scene =
        "a dense bed 120 diameters long, 10 deep, 7 wide (fine: 200, 16, 11) with free ends between smooth sides on a "
        "plane of friction 0.3: mu = sqrt(tan(angle) 0.3) = 0.44; gravity turns",
    .measure = "mean velocity of the middle fifth, from 10 to 30 sqrt(diameter/g) after gravity has turned",
    .x_label = "t / sqrt(d/g)",
    .y_label = "speed / sqrt(d g)",
    .plan = slide_plan,
    .run = slide_run,
    .judge = slide_judge};
