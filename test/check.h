/* cmocka with the headers it needs before it, and a few checks of our own. */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#undef fail /* ours is core/core.h's; cmocka's stays reachable as _fail */

#include "core/core.h"

/* Whether this is a build with a sanitizer: there the point is what is touched, not how often, and all takes ten times
 * as long. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#if !defined(SANITIZED)
#define SANITIZED false
#endif

#define assert_near(value, expected, tolerance)                                                                        \
  assert_near_((value), (expected), (tolerance), #value, __FILE__, __LINE__)
static inline void assert_near_(double value, double expected, double tolerance, const char *text, const char *file,
                                int line) {
  if (!(fabs(value - expected) <= tolerance)) {
    print_error("%s is %.12g, expected %.12g within %.3g\n", text, value, expected, tolerance);
    _fail(file, line);
  }
}

/* A status that should be SCREE_OK; prints the described failure otherwise. */
#define assert_ok(core, call) assert_ok_((core), (call), #call, __FILE__, __LINE__)
static inline void assert_ok_(Core *core, Status status, const char *text, const char *file, int line) {
  if (status == SCREE_OK) return;
  char said[SCREE_FILE_MAX + SCREE_MESSAGE_MAX + 64];
  print_error("%s: %s\n", text, scree_error_line(&core->error, said, sizeof said));
  _fail(file, line);
}

/* All of a file; the caller frees it. */
static inline char *file_read(const char *path, int64_t *size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *size = ftell(file);
  rewind(file);
  char *data = malloc((size_t)*size);
  assert_int_equal(fread(data, 1, (size_t)*size, file), *size);
  fclose(file);
  return data;
}

static inline void file_write(const char *path, const char *data, int64_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, (size_t)size, file), size);
  fclose(file);
}

static inline Core test_core(int threads) {
  Core core;
  ScreeWorldOptions options = {.threads = threads, .log_level = SCREE_LOG_WARNING};
  if (core_create(&core, &options) != SCREE_OK) _fail(__FILE__, __LINE__);
  return core;
}

#endif
