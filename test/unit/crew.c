/* How many threads a piece of work is given, on machines that are made up: what a piece takes on so many threads is a
 * formula, with noise, and nothing is measured. */
#include <math.h>

#include "check.h"
#include "core/crew.h"
#include "core/rng.h"

/* s. `work` is divided; each thread more costs `thread`, and the first of them `fetch`, for what lies in the caches of
 * others from then on. */
typedef struct Model {
  const char *name;
  double work, thread, fetch;
} Model;

static const Model models[] = {
    {"next to nothing", 20e-6, 1e-6, 10e-6},
    {"quickest on one, and again on all", 100e-6, 0, 120e-6},
    {"quickest on one", 80e-6, 2e-6, 90e-6},
    {"quickest on eight", 400e-6, 6e-6, 20e-6},
    {"flat", 400e-6, 1e-6, 100e-6},
    {"quickest on all", 1.8e-3, 6e-6, 50e-6},
    {"long", 8e-3, 6e-6, 50e-6},
    {"long, and dear threads", 8e-3, 40e-6, 50e-6},
};

static double seconds_on(const Model *model, int threads) {
  return model->work / threads + model->thread * (threads - 1) + (threads > 1 ? model->fetch : 0);
}

/* All pieces; from a third of them on the work is `later` times as much. One in fifty loses its core in between. */
static double run(const Model *model, int all, int pieces, double later) {
  Crew crew = {0};
  double total = 0;
  for (int k = 0; k < pieces; k++) {
    Model now = *model;
    if (3 * k > pieces) now.work *= later;
    double noise = rng_unit(rng_bits(1, (uint64_t)k, 1, RNG_EMIT)),
           lost = rng_unit(rng_bits(1, (uint64_t)k, 2, RNG_EMIT));
    double seconds = seconds_on(&now, 1 << crew_choose(&crew, all)) * (1 + 0.05 * noise + (lost < 0.02 ? 3 : 0));
    crew_note(&crew, all, seconds);
    total += seconds;
  }
  return total;
}

enum { LEVELS = 6 }; /* 1 to 32 threads */

/* The worst of more threads over fewer. */
static double worst(const Model *model, int pieces, double later) {
  double least = INFINITY, most = 0;
  for (int all = 0; all < LEVELS; all++) {
    double total = run(model, all, pieces, later);
    most = fmax(most, total / least);
    least = fmin(least, total);
  }
  print_message("%s, %d pieces, work times %g: %.3f\n", model->name, pieces, later, most);
  return most;
}

static void more_threads_are_never_slower(void **state) {
  (void)state;
  for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
    assert_true(worst(&models[m], 2000, 1) < 1.03);
    assert_true(worst(&models[m], 3000, 10) < 1.03);
    assert_true(worst(&models[m], 3000, 0.1) < 1.1); /* what comes to weigh more than the work */
  }
}

/* Within 5 % of the best number of threads, kept from the beginning. */
static void the_best_number_is_found(void **state) {
  (void)state;
  for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
    double best = INFINITY, one = run(&models[m], 0, 4000, 1);
    for (int level = 0; level < LEVELS; level++) best = fmin(best, seconds_on(&models[m], 1 << level));
    assert_true(run(&models[m], LEVELS - 1, 4000, 1) < 1.05 * best / seconds_on(&models[m], 1) * one);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(more_threads_are_never_slower),
                                     cmocka_unit_test(the_best_number_is_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
