/* pbd against laws that have a known answer: one grain, two, a stack, momentum. */
#include "grains_fixture.h"

#define RADIUS 0.02
#define G 9.81

typedef struct Mode {
  double time_step;
  int iterations;
} Mode;

/* The default, and small substeps. */
static const Mode MODES[] = {{0.005, 5}, {0.001, 3}};
enum { MODE_COUNT = sizeof MODES / sizeof *MODES };

static void use_mode(GrainScene *s, int mode) {
  s->def.method.time_step = MODES[mode].time_step;
  s->def.method.pbd.iterations = MODES[mode].iterations;
}

static void a_grain_comes_to_rest_on_a_floor(void **state) {
  (void)state;
  for (int mode = 0; mode < MODE_COUNT; mode++) {
    GrainScene s;
    grain_scene(&s, "pbd", RADIUS);
    use_mode(&s, mode);
    add_floor(&s);
    ScreeWorld *world = lone_world(&s, vec3(0, 0, 5 * RADIUS), vec3(0, 0, 0));
    run_seconds(world, 1);
    assert_near(grain_at(world, 1).z, RADIUS, 1e-3 * RADIUS);
    assert_near(vec3_length(grain_velocity(world, 1)), 0, 1e-6);
    Vec3 rest = grain_at(world, 1);
    run_seconds(world, 1);
    assert_near(vec3_length(vec3_sub(grain_at(world, 1), rest)), 0, 1e-6 * RADIUS);
    scree_world_destroy(world);
  }
}

/* A slope is a floor under tilted gravity. `slid`: displacement along it after each of two times, m. */
static void slide(int mode, double angle, double mu_static, double mu_kinetic, double slid[2]) {
  GrainScene s;
  grain_scene(&s, "pbd", RADIUS);
  use_mode(&s, mode);
  ScreeBoundaryDef *slope = add_floor(&s);
  s.materials[0].friction_static = slope->friction_static = mu_static;
  s.materials[0].friction_kinetic = slope->friction_kinetic = mu_kinetic;
  s.def.gravity = (ScreeVec3){G * sin(angle), 0, -G * cos(angle)};
  ScreeWorld *world = lone_world(&s, vec3(0, 0, RADIUS), vec3(0, 0, 0));
  run_seconds(world, 0.5);
  slid[0] = grain_at(world, 1).x;
  run_seconds(world, 0.5);
  slid[1] = grain_at(world, 1).x;
  scree_world_destroy(world);
}

static void a_slope_holds_below_the_friction_angle_and_not_above(void **state) {
  (void)state;
  const double degree = M_PI / 180;
  for (int mode = 0; mode < MODE_COUNT; mode++)
    for (double mu = 0.2; mu < 1.05; mu += 0.4) {
      double slid[2], edge = atan(mu);
      slide(mode, edge - 0.5 * degree, mu, 0.8 * mu, slid);
      assert_near(slid[1], 0, 1e-3 * RADIUS);
      slide(mode, edge + 0.5 * degree, mu, 0.8 * mu, slid);
      assert_true(slid[1] > RADIUS);
    }
}

/* The mean acceleration between the two times: x(t) = a t^2 / 2 plus what the start of the sliding adds. */
static void it_slides_with_the_kinetic_coefficient(void **state) {
  (void)state;
  const double degree = M_PI / 180;
  for (int mode = 0; mode < MODE_COUNT; mode++)
    for (int k = 0; k < 3; k++) {
      double angle = (25 + 15 * k) * degree, slid[2], expected = G * (sin(angle) - 0.3 * cos(angle));
      slide(mode, angle, 0.35, 0.3, slid);
      assert_near((slid[1] - slid[0]) / (0.5 * (1 - 0.25)), expected, 0.03 * expected);
    }
}

static void a_head_on_hit_keeps_momentum_and_takes_the_rest(void **state) {
  (void)state;
  for (int mode = 0; mode < MODE_COUNT; mode++) {
    GrainScene s;
    grain_scene(&s, "pbd", RADIUS);
    use_mode(&s, mode);
    s.def.gravity = (ScreeVec3){0, 0, 0};
    ScreeWorld *world = lone_world(&s, vec3(-3 * RADIUS, 0, 0), vec3(2, 0, 0));
    add_grain(world, vec3(3 * RADIUS, 0, 0), vec3(-1, 0, 0), 1.5 * RADIUS, 0);
    Vec3 before, after, turning;
    momentum_of(world, &before, &turning);
    run_seconds(world, 0.2);
    momentum_of(world, &after, &turning);
    assert_near(vec3_length(vec3_sub(after, before)), 0, 2e-7 * vec3_length(before));
    double mass = (double)world->state.particles.mass[0] + (double)world->state.particles.mass[1];
    assert_near(grain_velocity(world, 1).x, before.x / mass, 1e-5);
    assert_near(grain_velocity(world, 2).x, before.x / mass, 1e-5);
    scree_world_destroy(world);
  }
}

/* A free column, every third grain a hair off the axis so that it is not straight by luck. Nothing pushes at the start,
 * so the load must first find its way down; how many iterations that takes grows with the square of the height. */
static void stand(const char *method, double time_step, int iterations, int height, double sinks) {
  GrainScene s;
  grain_scene(&s, method, RADIUS);
  s.def.method.time_step = time_step;
  s.def.method.pbd.iterations = s.def.method.p2.iterations = iterations;
  add_floor(&s);
  add_probe(&s, SCREE_PROBE_FORCE_ON)->target = "floor";
  ScreeWorld *world = lone_world(&s, vec3(0, 0, RADIUS), vec3(0, 0, 0));
  for (int k = 1; k < height; k++)
    add_grain(world, vec3(1e-5 * (k % 3), 0, (2 * k + 1) * RADIUS), vec3(0, 0, 0), RADIUS, 0);
  double weight = height * (double)world->state.particles.mass[0] * G;
  run_seconds(world, 3);
  double top = grain_at(world, (uint32_t)height).z;
  run_seconds(world, 1);
  print_message("%s %g ms x %d, stack of %d: %.4f radii low\n", method, 1e3 * time_step, iterations, height,
                (2 * height - 1) - grain_at(world, (uint32_t)height).z / RADIUS);
  assert_near(grain_at(world, (uint32_t)height).z, (2 * height - 1) * RADIUS, sinks * RADIUS);
  assert_true(grain_at(world, (uint32_t)height).z > top - 1e-3 * RADIUS); /* old overlap may still be lifted out */
  assert_near(-probe_value(world, 0, 2), weight, 0.01 * weight);
  scree_world_destroy(world);
}

static void stacks_stand(void **state) {
  (void)state;
  static const char *const methods[] = {"pbd", "p2"};
  for (int k = 0; k < 2; k++) {
    stand(methods[k], 0.005, 5, 10, 0.05);
    stand(methods[k], 0.001, 3, 10, 0.01);
    stand(methods[k], 0.001, 20, 50, 0.05);
    stand(methods[k], 0.001, 5, 50, 0.5);
  }
}

/* A cloud that flies together onto a free body in empty space. Friction of grains that cannot spin takes angular
 * momentum, so that is compared without it. */
static void implode(const char *method, int contact, bool friction, double *linear_error, double *angular_error) {
  GrainScene s;
  grain_scene(&s, method, RADIUS);
  s.def.gravity = (ScreeVec3){0, 0, 0};
  /* Stabilization shifts grains that move, and so the moments of their momenta. */
  if (!friction) s.def.method.pbd.stabilization = s.def.method.p2.stabilization = 0;
  s.def.seed = 7;
  s.materials[0].radius_spread = 0.3;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-0.3, -0.3, -0.3}, (ScreeVec3){0.3, 0.3, 0.3});
  s.bodies[0] =
      scree_body_default("body", scree_shape_box((ScreeVec3){-0.08, -0.1, -0.12}, (ScreeVec3){0.08, 0.1, 0.12}));
  s.bodies[0].contact = contact;
  s.bodies[0].spin = (ScreeVec3){1, 2, -1};
  s.def.body_count = 1;
  if (!friction) {
    s.materials[0].friction_static = s.materials[0].friction_kinetic = 0;
    s.bodies[0].friction_static = s.bodies[0].friction_kinetic = 0;
  }
  ScreeWorld *world = grain_world(&s);
  Particles *p = &world->state.particles;
  assert_true(p->count > 500);
  double speeds = 0, turns = 0;
  for (int64_t i = 0; i < p->count; i++) {
    Vec3 at = state_position(&world->state, i);
    Vec3 v = vec3(-3 * at.x - 2 * at.y, -3 * at.y + 2 * at.x + 0.2, -3 * at.z);
    place_grain(world, i, at, v);
    speeds += (double)p->mass[i] * vec3_length(v);
    turns += (double)p->mass[i] * vec3_length(vec3_cross(at, v));
  }
  Vec3 linear[2], angular[2];
  momentum_of(world, &linear[0], &angular[0]);
  run_seconds(world, 0.5);
  momentum_of(world, &linear[1], &angular[1]);
  *linear_error = vec3_length(vec3_sub(linear[1], linear[0])) / speeds;
  *angular_error = vec3_length(vec3_sub(angular[1], angular[0])) / turns;
  ScreeStatistics stats;
  scree_world_statistics(world, &stats);
  assert_true(stats.max_overlap > 0 && world->state.solids.items[0].velocity.x != 0); /* they met */
  scree_world_destroy(world);
}

static void momentum_is_kept_to_round_off(void **state) {
  (void)state;
  static const char *const methods[] = {"pbd", "p2"}; /* splitting is the default of both */
  for (int k = 0; k < 2; k++) {
    double linear, angular;
    implode(methods[k], SCREE_CONTACT_DISTANCE, false, &linear, &angular);
    assert_near(linear, 0, 1e-6);
    assert_near(angular, 0, 1e-6);
    implode(methods[k], SCREE_CONTACT_DISTANCE, true, &linear, &angular);
    assert_near(linear, 0, 1e-6);
  }
}

/* Shape matching keeps the sum of what pushes exactly, and the moment of it up to the square of a step's rotation. */
static void a_matched_body_keeps_momentum(void **state) {
  (void)state;
  double linear, angular;
  implode("pbd", SCREE_CONTACT_SAMPLES, true, &linear, &angular);
  assert_near(linear, 0, 1e-6);
  implode("pbd", SCREE_CONTACT_SAMPLES, false, &linear, &angular);
  assert_near(angular, 0, 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_grain_comes_to_rest_on_a_floor),
      cmocka_unit_test(a_slope_holds_below_the_friction_angle_and_not_above),
      cmocka_unit_test(it_slides_with_the_kinetic_coefficient),
      cmocka_unit_test(a_head_on_hit_keeps_momentum_and_takes_the_rest),
      cmocka_unit_test(stacks_stand),
      cmocka_unit_test(momentum_is_kept_to_round_off),
      cmocka_unit_test(a_matched_body_keeps_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
