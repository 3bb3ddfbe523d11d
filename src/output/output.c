#include "output/output.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/parallel.h"
#include "core/timer.h"
#include "output/folder.h"
#include "output/frames.h"
#include "output/report.h"
#include "output/stream.h"
#include "output/table.h"
#include "scree/scene.h"

struct Output {
  Core core;
  char folder[FOLDER_NAME_MAX];
  int lock; /* descriptor of the folder, or -1 */
  char report[SCREE_FILE_MAX];
  bool report_elsewhere; /* a second copy, where --report says */
  char scene[SCREE_FILE_MAX];
  char path[SCREE_FILE_MAX]; /* in use for one call */
  Table probes, bodies;
  FrameWriter writer;
  double began, last_frame_end; /* wall clock */
  double output_began;          /* of the frame in hand; 0: not yet */
  double checkpoint_at, checkpoint_took;
  int64_t steps_before;
  ScreePhase *phases_before;
  int32_t phase_before_count;
  FrameTimes *times;
  int64_t time_count;
  ProbeSum *sums; /* SCREE_PROBE_VALUES_MAX for each probe */
};

static const char *in_folder(Output *output, const char *name) {
  snprintf(output->path, sizeof output->path, "%s/%s", output->folder, name);
  return output->path;
}

/* ---- tables ---- */

static void count_value(ProbeSum *sum, double value) {
  sum->last = value;
  if (!isfinite(value)) return;
  sum->sum += value;
  sum->rows++;
}

/* Calls visit for each column of probes.csv after frame and time. */
typedef void (*ColumnVisit)(void *context, const ScreeProbeState *probe, int32_t value, ProbeSum *sum);
static void for_each_column(Output *output, const ScreeWorld *world, ColumnVisit visit, void *context) {
  for (int32_t p = 0; p < scree_world_probe_count(world); p++) {
    ScreeProbeState probe = {0};
    if (scree_world_probe(world, p + 1, &probe) != SCREE_OK) continue;
    for (int32_t v = 0; v < probe.value_count; v++)
      visit(context, &probe, v, &output->sums[p * SCREE_PROBE_VALUES_MAX + v]);
  }
}

typedef struct HeaderText {
  Core *core;
  char *text;
  int64_t length;
  Status status;
} HeaderText;

static void header_append(HeaderText *header, const char *text) {
  int64_t length = (int64_t)strlen(text);
  if (header->status == SCREE_OK)
    header->status = memory_grow(header->core, &header->text, header->length + length + 1, "csv header");
  if (header->status != SCREE_OK) return;
  memcpy(header->text + header->length, text, (size_t)length + 1);
  header->length += length;
}

static void header_column(void *context, const ScreeProbeState *probe, int32_t value, ProbeSum *sum) {
  (void)sum;
  header_append(context, ",");
  header_append(context, probe->name);
  header_append(context, probe->suffixes[value]);
}

/* Takes the values of an old row back into the sums, so that a resumed run has the means of the whole run. */
typedef struct OldRow {
  Output *output;
  const ScreeWorld *world;
  const char *next;
} OldRow;

static void old_value(void *context, const ScreeProbeState *probe, int32_t value, ProbeSum *sum) {
  (void)probe, (void)value;
  OldRow *row = context;
  const char *comma = row->next ? strchr(row->next, ',') : NULL;
  row->next = comma ? comma + 1 : NULL;
  if (row->next) count_value(sum, strtod(row->next, NULL));
}

static void old_row(void *context, const char *text) {
  OldRow *row = context;
  row->next = strchr(text, ','); /* the comma before the time; old_value steps over one more */
  if (row->next) row->next++;
  for_each_column(row->output, row->world, old_value, row);
}

static bool has_rows(const ScreeWorld *world) {
  for (int32_t id = 1; id <= scree_world_body_count(world); id++) {
    ScreeBodyState body = {0};
    if (scree_world_body(world, id, &body) == SCREE_OK && !body.is_boundary) return true;
  }
  return false;
}

static Status open_tables(Output *output, const ScreeWorld *world, const OutputOptions *options) {
  Core *core = &output->core;
  static const char bodies_header[] = "frame,time,name,x,y,z,qw,qx,qy,qz,fx,fy,fz,tx,ty,tz";
  HeaderText header = {.core = core};
  header_append(&header, "frame,time");
  for_each_column(output, world, header_column, &header);
  Status status = header.status;
  int64_t frame = scree_world_frame_index(world);
  OldRow row = {output, world, NULL};
  if (status == SCREE_OK)
    status = options->resume ? table_reopen(core, &output->probes, in_folder(output, "probes.csv"), header.text, frame,
                                            old_row, &row)
                             : table_create(core, &output->probes, in_folder(output, "probes.csv"), header.text);
  memory_drop(core, &header.text);
  TRY(status);
  const char *path = in_folder(output, "bodies.csv");
  return options->resume
             ? table_reopen(core, &output->bodies, path, bodies_header, has_rows(world) ? frame : -1, NULL, NULL)
             : table_create(core, &output->bodies, path, bodies_header);
}

static Status begin_row(Core *core, Table *table, const ScreeWorld *world) {
  TRY(table_number(core, table, (double)scree_world_frame_index(world)));
  return table_number(core, table, scree_world_time(world));
}

typedef struct ProbeRow {
  Core *core;
  Table *table;
  Status status;
} ProbeRow;

static void put_value(void *context, const ScreeProbeState *probe, int32_t value, ProbeSum *sum) {
  ProbeRow *row = context;
  count_value(sum, probe->values[value]);
  if (row->status == SCREE_OK) row->status = table_number(row->core, row->table, probe->values[value]);
}

static Status write_probes(Output *output, const ScreeWorld *world) {
  ProbeRow row = {&output->core, &output->probes, SCREE_OK};
  TRY(begin_row(&output->core, &output->probes, world));
  for_each_column(output, world, put_value, &row);
  TRY(row.status);
  return table_end_row(&output->core, &output->probes);
}

static Status write_body(Output *output, const ScreeWorld *world, const ScreeBodyState *body) {
  Core *core = &output->core;
  const ScreePose *pose = &body->pose;
  const double values[] = {pose->position.x, pose->position.y, pose->position.z, pose->rotation.w, pose->rotation.x,
                           pose->rotation.y, pose->rotation.z, body->force.x,    body->force.y,    body->force.z,
                           body->torque.x,   body->torque.y,   body->torque.z};
  TRY(begin_row(core, &output->bodies, world));
  TRY(table_text(core, &output->bodies, body->name));
  for (size_t k = 0; k < sizeof values / sizeof *values; k++) TRY(table_number(core, &output->bodies, values[k]));
  return table_end_row(core, &output->bodies);
}

static Status write_bodies(Output *output, const ScreeWorld *world) {
  for (int32_t id = 1; id <= scree_world_body_count(world); id++) {
    ScreeBodyState body = {0};
    if (scree_world_body(world, id, &body) == SCREE_OK && !body.is_boundary) TRY(write_body(output, world, &body));
  }
  return SCREE_OK;
}

/* ---- frames ---- */

static const char *frame_path(Output *output, const char *kind, int64_t number, FrameFormat format) {
  frame_name_write(output->path, sizeof output->path, output->folder, kind, number, format);
  return output->path;
}

static Status write_frame_files(Output *output, const ScreeWorld *world) {
  FrameFormat format = output->writer.format;
  if (format == FRAME_NONE) return SCREE_OK;
  Core *core = &output->core;
  const ScreeSceneDef *scene = scree_world_definition(world);
  int64_t number = scree_world_frame_index(world);
  double time = scree_world_time(world);
  ScreeParticles coarse = scree_world_particles(world);
  TRY(particles_write(core, &output->writer, frame_path(output, "coarse", number, format), &coarse, time));
  if (scene->upsample) {
    ScreeParticles grains = scree_world_grains(world);
    TRY(particles_write(core, &output->writer, frame_path(output, "grains", number, format), &grains, time));
  }
  if (scene->terrain) {
    ScreeMeshView mesh = scree_world_terrain(world);
    TRY(mesh_write_ply(core, output->writer.committer, frame_path(output, "terrain", number, FRAME_PLY), &mesh,
                       coarse.origin, time));
  }
  return SCREE_OK;
}

static Status write_frame(Output *output, const ScreeWorld *world) {
  TRY(write_frame_files(output, world));
  TRY(write_bodies(output, world));
  return write_probes(output, world);
}

static Status count_frame(Output *output, const ScreeWorld *world, double before_output) {
  ScreeStatistics now = {0};
  scree_world_statistics(world, &now);
  double end = timer_now();
  TRY(memory_grow(&output->core, &output->times, output->time_count + 1, "frame times"));
  output->times[output->time_count++] = (FrameTimes){.total = end - output->last_frame_end,
                                                     .coarse = now.frame_seconds_coarse,
                                                     .upsample = now.frame_seconds_upsample,
                                                     .bodies = now.frame_seconds_bodies,
                                                     .output = end - before_output};
  output->last_frame_end = end;
  return SCREE_OK;
}

static Status write_and_count(Output *output, const ScreeWorld *world) {
  double began = output->output_began > 0 ? output->output_began : timer_now();
  output->output_began = 0;
  TRY(write_frame(output, world));
  return count_frame(output, world, began);
}

void output_begin(Output *output) { output->output_began = timer_now(); }

ScreeStatus output_frame(Output *output, const ScreeWorld *world, ScreeError *error) {
  return core_report(&output->core, write_and_count(output, world), error);
}

/* ---- checkpoint and report ---- */

static Status save(Output *output, const ScreeWorld *world) {
  double began = timer_now();
  /* Everything up to this frame is on the disk before the checkpoint says so. */
  TRY(committer_drain(&output->core, output->writer.committer));
  TRY(table_sync(&output->core, &output->probes));
  TRY(table_sync(&output->core, &output->bodies));
  ScreeError error;
  Status status = scree_world_save(world, in_folder(output, "checkpoint.scree"), &error);
  if (status != SCREE_OK) output->core.error = error;
  output->checkpoint_at = timer_now();
  output->checkpoint_took = output->checkpoint_at - began;
  return status;
}

ScreeStatus output_checkpoint(Output *output, const ScreeWorld *world, ScreeError *error) {
  Status status = core_report(&output->core, save(output, world), error);
  output->last_frame_end = timer_now(); /* not the next frame's time */
  return status;
}

bool output_checkpoint_due(const Output *output) {
  enum { SECONDS = 10, TIMES_ITS_COST = 20 };
  double passed = timer_now() - output->checkpoint_at;
  return passed > SECONDS && passed > TIMES_ITS_COST * output->checkpoint_took;
}

ScreeStatus output_find_checkpoint(const char *folder, char *path, size_t size, ScreeError *error) {
  Core core = {0};
  struct stat about;
  Status status = SCREE_OK;
  if (snprintf(path, size, "%s/checkpoint.scree", folder) >= (int)size)
    status = fail(&core, SCREE_BAD_INPUT, "path is too long: %.100s...", folder);
  else if (stat(path, &about) != 0)
    status = fail_at(&core, SCREE_BAD_INPUT, path, (ScreeSource){0, 0}, "no checkpoint to resume from");
  return core_report(&core, status, error);
}

ScreeStatus output_report(Output *output, const ScreeWorld *world, ScreeError *error) {
  Status drained = committer_drain(&output->core, output->writer.committer);
  if (drained != SCREE_OK) return core_report(&output->core, drained, error);
  Report report = {.scene = output->scene,
                   .wall_seconds = timer_now() - output->began,
                   .frames = output->times,
                   .frame_count = output->time_count,
                   .steps_before = output->steps_before,
                   .phases_before = output->phases_before,
                   .phase_before_count = output->phase_before_count,
                   .probes = output->sums};
  Status status = report_write(&output->core, in_folder(output, "report.json"), world, &report);
  if (status == SCREE_OK && output->report_elsewhere)
    status = report_write(&output->core, output->report, world, &report);
  return core_report(&output->core, status, error);
}

void output_progress(const Output *output, OutputProgress *progress) {
  enum { LAST_FEW = 15 };
  int64_t count = output->time_count < LAST_FEW ? output->time_count : LAST_FEW;
  double last[LAST_FEW];
  for (int64_t k = 0; k < count; k++) {
    double value = output->times[output->time_count - count + k].total;
    int64_t at = k;
    for (; at > 0 && last[at - 1] > value; at--) last[at] = last[at - 1];
    last[at] = value;
  }
  *progress = (OutputProgress){.frames = output->time_count,
                               .wall_seconds = timer_now() - output->began,
                               .seconds_per_frame = count > 0 ? last[count / 2] : 0,
                               .report = output->report};
}

/* ---- beginning and end ---- */

/* The scene as text, for scree_text_free. */
static Status scene_text(Output *output, const ScreeWorld *world, char **text) {
  ScreeError error;
  Status status = scree_scene_write(scree_world_definition(world), text, &error);
  if (status != SCREE_OK) output->core.error = error;
  return status;
}

static Status spare_source(Output *output, const ScreeWorld *world, const char *source) {
  if (!source) return SCREE_OK;
  if (output->report_elsewhere && folder_same_file(source, output->report))
    return fail(&output->core, SCREE_BAD_INPUT, "the report would be written over the scene %.300s", source);
  char *text = NULL;
  TRY(scene_text(output, world, &text));
  Status status = folder_spare(&output->core, output->folder, source, text);
  scree_text_free(text);
  return status;
}

/* The scene and the files that it names: the folder can be drawn and gone on with wherever it is taken. */
static Status write_scene(Output *output, const ScreeWorld *world) {
  for (int32_t k = 0; k < scree_world_file_count(world); k++) {
    const char *name, *path;
    scree_world_file(world, k, &name, &path);
    TRY(folder_keep_file(&output->core, output->folder, scree_world_definition(world)->folder, name, path));
  }
  char *text = NULL;
  TRY(scene_text(output, world, &text));
  Stream stream;
  stream_open(&stream, in_folder(output, "scene.yaml"));
  stream_write(&stream, text, (int64_t)strlen(text));
  scree_text_free(text);
  return stream_commit(&output->core, &stream);
}

static Status remember_start(Output *output, const ScreeWorld *world) {
  Core *core = &output->core;
  ScreeStatistics now = {0};
  scree_world_statistics(world, &now);
  output->steps_before = now.steps;
  output->phase_before_count = now.phase_count;
  TRY(memory_new(core, &output->phases_before, now.phase_count + 1, "phases"));
  for (int32_t k = 0; k < now.phase_count; k++) output->phases_before[k] = now.phases[k];
  int64_t columns = (int64_t)scree_world_probe_count(world) * SCREE_PROBE_VALUES_MAX;
  return memory_new(core, &output->sums, columns + 1, "probe sums");
}

static Status begin(Output *output, const ScreeWorld *world, const OutputOptions *options) {
  Core *core = &output->core;
  int64_t frame = options->resume ? scree_world_frame_index(world) : -1;
  TRY(spare_source(output, world, options->source));
  TRY(folder_make(core, output->folder));
  TRY(folder_lock(core, output->folder, &output->lock));
  TRY(stream_check(core, output->report)); /* now, not after hours of simulation */
  TRY(remember_start(output, world));
  TRY(committer_create(core, &output->writer.committer));
  if (!options->resume) TRY(folder_cut(core, output->folder, frame));
  TRY(open_tables(output, world, options));
  if (options->resume) TRY(folder_cut(core, output->folder, frame));
  TRY(write_scene(output, world));
  if (!options->resume) TRY(write_frame(output, world));
  TRY(committer_drain(core, output->writer.committer)); /* a disk that is full is told at once */
  output->last_frame_end = output->checkpoint_at = timer_now();
  return SCREE_OK;
}

static Status set_names(Output *output, const OutputOptions *options) {
  Core *core = &output->core;
  TRY(folder_check(core, options->folder));
  snprintf(output->folder, sizeof output->folder, "%s", options->folder);
  snprintf(output->scene, sizeof output->scene, "%s", options->scene);
  output->report_elsewhere = options->report != NULL;
  const char *report = options->report ? options->report : in_folder(output, "report.json");
  if (snprintf(output->report, sizeof output->report, "%s", report) >= (int)sizeof output->report)
    return fail(core, SCREE_CANNOT_WRITE, "path is too long: %.100s...", report);
  return SCREE_OK;
}

ScreeStatus output_create(const OutputOptions *options, const ScreeWorld *world, Output **out, ScreeError *error) {
  Core core = {0};
  memory_create(&core.memory, 0);
  *out = NULL;
  Output *output = NULL;
  if (memory_new(&core, &output, 1, "output") != SCREE_OK) return core_report(&core, SCREE_NO_MEMORY, error);
  output->core = core;
  output->writer = (FrameWriter){.format = options->format, .columns = options->columns};
  output->began = timer_now();
  output->probes.file = output->bodies.file = output->lock = -1;
  Status status = set_names(output, options);
  if (status == SCREE_OK && options->format == FRAME_COMPACT) {
    output->core.pool = pool_create(&output->core, options->threads);
    if (!output->core.pool) status = fail(&output->core, SCREE_NO_MEMORY, "cannot start threads for the output");
  }
  if (status == SCREE_OK) status = begin(output, world, options);
  core_report(&output->core, status, error);
  if (status == SCREE_OK) *out = output;
  else output_destroy(output);
  return status;
}

void output_destroy(Output *output) {
  if (!output) return;
  Core core = output->core; /* it counts the block that it lies in */
  committer_destroy(&core, output->writer.committer);
  compact_buffers_destroy(&core, &output->writer.buffers);
  table_close(&core, &output->probes);
  table_close(&core, &output->bodies);
  memory_drop(&core, &output->phases_before);
  memory_drop(&core, &output->times);
  memory_drop(&core, &output->sums);
  pool_destroy(&core, core.pool);
  if (output->lock >= 0) close(output->lock);
  memory_drop(&core, &output);
}
