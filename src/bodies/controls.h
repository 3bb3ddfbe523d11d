/* Control signals from a csv file: header `time,<actuator>,...`, then a row per time. */
#ifndef BODIES_CONTROLS_H
#define BODIES_CONTROLS_H

#include "core/core.h"

typedef struct Controls {
  int64_t row_count;
  int32_t column_count; /* without the time */
  double *times;        /* strictly ascending */
  double *values;       /* row_count rows of column_count */
  int32_t *actuators;   /* which actuator a column drives */
} Controls;

/* The actuator of that name, or -1. */
typedef int32_t (*ActuatorLookup)(void *context, const char *name);

/* `path` has already been allowed. Errors name the file, the line and the column. */
Status controls_load(Core *core, const char *path, ActuatorLookup lookup, void *context, Controls *controls);
Status controls_parse(Core *core, const char *name, const char *text, int64_t size, ActuatorLookup lookup,
                      void *context, Controls *controls);
void controls_destroy(Core *core, Controls *controls);

/* Linear between rows, held at both ends. */
double controls_value(const Controls *controls, int32_t column, double time);

#endif
