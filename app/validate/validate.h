/* `scree validate`: published laws, measured with every method. */
#ifndef VALIDATE_VALIDATE_H
#define VALIDATE_VALIDATE_H

#include "scree/scree.h"

enum { VALIDATE_METHODS = 8, VALIDATE_LAWS = 32 };

typedef struct ValidateOptions {
  int laws[VALIDATE_LAWS]; /* see validate_law_name */
  int law_count;
  const char *methods[VALIDATE_METHODS];
  int method_count;
  bool quick, fine;   /* a few cases in seconds; twice the resolution; neither: coarse */
  int threads;        /* runs side by side; 0: one per core */
  bool quiet;         /* only the table */
  const char *folder; /* of report.json and the plots */
  bool (*stopped)(void *context);
  void *context;
} ValidateOptions;

/* NULL beyond the last. */
const char *validate_law_name(int index);
const char *validate_law_title(int index);

/* Runs, prints the table and writes the files. *missed: rows outside their band. Interrupted, it reports what laws and
 * methods were done with. */
ScreeStatus validate_run(const ValidateOptions *options, int *missed, ScreeError *error);

#endif
