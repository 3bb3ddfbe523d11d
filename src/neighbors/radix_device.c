#include "neighbors/radix_device.h"

#include "neighbors/radix_shared.h"

Status radix_open(Core *core, DeviceProgram *program, const char *phase, RadixDevice *radix) {
  TRY(device_kernel(core, program, "radix_digits", phase, &radix->digits));
  return device_kernel(core, program, "radix_scatter", phase, &radix->scatter);
}

void radix_close(Core *core, Device *device, RadixDevice *radix) {
  device_kernel_free(core, radix->digits);
  device_kernel_free(core, radix->scatter);
  device_release(device, &radix->table);
}

#define LAUNCH(name, ...)                                                                                              \
  device_launch(core, radix->name, 0, (int64_t)blocks *RADIX_GROUP, RADIX_GROUP, DEVICE_ARGUMENTS(__VA_ARGS__))

Status radix_run(Core *core, RadixDevice *radix, ScanDevice *scan, const RadixNumbers *numbers, int bits) {
  const int32_t count = (int32_t)numbers->count, blocks = (int32_t)((numbers->count + RADIX_BLOCK - 1) / RADIX_BLOCK);
  const int64_t entries = (int64_t)blocks * RADIX_DIGITS;
  TRY(device_reserve(core, scan->device, &radix->table, entries * (int64_t)sizeof(int32_t), 0, "digits"));
  for (int32_t shift = 0; shift < bits; shift += RADIX_DIGIT_BITS) {
    TRY(LAUNCH(digits, DEVICE_VALUE(count), DEVICE_VALUE(shift), DEVICE_VALUE(blocks), DEVICE_BUFFER(numbers->number),
               DEVICE_BUFFER(&radix->table)));
    TRY(scan_run(core, scan, &radix->table, entries));
    TRY(LAUNCH(scatter, DEVICE_VALUE(count), DEVICE_VALUE(shift), DEVICE_VALUE(blocks), DEVICE_BUFFER(numbers->number),
               DEVICE_BUFFER(numbers->who), DEVICE_BUFFER(&radix->table), DEVICE_BUFFER(numbers->other_number),
               DEVICE_BUFFER(numbers->other_who)));
    device_swap(numbers->number, numbers->other_number);
    device_swap(numbers->who, numbers->other_who);
  }
  return SCREE_OK;
}
