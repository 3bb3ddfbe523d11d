/* Friction knows no directions: at walls it takes the same from sand that slides along the grid and across it, and
 * what falls as a round column lies as a round heap. */
#include "physics/flip_solvers.h"

static ScreeVec3 along_axes(int axis, double up, double first, double second) {
  double v[3];
  v[axis] = up, v[(axis + 1) % 3] = first, v[(axis + 2) % 3] = second;
  return (ScreeVec3){v[0], v[1], v[2]};
}

enum { BOX_CELLS = 10 };

/* Sand in a box whose sides do not rub, on a wall across `axis` that slides away under it by `turn` from the next axis:
 * what the wall bears along its way, over what it bears across. The half cells beside the sides hand what drags them on
 * to these, so that a share of 1 / BOX_CELLS of the drag is not the wall's. */
static double drag(int axis, double turn, double friction) {
  Fixture f;
  double radius = 0.01, cell = 4 * radius, half = 0.5 * BOX_CELLS * cell, way[2] = {cos(turn), sin(turn)};
  fixture_begin(&f, radius);
  f.scene.gravity = along_axes(axis, -9.81, 0, 0);
  fixture_fill(&f, "sand", along_axes(axis, 0, -half, -half), along_axes(axis, 3.5 * cell, half, half));
  for (int k = 0; k < 5; k++) {
    double sign = k % 2 ? 1 : -1, first = k / 2 == 0 ? sign : 0, second = k / 2 == 1 ? sign : 0;
    f.walls[k] = scree_boundary_default(
        scree_shape_plane(along_axes(axis, 0, first * half, second * half), along_axes(axis, k == 4, -first, -second)));
    f.walls[k].friction_static = f.walls[k].friction_kinetic = k == 4 ? fixture_solid_friction(&f, friction) : 0;
  }
  ScreeKeyDef keys[2] = {scree_key_default(), scree_key_default()};
  keys[1].t = 10;
  keys[1].position = along_axes(axis, 0, 10 * way[0], 10 * way[1]);
  f.walls[4].keys = keys;
  f.walls[4].key_count = 2;
  f.walls[4].name = "slide";
  f.scene.boundary_count = 5;
  ScreeWorld *world = fixture_world(&f);
  run_seconds(world, 0.4);
  double sum[3] = {0};
  for (int k = 0; k < 6; k++) {
    run_frames(world, 1);
    ScreeVec3 force = fixture_body(world, "slide").force;
    const double push[3] = {force.x, force.y, force.z};
    for (int c = 0; c < 3; c++) sum[c] += push[(axis + c) % 3];
  }
  scree_world_destroy(world);
  return (sum[1] * way[0] + sum[2] * way[1]) / sum[0] / (1 - 1.0 / BOX_CELLS);
}

/* Coulomb's law: the same along the grid and across it, whichever way the wall faces. */
static void walls_rub_alike_in_all_directions(void **state) {
  (void)state;
  const double friction = 0.3;
  for (int axis = 0; axis < 3; axis++) {
    double straight = drag(axis, 0, friction), across = drag(axis, M_PI / 4, friction);
    print_message("wall across axis %d: drag %.4f along the grid, %.4f across it, of %.1f\n", axis, straight, across,
                  friction);
    assert_near(straight / friction, 1, 0.02);
    assert_near(across / friction, 1, 0.02);
  }
}

/* A slab of sand, one and a half cells thick, that slides on the floor by `turn` from x: what its middle loses of its
 * speed in a second, over g. What falls off its rim does not come there within the time. */
static double sliding_loss(double turn, double friction) {
  Fixture f;
  const double half = 0.48, time[2] = {0.05, 0.1}, way[2] = {cos(turn), sin(turn)};
  double speed[2];
  fixture_begin(&f, 0.01);
  fixture_floor(&f, fixture_solid_friction(&f, friction));
  fixture_fill(&f, "sand", (ScreeVec3){-half, -half, 0}, (ScreeVec3){half, half, 0.06});
  f.grains[0].velocity = (ScreeVec3){way[0], way[1], 0};
  ScreeWorld *world = fixture_world(&f);
  for (int k = 0; k < 2; k++) {
    double mass = 0, sum = 0;
    run_seconds(world, time[k]);
    const Particles *p = &world->state.particles;
    Vec3 center = fixture_center(world);
    for (int64_t i = 0; i < p->count; i++) {
      Vec3 off = vec3_sub(state_position(&world->state, i), center);
      if (off.x * off.x + off.y * off.y > 0.25 * half * half) continue;
      mass += (double)p->mass[i];
      sum += (double)p->mass[i] * ((double)p->vx[i] * way[0] + (double)p->vy[i] * way[1]);
    }
    speed[k] = sum / mass;
  }
  scree_world_destroy(world);
  return (speed[0] - speed[1]) / time[1] / 9.81;
}

static void what_slides_slows_down(void **state) {
  (void)state;
  const double friction = 0.3;
  double straight = sliding_loss(0, friction), across = sliding_loss(M_PI / 4, friction);
  print_message("sliding sand slows down by %.4f g along the grid, %.4f g across it, of %.1f\n", straight, across,
                friction);
  assert_near(straight / friction, 1, 0.03);
  assert_near(across / straight, 1, 0.03);
}

/* The column that runs farthest. (All of Fig. 4: validate_flip.) What is left of it lies on the floor. */
static void fallen_columns_are_round(void **state) {
  (void)state;
  ScreeWorld *world = shipped_world("pile_03", 1);
  run_seconds(world, 1);
  double front, part = fourfold_part(world, &front);
  print_message("front of pile_03 at %.3f m, fourfold part %.1f %%\n", front, 100 * part);
  assert_true(part < 0.02);
  check_lies(world, "pile_03");
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(walls_rub_alike_in_all_directions),
                                     cmocka_unit_test(what_slides_slows_down),
                                     cmocka_unit_test(fallen_columns_are_round)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
