/* Coarse grains of a device as the fine ones see them in a frame, in the order of their cells and ids, as coarse.c and
 * coarse_grid.c have them; and the box round them. */
#include "neighbors/scan.cl"
#include "upsample/box.cl"
#include "upsample/coarse_cell_law.h"

#define COARSE_FIELDS                                                                                                  \
  global const float *x, global const float *y, global const float *z, global const float *vx, global const float *vy, \
      global const float *vz, global float *seen_x, global float *seen_y, global float *seen_z, global uchar *known
#define LOOK(i) look_at(shared, i, x, y, z, vx, vy, vz, seen_x, seen_y, seen_z, known)

static CoarseLook look_at(CoarseShared shared, int i, COARSE_FIELDS) {
  const LaneVec3 now = vec_make(x[i], y[i], z[i]);
  if (shared.paper || !known[i]) {
    const LaneVec3 velocity = vec_make(vx[i], vy[i], vz[i]);
    const CoarseLook end = {now, velocity, now};
    return shared.paper ? end : coarse_look(now, coarse_born(now, velocity, shared.rate), shared.rate);
  }
  return coarse_look(now, vec_make(seen_x[i], seen_y[i], seen_z[i]), shared.rate);
}

/* The box round where they count. */
kernel void coarse_box(CoarseShared shared, COARSE_FIELDS, global uint *box, int word) {
  local uint here[COARSE_BOX_WORDS];
  const int i = (int)get_global_id(0);
  const bool active = i < shared.table.count;
  LaneVec3 at = vec_zero();
  if (active) at = LOOK(i).at;
  widen_box(here, box + word, at, active);
}

/* The cell of each and its number in the table, and how many came there before it. */
kernel void coarse_enter(CoarseShared shared, double inverse, COARSE_FIELDS, global int4 *cell, global int *start,
                         global int *rank) {
  const int i = (int)get_global_id(0);
  if (i >= shared.table.count) return;
  const LaneVec3 at = LOOK(i).at;
  int4 own = (int4)(coarse_cell(at.x, inverse), coarse_cell(at.y, inverse), coarse_cell(at.z, inverse), 0);
  own.w = coarse_entry(shared.table, own.x, own.y, own.z);
  cell[i] = own;
  rank[i] = atomic_inc(&start[own.w]);
}

/* Who comes first is chance. */
kernel void coarse_deal(int count, global const int4 *cell, global const int *start, global const int *rank,
                        global int *loose) {
  const int i = (int)get_global_id(0);
  if (i < count) loose[start[cell[i].w] + rank[i]] = i;
}

/* By cell where several fall into one of the table, then by id. */
static bool comes_before(int4 a, uint id_a, int4 b, uint id_b) {
  if (a.z != b.z) return a.z < b.z;
  if (a.y != b.y) return a.y < b.y;
  if (a.x != b.x) return a.x < b.x;
  return id_a < id_b;
}

/* Rows in their order. From here on they are seen where they are now; the box is that of the frame to come. */
kernel void coarse_rows(CoarseShared shared, COARSE_FIELDS, global const uint *id, global const int4 *cell,
                        global const int *start, global const int *loose, global float4 *rows, global uint *box,
                        int word) {
  local uint here[COARSE_BOX_WORDS];
  const int i = (int)get_global_id(0);
  const bool active = i < shared.table.count;
  CoarseLook look;
  look.seen = vec_zero();
  if (active) {
    look = LOOK(i);
    const int4 own = cell[i];
    int to = start[own.w];
    for (int k = start[own.w], end = start[own.w + 1]; k < end; k++) {
      const int other = loose[k];
      to += comes_before(cell[other], id[other], own, id[i]);
    }
    const LaneVec3 v = look.velocity;
    rows[2 * to] = (float4)(look.at.x, look.at.y, look.at.z, v.x);
    rows[2 * to + 1] = (float4)(v.y, v.z, v.x * v.x + v.y * v.y + v.z * v.z, 0);
    if (!shared.paper) {
      seen_x[i] = look.seen.x, seen_y[i] = look.seen.y, seen_z[i] = look.seen.z;
      known[i] = 1;
    }
  }
  widen_box(here, box + word, look.seen, active);
}
