/* pbd and p2 against machines: a bed that a motor holds under its load, and a bucket that a motor presses into sand. */
#include "grains_fixture.h"

#ifdef SCREE_HAVE_MUJOCO

/* Mean height of the grains over the world's origin. */
static double mean_height(const ScreeWorld *world) {
  double sum = 0;
  for (int64_t i = 0; i < world->state.particles.count; i++) sum += state_position(&world->state, i).z;
  return sum / (double)world->state.particles.count;
}

/* Sand four times as heavy as the bed of the truck (30 kg), whose motor holds it: a part that gave way in the solve as
 * if nothing held it would let the sand sink into it and into itself, step by step. */
static void hold(const char *method) {
  GrainScene s;
  grain_scene(&s, method, 0.02);
  s.def.frame_rate = 30;
  ScreeMechanismDef truck = scree_mechanism_default("dump_truck.xml");
  s.def.mechanism = &truck;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-0.4, -0.28, 0.4}, (ScreeVec3){0.15, 0.28, 0.85});
  add_floor(&s);
  add_probe(&s, SCREE_PROBE_FORCE_ON)->target = "bed";
  ScreeWorld *world = world_of(&s.def, 0);
  double weight = world_mass(world) * 9.81;
  assert_true(weight > 4 * 30 * 9.81);
  run_seconds(world, 1.5);
  double before = mean_height(world), load = 0;
  for (int frame = 0; frame < 30; frame++) {
    run_frames(world, 1);
    load -= probe_value(world, 0, 2) / 30;
  }
  print_message("%s: load / weight %.4f, sunk %.5f radii, overlap %.3f\n", method, load / weight,
                (before - mean_height(world)) / 0.02, world_overlap(world));
  assert_near(load, weight, 0.03 * weight);
  assert_near(mean_height(world), before, 0.02 * 0.02); /* 2 % of a radius in a second */
  assert_true(world_overlap(world) < 0.1);
  scree_world_destroy(world);
}

static void a_motor_holds_its_load(void **state) {
  (void)state;
  hold("pbd");
  hold("p2");
}

/* The excavator's boom is told to go far below the floor: its motor presses the bucket through the sand with all it
 * has. */
static void press(const char *method) {
  GrainScene s;
  grain_scene(&s, method, 0.03);
  s.def.frame_rate = 30;
  ScreeMechanismDef excavator = scree_mechanism_default("excavator.xml");
  s.def.mechanism = &excavator;
  s.grains[0].fill = scree_shape_box((ScreeVec3){0.65, -0.3, 0}, (ScreeVec3){1.65, 0.3, 0.3});
  add_tank(&s, (ScreeVec3){0.6, -0.35, 0}, (ScreeVec3){1.7, 0.35, 5});
  add_probe(&s, SCREE_PROBE_FORCE_ON)->target = "bucket";
  ScreeWorld *world = world_of(&s.def, 0);
  double mass = world_mass(world), force = 0, fastest = 0;
  const Solid *bucket = &world->state.solids.items[solids_find(&world->state.solids, "bucket")];
  run_seconds(world, 0.6);
  for (int32_t k = 0; k < bodies_control_count(world->bodies); k++) {
    const char *name;
    double low;
    assert_int_equal(bodies_control(world->bodies, k, &name, NULL, &low, NULL), SCREE_OK);
    if (strcmp(name, "boom") == 0) assert_ok(&world->core, bodies_set_control(&world->core, world->bodies, k, low));
  }
  for (int frame = 0; frame < 60; frame++) {
    run_frames(world, 1);
    force = fmax(force, fabs(probe_value(world, 0, 2)));
    fastest = fmax(fastest, vec3_length(bucket->velocity) + 0.3 * vec3_length(bucket->spin));
  }
  ScreeStatistics stats;
  scree_world_statistics(world, &stats);
  print_message("%s: %.0f N on the bucket of %.1f m/s; grains at most %.1f m/s, overlap %.2f\n", method, force, fastest,
                stats.max_speed, stats.max_overlap);
  assert_true(force > 300 && isfinite(force)); /* the motor did press */
  assert_true(stats.max_speed < 2 * fastest);
  assert_near(world_mass(world), mass, 0);
  scree_world_destroy(world);
}

static void a_motor_presses_through_sand(void **state) {
  (void)state;
  press("pbd");
  press("p2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_motor_holds_its_load),
      cmocka_unit_test(a_motor_presses_through_sand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void) { return 0; }
#endif
