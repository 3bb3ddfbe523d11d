/* The table of fine grains on a device (table.cl). Of a fill go up the blocks of its tile, the tile and what lies in
 * blocks at a boundary; in the table they stand as the CPU would have put them there. Its order is that of a Hilbert
 * curve through cells, and in windows of it that of a tree of boxes. */
#include <math.h>
#include <string.h>

#include "sampling/tile.h"
#include "upsample/internal.h"
#include "neighbors/radix_device.h"
#include "upsample/table_shared.h"

/* Side of a cell of the curve, in radii: some ten grains. */
#define ORDER_CELL 5.0f

#define TABLE_KERNELS(X)                                                                                               \
  X(table_box, "device order")                                                                                         \
  X(table_number, "device order")                                                                                      \
  X(table_window, "device order")                                                                                      \
  X(table_gather_words, "device order")                                                                                \
  X(table_gather_bytes, "device order")
#define PLACE_BUFFERS(X)                                                                                               \
  X(coordinate) X(before) X(samples) X(x) X(y) X(z) X(radius) X(tile_x) X(tile_y) X(tile_z) X(tile_radius) X(tile_start)
#define ORDER_BUFFERS(X) X(box) X(number) X(other_number)

struct TableDevice {
  Device *device;
  DeviceProgram *program;
  ScanDevice scan;
  RadixDevice radix;
  TABLE_KERNELS(DEVICE_KERNEL_MEMBER)
  DeviceKernel *table_place; /* NULL: the device has no doubles */
  PLACE_BUFFERS(DEVICE_BUFFER_MEMBER)
  ORDER_BUFFERS(DEVICE_BUFFER_MEMBER)
};

#define LAUNCH(name, items, ...) device_launch(core, d->name, 0, (items), TABLE_GROUP, DEVICE_ARGUMENTS(__VA_ARGS__))
#define HERE(name) DEVICE_BUFFER(&d->name)
#define FIELD(name) DEVICE_BUFFER(&fields[FIELD_##name])
#define PLACES FIELD(x), FIELD(y), FIELD(z)

Status table_device_create(Core *core, Device *device, TableDevice **table) {
  TRY(memory_new(core, table, 1, "table of a device"));
  TableDevice *d = *table;
  d->device = device;
  const bool places = device_has_doubles(device);
  TRY(device_build(core, device, "upsample/table.cl", places ? "-DTABLE_PLACES" : "", &d->program));
  TABLE_KERNELS(DEVICE_KERNEL_MAKE)
  if (places) TRY(device_kernel(core, d->program, "table_place", "device placing", &d->table_place));
  TRY(scan_open(core, device, d->program, &d->scan));
  return radix_open(core, d->program, "device order", &d->radix);
}

void table_device_destroy(Core *core, TableDevice *d) {
  if (!d) return;
  PLACE_BUFFERS(DEVICE_BUFFER_RELEASE)
  ORDER_BUFFERS(DEVICE_BUFFER_RELEASE)
  TABLE_KERNELS(DEVICE_KERNEL_FREE)
  device_kernel_free(core, d->table_place);
  scan_close(core, &d->scan);
  radix_close(core, d->device, &d->radix);
  device_program_free(core, d->program);
  memory_free(&core->memory, d);
}

bool table_device_places(const TableDevice *d) { return d->table_place != NULL; }

/* ---- grains of a fill ---- */

/* A buffer is never empty: kernels are given it. */
static Status send(Core *core, TableDevice *d, DeviceBuffer *buffer, const void *data, int64_t bytes) {
  TRY(device_reserve(core, d->device, buffer, bytes + 1, 0, "fills"));
  return data ? device_write(core, d->device, buffer, 0, bytes, data) : SCREE_OK;
}

static Status send_blocks(Core *core, TableDevice *d, const SampleBlocks *blocks) {
  const int64_t four = 4, count = blocks->count;
  const Tile none = {0}, *tile = blocks->tile ? blocks->tile : &none;
  TRY(send(core, d, &d->coordinate, blocks->coordinate, count * 3 * four));
  TRY(send(core, d, &d->before, blocks->before, (count + 1) * four));
  TRY(send(core, d, &d->samples, blocks->samples, count * four));
  TRY(send(core, d, &d->tile_x, tile->x, tile->count * four));
  TRY(send(core, d, &d->tile_y, tile->y, tile->count * four));
  TRY(send(core, d, &d->tile_z, tile->z, tile->count * four));
  TRY(send(core, d, &d->tile_radius, tile->radius, tile->count * four));
  return send(core, d, &d->tile_start, tile->start, sizeof tile->start);
}

/* Samples that were all collected, as blocks that have no tile. */
static Status send_pieces(Core *core, TableDevice *d, int64_t count, SampleBlocks *pieces) {
  pieces->count = (count + PLACE_ITEMS - 1) / PLACE_ITEMS;
  pieces->own = count;
  TRY(memory_new(core, &pieces->coordinate, pieces->count, "fills"));
  TRY(memory_new(core, &pieces->before, pieces->count + 1, "fills"));
  for (int64_t k = 0; k < pieces->count; k++) pieces->before[k] = (int32_t)(k * PLACE_ITEMS);
  pieces->before[pieces->count] = (int32_t)count;
  pieces->samples = pieces->before;
  return send_blocks(core, d, pieces);
}

static Status send_samples(Core *core, TableDevice *d, const Samples *samples, PlaceShared *place) {
  SampleBlocks pieces = {0};
  const SampleBlocks *blocks = samples->blocks ? samples->blocks : &pieces;
  Status status =
      samples->blocks ? send_blocks(core, d, samples->blocks) : send_pieces(core, d, samples->count, &pieces);
  const int64_t bytes = blocks->own * (int64_t)sizeof(float);
  place->blocks = (int)blocks->count;
  place->side = blocks->side;
  memory_drop(core, &pieces.coordinate);
  memory_drop(core, &pieces.before);
  TRY(status);
  TRY(send(core, d, &d->x, samples->x, bytes));
  TRY(send(core, d, &d->y, samples->y, bytes));
  TRY(send(core, d, &d->z, samples->z, bytes));
  return send(core, d, &d->radius, samples->radius, bytes);
}

Status table_device_place(Core *core, TableDevice *d, const Samples *samples, const FinePlacing *placing,
                          DeviceBuffer *fields) {
  const Vec3 from = placing->from, velocity = placing->velocity;
  PlaceShared place = {.nominal = placing->radius,
                       .from = {from.x, from.y, from.z},
                       .velocity = {(float)velocity.x, (float)velocity.y, (float)velocity.z},
                       .radius = (float)placing->radius,
                       .radii = samples->radius != NULL,
                       .first = (int)placing->first,
                       .id = placing->id,
                       .material = placing->material};
  if (samples->count == 0) return SCREE_OK;
  TRY(send_samples(core, d, samples, &place));
  return LAUNCH(table_place, (int64_t)place.blocks * PLACE_ITEMS, DEVICE_VALUE(place), HERE(coordinate), HERE(before),
                HERE(samples), HERE(x), HERE(y), HERE(z), HERE(radius), HERE(tile_x), HERE(tile_y), HERE(tile_z),
                HERE(tile_radius), HERE(tile_start), PLACES, FIELD(vx), FIELD(vy), FIELD(vz), FIELD(radius), FIELD(id),
                FIELD(material));
}

void table_device_placed(TableDevice *d) { PLACE_BUFFERS(DEVICE_BUFFER_RELEASE) }

/* ---- order ---- */

/* Cells of the box round all grains, which comes down. */
static Status choose_cells(Core *core, TableDevice *d, double radius, DeviceBuffer *fields, OrderShared *order) {
  uint32_t words[COARSE_BOX_WORDS];
  float bounds[6], widest = 0, side = ORDER_CELL * (float)radius;
  TRY(device_reserve(core, d->device, &d->box, sizeof words, 0, "order"));
  TRY(device_clear(core, d->device, &d->box, sizeof words));
  TRY(LAUNCH(table_box, order->count, DEVICE_VALUE(order->count), PLACES, HERE(box)));
  TRY(device_read(core, d->device, &d->box, 0, sizeof words, words));
  coarse_box_floats(words, bounds);
  for (int axis = 0; axis < 3; axis++) {
    order->low[axis] = bounds[axis];
    widest = fmaxf(widest, bounds[3 + axis] - bounds[axis]);
  }
  for (order->bits = 1; order->bits < CELL_BITS && ldexpf(side, order->bits) < widest;) order->bits++;
  order->inverse = 1 / fmaxf(side, ldexpf(widest, -order->bits));
  return SCREE_OK;
}

/* Fields change places one by one; `order` is in the first, the second is room. */
static Status permute(Core *core, TableDevice *d, int32_t count, DeviceBuffer *fields, const DeviceBuffer *order,
                      DeviceBuffer *room) {
  for (int f = 0; f < FIELDS; f++) {
    const bool words = fine_field_sizes[f] == 4;
    const DeviceArgument arguments[] = {DEVICE_VALUE(count), DEVICE_BUFFER(order), DEVICE_BUFFER(&fields[f]),
                                        DEVICE_BUFFER(room)};
    TRY(device_launch(core, words ? d->table_gather_words : d->table_gather_bytes, 0, count, TABLE_GROUP, arguments,
                      4));
    if (words) device_swap(&fields[f], room);
    else TRY(device_copy(core, d->device, room, &fields[f], 0, count));
  }
  return SCREE_OK;
}

Status table_device_sort(Core *core, TableDevice *d, int64_t count, double radius, DeviceBuffer *fields,
                         DeviceBuffer *who, DeviceBuffer *other_who) {
  const int64_t bytes = count * (int64_t)sizeof(uint32_t);
  const int64_t windows = (count + WINDOW - 1) / WINDOW;
  const RadixNumbers numbers = {count, &d->number, who, &d->other_number, other_who};
  OrderShared order = {.count = (int)count};
  if (count < 2) return SCREE_OK;
  TRY(choose_cells(core, d, radius, fields, &order));
  TRY(device_reserve(core, d->device, &d->number, bytes, 0, "order of fine grains"));
  TRY(device_reserve(core, d->device, &d->other_number, bytes, 0, "order of fine grains"));
  for (int32_t shift = 0; shift < 3 * order.bits; shift += KEY_BITS) {
    const int left = 3 * order.bits - shift;
    TRY(LAUNCH(table_number, count, DEVICE_VALUE(order), DEVICE_VALUE(shift), PLACES, DEVICE_BUFFER(who),
               HERE(number)));
    TRY(radix_run(core, &d->radix, &d->scan, &numbers, left < KEY_BITS ? left : KEY_BITS));
  }
  TRY(LAUNCH(table_window, windows * TABLE_GROUP, DEVICE_VALUE(order.count), PLACES, DEVICE_BUFFER(who),
             DEVICE_BUFFER(other_who)));
  Status status = permute(core, d, (int32_t)count, fields, other_who, &d->number);
  device_release(d->device, &d->number);
  device_release(d->device, &d->other_number);
  return status;
}
