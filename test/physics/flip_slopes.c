/* At which slope sand as a continuum gives way. */
#include "physics/flip_fixture.h"

/* A bed in a box, with gravity turned by so many degrees: how far its sand slides in a second, m. The yield surface
 * lets it slide from atan(sqrt(3/2) alpha) on. */
static double slides(double alpha, double tilt_deg) {
  Fixture f;
  double tilt = tilt_deg * M_PI / 180;
  fixture_begin(&f, 0.01);
  f.scene.gravity = (ScreeVec3){9.81 * sin(tilt), 0, -9.81 * cos(tilt)};
  f.materials[0].friction_angle_deg = asin(alpha * sqrt(1.5)) * 180 / M_PI;
  fixture_fill(&f, "sand", (ScreeVec3){0, 0, 0}, (ScreeVec3){0.96, 0.16, 0.16});
  fixture_floor(&f, 2);
  const ScreeVec3 points[4] = {{0, 0, 0}, {0.96, 0, 0}, {0, 0, 0}, {0, 0.16, 0}},
                  normals[4] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  for (int k = 0; k < 4; k++) {
    ScreeBoundaryDef *wall = &f.walls[f.scene.boundary_count++];
    *wall = scree_boundary_default(scree_shape_plane(points[k], normals[k]));
    wall->friction_static = wall->friction_kinetic = 0;
  }
  ScreeWorld *world = fixture_world(&f);
  double way = -fixture_center(world).x;
  run_frames(world, 60);
  way += fixture_center(world).x;
  scree_world_destroy(world);
  return way;
}

/* Two degrees below, a bed moves no more than its settling needs; nine above, it slides. */
static void slopes_stay_below_their_angle(void **state) {
  (void)state;
  const double alphas[2] = {0.3, 0.5};
  for (int k = 0; k < 2; k++) {
    double angle = atan(sqrt(1.5) * alphas[k]) * 180 / M_PI, below = slides(alphas[k], angle - 2),
           above = slides(alphas[k], angle + 9);
    print_message("alpha %.1f: %.1f mm below, %.1f mm above %.1f degrees\n", alphas[k], 1e3 * below, 1e3 * above,
                  angle);
    assert_true(below < 6e-3);
    assert_true(above > 5 * below && above > 15e-3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(slopes_stay_below_their_angle)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
