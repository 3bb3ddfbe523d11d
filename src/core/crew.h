/* How many threads help a piece of work that comes again and again, such as a step.
 *
 * A loop knows what its own work costs (core/parallel.c), not what it costs the loops behind it to fetch from another
 * core what that has written. In a small scene this is most of it: a step may take twice as long on two threads as on
 * one. So whole pieces are timed, on about as many threads as were quickest, on half of them and on twice as many, now
 * and then again. Long pieces gain from every thread. Who takes part changes no result. */
#ifndef CORE_CREW_H
#define CORE_CREW_H

#include "core/parallel.h"

/* Numbers of threads are powers of two, or all: level k has 2^k. */
enum { CREW_LEVELS = 9 };

/* Begins as zeros. */
typedef struct Crew {
  double time[CREW_LEVELS]; /* s that a piece takes on so many threads; 0: not known */
  double began, quickest;   /* of the piece in work; of those of the trial */
  int fewer;                /* levels below all threads: the best that is known */
  int level;                /* of the piece in work */
  unsigned pieces;
} Crew;

/* Round a piece. The loops in between have at most so many threads, those behind it all. */
void crew_begin(Crew *crew, Pool *pool);
void crew_end(Crew *crew, Pool *pool);

#endif
