/* Contacts with solids: kernels of the position-based family. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#include "methods/common/position_slots.cl"

/* How many contacts with solids each grain has. */
kernel void position_count_boundary(PositionShared step, global const BoundaryShared *boundary, global int *walls) {
  int g = (int)get_global_id(0);
  if (g < step.boundary_count) atomic_max(&walls[boundary[g].grain], boundary[g].rank + 1);
}

/* The same of a contact with a solid. A grain that goes over an edge of a mesh touches another face than before: where
 * it touches one and has touched one, that is the contact. */
static uint boundary_remembered_at(PositionShared step, BoundaryShared contact, uint first, uint held,
                                   global const uint *key) {
  uint next = first, found = 0, at = remembered_at(step, first, held, key, contact.key, &next);
  if (at > 0 || contact.any_key == 0) return at;
  for (uint k = 0; k < held; k++) {
    uint place = first + k * POSITION_ABREAST;
    if (key[place] > contact.any_key || contact.any_key - key[place] >= (uint)step.faces) continue;
    if (found > 0) return 0;
    found = place;
  }
  return found;
}

/* Contacts with solids: before those of pairs, which write where a grain's row is. */
kernel void position_fill_boundary(PositionShared step, global const BoundaryShared *boundary, global const int *rows,
                                   global const int *begin, global const uint *row, global const uint *held,
                                   global const uint *last_key, global const float4 *last_kept,
                                   global const uchar *material, global int *partner, global float4 *kept,
                                   global float4 *pose, global int *kind, global int *slots, global float4 *sums) {
  int g = (int)get_global_id(0);
  if (g >= step.boundary_count) return;
  BoundaryShared contact = boundary[g];
  int i = contact.grain;
  int slot = first_slot(rows, begin, i, POSITION_BOUNDARY_BATCH) + contact.rank * POSITION_ABREAST;
  float4 last = (float4)(0);
  if (step.memory) {
    last = last_kept[boundary_remembered_at(step, contact, row[i], held_by(step, row, held, i), last_key)];
    last *= last.x != 0 ? step.history_scale : 0;
  }
  LaneVec3 normal = vec_make(contact.normal[0], contact.normal[1], contact.normal[2]);
  LaneVec3 friction = vec_tangential(vec_make(last.y, last.z, last.w), normal);
  partner[slot] = step.boundary_row + g;
  kept[slot] = (float4)(last.x, friction.x, friction.y, friction.z);
  pose[slot] = row_of(normal, contact.gap);
  if (step.kinds) kind[slot] = 2 * ((step.materials + contact.solid) * step.materials + material[i]);
  slots[g] = slot;
  sums[g] = (float4)(0);
}

/* Rows of solids have keys of their own to be remembered by. */
kernel void position_keep_keys(PositionShared step, global const BoundaryShared *boundary, global const int *slots,
                               global int *partner) {
  int g = (int)get_global_id(0);
  if (g < step.boundary_count) partner[slots[g]] = (int)boundary[g].key;
}

/* ---- solids that move ---- */

typedef struct Double3 {
  double x, y, z;
} Double3;

static Double3 double3_at(global const double *from) {
  Double3 v = {from[0], from[1], from[2]};
  return v;
}
static Double3 double3_of(float4 row) {
  Double3 v = {row.x, row.y, row.z};
  return v;
}
static Double3 double3_add(Double3 a, Double3 b) {
  Double3 v = {a.x + b.x, a.y + b.y, a.z + b.z};
  return v;
}
static Double3 double3_sub(Double3 a, Double3 b) {
  Double3 v = {a.x - b.x, a.y - b.y, a.z - b.z};
  return v;
}
static float4 row_of_doubles(Double3 v, float fourth) {
  return (float4)((float)v.x, (float)v.y, (float)v.z, fourth);
}

/* by + (turn arm - arm), as the CPU has it (position_bodies.c). */
static Double3 carried(Double3 by, global const double *turn, Double3 arm) {
  Double3 to = {turn[0] * arm.x + turn[1] * arm.y + turn[2] * arm.z, turn[3] * arm.x + turn[4] * arm.y + turn[5] * arm.z,
                turn[6] * arm.x + turn[7] * arm.y + turn[8] * arm.z};
  return double3_add(by, double3_sub(to, arm));
}

/* Rows of contacts with solids as a substep's batch reads them: where the solid brings the point in the substep, and
 * where it brought it in the one before; and what its surface moves by besides. */
kernel void position_carry(PositionShared step, int first, int substep_row, global const BoundaryShared *boundary,
                           global const double *motions, global const float4 *total, global float4 *lever,
                           global float4 *wall_now, global float4 *wall_last, global float4 *wall_rim) {
  int g = (int)get_global_id(0);
  if (g >= step.boundary_count) return;
  BoundaryShared contact = boundary[g];
  global const double *motion = motions + RIDE_DOUBLES * (substep_row + contact.solid);
  const float4 grain = total[contact.grain];
  Double3 spin = double3_at(motion + RIDE_SPIN);
  const double radius = grain.w;
  Double3 rim = {spin.x * -radius, spin.y * -radius, spin.z * -radius};
  if (first) {
    lever[g] = (float4)(contact.arm[0], contact.arm[1], contact.arm[2], 0);
    wall_now[g] = (float4)(0);
    wall_last[g] = (float4)(0, 0, 0, POSITION_FAR);
    wall_rim[g] = row_of_doubles(rim, 1);
  }
  if (motion[RIDE_STILL] != 0) return;
  Double3 arm = {contact.arm[0], contact.arm[1], contact.arm[2]};
  Double3 now = double3_add(arm, double3_sub(double3_of(grain), double3_at(motion + RIDE_TOTAL)));
  wall_last[g] = row_of_doubles(
      carried(double3_at(motion + RIDE_LAST_SHIFT), motion + RIDE_LAST_TURN, double3_of(lever[g])), POSITION_FAR);
  wall_now[g] = row_of_doubles(carried(double3_at(motion + RIDE_SHIFT), motion + RIDE_TURN, now), 0);
  wall_rim[g] = row_of_doubles(rim, 1);
  lever[g] = row_of_doubles(now, 0);
}
