/* p2 in heaps: adhesion in an upturned bucket, sleeping, rough treatment. */
#include "p2_fixture.h"

#include "core/rng.h"

static double drawn(int64_t i, int axis) { return rng_unit(rng_bits(7, (uint64_t)i, (uint64_t)axis, RNG_TEST)); }

/* ---- loam in a bucket that is turned over, then shaken ---- */

enum { TURNS = 41, STROKE = 60, STROKES = 2, BUCKET_KEYS = TURNS + STROKES * STROKE };
#define STROKE_SPEED 4.0 /* m/s */

/* Height of the bucket in a stroke of the shaking: off upwards at once, then slower by 40 m/s^2 until it comes down,
 * and down gently to where it was. What the start of it tears off the floor is not thrown back by the rest. */
static double stroke_height(double t) {
  double slower = 40, down = -0.6, turn = (STROKE_SPEED - down) / slower;
  double top = STROKE_SPEED * turn - 0.5 * slower * turn * turn;
  if (t < turn) return STROKE_SPEED * t - 0.5 * slower * t * t;
  return fmax(top + down * (t - turn), 0);
}

static void bucket_path(ScreeKeyDef keys[BUCKET_KEYS]) {
  for (int k = 0; k < BUCKET_KEYS; k++) {
    double share = fmin((double)k / (TURNS - 1), 1), angle = M_PI * share * share * (3 - 2 * share);
    int shaken = k - TURNS;
    keys[k] = scree_key_default();
    keys[k].t = k < TURNS ? 0.5 + 2 * share : 3.0 + 0.01 * shaken;
    keys[k].rotation = (ScreeQuat){cos(angle / 2), 0, sin(angle / 2), 0};
    if (shaken >= 0) keys[k].position.z = stroke_height(0.01 * (shaken % STROKE));
  }
}

/* Share of the grains that lie no more than 0.11 m from the floor of the upturned bucket, 0.15 m above the middle:
 * where the loam was, and farther than a heap on its lid reaches. */
static double still_there(const ScreeWorld *world) {
  const Particles *p = &world->state.particles;
  int64_t there = 0;
  for (int64_t i = 0; i < p->count; i++) there += (double)p->z[i] + world->state.origin.z > 0.04;
  return (double)there / (double)p->count;
}

static void turn_bucket(double adhesion, double *turned, double *shaken) {
  Fixture f;
  ScreeKeyDef keys[BUCKET_KEYS];
  fixture_begin(&f, 0.02);
  f.material.adhesion = adhesion;
  fixture_friction(&f, 0.5);
  ScreeBoundaryDef *bucket = &f.walls[f.scene.boundary_count++];
  *bucket = scree_boundary_default(scree_shape_box((ScreeVec3){-0.15, -0.15, -0.15}, (ScreeVec3){0.15, 0.15, 0.15}));
  bucket->inside = true;
  bucket->name = "bucket";
  bucket->friction_static = bucket->friction_kinetic =
      0.1; /* dry grains must not jam between walls a few grains apart */
  bucket_path(keys);
  bucket->keys = keys;
  bucket->key_count = BUCKET_KEYS;
  fixture_fill(&f, (ScreeVec3){-0.15, -0.15, -0.15}, (ScreeVec3){0.15, 0.15, 0.0});
  ScreeWorld *world = fixture_world(&f);
  run_seconds(world, 2.9);
  *turned = still_there(world);
  run_seconds(world, 2);
  *shaken = still_there(world);
  print_message("%g Pa: %.2f hang from the floor, after shaking %.2f\n", adhesion, *turned, *shaken);
  scree_world_destroy(world);
}

/* What must hold. The layer is h = 0.08 m thick, so the floor has to bear rho g h = 1.3 kPa. A grain on the floor is
 * pressed in by the few that lie over it by about 5 % of its radius, which is a contact area of 0.1 pi r^2 (Eq. 36) on
 * 4 r^2 of floor, two thirds of which are covered: it bears 0.05 a, half of which the spring of that contact takes for
 * itself. That asks for some 50 kPa: at twice that the loam hangs, at a fifth it cannot. The stroke gives
 * it 4 m/s within a step of 5 ms or less, 800 m/s^2 or more, which is 60 kPa: it comes off. Dry grains fall. */
static void loam_stays_in_an_upturned_bucket_until_shaken(void **state) {
  (void)state;
  double turned, shaken;
  turn_bucket(1e5, &turned, &shaken);
  assert_true(turned > 0.9); /* a few lie on top of the layer */
  assert_true(shaken < 0.1);
  turn_bucket(1e4, &turned, &shaken);
  assert_true(turned < 0.5);
  turn_bucket(0, &turned, &shaken);
  assert_true(turned < 0.05);
  assert_true(shaken < 0.05);
}

/* ---- sleeping ---- */

static void heap_begin(Fixture *f, double sleep_speed) {
  fixture_begin(f, 0.02);
  fixture_friction(f, 0.5);
  f->scene.method.p2.sleep_speed = sleep_speed;
  ScreeBoundaryDef *tray = &f->walls[f->scene.boundary_count++];
  *tray = scree_boundary_default(scree_shape_box((ScreeVec3){-0.15, -0.15, 0}, (ScreeVec3){0.15, 0.15, 1}));
  tray->inside = true;
  tray->name = "tray";
  fixture_fill(f, (ScreeVec3){-0.15, -0.15, 0}, (ScreeVec3){0.15, 0.15, 0.2});
}

static double mean_of(const float *values, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += (double)values[i];
  return sum / (double)count;
}

static void a_sleeping_heap_does_not_drift(void **state) {
  (void)state;
  Fixture f;
  heap_begin(&f, 0.02);
  ScreeWorld *world = fixture_world(&f);
  run_seconds(world, 6);
  const Particles *p = &world->state.particles;
  int64_t moving = 0;
  for (int64_t i = 0; i < p->count; i++) moving += fabsf(p->vx[i]) + fabsf(p->vy[i]) + fabsf(p->vz[i]) > 1e-5f;
  print_message("%lld of %lld still move\n", (long long)moving, (long long)p->count);
  assert_true(moving <= p->count / 50);
  scree_world_destroy(world);
}

/* The tray sets off, goes at 0.5 m/s and stops again; its sand goes with it. */
static void sleeping_sand_rides_in_its_tray(void **state) {
  (void)state;
  Fixture f;
  heap_begin(&f, 0.02);
  ScreeKeyDef keys[42];
  for (int k = 0; k < 42; k++) {
    keys[k] = scree_key_default();
    keys[k].t = 1.0 + 0.05 * k;
    double t = 0.05 * k, ramp = t < 0.5 ? 0.5 * t * t : 0.125 + 0.5 * (t - 0.5);
    keys[k].position.x = ramp;
  }
  f.walls[0].keys = keys;
  f.walls[0].key_count = 42;
  ScreeWorld *world = fixture_world(&f);
  run_seconds(world, 2.5);
  const Particles *p = &world->state.particles;
  assert_near(mean_of(p->vx, p->count), 0.5, 0.005);
  run_seconds(world, 0.5);
  assert_near(mean_of(p->vx, p->count), 0.5, 0.005);
  assert_near(mean_of(p->vz, p->count), 0, 0.005);
  run_seconds(world, 1.5);
  assert_near(mean_of(p->vx, p->count), 0, 0.005);
  scree_world_destroy(world);
}

/* The floor is pulled away from under a sleeping grain: it falls. */
static void a_sleeper_wakes_when_its_floor_goes(void **state) {
  (void)state;
  Fixture f;
  fixture_begin(&f, 0.05);
  f.scene.method.p2.sleep_speed = 0.06;
  ScreeKeyDef keys[2] = {scree_key_default(), scree_key_default()};
  keys[0].t = 0.5;
  keys[1].t = 0.6;
  keys[1].position.z = -3;
  fixture_floor(&f, (ScreeVec3){0, 0, 1}, 0.5);
  f.walls[0].keys = keys;
  f.walls[0].key_count = 2;
  ScreeWorld *world = fixture_place(&f, &(ScreeVec3){0, 0, 0.05}, 1, 1);
  run_seconds(world, 0.5);
  assert_near((double)world->state.particles.vz[0], 0, 1e-6);
  run_seconds(world, 0.3);
  assert_near((double)world->state.particles.vz[0], -9.81 * 0.3, 0.1);
  scree_world_destroy(world);
}

/* ---- momentum ---- */

static Vec3 mass_center(const State *state) {
  Vec3 sum = vec3(0, 0, 0);
  double mass = 0;
  for (int64_t i = 0; i < state->particles.count; i++) {
    double m = (double)state->particles.mass[i];
    sum = vec3_madd(sum, state_position(state, i), m);
    mass += m;
  }
  return vec3_scale(sum, 1 / mass);
}

/* A cloud that collides in free space: the centre of mass keeps its velocity to round-off with splitting, and goes
 * where it leads: shifts that part overlaps do not move it. */
static void splitting_keeps_momentum(void **state) {
  (void)state;
  Fixture f;
  fixture_begin(&f, 0.02);
  f.scene.gravity = (ScreeVec3){0, 0, 0};
  fixture_fill(&f, (ScreeVec3){-0.15, -0.15, 0}, (ScreeVec3){0.15, 0.15, 0.3});
  f.material.radius_spread = 0.3;
  f.material.adhesion = 2e4;
  ScreeWorld *world = fixture_world(&f);
  run_seconds(world, 0.01);
  Particles *p = &world->state.particles;
  for (int64_t i = 0; i < p->count; i++) {
    p->vx[i] = (float)(-4 * (double)p->x[i] + drawn(i, 0) - 0.5);
    p->vy[i] = (float)(-4 * (double)p->y[i] + drawn(i, 1) - 0.5);
    p->vz[i] = (float)(drawn(i, 2) - 0.5);
  }
  double before[3] = {0}, after[3] = {0}, size = 0, start = scree_world_time(world), mass = world_mass(world);
  Vec3 from = mass_center(&world->state);
  for (int64_t i = 0; i < p->count; i++) {
    double m = (double)p->mass[i];
    before[0] += m * (double)p->vx[i];
    before[1] += m * (double)p->vy[i];
    before[2] += m * (double)p->vz[i];
    size += m * hypot((double)p->vx[i], (double)p->vy[i]);
  }
  run_seconds(world, 0.5);
  for (int64_t i = 0; i < p->count; i++) {
    double m = (double)p->mass[i];
    after[0] += m * (double)p->vx[i];
    after[1] += m * (double)p->vy[i];
    after[2] += m * (double)p->vz[i];
  }
  for (int k = 0; k < 3; k++) assert_near(after[k], before[k], 1e-5 * size);
  double seconds = scree_world_time(world) - start;
  Vec3 displacement = vec3_scale(vec3(before[0], before[1], before[2]), seconds / mass);
  assert_near(vec3_length(vec3_sub(vec3_sub(mass_center(&world->state), from), displacement)), 0,
              1e-5 * size / mass * seconds);
  scree_world_destroy(world);
}

/* ---- error reduction ---- */

/* Two grains that fall, the upper faster, over a floor that holds a third: how much of their speed they lose to nobody,
 * together. */
static double lost_in_flight(double error_reduction, int by) {
  Fixture f;
  fixture_begin(&f, 0.05);
  fixture_floor(&f, (ScreeVec3){0, 0, 1}, 0.5);
  f.scene.method.p2.error_reduction = error_reduction;
  f.scene.method.p2.error_reduction_by = by;
  ScreeWorld *world = fixture_place(&f, (const ScreeVec3[]){{0, 0, 2}, {0, 0, 2.15}, {0, 0, 0.05}}, 3, 1);
  Particles *p = &world->state.particles;
  for (int k = 0; k < 3; k++)
    if ((double)p->z[k] + world->state.origin.z > 2.1) p->vz[k] = -2;
  run_seconds(world, 0.1);
  double fall = (double)(p->vz[0] + p->vz[1] + p->vz[2]);
  scree_world_destroy(world);
  return fall + 2 + 2 * 9.81 * 0.1;
}

static void error_reduction_by_the_ground_leaves_flight_alone(void **state) {
  (void)state;
  assert_near(lost_in_flight(0, SCREE_ERROR_TILT), 0, 1e-5);
  assert_near(lost_in_flight(0.5, SCREE_ERROR_GROUND), 0, 1e-5);
  assert_true(lost_in_flight(0.5, SCREE_ERROR_TILT) > 0.1); /* on purpose: the upper grain moves more */
}

/* A stack of ten without memory sinks less with error reduction, whichever says what is up; the floor pays for it. */
static void error_reduction_stiffens_a_stack(void **state) {
  (void)state;
  double height[3], load[3];
  for (int k = 0; k < 3; k++) {
    Fixture f;
    fixture_begin(&f, 0.05);
    fixture_floor(&f, (ScreeVec3){0, 0, 1}, 0.5);
    f.scene.method.p2.memory = false;
    f.scene.method.p2.error_reduction = k > 0 ? 0.5 : 0;
    f.scene.method.p2.error_reduction_by = k == 2 ? SCREE_ERROR_GROUND : SCREE_ERROR_TILT;
    ScreeVec3 at[10];
    for (int n = 0; n < 10; n++) at[n] = (ScreeVec3){0, 0, 0.05 + 0.1 * n};
    ScreeWorld *world = fixture_place(&f, at, 10, 1);
    run_seconds(world, 2);
    height[k] = mean_of(world->state.particles.z, 10) + world->state.origin.z;
    load[k] = -fixture_force(world, "floor").z / (10 * 9.81);
    print_message("stack of ten, case %d: mean height %.4f m, load %.3f of the weight\n", k, height[k], load[k]);
    scree_world_destroy(world);
  }
  assert_near(load[0], 1, 0.01);
  for (int k = 1; k < 3; k++) {
    assert_true(0.5 - height[k] < 0.5 * (0.5 - height[0]));
    assert_true(load[k] < 0.5);
  }
}

/* ---- rough treatment ---- */

static void run_rough(Fixture *f, double seconds, double speed) {
  ScreeWorld *world = fixture_world(f);
  double mass = world_mass(world);
  run_seconds(world, seconds);
  ScreeStatistics statistics;
  scree_world_statistics(world, &statistics);
  assert_true(isfinite(statistics.max_speed));
  if (statistics.max_speed > speed) print_error("%g m/s\n", statistics.max_speed);
  assert_true(statistics.max_speed <= speed);
  assert_near(world_mass(world), mass, 0);
  scree_world_destroy(world);
}

static void odd_settings_stay_finite(void **state) {
  (void)state;
  for (int averaging = 0; averaging < 2; averaging++)
    for (int k = 0; k < 9; k++) {
      Fixture f;
      heap_begin(&f, k == 7 ? 0.05 : 0);
      f.scene.method.p2.averaging = averaging;
      if (k == 0) f.scene.method.p2.iterations = 0;
      if (k == 1) fixture_friction(&f, 0);
      if (k == 2) fixture_friction(&f, 10);
      if (k == 3) f.scene.method.time_step = 10;
      if (k == 4) f.material.stiffness = 0, f.material.damping = 0;
      if (k == 5) f.material.stiffness = 1e12, f.material.damping = 0;
      if (k == 6) f.material.stiffness = 100, f.material.damping = 1e12;
      if (k == 7) f.scene.method.p2.error_reduction = 1;
      if (k == 8) f.scene.method.p2.error_reduction = 1, f.scene.method.p2.error_reduction_by = SCREE_ERROR_GROUND;
      run_rough(&f, 0.5, 10);
    }
}

static void a_thousand_grains_at_one_point_part(void **state) {
  (void)state;
  ScreeVec3 at[1000];
  for (int k = 0; k < 1000; k++) at[k] = (ScreeVec3){0, 0, 0.5};
  for (int memory = 0; memory < 2; memory++) {
    Fixture f;
    fixture_begin(&f, 0.02);
    f.scene.method.p2.memory = memory;
    fixture_floor(&f, (ScreeVec3){0, 0, 1}, 0.5);
    ScreeWorld *world = fixture_place(&f, at, 1000, 0.05);
    run_seconds(world, 0.3);
    ScreeStatistics statistics;
    scree_world_statistics(world, &statistics);
    assert_true(statistics.max_speed < 20); /* a fall from 0.5 m ends at 3 m/s: no explosion */
    scree_world_destroy(world);
  }
}

/* A box goes through a bed at 100 m/s; nothing gets faster than twice that. */
static void a_fast_tool_throws_nothing_faster(void **state) {
  (void)state;
  for (int averaging = 0; averaging < 2; averaging++) {
    Fixture f;
    heap_begin(&f, 0);
    f.scene.method.p2.averaging = averaging;
    ScreeKeyDef keys[2] = {scree_key_default(), scree_key_default()};
    keys[0] = (ScreeKeyDef){.t = 0.3, .position = {-0.5, 0, 0.05}, .rotation = {1, 0, 0, 0}};
    keys[1] = (ScreeKeyDef){.t = 0.31, .position = {0.5, 0, 0.05}, .rotation = {1, 0, 0, 0}};
    f.bodies[0] =
        scree_body_default("tool", scree_shape_box((ScreeVec3){-0.03, -0.1, -0.1}, (ScreeVec3){0.03, 0.1, 0.1}));
    f.bodies[0].motion = SCREE_MOTION_KEYFRAMES;
    f.bodies[0].keys = keys;
    f.bodies[0].key_count = 2;
    f.scene.body_count = 1;
    run_rough(&f, 0.35, 200);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loam_stays_in_an_upturned_bucket_until_shaken),
      cmocka_unit_test(a_sleeping_heap_does_not_drift),
      cmocka_unit_test(sleeping_sand_rides_in_its_tray),
      cmocka_unit_test(a_sleeper_wakes_when_its_floor_goes),
      cmocka_unit_test(splitting_keeps_momentum),
      cmocka_unit_test(error_reduction_by_the_ground_leaves_flight_alone),
      cmocka_unit_test(error_reduction_stiffens_a_stack),
      cmocka_unit_test(odd_settings_stay_finite),
      cmocka_unit_test(a_thousand_grains_at_one_point_part),
      cmocka_unit_test(a_fast_tool_throws_nothing_faster),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
