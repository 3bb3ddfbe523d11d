/* Frames of ten million grains: how long a run waits for a file to be written (the disk follows in the background), how
 * much processor time making it takes alone (written to /dev/null), and how long it is read. Formats take turns; the
 * best turn of each counts. A reference is the PLY frame of the same turns. */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/scene.h"
#include "core/rng.h"
#include "core/timer.h"
#include "output/frames.h"

enum { CELL = 8, CELL_GRAINS = CELL * CELL * CELL, CELLS = 27, QUICK_CELLS = 2, TURNS = 4 };

typedef struct Cloud {
  int64_t cells, count; /* cells along an axis */
  float *columns[7];    /* x y z vx vy vz radius */
  uint32_t *ids;
  uint8_t *materials;
} Cloud;

/* Where the i-th grain is along an axis: those of a small cube follow each other, as the fine grains of a run do. */
static int64_t lattice_place(const Cloud *cloud, int64_t i, int axis) {
  int64_t inside = i % CELL_GRAINS, cell = i / CELL_GRAINS;
  for (int c = 0; c < axis; c++) inside /= CELL, cell /= cloud->cells;
  return cell % cloud->cells * CELL + inside % CELL;
}

/* A block of shaken grains, sheared as a landslide is, each radius up to `spread` / 2 of it away from 1 mm. */
static Status cloud_create(Core *core, int64_t cells, double spread, Cloud *cloud) {
  cloud->cells = cells;
  cloud->count = cells * cells * cells * CELL_GRAINS;
  for (int c = 0; c < 7; c++) TRY(memory_new(core, &cloud->columns[c], cloud->count, "benchmark"));
  TRY(memory_new(core, &cloud->ids, cloud->count, "benchmark"));
  TRY(memory_new(core, &cloud->materials, cloud->count, "benchmark"));
  for (int64_t i = 0; i < cloud->count; i++) {
    const int64_t lattice[3] = {lattice_place(cloud, i, 0), lattice_place(cloud, i, 1), lattice_place(cloud, i, 2)};
    for (int c = 0; c < 3; c++) {
      double shake = rng_unit(rng_bits(1, (uint64_t)i, (uint64_t)c, RNG_TEST));
      cloud->columns[c][i] = (float)(1.9e-3 * ((double)lattice[c] + 0.5 * shake));
      cloud->columns[3 + c][i] = (float)((c == 0 ? 0.01 * (double)lattice[2] : 0) + 0.1 * (shake - 0.5));
    }
    cloud->columns[6][i] = (float)(1e-3 * (1 + spread * (rng_unit(rng_bits(1, (uint64_t)i, 3, RNG_TEST)) - 0.5)));
    cloud->ids[i] = (uint32_t)i;
    cloud->materials[i] = (uint8_t)(lattice[2] * 3 / (cells * CELL));
  }
  return SCREE_OK;
}

static void cloud_destroy(Core *core, Cloud *cloud) {
  for (int c = 0; c < 7; c++) memory_drop(core, &cloud->columns[c]);
  memory_drop(core, &cloud->ids);
  memory_drop(core, &cloud->materials);
}

static ScreeParticles cloud_view(const Cloud *cloud) {
  float *const *c = cloud->columns;
  return (ScreeParticles){cloud->count, {0, 0, 0},       c[0], c[1], c[2], c[3], c[4], c[5], c[6],
                          cloud->ids,   cloud->materials};
}

typedef struct Case {
  const char *name;
  FrameFormat format;
  unsigned columns;
  bool mixed; /* radii */
  FrameWriter writer;
  double written, made, synced, read; /* s, the best */
  double bytes;
} Case;

static Status measure_read(Case *one, const char *folder) {
  Frames *frames = NULL;
  ScreeParticles particles;
  double began = timer_now();
  Status status = frames_open(folder, "grains", &frames, NULL);
  if (status == SCREE_OK) status = frames_read(frames, 0, &particles, NULL, NULL);
  one->read = fmin(one->read, timer_now() - began);
  frames_close(frames);
  return status;
}

static Status measure(Core *core, Case *one, const Cloud *cloud, const char *folder) {
  ScreeParticles particles = cloud_view(cloud);
  char path[SCREE_FILE_MAX];
  frame_name_write(path, sizeof path, folder, "grains", 0, one->format);
  double began = timer_now();
  TRY(particles_write(core, &one->writer, path, &particles, 0));
  double written = timer_now();
  TRY(committer_drain(core, one->writer.committer));
  one->synced = fmin(one->synced, timer_now() - began);
  one->written = fmin(one->written, written - began);
  struct stat about = {0};
  stat(path, &about);
  one->bytes = (double)about.st_size;
  Status status = measure_read(one, folder);
  unlink(path);
  if (status != SCREE_OK) return fail(core, status, "%s cannot be read back", path);
  began = timer_processor();
  TRY(particles_write(core, &one->writer, "/dev/null", &particles, 0));
  TRY(committer_drain(core, one->writer.committer));
  one->made = fmin(one->made, timer_processor() - began);
  return SCREE_OK;
}

static Status rows(Core *core, BenchTable *table, const Case *one, const Case *ply, double count) {
  const double ns = 1e9 / count;
  BenchRow size = {
      .ours = one->bytes / count, .reference = one == ply ? NAN : ply->bytes / count, .unit = "bytes/grain"};
  snprintf(size.name, sizeof size.name, "%s", one->name);
  snprintf(size.note, sizeof size.note, "%.0f MB a frame of %.1f million", one->bytes / 1e6, count / 1e6);
  TRY(bench_row(core, table, size));
  BenchRow written = {.ours = one->written * ns, .reference = one == ply ? NAN : ply->written * ns, .unit = "ns/grain"};
  snprintf(written.name, sizeof written.name, "%s: written", one->name);
  snprintf(written.note, sizeof written.note, "%.0f MB/s; made in %.2f ns of processor time; on the disk after %.0f ms",
           one->bytes / 1e6 / one->written, one->made * ns, 1e3 * one->synced);
  TRY(bench_row(core, table, written));
  BenchRow read = {.ours = one->read * ns, .reference = one == ply ? NAN : ply->read * ns, .unit = "ns/grain"};
  snprintf(read.name, sizeof read.name, "%s: read", one->name);
  snprintf(read.note, sizeof read.note, "%.0f MB/s, one thread", one->bytes / 1e6 / one->read);
  return bench_row(core, table, read);
}

static Status turns(Core *core, const BenchTable *table, Case *cases, int count, const Cloud clouds[2],
                    const char *folder) {
  for (int64_t turn = 0; turn < bench_amount(table, TURNS, 1); turn++)
    for (int k = 0; k < count; k++) TRY(measure(core, &cases[k], &clouds[cases[k].mixed], folder));
  return SCREE_OK;
}

static Status in_folder(Core *core, BenchTable *table, const char *folder) {
  Case cases[] = {{.name = "ply", .format = FRAME_PLY},
                  {.name = "compact", .format = FRAME_COMPACT, .columns = FRAME_VELOCITY},
                  {.name = "compact, no velocity", .format = FRAME_COMPACT},
                  {.name = "compact, mixed radii", .format = FRAME_COMPACT, .columns = FRAME_VELOCITY, .mixed = true}};
  enum { CASES = sizeof cases / sizeof *cases };
  Cloud clouds[2] = {0};
  Committer *committer = NULL;
  Status status = committer_create(core, &committer);
  for (int k = 0; k < 2 && status == SCREE_OK; k++)
    status = cloud_create(core, bench_amount(table, CELLS, QUICK_CELLS), 0.4 * k, &clouds[k]);
  for (int k = 0; k < CASES; k++) {
    cases[k].writer = (FrameWriter){cases[k].format, cases[k].columns, committer, {0}};
    cases[k].written = cases[k].made = cases[k].synced = cases[k].read = INFINITY;
  }
  if (status == SCREE_OK) status = turns(core, table, cases, CASES, clouds, folder);
  for (int k = 0; k < CASES && status == SCREE_OK; k++)
    status = rows(core, table, &cases[k], &cases[0], (double)clouds[0].count);
  for (int k = 0; k < CASES; k++) compact_buffers_destroy(core, &cases[k].writer.buffers);
  for (int k = 0; k < 2; k++) cloud_destroy(core, &clouds[k]);
  committer_destroy(core, committer);
  return status;
}

Status bench_frames(Core *core, BenchTable *table) {
  char folder[SCREE_FILE_MAX - 32];
  table->counts = "the shortest of four turns";
  bench_temporary_name(folder, sizeof folder);
  if (!mkdtemp(folder)) return fail(core, SCREE_CANNOT_WRITE, "%s: cannot be made", folder);
  Status status = in_folder(core, table, folder);
  rmdir(folder);
  return status;
}
