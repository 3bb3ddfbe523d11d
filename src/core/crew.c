#include "core/crew.h"

#include <math.h>

#include "core/timer.h"

/* s: what takes as long has work for all threads. */
#define LONG_PIECE 2e-3
/* More threads must be quicker by so much to be taken. Where they do nothing, since there are fewer chunks, fewer are
 * taken, until one less would be felt. */
#define QUICKER 0.97
/* A trial is so many pieces in a row; the quickest counts, but for the first of them, which finds everything in the
 * wrong caches. The best is watched in between. A level that was slower is tried again so rarely that it costs this
 * share of the time at most. */
enum { TRIAL_PIECES = 5, WATCHED_PIECES = 20, REST_PIECES = 48 * TRIAL_PIECES };
#define TRIAL_SHARE 0.0025
/* Where half of the threads take so much longer there is work for all of them, and a quarter will take longer still. */
#define MUCH_SLOWER 1.5
/* A piece that takes so many times as long as before, or as little, is another. */
#define OTHER_PIECE 1.5

static int level_of_all(const Pool *pool) {
  int level = 0;
  while (1 << level < pool_threads(pool)) level++;
  return level;
}

static void begin_trial(Crew *crew, int level) {
  crew->level = level;
  crew->left = TRIAL_PIECES;
  crew->watched = 0;
  crew->quickest = INFINITY;
}

/* The level that is to be tried: the highest of those whose time has come; -1: none. */
static int next_trial(const Crew *crew, int all) {
  for (int level = all; level >= 0; level--)
    if (crew->due[level] <= crew->pieces) return level;
  return -1;
}

int crew_choose(Crew *crew, int all) {
  if (crew->left > 0) return crew->level;
  int trial = next_trial(crew, all);
  crew->level = trial < 0 ? all - crew->fewer : trial;
  if (trial >= 0) begin_trial(crew, trial);
  return crew->level;
}

/* When a level is tried again that takes `slower` times as long as the best. */
static void rest(Crew *crew, int level, double slower) {
  double pieces = TRIAL_PIECES / TRIAL_SHARE * fmax(slower - 1, 0);
  crew->due[level] = crew->pieces + REST_PIECES + (int64_t)fmin(pieces, 1e9);
}

static void try_soon(Crew *crew, int level, int all) {
  if (level >= 0 && level <= all) crew->due[level] = crew->pieces;
}

/* Another level and the best were timed one after the other. */
static void compare(Crew *crew, int all) {
  const double *time = crew->time;
  int best = all - crew->fewer, other = all - crew->against;
  double slower = time[other] / time[best];
  bool quicker = other < best ? QUICKER * slower < 1 : slower < QUICKER;
  if (!quicker) {
    rest(crew, other, slower);
    for (int level = other - 1; other < best && slower > MUCH_SLOWER && level >= 0; level--)
      rest(crew, level, slower *= 2);
    return;
  }
  crew->fewer = all - other;
  rest(crew, best, 1 / slower);
  try_soon(crew, other > best ? other + 1 : other - 1, all);
}

/* The best took `now`: whether it is still so, and what else there is to be tried. */
static void look_again(Crew *crew, int all, double before, double now) {
  if (now > LONG_PIECE) {
    crew->fewer = 0;
    for (int level = 0; level < all; level++) crew->due[level] = crew->pieces + REST_PIECES;
  } else if (before > 0 && (now > OTHER_PIECE * before || before > OTHER_PIECE * now)) {
    try_soon(crew, all - crew->fewer - 1, all);
    try_soon(crew, all - crew->fewer + 1, all);
  }
  crew->due[all - crew->fewer] = INT64_MAX; /* it is watched */
}

/* At the end of a trial, or when the best was watched for a while. */
static void judge(Crew *crew, int all) {
  int best = all - crew->fewer;
  double before = crew->time[crew->level], now = crew->time[crew->level] = crew->quickest;
  if (crew->level != best) { /* now the best, in the same caches and with as much to do */
    crew->against = all - crew->level;
    crew->pair = true;
    begin_trial(crew, best);
    return;
  }
  if (crew->pair && now <= LONG_PIECE) compare(crew, all);
  crew->pair = false;
  look_again(crew, all, before, now);
  crew->watched = 0;
  crew->quickest = INFINITY;
}

void crew_note(Crew *crew, int all, double seconds) {
  crew->pieces++;
  if (crew->left != TRIAL_PIECES) crew->quickest = fmin(crew->quickest, seconds);
  if (crew->left > 0 ? --crew->left == 0 : ++crew->watched == WATCHED_PIECES) judge(crew, all);
}

void crew_begin(Crew *crew, Pool *pool) {
  int all = level_of_all(pool);
  if (all == 0) return;
  int level = crew_choose(crew, all);
  pool_limit(pool, level == all ? 0 : 1 << level);
  crew->began = timer_now();
}

void crew_end(Crew *crew, Pool *pool) {
  int all = level_of_all(pool);
  if (all == 0) return;
  pool_limit(pool, 0);
  crew_note(crew, all, timer_now() - crew->began);
}
