/* Plain shapes: distance, normal, rays, contacts, mass, and many points at once. */
#include "check.h"
#include "core/rng.h"
#include "core/simd.h"
#include "geometry/distance_grid.h"
#include "geometry/shape.h"

static double unit(uint64_t id, uint64_t k) { return rng_unit(rng_bits(11, id, k, RNG_TEST)); }

static Vec3 random_point(uint64_t id, double size) {
  return vec3(size * (2 * unit(id, 0) - 1), size * (2 * unit(id, 1) - 1), size * (2 * unit(id, 2) - 1));
}

enum { KINDS = 5 };
static const ScreeShapeKind kinds[KINDS] = {SCREE_SHAPE_BOX, SCREE_SHAPE_SPHERE, SCREE_SHAPE_CYLINDER,
                                            SCREE_SHAPE_CAPSULE, SCREE_SHAPE_PLANE};

static ScreeShapeDef define(ScreeShapeKind kind) {
  ScreeShapeDef definition = {.kind = kind, .scale = 1, .rotation = {1, 0, 0, 0}};
  if (kind == SCREE_SHAPE_BOX) definition.box = (ScreeBoxDef){{-0.5, -0.2, 0.1}, {0.7, 0.6, 1.0}};
  if (kind == SCREE_SHAPE_SPHERE) definition.sphere = (ScreeSphereDef){{0.1, -0.1, 0.2}, 0.7};
  if (kind == SCREE_SHAPE_CYLINDER) definition.cylinder = (ScreeCylinderDef){{0.1, 0.2, -0.4}, 0.5, 0.9};
  if (kind == SCREE_SHAPE_CAPSULE) definition.capsule = (ScreeCapsuleDef){{0.1, 0.2, -0.4}, 0.4, 0.6};
  if (kind == SCREE_SHAPE_PLANE) definition.plane = (ScreePlaneDef){{0.1, 0.2, 0.3}, {1, 2, 2}};
  return definition;
}

static Shape make(Core *core, ScreeShapeKind kind, bool inside) {
  ScreeShapeDef definition = define(kind);
  Shape shape;
  assert_ok(core, shape_create(core, &definition, inside, NULL, NULL, &shape));
  return shape;
}

/* A shape's own surface, finely made, is an independent witness of its distance. */
static void distances_agree_with_surfaces(void **state) {
  (void)state;
  Core core = test_core(1);
  for (int k = 0; k < KINDS - 1; k++) {
    Shape shape = make(&core, kinds[k], false);
    Mesh mesh;
    if (kinds[k] == SCREE_SHAPE_BOX) assert_ok(&core, mesh_make_box(&core, shape.low, shape.high, &mesh));
    if (kinds[k] == SCREE_SHAPE_SPHERE) assert_ok(&core, mesh_make_sphere(&core, shape.low, shape.radius, 200, &mesh));
    if (kinds[k] == SCREE_SHAPE_CYLINDER)
      assert_ok(&core, mesh_make_cylinder(&core, shape.low, shape.radius, shape.height, 400, &mesh));
    if (kinds[k] == SCREE_SHAPE_CAPSULE)
      assert_ok(&core, mesh_make_capsule(&core, shape.low, shape.radius, shape.height, 200, &mesh));
    Bvh *bvh = NULL;
    assert_ok(&core, bvh_build(&core, &mesh, &bvh));
    for (uint64_t i = 0; i < 2000; i++) {
      Vec3 p = random_point(i, 1.5);
      double sign = bvh_winding(bvh, p) > 0.5 ? -1 : 1, distance = sign * bvh_closest(bvh, p, INFINITY).distance;
      /* A circle of 200 segments is at most 1.3e-4 of its radius inside. */
      assert_near(shape_distance(&shape, p, INFINITY).distance, distance, 2e-4);
      if (fabs(distance) > 2e-4) assert_int_equal(shape_contains(&shape, p), sign < 0);
    }
    MassProperties mass = mesh_mass_properties(&mesh);
    assert_near(shape.mass.volume, mass.volume, 0.002 * mass.volume);
    assert_near(vec3_length(vec3_sub(shape.mass.center, mass.center)), 0, 1e-9);
    for (int a = 0; a < 9; a++)
      assert_near(shape.mass.inertia.m[a / 3][a % 3], mass.inertia.m[a / 3][a % 3], 0.002 * mass.inertia.m[0][0]);
    bvh_destroy(&core, bvh);
    mesh_destroy(&core, &mesh);
    assert_ok(&core, shape_make_surface(&core, &shape, 1));
    MeshFindings findings;
    assert_ok(&core, mesh_check(&core, &shape.mesh, &findings));
    assert_true(findings.closed && !findings.inside_out);
    shape_destroy(&core, &shape);
  }
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

/* Lists of shapes grow, and what lies in them moves: a tree must not remember where its mesh stood. */
static void trees_outlive_the_place_of_their_mesh(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh mesh;
  assert_ok(&core, mesh_make_box(&core, vec3(-1, -1, -1), vec3(1, 1, 1), &mesh));
  Bvh *bvh = NULL;
  assert_ok(&core, bvh_build(&core, &mesh, &bvh));
  Mesh moved = mesh;
  mesh = (Mesh){0};
  assert_near(bvh_ray(bvh, vec3(0.1, 0.2, 5), vec3(0, 0, -1), INFINITY).distance, 4, 1e-12);
  bvh_destroy(&core, bvh);
  mesh_destroy(&core, &moved);
  core_destroy(&core);
}

static void normals_are_gradients(void **state) {
  (void)state;
  Core core = test_core(1);
  for (int k = 0; k < 2 * KINDS; k++) {
    Shape shape = make(&core, kinds[k / 2], k % 2);
    for (uint64_t i = 0; i < 1000; i++) {
      Vec3 p = random_point(i, 1.5);
      double h = 1e-6, d[3];
      for (int axis = 0; axis < 3; axis++) {
        Vec3 step = vec3(axis == 0 ? h : 0, axis == 1 ? h : 0, axis == 2 ? h : 0);
        d[axis] = (shape_distance(&shape, vec3_add(p, step), 1).distance -
                   shape_distance(&shape, vec3_sub(p, step), 1).distance) /
                  (2 * h);
      }
      ShapePoint at = shape_distance(&shape, p, 1);
      Vec3 gradient = vec3(d[0], d[1], d[2]);
      assert_near(vec3_length(at.normal), 1, 1e-12);
      if (fabs(vec3_length(gradient) - 1) > 1e-4) continue;
      assert_near(vec3_length(vec3_sub(at.normal, gradient)), 0, 1e-4);
      assert_int_equal(shape_contains(&shape, p), at.distance < 0);
    }
    shape_destroy(&core, &shape);
  }
  core_destroy(&core);
}

/* Centres, axes, edges and corners: a unit normal everywhere. */
static void normals_where_they_are_not_unique(void **state) {
  (void)state;
  Core core = test_core(1);
  for (int k = 0; k < KINDS; k++) {
    Shape shape = make(&core, kinds[k], false);
    Vec3 low = shape.low, high = shape.high, middle = vec3_scale(vec3_add(low, high), 0.5);
    const Vec3 places[] = {low,
                           high,
                           middle,
                           vec3(low.x, low.y, high.z),
                           vec3(high.x, middle.y, low.z),
                           vec3(low.x, low.y, low.z + 1e-20),
                           vec3(1e12, 0, 0)};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
      ShapePoint at = shape_distance(&shape, places[i], 1);
      assert_near(vec3_length(at.normal), 1, 1e-9);
      assert_true(isfinite(at.distance));
    }
    shape_destroy(&core, &shape);
  }
  Shape ball = make(&core, SCREE_SHAPE_SPHERE, false);
  assert_near(shape_distance(&ball, ball.low, 1).normal.z, 1, 0);
  core_destroy(&core);
}

/* Where a ray says it hits, the distance is zero and was not before. */
static void rays_meet_surfaces(void **state) {
  (void)state;
  Core core = test_core(1);
  for (int k = 0; k < 2 * KINDS; k++) {
    Shape shape = make(&core, kinds[k / 2], k % 2);
    int hits = 0;
    for (uint64_t i = 0; i < 1000; i++) {
      Vec3 o = random_point(i, 1.5), d = vec3_normalize(random_point(i + 9999, 1)), normal;
      if (i % 10 == 0) d = vec3(0, 0, -1);
      double along, start = shape_distance(&shape, o, 1).distance;
      bool hit = shape_ray(&shape, o, d, 10, &along, &normal);
      /* Sphere tracing: never past the surface. */
      double t = 0;
      for (int step = 0; step < 4000 && t < 10; step++) {
        double distance = fabs(shape_distance(&shape, vec3_madd(o, d, t), 1).distance);
        if (distance < 1e-9) break;
        t += distance;
      }
      if (hit) {
        hits++;
        Vec3 p = vec3_madd(o, d, along);
        assert_near(shape_distance(&shape, p, 1).distance, 0, 1e-9);
        assert_near(vec3_length(normal), 1, 1e-9);
        assert_int_equal(vec3_dot(normal, d) < 0, start > 0);
        if (fabs(vec3_dot(normal, d)) > 0.05) assert_near(along, t, 1e-6);
      } else {
        assert_true(t >= 10 || fabs(shape_distance(&shape, vec3_madd(o, d, t), 1).distance) > 1e-10);
      }
    }
    assert_true(hits > 50);
    shape_destroy(&core, &shape);
  }
  core_destroy(&core);
}

static void contacts_in_corners(void **state) {
  (void)state;
  Core core = test_core(1);
  ShapePoint contacts[SHAPE_CONTACTS_MAX];
  Shape tank = make(&core, SCREE_SHAPE_BOX, true);
  Vec3 p = vec3(tank.low.x + 0.03, tank.low.y + 0.01, tank.low.z + 0.02);
  assert_int_equal(shape_contacts(&tank, p, 0.05, contacts), 3);
  assert_near(contacts[0].distance, 0.01, 1e-12);
  assert_near(contacts[0].normal.y, 1, 0);
  assert_near(contacts[1].distance, 0.02, 1e-12);
  assert_near(contacts[1].normal.z, 1, 0);
  assert_near(contacts[2].distance, 0.03, 1e-12);
  assert_near(contacts[2].normal.x, 1, 0);
  assert_int_equal(shape_contacts(&tank, p, 0.025, contacts), 2);
  assert_int_equal(shape_contacts(&tank, vec3(0.1, 0.2, 0.5), 0.05, contacts), 0);
  /* Outside of it, beyond an edge: both walls push back. */
  p = vec3(tank.high.x + 0.01, 0.2, tank.low.z - 0.02);
  assert_int_equal(shape_contacts(&tank, p, 0.05, contacts), 2);
  assert_near(contacts[0].distance, -0.02, 1e-12);
  assert_near(contacts[0].normal.z, 1, 0);
  assert_near(contacts[1].normal.x, -1, 0);
  Shape drum = make(&core, SCREE_SHAPE_CYLINDER, true);
  p = vec3(drum.low.x + drum.radius - 0.01, drum.low.y, drum.low.z + 0.02);
  assert_int_equal(shape_contacts(&drum, p, 0.05, contacts), 2);
  assert_near(contacts[0].distance, 0.01, 1e-12);
  assert_near(contacts[0].normal.x, -1, 1e-12);
  assert_near(contacts[1].normal.z, 1, 0);
  assert_int_equal(shape_contacts(&drum, vec3(drum.low.x, drum.low.y, 0), 0.05, contacts), 0);
  Shape ball = make(&core, SCREE_SHAPE_SPHERE, false);
  p = vec3_add(ball.low, vec3(0, 0, ball.radius + 0.01));
  assert_int_equal(shape_contacts(&ball, p, 0.05, contacts), 1);
  assert_int_equal(shape_contacts(&ball, p, 0.005, contacts), 0);
  core_destroy(&core);
}

static void bad_definitions(void **state) {
  (void)state;
  Core core = test_core(1);
  Shape shape;
  for (int k = 0; k < 7; k++) {
    ScreeShapeDef definition = define(k < KINDS ? kinds[k] : k == 5 ? SCREE_SHAPE_DISC : SCREE_SHAPE_NONE);
    definition.source = (ScreeSource){12, 5};
    if (k == 0) definition.box.max.y = definition.box.min.y;
    if (k == 1) definition.sphere.radius = NAN;
    if (k == 2) definition.cylinder.height = 0;
    if (k == 3) definition.capsule.radius = -1;
    if (k == 4) definition.plane.normal = vec3(0, 0, 0);
    assert_int_equal(shape_create(&core, &definition, false, NULL, "scene.yaml", &shape), SCREE_BAD_INPUT);
    assert_int_equal(core.error.line, 12);
    assert_string_equal(core.error.file, "scene.yaml");
    core_report(&core, SCREE_OK, NULL);
  }
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

enum { MANY = 10007 };
typedef struct Answers {
  float distance[MANY], nx[MANY], ny[MANY], nz[MANY];
} Answers;

/* The same bits for any number of threads and either build of the kernels; near the exact answer. */
static void check_many(const Shape *shape, double reach, double tolerance, double exact_within) {
  static float x[MANY], y[MANY], z[MANY];
  static Answers answers[4];
  for (int i = 0; i < MANY; i++) {
    Vec3 p = random_point((uint64_t)i, 1.5);
    x[i] = (float)p.x, y[i] = (float)p.y, z[i] = (float)p.z;
  }
  for (int run = 0; run < 4; run++) {
    Core core = test_core(run == 0 ? 1 : run == 1 ? 2 : 5);
    core.baseline_simd = run == 3;
    Answers *a = &answers[run];
    shape_distance_many(&core, shape, MANY, x, y, z, reach, a->distance, a->nx, a->ny, a->nz);
    if (run) assert_memory_equal(a, &answers[0], sizeof *a);
    core_destroy(&core);
  }
  for (int i = 0; i < MANY; i++) {
    Vec3 normal = vec3((double)answers[0].nx[i], (double)answers[0].ny[i], (double)answers[0].nz[i]);
    ShapePoint at = shape_distance(shape, vec3((double)x[i], (double)y[i], (double)z[i]), reach);
    assert_near(vec3_length(normal), 1, 1e-5);
    if (fabs(at.distance) < exact_within) assert_near((double)answers[0].distance[i], at.distance, tolerance);
    else assert_true((at.distance < 0) == (answers[0].distance[i] < 0));
  }
}

static void many_points_at_once(void **state) {
  (void)state;
  Core core = test_core(2);
  for (int k = 0; k < 2 * KINDS; k++) {
    Shape shape = make(&core, kinds[k / 2], k % 2);
    check_many(&shape, INFINITY, 1e-6, INFINITY);
    shape_destroy(&core, &shape);
  }
  Mesh mesh;
  assert_ok(&core, mesh_make_torus(&core, 1, 0.3, 24, &mesh));
  int64_t *triangles = NULL;
  assert_ok(&core, memory_new(&core, &triangles, 3 * mesh.triangle_count, "test"));
  for (int64_t k = 0; k < 3 * mesh.triangle_count; k++) triangles[k] = mesh.triangles[k / 3][k % 3];
  ScreeShapeDef definition = {.kind = SCREE_SHAPE_MESH, .scale = 1};
  definition.mesh = (ScreeMeshDef){NULL, &mesh.vertices[0].x, triangles, mesh.vertex_count, mesh.triangle_count};
  Shape shape;
  assert_ok(&core, shape_create(&core, &definition, true, NULL, NULL, &shape));
  check_many(&shape, INFINITY, 1e-6, INFINITY);
  check_many(&shape, 0.1, 1e-6, 0.1);
  assert_ok(&core, shape_cache_distance(&core, &shape, 0.05, 0.1, 0));
  check_many(&shape, 0.1, 1e-6, 0.1);
  check_many(&shape, INFINITY, 1e-6, INFINITY);
  /* Another solid of the same mesh gets its grid from the first, and outlives it; one of another mesh does not. */
  Shape twin, other;
  bool copied;
  assert_ok(&core, shape_create(&core, &definition, true, NULL, NULL, &twin));
  assert_ok(&core, shape_copy_distance(&core, &shape, &twin, &copied));
  assert_true(copied && twin.grid);
  definition.scale = 1.5;
  assert_ok(&core, shape_create(&core, &definition, true, NULL, NULL, &other));
  definition.scale = 1;
  assert_ok(&core, shape_copy_distance(&core, &shape, &other, &copied));
  assert_true(!copied && !other.grid);
  shape_destroy(&core, &other);
  shape_destroy(&core, &shape);
  check_many(&twin, 0.1, 1e-6, 0.1);
  shape_destroy(&core, &twin);
  /* A grid that the memory cannot hold is refused. */
  assert_ok(&core, shape_create(&core, &definition, true, NULL, NULL, &shape));
  assert_int_equal(shape_cache_distance(&core, &shape, 1e-4, 0.1, 0), SCREE_NO_MEMORY);
  assert_non_null(strstr(core.error.message, "MB"));
  core_report(&core, SCREE_OK, NULL);
  assert_null(shape.grid);
  shape_destroy(&core, &shape);
  memory_drop(&core, &triangles);
  mesh_destroy(&core, &mesh);
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_agree_with_surfaces),
      cmocka_unit_test(trees_outlive_the_place_of_their_mesh),
      cmocka_unit_test(normals_are_gradients),
      cmocka_unit_test(normals_where_they_are_not_unique),
      cmocka_unit_test(rays_meet_surfaces),
      cmocka_unit_test(contacts_in_corners),
      cmocka_unit_test(bad_definitions),
      cmocka_unit_test(many_points_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
