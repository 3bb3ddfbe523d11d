/* What sand and bodies give each other. */
#include "physics/flip_fixture.h"

/* Momentum of sand and bodies together. */
static Vec3 momentum_of_all(ScreeWorld *world) {
  Vec3 sum = fixture_momentum(world);
  const Solids *solids = &world->state.solids;
  for (int32_t k = 0; k < solids->count; k++) sum = vec3_madd(sum, solids->items[k].velocity, solids->items[k].mass);
  return sum;
}

/* A body that is thrown into sand where nothing weighs: what it loses, over what is lost on the way, after some frames.
 */
static double lost_share(double density, double radius, ScreeVec3 velocity, ScreeVec3 spin) {
  Fixture f;
  fixture_begin(&f, 0.02);
  f.scene.gravity = (ScreeVec3){0, 0, 0};
  fixture_fill(&f, "sand", (ScreeVec3){-0.4, -0.4, -0.4}, (ScreeVec3){0.4, 0.4, 0});
  ScreeBodyDef *ball = fixture_ball(&f, "ball", radius, (ScreeVec3){0.013, 0.021, radius + 0.01}, density);
  ball->velocity = velocity;
  ball->spin = spin;
  ball->friction_static = 0.5;
  ScreeWorld *world = fixture_world(&f);
  Vec3 before = momentum_of_all(world);
  run_frames(world, 12);
  Vec3 passed = vec3_sub(fixture_momentum(world), vec3(0, 0, 0)), lost = vec3_sub(momentum_of_all(world), before);
  double share = vec3_length(lost) / vec3_length(passed);
  print_message("density %5.0f, radius %.2f m: gave %5.2f of %5.2f kg m/s to the sand, of which %.1e is lost\n",
                density, radius, vec3_length(passed), vec3_length(before), share);
  scree_world_destroy(world);
  return share;
}

static void momentum_is_exchanged(void **state) {
  (void)state;
  assert_true(lost_share(3000, 0.12, (ScreeVec3){0.3, 0.2, -2}, (ScreeVec3){3, 0, 0}) < 1e-6);
  assert_true(lost_share(8000, 0.2, (ScreeVec3){0, 1, -3}, (ScreeVec3){0, 0, 0}) < 1e-6);
  assert_true(lost_share(300, 0.09, (ScreeVec3){1, 0, -2}, (ScreeVec3){0, 5, 5}) < 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(momentum_is_exchanged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
