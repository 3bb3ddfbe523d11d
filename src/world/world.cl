/* Loops over all particles on a device: as world_kernels.c and surroundings.c have them. */
#include "core/lane.h"
#include "neighbors/scan.cl"
#include "world/world_shared.h"

/* Who has left the place where he is known is known where he is about to be; who then may be near a solid that he is
 * not known to be near, or has left one, is asked about. */
kernel void world_leave(LeaveShared leave, global const float *x, global const float *y, global const float *z,
                        global const float *dx, global const float *dy, global const float *dz, global float *built_x,
                        global float *built_y, global float *built_z, global float *clear, global const float *radius,
                        global const uchar *near, global int *asked, global int *words) {
  local int moved_here, asked_here;
  int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) moved_here = asked_here = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < leave.count) {
    float mx = x[i] + dx[i] - built_x[i], my = y[i] + dy[i] - built_y[i], mz = z[i] + dz[i] - built_z[i];
    float square = mx * mx + my * my + mz * mz, room = clear[i];
    bool moved = !(square <= leave.allowed * leave.allowed), ask = false;
    if (moved) {
      float to_x = x[i] + dx[i], to_y = y[i] + dy[i], to_z = z[i] + dz[i];
      mx = to_x - built_x[i], my = to_y - built_y[i], mz = to_z - built_z[i];
      room -= real_sqrt(mx * mx + my * my + mz * mz);
      built_x[i] = to_x;
      built_y[i] = to_y;
      built_z[i] = to_z;
      atomic_inc(&moved_here);
    }
    if (moved || leave.closer > 0) {
      room -= leave.closer;
      bool far = room > leave.reach * radius[i] + leave.skin + leave.slack;
      ask = !far || (moved && near[i]);
      clear[i] = room;
    }
    asked[i] = ask;
    if (ask) atomic_inc(&asked_here);
  }
  if (i == leave.count) asked[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0 && moved_here) atomic_add(&words[WORLD_MOVED], moved_here);
  if (get_local_id(0) == 0 && asked_here) atomic_add(&words[WORLD_ASKED], asked_here);
}

/* They come one behind the other: who, and where they are known. */
kernel void world_list_asked(int count, global const int *before, global const float *built_x,
                             global const float *built_y, global const float *built_z, global int *list,
                             global float4 *places) {
  int i = (int)get_global_id(0);
  if (i >= count || before[i + 1] == before[i]) return;
  list[before[i]] = i;
  places[before[i]] = (float4)(built_x[i], built_y[i], built_z[i], 0);
}

kernel void world_answer(int count, global const AnswerShared *answers, global float *clear, global uchar *near) {
  int k = (int)get_global_id(0);
  if (k >= count) return;
  clear[answers[k].index] = answers[k].clear;
  near[answers[k].index] = (uchar)answers[k].near;
}

kernel void world_count_near(int count, global const uchar *near, global int *before) {
  int i = (int)get_global_id(0);
  if (i <= count) before[i] = i < count && near[i] != 0;
}

/* Who is near a solid, where he is and where he would go. */
kernel void world_list_near(int count, global const int *before, global const float *x, global const float *y,
                            global const float *z, global const float *low_x, global const float *low_y,
                            global const float *low_z, global const float *dx, global const float *dy,
                            global const float *dz, global int *list, global float *places) {
  int i = (int)get_global_id(0);
  if (i >= count || before[i + 1] == before[i]) return;
  global float *to = places + NEAR_FLOATS * before[i];
  list[before[i]] = i;
  to[0] = x[i], to[1] = y[i], to[2] = z[i];
  to[3] = low_x[i], to[4] = low_y[i], to[5] = low_z[i];
  to[6] = dx[i], to[7] = dy[i], to[8] = dz[i];
}

/* x + low += d without losing what a float of x's size cannot hold (Knuth's two-sum). */
static float move(global float *x, global float *low, global const float *d, int i) {
  float before = x[i], small = low[i] + d[i], sum = before + small, back = sum - before;
  low[i] = (before - (sum - back)) + (small - back);
  x[i] = sum;
  return sum;
}

kernel void world_move(int count, global float *x, global float *y, global float *z, global float *low_x,
                       global float *low_y, global float *low_z, global const float *dx, global const float *dy,
                       global const float *dz, global const float *vx, global const float *vy,
                       global const float *vz, global int *words) {
  local int fastest, bad;
  int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) fastest = bad = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < count) {
    float px = move(x, low_x, dx, i), py = move(y, low_y, dy, i), pz = move(z, low_z, dz, i);
    LaneVec3 v = vec_make(vx[i], vy[i], vz[i]);
    float speed = vec_dot(v, v), odd = (px - px) + (py - py) + (pz - pz) + (speed - speed);
    if (!(odd == 0)) atomic_or(&bad, 1);
    else atomic_max(&fastest, as_int(speed)); /* not below zero: its bits are in order */
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_max(&words[WORLD_FASTEST], fastest);
  if (get_local_id(0) == 0 && bad) atomic_or(&words[WORLD_BAD], 1);
}
