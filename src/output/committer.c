#include "output/committer.h"

#include <pthread.h>
#include <string.h>

enum { QUEUE = 16 };

struct Committer {
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  StreamEnd queue[QUEUE]; /* a ring: `waiting` of them from `first` on */
  int first, waiting;
  bool quit;
  int why; /* errno of the first failure; 0: none */
  char failed_path[SCREE_FILE_MAX];
};

static void remember_failure(Committer *committer, const StreamEnd *end, int why) {
  if (why == 0 || committer->why != 0) return;
  committer->why = why;
  memcpy(committer->failed_path, end->path, sizeof committer->failed_path);
}

/* A file stays in the queue until it is ended, so that an empty queue means that all are. */
static void *work(void *context) {
  Committer *committer = context;
  pthread_mutex_lock(&committer->mutex);
  for (;;) {
    while (committer->waiting == 0 && !committer->quit) pthread_cond_wait(&committer->changed, &committer->mutex);
    if (committer->waiting == 0) break;
    StreamEnd *end = &committer->queue[committer->first];
    pthread_mutex_unlock(&committer->mutex);
    int why = stream_end(end);
    pthread_mutex_lock(&committer->mutex);
    remember_failure(committer, end, why);
    committer->first = (committer->first + 1) % QUEUE;
    committer->waiting--;
    pthread_cond_broadcast(&committer->changed);
  }
  pthread_mutex_unlock(&committer->mutex);
  return NULL;
}

Status committer_create(Core *core, Committer **out) {
  *out = NULL;
  Committer *committer = NULL;
  TRY(memory_new(core, &committer, 1, "committer"));
  pthread_mutex_init(&committer->mutex, NULL);
  pthread_cond_init(&committer->changed, NULL);
  if (pthread_create(&committer->thread, NULL, work, committer) != 0) {
    memory_drop(core, &committer);
    return fail(core, SCREE_NO_MEMORY, "cannot start a thread");
  }
  *out = committer;
  return SCREE_OK;
}

void committer_destroy(Core *core, Committer *committer) {
  if (!committer) return;
  pthread_mutex_lock(&committer->mutex);
  committer->quit = true;
  pthread_cond_broadcast(&committer->changed);
  pthread_mutex_unlock(&committer->mutex);
  pthread_join(committer->thread, NULL);
  pthread_cond_destroy(&committer->changed);
  pthread_mutex_destroy(&committer->mutex);
  memory_drop(core, &committer);
}

/* Waits until at most `most` files are in the queue; with the mutex held. */
static Status wait_for(Core *core, Committer *committer, int most) {
  while (committer->waiting > most) pthread_cond_wait(&committer->changed, &committer->mutex);
  return committer->why ? stream_failed(core, committer->failed_path, committer->why) : SCREE_OK;
}

Status committer_take(Core *core, Committer *committer, Stream *stream) {
  StreamEnd end = stream_detach(stream);
  int why = end.why;
  if (!committer || why) {
    why = stream_end(&end);
    return why ? stream_failed(core, end.path, why) : SCREE_OK;
  }
  pthread_mutex_lock(&committer->mutex);
  Status status = wait_for(core, committer, QUEUE - 1);
  committer->queue[(committer->first + committer->waiting++) % QUEUE] = end;
  pthread_cond_broadcast(&committer->changed);
  pthread_mutex_unlock(&committer->mutex);
  return status;
}

Status committer_drain(Core *core, Committer *committer) {
  pthread_mutex_lock(&committer->mutex);
  Status status = wait_for(core, committer, 0);
  pthread_mutex_unlock(&committer->mutex);
  return status;
}
