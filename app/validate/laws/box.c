/* Sand at rest in a wide box: weight on solids, pressure against depth, mass and bulk density of a dense fill. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/validate/law.h"

#define BOX_RADIUS 0.01
enum { BOX_SETTLE = 80, BOX_READ = 20, BOX_LAYERS = 5 }; /* times in sqrt(diameter / g) */
#define BOX_MARGIN 4.0                                   /* diameters at walls that are not looked at */

/* In diameters. */
static double box_width(Level level) { return level == LEVEL_FINE ? 40 : level == LEVEL_COARSE ? 24 : 12; }
static double box_depth(Level level) { return level == LEVEL_FINE ? 40 : level == LEVEL_COARSE ? 20 : 8; }

static void box_plan(Plan *plan) {
  double width = box_width(plan->level);
  plan_run(plan, 0, 1, method_cost(plan->method) * width * width * box_depth(plan->level) / 1500, "box");
}

/* A dense fill between planes: floor and four smooth walls; `more` are bodies in it. */
static ScreeStatus box_settle(const Trial *trial, Level level, const char *more, ScreeWorld **world, double *mass,
                              ScreeError *error) {
  double d = 2 * trial->radius, half = box_width(level) / 2 * d;
  ScreeStatus status = trial_world(
      trial, world, error,
      "frame_rate: %.9g\n"
      "grains:\n  - {fill: {box: {min: [%.9g, %.9g, 0], max: [%.9g, %.9g, %.9g]}}, start: dense}\n"
      "boundaries:\n"
      "  - {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n"
      "  - {name: left, plane: {point: [%.9g, 0, 0], normal: [1, 0, 0]}, " SMOOTH "}\n"
      "  - {name: right, plane: {point: [%.9g, 0, 0], normal: [-1, 0, 0]}, " SMOOTH "}\n"
      "  - {name: front, plane: {point: [0, %.9g, 0], normal: [0, 1, 0]}, " SMOOTH "}\n"
      "  - {name: back, plane: {point: [0, %.9g, 0], normal: [0, -1, 0]}, " SMOOTH "}\n"
      "%s",
      1 / trial_tick(trial), -half, -half, half, half, box_depth(level) * d, -half, half, -half, half, more);
  ScreeStatistics statistics = {0};
  if (status == SCREE_OK) scree_world_statistics(*world, &statistics);
  *mass = statistics.mass_final;
  return status == SCREE_OK ? trial_seconds(trial, *world, BOX_SETTLE * trial_tick(trial), error) : status;
}

/* ---- weight ---- */

static ScreeStatus weight_run(Run *run, ScreeError *error) {
  Trial trial = run_trial(run, LAW_SAND, BOX_RADIUS);
  double d = 2 * trial.radius, high = box_depth(run->level) * d, mass, load = 0;
  char bodies[512];
  snprintf(bodies, sizeof bodies,
           "bodies:\n  - {name: ball, sphere: {radius: %.9g}, motion: fixed, position: [%.9g, 0, %.9g]}\n"
           "  - {name: shelf, box: {size: [%.9g, %.9g, %.9g]}, motion: fixed, position: [%.9g, 0, %.9g]}\n",
           0.2 * high, 0.25 * high, 0.4 * high, 0.4 * high, 0.4 * high, 2 * d, -0.25 * high, 0.5 * high);
  ScreeWorld *world = NULL;
  ScreeStatus status = box_settle(&trial, run->level, bodies, &world, &mass, error);
  for (int k = 0; k < BOX_READ && status == SCREE_OK; k++) {
    status = trial_frame(&trial, world, error);
    double now = trial_load(world) / (mass * TRIAL_GRAVITY);
    load += now / BOX_READ;
    run_point(run, k, now);
  }
  run->values[0] = load;
  scree_world_destroy(world);
  return status;
}

static void weight_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  (void)count;
  rows_add(rows, (Row){.law = runs[0]->law,
                       .method = method,
                       .label = "load over weight",
                       .measured = runs[0]->values[0],
                       .expected = 1,
                       .low = 0.995,
                       .high = 1.005,
                       .unit = "1"});
}

/* ---- pressure ---- */

static double wall_force(const ScreeWorld *world, const char *name, bool along_y) {
  ScreeBodyState state;
  if (scree_world_body(world, scree_world_find_body(world, name), &state) != SCREE_OK) return (double)NAN;
  return fabs(along_y ? state.force.y : state.force.x);
}

/* Horizontal over vertical stress, from the load on the smooth walls: along the height the vertical stress sums up to
 * g / area times the sum of mass times height. */
static double box_k(const ScreeWorld *world, const TrialMass *mass, double width) {
  double moment = 0, force = 0;
  for (int64_t i = 0; i < mass->particles.count; i++) moment += trial_mass_of(mass, i) * trial_place(mass, i).z;
  force += wall_force(world, "left", false) + wall_force(world, "right", false);
  force += wall_force(world, "front", true) + wall_force(world, "back", true);
  return force / 4 * width / (TRIAL_GRAVITY * moment);
}

/* What lies in the middle, by height: mass, and mass times pressure. */
enum { BOX_BINS = 400 };
typedef struct BoxProfile {
  double high; /* of the bed */
  double mass[BOX_BINS], pressed[BOX_BINS];
} BoxProfile;

static void box_profile(BoxProfile *profile, const TrialMass *mass, const float *pressure, double half) {
  double sum = 0, moment = 0;
  for (int64_t i = 0; i < mass->particles.count; i++) {
    sum += trial_mass_of(mass, i);
    moment += trial_mass_of(mass, i) * trial_place(mass, i).z;
  }
  profile->high = 2 * moment / sum; /* an even bed is twice as high as its centre of mass */
  for (int64_t i = 0; i < mass->particles.count; i++) {
    ScreeVec3 at = trial_place(mass, i);
    int bin = (int)(at.z / profile->high * 0.9 * BOX_BINS); /* the last tenth is for what lies higher */
    if (fmax(fabs(at.x), fabs(at.y)) > half || bin < 0 || bin >= BOX_BINS) continue;
    profile->mass[bin] += trial_mass_of(mass, i);
    profile->pressed[bin] += trial_mass_of(mass, i) * (double)pressure[i];
  }
}

/* Layers from a tenth to nine tenths of the depth: pressure against (1 + 2 K) / 3 times the weight above. */
static void box_layers(Run *run, const BoxProfile *profile, double k, double area) {
  double above = 0, measured[BOX_LAYERS] = {0}, wanted[BOX_LAYERS] = {0}, in[BOX_LAYERS] = {0};
  for (int bin = BOX_BINS - 1; bin >= 0; bin--) {
    double z = (bin + 0.5) / (0.9 * BOX_BINS), m = profile->mass[bin];
    int layer = (int)floor((z - 0.1) / 0.8 * BOX_LAYERS);
    if (layer >= 0 && layer < BOX_LAYERS) {
      in[layer] += m;
      measured[layer] += profile->pressed[bin];
      wanted[layer] += m * (above + m / 2) * TRIAL_GRAVITY / area * (1 + 2 * k) / 3;
    }
    above += m;
  }
  double both = 0, square = 0, worst = 1;
  for (int layer = 0; layer < BOX_LAYERS; layer++) {
    double x = wanted[layer] / in[layer], y = measured[layer] / in[layer];
    both += x * y;
    square += x * x;
    if (fabs(y / x - 1) > fabs(worst - 1)) worst = y / x;
    run_point(run, x, y);
  }
  run->values[0] = both / square;
  run->values[1] = k;
  run->values[2] = worst;
}

static ScreeStatus pressure_run(Run *run, ScreeError *error) {
  Trial trial = run_trial(run, LAW_SAND, BOX_RADIUS);
  double d = 2 * trial.radius, mass;
  ScreeWorld *world = NULL;
  ScreeStatus status = box_settle(&trial, run->level, "", &world, &mass, error);
  if (status == SCREE_OK) {
    float *pressure = malloc((size_t)(scree_world_particles(world).count + 1) * sizeof *pressure);
    if (pressure && scree_world_pressure(world, false, pressure)) {
      double width = box_width(run->level) * d, half = width / 2 - BOX_MARGIN * d;
      TrialMass particles = trial_mass(world);
      BoxProfile profile = {0};
      box_profile(&profile, &particles, pressure, half);
      box_layers(run, &profile, box_k(world, &particles, width), 4 * half * half);
    }
    free(pressure);
  }
  scree_world_destroy(world);
  return status;
}

static void pressure_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  (void)count;
  Row row = {.law = runs[0]->law,
             .method = method,
             .label = "pressure",
             .measured = runs[0]->values[0],
             .expected = 1,
             .low = 0.97,
             .high = 1.03,
             .unit = "of what is above"};
  snprintf(row.note, sizeof row.note, "K = %.2f on the walls; worst layer %.3f", runs[0]->values[1],
           runs[0]->values[2]);
  rows_add(rows, row);
}

/* ---- dense fill ---- */

enum { DENSE_FILLED, DENSE_SETTLED };
static double dense_side(Level level) { return level == LEVEL_QUICK ? 30 : 60; }

static void dense_plan(Plan *plan) {
  plan_run(plan, DENSE_FILLED, 1, 1, "mass");
  box_plan(plan);
  if (plan->count) plan->runs[plan->count - 1]->parameter = DENSE_SETTLED;
}

static ScreeStatus dense_fill(Run *run, const Trial *trial, ScreeError *error) {
  double side = dense_side(run->level) * 2 * trial->radius;
  ScreeWorld *world = NULL;
  ScreeStatistics statistics = {0};
  ScreeStatus status = trial_world(
      trial, &world, error, "grains:\n  - {fill: {box: {min: [0, 0, 0], max: [%.9g, %.9g, %.9g]}}, start: dense}\n",
      side, side, side);
  if (status == SCREE_OK) scree_world_statistics(world, &statistics);
  run->values[0] = statistics.mass_final / (side * side * side * TRIAL_DENSITY);
  run_point(run, 0, run->values[0]);
  scree_world_destroy(world);
  return status;
}

static ScreeStatus dense_run(Run *run, ScreeError *error) {
  Trial trial = run_trial(run, LAW_SAND, BOX_RADIUS);
  if (run->parameter == DENSE_FILLED) return dense_fill(run, &trial, error);
  double d = 2 * trial.radius, half = box_width(run->level) / 2 * d - BOX_MARGIN * d, filled;
  ScreeWorld *world = NULL;
  ScreeStatus status = box_settle(&trial, run->level, "", &world, &filled, error);
  if (status == SCREE_OK) {
    TrialMass mass = trial_mass(world);
    double sum = 0, moment = 0;
    for (int64_t i = 0; i < mass.particles.count; i++) {
      ScreeVec3 at = trial_place(&mass, i);
      if (fmax(fabs(at.x), fabs(at.y)) > half) continue;
      sum += trial_mass_of(&mass, i);
      moment += trial_mass_of(&mass, i) * at.z;
    }
    /* An even bed is twice as high as its centre of mass. */
    run->values[0] = sum / (4 * half * half * 2 * moment / sum) / TRIAL_DENSITY;
    run_point(run, 1, run->values[0]);
  }
  scree_world_destroy(world);
  return status;
}

static void dense_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  if (count < 2) return;
  rows_add(rows, (Row){.law = runs[0]->law,
                       .method = method,
                       .label = "mass",
                       .measured = runs[0]->values[0],
                       .expected = 1,
                       .low = 0.98,
                       .high = 1.02,
                       .unit = "density volume"});
  rows_add(rows, (Row){.law = runs[0]->law,
                       .method = method,
                       .label = "settled bulk density",
                       .measured = runs[1]->values[0],
                       .expected = 1,
                       .low = 0.95,
                       .high = 1.05,
                       .unit = "density"});
}

static double box_same(double x) { return x; }
static double box_one(double x) {
  (void)x;
  return 1;
}

#define BOX_SCENE                                                                                                      \
  "a dense fill 24 diameters wide and 20 deep (fine: 40 and 40) between smooth walls, settled for 80 sqrt(diameter/g)"

const Law LAW_weight = {.name = "weight",
                        .title = "Solids bear the weight of the sand",
                        .reference = "statics",
                        .band = "0.5 %",
                        .scene = BOX_SCENE ", with a ball and a shelf in it",
                        .measure = "vertical force on all solids, mean over 20 sqrt(diameter/g), over mass times g",
                        .x_label = "t / sqrt(d/g)",
                        .y_label = "load / weight",
                        .curve = box_one,
                        .plan = box_plan,
                        .run = weight_run,
                        .judge = weight_judge};

const Law LAW_pressure = {
    .name = "pressure",
    .title = "Pressure grows with depth by the weight above",
    .reference = "statics: the vertical stress is the weight above, the horizontal one K times it",
    .band =
        "3 %: slope of pressure over what statics says, in five layers between a tenth and nine tenths of the depth",
    .scene = BOX_SCENE,
    .measure = "mean pressure of a layer's particles, 4 diameters off the walls, over (1 + 2 K) / 3 times the weight "
               "above; K from the load on the smooth walls",
    .x_label = "(1 + 2 K) / 3 weight above, Pa",
    .y_label = "pressure, Pa",
    .curve = box_same,
    .plan = box_plan,
    .run = pressure_run,
    .judge = pressure_judge};

const Law LAW_dense = {.name = "dense",
                       .title = "A dense fill weighs what its density says, and stays so when it settles",
                       .reference = "the definition of bulk density",
                       .band = "mass 2 %, settled bulk density 5 %",
                       .scene = "mass: a cube of 60 diameters; bulk density: " BOX_SCENE,
                       .measure = "mass of the fill over density times its volume; mass over area and twice the height "
                                  "of the centre of mass, 4 diameters off the walls",
                       .x_label = "0: mass, 1: bulk density",
                       .y_label = "share of what density says",
                       .curve = box_one,
                       .plan = dense_plan,
                       .run = dense_run,
                       .judge = dense_judge};
