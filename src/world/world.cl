/* Loops over all particles on a device: as world_kernels.c and surroundings.c have them. */
#include "core/lane.h"
#include "state/solids.cl"
#include "world/world_shared.h"

/* Whether a point in a solid's frame may be nearer to it than `reach`, by the box round its surface. */
static bool box_is_near(global const SolidThere *solid, Vec3 p, double reach) {
  return solid->inside || solid->form == SOLID_PLANE ||
         (p.x > solid->bounds_low.x - reach && p.x < solid->bounds_high.x + reach &&
          p.y > solid->bounds_low.y - reach && p.y < solid->bounds_high.y + reach &&
          p.z > solid->bounds_low.z - reach && p.z < solid->bounds_high.z + reach);
}

/* How far away the box round a solid is at least. */
static float box_distance(global const SolidThere *solid, Vec3 p) {
  if (solid->inside) return 0;
  const double x = fmax(solid->bounds_low.x - p.x, p.x - solid->bounds_high.x),
               y = fmax(solid->bounds_low.y - p.y, p.y - solid->bounds_high.y),
               z = fmax(solid->bounds_low.z - p.z, p.z - solid->bounds_high.z);
  return (float)fmax(fmax(x, y), fmax(z, 0.0));
}

/* Which solids are near a particle goes into its words. Returns how far away the others are at least: the CPU, which
 * asks about many at a time, may say less, and changes nothing by it. */
static float look_near(LeaveShared leave, SolidsThere there, float x, float y, float z, float reach,
                       global uint *near) {
  const Vec3 at = vec3(leave.origin[0] + (double)x, leave.origin[1] + (double)y, leave.origin[2] + (double)z);
  const float beyond = reach + leave.beyond;
  float room = beyond;
  for (int word = 0; word < leave.words; word++) {
    uint bits = 0;
    for (int k = 32 * word; k < min(leave.solids, 32 * word + 32); k++) {
      global const SolidThere *solid = there.solid + k;
      if (solid->sampled) continue;
      const Vec3 p = solid_local(solid, at);
      if (!box_is_near(solid, p, (double)beyond)) continue;
      const float distance = solid->form == SOLID_ASKED ? box_distance(solid, p)
                                                        : (float)solid_point(there, solid, p, (double)beyond).distance;
      if (distance < reach) bits |= 1u << (k % 32);
      else room = fmin(room, solid->form == SOLID_MESH ? fmin(distance, solid->band) : distance);
    }
    near[word] = bits;
  }
  return room;
}

static bool is_near(LeaveShared leave, global const uint *near) {
  for (int word = 0; word < leave.words; word++)
    if (near[word] != 0) return true;
  return false;
}

/* Who has left the place where he is known is known where he is about to be; who then may be near a solid that he is
 * not known to be near, or has left one, is asked about. */
kernel void world_leave(LeaveShared leave, global const float *x, global const float *y, global const float *z,
                        global const float *dx, global const float *dy, global const float *dz, global float *built_x,
                        global float *built_y, global float *built_z, global float *clear, global const float *radius,
                        global uint *near, SOLIDS_THERE, global int *words) {
  local int moved_here;
  int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) moved_here = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < leave.count) {
    float mx = x[i] + dx[i] - built_x[i], my = y[i] + dy[i] - built_y[i], mz = z[i] + dz[i] - built_z[i];
    float square = mx * mx + my * my + mz * mz, room = clear[i];
    bool moved = !(square <= leave.allowed * leave.allowed);
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
      float reach = leave.reach * radius[i] + leave.skin;
      global uint *own = near + i * leave.words;
      room -= leave.closer;
      bool far = room > reach + leave.slack;
      if (!far || (moved && is_near(leave, own)))
        room = look_near(leave, solids_there(solid, numbers, values, triangle), built_x[i], built_y[i], built_z[i],
                         reach, own);
      clear[i] = room;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0 && moved_here) atomic_add(&words[leave.counters + WORD_GONE], moved_here);
}

/* x + low += d without losing what a float of x's size cannot hold (Knuth's two-sum). */
static float move(global float *x, global float *low, global const float *d, int i) {
  float before = x[i], small = low[i] + d[i], sum = before + small, back = sum - before;
  low[i] = (before - (sum - back)) + (small - back);
  x[i] = sum;
  return sum;
}

kernel void world_move(MoveShared move_by, global float *x, global float *y, global float *z, global float *low_x,
                       global float *low_y, global float *low_z, global const float *dx, global const float *dy,
                       global const float *dz, global const float *vx, global const float *vy, global const float *vz,
                       global int *words) {
  local int fastest, bad;
  int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) fastest = bad = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < move_by.word_count) words[move_by.next + i] = 0;
  if (i < move_by.count) {
    float px = move(x, low_x, dx, i), py = move(y, low_y, dy, i), pz = move(z, low_z, dz, i);
    LaneVec3 v = vec_make(vx[i], vy[i], vz[i]);
    float speed = vec_dot(v, v), odd = (px - px) + (py - py) + (pz - pz) + (speed - speed);
    if (!(odd == 0)) atomic_or(&bad, 1);
    else atomic_max(&fastest, as_int(speed)); /* not below zero: its bits are in order */
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_max(&words[move_by.words + WORD_FASTEST], fastest);
  if (get_local_id(0) == 0 && bad) atomic_or(&words[move_by.words + WORD_BAD], 1);
}

/* How far particles have gone since their lists were made; NaN counts as far. */
kernel void world_farthest(int count, int begin, global const float *x, global const float *y, global const float *z,
                           global const float *dx, global const float *dy, global const float *dz,
                           global const float *built_x, global const float *built_y, global const float *built_z,
                           global int *words) {
  local int farthest;
  int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) farthest = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < count) {
    float mx = x[i] + dx[i] - built_x[i], my = y[i] + dy[i] - built_y[i], mz = z[i] + dz[i] - built_z[i];
    float square = mx * mx + my * my + mz * mz;
    atomic_max(&farthest, as_int(square == square ? square : INFINITY));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_max(&words[begin + WORD_FARTHEST], farthest);
}

/* Elements of so many words, and of bytes, change places; fields of one word together. */
kernel void world_permute_fields(int count, int fields, global const int *order, global const int *from_0,
                                 global const int *from_1, global const int *from_2, global const int *from_3,
                                 global int *to_0, global int *to_1, global int *to_2, global int *to_3) {
  int i = (int)get_global_id(0);
  if (i >= count) return;
  int from = order[i];
  to_0[i] = from_0[from];
  if (fields > 1) to_1[i] = from_1[from];
  if (fields > 2) to_2[i] = from_2[from];
  if (fields > 3) to_3[i] = from_3[from];
}

kernel void world_permute_words(int count, int words, global const int *order, global const int *from, global int *to) {
  int i = (int)get_global_id(0);
  if (i < count * words) to[i] = from[order[i / words] * words + i % words];
}

kernel void world_permute_bytes(int count, int bytes, global const int *order, global const uchar *from,
                                global uchar *to) {
  int i = (int)get_global_id(0);
  if (i < count * bytes) to[i] = from[order[i / bytes] * bytes + i % bytes];
}

/* Deepest overlap of two listed particles, as world_overlap of the host: of each group. */
kernel void world_overlap(int count, global const float *x, global const float *y, global const float *z,
                          global const float *radius, global const long *start, global const int *index,
                          global double *deepest) {
  local double own[WORLD_OVERLAP_GROUP];
  int i = (int)get_global_id(0), item = (int)get_local_id(0);
  double largest = 0;
  for (long k = i < count ? start[i + 1] - 1 : 0; i < count && k >= start[i] && index[k] > i; k--) {
    int j = index[k];
    float ax = x[i] - x[j], ay = y[i] - y[j], az = z[i] - z[j], radii = radius[i] + radius[j];
    float square = ax * ax + ay * ay + az * az;
    if (square >= radii * radii) continue;
    double share = 2 * (double)(radii - real_sqrt(square)) / (double)radii;
    if (share > largest) largest = share;
  }
  own[item] = largest;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item > 0 || i >= count) return;
  for (int k = 1; k < WORLD_OVERLAP_GROUP; k++) largest = largest > own[k] ? largest : own[k];
  deepest[i / WORLD_OVERLAP_GROUP] = largest;
}

#include "world/births.cl"
