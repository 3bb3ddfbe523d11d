/* Pressure from the multipliers that contacts keep across steps. */
#include "methods/common/position_pressure.h"

#include "core/parallel.h"
#include "methods/common/position.h"

enum { PRESSURE_CHUNK = 1024 };

typedef struct Loads {
  const State *state;
  double per_square; /* 1 / dt^2: multipliers to forces */
  float *pressure;
} Loads;

static double row_load(const ContactList *contacts, int64_t i) {
  const NeighborList *list = &contacts->list;
  double load = 0;
  if (!contacts->history || i >= list->count) return 0;
  for (int64_t k = list->start[i]; k < list->start[i + 1]; k++)
    load += (double)contacts->history[k * contacts->history_size]; /* ln comes first */
  return load;
}

static void loads_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Loads *loads = context;
  const Contacts *contacts = &loads->state->contacts;
  const float *radius = loads->state->particles.radius;
  for (int64_t i = b; i < e; i++) {
    double load = row_load(&contacts->particles, i) + row_load(&contacts->samples, i) + row_load(&contacts->solids, i);
    loads->pressure[i] = pressure_of_load(load * loads->per_square, (double)radius[i]);
  }
}

void position_pressure(Core *core, const State *state, double last_dt, float *pressure) {
  Loads loads = {state, last_dt > 0 ? 1 / (last_dt * last_dt) : 0, pressure};
  parallel_for(core, 0, state->particles.count, PRESSURE_CHUNK, loads_chunk, &loads);
}
