#include "methods/flip/stress/yield_limits_kernels.h"
#include "methods/common/solid_friction_law.h"
#include "methods/flip/grid/strip_wide.h"
#include "methods/flip/stress/friction_law.h"
#include "methods/flip/stress/pressure_law.h"

#include <math.h>
#include <string.h>

/* The axes of the edges of each shear component. */
static const int EDGE_AXES[3][2] = {{0, 1}, {1, 2}, {0, 2}};

void KERNEL(flip_limit_cells)(const FrictionBounds *o, int64_t b, int64_t e) {
  const FlipFields *f = o->fields;
  const Wide zero = wide_set(0);
  for (int32_t s = (int32_t)b; s < (int32_t)e; s++) {
    Wide free = own(f->solid.free_volume, s);
    WideInt touching = wide_less(wide_set(PHI_TOUCHING) * free, own(f->sand.phi, s)) & wide_less(zero, free);
    put(o->limit, s,
        yield_limit(own(f->sand.alpha, s), own(o->kept->pressure, s), own(f->sand.cohesion, s), touching,
                    wide_less(zero, own(f->sand.usable, s))));
  }
}

/* What the edges see of the limit of a cell that has none. What of a cell at the surface lies on a pressed cell rests
 * there, and the pressure falls upwards by the weight: it is that of the cell below less the weight of one cell, for
 * then the mean at the edge between the two is that of the true depth. That of a thin layer is known by its depth; it
 * is below zero for one of less than half a cell. */
WIDE_INLINE Wide limit_at_surface(const FrictionBounds *o, int32_t s, int axis) {
  const FlipFields *f = o->fields;
  const FlipGrid *grid = o->grid;
  const Wide zero = wide_set(0), one = wide_set(1);
  Wide mobility = o->down ? own(f->sand.flux_mobility[axis], s) : above(grid, f->sand.flux_mobility[axis], s, axis);
  Wide open = o->down ? own(f->solid.open[axis], s) : above(grid, f->solid.open[axis], s, axis);
  Wide limit = o->down ? below(grid, o->limit, s, axis) : above(grid, o->limit, s, axis);
  Wide p = o->down ? below(grid, o->kept->pressure, s, axis) : above(grid, o->kept->pressure, s, axis);
  Wide kernel_volume =
      o->down ? own(f->solid.kernel_volume[1 + axis], s) : above(grid, f->solid.kernel_volume[1 + axis], s, axis);
  WideInt moves = wide_less(zero, mobility);
  Wide density = open * open / wide_select(moves, kernel_volume * mobility, one);
  Wide weight = wide_set(o->gravity) * density, depth = own(f->stress.layer_depth, s);
  WideInt thin = wide_less(zero, depth);
  p = wide_select(thin, layer_edge_pressure(depth, weight, p), p - weight);
  WideInt some = wide_less(zero, own(f->sand.phi, s)) & moves & wide_less(zero, limit) & (thin | wide_less(zero, p));
  return wide_select(some, own(f->sand.alpha, s) * p, zero);
}

/* Lanes at whose faces walls stop sand. */
WIDE_INLINE unsigned lanes_stopped(const FrictionBounds *o, int32_t s) {
  const Wide zero = wide_set(0);
  WideInt none = wide_less_equal(zero, zero);
  for (int a = 0; a < 3; a++) {
    Wide here = own(o->fields->stress.stopped[a], s), behind = above(o->grid, o->fields->stress.stopped[a], s, a);
    none &= wide_less_equal(here, zero) & wide_less_equal(zero, here);
    none &= wide_less_equal(behind, zero) & wide_less_equal(zero, behind);
  }
  return ~wide_bits(none) & ((1u << STRIP) - 1);
}

void KERNEL(flip_limit_surface)(const FrictionBounds *o, int64_t b, int64_t e) {
  const Wide zero = wide_set(0);
  for (int32_t s = (int32_t)b; s < (int32_t)e; s++) {
    Wide limit = own(o->limit, s), surface = zero;
    switch (o->axis) {
    case 0: surface = limit_at_surface(o, s, 0); break;
    case 1: surface = limit_at_surface(o, s, 1); break;
    case 2: surface = limit_at_surface(o, s, 2); break;
    default: break;
    }
    Wide edge_limit = wide_select(wide_less(zero, limit), limit, surface);
    put(o->fields->stress.edge_limit, s, edge_limit);
    unsigned stopped = o->fields->solid.near[s] ? lanes_stopped(o, s) : 0;
    o->loaded[s] = (uint8_t)(wide_bits(wide_less(zero, edge_limit)) | stopped);
  }
}

/* ---- edges ---- */

/* Of the four cells round an edge (a, c), or of the four faces that meet there: two of each of its axes. */
WIDE_INLINE void round_edge(const FlipGrid *grid, const float *f, int32_t s, int a, int c, Wide value[4]) {
  int32_t down = grid->near[s][2 * c];
  value[0] = own(f, s);
  value[1] = below(grid, f, s, a);
  value[2] = own(f, down);
  value[3] = below(grid, f, down, a);
}
WIDE_INLINE void faces_at_edge(const FlipGrid *grid, float *const f[3], int32_t s, int a, int c, Wide value[4]) {
  value[0] = own(f[a], s);
  value[1] = below(grid, f[a], s, c);
  value[2] = own(f[c], s);
  value[3] = below(grid, f[c], s, a);
}
WIDE_INLINE unsigned bits_below(const FlipGrid *grid, const uint8_t *bits, int32_t s, int axis) {
  const int32_t *near = grid->near[s];
  return axis > 0 ? bits[near[2 * axis]] : ((unsigned)bits[s] << 1 | bits[near[X_LOW]] >> (STRIP - 1)) & 0xff;
}
WIDE_INLINE void face_bits(const FlipGrid *grid, uint8_t *const f[3], int32_t s, int a, int c, unsigned bits[4]) {
  bits[0] = f[a][s];
  bits[1] = bits_below(grid, f[a], s, c);
  bits[2] = f[c][s];
  bits[3] = bits_below(grid, f[c], s, a);
}

/* Mean over the four cells round the edge of what they bear, counting only cells that are free. None where one of the
 * four faces at the edge is open and has no sand to move. */
WIDE_INLINE Wide mean_at_edge(const FrictionBounds *o, int32_t s, int a, int c) {
  const FlipFields *f = o->fields;
  const Wide zero = wide_set(0), one = wide_set(1);
  Wide free[4], edge_limit[4], light[4], open[4], count = zero;
  round_edge(o->grid, f->solid.free_volume, s, a, c, free);
  round_edge(o->grid, f->stress.edge_limit, s, a, c, edge_limit);
  faces_at_edge(o->grid, f->sand.specific_volume, s, a, c, light);
  faces_at_edge(o->grid, f->solid.open, s, a, c, open);
  for (int j = 0; j < 4; j++) count += wide_select(wide_less(zero, free[j]), one, zero);
  Wide mean = wide_set(o->shear_factor) * (edge_limit[0] + edge_limit[1] + edge_limit[2] + edge_limit[3]) /
              wide_max(count, one);
  for (int j = 0; j < 4; j++)
    mean = wide_select(wide_less(zero, open[j]) & wide_less_equal(light[j], zero), zero, mean);
  return wide_max(mean, zero);
}

/* A wall bears the pressure of the cell beside it and what it stops of the half cell in between: as much as a cell
 * where the layer is not thicker. */
WIDE_INLINE Wide stopped_at(const FrictionBounds *o, int32_t s, int a, int c) {
  const FlipFields *f = o->fields;
  const Wide zero = wide_set(0);
  Wide light[4], open[4], mass[4], stop[4], sum = zero;
  faces_at_edge(o->grid, f->sand.specific_volume, s, a, c, light);
  faces_at_edge(o->grid, f->solid.open, s, a, c, open);
  faces_at_edge(o->grid, f->sand.mass, s, a, c, mass);
  faces_at_edge(o->grid, f->stress.stopped, s, a, c, stop);
  for (int j = 0; j < 4; j++) {
    Wide off_grid = mass[j] * wide_max(stop[j], -stop[j]) * wide_set(o->per_area);
    sum += wide_select(wide_less(zero, open[j]), zero, off_grid);
  }
  for (int j = 0; j < 4; j++) sum = wide_select(wide_less(zero, open[j]) & wide_less_equal(light[j], zero), zero, sum);
  return sum;
}

/* Of the faces at an edge that lie in walls which sand touches: the lanes that have some, and the stress across them
 * that friction makes in the cells beside them. */
WIDE_INLINE WideInt across_walls(const FrictionBounds *o, int32_t s, int a, int c, Wide *across) {
  const FlipGrid *grid = o->grid;
  const uint8_t *valid = o->fields->solid.valid[0];
  int32_t down = grid->near[s][2 * c];
  const unsigned cells[4] = {valid[s], bits_below(grid, valid, s, a), valid[down], bits_below(grid, valid, down, a)};
  const int beside[4][2] = {{1, 0}, {3, 2}, {2, 0}, {3, 1}}; /* the cells on both sides of each face */
  unsigned closed[4];
  Wide stress[2][4], sum = wide_set(0), count = sum;
  face_bits(grid, o->closed, s, a, c, closed);
  round_edge(grid, o->kept->stress[a], s, a, c, stress[0]);
  round_edge(grid, o->kept->stress[c], s, a, c, stress[1]);
  for (int j = 0; j < 4; j++)
    for (int side = 0; side < 2; side++) {
      int cell = beside[j][side];
      uint8_t touched = (uint8_t)(closed[j] & cells[cell]);
      sum += wide_where(touched, stress[j / 2][cell]);
      count += wide_where(touched, wide_set(1));
    }
  *across = sum / wide_max(count, wide_set(1));
  return wide_less(wide_set(0), count);
}

/* Of the four faces at an edge those whose walls it slides along, as bits of the lanes. A wall that stands across one
 * of them counts first; then one that leaves less of a face free than of the widest. One that narrows all four alike
 * stands in the plane of both axes: there sand shears on sand. */
WIDE_INLINE void walls_at_edge(const FrictionBounds *o, int32_t s, int a, int c, unsigned walls[4]) {
  unsigned across[4];
  Wide open[4];
  face_bits(o->grid, o->across, s, a, c, across);
  faces_at_edge(o->grid, o->fields->solid.open, s, a, c, open);
  const unsigned some = across[0] | across[1] | across[2] | across[3];
  const Wide widest = wide_max(wide_max(open[0], open[1]), wide_max(open[2], open[3]));
  for (int j = 0; j < 4; j++) {
    const unsigned narrow = walls[j] & wide_bits(wide_less(open[j], wide_set(WALL_NARROWS) * widest));
    walls[j] = across[j] | (narrow & ~some);
  }
}

/* The solid that each of these lanes' edges is at: its coefficient, and its normal along both axes. */
typedef struct SolidsAt {
  float friction[STRIP], normal[2][STRIP];
} SolidsAt;

/* Of the walls of a lane's edge the one that lies most across the axes a and c. Those that lie in the plane of both are
 * none: there sand shears on sand. Returns the lanes that have one. */
static unsigned solids_at(const FrictionBounds *o, int32_t s, int a, int c, const unsigned walls[4], SolidsAt *to) {
  const FlipGrid *grid = o->grid;
  unsigned some = 0;
  for (unsigned lanes = walls[0] | walls[1] | walls[2] | walls[3]; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctz(lanes);
    float most = WALL_IN_PLANE;
    for (int j = 0; j < 4; j++) {
      if (!(walls[j] >> lane & 1)) continue;
      int axis = j < 2 ? a : c, along = j == 1 ? c : a;
      int32_t at = j % 2 == 1 ? cell_below(grid, s * STRIP + lane, along) : s * STRIP + lane;
      const float(*n)[STRIP] = o->solids[at / STRIP]->normal[axis];
      float n_a = n[a][at % STRIP], n_c = n[c][at % STRIP];
      if (!(n_a * n_a + n_c * n_c > most)) continue;
      most = n_a * n_a + n_c * n_c;
      to->friction[lane] = o->friction[o->fields->solid.owner[axis][at]];
      to->normal[0][lane] = n_a;
      to->normal[1][lane] = n_c;
      some |= 1u << lane;
    }
  }
  return some;
}

/* At walls and bodies edges bear what these stop, and no more than the coefficient of friction allows for all
 * that presses on the wall: the pressure less the frictional stress across it. It is the law of the wall that holds
 * there, by its own pressure: such edges count for the yield surface of no cell. */
WIDE_INLINE void bound_at_walls(const FrictionBounds *o, int32_t s, int k, const unsigned faces[4], int64_t n) {
  float *to_limit = o->to.returns[n].limit[k], *return_weight = o->to.returns[n].weight[k],
        *step_weight = o->to.steps[n].weight[k];
  const FlipFields *f = o->fields;
  const Wide zero = wide_set(0), one = wide_set(1);
  int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
  SolidsAt solids = {0};
  const unsigned walls = solids_at(o, s, a, c, faces, &solids);
  if (!walls) return;
  Wide limit_at = wide_load(to_limit), across, alpha = own(f->sand.alpha, s);
  alpha = wide_select(wide_less(zero, alpha), alpha, below(o->grid, f->sand.alpha, s, c));
  alpha = wide_select(wide_less(zero, alpha), alpha, below(o->grid, f->sand.alpha, s, a));
  WideInt some = wide_less(zero, alpha), at_wall = wide_lanes((uint8_t)walls);
  WideInt touched = across_walls(o, s, a, c, &across);
  const Wide n_a = wide_load(solids.normal[0]), n_c = wide_load(solids.normal[1]);
  Wide factor = wide_set(o->shear_factor) * wide_select(some, alpha, one);
  Wide all = limit_at + factor * stopped_at(o, s, a, c);
  Wide coefficient = solid_friction(wide_set(CONE_SHEAR) * alpha, wide_load(solids.friction));
  Wide most = wall_share(n_a * n_a, n_c * n_c) * wall_limit(coefficient, all, factor, across);
  limit_at = wide_select(at_wall & some, wide_min(all, most), limit_at);
  WideInt in_contact = at_wall & touched & wide_less(wide_set(LIMIT_LEAST), limit_at);
  wide_store(to_limit, limit_at);
  wide_store(step_weight, wide_select(at_wall, zero, wide_load(step_weight)));
  wide_store(return_weight, wide_select(at_wall, zero, wide_load(return_weight)));
  wide_store(o->to.wall_weight[n][k],
             wide_select(in_contact, one / wide_select(in_contact, limit_at * limit_at, one), zero));
  if (wide_bits(in_contact)) o->links[n].walled |= (uint8_t)(1u << k);
}

WIDE_INLINE void bound_edges(const FrictionBounds *o, int32_t s, int64_t n) {
  FrictionReturn *returns = &o->to.returns[n];
  const Wide zero = wide_set(0), one = wide_set(1), least = wide_set(LIMIT_LEAST);
  for (int k = 0; k < 3; k++) {
    int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
    Wide limit[4], mean = mean_at_edge(o, s, a, c);
    round_edge(o->grid, o->limit, s, a, c, limit);
    Wide load = limit[0] + limit[1] + limit[2] + limit[3];
    Wide inverse = wide_select(wide_less(least, mean), one / wide_max(mean, least), zero);
    wide_store(returns->limit[k], mean);
    wide_store(o->to.steps[n].weight[k], inverse * inverse);
    wide_store(returns->weight[k], wide_select(wide_less(zero, load), one / wide_max(load, wide_set(1e-30f)), zero));
    wide_store(o->to.wall_weight[n][k], zero);
    unsigned walls[4];
    face_bits(o->grid, o->walls, s, a, c, walls);
    if (!(walls[0] | walls[1] | walls[2] | walls[3])) continue;
    walls_at_edge(o, s, a, c, walls);
    bound_at_walls(o, s, k, walls, n);
  }
}

/* ---- planes across the grid ---- */

/* What the cell's stress may do along the plane that cuts it: friction times what presses on it, by the stress of the
 * last step. */
static float plane_bears(const FrictionBounds *o, int32_t at, const float n[3], int16_t solid) {
  const FlipKept *kept = o->kept;
  float across = 0, sand = CONE_SHEAR * o->fields->sand.alpha[at];
  for (int k = 0; k < 3; k++) {
    int a = EDGE_AXES[k][0], c = EDGE_AXES[k][1];
    int32_t above_a = cell_above(o->grid, at, a), above_c = cell_above(o->grid, at, c);
    const float *shear = kept->stress[S_XY + k];
    across +=
        n[k] * n[k] * kept->stress[k][at] +
        0.5f * n[a] * n[c] * (shear[at] + shear[above_a] + shear[above_c] + shear[cell_above(o->grid, above_a, c)]);
  }
  float pressing = kept->pressure[at] - across, friction = o->friction[solid];
  friction = sqrtf(sand * (friction < sand ? friction : sand));
  return pressing > 0 ? friction * pressing : 0;
}

/* The plane across the grid that cuts a cell: its normal. A cell that is whole may have one at its faces: what of the
 * cell behind is too little to be a cell. Returns whose it is; -1: there is none. */
static int16_t plane_at(const FrictionBounds *o, int32_t at, float n[3]) {
  const StripSolids *solids = o->solids[at / STRIP];
  int16_t owner = solids->across_of[at % STRIP];
  float most = 0;
  for (int a = 0; a < 3; a++) n[a] = solids->across[a][at % STRIP];
  for (int side = 0; side < SIDES && solids->nearest[at % STRIP] < 0; side++) {
    int axis = side / 2;
    int32_t face = side % 2 ? cell_above(o->grid, at, axis) : at;
    const float(*normal)[STRIP] = o->solids[face / STRIP]->normal[axis];
    const float of[3] = {normal[0][face % STRIP], normal[1][face % STRIP], normal[2][face % STRIP]};
    float closed = 1 - o->fields->solid.open[axis][face];
    if (o->fields->solid.owner[axis][face] < 0 || !(closed > most) || lies_along_grid(of)) continue;
    most = closed;
    owner = o->fields->solid.owner[axis][face];
    memcpy(n, of, sizeof of);
  }
  return owner;
}

static void tilt_strip(const FrictionBounds *o, int32_t s, int64_t n) {
  FrictionTilt *tilt = &o->to.tilts[n];
  o->links[n].tilted = false;
  for (int lane = 0; lane < STRIP && o->fields->solid.near[s]; lane++) {
    float normal[3];
    int16_t solid = plane_at(o, s * STRIP + lane, normal);
    for (int a = 0; a < 3; a++) tilt->normal[a][lane] = normal[a];
    tilt->most[lane] = solid >= 0 ? plane_bears(o, s * STRIP + lane, normal, solid) : TILT_NONE;
    o->links[n].tilted |= solid >= 0;
  }
}

/* ---- strips of the solve ---- */

WIDE_INLINE Wide step_size_of(const FrictionBounds *o, int32_t s) {
  Wide most = wide_set(o->least_mobility);
  for (int a = 0; a < 3; a++) {
    const float *mobility = o->fields->sand.mobility[a];
    most = wide_max(most, wide_max(own(mobility, s), above(o->grid, mobility, s, a)));
  }
  return wide_set(o->step_factor) / (wide_set(o->stiffness) * most);
}

/* What the solve begins with. Strips that bear nothing have no stress. */
WIDE_INLINE void begin_strip(const FrictionBounds *o, int32_t s, int64_t n) {
  const bool bears = o->links[n].bears;
  FrictionFaces *faces = &o->to.faces[n];
  for (int a = 0; a < 3; a++) {
    wide_store(faces->in[a], own(o->flux[a], s));
    wide_store(faces->mobility[a], own(o->fields->sand.mobility[a], s));
  }
  for (int k = 0; k < STRESSES; k++) {
    Wide x = bears ? own(o->kept->stress[k], s) : wide_set(0);
    wide_store(o->to.y[0][n][k], x);
    wide_store(bears ? o->to.x[n][k] : o->to.y[1][n][k], x);
  }
}

void KERNEL(flip_limit_strips)(const FrictionBounds *o, int64_t b, int64_t e, double sums[STRIP_SUMS]) {
  const Wide zero = wide_set(0);
  int walled = 0;
  Wide total = zero, count = zero;
  for (int64_t n = b; n < e; n++) {
    int32_t s = o->strips[n];
    FrictionLinks *links = &o->links[n];
    *links = (FrictionLinks){.slot = o->slot[n]};
    for (int side = 0; side < SIDES; side++) {
      links->near[side] = o->number[o->grid->near[s][side]];
      links->near_slot[side] = o->slot[links->near[side]];
    }
    bound_edges(o, s, n);
    tilt_strip(o, s, n);
    walled += links->walled != 0;
    Wide limit = own(o->limit, s), step_size = step_size_of(o, s), most = limit;
    for (int k = 0; k < 3; k++) most = wide_max(most, wide_load(o->to.returns[n].limit[k]));
    links->bears = wide_bits(wide_less(zero, most)) != 0;
    wide_store(o->to.steps[n].limit, limit);
    wide_store(o->to.steps[n].step_size, step_size);
    begin_strip(o, s, n);
    WideInt bears = wide_less(zero, limit);
    total += wide_select(bears, step_size, zero);
    count += wide_select(bears, wide_set(1), zero);
  }
  sums[STEP_TOTAL] = (double)wide_sum(total);
  sums[STEP_COUNT] = (double)wide_sum(count);
  sums[STRIPS_WALLED] = walled;
}
