/* sph over threads and SIMD is tried by determinism/threads with every other method; here with what that scene lacks:
 * samples on walls and bodies, several materials, wind, cohesion. */
#include "grains_fixture.h"

static uint64_t hash_of(int threads, bool baseline) {
  GrainScene s;
  grain_scene(&s, "sph", 0.025);
  s.materials[1] = scree_material_default("heavy");
  s.materials[1].density = 3200;
  s.materials[1].cohesion = 200;
  s.def.material_count = 2;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-0.3, -0.3, 0}, (ScreeVec3){0.3, 0.3, 0.3});
  s.grains[1] =
      scree_grains_default("heavy", scree_shape_box((ScreeVec3){-0.2, -0.2, 0.3}, (ScreeVec3){0.2, 0.2, 0.5}));
  s.def.grains_count = 2;
  s.def.wind = (ScreeVec3){8, 0, 0};
  s.def.method.sph.drag = 20;
  add_tank(&s, (ScreeVec3){-0.3, -0.3, 0}, (ScreeVec3){0.3, 0.3, 2})->contact = SCREE_CONTACT_SAMPLES;
  s.bodies[0] = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.1));
  s.bodies[0].shape.position = (ScreeVec3){0.05, 0.02, 0.65};
  s.bodies[0].contact = SCREE_CONTACT_SAMPLES;
  s.def.body_count = 1;
  ScreeWorld *world = world_with(&s.def, threads, baseline);
  run_frames(world, 8);
  uint64_t hash = state_hash(&world->core, &world->state);
  scree_world_destroy(world);
  return hash;
}

static void threads_and_lanes_do_not_matter(void **state) {
  (void)state;
  uint64_t one = hash_of(1, false);
  assert_true(hash_of(2, false) == one);
  assert_true(hash_of(3, false) == one);
  assert_true(hash_of(8, false) == one);
  assert_true(hash_of(2, true) == one);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(threads_and_lanes_do_not_matter)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
