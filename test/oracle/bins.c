/* The search of the position-based methods against all pairs, whatever the points, threads and SIMD level. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/rng.h"
#include "methods/common/position_search.h"

enum { ROOM = 1 << 20, MOST = 4000 };

typedef struct Cloud {
  int64_t count;
  float x[MOST], y[MOST], z[MOST], dx[MOST], dy[MOST], dz[MOST], radius[MOST];
} Cloud;

static float uniform(uint64_t seed, int64_t i, int axis) {
  return (float)rng_unit(rng_bits(seed, (uint64_t)i, (uint64_t)axis, RNG_TEST));
}

static Cloud *cloud_box(int64_t count, uint64_t seed, float low, float size) {
  Cloud *cloud = calloc(1, sizeof *cloud);
  cloud->count = count;
  for (int64_t i = 0; i < count; i++) {
    cloud->x[i] = low + size * uniform(seed, i, 0);
    cloud->y[i] = low + size * uniform(seed, i, 1);
    cloud->z[i] = low + size * uniform(seed, i, 2);
    cloud->dx[i] = 0.01f * (uniform(seed, i, 3) - 0.5f);
    cloud->radius[i] = 0.05f;
  }
  return cloud;
}

static BinPoints cloud_points(const Cloud *c) {
  return (BinPoints){c->count, c->x, c->y, c->z, c->dx, c->dy, c->dz, c->radius};
}

/* How much nearer, or farther, than they need to be to be found two are, in reaches. */
static double excess(BinPoints a, int64_t i, BinPoints b, int64_t j, double margin, double largest) {
  double x = (double)((a.x[i] + (a.dx ? a.dx[i] : 0)) - (b.x[j] + b.dx[j]));
  double y = (double)((a.y[i] + (a.dy ? a.dy[i] : 0)) - (b.y[j] + b.dy[j]));
  double z = (double)((a.z[i] + (a.dz ? a.dz[i] : 0)) - (b.z[j] + b.dz[j]));
  return (sqrt(x * x + y * y + z * z) - (double)a.radius[i] - (double)b.radius[j] - margin) / largest;
}

/* All that are near are found, each once, and nothing that is farther by more than the rounding. */
static void check_found(const SearchJob *job, double largest, const int32_t *found, const int32_t *count, float slack) {
  uint8_t *seen = calloc((size_t)job->grains.count + 1, 1);
  const int32_t *order = search_order(job);
  for (int64_t q = 0; q < job->queries.count; q++) {
    int64_t i = order ? order[q] : q;
    for (int32_t k = 0; k < count[q]; k++) {
      assert_in_range(found[k], 0, job->grains.count - 1);
      assert_int_equal(seen[found[k]]++, 0);
    }
    for (int64_t j = 0; j < job->grains.count; j++) {
      double off = excess(job->queries, i, job->grains, j, (double)job->margin, largest);
      bool self = job->same && i == j;
      if (self || off > (double)slack) assert_int_equal(seen[j], 0);
      else if (off < -1e-6) assert_int_equal(seen[j], 1);
    }
    for (int32_t k = 0; k < count[q]; k++) seen[found[k]] = 0;
    found += count[q];
  }
  free(seen);
}

/* Finds of all queries in their order; returns how many there are. */
static int64_t search_all(Core *core, const SearchJob *job, int32_t *out, int32_t *count) {
  int64_t all = 0;
  for (int64_t b = 0; b < job->queries.count; b += SEARCH_BLOCK) {
    int64_t e = b + SEARCH_BLOCK < job->queries.count ? b + SEARCH_BLOCK : job->queries.count;
    /* Without enough room it says where it stopped. */
    assert_true(KERNEL_CALL(core, position_search_pass)(job, b, e, 160, out + all, count + b) <= e);
    assert_int_equal(KERNEL_CALL(core, position_search_pass)(job, b, e, ROOM - all, out + all, count + b), e);
    for (int64_t q = b; q < e; q++) all += count[q];
  }
  return all;
}

static void check(const Cloud *grains, const Cloud *others, bool radii, bool hashed) {
  const float margin = 0.003f, slack = hashed || radii ? 1e-6f : 2.5e-3f;
  BinPoints points = cloud_points(grains), queries = others ? cloud_points(others) : points;
  float most = 0;
  for (int64_t i = 0; i < grains->count; i++) most = fmaxf(most, grains->radius[i]);
  for (int64_t i = 0; others && i < others->count; i++) most = fmaxf(most, others->radius[i]);
  int32_t *out = malloc(ROOM * sizeof *out), *count = calloc(MOST, sizeof *count), *first = malloc(ROOM * sizeof *out);
  int64_t all_first = -1;
  for (int variant = 0; variant < 4; variant++) {
    Core core = test_core(variant / 2 ? 3 : 1);
    core.baseline_simd = variant % 2;
    Scratch scratch;
    Bins bins = {0};
    scratch_create(&scratch);
    BinPoints dealt = points;
    if (!radii) dealt.radius = NULL;
    for (int again = 0; again < 2; again++) /* the second time into the memory of the first */
      assert_ok(&core, bins_fill(&core, &scratch, dealt, 2 * most + margin, margin, &bins));
    assert_int_equal(bins.hashed, hashed);
    SearchJob job = {&bins, points, queries, others == NULL, margin};
    int64_t all = search_all(&core, &job, out, count);
    if (variant == 0) {
      check_found(&job, (double)(2 * most + margin), out, count, slack);
      all_first = all;
      memcpy(first, out, sizeof *out * (size_t)all);
    } else {
      assert_int_equal(all, all_first);
      assert_memory_equal(out, first, sizeof *out * (size_t)all);
    }
    bins_destroy(&core, &bins);
    scratch_destroy(&core, &scratch);
    core_destroy(&core);
    assert_int_equal(core.memory.used, 0);
  }
  free(out);
  free(first);
  free(count);
}

static void packed(void **state) {
  (void)state;
  for (int64_t count = 1; count < 3000; count = 5 * count + 3) {
    Cloud *cloud = cloud_box(count, 1, -0.6f, 1.2f);
    check(cloud, NULL, false, false);
    free(cloud);
  }
}

static void far_from_the_origin(void **state) {
  (void)state;
  Cloud *cloud = cloud_box(500, 2, 1000, 0.8f);
  check(cloud, NULL, false, false);
  free(cloud);
}

static void radii_differ(void **state) {
  (void)state;
  Cloud *cloud = cloud_box(1500, 3, 0, 1.2f);
  for (int64_t i = 0; i < cloud->count; i++) cloud->radius[i] = 0.02f + 0.03f * uniform(4, i, 0);
  check(cloud, NULL, true, false);
  cloud->radius[77] = 0.3f; /* one giant */
  check(cloud, NULL, true, false);
  free(cloud);
}

/* Strays, however far, and clusters that a box round all of them would be much too large for. */
static void strays(void **state) {
  (void)state;
  Cloud *cloud = cloud_box(1500, 5, 0, 0.9f);
  cloud->x[3] = 1e9f;
  cloud->y[4] = -1e9f;
  cloud->z[5] = 1e9f;
  check(cloud, NULL, false, true);
  for (int64_t i = 500; i < 1000; i++) cloud->z[i] += 700;
  for (int64_t i = 1000; i < 1500; i++) cloud->x[i] -= 1300;
  check(cloud, NULL, false, true);
  for (int64_t i = 0; i < cloud->count; i++) cloud->radius[i] = 0.02f + 0.03f * uniform(6, i, 0);
  check(cloud, NULL, true, true);
  free(cloud);
}

/* A line that is longer than the table: its bins fall together. */
static void spray(void **state) {
  (void)state;
  Cloud *cloud = cloud_box(200, 7, 0, 0.02f);
  for (int64_t i = 0; i < cloud->count; i++) cloud->x[i] += 3.2f * (float)(i / 2), cloud->z[i] += (float)(i % 4) * 40;
  check(cloud, NULL, false, true);
  free(cloud);
}

static void coincident(void **state) {
  (void)state;
  Cloud *cloud = cloud_box(300, 8, 0.3f, 0);
  check(cloud, NULL, false, false);
  free(cloud);
}

/* Places that are no points of the bins, many of them far from all. */
static void others_search(void **state) {
  (void)state;
  Cloud *cloud = cloud_box(1500, 9, 0, 1.1f), *others = cloud_box(400, 10, -1, 3);
  others->x[0] = others->y[1] = 1e30f;
  others->z[2] = -1e30f;
  check(cloud, others, false, false);
  cloud->x[9] = 1e6f;
  check(cloud, others, true, true);
  free(cloud);
  free(others);
}

/* Bins that have held other points before find what new ones find, in the same order. */
static void used_before(void **state) {
  (void)state;
  enum { CLOUDS = 9 };
  const float low[CLOUDS] = {0, -0.1f, -0.4f, -0.4f, 3, 3, 3.2f, 0, 0},
              size[CLOUDS] = {0.9f, 1, 1.4f, 1.3f, 1.2f, 0.3f, 0.2f, 30, 1};
  int32_t *out = malloc(ROOM * sizeof *out), *fresh_out = malloc(ROOM * sizeof *out);
  int32_t *count = calloc(MOST, sizeof *count), *fresh_count = calloc(MOST, sizeof *count);
  Core core = test_core(2);
  Scratch scratch;
  Bins used = {0};
  scratch_create(&scratch);
  for (int k = 0; k < CLOUDS; k++) {
    Cloud *cloud = cloud_box(1500 + 200 * (k % 3), 20 + (uint64_t)k, low[k], size[k]);
    Bins fresh = {0};
    BinPoints points = cloud_points(cloud);
    assert_ok(&core, bins_fill(&core, &scratch, points, 0.103f, 0.003f, &used));
    assert_ok(&core, bins_fill(&core, &scratch, points, 0.103f, 0.003f, &fresh));
    assert_int_equal(used.hashed, fresh.hashed);
    assert_memory_equal(used.index, fresh.index, sizeof *used.index * (size_t)cloud->count);
    SearchJob job = {&used, points, points, true, 0.003f}, fresh_job = job;
    fresh_job.bins = &fresh;
    int64_t all = search_all(&core, &job, out, count);
    assert_int_equal(all, search_all(&core, &fresh_job, fresh_out, fresh_count));
    assert_memory_equal(out, fresh_out, sizeof *out * (size_t)all);
    assert_memory_equal(count, fresh_count, sizeof *count * (size_t)cloud->count);
    bins_destroy(&core, &fresh);
    free(cloud);
  }
  bins_destroy(&core, &used);
  scratch_destroy(&core, &scratch);
  core_destroy(&core);
  free(out);
  free(fresh_out);
  free(count);
  free(fresh_count);
}

static void refused(void **state) {
  (void)state;
  Core core = test_core(2);
  Scratch scratch;
  Bins bins = {0};
  scratch_create(&scratch);
  Cloud *cloud = cloud_box(700, 11, 0, 1);
  assert_int_equal(bins_fill(&core, &scratch, cloud_points(cloud), NAN, 0, &bins), SCREE_BAD_ARGUMENT);
  cloud->dy[600] = NAN;
  assert_int_equal(bins_fill(&core, &scratch, cloud_points(cloud), 0.1f, 0, &bins), SCREE_FAILED);
  cloud->count = 0;
  core_report(&core, SCREE_OK, NULL);
  assert_ok(&core, bins_fill(&core, &scratch, cloud_points(cloud), 0.1f, 0, &bins));
  bins_destroy(&core, &bins);
  scratch_destroy(&core, &scratch);
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
  free(cloud);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(packed),        cmocka_unit_test(far_from_the_origin),
      cmocka_unit_test(radii_differ),  cmocka_unit_test(strays),
      cmocka_unit_test(spray),         cmocka_unit_test(coincident),
      cmocka_unit_test(others_search), cmocka_unit_test(used_before),
      cmocka_unit_test(refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
