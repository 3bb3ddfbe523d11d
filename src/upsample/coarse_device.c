/* Coarse grains on a device that has the particles of the method: their cells and their order are made there
 * (coarse.cl), and nothing of them goes over the bus. The box round them is that which the frame before has found,
 * unless the host has changed the particles since. */
#define LANE_SCALAR /* laws for one grain */
#include <string.h>

#include "core/vec.h"
#include "neighbors/scan_device.h"
#include "upsample/coarse_cell_law.h"
#include "upsample/coarse_shared.h"
#include "upsample/internal.h"

#define COARSE_KERNELS(X)                                                                                              \
  X(coarse_box, "device coarse grains")                                                                                \
  X(coarse_enter, "device coarse grains")                                                                              \
  X(coarse_deal, "device coarse grains")                                                                               \
  X(coarse_rows, "device coarse grains")
#define COARSE_BUFFERS(X) X(cell) X(rank) X(loose)

/* What the fine grains keep of the particles. */
static const char *const SEEN[] = {"upsample_x", "upsample_y", "upsample_z", "upsample_seen"};
enum { SEEN_FIELDS = sizeof SEEN / sizeof *SEEN };

struct CoarseDevice {
  Device *device;
  DeviceProgram *program;
  ScanDevice scan;
  COARSE_KERNELS(DEVICE_KERNEL_MEMBER)
  COARSE_BUFFERS(DEVICE_BUFFER_MEMBER)
  bool boxed; /* the box is that of `count` grains whose fields had been sent so often */
  int64_t count, sent;
  float bounds[6];
};

#define LAUNCH(name, ...)                                                                                              \
  device_launch(core, d->name, 0, shared.table.count, COARSE_GROUP, DEVICE_ARGUMENTS(__VA_ARGS__))
#define HERE(name) DEVICE_BUFFER(&d->name)
#define FIELD(name) DEVICE_BUFFER(&mirror_field(state->mirror, &state->particles, name)->buffer)
#define FIELDS                                                                                                         \
  FIELD("x"), FIELD("y"), FIELD("z"), FIELD("vx"), FIELD("vy"), FIELD("vz"), FIELD(SEEN[0]), FIELD(SEEN[1]),           \
      FIELD(SEEN[2]), FIELD(SEEN[3])

static Status make_kernels(Core *core, CoarseDevice *d) {
  TRY(device_build(core, d->device, "upsample/coarse.cl", "", &d->program));
  COARSE_KERNELS(DEVICE_KERNEL_MAKE)
  return scan_open(core, d->device, d->program, &d->scan);
}

Status coarse_device_create(Core *core, State *state, Device *device, CoarseDevice **coarse) {
  TRY(memory_new(core, coarse, 1, "coarse grains of a device"));
  (*coarse)->device = device;
  for (int k = 0; k < SEEN_FIELDS; k++) particles_mirror_field(&state->particles, SEEN[k]);
  return make_kernels(core, *coarse);
}

void coarse_device_destroy(Core *core, CoarseDevice *d) {
  if (!d) return;
  COARSE_BUFFERS(DEVICE_BUFFER_RELEASE)
  COARSE_KERNELS(DEVICE_KERNEL_FREE)
  scan_close(core, &d->scan);
  device_program_free(core, d->program);
  memory_free(&core->memory, d);
}

Status coarse_fields_fetch(Core *core, const State *state) {
  for (int k = 0; state->mirror && k < SEEN_FIELDS; k++)
    TRY(mirror_fetch_field(core, state->mirror, &state->particles, SEEN[k]));
  return SCREE_OK;
}

static void wrote_seen(const State *state, bool here) {
  for (int k = 0; state->mirror && k < SEEN_FIELDS; k++) {
    MirrorField *field = mirror_field(state->mirror, &state->particles, SEEN[k]);
    field->here = here, field->there = !here;
  }
}

void coarse_fields_changed(const State *state) { wrote_seen(state, true); }

static int64_t times_sent(const State *state) { return mirror_field(state->mirror, &state->particles, SEEN[0])->sent; }

void coarse_box_floats(const uint32_t words[COARSE_BOX_WORDS], float bounds[6]) {
  for (int axis = 0; axis < 3; axis++) {
    const uint32_t low = float_key_bits(~words[COARSE_BOX_LOW + axis]),
                   high = float_key_bits(words[COARSE_BOX_HIGH + axis]);
    memcpy(&bounds[axis], &low, sizeof low);
    memcpy(&bounds[3 + axis], &high, sizeof high);
  }
}

void coarse_device_boxed(CoarseDevice *d, const State *state, const uint32_t words[COARSE_BOX_WORDS]) {
  coarse_box_floats(words, d->bounds);
  d->boxed = true;
  d->count = state->particles.count;
  d->sent = times_sent(state);
}

/* Of the paper's rule any box will do. */
static Status find_box(Core *core, CoarseDevice *d, const State *state, CoarseShared shared, const CoarseThere *to) {
  uint32_t words[COARSE_BOX_WORDS];
  if (d->boxed && (shared.paper || (d->count == state->particles.count && d->sent == times_sent(state))))
    return SCREE_OK;
  TRY(LAUNCH(coarse_box, DEVICE_VALUE(shared), FIELDS, DEVICE_BUFFER(to->words), DEVICE_VALUE(to->word)));
  TRY(device_read(core, d->device, to->words, to->word * 4, sizeof words, words));
  coarse_device_boxed(d, state, words);
  return device_clear(core, d->device, to->words, to->words->bytes);
}

static CoarseTable choose_table(const CoarseDevice *d, int64_t count, double inverse) {
  CoarseTable table = {.count = (int)count, .inverse = (float)inverse};
  int32_t cells[6];
  for (int k = 0; k < 6; k++) cells[k] = coarse_cell(d->bounds[k], inverse);
  coarse_table_choose(count, cells, cells + 3, &table);
  return table;
}

static Status reserve(Core *core, CoarseDevice *d, int64_t count, int64_t cells, const CoarseThere *to) {
  TRY(device_reserve(core, d->device, &d->cell, count * 16, 0, "coarse grains"));
  TRY(device_reserve(core, d->device, &d->rank, count * 4, 0, "coarse grains"));
  TRY(device_reserve(core, d->device, &d->loose, count * 4, 0, "coarse grains"));
  TRY(device_reserve(core, d->device, to->rows, count * (int64_t)sizeof(CoarseRow) + 32, 0, "coarse grains"));
  return device_reserve(core, d->device, to->start, (cells + 1) * 4, 0, "coarse cells");
}

Status coarse_device_gather(Core *core, CoarseDevice *d, const Upsample *up, const State *state, double dt,
                            CoarseThere *to) {
  const int32_t count = (int32_t)state->particles.count;
  const double inverse = coarse_grid_inverse((float)(REACH * up->coarse_radius));
  CoarseShared shared = {
      .table = {.count = count}, .rate = coarse_rate(up, dt), .paper = up->definition.mode == SCREE_UPSAMPLE_PAPER};
  to->table = shared.table;
  memset(to->bounds, 0, sizeof to->bounds);
  if (count == 0) return SCREE_OK;
  TRY(mirror_send(core, state->mirror, &state->particles, SET_X | SET_V | SET_BIRTH | SET_ADDED));
  TRY(find_box(core, d, state, shared, to));
  memcpy(to->bounds, d->bounds, sizeof to->bounds);
  to->table = shared.table = choose_table(d, count, inverse);
  const int64_t cells = coarse_table_cells(&shared.table);
  TRY(reserve(core, d, count, cells, to));
  TRY(device_clear(core, d->device, to->start, (cells + 1) * 4));
  TRY(LAUNCH(coarse_enter, DEVICE_VALUE(shared), DEVICE_VALUE(inverse), FIELDS, HERE(cell), DEVICE_BUFFER(to->start),
             HERE(rank)));
  TRY(scan_run(core, &d->scan, to->start, cells + 1));
  TRY(LAUNCH(coarse_deal, DEVICE_VALUE(count), HERE(cell), DEVICE_BUFFER(to->start), HERE(rank), HERE(loose)));
  TRY(LAUNCH(coarse_rows, DEVICE_VALUE(shared), FIELDS, FIELD("id"), HERE(cell), DEVICE_BUFFER(to->start), HERE(loose),
             DEVICE_BUFFER(to->rows), DEVICE_BUFFER(to->words), DEVICE_VALUE(to->word)));
  if (!shared.paper) wrote_seen(state, false);
  return SCREE_OK;
}
