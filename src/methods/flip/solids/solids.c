/* Walls and bodies on the grid.
 *
 * Each strip knows the signed distance at the corners of its cells; shares of cells and faces follow from it by what a
 * plane would cut (Section 2.4: the antialiased phi_s). Faces wholly inside carry the solid's velocity. Weights near
 * solids are those of free_volume.c. */
#include "methods/flip/solids/solids.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/solids/seams.h"
#include "methods/flip/solids/solids_kernels.h"
#include "methods/flip/solids/strip_union.h"
#include "methods/flip/stress/stress.h"

enum {
  SOLID_CHUNK = 64,
};

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
  const SolidQuery **near; /* these two: room for all solids, per thread */
  PlacedSolid *placed;
} SolidSearch;

static void add_all(const FlipWork *work, const SolidQuery *queries, int32_t count, Vec3 origin, StripUnion *all) {
  for (int32_t k = 0; k < count; k++) strip_union_add(work, &queries[k], origin, all);
}

static void query_fixed(const SolidSearch *search, int64_t strip, Vec3 origin, StripUnion *all) {
  FlipWork *work = search->work;
  int32_t *record = &work->kept->record[strip];
  StripSolids *to = &work->records->items[*record];
  add_all(work, search->fixed, search->fixed_count, origin, all);
  strip_union_end(work, origin, all, to);
  if (!to->touched) *record = RECORD_FREE;
}

static void query_chunk(void *context, int64_t b, int64_t e, int thread) {
  const SolidSearch *search = context;
  FlipWork *work = search->work;
  int64_t room = (int64_t)thread * work->state->solids.count;
  StripUnion all;
  for (int64_t strip = b; strip < e; strip++) {
    Vec3 origin = strip_origin(work, (int32_t)strip);
    if (search->fresh[strip]) {
      strip_union_begin(&all, search->near + room, search->placed + room);
      query_fixed(search, strip, origin, &all);
    }
    const StripSolids *fixed = fixed_solids(work, strip);
    bool far = true;
    for (int32_t k = 0; k < search->moving_count && far; k++) far = solid_query_far(work, &search->moving[k], origin);
    if (!far) {
      strip_union_begin(&all, search->near + room, search->placed + room);
      if (fixed->touched) add_all(work, search->fixed, search->fixed_count, origin, &all);
      int32_t count = all.count;
      add_all(work, search->moving, search->moving_count, origin, &all);
      far = all.count == count;
    }
    if (!far) strip_union_end(work, origin, &all, &search->moved[strip]);
    search->now[strip] = far ? fixed : &search->moved[strip];
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

static void seams_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const SolidSearch *search = context;
  for (int64_t strip = b; strip < e; strip++) seams_close_faces(search->work, strip);
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
    /* Ground stays where it is, but not as it is: bodies press it, and it slides. */
    bool changes = solids->items[k].shape.kind == SCREE_SHAPE_HEIGHTFIELD;
    if (changes || solid_moves(&solids->items[k])) solid_query_of(work, k, &search->moving[search->moving_count++]);
    else solid_query_of(work, k, &search->fixed[search->fixed_count++]);
  }
  int64_t room = (int64_t)pool_threads(work->core->pool) * solids->count;
  TRY(scratch_take(work->core, work->step->scratch, &search->near, room + 1, "solids"));
  return scratch_take(work->core, work->step->scratch, &search->placed, room + 1, "solids");
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
  parallel_for(core, 1, strips, SOLID_CHUNK, seams_chunk, &search);
  parallel_for(core, 1, strips, SOLID_CHUNK, valid_chunk, &search);
  parallel_for(core, 1, strips, SOLID_CHUNK, near_chunk, &search);
  flip_find_norms(work);
  parallel_for(core, 1, strips, SOLID_CHUNK, velocity_chunk, work);
  flip_find_free_volume(work);
  TRY(flip_list_faces(work));
  flip_set_body_velocities(work);
  return SCREE_OK;
}
