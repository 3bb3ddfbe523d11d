#include "output/report.h"

#include <math.h>
#include <string.h>

#include "output/number.h"
#include "output/stream.h"

/* Text as a JSON string. UTF-8 goes through as it is. */
static void put_string(Stream *stream, const char *text) {
  stream_write(stream, "\"", 1);
  for (; *text; text++) {
    unsigned char letter = (unsigned char)*text;
    if (letter == '"' || letter == '\\') stream_print(stream, "\\%c", letter);
    else if (letter < 0x20) stream_print(stream, "\\u%04x", letter);
    else stream_write(stream, text, 1);
  }
  stream_write(stream, "\"", 1);
}

static void put_key(Stream *stream, bool first, const char *key) {
  if (!first) stream_print(stream, ", ");
  put_string(stream, key);
  stream_print(stream, ": ");
}

static void put_text(Stream *stream, bool first, const char *key, const char *text) {
  put_key(stream, first, key);
  put_string(stream, text);
}

static void put_number(Stream *stream, bool first, const char *key, double value) {
  put_key(stream, first, key);
  stream_print(stream, "%s", number_json(value).text);
}

static void put_count(Stream *stream, bool first, const char *key, int64_t count) {
  put_key(stream, first, key);
  stream_print(stream, "%lld", (long long)count);
}

static Status put_frame_times(Core *core, Stream *stream, const Report *report) {
  static const struct {
    const char *name;
    size_t offset;
  } members[] = {{"total", offsetof(FrameTimes, total)},
                 {"coarse", offsetof(FrameTimes, coarse)},
                 {"upsample", offsetof(FrameTimes, upsample)},
                 {"bodies", offsetof(FrameTimes, bodies)},
                 {"output", offsetof(FrameTimes, output)}};
  Status status = SCREE_OK;
  stream_print(stream, ",\n \"ms_per_frame\": {");
  for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
    double median = 0;
    if (status == SCREE_OK)
      status = frame_times_median(core, report->frames, report->frame_count, members[k].offset, &median);
    put_number(stream, k == 0, members[k].name, 1e3 * median);
  }
  stream_print(stream, "}");
  return status;
}

static double seconds_before(const Report *report, const char *phase) {
  for (int32_t k = 0; k < report->phase_before_count; k++)
    if (strcmp(report->phases_before[k].name, phase) == 0) return report->phases_before[k].seconds;
  return 0;
}

static void put_phases(Stream *stream, const ScreeStatistics *now, const Report *report) {
  int64_t steps = now->steps - report->steps_before;
  stream_print(stream, ",\n \"phases_ms\": {");
  for (int32_t k = 0; k < now->phase_count; k++) {
    double seconds = now->phases[k].seconds - seconds_before(report, now->phases[k].name);
    put_number(stream, k == 0, now->phases[k].name, steps > 0 ? 1e3 * seconds / (double)steps : 0);
  }
  stream_print(stream, "}");
}

static double mean_of(const ProbeSum *sum) { return sum->rows > 0 ? sum->sum / (double)sum->rows : NAN; }

/* A scalar is a number; several values are an object whose keys are the endings of their csv columns. */
static void put_probe_values(Stream *stream, const char *key, const ScreeProbeState *probe, const ProbeSum *sums,
                             bool mean) {
  put_key(stream, !mean, key);
  bool scalar = probe->value_count == 1 && probe->suffixes[0][0] == 0;
  if (!scalar) stream_print(stream, "{");
  for (int32_t v = 0; v < probe->value_count; v++) {
    const char *suffix = probe->suffixes[v];
    if (!scalar) put_key(stream, v == 0, suffix[0] == '_' ? suffix + 1 : suffix);
    stream_print(stream, "%s", number_json(mean ? mean_of(&sums[v]) : sums[v].last).text);
  }
  if (!scalar) stream_print(stream, "}");
}

static void put_probes(Stream *stream, const ScreeWorld *world, const Report *report) {
  stream_print(stream, ",\n \"probes\": {");
  for (int32_t p = 0; p < scree_world_probe_count(world); p++) {
    ScreeProbeState probe = {0};
    if (scree_world_probe(world, p + 1, &probe) != SCREE_OK) continue;
    const ProbeSum *sums = report->probes + (size_t)p * SCREE_PROBE_VALUES_MAX;
    put_key(stream, p == 0, probe.name);
    stream_print(stream, "{");
    put_probe_values(stream, "last", &probe, sums, false);
    put_probe_values(stream, "mean", &probe, sums, true);
    put_text(stream, false, "unit", probe.unit);
    stream_print(stream, "}");
  }
  stream_print(stream, "}");
}

static void put_head(Stream *stream, const ScreeWorld *world, const ScreeStatistics *now, const Report *report) {
  stream_print(stream, "{");
  put_text(stream, true, "scree", scree_version());
  put_text(stream, false, "scene", report->scene);
  put_text(stream, false, "method", scree_world_definition(world)->method.name);
  put_text(stream, false, "device", now->device);
  if (now->device_info) {
    put_text(stream, false, "device_name", now->device_info->name);
    put_text(stream, false, "driver", now->device_info->driver);
  }
  put_count(stream, false, "threads", now->threads);
  put_text(stream, false, "simd", now->simd);
  stream_print(stream, ",\n \"frames\": %lld", (long long)scree_world_frame_index(world));
  put_count(stream, false, "steps", now->steps);
  put_number(stream, false, "simulated_s", scree_world_time(world));
  put_number(stream, false, "wall_s", report->wall_seconds);
  stream_print(stream, ",\n \"particles\": {");
  put_count(stream, true, "coarse", now->coarse);
  put_count(stream, false, "grains", now->grains);
  put_count(stream, false, "boundary", now->boundary_samples);
  put_count(stream, false, "body", now->body_samples);
  stream_print(stream, "}");
}

static void put_mass(Stream *stream, const ScreeStatistics *now, const Report *report) {
  stream_print(stream, ",\n \"memory_peak_mb\": %s", number_json((double)now->memory_peak_bytes / 1048576).text);
  if (now->device_info) {
    int64_t steps = now->steps - report->steps_before, bytes = now->bus_bytes_up + now->bus_bytes_down;
    put_number(stream, false, "device_memory_peak_mb", (double)now->device_memory_peak_bytes / 1048576);
    put_number(stream, false, "bus_kb_per_step", steps > 0 ? (double)bytes / 1000 / (double)steps : 0);
  }
  stream_print(stream, ",\n \"mass\": {");
  put_number(stream, true, "initial", now->mass_initial);
  put_number(stream, false, "emitted", now->mass_emitted);
  put_number(stream, false, "removed", now->mass_removed);
  put_number(stream, false, "final", now->mass_final);
  stream_print(stream, "},\n \"max_overlap\": %s", number_json(now->max_overlap).text);
  put_number(stream, false, "max_speed", now->max_speed);
  stream_print(stream, ",\n \"warnings\": {");
  for (int32_t k = 0; k < now->warning_count; k++)
    put_count(stream, k == 0, now->warnings[k].name, now->warnings[k].count);
  stream_print(stream, "}");
}

Status report_write(Core *core, const char *path, const ScreeWorld *world, const Report *report) {
  ScreeStatistics now = {0};
  scree_world_statistics(world, &now);
  Stream stream;
  stream_open(&stream, path);
  put_head(&stream, world, &now, report);
  Status status = put_frame_times(core, &stream, report);
  put_phases(&stream, &now, report);
  put_mass(&stream, &now, report);
  stream_print(&stream, ",\n \"state_hash\": \"%016llx\", \"grains_hash\": \"%016llx\"",
               (unsigned long long)scree_world_state_hash(world), (unsigned long long)scree_world_grains_hash(world));
  put_probes(&stream, world, report);
  stream_print(&stream, "}\n");
  Status written = stream_commit(core, &stream);
  return status == SCREE_OK ? written : status;
}
