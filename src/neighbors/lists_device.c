#include "neighbors/lists_device.h"

Status list_device_send(Core *core, Device *device, const NeighborList *list, ListDevice *there) {
  const int64_t starts = (list->count + 1) * (int64_t)sizeof *list->start,
                entries = list->start[list->count] * (int64_t)sizeof *list->index;
  TRY(device_reserve(core, device, &there->start, starts, 0, "neighbour lists"));
  TRY(device_reserve(core, device, &there->index, entries + 1, 0, "neighbour lists"));
  TRY(device_write(core, device, &there->start, 0, starts, list->start));
  return device_write(core, device, &there->index, 0, entries, list->index);
}

void list_device_close(Device *device, ListDevice *there) {
  device_release(device, &there->start);
  device_release(device, &there->index);
}
