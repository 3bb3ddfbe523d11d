/* The position-based family on a device: position.cl has the kernels.
 *
 * All of a step's loops over grains run there. Solids go up (state/solids_mirror.h) with how they move, and in the
 * end what pushed them comes down. */
#ifndef METHODS_COMMON_POSITION_DEVICE_H
#define METHODS_COMMON_POSITION_DEVICE_H

#include "methods/common/position.h"

typedef struct PositionDevice PositionDevice;
typedef struct PositionExtra PositionExtra; /* position_launch.h */

/* As MethodDevice has them. */
/* `source`: position_average.cl, or a file of the method that includes it. */
Status position_device_open(Core *core, State *state, const char *source, PositionDevice **device);
void position_device_close(Core *core, PositionDevice *device);
Status position_device_predict(PositionDevice *device, Step *step);
Status position_device_step(PositionDevice *device, Step *step, const PositionSettings *settings,
                            PositionSearch *search, ContactMemory *memory, PositionSpin *spin, float history_scale,
                            const PositionExtra *extra);
int position_device_wanted(PositionDevice *device, DeviceRead *reads);
void position_device_told(PositionDevice *device, State *state);
Status position_device_fetch(Core *core, PositionDevice *device, ContactMemory *memory);
void position_device_forget(PositionDevice *device);

#endif
