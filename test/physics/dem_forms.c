/* dem: the printed integrators, friction that holds through everything, bodies both ways, starts without
 * room. */
#include "dem_fixture.h"
#include "methods/dem/contact_constants.h"

#define RADIUS 0.01

/* Elastic, smooth grains: the force depends on positions alone, so that the printed recurrences can be written down. */
static void smooth_scene(DemScene *s, double dt, int integrator) {
  dem_scene_begin(s, RADIUS);
  s->materials[0].friction_static = s->materials[0].friction_kinetic = 0;
  s->materials[0].rolling_friction = 0;
  s->materials[0].restitution = 1;
  s->materials[0].stiffness_n = 1e6;
  s->def.method.dem.integrator = integrator;
  s->def.method.time_step = dt;
  s->def.frame_rate = 1 / dt; /* a frame of one step */
}

/* Section 6.2 with the time step put in: v += a dt, x += v dt; and x_next = x + (x - x_old) + a dt^2. Two grains hit
 * each other; every step's distance is compared. */
static void integrators_are_the_printed_ones(void **state) {
  (void)state;
  const double dt = 2e-5, speed = 0.5;
  for (int integrator = 0; integrator < 2; integrator++) {
    DemScene s;
    smooth_scene(&s, dt, integrator);
    s.def.gravity = (ScreeVec3){0, 0, 0};
    ScreeWorld *world = dem_make(&s, 1);
    double gap = 2e-5, half = RADIUS + gap / 2, mass = 4.0 / 3 * M_PI * RADIUS * RADIUS * RADIUS * (1600 / 0.6);
    dem_put(world, 0, vec3(0, 0, half), vec3(0, 0, -speed / 2), RADIUS);
    dem_put(world, 0, vec3(0, 0, -half), vec3(0, 0, speed / 2), RADIUS);
    double x = 2 * half, v = -speed, old = x + speed * dt, deepest = 0;
    for (int step = 0; step < 120; step++) {
      double h = fmax(2 * RADIUS - x, 0), a = 1e6 * h * sqrt(h) / (mass / 2);
      double next = integrator == SCREE_INTEGRATOR_EULER ? x + (v + a * dt) * dt : x + (x - old) + a * dt * dt;
      v += a * dt;
      old = x;
      x = next;
      deepest = fmax(deepest, 2 * RADIUS - x);
      run_frames(world, 1);
      double ours = vec3_length(vec3_sub(dem_position(world, 1), dem_position(world, 2)));
      assert_near(ours, x, 1e-5 * RADIUS);
    }
    assert_true(deepest > 0.005 * RADIUS && x > 2 * RADIUS); /* it was a hit, and it is over */
    scree_world_destroy(world);
  }
}

/* A grain held on an incline by its shear and rolling springs, while others are born, settle, sort it elsewhere and are
 * taken away: a lost spring would let it slip by what the spring was stretched. */
static void springs_survive_births_deaths_and_sorting(void **state) {
  (void)state;
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  s.materials[0].friction_static = s.materials[0].friction_kinetic = 0.8;
  s.materials[0].rolling_friction = 0.8;
  s.materials[0].young = 1e6;
  double angle = 25 * M_PI / 180, g = 9.81;
  s.def.gravity = (ScreeVec3){g * sin(angle), 0, -g * cos(angle)};
  s.walls[0] = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  s.walls[0].friction_static = s.walls[0].friction_kinetic = 0.8;
  s.def.boundary_count = 1;
  ScreeWorld *world = dem_make(&s, 2);
  dem_put(world, 0, vec3(0, 0, RADIUS), vec3(0, 0, 0), RADIUS);
  run_frames(world, 60);
  Vec3 settled = dem_position(world, 1);
  for (int round = 0; round < 30; round++) {
    uint32_t fresh = world->state.particles.next_id;
    for (int k = 0; k < 4; k++)
      dem_put(world, 0, vec3(-0.2 + 0.13 * ((round + k) % 5) + 0.03, 0.05 * (k + 1), 0.03), vec3(0, 0, 0), RADIUS);
    run_frames(world, 2);
    for (uint32_t id = fresh; id < fresh + 4; id++)
      assert_int_equal(queue_death(&world->core, &world->state.queue, id, REASON_SINK, 0), SCREE_OK);
    run_frames(world, 1);
  }
  Vec3 now = dem_position(world, 1);
  print_message("it moved by %.3g radii\n", vec3_length(vec3_sub(now, settled)) / RADIUS);
  assert_int_equal(world->state.particles.count, 1);
  assert_true(vec3_length(vec3_sub(now, settled)) < 1e-4 * RADIUS);
  scree_world_destroy(world);
}

/* A free ball among grains that fly at it, no gravity: what the grains lose the ball has. */
static void bodies_get_what_grains_give(void **state) {
  (void)state;
  for (int samples = 0; samples < 2; samples++) {
    DemScene s;
    dem_scene_begin(&s, RADIUS);
    s.def.gravity = (ScreeVec3){0, 0, 0};
    s.materials[0].young = 1e6;
    ScreeBodyDef ball = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.04));
    ball.density = 2000;
    if (samples) ball.contact = SCREE_CONTACT_SAMPLES;
    s.def.bodies = &ball;
    s.def.body_count = 1;
    ScreeWorld *world = dem_make(&s, 2);
    for (int k = 0; k < 27; k++)
      dem_put(world, 0, vec3(0.07 + 0.025 * (k % 3), 0.025 * (k / 3 % 3) - 0.01, 0.025 * (k / 9) - 0.02),
              vec3(-1, 0.2, 0), RADIUS);
    run_frames(world, 1);
    double mass = 0;
    Vec3 before = vec3(0, 0, 0), after = vec3(0, 0, 0);
    run_frames(world, 12);
    const Particles *p = &world->state.particles;
    for (int64_t i = 0; i < p->count; i++) {
      mass += (double)p->mass[i];
      after = vec3_madd(after, vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]), (double)p->mass[i]);
    }
    before = vec3_scale(vec3(-1, 0.2, 0), mass);
    const Solid *solid = &world->state.solids.items[solids_find(&world->state.solids, "ball")];
    after = vec3_madd(after, solid->velocity, solid->mass);
    double error = vec3_length(vec3_sub(after, before)) / vec3_length(before);
    print_message("%s: the ball has %.3g m/s, momentum is off by %.2g\n", samples ? "samples" : "distance",
                  vec3_length(solid->velocity), error);
    assert_true(vec3_length(solid->velocity) > 0.05);
    assert_true(error < 2e-6);
    scree_world_destroy(world);
  }
}

/* Grains that start in each other and have nowhere to go: refused, and said why. */
static void a_start_without_room_is_refused(void **state) {
  (void)state;
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  s.walls[0] = scree_boundary_default(scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.06, 0.06, 0.06}));
  s.walls[0].inside = true;
  s.def.boundary_count = 1;
  ScreeWorld *world = dem_make(&s, 2);
  for (int k = 0; k < 125; k++)
    dem_put(world, 0, vec3(0.01 + 0.01 * (k % 5), 0.01 + 0.01 * (k / 5 % 5), 0.01 + 0.01 * (k / 25)), vec3(0, 0, 0),
            RADIUS);
  ScreeError error;
  Status status = SCREE_OK;
  for (int frame = 0; frame < 600 && status == SCREE_OK; frame++) status = scree_world_frame(world, &error);
  assert_int_equal(status, SCREE_FAILED);
  print_message("%s\n", error.message);
  assert_non_null(strstr(error.message, "there is no room for them"));
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integrators_are_the_printed_ones),
      cmocka_unit_test(springs_survive_births_deaths_and_sorting),
      cmocka_unit_test(bodies_get_what_grains_give),
      cmocka_unit_test(a_start_without_room_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
