/* Which grains, and which samples of solids, a grain may touch in the step: looked for anew in every step. */
#ifndef METHODS_COMMON_POSITION_SEARCH_H
#define METHODS_COMMON_POSITION_SEARCH_H

#include <stdatomic.h>

#include "core/parallel.h"
#include "core/scratch.h"
#include "neighbors/bins.h"
#include "state/state.h"

/* What of the search lives across steps: memory that is used again, and what need not be looked at again. */
typedef struct PositionSearch {
  Bins bins;
  int64_t pairs; /* that may touch, in the last step */
  struct BoundaryContact *boundary;
  ParallelShares shares;
  /* Radii are born with the grains: they are what they were for as long as none was born and none died. */
  int64_t count;
  uint32_t next_id; /* with the count, when they were looked at; 0: they are not known */
  float radius;     /* the largest */
  bool differ;
} PositionSearch;

void position_search_destroy(Core *core, PositionSearch *search);
/* There are other grains now: a checkpoint was read. */
void position_search_forget(PositionSearch *search);

enum { SEARCH_BLOCK = 64 }; /* queries that are looked for at a time, at most */

/* What is looked for: queries among grains. */
typedef struct SearchJob {
  const Bins *bins;
  BinPoints grains, queries;
  bool same;    /* the queries are the grains, and none finds itself */
  float margin; /* beyond the radii: looked at where bins only fall together */
} SearchJob;

/* Grains look for each other bin by bin, so that those of a bin share what is the same for them: the order of the
 * queries. NULL: their own, for others and where bins are hashed. */
static inline const int32_t *search_order(const SearchJob *job) {
  return job->same && !job->bins->hashed ? job->bins->index : NULL;
}

/* Where a thread puts what it finds: a piece of what there is room for, nobody else's. */
typedef struct SearchRoom {
  _Alignas(64) int64_t at;
  int64_t end;
} SearchRoom;

/* The next piece. */
static inline void search_room_renew(SearchRoom *room, int64_t piece, _Atomic int64_t *used) {
  room->at = atomic_fetch_add_explicit(used, piece, memory_order_relaxed);
  room->end = room->at + piece;
}

/* What queries found. Each has `count` grains from `start` on. */
typedef struct SearchFinds {
  Core *core;
  SearchJob job;
  int32_t *start, *count;
  int32_t *found;
  int64_t room;
  SearchRoom *rooms;                 /* per thread */
  _Alignas(64) _Atomic int64_t used; /* or wanted: more than there is room for. Not on a line that all read */
  atomic_bool no_memory;
} SearchFinds;

typedef struct PositionStep PositionStep;

/* The largest reach of two grains, or of a grain and a sample; whether their radii differ. */
typedef struct PositionReach {
  float most;
  bool differ;
} PositionReach;
/* Looks at the radii, where that has to be. */
PositionReach position_survey_reach(PositionStep *work);
/* Bins for the predicted places of the grains. */
Status position_search_fill(PositionStep *work);
/* Searches for all grains. In scratch. */
Status position_search_pairs(PositionStep *work);

/* A grain and a sample that may touch. */
typedef struct SampleTouch {
  int32_t grain, sample;
} SampleTouch;
/* Window by window of grains: [start[w], start[w + 1]), by ascending samples. start is NULL where nobody has any. */
typedef struct SampleTouches {
  int32_t *start;
  SampleTouch *touch;
  int32_t *sample; /* room to sort a window's by grains */
} SampleTouches;
/* In scratch. Once the bodies of the step are known. */
Status position_search_samples(PositionStep *work);
/* The samples of a window's grains: of the k-th, sample[first[k] .. first[k + 1]), ascending. Returns whether there are
 * any. */
bool position_window_samples(const SampleTouches *touches, int64_t window, int32_t *first);

/* Queries [b, e) in their order, at most SEARCH_BLOCK: their finds one behind the other, and how many each has. Returns
 * where it stopped: there was not room enough for the next. */
KERNEL_DECLARE(int64_t, position_search_pass,
               (const SearchJob *job, int64_t b, int64_t e, int64_t room, int32_t *out, int32_t *count));
/* Largest of the radii; whether they differ. */
KERNEL_DECLARE(float, position_radii, (const float *radius, int64_t count, bool *differ));

#endif
