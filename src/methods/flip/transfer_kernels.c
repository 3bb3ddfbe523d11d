#include "methods/flip/transfer_kernels.h"

#include <string.h>

/* ---- particles to nodes ---- */

typedef struct Sums {
  Wide volume, strength, cohesion, mass[3], momentum[3], bulk[3];
} Sums;

static const WideInt LANE_NUMBERS = {0, 1, 2, 3, 4, 5, 6, 7};

WIDE_INLINE Wide distance_of(Wide a) { return wide_max(a, -a); }
WIDE_INLINE Wide hat(Wide t) { return wide_max(wide_set(1) - distance_of(t), wide_set(0)); }

/* Adds the particles [b, e) to the nodes of the cell whose lower corner is (x, y, z). */
WIDE_INLINE void add_range(const Parcels *p, const float *const masses[3], int32_t b, int32_t e, float x, float y,
                           float z, bool mixed, bool moving, Sums *sums) {
  const Wide half = wide_set(0.5f);
  for (int32_t k = b; k < e; k += LANES) {
    WideInt here = wide_int_less(LANE_NUMBERS, (WideInt){0} + (e - k));
    Wide dx = wide_load(p->x + k) - wide_set(x), dy = wide_load(p->y + k) - wide_set(y),
         dz = wide_load(p->z + k) - wide_set(z);
    Wide cx = hat(dx - half), cy = hat(dy - half), cz = hat(dz - half);
    cx = wide_select(here, cx, wide_set(0));
    Wide fx = wide_select(here, hat(dx), wide_set(0)), fy = hat(dy), fz = hat(dz);
    Wide yz = cy * cz, xz = cx * cz, xy = cx * cy;
    Wide volume = wide_load(p->volume + k) * (cx * yz);
    sums->volume += volume;
    const Wide weight[3] = {fx * yz, fy * xz, fz * xy};
    for (int a = 0; a < 3; a++) {
      Wide mass = wide_load(masses[a] + k) * weight[a];
      sums->mass[a] += mass;
      if (moving) sums->momentum[a] += mass * wide_load(p->velocity[a] + k);
      if (mixed) sums->bulk[a] += mass * wide_load(p->specific + k);
    }
    if (mixed) {
      sums->strength += volume * wide_load(p->strength + k);
      sums->cohesion += volume * wide_load(p->cohesion + k);
    }
  }
}

WIDE_INLINE void splat_strip(const Splat *splat, int32_t strip, bool mixed, bool moving) {
  const Parcels *p = &splat->parcels;
  const FlipGrid *grid = p->grid;
  int32_t first[9][STRIP], last[9][STRIP], rows = 0, place[3];
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++) {
      int32_t row = grid_row(grid, strip, dy, dz);
      if (row == 0) continue;
      const int32_t *start = p->start + (int64_t)row * STRIP;
      const bool before = grid->near[row][X_LOW] != 0, behind = grid->near[row][X_HIGH] != 0;
      if (start[before ? -1 : 0] == start[behind ? STRIP + 1 : STRIP]) continue;
      for (int lane = 0; lane < STRIP; lane++) {
        first[rows][lane] = start[lane > 0 || before ? lane - 1 : 0];
        last[rows][lane] = start[lane < STRIP - 1 || behind ? lane + 2 : STRIP];
      }
      rows++;
    }
  strip_place(grid->key[strip], place);
  for (int lane = 0; lane < STRIP; lane++) {
    Sums sums = {0};
    const float *masses[3];
    for (int a = 0; a < 3; a++)
      masses[a] = !p->strong[a] || (p->strong[a][strip] >> lane & 1) ? p->mass[a] : p->loose[a];
    for (int row = 0; row < rows; row++)
      add_range(p, masses, first[row][lane], last[row][lane], (float)(place[0] + lane), (float)place[1],
                (float)place[2], mixed, moving, &sums);
    int64_t at = (int64_t)strip * STRIP + lane;
    splat->volume[at] = wide_sum(sums.volume);
    for (int a = 0; a < 3; a++) {
      splat->mass[a][at] = wide_sum(sums.mass[a]);
      if (moving) splat->momentum[a][at] = wide_sum(sums.momentum[a]);
      if (mixed) splat->bulk[a][at] = wide_sum(sums.bulk[a]);
    }
    if (mixed) {
      splat->strength[at] = wide_sum(sums.strength);
      splat->cohesion[at] = wide_sum(sums.cohesion);
    }
  }
}

void KERNEL(flip_splat)(const Splat *splat, int64_t b, int64_t e) {
  bool mixed = splat->parcels.specific != NULL;
  for (int64_t strip = b; strip < e; strip++)
    if (mixed) splat_strip(splat, (int32_t)strip, true, true);
    else if (splat->momentum[0]) splat_strip(splat, (int32_t)strip, false, true);
    else splat_strip(splat, (int32_t)strip, false, false);
}

/* ---- nodes to particles ---- */

enum { WINDOW_X = STRIP + 2, WINDOW_ROW = 10, WINDOW = 9 * WINDOW_ROW };

/* Velocity, change, displacement and settling of one component round a strip, one behind the other for each node; a
 * second time for particles that ride. */
typedef float Window[2 * WINDOW][4] __attribute__((aligned(32)));

/* Settling of a node that does not count. */
#define NOT_COUNTED (-1.0f)

/* The nodes whose bits are not set do not count. Answers whether there are such. */
WIDE_INLINE bool mask_window(const Gather *gather, int32_t strip, const uint8_t *bits, float (*window)[4]) {
  const FlipGrid *grid = gather->grid;
  bool any = false;
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(grid, strip, row % 3 - 1, row / 3 - 1), low = grid->near[at][X_LOW],
            high = grid->near[at][X_HIGH];
    uint32_t counted =
        (uint32_t)bits[low] >> (STRIP - 1) | (uint32_t)bits[at] << 1 | (uint32_t)(bits[high] & 1) << (STRIP + 1);
    if (counted == (1u << WINDOW_X) - 1) continue;
    any = true;
    for (int x = 0; x < WINDOW_X; x++) {
      float *node = window[row * WINDOW_ROW + x];
      if (counted >> x & 1) continue;
      node[0] = node[1] = node[2] = 0;
      node[3] = NOT_COUNTED;
    }
  }
  return any;
}

/* Eight nodes of four fields, one behind the other. */
WIDE_INLINE void put_nodes(Wide a, Wide b, Wide c, Wide d, float (*to)[4]) {
  Wide ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13),
       cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
  Wide ef = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15),
       gh = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
  const Wide pair[4] = {__builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13),
                        __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15),
                        __builtin_shufflevector(ef, gh, 0, 1, 8, 9, 4, 5, 12, 13),
                        __builtin_shufflevector(ef, gh, 2, 3, 10, 11, 6, 7, 14, 15)};
  for (int k = 0; k < 4; k++) {
    memcpy(to[k], &pair[k], sizeof *to);
    memcpy(to[k + 4], (const float *)&pair[k] + 4, sizeof *to);
  }
}

WIDE_INLINE void fill_window(const Gather *gather, int32_t strip, int axis, Window window) {
  const FlipGrid *grid = gather->grid;
  const float *const field[4] = {gather->velocity[axis], gather->change[axis], gather->moved[axis],
                                 gather->settle[axis]};
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(grid, strip, row % 3 - 1, row / 3 - 1);
    int64_t low = (int64_t)grid->near[at][X_LOW] * STRIP + STRIP - 1, here = (int64_t)at * STRIP,
            high = (int64_t)grid->near[at][X_HIGH] * STRIP;
    float(*nodes)[4] = &window[row * WINDOW_ROW];
    for (int f = 0; f < 4; f++) {
      nodes[0][f] = field[f][low];
      nodes[1 + STRIP][f] = field[f][high];
    }
    put_nodes(wide_load(field[0] + here), wide_load(field[1] + here), wide_load(field[2] + here),
              wide_load(field[3] + here), nodes + 1);
  }
}

typedef struct Weights {
  WideInt low; /* node below, from the window's first */
  Wide upper;  /* weight of the one above */
} Weights;

/* Nodes of centres lie half a cell higher than faces. `at` counts from the window's second node. */
WIDE_INLINE Weights weights_of(Wide at, bool face) {
  Wide t = face ? at + wide_set(1) : at + wide_set(0.5f);
  WideInt low = __builtin_convertvector(t, WideInt); /* t >= 0 */
  return (Weights){low, t - __builtin_convertvector(low, Wide)};
}

/* The first `count` lanes: what lies behind belongs to another strip, and perhaps to another thread. */
WIDE_INLINE void store_some(float *to, Wide value, int count) {
  if (count >= LANES) wide_store(to, value);
  else
    for (int lane = 0; lane < count; lane++) to[lane] = value[lane];
}

/* Lane by lane: particles [k, k + count) of the strip, where x, y, z count from its lower corner. FLIP: they change by
 * what the grid's velocity changed, and move with it; where no node counts they fly. Answers what they move with. */
WIDE_INLINE Wide gather_axis(const Gather *gather, const Window window, int32_t k, int count, int axis, Wide x, Wide y,
                             Wide z, bool masked) {
  Weights wx = weights_of(x, axis == 0), wy = weights_of(y, axis == 1), wz = weights_of(z, axis == 2);
  Wide one = wide_set(1), sums[4] = {wide_set(0), wide_set(0), wide_set(0), wide_set(0)};
  Wide slope[3] = {wide_set(0), wide_set(0), wide_set(0)};
  Wide tilt[3] = {wide_set(0), wide_set(0), wide_set(0)}; /* gradient of the weights that count */
  WideInt base = (wz.low * 3 + wy.low) * WINDOW_ROW + wx.low;
  if (masked && gather->rides)
    for (int lane = 0; lane < LANES && lane < count; lane++)
      base[lane] += gather->rides[k + lane] >> axis & 1 ? WINDOW : 0;
  for (int corner = 0; corner < 8; corner++) {
    bool ux = corner & 1, uy = corner >> 1 & 1, uz = corner >> 2 & 1;
    WideInt index = base + ((uz ? 3 : 0) + (uy ? 1 : 0)) * WINDOW_ROW + (ux ? 1 : 0);
    int32_t rows[LANES];
    for (int lane = 0; lane < LANES; lane++) rows[lane] = index[lane];
    Wide velocity, change, moved, settle;
    wide_gather4(window, rows, &velocity, &change, &moved, &settle);
    Wide ax = ux ? wx.upper : one - wx.upper, ay = uy ? wy.upper : one - wy.upper, az = uz ? wz.upper : one - wz.upper;
    Wide yz = ay * az, weight = ax * yz;
    sums[0] += weight * velocity;
    sums[1] += weight * change;
    sums[2] += weight * moved;
    sums[3] += weight * (masked ? wide_max(settle, wide_set(0)) : settle);
    if (!gather->gradient[0]) continue;
    const Wide across[3] = {ux ? yz : -yz, uy ? ax * az : -(ax * az), uz ? ax * ay : -(ax * ay)};
    for (int a = 0; a < 3; a++) {
      slope[a] += across[a] * velocity;
      if (masked) tilt[a] += wide_select(wide_less(settle, wide_set(0)), wide_set(0), across[a]);
    }
  }
  Wide norm = wide_load(gather->norm[axis] + k);
  WideInt on_grid = wide_less(wide_set(0), norm);
  Wide before = wide_load(gather->before[axis] + k), flown = before + wide_set(gather->gain[axis]);
  Wide moves = wide_select(on_grid, sums[0] * norm, flown);
  Wide after = flown + wide_select(on_grid, sums[1] * norm - sums[3] * norm * before, wide_set(0));
  Wide way = wide_set(gather->dt) * moves + wide_select(on_grid, sums[2] * norm, wide_set(0));
  store_some(gather->out_velocity[axis] + k, after, count);
  store_some(gather->out_way[axis] + k, way, count);
  if (!gather->gradient[0]) return moves;
  for (int a = 0; a < 3; a++) {
    /* as if the nodes that do not count had the mean of the others */
    if (masked) slope[a] = wide_select(on_grid, slope[a] - tilt[a] * moves, wide_set(0));
    store_some(gather->gradient[3 * axis + a] + k, slope[a] * wide_set(gather->inverse_cell), count);
  }
  return moves;
}

static void gather_strip(const Gather *gather, int32_t strip) {
  int32_t b = gather->start[(int64_t)strip * STRIP], e = gather->start[((int64_t)strip + 1) * STRIP], place[3];
  if (b == e) return;
  Window windows[3];
  const bool ridden = gather->riders && gather->riders[strip];
  bool masked[3];
  for (int axis = 0; axis < 3; axis++) {
    fill_window(gather, strip, axis, windows[axis]);
    masked[axis] = ridden;
    if (ridden) {
      memcpy(windows[axis][WINDOW], windows[axis][0], sizeof(float[WINDOW][4]));
      mask_window(gather, strip, gather->strong[axis], windows[axis] + WINDOW);
    }
    if (gather->near[strip] && mask_window(gather, strip, gather->valid[axis], windows[axis])) masked[axis] = true;
  }
  strip_place(gather->grid->key[strip], place);
  for (int32_t k = b; k < e; k += LANES) {
    /* Lanes beyond the strip's particles must not read beyond the windows. */
    Wide x = wide_load(gather->x + k) - wide_set((float)place[0]),
         y = wide_load(gather->y + k) - wide_set((float)place[1]),
         z = wide_load(gather->z + k) - wide_set((float)place[2]);
    const Wide zero = wide_set(0), most = wide_set(0.999999f);
    x = wide_min(wide_max(x, zero), wide_set((float)STRIP - 0.00001f));
    y = wide_min(wide_max(y, zero), most);
    z = wide_min(wide_max(z, zero), most);
    Wide square = zero;
    for (int axis = 0; axis < 3; axis++) {
      Wide moves = masked[axis] ? gather_axis(gather, windows[axis], k, e - k, axis, x, y, z, true)
                                : gather_axis(gather, windows[axis], k, e - k, axis, x, y, z, false);
      square += moves * moves;
    }
    store_some(gather->out_square + k, square, e - k);
  }
}

void KERNEL(flip_gather)(const Gather *gather, int64_t b, int64_t e) {
  for (int64_t strip = b; strip < e; strip++) gather_strip(gather, (int32_t)strip);
}
