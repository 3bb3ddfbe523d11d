/* Surface sampling: points on the surface, apart, no holes, both sides of thin sheets, any number of threads. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/rng.h"
#include "sampling/sampling.h"

static Shape make_shape(Core *core, ScreeShapeDef definition) {
  Shape shape;
  assert_ok(core, shape_create(core, &definition, false, NULL, NULL, &shape));
  return shape;
}

static ScreeShapeDef plain(ScreeShapeKind kind) {
  return (ScreeShapeDef){.kind = kind, .rotation = {1, 0, 0, 0}, .scale = 1};
}

static Shape make_mesh(Core *core, const Mesh *mesh) {
  int64_t(*triangles)[3] = malloc((size_t)mesh->triangle_count * sizeof *triangles);
  for (int64_t t = 0; t < mesh->triangle_count; t++)
    for (int k = 0; k < 3; k++) triangles[t][k] = mesh->triangles[t][k];
  ScreeShapeDef definition = plain(SCREE_SHAPE_MESH);
  definition.mesh = (ScreeMeshDef){.vertices = &mesh->vertices[0].x,
                                   .triangles = triangles[0],
                                   .vertex_count = mesh->vertex_count,
                                   .triangle_count = mesh->triangle_count};
  Shape shape = make_shape(core, definition);
  free(triangles);
  return shape;
}

static Shape make_box_mesh(Core *core, Vec3 size) {
  Mesh mesh;
  assert_ok(core, mesh_make_box(core, vec3_scale(size, -0.5), vec3_scale(size, 0.5), &mesh));
  Shape shape = make_mesh(core, &mesh);
  mesh_destroy(core, &mesh);
  return shape;
}

static Shape make_torus(Core *core) {
  Mesh mesh;
  assert_ok(core, mesh_make_torus(core, 0.5, 0.2, 48, &mesh));
  Shape shape = make_mesh(core, &mesh);
  mesh_destroy(core, &mesh);
  return shape;
}

static SamplingPlan default_plan(void) { return (SamplingPlan){.seed = 5, .rotation = {1, 0, 0, 0}}; }

static Vec3 point_of(const Samples *samples, int64_t i) {
  return vec3_add(samples->origin, vec3(samples->x[i], samples->y[i], samples->z[i]));
}

/* A random point of a random triangle, and the triangle's normal. */
static Vec3 random_point(const Mesh *mesh, uint64_t key, Vec3 *normal) {
  int64_t t = (int64_t)(rng_bits(2, key, 0, RNG_TEST) % (uint64_t)mesh->triangle_count);
  double u = rng_unit(rng_bits(2, key, 1, RNG_TEST)), v = rng_unit(rng_bits(2, key, 2, RNG_TEST));
  if (u + v > 1) u = 1 - u, v = 1 - v;
  Vec3 a = mesh->vertices[mesh->triangles[t][0]], b = mesh->vertices[mesh->triangles[t][1]],
       c = mesh->vertices[mesh->triangles[t][2]];
  *normal = vec3_normalize(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
  return vec3_madd(vec3_madd(a, vec3_sub(b, a), u), vec3_sub(c, a), v);
}

static double nearest(const Samples *samples, Vec3 p) {
  double best = 1e30;
  for (int64_t i = 0; i < samples->count; i++) best = fmin(best, vec3_length(vec3_sub(point_of(samples, i), p)));
  return best;
}

static double closest_pair(const Samples *samples) {
  double best = 1e30;
  for (int64_t i = 0; i < samples->count; i++)
    for (int64_t j = 0; j < i; j++)
      best = fmin(best, vec3_length(vec3_sub(point_of(samples, i), point_of(samples, j))));
  return best;
}

/* On the surface, apart (but for opposite sides of thin parts), and no place farther than the spacing from a point. */
static void check_cover(Core *core, const Shape *shape, double spacing, bool thin) {
  SamplingPlan plan = default_plan();
  Samples samples;
  assert_ok(core, sample_surface(core, shape, spacing, &plan, &samples));
  assert_true(samples.count > 50);
  if (!thin) assert_true(closest_pair(&samples) >= spacing * (1 - 1e-5));
  for (int64_t i = 0; i < samples.count; i++)
    assert_near(shape_distance(shape, point_of(&samples, i), spacing).distance, 0, 1e-5 * spacing);
  if (shape->kind == SCREE_SHAPE_MESH) {
    Vec3 normal;
    for (int t = 0; t < 20000; t++)
      assert_true(nearest(&samples, random_point(&shape->mesh, (uint64_t)t, &normal)) <= spacing * 1.001);
    for (int64_t v = 0; v < shape->mesh.vertex_count; v++) /* sharp corners too */
      assert_true(nearest(&samples, shape->mesh.vertices[v]) <= spacing * 1.001);
  }
  samples_destroy(core, &samples);
}

static void test_cover(void **state) {
  (void)state;
  Core core = test_core(2);
  ScreeShapeDef box = plain(SCREE_SHAPE_BOX), sphere = plain(SCREE_SHAPE_SPHERE),
                cylinder = plain(SCREE_SHAPE_CYLINDER), capsule = plain(SCREE_SHAPE_CAPSULE);
  box.box.min = vec3(-0.5, -0.5, -0.5), box.box.max = vec3(0.5, 0.5, 0.5);
  sphere.sphere.center = vec3(10, 0, 0), sphere.sphere.radius = 0.5;
  cylinder.cylinder.radius = 0.4, cylinder.cylinder.height = 1;
  capsule.capsule.radius = 0.3, capsule.capsule.height = 1;
  Shape shapes[6] = {make_shape(&core, box),
                     make_shape(&core, sphere),
                     make_shape(&core, cylinder),
                     make_shape(&core, capsule),
                     make_box_mesh(&core, vec3(1, 0.7, 0.4)),
                     make_torus(&core)};
  for (int k = 0; k < 6; k++) {
    check_cover(&core, &shapes[k], 0.08, false);
    shape_destroy(&core, &shapes[k]);
  }
  core_destroy(&core);
}

static void test_thin_sheet(void **state) {
  (void)state;
  Core core = test_core(2);
  double spacing = 0.1, thickness = 0.01;
  Shape shape = make_box_mesh(&core, vec3(1, 1, thickness));
  SamplingPlan plan = default_plan();
  Samples all;
  assert_ok(&core, sample_surface(&core, &shape, spacing, &plan, &all));
  for (int side = 0; side < 2; side++) {
    /* The points of one face alone cover it, and are apart. */
    Samples face = {.origin = all.origin};
    assert_ok(&core, memory_new(&core, &face.x, all.count, "test"));
    assert_ok(&core, memory_new(&core, &face.y, all.count, "test"));
    assert_ok(&core, memory_new(&core, &face.z, all.count, "test"));
    for (int64_t i = 0; i < all.count; i++) {
      if ((double)all.z[i] * (side ? 1 : -1) < -0.499 * thickness) continue; /* the rim belongs to both */
      face.x[face.count] = all.x[i], face.y[face.count] = all.y[i], face.z[face.count++] = all.z[i];
    }
    assert_true(closest_pair(&face) >= spacing * (1 - 1e-5));
    for (int t = 0; t < 20000; t++) {
      Vec3 p = vec3(rng_unit(rng_bits(3, (uint64_t)t, 0, RNG_TEST)) - 0.5,
                    rng_unit(rng_bits(3, (uint64_t)t, 1, RNG_TEST)) - 0.5, side ? thickness / 2 : -thickness / 2);
      assert_true(nearest(&face, p) <= spacing * 1.001);
    }
    samples_destroy(&core, &face);
  }
  samples_destroy(&core, &all);
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

/* Needles and specks: a box a thousand times longer than wide, and a spacing far larger than the mesh. */
static void test_odd_triangles(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape needle = make_box_mesh(&core, vec3(10, 0.01, 0.01));
  check_cover(&core, &needle, 0.1, true);
  shape_destroy(&core, &needle);
  Shape box = make_box_mesh(&core, vec3(1, 1, 1));
  SamplingPlan plan = default_plan();
  Samples samples;
  assert_ok(&core, sample_surface(&core, &box, 50, &plan, &samples));
  assert_in_range(samples.count, 1, 3); /* opposite faces do not see each other */
  samples_destroy(&core, &samples);
  shape_destroy(&core, &box);
  core_destroy(&core);
}

static void test_threads(void **state) {
  (void)state;
  const int threads[] = {1, 2, 3, 8, 2};
  uint64_t expected = 0;
  for (int t = 0; t < 5; t++) {
    Core core = test_core(threads[t]);
    core.baseline_simd = t == 4;
    Shape shape = make_torus(&core);
    SamplingPlan plan = default_plan();
    plan.position = vec3(1000, 2000, -500);
    plan.rotation = (Quat){0.5, 0.5, -0.5, 0.5};
    Samples samples;
    assert_ok(&core, sample_surface(&core, &shape, 0.02, &plan, &samples));
    uint64_t hash = 0;
    const float *arrays[3] = {samples.x, samples.y, samples.z};
    for (int k = 0; k < 3; k++) hash = hash_bytes(arrays[k], (size_t)samples.count * sizeof(float), hash);
    if (t == 0) expected = hash;
    assert_true(hash == expected);
    samples_destroy(&core, &samples);
    shape_destroy(&core, &shape);
    core_destroy(&core);
  }
}

static void test_refused(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape shape = make_torus(&core);
  SamplingPlan plan = default_plan();
  Samples samples;
  int64_t before = core.memory.used;
  assert_int_equal(sample_surface(&core, &shape, 1e-6, &plan, &samples), SCREE_NO_MEMORY);
  assert_non_null(strstr(core.error.message, "points"));
  core_report(&core, SCREE_NO_MEMORY, NULL);
  const double spacings[] = {0, -1, NAN, INFINITY};
  for (int k = 0; k < 4; k++) {
    assert_int_equal(sample_surface(&core, &shape, spacings[k], &plan, &samples), SCREE_BAD_ARGUMENT);
    core_report(&core, SCREE_BAD_ARGUMENT, NULL);
  }
  int refused = 0;
  for (int64_t extra = 100000; extra < 20000000; extra = extra * 3 / 2) {
    core.memory.limit = before + extra;
    Status status = sample_surface(&core, &shape, 0.03, &plan, &samples);
    assert_true(status == SCREE_OK || status == SCREE_NO_MEMORY);
    refused += status == SCREE_NO_MEMORY;
    core_report(&core, status, NULL);
    samples_destroy(&core, &samples);
    assert_int_equal(core.memory.used, before);
  }
  assert_true(refused > 0);
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cover),   cmocka_unit_test(test_thin_sheet), cmocka_unit_test(test_odd_triangles),
      cmocka_unit_test(test_threads), cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
