/* All kernels of p2. Its own: the graph of the contacts, how far grains are from the ground (reduce.c), and which of them
 * solids bear (sleep.c). Steps through it are launches: what a launch reaches does not depend on its order. */
#include "methods/p2/p2_average.cl"

/* Steps to the ground of grains that lie on it: 1; of others 0. */
kernel void p2_ground(PositionShared step, P2Shared p2, global const int *walls, global const int *rows,
                      global const int *begin, global const int *partner, global const float4 *pose,
                      global const BoundaryShared *boundary, global const BoundaryBody *bodies,
                      global const float4 *now, global const float4 *wall_now, global int *level) {
  const int i = (int)get_global_id(0);
  if (i >= step.count) return;
  int slot = first_slot(rows, begin, i, POSITION_BOUNDARY_BATCH), lies = 0;
  for (int k = walls[i]; k > 0; k--, slot += POSITION_ABREAST) {
    const int g = partner[slot] - step.boundary_row;
    if (bodies[boundary[g].solid].movable || !(p2_downward(p2, pose[slot]) < -P2_UPRIGHT)) continue;
    if (p2_predicted(step, pose[slot], now[i], wall_now[g]) < P2_LIKELY_GAP * p2.radius) lies = 1;
  }
  level[i] = lies;
}

/* Grains on this level tell those that they touch. */
kernel void p2_climb(PositionShared step, P2Shared p2, int from, global const int4 *pairs, global const int *rows,
                     global const int *begin, global const int *partner, global const float4 *pose,
                     global const float4 *now, global int *level, global int *more) {
  const int i = (int)get_global_id(0);
  if (i >= step.count || atomic_or(&level[i], 0) != from) return;
  for (int batch = 0; batch < POSITION_PAIR_BATCHES; batch++) {
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], 0, batch); k > 0; k--, slot += POSITION_ABREAST) {
      const int j = partner[slot];
      if (!(p2_predicted(step, pose[slot], now[i], now[j]) < P2_LIKELY_GAP * p2.radius)) continue;
      if (atomic_cmpxchg(&level[j], 0, from + 1) == 0) atomic_or(more, 1);
    }
  }
}

/* What the levels of two make of the tilt. */
kernel void p2_tilt(PositionShared step, P2Shared p2, global const int4 *pairs, global const int *rows,
                    global const int *begin, global const int *partner, global const int *level, global float *tilt) {
  const int i = (int)get_global_id(0);
  if (i >= step.count) return;
  for (int batch = 0; batch < POSITION_PAIR_BATCHES; batch++) {
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], 0, batch); k > 0; k--, slot += POSITION_ABREAST)
      tilt[slot] = p2.error_reduction * p2_level_tilt(level[i], level[partner[slot]]);
  }
}

/* Whether a contact presses and sticks. */
static bool slot_ties(PositionShared step, P2Shared p2, int slot, bool solid, global const float4 *kept,
                      global const int *kind, global const float *mu, global const float4 *law,
                      global const float *pull) {
  const float4 press = kept[slot];
  if (!(press.x > 0)) return false;
  return slot_sticks(step, p2, slot, solid, press, kind, mu, law, pull) != 0;
}

/* Who sticks to something; who to a solid is borne. */
kernel void p2_ties(PositionShared step, P2Shared p2, global const int4 *pairs, global const int *walls,
                    global const int *rows, global const int *begin, global const float4 *kept,
                    global const int *kind, global const float *mu, global const float4 *law,
                    global const float *pull, global int *ties, global int *borne) {
  const int i = (int)get_global_id(0);
  if (i >= step.count) return;
  int any = 0, to_solid = 0;
  for (int batch = 0; batch < POSITION_BATCHES; batch++) {
    const bool solid = batch == POSITION_BOUNDARY_BATCH;
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], walls[i], batch); k > 0; k--, slot += POSITION_ABREAST) {
      if (!slot_ties(step, p2, slot, solid, kept, kind, mu, law, pull)) continue;
      any = 1;
      if (solid) to_solid = 1;
    }
  }
  ties[i] = any;
  borne[i] = to_solid;
}

/* Who is borne bears those that he presses and that stick to something. */
kernel void p2_bear(PositionShared step, int from, global const int4 *pairs, global const int *rows,
                    global const int *begin, global const int *partner, global const float4 *kept,
                    global const int *ties, global int *borne, global int *more) {
  const int i = (int)get_global_id(0);
  if (i >= step.count || atomic_or(&borne[i], 0) != from) return;
  for (int batch = 0; batch < POSITION_PAIR_BATCHES; batch++) {
    int slot = first_slot(rows, begin, i, batch);
    for (int k = contacts_of(pairs[i], 0, batch); k > 0; k--, slot += POSITION_ABREAST) {
      const int j = partner[slot];
      if (!(kept[slot].x > 0) || !ties[j]) continue;
      if (atomic_cmpxchg(&borne[j], 0, from + 1) == 0) atomic_or(more, 1);
    }
  }
}
