/* flip's laws, one cell or particle at a time (LANE_SCALAR, as a work item of a device computes them): ellipsoids
 * against the kernel, which computes eight abreast, to the bit; yield surfaces against their definitions. */
#define LANE_SCALAR
#include "check.h"
#include "core/rng.h"
#include "methods/flip/stress/friction_law.h"
#include "methods/flip/stress/pressure_law.h"
#include "methods/flip/transfer/shape_law.h"
#include "methods/flip/transfer/shapes_kernels.h"
#include "methods/flip/transfer/weights_law.h"

enum { PARTICLES = 512, TENSORS = 400 };

static float random_from(uint64_t what, uint64_t k, float low, float high) {
  return low + (high - low) * (float)rng_unit(rng_bits(17, what, k, RNG_TEST));
}

static void test_shapes(void **state) {
  (void)state;
  static float shape[STRESSES][PARTICLES], before[STRESSES][PARTICLES], jacobian[9][PARTICLES], deformed[9][PARTICLES];
  static uint8_t kind[PARTICLES];
  Stretch stretch = {.kind = kind, .least = 0.5f, .most = 2, .dt = 0.01f};
  Core core = test_core(1);
  for (int k = 0; k < PARTICLES; k++) {
    for (int c = 0; c < STRESSES; c++)
      before[c][k] = shape[c][k] = c < 3 ? random_from(1, (uint64_t)(6 * k + c), 0.6f, 1.8f)
                                         : random_from(2, (uint64_t)(6 * k + c), -0.3f, 0.3f);
    for (int c = 0; c < 9; c++) jacobian[c][k] = random_from(3, (uint64_t)(9 * k + c), -80, 80);
  }
  for (int c = 0; c < STRESSES; c++) stretch.shape[c] = shape[c];
  for (int c = 0; c < 9; c++) stretch.jacobian[c] = jacobian[c], stretch.deformation[c] = deformed[c];
  KERNEL_CALL(&core, flip_stretch)(&stretch, PARTICLES);
  int seen[4] = {0};
  for (int k = 0; k < PARTICLES; k++) {
    float f[9];
    for (int c = 0; c < 9; c++) f[c] = deformation(jacobian[c][k], 0.01f) + (c % 4 == 0 ? 1 : 0);
    ShapeTensor a = {before[0][k], before[1][k], before[2][k], before[3][k], before[4][k], before[5][k]};
    Rows3 rows = {vec_make(f[0], f[1], f[2]), vec_make(f[3], f[4], f[5]), vec_make(f[6], f[7], f[8])};
    a = shape_advanced(a, rows);
    const float law[STRESSES] = {a.xx, a.yy, a.zz, a.xy, a.yz, a.xz};
    for (int c = 0; c < STRESSES; c++) assert_memory_equal(&law[c], &shape[c][k], sizeof(float));
    bool fits = shape_beyond(a, 2, -1), thick = shape_beyond(a, 0.5f, 1);
    assert_int_equal(kind[k], fits ? (thick ? IS_VALID : IS_THIN) : (thick ? IS_LONG : IS_STUCK));
    seen[kind[k]]++;
  }
  for (int c = 0; c < 4; c++) assert_true(seen[c] > 0);
  core_destroy(&core);
}

/* The largest product with (+-1, ..., 0, ...) / sqrt(k): over all sets of components. */
static double planes_by_definition(const float s[6]) {
  double largest = 0;
  for (int set = 1; set < 64; set++) {
    double sum = 0;
    for (int c = 0; c < 6; c++) sum += set >> c & 1 ? sqrt((double)s[c]) : 0;
    largest = fmax(largest, sum / sqrt((double)__builtin_popcount((unsigned)set)));
  }
  return largest;
}

static void test_yield_surfaces(void **state) {
  (void)state;
  for (uint64_t k = 0; k < TENSORS; k++) {
    float s[6];
    for (uint64_t c = 0; c < 6; c++) s[c] = (float)pow((double)random_from(4, 6 * k + c, 0, 3), 4);
    LaneVec3 diagonal = vec_make(s[0], s[1], s[2]), shear = vec_make(s[3], s[4], s[5]);
    double planes = (double)planes_gauge(diagonal, shear), cone = (double)cone_gauge(diagonal, shear);
    assert_true(fabs(planes - planes_by_definition(s)) < 1e-6 * planes);
    assert_true(planes <= cone * (1 + 1e-6)); /* the hyperplanes are tangent to the cone from outside */
    /* the return brings a stress outside to the surface and leaves one inside as it is */
    float limit = random_from(5, k, 0.1f, 20);
    CellReturn to = radial_return((float)cone, limit, 1);
    double most = (double)(limit * CONE_LIMIT);
    assert_true(fabs(cone * (double)to.diagonal - fmin(cone, most)) < 1e-5 * most);
    assert_true((to.edges > 0) == (to.diagonal < 1) || fabs(cone - most) < 1e-5 * most);
  }
}

/* The part of the traction s n across the unit vector n. */
static void along_wall(const double s[3], const double shear[3], const double n[3], double to[3]) {
  const double traction[3] = {s[0] * n[0] + shear[0] * n[1] + shear[2] * n[2],
                              shear[0] * n[0] + s[1] * n[1] + shear[1] * n[2],
                              shear[2] * n[0] + shear[1] * n[1] + s[2] * n[2]};
  double across = 0;
  for (int a = 0; a < 3; a++) across += traction[a] * n[a];
  for (int a = 0; a < 3; a++) to[a] = traction[a] - across * n[a];
}

/* A wall takes of the diagonal what acts along it: the trace stays none, nothing grows, and what acted with the shear
 * within what the wall bears stays as it is. Where the normal lies between two axes, and the wall bears nothing,
 * nothing is left. */
static void test_walls(void **state) {
  (void)state;
  for (uint64_t k = 0; k < TENSORS; k++) {
    double n[3], s[3], shear[3], t[3], after[3], size = 0, before = 0, left = 0, trace = 0;
    for (uint64_t a = 0; a < 3; a++) {
      n[a] = k % 4 == 0 && a == 1 ? 0 : (double)random_from(20, 3 * k + a, -1, 1);
      s[a] = (double)random_from(21, 3 * k + a, -1, 1);
      shear[a] = k % 4 == 0 ? 0 : (double)random_from(22, 3 * k + a, -0.3f, 0.3f);
    }
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), third = (s[0] + s[1] + s[2]) / 3;
    for (int a = 0; a < 3; a++) n[a] /= length, s[a] -= third;
    along_wall(s, shear, n, t);
    size = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
    if (lies_along_grid((float[3]){(float)n[0], (float)n[1], (float)n[2]})) continue;
    float most = k % 4 == 0 ? 0 : random_from(23, k, 0, 0.8f);
    LaneVec3 to = wall_return(vec_make((float)s[0], (float)s[1], (float)s[2]),
                              vec_make((float)shear[0], (float)shear[1], (float)shear[2]),
                              vec_make((float)n[0], (float)n[1], (float)n[2]), most);
    const double d[3] = {(double)to.x, (double)to.y, (double)to.z};
    for (int a = 0; a < 3; a++) {
      before += s[a] * s[a];
      left += d[a] * d[a];
      trace += d[a];
      if (size < 0.999 * (double)most) assert_near(d[a], s[a], 1e-6);
    }
    /* Round-off of l n over the length of (l_a n_a), which is 0.01 where the normal is nearest to an axis; 3e-5 is
     * seen. */
    assert_true(fabs(trace) < 1e-4 && left < before + 1e-4);
    along_wall(d, shear, n, after);
    double still = after[0] * t[0] + after[1] * t[1] + after[2] * t[2];
    if (size > (double)most) assert_true(still < size * size + 1e-6);
    if (k % 4 == 0) assert_true(fabs(after[0]) + fabs(after[1]) + fabs(after[2]) < 1e-5);
  }
  for (int degrees = 0; degrees <= 90; degrees += 5) {
    double angle = degrees * M_PI / 180, share = fabs(cos(2 * angle));
    assert_near(wall_share((float)(cos(angle) * cos(angle)), (float)(sin(angle) * sin(angle))), share, 1e-3);
  }
}

static void test_box(void **state) {
  (void)state;
  for (uint64_t k = 0; k < TENSORS; k++) {
    LaneVec3 s = vec_make(random_from(6, k, -3, 3), random_from(7, k, -3, 3), random_from(8, k, -3, 3));
    ShiftRange range = shift_range(s, 1);
    for (int turn = 0; turn < 26; turn++) range = shift_halved(range, s, 1);
    LaneVec3 d = clipped_diagonal(s, 0.5f * (range.low + range.high), 1);
    assert_true(fabsf(d.x + d.y + d.z) < 1e-5f);
    assert_true(fabsf(d.x) <= 1 && fabsf(d.y) <= 1 && fabsf(d.z) <= 1);
  }
}

static void test_weights(void **state) {
  (void)state;
  for (uint64_t k = 0; k < TENSORS; k++) {
    float t = random_from(9, k, 0, 1);
    NodeWeights centre = node_weights(t, 0.5f), face = node_weights(t, 0);
    assert_true(fabsf(centre.below + centre.at + centre.above - 1) < 1e-6f);
    assert_true(fabsf(0.5f - centre.below + centre.above - t) < 1e-6f); /* they reproduce the place */
    assert_true(face.below == 0 && face.above == t && face.at == 1 - t);
  }
  assert_true(weight_norm(0) == 0 && weight_norm(0.5f) == 2 && weight_norm(1) == 1);
}

/* Sand with a flat surface, slice by slice under the kernel of the centre of its topmost cell, on sand and on a floor.
 */
static void test_thin_layers(void **state) {
  (void)state;
  enum { SLICES = 4000 };
  for (int k = 1; k <= 10; k++) {
    double depth = 0.05 * k, sand[2] = {0}, kernel[2] = {0}, pressure = 0;
    for (int j = 0; j < SLICES; j++) {
      double z = -0.5 + 2 * (j + 0.5) / SLICES, weight = (1 - fabs(z - 0.5)) * 2 / SLICES;
      for (int floor = 0; floor < 2; floor++) {
        if (floor && z < 0) continue;
        kernel[floor] += weight;
        sand[floor] += z < depth ? weight : 0;
      }
      pressure += z > 0 && z < depth ? (depth - z) * 2 / SLICES : 0;
    }
    assert_near(layer_depth((float)(sand[0] / kernel[0]), 0), depth, 1e-3);
    assert_near(layer_depth((float)(sand[1] / kernel[1]), KERNEL_BELOW), depth, 1e-3);
    assert_near(layer_pressure((float)depth, 3), 3 * pressure, 1e-3);
    /* half of what the edge below sees is from each side */
    assert_near(0.5 * (double)(layer_edge_pressure((float)depth, 3, 2) + 2), 3 * depth, 1e-6);
  }
  assert_true(layer_depth(0.1f, 0) == 0 && layer_depth(0, KERNEL_BELOW) == 0 && layer_depth(1.5f, 0) == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes),  cmocka_unit_test(test_yield_surfaces),
                                     cmocka_unit_test(test_walls),   cmocka_unit_test(test_box),
                                     cmocka_unit_test(test_weights), cmocka_unit_test(test_thin_layers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
