/* Parcels with a solid between them do not see each other: neither presses on the other, however thin the solid is.
 * Both parcels of a pair come to the same result: it is found along the line from the one with the lower id. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#define LANE_SCALAR
#include "methods/sph/spline.h"
#include "methods/sph/trace_shared.h"
#include "methods/sph/view.h"
#include "methods/sph/work.h"

enum { SHIELD_CHUNK = 256 };

bool sph_may_shield(const Solid *solid) {
  const Shape *shape = &solid->shape;
  return shape->kind != SCREE_SHAPE_PLANE && sph_can_trace(shape) &&
         (!shape->inside || shape->kind == SCREE_SHAPE_MESH);
}

typedef struct Shield {
  SphWork *work;
  uint8_t *hidden;
} Shield;

/* A parcel before a solid, in its frame. */
typedef struct Before {
  const Solid *solid;
  float place[3], normal[3], distance;
  Mat3 back; /* from the world's frame */
  Vec3 shift;
} Before;

static void to_solid(const Before *before, const Particles *p, int64_t i, float out[3]) {
  Vec3 at =
      vec3((double)p->x[i] + before->shift.x, (double)p->y[i] + before->shift.y, (double)p->z[i] + before->shift.z);
  at = mat3_apply(&before->back, at);
  for (int c = 0; c < 3; c++) out[c] = (float)vec3_get(at, c);
}

static void hide(void *context, int32_t who, float t, const float normal[3]) {
  (void)t, (void)normal;
  uint8_t *row = context;
  row[who / 8] |= (uint8_t)(1u << (who % 8));
}

/* A beam from the parcel with the lower id to the other. */
static void add_beam(SphBeams *beams, int32_t who, const float *from, const float *to, float end) {
  int k = beams->count++;
  beams->who[k] = who;
  beams->t[k] = 0;
  beams->end[k] = end;
  for (int c = 0; c < 3; c++) {
    beams->from[c][k] = from[c];
    beams->along[c][k] = (to[c] - from[c]) / end;
  }
}

/* A part of a row, at most BEAMS_MOST of it, that begins with entry `first`. */
static void shield_part(const SphWork *work, const Before *before, int64_t i, int64_t first, int count, uint8_t *bits) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const NeighborList *list = &state->contacts.particles.list;
  const int32_t *others = list->index + list->start[i] + first;
  const Shape *shape = &before->solid->shape;
  float d = work->control.spacing, at[3][BEAMS_MOST], clear[BEAMS_MOST];
  if (count <= 0) return;
  for (int k = 0; k < count; k++) {
    float place[3];
    to_solid(before, p, others[k], place);
    for (int c = 0; c < 3; c++) at[c][k] = place[c];
  }
  shape_distance_only(work->step->core, shape, count, at[0], at[1], at[2], SPLINE_SUPPORT * (double)d, clear);
  SphBeams beams;
  beams.count = 0;
  for (int k = 0; k < count; k++) {
    const float *from = before->place, to[3] = {at[0][k], at[1][k], at[2][k]};
    const LaneVec3 apart = vec_make(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
    const LaneVec3 normal = vec_make(before->normal[0], before->normal[1], before->normal[2]);
    const float length = real_sqrt(vec_dot(apart, apart));
    if (!shield_may(shape->kind == SCREE_SHAPE_MESH, before->distance, normal, apart, clear[k], length,
                    (float)SPLINE_SUPPORT * d, SHIELD_SLACK * d))
      continue;
    if (p->id[i] < p->id[others[k]]) add_beam(&beams, k, from, to, length);
    else add_beam(&beams, k, to, from, length);
  }
  sph_trace(work->step->core, shape, &beams, (double)d, hide, bits + first / 8);
}

static void shield_row(const SphWork *work, int64_t i, int32_t index, uint8_t *bits) {
  const State *state = work->step->state;
  const NeighborList *list = &state->contacts.particles.list;
  Before before = {.solid = &state->solids.items[index]};
  before.back = mat3_transpose(mat3_from_quat(before.solid->rotation));
  before.shift = vec3_sub(state->origin, before.solid->position);
  to_solid(&before, &state->particles, i, before.place);
  shape_distance_range(work->step->core, &before.solid->shape, 1, &before.place[0], &before.place[1], &before.place[2],
                       SPLINE_SUPPORT * (double)work->control.spacing, &before.distance, &before.normal[0],
                       &before.normal[1], &before.normal[2]);
  if (!(before.distance > 0) || !(before.distance < (float)SPLINE_SUPPORT * work->control.spacing)) return;
  int64_t length = list->start[i + 1] - list->start[i];
  for (int64_t first = 0; first < length; first += BEAMS_MOST)
    shield_part(work, &before, i, first, (int)(length - first < BEAMS_MOST ? length - first : BEAMS_MOST), bits);
}

static void shield_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Shield *shield = context;
  const SphWork *work = shield->work;
  const State *state = work->step->state;
  const NeighborList *solids = &state->contacts.solids.list, *list = &state->contacts.particles.list;
  for (int64_t r = b; r < e; r++) {
    const int64_t i = sph_row_parcel(work, r);
    if (work->pairs.hidden_start[r] < 0) continue;
    uint8_t *bits = shield->hidden + work->pairs.hidden_start[r];
    memset(bits, 0, (size_t)(list->start[i + 1] - list->start[i] + 7) / 8);
    for (int64_t k = solids->start[i]; k < solids->start[i + 1]; k++)
      if (sph_may_shield(&state->solids.items[solids->index[k]])) shield_row(work, i, solids->index[k], bits);
  }
}

bool sph_shield_possible(const State *state, int64_t i) {
  const NeighborList *solids = &state->contacts.solids.list;
  bool possible = false;
  for (int64_t k = solids->start[i]; k < solids->start[i + 1]; k++)
    possible |= sph_may_shield(&state->solids.items[solids->index[k]]);
  return possible;
}

Status sph_shield_find(SphWork *work) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  const NeighborList *solids = &state->contacts.solids.list, *list = &state->contacts.particles.list;
  bool any = false;
  for (int32_t s = 0; s < state->solids.count; s++) any |= sph_may_shield(&state->solids.items[s]);
  if (!any || !solids->start) return SCREE_OK;
  int64_t *start = NULL, bytes = 0;
  Shield shield = {work, NULL};
  TRY(scratch_take(core, work->step->scratch, &start, work->walls.rows, "sph pairs"));
  for (int64_t r = 0; r < work->walls.rows; r++) {
    const int64_t i = sph_row_parcel(work, r);
    const bool possible = sph_shield_possible(state, i);
    start[r] = possible ? bytes : -1;
    if (possible) bytes += (list->start[i + 1] - list->start[i] + 7) / 8;
  }
  TRY(scratch_take(core, work->step->scratch, &shield.hidden, bytes, "sph pairs"));
  work->pairs.hidden_start = start;
  work->pairs.hidden = shield.hidden;
  work->pairs.hidden_bytes = bytes;
  parallel_for(core, 0, work->walls.rows, SHIELD_CHUNK, shield_chunk, &shield);
  return SCREE_OK;
}
