/* Cohesion means the same in every method of grains: banks stand up to H_c, a contact bears what the bulk's cohesion
 * asks of it, and bonds make no energy. */
#include "dem_fixture.h"

#define RADIUS 0.01
#define GRAVITY 9.81
#define ANGLE (33 * M_PI / 180)

static const char *const METHODS[] = {"dem", "pbd", "p2"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

/* What a contact of effective radius R bears: common/cohesion.h. */
static double tension(double cohesion, double reduced) {
  return 16 * M_PI * reduced * reduced * cohesion / (0.6 * 4 * tan(ANGLE));
}

/* ---- banks ---- */

typedef struct Bank {
  const char *method;
  double share;             /* height over H_c */
  double radius, time_step; /* NaN: the method's */
  double young;             /* of dem */
} Bank;

#define BANK 0.24 /* m, height */

static void bank_scene(DemScene *s, const Bank *bank) {
  double density = 1600, length = 1.5 * BANK, width = 4 * bank->radius;
  dem_scene_begin(s, bank->radius);
  s->def.method = scree_method_default(bank->method);
  s->def.method.radius = bank->radius;
  s->def.method.time_step = bank->time_step;
  s->def.emitter_count = 0;
  s->materials[0].density = density;
  s->materials[0].cohesion = BANK * density * GRAVITY / (4 * bank->share * tan(M_PI / 4 + ANGLE / 2));
  s->materials[0].young = bank->young;
  s->grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-length, -width, 0}, (ScreeVec3){0, width, BANK}));
  s->grains.start = SCREE_START_DENSE;
  s->def.grains_count = 1;
}

/* Share of the mass of the bank's upper front that is left after 1 s, and of all mass that is in front of it. */
static void bank_left(const Bank *bank, double *crest, double *out) {
  DemScene s;
  bank_scene(&s, bank);
  double width = 4 * bank->radius;
  ScreeBoundaryDef walls[4] = {
      scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1})),
      scree_boundary_default(scree_shape_plane((ScreeVec3){-1.5 * BANK, 0, 0}, (ScreeVec3){1, 0, 0})),
      scree_boundary_default(scree_shape_plane((ScreeVec3){0, -width, 0}, (ScreeVec3){0, 1, 0})),
      scree_boundary_default(scree_shape_plane((ScreeVec3){0, width, 0}, (ScreeVec3){0, -1, 0}))};
  walls[0].friction_static = walls[0].friction_kinetic = 0.8;
  for (int k = 1; k < 4; k++) walls[k].friction_static = walls[k].friction_kinetic = 0;
  s.def.boundaries = walls;
  s.def.boundary_count = 4;
  ScreeWorld *world = world_of(&s.def, 0);
  const Particles *p = &world->state.particles;
  double upper[2] = {0};
  for (int end = 0; end < 2; end++) {
    double all = 0;
    *out = 0;
    for (int64_t i = 0; i < p->count; i++) {
      Vec3 at = state_position(&world->state, i);
      all += (double)p->mass[i];
      if (at.x > 0.1 * BANK) *out += (double)p->mass[i];
      if (at.x > -0.5 * BANK && at.z > 0.5 * BANK) upper[end] += (double)p->mass[i];
    }
    *out /= all;
    if (end == 0) run_seconds(world, 1);
  }
  *crest = upper[1] / upper[0];
  print_message("%s, radius %g, step %g, young %g, %g H_c: %.0f %% of the crest, %.1f %% in front\n", bank->method,
                bank->radius, bank->time_step, bank->young, bank->share, 100 * *crest, 100 * *out);
  scree_world_destroy(world);
}

static void assert_bank(const Bank *bank) {
  double crest, out;
  bank_left(bank, &crest, &out);
  if (bank->share < 1) assert_true(crest > 0.8 && out < 0.01);
  else assert_true(crest < 0.7 && out > 0.04);
}

static void banks_stand_up_to_their_height(void **state) {
  (void)state;
  for (int k = 0; k < METHOD_COUNT; k++)
    for (int fine = 0; fine < 2; fine++)
      for (int high = 0; high < 2; high++)
        assert_bank(&(Bank){METHODS[k], high ? 2 : 0.5, fine ? 0.008 : 0.012, NAN, NAN});
}

static void stiffness_of_grains_does_not_matter(void **state) {
  (void)state;
  for (int stiff = 0; stiff < 2; stiff++)
    for (int high = 0; high < 2; high++) assert_bank(&(Bank){"dem", high ? 2 : 0.5, 0.012, NAN, stiff ? 1e8 : 5e6});
}

static void time_steps_do_not_matter(void **state) {
  (void)state;
  for (int k = 0; k < METHOD_COUNT; k++)
    for (int high = 0; high < 2; high++)
      assert_bank(&(Bank){METHODS[k], high ? 2 : 0.5, 0.012, strcmp(METHODS[k], "dem") == 0 ? 5e-5 : 0.002, 5e6});
}

/* ---- two grains ---- */

/* A grain lies across the gap between two slabs. A smaller one that fits through the gap hangs from it. Solids do not
 * hold it. */
static double hanging_height(const char *method, double strength) {
  DemScene s;
  double big = 1.5 * RADIUS, gap = 1.2 * RADIUS, high = 0.3;
  double weight = 4.0 / 3 * M_PI * RADIUS * RADIUS * RADIUS * (1600 / 0.6) * GRAVITY;
  dem_scene_begin(&s, RADIUS);
  s.def.method = scree_method_default(method);
  s.def.method.radius = RADIUS;
  s.materials[0].cohesion = strength * weight / tension(1, 0.6 * RADIUS);
  for (int k = 0; k < 2; k++) {
    double low = k ? gap : -0.2, far = k ? 0.2 : -gap;
    s.walls[k] = scree_boundary_default(
        scree_shape_box((ScreeVec3){low, -0.2, high - 0.05 * RADIUS}, (ScreeVec3){far, 0.2, high}));
  }
  s.def.boundary_count = 2;
  ScreeWorld *world = dem_make(&s, 1);
  double above = sqrt(big * big - gap * gap);
  dem_put(world, 0, vec3(0, 0, high + above), vec3(0, 0, 0), big);
  dem_put(world, 0, vec3(0, 0, high + above - 2.498 * RADIUS), vec3(0, 0, 0), RADIUS);
  run_seconds(world, 0.5);
  double fall = high + above - 2.5 * RADIUS - dem_position(world, 2).z;
  scree_world_destroy(world);
  return fall;
}

static void a_contact_bears_its_tension(void **state) {
  (void)state;
  for (int k = 0; k < METHOD_COUNT; k++) {
    double held = hanging_height(METHODS[k], 1.3), fallen = hanging_height(METHODS[k], 0.75);
    print_message("%s: sinks by %.3g radii, falls by %.3g m\n", METHODS[k], held / RADIUS, fallen);
    assert_true(held < 0.05 * RADIUS && fallen > 0.5);
  }
}

/* Where push and pull are equal. */
static void bonded_grains_rest_where_forces_are_equal(void **state) {
  (void)state;
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  s.def.gravity = (ScreeVec3){0, 0, 0};
  s.materials[0].stiffness_n = 1e5;
  s.materials[0].restitution = 0.2;
  s.materials[0].cohesion = 1e3;
  ScreeWorld *world = dem_make(&s, 1);
  double pull = tension(1e3, RADIUS / 2), rest = pow(pull / 1e5, 2.0 / 3);
  dem_put(world, 0, vec3(0, 0, 0), vec3(0, 0, 0), RADIUS);
  dem_put(world, 0, vec3(0, 0, 2 * RADIUS - 0.3 * rest), vec3(0, 0, 0), RADIUS);
  run_frames(world, 60);
  double apart = vec3_length(vec3_sub(dem_position(world, 1), dem_position(world, 2)));
  print_message("overlap %.6g m, expected %.6g m\n", 2 * RADIUS - apart, rest);
  assert_near(2 * RADIUS - apart, rest, 0.01 * rest);
  scree_world_destroy(world);
}

/* Speed after a head-on hit without other losses: bonds take what it costs to open them, and hold what has less. */
static void bonds_make_no_energy(void **state) {
  (void)state;
  double mass = 4.0 / 3 * M_PI * RADIUS * RADIUS * RADIUS * (1600 / 0.6), cohesion = 500;
  DemScene s;
  dem_scene_begin(&s, RADIUS);
  s.def.gravity = (ScreeVec3){0, 0, 0};
  s.materials[0].restitution = 1;
  s.materials[0].cohesion = cohesion;
  double pull = tension(cohesion, RADIUS / 2);
  double work = 0.5 * pull * 0.1 * RADIUS / 2; /* the pull falls to nothing over a tenth of the effective radius */
  for (int k = 0; k < 3; k++) {
    double share = k == 0 ? 0.5 : k == 1 ? 2 : 50, speed = sqrt(share * work / mass); /* two halves of m v^2 */
    ScreeWorld *world = dem_make(&s, 1);
    dem_put(world, 0, vec3(0, 0, 0), vec3(0, 0, speed), RADIUS);
    dem_put(world, 0, vec3(0, 0, 2.02 * RADIUS), vec3(0, 0, -speed), RADIUS);
    run_seconds(world, 0.5 * RADIUS / speed);
    double after = fabs(dem_velocity(world, 1).z), left = share > 1 ? sqrt((share - 1) * work / mass) : 0;
    double apart = vec3_length(vec3_sub(dem_position(world, 1), dem_position(world, 2)));
    print_message("%g of the work: %.4g m/s before, %.4g after, %.4g expected\n", share, speed, after, left);
    assert_true(share < 1 ? apart < 2.06 * RADIUS : apart > 2.06 * RADIUS);
    if (share > 1) assert_near(after, left, 0.02 * speed);
    scree_world_destroy(world);
  }
}

/* A lump in the air whose grains are thrown about comes to rest in itself. */
static void a_lump_keeps_its_momentum(void **state) {
  (void)state;
  for (int k = 0; k < METHOD_COUNT; k++) {
    DemScene s;
    dem_scene_begin(&s, RADIUS);
    s.def.method = scree_method_default(METHODS[k]);
    s.def.method.radius = RADIUS;
    s.def.gravity = (ScreeVec3){0, 0, 0};
    s.materials[0].cohesion = 500;
    ScreeWorld *world = dem_make(&s, 1);
    for (int i = 0; i < 64; i++) {
      Vec3 at = vec3(i % 4, i / 4 % 4, i / 16), v = vec3(sin(7.0 * i), cos(5.0 * i), sin(3.0 * i));
      dem_put(world, 0, vec3_scale(at, 2 * RADIUS), vec3_madd(vec3(0.3, 0, 0), v, 0.05), RADIUS);
    }
    double first = 0, energy = 0, mass = 0;
    Vec3 began = vec3(0, 0, 0), momentum = began;
    const Particles *p = &world->state.particles;
    for (int frame = 0; frame < 31; frame++) {
      energy = mass = 0;
      momentum = vec3(0, 0, 0);
      for (int64_t i = 0; i < p->count; i++) {
        Vec3 v = vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
        mass += (double)p->mass[i];
        momentum = vec3_madd(momentum, v, (double)p->mass[i]);
        energy += 0.5 * (double)p->mass[i] * vec3_dot(v, v);
      }
      if (frame > 0) energy -= 0.5 * vec3_dot(momentum, momentum) / mass;
      if (frame == 1) {
        began = momentum;
        first = energy;
      }
      assert_true(frame < 2 || energy <= first);
      run_frames(world, 1);
    }
    /* Grains of dem turn, and so does the lump. */
    assert_true(strcmp(METHODS[k], "dem") == 0 || energy < 1e-6 * first);
    double drift = vec3_length(vec3_sub(momentum, began)) / (0.3 * mass);
    print_message("%s: momentum drifts by %.2g of itself, %.2g of the inner energy is left\n", METHODS[k], drift,
                  energy / first);
    assert_true(drift < 1e-5);
    scree_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(banks_stand_up_to_their_height),
      cmocka_unit_test(stiffness_of_grains_does_not_matter),
      cmocka_unit_test(time_steps_do_not_matter),
      cmocka_unit_test(a_contact_bears_its_tension),
      cmocka_unit_test(bonded_grains_rest_where_forces_are_equal),
      cmocka_unit_test(bonds_make_no_energy),
      cmocka_unit_test(a_lump_keeps_its_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
