#include "methods/flip/gather_kernels.h"

#include <string.h>

enum { WINDOW_X = STRIP + 2, WINDOW_ROW = 10, WINDOW = 9 * WINDOW_ROW };

/* Velocity, change, displacement and settling of one component round a strip, one behind the other for each node; a
 * second time for particles that ride. */
typedef float Window[2 * WINDOW][4] __attribute__((aligned(32)));

/* Settling of a node that does not count. */
#define NOT_COUNTED (-1.0f)

/* Eight nodes of four fields, one behind the other. */
WIDE_INLINE void put_nodes(Wide a, Wide b, Wide c, Wide d, float (*to)[4]) {
  static const int32_t own[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
  wide_scatter4(to, own, a, b, c, d);
}

WIDE_INLINE WideInt lanes_of(uint32_t bits) {
  const WideInt lane = {1, 2, 4, 8, 16, 32, 64, 128};
  return wide_int_equal(((WideInt){0} + (int32_t)bits) & lane, lane);
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

/* The nodes that particles of the strip can reach. Those whose bits are not set do not count; NULL: all do. Answers the
 * lanes round which all do. */
WIDE_INLINE uint32_t fill_window(const Gather *gather, const Surroundings *round, int axis, const uint8_t *bits,
                                 float (*window)[4]) {
  const float *const field[4] = {gather->velocity[axis], gather->change[axis], gather->moved[axis],
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
      WideInt lanes = lanes_of(counted >> 1 & 255);
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

WIDE_INLINE Wide between(Wide low, Wide high, Wide upper) { return low + upper * (high - low); }

/* Values at the corners of a cell of nodes: x fastest. */
typedef struct Corners {
  Wide at[8];
} Corners;

WIDE_INLINE Wide corners_value(const Corners *c, const Wide u[3]) {
  Wide row[4];
  for (int k = 0; k < 4; k++) row[k] = between(c->at[2 * k], c->at[2 * k + 1], u[0]);
  return between(between(row[0], row[1], u[1]), between(row[2], row[3], u[1]), u[2]);
}

/* The value, and its slopes per node. */
WIDE_INLINE Wide corners_slopes(const Corners *c, const Wide u[3], Wide slope[3]) {
  Wide row[4], along[4];
  for (int k = 0; k < 4; k++) {
    along[k] = c->at[2 * k + 1] - c->at[2 * k];
    row[k] = c->at[2 * k] + u[0] * along[k];
  }
  Wide across[2] = {row[1] - row[0], row[3] - row[2]};
  Wide low = row[0] + u[1] * across[0], high = row[2] + u[1] * across[1];
  slope[0] = between(between(along[0], along[1], u[1]), between(along[2], along[3], u[1]), u[2]);
  slope[1] = between(across[0], across[1], u[2]);
  slope[2] = high - low;
  return low + u[2] * slope[2];
}

/* Lane by lane: eight particles from k on, where x, y, z count from the strip's lower corner. FLIP: they change by what
 * the grid's velocity changed, and move with it; where no node counts they fly. Answers what they move with. */
WIDE_INLINE Wide gather_axis(const Gather *gather, const Window window, int32_t k, int64_t to, int axis,
                             const Wide at[3], bool masked, bool riders, const Gathered *out) {
  const Weights w[3] = {weights_of(at[0], axis == 0), weights_of(at[1], axis == 1), weights_of(at[2], axis == 2)};
  const Wide u[3] = {w[0].upper, w[1].upper, w[2].upper}, zero = wide_set(0), one = wide_set(1);
  WideInt base = ((w[2].low * 3 + w[1].low) * WINDOW_ROW + w[0].low) * 4;
  if (riders)
    for (int lane = 0; lane < LANES; lane++) base[lane] += gather->rides[k + lane] >> axis & 1 ? 4 * WINDOW : 0;
  const float *first = (const float *)window, *node[LANES];
  for (int lane = 0; lane < LANES; lane++) node[lane] = first + base[lane];
  Corners velocity, change, moved, settle, counted;
#pragma GCC unroll 8
  for (int corner = 0; corner < 8; corner++) {
    int off = (((corner >> 2) * 3 + (corner >> 1 & 1)) * WINDOW_ROW + (corner & 1)) * 4;
    wide_turn4(wide_rows(node[0] + off, node[4] + off), wide_rows(node[1] + off, node[5] + off),
               wide_rows(node[2] + off, node[6] + off), wide_rows(node[3] + off, node[7] + off), &velocity.at[corner],
               &change.at[corner], &moved.at[corner], &settle.at[corner]);
    if (!masked) continue;
    counted.at[corner] = wide_select(wide_less(settle.at[corner], zero), zero, one);
    settle.at[corner] = wide_max(settle.at[corner], zero);
  }
  Wide slope[3], tilt[3]; /* tilt: gradient of the weights that count */
  Wide speed = out->gradient[0] ? corners_slopes(&velocity, u, slope) : corners_value(&velocity, u);
  Wide norm = masked ? wide_load(gather->norm[axis] + k) : one;
  WideInt on_grid = wide_less(zero, norm);
  Wide before = wide_load(gather->before[axis] + k), flown = before + wide_set(gather->gain[axis]);
  Wide moves = wide_select(on_grid, speed * norm, flown);
  Wide gained = corners_value(&change, u) * norm - corners_value(&settle, u) * norm * before;
  Wide shifted = corners_value(&moved, u) * norm;
  wide_store(out->velocity[axis] + to, flown + wide_select(on_grid, gained, zero));
  wide_store(out->way[axis] + to, wide_set(gather->dt) * moves + wide_select(on_grid, shifted, zero));
  if (!out->gradient[0]) return moves;
  if (masked) corners_slopes(&counted, u, tilt);
  for (int a = 0; a < 3; a++) {
    /* as if the nodes that do not count had the mean of the others */
    if (masked) slope[a] = wide_select(on_grid, slope[a] - tilt[a] * moves, zero);
    wide_store(out->gradient[3 * axis + a] + to, slope[a] * wide_set(gather->inverse_cell));
  }
  return moves;
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
  const uint32_t riders = gather->riders[strip];
  const Surroundings round = find_surroundings(gather, strip);
  Window windows[3];
  uint32_t plain[3]; /* lanes whose particles need neither masks nor norms */
  for (int axis = 0; axis < 3; axis++) {
    plain[axis] = fill_window(gather, &round, axis, gather->near[strip] ? gather->valid[axis] : NULL, windows[axis]);
    if (!riders) continue;
    fill_window(gather, &round, axis, gather->strong[axis], windows[axis] + WINDOW);
    plain[axis] &= ~riders;
  }
  strip_place(gather->grid->key[strip], place);
  for (int32_t k = b; k < e; k += LANES) {
    Wide at[3], square = wide_set(0);
    find_places(gather, place, &round, k, e - k, at);
    int first = (int)at[0][0], last = k + LANES <= e ? (int)at[0][LANES - 1] : round.last;
    uint32_t lanes = (2u << last) - (1u << first);
    for (int axis = 0; axis < 3; axis++) {
      Wide moves = lanes & ~plain[axis] ? gather_axis(gather, windows[axis], k, k - b, axis, at, true, riders, to)
                                        : gather_axis(gather, windows[axis], k, k - b, axis, at, false, false, to);
      square += moves * moves;
    }
    wide_store(to->square + (k - b), square);
  }
}

/* ---- ways ---- */

/* As flip_distance_at. */
WIDE_INLINE Wide distances_at(const float *distance, Wide x, Wide y, Wide z) {
  const Wide one = wide_set(1);
  WideInt lane = __builtin_convertvector(x, WideInt);
  Wide fx = x - __builtin_convertvector(lane, Wide), value = wide_set(0);
  for (int c = 0; c < 8; c++) {
    Wide d = wide_gather(distance + ((c >> 2) * 2 + (c >> 1 & 1)) * (STRIP + 1) + (c & 1), lane);
    value += d * (c & 1 ? fx : one - fx) * (c & 2 ? y : one - y) * (c & 4 ? z : one - z);
  }
  return value;
}

WIDE_INLINE Wide clamped(Wide value, float least, float most) {
  return wide_min(wide_max(value, wide_set(least)), wide_set(most));
}

uint32_t KERNEL(flip_bound_ways)(const Ways *ways, int32_t count) {
  const float inside[3] = {(float)STRIP - 1e-5f, 1 - 1e-6f, 1 - 1e-6f};
  const float *const position[3] = {ways->x, ways->y, ways->z};
  uint32_t all = 0;
  for (int32_t k = 0; k < count; k += LANES) {
    Wide at[3], way[3], to[3], length = wide_set(0);
    for (int a = 0; a < 3; a++) at[a] = wide_load(position[a] + k) - wide_set(ways->place[a]);
    WideInt lane = __builtin_convertvector(clamped(at[0], 0, (float)STRIP - 0.00001f), WideInt);
    Wide most = wide_gather(ways->longest, lane);
    for (int a = 0; a < 3; a++) {
      way[a] = wide_min(most, wide_max(-most, wide_load(ways->way[a] + k)));
      wide_store(ways->way[a] + k, way[a]);
      length += way[a] * way[a];
    }
    wide_store(ways->square + k, wide_load(ways->square + k) * wide_gather(ways->share, lane));
    uint32_t far = wide_bits(wide_less(wide_set(ways->long_way), length)), into = 0;
    if (ways->distance) {
      /* the strip knows no more; half a cell further at most */
      for (int a = 0; a < 3; a++) to[a] = clamped(at[a] + way[a] / wide_set(ways->cell), 0, inside[a]);
      into = wide_bits(wide_less(distances_at(ways->distance, to[0], to[1], to[2]), wide_gather(ways->slack, lane)));
    }
    uint32_t here = count - k < LANES ? (1u << (count - k)) - 1 : 255;
    all |= (far & here ? WAY_IS_LONG : 0u) | (into & here ? WAY_LEADS_INTO : 0u);
    for (int l = 0; l < LANES; l++)
      ways->bits[k + l] = (uint8_t)((far >> l & 1) * WAY_IS_LONG + (into >> l & 1) * WAY_LEADS_INTO);
  }
  return all;
}

void KERNEL(flip_stop_lanes)(float *const stop[3], int64_t b, int64_t e, uint8_t *lanes) {
  const Wide zero = wide_set(0);
  for (int64_t strip = b; strip < e; strip++) {
    unsigned none = 255;
    for (int a = 0; a < 3; a++) {
      Wide here = wide_load(stop[a] + strip * STRIP);
      none &= ~wide_bits(wide_less(here, zero)) & ~wide_bits(wide_less(zero, here));
    }
    lanes[strip] = (uint8_t)~none;
  }
}

/* ---- shapes ---- */

/* Whether A - shift 1 (sign +1) or shift 1 - A (sign -1) is positive: leading minors. */
WIDE_INLINE WideInt wide_beyond(const Wide a[STRESSES], float shift, float sign) {
  const Wide by = wide_set(shift), s = wide_set(sign), zero = wide_set(0);
  Wide x = s * (a[S_XX] - by), y = s * (a[S_YY] - by), z = s * (a[S_ZZ] - by);
  Wide u = s * a[S_XY], v = s * a[S_YZ], w = s * a[S_XZ];
  Wide minor = x * y - u * u;
  Wide all = z * minor - x * v * v + wide_set(2) * u * v * w - y * w * w;
  return wide_less(zero, x) & wide_less(zero, minor) & wide_less(zero, all);
}

void KERNEL(flip_stretch)(const Stretch *stretch, int64_t count) {
  static const int component[3][3] = {{S_XX, S_XY, S_XZ}, {S_XY, S_YY, S_YZ}, {S_XZ, S_YZ, S_ZZ}};
  const Wide half = wide_set(0.5f), one = wide_set(1), zero = wide_set(0);
  for (int64_t k = 0; k < count; k += LANES) {
    Wide a[STRESSES], f[3][3], t[3][3];
    for (int c = 0; c < STRESSES; c++) a[c] = wide_load(stretch->shape[c] + k);
    /* one that is not known yet is a sphere */
    WideInt known = wide_less(zero, a[S_XX] + a[S_YY] + a[S_ZZ]);
    for (int c = 0; c < 3; c++) a[c] = wide_select(known, a[c], one);
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) {
        Wide step = wide_set(stretch->dt) * wide_load(stretch->gradient[3 * r + c] + k);
        f[r][c] = wide_min(wide_max(step, -half), half);
        if (r == c) f[r][c] += one;
        wide_store(stretch->gradient[3 * r + c] + k, f[r][c]);
      }
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++)
        t[r][c] = f[r][0] * a[component[0][c]] + f[r][1] * a[component[1][c]] + f[r][2] * a[component[2][c]];
    for (int r = 0; r < 3; r++)
      for (int c = r; c < 3; c++) a[component[r][c]] = t[r][0] * f[c][0] + t[r][1] * f[c][1] + t[r][2] * f[c][2];
    for (int c = 0; c < STRESSES; c++) wide_store(stretch->shape[c] + k, a[c]);
    unsigned fits = wide_bits(wide_beyond(a, stretch->most, -1)), thick = wide_bits(wide_beyond(a, stretch->least, 1));
    static const uint8_t kinds[4] = {IS_STUCK, IS_THIN, IS_LONG, IS_VALID};
    for (int lane = 0; lane < LANES; lane++)
      stretch->kind[k + lane] = kinds[(fits >> lane & 1) + 2 * (thick >> lane & 1)];
  }
}
