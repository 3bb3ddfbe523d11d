/* Parts of flip by themselves: ellipsoids and the sparse grid. */
#include "check.h"
#include "core/rng.h"
#include "methods/flip/grid/grid.h"
#include "methods/flip/transfer/shapes.h"

static double random_at(int k) { return 2 * rng_unit(rng_bits(3, (uint64_t)k, 0, RNG_TEST)) - 1; }

/* Splitting and merging at once gives the parent back. */
static void split_and_merge_are_inverse(void **state) {
  (void)state;
  int tried = 0;
  for (int k = 0; k < 400; k++) {
    double angle = 3 * random_at(4 * k);
    Quat turn = quat_from_vector(vec3(angle, random_at(4 * k + 1), random_at(4 * k + 2)));
    Mat3 axes = mat3_from_quat(turn),
         squares = {{{2.0 + 0.8 * fabs(random_at(4 * k + 3)), 0, 0}, {0, 0.8, 0}, {0, 0, 1.3}}};
    Mat3 a = mat3_mul(mat3_mul(axes, squares), mat3_transpose(axes));
    Shape6 parent = shape_of_matrix(&a), child, merged;
    Vec3 offset;
    assert_true(shape_split(&parent, &child, &offset));
    /* The parent itself is too long, so the merger is refused; the matrix is what it must be all the same. */
    shape_merge(&child, 0.5, &child, 0.5, vec3_scale(offset, 2), &merged);
    for (int c = 0; c < STRESSES; c++) assert_near((double)merged.a[c], (double)parent.a[c], 2e-6);
    tried++;
  }
  assert_int_equal(tried, 400);
}

static void shapes_are_valid_between_their_bounds(void **state) {
  (void)state;
  double shortest, longest;
  Shape6 sphere = {{1, 1, 1, 0, 0, 0}}, thin = {{1, 1, 0.45f, 0, 0, 0}}, tall = {{2.1f, 1, 1, 0, 0, 0}}, child;
  Vec3 offset;
  assert_true(shape_is_valid(&sphere, &shortest, &longest));
  assert_false(shape_is_valid(&thin, &shortest, &longest));
  assert_near(shortest, 0.45, 1e-6);
  assert_false(shape_is_valid(&tall, &shortest, &longest));
  assert_near(longest, 2.1, 1e-6);
  assert_true(shape_split(&tall, &child, &offset));
  assert_near(vec3_length(offset), sqrt(0.75 * 2.1), 1e-6);
  /* Halves of a sphere would be too thin. */
  assert_false(shape_split(&sphere, &child, &offset));
}

static int64_t strips_of(Core *core, double apart, bool check) {
  Particles particles;
  Scratch scratch;
  FlipGrid grid = {.cell = 1};
  FlipOrder order = {0};
  assert_ok(core, particles_create(core, &particles));
  assert_ok(core, particles_append(core, &particles, 1000));
  scratch_create(&scratch);
  for (int i = 0; i < 1000; i++) {
    double far = i % 2 ? apart : 0;
    particles.x[i] = (float)(far + 4 * random_at(3 * i));
    particles.y[i] = (float)(far + 4 * random_at(3 * i + 1));
    particles.z[i] = (float)(4 * random_at(3 * i + 2));
  }
  assert_ok(core, grid_build(core, &scratch, &particles, &grid, &order));
  assert_int_equal(order.off_grid, 0);
  for (int64_t cell = 0; check && cell < grid_cells(&grid); cell++)
    for (int32_t k = order.start[cell]; k < order.start[cell + 1]; k++) {
      int32_t place[3];
      strip_place(grid.key[cell / STRIP], place);
      assert_int_equal((int)floorf(order.x[k]), place[0] + (int)(cell % STRIP));
      assert_int_equal((int)floorf(order.y[k]), place[1]);
      assert_int_equal((int)floorf(order.z[k]), place[2]);
      for (int row = 0; row < 9; row++)
        assert_true(grid_row(&grid, (int32_t)(cell / STRIP), row % 3 - 1, row / 3 - 1) > 0);
    }
  int64_t strips = grid.strips;
  grid_destroy(core, &grid);
  memory_drop(core, &order.start);
  particles_destroy(core, &particles);
  scratch_destroy(core, &scratch);
  return strips;
}

/* Every particle lies in the cell that it is listed in, and all cells round it exist. Empty space costs nothing. */
static void the_grid_follows_the_sand(void **state) {
  (void)state;
  Core core = test_core(2);
  int64_t near = strips_of(&core, 40, true), far = strips_of(&core, 40000, true);
  assert_int_equal(near, far);
  core_destroy(&core);
}

/* A row of 50 cells from wall to wall, with one more at each end, needs seven strips wherever the walls are; one that
 * nothing contains may need eight. */
static void strips_begin_at_the_container(void **state) {
  (void)state;
  Core core = test_core(1);
  const Vec3 origin = vec3(1.234, -5, 0.5);
  for (int at = -12; at <= 12; at++) {
    Particles particles;
    Scratch scratch;
    FlipGrid grid = {.cell = 0.02};
    FlipOrder order = {0};
    double low = 0.02 * at;
    assert_ok(&core, particles_create(&core, &particles));
    assert_ok(&core, particles_append(&core, &particles, 50));
    scratch_create(&scratch);
    for (int i = 0; i < 50; i++) particles.x[i] = (float)(low + 0.02 * (i + 0.5) - origin.x);
    grid_align(&grid, origin, low);
    assert_ok(&core, grid_build(&core, &scratch, &particles, &grid, &order));
    assert_int_equal(grid.strips, 1 + 9 * 7);
    assert_near(order.x[0] - floorf(order.x[0]), 0.5, 1e-4); /* cells still begin at the wall */
    grid_align(&grid, origin, INFINITY);
    assert_true(grid.shift[0] < 1);
    grid_destroy(&core, &grid);
    memory_drop(&core, &order.start);
    particles_destroy(&core, &particles);
    scratch_destroy(&core, &scratch);
  }
  core_destroy(&core);
}

/* Scattered particles ask for more strips than the memory holds: refused, with the numbers. */
static void a_grid_beyond_the_memory_is_refused(void **state) {
  (void)state;
  Core core = test_core(1);
  Particles particles;
  Scratch scratch;
  FlipGrid grid = {.cell = 1};
  FlipOrder order = {0};
  assert_ok(&core, particles_create(&core, &particles));
  assert_ok(&core, particles_append(&core, &particles, 20000));
  scratch_create(&scratch);
  for (int i = 0; i < 20000; i++) {
    particles.x[i] = (float)(1e5 * random_at(3 * i));
    particles.y[i] = (float)(1e5 * random_at(3 * i + 1));
    particles.z[i] = (float)(1e5 * random_at(3 * i + 2));
  }
  core.memory.limit =
      atomic_load(&core.memory.used) + (64 << 20); /* it would be 180,000 strips or more, of 4 kB each */
  assert_int_equal(grid_build(&core, &scratch, &particles, &grid, &order), SCREE_NO_MEMORY);
  print_message("%s\n", core.error.message);
  assert_non_null(strstr(core.error.message, "cells and 0."));
  assert_non_null(strstr(core.error.message, "make the cell larger"));
  grid_destroy(&core, &grid);
  memory_drop(&core, &order.start);
  particles_destroy(&core, &particles);
  scratch_destroy(&core, &scratch);
  core_destroy(&core);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(split_and_merge_are_inverse), cmocka_unit_test(shapes_are_valid_between_their_bounds),
      cmocka_unit_test(the_grid_follows_the_sand), cmocka_unit_test(strips_begin_at_the_container),
      cmocka_unit_test(a_grid_beyond_the_memory_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
