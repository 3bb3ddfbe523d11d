/* Everything that a step reads and writes. */
#ifndef STATE_STATE_H
#define STATE_STATE_H

#include "state/contacts.h"
#include "state/materials.h"
#include "state/mirror.h"
#include "state/particles.h"
#include "state/queue.h"
#include "state/solid_touch.h"
#include "state/solids.h"
#include "state/terrain.h"

enum { COUNTERS_MAX = 32, COUNTER_NAME_MAX = 40 };

typedef struct State {
  Vec3 origin; /* particle positions are relative to it; fixed for the life of the world */
  Vec3 gravity;
  Vec3 wind;
  uint64_t seed;
  double time;
  int64_t step, frame;
  double radius; /* nominal, method.radius */
  bool parcels;  /* particles are bulk material of volume (2 radius)^3 instead of spheres */
  Particles particles;
  Mirror *mirror; /* of the particles on a device; NULL: they are on the host alone */
  Materials materials;
  Solids solids;
  SolidSamples samples;
  Contacts contacts;
  Queue queue;
  Terrain *terrain;                  /* NULL: none; filled by terrain/ */
  ScreeCount counters[COUNTERS_MAX]; /* warnings of the run */
  int32_t counter_count;
  char counter_names[COUNTERS_MAX][COUNTER_NAME_MAX]; /* of counters that came from a checkpoint */
} State;

/* Counts something that deserves a warning; the name must be a string literal and appears in the report. */
void state_count(State *state, const char *name, int64_t times);
int64_t state_counted(const State *state, const char *name);

Status counters_archive(Core *core, Archive *archive, State *state);

static inline Vec3 state_position(const State *state, int64_t i) {
  const Particles *p = &state->particles;
  return vec3(state->origin.x + p->x[i] + p->low_x[i], state->origin.y + p->y[i] + p->low_y[i],
              state->origin.z + p->z[i] + p->low_z[i]);
}

/* Bulk volume that a parcel stands for. */
static inline double parcel_volume(double radius) { return 8 * radius * radius * radius; }

Status state_archive(Core *core, Archive *archive, State *state);
/* What was loaded: every index and number that a step takes for granted. */
Status state_check(Core *core, const Archive *archive, const State *state);
uint64_t state_hash(Core *core, const State *state);
void state_destroy(Core *core, State *state);

#endif
