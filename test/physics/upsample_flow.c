/* Fine grains in flowing sand stay even, keep out of solids and hang nowhere. Longer: validate_upsample.c. */
#include "upsample_fixture.h"

/* The hourglass of Sommer 2022 with grains 1.8 times as large: nine seconds of flow, then a heap. */
static void an_hourglass_keeps_them_even(void **state) {
  (void)state;
  const char *const sets[] = {"method.radius=0.05", "method.time_step=0.01", "upsample.radius=0.0145"};
  ScreeWorld *world = fine_scene("sommer2022/hourglass", sets, 3);
  double deepest = -1;
  for (int second = 1; second <= 10; second++) {
    run_frames(world, 60);
    FineMetrics m = fine_metrics(world);
    if (second % 3 == 1)
      print_message("%2d s: spread %.3f of random in %lld cells, %.5f of them empty, far %.5f, deepest %.3f radii\n",
                    second, m.spread, (long long)m.cells, m.empty, m.far, m.deepest);
    deepest = fmax(deepest, m.deepest);
    assert_true(m.cells > 100 && m.far < 0.01 && m.empty < 0.01);
    if (second == 10) assert_true(m.spread < 1.3);
  }
  assert_true(deepest < 0.1);
  scree_world_destroy(world);
}

static void nothing_hangs_in_the_air(void **state) {
  (void)state;
  Tray tray;
  tray_fill(&tray, SCREE_UPSAMPLE_BETTER, true);
  ScreeWorld *world = fine_world(&tray.scene);
  run_frames(world, TRAY_LATER_FRAME);
  double better = tray_hanging(world), deepest = fine_metrics(world).deepest;
  scree_world_destroy(world);
  tray_fill(&tray, SCREE_UPSAMPLE_PAPER, false);
  world = fine_world(&tray.scene);
  run_frames(world, TRAY_LATER_FRAME);
  double ihmsen = tray_hanging(world);
  scree_world_destroy(world);
  print_message("hanging 2 s later: %.5f; without the rule for bodies %.5f\n", better, ihmsen);
  assert_true(better == 0 && deepest < 0.1);
  assert_true(ihmsen > 0.01); /* the scene is one in which they would */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_hourglass_keeps_them_even),
                                     cmocka_unit_test(nothing_hangs_in_the_air)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
