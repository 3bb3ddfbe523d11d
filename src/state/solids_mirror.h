/* Solids on a device, where the particles are on one: shapes with the distance grids and faces of their meshes go up
 * once, poses and heights in every step in which they have changed. */
#ifndef STATE_SOLIDS_MIRROR_H
#define STATE_SOLIDS_MIRROR_H

#include "device/device.h"
#include "state/solids.h"

typedef struct SolidsMirror {
  DeviceBuffer solid, numbers, values, triangle; /* see solids.cl; heights stand behind the triangles */
  int32_t count;                                 /* of solids whose shapes are there */
  struct SolidThere *there, *sent;               /* on their way; as they are on the device */
  double *heights;                               /* of a heightfield, as they are on the device */
} SolidsMirror;

#define SOLIDS_ARGUMENTS(mirror)                                                                                       \
  DEVICE_BUFFER(&(mirror)->solids.solid), DEVICE_BUFFER(&(mirror)->solids.numbers),                                    \
      DEVICE_BUFFER(&(mirror)->solids.values), DEVICE_BUFFER(&(mirror)->solids.triangle)

/* What kernels cannot do with a solid for grains of so large a reach, as a noun; NULL: nothing. */
const char *solids_mirror_missing(const Solids *solids, double reach);
Status solids_mirror_send(Core *core, Device *device, SolidsMirror *mirror, const Solids *solids);
void solids_mirror_drop(Core *core, Device *device, SolidsMirror *mirror);

#endif
