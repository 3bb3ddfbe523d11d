/* Single files and folders for the commands that have no run. */
#include "output/folder.h"
#include "output/frames.h"
#include "output/output.h"
#include "output/stream.h"

#include <string.h>

static Core small_core(void) {
  Core core = {0};
  memory_create(&core.memory, 0);
  return core;
}

ScreeStatus output_check(const char *folder, ScreeError *error) {
  Core core = small_core();
  return core_report(&core, folder_check(&core, folder), error);
}

ScreeStatus output_check_file(const char *path, ScreeError *error) {
  Core core = small_core();
  return core_report(&core, stream_check(&core, path), error);
}

ScreeStatus output_make_folder(const char *folder, ScreeError *error) {
  Core core = small_core();
  return core_report(&core, folder_make(&core, folder), error);
}

ScreeStatus output_text(const char *path, const char *text, ScreeError *error) {
  Core core = small_core();
  Stream stream;
  stream_open(&stream, path);
  stream_write(&stream, text, (int64_t)strlen(text));
  return core_report(&core, stream_commit(&core, &stream), error);
}

ScreeStatus output_particles(const char *folder, const char *kind, int64_t number, FrameFormat format, unsigned columns,
                             const ScreeParticles *particles, double time, ScreeError *error) {
  Core core;
  Status status = core_create(&core, NULL);
  FrameWriter writer = {.format = format, .columns = columns};
  char path[SCREE_FILE_MAX];
  frame_name_write(path, sizeof path, folder, kind, number, format);
  if (status == SCREE_OK) status = particles_write(&core, &writer, path, particles, time);
  compact_buffers_destroy(&core, &writer.buffers);
  core_report(&core, status, error);
  core_destroy(&core);
  return status;
}

static Status points(Core *core, const char *path, const ScreeSamples *samples, double radius, float *block,
                     uint32_t *ids, uint8_t *materials) {
  int64_t n = samples->count;
  for (int64_t i = 0; i < n; i++) {
    block[n + i] = (float)radius;
    ids[i] = (uint32_t)i;
  }
  ScreeParticles particles = {.count = n,
                              .origin = samples->origin,
                              .x = samples->x,
                              .y = samples->y,
                              .z = samples->z,
                              .vx = block,
                              .vy = block,
                              .vz = block,
                              .radius = block + n,
                              .id = ids,
                              .material = materials};
  return particles_write_ply(core, NULL, path, &particles, 0);
}

ScreeStatus output_points(const char *path, const ScreeSamples *samples, double radius, ScreeError *error) {
  Core core = small_core();
  float *block = NULL;
  uint32_t *ids = NULL;
  uint8_t *materials = NULL;
  Status status = memory_new(&core, &block, 2 * samples->count + 1, "points");
  if (status == SCREE_OK) status = memory_new(&core, &ids, samples->count + 1, "points");
  if (status == SCREE_OK) status = memory_new(&core, &materials, samples->count + 1, "points");
  if (status == SCREE_OK) status = points(&core, path, samples, radius, block, ids, materials);
  memory_drop(&core, &block);
  memory_drop(&core, &ids);
  memory_drop(&core, &materials);
  return core_report(&core, status, error);
}
