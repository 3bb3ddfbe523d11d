#include "methods/flip/stress/operator_kernels.h"
#include "methods/flip/grid/strip_wide.h"
#include "methods/flip/stress/pressure_law.h"

float KERNEL(flip_largest)(const float *field, int64_t count) {
  Wide most = wide_set(0);
  for (int64_t k = 0; k < count; k += LANES) most = wide_max(most, wide_load(field + k));
  float largest = 0;
  for (int lane = 0; lane < LANES; lane++) largest = most[lane] > largest ? most[lane] : largest;
  return largest;
}

void KERNEL(flip_pressure_apply)(const PressureOperator *o, int64_t b, int64_t e) {
  const FlipGrid *grid = o->grid;
  for (int64_t n = b; n < e; n++) {
    int32_t s = strip_of(o->strips, n);
    Wide p = own(o->p, s), sum = wide_set(0);
    for (int a = 0; a < 3; a++)
      sum += pressure_row(p, below(grid, o->p, s, a), above(grid, o->p, s, a), own(o->mobility[a], s),
                          above(grid, o->mobility[a], s, a));
    put(o->y, s, sum * wide_set(o->factor));
  }
}

void KERNEL(flip_pressure_diagonal)(const PressureInverse *o, int64_t b, int64_t e, float *inverse) {
  const Wide zero = wide_set(0), factor = wide_set(o->factor);
  for (int64_t n = b; n < e; n++) {
    int32_t s = strip_of(o->strips, n);
    Wide sum = zero;
    for (int a = 0; a < 3; a++) sum += own(o->mobility[a], s) + above(o->grid, o->mobility[a], s, a);
    WideInt some = wide_less(zero, sum);
    put(inverse, s, wide_select(some, wide_set(1) / (factor * wide_select(some, sum, wide_set(1))), zero));
  }
}

/* D^-1 of the free cells' values. */
WIDE_INLINE Wide free_share(const PressureInverse *o, int32_t s) {
  return wide_where(o->free[s], own(o->from, s)) * own(o->inverse, s);
}

void KERNEL(flip_pressure_lower)(const PressureInverse *o, int64_t b, int64_t e) {
  const Wide factor = wide_set(o->factor);
  for (int64_t n = b; n < e; n++) {
    int32_t s = strip_of(o->strips, n);
    const int32_t *near = o->grid->near[s];
    Wide here = free_share(o, s);
    Wide sum = own(o->mobility[0], s) * wide_shift_up(free_share(o, near[X_LOW]), here);
    sum += own(o->mobility[1], s) * free_share(o, near[Y_LOW]);
    sum += own(o->mobility[2], s) * free_share(o, near[Z_LOW]);
    put(o->to, s, wide_where(o->free[s], here + factor * sum * own(o->inverse, s)));
  }
}

void KERNEL(flip_pressure_upper)(const PressureInverse *o, int64_t b, int64_t e) {
  const FlipGrid *grid = o->grid;
  for (int64_t n = b; n < e; n++) {
    int32_t s = strip_of(o->strips, n);
    Wide sum = wide_set(0);
    for (int a = 0; a < 3; a++) sum += above(grid, o->mobility[a], s, a) * above(grid, o->from, s, a);
    put(o->to, s, wide_where(o->free[s], own(o->from, s) + wide_set(o->factor) * own(o->inverse, s) * sum));
  }
}

/* Edges that lie in the planes of each axis: component of the stress, and the axis to look along. */
static const int SHEAR[3][2] = {{S_XY, S_XZ}, {S_XY, S_YZ}, {S_XZ, S_YZ}};
static const int ALONG[3][2] = {{1, 2}, {0, 2}, {0, 1}};

void KERNEL(flip_face_update)(const FaceUpdate *o, int64_t b, int64_t e) {
  const FlipGrid *grid = o->grid;
  for (int64_t n = b; n < e; n++)
    for (int a = 0; a < 3; a++) {
      int32_t s = strip_of(o->strips, n);
      Wide force = wide_set(0);
      if (o->p) force += wide_set(o->factor_p) * (own(o->p, s) - below(grid, o->p, s, a));
      if (o->s[0]) {
        const float *shear_0 = o->s[SHEAR[a][0]], *shear_1 = o->s[SHEAR[a][1]];
        force += wide_set(o->factor_s) * stress_force(own(o->s[a], s), below(grid, o->s[a], s, a), own(shear_0, s),
                                                      above(grid, shear_0, s, ALONG[a][0]), own(shear_1, s),
                                                      above(grid, shear_1, s, ALONG[a][1]));
      }
      Wide in = o->in[a] ? own(o->in[a], s) : wide_set(0);
      put(o->out[a], s, in + own(o->mobility[a], s) * force);
    }
}

void KERNEL(flip_divergence)(const Divergence *o, int64_t b, int64_t e) {
  const FlipGrid *grid = o->grid;
  for (int32_t s = (int32_t)b; s < (int32_t)e; s++) {
    Wide sum = wide_set(0);
    for (int a = 0; a < 3; a++) sum += above(grid, o->flux[a], s, a) - own(o->flux[a], s);
    Wide base = o->base ? own(o->base, s) : wide_set(0);
    put(o->out, s, base + wide_set(o->factor) * sum);
  }
}
