/* Terrain with exchange, poured on and dug in: the same bits for any number of threads and after a checkpoint, and the
 * same mass at every frame. */
#include <math.h>

#include "world/world.h"
#include "world_fixture.h"

enum { FRAMES = 26, HALF = 13 };

static const char *const METHODS[] = {"pbd", "p2", "dem"};

static double hills(void *context, double x, double y) {
  (void)context;
  return 0.2 + 0.06 * sin(8 * x) * cos(9 * y);
}

static void with_scene(const char *method, void (*use)(const ScreeSceneDef *scene)) {
  ScreeMaterialDef sand = scree_material_default("sand");
  sand.radius_spread = 0.1;
  sand.young = 1e6;
  ScreeTerrainDef terrain = scree_terrain_default("sand");
  terrain.size = (ScreeVec2){0.8, 0.6};
  terrain.cell = 0.05;
  terrain.height_at = hills;
  ScreeEmitterDef emitter = scree_emitter_default("sand");
  emitter.shape.disc = (ScreeDiscDef){.center = {0.6, 0.3, 0.5}, .radius = 0.08, .direction = {0, 0, -1}};
  emitter.rate = 30;
  emitter.speed = 1;
  ScreeBoundaryDef tray = scree_boundary_default(scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.8, 0.6, 2}));
  tray.inside = true;
  ScreeBodyDef bodies[2] = {
      scree_body_default("blade", scree_shape_box((ScreeVec3){-0.03, -0.15, 0}, (ScreeVec3){0.03, 0.15, 0.2})),
      scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.06))};
  ScreeKeyDef keys[2] = {scree_key_default(), scree_key_default()};
  keys[0].position = (ScreeVec3){0.15, 0.3, 0.18};
  keys[1].t = 0.5;
  keys[1].position = (ScreeVec3){0.4, 0.3, 0.15};
  bodies[0].motion = SCREE_MOTION_KEYFRAMES;
  bodies[0].keys = keys;
  bodies[0].key_count = 2;
  bodies[1].density = 3000;
  bodies[1].shape.position = (ScreeVec3){0.62, 0.12, 0.4};
  bodies[1].velocity = (ScreeVec3){0, 0.2, -1};
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "dig";
  scene.method = scree_method_default(method);
  scene.method.radius = 0.02;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.terrain = &terrain;
  scene.emitters = &emitter;
  scene.emitter_count = 1;
  scene.boundaries = &tray;
  scene.boundary_count = 1;
  scene.bodies = bodies;
  scene.body_count = 2;
  use(&scene);
}

/* Grains and columns together, in units: no rounding. */
static int64_t units_in_all(const ScreeWorld *world) {
  const Terrain *t = world->state.terrain;
  const Queue *queue = &world->state.queue;
  int64_t units = terrain_units(t);
  for (int64_t i = 0; i < world->state.particles.count; i++)
    units += (int64_t)((double)world->state.particles.mass[i] / t->unit);
  for (int64_t k = 0; k < queue->birth_count; k++)
    if (queue->births[k].reason == REASON_EXHUME) units += (int64_t)((double)queue->births[k].mass / t->unit);
  for (int64_t k = 0; k < queue->death_count; k++) units -= (int64_t)((double)queue->deaths[k].mass / t->unit);
  return units;
}

static void run(ScreeWorld *world, int frames) {
  ScreeStatistics before, after;
  for (int k = 0; k < frames; k++) {
    int64_t units = units_in_all(world);
    scree_world_statistics(world, &before);
    run_frames(world, 1);
    scree_world_statistics(world, &after);
    int64_t gained = units_in_all(world) - units;
    double emitted = (after.mass_emitted - before.mass_emitted) / world->state.terrain->unit;
    assert_true(fabs((double)gained - emitted) <= 1e-9 * emitted + 1);
  }
}

static uint64_t hash_after(const ScreeSceneDef *scene, int threads, bool baseline) {
  ScreeWorld *world = world_with(scene, threads, baseline);
  run(world, FRAMES);
  const Terrain *t = world->state.terrain;
  if (threads == 1)
    print_message("%s: %lld buried, %lld exhumed, %lld grains\n", scene->method.name, (long long)t->buried,
                  (long long)t->exhumed, (long long)world->state.particles.count);
  assert_true(t->exhumed > 50);
  uint64_t hash = scree_world_state_hash(world);
  scree_world_destroy(world);
  return hash;
}

static void compare_threads(const ScreeSceneDef *scene) {
  uint64_t one = hash_after(scene, 1, false);
  assert_true(hash_after(scene, 3, false) == one);
  assert_true(hash_after(scene, 2, true) == one);
}

static void compare_resumed(const ScreeSceneDef *scene) {
  ScreeWorld *whole = world_of(scene, 2), *resumed = world_of(scene, 1);
  run(whole, HALF);
  world_hand_over(whole, resumed);
  run(whole, FRAMES - HALF);
  run(resumed, FRAMES - HALF);
  assert_true(scree_world_state_hash(resumed) == scree_world_state_hash(whole));
  ScreeMeshView a = scree_world_terrain(whole), b = scree_world_terrain(resumed);
  assert_memory_equal(a.vertices, b.vertices, sizeof(float) * 3 * (size_t)a.vertex_count);
  scree_world_destroy(whole);
  scree_world_destroy(resumed);
}

static void threads_and_simd_change_nothing(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) with_scene(METHODS[k], compare_threads);
}

static void a_resumed_run_is_the_same_run(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) with_scene(METHODS[k], compare_resumed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_and_simd_change_nothing),
      cmocka_unit_test(a_resumed_run_is_the_same_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
