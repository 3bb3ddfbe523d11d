/* dem's eight-abreast contacts against the law written plainly in double, all pairs: the accelerations of one step. */
#include "../physics/dem_fixture.h"
#include "core/rng.h"
#include "methods/dem/contact_constants.h"

#define RADIUS 0.01
enum { SIDE = 5, GRAINS = SIDE * SIDE * SIDE };

static double random_at(int k, int axis) {
  return 2 * rng_unit(rng_bits(7, (uint64_t)k, (uint64_t)axis, RNG_TEST)) - 1;
}

typedef struct Body {
  Vec3 x, v, w, force, torque;
  double radius, mass;
  int column; /* of the constants */
} Body;

static Vec3 capped(Vec3 spring, double limit) {
  double size = vec3_length(spring);
  return size > limit ? vec3_scale(spring, limit / size) : spring;
}

/* Force and torque on `a`, whose springs begin with this step. */
static void touch(const DemConstants *constants, double dt, Body *a, const Body *b, bool wall, Vec3 point) {
  Vec3 r = vec3_sub(a->x, wall ? point : b->x);
  double apart = vec3_length(r), radii = a->radius + (wall ? 0 : b->radius), h = radii - apart;
  if (h <= 0) return;
  Vec3 n = vec3_scale(r, 1 / apart);
  double m = wall ? a->mass : a->mass * b->mass / (a->mass + b->mass);
  double R = wall ? a->radius : a->radius * b->radius / radii;
  double k = dem_hertz(constants, R);
  double c = (double)constants->damping_mass * m + (double)constants->damping_root * sqrt(m * k * sqrt(h));
  Vec3 v = wall ? a->v : vec3_sub(a->v, b->v);
  double parting = vec3_dot(v, n), pressure = fmax(k * h * sqrt(h) - c * parting, 0);
  Vec3 arm_a = vec3_scale(n, -a->radius * apart / radii);
  Vec3 surface = vec3_add(v, vec3_cross(a->w, arm_a));
  if (!wall) surface = vec3_sub(surface, vec3_cross(b->w, vec3_scale(n, b->radius * apart / radii)));
  Vec3 slide = vec3_madd(surface, n, -vec3_dot(surface, n));
  double kt = (double)constants->shear_fixed + (double)constants->shear_ratio * k * sqrt(h);
  double ct = (double)constants->shear_damping_mass * m + (double)constants->shear_damping_share * c;
  Vec3 tried = vec3_scale(slide, -(kt * dt + ct));
  double held = (double)constants->mu_static * pressure;
  Vec3 shear = vec3_length(tried) > held ? capped(tried, (double)constants->mu_kinetic * pressure) : tried;
  Vec3 spin = wall ? a->w : vec3_sub(a->w, b->w);
  Vec3 roll = capped(vec3_scale(spin, -(kt * dt + ct) * R * R), (double)constants->mu_rolling * R * pressure);
  Vec3 force = vec3_madd(shear, n, pressure - (double)constants->tension * R * R);
  a->force = vec3_add(a->force, force);
  a->torque = vec3_add(a->torque, vec3_add(vec3_cross(arm_a, force), roll));
}

static void one_step_is_that_of_the_plain_law(void **state) {
  (void)state;
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  s.def.material_count = 2;
  s.materials[0].cohesion = 1000;
  s.materials[1].young = 2e8;
  s.materials[1].friction_static = 0.1;
  s.materials[1].friction_kinetic = 0.05;
  s.materials[1].restitution = 0.9;
  s.def.gravity = (ScreeVec3){0, 0, 0};
  s.def.frame_rate = 1e5; /* a frame of one step */
  s.walls[0] = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  s.def.boundary_count = 1;
  ScreeWorld *world = dem_make(&s, 2);
  static Body bodies[GRAINS];
  double dt = 1e-5;
  for (int k = 0; k < GRAINS; k++) {
    double radius = RADIUS * (1 + 0.003 * random_at(k, 0));
    Vec3 at = vec3(k % SIDE, k / SIDE % SIDE, 0.5 + k / SIDE / SIDE);
    Vec3 x = vec3_scale(at, 1.99 * RADIUS);
    Vec3 v = vec3(0.3 * random_at(k, 1), 0.3 * random_at(k, 2), 0.3 * random_at(k, 3));
    dem_put(world, k % 2, x, v, radius);
    double density = s.materials[0].density / 0.6;
    bodies[k] = (Body){.x = vec3_madd(x, v, dt),
                       .v = v,
                       .radius = (double)(float)radius,
                       .mass = 4.0 / 3 * M_PI * radius * radius * radius * density,
                       .column = k % 2};
  }
  run_frames(world, 1);
  assert_int_equal(world->state.step, 1);
  DemConstantsTable constants = {0};
  assert_ok(&world->core, dem_constants_create(&world->core, &world->state, &constants));
  const char *names[2][3] = {{"contact_ax", "contact_ay", "contact_az"}, {"turning_x", "turning_y", "turning_z"}};
  double largest = 0;
  for (int i = 0; i < GRAINS; i++) {
    Body *a = &bodies[i];
    for (int j = 0; j < GRAINS; j++)
      if (j != i)
        touch(&constants.items[a->column * constants.columns + bodies[j].column], dt, a, &bodies[j], false, a->x);
    touch(&constants.items[a->column * constants.columns + 2], dt, a, NULL, true, vec3(a->x.x, a->x.y, 0));
    largest = fmax(largest, vec3_length(a->force) / a->mass);
  }
  assert_true(largest > 100);
  for (int i = 0; i < GRAINS; i++) {
    const Body *a = &bodies[i];
    int64_t at = dem_find(world, (uint32_t)i + 1);
    double inertia = 0.4 * a->mass * a->radius * a->radius;
    for (int c = 0; c < 3; c++) {
      double linear = vec3_get(a->force, c) / a->mass, angular = vec3_get(a->torque, c) / inertia;
      assert_near((double)dem_field(world, names[0][c])[at], linear, 1e-4 * largest);
      assert_near((double)dem_field(world, names[1][c])[at] * RADIUS, angular * RADIUS, 2.5e-4 * largest);
    }
  }
  dem_constants_destroy(&world->core, &constants);
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_step_is_that_of_the_plain_law)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
