/* Bad input and rough treatment of sph: bounded work, counted warnings, nothing that is not a number. */
#include "sph_fixture.h"

static void check_finite(const ScreeWorld *world) {
  const Particles *p = &world->state.particles;
  for (int64_t i = 0; i < p->count; i++) assert_true(isfinite(p->x[i]) && isfinite(p->vx[i]) && isfinite(p->vz[i]));
}

static void a_long_step_is_limited_and_said(void **state) {
  (void)state;
  GrainScene s;
  sph_tank(&s, 0.02, 0.24, 0.2, 30);
  s.def.method.time_step = 0.1;
  s.def.frame_rate = 10;
  ScreeWorld *world = grain_world(&s);
  run_frames(world, 4);
  assert_true(world->state.step >= 4 * 4);
  assert_true(world->core.warnings > 0);
  check_finite(world);
  scree_world_destroy(world);
}

static void coincident_grains_part(void **state) {
  (void)state;
  GrainScene s;
  sph_tank(&s, 0.02, 0.24, 0.24, 30);
  ScreeWorld *world = grain_world(&s);
  Vec3 at = state_position(&world->state, 80);
  place_grain(world, 81, at, vec3(0, 0, 0));
  uint32_t a = world->state.particles.id[80], b = world->state.particles.id[81];
  run_frames(world, 20);
  check_finite(world);
  assert_true(vec3_length(vec3_sub(grain_at(world, a), grain_at(world, b))) > 0.01);
  scree_world_destroy(world);
}

/* Pushed out: outwards, and without being shot away. */
static void a_grain_inside_a_wall_is_pushed_out(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "sph", 0.02);
  add_floor(&s);
  ScreeWorld *world = lone_world(&s, vec3(0, 0, -0.03), vec3(0, 0, 0));
  run_frames(world, 60);
  assert_true(grain_at(world, 1).z > 0);
  assert_true(world->tally.max_speed < 10);
  scree_world_destroy(world);
}

/* A ball that weighs next to nothing, on sand or in it, stays about there; the tank bears the weight of the sand. */
static void check_light_ball(double z) {
  GrainScene s;
  sph_tank(&s, 0.02, 0.32, 0.16, 30);
  s.bodies[0] = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.00624));
  s.bodies[0].density = 0.001; /* 1e-9 kg */
  s.bodies[0].shape.position = (ScreeVec3){0.01, 0.02, z};
  s.bodies[0].motion = SCREE_MOTION_FREE;
  s.def.body_count = 1;
  add_probe(&s, SCREE_PROBE_FORCE_ON)->target = "tank";
  ScreeWorld *world = grain_world(&s);
  run_seconds(world, 1);
  check_finite(world);
  ScreeBodyState ball;
  assert_true(scree_world_body(world, scree_world_find_body(world, "ball"), &ball) == SCREE_OK);
  double weight = world_mass(world) * 9.81;
  assert_near(probe_value(world, 0, 2), -weight, 0.001 * weight);
  assert_near(ball.center.z, z, 0.02);
  assert_true(world->tally.max_speed < 1);
  scree_world_destroy(world);
}
static void a_body_of_no_weight_stays(void **state) {
  (void)state;
  check_light_ball(0.17);
  check_light_ball(0.10);
}

/* And one of 160 times the bed's weight goes down through it to the floor. */
static void a_heavy_body_goes_to_the_floor(void **state) {
  (void)state;
  GrainScene s;
  sph_tank(&s, 0.02, 0.32, 0.16, 30);
  s.bodies[0] = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.1));
  s.bodies[0].density = 1e6;
  s.bodies[0].shape.position = (ScreeVec3){0.01, 0.02, 0.29};
  s.bodies[0].motion = SCREE_MOTION_FREE;
  s.def.body_count = 1;
  ScreeWorld *world = grain_world(&s);
  double mass = world_mass(world);
  run_seconds(world, 1);
  check_finite(world);
  ScreeBodyState ball;
  assert_true(scree_world_body(world, scree_world_find_body(world, "ball"), &ball) == SCREE_OK);
  assert_near(ball.center.z, 0.1, 0.005);
  assert_near(world_mass(world), mass, 1e-6 * mass);
  for (int64_t i = 0; i < world->state.particles.count; i++) {
    Vec3 at = state_position(&world->state, i);
    assert_true(fmax(fabs(at.x), fabs(at.y)) < 0.16 && at.z > 0);
  }
  scree_world_destroy(world);
}

/* A lid pressed into a full box, by a little and by far too much: there is no room, and that is said. */
static void press_lid(double depth) {
  GrainScene s;
  sph_tank(&s, 0.02, 0.24, 0.24, 30);
  s.def.method.sph.max_iterations = 40;
  s.bodies[0] =
      scree_body_default("lid", scree_shape_box((ScreeVec3){-0.119, -0.119, 0}, (ScreeVec3){0.119, 0.119, 0.05}));
  s.bodies[0].motion = SCREE_MOTION_KEYFRAMES;
  s.keys[0] = (ScreeKeyDef){.t = 0, .position = {0, 0, 0.245}, .rotation = {1, 0, 0, 0}};
  s.keys[1] = (ScreeKeyDef){.t = 0.5, .position = {0, 0, depth}, .rotation = {1, 0, 0, 0}};
  s.bodies[0].keys = s.keys;
  s.bodies[0].key_count = 2;
  s.def.body_count = 1;
  ScreeWorld *world = grain_world(&s);
  run_seconds(world, 0.6);
  check_finite(world);
  const SphStatistics *statistics = sph_statistics(world->method_data);
  print_message("a lid down to %g m: at most %.1f m/s\n", depth, world->tally.max_speed);
  assert_true(world->tally.max_speed < 30);
  assert_true(statistics->all_iterations <= 40 * statistics->steps);
  assert_true(warnings_of(world, "compression_not_met") + warnings_of(world, "compressed_steps") > 0);
  scree_world_destroy(world);
}

static void a_lid_presses_and_the_solver_says_so(void **state) {
  (void)state;
  press_lid(0.18);
  press_lid(0.08);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_long_step_is_limited_and_said),     cmocka_unit_test(coincident_grains_part),
      cmocka_unit_test(a_grain_inside_a_wall_is_pushed_out), cmocka_unit_test(a_body_of_no_weight_stays),
      cmocka_unit_test(a_heavy_body_goes_to_the_floor),      cmocka_unit_test(a_lid_presses_and_the_solver_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
