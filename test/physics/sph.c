/* What sph must get right: pressure, stress, friction, air, walls, bodies, momentum. */
#include "sph_fixture.h"

enum { LAYERS = 10 };

/* Means by height over some frames: pressure and vertical stress. */
static void profile(ScreeWorld *world, int frames, double spacing, double pressure[LAYERS], double vertical[LAYERS]) {
  int64_t counts[LAYERS] = {0};
  for (int l = 0; l < LAYERS; l++) pressure[l] = vertical[l] = 0;
  for (int k = 0; k < frames; k++) {
    run_frames(world, 1);
    const float *p = sph_pressure(world), (*s)[6] = sph_shear(world);
    for (int64_t i = 0; i < world->state.particles.count; i++) {
      Vec3 at = state_position(&world->state, i);
      int layer = (int)(at.z / spacing);
      if (layer < 0 || layer >= LAYERS) continue;
      pressure[layer] += (double)p[i];
      vertical[layer] += (double)(p[i] - s[i][2]);
      counts[layer]++;
    }
  }
  for (int l = 0; l < LAYERS; l++) {
    pressure[l] /= counts[l] > 0 ? (double)counts[l] : 1;
    vertical[l] /= counts[l] > 0 ? (double)counts[l] : 1;
  }
}

/* Against what lies above, for the mean of two layers: that is what the kernel resolves. In shares of the largest. */
static void check_profile(const double stress[LAYERS], int layers, double share) {
  double weight = 1600 * 9.81 * 0.04;
  for (int l = 0; l + 1 < layers; l++)
    assert_near(0.5 * (stress[l] + stress[l + 1]), weight * (layers - l - 1), share * weight * layers);
}

static void pressure_grows_with_depth(void **state) {
  (void)state;
  GrainScene s;
  sph_tank(&s, 0.02, 0.48, 0.4, 0);
  ScreeWorld *world = world_of(&s.def, 2);
  double worst = 0, pressure[LAYERS], vertical[LAYERS];
  run_frames(world, 60);
  sph_watch(world, 20, &worst);
  assert_true(worst < 1e-3);
  profile(world, 40, 0.04, pressure, vertical);
  check_profile(pressure, LAYERS, 0.05);
  scree_world_destroy(world);
}

/* With friction it is the vertical stress that carries the weight, and all of it while the walls are smooth; and the
 * load on the tank is the weight. */
static void vertical_stress_carries_the_weight(void **state) {
  (void)state;
  GrainScene s;
  sph_tank(&s, 0.02, 0.8, 0.2, 30);
  add_probe(&s, SCREE_PROBE_FORCE_ON)->target = "tank";
  ScreeWorld *world = world_of(&s.def, 2);
  double worst = 0, pressure[LAYERS], vertical[LAYERS];
  run_frames(world, 30);
  sph_watch(world, 10, &worst);
  assert_true(worst < 1e-3);
  profile(world, 10, 0.04, pressure, vertical);
  check_profile(vertical, LAYERS / 2, 0.05);
  double weight = 1600 * 0.8 * 0.8 * 0.2 * 9.81;
  assert_near(probe_value(world, 0, 2), -weight, 0.01 * weight);
  scree_world_destroy(world);
}

/* Sand beside a smooth wall does not hang on its neighbours: what it bears in the lower half, in the column at the wall
 * and four spacings off, over the weight above it. A column at a wall lacks neighbours along it, which is worth a
 * sixth. And it presses on the wall as sand at rest does, 1 - sin of its angle times the vertical stress. */
static void sand_beside_a_smooth_wall_bears_its_weight(void **state) {
  (void)state;
  GrainScene s;
  const double d = 0.04, half = 8 * d, deep = 12 * d;
  sph_tank(&s, d / 2, 2 * half, deep, 40);
  ScreeWorld *world = world_of(&s.def, 2);
  double borne[2] = {0}, weight[2] = {0}, aside = 0;
  run_frames(world, 60);
  const float *p = sph_pressure(world), (*shear)[6] = sph_shear(world);
  for (int64_t i = 0; i < world->state.particles.count; i++) {
    Vec3 at = state_position(&world->state, i);
    double off = half - fmax(fabs(at.x), fabs(at.y));
    int zone = off < d ? 0 : off > 4 * d ? 1 : -1;
    if (zone < 0 || at.z > deep / 2) continue;
    borne[zone] += (double)(p[i] - shear[i][2]);
    if (zone == 1) aside += (double)(p[i] - shear[i][0]);
    weight[zone] += 1600 * 9.81 * (deep - at.z);
  }
  print_message("at the wall %.3f, in the middle %.3f of the weight, of which %.3f are horizontal\n",
                borne[0] / weight[0], borne[1] / weight[1], aside / borne[1]);
  assert_true(borne[0] > 0.75 * weight[0]);
  assert_near(borne[1], weight[1], 0.07 * weight[1]);
  assert_near(aside / borne[1], 1 - sin(sph_flow_angle(40) * M_PI / 180), 0.1);
  scree_world_destroy(world);
}

/* No step at the first layer: as far above it lies the second as the others from each other. */
static void the_first_layer_keeps_its_distance(void **state) {
  (void)state;
  GrainScene s;
  sph_tank(&s, 0.02, 0.4, 0.4, 30);
  ScreeWorld *world = world_of(&s.def, 2);
  run_frames(world, 40);
  double z[LAYERS] = {0};
  int64_t counts[LAYERS] = {0};
  for (int64_t i = 0; i < world->state.particles.count; i++) {
    double at = state_position(&world->state, i).z;
    int layer = (int)(at / 0.04);
    if (layer < LAYERS) z[layer] += at, counts[layer]++;
  }
  for (int l = 0; l < LAYERS; l++) z[l] /= (double)counts[l];
  double bulk = (z[6] - z[2]) / 4;
  assert_near(z[1] - z[0], bulk, 0.1 * bulk);
  assert_near(z[0], 0.02, 0.1 * 0.02);
  scree_world_destroy(world);
}

static void a_falling_grain_reaches_its_terminal_speed(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "sph", 0.02);
  s.def.method.sph.drag = 40;
  ScreeWorld *world = lone_world(&s, vec3(0, 0, 100), vec3(0, 0, 0));
  run_seconds(world, 4);
  double mass = 1600 * 8 * 8e-6, terminal = sqrt(2 * mass * 9.81 / (1.2 * 40 * M_PI * 4e-4));
  assert_near(-grain_velocity(world, 1).z, terminal, 0.01 * terminal);
  scree_world_destroy(world);
}

static void a_lone_grain_falls_freely(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "sph", 0.02);
  s.def.method.sph.drag = 0;
  ScreeWorld *world = lone_world(&s, vec3(0, 0, 10), vec3(1, 0, 0));
  run_seconds(world, 0.5);
  assert_near(grain_velocity(world, 1).z, -9.81 * 0.5, 1e-4);
  assert_near(grain_at(world, 1).x, 0.5, 1e-5);
  scree_world_destroy(world);
}

/* Two blocks of different stuff hit each other off centre in nothing: momentum stays to rounding. */
static void momentum_stays(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "sph", 0.02);
  s.def.gravity = (ScreeVec3){0, 0, 0};
  s.def.method.sph.drag = 0;
  s.materials[0].friction_angle_deg = sph_flow_angle(35);
  s.materials[1] = scree_material_default("heavy");
  s.materials[1].density = 4000;
  s.def.material_count = 2;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-0.2, -0.1, 0}, (ScreeVec3){0, 0.1, 0.2});
  s.grains[0].velocity = (ScreeVec3){1, 0, 0};
  s.grains[1] =
      scree_grains_default("heavy", scree_shape_box((ScreeVec3){0.04, -0.06, 0}, (ScreeVec3){0.24, 0.14, 0.2}));
  s.grains[1].velocity = (ScreeVec3){-1, 0, 0};
  s.def.grains_count = 2;
  ScreeWorld *world = world_of(&s.def, 2);
  Vec3 before, after, turning, turned;
  run_frames(world, 1);
  momentum_of(world, &before, &turning);
  run_frames(world, 20);
  momentum_of(world, &after, &turned);
  assert_near(vec3_length(vec3_sub(after, before)), 0, 1e-4); /* of 45 kg m/s, in floats */
  scree_world_destroy(world);
}

/* Friction opposes the strain: a wave of shear in a block that holds together dies out and never grows. */
static void a_wave_of_shear_dies_out(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "sph", 0.02);
  s.def.gravity = (ScreeVec3){0, 0, 0};
  s.def.method.sph.drag = 0;
  s.materials[0].cohesion = 2000;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-0.2, -0.2, -0.2}, (ScreeVec3){0.2, 0.2, 0.2});
  ScreeWorld *world = world_of(&s.def, 2);
  Particles *p = &world->state.particles;
  for (int64_t i = 0; i < p->count; i++) p->vx[i] = (float)(0.2 * sin(M_PI * (double)p->z[i] / 0.2));
  world->tally.speed = 0.2;
  double energy = sph_kinetic(world), first = energy;
  for (int k = 0; k < 10; k++) {
    run_frames(world, 1);
    assert_true(sph_kinetic(world) <= energy * 1.0001);
    energy = sph_kinetic(world);
  }
  assert_true(energy < 0.2 * first);
  scree_world_destroy(world);
}

/* A cloud whose grains have lost each other does not feel cohesion: bit for bit as without. */
static void a_cloud_feels_no_cohesion(void **state) {
  (void)state;
  uint64_t hashes[2];
  for (int k = 0; k < 2; k++) {
    GrainScene s;
    grain_scene(&s, "sph", 0.02);
    s.def.gravity = (ScreeVec3){0, 0, 0};
    s.def.method.sph.drag = 0;
    s.materials[0].cohesion = k ? 5000 : 0;
    s.grains[0].fill = scree_shape_box((ScreeVec3){-0.1, -0.1, -0.1}, (ScreeVec3){0.1, 0.1, 0.1});
    ScreeWorld *world = grain_world(&s);
    Particles *p = &world->state.particles;
    for (int64_t i = 0; i < p->count; i++) {
      float x = p->x[i], y = p->y[i], z = p->z[i];
      place_grain(world, i, vec3(1.7 * (double)x, 1.7 * (double)y, 1.7 * (double)z),
                  vec3(3 * (double)x, 3 * (double)y, 3 * (double)z));
    }
    run_frames(world, 10);
    hashes[k] = particles_hash(&world->core, &world->state.particles);
    scree_world_destroy(world);
  }
  assert_true(hashes[0] == hashes[1]);
}

static void a_slope_below_the_angle_holds_and_one_above_flows(void **state) {
  (void)state;
  assert_true(sph_ridge(30, 27, 0.02, 0.8, 0.5) < 0.1);
  assert_true(sph_ridge(30, 33, 0.02, 0.8, 0.5) > 1);
  assert_true(sph_ridge(45, 42, 0.02, 0.7, 0.5) < 0.1);
  assert_true(sph_ridge(45, 48, 0.02, 0.7, 0.5) > 1);
}

/* How much the middle of a long bed gains of its speed in a second, on a floor that leans. All of it moves at first. */
static double slope_gain(double angle, double lean_deg) {
  GrainScene s;
  const double half = 1, depth = 0.2, lean = lean_deg * M_PI / 180;
  grain_scene(&s, "sph", 0.02);
  s.def.gravity = (ScreeVec3){9.81 * sin(lean), 0, -9.81 * cos(lean)};
  s.materials[0].friction_angle_deg = angle;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-half, -0.06, 0}, (ScreeVec3){half, 0.06, depth});
  s.grains[0].velocity = (ScreeVec3){0.4, 0, 0};
  ScreeBoundaryDef *floor = add_floor(&s);
  floor->friction_static = floor->friction_kinetic = 2;
  for (int k = -1; k <= 1; k += 2) {
    ScreeBoundaryDef *side = add_boundary(&s, k < 0 ? "left" : "right",
                                          scree_shape_plane((ScreeVec3){0, k * 0.06, 0}, (ScreeVec3){0, -k, 0}));
    side->friction_static = side->friction_kinetic = 0;
  }
  ScreeWorld *world = world_of(&s.def, 2);
  double speed[2];
  for (int k = 0; k < 2; k++) {
    double sum = 0;
    int64_t count = 0;
    run_seconds(world, 0.15);
    const Particles *p = &world->state.particles;
    for (int64_t i = 0; i < p->count; i++)
      if (fabs(state_position(&world->state, i).x) < half / 3) sum += (double)p->vx[i], count++;
    speed[k] = sum / (double)count;
  }
  scree_world_destroy(world);
  return (speed[1] - speed[0]) / 0.15;
}

/* The tangent of the angle is shear over normal stress of sand that flows: two degrees below its angle a moving slope
 * slows down, two above it goes on, as Coulomb's law says within a tenth of g cos. */
static void a_moving_slope_stops_below_its_angle(void **state) {
  (void)state;
  const double angles[2] = {25, 33};
  for (int k = 0; k < 2; k++)
    for (int above = -1; above <= 1; above += 2) {
      double lean = (angles[k] + 2 * above) * M_PI / 180;
      double gain = slope_gain(angles[k], angles[k] + 2 * above);
      double want = 9.81 * (sin(lean) - tan(angles[k] * M_PI / 180) * cos(lean));
      print_message("sand of %g degrees on %g: %.2f m/s^2 of %.2f\n", angles[k], angles[k] + 2 * above, gain, want);
      assert_true(gain * above > 0);
      assert_near(gain, want, 0.25);
    }
}

static void a_pile_comes_to_rest_at_its_angle_and_keeps_it(void **state) {
  (void)state;
  double angles[2];
  sph_pour(30, 80, 0.7, 0.5, angles);
  sph_check_pile(30, angles);
  sph_pour(45, 40, 0.7, 0.5, angles);
  sph_check_pile(45, angles);
}

/* How deep the ball's lowest point is below the surface of the bed at last. */
static double ball_depth(double density) {
  GrainScene s;
  sph_tank(&s, 0.025, 0.6, 0.3, 3);
  s.bodies[0] = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.1));
  s.bodies[0].density = density;
  s.bodies[0].shape.position = (ScreeVec3){0, 0, 0.42};
  s.def.body_count = 1;
  ScreeWorld *world = world_of(&s.def, 2);
  run_seconds(world, 1.5);
  double z = world->state.solids.items[1].center.z;
  scree_world_destroy(world);
  return z;
}

static void a_light_ball_floats_and_a_heavy_one_sinks(void **state) {
  (void)state;
  assert_true(ball_depth(400) > 0.27);
  assert_true(ball_depth(6000) < 0.2);
}

/* The ball's and the sand's momentum change by the same, in nothing else. */
static void ball_and_sand_push_each_other_alike(void **state) {
  (void)state;
  for (int contact = 0; contact < 2; contact++) {
    GrainScene s;
    grain_scene(&s, "sph", 0.02);
    s.def.gravity = (ScreeVec3){0, 0, 0};
    s.def.method.sph.drag = 0;
    s.grains[0].fill = scree_shape_box((ScreeVec3){-0.2, -0.2, -0.2}, (ScreeVec3){0.2, 0.2, 0});
    s.bodies[0] = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.08));
    s.bodies[0].shape.position = (ScreeVec3){0.05, 0.03, 0.1};
    s.bodies[0].velocity = (ScreeVec3){0.2, 0, -1};
    s.bodies[0].contact = contact;
    s.def.body_count = 1;
    ScreeWorld *world = world_of(&s.def, 2);
    Vec3 before, after, turning, turned;
    momentum_of(world, &before, &turning);
    run_frames(world, 15);
    momentum_of(world, &after, &turned);
    assert_true(world->state.solids.items[0].velocity.z > -0.9);
    assert_near(vec3_length(vec3_sub(after, before)), 0, 2e-4);
    scree_world_destroy(world);
  }
}

#ifdef SCREE_HAVE_MUJOCO
/* Sand twice as heavy as the bed of the truck, whose motor holds it: were the bed to give way in the solve as if
 * nothing held it, the sand would follow it down and end up inside. */
static void a_motor_holds_its_load(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "sph", 0.025);
  ScreeMechanismDef truck = scree_mechanism_default("dump_truck.xml");
  s.def.mechanism = &truck;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-0.3, -0.28, 0.4}, (ScreeVec3){0.1, 0.28, 0.6});
  add_probe(&s, SCREE_PROBE_FORCE_ON)->target = "bed";
  ScreeWorld *world = world_of(&s.def, 2);
  double weight = world_mass(world) * 9.81, worst = 0;
  sph_watch(world, 45, &worst);
  print_message("load / weight %.4f, compression %.5f\n", -probe_value(world, 0, 2) / weight, worst);
  assert_near(-probe_value(world, 0, 2), weight, 0.02 * weight);
  assert_true(worst < 0.01);
  scree_world_destroy(world);
}
#endif

/* A block beside a rough wall, over nothing: neither the wall nor its own parcels hold it, and none lags behind. */
static void sand_neither_sticks_nor_hangs(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "sph", 0.02);
  s.def.method.sph.drag = 0;
  s.materials[0].friction_angle_deg = sph_flow_angle(45);
  s.grains[0].fill = scree_shape_box((ScreeVec3){0, -0.12, 0}, (ScreeVec3){0.24, 0.12, 0.24});
  ScreeBoundaryDef *wall = add_boundary(&s, "wall", scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){1, 0, 0}));
  wall->friction_static = wall->friction_kinetic = 2;
  ScreeWorld *world = world_of(&s.def, 2);
  run_frames(world, 20);
  const Particles *p = &world->state.particles;
  double fall = -9.81 * 20 / 60;
  for (int64_t i = 0; i < p->count; i++) assert_near((double)p->vz[i], fall, -0.01 * fall);
  scree_world_destroy(world);
}

static double slumped_angle(double turn_deg) {
  GrainScene s;
  grain_scene(&s, "sph", 0.02);
  s.materials[0].friction_angle_deg = sph_flow_angle(30);
  s.grains[0].fill = (ScreeShapeDef){.kind = SCREE_SHAPE_CYLINDER,
                                     .cylinder = {.radius = 0.36, .height = 0.36},
                                     .rotation = {cos(turn_deg * M_PI / 360), 0, 0, sin(turn_deg * M_PI / 360)},
                                     .scale = 1};
  ScreeBoundaryDef *floor = add_floor(&s);
  floor->friction_static = floor->friction_kinetic = 2;
  add_probe(&s, SCREE_PROBE_REPOSE_ANGLE);
  ScreeWorld *world = world_of(&s.def, 2);
  run_seconds(world, 1.2);
  double angle = probe_value(world, 0, 0);
  scree_world_destroy(world);
  return angle;
}

static void a_pile_turned_is_the_same_pile(void **state) {
  (void)state;
  double straight = slumped_angle(0);
  assert_near(slumped_angle(45), straight, 1);
}

/* The wind pushes the first of two parcels in line as it pushes a ball, and the second, in its lee, hardly. */
static void the_wind_takes_what_nothing_shields(void **state) {
  (void)state;
  GrainScene s;
  grain_scene(&s, "sph", 0.02);
  s.def.gravity = (ScreeVec3){0, 0, 0};
  s.def.method.sph.drag = 0.47;
  s.def.wind = (ScreeVec3){10, 0, 0};
  ScreeWorld *world = lone_world(&s, vec3(0, 0, 0), vec3(0, 0, 0));
  add_grain(world, vec3(0.05, 0, 0), vec3(0, 0, 0), 0.02, 0);
  double mass = 1600 * 8 * 8e-6;
  world->state.particles.mass[1] = (float)mass;
  run_frames(world, 6);
  double pushed = 0.5 * 1.2 * 0.47 * M_PI * 4e-4 * 100 / mass * 0.1;
  double first = grain_velocity(world, 1).x, second = grain_velocity(world, 2).x;
  assert_near(first + second, pushed, 0.02 * pushed); /* the first nudges the second */
  assert_true(second < 0.2 * first);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pressure_grows_with_depth),
      cmocka_unit_test(vertical_stress_carries_the_weight),
      cmocka_unit_test(sand_beside_a_smooth_wall_bears_its_weight),
      cmocka_unit_test(the_first_layer_keeps_its_distance),
      cmocka_unit_test(a_falling_grain_reaches_its_terminal_speed),
      cmocka_unit_test(a_lone_grain_falls_freely),
      cmocka_unit_test(momentum_stays),
      cmocka_unit_test(a_wave_of_shear_dies_out),
      cmocka_unit_test(a_cloud_feels_no_cohesion),
      cmocka_unit_test(a_slope_below_the_angle_holds_and_one_above_flows),
      cmocka_unit_test(a_moving_slope_stops_below_its_angle),
      cmocka_unit_test(a_pile_comes_to_rest_at_its_angle_and_keeps_it),
      cmocka_unit_test(a_light_ball_floats_and_a_heavy_one_sinks),
      cmocka_unit_test(ball_and_sand_push_each_other_alike),
#ifdef SCREE_HAVE_MUJOCO
      cmocka_unit_test(a_motor_holds_its_load),
#endif
      cmocka_unit_test(sand_neither_sticks_nor_hangs),
      cmocka_unit_test(a_pile_turned_is_the_same_pile),
      cmocka_unit_test(the_wind_takes_what_nothing_shields),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
