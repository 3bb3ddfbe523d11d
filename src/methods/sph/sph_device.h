/* sph on a device: sph.cl has the kernels.
 *
 * All of a step's loops over parcels run there. Boundary contacts, and pairs that a solid hides, are found by the host
 * for the parcels that are near solids: their places come down, contacts go up, and in the end the forces of the
 * contacts come down. Where sand moves solids, the host lets them follow in every iteration; else it waits for the
 * device once for some iterations. */
#ifndef METHODS_SPH_SPH_DEVICE_H
#define METHODS_SPH_SPH_DEVICE_H

#include "methods/method.h"

extern const MethodDevice SPH_DEVICE;
void sph_device_close(Core *core, void *data);

#endif
