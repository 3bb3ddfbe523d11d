#include "methods/common/position_search.h"

#include <string.h>

#include "core/parallel.h"
#include "methods/common/position.h"
#include "methods/common/position_contacts.h"

enum { SAMPLES_CHUNK = 64, FINDS_FEW = 4096, FINDS_FIRST = 12, FINDS_SPARE = 8, FINDS_PIECE = 2048 };

void position_search_destroy(Core *core, PositionSearch *search) {
  bins_destroy(core, &search->bins);
  memory_drop(core, &search->boundary);
}

void position_search_forget(PositionSearch *search) { search->next_id = 0; }

static void survey_radii(Core *core, const Particles *p, PositionSearch *search) {
  if (search->next_id == p->next_id && search->count == p->count) return;
  search->radius = KERNEL_CALL(core, position_radii)(p->radius, p->count, &search->differ);
  search->next_id = p->next_id;
  search->count = p->count;
}

static BinPoints grains_predicted(const Particles *p) {
  return (BinPoints){p->count, p->x, p->y, p->z, p->dx, p->dy, p->dz, NULL};
}

PositionReach position_survey_reach(PositionStep *work) {
  const State *state = work->step->state;
  survey_radii(work->step->core, &state->particles, work->search);
  float radius = work->search->radius, other = radius;
  if (state->samples.count > 0 && state->samples.radius > radius) other = state->samples.radius;
  return (PositionReach){radius + other + work->margin, work->search->differ || other != radius};
}

Status position_search_fill(PositionStep *work) {
  const Particles *p = &work->step->state->particles;
  const PositionReach reach = position_survey_reach(work);
  BinPoints points = grains_predicted(p);
  if (reach.differ) points.radius = p->radius;
  return bins_fill(work->step->core, work->step->scratch, points, reach.most, work->margin, &work->search->bins);
}

/* What queries [b, e) find, and how many each: in `few`, or, where that is not enough, in memory that is to be freed.
 * NULL: there is none. */
static int32_t *search_block(Core *core, const SearchJob *job, int64_t b, int64_t e, int32_t few[FINDS_FEW],
                             int32_t *count) {
  int32_t *out = few;
  int64_t room = FINDS_FEW;
  while (out && KERNEL_CALL(core, position_search_pass)(job, b, e, room, out, count) < e) {
    if (out != few) memory_free(&core->memory, out);
    out = memory_get(&core->memory, room *= 4, sizeof *out, "pairs that may touch");
  }
  return out;
}

/* Finds of queries [b, e), one behind the other, to where the room says, as many queries as fit there. Returns where it
 * stopped. */
static int64_t put_finds(SearchFinds *finds, SearchRoom *room, int64_t b, int64_t e, const int32_t *out,
                         const int32_t *count) {
  const int32_t *order = search_order(&finds->job);
  int64_t place = room->at, last = room->end - LANES, k = b;
  for (; k < e && place + count[k - b] <= last; k++) {
    int64_t i = order ? order[k] : k;
    finds->start[i] = (int32_t)place;
    finds->count[i] = count[k - b];
    place += count[k - b];
  }
  if (room->end <= finds->room) memcpy(finds->found + room->at, out, sizeof *out * (size_t)(place - room->at));
  room->at = place;
  return k;
}

/* Found where it stands in nobody's way, and put behind what the thread has found before. Where that is depends on the
 * threads; what it is does not. */
static void search_chunk(void *context, int64_t b, int64_t e, int thread) {
  SearchFinds *finds = context;
  SearchRoom *room = &finds->rooms[thread];
  int32_t few[FINDS_FEW], count[SEARCH_BLOCK], *out = search_block(finds->core, &finds->job, b, e, few, count);
  if (!out) {
    atomic_store(&finds->no_memory, true);
    return;
  }
  const int32_t *from = out;
  for (int64_t k = b; k < e;) {
    int64_t at = room->at;
    k = put_finds(finds, room, k, e, from, count + (k - b));
    from += room->at - at;
    if (k == e) break;
    int64_t piece = count[k - b] + LANES > FINDS_PIECE ? count[k - b] + LANES : FINDS_PIECE;
    search_room_renew(room, piece, &finds->used);
  }
  if (out != few) memory_free(&finds->core->memory, out);
}

/* Searches for all queries, a second time when it did not have room for what they found. `body` does so for a chunk. */
static Status search_all(SearchFinds *finds, Scratch *scratch, const ParallelShares *shares, int64_t chunk,
                         int64_t guess, ParallelBody body, void *context) {
  int64_t queries = finds->job.queries.count, threads = pool_threads(finds->core->pool);
  TRY(scratch_take(finds->core, scratch, &finds->rooms, threads, "pairs that may touch"));
  int mark = scratch_mark(scratch);
  for (;; scratch_release(finds->core, scratch, mark)) {
    TRY(scratch_take(finds->core, scratch, &finds->found, guess, "pairs that may touch"));
    finds->room = guess;
    finds->used = 0;
    memset(finds->rooms, 0, sizeof *finds->rooms * (size_t)threads);
    parallel_for_shares(finds->core, shares, 0, queries, chunk, body, context);
    if (finds->no_memory || finds->used > INT32_MAX)
      return fail(finds->core, SCREE_NO_MEMORY, "out of memory: neighbours of %lld points", (long long)queries);
    if (finds->used <= guess) return SCREE_OK;
    guess = finds->used + threads * FINDS_PIECE; /* the last pieces may end elsewhere */
  }
}

Status position_search_pairs(PositionStep *work) {
  PositionSearch *search = work->search;
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  const Particles *p = &work->step->state->particles;
  BinPoints grains = grains_predicted(p);
  grains.radius = p->radius;
  SearchFinds *finds = &work->candidates.pairs;
  *finds = (SearchFinds){
      .core = core, .job = {&search->bins, grains, grains, true, work->margin}, .count = work->candidates.pair_count};
  TRY(scratch_take(core, scratch, &finds->start, work->padded, "pairs that may touch"));
  for (int64_t i = work->count; i < work->padded; i++) finds->start[i] = finds->count[i] = 0;
  int64_t spare = search->pairs / FINDS_SPARE, pieces = pool_threads(core->pool) * FINDS_PIECE;
  int64_t guess = search->pairs > 0 ? search->pairs + (spare > pieces ? spare : pieces) : FINDS_FIRST * work->padded;
  TRY(search_all(finds, scratch, work->borders.shares, SEARCH_BLOCK, guess, search_chunk, finds));
  search->pairs = finds->used;
  return SCREE_OK;
}

typedef struct SampleSearch {
  PositionStep *work;
  float *at[3], *radius;
  SearchFinds finds;
} SampleSearch;

/* Where samples are predicted to be: bodies that grains can move stand where the step began, the others where it ends.
 */
static void predict_samples(const SampleSearch *search, int64_t b, int64_t e) {
  const State *state = search->work->step->state;
  const SolidSamples *s = &state->samples;
  for (int64_t k = b; k < e; k++) {
    const Solid *solid = &state->solids.items[s->solid[k]];
    const PositionBody *body = &search->work->bodies.items[s->solid[k]];
    float at[3] = {s->x[k], s->y[k], s->z[k]};
    if (body->movable) {
      const Vec3 from = vec3((double)at[0], (double)at[1], (double)at[2]);
      const Vec3 way = boundary_sample_way(position_sample_body(state, solid, body), from).way;
      at[0] += (float)way.x;
      at[1] += (float)way.y;
      at[2] += (float)way.z;
    }
    for (int axis = 0; axis < 3; axis++) search->at[axis][k] = at[axis];
    search->radius[k] = s->radius;
  }
}

static void sample_chunk(void *context, int64_t b, int64_t e, int thread) {
  SampleSearch *search = context;
  predict_samples(search, b, e);
  search_chunk(&search->finds, b, e, thread);
}

/* What samples have found, by windows of grains: samples are near few grains, so that rows for all of them would cost
 * far more. */
static void turn_round(const SearchFinds *finds, int64_t samples, int64_t windows, SampleTouch *found,
                       SampleTouches *touches) {
  int32_t *next = touches->start + 1, place = 0; /* where a window's next goes: in the end, where the next one begins */
  int64_t count = 0;
  memset(touches->start, 0, sizeof *touches->start * (size_t)(windows + 1));
  for (int64_t k = 0; k < samples; k++)
    for (int32_t f = 0; f < finds->count[k]; f++) {
      found[count] = (SampleTouch){finds->found[finds->start[k] + f], (int32_t)k};
      next[found[count++].grain / POSITION_WINDOW]++;
    }
  for (int64_t w = 0; w < windows; w++) {
    int32_t here = next[w];
    next[w] = place;
    place += here;
  }
  for (int64_t t = 0; t < count; t++) touches->touch[next[found[t].grain / POSITION_WINDOW]++] = found[t];
}

bool position_window_samples(const SampleTouches *touches, int64_t window, int32_t *first) {
  if (!touches->start || touches->start[window] == touches->start[window + 1]) return false;
  int32_t *next = first + 1, place = touches->start[window], end = touches->start[window + 1];
  memset(first, 0, sizeof *first * (POSITION_WINDOW + 1));
  for (int32_t t = place; t < end; t++) next[touches->touch[t].grain % POSITION_WINDOW]++;
  first[0] = place;
  for (int64_t k = 0; k < POSITION_WINDOW; k++) {
    int32_t here = next[k];
    next[k] = place;
    place += here;
  }
  for (int32_t t = first[0]; t < end; t++) {
    SampleTouch touch = touches->touch[t];
    touches->sample[next[touch.grain % POSITION_WINDOW]++] = touch.sample;
  }
  return true;
}

Status position_search_samples(PositionStep *work) {
  const State *state = work->step->state;
  const SolidSamples *s = &state->samples;
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  BinPoints grains = grains_predicted(&state->particles);
  grains.radius = state->particles.radius;
  SampleSearch search = {.work = work};
  SampleTouches *touches = &work->candidates.samples;
  if (s->count == 0 || work->count == 0) return SCREE_OK;
  for (int axis = 0; axis < 3; axis++) TRY(scratch_take(core, scratch, &search.at[axis], s->count, "samples"));
  TRY(scratch_take(core, scratch, &search.radius, s->count, "samples"));
  TRY(scratch_take(core, scratch, &search.finds.start, s->count, "samples"));
  TRY(scratch_take(core, scratch, &search.finds.count, s->count, "samples"));
  search.finds.core = core;
  search.finds.job =
      (SearchJob){.bins = &work->search->bins,
                  .grains = grains,
                  .queries = {s->count, search.at[0], search.at[1], search.at[2], .radius = search.radius},
                  .margin = work->margin};
  TRY(search_all(&search.finds, scratch, NULL, SAMPLES_CHUNK, FINDS_FIRST * (s->count + LANES), sample_chunk, &search));
  int64_t found = 0, windows = parallel_chunks(0, work->count, POSITION_WINDOW);
  for (int64_t k = 0; k < s->count; k++) found += search.finds.count[k];
  if (found == 0) return SCREE_OK;
  SampleTouch *unsorted = NULL;
  TRY(scratch_take(core, scratch, &touches->start, windows + 1, "samples"));
  TRY(scratch_take(core, scratch, &touches->touch, found, "samples"));
  TRY(scratch_take(core, scratch, &touches->sample, found, "samples"));
  TRY(scratch_take(core, scratch, &unsorted, found, "samples"));
  turn_round(&search.finds, s->count, windows, unsorted, touches);
  return SCREE_OK;
}
