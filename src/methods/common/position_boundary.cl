/* Contacts with solids: kernels of the position-based family. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#include "methods/common/position_slots.cl"
#include "state/solids.cl"
#include "state/wrench_law.h"

static Vec3 vec3_of(float4 row) { return vec3((double)row.x, (double)row.y, (double)row.z); }
static float4 row_of_vec3(Vec3 v, float fourth) { return (float4)((float)v.x, (float)v.y, (float)v.z, fourth); }

/* A grain that looks for its contacts. */
typedef struct BoundaryGrain {
  Vec3 start, way;
  float radius;
  int number;
} BoundaryGrain;

/* Contacts of a grain with one solid: as position_boundary.c has them. Returns how many; `out` gets them, if it is
 * there. */
static int touch_solid(PositionShared step, BoundarySearch search, SolidsThere there, BoundaryGrain grain, int index,
                       global const BoundaryBody *body, int rank, global BoundaryShared *out) {
  global const SolidThere *solid = there.solid + index;
  const float reach = grain.radius + step.margin;
  const Vec3 from = vec3_sub(grain.start, body->center);
  const float arm[3] = {(float)from.x, (float)from.y, (float)from.z};
  const Vec3 arm_kept = vec3((double)arm[0], (double)arm[1], (double)arm[2]);
  const bool goes = !body->movable && !body->still;
  Vec3 way = grain.way, went = vec3(0, 0, 0);
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  if (goes) {
    const Mat3 turn = body->turn;
    went = boundary_way(body->way, body->turns != 0, &turn, arm_kept);
  }
  int count = touches_there(there, solid, solid_local(solid, vec3_add(grain.start, way)), (double)reach, touch);
  if (count == 0 && search.springs) {
    way = went;
    count =
        touches_there(there, solid, solid_local(solid, vec3_add(grain.start, way)), (double)grain.radius, touch);
  }
  if (!search.fill) return count;
  for (int k = 0; k < count; k++) {
    const Vec3 n = solid_direction(solid, touch[k].normal);
    BoundaryShared contact;
    contact.grain = grain.number;
    contact.rank = rank + k;
    contact.solid = index;
    contact.key = boundary_key(step.faces * index + face_there(solid, n, touch[k].face));
    contact.any_key = solid->meets && count == 1 ? boundary_key(step.faces * index) : 0;
    contact.normal[0] = (float)n.x, contact.normal[1] = (float)n.y, contact.normal[2] = (float)n.z;
    contact.gap = boundary_gap(touch[k].distance, n, way, went, grain.radius);
    for (int axis = 0; axis < 3; axis++) contact.arm[axis] = arm[axis];
    out[k] = contact;
  }
  return count;
}

/* Grains near solids that the host is asked about come down. */
kernel void position_ask(PositionShared step, BoundarySearch search, global const float *x, global const float *y,
                         global const float *z, global const float *low_x, global const float *low_y,
                         global const float *low_z, global const float *dx, global const float *dy,
                         global const float *dz, global const float *radius, global const uint *near,
                         global const SolidThere *solids, global int *count, global int *asked_at,
                         global AskedGrain *asked) {
  const int i = (int)get_global_id(0);
  if (i >= step.count) return;
  bool asks = false;
  for (int word = 0; word < search.words; word++)
    for (uint bits = near[i * search.words + word]; bits != 0; bits &= bits - 1)
      asks = asks || solids[word * 32 + 31 - (int)clz(bits & (0u - bits))].form == SOLID_ASKED;
  asked_at[i] = -1;
  if (!asks) return;
  const int k = atomic_inc(count);
  const AskedGrain grain = {
      {x[i], y[i], z[i]}, {low_x[i], low_y[i], low_z[i]}, {dx[i], dy[i], dz[i]}, radius[i], i, 0};
  asked_at[i] = k;
  asked[k] = grain;
}

/* What the host has found of a grain and a solid, as touch_solid. */
static int touch_asked(BoundarySearch search, int i, int index, int rank, global const int *asked_at,
                       global const int *answered, global const BoundaryShared *answers,
                       global BoundaryShared *out) {
  const int asked = asked_at[i];
  int count = 0;
  for (int k = answered[asked]; k < answered[asked + 1]; k++) {
    if (answers[k].solid != index) continue;
    if (search.fill) {
      out[count] = answers[k];
      out[count].rank = rank + count;
    }
    count++;
  }
  return count;
}

static SampleBody sample_body(BoundarySearch search, global const SolidThere *solids,
                              global const BoundaryBody *bodies, int of) {
  SampleBody body;
  body.center = vec3_sub(solids[of].center, vec3(search.origin[0], search.origin[1], search.origin[2]));
  body.way = bodies[of].way;
  body.turn = bodies[of].turn;
  body.turned = bodies[of].turned;
  body.movable = bodies[of].movable;
  body.turns = bodies[of].turns;
  return body;
}

/* Contact of a grain with a sample of a solid. */
static BoundaryShared touch_sample(PositionShared step, BoundarySearch search, SolidsThere there, SampleGrain grain,
                                   int i, int sample, float4 spot, int of, global const BoundaryBody *bodies) {
  const SampleWay way = boundary_sample_way(sample_body(search, there.solid, bodies, of), vec3_of(spot));
  const SampleContact found = boundary_sample(grain, way, search.sample_radius, step.margin);
  BoundaryShared contact;
  contact.grain = i;
  contact.solid = of;
  contact.key = boundary_key(step.faces * search.solids + sample);
  contact.any_key = 0;
  for (int axis = 0; axis < 3; axis++) contact.normal[axis] = found.normal[axis], contact.arm[axis] = way.arm[axis];
  contact.gap = found.gap;
  return contact;
}

/* Contacts of each grain with samples, once those by distance are written: by ascending samples. */
kernel void position_touch_samples(PositionShared step, BoundarySearch search, global const float *x,
                                   global const float *y, global const float *z, global const float *low_x,
                                   global const float *low_y, global const float *low_z, global const float *dx,
                                   global const float *dy, global const float *dz, global const float *radius,
                                   SOLIDS_THERE, global const BoundaryBody *bodies, global const int *owner,
                                   global const float4 *sample_at, global const int *walls, global const int *rows,
                                   global const int *faced, global const int *touching,
                                   global BoundaryShared *boundary) {
  const int i = (int)get_global_id(0);
  if (i >= step.count || walls[i] == faced[i]) return;
  const int own = first_wall(step, rows, i), begin = own + faced[i], end = first_wall(step, rows, i + 1);
  const SampleGrain grain = {vec3((double)x[i], (double)y[i], (double)z[i]),
                             vec3((double)low_x[i], (double)low_y[i], (double)low_z[i]),
                             vec3((double)dx[i], (double)dy[i], (double)dz[i]), radius[i]};
  for (int k = begin; k < end; k++) {
    const int sample = touching[k];
    int rank = faced[i];
    for (int other = begin; other < end; other++) rank += touching[other] < sample;
    BoundaryShared contact = touch_sample(step, search, solids_there(solid, numbers, values, triangle), grain, i,
                                          sample, sample_at[sample], owner[sample], bodies);
    contact.rank = rank;
    boundary[own + rank] = contact;
  }
}

/* What a grain touches by distance: how many; written from `out` on. */
static int find_by_distance(PositionShared step, BoundarySearch search, SolidsThere there, BoundaryGrain grain,
                            global const uint *near, global const BoundaryBody *bodies, global const int *asked_at,
                            global const int *answered, global const BoundaryShared *answers,
                            global BoundaryShared *out) {
  int count = 0;
  for (int word = 0; word < search.words; word++)
    for (uint bits = near[grain.number * search.words + word]; bits != 0; bits &= bits - 1) {
      const int index = word * 32 + 31 - (int)clz(bits & (0u - bits));
      if (search.asks && there.solid[index].form == SOLID_ASKED)
        count += touch_asked(search, grain.number, index, count, asked_at, answered, answers, out + count);
      else count += touch_solid(step, search, there, grain, index, bodies + index, count, out + count);
    }
  return count;
}

static BoundaryGrain boundary_grain(BoundarySearch search, float x, float y, float z, float low_x, float low_y,
                                    float low_z, float dx, float dy, float dz, float radius, int i) {
  BoundaryGrain grain;
  grain.start = boundary_start(vec3(search.origin[0], search.origin[1], search.origin[2]),
                               vec3((double)x, (double)y, (double)z), vec3((double)low_x, (double)low_y, (double)low_z));
  grain.way = vec3((double)dx, (double)dy, (double)dz);
  grain.radius = radius;
  grain.number = i;
  return grain;
}

static bool near_any(BoundarySearch search, global const uint *near, int i) {
  uint any = 0;
  for (int word = 0; word < search.words; word++) any |= near[i * search.words + word];
  return any != 0;
}

/* Slot rows of a slice: where those of each batch begin among them. */
static int slice_rows(PositionShared step, int s, global const int4 *pairs, local const int *walls, global int *begin) {
  int4 most = (int4)(0);
  int boundary = 0;
  for (int l = 0; l < POSITION_ABREAST && s * POSITION_ABREAST + l < step.count; l++) {
    most = max(most, pairs[s * POSITION_ABREAST + l]);
    boundary = max(boundary, walls[l]);
  }
  begin += s * POSITION_BATCHES;
  begin[0] = 0;
  begin[1] = most.x;
  begin[2] = begin[1] + most.y;
  begin[3] = begin[2] + most.z;
  begin[4] = begin[3] + most.w;
  return begin[4] + boundary;
}

/* What the search for them reads, and where they go. */
#define SEEKING_GRAINS                                                                                                 \
  global const float *x, global const float *y, global const float *z, global const float *low_x,                      \
      global const float *low_y, global const float *low_z, global const float *dx, global const float *dy,            \
      global const float *dz, global const float *radius, global const uint *near, SOLIDS_THERE,                       \
      global const BoundaryBody *bodies, global const int *asked_at, global const int *answered,                       \
      global const BoundaryShared *answers, global BoundaryShared *boundary

/* Contacts of each grain, counted; and with those of pairs the rows of each slice. */
kernel void position_count_boundary(PositionShared step, BoundarySearch search, SEEKING_GRAINS,
                                    global const int *sampled, global const int4 *pairs, global int *walls,
                                    global int *faced, global int *begin, global int *rows) {
  local int here[POSITION_GROUP];
  const int i = (int)get_global_id(0), item = (int)get_local_id(0);
  int count = 0;
  if (i < step.count && near_any(search, near, i))
    count = find_by_distance(step, search, solids_there(solid, numbers, values, triangle),
                             boundary_grain(search, x[i], y[i], z[i], low_x[i], low_y[i], low_z[i], dx[i], dy[i],
                                            dz[i], radius[i], i),
                             near, bodies, asked_at, answered, answers, boundary);
  if (i < step.count && search.samples > 0) {
    faced[i] = count;
    count += sampled[i];
  }
  if (i < step.count) walls[i] = count;
  here[item] = count;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i <= step.count) rows[step.slices + 1 + i] = count; /* of the one behind the last, where their sum will be */
  if (i % POSITION_ABREAST == 0 && i < step.count)
    rows[i / POSITION_ABREAST] = slice_rows(step, i / POSITION_ABREAST, pairs, here + item, begin);
  if (i == step.count) rows[step.slices] = 0;
}

/* And then, once it is known where they begin, written. */
kernel void position_find_boundary(PositionShared step, BoundarySearch search, SEEKING_GRAINS,
                                   global const int *walls, global const int *rows) {
  const int i = (int)get_global_id(0);
  if (i >= step.count || walls[i] == 0) return;
  find_by_distance(step, search, solids_there(solid, numbers, values, triangle),
                   boundary_grain(search, x[i], y[i], z[i], low_x[i], low_y[i], low_z[i], dx[i], dy[i], dz[i],
                                  radius[i], i),
                   near, bodies, asked_at, answered, answers, boundary + first_wall(step, rows, i));
}

/* As remembered_at of a contact with a solid. A grain that goes over an edge of a mesh touches another face than before: where
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

static Vec3 vec3_at(global const double *from) { return vec3(from[0], from[1], from[2]); }

/* What the surface of a solid moves by at a contact, besides its row. */
static float4 boundary_rim(int sampled, global const double *motion, float radius) {
  return row_of_vec3(sampled ? vec3(0, 0, 0) : vec3_scale(vec3_at(motion + RIDE_SPIN), -(double)radius), 1);
}

/* Contacts with solids: before those of pairs, which write where a grain's row is. Their rows are those of solids that
 * stand still: see position_carry. */
kernel void position_fill_boundary(PositionShared step, global const BoundaryShared *boundary, global const int *rows,
                                   global const int *begin, global const uint *row, global const uint *held,
                                   global const uint *last_key, global const float4 *last_kept,
                                   global const uchar *material, global int *partner, global float4 *kept,
                                   global float4 *pose, global int *kind, global int *slots, global float4 *sums,
                                   global const BoundaryBody *bodies, global const double *motions,
                                   global const float *radius, global float4 *wall_now, global float4 *wall_last,
                                   global float4 *wall_rim) {
  int g = (int)get_global_id(0);
  if (g >= step.boundary_count) return;
  BoundaryShared contact = boundary[g];
  wall_now[g] = (float4)(0);
  wall_last[g] = (float4)(0, 0, 0, POSITION_FAR);
  wall_rim[g] = boundary_rim(bodies[contact.solid].sampled, motions + RIDE_DOUBLES * contact.solid,
                             radius[contact.grain]);
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

/* ---- solids that move ---- */

static Mat3 mat3_at(global const double *from) {
  const Mat3 m = {{{from[0], from[1], from[2]}, {from[3], from[4], from[5]}, {from[6], from[7], from[8]}}};
  return m;
}

/* by + (turn arm - arm), as the CPU has it (position_bodies.c). */
static Vec3 carried(Vec3 by, global const double *turn, Vec3 arm) {
  const Mat3 m = mat3_at(turn);
  return boundary_way(by, true, &m, arm);
}

/* Where a contact pushes a solid, from its centre, at the substep's start: as lever_now of position_bodies.c. */
static Vec3 lever_now(BoundaryShared contact, int sampled, global const double *motion, float4 gone) {
  const Vec3 arm = vec3((double)contact.arm[0], (double)contact.arm[1], (double)contact.arm[2]);
  if (!sampled) return vec3_add(arm, vec3_sub(vec3_of(gone), vec3_at(motion + RIDE_TOTAL)));
  const Mat3 rotation = mat3_at(motion + RIDE_ROTATION);
  return mat3_apply(&rotation, arm);
}

/* Inverse mass of a body at a contact, at most, split among all of its contacts. */
static float boundary_weight(PositionShared step, global const BoundaryBody *body, int contacts,
                             BoundaryShared contact) {
  if (!body->movable) return 0;
  const double share = step.averaging ? 1 : fmax((double)contacts / (double)step.relaxation_boundary, 1.0);
  const float square = contact.arm[0] * contact.arm[0] + contact.arm[1] * contact.arm[1] + contact.arm[2] * contact.arm[2];
  return (float)(share * (body->linear + body->angular * (double)square));
}

/* Rows of contacts with solids as a substep's batch reads them: where the solid brings the point in the substep, and
 * where it brought it in the one before; and what its surface moves by besides. */
kernel void position_carry(PositionShared step, int first, int substep_row, global const BoundaryShared *boundary,
                           global const BoundaryBody *bodies, global const int *touched,
                           global const double *motions, global const float4 *total, global float4 *lever,
                           global float4 *wall_now, global float4 *wall_last, global float4 *wall_rim) {
  int g = (int)get_global_id(0);
  if (g >= step.boundary_count) return;
  BoundaryShared contact = boundary[g];
  global const double *motion = motions + RIDE_DOUBLES * (substep_row + contact.solid);
  const float4 grain = total[contact.grain];
  const int of_sample = bodies[contact.solid].sampled;
  if (first) {
    lever[g] = (float4)(contact.arm[0], contact.arm[1], contact.arm[2], 0);
    wall_now[g] = (float4)(0, 0, 0, boundary_weight(step, bodies + contact.solid, touched[contact.solid], contact));
  }
  if (motion[RIDE_STILL] != 0) return;
  const Vec3 now = lever_now(contact, of_sample, motion, grain);
  wall_last[g] = row_of_vec3(
      carried(vec3_at(motion + RIDE_LAST_SHIFT), motion + RIDE_LAST_TURN, vec3_of(lever[g])), POSITION_FAR);
  wall_now[g] = row_of_vec3(carried(vec3_at(motion + RIDE_SHIFT), motion + RIDE_TURN, now), wall_now[g].w);
  wall_rim[g] = boundary_rim(of_sample, motion, grain.w);
  lever[g] = row_of_vec3(now, 0);
}

/* ---- bodies that grains can move ---- */

/* Which contacts are with such bodies that are pushed as a whole; and how many each has of those that grains can move. */
kernel void position_flag_pushed(PositionShared step, global const BoundaryShared *boundary,
                                 global const BoundaryBody *bodies, global int *pushed_before, global int *touched) {
  int g = (int)get_global_id(0);
  if (g > step.boundary_count) return;
  pushed_before[g] = 0;
  if (g == step.boundary_count || !bodies[boundary[g].solid].movable) return;
  pushed_before[g] = !bodies[boundary[g].solid].matched;
  atomic_inc(&touched[boundary[g].solid]);
}

kernel void position_list_pushed(PositionShared step, global const int *pushed_before, global int *pushed) {
  int g = (int)get_global_id(0);
  if (g < step.boundary_count && pushed_before[g + 1] > pushed_before[g]) pushed[pushed_before[g]] = g;
}

/* What is remembered of a grain's contacts: what of it moves the grain, and what only squeezes it. */
typedef struct Pressed {
  float moves, squeezes;
} Pressed;

static Pressed pressed_by_memory(global const int4 *pairs, global const int *walls, global const int *rows,
                                 global const int *begin, global const float4 *kept, global const float4 *pose,
                                 int i) {
  float sum = 0, x = 0, y = 0, z = 0;
  for (int batch = 0; batch < POSITION_BATCHES; batch++) {
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], walls[i], batch); k > 0; k--, slot += POSITION_ABREAST) {
      float push = kept[slot].x;
      sum += push;
      x += push * pose[slot].x;
      y += push * pose[slot].y;
      z += push * pose[slot].z;
    }
  }
  Pressed pressed;
  pressed.moves = sqrt(x * x + y * y + z * z);
  pressed.squeezes = sum - pressed.moves;
  return pressed;
}

/* Grains between a free body and something that stands still count for more than they weigh, and where they slip out
 * of there what is remembered is forgotten: as pin of position_bodies.c. An item for each contact, of which a grain's
 * first with a free body does it. `falls` is the part of its weight that a pinned grain feels. */
kernel void position_pin(PositionShared step, float far, global const BoundaryShared *boundary,
                         global const BoundaryBody *bodies, global const int *touched, global const int4 *pairs,
                         global const int *walls, global const int *rows, global const int *begin,
                         global const int *slots, global float4 *kept, global const float4 *pose,
                         global const float *inverse, global float *falls) {
  const int g = (int)get_global_id(0);
  if (g >= step.boundary_count) return;
  const BoundaryShared contact = boundary[g];
  global const BoundaryBody *body = bodies + contact.solid;
  const int i = contact.grain, first = g - contact.rank, end = first + walls[i];
  if (!(body->mass > 0)) return;
  for (int k = first; k < g; k++)
    if (bodies[boundary[k].solid].mass > 0) return;
  bool backed = false;
  for (int k = first; k < end; k++) backed = backed || (bodies[boundary[k].solid].still && kept[slots[k]].x > 0);
  float w = inverse[i];
  const Pressed pressed = pressed_by_memory(pairs, walls, rows, begin, kept, pose, i);
  const float kind = fmin((float)(body->mass / (double)touched[contact.solid]) * w, POSITION_PINNED_MOST);
  if (kind > 1 && pressed.squeezes > 0 && backed) {
    falls[i] = 1 / kind;
    w *= falls[i];
  }
  const float thrown = pressed.moves * w * (float)step.substeps;
  if (!(thrown > far)) return;
  for (int k = first; k < end; k++) kept[slots[k]] *= far / thrown;
}

static Vec3 push_on_solid(float4 multiplier, float4 pose) {
  const Vec3 tangential = vec3((double)multiplier.y, (double)multiplier.z, (double)multiplier.w);
  return vec3_scale(vec3_madd(tangential, vec3_of(pose), (double)multiplier.x), -1);
}

/* What each pushes its body with: as take_push of position_bodies.c. `first`: no substep has moved anything yet. */
kernel void position_push_parts(PositionShared step, int first, global const BoundaryShared *boundary,
                                global const BoundaryBody *bodies, global const int *pushed_before, global const int *pushed, global const int *slots,
                                global const float4 *kept, global const float4 *pose, global const int *kind,
                                global const float *rolling, global const float4 *lever, global const float4 *total,
                                global double *parts) {
  int k = (int)get_global_id(0);
  if (k >= step.boundary_count || k >= pushed_before[step.boundary_count]) return;
  const int g = pushed[k], slot = slots[g];
  const BoundaryShared contact = boundary[g];
  const float4 multiplier = kept[slot];
  const double radius = (double)total[contact.grain].w;
  const Vec3 push = push_on_solid(multiplier, pose[slot]);
  Vec3 arm = vec3((double)contact.arm[0], (double)contact.arm[1], (double)contact.arm[2]), touch = vec3(0, 0, 0);
  if (!first) arm = vec3_of(lever[g]);
  if (step.turning && !bodies[contact.solid].sampled) {
    const Vec3 normal = vec3((double)contact.normal[0], (double)contact.normal[1], (double)contact.normal[2]);
    touch = boundary_touch_from_center(normal, radius);
  }
  const Vec3 twist = vec3_cross(vec3_add(arm, touch), push);
  global double *to = parts + PUSH_PARTS * k;
  to[0] = push.x, to[1] = push.y, to[2] = push.z;
  to[3] = twist.x, to[4] = twist.y, to[5] = twist.z;
  to[PUSH_RESISTANCE] = 0;
  if (step.turning) {
    const float load = fmax(multiplier.x, 0.0f);
    to[PUSH_RESISTANCE] = (double)(rolling[step.kinds ? kind[slot] : 2] * load * total[contact.grain].w);
  }
}

/* Sums in the order of the contacts, as the CPU has them: an item for each part of a body's motion. */
kernel void position_sum_pushed(PositionShared step, int solids, int substep_row, global const BoundaryShared *boundary,
                                global const BoundaryBody *bodies, global const double *motions,
                                global const int *pushed_before, global const int *pushed, global const int *touched,
                                global const double *parts, global double *sums) {
  const int id = (int)get_global_id(0), body = id / BODY_LANES, part = id % BODY_LANES;
  if (body >= solids || part > PUSH_RESISTANCE) return;
  global double *to = sums + BODY_SUMS * body;
  const bool moves = part < PUSH_RESISTANCE;
  double row[6], push = 0, moved = 0;
  for (int c = 0; c < 6; c++) row[c] = moves ? bodies[body].mobility[part][c] : 0;
  if (moves) moved = motions[RIDE_DOUBLES * (substep_row + body) + RIDE_ALONE + part];
  const int count = touched[body] > 0 ? pushed_before[step.boundary_count] : 0;
  for (int k = 0; k < count; k++) {
    if (boundary[pushed[k]].solid != body) continue;
    global const double *from = parts + PUSH_PARTS * k;
    push += from[part];
    if (moves)
      for (int c = 0; c < 6; c++) moved += row[c] * from[c];
  }
  if (moves) {
    to[BODY_MOVED + part] = moved;
    to[BODY_PUSH + part] = push;
  } else {
    to[BODY_RESISTANCE] = push;
    to[BODY_CONTACTS] = (double)touched[body];
  }
}

/* Bodies go on by what pushes them: as position_move_by and position_end_substep. Then the rows that contacts read. */
kernel void position_move_bodies(RideShared shared, global const BoundaryBody *bodies, global const double *sums,
                                 global PositionRide *rides, global double *motions) {
  const int k = (int)get_global_id(0);
  if (k >= shared.solids) return;
  global const BoundaryBody *body = bodies + k;
  global const double *own = sums + BODY_SUMS * k;
  PositionRide ride = rides[k];
  if (own[BODY_CONTACTS] > 0) {
    for (int part = 0; part < 6; part++) ride.moved.part[part] = own[BODY_MOVED + part];
    for (int part = 0; part < 6; part++) ride.push.part[part] = own[BODY_PUSH + part];
    ride.resistance = own[BODY_RESISTANCE];
    const Mat3 inertia = body->inertia;
    if (body->free) ride_resist_rolling(&ride, body->pose, &inertia);
    ride_turn(&ride);
  }
  if (shared.ends && !body->still) ride_end_substep(&ride, shared.goes_on && body->movable, shared.memory != 0);
  rides[k] = ride;
  if (shared.ends && !shared.goes_on) return;
  global double *row = motions + RIDE_DOUBLES * (shared.row + k);
  for (int part = 0; part < 6; part++) row[RIDE_SHIFT + part] = ride.moved.part[part];
  for (int part = 0; part < 9; part++) row[RIDE_TURN + part] = ride.turn.m[part / 3][part % 3];
  row[RIDE_LAST_SHIFT] = ride.last_shift.x;
  row[RIDE_LAST_SHIFT + 1] = ride.last_shift.y;
  row[RIDE_LAST_SHIFT + 2] = ride.last_shift.z;
  for (int part = 0; part < 9; part++) row[RIDE_LAST_TURN + part] = ride.last_turn.m[part / 3][part % 3];
  for (int part = 0; part < 3; part++) row[RIDE_TOTAL + part] = ride.total.part[part];
  row[RIDE_STILL] = body->still;
  for (int part = 0; part < 6; part++) row[RIDE_ALONE + part] = ride.alone.part[part];
  for (int part = 0; part < 9; part++) row[RIDE_ROTATION + part] = ride.rotation.m[part / 3][part % 3];
}

/* ---- sums in fixed point: of what pushes matched bodies, of forces on solids ---- */

/* Adds to a sum of 64 bits by its halves: exact and free of order, without atomics of 64 bits. */
static void add_units(global uint *halves, WrenchUnits units) {
  const uint low = (uint)((ulong)units & 0xffffffffu), was = atomic_add(halves, low);
  const uint high = (uint)((ulong)units >> 32) + (was + low < was ? 1u : 0u);
  if (high != 0) atomic_add(halves + 1, high);
}

static void add_wrench(global uint *wrenches, int solid, const WrenchUnits *parts) {
  for (int k = 0; k < WRENCH_PARTS; k++) add_units(wrenches + 2 * (WRENCH_PARTS * solid + k), parts[k]);
}

/* What pushes matched bodies: contacts in a row with one are summed up before it is told. */
kernel void position_push_matched(PositionShared step, double per_square, global const BoundaryShared *boundary,
                                  global const BoundaryBody *bodies, global const int *slots,
                                  global const float4 *kept, global const float4 *pose, global uint *sums) {
  const int begin = (int)get_global_id(0) * BOUNDARY_PUSHES;
  const int end = min(begin + BOUNDARY_PUSHES, step.boundary_count);
  WrenchUnits sum[MATCH_SUMS], parts[MATCH_SUMS];
  int told = -1;
  for (int g = begin; g <= end; g++) {
    const int of = g < end ? boundary[g].solid : -1;
    if (of >= 0 && !bodies[of].matched) continue;
    if (of != told) {
      for (int k = 0; k < MATCH_SUMS && told >= 0; k++)
        add_units(sums + 2 * (BODY_SUMS * told + BODY_MATCH + k), sum[k]);
      for (int k = 0; k < MATCH_SUMS; k++) sum[k] = 0;
      told = of;
    }
    if (of < 0) return;
    const BoundaryShared contact = boundary[g];
    const Vec3 arm = vec3((double)contact.arm[0], (double)contact.arm[1], (double)contact.arm[2]);
    const int slot = slots[g];
    boundary_match(push_on_solid(kept[slot], pose[slot]), vec3_sub(arm, bodies[of].middle), per_square, parts);
    for (int k = 0; k < MATCH_SUMS; k++) sum[k] = (WrenchUnits)((ulong)sum[k] + (ulong)parts[k]);
  }
}

/* Contacts in a row with one solid are summed up before it is told: see WrenchSum. */
kernel void position_push_boundary(PositionShared step, double per_square, global const BoundaryShared *boundary,
                                   global const BoundaryBody *bodies, global const float4 *sums,
                                   global const float4 *total,
                                   global const SolidThere *solids, global uint *wrenches) {
  const int begin = (int)get_global_id(0) * BOUNDARY_PUSHES;
  const int end = min(begin + BOUNDARY_PUSHES, step.boundary_count);
  WrenchUnits parts[WRENCH_PARTS];
  int solid = -1;
  for (int g = begin; g < end; g++) {
    const BoundaryShared contact = boundary[g];
    if (bodies[contact.solid].movable) continue; /* position_push_bodies */
    if (contact.solid != solid) {
      if (solid >= 0) add_wrench(wrenches, solid, parts);
      for (int k = 0; k < WRENCH_PARTS; k++) parts[k] = 0;
      solid = contact.solid;
    }
    const Vec3 normal = vec3((double)contact.normal[0], (double)contact.normal[1], (double)contact.normal[2]);
    const Vec3 arm = vec3((double)contact.arm[0], (double)contact.arm[1], (double)contact.arm[2]);
    Vec3 touch = vec3(0, 0, 0);
    if (step.turning && !bodies[contact.solid].sampled)
      touch = boundary_touch_from_center(normal, (double)total[contact.grain].w);
    const BoundaryPush push = boundary_push(vec3_of(sums[g]), per_square, solids[solid].center, arm, touch);
    const double pushes[WRENCH_PARTS] = {push.force.x,  push.force.y,  push.force.z,
                                         push.torque.x, push.torque.y, push.torque.z};
    for (int k = 0; k < WRENCH_PARTS; k++)
      parts[k] = (WrenchUnits)((ulong)parts[k] + (ulong)wrench_units(pushes[k]));
  }
  if (solid >= 0) add_wrench(wrenches, solid, parts);
}
