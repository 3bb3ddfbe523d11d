/* Saving and loading through one description: the same calls write a checkpoint or read it back.
 *
 *   static Status body_archive(Core *core, Archive *archive, Body *body) {
 *     TRY(archive_section(core, archive, "body"));
 *     return archive_value(core, archive, &body->mass);
 *   }
 *
 * Sections carry their name, so that a reader that has lost its place says so instead of reading rubbish. Nothing
 * is allocated for a size that the file only promises. */
#ifndef CORE_ARCHIVE_H
#define CORE_ARCHIVE_H

#include "core/core.h"

typedef struct Archive {
  bool loading;
  const char *name; /* of the file, for messages */
  char *data;
  int64_t size; /* loading: bytes there are; saving: bytes written */
  int64_t at;   /* loading: next byte */
} Archive;

void archive_save(Archive *archive);
/* Reads from a block that the caller keeps. */
void archive_load(Archive *archive, const char *name, const void *data, int64_t size);
void archive_destroy(Core *core, Archive *archive);

Status archive_section(Core *core, Archive *archive, const char *name);
Status archive_bytes(Core *core, Archive *archive, void *data, int64_t size);
#define archive_value(core, archive, pointer) archive_bytes((core), (archive), (pointer), (int64_t)sizeof *(pointer))
/* An array that is `count` long; loading checks that the file holds so many before anything is touched. */
#define archive_array(core, archive, pointer, count)                                                                   \
  archive_bytes((core), (archive), (pointer), (int64_t)sizeof *(pointer) * (count))
/* A count: loading refuses anything below 0 or for which fewer than count * element bytes are left. */
Status archive_count(Core *core, Archive *archive, int64_t *count, int64_t element);
/* One byte that is 0 or 1: loading refuses others, which would be no bool. */
Status archive_bools(Core *core, Archive *archive, bool *values, int64_t count);
Status archive_bad(Core *core, const Archive *archive, const char *what);

/* What was loaded is looked at: a file may say anything. */
Status archive_refuse(Core *core, const Archive *archive, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool floats_finite(const float *values, int64_t count);
bool doubles_finite(const double *values, int64_t count);
/* Whether ids are below `next`, none is 0 and none is there twice. */
Status archive_check_ids(Core *core, const Archive *archive, const uint32_t *id, int64_t count, uint32_t next,
                         const char *whose);

#endif
