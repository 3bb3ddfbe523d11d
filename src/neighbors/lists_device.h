/* A neighbour list of the host with a copy on a device: rows of `index` begin at `start`, 64 and 32 bits each. */
#ifndef NEIGHBORS_LISTS_DEVICE_H
#define NEIGHBORS_LISTS_DEVICE_H

#include "device/device.h"
#include "neighbors/neighbors.h"

typedef struct ListDevice {
  DeviceBuffer start, index;
} ListDevice;

Status list_device_send(Core *core, Device *device, const NeighborList *list, ListDevice *there);
void list_device_close(Device *device, ListDevice *there);

#endif
