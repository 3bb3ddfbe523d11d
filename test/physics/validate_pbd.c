/* pbd in the long runs: piles over seeds and iterations, creep over a minute, discharge, depth. */
#include "pour_fixture.h"

static void small_steps_make_the_angle_independent_of_the_iterations(void **state) {
  (void)state;
  enum { SEEDS = 5 };
  Pour pour = {.time_step = 0.001, .iterations = 3, .friction = 0.35, .seconds = 4};
  double few = pour_angle("pbd", pour, SEEDS);
  pour.iterations = 20;
  double many = pour_angle("pbd", pour, SEEDS);
  print_message("1 ms: %.2f deg with 3 iterations, %.2f deg with 20\n", few, many);
  assert_near(few, many, 2);
  pour.time_step = 0.005;
  double many_long = pour_angle("pbd", pour, SEEDS);
  pour.iterations = 5;
  double few_long = pour_angle("pbd", pour, SEEDS);
  print_message("5 ms: %.2f deg with 5 iterations, %.2f deg with 20\n", few_long, many_long);
}

static void a_pile_keeps_its_shape_for_a_minute(void **state) {
  (void)state;
  const double time_step[] = {0.005, 0.001};
  const int iterations[] = {5, 3};
  for (int k = 0; k < 2; k++) {
    Pour pour = {.time_step = time_step[k],
                 .iterations = iterations[k],
                 .friction = 0.35,
                 .seed = 1,
                 .seconds = 4,
                 .creep_from = 6};
    ScreeWorld *world = pour_world("pbd", &pour, 0);
    run_seconds(world, 6);
    double angle = probe_value(world, POUR_ANGLE, 0);
    run_seconds(world, 60);
    double creep = probe_value(world, POUR_CREEP, 0) / (2 * POUR_RADIUS);
    print_message("%g ms x %d: creep %.4f diameters in 60 s; angle %.2f, then %.2f deg\n", 1e3 * time_step[k],
                  iterations[k], creep, angle, probe_value(world, POUR_ANGLE, 0));
    if (time_step[k] <= 0.001) assert_true(creep < 0.1); /* 5 ms lets single grains of a steep face slip now and then */
    scree_world_destroy(world);
  }
}

/* Half a metre square, a metre deep when settled. Answers the largest overlap, as a share of the radius. */
static double deep_overlap(double time_step, int iterations) {
  GrainScene s;
  grain_scene(&s, "pbd", 0.02);
  s.def.method.time_step = time_step;
  s.def.method.iterations = iterations;
  s.grains[0].start = SCREE_START_DENSE;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-0.25, -0.25, 0}, (ScreeVec3){0.25, 0.25, 1.1});
  add_tank(&s, (ScreeVec3){-0.25, -0.25, 0}, (ScreeVec3){0.25, 0.25, 3});
  ScreeWorld *world = grain_world_threads(&s, 0);
  run_seconds(world, 3);
  double overlap = world_overlap(world), highest = 0;
  const Particles *p = &world->state.particles;
  for (int64_t i = 0; i < p->count; i++) highest = fmax(highest, state_position(&world->state, i).z);
  print_message("%g ms x %d: %lld grains, %.2f m deep, overlap %.4f of the radius\n", 1e3 * time_step, iterations,
                (long long)p->count, highest, overlap);
  scree_world_destroy(world);
  return overlap;
}

static void a_metre_of_sand_overlaps_little(void **state) {
  (void)state;
  deep_overlap(0.005, 5);
  deep_overlap(0.002, 10);
  assert_true(deep_overlap(0.001, 3) < 0.05); /* what the documents recommend for depth */
}

/* The shipped hourglass, from 80 to 20 % fill. */
static void discharge_is_constant(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "pbd", 0.028);
  s.grains[0].fill = scree_shape_mesh_file("hourglass_fill.obj");
  add_boundary(&s, "glass", scree_shape_mesh_file("hourglass.obj"))->inside = true;
  add_probe(&s, SCREE_PROBE_FLOW)->plane_z = 0;
  ScreeWorld *world = grain_world_threads(&s, 0);
  double total = world_mass(world), through = 0, begun = 0, when[4] = {0};
  const double share[4] = {0.2, 0.4, 0.6, 0.8}; /* of the mass that has run: 80, 60, 40 and 20 % fill */
  int mark = 0;
  while (mark < 4 && world->state.time < 40) {
    run_frames(world, 1);
    through += probe_value(world, 0, 0) / 60;
    if (begun == 0 && through > 0) begun = world->state.time;
    if (through >= share[mark] * total) when[mark++] = world->state.time;
  }
  assert_int_equal(mark, 4);
  double mean = 0.6 * total / (when[3] - when[0]);
  for (int k = 1; k < 4; k++) {
    double rate = 0.2 * total / (when[k] - when[k - 1]);
    print_message("fill %.0f to %.0f %%: %.1f kg/s\n", 100 - 100 * share[k - 1], 100 - 100 * share[k], rate);
    assert_near(rate, mean, 0.1 * mean);
  }
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(discharge_is_constant),
      cmocka_unit_test(a_metre_of_sand_overlaps_little),
      cmocka_unit_test(small_steps_make_the_angle_independent_of_the_iterations),
      cmocka_unit_test(a_pile_keeps_its_shape_for_a_minute),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
