/* What docs/figures/sph.py draws and the program does not tell: the solver's compression and iterations while sand is
 * poured, and stress against depth. Lines `measure,<what>,x,y`; what they show must hold. */
#include "core/rng.h"
#include "sph_fixture.h"

static void a_pour_stays_incompressible(void **state) {
  (void)state;
  static const double angles[] = {30, 45};
  for (int k = 0; k < 2; k++) {
    GrainScene s;
    sph_pour_scene(&s, angles[k], 40);
    ScreeWorld *world = world_of(&s.def, 2);
    const SphStatistics *statistics = sph_statistics(world->method_data);
    for (int frame = 1; frame <= 7 * 60; frame++) {
      int64_t steps = statistics->steps, iterations = statistics->all_iterations;
      double worst = 0;
      sph_watch(world, 1, &worst);
      steps = statistics->steps - steps;
      print_message("measure,compression %g,%.4f,%.4g\n", angles[k], frame / 60.0, worst);
      if (steps > 0)
        print_message("measure,iterations %g,%.4f,%.3f\n", angles[k], frame / 60.0,
                      (double)(statistics->all_iterations - iterations) / (double)steps);
      assert_true(worst < 1e-3);
    }
    scree_world_destroy(world);
  }
}

/* Mean over the frames of a quarter of a second, layer by layer, in the middle of a smooth tank. */
static void stress_grows_with_depth(void **state) {
  (void)state;
  static const double angles[] = {0, 30};
  enum { DEPTH = 10 };
  for (int k = 0; k < 2; k++) {
    GrainScene s;
    sph_tank(&s, 0.02, 0.8, 0.4, angles[k]);
    ScreeWorld *world = world_of(&s.def, 2);
    double sum[DEPTH] = {0}, z[DEPTH] = {0};
    int64_t counts[DEPTH] = {0};
    run_seconds(world, 1);
    for (int frame = 0; frame < 15; frame++) {
      run_frames(world, 1);
      const float *p = sph_pressure(world), (*shear)[6] = sph_shear(world);
      for (int64_t i = 0; i < world->state.particles.count; i++) {
        Vec3 at = state_position(&world->state, i);
        int layer = (int)(at.z / 0.04);
        if (layer < 0 || layer >= DEPTH) continue;
        sum[layer] += (double)(p[i] - shear[i][2]);
        z[layer] += at.z;
        counts[layer]++;
      }
    }
    for (int l = 0; l < DEPTH; l++) {
      double n = counts[l] > 0 ? (double)counts[l] : 1, depth = 0.4 - z[l] / n;
      print_message("measure,stress %g,%.4f,%.2f\n", angles[k], depth, sum[l] / n);
      /* what stands above a layer rests on it; between floor and surface, where layers are whole */
      if (l > 0 && l < DEPTH - 2) assert_near(sum[l] / n, 1600 * 9.81 * depth, 0.15 * 1600 * 9.81 * 0.4);
    }
    scree_world_destroy(world);
  }
}

/* Gravity leans by `slope` degrees over a bed 10 layers deep whose parcels lie in disorder; its top three layers are
 * set moving. Returns how fast the highest layer slows down. */
static double surface_slowing(double angle, double slope) {
  GrainScene s;
  grain_scene(&s, "sph", 0.02);
  double lean = slope * M_PI / 180;
  s.def.gravity = (ScreeVec3){9.81 * sin(lean), 0, -9.81 * cos(lean)};
  s.def.method.sph.drag = 0;
  s.materials[0].friction_angle_deg = sph_flow_angle(angle);
  s.grains[0].fill = scree_shape_box((ScreeVec3){-2.4, -0.12, 0}, (ScreeVec3){2.4, 0.12, 0.4});
  ScreeBoundaryDef *floor = add_floor(&s);
  floor->friction_static = floor->friction_kinetic = 2;
  for (int k = -1; k <= 1; k += 2) {
    ScreeBoundaryDef *wall = add_boundary(&s, k < 0 ? "left" : "right",
                                          scree_shape_plane((ScreeVec3){0, 0.12 * k, 0}, (ScreeVec3){0, -k, 0}));
    wall->friction_static = wall->friction_kinetic = 0;
  }
  ScreeWorld *world = world_of(&s.def, 2);
  Particles *p = &world->state.particles;
  uint64_t bits = 1;
  for (int64_t i = 0; i < p->count; i++) {
    float *at[3] = {&p->x[i], &p->y[i], &p->z[i]};
    for (int c = 0; c < 3; c++, bits = rng_mix(bits)) *at[c] += 0.024f * (rng_unitf(bits) - 0.5f);
    p->z[i] = fmaxf(p->z[i], 0.02f);
  }
  run_seconds(world, 0.5);
  for (int64_t i = 0; i < p->count; i++) p->vx[i] = fmaxf(0, (p->z[i] - 0.28f) / 0.12f * 0.6f);
  world->tally.speed = 0.7;
  double speed[2];
  for (int k = 0; k < 2; k++) {
    double sum = 0, count = 0;
    run_frames(world, k ? 12 : 3);
    for (int64_t i = 0; i < p->count; i++)
      if (p->z[i] > 0.36f && fabsf(p->x[i]) < 0.6f) sum += (double)p->vx[i], count++;
    speed[k] = sum / count;
  }
  scree_world_destroy(world);
  return (speed[0] - speed[1]) / 0.2;
}

static void a_surface_flow_slows_down_as_friction_says(void **state) {
  (void)state;
  static const double cases[2][2] = {{45, 30}, {30, 22}};
  for (int k = 0; k < 2; k++) {
    double lean = cases[k][1] * M_PI / 180;
    double expected = 9.81 * (sin(cases[k][0] * M_PI / 180) * cos(lean) - sin(lean));
    double slowing = surface_slowing(cases[k][0], cases[k][1]);
    print_message("bed of %g degrees on %g: %.2f m/s^2, expected %.2f\n", cases[k][0], cases[k][1], slowing, expected);
    assert_near(slowing, expected, 0.3 * expected);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pour_stays_incompressible),
      cmocka_unit_test(stress_grows_with_depth),
      cmocka_unit_test(a_surface_flow_slows_down_as_friction_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
