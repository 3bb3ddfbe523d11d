/* The kernel of sph: one function and its own derivative, of integral one; a lattice and a wall at rest density. */
#define LANE_SCALAR
#include "check.h"

#include "grains_fixture.h"
#include "methods/sph/spline.h"
#include "methods/sph/view.h"
#include "methods/sph/wall_law.h"

static void the_kernel_has_integral_one(void **state) {
  (void)state;
  double sum = 0, step = 1e-3;
  for (double q = step / 2; q < 2; q += step) sum += 4 * M_PI * q * q * spline_shape(q) / M_PI * step;
  assert_near(sum, 1, 1e-5);
}

static void the_slope_is_its_derivative(void **state) {
  (void)state;
  for (double q = 0.05; q < 2.1; q += 0.07) {
    double slope = (spline_shape(q + 1e-5) - spline_shape(q - 1e-5)) / 2e-5;
    assert_near(spline_slope(q), slope, 1e-6);
  }
  for (double q = 0.05; q < 2.1; q += 0.07)
    assert_near(spline_plane_slope(q), (spline_plane(q - 1e-5) - spline_plane(q + 1e-5)) / 2e-5, 1e-6);
}

/* The law, in single precision, is the same function. */
static void the_law_is_the_same_spline(void **state) {
  (void)state;
  for (double q = 0.01; q < 2.1; q += 0.01) {
    SplineValue law = spline_at((float)q);
    assert_near((double)law.shape, spline_shape(q), 1e-6);
    assert_near((double)law.slope * q, spline_slope(q), 1e-6);
  }
}

static void a_plane_counts_as_its_integral(void **state) {
  (void)state;
  for (double z = 0; z < 2; z += 0.3) {
    double sum = 0, step = 1e-3;
    for (double r = step / 2; r < 2; r += step) sum += 2 * r * spline_shape(sqrt(r * r + z * z)) * step;
    assert_near(spline_plane(z), sum, 1e-5);
  }
}

/* Inside too: the deeper, the more, so that what is inside is pushed outwards. */
static void a_wall_grows_inwards_and_fits_its_slope(void **state) {
  (void)state;
  float before = INFINITY;
  for (float d = -2; d < 1.6f; d += 0.05f) {
    WallShare wall = wall_flat(d);
    assert_true(wall.share <= before && wall.slope >= 0);
    before = wall.share;
    assert_near((double)wall.slope, (double)(wall_flat(d - 1e-3f).share - wall_flat(d + 1e-3f).share) / 2e-3, 2e-2);
  }
  assert_near((double)wall_flat(1 - WALL_FIRST).share, (double)WALL_AT_REST, 1e-3);
}

/* Seen along rays a flat wall is the same: the integral over all directions, 2 pi over cosines. */
static void rays_add_up_to_a_flat_wall(void **state) {
  (void)state;
  for (float d = 0.2f; d < 0.7f; d += 0.1f) {
    double share = 0, slope = 0, step = 1e-4;
    for (double c = step / 2; c < 1; c += step) {
      WallShare ray = wall_seen(d / (float)c, (float)c);
      share += step * (double)ray.share;
      slope += step * (double)ray.slope;
    }
    WallShare wall = wall_flat(d);
    assert_near(share, (double)wall.share, 1e-3);
    assert_near(slope, (double)wall.slope, 5e-3);
  }
}

/* What parcels that rest in an edge and in a corner see is what a lattice has there. */
static void edges_and_corners_are_those_of_a_lattice(void **state) {
  (void)state;
  SphRays rays;
  SphView view;
  Core core = {0};
  sph_rays_make(&rays);
  for (int planes = 1; planes <= 3; planes++) {
    double lattice = 0, seen = 0, square = 0;
    for (int x = -2; x <= 2; x++)
      for (int y = -2; y <= 2; y++)
        for (int z = -2; z <= 2; z++)
          if (x < 0 || (planes > 1 && y < 0) || (planes > 2 && z < 0))
            lattice += spline_shape(sqrt((double)(x * x + y * y + z * z))) / M_PI;
    sph_view_begin(&view);
    for (int k = 0; k < planes; k++) {
      const float normal[3] = {k == 0, k == 1, k == 2};
      KERNEL_CALL(&core, sph_view_face)(&rays, &view, k, normal, 1 - WALL_FIRST);
    }
    const float nearest[3] = {1, 0, 0};
    KERNEL_CALL(&core, sph_view_sum)(&rays, &view, nearest, 1 - WALL_FIRST);
    for (int k = 0; k < VIEW_RAYS; k++) seen += view.solid[k] < 0 ? 0 : (double)view.share[k];
    sph_view_square(&rays, &view);
    for (int k = 0; k < VIEW_RAYS; k++) square += view.solid[k] < 0 ? 0 : (double)view.share[k];
    assert_near(seen, lattice, 5e-3); /* rays: 0.2 %, 0.3 % of the density, see view.h; the layers 0.2 % */
    assert_near(square, lattice, 1e-3 * planes);
  }
}

static void a_lattice_is_at_rest_density(void **state) {
  (void)state;
  double sum = 0;
  for (int x = -2; x <= 2; x++)
    for (int y = -2; y <= 2; y++)
      for (int z = -2; z <= 2; z++) sum += spline_shape(sqrt((double)(x * x + y * y + z * z))) / M_PI;
  assert_near(sum, 1, 1e-3);
}

/* Layers of a lattice at rest bear 0, 2, 2, 4, 4 ... from the free surface down, in rho g d: the sums over neighbours,
 * which make the forces, are then right. What presses on a parcel from all sides, nothing from above the surface, is
 * the pressure at its centre: 0.5, 1.5, 2.5 ... */
static void the_load_on_a_parcel_is_the_pressure_at_its_depth(void **state) {
  (void)state;
  SplineLayer above = spline_layer();
  for (int layer = 0; layer < 8; layer++) {
    double load = 0, around = 0, sum = 0;
    for (int z = layer > 2 ? -2 : -layer; z <= 2; z++)
      for (int x = -2; x <= 2; x++)
        for (int y = -2; y <= 2; y++) {
          double q = sqrt((double)(x * x + y * y + z * z)), length = -spline_slope(q) / M_PI;
          load += 2 * ((layer + z + 1) / 2) * length;
          around += length;
          sum += q > 0 ? length * z / q : 0;
        }
    around += sum * above.length / above.sum;
    assert_near(load / around, 0.5 + layer, 0.01 * (0.5 + layer));
  }
}

static void a_fill_weighs_density_times_volume(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "sph", 0.05);
  ScreeWorld *world = grain_world(&s);
  assert_near(world->tally.mass_initial, 1600, 1e-3);
  assert_int_equal(world->state.particles.count, 1000);
  scree_world_destroy(world);
}

static void a_density_of_zero_is_refused(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "sph", 0.05);
  s.materials[0].density = 0;
  ScreeWorld *world = NULL;
  ScreeError error;
  assert_int_equal(scree_world_create(&s.def, NULL, &world, &error), SCREE_BAD_INPUT);
  assert_null(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_kernel_has_integral_one),
      cmocka_unit_test(the_slope_is_its_derivative),
      cmocka_unit_test(the_law_is_the_same_spline),
      cmocka_unit_test(a_plane_counts_as_its_integral),
      cmocka_unit_test(a_wall_grows_inwards_and_fits_its_slope),
      cmocka_unit_test(rays_add_up_to_a_flat_wall),
      cmocka_unit_test(edges_and_corners_are_those_of_a_lattice),
      cmocka_unit_test(a_lattice_is_at_rest_density),
      cmocka_unit_test(the_load_on_a_parcel_is_the_pressure_at_its_depth),
      cmocka_unit_test(a_fill_weighs_density_times_volume),
      cmocka_unit_test(a_density_of_zero_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
