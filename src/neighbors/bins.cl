/* Bins on a device: the points of the CPU's bins, in the same order. Units are whole numbers that doubles are rounded
 * to, once a point. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#include "neighbors/bins_shared.h"
#include "neighbors/scan.cl"

/* ---- dealing points to bins ---- */

static float bins_fold(BinsShared bins, float x) {
  float low = x > -bins.far ? x : -bins.far;
  return low < bins.far ? low : bins.far;
}

static int bins_unit(BinsShared bins, double scale, float x) {
  return (int)((double)bins_fold(bins, x) * scale + (double)BINS_BIAS) - BINS_BIAS;
}

static int bins_entry(BinsShared bins, int4 unit) {
  int x = unit.x >> BINS_BIN_BITS, y = unit.y >> BINS_ROW_BITS, z = unit.z >> BINS_ROW_BITS;
  if (bins.hashed) return (int)((bins_hash(y, z) + (uint)x) & bins.mask);
  return ((y - bins.low[1]) * bins.size[2] + z - bins.low[2]) * bins.size[0] + x - bins.low[0];
}

/* Units of a place and, where they differ, its radius. */
static int4 bins_place(BinsShared bins, double scale, float4 at) {
  int4 unit;
  unit.x = bins_unit(bins, scale, at.x);
  unit.y = bins_unit(bins, scale, at.y);
  unit.z = bins_unit(bins, scale, at.z);
  unit.w = bins.differ ? (short)((double)(at.w + 0.5f * bins.margin) * scale * (1 << BINS_LOW_BITS) + 5) : 0;
  return unit;
}

/* Whether the bins hold a point and all that is within reach of it, and what is within reach of that. */
static bool bins_hold(BinsShared bins, int4 unit) {
  const int at[3] = {unit.x, unit.y, unit.z};
  for (int axis = 0; axis < 3 && !bins.hashed; axis++) {
    const int bits = axis == 0 ? BINS_BIN_BITS : BINS_ROW_BITS;
    const int low = (at[axis] - 2 * BINS_REACH) >> bits, high = (at[axis] + 2 * BINS_REACH) >> bits;
    if (low < bins.low[axis] || high >= bins.low[axis] + bins.size[axis]) return false;
  }
  return true;
}

/* Units of each point; its bin, and how many came there before it; and the box round all points. */
kernel void bins_enter(BinsShared bins, double scale, global const float *x, global const float *y,
                       global const float *z, global const float *dx, global const float *dy, global const float *dz,
                       global const float *radius, global int4 *unit, global int *start, global int *rank,
                       global int *box) {
  local int here[BINS_BOX_WORDS];
  const int i = (int)get_global_id(0), item = (int)get_local_id(0);
  if (item < BINS_BOX_WORDS) here[item] = item < BINS_BOX_BAD ? -BINS_BIAS : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < bins.count) {
    const float4 at = (float4)(x[i] + dx[i], y[i] + dy[i], z[i] + dz[i], bins.differ ? radius[i] : 0);
    int4 own = bins_place(bins, scale, at);
    const int units[3] = {own.x, own.y, own.z};
    if (!(at.x * 0 + at.y * 0 + at.z * 0 <= 0)) atomic_or(&here[BINS_BOX_BAD], 1);
    for (int axis = 0; axis < 3; axis++) {
      atomic_max(&here[BINS_BOX_LOW + axis], -units[axis]);
      atomic_max(&here[BINS_BOX_HIGH + axis], units[axis]);
    }
    const bool held = bins_hold(bins, own);
    if (held) rank[i] = atomic_inc(&start[bins_entry(bins, own)]);
    else own.w = BINS_OUTSIDE;
    unit[i] = own;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < BINS_BOX_BAD) atomic_max(&box[item], here[item]);
  if (item == BINS_BOX_BAD && here[item]) atomic_or(&box[item], 1);
}

/* Before any point is entered: nothing in any bin, and a box round nothing. */
static void bins_clear(int k, int entries, global int *start, global int *box) {
  if (k <= entries) start[k] = 0;
  if (k < BINS_BOX_WORDS) box[k] = k < BINS_BOX_BAD ? -BINS_BIAS : 0;
}

/* What the bins keep of a point. */
static short4 bins_spot(int4 unit) {
  return (short4)((short)((uint)unit.x << BINS_LOW_BITS), (short)((uint)unit.y << BINS_LOW_BITS),
                  (short)((uint)unit.z << BINS_LOW_BITS), (short)unit.w);
}

/* Who comes first is chance. */
kernel void bins_deal(BinsShared bins, global const int4 *unit, global const int *start, global const int *rank,
                      global int *loose) {
  int i = (int)get_global_id(0);
  if (i < bins.count && unit[i].w != BINS_OUTSIDE) loose[start[bins_entry(bins, unit[i])] + rank[i]] = i;
}

/* A point as the search meets it: its place in 16 bits each and its radius, which point it is, and what goes with it. */
static int4 bins_point(int4 unit, int i, int tag) {
  short4 spot = bins_spot(unit);
  return (int4)((ushort)spot.x | (int)((uint)(ushort)spot.y << 16), (ushort)spot.z | (int)((uint)(ushort)spot.w << 16),
                i, tag);
}

/* In each bin by their own order. */
kernel void bins_order(BinsShared bins, global const int4 *restrict unit, global const int *restrict start,
                       global const int *restrict loose, global const int *restrict tag,
                       global int4 *restrict point) {
  int i = (int)get_global_id(0);
  if (i >= bins.count || unit[i].w == BINS_OUTSIDE) return;
  int4 own = unit[i];
  int entry = bins_entry(bins, own), to = start[entry];
  for (int k = start[entry], end = start[entry + 1]; k < end; k++) to += loose[k] < i;
  point[to] = bins_point(own, i, tag[i]);
}

/* ---- searching ---- */

/* Runs of points round a place. */
typedef struct BinRuns {
  int count;
  int first[BINS_RANGES], end[BINS_RANGES];
} BinRuns;

/* In a table of hashed bins: cut where they run over its end, and none twice where rows fall together. */
static BinRuns bins_hashed_runs(BinsShared bins, global const int *start, int x, int y, int z) {
  long first[BINS_RANGES], last[BINS_RANGES], size = (long)bins.mask + 1, done = 0;
  int count = 0;
  BinRuns runs;
  runs.count = 0;
  for (int row = 0; row < BINS_ROWS; row++) {
    long entry = (bins_hash(y + (row & 1), z + (row >> 1)) + (uint)x) & bins.mask;
    for (long left = BINS_RUN; left > 0;) {
      long run = entry + left > size ? size - entry : left;
      int k = count++;
      for (; k > 0 && first[k - 1] > entry; k--) {
        first[k] = first[k - 1];
        last[k] = last[k - 1];
      }
      first[k] = entry;
      last[k] = entry + run;
      left -= run;
      entry = 0;
    }
  }
  for (int k = 0; k < count; k++) {
    if (first[k] < done) first[k] = done;
    if (last[k] <= first[k]) continue;
    done = last[k];
    runs.first[runs.count] = start[first[k]];
    runs.end[runs.count++] = start[last[k]];
  }
  return runs;
}

static BinRuns bins_runs(BinsShared bins, global const int *start, int4 unit) {
  int x = (unit.x - BINS_REACH) >> BINS_BIN_BITS, y = (unit.y - BINS_REACH) >> BINS_ROW_BITS,
      z = (unit.z - BINS_REACH) >> BINS_ROW_BITS;
  if (bins.hashed) return bins_hashed_runs(bins, start, x, y, z);
  BinRuns runs;
  runs.count = BINS_ROWS;
  for (int row = 0; row < BINS_ROWS; row++) {
    int entry = ((y + (row & 1) - bins.low[1]) * bins.size[2] + z + (row >> 1) - bins.low[2]) * bins.size[0] + x -
                bins.low[0];
    runs.first[row] = start[entry];
    runs.end[row] = start[entry + BINS_RUN];
  }
  return runs;
}

/* Whether a place may be near any point at all; a point of the bins is. */
static bool bins_cover(BinsShared bins, int4 unit) {
  const long x = (long)((unit.x - BINS_REACH) >> BINS_BIN_BITS) - bins.low[0],
             y = (long)((unit.y - BINS_REACH) >> BINS_ROW_BITS) - bins.low[1],
             z = (long)((unit.z - BINS_REACH) >> BINS_ROW_BITS) - bins.low[2];
  return bins.hashed || (x >= 0 && y >= 0 && z >= 0 && x + BINS_RUN <= bins.size[0] && y + 2 <= bins.size[1] &&
                         z + 2 <= bins.size[2]);
}

static short bins_square(short a) { return (short)((int)a * a >> 16); }

/* Whether a point of the bins is within reach, or nearly so. */
static bool bins_near(BinsShared bins, short4 own, int4 point) {
  short far = (short)(bins_square((short)(own.x - (short)point.x)) + bins_square((short)(own.y - (short)(point.x >> 16))) +
                      bins_square((short)(own.z - (short)point.y)));
  short limit = bins.differ ? (short)(bins_square((short)(own.w + (short)(point.y >> 16))) + 1) : (short)bins.limit;
  return limit > far;
}
