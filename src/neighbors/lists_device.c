#include "neighbors/lists_device.h"

#include <math.h>

#include "neighbors/grid.h"
#include "neighbors/lists_shared.h"
#include "neighbors/radix_device.h"

/* Cells are counted where there are not many more of them than points, and sorted otherwise. */
#define COUNTED_CELLS(points) (4.0 * (double)(points) + 65536)

#define MAKER_KERNELS(X)                                                                                               \
  X(lists_box, "device lists")                                                                                         \
  X(lists_enter, "device lists")                                                                                       \
  X(lists_deal, "device lists")                                                                                        \
  X(lists_order, "device lists")                                                                                       \
  X(lists_number, "device lists")                                                                                      \
  X(lists_order_sorted, "device lists")                                                                                \
  X(lists_count, "device lists")                                                                                       \
  X(lists_fill, "device lists")
#define MAKER_BUFFERS(X) X(box) X(start) X(rank) X(loose) X(order) X(at) X(number) X(other_number) X(who) X(other_who)

struct ListMaker {
  Device *device;
  DeviceProgram *program;
  ScanDevice scan;
  RadixDevice radix;
  MAKER_KERNELS(DEVICE_KERNEL_MEMBER)
  MAKER_BUFFERS(DEVICE_BUFFER_MEMBER)
  DeviceBuffer *places, *cells; /* points in order, and where cells begin: its own memory, or lent */
  ListsShared shared;           /* of the last order */
};

#define LAUNCH(name, items, ...) device_launch(core, d->name, 0, (items), LISTS_GROUP, DEVICE_ARGUMENTS(__VA_ARGS__))
#define HERE(name) DEVICE_BUFFER(&d->name)
#define SHARED DEVICE_VALUE(d->shared)
#define PLACES DEVICE_BUFFER(points->x), DEVICE_BUFFER(points->y), DEVICE_BUFFER(points->z)
#define NAMES DEVICE_BUFFER(points->id), DEVICE_BUFFER(points->radius ? points->radius : points->x)

/* ---- between the host and the device ---- */

Status list_device_send(Core *core, Device *device, const NeighborList *list, ListDevice *there) {
  const int64_t starts = (list->count + 1) * (int64_t)sizeof *list->start,
                entries = list->start[list->count] * (int64_t)sizeof *list->index;
  TRY(device_reserve(core, device, &there->start, starts, 0, "neighbour lists"));
  TRY(device_reserve(core, device, &there->index, entries + 1, 0, "neighbour lists"));
  TRY(device_write(core, device, &there->start, 0, starts, list->start));
  there->count = list->count, there->entries = list->entries;
  return device_write(core, device, &there->index, 0, entries, list->index);
}

Status list_device_fetch(Core *core, Device *device, const ListDevice *there, NeighborList *list) {
  const int64_t starts = (there->count + 1) * (int64_t)sizeof *list->start,
                entries = there->entries * (int64_t)sizeof *list->index;
  TRY(memory_grow(core, &list->start, there->count + 1, "neighbour list"));
  TRY(memory_grow(core, &list->index, there->entries + 1, "neighbour list"));
  TRY(device_read(core, device, &there->start, 0, starts, list->start));
  TRY(device_read(core, device, &there->index, 0, entries, list->index));
  list->count = there->count, list->entries = there->entries;
  return SCREE_OK;
}

void list_device_close(Device *device, ListDevice *there) {
  device_release(device, &there->start);
  device_release(device, &there->index);
}

/* ---- the order ---- */

void list_maker_lend(ListMaker *d, DeviceBuffer *places, DeviceBuffer *cells) { d->places = places, d->cells = cells; }

Status list_maker_open(Core *core, Device *device, ListMaker **maker) {
  TRY(memory_new(core, maker, 1, "neighbour lists on a device"));
  ListMaker *d = *maker;
  list_maker_lend(d, &d->at, &d->start);
  d->device = device;
  TRY(device_build(core, device, "neighbors/lists.cl", "", &d->program));
  TRY(scan_open(core, device, d->program, &d->scan));
  TRY(radix_open(core, d->program, "device lists", &d->radix));
  MAKER_KERNELS(DEVICE_KERNEL_MAKE)
  return device_reserve(core, device, &d->number, 64, 0, "neighbour lists");
}

void list_maker_close(Core *core, ListMaker *d) {
  if (!d) return;
  scan_close(core, &d->scan);
  radix_close(core, d->device, &d->radix);
  MAKER_BUFFERS(DEVICE_BUFFER_RELEASE)
  MAKER_KERNELS(DEVICE_KERNEL_FREE)
  device_program_free(core, d->program);
  memory_free(&core->memory, d);
}

/* The box round all cells comes down. */
static Status find_box(Core *core, ListMaker *d, const ListPoints *points, bool *finite) {
  int32_t words[LISTS_BOX_WORDS], low[3], high[3];
  for (int k = 0; k < LISTS_BOX_WORDS; k++) words[k] = k < LISTS_BOX_BAD ? -COORDINATE_BIAS : 0;
  TRY(device_reserve(core, d->device, &d->box, sizeof words, 0, "neighbour lists"));
  TRY(device_write(core, d->device, &d->box, 0, sizeof words, words));
  TRY(LAUNCH(lists_box, points->count, SHARED, PLACES, HERE(box)));
  TRY(device_read(core, d->device, &d->box, 0, sizeof words, words));
  *finite = !words[LISTS_BOX_BAD];
  for (int axis = 0; axis < 3; axis++) {
    low[axis] = -words[LISTS_BOX_LOW + axis];
    high[axis] = words[LISTS_BOX_HIGH + axis];
  }
  d->shared.box = cell_box(low, high);
  d->shared.dense = cell_box_cells(&d->shared.box) <= COUNTED_CELLS(points->count);
  return SCREE_OK;
}

static Status order_counted(Core *core, ListMaker *d, const ListPoints *points) {
  const int64_t four = (int64_t)sizeof(int32_t), cells = (int64_t)cell_box_cells(&d->shared.box) + 1;
  TRY(device_reserve(core, d->device, d->cells, cells * four, 0, "cells"));
  TRY(device_reserve(core, d->device, &d->loose, points->count * four, 0, "cells"));
  TRY(device_clear(core, d->device, d->cells, cells * four));
  TRY(LAUNCH(lists_enter, points->count, SHARED, PLACES, DEVICE_BUFFER(d->cells), HERE(rank)));
  TRY(scan_run(core, &d->scan, d->cells, cells));
  TRY(LAUNCH(lists_deal, points->count, SHARED, PLACES, DEVICE_BUFFER(d->cells), HERE(rank), HERE(loose)));
  return LAUNCH(lists_order, points->count, SHARED, PLACES, NAMES, DEVICE_BUFFER(d->cells), HERE(loose), HERE(order),
                DEVICE_BUFFER(d->places));
}

static Status order_sorted(Core *core, ListMaker *d, const ListPoints *points) {
  const int64_t count = points->count, four = (int64_t)sizeof(int32_t), eight = (int64_t)sizeof(uint64_t);
  const RadixNumbers numbers = {count, &d->number, &d->who, &d->other_number, &d->other_who};
  int bits = 0;
  while (bits < 64 && (double)(1ull << bits) < cell_box_cells(&d->shared.box)) bits++;
  TRY(device_reserve(core, d->device, d->cells, four, 0, "cells"));
  TRY(device_reserve(core, d->device, &d->number, count * eight, 0, "cells"));
  TRY(device_reserve(core, d->device, &d->other_number, count * eight, 0, "cells"));
  TRY(device_reserve(core, d->device, &d->who, count * four, 0, "cells"));
  TRY(device_reserve(core, d->device, &d->other_who, count * four, 0, "cells"));
  TRY(LAUNCH(lists_number, count, SHARED, PLACES, HERE(number), HERE(who)));
  TRY(radix_run(core, &d->radix, &d->scan, &numbers, bits));
  return LAUNCH(lists_order_sorted, count, SHARED, PLACES, NAMES, HERE(number), HERE(who), HERE(order),
                DEVICE_BUFFER(d->places));
}

Status list_maker_order(Core *core, ListMaker *d, const ListPoints *points, float cell, bool *finite,
                        const DeviceBuffer **order) {
  const int64_t count = points->count, four = (int64_t)sizeof(int32_t);
  const double inverse = cell_inverse(cell);
  TRY(grid_check(core, (Points){.count = count}, cell));
  d->shared = (ListsShared){.inverse = inverse,
                            .count = (int)count,
                            .radii = points->radius != NULL,
                            .limit = cell_limit(inverse),
                            .share = points->share};
  TRY(device_reserve(core, d->device, &d->rank, (count + 1) * four, 0, "cells"));
  TRY(device_reserve(core, d->device, &d->order, count * four + 1, 0, "cells"));
  TRY(device_reserve(core, d->device, d->places, count * 4 * four + 1, 0, "cells"));
  *order = &d->order;
  *finite = true;
  if (count == 0) return SCREE_OK;
  TRY(find_box(core, d, points, finite));
  if (!*finite) return SCREE_OK;
  return d->shared.dense ? order_counted(core, d, points) : order_sorted(core, d, points);
}

double list_maker_outermost(const ListMaker *d) {
  const CellBox *box = &d->shared.box;
  const int32_t bounds[] = {box->low_x,
                            box->low_x + box->size_x,
                            box->low_tile_y * TILE - COORDINATE_BIAS,
                            (box->low_tile_y + box->tiles_y) * TILE - COORDINATE_BIAS,
                            box->low_tile_z * TILE - COORDINATE_BIAS,
                            (box->low_tile_z + box->tiles_z) * TILE - COORDINATE_BIAS};
  double most = 0;
  for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) most = fmax(most, fabs((double)bounds[k]));
  return most < COORDINATE_LIMIT ? most / d->shared.inverse : INFINITY; /* who is farther out is in the last cell */
}

/* ---- rows ---- */

Status list_maker_starts(Core *core, ListMaker *d, const DeviceBuffer *counts, int64_t count, DeviceBuffer *starts,
                         const DeviceRead *with, int with_count, int64_t *total) {
  return scan_starts(core, &d->scan, counts, count, starts, with, with_count, total);
}

Status list_maker_find(Core *core, ListMaker *d, float reach, const DeviceRead *with, int with_count,
                       ListDevice *list) {
  d->shared.reach = reach;
  list->count = d->shared.count;
  TRY(LAUNCH(lists_count, list->count, SHARED, DEVICE_BUFFER(d->places), DEVICE_BUFFER(d->cells), HERE(number),
             HERE(rank)));
  TRY(scan_starts(core, &d->scan, &d->rank, list->count, &list->start, with, with_count, &list->entries));
  TRY(device_reserve(core, d->device, &list->index, (list->entries + 1) * (int64_t)sizeof(int32_t), 0,
                     "neighbour lists"));
  return LAUNCH(lists_fill, list->count, SHARED, DEVICE_BUFFER(d->places), DEVICE_BUFFER(d->cells), HERE(number),
                DEVICE_BUFFER(&list->start), DEVICE_BUFFER(&list->index));
}
