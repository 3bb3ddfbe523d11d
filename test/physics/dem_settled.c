/* A settled box against LAMMPS (29 Sep 2021, update 2), same law, start, walls and step. Recorded once with
 *
 *   units si, atom_style sphere, newton off, comm_modify vel yes, boundary f f f, neighbor 0.0015 bin
 *   pair_style granular
 *   pair_coeff * * hertz 1e7 200 tangential linear_history 2e4 0.5 0.5 damping mass_velocity
 *   fix wall/gran granular with the same constants: zplane 0, xplane 0 0.08, yplane 0 0.08
 *   fix nve/sphere, fix gravity 9.81 vector 0 0 -1, timestep 5e-5, run 24000; compute reduce ave z; write_dump z
 *
 * from the 588 positions of `start_of`, diameter 0.01, density 2500. Its Hertz constant is multiplied by the root of
 * the effective radius (a wall: the radius itself). */
#include "dem_fixture.h"

#define RADIUS 0.005
#define SIDE 0.08
#define LAMMPS_MEAN_HEIGHT 0.046184
#define LAMMPS_PACKING 0.5400 /* solid volume between 10 and 70 mm, of the dumped positions, as packing() has it */
#define GRAINS 588

static Vec3 start_of(int k) {
  static const int turn[3][2] = {{5, 3}, {7, 1}, {11, 8}};
  double shift[3];
  for (int c = 0; c < 3; c++) shift[c] = 0.001 * ((k * turn[c][0] + turn[c][1]) % 17 / 16.0 - 0.5);
  int layer = k / 49, cell = k % 49;
  return vec3(0.0064 + 0.0112 * (cell % 7) + shift[0], 0.0064 + 0.0112 * (cell / 7) + shift[1],
              0.006 + 0.0112 * layer + shift[2]);
}

/* Volume of a grain at z below a height. */
static double volume_below(double z, double height) {
  double h = fmin(fmax(height - z, -RADIUS), RADIUS);
  return M_PI * (2.0 / 3 * RADIUS * RADIUS * RADIUS + RADIUS * RADIUS * h - h * h * h / 3);
}

static double packing(const ScreeWorld *world, double low, double high) {
  double volume = 0;
  for (uint32_t id = 1; id <= GRAINS; id++) {
    double z = dem_position(world, id).z;
    volume += volume_below(z, high) - volume_below(z, low);
  }
  return volume / (SIDE * SIDE * (high - low));
}

static void a_box_settles_as_in_lammps(void **state) {
  (void)state;
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  ScreeMaterialDef *m = &s.materials[0];
  m->grain_density = 2500;
  m->friction_static = m->friction_kinetic = 0.5;
  m->stiffness_n = 1e7 * sqrt(RADIUS / 2);
  m->stiffness_t = 2e4;
  m->damping_n = 200;
  m->damping_t = 100;
  m->rolling_friction = 0;
  s.walls[0] = scree_boundary_default(scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){SIDE, SIDE, 0.3}));
  s.walls[0].inside = true;
  s.walls[0].friction_static = s.walls[0].friction_kinetic = 0.5;
  s.walls[0].stiffness_n = 1e7 * sqrt(RADIUS);
  s.def.boundary_count = 1;
  s.def.method.time_step = 5e-5;
  s.def.frame_rate = 50;
  ScreeWorld *world = dem_make(&s, 2);
  for (int k = 0; k < GRAINS; k++) dem_put(world, 0, start_of(k), vec3(0, 0, 0), RADIUS);
  run_frames(world, 60);
  double height = 0, moving = 0;
  for (uint32_t id = 1; id <= GRAINS; id++) {
    height += dem_position(world, id).z / GRAINS;
    Vec3 v = dem_velocity(world, id);
    moving = fmax(moving, vec3_length(v));
  }
  double solid = packing(world, 0.01, 0.07);
  print_message("mean height %.6f m, packing %.4f, fastest grain %.3g m/s\n", height, solid, moving);
  assert_true(moving < 0.01);
  assert_near(height, LAMMPS_MEAN_HEIGHT, 0.02 * LAMMPS_MEAN_HEIGHT);
  assert_near(solid, LAMMPS_PACKING, 0.02 * LAMMPS_PACKING);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_box_settles_as_in_lammps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
