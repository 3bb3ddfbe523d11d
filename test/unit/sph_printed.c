/* What sph has put right of the draft, formula against formula: the printed ones fail these, the laws do not. */
#define LANE_SCALAR
#include "check.h"

#include "methods/sph/wall_law.h"
#include "sph_printed.h"

/* The deviator has no trace: sand that is only compressed bears no friction. */
static void a_third_of_the_trace_leaves_none(void **state) {
  (void)state;
  LaneSym squeeze = {-1, -1, -1, 0, 0, 0}, shear = {0.3f, -0.3f, 0, 0.2f, 0, 0.5f};
  assert_near((double)sym_trace(strain_deviator(squeeze)), 0, 1e-7);
  assert_near((double)sym_trace(printed_half_trace(squeeze)), 1.5, 1e-6);
  assert_near((double)sym_square(sym_sub(strain_deviator(shear), printed_half_trace(shear))), 0, 1e-12);
}

/* A strain turned from x to y gives the same stress, turned. */
static void friction_is_the_same_in_all_directions(void **state) {
  (void)state;
  LaneSym along_x = {1, 0, -1, 0, 0, 0}, along_y = {0, 1, -1, 0, 0, 0};
  LaneSym x = stress_correct(sym_zero(), 3, along_x), y = stress_correct(sym_zero(), 3, along_y);
  assert_true(x.xx == y.yy);
  x = printed_face_d(sym_zero(), 3, along_x), y = printed_face_d(sym_zero(), 3, along_y);
  assert_near((double)(y.yy / x.xx), 2.1, 1e-5);
}

/* Narain's bound, equal to Eq. 12: shear stress of a plane flow up to a share of p (there sin(theta), here tan). */
static void plane_shear_stops_at_a_share_of_the_pressure(void **state) {
  (void)state;
  float share = 0.5f, pressure = 100;
  LaneSym shear = {0, 0, 0, 1000, 0, 0};
  assert_near((double)stress_project(shear, stress_bound(1.41421356f * share, pressure, 0)).xy, 50, 1e-3);
  assert_near((double)stress_project(shear, printed_bound(1.41421356f * share, pressure, 0)).xy, 35.355, 1e-3);
}

/* A parcel of a cloud may have any density below that at rest. */
static void a_cloud_is_no_error(void **state) {
  (void)state;
  float error = pressure_error(0.4f, 0.01f, 0);
  assert_true(pressure_compression(error) == 0);
  assert_near((double)printed_absolute(error), 0.6, 1e-6);
  assert_true(pressure_update(5, 10, error) == 0);
}

/* Friction that stops a shear does not depend on the number of iterations when the strain is that of the velocity under
 * the friction at hand: strain e, of which a stress s leaves e - D s. The strain of the old velocity adds up. */
static void friction_converges(void **state) {
  (void)state;
  LaneSym start = {0, 0, 0, 1, 0, 0}, stress = sym_zero(), old = sym_zero();
  float d = 2, gain = SPH_SHEAR_RELAXATION / d;
  for (int k = 0; k < 100; k++) {
    stress = stress_correct(stress, gain, sym_sub(start, sym_mul(stress, d)));
    old = stress_correct(old, gain, start);
  }
  assert_near((double)stress.xy, 0.5, 1e-6);
  assert_near((double)old.xy, 15, 1e-3);
}

/* Inside a wall the share grows with the depth, so that the push is outwards; by the unsigned distance it falls. */
static void what_is_inside_a_wall_is_pushed_out(void **state) {
  (void)state;
  for (float depth = 0.1f; depth < 1.4f; depth += 0.1f) {
    assert_true(wall_flat(-depth - 0.05f).share > wall_flat(-depth).share);
    assert_true(wall_flat(depth + 0.05f).share <= wall_flat(depth).share); /* without its sign */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_third_of_the_trace_leaves_none),
      cmocka_unit_test(friction_is_the_same_in_all_directions),
      cmocka_unit_test(plane_shear_stops_at_a_share_of_the_pressure),
      cmocka_unit_test(a_cloud_is_no_error),
      cmocka_unit_test(friction_converges),
      cmocka_unit_test(what_is_inside_a_wall_is_pushed_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
