/* Points on triangles, no two closer than a spacing and no hole larger than it (after White et al. 2007 and Cline et
 * al. 2009: what a point covers is dropped, what is not and refuses a random point is halved).
 *
 * Triangles are first cut into fragments no longer than the spacing, so that a fragment holds one point at most and the
 * point covers all of it. Fragments are grouped into cells of four spacings; cells of one colour are worked on at once,
 * since two spacings of other cells lie between them. A fragment is known by its triangle and the path of the cuts. */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "neighbors/neighbors.h"
#include "sampling/region.h"
#include "sampling/sampling_kernels.h"

enum {
  CELL_SPACINGS = 4,
  PIECE_SPACINGS = 64,   /* triangles are cut to that length before the threads share them */
  CUTS_OF_FRAGMENT = 24, /* of one that refuses points: down to a 4096th of the spacing */
  CUTS_OF_BLOCKED = 8,
  BYTES_PER_FRAGMENT = 64,
  COLORS = 8
};

typedef struct Corners {
  Vec3 v[3];
} Corners;

/* The cuts taken, highest first below a leading one: 0 is the half with corner a, 1 the half with corner b. */
typedef struct Fragment {
  int32_t triangle;
  uint64_t path;
} Fragment;

typedef struct Piece {
  Fragment fragment;
  int64_t first; /* of its fragments */
} Piece;

typedef struct Surface {
  Core *core;
  const Region *region;
  const Mesh *mesh;
  double spacing;
  bool curved; /* a plain shape whose triangles only come near it */
  int64_t piece_count, count;
  Piece *pieces;
  Fragment *fragments;
  float *x, *y, *z; /* centres of fragments; once they are sorted into cells, the points found on them */
  uint8_t *has_point;
  float (*normals)[3]; /* of the triangles */
  CellGrid *grid;
  int64_t *colors; /* cells by colour */
  int64_t color_start[COLORS + 1];
  struct SurfaceScratch *scratch; /* one per thread */
  _Atomic bool out_of_memory;
} Surface;

/* A fragment, or part of one, in a cell's work. */
typedef struct Item {
  float key;
  int32_t cuts;
  int64_t base;
  Fragment fragment;
  Corners corners;
} Item;

typedef struct SurfaceScratch {
  SurfaceList list;
  int64_t list_room;
  Item *items[2];
  int64_t item_room[2];
} SurfaceScratch;

static Corners triangle_corners(const Surface *s, int64_t triangle) {
  Corners c;
  for (int k = 0; k < 3; k++) {
    Vec3 v = s->mesh->vertices[s->mesh->triangles[triangle][k]];
    c.v[k] = mat3_apply(&s->region->to_world, vec3_sub(v, s->region->center));
  }
  return c;
}

static int longest_edge(const Corners *c, double *square) {
  int longest = 0;
  *square = -1;
  for (int k = 0; k < 3; k++) {
    Vec3 edge = vec3_sub(c->v[(k + 1) % 3], c->v[k]);
    double length = vec3_dot(edge, edge);
    if (length > *square) *square = length, longest = k;
  }
  return longest;
}

static Corners cut(const Corners *c, int edge, int half) {
  Corners part = *c;
  Vec3 middle = vec3_scale(vec3_add(c->v[edge], c->v[(edge + 1) % 3]), 0.5);
  part.v[half == 0 ? (edge + 1) % 3 : edge] = middle;
  return part;
}

static Corners fragment_corners(const Surface *s, Fragment fragment) {
  Corners c = triangle_corners(s, fragment.triangle);
  for (int bit = 62 - __builtin_clzll(fragment.path); bit >= 0; bit--) {
    double square;
    int edge = longest_edge(&c, &square);
    c = cut(&c, edge, (int)(fragment.path >> bit & 1));
  }
  return c;
}

static int fragment_depth(Fragment fragment) { return 63 - __builtin_clzll(fragment.path); }
static Fragment fragment_half(Fragment fragment, int half) {
  return (Fragment){fragment.triangle, fragment.path << 1 | (uint64_t)half};
}

/* Cuts until every part is no longer than `length`; calls visit for each. Answers how many there are. */
typedef void (*FragmentVisit)(Surface *s, Fragment fragment, const Corners *corners, int64_t number);
static int64_t cut_down(Surface *s, Fragment fragment, const Corners *c, double length, int64_t number,
                        FragmentVisit visit) {
  double square;
  int edge = longest_edge(c, &square);
  if (square <= length * length || fragment_depth(fragment) >= 62) {
    if (visit) visit(s, fragment, c, number);
    return 1;
  }
  Corners a = cut(c, edge, 0), b = cut(c, edge, 1);
  int64_t count = cut_down(s, fragment_half(fragment, 0), &a, length, number, visit);
  return count + cut_down(s, fragment_half(fragment, 1), &b, length, number + count, visit);
}

static void visit_piece(Surface *s, Fragment fragment, const Corners *c, int64_t number) {
  (void)c;
  s->pieces[number].fragment = fragment;
}

static void visit_fragment(Surface *s, Fragment fragment, const Corners *c, int64_t number) {
  s->fragments[number] = fragment;
  s->x[number] = (float)((c->v[0].x + c->v[1].x + c->v[2].x) / 3);
  s->y[number] = (float)((c->v[0].y + c->v[1].y + c->v[2].y) / 3);
  s->z[number] = (float)((c->v[0].z + c->v[1].z + c->v[2].z) / 3);
}

static void count_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Surface *s = context;
  for (int64_t k = b; k < e; k++) {
    Corners c = fragment_corners(s, s->pieces[k].fragment);
    s->pieces[k].first = cut_down(s, s->pieces[k].fragment, &c, s->spacing, 0, NULL);
  }
}

static void emit_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Surface *s = context;
  for (int64_t k = b; k < e; k++) {
    Corners c = fragment_corners(s, s->pieces[k].fragment);
    cut_down(s, s->pieces[k].fragment, &c, s->spacing, s->pieces[k].first, visit_fragment);
  }
}

static Status cut_mesh(Surface *s) {
  Core *core = s->core;
  int64_t triangles = s->mesh->triangle_count;
  double length = PIECE_SPACINGS * s->spacing;
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 1) TRY(memory_new(core, &s->pieces, s->piece_count, "surface pieces"));
    s->piece_count = 0;
    for (int64_t t = 0; t < triangles; t++) {
      Corners c = triangle_corners(s, t);
      s->piece_count += cut_down(s, (Fragment){(int32_t)t, 1}, &c, length, s->piece_count, pass ? visit_piece : NULL);
    }
  }
  TRY(memory_new(core, &s->normals, triangles, "surface normals"));
  for (int64_t t = 0; t < triangles; t++) {
    Corners c = triangle_corners(s, t);
    Vec3 n = vec3_normalize(vec3_cross(vec3_sub(c.v[1], c.v[0]), vec3_sub(c.v[2], c.v[0])));
    s->normals[t][0] = (float)n.x, s->normals[t][1] = (float)n.y, s->normals[t][2] = (float)n.z;
  }
  parallel_for(core, 0, s->piece_count, 64, count_body, s);
  for (int64_t k = 0; k < s->piece_count; k++) {
    int64_t number = s->pieces[k].first;
    s->pieces[k].first = s->count;
    s->count += number;
  }
  TRY(memory_new(core, &s->fragments, s->count, "surface fragments"));
  TRY(memory_new(core, &s->x, s->count, "surface fragments"));
  TRY(memory_new(core, &s->y, s->count, "surface fragments"));
  TRY(memory_new(core, &s->z, s->count, "surface fragments"));
  TRY(memory_new(core, &s->has_point, s->count, "surface fragments"));
  parallel_for(core, 0, s->piece_count, 64, emit_body, s);
  memory_drop(core, &s->pieces);
  return SCREE_OK;
}

static Status sort_cells(Surface *s) {
  Core *core = s->core;
  Points points = {.count = s->count, .x = s->x, .y = s->y, .z = s->z};
  TRY(cell_grid_create(core, &s->grid));
  TRY(cell_grid_build(core, s->grid, points, (float)(CELL_SPACINGS * s->spacing)));
  int64_t cells = cell_grid_cells(s->grid), begin, end;
  TRY(memory_new(core, &s->colors, cells, "surface cells"));
  for (int pass = 0; pass < 2; pass++)
    for (int64_t c = 0, next[COLORS]; c < cells; c++) {
      int32_t at[3];
      if (c == 0) memcpy(next, s->color_start, sizeof next);
      cell_grid_cell(s->grid, c, &begin, &end, at);
      int color = (at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2;
      if (pass == 1) s->colors[next[color]++] = c;
      else s->color_start[color + 1]++;
      if (pass == 0 && c == cells - 1)
        for (int k = 0; k < COLORS; k++) s->color_start[k + 1] += s->color_start[k];
    }
  return SCREE_OK;
}

/* Grows an array in a thread, where describing a failure would race: the flag is turned into a status later. */
static bool make_room(Surface *s, void **array, int64_t *room, int64_t count, int64_t size) {
  if (count <= *room) return true;
  int64_t want = count + count / 2 + 64;
  void *block = memory_get(&s->core->memory, want, size, "surface scratch");
  if (!block) {
    s->out_of_memory = true;
    return false;
  }
  if (*array) memcpy(block, *array, (size_t)(*room * size));
  memory_free(&s->core->memory, *array);
  *array = block;
  *room = want;
  return true;
}

static bool list_room(Surface *s, SurfaceScratch *scratch, int64_t count) {
  SurfaceList *l = &scratch->list;
  float **arrays[] = {&l->x, &l->y, &l->z, &l->nx, &l->ny, &l->nz};
  int64_t room = scratch->list_room;
  for (int k = 0; k < 6; k++) {
    room = scratch->list_room;
    if (!make_room(s, (void **)arrays[k], &room, count + LANES, sizeof(float))) return false;
  }
  scratch->list_room = room;
  return true;
}

static void list_pad(SurfaceList *l) {
  for (int64_t k = l->count; k < l->count + LANES; k++) {
    l->x[k] = l->y[k] = l->z[k] = SPHERE_FAR;
    l->nx[k] = l->ny[k] = l->nz[k] = 0;
  }
}

static bool list_push(Surface *s, SurfaceScratch *scratch, const float point[3], const float normal[3]) {
  SurfaceList *l = &scratch->list;
  if (!list_room(s, scratch, l->count + 1)) return false;
  int64_t k = l->count++;
  l->x[k] = point[0], l->y[k] = point[1], l->z[k] = point[2];
  l->nx[k] = normal[0], l->ny[k] = normal[1], l->nz[k] = normal[2];
  if (l->count % LANES == 0) list_pad(l);
  return true;
}

/* Points of the cells around that one of this cell could meet. */
static bool gather(Surface *s, SurfaceScratch *scratch, const int32_t at[3]) {
  int64_t ranges[CELL_RANGES_MAX][2];
  int count = cell_grid_around(s->grid, at, ranges);
  const int32_t *index = cell_grid_index(s->grid);
  scratch->list.count = 0;
  if (!list_room(s, scratch, 0)) return false;
  list_pad(&scratch->list);
  float side = (float)(CELL_SPACINGS * s->spacing), margin = (float)(1.7 * s->spacing);
  for (int r = 0; r < count; r++)
    for (int64_t k = ranges[r][0]; k < ranges[r][1]; k++) {
      int64_t i = index[k];
      if (!s->has_point[i]) continue;
      float p[3] = {s->x[i], s->y[i], s->z[i]};
      bool far = false;
      for (int axis = 0; axis < 3; axis++)
        far |= p[axis] < (float)at[axis] * side - margin || p[axis] > (float)(at[axis] + 1) * side + margin;
      if (far) continue;
      if (!list_push(s, scratch, p, s->normals[s->fragments[i].triangle])) return false;
    }
  return true;
}

/* Natural logarithm of a number in (0, 1] from exactly rounded operations, so that every machine draws the same order
 * (libm's differ in the last bit). A dozen digits. */
static double logarithm(double u) {
  int exponent;
  double m = frexp(u, &exponent), t = (m - 1) / (m + 1), square = t * t, sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return 2 * t * sum + exponent * 0.693147180559945309417;
}

static int by_key(const void *a, const void *b) {
  const Item *p = a, *q = b;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return (p->base > q->base) - (p->base < q->base);
}

/* All fragments of a cell, in an order in which larger ones tend to come first: smallest -log(u) / area. */
static int64_t collect(Surface *s, SurfaceScratch *scratch, int64_t begin, int64_t end) {
  if (!make_room(s, (void **)&scratch->items[0], &scratch->item_room[0], end - begin, sizeof(Item))) return 0;
  const int32_t *index = cell_grid_index(s->grid);
  for (int64_t k = begin; k < end; k++) {
    int64_t i = index[k];
    Fragment fragment = s->fragments[i];
    Corners c = fragment_corners(s, fragment);
    Vec3 cross = vec3_cross(vec3_sub(c.v[1], c.v[0]), vec3_sub(c.v[2], c.v[0]));
    double area = vec3_length(cross) / (s->spacing * s->spacing) + 1e-9; /* twice, in squares of the spacing */
    uint64_t bits = rng_bits(s->region->plan->seed, (uint64_t)i, 0, RNG_SURFACE_SAMPLE);
    float key = (float)(-logarithm(1 - rng_unit(bits)) / area);
    scratch->items[0][k - begin] = (Item){.key = key, .base = i, .fragment = fragment, .corners = c};
  }
  qsort(scratch->items[0], (size_t)(end - begin), sizeof(Item), by_key);
  return end - begin;
}

/* A random point of the part (its middle when `middle`), on the true surface, as it will be stored. */
static void point_on(const Surface *s, const Item *item, bool middle, float point[3]) {
  const Corners *c = &item->corners;
  uint64_t bits =
      rng_bits(s->region->plan->seed, (uint64_t)item->fragment.triangle, item->fragment.path, RNG_SURFACE_SAMPLE);
  double u = middle ? 1.0 / 3 : (double)(bits >> 32) * 0x1p-32,
         v = middle ? 1.0 / 3 : (double)(bits & 0xffffffff) * 0x1p-32;
  if (u + v > 1) u = 1 - u, v = 1 - v;
  Vec3 p = vec3_madd(vec3_madd(c->v[0], vec3_sub(c->v[1], c->v[0]), u), vec3_sub(c->v[2], c->v[0]), v);
  if (s->curved) {
    ShapePoint at = region_distance(s->region, p, s->spacing);
    p = vec3_madd(p, at.normal, -at.distance);
  }
  point[0] = (float)p.x, point[1] = (float)p.y, point[2] = (float)p.z;
}

typedef enum Answer { ANSWER_DONE, ANSWER_HALVE, ANSWER_FAILED } Answer;

static Answer visit(Surface *s, SurfaceScratch *scratch, const Item *item) {
  if (s->has_point[item->base]) return ANSWER_DONE;
  const Corners *c = &item->corners;
  const float *normal = s->normals[item->fragment.triangle];
  float corners[3][3], point[3];
  for (int k = 0; k < 3; k++)
    corners[k][0] = (float)c->v[k].x, corners[k][1] = (float)c->v[k].y, corners[k][2] = (float)c->v[k].z;
  float spacing = (float)s->spacing;
  if (KERNEL_CALL(s->core, surface_covered)(&scratch->list, corners, normal, spacing)) return ANSWER_DONE;
  bool last = item->cuts == CUTS_OF_FRAGMENT || fragment_depth(item->fragment) >= 62;
  point_on(s, item, last, point);
  float same[3][3];
  for (int k = 0; k < 3; k++) memcpy(same[k], point, sizeof same[k]);
  bool blocked = region_blocked(s->region, vec3(point[0], point[1], point[2]), 0);
  if (blocked || KERNEL_CALL(s->core, surface_covered)(&scratch->list, same, normal, spacing))
    return last || (blocked && item->cuts >= CUTS_OF_BLOCKED) ? ANSWER_DONE : ANSWER_HALVE;
  s->has_point[item->base] = 1;
  s->x[item->base] = point[0], s->y[item->base] = point[1], s->z[item->base] = point[2];
  return list_push(s, scratch, point, normal) ? ANSWER_DONE : ANSWER_FAILED;
}

static void work_cell(Surface *s, SurfaceScratch *scratch, int64_t cell) {
  int64_t begin, end;
  int32_t at[3];
  cell_grid_cell(s->grid, cell, &begin, &end, at);
  if (begin == end || !gather(s, scratch, at)) return;
  int64_t count = collect(s, scratch, begin, end);
  int now = 0;
  while (count > 0) {
    int64_t found = 0;
    for (int64_t k = 0; k < count; k++) {
      Item item = scratch->items[now][k];
      Answer answer = visit(s, scratch, &item);
      if (answer == ANSWER_FAILED) return;
      if (answer == ANSWER_DONE) continue;
      if (!make_room(s, (void **)&scratch->items[1 - now], &scratch->item_room[1 - now], found + 2, sizeof item))
        return;
      item.cuts++;
      double square;
      int edge = longest_edge(&item.corners, &square);
      for (int half = 0; half < 2; half++) {
        Item *part = &scratch->items[1 - now][found++];
        *part = item;
        part->fragment = fragment_half(item.fragment, half);
        part->corners = cut(&item.corners, edge, half);
      }
    }
    now = 1 - now;
    count = found;
  }
}

static void work_body(void *context, int64_t b, int64_t e, int thread) {
  Surface *s = context;
  for (int64_t k = b; k < e && !s->out_of_memory; k++) work_cell(s, &s->scratch[thread], s->colors[k]);
}

static Status hand_out(Surface *s, Samples *samples) {
  int64_t n = 0;
  for (int64_t i = 0; i < s->count; i++) n += s->has_point[i];
  samples->count = n;
  TRY(memory_new(s->core, &samples->x, n, "samples"));
  TRY(memory_new(s->core, &samples->y, n, "samples"));
  TRY(memory_new(s->core, &samples->z, n, "samples"));
  const int32_t *index = cell_grid_index(s->grid);
  n = 0;
  for (int64_t k = 0; k < s->count; k++) {
    int64_t i = index[k];
    if (!s->has_point[i]) continue;
    samples->x[n] = s->x[i], samples->y[n] = s->y[i], samples->z[n] = s->z[i];
    n++;
  }
  return SCREE_OK;
}

static Status cover(Surface *s, Samples *samples) {
  TRY(cut_mesh(s));
  if (s->count == 0) return SCREE_OK;
  TRY(sort_cells(s));
  TRY(memory_new(s->core, &s->scratch, pool_threads(s->core->pool), "surface scratch"));
  for (int color = 0; color < COLORS; color++)
    parallel_for(s->core, s->color_start[color], s->color_start[color + 1], 2, work_body, s);
  if (s->out_of_memory) return fail(s->core, SCREE_NO_MEMORY, "out of memory while sampling a surface");
  return hand_out(s, samples);
}

static void surface_destroy(Surface *s) {
  Core *core = s->core;
  for (int t = 0; s->scratch && t < pool_threads(core->pool); t++) {
    SurfaceList *l = &s->scratch[t].list;
    float **arrays[] = {&l->x, &l->y, &l->z, &l->nx, &l->ny, &l->nz};
    for (int k = 0; k < 6; k++) memory_drop(core, arrays[k]);
    for (int k = 0; k < 2; k++) memory_drop(core, &s->scratch[t].items[k]);
  }
  memory_drop(core, &s->scratch);
  memory_drop(core, &s->pieces);
  memory_drop(core, &s->fragments);
  memory_drop(core, &s->x);
  memory_drop(core, &s->y);
  memory_drop(core, &s->z);
  memory_drop(core, &s->has_point);
  memory_drop(core, &s->normals);
  memory_drop(core, &s->colors);
  if (s->grid) cell_grid_destroy(core, s->grid);
}

static Status check_memory(Core *core, const Surface *s) {
  double area = 0;
  for (int64_t t = 0; t < s->mesh->triangle_count; t++) {
    Corners c = triangle_corners(s, t);
    area += vec3_length(vec3_cross(vec3_sub(c.v[1], c.v[0]), vec3_sub(c.v[2], c.v[0]))) / 2;
  }
  double squares = area / (s->spacing * s->spacing), left = (double)memory_left(&core->memory);
  double bytes = (6 * squares + (double)s->mesh->triangle_count) * BYTES_PER_FRAGMENT;
  if (bytes <= left && 8 * squares + (double)s->mesh->triangle_count < INT32_MAX) return SCREE_OK;
  return fail(core, SCREE_NO_MEMORY,
              "a surface of %.3g m^2 takes about %.3g points %.3g m apart: %.3g GB, of which %.3g are left", area,
              0.7 * squares, s->spacing, bytes / 1e9, left / 1e9);
}

/* Triangles of a plain shape, fine enough that they keep close to it. */
static Status plain_mesh(Core *core, const Shape *shape, double spacing, Mesh *mesh) {
  double segments = 2 * M_PI * shape->radius / spacing * 4;
  int detail = segments > 256 ? 256 : segments < 32 ? 32 : (int)segments;
  switch (shape->kind) {
  case SCREE_SHAPE_BOX: return mesh_make_box(core, shape->low, shape->high, mesh);
  case SCREE_SHAPE_SPHERE: return mesh_make_sphere(core, shape->low, shape->radius, detail, mesh);
  case SCREE_SHAPE_CYLINDER: return mesh_make_cylinder(core, shape->low, shape->radius, shape->height, detail, mesh);
  case SCREE_SHAPE_CAPSULE: return mesh_make_capsule(core, shape->low, shape->radius, shape->height, detail, mesh);
  default: return fail(core, SCREE_BAD_ARGUMENT, "this kind of shape has no surface to sample");
  }
}

Status sample_surface(Core *core, const Shape *shape, double spacing, const SamplingPlan *plan, Samples *samples) {
  *samples = (Samples){0};
  if (!(spacing > 0) || !isfinite(spacing))
    return fail(core, SCREE_BAD_ARGUMENT, "the spacing of surface samples is %g", spacing);
  Region region;
  TRY(region_create(core, shape, plan, &region));
  Mesh made = {0};
  bool plain = shape->kind != SCREE_SHAPE_MESH;
  if (plain) TRY(plain_mesh(core, shape, spacing, &made));
  Surface surface = {.core = core, .region = &region, .mesh = plain ? &made : &shape->mesh, .spacing = spacing};
  surface.curved = plain && shape->kind != SCREE_SHAPE_BOX;
  Status status = check_memory(core, &surface);
  if (status == SCREE_OK) status = cover(&surface, samples);
  samples->origin = region.origin;
  surface_destroy(&surface);
  if (plain) mesh_destroy(core, &made);
  if (status != SCREE_OK) samples_destroy(core, samples);
  return status;
}
