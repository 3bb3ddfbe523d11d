/* A flat silo with a round hole: how much runs out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/validate/law.h"
#include "app/validate/measure.h"

#define SILO_RADIUS 0.01
#define SILO_WIDTH 2.5 /* diameter of the silo, in diameters of the hole */
#define SILO_GRAIN_K 1.4
#define SILO_MOST_K 1.5
enum { SILO_SEGMENTS = 64, SILO_SAMPLES = 250, SILO_MOST = 3 * SILO_SAMPLES };
#define SILO_LAST 0.2 /* share that is left when all is known */
/* Results of a run. */
enum { SILO_RATE, SILO_STRAYS };

static const double silo_holes_quick[] = {6}, silo_holes_coarse[] = {6, 8, 10}, silo_holes_fine[] = {6, 9, 12, 15};

/* Nothing has left in a tenth of the time that all should take: a clogged hole stays so. */
static bool silo_clogged(const double *left, int64_t count) {
  const int64_t back = SILO_SAMPLES / 10;
  return count > 2 * back && left[count - 1] == left[count - 1 - back];
}

/* What holes are measured in: diameters, spacings, cells. */
static double silo_unit(const char *method) { return (strcmp(method, "flip") == 0 ? 4 : 2) * SILO_RADIUS; }

/* Of the fill, in diameters of the silo. */
static double silo_height(Level level) { return level == LEVEL_QUICK ? 1 : 3; }

static void silo_plan(Plan *plan) {
  const double *holes = plan->level == LEVEL_QUICK    ? silo_holes_quick
                        : plan->level == LEVEL_COARSE ? silo_holes_coarse
                                                      : silo_holes_fine;
  int count = plan->level == LEVEL_QUICK ? 1 : plan->level == LEVEL_COARSE ? 3 : 4;
  for (int k = 0; k < count; k++)
    plan_run(plan, holes[k], 1,
             method_cost(plan->method) * pow(holes[k] / 8, 3.5) * 8 * pow(silo_unit(plan->method) / SILO_RADIUS / 2, 3),
             "hole of %g", holes[k]);
}

/* The floor: a ring of thickness `deep` below z = 0. */
typedef struct SiloPlate {
  double vertices[SILO_SEGMENTS * 4][3];
  int64_t triangles[SILO_SEGMENTS * 8][3];
} SiloPlate;

static void silo_plate(SiloPlate *plate, double hole, double outer, double deep) {
  for (int k = 0; k < SILO_SEGMENTS; k++) {
    double angle = 2 * M_PI * k / SILO_SEGMENTS;
    /* Upper inner, upper outer, lower outer, lower inner. */
    for (int corner = 0; corner < 4; corner++) {
      double r = corner == 1 || corner == 2 ? outer : hole;
      double *at = plate->vertices[4 * k + corner];
      at[0] = r * cos(angle), at[1] = r * sin(angle), at[2] = corner < 2 ? 0 : -deep;
    }
    int64_t here = 4 * k, next = 4 * ((k + 1) % SILO_SEGMENTS);
    for (int corner = 0; corner < 4; corner++) {
      int other = (corner + 1) % 4;
      int64_t *one = plate->triangles[8 * k + 2 * corner], *two = plate->triangles[8 * k + 2 * corner + 1];
      one[0] = here + corner, one[1] = here + other, one[2] = next + other;
      two[0] = here + corner, two[1] = next + other, two[2] = next + corner;
    }
  }
}

static ScreeStatus silo_world(const Trial *trial, double hole, double height, double frame, ScreeWorld **world,
                              ScreeError *error) {
  double wide = SILO_WIDTH * hole, high = height * wide, deep = 2 * silo_unit(trial->method);
  ScreeScene *scene = NULL;
  ScreeStatus status = trial_scene(
      trial, &scene, error,
      "frame_rate: %.9g\n"
      "grains:\n  - {fill: {cylinder: {base: [0, 0, 0], radius: %.9g, height: %.9g}}, start: dense}\n"
      "sinks:\n  - {box: {min: [%.9g, %.9g, %.9g], max: [%.9g, %.9g, %.9g]}}\n"
      "boundaries:\n  - {name: silo, cylinder: {base: [0, 0, %.9g], radius: %.9g, height: %.9g}, inside: true}\n",
      1 / frame, wide / 2, high, -wide, -wide, -wide, wide, wide, -2 * deep, -wide, wide / 2, 2 * high + wide);
  SiloPlate *plate = calloc(1, sizeof *plate);
  if (status == SCREE_OK && !plate)
    *error = (ScreeError){.status = status = SCREE_NO_MEMORY, .message = "no memory for the silo"};
  if (status == SCREE_OK) {
    silo_plate(plate, hole / 2, 0.6 * wide, deep);
    ScreeSceneDef definition = *scree_scene_definition(scene);
    ScreeShapeDef shape = scree_shape_default(SCREE_SHAPE_MESH);
    shape.mesh = (ScreeMeshDef){.vertices = &plate->vertices[0][0],
                                .triangles = &plate->triangles[0][0],
                                .vertex_count = 4 * SILO_SEGMENTS,
                                .triangle_count = 8 * SILO_SEGMENTS};
    ScreeBoundaryDef boundaries[2] = {definition.boundaries[0], scree_boundary_default(shape)};
    boundaries[1].name = "plate";
    definition.boundaries = boundaries;
    definition.boundary_count = 2;
    status = trial_create(&definition, world, error);
  }
  free(plate);
  scree_scene_free(scene);
  return status;
}

static ScreeStatus silo_run(Run *run, ScreeError *error) {
  Trial trial = run_trial(run, LAW_SAND, SILO_RADIUS);
  double unit = silo_unit(run->method), hole = run->parameter * unit;
  double expected = 0.58 * TRIAL_DENSITY * sqrt(TRIAL_GRAVITY) * pow(hole - unit, 2.5);
  double volume = M_PI / 4 * silo_height(run->level) * pow(SILO_WIDTH * hole, 3);
  double frame = TRIAL_DENSITY * volume / expected / SILO_SAMPLES, full = 0;
  double time[SILO_MOST], left[SILO_MOST] = {1};
  ScreeWorld *world = NULL;
  ScreeStatus status = silo_world(&trial, hole, silo_height(run->level), frame, &world, error);
  int64_t count = 0;
  while (status == SCREE_OK && count < SILO_MOST && (count == 0 || left[count - 1] > SILO_LAST) &&
         !silo_clogged(left, count)) {
    ScreeStatistics statistics;
    scree_world_statistics(world, &statistics);
    if (count == 0) full = statistics.mass_final;
    time[count] = scree_world_time(world);
    left[count++] = statistics.mass_final / full;
    if (count % 4 == 1) run_point(run, time[count - 1], left[count - 1]);
    status = trial_frame(&trial, world, error);
  }
  scree_world_destroy(world);
  Discharge discharge = discharge_of(time, left, count);
  run->values[SILO_RATE] = discharge.rate * full;
  run->values[SILO_STRAYS] = discharge.strays;
  return status;
}

/* Parcels have no diameter: rate^(2/5) over the hole's diameter is a straight line that begins at k. */
static double silo_k(const char *method, const double *hole, const double *rate, int count) {
  if (trial_of_grains(method)) return SILO_GRAIN_K;
  double y[8];
  for (int k = 0; k < count; k++) y[k] = pow(rate[k], 0.4);
  Line line = line_fit(hole, y, count);
  double k = line.slope > 0 ? -line.offset / line.slope : 0;
  return fmin(fmax(k, 0), SILO_MOST_K);
}

/* The exponent of the holes that do not clog; 0 where fewer than two are left. */
static double silo_exponent(const double *hole, const double *rate, int count, double k0) {
  double x[8], y[8];
  for (int k = 0; k < count; k++) {
    x[k] = log(hole[k] - k0);
    y[k] = log(rate[k]);
  }
  return count > 1 ? line_fit(x, y, count).slope : 0;
}

static void silo_judge(Rows *rows, const char *method, Run *const *runs, int count) {
  double unit = silo_unit(method), hole[8], rate[8];
  int flowing = 0;
  for (int k = 0; k < count; k++) {
    bool flows = runs[k]->values[SILO_RATE] > 0;
    Row row = {.law = runs[k]->law,
               .method = method,
               .measured = 100 * runs[k]->values[SILO_STRAYS],
               .expected = 0,
               .low = 0,
               .high = 5,
               .unit = "%"};
    snprintf(row.label, sizeof row.label, "D = %g: constant", runs[k]->parameter);
    if (flows) snprintf(row.note, sizeof row.note, "%.4g kg/s", runs[k]->values[SILO_RATE]);
    else snprintf(row.note, sizeof row.note, "stopped before 20 %% were left");
    rows_add(rows, row);
    if (!flows) continue;
    hole[flowing] = runs[k]->parameter;
    rate[flowing++] = runs[k]->values[SILO_RATE];
  }
  double k0 = silo_k(method, hole, rate, flowing);
  Row exponent = {.law = runs[0]->law,
                  .method = method,
                  .label = "exponent",
                  .measured = silo_exponent(hole, rate, flowing, k0),
                  .expected = 2.5,
                  .low = 2.35,
                  .high = 2.65,
                  .unit = "1"};
  snprintf(exponent.note, sizeof exponent.note, "k = %.2f; %d of %d holes flow", k0, flowing, count);
  if (count > 1) rows_add(rows, exponent);
  for (int k = 0; k < count; k++) {
    double open = (runs[k]->parameter - k0) * unit;
    Row row = {.law = runs[k]->law,
               .method = method,
               .measured = runs[k]->values[SILO_RATE] / (TRIAL_DENSITY * sqrt(TRIAL_GRAVITY) * pow(open, 2.5)),
               .expected = 0.58,
               .low = 0.46,
               .high = 0.70,
               .unit = "1"};
    snprintf(row.label, sizeof row.label, "D = %g: C", runs[k]->parameter);
    rows_add(rows, row);
  }
}

const Law LAW_silo = {
    .name = "silo",
    .title = "A flat silo discharges through a round hole at a constant rate that grows with the hole",
    .reference = "W. A. Beverloo, H. A. Leniger, J. van de Velde, The flow of granular solids through orifices, Chem. "
                 "Eng. Sci. 15 (1961) 260-269",
    .band =
        "rate constant within 5 % from 80 to 20 % full; C density sqrt(g) (D - k d)^2.5 with the exponent 2.5 +-0.15 "
        "(of the holes that do not clog) and C from 0.46 to 0.70; grains: k = 1.4; parcels: a fitted k from 0 to 1.5",
    .scene = "holes of 6, 8 and 10 diameters, sph: spacings, flip: cells (fine: 6, 9, 12, 15), in silos 2.5 times as "
             "wide, filled three times as high as wide",
    .measure = "mass that is left in the silo, in four parts between 80 and 20 % of it",
    .x_label = "t, s",
    .y_label = "mass left, share",
    .plan = silo_plan,
    .run = silo_run,
    .judge = silo_judge};
