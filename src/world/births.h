/* Births and deaths from inside: what those on the host (births.c) and those on a device (device_births.c) share. */
#ifndef WORLD_BIRTHS_H
#define WORLD_BIRTHS_H

#include "world/world.h"

/* Positions (relative to the origin) and radii of what is near a disc, so that new grains find a free place. */
typedef struct Crowd {
  float *x, *y, *z, *radius;
  int64_t count;
} Crowd;

Status world_crowd_reserve(ScreeWorld *world, int64_t room, Crowd *crowd);
static inline void crowd_add(Crowd *crowd, float x, float y, float z, float radius) {
  const int64_t k = crowd->count++;
  crowd->x[k] = x;
  crowd->y[k] = y;
  crowd->z[k] = z;
  crowd->radius[k] = radius;
}

/* Whether an emitter owes a grain at the end of a step; and within which square of a distance from where, relative to
 * the origin, others may be in its way. */
bool world_emitter_pours(const ScreeWorld *world, int32_t index, double time, double dt);
typedef struct Crowding {
  float x, y, z, reach;
} Crowding;
Crowding world_emitter_crowding(const ScreeWorld *world, int32_t index, double dt);

/* One of those who die now, in the order of their storage. */
void world_note_death(ScreeWorld *world, uint32_t id, float x, float y, float z, float mass);

/* The same on a device. Deaths come from what world_gather_end has brought down; dead ones are found, their places
 * given to others, and fields of those born from `first` on sent there, where these are valid. */
Status world_drain_there(ScreeWorld *world);
Status world_crowd_there(ScreeWorld *world, int32_t emitter, int64_t spare, Crowd *crowd);
Status world_find_dead_there(ScreeWorld *world, int32_t *dead, int64_t *found);
Status world_remove_there(ScreeWorld *world, const int32_t *dead, int64_t count);
Status world_place_born_there(ScreeWorld *world, int64_t first);
/* The largest speed of those thrown is known with the step's counters. */
Status world_throw_there(ScreeWorld *world, Vec3 center, double radius, double speed);

#endif
