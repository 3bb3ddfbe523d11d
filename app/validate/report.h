/* What came out: a table in print, report.json, plots and a page. */
#ifndef VALIDATE_REPORT_H
#define VALIDATE_REPORT_H

#include "app/validate/law.h"
#include "app/validate/validate.h"

typedef struct Report {
  const ValidateOptions *options;
  Run *const *runs;
  int run_count;
  const Row *rows;
  int row_count;
  Level level;
  double seconds;
} Report;

void results_print(const Report *report);
/* FOLDER/report.json and one plot for each law. */
ScreeStatus results_write(const Report *report, ScreeError *error);

#endif
