/* Births, deaths and throws on a device: as births.c and events.c have them. Lists come in an order that is chance; the
 * host puts them in that of the storage. */
#include "state/solids.cl"
#include "world/world_shared.h"

/* Which particles are in a sink. */
kernel void world_drain(GatherShared gather, int sinks, global const float *x, global const float *y,
                        global const float *z, global const float *low_x, global const float *low_y,
                        global const float *low_z, global const uint *id, global const SolidThere *solid, global int *words,
                        global DrainedThere *drained) {
  const int i = (int)get_global_id(0);
  if (i >= gather.count) return;
  const Vec3 at = vec3(gather.origin[0] + (double)x[i] + (double)low_x[i],
                       gather.origin[1] + (double)y[i] + (double)low_y[i],
                       gather.origin[2] + (double)z[i] + (double)low_z[i]);
  bool in = false;
  for (int k = 0; k < sinks && !in; k++) {
    global const SolidThere *sink = solid + k;
    const Vec3 p = solid_local(sink, at);
    if (sink->form != SOLID_PLANE && !sink->inside &&
        !(p.x >= sink->bounds_low.x && p.x <= sink->bounds_high.x && p.y >= sink->bounds_low.y &&
          p.y <= sink->bounds_high.y && p.z >= sink->bounds_low.z && p.z <= sink->bounds_high.z))
      continue;
    const double distance = plain_point(sink, p).distance;
    in = (sink->inside ? -distance : distance) < 0;
  }
  if (!in) return;
  const int k = atomic_inc(&words[gather.counter]);
  if (k >= gather.room) return;
  drained[k].index = i;
  drained[k].id = id[i];
}

/* Which particles are near where an emitter pours. */
kernel void world_crowd(GatherShared gather, int emitter, float reach, float center_x, float center_y, float center_z,
                        global const float *x, global const float *y, global const float *z,
                        global const float *radius, global int *words, global CrowdThere *crowd) {
  const int i = (int)get_global_id(0);
  if (i >= gather.count) return;
  const float dx = x[i] - center_x, dy = y[i] - center_y, dz = z[i] - center_z;
  if (!(dx * dx + dy * dy + dz * dz < reach)) return;
  const int k = atomic_inc(&words[gather.counter]);
  if (k >= gather.room) return;
  crowd[k].x = x[i], crowd[k].y = y[i], crowd[k].z = z[i];
  crowd[k].radius = radius[i];
  crowd[k].emitter = emitter;
}

/* Where those are who die now, by their ids in ascending order. */
kernel void world_find_dead(GatherShared gather, int dead, global const uint *dead_id, global const float *x,
                            global const float *y, global const float *z, global const float *mass,
                            global const uint *id, global int *words, global DeadThere *found) {
  const int i = (int)get_global_id(0);
  if (i >= gather.count) return;
  const uint own = id[i];
  int low = 0, high = dead;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (dead_id[middle] < own) low = middle + 1;
    else high = middle;
  }
  if (low == dead || dead_id[low] != own) return;
  const int k = atomic_inc(&words[gather.counter]);
  if (k >= gather.room) return;
  found[k].index = i;
  found[k].id = own;
  found[k].x = x[i], found[k].y = y[i], found[k].z = z[i];
  found[k].mass = mass[i];
}

/* Particles of the end come into the places of the dead: fields of one word, some together, and others. */
kernel void world_close_gaps(int count, int fields, global const int2 *gap, global int *field_0, global int *field_1,
                             global int *field_2, global int *field_3) {
  const int k = (int)get_global_id(0);
  if (k >= count) return;
  const int to = gap[k].x, from = gap[k].y;
  field_0[to] = field_0[from];
  if (fields > 1) field_1[to] = field_1[from];
  if (fields > 2) field_2[to] = field_2[from];
  if (fields > 3) field_3[to] = field_3[from];
}

kernel void world_close_gaps_bytes(int count, int bytes, global const int2 *gap, global uchar *field) {
  const int k = (int)get_global_id(0);
  if (k < count * bytes) field[gap[k / bytes].x * bytes + k % bytes] = field[gap[k / bytes].y * bytes + k % bytes];
}

/* The born, behind the others: fields of one word, which stand one behind the other in `born`. */
kernel void world_place_born(int count, int first, int fields, int begin, global const int *born, global int *field_0,
                             global int *field_1, global int *field_2, global int *field_3) {
  const int k = (int)get_global_id(0);
  if (k >= count) return;
  born += begin + k;
  field_0[first + k] = born[0];
  if (fields > 1) field_1[first + k] = born[count];
  if (fields > 2) field_2[first + k] = born[2 * count];
  if (fields > 3) field_3[first + k] = born[3 * count];
}

/* A throw, away from its centre; the square of the largest speed of those thrown. */
kernel void world_throw(GatherShared gather, double center_x, double center_y, double center_z, double radius,
                        double speed, global const float *x, global const float *y, global const float *z,
                        global const float *low_x, global const float *low_y, global const float *low_z,
                        global float *vx, global float *vy, global float *vz, global int *words) {
  const int i = (int)get_global_id(0);
  if (i >= gather.count) return;
  const Vec3 at = vec3(gather.origin[0] + (double)x[i] + (double)low_x[i],
                       gather.origin[1] + (double)y[i] + (double)low_y[i],
                       gather.origin[2] + (double)z[i] + (double)low_z[i]);
  const Vec3 away = vec3_sub(at, vec3(center_x, center_y, center_z));
  const double distance = vec3_length(away);
  if (distance > radius) return;
  const Vec3 kick = distance > 0 ? vec3_scale(away, speed / distance) : vec3(0, 0, speed);
  vx[i] += (float)kick.x;
  vy[i] += (float)kick.y;
  vz[i] += (float)kick.z;
  const float square = vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i];
  if (square > 0) atomic_max(&words[gather.counter], as_int(square));
}
