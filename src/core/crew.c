#include "core/crew.h"

#include <math.h>

#include "core/timer.h"

/* s: what takes as long has work for all threads. */
#define LONG_PIECE 2e-3
/* More threads must be quicker by so much to be taken. Where they do nothing, since there are fewer chunks, fewer are
 * taken, until one less would be felt. */
#define QUICKER 0.97
/* A trial is so many pieces in a row; the quickest counts, but for the first of them, which finds everything in the
 * wrong caches. Trials are made at once in the beginning, later with so many pieces between two rounds of them. */
enum { TRIAL_PIECES = 6, EARLY_PIECES = 40 * TRIAL_PIECES, REST_PIECES = 40 * TRIAL_PIECES };
/* A round: levels beside the best. */
static const int trials[] = {0, -1, 0, 1};
enum { TRIALS = sizeof trials / sizeof *trials, ROUND_PIECES = TRIALS * TRIAL_PIECES };

static int level_of_all(const Pool *pool) {
  int level = 0;
  while (1 << level < pool_threads(pool)) level++;
  return level;
}

/* Where in a round of trials the piece is; ROUND_PIECES: in none. */
static unsigned place_of(unsigned piece) {
  if (piece < EARLY_PIECES) return piece % ROUND_PIECES;
  unsigned place = (piece - EARLY_PIECES) % (ROUND_PIECES + REST_PIECES);
  return place < ROUND_PIECES ? place : ROUND_PIECES;
}

void crew_begin(Crew *crew, Pool *pool) {
  int all = level_of_all(pool);
  if (all == 0) return;
  unsigned place = place_of(crew->pieces);
  int best = all - crew->fewer, level = best + (place < ROUND_PIECES ? trials[place / TRIAL_PIECES] : 0);
  crew->level = level < 0 ? 0 : level > all ? all : level;
  if (place % TRIAL_PIECES == 0) crew->quickest = INFINITY;
  pool_limit(pool, crew->level == all ? 0 : 1 << crew->level);
  crew->began = timer_now();
}

/* At the end of a trial. What has become long has all threads, and is tried on no fewer. */
static void judge(Crew *crew, int all) {
  double *time = crew->time;
  time[crew->level] = crew->quickest;
  int best = all - crew->fewer;
  if (time[best] > LONG_PIECE) {
    crew->fewer = 0;
    crew->pieces -= crew->pieces % ROUND_PIECES;
  } else if (best > 0 && time[best - 1] > 0 && QUICKER * time[best - 1] < time[best]) crew->fewer++;
  else if (best < all && time[best + 1] > 0 && time[best + 1] < QUICKER * time[best]) crew->fewer--;
}

void crew_end(Crew *crew, Pool *pool) {
  int all = level_of_all(pool);
  if (all == 0) return;
  pool_limit(pool, 0);
  double seconds = timer_now() - crew->began;
  unsigned place = place_of(crew->pieces++);
  if (place == ROUND_PIECES) return;
  if (place % TRIAL_PIECES > 0 && seconds < crew->quickest) crew->quickest = seconds;
  if (place % TRIAL_PIECES == TRIAL_PIECES - 1) judge(crew, all);
}
