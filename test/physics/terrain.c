/* The ground's physics: grains on a slope, the force on bodies, exchange. */
#include "terrain_fixture.h"

/* ---- a slope of triangles ---- */

#define SLOPE 0.4663076581549986 /* tan 25 deg */

static double slope_height(void *context, double x, double y) {
  (void)context;
  (void)y;
  return 0.2 + SLOPE * x;
}

/* One grain, not turning, slides down as on a plane, over many columns: no stairs. */
static void a_grain_slides_without_stairs(void **state) {
  (void)state;
  static const char *const methods[] = {"dem", "p2"};
  for (int m = 0; m < 2; m++) {
    Setup s;
    set_up(&s, methods[m], 0.01, 2, 0.05, 0);
    s.sand.friction_static = s.sand.friction_kinetic = 0.2;
    s.sand.restitution = 0.1;
    s.terrain.height_at = slope_height;
    s.terrain.theta_out_deg = s.terrain.theta_stop_deg =
        34; /* the slope itself stays, steeper than its material would */
    s.terrain.exchange = false;
    double normal_z = 1 / sqrt(1 + SLOPE * SLOPE);
    Vec3 up = vec3(-SLOPE * normal_z, 0, normal_z), at = vec3(1.7, 1.013, 0.2 + SLOPE * 1.7);
    at = vec3_madd(at, up, 0.01);
    s.scene.method.dem.rotation = false;
    ScreeWorld *world = make(&s.scene);
    const Particles *p = &world->state.particles;
    double density = world->state.materials.items[0].definition.grain_density;
    Birth birth = {.reason = REASON_FILL, .position = at, .radius = 0.01f, .mass = (float)(4e-6 / 3 * M_PI * density)};
    assert_ok(&world->core, queue_birth(&world->core, &world->state.queue, &birth));
    run_seconds(world, 0.1);
    Vec3 from = state_position(&world->state, 0);
    double v0 = sqrt((double)(p->vx[0] * p->vx[0] + p->vz[0] * p->vz[0])), deepest = 0, highest = 0;
    for (int k = 0; k < 36; k++) {
      run_seconds(world, 1.0 / 60);
      Vec3 now = state_position(&world->state, 0);
      double gap = ((now.z - 0.2 - SLOPE * now.x) * normal_z - 0.01) / 0.01;
      deepest = fmin(deepest, gap);
      highest = fmax(highest, gap);
    }
    Vec3 to = state_position(&world->state, 0);
    double t = 0.6, slid = vec3_length(vec3_sub(to, from)), g = 9.81 * (sin(atan(SLOPE)) - 0.2 * cos(atan(SLOPE)));
    double expected = v0 * t + 0.5 * g * t * t;
    print_message("%s: %.4f m in 0.6 s, on a plane %.4f; between %.4f and %.4f radii off it\n", methods[m], slid,
                  expected, deepest, highest);
    assert_true(fabs(slid / expected - 1) < 0.01);
    assert_true(deepest > -0.05 && highest < 0.02);
    assert_true(fabs(to.y - from.y) < 1e-3);
    scree_world_destroy(world);
  }
}

/* ---- force ---- */

static void pressures_follow_the_law(void **state) {
  (void)state;
  Setup s;
  set_up(&s, "none", 0.01, 2, 0.02, 0.6);
  s.sand.friction_angle_deg = 30;
  s.terrain.compaction = 1; /* no rim: the depth is that below level ground */
  s.body = scree_body_default("plate", scree_shape_box((ScreeVec3){-0.2, -0.2, 0}, (ScreeVec3){0.2, 0.2, 0.5}));
  s.body.motion = SCREE_MOTION_KEYFRAMES;
  s.body.friction_static = s.body.friction_kinetic = 0;
  s.keys[0] = s.keys[1] = scree_key_default();
  s.keys[0].position = (ScreeVec3){1, 1, 0.601};
  s.keys[1].t = 2;
  s.keys[1].position = (ScreeVec3){1, 1, 0.561};
  s.body.keys = s.keys;
  s.body.key_count = 2;
  s.scene.bodies = &s.body;
  s.scene.body_count = 1;
  ScreeWorld *world = make(&s.scene);
  double nq = exp(M_PI * tan(M_PI / 6)) * 3, worst = 0;
  for (int k = 0; k < 4; k++) {
    run_seconds(world, 0.5);
    ScreeBodyState plate;
    scree_world_body(world, 1, &plate);
    double depth = 0.6 - plate.pose.position.z - 0.02 / 2 / 60; /* in the middle of the frame */
    double expected = nq * 1600 * 9.81 * depth * 0.16;
    if (k > 0) worst = fmax(worst, fabs(plate.force.z / expected - 1));
    print_message("plate at %.1f mm: %.0f N, N_q rho g z A = %.0f N\n", 1e3 * depth, plate.force.z, expected);
  }
  assert_true(worst < 0.05);
  scree_world_destroy(world);
}

/* Depth to which a ball sinks, and what carries it. */
static double ball_depth(double speed, double height, double *load) {
  Setup s;
  set_up(&s, "none", 0.01, 1, 0.02, height);
  s.terrain.exchange = false;
  s.body = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.1));
  s.body.density = 3000;
  s.body.shape.position = (ScreeVec3){0.5, 0.5, height + 0.11};
  s.body.velocity = (ScreeVec3){0, 0, -speed};
  s.scene.bodies = &s.body;
  s.scene.body_count = 1;
  ScreeWorld *world = make(&s.scene);
  double before = total_mass(world);
  run_seconds(world, 1.5);
  ScreeBodyState ball;
  scree_world_body(world, 1, &ball);
  *load = ball.force.z / (ball.mass * 9.81);
  assert_true(vec3_length(ball.velocity) < 1e-3);
  assert_true(fabs(total_mass(world) / before - 1) < 1e-12);
  scree_world_destroy(world);
  return height + 0.1 - ball.pose.position.z;
}

static void a_ball_comes_to_rest_the_deeper_the_faster(void **state) {
  (void)state;
  double last = 0, load;
  static const double speeds[] = {0, 2, 4};
  for (int k = 0; k < 3; k++) {
    double depth = ball_depth(speeds[k], 0.4, &load);
    print_message("ball at %.0f m/s: %.1f mm deep, carried %.6f of its weight\n", speeds[k], 1e3 * depth, load);
    assert_true(depth > last + 1e-3 && fabs(load - 1) < 1e-6);
    last = depth;
  }
  /* thin ground: the hard bottom holds it */
  double depth = ball_depth(4, 0.03, &load);
  print_message("on 30 mm of ground: %.1f mm deep, carried %.6f\n", 1e3 * depth, load);
  assert_true(depth < 0.03 + 0.02 && fabs(load - 1) < 1e-6);
}

/* ---- exchange ---- */

static void exchange_keeps_the_height_of_a_pile(void **state) {
  (void)state;
  check_slump("pbd", 2);
  check_slump("p2", 2);
}

/* A level bed is taken in but for its surface layer, and stays as high as it was. */
static void a_bed_becomes_ground(void **state) {
  (void)state;
  Setup s;
  set_up(&s, "pbd", 0.012, 0.4, 0.05, 0);
  s.sand.friction_static = s.sand.friction_kinetic = 0.5;
  set_fill(&s, scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.4, 0.4, 0.24}), 3);
  s.grains.start = SCREE_START_DENSE;
  double heights[2];
  int64_t grains = 0, buried = 0;
  for (int exchange = 0; exchange < 2; exchange++) {
    s.terrain.exchange = exchange;
    ScreeWorld *world = world_of(&s.scene, 1);
    grains = world->state.particles.count;
    run_seconds(world, 2.5);
    heights[exchange] = pile_height(world, 0.2, 0.15);
    buried = world->state.terrain->buried;
    scree_world_destroy(world);
  }
  print_message("%lld of %lld grains buried, height %.4f m, without exchange %.4f m\n", (long long)buried,
                (long long)grains, heights[1], heights[0]);
  assert_true(buried > 0.7 * (double)grains);
  assert_true(fabs(heights[1] / heights[0] - 1) < 0.03);
}

static void set_tray(Setup *s) {
  s->tray = scree_boundary_default(scree_shape_box((ScreeVec3){0, 0, -0.5}, (ScreeVec3){1.2, 1.2, 3}));
  s->tray.inside = true;
  s->scene.boundaries = &s->tray;
  s->scene.boundary_count = 1;
}

static double cliff_height(void *context, double x, double y) {
  (void)context;
  (void)y;
  return x < 0.6 ? 0.3 : 0.05;
}

/* Of the ground that nothing rests on: where sand lies, the ground is not the surface. */
static double steepest_slope(const State *state) {
  const Terrain *t = state->terrain;
  const double *heights = ground_field(state)->heights;
  double steepest = 0;
  for (int64_t k = 0; k < t->count; k++)
    for (int d = 0; d < 8; d++) {
      int64_t other = column_neighbor(t, k, d);
      if (other >= 0 && !t->loaded[k] && !t->loaded[other])
        steepest = fmax(steepest, (heights[k] - heights[other]) / (neighbor_distance(d) * t->cell));
    }
  return steepest;
}

static void a_cliff_comes_down_as_grains(void **state) {
  (void)state;
  Setup s;
  set_up(&s, "pbd", 0.012, 1.2, 0.05, 0);
  s.terrain.height_at = cliff_height;
  set_tray(&s);
  ScreeWorld *world = make(&s.scene);
  double mass = total_mass(world);
  run_seconds(world, 1);
  const Particles *p = &world->state.particles;
  int64_t beyond = 0;
  for (int64_t i = 0; i < p->count; i++) beyond += state_position(&world->state, i).x > 0.63;
  print_message("%lld grains, %lld beyond the foot; steepest slope of the ground %.3f\n",
                (long long)world->state.terrain->exhumed, (long long)beyond, steepest_slope(&world->state));
  assert_true(world->state.terrain->exhumed > 2000 && beyond > 100);
  assert_true(steepest_slope(&world->state) < 1.1 * tan(34 * M_PI / 180));
  assert_true(fabs(total_mass(world) / mass - 1) < 1e-12);
  scree_world_destroy(world);
}

/* A blade that stands in the ground takes apart what lies above a plane that rises from below it at 45 - angle / 2
 * degrees, and no more: in sand flatter than 30 degrees that plane is too steep to stay, but the grains in the pit hold
 * it. */
static void a_blade_takes_apart_its_wedge(void **state) {
  (void)state;
  const double radius = 0.01, deep = 0.1, angle = 26, cell = 0.04, width[2] = {0.04, 0.2};
  Setup s;
  set_up(&s, "pbd", radius, 1.2, cell, 0.25);
  set_tray(&s);
  s.sand.friction_angle_deg = angle;
  s.body = scree_body_default("blade", scree_shape_box((ScreeVec3){-width[0] / 2, -width[1] / 2, 0},
                                                       (ScreeVec3){width[0] / 2, width[1] / 2, 0.3}));
  s.body.motion = SCREE_MOTION_KEYFRAMES;
  for (int k = 0; k < 2; k++) s.keys[k] = scree_key_default();
  s.keys[0].position = (ScreeVec3){0.6, 0.6, 0.25};
  s.keys[1].position = (ScreeVec3){0.6, 0.6, 0.25 - deep};
  s.keys[1].t = 0.2;
  s.body.keys = s.keys;
  s.body.key_count = 2;
  s.scene.bodies = &s.body;
  s.scene.body_count = 1;
  ScreeWorld *world = make(&s.scene);
  run_seconds(world, 0.6);
  const ScreeMaterialDef *sand = &world->state.materials.items[0].definition;
  double down = deep + 8 * radius, out = down / tan((45 - angle / 2) * M_PI / 180) + cell / 2;
  double room = (width[0] * width[1] + out * (width[0] + width[1]) + M_PI / 3 * out * out) * down;
  double grains = room * sand->density / (sand->grain_density * 4 / 3 * M_PI * radius * radius * radius);
  print_message("%lld grains of %.0f\n", (long long)world->state.terrain->exhumed, grains);
  assert_true((double)world->state.terrain->exhumed < grains && (double)world->state.terrain->exhumed > 0.1 * grains);
  scree_world_destroy(world);
}

static int64_t dug_by(double speed) {
  Setup s;
  set_up(&s, "pbd", 0.012, 1.2, 0.05, 0.2);
  set_tray(&s);
  ScreeWorld *world = make(&s.scene);
  double density = world->state.materials.items[0].definition.grain_density;
  Birth birth = {.reason = REASON_FILL,
                 .position = {0.6, 0.6, 0.24},
                 .velocity = {0, 0, -speed},
                 .radius = 0.012f,
                 .mass = (float)(4.0 / 3 * M_PI * 1.728e-6 * density)};
  assert_ok(&world->core, queue_birth(&world->core, &world->state.queue, &birth));
  run_seconds(world, 1.0 / 60);
  double mass = total_mass(world);
  run_seconds(world, 0.3);
  int64_t exhumed = world->state.terrain->exhumed;
  print_message("a grain at %.0f m/s: %lld grains dug out\n", speed, (long long)exhumed);
  assert_true(fabs(total_mass(world) / mass - 1) < 1e-12);
  scree_world_destroy(world);
  return exhumed;
}

static void a_grain_digs_when_it_hits_hard(void **state) {
  (void)state;
  assert_int_equal(dug_by(1), 0);
  int64_t some = dug_by(6), more = dug_by(30);
  assert_true(some > 10 && more > some);
}

/* Ten thousand grains fall on the middle one of nine columns. */
static void ten_thousand_grains_on_one_column(void **state) {
  (void)state;
  Setup s;
  set_up(&s, "pbd", 0.01, 0.9, 0.3, 0.05);
  ScreeShapeDef fill = scree_shape_default(SCREE_SHAPE_CYLINDER);
  fill.cylinder = (ScreeCylinderDef){.base = {0.45, 0.45, 0.06}, .radius = 0.14, .height = 2.6};
  set_fill(&s, fill, 5);
  s.grains.start = SCREE_START_DENSE;
  ScreeWorld *world = make(&s.scene);
  double mass = total_mass(world);
  print_message("%lld grains\n", (long long)world->state.particles.count);
  assert_true(world->state.particles.count >= 10000);
  run_seconds(world, 0.6);
  assert_true(fabs(total_mass(world) / mass - 1) < 1e-12);
  for (int64_t k = 0; k < world->state.terrain->count; k++)
    assert_true(isfinite(ground_field(&world->state)->heights[k]) && ground_field(&world->state)->heights[k] >= 0);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_grain_slides_without_stairs),
      cmocka_unit_test(pressures_follow_the_law),
      cmocka_unit_test(a_ball_comes_to_rest_the_deeper_the_faster),
      cmocka_unit_test(exchange_keeps_the_height_of_a_pile),
      cmocka_unit_test(a_bed_becomes_ground),
      cmocka_unit_test(a_cliff_comes_down_as_grains),
      cmocka_unit_test(a_blade_takes_apart_its_wedge),
      cmocka_unit_test(a_grain_digs_when_it_hits_hard),
      cmocka_unit_test(ten_thousand_grains_on_one_column),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
