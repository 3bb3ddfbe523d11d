/* What the laws of `scree validate` read off shapes and series that are known. */
#include "check.h"

#include <math.h>

#include "app/validate/measure.h"

/* A cone of points: thickness falls by the slope, the ring where it crosses half a diameter is known. */
static void a_cone_ends_where_it_is_thin(void **state) {
  (void)state;
  static const double slopes[] = {0.2, 0.36, 0.65, 1.2};
  for (size_t k = 0; k < sizeof slopes / sizeof *slopes; k++) {
    const double d = 0.02, base = 0.7, cell = 0.001;
    Rings rings = {.width = d};
    for (double x = -base; x < base; x += cell)
      for (double y = -base; y < base; y += cell) {
        double height = (base - hypot(x, y)) * slopes[k];
        if (height > 0) rings_add(&rings, x, y, height * cell * cell);
      }
    /* Area of a ring counted in cells: 1 in 200. */
    assert_near(rings_thickness(&rings, 10), (base - 10.5 * d) * slopes[k], 0.005 * base * slopes[k]);
    assert_near(rings_radius(&rings, d / 2), base - d / 2 / slopes[k], 0.25 * d);
  }
}

/* A disc of even thickness that ends between two rings, and one too thin to count. */
static void a_disc_ends_at_its_edge(void **state) {
  (void)state;
  Rings rings = {.width = 0.02};
  const double edge = 0.31, cell = 0.001;
  for (double x = -edge; x < edge; x += cell)
    for (double y = -edge; y < edge; y += cell)
      if (hypot(x, y) < edge) rings_add(&rings, x, y, 0.1 * cell * cell);
  assert_near(rings_radius(&rings, 0.01), edge, 0.02);
  assert_near(rings_radius(&rings, 0.2), 0, 0);
  rings_add(&rings, 1e6, 0, 1); /* beyond all rings */
  assert_near(rings_radius(&rings, 0.01), edge, 0.02);
}

static void a_series_is_reached_when_it_stays(void **state) {
  (void)state;
  const double time[] = {0, 1, 2, 3, 4, 5}, value[] = {0, 99.5, 60, 98, 99.2, 100};
  assert_near(series_reached(time, value, 6, 0.99), 4, 0);
  assert_near(series_reached(time, value, 6, 0.5), 1, 0);
  assert_near(series_reached(time, value, 1, 0.99), 0, 0);
}

static void a_line_is_found(void **state) {
  (void)state;
  const double x[] = {1, 2, 4, 8}, y[] = {5, 7, 11, 19}, off[] = {5, 7, 11, 20};
  Line line = line_fit(x, y, 4);
  assert_near(line.slope, 2, 1e-12);
  assert_near(line.offset, 3, 1e-12);
  assert_near(line.strays, 0, 1e-12);
  assert_true(line_fit(x, off, 4).strays > 0.1);
  Spread spread = spread_of(x, 4);
  assert_near(spread.mean, 3.75, 1e-12);
  assert_near(spread.deviation, sqrt((2.75 * 2.75 + 1.75 * 1.75 + 0.25 * 0.25 + 4.25 * 4.25) / 3), 1e-12);
}

/* An even discharge, one that slows down, one that stops half way. */
static void a_discharge_has_its_rate(void **state) {
  (void)state;
  double time[400], even[400], slower[400], stops[400];
  for (int k = 0; k < 400; k++) {
    time[k] = 0.01 * k;
    even[k] = fmax(1 - 0.3 * time[k], 0);
    slower[k] = exp(-0.6 * time[k]);
    stops[k] = fmax(even[k], 0.5);
  }
  Discharge discharge = discharge_of(time, even, 400);
  assert_true(discharge.emptied);
  assert_near(discharge.rate, 0.3, 1e-9);
  assert_near(discharge.strays, 0, 1e-9);
  discharge = discharge_of(time, slower, 400);
  assert_near(discharge.rate, 0.6 / (log(4) / 0.6), 1e-4);
  assert_near(discharge.strays, 0.15 / (log(0.8 / 0.65) / 0.6) / discharge.rate - 1, 1e-2);
  assert_false(discharge_of(time, stops, 400).emptied);
  assert_false(discharge_of(time, even, 1).emptied);
}

static void loads_saturate_with_their_length(void **state) {
  (void)state;
  const double weight[] = {2, 4, 6, 8};
  double load[4], off[4];
  for (int k = 0; k < 4; k++) {
    load[k] = 1.3 * (1 - exp(-weight[k] / 1.3));
    off[k] = load[k] * (k % 2 ? 1.1 : 0.9);
  }
  Saturation saturation = saturation_of(weight, load, 4);
  assert_near(saturation.length, 1.3, 0.005);
  assert_near(saturation.strays, 0, 0.005);
  assert_near(saturation_of(weight, off, 4).strays, 0.1, 0.02);
  assert_true(saturation_of(weight, weight, 4).length > 50); /* a fluid */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cone_ends_where_it_is_thin),      cmocka_unit_test(a_disc_ends_at_its_edge),
      cmocka_unit_test(a_series_is_reached_when_it_stays), cmocka_unit_test(a_line_is_found),
      cmocka_unit_test(a_discharge_has_its_rate),          cmocka_unit_test(loads_saturate_with_their_length),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
