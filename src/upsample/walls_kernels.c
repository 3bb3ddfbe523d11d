/* Walls and crowds for blocks of fine grains, eight at a time. */
#include <math.h>
#include <string.h>

#include "geometry/distance_grid.h"
#include "upsample/upsample_kernels.h"

void KERNEL(fine_groups)(const FineBoxes *boxes, FineGroups *groups) {
  float *middle[3] = {groups->x, groups->y, groups->z};
  for (int64_t g = 0; g < FINE_GROUPS; g += LANES) {
    Wide square = wide_set(0);
    for (int axis = 0; axis < 3; axis++) {
      Wide low = wide_load(boxes->low[axis] + g), half = wide_set(0.5f) * (wide_load(boxes->high[axis] + g) - low);
      wide_store(middle[axis] + g, low + half);
      square += half * half;
    }
    wide_store(groups->half + g, wide_sqrt(square));
  }
}

/* Turned by the matrix, or by its transpose. */
WIDE_INLINE void turn_lanes(const FineAxes *axes, bool back, const Wide in[3], Wide out[3]) {
  for (int r = 0; r < 3; r++) {
    float a = back ? axes->turn[0][r] : axes->turn[r][0], b = back ? axes->turn[1][r] : axes->turn[r][1],
          c = back ? axes->turn[2][r] : axes->turn[r][2];
    out[r] = wide_set(a) * in[0] + wide_set(b) * in[1] + wide_set(c) * in[2];
  }
}

void KERNEL(fine_to_local)(const FineAxes *axes, const float *x, const float *y, const float *z, int64_t count,
                           FineAnswers *answers) {
  const float *const from[3] = {x, y, z};
  float *const to[3] = {answers->x, answers->y, answers->z};
  for (int64_t i = 0; i < count; i += LANES) {
    Wide at[3] = {{0}, {0}, {0}}, local[3];
    for (int axis = 0; axis < 3; axis++) {
      if (count - i >= LANES) at[axis] = wide_load(from[axis] + i);
      else memcpy(&at[axis], from[axis] + i, sizeof(float) * (size_t)(count - i));
      at[axis] += wide_set(axes->shift[axis]);
      local[axis] = at[axis];
    }
    if (axes->turned) turn_lanes(axes, false, at, local);
    for (int axis = 0; axis < 3; axis++) wide_store(to[axis] + i, local[axis]);
  }
}

bool KERNEL(fine_nearest)(const FineAxes *axes, const FineAnswers *answers, float known, int64_t b, int64_t e,
                          FineBlock *block) {
  WideInt deep = {0};
  for (int64_t i = b; i < e; i += LANES) {
    Wide distance = wide_load(answers->distance + i - b), gap = wide_load(block->gap + i);
    WideInt nearer =
        wide_less(distance, gap) & wide_less(distance, wide_set(known)) & wide_less(wide_set(-known), distance);
    deep |= wide_less_equal(distance, wide_set(-known));
    if (!wide_bits(nearer)) continue;
    Wide local[3] = {wide_load(answers->nx + i - b), wide_load(answers->ny + i - b), wide_load(answers->nz + i - b)};
    Wide normal[3] = {local[0], local[1], local[2]};
    if (axes->turned) turn_lanes(axes, true, local, normal);
    wide_store(block->gap + i, wide_select(nearer, distance, gap));
    wide_store(block->nx + i, wide_select(nearer, normal[0], wide_load(block->nx + i)));
    wide_store(block->ny + i, wide_select(nearer, normal[1], wide_load(block->ny + i)));
    wide_store(block->nz + i, wide_select(nearer, normal[2], wide_load(block->nz + i)));
  }
  return wide_bits(deep) != 0;
}

/* A plane wall sampled with spheres of radius r has 0.547 / (pi r^2) of them per area (random touching discs). Their
 * weights, integrated over the plane at distance d, are 9/4 * 0.547 (1 - d^2 / 9 r^2)^4 = 1.23 q^4, and the largest is
 * q^3: what the samples would do in the mean, from the distance alone. */
#define WALL_WEIGHT 1.23f

void KERNEL(fine_add_wall)(const FineLaw *law, const FineAnswers *answers, float known, const float *const ways[3],
                           int64_t b, int64_t e, FineBlock *block) {
  const Wide zero = wide_set(0), reach2 = wide_set(law->reach2), rate = wide_set(1 / law->dt);
  const Wide share = wide_set(WALL_WEIGHT / law->reach2);
  float *const sums[3] = {block->sum_x, block->sum_y, block->sum_z};
  for (int64_t i = b; i < e; i += LANES) {
    Wide distance = wide_load(answers->distance + i - b), sum = wide_load(block->sum + i);
    Wide d = wide_max(distance, zero), t = wide_max(reach2 - d * d, zero), top = wide_load(block->top + i);
    WideInt counts = wide_less(distance, wide_set(known)) & wide_less(wide_set(-known), distance);
    if (law->body_rule) counts &= wide_less(zero, sum);
    t = (Wide)((WideInt)t & counts);
    Wide square = t * t, weight = share * square * square;
    wide_store(block->sum + i, sum + weight);
    wide_store(block->top + i, wide_max(t, top));
    if (!ways) continue;
    for (int axis = 0; axis < 3; axis++)
      wide_store(sums[axis] + i, wide_load(sums[axis] + i) + weight * (wide_load(ways[axis] + i - b) * rate));
  }
}

int64_t KERNEL(fine_may_touch)(const FineBlock *block, float room, float free, const uint64_t *pack, int32_t *list) {
  const WideInt lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  int64_t count = 0;
  for (int64_t i = 0; i < block->padded; i += LANES) {
    Wide dx = wide_load(block->to_x + i) - wide_load(block->x + i),
         dy = wide_load(block->to_y + i) - wide_load(block->y + i),
         dz = wide_load(block->to_z + i) - wide_load(block->z + i);
    Wide way = wide_sqrt(dx * dx + dy * dy + dz * dz), gap = wide_set(free), radius = {0};
    if (block->walled) gap = wide_min(wide_load(block->gap + i) - wide_set(room), gap);
    int64_t left = block->count - i < LANES ? block->count - i : LANES;
    if (left == LANES) radius = wide_load(block->radius + i);
    else memcpy(&radius, block->radius + i, sizeof(float) * (size_t)left);
    unsigned bits = ~wide_bits(wide_less(radius, gap - way)) & ((1u << left) - 1);
    if (!bits) continue;
    WideInt index = lanes + (int32_t)i;
    wide_pack(list + count, bits, (const int32_t *)&index, pack);
    count += __builtin_popcount(bits);
  }
  return count;
}

/* Rounded down, within a billion. */
WIDE_INLINE WideInt whole_number(Wide v, Wide *held) {
  const Wide limit = wide_set(1e9f);
  *held = wide_min(wide_max(v, -limit), limit);
  WideInt cut = __builtin_convertvector(*held, WideInt);
  return cut + wide_less(*held, __builtin_convertvector(cut, Wide));
}

void KERNEL(fine_cells)(const CountCells *cells, const float *x, const float *y, const float *z, int64_t count,
                        int32_t index[FINE_BLOCK], int32_t slot[FINE_BLOCK]) {
  const float *const from[3] = {x, y, z};
  for (int64_t i = 0; i < count; i += LANES) {
    Wide at[3] = {{0}, {0}, {0}}, held;
    size_t size = sizeof(float) * (size_t)(count - i);
    for (int axis = 0; axis < 3; axis++) {
      if (count - i >= LANES) at[axis] = wide_load(from[axis] + i);
      else memcpy(&at[axis], from[axis] + i, size);
    }
    WideInt cell = {0}, place = {0};
    for (int axis = 0; axis < 3; axis++) {
      WideInt here = whole_number(at[axis] * cells->inverse, &held) & cells->mask[axis];
      cell |= here << (axis == 0 ? 0 : cells->shift[axis - 1]);
      place |= (here & ((1 << STIR_SLOT_BITS) - 1)) << (STIR_SLOT_BITS * axis);
    }
    memcpy(index + i, &cell, sizeof cell); /* FINE_BLOCK is a multiple of the lanes */
    memcpy(slot + i, &place, sizeof place);
  }
}

/* The counts at the corners of the cube of cell centres round each of eight places. */
WIDE_INLINE void corner_counts(const CountCells *cells, const uint32_t *counts, const WideInt base[3], Wide v[8]) {
  _Alignas(32) int32_t at[LANES];
  WideInt x[2] = {base[0] & cells->mask[0], (base[0] + 1) & cells->mask[0]};
  bool wraps = wide_bits(wide_int_equal(x[0], (WideInt){0} + cells->mask[0])) != 0;
  for (int row = 0; row < 4; row++) {
    WideInt y = (base[1] + (row & 1)) & cells->mask[1], z = (base[2] + (row >> 1)) & cells->mask[2];
    WideInt rest = y << cells->shift[0] | z << cells->shift[1];
    Wide pair[2];
    if (!wraps) {
      WideInt first = x[0] | rest;
      memcpy(at, &first, sizeof at);
      wide_gather2((const float *)counts, at, &pair[0], &pair[1]);
    } else
      for (int side = 0; side < 2; side++) pair[side] = wide_gather((const float *)counts, x[side] | rest);
    for (int side = 0; side < 2; side++) v[2 * row + side] = __builtin_convertvector((WideInt)pair[side], Wide);
  }
}

/* Gradient of the count, per cell and relative to the count here; nothing is drawn into empty cells. */
WIDE_INLINE void count_gradient(const CountCells *cells, const uint32_t *counts, const Wide at[3], Wide gradient[3]) {
  const Wide one = wide_set(1), zero = wide_set(0);
  WideInt base[3], upper[3];
  Wide part[3], v[8], middle, *value = &middle, *gx = &gradient[0], *gy = &gradient[1], *gz = &gradient[2];
  for (int axis = 0; axis < 3; axis++) {
    Wide held;
    base[axis] = whole_number(at[axis] * cells->inverse - 0.5f, &held);
    part[axis] = held - __builtin_convertvector(base[axis], Wide);
    upper[axis] = wide_less_equal(wide_set(0.5f), part[axis]);
  }
  corner_counts(cells, counts, base, v);
  Wide row[4];
  for (int k = 0; k < 4; k++) row[k] = wide_select(upper[0], v[2 * k + 1], v[2 * k]);
  Wide here = wide_select(upper[2], wide_select(upper[1], row[3], row[2]), wide_select(upper[1], row[1], row[0]));
  here = wide_max(here, one);
  for (int corner = 0; corner < 8; corner++) v[corner] = wide_select(wide_less(zero, v[corner]), v[corner], here);
  const Wide fx = part[0], fy = part[1], fz = part[2];
  GRID_TRILINEAR(Wide)
  Wide scale = one / wide_max(middle, one);
  for (int axis = 0; axis < 3; axis++) gradient[axis] *= scale;
}

void KERNEL(fine_stir)(const CountCells *cells, const uint32_t *counts, const FineLaw *law, FineBlock *block) {
  const Wide zero = wide_set(0), one = wide_set(1), least = wide_set(1e-5f / cells->inverse);
  const Wide keep_off = wide_set(2 / cells->inverse);
  for (int64_t i = 0; i < block->padded; i += LANES) {
    Wide way = wide_set(law->stir * law->dt) * wide_load(block->spread + i);
    WideInt stirs = wide_less(least, way);
    if (!wide_bits(stirs)) continue;
    Wide at[3] = {wide_load(block->x + i), wide_load(block->y + i), wide_load(block->z + i)}, push[3];
    count_gradient(cells, counts, at, push);
    Wide size = wide_sqrt(push[0] * push[0] + push[1] * push[1] + push[2] * push[2]);
    Wide scale = (Wide)((WideInt)(-way / wide_max(size, one)) & stirs);
    for (int axis = 0; axis < 3; axis++) push[axis] *= scale;
    if (block->walled) { /* a cell that a wall cuts holds fewer grains without being sparse */
      Wide n[3] = {wide_load(block->nx + i), wide_load(block->ny + i), wide_load(block->nz + i)};
      Wide into = push[0] * n[0] + push[1] * n[1] + push[2] * n[2];
      into = (Wide)((WideInt)into & wide_less(wide_load(block->gap + i), keep_off) & wide_less(into, zero));
      for (int axis = 0; axis < 3; axis++) push[axis] -= into * n[axis];
    }
    wide_store(block->to_x + i, wide_load(block->to_x + i) + push[0]);
    wide_store(block->to_y + i, wide_load(block->to_y + i) + push[1]);
    wide_store(block->to_z + i, wide_load(block->to_z + i) + push[2]);
  }
}
