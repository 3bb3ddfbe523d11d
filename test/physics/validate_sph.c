/* sph at full size and length: the shipped piles and a minute of rest. */
#include "scree/scene.h"
#include "sph_fixture.h"

/* A shipped pile without its fine grains. */
static ScreeWorld *pile_world(const char *name) {
  char path[SCREE_FILE_MAX];
  ScreeScene *scene = NULL;
  ScreeWorld *world = NULL;
  ScreeError error;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = 2;
  assert_int_equal(scree_scene_find(name, path, sizeof path, &error), SCREE_OK);
  assert_int_equal(scree_scene_load(path, NULL, &scene, &error), SCREE_OK);
  ScreeSceneDef coarse = *scree_scene_definition(scene);
  coarse.upsample = NULL;
  assert_int_equal(scree_world_create(&coarse, &options, &world, &error), SCREE_OK);
  scree_scene_free(scene);
  return world;
}

/* The pile's angle is the first probe of these scenes. */
static void check_shipped_pile(const char *name, double angle) {
  ScreeWorld *world = pile_world(name);
  double angles[2];
  run_seconds(world, 10);
  angles[0] = probe_value(world, 0, 0);
  run_seconds(world, 60);
  angles[1] = probe_value(world, 0, 0);
  sph_check_pile(angle, angles);
  scree_world_destroy(world);
}

static void a_pile_of_30_degrees_keeps_its_angle_for_a_minute(void **state) {
  (void)state;
  check_shipped_pile("neder2023/pile_30", 30);
}

static void a_pile_of_45_degrees_keeps_its_angle_for_a_minute(void **state) {
  (void)state;
  check_shipped_pile("neder2023/pile_45", 45);
}

static void slopes_hold_and_flow(void **state) {
  (void)state;
  assert_true(sph_ridge(30, 27, 0.015, 0.9, 3.5) < 0.1);
  assert_true(sph_ridge(30, 33, 0.015, 0.9, 3.5) > 1);
  assert_true(sph_ridge(45, 42, 0.015, 0.7, 3.5) < 0.1);
  assert_true(sph_ridge(45, 48, 0.015, 0.7, 3.5) > 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slopes_hold_and_flow),
      cmocka_unit_test(a_pile_of_45_degrees_keeps_its_angle_for_a_minute),
      cmocka_unit_test(a_pile_of_30_degrees_keeps_its_angle_for_a_minute),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
