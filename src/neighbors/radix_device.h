/* Sorting on a device: whoever builds a program that includes radix.cl and scan.cl has its kernels. */
#ifndef NEIGHBORS_RADIX_DEVICE_H
#define NEIGHBORS_RADIX_DEVICE_H

#include "neighbors/scan_device.h"

typedef struct RadixDevice {
  DeviceKernel *digits, *scatter;
  DeviceBuffer table;
} RadixDevice;

/* Times are those of the phase. */
Status radix_open(Core *core, DeviceProgram *program, const char *phase, RadixDevice *radix);
void radix_close(Core *core, Device *device, RadixDevice *radix);

/* Numbers and who has them, and room for as many. */
typedef struct RadixNumbers {
  int64_t count;
  DeviceBuffer *number, *who, *other_number, *other_who;
} RadixNumbers;
/* By their lowest `bits` bits, upwards. The sorted are in `number` and `who`, which change places with the others. */
Status radix_run(Core *core, RadixDevice *radix, ScanDevice *scan, const RadixNumbers *numbers, int bits);

#endif
