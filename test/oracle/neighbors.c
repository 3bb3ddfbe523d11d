/* Neighbour lists and canonical order against brute force, whatever the points, threads and SIMD level. */
#include <stdlib.h>

#include "check.h"
#include "core/rng.h"
#include "neighbors/neighbors.h"

typedef struct Cloud {
  int64_t count;
  float *x, *y, *z, *radius;
  uint32_t *id;
} Cloud;

static Cloud cloud_new(int64_t count) {
  size_t room = (size_t)(count > 0 ? count : 1);
  /* Plain malloc, not a byte more than needed: a sanitizer then sees any load behind the end. */
  Cloud cloud = {count, malloc(room * 4), malloc(room * 4), malloc(room * 4), malloc(room * 4), malloc(room * 4)};
  for (int64_t i = 0; i < count; i++) {
    cloud.id[i] = (uint32_t)i + 1;
    cloud.radius[i] = 0.05f;
  }
  return cloud;
}

static void cloud_free(Cloud *cloud) {
  free(cloud->x);
  free(cloud->y);
  free(cloud->z);
  free(cloud->radius);
  free(cloud->id);
}

static Points cloud_points(const Cloud *cloud) {
  return (Points){cloud->count, cloud->x, cloud->y, cloud->z, cloud->id};
}

static float uniform(uint64_t seed, int64_t i, int axis) {
  return (float)rng_unit(rng_bits(seed, (uint64_t)i, (uint64_t)axis, RNG_TEST));
}

static void cloud_box(Cloud *cloud, uint64_t seed, float low, float size) {
  for (int64_t i = 0; i < cloud->count; i++) {
    cloud->x[i] = low + size * uniform(seed, i, 0);
    cloud->y[i] = low + size * uniform(seed, i, 1);
    cloud->z[i] = low + size * uniform(seed, i, 2);
  }
}

/* Cloud k = cloud order[k]. */
static Cloud cloud_permuted(const Cloud *cloud, const int32_t *order) {
  Cloud result = cloud_new(cloud->count);
  for (int64_t k = 0; k < cloud->count; k++) {
    result.x[k] = cloud->x[order[k]];
    result.y[k] = cloud->y[order[k]];
    result.z[k] = cloud->z[order[k]];
    result.radius[k] = cloud->radius[order[k]];
    result.id[k] = cloud->id[order[k]];
  }
  return result;
}

static Cloud cloud_shuffled(const Cloud *cloud, uint64_t seed) {
  int32_t *order = malloc((size_t)(cloud->count + 1) * sizeof *order);
  for (int64_t i = 0; i < cloud->count; i++) order[i] = (int32_t)i;
  for (int64_t i = cloud->count - 1; i > 0; i--) {
    int64_t k = (int64_t)(rng_bits(seed, (uint64_t)i, 9, RNG_TEST) % (uint64_t)(i + 1));
    int32_t swap = order[i];
    order[i] = order[k];
    order[k] = swap;
  }
  Cloud result = cloud_permuted(cloud, order);
  free(order);
  return result;
}

static Core core_with(int threads, bool baseline) {
  Core core = test_core(threads);
  core.baseline_simd = baseline;
  return core;
}

static void assert_lists_equal(const NeighborList *list, const NeighborList *expected) {
  assert_int_equal(list->count, expected->count);
  assert_int_equal(list->entries, expected->entries);
  for (int64_t i = 0; i <= list->count; i++) assert_int_equal(list->start[i], expected->start[i]);
  for (int64_t k = 0; k < list->entries; k++) assert_int_equal(list->index[k], expected->index[k]);
}

static const int thread_counts[] = {1, 2, 3, 8};

/* The lists of queries among targets, for all threads and both SIMD levels, from cells in order and hashed ones. */
static void check_lists(const Cloud *queries, const Cloud *targets, float cell, float reach, bool radii) {
  const float *query_radius = radii ? queries->radius : NULL, *target_radius = radii ? targets->radius : NULL;
  Core plain = core_with(1, true);
  NeighborList expected = {0};
  assert_ok(&plain, neighbor_list_brute_force(&plain, cloud_points(queries), cloud_points(targets), reach, query_radius,
                                              target_radius, &expected));
  for (int variant = 0; variant < 8; variant++) {
    Core core = core_with(thread_counts[variant / 2], variant % 2);
    CellGrid *grid = NULL;
    NeighborList list = {0};
    assert_ok(&core, cell_grid_create(&core, &grid));
    for (int hashed = 0; hashed < 2; hashed++) { /* the second time into the memory of the first */
      assert_ok(&core, hashed ? cell_grid_hash(&core, grid, cloud_points(targets), cell)
                              : cell_grid_build(&core, grid, cloud_points(targets), cell));
      assert_ok(&core, neighbor_list_build(&core, grid, cloud_points(queries), cloud_points(targets), reach,
                                           query_radius, target_radius, &list));
      assert_lists_equal(&list, &expected);
    }
    neighbor_list_destroy(&core, &list);
    cell_grid_destroy(&core, grid);
    core_destroy(&core);
    assert_int_equal(core.memory.used, 0);
  }
  neighbor_list_destroy(&plain, &expected);
  core_destroy(&plain);
}

static int32_t *canonical_order(Core *core, const Cloud *cloud, float cell) {
  CellGrid *grid = NULL;
  int32_t *order = malloc((size_t)(cloud->count + 1) * sizeof *order);
  assert_ok(core, cell_grid_create(core, &grid));
  assert_ok(core, cell_grid_order(core, grid, NULL, cloud_points(cloud), cell, order));
  cell_grid_destroy(core, grid);
  return order;
}

/* The order is a permutation, by cell then id, and the same ids come out whatever the storage and the threads. */
static Cloud check_order(const Cloud *cloud, float cell) {
  Core core = core_with(1, true);
  int32_t *order = canonical_order(&core, cloud, cell);
  core_destroy(&core);
  uint8_t *seen = calloc((size_t)cloud->count + 1, 1);
  for (int64_t k = 0; k < cloud->count; k++) {
    assert_in_range(order[k], 0, cloud->count - 1);
    assert_int_equal(seen[order[k]]++, 0);
  }
  free(seen);
  Cloud sorted = cloud_permuted(cloud, order);
  free(order);
  for (int variant = 0; variant < 8; variant++) {
    core = core_with(thread_counts[variant / 2], variant % 2);
    Cloud shuffled = cloud_shuffled(cloud, (uint64_t)variant);
    order = canonical_order(&core, &shuffled, cell);
    for (int64_t k = 0; k < cloud->count; k++) assert_int_equal(shuffled.id[order[k]], sorted.id[k]);
    free(order);
    cloud_free(&shuffled);
    core_destroy(&core);
  }
  return sorted;
}

/* Every point is in exactly one cell, the one that its coordinate says, cells of a row ascend, ids ascend in a cell,
 * and the ranges around a cell hold all points of the 27 cells and no others. */
static void check_cells(const Cloud *sorted, float cell) {
  Core core = core_with(2, false);
  CellGrid *grid = NULL;
  assert_ok(&core, cell_grid_create(&core, &grid));
  assert_ok(&core, cell_grid_build(&core, grid, cloud_points(sorted), cell));
  int32_t(*where)[3] = malloc((size_t)(sorted->count + 1) * sizeof *where);
  int64_t expected = 0;
  for (int64_t c = 0; c < cell_grid_cells(grid); c++) {
    int64_t begin, end;
    int32_t coordinate[3];
    cell_grid_cell(grid, c, &begin, &end, coordinate);
    assert_int_equal(begin, expected);
    expected = end;
    for (int64_t k = begin; k < end; k++) {
      assert_int_equal(cell_grid_index(grid)[k], k);
      cell_grid_coordinate(grid, sorted->x[k], sorted->y[k], sorted->z[k], where[k]);
      assert_memory_equal(where[k], coordinate, sizeof coordinate);
      if (k > begin) assert_true(sorted->id[k] > sorted->id[k - 1]);
    }
  }
  assert_int_equal(expected, sorted->count);
  for (int64_t k = 0; k < sorted->count; k += 1 + sorted->count / 300) {
    int64_t ranges[CELL_RANGES_MAX][2];
    int count = cell_grid_around(grid, where[k], ranges), r = 0;
    for (int64_t j = 0; j < sorted->count; j++) {
      bool near = true;
      for (int axis = 0; axis < 3; axis++) near &= abs(where[j][axis] - where[k][axis]) <= 1;
      while (r < count && ranges[r][1] <= j) r++;
      assert_int_equal(near, r < count && ranges[r][0] <= j);
    }
  }
  free(where);
  cell_grid_destroy(&core, grid);
  core_destroy(&core);
}

static void check_cloud(const Cloud *cloud, float cell, float reach, bool radii) {
  check_lists(cloud, cloud, cell, reach, radii);
  Cloud sorted = check_order(cloud, cell);
  check_lists(&sorted, &sorted, cell, reach, radii);
  check_lists(cloud, &sorted, cell, reach, radii);
  check_cells(&sorted, cell);
  cloud_free(&sorted);
}

static void random_points(void **state) {
  (void)state;
  const int64_t counts[] = {0, 1, 2, 3, 7, 8, 9, 100, 3000};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    Cloud cloud = cloud_new(counts[k]);
    float size = 0.1f * cbrtf((float)(counts[k] + 1));
    cloud_box(&cloud, k, -0.4f * size, size);
    check_cloud(&cloud, 0.15f, 0.15f, false);
    check_cloud(&cloud, 0.35f, 0.2f, false);
    cloud_free(&cloud);
  }
}

static void many_random_points(void **state) {
  (void)state;
  /* More than one wave and several chunks of everything; too many for brute force, so against one thread. */
  Cloud cloud = cloud_new(150000);
  cloud_box(&cloud, 3, -2, 5.0f);
  Cloud sorted = check_order(&cloud, 0.15f);
  NeighborList first = {0};
  Core one = core_with(1, true);
  for (int variant = 0; variant < 8; variant++) {
    Core core = core_with(thread_counts[variant / 2], !(variant % 2));
    CellGrid *grid = NULL;
    NeighborList list = {0};
    assert_ok(&core, cell_grid_create(&core, &grid));
    assert_ok(&core, cell_grid_build(&core, grid, cloud_points(&sorted), 0.15f));
    assert_ok(&core, neighbor_list_build(&core, grid, cloud_points(&sorted), cloud_points(&sorted), 0.15f, NULL, NULL,
                                         variant == 0 ? &first : &list));
    if (variant > 0) assert_lists_equal(&list, &first);
    neighbor_list_destroy(&core, &list);
    cell_grid_destroy(&core, grid);
    core_destroy(&core);
  }
  assert_true(first.entries > 10 * first.count);
  neighbor_list_destroy(&one, &first);
  core_destroy(&one);
  cloud_free(&sorted);
  cloud_free(&cloud);
}

static void clusters(void **state) {
  (void)state;
  Cloud cloud = cloud_new(2500);
  for (int64_t i = 0; i < cloud.count; i++) {
    float spread = 0.02f + 0.1f * uniform(4, i % 9, 3);
    cloud.x[i] = 3 * uniform(1, i % 9, 0) + spread * uniform(2, i, 0);
    cloud.y[i] = -2 * uniform(1, i % 9, 1) + spread * uniform(2, i, 1);
    cloud.z[i] = 300 * uniform(1, i % 9, 2) + spread * uniform(2, i, 2);
  }
  check_cloud(&cloud, 0.05f, 0.05f, false);
  cloud_free(&cloud);
}

static void coincident(void **state) {
  (void)state;
  Cloud cloud = cloud_new(1000);
  for (int64_t i = 0; i < cloud.count; i++) cloud.x[i] = cloud.y[i] = cloud.z[i] = -0.1f;
  check_cloud(&cloud, 0.1f, 0.1f, false);
  check_cloud(&cloud, 0.1f, 0.f, false);
  cloud_free(&cloud);
}

static void on_a_lattice(void **state) {
  (void)state;
  /* Distances equal to the reach and points on the borders of cells: rounding decides, and must decide alike. */
  Cloud cloud = cloud_new(12 * 12 * 12);
  for (int64_t i = 0; i < cloud.count; i++) {
    cloud.x[i] = 0.1f * (float)(i % 12 - 6);
    cloud.y[i] = 0.1f * (float)(i / 12 % 12 - 6);
    cloud.z[i] = 0.1f * (float)(i / 144 - 6);
  }
  check_cloud(&cloud, 0.1f, 0.1f, false);
  check_cloud(&cloud, 0.2f, 0.2f, false);
  for (int64_t i = 0; i < cloud.count; i++) cloud.x[i] += 7e4f;
  check_cloud(&cloud, 0.1f, 0.1f, false);
  cloud_free(&cloud);
}

static void polydisperse(void **state) {
  (void)state;
  Cloud cloud = cloud_new(2500), other = cloud_new(700);
  cloud_box(&cloud, 1, -0.7f, 1.3f);
  cloud_box(&other, 2, -0.9f, 1.3f);
  for (int64_t i = 0; i < cloud.count; i++) cloud.radius[i] = 0.02f + 0.05f * uniform(5, i, 0);
  for (int64_t i = 0; i < other.count; i++) other.radius[i] = 0.07f * uniform(6, i, 0);
  check_cloud(&cloud, 0.16f, 1.1f, true);
  check_lists(&cloud, &other, 0.16f, 1.1f, true);
  check_lists(&other, &cloud, 0.16f, 1.1f, true);
  cloud_free(&cloud);
  cloud_free(&other);
}

static void two_sets(void **state) {
  (void)state;
  Cloud cloud = cloud_new(2000), other = cloud_new(1111), none = cloud_new(0);
  cloud_box(&cloud, 1, -0.7f, 1.3f);
  cloud_box(&other, 2, -0.2f, 2.3f);
  check_lists(&cloud, &other, 0.2f, 0.2f, false);
  check_lists(&other, &cloud, 0.2f, 0.1f, false);
  check_lists(&none, &cloud, 0.2f, 0.1f, false);
  check_lists(&cloud, &none, 0.2f, 0.1f, false);
  Cloud copy = cloud_shuffled(&cloud, 5); /* other arrays: a point at the same place is a neighbour */
  check_lists(&cloud, &copy, 0.2f, 0.2f, false);
  cloud_free(&copy);
  cloud_free(&cloud);
  cloud_free(&other);
  cloud_free(&none);
}

static void strays(void **state) {
  (void)state;
  Cloud cloud = cloud_new(2000);
  cloud_box(&cloud, 1, -0.5f, 1.f);
  for (int64_t i = 0; i < 40; i += 2) { /* pairs, up to a million cells away and far beyond */
    float far = i < 20 ? 1e5f : i < 30 ? 1e9f : 1e30f;
    for (int64_t k = i; k < i + 2; k++) {
      cloud.x[k] = far * (uniform(8, i, 0) - 0.5f);
      cloud.y[k] = far * (uniform(8, i, 1) - 0.5f);
      cloud.z[k] = far * (uniform(8, i, 2) - 0.5f);
    }
    cloud.z[i] = nextafterf(cloud.z[i], 0);
  }
  check_cloud(&cloud, 0.1f, 0.1f, false);
  cloud_free(&cloud);
}

static void spray(void **state) {
  (void)state;
  Cloud cloud = cloud_new(3000);
  cloud_box(&cloud, 1, -500.f, 1000.f);
  for (int64_t i = 0; i < 1500; i++) {
    cloud.x[i] *= 1e-3f;
    cloud.y[i] *= 1e-3f;
    cloud.z[i] *= 1e-3f;
  }
  check_cloud(&cloud, 0.1f, 0.1f, false);
  cloud_free(&cloud);
}

static void strays_leave_the_order_alone(void **state) {
  (void)state;
  /* A stray changes how the points are sorted inside; the others must come out as without it. Dense clusters give cells
   * with hundreds of points. */
  Cloud cloud = cloud_new(60000);
  cloud_box(&cloud, 7, -1.5f, 3.f);
  for (int64_t i = 0; i < cloud.count; i += 3) {
    cloud.x[i] = 0.2f + 0.1f * cloud.x[i];
    cloud.y[i] *= 0.02f;
    cloud.z[i] *= 0.02f;
  }
  const int64_t stray = 54321;
  Cloud sorted = check_order(&cloud, 0.1f);
  cloud.x[stray] = -4e4f;
  cloud.y[stray] = 9e4f;
  Cloud with_stray = check_order(&cloud, 0.1f);
  for (int64_t k = 0, other = 0; k < cloud.count; k++) {
    if (sorted.id[k] == cloud.id[stray]) continue;
    if (with_stray.id[other] == cloud.id[stray]) other++;
    assert_int_equal(sorted.id[k], with_stray.id[other++]);
  }
  check_cells(&with_stray, 0.1f);
  cloud_free(&with_stray);
  cloud_free(&sorted);
  cloud_free(&cloud);
}

static void bad_arguments(void **state) {
  (void)state;
  Core core = core_with(2, false);
  CellGrid *grid = NULL;
  NeighborList list = {0};
  Cloud cloud = cloud_new(500);
  int32_t order[500];
  assert_ok(&core, cell_grid_create(&core, &grid));
  const float wrong[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 9; k++) {
    cloud_box(&cloud, 1, -0.5f, 1.f);
    Points points = cloud_points(&cloud);
    assert_ok(&core, cell_grid_build(&core, grid, points, 0.1f));
    (k % 3 == 0 ? cloud.x : k % 3 == 1 ? cloud.y : cloud.z)[257] = wrong[k / 3];
    Cloud copy = cloud_shuffled(&cloud, 0);
    assert_int_equal(neighbor_list_build(&core, grid, cloud_points(&copy), points, 0.1f, NULL, NULL, &list),
                     SCREE_FAILED);
    cloud_free(&copy);
    core_report(&core, SCREE_OK, NULL);
    assert_int_equal(cell_grid_order(&core, grid, NULL, points, 0.1f, order), SCREE_FAILED);
    assert_non_null(strstr(core.error.message, "258"));
    core_report(&core, SCREE_OK, NULL);
    assert_int_equal(cell_grid_build(&core, grid, points, 0.1f), SCREE_FAILED);
    core_report(&core, SCREE_OK, NULL);
    assert_int_equal(cell_grid_cells(grid), 0);
  }
  cloud_box(&cloud, 1, -0.5f, 1.f);
  Points points = cloud_points(&cloud), many = points;
  const float cells[] = {0, -1, NAN, INFINITY};
  for (int k = 0; k < 4; k++) assert_int_equal(cell_grid_build(&core, grid, points, cells[k]), SCREE_BAD_ARGUMENT);
  many.count = (int64_t)1 << 31;
  assert_int_equal(cell_grid_order(&core, grid, NULL, many, 0.1f, order), SCREE_BAD_ARGUMENT);
  core_report(&core, SCREE_OK, NULL);
  assert_ok(&core, cell_grid_build(&core, grid, points, 0.1f));
  assert_int_equal(neighbor_list_build(&core, grid, points, points, 0.11f, NULL, NULL, &list), SCREE_BAD_ARGUMENT);
  assert_int_equal(neighbor_list_build(&core, grid, points, points, NAN, NULL, NULL, &list), SCREE_BAD_ARGUMENT);
  assert_int_equal(neighbor_list_build(&core, grid, points, points, 1.01f, cloud.radius, cloud.radius, &list),
                   SCREE_BAD_ARGUMENT);
  assert_int_equal(neighbor_list_build(&core, grid, points, points, 1, cloud.radius, NULL, &list), SCREE_BAD_ARGUMENT);
  core_report(&core, SCREE_OK, NULL);
  /* Too many neighbours for the memory there is. */
  for (int64_t i = 0; i < cloud.count; i++) cloud.x[i] = cloud.y[i] = cloud.z[i] = 0;
  assert_ok(&core, cell_grid_build(&core, grid, points, 0.1f));
  core.memory.limit = core.memory.used + 200000;
  assert_int_equal(neighbor_list_build(&core, grid, points, points, 0.1f, NULL, NULL, &list), SCREE_NO_MEMORY);
  assert_int_equal(list.entries, 0);
  neighbor_list_destroy(&core, &list);
  cell_grid_destroy(&core, grid);
  cloud_free(&cloud);
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_points), cmocka_unit_test(many_random_points),
      cmocka_unit_test(clusters),      cmocka_unit_test(coincident),
      cmocka_unit_test(on_a_lattice),  cmocka_unit_test(polydisperse),
      cmocka_unit_test(two_sets),      cmocka_unit_test(strays),
      cmocka_unit_test(spray),         cmocka_unit_test(strays_leave_the_order_alone),
      cmocka_unit_test(bad_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
