/* Fine grains that follow the simulated ones (Sommer 2022, Section 4), once a frame.
 *
 * `mode: paper` is the paper's rule as printed; `mode: better` is ours: see docs/methods/upsampling.md. `mode: points`
 * has the render points of Narain 2010 instead (points.c). The coarse
 * state is read, never written; only the room's own fields of the particles (where each was when the fine grains last
 * took note of it) are its own to write.
 *
 * What happens to a fine grain depends on the coarse grains, the solids and the counts of fine grains per cell, never
 * on where it is stored or on its neighbours in storage: storage order is free, and results are the same for any number
 * of threads and after a checkpoint. */
#ifndef UPSAMPLE_UPSAMPLE_H
#define UPSAMPLE_UPSAMPLE_H

#include "core/archive.h"
#include "core/profile.h"
#include "core/scratch.h"
#include "device/device.h"
#include "sampling/sampling.h"
#include "state/state.h"

/* 33 bytes a grain; positions are relative to the state's origin. Velocities are means over the last frame. */
#define FINE_FIELDS(X)                                                                                                 \
  X(float, x)                                                                                                          \
  X(float, y)                                                                                                          \
  X(float, z)                                                                                                          \
  X(float, vx)                                                                                                         \
  X(float, vy)                                                                                                         \
  X(float, vz)                                                                                                         \
  X(float, radius)                                                                                                     \
  X(uint32_t, id)                                                                                                      \
  X(uint8_t, material)

typedef struct FineGrains {
  int64_t count, capacity;
#define FINE_MEMBER(type, name) type *name;
  FINE_FIELDS(FINE_MEMBER)
#undef FINE_MEMBER
  uint32_t next_id;
} FineGrains;

typedef struct Upsample Upsample;

/* Caches distances to meshes that are not cached this far (m) from them yet. */
double upsample_distance_band(const State *state);

/* Adds fields to the particles, so that the state must be destroyed before it. */
Status upsample_create(Core *core, State *state, const ScreeUpsampleDef *definition, Upsample **upsample);
void upsample_destroy(Core *core, Upsample *upsample);

/* The fine grains live on the device from here on, unless something of them has no form there: upsample_off_device then
 * says what, and they stay where they are. Results are the same. */
Status upsample_use_device(Core *core, Upsample *upsample, State *state, Device *device);
const char *upsample_off_device(const Upsample *upsample); /* NULL: they are on it */
/* Brings the table of upsample_grains up to date, which on a device it is not after a frame. */
Status upsample_fetch(Core *core, Upsample *upsample);

/* Takes note of solids that were added since. */
Status upsample_follow_solids(Core *core, Upsample *upsample, const State *state);

/* Whether fine grains of fills come into being on a device. */
bool upsample_places_there(const Upsample *upsample);
/* Fine grains of a fill, which may be in blocks. */
Status upsample_add(Core *core, Upsample *upsample, const State *state, const Samples *samples, int32_t material,
                    Vec3 velocity);
/* To be called once when all fills are done: from here on coarse grains are followed. */
Status upsample_begin(Core *core, Upsample *upsample, const State *state, Scratch *scratch);

/* Whether it reads the coarse grains on the host; else, where they are on a device, it goes on there. */
bool upsample_reads_host(const Upsample *upsample, const State *state);
/* One frame of dt seconds that has just ended: fine grains move, the born are added, those in a sink go. */
Status upsample_advance(Core *core, Upsample *upsample, const State *state, const Solids *sinks, Scratch *scratch,
                        double dt);

/* The count always holds; all else as of upsample_fetch. */
const FineGrains *upsample_grains(const Upsample *upsample);
/* What was loaded: every index and number that a frame takes for granted. */
Status upsample_check(Core *core, const Archive *archive, const Upsample *upsample, const State *state);
Status upsample_archive(Core *core, Archive *archive, Upsample *upsample);
/* 0 where a device has lost them. */
uint64_t upsample_hash(Core *core, Upsample *upsample);

#endif
