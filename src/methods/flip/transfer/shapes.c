#include "methods/flip/transfer/shapes.h"
#include "core/portable.h"
#include "methods/flip/solids/boundary_contact.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/transfer/shapes_kernels.h"

enum { SPLIT_CHUNK = 64, MERGE_CHUNK = 256, MERGE_TURNS = 4 };

#define SQUARE_LEAST 0.5f /* squares of semi-axes, in squares of the radius */
#define SQUARE_MOST 2.0f
#define SLACK 1e-5f /* halving an axis of exactly sqrt2 must stay valid in single precision */
/* How near partners are looked for, in radii: beyond, Eq. 29 makes an axis too long. */
#define MERGE_REACH 2.0
/* Square of the longest axis of what pairs are looked for to make. Any two spheres side by side make a valid one, of
 * the longest axis that is allowed: the next step would split it again. */
#define MERGED_MOST 1.7f
/* A particle is not split into less than this share of a full one: a cloud that disperses without end would be split
 * without end. */
#define MASS_LEAST (1.0 / 64)
/* Above the keys of emitters. */
#define KEY_OF_SHAPES (1ull << 62)

/* ---- one ellipsoid ---- */

Mat3 shape_matrix(const Shape6 *s) {
  const float *a = s->a;
  return (Mat3){{{(double)a[0], (double)a[3], (double)a[5]},
                 {(double)a[3], (double)a[1], (double)a[4]},
                 {(double)a[5], (double)a[4], (double)a[2]}}};
}

Shape6 shape_of_matrix(const Mat3 *m) {
  return (Shape6){{(float)m->m[0][0], (float)m->m[1][1], (float)m->m[2][2], (float)m->m[0][1], (float)m->m[1][2],
                   (float)m->m[0][2]}};
}

bool shape_is_valid(const Shape6 *shape, double *shortest, double *longest) {
  const float *a = shape->a;
  float x = a[0] - 1, y = a[1] - 1, z = a[2] - 1;
  float off = x * x + y * y + z * z + 2 * (a[3] * a[3] + a[4] * a[4] + a[5] * a[5]);
  *shortest = *longest = 1;
  if (off < 0.24f) return true; /* no eigenvalue is farther from 1 than the root of it */
  double values[3];
  Mat3 axes;
  mat3_eigen_symmetric(shape_matrix(shape), values, &axes);
  *shortest = values[0];
  *longest = values[2];
  return values[0] >= (double)(SQUARE_LEAST - SLACK) && values[2] <= (double)(SQUARE_MOST + SLACK);
}

/* Whether m - shift 1 (sign +1) or shift 1 - m (sign -1) is positive: leading minors. */
static bool beyond(const float a[STRESSES], float shift, float sign) {
  float x = sign * (a[0] - shift), y = sign * (a[1] - shift), z = sign * (a[2] - shift);
  float u = sign * a[3], v = sign * a[4], w = sign * a[5];
  float minor = x * y - u * u;
  return x > 0 && minor > 0 && z * minor - x * v * v + 2 * u * v * w - y * w * w > 0;
}

/* No axis is too short. Sheared sand is as thin across as it is long: most long ones are not, and cannot be split. */
static bool is_thick(const Shape6 *shape) { return beyond(shape->a, SQUARE_LEAST - SLACK, 1); }

/* As shape_is_valid says, without eigenvalues. */
static int kind_of(const Shape6 *shape) {
  if (!beyond(shape->a, SQUARE_MOST + SLACK, -1)) return IS_LONG;
  return is_thick(shape) ? IS_VALID : IS_THIN;
}

/* Each child has half the axis; its centre lies at sqrt(3)/2 of it, for then Eq. 29 gives the parent back:
 * a^2 / 4 + 3 a^2 / 4 = a^2. */
bool shape_split(const Shape6 *shape, Shape6 *child, Vec3 *offset) {
  if (!is_thick(shape)) return false;
  double values[3], shortest, longest;
  Mat3 axes, m = shape_matrix(shape);
  mat3_eigen_symmetric(m, values, &axes);
  Vec3 axis = vec3(axes.m[0][2], axes.m[1][2], axes.m[2][2]);
  *offset = vec3_scale(axis, sqrt(0.75 * values[2]));
  m = mat3_add(m, mat3_scale(mat3_outer(axis, axis), -0.75 * values[2]));
  *child = shape_of_matrix(&m);
  return shape_is_valid(child, &shortest, &longest);
}

bool shape_merge(const Shape6 *a, double mass_a, const Shape6 *b, double mass_b, Vec3 apart, Shape6 *merged) {
  double total = mass_a + mass_b;
  double share_a = mass_a / total, share_b = mass_b / total;
  /* offsets from the common centre: apart m_b / M and -apart m_a / M */
  Mat3 sum = mat3_add(mat3_scale(shape_matrix(a), share_a), mat3_scale(shape_matrix(b), share_b));
  sum = mat3_add(sum, mat3_scale(mat3_outer(apart, apart), share_a * share_b));
  *merged = shape_of_matrix(&sum);
  return kind_of(merged) == IS_VALID;
}

/* ---- all of them ---- */

Status shapes_create(Core *core, State *state, FlipShapes *shapes) {
  static const char *const names[STRESSES] = {"shape_xx", "shape_yy", "shape_zz", "shape_xy", "shape_yz", "shape_xz"};
  for (int k = 0; k < STRESSES; k++)
    TRY(particles_add_floats(core, &state->particles, names[k], 1, true, (void **)&shapes->a[k]));
  return SCREE_OK;
}

void shapes_destroy(Core *core, FlipShapes *shapes) { memory_drop(core, &shapes->pending); }

void shapes_born(FlipShapes *shapes, State *state) {
  int64_t first = state->particles.count - shapes->pending_count;
  for (int64_t k = 0; k < shapes->pending_count && first >= 0; k++)
    for (int c = 0; c < STRESSES; c++) shapes->a[c][first + k] = shapes->pending[k].a[c];
  shapes->pending_count = 0;
}

Status shapes_archive(Core *core, Archive *archive, FlipShapes *shapes) {
  TRY(archive_value(core, archive, &shapes->splits));
  TRY(archive_value(core, archive, &shapes->merges));
  TRY(archive_count(core, archive, &shapes->pending_count, (int64_t)sizeof *shapes->pending));
  if (shapes->pending_count == 0) return SCREE_OK;
  TRY(memory_grow(core, &shapes->pending, shapes->pending_count, "flip shapes"));
  return archive_array(core, archive, shapes->pending, shapes->pending_count);
}

/* The queue holds a birth for each shape that waits. */
Status shapes_check(Core *core, const Archive *archive, const State *state, const FlipShapes *shapes) {
  int64_t waiting = 0;
  for (int64_t k = 0; k < state->queue.birth_count; k++)
    waiting += state->queue.births[k].reason == REASON_SPLIT || state->queue.births[k].reason == REASON_MERGE;
  if (shapes->pending_count != waiting || shapes->splits < 0 || shapes->merges < 0 ||
      (waiting > 0 && !floats_finite(shapes->pending->a, STRESSES * waiting)))
    return archive_refuse(core, archive, "%lld shapes wait for %lld births", (long long)shapes->pending_count,
                          (long long)waiting);
  return SCREE_OK;
}

typedef struct Proposal {
  int32_t from; /* in the order of cells */
  int32_t to;   /* -1: none found */
  float score;  /* distance squared, in squares of the radius */
} Proposal;

typedef struct Halves {
  int32_t of; /* in the order of cells */
  bool valid;
  Shape6 shape;
  Vec3 at[2];
} Halves;

typedef struct Advance {
  FlipShapes *shapes;
  FlipWork *work;
  const uint8_t *kind; /* in the order of cells */
  Halves *halves;
  Proposal *proposals;
  int64_t long_count, thin_count;
  float inverse; /* 1 / radius */
} Advance;

static Shape6 shape_at(const FlipShapes *shapes, int64_t i) {
  Shape6 shape;
  for (int k = 0; k < STRESSES; k++) shape.a[k] = shapes->a[k][i];
  return shape;
}

/* 1 + G' = F (1 + G) */
static void add_flow(const FlipShapes *shapes, int32_t i, float *const f[9], int32_t at) {
  float before[3][3];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) before[r][c] = (float)(r == c) + shapes->flow[r][c][i];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      shapes->flow[r][c][i] = f[3 * r][at] * before[0][c] + f[3 * r + 1][at] * before[1][c] +
                              f[3 * r + 2][at] * before[2][c] - (float)(r == c);
}

/* Most are neither thin nor long: eight are looked at at once. `kind` ends with a whole register. */
static ShapeCounts count_kinds(uint8_t *kind, int32_t count) {
  const uint64_t ones = 0x0101010101010101u;
  ShapeCounts shape_counts = {0};
  memset(kind + count, IS_VALID, (size_t)(-count & (LANES - 1)));
  for (int32_t k = 0; k < count; k += LANES) {
    uint64_t kinds;
    memcpy(&kinds, kind + k, sizeof kinds);
    if (!((kinds ^ kinds >> 1) & ones)) continue; /* all are valid or stuck */
    shape_counts.thin += __builtin_popcountll(kinds & ~(kinds >> 1) & ones * IS_THIN);
    shape_counts.too_long += __builtin_popcountll(kinds & ~(kinds << 1) & ones * IS_LONG);
  }
  return shape_counts;
}

void shapes_stretch(const FlipShapes *shapes, const FlipWork *work, int64_t strip, const Stretch *with) {
  int32_t b = work->order->start[strip * STRIP], count = work->order->start[(strip + 1) * STRIP] - b;
  const int32_t *index = work->order->index + b;
  for (int32_t k = 0; k < count; k++)
    for (int c = 0, i = index[k]; c < STRESSES; c++) with->shape[c][k] = shapes->a[c][i];
  Stretch stretch = *with;
  stretch.least = SQUARE_LEAST - SLACK;
  stretch.most = SQUARE_MOST + SLACK;
  stretch.dt = (float)work->dt;
  KERNEL_CALL(work->core, flip_stretch)(&stretch, count);
  work->advection.shape_counts[strip] = count_kinds(with->kind, count);
  memcpy(work->advection.kind + b, with->kind, (size_t)count);
  for (int32_t k = 0; k < count; k++)
    for (int c = 0, i = index[k]; c < STRESSES; c++) shapes->a[c][i] = with->shape[c][k];
  for (int32_t k = 0; k < count && shapes->flow[0][0]; k++) add_flow(shapes, index[k], with->deformation, k);
}

static Vec3 apart_of(const Advance *advance, int32_t k, int32_t other) {
  const FlipOrder *o = advance->work->order;
  double cells = advance->work->grid->cell * (double)advance->inverse;
  return vec3(((double)o->x[k] - (double)o->x[other]) * cells, ((double)o->y[k] - (double)o->y[other]) * cells,
              ((double)o->z[k] - (double)o->z[other]) * cells);
}

/* The sum is exact: no mass is lost or made. */
static bool adds_up(float a, float b) {
  float sum = a + b;
  return sum - a == b && sum - b == a;
}

static void try_partner(const Advance *advance, int32_t k, int32_t other, Proposal *best) {
  const FlipWork *work = advance->work;
  const Particles *p = &work->state->particles;
  if (other == k || advance->kind[other] >= IS_LONG) return;
  Vec3 apart = apart_of(advance, k, other);
  float score = (float)vec3_dot(apart, apart);
  int32_t i = work->order->index[k], j = work->order->index[other];
  if (score > (float)(MERGE_REACH * MERGE_REACH) || score > best->score) return;
  if (score == best->score && best->to >= 0 && p->id[j] > p->id[work->order->index[best->to]]) return;
  if (p->material[i] != p->material[j] || !adds_up(p->mass[i], p->mass[j])) return;
  Shape6 a = shape_at(advance->shapes, i), b = shape_at(advance->shapes, j), merged;
  if (!shape_merge(&a, (double)p->mass[i], &b, (double)p->mass[j], apart, &merged)) return;
  if (!beyond(merged.a, MERGED_MOST, -1)) return;
  best->to = other;
  best->score = score;
}

/* Those of [b, e) that are near enough; `square` of the reach, in cells. */
static void try_partners(const Advance *advance, int32_t k, int32_t b, int32_t e, float square, Proposal *best) {
  const FlipOrder *order = advance->work->order;
  const float at[3] = {order->x[k], order->y[k], order->z[k]};
  for (int32_t first = b; first < e; first += NEAR_BATCH) {
    int32_t count = e - first < NEAR_BATCH ? e - first : NEAR_BATCH;
    uint64_t near = KERNEL_CALL(advance->work->core, flip_near)(order, first, count, at, square);
    for (; near; near &= near - 1) try_partner(advance, k, first + __builtin_ctzll(near), best);
  }
}

/* The cells below (-1), at (0) and above (1) that hold anything within reach of a coordinate, in cells. */
static void cells_in_reach(float at, float reach, int range[2]) {
  float cell = floorf(at);
  range[0] = at - reach < cell ? -1 : 0;
  range[1] = at + reach >= cell + 1 ? 1 : 0;
}

/* The nearest particle with which a thin one makes a valid one. */
static void propose_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Advance *advance = context;
  const FlipWork *work = advance->work;
  const FlipGrid *grid = work->grid;
  float reach = 1.001f * (float)(MERGE_REACH / (grid->cell * (double)advance->inverse));
  for (int64_t n = b; n < e; n++) {
    Proposal *best = &advance->proposals[n];
    int32_t k = best->from;
    const float at[3] = {work->order->x[k], work->order->y[k], work->order->z[k]};
    int32_t strip = grid_find(grid, strip_key((int32_t)floorf(at[0]), (int32_t)floorf(at[1]), (int32_t)floorf(at[2])));
    int lane = (int32_t)floorf(at[0]) & (STRIP - 1), range[3][2];
    if (strip == 0) continue;
    for (int a = 0; a < 3; a++) cells_in_reach(at[a], reach, range[a]);
    for (int dz = range[2][0]; dz <= range[2][1]; dz++)
      for (int dy = range[1][0]; dy <= range[1][1]; dy++) {
        int32_t row = grid_row(grid, strip, dy, dz);
        if (row == 0) continue;
        const int32_t *start = work->order->start + (int64_t)row * STRIP;
        int first = lane + range[0][0], last = lane + range[0][1] + 1;
        if (first < 0 && !grid->near[row][X_LOW]) first = 0;
        if (last > STRIP && !grid->near[row][X_HIGH]) last = STRIP;
        try_partners(advance, k, start[first], start[last], reach * reach, best);
      }
  }
}

static Status bear(Advance *advance, QueueReason reason, uint32_t parent, int32_t like, Vec3 at, Vec3 velocity,
                   float mass, const Shape6 *shape) {
  FlipShapes *shapes = advance->shapes;
  State *state = advance->work->state;
  const Particles *p = &state->particles;
  double density = state->materials.items[p->material[like]].definition.density;
  Birth birth = {.key = KEY_OF_SHAPES + (uint64_t)shapes->pending_count,
                 .reason = reason,
                 .material = p->material[like],
                 .position = at,
                 .velocity = velocity,
                 .radius = (float)(0.5 * portable_cbrt((double)mass / density)),
                 .mass = mass,
                 .parent = parent};
  TRY(memory_grow(advance->work->core, &shapes->pending, shapes->pending_count + 1, "flip shapes"));
  shapes->pending[shapes->pending_count++] = *shape;
  return queue_birth(advance->work->core, &state->queue, &birth);
}

/* Where a particle will be when the step is committed. */
static Vec3 place_after(const State *state, int64_t i) {
  const Particles *p = &state->particles;
  return vec3_add(state_position(state, i), vec3((double)p->dx[i], (double)p->dy[i], (double)p->dz[i]));
}

static Vec3 velocity_of(const Particles *p, int64_t i) {
  return vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
}

/* Children must not begin inside a solid. */
static bool is_free_place(const FlipWork *work, Vec3 at) {
  const FlipGrid *grid = work->grid;
  Vec3 local = vec3_scale(vec3_sub(at, work->state->origin), 1 / grid->cell);
  const float p[3] = {(float)(local.x + grid->shift[0]), (float)(local.y + grid->shift[1]),
                      (float)(local.z + grid->shift[2])};
  int32_t cell[3], place[3];
  for (int a = 0; a < 3; a++) {
    if (!(fabsf(p[a]) < (float)GRID_LIMIT)) return false;
    cell[a] = (int32_t)floorf(p[a]);
  }
  int32_t strip = grid_find(grid, strip_key(cell[0], cell[1], cell[2]));
  if (strip == 0 || !work->fields.solid.near[strip]) return true;
  strip_place(grid->key[strip], place);
  float gradient[3];
  return strip_distance_at(work->solids.strips[strip], p[0] - (float)place[0], p[1] - (float)place[1],
                           p[2] - (float)place[2], gradient) > 0.05f;
}

/* Whether and how long ones are halved. */
static void halve_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Advance *advance = context;
  const FlipWork *work = advance->work;
  const State *state = work->state;
  const Particles *p = &state->particles;
  for (int64_t n = b; n < e; n++) {
    Halves *halves = &advance->halves[n];
    int32_t i = work->order->index[halves->of];
    double density = state->materials.items[p->material[i]].definition.density;
    halves->valid = false;
    if ((double)p->mass[i] < 2 * MASS_LEAST * parcel_volume(state->radius) * density) continue;
    Shape6 shape = shape_at(advance->shapes, i);
    Vec3 offset;
    if (!shape_split(&shape, &halves->shape, &offset)) continue;
    offset = vec3_scale(offset, state->radius);
    Vec3 at = place_after(state, i);
    halves->at[0] = vec3_add(at, offset);
    halves->at[1] = vec3_sub(at, offset);
    halves->valid = is_free_place(work, halves->at[0]) && is_free_place(work, halves->at[1]);
  }
}

static Status split(Advance *advance, const Halves *halves) {
  FlipWork *work = advance->work;
  State *state = work->state;
  const Particles *p = &state->particles;
  int32_t i = work->order->index[halves->of];
  TRY(queue_death(work->core, &state->queue, p->id[i], REASON_SPLIT, 0));
  for (int k = 0; k < 2; k++)
    TRY(bear(advance, REASON_SPLIT, p->id[i], i, halves->at[k], velocity_of(p, i), 0.5f * p->mass[i], &halves->shape));
  advance->shapes->splits++;
  return SCREE_OK;
}

static Status merge(Advance *advance, const Proposal *pair) {
  FlipWork *work = advance->work;
  State *state = work->state;
  const Particles *p = &state->particles;
  int32_t i = work->order->index[pair->from], j = work->order->index[pair->to];
  double m = (double)p->mass[i], n = (double)p->mass[j], total = m + n;
  Vec3 at = place_after(state, i), other = place_after(state, j), apart = vec3_sub(at, other);
  Shape6 a = shape_at(advance->shapes, i), b = shape_at(advance->shapes, j), merged;
  if (!shape_merge(&a, m, &b, n, vec3_scale(apart, (double)advance->inverse), &merged)) return SCREE_OK;
  Vec3 center = vec3_madd(other, apart, m / total);
  Vec3 velocity = vec3_scale(vec3_add(vec3_scale(velocity_of(p, i), m), vec3_scale(velocity_of(p, j), n)), 1 / total);
  TRY(queue_death(work->core, &state->queue, p->id[i], REASON_MERGE, 0));
  TRY(queue_death(work->core, &state->queue, p->id[j], REASON_MERGE, p->id[i]));
  TRY(bear(advance, REASON_MERGE, p->id[i], i, center, velocity, p->mass[i] + p->mass[j], &merged));
  advance->shapes->merges++;
  return SCREE_OK;
}

/* Who proposes best to a particle: by distance, then by id. */
static bool better(const Advance *advance, const Proposal *a, const Proposal *b) {
  const FlipWork *work = advance->work;
  if (a->score != b->score) return a->score < b->score;
  return work->state->particles.id[work->order->index[a->from]] <
         work->state->particles.id[work->order->index[b->from]];
}

static bool its_turn(const State *state, int32_t i) {
  return ((int64_t)state->particles.id[i] + state->step) % MERGE_TURNS == 0;
}

/* Pairs whose sides choose each other: a thin partner must propose back, another takes its best suitor. */
static Status merge_all(Advance *advance, int64_t count) {
  FlipWork *work = advance->work;
  int32_t *suitor = NULL; /* best proposal to a particle, and its own */
  TRY(scratch_take(work->core, work->step->scratch, &suitor, work->order->count, "suitors"));
  memset(suitor, 0xff, sizeof *suitor * (size_t)work->order->count);
  for (int64_t n = 0; n < count; n++) {
    const Proposal *mine = &advance->proposals[n];
    if (mine->to < 0) continue;
    int32_t *best = &suitor[mine->to];
    if (*best < 0 || better(advance, mine, &advance->proposals[*best])) *best = (int32_t)n;
  }
  for (int64_t n = 0; n < count; n++) {
    const Proposal *mine = &advance->proposals[n];
    if (mine->to < 0 || suitor[mine->to] != n) continue;
    /* Whoever is wanted by another cannot go with a third. */
    int32_t wants_me = suitor[mine->from];
    bool thin = advance->kind[mine->to] == IS_THIN && its_turn(work->state, work->order->index[mine->to]);
    bool mutual = wants_me >= 0 && advance->proposals[wants_me].from == mine->to;
    if (thin && !mutual) continue;
    if (!thin && wants_me >= 0) continue;
    if (thin && mine->from > mine->to) continue; /* the pair is done once */
    TRY(merge(advance, mine));
  }
  return SCREE_OK;
}

static void list_strip(Advance *advance, int64_t strip) {
  const FlipWork *work = advance->work;
  const int32_t *start = work->order->start;
  for (int32_t k = start[strip * STRIP]; k < start[(strip + 1) * STRIP]; k++) {
    if (advance->kind[k] == IS_LONG) advance->halves[advance->long_count++].of = k;
    /* One that finds no partner tries again some steps later. */
    if (advance->kind[k] == IS_THIN && its_turn(work->state, work->order->index[k]))
      advance->proposals[advance->thin_count++] = (Proposal){.from = k, .to = -1, .score = INFINITY};
  }
}

static Status list_candidates(Advance *advance) {
  const FlipWork *work = advance->work;
  int64_t strips = work->grid->strips, long_count = 0, thin_count = 0;
  for (int64_t strip = 1; strip < strips; strip++) {
    thin_count += work->advection.shape_counts[strip].thin;
    long_count += work->advection.shape_counts[strip].too_long;
  }
  TRY(scratch_take(work->core, work->step->scratch, &advance->proposals, thin_count + 1, "merging"));
  TRY(scratch_take(work->core, work->step->scratch, &advance->halves, long_count + 1, "splitting"));
  for (int64_t strip = 1; strip < strips; strip++)
    if (work->advection.shape_counts[strip].thin > 0 || work->advection.shape_counts[strip].too_long > 0)
      list_strip(advance, strip);
  return SCREE_OK;
}

static Status advance_all(Advance *advance) {
  FlipWork *work = advance->work;
  Core *core = work->core;
  TRY(list_candidates(advance));
  parallel_for(core, 0, advance->long_count, SPLIT_CHUNK, halve_chunk, advance);
  parallel_for(core, 0, advance->thin_count, MERGE_CHUNK, propose_chunk, advance);
  for (int64_t n = 0; n < advance->long_count; n++)
    if (advance->halves[n].valid) TRY(split(advance, &advance->halves[n]));
  return advance->thin_count > 0 ? merge_all(advance, advance->thin_count) : SCREE_OK;
}

/* Render points want to know (upsample/points.c); the fields are theirs. */
void shapes_find_flow(FlipShapes *shapes, State *state) {
  static const char *const names[3][3] = {
      {"flow_xx", "flow_xy", "flow_xz"}, {"flow_yx", "flow_yy", "flow_yz"}, {"flow_zx", "flow_zy", "flow_zz"}};
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      void **field = particles_field(&state->particles, names[r][c]);
      shapes->flow[r][c] = field ? *field : NULL;
    }
}

Status shapes_advance(FlipShapes *shapes, FlipWork *work) {
  int mark = scratch_mark(work->step->scratch);
  Advance advance = {
      .shapes = shapes, .work = work, .kind = work->advection.kind, .inverse = (float)(1 / work->state->radius)};
  shapes->pending_count = 0;
  Status status = advance_all(&advance);
  scratch_release(work->core, work->step->scratch, mark);
  return status;
}
