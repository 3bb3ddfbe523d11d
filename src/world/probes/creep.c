/* How far grains have gone since a time: the 99th percentile. */
#include <stdlib.h>
#include <string.h>

#include "world/probes/probes.h"

typedef struct Creep {
  float *x, *y, *z; /* positions then; fields of the particles */
  uint8_t *known;   /* whether the grain was there then */
  bool taken;       /* whether that time has come */
} Creep;

static Status creep_create(ScreeWorld *world, Probe *probe) {
  Creep *creep = probe->data;
  Particles *p = &world->state.particles;
  static const char *const names[] = {"creep_x", "creep_y", "creep_z"};
  float **places[] = {&creep->x, &creep->y, &creep->z};
  for (int k = 0; k < 3; k++)
    TRY(particles_add_field(&world->core, p, names[k], sizeof(float), false, (void **)places[k]));
  return particles_add_field(&world->core, p, "creep_known", 1, false, (void **)&creep->known);
}

static int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

static void take_positions(Creep *creep, const Particles *p) {
  size_t size = sizeof(float) * (size_t)p->count;
  memcpy(creep->x, p->x, size);
  memcpy(creep->y, p->y, size);
  memcpy(creep->z, p->z, size);
  memset(creep->known, 1, (size_t)p->count);
  creep->taken = true;
}

static Status creep_frame(ScreeWorld *world, Probe *probe, double seconds) {
  (void)seconds;
  Creep *creep = probe->data;
  const Particles *p = &world->state.particles;
  probe->state.values[0] = 0;
  if (world->state.time < probe->definition->from - 1e-9) return SCREE_OK;
  if (!creep->taken) {
    take_positions(creep, p);
    return SCREE_OK;
  }
  int mark = scratch_mark(&world->scratch);
  float *displacement = NULL;
  TRY(scratch_take(&world->core, &world->scratch, &displacement, p->count, "creep"));
  int64_t known = 0;
  for (int64_t i = 0; i < p->count; i++) {
    if (!creep->known[i]) continue;
    float x = p->x[i] - creep->x[i], y = p->y[i] - creep->y[i], z = p->z[i] - creep->z[i];
    displacement[known++] = sqrtf(x * x + y * y + z * z);
  }
  qsort(displacement, (size_t)known, sizeof *displacement, ascending);
  if (known > 0) probe->state.values[0] = (double)displacement[(int64_t)(0.99 * (double)(known - 1))];
  scratch_release(&world->core, &world->scratch, mark);
  return SCREE_OK;
}

static Status creep_archive(ScreeWorld *world, Probe *probe, Archive *archive) {
  Creep *creep = probe->data;
  return archive_value(&world->core, archive, &creep->taken);
}

const ProbeKind PROBE_CREEP = {
    .size = sizeof(Creep), .create = creep_create, .frame = creep_frame, .archive = creep_archive};
