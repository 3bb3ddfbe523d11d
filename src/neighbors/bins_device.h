/* Bins on a device (bins.cl): as those of bins.h, with the points of each in the order of their storage. */
#ifndef NEIGHBORS_BINS_DEVICE_H
#define NEIGHBORS_BINS_DEVICE_H

#include "neighbors/bins.h"
#include "neighbors/bins_shared.h"
#include "neighbors/scan_device.h"

typedef struct BinsDevice {
  Device *device;
  DeviceKernel *enter, *deal, *order;
  DeviceBuffer box, unit, start, rank, loose, point;
  BinsShared shared;                      /* of the last time they were filled */
  int32_t entries, words[BINS_BOX_WORDS]; /* how many bins; the box, as it came down */
} BinsDevice;

/* BinPoints on a device; radius is read where radii differ. A tag is a number that goes with a point, for whoever finds
 * it. */
typedef struct DevicePoints {
  const DeviceBuffer *x, *y, *z, *dx, *dy, *dz, *radius, *tag;
} DevicePoints;

/* The program includes bins.cl. */
Status bins_device_open(Core *core, Device *device, DeviceProgram *program, BinsDevice *there);
void bins_device_close(Core *core, BinsDevice *there);
/* Room for the bins of the last time; bins_begin has been called. Whoever calls it clears them (bins_clear of bins.cl)
 * and deals the points. With what he reads next the box round them comes down, which says whether all places are finite
 * and whether the bins served: if not, some points are in none, and all is done again with those chosen then. */
Status bins_device_begin(Core *core, BinsDevice *there, Bins *bins);
Status bins_device_deal(Core *core, BinsDevice *there, ScanDevice *scan, const DevicePoints *points, const Bins *bins);
DeviceRead bins_device_wanted(BinsDevice *there);
bool bins_device_finite(const BinsDevice *there);
bool bins_device_served(const BinsDevice *there, Bins *bins);

#endif
