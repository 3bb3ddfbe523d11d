/* Sums of those before on a device: whoever builds a program that includes scan.cl has its kernels. */
#ifndef NEIGHBORS_SCAN_DEVICE_H
#define NEIGHBORS_SCAN_DEVICE_H

#include "device/device.h"

typedef struct ScanDevice {
  Device *device;
  DeviceKernel *blocks, *sums, *add, *starts;
  DeviceBuffer partial, before; /* sums of the blocks; of those before each, of 64 bits */
} ScanDevice;

Status scan_open(Core *core, Device *device, DeviceProgram *program, ScanDevice *scan);
void scan_close(Core *core, ScanDevice *scan);
Status scan_run(Core *core, ScanDevice *scan, const DeviceBuffer *values, int64_t count);
/* With 64 bits: starts[k] for all values and one more, which is the total; it comes down, and with it what else is
 * asked for. The values are used up. */
Status scan_starts(Core *core, ScanDevice *scan, const DeviceBuffer *values, int64_t count, DeviceBuffer *starts,
                   const DeviceRead *with, int with_count, int64_t *total);

#endif
