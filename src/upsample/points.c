/* mode points: the render points of Narain 2010, Section 5.
 *
 * Each particle of a continuum has a number of points within its ellipsoid. They go with the flow as the grid has it at
 * the particle, to first order: the offset from the particle is stretched by the product of (1 + dt J) over the frame,
 * which the method keeps in fields of this room (FLOW_FIELDS). When a particle splits or merges its points go to the
 * nearest heir; those that come to lie outside their particle's ellipsoid are drawn anew within it. Those that come
 * into a solid are put out of it. Where sand is dense all round, particles have no points. */
#include "upsample/points.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"

enum { POINTS_CHUNK = 4096, CROWD_BITS = 21, FULL = 1024, GONE = -1, DRAWS = 8 };

/* Shares of a full cell: a particle loses its points where no cell round it holds less than the first, and gets new
 * ones where one holds less than the second. Between the two it keeps what it has. */
#define HIDDEN_FROM 0.97
#define SHOWN_BELOW 0.85
/* Side of the cells, in radii: those of the method. */
#define CROWD_CELL 4.0
/* Semi-axes may be longer than this many radii in no valid shape; offsets beyond are no offsets. */
#define FARTHEST 8.0f
/* Of the ellipsoid, so that it has the volume of the sand it stands for: (4/3) pi q^3 r^3 = (2 r)^3. */
#define POINTS_REACH 1.2407f

static const char *const SHAPE_FIELDS[6] = {"shape_xx", "shape_yy", "shape_zz", "shape_xy", "shape_yz", "shape_xz"};
static const char *const FLOW_FIELDS[9] = {"flow_xx", "flow_xy", "flow_xz", "flow_yx", "flow_yy",
                                           "flow_yz", "flow_zx", "flow_zy", "flow_zz"};

Status points_create(Core *core, Upsample *up, State *state) {
  Particles *p = &state->particles;
  RenderPoints *points = &up->points;
  for (int k = 0; k < 6; k++) {
    points->shape[k] = (float **)particles_field(p, SHAPE_FIELDS[k]);
    if (!points->shape[k])
      return fail(core, SCREE_BAD_INPUT,
                  "upsample.mode points needs method flip with shapes: points lie in ellipsoids");
  }
  for (int k = 0; k < 9; k++) TRY(particles_add_floats(core, p, FLOW_FIELDS[k], 1, false, (void **)&points->flow[k]));
  return SCREE_OK;
}

void points_destroy(Core *core, RenderPoints *points) {
  memory_drop(core, &points->parent);
  for (int a = 0; a < 3; a++) memory_drop(core, &points->offset[a]);
}

static Status points_reserve(Core *core, RenderPoints *points, int64_t count) {
  TRY(memory_grow(core, &points->parent, count, "render points"));
  for (int a = 0; a < 3; a++) TRY(memory_grow(core, &points->offset[a], count, "render points"));
  return SCREE_OK;
}

Status points_archive(Core *core, Archive *archive, Upsample *up) {
  RenderPoints *points = &up->points;
  int64_t count = up->grains.count;
  TRY(archive_section(core, archive, "render points"));
  TRY(points_reserve(core, points, count));
  TRY(archive_array(core, archive, points->parent, count));
  for (int a = 0; a < 3; a++) TRY(archive_array(core, archive, points->offset[a], count));
  return SCREE_OK;
}

Status points_check(Core *core, const Archive *archive, const Upsample *up, const State *state) {
  const RenderPoints *points = &up->points;
  bool good = true;
  for (int a = 0; a < 3; a++) good = good && floats_finite(points->offset[a], up->grains.count);
  for (int64_t k = 0; k < up->grains.count && good; k++) good = points->parent[k] < state->particles.next_id;
  return good ? SCREE_OK : archive_refuse(core, archive, "a render point belongs to nobody");
}

/* ---- ellipsoids ---- */

/* The lower triangle L of A = L L^T, in m: xx yx yy zx zy zz. */
typedef struct Ellipsoid {
  float l[6];
} Ellipsoid;

/* What an off-diagonal of L can be at most where A is a product of its kind: rounding and the floor of tiny axes would
 * else make needles of flat ellipsoids. */
static float within(float value, float square) {
  float most = sqrtf(square > 0 ? square : 0);
  return value > most ? most : value < -most ? -most : value;
}

static Ellipsoid ellipsoid_of(const Upsample *up, const State *state, int64_t i) {
  float a[6], r = POINTS_REACH * (float)state->radius;
  for (int k = 0; k < 6; k++) a[k] = (*up->points.shape[k])[i];
  if (!(a[0] > 0 && a[1] > 0 && a[2] > 0)) return (Ellipsoid){{r, 0, r, 0, 0, r}};
  const float tiny = 1e-4f;
  float xx = sqrtf(a[0] > tiny ? a[0] : tiny), yx = within(a[3] / xx, a[1]), zx = within(a[5] / xx, a[2]);
  float yy = a[1] - yx * yx, zy, zz;
  yy = sqrtf(yy > tiny ? yy : tiny);
  zy = within((a[4] - yx * zx) / yy, a[2] - zx * zx);
  zz = a[2] - zx * zx - zy * zy;
  zz = sqrtf(zz > tiny ? zz : tiny);
  return (Ellipsoid){{r * xx, r * yx, r * yy, r * zx, r * zy, r * zz}};
}

static bool ellipsoid_holds(const Ellipsoid *e, const float o[3]) {
  float u = o[0] / e->l[0], v = (o[1] - e->l[1] * u) / e->l[2], w = (o[2] - e->l[3] * u - e->l[4] * v) / e->l[5];
  return u * u + v * v + w * w <= 1;
}

static void ellipsoid_draw(const Ellipsoid *e, uint64_t bits, float o[3]) {
  float u[3] = {0};
  for (int attempt = 0; attempt < 32; attempt++) {
    for (int a = 0; a < 3; a++) {
      bits = rng_mix(bits);
      u[a] = 2 * rng_unitf(bits) - 1;
    }
    if (u[0] * u[0] + u[1] * u[1] + u[2] * u[2] <= 1) break;
  }
  o[0] = e->l[0] * u[0];
  o[1] = e->l[1] * u[0] + e->l[2] * u[1];
  o[2] = e->l[3] * u[0] + e->l[4] * u[1] + e->l[5] * u[2];
}

/* ---- who is whose heir ---- */

/* Of a particle that died in the frame. */
typedef struct End {
  float at[3];
  float child_at[2][3];
  uint32_t child[2]; /* ids; 0: none */
  uint32_t partner;  /* merged: whose heir is its heir too */
} End;

typedef struct Frame {
  Core *core;
  Upsample *up;
  const State *state;
  double dt;
  int64_t ids;
  int32_t *link; /* by id: the particle's place; GONE; or below it, -2 - its place among the ends */
  End *ends;
  int32_t end_count;
  _Atomic uint32_t *crowd; /* sand per cell, by hash */
  _Atomic uint32_t *count; /* points per particle */
  uint8_t *hidden;         /* per particle: crowd all round */
  bool *keep;              /* per point */
} Frame;

static End *end_of(const Frame *frame, uint32_t id) {
  if (id == 0 || id >= (uint64_t)frame->ids || frame->link[id] > -2) return NULL;
  return &frame->ends[-2 - frame->link[id]];
}

static Status find_heirs(Frame *frame, Scratch *scratch) {
  const State *state = frame->state;
  const Queue *queue = &state->queue;
  const Particles *p = &state->particles;
  frame->ids = (int64_t)p->next_id;
  TRY(scratch_take(frame->core, scratch, &frame->link, frame->ids + 1, "heirs"));
  TRY(scratch_take(frame->core, scratch, &frame->ends, queue->done_death_count + 1, "heirs"));
  memset(frame->link, 0xff, sizeof *frame->link * (size_t)(frame->ids + 1));
  for (int64_t k = 0; k < queue->done_death_count; k++) {
    const Death *death = &queue->done_deaths[k];
    if (death->id >= (uint64_t)frame->ids || (death->reason != REASON_SPLIT && death->reason != REASON_MERGE)) continue;
    frame->ends[frame->end_count] = (End){.at = {death->x, death->y, death->z}, .partner = death->heir};
    frame->link[death->id] = -2 - frame->end_count++;
  }
  for (int64_t k = 0; k < queue->done_birth_count; k++) {
    const Birth *birth = &queue->done_births[k];
    End *end = birth->reason == REASON_SPLIT || birth->reason == REASON_MERGE ? end_of(frame, birth->parent) : NULL;
    if (!end) continue;
    int which = end->child[0] ? 1 : 0;
    Vec3 at = vec3_sub(birth->position, state->origin);
    end->child[which] = birth->id;
    for (int a = 0; a < 3; a++) end->child_at[which][a] = (float)vec3_get(at, a);
  }
  for (int64_t i = 0; i < p->count; i++) frame->link[p->id[i]] = (int32_t)i;
  return SCREE_OK;
}

/* The living particle that a point belongs to; its offset follows. GONE: none. */
static int32_t heir_of(const Frame *frame, uint32_t id, float o[3]) {
  for (int generation = 0; generation < 64; generation++) {
    if (id >= (uint64_t)frame->ids) return GONE;
    if (frame->link[id] >= GONE) return frame->link[id];
    const End *own = end_of(frame, id), *end = own;
    if (!own->child[0] && own->partner) end = end_of(frame, own->partner);
    if (!end || !end->child[0]) return GONE;
    float square[2] = {0, INFINITY}, best[2][3];
    for (int c = 0; c < 2 && end->child[c]; c++) {
      square[c] = 0;
      for (int a = 0; a < 3; a++) {
        best[c][a] = own->at[a] + o[a] - end->child_at[c][a];
        square[c] += best[c][a] * best[c][a];
      }
    }
    int which = square[1] < square[0];
    id = end->child[which];
    memcpy(o, best[which], sizeof best[which]);
  }
  return GONE;
}

/* ---- where sand is dense all round ---- */

static uint32_t crowd_slot(int32_t x, int32_t y, int32_t z) {
  uint64_t key = (uint64_t)(uint32_t)x * 0x9e3779b97f4a7c15u ^ (uint64_t)(uint32_t)y * 0xc2b2ae3d27d4eb4fu ^
                 (uint64_t)(uint32_t)z * 0x165667b19e3779f9u;
  return (uint32_t)(rng_mix(key) >> (64 - CROWD_BITS));
}

static bool crowd_place(const State *state, int64_t i, int32_t cell[3]) {
  const Particles *p = &state->particles;
  const float at[3] = {p->x[i], p->y[i], p->z[i]};
  const double origin[3] = {state->origin.x, state->origin.y, state->origin.z};
  for (int a = 0; a < 3; a++) {
    double c = ((double)at[a] + origin[a]) / (CROWD_CELL * state->radius);
    if (!(fabs(c) < 1e9)) return false;
    cell[a] = (int32_t)floor(c);
  }
  return true;
}

/* Bulk volume over that of a particle as it began. */
static double share_of_full(const State *state, int64_t i) {
  const Particles *p = &state->particles;
  double density = state->materials.items[p->material[i]].definition.density;
  return (double)p->mass[i] / (density * parcel_volume(state->radius));
}

static void crowd_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Frame *frame = context;
  for (int64_t i = b; i < e; i++) {
    int32_t cell[3];
    if (!crowd_place(frame->state, i, cell)) continue;
    uint32_t share = (uint32_t)(share_of_full(frame->state, i) * FULL + 0.5);
    atomic_fetch_add_explicit(&frame->crowd[crowd_slot(cell[0], cell[1], cell[2])], share, memory_order_relaxed);
  }
}

/* 2: hidden for all; 1: hidden for those that have no points. */
static void hidden_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Frame *frame = context;
  const double full = FULL * CROWD_CELL * CROWD_CELL * CROWD_CELL / 8;
  const uint32_t most = (uint32_t)(HIDDEN_FROM * full), some = (uint32_t)(SHOWN_BELOW * full);
  for (int64_t i = b; i < e; i++) {
    int32_t cell[3];
    uint32_t least = UINT32_MAX;
    frame->hidden[i] = 0;
    if (!crowd_place(frame->state, i, cell)) continue;
    for (int k = 0; k < 27 && least >= some; k++) {
      uint32_t slot = crowd_slot(cell[0] + k % 3 - 1, cell[1] + k / 3 % 3 - 1, cell[2] + k / 9 - 1);
      uint32_t here = atomic_load_explicit(&frame->crowd[slot], memory_order_relaxed);
      least = here < least ? here : least;
    }
    frame->hidden[i] = least >= most ? 2 : least >= some ? 1 : 0;
  }
}

/* ---- one frame ---- */

static void place_point(const Frame *frame, int64_t k, int32_t i, const float o[3]) {
  const Particles *p = &frame->state->particles;
  FineGrains *g = &frame->up->grains;
  for (int a = 0; a < 3; a++) frame->up->points.offset[a][k] = o[a];
  frame->up->points.parent[k] = p->id[i];
  g->x[k] = p->x[i] + o[0];
  g->y[k] = p->y[i] + o[1];
  g->z[k] = p->z[i] + o[2];
}

static Vec3 place_of(const Particles *p, int64_t i) { return vec3((double)p->x[i], (double)p->y[i], (double)p->z[i]); }

static void draw_point(const Frame *frame, int64_t k, int32_t i, int draw) {
  const State *state = frame->state;
  Ellipsoid ellipsoid = ellipsoid_of(frame->up, state, i);
  uint64_t moment = (uint64_t)state->frame * DRAWS + (uint64_t)draw;
  float o[3];
  ellipsoid_draw(&ellipsoid, rng_bits(state->seed, frame->up->grains.id[k], moment, RNG_UPSAMPLE), o);
  place_point(frame, k, i, o);
}

/* Keeps points [b, e), at most FINE_BLOCK, out of solids: those that have just been drawn are drawn again, so that they
 * stay evenly spread, others are put on the surface. */
static void keep_out(const Frame *frame, int64_t b, int64_t e, const bool *drawn) {
  Upsample *up = frame->up;
  const FineGrains *g = &up->grains;
  const Particles *p = &frame->state->particles;
  int32_t list[FINE_BLOCK];
  int64_t count = walls_touching(frame->core, up, e - b, g->x + b, g->y + b, g->z + b, g->radius + b, list);
  for (int64_t n = 0; n < count; n++) {
    int64_t k = b + list[n];
    int32_t i = frame->link[up->points.parent[k]];
    double radius = (double)g->radius[k];
    if (i < 0) continue; /* not kept */
    Vec3 at = vec3((double)g->x[k], (double)g->y[k], (double)g->z[k]);
    bool free = solids_leave_room(up, radius, at);
    for (int draw = 1; draw < DRAWS && !free && drawn[list[n]]; draw++) {
      draw_point(frame, k, i, draw);
      at = vec3((double)g->x[k], (double)g->y[k], (double)g->z[k]);
      free = solids_leave_room(up, radius, at);
    }
    if (free) continue;
    if (!solids_put_out(up, radius, &at)) { /* too deep in the wall to tell its side: back to its particle */
      at = place_of(p, i);
      solids_put_out(up, radius, &at);
    }
    Vec3 offset = vec3_sub(at, place_of(p, i));
    const float o[3] = {(float)offset.x, (float)offset.y, (float)offset.z};
    place_point(frame, k, i, o);
  }
}

/* Points [b, e), at most FINE_BLOCK. */
static void follow_block(const Frame *frame, int64_t b, int64_t e) {
  const State *state = frame->state;
  const Particles *p = &state->particles;
  RenderPoints *points = &frame->up->points;
  FineGrains *g = &frame->up->grains;
  float per = (float)(1 / frame->dt), far = FARTHEST * (float)state->radius, before[FINE_BLOCK][3];
  bool drawn[FINE_BLOCK] = {false};
  for (int64_t k = b; k < e; k++) {
    float o[3] = {points->offset[0][k], points->offset[1][k], points->offset[2][k]}, to[3];
    int32_t i = heir_of(frame, points->parent[k], o);
    frame->keep[k] = i >= 0 && frame->hidden[i] < 2;
    if (!frame->keep[k]) continue;
    for (int a = 0; a < 3; a++) {
      to[a] = o[a];
      for (int c = 0; c < 3; c++) to[a] += points->flow[3 * a + c][i] * o[c];
      to[a] = to[a] > -far && to[a] < far ? to[a] : far; /* outside: drawn anew */
    }
    before[k - b][0] = g->x[k], before[k - b][1] = g->y[k], before[k - b][2] = g->z[k];
    Ellipsoid ellipsoid = ellipsoid_of(frame->up, state, i);
    drawn[k - b] = !ellipsoid_holds(&ellipsoid, to);
    if (drawn[k - b]) draw_point(frame, k, i, 0);
    else place_point(frame, k, i, to);
    atomic_fetch_add_explicit(&frame->count[i], 1, memory_order_relaxed);
  }
  keep_out(frame, b, e, drawn);
  for (int64_t k = b; k < e; k++) {
    if (!frame->keep[k]) continue;
    int32_t i = frame->link[points->parent[k]];
    g->vx[k] = drawn[k - b] ? p->vx[i] : (g->x[k] - before[k - b][0]) * per;
    g->vy[k] = drawn[k - b] ? p->vy[i] : (g->y[k] - before[k - b][1]) * per;
    g->vz[k] = drawn[k - b] ? p->vz[i] : (g->z[k] - before[k - b][2]) * per;
  }
}

static void follow_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  for (int64_t k = b; k < e; k += FINE_BLOCK) follow_block(context, k, k + FINE_BLOCK < e ? k + FINE_BLOCK : e);
}

static void keep_out_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  bool drawn[FINE_BLOCK];
  memset(drawn, true, sizeof drawn);
  for (int64_t k = b; k < e; k += FINE_BLOCK) keep_out(context, k, k + FINE_BLOCK < e ? k + FINE_BLOCK : e, drawn);
}

static void close_ranks(Frame *frame) {
  FineGrains *g = &frame->up->grains;
  RenderPoints *points = &frame->up->points;
  int64_t kept = 0;
  for (int64_t k = 0; k < g->count; k++) {
    if (!frame->keep[k]) continue;
    if (kept < k) {
#define POINT_MOVE(type, name) g->name[kept] = g->name[k];
      FINE_FIELDS(POINT_MOVE)
#undef POINT_MOVE
      points->parent[kept] = points->parent[k];
      for (int a = 0; a < 3; a++) points->offset[a][kept] = points->offset[a][k];
    }
    kept++;
  }
  g->count = kept;
}

/* How many points a particle without any gets. */
static int64_t points_wanted(const Frame *frame, int64_t i) {
  if (frame->hidden[i] > 0 || atomic_load_explicit(&frame->count[i], memory_order_relaxed) > 0) return 0;
  double wanted = (double)frame->up->definition.points * share_of_full(frame->state, i);
  double drawn = rng_unit(rng_bits(frame->state->seed, frame->state->particles.id[i], 0, RNG_UPSAMPLE));
  int64_t count = (int64_t)fmin(wanted + drawn, 1e6);
  return count > 0 ? count : 1;
}

static Status draw_new(Frame *frame) {
  const Particles *p = &frame->state->particles;
  FineGrains *g = NULL;
  int64_t total = 0, first = 0;
  for (int64_t i = 0; i < p->count; i++) total += points_wanted(frame, i);
  if (total == 0) return SCREE_OK;
  TRY(fine_append(frame->core, frame->up, total, &g, &first));
  TRY(points_reserve(frame->core, &frame->up->points, g->count));
  int64_t k = first;
  for (int64_t i = 0; i < p->count; i++) {
    int64_t wanted = points_wanted(frame, i);
    for (int64_t end = k + wanted; k < end; k++) {
      draw_point(frame, k, (int32_t)i, 0);
      g->vx[k] = p->vx[i];
      g->vy[k] = p->vy[i];
      g->vz[k] = p->vz[i];
      g->radius[k] = (float)frame->up->definition.radius;
      g->material[k] = p->material[i];
    }
  }
  parallel_for(frame->core, first, g->count, POINTS_CHUNK, keep_out_chunk, frame);
  return SCREE_OK;
}

static Status advance(Frame *frame, Scratch *scratch) {
  Core *core = frame->core;
  int64_t particles = frame->state->particles.count, points = frame->up->grains.count;
  TRY(find_heirs(frame, scratch));
  TRY(scratch_take(core, scratch, &frame->crowd, 1ll << CROWD_BITS, "crowds"));
  TRY(scratch_take(core, scratch, &frame->count, particles + 1, "points of particles"));
  TRY(scratch_take(core, scratch, &frame->hidden, particles + 1, "hidden"));
  TRY(scratch_take(core, scratch, &frame->keep, points + 1, "kept"));
  memset((void *)frame->crowd, 0, sizeof *frame->crowd << CROWD_BITS);
  memset((void *)frame->count, 0, sizeof *frame->count * (size_t)(particles + 1));
  parallel_for(core, 0, particles, POINTS_CHUNK, crowd_chunk, frame);
  parallel_for(core, 0, particles, POINTS_CHUNK, hidden_chunk, frame);
  parallel_for(core, 0, points, POINTS_CHUNK, follow_chunk, frame);
  close_ranks(frame);
  TRY(draw_new(frame));
  for (int k = 0; k < 9; k++) memset(frame->up->points.flow[k], 0, sizeof(float) * (size_t)particles);
  return fine_forget_blocks(core, frame->up, 0);
}

Status points_advance(Core *core, Upsample *up, const State *state, Scratch *scratch, double dt) {
  Frame frame = {.core = core, .up = up, .state = state, .dt = dt};
  int mark = scratch_mark(scratch);
  solids_view_refresh(up, state);
  Status status = advance(&frame, scratch);
  scratch_release(core, scratch, mark);
  if (status == SCREE_OK) solids_view_commit(up);
  return status;
}
