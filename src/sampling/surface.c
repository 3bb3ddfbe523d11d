/* Points on triangles, no two closer than a spacing and no hole larger than it (after White et al. 2007 and Cline et
 * al. 2009: what a point covers is dropped, what is not and refuses a random point is halved).
 *
 * Triangles are first cut into pieces that are neither needles nor very large, and each piece into n^2 fragments of its
 * own form. A fragment is no longer than sqrt(2) spacings, so that it has room for three points at most. Fragments are
 * grouped into cells of three spacings by their middle; cells of one colour are worked on at once, since no fragment
 * reaches a spacing over the edge of its cell. */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/portable.h"
#include "core/rng.h"
#include "neighbors/neighbors.h"
#include "sampling/region.h"
#include "sampling/sampling_kernels.h"

enum {
  CELL_SPACINGS = 3,
  PIECE_SPACINGS = 64, /* triangles are cut to that length before the threads share them */
  CUTS_OF_TRIANGLE = 60,
  CUTS_OF_FRAGMENT = 24, /* of one that refuses points: down to a 4096th of the spacing */
  CUTS_OF_BLOCKED = 8,
  BYTES_PER_FRAGMENT = 130,
  COLORS = 8,
  FRAGMENT_POINTS = 3
};
#define FRAGMENT_SPACINGS 1.414 /* longest edge */
#define REACH_SPACINGS 1.95     /* 2/3 of that, which no corner is farther from the middle, and one spacing */

typedef struct Corners {
  Vec3 v[3];
} Corners;

typedef struct Piece {
  Corners corners;
  int32_t triangle, n;
  int64_t first; /* of its fragments */
  double area;   /* of one of them, in squares of the spacing */
} Piece;

typedef struct Fragment {
  int32_t piece, number;
} Fragment;

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
  /* In the grid's order: */
  uint8_t *points; /* how many a fragment has */
  float (*found)[FRAGMENT_POINTS][3];
  float (*normals)[3]; /* of the triangles */
  CellGrid *grid;
  int64_t *colors; /* cells by colour */
  int64_t color_start[COLORS + 1];
  struct SurfaceScratch *scratch; /* one per thread */
  _Atomic bool out_of_memory;
} Surface;

/* A fragment, or part of one, in a cell's work. */
typedef struct Item {
  int32_t triangle;
  int64_t base;  /* fragment, by its place in the grid's order */
  uint32_t path; /* the halves taken, below a leading one */
  float v[3][3];
} Item;

typedef struct Turn {
  float key;
  int32_t base;
} Turn;

typedef struct SurfaceScratch {
  Turn *turns;
  int64_t turn_room;
  SurfaceList list;  /* points that one of this cell could meet */
  SurfaceList close; /* of them, those that one of this fragment could meet */
  int64_t list_room, close_room;
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

static double twice_area(const Corners *c) {
  return vec3_length(vec3_cross(vec3_sub(c->v[1], c->v[0]), vec3_sub(c->v[2], c->v[0])));
}

/* Halves a triangle until its parts are neither needles nor large; writes them when there is somewhere to. */
static void cut_pieces(Surface *s, int32_t triangle, const Corners *c, int depth) {
  double square, spacing = s->spacing;
  int edge = longest_edge(c, &square);
  bool large = square > PIECE_SPACINGS * PIECE_SPACINGS * spacing * spacing;
  bool needle = square > spacing * spacing && twice_area(c) < 0.3 * square;
  if ((large || needle) && depth < CUTS_OF_TRIANGLE) {
    for (int half = 0; half < 2; half++) {
      Corners part = cut(c, edge, half);
      cut_pieces(s, triangle, &part, depth + 1);
    }
    return;
  }
  int64_t k = s->piece_count++;
  if (!s->pieces) return;
  double n = fmax(1, ceil(sqrt(square) / (FRAGMENT_SPACINGS * spacing)));
  s->pieces[k] = (Piece){.corners = *c, .triangle = triangle, .n = (int32_t)n};
  s->pieces[k].area = twice_area(c) / (2 * n * n * spacing * spacing) + 1e-9;
}

/* Fragments lie in n rows; row i has i + 1 upright and i hanging ones in turn. */
static Corners fragment_corners(const Surface *s, Fragment fragment) {
  const Piece *piece = &s->pieces[fragment.piece];
  int row = (int)sqrt((double)fragment.number), at = fragment.number - row * row;
  double step = 1.0 / piece->n;
  Vec3 down = vec3_scale(vec3_sub(piece->corners.v[1], piece->corners.v[0]), step);
  Vec3 across = vec3_scale(vec3_sub(piece->corners.v[2], piece->corners.v[1]), step);
  Vec3 a = vec3_madd(vec3_madd(piece->corners.v[0], down, row), across, at / 2);
  Vec3 b = vec3_add(a, down);
  if (at % 2 == 0) return (Corners){{a, b, vec3_add(b, across)}};
  return (Corners){{a, vec3_add(b, across), vec3_add(a, across)}};
}

static void emit_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Surface *s = context;
  for (int64_t p = b; p < e; p++)
    for (int32_t k = 0; k < s->pieces[p].n * s->pieces[p].n; k++) {
      int64_t i = s->pieces[p].first + k;
      s->fragments[i] = (Fragment){(int32_t)p, k};
      Corners c = fragment_corners(s, s->fragments[i]);
      s->x[i] = (float)((c.v[0].x + c.v[1].x + c.v[2].x) / 3);
      s->y[i] = (float)((c.v[0].y + c.v[1].y + c.v[2].y) / 3);
      s->z[i] = (float)((c.v[0].z + c.v[1].z + c.v[2].z) / 3);
    }
}

static Status find_pieces(Surface *s) {
  int64_t triangles = s->mesh->triangle_count;
  TRY(memory_new(s->core, &s->normals, triangles, "surface normals"));
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 1) TRY(memory_new(s->core, &s->pieces, s->piece_count, "surface pieces"));
    s->piece_count = 0;
    for (int64_t t = 0; t < triangles; t++) {
      Corners c = triangle_corners(s, t);
      cut_pieces(s, (int32_t)t, &c, 0);
      if (pass == 0) continue;
      Vec3 n = vec3_normalize(vec3_cross(vec3_sub(c.v[1], c.v[0]), vec3_sub(c.v[2], c.v[0])));
      s->normals[t][0] = (float)n.x, s->normals[t][1] = (float)n.y, s->normals[t][2] = (float)n.z;
    }
  }
  return SCREE_OK;
}

static Status cut_mesh(Surface *s) {
  Core *core = s->core;
  TRY(find_pieces(s));
  for (int64_t k = 0; k < s->piece_count; k++) {
    s->pieces[k].first = s->count;
    s->count += (int64_t)s->pieces[k].n * s->pieces[k].n;
  }
  if (s->count >= INT32_MAX || s->piece_count >= INT32_MAX)
    return fail(core, SCREE_NO_MEMORY, "a surface of %lld triangles is too large for points %.3g m apart",
                (long long)s->mesh->triangle_count, s->spacing);
  TRY(memory_new(core, &s->fragments, s->count, "surface fragments"));
  TRY(memory_new(core, &s->x, s->count, "surface fragments"));
  TRY(memory_new(core, &s->y, s->count, "surface fragments"));
  TRY(memory_new(core, &s->z, s->count, "surface fragments"));
  parallel_for(core, 0, s->piece_count, 16, emit_body, s);
  return SCREE_OK;
}

static Status sort_cells(Surface *s) {
  Core *core = s->core;
  Points points = {.count = s->count, .x = s->x, .y = s->y, .z = s->z};
  TRY(cell_grid_create(core, &s->grid));
  TRY(cell_grid_build(core, s->grid, points, (float)(CELL_SPACINGS * s->spacing)));
  memory_drop(core, &s->x);
  memory_drop(core, &s->y);
  memory_drop(core, &s->z);
  TRY(memory_new(core, &s->points, s->count, "surface fragments"));
  TRY(memory_new(core, &s->found, s->count, "surface fragments"));
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

static bool list_room(Surface *s, SurfaceList *l, int64_t *have, int64_t count) {
  float **arrays[] = {&l->x, &l->y, &l->z, &l->nx, &l->ny, &l->nz};
  int64_t room = *have;
  for (int k = 0; k < 6; k++) {
    room = *have;
    if (!make_room(s, (void **)arrays[k], &room, count + LANES, sizeof(float))) return false;
  }
  *have = room;
  return true;
}

static bool list_push(Surface *s, SurfaceList *l, int64_t *have, const float point[3], const float normal[3]) {
  if (!list_room(s, l, have, l->count + 1)) return false;
  int64_t k = l->count++;
  l->x[k] = point[0], l->y[k] = point[1], l->z[k] = point[2];
  l->nx[k] = normal[0], l->ny[k] = normal[1], l->nz[k] = normal[2];
  if (l->count % LANES == 0) surface_list_pad(l);
  return true;
}

/* Points of the cells around that one of this cell could meet. */
static bool gather(Surface *s, SurfaceScratch *scratch, const int32_t at[3]) {
  int64_t ranges[CELL_RANGES_MAX][2];
  int count = cell_grid_around(s->grid, at, ranges);
  const int32_t *index = cell_grid_index(s->grid);
  scratch->list.count = 0;
  if (!list_room(s, &scratch->list, &scratch->list_room, 0)) return false;
  surface_list_pad(&scratch->list);
  float side = (float)(CELL_SPACINGS * s->spacing), margin = (float)(REACH_SPACINGS * s->spacing);
  float low[3], high[3];
  for (int axis = 0; axis < 3; axis++)
    low[axis] = (float)at[axis] * side - margin, high[axis] = (float)(at[axis] + 1) * side + margin;
  for (int r = 0; r < count; r++)
    for (int64_t k = ranges[r][0]; k < ranges[r][1]; k++)
      for (int n = 0; n < s->points[k]; n++) {
        const float *p = s->found[k][n];
        if (p[0] < low[0] || p[1] < low[1] || p[2] < low[2] || p[0] > high[0] || p[1] > high[1] || p[2] > high[2])
          continue;
        if (!list_push(s, &scratch->list, &scratch->list_room, p,
                       s->normals[s->pieces[s->fragments[index[k]].piece].triangle]))
          return false;
      }
  return true;
}

static int by_key(const void *a, const void *b) {
  const Turn *p = a, *q = b;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return (p->base > q->base) - (p->base < q->base);
}

static void whole_fragment(const Surface *s, int64_t base, Item *item) {
  Fragment fragment = s->fragments[cell_grid_index(s->grid)[base]];
  Corners c = fragment_corners(s, fragment);
  item->triangle = s->pieces[fragment.piece].triangle;
  item->base = base;
  item->path = 1;
  for (int k = 0; k < 3; k++)
    item->v[k][0] = (float)c.v[k].x, item->v[k][1] = (float)c.v[k].y, item->v[k][2] = (float)c.v[k].z;
}

/* Cuts the longest edge; half 0 keeps its first end, half 1 its second. */
static void halve_item(const Item *item, Item parts[2]) {
  int edge = 0;
  float longest = -1, middle[3];
  for (int k = 0; k < 3; k++) {
    const float *a = item->v[k], *b = item->v[(k + 1) % 3];
    float x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2], square = x * x + y * y + z * z;
    if (square > longest) longest = square, edge = k;
  }
  int other = (edge + 1) % 3;
  for (int axis = 0; axis < 3; axis++) middle[axis] = 0.5f * (item->v[edge][axis] + item->v[other][axis]);
  for (int half = 0; half < 2; half++) {
    parts[half] = *item;
    parts[half].path = item->path << 1 | (uint32_t)half;
    memcpy(parts[half].v[half ? edge : other], middle, sizeof middle);
  }
}

/* The order in which a cell's fragments get their turn: larger ones tend to come first, smallest -log(u) / area. */
static bool draw_turns(Surface *s, SurfaceScratch *scratch, int64_t begin, int64_t end) {
  if (!make_room(s, (void **)&scratch->turns, &scratch->turn_room, end - begin, sizeof(Turn))) return false;
  const int32_t *index = cell_grid_index(s->grid);
  for (int64_t k = begin; k < end; k++) {
    double area = s->pieces[s->fragments[index[k]].piece].area;
    uint64_t bits = rng_bits(s->region->plan->seed, (uint64_t)index[k], 0, RNG_SURFACE_SAMPLE);
    scratch->turns[k - begin] = (Turn){(float)(-portable_log(1 - rng_unit(bits)) / area), (int32_t)k};
  }
  qsort(scratch->turns, (size_t)(end - begin), sizeof(Turn), by_key);
  return true;
}

/* A random point of the part (its middle when `middle`), on the true surface, as it will be stored. */
static void point_on(const Surface *s, const Item *item, bool middle, float point[3]) {
  uint64_t key = (uint64_t)cell_grid_index(s->grid)[item->base];
  uint64_t bits = rng_bits(s->region->plan->seed, key, item->path, RNG_SURFACE_SAMPLE);
  float u = middle ? 1.0f / 3 : rng_unitf(bits), v = middle ? 1.0f / 3 : rng_unitf(bits << 32);
  if (u + v > 1) u = 1 - u, v = 1 - v;
  for (int axis = 0; axis < 3; axis++) {
    float a = item->v[0][axis];
    point[axis] = a + (item->v[1][axis] - a) * u + (item->v[2][axis] - a) * v;
  }
  if (!s->curved) return;
  Vec3 p = vec3(point[0], point[1], point[2]);
  ShapePoint at = region_distance(s->region, p, s->spacing);
  p = vec3_madd(p, at.normal, -at.distance);
  point[0] = (float)p.x, point[1] = (float)p.y, point[2] = (float)p.z;
}

static bool covered(const Surface *s, const SurfaceList *list, const Item *item) {
  return KERNEL_CALL(s->core, surface_covered)(list, item->v, 3, s->normals[item->triangle], (float)s->spacing);
}

/* Throws a point on a part that is not covered. Whether nothing more is to be done there. */
static bool throw_on(Surface *s, SurfaceScratch *scratch, const Item *item) {
  const float *normal = s->normals[item->triangle];
  float point[1][3], spacing = (float)s->spacing;
  int cuts = 31 - __builtin_clz(item->path);
  bool last = cuts == CUTS_OF_FRAGMENT;
  point_on(s, item, last, point[0]);
  bool blocked = region_blocked(s->region, vec3(point[0][0], point[0][1], point[0][2]), 0);
  if (blocked || KERNEL_CALL(s->core, surface_covered)(&scratch->close, (const float(*)[3])point, 1, normal, spacing))
    return last || (blocked && cuts >= CUTS_OF_BLOCKED);
  int n = s->points[item->base];
  if (n == FRAGMENT_POINTS) return true;
  s->points[item->base]++;
  memcpy(s->found[item->base][n], point[0], sizeof point[0]);
  list_push(s, &scratch->list, &scratch->list_room, point[0], normal);
  list_push(s, &scratch->close, &scratch->close_room, point[0], normal);
  return covered(s, &scratch->close, item);
}

/* A fragment's turn: what is not dealt with is halved until all is. */
static bool work_fragment(Surface *s, SurfaceScratch *scratch, int64_t base) {
  Item whole;
  whole_fragment(s, base, &whole);
  if (covered(s, &scratch->list, &whole)) return true;
  float middle[3];
  for (int axis = 0; axis < 3; axis++)
    middle[axis] = (whole.v[0][axis] + whole.v[1][axis] + whole.v[2][axis]) * (1.0f / 3);
  if (!list_room(s, &scratch->close, &scratch->close_room, scratch->list.count + FRAGMENT_POINTS)) return false;
  KERNEL_CALL(s->core, surface_near)(&scratch->list, middle, (float)(REACH_SPACINGS * s->spacing), &scratch->close);
  if (throw_on(s, scratch, &whole)) return true;
  if (!make_room(s, (void **)&scratch->items[0], &scratch->item_room[0], 1, sizeof whole)) return false;
  scratch->items[0][0] = whole;
  int64_t count = 1;
  for (int now = 0; count > 0; now = 1 - now) {
    int next = 1 - now;
    if (!make_room(s, (void **)&scratch->items[next], &scratch->item_room[next], 2 * count, sizeof whole)) return false;
    int64_t found = 0;
    for (int64_t k = 0; k < count; k++) {
      Item parts[2];
      halve_item(&scratch->items[now][k], parts);
      for (int half = 0; half < 2; half++)
        if (!covered(s, &scratch->close, &parts[half]) && !throw_on(s, scratch, &parts[half]))
          scratch->items[next][found++] = parts[half];
    }
    count = found;
  }
  return true;
}

static void work_cell(Surface *s, SurfaceScratch *scratch, int64_t cell) {
  int64_t begin, end;
  int32_t at[3];
  cell_grid_cell(s->grid, cell, &begin, &end, at);
  if (begin == end || !gather(s, scratch, at) || !draw_turns(s, scratch, begin, end)) return;
  for (int64_t k = 0; k < end - begin; k++)
    if (!work_fragment(s, scratch, scratch->turns[k].base)) return;
}

static void work_body(void *context, int64_t b, int64_t e, int thread) {
  Surface *s = context;
  for (int64_t k = b; k < e && !s->out_of_memory; k++) work_cell(s, &s->scratch[thread], s->colors[k]);
}

static Status hand_out(Surface *s, Samples *samples) {
  int64_t n = 0;
  for (int64_t k = 0; k < s->count; k++) n += s->points[k];
  samples->count = n;
  TRY(memory_new(s->core, &samples->x, n, "samples"));
  TRY(memory_new(s->core, &samples->y, n, "samples"));
  TRY(memory_new(s->core, &samples->z, n, "samples"));
  n = 0;
  for (int64_t k = 0; k < s->count; k++)
    for (int j = 0; j < s->points[k]; j++, n++)
      samples->x[n] = s->found[k][j][0], samples->y[n] = s->found[k][j][1], samples->z[n] = s->found[k][j][2];
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
    SurfaceList *a = &s->scratch[t].list, *b = &s->scratch[t].close;
    float **arrays[] = {&a->x, &a->y, &a->z, &a->nx, &a->ny, &a->nz, &b->x, &b->y, &b->z, &b->nx, &b->ny, &b->nz};
    for (int k = 0; k < 12; k++) memory_drop(core, arrays[k]);
    for (int k = 0; k < 2; k++) memory_drop(core, &s->scratch[t].items[k]);
    memory_drop(core, &s->scratch[t].turns);
  }
  memory_drop(core, &s->scratch);
  memory_drop(core, &s->pieces);
  memory_drop(core, &s->fragments);
  memory_drop(core, &s->x);
  memory_drop(core, &s->y);
  memory_drop(core, &s->z);
  memory_drop(core, &s->points);
  memory_drop(core, &s->found);
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
  double bytes = (2.5 * squares + (double)s->mesh->triangle_count) * BYTES_PER_FRAGMENT;
  if (bytes <= left && 4 * squares + (double)s->mesh->triangle_count < INT32_MAX) return SCREE_OK;
  return fail(core, SCREE_NO_MEMORY,
              "a surface of %.3g m^2 takes about %.3g points %.3g m apart: %.3g GB, of which %.3g are left", area,
              0.7 * squares, s->spacing, bytes / 1e9, left / 1e9);
}

/* Triangles of a plain shape, fine enough that they keep close to it. */
static Status plain_mesh(Core *core, const Shape *shape, double spacing, Mesh *mesh, bool *curved) {
  double segments = 2 * M_PI * shape->radius / spacing * 4;
  return shape_fine_surface(core, shape, segments > 256 ? 256 : segments < 32 ? 32 : (int)segments, mesh, curved);
}

Status sample_surface(Core *core, const Shape *shape, double spacing, const SamplingPlan *plan, Samples *samples) {
  *samples = (Samples){0};
  if (!(spacing > 0) || !isfinite(spacing))
    return fail(core, SCREE_BAD_ARGUMENT, "the spacing of surface samples is %g", spacing);
  Region region;
  TRY(region_create(core, shape, plan, &region));
  Mesh made = {0};
  bool plain = shape->kind != SCREE_SHAPE_MESH, curved = false;
  if (plain) TRY(plain_mesh(core, shape, spacing, &made, &curved));
  Surface surface = {.core = core, .region = &region, .mesh = plain ? &made : &shape->mesh, .spacing = spacing};
  surface.curved = curved;
  Status status = check_memory(core, &surface);
  if (status == SCREE_OK) status = cover(&surface, samples);
  samples->origin = region.origin;
  surface_destroy(&surface);
  if (plain) mesh_destroy(core, &made);
  if (status != SCREE_OK) samples_destroy(core, samples);
  return status;
}
