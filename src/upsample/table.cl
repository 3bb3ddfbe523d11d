/* The table of fine grains on a device: grains of a fill come into being in it, and it is put in order. */
#ifdef TABLE_PLACES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#include "neighbors/radix.cl"
#include "neighbors/scan.cl"
#include "upsample/box.cl"
#include "upsample/table_shared.h"
#ifdef TABLE_PLACES
#include "sampling/tile_shared.h"
#endif

#define PLACES global const float *x, global const float *y, global const float *z

/* ---- grains of a fill ---- */

#ifdef TABLE_PLACES

/* Block after block, in double as the CPU adds them to its table: those of a block that has none of its own are those
 * of the tile. */
kernel void table_place(PlaceShared place, global const int *coordinate, global const int *before,
                        global const int *samples, PLACES, global const float *radius, global const float *tile_x,
                        global const float *tile_y, global const float *tile_z, global const float *tile_radius,
                        global const int *tile_start, global float *to_x, global float *to_y, global float *to_z,
                        global float *to_vx, global float *to_vy, global float *to_vz, global float *to_radius,
                        global uint *to_id, global uchar *to_material) {
  const int block = (int)(get_global_id(0) / PLACE_ITEMS);
  if (block >= place.blocks) return;
  const int begin = before[block], count = before[block + 1] - begin, own = samples[block];
  global const int *c = coordinate + 3 * block;
  const int start = own < 0 ? tile_start[tile_bin(c[0], c[1], c[2])] : own;
  for (int k = (int)(get_global_id(0) % PLACE_ITEMS); k < count; k += PLACE_ITEMS) {
    const int at = start + k, i = place.first + begin + k;
    float point[3], r = place.radius;
    if (own < 0) {
      point[0] = tile_coordinate(c[0], tile_x[at], place.side);
      point[1] = tile_coordinate(c[1], tile_y[at], place.side);
      point[2] = tile_coordinate(c[2], tile_z[at], place.side);
      if (place.radii) r = tile_scaled(tile_radius[at], place.nominal);
    } else {
      point[0] = x[at], point[1] = y[at], point[2] = z[at];
      if (place.radii) r = radius[at];
    }
    to_x[i] = (float)(place.from[0] + (double)point[0]);
    to_y[i] = (float)(place.from[1] + (double)point[1]);
    to_z[i] = (float)(place.from[2] + (double)point[2]);
    to_vx[i] = place.velocity[0], to_vy[i] = place.velocity[1], to_vz[i] = place.velocity[2];
    to_radius[i] = r;
    to_id[i] = place.id + (uint)(begin + k);
    to_material[i] = (uchar)place.material;
  }
}

#endif

/* ---- order ---- */

kernel void table_box(int count, PLACES, global uint *box) {
  local uint here[COARSE_BOX_WORDS];
  const int i = (int)get_global_id(0);
  const bool active = i < count;
  LaneVec3 at = vec_zero();
  if (active) at = vec_make(x[i], y[i], z[i]);
  widen_box(here, box, at, active);
}

static uint cell_on_axis(OrderShared order, float at, float low) {
  const float cell = (at - low) * order.inverse, most = (float)((1 << order.bits) - 1);
  return !(cell > 0) ? 0 : cell < most ? (uint)cell : (uint)most;
}

/* The number of a cell along the curve (Skilling's transform). */
static ulong curve_number(uint c[3], int bits) {
  uint turn = 0;
  ulong number = 0;
  for (uint bit = 1u << (bits - 1); bit > 1; bit >>= 1)
    for (int axis = 0; axis < 3; axis++) {
      const uint swap = c[axis] & bit ? 0 : (c[0] ^ c[axis]) & (bit - 1);
      c[0] ^= c[axis] & bit ? bit - 1 : swap;
      c[axis] ^= swap;
    }
  c[1] ^= c[0];
  c[2] ^= c[1];
  for (uint bit = 1u << (bits - 1); bit > 1; bit >>= 1)
    if (c[2] & bit) turn ^= bit - 1;
  for (int bit = bits - 1; bit >= 0; bit--)
    for (int axis = 0; axis < 3; axis++) number = number << 1 | ((c[axis] ^ turn) >> bit & 1);
  return number;
}

/* So many bits of the cells' numbers, from `shift` on. `who` is made where the first are asked for. */
kernel void table_number(OrderShared order, int shift, PLACES, global int *who, global uint *number) {
  const int k = (int)get_global_id(0);
  if (k >= order.count) return;
  if (shift == 0) who[k] = k;
  const int i = who[k];
  uint c[3] = {cell_on_axis(order, x[i], order.low[0]), cell_on_axis(order, y[i], order.low[1]),
               cell_on_axis(order, z[i], order.low[2])};
  number[k] = (uint)(curve_number(c, order.bits) >> shift) & ((1u << KEY_BITS) - 1);
}

typedef struct Window {
  float at[3][WINDOW];
  ulong key[WINDOW];            /* a coordinate and, in the lowest bits, who of the window */
  float bounds[6][TABLE_GROUP]; /* of those that follow each other in `key`, WINDOW_EACH an item */
  int axis[WINDOW / (2 * WINDOW_LEAST)];
} Window;

/* The longest side of the box round each part. */
static void find_axes(local Window *window, int part, int count) {
  const int item = (int)get_local_id(0), items = part / WINDOW_EACH;
  for (int axis = 0; axis < 3; axis++) {
    float low = INFINITY, high = -INFINITY;
    for (int k = item * WINDOW_EACH; k < (item + 1) * WINDOW_EACH; k++) {
      const int who = (int)(window->key[k] & (WINDOW - 1));
      if (who >= count) continue;
      low = fmin(low, window->at[axis][who]);
      high = fmax(high, window->at[axis][who]);
    }
    window->bounds[axis][item] = low, window->bounds[3 + axis][item] = high;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < WINDOW / part) {
    float widest = -1;
    for (int axis = 0; axis < 3; axis++) {
      float low = INFINITY, high = -INFINITY;
      for (int k = item * items; k < (item + 1) * items; k++) {
        low = fmin(low, window->bounds[axis][k]);
        high = fmax(high, window->bounds[3 + axis][k]);
      }
      if (!(high - low > widest)) continue;
      widest = high - low;
      window->axis[item] = axis;
    }
    if (!(widest >= 0)) window->axis[item] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* Each part by its keys, upwards; of parts of it those of even number upwards and the others downwards. */
static void sort_parts(local Window *window, int part) {
  for (int size = 2; size <= part; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      for (int pair = (int)get_local_id(0); pair < WINDOW / 2; pair += TABLE_GROUP) {
        const int a = 2 * pair - (pair & (stride - 1)), b = a + stride;
        const bool up = size == part || !(a & size);
        const ulong first = window->key[a], second = window->key[b];
        if ((first > second) == up) window->key[a] = second, window->key[b] = first;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Those that follow each other along the curve lie together, but not in a box. Windows of them are halved along their
 * longest side again and again, so that groups are compact. */
kernel void table_window(int count, PLACES, global const int *who, global int *order) {
  local Window window;
  const int item = (int)get_local_id(0), first = (int)(get_global_id(0) / TABLE_GROUP) * WINDOW;
  const int here = min(count - first, (int)WINDOW);
  for (int k = item; k < WINDOW; k += TABLE_GROUP) {
    const int i = k < here ? who[first + k] : 0;
    if (k < here) window.at[0][k] = x[i], window.at[1][k] = y[i], window.at[2][k] = z[i];
    window.key[k] = (ulong)k;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int part = WINDOW; part > WINDOW_LEAST; part /= 2) {
    find_axes(&window, part, here);
    for (int k = item; k < WINDOW; k += TABLE_GROUP) {
      const int own = (int)(window.key[k] & (WINDOW - 1)), axis = window.axis[k / part];
      const uint key = own < here ? float_key(as_uint(window.at[axis][own])) : UINT_MAX;
      window.key[k] = (ulong)key << 32 | (ulong)own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sort_parts(&window, part);
  }
  for (int k = item; k < here; k += TABLE_GROUP) order[first + k] = who[first + (int)(window.key[k] & (WINDOW - 1))];
}

kernel void table_gather_words(int count, global const int *order, global const uint *from, global uint *to) {
  const int k = (int)get_global_id(0);
  if (k < count) to[k] = from[order[k]];
}

kernel void table_gather_bytes(int count, global const int *order, global const uchar *from, global uchar *to) {
  const int k = (int)get_global_id(0);
  if (k < count) to[k] = from[order[k]];
}
