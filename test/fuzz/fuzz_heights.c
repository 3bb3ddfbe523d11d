/* Heights from a picture of 8 x 8 pixels. Check sums of the chunks are made right, so that what is behind them is
 * tried. What is accepted gives heights within the range. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terrain/parts.h"

enum { SIDE = 8, SIGNATURE = 8 };

static uint32_t crc(const uint8_t *data, size_t size) {
  uint32_t sum = 0xffffffffu;
  for (size_t k = 0; k < size; k++) {
    sum ^= data[k];
    for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
  }
  return ~sum;
}

static void put(uint8_t *to, uint32_t value) {
  for (int k = 0; k < 4; k++) to[k] = (uint8_t)(value >> (24 - 8 * k));
}

/* length, kind, data, check sum */
static void mend_sums(uint8_t *file, size_t size) {
  for (size_t at = SIGNATURE; at + 12 <= size;) {
    uint32_t length =
        (uint32_t)file[at] << 24 | (uint32_t)file[at + 1] << 16 | (uint32_t)file[at + 2] << 8 | file[at + 3];
    if (length > size - at - 12) return;
    put(file + at + 8 + length, crc(file + at + 4, length + 4));
    at += 12 + length;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char path[64];
  Core core = {0};
  memory_create(&core.memory, (int64_t)1 << 28);
  if (!path[0]) snprintf(path, sizeof path, "/dev/shm/scree_heights_%ld", (long)getpid());
  uint8_t *copy = malloc(size ? size : 1);
  memcpy(copy, data, size);
  mend_sums(copy, size);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(copy, 1, size, file) != size) abort();
  fclose(file);
  free(copy);
  double heights[SIDE * SIDE];
  const ScreeSource nowhere = {0, 0};
  if (picture_heights(&core, path, "fuzz", nowhere, SIDE, SIDE, (ScreeVec2){1, 3}, heights) == SCREE_OK)
    for (int k = 0; k < SIDE * SIDE; k++)
      if (!(heights[k] >= 1 && heights[k] <= 3)) abort();
  if (core.memory.used != 0) abort();
  return 0;
}
