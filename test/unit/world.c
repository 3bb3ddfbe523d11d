/* world/: steps, emitters, sinks, events, probes, checkpoints, with method none: what comes out is known exactly. */
#include "world_fixture.h"

typedef struct Scene {
  ScreeSceneDef def;
  ScreeMaterialDef sand;
  ScreeGrainsDef grains;
  ScreeEmitterDef emitter;
  ScreeSinkDef sink;
  ScreeProbeDef probes[8];
} Scene;

/* A block of still grains over nothing; parts are switched on by setting their counts. */
static void scene_begin(Scene *s) {
  memset(s, 0, sizeof *s);
  s->sand = scree_material_default("sand");
  s->grains = scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.2, -0.2, 1}, (ScreeVec3){0.2, 0.2, 1.4}));
  s->emitter = scree_emitter_default("sand");
  s->emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 2}, .radius = 0.2, .direction = {0, 0, -1}};
  s->def = scree_scene_default();
  s->def.name = "test";
  s->def.method = scree_method_default("none");
  s->def.method.cfl = 10;
  s->def.materials = &s->sand;
  s->def.material_count = 1;
  s->def.grains = &s->grains;
  s->def.grains_count = 1;
  s->def.emitters = &s->emitter;
  s->def.sinks = &s->sink;
  s->def.probes = s->probes;
}

static ScreeProbeDef *add_probe(Scene *s, const char *name, int kind) {
  s->probes[s->def.probe_count] = scree_probe_default(name, kind);
  return &s->probes[s->def.probe_count++];
}

static ScreeWorld *make(const Scene *s) {
  ScreeWorld *world = NULL;
  ScreeError error;
  assert_done(scree_world_create(&s->def, NULL, &world, &error));
  return world;
}

static double probe(const ScreeWorld *world, int index, int value) {
  ScreeProbeState state;
  assert_int_equal(scree_world_probe(world, index + 1, &state), SCREE_OK);
  return state.values[value];
}

static void grains_fall_on_parabolas(void **state) {
  (void)state;
  Scene s;
  scene_begin(&s);
  s.grains.velocity = (ScreeVec3){1, 0, 2};
  ScreeWorld *world = make(&s);
  ScreeParticles before = scree_world_particles(world);
  assert_true(before.count > 100);
  double low = 0;
  float *z = malloc(sizeof *z * (size_t)before.count), *x = malloc(sizeof *x * (size_t)before.count);
  for (int64_t i = 0; i < before.count; i++) {
    z[before.id[i] - 1] = before.z[i];
    x[before.id[i] - 1] = before.x[i];
  }
  run_frames(world, 60);
  ScreeParticles after = scree_world_particles(world);
  for (int64_t i = 0; i < after.count; i++) {
    double dz = (double)after.z[i] - (double)z[after.id[i] - 1], dx = (double)after.x[i] - (double)x[after.id[i] - 1];
    low = fmax(low, fmax(fabs(dz - (2 - 0.5 * 9.81)), fabs(dx - 1)));
  }
  /* 240 steps, each rounding a speed of up to 8 m/s to 2.4e-7 m/s: at worst 3e-5 m, a tenth of it in practice */
  assert_near(low, 0, 1e-5);
  assert_near(scree_world_time(world), 1, 1e-12);
  free(z);
  free(x);
  scree_world_destroy(world);
}

/* The same grains a kilometre away fall alike: positions are relative to an origin near them. */
static void a_kilometre_away_is_the_same(void **state) {
  (void)state;
  Scene s;
  scene_begin(&s);
  ScreeWorld *here = make(&s);
  s.grains.fill = scree_shape_box((ScreeVec3){1023.8, -0.2, 1}, (ScreeVec3){1024.2, 0.2, 1.4});
  ScreeWorld *there = make(&s);
  run_frames(here, 10);
  run_frames(there, 10);
  ScreeParticles a = scree_world_particles(here), b = scree_world_particles(there);
  assert_near(b.origin.x, 1024, 1e-9);
  assert_near((double)b.count, (double)a.count, 0.05 * (double)a.count);
  for (int64_t i = 0; i < b.count; i++) assert_near((double)b.vz[i], -9.81 / 6, 1e-5);
  scree_world_destroy(here);
  scree_world_destroy(there);
}

static void emitters_pour_at_their_rate_and_sinks_take_it(void **state) {
  (void)state;
  Scene s;
  scene_begin(&s);
  s.def.grains_count = 0;
  s.def.emitter_count = 1;
  s.emitter.rate = 30;
  s.emitter.speed = 1;
  s.emitter.from = 0.1;
  s.emitter.until = 0.6;
  s.sink.shape = scree_shape_box((ScreeVec3){-9, -9, -9}, (ScreeVec3){9, 9, 0});
  s.def.sink_count = 1;
  add_probe(&s, "through", SCREE_PROBE_FLOW)->plane_z = 1;
  add_probe(&s, "all", SCREE_PROBE_MASS_IN);
  ScreeWorld *world = make(&s);
  double crossed = 0;
  ScreeStatistics stats;
  for (int frame = 0; frame < 120; frame++) {
    run_frames(world, 1);
    crossed += probe(world, 0, 0) / 60;
    scree_world_statistics(world, &stats);
    double balance = stats.mass_initial + stats.mass_emitted - stats.mass_removed - stats.mass_final;
    assert_near(balance, 0, 1e-4);
    assert_near(probe(world, 1, 0), stats.mass_final, 1e-9);
  }
  assert_near(stats.mass_emitted, 15, 0.2); /* half a second at 30 kg/s, to within a grain or two */
  assert_near(crossed, stats.mass_emitted, 1e-4);
  assert_int_equal(scree_world_particles(world).count, 0);
  assert_near(stats.mass_removed, stats.mass_emitted, 1e-4);
  scree_world_destroy(world);
}

static void probes_measure_what_is_there(void **state) {
  (void)state;
  Scene s;
  scene_begin(&s);
  s.def.gravity = (ScreeVec3){0, 0, 0};
  s.grains.velocity = (ScreeVec3){0, 0, 0.5};
  add_probe(&s, "energy", SCREE_PROBE_ENERGY);
  add_probe(&s, "mass", SCREE_PROBE_MASS_IN)->box = scree_shape_box((ScreeVec3){-1, -1, 0}, (ScreeVec3){1, 1, 1.2});
  add_probe(&s, "solid", SCREE_PROBE_PACKING)->box =
      scree_shape_box((ScreeVec3){-0.1, -0.1, 1.1}, (ScreeVec3){0.1, 0.1, 1.3});
  add_probe(&s, "way", SCREE_PROBE_CREEP)->from = 0.5;
  add_probe(&s, "spread", SCREE_PROBE_RUNOUT)->fraction = 1;
  ScreeWorld *world = make(&s);
  ScreeStatistics stats;
  scree_world_statistics(world, &stats);
  assert_near(probe(world, 1, 0) / stats.mass_initial, 0.5, 0.08);
  assert_near(probe(world, 2, 0), 0.36, 0.04); /* random placement */
  assert_near(probe(world, 4, 0), 0.18 * sqrt(2), 0.03);
  run_frames(world, 60);
  assert_near(probe(world, 0, 0), 0.5 * stats.mass_initial * 0.25, 1e-3);
  assert_near(probe(world, 0, 1), 0, 1e-12);
  assert_near(probe(world, 3, 0), 0.25, 1e-5);
  scree_world_destroy(world);
}

static void an_explosion_throws_grains_outward(void **state) {
  (void)state;
  Scene s;
  scene_begin(&s);
  ScreeEventDef bang = scree_event_default();
  bang.t = 0;
  bang.impulse = (ScreeImpulseDef){.center = {0, 0, 1.2}, .radius = 0.1, .speed = 4};
  s.def.events = &bang;
  s.def.event_count = 1;
  s.def.gravity = (ScreeVec3){0, 0, 0};
  ScreeWorld *world = make(&s);
  run_frames(world, 1);
  ScreeParticles p = scree_world_particles(world);
  int64_t thrown = 0;
  for (int64_t i = 0; i < p.count; i++) {
    double speed = sqrt((double)(p.vx[i] * p.vx[i] + p.vy[i] * p.vy[i] + p.vz[i] * p.vz[i]));
    if (speed == 0) continue;
    thrown++;
    assert_near(speed, 4, 1e-4);
  }
  assert_true(thrown > 10 && thrown < p.count / 2);
  scree_world_destroy(world);
}

static void damaged_checkpoints_are_refused(void **state) {
  (void)state;
  Scene s;
  scene_begin(&s);
  ScreeWorld *world = make(&s);
  char path[TEMPORARY_NAME];
  temporary_file(path);
  ScreeError error;
  run_frames(world, 2);
  assert_int_equal(scree_world_save(world, path, &error), SCREE_OK);
  assert_int_equal(scree_world_step(world, &error), SCREE_OK);
  assert_int_equal(scree_world_save(world, path, &error), SCREE_BAD_ARGUMENT); /* in the middle of a frame */
  FILE *file = fopen(path, "r+b");
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  fseek(file, size / 2, SEEK_SET);
  int c = fgetc(file);
  fseek(file, size / 2, SEEK_SET);
  fputc(c ^ 1, file);
  fclose(file);
  assert_int_equal(scree_world_load(world, path, &error), SCREE_BAD_INPUT);
  assert_non_null(strstr(error.message, "damaged"));
  assert_int_equal(truncate(path, size / 2), 0);
  assert_int_equal(scree_world_load(world, path, &error), SCREE_BAD_INPUT);
  assert_non_null(strstr(error.message, "truncated"));
  assert_int_equal(truncate(path, 5), 0);
  assert_int_equal(scree_world_load(world, path, &error), SCREE_BAD_INPUT);
  Scene other = s;
  other.def.gravity.z = -1;
  ScreeWorld *elsewhere = make(&other);
  run_frames(elsewhere, 1);
  assert_int_equal(scree_world_save(elsewhere, path, &error), SCREE_OK);
  assert_int_equal(scree_world_load(world, path, &error), SCREE_BAD_INPUT);
  assert_non_null(strstr(error.message, "another scene"));
  scree_world_destroy(elsewhere);
  scree_world_destroy(world);
  unlink(path);
}

static void impossible_scenes_are_refused(void **state) {
  (void)state;
  Scene s;
  ScreeWorld *world;
  ScreeError error;
  scene_begin(&s);
  s.grains.fill = scree_shape_box((ScreeVec3){-1000, -1000, 0}, (ScreeVec3){1000, 1000, 1000});
  assert_int_equal(scree_world_create(&s.def, NULL, &world, &error), SCREE_BAD_INPUT); /* a billion grains */
  assert_null(world);
  assert_non_null(strstr(error.message, "GB"));
  assert_int_equal(scree_world_check(&s.def, NULL, &error), SCREE_BAD_INPUT);
  scene_begin(&s);
  assert_int_equal(scree_world_check(&s.def, NULL, &error), SCREE_OK);
  s.def.grains_count = 0;
  assert_int_equal(scree_world_create(&s.def, NULL, &world, &error), SCREE_BAD_INPUT);
  scene_begin(&s);
  s.def.method.name = "nonsense";
  assert_int_equal(scree_world_create(&s.def, NULL, &world, &error), SCREE_BAD_INPUT);
  scene_begin(&s);
  s.grains.material = "gravel";
  assert_int_equal(scree_world_create(&s.def, NULL, &world, &error), SCREE_BAD_INPUT);
  scene_begin(&s);
  ScreeWorldOptions options = scree_world_options_default();
  options.memory_limit = 100000;
  assert_true(scree_world_create(&s.def, &options, &world, &error) != SCREE_OK);
}

/* The spheres of its samples stand a radius out of a wall: what starts nearer is thrown by stiff contacts. */
static void grains_start_clear_of_sampled_walls(void **state) {
  (void)state;
  static const char *const methods[] = {"pbd", "p2", "dem"};
  for (int m = 0; m < 3; m++) {
    Scene s;
    scene_begin(&s);
    ScreeBoundaryDef tank = scree_boundary_default(scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.6, 0.6, 0.6}));
    tank.inside = true, tank.name = "tank", tank.contact = SCREE_CONTACT_SAMPLES;
    s.grains.fill = scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.6, 0.6, 0.3});
    s.def.method = scree_method_default(methods[m]);
    s.def.method.radius = 0.04;
    s.def.boundaries = &tank, s.def.boundary_count = 1;
    ScreeWorld *world = NULL;
    ScreeError error;
    assert_done(scree_world_create(&s.def, NULL, &world, &error));
    ScreeParticles grains = scree_world_particles(world);
    assert_true(grains.count > 10);
    for (int64_t i = 0; i < grains.count; i++) assert_true(grains.origin.z + (double)grains.z[i] > 2 * 0.0399);
    for (int f = 0; f < 6; f++) assert_done(scree_world_frame(world, &error));
    ScreeStatistics now;
    scree_world_statistics(world, &now);
    assert_true(now.max_speed < 2.5); /* 0.1 s of fall: 1 m/s; overlaps of a radius made 30 */
    scree_world_destroy(world);
  }
}

/* A scene of a million grains, in a mesh that does not exist: a world of its solids alone loads and samples neither. */
static void solids_alone_need_no_grains(void **state) {
  (void)state;
  Scene s;
  scene_begin(&s);
  ScreeBoundaryDef tank = scree_boundary_default(scree_shape_box((ScreeVec3){-5, -5, 0}, (ScreeVec3){5, 5, 10}));
  tank.inside = true, tank.name = "tank", tank.contact = SCREE_CONTACT_SAMPLES;
  ScreeBodyDef ball = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.25));
  ball.shape.position = (ScreeVec3){1, 2, 3};
  s.grains.fill = (ScreeShapeDef){.kind = SCREE_SHAPE_MESH, .mesh.file = "no_such_mesh.obj", .rotation = {1, 0, 0, 0}};
  s.def.method = scree_method_default("pbd");
  s.def.method.radius = 0.005;
  s.def.boundaries = &tank, s.def.boundary_count = 1;
  s.def.bodies = &ball, s.def.body_count = 1;
  add_probe(&s, "energy", SCREE_PROBE_ENERGY);
  ScreeWorld *world = NULL, *full = NULL;
  ScreeError error;
  assert_int_equal(scree_world_create(&s.def, NULL, &full, &error), SCREE_BAD_INPUT);
  assert_done(scree_world_create_solids(&s.def, NULL, &world, &error));

  ScreeStatistics now;
  ScreeBodyState body;
  ScreeMeshView mesh;
  scree_world_statistics(world, &now);
  assert_true(now.coarse + now.grains + now.boundary_samples + now.body_samples == 0);
  assert_true(now.memory_peak_bytes < 10000000);
  assert_int_equal(scree_world_file_count(world), 0);
  assert_int_equal(scree_world_body_count(world), 2);
  assert_int_equal(scree_world_body(world, scree_world_find_body(world, "ball"), &body), SCREE_OK);
  assert_near(body.pose.position.z, 3, 0);
  for (ScreeBodyId k = 1; k <= 2; k++) {
    assert_int_equal(scree_world_body_mesh(world, k, &mesh), SCREE_OK);
    assert_true(mesh.triangle_count >= 12);
  }
  assert_int_equal(scree_world_terrain(world).triangle_count, 0);
  assert_int_equal(scree_world_probe_count(world), 0);

  float pressure;
  ScreeBodyId added;
  assert_false(scree_world_pressure(world, false, &pressure));
  assert_int_equal(scree_world_step(world, &error), SCREE_BAD_ARGUMENT);
  assert_int_equal(scree_world_frame(world, &error), SCREE_BAD_ARGUMENT);
  assert_int_equal(scree_world_save(world, "never.scree", &error), SCREE_BAD_ARGUMENT);
  assert_int_equal(scree_world_load(world, "never.scree", &error), SCREE_BAD_ARGUMENT);
  assert_int_equal(scree_world_add_body(world, &ball, &added, &error), SCREE_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "solids alone"));
  scree_world_destroy(world);
}

static void a_map_shows_the_highest_grain(void **state) {
  (void)state;
  enum { NX = 12, NY = 10 };
  Scene s;
  scene_begin(&s);
  ScreeWorld *world = make(&s);
  ScreeParticles grains = scree_world_particles(world);
  const ScreeHeightMap map = {.corner = {-0.24, -0.2}, .cell = 0.04, .nx = NX, .ny = NY, .empty = -7};
  float heights[NX * NY];
  ScreeError error;
  assert_done(scree_world_heights(world, &map, heights, &error));
  for (int j = 0; j < NY; j++)
    for (int i = 0; i < NX; i++) {
      double x = map.corner.x + (i + 0.5) * map.cell, y = map.corner.y + (j + 0.5) * map.cell, highest = -7;
      for (int64_t k = 0; k < grains.count; k++) {
        double dx = grains.origin.x + (double)grains.x[k] - x, dy = grains.origin.y + (double)grains.y[k] - y;
        double left = (double)grains.radius[k] * (double)grains.radius[k] - dx * dx - dy * dy;
        if (left >= 0) highest = fmax(highest, grains.origin.z + (double)grains.z[k] + sqrt(left));
      }
      assert_float_equal(heights[j * NX + i], highest, 1e-6);
    }
  ScreeHeightMap bad[] = {map, map, map};
  bad[0].cell = 0;
  bad[1].nx = 0;
  bad[2].corner.y = NAN;
  for (int k = 0; k < 3; k++)
    assert_int_equal(scree_world_heights(world, &bad[k], heights, &error), SCREE_BAD_ARGUMENT);
  scree_world_destroy(world);
}

/* A failure stays with its world; a start of another kind of world is refused. */
static void worlds_fail_alone(void **state) {
  (void)state;
  Scene s, other;
  scene_begin(&s);
  scene_begin(&other);
  other.def.emitter_count = 1;
  ScreeWorld *worlds[] = {make(&s), make(&s)}, *different = make(&other);
  ScreeStart *start = NULL;
  ScreeError error, errors[2];
  ScreeStatus statuses[2];
  assert_done(scree_world_keep(worlds[0], &start, &error));
  assert_int_equal(scree_world_reset(different, start, &error), SCREE_BAD_INPUT);
  assert_int_equal(scree_world_reset(worlds[0], NULL, &error), SCREE_BAD_ARGUMENT);
  assert_done(scree_world_impulse(worlds[1], (ScreeVec3){0, 0, 1.2}, 1, 1e38, &error));
  assert_true(scree_worlds_frame(worlds, 2, 3, 2, statuses, errors) != SCREE_OK);
  assert_int_equal(statuses[0], SCREE_OK);
  assert_true(statuses[1] != SCREE_OK && errors[1].message[0]);
  assert_int_equal(scree_world_frame_index(worlds[0]), 3);
  assert_done(scree_world_step(worlds[0], &error));
  if (scree_world_frame_index(worlds[0]) == 3) {
    ScreeStart *between = NULL;
    assert_int_equal(scree_world_keep(worlds[0], &between, &error), SCREE_BAD_ARGUMENT);
    assert_null(between);
  }
  assert_done(scree_world_reset(worlds[1], start, &error));
  run_frames(worlds[1], 3);
  for (int k = 0; k < 2; k++) scree_world_destroy(worlds[k]);
  scree_world_destroy(different);
  scree_start_free(start);
}

typedef struct Heard {
  const char *what;
  double done;
  int stages, calls;
} Heard;

static void hear(void *context, const char *what, double done) {
  Heard *heard = context;
  bool same = heard->what && strcmp(heard->what, what) == 0;
  assert_true(done >= (same ? heard->done : 0) - 1e-12 && done <= 1 + 1e-12);
  if (!same) heard->stages++;
  heard->what = what;
  heard->done = done;
  heard->calls++;
}

/* What is said grows within a stage, ends with the start, and changes nothing. */
static void progress_is_told_and_changes_nothing(void **state) {
  (void)state;
  Scene s;
  scene_begin(&s);
  ScreeGrainsDef grains[2] = {s.grains, s.grains};
  grains[0].start = SCREE_START_DENSE;
  grains[1].fill.position.z = 1;
  s.def.grains = grains, s.def.grains_count = 2;
  Heard heard = {0};
  ScreeWorldOptions options = scree_world_options_default();
  options.progress = hear;
  options.progress_context = &heard;
  ScreeWorld *told = NULL, *silent = make(&s);
  ScreeError error;
  assert_done(scree_world_create(&s.def, &options, &told, &error));
  assert_string_equal(heard.what, "placing grains");
  assert_near(heard.done, 1, 1e-12);
  assert_true(heard.stages >= 3 && heard.calls > 20);
  int calls = heard.calls;
  run_frames(told, 2);
  run_frames(silent, 2);
  assert_int_equal(heard.calls, calls);
  assert_true(scree_world_state_hash(told) == scree_world_state_hash(silent));
  scree_world_destroy(told);
  scree_world_destroy(silent);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grains_fall_on_parabolas),
      cmocka_unit_test(a_kilometre_away_is_the_same),
      cmocka_unit_test(emitters_pour_at_their_rate_and_sinks_take_it),
      cmocka_unit_test(probes_measure_what_is_there),
      cmocka_unit_test(an_explosion_throws_grains_outward),
      cmocka_unit_test(damaged_checkpoints_are_refused),
      cmocka_unit_test(impossible_scenes_are_refused),
      cmocka_unit_test(grains_start_clear_of_sampled_walls),
      cmocka_unit_test(solids_alone_need_no_grains),
      cmocka_unit_test(a_map_shows_the_highest_grain),
      cmocka_unit_test(worlds_fail_alone),
      cmocka_unit_test(progress_is_told_and_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
