/* dem, long: a poured pile is the steeper the rougher its grains and the harder they roll. */
#include "dem_fixture.h"

#define RADIUS 0.006

static double slope(double friction, double rolling) {
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  ScreeMaterialDef *m = &s.materials[0];
  m->friction_static = m->friction_kinetic = friction;
  m->rolling_friction = rolling;
  m->young = 2e6;
  m->restitution = 0.3;
  s.emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 0.2}, .radius = 0.03, .direction = {0, 0, -1}};
  s.emitter.rate = 1;
  s.emitter.speed = 0.1;
  s.emitter.until = 1.5;
  s.walls[0] = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  s.walls[0].friction_static = s.walls[0].friction_kinetic = 0.8;
  s.def.boundary_count = 1;
  s.probes[0] = scree_probe_default("slope", SCREE_PROBE_REPOSE_ANGLE);
  s.def.probe_count = 1;
  ScreeWorld *world = dem_make(&s, 2);
  run_frames(world, 140);
  ScreeProbeState probe;
  assert_int_equal(scree_world_probe(world, 1, &probe), SCREE_OK);
  double angle = probe.values[0];
  print_message("friction %.2f rolling %.2f: %.1f degrees\n", friction, rolling, angle);
  scree_world_destroy(world);
  return angle;
}

static void piles_steepen_with_friction_and_rolling_resistance(void **state) {
  (void)state;
  double smooth = slope(0.1, 0.1), middle = slope(0.5, 0.1);
  assert_true(smooth + 3 < middle);
  double free = slope(0.5, 0), stiff = slope(0.5, 0.3);
  assert_true(free < middle && middle < stiff);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(piles_steepen_with_friction_and_rolling_resistance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
