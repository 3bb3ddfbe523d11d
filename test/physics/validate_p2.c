/* Fig. 3 and Fig. 5 of Holz 2014. */
#include "bench/slope.h"

#include "p2_fixture.h"
#include "pour_fixture.h"

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

/* ---- what p2 shares with pbd ---- */

static void a_heap_keeps_its_shape_for_a_minute(void **state) {
  (void)state;
  assert_true(pour_creep("p2", 0.005, 5) < 0.1);
}

static void small_steps_make_the_angle_independent_of_the_iterations(void **state) {
  (void)state;
  compare_angles("p2");
}

static void a_metre_of_sand_overlaps_little(void **state) {
  (void)state;
  deep_overlap("p2", 0.005, 5);
  assert_true(deep_overlap("p2", 0.001, 3) < 0.05);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(error_reduction_makes_up_for_iterations),
      cmocka_unit_test(a_metre_of_sand_overlaps_little),
      cmocka_unit_test(a_heap_keeps_its_shape_for_a_minute),
      cmocka_unit_test(small_steps_make_the_angle_independent_of_the_iterations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
