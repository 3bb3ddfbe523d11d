/* Probes against what a settled bed must show. */
#include "grains_fixture.h"

enum { MIDDLE, LOW, ABOVE_MIDDLE, ABOVE_LOW, EMPTY };

static void add_box_probe(GrainScene *s, int kind, double x, double low, double high) {
  add_probe(s, kind)->box = scree_shape_box((ScreeVec3){-x, -x, low}, (ScreeVec3){x, x, high});
}

/* A bed 0.4 m deep between smooth walls carries rho g h at the depth h; the mass above a box over the area says how
 * much that is. Pressure is a third of the trace of the stress. Sand pushes sideways with K times the vertical stress,
 * so it has (1 + 2 K) / 3 of rho g h: from a third (K = 0) to all of it (a liquid). The share is the same at every
 * depth. A tenth more is allowed for what a box holds by chance: 50 to 100 particles. */
static void pressure_is_the_weight_above(void **state) {
  (void)state;
  static const char *const methods[] = {"pbd", "p2", "dem", "sph", "flip"};
  const double side = 0.3;
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    GrainScene s;
    grain_scene(&s, methods[k], 0.0125);
    s.grains[0].start = SCREE_START_DENSE;
    s.grains[0].fill = scree_shape_box((ScreeVec3){-side / 2, -side / 2, 0}, (ScreeVec3){side / 2, side / 2, 0.4});
    ScreeBoundaryDef *tank = add_tank(&s, (ScreeVec3){-side / 2, -side / 2, 0}, (ScreeVec3){side / 2, side / 2, 1});
    tank->friction_static = tank->friction_kinetic = 0;
    add_box_probe(&s, SCREE_PROBE_PRESSURE_AT, 0.1, 0.175, 0.225);
    add_box_probe(&s, SCREE_PROBE_PRESSURE_AT, 0.1, 0.075, 0.125);
    add_box_probe(&s, SCREE_PROBE_MASS_IN, side, 0.2, 2);
    add_box_probe(&s, SCREE_PROBE_MASS_IN, side, 0.1, 2);
    add_box_probe(&s, SCREE_PROBE_PRESSURE_AT, 0.1, 2, 3);
    ScreeWorld *world = world_of(&s.def, 0);
    for (int p = 0; p < s.def.probe_count; p++) assert_true(isfinite(probe_value(world, p, 0)));
    run_seconds(world, 1);
    double weight = 9.81 / (side * side);
    double middle = probe_value(world, MIDDLE, 0) / (weight * probe_value(world, ABOVE_MIDDLE, 0));
    double low = probe_value(world, LOW, 0) / (weight * probe_value(world, ABOVE_LOW, 0));
    print_message("%s: %.3f and %.3f of rho g h, which is %.0f and %.0f Pa\n", methods[k], middle, low,
                  weight * probe_value(world, ABOVE_MIDDLE, 0), weight * probe_value(world, ABOVE_LOW, 0));
    assert_true(middle > 1.0 / 3 && middle < 1.1 && low > 1.0 / 3 && low < 1.1);
    assert_true(fabs(low / middle - 1) < 0.15);
    assert_true(probe_value(world, EMPTY, 0) == 0);
    scree_world_destroy(world);
  }
}

/* What a method does not know is refused when the world is made, not shown as a number. */
static void methods_without_pressure_refuse(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    GrainScene s;
    grain_scene(&s, k ? "pbd" : "none", 0.05);
    s.def.method.pbd.memory = false;
    add_probe(&s, SCREE_PROBE_PRESSURE_AT);
    ScreeWorldOptions options = scree_world_options_default();
    ScreeWorld *world = NULL;
    ScreeError error;
    assert_int_equal(scree_world_create(&s.def, &options, &world, &error), SCREE_BAD_INPUT);
    assert_non_null(strstr(error.message, "knows no pressure"));
    assert_null(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pressure_is_the_weight_above),
      cmocka_unit_test(methods_without_pressure_refuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
