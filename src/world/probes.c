/* Probes: what is measured, once a frame. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "world/pile.h"
#include "world/world.h"

enum { PROBE_GRAIN = 1024 };

/* Columns and units by kind, in the order of the scene's choices. */
static const struct {
  const char *unit;
  int32_t count;
  const char *suffixes[SCREE_PROBE_VALUES_MAX];
} PROBE_FORMS[] = {
    [SCREE_PROBE_FLOW] = {"kg/s", 1, {""}},
    [SCREE_PROBE_REPOSE_ANGLE] = {"deg", 1, {""}},
    [SCREE_PROBE_RUNOUT] = {"m", 1, {""}},
    [SCREE_PROBE_FORCE_ON] = {"N", 3, {"_x", "_y", "_z"}},
    [SCREE_PROBE_PACKING] = {"1", 1, {""}},
    [SCREE_PROBE_MASS_IN] = {"kg", 1, {""}},
    [SCREE_PROBE_POSE_OF] = {"m",
                             13,
                             {"_x", "_y", "_z", "_qw", "_qx", "_qy", "_qz", "_vx", "_vy", "_vz", "_wx", "_wy", "_wz"}},
    [SCREE_PROBE_CREEP] = {"m", 1, {""}},
    [SCREE_PROBE_ENERGY] = {"J", 2, {"_kinetic", "_potential"}},
};

static Status create_probe(ScreeWorld *world, int32_t index) {
  const ScreeProbeDef *def = &world->definition.scene.probes[index];
  Probe *probe = &world->probes[index];
  if (def->kind < 0 || def->kind >= (int)(sizeof PROBE_FORMS / sizeof *PROBE_FORMS))
    return world_fail_at(world, SCREE_BAD_INPUT, def->source, "probe '%s' is of no known kind", def->name);
  probe->state.name = def->name;
  probe->state.unit = PROBE_FORMS[def->kind].unit;
  probe->state.value_count = PROBE_FORMS[def->kind].count;
  memcpy(probe->state.suffixes, PROBE_FORMS[def->kind].suffixes, sizeof probe->state.suffixes);
  probe->solid = -1;
  if (def->kind == SCREE_PROBE_FORCE_ON || def->kind == SCREE_PROBE_POSE_OF) {
    probe->solid = bodies_find(world->bodies, &world->state, def->target);
    if (probe->solid < 0)
      return world_fail_at(world, SCREE_BAD_INPUT, def->source, "probe '%s': nothing is called '%s'", def->name,
                           def->target);
  }
  if (def->kind == SCREE_PROBE_CREEP) {
    Particles *p = &world->state.particles;
    static const char *const names[] = {"creep_x", "creep_y", "creep_z"};
    float **places[] = {&probe->from_x, &probe->from_y, &probe->from_z};
    for (int k = 0; k < 3; k++)
      TRY(particles_add_field(&world->core, p, names[k], sizeof(float), false, (void **)places[k]));
    TRY(particles_add_field(&world->core, p, "creep_known", 1, false, (void **)&probe->from_known));
  }
  return SCREE_OK;
}

Status world_probes_create(ScreeWorld *world) {
  int32_t count = world->definition.scene.probe_count;
  TRY(memory_new(&world->core, &world->probes, count, "probes"));
  for (int32_t k = 0; k < count; k++) TRY(create_probe(world, k));
  return SCREE_OK;
}

/* Mass that goes through a height in this step, downward less upward. */
typedef struct Crossing {
  const Particles *particles;
  float height;
} Crossing;

static double crossing_chunk(void *context, int64_t b, int64_t e) {
  const Crossing *crossing = context;
  const Particles *p = crossing->particles;
  double sum = 0;
  for (int64_t i = b; i < e; i++) {
    bool above = p->z[i] >= crossing->height, stays = p->z[i] + p->dz[i] >= crossing->height;
    if (above != stays) sum += above ? (double)p->mass[i] : -(double)p->mass[i];
  }
  return sum;
}

void world_probes_commit(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  for (int32_t k = 0; k < scene->probe_count; k++) {
    if (scene->probes[k].kind != SCREE_PROBE_FLOW) continue;
    Crossing crossing = {&world->state.particles, (float)(scene->probes[k].plane_z - world->state.origin.z)};
    world->probes[k].crossed +=
        parallel_sum(&world->core, 0, world->state.particles.count, PROBE_GRAIN, crossing_chunk, &crossing);
  }
}

/* Sums over particles in a box. */
typedef struct BoxSum {
  const State *state;
  Vec3 low, high;
} BoxSum;

static bool box_sum_begin(const ScreeWorld *world, const ScreeProbeDef *def, BoxSum *box) {
  *box = (BoxSum){&world->state, vec3(-INFINITY, -INFINITY, -INFINITY), vec3(INFINITY, INFINITY, INFINITY)};
  if (def->box.kind != SCREE_SHAPE_BOX) return false;
  box->low = def->box.box.min;
  box->high = def->box.box.max;
  return true;
}

static double mass_chunk(void *context, int64_t b, int64_t e) {
  const BoxSum *box = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++) {
    Vec3 at = state_position(box->state, i);
    bool in = at.x >= box->low.x && at.x < box->high.x && at.y >= box->low.y && at.y < box->high.y &&
              at.z >= box->low.z && at.z < box->high.z;
    if (in) sum += (double)box->state->particles.mass[i];
  }
  return sum;
}

/* Share of a unit ball on the near side of a plane at distance t (in radii) from its centre. */
static double ball_share(double t) { return t <= -1 ? 0 : t >= 1 ? 1 : (2 + 3 * t - t * t * t) / 4; }

static double solid_chunk(void *context, int64_t b, int64_t e) {
  const BoxSum *box = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++) {
    Vec3 at = state_position(box->state, i);
    double r = (double)box->state->particles.radius[i], share = 4.0 / 3 * M_PI * r * r * r;
    for (int axis = 0; axis < 3; axis++)
      share *= ball_share((vec3_get(at, axis) - vec3_get(box->low, axis)) / r) *
               ball_share((vec3_get(box->high, axis) - vec3_get(at, axis)) / r);
    sum += share;
  }
  return sum;
}

static double side_share(double center, double half, double low, double high) {
  double from = fmax(center - half, low), to = fmin(center + half, high);
  return to > from ? (to - from) / (2 * half) : 0;
}

/* A parcel is a cube of bulk material: its volume is what it would fill at rest density. */
static double bulk_chunk(void *context, int64_t b, int64_t e) {
  const BoxSum *box = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++) {
    Vec3 at = state_position(box->state, i);
    double r = (double)box->state->particles.radius[i], share = parcel_volume(r);
    for (int axis = 0; axis < 3; axis++)
      share *= side_share(vec3_get(at, axis), r, vec3_get(box->low, axis), vec3_get(box->high, axis));
    sum += share;
  }
  return sum;
}

static double kinetic_chunk(void *context, int64_t b, int64_t e) {
  const State *state = context;
  const Particles *p = &state->particles;
  double sum = 0;
  for (int64_t i = b; i < e; i++) {
    double x = (double)p->vx[i], y = (double)p->vy[i], z = (double)p->vz[i];
    sum += 0.5 * (double)p->mass[i] * (x * x + y * y + z * z);
  }
  return sum;
}

static double potential_chunk(void *context, int64_t b, int64_t e) {
  const State *state = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++)
    sum -= (double)state->particles.mass[i] * vec3_dot(state->gravity, state_position(state, i));
  return sum;
}

static double add_up(ScreeWorld *world, ParallelSumBody body, void *context) {
  return parallel_sum(&world->core, 0, world->state.particles.count, PROBE_GRAIN, body, context);
}

/* Grains and free bodies. */
static void measure_energy(ScreeWorld *world, double values[2]) {
  State *state = &world->state;
  values[0] = add_up(world, kinetic_chunk, state);
  values[1] = add_up(world, potential_chunk, state);
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    if (solid->motion != MOTION_FREE) continue;
    Vec3 spin = quat_rotate(quat_conjugate(solid->rotation), solid->spin);
    values[0] += 0.5 * solid->mass * vec3_dot(solid->velocity, solid->velocity) +
                 0.5 * vec3_dot(spin, mat3_apply(&solid->inertia, spin));
    values[1] -= solid->mass * vec3_dot(state->gravity, solid->center);
  }
}

static void measure_pose(const Solid *solid, double values[13]) {
  const double pose[13] = {solid->position.x, solid->position.y, solid->position.z, solid->rotation.w,
                           solid->rotation.x, solid->rotation.y, solid->rotation.z, solid->velocity.x,
                           solid->velocity.y, solid->velocity.z, solid->spin.x,     solid->spin.y,
                           solid->spin.z};
  memcpy(values, pose, sizeof pose);
}

static int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

/* 99th percentile of the displacement of the grains that were there at `from`. */
static Status measure_creep(ScreeWorld *world, const ScreeProbeDef *def, Probe *probe) {
  State *state = &world->state;
  Particles *p = &state->particles;
  probe->state.values[0] = 0;
  if (state->time < def->from - 1e-9) return SCREE_OK;
  if (!probe->from_taken) {
    probe->from_taken = true;
    memcpy(probe->from_x, p->x, sizeof(float) * (size_t)p->count);
    memcpy(probe->from_y, p->y, sizeof(float) * (size_t)p->count);
    memcpy(probe->from_z, p->z, sizeof(float) * (size_t)p->count);
    memset(probe->from_known, 1, (size_t)p->count);
    return SCREE_OK;
  }
  int mark = scratch_mark(&world->scratch);
  float *way = NULL;
  TRY(scratch_take(&world->core, &world->scratch, &way, p->count, "creep"));
  int64_t known = 0;
  for (int64_t i = 0; i < p->count; i++) {
    if (!probe->from_known[i]) continue;
    float x = p->x[i] - probe->from_x[i], y = p->y[i] - probe->from_y[i], z = p->z[i] - probe->from_z[i];
    way[known++] = sqrtf(x * x + y * y + z * z);
  }
  qsort(way, (size_t)known, sizeof *way, ascending);
  if (known > 0) probe->state.values[0] = (double)way[(int64_t)(0.99 * (double)(known - 1))];
  scratch_release(&world->core, &world->scratch, mark);
  return SCREE_OK;
}

static Status measure(ScreeWorld *world, int32_t index, double frame_seconds) {
  const ScreeProbeDef *def = &world->definition.scene.probes[index];
  Probe *probe = &world->probes[index];
  double *values = probe->state.values;
  const Solid *solid = probe->solid >= 0 ? &world->state.solids.items[probe->solid] : NULL;
  BoxSum box;
  bool bounded = box_sum_begin(world, def, &box);
  switch (def->kind) {
  case SCREE_PROBE_FLOW:
    values[0] = frame_seconds > 0 ? probe->crossed / frame_seconds : 0;
    probe->crossed = 0;
    return SCREE_OK;
  case SCREE_PROBE_REPOSE_ANGLE: return pile_angle(&world->core, &world->scratch, &world->state, def->axis, &values[0]);
  case SCREE_PROBE_RUNOUT:
    return pile_runout(&world->core, &world->scratch, &world->state, def->axis, def->fraction, &values[0]);
  case SCREE_PROBE_FORCE_ON:
    values[0] = solid->frame_force.x;
    values[1] = solid->frame_force.y;
    values[2] = solid->frame_force.z;
    return SCREE_OK;
  case SCREE_PROBE_PACKING: {
    Vec3 size = vec3_sub(box.high, box.low);
    ParallelSumBody body = world->state.parcels ? bulk_chunk : solid_chunk;
    values[0] = bounded ? add_up(world, body, &box) / (size.x * size.y * size.z) : NAN;
    return SCREE_OK;
  }
  case SCREE_PROBE_MASS_IN: values[0] = add_up(world, mass_chunk, &box); return SCREE_OK;
  case SCREE_PROBE_POSE_OF: measure_pose(solid, values); return SCREE_OK;
  case SCREE_PROBE_CREEP: return measure_creep(world, def, probe);
  case SCREE_PROBE_ENERGY: measure_energy(world, values); return SCREE_OK;
  }
  return SCREE_OK;
}

Status world_probes_frame(ScreeWorld *world, double frame_seconds) {
  for (int32_t k = 0; k < world->definition.scene.probe_count; k++) TRY(measure(world, k, frame_seconds));
  return SCREE_OK;
}

Status world_probes_archive(ScreeWorld *world, Archive *archive) {
  TRY(archive_section(&world->core, archive, "probes"));
  for (int32_t k = 0; k < world->definition.scene.probe_count; k++) {
    TRY(archive_value(&world->core, archive, &world->probes[k].from_taken));
    TRY(archive_value(&world->core, archive, &world->probes[k].crossed));
    TRY(archive_value(&world->core, archive, &world->probes[k].state.values));
  }
  return SCREE_OK;
}
