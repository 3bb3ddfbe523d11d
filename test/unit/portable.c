/* core/portable.h: errors against the wider arithmetic of long double, values at the ends, and the same bits anywhere.
 */
#include "check.h"
#include "core/hash.h"
#include "core/portable.h"
#include "core/rng.h"

enum { SAMPLES = SANITIZED ? 20000 : 200000 };

typedef struct Function {
  const char *name;
  double (*ours)(double);
  long double (*wide)(long double);
  double low, high; /* sampled evenly */
  double ulps;      /* what portable.h promises */
} Function;

static const Function FUNCTIONS[] = {
    {"sin", portable_sin, sinl, -10, 10, 1},           {"sin far", portable_sin, sinl, -1e6, 1e6, 1},
    {"cos", portable_cos, cosl, -10, 10, 1},           {"cos far", portable_cos, cosl, -1e6, 1e6, 1},
    {"tan", portable_tan, tanl, -10, 10, 2.5},         {"tan far", portable_tan, tanl, -1e6, 1e6, 2.5},
    {"sin small", portable_sin, sinl, -1e-3, 1e-3, 1}, {"atan", portable_atan, atanl, -3, 3, 2},
    {"atan far", portable_atan, atanl, -1e9, 1e9, 2},  {"exp", portable_exp, expl, -2, 2, 1},
    {"exp far", portable_exp, expl, -700, 700, 1},     {"log", portable_log, logl, 1e-9, 3, 1},
    {"log far", portable_log, logl, 1e-300, 1e9, 1},   {"cbrt", portable_cbrt, cbrtl, -9, 9, 2},
    {"cbrt far", portable_cbrt, cbrtl, -1e99, 1e99, 2}};

static double sample(const Function *f, uint64_t k) {
  return f->low + (f->high - f->low) * rng_unit(rng_bits(1, k, (uint64_t)(f - FUNCTIONS), RNG_TEST));
}
/* The distance of two results in units in the last place of the second. */
static double ulps_between(double ours, long double wide) {
  double rounded = (double)wide, unit = nextafter(fabs(rounded), INFINITY) - fabs(rounded);
  return (double)(fabsl((long double)ours - wide) / (long double)unit);
}

static void errors_are_as_promised(void **state) {
  (void)state;
  for (const Function *f = FUNCTIONS; f < FUNCTIONS + sizeof FUNCTIONS / sizeof *FUNCTIONS; f++) {
    double worst = 0, where = 0;
    for (uint64_t k = 0; k < SAMPLES; k++) {
      double x = sample(f, k), error = ulps_between(f->ours(x), f->wide((long double)x));
      if (!(error <= worst)) worst = error, where = x;
    }
    print_message("%-10s %.3f ulp at %.17g\n", f->name, worst, where);
    assert_true(worst <= f->ulps);
  }
  double worst = 0;
  for (uint64_t k = 0; k < SAMPLES; k++) {
    double y = 4 * rng_unit(rng_bits(2, k, 0, RNG_TEST)) - 2, x = 4 * rng_unit(rng_bits(2, k, 1, RNG_TEST)) - 2;
    worst = fmax(worst, ulps_between(portable_atan2(y, x), atan2l((long double)y, (long double)x)));
  }
  print_message("%-10s %.3f ulp\n", "atan2", worst);
  assert_true(worst <= 2);
}

static void same_bits(double a, double b) { assert_memory_equal(&a, &b, sizeof a); }

/* Where an argument is an end of the domain, the values of the C library are exact. */
static void ends_are_those_of_the_c_library(void **state) {
  (void)state;
  const double ends[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 5e-324, -5e-324};
  const int count = (int)(sizeof ends / sizeof *ends);
  for (int k = 0; k < 5; k++) {
    double x = ends[k];
    struct {
      double ours, library;
    } pairs[] = {{portable_sin(x), sin(x)},  {portable_cos(x), cos(x)}, {portable_tan(x), tan(x)},
                 {portable_exp(x), exp(x)},  {portable_log(x), log(x)}, {portable_cbrt(x), cbrt(x)},
                 {portable_atan(x), atan(x)}};
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
      if (isnan(pairs[p].library)) assert_true(isnan(pairs[p].ours));
      else same_bits(pairs[p].ours, pairs[p].library);
  }
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++) {
      double ours = portable_atan2(ends[i], ends[j]), library = atan2(ends[i], ends[j]);
      if (isnan(library)) assert_true(isnan(ours));
      else assert_true(ulps_between(ours, (long double)library) <= 1 && signbit(ours) == signbit(library));
    }
  same_bits(portable_cbrt(27), 3);
  same_bits(portable_exp(1000), INFINITY);
  same_bits(portable_exp(-1000), 0);
  assert_true(isnan(portable_log(-1)));
  /* Far beyond 2^20 the argument counts as known to one unit in its last place. */
  for (double x = 1e7; x < 1e15; x *= 7.3) assert_near(portable_sin(x), sin(x), x * 2.3e-16);
}

/* The hash is one of bits that every compiler and every C library must give. */
static void bits_are_the_same_everywhere(void **state) {
  (void)state;
  uint64_t hash = 0;
  for (const Function *f = FUNCTIONS; f < FUNCTIONS + sizeof FUNCTIONS / sizeof *FUNCTIONS; f++)
    for (uint64_t k = 0; k < 2000; k++) {
      double result = f->ours(sample(f, k));
      hash = hash_bytes(&result, sizeof result, hash);
    }
  assert_true(hash == 0xb392377c882d5291);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(errors_are_as_promised),
                                     cmocka_unit_test(ends_are_those_of_the_c_library),
                                     cmocka_unit_test(bits_are_the_same_everywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
