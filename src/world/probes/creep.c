/* How far grains have gone since a time: the 99th percentile. */
#include <stdio.h>
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
  float **places[] = {&creep->x, &creep->y, &creep->z};
  int number = (int)(probe - world->probes) + 1; /* there may be several: each has fields of its own */
  char name[FIELD_NAME_MAX];
  for (int k = 0; k < 3; k++) {
    snprintf(name, sizeof name, "creep_%c_%d", "xyz"[k], number);
    TRY(particles_add_floats(&world->core, p, name, 1, false, (void **)places[k]));
  }
  snprintf(name, sizeof name, "creep_known_%d", number);
  return particles_add_field(&world->core, p, name, 1, false, (void **)&creep->known);
}

static int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

static void take_positions(Creep *creep, const Particles *p) {
  size_t size = sizeof(float) * (size_t)p->count;
  creep->taken = true;
  if (p->count == 0) return; /* the fields may not have arrays yet */
  memcpy(creep->x, p->x, size);
  memcpy(creep->y, p->y, size);
  memcpy(creep->z, p->z, size);
  memset(creep->known, 1, (size_t)p->count);
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
  return archive_bools(&world->core, archive, &creep->taken, 1);
}

const ProbeKind PROBE_CREEP = {
    .size = sizeof(Creep), .create = creep_create, .looks = true, .frame = creep_frame, .archive = creep_archive};
