/* Free rigid motion against formulas. */
#include "bodies_fixture.h"

static ScreeBodyDef box_body(const char *name, Vec3 size) {
  ScreeBodyDef body = scree_body_default(name, scree_shape_box(vec3_scale(size, -0.5), vec3_scale(size, 0.5)));
  body.motion = SCREE_MOTION_FREE;
  return body;
}

/* Symplectic Euler: velocities are exact, positions ahead by g t dt / 2. */
static void free_fall(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBodyDef body = scree_body_default("ball", scree_shape_sphere(vec3(0, 0, 0), 0.1));
  body.shape.position = vec3(1, 2, 3);
  body.velocity = vec3(1, 0, 2);
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture_start(fixture);
  Solid *solid = fixture_solid(fixture, "ball");
  double dt = 1e-3;
  for (int k = 0; k < 1000; k++) fixture_step(fixture, dt, NULL);
  assert_near(solid->velocity.z, 2 - 9.81, 1e-11);
  assert_near(solid->position.x, 2, 1e-12);
  assert_near(solid->position.z, 3 + 2 - 9.81 / 2 - 9.81 * dt / 2, 1e-10);
  assert_near(solid->mass, 2500 * 4.0 / 3 * M_PI * 1e-3, 1e-9 * solid->mass);
  fixture_destroy(fixture);
}

static const double SPRING = 40;
static void pull_spring(Fixture *fixture) {
  Solid *solid = &fixture->state.solids.items[0];
  solid->outside_force = vec3(-SPRING * solid->center.x, 0, 0);
}

/* x = cos(w t): amplitude kept to order w dt, period to (w dt)^2 / 24. */
static void spring(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBodyDef body = box_body("block", vec3(0.2, 0.2, 0.2));
  body.mass = 2;
  body.shape.position = vec3(1, 0, 0);
  fixture->scene.gravity = vec3(0, 0, 0);
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture->state.gravity = vec3(0, 0, 0);
  fixture_start(fixture);
  Solid *solid = fixture_solid(fixture, "block");
  double w = sqrt(SPRING / 2), dt = 1e-3, worst = 0, most = 0;
  for (int k = 1; k <= 20000; k++) {
    fixture_step(fixture, dt, pull_spring);
    worst = fmax(worst, fabs(solid->center.x - cos(w * k * dt)));
    most = fmax(most, fabs(solid->center.x));
  }
  /* 14 periods; phase error w^3 dt^2 t / 24 = 7.5e-5, amplitude w dt / 2 = 2.2e-3 */
  assert_true(worst < 0.5 * w * dt + 2e-4);
  assert_true(most < 1 + 0.5 * w * dt);
  fixture_destroy(fixture);
}

/* A torque-free asymmetric body, near the unstable middle axis, for 10 s. */
static void torque_free(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBodyDef body = box_body("brick", vec3(0.1, 0.2, 0.4));
  body.spin = vec3(0.05, 8, 0.02);
  body.shape.rotation = (Quat){0.8, 0.2, -0.4, 0.4};
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture_start(fixture);
  fixture->state.gravity = vec3(0, 0, 0);
  Solid *solid = fixture_solid(fixture, "brick");
  solid->velocity = vec3(0, 0, 0);
  Vec3 start = solid_momentum(solid);
  double energy = solid_energy(solid), worst_momentum = 0, worst_energy = 0, worst_unit = 0;
  for (int k = 0; k < 5000; k++) {
    fixture_step(fixture, 2e-3, NULL);
    Quat q = solid->rotation;
    worst_unit = fmax(worst_unit, fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1));
    worst_momentum = fmax(worst_momentum, vec3_length(vec3_sub(solid_momentum(solid), start)) / vec3_length(start));
    worst_energy = fmax(worst_energy, fabs(solid_energy(solid) / energy - 1));
  }
  print_message("torque-free, 10 s: momentum %.2g, energy %.2g, quaternion %.2g\n", worst_momentum, worst_energy,
                worst_unit);
  /* the method keeps both; what is left is the round-off of 5000 steps, some ten operations deep each */
  assert_true(worst_momentum < 5000 * 10 * 2.2e-16);
  assert_true(worst_energy < 5000 * 20 * 2.2e-16);
  assert_true(worst_unit < 1e-14);
  fixture_destroy(fixture);
}

/* A symmetric top: the axis goes round the momentum at the rate |L| / I_1, whatever the step. */
static void precession(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBodyDef body = box_body("top", vec3(0.3, 0.3, 0.1));
  body.spin = vec3(3, 0, 20);
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture_start(fixture);
  fixture->state.gravity = vec3(0, 0, 0);
  Solid *solid = fixture_solid(fixture, "top");
  Vec3 momentum = solid_momentum(solid), along = vec3_normalize(momentum);
  double rate = vec3_length(momentum) / solid->inertia.m[0][0], dt = 1e-3, time = 2;
  Vec3 axis = vec3(0, 0, 1);
  for (int k = 0; k < (int)(time / dt + 0.5); k++) fixture_step(fixture, dt, NULL);
  Vec3 expected = quat_rotate(quat_from_vector(vec3_scale(along, rate * time)), axis);
  Vec3 found = quat_rotate(solid->rotation, vec3(0, 0, 1));
  double error = vec3_length(vec3_sub(found, expected));
  print_message("precession after %.1f turns: axis off by %.2g rad\n", rate * time / (2 * M_PI), error);
  assert_true(error < 1e-3);
  fixture_destroy(fixture);
}

/* Spin about a principal axis is exact at any step, also many radians long. */
static void long_steps(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBodyDef body = box_body("wheel", vec3(0.3, 0.2, 0.1));
  body.spin = vec3(0, 0, 50);
  fixture->scene.bodies = &body;
  fixture->scene.body_count = 1;
  fixture_start(fixture);
  Solid *solid = fixture_solid(fixture, "wheel");
  for (int k = 0; k < 10; k++) fixture_step(fixture, 0.05, NULL);
  Quat expected = quat_from_vector(vec3(0, 0, 25));
  Vec3 off = quat_to_vector(quat_mul(solid->rotation, quat_conjugate(expected)));
  assert_near(vec3_length(off), 0, 1e-7);
  assert_near(solid->spin.z, 50, 1e-11);
  fixture_destroy(fixture);
}

/* A force on one body and its opposite on another, at common points as contacts do: what the pair has is kept. */
static void push_apart(Fixture *fixture) {
  Solid *a = fixture_solid(fixture, "a"), *b = fixture_solid(fixture, "b");
  for (int k = 0; k < 5; k++) {
    double t = fixture->state.time + 0.3 * k;
    Vec3 force = vec3(3 * sin(5 * t), 2 * cos(3 * t), sin(t)), point = vec3(0.1 * k, 0.3, 0.2 * sin(7 * t));
    wrench_add(a, force, point);
    wrench_add(b, vec3_scale(force, -1), point);
  }
}

static void momentum_of_a_pair(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBodyDef bodies[2] = {box_body("a", vec3(0.1, 0.2, 0.3)), box_body("b", vec3(0.2, 0.2, 0.2))};
  bodies[0].spin = vec3(1, 2, 3);
  bodies[1].shape.position = vec3(0.5, 0.4, 0.3);
  bodies[1].velocity = vec3(0.1, 0, 0);
  fixture->scene.bodies = bodies;
  fixture->scene.body_count = 2;
  fixture_start(fixture);
  fixture->state.gravity = vec3(0, 0, 0);
  Solid *a = fixture_solid(fixture, "a"), *b = fixture_solid(fixture, "b");
  Vec3 linear = vec3_add(vec3_scale(a->velocity, a->mass), vec3_scale(b->velocity, b->mass));
  Vec3 angular = vec3_add(vec3_add(solid_momentum(a), solid_momentum(b)),
                          vec3_add(vec3_cross(a->center, vec3_scale(a->velocity, a->mass)),
                                   vec3_cross(b->center, vec3_scale(b->velocity, b->mass))));
  double largest_sum = 0;
  for (int k = 0; k < 2000; k++) {
    fixture_step(fixture, 1e-3, push_apart);
    largest_sum = fmax(largest_sum, vec3_length(vec3_add(wrench_force(a), wrench_force(b))));
  }
  Vec3 linear_now = vec3_add(vec3_scale(a->velocity, a->mass), vec3_scale(b->velocity, b->mass));
  Vec3 angular_now = vec3_add(vec3_add(solid_momentum(a), solid_momentum(b)),
                              vec3_add(vec3_cross(a->center, vec3_scale(a->velocity, a->mass)),
                                       vec3_cross(b->center, vec3_scale(b->velocity, b->mass))));
  assert_true(largest_sum == 0);
  double scale = vec3_length(vec3_scale(a->velocity, a->mass)) + vec3_length(solid_momentum(a)) + 1;
  assert_near(vec3_length(vec3_sub(linear_now, linear)), 0, 1e-11 * scale);
  assert_near(vec3_length(vec3_sub(angular_now, angular)), 0, 1e-8 * scale); /* 2000 torques, each cut to 2^-30 N m */
  fixture_destroy(fixture);
}

/* Bodies of every shape come to rest on a floor and in a box, on each other, and slide down a slope as they should. */
static void rest_on_the_floor(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeBoundaryDef tank = scree_boundary_default(scree_shape_box(vec3(-1, -1, 0), vec3(1, 1, 2)));
  tank.inside = true;
  ScreeShapeDef capsule = scree_shape_default(SCREE_SHAPE_CAPSULE),
                cylinder = scree_shape_default(SCREE_SHAPE_CYLINDER);
  capsule.capsule = (ScreeCapsuleDef){.base = vec3(0, 0, -0.1), .radius = 0.1, .height = 0.2};
  cylinder.cylinder = (ScreeCylinderDef){.base = vec3(0, 0, -0.1), .radius = 0.15, .height = 0.2};
  ScreeBodyDef bodies[5] = {scree_body_default("ball", scree_shape_sphere(vec3(0, 0, 0), 0.1)),
                            box_body("low", vec3(0.3, 0.3, 0.2)), box_body("high", vec3(0.2, 0.2, 0.2)),
                            scree_body_default("pill", capsule), scree_body_default("drum", cylinder)};
  const Vec3 places[5] = {{-0.5, -0.5, 0.5}, {0.5, 0.5, 0.3}, {0.5, 0.5, 0.6}, {-0.5, 0.5, 0.6}, {0.5, -0.5, 0.4}};
  for (int k = 0; k < 5; k++) bodies[k].shape.position = places[k];
  bodies[0].velocity = vec3(-1, 0, 0);
  bodies[3].shape.rotation = quat_from_vector(vec3(0.3, 0, 0));
  fixture->scene.boundaries = &tank;
  fixture->scene.boundary_count = 1;
  fixture->scene.bodies = bodies;
  fixture->scene.body_count = 5;
  fixture_start(fixture);
  for (int k = 0; k < 1000; k++) fixture_step(fixture, 0.003, NULL);
  const double heights[5] = {0.1, 0.1, 0.3, 0.1, 0.1};
  for (int k = 0; k < 5; k++) {
    const Solid *solid = fixture_solid(fixture, bodies[k].name);
    print_message("%s rests at %.5f m, %.2g m/s\n", solid->name, solid->center.z, vec3_length(solid->velocity));
    assert_near(solid->center.z, heights[k], 2e-3);
    assert_true(fabs(solid->velocity.z) < 1e-3);
    if (k == 1 || k == 2 || k == 4) assert_true(vec3_length(solid->velocity) < 1e-3);
    assert_true(fabs(solid->center.x) < 1 && fabs(solid->center.y) < 1);
  }
  fixture_destroy(fixture);
}

static void slope(void **unused) {
  (void)unused;
  for (int sticky = 0; sticky < 2; sticky++) {
    Fixture *fixture = fixture_create();
    double angle = 0.4, friction = sticky ? 0.5 : 0.2; /* tan 0.4 = 0.42 */
    ScreeBoundaryDef ramp = scree_boundary_default(scree_shape_plane(vec3(0, 0, 0), vec3(sin(angle), 0, cos(angle))));
    ramp.friction_static = friction;
    ScreeBodyDef body = box_body("block", vec3(0.4, 0.4, 0.1));
    body.friction_static = friction;
    body.shape.rotation = quat_from_vector(vec3(0, angle, 0));
    body.shape.position = vec3_scale(vec3(sin(angle), 0, cos(angle)), 0.05);
    fixture->scene.boundaries = &ramp;
    fixture->scene.boundary_count = 1;
    fixture->scene.bodies = &body;
    fixture->scene.body_count = 1;
    fixture_start(fixture);
    const Solid *solid = fixture_solid(fixture, "block");
    Vec3 start = solid->center;
    for (int k = 0; k < 1000; k++) fixture_step(fixture, 1e-3, NULL);
    double expected = sticky ? 0 : 0.5 * 9.81 * (sin(angle) - friction * cos(angle));
    double slid = vec3_length(vec3_sub(solid->center, start));
    print_message("slope, friction %.1f: slid %.4f m, formula %.4f m\n", friction, slid, expected);
    assert_near(slid, expected, 0.01);
    fixture_destroy(fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_fall),         cmocka_unit_test(spring),     cmocka_unit_test(torque_free),
      cmocka_unit_test(precession),        cmocka_unit_test(long_steps), cmocka_unit_test(momentum_of_a_pair),
      cmocka_unit_test(rest_on_the_floor), cmocka_unit_test(slope),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
