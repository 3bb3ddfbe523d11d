/* Mechanisms in motion: against formulas, saved and resumed, under absurd forces; the excavator. */
#include "bodies_fixture.h"

#ifdef SCREE_HAVE_MUJOCO

#include <pthread.h>

static ScreeMechanismDef definition;

static Fixture *with_model(const char *text) {
  Fixture *fixture = fixture_create();
  definition = scree_mechanism_default("model.xml");
  fixture->scene.mechanism = &definition;
  fixture_write(fixture, "model.xml", text);
  return fixture;
}

static const char WHEEL[] = "<mujoco><option timestep='0.002'/><worldbody><body name='wheel' pos='0 0 1'>"
                            "<joint name='axle' type='hinge' axis='0 1 0' pos='0 0 0'/>"
                            "<geom type='cylinder' size='.3 .05' euler='90 0 0' mass='4'/></body></worldbody>"
                            "<actuator><motor name='motor' joint='axle'/></actuator></mujoco>";

/* The torque of the grains, the outside torque and the motor all turn the wheel alike. */
static void push_rim(Fixture *fixture) {
  Solid *wheel = fixture_solid(fixture, "wheel");
  wrench_add(wheel, vec3(2, 0, 0),
             vec3_add(wheel->center, vec3(0, 0, 0.25))); /* 0.5 N m about y, and a push on the axle */
}
static void turn_outside(Fixture *fixture) { fixture_solid(fixture, "wheel")->outside_torque = vec3(0, 0.5, 0); }
static void turn_by_motor(Fixture *fixture) {
  assert_ok(&fixture->core, bodies_set_control(&fixture->core, fixture->bodies, 0, 0.5));
}

static void wheel_under_torque(void **unused) {
  (void)unused;
  void (*const ways[])(Fixture *) = {push_rim, turn_outside, turn_by_motor};
  for (int way = 0; way < 3; way++) {
    Fixture *fixture = with_model(WHEEL);
    fixture_start(fixture);
    Solid *wheel = fixture_solid(fixture, "wheel");
    double inertia = 0.5 * 4 * 0.3 * 0.3, time = 0, dt = 0.005;
    assert_near(wheel->inverse_inertia[4][4], 1 / inertia, 1e-9 / inertia);
    assert_near(wheel->inverse_inertia[0][0], 0, 1e-9); /* the axle holds it */
    for (int k = 0; k < 400; k++) {
      fixture_step(fixture, dt, ways[way]);
      time += dt;
      assert_near(wheel->spin.y, 0.5 * time / inertia, 1e-8 + 1e-9 * k);
    }
    assert_near(wheel->center.z, 1, 1e-12);
    assert_near(vec3_length(wheel->velocity), 0, 1e-12);
    fixture_destroy(fixture);
  }
}

/* A free body in MuJoCo is a free body: force, torque, gravity of the scene, centre away from the frame's origin. */
static void push_corner(Fixture *fixture) {
  Solid *solid = fixture_solid(fixture, "brick");
  wrench_add(solid, vec3(3, 1, -2), vec3_add(solid->center, vec3(0.1, 0, 0.3)));
}

static void free_body_agrees(void **unused) {
  (void)unused;
  Fixture *fixture =
      with_model("<mujoco><option timestep='0.0005' gravity='0 0 5'/><worldbody><body name='brick' "
                 "pos='0 0 1'><freejoint/><geom type='box' size='.1 .2 .3' pos='.4 0 0' mass='6'/></body>"
                 "</worldbody></mujoco>");
  ScreeBodyDef body = scree_body_default("own", scree_shape_box(vec3(0.3, -0.2, -0.3), vec3(0.5, 0.2, 0.3)));
  body.mass = 6;
  body.shape.position = vec3(0, 0, 1);
  const Vec3 offset = vec3(0, 50, 0); /* so that they do not touch */
  definition.position = offset;
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture->scene.gravity = vec3(0.5, 0, -2);
  fixture->state.gravity = fixture->scene.gravity;
  fixture_start(fixture);
  Solid *theirs = fixture_solid(fixture, "brick"), *own = fixture_solid(fixture, "own");
  assert_near(vec3_length(vec3_sub(vec3_sub(theirs->center, own->center), offset)), 0, 1e-12);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) assert_near(theirs->inverse_inertia[i][j], own->inverse_inertia[i][j], 1e-9);
  for (int k = 0; k < 500; k++) {
    own->outside_force = vec3(3, 1, -2);
    own->outside_torque = vec3_cross(vec3(0.1, 0, 0.3), own->outside_force);
    fixture_step(fixture, 5e-4, push_corner);
  }
  Vec3 apart = vec3_sub(vec3_sub(theirs->center, own->center), offset);
  print_message("MuJoCo and our own free body after %.2f s: centres %.2g m, spins %.2g rad/s, turns %.2g rad apart\n",
                fixture->state.time, vec3_length(apart), vec3_length(vec3_sub(theirs->spin, own->spin)),
                vec3_length(quat_to_vector(quat_mul(theirs->rotation, quat_conjugate(own->rotation)))));
  assert_near(vec3_length(apart), 0, 1e-3);
  assert_near(vec3_length(vec3_sub(theirs->velocity, own->velocity)), 0, 5e-3);
  assert_near(vec3_length(vec3_sub(theirs->spin, own->spin)), 0, 2e-2);
  assert_true(vec3_length(own->spin) > 0.5);
  fixture_destroy(fixture);
}

/* A free body of the scene stands on a machine and presses it down: both feel it. */
static void free_body_on_a_machine(void **unused) {
  (void)unused;
  Fixture *fixture =
      with_model("<mujoco><worldbody><body name='lift'><joint type='slide' axis='0 0 1' stiffness='1000' "
                 "damping='100'/><geom type='box' size='.5 .5 .1' mass='2'/></body></worldbody></mujoco>");
  ScreeBodyDef body = scree_body_default("load", scree_shape_box(vec3(-0.1, -0.1, -0.1), vec3(0.1, 0.1, 0.1)));
  body.mass = 3;
  body.shape.position = vec3(0, 0, 0.25);
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture_start(fixture);
  for (int k = 0; k < 2000; k++) fixture_step(fixture, 0.002, NULL);
  double sag = 9.81 * (2 + 3) / 1000;
  const Solid *lift = fixture_solid(fixture, "lift"), *load = fixture_solid(fixture, "load");
  print_message("lift sags by %.5f m, formula %.5f m; load %.5f m over it\n", -lift->center.z, sag,
                load->center.z - lift->center.z);
  assert_near(lift->center.z, -sag, 0.01 * sag);
  assert_near(load->center.z - lift->center.z, 0.2, 1e-3);
  fixture_destroy(fixture);
}

/* Contact between bodies is MuJoCo's. */
static void bodies_collide(void **unused) {
  (void)unused;
  Fixture *fixture = with_model("<mujoco><worldbody><geom type='plane' size='1 1 1'/><body name='a' pos='0 0 .3'>"
                                "<freejoint/><geom type='box' size='.1 .1 .1'/></body><body name='b' pos='0 0 .6'>"
                                "<freejoint/><geom type='box' size='.1 .1 .1'/></body></worldbody></mujoco>");
  fixture_start(fixture);
  for (int k = 0; k < 400; k++) fixture_step(fixture, 0.005, NULL);
  assert_near(fixture_solid(fixture, "a")->position.z, 0.1, 0.005);
  assert_near(fixture_solid(fixture, "b")->position.z, 0.3, 0.01);
  assert_near(vec3_length(fixture_solid(fixture, "b")->velocity), 0, 1e-3);
  fixture_destroy(fixture);
}

/* A signal that swings the pile about, with muscles' inner state and contacts, so that every part of the state counts.
 */
static const char MACHINE[] =
    "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='2 2 1'/><body name='arm' pos='0 0 .5'>"
    "<joint name='j' axis='0 1 0' damping='.1'/><geom type='capsule' fromto='0 0 0 .5 0 0' size='.05'/>"
    "<body name='tip' pos='.5 0 0'><joint name='k' axis='0 1 0' damping='.1'/>"
    "<geom type='box' size='.2 .05 .05' pos='.2 0 0'/></body></body>"
    "<body name='loose' pos='.6 0 .11'><freejoint/><geom type='box' size='.1 .1 .1'/></body></worldbody>"
    "<actuator><motor name='m' joint='j' gear='20'/>"
    "<general name='slow' joint='k' dyntype='filter' dynprm='.05' gainprm='10'/></actuator></mujoco>";

static void drive(Fixture *fixture) {
  Core *core = &fixture->core;
  int64_t step = fixture->state.step;
  assert_ok(core, bodies_set_control(core, fixture->bodies, 0, step % 40 < 20 ? 1 : -1));
  if (step == 3) assert_ok(core, bodies_set_control(core, fixture->bodies, 1, -0.7));
  wrench_add(fixture_solid(fixture, "tip"), vec3(0.1 * (double)(step % 7), 0.2, -0.3), vec3(0.5, 0.1, 0.4));
}

static void saved_and_resumed(void **unused) {
  (void)unused;
  Fixture *fixture = with_model(MACHINE);
  fixture_start(fixture);
  Core *core = &fixture->core;
  State *state = &fixture->state;
  double dt = 0.0037;
  for (int k = 0; k < 150; k++) fixture_step(fixture, dt, drive);
  Archive archive;
  archive_save(&archive);
  assert_ok(core, solids_archive(core, &archive, &state->solids));
  assert_ok(core, bodies_archive(core, &archive, fixture->bodies, state));
  double time = state->time;
  uint64_t middle = solids_hash(&state->solids);
  for (int k = 0; k < 150; k++) fixture_step(fixture, dt, drive);
  uint64_t expected = solids_hash(&state->solids);
  assert_true(expected != middle);

  fixture_reset(fixture);
  fixture_start(fixture);
  for (int k = 0; k < 10; k++) fixture_step(fixture, dt, drive); /* loading must not lean on a fresh mechanism */
  Archive reading;
  archive_load(&reading, "checkpoint", archive.data, archive.size);
  assert_ok(core, solids_archive(core, &reading, &state->solids));
  assert_ok(core, bodies_archive(core, &reading, fixture->bodies, state));
  state->time = time;
  state->step = 150;
  assert_true(solids_hash(&state->solids) == middle);
  for (int k = 0; k < 150; k++) fixture_step(fixture, dt, drive);
  assert_true(solids_hash(&state->solids) == expected);

  ((char *)archive.data)[archive.size - 60] ^= 0x7f;
  archive_load(&reading, "checkpoint", archive.data, archive.size / 2);
  Status status = solids_archive(core, &reading, &state->solids);
  if (status == SCREE_OK) status = bodies_archive(core, &reading, fixture->bodies, state);
  assert_int_equal(status, SCREE_BAD_INPUT);
  archive_destroy(core, &archive);
  fixture_destroy(fixture);
}

/* Worlds of several threads load and step mechanisms side by side. No asserts of cmocka's in here: they jump. */
typedef struct Runner {
  Fixture *fixture;
  ScreeMechanismDef model;
  uint64_t hash;
  Status status;
} Runner;

static void *run_machine(void *context) {
  Runner *runner = context;
  Fixture *fixture = runner->fixture;
  Core *core = &fixture->core;
  runner->status = fixture_try(fixture);
  for (int k = 0; k < 100 && runner->status == SCREE_OK; k++) {
    runner->status = bodies_set_control(core, fixture->bodies, 0, k % 40 < 20 ? 1 : -1);
    if (runner->status == SCREE_OK) runner->status = bodies_refresh(core, fixture->bodies, &fixture->state, 0.0037);
    if (runner->status == SCREE_OK) runner->status = bodies_advance(core, fixture->bodies, &fixture->state, 0.0037);
    fixture->state.time += 0.0037;
  }
  runner->hash = solids_hash(&fixture->state.solids);
  return NULL;
}

static void worlds_in_threads(void **unused) {
  (void)unused;
  Runner runners[4];
  pthread_t threads[4];
  for (int k = 0; k < 4; k++) {
    runners[k] = (Runner){.fixture = with_model(MACHINE), .model = scree_mechanism_default("model.xml")};
    runners[k].fixture->scene.mechanism = &runners[k].model;
  }
  run_machine(&runners[0]);
  for (int k = 1; k < 4; k++) assert_int_equal(pthread_create(&threads[k], NULL, run_machine, &runners[k]), 0);
  for (int k = 1; k < 4; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
  for (int k = 0; k < 4; k++) {
    assert_int_equal(runners[k].status, SCREE_OK);
    assert_true(runners[k].hash == runners[0].hash);
    fixture_destroy(runners[k].fixture);
  }
}

/* Two plates that motors press together, with something between that answers absurdly, first one way, then the other.
 */
static const char PRESS[] =
    "<mujoco><worldbody><body name='left' pos='-.5 0 0'><joint name='l' type='slide' axis='1 0 0'/>"
    "<geom type='box' size='.05 .3 .3' mass='1' contype='0' conaffinity='0'/></body><body name='right' pos='.5 0 0'>"
    "<joint name='r' type='slide' axis='1 0 0'/><geom type='box' size='.05 .3 .3' mass='1' contype='0' "
    "conaffinity='0'/></body></worldbody><actuator><motor name='ml' joint='l' gear='1000'/>"
    "<motor name='mr' joint='r' gear='-1000'/></actuator></mujoco>";

static void squeeze(Fixture *fixture) {
  Core *core = &fixture->core;
  for (int k = 0; k < 2; k++) assert_ok(core, bodies_set_control(core, fixture->bodies, k, 1));
  Solid *left = fixture_solid(fixture, "left"), *right = fixture_solid(fixture, "right");
  double gap = right->center.x - left->center.x - 0.1;
  if (gap > 0.2) return;
  double force = 1e12 * (0.2 - gap); /* a spring far too stiff for the step */
  force = fmin(force, 4e9);
  wrench_add(left, vec3(-force, 0, 0), left->center);
  wrench_add(right, vec3(force, 0, 0), right->center);
}

static void pressed_through_sand(void **unused) {
  (void)unused;
  Fixture *fixture = with_model(PRESS);
  fixture_start(fixture);
  fixture->state.radius = 0.02;
  fixture->state.gravity = vec3(0, 0, 0);
  double fastest = 0;
  for (int k = 0; k < 5000; k++) {
    fixture_step(fixture, bodies_largest_step(&fixture->core, fixture->bodies, &fixture->state, 0.005), squeeze);
    const Solid *left = fixture_solid(fixture, "left");
    assert_true(vec3_finite(left->position) && vec3_finite(left->velocity));
    fastest = fmax(fastest, vec3_length(left->velocity));
    assert_true(vec3_length(left->velocity) < 50 && vec3_length(left->position) < 5);
  }
  assert_true(state_counted(&fixture->state, "wrench_limited") > 0);
  print_message("press: %lld wrenches limited in 5000 steps, fastest %.1f m/s\n",
                (long long)state_counted(&fixture->state, "wrench_limited"), fastest);
  fixture_destroy(fixture);
}

/* What MuJoCo cannot step at all is a failed simulation, not a crash and not a NaN. */
static void blow_up_is_a_status(void **unused) {
  (void)unused;
  Fixture *fixture = with_model(PRESS);
  fixture_start(fixture);
  fixture_solid(fixture, "left")->outside_force = vec3(1e200, 0, 0);
  Status status = bodies_refresh(&fixture->core, fixture->bodies, &fixture->state, 0.005);
  assert_int_equal(status, SCREE_OK);
  status = bodies_advance(&fixture->core, fixture->bodies, &fixture->state, 0.005);
  assert_int_equal(status, SCREE_FAILED);
  assert_said(fixture, "blew up");
  assert_true(vec3_finite(fixture_solid(fixture, "left")->position));
  fixture_destroy(fixture);
}

static Vec3 bucket_tip(Fixture *fixture) {
  return solid_to_world(fixture_solid(fixture, "bucket"), vec3(0.395, 0, -0.048));
}

static void excavator(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  definition = scree_mechanism_default("excavator.xml");
  definition.controls = "excavator_dig.csv";
  fixture->scene.mechanism = &definition;
  fixture_start(fixture);
  assert_int_equal(bodies_control_count(fixture->bodies), 4);
  const Solid *cab = fixture_solid(fixture, "cab"); /* a geom */
  assert_string_equal(cab->name, "house");
  const Solid *bucket = fixture_solid(fixture, "bucket"), *chassis = fixture_solid(fixture, "excavator");
  assert_int_equal(chassis->motion, MOTION_FIXED);
  assert_near(bucket->mass, 6, 1e-9);
  assert_true(bucket->shape.mesh.triangle_count > 20);
  Vec3 tip = bucket_tip(fixture), low = tip, high = tip;
  Vec3 speed_gap = vec3(0, 0, 0);
  for (int k = 0; k < 1200; k++) {
    Vec3 before = bucket->center;
    fixture_step(fixture, 0.005, NULL);
    tip = bucket_tip(fixture);
    low = vec3_min(low, tip);
    high = vec3_max(high, tip);
    /* the velocity told is that of the motion: its mean over a step, up to the acceleration */
    Vec3 mean = vec3_scale(vec3_sub(bucket->center, before), 1 / 0.005);
    speed_gap = vec3_max(speed_gap, vec3(vec3_length(vec3_sub(mean, bucket->velocity)), 0, 0));
    assert_true(vec3_length(bucket->velocity) < 5);
  }
  print_message("bucket tip moves from (%.2f %.2f %.2f) to (%.2f %.2f %.2f); step %.4f s\n", low.x, low.y, low.z,
                high.x, high.y, high.z, 0.005);
  assert_true(vec3_length(vec3_sub(high, low)) > 0.3);
  assert_true(speed_gap.x < 0.2);
  /* by hand: the swing alone turns the house */
  for (int k = 0; k < 4; k++) {
    double value;
    bodies_control(fixture->bodies, k, NULL, &value, NULL, NULL);
    assert_ok(&fixture->core, bodies_set_control(&fixture->core, fixture->bodies, k, k == 0 ? 1.0 : value));
  }
  for (int k = 0; k < 600; k++) fixture_step(fixture, 0.005, NULL);
  const Solid *house = fixture_solid(fixture, "house");
  assert_near(2 * atan2(house->rotation.z, house->rotation.w), 1, 0.02);
  fixture_destroy(fixture);
}

/* Every machine that is shipped loads without a warning and stays where it should without grains. */
static void shipped_machines(void **unused) {
  (void)unused;
  static const struct {
    const char *model, *controls, *part;
    double moves_least, moves_most; /* m, the part's centre in 2 s */
  } machines[] = {{"paddle_wheel.xml", "", "wheel", 0, 0.05},
                  {"wheel_and_plank.xml", "", "weight_1", 0, 0.02},
                  {"wheel_and_plank.xml", "", "plank", 0, 0.01},
                  {"dump_truck.xml", "dump_truck_tip.csv", "bed", 0.05, 2}};
  for (size_t k = 0; k < sizeof machines / sizeof *machines; k++) {
    Fixture *fixture = fixture_create();
    definition = scree_mechanism_default(machines[k].model);
    definition.controls = machines[k].controls;
    fixture->scene.mechanism = &definition;
    fixture_start(fixture);
    const Solid *part = fixture_solid(fixture, machines[k].part);
    Vec3 start = part->center;
    for (int step = 0; step < 400; step++) fixture_step(fixture, 0.005, NULL);
    double moved = vec3_length(vec3_sub(part->center, start));
    print_message("%s: %s moved %.4f m\n", machines[k].model, machines[k].part, moved);
    assert_int_equal(fixture->warnings, 0);
    assert_true(moved >= machines[k].moves_least && moved <= machines[k].moves_most);
    fixture_destroy(fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wheel_under_torque),
      cmocka_unit_test(free_body_agrees),
      cmocka_unit_test(bodies_collide),
      cmocka_unit_test(saved_and_resumed),
      cmocka_unit_test(pressed_through_sand),
      cmocka_unit_test(blow_up_is_a_status),
      cmocka_unit_test(excavator),
      cmocka_unit_test(shipped_machines),
      cmocka_unit_test(free_body_on_a_machine),
      cmocka_unit_test(worlds_in_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void) { return 0; }
#endif
