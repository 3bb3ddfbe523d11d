#include "app/validate/law.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAW_ROW(name) &LAW_##name,
static const Law *const laws[] = {LAWS(LAW_ROW)};

const Law *law_at(int index) { return index < (int)(sizeof laws / sizeof *laws) ? laws[index] : NULL; }

double method_cost(const char *method) {
  static const struct {
    const char *name;
    double cost;
  } costs[] = {{"pbd", 1}, {"p2", 1}, {"dem", 10}, {"sph", 6}, {"flip", 1}};
  for (size_t k = 0; k < sizeof costs / sizeof *costs; k++)
    if (strcmp(costs[k].name, method) == 0) return costs[k].cost;
  return 1;
}

Run *plan_run(Plan *plan, double parameter, int64_t seed, double cost, const char *format, ...) {
  Run *run = plan->count < RUNS_MOST ? calloc(1, sizeof *run) : NULL;
  if (!run) return NULL;
  run->law = plan->law;
  run->method = plan->method;
  run->level = plan->level;
  run->parameter = parameter;
  run->seed = seed;
  run->cost = cost;
  va_list list;
  va_start(list, format);
  vsnprintf(run->label, sizeof run->label, format, list);
  va_end(list);
  plan->runs[plan->count++] = run;
  return run;
}

void rows_add(Rows *rows, Row row) {
  if (rows->count < ROWS_MOST) rows->rows[rows->count++] = row;
}

Trial run_trial(const Run *run, const char *material, double radius) {
  return (Trial){.method = run->method,
                 .material = material,
                 .keys = "",
                 .radius = radius,
                 .seed = run->seed,
                 .stopped = run->stopped,
                 .context = run->context};
}

void run_point(Run *run, double x, double y) {
  if (run->points >= RUN_POINTS) return;
  run->x[run->points] = x;
  run->y[run->points++] = y;
}

bool row_passes(const Row *row) { return !row->failed && row->measured >= row->low && row->measured <= row->high; }
