/* Solids from definitions, keyframes, requests of the API, limits, checkpoint. */
#include "bodies_fixture.h"

static ScreeKeyDef key(double t, Vec3 position, Quat rotation) {
  ScreeKeyDef made = scree_key_default();
  made.t = t;
  made.position = position;
  made.rotation = rotation;
  return made;
}

static void boundaries_come_first(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBoundaryDef walls[3] = {scree_boundary_default(scree_shape_plane(vec3(0, 0, 0), vec3(0, 0, 1))),
                               scree_boundary_default(scree_shape_box(vec3(-1, -1, 0), vec3(1, 1, 2))),
                               scree_boundary_default(scree_shape_sphere(vec3(0, 0, 3), 0.5))};
  walls[0].name = "floor";
  walls[1].inside = true;
  walls[1].friction_static = 0.7;
  walls[2].shape.position = vec3(0, 0, 1);
  ScreeBodyDef body = scree_body_default(NULL, scree_shape_sphere(vec3(0, 0, 0), 0.1));
  fixture->scene.boundaries = walls;
  fixture->scene.boundary_count = 3;
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture_start(fixture);
  const Solids *solids = &fixture->state.solids;
  assert_int_equal(solids->count, 4);
  assert_int_equal(solids->boundary_count, 3);
  const char *names[] = {"floor", "boundary_2", "boundary_3", "body_1"};
  for (int k = 0; k < 4; k++) {
    assert_string_equal(solids->items[k].name, names[k]);
    assert_int_equal(solids->items[k].is_boundary, k < 3);
  }
  assert_near(solids->items[1].friction_static, 0.7, 0);
  assert_int_equal(solids->items[1].motion, MOTION_FIXED);
  assert_near(solids->items[2].mass, 0, 0);
  assert_near(solids->items[2].inverse_inertia[0][0], 0, 0);
  ShapePoint contacts[SHAPE_CONTACTS_MAX];
  assert_int_equal(solid_contacts(&solids->items[2], vec3(0, 0, 4.6), 1, contacts), 1);
  assert_near(contacts[0].distance, 0.1, 1e-12);
  assert_int_equal(solids->items[3].motion, MOTION_FREE);
  assert_int_equal(bodies_find(fixture->bodies, &fixture->state, "nobody"), -1);
  fixture_destroy(fixture);
}

static void names_are_unique(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBoundaryDef wall = scree_boundary_default(scree_shape_plane(vec3(0, 0, 0), vec3(0, 0, 1)));
  wall.name = "thing";
  ScreeBodyDef body = scree_body_default("thing", scree_shape_sphere(vec3(0, 0, 0), 0.1));
  body.source = (ScreeSource){12, 5};
  fixture->scene.boundaries = &wall;
  fixture->scene.boundary_count = 1;
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  assert_int_equal(fixture_try(fixture), SCREE_BAD_INPUT);
  assert_int_equal(fixture->core.error.line, 12);
  assert_int_equal(fixture->core.error.column, 5);
  assert_said(fixture, "'thing'");
  fixture_destroy(fixture);
}

static const double TETRAHEDRON[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const int64_t FACES[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

/* The centre of mass of a mesh is not its origin: position places the origin, velocity is the centre's. */
static void mesh_body(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeShapeDef shape = scree_shape_default(SCREE_SHAPE_MESH);
  shape.mesh = (ScreeMeshDef){.vertices = TETRAHEDRON, .triangles = FACES, .vertex_count = 4, .triangle_count = 4};
  shape.position = vec3(5, 0, 0);
  shape.rotation = (Quat){sqrt(0.5), 0, 0, sqrt(0.5)}; /* x to y */
  ScreeBodyDef body = scree_body_default("wedge", shape);
  body.density = 600;
  body.spin = vec3(0, 0, 2);
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture_start(fixture);
  Solid *solid = fixture_solid(fixture, "wedge");
  assert_near(solid->mass, 100, 1e-9);
  assert_near(solid->position.x, 5, 0);
  assert_near(solid->center.x, 5 - 0.25, 1e-12);
  assert_near(solid->center.y, 0.25, 1e-12);
  assert_near(solid->inertia.m[0][0], 600 * (1.0 / 30 - 2 * 0.0625 / 6), 1e-9); /* about the centre */
  fixture->state.gravity = vec3(0, 0, 0);
  for (int k = 0; k < 100; k++) fixture_step(fixture, 0.01, NULL);
  assert_near(solid->center.x, 4.75, 1e-12); /* the centre rests while the body turns */
  assert_near(vec3_length(vec3_sub(solid->position, solid->center)), sqrt(3) / 4, 1e-12);
  fixture_destroy(fixture);
}

static void mesh_that_encloses_nothing(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeShapeDef shape = scree_shape_default(SCREE_SHAPE_MESH);
  static const int64_t sheet[] = {0, 1, 2, 0, 2, 1};
  shape.mesh = (ScreeMeshDef){.vertices = TETRAHEDRON, .triangles = sheet, .vertex_count = 4, .triangle_count = 2};
  ScreeBodyDef body = scree_body_default("sheet", shape);
  body.source = (ScreeSource){7, 3};
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  assert_int_equal(fixture_try(fixture), SCREE_BAD_INPUT);
  assert_string_equal(fixture->core.error.file, "scene.yaml");
  assert_int_equal(fixture->core.error.line, 7);
  assert_int_equal(fixture->core.error.column, 3);
  assert_said(fixture, "encloses nothing");
  fixture_reset(fixture);
  body.motion = SCREE_MOTION_FIXED; /* as something in the way it will do */
  fixture_start(fixture);
  fixture_destroy(fixture);
}

static void keyframes(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  Quat quarter = {sqrt(0.5), 0, 0, sqrt(0.5)};
  ScreeKeyDef keys[] = {key(1, vec3(0, 0, 0), quat_identity()), key(2, vec3(2, 0, 0), quarter),
                        key(3, vec3(2, 0, 4), quarter)};
  ScreeBodyDef body = scree_body_default("gate", scree_shape_box(vec3(-0.5, -0.1, -0.5), vec3(0.5, 0.1, 0.5)));
  body.motion = SCREE_MOTION_KEYFRAMES;
  body.keys = keys;
  body.key_count = 3;
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture->state.radius = 0.02;
  fixture_start(fixture);
  Solid *solid = fixture_solid(fixture, "gate");
  double dt = 0.125; /* exact in binary */
  for (int k = 0; k < 32; k++) {
    Vec3 before = solid->position;
    fixture_step(fixture, dt, NULL);
    double t = fixture->state.time;
    Vec3 velocity = t <= 1 ? vec3(0, 0, 0) : t <= 2 ? vec3(2, 0, 0) : t <= 3 ? vec3(0, 0, 4) : vec3(0, 0, 0);
    assert_near(vec3_length(vec3_sub(solid->velocity, velocity)), 0, 1e-12);
    assert_near(solid->spin.z, t > 1 && t <= 2 ? M_PI / 2 : 0, 1e-12);
    assert_near(solid->spin.x, 0, 1e-12);
    /* the velocity that grains feel is the motion */
    assert_near(vec3_length(vec3_sub(vec3_madd(before, solid->velocity, dt), solid->position)), 0, 1e-12);
  }
  assert_near(solid->position.z, 4, 0);
  assert_near(solid->rotation.z, sqrt(0.5), 1e-15);
  fixture_destroy(fixture);
}

static void keyframe_steps(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeKeyDef keys[] = {key(0, vec3(0, 0, 0), quat_identity()), key(1, vec3(0, 0, 0), quat_identity()),
                        key(2, vec3(10, 0, 0), quat_identity())};
  ScreeBoundaryDef wall = scree_boundary_default(scree_shape_sphere(vec3(0, 0, 0), 1));
  wall.keys = keys;
  wall.key_count = 3;
  fixture->scene.boundaries = &wall;
  fixture->scene.boundary_count = 1;
  fixture_start(fixture);
  assert_true(isinf(bodies_largest_step(&fixture->core, fixture->bodies, &fixture->state, INFINITY)));
  fixture->state.radius = 0.02;
  assert_near(bodies_largest_step(&fixture->core, fixture->bodies, &fixture->state, INFINITY), 1 + 0.001,
              1e-12); /* rests for 1 s, then 10 m/s */
  fixture->state.time = 1.5;
  assert_near(bodies_largest_step(&fixture->core, fixture->bodies, &fixture->state, INFINITY), 0.001, 1e-12);
  fixture->state.time = 2;
  assert_true(isinf(bodies_largest_step(&fixture->core, fixture->bodies, &fixture->state, INFINITY)));
  fixture_destroy(fixture);
}

/* The displacement of a spinning body's surface is that of its farthest point from the axis, not from the centre. */
static void spinning_steps(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBodyDef bodies[2] = {scree_body_default("roll", scree_shape_box(vec3(-0.3, -2, -0.4), vec3(0.3, 2, 0.4))),
                            scree_body_default("ball", scree_shape_sphere(vec3(0, 0, 0), 1))};
  bodies[1].shape.position = vec3(9, 0, 0);
  fixture->scene.bodies = bodies;
  fixture->scene.body_count = 2;
  fixture_start(fixture);
  fixture->state.radius = 0.02;
  fixture->state.solids.items[0].spin = vec3(0, 10, 0);
  assert_near(bodies_largest_step(&fixture->core, fixture->bodies, &fixture->state, INFINITY), 0.01 / (10 * 0.5), 1e-9);
  fixture->state.solids.items[1].spin = vec3(6, 6, 7);
  assert_near(bodies_largest_step(&fixture->core, fixture->bodies, &fixture->state, INFINITY), 0.01 / 11, 1e-9);
  fixture_destroy(fixture);
}

static void bad_keys(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeKeyDef keys[] = {key(1, vec3(0, 0, 0), quat_identity()), key(1, vec3(2, 0, 0), quat_identity())};
  keys[1].source = (ScreeSource){4, 9};
  ScreeBodyDef body = scree_body_default("gate", scree_shape_sphere(vec3(0, 0, 0), 1));
  body.motion = SCREE_MOTION_KEYFRAMES;
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  assert_int_equal(fixture_try(fixture), SCREE_BAD_INPUT);
  assert_said(fixture, "no keys");
  fixture_reset(fixture);
  body.keys = keys;
  body.key_count = 2;
  assert_int_equal(fixture_try(fixture), SCREE_BAD_INPUT);
  assert_said(fixture, "ascend");
  assert_int_equal(fixture->core.error.line, 4);
  fixture_reset(fixture);
  keys[1].t = NAN;
  assert_int_equal(fixture_try(fixture), SCREE_BAD_INPUT);
  fixture_reset(fixture);
  keys[1].t = 2;
  keys[1].rotation = (Quat){0, 0, 0, 0};
  assert_int_equal(fixture_try(fixture), SCREE_BAD_INPUT);
  fixture_destroy(fixture);
}

static void requests(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBoundaryDef wall = scree_boundary_default(scree_shape_box(vec3(-1, -1, 0), vec3(1, 1, 1)));
  ScreeBodyDef body = scree_body_default("ball", scree_shape_sphere(vec3(0, 0, 0), 0.5));
  body.mass = 3;
  fixture->scene.boundaries = &wall;
  fixture->scene.boundary_count = 1;
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture_start(fixture);
  Core *core = &fixture->core;
  State *state = &fixture->state;
  state->gravity = vec3(0, 0, 0);
  Solid *box = &state->solids.items[0], *ball = &state->solids.items[1];
  ScreePose there = {vec3(0, 0, 1), quat_identity()};
  assert_ok(core, bodies_set_pose(core, fixture->bodies, state, 0, there, 0.1));
  for (int k = 0; k < 10; k++) {
    fixture_step(fixture, 0.01, NULL);
    assert_near(box->velocity.z, 10, 1e-9);
    assert_near(box->position.z, 0.1 * (k + 1), 1e-9);
  }
  fixture_step(fixture, 0.01, NULL);
  assert_near(box->velocity.z, 0, 0);
  assert_near(box->position.z, 1, 0);

  there.position.y = 10;                                                         /* away from the box */
  assert_ok(core, bodies_set_pose(core, fixture->bodies, state, 1, there, 0.1)); /* a free body goes there at once */
  assert_near(ball->center.z, 1, 1e-15);
  assert_ok(core, bodies_set_velocity(core, fixture->bodies, state, 1, vec3(1, 0, 0), vec3(0, 0, 1)));
  assert_ok(core, bodies_set_force(core, fixture->bodies, state, 1, vec3(6, 0, 0), vec3(0, 0, 0)));
  fixture_step(fixture, 0.5, NULL);
  assert_near(ball->velocity.x, 2, 1e-12);
  assert_near(ball->position.x, 1, 1e-12);

  assert_int_equal(bodies_set_velocity(core, fixture->bodies, state, 0, vec3(0, 0, 0), vec3(0, 0, 0)),
                   SCREE_BAD_ARGUMENT);
  core_report(core, SCREE_OK, NULL);
  assert_int_equal(bodies_set_pose(core, fixture->bodies, state, 2, there, 0.1), SCREE_BAD_ARGUMENT);
  core_report(core, SCREE_OK, NULL);
  there.position.x = NAN;
  assert_int_equal(bodies_set_pose(core, fixture->bodies, state, 0, there, 0.1), SCREE_BAD_ARGUMENT);
  core_report(core, SCREE_OK, NULL);
  assert_int_equal(bodies_set_force(core, fixture->bodies, state, 1, vec3(INFINITY, 0, 0), vec3(0, 0, 0)),
                   SCREE_BAD_ARGUMENT);
  core_report(core, SCREE_OK, NULL);
  assert_int_equal(bodies_control_count(fixture->bodies), 0);
  assert_int_equal(bodies_set_control(core, fixture->bodies, 0, 1), SCREE_BAD_ARGUMENT);
  fixture_destroy(fixture);
}

static void push_absurdly(Fixture *fixture) {
  Solid *ball = fixture_solid(fixture, "ball");
  wrench_add(ball, vec3(1e9, 0, 0), vec3_add(ball->center, vec3(0, 0.1, 0)));
}
static void push_sensibly(Fixture *fixture) {
  Solid *ball = fixture_solid(fixture, "ball");
  wrench_add(ball, vec3(10, 0, 0), ball->center);
}

static void hold(Fixture *fixture) {
  Solid *ball = fixture_solid(fixture, "ball");
  wrench_add(ball, vec3_scale(fixture->state.gravity, -ball->mass), ball->center);
}
/* In a step of 1/60 s. */
static void stop(Fixture *fixture) {
  Solid *ball = fixture_solid(fixture, "ball");
  wrench_add(ball, vec3_scale(ball->velocity, -60 * ball->mass), ball->center);
  hold(fixture);
}

/* Where the method finds a solid's motion with the wrench, a long step may hold or stop it whatever the grains' size,
 * but throws it no faster than it or what is round it moves. */
static void wrenches_of_a_common_solve(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBodyDef bodies[2] = {scree_body_default("ball", scree_shape_sphere(vec3(0, 0, 0), 0.1)),
                            scree_body_default("other", scree_shape_sphere(vec3(0, 0, 0), 0.1))};
  bodies[0].mass = bodies[1].mass = 1;
  bodies[0].velocity = vec3(0, 0, -3);
  bodies[1].shape.position = vec3(10, 0, 0);
  fixture->scene.bodies = bodies;
  fixture->scene.body_count = 2;
  fixture_start(fixture);
  State *state = &fixture->state;
  state->gravity = vec3(0, 0, -9.81);
  state->radius = 0.001;
  bodies_couple(fixture->bodies, COUPLING_SOLVED, 2);
  Solid *ball = fixture_solid(fixture, "ball");
  fixture_step(fixture, 1.0 / 60, hold);
  assert_near(ball->velocity.z, -3, 1e-6);
  fixture_step(fixture, 1.0 / 60, stop);
  assert_near(ball->velocity.z, 0, 1e-6);
  for (int k = 0; k < 10; k++) fixture_step(fixture, 1.0 / 60, hold);
  assert_near(ball->velocity.z, 0, 1e-6);
  assert_int_equal(state_counted(state, "wrench_limited"), 0);
  fixture_solid(fixture, "other")->velocity = vec3(0, 4, 0);
  fixture_step(fixture, 1.0 / 60, push_absurdly);
  assert_int_equal(state_counted(state, "wrench_limited"), 1);
  assert_true(vec3_length(ball->velocity) < 4.2 && ball->velocity.x > 0.5); /* the rest is spin */
  fixture_destroy(fixture);
}

static void wrenches_are_limited(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBodyDef body = scree_body_default("ball", scree_shape_sphere(vec3(0, 0, 0), 0.1));
  body.mass = 1;
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture_start(fixture);
  State *state = &fixture->state;
  state->gravity = vec3(0, 0, 0);
  state->radius = 0.02;
  Solid *ball = fixture_solid(fixture, "ball");
  fixture_step(fixture, 0.001, push_sensibly);
  assert_near(ball->velocity.x, 0.01, 1e-9);
  assert_int_equal(state_counted(state, "wrench_limited"), 0);
  fixture_step(fixture, 0.001, push_absurdly);
  assert_int_equal(state_counted(state, "wrench_limited"), 1);
  assert_true(vec3_length(ball->velocity) < 41); /* two radii a step */
  assert_true(ball->velocity.x > 1);
  fixture_destroy(fixture);
}

static void checkpoint(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBoundaryDef wall = scree_boundary_default(scree_shape_box(vec3(-1, -1, 0), vec3(1, 1, 1)));
  ScreeBodyDef body = scree_body_default("brick", scree_shape_box(vec3(-0.1, -0.2, -0.3), vec3(0.1, 0.2, 0.3)));
  body.spin = vec3(1, 5, 0.1);
  fixture->scene.boundaries = &wall;
  fixture->scene.boundary_count = 1;
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture_start(fixture);
  Core *core = &fixture->core;
  State *state = &fixture->state;
  ScreePose there = {vec3(0, 1, 0), {sqrt(0.5), sqrt(0.5), 0, 0}};
  assert_ok(core, bodies_set_pose(core, fixture->bodies, state, 0, there, 0.2));
  for (int k = 0; k < 10; k++) fixture_step(fixture, 0.01, NULL);
  Archive archive;
  archive_save(&archive);
  assert_ok(core, solids_archive(core, &archive, &state->solids));
  assert_ok(core, bodies_archive(core, &archive, fixture->bodies, state));
  double time = state->time;
  for (int k = 0; k < 20; k++) fixture_step(fixture, 0.01, NULL);
  uint64_t expected = solids_hash(&state->solids);

  fixture_reset(fixture);
  fixture_start(fixture);
  Archive reading;
  archive_load(&reading, "checkpoint", archive.data, archive.size);
  assert_ok(core, solids_archive(core, &reading, &state->solids));
  assert_ok(core, bodies_archive(core, &reading, fixture->bodies, state));
  state->time = time;
  for (int k = 0; k < 20; k++) fixture_step(fixture, 0.01, NULL);
  assert_true(solids_hash(&state->solids) == expected);

  archive_load(&reading, "checkpoint", archive.data, archive.size - 9);
  assert_ok(core, solids_archive(core, &reading, &state->solids));
  assert_int_equal(bodies_archive(core, &reading, fixture->bodies, state), SCREE_BAD_INPUT);
  archive_destroy(core, &archive);
  fixture_destroy(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boundaries_come_first),
      cmocka_unit_test(names_are_unique),
      cmocka_unit_test(mesh_body),
      cmocka_unit_test(mesh_that_encloses_nothing),
      cmocka_unit_test(keyframes),
      cmocka_unit_test(keyframe_steps),
      cmocka_unit_test(spinning_steps),
      cmocka_unit_test(bad_keys),
      cmocka_unit_test(requests),
      cmocka_unit_test(wrenches_are_limited),
      cmocka_unit_test(wrenches_of_a_common_solve),
      cmocka_unit_test(checkpoint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
