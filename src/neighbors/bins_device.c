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
  TRY(device_kernel(core, program, "bins_box", "device bins", &there->box_of));
  TRY(device_kernel(core, program, "bins_enter", "device bins", &there->enter));
  TRY(device_kernel(core, program, "bins_deal", "device bins", &there->deal));
  return device_kernel(core, program, "bins_order", "device bins", &there->order);
}

void bins_device_close(Core *core, BinsDevice *there) {
  DeviceBuffer *const buffers[] = {&there->box,  &there->unit,  &there->start,
                                   &there->rank, &there->loose, &there->point};
  DeviceKernel *const kernels[] = {there->box_of, there->enter, there->deal, there->order};
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

static Status reserve(Core *core, BinsDevice *there, int64_t count) {
  const int64_t four = (int64_t)sizeof(int32_t);
  TRY(device_reserve(core, there->device, &there->unit, count * 4 * four, 0, "bins"));
  TRY(device_reserve(core, there->device, &there->point, count * 4 * four, 0, "bins"));
  TRY(device_reserve(core, there->device, &there->rank, count * four, 0, "bins"));
  TRY(device_reserve(core, there->device, &there->loose, count * four, 0, "bins"));
  return device_reserve(core, there->device, &there->box, BINS_BOX_WORDS * four, 0, "bins");
}

/* The box round all points comes down. */
static Status find_box(Core *core, BinsDevice *there, const DevicePoints *points, double scale, BinBox *box,
                       bool *finite) {
  int32_t words[BINS_BOX_WORDS];
  for (int k = 0; k < BINS_BOX_WORDS; k++) words[k] = k < BINS_BOX_BAD ? -BINS_BIAS : 0;
  TRY(device_write(core, there->device, &there->box, 0, sizeof words, words));
  TRY(LAUNCH(box_of, there->shared.count, DEVICE_VALUE(there->shared), DEVICE_VALUE(scale), PLACES, HERE(box)));
  TRY(device_read(core, there->device, &there->box, 0, sizeof words, words));
  *finite = !words[BINS_BOX_BAD];
  for (int axis = 0; axis < 3; axis++) {
    box->low[axis] = -words[BINS_BOX_LOW + axis];
    box->high[axis] = words[BINS_BOX_HIGH + axis];
  }
  return SCREE_OK;
}

Status bins_device_fill(Core *core, BinsDevice *there, ScanDevice *scan, const DevicePoints *points, Bins *bins,
                        bool *finite) {
  const double scale = bins->scale;
  BinBox box;
  there->shared = shared_bins(bins);
  TRY(reserve(core, there, bins->count));
  TRY(find_box(core, there, points, scale, &box, finite));
  if (!*finite) return SCREE_OK;
  const int64_t entries = bins_choose(bins, &box), bytes = (entries + 1) * (int64_t)sizeof(int32_t);
  there->shared = shared_bins(bins);
  TRY(device_reserve(core, there->device, &there->start, bytes, 0, "bins"));
  TRY(device_clear(core, there->device, &there->start, bytes));
  TRY(LAUNCH(enter, bins->count, DEVICE_VALUE(there->shared), DEVICE_VALUE(scale), PLACES,
             DEVICE_BUFFER(points->radius), HERE(unit), HERE(start), HERE(rank)));
  TRY(scan_run(core, scan, &there->start, entries + 1));
  TRY(LAUNCH(deal, bins->count, DEVICE_VALUE(there->shared), HERE(unit), HERE(start), HERE(rank), HERE(loose)));
  return LAUNCH(order, bins->count, DEVICE_VALUE(there->shared), HERE(unit), HERE(start), HERE(loose),
                DEVICE_BUFFER(points->tag), HERE(point));
}
