/* dem, one contact at a time: against the equations of motion solved finely, and against textbook answers. */
#include "dem_fixture.h"
#include "methods/dem/contact_constants.h"

#define RADIUS 0.01
#define SPEED 0.5

/* Two equal grains seen from their centre of mass: r from the second to the first, both spins are the same. */
typedef struct Ode {
  double mass, kn, kt, gn, gt, mu; /* gn, gt: 1/s times the effective mass; restitution form: root */
  double root;
} Ode;

typedef struct Pair {
  double rx, rz, vx, vz, w, sx, sz;
} Pair;

static double rest_overlap(const Pair *p) { return 2 * RADIUS - sqrt(p->rx * p->rx + p->rz * p->rz); }

/* Rates of change; while it sticks the spring follows, what slips is put back on Coulomb's limit by the caller. */
static Pair rates(const Ode *o, const Pair *p, double *limit, double *tx, double *tz, double *damping) {
  double reduced = o->mass / 2, apart = sqrt(p->rx * p->rx + p->rz * p->rz), h = 2 * RADIUS - apart;
  double nx = p->rx / apart, nz = p->rz / apart, vn = p->vx * nx + p->vz * nz;
  Pair d = {.rx = p->vx, .rz = p->vz};
  *limit = *damping = *tx = *tz = 0;
  if (h < 0) return d;
  double c = o->gn * reduced + o->root * sqrt(o->kn * sqrt(h) * reduced);
  double pressure = fmax(o->kn * h * sqrt(h) - c * vn, 0);
  /* w is about y: w x n = (w nz, -w nx) in (x, z) */
  double slide_x = p->vx - nx * vn - apart * p->w * nz, slide_z = p->vz - nz * vn + apart * p->w * nx;
  double ct = o->gt * reduced, fx = p->sx - ct * slide_x, fz = p->sz - ct * slide_z;
  double size = sqrt(fx * fx + fz * fz);
  *limit = o->mu * pressure;
  *damping = ct;
  *tx = slide_x;
  *tz = slide_z;
  if (size > *limit) {
    fx *= *limit / size;
    fz *= *limit / size;
  }
  double force_x = fx + nx * pressure, force_z = fz + nz * pressure;
  d.vx = force_x / reduced;
  d.vz = force_z / reduced;
  /* torque = -a n x F with a = apart / 2; (n x F)_y = nz Fx - nx Fz */
  d.w = -(apart / 2) * (nz * force_x - nx * force_z) / (0.4 * o->mass * RADIUS * RADIUS);
  double dnx = (p->vx - nx * vn) / apart, dnz = (p->vz - nz * vn) / apart, along = p->sx * dnx + p->sz * dnz;
  d.sx = -o->kt * slide_x - along * nx;
  d.sz = -o->kt * slide_z - along * nz;
  return d;
}

static Pair advance(const Pair *p, const Pair *d, double t) {
  return (Pair){p->rx + d->rx * t, p->rz + d->rz * t, p->vx + d->vx * t, p->vz + d->vz * t,
                p->w + d->w * t,   p->sx + d->sx * t, p->sz + d->sz * t};
}

static Pair integrate(const Ode *o, Pair p, double duration, int steps) {
  double dt = duration / steps, limit, tx, tz, c;
  for (int k = 0; k < steps; k++) {
    Pair k1 = rates(o, &p, &limit, &tx, &tz, &c), p2 = advance(&p, &k1, dt / 2);
    Pair k2 = rates(o, &p2, &limit, &tx, &tz, &c), p3 = advance(&p, &k2, dt / 2);
    Pair k3 = rates(o, &p3, &limit, &tx, &tz, &c), p4 = advance(&p, &k3, dt);
    Pair k4 = rates(o, &p4, &limit, &tx, &tz, &c);
    Pair sum = {0};
    const double *parts[] = {&k1.rx, &k2.rx, &k3.rx, &k4.rx};
    const double weights[] = {1, 2, 2, 1};
    for (int s = 0; s < 4; s++)
      for (int f = 0; f < 7; f++) (&sum.rx)[f] += parts[s][f] * weights[s] / 6;
    p = advance(&p, &sum, dt);
    rates(o, &p, &limit, &tx, &tz, &c);
    double fx = p.sx - c * tx, fz = p.sz - c * tz, size = sqrt(fx * fx + fz * fz);
    if (rest_overlap(&p) <= 0) p.sx = p.sz = 0;
    else if (size > limit) {
      p.sx = fx * limit / size + c * tx;
      p.sz = fz * limit / size + c * tz;
    }
  }
  return p;
}

typedef struct Hit {
  double speed;   /* along the line of centres */
  double oblique; /* across it */
  double mu, kn, kt, gn, gt, restitution;
} Hit;

/* The pair after the hit, and what the equations say. */
static void collide(const Hit *hit, int integrator, Pair *ours, Pair *exact) {
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  ScreeMaterialDef *m = &s.materials[0];
  m->friction_static = m->friction_kinetic = hit->mu;
  m->stiffness_n = hit->kn;
  m->stiffness_t = hit->kt;
  m->damping_t = hit->gt;
  m->rolling_friction = 0;
  if (hit->gn >= 0) m->damping_n = hit->gn;
  else m->restitution = hit->restitution;
  s.def.gravity = (ScreeVec3){0, 0, 0};
  s.def.frame_rate = 100;
  /* Euler's error is of the first order in the step. */
  s.def.method.dem.step_safety = integrator == SCREE_INTEGRATOR_EULER ? 0.003 : 0.01;
  s.def.method.dem.integrator = integrator;
  ScreeWorld *world = dem_make(&s, 1);
  double gap = 1e-4 * RADIUS, half = RADIUS + gap / 2;
  dem_put(world, 0, vec3(0, 0, half), vec3(hit->oblique / 2, 0, -hit->speed / 2), RADIUS);
  dem_put(world, 0, vec3(0, 0, -half), vec3(-hit->oblique / 2, 0, hit->speed / 2), RADIUS);
  run_frames(world, 2);
  Vec3 v = vec3_sub(dem_velocity(world, 1), dem_velocity(world, 2));
  *ours = (Pair){.vx = v.x, .vz = v.z, .w = dem_spin(world, 1).y};
  scree_world_destroy(world);
  double mass = 4.0 / 3 * M_PI * RADIUS * RADIUS * RADIUS * (1600 / 0.6);
  Ode ode = {.mass = mass, .kn = hit->kn, .kt = hit->kt, .gn = fmax(hit->gn, 0), .gt = hit->gt, .mu = hit->mu};
  if (hit->gn < 0) ode.root = dem_damping_for(hit->restitution);
  Pair start = {.rz = 2 * RADIUS, .vx = hit->oblique, .vz = -hit->speed};
  *exact = integrate(&ode, start, 0.02, 200000);
  Pair coarser = integrate(&ode, start, 0.02, 100000);
  assert_near(exact->vz, coarser.vz, 1e-5 * hit->speed);
  assert_near(exact->vx, coarser.vx, 1e-5 * hit->speed);
}

static void agree(const Pair *ours, const Pair *exact, double share) {
  double speed = sqrt(exact->vx * exact->vx + exact->vz * exact->vz);
  assert_near(ours->vz, exact->vz, share * speed);
  assert_near(ours->vx, exact->vx, share * speed);
  assert_near(ours->w * RADIUS, exact->w * RADIUS, share * speed);
}

static void restitution_is_that_of_the_equations(void **state) {
  (void)state;
  const Hit printed = {.speed = SPEED, .kn = 1e6, .gn = 300, .restitution = NAN};
  const Hit constant = {.speed = SPEED, .kn = 1e6, .gn = -1, .restitution = 0.6};
  for (int integrator = 0; integrator < 2; integrator++) {
    Pair ours, exact;
    collide(&printed, integrator, &ours, &exact);
    agree(&ours, &exact, 1e-3);
    collide(&constant, integrator, &ours, &exact);
    agree(&ours, &exact, 1e-3);
    assert_near(ours.vz / SPEED, 0.6, 0.6e-3);
  }
}

static void constant_restitution_does_not_depend_on_speed(void **state) {
  (void)state;
  Pair ours, exact;
  const double speeds[] = {0.05, 0.2, 2};
  for (int k = 0; k < 3; k++) {
    const Hit hit = {.speed = speeds[k], .kn = 1e6, .gn = -1, .restitution = 0.3};
    collide(&hit, 0, &ours, &exact);
    assert_near(ours.vz / speeds[k], 0.3, 0.3 * 3e-3);
  }
}

static void oblique_hits_are_those_of_the_equations(void **state) {
  (void)state;
  Pair ours, exact;
  const Hit sticking = {.speed = SPEED, .oblique = 0.3, .mu = 2, .kn = 1e6, .kt = 5e3, .gn = 200, .gt = 100};
  collide(&sticking, 0, &ours, &exact);
  agree(&ours, &exact, 1e-3);
  assert_true(fabs(exact.w) > 1);
  const Hit sliding = {.speed = SPEED, .oblique = 1, .mu = 0.1, .kn = 1e9, .kt = 2e6, .gn = 200, .gt = 0};
  collide(&sliding, 0, &ours, &exact);
  agree(&ours, &exact, 1e-3);
  /* it slides all the time: the impulse across is mu times that along, shared by motion and spin as for any sphere */
  assert_near((sliding.oblique - ours.vx) / (SPEED + ours.vz), 0.1, 4e-3);
}

/* A grain on a plane in tilted gravity. */
static double acceleration_down(double mu, double angle_deg, bool rotation, double *spin) {
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  s.materials[0].friction_static = s.materials[0].friction_kinetic = mu;
  s.materials[0].rolling_friction = 0;
  s.materials[0].young = 1e7;
  double angle = angle_deg * M_PI / 180, g = 9.81;
  s.def.gravity = (ScreeVec3){g * sin(angle), 0, -g * cos(angle)};
  s.def.frame_rate = 100;
  s.def.method.dem.rotation = rotation;
  s.walls[0] = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  s.walls[0].friction_static = s.walls[0].friction_kinetic = mu;
  s.def.boundary_count = 1;
  ScreeWorld *world = dem_make(&s, 1);
  dem_put(world, 0, vec3(0, 0, RADIUS), vec3(0, 0, 0), RADIUS);
  run_frames(world, 20);
  double early = dem_velocity(world, 1).x;
  run_frames(world, 40);
  double late = dem_velocity(world, 1).x;
  *spin = dem_spin(world, 1).y * RADIUS / late;
  scree_world_destroy(world);
  return (late - early) / 0.4;
}

static void a_sphere_rolls_or_slides_down_an_incline(void **state) {
  (void)state;
  double spin, g = 9.81, angle = 20 * M_PI / 180;
  assert_near(acceleration_down(0.5, 20, true, &spin), 5.0 / 7 * g * sin(angle), 0.01 * g * sin(angle));
  assert_near(spin, 1, 0.01);
  /* just on either side of tan = 3.5 mu */
  double mu = tan(angle) / 3.5;
  assert_near(acceleration_down(1.1 * mu, 20, true, &spin), 5.0 / 7 * g * sin(angle), 0.01 * g * sin(angle));
  double slow = 0.7 * mu, expected = g * (sin(angle) - slow * cos(angle));
  assert_near(acceleration_down(slow, 20, true, &spin), expected, 0.01 * expected);
  assert_true(spin < 0.9);
  /* the paper's grains cannot turn: they stick below tan = mu and slide above */
  assert_near(acceleration_down(0.5, 20, false, &spin), 0, 1e-3);
  expected = g * (sin(angle) - 0.2 * cos(angle));
  assert_near(acceleration_down(0.2, 20, false, &spin), expected, 0.01 * expected);
}

static void a_step_too_long_is_refused_with_the_longest(void **state) {
  (void)state;
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  s.def.method.time_step = 0.01;
  ScreeWorld *world = NULL;
  ScreeError error;
  assert_int_equal(scree_world_create(&s.def, NULL, &world, &error), SCREE_BAD_INPUT);
  const char *most = strstr(error.message, "at most ");
  assert_non_null(most);
  s.def.method.time_step = 0.999 * strtod(most + 8, NULL);
  world = dem_make(&s, 1);
  scree_world_destroy(world);
}

static void grains_without_cohesion_never_pull(void **state) {
  (void)state;
  /* strong damper: the printed force alone would hold them together */
  Pair ours, exact;
  const Hit hit = {.speed = SPEED, .kn = 1e5, .gn = 4000};
  collide(&hit, 0, &ours, &exact);
  assert_true(ours.vz >= 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(restitution_is_that_of_the_equations),
      cmocka_unit_test(constant_restitution_does_not_depend_on_speed),
      cmocka_unit_test(oblique_hits_are_those_of_the_equations),
      cmocka_unit_test(a_sphere_rolls_or_slides_down_an_incline),
      cmocka_unit_test(a_step_too_long_is_refused_with_the_longest),
      cmocka_unit_test(grains_without_cohesion_never_pull),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
