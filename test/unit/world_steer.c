/* world/steer.c: what was changed before the first step is as if the scene had said so, with every method; and what may
 * not change is refused. */
#include "world_fixture.h"

static const char *const METHODS[] = {"pbd", "p2", "dem", "sph", "flip"};

typedef struct Scene {
  ScreeSceneDef def;
  ScreeMaterialDef sand;
  ScreeGrainsDef grains;
  ScreeBoundaryDef floor;
  ScreeEmitterDef emitter;
} Scene;

/* A little block that falls apart on a floor. */
static void scene_begin(Scene *s, const char *method) {
  memset(s, 0, sizeof *s);
  s->sand = scree_material_default("sand");
  s->grains = scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.1, -0.1, 0}, (ScreeVec3){0.1, 0.1, 0.3}));
  s->floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  s->emitter = scree_emitter_default("sand");
  s->emitter.shape = scree_shape_default(SCREE_SHAPE_DISC);
  s->emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 1}, .radius = 0.1, .direction = {0, 0, -1}};
  s->emitter.rate = 20, s->emitter.speed = 3;
  s->def = scree_scene_default();
  s->def.name = "test";
  s->def.method = scree_method_default(method);
  s->def.method.radius = 0.02;
  s->def.materials = &s->sand, s->def.material_count = 1;
  s->def.grains = &s->grains, s->def.grains_count = 1;
  s->def.boundaries = &s->floor, s->def.boundary_count = 1;
}

static ScreeWorld *make(const Scene *s) {
  ScreeWorld *world = NULL;
  ScreeError error;
  assert_done(scree_world_create(&s->def, NULL, &world, &error));
  return world;
}

static uint64_t hash_after(ScreeWorld *world, int frames) {
  ScreeError error;
  for (int k = 0; k < frames; k++) assert_done(scree_world_frame(world, &error));
  uint64_t hash = scree_world_state_hash(world);
  scree_world_destroy(world);
  return hash;
}

static ScreeMaterialDef slippery(ScreeMaterialDef sand) {
  sand.friction_static = 0.05;
  sand.friction_kinetic = 0.04;
  sand.friction_angle_deg = NAN;
  return sand;
}

static ScreeMaterialDef rough(ScreeMaterialDef sand) {
  sand.friction_static = sand.friction_kinetic = sand.rolling_friction = NAN;
  sand.friction_angle_deg = 41;
  return sand;
}

/* An angle goes through the method's table while a world runs as it does at its creation. */
static void an_angle_counts_as_if_the_scene_had_it(void **state) {
  (void)state;
  for (size_t m = 0; m < sizeof METHODS / sizeof *METHODS; m++) {
    Scene s;
    ScreeError error;
    scene_begin(&s, METHODS[m]);
    s.sand = slippery(s.sand);
    ScreeWorld *world = make(&s);
    ScreeMaterialDef other = rough(scree_world_definition(world)->materials[0]);
    assert_done(scree_world_set_material(world, &other, &error));
    assert_true(scree_is_auto(scree_world_definition(world)->materials[0].friction_static));
    uint64_t changed = hash_after(world, 12);
    s.sand = rough(s.sand);
    uint64_t said = hash_after(make(&s), 12);
    if (changed != said) print_error("%s: the angle that was set is not the one that was said\n", METHODS[m]);
    assert_true(changed == said);
  }
}

static void a_material_counts_as_if_the_scene_had_it(void **state) {
  (void)state;
  for (size_t m = 0; m < sizeof METHODS / sizeof *METHODS; m++) {
    Scene s;
    ScreeError error;
    scene_begin(&s, METHODS[m]);
    uint64_t before = hash_after(make(&s), 12);
    ScreeWorld *world = make(&s);
    ScreeMaterialDef other = slippery(scree_world_definition(world)->materials[0]);
    assert_done(scree_world_set_material(world, &other, &error));
    uint64_t changed = hash_after(world, 12);
    s.sand = slippery(s.sand);
    uint64_t said = hash_after(make(&s), 12);
    if (changed != said) print_error("%s: the material that was set is not the one that was said\n", METHODS[m]);
    assert_true(changed == said);
    assert_true(changed != before);
  }
}

static void gravity_counts_as_if_the_scene_had_it(void **state) {
  (void)state;
  for (size_t m = 0; m < sizeof METHODS / sizeof *METHODS; m++) {
    Scene s;
    ScreeError error;
    scene_begin(&s, METHODS[m]);
    s.def.method.time_step = 1e-4; /* auto follows gravity where a scene says it */
    ScreeWorld *world = make(&s);
    assert_done(scree_world_set_gravity(world, (ScreeVec3){0, 0, -1.62}, &error));
    assert_near(scree_world_definition(world)->gravity.z, -1.62, 0);
    uint64_t changed = hash_after(world, 4);
    s.def.gravity = (ScreeVec3){0, 0, -1.62};
    uint64_t said = hash_after(make(&s), 4);
    if (changed != said) print_error("%s: gravity that was set is not that which was said\n", METHODS[m]);
    assert_true(changed == said);
  }
}

static void an_emitter_counts_as_if_the_scene_had_it(void **state) {
  (void)state;
  Scene s;
  ScreeError error;
  ScreeEmitterId emitter;
  scene_begin(&s, "pbd");
  s.grains.fill = scree_shape_box((ScreeVec3){-0.5, -0.5, 0}, (ScreeVec3){0.5, 0.5, 1.1}); /* the same origin */
  s.def.method.radius = 0.05;
  ScreeWorld *world = make(&s);
  assert_done(scree_world_add_emitter(world, &s.emitter, &emitter, &error));
  assert_int_equal(emitter, 1);
  uint64_t changed = hash_after(world, 12);
  s.def.emitters = &s.emitter, s.def.emitter_count = 1;
  assert_true(changed == hash_after(make(&s), 12));
}

static void emitters_start_move_and_stop(void **state) {
  (void)state;
  Scene s;
  ScreeError error;
  ScreeEmitterId first, second;
  ScreeStatistics statistics;
  scene_begin(&s, "none");
  ScreeWorld *world = make(&s);
  assert_done(scree_world_add_emitter(world, &s.emitter, &first, &error));
  assert_done(scree_world_add_emitter(world, &s.emitter, &second, &error));
  assert_int_equal(second, 2);
  s.emitter.rate = 0;
  assert_done(scree_world_set_emitter(world, second, &s.emitter, &error));
  for (int k = 0; k < 30; k++) assert_done(scree_world_frame(world, &error));
  scree_world_statistics(world, &statistics);
  assert_near(statistics.mass_emitted, 10, 0.3); /* half a second of 20 kg/s, up to a few grains */
  assert_done(scree_world_set_emitter(world, first, &s.emitter, &error));
  for (int k = 0; k < 10; k++) assert_done(scree_world_frame(world, &error));
  double poured = statistics.mass_emitted;
  scree_world_statistics(world, &statistics);
  assert_near(statistics.mass_emitted, poured, 0.3);
  scree_world_destroy(world);
}

static void what_cannot_change_is_refused(void **state) {
  (void)state;
  Scene s;
  ScreeError error;
  ScreeEmitterId emitter;
  scene_begin(&s, "pbd");
  ScreeWorld *world = make(&s);
  ScreeMaterialDef sand = scree_world_definition(world)->materials[0], other = sand;
  other.density = 2000;
  assert_int_equal(scree_world_set_material(world, &other, &error), SCREE_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "density"));
  other = sand, other.radius_distribution = SCREE_RADII_LOGNORMAL;
  assert_int_equal(scree_world_set_material(world, &other, &error), SCREE_BAD_ARGUMENT);
  other = sand, other.friction_static = -1;
  assert_int_equal(scree_world_set_material(world, &other, &error), SCREE_BAD_ARGUMENT);
  other = sand, other.friction_static = INFINITY;
  assert_int_equal(scree_world_set_material(world, &other, &error), SCREE_BAD_ARGUMENT);
  other = sand, other.friction_angle_deg = 80;
  assert_int_equal(scree_world_set_material(world, &other, &error), SCREE_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "pbd can have angles from"));
  other = sand, other.color.x = INFINITY;
  assert_int_equal(scree_world_set_material(world, &other, &error), SCREE_BAD_ARGUMENT);
  other = sand, other.name = "snow";
  assert_int_equal(scree_world_set_material(world, &other, &error), SCREE_BAD_ARGUMENT);
  assert_int_equal(scree_world_set_gravity(world, (ScreeVec3){0, NAN, 0}, &error), SCREE_BAD_ARGUMENT);
  assert_int_equal(scree_world_set_gravity(world, (ScreeVec3){0, 0, 1e9}, &error), SCREE_BAD_ARGUMENT);
  ScreeEmitterDef pour = s.emitter;
  pour.material = "snow";
  assert_int_equal(scree_world_add_emitter(world, &pour, &emitter, &error), SCREE_BAD_ARGUMENT);
  assert_int_equal(emitter, 0);
  pour = s.emitter, pour.shape = scree_shape_sphere((ScreeVec3){0, 0, 0}, 1);
  assert_int_equal(scree_world_add_emitter(world, &pour, &emitter, &error), SCREE_BAD_ARGUMENT);
  pour = s.emitter, pour.rate = -1;
  assert_int_equal(scree_world_add_emitter(world, &pour, &emitter, &error), SCREE_BAD_ARGUMENT);
  pour = s.emitter, pour.shape.disc.direction = (ScreeVec3){0, 0, 0};
  assert_int_equal(scree_world_add_emitter(world, &pour, &emitter, &error), SCREE_BAD_ARGUMENT);
  assert_int_equal(scree_world_set_emitter(world, 1, &s.emitter, &error), SCREE_BAD_ARGUMENT);
  assert_int_equal(scree_world_definition(world)->emitter_count, 0);
  /* Nothing of it has changed the run. */
  uint64_t tried = hash_after(world, 4);
  assert_true(tried == hash_after(make(&s), 4));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_angle_counts_as_if_the_scene_had_it),
                                     cmocka_unit_test(a_material_counts_as_if_the_scene_had_it),
                                     cmocka_unit_test(gravity_counts_as_if_the_scene_had_it),
                                     cmocka_unit_test(an_emitter_counts_as_if_the_scene_had_it),
                                     cmocka_unit_test(emitters_start_move_and_stop),
                                     cmocka_unit_test(what_cannot_change_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
