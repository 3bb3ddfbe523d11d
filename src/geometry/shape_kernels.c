#include "geometry/shape_kernels.h"

#include <string.h>

#include "core/sixteen.h"

#define PLAIN_REAL float
#define PLAIN(name) plainf_##name
#define PLAIN_SQRT __builtin_sqrtf
#include "geometry/shape_plain.h"

/* One loop for each shape, so that the choice is made outside of it. */
#define PLAIN_LOOP(call)                                                                                               \
  for (int64_t i = 0; i < points->count; i++) {                                                                        \
    const float x = px[i], y = py[i], z = pz[i];                                                                       \
    plainf_Point p = call;                                                                                             \
    distance[i] = sign * p.distance;                                                                                   \
    nx[i] = sign * p.x;                                                                                                \
    ny[i] = sign * p.y;                                                                                                \
    nz[i] = sign * p.z;                                                                                                \
  }

void KERNEL(plain_distance_many)(const PlainShape *shape, const ManyPoints *points) {
  const float *restrict px = points->x, *restrict py = points->y, *restrict pz = points->z;
  float *restrict distance = points->distance;
  float *restrict nx = points->nx, *restrict ny = points->ny, *restrict nz = points->nz;
  const PlainShape s = *shape;
  const float sign = s.sign;
  switch (s.kind) {
  case SCREE_SHAPE_BOX: PLAIN_LOOP(plainf_box_point(x, y, z, s.a, s.b)) break;
  case SCREE_SHAPE_SPHERE: PLAIN_LOOP(plainf_sphere_point(x, y, z, s.a, s.radius)) break;
  case SCREE_SHAPE_CYLINDER: PLAIN_LOOP(plainf_cylinder_point(x, y, z, s.a, s.radius, s.height)) break;
  case SCREE_SHAPE_CAPSULE: PLAIN_LOOP(plainf_capsule_point(x, y, z, s.a, s.radius, s.height)) break;
  case SCREE_SHAPE_PLANE: PLAIN_LOOP(plainf_plane_point(x, y, z, s.a, s.b)) break;
  default: break;
  }
}

WIDE_INLINE void trilinear(const Wide v[8], Wide fx, Wide fy, Wide fz, Wide *value, Wide *gx, Wide *gy,
                           Wide *gz){GRID_TRILINEAR(Wide)}

/* Cell coordinate on one axis, held within the grid; the mask of lanes that are in it. */
WIDE_INLINE WideInt cell_of(Wide at, float end, Wide *left, WideInt *within) {
  *within &= wide_less_equal(wide_set(0), at) & wide_less(at, wide_set(end));
  Wide held = wide_min(wide_max(at, wide_set(0)), wide_set(end - 0.5f));
  WideInt cell = __builtin_convertvector(held, WideInt);
  *left = held - __builtin_convertvector(cell, Wide);
  return cell;
}

/* The corners of the cells that eight points are in, and where in them. */
typedef struct EightCells {
  Wide v[8], fx, fy, fz;
  WideInt known, inside_far;
} EightCells;

WIDE_INLINE void eight_cells(const DistanceGrid *grid, Wide x, Wide y, Wide z, EightCells *cells) {
  const Wide inverse = wide_set(grid->inverse_cell);
  const int32_t bx = grid->blocks[0], by = grid->blocks[1], bz = grid->blocks[2];
  Wide fx, fy, fz;
  WideInt within = ~(WideInt){0};
  WideInt cx = cell_of((x - wide_set(grid->low_f[0])) * inverse, (float)(bx * GRID_BLOCK), &fx, &within);
  WideInt cy = cell_of((y - wide_set(grid->low_f[1])) * inverse, (float)(by * GRID_BLOCK), &fy, &within);
  WideInt cz = cell_of((z - wide_set(grid->low_f[2])) * inverse, (float)(bz * GRID_BLOCK), &fz, &within);
  const int32_t mask = GRID_BLOCK - 1;
  /* The number of blocks fits 31 bits. */
  WideInt block = ((cz >> GRID_SHIFT) * by + (cy >> GRID_SHIFT)) * bx + (cx >> GRID_SHIFT);
  WideInt corner = ((cz & mask) * GRID_SIDE + (cy & mask)) * GRID_SIDE + (cx & mask);
  WideInt place;
  for (int k = 0; k < LANES; k++) place[k] = grid->table[block[k]];
  WideInt known = within & wide_int_less((WideInt){0} - 1, place);
  WideInt first = (place + corner) & known; /* elsewhere the first node of all, whose value is not used */
  _Alignas(32) int32_t lowest[LANES];
  memcpy(lowest, &first, sizeof lowest);
  for (int k = 0; k < 8; k += 2) wide_gather2(grid->values + grid_corner(k), lowest, &cells->v[k], &cells->v[k + 1]);
  cells->fx = fx, cells->fy = fy, cells->fz = fz;
  cells->known = known;
  cells->inside_far = within & wide_int_equal(place, (WideInt){0} + GRID_INSIDE);
}

WIDE_INLINE Wide eight_value(const DistanceGrid *grid, const EightCells *cells, Wide value) {
  Wide far = wide_set(grid->band * 1.000001f);
  return wide_select(cells->known, value, wide_select(cells->inside_far, -far, far));
}

WIDE_INLINE void grid_eight(const DistanceGrid *grid, Wide x, Wide y, Wide z, Wide out[4]) {
  EightCells cells;
  Wide value, gx, gy, gz;
  eight_cells(grid, x, y, z, &cells);
  trilinear(cells.v, cells.fx, cells.fy, cells.fz, &value, &gx, &gy, &gz);
  Wide length = wide_sqrt(gx * gx + gy * gy + gz * gz);
  WideInt good = cells.known & wide_less(wide_set(0), length);
  Wide scale = wide_set(1) / wide_select(good, length, wide_set(1));
  out[0] = eight_value(grid, &cells, value);
  out[1] = wide_select(good, gx * scale, wide_set(0));
  out[2] = wide_select(good, gy * scale, wide_set(0));
  out[3] = wide_select(good, gz * scale, wide_set(1));
}

#ifdef SIXTEEN_TARGET
SIXTEEN_INLINE __m512i sixteen_cell_of(Sixteen at, float end, Sixteen *left, unsigned *within) {
  *within &= ~sixteen_less(at, sixteen_set(0)) & sixteen_less(at, sixteen_set(end));
  Sixteen held = sixteen_min(sixteen_max(at, sixteen_set(0)), sixteen_set(end - 0.5f));
  __m512i cell = _mm512_cvttps_epi32((__m512)held);
  *left = held - (Sixteen)_mm512_cvtepi32_ps(cell);
  return cell;
}

/* As eight_cells and eight_value, for as many points as fill sixteen lanes; answers where it stopped. */
SIXTEEN_TARGET static int64_t values_by_sixteen(const DistanceGrid *grid, float sign, int64_t count, const float *x,
                                                const float *y, const float *z, float *distance) {
  const float *const from[3] = {x, y, z};
  const __m512i zero = _mm512_setzero_si512(), mask = _mm512_set1_epi32(GRID_BLOCK - 1);
  const Sixteen inverse = sixteen_set(grid->inverse_cell), far = sixteen_set(grid->band * 1.000001f);
  int64_t i = 0;
  for (; i + SIXTEEN <= count; i += SIXTEEN) {
    unsigned within = 0xffff;
    Sixteen f[3], v[8];
    __m512i block = zero, corner = zero;
    for (int axis = 2; axis >= 0; axis--) {
      Sixteen at = (sixteen_load(from[axis] + i) - sixteen_set(grid->low_f[axis])) * inverse;
      __m512i cell = sixteen_cell_of(at, (float)(grid->blocks[axis] * GRID_BLOCK), &f[axis], &within);
      block = _mm512_add_epi32(_mm512_mullo_epi32(block, _mm512_set1_epi32(grid->blocks[axis])),
                               _mm512_srai_epi32(cell, GRID_SHIFT));
      corner = _mm512_add_epi32(_mm512_mullo_epi32(corner, _mm512_set1_epi32(GRID_SIDE)), _mm512_and_si512(cell, mask));
    }
    __m512i place = _mm512_i32gather_epi32(block, grid->table, 4);
    unsigned known = within & _mm512_cmpge_epi32_mask(place, zero);
    unsigned inside = within & _mm512_cmpeq_epi32_mask(place, _mm512_set1_epi32(GRID_INSIDE));
    __m512i first = _mm512_maskz_add_epi32((__mmask16)known, place, corner);
    for (int k = 0; k < 8; k += 2) sixteen_gather2(grid->values + grid_corner(k), first, &v[k], &v[k + 1]);
    const Sixteen fx = f[0], fy = f[1], fz = f[2];
    Sixteen distances, slope[3], *value = &distances, *gx = &slope[0], *gy = &slope[1], *gz = &slope[2];
    GRID_TRILINEAR(Sixteen)
    distances = sixteen_select(known, distances, sixteen_select(inside, -far, far));
    sixteen_store(distance + i, sixteen_set(sign) * distances);
  }
  return i;
}
#endif

void KERNEL(grid_value_many)(const DistanceGrid *grid, float sign, int64_t count, const float *x, const float *y,
                             const float *z, float *distance) {
  int64_t i = 0;
#ifdef SIXTEEN_TARGET
  if (sixteen_lanes()) i = values_by_sixteen(grid, sign, count, x, y, z, distance);
#endif
  for (; i < count; i += LANES) {
    const float *const from[3] = {x + i, y + i, z + i};
    bool whole = count - i >= LANES;
    Wide at[3] = {{0}, {0}, {0}}, value, gx, gy, gz;
    EightCells cells;
    for (int axis = 0; axis < 3; axis++) {
      if (whole) at[axis] = wide_load(from[axis]);
      else memcpy(&at[axis], from[axis], sizeof *x * (size_t)(count - i));
    }
    eight_cells(grid, at[0], at[1], at[2], &cells);
    trilinear(cells.v, cells.fx, cells.fy, cells.fz, &value, &gx, &gy, &gz);
    value = wide_set(sign) * eight_value(grid, &cells, value);
    if (whole) wide_store(distance + i, value);
    else memcpy(distance + i, &value, sizeof *distance * (size_t)(count - i));
  }
}

void KERNEL(grid_distance_many)(const DistanceGrid *grid, float sign, const ManyPoints *points) {
  int64_t count = points->count;
  float *const results[4] = {points->distance, points->nx, points->ny, points->nz};
  Wide out[4];
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    grid_eight(grid, wide_load(points->x + i), wide_load(points->y + i), wide_load(points->z + i), out);
    for (int k = 0; k < 4; k++) wide_store(results[k] + i, wide_set(sign) * out[k]);
  }
  if (i == count) return;
  Wide x = {0}, y = {0}, z = {0};
  for (int k = 0; k < count - i; k++) {
    x[k] = points->x[i + k];
    y[k] = points->y[i + k];
    z[k] = points->z[i + k];
  }
  grid_eight(grid, x, y, z, out);
  for (int r = 0; r < 4; r++)
    for (int k = 0; k < count - i; k++) results[r][i + k] = sign * out[r][k];
}
