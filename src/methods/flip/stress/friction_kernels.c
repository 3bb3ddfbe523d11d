#include "methods/flip/stress/friction_kernels.h"

/* Shear stresses stand for s_ij and s_ji: they count twice in the length of the tensor, and where that is the measure
 * the way down the gradient is half as long for them. Only then is scaling a stress back to the cone the nearest point,
 * and sand flows the same way along the grid and across it. */
#define SHEAR_COUNTS 2.0f

/* The axes of each shear component, and the component of each pair of axes. */
static const int EDGE_AXES[3][2] = {{0, 1}, {1, 2}, {0, 2}};
static const int SHEAR_OF[3][3] = {{-1, 0, 2}, {0, -1, 1}, {2, 1, -1}};
/* Edges that lie in the planes of each axis: component of the stress, and the axis to look along. */
static const int SHEAR[3][2] = {{S_XY, S_XZ}, {S_XY, S_YZ}, {S_XZ, S_YZ}};
static const int ALONG[3][2] = {{1, 2}, {0, 2}, {0, 1}};

/* ---- strips and those beside them ---- */

/* Strips of a slice, one behind the other. */
typedef struct Strips {
  int32_t first, end;
} Strips;

/* Those of a block, and of the rim below and above it along y and z. */
WIDE_INLINE Strips strips_of(const FrictionSweep *o, const FrictionBlock *block, int32_t slice, int below_it,
                             int above_it) {
  if (slice < 0 || slice >= o->slices || slice < block->first - below_it || slice >= block->end + above_it)
    return (Strips){0, 0};
  const int32_t(*border)[2 * BLOCK_RIM + 1] = o->border + (int64_t)slice * (o->bands + 1) + block->band;
  return (Strips){border[0][BLOCK_RIM - below_it], border[1][BLOCK_RIM + above_it]};
}

/* A field of all strips, or of the slots of those in hand: where the first has it, and floats from one to the next. */
typedef struct Values {
  const float *first;
  int64_t stride;
  bool slots;
} Values;

#define OF_STRIPS(array, member) ((Values){(array)[0] member, sizeof *(array) / sizeof(float), false})
WIDE_INLINE Values of_slots(const float *first) { return (Values){first, LANES, true}; }
WIDE_INLINE FrictionSlot *slot_of(const FrictionSweep *o, FrictionSlot *slots, int32_t n) {
  return (FrictionSlot *)((float *)slots + (int64_t)o->links[n].slot * LANES);
}

/* Of the strip or slot with this number. */
WIDE_INLINE Wide value_at(Values f, int32_t number) { return wide_load(f.first + number * f.stride); }
WIDE_INLINE Wide own(const FrictionSweep *o, Values f, int32_t n) {
  return value_at(f, f.slots ? o->links[n].slot : n);
}
WIDE_INLINE Wide beside(const FrictionSweep *o, Values f, int32_t n, int side) {
  const FrictionLinks *links = &o->links[n];
  return value_at(f, f.slots ? links->near_slot[side] : links->near[side]);
}
WIDE_INLINE Wide below(const FrictionSweep *o, Values f, int32_t n, int axis) {
  Wide low = beside(o, f, n, 2 * axis);
  return axis == 0 ? wide_shift_up(low, own(o, f, n)) : low;
}
WIDE_INLINE Wide above(const FrictionSweep *o, Values f, int32_t n, int axis) {
  Wide high = beside(o, f, n, 2 * axis + 1);
  return axis == 0 ? wide_shift_down(own(o, f, n), high) : high;
}
/* The strip across two sides: over either of those between, for the other may not exist. */
WIDE_INLINE int32_t strip_across(const FrictionSweep *o, int32_t n, int side, int other) {
  const FrictionLinks *links = o->links;
  int32_t strip = links[links[n].near[side]].near[other];
  return strip ? strip : links[links[n].near[other]].near[side];
}

/* Across the edge k: on the lower sides of both of its axes, or on the upper ones. */
WIDE_INLINE Wide across(const FrictionSweep *o, Values f, int32_t n, int k, bool upper) {
  int low = 2 * EDGE_AXES[k][0] + upper, high = 2 * EDGE_AXES[k][1] + upper;
  return value_at(f, f.slots ? o->links[n].across_slot[k][upper] : strip_across(o, n, high, low));
}
/* The four cells round the edge k at the cell's lower sides. */
WIDE_INLINE void round_edge(const FrictionSweep *o, Values f, int32_t n, int k, Wide value[4]) {
  int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
  Wide corner = across(o, f, n, k, false);
  value[0] = own(o, f, n);
  value[1] = below(o, f, n, a);
  value[2] = beside(o, f, n, 2 * c);
  value[3] = a == 0 ? wide_shift_up(corner, value[2]) : corner;
}
/* The four edges k round the cell's centre. */
WIDE_INLINE void round_cell(const FrictionSweep *o, Values f, int32_t n, int k, Wide value[4]) {
  int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
  Wide corner = across(o, f, n, k, true);
  value[0] = own(o, f, n);
  value[1] = above(o, f, n, a);
  value[2] = beside(o, f, n, 2 * c + 1);
  value[3] = a == 0 ? wide_shift_down(value[2], corner) : corner;
}
WIDE_INLINE Wide least_round_edge(const FrictionSweep *o, Values f, int32_t n, int k) {
  Wide v[4];
  round_edge(o, f, n, k, v);
  return wide_min(wide_min(v[0], v[1]), wide_min(v[2], v[3]));
}

/* Slots of the strips round it, and what there is to do for those beside it. */
WIDE_INLINE void link_strip(const FrictionSweep *o, int32_t n) {
  FrictionLinks *links = &o->links[n];
  links->flows = links->bears;
  links->rubs = links->walled != 0;
  for (int side = 0; side < SIDES; side++) {
    const FrictionLinks *near = &o->links[links->near[side]];
    links->flows |= near->bears;
    links->rubs |= near->walled != 0;
  }
  for (int k = 0; k < 3; k++)
    for (int upper = 0; upper < 2; upper++) {
      int a = 2 * EDGE_AXES[k][0], c = 2 * EDGE_AXES[k][1];
      links->across_slot[k][upper] = o->links[strip_across(o, n, c + upper, a + upper)].slot;
      links->rubs |= o->links[strip_across(o, n, c + upper, a + !upper)].walled != 0;
    }
}

void KERNEL(flip_friction_parts)(const FrictionSweep *o, int64_t b, int64_t e) {
  const Wide zero = wide_set(0), one = wide_set(1);
  for (int32_t n = (int32_t)b; n < (int32_t)e; n++) {
    FrictionLinks *links = &o->links[n];
    WideInt less = {0};
    link_strip(o, n);
    for (int k = 0; k < 3 && links->bears; k++) {
      FrictionReturn *yield = &o->strips.yields[n];
      Wide weight[4], count = zero, step_size = least_round_edge(o, OF_STRIPS(o->strips.steps, .step_size), n, k);
      round_cell(o, OF_STRIPS(o->strips.steps, .per[k]), n, k, weight);
      for (int j = 0; j < 4; j++) count += wide_select(wide_less(zero, weight[j]), one, zero);
      less |= wide_less(count, wide_set(4));
      wide_store(o->strips.parts[n][k], one / wide_max(count, one));
      wide_store(yield->share[k], wide_load(yield->share[k]) * step_size);
      wide_store(o->strips.steps[n].edge_step[k], wide_set(1 / SHEAR_COUNTS) * step_size);
    }
    links->part = wide_bits(less) ? n : 0;
  }
}

/* ---- walls ---- */

/* Round an edge k at a wall, in the plane across one of its axes, lie four edges of another component: which of its
 * axes the plane contains (a), and the other axis of the plane (b). */
typedef struct WallPlane {
  int a, b, component;
} WallPlane;
WIDE_INLINE WallPlane wall_plane(int k, int side) {
  int a = EDGE_AXES[k][side], c = EDGE_AXES[k][!side], b = 3 - a - c;
  return (WallPlane){a, b, SHEAR_OF[b][c]};
}

/* Values at these edges; `corner` is the strip, or its slot, below along a and above along b. */
WIDE_INLINE void edges_beside(const FrictionSweep *o, Values f, int32_t n, WallPlane plane, int32_t corner,
                              Wide value[4]) {
  Wide far = value_at(f, corner);
  if (plane.a == 0) far = wide_shift_up(far, beside(o, f, n, 2 * plane.b + 1));
  if (plane.b == 0) far = wide_shift_down(beside(o, f, n, 2 * plane.a), far);
  value[0] = own(o, f, n);
  value[1] = below(o, f, n, plane.a);
  value[2] = above(o, f, n, plane.b);
  value[3] = far;
}

void KERNEL(flip_friction_walls)(const FrictionSweep *o, int64_t b, int64_t e) {
  const Wide zero = wide_set(0), one = wide_set(1);
  for (int64_t at = b; at < e; at++) {
    FrictionWall *wall = &o->walls[at];
    wall->beside = 0;
    for (int k = 0; k < 3; k++)
      for (int side = 0; side < 2; side++) {
        const WallPlane plane = wall_plane(k, side);
        int32_t corner = strip_across(o, wall->strip, 2 * plane.a, 2 * plane.b + 1);
        Wide bound[4], count = zero;
        wall->corner_slot[k][side] = o->links[corner].slot;
        edges_beside(o, OF_STRIPS(o->strips.wall_weight, [plane.component]), wall->strip, plane, corner, bound);
        for (int j = 0; j < 4; j++) count += wide_select(wide_less(zero, bound[j]), one, zero);
        wide_store(wall->part[k][side], one / wide_max(count, one));
        if (wide_bits(wide_less(zero, count))) wall->beside |= (uint8_t)(1u << (2 * k + side));
      }
  }
}

/* ---- a sweep: force ---- */

/* D2 of the stresses y, times the cell's side, at the faces across an axis. */
WIDE_INLINE Wide force_at(const FrictionSweep *o, int32_t n, int a) {
  StripStress *y = o->strips.y[o->now];
  Values diagonal = OF_STRIPS(y, [a]);
  Wide sum = own(o, diagonal, n) - below(o, diagonal, n, a);
  for (int k = 0; k < 2; k++) {
    Values shear = OF_STRIPS(y, [SHEAR[a][k]]);
    sum += above(o, shear, n, ALONG[a][k]) - own(o, shear, n);
  }
  return sum;
}

WIDE_INLINE Wide lanes(void) { return (Wide){0, 1, 2, 3, 4, 5, 6, 7}; }

void KERNEL(flip_friction_wrench)(const FrictionSweep *o, int64_t b, int64_t e, double (*wrench)[6]) {
  for (int64_t k = b; k < e; k++) {
    const FaceGroup *group = &o->groups[k];
    Wide force = wide_set(0), share = wide_load(group->share);
    switch (group->axis) {
    case 0: force = force_at(o, group->strip, 0); break;
    case 1: force = force_at(o, group->strip, 1); break;
    default: force = force_at(o, group->strip, 2); break;
    }
    double area = o->cell * o->cell, push = area * (double)wide_sum(share * force), *w = wrench[group->body];
    double along = (double)group->arm[0] * push + area * o->cell * (double)wide_sum(share * force * lanes());
    double y = (double)group->arm[1] * push, z = (double)group->arm[2] * push;
    w[group->axis] += push;
    switch (group->axis) {
    case 0: w[4] += z, w[5] -= y; break;
    case 1: w[5] += along, w[3] -= z; break;
    default: w[3] += y, w[4] -= along; break;
    }
  }
}

/* What the change of the body's velocity adds to the flux: dt^2 J2^T M^-1 J2 of Eq. 26. */
WIDE_INLINE void add_body(const FrictionSweep *o, const FaceGroup *group, float flux[3][STRIP]) {
  const double *v = o->body_change[group->body];
  double x = (double)group->arm[0], y = (double)group->arm[1], z = (double)group->arm[2], first, more = 0;
  switch (group->axis) {
  case 0: first = v[0] + v[4] * z - v[5] * y; break;
  case 1: first = v[1] + v[5] * x - v[3] * z, more = v[5] * o->cell; break;
  default: first = v[2] + v[3] * y - v[4] * x, more = -v[4] * o->cell; break;
  }
  Wide speed = wide_set((float)first) + wide_set((float)more) * lanes();
  float *to = flux[group->axis];
  wide_store(to, wide_load(to) + wide_load(group->share) * speed);
}

WIDE_INLINE void force_strips(const FrictionSweep *o, Strips at, FrictionSlot *slots) {
  const Wide factor = wide_set(o->factor);
  for (int32_t n = at.first; n < at.end; n++) {
    const FrictionLinks *links = &o->links[n];
    if (!links->flows) continue;
    FrictionSlot *slot = slot_of(o, slots, n);
    const FrictionFaces *faces = &o->strips.faces[n];
    for (int a = 0; a < 3; a++)
      wide_store(slot->flux[a], wide_load(faces->in[a]) + wide_load(faces->ease[a]) * (factor * force_at(o, n, a)));
    for (int k = 0; k < links->groups; k++) add_body(o, &o->groups[links->first_group + k], slot->flux);
  }
}

/* ---- a step down the gradient ---- */

WIDE_INLINE void store_shear(const FrictionSweep *o, int32_t n, FrictionSlot *slot, int k, Wide v) {
  wide_store(slot->trial[S_XY + k], v);
  wide_store(slot->square[k], v * v * wide_load(o->strips.steps[n].per[k]));
  if (o->links[n].rubs) wide_store(slot->rub[k], v * v * wide_load(o->strips.wall_weight[n][k]));
}

WIDE_INLINE void clear_slot(FrictionSlot *slot) {
  for (int k = 0; k < 3; k++) {
    wide_store(slot->trial[S_XY + k], wide_set(0));
    wide_store(slot->square[k], wide_set(0));
    wide_store(slot->rub[k], wide_set(0));
  }
  wide_store(slot->scale, wide_set(0));
}

/* Eq. 17, the trace removed. */
WIDE_INLINE void trial_strips(const FrictionSweep *o, Strips at, FrictionSlot *slots) {
  const Wide third = wide_set(1.0f / 3);
  const Values flux[3] = {of_slots(slots->flux[0]), of_slots(slots->flux[1]), of_slots(slots->flux[2])};
  for (int32_t n = at.first; n < at.end; n++) {
    FrictionSlot *slot = slot_of(o, slots, n);
    const FrictionSteps *steps = &o->strips.steps[n];
    if (!o->links[n].bears) {
      clear_slot(slot);
      continue;
    }
    const float(*y)[STRIP] = o->strips.y[o->now][n];
    Wide diagonal[3], shear[3], trace = wide_set(0), step_size = wide_load(steps->step_size);
    for (int a = 0; a < 3; a++) {
      diagonal[a] = wide_load(y[a]) - step_size * (own(o, flux[a], n) - above(o, flux[a], n, a));
      trace += diagonal[a];
    }
    for (int k = 0; k < 3; k++) {
      int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
      Wide slope = below(o, flux[a], n, c) - own(o, flux[a], n) + below(o, flux[c], n, a) - own(o, flux[c], n);
      shear[k] = wide_load(y[S_XY + k]) - wide_load(steps->edge_step[k]) * slope;
    }
    for (int a = 0; a < 3; a++) wide_store(slot->trial[a], diagonal[a] - third * trace);
    for (int k = 0; k < 3; k++) store_shear(o, n, slot, k, shear[k]);
  }
}

/* Stresses that are not changed, for the passes that only look at them. */
WIDE_INLINE void copy_strips(const FrictionSweep *o, Strips at, bool next, FrictionSlot *slots) {
  for (int32_t n = at.first; n < at.end; n++) {
    FrictionSlot *slot = slot_of(o, slots, n);
    const float(*stress)[STRIP] = next ? o->strips.y[!o->now][n] : o->strips.x[n];
    clear_slot(slot);
    for (int k = 0; k < 3; k++) wide_store(slot->slip[k], wide_set(1));
    for (int a = 0; a < 3 && o->links[n].bears; a++) {
      wide_store(slot->trial[a], wide_load(stress[a]));
      store_shear(o, n, slot, a, wide_load(stress[S_XY + a]));
    }
  }
}

/* ---- rates of yielding ---- */

/* Mean of the squares at the edges round a cell's centre, each times its `per`: of the shares of what the edges bear.
 * Shares, because stress and strength both grow with depth: the mean of the squares themselves exceeds the square at
 * the centre, by a quarter in the topmost cell, and slopes would yield three degrees too early. Edges without a share,
 * at the surface and at walls, do not count: a cell there must not seem to bear half of what it does. */
WIDE_INLINE Wide mean_square(const FrictionSweep *o, FrictionSlot *slots, int32_t n, int k) {
  Wide v[4];
  round_cell(o, of_slots(slots->square[k]), n, k, v);
  return (v[0] + v[1] + v[2] + v[3]) * wide_load(o->strips.parts[o->links[n].part][k]);
}

/* Squares of the parts of a cell's stress: its own diagonal, and the shear of the edges round it. */
WIDE_INLINE void stress_squares(const FrictionSweep *o, FrictionSlot *slots, int32_t n, Wide square[STRESSES]) {
  Wide limit = wide_load(o->strips.steps[n].limit);
  Wide shear = wide_set(3) * limit * limit; /* both s_ij and s_ji; edges bear sqrt(3/2) of the limit */
  for (int a = 0; a < 3; a++) {
    Wide v = wide_load(slot_of(o, slots, n)->trial[a]);
    square[a] = v * v;
  }
  for (int k = 0; k < 3; k++) square[S_XY + k] = shear * mean_square(o, slots, n, k);
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

/* What makes `most` of a size that is more. */
WIDE_INLINE Wide scale_to(Wide size, Wide most) {
  return wide_select(wide_less(size, most), wide_set(1), most / wide_max(size, wide_set(1e-30f)));
}

/* The shear at the edge k of a wall, with what acts beside it across: a wall bears the same in all directions. As a
 * share of what it bears; across it is the mean square of the edges at walls that lie round it, in the plane of one of
 * its axes or of the other. */
WIDE_INLINE Wide wall_load(const FrictionSweep *o, FrictionSlot *slots, int32_t n, int k) {
  const FrictionWall *wall = &o->walls[o->links[n].wall];
  Wide across = wide_set(0), along = wide_load(slot_of(o, slots, n)->rub[k]);
  for (int side = 0; side < 2; side++) {
    if (!(wall->beside >> (2 * k + side) & 1)) continue;
    const WallPlane plane = wall_plane(k, side);
    Wide v[4];
    edges_beside(o, of_slots(slots->rub[plane.component]), n, plane, wall->corner_slot[k][side], v);
    across = wide_max(across, (v[0] + v[1] + v[2] + v[3]) * wide_load(wall->part[k][side]));
  }
  return wide_select(wide_less(wide_set(0), wide_load(o->strips.wall_weight[n][k])), wide_sqrt(along + across),
                     wide_set(0));
}

/* What the wall leaves of the shear at its edges. */
WIDE_INLINE Wide slip_at(const FrictionSweep *o, FrictionSlot *slots, int32_t n, int k) {
  return scale_to(wall_load(o, slots, n, k), wide_set(1));
}

WIDE_INLINE void scale_strip(const FrictionSweep *o, FrictionSlot *slots, int32_t n, bool strict) {
  const Wide zero = wide_set(0);
  const FrictionSteps *steps = &o->strips.steps[n];
  FrictionSlot *slot = slot_of(o, slots, n);
  Wide limit = wide_load(steps->limit), most = limit * wide_set(1.7320508f), square[STRESSES], scale, diagonal;
  stress_squares(o, slots, n, square);
  if (strict) {
    Wide own_square = square[0] + square[1] + square[2];
    square[0] = square[1] = square[2] = zero;
    Wide shear = gauge(square, o->scheme);
    scale = scale_to(shear, most);
    diagonal = scale_to(wide_sqrt(own_square), wide_sqrt(wide_max(most * most - shear * shear, zero)));
  } else {
    Wide size = gauge(square, o->scheme);
    diagonal = scale_to(size, most);
    scale = wide_max(size * wide_set(0.57735027f) - limit, zero) / wide_load(steps->step_size);
  }
  WideInt loaded = wide_less(zero, limit);
  for (int a = 0; a < 3; a++)
    wide_store(slot->trial[a], wide_select(loaded, wide_load(slot->trial[a]) * diagonal, zero));
  wide_store(slot->scale, wide_select(loaded, scale, zero));
  for (int k = 0; k < 3 && strict; k++)
    if (o->links[n].walled >> k & 1) wide_store(slot->slip[k], slip_at(o, slots, n, k));
}

WIDE_INLINE void scale_strips(const FrictionSweep *o, Strips at, FrictionSlot *slots, bool strict) {
  for (int32_t n = at.first; n < at.end; n++)
    if (o->links[n].bears) scale_strip(o, slots, n, strict);
}

/* ---- return to the yield surface ---- */

WIDE_INLINE Wide clip(Wide v, Wide most) { return wide_max(wide_min(v, most), -most); }

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

/* What yielding leaves of the stress at an edge: by the mean rate of the cells round it, for the edge's own pace. */
WIDE_INLINE Wide yielded(const FrictionSweep *o, FrictionSlot *slots, int32_t n, int k) {
  Wide v[4], one = wide_set(1);
  round_edge(o, of_slots(slots->scale), n, k, v);
  return one / (one + (v[0] + v[1] + v[2] + v[3]) * wide_load(o->strips.yields[n].share[k]));
}

/* Sums of so many strips are made in floats. */
enum { SUM_CHUNK = 64 };

/* The shear that the return leaves at the edges k. */
WIDE_INLINE Wide returned(const FrictionSweep *o, FrictionSlot *slots, int32_t n, int k) {
  Wide shear = wide_load(slot_of(o, slots, n)->trial[S_XY + k]);
  if (o->scheme != SCREE_YIELD_BOX) {
    shear *= yielded(o, slots, n, k);
    if (o->links[n].walled >> k & 1) shear *= slip_at(o, slots, n, k);
  }
  return clip(shear, wide_load(o->strips.yields[n].cap[k]));
}

WIDE_INLINE void return_strip(const FrictionSweep *o, FrictionSlot *slots, int32_t n, Wide next[STRESSES]) {
  for (int a = 0; a < 3; a++) next[a] = wide_load(slot_of(o, slots, n)->trial[a]);
  if (o->scheme == SCREE_YIELD_BOX) onto_box(next, wide_load(o->strips.steps[n].limit));
  next[S_XY] = returned(o, slots, n, 0);
  next[S_YZ] = returned(o, slots, n, 1);
  next[S_XZ] = returned(o, slots, n, 2);
}

typedef struct StepSums {
  Wide moved, turned, size;
} StepSums;

WIDE_INLINE void store_step(const FrictionSweep *o, int32_t n, const Wide next[STRESSES], StepSums *sum) {
  const Wide momentum = wide_set(o->momentum);
  const float(*y)[STRIP] = o->strips.y[o->now][n];
  float(*x)[STRIP] = o->strips.x[n], (*after)[STRIP] = o->strips.y[!o->now][n];
  for (int k = 0; k < STRESSES; k++) {
    Wide back = wide_load(y[k]) - next[k], step = next[k] - wide_load(x[k]);
    const Wide counts = wide_set(k < S_XY ? 1 : SHEAR_COUNTS);
    sum->moved += counts * back * back;
    sum->turned += counts * back * step;
    sum->size += counts * next[k] * next[k];
    wide_store(x[k], next[k]);
    wide_store(after[k], next[k] + momentum * step);
  }
}

/* Rates of yielding and, with these, the return. It looks at the rates of strips that come before its own: both go
 * through the slice together. */
WIDE_INLINE void return_strips(const FrictionSweep *o, Strips at, FrictionSlot *slots, double sums[FRICTION_SUMS]) {
  const bool yields = o->scheme != SCREE_YIELD_BOX;
  for (int k = 0; k < FRICTION_SUMS; k++) sums[k] = 0;
  for (int32_t b = at.first; b < at.end; b += SUM_CHUNK) {
    StepSums sum = {0};
    for (int32_t n = b; n < b + SUM_CHUNK && n < at.end; n++) {
      if (!o->links[n].bears) continue;
      Wide next[STRESSES];
      if (yields) scale_strip(o, slots, n, false);
      return_strip(o, slots, n, next);
      store_step(o, n, next, &sum);
    }
    sums[FRICTION_MOVED] += (double)wide_sum(sum.moved);
    sums[FRICTION_TURNED] += (double)wide_sum(sum.turned);
    sums[FRICTION_SIZE] += (double)wide_sum(sum.size);
  }
}

/* ---- the last pass, and what it must have achieved ---- */

/* The least scale of the loaded cells round the edge; 1 where none is or the edge is not scaled. */
WIDE_INLINE Wide least_scale(const FrictionSweep *o, FrictionSlot *slots, int32_t n, int k) {
  const Wide zero = wide_set(0), one = wide_set(1);
  Wide scale[4], limit[4], least = one;
  round_edge(o, of_slots(slots->scale), n, k, scale);
  round_edge(o, OF_STRIPS(o->strips.steps, .limit), n, k, limit);
  for (int j = 0; j < 4; j++) least = wide_select(wide_less(zero, limit[j]), wide_min(least, scale[j]), least);
  return wide_select(wide_less(zero, wide_load(o->strips.yields[n].share[k])), least, one);
}

/* The least of what walls leave at the edge, where it is at one, and at those beside it. */
WIDE_INLINE Wide least_slip(const FrictionSweep *o, FrictionSlot *slots, int32_t n, int k) {
  const FrictionWall *wall = &o->walls[o->links[n].wall];
  Wide least = wide_load(slot_of(o, slots, n)->slip[k]);
  for (int side = 0; side < 2; side++) {
    const WallPlane plane = wall_plane(k, side);
    Wide slip[4];
    edges_beside(o, of_slots(slots->slip[plane.component]), n, plane, wall->corner_slot[k][side], slip);
    for (int j = 0; j < 4; j++) least = wide_min(least, slip[j]);
  }
  return wide_select(wide_less(wide_set(0), wide_load(o->strips.wall_weight[n][k])), least, wide_set(1));
}

WIDE_INLINE void strict_strips(const FrictionSweep *o, Strips at, FrictionSlot *slots) {
  const bool box = o->scheme == SCREE_YIELD_BOX;
  for (int32_t n = at.first; n < at.end; n++) {
    if (!o->links[n].bears) continue;
    const FrictionSlot *slot = slot_of(o, slots, n);
    float(*to)[STRIP] = o->strips.y[!o->now][n];
    for (int k = 0; k < 3; k++) {
      Wide v = wide_load(slot->trial[S_XY + k]);
      if (!box) v *= least_scale(o, slots, n, k);
      if (!box && o->links[n].walled) v *= least_slip(o, slots, n, k);
      wide_store(to[k], wide_load(slot->trial[k]));
      wide_store(to[S_XY + k], clip(v, wide_load(o->strips.yields[n].cap[k])));
    }
  }
}

WIDE_INLINE Wide size_of(Wide v) { return wide_max(v, -v); }

WIDE_INLINE Wide excess_strips(const FrictionSweep *o, Strips at, FrictionSlot *slots) {
  const Wide least = wide_set(1e-30f);
  const bool box = o->scheme == SCREE_YIELD_BOX;
  Wide largest = wide_set(0), square[STRESSES];
  for (int32_t n = at.first; n < at.end; n++) {
    if (!o->links[n].bears) continue;
    const FrictionSlot *slot = slot_of(o, slots, n);
    Wide most = wide_max(wide_load(o->strips.steps[n].limit), least);
    stress_squares(o, slots, n, square);
    if (!box) largest = wide_max(largest, gauge(square, o->scheme) / (most * wide_set(1.7320508f)));
    for (int k = 0; k < 3; k++) {
      if (box) largest = wide_max(largest, size_of(wide_load(slot->trial[k])) / most);
      if (!box && o->links[n].walled) largest = wide_max(largest, wall_load(o, slots, n, k));
      largest = wide_max(largest, size_of(wide_load(slot->trial[S_XY + k])) /
                                      wide_max(wide_load(o->strips.yields[n].cap[k]), least));
    }
  }
  return largest;
}

/* ---- sweeps ---- */

void KERNEL(flip_friction_sweep)(const FrictionSweep *o, const FrictionBlock *block, FrictionSlot *slots) {
  slots[0] = (FrictionSlot){0};
  for (int32_t j = block->first - BLOCK_RIM; j < block->end + BLOCK_RIM; j++) {
    force_strips(o, strips_of(o, block, j, 2, 2), slots);
    trial_strips(o, strips_of(o, block, j - 1, 1, 1), slots);
    Strips own_strips = strips_of(o, block, j - 2, 0, 0), rim = strips_of(o, block, j - 2, 1, 0);
    if (j - 2 >= block->first) rim.end = own_strips.first;
    if (o->scheme != SCREE_YIELD_BOX) scale_strips(o, rim, slots, false);
    if (j - 2 < block->first) continue;
    return_strips(o, own_strips, slots, o->sums[(int64_t)(j - 2) * o->bands + block->band]);
  }
}

void KERNEL(flip_friction_strict)(const FrictionSweep *o, const FrictionBlock *block, FrictionSlot *slots) {
  slots[0] = (FrictionSlot){0};
  for (int k = 0; k < 3; k++) wide_store(slots[0].slip[k], wide_set(1)); /* nobody's walls */
  for (int32_t j = block->first - BLOCK_RIM; j < block->end + BLOCK_RIM; j++) {
    copy_strips(o, strips_of(o, block, j, 2, 2), false, slots);
    if (o->scheme != SCREE_YIELD_BOX) scale_strips(o, strips_of(o, block, j - 1, 1, 1), slots, true);
    strict_strips(o, strips_of(o, block, j - 2, 0, 0), slots);
  }
}

float KERNEL(flip_friction_excess)(const FrictionSweep *o, const FrictionBlock *block, FrictionSlot *slots) {
  Wide largest = wide_set(0);
  slots[0] = (FrictionSlot){0};
  for (int32_t j = block->first - 1; j < block->end + 1; j++) {
    copy_strips(o, strips_of(o, block, j, 1, 1), true, slots);
    largest = wide_max(largest, excess_strips(o, strips_of(o, block, j - 1, 0, 0), slots));
  }
  float most = 0;
  for (int lane = 0; lane < LANES; lane++) most = largest[lane] > most ? largest[lane] : most;
  return most;
}
