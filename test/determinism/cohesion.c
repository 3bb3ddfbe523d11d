/* Cohesive grains: the same bits for any number of threads, on both SIMD levels, and after a checkpoint in the midst of
 * a fall. */
#include "../physics/dem_fixture.h"

#define RADIUS 0.01
enum { FRAMES = 12, HALF = 6 };

static const char *const METHODS[] = {"dem", "pbd", "p2", "p2"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS, SPRINGS = 3 /* of p2 */ };

/* A bank of two materials that breaks. */
static ScreeWorld *make(int method, int threads, bool baseline) {
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  s.def.method = scree_method_default(METHODS[method]);
  s.def.method.radius = RADIUS;
  s.def.frame_rate = 100;
  s.def.material_count = 2;
  for (int k = 0; k < 2; k++) {
    s.materials[k].young = 1e6;
    s.materials[k].cohesion = k ? 200 : 500;
    s.materials[k].radius_spread = 0.1;
    if (method == SPRINGS) s.materials[k].stiffness = 1e4;
  }
  s.walls[0] = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  s.def.boundary_count = 1;
  ScreeGrainsDef fills[2] = {
      scree_grains_default("sand", scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.3, 0.3, 0.2})),
      scree_grains_default("steel", scree_shape_box((ScreeVec3){0, 0, 0.2}, (ScreeVec3){0.3, 0.3, 0.4}))};
  fills[0].start = fills[1].start = SCREE_START_DENSE;
  s.def.grains = fills;
  s.def.grains_count = 2;
  s.def.emitter_count = 0;
  ScreeWorld *world = world_with(&s.def, threads, baseline);
  assert_true(world->state.particles.count > 2 * 2048);
  return world;
}

static void threads_and_simd_change_nothing(void **state) {
  (void)state;
  for (int k = 0; k < METHOD_COUNT; k++) {
    uint64_t one = last_hash(make(k, 1, false), FRAMES);
    assert_true(last_hash(make(k, 2, false), FRAMES) == one);
    assert_true(last_hash(make(k, 3, false), FRAMES) == one);
    assert_true(last_hash(make(k, 2, true), FRAMES) == one);
  }
}

static void a_resumed_run_is_the_same_run(void **state) {
  (void)state;
  for (int k = 0; k < METHOD_COUNT; k++) check_resumed(make(k, 2, false), make(k, 1, false), HALF, FRAMES - HALF);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_and_simd_change_nothing),
      cmocka_unit_test(a_resumed_run_is_the_same_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
