/* dem with more grains than one window holds: the same bits for any number of threads, on both SIMD levels, and after a
 * checkpoint; rolling resistance on and off, one material and two. */
#include "../physics/dem_fixture.h"

#define RADIUS 0.01
enum { FRAMES = 6, HALF = 3 };

static ScreeWorld *make(bool rolling, int materials, int threads, bool baseline) {
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  s.def.frame_rate = 100;
  s.def.material_count = materials;
  for (int k = 0; k < 2; k++) {
    s.materials[k].young = 1e6;
    s.materials[k].rolling_friction = rolling ? 0.1 : 0;
    s.materials[k].radius_spread = 0.1;
  }
  s.walls[0] = scree_boundary_default(scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.4, 0.3, 2}));
  s.walls[0].inside = true;
  s.def.boundary_count = 1;
  ScreeGrainsDef fills[2] = {
      scree_grains_default("sand", scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.4, 0.3, 0.2})),
      scree_grains_default(materials > 1 ? "steel" : "sand",
                           scree_shape_box((ScreeVec3){0, 0, 0.2}, (ScreeVec3){0.4, 0.3, 0.4}))};
  fills[0].start = fills[1].start = SCREE_START_DENSE;
  s.def.grains = fills;
  s.def.grains_count = 2;
  s.def.emitter_count = 0;
  ScreeWorld *world = world_with(&s.def, threads, baseline);
  assert_true(world->state.particles.count > 2 * 2048);
  return world;
}

static uint64_t hash_after(bool rolling, int materials, int threads, bool baseline) {
  ScreeWorld *world = make(rolling, materials, threads, baseline);
  return last_hash(world, FRAMES);
}

static void threads_and_simd_change_nothing(void **state) {
  (void)state;
  for (int rolling = 0; rolling < 2; rolling++) {
    int materials = 1 + rolling;
    uint64_t one = hash_after(rolling, materials, 1, false);
    assert_true(hash_after(rolling, materials, 2, false) == one);
    assert_true(hash_after(rolling, materials, 3, false) == one);
    assert_true(hash_after(rolling, materials, 2, true) == one);
  }
}

static void a_resumed_run_is_the_same_run(void **state) {
  (void)state;
  check_resumed(make(true, 2, 2, false), make(true, 2, 1, false), HALF, FRAMES - HALF);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_and_simd_change_nothing),
      cmocka_unit_test(a_resumed_run_is_the_same_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
