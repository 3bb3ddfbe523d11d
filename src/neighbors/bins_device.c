#include "neighbors/bins_device.h"

#include <string.h>

enum { GROUP = 64 };

#define LAUNCH(name, items, ...) device_launch(core, there->name, 0, (items), GROUP, DEVICE_ARGUMENTS(__VA_ARGS__))
#define HERE(name) DEVICE_BUFFER(&there->name)
#define PLACES                                                                                                         \
  DEVICE_BUFFER(points->x), DEVICE_BUFFER(points->y), DEVICE_BUFFER(points->z), DEVICE_BUFFER(points->dx),             \
      DEVICE_BUFFER(points->dy), DEVICE_BUFFER(points->dz)

Status bins_device_open(Core *core, Device *device, DeviceProgram *program, BinsDevice *there) {
  there->device = device;
  TRY(device_kernel(core, program, "bins_enter", "device bins", &there->enter));
  TRY(device_kernel(core, program, "bins_deal", "device bins", &there->deal));
  return device_kernel(core, program, "bins_order", "device bins", &there->order);
}

void bins_device_close(Core *core, BinsDevice *there) {
  DeviceBuffer *const buffers[] = {&there->box,  &there->unit,  &there->start,
                                   &there->rank, &there->loose, &there->point};
  DeviceKernel *const kernels[] = {there->enter, there->deal, there->order};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) device_release(there->device, buffers[k]);
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) device_kernel_free(core, kernels[k]);
}

static BinsShared shared_bins(const Bins *bins) {
  BinsShared shared = {.count = (int)bins->count,
                       .hashed = bins->hashed,
                       .differ = bins->differ,
                       .mask = bins->mask,
                       .far = bins->far,
                       .margin = bins->margin,
                       .limit = bins->limit};
  memcpy(shared.low, bins->low, sizeof shared.low);
  memcpy(shared.size, bins->size, sizeof shared.size);
  return shared;
}

Status bins_device_begin(Core *core, BinsDevice *there, Bins *bins) {
  const int64_t four = (int64_t)sizeof(int32_t), count = bins->count;
  there->entries = (int32_t)bins_entry_count(bins);
  there->shared = shared_bins(bins);
  TRY(device_reserve(core, there->device, &there->unit, count * 4 * four, 0, "bins"));
  TRY(device_reserve(core, there->device, &there->point, count * 4 * four, 0, "bins"));
  TRY(device_reserve(core, there->device, &there->rank, count * four, 0, "bins"));
  TRY(device_reserve(core, there->device, &there->loose, count * four, 0, "bins"));
  TRY(device_reserve(core, there->device, &there->box, BINS_BOX_WORDS * four, 0, "bins"));
  return device_reserve(core, there->device, &there->start, (there->entries + (int64_t)1) * four, 0, "bins");
}

Status bins_device_deal(Core *core, BinsDevice *there, ScanDevice *scan, const DevicePoints *points, const Bins *bins) {
  const double scale = bins->scale;
  TRY(LAUNCH(enter, bins->count, DEVICE_VALUE(there->shared), DEVICE_VALUE(scale), PLACES,
             DEVICE_BUFFER(points->radius), HERE(unit), HERE(start), HERE(rank), HERE(box)));
  TRY(scan_run(core, scan, &there->start, there->entries + (int64_t)1));
  TRY(LAUNCH(deal, bins->count, DEVICE_VALUE(there->shared), HERE(unit), HERE(start), HERE(rank), HERE(loose)));
  return LAUNCH(order, bins->count, DEVICE_VALUE(there->shared), HERE(unit), HERE(start), HERE(loose),
                DEVICE_BUFFER(points->tag), HERE(point));
}

DeviceRead bins_device_wanted(BinsDevice *there) {
  return (DeviceRead){&there->box, 0, sizeof there->words, there->words};
}

bool bins_device_finite(const BinsDevice *there) { return !there->words[BINS_BOX_BAD]; }

bool bins_device_served(const BinsDevice *there, Bins *bins) {
  BinBox box;
  for (int axis = 0; axis < 3; axis++) {
    box.low[axis] = -there->words[BINS_BOX_LOW + axis];
    box.high[axis] = there->words[BINS_BOX_HIGH + axis];
  }
  return bins_served(bins, &box);
}
