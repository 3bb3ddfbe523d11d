/* What fine grains do over a long time and in every shipped scene. With SCREE_UPSAMPLE_CSV=FOLDER it also writes the
 * series that docs/figures/upsample.py draws. */
#include "upsample_fixture.h"

/* NULL without the folder. */
static FILE *series_open(const char *name, const char *header) {
  const char *folder = getenv("SCREE_UPSAMPLE_CSV");
  char path[SCREE_FILE_MAX];
  if (!folder) return NULL;
  snprintf(path, sizeof path, "%s/%s.csv", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%s\n", header);
  return file;
}

static void series_close(FILE *file) {
  if (file) fclose(file);
}

static void flow_series(const char *name, const char *mode, const char *stir, double spread_max) {
  FILE *file = series_open(name, "time,inside,far,hanging,spread");
  const char *const sets[] = {"method.radius=0.05", "method.time_step=0.01", "upsample.radius=0.0145", mode, stir};
  ScreeWorld *world = fine_scene("sommer2022/hourglass", sets, 5);
  FineMetrics m = {0};
  for (int k = 1; k <= 20; k++) {
    run_frames(world, 30);
    m = fine_metrics(world);
    if (file) fprintf(file, "%g,%g,%g,%g,%g\n", 0.5 * k, m.inside, m.far, m.hanging, m.spread);
  }
  print_message("%s after 10 s: spread %.3f of random, empty %.5f, inside %.5f, far %.5f\n", name, m.spread, m.empty,
                m.inside, m.far);
  assert_true(m.spread < spread_max);
  scree_world_destroy(world);
  series_close(file);
}

/* Both modes, and the better one without what dissolves crowds, in an hourglass of 1.8 times as large grains. */
static void flow_of_both_ways(void **state) {
  (void)state;
  flow_series("flow_better", "upsample.mode=better", "upsample.stir=0.5", 1.3);
  if (!getenv("SCREE_UPSAMPLE_CSV")) return;
  flow_series("flow_unstirred", "upsample.mode=better", "upsample.stir=0", INFINITY);
  flow_series("flow_paper", "upsample.mode=paper", "upsample.stir=0.5", INFINITY);
}

static void the_hourglass_keeps_them_even(void **state) {
  (void)state;
  ScreeWorld *world = fine_scene("sommer2022/hourglass", NULL, 0);
  run_frames(world, 600);
  FineMetrics m = fine_metrics(world);
  print_message("10 s: spread %.3f of random in %lld cells, %.5f of them empty, far %.5f, deepest %.3f radii\n",
                m.spread, (long long)m.cells, m.empty, m.far, m.deepest);
  assert_true(m.cells > 1000 && m.spread < 1.3);
  assert_true(m.far < 0.001 && m.empty < 0.001 && m.deepest < 0.1);
  scree_world_destroy(world);
}

/* A column that has collapsed and come to rest, watched for a minute. Returns how far the farthest fine grain went, in
 * fine diameters. */
static double pile_drift(const char *name, int mode) {
  ScreeMaterialDef sand = scree_material_default("sand");
  ScreeGrainsDef column =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.2, -0.2, 0.01}, (ScreeVec3){0.2, 0.2, 0.5}));
  ScreeBoundaryDef floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  ScreeUpsampleDef upsample = scree_upsample_default(0.01);
  upsample.mode = mode;
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "pile";
  scene.method = scree_method_default("pbd");
  scene.method.radius = 0.03;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.grains = &column;
  scene.grains_count = 1;
  scene.boundaries = &floor;
  scene.boundary_count = 1;
  scene.upsample = &upsample;
  FILE *file = series_open(name, "time,farthest,mean");
  ScreeWorld *world = fine_world(&scene);
  run_frames(world, 600);
  Vec3 *before = fine_places(scree_world_grains(world));
  int64_t count = scree_world_grains(world).count;
  double worst = 0;
  for (int k = 1; k <= 30; k++) {
    run_frames(world, 120);
    Vec3 *now = fine_places(scree_world_grains(world));
    double mean = 0;
    worst = fine_farthest(before, now, count) / 0.02;
    for (int64_t i = 1; i <= count; i++) mean += vec3_length(vec3_sub(now[i], before[i])) / 0.02 / (double)count;
    if (file) fprintf(file, "%d,%g,%g\n", 2 * k, worst, mean);
    free(now);
  }
  print_message("%s: farthest fine grain of a pile at rest after 60 s: %.3f diameters\n", name, worst);
  free(before);
  scree_world_destroy(world);
  series_close(file);
  return worst;
}

static void a_pile_at_rest_holds_them_for_a_minute(void **state) {
  (void)state;
  assert_true(pile_drift("pile_better", SCREE_UPSAMPLE_BETTER) < 1);
  if (getenv("SCREE_UPSAMPLE_CSV")) pile_drift("pile_paper", SCREE_UPSAMPLE_PAPER);
}

/* Share of the fine grains that hang where the tray was, at the end. */
static double tray_series(const char *name, int mode, bool rule) {
  FILE *file = series_open(name, "time,hanging");
  Tray tray;
  tray_fill(&tray, mode, rule);
  ScreeWorld *world = fine_world(&tray.scene);
  for (int k = 1; k <= 40; k++) {
    run_frames(world, 6);
    if (file) fprintf(file, "%g,%g\n", 0.1 * k, tray_hanging(world));
  }
  double hanging = tray_hanging(world);
  scree_world_destroy(world);
  series_close(file);
  return hanging;
}

static void trays_of_both_ways(void **state) {
  (void)state;
  double better = tray_series("tray_better", SCREE_UPSAMPLE_BETTER, true);
  double paper = tray_series("tray_paper", SCREE_UPSAMPLE_PAPER, true);
  double ihmsen = tray_series("tray_ihmsen", SCREE_UPSAMPLE_PAPER, false);
  print_message("hanging: better %g, paper %g, without the body rule %g\n", better, paper, ihmsen);
  assert_true(better == 0);
  assert_true(ihmsen > 0.01 && ihmsen >= paper);
}

/* The bucket is turned over between 9.0 and 9.8 s. */
static void nothing_hangs_where_the_bucket_was_emptied(void **state) {
  (void)state;
  ScreeWorld *world = fine_scene("sommer2022/excavator", NULL, 0);
  double deepest = -1;
  for (int k = 0; k < 118; k++) {
    run_frames(world, 6);
    deepest = fmax(deepest, fine_deepest(world));
  }
  FineMetrics m = fine_metrics(world);
  print_message("excavator at 11.8 s: %.6f hang in the air, deepest %.3f radii\n", m.hanging, deepest);
  assert_true(m.hanging == 0);
  assert_true(deepest < 0.1);
  scree_world_destroy(world);
}

/* Every shipped scene with fine grains, a test of its own each: as many frames as two million coarse grains take, each
 * of them looked at, or some where there are very many fine grains. */
enum { SCENES_MAX = 64, NAME_LENGTH = 128, FRAMES_MIN = 12, LOOKS_OF_MILLIONS = 3, EVERY_OF_MANY = 10 };
#define COARSE_FRAMES 2e6

static void no_solid_holds_them_in_scene(void **state) {
  const char *scene = *state;
  ScreeWorld *world = fine_scene(scene, NULL, 0);
  const ScreeSceneDef *definition = &world->definition.scene;
  int64_t coarse = scree_world_particles(world).count + 1, fine = scree_world_grains(world).count;
  double affordable = fmax(COARSE_FRAMES / (double)coarse, FRAMES_MIN);
  int frames = (int)fmin(definition->duration * definition->frame_rate, affordable);
  int every = fine > 1000000 ? frames / LOOKS_OF_MILLIONS : fine > 300000 ? EVERY_OF_MANY : 1;
  double deepest = fine_deepest(world);
  for (int frame = 0; frame < frames; frame += every) {
    run_frames(world, every);
    deepest = fmax(deepest, fine_deepest(world));
  }
  print_message("%s: %lld fine grains, %d frames, deepest %.4f radii\n", scene, (long long)fine, frames, deepest);
  assert_true(deepest < 0.1);
  scree_world_destroy(world);
}

typedef struct SceneTests {
  int count;
  char scene[SCENES_MAX][NAME_LENGTH], name[SCENES_MAX][NAME_LENGTH];
  struct CMUnitTest tests[SCENES_MAX];
} SceneTests;

static int add_scene(void *context, const char *name, const char *path, const char *title) {
  (void)title;
  SceneTests *all = context;
  ScreeSceneOptions options = {.sets = NULL};
  ScreeScene *scene = NULL;
  ScreeError error;
  assert_done(scree_scene_load(path, &options, &scene, &error));
  if (scree_scene_definition(scene)->upsample) {
    int k = all->count++;
    assert_true(k < SCENES_MAX);
    snprintf(all->scene[k], NAME_LENGTH, "%s", name);
    snprintf(all->name[k], NAME_LENGTH, "no_solid_holds_them_in_scene %s", name);
    all->tests[k] = (struct CMUnitTest){all->name[k], no_solid_holds_them_in_scene, NULL, NULL, all->scene[k]};
  }
  scree_scene_free(scene);
  return 0;
}

static void memory_stays_bounded_for_minutes(void **state) {
  (void)state;
  ScreeMaterialDef sand = scree_material_default("sand");
  ScreeEmitterDef emitter = scree_emitter_default("sand");
  emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 1}, .radius = 0.15, .direction = {0, 0, -1}};
  emitter.rate = 30;
  emitter.speed = 1;
  ScreeSinkDef sink = {.shape = scree_shape_box((ScreeVec3){-9, -9, -9}, (ScreeVec3){9, 9, -0.3})};
  ScreeUpsampleDef upsample = scree_upsample_default(0.01);
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "hopper";
  scene.method = scree_method_default("pbd");
  scene.method.radius = 0.03;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.emitters = &emitter;
  scene.emitter_count = 1;
  scene.sinks = &sink;
  scene.sink_count = 1;
  scene.upsample = &upsample;
  ScreeWorld *world = fine_world(&scene);
  ScreeStatistics early, late;
  run_frames(world, 600);
  scree_world_statistics(world, &early);
  run_frames(world, 6600);
  scree_world_statistics(world, &late);
  print_message("after 10 s %lld fine grains and %.1f MB, after 120 s %lld and %.1f MB\n", (long long)early.grains,
                1e-6 * (double)early.memory_bytes, (long long)late.grains, 1e-6 * (double)late.memory_bytes);
  assert_true(late.grains < early.grains * 1.3 && late.memory_bytes < early.memory_bytes * 1.3);
  scree_world_destroy(world);
}

/* An argument chooses tests by their name, with * and ?. */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flow_of_both_ways),
      cmocka_unit_test(a_pile_at_rest_holds_them_for_a_minute),
      cmocka_unit_test(trays_of_both_ways),
      cmocka_unit_test(memory_stays_bounded_for_minutes),
      cmocka_unit_test(nothing_hangs_where_the_bucket_was_emptied),
      cmocka_unit_test(the_hourglass_keeps_them_even),
  };
  static SceneTests scenes;
  ScreeError error;
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  if (scree_scene_list(add_scene, &scenes, &error) != SCREE_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  int failed = cmocka_run_group_tests_name("long runs", tests, NULL, NULL);
  return failed + _cmocka_run_group_tests("shipped scenes", scenes.tests, (size_t)scenes.count, NULL, NULL);
}
