/* Fine grains on a device: a work item each. The laws are those of the CPU; sums go over the coarse grains in the same
 * order, by cells and by ids within a cell, so that the bits are the same. */
#include "upsample/fine_solids.cl"

/* ---- coarse grains ---- */

/* Cells on one axis within reach of a place. Rounding is small against the margin, and a cell too many costs a look. */
typedef struct CellRange {
  int low, high;
} CellRange;

static CellRange cells_between(float from, float to, float inverse) {
  float low = cell_hold(from * inverse), high = cell_hold(to * inverse);
  float margin = fmin(0.01f + 2.4e-7f * fmax(fabs(low), fabs(high)), 2.0f);
  CellRange range = {int_floor(low - margin), int_floor(high + margin)};
  return range;
}

static CellRange cells_near(float at, float reach, float inverse) {
  return cells_between(at - reach, at + reach, inverse);
}

typedef struct PairWall {
  int in_reach;
  float gap;
  LaneVec3 normal;
} PairWall;

static WeightedSums add_range(WeightedSums sums, global const float4 *rows, int begin, int end, LaneVec3 at,
                              float reach2, PairWall wall, bool squares) {
  for (int k = begin; k < end; k++) {
    float4 first = rows[2 * k], second = rows[2 * k + 1];
    LaneVec3 offset = vec_sub(at, vec_make(first.x, first.y, first.z));
    float t = pair_nearness(offset, reach2);
    if (wall.in_reach) t = pair_nearness_in_front(t, offset, wall.gap, wall.normal);
    sums = sums_add_pair(sums, t, vec_make(first.w, second.x, second.y), second.z, squares);
  }
  return sums;
}

static WeightedSums coarse_sums(CoarseTable table, global const int *start, global const float4 *rows, LaneVec3 at,
                                float reach, float reach2, PairWall wall, bool squares) {
  WeightedSums sums = sums_zero();
  if (table.count == 0) return sums;
  CellRange x = cells_near(at.x, reach, table.inverse), y = cells_near(at.y, reach, table.inverse),
            z = cells_near(at.z, reach, table.inverse);
  int low = x.low & table.mask[0], high = x.high & table.mask[0];
  for (int cz = z.low; cz <= z.high; cz++)
    for (int cy = y.low; cy <= y.high; cy++) {
      global const int *row =
          start + (((cz & table.mask[2]) << table.shift[1]) | ((cy & table.mask[1]) << table.shift[0]));
      /* What wraps round is lower than what begins again. */
      if (low <= high) sums = add_range(sums, rows, row[low], row[high + 1], at, reach2, wall, squares);
      else {
        sums = add_range(sums, rows, row[low], row[table.mask[0] + 1], at, reach2, wall, squares);
        sums = add_range(sums, rows, row[0], row[high + 1], at, reach2, wall, squares);
      }
    }
  return sums;
}

/* ---- coarse grains near a group ---- */

/* Where items of a group run side by side (FINE_GROUPS), they look for coarse grains together. */
#ifdef FINE_GROUPS
enum { BOX_ITEMS = 32, BOXES = FINE_GROUP / BOX_ITEMS, CHUNK = 256, SEGMENTS = 64 };
/* A group that is wider than so many reaches is better off without what is common to it. */
#define WIDEST 3.0f

/* What the items of a group share: coarse grains near it, a chunk at a time, and which of them are near each box round
 * BOX_ITEMS of its items. */
typedef struct GroupShared {
  float4 first[CHUNK], second[CHUNK];
  float at[3][FINE_GROUP];
  float box[BOXES][6];
  uint walled[BOXES];           /* a solid is in reach of some of its items */
  uint near[BOXES][CHUNK / 32]; /* a bit for each of the chunk */
  uint list[BOXES][CHUNK / 4];  /* those, a byte each */
  int begin[SEGMENTS], before[SEGMENTS + 1];
} GroupShared;

/* The box round all items of the group; that of each BOX_ITEMS is left in `group`. */
static void group_boxes(local GroupShared *group, LaneVec3 at, PairWall wall, float bounds[6]) {
  const uint item = get_local_id(0);
  group->at[0][item] = at.x, group->at[1][item] = at.y, group->at[2][item] = at.z;
  if (item < BOXES) group->walled[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (wall.in_reach) atomic_or(&group->walled[item / BOX_ITEMS], 1u);
  if (item < BOXES * 6) {
    const uint box = item / 6, side = item % 6;
    local const float *from = &group->at[side % 3][box * BOX_ITEMS];
    float v = from[0];
    for (int k = 1; k < BOX_ITEMS; k++) v = side < 3 ? fmin(v, from[k]) : fmax(v, from[k]);
    group->box[box][side] = v;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int side = 0; side < 6; side++) {
    bounds[side] = group->box[0][side];
    for (int box = 1; box < BOXES; box++)
      bounds[side] = side < 3 ? fmin(bounds[side], group->box[box][side]) : fmax(bounds[side], group->box[box][side]);
  }
}

/* Cells near the group. */
typedef struct GroupCells {
  CellRange x, y, z;
  int wraps;    /* a row of them is in two pieces */
  int segments; /* pieces of rows in all */
  int wide;     /* there are too many */
} GroupCells;

static GroupCells group_cells(CoarseTable table, const float bounds[6], float reach) {
  GroupCells cells;
  cells.x = cells_between(bounds[0] - reach, bounds[3] + reach, table.inverse);
  cells.y = cells_between(bounds[1] - reach, bounds[4] + reach, table.inverse);
  cells.z = cells_between(bounds[2] - reach, bounds[5] + reach, table.inverse);
  cells.wraps = (cells.x.low & table.mask[0]) > (cells.x.high & table.mask[0]);
  int nx = cells.x.high - cells.x.low + 1, ny = cells.y.high - cells.y.low + 1, nz = cells.z.high - cells.z.low + 1;
  float widest = fmax(bounds[3] - bounds[0], fmax(bounds[4] - bounds[1], bounds[5] - bounds[2]));
  cells.wide =
      !(widest <= WIDEST * reach) || nx > table.mask[0] + 1 || ny > table.mask[1] + 1 || nz > table.mask[2] + 1;
  cells.segments = cells.wide ? 0 : cells.wraps ? 2 * ny * nz : ny * nz;
  return cells;
}

/* Coarse grains of segment q: [result.low, result.high). */
static CellRange segment_rows(CoarseTable table, global const int *start, GroupCells cells, int q) {
  int ny = cells.y.high - cells.y.low + 1, r = cells.wraps ? q / 2 : q, later = cells.wraps && (q & 1);
  int cz = cells.z.low + r / ny, cy = cells.y.low + r % ny;
  int low = cells.x.low & table.mask[0], high = cells.x.high & table.mask[0];
  global const int *row = start + (((cz & table.mask[2]) << table.shift[1]) | ((cy & table.mask[1]) << table.shift[0]));
  CellRange range = {row[later ? 0 : low], row[cells.wraps && !later ? table.mask[0] + 1 : high + 1]};
  return range;
}

/* Segments [q, q + many): where each begins, and how many coarse grains come before it. */
static void group_segments(local GroupShared *group, CoarseTable table, global const int *start, GroupCells cells,
                           int q, int many) {
  const int item = (int)get_local_id(0);
  if (item < many) {
    CellRange range = segment_rows(table, start, cells, q + item);
    group->begin[item] = range.low;
    group->before[item + 1] = range.high - range.low;
  }
  if (item == 0) group->before[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < many; step *= 2) {
    int sum = item < many && item >= step ? group->before[item + 1 - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < many && item >= step) group->before[item + 1] += sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

/* Whether a coarse grain is in reach of a box. Rounding grows with the value, so that none that is in reach of a place
 * in the box is missed. */
static bool near_box(local const float *box, float4 at, float reach2) {
  LaneVec3 d =
      vec_make(at.x - real_min(real_max(at.x, box[0]), box[3]), at.y - real_min(real_max(at.y, box[1]), box[4]),
               at.z - real_min(real_max(at.z, box[2]), box[5]));
  return vec_dot(d, d) < reach2;
}

/* Takes the coarse grains [base, base + CHUNK) of the segments and lists those near each box, in their order. Returns
 * how many are listed for the item's box. */
static int group_chunk(local GroupShared *group, global const float4 *rows, int many, int base, float reach2) {
  const int item = (int)get_local_id(0), total = group->before[many];
  if (item < BOXES * (CHUNK / 32)) group->near[item / (CHUNK / 32)][item % (CHUNK / 32)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = item; k < CHUNK && base + k < total; k += FINE_GROUP) {
    int low = 0, high = many - 1; /* the last segment that begins at base + k or before it */
    while (low < high) {
      int middle = (low + high + 1) / 2;
      if (group->before[middle] <= base + k) low = middle;
      else high = middle - 1;
    }
    int row = group->begin[low] + base + k - group->before[low];
    float4 first = rows[2 * row];
    group->first[k] = first;
    group->second[k] = rows[2 * row + 1];
    for (int box = 0; box < BOXES; box++)
      if (near_box(group->box[box], first, reach2)) atomic_or(&group->near[box][k / 32], 1u << (k % 32));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = item; k < CHUNK && base + k < total; k += FINE_GROUP)
    for (int box = 0; box < BOXES; box++) {
      local const uint *near = group->near[box];
      if (!(near[k / 32] >> (k % 32) & 1)) continue;
      uint place = popcount(near[k / 32] & ((1u << (k % 32)) - 1));
      for (int word = 0; word < k / 32; word++) place += popcount(near[word]);
      ((local uchar *)group->list[box])[place] = (uchar)k;
    }
  int count = 0;
  for (int word = 0; word < CHUNK / 32; word++) count += (int)popcount(group->near[item / BOX_ITEMS][word]);
  barrier(CLK_LOCAL_MEM_FENCE);
  return count;
}

static WeightedSums add_pair(WeightedSums sums, local const GroupShared *group, uint k, LaneVec3 at, float reach2,
                             bool walled, PairWall wall, bool squares) {
  float4 first = group->first[k], second = group->second[k];
  LaneVec3 offset = vec_sub(at, vec_make(first.x, first.y, first.z));
  float t = pair_nearness(offset, reach2);
  if (walled) t = pair_nearness_in_front(t, offset, wall.gap, wall.normal);
  return sums_add_pair(sums, t, vec_make(first.w, second.x, second.y), second.z, squares);
}

static WeightedSums add_listed(WeightedSums sums, local const GroupShared *group, int count, LaneVec3 at, float reach2,
                               bool walled, PairWall wall, bool squares) {
  const uint box = (uint)get_local_id(0) / BOX_ITEMS;
  for (int k = 0; k + 4 <= count; k += 4) {
    uint four = group->list[box][k / 4];
    sums = add_pair(sums, group, four & 255, at, reach2, walled, wall, squares);
    sums = add_pair(sums, group, four >> 8 & 255, at, reach2, walled, wall, squares);
    sums = add_pair(sums, group, four >> 16 & 255, at, reach2, walled, wall, squares);
    sums = add_pair(sums, group, four >> 24, at, reach2, walled, wall, squares);
  }
  for (int k = count & ~3; k < count; k++)
    sums = add_pair(sums, group, ((local const uchar *)group->list[box])[k], at, reach2, walled, wall, squares);
  return sums;
}

/* As coarse_sums, for all items of a group together; those that only fill it are not active, and are at NaN, which no
 * box takes note of. *effort: coarse grains looked at for the item. */
static WeightedSums group_sums(local GroupShared *group, CoarseTable table, global const int *start,
                               global const float4 *rows, LaneVec3 at, float reach, float reach2, PairWall wall,
                               bool squares, bool active, int *effort) {
  WeightedSums sums = sums_zero();
  float bounds[6];
  group_boxes(group, at, wall, bounds);
  GroupCells cells = group_cells(table, bounds, reach);
  if (table.count == 0) return sums;
  *effort += cells.wide ? CHUNK : 0;
  if (cells.wide) return active ? coarse_sums(table, start, rows, at, reach, reach2, wall, squares) : sums;
  const bool walled = group->walled[get_local_id(0) / BOX_ITEMS];
  for (int q = 0; q < cells.segments; q += SEGMENTS) {
    int many = min(cells.segments - q, (int)SEGMENTS);
    group_segments(group, table, start, cells, q, many);
    int total = group->before[many];
    for (int base = 0; base < total; base += CHUNK) {
      int count = group_chunk(group, rows, many, base, reach2);
      *effort += count;
      if (walled) sums = add_listed(sums, group, count, at, reach2, true, wall, squares);
      else sums = add_listed(sums, group, count, at, reach2, false, wall, squares);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return sums;
}

#else

/* Where they run one after another, each is better off alone. */
typedef struct GroupShared {
  int unused;
} GroupShared;

static WeightedSums group_sums(local GroupShared *group, CoarseTable table, global const int *start,
                               global const float4 *rows, LaneVec3 at, float reach, float reach2, PairWall wall,
                               bool squares, bool active, int *effort) {
  return active ? coarse_sums(table, start, rows, at, reach, reach2, wall, squares) : sums_zero();
}

#endif

/* ---- the paper's rule ---- */

static WeightedSums weigh_walls(WeightedSums sums, global const FineFrame *frame, global const SolidShared *solids,
                                global const int *table, global const float *values, LaneVec3 at) {
  const float reach2 = frame->parameters.reach2, rate = 1 / frame->parameters.dt;
  const bool body_rule = frame->parameters.body_rule;
  for (int k = 0; k < frame->solid_count; k++) {
    global const SolidShared *solid = &solids[k];
    if (solid->sampled) continue;
    LaneVec3 within = axes_to_local(solid->axes[1], at);
    FinePoint point = fine_point(solid, table, values, within);
    WallWeight wall = wall_weight(point.distance, solid->known, reach2, sums.weight, body_rule);
    sums.weight = sums.weight + wall.weight;
    sums.top = real_max(wall.t, sums.top);
    if (!solid->moves) continue;
    LaneVec3 velocity = vec_mul(solid_displacement(solid, within), rate);
    sums.velocity = vec_add(sums.velocity, vec_mul(velocity, wall.weight));
  }
  return sums;
}

static int not_finite(LaneVec3 v) { return !((v.x - v.x) + (v.y - v.y) + (v.z - v.z) == 0); }

kernel void fine_paper(int count, global const FineFrame *frame, global float *x, global float *y, global float *z,
                       global float *vx, global float *vy, global float *vz, global const int *start,
                       global const float4 *rows, global const int *sample_start, global const float4 *sample_rows,
                       global const SolidShared *solids, global const int *table, global const float *values,
                       global uint *counters) {
  local GroupShared group;
  const bool active = (int)get_global_id(0) < count; /* the others fill the last group */
  const int i = (int)get_global_id(0);
  int effort = 0;
  FineParameters p = frame->parameters;
  const PairWall none = {0, 0, {0, 0, 0}};
  LaneVec3 at = active ? vec_make(x[i], y[i], z[i]) : vec_make(NAN, NAN, NAN);
  WeightedSums sums =
      group_sums(&group, frame->grains, start, rows, at, frame->reach, p.reach2, none, false, active, &effort);
  if (frame->samples.count > 0) {
    WeightedSums samples = group_sums(&group, frame->samples, sample_start, sample_rows, at, frame->reach, p.reach2,
                                      none, false, active, &effort);
    sums = sums_add_samples(sums, samples, p.body_rule);
  }
  if (get_local_id(0) == 0) atomic_add(&counters[COUNT_EFFORT], (uint)effort);
  if (!active) return;
  sums = weigh_walls(sums, frame, solids, table, values, at);
  LaneVec3 velocity = paper_velocity(p, sums, vec_make(vx[i], vy[i], vz[i]));
  LaneVec3 end = moved_position(at, velocity, p.dt);
  if (not_finite(end)) counters[COUNT_BAD] = 1;
  x[i] = end.x, y[i] = end.y, z[i] = end.z;
  vx[i] = velocity.x, vy[i] = velocity.y, vz[i] = velocity.z;
}

/* ---- the better mode ---- */

kernel void fine_count(int count, global const FineFrame *frame, global const float *x, global const float *y,
                       global const float *z, global uint *counts) {
  int i = (int)get_global_id(0);
  if (i >= count) return;
  CountCells cells = frame->cells;
  int cx = cell_of(cells, x[i]), cy = cell_of(cells, y[i]), cz = cell_of(cells, z[i]);
  if (!cells.folded && !(cell_in_room(cells, 0, cx) & cell_in_room(cells, 1, cy) & cell_in_room(cells, 2, cz))) return;
  atomic_inc(&counts[cell_join(cells, cx & cells.mask[0], cy & cells.mask[1], cz & cells.mask[2])]);
}

static void walls_before(Grain *grain, global const FineFrame *frame, global const SolidShared *solids,
                         global const int *table, global const float *values) {
  grain->gap = grain->clear = INFINITY;
  grain->normal = vec_zero();
  for (int k = 0; k < frame->solid_count; k++) {
    global const SolidShared *solid = &solids[k];
    FinePoint point = fine_point(solid, table, values, axes_to_local(solid->axes[0], grain->at));
    Mask nearer = wall_is_nearer(point.distance, solid->known, frame->reach, grain->gap);
    grain->clear = wall_clearance(grain->clear, point.distance, solid->known, frame->reach, solid->lag);
    if (!mask_any(nearer)) continue;
    grain->gap = point.distance;
    grain->normal = axes_to_world(solid->axes[0], point.normal);
  }
}

static Corners corner_counts(CountCells cells, global const uint *counts, CountPlace place) {
  int x0 = place.base[0] & cells.mask[0], x1 = (place.base[0] + 1) & cells.mask[0];
  int y0 = place.base[1] & cells.mask[1], y1 = (place.base[1] + 1) & cells.mask[1];
  int z0 = place.base[2] & cells.mask[2], z1 = (place.base[2] + 1) & cells.mask[2];
  Corners corners;
  corners.v[0] = real_from_int((int)counts[cell_join(cells, x0, y0, z0)]);
  corners.v[1] = real_from_int((int)counts[cell_join(cells, x1, y0, z0)]);
  corners.v[2] = real_from_int((int)counts[cell_join(cells, x0, y1, z0)]);
  corners.v[3] = real_from_int((int)counts[cell_join(cells, x1, y1, z0)]);
  corners.v[4] = real_from_int((int)counts[cell_join(cells, x0, y0, z1)]);
  corners.v[5] = real_from_int((int)counts[cell_join(cells, x1, y0, z1)]);
  corners.v[6] = real_from_int((int)counts[cell_join(cells, x0, y1, z1)]);
  corners.v[7] = real_from_int((int)counts[cell_join(cells, x1, y1, z1)]);
  return corners;
}

static void stir(Grain *grain, float spread, FineParameters p, CountCells cells, global const uint *counts) {
  const float least = CROWD_LEAST / cells.inverse, keep_off = CROWD_KEEP_OFF / cells.inverse;
  float longest = p.stir * p.dt * spread;
  Mask stirs = real_less(least, longest);
  if (!mask_any(stirs)) return;
  CountPlace place = count_place(cells, grain->at);
  LaneVec3 gradient = crowd_gradient(corner_counts(cells, counts, place), place.part);
  LaneVec3 displacement = crowd_displacement(gradient, longest, stirs);
  displacement = crowd_keep_off(displacement, grain->gap, keep_off, grain->normal);
  grain->end = vec_add(grain->end, displacement);
}

/* Whether the path of a grain must be followed through the solid, or its distance asked of the mesh itself: both are
 * done in double, by others (settle.cl, or the host). They decide exactly; here it is rounded towards asking them. */
static bool asks_others(const Grain *grain, global const FineFrame *frame, global const SolidShared *solid,
                        float distance) {
  LaneVec3 path = vec_sub(grain->end, grain->at);
  float length = sqrt(vec_dot(path, path)) + solid->moved, radius = grain->radius;
  if (solid->doubt > 0 && distance <= 1.0001f * (radius + solid->doubt) && distance >= -4.001f * radius) return true;
  if (1.0001f * length < radius) return false;
  float begin = fmin(grain->gap, frame->reach), end = fmin(distance, fmax(2 * radius, length + radius));
  float rounding = 1e-5f * (length + solid->doubt + fabs(begin) + fabs(end) + radius);
  bool deep = grain->clear == WALL_NO_CLEARANCE;
  return deep || !(length + solid->doubt + rounding <= begin + end - radius);
}

typedef struct ExactSolids {
  int unused;
} ExactSolids;

static Closer look_closer(Grain *grain, global const FineFrame *frame, global const SolidShared *solid,
                          global const int *table, global const float *values, ExactSolids exact, int k, int round,
                          FineContact *at) {
  return asks_others(grain, frame, solid, at->point.distance) ? CLOSER_LEAVES : CLOSER_NOTHING;
}

#include "upsample/fine_walls_shared.h"

static FineRecord record_of(const Grain *grain, int index, int material) {
  FineRecord record = {{grain->at.x, grain->at.y, grain->at.z},
                       {grain->end.x, grain->end.y, grain->end.z},
                       {grain->velocity.x, grain->velocity.y, grain->velocity.z},
                       grain->radius,
                       grain->loose,
                       grain->gap,
                       grain->clear,
                       index,
                       material,
                       0};
  return record;
}

/* `list`: of grains that found no room among the records before; `listed` of them, 0: all grains are meant. */
kernel void fine_better(int count, global const FineFrame *frame, global float *x, global float *y, global float *z,
                        global float *vx, global float *vy, global float *vz, global const float *radius,
                        global const uchar *material, global const int *start, global const float4 *rows,
                        global const SolidShared *solids, global const int *table, global const float *values,
                        global const float *friction, global const uint *counts, global FineRecord *records,
                        global const int *list, int listed, global int *late, global uint *counters) {
  local GroupShared group;
  const bool active = (int)get_global_id(0) < count; /* the others fill the last group */
  const int place_in = (int)get_global_id(0), i = active && listed ? list[place_in] : place_in;
  int effort = 0;
  FineParameters p = frame->parameters;
  Grain grain;
  grain.at = vec_make(NAN, NAN, NAN);
  grain.gap = INFINITY;
  grain.normal = vec_zero();
  if (active) {
    grain.at = vec_make(x[i], y[i], z[i]);
    grain.radius = radius[i];
    walls_before(&grain, frame, solids, table, values);
  }
  PairWall wall = {grain.gap < INFINITY, grain.gap, grain.normal};
  WeightedSums sums =
      group_sums(&group, frame->grains, start, rows, grain.at, frame->reach, p.reach2, wall, true, active, &effort);
  if (get_local_id(0) == 0) atomic_add(&counters[COUNT_EFFORT], (uint)effort);
  if (!active) return;
  BetterMotion motion = better_motion(p, sums, vec_make(vx[i], vy[i], vz[i]));
  grain.velocity = motion.velocity;
  grain.loose = motion.loose;
  grain.end = moved_position(grain.at, motion.velocity, p.dt);
  if (not_finite(grain.end)) counters[COUNT_BAD] = 1;
  stir(&grain, motion.spread, p, frame->cells, counts);
  float clearance = real_min(grain.clear, frame->most);
  if (frame->solid_count > 0 && mask_any(wall_may_touch(grain.radius, clearance, vec_sub(grain.end, grain.at)))) {
    const Grain before = grain;
    const ExactSolids none = {0};
    if (walls_after(&grain, material[i], frame, solids, table, values, none, friction)) {
      int place = (int)atomic_inc(&counters[COUNT_RECORDS]);
      if (place >= frame->room) {
        late[place - frame->room] = i;
        return; /* as it was: it comes again */
      }
      records[place] = record_of(&before, i, material[i]);
    }
  }
  x[i] = grain.end.x, y[i] = grain.end.y, z[i] = grain.end.z;
  vx[i] = grain.velocity.x, vy[i] = grain.velocity.y, vz[i] = grain.velocity.z;
}

/* What the host found. */
kernel void fine_results(int count, global const FineResult *results, global float *x, global float *y, global float *z,
                         global float *vx, global float *vy, global float *vz) {
  int k = (int)get_global_id(0);
  if (k >= count) return;
  FineResult result = results[k];
  int i = result.index;
  x[i] = result.end[0], y[i] = result.end[1], z[i] = result.end[2];
  vx[i] = result.velocity[0], vy[i] = result.velocity[1], vz[i] = result.velocity[2];
}

/* ---- deaths ---- */

/* Lists the grains that may be in a sink. A box has to do for a mesh. */
kernel void fine_near_sinks(int count, global const SinkShared *sinks, int sink_count, global const float *x,
                            global const float *y, global const float *z, global int *found, global uint *counters) {
  int i = (int)get_global_id(0);
  if (i >= count) return;
  LaneVec3 at = vec_make(x[i], y[i], z[i]);
  for (int k = 0; k < sink_count; k++) {
    LaneVec3 within = axes_to_local(sinks[k].solid.axes[1], at);
    float margin = sinks[k].margin + sinks[k].rounding * (fabs(at.x) + fabs(at.y) + fabs(at.z));
    if (!(fine_plain_point(&sinks[k].solid, within).distance < margin)) continue;
    found[atomic_inc(&counters[COUNT_FOUND])] = i;
    return;
  }
}

/* Places of listed grains, with their numbers. */
kernel void fine_places(int first, int count, global const int *list, global const float *x, global const float *y,
                        global const float *z, global float4 *places) {
  int k = (int)get_global_id(0);
  if (k >= count) return;
  int i = list[first + k];
  places[k] = (float4)(x[i], y[i], z[i], as_float(i));
}

/* Where survivor k lay: `dead` are ascending; so many of them lie before it that dead[m] - m <= k. */
static int survivor(int k, global const int *dead, int dead_count) {
  int low = 0, high = dead_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (dead[middle] - middle <= k) low = middle + 1;
    else high = middle;
  }
  return k + low;
}

kernel void fine_keep_words(int first, int count, global const int *dead, int dead_count, global const uint *from,
                            global uint *to) {
  int k = first + (int)get_global_id(0);
  if (k < count) to[k - first] = from[survivor(k, dead, dead_count)];
}

kernel void fine_keep_bytes(int first, int count, global const int *dead, int dead_count, global const uchar *from,
                            global uchar *to) {
  int k = first + (int)get_global_id(0);
  if (k < count) to[k - first] = from[survivor(k, dead, dead_count)];
}
