#include "bodies/mujoco_guard.h"

#ifdef SCREE_HAVE_MUJOCO

#include <mujoco/mujoco.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>

typedef struct Guard {
  Core *core;
  jmp_buf back;
  char message[SCREE_MESSAGE_MAX];
} Guard;

/* The handlers are MuJoCo's process-wide variables; these follow from that and hold nothing between calls. */
static _Thread_local Guard *current;
static pthread_rwlock_t loading_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static int inside;
/* Atomic: the host may call MuJoCo in a thread of its own while others come and go. */
typedef void (*Handler)(const char *);
static _Atomic(Handler) host_error, host_warning;

/* One line, however the message was laid out. */
static void copy_line(char *line, size_t size, const char *message) {
  size_t at = 0;
  for (const char *c = message; *c && at + 1 < size; c++) {
    bool space = *c == '\n' || *c == '\r' || *c == '\t' || *c == ' ';
    if (space && (at == 0 || line[at - 1] == ' ')) continue;
    line[at++] = space ? ' ' : *c;
  }
  while (at > 0 && line[at - 1] == ' ') at--;
  line[at] = 0;
}

static void on_error(const char *message) {
  if (current) {
    copy_line(current->message, sizeof current->message, message);
    longjmp(current->back, 1);
  }
  Handler host = atomic_load(&host_error);
  if (host) host(message);
}

static void on_warning(const char *message) {
  char line[SCREE_MESSAGE_MAX];
  copy_line(line, sizeof line, message);
  Handler host = atomic_load(&host_warning);
  if (current) log_line(current->core, SCREE_LOG_WARNING, "mechanism: %s", line);
  else if (host) host(message);
}

static void enter(bool loading) {
  if (loading) pthread_rwlock_wrlock(&loading_lock);
  else pthread_rwlock_rdlock(&loading_lock);
  pthread_mutex_lock(&count_lock);
  if (inside++ == 0) {
    atomic_store(&host_error, mju_user_error);
    atomic_store(&host_warning, mju_user_warning);
    mju_user_error = on_error;
    mju_user_warning = on_warning;
  }
  pthread_mutex_unlock(&count_lock);
}

static void leave(void) {
  pthread_mutex_lock(&count_lock);
  if (--inside == 0) {
    mju_user_error = atomic_load(&host_error);
    mju_user_warning = atomic_load(&host_warning);
  }
  pthread_mutex_unlock(&count_lock);
  pthread_rwlock_unlock(&loading_lock);
}

Status mujoco_guarded(Core *core, Status status, bool loading, void (*body)(void *context), void *context) {
  Guard guard = {.core = core};
  enter(loading);
  current = &guard;
  bool failed = setjmp(guard.back) != 0;
  if (!failed) body(context);
  current = NULL;
  leave();
  return failed ? fail(core, status, "mechanism: %s", guard.message) : SCREE_OK;
}

#else
typedef int mujoco_guard_is_not_built;
#endif
