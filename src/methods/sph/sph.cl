/* sph on a device: a work item a parcel, the laws of the CPU, sums in its order.
 *
 * What the CPU adds for lanes without a parcel and for slots without a neighbour is zero, and is left out here. */
#include "core/rng.h"
#include "methods/sph/air_law.h"
#include "methods/sph/force_law.h"
#include "methods/sph/pressure_law.h"
#include "methods/sph/sph_shared.h"
#include "methods/sph/stress_law.h"
#include "methods/sph/wall_law.h"

static LaneVec3 vec_of(float4 row) { return vec_make(row.x, row.y, row.z); }
static float4 row_of(LaneVec3 v, float fourth) { return (float4)(v.x, v.y, v.z, fourth); }

/* ---- places ---- */

/* Rows of places with the inverse mass behind, and the largest speed. */
kernel void sph_places(int count, global const float *x, global const float *y, global const float *z,
                       global const float *mass, global const float *vx, global const float *vy, global const float *vz,
                       global float4 *place, global int *words) {
  local int fastest;
  int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) fastest = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < count) {
    place[i] = (float4)(x[i], y[i], z[i], 1 / mass[i]);
    float square = vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i];
    if (square > 0) atomic_max(&fastest, as_int(square)); /* not below zero: its bits are in order */
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_max(&words[SPH_FASTEST], fastest);
}

/* What the host needs to know of the parcels that it finds walls for. */
kernel void sph_take(int count, global const int *list, global const float *x, global const float *y,
                     global const float *z, global const float *low_x, global const float *low_y,
                     global const float *low_z, global const float *vx, global const float *vy, global const float *vz,
                     global int *words) {
  int k = (int)get_global_id(0);
  if (k >= count) return;
  int i = list[k];
  global float *to = (global float *)(words + SPH_WORDS) + SPH_PLACE_FLOATS * k;
  to[0] = x[i], to[1] = y[i], to[2] = z[i];
  to[3] = low_x[i], to[4] = low_y[i], to[5] = low_z[i];
  to[6] = vx[i], to[7] = vy[i], to[8] = vz[i];
}

/* Which parcels have a row among those that may touch walls: its number from 1 on. */
kernel void sph_number_rows(int rows, global const int *who, global int *row) {
  int r = (int)get_global_id(0);
  if (r < rows) row[who[r]] = r + 1;
}

/* ---- pairs ---- */

/* Slots of SPH_ABREAST parcels: as many for each as the longest list among them needs. */
kernel void sph_room(int count, global const long *start, global int *room) {
  int slice = (int)get_global_id(0), begin = slice * SPH_ABREAST, end = min(begin + SPH_ABREAST, count);
  long longest = 0;
  if (begin >= count) return;
  for (int i = begin; i < end; i++) longest = max(longest, start[i + 1] - start[i]);
  room[slice] = (int)((longest + SPH_FOUR - 1) / SPH_FOUR * SPH_FOUR * SPH_ABREAST);
}

/* Lists of some parcels: how long they are, and one behind the other. */
kernel void sph_row_lengths(int count, global const int *who, global const long *start, global int *length) {
  int k = (int)get_global_id(0);
  if (k < count) length[k] = (int)(start[who[k] + 1] - start[who[k]]);
}

kernel void sph_row_entries(int count, global const int *who, global const long *start, global const int *index,
                            global const long *to, global int *entries) {
  int k = (int)get_global_id(0);
  if (k >= count) return;
  for (long from = start[who[k]], n = 0; from + n < start[who[k] + 1]; n++) entries[to[k] + n] = index[from + n];
}

/* Neighbours of a parcel: `count` slots, a multiple of SPH_FOUR (the last ones are the parcel itself, without a
 * gradient), the next one SPH_ABREAST behind the other. A slot is the neighbour with x and y of the gradient, and z in
 * an array of its own. */
typedef struct Slots {
  global const uint2 *head;
  global const short *tail;
  long at;
  int count;
} Slots;

static long first_slot(global const long *base, int i) { return base[i / SPH_ABREAST] + i % SPH_ABREAST; }

#define SLOTS global const long *base, global const int *found, global const uint2 *head, global const short *tail
#define SLOTS_OF(i)                                                                                                    \
  { head, tail, first_slot(base, i), found[i] }

/* A neighbour and its gradient, in steps. */
typedef struct Slot {
  int other;
  LaneVec3 gradient;
} Slot;

static Slot slot_at(Slots slots, int k) {
  long at = slots.at + (long)k * SPH_ABREAST;
  uint2 head = slots.head[at];
  Slot slot = {(int)head.x, {(float)(short)(head.y & 0xffff), (float)(short)(head.y >> 16), (float)slots.tail[at]}};
  return slot;
}

/* Four slots that follow each other: what they name is then asked for at once. */
typedef struct Four {
  Slot slot[SPH_FOUR];
} Four;

static Four four_at(Slots slots, int k) {
  Four four;
  for (int u = 0; u < SPH_FOUR; u++) four.slot[u] = slot_at(slots, k + u);
  return four;
}

static SphGradient coincident(uint own, uint other) {
  ulong bits = rng_bits(min(own, other), max(own, other), 0, RNG_COINCIDENT), next = rng_mix(bits);
  return density_coincident(rng_unitf(bits), rng_unitf(next), rng_unitf(rng_mix(next)), -(own < other));
}

/* As wide_sum has it. */
static float sum_of_eight(const float *v) {
  float a = v[0] + v[4], b = v[1] + v[5], c = v[2] + v[6], d = v[3] + v[7];
  return (a + c) + (b + d);
}

/* Eight neighbours at a time, each of them into a sum of its own, as the CPU's lanes have it. `sum` has the sum of the
 * gradients, and of their squares over the neighbours' masses. */
kernel void sph_pairs(SphShared step, int shielded, global const float4 *place, global const uint *id,
                      global const long *start, global const int *index, global const long *base, global const int *row,
                      global const long *hidden_start, global const uchar *hidden, global uint2 *head,
                      global short *tail, global int *found, global float *density, global float4 *sum) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  float phi[SPH_LANES], x[SPH_LANES], y[SPH_LANES], z[SPH_LANES], square[SPH_LANES];
  for (int c = 0; c < SPH_LANES; c++) phi[c] = x[c] = y[c] = z[c] = square[c] = 0;
  const float4 own = place[i];
  const float inverse = 1 / step.spacing;
  long behind = shielded && row[i] > 0 ? hidden_start[row[i] - 1] : -1, at = first_slot(base, i);
  int used = 0;
  for (long k = start[i], end = start[i + 1]; k < end; k += SPH_LANES) {
    uint bits = behind < 0 ? 0 : hidden[behind++];
    for (int c = 0; c < SPH_LANES; c++) {
      if (k + c >= end || (bits >> c & 1)) continue;
      int j = index[k + c];
      float4 other = place[j];
      SphPairTerm pair = density_pair(vec_sub(vec_of(own), vec_of(other)), inverse);
      if (!pair.within) continue;
      SphGradient g = pair.gradient;
      if (pair.coincident) g = coincident(id[i], id[j]);
      head[at] = (uint2)((uint)j, (uint)(ushort)(short)g.x | (uint)(ushort)(short)g.y << 16);
      tail[at] = (short)g.z;
      at += SPH_ABREAST;
      used++;
      LaneVec3 gradient = vec_make(real_from_int(g.x), real_from_int(g.y), real_from_int(g.z));
      phi[c] += pair.density;
      x[c] += gradient.x;
      y[c] += gradient.y;
      z[c] += gradient.z;
      square[c] += vec_dot(gradient, gradient) * other.w;
    }
  }
  for (; used % SPH_FOUR != 0; used++, at += SPH_ABREAST) {
    head[at] = (uint2)((uint)i, 0);
    tail[at] = 0;
  }
  found[i] = used;
  density[i] = density_total(sum_of_eight(phi));
  sum[i] =
      (float4)(step.gradient_step * sum_of_eight(x), step.gradient_step * sum_of_eight(y),
               step.gradient_step * sum_of_eight(z), step.gradient_step * step.gradient_step * sum_of_eight(square));
}

/* ---- walls ---- */

/* Contacts of a parcel: from `k` to `end`. */
typedef struct Walls {
  int k, end;
  float twice;
} Walls;

static Walls walls_of(SphShared step, global const float4 *walls, global const int *row, int i) {
  Walls own = {0, 0, 0};
  if (step.rows == 0 || row[i] == 0) return own;
  float4 span = walls[SPH_WALL_KINDS * step.walls + row[i] - 1];
  own.k = as_int(span.x);
  own.end = as_int(span.y);
  own.twice = span.z;
  return own;
}

static float4 wall(SphShared step, global const float4 *walls, int kind, int k) { return walls[kind * step.walls + k]; }

/* What walls add to the density, and the diagonals of the iteration: gain and, for now nothing, source of the pressure,
 * gain of the shear, mobility. */
kernel void sph_weigh(SphShared step, global const float4 *place, global const float4 *sum, global const float4 *walls,
                      global const int *row, global float *density, global float4 *gains) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  float inverse = place[i].w, solids = 0, phi = density[i];
  LaneVec3 slopes = vec_zero();
  const Walls own = walls_of(step, walls, row, i);
  for (int k = own.k; k < own.end; k++) {
    float4 normal = wall(step, walls, SPH_WALL_NORMAL, k), share = wall(step, walls, SPH_WALL_SHARE, k);
    phi += share.x;
    slopes = vec_sub(slopes, vec_mul(vec_of(normal), normal.w));
    solids += normal.w * normal.w * share.w;
  }
  density[i] = phi - own.twice;
  LaneVec3 all = vec_add(vec_of(sum[i]), slopes);
  float shell = vec_dot(all, all);
  float diagonal = pressure_diagonal(shell, sum[i].w, solids, inverse, step.lattice);
  gains[i] = (float4)(pressure_gain(step.dt, step.volume, diagonal), 0,
                      stress_gain(step.dt, step.volume, inverse, step.lattice, shell),
                      pressure_mobility(step.dt, step.volume, inverse));
}

/* ---- sums ---- */

kernel void sph_compressed(SphShared step, int misfit, global const float *density, global double *sums) {
  int c = (int)get_global_id(0), begin = c * SPH_CHUNK, end = min(begin + SPH_CHUNK, step.count);
  if (begin >= step.count) return;
  double sum = 0;
  for (int i = begin; i < end; i++) sum += (double)(misfit ? pressure_misfit(density[i]) : density_excess(density[i]));
  sums[c] = sum;
}

/* One item: the order of the chunks. The iteration may begin. */
kernel void sph_compressed_mean(SphShared step, global const double *sums, global double *control) {
  if (get_global_id(0) > 0) return;
  double sum = 0;
  for (int c = 0; c < (step.count + SPH_CHUNK - 1) / SPH_CHUNK; c++) sum += sums[c];
  control[SPH_FOUND] = sum / (double)step.count;
  control[SPH_DONE] = control[SPH_ITERATIONS] = 0;
}

/* One group: means of the residuals, and whether they are small. */
kernel void sph_decide(SphShared step, SphStopShared stop, global const float4 *residual, global double *control) {
  local double mean[RESIDUALS];
  local int done[1];
  int c = (int)get_local_id(0);
  if (c == 0) done[0] = control[SPH_DONE] != 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (done[0] || get_group_id(0) > 0) return;
  if (c < RESIDUALS) {
    global const float *from = (global const float *)residual + c;
    double sum = 0;
    for (int k = 0; k < stop.chunks; k++) sum += (double)from[RESIDUALS * k];
    mean[c] = control[c] = sum / (double)step.count;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (c > 0) return;
  control[SPH_ITERATIONS] += 1;
  control[SPH_DONE] = control[SPH_ITERATIONS] >= stop.least && mean[RESIDUAL_COMPRESSION] <= stop.most &&
                      mean[RESIDUAL_EXPANSION] <= stop.most &&
                      sqrt(mean[RESIDUAL_SHEAR]) <= stop.shear + stop.flowing * sqrt(mean[FLOWING]);
}

/* ---- the iteration ---- */

/* Stress stands as neighbours read it, two rows of four side by side: xx yy zz xy, less the pressure on the diagonal;
 * xz yz, pressure. */
static LaneSym stress_at(global const float4 *stress, int i) {
  float4 first = stress[2 * (long)i], second = stress[2 * (long)i + 1];
  return sym_make(first.x, first.y, first.z, first.w, second.x, second.y);
}

static void put_stress(global float4 *stress, int i, LaneSym s, float pressure) {
  stress[2 * (long)i] = (float4)(s.xx, s.yy, s.zz, s.xy);
  stress[2 * (long)i + 1] = (float4)(s.xz, s.yz, pressure, 0);
}

/* Velocity under the stress at hand. */
kernel void sph_velocity(SphShared step, int iterating, global const double *control, SLOTS, global const float4 *sum,
                         global const float4 *gains, global const float4 *start, global const float4 *stress,
                         global const float4 *wall_gain, global float4 *velocity) {
  int i = (int)get_global_id(0);
  if (i >= step.count || (iterating && control[SPH_DONE] != 0)) return;
  const Slots slots = SLOTS_OF(i);
  LaneVec3 force = vec_zero();
  for (int k = 0; k < slots.count; k += SPH_FOUR) {
    const Four four = four_at(slots, k);
    LaneSym of[SPH_FOUR];
    for (int u = 0; u < SPH_FOUR; u++) of[u] = stress_at(stress, four.slot[u].other);
    for (int u = 0; u < SPH_FOUR; u++) force = vec_add(force, force_term(of[u], four.slot[u].gradient));
  }
  force = force_total(force, step.gradient_step, stress_at(stress, i), vec_of(sum[i]));
  velocity[i] = row_of(force_velocity(vec_of(start[i]), gains[i].w, force, vec_of(wall_gain[i])), 0);
}

/* The friction that each parcel bears under the pressures at hand. `limits` has friction, cohesion, and the weights of
 * walls and free surface; `own` the diagonal of the shear with the bound behind. */
kernel void sph_bound(SphShared step, global const double *control, SLOTS, global const float4 *limits,
                      global const float4 *stress, global float4 *own) {
  int i = (int)get_global_id(0);
  if (i >= step.count || control[SPH_DONE] != 0) return;
  const Slots slots = SLOTS_OF(i);
  float load = 0, weight = 0;
  for (int k = 0; k < slots.count; k += SPH_FOUR) {
    const Four four = four_at(slots, k);
    float pressure[SPH_FOUR];
    for (int u = 0; u < SPH_FOUR; u++) pressure[u] = stress[2 * (long)four.slot[u].other + 1].z;
    for (int u = 0; u < SPH_FOUR; u++) {
      float length = real_sqrt(vec_dot(four.slot[u].gradient, four.slot[u].gradient));
      load += pressure[u] * length;
      weight += length;
    }
  }
  const float4 limit = limits[i];
  float confinement = stress_confinement(load, weight, stress[2 * (long)i + 1].z, limit.z, limit.w);
  own[i].w = stress_bound(limit.x, confinement, limit.y);
}

/* Eq. 6 over the neighbours. */
static LaneSym velocity_gradient(SphShared step, Slots slots, global const float4 *velocity, LaneVec3 own,
                                 LaneVec3 sum) {
  LaneSym all = sym_zero();
  for (int k = 0; k < slots.count; k += SPH_FOUR) {
    const Four four = four_at(slots, k);
    LaneVec3 of[SPH_FOUR];
    for (int u = 0; u < SPH_FOUR; u++) of[u] = vec_of(velocity[four.slot[u].other]);
    for (int u = 0; u < SPH_FOUR; u++) all = sym_add(all, gradient_term(of[u], four.slot[u].gradient));
  }
  return gradient_total(all, step.gradient_step, own, sum);
}

/* Forces of the contacts under the new stress; returns the velocity that they give. */
static LaneVec3 react(SphShared step, Walls contacts, global float4 *walls, LaneVec3 own, float pressure, LaneSym shear,
                      float mobility) {
  LaneVec3 force = vec_zero();
  for (int k = contacts.k; k < contacts.end; k++) {
    float4 shape = wall(step, walls, SPH_WALL_NORMAL, k), share = wall(step, walls, SPH_WALL_SHARE, k);
    LaneVec3 normal = vec_of(shape), slip = vec_sub(own, vec_of(wall(step, walls, SPH_WALL_VELOCITY, k)));
    float stress = pressure - sym_along(shear, normal);
    float push = wall_normal_force(stress, shape.w, step.volume);
    LaneVec3 grip = wall_friction(vec_of(wall(step, walls, SPH_WALL_FORCE, k)), slip, normal, share.z, share.y * push);
    walls[SPH_WALL_FORCE * step.walls + k] = row_of(grip, push);
    force = vec_add(force, vec_add(vec_mul(normal, push), grip));
  }
  return vec_mul(force, mobility / step.volume);
}

/* The sums of a chunk: over its slices lane by lane, then over the lanes. */
static void add_residuals(local float4 *terms, int item, global float4 *residual) {
  float4 sum = (float4)(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < SPH_LANES)
    for (int s = 0; s < SPH_SLICE_CHUNK; s++) sum += terms[SPH_LANES * s + item];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < SPH_LANES) terms[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0)
    *residual = ((terms[0] + terms[4]) + (terms[2] + terms[6])) + ((terms[1] + terms[5]) + (terms[3] + terms[7]));
}

/* Strain of the velocity, and the stress that should stop it. */
kernel void sph_stress(SphShared step, global const double *control, SLOTS, global const float4 *sum,
                       global const float4 *gains, global const float4 *velocity, global float4 *walls,
                       global const int *row, global float4 *stress, global float4 *own, global float4 *wall_gain,
                       global float4 *residual) {
  local float4 terms[SPH_GROUP];
  int i = (int)get_global_id(0), item = (int)get_local_id(0);
  if (control[SPH_DONE] != 0) return; /* all of a group */
  terms[item] = (float4)(0);
  if (i < step.count) {
    const Slots slots = SLOTS_OF(i);
    const float4 gain = gains[i], held = own[i];
    const LaneVec3 v = vec_of(velocity[i]);
    const LaneSym last = stress_at(stress, i);
    const float pressed = stress[2 * (long)i + 1].z;
    LaneSym gradient = velocity_gradient(step, slots, velocity, v, vec_of(sum[i]));
    const Walls contacts = walls_of(step, walls, row, i);
    for (int k = contacts.k; k < contacts.end; k++) {
      float4 shape = wall(step, walls, SPH_WALL_NORMAL, k);
      LaneVec3 slip = vec_sub(v, vec_of(wall(step, walls, SPH_WALL_VELOCITY, k)));
      gradient = sym_add(gradient, wall_gradient(vec_of(shape), vec_dot(slip, vec_of(shape)) * shape.w));
    }
    float error = pressure_error(gain.y, step.dt, sym_trace(gradient));
    float pressure = pressure_update(pressed, gain.x, error);
    LaneSym strain = strain_deviator(gradient);
    LaneSym before = sym_make(held.x, held.y, held.z, last.xy, last.xz, last.yz);
    LaneSym after = stress_project(stress_correct(before, gain.z, strain), held.w);
    terms[item] = (float4)(pressure_compression(error), pressure_expansion(pressed, pressure, gain.x),
                           stress_residual(before, after, gain.z, step.dt), strain_square(strain, step.dt));
    if (contacts.k < contacts.end) wall_gain[i] = row_of(react(step, contacts, walls, v, pressure, after, gain.w), 0);
    own[i] = (float4)(after.xx, after.yy, after.zz, held.w);
    put_stress(stress, i, sym_minus_unit(after, pressure), pressure);
  }
  add_residuals(terms, item, &residual[i / SPH_GROUP]);
}

/* ---- before the iteration ---- */

/* A pressure by itself: what walls answer. */
static LaneVec3 press_alone(SphShared step, Walls contacts, global const float4 *walls, float mobility,
                            float pressure) {
  LaneVec3 gain = vec_zero();
  for (int k = contacts.k; k < contacts.end; k++) {
    float4 shape = wall(step, walls, SPH_WALL_NORMAL, k);
    gain = vec_add(gain, vec_mul(vec_of(shape), mobility * shape.w * pressure));
  }
  return gain;
}

/* The pressure that would take back the compression at hand in one relaxed pass. */
kernel void sph_shift(SphShared step, global const float *density, global const float4 *gains,
                      global const float4 *walls, global const int *row, global float4 *stress, global float4 *start,
                      global float4 *wall_gain) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  float pressure = pressure_of_shift(density[i], gains[i].x);
  put_stress(stress, i, sym_make(-pressure, -pressure, -pressure, 0, 0, 0), pressure);
  wall_gain[i] = row_of(press_alone(step, walls_of(step, walls, row, i), walls, gains[i].w, pressure), 0);
  start[i] = (float4)(0);
}

/* The air's stream against a parcel, and how much of it reaches the parcel behind. */
kernel void sph_air(SphShared step, SphAirShared air, SLOTS, global const float4 *sum, global const float4 *walls,
                    global const int *row, global const float *vx, global const float *vy, global const float *vz,
                    global float4 *stream) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  LaneVec3 wind = vec_make(air.wind[0], air.wind[1], air.wind[2]);
  if (air.blows) {
    wind = air_deflect_surface(wind, vec_of(sum[i]), step.spacing);
    const Walls own = walls_of(step, walls, row, i);
    for (int k = own.k; k < own.end; k++)
      if (wall(step, walls, SPH_WALL_NORMAL, k).w > 0)
        wind = air_deflect(wind, vec_of(wall(step, walls, SPH_WALL_NORMAL, k)));
  }
  wind = vec_sub(wind, vec_make(vx[i], vy[i], vz[i]));
  const Slots slots = SLOTS_OF(i);
  float shield = 0;
  for (int k = 0; k < slots.count; k += SPH_FOUR) {
    const Four four = four_at(slots, k);
    for (int u = 0; u < SPH_FOUR; u++) shield = real_max(shield, air_shield(wind, four.slot[u].gradient));
  }
  stream[i] = row_of(wind, air_open(wind, shield));
}

/* Eq. 17 and 18 without friction, which belongs to the iteration; and rows of velocity with the mass behind. */
kernel void sph_start(SphShared step, SphAirShared air, global const float4 *stream, global const float *vx,
                      global const float *vy, global const float *vz, global const float *mass, global float4 *velocity,
                      global float4 *start) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  LaneVec3 v = vec_make(vx[i], vy[i], vz[i]), drag = vec_zero();
  if (air.drag > 0) {
    float4 wind = stream[i];
    drag = vec_mul(vec_of(wind), air_drag_share(vec_of(wind), wind.w, air.drag, mass[i], step.dt));
  }
  velocity[i] = row_of(v, mass[i]);
  start[i] = row_of(vec_add(vec_add(v, vec_make(air.gain[0], air.gain[1], air.gain[2])), drag), 0);
}

/* Collisions: what approaching pairs lose of their approach. */
kernel void sph_collide(SphShared step, float share, SLOTS, global const float4 *velocity, global float4 *start) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const Slots slots = SLOTS_OF(i);
  const float4 own = velocity[i];
  LaneVec3 lost = vec_zero();
  for (int k = 0; k < slots.count; k += SPH_FOUR) {
    const Four four = four_at(slots, k);
    float4 of[SPH_FOUR];
    for (int u = 0; u < SPH_FOUR; u++) of[u] = velocity[four.slot[u].other];
    for (int u = 0; u < SPH_FOUR; u++)
      lost = vec_add(lost, collision_term(vec_of(own), own.w, vec_of(of[u]), of[u].w, four.slot[u].gradient));
  }
  start[i] = row_of(vec_add(vec_of(start[i]), vec_mul(lost, share)), 0);
}

/* Forces of the contacts under the stress that the last step left, in double as on the CPU; returns the velocity that
 * they give. */
static LaneVec3 begin_walls(SphShared step, Walls contacts, global float4 *walls, LaneSym stress, float inverse) {
  double x = 0, y = 0, z = 0;
  for (int k = contacts.k; k < contacts.end; k++) {
    float4 shape = wall(step, walls, SPH_WALL_NORMAL, k), grip = wall(step, walls, SPH_WALL_FORCE, k);
    float push = wall_normal_force(-sym_along(stress, vec_of(shape)), shape.w, step.volume);
    walls[SPH_WALL_FORCE * step.walls + k].w = push;
    x += (double)(push * shape.x + grip.x);
    y += (double)(push * shape.y + grip.y);
    z += (double)(push * shape.z + grip.z);
  }
  double gain = (double)(step.dt * inverse);
  return vec_make((float)(gain * x), (float)(gain * y), (float)(gain * z));
}

/* What the iteration begins with: source, bounds, and the stress that the last step left. `materials` has friction and
 * cohesion of each. */
kernel void sph_begin(SphShared step, global const float4 *place, global const float *density, global const float4 *sum,
                      global const uchar *material, global const float4 *materials, global const float *sph_pressure,
                      global const float *sph_shear, global float4 *walls, global const int *row, global float4 *gains,
                      global float4 *limits, global float4 *stress, global float4 *own, global float4 *wall_gain) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const Walls contacts = walls_of(step, walls, row, i);
  const float4 known = materials[material[i]];
  float sides = 0;
  LaneVec3 missing = vec_mul(vec_of(sum[i]), step.spacing);
  for (int k = contacts.k; k < contacts.end; k++) {
    LaneVec3 normal = vec_of(wall(step, walls, SPH_WALL_NORMAL, k));
    float share = real_min(wall(step, walls, SPH_WALL_SHARE, k).x / WALL_AT_REST, 1);
    sides += share * step.layer_length;
    missing = vec_sub(missing, vec_mul(normal, share * step.layer_sum));
  }
  float surface = real_sqrt(vec_dot(missing, missing)) * step.layer_ratio;
  limits[i] =
      (float4)(known.x, stress_cohesion(known.y, density[i]), SPH_GRADIENT_STEPS * sides, SPH_GRADIENT_STEPS * surface);
  gains[i].y = pressure_source(density[i], step.slack * real_min(known.x, 1), step.pace);
  LaneSym shear = sym_zero();
  float pressure = 0;
  if (step.memory) {
    global const float *last = sph_shear + 6 * (long)i;
    shear = sym_make(last[0], last[1], last[2], last[3], last[4], last[5]);
    pressure = sph_pressure[i];
  }
  LaneSym begun = sym_minus_unit(shear, pressure);
  own[i] = (float4)(shear.xx, shear.yy, shear.zz, 0);
  put_stress(stress, i, begun, pressure);
  wall_gain[i] = row_of(begin_walls(step, contacts, walls, begun, place[i].w), 0);
}

/* ---- the beginning of a run ---- */

/* Sand that is too dense is moved apart without weight or friction, and what seats is moved together, too: `shared` is
 * pressure_of_seat's. */
kernel void sph_loosen(SphShared step, float shared, global const float *density, global float4 *walls,
                       global const int *row, global float4 *gains, global float4 *limits, global float4 *stress,
                       global float4 *own, global float4 *start, global float4 *wall_gain) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const float4 none = (float4)(0);
  const Walls contacts = walls_of(step, walls, row, i);
  const float pressure = pressure_of_seat(density[i], gains[i].x, shared);
  gains[i].y = density[i];
  limits[i] = own[i] = start[i] = none;
  put_stress(stress, i, sym_make(-pressure, -pressure, -pressure, 0, 0, 0), pressure);
  wall_gain[i] = row_of(press_alone(step, contacts, walls, gains[i].w, pressure), 0);
  for (int k = contacts.k; k < contacts.end; k++) {
    walls[SPH_WALL_SHARE * step.walls + k].y = 0;
    walls[SPH_WALL_VELOCITY * step.walls + k] = walls[SPH_WALL_FORCE * step.walls + k] = none;
  }
}

/* The velocity that this pressure would make is taken away beforehand. */
kernel void sph_balance(SphShared step, global const float4 *velocity, global float4 *start) {
  int i = (int)get_global_id(0);
  if (i < step.count) start[i] = -velocity[i];
}

kernel void sph_loosened(SphShared step, float most, global const float4 *velocity, global float *x, global float *y,
                         global float *z) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  LaneVec3 way = vec_mul(vec_of(velocity[i]), step.dt);
  float length = real_sqrt(vec_dot(way, way));
  if (length > most) way = vec_mul(way, most / length);
  x[i] += way.x;
  y[i] += way.y;
  z[i] += way.z;
}

/* ---- the end ---- */

/* `shift` is the velocity whose way is the shift; `kept` and `held` what is remembered of pressure and friction;
 * `settles`: friction begins as that of sand at rest. */
kernel void sph_finish(SphShared step, float kept, float held, int settles, global const float4 *velocity,
                       global const float4 *shift, global const float4 *limits, global const float4 *stress,
                       global const float4 *own,
                       global float *vx, global float *vy, global float *vz, global float *dx, global float *dy,
                       global float *dz, global float *sph_pressure, global float *sph_shear) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  LaneVec3 v = vec_of(velocity[i]);
  LaneVec3 way = vec_add(vec_mul(v, step.dt), vec_mul(vec_of(shift[i]), step.dt));
  vx[i] = v.x;
  vy[i] = v.y;
  vz[i] = v.z;
  dx[i] = way.x;
  dy[i] = way.y;
  dz[i] = way.z;
  const float4 friction = own[i];
  const LaneSym last = stress_at(stress, i);
  global float *to = sph_shear + 6 * (long)i;
  const float pressure = kept * stress[2 * (long)i + 1].z;
  sph_pressure[i] = pressure;
  if (settles) {
    LaneSym s = stress_settled(limits[i].x, pressure, vec_make(step.down[0], step.down[1], step.down[2]));
    to[0] = s.xx, to[1] = s.yy, to[2] = s.zz, to[3] = s.xy, to[4] = s.xz, to[5] = s.yz;
    return;
  }
  to[0] = held * friction.x, to[1] = held * friction.y, to[2] = held * friction.z;
  to[3] = held * last.xy, to[4] = held * last.xz, to[5] = held * last.yz;
}
