/* pbd in the long runs: creep over a minute, discharge, depth. Angles are in validate_angles.c. */
#include "pour_fixture.h"

static void a_pile_keeps_its_shape_for_a_minute(void **state) {
  (void)state;
  assert_true(pour_creep("pbd", 0.005, 5) < 0.1);
  assert_true(pour_creep("pbd", 0.001, 3) < 0.1);
}

static void a_metre_of_sand_overlaps_little(void **state) {
  (void)state;
  deep_overlap("pbd", 0.005, 5);
  deep_overlap("pbd", 0.002, 10);
  assert_true(deep_overlap("pbd", 0.001, 3) < 0.05); /* what the documents recommend for depth */
}

/* The shipped hourglass, from 80 to 20 % fill. */
static void discharge_is_constant(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "pbd", 0.028);
  s.grains[0].fill = scree_shape_mesh_file("hourglass_fill.obj");
  add_boundary(&s, "glass", scree_shape_mesh_file("hourglass.obj"))->inside = true;
  add_probe(&s, SCREE_PROBE_FLOW)->plane_z = 0;
  ScreeWorld *world = world_of(&s.def, 0);
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
      cmocka_unit_test(a_pile_keeps_its_shape_for_a_minute),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
