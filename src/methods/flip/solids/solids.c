/* Walls and bodies on the grid.
 *
 * Each strip knows the signed distance at the corners of its cells; shares of cells and faces follow from it by what a
 * plane would cut (Section 2.4: the antialiased phi_s). Faces wholly inside carry the solid's velocity. Weights near
 * solids are those of free_volume.c. */
#define LANE_SCALAR /* octants and quarters of faces are treated one by one */
#include "methods/flip/solids/contact_law.h"

#include <math.h>
#include <string.h>

#include "methods/flip/solids/solids.h"
#include "core/parallel.h"
#include "methods/flip/solids/solids_kernels.h"
#include "methods/flip/stress/stress.h"

enum {
  SOLID_CHUNK = 64,
};

#define FAR 1.8f     /* cells: farther than a corner of a cut cell can be */
#define SLIVER 0.02f /* shares below are none */

/* ---- distances ---- */

Vec3 strip_origin(const FlipWork *work, int32_t strip) {
  int32_t place[3];
  strip_place(work->grid->key[strip], place);
  const double *shift = work->grid->shift, cell = work->grid->cell;
  return vec3(work->state->origin.x + ((double)place[0] - shift[0]) * cell,
              work->state->origin.y + ((double)place[1] - shift[1]) * cell,
              work->state->origin.z + ((double)place[2] - shift[2]) * cell);
}

static bool solid_moves(const Solid *solid) {
  return solid->motion != MOTION_FIXED || vec3_length(solid->velocity) > 0 || vec3_length(solid->spin) > 0;
}

bool solid_out_of_reach(const Solid *solid, Vec3 local, double reach) {
  const Shape *shape = &solid->shape;
  if (shape->inside || shape->kind == SCREE_SHAPE_PLANE)
    return shape->kind != SCREE_SHAPE_MESH && shape_distance(shape, local, reach).distance > reach;
  return local.x < shape->bounds_low.x - reach || local.x > shape->bounds_high.x + reach ||
         local.y < shape->bounds_low.y - reach || local.y > shape->bounds_high.y + reach ||
         local.z < shape->bounds_low.z - reach || local.z > shape->bounds_high.z + reach;
}

/* Where distances are found for a strip, in cells: lane by lane the middles of octants and of the quarters of the lower
 * faces, then the corners of cells, column by column along x; and the middles of its cells. */
enum {
  ASK_QUARTERS = 8,
  ASK_LANE = ASK_QUARTERS + 3 * 4,
  ASK_CORNERS = STRIP * ASK_LANE,
  ASK = ASK_CORNERS + CORNERS,
  ASK_MIDDLES = ASK,
  ASK_ALL = ASK_MIDDLES + STRIP
};

static Vec3 query_point(int k) {
  if (k >= ASK_MIDDLES) return vec3(k - ASK_MIDDLES + 0.5, 0.5, 0.5);
  if (k >= ASK_CORNERS) {
    k -= ASK_CORNERS;
    return vec3(k / 4, k & 1, k >> 1 & 1);
  }
  int lane = k / ASK_LANE;
  k %= ASK_LANE;
  if (k < ASK_QUARTERS) return vec3(lane + (k & 1 ? 0.75 : 0.25), k & 2 ? 0.75 : 0.25, k & 4 ? 0.75 : 0.25);
  k -= ASK_QUARTERS;
  double u = k & 1 ? 0.75 : 0.25, v = k & 2 ? 0.75 : 0.25;
  return k / 4 == 0 ? vec3(lane, u, v) : k / 4 == 1 ? vec3(lane + u, 0, v) : vec3(lane + u, v, 0);
}

/* How far from the middle of a cell a solid may be, in cells, that matters to it: no point of the cell is farther from
 * the middle than 0.87. What is cached of meshes (step.c) goes so far. */
#define LANE_REACH 1.85f

/* Octants and faces that are farther than half a cell are free, and the solid is not the nearest to them: lanes whose
 * middle is farther than this need distances at their corners alone. */
#define SHARES_REACH 1.4f

/* A solid as strips query it, in its own frame. */
typedef struct SolidQuery {
  const Solid *solid;
  Vec3 position; /* where it will be in the middle of the step */
  int32_t index;
  Mat3 turn, back;
  double reach[3];               /* of a strip's box, with FAR, along the solid's axes */
  double from_strip[3][ASK_ALL]; /* from a strip's lower corner to the points of the query, along the same axes */
} SolidQuery;

static void query_of(const FlipWork *work, int32_t index, SolidQuery *to) {
  SolidQuery query = {.solid = &work->state->solids.items[index], .index = index};
  /* Halfway through the step: with its pose at the beginning, sand would feel it too late, and a ball would come deeper
   * into the sand the longer the step is. */
  SolidPose pose = solid_pose_after(query.solid, 0.5 * work->dt - solid_pose_time(query.solid, work->dt));
  query.position = pose.position;
  query.turn = mat3_from_quat(pose.rotation);
  query.back = mat3_transpose(query.turn);
  for (int a = 0; a < 3; a++) {
    const double *row = query.back.m[a];
    query.reach[a] =
        work->grid->cell * ((double)FAR + 0.5 * (STRIP * fabs(row[0]) + fabs(row[1]) + fabs(row[2])) + 1e-3);
  }
  for (int k = 0; k < ASK_ALL; k++) {
    Vec3 at = mat3_apply(&query.back, vec3_scale(query_point(k), work->grid->cell));
    for (int a = 0; a < 3; a++) query.from_strip[a][k] = vec3_get(at, a);
  }
  *to = query;
}

static bool strip_is_far(const FlipWork *work, const SolidQuery *query, Vec3 middle) {
  const Shape *shape = &query->solid->shape;
  if (shape->inside || shape->kind == SCREE_SHAPE_PLANE)
    return solid_out_of_reach(query->solid, middle, (0.52 * STRIP + (double)FAR) * work->grid->cell);
  const double *r = query->reach;
  return middle.x < shape->bounds_low.x - r[0] || middle.x > shape->bounds_high.x + r[0] ||
         middle.y < shape->bounds_low.y - r[1] || middle.y > shape->bounds_high.y + r[1] ||
         middle.z < shape->bounds_low.z - r[2] || middle.z > shape->bounds_high.z + r[2];
}

/* Points k to k + count of a query, in the solid's frame; `from` is the strip's lower corner
 * there. */
static inline void points_at(const SolidQuery *query, Vec3 from, int k, int count, float *x, float *y, float *z) {
  for (int p = 0; p < count; p++) {
    x[p] = (float)(from.x + query->from_strip[0][k + p]);
    y[p] = (float)(from.y + query->from_strip[1][k + p]);
    z[p] = (float)(from.z + query->from_strip[2][k + p]);
  }
}

/* Distances (cells) and normals at the points of the lanes that the solid may touch, one behind the other; then those
 * at the corners of the lanes that it is near. */
typedef struct QueryResult {
  uint32_t lanes, shared; /* near; and so near that it may take a share: a bit each */
  float d[ASK], normal[3][ASK];
} QueryResult;

static void find_lanes(const FlipWork *work, const SolidQuery *query, Vec3 from, QueryResult *to) {
  float x[STRIP], y[STRIP], z[STRIP], d[STRIP], normal[3][STRIP];
  double cell = work->grid->cell;
  points_at(query, from, ASK_MIDDLES, STRIP, x, y, z);
  shape_distance_range(work->core, &query->solid->shape, STRIP, x, y, z, (double)FAR * cell, d, normal[0], normal[1],
                       normal[2]);
  to->lanes = to->shared = 0;
  for (int lane = 0; lane < STRIP; lane++) {
    to->lanes |= (d[lane] <= LANE_REACH * (float)cell ? 1u : 0u) << lane;
    to->shared |= (d[lane] <= SHARES_REACH * (float)cell ? 1u : 0u) << lane;
  }
}

static inline uint32_t columns_of(uint32_t lanes) { return lanes | lanes << 1; }

/* False: it is near none. */
static bool query_strip(const FlipWork *work, const SolidQuery *query, Vec3 origin, QueryResult *to) {
  double cell = work->grid->cell;
  Vec3 from = mat3_apply(&query->back, vec3_sub(origin, query->position));
  Vec3 half = vec3(0.5 * STRIP * cell, 0.5 * cell, 0.5 * cell);
  if (strip_is_far(work, query, vec3_add(from, mat3_apply(&query->back, half)))) return false;
  find_lanes(work, query, from, to);
  if (to->lanes == 0) return false;
  float x[ASK], y[ASK], z[ASK];
  int count = 0;
  for (int lane = 0; lane < STRIP; lane++) {
    if (!(to->shared >> lane & 1)) continue;
    points_at(query, from, lane * ASK_LANE, ASK_LANE, x + count, y + count, z + count);
    count += ASK_LANE;
  }
  for (int column = 0; column <= STRIP; column++) {
    if (!(columns_of(to->lanes) >> column & 1)) continue;
    points_at(query, from, ASK_CORNERS + column * 4, 4, x + count, y + count, z + count);
    count += 4;
  }
  shape_distance_range(work->core, &query->solid->shape, count, x, y, z, (double)FAR * cell, to->d, to->normal[0],
                       to->normal[1], to->normal[2]);
  for (int k = 0; k < count; k++) {
    float at = to->d[k] / (float)cell;
    to->d[k] = at > FAR ? FAR : at < -FAR ? -FAR : at;
  }
  return true;
}

/* Shares of the faces of a lane, quarter by quarter, as a plane cuts them. A wall that lies in the face closes it: the
 * slope within the face is none. */
static void merge_faces(const SolidQuery *query, const QueryResult *result, int k, int lane, StripSolids *to) {
  for (int axis = 0; axis < 3; axis++) {
    float sum = 0, nearest = FAR;
    for (int q = 0; q < 4; q++, k++) {
      float n = 0; /* along the axis, in the world */
      for (int c = 0; c < 3; c++) n += (float)query->turn.m[axis][c] * result->normal[c][k];
      float slope = 0.5f * sqrtf(n * n < 1 ? 1 - n * n : 0);
      sum += free_share(result->d[k] - 1e-3f, slope > 1e-4f ? slope : 1e-4f);
      nearest = result->d[k] < nearest ? result->d[k] : nearest;
    }
    float open = 0.25f * sum;
    if (open < to->open[axis][lane] || (to->owner[axis][lane] < 0 && nearest < 0.5f)) {
      to->open[axis][lane] = open < to->open[axis][lane] ? open : to->open[axis][lane];
      to->owner[axis][lane] = (int16_t)query->index;
    }
  }
}

/* Takes a solid in where it leaves less free than what is known already. */
static void sense(const SolidQuery *query, const QueryResult *result, StripSolids *to) {
  int k = 0;
  to->touched = true;
  for (int lane = 0; lane < STRIP; lane++) {
    if (!(result->shared >> lane & 1)) continue;
    for (int o = 0; o < 8; o++) {
      float share = free_share(result->d[k + o], 0.5f), *octant = &to->octant[o][lane];
      if (share < *octant) {
        *octant = share;
        to->nearest[lane] = (int16_t)query->index;
      }
    }
    merge_faces(query, result, k + ASK_QUARTERS, lane, to);
    k += ASK_LANE;
  }
  for (int column = 0; column <= STRIP; column++) {
    if (!(columns_of(result->lanes) >> column & 1)) continue;
    for (int c = 0; c < 4; c++, k++) {
      float at = result->d[k], *distance = &to->distance[c * 9 + column];
      if (at < *distance) *distance = at;
      if (at < 0.5f) to->cut |= (uint8_t)(3u << column >> 1); /* the cells on both sides of the corner */
    }
  }
}

static void strip_is_free(StripSolids *to) {
  *to = (StripSolids){0};
  for (int lane = 0; lane < STRIP; lane++) {
    for (int o = 0; o < 8; o++) to->octant[o][lane] = 1;
    for (int a = 0; a < 3; a++) {
      to->open[a][lane] = 1;
      to->owner[a][lane] = -1;
    }
    to->nearest[lane] = -1;
  }
  for (int c = 0; c < CORNERS; c++) to->distance[c] = FAR;
}

static const StripSolids *fixed_solids(const FlipWork *work, int64_t strip) {
  return &work->records->items[work->kept->record[strip]];
}

/* Strips of which it is not known yet get records that no strip has; `fresh` says which. */
static Status take_records(FlipWork *work, uint8_t *fresh) {
  SolidRecords *records = work->records;
  int32_t *record = work->kept->record;
  int64_t strips = work->grid->strips, wanted = 1;
  for (int64_t strip = 1; strip < strips; strip++) wanted += record[strip] != RECORD_FREE;
  if (wanted > records->capacity) {
    TRY(memory_grow(work->core, &records->items, wanted + wanted / 8, "flip distances"));
    records->capacity = wanted + wanted / 8;
    strip_is_free(&records->items[RECORD_FREE]);
  }
  uint8_t *used = NULL;
  int mark = scratch_mark(work->step->scratch);
  TRY(scratch_take(work->core, work->step->scratch, &used, records->capacity, "distances"));
  memset(used, 0, (size_t)records->capacity);
  record[0] = RECORD_FREE;
  for (int64_t strip = 0; strip < strips; strip++)
    if (record[strip] != RECORD_UNKNOWN) used[record[strip]] = 1;
  int32_t next = 0;
  for (int64_t strip = 0; strip < strips; strip++) {
    fresh[strip] = record[strip] == RECORD_UNKNOWN;
    if (!fresh[strip]) continue;
    while (used[next]) next++;
    record[strip] = next++;
  }
  scratch_release(work->core, work->step->scratch, mark);
  return SCREE_OK;
}

typedef struct SolidSearch {
  FlipWork *work;
  const StripSolids **now;
  uint8_t *fresh;     /* per strip: fixed solids are not known yet */
  StripSolids *moved; /* where moving solids are near */
  uint8_t *cut;       /* per strip: StripSolids.cut */
  SolidQuery *fixed, *moving;
  int32_t fixed_count, moving_count;
} SolidSearch;

static void query_fixed(const SolidSearch *search, int64_t strip) {
  FlipWork *work = search->work;
  int32_t *record = &work->kept->record[strip];
  StripSolids *to = &work->records->items[*record];
  QueryResult result;
  strip_is_free(to);
  for (int32_t k = 0; k < search->fixed_count; k++)
    if (query_strip(work, &search->fixed[k], strip_origin(work, (int32_t)strip), &result))
      sense(&search->fixed[k], &result, to);
  if (!to->touched) *record = RECORD_FREE;
}

static void query_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const SolidSearch *search = context;
  FlipWork *work = search->work;
  QueryResult result;
  for (int64_t strip = b; strip < e; strip++) {
    if (search->fresh[strip]) query_fixed(search, strip);
    const StripSolids *fixed = fixed_solids(work, strip);
    StripSolids *moved = &search->moved[strip];
    search->now[strip] = fixed;
    for (int32_t k = 0; k < search->moving_count; k++) {
      if (!query_strip(work, &search->moving[k], strip_origin(work, (int32_t)strip), &result)) continue;
      if (search->now[strip] == fixed) *moved = *fixed;
      search->now[strip] = moved;
      sense(&search->moving[k], &result, moved);
    }
    search->cut[strip] = search->now[strip]->cut;
  }
}

/* ---- shares of cells and faces ---- */

static void shares_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const SolidSearch *search = context;
  KERNEL_CALL(search->work->core, flip_shares)(search->now, &search->work->fields, SLIVER, b, e);
}

/* Lanes shifted up by one: bit k says what lane k - 1 is. */
static uint32_t shifted(const FlipWork *work, int32_t strip, int axis, const uint8_t *bits) {
  if (axis == 0) {
    int32_t before = work->grid->near[strip][X_LOW];
    return (uint32_t)bits[strip] << 1 | (before ? bits[before] >> (STRIP - 1) : 0);
  }
  int32_t below = work->grid->near[strip][2 * axis];
  return below ? bits[below] : 0;
}

/* Faces into cells that are solid are closed; nodes are valid where a cell beside them is free. */
static void valid_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const SolidSearch *search = context;
  FlipWork *work = search->work;
  FlipFields *f = &work->fields;
  for (int64_t strip = b; strip < e; strip++)
    for (int a = 0; a < 3; a++) {
      uint32_t here = f->solid.valid[0][strip], below = shifted(work, (int32_t)strip, a, f->solid.valid[0]);
      f->solid.valid[1 + a][strip] = (uint8_t)(here | below);
      for (uint32_t closed = ~(here & below) & 255; closed; closed &= closed - 1)
        f->solid.open[a][strip * STRIP + __builtin_ctz(closed)] = 0;
    }
}

/* A strip is near when a cell within one of it is cut. */
static void near_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const SolidSearch *search = context;
  FlipWork *work = search->work;
  for (int64_t strip = b; strip < e; strip++)
    work->fields.solid.near[strip] = grid_any_round(work->grid, search->cut, (int32_t)strip);
}

/* ---- what moves ---- */

/* Whether solids that move are near: only such strips have faces that do. */
bool strip_meets_moving(const FlipWork *work, int64_t strip) {
  return work->fields.solid.near[strip] && work->solids.strips[strip] != fixed_solids(work, strip);
}

Vec3 face_point(Vec3 origin, double cell, int lane, int axis) {
  return vec3_add(
      origin, vec3((lane + (axis == 0 ? 0 : 0.5)) * cell, (axis == 1 ? 0 : 0.5) * cell, (axis == 2 ? 0 : 0.5) * cell));
}

static void velocity_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  FlipFields *f = &work->fields;
  double cell = work->grid->cell;
  for (int64_t strip = b; strip < e; strip++) {
    if (!strip_meets_moving(work, strip)) continue;
    Vec3 origin = strip_origin(work, (int32_t)strip);
    for (int lane = 0; lane < STRIP; lane++)
      for (int a = 0; a < 3; a++) {
        int64_t at = strip * STRIP + lane;
        int16_t owner = f->solid.owner[a][at];
        if (owner < 0) continue;
        const Solid *solid = &work->state->solids.items[owner];
        if (!solid_moves(solid) || work->solids.body_of_solid[owner] >= 0) continue; /* bodies: flip_wall_velocities */
        f->solid.velocity[a][at] = (float)vec3_get(solid_velocity_at(solid, face_point(origin, cell, lane, a)), a);
      }
  }
}

static Status list_queries(SolidSearch *search) {
  FlipWork *work = search->work;
  const Solids *solids = &work->state->solids;
  TRY(scratch_take(work->core, work->step->scratch, &search->fixed, solids->count + 1, "solids"));
  TRY(scratch_take(work->core, work->step->scratch, &search->moving, solids->count + 1, "solids"));
  for (int32_t k = 0; k < solids->count; k++) {
    if (solid_moves(&solids->items[k])) query_of(work, k, &search->moving[search->moving_count++]);
    else query_of(work, k, &search->fixed[search->fixed_count++]);
  }
  return SCREE_OK;
}

Status flip_find_solids(FlipWork *work) {
  Core *core = work->core;
  int64_t strips = work->grid->strips;
  SolidSearch search = {.work = work};
  TRY(flip_list_bodies(work));
  TRY(scratch_take(core, work->step->scratch, &search.now, strips, "distances"));
  work->solids.strips = search.now;
  TRY(list_queries(&search));
  TRY(scratch_take(core, work->step->scratch, &search.moved, strips, "distances"));
  TRY(scratch_take(core, work->step->scratch, &search.cut, strips, "distances"));
  TRY(scratch_take(core, work->step->scratch, &search.fresh, strips, "distances"));
  TRY(take_records(work, search.fresh));
  search.now[0] = fixed_solids(work, 0);
  search.cut[0] = 0;
  parallel_for(core, 1, strips, SOLID_CHUNK, query_chunk, &search);
  parallel_for(core, 1, strips, SOLID_CHUNK, shares_chunk, &search);
  parallel_for(core, 1, strips, SOLID_CHUNK, valid_chunk, &search);
  parallel_for(core, 1, strips, SOLID_CHUNK, near_chunk, &search);
  flip_find_norms(work);
  parallel_for(core, 1, strips, SOLID_CHUNK, velocity_chunk, work);
  flip_find_free_volume(work);
  TRY(flip_list_faces(work));
  flip_set_body_velocities(work);
  return SCREE_OK;
}
