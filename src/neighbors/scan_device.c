#include "neighbors/scan_device.h"

#include "neighbors/scan_shared.h"

Status scan_open(Core *core, Device *device, DeviceProgram *program, ScanDevice *scan) {
  scan->device = device;
  TRY(device_kernel(core, program, "scan_blocks", "device sums", &scan->blocks));
  TRY(device_kernel(core, program, "scan_sums", "device sums", &scan->sums));
  TRY(device_kernel(core, program, "scan_add", "device sums", &scan->add));
  return device_kernel(core, program, "scan_starts", "device sums", &scan->starts);
}

void scan_close(Core *core, ScanDevice *scan) {
  device_kernel_free(core, scan->blocks);
  device_kernel_free(core, scan->sums);
  device_kernel_free(core, scan->add);
  device_kernel_free(core, scan->starts);
  if (!scan->device) return;
  device_release(scan->device, &scan->partial);
  device_release(scan->device, &scan->before);
}

static int32_t blocks_of(int64_t count) { return (int32_t)((count + SCAN_BLOCK - 1) / SCAN_BLOCK); }

/* Sums in each block, and what each block has; with `all`, what those before it have. */
static Status scan_within(Core *core, ScanDevice *scan, const DeviceBuffer *values, int64_t count, bool all) {
  const int32_t numbers = (int32_t)count, blocks = blocks_of(count);
  TRY(device_reserve(core, scan->device, &scan->partial, (blocks + 1) * (int64_t)sizeof(int32_t), 0, "sums"));
  TRY(device_reserve(core, scan->device, &scan->before, (blocks + 1) * (int64_t)sizeof(int64_t), 0, "sums"));
  const DeviceArgument within[] = {DEVICE_BUFFER(values), DEVICE_VALUE(numbers), DEVICE_BUFFER(&scan->partial)},
                       before[] = {DEVICE_BUFFER(&scan->partial), DEVICE_VALUE(blocks), DEVICE_BUFFER(&scan->before)};
  TRY(device_launch(core, scan->blocks, 0, (int64_t)blocks * SCAN_GROUP, SCAN_GROUP, within, 3));
  return all ? device_launch(core, scan->sums, 0, SCAN_GROUP, SCAN_GROUP, before, 3) : SCREE_OK;
}

Status scan_run(Core *core, ScanDevice *scan, const DeviceBuffer *values, int64_t count) {
  const int32_t all = (int32_t)count, blocks = blocks_of(count), added = blocks > SCAN_FEW;
  TRY(scan_within(core, scan, values, count, added));
  if (blocks <= 1) return SCREE_OK;
  const DeviceArgument arguments[] = {DEVICE_BUFFER(values), DEVICE_VALUE(all), DEVICE_BUFFER(&scan->partial),
                                      DEVICE_BUFFER(&scan->before), DEVICE_VALUE(added)};
  return device_launch(core, scan->add, 0, count, SCAN_GROUP, arguments, 5);
}

Status scan_starts(Core *core, ScanDevice *scan, const DeviceBuffer *values, int64_t count, DeviceBuffer *starts,
                   const DeviceRead *with, int with_count, int64_t *total) {
  const int32_t all = (int32_t)count, blocks = blocks_of(count);
  const int64_t eight = (int64_t)sizeof *total;
  TRY(scan_within(core, scan, values, count, true));
  TRY(device_reserve(core, scan->device, starts, (count + 1) * eight, 0, "sums"));
  const DeviceArgument arguments[] = {DEVICE_BUFFER(values), DEVICE_VALUE(all), DEVICE_VALUE(blocks),
                                      DEVICE_BUFFER(&scan->before), DEVICE_BUFFER(starts)};
  TRY(device_launch(core, scan->starts, 0, count + 1, SCAN_GROUP, arguments, 5));
  DeviceRead reads[DEVICE_READS_MAX] = {{&scan->before, blocks * eight, eight, total}};
  for (int k = 0; k < with_count; k++) reads[k + 1] = with[k];
  return device_read_many(core, scan->device, reads, with_count + 1);
}
