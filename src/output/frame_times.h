/* How long frames took, by the wall clock. */
#ifndef OUTPUT_FRAME_TIMES_H
#define OUTPUT_FRAME_TIMES_H

#include "core/core.h"

/* Seconds of one frame. */
typedef struct FrameTimes {
  double total, coarse, upsample, bodies, output;
} FrameTimes;

/* The middle of `count` values, taken from the member at `offset` of each frame's times; 0 for none. */
Status frame_times_median(Core *core, const FrameTimes *frames, int64_t count, size_t offset, double *median);

#endif
