/* Leaves out grains that cannot be seen, for drivers that run on the CPU: there a hidden grain costs as much as a
 * visible one, and in a heap nine of ten are hidden.
 *
 * Three sweeps over the grains. The first notes for every tile of the picture how near the nearest centre in it is. The
 * second notes for every cell of a tile the depth behind which it is covered: a grain covers the cells that lie wholly
 * in its disc, up to the depth of its centre; grains far behind their tile's nearest are taken to be buried and cover
 * nothing. The third keeps a grain when some cell that its disc touches is not covered in front of it, and looks at the
 * cells only where the tile's least covered one leaves a doubt. All err on the side of keeping. The least depth does
 * not depend on the order of writing, so the choice is the same for any number of threads. */
#include "render/internal.h"

#include <stdatomic.h>
#include <string.h>

enum { CULL_CHUNK = 8192, CULL_TILE = 4 /* cells on a side */, CULL_ROWS = 8 /* of tiles */ };

typedef struct CullContext {
  const Renderer *renderer;
  const View *view;
  const GrainVertex *grains;
  _Atomic uint32_t *nearest; /* per cell: depth from which on it is covered */
  _Atomic uint32_t *tiles;   /* first the depth of the nearest centre, then of the least covered cell */
  uint8_t *kept;
  int64_t *counts; /* per chunk: grains kept, then where they go */
  GrainVertex *chosen;
  float cell; /* in pixels */
  int columns, rows;
  int tile_columns, tile_rows;
} CullContext;

typedef struct CullDisc {
  float x, y, radius;  /* in cells */
  float front, middle; /* depth */
  float deep;          /* so far behind the nearest of its tile a grain is taken to be buried */
} CullDisc;

/* Cells or tiles that a disc touches, within the picture. */
typedef struct CullRange {
  int x0, x1, y0, y1;
} CullRange;

static inline uint32_t cull_bits(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

static inline void cull_nearer(_Atomic uint32_t *depth, uint32_t bits) {
  uint32_t seen = atomic_load_explicit(depth, memory_order_relaxed);
  while (bits < seen &&
         !atomic_compare_exchange_weak_explicit(depth, &seen, bits, memory_order_relaxed, memory_order_relaxed))
    continue;
}

/* false when it cannot be in the picture. */
static inline bool cull_disc(const CullContext *cull, const GrainVertex *g, CullDisc *disc, bool *near) {
  const View *view = cull->view;
  const float *m = view->view.m;
  *near = false;
  if (!(g->radius > 0)) return false;
  float x = m[0] * g->x + m[4] * g->y + m[8] * g->z + m[12];
  float y = m[1] * g->x + m[5] * g->y + m[9] * g->z + m[13];
  float d = -(m[2] * g->x + m[6] * g->y + m[10] * g->z + m[14]);
  float scale = (float)view->focal;
  disc->middle = d;
  disc->front = d - g->radius;
  if (!view->sun) {
    if (d <= g->radius + 1e-6f) return false;
    if (d < 8 * g->radius) *near = true; /* too much perspective for a disc to stand for it */
    scale /= d;
  }
  disc->radius = g->radius * scale / cull->cell;
  disc->x = (x * scale + 0.5f * (float)view->width) / cull->cell;
  disc->y = (y * scale + 0.5f * (float)view->height) / cull->cell;
  /* Four radii for the grains that lie on each other, and a surface seen at a slant within the tile. */
  disc->deep = 4 * g->radius + 3 * CULL_TILE * cull->cell / scale;
  /* The outline is longer than the disc by 1 / cos^2 of the angle off the axis. */
  float reach = disc->radius * 2 + 2;
  return disc->x > -reach && disc->y > -reach && disc->x < (float)cull->columns + reach &&
         disc->y < (float)cull->rows + reach;
}

/* The tile of a disc's centre, or NULL when that lies out of the picture. */
static inline _Atomic uint32_t *cull_tile(const CullContext *cull, const CullDisc *disc) {
  if (!(disc->x >= 0 && disc->y >= 0 && disc->x < (float)cull->columns && disc->y < (float)cull->rows)) return NULL;
  return &cull->tiles[(int)disc->y / CULL_TILE * cull->tile_columns + (int)disc->x / CULL_TILE];
}

static void cull_front(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const CullContext *cull = context;
  for (int64_t i = b; i < e; i++) {
    CullDisc disc;
    bool near;
    if (!cull_disc(cull, &cull->grains[i], &disc, &near) || near) continue;
    _Atomic uint32_t *tile = cull_tile(cull, &disc);
    if (tile) cull_nearer(tile, cull_bits(disc.middle));
  }
}

static bool cull_buried(const CullContext *cull, const CullDisc *disc) {
  const _Atomic uint32_t *tile = cull_tile(cull, disc);
  return tile && cull_bits(disc->middle - disc->deep) > atomic_load_explicit(tile, memory_order_relaxed) &&
         disc->middle > disc->deep;
}

static void cull_cover(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const CullContext *cull = context;
  float margin = cull->cell > 1 ? 0.71f : 0.05f;
  for (int64_t i = b; i < e; i++) {
    CullDisc disc;
    bool near;
    if (!cull_disc(cull, &cull->grains[i], &disc, &near) || near || cull_buried(cull, &disc)) continue;
    float inner = disc.radius * 0.97f - margin;
    if (!(inner > 0)) continue;
    uint32_t bits = cull_bits(disc.middle);
    int y0 = (int)ceilf(disc.y - inner - 0.5f), y1 = (int)floorf(disc.y + inner - 0.5f);
    y0 = y0 < 0 ? 0 : y0;
    y1 = y1 >= cull->rows ? cull->rows - 1 : y1;
    for (int y = y0; y <= y1; y++) {
      float dy = (float)y + 0.5f - disc.y, half2 = inner * inner - dy * dy;
      if (half2 < 0) continue;
      float half = sqrtf(half2);
      int x0 = (int)ceilf(disc.x - half - 0.5f), x1 = (int)floorf(disc.x + half - 0.5f);
      x0 = x0 < 0 ? 0 : x0;
      x1 = x1 >= cull->columns ? cull->columns - 1 : x1;
      _Atomic uint32_t *row = &cull->nearest[(int64_t)y * cull->columns];
      for (int x = x0; x <= x1; x++) cull_nearer(&row[x], bits);
    }
  }
}

/* Rows of tiles: the depth from which on all cells of a tile are covered. */
static void cull_tiles(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const CullContext *cull = context;
  for (int64_t row = b; row < e; row++)
    for (int column = 0; column < cull->tile_columns; column++) {
      uint32_t least = 0;
      for (int y = (int)row * CULL_TILE; y < ((int)row + 1) * CULL_TILE && y < cull->rows; y++)
        for (int x = column * CULL_TILE; x < (column + 1) * CULL_TILE && x < cull->columns; x++) {
          uint32_t depth = atomic_load_explicit(&cull->nearest[(int64_t)y * cull->columns + x], memory_order_relaxed);
          least = depth > least ? depth : least;
        }
      atomic_store_explicit(&cull->tiles[row * cull->tile_columns + column], least, memory_order_relaxed);
    }
}

/* Whether something at this depth can be seen in one of the places. */
static inline bool cull_open(const _Atomic uint32_t *depths, int columns, CullRange range, uint32_t front) {
  for (int y = range.y0; y <= range.y1; y++)
    for (int x = range.x0; x <= range.x1; x++)
      if (front <= atomic_load_explicit(&depths[(int64_t)y * columns + x], memory_order_relaxed)) return true;
  return false;
}

static bool cull_visible(const CullContext *cull, const CullDisc *disc) {
  float outer = disc->radius * 1.05f + (cull->cell > 1 ? 0.75f : 0.6f);
  if (outer < 0.8f) outer = 0.8f; /* the least size at which a grain is drawn */
  CullRange range = {(int)ceilf(disc->x - outer - 0.5f), (int)floorf(disc->x + outer - 0.5f),
                     (int)ceilf(disc->y - outer - 0.5f), (int)floorf(disc->y + outer - 0.5f)};
  range.x0 = range.x0 < 0 ? 0 : range.x0;
  range.y0 = range.y0 < 0 ? 0 : range.y0;
  range.x1 = range.x1 >= cull->columns ? cull->columns - 1 : range.x1;
  range.y1 = range.y1 >= cull->rows ? cull->rows - 1 : range.y1;
  if (range.x0 > range.x1 || range.y0 > range.y1) return false;
  CullRange tiles = {range.x0 / CULL_TILE, range.x1 / CULL_TILE, range.y0 / CULL_TILE, range.y1 / CULL_TILE};
  uint32_t front = disc->front > 0 ? cull_bits(disc->front) : 0;
  return cull_open(cull->tiles, cull->tile_columns, tiles, front) &&
         cull_open(cull->nearest, cull->columns, range, front);
}

static void cull_test(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  CullContext *cull = context;
  int64_t count = 0;
  for (int64_t i = b; i < e; i++) {
    CullDisc disc;
    bool near, in = cull_disc(cull, &cull->grains[i], &disc, &near);
    bool keep = in && (near || cull_visible(cull, &disc));
    cull->kept[i] = keep;
    count += keep;
  }
  cull->counts[b / CULL_CHUNK] = count;
}

static void cull_gather(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  CullContext *cull = context;
  int64_t to = cull->counts[b / CULL_CHUNK];
  for (int64_t i = b; i < e; i++)
    if (cull->kept[i]) cull->chosen[to++] = cull->grains[i];
}

/* Cells such that a usual grain covers a few of them: one pixel for fine sand, more when the camera is close. */
static float cull_cell(const Renderer *renderer, const View *view) {
  double pixels = renderer->bounds.mean_radius * view->focal;
  if (!view->sun) {
    Vec3 inside = vec3_min(vec3_max(view->eye, renderer->bounds.low), renderer->bounds.high);
    double near = vec3_length(vec3_sub(inside, view->eye));
    double far = vec3_length(vec3_sub(renderer->bounds.high, renderer->bounds.low));
    pixels /= fmax(near + 0.3 * far, 1e-9);
  }
  return pixels < 5 ? 1.f : (float)fmin(floor(pixels / 2.5), 64);
}

Status cull_grains(Renderer *renderer, const View *view, const GrainVertex **grains, int64_t *result) {
  Core *core = &renderer->core;
  int64_t count = renderer->packed_count, chunks = parallel_chunks(0, count, CULL_CHUNK);
  CullContext cull = {.renderer = renderer, .view = view, .grains = renderer->packed};
  cull.cell = cull_cell(renderer, view);
  cull.columns = (int)ceilf((float)view->width / cull.cell);
  cull.rows = (int)ceilf((float)view->height / cull.cell);
  int64_t cells = (int64_t)cull.columns * cull.rows;
  cull.tile_columns = (cull.columns + CULL_TILE - 1) / CULL_TILE;
  cull.tile_rows = (cull.rows + CULL_TILE - 1) / CULL_TILE;
  int64_t places = cells + (int64_t)cull.tile_columns * cull.tile_rows;
  TRY(memory_grow(core, &renderer->nearest, places, "covered cells"));
  TRY(memory_grow(core, &renderer->kept, count, "visible grains"));
  TRY(memory_grow(core, &renderer->chosen, count, "visible grains"));
  TRY(memory_new(core, &cull.counts, chunks + 1, "visible grains"));
  memset(renderer->nearest, 0x7f, (size_t)places * sizeof *renderer->nearest); /* as a float: farther than anything */
  cull.nearest = (_Atomic uint32_t *)renderer->nearest;
  cull.tiles = cull.nearest + cells;
  cull.kept = renderer->kept;
  cull.chosen = renderer->chosen;
  parallel_for(core, 0, count, CULL_CHUNK, cull_front, &cull);
  parallel_for(core, 0, count, CULL_CHUNK, cull_cover, &cull);
  parallel_for(core, 0, cull.tile_rows, CULL_ROWS, cull_tiles, &cull);
  parallel_for(core, 0, count, CULL_CHUNK, cull_test, &cull);
  int64_t sum = 0;
  for (int64_t k = 0; k < chunks; k++) {
    int64_t here = cull.counts[k];
    cull.counts[k] = sum;
    sum += here;
  }
  parallel_for(core, 0, count, CULL_CHUNK, cull_gather, &cull);
  memory_drop(core, &cull.counts);
  *grains = renderer->chosen;
  *result = sum;
  return SCREE_OK;
}
