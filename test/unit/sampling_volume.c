/* Volume sampling: spheres apart, inside, as many as should be, the same for any number of threads. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/rng.h"
#include "neighbors/neighbors.h"
#include "sampling/sampling.h"

static Shape make_shape(Core *core, ScreeShapeDef definition) {
  Shape shape;
  assert_ok(core, shape_create(core, &definition, false, NULL, NULL, &shape));
  return shape;
}

static ScreeShapeDef plain(ScreeShapeKind kind) {
  return (ScreeShapeDef){.kind = kind, .rotation = {1, 0, 0, 0}, .scale = 1};
}

static ScreeShapeDef box(double side) {
  ScreeShapeDef definition = plain(SCREE_SHAPE_BOX);
  definition.box.min = vec3(-side / 2, -side / 2, -side / 2);
  definition.box.max = vec3(side / 2, side / 2, side / 2);
  return definition;
}

/* A torus as a mesh in memory. */
static Shape make_torus(Core *core, double major, double minor) {
  Mesh mesh;
  assert_ok(core, mesh_make_torus(core, major, minor, 48, &mesh));
  int64_t(*triangles)[3] = malloc((size_t)mesh.triangle_count * sizeof *triangles);
  for (int64_t t = 0; t < mesh.triangle_count; t++)
    for (int k = 0; k < 3; k++) triangles[t][k] = mesh.triangles[t][k];
  ScreeShapeDef definition = plain(SCREE_SHAPE_MESH);
  definition.mesh = (ScreeMeshDef){.vertices = &mesh.vertices[0].x,
                                   .triangles = triangles[0],
                                   .vertex_count = mesh.vertex_count,
                                   .triangle_count = mesh.triangle_count};
  Shape shape = make_shape(core, definition);
  free(triangles);
  mesh_destroy(core, &mesh);
  return shape;
}

static SamplingPlan plan_of(double radius) {
  return (SamplingPlan){.radius = radius, .seed = 7, .rotation = {1, 0, 0, 0}};
}

static double radius_of(const Samples *samples, const SamplingPlan *plan, int64_t i) {
  return samples->radius ? (double)samples->radius[i] : plan->radius;
}

static Vec3 shape_point(const SamplingPlan *plan, const Samples *samples, int64_t i) {
  Vec3 world = vec3_add(samples->origin, vec3(samples->x[i], samples->y[i], samples->z[i]));
  return quat_rotate(quat_conjugate(quat_normalize(plan->rotation)), vec3_sub(world, plan->position));
}

/* Every sphere lies inside, and no two are closer than the sum of their radii. */
static void check_samples(Core *core, const Shape *shape, const SamplingPlan *plan, const Samples *samples) {
  double largest = 0, far = vec3_length(plan->position);
  for (int64_t i = 0; i < samples->count; i++) {
    double radius = radius_of(samples, plan, i);
    largest = fmax(largest, radius);
    double distance = shape_distance(shape, shape_point(plan, samples, i), 2 * radius).distance;
    if (shape->inside) distance = -distance;
    assert_true(distance <= -radius * (1 - 1e-5) + 1e-15 * far);
  }
  if (samples->count < 2) return;
  CellGrid *grid;
  NeighborList list = {0};
  Points points = {.count = samples->count, .x = samples->x, .y = samples->y, .z = samples->z};
  float reach = (float)(2 * largest) * 1.01f;
  assert_ok(core, cell_grid_create(core, &grid));
  assert_ok(core, cell_grid_build(core, grid, points, reach));
  assert_ok(core, neighbor_list_build(core, grid, points, points, reach, NULL, NULL, &list));
  for (int64_t i = 0; i < samples->count; i++)
    for (int64_t k = list.start[i]; k < list.start[i + 1]; k++) {
      int64_t j = list.index[k];
      double dx = (double)samples->x[i] - (double)samples->x[j], dy = (double)samples->y[i] - (double)samples->y[j],
             dz = (double)samples->z[i] - (double)samples->z[j];
      double apart = radius_of(samples, plan, i) + radius_of(samples, plan, j);
      assert_true(sqrt(dx * dx + dy * dy + dz * dz) >= apart * (1 - 1e-5));
    }
  neighbor_list_destroy(core, &list);
  cell_grid_destroy(core, grid);
}

/* Solid fraction of a cube round the origin, away from walls. */
static double bulk_fraction(const Samples *samples, const SamplingPlan *plan, double half) {
  double cubes = 0;
  for (int64_t i = 0; i < samples->count; i++)
    if (fabs((double)samples->x[i]) < half && fabs((double)samples->y[i]) < half && fabs((double)samples->z[i]) < half)
      cubes += pow(radius_of(samples, plan, i), 3);
  return 4.0 / 3.0 * M_PI * cubes / pow(2 * half, 3);
}

static Samples sample(Core *core, const Shape *shape, const SamplingPlan *plan) {
  Samples samples;
  assert_ok(core, sample_volume(core, shape, plan, &samples));
  check_samples(core, shape, plan, &samples);
  return samples;
}

/* Places in the shape, at least `radius` deep, where one more sphere would fit with `room` to spare, out of `tries`. */
static int count_room(const Shape *shape, const SamplingPlan *plan, const Samples *samples, int tries, double room) {
  int found = 0;
  Vec3 size = vec3_sub(shape->bounds_high, shape->bounds_low);
  for (int t = 0; t < tries; t++) {
    Vec3 p = shape->bounds_low;
    p.x += size.x * rng_unit(rng_bits(1, (uint64_t)t, 0, RNG_TEST));
    p.y += size.y * rng_unit(rng_bits(1, (uint64_t)t, 1, RNG_TEST));
    p.z += size.z * rng_unit(rng_bits(1, (uint64_t)t, 2, RNG_TEST));
    if (shape_distance(shape, p, 2 * plan->radius).distance > -plan->radius - room) continue;
    bool free_place = true;
    for (int64_t i = 0; i < samples->count && free_place; i++)
      free_place =
          vec3_length(vec3_sub(p, shape_point(plan, samples, i))) > plan->radius + radius_of(samples, plan, i) + room;
    found += free_place;
  }
  return found;
}

static void test_box(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape shape = make_shape(&core, box(1));
  SamplingPlan plan = plan_of(0.0167);
  Samples samples = sample(&core, &shape, &plan);
  double plain_fraction = samples.fraction;
  assert_near(samples.fraction, samples.count * 4.0 / 3.0 * M_PI * pow(plan.radius, 3), 1e-9);
  assert_in_range((int)(1000 * samples.fraction), 340, 370);
  samples_destroy(&core, &samples);
  plan.maximal = true;
  samples = sample(&core, &shape, &plan);
  /* Saturation of random sequential addition is 0.384 in the bulk; walls keep centres away. */
  assert_in_range((int)(1000 * samples.fraction), 360, 385);
  assert_true(plain_fraction > 0.95 * samples.fraction);
  samples_destroy(&core, &samples);
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

static void test_shapes(void **state) {
  (void)state;
  Core core = test_core(2);
  ScreeShapeDef sphere = plain(SCREE_SHAPE_SPHERE), cylinder = plain(SCREE_SHAPE_CYLINDER),
                capsule = plain(SCREE_SHAPE_CAPSULE);
  sphere.sphere.center = vec3(1, 2, 3), sphere.sphere.radius = 0.5;
  cylinder.cylinder.radius = 0.4, cylinder.cylinder.height = 1;
  capsule.capsule.radius = 0.3, capsule.capsule.height = 1;
  Shape shapes[4] = {make_shape(&core, sphere), make_shape(&core, cylinder), make_shape(&core, capsule),
                     make_torus(&core, 0.5, 0.2)};
  for (int k = 0; k < 4; k++) {
    SamplingPlan plan = plan_of(0.025);
    plan.position = vec3(0.3, -4, 2);
    plan.rotation = (Quat){0.8, 0.4, 0.3, 0.2};
    for (int mode = 0; mode < 4; mode++) {
      plan.maximal = mode & 1, plan.dense = mode & 2;
      Samples samples = sample(&core, &shapes[k], &plan);
      assert_true(samples.fraction > (plan.dense ? 0.5 : 0.32));
      samples_destroy(&core, &samples);
    }
    shape_destroy(&core, &shapes[k]);
  }
  core_destroy(&core);
}

/* The two points at the same distance `apart` from three others; false when there are none. */
static bool touch_three(const Vec3 c[3], double apart, Vec3 points[2]) {
  Vec3 ex = vec3_normalize(vec3_sub(c[1], c[0])), to = vec3_sub(c[2], c[0]);
  double d = vec3_length(vec3_sub(c[1], c[0])), i = vec3_dot(ex, to);
  Vec3 ey = vec3_normalize(vec3_madd(to, ex, -i));
  double j = vec3_dot(ey, to), x = d / 2, y = (i * i + j * j) / (2 * j) - i / j * x, z = apart * apart - x * x - y * y;
  if (!(z >= 0)) return false;
  Vec3 foot = vec3_madd(vec3_madd(c[0], ex, x), ey, y), ez = vec3_cross(ex, ey);
  points[0] = vec3_madd(foot, ez, sqrt(z));
  points[1] = vec3_madd(foot, ez, -sqrt(z));
  return true;
}

/* Exact search for gaps between spheres: where a gap for a sphere larger by `room` exists away from the walls, its
 * corners touch three of the others. Returns how many corners are free. */
static int count_gaps(Core *core, const Shape *shape, const SamplingPlan *plan, const Samples *samples, double room) {
  double apart = 2 * plan->radius + room;
  CellGrid *grid;
  NeighborList list = {0};
  Points points = {.count = samples->count, .x = samples->x, .y = samples->y, .z = samples->z};
  assert_ok(core, cell_grid_create(core, &grid));
  assert_ok(core, cell_grid_build(core, grid, points, (float)(2.01 * apart)));
  assert_ok(core, neighbor_list_build(core, grid, points, points, (float)(2.01 * apart), NULL, NULL, &list));
  int found = 0;
  for (int64_t i = 0; i < samples->count; i++)
    for (int64_t a = list.start[i]; a < list.start[i + 1]; a++)
      for (int64_t b = a + 1; b < list.start[i + 1]; b++) {
        if (list.index[a] < i) continue;
        Vec3 c[3] = {shape_point(plan, samples, i), shape_point(plan, samples, list.index[a]),
                     shape_point(plan, samples, list.index[b])};
        Vec3 corner[2];
        if (!touch_three(c, apart, corner)) continue;
        for (int k = 0; k < 2; k++) {
          bool is_free = shape_distance(shape, corner[k], 3 * plan->radius).distance <= -plan->radius - room;
          for (int64_t n = list.start[i]; n < list.start[i + 1] && is_free; n++)
            is_free =
                n == a || n == b || vec3_length(vec3_sub(corner[k], shape_point(plan, samples, list.index[n]))) > apart;
          found += is_free;
        }
      }
  neighbor_list_destroy(core, &list);
  cell_grid_destroy(core, grid);
  return found;
}

static void test_maximal(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape shapes[2] = {make_shape(&core, box(1)), make_torus(&core, 0.5, 0.2)};
  for (int k = 0; k < 2; k++) {
    SamplingPlan plan = plan_of(0.05);
    double room = 2e-3 * plan.radius;
    Samples samples = sample(&core, &shapes[k], &plan);
    assert_true(count_gaps(&core, &shapes[k], &plan, &samples, room) > 0);
    samples_destroy(&core, &samples);
    plan.maximal = true;
    samples = sample(&core, &shapes[k], &plan);
    assert_int_equal(count_gaps(&core, &shapes[k], &plan, &samples, room), 0);
    assert_int_equal(count_room(&shapes[k], &plan, &samples, 100000, room), 0); /* walls too */
    samples_destroy(&core, &samples);
    shape_destroy(&core, &shapes[k]);
  }
  core_destroy(&core);
}

/* Spread of the counts in cells of eight radii, away from walls. */
static double count_spread(const Samples *samples, const SamplingPlan *plan, double half) {
  enum { CELLS_MAX = 12 };
  int n = (int)(half / (4 * plan->radius)), counts[CELLS_MAX][CELLS_MAX][CELLS_MAX] = {0};
  assert_in_range(n, 2, CELLS_MAX);
  for (int64_t i = 0; i < samples->count; i++) {
    int c[3];
    const float at[3] = {samples->x[i], samples->y[i], samples->z[i]};
    for (int axis = 0; axis < 3; axis++) c[axis] = (int)floor(((double)at[axis] + half) / (2 * half) * n);
    if (c[0] < 0 || c[1] < 0 || c[2] < 0 || c[0] >= n || c[1] >= n || c[2] >= n) continue;
    counts[c[2]][c[1]][c[0]]++;
  }
  double sum = 0, squares = 0, cells = (double)n * n * n;
  for (int k = 0; k < n * n * n; k++) {
    double count = counts[k / (n * n)][k / n % n][k % n];
    sum += count, squares += count * count;
  }
  return sqrt(squares * cells / (sum * sum) - 1);
}

/* Fills of many grains are cut out of copies of a tile. They must be as even and as full as those that are thrown: a
 * cell of eight radii holds 45 grains of a random start, and thrown ones differ by 0.058, dense ones by 0.038. */
static void test_tile(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape shapes[2] = {make_shape(&core, box(1)), make_torus(&core, 0.6, 0.35)};
  for (int mode = 0; mode < 4; mode++) {
    SamplingPlan plan = plan_of(0.012);
    plan.dense = mode & 1, plan.spread = mode & 2 ? 0.3 : 0;
    plan.rotation = (Quat){0.8, 0.4, 0.3, 0.2};
    Samples torus = sample(&core, &shapes[1], &plan);
    assert_true(torus.count > 30000);
    assert_true(torus.fraction > (plan.dense ? 0.54 : plan.spread > 0 ? 0.32 : 0.355));
    samples_destroy(&core, &torus);
    plan.rotation = quat_identity();
    for (plan.seed = 1; plan.seed < 4; plan.seed++) {
      Samples samples = sample(&core, &shapes[0], &plan);
      double inner = 0.5 - 5 * plan.radius, bulk = bulk_fraction(&samples, &plan, inner);
      assert_true(samples.count > 30000);
      assert_in_range((int)(1000 * bulk), plan.dense ? 590 : 350, plan.dense ? 640 : 390);
      assert_true(count_spread(&samples, &plan, inner) < (plan.spread > 0 ? 0.08 : plan.dense ? 0.043 : 0.063));
      samples_destroy(&core, &samples);
    }
  }
  for (int k = 0; k < 2; k++) shape_destroy(&core, &shapes[k]);
  core_destroy(&core);
}

static uint64_t hash_of(const Samples *samples) {
  size_t bytes = (size_t)samples->count * sizeof(float);
  uint64_t hash = hash_bytes(samples->x, bytes, 1);
  hash = hash_bytes(samples->y, bytes, hash);
  hash = hash_bytes(samples->z, bytes, hash);
  return samples->radius ? hash_bytes(samples->radius, bytes, hash) : hash;
}

static ShapePoint upper_half(void *context, Vec3 point, double radius, double reach) {
  (void)context;
  (void)reach;
  return (ShapePoint){.distance = -point.z - 1e-6 * radius, .normal = {0, 0, -1}};
}

static void test_threads(void **state) {
  (void)state;
  const int threads[] = {1, 2, 3, 8, 2};
  uint64_t expected[8] = {0};
  for (int t = 0; t < 5; t++) {
    Core core = test_core(threads[t]);
    core.baseline_simd = t == 4;
    Shape shapes[2] = {make_shape(&core, box(1)), make_torus(&core, 0.5, 0.2)};
    for (int mode = 0; mode < 8; mode++) {
      SamplingPlan plan = plan_of(mode < 4 || mode == 6 ? 0.045 : 0.013); /* these with a tile */
      plan.maximal = mode == 1, plan.dense = mode == 2 || mode == 4 || mode > 5, plan.spread = mode == 3 ? 0.3 : 0;
      plan.obstacle = mode >= 5 ? upper_half : NULL;
      plan.fraction = mode > 5 ? 0.6 : 0;
      uint64_t hash = 0;
      for (int k = 0; k < 2; k++) {
        Samples samples;
        assert_ok(&core, sample_volume(&core, &shapes[k], &plan, &samples));
        hash = hash * 31 + hash_of(&samples);
        samples_destroy(&core, &samples);
      }
      if (t == 0) expected[mode] = hash;
      assert_true(hash == expected[mode]);
    }
    for (int k = 0; k < 2; k++) shape_destroy(&core, &shapes[k]);
    core_destroy(&core);
  }
}

static void test_seeds_and_far_away(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape shape = make_shape(&core, box(1));
  SamplingPlan plan = plan_of(0.03);
  Samples here = sample(&core, &shape, &plan);
  plan.position = vec3(1000, -1000, 700);
  Samples there = sample(&core, &shape, &plan);
  assert_int_equal(here.count, there.count);
  assert_true(hash_of(&here) == hash_of(&there)); /* relative to the origin, bit for bit */
  assert_true(there.origin.x == 1000 && there.origin.y == -1000 && there.origin.z == 700);
  plan.seed++;
  Samples other = sample(&core, &shape, &plan);
  assert_true(hash_of(&other) != hash_of(&here));
  samples_destroy(&core, &here);
  samples_destroy(&core, &there);
  samples_destroy(&core, &other);
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

static void test_sizes(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape shape = make_shape(&core, box(1));
  for (int distribution = 0; distribution < 2; distribution++)
    for (int dense = 0; dense < 2; dense++) {
      SamplingPlan plan = plan_of(0.02);
      plan.spread = 0.3, plan.distribution = distribution, plan.dense = dense;
      Samples samples = sample(&core, &shape, &plan);
      double sum = 0, smallest = 1, largest = 0;
      for (int64_t i = 0; i < samples.count; i++) {
        double r = (double)samples.radius[i];
        sum += r, smallest = fmin(smallest, r), largest = fmax(largest, r);
      }
      assert_near(sum / (double)samples.count, plan.radius, 0.01 * plan.radius);
      if (distribution == SCREE_RADII_UNIFORM) {
        assert_near(smallest, 0.7 * plan.radius, 0.01 * plan.radius);
        assert_near(largest, 1.3 * plan.radius, 0.01 * plan.radius);
      }
      double bulk = bulk_fraction(&samples, &plan, 0.5 - 5 * plan.radius);
      assert_in_range((int)(1000 * bulk), dense ? 570 : 330, dense ? 640 : 400);
      samples_destroy(&core, &samples);
    }
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

static void test_blocked(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape shape = make_shape(&core, box(1));
  for (int mode = 0; mode < 5; mode++) {
    SamplingPlan plan = plan_of(mode < 3 ? 0.03 : 0.013);
    plan.obstacle = upper_half, plan.maximal = mode == 1, plan.dense = mode == 2 || mode == 4;
    Samples samples = sample(&core, &shape, &plan);
    assert_true(samples.count > (mode < 3 ? 100 : 15000));
    for (int64_t i = 0; i < samples.count; i++) assert_true((double)samples.z[i] + plan.radius <= 1e-9);
    samples_destroy(&core, &samples);
  }
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

/* The settled bulk of sand fills six tenths; the start is to be near it, and without crystals: in a face-centred or
 * hexagonal crystal the pair distances gather at sqrt(2) diameters, where a random packing has its emptiest shell. */
static void test_dense(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape shape = make_shape(&core, box(1));
  SamplingPlan plan = plan_of(0.025);
  plan.dense = true;
  Samples samples = sample(&core, &shape, &plan);
  double inner = 0.5 - 5 * plan.radius, shell_fcc = 0, shell_after = 0;
  for (int64_t i = 0; i < samples.count; i++) {
    double x = (double)samples.x[i], y = (double)samples.y[i], z = (double)samples.z[i];
    if (fmax(fabs(x), fmax(fabs(y), fabs(z))) > inner) continue;
    for (int64_t j = 0; j < samples.count; j++) {
      double dx = (double)samples.x[j] - x, dy = (double)samples.y[j] - y, dz = (double)samples.z[j] - z;
      double distance = sqrt(dx * dx + dy * dy + dz * dz) / (2 * plan.radius);
      shell_fcc += distance > 1.37 && distance < 1.46;
      shell_after += distance > 1.69 && distance < 1.78; /* sqrt(3): common to both */
    }
  }
  assert_in_range((int)(1000 * bulk_fraction(&samples, &plan, inner)), 580, 620);
  assert_true(samples.fraction > 0.55);
  assert_true(shell_fcc / (1.415 * 1.415) < 0.9 * shell_after / (1.735 * 1.735));
  samples_destroy(&core, &samples);
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

static void test_tiny(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape shape = make_shape(&core, box(1)), torus = make_torus(&core, 0.5, 0.2);
  const double radii[] = {0.51, 5, 1e6};
  for (int k = 0; k < 3; k++)
    for (int mode = 0; mode < 4; mode++) {
      SamplingPlan plan = plan_of(radii[k]);
      plan.maximal = mode & 1, plan.dense = mode & 2;
      Samples samples = sample(&core, &shape, &plan);
      assert_int_equal(samples.count, 0);
      samples_destroy(&core, &samples);
      samples = sample(&core, &torus, &plan);
      assert_int_equal(samples.count, 0);
      samples_destroy(&core, &samples);
    }
  SamplingPlan plan = plan_of(0.4); /* room for one only */
  plan.maximal = true;
  Samples samples = sample(&core, &shape, &plan);
  assert_int_equal(samples.count, 1);
  samples_destroy(&core, &samples);
  shape_destroy(&core, &shape);
  shape_destroy(&core, &torus);
  core_destroy(&core);
}

static void test_refused(void **state) {
  (void)state;
  Core core = test_core(1);
  core.memory.limit = 4000000000;
  Shape shape = make_shape(&core, box(10));
  int64_t before = core.memory.used;
  Samples samples;
  SamplingPlan plan = plan_of(0.0044); /* a billion */
  assert_int_equal(sample_volume(&core, &shape, &plan, &samples), SCREE_NO_MEMORY);
  assert_non_null(strstr(core.error.message, "grains"));
  assert_int_equal(core.memory.used, before);
  assert_null(samples.x);
  core_report(&core, SCREE_NO_MEMORY, NULL);
  plan = plan_of(NAN);
  assert_int_equal(sample_volume(&core, &shape, &plan, &samples), SCREE_BAD_ARGUMENT);
  core_report(&core, SCREE_BAD_ARGUMENT, NULL);
  plan = plan_of(-1);
  assert_int_equal(sample_volume(&core, &shape, &plan, &samples), SCREE_BAD_ARGUMENT);
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

static void test_no_memory(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape shape = make_torus(&core, 0.5, 0.2);
  int64_t before = core.memory.used;
  int refused = 0;
  for (int64_t extra = 100000; extra < 8000000; extra = extra * 3 / 2) {
    core.memory.limit = before + extra;
    for (int dense = 0; dense < 2; dense++) {
      SamplingPlan plan = plan_of(0.03);
      plan.dense = dense;
      Samples samples;
      Status status = sample_volume(&core, &shape, &plan, &samples);
      assert_true(status == SCREE_OK || status == SCREE_NO_MEMORY);
      refused += status == SCREE_NO_MEMORY;
      core_report(&core, status, NULL);
      samples_destroy(&core, &samples);
      assert_int_equal(core.memory.used, before);
    }
  }
  assert_true(refused > 0);
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

static void test_public(void **state) {
  (void)state;
  ScreeShapeDef shape = box(1);
  ScreeSampleOptions options = scree_sample_options_default(0.05);
  ScreeSamples samples;
  ScreeError error;
  assert_int_equal(scree_sample_shape(&shape, &options, &samples, &error), SCREE_OK);
  assert_true(samples.count > 400 && samples.count < 800);
  assert_near(samples.volume, 1, 1e-9);
  scree_samples_free(&samples);
  assert_null(samples.x);
  options.surface = true;
  assert_int_equal(scree_sample_shape(&shape, &options, &samples, &error), SCREE_OK);
  assert_true(samples.count > 350 && samples.count < 700);
  scree_samples_free(&samples);
  options.radius = 0;
  assert_int_equal(scree_sample_shape(&shape, &options, &samples, &error), SCREE_BAD_ARGUMENT);
  shape = scree_shape_mesh_file("no/such/mesh.obj");
  options.radius = 0.1;
  assert_int_equal(scree_sample_shape(&shape, &options, &samples, &error), SCREE_BAD_INPUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_box),    cmocka_unit_test(test_shapes),  cmocka_unit_test(test_maximal),
      cmocka_unit_test(test_tile),   cmocka_unit_test(test_threads), cmocka_unit_test(test_seeds_and_far_away),
      cmocka_unit_test(test_sizes),  cmocka_unit_test(test_blocked), cmocka_unit_test(test_dense),
      cmocka_unit_test(test_tiny),   cmocka_unit_test(test_refused), cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_public),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
