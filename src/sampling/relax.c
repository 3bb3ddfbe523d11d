#include "sampling/relax.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/portable.h"
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

/* Of a sphere in a cube that repeats itself: one of its images near the cube, stored behind the spheres. Or a sphere
 * that stays where it is. */
typedef struct Image {
  int32_t of; /* FIXED: the place of a sphere that stays, over the origin */
  float shift[3];
  float radius;
} Image;
enum { FIXED = -1 };

typedef struct Relaxation {
  Core *core;
  const Region *region; /* NULL: periodic */
  double period;
  const Sizes *sizes;
  Samples *samples;
  float *x, *y, *z;    /* positions after the step in hand */
  float *sx, *sy, *sz; /* the last step of each */
  float *moved;        /* since the lists were built; reused for the worst overlap */
  float *lx, *ly, *lz; /* where the lists were built */
  Wall *walls;         /* of the region */
  Wall *obstacles;     /* NULL: there are none */
  uint8_t *gone;
  Image *images;
  int64_t image_count;
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

/* What is in the way, seen like the region: below zero where spheres go, with the normal into it. */
static ShapePoint obstacle_at(const Relaxation *r, Vec3 p, double radius) {
  ShapePoint found = region_obstacle(r->region, p, radius, 2 * radius);
  return (ShapePoint){.distance = -found.distance, .normal = vec3_scale(found.normal, -1)};
}

/* Puts the sphere back inside the region, or out of an obstacle. */
static void keep_off(const Relaxation *r, Wall *wall, bool obstacle, float radius, float p[3]) {
  float dx = p[0] - wall->at[0], dy = p[1] - wall->at[1], dz = p[2] - wall->at[2];
  if (dx * dx + dy * dy + dz * dz >= wall->trusted * wall->trusted) {
    float near_wall = 0.1f * radius, depth = obstacle ? radius : (float)r->region->inset * radius;
    Vec3 at = vec3(p[0], p[1], p[2]);
    /* It was more than half a radius inside and has moved by a fifth of one: still inside. */
    ShapePoint found =
        obstacle ? obstacle_at(r, at, (double)radius) : region_inner_distance(r->region, at, 2.0 * (double)radius);
    float room = -(float)found.distance - depth * INFLATE;
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
    if (length > 0 && r->obstacles) keep_off(r, &r->obstacles[i], true, radius, next);
    if (length > 0 && r->walls) keep_off(r, &r->walls[i], false, radius, next);
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

static void move_images(Relaxation *r) {
  Samples *s = r->samples;
  for (int64_t k = 0; k < r->image_count; k++) {
    const Image *image = &r->images[k];
    bool fixed = image->of == FIXED;
    s->x[s->count + k] = (fixed ? 0 : s->x[image->of]) + image->shift[0];
    s->y[s->count + k] = (fixed ? 0 : s->y[image->of]) + image->shift[1];
    s->z[s->count + k] = (fixed ? 0 : s->z[image->of]) + image->shift[2];
    if (s->radius) s->radius[s->count + k] = image->radius;
  }
}

/* Brings what has left the cube back into it, and finds the images that are within `reach` of it. */
static Status find_images(Relaxation *r, float reach) {
  Samples *s = r->samples;
  float period = (float)r->period;
  int64_t count = s->count;
  r->image_count = 0;
  for (int64_t i = 0; i < count; i++) {
    float *at[3] = {&s->x[i], &s->y[i], &s->z[i]}, shift[3];
    for (int axis = 0; axis < 3; axis++) {
      if (*at[axis] < 0) *at[axis] += period;
      if (*at[axis] >= period) *at[axis] -= period;
      shift[axis] = *at[axis] < reach ? period : *at[axis] > period - reach ? -period : 0;
    }
    for (int k = 1; k < 8; k++) {
      if (((k & 1) && shift[0] == 0) || ((k & 2) && shift[1] == 0) || ((k & 4) && shift[2] == 0)) continue;
      int64_t n = r->image_count++;
      TRY(memory_grow(r->core, &r->images, n + 1, "relaxation of samples"));
      r->images[n] =
          (Image){(int32_t)i, {k & 1 ? shift[0] : 0, k & 2 ? shift[1] : 0, k & 4 ? shift[2] : 0}, radius_of(r, i)};
    }
  }
  float **arrays[] = {&s->x, &s->y, &s->z, &r->x, &r->y, &r->z};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    TRY(memory_grow(r->core, arrays[k], count + r->image_count, "relaxation of samples"));
  if (s->radius) TRY(memory_grow(r->core, &s->radius, count + r->image_count, "relaxation of samples"));
  return SCREE_OK;
}

static Status build_lists(Relaxation *r) {
  Samples *s = r->samples;
  float reach = INFLATE * (1 + SKIN), farthest = (float)(2 * r->sizes->largest) * reach;
  if (!r->region) TRY(find_images(r, farthest));
  move_images(r);
  Points points = {.count = s->count, .x = s->x, .y = s->y, .z = s->z}, all = points;
  all.count += r->image_count;
  TRY(cell_grid_build(r->core, r->grid, all, farthest));
  if (!s->radius) reach *= (float)(2 * r->sizes->nominal);
  TRY(neighbor_list_build(r->core, r->grid, points, all, reach, s->radius, s->radius, &r->list));
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
  move_images(r);
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

/* The sphere that an entry of the lists is, or is an image of; or FIXED. */
static int64_t real(const Relaxation *r, int64_t j) {
  return j < r->samples->count ? j : r->images[j - r->samples->count].of;
}

/* Marks the worst sphere of each cluster that still overlaps. */
static void mark_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Relaxation *r = context;
  for (int64_t i = b; i < e; i++) {
    r->gone[i] = r->moved[i] > TOLERANCE;
    for (int64_t k = r->list.start[i]; k < r->list.start[i + 1] && r->gone[i]; k++) {
      int64_t j = real(r, r->list.index[k]);
      if (j == FIXED) continue;
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
    if (r->walls) r->walls[n] = r->walls[i];
    if (r->obstacles) r->obstacles[n] = r->obstacles[i];
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
    double radius = (double)radius_of(r, i), depth = r->region->inset * radius;
    Vec3 p = vec3(s->x[i], s->y[i], s->z[i]);
    ShapePoint at = region_distance(r->region, p, 2 * radius);
    bool blocked = region_blocked(r->region, p, radius);
    for (int tries = 0; tries < 8 && (blocked || at.distance > -depth); tries++) {
      if (at.distance > -depth) p = vec3_madd(p, at.normal, -(at.distance + depth * 1.00001));
      if (blocked) {
        ShapePoint obstacle = obstacle_at(r, p, radius);
        p = vec3_madd(p, obstacle.normal, -fmax(obstacle.distance + radius, 0));
      }
      s->x[i] = (float)p.x, s->y[i] = (float)p.y, s->z[i] = (float)p.z;
      p = vec3(s->x[i], s->y[i], s->z[i]);
      at = region_distance(r->region, p, 2 * radius);
      blocked = region_blocked(r->region, p, radius);
    }
    r->gone[i] = blocked || at.distance > -depth;
  }
}

static void check_apart(Relaxation *r) {
  const Samples *s = r->samples;
  float factor = r->region ? 1 : (float)TILE_APART;
  for (int64_t i = 0; i < s->count; i++) {
    if (r->gone[i]) continue;
    for (int64_t k = r->list.start[i]; k < r->list.start[i + 1]; k++) {
      int64_t j = r->list.index[k], other = real(r, j);
      if (other != FIXED && (other < i || r->gone[other])) continue;
      float dx = s->x[i] - s->x[j], dy = s->y[i] - s->y[j], dz = s->z[i] - s->z[j];
      float apart = (radius_of(r, i) + radius_of(r, j)) * factor;
      if (dx * dx + dy * dy + dz * dz < apart * apart) r->gone[other == FIXED ? i : other] = 1;
    }
  }
}

/* Cut spheres begin with centres just inside: they are put to their depth before they are pushed anywhere. */
static void begin_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Relaxation *r = context;
  Samples *s = r->samples;
  for (int64_t i = b; i < e; i++) {
    float p[3] = {s->x[i], s->y[i], s->z[i]};
    keep_off(r, &r->walls[i], false, radius_of(r, i), p);
    s->x[i] = p[0], s->y[i] = p[1], s->z[i] = p[2];
  }
}

static Status relax(Relaxation *r) {
  if (r->region && r->image_count > 0) parallel_for(r->core, 0, r->samples->count, GRAIN, begin_body, r);
  TRY(build_lists(r));
  double worst = 1, done = 0;
  for (int step = 0; step < STEPS_MAX && worst > (double)TOLERANCE; step++) {
    if (step >= STEPS_FREE && step % STEPS_MORE == 0) TRY(remove_worst(r));
    TRY(take_step(r, &worst));
    done = fmin(fmax(done, portable_log(worst) / portable_log((double)TOLERANCE)),
                1); /* overlaps shrink about geometrically */
    progress_done(r->core, done);
  }
  if (r->region) parallel_for(r->core, 0, r->samples->count, GRAIN, check_inside_body, r);
  else memset(r->gone, 0, (size_t)r->samples->count);
  TRY(build_lists(r));
  check_apart(r);
  return remove_marked(r);
}

/* Spheres that stay: the last of the samples. */
static Status fix(Relaxation *r, int64_t fixed) {
  Samples *s = r->samples;
  TRY(memory_new(r->core, &r->images, fixed, "relaxation of samples"));
  s->count -= fixed;
  r->image_count = fixed;
  for (int64_t k = 0; k < fixed; k++) {
    int64_t at = s->count + k;
    r->images[k] = (Image){FIXED, {s->x[at], s->y[at], s->z[at]}, radius_of(r, at)};
  }
  return SCREE_OK;
}

static Status allocate(Relaxation *r, int64_t fixed) {
  int64_t n = r->samples->count;
  float **arrays[] = {&r->x, &r->y, &r->z, &r->sx, &r->sy, &r->sz, &r->lx, &r->ly, &r->lz, &r->moved};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    TRY(memory_new(r->core, arrays[k], n, "relaxation of samples"));
  if (r->region) TRY(memory_new(r->core, &r->walls, n, "relaxation of samples"));
  if (r->region && r->region->plan->obstacle) TRY(memory_new(r->core, &r->obstacles, n, "relaxation of samples"));
  TRY(memory_new(r->core, &r->gone, n, "relaxation of samples"));
  if (fixed > 0) TRY(fix(r, fixed));
  return cell_grid_create(r->core, &r->grid);
}

static Status relax_all(Core *core, const Region *region, double period, const Sizes *sizes, int64_t fixed,
                        Samples *samples) {
  if (samples->count == fixed) {
    samples->count = 0;
    return SCREE_OK;
  }
  Relaxation r = {.core = core, .region = region, .period = period, .sizes = sizes, .samples = samples};
  Status status = allocate(&r, fixed);
  if (status == SCREE_OK) status = relax(&r);
  float **arrays[] = {&r.x, &r.y, &r.z, &r.sx, &r.sy, &r.sz, &r.lx, &r.ly, &r.lz, &r.moved};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) memory_drop(core, arrays[k]);
  memory_drop(core, &r.walls);
  memory_drop(core, &r.obstacles);
  memory_drop(core, &r.gone);
  memory_drop(core, &r.images);
  if (r.grid) cell_grid_destroy(core, r.grid);
  neighbor_list_destroy(core, &r.list);
  return status;
}

Status relax_samples(Core *core, const Region *region, const Sizes *sizes, Samples *samples) {
  return relax_all(core, region, 0, sizes, 0, samples);
}

Status relax_periodic(Core *core, double period, const Sizes *sizes, Samples *samples) {
  return relax_all(core, NULL, period, sizes, 0, samples);
}

/* Which spheres are pushed where a packing is cut off at an obstacle, and which hold them: by the distance of their
 * centres, in largest radii. */
#define PUSHED_DEPTH 5.0
#define HOLDING_DEPTH 8.0
enum { FAR_OFF, HOLDS, PUSHED };

typedef struct Sorting {
  const Region *region;
  const Samples *samples;
  double radius;
  uint8_t *part;
} Sorting;

static void sort_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Sorting *sorting = context;
  const Samples *s = sorting->samples;
  double pushed = PUSHED_DEPTH * sorting->radius, holds = HOLDING_DEPTH * sorting->radius;
  for (int64_t i = b; i < e; i++) {
    double off = region_obstacle(sorting->region, vec3(s->x[i], s->y[i], s->z[i]), holds, holds).distance;
    sorting->part[i] = off < pushed ? PUSHED : off < holds ? HOLDS : FAR_OFF;
  }
}

static void copy_sample(const Samples *from, int64_t i, Samples *to) {
  int64_t n = to->count++;
  to->x[n] = from->x[i], to->y[n] = from->y[i], to->z[n] = from->z[i];
  if (from->radius) to->radius[n] = from->radius[i];
}

/* Pushes those near obstacles, and puts the others before them. */
static Status relax_sorted(Core *core, const Sorting *sorting, const Sizes *sizes, double volume, Samples *samples,
                           Samples *some) {
  Samples rest = *samples;
  int64_t fixed = 0;
  rest.count = 0;
  TRY(samples_new(core, samples->count, samples->radius != NULL, some));
  for (int64_t i = 0; i < samples->count; i++)
    if (sorting->part[i] == PUSHED) copy_sample(samples, i, some);
    else copy_sample(samples, i, &rest);
  samples_thin(some, sizes->nominal, volume - samples_volume(&rest, sizes->nominal), sorting->region->plan->seed);
  for (int64_t i = 0, n = 0; i < samples->count; i++) {
    if (sorting->part[i] == PUSHED) continue;
    if (sorting->part[i] == HOLDS) copy_sample(&rest, n, some), fixed++;
    n++;
  }
  TRY(relax_all(core, sorting->region, 0, sizes, fixed, some));
  samples->count = rest.count;
  for (int64_t i = 0; i < some->count; i++) copy_sample(some, i, samples);
  return SCREE_OK;
}

Status relax_at_obstacles(Core *core, const Region *region, const Sizes *sizes, double volume, Samples *samples) {
  Sorting sorting = {region, samples, sizes->largest, NULL};
  Samples some = {0};
  TRY(memory_new(core, &sorting.part, samples->count, "relaxation of samples"));
  parallel_for(core, 0, samples->count, GRAIN, sort_body, &sorting);
  Status status = relax_sorted(core, &sorting, sizes, volume, samples, &some);
  samples_destroy(core, &some);
  memory_drop(core, &sorting.part);
  return status;
}
