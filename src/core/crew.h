/* How many threads help a piece of work that comes again and again, such as a step.
 *
 * A loop knows what its own work costs (core/parallel.c), not what it costs the loops behind it to fetch from another
 * core what that has written. In a small scene this is most of it: a step may take twice as long on two threads as on
 * one, and less again on sixteen. So whole pieces are timed on every number of threads once, and now and then again,
 * the more rarely the slower they were. Long pieces gain from every thread. Who takes part changes no result. */
#ifndef CORE_CREW_H
#define CORE_CREW_H

#include "core/parallel.h"

/* Numbers of threads are powers of two, or all: level k has 2^k. */
enum { CREW_LEVELS = 9 };

/* Begins as zeros. */
typedef struct Crew {
  double time[CREW_LEVELS]; /* s that a piece takes on so many threads; 0: not known */
  int64_t due[CREW_LEVELS]; /* piece from which on it is to be timed again */
  double began, quickest;   /* of the piece in work; of those of the trial */
  int64_t pieces;
  int fewer;   /* levels below all threads: the best that is known */
  int level;   /* of the piece in work */
  int against; /* levels below all threads: what the best is timed against, after it */
  int left;    /* pieces of the trial; 0: there is none */
  int watched; /* pieces of the best since it was looked at */
  bool pair;   /* the trial is of the best, and the other was just timed */
} Crew;

/* The level that the next piece has, with `all` for all threads; what it took. */
int crew_choose(Crew *crew, int all);
void crew_note(Crew *crew, int all, double seconds);
/* Round a piece, with the clock. The loops in between have at most so many threads, those behind it all. */
void crew_begin(Crew *crew, Pool *pool);
void crew_end(Crew *crew, Pool *pool);

#endif
