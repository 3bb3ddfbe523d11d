/* How kernels keep a fine grain out of all solids: one text for the many, and for those that are looked at closer.
 *
 * Whoever includes it says before what a closer look at one solid is: ExactSolids, and
 *   look_closer(grain, frame, solid, table, values, exact, number of the solid, round, contact),
 * which may move the grain's end and change the contact found there. */
#ifndef UPSAMPLE_FINE_WALLS_SHARED_H
#define UPSAMPLE_FINE_WALLS_SHARED_H

/* As walls_after of the CPU. Returns whether the grain is left to others. */
static bool walls_after(Grain *grain, int material, global const FineFrame *frame, global const SolidShared *solids,
                        global const int *table, global const float *values, ExactSolids exact,
                        global const float *friction) {
  const float dt = frame->parameters.dt;
  bool stuck = true;
  for (int round = 0; round < WALL_ROUNDS && stuck; round++) {
    stuck = false;
    for (int k = 0; k < frame->solid_count; k++) {
      global const SolidShared *solid = &solids[k];
      FineContact at = fine_contact(solid, table, values, grain->end);
      const Closer closer = look_closer(grain, frame, solid, table, values, exact, k, round, &at);
      if (closer == CLOSER_LEAVES) return true;
      stuck |= closer == CLOSER_MOVED;
      float radius = grain->radius, penetration = radius - at.point.distance;
      if (!(penetration > (round == 0 ? 0 : SLOP * radius))) continue;
      LaneVec3 normal = axes_to_world(solid->axes[1], at.point.normal);
      LaneVec3 wall = vec_mul(solid_displacement(solid, at.within), 1 / dt);
      global const float *pair = friction + 2 * (material * frame->solid_count + k);
      StoppedGrain stopped =
          stop_at_wall(grain->velocity, wall, normal, pair[0], pair[1], -(round == 0 && grain->loose > 0));
      stuck = true;
      if (stopped.stops) {
        grain->velocity = stopped.velocity;
        if (round == 0) grain->end = moved_position(grain->at, stopped.velocity, dt);
      }
      if (round > 0) grain->end = vec_add(grain->end, vec_mul(normal, penetration));
    }
  }
  return stuck;
}

#endif
