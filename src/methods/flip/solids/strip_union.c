#define LANE_SCALAR /* octants and quarters of faces are treated one by one */
#include "methods/flip/solids/contact_law.h"

#include "methods/flip/solids/strip_union.h"

#include <math.h>

#include "methods/flip/solids/seams.h"
#include "methods/flip/solids/solids.h"

/* Extent of an octant and of a quarter of a face, in cells. */
#define PART 0.5f

void strip_union_begin(StripUnion *all, const SolidQuery **solids, PlacedSolid *placed) {
  all->solids = solids;
  all->placed.items = placed;
  all->count = 0;
}

static void all_is_free(StripUnion *all) {
  const NearSurface none = {.d = FAR, .solid = -1};
  for (int k = 0; k < ASK; k++) all->nearest[k] = all->second[k] = none;
  for (int k = 0; k < ASK_CORNERS; k++) {
    all->closing[k] = none;
    all->share[k] = 1;
  }
}

/* The share of an octant or of a quarter of a face that a plane leaves free. A wall that lies in the face closes it:
 * the slope within the face is none. */
static float share_at(int point, const NearSurface *surface) {
  int k = point % ASK_LANE - ASK_QUARTERS;
  if (k < 0) return free_share(surface->d, PART);
  float n = surface->normal[k / 4], slope = PART * sqrtf(n * n < 1 ? 1 - n * n : 0);
  return free_share(surface->d - 1e-3f, slope > 1e-4f ? slope : 1e-4f);
}

static void close_by(StripUnion *all, int point, const NearSurface *surface) {
  all->closing[point] = *surface;
  all->share[point] = share_at(point, surface);
}

static void take(StripUnion *all, int point, const NearSurface *surface) {
  if (surface->d < all->nearest[point].d) {
    all->second[point] = all->nearest[point];
    all->nearest[point] = *surface;
  } else if (surface->d < all->second[point].d) all->second[point] = *surface;
  if (point < ASK_CORNERS && share_at(point, surface) < all->share[point]) close_by(all, point, surface);
}

static void take_range(StripUnion *all, int point, int count, const SolidQuery *query, const QueryResult *result,
                       int k) {
  for (int p = 0; p < count; p++, k++) {
    NearSurface surface = {.d = result->d[k], .solid = query->index};
    for (int a = 0; a < 3 && surface.d < PART; a++) /* farther away it is not looked at */
      for (int c = 0; c < 3; c++) surface.normal[a] += (float)query->turn.m[a][c] * result->normal[c][k];
    take(all, point + p, &surface);
  }
}

bool strip_union_add(const FlipWork *work, const SolidQuery *query, Vec3 origin, StripUnion *all) {
  QueryResult result;
  if (!solid_query_strip(work, query, origin, &result)) return false;
  int k = 0;
  if (all->count == 0) all_is_free(all);
  for (int lane = 0; lane < STRIP; lane++) {
    if (!(result.shared >> lane & 1)) continue;
    take_range(all, lane * ASK_LANE, ASK_LANE, query, &result, k);
    k += ASK_LANE;
  }
  for (int column = 0; column <= STRIP; column++) {
    if (!(columns_of(result.lanes) >> column & 1)) continue;
    take_range(all, ASK_CORNERS + column * 4, 4, query, &result, k);
    k += 4;
  }
  all->solids[all->count++] = query;
  return true;
}

static void place(const FlipWork *work, Vec3 origin, int point, StripUnion *all) {
  all->placed.count = 0;
  for (int32_t k = 0; k < all->count; k++) {
    const SolidQuery *query = all->solids[k];
    Vec3 offset = vec3(query->from_strip[0][point], query->from_strip[1][point], query->from_strip[2][point]);
    placed_add(&all->placed, work->grid->cell, query->solid, query->index,
               vec3_add(solid_query_from(query, origin), offset), &query->turn);
  }
}

/* Where solids touch, the surfaces that count are those of all of them together. A point outside may still see the edge
 * of a solid that goes on in the next one: there the nearest surface counts. */
static void join(const FlipWork *work, Vec3 origin, int point, StripUnion *all) {
  const Core *core = work->core;
  double cell = work->grid->cell;
  NearSurface *nearest = &all->nearest[point];
  bool corner = point >= ASK_CORNERS, inside = nearest->d < TOUCHING;
  if (nearest->d <= (corner ? -DEPTH_MOST : -0.5f * PART)) return; /* deeper than matters */
  if (corner ? !inside : !(all->share[point] < 1)) return;
  if (!inside && all->closing[point].solid == nearest->solid) return;
  place(work, origin, point, all);
  if (!surface_is_covered(core, cell, &all->placed, inside ? nearest : &all->closing[point])) return;
  if (inside) *nearest = union_surface(core, cell, &all->placed, nearest, corner ? DEPTH_MOST : PART);
  if (!corner) close_by(all, point, nearest);
}

/* ---- shares ---- */

/* Surfaces that are turned farther from each other are no plane: the cosine. */
#define SAME_PLANE 0.9f
/* Of octants that are closed by less than this a wall beside the cell takes what rounding gives it. */
#define OCTANT_OPEN 0.98f

/* The mean normal of a solid's surface at so many points, if it is a plane there, or nearly so: beside an edge each
 * point sees its own. */
static bool plane_normal(const NearSurface *nearest, int count, int32_t solid, float n[3]) {
  float square = 0;
  n[0] = n[1] = n[2] = 0;
  for (int p = 0; p < count; p++)
    for (int a = 0; a < 3 && nearest[p].solid == solid && nearest[p].d < PART; a++) n[a] += nearest[p].normal[a];
  for (int a = 0; a < 3; a++) square += n[a] * n[a];
  if (!(square > 0)) return false;
  for (int a = 0; a < 3; a++) n[a] /= sqrtf(square);
  for (int p = 0; p < count; p++) {
    const float *of = nearest[p].normal;
    if (nearest[p].solid == solid && nearest[p].d < PART && of[0] * n[0] + of[1] * n[1] + of[2] * n[2] < SAME_PLANE)
      return false;
  }
  return true;
}

/* A face is that of the solid that closes most of it, or of the nearest. */
static void set_face(const StripUnion *all, int point, int axis, int lane, StripSolids *to) {
  const NearSurface *nearest = &all->nearest[point], *closing = &all->closing[point];
  const float *share = &all->share[point];
  float sum = 0, most = 0, least = PART;
  int32_t owner = -1;
  for (int q = 0; q < 4; q++) {
    float closed = 0;
    sum += share[q];
    for (int p = 0; p < 4; p++) closed += closing[p].solid == closing[q].solid ? 1 - share[p] : 0;
    if (closed > most) {
      most = closed;
      owner = closing[q].solid;
    }
  }
  for (int q = 0; q < 4 && !(most > 0); q++)
    if (nearest[q].d < least) {
      least = nearest[q].d;
      owner = nearest[q].solid;
    }
  float normal[3];
  if (!plane_normal(nearest, 4, owner, normal))
    for (int a = 0; a < 3; a++) normal[a] = a == axis;
  for (int a = 0; a < 3; a++) to->normal[axis][a][lane] = normal[a];
  to->open[axis][lane] = 0.25f * sum;
  to->owner[axis][lane] = (int16_t)owner;
}

/* A solid that is this much farther from a point than the plane of its surface elsewhere, in cells, has an edge there.
 */
#define BENDS_AWAY 0.15f

/* How much of the octants of a cell is closed by the plane that one of them sees; 0: the solid is no plane there, or
 * lies along the grid. `n` gets the mean normal. */
static float closed_by_plane(const NearSurface *nearest, const float *share, int seed, float n[3]) {
  const float *of = nearest[seed].normal;
  float closed = 0, square = 0;
  n[0] = n[1] = n[2] = 0;
  if (lies_along_grid(of)) return 0;
  for (int o = 0; o < ASK_QUARTERS; o++) {
    float plane = nearest[seed].d, same = 0;
    for (int a = 0; a < 3; a++) {
      plane += PART * of[a] * (float)((o >> a & 1) - (seed >> a & 1));
      same += of[a] * nearest[o].normal[a];
    }
    if (nearest[o].d > plane + BENDS_AWAY) return 0;
    if (!(same > SAME_PLANE)) continue;
    closed += 1 - share[o];
    for (int a = 0; a < 3; a++) n[a] += nearest[o].normal[a];
  }
  for (int a = 0; a < 3; a++) square += n[a] * n[a];
  for (int a = 0; a < 3; a++) n[a] /= sqrtf(square);
  return closed;
}

/* The plane across the grid that closes most of the cell. Planes along the grid that cut it, too, are none. */
static void set_across(const StripUnion *all, int first, int lane, StripSolids *to) {
  float most = 0, normal[3];
  for (int o = 0; o < ASK_QUARTERS; o++) {
    const NearSurface *seed = &all->nearest[first + o];
    if (!(all->share[first + o] < OCTANT_OPEN) || seed->d >= PART) continue;
    float closed = closed_by_plane(&all->nearest[first], &all->share[first], o, normal);
    if (!(closed > most)) continue;
    most = closed;
    to->across_of[lane] = (int16_t)seed->solid;
    for (int a = 0; a < 3; a++) to->across[a][lane] = normal[a];
  }
}

void strip_is_free(StripSolids *to) {
  *to = (StripSolids){0};
  for (int lane = 0; lane < STRIP; lane++) {
    for (int o = 0; o < 8; o++) to->octant[o][lane] = 1;
    for (int a = 0; a < 3; a++) {
      to->open[a][lane] = 1;
      to->owner[a][lane] = -1;
    }
    to->nearest[lane] = to->across_of[lane] = -1;
  }
  for (int c = 0; c < CORNERS; c++) to->distance[c] = FAR;
}

void strip_union_end(const FlipWork *work, Vec3 origin, StripUnion *all, StripSolids *to) {
  strip_is_free(to);
  to->touched = all->count > 0;
  if (!to->touched) return;
  for (int point = 0; all->count > 1 && point < ASK; point++) join(work, origin, point, all);
  seams_close(work, origin, all, to);
  for (int lane = 0; lane < STRIP; lane++) {
    int point = lane * ASK_LANE;
    float least = 1;
    for (int o = 0; o < 8; o++) {
      to->octant[o][lane] = all->share[point + o];
      if (all->share[point + o] < least) {
        least = all->share[point + o];
        to->nearest[lane] = (int16_t)all->closing[point + o].solid;
      }
    }
    set_across(all, point, lane, to);
    for (int axis = 0; axis < 3; axis++) set_face(all, point + ASK_QUARTERS + axis * 4, axis, lane, to);
  }
  for (int column = 0; column <= STRIP; column++)
    for (int c = 0; c < 4; c++) {
      float at = all->nearest[ASK_CORNERS + column * 4 + c].d;
      to->distance[c * (STRIP + 1) + column] = at;
      if (at < 0.5f) to->cut |= (uint8_t)(3u << column >> 1); /* the cells on both sides of the corner */
    }
}
