#include "core/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

struct Pool {
  int threads;
  pthread_t handles[THREADS_MAX];
  pthread_mutex_t mutex;
  pthread_cond_t wake, done;
  uint64_t job; /* number of the job in progress; workers wait for it to change */
  int running;  /* workers still busy with it */
  bool quit;
  ParallelBody body;
  void *context;
  int64_t begin, end, grain;
  _Atomic int64_t next; /* chunk to take */
};

static void work(Pool *pool, int thread) {
  int64_t chunks = parallel_chunks(pool->begin, pool->end, pool->grain);
  for (;;) {
    int64_t chunk = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
    if (chunk >= chunks) return;
    int64_t b = pool->begin + chunk * pool->grain;
    int64_t e = b + pool->grain < pool->end ? b + pool->grain : pool->end;
    pool->body(pool->context, b, e, thread);
  }
}

typedef struct Worker {
  Pool *pool;
  int thread;
} Worker;

static void *worker_main(void *argument) {
  Worker worker = *(Worker *)argument;
  Pool *pool = worker.pool;
  uint64_t seen = 0;
  pthread_mutex_lock(&pool->mutex);
  /* The creator waits for this sign, so that `argument` on its stack lives long enough. */
  pool->running--;
  pthread_cond_signal(&pool->done);
  for (;;) {
    while (pool->job == seen && !pool->quit) pthread_cond_wait(&pool->wake, &pool->mutex);
    if (pool->quit) break;
    seen = pool->job;
    pthread_mutex_unlock(&pool->mutex);
    work(pool, worker.thread);
    pthread_mutex_lock(&pool->mutex);
    if (--pool->running == 0) pthread_cond_signal(&pool->done);
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

Pool *pool_create(Core *core, int threads) {
  if (threads <= 0) threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (threads < 1) threads = 1;
  if (threads > THREADS_MAX) threads = THREADS_MAX;
  Pool *pool = memory_get(&core->memory, 1, sizeof *pool, "threads");
  if (!pool) return NULL;
  pool->threads = 1; /* thread 0 is the caller */
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pthread_cond_init(&pool->done, NULL);
  for (int t = 1; t < threads; t++) {
    Worker worker = {pool, t};
    pthread_mutex_lock(&pool->mutex);
    pool->running = 1;
    if (pthread_create(&pool->handles[t], NULL, worker_main, &worker) != 0) {
      pool->running = 0;
      pthread_mutex_unlock(&pool->mutex);
      pool_destroy(core, pool);
      return NULL;
    }
    while (pool->running) pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
    pool->threads = t + 1;
  }
  return pool;
}

void pool_destroy(Core *core, Pool *pool) {
  if (!pool) return;
  pthread_mutex_lock(&pool->mutex);
  pool->quit = true;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->mutex);
  for (int t = 1; t < pool->threads; t++) pthread_join(pool->handles[t], NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->mutex);
  memory_free(&core->memory, pool);
}

int pool_threads(const Pool *pool) { return pool->threads; }

void parallel_for(Core *core, int64_t begin, int64_t end, int64_t grain, ParallelBody body, void *context) {
  Pool *pool = core->pool;
  int64_t chunks = parallel_chunks(begin, end, grain);
  if (chunks == 0) return;
  if (chunks == 1 || pool->threads == 1) {
    for (int64_t b = begin; b < end; b += grain) body(context, b, b + grain < end ? b + grain : end, 0);
    return;
  }
  pthread_mutex_lock(&pool->mutex);
  pool->body = body;
  pool->context = context;
  pool->begin = begin;
  pool->end = end;
  pool->grain = grain;
  atomic_store(&pool->next, 0);
  pool->running = pool->threads - 1;
  pool->job++;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->mutex);
  work(pool, 0);
  pthread_mutex_lock(&pool->mutex);
  while (pool->running) pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

typedef struct Reduction {
  ParallelSumBody body;
  void *context;
  double *partial;
  int64_t begin, grain;
} Reduction;

static void reduce_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Reduction *reduction = context;
  reduction->partial[(b - reduction->begin) / reduction->grain] = reduction->body(reduction->context, b, e);
}

enum { PARTIALS_ON_STACK = 512 };

static double *reduce(Core *core, Reduction *reduction, int64_t begin, int64_t end, double *stack) {
  int64_t chunks = parallel_chunks(begin, end, reduction->grain);
  reduction->begin = begin;
  reduction->partial = stack;
  if (chunks > PARTIALS_ON_STACK)
    reduction->partial = memory_get(&core->memory, chunks, sizeof(double), "partial sums");
  if (reduction->partial) parallel_for(core, begin, end, reduction->grain, reduce_chunk, reduction);
  return reduction->partial;
}

double parallel_sum(Core *core, int64_t begin, int64_t end, int64_t grain, ParallelSumBody body, void *context) {
  double stack[PARTIALS_ON_STACK];
  Reduction reduction = {.body = body, .context = context, .grain = grain};
  double *partial = reduce(core, &reduction, begin, end, stack);
  if (!partial) return (double)__builtin_nanf("");
  double sum = 0;
  int64_t chunks = parallel_chunks(begin, end, grain);
  for (int64_t c = 0; c < chunks; c++) sum += partial[c];
  if (partial != stack) memory_free(&core->memory, partial);
  return sum;
}

double parallel_max(Core *core, int64_t begin, int64_t end, int64_t grain, double floor, ParallelSumBody body,
                    void *context) {
  double stack[PARTIALS_ON_STACK];
  Reduction reduction = {.body = body, .context = context, .grain = grain};
  double *partial = reduce(core, &reduction, begin, end, stack);
  if (!partial) return (double)__builtin_nanf("");
  double largest = floor;
  int64_t chunks = parallel_chunks(begin, end, grain);
  /* !(<=) rather than >: a NaN must come through, since it means a blow-up. */
  for (int64_t c = 0; c < chunks; c++)
    if (!(partial[c] <= largest)) largest = partial[c];
  if (partial != stack) memory_free(&core->memory, partial);
  return largest;
}
