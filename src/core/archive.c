#include "core/archive.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SECTION_NAME = 24, REFUSAL_MAX = 200 };

void archive_save(Archive *archive) { *archive = (Archive){.name = ""}; }

void archive_load(Archive *archive, const char *name, const void *data, int64_t size) {
  *archive = (Archive){.loading = true, .name = name, .data = (char *)data, .size = size};
}

void archive_destroy(Core *core, Archive *archive) {
  if (!archive->loading) memory_drop(core, &archive->data);
  *archive = (Archive){.name = ""};
}

Status archive_bad(Core *core, const Archive *archive, const char *what) {
  return fail_at(core, SCREE_BAD_INPUT, archive->name, (ScreeSource){0, 0}, "%s at byte %lld", what,
                 (long long)archive->at);
}

Status archive_bytes(Core *core, Archive *archive, void *data, int64_t size) {
  if (size == 0) return SCREE_OK;
  if (archive->loading) {
    if (size < 0 || size > archive->size - archive->at) return archive_bad(core, archive, "checkpoint ends early");
    memcpy(data, archive->data + archive->at, (size_t)size);
    archive->at += size;
    return SCREE_OK;
  }
  TRY(memory_grow(core, &archive->data, archive->size + size, "checkpoint"));
  memcpy(archive->data + archive->size, data, (size_t)size);
  archive->size += size;
  return SCREE_OK;
}

Status archive_section(Core *core, Archive *archive, const char *name) {
  char mark[SECTION_NAME] = {0};
  strncpy(mark, name, sizeof mark - 1);
  if (!archive->loading) return archive_bytes(core, archive, mark, sizeof mark);
  char found[SECTION_NAME];
  TRY(archive_bytes(core, archive, found, sizeof found));
  if (memcmp(found, mark, sizeof mark) != 0)
    return fail_at(core, SCREE_BAD_INPUT, archive->name, (ScreeSource){0, 0},
                   "checkpoint is damaged: section '%s' not found at byte %lld", name,
                   (long long)(archive->at - SECTION_NAME));
  return SCREE_OK;
}

Status archive_count(Core *core, Archive *archive, int64_t *count, int64_t element) {
  TRY(archive_value(core, archive, count));
  if (archive->loading && (*count < 0 || (element > 0 && *count > (archive->size - archive->at) / element)))
    return archive_bad(core, archive, "checkpoint promises more than it holds");
  return SCREE_OK;
}

Status archive_bools(Core *core, Archive *archive, bool *values, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    uint8_t value = archive->loading ? 0 : (uint8_t)values[k];
    TRY(archive_value(core, archive, &value));
    if (value > 1) return archive_bad(core, archive, "neither yes nor no");
    values[k] = value != 0;
  }
  return SCREE_OK;
}

Status archive_refuse(Core *core, const Archive *archive, const char *format, ...) {
  char what[REFUSAL_MAX];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return fail_at(core, SCREE_BAD_INPUT, archive->name, (ScreeSource){0, 0}, "is damaged: %s", what);
}

/* A sum of zeros unless one is not finite: then NaN. The compiler makes vectors of it. */
bool floats_finite(const float *values, int64_t count) {
  float sum = 0;
  for (int64_t k = 0; k < count; k++) sum += values[k] * 0;
  return sum == 0;
}

bool doubles_finite(const double *values, int64_t count) {
  double sum = 0;
  for (int64_t k = 0; k < count; k++) sum += values[k] * 0;
  return sum == 0;
}

Status archive_check_ids(Core *core, const Archive *archive, const uint32_t *id, int64_t count, uint32_t next,
                         const char *whose) {
  uint64_t *seen = NULL;
  if (next == 0) return archive_refuse(core, archive, "the next id of a %s is 0", whose);
  TRY(memory_new(core, &seen, (int64_t)next / 64 + 1, "ids"));
  Status status = SCREE_OK;
  for (int64_t k = 0; k < count && status == SCREE_OK; k++) {
    if (id[k] == 0 || id[k] >= next)
      status = archive_refuse(core, archive, "a %s has id %u, but ids go from 1 to %u", whose, id[k], next - 1);
    else if (seen[id[k] / 64] >> (id[k] % 64) & 1)
      status = archive_refuse(core, archive, "two %ss have id %u", whose, id[k]);
    else seen[id[k] / 64] |= 1ull << (id[k] % 64);
  }
  memory_drop(core, &seen);
  return status;
}
