/* Grains of pbd and p2 that turn, against laws that have a known answer. */
#include "grains_fixture.h"

#define RADIUS 0.02
#define G 9.81
#define DEGREE (M_PI / 180)

static const char *const METHODS[] = {"pbd", "p2"};

static void turning_scene(GrainScene *s, const char *method, double friction, double rolling) {
  grain_scene(s, method, RADIUS);
  s->materials[0].friction_static = s->materials[0].friction_kinetic = friction;
  s->materials[0].rolling_friction = rolling;
}

static Vec3 spin_of(ScreeWorld *world, uint32_t id) {
  static const char *const names[3] = {"spin_x", "spin_y", "spin_z"};
  const Particles *p = &world->state.particles;
  double part[3];
  for (int c = 0; c < 3; c++) {
    void **field = particles_field(p, names[c]);
    assert_non_null(field);
    part[c] = (double)((const float *)*field)[grain_of(world, id)];
  }
  return vec3(part[0], part[1], part[2]);
}

/* On a slope, as a floor under tilted gravity: where it is after each of two times, and how it turns then. */
typedef struct Rolled {
  double way[2], speed, spin;
} Rolled;

static Rolled roll_scene(GrainScene *s, double angle, double friction) {
  Rolled rolled;
  ScreeBoundaryDef *slope = add_floor(s);
  slope->friction_static = slope->friction_kinetic = friction;
  s->def.gravity = (ScreeVec3){G * sin(angle), 0, -G * cos(angle)};
  ScreeWorld *world = lone_world(s, vec3(0, 0, RADIUS), vec3(0, 0, 0));
  run_seconds(world, 0.5);
  rolled.way[0] = grain_at(world, 1).x;
  run_seconds(world, 0.5);
  rolled.way[1] = grain_at(world, 1).x;
  rolled.speed = grain_velocity(world, 1).x;
  rolled.spin = spin_of(world, 1).y;
  scree_world_destroy(world);
  return rolled;
}

static Rolled roll(const char *method, double angle, double friction, double rolling) {
  GrainScene s;
  turning_scene(&s, method, friction, rolling);
  return roll_scene(&s, angle, friction);
}

static double acceleration_of(const Rolled *rolled) { return (rolled->way[1] - rolled->way[0]) / (0.5 * (1 - 0.25)); }

static void a_slope_holds_as_long_as_rolling_is_resisted(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++)
    for (double rolling = 0.1; rolling < 0.65; rolling += 0.25) {
      Rolled below = roll(METHODS[k], atan(rolling) - 0.5 * DEGREE, 1, rolling);
      assert_near(below.way[1], 0, 1e-3 * RADIUS);
      assert_near(below.spin, 0, 0);
      Rolled above = roll(METHODS[k], atan(rolling) + 0.5 * DEGREE, 1, rolling);
      assert_true(above.way[1] > RADIUS && above.spin > 0);
    }
}

/* A sphere that rolls: 5/7 g (sin - mu_r cos); its rim keeps up with the slope. */
static void it_rolls_as_a_sphere_does(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++)
    for (double degrees = 10; degrees < 35; degrees += 10)
      for (double rolling = 0; rolling < 0.15; rolling += 0.1) {
        double angle = degrees * DEGREE, expected = 5.0 / 7 * G * (sin(angle) - rolling * cos(angle));
        Rolled rolled = roll(METHODS[k], angle, 0.8, rolling);
        assert_near(acceleration_of(&rolled), expected, 0.02 * expected);
        assert_near(rolled.spin * RADIUS, rolled.speed, 0.02 * rolled.speed);
      }
}

/* Too steep for friction to turn it as fast as it slides: g (sin - mu cos), and the spin is 5/2 mu g cos t / r. */
static void it_slides_and_turns_where_friction_is_small(void **state) {
  (void)state;
  const double angle = 40 * DEGREE, friction = 0.1;
  for (int k = 0; k < 2; k++) {
    Rolled rolled = roll(METHODS[k], angle, friction, 0);
    double expected = G * (sin(angle) - friction * cos(angle)), spin = 2.5 * friction * G * cos(angle) / RADIUS;
    assert_near(acceleration_of(&rolled), expected, 0.02 * expected);
    assert_near(rolled.spin, spin, 0.02 * spin);
  }
}

/* A grain of sand of an angle is held from rolling as it is from sliding, in dem too: by sqrt(tan(angle) of the slope),
 * and by no more than by the sand itself. */
static void sand_of_an_angle_slides_on_slopes(void **state) {
  (void)state;
  static const char *const methods[] = {"pbd", "p2", "dem"};
  const double own = tan(33 * DEGREE);
  for (int k = 0; k < 3; k++)
    for (int rough = 0; rough < 2; rough++) {
      double solid = rough ? 10 : 0.3, friction = sqrt(own * fmin(own, solid)), angle = atan(friction);
      GrainScene s;
      grain_scene(&s, methods[k], RADIUS);
      Rolled below = roll_scene(&s, angle - 1 * DEGREE, solid);
      assert_near(below.way[1], 0, 0.05 * RADIUS); /* springs of dem give way by a hundredth */
      grain_scene(&s, methods[k], RADIUS);
      angle += 5 * DEGREE;
      Rolled above = roll_scene(&s, angle, solid);
      double expected = G * (sin(angle) - friction * cos(angle));
      assert_near(acceleration_of(&above), expected, 0.03 * expected);
    }
}

/* Two that hit each other off their centres in empty space: momentum is exact, friction turns both the same way, and
 * neither gains energy. */
static void a_glancing_hit_turns_both_alike(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    GrainScene s;
    turning_scene(&s, METHODS[k], 0.5, 0);
    s.def.gravity = (ScreeVec3){0, 0, 0};
    ScreeWorld *world = lone_world(&s, vec3(-3 * RADIUS, 0, 0), vec3(1, 0, 0));
    add_grain(world, vec3(3 * RADIUS, 0, RADIUS), vec3(-1, 0, 0), RADIUS, 0);
    Vec3 before, after, turning;
    momentum_of(world, &before, &turning);
    run_seconds(world, 0.2);
    momentum_of(world, &after, &turning);
    double mass = (double)world->state.particles.mass[0];
    assert_near(vec3_length(vec3_sub(after, before)), 0, 1e-6 * mass);
    Vec3 first = spin_of(world, 1), second = spin_of(world, 2);
    assert_true(fabs(first.y) > 1);
    assert_near(vec3_length(vec3_sub(first, second)), 0, 1e-4 * vec3_length(first));
    double moving = 0;
    for (uint32_t id = 1; id <= 2; id++) {
      double v = vec3_length(grain_velocity(world, id)), w = RADIUS * vec3_length(spin_of(world, id));
      moving += 0.5 * mass * (v * v + 0.4 * w * w);
    }
    assert_true(moving < mass);
    scree_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_slope_holds_as_long_as_rolling_is_resisted),
      cmocka_unit_test(it_rolls_as_a_sphere_does),
      cmocka_unit_test(it_slides_and_turns_where_friction_is_small),
      cmocka_unit_test(sand_of_an_angle_slides_on_slopes),
      cmocka_unit_test(a_glancing_hit_turns_both_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
