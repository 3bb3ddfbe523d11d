/* What a material's `auto` keys become: which key wins, the table between angle and contacts, what is refused. */
#include <math.h>

#include "world_fixture.h"
#include "methods/calibration.h"
#include "scree/scree.h"
#include "world/world.h"

typedef struct Parts {
  ScreeMaterialDef sand;
  ScreeGrainsDef grains;
  ScreeSceneDef scene;
} Parts;

static void parts_begin(Parts *parts, const char *method) {
  memset(parts, 0, sizeof *parts);
  parts->sand = scree_material_default("sand");
  parts->grains = scree_grains_default("sand", scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.1, 0.1, 0.1}));
  parts->scene = scree_scene_default();
  parts->scene.name = "test";
  parts->scene.method = scree_method_default(method);
  parts->scene.materials = &parts->sand, parts->scene.material_count = 1;
  parts->scene.grains = &parts->grains, parts->scene.grains_count = 1;
}

static Material resolved(const Parts *parts) {
  ScreeWorld *world = NULL;
  ScreeError error;
  assert_done(scree_world_create(&parts->scene, NULL, &world, &error));
  Material material = world->state.materials.items[0];
  scree_world_destroy(world);
  return material;
}

static double tangent(double degrees) { return tan(degrees * M_PI / 180); }

static void a_table_is_interpolated(void **state) {
  (void)state;
  static const CalibratedContact rows[] = {{10, 0.1, 0.05, 0}, {20, 0.3, 0.15, 0.2}, {40, 0.5, 0.25, 0.6}};
  const Calibration table = {rows, 3};
  CalibratedContact at = {0};
  assert_true(calibration_at(&table, 10, &at) && at.friction_static == 0.1);
  assert_true(calibration_at(&table, 40, &at) && at.friction_static == 0.5 && at.rolling_friction == 0.6);
  assert_true(calibration_at(&table, 15, &at));
  assert_near(at.friction_static, 0.2, 1e-12);
  assert_near(at.friction_kinetic, 0.1, 1e-12);
  assert_true(calibration_at(&table, 25, &at));
  assert_near(at.rolling_friction, 0.3, 1e-12);
  /* Beyond its ends, by the band of heaps, it holds still. */
  assert_true(calibration_at(&table, 8, &at) && at.friction_static == 0.1 && at.angle_deg == 8);
  assert_true(calibration_at(&table, 42, &at) && at.friction_static == 0.5);
  assert_false(calibration_at(&table, 7.9, &at));
  assert_false(calibration_at(&table, 42.1, &at));
  assert_false(calibration_at(&table, NAN, &at));
}

/* The tables that methods have: ascending angles, what slides is held by no more than what rests, 33 within. */
static void check_table(const Calibration *table) {
  const CalibratedContact *rows = table->rows;
  for (int r = 0; r < table->count; r++) {
    assert_true(rows[r].friction_kinetic >= 0 && rows[r].friction_kinetic <= rows[r].friction_static);
    if (r == 0) continue;
    assert_true(rows[r].angle_deg > rows[r - 1].angle_deg);
    assert_true(rows[r].friction_static >= rows[r - 1].friction_static);
  }
  CalibratedContact at;
  for (double angle = 20; angle <= 40; angle++) assert_true(calibration_at(table, angle, &at));
}

static void the_methods_tables_are_sound(void **state) {
  (void)state;
  int count = 0;
  for (int32_t k = 0; k < scree_method_count(); k++) {
    const Method *method = world_find_method(scree_method_info(k)->name);
    if (!method->calibration) continue;
    ScreeMethodDef definition = scree_method_default(method->info.name);
    check_table(method->calibration(&definition));
    definition.pbd.averaging = definition.p2.averaging = true;
    check_table(method->calibration(&definition));
    count++;
  }
  assert_int_equal(count, 3);
}

/* Neither given: dry sand. The angle alone: contacts follow, walls rub on the bulk. */
static void the_bulk_rules(void **state) {
  (void)state;
  static const char *const methods[] = {"pbd", "p2", "dem", "sph", "flip"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    Parts parts;
    parts_begin(&parts, methods[k]);
    Material sand = resolved(&parts);
    assert_near(sand.definition.friction_angle_deg, 33, 0);
    assert_near(sand.wall_static, tangent(33), 1e-12);
    assert_near(sand.wall_kinetic, tangent(33), 1e-12);
    parts.sand.friction_angle_deg = 27;
    Material flatter = resolved(&parts);
    assert_near(flatter.wall_static, tangent(27), 1e-12);
    bool slips = flatter.definition.friction_static < sand.definition.friction_static;
    bool rolls = flatter.definition.rolling_friction < sand.definition.rolling_friction; /* dem's way to be flatter */
    assert_true(slips || rolls);
  }
}

/* Contact keys win where they are given; alone they say the angle too. */
static void contacts_win_where_given(void **state) {
  (void)state;
  static const char *const methods[] = {"pbd", "p2", "dem"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    Parts parts;
    parts_begin(&parts, methods[k]);
    parts.sand.friction_static = 0.6;
    Material sand = resolved(&parts);
    assert_near(tangent(sand.definition.friction_angle_deg), 0.6, 1e-12);
    assert_true(sand.definition.friction_kinetic == 0.3 && sand.wall_static == 0.6 && sand.wall_kinetic == 0.3);
    assert_true(scree_is_auto(sand.definition.rolling_friction)); /* dem's own default */
    parts.sand.friction_static = 0.2;
    assert_true(resolved(&parts).definition.friction_kinetic == 0.2);
    parts.sand.friction_angle_deg = 80; /* no table is asked */
    parts.sand.friction_kinetic = 0.15;
    sand = resolved(&parts);
    assert_true(sand.definition.friction_static == 0.2 && sand.definition.friction_kinetic == 0.15);
    assert_near(sand.wall_kinetic, tangent(80), 1e-9);
  }
  Parts parts;
  parts_begin(&parts, "dem");
  parts.sand.friction_angle_deg = 30;
  parts.sand.rolling_friction = 0.02;
  Material sand = resolved(&parts);
  assert_true(sand.definition.rolling_friction == 0.02 && sand.definition.friction_static > 0);
}

static void angles_out_of_reach_are_refused(void **state) {
  (void)state;
  static const char *const methods[] = {"pbd", "p2", "dem"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    Parts parts;
    ScreeWorld *world = NULL;
    ScreeError error;
    parts_begin(&parts, methods[k]);
    parts.sand.friction_angle_deg = 75;
    assert_int_equal(scree_world_create(&parts.scene, NULL, &world, &error), SCREE_BAD_INPUT);
    const Calibration *table = world_find_method(methods[k])->calibration(&parts.scene.method);
    char range[64];
    snprintf(range, sizeof range, "%s can have angles from %g to %g", methods[k], calibration_low(table),
             calibration_high(table));
    assert_non_null(strstr(error.message, range));
  }
}

/* What scree_method_angles says is what a world takes: both ends, and nothing beyond where a table ends. */
static void the_ends_of_the_angles_are_taken(void **state) {
  (void)state;
  for (int32_t k = 0; k < scree_method_count(); k++) {
    const char *method = scree_method_info(k)->name;
    double ends[2];
    scree_method_angles(k, &ends[0], &ends[1]);
    for (int end = 0; end < 2; end++) {
      Parts parts;
      ScreeWorld *world = NULL;
      ScreeError error;
      parts_begin(&parts, method);
      parts.sand.friction_angle_deg = ends[end];
      assert_near(resolved(&parts).definition.friction_angle_deg, ends[end], 0);
      if (!world_find_method(method)->calibration) continue;
      parts.sand.friction_angle_deg += end ? 0.01 : -0.01;
      assert_int_equal(scree_world_create(&parts.scene, NULL, &world, &error), SCREE_BAD_INPUT);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_table_is_interpolated),
      cmocka_unit_test(the_methods_tables_are_sound),
      cmocka_unit_test(the_bulk_rules),
      cmocka_unit_test(contacts_win_where_given),
      cmocka_unit_test(angles_out_of_reach_are_refused),
      cmocka_unit_test(the_ends_of_the_angles_are_taken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
