/* Fig. 3 and Fig. 5 of Holz 2014. */
#include "bench/slope.h"

#include "p2_fixture.h"

/* ---- Fig. 5 ---- */

static SlopeResult slope(bool sequential, bool averaging, int iterations, double error_reduction) {
  SlopeResult mean = {0};
  for (int seed = 1; seed <= 3; seed++) {
    SlopeCase c = {sequential, averaging, false, iterations, error_reduction, seed};
    SlopeResult result = {0};
    ScreeError error;
    if (slope_run(&c, 2, &result, &error) != SCREE_OK) {
      print_error("%s\n", error.message);
      _fail(__FILE__, __LINE__);
    }
    mean.angle += result.angle / 3;
    mean.load += result.load / 3;
    mean.depth += result.depth / 3;
  }
  print_message("%s %d iterations, error reduction %g: %.1f deg, load %.3f, overlap %.3f\n",
                sequential  ? "Gauss-Seidel"
                : averaging ? "averaging"
                            : "splitting",
                iterations, error_reduction, mean.angle, mean.load, mean.depth);
  return mean;
}

static void error_reduction_makes_up_for_iterations(void **state) {
  (void)state;
  SlopeResult few = slope(true, false, 10, 0), many = slope(true, false, 40, 0);
  SlopeResult plain = slope(false, true, 10, 0), reduced = slope(false, true, 10, 0.5);
  slope(false, false, 10, 0);
  slope(false, false, 10, 0.5);
  assert_true(plain.angle < few.angle + 1);
  assert_true(reduced.angle > plain.angle);
  assert_near(reduced.angle, many.angle, 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(error_reduction_makes_up_for_iterations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
