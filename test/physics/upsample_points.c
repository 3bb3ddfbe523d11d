/* Render points: carried as the sand is, handed on when it splits and merges, none where it is dense all round, none in
 * a wall. */
#include <math.h>
#include <string.h>

#include "upsample/internal.h"
#include "upsample_fixture.h"

#define RADIUS 0.02

typedef struct Scene {
  ScreeMaterialDef sand;
  ScreeGrainsDef grains;
  ScreeUpsampleDef upsample;
  ScreeEventDef blast;
  ScreeSceneDef scene;
} Scene;

static void scene_block(Scene *s, double half) {
  *s = (Scene){.sand = scree_material_default("sand")};
  s->grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-half, -half, -half}, (ScreeVec3){half, half, half}));
  s->upsample = scree_upsample_default(0.002);
  s->upsample.mode = SCREE_UPSAMPLE_POINTS;
  s->upsample.points = 6;
  s->scene = scree_scene_default();
  s->scene.method = scree_method_default("flip");
  s->scene.method.radius = RADIUS;
  s->scene.frame_rate = 30;
  s->scene.gravity = (ScreeVec3){0, 0, 0};
  s->scene.materials = &s->sand, s->scene.material_count = 1;
  s->scene.grains = &s->grains, s->scene.grains_count = 1;
  s->scene.upsample = &s->upsample;
}

static void a_block_carries_its_points(void **state) {
  (void)state;
  Scene s;
  scene_block(&s, 0.1);
  s.grains.velocity = (ScreeVec3){0.5, -0.3, 0.2};
  ScreeWorld *world = world_of(&s.scene, 2);
  ScreeParticles before = scree_world_grains(world);
  assert_int_equal(before.count, 125 * 6); /* the whole block is near its surface */
  float *x = malloc(sizeof *x * (size_t)before.count);
  assert_non_null(x);
  memcpy(x, before.x, sizeof *x * (size_t)before.count);
  run_frames(world, 15);
  ScreeParticles after = scree_world_grains(world);
  assert_int_equal(after.count, 125 * 6);
  double worst = 0, mean = 0;
  for (int64_t k = 0; k < after.count; k++) {
    double off = (double)after.x[k] - (double)x[k] - 0.25;
    worst = fmax(worst, fabs(off));
    mean += off / (double)after.count;
  }
  print_message("translation: off by %.2g m on average, %.2g m at most\n", mean, worst);
  assert_true(fabs(mean) < 1e-4);
  assert_true(worst < 0.5 * RADIUS); /* particles begin off their lattice, and crowded ones are moved apart */
  free(x);
  scree_world_destroy(world);
}

static void dense_sand_shows_its_surface_only(void **state) {
  (void)state;
  Scene s;
  scene_block(&s, 0.32);
  ScreeWorld *world = world_of(&s.scene, 2);
  ScreeStatistics statistics;
  scree_world_statistics(world, &statistics);
  /* Of 8^3 cells the inner 6^3 are dense all round. */
  assert_int_equal(statistics.coarse, 16 * 16 * 16);
  assert_int_equal(statistics.grains, 6 * (16 * 16 * 16 - 12 * 12 * 12));
  scree_world_destroy(world);
}

/* The largest o A^-1 o of the points' offsets from their particles, and whether each has a living one. */
static double farthest(const ScreeWorld *world) {
  const Particles *p = &world->state.particles;
  const RenderPoints *points = &world->upsample->points;
  const FineGrains *g = &world->upsample->grains;
  int32_t *place = malloc(sizeof *place * p->next_id);
  assert_non_null(place);
  memset(place, 0xff, sizeof *place * p->next_id);
  for (int64_t i = 0; i < p->count; i++) place[p->id[i]] = (int32_t)i;
  double worst = 0;
  for (int64_t k = 0; k < g->count; k++) {
    int32_t i = place[points->parent[k]];
    assert_true(i >= 0);
    double a[6], r = p->radius[i] > 0 ? world->state.radius : 0;
    for (int c = 0; c < 6; c++) a[c] = (double)(*points->shape[c])[i];
    if (a[0] == 0) a[0] = a[1] = a[2] = 1;
    double x = ((double)g->x[k] - (double)p->x[i]) / r, y = ((double)g->y[k] - (double)p->y[i]) / r,
           z = ((double)g->z[k] - (double)p->z[i]) / r;
    double yz = a[1] * a[2] - a[4] * a[4], xz = a[0] * a[2] - a[5] * a[5], xy = a[0] * a[1] - a[3] * a[3];
    double u = a[5] * a[4] - a[3] * a[2], v = a[3] * a[5] - a[0] * a[4], w = a[3] * a[4] - a[5] * a[1];
    double det = a[0] * yz + a[3] * u + a[5] * w;
    double square = (x * x * yz + y * y * xz + z * z * xy + 2 * (x * y * u + y * z * v + x * z * w)) / det;
    if (det > 1e-3) worst = fmax(worst, sqrt(square));
  }
  free(place);
  return worst;
}

static void points_follow_sand_that_bursts(void **state) {
  (void)state;
  Scene s;
  scene_block(&s, 0.16);
  s.blast = scree_event_default();
  s.blast.t = 0.01;
  s.blast.impulse.center = (ScreeVec3){0, 0, 0};
  s.blast.impulse.radius = 0.3;
  s.blast.impulse.speed = 2;
  s.scene.events = &s.blast, s.scene.event_count = 1;
  ScreeWorld *one = world_of(&s.scene, 1), *two = world_of(&s.scene, 2), *resumed = world_of(&s.scene, 2);
  run_frames(one, 12);
  run_frames(two, 5);
  world_hand_over(two, resumed);
  run_frames(two, 7);
  run_frames(resumed, 7);
  assert_true(scree_world_grains_hash(one) == scree_world_grains_hash(two));
  assert_true(scree_world_grains_hash(one) == scree_world_grains_hash(resumed));
  ScreeStatistics statistics;
  scree_world_statistics(one, &statistics);
  double far = farthest(one);
  print_message("%lld particles, %lld points, farthest at %.3f of the ellipsoid\n", (long long)statistics.coarse,
                (long long)statistics.grains, far);
  assert_true(statistics.coarse > 600);  /* of 512: they split */
  assert_true(statistics.grains > 2000); /* of 3072 if all are kept; the middle of the block had none */
  assert_true(far < 1.2407 * 1.01);      /* positions are floats */
  scree_world_destroy(one);
  scree_world_destroy(two);
  scree_world_destroy(resumed);
}

static void walls_keep_points_out(void **state) {
  (void)state;
  Scene s;
  scene_block(&s, 0.16);
  s.scene.gravity = (ScreeVec3){0, 0, -9.81};
  ScreeBoundaryDef walls[3] = {
      scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, -0.16}, (ScreeVec3){0, 0, 1})),
      scree_boundary_default(scree_shape_box((ScreeVec3){-0.3, -0.16, -0.2}, (ScreeVec3){0.3, 0.16, 0.5})),
      scree_boundary_default(scree_shape_mesh_file("rock_1.obj"))};
  walls[1].inside = true;
  walls[2].shape.position = (ScreeVec3){0.25, 0, -0.1};
  s.scene.boundaries = walls, s.scene.boundary_count = 3;
  ScreeWorld *world = world_of(&s.scene, 2);
  double deepest = fine_deepest(world);
  for (int frame = 0; frame < 12; frame++) {
    run_frames(world, 1);
    deepest = fmax(deepest, fine_deepest(world));
  }
  print_message("%lld points, deepest %.4f radii in a wall\n", (long long)scree_world_grains(world).count, deepest);
  assert_true(deepest < 0.1);
  scree_world_destroy(world);
}

static void other_methods_have_no_ellipsoids(void **state) {
  (void)state;
  Scene s;
  scene_block(&s, 0.1);
  s.scene.method = scree_method_default("pbd");
  s.scene.method.radius = RADIUS;
  ScreeWorldOptions options = scree_world_options_default();
  ScreeWorld *world = NULL;
  ScreeError error;
  assert_int_equal(scree_world_create(&s.scene, &options, &world, &error), SCREE_BAD_INPUT);
  assert_non_null(strstr(error.message, "flip"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_carries_its_points),       cmocka_unit_test(dense_sand_shows_its_surface_only),
      cmocka_unit_test(points_follow_sand_that_bursts),   cmocka_unit_test(walls_keep_points_out),
      cmocka_unit_test(other_methods_have_no_ellipsoids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
