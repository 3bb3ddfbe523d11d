/* Columns give grains back where something is about to disturb them: a body that moves, a grain that hits hard, a slope
 * that is about to slide (disturb.c).
 *
 * A body that moves takes the ground apart down to MARGIN below itself and, round it, above a plane that rises from
 * there at 45 - phi/2 degrees, as the wedge does that a blade pushes out of the ground. What lies above becomes grains,
 * in the places of a settled arrangement that fills the space once and for all (so that neighbouring pieces fit), as
 * long as they are clear of the new surface, of bodies, walls and other grains, and do not stand out of the old one.
 * Mass goes over grain by grain; what does not make a whole grain, or has no room, stays in the columns, pending. */
#include <string.h>

#include "terrain/parts.h"

/* In nominal radii: how far below a body the ground is taken apart, how far grains may stand out of the old surface,
 * and how much nearer than touching they may start. */
#define MARGIN 8.0
#define STAND_OUT 0.6
#define CLOSER 0.01
/* Bodies slower than this many sqrt(g r) disturb nothing. */
#define DISTURBING_SPEED 0.1

/* Lowest point of the body over a column, thin walls too: where the rays find nothing, the distance is asked along the
 * column. */
static double lowest_over(const State *state, const Solid *solid, int32_t i, int32_t j, Vec3 low, Vec3 high) {
  const Terrain *t = state->terrain;
  double under = INFINITY, x = (i + 0.5) * t->cell, y = (j + 0.5) * t->cell;
  for (int ray = 0; ray < 4; ray++)
    under = fmin(under, ground_underside(state, solid, x + (ray & 1 ? 0.25 : -0.25) * t->cell,
                                         y + (ray & 2 ? 0.25 : -0.25) * t->cell, fmin(low.z, 0) - t->cell));
  if (isfinite(under)) return under;
  double top = fmin(high.z, ground_field(state)->highest);
  for (double z = fmax(low.z, 0); z <= top + t->cell; z += t->cell) {
    Vec3 local = solid_to_local(solid, vec3_add(t->origin, vec3(x, y, z)));
    if (shape_distance(&solid->shape, local, t->cell).distance < 0.71 * t->cell) return z - 0.71 * t->cell;
  }
  return INFINITY;
}

/* Lowers targets to what the body wants; returns whether it wants anything. */
static bool want_body(Digging *dig, int32_t index) {
  const State *state = dig->state;
  const Terrain *t = state->terrain;
  const Solid *solid = &state->solids.items[index];
  Vec3 low, high;
  ColumnRange range;
  double margin = MARGIN * dig->radius;
  ground_body_box(state, solid, &low, &high);
  if (low.z - margin > ground_field(state)->highest || !ground_range(state, low, high, 0.5 * t->cell, &range))
    return false;
  bool any = false;
  for (int32_t j = range.y0; j < range.y1; j++)
    for (int32_t i = range.x0; i < range.x1; i++) {
      double under = lowest_over(state, solid, i, j, low, high) - margin;
      int64_t k = column_at(t, i, j);
      if (!(under < dig->heights[k])) continue;
      dig->ground->target[k] = fmin(dig->ground->target[k], fmax(under, 0));
      any = true;
    }
  return any;
}

/* The plane that rises from the wanted depths: two sweeps of a distance transform. */
static void spread_targets(Digging *dig, double slope) {
  const Terrain *t = dig->state->terrain;
  double *target = dig->ground->target;
  for (int sweep = 0; sweep < 2; sweep++)
    for (int64_t n = 0; n < t->count; n++) {
      int64_t k = sweep ? t->count - 1 - n : n;
      for (int d = 0; d < 8; d++) {
        int64_t other = column_neighbor(t, k, d);
        if (other >= 0 && (other < k) == (sweep == 0))
          target[k] = fmin(target[k], target[other] + slope * t->cell * neighbor_distance(d));
      }
    }
}

/* Lowers the surface where that is worth it; returns whether anywhere, and the room for grains. */
static bool lower_surface(Digging *dig) {
  State *state = dig->state;
  Terrain *t = state->terrain;
  double *heights = ground_field(state)->heights, *target = dig->ground->target;
  double least = (1 - 1e-9) * DIG_LEAST * dig->radius; /* what a slide wants at least, whatever its rounding */
  bool any = false;
  for (int axis = 0; axis < 3; axis++) dig->low[axis] = INFINITY, dig->high[axis] = -INFINITY;
  for (int64_t k = 0; k < t->count; k++) {
    /* thin columns go as a whole */
    if (dig->heights[k] - target[k] < fmin(least, 0.99 * dig->heights[k]) || t->mass[k] == 0) {
      target[k] = heights[k];
      continue;
    }
    any = true;
    heights[k] = target[k];
    const double at[3] = {((double)(k % t->nx) + 0.5) * t->cell, ((double)(k / t->nx) + 0.5) * t->cell, 0};
    for (int axis = 0; axis < 2; axis++) {
      dig->low[axis] = fmin(dig->low[axis], at[axis] - t->cell);
      dig->high[axis] = fmax(dig->high[axis], at[axis] + t->cell);
    }
    dig->low[2] = fmin(dig->low[2], target[k]);
    dig->high[2] = fmax(dig->high[2], dig->heights[k] + t->cell);
  }
  return any;
}

Status ground_list_grains(Digging *dig) {
  const State *state = dig->state;
  const Terrain *t = state->terrain;
  const Particles *p = &state->particles;
  Ground *g = dig->ground;
  TRY(scratch_take(dig->core, dig->scratch, &g->grain_head, t->count, "grains by column"));
  TRY(scratch_take(dig->core, dig->scratch, &g->grain_next, p->count, "grains by column"));
  memset(g->grain_head, 0xff, sizeof *g->grain_head * (size_t)t->count);
  double reach = 4 * dig->largest;
  for (int64_t i = 0; i < p->count; i++) {
    Vec3 at = vec3_sub(state_position(state, i), t->origin);
    if (at.x < dig->low[0] - reach || at.x > dig->high[0] + reach || at.y < dig->low[1] - reach ||
        at.y > dig->high[1] + reach || at.z > dig->high[2] + reach)
      continue;
    int64_t k = column_of(t, at.x, at.y);
    g->grain_next[i] = g->grain_head[k];
    g->grain_head[k] = (int32_t)i;
  }
  return SCREE_OK;
}

static bool clear_of_grains(const Digging *dig, Vec3 at, double radius) {
  const State *state = dig->state;
  const Terrain *t = state->terrain;
  const Particles *p = &state->particles;
  double reach = radius + dig->largest;
  int64_t first = column_of(t, at.x - reach, at.y - reach), last = column_of(t, at.x + reach, at.y + reach);
  for (int32_t j = (int32_t)(first / t->nx); j <= (int32_t)(last / t->nx); j++)
    for (int32_t i = (int32_t)(first % t->nx); i <= (int32_t)(last % t->nx); i++)
      for (int32_t n = dig->ground->grain_head[column_at(t, i, j)]; n >= 0; n = dig->ground->grain_next[n]) {
        Vec3 away = vec3_sub(vec3_sub(state_position(state, n), t->origin), at);
        double apart = (radius + (double)p->radius[n]) * (1 - CLOSER);
        if (vec3_dot(away, away) < apart * apart) return false;
      }
  return true;
}

static bool clear_of_solids(const Digging *dig, Vec3 at, double radius) {
  const State *state = dig->state;
  Vec3 world = vec3_add(state->terrain->origin, at);
  for (int32_t s = 0; s < state->solids.count; s++) {
    if (s == state->terrain->solid) continue;
    const Solid *solid = &state->solids.items[s];
    if (shape_distance(&solid->shape, solid_to_local(solid, world), radius).distance < radius * (1 - CLOSER))
      return false;
  }
  return true;
}

static bool has_room(const Digging *dig, Vec3 at, double radius) {
  const Heightfield *field = ground_field(dig->state);
  if (at.x < 0 || at.y < 0 || at.x > heightfield_size_x(field) || at.y > heightfield_size_y(field)) return false;
  Heightfield before = *field;
  before.heights = dig->heights;
  if (at.z > heightfield_height(&before, at.x, at.y) + (STAND_OUT - 1) * radius) return false;
  double distance;
  Vec3 normal;
  heightfield_distance(field, at, radius, &distance, &normal);
  return distance >= radius * (1 - CLOSER) && clear_of_grains(dig, at, radius) && clear_of_solids(dig, at, radius);
}

/* Takes a grain's mass out of the columns round it; false when they have not so much. */
static bool take_mass(const Digging *dig, Vec3 at, float mass) {
  Terrain *t = dig->state->terrain;
  int64_t units = terrain_units_of(t, (double)mass), parts[4], left = 0, there = 0;
  if ((double)units * t->unit != (double)mass) return false;
  Corners corners = ground_corners(t, at.x, at.y);
  for (int c = 0; c < 4; c++) {
    bool again = false;
    for (int d = 0; d < c; d++) again |= corners.column[d] == corners.column[c];
    if (!again) there += t->mass[corners.column[c]];
  }
  if (there < units) return false;
  ground_split(&corners, units, parts);
  for (int c = 0; c < 4; c++) {
    int64_t taken = parts[c] < t->mass[corners.column[c]] ? parts[c] : t->mass[corners.column[c]];
    t->mass[corners.column[c]] -= taken;
    left += parts[c] - taken;
  }
  for (int c = 0; c < 4 && left > 0; c++) {
    int64_t taken = left < t->mass[corners.column[c]] ? left : t->mass[corners.column[c]];
    t->mass[corners.column[c]] -= taken;
    left -= taken;
  }
  return true;
}

static Status try_grain(Digging *dig, Vec3 at, int n) {
  Terrain *t = dig->state->terrain;
  const Packing *packing = &dig->ground->packing;
  if (!has_room(dig, at, (double)packing->radius[n]) || !take_mass(dig, at, packing->mass[n])) return SCREE_OK;
  ground_load(t, at, (double)packing->radius[n]);
  Birth birth = {.key = (1ull << 63) + (uint64_t)t->exhumed++,
                 .reason = REASON_EXHUME,
                 .material = t->material,
                 .position = vec3_add(t->origin, at),
                 .radius = packing->radius[n],
                 .mass = packing->mass[n]};
  return queue_birth(dig->core, &dig->state->queue, &birth);
}

/* Every place of the arrangement that lies in the room for grains, in a fixed order. */
static Status fill_room(Digging *dig) {
  const Packing *packing = &dig->ground->packing;
  int64_t from[3], to[3];
  for (int axis = 0; axis < 3; axis++) {
    from[axis] = (int64_t)floor(dig->low[axis] / packing->side);
    to[axis] = (int64_t)floor(dig->high[axis] / packing->side);
  }
  for (int64_t c = from[2]; c <= to[2]; c++)
    for (int64_t b = from[1]; b <= to[1]; b++)
      for (int64_t a = from[0]; a <= to[0]; a++)
        for (int n = 0; n < PACKING_GRAINS; n++) {
          Vec3 at =
              vec3((double)a * packing->side + (double)packing->x[n], (double)b * packing->side + (double)packing->y[n],
                   (double)c * packing->side + (double)packing->z[n]);
          if (at.x >= dig->low[0] && at.x <= dig->high[0] && at.y >= dig->low[1] && at.y <= dig->high[1] &&
              at.z >= dig->low[2] && at.z <= dig->high[2])
            TRY(try_grain(dig, at, n));
        }
  return SCREE_OK;
}

/* Targets are what the surface should come down to; from there it rises at most at this slope. */
static Status dig_out(Digging *dig, double slope) {
  State *state = dig->state;
  Terrain *t = state->terrain;
  Solid *solid = &state->solids.items[t->solid];
  double *heights = solid->shape.heights->heights;
  spread_targets(dig, slope);
  if (!lower_surface(dig)) return SCREE_OK;
  TRY(ground_list_grains(dig));
  TRY(fill_room(dig));
  for (int64_t k = 0; k < t->count; k++) {
    if (heights[k] == dig->heights[k] && t->pending[k] == 0 && terrain_full(t, k) == heights[k]) continue;
    t->pending[k] = fmax(0, terrain_full(t, k) - dig->ground->target[k]);
    if (heights[k] != dig->heights[k]) t->loaded[k] = 1;
    ground_show(state, k);
  }
  t->some_pending = 1;
  heightfield_bound(solid->shape.heights);
  shape_bound_heights(&solid->shape);
  return SCREE_OK;
}

static bool want_bodies(Digging *dig) {
  const State *state = dig->state;
  double slow = DISTURBING_SPEED * sqrt(vec3_length(state->gravity) * state->radius);
  bool wanted = false;
  for (int32_t s = 0; s < dig->ground->surface_count; s++)
    if (ground_feels(dig->ground, state, s) && ground_surface_speed(&state->solids.items[s]) > slow)
      wanted |= want_body(dig, s);
  return wanted;
}

Status ground_exhume(Core *core, Ground *ground, State *state, Scratch *scratch, Disturbance by) {
  const Terrain *t = state->terrain;
  Digging dig = {.core = core, .ground = ground, .state = state, .scratch = scratch, .radius = state->radius};
  for (int n = 0; n < PACKING_GRAINS; n++) dig.largest = fmax(dig.largest, (double)ground->packing.radius[n]);
  int mark = scratch_mark(scratch);
  TRY(scratch_take(core, scratch, &dig.heights, t->count, "heights"));
  memcpy(dig.heights, ground_field(state)->heights, sizeof *dig.heights * (size_t)t->count);
  for (int64_t k = 0; k < t->count; k++) ground->target[k] = INFINITY;
  double wedge = sqrt(1 / ground->law.passive); /* tan(45 - phi/2) */
  bool wanted = false;
  Status status = SCREE_OK;
  if (by == DISTURBED_BY_BODIES) wanted = want_bodies(&dig);
  else if (by == DISTURBED_BY_SLOPES) status = ground_want_slopes(&dig, &wanted);
  else status = ground_want_hits(&dig, &wanted);
  if (status == SCREE_OK && wanted) status = dig_out(&dig, by == DISTURBED_BY_SLOPES ? ground->tan_low : wedge);
  scratch_release(core, scratch, mark);
  return status;
}
