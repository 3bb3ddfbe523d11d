/* The Gauss-Seidel twin against p2: one contact is the same contact, and with enough iterations so is a heap. */
#include "bench/gauss_seidel.h"

#include "physics/p2_fixture.h"

/* A pyramid of `side` squared grains that rests in a pit; the load on the floor and the height of its top. */
typedef struct Outcome {
  double load, top;
} Outcome;

static Outcome settle(bool sequential, int iterations, double stiffness) {
  Fixture f;
  fixture_begin(&f, 0.05);
  fixture_floor(&f, (ScreeVec3){0, 0, 1}, 0.6);
  fixture_friction(&f, 0.6);
  f.scene.method.p2.iterations = iterations;
  f.scene.method.p2.memory = false;
  f.scene.method.p2.relaxation = 1;
  f.material.stiffness = stiffness;
  ScreeVec3 at[30];
  int count = 0;
  for (int layer = 4, level = 0; layer > 0; layer--, level++)
    for (int i = 0; i < layer; i++)
      for (int j = 0; j < layer; j++)
        at[count++] =
            (ScreeVec3){0.1 * (i - 0.5 * (layer - 1)), 0.1 * (j - 0.5 * (layer - 1)), 0.05 + 0.1 * sqrt(0.5) * level};
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

static void springs_settle_alike(void **state) {
  (void)state;
  Outcome parallel = settle(false, 200, 20000), sequential = settle(true, 200, 20000);
  assert_near(parallel.load, 1, 1e-3);
  assert_near(sequential.load, 1, 1e-3);
  assert_near(parallel.top, sequential.top, 1e-4);
}

/* The same number of sweeps leaves the sequential solver with less sinking (Fig. 5, top). */
static void sequential_sweeps_converge_faster(void **state) {
  (void)state;
  Outcome parallel = settle(false, 5, (double)NAN), sequential = settle(true, 5, (double)NAN);
  Outcome exact = settle(true, 200, (double)NAN);
  assert_true(fabs(exact.top - sequential.top) <= fabs(exact.top - parallel.top) + 1e-6);
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
      cmocka_unit_test(sequential_sweeps_converge_faster),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
