#include "app/validate/trial.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TRIAL_TEXT = 8192 };

static ScreeStatus trial_fail(ScreeError *error, ScreeStatus status, const char *message) {
  *error = (ScreeError){.status = status};
  snprintf(error->message, sizeof error->message, "%s", message);
  return status;
}

static ScreeStatus parse(const Trial *trial, ScreeScene **scene, ScreeError *error, const char *format, va_list list) {
  char text[TRIAL_TEXT];
  int used =
      snprintf(text, sizeof text,
               "scree: 1\nseed: %lld\nmethod: {name: %s, radius: %.9g%s}\n"
               "materials:\n  sand: {density: %.9g, %s}\n",
               (long long)trial->seed, trial->method, trial->radius, trial->keys, TRIAL_DENSITY, trial->material);
  *scene = NULL;
  if (used < 0 || used >= TRIAL_TEXT) return trial_fail(error, SCREE_BAD_ARGUMENT, "the material is too long a text");
  int more = vsnprintf(text + used, sizeof text - (size_t)used, format, list);
  if (more < 0 || used + more >= TRIAL_TEXT) return trial_fail(error, SCREE_BAD_ARGUMENT, "the scene is too long");
  return scree_scene_parse(text, strlen(text), "trial", NULL, NULL, scene, error);
}

ScreeStatus trial_scene(const Trial *trial, ScreeScene **scene, ScreeError *error, const char *format, ...) {
  va_list list;
  va_start(list, format);
  ScreeStatus status = parse(trial, scene, error, format, list);
  va_end(list);
  return status;
}

ScreeStatus trial_create(const ScreeSceneDef *definition, ScreeWorld **world, ScreeError *error) {
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = 1; /* trials run side by side */
  return scree_world_create(definition, &options, world, error);
}

ScreeStatus trial_world(const Trial *trial, ScreeWorld **world, ScreeError *error, const char *format, ...) {
  ScreeScene *scene = NULL;
  va_list list;
  va_start(list, format);
  *world = NULL;
  ScreeStatus status = parse(trial, &scene, error, format, list);
  va_end(list);
  if (status == SCREE_OK) status = trial_create(scree_scene_definition(scene), world, error);
  scree_scene_free(scene);
  return status;
}

ScreeStatus trial_bed(const Trial *trial, TrialBed bed, double frame_rate, const char *floor, ScreeWorld **world,
                      ScreeError *error, const char *format, ...) {
  double d = 2 * trial->radius, side = bed.width * d / 2;
  char more[TRIAL_TEXT];
  va_list list;
  va_start(list, format);
  int used = vsnprintf(more, sizeof more, format, list);
  va_end(list);
  *world = NULL;
  if (used < 0 || used >= TRIAL_TEXT) return trial_fail(error, SCREE_BAD_ARGUMENT, "the boundaries are too long");
  return trial_world(trial, world, error,
                     "frame_rate: %.9g\n"
                     "grains:\n  - {fill: {box: {min: [0, %.9g, 0], max: [%.9g, %.9g, %.9g]}}, start: dense}\n"
                     "boundaries:\n"
                     "  - {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}, %s}\n"
                     "  - {name: left, plane: {point: [0, %.9g, 0], normal: [0, 1, 0]}, " SMOOTH "}\n"
                     "  - {name: right, plane: {point: [0, %.9g, 0], normal: [0, -1, 0]}, " SMOOTH "}\n%s",
                     frame_rate, -side, bed.length * d, side, bed.depth * d, floor, -side, side, more);
}

ScreeStatus trial_frame(const Trial *trial, ScreeWorld *world, ScreeError *error) {
  if (trial->stopped && trial->stopped(trial->context)) return trial_fail(error, SCREE_INTERRUPTED, "interrupted");
  return scree_world_frame(world, error);
}

ScreeStatus trial_seconds(const Trial *trial, ScreeWorld *world, double seconds, ScreeError *error) {
  double end = scree_world_time(world) + seconds - 1e-9;
  ScreeStatus status = SCREE_OK;
  while (status == SCREE_OK && scree_world_time(world) < end) status = trial_frame(trial, world, error);
  return status;
}

double trial_probe(const ScreeWorld *world, ScreeProbeId probe, int value) {
  ScreeProbeState state;
  return scree_world_probe(world, probe, &state) == SCREE_OK ? state.values[value] : (double)NAN;
}

bool trial_of_grains(const char *method) { return strcmp(method, "sph") != 0 && strcmp(method, "flip") != 0; }

double trial_tick(const Trial *trial) { return sqrt(2 * trial->radius / TRIAL_GRAVITY); }
double trial_speed(const Trial *trial) { return sqrt(2 * trial->radius * TRIAL_GRAVITY); }

double trial_load(const ScreeWorld *world) {
  double load = 0;
  for (ScreeBodyId body = 1; body <= scree_world_body_count(world); body++) {
    ScreeBodyState state;
    if (scree_world_body(world, body, &state) == SCREE_OK) load -= state.force.z;
  }
  return load;
}

TrialMass trial_mass(const ScreeWorld *world) {
  ScreeStatistics statistics;
  scree_world_statistics(world, &statistics);
  TrialMass mass = {.particles = scree_world_particles(world)};
  double cubes = 0;
  for (int64_t i = 0; i < mass.particles.count; i++) {
    double r = (double)mass.particles.radius[i];
    cubes += r * r * r;
  }
  mass.per_cube = cubes > 0 ? statistics.mass_final / cubes : 0;
  return mass;
}

double trial_mass_of(const TrialMass *mass, int64_t particle) {
  double r = (double)mass->particles.radius[particle];
  return mass->per_cube * r * r * r;
}

ScreeVec3 trial_place(const TrialMass *mass, int64_t particle) {
  const ScreeParticles *p = &mass->particles;
  return (ScreeVec3){p->origin.x + (double)p->x[particle], p->origin.y + (double)p->y[particle],
                     p->origin.z + (double)p->z[particle]};
}

ScreeStatus trial_tilt(ScreeWorld *world, double angle_deg, ScreeError *error) {
  double angle = angle_deg * M_PI / 180;
  return scree_world_set_gravity(world, (ScreeVec3){TRIAL_GRAVITY * sin(angle), 0, -TRIAL_GRAVITY * cos(angle)}, error);
}

double trial_speed_between(const ScreeWorld *world, double low, double high) {
  TrialMass mass = trial_mass(world);
  double momentum = 0, sum = 0;
  for (int64_t i = 0; i < mass.particles.count; i++) {
    double x = trial_place(&mass, i).x, m = trial_mass_of(&mass, i);
    if (x < low || x > high) continue;
    momentum += m * (double)mass.particles.vx[i];
    sum += m;
  }
  return sum > 0 ? momentum / sum : 0;
}
