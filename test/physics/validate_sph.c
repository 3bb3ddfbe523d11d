/* sph at full size and length: a minute of rest, the paper's number of parcels. */
#include "sph_fixture.h"

static void piles_keep_their_angle_for_a_minute(void **state) {
  (void)state;
  double angles[2];
  sph_slump(30, 38, 0.9, 0.02, 3, 60, angles);
  sph_check_slump(30, angles);
  sph_slump(45, 55, 0.75, 0.02, 3, 60, angles);
  sph_check_slump(45, angles);
}

static void slopes_hold_and_flow(void **state) {
  (void)state;
  assert_true(sph_ridge(30, 27, 0.015, 0.9, 0.5, 4) < 0.2 * 0.03);
  assert_true(sph_ridge(30, 33, 0.015, 0.9, 0, 4) > 0.03);
  assert_true(sph_ridge(45, 42, 0.015, 0.7, 0.5, 4) < 0.2 * 0.03);
  assert_true(sph_ridge(45, 48, 0.015, 0.7, 0, 4) > 0.03);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(piles_keep_their_angle_for_a_minute),
      cmocka_unit_test(slopes_hold_and_flow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
