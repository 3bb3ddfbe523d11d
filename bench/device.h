/* Parts of the suite that measures devices. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include "bench/bench.h"
#include "device/device.h"
#include "scree/scree.h"

/* Sommer's hourglass with as many grains as a card has room for. */
Status bench_device_hourglass(Core *core, BenchTable *table, const ScreeDeviceInfo *info);

/* Which commands are timed from now on: what is timed is slower by the clock of the wall. Nothing on the CPU. */
void bench_device_times(const ScreeWorld *world, DeviceTimes times);
/* s of all kernels since then, by the device's clock; NaN on the CPU. */
double bench_device_seconds(const ScreeWorld *world);
Status bench_device_sph(Core *core, BenchTable *table, const ScreeDeviceInfo *info);

#endif
