/* Resting grains below the surface layer become ground.
 *
 * Now and then (EXCHANGE_INTERVAL) the columns look for the highest resting grain over them and would rise to LAYER
 * below it, as far as nothing that moves, no body and no grain of another kind is in the way and slopes stay below the
 * angle of repose and that of friction. Grains that the raised surface would reach are taken in, so that none of those
 * left is touched: the exchange lifts nothing. Their mass goes to the four columns round each, exactly.
 *
 * Grains left above come down onto a plane, where before they lay in the gaps between others. The room that they leave
 * is pending: the surface follows them slowly, so slowly that they ride on it, until the bed is as high as before.
 * Where a column would stand too steep for that, it hands on to a lower one what it has not shown. */
#include <string.h>

#include "core/parallel.h"
#include "terrain/parts.h"

enum { REST_CHUNK = 4096 };

/* In nominal radii: grains nearer to the surface of a bed stay grains; a rise is worth it from; clear of a surface;
 * round a grain that moves nothing is taken in; and radii per second at which pending material shows. */
#define LAYER 5.0
#define RISE_LEAST 3.0
#define CLEAR 1.16
#define QUIET 40.0
#define SHOWING_SPEED 6.0
/* In its own radii: nearer to the ground than this a grain lies on it. */
#define TOUCHING 0.5
/* A grain rests when it was slower than this many sqrt(g r) for so long. */
#define REST_SPEED 0.1
#define REST_SECONDS 0.4
#define WAKING 4.0 /* and loses its rest so many times as fast */
/* Bulk densities that buried grains can have come from, over the loose one. */
#define LOOSEST 0.85
#define DENSEST 1.15

typedef struct Burial {
  Core *core;
  Ground *ground;
  State *state;
  double interval, radius;
  float slow2;
  double *top;     /* per column: highest resting grain */
  double *heights; /* of the surface before */
} Burial;

static void rest_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Burial *burial = context;
  const Particles *p = &burial->state->particles;
  float *rest = burial->state->terrain->rest;
  for (int64_t i = b; i < e; i++) {
    if (rest[i] < 0) continue; /* it settles */
    float speed = p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
    /* a grain that only jitters now and then goes on resting */
    float tired = rest[i] - (float)(WAKING * burial->interval), rested = rest[i] + (float)burial->interval;
    rest[i] = speed < burial->slow2 ? fminf(rested, 2 * (float)REST_SECONDS) : fmaxf(tired, 0);
  }
}

/* A grain that could become ground: of its material, at rest, and its mass in whole units. */
static bool can_be_buried(const Burial *burial, int64_t i) {
  const Terrain *t = burial->state->terrain;
  const Particles *p = &burial->state->particles;
  if (p->material[i] != t->material || !(t->rest[i] >= (float)REST_SECONDS)) return false;
  double units = (double)p->mass[i] / t->unit;
  return units < 0x1p53 && units == floor(units);
}

static bool over_field(const Heightfield *field, Vec3 at) {
  return at.x >= 0 && at.y >= 0 && at.x <= heightfield_size_x(field) && at.y <= heightfield_size_y(field);
}

/* Whether a grain lies on the surface. All weight that a column bears comes through such grains: what lies on others
 * is borne by them, and what hangs or flies over it, or lies on a shelf, is none. */
static bool rests_on_ground(const Heightfield *field, const Terrain *t, Vec3 at, double radius) {
  int64_t first = column_of(t, at.x - radius, at.y - radius), last = column_of(t, at.x + radius, at.y + radius);
  double highest = -INFINITY;
  for (int64_t j = first / t->nx; j <= last / t->nx; j++)
    for (int64_t k = j * t->nx + first % t->nx; k <= j * t->nx + last % t->nx; k++)
      highest = fmax(highest, field->heights[k]);
  return at.z - radius < highest + TOUCHING * radius;
}

/* Highest resting grain over every column, and which columns have grains lying on them. */
static void find_tops(const Burial *burial) {
  const State *state = burial->state;
  Terrain *t = state->terrain;
  const Heightfield *field = ground_field(state);
  memcpy(burial->top, field->heights, sizeof(double) * (size_t)t->count);
  memset(t->loaded, 0, (size_t)t->count);
  for (int64_t i = 0; i < state->particles.count; i++) {
    Vec3 at = vec3_sub(state_position(state, i), t->origin);
    double r = (double)state->particles.radius[i];
    if (!over_field(field, at)) continue;
    if (rests_on_ground(field, t, at, r)) ground_load(t, at, r);
    if (!can_be_buried(burial, i)) continue;
    int64_t first = column_of(t, at.x - r, at.y - r), last = column_of(t, at.x + r, at.y + r);
    for (int64_t j = first / t->nx; j <= last / t->nx; j++)
      for (int64_t k = j * t->nx + first % t->nx; k <= j * t->nx + last % t->nx; k++)
        burial->top[k] = fmax(burial->top[k], at.z + r);
  }
}

/* The grains above rest on this column and on nothing else: no wall or body between. */
static bool stands_free(const Burial *burial, int64_t k) {
  const State *state = burial->state;
  const Terrain *t = state->terrain;
  double x = ((double)(k % t->nx) + 0.5) * t->cell, y = ((double)(k / t->nx) + 0.5) * t->cell;
  for (int32_t s = 0; s < state->solids.count; s++) {
    if (s == t->solid) continue;
    const Solid *solid = &state->solids.items[s];
    if (solid->shape.kind == SCREE_SHAPE_PLANE) continue; /* has no underside to lie on */
    if (ground_underside(state, solid, x, y, burial->heights[k]) < burial->top[k] + burial->radius) return false;
  }
  return true;
}

/* How high each column would rise by what lies on it. */
static bool want_rise(const Burial *burial) {
  const Terrain *t = burial->state->terrain;
  double *target = burial->ground->target;
  bool any = false;
  for (int64_t k = 0; k < t->count; k++) {
    double lowest = burial->top[k];
    for (int d = 0; d < 8; d++) {
      int64_t other = column_neighbor(t, k, d);
      if (other >= 0) lowest = fmin(lowest, burial->top[other]);
    }
    target[k] = lowest - LAYER * burial->radius;
    bool rises = target[k] > burial->heights[k] && !t->covered[k] && stands_free(burial, k);
    if (!rises) target[k] = burial->heights[k];
    any |= target[k] - burial->heights[k] > RISE_LEAST * burial->radius;
  }
  return any;
}

/* Columns rise together: those within two of one for which it is worth it. Every rise shakes what lies above a little,
 * so there should be few. */
static bool choose_rising(const Burial *burial) {
  const Terrain *t = burial->state->terrain;
  double *target = burial->ground->target, *rise = burial->top; /* no longer needed */
  bool any = false;
  for (int64_t k = 0; k < t->count; k++) rise[k] = target[k] - burial->heights[k];
  for (int32_t j = 0; j < t->ny; j++)
    for (int32_t i = 0; i < t->nx; i++) {
      bool worth = false;
      for (int32_t b = j - 2; b <= j + 2 && !worth; b++)
        for (int32_t a = i - 2; a <= i + 2 && !worth; a++)
          worth = column_exists(t, a, b) && rise[column_at(t, a, b)] > RISE_LEAST * burial->radius;
      int64_t k = column_at(t, i, j);
      if (!worth) target[k] = burial->heights[k];
      any |= worth;
    }
  return any;
}

/* Columns over which something below the surface layer moves or may not be taken in; returns how many are listed. */
static int32_t find_movers(const Burial *burial) {
  const State *state = burial->state;
  const Terrain *t = state->terrain;
  const Heightfield *field = ground_field(state);
  Ground *g = burial->ground;
  int32_t count = 0;
  for (int64_t k = 0; k < t->count; k++) g->level[k] = -1;
  for (int64_t i = 0; i < state->particles.count; i++) {
    if (can_be_buried(burial, i)) continue;
    Vec3 at = vec3_sub(state_position(state, i), t->origin);
    if (!over_field(field, at)) continue;
    Corners corners = ground_corners(t, at.x, at.y);
    for (int c = 0; c < 4; c++) {
      int64_t k = corners.column[c];
      bool below = at.z < g->target[k] + CLEAR * (double)state->particles.radius[i];
      if (g->level[k] >= 0 || !below) continue;
      g->level[k] = 0;
      g->list[count++] = (int32_t)k;
    }
  }
  return count;
}

/* Where something moves, nothing rises as far as QUIET round it through ground that would rise: a bed that is taken in
 * in patches would be shaken all over. */
static void yield_to_movers(const Burial *burial) {
  const Terrain *t = burial->state->terrain;
  Ground *g = burial->ground;
  int32_t count = find_movers(burial), most = (int32_t)ceil(QUIET * burial->radius / t->cell);
  for (int32_t n = 0; n < count; n++) {
    int64_t k = g->list[n];
    for (int d = 0; d < 8 && g->level[k] < most; d++) {
      int64_t other = column_neighbor(t, k, d);
      if (other < 0 || g->level[other] >= 0 || !(g->target[other] > burial->heights[other])) continue;
      g->level[other] = g->level[k] + 1;
      g->list[count++] = (int32_t)other;
    }
  }
  for (int32_t n = 0; n < count; n++) g->target[g->list[n]] = burial->heights[g->list[n]];
}

/* Slopes that the grains left above rest on: two sweeps each way settle it. */
static void limit_slopes(const Burial *burial) {
  const Terrain *t = burial->state->terrain;
  double *target = burial->ground->target;
  for (int sweep = 0; sweep < 4; sweep++)
    for (int64_t n = 0; n < t->count; n++) {
      int64_t k = sweep & 1 ? t->count - 1 - n : n;
      if (!(target[k] > burial->heights[k])) continue;
      for (int d = 0; d < 8; d++) {
        int64_t other = column_neighbor(t, k, d);
        if (other < 0) continue;
        double most = target[other] + 0.95 * burial->ground->tan_bed * t->cell * neighbor_distance(d);
        if (target[k] > most) target[k] = fmax(most, burial->heights[k]);
      }
    }
}

/* Takes in the grains that the raised surface would reach. */
static Status take_grains(const Burial *burial) {
  State *state = burial->state;
  Terrain *t = state->terrain;
  Particles *p = &state->particles;
  const Heightfield *field = ground_field(state);
  Heightfield raised = *field;
  raised.heights = burial->ground->target;
  memset(burial->ground->moves, 0, sizeof *burial->ground->moves * (size_t)t->count);
  for (int64_t i = 0; i < p->count; i++) {
    if (!can_be_buried(burial, i)) continue;
    Vec3 at = vec3_sub(state_position(state, i), t->origin);
    if (!over_field(field, at)) continue;
    double before = heightfield_height(field, at.x, at.y), after = heightfield_height(&raised, at.x, at.y);
    if (!(after > before + 1e-9 * burial->radius) || at.z >= after + CLEAR * (double)p->radius[i]) continue;
    Corners corners = ground_corners(t, at.x, at.y);
    int64_t parts[4];
    ground_split(&corners, terrain_units_of(t, (double)p->mass[i]), parts);
    for (int c = 0; c < 4; c++) burial->ground->moves[corners.column[c]] += parts[c];
    TRY(queue_bury(burial->core, &state->queue, p->id[i], p->mass[i]));
    t->buried++;
  }
  return SCREE_OK;
}

/* Grains over columns that rise, and beside them, lose what they lay on. */
static void settle_grains(const Burial *burial) {
  const Terrain *t = burial->state->terrain;
  uint8_t *marked = burial->ground->mask; /* zero but within a pass of erosion */
  for (int64_t k = 0; k < t->count; k++) {
    if (burial->ground->moves[k] == 0) continue;
    int32_t i = (int32_t)(k % t->nx), j = (int32_t)(k / t->nx);
    for (int32_t b = j - 2; b <= j + 2; b++)
      for (int32_t a = i - 2; a <= i + 2; a++)
        if (column_exists(t, a, b)) marked[column_at(t, a, b)] = 1;
  }
  ground_settle_over(burial->core, burial->state, marked);
  memset(marked, 0, (size_t)t->count);
}

/* The columns take up what came to them. Grains were taken in up to CLEAR above the new surface: so high was the bed
 * that they were. Its density is the column's. */
static void raise_columns(const Burial *burial) {
  State *state = burial->state;
  Terrain *t = state->terrain;
  for (int64_t k = 0; k < t->count; k++) {
    int64_t units = burial->ground->moves[k];
    if (units == 0) continue;
    double target = burial->ground->target[k],
           volume = t->area * (target + CLEAR * burial->radius - terrain_full(t, k));
    double bulk = volume > 0 ? terrain_kg(t, units) / volume : t->loose;
    ground_add(t, k, units, fmin(fmax(bulk, LOOSEST * t->loose), DENSEST * t->loose));
    t->pending[k] = fmax(0, terrain_full(t, k) - target);
    ground_show(state, k);
    ground_wake(t, k);
  }
}

/* The neighbour against which column k would stand too steep if it rose so far; -1: none. The steepest wins. */
static int64_t find_lower(const Ground *ground, const State *state, int64_t k, double rise) {
  const Terrain *t = state->terrain;
  const double *heights = ground_field(state)->heights;
  double steepest = ground->tan_low * t->cell;
  int64_t found = -1;
  for (int d = 0; d < 8; d++) {
    int64_t other = column_neighbor(t, k, d);
    if (other < 0 || t->covered[other]) continue;
    double slope = (heights[k] + rise - heights[other]) / neighbor_distance(d);
    if (!(slope > steepest)) continue;
    steepest = slope;
    found = other;
  }
  return found;
}

/* What column k does not show goes to another, which does not show it yet either. */
static void hand_pending(Terrain *t, int64_t k, int64_t other, double height) {
  int64_t units = terrain_units_of(t, height * t->area * t->bulk[k]);
  if (units > t->mass[k]) units = t->mass[k];
  double before = terrain_full(t, other);
  t->mass[k] -= units;
  ground_add(t, other, units, t->bulk[k]);
  t->pending[k] = fmax(0, t->pending[k] - height);
  t->pending[other] += terrain_full(t, other) - before;
}

double ground_show_pending(const Ground *ground, State *state, double dt) {
  Terrain *t = state->terrain;
  double most = SHOWING_SPEED * state->radius * dt, raised = 0;
  if (!t->some_pending) return 0;
  t->some_pending = 0;
  for (int64_t k = 0; k < t->count; k++) {
    double more = fmin(t->pending[k], most);
    if (!(more > 1e-9 * state->radius)) continue;
    t->some_pending = 1;
    if (t->covered[k]) continue;
    int64_t other = find_lower(ground, state, k, more);
    if (other >= 0) {
      hand_pending(t, k, other, more);
      ground_show(state, k);
      ground_show(state, other);
      continue;
    }
    t->pending[k] -= more;
    raised = fmax(raised, more);
    ground_show(state, k);
    ground_wake(t, k);
  }
  return raised;
}

static Status bury(Burial *burial, Scratch *scratch) {
  Core *core = burial->core;
  State *state = burial->state;
  int64_t count = state->terrain->count;
  TRY(scratch_take(core, scratch, &burial->top, count, "tops"));
  TRY(scratch_take(core, scratch, &burial->heights, count, "heights"));
  memcpy(burial->heights, ground_field(state)->heights, sizeof(double) * (size_t)count);
  parallel_for(core, 0, state->particles.count, REST_CHUNK, rest_chunk, burial);
  find_tops(burial);
  if (!want_rise(burial)) return SCREE_OK;
  yield_to_movers(burial);
  limit_slopes(burial);
  if (!choose_rising(burial)) return SCREE_OK;
  TRY(take_grains(burial));
  settle_grains(burial);
  raise_columns(burial);
  return SCREE_OK;
}

Status ground_bury(Core *core, Ground *ground, State *state, Scratch *scratch, double interval) {
  Burial burial = {.core = core, .ground = ground, .state = state, .interval = interval, .radius = state->radius};
  burial.slow2 = (float)(REST_SPEED * REST_SPEED * vec3_length(state->gravity) * state->radius);
  int mark = scratch_mark(scratch);
  Status status = bury(&burial, scratch);
  scratch_release(core, scratch, mark);
  state->terrain->some_pending = 1;
  return status;
}
