/* A column that is let go at once, on a rough floor: Lube, Huppert, Sparks, Hallworth (2004). */
#include <math.h>

#include "app/validate/measure.h"
#include "app/validate/trial.h"

/* Frames and end, in sqrt(h0 / g). Deposits form within about 3 of them. */
#define COLLAPSE_FRAMES 20
#define COLLAPSE_END 8

double collapse_lube(double aspect) { return 1 + (aspect < 1.7 ? 1.24 * aspect : 1.6 * sqrt(aspect)); }

static double spread_radius(const ScreeWorld *world, double diameter) {
  TrialMass mass = trial_mass(world);
  Rings rings = {.width = diameter};
  for (int64_t i = 0; i < mass.particles.count; i++) {
    ScreeVec3 at = trial_place(&mass, i);
    rings_add(&rings, at.x, at.y, trial_mass_of(&mass, i) / TRIAL_DENSITY);
  }
  return rings_radius(&rings, 0.5 * diameter);
}

ScreeStatus collapse_measure(const Trial *trial, double aspect, double diameters, Collapse *collapse,
                             ScreeError *error) {
  double d = 2 * trial->radius, r0 = diameters * d, h0 = aspect * r0;
  *collapse = (Collapse){.start = r0, .scale = sqrt(h0 / TRIAL_GRAVITY)};
  ScreeWorld *world = NULL;
  ScreeStatus status =
      trial_world(trial, &world, error,
                  "frame_rate: %.9g\n"
                  "grains:\n  - {fill: {cylinder: {base: [0, 0, 0], radius: %.9g, height: %.9g}}, start: dense}\n"
                  "boundaries:\n  - {name: floor, plane: {point: [0, 0, 0], normal: [0, 0, 1]}, " ROUGH "}\n",
                  COLLAPSE_FRAMES / collapse->scale, r0, h0);
  while (status == SCREE_OK && collapse->samples <= COLLAPSE_FRAMES * COLLAPSE_END) {
    collapse->time[collapse->samples] = scree_world_time(world);
    collapse->radii[collapse->samples++] = spread_radius(world, d);
    status = trial_frame(trial, world, error);
  }
  if (status == SCREE_OK) {
    collapse->radius = collapse->radii[collapse->samples - 1];
    collapse->reached = series_reached(collapse->time, collapse->radii, collapse->samples, 0.99);
  }
  scree_world_destroy(world);
  return status;
}
