/* Distances, signs and rays of the tree against every triangle, one by one. */
#include "check.h"
#include "core/rng.h"
#include "core/vec.h"
#include "geometry/distance_grid.h"
#include "geometry/shape.h"

static const double PI = 3.14159265358979323846;

static double unit(uint64_t id, uint64_t k) { return rng_unit(rng_bits(7, id, k, RNG_TEST)); }

static Vec3 random_point(uint64_t id, Vec3 low, Vec3 high) {
  return vec3(low.x + (high.x - low.x) * unit(id, 0), low.y + (high.y - low.y) * unit(id, 1),
              low.z + (high.z - low.z) * unit(id, 2));
}

/* Closest point of a segment and, where the projection falls into it, of the triangle: no cleverness. */
static double segment_distance(Vec3 p, Vec3 a, Vec3 b) {
  Vec3 ab = vec3_sub(b, a);
  double length2 = vec3_dot(ab, ab), t = length2 > 0 ? vec3_dot(vec3_sub(p, a), ab) / length2 : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return vec3_length(vec3_sub(p, vec3_madd(a, ab, t)));
}

static double triangle_distance(Vec3 p, Vec3 a, Vec3 b, Vec3 c) {
  double best = fmin(segment_distance(p, a, b), fmin(segment_distance(p, b, c), segment_distance(p, c, a)));
  Vec3 n = vec3_normalize(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
  double height = vec3_dot(vec3_sub(p, a), n);
  Vec3 q = vec3_madd(p, n, -height);
  bool in = vec3_dot(n, vec3_cross(vec3_sub(b, a), vec3_sub(q, a))) > 0 &&
            vec3_dot(n, vec3_cross(vec3_sub(c, b), vec3_sub(q, b))) > 0 &&
            vec3_dot(n, vec3_cross(vec3_sub(a, c), vec3_sub(q, c))) > 0;
  return in ? fmin(best, fabs(height)) : best;
}

static double brute_distance(const Mesh *mesh, Vec3 p) {
  double best = INFINITY;
  for (int64_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *k = mesh->triangles[t];
    best = fmin(best, triangle_distance(p, mesh->vertices[k[0]], mesh->vertices[k[1]], mesh->vertices[k[2]]));
  }
  return best;
}

static double brute_winding(const Mesh *mesh, Vec3 p) {
  double sum = 0;
  for (int64_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *k = mesh->triangles[t];
    Vec3 a = vec3_sub(mesh->vertices[k[0]], p), b = vec3_sub(mesh->vertices[k[1]], p);
    Vec3 c = vec3_sub(mesh->vertices[k[2]], p);
    double la = vec3_length(a), lb = vec3_length(b), lc = vec3_length(c);
    double re = la * lb * lc + vec3_dot(a, b) * lc + vec3_dot(b, c) * la + vec3_dot(c, a) * lb;
    sum += 2 * atan2(vec3_dot(a, vec3_cross(b, c)), re);
  }
  return sum / (4 * PI);
}

/* A sphere with waves, so that it is not convex; smooth otherwise. */
static void make_bumpy(Core *core, int detail, Mesh *mesh) {
  assert_ok(core, mesh_make_sphere(core, vec3(0, 0, 0), 1, detail, mesh));
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    Vec3 p = mesh->vertices[v];
    double wave = 1 + 0.2 * sin(5 * p.x) * cos(4 * p.y + 1) * sin(6 * p.z + 2);
    mesh->vertices[v] = vec3_add(vec3_scale(p, wave), vec3(3, -2, 1));
  }
}

/* Keeps the triangles for which `keep` is true of their middle. */
static void cut(Mesh *mesh, bool (*keep)(Vec3 middle)) {
  int64_t kept = 0;
  for (int64_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *k = mesh->triangles[t];
    Vec3 sum = vec3_add(mesh->vertices[k[0]], vec3_add(mesh->vertices[k[1]], mesh->vertices[k[2]]));
    if (!keep(vec3_scale(sum, 1.0 / 3))) continue;
    memmove(mesh->triangles[kept++], mesh->triangles[t], sizeof *mesh->triangles);
  }
  mesh->triangle_count = kept;
}

static bool upper_half(Vec3 middle) { return middle.z > 1; }

/* Distance to 1e-12; winding within what two terms of the expansion from two radii on leave, which is a share of at
 * most (1/2)^2 of the angle of coarse leaves; sign wherever that does not blur it. */
static void compare(const char *what, const Mesh *mesh, const Bvh *bvh, int points, double winding_error) {
  Vec3 low, high;
  mesh_bounds(mesh, &low, &high);
  Vec3 margin = vec3_scale(vec3_sub(high, low), 0.3);
  low = vec3_sub(low, margin);
  high = vec3_add(high, margin);
  double worst_distance = 0, worst_winding = 0;
  int inside = 0;
  for (int i = 0; i < points; i++) {
    Vec3 p = random_point((uint64_t)i, low, high);
    /* Every third point close to the surface, where it is hardest. */
    if (i % 3 == 0) {
      int64_t t = (int64_t)(unit((uint64_t)i, 5) * (double)mesh->triangle_count);
      p = vec3_madd(mesh->vertices[mesh->triangles[t][0]], vec3_sub(p, mesh->vertices[0]), 1e-4);
    }
    double distance = brute_distance(mesh, p), winding = brute_winding(mesh, p);
    BvhHit hit = bvh_closest(bvh, p, INFINITY);
    assert_true(hit.triangle >= 0);
    worst_distance = fmax(worst_distance, fabs(hit.distance - distance));
    assert_near(vec3_length(vec3_sub(p, hit.point)), distance, 1e-12);
    worst_winding = fmax(worst_winding, fabs(bvh_winding(bvh, p) - winding));
    if (fabs(winding - 0.5) > winding_error) assert_int_equal(bvh_winding(bvh, p) > 0.5, winding > 0.5);
    inside += winding > 0.5;
    /* A reach that is too short finds nothing; one that is just enough finds it. */
    assert_int_equal(bvh_closest(bvh, p, distance * 0.999).triangle, -1);
    assert_near(bvh_closest(bvh, p, distance * 1.001).distance, distance, 1e-12);
  }
  print_message("%s: %lld triangles, %d of %d points inside; distance %.1e, winding %.1e off\n", what,
                (long long)mesh->triangle_count, inside, points, worst_distance, worst_winding);
  assert_true(worst_distance < 1e-12);
  assert_true(worst_winding < winding_error);
}

static void compare_mesh(Core *core, const char *what, Mesh *mesh, double winding_error) {
  Bvh *bvh = NULL;
  assert_ok(core, bvh_build(core, mesh, &bvh));
  compare(what, mesh, bvh, 1500, winding_error);
  bvh_destroy(core, bvh);
  mesh_destroy(core, mesh);
}

static void tree_agrees_with_brute_force(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh mesh;
  make_bumpy(&core, 40, &mesh);
  compare_mesh(&core, "closed", &mesh, 0.06);
  assert_ok(&core, mesh_make_torus(&core, 1, 0.3, 40, &mesh));
  compare_mesh(&core, "torus", &mesh, 0.06);
  make_bumpy(&core, 40, &mesh);
  cut(&mesh, upper_half);
  compare_mesh(&core, "open", &mesh, 0.06);
  /* A tenth of the triangles flipped, some without area, some twice. */
  make_bumpy(&core, 40, &mesh);
  for (int64_t t = 0; t < mesh.triangle_count; t += 10) {
    int32_t swap = mesh.triangles[t][0];
    mesh.triangles[t][0] = mesh.triangles[t][1];
    mesh.triangles[t][1] = swap;
  }
  for (int64_t t = 5; t < mesh.triangle_count; t += 40) mesh.triangles[t][1] = mesh.triangles[t][0];
  for (int64_t t = 7; t < mesh.triangle_count; t += 60) memcpy(mesh.triangles[t], mesh.triangles[t - 1], 12);
  compare_mesh(&core, "broken", &mesh, 0.06);
  assert_ok(&core, mesh_make_box(&core, vec3(-1, -2, -3), vec3(1, 2, 3), &mesh));
  compare_mesh(&core, "box", &mesh, 0.06);
  core_destroy(&core);
}

/* Meshes of any size, far from the origin, and points far from the mesh. */
static void sizes_do_not_matter(void **state) {
  (void)state;
  Core core = test_core(1);
  static const double scales[] = {1e-20, 1e-6, 1, 1e6, 1e11};
  for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
    double scale = scales[s];
    Mesh mesh;
    Bvh *bvh = NULL;
    assert_ok(&core, mesh_make_torus(&core, 1, 0.3, 40, &mesh));
    assert_ok(&core, mesh_transform(&core, &mesh, scale, quat_identity(), vec3(3 * scale, 0, -5 * scale)));
    assert_ok(&core, bvh_build(&core, &mesh, &bvh));
    for (int i = 0; i < 200; i++) {
      Vec3 p = vec3_scale(random_point((uint64_t)i, vec3(1.5, -1.5, -5.5), vec3(4.5, 1.5, -4.5)), scale);
      assert_near(bvh_closest(bvh, p, INFINITY).distance / scale, brute_distance(&mesh, p) / scale, 1e-12);
      assert_near(bvh_winding(bvh, p), brute_winding(&mesh, p), 0.06);
      Vec3 far = vec3_scale(p, i % 2 ? 1e4 : 1e9);
      assert_near(bvh_closest(bvh, far, INFINITY).distance / brute_distance(&mesh, far), 1, 1e-12);
      assert_near(bvh_winding(bvh, far), 0, 1e-6);
    }
    bvh_destroy(&core, bvh);
    mesh_destroy(&core, &mesh);
  }
  core_destroy(&core);
}

static Shape mesh_shape(Core *core, const Mesh *mesh, bool inside) {
  ScreeShapeDef definition = {.kind = SCREE_SHAPE_MESH, .scale = 1, .rotation = {1, 0, 0, 0}};
  int64_t *triangles = NULL;
  assert_ok(core, memory_new(core, &triangles, 3 * mesh->triangle_count, "test"));
  for (int64_t k = 0; k < 3 * mesh->triangle_count; k++) triangles[k] = mesh->triangles[k / 3][k % 3];
  definition.mesh.vertices = &mesh->vertices[0].x;
  definition.mesh.vertex_count = mesh->vertex_count;
  definition.mesh.triangles = triangles;
  definition.mesh.triangle_count = mesh->triangle_count;
  Shape shape;
  assert_ok(core, shape_create(core, &definition, inside, NULL, NULL, &shape));
  memory_drop(core, &triangles);
  return shape;
}

/* Two closed parts that overlap are one solid; a mesh turned inside out is mended. */
static void overlap_and_inside_out(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh a, b;
  assert_ok(&core, mesh_make_box(&core, vec3(0, 0, 0), vec3(1, 1, 1), &a));
  assert_ok(&core, mesh_make_box(&core, vec3(0.5, 0.25, 0.25), vec3(1.5, 0.75, 0.75), &b));
  Mesh both = {.vertex_count = 16, .triangle_count = 24};
  assert_ok(&core, memory_new(&core, &both.vertices, 16, "test"));
  assert_ok(&core, memory_new(&core, &both.triangles, 24, "test"));
  memcpy(both.vertices, a.vertices, 8 * sizeof(Vec3));
  memcpy(both.vertices + 8, b.vertices, 8 * sizeof(Vec3));
  for (int k = 0; k < 36; k++) {
    both.triangles[k / 3][k % 3] = a.triangles[k / 3][k % 3];
    both.triangles[12 + k / 3][k % 3] = b.triangles[k / 3][k % 3] + 8;
  }
  Shape shape = mesh_shape(&core, &both, false);
  assert_true(shape.findings.closed && !shape.findings.inside_out);
  assert_true(shape_contains(&shape, vec3(0.75, 0.5, 0.5)));
  assert_true(shape_contains(&shape, vec3(1.4, 0.5, 0.5)));
  assert_true(shape_contains(&shape, vec3(0.2, 0.5, 0.5)));
  assert_false(shape_contains(&shape, vec3(1.4, 0.5, 0.9)));
  shape_destroy(&core, &shape);
  for (int k = 0; k < 12; k++) {
    int32_t swap = a.triangles[k][0];
    a.triangles[k][0] = a.triangles[k][1];
    a.triangles[k][1] = swap;
  }
  shape = mesh_shape(&core, &a, false);
  assert_true(shape.findings.inside_out);
  assert_near(shape.mass.volume, 1, 1e-15);
  assert_true(shape_contains(&shape, vec3(0.5, 0.5, 0.5)));
  shape_destroy(&core, &shape);
  /* Only some turned: they follow their neighbours. */
  for (int k = 0; k < 9; k++) {
    int32_t swap = a.triangles[k][0];
    a.triangles[k][0] = a.triangles[k][1];
    a.triangles[k][1] = swap;
  }
  shape = mesh_shape(&core, &a, false);
  assert_true(shape.findings.closed && shape.findings.flipped_edges > 0 && shape.findings.turned == 3);
  assert_near(shape.mass.volume, 1, 1e-15);
  shape_destroy(&core, &shape);
  mesh_destroy(&core, &a);
  mesh_destroy(&core, &b);
  mesh_destroy(&core, &both);
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

/* The normal is the gradient of the distance. */
static void normals_are_gradients(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh mesh;
  make_bumpy(&core, 40, &mesh);
  Shape shape = mesh_shape(&core, &mesh, false);
  for (int i = 0; i < 500; i++) {
    Vec3 p = random_point((uint64_t)i, shape.bounds_low, shape.bounds_high);
    ShapePoint at = shape_distance(&shape, p, INFINITY);
    double h = 1e-6;
    Vec3 gradient;
    gradient.x = shape_distance(&shape, vec3(p.x + h, p.y, p.z), INFINITY).distance -
                 shape_distance(&shape, vec3(p.x - h, p.y, p.z), INFINITY).distance;
    gradient.y = shape_distance(&shape, vec3(p.x, p.y + h, p.z), INFINITY).distance -
                 shape_distance(&shape, vec3(p.x, p.y - h, p.z), INFINITY).distance;
    gradient.z = shape_distance(&shape, vec3(p.x, p.y, p.z + h), INFINITY).distance -
                 shape_distance(&shape, vec3(p.x, p.y, p.z - h), INFINITY).distance;
    gradient = vec3_scale(gradient, 0.5 / h);
    assert_near(vec3_length(at.normal), 1, 1e-12);
    if (fabs(vec3_length(gradient) - 1) > 1e-4) continue; /* on the medial axis */
    assert_near(vec3_length(vec3_sub(gradient, at.normal)), 0, 1e-4);
  }
  shape_destroy(&core, &shape);
  mesh_destroy(&core, &mesh);
  core_destroy(&core);
}

static double inside_volume(const Shape *shape, int points) {
  int inside = 0;
  for (int i = 0; i < points; i++)
    inside += shape_contains(shape, random_point((uint64_t)i, shape->bounds_low, shape->bounds_high));
  Vec3 size = vec3_sub(shape->bounds_high, shape->bounds_low);
  return size.x * size.y * size.z * inside / points;
}

static void volumes_by_inside_tests(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh mesh;
  assert_ok(&core, mesh_make_sphere(&core, vec3(1, 2, 3), 0.5, 96, &mesh));
  Shape shape = mesh_shape(&core, &mesh, false);
  assert_near(inside_volume(&shape, 200000) / (4 * PI / 3 * 0.125), 1, 0.01);
  shape_destroy(&core, &shape);
  mesh_destroy(&core, &mesh);
  assert_ok(&core, mesh_make_torus(&core, 1, 0.4, 96, &mesh));
  shape = mesh_shape(&core, &mesh, false);
  assert_near(inside_volume(&shape, 200000) / (2 * PI * PI * 0.16), 1, 0.01);
  shape_destroy(&core, &shape);
  mesh_destroy(&core, &mesh);
  core_destroy(&core);
}

static double brute_ray(const Mesh *mesh, Vec3 o, Vec3 d) {
  double best = INFINITY;
  for (int64_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *k = mesh->triangles[t];
    Vec3 a = mesh->vertices[k[0]], ab = vec3_sub(mesh->vertices[k[1]], a), ac = vec3_sub(mesh->vertices[k[2]], a);
    Vec3 h = vec3_cross(d, ac);
    double det = vec3_dot(ab, h);
    if (det == 0) continue;
    Vec3 s = vec3_sub(o, a), q = vec3_cross(s, ab);
    double u = vec3_dot(s, h) / det, v = vec3_dot(d, q) / det, along = vec3_dot(ac, q) / det;
    if (u >= 0 && v >= 0 && u + v <= 1 && along >= 0) best = fmin(best, along);
  }
  return best;
}

static void rays_agree_and_never_slip(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh mesh;
  make_bumpy(&core, 40, &mesh);
  Bvh *bvh = NULL;
  assert_ok(&core, bvh_build(&core, &mesh, &bvh));
  for (int i = 0; i < 1500; i++) {
    Vec3 o = random_point((uint64_t)i, vec3(1, -4, -1), vec3(5, 0, 3));
    Vec3 d = vec3_normalize(random_point((uint64_t)i + 5000, vec3(-1, -1, -1), vec3(1, 1, 1)));
    double expected = brute_ray(&mesh, o, d);
    BvhHit hit = bvh_ray(bvh, o, d, INFINITY);
    if (isinf(expected)) assert_int_equal(hit.triangle, -1);
    else assert_near(hit.distance, expected, 1e-9);
  }
  /* From the middle straight through every vertex and every edge: a closed surface lets nothing out. */
  Vec3 middle = vec3(3, -2, 1);
  for (int64_t t = 0; t < mesh.triangle_count; t++) {
    Vec3 a = mesh.vertices[mesh.triangles[t][0]], b = mesh.vertices[mesh.triangles[t][1]];
    Vec3 to_edge = vec3_sub(vec3_scale(vec3_add(a, b), 0.5), middle), to_vertex = vec3_sub(a, middle);
    assert_true(bvh_ray(bvh, middle, vec3_normalize(to_vertex), INFINITY).triangle >= 0);
    assert_true(bvh_ray(bvh, middle, vec3_normalize(to_edge), INFINITY).triangle >= 0);
  }
  assert_true(bvh_ray(bvh, middle, vec3(0, 0, 1), INFINITY).triangle >= 0);
  assert_true(bvh_ray(bvh, middle, vec3(-1, 0, 0), INFINITY).triangle >= 0);
  bvh_destroy(&core, bvh);
  mesh_destroy(&core, &mesh);
  core_destroy(&core);
}

/* The grid within its bound: second order on the smooth parts, half a cell on creases; the sign of thin walls holds. */
static void grid_agrees_with_exact(void **state) {
  (void)state;
  Core core = test_core(2);
  Mesh mesh;
  assert_ok(&core, mesh_make_torus(&core, 1, 0.4, 96, &mesh));
  for (int half = 0; half < 2; half++) {
    Shape exact = mesh_shape(&core, &mesh, half), cached = mesh_shape(&core, &mesh, half);
    double cell = half ? 0.02 : 0.04, worst = 0, worst_near = 0, worst_normal = 0;
    assert_ok(&core, shape_cache_distance(&core, &cached, cell, 0.15, 0));
    for (int i = 0; i < 20000; i++) {
      Vec3 p = random_point((uint64_t)i, vec3(-1.6, -1.6, -0.6), vec3(1.6, 1.6, 0.6));
      ShapePoint a = shape_distance(&exact, p, 10), b = shape_distance(&cached, p, 0.15);
      assert_near(vec3_length(b.normal), 1, 1e-6);
      if (fabs(a.distance) > 0.15) {
        assert_true(fabs(b.distance) > 0.149 && (a.distance > 0) == (b.distance > 0));
        continue;
      }
      worst = fmax(worst, fabs(a.distance - b.distance));
      if (fabs(a.distance) > 0.01) assert_true((a.distance > 0) == (b.distance > 0));
      worst_near = fmax(worst_near, fabs(a.distance - b.distance));
      worst_normal = fmax(worst_normal, vec3_length(vec3_sub(a.normal, b.normal)));
    }
    print_message("grid of %g: distance %.2e, normal %.2e off, %lld blocks\n", cell, worst, worst_normal,
                  (long long)cached.grid->block_count);
    /* Curvature 1 / (0.4 - 0.15) at most within the band, and the facets of the mesh. */
    assert_true(worst < 0.375 * cell * cell * 2 / 0.25 + 2e-4);
    assert_true(worst_normal < 0.2);
    /* Beyond the band the exact answer comes back when it is asked for. */
    assert_near(shape_distance(&cached, vec3(3, 0, 0), 10).distance, half ? -1.6 : 1.6, 1e-2);
    shape_destroy(&core, &exact);
    shape_destroy(&core, &cached);
  }
  mesh_destroy(&core, &mesh);
  core_destroy(&core);
}

static void grid_keeps_thin_walls(void **state) {
  (void)state;
  Core core = test_core(2);
  /* A pan: a box with a box cut out of its top, walls and floor 0.02 thick, as one closed surface. */
  Mesh mesh = {.vertex_count = 16, .triangle_count = 28};
  assert_ok(&core, memory_new(&core, &mesh.vertices, 16, "test"));
  assert_ok(&core, memory_new(&core, &mesh.triangles, 28, "test"));
  double wall = 0.02;
  for (int k = 0; k < 8; k++) {
    mesh.vertices[k] = vec3(k & 1 ? 1 : 0, k & 2 ? 1 : 0, k & 4 ? 0.4 : 0);
    mesh.vertices[8 + k] = vec3(k & 1 ? 1 - wall : wall, k & 2 ? 1 - wall : wall, k & 4 ? 0.4 : wall);
  }
  static const int32_t quads[14][4] = {{0, 2, 3, 1},    {0, 1, 5, 4},    {2, 6, 7, 3},   {0, 4, 6, 2},
                                       {1, 3, 7, 5},    {8, 9, 11, 10},  {8, 12, 13, 9}, {10, 11, 15, 14},
                                       {8, 10, 14, 12}, {9, 13, 15, 11}, {4, 5, 13, 12}, {5, 7, 15, 13},
                                       {7, 6, 14, 15},  {6, 4, 12, 14}};
  for (int q = 0; q < 14; q++)
    for (int k = 0; k < 6; k++) {
      static const int pick[6] = {0, 1, 2, 0, 2, 3};
      mesh.triangles[2 * q + k / 3][k % 3] = quads[q][pick[k]];
    }
  Shape exact = mesh_shape(&core, &mesh, false), cached = mesh_shape(&core, &mesh, false);
  assert_true(exact.findings.closed);
  assert_near(exact.mass.volume, 0.4 - 0.96 * 0.96 * 0.38, 1e-12);
  assert_ok(&core, shape_cache_distance(&core, &cached, 0.04, 0.1, 0));
  assert_true((double)cached.grid->cell <= 0.01 * 1.001);
  for (int i = 0; i < 20000; i++) {
    Vec3 p = random_point((uint64_t)i, vec3(-0.1, -0.1, -0.1), vec3(1.1, 1.1, 0.5));
    ShapePoint a = shape_distance(&exact, p, 10), b = shape_distance(&cached, p, 0.1);
    if (fabs(a.distance) > 0.1) continue;
    assert_near(b.distance, a.distance, 0.0051);
    if (fabs(a.distance) > 0.0035) assert_true((a.distance > 0) == (b.distance > 0));
  }
  shape_destroy(&core, &exact);
  shape_destroy(&core, &cached);
  mesh_destroy(&core, &mesh);
  core_destroy(&core);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tree_agrees_with_brute_force), cmocka_unit_test(sizes_do_not_matter),
      cmocka_unit_test(overlap_and_inside_out),       cmocka_unit_test(normals_are_gradients),
      cmocka_unit_test(volumes_by_inside_tests),      cmocka_unit_test(rays_agree_and_never_slip),
      cmocka_unit_test(grid_agrees_with_exact),       cmocka_unit_test(grid_keeps_thin_walls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
