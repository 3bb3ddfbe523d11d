/* The kernels of pbd: those of the position-based family, and iterations of the papers: all contacts of a grain at a time,
 * averaged. */
#include "methods/common/position.cl"

/* A contact as the displacements so far leave it. */
static PositionTouch average_touch(Own own, float4 now, float4 last, float4 pose) {
  return position_iteration_touch(own.d, own.weight, vec_of(now), now.w, pose_of(pose),
                                  vec_sub(own.last, vec_of(last)), own.radius + last.w);
}

/* A contact's rows: those of a partner, or of a solid. */
static PositionTouch average_slot(PositionShared step, Own own, int slot, bool solid, global const int *partner,
                                  global const float4 *pose, global const float4 *now, global const float4 *last,
                                  global const float4 *wall_now, global const float4 *wall_last) {
  const int other = partner[slot], g = other - step.boundary_row;
  return average_touch(own, solid ? wall_now[g] : now[other], solid ? wall_last[g] : last[other], pose[slot]);
}

/* As position_average_pass of the CPU. The multipliers keep count of what was applied, for the forces on solids. */
kernel void position_average_pass(PositionShared step, global const int4 *restrict pairs,
                                  global const int *restrict walls, global const int *restrict rows,
                                  global const int *restrict begin, global const int *restrict partner,
                                  global float4 *restrict kept, global const float4 *restrict pose,
                                  global const int *restrict kind, global const float *restrict mu,
                                  global const float4 *restrict now, global float4 *restrict next,
                                  global const float4 *restrict last, global const float4 *restrict push,
                                  global const float4 *restrict wall_now, global const float4 *restrict wall_last) {
  const int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const Own own = {vec_of(now[i]), vec_of(last[i]), now[i].w, last[i].w, {{0, 0, 0}, 1}};
  LaneVec3 sum = vec_zero();
  float touching = 0, average = 0;
  for (int round = 0; round < 2; round++) { /* how many touch; then what each of them does */
    for (int batch = 0; batch < POSITION_BATCHES; batch++) {
      const bool solid = batch == POSITION_BOUNDARY_BATCH;
      int slot = first_slot(rows, begin, i, batch);
      for (int k = contacts_of(pairs[i], walls[i], batch); k > 0; k--, slot += POSITION_ABREAST) {
        const PositionTouch touch = average_slot(step, own, slot, solid, partner, pose, now, last, wall_now, wall_last);
        const int of = kind_of(step, kind, slot, solid);
        const PositionFriction friction = {mu[of], mu[of + 1]};
        const PositionPrinted printed = position_printed(touch, friction, step.printed_limit);
        if (round == 0) {
          touching = touching + real_select(printed.touches, 1, 0);
          sum = vec_add(sum, position_push(printed.push, touch.normal));
          continue;
        }
        PositionMultipliers applied = multipliers_of(kept[slot]);
        applied.normal = applied.normal + printed.push.normal * average;
        applied.friction = vec_add(applied.friction, vec_mul(printed.push.friction, average));
        kept[slot] = (float4)(applied.normal, applied.friction.x, applied.friction.y, applied.friction.z);
      }
    }
    average = position_average(touching, step.relaxation);
  }
  next[i] = row_of(position_pushed(own.d, vec_mul(sum, average), push[i].w), own.weight);
}

/* After the last: what contacts with solids have pushed with. */
kernel void position_sum_walls(PositionShared step, global const int *slots, global const float4 *kept,
                               global const float4 *pose, global float4 *sums) {
  const int g = (int)get_global_id(0);
  if (g >= step.boundary_count) return;
  const LaneVec3 push = position_push(multipliers_of(kept[slots[g]]), vec_of(pose[slots[g]]));
  sums[g] = row_of(vec_add(vec_of(sums[g]), push), 0);
}
