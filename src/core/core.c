#include "core/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/parallel.h"

Status core_create(Core *core, const ScreeWorldOptions *options) {
  *core = (Core){.log_level = SCREE_LOG_WARNING};
  int threads = 0;
  if (options) {
    threads = options->threads;
    core->log_level = options->log_level;
    core->log = options->log;
    core->log_context = options->log_context;
    core->baseline_simd = options->baseline_simd;
    core->progress = options->progress;
    core->progress_context = options->progress_context;
  }
  memory_create(&core->memory, options ? options->memory_limit : 0);
  core->pool = pool_create(core, threads);
  return core->pool ? SCREE_OK : fail(core, SCREE_NO_MEMORY, "cannot start %d threads", threads);
}

void core_destroy(Core *core) {
  pool_destroy(core, core->pool);
  core->pool = NULL;
}

static void describe(Core *core, Status status, const char *file, ScreeSource at, const char *format, va_list list) {
  if (core->error.status != SCREE_OK) return;
  core->error.status = status;
  core->error.line = at.line;
  core->error.column = at.column;
  snprintf(core->error.file, sizeof core->error.file, "%s", file ? file : "");
  vsnprintf(core->error.message, sizeof core->error.message, format, list);
  /* An error is one line, whatever names out of a file are in it. */
  for (char *c = core->error.message; *c; c++)
    if ((unsigned char)*c < 32 || *c == 127) *c = ' ';
}

Status fail(Core *core, Status status, const char *format, ...) {
  va_list list;
  va_start(list, format);
  describe(core, status, NULL, (ScreeSource){0, 0}, format, list);
  va_end(list);
  return status;
}

Status fail_at(Core *core, Status status, const char *file, ScreeSource at, const char *format, ...) {
  va_list list;
  va_start(list, format);
  describe(core, status, file, at, format, list);
  va_end(list);
  return status;
}

Status core_report(Core *core, Status status, ScreeError *error) {
  if (error) {
    if (status == SCREE_OK) memset(error, 0, sizeof *error);
    else *error = core->error;
    error->status = status;
  }
  memset(&core->error, 0, sizeof core->error);
  return status;
}

void progress_stage(Core *core, const char *what, double begin, double end) {
  core->progress_what = what;
  core->progress_begin = begin;
  core->progress_end = end;
  progress_done(core, 0);
}

void progress_done(Core *core, double done) {
  if (!core->progress || !core->progress_what) return;
  core->progress(core->progress_context, core->progress_what,
                 core->progress_begin + done * (core->progress_end - core->progress_begin));
}

static void say(Core *core, ScreeLogLevel level, const char *line) {
  if (level == SCREE_LOG_WARNING) core->warnings++;
  if (core->log && level <= core->log_level) core->log(core->log_context, level, line);
}

void log_line(Core *core, ScreeLogLevel level, const char *format, ...) {
  char line[SCREE_MESSAGE_MAX];
  int used = level == SCREE_LOG_WARNING ? snprintf(line, sizeof line, "warning: ") : 0;
  va_list list;
  va_start(list, format);
  vsnprintf(line + used, sizeof line - (size_t)used, format, list);
  va_end(list);
  say(core, level, line);
}

void log_warning_at(Core *core, const char *file, ScreeSource at, const char *format, ...) {
  char line[SCREE_MESSAGE_MAX + SCREE_FILE_MAX];
  int used = 0;
  if (file && at.line > 0) used = snprintf(line, sizeof line, "%s:%d:%d: warning: ", file, at.line, at.column);
  else if (file) used = snprintf(line, sizeof line, "%s: warning: ", file);
  else used = snprintf(line, sizeof line, "warning: ");
  if (used < 0 || (size_t)used >= sizeof line) used = 0;
  va_list list;
  va_start(list, format);
  vsnprintf(line + used, sizeof line - (size_t)used, format, list);
  va_end(list);
  say(core, SCREE_LOG_WARNING, line);
}
