/* What fine grains do: rigid motion carries them, walls keep them out, sand at rest holds them, memory stays bounded.
 */
#include "upsample_fixture.h"

#define RADIUS 0.03
#define FINE 0.01

typedef struct Scene {
  ScreeMaterialDef sand;
  ScreeGrainsDef grains;
  ScreeUpsampleDef upsample;
  ScreeSceneDef scene;
} Scene;

static void scene_block(Scene *s, const char *method, int mode, ScreeVec3 low, ScreeVec3 high) {
  s->sand = scree_material_default("sand");
  s->grains = scree_grains_default("sand", scree_shape_box(low, high));
  s->upsample = scree_upsample_default(FINE);
  s->upsample.mode = mode;
  s->scene = scree_scene_default();
  s->scene.name = "fine";
  s->scene.method = scree_method_default(method);
  s->scene.method.radius = RADIUS;
  s->scene.materials = &s->sand;
  s->scene.material_count = 1;
  s->scene.grains = &s->grains;
  s->scene.grains_count = 1;
  s->scene.upsample = &s->upsample;
}

static void a_block_that_moves_as_one_carries_them(void **state) {
  (void)state;
  for (int mode = SCREE_UPSAMPLE_BETTER; mode <= SCREE_UPSAMPLE_PAPER; mode++) {
    Scene s;
    scene_block(&s, "none", mode, (ScreeVec3){-0.2, -0.2, -0.2}, (ScreeVec3){0.2, 0.2, 0.2});
    s.scene.gravity = (ScreeVec3){0, 0, 0};
    s.upsample.air_drag = 0;
    s.grains.velocity = (ScreeVec3){0.5, -0.3, 0.2};
    ScreeWorld *world = fine_world(&s.scene);
    Vec3 *before = fine_places(scree_world_grains(world));
    for (int k = 0; k < 60; k++) run_frames(world, 1);
    Vec3 *after = fine_places(scree_world_grains(world));
    double worst = 0;
    for (int64_t i = 1; i <= scree_world_grains(world).count; i++)
      worst = fmax(worst, vec3_length(vec3_sub(vec3_sub(after[i], before[i]), vec3(0.5, -0.3, 0.2))));
    print_message("translation: off by %.2g m after 0.6 m\n", worst);
    assert_true(worst < 1e-5); /* sixty roundings of positions of half a metre, in the coarse grains as well */
    free(before);
    free(after);
    scree_world_destroy(world);
  }
}

/* Turns the coarse grains by hand: each gets the velocity that takes it to its place in one frame. */
static void a_block_that_turns_carries_them(void **state) {
  (void)state;
  Scene s;
  scene_block(&s, "none", SCREE_UPSAMPLE_BETTER, (ScreeVec3){-0.3, -0.3, -0.2}, (ScreeVec3){0.3, 0.3, 0.2});
  s.scene.gravity = (ScreeVec3){0, 0, 0};
  s.upsample.air_drag = 0;
  s.grains.start = SCREE_START_DENSE;
  ScreeWorld *world = fine_world(&s.scene);
  const int frames = 30;
  const double angle = 1.0 / frames, rate = world->definition.scene.frame_rate;
  Vec3 *before = fine_places(scree_world_grains(world));
  for (int k = 0; k < frames; k++) {
    Particles *p = &world->state.particles;
    for (int64_t i = 0; i < p->count; i++) {
      double x = (double)p->x[i], y = (double)p->y[i];
      p->vx[i] = (float)((cos(angle) * x - sin(angle) * y - x) * rate);
      p->vy[i] = (float)((sin(angle) * x + cos(angle) * y - y) * rate);
    }
    run_frames(world, 1);
  }
  Vec3 *after = fine_places(scree_world_grains(world));
  double sum = 0, worst = 0;
  int64_t count = 0;
  for (int64_t i = 1; i <= scree_world_grains(world).count; i++) {
    Vec3 b = before[i];
    if (hypot(b.x, b.y) > 0.2 || fabs(b.z) > 0.2 - 2 * RADIUS) continue;
    Vec3 turned = vec3(cos(1) * b.x - sin(1) * b.y, sin(1) * b.x + cos(1) * b.y, b.z);
    double off = vec3_length(vec3_sub(after[i], turned));
    sum += off * off;
    worst = fmax(worst, off);
    count++;
  }
  double mean = sqrt(sum / (double)count);
  print_message("rotation by 1 rad: off by %.3f coarse radii rms, %.3f at most\n", mean / RADIUS, worst / RADIUS);
  /* The middle of the coarse grains that a fine one sees is a fraction of their radius off, and differs as they turn.
   */
  assert_true(count > 1000 && mean < 0.35 * RADIUS && worst < 1.2 * RADIUS);
  free(before);
  free(after);
  scree_world_destroy(world);
}

/* A column collapses in a box on a ball and a wall. Then it lies still, and so do its fine grains. */
static void walls_keep_them_out_and_rest_holds_them(void **state) {
  (void)state;
  Scene s;
  scene_block(&s, "pbd", SCREE_UPSAMPLE_BETTER, (ScreeVec3){-0.28, -0.18, 0.01}, (ScreeVec3){-0.02, 0.18, 0.5});
  s.sand.radius_spread = 0.2;
  ScreeBoundaryDef tank[2] = {
      scree_boundary_default(scree_shape_box((ScreeVec3){-0.3, -0.2, 0}, (ScreeVec3){0.5, 0.2, 1})),
      scree_boundary_default(scree_shape_sphere((ScreeVec3){0.2, 0, 0.02}, 0.1))};
  tank[0].inside = true;
  s.scene.boundaries = tank;
  s.scene.boundary_count = 2;
  ScreeWorld *world = fine_world(&s.scene);
  double deep = -1;
  for (int k = 0; k < 120; k++) {
    run_frames(world, 1);
    if (k % 6 == 0) deep = fmax(deep, fine_metrics(world).deepest);
  }
  print_message("deepest in a solid: %.3f radii (negative: outside)\n", deep);
  assert_radii_spread(scree_world_grains(world), FINE, 0.2);
  assert_true(deep < 0.1);
  for (int k = 0; k < 180; k++) run_frames(world, 1);
  Vec3 *before = fine_places(scree_world_grains(world)), *coarse_before = fine_places(scree_world_particles(world));
  for (int k = 0; k < 120; k++) run_frames(world, 1);
  Vec3 *after = fine_places(scree_world_grains(world)), *coarse_after = fine_places(scree_world_particles(world));
  double fine = fine_farthest(before, after, scree_world_grains(world).count);
  double coarse = fine_farthest(coarse_before, coarse_after, scree_world_particles(world).count);
  print_message("at rest for 2 s: coarse grains moved %.4f radii at most, fine ones %.4f diameters\n", coarse / RADIUS,
                fine / (2 * FINE));
  assert_true(fine < 2 * FINE);
  free(before);
  free(after);
  free(coarse_before);
  free(coarse_after);
  scree_world_destroy(world);
}

/* A ball is pressed through a bed onto the floor and pulled along: what is under it can only leave the wedge between
 * the two. */
static void none_is_pressed_into_the_floor(void **state) {
  (void)state;
  Scene s;
  scene_block(&s, "pbd", SCREE_UPSAMPLE_BETTER, (ScreeVec3){-0.3, -0.2, 0.01}, (ScreeVec3){0.3, 0.2, 0.1});
  ScreeBoundaryDef floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  ScreeBodyDef ball = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.15));
  ScreeKeyDef keys[3] = {{.t = 0, .position = {-0.15, 0, 0.4}, .rotation = {1, 0, 0, 0}},
                         {.t = 0.2, .position = {-0.15, 0, 0.151}, .rotation = {1, 0, 0, 0}},
                         {.t = 0.4, .position = {0.15, 0, 0.151}, .rotation = {1, 0, 0, 0}}};
  ball.motion = SCREE_MOTION_KEYFRAMES;
  ball.keys = keys;
  ball.key_count = 3;
  s.scene.boundaries = &floor;
  s.scene.boundary_count = 1;
  s.scene.bodies = &ball;
  s.scene.body_count = 1;
  ScreeWorld *world = fine_world(&s.scene);
  double deep = -1;
  for (int k = 0; k < 30; k++) {
    run_frames(world, 1);
    deep = fmax(deep, fine_metrics(world).deepest);
  }
  print_message("under a ball on the floor: deepest %.3f radii\n", deep);
  assert_true(deep < 0.1);
  scree_world_destroy(world);
}

static void emitter_and_sink_keep_memory_bounded(void **state) {
  (void)state;
  Scene s;
  scene_block(&s, "none", SCREE_UPSAMPLE_BETTER, (ScreeVec3){-0.1, -0.1, -0.1}, (ScreeVec3){0.1, 0.1, 0.1});
  s.scene.grains_count = 0;
  ScreeEmitterDef emitter = scree_emitter_default("sand");
  emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 1}, .radius = 0.15, .direction = {0, 0, -1}};
  emitter.rate = 40;
  emitter.speed = 1;
  ScreeSinkDef sink = {.shape = scree_shape_box((ScreeVec3){-9, -9, -9}, (ScreeVec3){9, 9, 0})};
  s.scene.emitters = &emitter;
  s.scene.emitter_count = 1;
  s.scene.sinks = &sink;
  s.scene.sink_count = 1;
  ScreeWorld *world = fine_world(&s.scene);
  int64_t early_count = 0, early_bytes = 0;
  ScreeStatistics now;
  for (int k = 0; k < 900; k++) {
    run_frames(world, 1);
    scree_world_statistics(world, &now);
    if (k < 300) early_count = now.grains > early_count ? now.grains : early_count;
    if (k < 300) early_bytes = now.memory_bytes > early_bytes ? now.memory_bytes : early_bytes;
  }
  double volume = pow(RADIUS / FINE, 3);
  print_message("%lld coarse, %lld fine grains, %.2f each\n", (long long)now.coarse, (long long)now.grains,
                (double)now.grains / (double)now.coarse);
  assert_true(now.grains > 0 && now.grains < early_count * 1.3 && now.memory_bytes < early_bytes * 1.3);
  assert_near((double)now.grains / (double)now.coarse, volume, 0.2 * volume);
  scree_world_destroy(world);
}

/* A small column that falls apart, behind each method that there is. */
static void it_works_behind_every_method(void **state) {
  (void)state;
  for (int32_t k = 0; k < scree_method_count(); k++) {
    const char *method = scree_method_info(k)->name;
    Scene s;
    scene_block(&s, method, SCREE_UPSAMPLE_BETTER, (ScreeVec3){-0.15, -0.15, 0.01}, (ScreeVec3){0.15, 0.15, 0.3});
    ScreeBoundaryDef floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
    s.scene.boundaries = &floor;
    s.scene.boundary_count = 1;
    ScreeWorld *world = fine_world(&s.scene);
    for (int step = 0; step < 24; step++) run_frames(world, 1);
    bool flies = strcmp(method, "none") == 0; /* through the floor, which only fine grains feel */
    FineMetrics m = fine_metrics(world);
    print_message("%s: deepest %.3f radii, far from the coarse ones %.4f\n", method, m.deepest, m.far);
    assert_true(scree_world_grains(world).count > 1000);
    assert_true(m.deepest < 0.1 && (flies || m.far < 0.02));
    scree_world_destroy(world);
  }
}

static void ground_takes_the_grains_that_it_buries(void **state) {
  (void)state;
  Scene s;
  scene_block(&s, "none", SCREE_UPSAMPLE_BETTER, (ScreeVec3){-0.3, -0.2, 0}, (ScreeVec3){0.3, 0.2, 0.4});
  s.scene.gravity = (ScreeVec3){0, 0, 0};
  s.grains.start = SCREE_START_DENSE; /* what is buried has settled */
  ScreeWorld *world = fine_world(&s.scene);
  int64_t before[2] = {0, 0}, after[2] = {0, 0};
  ScreeParticles fine = scree_world_grains(world), coarse = scree_world_particles(world);
  for (int64_t i = 0; i < fine.count; i++) before[fine.x[i] > 0]++;
  for (int64_t i = 0; i < coarse.count; i++)
    if (coarse.x[i] < 0) assert_ok(&world->core, queue_bury(&world->core, &world->state.queue, coarse.id[i], 0));
  run_frames(world, 2);
  fine = scree_world_grains(world);
  for (int64_t i = 0; i < fine.count; i++) after[fine.x[i] > 0]++;
  double kept[2] = {(double)after[0] / (double)before[0], (double)after[1] / (double)before[1]};
  print_message("of the fine grains %.3f are left where all coarse ones were buried, %.3f elsewhere\n", kept[0],
                kept[1]);
  assert_true(kept[0] < 0.3 && kept[1] > 0.85);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_that_moves_as_one_carries_them),  cmocka_unit_test(a_block_that_turns_carries_them),
      cmocka_unit_test(walls_keep_them_out_and_rest_holds_them), cmocka_unit_test(none_is_pressed_into_the_floor),
      cmocka_unit_test(emitter_and_sink_keep_memory_bounded),    cmocka_unit_test(it_works_behind_every_method),
      cmocka_unit_test(ground_takes_the_grains_that_it_buries),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
