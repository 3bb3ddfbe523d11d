/* p2 on a device: what it has besides the position-based family (position.cl). Springs, dampers and adhesion of
 * contacts, their passes, lumps that turn, error reduction, the limit of speeds and sleep. Laws and order are the CPU's. */
#include "methods/common/position_average.cl"
#include "methods/p2/p2_factor_shared.h"
#include "methods/p2/p2_rest_law.h"
#include "methods/p2/p2_shared.h"
#include "methods/p2/p2_turn_shared.h"

/* ---- what contacts are made of ---- */

/* The square of the longest displacement without contacts. */
kernel void p2_fastest(int count, int word, global const float *dx, global const float *dy, global const float *dz,
                       global int *words) {
  local int fastest;
  int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) fastest = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < count) {
    const float square = dx[i] * dx[i] + dy[i] * dy[i] + dz[i] * dz[i];
    if (square > 0) atomic_max(&fastest, as_int(square));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0 && fastest > 0) atomic_max(&words[word], fastest);
}

/* Rows of contacts with solids as they stand before anything pushes: where the solid brings the point in a substep. */
kernel void p2_walls(PositionShared step, global const BoundaryShared *boundary, global const BoundaryBody *bodies,
                     global const int *touched, global const double *motions, global float4 *wall_now) {
  int g = (int)get_global_id(0);
  if (g >= step.boundary_count) return;
  const BoundaryShared contact = boundary[g];
  global const double *motion = motions + RIDE_DOUBLES * contact.solid;
  const Vec3 arm = vec3((double)contact.arm[0], (double)contact.arm[1], (double)contact.arm[2]);
  Vec3 way = vec3(0, 0, 0);
  if (motion[RIDE_STILL] == 0) way = carried(vec3_at(motion + RIDE_SHIFT), motion + RIDE_TURN, arm);
  wall_now[g] = row_of_vec3(way, boundary_weight(step, bodies + contact.solid, touched[contact.solid], contact));
}

static P2Side p2_side(global const double *materials, int material, float mass, float radius, float weight) {
  P2Side side;
  global const double *own = materials + P2_MATERIAL_DOUBLES * material;
  side.material.stiffness = own[0], side.material.damping = own[1], side.material.adhesion = own[2];
  side.mass = (double)mass;
  side.radius = (double)radius;
  side.weight = (double)weight;
  return side;
}

static float p2_predicted(PositionShared step, float4 pose, float4 own, float4 other) {
  return pose.w + (float)step.substeps * vec_dot(vec_sub(vec_of(own), vec_of(other)), vec_of(pose));
}

static float p2_downward(P2Shared p2, float4 pose) {
  return pose.x * p2.down[0] + pose.y * p2.down[1] + pose.z * p2.down[2];
}

/* Numbers of all contacts of a grain, and how many of each batch act or are likely to. `law` has spring, damper, cap and
 * grip. */
kernel void p2_make(PositionShared step, P2Shared p2, global const int4 *pairs, global const int *walls,
                    global const int *rows, global const int *begin, global const int *partner, global float4 *kept,
                    global const float4 *pose, global const int *kind, global const float *mu,
                    global const float *tension, global const double *materials, global const uchar *material,
                    global const float *mass, global const float *radius, global const float4 *push,
                    global const float4 *now, global const float4 *wall_now, global const BoundaryShared *boundary,
                    global const int *touched, global float4 *law, global float *within, global float *pull,
                    global float *soft, global float *tilt, global int4 *likely, global int *likely_walls) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const P2Side own = p2_side(materials, material[i], mass[i], radius[i], push[i].w);
  int counts[POSITION_BATCHES];
  for (int batch = 0; batch < POSITION_BATCHES; batch++) {
    const bool solid = batch == POSITION_BOUNDARY_BATCH;
    int slot = first_slot(rows, begin, i, batch);
    counts[batch] = 0;
    for (int k = contacts_of(pairs[i], walls[i], batch); k > 0; k--, slot += POSITION_ABREAST) {
      const int j = partner[slot], g = j - step.boundary_row, of = kind_of(step, kind, slot, solid);
      const float4 there = solid ? wall_now[g] : now[j];
      P2Side other = own;
      P2Meeting meets;
      meets.pair = !solid;
      meets.mixed = 0;
      meets.gap = pose[slot].w;
      meets.predicted = p2_predicted(step, pose[slot], now[i], there);
      meets.tension = step.bonds ? tension[of] : 0;
      meets.friction = mu[of];
      meets.averaging = step.averaging;
      meets.dt = p2.dt;
      meets.gravity = p2.gravity;
      meets.rigid = p2.rigid;
      if (solid) {
        const int shared = step.averaging ? 1 : touched[boundary[g].solid];
        other.weight = (double)there.w / (double)(shared > 0 ? shared : 1);
      } else {
        other = p2_side(materials, material[j], mass[j], radius[j], push[j].w);
        meets.mixed = material[i] != material[j];
      }
      P2Made made = p2_made(meets, own, other, kept[slot].x);
      made = step.averaging ? p2_average_spring(made, p2_factors(made.stiffness, made.damping, made.mass, p2.dt,
                                                                 p2.iterations))
                            : p2_split_spring(made, p2.dt);
      if (made.forgets) kept[slot] = (float4)(0);
      else kept[slot].x = made.normal;
      law[slot] = (float4)(made.spring, made.damper, made.cap, made.grip);
      within[slot] = made.within;
      pull[slot] = made.pull;
      soft[slot] = made.soft;
      if (p2.reduces) tilt[slot] = solid ? 0 : p2.error_reduction * p2_downward(p2, pose[slot]);
      counts[batch] += p2_is_likely(made, meets.predicted, p2.radius);
    }
  }
  likely[i] = (int4)(counts[0], counts[1], counts[2], counts[3]);
  likely_walls[i] = counts[POSITION_BOUNDARY_BATCH];
}

/* A grain's mass is split among the contacts that are likely to act. */
kernel void p2_masses(PositionShared step, global const int4 *likely, global const int *likely_walls,
                      global const float4 *push, global float4 *now, global float4 *last) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  float all = 0;
  for (int batch = 0; batch < POSITION_BATCHES; batch++) all += (float)contacts_of(likely[i], likely_walls[i], batch);
  now[i].w = split_mass(step, push[i].w, likely[i], likely_walls[i], 0);
  last[i].w = position_split_mass(push[i].w, all, step.relaxation);
}

/* ---- lumps that turn ---- */

static double apart_of(global const float4 *pose, global const float *radius, int slot, int i, int j) {
  return (double)(pose[slot].w + radius[i] + radius[j]);
}

kernel void p2_turn(PositionShared step, P2Shared p2, global const int4 *pairs, global const int *walls,
                    global const int *rows, global const int *begin, global const int *partner,
                    global const float4 *pose, global const BoundaryShared *boundary,
                    global const BoundaryBody *bodies, global const float *vx, global const float *vy,
                    global const float *vz, global const float *radius, global float4 *turn) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  P2Turning around = p2_turning_begin();
  for (int batch = 0; batch < POSITION_BATCHES; batch++) {
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], walls[i], batch); k > 0; k--, slot += POSITION_ABREAST) {
      const int j = partner[slot];
      if (!(pose[slot].w < 0)) continue;
      if (batch == POSITION_BOUNDARY_BATCH) {
        around = p2_turning_solid(around, bodies[boundary[j - step.boundary_row].solid].spin);
        continue;
      }
      const Vec3 v = vec3((double)(vx[i] - vx[j]), (double)(vy[i] - vy[j]), (double)(vz[i] - vz[j]));
      around = p2_turning_pair(around, vec3_of(pose[slot]), v, apart_of(pose, radius, slot, i, j));
    }
  }
  turn[i] = row_of_vec3(p2_turning_end(around, p2.dt), 0);
}

kernel void p2_roll_slots(PositionShared step, global const int4 *pairs, global const int *walls,
                          global const int *rows, global const int *begin, global const int *partner,
                          global const float4 *pose, global const float *radius, global const float4 *law,
                          global const float4 *turn, global float4 *roll) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  for (int batch = 0; batch < POSITION_BATCHES; batch++) {
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], walls[i], batch); k > 0; k--, slot += POSITION_ABREAST) {
      const int j = partner[slot];
      roll[slot] = (float4)(0);
      if (batch == POSITION_BOUNDARY_BATCH || !(law[slot].z > 0)) continue;
      roll[slot] = row_of_vec3(
          p2_roll(vec3_of(turn[i] + turn[j]), vec3_of(pose[slot]), apart_of(pose, radius, slot, i, j)), 0);
    }
  }
}

/* ---- passes ---- */

/* What a contact has besides the family's. */
typedef struct Spring {
  float4 law, roll;
  float within, pull, soft, tilt;
} Spring;

static Spring read_spring(P2Shared p2, int slot, global const float4 *law, global const float *within,
                          global const float *pull, global const float *soft, global const float *tilt,
                          global const float4 *roll) {
  Spring spring;
  spring.law = law[slot];
  spring.within = within[slot];
  spring.pull = pull[slot];
  spring.soft = soft[slot];
  spring.tilt = p2.reduces ? tilt[slot] : 0;
  spring.roll = p2.rolls ? roll[slot] : (float4)(0);
  return spring;
}

typedef struct SpringSolved {
  Solved solved;
  float pull;
} SpringSolved;

/* One contact: as solve_slot. */
static SpringSolved solve_spring(PositionShared step, P2Shared p2, Own own, Slot slot, Spring spring, Tables tables,
                                 Pushes sum) {
  const PositionPose old = pose_of(slot.pose);
  const PositionPose now = position_turn(old, vec_sub(own.last, vec_of(slot.last)), own.radius + slot.last.w);
  PositionTouch touch =
      position_substep_touch(own.d, own.weight, vec_of(slot.now), slot.now.w, now, step.memory != 0, step.recovered);
  const float gap = position_touch(own.d, own.weight, vec_of(slot.now), slot.now.w, now).gap;
  touch = p2_touch(touch, gap, spring.soft, vec_of(spring.roll));
  P2Multipliers before = {multipliers_of(slot.kept), spring.pull};
  const Mask acts = p2_acts(touch.gap, spring.within, before.sum.normal);
  if (!step.memory) {
    before.sum = multipliers_of((float4)(0));
    before.pull = 0;
  }
  const P2Constants constants = {spring.law.x, spring.law.y, spring.law.z, spring.law.w};
  const PositionFriction mu = {tables.mu[slot.kind], tables.mu[slot.kind + 1]};
  const PositionSlide slide = slide_of(step, touch, own, slot);
  const P2Multipliers after = p2_contact(before, touch, slide, constants, mu, acts, false, 1);
  LaneVec3 push = position_change(before.sum, old.normal, after.sum, touch.normal);
  if (p2.reduces) push = vec_mul(push, p2_upper_share(spring.tilt, own.weight, touch.weight));
  SpringSolved result;
  result.pull = after.pull;
  result.solved.pose = row_of(now.normal, now.gap);
  result.solved.kept =
      (float4)(after.sum.normal, after.sum.friction.x, after.sum.friction.y, after.sum.friction.z);
  result.solved.sum.push = vec_add(sum.push, push);
  result.solved.sum.torque = step.turning ? position_torque_change(sum.torque, before.sum, after.sum, touch.normal,
                                                                   tables.rolling[slot.kind])
                                          : sum.torque;
  return result;
}

/* As position_batch_pass. */
kernel void p2_batch_pass(
    PositionShared step, P2Shared p2, int batch, int last_substep, global const int4 *restrict pairs,
    global const int *restrict walls, global const int *restrict rows, global const int *restrict begin,
    global const int *restrict partner, global float4 *restrict kept, global float4 *restrict pose,
    global const int *restrict kind, global const float *restrict mu, global const float *restrict rolling,
    global const float4 *restrict law, global const float *restrict within, global float *restrict pull,
    global const float *restrict soft, global const float *restrict tilt, global const float4 *restrict roll,
    global const int4 *restrict likely, global const int *restrict likely_walls, global const float4 *restrict now,
    global float4 *restrict next, global const float4 *restrict last, global float4 *restrict last_next,
    global const float4 *restrict turn, global float4 *restrict turn_next, global float4 *restrict push,
    global float4 *restrict total, global float4 *restrict left, global float4 *restrict before,
    global float4 *restrict torque, global const float4 *restrict wall_now, global const float4 *restrict wall_last,
    global const float4 *restrict wall_rim, global float4 *restrict sums) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const Tables tables = {mu, 0, rolling};
  const int4 shares = likely[i];
  const int wall_shares = likely_walls[i];
  const float part = step.pins ? left[i].w : 1; /* see position_pin */
  Passing grain = begin_pass(step, now[i], last[i], push[i], step.turning ? turn[i] : (float4)(0),
                             step.turning ? before[i] : (float4)(0), step.turning ? torque[i] : (float4)(0));
  Pushes sum = no_pushes();
  int slot = first_slot(rows, begin, i, batch);
  for (int k = contacts_of(pairs[i], 0, batch); k > 0; k--, slot += POSITION_ABREAST) {
    Slot read = read_slot(step, slot, kind_of(step, kind, slot, false), partner[slot], kept, pose, now, last, turn);
    read.kept = kept[slot];
    const Spring spring = read_spring(p2, slot, law, within, pull, soft, tilt, roll);
    const SpringSolved done = solve_spring(step, p2, grain.own, read, spring, tables, sum);
    pose[slot] = done.solved.pose;
    kept[slot] = done.solved.kept;
    pull[slot] = done.pull;
    sum = done.solved.sum;
  }
  grain = take_pushes(step, grain, sum);
  if (batch == POSITION_PAIR_BATCHES - 1) {
    grain.own.weight = split_mass(step, grain.w, shares, wall_shares, POSITION_BOUNDARY_BATCH);
    sum = no_pushes();
    slot = first_slot(rows, begin, i, POSITION_BOUNDARY_BATCH);
    for (int k = walls[i]; k > 0; k--, slot += POSITION_ABREAST) {
      const int g = partner[slot] - step.boundary_row;
      Slot read = read_slot(step, slot, kind_of(step, kind, slot, true), g, kept, pose, wall_now, wall_last, wall_rim);
      read.kept = kept[slot];
      const Spring spring = read_spring(p2, slot, law, within, pull, soft, tilt, roll);
      const SpringSolved done = solve_spring(step, p2, grain.own, read, spring, tables, sum);
      pose[slot] = done.solved.pose;
      kept[slot] = done.solved.kept;
      pull[slot] = done.pull;
      sum = done.solved.sum;
      sums[g] = add_push(sums[g], done.solved);
    }
    grain = take_pushes(step, grain, sum);
    last_next[i] = row_of(grain.own.d, grain.own.radius);
    total[i] = row_of(vec_add(vec_of(total[i]), grain.own.d), grain.own.radius);
    if (!last_substep) {
      if (step.turning) before[i] = row_of(grain.own.turn.rim, grain.may);
      const PositionMotion motion = next_motion(step, grain, left[i], part);
      left[i] = row_of(motion.left, part);
      grain = next_substep(step, grain, motion);
    }
  }
  if (step.turning) {
    torque[i] = row_of_torque(grain.moment);
    turn_next[i] = row_of(grain.own.turn.rim, grain.own.turn.yields);
  }
  push[i] = row_of(grain.pushes, grain.w);
  next[i] =
      row_of(grain.own.d, split_mass(step, grain.w, shares, wall_shares, (batch + 1) % POSITION_PAIR_BATCHES));
}

/* ---- the end of a step ---- */

/* Who is faster than contacts can have made him is not. */
kernel void p2_limit(PositionShared step, P2Shared p2, global float4 *now, global float4 *total, global int *words) {
  local int cut;
  int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) cut = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < step.count) {
    const float longest = p2_longest(p2.way, as_float(words[p2.words + P2_WORD_FASTEST]));
    const P2Limited limited = p2_limited(vec_of(now[i]), (float)step.substeps, longest);
    if (limited.cut) {
      now[i] = row_of(limited.d, now[i].w);
      total[i] = row_of(vec_mul(limited.d, (float)step.substeps), total[i].w);
      atomic_inc(&cut);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0 && cut > 0) atomic_add(&words[p2.words + P2_WORD_LIMITED], cut);
}

static Mask slot_sticks(PositionShared step, P2Shared p2, int slot, bool solid, float4 press, global const int *kind,
                        global const float *mu, global const float4 *law, global const float *pull) {
  const float pulls = p2.springs ? pull[slot] : 0, grip = p2.springs ? law[slot].w : 0;
  return p2_sticks(vec_make(press.y, press.z, press.w), mu[kind_of(step, kind, slot, solid)], press.x - pulls, grip);
}

/* Who sleeps: as sleep_chunk of sleep.c. `found` has behind it whether the grain does. */
kernel void p2_sleep(PositionShared step, P2Shared p2, global const int4 *pairs, global const int *walls,
                     global const int *rows, global const int *begin, global const int *partner,
                     global const float4 *kept, global const float4 *pose, global const int *kind,
                     global const float *mu, global const float4 *law, global const float *pull,
                     global const float *mass, global const float4 *now, global const float4 *total,
                     global const float4 *wall_now, global const float *rest_x, global const float *rest_y,
                     global const float *rest_z, global const float *held_x, global const float *held_y,
                     global const float *held_z, global const int *borne, global float4 *found, global float4 *held) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const LaneVec3 own = load3(held_x, held_y, held_z, i);
  const float substeps = (float)step.substeps;
  LaneVec3 sum = vec_zero();
  float force = 0;
  P2Sleeper grain;
  grain.moved = vec_of(total[i]);
  grain.swift = vec_mul(vec_of(now[i]), substeps);
  grain.held = own;
  grain.support = vec_zero();
  grain.borne = p2.tied ? -(borne[i] > 0) : 0;
  for (int batch = 0; batch < POSITION_BATCHES; batch++) {
    const bool solid = batch == POSITION_BOUNDARY_BATCH;
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], walls[i], batch); k > 0; k--, slot += POSITION_ABREAST) {
      const float4 press = kept[slot];
      if (!(press.x > 0)) continue;
      const int j = partner[slot];
      const Mask sticks = slot_sticks(step, p2, slot, solid, press, kind, mu, law, pull);
      const LaneVec3 moved = solid ? vec_mul(vec_of(wall_now[j - step.boundary_row]), substeps)
                                   : vec_mul(load3(rest_x, rest_y, rest_z, j), p2.step_dt);
      sum = vec_add(sum, vec_mul(moved, press.x));
      force += press.x;
      grain.held = p2_share_held(grain.held, own, solid ? vec_zero() : load3(held_x, held_y, held_z, j),
                                 vec_of(pose[slot]), solid ? 1 : mass[j] / mass[i], sticks);
    }
  }
  bool quiet = force > 0;
  if (quiet) grain.support = vec_make(sum.x / force, sum.y / force, sum.z / force);
  for (int batch = 0; batch < POSITION_BATCHES && quiet; batch++) {
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], walls[i], batch); k > 0; k--, slot += POSITION_ABREAST) {
      const int j = partner[slot];
      if (!(kept[slot].x > 0)) continue;
      const LaneVec3 moved = batch == POSITION_BOUNDARY_BATCH
                                 ? vec_mul(vec_of(wall_now[j - step.boundary_row]), substeps)
                                 : vec_of(total[j]);
      if (p2_apart(moved, grain.support) > P2_WAKES * p2.slow) quiet = false;
    }
  }
  grain.quiet = -quiet;
  const P2Found kept_back = p2_found(grain, p2.tied != 0, p2.slow, p2.step_dt);
  found[i] = row_of(kept_back.moves, kept_back.asleep ? 1 : 0);
  held[i] = row_of(kept_back.held, 0);
}

kernel void p2_wake(PositionShared step, P2Shared p2, global const float4 *found, global const float4 *held,
                    global float4 *now, global float4 *total, global float4 *turn, global float *rest_x,
                    global float *rest_y, global float *rest_z, global float *held_x, global float *held_y,
                    global float *held_z) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  P2Found grain;
  grain.moves = vec_of(found[i]);
  grain.held = vec_of(held[i]);
  grain.asleep = -(found[i].w > 0);
  now[i] = row_of(p2_woken(vec_of(now[i]), vec_of(total[i]), grain, (float)step.substeps), now[i].w);
  total[i] = row_of(grain.moves, total[i].w);
  if (step.turning && grain.asleep) turn[i] = (float4)(0, 0, 0, turn[i].w);
  rest_x[i] = grain.moves.x / p2.step_dt;
  rest_y[i] = grain.moves.y / p2.step_dt;
  rest_z[i] = grain.moves.z / p2.step_dt;
  held_x[i] = grain.held.x;
  held_y[i] = grain.held.y;
  held_z[i] = grain.held.z;
}
