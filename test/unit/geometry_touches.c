/* What grains touch of a mesh: each of its faces in an inner edge, one point everywhere else. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/rng.h"
#include "geometry/shape.h"

static double unit(uint64_t id, uint64_t k) { return rng_unit(rng_bits(5, id, k, RNG_TEST)); }

static Vec3 random_in(uint64_t id, Vec3 low, Vec3 high) {
  return vec3(low.x + unit(id, 0) * (high.x - low.x), low.y + unit(id, 1) * (high.y - low.y),
              low.z + unit(id, 2) * (high.z - low.z));
}

static Shape from_mesh(Core *core, Mesh *mesh, bool inside) {
  ScreeShapeDef definition = {.kind = SCREE_SHAPE_MESH, .scale = 1, .rotation = {1, 0, 0, 0}};
  int64_t *triangles = malloc(sizeof *triangles * (size_t)(3 * mesh->triangle_count));
  for (int64_t k = 0; k < 3 * mesh->triangle_count; k++) triangles[k] = mesh->triangles[k / 3][k % 3];
  definition.mesh.vertices = &mesh->vertices[0].x;
  definition.mesh.vertex_count = mesh->vertex_count;
  definition.mesh.triangles = triangles;
  definition.mesh.triangle_count = mesh->triangle_count;
  Shape shape;
  assert_ok(core, shape_create(core, &definition, inside, NULL, NULL, &shape));
  assert_ok(core, shape_find_faces(core, &shape));
  free(triangles);
  mesh_destroy(core, mesh);
  return shape;
}

/* A container box and the mesh of the same box, met from inside, are the same to a grain, without a grid, with one, and
 * with lists of the faces near its blocks. */
static void a_box_from_inside(void **state) {
  (void)state;
  Core core = test_core(1);
  const Vec3 low = vec3(-0.5, -0.2, 0.1), high = vec3(0.7, 0.6, 1.0);
  ScreeShapeDef definition = {.kind = SCREE_SHAPE_BOX, .scale = 1, .rotation = {1, 0, 0, 0}};
  definition.box = (ScreeBoxDef){low, high};
  Shape box;
  assert_ok(&core, shape_create(&core, &definition, true, NULL, NULL, &box));
  for (int cached = 0; cached < 3; cached++) {
    Mesh mesh;
    assert_ok(&core, mesh_make_box(&core, low, high, &mesh));
    Shape shape = from_mesh(&core, &mesh, true);
    assert_int_equal(shape.faces.count, 6);
    assert_true(shape.faces.meet);
    if (cached) assert_ok(&core, shape_cache_distance(&core, &shape, 0.05, 0.2, 0));
    if (cached > 1) assert_ok(&core, shape_cache_faces(&core, &shape, 0.15));
    assert_true(cached > 1 ? shape.faces.reach > 0 : !(shape.faces.reach > 0));
    int several = 0;
    for (uint64_t i = 0; i < 4000; i++) {
      ShapePoint found[SHAPE_CONTACTS_MAX], wanted[SHAPE_CONTACTS_MAX];
      Vec3 p = random_in(i, low, high);
      int count = shape_contacts(&box, p, 0.15, wanted);
      assert_int_equal(shape_touches(&shape, p, 0.15, found), count);
      for (int k = 0; k < count; k++) {
        assert_near(found[k].distance, wanted[k].distance, cached ? 1e-6 : 1e-12);
        assert_near(vec3_dot(found[k].normal, wanted[k].normal), 1, cached ? 1e-6 : 1e-12);
        for (int other = 0; other < k; other++) assert_true(found[other].face != found[k].face);
      }
      several += count > 1;
    }
    assert_true(several > 400);
    shape_destroy(&core, &shape);
  }
  shape_destroy(&core, &box);
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

/* Convex from outside, or smooth from either side: there is one contact, and the mesh is not asked for more. */
static void convex_and_smooth_meshes(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh mesh;
  assert_ok(&core, mesh_make_box(&core, vec3(0, 0, 0), vec3(1, 1, 1), &mesh));
  Shape box = from_mesh(&core, &mesh, false);
  assert_false(box.faces.meet);
  assert_ok(&core, mesh_make_sphere(&core, vec3(0, 0, 0), 1, 24, &mesh));
  Shape ball = from_mesh(&core, &mesh, true);
  assert_int_equal(ball.faces.count, 1);
  assert_false(ball.faces.meet);
  assert_ok(&core, mesh_make_cylinder(&core, vec3(0, 0, 0), 1, 1, 24, &mesh));
  Shape drum = from_mesh(&core, &mesh, true);
  assert_int_equal(drum.faces.count, 3);
  ShapePoint found[SHAPE_CONTACTS_MAX];
  assert_int_equal(shape_touches(&drum, vec3(0.9, 0, 0.5), 0.15, found), 1);
  const int32_t side = found[0].face;
  assert_int_equal(shape_touches(&drum, vec3(0, 0.9, 0.1), 0.15, found), 2);
  assert_true((found[0].face == side) != (found[1].face == side)); /* all round it is one face */
  shape_destroy(&core, &box);
  shape_destroy(&core, &ball);
  shape_destroy(&core, &drum);
  core_destroy(&core);
}

/* A valley along y, or a ridge where `rise` is negative, of two slabs 10 mm thick that rise by so much on a metre. */
static Shape make_fold(Core *core, double rise) {
  const double t = 0.01;
  const double corners[6][2] = {{-1, rise}, {0, 0}, {1, rise}, {1, rise - t}, {0, -t}, {-1, rise - t}};
  Vec3 vertices[12];
  int32_t triangles[20][3];
  for (int k = 0; k < 12; k++) vertices[k] = vec3(corners[k % 6][0], k < 6 ? -1 : 1, corners[k % 6][1]);
  int count = 0;
  for (int k = 0; k < 6; k++) {
    int next = (k + 1) % 6;
    memcpy(triangles[count++], (int32_t[3]){k, next, k + 6}, sizeof *triangles);
    memcpy(triangles[count++], (int32_t[3]){next, next + 6, k + 6}, sizeof *triangles);
  }
  static const int32_t ends[4][3] = {{0, 5, 1}, {1, 5, 4}, {1, 4, 2}, {2, 4, 3}};
  for (int k = 0; k < 4; k++) {
    memcpy(triangles[count++], ends[k], sizeof *triangles);
    memcpy(triangles[count++], (int32_t[3]){ends[k][0] + 6, ends[k][2] + 6, ends[k][1] + 6}, sizeof *triangles);
  }
  double flat[36];
  int64_t index[60];
  for (int k = 0; k < 36; k++) flat[k] = vec3_get(vertices[k / 3], k % 3);
  for (int k = 0; k < 3 * count; k++) index[k] = triangles[k / 3][k % 3];
  Mesh mesh;
  assert_ok(core, mesh_copy(core, flat, 12, index, count, &mesh));
  Shape shape = from_mesh(core, &mesh, false);
  assert_true(shape.findings.closed);
  return shape;
}

/* A sphere of radius 0.1 in a valley touches both slopes, and beside it one; on a ridge it touches one point. Thin
 * walls show no backs. A valley that bends by less than 20 degrees is a round one. */
static void valleys_and_ridges(void **state) {
  (void)state;
  Core core = test_core(1);
  ShapePoint found[SHAPE_CONTACTS_MAX];
  const double reach = 0.11;
  for (int k = 0; k < 3; k++) {
    const double rise = (double[]){1, 0.5, 0.2}[k], lean = sqrt(1 + rise * rise);
    Shape valley = make_fold(&core, rise);
    Vec3 rest = vec3(0, 0, 0.1 * lean);
    assert_int_equal(shape_touches(&valley, rest, reach, found), 2);
    for (int c = 0; c < 2; c++) {
      assert_near(found[c].distance, 0.1, 1e-12);
      assert_near(found[c].normal.z, 1 / lean, 1e-12);
    }
    assert_near(found[0].normal.x + found[1].normal.x, 0, 1e-12);
    const int32_t left = found[found[0].normal.x > 0 ? 0 : 1].face;
    assert_int_equal(shape_touches(&valley, vec3(-0.5, 0, 0.5 * rise + 0.1 * lean), reach, found), 1);
    assert_int_equal(found[0].face, left);
    assert_int_equal(shape_touches(&valley, vec3(0, 0, -0.05), reach, found), 1); /* below: a ridge */
    assert_near(found[0].distance, 0.04, 1e-12);
    shape_destroy(&core, &valley);
    Shape roof = make_fold(&core, -rise);
    for (uint64_t i = 0; i < 200; i++) {
      Vec3 p = random_in(i, vec3(-0.1, -0.1, 0.01), vec3(0.1, 0.1, 0.1));
      const double distance = shape_distance(&roof, p, 1).distance;
      assert_int_equal(shape_touches(&roof, p, reach, found), distance <= reach);
      if (distance <= reach) assert_near(found[0].distance, distance, 1e-12);
    }
    shape_destroy(&core, &roof);
  }
  Shape blunt = make_fold(&core, 0.15);
  assert_int_equal(shape_touches(&blunt, vec3(0, 0, 0.1), reach, found), 1);
  shape_destroy(&core, &blunt);
  core_destroy(&core);
}

/* Boxes in one mesh that make a floor and a wall: parts meet as faces do, what is in another part is not touched. */
static void parts_that_overlap(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh floor, wall, both;
  assert_ok(&core, mesh_make_box(&core, vec3(-1, -1, -0.1), vec3(1, 1, 0), &floor));
  assert_ok(&core, mesh_make_box(&core, vec3(0.5, -0.9, -0.05), vec3(0.6, 0.9, 0.5), &wall));
  double vertices[48];
  int64_t triangles[72];
  for (int k = 0; k < 24; k++) vertices[k] = vec3_get(floor.vertices[k / 3], k % 3);
  for (int k = 0; k < 24; k++) vertices[24 + k] = vec3_get(wall.vertices[k / 3], k % 3);
  for (int k = 0; k < 36; k++) triangles[k] = floor.triangles[k / 3][k % 3];
  for (int k = 0; k < 36; k++) triangles[36 + k] = wall.triangles[k / 3][k % 3] + 8;
  assert_ok(&core, mesh_copy(&core, vertices, 16, triangles, 24, &both));
  Shape shape = from_mesh(&core, &both, false);
  ShapePoint found[SHAPE_CONTACTS_MAX];
  assert_int_equal(shape_touches(&shape, vec3(0.4, 0, 0.08), 0.15, found), 2);
  assert_near(found[0].distance, 0.08, 1e-12);
  assert_near(found[0].normal.z, 1, 1e-12);
  assert_near(found[1].distance, 0.1, 1e-12);
  assert_near(found[1].normal.x, -1, 1e-12);
  assert_int_equal(shape_touches(&shape, vec3(0, 0, 0.04), 0.2, found), 1);
  assert_int_equal(shape_touches(&shape, vec3(0.55, 0, -0.12), 0.2, found), 1); /* below the wall's foot */
  mesh_destroy(&core, &floor);
  mesh_destroy(&core, &wall);
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_from_inside),
      cmocka_unit_test(convex_and_smooth_meshes),
      cmocka_unit_test(valleys_and_ridges),
      cmocka_unit_test(parts_that_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
