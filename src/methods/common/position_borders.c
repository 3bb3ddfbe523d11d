#include "methods/common/position_borders.h"

#include <string.h>

enum {
  BORDERS_PER = 16,  /* grains, one second row; they are asked for by windows, and who comes too late has none */
  CROSSINGS_PER = 4, /* grains, one crossing */
  BORDERS_PIECE = 128,
  CROSSINGS_PIECE = 512
};

/* What the passes take for a window: a slice takes about as long as a row of slots, be they many or none. */
static int64_t cost_of(const PositionWindow *window) { return window->rows + POSITION_WINDOW / SLICE; }

void position_share_out(PositionStep *work) {
  const int64_t windows = parallel_chunks(0, work->padded, POSITION_WINDOW);
  const int threads = pool_threads(work->step->core->pool);
  ParallelShares *shares = &work->search->shares;
  if (threads == 1 || windows == 0) return;
  int64_t all = 0, before = 0, window = 0;
  for (int64_t w = 0; w < windows; w++) all += cost_of(&work->layout.windows[w]);
  for (int t = 0; t < threads; t++) {
    while (before * threads < all * t) before += cost_of(&work->layout.windows[window++]);
    shares->begin[t] = window;
  }
  shares->whole = shares->begin[threads] = windows;
  work->borders.shares = shares;
}

PositionShare position_share_of(const PositionStep *work, int64_t window) {
  const ParallelShares *shares = work->borders.shares;
  int t = 0;
  if (!work->borders.of) return (PositionShare){0, INT32_MAX};
  while (shares->begin[t + 1] <= window) t++;
  return (PositionShare){(int32_t)(shares->begin[t] * POSITION_WINDOW),
                         (int32_t)(shares->begin[t + 1] * POSITION_WINDOW)};
}

Status position_take_borders(PositionStep *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  const int threads = pool_threads(core->pool);
  if (threads == 1 || !work->settings->second_rows || work->settings->iterations == 0) return SCREE_OK;
  work->borders.used = threads * BORDERS_PIECE;
  work->borders.crossings_used = threads * CROSSINGS_PIECE;
  work->borders.room = work->padded / BORDERS_PER + work->borders.used;
  work->borders.crossing_room = work->padded / CROSSINGS_PER + work->borders.crossings_used;
  TRY(scratch_take(core, scratch, &work->borders.rooms, threads, "borders"));
  for (int t = 0; t < threads; t++)
    work->borders.rooms[t] = (PositionRooms){.borders = {t * BORDERS_PIECE, (t + 1) * BORDERS_PIECE},
                                             .crossings = {t * CROSSINGS_PIECE, (t + 1) * CROSSINGS_PIECE}};
  TRY(scratch_take(core, scratch, &work->borders.of, work->padded + POSITION_WINDOW, "borders"));
  TRY(scratch_take(core, scratch, &work->borders.grain, work->borders.room, "borders"));
  return scratch_take(core, scratch, &work->borders.crossings, work->borders.crossing_room, "borders");
}

/* Room for so many: where it begins, -1 where there is none. Every thread has a piece of its own to begin with, the
 * same in every step: its lines are in its cache. */
static int64_t take_room(SearchRoom *room, int64_t count, int64_t piece, int64_t all, _Atomic int64_t *used) {
  if (room->at + count > room->end) search_room_renew(room, piece, used);
  int64_t at = room->at;
  if (at + count > room->end || room->end > all) return -1;
  room->at += count;
  return at;
}

void position_keep_borders(PositionStep *work, int64_t b, const PositionFound *found, int thread) {
  PositionWindow *window = position_window(work, b * SLICE);
  if (!work->borders.of) return;
  memset(work->borders.of + b * SLICE, 0, sizeof *work->borders.of * POSITION_WINDOW);
  memset(window->border, 0, sizeof window->border);
  memset(window->crossing, 0, sizeof window->crossing);
  int32_t borders = found->borders[1], crossings = found->crossings[1];
  if (crossings == 0) return;
  PositionRooms *rooms = &work->borders.rooms[thread];
  int64_t border = take_room(&rooms->borders, borders, BORDERS_PIECE, work->borders.room, &work->borders.used);
  int64_t crossing = take_room(&rooms->crossings, crossings, CROSSINGS_PIECE, work->borders.crossing_room,
                               &work->borders.crossings_used);
  if (border >= 0) {
    for (int k = 0; k < 3; k++) window->border[k] = (int32_t)border + (k > 0 ? found->borders[k - 1] : 0);
    memcpy(work->borders.grain + border, found->border, sizeof *found->border * (size_t)borders);
    for (int32_t k = 0; k < borders; k++) work->borders.of[found->border[k]] = (uint16_t)(k + 1);
  }
  if (crossing >= 0) {
    for (int k = 0; k < 3; k++) window->crossing[k] = (int32_t)crossing + (k > 0 ? found->crossings[k - 1] : 0);
    memcpy(work->borders.crossings + crossing, found->crossing, sizeof *found->crossing * (size_t)crossings);
  }
}

/* All are called for first: they come from another core. */
void position_set_crossings(PositionStep *work, const PositionWindow *window) {
  int32_t first = window->crossing[0], end = window->crossing[2], *partner = work->layout.slots.partner;
  if (!work->borders.of) return;
  for (int32_t c = first; c < end; c++) {
    __builtin_prefetch(work->borders.of + partner[work->borders.crossings[c]]);
    __builtin_prefetch(position_window(work, partner[work->borders.crossings[c]]));
  }
  for (int32_t c = first; c < end; c++) {
    int32_t slot = work->borders.crossings[c], border = work->borders.of[partner[slot]];
    if (border > 0)
      partner[slot] = (int32_t)work->padded + position_window(work, partner[slot])->border[0] + border - 1;
  }
}

/* Halves of a window that slices [b, e) are: from `first` up to `last`. */
typedef struct Halves {
  int first, last;
} Halves;

static Halves halves_of(int64_t b, int64_t e) {
  int first = (int)(b / POSITION_CHUNK % 2);
  return (Halves){first, e - b > POSITION_CHUNK ? 2 : first + 1};
}

void position_copy_borders(const PositionStep *work, int64_t b, int64_t e, float (*rows)[4]) {
  const PositionWindow *window = position_window(work, b * SLICE);
  const Halves halves = halves_of(b, e);
  if (!work->borders.of) return;
  for (int32_t k = window->border[halves.first]; k < window->border[halves.last]; k++)
    memcpy(rows[work->padded + k], rows[work->borders.grain[k]], sizeof *rows);
}

void position_clear_crossings(const PositionStep *work, int64_t b, int64_t e) {
  const PositionWindow *window = position_window(work, b * SLICE);
  const Halves halves = halves_of(b, e);
  if (!work->borders.of) return;
  for (int32_t c = window->crossing[halves.first]; c < window->crossing[halves.last]; c++) {
    int32_t *partner = &work->layout.slots.partner[work->borders.crossings[c]];
    *partner = position_partner(work, *partner);
  }
}
