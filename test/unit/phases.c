/* Phases of a step: each writes what its row in world/step.c says, and nothing else. Every part of the state is hashed
 * before and after each phase, over scenes that have something of everything. */
#include "core/hash.h"
#include "world/world.h"
#include "world_fixture.h"

enum { BITS = STATE_SET_FIELDS + STATE_SET_PARTS };

typedef struct Prints {
  uint64_t of[BITS];
} Prints;

static uint64_t more(uint64_t hash, const void *from, size_t bytes) {
  return bytes > 0 ? hash_bytes(from, bytes, hash) : hash;
}

static int bit_of(StateSet set) { return __builtin_ctzll(set); }

static void print_particles(const Particles *p, Prints *prints) {
  for (int32_t k = 0; k < p->field_count; k++) {
    uint64_t *to = &prints->of[k < STATE_SET_FIELDS ? k : bit_of(SET_ADDED)];
    *to = more(*to, *p->fields[k].data, (size_t)p->fields[k].size * (size_t)p->count);
  }
}

static void print_solids(const Solids *solids, Prints *prints) {
  uint64_t *pose = &prints->of[bit_of(SET_SOLIDS)], *sums = &prints->of[bit_of(SET_IMPULSES)];
  uint64_t *wrenches = &prints->of[bit_of(SET_WRENCHES)];
  for (int32_t k = 0; k < solids->count; k++) {
    const Solid *solid = &solids->items[k];
    const Vec3 motion[] = {solid->position, solid->center, solid->velocity, solid->spin};
    const Vec3 frame[] = {solid->impulse, solid->angular_impulse, solid->frame_force, solid->frame_torque};
    *pose = more(*pose, motion, sizeof motion);
    *pose = more(*pose, &solid->rotation, sizeof solid->rotation);
    *pose = more(*pose, solid->inverse_inertia, sizeof solid->inverse_inertia);
    *pose = more(*pose, solid->driven, sizeof solid->driven);
    *sums = more(*sums, frame, sizeof frame);
    *wrenches = more(*wrenches, &solid->wrench, sizeof solid->wrench);
  }
}

static uint64_t print_samples(const SolidSamples *s) {
  const float *const each[] = {s->x, s->y, s->z, s->vx, s->vy, s->vz, s->local_x, s->local_y, s->local_z};
  uint64_t hash = 0;
  for (size_t k = 0; k < sizeof each / sizeof *each; k++) hash = more(hash, each[k], sizeof(float) * (size_t)s->count);
  return hash;
}

static uint64_t print_contacts(const Contacts *contacts) {
  const NeighborList *const lists[] = {&contacts->particles.list, &contacts->samples.list, &contacts->solids.list};
  uint64_t hash = more(0, &contacts->overlap, sizeof contacts->overlap);
  for (int k = 0; k < 3; k++) {
    hash = more(hash, lists[k]->index, sizeof *lists[k]->index * (size_t)lists[k]->entries);
    hash = more(hash, &lists[k]->count, sizeof lists[k]->count);
  }
  return more(hash, &contacts->builds, sizeof contacts->builds);
}

static uint64_t print_terrain(const State *state) {
  const Terrain *terrain = state->terrain;
  if (!terrain) return 0;
  const Heightfield *field = state->solids.items[terrain->solid].shape.heights;
  uint64_t hash = terrain_hash(terrain);
  return more(hash, field->heights, sizeof *field->heights * (size_t)field->nx * (size_t)field->ny);
}

static uint64_t print_queue(const Queue *queue) {
  const int64_t counts[] = {queue->birth_count, queue->death_count, queue->done_birth_count, queue->done_death_count};
  uint64_t hash = more(0, counts, sizeof counts);
  hash = more(hash, queue->births, sizeof *queue->births * (size_t)queue->birth_count);
  return more(hash, queue->deaths, sizeof *queue->deaths * (size_t)queue->death_count);
}

static Prints print_state(const State *state) {
  Prints prints = {0};
  const double clock[] = {state->time, (double)state->step, (double)state->frame};
  print_particles(&state->particles, &prints);
  print_solids(&state->solids, &prints);
  prints.of[bit_of(SET_SAMPLES)] = print_samples(&state->samples);
  prints.of[bit_of(SET_CONTACTS)] = print_contacts(&state->contacts);
  prints.of[bit_of(SET_TERRAIN)] = print_terrain(state);
  prints.of[bit_of(SET_QUEUE)] = print_queue(&state->queue);
  prints.of[bit_of(SET_CLOCK)] = more(0, clock, sizeof clock);
  return prints;
}

/* Runs a step phase by phase; returns the parts that some phase has changed. */
static StateSet watch_step(ScreeWorld *world, const char *what) {
  Step step = world_begin_step(world);
  StateSet all = 0;
  for (int32_t k = 0; k < WORLD_PHASE_COUNT; k++) {
    const Phase *phase = &WORLD_PHASES[k];
    const DevicePhase *there = phase->device; /* says no more than the table */
    assert_true(!there || ((there->reads & ~(phase->reads | phase->writes)) | (there->writes & ~phase->writes)) == 0);
    Prints before = print_state(&world->state);
    assert_int_equal(world_run_phase(world, phase, &step), SCREE_OK);
    Prints after = print_state(&world->state);
    StateSet changed = 0;
    for (int b = 0; b < BITS; b++) changed |= (StateSet)(before.of[b] != after.of[b]) << b;
    if (changed & ~phase->writes)
      print_error("%s: phase %d (%s) changes %llx, and says %llx\n", what, (int)k + 1, phase->name,
                  (unsigned long long)changed, (unsigned long long)phase->writes);
    assert_true((changed & ~phase->writes) == 0);
    all |= changed;
  }
  return all;
}

typedef struct Parts {
  ScreeMaterialDef sand;
  ScreeGrainsDef grains;
  ScreeEmitterDef emitter;
  ScreeSinkDef sink;
  ScreeEventDef event;
  ScreeProbeDef creep;
  ScreeBoundaryDef box;
  ScreeBodyDef bodies[3];
  ScreeKeyDef keys[2];
  ScreeSceneDef scene;
} Parts;

/* A tray with sand, a ball in it by its samples, another by its distance, a plate on a path. */
static void parts_begin(Parts *parts, const char *method) {
  memset(parts, 0, sizeof *parts);
  ScreeVec3 zero = {0, 0, 0};
  parts->sand = scree_material_default("sand");
  parts->grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.2, -0.2, 0.01}, (ScreeVec3){0.2, 0.2, 0.1}));
  parts->emitter = scree_emitter_default("sand");
  parts->emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 0.4}, .radius = 0.1, .direction = {0, 0, -1}};
  parts->emitter.rate = 50;
  parts->sink.shape = scree_shape_box((ScreeVec3){0.1, 0.1, 0}, (ScreeVec3){0.2, 0.2, 0.1});
  parts->event.t = 0.01;
  parts->event.impulse.radius = 0.1;
  parts->event.impulse.speed = 0.5;
  parts->creep = scree_probe_default("creep", SCREE_PROBE_CREEP);
  parts->box = scree_boundary_default(scree_shape_box((ScreeVec3){-0.2, -0.2, 0}, (ScreeVec3){0.2, 0.2, 1}));
  parts->box.inside = true;
  for (int k = 0; k < 3; k++) {
    static const char *const names[] = {"sampled", "smooth", "plate"};
    parts->bodies[k] = scree_body_default(names[k], scree_shape_sphere(zero, 0.04));
    parts->bodies[k].shape.position = (ScreeVec3){0.1 * (k - 1), 0.05, 0.16};
  }
  parts->bodies[0].contact = SCREE_CONTACT_SAMPLES;
  parts->bodies[2].motion = SCREE_MOTION_KEYFRAMES;
  parts->keys[0] = (ScreeKeyDef){.t = 0, .position = {0.1, -0.1, 0.2}, .rotation = {1, 0, 0, 0}};
  parts->keys[1] = (ScreeKeyDef){.t = 0.2, .position = {0.1, -0.1, 0.1}, .rotation = {1, 0, 0, 0}};
  parts->bodies[2].keys = parts->keys;
  parts->bodies[2].key_count = 2;
  parts->scene = scree_scene_default();
  parts->scene.name = "phases";
  parts->scene.method = scree_method_default(method);
  parts->scene.method.radius = 0.01;
  parts->scene.materials = &parts->sand;
  parts->scene.grains = &parts->grains;
  parts->scene.emitters = &parts->emitter;
  parts->scene.sinks = &parts->sink;
  parts->scene.events = &parts->event;
  parts->scene.probes = &parts->creep;
  parts->scene.boundaries = &parts->box;
  parts->scene.bodies = parts->bodies;
  parts->scene.material_count = parts->scene.grains_count = parts->scene.emitter_count = parts->scene.sink_count =
      parts->scene.event_count = parts->scene.probe_count = parts->scene.boundary_count = 1;
  parts->scene.body_count = 3;
}

static StateSet watch(const ScreeSceneDef *scene, int frames) {
  ScreeWorld *world = world_of(scene, 1);
  StateSet changed = 0;
  while (world->state.frame < frames) changed |= watch_step(world, scene->method.name);
  scree_world_destroy(world);
  return changed;
}

static void phases_write_what_they_say(void **state) {
  (void)state;
  static const char *const methods[] = {"none", "pbd", "p2", "dem", "sph", "flip"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    Parts parts;
    parts_begin(&parts, methods[k]);
    StateSet changed = watch(&parts.scene, 4);
    /* The test would say nothing about what did not change at all. */
    StateSet expected = SET_X | SET_D | SET_V | SET_SOLIDS | SET_SAMPLES | SET_QUEUE | SET_CLOCK;
    if (k > 0) expected |= SET_WRENCHES | SET_IMPULSES;
    if ((changed & expected) != expected)
      print_error("%s: only %llx of %llx changed\n", methods[k], (unsigned long long)changed,
                  (unsigned long long)expected);
    assert_true((changed & expected) == expected);
  }
}

static void terrain_writes_what_it_says(void **state) {
  (void)state;
  static const char *const methods[] = {"pbd", "dem", "flip"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    Parts parts;
    ScreeTerrainDef terrain = scree_terrain_default("sand");
    terrain.origin = (ScreeVec2){-0.2, -0.2};
    terrain.size = (ScreeVec2){0.4, 0.4};
    terrain.cell = 0.05;
    terrain.height = 0.05;
    parts_begin(&parts, methods[k]);
    parts.grains.fill = scree_shape_box((ScreeVec3){-0.1, -0.1, 0.07}, (ScreeVec3){0.1, 0.1, 0.12});
    for (int b = 0; b < 3; b++) parts.bodies[b].shape.position.z = 0.085; /* in the ground */
    parts.scene.terrain = &terrain;
    assert_true(watch(&parts.scene, 3) & SET_TERRAIN);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(phases_write_what_they_say),
                                     cmocka_unit_test(terrain_writes_what_it_says)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
