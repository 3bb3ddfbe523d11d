/* A poured heap: what the laws `heap` and `heap_fast` and the calibration measure. */
#include <math.h>

#include "app/validate/trial.h"

/* Rates are in grains per sqrt(diameter / g), in which a grain falls half its diameter, so that heaps of any radius are
 * poured alike, and grow with the heap's own radius, so that as much runs down each piece of its slope: half way down
 * less than a quarter of a grain for each diameter in that time. At four times this rate heaps of pbd and dem are 3 to
 * 4 degrees flatter; falls of 4 and 8 diameters make no difference. */
typedef struct Pouring {
  double rate;        /* of a heap of POURED_GRAINS */
  double start, fall; /* diameters over the floor at first, and over the heap at least */
  double disc;        /* radius in diameters */
} Pouring;
#define POURED_GRAINS 3000.0
static const Pouring slowly = {.rate = 4, .start = 6, .fall = 6, .disc = 3};
static const Pouring fast = {.rate = 12, .start = 20, .fall = 10, .disc = 3};

/* Grains leave the disc with this speed, in sqrt(diameter g); slower ones have arrived. */
#define POURED_SPEED 1.5
#define ARRIVED_SPEED 1.0

/* Height of the grains that have arrived, over the floor. */
static double arrived_top(const ScreeWorld *world, double slow) {
  ScreeParticles p = scree_world_particles(world);
  double top = 0;
  for (int64_t i = 0; i < p.count; i++) {
    double vx = (double)p.vx[i], vy = (double)p.vy[i], vz = (double)p.vz[i];
    if (vx * vx + vy * vy + vz * vz < slow * slow) top = fmax(top, p.origin.z + (double)p.z[i]);
  }
  return top;
}

/* The disc rises with the heap: the fall stays the same. */
static ScreeStatus raise_disc(ScreeWorld *world, double height, ScreeError *error) {
  ScreeEmitterDef emitter = scree_world_definition(world)->emitters[0];
  if (height <= emitter.shape.disc.center.z) return SCREE_OK;
  emitter.shape.disc.center.z = height;
  return scree_world_set_emitter(world, 1, &emitter, error);
}

static ScreeStatus pour(const Trial *trial, const Pouring *pouring, int64_t grains, double *angle_deg,
                        ScreeError *error) {
  double d = 2 * trial->radius, tick = sqrt(d / TRIAL_GRAVITY), speed = sqrt(d * TRIAL_GRAVITY);
  double grain = TRIAL_DENSITY / 0.6 * M_PI / 6 * d * d * d;
  double rate = pouring->rate * cbrt((double)grains / POURED_GRAINS), seconds = (double)grains / rate * tick;
  ScreeWorld *world = NULL;
  ScreeStatus status = trial_world(
      trial, &world, error,
      "frame_rate: %.9g\n"
      "emitters:\n  - {disc: {center: [0, 0, %.9g], radius: %.9g}, rate: %.9g, speed: %.9g, until: %.9g}\n"
      "boundaries:\n  - {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}, " ROUGH "}\n"
      "probes:\n  - {name: angle, kind: repose_angle}\n",
      0.5 / tick, pouring->start * d, pouring->disc * d, rate * grain / tick, POURED_SPEED * speed, seconds);
  while (status == SCREE_OK && scree_world_time(world) < seconds) {
    status = raise_disc(world, arrived_top(world, ARRIVED_SPEED * speed) + pouring->fall * d, error);
    if (status == SCREE_OK) status = trial_frame(trial, world, error);
  }
  /* The last grains arrive and come to rest. */
  if (status == SCREE_OK) status = trial_seconds(trial, world, 40 * tick, error);
  if (status == SCREE_OK) *angle_deg = trial_probe(world, 1, 0);
  scree_world_destroy(world);
  return status;
}

ScreeStatus heap_measure(const Trial *trial, int64_t grains, double *angle_deg, ScreeError *error) {
  return pour(trial, &slowly, grains, angle_deg, error);
}

ScreeStatus heap_measure_fast(const Trial *trial, int64_t grains, double *angle_deg, ScreeError *error) {
  return pour(trial, &fast, grains, angle_deg, error);
}
