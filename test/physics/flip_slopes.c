/* At which slope sand as a continuum gives way, how fast it then goes, and that what came down comes to rest.
 *
 * A layer under gravity that is turned by theta is in balance when the shear stress s over the normal stress n across
 * it is tan(theta). Sheared, it bears s = sqrt(3/2) alpha p with n = p (a shear flow has no other stress), so that it
 * flows on, and accelerates by g (sin(theta) - sqrt(3/2) alpha cos(theta)), above the angle of flow,
 *     tan(theta) = sqrt(3/2) alpha.
 * At rest its other stresses are free. With s_zz = a, s_xx = s_yy = -a / 2 the cone |s| <= sqrt(3) alpha p leaves
 * s^2 = 3/2 alpha^2 p^2 - 3/4 a^2 while n = p - a; s / n is largest for a = 2 alpha^2 p, so that nothing can hold it
 * above the angle of yield,
 *     tan(theta) = sqrt(3/2) alpha / sqrt(1 - 2 alpha^2).
 * In between it stands if it stands. */
#include "physics/flip_solvers.h"

static double yield_angle(double alpha) { return atan(sqrt(1.5) * alpha / sqrt(1 - 2 * alpha * alpha)); }

/* Mean speed down the slope of the middle quarter of the bed. */
static double speed_in_the_middle(ScreeWorld *world, double length) {
  const Particles *p = &world->state.particles;
  double mass = 0, sum = 0;
  for (int64_t i = 0; i < p->count; i++) {
    if (fabs(state_position(&world->state, i).x - 0.5 * length) > 0.125 * length) continue;
    mass += (double)p->mass[i];
    sum += (double)(p->mass[i] * p->vx[i]);
  }
  return sum / mass;
}

/* A long shallow bed in a box whose sides do not rub, under turned gravity. The depth is no whole number of cells. */
static ScreeWorld *slope(double alpha, double tilt, int cells, double *length) {
  Fixture f;
  double radius = 0.01, cell = 4 * radius;
  *length = cells * cell;
  fixture_begin(&f, radius);
  f.scene.gravity = (ScreeVec3){9.81 * sin(tilt), 0, -9.81 * cos(tilt)};
  f.materials[0].friction_angle_deg = atan(alpha * sqrt(1.5)) * 180 / M_PI;
  fixture_fill(&f, "sand", (ScreeVec3){0, 0, 0}, (ScreeVec3){*length, 2 * cell, 3.5 * cell});
  fixture_floor(&f, 2);
  const ScreeVec3 points[4] = {{0, 0, 0}, {*length, 0, 0}, {0, 0, 0}, {0, 2 * cell, 0}},
                  normals[4] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  for (int k = 0; k < 4; k++) {
    ScreeBoundaryDef *wall = &f.walls[f.scene.boundary_count++];
    *wall = scree_boundary_default(scree_shape_plane(points[k], normals[k]));
    wall->friction_static = wall->friction_kinetic = 0;
  }
  return fixture_world(&f);
}

/* Two degrees below the angle of flow nothing moves once the jitter of the fill has settled; two above the angle of
 * yield the bed accelerates as Coulomb's law says. The wall below holds it up with the passive pressure of its depth,
 * some two to four times the weight: that takes d / L of g from it, so the bed is 70 times as long as it is deep, and
 * what is left is a few hundredths. */
static void slopes_give_way_where_they_must(void **state) {
  (void)state;
  const double alphas[2] = {0.3, 0.5}, two = 2 * M_PI / 180;
  for (int k = 0; k < 2; k++) {
    double length, above = yield_angle(alphas[k]) + two;
    ScreeWorld *world = slope(alphas[k], flow_angle(alphas[k]) - two, 60, &length);
    run_seconds(world, 0.8);
    double creep = speed_in_the_middle(world, length);
    scree_world_destroy(world);
    world = slope(alphas[k], above, 240, &length);
    run_seconds(world, 0.2);
    double before = speed_in_the_middle(world, length);
    run_seconds(world, 0.2);
    double gain = (speed_in_the_middle(world, length) - before) / 0.2;
    double want = 9.81 * (sin(above) - sqrt(1.5) * alphas[k] * cos(above));
    scree_world_destroy(world);
    print_message("alpha %.1f: %.2f mm/s at %.1f degrees; at %.1f %.2f m/s^2 of %.2f\n", alphas[k], 1e3 * creep,
                  (flow_angle(alphas[k]) - two) * 180 / M_PI, above * 180 / M_PI, gain, want);
    assert_true(fabs(creep) < 1e-3);
    assert_near(gain / want, 1, 0.05);
  }
}

/* A column that falls makes a heap that stands below the angle of flow, and stays. (All of Fig. 4: validate_flip.) */
static void a_heap_comes_to_rest(void **state) {
  (void)state;
  check_heap("pile_05", 0.5, 1.5);
}

/* A heap five cells high, poured slowly: what runs down its slope is thinner than half a cell most of the time. When
 * such layers did not press to the sides it stood at 36 degrees. */
static void a_poured_heap_stands_at_its_angle(void **state) {
  (void)state;
  static const char text[] =
      "scree: 1\nframe_rate: 20\nmethod: {name: flip, radius: 0.01}\n"
      "materials:\n  sand: {density: 1600, friction_angle_deg: 33}\n"
      "emitters:\n  - {disc: {center: [0, 0, 0.3], radius: 0.06}, rate: 1, speed: 0.6, until: 32}\n"
      "boundaries:\n  - {plane: {point: [0, 0, 0], normal: [0, 0, 1]}, friction_static: 100}\n"
      "probes:\n  - {name: angle, kind: repose_angle}\n";
  ScreeScene *scene = NULL;
  ScreeError error;
  ScreeProbeState probe;
  assert_done(scree_scene_parse(text, strlen(text), "heap", NULL, NULL, &scene, &error));
  ScreeWorld *world = world_of(scree_scene_definition(scene), 2);
  run_seconds(world, 34);
  assert_done(scree_world_probe(world, 1, &probe));
  print_message("poured heap: %.1f degrees\n", probe.values[0]);
  assert_near(probe.values[0], 33, 2.5);
  scree_world_destroy(world);
  scree_scene_free(scene);
}

/* Nothing is faster than what falls from the top of the hopper to the floor, unless a wheel is. */
static void wheels_throw_nobody_off(void **state) {
  (void)state;
  ScreeWorld *world = shipped_world("paddles", 4);
  double fastest = 0, fall = sqrt(2 * 9.81 * 2);
  for (int k = 0; k < 45; k++) {
    run_frames(world, 1);
    const Particles *p = &world->state.particles;
    for (int64_t i = 0; i < p->count; i++)
      fastest = fmax(fastest, vec3_length(vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i])));
  }
  print_message("fastest %.2f m/s, free fall %.2f\n", fastest, fall);
  assert_true(fastest < fall);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slopes_give_way_where_they_must), cmocka_unit_test(a_heap_comes_to_rest),
      cmocka_unit_test(a_poured_heap_stands_at_its_angle), cmocka_unit_test(wheels_throw_nobody_off)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
