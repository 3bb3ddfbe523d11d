/* Laws that sand as a continuum must keep. */
#include "physics/flip_fixture.h"

/* A thrown blob keeps its momentum but for gravity, its mass exactly, and does not feel itself. */
static void free_flight_keeps_mass_and_momentum(void **state) {
  (void)state;
  Fixture f;
  fixture_begin(&f, 0.02);
  fixture_fill(&f, "sand", (ScreeVec3){-0.2, -0.2, 0}, (ScreeVec3){0.2, 0.2, 0.4});
  f.grains[0].velocity = (ScreeVec3){1.5, -0.5, 3};
  ScreeWorld *world = fixture_world(&f);
  double mass = world_mass(world);
  run_frames(world, 30);
  Vec3 p = fixture_momentum(world);
  assert_near(p.x / mass, 1.5, 2e-6);
  assert_near(p.y / mass, -0.5, 2e-6);
  assert_near(p.z / mass, 3 - 9.81 * 0.5, 2e-5);
  assert_true(world_mass(world) == mass);
  scree_world_destroy(world);
}

/* Sand in a box: it stays, the floor bears its weight, and nowhere is it denser than it may be. */
static void still_sand_is_still(void **state) {
  (void)state;
  Fixture f;
  fixture_begin(&f, 0.02);
  fixture_fill(&f, "sand", (ScreeVec3){-0.24, -0.24, 0}, (ScreeVec3){0.24, 0.24, 0.32});
  fixture_tank(&f, (ScreeVec3){-0.24, -0.24, 0}, (ScreeVec3){0.24, 0.24, 1});
  ScreeWorld *world = fixture_world(&f);
  double weight = 9.81 * world_mass(world);
  run_frames(world, 120);
  double mean = 0, energy = 0;
  for (int k = 0; k < 30; k++) {
    run_frames(world, 1);
    mean += fixture_body(world, "tank").force.z / 30;
  }
  const Particles *p = &world->state.particles;
  for (int64_t i = 0; i < p->count; i++)
    energy += 0.5 * (double)(p->mass[i] * (p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]));
  assert_near(mean / weight, -1, 0.02);
  assert_true(sqrt(2 * energy / world_mass(world)) < 1e-3); /* m/s */
  scree_world_destroy(world);
}

static double sunk(double density) {
  Fixture f;
  fixture_begin(&f, 0.02);
  fixture_fill(&f, "sand", (ScreeVec3){-0.4, -0.4, 0}, (ScreeVec3){0.4, 0.4, 0.4});
  fixture_tank(&f, (ScreeVec3){-0.4, -0.4, 0}, (ScreeVec3){0.4, 0.4, 2});
  fixture_ball(&f, "ball", 0.12, (ScreeVec3){0, 0, 0.56}, density)->velocity = (ScreeVec3){0, 0, -1};
  ScreeWorld *world = fixture_world(&f);
  run_frames(world, 60);
  double z = fixture_body(world, "ball").pose.position.z;
  scree_world_destroy(world);
  return 0.4 - (z - 0.12);
}

/* Heavier balls sink deeper; the heaviest, denser than the sand, is held up by friction. */
static void balls_sink_in_the_order_of_their_mass(void **state) {
  (void)state;
  double light = sunk(500), heavy = sunk(5000);
  assert_true(light < heavy);
  assert_true(heavy < 0.39);
  assert_true(light < 0.2);
}

/* A light ball that is set down sliding comes to roll (Section 5): its lowest point hardly slips any more, while
 * without friction it would go on as it began. The first frames spin it up. */
static void a_light_ball_rolls(void **state) {
  (void)state;
  Fixture f;
  double radius = 0.12, began = 1;
  fixture_begin(&f, 0.015);
  fixture_fill(&f, "sand", (ScreeVec3){-0.3, -0.3, 0}, (ScreeVec3){0.9, 0.3, 0.12});
  fixture_tank(&f, (ScreeVec3){-0.3, -0.3, 0}, (ScreeVec3){0.9, 0.3, 1});
  fixture_ball(&f, "ball", radius, (ScreeVec3){0, 0, 0.24}, 200)->velocity = (ScreeVec3){began, 0, 0};
  ScreeWorld *world = fixture_world(&f);
  for (int k = 0; k < 5; k++) {
    run_frames(world, 5);
    ScreeBodyState ball = fixture_body(world, "ball");
    print_message("goes %.2f m/s, its rim %.2f\n", ball.velocity.x, ball.spin.y * radius);
    assert_true(ball.velocity.x > 0 && ball.spin.y > 0);
    assert_true(fabs(ball.velocity.x - ball.spin.y * radius) < 0.25 * began);
  }
  scree_world_destroy(world);
}

/* A density ratio of a thousand, two bodies in one cell, a body smaller than a cell: nothing blows up. */
static void odd_scenes_stay_finite(void **state) {
  (void)state;
  Fixture f;
  fixture_begin(&f, 0.03);
  f.materials[1] = scree_material_default("dust");
  f.materials[1].density = 1.6;
  f.scene.material_count = 2;
  fixture_fill(&f, "dust", (ScreeVec3){-0.24, -0.24, 0}, (ScreeVec3){0.24, 0.24, 0.12});
  fixture_fill(&f, "sand", (ScreeVec3){-0.24, -0.24, 0.12}, (ScreeVec3){0.24, 0.24, 0.24});
  fixture_tank(&f, (ScreeVec3){-0.24, -0.24, 0}, (ScreeVec3){0.24, 0.24, 1});
  fixture_ball(&f, "one", 0.05, (ScreeVec3){0, 0, 0.4}, 3000);
  fixture_ball(&f, "two", 0.05, (ScreeVec3){0.08, 0, 0.4}, 100);
  fixture_ball(&f, "small", 0.02, (ScreeVec3){-0.1, 0.1, 0.35}, 2000);
  ScreeWorld *world = fixture_world(&f);
  double mass = world_mass(world);
  run_frames(world, 20);
  assert_true(world_mass(world) == mass);
  scree_world_destroy(world);
}

/* A block that fills its box leaves no room: it is said or borne, never NaN. */
static void a_body_may_fill_the_domain(void **state) {
  (void)state;
  Fixture f;
  fixture_begin(&f, 0.02);
  fixture_fill(&f, "sand", (ScreeVec3){-0.16, -0.16, 0}, (ScreeVec3){0.16, 0.16, 0.16});
  fixture_tank(&f, (ScreeVec3){-0.16, -0.16, 0}, (ScreeVec3){0.16, 0.16, 1});
  ScreeBodyDef *lid = &f.bodies[f.scene.body_count++];
  *lid =
      scree_body_default("lid", scree_shape_box((ScreeVec3){-0.158, -0.158, -0.08}, (ScreeVec3){0.158, 0.158, 0.08}));
  lid->shape.position = (ScreeVec3){0, 0, 0.3};
  lid->density = 3000;
  ScreeWorld *world = fixture_world(&f);
  run_frames(world, 30);
  double z = fixture_body(world, "lid").pose.position.z;
  assert_true(z > 0.15 && z < 0.3);
  scree_world_destroy(world);
}

static double spread(double alpha, int scheme) {
  Fixture f;
  fixture_begin(&f, 0.025);
  f.materials[0].friction_angle_deg = atan(alpha * sqrt(1.5)) * 180 / M_PI;
  f.scene.method.flip.yield_surface = scheme;
  fixture_floor(&f, 1);
  fixture_fill(&f, "sand", (ScreeVec3){-0.25, -0.25, 0}, (ScreeVec3){0.25, 0.25, 0.5});
  ScreeWorld *world = fixture_world(&f);
  run_frames(world, 60);
  const Particles *p = &world->state.particles;
  double sum = 0, mass = 0;
  for (int64_t i = 0; i < p->count; i++) {
    Vec3 at = state_position(&world->state, i);
    sum += (double)p->mass[i] * sqrt(at.x * at.x + at.y * at.y);
    mass += (double)p->mass[i];
  }
  scree_world_destroy(world);
  return sum / mass;
}

/* Fig. 4: less friction, flatter piles, with any of the yield surfaces. */
static void friction_orders_the_piles(void **state) {
  (void)state;
  double low = spread(0.3, SCREE_YIELD_CONE), middle = spread(0.5, SCREE_YIELD_CONE),
         high = spread(0.7, SCREE_YIELD_CONE);
  assert_true(low > 1.05 * middle);
  assert_true(middle > 1.02 * high);
  assert_true(spread(0.5, SCREE_YIELD_BOX) < low);
  assert_true(spread(0.5, SCREE_YIELD_PLANES) < low);
}

static double width_after_a_burst(bool pulling) {
  Fixture f;
  fixture_begin(&f, 0.025);
  f.scene.gravity = (ScreeVec3){0, 0, 0};
  f.scene.method.flip.pulling = pulling;
  fixture_fill(&f, "sand", (ScreeVec3){-0.2, -0.2, -0.2}, (ScreeVec3){0.2, 0.2, 0.2});
  ScreeWorld *world = fixture_world(&f);
  world_throw(world, vec3(0, 0, 0), 1, 1);
  run_frames(world, 12);
  const Particles *p = &world->state.particles;
  double sum = 0, mass = 0;
  for (int64_t i = 0; i < p->count; i++) {
    Vec3 at = state_position(&world->state, i);
    sum += (double)p->mass[i] * vec3_dot(at, at);
    mass += (double)p->mass[i];
  }
  scree_world_destroy(world);
  return sqrt(sum / mass);
}

/* Dry sand flies apart freely; a pressure that pulls holds it together (Fig. 11). */
static void only_a_pulling_pressure_holds_sand_together(void **state) {
  (void)state;
  double loose = width_after_a_burst(false), held = width_after_a_burst(true);
  assert_true(loose > 0.35);
  assert_true(held < 0.8 * loose);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(free_flight_keeps_mass_and_momentum),
                                     cmocka_unit_test(still_sand_is_still),
                                     cmocka_unit_test(balls_sink_in_the_order_of_their_mass),
                                     cmocka_unit_test(a_light_ball_rolls),
                                     cmocka_unit_test(odd_scenes_stay_finite),
                                     cmocka_unit_test(a_body_may_fill_the_domain),
                                     cmocka_unit_test(friction_orders_the_piles),
                                     cmocka_unit_test(only_a_pulling_pressure_holds_sand_together)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
