/* A law: scenes, what is measured on them, and the band it must lie in. A new law is a file in app/validate/laws/ with
 * one Law, and its line in LAWS.
 *
 *   plan    lists the runs of one method: worlds that know nothing of each other and run side by side
 *   run     makes and runs one world and stores values and a series
 *   judge   turns the runs of one method into rows: measured, law, band */
#ifndef VALIDATE_LAW_H
#define VALIDATE_LAW_H

#include "app/validate/trial.h"

#define LAWS(X)                                                                                                        \
  X(heap)                                                                                                              \
  X(heap_fast)                                                                                                         \
  X(tilt)                                                                                                              \
  X(slide)                                                                                                             \
  X(collapse)                                                                                                          \
  X(channel)                                                                                                           \
  X(silo)                                                                                                              \
  X(janssen)                                                                                                           \
  X(bank)                                                                                                              \
  X(weight)                                                                                                            \
  X(pressure)                                                                                                          \
  X(dense)

enum { RUN_LABEL = 64, RUN_VALUES = 8, RUN_POINTS = 512, ROW_NOTE = 160, RUNS_MOST = 1024, ROWS_MOST = 512 };

/* quick: a few cases in seconds, for tests; coarse: all cases; fine: all cases at twice the resolution. */
typedef enum Level { LEVEL_QUICK, LEVEL_COARSE, LEVEL_FINE } Level;

struct Law;
typedef struct Run {
  const struct Law *law;
  const char *method;
  Level level;
  int number;       /* of the run among those of law and method; its meaning is the law's */
  double parameter; /* and so is this one's */
  int64_t seed;
  double cost; /* expected, in any unit that the laws share: long runs begin first */
  char label[RUN_LABEL];
  bool (*stopped)(void *context);
  void *context;
  /* Results. */
  ScreeStatus status;
  ScreeError error;
  double seconds; /* of processor time that it took */
  double values[RUN_VALUES];
  int64_t points; /* of its line in the plot */
  double x[RUN_POINTS], y[RUN_POINTS];
} Run;

/* One line of the table. */
typedef struct Row {
  const struct Law *law;
  const char *method;
  char label[RUN_LABEL];
  double measured, expected, low, high; /* NaN: the law has no such number; the band has both of its ends */
  const char *unit;
  char note[ROW_NOTE]; /* what else is worth knowing; may be empty */
  bool failed;         /* a run failed; note says why */
} Row;

typedef struct Plan {
  const struct Law *law;
  const char *method;
  Level level;
  Run **runs;
  int count;
} Plan;
/* A run more, with these; NULL when there is no memory or there are too many. */
Run *plan_run(Plan *plan, double parameter, int64_t seed, double cost, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

typedef struct Rows {
  Row *rows;
  int count;
} Rows;
/* A row more; all its text is copied. */
void rows_add(Rows *rows, Row row);

typedef struct Law {
  const char *name;
  const char *title;
  const char *reference;         /* where it is published; "" where it follows from the definition */
  const char *band;              /* in words */
  const char *scene;             /* in words, with sizes */
  const char *measure;           /* in words */
  const char *x_label, *y_label; /* axes of the plot */
  double (*curve)(double x);     /* what the law says there; NULL: nothing */
  void (*plan)(Plan *plan);
  ScreeStatus (*run)(Run *run, ScreeError *error);
  void (*judge)(Rows *rows, const char *method, Run *const *runs, int count);
} Law;

#define LAW_DECLARE(name) extern const Law LAW_##name;
LAWS(LAW_DECLARE)

/* The laws in their order; NULL beyond the last. */
const Law *law_at(int index);

/* validate.c: the runs of a plan, side by side; each has its status afterwards. */
struct ValidateOptions;
ScreeStatus runs_execute(const struct ValidateOptions *options, const Plan *plan, ScreeError *error);

/* The trial of a run: its method and seed, this material and radius. */
Trial run_trial(const Run *run, const char *material, double radius);
/* Points for the plot; those beyond RUN_POINTS are left out. */
void run_point(Run *run, double x, double y);
bool row_passes(const Row *row);

/* How long a particle takes to be simulated, compared with pbd's: for `cost`. */
double method_cost(const char *method);

/* The sand of all laws but where one says otherwise. */
#define LAW_SAND "friction_angle_deg: 33"
#define LAW_ANGLE_DEG 33.0

#endif
