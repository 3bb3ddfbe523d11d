/* The position-based family on a device: a work item a grain, the laws of the CPU, sums in its order.
 *
 * Slots stand as on the CPU (position.h), eight grains abreast, each grain in the lane of its own number: lanes change no
 * result, and what is remembered of a contact is found in the same place on both. A grain goes through its own slots and
 * not through those that only its neighbours in the slice need: these add nothing. */
#include "methods/common/position_samples.cl"

/* d = (v + g dt) dt. */
kernel void position_predict(int count, float dt, float gain_x, float gain_y, float gain_z, global const float *vx,
                             global const float *vy, global const float *vz, global float *dx, global float *dy,
                             global float *dz) {
  int i = (int)get_global_id(0);
  if (i >= count) return;
  dx[i] = (vx[i] + gain_x) * dt;
  dy[i] = (vy[i] + gain_y) * dt;
  dz[i] = (vz[i] + gain_z) * dt;
}

/* ---- contacts into slots ---- */

static float height_of(BeginShared shared, float x, float y, float z) {
  return (float)(shared.up[0] * (double)x + shared.up[1] * (double)y + shared.up[2] * (double)z);
}

/* Floats as integers that are in the same order, and back. */
static int in_order(int bits) { return bits ^ (bits >> 31 & 0x7fffffff); }

/* Height of the lowest grain. */
kernel void position_lowest(BeginShared shared, global const float *x, global const float *y, global const float *z,
                            global int *lowest) {
  local int here;
  const int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) here = INT_MAX;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < shared.count) atomic_min(&here, in_order(as_int(height_of(shared, x[i], y[i], z[i]))));
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_min(lowest, here);
}

/* Where a grain is, what floats cannot hold of that, and where it is about to be; the radius behind two of them. Its
 * inverse mass, and the key of its batches. What the step counts begins at zero. */
kernel void position_begin(PositionShared step, BeginShared shared, global const float *restrict x,
                           global const float *restrict y, global const float *restrict z,
                           global const float *restrict low_x, global const float *restrict low_y,
                           global const float *restrict low_z, global const float *restrict dx,
                           global const float *restrict dy, global const float *restrict dz,
                           global const float *restrict radius, global const float *restrict mass,
                           global const int *restrict lowest, global float4 *restrict at, global float4 *restrict low,
                           global float4 *restrict ahead, global int *restrict batch_key,
                           global float *restrict inverse, global int *restrict start, global int *restrict box,
                           global int *restrict touched, global uint *restrict wrenches, global int *restrict deepest,
                           global int *restrict sampled) {
  const int i = (int)get_global_id(0);
  bins_clear(i, shared.bins, start, box);
  if (i < shared.solids) touched[i] = 0;
  if (i < 2 * WRENCH_PARTS * shared.solids) wrenches[i] = 0;
  if (i == 0) *deepest = 0;
  if (i >= step.count) return;
  if (shared.samples > 0) sampled[i] = 0;
  at[i] = (float4)(x[i], y[i], z[i], radius[i]);
  low[i] = (float4)(low_x[i], low_y[i], low_z[i], 0);
  ahead[i] = (float4)(x[i] + dx[i], y[i] + dy[i], z[i] + dz[i], radius[i]);
  batch_key[i] = position_batch_key(load3(x, y, z, i), step.per_radius);
  float w = 1 / mass[i];
  if (shared.scaling > 0)
    w = position_scaled_mass(w, shared.scaling, height_of(shared, x[i], y[i], z[i]) - as_float(in_order(*lowest)));
  inverse[i] = w;
}

/* Goes through the partners of a grain, which are those points of the bins round it that are near enough: `count` goes
 * up by `each` in the batch that a partner belongs to. With `partner` it is where the partners of each batch go. */
static int4 find_partners(BinsShared bins, global const int4 *unit, global const int *start, global const int4 *point,
                          global const float4 *ahead, int i, int key, int each, int4 count, global int *partner) {
  const int4 place = unit[i];
  if (place.w == BINS_OUTSIDE) return count;
  const short4 spot = bins_spot(place);
  const bool looks = bins.hashed || bins.differ;
  const float4 own = looks ? ahead[i] : (float4)(0);
  const BinRuns runs = bins_runs(bins, start, place);
  for (int run = 0; run < runs.count; run++)
    for (int at = runs.first[run], end = runs.end[run]; at < end; at++) {
      const int4 other = point[at];
      if (!bins_near(bins, spot, other) || other.z == i) continue;
      if (looks && !really_near(own, ahead[other.z], bins.margin)) continue;
      const int batch = position_batch(key, other.w);
      if (partner) partner[batch < 2 ? (batch == 0 ? count.x : count.y) : (batch == 2 ? count.z : count.w)] = other.z;
      count += (int4)(batch == 0, batch == 1, batch == 2, batch == 3) * each;
    }
  return count;
}

/* How many partners each grain has in each batch. */
kernel void position_count(PositionShared step, BinsShared bins, global const int4 *restrict unit,
                           global const int *restrict start, global const int4 *restrict point,
                           global const float4 *restrict ahead, global const int *restrict batch_key,
                           global int4 *restrict pairs) {
  int i = (int)get_global_id(0);
  if (i < step.count)
    pairs[i] = find_partners(bins, unit, start, point, ahead, i, batch_key[i], 1, (int4)(0), 0);
}

/* Two grains at one place have no line of centres: one is made up from where they are stored. */
static LaneVec3 part_coincident(int i, int j) {
  uint low = (uint)min(i, j), high = (uint)max(i, j);
  return position_made_up_offset((int)(low * 2654435761u ^ high * 2246822519u), -(i < j));
}

/* Partners of a grain, into its slots. */
kernel void position_partners(PositionShared step, BinsShared bins, global const int4 *restrict unit,
                              global const int *restrict start, global const int4 *restrict point,
                              global const float4 *restrict ahead, global const int *restrict batch_key,
                              global const int *restrict rows, global const int *restrict begin,
                              global int *restrict partner) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  int4 first = (int4)(first_slot(rows, begin, i, 0), first_slot(rows, begin, i, 1), first_slot(rows, begin, i, 2),
                      first_slot(rows, begin, i, 3));
  find_partners(bins, unit, start, point, ahead, i, batch_key[i], POSITION_ABREAST, first, partner);
}

/* What the memory has of two grains: nothing at its first place. */
static PositionMultipliers recall(PositionShared step, float4 last) {
  PositionMultipliers old;
  old.normal = last.x;
  old.friction = vec_make(last.y, last.z, last.w);
  return position_remembered(old, step.history_scale);
}

/* From where the two are. */
static float4 pose_at_start(float4 at, float4 low, float4 other, float4 other_low, int i, int j) {
  LaneVec3 offset = position_offset(vec_of(at), vec_of(low), vec_of(other), vec_of(other_low));
  float length = real_sqrt(vec_dot(offset, offset)), straight = length;
  if (length < POSITION_COINCIDENT) {
    offset = part_coincident(i, j);
    straight = real_sqrt(vec_dot(offset, offset));
  }
  return row_of(position_normal(offset, straight), length - (at.w + other.w));
}

/* What is remembered of a grain's partners, normals and gaps; then its row of the memory is that of its new slots. The
 * search writes partners and no more: a work item that finds one has the others of its group wait. */
kernel void position_fill(PositionShared step, global const int4 *restrict pairs, global const int *restrict walls,
                          global const int *restrict rows, global const int *restrict begin, global uint *restrict row,
                          global uint *restrict held, global const uint *restrict number,
                          global const uint *restrict last_key, global const float4 *restrict last_kept,
                          global const float4 *restrict at, global const float4 *restrict low,
                          global const uchar *restrict material, global int *restrict partner,
                          global float4 *restrict kept, global float4 *restrict pose, global int *restrict kind) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const float4 own_at = at[i], own_low = low[i];
  const int4 many = pairs[i];
  const int s = i / POSITION_ABREAST;
  const uint first = step.memory ? row[i] : 0, count = held_by(step, row, held, i);
  uint next = first;
  for (int batch = 0; batch < POSITION_BATCHES; batch++) {
    int slot = first_slot(rows, begin, i, batch), left = contacts_of(many, walls[i], batch);
    if (batch == POSITION_BOUNDARY_BATCH) {
      slot += left * POSITION_ABREAST;
      left = 0;
    }
    for (; left > 0; left--, slot += POSITION_ABREAST) {
      const int j = partner[slot];
      const float4 there = at[j], there_low = low[j];
      PositionMultipliers old = {0, {0, 0, 0}};
      if (step.memory) {
        uint wanted = step.renumbered ? number[j] - 1 : (uint)j;
        old = recall(step, last_kept[remembered_at(step, first, count, last_key, wanted, &next)]);
      }
      const float4 now = pose_at_start(own_at, own_low, there, there_low, i, j);
      if (step.memory) old.friction = vec_tangential(old.friction, vec_of(now));
      kept[slot] = (float4)(old.normal, old.friction.x, old.friction.y, old.friction.z);
      pose[slot] = now;
      if (step.kinds) kind[slot] = step.materials == 1 ? 0 : 2 * (material[i] * step.materials + material[j]);
    }
    /* Slots that others of the slice need are nobody's here: those of the boundary batch behind the grain's own too. */
    int end = batch + 1 < POSITION_BATCHES ? first_slot(rows, begin, i, batch + 1)
                                           : (1 + rows[s + 1]) * POSITION_ABREAST + i % POSITION_ABREAST;
    for (; slot < end; slot += POSITION_ABREAST) {
      partner[slot] = i;
      kept[slot] = (float4)(0);
    }
  }
  if (!step.memory) return;
  row[i] = (uint)first_slot(rows, begin, i, 0);
  held[i] = (uint)(rows[s + 1] - rows[s]);
}

/* ---- passes ---- */

static float relaxation_of(PositionShared step, int batch) {
  return batch == POSITION_BOUNDARY_BATCH ? step.relaxation_boundary : step.relaxation_pairs;
}

/* In iterations of the papers rows have the inverse mass alone. */
static float split_mass(PositionShared step, float w, int4 pairs, int walls, int batch) {
  if (step.averaging) return w;
  return position_split_mass(w, (float)contacts_of(pairs, walls, batch), relaxation_of(step, batch));
}

/* Displacements without contacts, masses, and where nothing has been shifted yet. `push` has the inverse mass behind it,
 * `total` the radius. */
kernel void position_load(PositionShared step, global const int4 *pairs, global const int *walls,
                          global const float *vx, global const float *vy, global const float *vz,
                          global const float *inverse, global const float *radius, global float4 *now,
                          global float4 *last, global float4 *push, global float4 *total, global float4 *left,
                          global const float *falls) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const float part = step.pins && falls[i] > 0 ? falls[i] : 1; /* see position_pin */
  float w = inverse[i], all = 0;
  LaneVec3 fall = vec_make(step.fall[0], step.fall[1], step.fall[2]);
  LaneVec3 d = vec_add(vec_mul(load3(vx, vy, vz, i), step.h), fall);
  for (int batch = 0; batch < POSITION_BATCHES; batch++) all += (float)contacts_of(pairs[i], walls[i], batch);
  if (part < 1) d = vec_sub(d, vec_mul(fall, 1 - part));
  now[i] = row_of(d, split_mass(step, w, pairs[i], walls[i], 0) * part);
  last[i] = row_of(vec_zero(), step.averaging ? w : position_split_mass(w, all, step.relaxation) * part);
  push[i] = row_of(vec_zero(), w * part);
  total[i] = row_of(vec_zero(), radius[i]);
  left[i] = (float4)(0, 0, 0, part);
}

static PositionPose pose_of(float4 row) {
  PositionPose pose = {vec_of(row), row.w};
  return pose;
}

/* Stabilisation: penetration at the step's start moves the start itself. */
kernel void position_shift(PositionShared step, global const int4 *pairs, global const int *walls,
                           global const int *rows, global const int *begin, global const int *partner,
                           global const float4 *kept, global const float4 *pose, global const float4 *last,
                           global float4 *next, global const float4 *push, global const float *soft) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  float4 own = last[i];
  LaneVec3 sum = vec_zero();
  float deep = 0;
  for (int batch = 0; batch < POSITION_BATCHES; batch++) {
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], walls[i], batch); k > 0; k--, slot += POSITION_ABREAST) {
      float4 other = batch < POSITION_BOUNDARY_BATCH ? last[partner[slot]] : (float4)(0);
      PositionTouch t = position_touch(vec_of(own), own.w, vec_of(other), other.w, pose_of(pose[slot]));
      float borne = 0;
      if (step.memory)
        borne = position_carried(kept[slot].x, t.weight, step.carried, batch == POSITION_BOUNDARY_BATCH);
      if (step.soft) borne = real_max(borne, soft[slot]);
      sum = vec_add(sum, position_part(t, step.slop + borne, step.shift_part));
      deep = deep + real_select(real_less(t.gap, 0), 1, 0);
    }
  }
  if (step.averaging) sum = vec_mul(sum, position_average(deep, step.relaxation));
  next[i] = row_of(position_pushed(vec_of(own), sum, push[i].w), own.w);
}

static PositionMultipliers multipliers_of(float4 row) {
  PositionMultipliers m = {row.x, vec_make(row.y, row.z, row.w)};
  return m;
}

/* Friction of contacts: tables of kinds, and which kind a slot is. */
static int kind_of(PositionShared step, global const int *kind, int slot, bool solid) {
  return step.kinds ? kind[slot] : 2 * (int)solid;
}

static PositionTorque torque_of(float4 row) {
  PositionTorque torque;
  torque.friction = vec_of(row);
  torque.resistance = row.w;
  return torque;
}

static float4 row_of_torque(PositionTorque torque) { return row_of(torque.friction, torque.resistance); }

/* The remembered multipliers push before the first substep, and turn. `before` has behind it whether a grain turns. */
kernel void position_warm(PositionShared step, global const int4 *pairs, global const int *walls,
                          global const int *rows, global const int *begin, global const float4 *kept,
                          global const float4 *pose, global const int *kind, global const float *rolling,
                          global const uchar *material, global const float *turns, global const float *spin_x,
                          global const float *spin_y, global const float *spin_z, global const float4 *now,
                          global float4 *next, global float4 *last, global float4 *push, global float4 *total,
                          global float4 *before, global float4 *torque, global float4 *turn) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const float w = push[i].w, radius = total[i].w;
  LaneVec3 sum = vec_zero();
  PositionTorque moment = position_no_torque();
  for (int batch = 0; step.memory && batch < POSITION_BATCHES; batch++) {
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], walls[i], batch); k > 0; k--, slot += POSITION_ABREAST) {
      PositionMultipliers m = multipliers_of(kept[slot]);
      LaneVec3 normal = vec_of(pose[slot]);
      sum = vec_add(sum, position_push(m, normal));
      if (step.turning)
        moment = position_torque(moment, m, normal,
                                 rolling[kind_of(step, kind, slot, batch == POSITION_BOUNDARY_BATCH)]);
    }
  }
  if (step.turning) {
    float way = radius * step.h, may = turns[material[i]];
    LaneVec3 rim = vec_make(spin_x[i] * way, spin_y[i] * way, spin_z[i] * way);
    before[i] = row_of(rim, may);
    torque[i] = row_of_torque(moment);
    PositionTurn turned = position_turned(rim, moment, -(may > 0), w);
    turn[i] = row_of(turned.rim, turned.yields);
  }
  float4 own = now[i];
  LaneVec3 shift = vec_of(last[i]);
  push[i] = row_of(sum, w);
  total[i] = row_of(shift, radius);
  last[i] = row_of(shift, radius);
  next[i] = row_of(position_pushed(vec_of(own), sum, w), own.w);
}

/* What a batch of a grain's contacts needs and does. */
typedef struct Own {
  LaneVec3 d, last;
  float weight, radius;
  PositionTurn turn;
} Own;

typedef struct Pushes {
  LaneVec3 push;
  PositionTorque torque;
} Pushes;

typedef struct Tables {
  global const float *mu, *tension, *rolling;
} Tables;

/* What is read of a contact before it is solved: all of it at once, as what is read later is waited for once more. */
typedef struct Slot {
  float4 pose, kept;
  float4 now, last, turn; /* rows of the partner */
  int kind;
} Slot;

static Slot read_slot(PositionShared step, int slot, int kind, int other, global const float4 *kept,
                      global const float4 *pose, global const float4 *now, global const float4 *last,
                      global const float4 *turn) {
  Slot read;
  read.pose = pose[slot];
  read.kept = step.memory ? kept[slot] : (float4)(0);
  read.now = now[other];
  read.last = last[other];
  read.turn = step.turning ? turn[other] : (float4)(0);
  read.kind = kind;
  return read;
}

/* What becomes of it. */
typedef struct Solved {
  float4 pose, kept;
  Pushes sum;
} Solved;

/* What friction acts against. */
static PositionSlide slide_of(PositionShared step, PositionTouch touch, Own own, Slot slot) {
  if (!step.turning) return position_slide(touch);
  const PositionTurn turn = {vec_of(slot.turn), slot.turn.w};
  return position_turning_slide(touch, own.turn, own.weight, turn, slot.now.w);
}

/* One contact: brings it to the substep's start, solves it, adds what that changes. */
static Solved solve_slot(PositionShared step, Own own, Slot slot, Tables tables, bool bonds, Pushes sum) {
  const PositionPose old = pose_of(slot.pose);
  const PositionPose now = position_turn(old, vec_sub(own.last, vec_of(slot.last)), own.radius + slot.last.w);
  PositionTouch touch = position_substep_touch(own.d, own.weight, vec_of(slot.now), slot.now.w, now,
                                               step.memory != 0, step.recovered);
  const PositionMultipliers before = multipliers_of(slot.kept);
  PositionMultipliers after;
  PositionFriction mu = {tables.mu[slot.kind], tables.mu[slot.kind + 1]};
  const PositionSlide slide = slide_of(step, touch, own, slot);
  if (bonds) {
    float cap = position_bond(before, now.gap, tables.tension[slot.kind], own.radius, slot.last.w);
    after = position_bonded_contact(before, touch, slide, mu, now.gap, cap);
  } else after = position_contact(before, touch, slide, mu);
  Solved solved;
  solved.pose = row_of(now.normal, now.gap);
  solved.kept = (float4)(after.normal, after.friction.x, after.friction.y, after.friction.z);
  solved.sum.push = vec_add(sum.push, position_change(before, old.normal, after, touch.normal));
  solved.sum.torque =
      step.turning ? position_torque_change(sum.torque, before, after, touch.normal, tables.rolling[slot.kind])
                   : sum.torque;
  return solved;
}

static Pushes no_pushes(void) {
  Pushes none;
  none.push = vec_zero();
  none.torque = position_no_torque();
  return none;
}

/* A grain in a pass over a batch: itself, what its contacts push it with in all, and its turn before the substep. */
typedef struct Passing {
  Own own;
  LaneVec3 pushes, rim;
  PositionTorque moment;
  float w;
  float may; /* 1: it turns */
} Passing;

static Passing begin_pass(PositionShared step, float4 row, float4 last, float4 pushed, float4 turn, float4 before,
                          float4 torque) {
  Passing grain = {{vec_of(row), vec_of(last), row.w, last.w, {{0, 0, 0}, 1}}, vec_of(pushed), vec_of(before),
                   torque_of(torque), pushed.w, before.w};
  if (step.turning) {
    grain.own.turn.rim = vec_of(turn);
    grain.own.turn.yields = turn.w;
  }
  return grain;
}

/* After some of its contacts. */
static Passing take_pushes(PositionShared step, Passing grain, Pushes sum) {
  grain.pushes = vec_add(grain.pushes, sum.push);
  grain.own.d = position_pushed(grain.own.d, sum.push, grain.w);
  if (step.turning) {
    grain.moment = position_add_torque(grain.moment, sum.torque);
    grain.own.turn = position_turned(grain.rim, grain.moment, -(grain.may > 0), grain.w);
  }
  return grain;
}

/* The push of a contact with a solid, summed up over the substeps. */
static float4 add_push(float4 sum, Solved solved) {
  return row_of(vec_add(vec_of(sum), position_push(multipliers_of(solved.kept), vec_of(solved.pose))), 0);
}

/* On to the next substep. `part` is how much of its weight a pinned grain feels. */
static PositionMotion next_motion(PositionShared step, Passing grain, float4 left, float part) {
  const PositionMotion motion = {grain.own.d, vec_of(left)};
  const LaneVec3 fall = vec_make(step.fall[0], step.fall[1], step.fall[2]);
  return position_next_substep(motion, vec_mul(fall, part), grain.pushes, grain.w, step.memory != 0);
}

static Passing next_substep(PositionShared step, Passing grain, PositionMotion motion) {
  grain.own.d = motion.displacement;
  if (!step.turning) return grain;
  if (!step.memory) grain.moment = position_no_torque();
  grain.own.turn = position_turned(grain.own.turn.rim, grain.moment, -(grain.may > 0), grain.w);
  return grain;
}

/* A batch of pairs of a substep; with the last of them the contacts with solids, and the way on to the next substep. */
kernel void position_batch_pass(
    PositionShared step, int batch, int last_substep, global const int4 *restrict pairs,
    global const int *restrict walls, global const int *restrict rows, global const int *restrict begin,
    global const int *restrict partner, global float4 *restrict kept, global float4 *restrict pose,
    global const int *restrict kind, global const float *restrict mu, global const float *restrict tension,
    global const float *restrict rolling, global const float4 *restrict now, global float4 *restrict next,
    global const float4 *restrict last, global float4 *restrict last_next, global const float4 *restrict turn,
    global float4 *restrict turn_next, global float4 *restrict own, global const float *restrict inverse,
    global const float4 *restrict wall, global float4 *restrict sums) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  own += i;
  const int rows_apart = step.own_rows;
  const Tables tables = {mu, tension, rolling};
  const int4 many = pairs[i];
  const int at_walls = walls[i];
  const float part = step.pins ? own[OWN_LEFT * rows_apart].w : 1; /* see position_pin */
  Passing grain = begin_pass(step, now[i], last[i], own[OWN_PUSH * rows_apart], step.turning ? turn[i] : (float4)(0),
                             step.turning ? own[OWN_BEFORE * rows_apart] : (float4)(0), step.turning ? own[OWN_TORQUE * rows_apart] : (float4)(0));
  const float unpinned = part < 1 ? inverse[i] : grain.w;
  Pushes sum = no_pushes();
  int slot = first_slot(rows, begin, i, batch), count = contacts_of(many, 0, batch);
  int other = count > 0 ? partner[slot] : 0;
  for (int k = count; k > 0; k--, slot += POSITION_ABREAST) {
    const Slot read = read_slot(step, slot, kind_of(step, kind, slot, false), other, kept, pose, now, last, turn);
    if (k > 1) other = partner[slot + POSITION_ABREAST];
    const Solved solved = solve_slot(step, grain.own, read, tables, step.bonds != 0, sum);
    pose[slot] = solved.pose;
    kept[slot] = solved.kept;
    sum = solved.sum;
  }
  grain = take_pushes(step, grain, sum);
  if (batch == POSITION_PAIR_BATCHES - 1) {
    grain.own.weight = split_mass(step, unpinned, many, at_walls, POSITION_BOUNDARY_BATCH) * part;
    sum = no_pushes();
    slot = first_slot(rows, begin, i, POSITION_BOUNDARY_BATCH);
    for (int k = at_walls; k > 0; k--, slot += POSITION_ABREAST) {
      int g = partner[slot] - step.boundary_row;
      const Slot read =
          read_slot(step, slot, kind_of(step, kind, slot, true), g, kept, pose, wall + WALL_NOW * step.wall_rows,
                    wall + WALL_LAST * step.wall_rows, wall + WALL_RIM * step.wall_rows);
      const Solved solved = solve_slot(step, grain.own, read, tables, false, sum);
      pose[slot] = solved.pose;
      kept[slot] = solved.kept;
      sum = solved.sum;
      sums[g] = add_push(sums[g], solved);
    }
    if (at_walls > 0) grain = take_pushes(step, grain, sum);
    last_next[i] = row_of(grain.own.d, grain.own.radius);
    own[OWN_TOTAL * rows_apart] = row_of(vec_add(vec_of(own[OWN_TOTAL * rows_apart]), grain.own.d), grain.own.radius);
    if (!last_substep) {
      if (step.turning) own[OWN_BEFORE * rows_apart] = row_of(grain.own.turn.rim, grain.may);
      const PositionMotion motion = next_motion(step, grain, own[OWN_LEFT * rows_apart], part);
      own[OWN_LEFT * rows_apart] = row_of(motion.left, part);
      grain = next_substep(step, grain, motion);
    }
  }
  if (step.turning) {
    own[OWN_TORQUE * rows_apart] = row_of_torque(grain.moment);
    turn_next[i] = row_of(grain.own.turn.rim, grain.own.turn.yields);
  }
  own[OWN_PUSH * rows_apart] = row_of(grain.pushes, grain.w);
  next[i] = row_of(grain.own.d, split_mass(step, unpinned, many, at_walls, (batch + 1) % POSITION_PAIR_BATCHES) * part);
}

/* ---- the end of a step ---- */

/* Grains that nothing is solved for fall. */
kernel void position_fall(PositionShared step, global const float4 *now, global const float4 *last,
                          global float4 *total) {
  int i = (int)get_global_id(0);
  if (i < step.count) total[i] = row_of(vec_add(vec_of(last[i]), vec_of(now[i])), total[i].w);
}

/* Velocities and displacements. Rows of contacts with solids have keys of their own to be remembered by. */
kernel void position_finish(PositionShared step, global const float4 *now, global const float4 *total,
                            global const float4 *turn, global float *vx, global float *vy, global float *vz,
                            global float *dx, global float *dy, global float *dz, global float *spin_x,
                            global float *spin_y, global float *spin_z, global uint *number, global const int *walls,
                            global const int *rows, global const int *begin, global const BoundaryShared *boundary,
                            global int *partner) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const float4 d = now[i], way = total[i];
  vx[i] = d.x / step.h;
  vy[i] = d.y / step.h;
  vz[i] = d.z / step.h;
  dx[i] = way.x;
  dy[i] = way.y;
  dz[i] = way.z;
  if (step.memory) {
    number[i] = (uint)i + 1;
    int slot = first_slot(rows, begin, i, POSITION_BOUNDARY_BATCH);
    for (int k = walls[i]; k > 0; k--, slot += POSITION_ABREAST)
      partner[slot] = (int)boundary[partner[slot] - step.boundary_row].key;
  }
  if (!step.turning) return;
  float per = 1 / real_max(way.w * step.h, POSITION_TINY);
  LaneVec3 spin = vec_mul(vec_of(turn[i]), per);
  spin_x[i] = spin.x;
  spin_y[i] = spin.y;
  spin_z[i] = spin.z;
}

/* The deepest penetration of two grains, as a share of the sum of their radii: bits of a float, not below zero. */
kernel void position_overlap(PositionShared step, global const int4 *pairs, global const int *rows,
                             global const int *begin, global const int *partner, global const float *x,
                             global const float *y, global const float *z, global const float4 *total,
                             global int *deepest) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  float most = 0;
  LaneVec3 at = vec_add(load3(x, y, z, i), vec_of(total[i]));
  for (int batch = 0; batch < POSITION_PAIR_BATCHES; batch++) {
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], 0, batch); k > 0; k--, slot += POSITION_ABREAST) {
      int j = partner[slot];
      LaneVec3 other = vec_add(load3(x, y, z, j), vec_of(total[j]));
      most = real_max(most, position_penetration(vec_sub(at, other), total[i].w + total[j].w));
    }
  }
  if (most > 0) atomic_max(deepest, as_int(most));
}
