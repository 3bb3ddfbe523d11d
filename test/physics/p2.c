/* p2 contact by contact: springs and dampers, friction, stacks, adhesion. */
#define LANE_SCALAR
#include "methods/p2/contacts.h"
#include "methods/p2/p2_factor_shared.h"
#include "p2_fixture.h"

/* ---- factors (Eq. 21, 28) ---- */

static void factors_have_their_limits(void **state) {
  (void)state;
  P2Factors rigid = p2_factors(INFINITY, 3, 1, 0.01, 5);
  assert_true(rigid.spring == 1 && rigid.damper == 0);
  P2Factors nothing = p2_factors(0, 0, 1, 0.01, 5);
  assert_true(nothing.spring == 0 && nothing.damper == 0);
  P2Factors spring = p2_factors(1000, 0, 2, 0.01, 1); /* Eq. 15 */
  assert_near(spring.spring, 0.05 / 1.05, 1e-15);
  assert_near(spring.damper, 0, 0);
  P2Factors damper = p2_factors(0, 100, 2, 0.01, 1);
  assert_near(damper.spring, 0, 1e-15);
  assert_near(damper.damper, 0.5 / 1.5, 1e-15);
  assert_near(p2_root(0.5, 1), 0.5, 0);
  assert_near(p2_root(0, 7), 0, 0);
  assert_near(p2_root(1, 7), 1, 0);
  for (int n = 2; n < 3000; n = n * 2 + 1)
    for (double x = 1e-12; x < 1; x *= 7.3) assert_near(p2_root(x, n), pow(x, 1.0 / n), 1e-14);
}

/* Eq. 24 with the factors of Eq. 28 is Eq. 20 for any number of iterations. */
static void factors_do_not_depend_on_the_iterations(void **state) {
  (void)state;
  const double cases[][2] = {{1000, 100}, {100, 0}, {0, 30}, {1e7, 1e3}};
  for (int k = 0; k < 4; k++) {
    P2Factors once = p2_factors(cases[k][0], cases[k][1], 1, 0.01, 1);
    double start = 0.03, predicted = -0.02;
    double wanted = predicted - once.spring * predicted - once.damper * (predicted - start);
    const int iterations[] = {2, 5, 20, 1000};
    for (int m = 0; m < 4; m++) {
      P2Factors part = p2_factors(cases[k][0], cases[k][1], 1, 0.01, iterations[m]);
      double p = predicted;
      for (int n = 0; n < iterations[m]; n++) p -= part.spring * p + part.damper * (p - start);
      assert_near(p, wanted, 1e-13);
    }
  }
}

/* ---- Fig. 2 ---- */

enum { FIG2_STEPS = 150 };
#define FIG2_STEP 0.01
#define FIG2_HEIGHT 0.25 /* of the centre, at the start */

/* Implicit Euler, in substeps of h, of a 1 kg mass over a spring-damper that acts where the unhindered substep would
 * overlap. It pushes only. */
static void implicit_euler(double k, double c, int substeps, double heights[FIG2_STEPS]) {
  double x = FIG2_HEIGHT - 0.05, v = 0, h = FIG2_STEP / substeps;
  for (int n = 0; n < FIG2_STEPS * substeps; n++) {
    double fall = v - 9.81 * h;
    if (x + h * fall <= 0) {
      double held = (fall - h * k * x) / (1 + h * c + h * h * k);
      fall = held > fall ? held : fall;
    }
    v = fall;
    x += h * v;
    heights[n / substeps] = x + 0.05;
  }
}

static void follow_figure_2(double k, double c, int iterations, bool averaging) {
  Fixture f;
  fixture_begin(&f, 0.05);
  fixture_floor(&f, (ScreeVec3){0, 0, 1}, 0.5);
  f.scene.method.time_step = FIG2_STEP;
  f.scene.method.p2.iterations = iterations;
  f.scene.method.p2.averaging = averaging;
  f.scene.method.cfl = 10;
  f.material.stiffness = k;
  f.material.damping = c;
  ScreeWorld *world = fixture_place(&f, &(ScreeVec3){0, 0, FIG2_HEIGHT}, 1, 1);
  double heights[FIG2_STEPS], worst = 0;
  implicit_euler(k, c, averaging ? 1 : iterations, heights); /* the paper's iterations are within the step */
  for (int n = 0; n < FIG2_STEPS; n++) {
    run_seconds(world, FIG2_STEP);
    double height = (double)world->state.particles.z[0] + world->state.origin.z;
    worst = fmax(worst, fabs(height - heights[n]));
  }
  assert_near(worst, 0, 1e-4);
  scree_world_destroy(world);
}

static void a_contact_is_an_implicit_spring_damper(void **state) {
  (void)state;
  const int iterations[] = {1, 5, 20};
  for (int k = 0; k < 3; k++)
    for (int averaging = 0; averaging < 2; averaging++) {
      follow_figure_2(1000, 100, iterations[k], averaging);
      follow_figure_2(100, 0, iterations[k], averaging);
    }
}

/* ---- friction ---- */

/* Distance that a grain of friction mu slides down a plane of the given slope in a second. */
static double slide(double degrees, double mu, bool averaging) {
  Fixture f;
  fixture_begin(&f, 0.05);
  double a = degrees * M_PI / 180;
  fixture_floor(&f, (ScreeVec3){sin(a), 0, cos(a)}, mu);
  fixture_friction(&f, mu);
  f.scene.method.p2.averaging = averaging;
  f.scene.method.cfl = 10;
  ScreeWorld *world = fixture_place(&f, &(ScreeVec3){0.05 * sin(a), 0, 0.05 * cos(a)}, 1, 1);
  run_seconds(world, 1);
  const Particles *p = &world->state.particles;
  double displacement = hypot((double)p->x[0] + world->state.origin.x - 0.05 * sin(a),
                              (double)p->z[0] + world->state.origin.z - 0.05 * cos(a));
  scree_world_destroy(world);
  return displacement;
}

static void friction_holds_up_to_its_angle(void **state) {
  (void)state;
  double mu = 0.577, angle = atan(mu) * 180 / M_PI;
  for (int averaging = 0; averaging < 2; averaging++) {
    assert_near(slide(angle * 0.97, mu, averaging), 0, 1e-4);
    assert_true(slide(angle * 1.03, mu, averaging) > 1e-3);
    double a = 40 * M_PI / 180, acceleration = 9.81 * (sin(a) - mu * cos(a));
    assert_near(slide(40, mu, averaging), 0.5 * acceleration, 0.03 * 0.5 * acceleration);
  }
}

static void friction_opposes_sliding(void **state) {
  (void)state;
  Fixture f;
  fixture_begin(&f, 0.05);
  fixture_floor(&f, (ScreeVec3){0, 0, 1}, 0.4);
  fixture_friction(&f, 0.4);
  ScreeWorld *world = fixture_place(&f, &(ScreeVec3){0, 0, 0.05}, 1, 1);
  world->state.particles.vx[0] = 1;
  double last = 1;
  for (int n = 0; n < 40; n++) {
    run_seconds(world, 0.01);
    double now = (double)world->state.particles.vx[0];
    assert_true(now <= last + 1e-6 && now >= -1e-6);
    last = now;
  }
  /* v^2 / (2 mu g), half a step more or less */
  assert_near((double)world->state.particles.x[0] + world->state.origin.x, 1 / (2 * 0.4 * 9.81), 0.004);
  scree_world_destroy(world);
}

/* ---- stacks ---- */

enum { STACK = 10 };

static double stack_load(double stiffness, bool averaging, int iterations) {
  Fixture f;
  fixture_begin(&f, 0.05);
  fixture_floor(&f, (ScreeVec3){0, 0, 1}, 0.5);
  f.material.stiffness = stiffness;
  f.scene.method.p2.iterations = iterations;
  f.scene.method.p2.averaging = averaging;
  ScreeVec3 at[STACK];
  for (int k = 0; k < STACK; k++) at[k] = (ScreeVec3){0, 0, 0.05 + 0.1 * k};
  ScreeWorld *world = fixture_place(&f, at, STACK, 1);
  run_seconds(world, 3);
  double load = -fixture_force(world, "floor").z;
  scree_world_destroy(world);
  return load / (STACK * 9.81);
}

static void the_floor_carries_a_stack(void **state) {
  (void)state;
  assert_near(stack_load((double)NAN, false, 10), 1, 1e-3);
  assert_near(stack_load((double)NAN, false, 4), 1, 1e-3);
  assert_near(stack_load(20000, false, 10), 1, 1e-3);
}

/* ---- adhesion ---- */

enum { BLOCK_GRAINS = 400 };

/* A block that falls on a floor for a fifth of a second: where its grains are, by id. Returns the memory it took. */
static int64_t drop_block(Fixture *f, Vec3 at[BLOCK_GRAINS]) {
  ScreeWorld *world = fixture_world(f);
  run_seconds(world, 0.2);
  const Particles *p = &world->state.particles;
  assert_in_range(p->count, 100, BLOCK_GRAINS - 1);
  for (int64_t i = 0; i < p->count; i++) at[p->id[i]] = state_position(&world->state, i);
  ScreeStatistics statistics;
  scree_world_statistics(world, &statistics);
  scree_world_destroy(world);
  return statistics.memory_peak_bytes;
}

/* Where all contacts are rigid they are solved as pbd's, and keep nothing of springs and adhesion. A second material,
 * of which there is no grain, makes the same scene run with the whole law. */
static void rigid_contacts_are_a_limit_of_the_law(void **state) {
  (void)state;
  static Vec3 plain[BLOCK_GRAINS], whole[BLOCK_GRAINS];
  Fixture f;
  fixture_begin(&f, 0.05);
  fixture_floor(&f, (ScreeVec3){0, 0, 1}, 0.5);
  fixture_fill(&f, (ScreeVec3){-0.4, -0.4, 0}, (ScreeVec3){0.4, 0.4, 0.8});
  int64_t less = drop_block(&f, plain);
  ScreeMaterialDef materials[] = {f.material, scree_material_default("springs")};
  materials[1].stiffness = 1000;
  f.scene.materials = materials;
  f.scene.material_count = 2;
  assert_true(less < drop_block(&f, whole));
  for (int i = 0; i < BLOCK_GRAINS; i++) assert_near(vec3_length(vec3_sub(plain[i], whole[i])), 0, 1e-4);
}

static void the_contact_area_is_that_of_the_paper(void **state) {
  (void)state;
  assert_near(p2_contact_area(0, 0.02), 0, 0);
  assert_near(p2_contact_area(-1, 0.02), 0, 0);
  assert_near(p2_contact_area(0.02, 0.02), M_PI * 4e-4, 1e-12);
  assert_near(p2_contact_area(1, 0.02), M_PI * 4e-4, 1e-12);
  assert_near(p2_contact_area(0.01, 0.02), M_PI * 4e-4 * 0.75, 1e-12);
}

/* A grain pressed into a ceiling by `depth`, hanging: how far it has come down after a second. */
static double hang(double adhesion, double depth, int iterations) {
  Fixture f;
  fixture_begin(&f, 0.02);
  fixture_floor(&f, (ScreeVec3){0, 0, -1}, 0.5);
  f.scene.method.p2.iterations = iterations;
  f.scene.method.cfl = 10;
  f.material.adhesion = adhesion;
  f.material.stiffness = 500;
  ScreeWorld *world = fixture_place(&f, &(ScreeVec3){0, 0, -0.02 + depth}, 1, 0.08);
  run_seconds(world, 1);
  double z = (double)world->state.particles.z[0] + world->state.origin.z;
  scree_world_destroy(world);
  return -0.02 + depth - z;
}

/* The cap a A_c against weight and spring, whatever the number of iterations. */
static void adhesion_holds_up_to_its_cap(void **state) {
  (void)state;
  double depth = 0.002, pull = 0.08 * 9.81 + 500 * depth, enough = pull / p2_contact_area(depth, 0.02);
  const int iterations[] = {1, 5, 20};
  for (int k = 0; k < 3; k++) {
    assert_near(hang(enough * 1.05, depth, iterations[k]), 0, 1e-5);
    assert_true(hang(enough * 0.95, depth, iterations[k]) > 0.1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_have_their_limits),
      cmocka_unit_test(factors_do_not_depend_on_the_iterations),
      cmocka_unit_test(a_contact_is_an_implicit_spring_damper),
      cmocka_unit_test(friction_holds_up_to_its_angle),
      cmocka_unit_test(friction_opposes_sliding),
      cmocka_unit_test(the_floor_carries_a_stack),
      cmocka_unit_test(rigid_contacts_are_a_limit_of_the_law),
      cmocka_unit_test(the_contact_area_is_that_of_the_paper),
      cmocka_unit_test(adhesion_holds_up_to_its_cap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
