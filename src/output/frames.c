#include "output/frames.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"
#include "output/frame_reader.h"

typedef struct FrameName {
  int64_t number;
  FrameFormat format;
} FrameName;

struct Frames {
  Core core;
  char folder[SCREE_FILE_MAX];
  char kind[16];
  char path[SCREE_FILE_MAX + 64];
  int64_t count;
  FrameName *names;
  FrameColumns columns;
};

bool frame_name_parse(const char *name, const char *kind, int64_t *number, FrameFormat *format) {
  size_t length = strlen(kind);
  if (strncmp(name, kind, length) != 0 || name[length] != '_') return false;
  const char *digits = name + length + 1;
  size_t count = strspn(digits, "0123456789");
  if (count < 6 || count > 18 || (count > 6 && digits[0] == '0')) return false;
  *number = strtoll(digits, NULL, 10);
  for (int f = FRAME_PLY; f < FRAME_NONE; f++) {
    *format = (FrameFormat)f;
    if (digits[count] == '.' && strcmp(digits + count + 1, frame_format_name(*format)) == 0) return true;
  }
  return false;
}

void frame_name_write(char *path, size_t size, const char *folder, const char *kind, int64_t number,
                      FrameFormat format) {
  snprintf(path, size, "%s/%s_%06lld.%s", folder, kind, (long long)number, frame_format_name(format));
}

static int by_number(const void *a, const void *b) {
  const FrameName *p = a, *q = b;
  if (p->number != q->number) return p->number < q->number ? -1 : 1;
  return (int)p->format - (int)q->format;
}

static void drop_doubles(Frames *frames) {
  int64_t kept = 0;
  for (int64_t k = 0; k < frames->count; k++)
    if (kept == 0 || frames->names[k].number != frames->names[kept - 1].number)
      frames->names[kept++] = frames->names[k];
  frames->count = kept;
}

static Status list(Frames *frames) {
  Core *core = &frames->core;
  DIR *directory = opendir(frames->folder);
  if (!directory)
    return fail_at(core, SCREE_BAD_INPUT, frames->folder, (ScreeSource){0, 0}, "cannot be read: %s", strerror(errno));
  Status status = SCREE_OK;
  for (struct dirent *entry = readdir(directory); entry && status == SCREE_OK; entry = readdir(directory)) {
    FrameName name;
    if (!frame_name_parse(entry->d_name, frames->kind, &name.number, &name.format)) continue;
    status = memory_grow(core, &frames->names, frames->count + 1, "frame list");
    if (status == SCREE_OK) frames->names[frames->count++] = name;
  }
  closedir(directory);
  if (status == SCREE_OK && frames->count > 0) {
    qsort(frames->names, (size_t)frames->count, sizeof *frames->names, by_number);
    drop_doubles(frames);
  }
  return status;
}

ScreeStatus frames_open(const char *folder, const char *kind, Frames **out, ScreeError *error) {
  Core core = {0};
  memory_create(&core.memory, 0);
  *out = NULL;
  Frames *frames = NULL;
  if (strlen(folder) >= sizeof frames->folder || strlen(kind) >= sizeof frames->kind)
    return core_report(&core, fail(&core, SCREE_BAD_INPUT, "path is too long: %.100s...", folder), error);
  if (memory_new(&core, &frames, 1, "frames") != SCREE_OK) return core_report(&core, SCREE_NO_MEMORY, error);
  frames->core = core;
  snprintf(frames->folder, sizeof frames->folder, "%s", folder);
  snprintf(frames->kind, sizeof frames->kind, "%s", kind);
  Status status = core_report(&frames->core, list(frames), error);
  if (status == SCREE_OK) *out = frames;
  else frames_close(frames);
  return status;
}

void frames_close(Frames *frames) {
  if (!frames) return;
  frame_columns_destroy(&frames->core, &frames->columns);
  memory_drop(&frames->core, &frames->names);
  Core core = frames->core; /* it counts the block that it lies in */
  memory_drop(&core, &frames);
}

int64_t frames_count(const Frames *frames) { return frames->count; }
int64_t frames_number(const Frames *frames, int64_t k) { return frames->names[k].number; }
FrameFormat frames_format(const Frames *frames, int64_t k) { return frames->names[k].format; }

unsigned frames_columns(const Frames *frames) { return frames->columns.columns; }

const char *frames_path(Frames *frames, int64_t k) {
  frame_name_write(frames->path, sizeof frames->path, frames->folder, frames->kind, frames->names[k].number,
                   frames->names[k].format);
  return frames->path;
}

static Status read_columns(Frames *frames, int64_t k) {
  Core *core = &frames->core;
  frame_columns_destroy(core, &frames->columns);
  if (k < 0 || k >= frames->count) return fail(core, SCREE_BAD_ARGUMENT, "there is no frame %lld", (long long)k);
  const char *path = frames_path(frames, k);
  char *data = NULL;
  int64_t size = 0;
  TRY(files_read(core, path, memory_left(&core->memory), &data, &size));
  Status (*const readers[])(Core *, const char *, const char *, int64_t, FrameColumns *) = {
      [FRAME_PLY] = frame_read_ply, [FRAME_VTP] = frame_read_vtp, [FRAME_COMPACT] = frame_read_compact};
  Status status = readers[frames->names[k].format](core, path, data, size, &frames->columns);
  memory_drop(core, &data);
  if (status != SCREE_OK) frame_columns_destroy(core, &frames->columns);
  return status;
}

ScreeStatus frames_read(Frames *frames, int64_t k, ScreeParticles *particles, double *time, ScreeError *error) {
  *particles = (ScreeParticles){0};
  Status status = core_report(&frames->core, read_columns(frames, k), error);
  if (status != SCREE_OK) return status;
  const FrameColumns *columns = &frames->columns;
  int64_t n = columns->count;
  const float *numbers = columns->numbers;
  *particles = (ScreeParticles){.count = n,
                                .origin = columns->origin,
                                .x = numbers + COLUMN_X * n,
                                .y = numbers + COLUMN_Y * n,
                                .z = numbers + COLUMN_Z * n,
                                .vx = numbers + COLUMN_VX * n,
                                .vy = numbers + COLUMN_VY * n,
                                .vz = numbers + COLUMN_VZ * n,
                                .radius = numbers + COLUMN_RADIUS * n,
                                .id = columns->ids,
                                .material = columns->materials};
  if (time) *time = columns->time;
  return SCREE_OK;
}
