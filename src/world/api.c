/* The public face of a world: see scree/world.h. */
#include <math.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "core/simd.h"
#include "world/world.h"

/* Half the side of the square that stands for a plane in pictures. */
#define PLANE_EXTENT 20.0

const ScreeSceneDef *scree_world_definition(const ScreeWorld *world) { return &world->definition.scene; }
double scree_world_time(const ScreeWorld *world) { return world->state.time; }
int64_t scree_world_frame_index(const ScreeWorld *world) { return world->state.frame; }
int64_t scree_world_step_index(const ScreeWorld *world) { return world->state.step; }

ScreeStatus scree_world_step(ScreeWorld *world, ScreeError *error) {
  Status status = world_needs_grains(world);
  return core_report(&world->core, status == SCREE_OK ? world_step(world) : status, error);
}

ScreeStatus scree_world_frame(ScreeWorld *world, ScreeError *error) {
  Status status = world_needs_grains(world);
  return core_report(&world->core, status == SCREE_OK ? world_frame(world) : status, error);
}

ScreeParticles scree_world_particles(const ScreeWorld *world) {
  const Particles *p = &world->state.particles;
  /* Nothing of the simulation changes. A device that has lost them says so at the next step. */
  if (world_to_host((ScreeWorld *)world, SET_X | SET_V | SET_BIRTH) != SCREE_OK)
    return (ScreeParticles){.origin = world->state.origin};
  return (ScreeParticles){.count = p->count,
                          .origin = world->state.origin,
                          .x = p->x,
                          .y = p->y,
                          .z = p->z,
                          .vx = p->vx,
                          .vy = p->vy,
                          .vz = p->vz,
                          .radius = p->radius,
                          .id = p->id,
                          .material = p->material};
}

ScreeParticles scree_world_grains(const ScreeWorld *world) {
  if (!world->upsample) return (ScreeParticles){.origin = world->state.origin};
  const FineGrains *g = upsample_grains(world->upsample);
  /* Nothing of the simulation changes. A device that has lost them says so at the next frame. */
  if (upsample_fetch(&((ScreeWorld *)world)->core, world->upsample) != SCREE_OK)
    return (ScreeParticles){.origin = world->state.origin};
  return (ScreeParticles){.count = g->count,
                          .origin = world->state.origin,
                          .x = g->x,
                          .y = g->y,
                          .z = g->z,
                          .vx = g->vx,
                          .vy = g->vy,
                          .vz = g->vz,
                          .radius = g->radius,
                          .id = g->id,
                          .material = g->material};
}

int32_t scree_world_body_count(const ScreeWorld *world) { return world->state.solids.count; }

ScreeBodyId scree_world_find_body(const ScreeWorld *world, const char *name) {
  return name ? bodies_find(world->bodies, &world->state, name) + 1 : 0;
}

static const Solid *solid_of(const ScreeWorld *world, ScreeBodyId body) {
  return body >= 1 && body <= world->state.solids.count ? &world->state.solids.items[body - 1] : NULL;
}

ScreeStatus scree_world_body(const ScreeWorld *world, ScreeBodyId body, ScreeBodyState *state) {
  const Solid *solid = solid_of(world, body);
  if (!solid) return SCREE_BAD_ARGUMENT;
  *state = (ScreeBodyState){.name = solid->name,
                            .is_boundary = solid->is_boundary,
                            .pose = {solid->position, solid->rotation},
                            .center = solid->center,
                            .velocity = solid->velocity,
                            .spin = solid->spin,
                            .mass = solid->mass,
                            .force = solid->frame_force,
                            .torque = solid->frame_torque};
  return SCREE_OK;
}

/* Float copies of the solids' surfaces, made once: drawing must not change anything later. */
Status world_prepare_drawing(ScreeWorld *world) {
  Core *core = &world->core;
  Solids *solids = &world->state.solids;
  TRY(memory_grow(core, &world->drawn_vertices, solids->count, "drawing"));
  TRY(memory_grow(core, &world->drawn_triangles, solids->count, "drawing"));
  for (; world->drawn_count < solids->count; world->drawn_count++) {
    int32_t k = world->drawn_count;
    Shape *shape = &solids->items[k].shape;
    if (shape->kind == SCREE_SHAPE_HEIGHTFIELD) continue; /* scree_world_terrain shows it */
    TRY(shape_make_surface(core, shape, PLANE_EXTENT));
    const Mesh *mesh = &shape->mesh;
    TRY(memory_new(core, &world->drawn_vertices[k], mesh->vertex_count * 3, "drawing"));
    TRY(memory_new(core, &world->drawn_triangles[k], mesh->triangle_count * 3, "drawing"));
    for (int64_t v = 0; v < mesh->vertex_count; v++)
      for (int axis = 0; axis < 3; axis++)
        world->drawn_vertices[k][3 * v + axis] = (float)vec3_get(mesh->vertices[v], axis);
    for (int64_t t = 0; t < mesh->triangle_count; t++)
      for (int corner = 0; corner < 3; corner++)
        world->drawn_triangles[k][3 * t + corner] = (uint32_t)mesh->triangles[t][corner];
  }
  return SCREE_OK;
}

ScreeStatus scree_world_body_mesh(const ScreeWorld *world, ScreeBodyId body, ScreeMeshView *mesh) {
  const Solid *solid = solid_of(world, body);
  if (!solid) return SCREE_BAD_ARGUMENT;
  *mesh = (ScreeMeshView){.vertex_count = solid->shape.mesh.vertex_count,
                          .triangle_count = solid->shape.mesh.triangle_count,
                          .vertices = world->drawn_vertices[body - 1],
                          .triangles = world->drawn_triangles[body - 1]};
  return SCREE_OK;
}

static Status no_body(ScreeWorld *world, ScreeBodyId body) {
  return fail(&world->core, SCREE_BAD_ARGUMENT, "there is no body %d", body);
}

ScreeStatus scree_world_set_pose(ScreeWorld *world, ScreeBodyId body, ScreePose pose, ScreeError *error) {
  Status status = !solid_of(world, body) ? no_body(world, body)
                                         : bodies_set_pose(&world->core, world->bodies, &world->state, body - 1, pose,
                                                           1 / world->definition.scene.frame_rate);
  world->neighbors_stale = true;
  world->solids_moved = world->surfaces_moved = INFINITY;
  return core_report(&world->core, status, error);
}

ScreeStatus scree_world_set_velocity(ScreeWorld *world, ScreeBodyId body, ScreeVec3 velocity, ScreeVec3 spin,
                                     ScreeError *error) {
  Status status = !solid_of(world, body)
                      ? no_body(world, body)
                      : bodies_set_velocity(&world->core, world->bodies, &world->state, body - 1, velocity, spin);
  return core_report(&world->core, status, error);
}

ScreeStatus scree_world_set_force(ScreeWorld *world, ScreeBodyId body, ScreeVec3 force, ScreeVec3 torque,
                                  ScreeError *error) {
  Status status = SCREE_OK;
  if (!solid_of(world, body)) status = no_body(world, body);
  else if (!vec3_finite(force) || !vec3_finite(torque))
    status = fail(&world->core, SCREE_BAD_ARGUMENT, "a force on a body must be finite");
  else {
    world->state.solids.items[body - 1].outside_force = force;
    world->state.solids.items[body - 1].outside_torque = torque;
  }
  return core_report(&world->core, status, error);
}

int32_t scree_world_control_count(const ScreeWorld *world) { return bodies_control_count(world->bodies); }

ScreeControlId scree_world_find_control(const ScreeWorld *world, const char *name) {
  for (int32_t k = 0; k < bodies_control_count(world->bodies); k++) {
    const char *found = NULL;
    double value, low, high;
    if (bodies_control(world->bodies, k, &found, &value, &low, &high) == SCREE_OK && strcmp(found, name) == 0)
      return k + 1;
  }
  return 0;
}

ScreeStatus scree_world_control(const ScreeWorld *world, ScreeControlId control, const char **name, double *value,
                                double *low, double *high) {
  return bodies_control(world->bodies, control - 1, name, value, low, high);
}

ScreeStatus scree_world_set_control(ScreeWorld *world, ScreeControlId control, double value, ScreeError *error) {
  return core_report(&world->core, bodies_set_control(&world->core, world->bodies, control - 1, value), error);
}

void scree_world_release_control(ScreeWorld *world, ScreeControlId control) {
  bodies_release_control(world->bodies, control - 1);
}

ScreeStatus scree_world_impulse(ScreeWorld *world, ScreeVec3 center, double radius, double speed, ScreeError *error) {
  Status status = SCREE_OK;
  if (!vec3_finite(center) || !isfinite(radius) || !isfinite(speed))
    status = fail(&world->core, SCREE_BAD_ARGUMENT, "an impulse must be finite");
  else {
    status = world_to_host(world, SET_X | SET_LOW | SET_V);
    if (status == SCREE_OK) world_throw(world, center, radius, speed);
    world_wrote_on_host(world, SET_V);
  }
  return core_report(&world->core, status, error);
}

int32_t scree_world_probe_count(const ScreeWorld *world) {
  return world->solids_only ? 0 : world->definition.scene.probe_count;
}

ScreeStatus scree_world_probe(const ScreeWorld *world, ScreeProbeId probe, ScreeProbeState *state) {
  if (probe < 1 || probe > scree_world_probe_count(world)) return SCREE_BAD_ARGUMENT;
  *state = world_probe_state(world, probe - 1);
  return SCREE_OK;
}

static int64_t count_samples(const State *state, bool boundary) {
  int64_t count = 0;
  for (int32_t k = 0; k < state->solids.count; k++)
    if (state->solids.items[k].is_boundary == boundary)
      count += state->solids.items[k].sample_end - state->solids.items[k].sample_begin;
  return count;
}

void scree_world_statistics(const ScreeWorld *world, ScreeStatistics *statistics) {
  const State *state = &world->state;
  const Tally *tally = &world->tally;
  const bool known = world_to_host((ScreeWorld *)world, SET_FIELD(mass)) == SCREE_OK;
  *statistics = (ScreeStatistics){
      .simd = simd_name(&world->core),
      .device = world->device ? world->device_name : "cpu",
      .device_info = world->device ? device_info(world->device) : NULL,
      .device_memory_peak_bytes = world->device ? device_use_so_far(world->device).memory_peak : 0,
      .bus_bytes_up = world->device ? device_use_so_far(world->device).up : 0,
      .bus_bytes_down = world->device ? device_use_so_far(world->device).down : 0,
      .threads = pool_threads(world->core.pool),
      .steps = state->step,
      .frames = state->frame,
      .coarse = state->particles.count,
      .grains = world->upsample ? upsample_grains(world->upsample)->count : 0,
      .boundary_samples = count_samples(state, true),
      .body_samples = count_samples(state, false),
      .mass_initial = tally->mass_initial,
      .mass_emitted = tally->mass_emitted,
      .mass_removed = tally->mass_removed,
      .mass_final = known ? world_mass((ScreeWorld *)world) : NAN,
      .max_overlap = tally->max_overlap,
      .max_speed = tally->max_speed,
      .cfl_limited_steps = state_counted(state, "cfl_limited_steps"),
      .memory_bytes = atomic_load(&((ScreeWorld *)world)->core.memory.used),
      .memory_peak_bytes = atomic_load(&((ScreeWorld *)world)->core.memory.peak),
      .frame_seconds_coarse = world->seconds_coarse,
      .frame_seconds_upsample = world->seconds_upsample,
      .frame_seconds_bodies = world->seconds_bodies,
      .phases = world->profile.phases,
      .phase_count = world->profile.count,
      .warnings = state->counters,
      .warning_count = state->counter_count,
  };
}

uint64_t scree_world_state_hash(const ScreeWorld *world) {
  if (world_to_host((ScreeWorld *)world, SET_PARTICLES) != SCREE_OK) return 0;
  return state_hash(&((ScreeWorld *)world)->core, &world->state);
}

uint64_t scree_world_grains_hash(const ScreeWorld *world) {
  return world->upsample ? upsample_hash(&((ScreeWorld *)world)->core, world->upsample) : hash_bytes("", 0, 0);
}
