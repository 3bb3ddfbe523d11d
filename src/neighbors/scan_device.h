/* Sums of those before on a device: whoever builds a program that includes scan.cl has its three kernels. */
#ifndef NEIGHBORS_SCAN_DEVICE_H
#define NEIGHBORS_SCAN_DEVICE_H

#include "device/device.h"

typedef struct ScanDevice {
  Device *device;
  DeviceKernel *blocks, *sums, *add;
  DeviceBuffer partial; /* sums of the blocks */
} ScanDevice;

Status scan_open(Core *core, Device *device, DeviceProgram *program, ScanDevice *scan);
void scan_close(Core *core, ScanDevice *scan);
Status scan_run(Core *core, ScanDevice *scan, const DeviceBuffer *values, int64_t count);

#endif
