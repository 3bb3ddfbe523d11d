/* The context that every room is handed: memory, threads, log and the error of the call in progress.
 *
 * One Core belongs to one world (or one tool call). There is no global state: two worlds never meet.
 * Functions that can fail return a Status and, when it is not SCREE_OK, have described the failure with fail() or
 * fail_at(); callers pass it on with TRY(). */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include "scree/types.h"
#include "scree/world.h"

#include "core/memory.h"

typedef ScreeStatus Status;

typedef struct Pool Pool;

typedef struct Core {
  Memory memory;
  Pool *pool;
  ScreeError error;
  ScreeLogLevel log_level;
  ScreeLogFunction log;
  void *log_context;
  bool baseline_simd;
  int64_t warnings; /* said so far */
  ScreeProgressFunction progress;
  void *progress_context;
  const char *progress_what; /* static; NULL: no stage yet */
  double progress_begin, progress_end;
} Core;

/* threads 0: one per core. */
Status core_create(Core *core, const ScreeWorldOptions *options);
void core_destroy(Core *core);

/* Describe a failure and return its status. The first description wins: what a caller adds on the way out is lost. */
Status fail(Core *core, Status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
Status fail_at(Core *core, Status status, const char *file, ScreeSource at, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Hands the description to a caller outside and clears it. error may be NULL. */
Status core_report(Core *core, Status status, ScreeError *error);

#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    Status try_status_ = (call);                                                                                       \
    if (try_status_ != SCREE_OK) return try_status_;                                                                   \
  } while (0)

/* What comes next does `what` (static text) from one share of it to the other. */
void progress_stage(Core *core, const char *what, double begin, double end);
/* The k-th of `count` equal parts. */
static inline void progress_part(Core *core, const char *what, int64_t k, int64_t count) {
  progress_stage(core, what, (double)k / (double)count, (double)(k + 1) / (double)count);
}
/* The share of that stage that is done, for those who do the work and do not know what it is for. */
void progress_done(Core *core, double done);

void log_line(Core *core, ScreeLogLevel level, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* `file:line:col: warning: ...` when the place is known. */
void log_warning_at(Core *core, const char *file, ScreeSource at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
