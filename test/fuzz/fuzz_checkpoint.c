/* Checkpoint reader: whatever a file says, a world refuses it or stays usable. The input is a list of edits to the
 * archive of a world in which everything happens; the first byte chooses world and method. Header and check sum are
 * right, so that what is behind them is tried. 0xff first: the rest is an archive as it stands. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everything_fixture.h"
#include "world/world.h"

enum { EDIT = 8, EDITS_MAX = 16, FRAMES_BEFORE = 12, FRAMES = 2, STEPS_MOST = 4, RAW = 0xff };
/* 1/s: a step or a few end a frame, with what is done then. */
#define FRAME_RATE 240

typedef struct Subject {
  ScreeWorld *world;
  Archive archive;
} Subject;

static Subject subjects[EVERYTHING_COUNT];

static bool make_subject(int which) {
  Subject *subject = &subjects[which];
  if (subject->world) return true;
  Everything e;
  everything(&e, which, 0.06, 3, "test/cli/render_arm.xml");
  e.scene.frame_rate = FRAME_RATE;
  ScreeWorldOptions options = {.threads = 1, .memory_limit = 1 << 28, .log_level = SCREE_LOG_ERROR};
  ScreeError error;
  if (scree_world_create(&e.scene, &options, &subject->world, &error) != SCREE_OK) return false;
  for (int k = 0; k < FRAMES_BEFORE; k++)
    if (scree_world_frame(subject->world, &error) != SCREE_OK) abort();
  if (world_archive_begin(subject->world, &subject->archive) != SCREE_OK) abort();
  if (world_archive(subject->world, &subject->archive) != SCREE_OK) abort();
  return true;
}

/* Three bytes of place, one that says how, four of value. */
static void edit(uint8_t *data, int64_t size, const uint8_t *how) {
  uint64_t at = (uint64_t)how[0] | (uint64_t)how[1] << 8 | (uint64_t)how[2] << 16;
  at %= (uint64_t)size;
  if (how[3] & 1) at &= ~(uint64_t)3;
  for (int k = 0; k < (how[3] & 2 ? 4 : 1) && at + (uint64_t)k < (uint64_t)size; k++) {
    uint8_t *byte = &data[at + (uint64_t)k];
    *byte = (uint8_t)(how[3] & 4 ? *byte ^ how[4 + k] : how[4 + k]);
  }
}

static void go_on(Subject *subject, const uint8_t *data, int64_t size) {
  if (world_archive_load(subject->world, "fuzz", data, size) != SCREE_OK) return;
  int64_t last = subject->world->state.frame + FRAMES;
  for (int k = 0; k < STEPS_MOST && subject->world->state.frame < last; k++)
    if (world_step(subject->world) != SCREE_OK) return;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  bool raw = data[0] == RAW;
  int which = raw ? EVERYTHING_PBD : data[0] % EVERYTHING_COUNT;
  if (!make_subject(which)) return 0;
  Subject *subject = &subjects[which];
  data++, size--;
  /* An own block lets the sanitizer see every byte too far. */
  size_t bytes = raw ? size : (size_t)subject->archive.size;
  uint8_t *copy = malloc(bytes ? bytes : 1);
  memcpy(copy, raw ? data : (const uint8_t *)subject->archive.data, bytes);
  for (size_t k = 0; !raw && k < EDITS_MAX && (k + 1) * EDIT <= size; k++) edit(copy, (int64_t)bytes, data + k * EDIT);
  go_on(subject, copy, (int64_t)bytes);
  free(copy);
  return 0;
}
