#include "core/parallel.h"
#include "core/portable.h"
#include "core/rng.h"
#include "sampling/blocks.h"
#include "sampling/darts.h"
#include "sampling/relax.h"
#include "sampling/sampling.h"

/* Share of the room for centres that random placement fills in a moderate number of throws, and its limit. */
#define RANDOM_FRACTION 0.37
/* Spheres of many sizes leave smaller gaps, the more so the wider the distribution. */
static double sizes_fraction(double spread) { return 0.34 + 0.08 * fmin(spread, 0.5); }
/* Shares of the room for centres that dense starts put in: six tenths in the bulk. */
#define DENSE_FRACTION 0.61
#define DENSE_SIZES_FRACTION 0.63
/* Spheres that shall fill a fraction. At a wall that they are pressed to the bulk ends so many radii before it. Where
 * the face of a shape is free they stand out of it by as much, and its mass is that of its volume. */
#define PRESSED_LOSS 0.27
/* Against walls they are packed more closely to make up for it, up to this: nearer to the densest random packing (0.64)
 * they no longer find their places. */
#define DENSEST_FRACTION 0.62
#define DENSEST_THROWN 0.66 /* enough for it */
/* Tiles are made for fractions that differ by this, so that fills share them. */
#define TILE_FRACTIONS 0.004
/* Depth of a centre, over the radius, where a packing is cut at a free face. Not 0: the sign would be dear. */
#define CUT_DEPTH 0.02
/* Throws of spheres that are shrunk further each time, until there are enough. */
enum { THROWS_MAX = 12 };
#define SHRINK_FURTHER 0.97
/* Share of the time of a dense start that placing takes; pushing apart takes the rest. */
#define PLACING_SHARE 0.2
/* Spheres from which on a fill is cut out of copies of a tile. Fewer are made as quickly as the tile is. */
#define TILE_WORTH 16000
/* Bytes that a sample costs while it is made: its share of a block, the result, and neighbours when it is relaxed. What
 * need not be collected costs a share of a block. */
enum { BYTES_RANDOM = 64, BYTES_DENSE = 320, BYTES_IN_BLOCKS = 16 };

static Status check_memory(Core *core, const Region *region, const Sizes *sizes, int bytes_each) {
  double count = region->volume * (region->plan->dense ? DENSE_FRACTION : RANDOM_FRACTION) / sizes->mean_volume;
  double bytes = count * bytes_each;
  double left = (double)memory_left(&core->memory);
  if (bytes <= left && count < INT32_MAX) return SCREE_OK;
  return fail(core, SCREE_NO_MEMORY,
              "a volume of %.3g m^3 holds about %.3g grains of radius %.3g m: %.3g GB, of which %.3g are left",
              region->volume, count, sizes->nominal, bytes / 1e9, left / 1e9);
}

static void fill_blocks(Darts *darts, const TileKind *kind) {
  const SamplingPlan *plan = darts->region->plan;
  bool tiled = darts->blocks->tiled, equal = !darts->sizes->quantile;
  if (tiled) darts_cut_tile(darts);
  if (tiled && kind->fraction > 0) {
    if (plan->obstacle) darts_throw_at_obstacles(darts, kind);
    return;
  }
  /* At a boundary equal spheres are thrown into what the cut has left. Of many sizes the small ones would fit there,
   * and the cut alone has as many as throws place. */
  if (equal) darts_throw_equal(darts);
  else if (!tiled) darts_throw_sizes(darts, kind->throws);
  if (plan->maximal) darts_fill_gaps(darts);
}

/* How much there is to fill, m^3. */
typedef struct Room {
  double free;    /* of the shape, outside of obstacles */
  double pressed; /* the bulk of spheres that are pressed to the obstacles */
} Room;

static Room room_of(Core *core, const Region *region, const Sizes *sizes, const Blocks *blocks) {
  return (Room){region->volume - blocks_obstructed(core, blocks, region, 0),
                region->volume - blocks_obstructed(core, blocks, region, PRESSED_LOSS * sizes->nominal)};
}

/* Solid volume, m^3. */
static double wanted_volume(const SamplingPlan *plan, const Room *room) {
  return fmin(plan->fraction * room->free, fmax(plan->fraction, DENSEST_FRACTION) * room->pressed);
}

/* A tile that is cut off at walls is as dense as makes up for it. */
static double tile_fraction(const SamplingPlan *plan, const Room *room) {
  double more = wanted_volume(plan, room) / room->pressed - plan->fraction;
  return plan->fraction + (more > 1e-6 ? TILE_FRACTIONS * ceil(more / TILE_FRACTIONS) : 0);
}

static Status place_tile(Core *core, const SamplingPlan *plan, const TileKind *kind, Tile *placed) {
  Tiles own = {0}, *tiles = plan->tiles ? plan->tiles : &own;
  const Tile *tile = NULL;
  Status status = tiles_find(core, tiles, *kind, &tile);
  if (status == SCREE_OK) status = tile_place(core, tile, plan->seed, placed);
  tiles_destroy(core, &own);
  return status;
}

/* room: NULL where spheres need not fill a fraction. */
static Status fill_and_collect(Core *core, const Region *region, const Sizes *sizes, TileKind kind, Blocks *blocks,
                               Room *room, Samples *samples) {
  Tile placed = {0};
  if (room) *room = room_of(core, region, sizes, blocks);
  if (blocks->tiled) {
    if (room) kind.fraction = tile_fraction(region->plan, room);
    TRY(place_tile(core, region->plan, &kind, &placed));
    blocks->tile = &placed;
  }
  Darts darts;
  Status status = darts_create(core, region, sizes, blocks, blocks->tiled ? 1 : kind.shrink, &darts);
  if (status == SCREE_OK) fill_blocks(&darts, &kind);
  darts_destroy(&darts);
  if (status == SCREE_OK && blocks->tiled && region->plan->in_blocks)
    status = blocks_hand_over(core, blocks, sizes->nominal, &placed, samples);
  else if (status == SCREE_OK) status = blocks_collect(core, blocks, sizes->nominal, samples);
  tile_destroy(core, &placed);
  return status;
}

static Status fill(Core *core, const Region *region, const Sizes *sizes, const TileKind *kind, bool tiled, Room *room,
                   Samples *samples) {
  /* Two points of one cell are closer than a diameter, so that a cell holds one centre at most. Blocks must be as wide
   * as the largest spheres reach. */
  double cell = 2 * kind->shrink * sizes->nominal / sqrt(3.0);
  cell = fmax(cell, 2.01 * kind->shrink * sizes->largest / BLOCK_CELLS);
  if (tiled) cell = tile_cell(kind, sizes->largest / sizes->nominal) * sizes->nominal;
  Blocks blocks;
  TRY(blocks_create(core, region, tiled, cell, sizes->smallest, sizes->largest, &blocks));
  Status status = fill_and_collect(core, region, sizes, *kind, &blocks, room, samples);
  blocks_destroy(core, &blocks);
  return status;
}

static Status fill_with_tile(Core *core, const Region *region, const Sizes *sizes, const TileKind *kind,
                             Samples *samples) {
  Room room;
  bool walled = kind->fraction > 0 && region->plan->obstacle;
  TRY(fill(core, region, sizes, kind, true, walled ? &room : NULL, samples));
  if (!walled) return SCREE_OK;
  Region pressed = *region;
  pressed.inset = 1 - PRESSED_LOSS;
  return relax_at_obstacles(core, &pressed, sizes, wanted_volume(region->plan, &room), samples);
}

/* Spheres that are too close together; where they shall fill a fraction, as many as that takes. */
static Status fill_crowded(Core *core, const Region *region, const Sizes *sizes, TileKind kind, Samples *samples) {
  if (!(kind.fraction > 0)) return fill(core, region, sizes, &kind, false, NULL, samples);
  for (int k = 0;; k++) {
    Room room;
    TRY(fill(core, region, sizes, &kind, false, &room, samples));
    double wanted = wanted_volume(region->plan, &room);
    if (k == THROWS_MAX || samples_volume(samples, sizes->nominal) >= wanted) {
      samples_thin(samples, sizes->nominal, wanted, region->plan->seed);
      return SCREE_OK;
    }
    samples_destroy(core, samples);
    kind.shrink *= SHRINK_FURTHER;
    kind.throws /= SHRINK_FURTHER * SHRINK_FURTHER * SHRINK_FURTHER;
  }
}

/* A dense start places as many as there shall be, too close together, and pushes them apart. */
static TileKind kind_of(const SamplingPlan *plan) {
  TileKind kind = {.spread = plan->spread, .distribution = plan->distribution, .shrink = 1};
  double thrown = plan->spread > 0 ? sizes_fraction(plan->spread) : RANDOM_FRACTION;
  double put_in = plan->fraction > 0 ? DENSEST_THROWN : plan->spread > 0 ? DENSE_SIZES_FRACTION : DENSE_FRACTION;
  if (plan->dense) kind.shrink = portable_cbrt(thrown / put_in);
  kind.throws = thrown / (kind.shrink * kind.shrink * kind.shrink);
  if (plan->dense) kind.fraction = plan->fraction;
  return kind;
}

/* Whether most of the spheres lie where a tile has them ready. */
static bool tile_pays(const Region *region, const Sizes *sizes, const TileKind *kind) {
  double widest = fmax(region->high.x, fmax(region->high.y, region->high.z));
  return !region->plan->maximal && region->volume * kind->throws / sizes->mean_volume >= TILE_WORTH &&
         widest <= TILE_WIDEST * sizes->nominal;
}

static double ball_volume(double r) { return 4.0 / 3.0 * M_PI * r * r * r; }

static double sphere_volume(const Samples *samples, double radius, int64_t i) {
  return ball_volume(samples->radius ? (double)samples->radius[i] : radius);
}

/* Of what is in whole blocks of a tile. */
static double tile_volume(const SampleBlocks *blocks, double radius) {
  double sum = 0, bins[TILE_BINS] = {0};
  for (int b = 0; b < TILE_BINS; b++)
    for (int32_t k = blocks->tile->start[b]; k < blocks->tile->start[b + 1]; k++)
      bins[b] += ball_volume((double)tile_radius(blocks->tile, k, radius));
  for (int64_t b = 0; b < blocks->count; b++) {
    const int32_t *c = blocks->coordinate[b];
    if (blocks->samples[b] < 0) sum += bins[tile_bin(c[0], c[1], c[2])];
  }
  return sum;
}

double samples_volume(const Samples *samples, double radius) {
  double sum = samples->blocks ? tile_volume(samples->blocks, radius) : 0;
  for (int64_t i = 0; i < (samples->blocks ? samples->blocks->own : samples->count); i++)
    sum += sphere_volume(samples, radius, i);
  return sum;
}

Status sample_volume(Core *core, const Shape *shape, const SamplingPlan *plan, Samples *samples) {
  *samples = (Samples){0};
  Region region;
  Sizes sizes;
  TRY(region_create(core, shape, plan, &region));
  TRY(sizes_create(core, plan->radius, plan->spread, plan->distribution, &sizes));
  TileKind kind = kind_of(plan);
  bool tiled = tile_pays(&region, &sizes, &kind);
  if (kind.fraction > 0) region.inset = tiled ? CUT_DEPTH : 1 - PRESSED_LOSS;
  int bytes = plan->dense && !tiled ? BYTES_DENSE : tiled && plan->in_blocks ? BYTES_IN_BLOCKS : BYTES_RANDOM;
  Status status = check_memory(core, &region, &sizes, bytes);
  if (status == SCREE_OK && tiled) {
    status = fill_with_tile(core, &region, &sizes, &kind, samples);
  } else if (status == SCREE_OK) {
    double begin = core->progress_begin, end = core->progress_end;
    double placed = plan->dense ? begin + PLACING_SHARE * (end - begin) : end;
    progress_stage(core, core->progress_what, begin, placed);
    status = fill_crowded(core, &region, &sizes, kind, samples);
    progress_stage(core, core->progress_what, placed, end);
    if (status == SCREE_OK && plan->dense) status = relax_samples(core, &region, &sizes, samples);
  }
  samples->origin = region.origin;
  if (region.volume > 0) samples->fraction = samples_volume(samples, plan->radius) / region.volume;
  sizes_destroy(core, &sizes);
  if (status != SCREE_OK) samples_destroy(core, samples);
  return status;
}

void samples_thin(Samples *samples, double radius, double volume, uint64_t seed) {
  double left = samples_volume(samples, radius), wanted = volume;
  int64_t kept = 0;
  if (!(left > wanted)) return;
  for (int64_t i = 0; i < samples->count; i++) {
    /* Each is kept with the share of what is still wanted in what is still to come. */
    double own = sphere_volume(samples, radius, i), share = wanted / left;
    left -= own;
    if (rng_unit(rng_bits(seed, (uint64_t)i, 1, RNG_VOLUME_SAMPLE)) >= share) continue;
    wanted -= own;
    samples->x[kept] = samples->x[i], samples->y[kept] = samples->y[i], samples->z[kept] = samples->z[i];
    if (samples->radius) samples->radius[kept] = samples->radius[i];
    kept++;
  }
  samples->count = kept;
}

Status samples_new(Core *core, int64_t count, bool radii, Samples *samples) {
  TRY(memory_new(core, &samples->x, count, "samples"));
  TRY(memory_new(core, &samples->y, count, "samples"));
  TRY(memory_new(core, &samples->z, count, "samples"));
  if (radii) TRY(memory_new(core, &samples->radius, count, "samples"));
  return SCREE_OK;
}

void samples_destroy(Core *core, Samples *samples) {
  memory_drop(core, &samples->x);
  memory_drop(core, &samples->y);
  memory_drop(core, &samples->z);
  memory_drop(core, &samples->radius);
  if (samples->blocks) {
    if (samples->blocks->tile) tile_destroy(core, samples->blocks->tile);
    memory_drop(core, &samples->blocks->tile);
    memory_drop(core, &samples->blocks->coordinate);
    memory_drop(core, &samples->blocks->before);
    memory_drop(core, &samples->blocks->samples);
    memory_drop(core, &samples->blocks);
  }
  samples->count = 0;
}
