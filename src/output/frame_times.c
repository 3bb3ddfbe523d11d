#include "output/frame_times.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

Status frame_times_median(Core *core, const FrameTimes *frames, int64_t count, size_t offset, double *median) {
  *median = 0;
  if (count == 0) return SCREE_OK;
  double *values = NULL;
  TRY(memory_new(core, &values, count, "median"));
  for (int64_t k = 0; k < count; k++) memcpy(&values[k], (const char *)&frames[k] + offset, sizeof *values);
  qsort(values, (size_t)count, sizeof *values, ascending);
  *median = 0.5 * (values[(count - 1) / 2] + values[count / 2]);
  memory_drop(core, &values);
  return SCREE_OK;
}
