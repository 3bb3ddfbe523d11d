/* What heaps, beds and the hourglass of pbd and p2 do in the long run, small enough for every run of the tests. At full
 * size: validate_pbd.c and validate_p2.c; angles over iterations need heaps of 2,000 grains: validate_angles.c. */
#include "bed_fixture.h"
#include "pour_fixture.h"

static void a_heap_keeps_its_shape_for_a_minute(void **state) {
  (void)state;
  assert_true(pour_creep("pbd", 0.005, 5, 0.4) < 0.1);
}

static void a_metre_of_sand_overlaps_little(void **state) {
  (void)state;
  assert_true(deep_overlap("pbd", 0.001, 3, 0.2) < 0.05);
  assert_true(deep_overlap("p2", 0.001, 3, 0.2) < 0.05);
}

/* 0.5 ms x 30 loses 1.6 and 1.3 %: the bed itself. Deeper ones: validate_pbd.c. */
static void a_bed_keeps_its_height(void **state) {
  (void)state;
  BedLoss shallow = bed_loss("pbd", (Bed){.height = 0.25, .seconds = 2});
  assert_true(shallow.loss < 0.031 && shallow.swing < 0.005 && shallow.overlap < 0.05);
  assert_near(shallow.load_to_weight, 1, 0.005);
  BedLoss springs = bed_loss("p2", (Bed){.height = 0.25, .seconds = 2});
  assert_near(springs.loss, shallow.loss, 0.002); /* rigid contacts are those of pbd */
  BedLoss deep = bed_loss("pbd", (Bed){.height = 1, .seconds = 2});
  assert_true(deep.loss < 0.06 && deep.swing < 0.01);
}

static void discharge_is_constant(void **state) {
  (void)state;
  assert_true(discharge_strays("pbd", 0.045) < 0.1);
}

/* Sand that falls a metre onto a bed: what is hit moves on within the step. */
static void fast_sand_overlaps_little(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "pbd", 0.01);
  s.grains[1] = s.grains[0];
  s.grains[0].start = s.grains[1].start = SCREE_START_DENSE;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-0.15, -0.15, 0}, (ScreeVec3){0.15, 0.15, 0.1});
  s.grains[1].fill = scree_shape_box((ScreeVec3){-0.08, -0.08, 1}, (ScreeVec3){0.08, 0.08, 1.3});
  s.def.grains_count = 2;
  s.def.method.pbd.iterations = 5;
  add_tank(&s, (ScreeVec3){-0.15, -0.15, 0}, (ScreeVec3){0.15, 0.15, 2});
  ScreeWorld *world = world_of(&s.def, 0);
  run_seconds(world, 0.8);
  print_message("falling sand overlaps by %.3f r\n", world->tally.max_overlap);
  assert_true(world->tally.max_overlap < 0.4);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_heap_keeps_its_shape_for_a_minute),
      cmocka_unit_test(a_metre_of_sand_overlaps_little),
      cmocka_unit_test(a_bed_keeps_its_height),
      cmocka_unit_test(discharge_is_constant),
      cmocka_unit_test(fast_sand_overlaps_little),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
