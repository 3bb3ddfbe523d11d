/* Pressure from the multipliers that contacts keep across steps. */
#include "methods/common/position_pressure.h"

#include "core/parallel.h"

enum { PRESSURE_CHUNK = 1024 };

typedef struct Loads {
  const State *state;
  const ContactMemory *memory;
  double per_square; /* 1 / dt^2: multipliers to forces */
  float *pressure;
} Loads;

static double row_load(const ContactMemory *memory, int64_t i) {
  int64_t first, held = contact_memory_row(memory, i, &first);
  double load = 0;
  for (int64_t k = 0; k < held; k++) load += (double)memory->now.kept[0][first + k * LANES]; /* ln comes first */
  return load;
}

static void loads_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Loads *loads = context;
  const float *radius = loads->state->particles.radius;
  for (int64_t i = b; i < e; i++) {
    loads->pressure[i] = pressure_of_load(row_load(loads->memory, i) * loads->per_square, (double)radius[i]);
  }
}

void position_pressure(Core *core, const State *state, const ContactMemory *memory, double last_dt, float *pressure) {
  Loads loads = {state, memory, last_dt > 0 ? 1 / (last_dt * last_dt) : 0, pressure};
  parallel_for(core, 0, state->particles.count, PRESSURE_CHUNK, loads_chunk, &loads);
}
