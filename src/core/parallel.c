#define _GNU_SOURCE
#include "core/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/limits.h"
#include "core/timer.h"

/* A step is a row of short loops with serial work between them, up to a tenth of a millisecond where a machine moves.
 * Waking a thread costs tens of microseconds on a virtual machine, as much as many of these loops take, so a thread
 * that has nothing to do looks about for a while before it goes to sleep: 70 to 200 us, by the kind of core. Where
 * there are more threads than cores it sleeps at once.
 *
 * Every thread has a run of a loop's chunks, the same in every loop over the same range, so that it finds in its own
 * cache what it wrote in the loop before. Who has finished takes from the others' runs. Threads go through their runs
 * in turns upwards and downwards and take from another's run at its far end: two neighbours meet where their runs do,
 * at about the same place in loops that are alike.
 *
 * Where the caller knows what each part of a loop costs he gives every thread its share, and the others wait a moment
 * before they take from it: what they took would have to come from another core's cache, and to go back there.
 *
 * A cache line that another core has written takes as long to come as a few hundred instructions, so little is said:
 * the caller writes one line (a few with the shares of many threads), and every thread keeps count of what is taken of
 * its run and what it has finished on a line of its own. The counts bear the number of their job, so that nobody has to
 * reset them. The caller waits for chunks, never for threads: who wakes up late finds the chunks of his job taken, and
 * what the job was about may be gone by then, but it is looked at for a taken chunk only.
 *
 * Each thread that takes part costs the others a little, so a loop has as many as help. What a chunk of a loop takes is
 * measured whenever it runs; T seconds of work on n threads take about T / n + n C, the least for n = sqrt(T / C). Who
 * takes part changes no result. Threads that have not been asked for look about less often. */
enum { THREADS_MAX = PARALLEL_THREADS_MAX, LOOKS = 4000, PATIENCE = 200, CACHE_LINE = 64, RUN_MOST = UINT16_MAX };
enum { PACES = 256, IDLE_MOST = 64 };
/* C: what one more thread costs a loop, s. */
#define THREAD_COST 0.3e-6

/* Of one thread. A core fetches two lines at once: the second of each stays empty. */
typedef struct Run {
  _Alignas(CACHE_LINE) _Atomic uint64_t taken; /* chunks: 16 bits from the front, 16 from the back; their job's tag */
  _Atomic uint64_t finished;                   /* by the thread, of whatever runs; their job's tag */
  char apart[2 * CACHE_LINE - 2 * sizeof(uint64_t)];
} Run;

typedef struct Job {
  uint64_t number; /* never 0, nor are its 32 low bits, the tag */
  ParallelBody body;
  void *context;
  int64_t begin, end, grain, chunks;
  int threads;                    /* that take part: 0 to threads - 1 */
  bool shared;                    /* runs are shares that the caller gave */
  int32_t first[THREADS_MAX + 1]; /* of them: the chunk of each, and behind the last */
} Job;

/* The job as the threads see it. */
typedef struct Notice {
  char apart[CACHE_LINE];
  _Alignas(CACHE_LINE) _Atomic uint64_t number; /* 0 while it is written */
  _Atomic(ParallelBody) body;
  _Atomic(void *) context;
  _Atomic int64_t begin, end, grain;
  _Atomic int threads;
  _Atomic int32_t first[THREADS_MAX + 1]; /* -1: runs are equally long */
} Notice;

typedef struct Worker {
  Pool *pool;
  int thread;
  pthread_t handle;
  pthread_cond_t wake;
} Worker;

/* Seconds that a chunk of a loop takes, by what the loop does: its body, or what a reduction sums up. */
typedef struct Pace {
  uintptr_t what;
  int64_t grain;
  double chunk;
  unsigned loops;
} Pace;

struct Pool {
  int threads;
  int limit; /* so many take part at most */
  int looks;
  Worker workers[THREADS_MAX];
  pthread_mutex_t mutex;
  pthread_cond_t done;
  bool quit;
  uint64_t last;     /* number of the last job */
  double *partials;  /* of reductions over many chunks */
  Pace paces[PACES]; /* of the caller alone */
  Notice notice;
  _Alignas(CACHE_LINE) _Atomic uint64_t asleep[THREADS_MAX / 64]; /* bits: went to sleep and was not woken since */
  _Atomic bool waiting; /* the caller sleeps until what is taken is finished */
  Run runs[THREADS_MAX];
};

static int64_t run_begin(const Job *job, int owner) {
  if (job->shared) return job->first[owner];
  /* Those that are left over go to the first threads: the caller begins before the others have seen the job. */
  return (job->chunks * owner + job->threads - 1) / job->threads;
}

/* Where fewer threads take part than there are shares, each has the shares of several. */
static void cut_by_shares(const Pool *pool, const ParallelShares *shares, Job *job) {
  for (int k = 0; k <= job->threads; k++) {
    int64_t share = shares->begin[k * pool->threads / job->threads];
    job->first[k] = (int32_t)((job->chunks * share + shares->whole / 2) / shares->whole);
  }
}

static Pace *pace_of(Pool *pool, uintptr_t what, int64_t grain) {
  uint64_t key = ((uint64_t)what >> 4) + (uint64_t)grain * 0x9e3779b97f4a7c15;
  Pace *pace = &pool->paces[(key ^ key >> 29) % PACES];
  if (pace->what != what || pace->grain != grain) *pace = (Pace){.what = what, .grain = grain};
  return pace;
}

/* The clock takes its time too: it is asked for the first loops and then now and then. */
static bool pace_asks(Pace *pace) { return pace->loops++ < 8 || pace->loops % 16 == 0; }

/* A thread that lost its core in between says nothing about the loop. */
static void pace_note(Pace *pace, double seconds, int64_t chunks) {
  double chunk = seconds / (double)chunks;
  if (pace->chunk == 0) pace->chunk = chunk;
  else pace->chunk += 0.25 * ((chunk < 4 * pace->chunk ? chunk : 4 * pace->chunk) - pace->chunk);
}

/* As many threads as help, in powers of two below all of them, so that runs of loops that are alike begin alike. */
static int useful_threads(const Pool *pool, const Pace *pace, int64_t chunks) {
  int threads = pool->limit < chunks ? pool->limit : (int)chunks;
  if (pace->chunk == 0) return threads;
  double most = pace->chunk * (double)chunks / THREAD_COST; /* the square of the best number */
  int useful = 1;
  while (useful < threads && 2.0 * useful * useful <= most) useful *= 2; /* up to sqrt(2) times the best */
  return useful < threads ? useful : threads;
}

static int64_t half_of(int64_t chunks) { return (chunks + 1) / 2; }

static uint64_t tag_of(uint64_t number) { return number << 32; }

/* Chunks that follow each other in a run. */
typedef struct Share {
  int64_t first, count;
} Share;

/* Half of what is left of a run: a claim waits for all that the thread has written to reach its cache, and then for the
 * line if others have looked at it, which is longer than many chunks take. Empty when nothing is left. */
static Share take_share(Pool *pool, const Job *job, int owner, bool back) {
  _Atomic uint64_t *place = &pool->runs[owner].taken;
  int64_t begin = run_begin(job, owner), end = run_begin(job, owner + 1), first, last, count;
  uint64_t tag = tag_of(job->number), before = atomic_load(place), taken;
  do {
    taken = before;
    if (tag_of(taken >> 32) != tag) {
      /* Of an earlier job, or of a later one when this one is over. It is not over as long as `before` stands. */
      if (atomic_load(&pool->notice.number) != job->number) return (Share){0};
      taken = tag;
    }
    first = begin + (int64_t)(taken & RUN_MOST);
    last = end - (int64_t)(taken >> 16 & RUN_MOST);
    count = half_of(last - first);
    if (count <= 0) return (Share){0};
  } while (!atomic_compare_exchange_weak(place, &before, taken + ((uint64_t)count << (back ? 16 : 0))));
  return (Share){back ? last - count : first, count};
}

static void do_share(const Job *job, Share share, bool back, int thread) {
  for (int64_t k = 0; k < share.count; k++) {
    int64_t b = job->begin + (share.first + (back ? share.count - 1 - k : k)) * job->grain;
    job->body(job->context, b, b + job->grain < job->end ? b + job->grain : job->end, thread);
  }
}

/* Chunks of the run of thread `owner`, for as long as there are any; how many. */
static int64_t take_run(Pool *pool, const Job *job, int owner, int thread) {
  bool back = (owner & 1) ^ (owner != thread);
  int64_t done = 0;
  for (Share share; (share = take_share(pool, job, owner, back)).count > 0; done += share.count)
    do_share(job, share, back, thread);
  return done;
}

static inline void rest(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* Until a share is taken by its own thread, or it has taken too many looks. */
static void be_patient(Pool *pool, const Job *job, int owner, int *looks) {
  int64_t all = job->first[owner + 1] - job->first[owner];
  for (; *looks < PATIENCE; ++*looks) {
    uint64_t taken = atomic_load_explicit(&pool->runs[owner].taken, memory_order_relaxed);
    if (tag_of(taken >> 32) == tag_of(job->number) && (int64_t)((taken & RUN_MOST) + (taken >> 16 & RUN_MOST)) >= all)
      return;
    rest();
  }
}

/* Its own run, that of the neighbour whom it meets, then the others'. */
static int64_t work(Pool *pool, const Job *job, int thread) {
  int next = thread & 1 ? job->threads - 1 : 1, looks = 0;
  int64_t done = take_run(pool, job, thread, thread);
  for (int k = 1, owner = thread; k < job->threads; k++) {
    owner = (owner + next) % job->threads;
    if (job->shared) be_patient(pool, job, owner, &looks);
    done += take_run(pool, job, owner, thread);
  }
  return done;
}

/* Whether there is a job other than `seen`. What is read while the caller writes the next one does not count. */
static bool read_notice(Pool *pool, uint64_t seen, Job *job) {
  Notice *notice = &pool->notice;
  job->number = atomic_load_explicit(&notice->number, memory_order_acquire);
  if (job->number == 0 || job->number == seen) return false;
  job->body = atomic_load_explicit(&notice->body, memory_order_acquire);
  job->context = atomic_load_explicit(&notice->context, memory_order_acquire);
  job->begin = atomic_load_explicit(&notice->begin, memory_order_acquire);
  job->end = atomic_load_explicit(&notice->end, memory_order_acquire);
  job->grain = atomic_load_explicit(&notice->grain, memory_order_acquire);
  job->threads = atomic_load_explicit(&notice->threads, memory_order_acquire);
  job->chunks = parallel_chunks(job->begin, job->end, job->grain);
  job->first[0] = atomic_load_explicit(&notice->first[0], memory_order_acquire);
  job->shared = job->first[0] >= 0;
  for (int k = 1; k <= job->threads && job->shared; k++)
    job->first[k] = atomic_load_explicit(&notice->first[k], memory_order_acquire);
  return atomic_load_explicit(&notice->number, memory_order_relaxed) == job->number;
}

/* `own` chunks are the caller's already: he begins without waiting for a line. */
static void write_notice(Pool *pool, const Job *job, int64_t own) {
  Notice *notice = &pool->notice;
  atomic_store_explicit(&notice->number, 0, memory_order_relaxed);
  atomic_store_explicit(&notice->body, job->body, memory_order_release);
  atomic_store_explicit(&notice->context, job->context, memory_order_release);
  atomic_store_explicit(&notice->begin, job->begin, memory_order_release);
  atomic_store_explicit(&notice->end, job->end, memory_order_release);
  atomic_store_explicit(&notice->grain, job->grain, memory_order_release);
  atomic_store_explicit(&notice->threads, job->threads, memory_order_release);
  atomic_store_explicit(&notice->first[0], job->shared ? 0 : -1, memory_order_release);
  for (int k = 1; k <= job->threads && job->shared; k++)
    atomic_store_explicit(&notice->first[k], job->first[k], memory_order_release);
  atomic_store_explicit(&pool->runs[0].taken, tag_of(job->number) + (uint64_t)own, memory_order_release);
  atomic_store_explicit(&notice->number, job->number, memory_order_release);
}

/* Waits for a job other than `seen`; false when the pool ends. `idle`: jobs that went on without this thread. */
static bool next_job(Worker *worker, uint64_t seen, int idle, Job *job) {
  Pool *pool = worker->pool;
  int pauses = 1 + (idle < IDLE_MOST ? idle : IDLE_MOST);
  for (int look = 0; look < pool->looks; look += pauses) {
    if (read_notice(pool, seen, job)) return true;
    for (int k = 0; k < pauses; k++) rest();
  }
  _Atomic uint64_t *asleep = &pool->asleep[worker->thread / 64];
  uint64_t bit = (uint64_t)1 << worker->thread % 64;
  pthread_mutex_lock(&pool->mutex);
  for (;;) {
    atomic_fetch_or(asleep, bit);
    if (pool->quit || read_notice(pool, seen, job)) break;
    pthread_cond_wait(&worker->wake, &pool->mutex);
  }
  atomic_fetch_and(asleep, ~bit);
  bool more = !pool->quit;
  pthread_mutex_unlock(&pool->mutex);
  return more;
}

/* Those who sleep and are to take part, each once: it may take a woken thread many loops until it gets a core on a busy
 * machine, and another call would not bring it any sooner. Who goes to sleep in this moment misses the job, and the
 * others do all of it. */
static void wake_sleepers(Pool *pool, int threads) {
  for (int first = 0; first < threads; first += 64) {
    uint64_t asked = threads - first >= 64 ? UINT64_MAX : ((uint64_t)1 << (threads - first)) - 1;
    uint64_t asleep = atomic_load_explicit(&pool->asleep[first / 64], memory_order_relaxed) & asked;
    if (asleep == 0) continue;
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_and(&pool->asleep[first / 64], ~asleep);
    for (; asleep; asleep &= asleep - 1) pthread_cond_signal(&pool->workers[first + __builtin_ctzll(asleep)].wake);
    pthread_mutex_unlock(&pool->mutex);
  }
}

static void tell_finished(Pool *pool, const Job *job, int thread, int64_t done) {
  /* Before the look whether the caller waits: he looks the other way round. */
  atomic_exchange(&pool->runs[thread].finished, tag_of(job->number) + (uint64_t)done);
  if (!atomic_load(&pool->waiting)) return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_signal(&pool->done);
  pthread_mutex_unlock(&pool->mutex);
}

/* Whether the others have finished `left` chunks of the job between them. */
static bool have_finished(Pool *pool, const Job *job, int64_t left) {
  for (int k = 1; k < job->threads && left > 0; k++) {
    uint64_t finished = atomic_load(&pool->runs[k].finished);
    if (tag_of(finished >> 32) == tag_of(job->number)) left -= (int64_t)(finished & UINT32_MAX);
  }
  return left == 0;
}

static void wait_finished(Pool *pool, const Job *job, int64_t left) {
  for (int look = 0; look < pool->looks; look++) {
    if (have_finished(pool, job, left)) return;
    rest();
  }
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->waiting, true);
  while (!have_finished(pool, job, left)) pthread_cond_wait(&pool->done, &pool->mutex);
  atomic_store(&pool->waiting, false);
  pthread_mutex_unlock(&pool->mutex);
}

static void *worker_main(void *argument) {
  Worker *worker = argument;
  Job job = {0};
  int idle = 0;
  while (next_job(worker, job.number, idle, &job)) {
    idle = worker->thread < job.threads ? 0 : idle + 1;
    if (idle > 0) continue;
    int64_t done = work(worker->pool, &job, worker->thread);
    if (done > 0) tell_finished(worker->pool, &job, worker->thread, done);
  }
  return NULL;
}

/* That the process may run on: taskset and the quota of a container leave it fewer than the machine has. */
static int available_cores(void) {
#if defined(__linux__)
  cpu_set_t allowed;
  int cores =
      sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : (int)sysconf(_SC_NPROCESSORS_ONLN);
  int32_t quota = limits_processors("");
  return quota < cores ? quota : cores;
#else
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
#endif
}

Pool *pool_create(Core *core, int threads) {
  int cores = available_cores();
  if (threads <= 0) threads = cores;
  if (threads < 1) threads = 1;
  if (threads > THREADS_MAX) threads = THREADS_MAX;
  Pool *pool = memory_get(&core->memory, 1, sizeof *pool, "threads");
  if (!pool) return NULL;
  pool->threads = 1; /* thread 0 is the caller */
  pool->looks = threads <= cores ? LOOKS : 0;
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->done, NULL);
  for (int t = 1; t < threads; t++) {
    Worker *worker = &pool->workers[t];
    *worker = (Worker){.pool = pool, .thread = t};
    pthread_cond_init(&worker->wake, NULL);
    if (pthread_create(&worker->handle, NULL, worker_main, worker) != 0) {
      pthread_cond_destroy(&worker->wake);
      pool_destroy(core, pool);
      return NULL;
    }
    pool->threads = t + 1; /* the workers read it when there is a job */
  }
  pool->limit = pool->threads;
  return pool;
}

void pool_destroy(Core *core, Pool *pool) {
  if (!pool) return;
  pthread_mutex_lock(&pool->mutex);
  pool->quit = true;
  for (int t = 1; t < pool->threads; t++) pthread_cond_signal(&pool->workers[t].wake);
  pthread_mutex_unlock(&pool->mutex);
  for (int t = 1; t < pool->threads; t++) {
    pthread_join(pool->workers[t].handle, NULL);
    pthread_cond_destroy(&pool->workers[t].wake);
  }
  pthread_cond_destroy(&pool->done);
  pthread_mutex_destroy(&pool->mutex);
  memory_free(&core->memory, pool->partials);
  memory_free(&core->memory, pool);
}

int pool_threads(const Pool *pool) { return pool->threads; }

void pool_limit(Pool *pool, int threads) {
  pool->limit = threads < 1 || threads > pool->threads ? pool->threads : threads;
}

/* A number for the next job. Every four thousand millions the tags begin anew: counts that have stood since then in
 * runs that no job has had chunks for would be taken for those of the new job. */
static uint64_t next_number(Pool *pool) {
  if ((uint32_t)++pool->last != 0) return pool->last;
  atomic_store_explicit(&pool->notice.number, 0, memory_order_relaxed); /* who sees the counts go sees that too */
  for (int k = 0; k < pool->threads; k++) {
    atomic_store_explicit(&pool->runs[k].taken, 0, memory_order_release);
    atomic_store_explicit(&pool->runs[k].finished, 0, memory_order_release);
  }
  return ++pool->last;
}

/* Of a job that has all but its number and its runs. */
static void run_job(Pool *pool, Job *job, Pace *pace, const ParallelShares *shares) {
  job->number = next_number(pool);
  job->chunks = parallel_chunks(job->begin, job->end, job->grain);
  job->shared = shares != NULL;
  if (shares) cut_by_shares(pool, shares, job);
  Share own = {0, half_of(run_begin(job, 1))};
  write_notice(pool, job, own.count);
  wake_sleepers(pool, job->threads);
  bool asks = pace_asks(pace);
  double began = asks ? timer_now() : 0;
  do_share(job, own, false, 0);
  if (asks && own.count > 0) pace_note(pace, timer_now() - began, own.count);
  int64_t left = job->chunks - own.count - work(pool, job, 0);
  if (left > 0) wait_finished(pool, job, left);
}

static void run_loop(Core *core, uintptr_t what, const ParallelShares *shares, int64_t begin, int64_t end,
                     int64_t grain, ParallelBody body, void *context) {
  Pool *pool = core->pool;
  int64_t chunks = parallel_chunks(begin, end, grain);
  Pace *pace = chunks > 1 && pool->limit > 1 ? pace_of(pool, what, grain) : NULL;
  int threads = pace ? useful_threads(pool, pace, chunks) : 1;
  if (threads == 1) {
    bool asks = pace && pace_asks(pace);
    double began = asks ? timer_now() : 0;
    for (int64_t b = begin; b < end; b += grain) body(context, b, b + grain < end ? b + grain : end, 0);
    if (asks) pace_note(pace, timer_now() - began, chunks);
    return;
  }
  /* As many at a time as the counts hold. */
  for (int64_t most = (int64_t)RUN_MOST * (shares ? 1 : threads) * grain; begin < end;) {
    Job job; /* not cleared: it has room for very many runs */
    job.body = body;
    job.context = context;
    job.begin = begin;
    job.grain = grain;
    job.threads = threads;
    job.end = begin = end - begin > most ? begin + most : end;
    run_job(pool, &job, pace, shares);
  }
}

void parallel_for_shares(Core *core, const ParallelShares *shares, int64_t begin, int64_t end, int64_t grain,
                         ParallelBody body, void *context) {
  run_loop(core, (uintptr_t)body, shares, begin, end, grain, body, context);
}

void parallel_for(Core *core, int64_t begin, int64_t end, int64_t grain, ParallelBody body, void *context) {
  parallel_for_shares(core, NULL, begin, end, grain, body, context);
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

/* Those that do not fit on the stack stay in the pool: a block that comes and goes with every loop would be cleared
 * each time, on one thread. */
static double *reduce(Core *core, Reduction *reduction, int64_t begin, int64_t end, double *stack) {
  int64_t chunks = parallel_chunks(begin, end, reduction->grain);
  reduction->begin = begin;
  reduction->partial = stack;
  if (chunks > PARTIALS_ON_STACK) {
    if (memory_grow(core, &core->pool->partials, chunks, "partial sums") != SCREE_OK) return NULL;
    reduction->partial = core->pool->partials;
  }
  run_loop(core, (uintptr_t)reduction->body, NULL, begin, end, reduction->grain, reduce_chunk, reduction);
  return reduction->partial;
}

double parallel_sum(Core *core, int64_t begin, int64_t end, int64_t grain, ParallelSumBody body, void *context) {
  double stack[PARTIALS_ON_STACK];
  Reduction reduction = {.body = body, .context = context, .grain = grain};
  const double *partial = reduce(core, &reduction, begin, end, stack);
  if (!partial) return (double)__builtin_nanf("");
  double sum = 0;
  int64_t chunks = parallel_chunks(begin, end, grain);
  for (int64_t c = 0; c < chunks; c++) sum += partial[c];
  return sum;
}

double parallel_max(Core *core, int64_t begin, int64_t end, int64_t grain, double floor, ParallelSumBody body,
                    void *context) {
  double stack[PARTIALS_ON_STACK];
  Reduction reduction = {.body = body, .context = context, .grain = grain};
  const double *partial = reduce(core, &reduction, begin, end, stack);
  if (!partial) return (double)__builtin_nanf("");
  double largest = floor;
  int64_t chunks = parallel_chunks(begin, end, grain);
  /* A NaN must come through, wherever it is, since it means a blow-up: nothing is as large. */
  for (int64_t c = 0; c < chunks && largest == largest; c++)
    if (!(partial[c] <= largest)) largest = partial[c];
  return largest;
}
