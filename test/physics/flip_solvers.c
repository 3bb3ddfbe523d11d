/* Complementarity and bounds hold in every step of the shipped scenes, here with large particles. */
#include "physics/flip_solvers.h"

static void solves_end_well(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof FLIP_SCENES / sizeof *FLIP_SCENES; k++) check_solves(FLIP_SCENES[k], 4, 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(solves_end_well)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
