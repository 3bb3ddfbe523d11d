/* Displacement (Section 4.2): bodies press columns down; a share is compacted, the rest goes to the nearest columns
 * outside of the contact.
 *
 * Contact is felt for by rays from below, four to a column, so any body will do, convex or not: what a body leaves to
 * the column is what lies below its underside (a column cannot hold material on top of a body: with exchange that
 * becomes grains first). Columns pass their material outward ring by ring, to those neighbours that are one ring nearer
 * to the rim, until it arrives outside (Sumner et al. 1999); the print puts it all into one ring. */
#include <string.h>

#include "core/parallel.h"
#include "terrain/parts.h"

enum { ROW_CHUNK = 4 };

typedef struct Feeling {
  Ground *ground;
  State *state;
  const Solid *solid;
  ColumnRange range;
  double from; /* height at which the rays start */
} Feeling;

static void feel_rows(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Feeling *f = context;
  Terrain *t = f->state->terrain;
  const double *heights = ground_field(f->state)->heights;
  for (int64_t j = b; j < e; j++)
    for (int32_t i = f->range.x0; i < f->range.x1; i++) {
      int64_t k = column_at(t, i, (int32_t)j);
      double left = 0;
      bool touched = false;
      for (int ray = 0; ray < 4; ray++) {
        double x = (i + (ray & 1 ? 0.75 : 0.25)) * t->cell, y = ((double)j + (ray & 2 ? 0.75 : 0.25)) * t->cell;
        double under = ground_underside(f->state, f->solid, x, y, f->from);
        touched |= under < heights[k];
        left += 0.25 * fmax(0, fmin(under, heights[k]));
      }
      if (!touched) continue;
      f->ground->target[k] = t->covered[k] ? fmin(f->ground->target[k], left) : left;
      t->covered[k] = 1;
    }
}

/* Marks covered columns and what is left to them. */
static void feel_bodies(Core *core, Ground *ground, State *state) {
  Terrain *t = state->terrain;
  const Heightfield *field = ground_field(state);
  memset(t->covered, 0, (size_t)t->count);
  for (int32_t s = 0; s < ground->surface_count; s++) {
    const Solid *solid = &state->solids.items[s];
    Vec3 low, high;
    if (!ground_feels(ground, state, s)) continue;
    ground_body_box(state, solid, &low, &high);
    Feeling feeling = {ground, state, solid, {0}, fmin(low.z, 0) - t->cell};
    if (low.z > field->highest || !ground_range(state, low, high, 0, &feeling.range)) continue;
    parallel_for(core, feeling.range.y0, feeling.range.y1, ROW_CHUNK, feel_rows, &feeling);
  }
}

/* Lists the covered columns in rings from the rim inward and says how high the ground stands round each. */
static int32_t list_rings(Ground *g, State *state) {
  Terrain *t = state->terrain;
  const double *heights = ground_field(state)->heights;
  int32_t covered = 0, count = 0;
  for (int64_t k = 0; k < t->count; k++) {
    g->level[k] = t->covered[k] ? -1 : 0;
    covered += t->covered[k];
  }
  for (int32_t ring = 1, begin = 0; count < covered; ring++) {
    int32_t end = count;
    for (int32_t n = ring == 1 ? 0 : begin; ring == 1 ? n < t->count : n < end; n++) {
      /* first ring: every covered column beside an open one; others: neighbours of the ring before */
      for (int m = 0; m < (ring == 1 ? 1 : 8); m++) {
        int64_t k = ring == 1 ? n : column_neighbor(t, g->list[n], m);
        if (k < 0 || g->level[k] != -1) continue;
        double sum = 0;
        int found = 0;
        for (int d = 0; d < 8; d++) {
          int64_t other = column_neighbor(t, k, d);
          if (other < 0 || g->level[other] != ring - 1) continue;
          sum += ring == 1 ? heights[other] : t->around[other];
          found++;
        }
        if (found == 0) continue;
        g->level[k] = ring;
        t->around[k] = sum / found;
        g->list[count++] = (int32_t)k;
      }
    }
    if (count == end) break; /* covered from border to border: nowhere to go */
    begin = end;
  }
  return count;
}

/* Lowers a column to what is left to it; returns what it gives away. */
static int64_t press_column(const Ground *g, State *state, int64_t k) {
  Terrain *t = state->terrain;
  double height = ground_field(state)->heights[k], target = g->target[k];
  if (!(target < height)) return 0;
  int64_t mass = t->mass[k];
  double bulk = terrain_kg(t, mass) / (t->area * height); /* what was pending is pressed together */
  int64_t given = terrain_units_of(t, (1 - g->compaction) * (height - target) * t->area * bulk);
  int64_t most = terrain_units_of(t, g->densest * t->area * target); /* that can stay */
  if (given > mass) given = mass;
  if (mass - given > most) given = mass - most;
  t->mass[k] = mass - given;
  t->pending[k] = 0;
  t->bulk[k] = t->mass[k] > 0 ? terrain_kg(t, t->mass[k]) / (t->area * target) : t->loose;
  ground_show(state, k);
  return given;
}

/* Hands units on in equal parts to the neighbours of the ring before. */
static void pass_on(Ground *g, State *state, int64_t k, int64_t units) {
  Terrain *t = state->terrain;
  int64_t to[8];
  int count = 0;
  for (int d = 0; d < 8; d++) {
    int64_t other = column_neighbor(t, k, d);
    if (other >= 0 && g->level[other] == g->level[k] - 1) to[count++] = other;
  }
  for (int n = 0; n < count; n++) {
    int64_t part = units / count + (n < units % count);
    if (g->level[to[n]] > 0) {
      g->moves[to[n]] += part;
      continue;
    }
    ground_add(t, to[n], part, t->loose);
    ground_show(state, to[n]);
    ground_wake(t, to[n]);
  }
}

Status ground_press(Core *core, Ground *g, State *state, Scratch *scratch) {
  Terrain *t = state->terrain;
  int mark = scratch_mark(scratch);
  uint8_t *before = NULL;
  TRY(scratch_take(core, scratch, &before, t->count, "covered"));
  memcpy(before, t->covered, (size_t)t->count);
  feel_bodies(core, g, state);
  for (int64_t k = 0; k < t->count; k++)
    if (before[k] != t->covered[k]) ground_wake(t, k);
  scratch_release(core, scratch, mark);
  if (!memchr(t->covered, 1, (size_t)t->count)) return SCREE_OK;
  int32_t count = list_rings(g, state);
  for (int32_t n = 0; n < count; n++) g->moves[g->list[n]] = 0;
  for (int32_t n = count - 1; n >= 0; n--) {
    int64_t k = g->list[n], units = g->moves[k] + press_column(g, state, k);
    if (units > 0) pass_on(g, state, k, units);
  }
  return SCREE_OK;
}
