/* How well the solves of a step must be done. */
#include <math.h>

#include "core/parallel.h"
#include "methods/flip/stress/stress.h"

/* What a solve leaves undone moves sand, and sand at rest would never stay so: the slower it is against what gravity
 * gives in a step, the better the solves must be. They begin near their ends then, and cost little. */
#define TOLERANCE_AT_REST 0.03

typedef struct Moving {
  const FlipWork *work;
  float gain[3];
} Moving;

static double energy_chunk(void *context, int64_t b, int64_t e) {
  const Moving *motion = context;
  const FlipFields *f = &motion->work->fields;
  double energy = 0;
  for (int a = 0; a < 3; a++)
    for (int64_t at = b * STRIP; at < e * STRIP; at++) {
      float v = f->sand.velocity[a][at] - motion->gain[a];
      energy += (double)(f->sand.mass[a][at] * v * v);
    }
  return energy;
}

static double mass_chunk(void *context, int64_t b, int64_t e) {
  const Moving *motion = context;
  double mass = 0;
  for (int a = 0; a < 3; a++)
    for (int64_t at = b * STRIP; at < e * STRIP; at++) mass += (double)motion->work->fields.sand.mass[a][at];
  return mass;
}

void flip_set_tolerance(FlipWork *work) {
  Vec3 g = work->state->gravity;
  Moving motion = {work, {(float)(g.x * work->dt), (float)(g.y * work->dt), (float)(g.z * work->dt)}};
  double energy = parallel_sum(work->core, 1, work->grid->strips, STRIP_CHUNK, energy_chunk, &motion);
  double mass = parallel_sum(work->core, 1, work->grid->strips, STRIP_CHUNK, mass_chunk, &motion);
  double fall = vec3_length(g) * work->dt;
  double share = fall > 0 && mass > 0 ? sqrt(3 * energy / mass) / fall : 1;
  work->stress.tolerance = work->settings->tolerance * fmin(1, fmax(TOLERANCE_AT_REST, share));
}
