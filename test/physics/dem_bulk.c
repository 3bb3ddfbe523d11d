/* dem, many grains: energy, rest, places far from the origin, weight on walls. */
#include "dem_fixture.h"

#define RADIUS 0.02

/* A box of grains that fall a little way. */
static void box_scene(DemScene *s, Vec3 corner) {
  dem_scene_begin(s, RADIUS);
  Vec3 high = vec3_add(corner, vec3(0.2, 0.2, 1));
  s->walls[0] = scree_boundary_default(scree_shape_box(corner, high));
  s->walls[0].inside = true;
  s->walls[0].name = "box";
  s->def.boundary_count = 1;
  s->grains = scree_grains_default(
      "sand", scree_shape_box(vec3_add(corner, vec3(0, 0, 0.01)), vec3_add(corner, vec3(0.2, 0.2, 0.5))));
  s->def.grains_count = 1;
  s->def.emitter_count = 0;
  s->materials[0].young = 5e6;
}

static double total_mass(const ScreeWorld *world) {
  double sum = 0;
  for (int64_t i = 0; i < world->state.particles.count; i++) sum += (double)world->state.particles.mass[i];
  return sum;
}

/* Without the energy in the springs, which is never below zero: what is left may not exceed the start's. */
static void energy_never_grows(void **state) {
  (void)state;
  const double restitutions[] = {1, 0.9, 0.3};
  for (int k = 0; k < 3; k++)
    for (int rolling = 0; rolling < 2; rolling++) {
      DemScene s;
      box_scene(&s, vec3(0, 0, 0));
      s.materials[0].restitution = restitutions[k];
      s.materials[0].rolling_friction = rolling ? 0.2 : 0;
      if (k == 0) s.materials[0].friction_static = s.materials[0].friction_kinetic = 0;
      if (k == 0) s.walls[0].friction_static = s.walls[0].friction_kinetic = 0;
      s.materials[0].radius_spread = k == 1 ? 0.3 : 0;
      ScreeWorld *world = dem_make(&s, 2);
      double start = dem_energy(world), before = start;
      for (int frame = 0; frame < 30; frame++) {
        run_frames(world, 1);
        double now = dem_energy(world);
        assert_true(now <= start * (1 + 1e-5));
        before = now;
      }
      if (k == 2) assert_true(before < 0.8 * start);
      scree_world_destroy(world);
    }
}

/* The automatic step bears the strong dampers that hardly a bounce needs: too long a step would keep the grains
 * shaking. */
static void grains_that_hardly_bounce_come_to_rest(void **state) {
  (void)state;
  DemScene s;
  box_scene(&s, vec3(0, 0, 0));
  s.materials[0].restitution = 0.05;
  ScreeWorld *world = dem_make(&s, 2);
  run_frames(world, 60);
  const Particles *p = &world->state.particles;
  double fastest = 0;
  for (int64_t i = 0; i < p->count; i++) fastest = fmax(fastest, fabs((double)p->vz[i]));
  print_message("fastest of %lld: %.2g m/s\n", (long long)p->count, fastest);
  assert_true(fastest < 1e-3);
  scree_world_destroy(world);
}

static void walls_carry_the_weight(void **state) {
  (void)state;
  DemScene s;
  box_scene(&s, vec3(0, 0, 0));
  s.probes[0] = scree_probe_default("load", SCREE_PROBE_FORCE_ON);
  s.probes[0].target = "box";
  s.def.probe_count = 1;
  ScreeWorld *world = dem_make(&s, 2);
  run_frames(world, 120);
  ScreeProbeState load;
  assert_int_equal(scree_world_probe(world, 1, &load), SCREE_OK);
  double weight = total_mass(world) * 9.81;
  assert_near(load.values[2], -weight, 1e-3 * weight);
  assert_near(load.values[0], 0, 1e-3 * weight);
  scree_world_destroy(world);
}

/* 10 s of rest: nothing creeps by more than a hundredth of a diameter. */
static void settled_grains_do_not_creep(void **state) {
  (void)state;
  DemScene s;
  box_scene(&s, vec3(0, 0, 0));
  s.probes[0] = scree_probe_default("creep", SCREE_PROBE_CREEP);
  s.probes[0].from = 2;
  s.def.probe_count = 1;
  ScreeWorld *world = dem_make(&s, 2);
  run_frames(world, 12 * 60);
  ScreeProbeState creep;
  assert_int_equal(scree_world_probe(world, 1, &creep), SCREE_OK);
  print_message("creep in 10 s: %.3g diameters\n", creep.values[0] / (2 * RADIUS));
  assert_true(creep.values[0] < 0.01 * 2 * RADIUS);
  scree_world_destroy(world);
}

static double mean_height(const ScreeWorld *world, double floor) {
  double sum = 0;
  for (int64_t i = 0; i < world->state.particles.count; i++) sum += state_position(&world->state, i).z - floor;
  return sum / (double)world->state.particles.count;
}

static void a_kilometre_away_is_the_same(void **state) {
  (void)state;
  double heights[2];
  for (int k = 0; k < 2; k++) {
    Vec3 corner = k == 0 ? vec3(0, 0, 0) : vec3(1024, -1024, 1024);
    DemScene s;
    box_scene(&s, corner);
    ScreeWorld *world = dem_make(&s, 2);
    run_frames(world, 90);
    heights[k] = mean_height(world, corner.z);
    double weight = 0.5 * total_mass(world), moving = dem_energy(world), still = 0;
    for (int64_t i = 0; i < world->state.particles.count; i++)
      still += (double)world->state.particles.mass[i] * 9.81 * state_position(&world->state, i).z;
    assert_near(moving - still, 0, 1e-6 * weight);
    scree_world_destroy(world);
  }
  print_message("mean height %.6f m, a kilometre away %.6f m\n", heights[0], heights[1]);
  assert_near(heights[1], heights[0], 0.01 * heights[0]);
}

/* A second fill within the first: without relaxing, the springs would throw the grains out at many metres a second. */
static void an_overlapping_start_is_relaxed(void **state) {
  (void)state;
  DemScene s;
  box_scene(&s, vec3(0, 0, 0));
  ScreeGrainsDef twice[2] = {s.grains, scree_grains_default("sand", scree_shape_box((ScreeVec3){0.05, 0.05, 0.2},
                                                                                    (ScreeVec3){0.15, 0.15, 0.3}))};
  s.def.grains = twice;
  s.def.grains_count = 2;
  ScreeWorld *world = dem_make(&s, 2);
  double start = dem_energy(world), fastest = 0;
  for (int frame = 0; frame < 30; frame++) {
    run_frames(world, 1);
    for (int64_t i = 0; i < world->state.particles.count; i++)
      fastest = fmax(fastest, vec3_length(dem_velocity(world, world->state.particles.id[i])));
  }
  assert_true(state_counted(&world->state, "relaxed_start_steps") > 0);
  assert_true(fastest < 4.5); /* free fall through the box */
  assert_true(dem_energy(world) < 1.5 * start);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_never_grows),
      cmocka_unit_test(grains_that_hardly_bounce_come_to_rest),
      cmocka_unit_test(walls_carry_the_weight),
      cmocka_unit_test(settled_grains_do_not_creep),
      cmocka_unit_test(an_overlapping_start_is_relaxed),
      cmocka_unit_test(a_kilometre_away_is_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
