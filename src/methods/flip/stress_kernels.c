#include "methods/flip/stress_kernels.h"

/* The strip's values, and those of the cells one below or above along x. */
WIDE_INLINE Wide own(const float *f, int32_t s) { return wide_load(f + (int64_t)s * STRIP); }
WIDE_INLINE Wide shift_up(Wide before, Wide here) {
  return __builtin_shufflevector(before, here, 7, 8, 9, 10, 11, 12, 13, 14);
}
WIDE_INLINE Wide x_low(const FlipGrid *grid, const float *f, int32_t s) {
  return shift_up(own(f, grid->near[s][X_LOW]), own(f, s));
}
WIDE_INLINE Wide x_high(const FlipGrid *grid, const float *f, int32_t s) {
  return __builtin_shufflevector(own(f, s), own(f, grid->near[s][X_HIGH]), 1, 2, 3, 4, 5, 6, 7, 8);
}
WIDE_INLINE Wide below(const FlipGrid *grid, const float *f, int32_t s, int axis) {
  return axis == 0 ? x_low(grid, f, s) : own(f, grid->near[s][2 * axis]);
}
WIDE_INLINE Wide above(const FlipGrid *grid, const float *f, int32_t s, int axis) {
  return axis == 0 ? x_high(grid, f, s) : own(f, grid->near[s][2 * axis + 1]);
}
WIDE_INLINE void put(float *f, int32_t s, Wide v) { wide_store(f + (int64_t)s * STRIP, v); }

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
      sum += own(o->gain[a], s) * (p - below(grid, o->p, s, a)) +
             above(grid, o->gain[a], s, a) * (p - above(grid, o->p, s, a));
    put(o->y, s, sum * wide_set(o->factor));
  }
}

void KERNEL(flip_pressure_diagonal)(const PressureInverse *o, int64_t b, int64_t e, float *inverse) {
  const Wide zero = wide_set(0), factor = wide_set(o->factor);
  for (int64_t n = b; n < e; n++) {
    int32_t s = strip_of(o->strips, n);
    Wide sum = zero;
    for (int a = 0; a < 3; a++) sum += own(o->gain[a], s) + above(o->grid, o->gain[a], s, a);
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
    Wide sum = own(o->gain[0], s) * shift_up(free_share(o, near[X_LOW]), here);
    sum += own(o->gain[1], s) * free_share(o, near[Y_LOW]);
    sum += own(o->gain[2], s) * free_share(o, near[Z_LOW]);
    put(o->to, s, wide_where(o->free[s], here + factor * sum * own(o->inverse, s)));
  }
}

void KERNEL(flip_pressure_upper)(const PressureInverse *o, int64_t b, int64_t e) {
  const FlipGrid *grid = o->grid;
  for (int64_t n = b; n < e; n++) {
    int32_t s = strip_of(o->strips, n);
    Wide sum = wide_set(0);
    for (int a = 0; a < 3; a++) sum += above(grid, o->gain[a], s, a) * above(grid, o->from, s, a);
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
        Wide sum = own(o->s[a], s) - below(grid, o->s[a], s, a);
        for (int k = 0; k < 2; k++) {
          const float *shear = o->s[SHEAR[a][k]];
          sum += above(grid, shear, s, ALONG[a][k]) - own(shear, s);
        }
        force += wide_set(o->factor_s) * sum;
      }
      Wide in = o->in[a] ? own(o->in[a], s) : wide_set(0);
      put(o->out[a], s, in + own(o->gain[a], s) * force);
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

/* The axes of each shear component. */
static const int EDGE_AXES[3][2] = {{0, 1}, {1, 2}, {0, 2}};

/* Shear stresses stand for s_ij and s_ji: they count twice in the length of the tensor, and where that is the measure
 * the way down the gradient is half as long for them. Only then is scaling a stress back to the cone the nearest point,
 * and sand flows the same way along the grid and across it. */
#define SHEAR_COUNTS 2.0f

void KERNEL(flip_friction_pace)(const FrictionPace *o, int64_t b, int64_t e, double sums[PACE_SUMS]) {
  const Wide zero = wide_set(0);
  Wide total = zero, count = zero;
  for (int64_t n = b; n < e; n++) {
    int32_t s = strip_of(o->strips, n);
    Wide most = wide_set(o->least);
    for (int a = 0; a < 3; a++) most = wide_max(most, wide_max(own(o->ease[a], s), above(o->grid, o->ease[a], s, a)));
    Wide pace = wide_set(o->factor) / (wide_set(o->stiffness) * most);
    WideInt loaded = wide_less(zero, own(o->limit, s));
    total += wide_select(loaded, pace, zero);
    count += wide_select(loaded, wide_set(1), zero);
    put(o->pace, s, pace);
  }
  sums[PACE_TOTAL] = (double)wide_sum(total);
  sums[PACE_COUNT] = (double)wide_sum(count);
}

WIDE_INLINE Wide least_round_edge(const FlipGrid *grid, const float *f, int32_t s, int a, int c) {
  int32_t down = grid->near[s][2 * c];
  return wide_min(wide_min(own(f, s), below(grid, f, s, a)), wide_min(own(f, down), below(grid, f, down, a)));
}

void KERNEL(flip_friction_trial)(const FrictionStep *o, int64_t b, int64_t e) {
  const FlipGrid *grid = o->grid;
  const Wide third = wide_set(1.0f / 3), shear_share = wide_set(1 / SHEAR_COUNTS);
  for (int64_t n = b; n < e; n++) {
    int32_t s = strip_of(o->strips, n);
    Wide diagonal[3], trace = wide_set(0), pace = own(o->pace, s);
    for (int a = 0; a < 3; a++) {
      Wide slope = own(o->flux[a], s) - above(grid, o->flux[a], s, a);
      diagonal[a] = own(o->y[a], s) - pace * slope;
      trace += diagonal[a];
    }
    for (int a = 0; a < 3; a++) put(o->trial[a], s, diagonal[a] - third * trace);
    for (int k = 0; k < 3; k++) {
      int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
      Wide slope =
          below(grid, o->flux[a], s, c) - own(o->flux[a], s) + below(grid, o->flux[c], s, a) - own(o->flux[c], s);
      Wide way = shear_share * least_round_edge(grid, o->pace, s, a, c);
      put(o->trial[S_XY + k], s, own(o->y[S_XY + k], s) - way * slope);
    }
  }
}

/* Mean of the squares at the edges round a cell's centre, each times its `per`: of the shares of what the edges bear.
 * Shares, because stress and strength both grow with depth: the mean of the squares themselves exceeds the square at
 * the centre, by a quarter in the topmost cell, and slopes would yield three degrees too early. Edges without a share,
 * at the surface and at walls, do not count: a cell there must not seem to bear half of what it does. */
WIDE_INLINE Wide mean_square(const FrictionStep *o, const float *f, int32_t s, int k) {
  int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
  int32_t up = o->grid->near[s][2 * c + 1]; /* exists or is empty */
  const float *per = o->per[k];
  const Wide value[4] = {own(f, s), above(o->grid, f, s, a), own(f, up), above(o->grid, f, up, a)};
  const Wide weight[4] = {own(per, s), above(o->grid, per, s, a), own(per, up), above(o->grid, per, up, a)};
  Wide sum = value[0] * value[0] * weight[0];
  for (int j = 1; j < 4; j++) sum += value[j] * value[j] * weight[j];
  return sum * own(o->part[k], s);
}

void KERNEL(flip_friction_parts)(const FrictionStep *o, int64_t b, int64_t e) {
  const FlipGrid *grid = o->grid;
  const Wide zero = wide_set(0), one = wide_set(1);
  for (int64_t n = b; n < e; n++)
    for (int k = 0; k < 3; k++) {
      int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
      int32_t s = strip_of(o->strips, n), up = grid->near[s][2 * c + 1];
      const float *per = o->per[k];
      const Wide weight[4] = {own(per, s), above(grid, per, s, a), own(per, up), above(grid, per, up, a)};
      Wide count = zero;
      for (int j = 0; j < 4; j++) count += wide_select(wide_less(zero, weight[j]), one, zero);
      put(o->part[k], s, one / wide_max(count, one));
      put(o->share[k], s, own(o->share[k], s) * least_round_edge(grid, o->pace, s, a, c));
    }
}

/* Length of the stress as the scheme measures it: the cone's Frobenius norm, or the largest product with a unit vector
 * (+-1, ..., +-1, 0, ..., 0) / sqrt(k) in any order: 728 hyperplanes tangent to the cone. */
WIDE_INLINE Wide gauge(const Wide square[STRESSES], int scheme) {
  Wide sum = square[0];
  for (int k = 1; k < STRESSES; k++) sum += square[k];
  if (scheme != SCREE_YIELD_PLANES) return wide_sqrt(sum);
  Wide c[STRESSES];
  for (int k = 0; k < STRESSES; k++) c[k] = wide_sqrt(square[k]);
  for (int i = 0; i < STRESSES; i++)
    for (int k = STRESSES - 1; k > i; k--) {
      Wide low = wide_min(c[k], c[k - 1]);
      c[k - 1] = wide_max(c[k], c[k - 1]);
      c[k] = low;
    }
  static const float root[STRESSES] = {1, 0.70710678f, 0.57735027f, 0.5f, 0.44721360f, 0.40824829f};
  Wide total = wide_set(0), largest = wide_set(0);
  for (int k = 0; k < STRESSES; k++) {
    total += c[k];
    largest = wide_max(largest, total * wide_set(root[k]));
  }
  return largest;
}

/* Squares of the parts of a cell's stress: its own diagonal, and the shear of the edges round it. */
WIDE_INLINE void stress_squares(const FrictionStep *o, float *const stress[STRESSES], int32_t s,
                                Wide square[STRESSES]) {
  Wide limit = own(o->limit, s);
  Wide shear = wide_set(3) * limit * limit; /* both s_ij and s_ji; edges bear sqrt(3/2) of the limit */
  for (int a = 0; a < 3; a++) {
    Wide v = own(stress[a], s);
    square[a] = v * v;
  }
  for (int k = 0; k < 3; k++) square[S_XY + k] = shear * mean_square(o, stress[S_XY + k], s, k);
}

/* The size of a cell's stress, as the scheme measures it. */
WIDE_INLINE Wide stress_size(const FrictionStep *o, float *const stress[STRESSES], int32_t s) {
  Wide square[STRESSES];
  stress_squares(o, stress, s, square);
  return gauge(square, o->scheme);
}

/* What makes `most` of a size that is more. */
WIDE_INLINE Wide scale_to(Wide size, Wide most) {
  return wide_select(wide_less(size, most), wide_set(1), most / wide_max(size, wide_set(1e-30f)));
}

/* The shear component of each pair of axes. */
static const int SHEAR_OF[3][3] = {{-1, 0, 2}, {0, -1, 1}, {2, 1, -1}};

/* The strip across two sides: over either of those between, for the other may not exist. */
WIDE_INLINE int32_t strip_across(const FlipGrid *grid, int32_t s, int side, int other) {
  int32_t strip = grid->near[grid->near[s][side]][other];
  return strip ? strip : grid->near[grid->near[s][other]][side];
}

/* Values at the four edges (b, c) round an edge (a, c) in the plane across c. */
WIDE_INLINE void edges_beside(const FlipGrid *grid, const float *f, int32_t s, int a, int b, Wide value[4]) {
  int32_t down = grid->near[s][2 * a], up = grid->near[s][2 * b + 1];
  Wide corner = own(f, strip_across(grid, s, 2 * a, 2 * b + 1));
  if (a == 0) corner = __builtin_shufflevector(corner, own(f, up), 7, 8, 9, 10, 11, 12, 13, 14);
  if (b == 0) corner = __builtin_shufflevector(own(f, down), corner, 1, 2, 3, 4, 5, 6, 7, 8);
  value[0] = own(f, s);
  value[1] = below(grid, f, s, a);
  value[2] = above(grid, f, s, b);
  value[3] = corner;
}

/* Mean square of the shares of the edges at walls that lie round the edge (a, c) in the plane across c. */
WIDE_INLINE Wide square_beside(const FrictionStep *o, float *const stress[STRESSES], int32_t s, int a, int c) {
  int b = 3 - a - c, k = SHEAR_OF[b][c];
  Wide value[4], grip[4], sum = wide_set(0), count = wide_set(0);
  edges_beside(o->grid, stress[S_XY + k], s, a, b, value);
  edges_beside(o->grid, o->grip[k], s, a, b, grip);
  for (int j = 0; j < 4; j++) {
    sum += value[j] * value[j] * grip[j];
    count += wide_select(wide_less(wide_set(0), grip[j]), wide_set(1), wide_set(0));
  }
  return sum / wide_max(count, wide_set(1));
}

/* The shear at the edge k of a wall, with what acts beside it across: a wall bears the same in all directions. As a
 * share of what it bears. */
WIDE_INLINE Wide rubbing(const FrictionStep *o, float *const stress[STRESSES], int32_t s, int k) {
  int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
  Wide grip = own(o->grip[k], s), v = own(stress[S_XY + k], s);
  Wide across = wide_max(square_beside(o, stress, s, a, c), square_beside(o, stress, s, c, a));
  return wide_select(wide_less(wide_set(0), grip), wide_sqrt(v * v * grip + across), wide_set(0));
}

/* The least of what walls leave at the edge, where it is at one, and at those beside it. */
WIDE_INLINE Wide least_slip(const FrictionStep *o, int32_t s, int k) {
  Wide least = own(o->slip[k], s);
  for (int side = 0; side < 2; side++) {
    int a = EDGE_AXES[k][side], c = EDGE_AXES[k][!side], b = 3 - a - c;
    Wide slip[4];
    edges_beside(o->grid, o->slip[SHEAR_OF[b][c]], s, a, b, slip);
    for (int j = 0; j < 4; j++) least = wide_min(least, slip[j]);
  }
  return wide_select(wide_less(wide_set(0), own(o->grip[k], s)), least, wide_set(1));
}

void KERNEL(flip_friction_scale)(const FrictionStep *o, int64_t b, int64_t e) {
  const Wide zero = wide_set(0);
  for (int64_t n = b; n < e; n++) {
    int32_t s = strip_of(o->strips, n);
    Wide limit = own(o->limit, s), most = limit * wide_set(1.7320508f), square[STRESSES], scale, diagonal;
    stress_squares(o, o->trial, s, square);
    if (o->strict) {
      Wide own_square = square[0] + square[1] + square[2];
      square[0] = square[1] = square[2] = zero;
      Wide shear = gauge(square, o->scheme);
      scale = scale_to(shear, most);
      diagonal = scale_to(wide_sqrt(own_square), wide_sqrt(wide_max(most * most - shear * shear, zero)));
    } else {
      Wide size = gauge(square, o->scheme);
      diagonal = scale_to(size, most);
      scale = wide_max(size * wide_set(0.57735027f) - limit, zero) / own(o->pace, s);
    }
    WideInt loaded = wide_less(zero, limit);
    for (int a = 0; a < 3; a++) put(o->trial[a], s, wide_select(loaded, own(o->trial[a], s) * diagonal, zero));
    put(o->scale, s, wide_select(loaded, scale, zero));
    for (int k = 0; k < 3; k++)
      if (o->walled[s] >> k & 1) put(o->slip[k], s, scale_to(rubbing(o, o->trial, s, k), wide_set(1)));
  }
}

float KERNEL(flip_friction_excess)(const FrictionStep *o, int64_t b, int64_t e) {
  const Wide zero = wide_set(0), least = wide_set(1e-30f);
  Wide largest = zero;
  for (int64_t n = b; n < e; n++) {
    int32_t s = strip_of(o->strips, n);
    Wide limit = own(o->limit, s), most = wide_max(limit, least);
    if (o->scheme == SCREE_YIELD_BOX)
      for (int a = 0; a < 3; a++) largest = wide_max(largest, wide_max(own(o->x[a], s), -own(o->x[a], s)) / most);
    else largest = wide_max(largest, stress_size(o, o->x, s) / (most * wide_set(1.7320508f)));
    for (int k = 0; k < 3 && o->walled[s] && o->scheme != SCREE_YIELD_BOX; k++)
      largest = wide_max(largest, rubbing(o, o->x, s, k));
    for (int k = 0; k < 3; k++) {
      Wide v = own(o->x[S_XY + k], s);
      largest = wide_max(largest, wide_max(v, -v) / wide_max(own(o->cap[k], s), least));
    }
  }
  float most = 0;
  for (int lane = 0; lane < LANES; lane++) most = largest[lane] > most ? largest[lane] : most;
  return most;
}

WIDE_INLINE Wide clip(Wide v, Wide most) { return wide_max(wide_min(v, most), -most); }

/* Sum over the four cells round the edge (a, c) at the cell's lower sides. */
WIDE_INLINE Wide round_edge(const FlipGrid *grid, const float *f, int32_t s, int a, int c) {
  int32_t down = grid->near[s][2 * c];
  return own(f, s) + below(grid, f, s, a) + own(f, down) + below(grid, f, down, a);
}

/* The nearest diagonal without trace within +-limit: the one shift that, clipped, leaves no trace. The trace falls with
 * the shift, so halving its range finds it. */
WIDE_INLINE void onto_box(Wide diagonal[3], Wide limit) {
  Wide size = limit;
  for (int a = 0; a < 3; a++) size = wide_max(size, wide_max(diagonal[a], -diagonal[a]));
  Wide low = -size - limit, high = size + limit;
  for (int turn = 0; turn < 26; turn++) {
    Wide shift = wide_set(0.5f) * (low + high), trace = wide_set(0);
    for (int a = 0; a < 3; a++) trace += clip(diagonal[a] - shift, limit);
    WideInt more = wide_less(wide_set(0), trace);
    low = wide_select(more, shift, low);
    high = wide_select(more, high, shift);
  }
  for (int a = 0; a < 3; a++) diagonal[a] = clip(diagonal[a] - wide_set(0.5f) * (low + high), limit);
}

/* The least scale of the loaded cells round the edge; 1 where none is. */
WIDE_INLINE Wide least_scale(const FrictionStep *o, int32_t s, int a, int c) {
  const FlipGrid *grid = o->grid;
  int32_t down = grid->near[s][2 * c];
  const Wide zero = wide_set(0), one = wide_set(1);
  const Wide scale[4] = {own(o->scale, s), below(grid, o->scale, s, a), own(o->scale, down),
                         below(grid, o->scale, down, a)};
  const Wide limit[4] = {own(o->limit, s), below(grid, o->limit, s, a), own(o->limit, down),
                         below(grid, o->limit, down, a)};
  Wide least = one;
  for (int j = 0; j < 4; j++) least = wide_select(wide_less(zero, limit[j]), wide_min(least, scale[j]), least);
  return least;
}

/* What yielding leaves of the stress at an edge: by the mean rate of the cells round it, for the edge's own pace. */
WIDE_INLINE Wide yielded(const FrictionStep *o, int32_t s, int a, int c, Wide share) {
  return wide_set(1) / (wide_set(1) + round_edge(o->grid, o->scale, s, a, c) * share);
}

void KERNEL(flip_friction_return)(const FrictionStep *o, int64_t b, int64_t e, double sums[FRICTION_SUMS]) {
  const Wide momentum = wide_set(o->momentum);
  const bool box = o->scheme == SCREE_YIELD_BOX;
  Wide moved = wide_set(0), turned = wide_set(0), size = wide_set(0);
  for (int64_t n = b; n < e; n++) {
    int32_t s = strip_of(o->strips, n);
    Wide next[STRESSES], limit = own(o->limit, s);
    for (int a = 0; a < 3; a++) next[a] = own(o->trial[a], s);
    if (box) onto_box(next, limit);
    for (int k = 0; k < 3; k++) {
      Wide v = own(o->trial[S_XY + k], s);
      if (!box) {
        int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
        Wide share = own(o->share[k], s);
        if (!o->strict) v *= yielded(o, s, a, c, share);
        else v = wide_select(wide_less(wide_set(0), share), v * least_scale(o, s, a, c), v);
        if (o->strict && o->walled[s]) v *= least_slip(o, s, k);
        if (!o->strict && o->walled[s] >> k & 1) v *= own(o->slip[k], s);
      }
      next[S_XY + k] = clip(v, own(o->cap[k], s));
    }
    for (int k = 0; k < STRESSES; k++) {
      Wide y = own(o->y[k], s), x = own(o->x[k], s), step = next[k] - x;
      const Wide counts = wide_set(k < S_XY ? 1 : SHEAR_COUNTS);
      moved += counts * (next[k] - y) * (next[k] - y);
      turned += counts * (y - next[k]) * step;
      size += counts * next[k] * next[k];
      put(o->x[k], s, next[k]);
      put(o->y[k], s, next[k] + momentum * step);
    }
  }
  sums[FRICTION_MOVED] += (double)wide_sum(moved);
  sums[FRICTION_TURNED] += (double)wide_sum(turned);
  sums[FRICTION_SIZE] += (double)wide_sum(size);
}

void KERNEL(flip_edge_mean)(const EdgeMean *o, int64_t b, int64_t e) {
  const FlipGrid *grid = o->grid;
  const Wide zero = wide_set(0), one = wide_set(1), factor = wide_set(o->factor);
  for (int64_t n = b; n < e; n++)
    for (int k = 0; k < 3; k++) {
      int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
      int32_t s = strip_of(o->strips, n), down = grid->near[s][2 * c];
      const Wide free[4] = {own(o->free, s), below(grid, o->free, s, a), own(o->free, down),
                            below(grid, o->free, down, a)};
      Wide count = zero;
      for (int j = 0; j < 4; j++) count += wide_select(wide_less(zero, free[j]), one, zero);
      Wide load = round_edge(grid, o->load, s, a, c);
      put(o->share[k], s, wide_select(wide_less(zero, load), one / wide_max(load, wide_set(1e-30f)), zero));
      Wide mean = factor * round_edge(grid, o->field, s, a, c) / wide_max(count, one);
      const Wide light[4] = {own(o->lightness[a], s), below(grid, o->lightness[a], s, c), own(o->lightness[c], s),
                             below(grid, o->lightness[c], s, a)};
      const Wide open[4] = {own(o->open[a], s), below(grid, o->open[a], s, c), own(o->open[c], s),
                            below(grid, o->open[c], s, a)};
      for (int j = 0; j < 4; j++)
        mean = wide_select(wide_less(zero, open[j]) & wide_less_equal(light[j], zero), zero, mean);
      put(o->out[k], s, mean);
      Wide inverse = wide_select(wide_less(wide_set(CAP_LEAST), mean), one / wide_max(mean, wide_set(CAP_LEAST)), zero);
      put(o->per[k], s, inverse * inverse);
    }
}
