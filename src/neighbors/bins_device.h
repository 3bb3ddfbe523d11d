/* Bins on a device (bins.cl): as those of bins.h, with the points of each in the order of their storage. */
#ifndef NEIGHBORS_BINS_DEVICE_H
#define NEIGHBORS_BINS_DEVICE_H

#include "neighbors/bins.h"
#include "neighbors/bins_shared.h"
#include "neighbors/scan_device.h"

typedef struct BinsDevice {
  Device *device;
  DeviceKernel *box_of, *enter, *deal, *order;
  DeviceBuffer box, unit, start, rank, loose, point;
  BinsShared shared; /* of the last time they were filled */
} BinsDevice;

/* BinPoints on a device; radius is read where radii differ. A tag is a number that goes with a point, for whoever finds
 * it. */
typedef struct DevicePoints {
  const DeviceBuffer *x, *y, *z, *dx, *dy, *dz, *radius, *tag;
} DevicePoints;

/* The program includes bins.cl. */
Status bins_device_open(Core *core, Device *device, DeviceProgram *program, BinsDevice *there);
void bins_device_close(Core *core, BinsDevice *there);
/* Deals the points; bins_begin has been called. *finite: whether all places are; otherwise nothing is dealt. */
Status bins_device_fill(Core *core, BinsDevice *there, ScanDevice *scan, const DevicePoints *points, Bins *bins,
                        bool *finite);

#endif
