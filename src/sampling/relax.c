#include "sampling/relax.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "neighbors/neighbors.h"

/* Spheres are relaxed as if a little larger and counted as apart when they nearly are: what remains is then clear of
 * overlap by the true radii. */
#define INFLATE 1.001f
#define TOLERANCE 0.0008f
/* Heavy-ball descent: each step adds STEP times the push of the contacts to KEEP times the step before. Without KEEP
 * the slow modes near the jammed state take several times as many steps. */
#define STEP 0.8f
#define KEEP 0.92f
#define LONGEST_STEP 0.2f /* share of the radius */
#define SKIN 0.25f        /* lists reach that much farther than the sum of radii */
enum { STEPS_FREE = 300, STEPS_MORE = 40, STEPS_MAX = 3000, GRAIN = 512 };

/* Nearest wall as a plane: the sphere may lie where normal . x <= offset. Found anew once the sphere has moved so far
 * that it may have come to another wall. */
typedef struct Wall {
  float normal[3], offset;
  float at[3];   /* where it was looked for */
  float trusted; /* distance moved for which it holds */
} Wall;

typedef struct Relaxation {
  Core *core;
  const Region *region;
  const Sizes *sizes;
  Samples *samples;
  float *x, *y, *z;    /* positions after the step in hand */
  float *sx, *sy, *sz; /* the last step of each */
  float *moved;        /* since the lists were built; reused for the worst overlap */
  float *lx, *ly, *lz; /* where the lists were built */
  Wall *walls;
  uint8_t *gone;
  CellGrid *grid;
  NeighborList list;
} Relaxation;

static float radius_of(const Relaxation *r, int64_t i) {
  return r->samples->radius ? r->samples->radius[i] : (float)r->sizes->nominal;
}

/* How far sphere i is pushed by those it overlaps; returns the largest overlap over the sum of radii. */
static float push(const Relaxation *r, int64_t i, float sum[3]) {
  const Samples *s = r->samples;
  float x = s->x[i], y = s->y[i], z = s->z[i], ri = radius_of(r, i), worst = 0;
  sum[0] = sum[1] = sum[2] = 0;
  for (int64_t k = r->list.start[i]; k < r->list.start[i + 1]; k++) {
    int64_t j = r->list.index[k];
    float dx = x - s->x[j], dy = y - s->y[j], dz = z - s->z[j], rj = radius_of(r, j);
    float apart = (ri + rj) * INFLATE, square = dx * dx + dy * dy + dz * dz;
    if (square >= apart * apart) continue;
    float distance = sqrtf(square);
    if (distance < 1e-6f * apart) { /* on top of each other: any way out will do, but opposite ones */
      dx = i < j ? 1.0f : -1.0f, dy = dz = 0, distance = 1;
      square = 0;
    }
    float overlap = apart - sqrtf(square);
    /* The smaller one gives way by more. */
    float share = overlap / distance * (rj / (ri + rj));
    sum[0] += dx * share, sum[1] += dy * share, sum[2] += dz * share;
    worst = fmaxf(worst, overlap / apart);
  }
  return worst;
}

/* Puts the sphere back inside the region. */
static void keep_inside(const Relaxation *r, Wall *wall, float radius, float p[3]) {
  float dx = p[0] - wall->at[0], dy = p[1] - wall->at[1], dz = p[2] - wall->at[2];
  if (dx * dx + dy * dy + dz * dz >= wall->trusted * wall->trusted) {
    float near_wall = 0.1f * radius;
    /* It was a radius inside and has moved by a fifth of that: still inside. */
    ShapePoint found = region_inner_distance(r->region, vec3(p[0], p[1], p[2]), 2.0 * (double)radius);
    float room = -(float)found.distance - radius * INFLATE;
    wall->normal[0] = (float)found.normal.x, wall->normal[1] = (float)found.normal.y;
    wall->normal[2] = (float)found.normal.z;
    memcpy(wall->at, p, sizeof wall->at);
    wall->trusted = room > near_wall ? fminf(room, radius) : 1e-4f * radius;
    wall->offset =
        room > near_wall ? SCREE_BIG : wall->normal[0] * p[0] + wall->normal[1] * p[1] + wall->normal[2] * p[2] + room;
  }
  float beyond = wall->normal[0] * p[0] + wall->normal[1] * p[1] + wall->normal[2] * p[2] - wall->offset;
  if (beyond <= 0) return;
  for (int axis = 0; axis < 3; axis++) p[axis] -= beyond * wall->normal[axis];
}

static double step_body(void *context, int64_t b, int64_t e) {
  Relaxation *r = context;
  const Samples *s = r->samples;
  float worst = 0;
  for (int64_t i = b; i < e; i++) {
    float sum[3], radius = radius_of(r, i), p[3] = {s->x[i], s->y[i], s->z[i]};
    worst = fmaxf(worst, push(r, i, sum));
    float step[3] = {KEEP * r->sx[i] + STEP * sum[0], KEEP * r->sy[i] + STEP * sum[1], KEEP * r->sz[i] + STEP * sum[2]};
    float length = sqrtf(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
    float scale = length > LONGEST_STEP * radius ? LONGEST_STEP * radius / length : 1;
    float next[3] = {p[0] + step[0] * scale, p[1] + step[1] * scale, p[2] + step[2] * scale};
    if (length > 0) keep_inside(r, &r->walls[i], radius, next);
    if (length > 0 && region_blocked(r->region, vec3(next[0], next[1], next[2]), (double)radius))
      memcpy(next, p, sizeof next);
    r->x[i] = next[0], r->y[i] = next[1], r->z[i] = next[2];
    /* A sphere that nothing pushes stops: only the crowded regions should move. */
    float kept = sum[0] == 0 && sum[1] == 0 && sum[2] == 0 ? 0 : 1;
    r->sx[i] = kept * (next[0] - p[0]), r->sy[i] = kept * (next[1] - p[1]), r->sz[i] = kept * (next[2] - p[2]);
    float dx = next[0] - r->lx[i], dy = next[1] - r->ly[i], dz = next[2] - r->lz[i];
    r->moved[i] = sqrtf(dx * dx + dy * dy + dz * dz);
  }
  return (double)worst;
}

static double moved_body(void *context, int64_t b, int64_t e) {
  const Relaxation *r = context;
  float most = 0;
  for (int64_t i = b; i < e; i++) most = fmaxf(most, r->moved[i]);
  return (double)most;
}

static Status build_lists(Relaxation *r) {
  Samples *s = r->samples;
  Points points = {.count = s->count, .x = s->x, .y = s->y, .z = s->z};
  float reach = INFLATE * (1 + SKIN);
  TRY(cell_grid_build(r->core, r->grid, points, (float)(2 * r->sizes->largest) * reach));
  if (!s->radius) reach *= (float)(2 * r->sizes->nominal);
  TRY(neighbor_list_build(r->core, r->grid, points, points, reach, s->radius, s->radius, &r->list));
  memcpy(r->lx, s->x, (size_t)s->count * sizeof *s->x);
  memcpy(r->ly, s->y, (size_t)s->count * sizeof *s->y);
  memcpy(r->lz, s->z, (size_t)s->count * sizeof *s->z);
  memset(r->moved, 0, (size_t)s->count * sizeof *r->moved);
  return SCREE_OK;
}

/* One step of all; *worst is the overlap before it. */
static Status take_step(Relaxation *r, double *worst) {
  Samples *s = r->samples;
  *worst = parallel_max(r->core, 0, s->count, GRAIN, 0, step_body, r);
  float *swap[3] = {s->x, s->y, s->z};
  s->x = r->x, s->y = r->y, s->z = r->z;
  r->x = swap[0], r->y = swap[1], r->z = swap[2];
  double most = parallel_max(r->core, 0, s->count, GRAIN, 0, moved_body, r);
  if (most > 0.5 * (double)SKIN * 2 * r->sizes->smallest) return build_lists(r);
  return SCREE_OK;
}

static void overlap_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Relaxation *r = context;
  float sum[3];
  for (int64_t i = b; i < e; i++) r->moved[i] = push(r, i, sum);
}

/* Marks the worst sphere of each cluster that still overlaps. */
static void mark_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Relaxation *r = context;
  for (int64_t i = b; i < e; i++) {
    r->gone[i] = r->moved[i] > TOLERANCE;
    for (int64_t k = r->list.start[i]; k < r->list.start[i + 1] && r->gone[i]; k++) {
      int64_t j = r->list.index[k];
      if (r->moved[j] > r->moved[i] || (r->moved[j] == r->moved[i] && j > i)) r->gone[i] = 0;
    }
  }
}

/* Takes out what is marked. */
static Status remove_marked(Relaxation *r) {
  Samples *s = r->samples;
  int64_t n = 0;
  for (int64_t i = 0; i < s->count; i++) {
    if (r->gone[i]) continue;
    s->x[n] = s->x[i], s->y[n] = s->y[i], s->z[n] = s->z[i];
    if (s->radius) s->radius[n] = s->radius[i];
    r->sx[n] = r->sx[i], r->sy[n] = r->sy[i], r->sz[n] = r->sz[i];
    r->walls[n] = r->walls[i];
    n++;
  }
  s->count = n;
  return build_lists(r);
}

static Status remove_worst(Relaxation *r) {
  parallel_for(r->core, 0, r->samples->count, GRAIN, overlap_body, r);
  parallel_for(r->core, 0, r->samples->count, GRAIN, mark_body, r);
  return remove_marked(r);
}

/* The last word, by the true radii and exact distances. */
static void check_inside_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Relaxation *r = context;
  Samples *s = r->samples;
  for (int64_t i = b; i < e; i++) {
    double radius = (double)radius_of(r, i);
    Vec3 p = vec3(s->x[i], s->y[i], s->z[i]);
    ShapePoint at = region_distance(r->region, p, 2 * radius);
    for (int tries = 0; tries < 8 && at.distance > -radius; tries++) {
      p = vec3_madd(p, at.normal, -(at.distance + radius * 1.00001));
      s->x[i] = (float)p.x, s->y[i] = (float)p.y, s->z[i] = (float)p.z;
      p = vec3(s->x[i], s->y[i], s->z[i]);
      at = region_distance(r->region, p, 2 * radius);
    }
    r->gone[i] = at.distance > -radius || region_blocked(r->region, p, radius);
  }
}

static void check_apart(Relaxation *r) {
  const Samples *s = r->samples;
  for (int64_t i = 0; i < s->count; i++) {
    if (r->gone[i]) continue;
    for (int64_t k = r->list.start[i]; k < r->list.start[i + 1]; k++) {
      int64_t j = r->list.index[k];
      if (j < i || r->gone[j]) continue;
      float dx = s->x[i] - s->x[j], dy = s->y[i] - s->y[j], dz = s->z[i] - s->z[j];
      float apart = radius_of(r, i) + radius_of(r, j);
      if (dx * dx + dy * dy + dz * dz < apart * apart) r->gone[j] = 1;
    }
  }
}

static Status relax(Relaxation *r) {
  TRY(build_lists(r));
  double worst = 1, done = 0;
  for (int step = 0; step < STEPS_MAX && worst > (double)TOLERANCE; step++) {
    if (step >= STEPS_FREE && step % STEPS_MORE == 0) TRY(remove_worst(r));
    TRY(take_step(r, &worst));
    done = fmin(fmax(done, log(worst) / log((double)TOLERANCE)), 1); /* overlaps shrink about geometrically */
    progress_done(r->core, done);
  }
  parallel_for(r->core, 0, r->samples->count, GRAIN, check_inside_body, r);
  TRY(build_lists(r));
  check_apart(r);
  return remove_marked(r);
}

static Status allocate(Relaxation *r) {
  int64_t n = r->samples->count;
  float **arrays[] = {&r->x, &r->y, &r->z, &r->sx, &r->sy, &r->sz, &r->lx, &r->ly, &r->lz, &r->moved};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    TRY(memory_new(r->core, arrays[k], n, "relaxation of samples"));
  TRY(memory_new(r->core, &r->walls, n, "relaxation of samples"));
  TRY(memory_new(r->core, &r->gone, n, "relaxation of samples"));
  return cell_grid_create(r->core, &r->grid);
}

Status relax_samples(Core *core, const Region *region, const Sizes *sizes, Samples *samples) {
  if (samples->count == 0) return SCREE_OK;
  Relaxation r = {.core = core, .region = region, .sizes = sizes, .samples = samples};
  Status status = allocate(&r);
  if (status == SCREE_OK) status = relax(&r);
  float **arrays[] = {&r.x, &r.y, &r.z, &r.sx, &r.sy, &r.sz, &r.lx, &r.ly, &r.lz, &r.moved};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) memory_drop(core, arrays[k]);
  memory_drop(core, &r.walls);
  memory_drop(core, &r.gone);
  if (r.grid) cell_grid_destroy(core, r.grid);
  neighbor_list_destroy(core, &r.list);
  return status;
}
