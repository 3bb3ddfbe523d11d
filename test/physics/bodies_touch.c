/* Parts of mechanisms against walls, bodies and each other: force balance, no jitter, no passing through, friction. */
#include "bodies_fixture.h"

#ifdef SCREE_HAVE_MUJOCO

static ScreeMechanismDef definition;
static ScreeBoundaryDef walls[4];

static Fixture *with_model(const char *text) {
  Fixture *fixture = fixture_create();
  definition = scree_mechanism_default("model.xml");
  fixture->scene.mechanism = &definition;
  fixture->state.radius = 0.01;
  fixture_write(fixture, "model.xml", text);
  return fixture;
}

static void add_wall(Fixture *fixture, ScreeShapeDef shape, double friction) {
  ScreeBoundaryDef *wall = &walls[fixture->scene.boundary_count];
  *wall = scree_boundary_default(shape);
  wall->friction_static = wall->friction_kinetic = friction;
  fixture->scene.boundaries = walls;
  fixture->scene.boundary_count++;
}

static const ScreeVec3 UP = {0, 0, 1}, ORIGIN = {0, 0, 0};

/* What a boundary may be made of: a plane, a box, a container, a mesh, all with their top at z = 0. */
enum { PLANE, BOX, CONTAINER, MESH, KINDS };
static const char SLAB[] = "v -3 -3 -1\nv 3 -3 -1\nv 3 3 -1\nv -3 3 -1\nv -3 -3 0\nv 3 -3 0\nv 3 3 0\nv -3 3 0\n"
                           "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
static void add_floor(Fixture *fixture, int kind, double friction) {
  fixture_write(fixture, "slab.obj", SLAB);
  const ScreeShapeDef shapes[KINDS] = {scree_shape_plane(ORIGIN, UP), scree_shape_box(vec3(-3, -3, -1), vec3(3, 3, 0)),
                                       scree_shape_box(vec3(-3, -3, 0), vec3(3, 3, 9)),
                                       scree_shape_mesh_file("slab.obj")};
  add_wall(fixture, shapes[kind], friction);
  walls[fixture->scene.boundary_count - 1].inside = kind == CONTAINER;
}

/* A servo presses a part on the floor: the servo's force, known from where the part is, is what the floor bears; the
 * part stands still. For parts of several forms on floors of several kinds, in long and short steps. */
static void pressed_on_the_floor(void **unused) {
  (void)unused;
  static const char *const forms[] = {"type='box' size='.2 .1 .05'", "type='sphere' size='.05'",
                                      "type='cylinder' size='.05 .1' euler='90 0 0'", "type='cylinder' size='.1 .05'",
                                      "type='capsule' size='.05 .1' euler='90 0 0'"};
  for (int kind = 0; kind < KINDS; kind++)
    for (int form = 0; form < 5; form++)
      for (int fast = 0; fast < 2; fast++) {
        char model[1024];
        snprintf(model, sizeof model,
                 "<mujoco><option timestep='.002'/><worldbody><body name='part' pos='0 0 .3'>"
                 "<joint name='z' type='slide' axis='0 0 1' damping='200'/><geom %s mass='5' contype='0' "
                 "conaffinity='0'/></body></worldbody><actuator><position name='z' joint='z' kp='5000'/></actuator>"
                 "</mujoco>",
                 forms[form]);
        Fixture *fixture = with_model(model);
        add_floor(fixture, kind, 0.5);
        fixture_start(fixture);
        Solid *part = fixture_solid(fixture, "part");
        assert_ok(&fixture->core, bodies_set_control(&fixture->core, fixture->bodies, 0, -0.5)); /* 0.25 m too low */
        double dt = fast ? 1.0 / 60 : 0.005, deepest = 0, moved = 0;
        int steps = (int)(3 / dt);
        Vec3 before = {0};
        for (int k = 0; k < steps; k++) {
          fixture_step(fixture, dt, NULL);
          deepest = fmin(deepest, part->center.z - 0.05);
          if (k == steps / 2) before = part->center;
          if (k > steps / 2) moved = fmax(moved, vec3_length(vec3_sub(part->center, before)));
        }
        if (fast == 0)
          print_message("floor %d, form %d: stands %.3f mm deep, deepest %.3f mm, moves %.2g m\n", kind, form,
                        1e3 * (0.05 - part->center.z), -1e3 * deepest, moved);
        assert_true(part->center.z > 0.05 - 1e-3 && part->center.z < 0.05 + 1e-4);
        assert_true(deepest > -5e-3); /* it arrives with 1.5 m/s */
        assert_true(moved < 1e-6);
        assert_true(vec3_length(part->velocity) < 1e-6);
        assert_true(fabs(part->driven[2]) < 1e-3); /* forces balance: motor, weight and floor */
        fixture_destroy(fixture);
      }
}

/* A box that slides on a slope, as a part that nothing holds: the formula with Coulomb's friction. */
static void slides_down_a_slope(void **unused) {
  (void)unused;
  const double angle = 0.4, frictions[] = {0.2, 0.5};
  for (int k = 0; k < 2; k++) {
    Fixture *fixture = with_model("<mujoco><worldbody><body name='part' pos='0 0 .1'><freejoint/>"
                                  "<geom type='box' size='.1 .1 .1' mass='3' contype='0' conaffinity='0'/></body>"
                                  "</worldbody></mujoco>");
    definition.friction_static = definition.friction_kinetic = frictions[k];
    add_floor(fixture, BOX, frictions[k]);
    fixture->scene.gravity = vec3(9.81 * sin(angle), 0, -9.81 * cos(angle));
    fixture->state.gravity = fixture->scene.gravity;
    fixture_start(fixture);
    Solid *part = fixture_solid(fixture, "part");
    for (int step = 0; step < 200; step++) fixture_step(fixture, 0.005, NULL);
    double formula = k == 0 ? 0.5 * 9.81 * (sin(angle) - frictions[k] * cos(angle)) : 0;
    print_message("mu %.1f: slid %.4f m in 1 s, formula %.4f m; %.5f m high\n", frictions[k], part->center.x, formula,
                  part->center.z);
    assert_near(part->center.x, formula, k == 0 ? 0.01 : 5e-4);
    /* What slides floats: MuJoCo's friction lets a contact go when its normal speed is mu times the slip's. */
    double floats = frictions[k] * vec3_length(part->velocity) * 0.005 / 3;
    assert_near(part->center.z, 0.1 + floats, 5e-5);
    fixture_destroy(fixture);
  }
}

/* A wheel that is driven rolls: no slip, no bumps; speed and way follow from the torque. */
static void wheel_rolls(void **unused) {
  (void)unused;
  Fixture *fixture = with_model("<mujoco><worldbody><body name='wheel' pos='0 0 .2'><freejoint/>"
                                "<geom type='cylinder' size='.2 .05' euler='90 0 0' mass='4' contype='0' "
                                "conaffinity='0'/></body></worldbody></mujoco>");
  add_floor(fixture, PLANE, 1);
  definition.friction_static = 1;
  fixture_start(fixture);
  Solid *wheel = fixture_solid(fixture, "wheel");
  double bump = 0, torque = 1, inertia = 0.5 * 4 * 0.04;
  for (int k = 0; k < 200; k++) {
    wheel->outside_torque = vec3(0, torque, 0);
    fixture_step(fixture, 0.005, NULL);
    bump = fmax(bump, fabs(wheel->center.z - 0.2));
  }
  double acceleration = torque / (inertia / 0.2 + 4 * 0.2);
  print_message("wheel at %.4f m/s, formula %.4f; slips %.2g m/s; bumps %.2g mm\n", wheel->velocity.x, acceleration,
                wheel->velocity.x - 0.2 * wheel->spin.y, 1e3 * bump);
  assert_near(wheel->velocity.x, acceleration, 0.01 * acceleration);
  assert_near(wheel->velocity.x, 0.2 * wheel->spin.y, 0.01 * acceleration);
  assert_true(bump < 1e-4);
  fixture_destroy(fixture);
}

/* Edges of a pole against the corner of a box: the box's corner is inside no point of the pole's own. */
static void hits_a_corner(void **unused) {
  (void)unused;
  Fixture *fixture = with_model("<mujoco><worldbody><body name='pole' pos='0 0 .5'>"
                                "<joint type='hinge' axis='0 1 0' damping='5'/>"
                                "<geom type='box' size='1 .03 .03' pos='.9 0 0' mass='5' contype='0' conaffinity='0'/>"
                                "</body></worldbody></mujoco>");
  add_wall(fixture, scree_shape_box(vec3(0.7, -0.3, -1), vec3(0.83, 0.3, 0.2)), 0.5);
  fixture_start(fixture);
  Solid *pole = fixture_solid(fixture, "pole");
  for (int k = 0; k < 1000; k++) fixture_step(fixture, 0.005, NULL);
  Vec3 along = quat_rotate(pole->rotation, vec3(1, 0, 0)), across = quat_rotate(pole->rotation, vec3(0, 0, 1));
  /* distance of the corner (0.83, 0, 0.2) from the underside of the pole */
  Vec3 corner = vec3_sub(vec3(0.83, 0, 0.2), vec3(0, 0, 0.5));
  print_message("pole hangs at %.2f deg, corner is %.3f mm inside\n", asin(-along.z) * 180 / M_PI,
                1e3 * (vec3_dot(corner, across) + 0.03));
  assert_true(fabs(vec3_dot(corner, across) + 0.03) < 2e-3);
  assert_true(vec3_length(pole->spin) < 1e-4);
  fixture_destroy(fixture);
}

/* Parts of one machine stop each other, hollow ones too, unless the model excludes it or they overlap at the start. */
static void parts_meet(void **unused) {
  (void)unused;
  static const char form[] =
      "<mujoco><worldbody><body name='base'><geom type='box' size='.05 .05 .5' pos='0 0 -.5' contype='0' "
      "conaffinity='0'/><body name='arm' pos='0 0 0'><joint name='a' type='slide' axis='1 0 0' damping='20'/>"
      "<geom type='box' size='.05 .05 .05' mass='1' contype='0' conaffinity='0'/></body></body>"
      "<body name='block' pos='%g 0 0'><joint type='slide' axis='1 0 0' damping='1000'/><geom type='box' "
      "size='.1 .2 .2' mass='9' contype='%d' conaffinity='%d'/></body></worldbody>%s"
      "<actuator><motor name='a' joint='a'/></actuator></mujoco>";
  const struct {
    double at;
    const char *more;
    bool stops;
  } cases[] = {
      {0.6, "", true}, {0.6, "<contact><exclude body1='arm' body2='block'/></contact>", false}, {0.08, "", false}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char model[1500];
    snprintf(model, sizeof model, form, cases[k].at, 0, 0, cases[k].more);
    Fixture *fixture = with_model(model);
    fixture_start(fixture);
    assert_ok(&fixture->core, bodies_set_control(&fixture->core, fixture->bodies, 0, 20));
    Solid *arm = fixture_solid(fixture, "arm"), *block = fixture_solid(fixture, "block");
    double pushed = 0;
    for (int n = 0; n < 400; n++) {
      fixture_step(fixture, 0.005, NULL);
      pushed = block->center.x - cases[k].at;
      if (cases[k].stops) assert_true(arm->center.x < block->center.x - 0.15 + 2e-3);
    }
    print_message("case %d: arm at %.3f, block pushed by %.3f m\n", (int)k, arm->center.x, pushed);
    if (cases[k].stops) assert_near(block->velocity.x, 20.0 / 1020, 1e-3); /* both dampers bear the motor */
    else assert_near(pushed, 0, 1e-9);
    fixture_destroy(fixture);
  }
}

/* A wheel that is drawn a little inside the floor stays there and is not thrown out; a post that is set deep into it
 * turns freely. */
static void inside_at_the_start(void **unused) {
  (void)unused;
  Fixture *fixture = with_model(
      "<mujoco><worldbody><body name='wheel' pos='0 0 .195'><freejoint/><geom type='cylinder' size='.2 .05' "
      "euler='90 0 0' mass='4' contype='0' conaffinity='0'/></body><body name='post' pos='1 0 0'>"
      "<joint name='turn' type='hinge' axis='0 0 1'/><geom type='box' size='.05 .05 .4' mass='2' contype='0' "
      "conaffinity='0'/></body></worldbody></mujoco>");
  add_floor(fixture, BOX, 0.5);
  fixture_start(fixture);
  Solid *wheel = fixture_solid(fixture, "wheel"), *post = fixture_solid(fixture, "post");
  for (int k = 0; k < 400; k++) {
    post->outside_torque = vec3(0, 0, 0.1);
    fixture_step(fixture, 0.005, NULL);
    assert_true(fabs(wheel->velocity.z) < 2e-2);
  }
  print_message("wheel %.3f mm inside, post spins %.4f rad/s\n", 1e3 * (0.2 - wheel->center.z), post->spin.z);
  assert_true(wheel->center.z > 0.1945 && wheel->center.z < 0.2001);
  assert_near(post->spin.z, 0.1 * 2 / (2 * (0.1 * 0.1 * 2) / 12), 1e-6);
  fixture_destroy(fixture);
}

/* A keyframed piston pushes a part that slides: it moves with the piston's speed, not into it. A free body too. */
static void pushed_by_a_piston(void **unused) {
  (void)unused;
  Fixture *fixture = with_model("<mujoco><worldbody><body name='part' pos='.5 0 .2'><joint type='slide' axis='1 0 0' "
                                "damping='50'/><geom type='box' size='.1 .1 .1' mass='3' contype='0' "
                                "conaffinity='0'/></body></worldbody></mujoco>");
  ScreeBodyDef bodies[2] = {scree_body_default("piston", scree_shape_box(vec3(-0.1, -0.3, 0), vec3(0.1, 0.3, 0.4))),
                            scree_body_default("load", scree_shape_box(vec3(-0.1, -0.3, -0.1), vec3(0.1, 0.3, 0.1)))};
  const ScreeKeyDef keys[] = {{.t = 0, .position = vec3(0.2, 0, 0), .rotation = quat_identity()},
                              {.t = 3, .position = vec3(1.7, 0, 0), .rotation = quat_identity()}};
  bodies[0].motion = SCREE_MOTION_KEYFRAMES;
  bodies[0].keys = keys;
  bodies[0].key_count = 2;
  bodies[1].mass = 1;
  bodies[1].shape.position = vec3(0.9, 0, 0.1);
  add_floor(fixture, PLANE, 0.2);
  fixture->scene.bodies = bodies;
  fixture->scene.body_count = 2;
  fixture_start(fixture);
  Solid *part = fixture_solid(fixture, "part"), *piston = fixture_solid(fixture, "piston");
  Solid *load = fixture_solid(fixture, "load");
  double inside = 0, through = 0;
  for (int k = 0; k < 500; k++) {
    fixture_step(fixture, 0.005, NULL);
    inside = fmax(inside, piston->center.x + 0.2 - part->center.x);
    through = fmax(through, part->center.x + 0.2 - load->center.x);
  }
  print_message("part at %.4f m/s (piston 0.5), at most %.3f mm inside it and %.3f mm inside the load (%.3f m/s)\n",
                part->velocity.x, 1e3 * inside, 1e3 * through, load->velocity.x);
  assert_near(part->velocity.x, 0.5, 5e-3);
  assert_near(load->velocity.x, 0.5, 1e-2);
  assert_true(inside < 3e-3 && through < 3e-3);
  fixture_destroy(fixture);
}

/* What stands on a floor bears a load without giving way: its inverse inertia knows the floor. */
static void floor_is_known(void **unused) {
  (void)unused;
  Fixture *fixture = with_model("<mujoco><worldbody><body name='cart' pos='0 0 .1'><freejoint/><geom type='box' "
                                "size='.3 .2 .1' mass='10' contype='0' conaffinity='0'/></body></worldbody></mujoco>");
  add_floor(fixture, PLANE, 0.5);
  fixture_start(fixture);
  Solid *cart = fixture_solid(fixture, "cart");
  for (int k = 0; k < 200; k++) fixture_step(fixture, 0.005, NULL);
  print_message("a cart of 10 kg resists a load from above as %.0f kg\n", 1 / cart->inverse_inertia[2][2]);
  assert_true(cart->inverse_inertia[2][2] < 0.05 / 10);
  assert_true(fabs(cart->driven[2]) < 1e-3);
  fixture_destroy(fixture);
}

/* A machine with a free base that rubs, is pushed and starts inside the floor goes on bit for bit. */
static void saved_and_resumed(void **unused) {
  (void)unused;
  Fixture *fixture = with_model(
      "<mujoco><worldbody><body name='cart' pos='0 0 .197'><freejoint/><geom type='box' size='.3 .2 .05' mass='10' "
      "contype='0' conaffinity='0'/><body name='w' pos='.2 .25 -.05'><joint name='w' axis='0 1 0'/><geom "
      "type='cylinder' size='.15 .04' euler='90 0 0' mass='1' contype='0' conaffinity='0'/></body></body></worldbody>"
      "<actuator><motor name='w' joint='w'/></actuator></mujoco>");
  add_floor(fixture, PLANE, 0.5);
  fixture_start(fixture);
  Core *core = &fixture->core;
  State *state = &fixture->state;
  double dt = 0.0037, time = 0;
  Archive archive, reading;
  uint64_t expected = 0;
  for (int k = 0; k < 300; k++) {
    assert_ok(core, bodies_set_control(core, fixture->bodies, 0, k < 200 ? 3 : -3));
    if (k == 150) {
      archive_save(&archive);
      assert_ok(core, solids_archive(core, &archive, &state->solids));
      assert_ok(core, bodies_archive(core, &archive, fixture->bodies, state));
      time = state->time;
    }
    fixture_step(fixture, dt, NULL);
  }
  expected = solids_hash(&state->solids);
  print_message("cart went %.3f m\n", fixture_solid(fixture, "cart")->center.x);
  fixture_reset(fixture);
  fixture->state.radius = 0.01;
  fixture_start(fixture);
  archive_load(&reading, "checkpoint", archive.data, archive.size);
  assert_ok(core, solids_archive(core, &reading, &state->solids));
  assert_ok(core, bodies_archive(core, &reading, fixture->bodies, state));
  state->time = time;
  for (int k = 150; k < 300; k++) {
    assert_ok(core, bodies_set_control(core, fixture->bodies, 0, k < 200 ? 3 : -3));
    fixture_step(fixture, dt, NULL);
  }
  assert_true(solids_hash(&state->solids) == expected);
  archive_destroy(core, &archive);
  fixture_destroy(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pressed_on_the_floor), cmocka_unit_test(slides_down_a_slope),
      cmocka_unit_test(wheel_rolls),          cmocka_unit_test(hits_a_corner),
      cmocka_unit_test(parts_meet),           cmocka_unit_test(inside_at_the_start),
      cmocka_unit_test(pushed_by_a_piston),   cmocka_unit_test(floor_is_known),
      cmocka_unit_test(saved_and_resumed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void) { return 0; }
#endif
