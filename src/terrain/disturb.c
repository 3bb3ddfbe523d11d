/* What takes ground apart besides bodies: grains that hit it hard, and slopes that are about to slide. */
#include "core/portable.h"
#include "terrain/parts.h"

/* How deep a ball digs (Uehara, Ambroso, Ojha and Durian 2003): d = 0.14 / mu (rho_ball / rho)^(1/2) D^(2/3) H^(1/3),
 * fallen from H. Grains that would dig this many of their diameters count; the ground comes apart down to so many times
 * what they dig, and as far round them. */
#define CRATER 0.14
#define DIGS_LEAST 1.0
#define DEEPER 1.5
/* Grains that lie so thick, in nominal radii, take the hit instead of the ground. */
#define SHIELD 3.0
/* s, how far ahead hits are seen: until grains are looked at again. */
#define AHEAD (1.0 / 60)
/* The slope of a slide is steeper than the one that begins it, and by so much that a layer of grains comes of it. */
#define BEGIN_ABOVE 2e-3
/* The thinnest slide below grains, in nominal radii. */
#define SLIDE_LEAST 1.0
/* Grains that are no farther than this above those below, in nominal radii, lie on them. */
#define BANK_GAP 1.0

/* How deep the grain digs at its speed; 0: not worth it. */
static double crater_depth(const State *state, int64_t i) {
  const Particles *p = &state->particles;
  const Terrain *t = state->terrain;
  double g = vec3_length(state->gravity), down = -(double)p->vz[i], diameter = 2 * (double)p->radius[i];
  if (!(g > 0) || !(down > 0)) return 0;
  const ScreeMaterialDef *own = &state->materials.items[p->material[i]].definition;
  double mu = fmax(state->materials.items[t->material].wall_static, 0.05);
  double depth =
      CRATER / mu * sqrt(own->grain_density / t->loose) * portable_cbrt(diameter * diameter * (down * down / (2 * g)));
  return depth >= DIGS_LEAST * diameter ? depth : 0;
}

/* Highest grain that does not dig itself, per column. */
static void find_cover(const Digging *dig, double *cover) {
  const State *state = dig->state;
  const Terrain *t = state->terrain;
  for (int64_t k = 0; k < t->count; k++) cover[k] = dig->heights[k];
  for (int64_t i = 0; i < state->particles.count; i++) {
    if (crater_depth(state, i) > 0) continue;
    Vec3 at = vec3_sub(state_position(state, i), t->origin);
    if (at.x < 0 || at.y < 0 || at.x >= t->nx * t->cell || at.y >= t->ny * t->cell) continue;
    int64_t k = column_of(t, at.x, at.y);
    cover[k] = fmax(cover[k], at.z + (double)state->particles.radius[i]);
  }
}

/* Where the grain meets bare ground soon. */
static bool find_hit(const Digging *dig, const double *cover, int64_t i, Vec3 *hit) {
  const State *state = dig->state;
  const Particles *p = &state->particles;
  const Terrain *t = state->terrain;
  Vec3 at = vec3_sub(state_position(state, i), t->origin);
  Vec3 velocity = vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
  double r = (double)p->radius[i], speed = vec3_length(velocity), step = r / speed;
  for (double time = 0; time <= AHEAD; time += step) {
    Vec3 there = vec3_madd(at, velocity, time);
    if (there.x < 0 || there.y < 0 || there.x >= t->nx * t->cell || there.y >= t->ny * t->cell) return false;
    int64_t k = column_of(t, there.x, there.y);
    if (there.z - 2 * r > cover[k]) continue;
    *hit = there;
    return cover[k] - dig->heights[k] < SHIELD * dig->radius && t->mass[k] > 0;
  }
  return false;
}

static void want_crater(Digging *dig, Vec3 hit, double depth) {
  const Terrain *t = dig->state->terrain;
  double reach = fmax(depth, 0.71 * t->cell), down = fmax(DEEPER * depth, 1.2 * DIG_LEAST * dig->radius);
  int64_t first = column_of(t, hit.x - reach, hit.y - reach), last = column_of(t, hit.x + reach, hit.y + reach);
  for (int64_t j = first / t->nx; j <= last / t->nx; j++)
    for (int64_t i = first % t->nx; i <= last % t->nx; i++) {
      double x = ((double)i + 0.5) * t->cell - hit.x, y = ((double)j + 0.5) * t->cell - hit.y;
      int64_t k = j * t->nx + i;
      if (x * x + y * y > reach * reach) continue;
      dig->ground->target[k] = fmin(dig->ground->target[k], fmax(dig->heights[k] - down, 0));
    }
}

Status ground_want_hits(Digging *dig, bool *wanted) {
  const State *state = dig->state;
  double *cover = NULL;
  *wanted = false;
  bool any = false;
  for (int64_t i = 0; i < state->particles.count && !any; i++) any = crater_depth(state, i) > 0;
  if (!any) return SCREE_OK;
  int mark = scratch_mark(dig->scratch);
  TRY(scratch_take(dig->core, dig->scratch, &cover, state->terrain->count, "cover"));
  find_cover(dig, cover);
  for (int64_t i = 0; i < state->particles.count; i++) {
    double depth = crater_depth(state, i);
    Vec3 hit;
    if (!(depth > 0) || !find_hit(dig, cover, i, &hit)) continue;
    want_crater(dig, hit, depth);
    *wanted = true;
  }
  scratch_release(dig->core, dig->scratch, mark);
  return SCREE_OK;
}

/* A pair of neighbours of which one stands too high over the other. */
typedef struct Slope {
  int64_t upper, lower;
  double run;
} Slope;

/* The neighbour in direction d, where nothing that presses the ground is in the way of a slide. */
static bool slope_to(const Digging *dig, int64_t k, int d, Slope *slope) {
  const Terrain *t = dig->state->terrain;
  *slope = (Slope){k, column_neighbor(t, k, d), neighbor_distance(d) * t->cell};
  return slope->lower >= 0 && !t->covered[slope->lower];
}

static bool may_slide(const Terrain *t, int64_t k) {
  int64_t tile = k / t->nx / TERRAIN_TILE * t->tiles_x + k % t->nx / TERRAIN_TILE;
  return t->awake[tile] && !t->covered[k] && t->mass[k] > 0;
}

/* By how much the upper column stands too high over what fills the lower one up to a height; 0: it does not slide. Thin
 * slides are left to erosion, but where grains lie: there nothing erodes. */
static double slide_excess(const Digging *dig, Slope slope, double filled) {
  const Terrain *t = dig->state->terrain;
  const Ground *g = dig->ground;
  double drop = dig->heights[slope.upper] - filled, excess = drop - g->tan_low * slope.run;
  bool loaded = t->loaded[slope.upper] || t->loaded[slope.lower];
  double least = (loaded ? SLIDE_LEAST : DIG_LEAST) * dig->radius;
  return drop > g->tan_high * slope.run * (1 + BEGIN_ABOVE) && excess > least ? excess : 0;
}

/* Ground that is there but has not yet shown fills a column, too. */
static double full_height(const Digging *dig, int64_t k) { return dig->heights[k] + dig->state->terrain->pending[k]; }

/* Loaded columns at the foot of what would slide if nothing lay there get a bank of 0; the room round them. */
static bool find_feet(Digging *dig, double *bank) {
  const Terrain *t = dig->state->terrain;
  bool any = false;
  for (int axis = 0; axis < 3; axis++) dig->low[axis] = INFINITY, dig->high[axis] = -INFINITY;
  for (int64_t k = 0; k < t->count; k++) {
    Slope slope;
    for (int d = 0; d < 8 && may_slide(t, k); d++) {
      if (!slope_to(dig, k, d, &slope) || !t->loaded[slope.lower]) continue;
      if (!(slide_excess(dig, slope, full_height(dig, slope.lower)) > 0)) continue;
      const double at[3] = {((double)(slope.lower % t->nx) + 0.5) * t->cell,
                            ((double)(slope.lower / t->nx) + 0.5) * t->cell, dig->heights[k]};
      for (int axis = 0; axis < 3; axis++) {
        dig->low[axis] = fmin(dig->low[axis], at[axis] - t->cell);
        dig->high[axis] = fmax(dig->high[axis], at[axis] + t->cell);
      }
      bank[slope.lower] = 0;
      any = true;
    }
  }
  return any;
}

/* How high grains are banked up on a column, each on the ground or on grains below it: sand that lies against a slope
 * holds it. What hangs, flies or lies on a shelf above holds nothing. */
static double banked_height(const Digging *dig, int64_t k) {
  const State *state = dig->state;
  double top = full_height(dig, k), before;
  do {
    before = top;
    for (int32_t n = dig->ground->grain_head[k]; n >= 0; n = dig->ground->grain_next[n]) {
      Vec3 at = vec3_sub(state_position(state, n), state->terrain->origin);
      double r = (double)state->particles.radius[n], gap = BANK_GAP * dig->radius;
      if (at.z + r > top &&
          (at.z - r < top + gap || at.z - r < heightfield_height(ground_field(state), at.x, at.y) + gap))
        top = at.z + r;
    }
  } while (top > before);
  return top;
}

static bool want_slides(Digging *dig, const double *bank) {
  const Terrain *t = dig->state->terrain;
  double *target = dig->ground->target;
  bool any = false;
  for (int64_t k = 0; k < t->count; k++) {
    Slope slope;
    for (int d = 0; d < 8 && may_slide(t, k); d++) {
      if (!slope_to(dig, k, d, &slope)) continue;
      double excess = slide_excess(dig, slope, fmax(full_height(dig, slope.lower), bank[slope.lower]));
      if (!(excess > 0)) continue;
      target[k] = fmin(target[k], dig->heights[k] - fmax(excess, DIG_LEAST * dig->radius));
      any = true;
    }
  }
  return any;
}

/* A slope that begins to slide comes down to the angle at which it ends; as thick a layer comes apart as is worth it.
 */
Status ground_want_slopes(Digging *dig, bool *wanted) {
  const Terrain *t = dig->state->terrain;
  int mark = scratch_mark(dig->scratch);
  double *bank = NULL;
  TRY(scratch_take(dig->core, dig->scratch, &bank, t->count, "banks of grains"));
  for (int64_t k = 0; k < t->count; k++) bank[k] = -INFINITY;
  if (find_feet(dig, bank)) {
    TRY(ground_list_grains(dig));
    for (int64_t k = 0; k < t->count; k++)
      if (bank[k] == 0) bank[k] = banked_height(dig, k);
  }
  *wanted = want_slides(dig, bank);
  scratch_release(dig->core, dig->scratch, mark);
  return SCREE_OK;
}
