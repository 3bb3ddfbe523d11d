/* Fig. 5 of Holz 2014; creep and depth. Angles are in validate_angles.c. */
#include "bench/slope.h"

#include "p2_fixture.h"
#include "pour_fixture.h"

/* ---- Fig. 5 ---- */

static SlopeResult slope(const char *name, SlopeCase c) {
  SlopeResult mean = {0};
  for (c.seed = 1; c.seed <= 3; c.seed++) {
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
  print_message("%s: %.1f deg, load %.3f, overlap %.3f\n", name, mean.angle, mean.load, mean.depth);
  return mean;
}

/* One run scatters by about a degree. What the figure shows: of ten iterations the sequential ones stand steeper, and
 * error reduction brings the parallel ones near forty sequential ones. The global heuristic does so too. */
static void error_reduction_makes_up_for_iterations(void **state) {
  (void)state;
  SlopeResult few = slope("Gauss-Seidel, 10", (SlopeCase){.sequential = true, .iterations = 10});
  SlopeResult many = slope("Gauss-Seidel, 40", (SlopeCase){.sequential = true, .iterations = 40});
  SlopeCase parallel = {.averaging = true, .iterations = 10};
  SlopeResult plain = slope("averaging, 10", parallel);
  parallel.error_reduction = 0.5;
  SlopeResult tilt = slope("averaging, 10, eps 0.5", parallel);
  parallel.ground = true;
  SlopeResult ground = slope("averaging, 10, eps 0.5 by the ground", parallel);
  assert_true(plain.angle < few.angle);
  assert_near(tilt.angle, many.angle, 3);
  assert_near(ground.angle, many.angle, 3);
}

/* ---- what p2 shares with pbd ---- */

static void a_heap_keeps_its_shape_for_a_minute(void **state) {
  (void)state;
  assert_true(pour_creep("p2", 0.005, 5, POUR_SECONDS) < 0.1);
}

static void a_metre_of_sand_overlaps_little(void **state) {
  (void)state;
  deep_overlap("p2", 0.005, 5, BED_WIDTH);
  assert_true(deep_overlap("p2", 0.001, 3, BED_WIDTH) < 0.05);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(error_reduction_makes_up_for_iterations),
      cmocka_unit_test(a_metre_of_sand_overlaps_little),
      cmocka_unit_test(a_heap_keeps_its_shape_for_a_minute),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
