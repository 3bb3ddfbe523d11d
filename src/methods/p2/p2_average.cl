/* Iterations of the paper: all contacts of a grain at a time, averaged (Eq. 9). */
#include "methods/p2/p2.cl"

/* A contact as the displacements so far leave it, and what it does. */
typedef struct Averaged {
  PositionTouch touch;
  P2Multipliers before;
  Mask acts;
} Averaged;

static Averaged read_averaged(PositionTouch touch, float4 kept, Spring spring) {
  Averaged contact;
  contact.touch = p2_touch(touch, touch.gap, spring.soft, vec_zero());
  contact.before.sum = multipliers_of(kept);
  contact.before.pull = spring.pull;
  contact.acts = p2_acts(contact.touch.gap, spring.within, contact.before.sum.normal);
  return contact;
}

/* As p2_average_pass of the CPU. */
kernel void p2_average_pass(PositionShared step, P2Shared p2, global const int4 *restrict pairs,
                            global const int *restrict walls, global const int *restrict rows,
                            global const int *restrict begin, global const int *restrict partner,
                            global float4 *restrict kept, global const float4 *restrict pose,
                            global const int *restrict kind, global const float *restrict mu,
                            global const float4 *restrict law, global const float *restrict within,
                            global float *restrict pull, global const float *restrict soft,
                            global const float *restrict tilt, global const float4 *restrict now,
                            global float4 *restrict next, global const float4 *restrict last,
                            global const float4 *restrict push, global const float4 *restrict wall_now,
                            global const float4 *restrict wall_last) {
  const int i = (int)get_global_id(0);
  if (i >= step.count) return;
  const Own own = {vec_of(now[i]), vec_of(last[i]), now[i].w, last[i].w, {{0, 0, 0}, 1}};
  LaneVec3 sum = vec_zero();
  float count = 0, average = 0;
  for (int round = 0; round < 2; round++) { /* how many act; then what each of them does */
    for (int batch = 0; batch < POSITION_BATCHES; batch++) {
      const bool solid = batch == POSITION_BOUNDARY_BATCH;
      int slot = first_slot(rows, begin, i, batch);
      for (int k = contacts_of(pairs[i], walls[i], batch); k > 0; k--, slot += POSITION_ABREAST) {
        const PositionTouch touch = average_slot(step, own, slot, solid, partner, pose, now, last, wall_now, wall_last);
        const Spring spring = read_spring(p2, slot, law, within, pull, soft, tilt, law);
        const Averaged contact = read_averaged(touch, kept[slot], spring);
        if (round == 0) {
          count = count + real_select(contact.acts, 1, 0);
          continue;
        }
        const int of = kind_of(step, kind, slot, solid);
        const PositionFriction friction = {mu[of], mu[of + 1]};
        const P2Constants constants = {spring.law.x, spring.law.y, spring.law.z, spring.law.w};
        const P2Multipliers after = p2_contact(contact.before, contact.touch, position_slide(contact.touch), constants,
                                               friction, contact.acts, true, average);
        LaneVec3 change = position_change(contact.before.sum, touch.normal, after.sum, contact.touch.normal);
        if (p2.reduces) change = vec_mul(change, p2_upper_share(spring.tilt, own.weight, contact.touch.weight));
        kept[slot] = (float4)(after.sum.normal, after.sum.friction.x, after.sum.friction.y, after.sum.friction.z);
        pull[slot] = after.pull;
        sum = vec_add(sum, change);
      }
    }
    average = position_average(count, 1);
  }
  next[i] = row_of(position_pushed(own.d, sum, push[i].w), own.weight);
}
