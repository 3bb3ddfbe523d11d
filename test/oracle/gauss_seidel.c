/* The Gauss-Seidel twin against p2: one contact is the same contact, and with enough iterations so is a heap. */
#include "bench/gauss_seidel.h"

#include "physics/p2_fixture.h"

enum { COLUMN_MOST = 8, PYRAMID = 30 };

/* Grains that come to rest on a floor: its load in their weight, and the height of the top. */
typedef struct Outcome {
  double load, top;
} Outcome;

static Outcome settle(const ScreeVec3 *at, int count, bool sequential, int iterations, double stiffness) {
  Fixture f;
  fixture_begin(&f, 0.05);
  fixture_floor(&f, (ScreeVec3){0, 0, 1}, 0.6);
  fixture_friction(&f, 0.6);
  f.scene.method.p2.iterations = iterations;
  f.scene.method.p2.memory = false;
  f.scene.method.p2.relaxation = 1;
  f.material.stiffness = stiffness;
  ScreeWorld *world = fixture_place(&f, at, count, 1);
  Method twin = gauss_seidel_method();
  if (sequential) world->method = &twin;
  run_seconds(world, 1);
  Outcome out = {.load = -fixture_force(world, "floor").z / (count * 9.81)};
  const Particles *p = &world->state.particles;
  for (int64_t i = 0; i < p->count; i++) out.top = fmax(out.top, (double)p->z[i] + world->state.origin.z);
  scree_world_destroy(world);
  return out;
}

/* Four layers, each grain on four others. */
static Outcome settle_pyramid(bool sequential, int iterations, double stiffness) {
  ScreeVec3 at[PYRAMID];
  int count = 0;
  for (int layer = 4, level = 0; layer > 0; layer--, level++)
    for (int i = 0; i < layer; i++)
      for (int j = 0; j < layer; j++)
        at[count++] =
            (ScreeVec3){0.1 * (i - 0.5 * (layer - 1)), 0.1 * (j - 0.5 * (layer - 1)), 0.05 + 0.1 * sqrt(0.5) * level};
  return settle(at, count, sequential, iterations, stiffness);
}

static void springs_settle_alike(void **state) {
  (void)state;
  Outcome parallel = settle_pyramid(false, 200, 20000), sequential = settle_pyramid(true, 200, 20000);
  assert_near(parallel.load, 1, 1e-3);
  assert_near(sequential.load, 1, 1e-3);
  assert_near(parallel.top, sequential.top, 1e-4);
}

/* How far a column is below its height, in g dt h. */
static double column_sinking(int count, bool sequential) {
  enum { ITERATIONS = 5 };
  const double step = 0.005; /* fixture_begin's */
  ScreeVec3 at[COLUMN_MOST];
  for (int k = 0; k < count; k++) at[k] = (ScreeVec3){0, 0, 0.05 + 0.1 * k};
  double sunk = 0.1 * count - 0.05 - settle(at, count, sequential, ITERATIONS, (double)NAN).top;
  return sunk / (9.81 * step * step / ITERATIONS);
}

/* Without remembered forces a contact bears its load by penetration, of which a substep takes p = depth / n away. At
 * rest the sweep undoes the fall of the substep: pair k from below pushes with its load, l_k = N - k in m g h^2, so in
 * g h^2, p_k + (how far the sweep has brought the two together before) = 2 l_k, and the floor, last, has p = 0.
 * In sequence, from below: p_1 = 2 l_1, since the two fall alike, and p_k = 2 l_k - l_{k-1} for the others.
 * In batches: 2 l_k for every other pair from below, and 2 l_k - l_{k-1} - l_{k+1} = 0 for those between.
 * The sequence leaves a little less (Fig. 5, top, of the paper, which compares it with averaging). */
static void sequential_sweeps_converge_faster_in_a_column(void **state) {
  (void)state;
  for (int n = 2; n <= COLUMN_MOST; n++) {
    int sequential = 2 * (n - 1), batches = 0;
    for (int k = 2; k < n; k++) sequential += 2 * (n - k) - (n - k + 1);
    for (int k = 1; k < n; k += 2) batches += 2 * (n - k);
    assert_near(column_sinking(n, true), sequential, 0.1); /* 5 um */
    assert_near(column_sinking(n, false), batches, 0.1);
    assert_true(sequential <= batches);
  }
}

static double pyramid_sinking(bool sequential, int iterations) {
  double sunk = 0.05 + 0.3 * sqrt(0.5) - settle_pyramid(sequential, iterations, (double)NAN).top;
  print_message("%s, %d iterations: %.2e m\n", sequential ? "sequential" : "batches", iterations, sunk);
  return sunk;
}

/* Both come to the height of rigid grains. The depth that is left goes with n g h^2 = g dt^2 / n, as above: twice the
 * iterations leave half. Where a grain has many contacts batches leave less than the sequence, here a sixth. */
static void both_converge_in_a_pyramid(void **state) {
  (void)state;
  double batches[3], sequence[3];
  for (int k = 0; k < 3; k++) {
    batches[k] = pyramid_sinking(false, 5 << k);
    sequence[k] = pyramid_sinking(true, 5 << k);
    assert_true(batches[k] > 0 && batches[k] < sequence[k]);
  }
  for (int k = 1; k < 3; k++) {
    assert_near(batches[k] / batches[k - 1], 0.5, 0.05);
    assert_near(sequence[k] / sequence[k - 1], 0.5, 0.05);
  }
}

static void one_contact_is_the_same_contact(void **state) {
  (void)state;
  double heights[2];
  for (int sequential = 0; sequential < 2; sequential++) {
    Fixture f;
    fixture_begin(&f, 0.05);
    fixture_floor(&f, (ScreeVec3){0, 0, 1}, 0.5);
    f.material.stiffness = 1000;
    f.material.damping = 5;
    ScreeWorld *world = fixture_place(&f, &(ScreeVec3){0, 0, 0.2}, 1, 1);
    Method twin = gauss_seidel_method();
    if (sequential) world->method = &twin;
    run_seconds(world, 0.4);
    heights[sequential] = (double)world->state.particles.z[0];
    scree_world_destroy(world);
  }
  assert_near(heights[0], heights[1], 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_contact_is_the_same_contact),
      cmocka_unit_test(springs_settle_alike),
      cmocka_unit_test(sequential_sweeps_converge_faster_in_a_column),
      cmocka_unit_test(both_converge_in_a_pyramid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
