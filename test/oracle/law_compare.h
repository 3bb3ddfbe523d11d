/* Laws with eight lanes against the same text with one: the same bits. Included behind a laws.h; with LANE_SCALAR it is
 * the scalar side. */
#ifndef TEST_LAW_COMPARE_H
#define TEST_LAW_COMPARE_H

#ifdef LANE_SCALAR

void laws_scalar(float in[LAW_INPUTS][LAW_LANES], float out[LAW_OUTPUTS][LAW_LANES]) {
  for (int lane = 0; lane < LAW_LANES; lane++) {
    Real one[LAW_INPUTS];
    LawOutputs found = {0};
    for (int k = 0; k < LAW_INPUTS; k++) one[k] = in[k][lane];
    laws_all(one, &found);
    for (int k = 0; k < found.count; k++) out[k][lane] = found.values[k];
  }
}

#else

#include "check.h"
#include "core/rng.h"

enum { LAW_TRIALS = 20000 };

static void eight_lanes_are_eight_times_one(void **state) {
  (void)state;
  _Static_assert((int)LAW_LANES == (int)LANES, "a column a lane");
  for (int trial = 0; trial < LAW_TRIALS; trial++) {
    float in[LAW_INPUTS][LAW_LANES], scalar[LAW_OUTPUTS][LAW_LANES];
    Real wide[LAW_INPUTS];
    LawOutputs found = {0};
    for (int k = 0; k < LAW_INPUTS; k++)
      for (int lane = 0; lane < LANES; lane++) {
        uint64_t bits = rng_bits((uint64_t)trial, (uint64_t)k, (uint64_t)lane, RNG_TEST);
        in[k][lane] = 2 * rng_unitf(bits) - 1;
        if (trial % 16 == 0 && bits % 4 == 0) in[k][lane] = 0; /* and what is exactly nothing */
      }
    for (int k = 0; k < LAW_INPUTS; k++) wide[k] = wide_load(in[k]);
    laws_all(wide, &found);
    laws_scalar(in, scalar);
    assert_int_equal(found.count, LAW_FOUND);
    for (int k = 0; k < found.count; k++) {
      float lanes[LANES];
      wide_store(lanes, found.values[k]);
      if (memcmp(lanes, scalar[k], sizeof lanes) == 0) continue;
      print_message("trial %d: output %d differs\n", trial, k);
      _fail(__FILE__, __LINE__);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(eight_lanes_are_eight_times_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
#endif
