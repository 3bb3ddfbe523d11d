/* core/: memory, scratch, threads, vectors, random numbers. */
#define _GNU_SOURCE
#include <sched.h>

#include "check.h"
#include "core/archive.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/scratch.h"
#include "core/simd.h"
#include "core/vec.h"

static void memory_counts_and_refuses(void **state) {
  (void)state;
  ScreeWorldOptions options = {.threads = 1, .memory_limit = 1 << 20};
  Core core;
  assert_int_equal(core_create(&core, &options), SCREE_OK);
  int64_t before = core.memory.used;
  float *block = NULL;
  assert_int_equal(memory_new(&core, &block, 1000, "test"), SCREE_OK);
  assert_int_equal((uintptr_t)block % MEMORY_ALIGNMENT, 0);
  assert_true(core.memory.used > before);
  block[999] = 7;
  assert_int_equal(memory_grow(&core, &block, 5000, "test"), SCREE_OK);
  assert_true(block[999] == 7 && block[4999] == 0);
  memory_drop(&core, &block);
  assert_int_equal(core.memory.used, before);
  assert_int_equal(memory_new(&core, &block, 1 << 20, "too large"), SCREE_NO_MEMORY);
  assert_non_null(strstr(core.error.message, "too large"));
  assert_null(block);
  assert_null(memory_get(&core.memory, INT64_MAX / 2, 8, "overflow"));
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

static void scratch_is_a_stack(void **state) {
  (void)state;
  Core core = test_core(1);
  Scratch scratch;
  scratch_create(&scratch);
  for (int step = 0; step < 3; step++) {
    int mark = scratch_mark(&scratch);
    float *a = NULL, *b = NULL;
    assert_ok(&core, scratch_take(&core, &scratch, &a, 100, "a"));
    assert_ok(&core, scratch_take(&core, &scratch, &b, 1000, "b"));
    assert_true(b >= a + 100 || a >= b + 1000);
    memset(a, 1, 400);
    memset(b, 2, 4000);
    if (step > 0) assert_true((char *)a == scratch.slab);
    int64_t top = scratch.top, *c = NULL;
    scratch_shrink(&scratch, b, 10);
    assert_ok(&core, scratch_take(&core, &scratch, &c, 1, "c"));
    if (step > 0) assert_true(scratch.top < top && (char *)c >= (char *)(b + 10));
    scratch_release(&core, &scratch, mark);
    assert_int_equal(scratch.top, 0);
  }
  scratch_destroy(&core, &scratch);
  core_destroy(&core);
}

static double add_reciprocals(void *context, int64_t b, int64_t e) {
  (void)context;
  double sum = 0;
  for (int64_t i = b; i < e; i++) sum += 1.0 / (double)(i + 1);
  return sum;
}

static void mark_range(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  for (int64_t i = b; i < e; i++) ((uint8_t *)context)[i]++;
}

static void threads_do_not_change_sums(void **state) {
  (void)state;
  double first = 0;
  for (int threads = 1; threads <= 8; threads = threads * 2 + (threads == 2 ? -1 : 0)) {
    Core core = test_core(threads);
    uint8_t *seen = NULL;
    assert_ok(&core, memory_new(&core, &seen, 100000, "seen"));
    parallel_for(&core, 0, 100000, 97, mark_range, seen);
    for (int i = 0; i < 100000; i++) assert_int_equal(seen[i], 1);
    /* Short loops in a row: threads come late, finish early and take from each other. */
    memset(seen, 0, 100);
    for (int size = 1; size <= 100; size++) parallel_for(&core, 0, size, 1, mark_range, seen);
    for (int i = 0; i < 100; i++) assert_int_equal(seen[i], 100 - i);
    memory_drop(&core, &seen);
    double sum = parallel_sum(&core, 0, 1000003, 1000, add_reciprocals, NULL);
    if (threads == 1) first = sum;
    assert_memory_equal(&sum, &first, sizeof sum);
    core_destroy(&core);
  }
}

static double square_or_nan(void *context, int64_t b, int64_t e) {
  const int64_t *bad = context;
  return b <= *bad && *bad < e ? (double)NAN : (double)(e * e);
}

/* A NaN means that something blew up: the largest number must not hide it, wherever it is. */
static void largest_is_nan_where_one_is(void **state) {
  (void)state;
  for (int threads = 1; threads <= 2; threads++) {
    Core core = test_core(threads);
    for (int64_t chunks = 3; chunks <= 3000; chunks *= 10)
      for (int64_t at = -1; at < 3; at++) {
        int64_t bad = at < 0 ? -1 : at * (chunks - 1) / 2;
        double largest = parallel_max(&core, 0, chunks, 1, 0, square_or_nan, &bad);
        if (at < 0) assert_true(largest == (double)(chunks * chunks));
        else assert_true(isnan(largest));
      }
    core_destroy(&core);
  }
}

/* What a loop is about lives on the stack of who calls it: a thread that comes late must not look at it. */
typedef struct Tallies {
  _Atomic int64_t sum, calls;
} Tallies;

static void tally_range(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Tallies *tallies = context;
  for (int64_t i = b; i < e; i++) tallies->sum += i;
  tallies->calls++;
}

static void tally_loop(Core *core, const ParallelShares *shares, int64_t count, int64_t grain) {
  Tallies tallies = {0};
  parallel_for_shares(core, shares, 0, count, grain, tally_range, &tallies);
  assert_int_equal(tallies.sum, count * (count - 1) / 2);
  assert_int_equal(tallies.calls, parallel_chunks(0, count, grain));
}

static void loops_without_end(void **state) {
  (void)state;
  for (int threads = 2; threads <= 5; threads++) { /* more of them than cores, too: these sleep after every loop */
    Core core = test_core(threads);
    for (int k = 0; k < 3000; k++) tally_loop(&core, NULL, k % 61, 1 + k % 3);
    tally_loop(&core, NULL, 300007, 1); /* more chunks than are dealt at a time */
    core_destroy(&core);
  }
}

/* Shares of any size: nothing, one has all, and by turns with loops of equal ones. */
static void shares_divide_loops(void **state) {
  (void)state;
  for (int threads = 1; threads <= 5; threads++) {
    Core core = test_core(threads);
    for (int k = 0; k < 1500; k++) {
      ParallelShares shares = {.whole = 1 + k % 97};
      for (int t = 1; t < threads; t++) {
        int64_t left = shares.whole - shares.begin[t - 1];
        shares.begin[t] =
            shares.begin[t - 1] + (int64_t)(rng_bits(3, (uint64_t)k, (uint64_t)t, 0) % (uint64_t)(left + 1));
      }
      shares.begin[threads] = shares.whole;
      tally_loop(&core, k % 5 == 0 ? NULL : &shares, k % 61, 1 + k % 3);
    }
    ParallelShares first = {.whole = 1};
    for (int t = 1; t <= threads; t++) first.begin[t] = 1;
    tally_loop(&core, &first, 300007, 1); /* more chunks than are dealt at a time, all to one */
    core_destroy(&core);
  }
}

/* A process that is kept to one core, as by taskset or in a container, has one thread unless told otherwise. */
static void threads_are_no_more_than_the_process_may_use(void **state) {
  (void)state;
  cpu_set_t before, one;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  Core core = test_core(0);
  assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
  assert_int_equal(pool_threads(core.pool), 1);
  core_destroy(&core);
  core = test_core(0);
  assert_int_equal(pool_threads(core.pool), CPU_COUNT(&before));
  core_destroy(&core);
}

static void eigenvectors_of_symmetric_matrices(void **state) {
  (void)state;
  Mat3 a = {{{4, 1, -2}, {1, 3, 0.5}, {-2, 0.5, 5}}};
  double values[3];
  Mat3 v;
  mat3_eigen_symmetric(a, values, &v);
  assert_true(values[0] <= values[1] && values[1] <= values[2]);
  for (int k = 0; k < 3; k++) {
    Vec3 e = vec3(v.m[0][k], v.m[1][k], v.m[2][k]);
    Vec3 r = vec3_sub(mat3_apply(&a, e), vec3_scale(e, values[k]));
    assert_near(vec3_length(r), 0, 1e-12);
    assert_near(vec3_length(e), 1, 1e-12);
  }
}

static double angle_between(Quat a, Quat b) { return vec3_length(quat_to_vector(quat_mul(quat_conjugate(a), b))); }

static Mat3 diagonal(double x, double y, double z) { return (Mat3){{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}; }

/* R V D V^T, whose rotation is R where no two of D cancel. */
static Mat3 turned_stretch(Quat turn, Quat axes, Mat3 stretch) {
  Mat3 v = mat3_from_quat(axes);
  return mat3_mul(mat3_from_quat(turn), mat3_mul(v, mat3_mul(stretch, mat3_transpose(v))));
}

static Vec3 random_vector(uint64_t number, double length) {
  double x[3];
  for (int k = 0; k < 3; k++) x[k] = 2 * rng_unit(rng_bits(7, number, (uint64_t)k, 0)) - 1;
  return vec3_scale(vec3(x[0], x[1], x[2]), length);
}

static void polar_rotation_is_exact(void **state) {
  (void)state;
  const double sizes[] = {1e-250, 1e-20, 1, 1e20, 1e250};
  for (uint64_t n = 0; n < 4000; n++) {
    Quat turn = quat_from_vector(random_vector(4 * n, 1.6)), axes = quat_from_vector(random_vector(4 * n + 1, 3));
    Vec3 d = random_vector(4 * n + 2, 1);
    Mat3 stretch = diagonal(0.05 + fabs(d.x), 0.05 + fabs(d.y), n % 3 == 0 ? 0 : 0.05 + fabs(d.z));
    Mat3 a = mat3_scale(turned_stretch(turn, axes, stretch), sizes[n % 5]);
    /* from close by, as bodies do it from one iteration to the next, and from far away */
    double away = n % 2 == 0 ? 1e-3 : 1.5;
    Quat start = quat_mul(quat_from_vector(random_vector(4 * n + 3, away)), turn);
    assert_near(angle_between(turn, mat3_polar_rotation(a, start)), 0, 2e-14);
  }
}

/* The same rotation whatever it starts from. */
static void polar_rotation_of_a_reflection(void **state) {
  (void)state;
  Quat turn = quat_from_vector(vec3(0.3, -1.1, 0.7));
  Mat3 mirrored = mat3_mul(mat3_from_quat(turn), diagonal(2, 1, -0.25));
  for (uint64_t n = 0; n < 200; n++) {
    Quat start = quat_mul(quat_from_vector(random_vector(n, 1)), turn);
    assert_near(angle_between(turn, mat3_polar_rotation(mirrored, start)), 0, 2e-14);
  }
}

/* Where many rotations are as near, one of them comes out, close to the start; where none is, the start. */
static void polar_rotation_of_what_has_none(void **state) {
  (void)state;
  Quat turn = quat_from_vector(vec3(0.3, -1.1, 0.7)), start = quat_mul(quat_from_vector(vec3(0.1, 0, 0.2)), turn);
  Mat3 line = mat3_mul(mat3_from_quat(turn), diagonal(1, 0, 0));
  Quat found = mat3_polar_rotation(line, start);
  assert_near(vec3_length(vec3_sub(quat_rotate(found, vec3(1, 0, 0)), quat_rotate(turn, vec3(1, 0, 0)))), 0, 1e-12);
  assert_true(angle_between(start, found) < 0.3);
  found = mat3_polar_rotation(mat3_scale(mat3_identity(), -1), quat_identity());
  assert_near(found.w * found.w + found.x * found.x + found.y * found.y + found.z * found.z, 1, 1e-12);
  const double odd[] = {NAN, INFINITY, -INFINITY, 0};
  for (int k = 0; k < 4 * 9; k++) {
    Mat3 a = {{{0}}};
    if (odd[k / 9] != 0) a = mat3_from_quat(turn);
    a.m[k % 3][k / 3 % 3] = odd[k / 9];
    assert_near(angle_between(start, mat3_polar_rotation(a, start)), 0, 1e-15);
  }
  Quat none = {0, 0, 0, 0}; /* as a start: the identity */
  assert_near(angle_between(turn, mat3_polar_rotation(mat3_from_quat(turn), none)), 0, 2e-14);
}

static void quaternions_turn_and_interpolate(void **state) {
  (void)state;
  Quat quarter = quat_from_vector(vec3(0, 0, M_PI / 2));
  Vec3 y = quat_rotate(quarter, vec3(1, 0, 0));
  assert_near(y.x, 0, 1e-15);
  assert_near(y.y, 1, 1e-15);
  Quat half = quat_slerp(quat_identity(), quarter, 0.5);
  assert_near(vec3_length(vec3_sub(quat_to_vector(half), vec3(0, 0, M_PI / 4))), 0, 1e-12);
  Quat back = quat_from_mat3(mat3_from_quat(quarter));
  assert_near(fabs(back.w * quarter.w + back.z * quarter.z), 1, 1e-12);
  Mat3 inverse;
  assert_false(mat3_invert(mat3_outer(vec3(1, 2, 3), vec3(1, 2, 3)), &inverse));
}

static void random_numbers_are_even(void **state) {
  (void)state;
  double mean = 0, square = 0;
  int n = 100000;
  for (int i = 0; i < n; i++) {
    double u = rng_unit(rng_bits(42, (uint64_t)i, 7, RNG_TEST));
    assert_true(u >= 0 && u < 1);
    mean += u / n;
    square += u * u / n;
  }
  assert_near(mean, 0.5, 0.005);
  assert_near(square - mean * mean, 1.0 / 12, 0.002);
  assert_true(rng_bits(1, 2, 3, RNG_TEST) != rng_bits(1, 3, 2, RNG_TEST));
}

static void archives_go_both_ways(void **state) {
  (void)state;
  Core core = test_core(1);
  Archive out;
  archive_save(&out);
  double value = 3.25;
  int64_t count = 3;
  float list[3] = {1, 2, 3};
  assert_ok(&core, archive_section(&core, &out, "numbers"));
  assert_ok(&core, archive_value(&core, &out, &value));
  assert_ok(&core, archive_count(&core, &out, &count, sizeof(float)));
  assert_ok(&core, archive_array(&core, &out, list, count));
  for (int64_t size = 0; size <= out.size; size++) {
    Archive in;
    archive_load(&in, "test", out.data, size);
    double v = 0;
    int64_t n = 0;
    float l[3];
    Status s = archive_section(&core, &in, "numbers");
    if (s == SCREE_OK) s = archive_value(&core, &in, &v);
    if (s == SCREE_OK) s = archive_count(&core, &in, &n, sizeof(float));
    if (s == SCREE_OK) s = archive_array(&core, &in, l, n);
    assert_int_equal(s, size == out.size ? SCREE_OK : SCREE_BAD_INPUT);
    core_report(&core, s, NULL);
  }
  archive_destroy(&core, &out);
  core_destroy(&core);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_counts_and_refuses),
      cmocka_unit_test(scratch_is_a_stack),
      cmocka_unit_test(threads_do_not_change_sums),
      cmocka_unit_test(largest_is_nan_where_one_is),
      cmocka_unit_test(loops_without_end),
      cmocka_unit_test(shares_divide_loops),
      cmocka_unit_test(threads_are_no_more_than_the_process_may_use),
      cmocka_unit_test(eigenvectors_of_symmetric_matrices),
      cmocka_unit_test(polar_rotation_is_exact),
      cmocka_unit_test(polar_rotation_of_a_reflection),
      cmocka_unit_test(polar_rotation_of_what_has_none),
      cmocka_unit_test(quaternions_turn_and_interpolate),
      cmocka_unit_test(random_numbers_are_even),
      cmocka_unit_test(archives_go_both_ways),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
