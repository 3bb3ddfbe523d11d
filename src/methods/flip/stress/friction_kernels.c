#include "methods/flip/stress/friction_kernels.h"
#include "methods/flip/stress/friction_law.h"
#include "methods/flip/stress/pressure_law.h"

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
  links->near_wall = links->walled != 0;
  for (int side = 0; side < SIDES; side++) {
    const FrictionLinks *near = &o->links[links->near[side]];
    links->flows |= near->bears;
    links->near_wall |= near->walled != 0;
  }
  for (int k = 0; k < 3; k++)
    for (int upper = 0; upper < 2; upper++) {
      int a = 2 * EDGE_AXES[k][0], c = 2 * EDGE_AXES[k][1];
      links->across_slot[k][upper] = o->links[strip_across(o, n, c + upper, a + upper)].slot;
      links->near_wall |= o->links[strip_across(o, n, c + upper, a + !upper)].walled != 0;
    }
}

void KERNEL(flip_friction_parts)(const FrictionSweep *o, int64_t b, int64_t e) {
  const Wide zero = wide_set(0), one = wide_set(1);
  for (int32_t n = (int32_t)b; n < (int32_t)e; n++) {
    FrictionLinks *links = &o->links[n];
    WideInt less = {0};
    link_strip(o, n);
    for (int k = 0; k < 3 && links->bears; k++) {
      FrictionReturn *to = &o->strips.returns[n];
      Wide weight[4], count = zero, step_size = least_round_edge(o, OF_STRIPS(o->strips.steps, .step_size), n, k);
      round_cell(o, OF_STRIPS(o->strips.steps, .weight[k]), n, k, weight);
      for (int j = 0; j < 4; j++) count += wide_select(wide_less(zero, weight[j]), one, zero);
      less |= wide_less(count, wide_set(4));
      wide_store(o->strips.parts[n][k], one / wide_max(count, one));
      wide_store(to->weight[k], wide_load(to->weight[k]) * step_size);
      wide_store(o->strips.steps[n].edge_step[k], wide_set(1 / SHEAR_COUNTS) * step_size);
    }
    for (int k = 0; k < 3 && links->tilted; k++) {
      Wide bound[4], count = zero;
      round_cell(o, OF_STRIPS(o->strips.wall_weight, [k]), n, k, bound);
      for (int j = 0; j < 4; j++) count += wide_select(wide_less(zero, bound[j]), one, zero);
      wide_store(o->strips.tilts[n].part[k], one / wide_max(count, one));
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
  Values shear_0 = OF_STRIPS(y, [SHEAR[a][0]]), shear_1 = OF_STRIPS(y, [SHEAR[a][1]]);
  return stress_force(own(o, diagonal, n), below(o, diagonal, n, a), own(o, shear_0, n),
                      above(o, shear_0, n, ALONG[a][0]), own(o, shear_1, n), above(o, shear_1, n, ALONG[a][1]));
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
      wide_store(slot->flux[a], wide_load(faces->in[a]) + wide_load(faces->mobility[a]) * (factor * force_at(o, n, a)));
    for (int k = 0; k < links->groups; k++) add_body(o, &o->groups[links->first_group + k], slot->flux);
  }
}

/* ---- a step down the gradient ---- */

WIDE_INLINE void store_shear(const FrictionSweep *o, int32_t n, FrictionSlot *slot, int k, Wide v) {
  wide_store(slot->trial[S_XY + k], v);
  wide_store(slot->square[k], v * v * wide_load(o->strips.steps[n].weight[k]));
  if (o->links[n].near_wall) wide_store(slot->wall_square[k], v * v * wide_load(o->strips.wall_weight[n][k]));
}

WIDE_INLINE void clear_slot(FrictionSlot *slot) {
  for (int k = 0; k < 3; k++) {
    wide_store(slot->trial[S_XY + k], wide_set(0));
    wide_store(slot->square[k], wide_set(0));
    wide_store(slot->wall_square[k], wide_set(0));
  }
  wide_store(slot->scale, wide_set(0));
}

/* Eq. 17, the trace removed. */
WIDE_INLINE void trial_strips(const FrictionSweep *o, Strips at, FrictionSlot *slots) {
  const Values flux[3] = {of_slots(slots->flux[0]), of_slots(slots->flux[1]), of_slots(slots->flux[2])};
  for (int32_t n = at.first; n < at.end; n++) {
    FrictionSlot *slot = slot_of(o, slots, n);
    const FrictionSteps *steps = &o->strips.steps[n];
    if (!o->links[n].bears) {
      clear_slot(slot);
      continue;
    }
    const float(*y)[STRIP] = o->strips.y[o->now][n];
    LaneVec3 stress = vec_make(wide_load(y[S_XX]), wide_load(y[S_YY]), wide_load(y[S_ZZ]));
    LaneVec3 low = vec_make(own(o, flux[0], n), own(o, flux[1], n), own(o, flux[2], n));
    LaneVec3 high = vec_make(above(o, flux[0], n, 0), above(o, flux[1], n, 1), above(o, flux[2], n, 2));
    LaneVec3 diagonal = trial_diagonal(stress, low, high, wide_load(steps->step_size));
    wide_store(slot->trial[S_XX], diagonal.x);
    wide_store(slot->trial[S_YY], diagonal.y);
    wide_store(slot->trial[S_ZZ], diagonal.z);
    for (int k = 0; k < 3; k++) {
      int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
      store_shear(o, n, slot, k,
                  trial_shear(wide_load(y[S_XY + k]), own(o, flux[a], n), below(o, flux[a], n, c), own(o, flux[c], n),
                              below(o, flux[c], n, a), wide_load(steps->edge_step[k])));
    }
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

/* Squares of a cell's stress: of its own diagonal, and of the shear at the edges round it. */
typedef struct StressSquares {
  LaneVec3 diagonal, shear;
} StressSquares;

WIDE_INLINE StressSquares stress_squares(const FrictionSweep *o, FrictionSlot *slots, int32_t n) {
  const FrictionSlot *slot = slot_of(o, slots, n);
  Wide limit = wide_load(o->strips.steps[n].limit);
  Wide bears = wide_set(3) * limit * limit; /* both s_ij and s_ji; edges bear CONE_SHEAR times the limit */
  Wide x = wide_load(slot->trial[S_XX]), y = wide_load(slot->trial[S_YY]), z = wide_load(slot->trial[S_ZZ]);
  return (StressSquares){vec_make(x * x, y * y, z * z),
                         vec_make(bears * mean_square(o, slots, n, 0), bears * mean_square(o, slots, n, 1),
                                  bears * mean_square(o, slots, n, 2))};
}

WIDE_INLINE Wide gauge(LaneVec3 diagonal, LaneVec3 shear, int scheme) {
  return scheme == SCREE_YIELD_PLANES ? planes_gauge(diagonal, shear) : cone_gauge(diagonal, shear);
}

/* The shear at the edge k of a wall, with what acts beside it across: a wall bears the same in all directions. As a
 * share of what it bears; across it is the mean square of the edges at walls that lie round it, in the plane of one of
 * its axes or of the other. */
WIDE_INLINE Wide load_at_wall(const FrictionSweep *o, FrictionSlot *slots, int32_t n, int k) {
  const FrictionWall *wall = &o->walls[o->links[n].wall];
  Wide across = wide_set(0), along = wide_load(slot_of(o, slots, n)->wall_square[k]);
  for (int side = 0; side < 2; side++) {
    if (!(wall->beside >> (2 * k + side) & 1)) continue;
    const WallPlane plane = wall_plane(k, side);
    Wide v[4];
    edges_beside(o, of_slots(slots->wall_square[plane.component]), n, plane, wall->corner_slot[k][side], v);
    across = wide_max(across, (v[0] + v[1] + v[2] + v[3]) * wide_load(wall->part[k][side]));
  }
  return wide_select(wide_less(wide_set(0), wide_load(o->strips.wall_weight[n][k])), wall_load(along, across),
                     wide_set(0));
}

/* What the wall leaves of the shear at its edges. */
WIDE_INLINE Wide slip_at(const FrictionSweep *o, FrictionSlot *slots, int32_t n, int k) {
  return return_scale(load_at_wall(o, slots, n, k), wide_set(1));
}

/* Mean of what the edges k at walls round a cell bear. */
WIDE_INLINE Wide mean_at_walls(const FrictionSweep *o, FrictionSlot *slots, int32_t n, int k) {
  Wide v[4], limit[4], bound[4], sum = wide_set(0);
  round_cell(o, of_slots(slots->trial[S_XY + k]), n, k, v);
  round_cell(o, OF_STRIPS(o->strips.returns, .limit[k]), n, k, limit);
  round_cell(o, OF_STRIPS(o->strips.wall_weight, [k]), n, k, bound);
  for (int j = 0; j < 4; j++)
    sum += wide_select(wide_less(wide_set(0), bound[j]), clipped(v[j], limit[j]), wide_set(0));
  return sum * wide_load(o->strips.tilts[n].part[k]);
}

/* What planes that cut the cells across the grid leave of the diagonal. */
WIDE_INLINE LaneVec3 along_planes(const FrictionSweep *o, FrictionSlot *slots, int32_t n, LaneVec3 diagonal) {
  const FrictionTilt *tilt = &o->strips.tilts[n];
  if (!o->links[n].tilted) return diagonal;
  LaneVec3 normal = vec_make(wide_load(tilt->normal[0]), wide_load(tilt->normal[1]), wide_load(tilt->normal[2]));
  LaneVec3 shear =
      vec_make(mean_at_walls(o, slots, n, 0), mean_at_walls(o, slots, n, 1), mean_at_walls(o, slots, n, 2));
  return wall_return(diagonal, shear, normal, wide_load(tilt->most));
}

/* Scales the diagonal of the cells, and leaves what the edges round them need. `strict`: after the last step. */
WIDE_INLINE void return_cells(const FrictionSweep *o, FrictionSlot *slots, int32_t n, bool strict) {
  const Wide zero = wide_set(0);
  const FrictionSteps *steps = &o->strips.steps[n];
  FrictionSlot *slot = slot_of(o, slots, n);
  Wide limit = wide_load(steps->limit);
  StressSquares square = stress_squares(o, slots, n);
  CellReturn to =
      strict ? strict_return(square.diagonal, gauge(vec_zero(), square.shear, o->scheme), limit)
             : radial_return(gauge(square.diagonal, square.shear, o->scheme), limit, wide_load(steps->step_size));
  WideInt loaded = wide_less(zero, limit);
  LaneVec3 diagonal =
      vec_make(wide_load(slot->trial[S_XX]), wide_load(slot->trial[S_YY]), wide_load(slot->trial[S_ZZ]));
  diagonal = along_planes(o, slots, n, vec_mul(diagonal, wide_select(loaded, to.diagonal, zero)));
  wide_store(slot->trial[S_XX], diagonal.x);
  wide_store(slot->trial[S_YY], diagonal.y);
  wide_store(slot->trial[S_ZZ], diagonal.z);
  wide_store(strict ? slot->scale : slot->rate, wide_select(loaded, to.edges, zero));
  for (int k = 0; k < 3 && strict; k++)
    if (o->links[n].walled >> k & 1) wide_store(slot->slip[k], slip_at(o, slots, n, k));
}

WIDE_INLINE void scale_strips(const FrictionSweep *o, Strips at, FrictionSlot *slots, bool strict) {
  for (int32_t n = at.first; n < at.end; n++)
    if (o->links[n].bears) return_cells(o, slots, n, strict);
}

/* ---- return to the yield surface ---- */

/* Halvings of the range of a shift: floats hold no more. */
enum { SHIFT_HALVINGS = 26 };

WIDE_INLINE LaneVec3 onto_box(LaneVec3 diagonal, Wide limit) {
  ShiftRange range = shift_range(diagonal, limit);
  for (int turn = 0; turn < SHIFT_HALVINGS; turn++) range = shift_halved(range, diagonal, limit);
  return clipped_diagonal(diagonal, wide_set(0.5f) * (range.low + range.high), limit);
}

/* What yielding leaves of the stress at an edge: by the mean rate of the cells round it, for the edge's own step. */
WIDE_INLINE Wide yielded(const FrictionSweep *o, FrictionSlot *slots, int32_t n, int k) {
  Wide rate[4];
  round_edge(o, of_slots(slots->rate), n, k, rate);
  return edge_scale(rate[0] + rate[1] + rate[2] + rate[3], wide_load(o->strips.returns[n].weight[k]));
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
  return clipped(shear, wide_load(o->strips.returns[n].limit[k]));
}

WIDE_INLINE void return_strip(const FrictionSweep *o, FrictionSlot *slots, int32_t n, Wide next[STRESSES]) {
  const FrictionSlot *slot = slot_of(o, slots, n);
  LaneVec3 diagonal =
      vec_make(wide_load(slot->trial[S_XX]), wide_load(slot->trial[S_YY]), wide_load(slot->trial[S_ZZ]));
  if (o->scheme == SCREE_YIELD_BOX)
    diagonal = along_planes(o, slots, n, onto_box(diagonal, wide_load(o->strips.steps[n].limit)));
  next[S_XX] = diagonal.x;
  next[S_YY] = diagonal.y;
  next[S_ZZ] = diagonal.z;
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
    Wide before = wide_load(x[k]), back = wide_load(y[k]) - next[k], step = next[k] - before;
    const Wide counts = wide_set(k < S_XY ? 1 : SHEAR_COUNTS);
    sum->moved += counts * back * back;
    sum->turned += counts * back * step;
    sum->size += counts * next[k] * next[k];
    wide_store(x[k], next[k]);
    wide_store(after[k], extrapolated(next[k], before, momentum));
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
      if (yields) return_cells(o, slots, n, false);
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
  return wide_select(wide_less(zero, wide_load(o->strips.returns[n].weight[k])), least, one);
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
      wide_store(to[S_XY + k], clipped(v, wide_load(o->strips.returns[n].limit[k])));
    }
  }
}

WIDE_INLINE Wide size_of(Wide v) { return wide_max(v, -v); }

WIDE_INLINE Wide excess_strips(const FrictionSweep *o, Strips at, FrictionSlot *slots) {
  const Wide least = wide_set(1e-30f);
  const bool box = o->scheme == SCREE_YIELD_BOX;
  Wide largest = wide_set(0);
  for (int32_t n = at.first; n < at.end; n++) {
    if (!o->links[n].bears) continue;
    const FrictionSlot *slot = slot_of(o, slots, n);
    Wide most = wide_max(wide_load(o->strips.steps[n].limit), least);
    StressSquares square = stress_squares(o, slots, n);
    Wide size = gauge(square.diagonal, square.shear, o->scheme);
    if (!box) largest = wide_max(largest, size / (most * wide_set(CONE_LIMIT)));
    for (int k = 0; k < 3; k++) {
      if (box) largest = wide_max(largest, size_of(wide_load(slot->trial[k])) / most);
      if (!box && o->links[n].walled) largest = wide_max(largest, load_at_wall(o, slots, n, k));
      largest = wide_max(largest, size_of(wide_load(slot->trial[S_XY + k])) /
                                      wide_max(wide_load(o->strips.returns[n].limit[k]), least));
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
  for (int k = 0; k < 3; k++) wide_store(slots[0].slip[k], wide_set(1)); /* no walls */
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
