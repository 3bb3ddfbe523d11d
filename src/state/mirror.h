/* Fields of the particles on a device: which have a copy there, and where each of them is valid.
 *
 * A field is valid on the host, on the device, or on both. Whoever runs a phase of a step there or here says what it
 * reads (mirror_send, mirror_fetch) and what it has written (mirror_wrote_there, mirror_wrote_here): copies follow from
 * that, and there are no others. */
#ifndef STATE_MIRROR_H
#define STATE_MIRROR_H

#include "device/device.h"
#include "neighbors/lists_device.h"
#include "state/particles.h"
#include "state/solids_mirror.h"
#include "state/state_set.h"

typedef struct MirrorField {
  DeviceBuffer buffer;
  bool here, there; /* valid on the host, on the device */
  int64_t sent;     /* how often it went up */
} MirrorField;

/* What the kernels of a step count, in two sets: while a step counts in one, its commit clears the other. So a step
 * reads all of its counters at once. */
typedef struct MirrorWords {
  DeviceBuffer buffer;
  int32_t count, set; /* words of a set; which one the step in progress counts in */
  int32_t *here;      /* as they were last read */
} MirrorWords;
enum { MIRROR_METHOD_WORD = 8 }; /* the first that is not the world's */

typedef struct Mirror {
  Device *device;
  MirrorField fields[FIELDS_MAX]; /* as in Particles */
  int64_t sorts;                  /* how often particles have changed places there */
  SolidsMirror solids;
  MirrorWords words;
  /* NEIGHBORS_LISTED: what makes lists, and the neighbours of each particle. */
  ListMaker *lists;
  ListDevice pairs;
} Mirror;

Status mirror_create(Core *core, Device *device, Mirror **mirror);
void mirror_destroy(Core *core, Mirror *mirror);

/* Room for so many words, before the step counts; what grows is zero. Where those of the step begin. */
Status mirror_words_reserve(Core *core, Mirror *mirror, int32_t count);
static inline int32_t mirror_words_begin(const Mirror *mirror) { return mirror->words.set * mirror->words.count; }
Status mirror_words_clear(Core *core, Mirror *mirror);
Status mirror_words_read(Core *core, Mirror *mirror);
DeviceRead mirror_words_wanted(const Mirror *mirror); /* for whoever reads more at once */

/* Fields of the set that are not valid there (here) are copied. What has no copy on the device is always valid here. */
Status mirror_send(Core *core, Mirror *mirror, const Particles *particles, StateSet set);
Status mirror_fetch(Core *core, Mirror *mirror, const Particles *particles, StateSet set);
/* One of them, by its name, if it has a copy. */
Status mirror_fetch_field(Core *core, Mirror *mirror, const Particles *particles, const char *name);
void mirror_wrote_there(Mirror *mirror, const Particles *particles, StateSet set);
void mirror_wrote_here(Mirror *mirror, const Particles *particles, StateSet set);
/* One field, by its name: it has a copy. */
MirrorField *mirror_field(Mirror *mirror, const Particles *particles, const char *name);
/* Its memory; `otherwise` where the method has not added it, or it has no copy yet. */
const DeviceBuffer *mirror_buffer(Mirror *mirror, const Particles *particles, const char *name,
                                  const DeviceBuffer *otherwise);

#endif
