/* Angles of poured heaps, means over seeds: how they depend on iterations and time step, and whether they are those of
 * grains that do not turn. One heap scatters by 0.5 to 1 degree. A pattern as argument chooses among the tests. */
#include "pour_fixture.h"

/* With small steps 3 and 20 iterations differ by less than 2 degrees; those of long steps are told. Means of five
 * seeds scatter by 0.3 degrees, their difference at 1 ms by 0.4 round 1.3: ten seeds tell it from 2. */
static void compare_angles(const char *method) {
  Pour few = {.time_step = 0.001, .iterations = 3, .friction = 0.35, .seconds = POUR_SECONDS}, many = few;
  many.iterations = 20;
  assert_near(pour_angle(method, few, 10), pour_angle(method, many, 10), 2);
  few.time_step = many.time_step = 0.0005;
  assert_near(pour_angle(method, few, 5), pour_angle(method, many, 5), 2);
  few.time_step = many.time_step = 0.005;
  few.iterations = 5;
  pour_angle(method, few, 5);
  pour_angle(method, many, 5);
}

static void pbd_small_steps_make_the_angle_independent_of_the_iterations(void **state) {
  (void)state;
  compare_angles("pbd");
}

static void p2_small_steps_make_the_angle_independent_of_the_iterations(void **state) {
  (void)state;
  compare_angles("p2");
}

/* Grains that do not turn make steep heaps: as steep as those of dem with rotation locked and impacts that take the
 * speed, which the position-based ones do. */
static void still_heaps(void **state) {
  double friction = *(const double *)*state;
  Pour dem = {.time_step = (double)NAN, .friction = friction, .restitution = 0.05, .seconds = POUR_SECONDS};
  Pour position = {.time_step = 0.001, .iterations = 10, .friction = friction, .seconds = POUR_SECONDS};
  double reference = pour_angle("dem", dem, 3), pbd = pour_angle("pbd", position, 3),
         p2 = pour_angle("p2", position, 3);
  assert_near(pbd, reference, 3);
  assert_near(p2, reference, 3);
}

#define STILL(name, friction)                                                                                          \
  { "still_grains_make_the_same_heaps_in_dem_" name, still_heaps, NULL, NULL, friction }

int main(int count, char **arguments) {
  static double friction[] = {0.1, 0.2, 0.35, 0.6};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pbd_small_steps_make_the_angle_independent_of_the_iterations),
      cmocka_unit_test(p2_small_steps_make_the_angle_independent_of_the_iterations),
      STILL("0.1", &friction[0]),
      STILL("0.2", &friction[1]),
      STILL("0.35", &friction[2]),
      STILL("0.6", &friction[3]),
  };
  if (count > 1) cmocka_set_test_filter(arguments[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
