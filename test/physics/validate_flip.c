/* flip at full size and length: a minute of rest, craters, discharge, heaps, spheres, the solves of whole scenes. */
#include <stdlib.h>

#include "physics/flip_solvers.h"

static void a_minute_of_rest(void **state) {
  (void)state;
  Fixture f;
  fixture_begin(&f, 0.02);
  fixture_fill(&f, "sand", (ScreeVec3){-0.4, -0.24, 0}, (ScreeVec3){0.4, 0.24, 0.4});
  fixture_tank(&f, (ScreeVec3){-0.4, -0.24, 0}, (ScreeVec3){0.4, 0.24, 1});
  ScreeWorld *world = fixture_world(&f);
  run_seconds(world, 5);
  double height = fixture_center(world).z, densest = 0, fastest = 0;
  for (int k = 0; k < 55; k++) {
    run_seconds(world, 1);
    densest = fmax(densest, flip_report(world->method_data)->densest);
    fastest = fmax(fastest, fixture_speed(world));
  }
  print_message("60 s: sank by %.3f %%, %.2f mm/s at most (root of the mean square), densest %.4f\n",
                100 * (1 - fixture_center(world).z / height), 1e3 * fastest, densest);
  assert_true(densest < 1.02);
  assert_true(fastest < 5e-3);
  assert_near(fixture_center(world).z / height, 1, 0.005);
  scree_world_destroy(world);
}

enum { SECTORS = 16, RINGS = 44 };

/* Radius of the crater in each direction: where the surface, seen from the middle outwards, first reaches `level`. */
static void crater(ScreeWorld *world, double level, double reach, double radius[SECTORS]) {
  static double top[SECTORS][RINGS];
  const Particles *p = &world->state.particles;
  memset(top, 0, sizeof top);
  for (int64_t i = 0; i < p->count; i++) {
    Vec3 at = state_position(&world->state, i);
    int ring = (int)(sqrt(at.x * at.x + at.y * at.y) / reach * RINGS);
    int sector = (int)((atan2(at.y, at.x) / (2 * M_PI) + 1) * SECTORS + 0.5) % SECTORS;
    /* what still flies is no surface */
    if (ring >= RINGS || fabs((double)p->vz[i]) > 0.3 || at.z > 1.5 * level) continue;
    top[sector][ring] = fmax(top[sector][ring], at.z);
  }
  for (int s = 0; s < SECTORS; s++) {
    radius[s] = reach;
    for (int ring = RINGS / 8; ring < RINGS; ring++)
      if (top[s][ring] > level && top[s][ring - 1] <= level) {
        double share = (level - top[s][ring - 1]) / (top[s][ring] - top[s][ring - 1]);
        radius[s] = (ring - 0.5 + share) * reach / RINGS;
        break;
      }
  }
}

/* Root of the mean square of the deviation from the mean radius, and the part that has the grid's fourfold symmetry. */
static void roundness(int scheme, double *spread, double *fourfold) {
  char path[SCREE_FILE_MAX];
  ScreeScene *scene = NULL;
  ScreeError error;
  assert_done(scree_scene_find("narain2010/splash", path, sizeof path, &error));
  assert_done(scree_scene_load(path, NULL, &scene, &error));
  ScreeSceneDef splash = *scree_scene_definition(scene);
  splash.method.flip.yield_surface = scheme;
  ScreeWorld *world = world_of(&splash, 2);
  scree_scene_free(scene);
  run_seconds(world, 0.6);
  double radius[SECTORS], mean = 0, square = 0, wave[2] = {0};
  crater(world, 0.095, 0.11, radius);
  for (int s = 0; s < SECTORS; s++) mean += radius[s] / SECTORS;
  for (int s = 0; s < SECTORS; s++) {
    double off = radius[s] / mean - 1, turn = 4 * 2 * M_PI * s / SECTORS;
    square += off * off / SECTORS;
    wave[0] += 2 * off * cos(turn) / SECTORS;
    wave[1] += 2 * off * sin(turn) / SECTORS;
  }
  *spread = sqrt(square);
  *fourfold = sqrt(wave[0] * wave[0] + wave[1] * wave[1]);
  print_message("crater of %s: radius %.1f mm, spread %.1f %%, fourfold part %.1f %%\n",
                scheme == SCREE_YIELD_BOX ? "box" : "cone", 1e3 * mean, 100 * *spread, 100 * *fourfold);
  scree_world_destroy(world);
}

static void craters_are_round(void **state) {
  (void)state;
  double spread, fourfold, box_spread, box_fourfold;
  roundness(SCREE_YIELD_CONE, &spread, &fourfold);
  roundness(SCREE_YIELD_BOX, &box_spread, &box_fourfold);
  assert_true(spread < 0.05);
  assert_true(fourfold < 0.05);
}

static void discharge_does_not_know_the_head(void **state) {
  (void)state;
  ScreeWorld *world = shipped_world("hourglass", 1);
  double below[4];
  run_seconds(world, 0.6);
  for (int k = 0; k < 4; k++) {
    ScreeProbeState probe;
    assert_int_equal(scree_world_probe(world, 2, &probe), SCREE_OK);
    below[k] = probe.values[0];
    if (k < 3) run_seconds(world, 0.4);
  }
  double early = below[1] - below[0], late = below[3] - below[2];
  print_message("hourglass: %.1f kg/s, then %.1f, then %.1f; %.0f %% of %.0f kg are through\n", early / 0.4,
                (below[2] - below[1]) / 0.4, late / 0.4, 100 * below[3] / world_mass(world), world_mass(world));
  assert_near(late / early, 1, 0.1);
  scree_world_destroy(world);
}

/* Fig. 4: lower friction leads to flatter piles, and all of them stand still. */
static void piles_stand_in_order(void **state) {
  (void)state;
  double low = check_heap("pile_03", 0.3, 1.25), middle = check_heap("pile_05", 0.5, 1.25),
         high = check_heap("pile_07", 0.7, 1.25);
  assert_true(low + 2 < middle && middle + 2 < high);
}

/* and they are as round as what fell, and lie on the floor. */
static void piles_are_round(void **state) {
  (void)state;
  const char *const names[3] = {"pile_03", "pile_05", "pile_07"};
  for (int k = 0; k < 3; k++) {
    ScreeWorld *world = shipped_world(names[k], 1);
    run_seconds(world, 3);
    double front, part = fourfold_part(world, &front);
    print_message("%s: front at %.3f m, fourfold part %.1f %%\n", names[k], front, 100 * part);
    assert_true(part < 0.03);
    check_lies(world, names[k]);
    scree_world_destroy(world);
  }
}

static void spheres_sink_in_order(void **state) {
  (void)state;
  ScreeWorld *world = shipped_world("impacts", 2);
  run_seconds(world, 2);
  const char *const names[4] = {"mass_03", "mass_1", "mass_3", "mass_10"};
  double z[4];
  for (int k = 0; k < 4; k++) z[k] = fixture_body(world, names[k]).pose.position.z;
  print_message("spheres of 0.3, 1, 3, 10 units: bottoms at %.3f %.3f %.3f %.3f m, sand to 0.21\n", z[0] - 0.1,
                z[1] - 0.1, z[2] - 0.1, z[3] - 0.1);
  for (int k = 1; k < 4; k++) assert_true(z[k] < z[k - 1]);
  assert_true(z[3] - 0.1 > 0.01);
  assert_true(vec3_length(vec3(0, 0, fixture_body(world, "mass_10").velocity.z)) < 0.05);
  scree_world_destroy(world);
}

static void whole_scenes_are_solved(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof FLIP_SCENES / sizeof *FLIP_SCENES; k++) check_solves(FLIP_SCENES[k], 2, 45);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_minute_of_rest),
                                     cmocka_unit_test(craters_are_round),
                                     cmocka_unit_test(discharge_does_not_know_the_head),
                                     cmocka_unit_test(piles_stand_in_order),
                                     cmocka_unit_test(piles_are_round),
                                     cmocka_unit_test(spheres_sink_in_order),
                                     cmocka_unit_test(whole_scenes_are_solved)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
