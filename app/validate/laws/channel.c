/* A column that is let go in a channel: it runs one way between smooth sides, from a wall at its back. */
#include <math.h>
#include <stdio.h>

#include "app/validate/law.h"

#define CHANNEL_RADIUS 0.01
#define CHANNEL_TOLERANCE 0.15
/* Frames and end, in sqrt(h0 / g). */
enum { CHANNEL_FRAMES = 10, CHANNEL_END = 8, CHANNEL_STRIPS = 1024 };
/* h0 over L0, and L0 in diameters. */
typedef struct ChannelColumn {
  double aspect, length;
} ChannelColumn;
static const ChannelColumn channel_columns[] = {{1, 20}, {3, 12}};
enum { CHANNEL_COLUMNS = sizeof channel_columns / sizeof *channel_columns };

static double channel_length(Level level, const ChannelColumn *column) {
  return (level == LEVEL_FINE ? 2 : level == LEVEL_QUICK ? 0.6 : 1) * column->length;
}
static double channel_width(Level level) { return level == LEVEL_FINE ? 12 : level == LEVEL_QUICK ? 5 : 8; }

/* Length of the deposit in L0. */
static double channel_law(double aspect) { return 1 + (aspect < 2 ? 1.2 * aspect : 1.9 * pow(aspect, 2.0 / 3)); }

static void channel_plan(Plan *plan) {
  for (int k = 0; k < (plan->level == LEVEL_QUICK ? 1 : CHANNEL_COLUMNS); k++) {
    double length = channel_length(plan->level, &channel_columns[k]), aspect = channel_columns[k].aspect;
    plan_run(plan, k, 1, method_cost(plan->method) * aspect * length * length * channel_width(plan->level) / 1500,
             "a = %g", aspect);
  }
}

/* Where the thickness of the deposit, in strips a diameter long, falls below half a diameter. */
static double channel_end(const ScreeWorld *world, double diameter, double width) {
  TrialMass mass = trial_mass(world);
  double thick[CHANNEL_STRIPS] = {0};
  for (int64_t i = 0; i < mass.particles.count; i++) {
    double strip = trial_place(&mass, i).x / diameter;
    if (strip >= 0 && strip < CHANNEL_STRIPS)
      thick[(int)strip] += trial_mass_of(&mass, i) / TRIAL_DENSITY / (diameter * width);
  }
  int last = CHANNEL_STRIPS - 2;
  while (last > 0 && thick[last] <= 0.5 * diameter) last--;
  return (last + 0.5 + (thick[last] - 0.5 * diameter) / (thick[last] - thick[last + 1])) * diameter;
}

static ScreeStatus channel_run(Run *run, ScreeError *error) {
  const ChannelColumn *column = &channel_columns[(int)run->parameter];
  Trial trial = run_trial(run, LAW_SAND, CHANNEL_RADIUS);
  TrialBed bed = {.length = channel_length(run->level, column), .width = channel_width(run->level)};
  bed.depth = column->aspect * bed.length;
  double d = 2 * trial.radius, length = bed.length * d, scale = sqrt(bed.depth * d / TRIAL_GRAVITY), end = 0;
  ScreeWorld *world = NULL;
  ScreeStatus status = trial_bed(&trial, bed, CHANNEL_FRAMES / scale, ROUGH, &world, error,
                                 "  - {name: back, plane: {point: [0, 0, 0], normal: [1, 0, 0]}, " SMOOTH "}\n");
  for (int k = 0; k < CHANNEL_FRAMES * CHANNEL_END && status == SCREE_OK; k++) {
    status = trial_frame(&trial, world, error);
    end = channel_end(world, d, bed.width * d);
    run_point(run, (k + 1.0) / CHANNEL_FRAMES, end / length);
  }
  run->values[0] = end / length;
  scree_world_destroy(world);
  return status;
}

static void channel_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  for (int k = 0; k < count; k++) {
    double aspect = channel_columns[(int)runs[k]->parameter].aspect, wanted = channel_law(aspect);
    Row row = {.law = runs[k]->law,
               .method = method,
               .measured = runs[k]->values[0],
               .expected = wanted,
               .low = (1 - CHANNEL_TOLERANCE) * wanted,
               .high = (1 + CHANNEL_TOLERANCE) * wanted,
               .unit = "L0"};
    snprintf(row.label, sizeof row.label, "a = %g, length", aspect);
    snprintf(row.note, sizeof row.note, "%+.0f %%", 100 * (runs[k]->values[0] / wanted - 1));
    rows_add(rows, row);
  }
}

const Law LAW_channel = {
    .name = "channel",
    .title = "A column that is let go in a channel runs as far as measured",
    .reference = "G. Lube, H. E. Huppert, R. S. J. Sparks, A. Freundt, Collapses of two-dimensional granular columns, "
                 "Phys. Rev. E 72 (2005) 041301",
    .band = "+-15 % of L0 (1 + 1.2 a) at a = 1, of L0 (1 + 1.9 a^(2/3)) at a = 3",
    .scene = "a dense block of L0 = 20 diameters at a = 1, 12 at a = 3, 8 wide (fine: 40, 24, 12), h0 = a L0, free at "
             "t = 0 between smooth sides, before a smooth wall, on a rough floor",
    .measure = "strips a diameter (sph, flip: 2 radius) long, mean thickness = mass / density / area: where it falls "
               "below half a diameter, at 8 sqrt(h0/g)",
    .x_label = "t / sqrt(h0/g)",
    .y_label = "length / L0",
    .plan = channel_plan,
    .run = channel_run,
    .judge = channel_judge};
