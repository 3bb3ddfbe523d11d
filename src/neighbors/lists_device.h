/* The canonical order of points, and lists of who is near whom, made on a device (lists.cl): those of neighbors.h. */
#ifndef NEIGHBORS_LISTS_DEVICE_H
#define NEIGHBORS_LISTS_DEVICE_H

#include "neighbors/neighbors.h"
#include "neighbors/scan_device.h"

/* Rows of `index` begin at `start`, 32 and 64 bits each. */
typedef struct ListDevice {
  DeviceBuffer start, index;
  int64_t count, entries;
} ListDevice;

/* From the host to the device, and back. */
Status list_device_send(Core *core, Device *device, const NeighborList *list, ListDevice *there);
Status list_device_fetch(Core *core, Device *device, const ListDevice *there, NeighborList *list);
void list_device_close(Device *device, ListDevice *there);

typedef struct ListMaker ListMaker;
Status list_maker_open(Core *core, Device *device, ListMaker **maker);
void list_maker_close(Core *core, ListMaker *maker);
/* Memory that somebody needs at other times, from now on; what it holds is lost when lists are made, and it may grow.
 */
void list_maker_lend(ListMaker *maker, DeviceBuffer *places, DeviceBuffer *cells);

/* Points on a device; radius: NULL where the reach of all pairs is the same, otherwise `share` is added to each. */
typedef struct ListPoints {
  int64_t count;
  const DeviceBuffer *x, *y, *z, *id, *radius;
  float share;
} ListPoints;
/* As cell_grid_order: *order[k] is the index of the k-th point, until the next call. *finite: whether all places are;
 * otherwise there is no order. */
Status list_maker_order(Core *core, ListMaker *maker, const ListPoints *points, float cell, bool *finite,
                        const DeviceBuffer **order);
/* No coordinate of these points is larger. */
double list_maker_outermost(const ListMaker *maker);
/* As neighbor_list_build, over the points that were ordered last, in their order. The host waits for its size once;
 * these come down with that. */
Status list_maker_find(Core *core, ListMaker *maker, float reach, const DeviceRead *with, int with_count,
                       ListDevice *list);
/* Sums of those before, of 64 bits: starts[k], of `count` numbers of 32 bits and of one more. Counts are used up; the
 * total comes down, with what else is asked for. */
Status list_maker_starts(Core *core, ListMaker *maker, const DeviceBuffer *counts, int64_t count, DeviceBuffer *starts,
                         const DeviceRead *with, int with_count, int64_t *total);

#endif
