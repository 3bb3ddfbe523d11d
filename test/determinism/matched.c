/* Bodies that are held together by shape matching, two of them and one that grains touch by its distance, so close that
 * some grains touch several: the same bits for any number of threads, on baseline and wide SIMD, and after a
 * checkpoint. */
#include "world_fixture.h"

enum { FRAMES = 12, HALF = 5, BODIES = 3 };

static void with_scene(const char *method, void (*use)(const ScreeSceneDef *scene)) {
  ScreeMaterialDef sand = scree_material_default("sand");
  ScreeGrainsDef grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.3, -0.3, 0.0}, (ScreeVec3){0.3, 0.3, 0.25}));
  ScreeBoundaryDef tank = scree_boundary_default(scree_shape_box((ScreeVec3){-0.3, -0.3, 0}, (ScreeVec3){0.3, 0.3, 2}));
  tank.inside = true;
  ScreeBodyDef bodies[BODIES];
  const char *names[BODIES] = {"left", "right", "whole"};
  for (int k = 0; k < BODIES; k++) {
    bodies[k] = scree_body_default(names[k], scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.08));
    bodies[k].shape.position = (ScreeVec3){-0.17 + 0.17 * k, 0.01 * k, 0.36};
    bodies[k].velocity = (ScreeVec3){0.5 - 0.5 * k, 0, -2};
    bodies[k].spin = (ScreeVec3){0, 3, 1};
    bodies[k].contact = k < 2 ? SCREE_CONTACT_SAMPLES : SCREE_CONTACT_DISTANCE;
  }
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "matched";
  scene.method = scree_method_default(method);
  scene.method.radius = 0.02;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.grains = &grains;
  scene.grains_count = 1;
  scene.boundaries = &tank;
  scene.boundary_count = 1;
  scene.bodies = bodies;
  scene.body_count = BODIES;
  use(&scene);
}

static uint64_t hash_after(const ScreeSceneDef *scene, int threads, bool baseline) {
  return last_hash(world_with(scene, threads, baseline), FRAMES);
}

static void compare_threads(const ScreeSceneDef *scene) {
  uint64_t one = hash_after(scene, 1, false);
  for (int threads = 2; threads <= 8; threads *= 2) assert_true(hash_after(scene, threads, threads == 4) == one);
}

static void compare_resumed(const ScreeSceneDef *scene) {
  check_resumed(world_of(scene, 2), world_of(scene, 1), HALF, FRAMES - HALF);
}

/* They have been stopped, so grains have pushed them. */
static void check_stopped(const ScreeSceneDef *scene) {
  ScreeWorld *world = world_of(scene, 1);
  run_frames(world, FRAMES);
  for (int k = 0; k < BODIES; k++) {
    ScreeBodyState body;
    assert_int_equal(scree_world_body(world, scree_world_find_body(world, scene->bodies[k].name), &body), SCREE_OK);
    assert_true(body.velocity.z > -1.5);
  }
  scree_world_destroy(world);
}

static void threads_and_simd_change_nothing(void **state) {
  (void)state;
  with_scene("pbd", compare_threads);
  with_scene("p2", compare_threads);
}

static void a_resumed_run_is_the_same_run(void **state) {
  (void)state;
  with_scene("pbd", compare_resumed);
  with_scene("p2", compare_resumed);
}

static void grains_stop_them(void **state) {
  (void)state;
  with_scene("pbd", check_stopped);
  with_scene("p2", check_stopped);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grains_stop_them),
      cmocka_unit_test(threads_and_simd_change_nothing),
      cmocka_unit_test(a_resumed_run_is_the_same_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
