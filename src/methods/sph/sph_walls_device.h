/* Boundary contacts of sph, and pairs that solids hide, found on a device (sph_walls.cl): where sand meets
 * all solids by their distance. Others are the host's (walls.c, shield.c). */
#ifndef METHODS_SPH_SPH_WALLS_DEVICE_H
#define METHODS_SPH_SPH_WALLS_DEVICE_H

#include "methods/sph/view.h"
#include "methods/sph/work.h"

typedef struct SphWallsDevice SphWallsDevice;

/* Whether the device can find all that a parcel meets. */
bool sph_walls_are_there(const State *state);

Status sph_walls_device_open(Core *core, const State *state, const SphRays *rays, SphWallsDevice **walls);
void sph_walls_device_close(Core *core, SphWallsDevice *walls);

/* What the kernels of sph.cl read: rows of contacts and of parcels, which parcels have one, and hidden pairs. */
typedef struct SphWallBuffers {
  DeviceBuffer *rows, *row, *hidden_start, *hidden;
} SphWallBuffers;

/* When lists are new: numbers the parcels near solids, and takes the memory for what these meet once the host has read
 * how many there are. *rows: of such parcels; *room: for contacts. */
Status sph_walls_device_number(SphWallsDevice *walls, const SphWork *work, const SphWallBuffers *to);
DeviceRead sph_walls_device_wanted(SphWallsDevice *walls);
Status sph_walls_device_numbered(SphWallsDevice *walls, const SphWork *work, const SphWallBuffers *to, int64_t *rows,
                                 int64_t *room);
Status sph_walls_device_hide(SphWallsDevice *walls, const SphWork *work, const SphWallBuffers *to);
Status sph_walls_device_find(SphWallsDevice *walls, const SphWork *work, const SphWallBuffers *to);
/* Contacts with solids that sand moves come down, as those of the step: sph_walls_split and sph_walls_follow are
 * theirs. In an iteration these follow the forces of the pass before. */
Status sph_walls_device_split(SphWallsDevice *walls, SphWork *work, const SphWallBuffers *to);
Status sph_walls_device_follow(SphWallsDevice *walls, SphWork *work, const SphWallBuffers *to);
/* Friction for the next step, and what solids bear: in the words that the step counts. */
Status sph_walls_device_end(SphWallsDevice *walls, const SphWork *work, const SphWallBuffers *to);
int32_t sph_walls_device_words(const State *state);
void sph_walls_device_load(const int32_t *words, State *state);

#endif
