/* Machines that drive: the shipped truck and excavator on a floor, on a slope and on terrain, empty and loaded. */
#include "grains_fixture.h"

#ifdef SCREE_HAVE_MUJOCO

static const Solid *part(const ScreeWorld *world, const char *name) {
  int32_t index = solids_find(&world->state.solids, name);
  assert_true(index >= 0);
  return &world->state.solids.items[index];
}

static void control(ScreeWorld *world, const char *name, double value) {
  ScreeError error;
  assert_done(scree_world_set_control(world, scree_world_find_control(world, name), value, &error));
}

/* Some grains far away: a world needs them. */
static void machine_scene(GrainScene *s, ScreeMechanismDef *machine, const char *model) {
  grain_scene(s, "pbd", 0.03);
  s->def.frame_rate = 20;
  *machine = scree_mechanism_default(model);
  machine->friction_static = machine->friction_kinetic = 0.8;
  s->def.mechanism = machine;
  s->grains[0].fill = scree_shape_box((ScreeVec3){-3, -3, 0}, (ScreeVec3){-2.9, -2.9, 0.1});
}

static double yaw_of(const Solid *solid) {
  Vec3 ahead = quat_rotate(solid->rotation, vec3(1, 0, 0));
  return atan2(ahead.y, ahead.x);
}

/* Speed and turning circle (wheel base 1.04 m over the tangent of the steering angle, for the rear axle). */
static void truck_steers(void **unused) {
  (void)unused;
  GrainScene s;
  ScreeMechanismDef truck;
  machine_scene(&s, &truck, "dump_truck_drive.xml");
  add_floor(&s);
  ScreeWorld *world = world_of(&s.def, 0);
  run_seconds(world, 0.5);
  const Solid *body = part(world, "truck");
  Vec3 start = body->position;
  assert_true(fabs(start.z) < 1e-3 && vec3_length(body->velocity) < 1e-3); /* it stands */
  control(world, "drive", 0.5);
  run_seconds(world, 2);
  print_message("truck: %.4f m/s, %.4f m in 2 s, %.5f m aside\n", body->velocity.x, body->position.x - start.x,
                body->position.y);
  assert_near(body->velocity.x, 0.5, 0.01);
  assert_true(fabs(body->position.y) < 0.01);
  control(world, "steer", 0.3);
  run_seconds(world, 1);
  double before = yaw_of(body);
  run_seconds(world, 1.5);
  double rate = (yaw_of(body) - before) / 1.5;
  print_message("truck turns by %.4f rad/s, formula %.4f\n", rate, 0.5 * tan(0.3) / 1.04);
  /* Both front wheels have one angle and so scrub; the mean of all four wheels has the speed, the rear ones have less.
   */
  assert_near(rate, 0.5 * tan(0.3) / 1.04, 0.15 * 0.5 * tan(0.3) / 1.04);
  control(world, "drive", 0);
  run_seconds(world, 0.7);
  assert_true(vec3_length(body->velocity) < 0.01);
  scree_world_destroy(world);
}

/* On its brakes it stands on a slope of 15 degrees, which friction holds, and drives up it. */
static void truck_on_a_slope(void **unused) {
  (void)unused;
  GrainScene s;
  ScreeMechanismDef truck;
  machine_scene(&s, &truck, "dump_truck_drive.xml");
  s.def.gravity = (ScreeVec3){-9.81 * sin(0.26), 0, -9.81 * cos(0.26)};
  s.grains[0].fill = scree_shape_box((ScreeVec3){3, -3, 0}, (ScreeVec3){3.1, -2.9, 0.1});
  add_floor(&s);
  ScreeWorld *world = world_of(&s.def, 0);
  const Solid *body = part(world, "truck");
  run_seconds(world, 1);
  double stands = body->position.x;
  control(world, "drive", 0.4);
  run_seconds(world, 2);
  print_message("slope: rolled %.4f m in 1 s, then %.3f m/s uphill\n", stands, body->velocity.x);
  assert_true(fabs(stands) < 0.1); /* its drive holds it as a damper does: m g sin / kv = 0.048 m/s */
  assert_near(body->velocity.x, 0.4 - 0.048, 0.01);
  scree_world_destroy(world);
}

static void excavator_turns(void **unused) {
  (void)unused;
  GrainScene s;
  ScreeMechanismDef excavator;
  machine_scene(&s, &excavator, "excavator_drive.xml");
  add_floor(&s);
  ScreeWorld *world = world_of(&s.def, 0);
  const Solid *body = part(world, "excavator");
  control(world, "left", 0.4);
  control(world, "right", 0.4);
  run_seconds(world, 2);
  print_message("excavator: %.4f m/s, %.4f m aside\n", body->velocity.x, body->position.y);
  assert_near(body->velocity.x, 0.4, 0.03);
  control(world, "left", -0.4);
  run_seconds(world, 2);
  print_message("excavator turns by %.3f rad/s at %.3f m/s\n", body->spin.z, vec3_length(body->velocity));
  assert_true(body->spin.z > 0.3 && body->spin.z < 0.4 / 0.29); /* tracks scrub when they turn */
  assert_true(body->position.z > -1e-3 && body->position.z < 5e-3);
  scree_world_destroy(world);
}

/* On terrain the wheels bear the weight, sink deeper with a load, and drive. */
static void truck_on_terrain(void **unused) {
  (void)unused;
  double sunk[2];
  for (int loaded = 0; loaded < 2; loaded++) {
    GrainScene s;
    ScreeMechanismDef truck;
    machine_scene(&s, &truck, "dump_truck_drive.xml");
    if (loaded) s.grains[0].fill = scree_shape_box((ScreeVec3){-0.5, -0.28, 0.7}, (ScreeVec3){0.15, 0.28, 1.1});
    else s.grains[0].fill = scree_shape_box((ScreeVec3){-1.4, -1.4, 0.3}, (ScreeVec3){-1.3, -1.3, 0.4});
    s.materials[0].friction_static = s.materials[0].friction_kinetic = 0.6; /* the ground bears more */
    truck.position = (ScreeVec3){0, 0, 0.3};
    ScreeTerrainDef terrain = scree_terrain_default("sand");
    terrain.origin = (ScreeVec2){-1.5, -1.5};
    terrain.size = (ScreeVec2){5, 3};
    terrain.cell = 0.05;
    terrain.height = 0.3;
    terrain.exchange = false;
    s.def.terrain = &terrain;
    ScreeWorld *world = world_of(&s.def, 0);
    const Solid *body = part(world, "truck");
    run_seconds(world, 1.5);
    double borne = 0, weight = 0;
    for (int32_t k = 0; k < world->state.solids.count; k++) {
      const Solid *solid = &world->state.solids.items[k];
      if (solid->motion != MOTION_MECHANISM) continue;
      weight += 9.81 * solid->mass;
      borne += solid->frame_force.z; /* less the load */
    }
    sunk[loaded] = 0.3 - body->position.z;
    Vec3 start = body->position;
    control(world, "drive", 0.5);
    run_seconds(world, 2);
    print_message("terrain: ground and load push with %.1f N, weight %.1f N; sunk %.4f m; drove %.3f m\n", borne,
                  weight, sunk[loaded], body->position.x - start.x);
    assert_near(borne, weight, 0.01 * weight);
    assert_true(body->position.x - start.x > 0.5);
    scree_world_destroy(world);
  }
  assert_true(sunk[0] > 0.01 && sunk[0] < 0.15 && sunk[1] > sunk[0] + 0.005);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(truck_steers),
      cmocka_unit_test(truck_on_a_slope),
      cmocka_unit_test(excavator_turns),
      cmocka_unit_test(truck_on_terrain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void) { return 0; }
#endif
