#include "core/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* A step is a row of short loops with serial work between them, up to a tenth of a millisecond where a machine moves.
 * Waking a thread costs tens of microseconds on a virtual machine, as much as many of these loops take, so a thread
 * that has nothing to do looks about for a while before it goes to sleep: about 200 us. Where there are more threads
 * than cores it sleeps at once.
 *
 * Every thread has a run of a loop's chunks, the same in every loop over the same range, so that it finds in its own
 * cache what it wrote in the loop before. Who has finished takes from the others' runs. Threads go through their runs
 * in turns upwards and downwards and take from another's run at its far end: two neighbours meet where their runs do,
 * at about the same place in loops that are alike. The caller waits for chunks, never for threads: one that wakes up
 * late finds the job closed and goes on sleeping. */
enum { THREADS_MAX = 256, LOOKS = 4000, CACHE_LINE = 64 };

/* What is written by different threads stands on different cache lines: a chunk that a thread takes of its own run
 * costs next to nothing. */
typedef struct Run {
  _Alignas(CACHE_LINE) _Atomic uint64_t taken; /* chunks: low half from the front, high half from the back */
  int64_t begin, end;
} Run;

struct Pool {
  int threads;
  int looks;
  pthread_t handles[THREADS_MAX];
  pthread_mutex_t mutex;
  pthread_cond_t wake, done;
  bool quit;
  _Alignas(CACHE_LINE) _Atomic uint64_t job; /* odd: open to workers; even: closed */
  ParallelBody body;                         /* with what follows on the line that workers look at anyway */
  void *context;
  int64_t begin, end, grain;
  _Alignas(CACHE_LINE) _Atomic int inside;  /* workers that may be busy with it */
  _Alignas(CACHE_LINE) _Atomic bool asleep; /* some worker went to sleep since they were last woken */
  _Atomic bool waiting;                     /* the caller sleeps until nobody is inside */
  Run runs[THREADS_MAX];
};

static uint64_t chunks_taken(uint64_t taken) { return (taken & UINT32_MAX) + (taken >> 32); }

/* Chunks of the run of thread `owner`, for as long as there are any. */
static void take_chunks(Pool *pool, int owner, int thread) {
  Run *run = &pool->runs[owner];
  bool back = (owner & 1) ^ (owner != thread);
  uint64_t count = (uint64_t)(run->end - run->begin), one = back ? (uint64_t)1 << 32 : 1;
  while (chunks_taken(atomic_load_explicit(&run->taken, memory_order_relaxed)) < count) {
    uint64_t taken = atomic_fetch_add_explicit(&run->taken, one, memory_order_relaxed);
    if (chunks_taken(taken) >= count) return;
    int64_t chunk = back ? run->end - 1 - (int64_t)(taken >> 32) : run->begin + (int64_t)(taken & UINT32_MAX);
    int64_t b = pool->begin + chunk * pool->grain;
    int64_t e = b + pool->grain < pool->end ? b + pool->grain : pool->end;
    pool->body(pool->context, b, e, thread);
  }
}

/* Its own run, that of the neighbour whom it meets, then the others'. */
static void work(Pool *pool, int thread) {
  int next = thread & 1 ? pool->threads - 1 : 1;
  for (int k = 0, owner = thread; k < pool->threads; k++, owner = (owner + next) % pool->threads)
    take_chunks(pool, owner, thread);
}

static inline void rest(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

typedef struct Worker {
  Pool *pool;
  int thread;
} Worker;

static bool is_new(uint64_t job, uint64_t seen) { return job & 1 && job != seen; }

/* Waits for an open job other than `seen` and answers its number; 0 when the pool ends. */
static uint64_t next_job(Pool *pool, uint64_t seen) {
  for (int look = 0; look < pool->looks; look++) {
    uint64_t job = atomic_load_explicit(&pool->job, memory_order_acquire);
    if (is_new(job, seen)) return job;
    rest();
  }
  pthread_mutex_lock(&pool->mutex);
  uint64_t job;
  for (;;) {
    atomic_store(&pool->asleep, true); /* before the look at the job: the caller looks the other way round */
    job = atomic_load(&pool->job);
    if (pool->quit || is_new(job, seen)) break;
    pthread_cond_wait(&pool->wake, &pool->mutex);
  }
  if (pool->quit) job = 0;
  pthread_mutex_unlock(&pool->mutex);
  return job;
}

/* Once for all who sleep: it may take a woken thread many loops until it gets a core on a busy machine, and another
 * call would not bring it any sooner. */
static void wake_all(Pool *pool) {
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->asleep, false);
  pthread_mutex_unlock(&pool->mutex);
  pthread_cond_broadcast(&pool->wake);
}

static void leave(Pool *pool) {
  if (atomic_fetch_sub(&pool->inside, 1) != 1 || !atomic_load(&pool->waiting)) return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_signal(&pool->done);
  pthread_mutex_unlock(&pool->mutex);
}

/* Waits until nobody is inside. A worker goes inside before it looks whether the job is still open, and the caller
 * closes it before he looks whether anybody is inside: either the worker finds it closed or it is waited for. */
static void wait_empty(Pool *pool) {
  for (int look = 0; look < pool->looks; look++) {
    if (atomic_load(&pool->inside) == 0) return;
    rest();
  }
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->waiting, true);
  while (atomic_load(&pool->inside)) pthread_cond_wait(&pool->done, &pool->mutex);
  atomic_store(&pool->waiting, false);
  pthread_mutex_unlock(&pool->mutex);
}

static void *worker_main(void *argument) {
  Worker worker = *(Worker *)argument;
  Pool *pool = worker.pool;
  /* The creator waits for this sign, so that `argument` on its stack lives long enough. */
  leave(pool);
  for (uint64_t job = 0; (job = next_job(pool, job));) {
    atomic_fetch_add(&pool->inside, 1);
    if (atomic_load(&pool->job) == job) work(pool, worker.thread);
    leave(pool);
  }
  return NULL;
}

Pool *pool_create(Core *core, int threads) {
  int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (threads <= 0) threads = cores;
  if (threads < 1) threads = 1;
  if (threads > THREADS_MAX) threads = THREADS_MAX;
  Pool *pool = memory_get(&core->memory, 1, sizeof *pool, "threads");
  if (!pool) return NULL;
  pool->threads = 1; /* thread 0 is the caller */
  pool->looks = threads <= cores ? LOOKS : 0;
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pthread_cond_init(&pool->done, NULL);
  for (int t = 1; t < threads; t++) {
    Worker worker = {pool, t};
    atomic_store(&pool->inside, 1);
    if (pthread_create(&pool->handles[t], NULL, worker_main, &worker) != 0) {
      atomic_store(&pool->inside, 0);
      pool_destroy(core, pool);
      return NULL;
    }
    wait_empty(pool);
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
  if (chunks == 1 || chunks > UINT32_MAX / 2 || pool->threads == 1) {
    for (int64_t b = begin; b < end; b += grain) body(context, b, b + grain < end ? b + grain : end, 0);
    return;
  }
  pool->body = body;
  pool->context = context;
  pool->begin = begin;
  pool->end = end;
  pool->grain = grain;
  /* Those that are left over go to the first threads: the caller begins before the others have seen the job. */
  for (int k = 0; k < pool->threads; k++) {
    atomic_store_explicit(&pool->runs[k].taken, 0, memory_order_relaxed);
    pool->runs[k].begin = (chunks * k + pool->threads - 1) / pool->threads;
    pool->runs[k].end = (chunks * (k + 1) + pool->threads - 1) / pool->threads;
  }
  atomic_fetch_add(&pool->job, 1); /* publishes all of the above */
  if (atomic_load(&pool->asleep)) wake_all(pool);
  work(pool, 0);
  atomic_fetch_add(&pool->job, 1); /* closes it */
  wait_empty(pool);
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
