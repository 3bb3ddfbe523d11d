/* Threads behind one call.
 *
 * parallel_for cuts [begin, end) into chunks of `grain` elements, whose borders do not depend on the number of
 * threads, and hands each to some thread. A body writes only what belongs to its own elements, so the result is the
 * same for any number of threads; sums go through per-chunk partial results (chunk = (b - begin) / grain) that are
 * added in chunk order afterwards, see parallel_sum. */
#ifndef CORE_PARALLEL_H
#define CORE_PARALLEL_H

#include "core/core.h"

typedef struct Pool Pool;

enum { PARALLEL_THREADS_MAX = 256 };

/* [b, e) is the chunk; thread is in [0, pool_threads). */
typedef void (*ParallelBody)(void *context, int64_t b, int64_t e, int thread);

Pool *pool_create(Core *core, int threads);
void pool_destroy(Core *core, Pool *pool);
int pool_threads(const Pool *pool);
/* So many threads at most take part in the loops that follow; 0: all. pool_threads stays. */
void pool_limit(Pool *pool, int threads);

void parallel_for(Core *core, int64_t begin, int64_t end, int64_t grain, ParallelBody body, void *context);

/* How much of a loop each thread should have: of `whole` thread t has [begin[t], begin[t + 1]), whatever the range is
 * counted in. Loops over the same things with the same shares find them in the caches of their threads. */
typedef struct ParallelShares {
  int64_t whole; /* > 0 */
  int64_t begin[PARALLEL_THREADS_MAX + 1];
} ParallelShares;
/* shares: NULL for equal ones. Who is late still gets help. */
void parallel_for_shares(Core *core, const ParallelShares *shares, int64_t begin, int64_t end, int64_t grain,
                         ParallelBody body, void *context);

static inline int64_t parallel_chunks(int64_t begin, int64_t end, int64_t grain) {
  return end > begin ? (end - begin + grain - 1) / grain : 0;
}

/* Sum, in chunk order, of what `body` returns for each chunk. NaN when memory for the partial sums is missing. */
typedef double (*ParallelSumBody)(void *context, int64_t b, int64_t e);
double parallel_sum(Core *core, int64_t begin, int64_t end, int64_t grain, ParallelSumBody body, void *context);
/* Largest of what `body` returns (order does not matter for a maximum); `floor` when the range is empty. */
double parallel_max(Core *core, int64_t begin, int64_t end, int64_t grain, double floor, ParallelSumBody body,
                    void *context);

#endif
