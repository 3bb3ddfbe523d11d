/* The solver of pressure and friction against a dense one: projected Gauss-Seidel in double, run until nothing moves.
 */
#include <stdlib.h>

#include "check.h"
#include "core/rng.h"
#include "core/simd.h"
#include "methods/flip/stress/mprgp.h"

enum { SIZE = 64, CASES = 40 };

typedef struct Dense {
  double a[SIZE][SIZE];
} Dense;

static double random_at(int which, int k) { return rng_unit(rng_bits(7, (uint64_t)which, (uint64_t)k, RNG_TEST)); }

/* The graph of a 4 x 4 x 4 grid with random coefficients, as the pressure has it; some cells are open to the air. */
static void make(Dense *dense, int which) {
  memset(dense, 0, sizeof *dense);
  for (int i = 0; i < SIZE; i++) {
    const int step[3] = {1, 4, 16};
    for (int axis = 0; axis < 3; axis++) {
      if (i / step[axis] % 4 == 3) continue;
      int j = i + step[axis];
      double k = 0.2 + random_at(which, 3 * i + axis);
      dense->a[i][i] += k;
      dense->a[j][j] += k;
      dense->a[i][j] -= k;
      dense->a[j][i] -= k;
    }
    if (i >= 48) dense->a[i][i] += 1;
  }
}

static void apply(void *context, const float *x, float *y, int64_t b, int64_t e) {
  const Dense *dense = context;
  for (int64_t i = b * LANES; i < e * LANES; i++) {
    double sum = 0;
    for (int j = 0; j < SIZE; j++) sum += dense->a[i][j] * (double)x[j];
    y[i] = (float)sum;
  }
}

/* Jacobi's preconditioner on the free elements. */
static void precondition(void *context, int half, const float *from, const uint8_t *free, float *to, int64_t b,
                         int64_t e) {
  const Dense *dense = context;
  for (int64_t i = b * LANES; i < e * LANES; i++) {
    bool taken = free[i / LANES] >> i % LANES & 1;
    to[i] = taken ? from[i] / (half == 0 ? (float)dense->a[i][i] : 1) : 0;
  }
}

static void reference(const Dense *dense, const float *b, const float *lower, const float *upper, double *x) {
  memset(x, 0, sizeof(double) * SIZE);
  for (int turn = 0; turn < 20000; turn++) {
    double moved = 0;
    for (int i = 0; i < SIZE; i++) {
      double g = (double)b[i];
      for (int j = 0; j < SIZE; j++) g += dense->a[i][j] * x[j];
      double to = x[i] - g / dense->a[i][i];
      to = fmin(fmax(to, (double)lower[i]), (double)upper[i]);
      moved = fmax(moved, fabs(to - x[i]));
      x[i] = to;
    }
    if (moved < 1e-15) return;
  }
}

static double largest_error(Core *core, int which, bool two_sided, bool preconditioned, bool cautious) {
  static Dense dense;
  float b[SIZE], lower[SIZE], upper[SIZE], x[SIZE] = {0};
  double want[SIZE], error = 0, size = 0;
  make(&dense, which);
  for (int i = 0; i < SIZE; i++) {
    b[i] = (float)(random_at(which + 1000, i) - 0.6);
    lower[i] = two_sided ? (float)(-0.3 * random_at(which + 2000, i)) : 0;
    upper[i] = two_sided ? -lower[i] : INFINITY;
    if (i % 17 == 3) lower[i] = upper[i] = 0; /* not an unknown */
  }
  int32_t blocks[SIZE / LANES];
  for (int32_t k = 0; k < SIZE / LANES; k++) blocks[k] = k;
  Scratch scratch;
  scratch_create(&scratch);
  Mprgp problem = {.core = core,
                   .scratch = &scratch,
                   .count = SIZE,
                   .blocks = blocks,
                   .block_count = SIZE / LANES,
                   .x = x,
                   .lower = lower,
                   .upper = upper,
                   .b = b,
                   .apply = apply,
                   .precondition = preconditioned ? precondition : NULL,
                   .context = &dense,
                   .norm = 16,
                   .tolerance = 1e-8,
                   .most = 400,
                   .cautious = cautious};
  assert_ok(core, mprgp_solve(&problem));
  reference(&dense, b, lower, upper, want);
  for (int i = 0; i < SIZE; i++) {
    assert_true(x[i] >= lower[i] && x[i] <= upper[i]);
    error = fmax(error, fabs((double)x[i] - want[i]));
    size = fmax(size, fabs(want[i]));
  }
  scratch_destroy(core, &scratch);
  return error / size;
}

static void check_all(bool two_sided, bool preconditioned) {
  Core core = test_core(1);
  double worst = 0;
  for (int which = 0; which < CASES; which++) {
    worst = fmax(worst, largest_error(&core, which, two_sided, preconditioned, false));
    worst = fmax(worst, largest_error(&core, which, two_sided, preconditioned, true));
  }
  assert_near(worst, 0, 1e-6);
  core_destroy(&core);
}

static void the_complementarity_problem_is_solved(void **state) {
  (void)state;
  check_all(false, false);
  check_all(false, true);
}

static void two_sided_bounds_are_kept(void **state) {
  (void)state;
  check_all(true, false);
  check_all(true, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_complementarity_problem_is_solved),
                                     cmocka_unit_test(two_sided_bounds_are_kept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
