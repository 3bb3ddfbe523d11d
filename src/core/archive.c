#include "core/archive.h"

#include <string.h>

enum { SECTION_NAME = 24 };

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
