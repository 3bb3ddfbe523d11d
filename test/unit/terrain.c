/* The heightfield's geometry, and mass through displacement and erosion. */
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "terrain/parts.h"
#include "world/world.h"
#include "world_fixture.h"

static double random_unit(uint64_t k) { return rng_unit(rng_bits(7, k, 0, RNG_TEST)); }

/* ---- geometry ---- */

static Heightfield *random_field(Core *core, int32_t nx, int32_t ny, double cell) {
  Heightfield *field = NULL;
  assert_ok(core, heightfield_create(core, nx, ny, cell, &field));
  for (int64_t k = 0; k < (int64_t)nx * ny; k++) field->heights[k] = 0.6 * random_unit((uint64_t)k);
  heightfield_bound(field);
  return field;
}

/* The distance is that to the nearest of densely laid points, and its gradient is the normal. */
static void distance_is_that_to_the_surface(void **state) {
  (void)state;
  Core core = test_core(1);
  Heightfield *field = random_field(&core, 9, 7, 0.25);
  for (uint64_t n = 0; n < 400; n++) {
    Vec3 p = vec3(2.25 * random_unit(3 * n), 1.75 * random_unit(3 * n + 1), 1.2 * random_unit(3 * n + 2) - 0.2);
    double distance, nearest = INFINITY;
    Vec3 normal;
    heightfield_distance(field, p, INFINITY, &distance, &normal);
    for (double x = 0; x <= 2.25; x += 0.01)
      for (double y = 0; y <= 1.75; y += 0.01) {
        Vec3 away = vec3_sub(p, vec3(x, y, heightfield_height(field, x, y)));
        nearest = fmin(nearest, vec3_length(away));
      }
    bool below = p.z < heightfield_height(field, p.x, p.y);
    double side = fmin(fmin(p.x, 2.25 - p.x), fmin(p.y, 1.75 - p.y));
    if (below) nearest = fmin(nearest, side);
    assert_true((distance < 0) == below);
    assert_true(fabs(fabs(distance) - nearest) < 0.012);
    assert_true(fabs(vec3_length(normal) - 1) < 1e-9);
    Vec3 nearer = vec3_madd(p, normal, -0.5 * distance);
    double half;
    Vec3 unused;
    heightfield_distance(field, nearer, INFINITY, &half, &unused);
    assert_true(fabs(half - 0.5 * distance) < 1e-9);
  }
  heightfield_destroy(&core, field);
  core_destroy(&core);
}

static void a_slope_is_a_plane(void **state) {
  (void)state;
  Core core = test_core(1);
  Heightfield *field = NULL;
  assert_ok(&core, heightfield_create(&core, 20, 12, 0.1, &field));
  for (int64_t k = 0; k < 240; k++)
    field->heights[k] = 0.3 * ((double)(k % 20) + 0.5) * 0.1 + 0.1 * ((double)(k / 20) + 0.5) * 0.1;
  heightfield_bound(field);
  Vec3 plane = vec3_normalize(vec3(-0.3, -0.1, 1));
  for (uint64_t n = 0; n < 500; n++) {
    Vec3 p = vec3(0.3 + 1.4 * random_unit(3 * n), 0.3 + 0.6 * random_unit(3 * n + 1), 0);
    p.z = 0.3 * p.x + 0.1 * p.y + 0.4 * (random_unit(3 * n + 2) - 0.5);
    double distance;
    Vec3 normal;
    heightfield_distance(field, p, INFINITY, &distance, &normal);
    assert_true(fabs(distance - (p.z - 0.3 * p.x - 0.1 * p.y) * plane.z) < 1e-12);
    assert_true(vec3_length(vec3_sub(normal, plane)) < 1e-9);
  }
  heightfield_destroy(&core, field);
  core_destroy(&core);
}

/* ---- mass ---- */

typedef struct Digger {
  ScreeMaterialDef sand;
  ScreeTerrainDef terrain;
  ScreeBodyDef bodies[2];
  ScreeSceneDef scene;
} Digger;

static double bumps(void *context, double x, double y) {
  (void)context;
  return 0.2 + 0.1 * sin(9 * x) * cos(7 * y);
}

/* A ball and a concave mesh (a U of triangles would do; a torus is one too) over uneven ground. */
static void make_digger(Digger *d) {
  d->sand = scree_material_default("sand");
  d->terrain = scree_terrain_default("sand");
  d->terrain.size = (ScreeVec2){1, 1};
  d->terrain.cell = 0.04;
  d->terrain.exchange = false;
  d->terrain.height_at = bumps;
  d->bodies[0] = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.1));
  d->bodies[0].motion = SCREE_MOTION_FIXED;
  d->bodies[1] = scree_body_default("bucket", scree_shape_mesh_file("excavator_bucket.obj"));
  d->bodies[1].motion = SCREE_MOTION_FIXED;
  d->scene = scree_scene_default();
  d->scene.method = scree_method_default("none");
  d->scene.method.radius = 0.05;
  d->scene.materials = &d->sand;
  d->scene.material_count = 1;
  d->scene.bodies = d->bodies;
  d->scene.body_count = 2;
  d->scene.terrain = &d->terrain;
}

static double steepest(const State *state) {
  const Terrain *t = state->terrain;
  const double *heights = ground_field(state)->heights;
  double largest = 0;
  for (int64_t k = 0; k < t->count; k++)
    for (int d = 0; d < 8; d++) {
      int64_t other = column_neighbor(t, k, d);
      if (other >= 0 && !t->covered[k] && !t->covered[other])
        largest = fmax(largest, (heights[k] - heights[other]) / (neighbor_distance(d) * t->cell));
    }
  return largest;
}

/* A ball or a bucket is put down at 10,000 places, deep and shallow, at times through the bottom. */
static uint64_t wander(int steps, int threads, bool check) {
  Digger d;
  make_digger(&d);
  ScreeWorld *world = world_of(&d.scene, threads);
  State *state = &world->state;
  Terrain *t = state->terrain;
  int64_t mass = terrain_units(t);
  double loosest = t->loose;
  for (int n = 0; n < steps; n++) {
    for (int b = n % 2; b < 2; b += 2) {
      Solid *solid = &state->solids.items[b];
      solid->position = vec3(1.4 * random_unit(8 * (uint64_t)n + 4 * (uint64_t)b) - 0.2,
                             1.4 * random_unit(8 * (uint64_t)n + 4 * (uint64_t)b + 1) - 0.2,
                             0.6 * random_unit(8 * (uint64_t)n + 4 * (uint64_t)b + 2) - 0.15);
      solid->velocity = vec3(0, 0, -1);
      solid_refresh(solid);
    }
    assert_ok(&world->core, ground_press(&world->core, world->ground, state, &world->scratch));
    ground_erode(&world->core, world->ground, state, 4);
    if (check) assert_true(terrain_units(t) == mass);
  }
  /* the bodies go, and erosion ends */
  for (int b = 0; b < 2; b++) state->solids.items[b].position = vec3(0, 0, 10);
  assert_ok(&world->core, ground_press(&world->core, world->ground, state, &world->scratch));
  int passes = ground_erode(&world->core, world->ground, state, 20000);
  if (check) {
    print_message("erosion ended after %d passes at a slope of %.3f deg; %lld units\n", passes,
                  atan(steepest(state)) * 180 / M_PI, (long long)mass);
    assert_true(passes < 20000);
    assert_true(steepest(state) <= tan(34 * M_PI / 180) * 1.0021);
    assert_true(terrain_units(t) == mass);
    for (int64_t k = 0; k < t->count; k++) {
      assert_true(t->mass[k] >= 0 && isfinite(ground_field(state)->heights[k]) && ground_field(state)->heights[k] >= 0);
      assert_true(t->bulk[k] >= 0.999999 * loosest && t->bulk[k] <= 1.000001 * world->ground->densest);
    }
  }
  uint64_t hash = scree_world_state_hash(world);
  scree_world_destroy(world);
  return hash;
}

static void mass_is_exact_through_ten_thousand_steps(void **state) {
  (void)state;
  wander(SANITIZED ? 2000 : 10000, 2, true);
}

static void threads_do_not_matter(void **state) {
  (void)state;
  uint64_t one = wander(60, 1, false);
  assert_true(wander(60, 2, false) == one);
  assert_true(wander(60, 5, false) == one);
}

/* Only the share that is not compacted is moved, and it is moved next to the contact. */
static void compaction_is_a_share(void **state) {
  (void)state;
  Digger d;
  make_digger(&d);
  d.terrain.height_at = NULL;
  d.terrain.height = 0.4;
  d.terrain.cell = 0.02;
  d.terrain.compaction = 0.3;
  ScreeWorld *world = world_of(&d.scene, 1);
  State *s = &world->state;
  Terrain *t = s->terrain;
  Solid *ball = &s->solids.items[0];
  s->solids.items[1].position = vec3(0, 0, 10);
  ball->position = vec3(0.5, 0.5, 0.46);
  ball->velocity = vec3(0, 0, -1);
  solid_refresh(ball);
  assert_ok(&world->core, ground_press(&world->core, world->ground, s, &world->scratch));
  double pressed = 0, raised = 0, farthest = 0;
  const double *heights = ground_field(s)->heights;
  for (int64_t k = 0; k < t->count; k++) {
    double change = (heights[k] - 0.4) * t->area;
    if (t->covered[k]) pressed -= change;
    else raised += change;
    double x = ((double)(k % t->nx) + 0.5) * t->cell - 0.5, y = ((double)(k / t->nx) + 0.5) * t->cell - 0.5;
    if (!t->covered[k] && change > 0) farthest = fmax(farthest, sqrt(x * x + y * y));
  }
  /* a cap of height 0.04 of a sphere of 0.1 */
  double cap = M_PI * 0.04 * 0.04 * (0.1 - 0.04 / 3);
  print_message("pressed %.4g m^3, cap %.4g; moved aside %.3f of it, within %.3f m\n", pressed, cap, raised / pressed,
                farthest);
  assert_true(fabs(pressed / cap - 1) < 0.03);
  assert_true(fabs(raised / pressed - 0.7) < 1e-6);
  assert_true(farthest < 0.08 + 2.5 * t->cell);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(distance_is_that_to_the_surface),
                                     cmocka_unit_test(a_slope_is_a_plane),
                                     cmocka_unit_test(mass_is_exact_through_ten_thousand_steps),
                                     cmocka_unit_test(threads_do_not_matter), cmocka_unit_test(compaction_is_a_share)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
