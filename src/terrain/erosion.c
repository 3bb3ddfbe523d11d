/* Erosion (Section 4.3): slopes that are too steep move material down until they are not.
 *
 * The print moves material on slopes above theta_out and repeats until all are below theta_stop, by the average height
 * difference to the neighbours times a fraction, in equal parts. Departures:
 * - The slope is atan(dh / d); the print has atan(dh) / d.
 * - A column begins to slide when a slope is above the greater of the two angles and slides until all its slopes are
 *   below the smaller: that ends for any order of the two, and they mean what they do in sand, where a slope starts at
 *   a steeper angle than it stops at.
 * - The difference is taken above the angle at which sliding ends, not above level ground: the print's pass would
 *   flatten what should rest at its angle.
 * All columns move at once from the same heights, each gathers what comes to it: the result does not depend on threads
 * or on an order of columns. Units of mass are whole numbers: nothing is lost. */
#include <string.h>

#include "core/parallel.h"
#include "terrain/parts.h"

/* Sliding begins and ends this much above its angles, in parts of the slope: what is moved goes towards the angle by a
 * share each time and would never quite be there. */
#define BEGIN_ABOVE 2e-3
#define END_ABOVE 1e-3

typedef struct Erosion {
  Ground *ground;
  State *state;
  Heightfield *field;
  int32_t tile_count;
} Erosion;

static bool takes_part(const Terrain *t, int64_t k) { return !t->covered[k] && !t->loaded[k]; }

/* What leaves column k in this pass. */
static void slide_column(const Erosion *work, int32_t i, int32_t j) {
  Ground *g = work->ground;
  Terrain *t = work->state->terrain;
  const double *heights = work->field->heights;
  int64_t k = column_at(t, i, j);
  if (!takes_part(t, k) || t->mass[k] == 0) {
    t->sliding[k] = 0;
    return;
  }
  double sum = 0;
  bool begins = false, goes_on = false;
  int count = 0;
  uint8_t mask = 0;
  for (int n = 0; n < 8; n++) {
    if (!column_exists(t, i + NEIGHBOR_X[n], j + NEIGHBOR_Y[n])) continue;
    int64_t other = column_at(t, i + NEIGHBOR_X[n], j + NEIGHBOR_Y[n]);
    if (!takes_part(t, other)) continue;
    double run = neighbor_distance(n) * t->cell, drop = heights[k] - heights[other];
    begins |= drop > g->tan_high * run * (1 + BEGIN_ABOVE) + 1e-9 * t->cell;
    goes_on |= drop > g->tan_low * run * (1 + END_ABOVE) + 1e-9 * t->cell;
    double excess = drop - g->tan_low * run;
    if (!(excess > 0)) continue;
    sum += excess;
    count++;
    mask |= (uint8_t)(1u << n);
  }
  t->sliding[k] = begins || (t->sliding[k] && goes_on);
  if (!t->sliding[k] || count == 0) return;
  double lowered = fmin(g->fraction * sum / count, heights[k]);
  double wanted = lowered * t->area * t->bulk[k] / t->unit;
  int64_t units = wanted < (double)t->mass[k] ? (int64_t)wanted : t->mass[k];
  g->moves[k] = units / count;
  g->mask[k] = g->moves[k] > 0 ? mask : 0;
}

static void each_column(const Erosion *work, int32_t tile, void (*visit)(const Erosion *, int32_t, int32_t)) {
  const Terrain *t = work->state->terrain;
  int32_t x0 = tile % t->tiles_x * TERRAIN_TILE, y0 = tile / t->tiles_x * TERRAIN_TILE;
  for (int32_t j = y0; j < y0 + TERRAIN_TILE && j < t->ny; j++)
    for (int32_t i = x0; i < x0 + TERRAIN_TILE && i < t->nx; i++) visit(work, i, j);
}

static void slide_tiles(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Erosion *work = context;
  for (int64_t n = b; n < e; n++)
    if (work->ground->may_slide[work->ground->tiles[n]]) each_column(work, work->ground->tiles[n], slide_column);
}

/* Masks are zero but within a pass, so that a gathering column may look at any neighbour. */
static void forget_column(const Erosion *work, int32_t i, int32_t j) {
  work->ground->mask[column_at(work->state->terrain, i, j)] = 0;
}

static void forget_tiles(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Erosion *work = context;
  for (int64_t n = b; n < e; n++) each_column(work, work->ground->tiles[n], forget_column);
}

/* What column k loses and gets. */
static void gather_column(const Erosion *work, int32_t i, int32_t j) {
  Ground *g = work->ground;
  Terrain *t = work->state->terrain;
  int64_t k = column_at(t, i, j), gained = 0, lost = g->mask[k] ? g->moves[k] * __builtin_popcount(g->mask[k]) : 0;
  for (int n = 0; n < 8; n++) {
    if (!column_exists(t, i + NEIGHBOR_X[n], j + NEIGHBOR_Y[n])) continue;
    int64_t other = column_at(t, i + NEIGHBOR_X[n], j + NEIGHBOR_Y[n]);
    if (g->mask[other] >> NEIGHBOR_OPPOSITE(n) & 1) gained += g->moves[other];
  }
  if (gained == 0 && lost == 0) return;
  t->mass[k] -= lost;
  ground_add(t, k, gained, t->loose);
  if (t->mass[k] == 0) t->bulk[k] = t->loose;
  double full = terrain_full(t, k);
  if (t->pending[k] > full) t->pending[k] = full;
  work->field->heights[k] = full - t->pending[k];
  g->changed[j / TERRAIN_TILE * t->tiles_x + i / TERRAIN_TILE] = 1; /* of this thread's tile */
}

static void gather_tiles(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Erosion *work = context;
  for (int64_t n = b; n < e; n++) each_column(work, work->ground->tiles[n], gather_column);
}

/* Tiles within so many tiles of a marked one, ascending. */
static int32_t list_tiles(const Terrain *t, const uint8_t *marked, int32_t reach, int32_t *list) {
  int32_t count = 0;
  for (int32_t j = 0; j < t->tiles_y; j++)
    for (int32_t i = 0; i < t->tiles_x; i++) {
      bool near = false;
      for (int32_t b = j - reach; b <= j + reach && !near; b++)
        for (int32_t a = i - reach; a <= i + reach && !near; a++)
          near = a >= 0 && b >= 0 && a < t->tiles_x && b < t->tiles_y && marked[(int64_t)b * t->tiles_x + a];
      if (near) list[count++] = j * t->tiles_x + i;
    }
  return count;
}

/* One pass; returns whether anything moved. Columns may slide in tiles that are awake or beside one; what they move
 * arrives at most one tile farther. */
static bool erosion_pass(Core *core, Erosion *work) {
  Ground *g = work->ground;
  Terrain *t = work->state->terrain;
  int64_t all = (int64_t)t->tiles_x * t->tiles_y;
  if (!memchr(t->awake, 1, (size_t)all)) return false;
  memset(g->changed, 0, (size_t)all);
  memset(g->may_slide, 0, (size_t)all);
  int32_t sliding = list_tiles(t, t->awake, 1, g->tiles);
  for (int32_t n = 0; n < sliding; n++) g->may_slide[g->tiles[n]] = 1;
  work->tile_count = list_tiles(t, t->awake, 2, g->tiles);
  parallel_for(core, 0, work->tile_count, 2, slide_tiles, work);
  parallel_for(core, 0, work->tile_count, 2, gather_tiles, work);
  parallel_for(core, 0, work->tile_count, 2, forget_tiles, work);
  memcpy(t->awake, g->changed, (size_t)all);
  return memchr(t->awake, 1, (size_t)all) != NULL;
}

int ground_erode(Core *core, Ground *ground, State *state, int passes) {
  Erosion work = {ground, state, ground_field(state), 0};
  int done = 0;
  while (done < passes && erosion_pass(core, &work)) done++;
  if (done > 0) {
    heightfield_bound(ground_field(state));
    shape_bound_heights(&state->solids.items[state->terrain->solid].shape);
  }
  return done;
}
