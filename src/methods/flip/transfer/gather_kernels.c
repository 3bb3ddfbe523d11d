#include "methods/flip/transfer/gather_kernels.h"
#include "methods/flip/transfer/flip_law.h"
#include "methods/flip/transfer/weights_law.h"

enum { WINDOW_X = STRIP + 2, WINDOW_ROW = 10, WINDOW = 9 * WINDOW_ROW };

/* Velocity, change, displacement and settling of one component round a strip, one behind the other for each node; a
 * second time for restricted particles. */
typedef float Window[2 * WINDOW][4] __attribute__((aligned(32)));

/* Settling of a node that does not count. */
#define NOT_COUNTED (-1.0f)

/* Eight nodes of four fields, one behind the other. */
WIDE_INLINE void put_nodes(Wide a, Wide b, Wide c, Wide d, float (*to)[4]) {
  static const int32_t own[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
  wide_scatter4(to, own, a, b, c, d);
}

/* Rows (y, z) of strips round a strip, and which lanes of it hold particles. */
typedef struct Surroundings {
  int32_t at[9], before[9], behind[9];
  int first, last;
} Surroundings;

static Surroundings find_surroundings(const Gather *gather, int32_t strip) {
  const FlipGrid *grid = gather->grid;
  const int32_t *start = gather->start + (int64_t)strip * STRIP;
  Surroundings round = {.first = 0, .last = STRIP - 1};
  while (start[round.first + 1] == start[0]) round.first++;
  while (start[round.last] == start[STRIP]) round.last--;
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(grid, strip, row % 3 - 1, row / 3 - 1);
    round.at[row] = at;
    round.before[row] = grid->near[at][X_LOW];
    round.behind[row] = grid->near[at][X_HIGH];
  }
  return round;
}

WIDE_INLINE void put_node(const float *const field[4], int64_t at, bool counts, float to[4]) {
  WideQuad node = {0, 0, 0, NOT_COUNTED};
  if (counts) node = (WideQuad){field[0][at], field[1][at], field[2][at], field[3][at]};
  *(WideQuad *)to = node;
}

/* The nodes that particles of the strip can reach. Those whose bits are not set do not count; NULL: all do. Returns the
 * lanes round which all do. */
WIDE_INLINE uint32_t fill_window(const Gather *gather, const Surroundings *round, int axis, const uint8_t *bits,
                                 float (*window)[4]) {
  const float *const field[4] = {gather->velocity[axis], gather->change[axis], gather->correction[axis],
                                 gather->settle[axis]};
  const uint32_t everything = (1u << WINDOW_X) - 1;
  const Wide zero = wide_set(0);
  uint32_t all = ~0u;
  for (int row = 0; row < 9; row++) {
    if ((axis == 1 && row % 3 == 0) || (axis == 2 && row / 3 == 0)) continue; /* no face within reach */
    int64_t at = round->at[row], before = round->before[row], behind = round->behind[row];
    float(*nodes)[4] = window + row * WINDOW_ROW;
    uint32_t counted = everything;
    if (bits)
      counted =
          (uint32_t)bits[before] >> (STRIP - 1) | (uint32_t)bits[at] << 1 | (uint32_t)(bits[behind] & 1) << (STRIP + 1);
    all &= counted;
    if (round->first == 0) put_node(field, before * STRIP + STRIP - 1, counted & 1, nodes[0]);
    if (round->last == STRIP - 1) put_node(field, behind * STRIP, counted >> (1 + STRIP), nodes[1 + STRIP]);
    Wide of[4];
    for (int f = 0; f < 4; f++) of[f] = wide_load(field[f] + at * STRIP);
    if (counted != everything) {
      WideInt lanes = wide_lanes((uint8_t)(counted >> 1));
      for (int f = 0; f < 4; f++) of[f] = wide_select(lanes, of[f], f == 3 ? wide_set(NOT_COUNTED) : zero);
    }
    put_nodes(of[0], of[1], of[2], of[3], nodes + 1);
  }
  return all & all >> 1 & all >> 2;
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

/* The fields of a window, and 1 where a node counts. */
enum { VELOCITY, CHANGE, CORRECTION, SETTLE, COUNTED, INTERPOLATED };

WIDE_INLINE void take_node(const float *const node[LANES], int off, bool masked, Wide of[INTERPOLATED]) {
  const Wide zero = wide_set(0);
  wide_turn4(wide_rows(node[0] + off, node[4] + off), wide_rows(node[1] + off, node[5] + off),
             wide_rows(node[2] + off, node[6] + off), wide_rows(node[3] + off, node[7] + off), &of[VELOCITY],
             &of[CHANGE], &of[CORRECTION], &of[SETTLE]);
  of[COUNTED] = masked ? wide_select(wide_less(of[SETTLE], zero), zero, wide_set(1)) : zero;
  if (masked) of[SETTLE] = wide_max(of[SETTLE], zero);
}

/* Row by row of the eight nodes round each particle, so that no more is held in registers than is needed. */
WIDE_INLINE void interpolate(const float *const node[LANES], const Wide u[3], bool masked,
                             Interpolated to[INTERPOLATED]) {
  Interpolated plane[2][INTERPOLATED], row[2][INTERPOLATED];
#pragma GCC unroll 2
  for (int z = 0; z < 2; z++) {
#pragma GCC unroll 2
    for (int y = 0; y < 2; y++) {
      Wide low[INTERPOLATED], high[INTERPOLATED];
      take_node(node, (z * 3 + y) * WINDOW_ROW * 4, masked, low);
      take_node(node, (z * 3 + y) * WINDOW_ROW * 4 + 4, masked, high);
#pragma GCC unroll 5
      for (int f = 0; f < INTERPOLATED; f++) row[y][f] = along_x(low[f], high[f], u[0]);
    }
#pragma GCC unroll 5
    for (int f = 0; f < INTERPOLATED; f++) plane[z][f] = over_y(row[0][f], row[1][f], u[1]);
  }
#pragma GCC unroll 5
  for (int f = 0; f < INTERPOLATED; f++) to[f] = over_z(plane[0][f], plane[1][f], u[2]);
}

/* The lowest of the nodes round each particle; `restricted`: bits of the particles; NULL: none is. */
WIDE_INLINE void find_nodes(const Window window, WideInt lowest, const uint8_t *restricted, int axis,
                            const float *node[LANES]) {
  for (int lane = 0; lane < LANES; lane++) {
    node[lane] = window[lowest[lane]];
    if (restricted && restricted[lane] >> axis & 1) node[lane] += 4 * WINDOW;
  }
}

/* Lane by lane: eight particles from k on, where x, y, z count from the strip's lower corner. FLIP: they change by what
 * the grid's velocity changed, and move with it; where no node counts they fly. Returns what they move with. */
WIDE_INLINE Wide gather_axis(const Gather *gather, const Window window, int32_t k, int64_t to, int axis,
                             const Wide at[3], bool masked, bool restricted, const Gathered *out) {
  const Weights w[3] = {weights_of(at[0], axis == 0), weights_of(at[1], axis == 1), weights_of(at[2], axis == 2)};
  const Wide u[3] = {w[0].upper, w[1].upper, w[2].upper}, zero = wide_set(0), one = wide_set(1);
  const float *node[LANES];
  find_nodes(window, (w[2].low * 3 + w[1].low) * WINDOW_ROW + w[0].low, restricted ? gather->restricted + k : NULL,
             axis, node);
  Interpolated of[INTERPOLATED];
  interpolate(node, u, masked, of);
  Wide norm = masked ? wide_load(gather->norm[axis] + k) : one;
  WideInt on_grid = wide_less(zero, norm);
  Wide before = wide_load(gather->before[axis] + k);
  FlipAtParticle grid = {of[VELOCITY].value * norm, of[CHANGE].value * norm, of[SETTLE].value * norm,
                         of[CORRECTION].value * norm};
  FlipUpdate update = flip_update(grid, on_grid, before, wide_set(gather->gained[axis]), wide_set(gather->dt));
  wide_store(out->velocity[axis] + to, update.velocity);
  wide_store(out->displacement[axis] + to, update.displacement);
  if (!out->gradient[0]) return update.moves;
  const LaneVec3 slope = of[VELOCITY].gradient, counted = of[COUNTED].gradient;
  const Wide slopes[3] = {slope.x, slope.y, slope.z}, counts[3] = {counted.x, counted.y, counted.z};
  for (int a = 0; a < 3; a++) {
    /* as if the nodes that do not count had the mean of the others */
    Wide gradient = slopes[a];
    if (masked) gradient = wide_select(on_grid, gradient - counts[a] * update.moves, zero);
    wide_store(out->gradient[3 * axis + a] + to, gradient * wide_set(gather->inverse_cell));
  }
  return update.moves;
}

/* Where particles [k, k + 8) lie in the strip. Lanes beyond its particles must not read what is not in the windows. */
WIDE_INLINE void find_places(const Gather *gather, const int32_t place[3], const Surroundings *round, int32_t k,
                             int32_t count, Wide at[3]) {
  const Wide zero = wide_set(0), most = wide_set(0.999999f);
  const WideInt lane = {0, 1, 2, 3, 4, 5, 6, 7};
  Wide x = wide_load(gather->x + k) - wide_set((float)place[0]),
       y = wide_load(gather->y + k) - wide_set((float)place[1]),
       z = wide_load(gather->z + k) - wide_set((float)place[2]);
  if (count < LANES) x = wide_select(wide_int_less(lane, (WideInt){0} + count), x, wide_set((float)round->first));
  at[0] = wide_min(wide_max(x, zero), wide_set((float)STRIP - 0.00001f));
  at[1] = wide_min(wide_max(y, zero), most);
  at[2] = wide_min(wide_max(z, zero), most);
}

void KERNEL(flip_gather)(const Gather *gather, int32_t strip, const Gathered *to) {
  int32_t b = gather->start[(int64_t)strip * STRIP], e = gather->start[((int64_t)strip + 1) * STRIP], place[3];
  const uint32_t restricted = gather->restricted_lanes[strip];
  const Surroundings round = find_surroundings(gather, strip);
  Window windows[3];
  uint32_t plain[3]; /* lanes whose particles need neither masks nor norms */
  for (int axis = 0; axis < 3; axis++) {
    plain[axis] = fill_window(gather, &round, axis, gather->near[strip] ? gather->valid[axis] : NULL, windows[axis]);
    if (!restricted) continue;
    fill_window(gather, &round, axis, gather->bearing[axis], windows[axis] + WINDOW);
    plain[axis] &= ~restricted;
  }
  strip_place(gather->grid->key[strip], place);
  for (int32_t k = b; k < e; k += LANES) {
    Wide at[3], square = wide_set(0);
    find_places(gather, place, &round, k, e - k, at);
    int first = (int)at[0][0], last = k + LANES <= e ? (int)at[0][LANES - 1] : round.last;
    uint32_t lanes = (2u << last) - (1u << first);
    for (int axis = 0; axis < 3; axis++) {
      Wide moves = lanes & ~plain[axis] ? gather_axis(gather, windows[axis], k, k - b, axis, at, true, restricted, to)
                                        : gather_axis(gather, windows[axis], k, k - b, axis, at, false, false, to);
      square += moves * moves;
    }
    wide_store(to->square + (k - b), square);
  }
}
