/* A column that slumps, with a fault of the draft put back into the iteration: each ends elsewhere than sph does. Lines
 * `measure,<what>,x,y` are drawn by docs/figures/sph.py. */
#include "sph_fixture.h"

#include "sph_printed.h"

#include "methods/sph/slots.h"
#include "methods/sph/sph_kernels.h"

typedef enum Fault { NO_FAULT, OLD_STRAIN, FACE_D, HALF_TRACE, NO_SQRT_2, ABSOLUTE } Fault;
static Fault fault;

/* Strain of the velocity that the step began with, again and again. */
WIDE_INLINE LaneSym old_gradient(const SphWork *work, int64_t g) {
  const SphSlot *slot = work->pairs.slots + work->pairs.slot_start[g], *end = slot + work->pairs.width[g];
  const Particles *p = &work->step->state->particles;
  LaneSym sum = sym_zero();
  LaneVec3 v = vec_zero();
  for (; slot < end; slot++) {
    for (int lane = 0; lane < LANES; lane++) {
      uint32_t j = slot->row[lane] / 4;
      v.x[lane] = p->vx[j], v.y[lane] = p->vy[j], v.z[lane] = p->vz[j];
    }
    sum = sym_add(sum, gradient_term(v, load_gradient(slot)));
  }
  for (int lane = 0; lane < LANES; lane++) {
    int64_t i = g * LANES + lane;
    bool known = i < work->count;
    v.x[lane] = known ? p->vx[i] : 0, v.y[lane] = known ? p->vy[i] : 0, v.z[lane] = known ? p->vz[i] : 0;
  }
  return gradient_total(sum, work->pairs.gradient_step, v, load_vec(work->pairs.sum, g * LANES));
}

WIDE_INLINE LaneSym faulty_deviator(const SphWork *work, int64_t g, LaneSym gradient) {
  if (fault == OLD_STRAIN) return strain_deviator(old_gradient(work, g));
  return fault == HALF_TRACE ? printed_half_trace(gradient) : strain_deviator(gradient);
}
WIDE_INLINE LaneSym faulty_correct(LaneSym stress, Real gain, LaneSym strain) {
  return fault == FACE_D ? printed_face_d(stress, gain, strain) : stress_correct(stress, gain, strain);
}
WIDE_INLINE Real faulty_bound(Real friction, Real confinement, Real cohesion) {
  return fault == NO_SQRT_2 ? printed_bound(friction, confinement, cohesion)
                            : stress_bound(friction, confinement, cohesion);
}
WIDE_INLINE Real faulty_compression(Real error) {
  return fault == ABSOLUTE ? printed_absolute(error) : pressure_compression(error);
}

/* The passes of stress_kernels.c once more, with these in the place of the laws. */
#define strain_deviator(gradient) faulty_deviator(work, g, gradient)
#define stress_correct faulty_correct
#define stress_bound faulty_bound
#define pressure_compression faulty_compression
#define KERNEL(name) faulty_##name
#define faulty_sph_walls_strain sph_walls_strain_base
#define faulty_sph_walls_react sph_walls_react_base
static SphPass faulty_sph_bound_pass, faulty_sph_stress_pass;
#include "methods/sph/stress_kernels.c"

static double column(Fault which, const char *name, double seconds) {
  GrainScene s;
  grain_scene(&s, "sph", 0.02);
  s.def.frame_rate = 30;
  s.materials[0].friction_angle_deg = sph_flow_angle(30);
  s.grains[0].fill = (ScreeShapeDef){
      .kind = SCREE_SHAPE_CYLINDER, .cylinder = {.radius = 0.36, .height = 0.3}, .rotation = {1, 0, 0, 0}, .scale = 1};
  ScreeBoundaryDef *floor = add_floor(&s);
  floor->friction_static = floor->friction_kinetic = 2;
  add_probe(&s, SCREE_PROBE_REPOSE_ANGLE);
  ScreeWorld *world = world_of(&s.def, 2);
  SphPasses *passes = sph_passes(world->method_data);
  passes->bound = faulty_sph_bound_pass;
  passes->stress = faulty_sph_stress_pass;
  fault = which;
  for (int frame = 1; frame <= (int)(seconds * 30); frame++) {
    run_frames(world, 1);
    print_message("measure,%s,%.4f,%.3f\n", name, frame / 30.0, probe_value(world, 0, 0));
  }
  double angle = probe_value(world, 0, 0);
  scree_world_destroy(world);
  return angle;
}

/* The passes of this file without a fault are those of the library: the same bits. */
static void without_a_fault_nothing_differs(void **state) {
  (void)state;
  uint64_t hashes[2];
  for (int k = 0; k < 2; k++) {
    GrainScene s;
    sph_tank(&s, 0.025, 0.4, 0.3, 30);
    ScreeWorld *world = world_of(&s.def, 2);
    SphPasses *passes = sph_passes(world->method_data);
    if (k) passes->bound = faulty_sph_bound_pass, passes->stress = faulty_sph_stress_pass;
    fault = NO_FAULT;
    run_frames(world, 10);
    hashes[k] = state_hash(&world->core, &world->state);
    scree_world_destroy(world);
  }
  assert_true(hashes[0] == hashes[1]);
}

/* Angles after six seconds. The tolerance is half of what the least of the faults changes. */
static void a_fault_ends_elsewhere(void **state) {
  (void)state;
  static const struct {
    Fault fault;
    const char *name;
    double angle;
  } cases[] = {{NO_FAULT, "default", 21.1},
               {OLD_STRAIN, "strain of the old velocity", 17.3},
               {FACE_D, "D of a face", 18.5},
               {HALF_TRACE, "half the trace", 20.0},
               {NO_SQRT_2, "bound without sqrt(2)", 15.3},
               {ABSOLUTE, "expansion counts as error", 20.0}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    assert_near(column(cases[k].fault, cases[k].name, 6), cases[k].angle, 0.55);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(without_a_fault_nothing_differs),
                                     cmocka_unit_test(a_fault_ends_elsewhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
