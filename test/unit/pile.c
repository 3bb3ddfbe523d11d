/* What the probe of a pile's angle reads on piles whose angle is known. */
#include "check.h"

#include "core/rng.h"
#include "grains_fixture.h"
#include "world/pile.h"

/* A cone of grains that lie anywhere in their cells of a lattice. */
static double cone_angle(double radius, double base, double angle_deg, ScreeVec2 axis) {
  GrainScene s;
  grain_scene(&s, "none", radius);
  ScreeWorld *world = lone_world(&s, vec3(axis.x, axis.y, radius), vec3(0, 0, 0));
  double slope = tan(angle_deg * M_PI / 180), d = 2 * radius;
  int columns = (int)(base / d) + 1;
  uint64_t bits = 1;
  for (int x = -columns; x <= columns; x++)
    for (int y = -columns; y <= columns; y++)
      for (int z = 0; z <= base * slope / d; z++) {
        double at[3];
        for (int c = 0; c < 3; c++, bits = rng_mix(bits)) at[c] = d * (double)(rng_unitf(bits) - 0.5f);
        at[0] += d * x, at[1] += d * y, at[2] += d * (z + 0.5);
        if (at[2] <= (base - hypot(at[0], at[1])) * slope)
          add_grain(world, vec3(axis.x + at[0], axis.y + at[1], at[2]), vec3(0, 0, 0), radius, 0);
      }
  double angle = 0;
  assert_int_equal(pile_angle(&world->core, &world->scratch, &world->state, axis, &angle), SCREE_OK);
  scree_world_destroy(world);
  return angle;
}

static void a_cone_has_its_angle(void **state) {
  (void)state;
  static const double angles[] = {15, 25, 35, 45};
  for (size_t k = 0; k < sizeof angles / sizeof *angles; k++) {
    assert_near(cone_angle(0.02, 1, angles[k], (ScreeVec2){0, 0}), angles[k], 1.5);
    assert_near(cone_angle(0.02, 0.5, angles[k], (ScreeVec2){0.3, -0.2}), angles[k], 2);
  }
}

/* Grains along a line, the k-th at k from the axis and of k times the first's mass, in no order. */
static void runout_holds_its_share_of_the_mass(void **state) {
  (void)state;
  enum { GRAINS = 5000 };
  const ScreeVec2 axis = {0.5, -0.25};
  GrainScene s;
  grain_scene(&s, "none", 0.1);
  ScreeWorld *world = lone_world(&s, vec3(axis.x + 1, axis.y, 0), vec3(0, 0, 0));
  for (int64_t k = 1; k < GRAINS; k++)
    add_grain(world, vec3(axis.x, axis.y - 1 - (double)(k * 1777 % GRAINS), 0), vec3(0, 0, 0), 0.1, 0);
  Particles *p = &world->state.particles;
  double total = 0;
  for (int64_t i = 0; i < p->count; i++) total += (double)(p->mass[i] = i > 0 ? (float)(1 + i * 1777 % GRAINS) : 1);
  static const double fractions[] = {0, 1e-6, 0.3, 0.95, 0.99, 1};
  for (size_t f = 0; f < sizeof fractions / sizeof *fractions; f++) {
    double radius = 0, held = 0;
    int64_t wanted = 0;
    while (held < fractions[f] * total) held += (double)++wanted;
    assert_int_equal(pile_runout(&world->core, &world->scratch, &world->state, axis, fractions[f], &radius), SCREE_OK);
    assert_near(radius, (double)wanted, 1e-3);
  }
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_cone_has_its_angle),
                                     cmocka_unit_test(runout_holds_its_share_of_the_mass)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
