#include "output/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files.h"
#include "output/number.h"
#include "output/stream.h"

static Status append(Core *core, Table *table, const char *text, int64_t size) {
  TRY(memory_grow(core, &table->row, table->used + size, "csv row"));
  memcpy(table->row + table->used, text, (size_t)size);
  table->used += size;
  return SCREE_OK;
}

static Status open_table(Core *core, Table *table, const char *path, int flags) {
  *table = (Table){.file = -1};
  snprintf(table->path, sizeof table->path, "%s", path);
  table->file = open(path, O_WRONLY | O_CLOEXEC | O_APPEND | flags, 0666);
  return table->file < 0 ? stream_failed(core, path, errno) : SCREE_OK;
}

Status table_create(Core *core, Table *table, const char *path, const char *header) {
  TRY(open_table(core, table, path, O_CREAT | O_TRUNC));
  TRY(append(core, table, header, (int64_t)strlen(header)));
  return table_end_row(core, table);
}

static Status incomplete(Core *core, const char *path, int64_t frame, const char *what) {
  return fail_at(core, SCREE_BAD_INPUT, path, (ScreeSource){0, 0}, "cannot resume at frame %lld: %s", (long long)frame,
                 what);
}

/* Bytes up to the end of the last row of `frame`; -1 when the rows do not get so far. */
static int64_t length_to_frame(char *data, int64_t at, int64_t size, int64_t frame, TableVisit visit, void *context) {
  int64_t last = -1;
  while (at < size) {
    char *end = memchr(data + at, '\n', (size_t)(size - at));
    if (!end) break; /* a row that was being written when the run died */
    int64_t number = strtoll(data + at, NULL, 10);
    if (number > frame) break;
    *end = 0;
    if (visit) visit(context, data + at);
    last = number;
    at = end - data + 1;
  }
  return last == frame ? at : -1;
}

Status table_reopen(Core *core, Table *table, const char *path, const char *header, int64_t frame, TableVisit visit,
                    void *context) {
  *table = (Table){.file = -1};
  char *data = NULL;
  int64_t size = 0, length = (int64_t)strlen(header);
  TRY(files_read(core, path, memory_left(&core->memory), &data, &size));
  Status status = SCREE_OK;
  int64_t kept = 0;
  if (size <= length || memcmp(data, header, (size_t)length) != 0 || data[length] != '\n')
    status = incomplete(core, path, frame, "it has other columns than this scene gives");
  else kept = length_to_frame(data, length + 1, size, frame, visit, context);
  if (kept < 0) status = incomplete(core, path, frame, "rows are missing");
  memory_drop(core, &data);
  TRY(status);
  TRY(open_table(core, table, path, 0));
  return ftruncate(table->file, kept) == 0 ? SCREE_OK : stream_failed(core, path, errno);
}

void table_close(Core *core, Table *table) {
  if (table->file >= 0) close(table->file);
  memory_drop(core, &table->row);
  table->file = -1;
}

Status table_text(Core *core, Table *table, const char *text) {
  if (table->used > 0) TRY(append(core, table, ",", 1));
  if (!strpbrk(text, ",\"\r\n")) return append(core, table, text, (int64_t)strlen(text));
  TRY(append(core, table, "\"", 1));
  for (; *text; text++) {
    if (*text == '"') TRY(append(core, table, "\"", 1));
    TRY(append(core, table, *text == '\n' || *text == '\r' ? " " : text, 1));
  }
  return append(core, table, "\"", 1);
}

Status table_number(Core *core, Table *table, double value) { return table_text(core, table, number_csv(value).text); }

Status table_end_row(Core *core, Table *table) {
  TRY(append(core, table, "\n", 1));
  int64_t size = table->used;
  table->used = 0;
  return stream_put(table->file, table->row, size) ? SCREE_OK : stream_failed(core, table->path, errno);
}

Status table_sync(Core *core, Table *table) {
  if (fsync(table->file) == 0 || errno == EINVAL) return SCREE_OK; /* pipes cannot be synced */
  return stream_failed(core, table->path, errno);
}
