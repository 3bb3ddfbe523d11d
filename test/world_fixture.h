/* Worlds as programs see them: made, run, saved and gone on with; what goes wrong is printed and fails the test. */
#ifndef TEST_WORLD_FIXTURE_H
#define TEST_WORLD_FIXTURE_H

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "scree/scree.h"

#define assert_done(call) assert_done_((call), &error, #call, __FILE__, __LINE__)
static inline void assert_done_(ScreeStatus status, const ScreeError *error, const char *text, const char *file,
                                int line) {
  if (status == SCREE_OK) return;
  print_error("%s: %s\n", text, error->message);
  _fail(file, line);
}

/* SCREE_SHORT=n: no world goes farther than n frames, no program makes worlds for longer than some seconds; the rest of
 * the test is left out. Sanitizers then see the code that a test runs without waiting for its result. */
enum { SHORT_SECONDS = 5 };
static inline void leave_when_short(int64_t frames) {
  static struct timespec began;
  const char *text = getenv("SCREE_SHORT");
  if (!text) return;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (began.tv_sec == 0) began = now;
  if (frames >= atoi(text) || now.tv_sec - began.tv_sec >= SHORT_SECONDS) skip();
}

static inline ScreeWorld *world_with(const ScreeSceneDef *scene, int threads, bool baseline) {
  leave_when_short(-1);
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = threads;
  options.baseline_simd = baseline;
  ScreeWorld *world = NULL;
  ScreeError error;
  assert_done(scree_world_create(scene, &options, &world, &error));
  return world;
}

static inline ScreeWorld *world_of(const ScreeSceneDef *scene, int threads) {
  return world_with(scene, threads, false);
}

static inline void run_frames(ScreeWorld *world, int frames) {
  ScreeError error;
  for (int k = 0; k < frames; k++) {
    leave_when_short(scree_world_frame_index(world));
    assert_done(scree_world_frame(world, &error));
  }
}

/* Whole frames until so many seconds have passed. */
static inline void run_seconds(ScreeWorld *world, double seconds) {
  double end = scree_world_time(world) + seconds - 1e-9;
  while (scree_world_time(world) < end) run_frames(world, 1);
}

/* Of the world's state so many frames later; the world is gone then. */
static inline uint64_t last_hash(ScreeWorld *world, int frames) {
  run_frames(world, frames);
  uint64_t hash = scree_world_state_hash(world);
  scree_world_destroy(world);
  return hash;
}

enum { TEMPORARY_NAME = 256 };

/* An empty file of its own, out of the source tree. */
static inline void temporary_file(char name[TEMPORARY_NAME]) {
  const char *place = getenv("TMPDIR");
  snprintf(name, TEMPORARY_NAME, "%s/scree_test_XXXXXX", place && *place ? place : P_tmpdir);
  int file = mkstemp(name);
  assert_true(file >= 0);
  close(file);
}

/* Puts the state of a world into another of the same scene, through a checkpoint. */
static inline void world_hand_over(ScreeWorld *from, ScreeWorld *to) {
  char path[TEMPORARY_NAME];
  temporary_file(path);
  ScreeError error;
  assert_done(scree_world_save(from, path, &error));
  assert_done(scree_world_load(to, path, &error));
  unlink(path);
}
/* After so many frames `resumed` goes on from a checkpoint of `whole`, and has its bits at the end. Both are gone then.
 */
static inline void check_resumed(ScreeWorld *whole, ScreeWorld *resumed, int before, int after) {
  run_frames(whole, before);
  world_hand_over(whole, resumed);
  run_frames(whole, after);
  run_frames(resumed, after);
  assert_true(scree_world_state_hash(resumed) == scree_world_state_hash(whole));
  scree_world_destroy(whole);
  scree_world_destroy(resumed);
}

/* On two threads; device: "cpu", "opencl". */
static inline ScreeWorld *world_on(const ScreeSceneDef *scene, const char *device) {
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = 2;
  options.device = device;
  ScreeWorld *world = NULL;
  ScreeError error;
  assert_done(scree_world_create(scene, &options, &world, &error));
  return world;
}

#endif
