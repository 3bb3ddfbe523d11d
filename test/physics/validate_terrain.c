/* Exchange keeps the height of a pile of dem as well. */
#include "terrain_fixture.h"

static void exchange_keeps_the_height_of_a_dem_pile(void **state) {
  (void)state;
  int64_t none, buried;
  double off = slump("dem", false, &none), on = slump("dem", true, &buried);
  print_message("dem: %.2f %%\n", 100 * (on / off - 1));
  assert_true(buried > 800);
  assert_true(fabs(on / off - 1) < 0.03);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(exchange_keeps_the_height_of_a_dem_pile)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
