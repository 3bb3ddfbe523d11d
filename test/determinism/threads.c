/* The same scene and seed give the same bits: for any number of threads, on baseline and wide SIMD, and after a
 * checkpoint. Every method of this build is tried. */
#include "world_fixture.h"

enum { FRAMES = 12, HALF = 5 };

/* Grains fall into a container with an emitter above, a free ball in them, a sink below a hole, and an explosion; fine
 * grains follow them in either mode. */
static void with_scene(const char *method, void (*use)(const ScreeSceneDef *scene, void *context), void *context) {
  ScreeMaterialDef sand = scree_material_default("sand");
  sand.radius_spread = 0.2;
  ScreeGrainsDef grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.3, -0.3, 0.05}, (ScreeVec3){0.3, 0.3, 0.5}));
  ScreeEmitterDef emitter = scree_emitter_default("sand");
  emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 0.9}, .radius = 0.1, .direction = {0, 0, -1}};
  emitter.rate = 20;
  emitter.speed = 1;
  ScreeBoundaryDef tank =
      scree_boundary_default(scree_shape_box((ScreeVec3){-0.35, -0.35, 0}, (ScreeVec3){0.35, 0.35, 2}));
  tank.inside = true;
  tank.name = "tank";
  ScreeBodyDef ball = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.08));
  ball.shape.position = (ScreeVec3){0.1, 0.05, 0.7};
  ScreeSinkDef sink = {.shape = scree_shape_box((ScreeVec3){0.2, 0.2, -1}, (ScreeVec3){0.5, 0.5, 0.06})};
  ScreeEventDef bang = scree_event_default();
  bang.t = 0.1;
  bang.impulse = (ScreeImpulseDef){.center = {0, 0, 0.1}, .radius = 0.15, .speed = 3};
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "everything";
  scene.method = scree_method_default(method);
  scene.method.radius = 0.025;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.grains = &grains;
  scene.grains_count = 1;
  scene.emitters = &emitter;
  scene.emitter_count = 1;
  scene.boundaries = &tank;
  scene.boundary_count = 1;
  scene.bodies = &ball;
  scene.body_count = 1;
  scene.sinks = &sink;
  scene.sink_count = 1;
  scene.events = &bang;
  scene.event_count = 1;
  ScreeUpsampleDef upsample = scree_upsample_default(0.009);
  scene.upsample = &upsample;
  for (upsample.mode = SCREE_UPSAMPLE_BETTER; upsample.mode <= SCREE_UPSAMPLE_PAPER; upsample.mode++)
    use(&scene, context);
}

static uint64_t hash_after(const ScreeSceneDef *scene, int threads, bool baseline) {
  ScreeWorld *world = world_with(scene, threads, baseline);
  run_frames(world, FRAMES);
  uint64_t hash = scree_world_state_hash(world) ^ (3 * scree_world_grains_hash(world));
  scree_world_destroy(world);
  return hash;
}

static void compare_threads(const ScreeSceneDef *scene, void *context) {
  (void)context;
  uint64_t one = hash_after(scene, 1, false);
  assert_true(hash_after(scene, 3, false) == one);
  assert_true(hash_after(scene, 2, true) == one);
  if (SANITIZED) return;
  assert_true(hash_after(scene, 2, false) == one);
  assert_true(hash_after(scene, 8, false) == one);
  ScreeSceneDef other = *scene;
  other.seed = 2;
  assert_true(hash_after(&other, 1, false) != one);
}

static void compare_resumed(const ScreeSceneDef *scene, void *context) {
  (void)context;
  ScreeWorld *whole = world_of(scene, 2), *resumed = world_of(scene, 1);
  run_frames(whole, HALF);
  world_hand_over(whole, resumed);
  run_frames(whole, FRAMES - HALF);
  assert_int_equal(scree_world_frame_index(resumed), HALF);
  run_frames(resumed, FRAMES - HALF);
  assert_true(scree_world_state_hash(resumed) == scree_world_state_hash(whole));
  assert_true(scree_world_grains_hash(resumed) == scree_world_grains_hash(whole));
  ScreeStatistics a, b;
  scree_world_statistics(whole, &a);
  scree_world_statistics(resumed, &b);
  assert_true(a.steps == b.steps && a.mass_emitted == b.mass_emitted && a.mass_removed == b.mass_removed);
  assert_true(a.mass_emitted > 0);
  scree_world_destroy(whole);
  scree_world_destroy(resumed);
}

static ScreeWorld *unfilled_world(const ScreeSceneDef *scene) {
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = 1;
  options.unfilled = true;
  ScreeWorld *world = NULL;
  ScreeError error;
  assert_done(scree_world_create(scene, &options, &world, &error));
  assert_int_equal(scree_world_particles(world).count, 0);
  return world;
}

/* Worlds that begin with a kept start, stepped side by side, are the world that it was taken from. */
static void compare_batch(const ScreeSceneDef *scene, void *context) {
  (void)context;
  enum { WORLDS = 3, LATER = 3 };
  ScreeWorld *alone = world_of(scene, 2), *worlds[WORLDS];
  ScreeStart *start = NULL;
  ScreeStatus statuses[WORLDS];
  ScreeError errors[WORLDS], error;
  run_frames(alone, 1);
  assert_done(scree_world_keep(alone, &start, &error));
  assert_true(scree_start_bytes(start) > 0);
  for (int k = 0; k < WORLDS; k++) {
    worlds[k] = unfilled_world(scene);
    assert_done(scree_world_reset(worlds[k], start, &error));
  }
  run_frames(alone, LATER);
  assert_int_equal(scree_worlds_frame(worlds, WORLDS, 1, 3, statuses, errors), SCREE_OK);
  assert_done(scree_world_reset(worlds[1], start, &error));
  assert_int_equal(scree_worlds_frame(&worlds[1], 1, 1, 1, statuses, NULL), SCREE_OK);
  assert_int_equal(scree_worlds_frame(worlds, WORLDS, LATER - 1, 2, statuses, errors), SCREE_OK);
  for (int k = 0; k < WORLDS; k++) {
    assert_int_equal(statuses[k], SCREE_OK);
    assert_true(scree_world_state_hash(worlds[k]) == scree_world_state_hash(alone));
    assert_true(scree_world_grains_hash(worlds[k]) == scree_world_grains_hash(alone));
    scree_world_destroy(worlds[k]);
  }
  scree_world_destroy(alone);
  scree_start_free(start);
}

static void threads_and_simd_change_nothing(void **state) {
  (void)state;
  for (int32_t m = 0; m < scree_method_count(); m++) with_scene(scree_method_info(m)->name, compare_threads, NULL);
}

static void a_resumed_run_is_the_same_run(void **state) {
  (void)state;
  for (int32_t m = 0; m < scree_method_count(); m++) with_scene(scree_method_info(m)->name, compare_resumed, NULL);
}

static void worlds_side_by_side_are_alone(void **state) {
  (void)state;
  for (int32_t m = 0; m < scree_method_count(); m++) with_scene(scree_method_info(m)->name, compare_batch, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_and_simd_change_nothing),
      cmocka_unit_test(a_resumed_run_is_the_same_run),
      cmocka_unit_test(worlds_side_by_side_are_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
