/* Readers of frames. The first byte chooses the format, the rest is the file; one choice is a compact frame whose
 * magic, version and size are made right, so that what lies behind them is tried. A frame that is accepted is written
 * as a compact one, where that can be done, and all memory must come back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/compact.h"
#include "output/frame_reader.h"
#include "test/fuzz/expect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend(char *file, int64_t size) {
  CompactHeader header;
  if (size < (int64_t)sizeof header) return;
  memcpy(&header, file, sizeof header);
  memcpy(header.magic, COMPACT_MAGIC, sizeof header.magic);
  header.version = COMPACT_VERSION;
  header.columns &= FRAME_VELOCITY | FRAME_ID;
  header.zero = 0;
  header.size = (uint64_t)size;
  memcpy(file, &header, sizeof header);
}

static Core core; /* made once: that takes as long as an input */

static void write_again(const FrameColumns *columns) {
  const float *numbers = columns->numbers;
  int64_t n = columns->count;
  ScreeParticles particles = {n,
                              columns->origin,
                              numbers + COLUMN_X * n,
                              numbers + COLUMN_Y * n,
                              numbers + COLUMN_Z * n,
                              numbers + COLUMN_VX * n,
                              numbers + COLUMN_VY * n,
                              numbers + COLUMN_VZ * n,
                              numbers + COLUMN_RADIUS * n,
                              columns->ids,
                              columns->materials};
  FrameWriter writer = {.format = FRAME_COMPACT, .columns = FRAME_VELOCITY | FRAME_ID};
  Status status = particles_write(&core, &writer, "/dev/null", &particles, 0);
  compact_buffers_destroy(&core, &writer.buffers);
  expect((status == SCREE_OK) == (core.error.status == SCREE_OK));
}

static void begin(void) {
  ScreeWorldOptions options = {.threads = 1, .memory_limit = (int64_t)1 << 30};
  if (!core.pool && core_create(&core, &options) != SCREE_OK) abort();
  core.error = (ScreeError){0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  begin();
  int64_t held = core.memory.used, length = (int64_t)size - 1;
  /* A block of exactly that size lets the sanitizer see every byte too far; the readers of text see a NUL behind it. */
  char *file = malloc(size);
  memcpy(file, data + 1, size - 1);
  file[length] = 0;
  FrameColumns columns = {0};
  Status status;
  switch (data[0] & 3) {
  case 0: status = frame_read_ply(&core, "fuzz.ply", file, length, &columns); break;
  case 1: status = frame_read_vtp(&core, "fuzz.vtp", file, length, &columns); break;
  case 2: mend(file, length); /* fallthrough */
  default: status = frame_read_compact(&core, "fuzz.compact", file, length, &columns);
  }
  free(file);
  expect(status != SCREE_NO_MEMORY);
  expect((status == SCREE_OK) == (core.error.status == SCREE_OK));
  expect(status == SCREE_OK || core.error.file[0]);
  for (int64_t i = 0; status == SCREE_OK && (data[0] & 2) && i < COLUMN_FLOATS * columns.count; i++)
    expect(isfinite(columns.numbers[i]));
  if (status == SCREE_OK) write_again(&columns);
  frame_columns_destroy(&core, &columns);
  expect(core.memory.used == held);
  return 0;
}
