/* Pressure: the elastic forces of the contacts as they are now. Dampers are left out: they carry no load. */
#include <math.h>

#include "core/parallel.h"
#include "methods/common/pressure.h"
#include "methods/dem/pressure.h"

enum { PRESSURE_CHUNK = 512 };

typedef struct Loads {
  const State *state;
  const DemConstantsTable *constants;
  float *pressure;
} Loads;

static double contact_load(const DemConstants *constants, double penetration, double reduced) {
  if (!(penetration > 0)) return 0;
  return dem_hertz(constants, reduced) * penetration * sqrt(penetration) -
         (double)constants->tension * reduced * reduced;
}

static double pairs_load(const Loads *loads, int64_t i) {
  const State *state = loads->state;
  const Particles *p = &state->particles;
  const NeighborList *list = &state->contacts.particles.list;
  double load = 0, radius = (double)p->radius[i];
  if (i >= list->count) return 0;
  const DemConstants *row = loads->constants->items + (int64_t)p->material[i] * loads->constants->columns;
  for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
    int32_t j = list->index[k];
    double other = (double)p->radius[j];
    double distance = vec3_length(vec3_sub(state_position(state, i), state_position(state, j)));
    load += contact_load(&row[p->material[j]], radius + other - distance, radius * other / (radius + other));
  }
  return load;
}

static double solids_load(const Loads *loads, int64_t i) {
  const State *state = loads->state;
  const Particles *p = &state->particles;
  const NeighborList *list = &state->contacts.solids.list;
  double load = 0, radius = (double)p->radius[i];
  if (i >= list->count) return 0;
  const DemConstants *row =
      loads->constants->items + (int64_t)p->material[i] * loads->constants->columns + state->materials.count;
  for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
    ShapePoint touch[SHAPE_CONTACTS_MAX];
    int32_t solid = list->index[k];
    int found = solid_touches(&state->solids.items[solid], state_position(state, i), radius, touch);
    for (int t = 0; t < found; t++) load += contact_load(&row[solid], radius - touch[t].distance, radius);
  }
  return load;
}

static void loads_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Loads *loads = context;
  for (int64_t i = b; i < e; i++)
    loads->pressure[i] =
        pressure_of_load(pairs_load(loads, i) + solids_load(loads, i), (double)loads->state->particles.radius[i]);
}

void dem_pressure(Core *core, const State *state, const DemConstantsTable *constants, float *pressure) {
  Loads loads = {state, constants, pressure};
  parallel_for(core, 0, state->particles.count, PRESSURE_CHUNK, loads_chunk, &loads);
}
