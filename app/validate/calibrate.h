/* `scree calibrate`: which contacts make sand of which angle, measured, and the table that methods have of it. */
#ifndef VALIDATE_CALIBRATE_H
#define VALIDATE_CALIBRATE_H

#include "app/validate/validate.h"

typedef struct CalibrateOptions {
  ValidateOptions runs; /* threads, quiet, stopped */
  const char *method;
  const char *from;   /* samples that were measured before; NULL: measure */
  const char *folder; /* of METHOD.csv, the samples, and METHOD.h, the table */
  int64_t grains, seeds;
} CalibrateOptions;

/* Whether the method has a table. */
bool calibrate_knows(const char *method);
ScreeStatus calibrate_run(const CalibrateOptions *options, ScreeError *error);

#endif
