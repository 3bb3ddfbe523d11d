/* The canonical order of points, and lists of who is near whom, on a device: as order.c and lists.c have them.
 *
 * Where the box round all points has not many more cells than there are points, these are dealt to counted cells, and
 * each cell is put in order. Otherwise they are sorted by the numbers of their cells, four bits at a time, and cells
 * are found by halving. Both give the same order, and rows ascend in both. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#include "neighbors/lists_shared.h"
#define RADIX_NUMBER CellNumber
#include "neighbors/radix.cl"
#include "neighbors/scan.cl"

#define POINTS global const float *x, global const float *y, global const float *z

static int cell_of(ListsShared lists, float x) {
  float low = x > -lists.limit ? x : -lists.limit;
  float at = low < lists.limit ? low : lists.limit;
  return (int)((double)at * lists.inverse + (double)COORDINATE_BIAS) - COORDINATE_BIAS;
}

static CellNumber number_at(ListsShared lists, float x, float y, float z) {
  return cell_number(lists.box, cell_of(lists, x), cell_of(lists, y), cell_of(lists, z));
}

/* The box round all cells. */
kernel void lists_box(ListsShared lists, POINTS, global int *box) {
  local int here[LISTS_BOX_WORDS];
  int i = (int)get_global_id(0), item = (int)get_local_id(0);
  if (item < LISTS_BOX_BAD) here[item] = -COORDINATE_BIAS;
  if (item == LISTS_BOX_BAD) here[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < lists.count) {
    float at[3] = {x[i], y[i], z[i]};
    float odd = at[0] * 0 + at[1] * 0 + at[2] * 0;
    if (!(odd <= 0)) atomic_or(&here[LISTS_BOX_BAD], 1);
    for (int axis = 0; axis < 3; axis++) {
      int cell = cell_of(lists, at[axis]);
      atomic_max(&here[LISTS_BOX_LOW + axis], -cell);
      atomic_max(&here[LISTS_BOX_HIGH + axis], cell);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < LISTS_BOX_BAD) atomic_max(&box[item], here[item]);
  if (item == LISTS_BOX_BAD && here[item]) atomic_or(&box[item], 1);
}

/* ---- counted cells ---- */

/* How many came into the point's cell before it. */
kernel void lists_enter(ListsShared lists, POINTS, global int *start, global int *rank) {
  int i = (int)get_global_id(0);
  if (i < lists.count) rank[i] = atomic_inc(&start[number_at(lists, x[i], y[i], z[i])]);
}

/* Who comes first is chance. */
kernel void lists_deal(ListsShared lists, POINTS, global const int *start, global const int *rank, global int *loose) {
  int i = (int)get_global_id(0);
  if (i < lists.count) loose[start[number_at(lists, x[i], y[i], z[i])] + rank[i]] = i;
}

/* Places in the new order, with radii where those differ. */
static float4 spot(ListsShared lists, int i, POINTS, global const float *radius) {
  return (float4)(x[i], y[i], z[i], lists.radii ? radius[i] + lists.share : 0);
}

/* In each cell by their ids. */
kernel void lists_order(ListsShared lists, POINTS, global const uint *id, global const float *radius,
                        global const int *start, global const int *loose, global int *order, global float4 *at) {
  int i = (int)get_global_id(0);
  if (i >= lists.count) return;
  const CellNumber number = number_at(lists, x[i], y[i], z[i]);
  const uint own = id[i];
  int to = start[number];
  for (int k = start[number], end = start[number + 1]; k < end; k++) to += id[loose[k]] < own;
  order[to] = i;
  at[to] = spot(lists, i, x, y, z, radius);
}

/* ---- sorted numbers ---- */

kernel void lists_number(ListsShared lists, POINTS, global CellNumber *number, global int *who) {
  int i = (int)get_global_id(0);
  if (i >= lists.count) return;
  number[i] = number_at(lists, x[i], y[i], z[i]);
  who[i] = i;
}

/* In each cell by their ids. */
kernel void lists_order_sorted(ListsShared lists, POINTS, global const uint *id, global const float *radius,
                               global const CellNumber *number, global const int *who, global int *order,
                               global float4 *at) {
  int k = (int)get_global_id(0), begin;
  if (k >= lists.count) return;
  const uint own = id[who[k]];
  for (begin = k; begin > 0 && number[begin - 1] == number[k]; begin--) continue;
  int to = begin;
  for (int m = begin; m < lists.count && number[m] == number[k]; m++) to += id[who[m]] < own;
  order[to] = who[k];
  at[to] = spot(lists, who[k], x, y, z, radius);
}

/* ---- rows ---- */

/* Where the points of a cell begin, or would. */
static int begin_of(ListsShared lists, global const int *start, global const CellNumber *number, CellNumber cell) {
  int low = 0;
  if (lists.dense) return start[cell];
  for (int length = lists.count; length > 0;) {
    int half_length = length / 2;
    bool below = number[low + half_length] < cell;
    low = below ? low + half_length + 1 : low;
    length = below ? length - half_length - 1 : half_length;
  }
  return low;
}

/* Who of [from, end) is near a point, into `to` where there is one, from entry `found` on. Returns the entries. */
static int find_run(ListsShared lists, int i, float4 own, global const float4 *at, int from, int end, int found,
                    global int *to) {
  float limit = lists.reach * lists.reach;
  for (int k = from; k < end; k++) {
    float4 other = at[k];
    float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    if (lists.radii) {
      float far = lists.reach * (own.w + other.w);
      limit = far * far;
    }
    if (!(dx * dx + dy * dy + dz * dz <= limit) || k == i) continue;
    if (to) to[found] = k;
    found++;
  }
  return found;
}

/* The end of the rows of a tile from `from` on, at most `end`. */
static int tile_end(int from, int end) { return min(((from + COORDINATE_BIAS) / TILE + 1) * TILE - COORDINATE_BIAS, end); }

/* Row i: the three cells round its own in each of nine rows of cells, in canonical order: tile by tile. */
static int find_row(ListsShared lists, int i, global const float4 *at, global const int *start,
                    global const CellNumber *number, global int *to) {
  const float4 own = at[i];
  const CellBox box = lists.box;
  const int x = cell_of(lists, own.x), y = cell_of(lists, own.y), z = cell_of(lists, own.z);
  const int first = max(x - 1, box.low_x), last = min(x + 1, box.low_x + box.size_x - 1);
  int found = 0;
  for (int tile_z = z - 1, end_z; tile_z < z + 2; tile_z = end_z) {
    end_z = tile_end(tile_z, z + 2);
    if (cell_tile(tile_z) < box.low_tile_z || cell_tile(tile_z) >= box.low_tile_z + box.tiles_z) continue;
    for (int tile_y = y - 1, end_y; tile_y < y + 2; tile_y = end_y) {
      end_y = tile_end(tile_y, y + 2);
      if (cell_tile(tile_y) < box.low_tile_y || cell_tile(tile_y) >= box.low_tile_y + box.tiles_y) continue;
      for (int row_z = tile_z; row_z < end_z; row_z++)
        for (int row_y = tile_y; row_y < end_y; row_y++) {
          const int from = begin_of(lists, start, number, cell_number(box, first, row_y, row_z));
          const int end = begin_of(lists, start, number, cell_number(box, last, row_y, row_z) + 1);
          found = find_run(lists, i, own, at, from, end, found, to);
        }
    }
  }
  return found;
}

kernel void lists_count(ListsShared lists, global const float4 *at, global const int *start,
                        global const CellNumber *number, global int *counts) {
  int i = (int)get_global_id(0);
  if (i < lists.count) counts[i] = find_row(lists, i, at, start, number, 0);
}

kernel void lists_fill(ListsShared lists, global const float4 *at, global const int *start,
                       global const CellNumber *number, global const long *row, global int *index) {
  int i = (int)get_global_id(0);
  if (i < lists.count) find_row(lists, i, at, start, number, index + row[i]);
}
