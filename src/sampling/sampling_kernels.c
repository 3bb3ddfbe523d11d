#include "sampling/sampling_kernels.h"

bool KERNEL(spheres_conflict)(const SphereList *list, const float point[3], float radius) {
  Wide px = wide_set(point[0]), py = wide_set(point[1]), pz = wide_set(point[2]), pr = wide_set(radius);
  for (int64_t i = 0; i < list->count; i += LANES) {
    Wide dx = wide_load(list->x + i) - px, dy = wide_load(list->y + i) - py, dz = wide_load(list->z + i) - pz;
    Wide sum = wide_load(list->r + i) + pr;
    if (wide_bits(dx * dx + dy * dy + dz * dz < sum * sum)) return true;
  }
  return false;
}

void KERNEL(spheres_near)(const SphereList *list, const float point[3], float reach, SphereList *near_ones) {
  Wide px = wide_set(point[0]), py = wide_set(point[1]), pz = wide_set(point[2]), pr = wide_set(reach);
  sphere_list_clear(near_ones);
  for (int64_t i = 0; i < list->count; i += LANES) {
    Wide dx = wide_load(list->x + i) - px, dy = wide_load(list->y + i) - py, dz = wide_load(list->z + i) - pz;
    Wide sum = wide_load(list->r + i) + pr;
    for (unsigned bits = wide_bits(dx * dx + dy * dy + dz * dz < sum * sum); bits; bits &= bits - 1) {
      int64_t k = i + __builtin_ctz(bits);
      sphere_list_push(near_ones, list->x[k], list->y[k], list->z[k], list->r[k]);
    }
  }
}

unsigned KERNEL(cubes_open)(const SphereList *list, const float centre[3], float half, float radius) {
  const Wide side_x = {-1, 1, -1, 1, -1, 1, -1, 1}, side_y = {-1, -1, 1, 1, -1, -1, 1, 1},
             side_z = {-1, -1, -1, -1, 1, 1, 1, 1};
  Wide h = wide_set(half), zero = wide_set(0);
  Wide cx = wide_set(centre[0]) + side_x * h, cy = wide_set(centre[1]) + side_y * h,
       cz = wide_set(centre[2]) + side_z * h;
  WideInt closed = {0};
  for (int64_t i = 0; i < list->count; i++) {
    Wide dx = cx - wide_set(list->x[i]), dy = cy - wide_set(list->y[i]), dz = cz - wide_set(list->z[i]);
    /* To the farthest corner. */
    dx = wide_max(dx, zero - dx) + h, dy = wide_max(dy, zero - dy) + h, dz = wide_max(dz, zero - dz) + h;
    float sum = list->r[i] + radius;
    closed |= dx * dx + dy * dy + dz * dz < wide_set(sum * sum);
  }
  return ~wide_bits(closed) & 0xff;
}

WIDE_INLINE Wide square_to(Wide x, Wide y, Wide z, const float point[3]) {
  Wide dx = x - wide_set(point[0]), dy = y - wide_set(point[1]), dz = z - wide_set(point[2]);
  return dx * dx + dy * dy + dz * dz;
}

bool KERNEL(surface_covered)(const SurfaceList *list, const float (*corners)[3], int count, const float normal[3],
                             float spacing) {
  Wide square = wide_set(spacing * spacing), zero = wide_set(0);
  for (int64_t i = 0; i < list->count; i += LANES) {
    Wide x = wide_load(list->x + i), y = wide_load(list->y + i), z = wide_load(list->z + i);
    WideInt within = square_to(x, y, z, corners[0]) < square;
    if (!wide_bits(within)) continue;
    for (int k = 1; k < count; k++) within &= square_to(x, y, z, corners[k]) < square;
    if (!wide_bits(within)) continue;
    Wide nx = wide_set(normal[0]), ny = wide_set(normal[1]), nz = wide_set(normal[2]);
    Wide along = wide_load(list->nx + i) * nx + wide_load(list->ny + i) * ny + wide_load(list->nz + i) * nz;
    Wide off =
        (x - wide_set(corners[0][0])) * nx + (y - wide_set(corners[0][1])) * ny + (z - wide_set(corners[0][2])) * nz;
    off = wide_max(off, zero - off);
    if (wide_bits(within & ~((along < wide_set(-0.5f)) & (off > wide_set(1e-3f * spacing))))) return true;
  }
  return false;
}

void KERNEL(surface_near)(const SurfaceList *list, const float point[3], float reach, SurfaceList *near_ones) {
  Wide square = wide_set(reach * reach);
  int64_t n = 0;
  for (int64_t i = 0; i < list->count; i += LANES) {
    Wide x = wide_load(list->x + i), y = wide_load(list->y + i), z = wide_load(list->z + i);
    for (unsigned bits = wide_bits(square_to(x, y, z, point) < square); bits; bits &= bits - 1, n++) {
      int64_t k = i + __builtin_ctz(bits);
      near_ones->x[n] = list->x[k], near_ones->y[n] = list->y[k], near_ones->z[n] = list->z[k];
      near_ones->nx[n] = list->nx[k], near_ones->ny[n] = list->ny[k], near_ones->nz[n] = list->nz[k];
    }
  }
  near_ones->count = n;
  surface_list_pad(near_ones);
}
