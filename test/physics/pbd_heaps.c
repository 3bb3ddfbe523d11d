/* pbd, and p2 where the same must hold, in bulk, small enough for every run: heaps, beds, bodies in sand, walls. The
 * long ones are in validate_pbd.c. */
#include "pour_fixture.h"

static void pour_with_friction(const char *method) {
  double last = -2;
  const double mu[] = {0.1, 0.35, 0.8};
  for (int k = 0; k < 3; k++) {
    Pour pour = {.time_step = 0.005, .iterations = 5, .friction = mu[k], .seed = 1, .seconds = 1.5};
    ScreeWorld *world = pour_world(method, &pour, 0);
    run_seconds(world, 3.5);
    double angle = probe_value(world, POUR_ANGLE, 0), weight = world_mass(world) * 9.81, load = 0;
    for (int frame = 0; frame < 30; frame++) {
      run_frames(world, 1);
      load -= probe_value(world, POUR_LOAD, 2) / 30;
    }
    assert_true(angle > last + 2);
    assert_near(load, weight, 0.03 * weight);
    last = angle;
    scree_world_destroy(world);
  }
}

static void the_angle_rises_with_friction_and_the_floor_carries_the_weight(void **state) {
  (void)state;
  pour_with_friction("pbd");
  pour_with_friction("p2");
}

/* A tank of 0.5 x 0.5 m with sand in it. */
static void tank_scene(GrainScene *s, const char *method, double depth) {
  grain_scene(s, method, 0.025);
  s->grains[0].fill = scree_shape_box((ScreeVec3){-0.25, -0.25, 0}, (ScreeVec3){0.25, 0.25, depth});
  add_tank(s, (ScreeVec3){-0.25, -0.25, 0}, (ScreeVec3){0.25, 0.25, 3});
}

static double ball_height(const char *method, double density, int contact) {
  GrainScene s;
  tank_scene(&s, method, 0.7);
  s.bodies[0] = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.09));
  s.bodies[0].shape.position = (ScreeVec3){0, 0, 1};
  s.bodies[0].density = density;
  s.bodies[0].contact = contact;
  s.def.body_count = 1;
  ScreeWorld *world = world_of(&s.def, 0);
  run_seconds(world, 3);
  const Solid *ball = &world->state.solids.items[1];
  double height = ball->center.z, speed = vec3_length(ball->velocity);
  print_message("%s, ball of %g kg/m^3, %s: at %.3f m, %.4f m/s\n", method, density,
                contact == SCREE_CONTACT_SAMPLES ? "samples" : "distance", height, speed);
  assert_near(speed, 0, 0.01);
  scree_world_destroy(world);
  return height;
}

/* Settled sand of a 0.7 m random fill is about 0.4 m deep. */
static void a_dense_ball_is_held_and_a_light_one_lies_on_top(void **state) {
  (void)state;
  double top = 0.40;
  for (int k = 0; k < 3; k++) {
    const char *method = k < 2 ? "pbd" : "p2";
    int contact = k == 1 ? SCREE_CONTACT_SAMPLES : SCREE_CONTACT_DISTANCE;
    double dense = ball_height(method, 8000, contact), light = ball_height(method, 300, contact);
    assert_true(dense > 0.09 + 0.025); /* not on the bottom */
    assert_true(dense < light);
    assert_true(light > top && light < top + 0.2);
  }
}

static void sampled_walls_do_not_leak(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "pbd", 0.025);
  s.grains[0].fill = scree_shape_box((ScreeVec3){-0.2, -0.2, 0.05}, (ScreeVec3){0.2, 0.2, 0.8});
  add_tank(&s, (ScreeVec3){-0.25, -0.25, 0}, (ScreeVec3){0.25, 0.25, 1.2})->contact = SCREE_CONTACT_SAMPLES;
  ScreeWorld *world = world_of(&s.def, 0);
  run_seconds(world, 2);
  const Particles *p = &world->state.particles;
  for (int64_t i = 0; i < p->count; i++) {
    Vec3 at = state_position(&world->state, i);
    assert_true(at.z > 0 && fabs(at.x) < 0.25 && fabs(at.y) < 0.25);
  }
  scree_world_destroy(world);
}

/* Two materials of different friction and a wide spread of radii: cross friction is sqrt(mu_i mu_j) and nothing
 * misbehaves. */
static void materials_and_sizes_mix(void **state) {
  (void)state;
  GrainScene s;
  tank_scene(&s, "pbd", 0.5);
  s.materials[1] = scree_material_default("ice");
  s.materials[1].friction_static = 0.04;
  s.materials[1].friction_kinetic = 0.03;
  s.materials[0].radius_spread = 0.5;
  s.materials[1].radius_spread = 0.2;
  s.def.material_count = 2;
  s.grains[1] =
      scree_grains_default("ice", scree_shape_box((ScreeVec3){-0.25, -0.25, 0.55}, (ScreeVec3){0.25, 0.25, 0.9}));
  s.def.grains_count = 2;
  add_probe(&s, SCREE_PROBE_FORCE_ON)->target = "tank";
  add_probe(&s, SCREE_PROBE_ENERGY);
  ScreeWorld *world = world_of(&s.def, 0);
  double weight = world_mass(world) * 9.81;
  enum { FRAMES = 30 }; /* now and then a small grain falls through a pore: what counts is the mean */
  double energy = 0;
  run_seconds(world, 2.5);
  for (int frame = 0; frame < FRAMES; frame++) {
    run_frames(world, 1);
    energy += probe_value(world, 1, 0) / FRAMES;
  }
  ScreeStatistics stats;
  scree_world_statistics(world, &stats);
  assert_near(-probe_value(world, 0, 2), weight, 0.03 * weight);
  assert_near(stats.mass_final, stats.mass_initial, 0);
  assert_true(stats.max_speed < 10 && sqrt(2 * energy / stats.mass_final) < 0.01);
  scree_world_destroy(world);

  double angles[2] = {atan(sqrt(0.35 * 0.04)) - 0.01, atan(sqrt(0.35 * 0.04)) + 0.01};
  for (int k = 0; k < 2; k++) { /* a grain of ice on a slope of sand's friction */
    grain_scene(&s, "pbd", 0.02);
    s.materials[0].friction_static = 0.04;
    s.materials[0].friction_kinetic = 0.03;
    ScreeBoundaryDef *slope = add_floor(&s);
    slope->friction_static = 0.35;
    slope->friction_kinetic = 0.3;
    s.def.gravity = (ScreeVec3){9.81 * sin(angles[k]), 0, -9.81 * cos(angles[k])};
    world = lone_world(&s, vec3(0, 0, 0.02), vec3(0, 0, 0));
    run_seconds(world, 1);
    assert_true(k == 0 ? grain_at(world, 1).x < 1e-4 : grain_at(world, 1).x > 1e-2);
    scree_world_destroy(world);
  }
}

/* Without memory overlap alone carries the load: sand sinks into itself, but does not go through its floor. */
static void sand_stands_without_memory(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    GrainScene s;
    tank_scene(&s, k ? "p2" : "pbd", 0.9);
    s.def.method.pbd.memory = s.def.method.p2.memory = false;
    add_probe(&s, SCREE_PROBE_FORCE_ON)->target = "tank";
    ScreeWorld *world = world_of(&s.def, 0);
    double weight = world_mass(world) * 9.81, lowest = INFINITY;
    run_seconds(world, 3);
    for (int64_t i = 0; i < world->state.particles.count; i++)
      lowest = fmin(lowest, state_position(&world->state, i).z / 0.025);
    print_message("lowest centre %.2f radii over the floor\n", lowest);
    assert_true(lowest > 0.5);
    assert_near(-probe_value(world, 0, 2), weight, 0.03 * weight);
    scree_world_destroy(world);
  }
}

/* The papers' form must exist too: averaging, no memory, both limits of friction. */
static void the_papers_own_mode_runs(void **state) {
  (void)state;
  for (int printed = 0; printed < 2; printed++) {
    GrainScene s;
    tank_scene(&s, "pbd", 0.5);
    s.def.method.pbd.averaging = true;
    s.def.method.pbd.relaxation = 1.2;
    s.def.method.pbd.mass_scaling = 1;
    s.def.method.pbd.friction_limit = printed ? SCREE_FRICTION_PRINTED : SCREE_FRICTION_DEPTH;
    ScreeWorld *world = world_of(&s.def, 0);
    run_seconds(world, 2);
    ScreeStatistics stats;
    scree_world_statistics(world, &stats);
    assert_true(stats.max_speed < 10 && world->tally.speed < 0.5);
    scree_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_angle_rises_with_friction_and_the_floor_carries_the_weight),
      cmocka_unit_test(a_dense_ball_is_held_and_a_light_one_lies_on_top),
      cmocka_unit_test(sampled_walls_do_not_leak),
      cmocka_unit_test(materials_and_sizes_mix),
      cmocka_unit_test(sand_stands_without_memory),
      cmocka_unit_test(the_papers_own_mode_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
