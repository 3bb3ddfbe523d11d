/* Exchange of grains and columns, with more seeds, and under dem. */
#include "check.h"
#include "terrain_fixture.h"

static void exchange_keeps_the_height_of_a_pile(void **state) {
  (void)state;
  check_slump("pbd", 6);
  check_slump("p2", 6);
}

static void exchange_keeps_the_height_of_a_dem_pile(void **state) {
  (void)state;
  check_slump("dem", 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(exchange_keeps_the_height_of_a_pile),
                                     cmocka_unit_test(exchange_keeps_the_height_of_a_dem_pile)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
