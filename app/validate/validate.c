/* The runs of all laws and methods, side by side. */
#include "app/validate/validate.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/validate/law.h"
#include "app/validate/report.h"

enum { WORKERS_MOST = 256 };

const char *validate_law_name(int index) { return law_at(index) ? law_at(index)->name : NULL; }
const char *validate_law_title(int index) { return law_at(index) ? law_at(index)->title : NULL; }

/* Runs wait in the order of their cost, so that the last ones are short and all cores stay busy. */
typedef struct Queue {
  const ValidateOptions *options;
  Run **order;
  int count, next, done;
  double began;
  pthread_mutex_t lock;
} Queue;

static double clock_seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double now(void) { return clock_seconds(CLOCK_MONOTONIC); }

static int by_cost(const void *a, const void *b) {
  const Run *x = *(Run *const *)a, *y = *(Run *const *)b;
  return (x->cost < y->cost) - (x->cost > y->cost);
}

static Run *take(Queue *queue) {
  pthread_mutex_lock(&queue->lock);
  Run *run = queue->next < queue->count ? queue->order[queue->next++] : NULL;
  pthread_mutex_unlock(&queue->lock);
  return run;
}

static void tell(Queue *queue, const Run *run) {
  pthread_mutex_lock(&queue->lock);
  queue->done++;
  if (!queue->options->quiet && run->status != SCREE_INTERRUPTED) {
    fprintf(stderr, "%4d of %d, %.0f s: %s, %s, %s: %.1f s%s\n", queue->done, queue->count, now() - queue->began,
            run->law->name, run->method, run->label, run->seconds, run->status == SCREE_OK ? "" : ", failed");
    fflush(stderr);
  }
  pthread_mutex_unlock(&queue->lock);
}

static void *work(void *context) {
  Queue *queue = context;
  for (Run *run = take(queue); run; run = take(queue)) {
    double began = clock_seconds(CLOCK_THREAD_CPUTIME_ID); /* whatever else the machine does */
    run->stopped = queue->options->stopped;
    run->context = queue->options->context;
    bool stop = run->stopped && run->stopped(run->context);
    run->status = stop ? SCREE_INTERRUPTED : run->law->run(run, &run->error);
    run->seconds = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - began;
    tell(queue, run);
  }
  return NULL;
}

/* The caller is one of the workers: with none besides, all is still done. */
static void work_all(Queue *queue) {
  pthread_t threads[WORKERS_MOST];
  long wanted = queue->options->threads > 0 ? queue->options->threads : sysconf(_SC_NPROCESSORS_ONLN);
  if (wanted > WORKERS_MOST) wanted = WORKERS_MOST;
  int made = 0;
  while (made + 1 < wanted && pthread_create(&threads[made], NULL, work, queue) == 0) made++;
  work(queue);
  for (int k = 0; k < made; k++) pthread_join(threads[k], NULL);
}

static ScreeStatus no_memory(ScreeError *error) {
  *error = (ScreeError){.status = SCREE_NO_MEMORY, .message = "no memory for the runs"};
  return SCREE_NO_MEMORY;
}

/* A run that failed is a row of its own, and its law is not judged for that method; nor is one that was interrupted. */
static bool any_failed(Rows *rows, Run *const *runs, int count) {
  for (int k = 0; k < count; k++) {
    if (runs[k]->status == SCREE_INTERRUPTED) return true;
    if (runs[k]->status == SCREE_OK) continue;
    Row row = {.law = runs[k]->law,
               .method = runs[k]->method,
               .measured = NAN,
               .expected = NAN,
               .low = NAN,
               .high = NAN,
               .unit = "",
               .failed = true};
    snprintf(row.label, sizeof row.label, "%s", runs[k]->label);
    snprintf(row.note, sizeof row.note, "%.*s", ROW_NOTE - 1, runs[k]->error.message);
    rows_add(rows, row);
    return true;
  }
  return false;
}

/* Runs of one law and method follow each other. */
static void judge_all(Rows *rows, Run **runs, int count) {
  for (int first = 0, next; first < count; first = next) {
    for (next = first;
         next < count && runs[next]->law == runs[first]->law && runs[next]->method == runs[first]->method;)
      next++;
    if (!any_failed(rows, &runs[first], next - first))
      runs[first]->law->judge(rows, runs[first]->method, &runs[first], next - first);
  }
}

static ScreeStatus plan_all(const ValidateOptions *options, Plan *plan, ScreeError *error) {
  plan->level = options->fine ? LEVEL_FINE : options->quick ? LEVEL_QUICK : LEVEL_COARSE;
  for (int l = 0; l < options->law_count; l++)
    for (int m = 0; m < options->method_count; m++) {
      plan->law = law_at(options->laws[l]);
      plan->method = options->methods[m];
      int before = plan->count;
      plan->law->plan(plan);
      for (int k = before; k < plan->count; k++) plan->runs[k]->number = k - before;
      if (plan->count == before) return no_memory(error);
    }
  return SCREE_OK;
}

ScreeStatus runs_execute(const ValidateOptions *options, const Plan *plan, ScreeError *error) {
  Queue queue = {.options = options, .count = plan->count, .began = now(), .lock = PTHREAD_MUTEX_INITIALIZER};
  queue.order = malloc((size_t)plan->count * sizeof(Run *));
  if (!queue.order) return no_memory(error);
  memcpy(queue.order, plan->runs, (size_t)plan->count * sizeof(Run *));
  qsort(queue.order, (size_t)plan->count, sizeof(Run *), by_cost);
  work_all(&queue);
  free(queue.order);
  return SCREE_OK;
}

static ScreeStatus execute(const ValidateOptions *options, Plan *plan, Rows *rows, int *missed, ScreeError *error) {
  double began = now();
  ScreeStatus status = runs_execute(options, plan, error);
  if (status != SCREE_OK) return status;
  bool interrupted = false;
  for (int k = 0; k < plan->count; k++) interrupted |= plan->runs[k]->status == SCREE_INTERRUPTED;
  judge_all(rows, plan->runs, plan->count);
  for (int k = 0; k < rows->count; k++) *missed += !row_passes(&rows->rows[k]);
  Report report = {.options = options,
                   .runs = plan->runs,
                   .run_count = plan->count,
                   .rows = rows->rows,
                   .row_count = rows->count,
                   .level = plan->level,
                   .seconds = now() - began};
  if (rows->count || !interrupted) results_print(&report);
  status = rows->count || !interrupted ? results_write(&report, error) : SCREE_OK;
  if (status != SCREE_OK || !interrupted) return status;
  *error = (ScreeError){.status = SCREE_INTERRUPTED};
  snprintf(error->message, sizeof error->message, "interrupted, %s",
           rows->count ? "what was done with is in the report" : "nothing was written");
  return SCREE_INTERRUPTED;
}

ScreeStatus validate_run(const ValidateOptions *options, int *missed, ScreeError *error) {
  Plan plan = {.runs = calloc(RUNS_MOST, sizeof(Run *))};
  Rows rows = {.rows = calloc(ROWS_MOST, sizeof(Row))};
  *missed = 0;
  ScreeStatus status = plan.runs && rows.rows ? plan_all(options, &plan, error) : no_memory(error);
  if (status == SCREE_OK) status = execute(options, &plan, &rows, missed, error);
  for (int k = 0; k < plan.count; k++) free(plan.runs[k]);
  free(plan.runs);
  free(rows.rows);
  return status;
}
