/* Wall-clock and processor time. Never read by anything that influences a result. */
#ifndef CORE_TIMER_H
#define CORE_TIMER_H

#include <time.h>

static inline double timer_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of all threads of the process together. */
static inline double timer_processor(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
