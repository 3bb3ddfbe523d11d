/* Dense fills weigh density times volume, whatever their shape and size, and no grain of theirs overlaps another. */
#include "grains_fixture.h"
#include "neighbors/neighbors.h"

#define R 0.01
static const double D = 2 * R;

static ScreeShapeDef cube(double side) {
  double half = side * R;
  return scree_shape_box((ScreeVec3){-half, -half, 0}, (ScreeVec3){half, half, 2 * half});
}

static ScreeShapeDef cylinder(double width, double height) {
  ScreeShapeDef shape = scree_shape_sphere((ScreeVec3){0, 0, 0}, 1);
  shape.kind = SCREE_SHAPE_CYLINDER;
  shape.cylinder.radius = width * R;
  shape.cylinder.height = height * D;
  return shape;
}

static void dense_scene(GrainScene *s, ScreeShapeDef fill) {
  grain_scene(s, "pbd", R);
  s->grains[0].fill = fill;
  s->grains[0].start = SCREE_START_DENSE;
}

/* Apart by the sum of their radii, a rounding of positions allowed. */
static void check_apart(ScreeWorld *world) {
  Core *core = &world->core;
  const Particles *p = &world->state.particles;
  CellGrid *grid;
  NeighborList list = {0};
  Points points = {.count = p->count, .x = p->x, .y = p->y, .z = p->z};
  assert_int_equal(cell_grid_create(core, &grid), SCREE_OK);
  float widest = 0;
  for (int64_t i = 0; i < p->count; i++) widest = fmaxf(widest, 2 * p->radius[i]);
  assert_int_equal(cell_grid_build(core, grid, points, widest), SCREE_OK);
  assert_int_equal(neighbor_list_build(core, grid, points, points, widest, NULL, NULL, &list), SCREE_OK);
  for (int64_t i = 0; i < p->count; i++)
    for (int64_t k = list.start[i]; k < list.start[i + 1]; k++) {
      int64_t j = list.index[k];
      double apart = vec3_length(vec3_sub(state_position(&world->state, i), state_position(&world->state, j)));
      assert_true(apart >= (double)(p->radius[i] + p->radius[j]) * (1 - 2e-5));
    }
  neighbor_list_destroy(core, &list);
  cell_grid_destroy(core, grid);
}

/* Mass over density times volume. */
static double weigh(GrainScene *s, double volume) {
  ScreeWorld *world = world_of(&s->def, 2);
  double share = world->tally.mass_initial / (s->materials[0].density * volume);
  check_apart(world);
  scree_world_destroy(world);
  return share;
}

static void free_fills_weigh_what_they_should(void **state) {
  (void)state;
  static const double sides[] = {8, 13.7, 24, 37.5};
  for (size_t k = 0; k < sizeof sides / sizeof *sides; k++)
    for (int spread = 0; spread < 2; spread++) {
      double n = sides[k], side = n * D;
      GrainScene s;
      dense_scene(&s, cube(n));
      s.materials[0].radius_spread = spread ? 0.3 : 0;
      assert_near(weigh(&s, side * side * side), 1, 0.01);
      s.grains[0].fill = cylinder(n, 0.5 * n);
      assert_near(weigh(&s, M_PI / 8 * side * side * side), 1, 0.01);
      s.grains[0].fill = scree_shape_sphere((ScreeVec3){1, 2, 3}, 0.5 * side);
      assert_near(weigh(&s, M_PI / 6 * side * side * side), 1, 0.01);
    }
}

/* Between walls grains are pressed to them and packed a little more closely. Below 14 diameters even the densest random
 * packing would weigh less. */
static void fills_between_walls_weigh_what_they_should(void **state) {
  (void)state;
  static const double sides[] = {14, 20.4, 27, 33};
  for (size_t k = 0; k < sizeof sides / sizeof *sides; k++) {
    double n = sides[k], side = n * D;
    GrainScene s;
    dense_scene(&s, cube(n));
    add_floor(&s);
    assert_near(weigh(&s, side * side * side), 1, 0.01);
    add_tank(&s, (ScreeVec3){-side / 2, -side / 2, -1}, (ScreeVec3){side / 2, side / 2, 2});
    assert_near(weigh(&s, side * side * side), 1, 0.02);
  }
}

/* What solids take up is not filled, and not weighed. */
static void fills_round_solids_weigh_what_they_should(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    double n = k ? 34 : 18, side = n * D, hole = 0.2 * side;
    GrainScene s;
    dense_scene(&s, cube(n));
    add_boundary(&s, "ball", scree_shape_sphere((ScreeVec3){0, 0, side / 2}, hole));
    assert_near(weigh(&s, side * side * side - 4 * M_PI / 3 * hole * hole * hole), 1, 0.01);
    add_boundary(&s, "slope", scree_shape_plane((ScreeVec3){0, 0, side / 2}, (ScreeVec3){0.6, 0, 0.8}));
    assert_near(weigh(&s, (side * side * side - 4 * M_PI / 3 * hole * hole * hole) / 2), 1, 0.02);
  }
}

/* Grains stand out of free faces, but not into another fill. */
static void fills_that_touch_do_not_overlap(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    double n = k ? 36 : 12, side = n * D;
    GrainScene s;
    dense_scene(&s, cube(n));
    s.grains[0].fill.box.max.z = side / 2;
    s.grains[1] = s.grains[0];
    s.grains[1].fill = cube(n);
    s.grains[1].fill.box.min.z = side / 2;
    s.def.grains_count = 2;
    assert_near(weigh(&s, side * side * side), 1, 0.01);
  }
}

/* A grain's own density asks for another packing. */
static void grain_density_asks_for_a_packing(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    double side = (k ? 32 : 16) * D;
    GrainScene s;
    dense_scene(&s, cube(k ? 32 : 16));
    s.materials[0].grain_density = s.materials[0].density / 0.57;
    assert_near(weigh(&s, side * side * side), 1, 0.01);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_fills_weigh_what_they_should),
      cmocka_unit_test(fills_between_walls_weigh_what_they_should),
      cmocka_unit_test(fills_round_solids_weigh_what_they_should),
      cmocka_unit_test(fills_that_touch_do_not_overlap),
      cmocka_unit_test(grain_density_asks_for_a_packing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
