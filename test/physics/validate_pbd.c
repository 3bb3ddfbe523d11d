/* pbd in the long runs: creep over a minute, discharge, depth. Angles are in validate_angles.c. */
#include "pour_fixture.h"

static void a_pile_keeps_its_shape_for_a_minute(void **state) {
  (void)state;
  assert_true(pour_creep("pbd", 0.005, 5, POUR_SECONDS) < 0.1);
  assert_true(pour_creep("pbd", 0.001, 3, POUR_SECONDS) < 0.1);
}

static void a_metre_of_sand_overlaps_little(void **state) {
  (void)state;
  deep_overlap("pbd", 0.005, 5, BED_WIDTH);
  deep_overlap("pbd", 0.002, 10, BED_WIDTH);
  assert_true(deep_overlap("pbd", 0.001, 3, BED_WIDTH) < 0.05); /* what the documents recommend for depth */
}

static void discharge_is_constant(void **state) {
  (void)state;
  assert_true(discharge_strays("pbd", 0.028) < 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(discharge_is_constant),
      cmocka_unit_test(a_metre_of_sand_overlaps_little),
      cmocka_unit_test(a_pile_keeps_its_shape_for_a_minute),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
