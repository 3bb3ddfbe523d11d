#include "core/parallel.h"
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
/* Share of the time of a dense start that placing takes; pushing apart takes the rest. */
#define PLACING_SHARE 0.2
/* Bytes that a sample costs while it is made: its share of a block, the result, and neighbours when it is relaxed. */
enum { BYTES_RANDOM = 64, BYTES_DENSE = 320 };

static Status check_memory(Core *core, const Region *region, const Sizes *sizes, bool dense) {
  double count = region->volume * (dense ? DENSE_FRACTION : RANDOM_FRACTION) / sizes->mean_volume;
  double bytes = count * (dense ? BYTES_DENSE : BYTES_RANDOM);
  double left = (double)memory_left(&core->memory);
  if (bytes <= left && count < INT32_MAX) return SCREE_OK;
  return fail(core, SCREE_NO_MEMORY,
              "a volume of %.3g m^3 holds about %.3g grains of radius %.3g m: %.3g GB, of which %.3g are left",
              region->volume, count, sizes->nominal, bytes / 1e9, left / 1e9);
}

static Status samples_allocate(Core *core, int64_t count, bool radii, Samples *samples) {
  samples->count = count;
  TRY(memory_new(core, &samples->x, count, "samples"));
  TRY(memory_new(core, &samples->y, count, "samples"));
  TRY(memory_new(core, &samples->z, count, "samples"));
  if (radii) TRY(memory_new(core, &samples->radius, count, "samples"));
  return SCREE_OK;
}

static Status collect(Core *core, const Blocks *blocks, Samples *samples) {
  TRY(samples_allocate(core, blocks_spheres(blocks), blocks->radius != NULL, samples));
  int64_t n = 0;
  for (int64_t b = 0; b < blocks->count; b++)
    for (int64_t k = b * BLOCK_SPHERES; k < b * BLOCK_SPHERES + blocks->filled[b]; k++, n++) {
      samples->x[n] = blocks->x[k], samples->y[n] = blocks->y[k], samples->z[n] = blocks->z[k];
      if (samples->radius) samples->radius[n] = blocks->radius[k];
    }
  return SCREE_OK;
}

static Status fill_blocks(Core *core, const Region *region, const Sizes *sizes, Blocks *blocks, double shrink) {
  Darts darts;
  Status status = darts_create(core, region, sizes, blocks, shrink, &darts);
  if (status == SCREE_OK) {
    if (sizes->quantile) darts_throw_sizes(&darts, sizes_fraction(region->plan->spread) / (shrink * shrink * shrink));
    else darts_throw_equal(&darts);
    if (region->plan->maximal) darts_fill_gaps(&darts);
  }
  darts_destroy(&darts);
  return status;
}

static Status fill(Core *core, const Region *region, const Sizes *sizes, double shrink, Samples *samples) {
  /* Two points of one cell are closer than a diameter, so that a cell holds one centre at most. Blocks must be as wide
   * as the largest spheres reach. */
  double cell = 2 * shrink * sizes->nominal / sqrt(3.0);
  cell = fmax(cell, 2.01 * shrink * sizes->largest / BLOCK_CELLS);
  Blocks blocks;
  TRY(blocks_create(core, region, cell, sizes->smallest, sizes->largest, &blocks));
  Status status = fill_blocks(core, region, sizes, &blocks, shrink);
  if (status == SCREE_OK) status = collect(core, &blocks, samples);
  blocks_destroy(core, &blocks);
  return status;
}

static double solid_volume(const Samples *samples, double radius) {
  double sum = 0;
  for (int64_t k = 0; k < samples->count; k++) {
    double r = samples->radius ? (double)samples->radius[k] : radius;
    sum += r * r * r;
  }
  return 4.0 / 3.0 * M_PI * sum;
}

Status sample_volume(Core *core, const Shape *shape, const SamplingPlan *plan, Samples *samples) {
  *samples = (Samples){0};
  Region region;
  Sizes sizes;
  TRY(region_create(core, shape, plan, &region));
  TRY(sizes_create(core, plan->radius, plan->spread, plan->distribution, &sizes));
  /* A dense start places as many as there shall be, too close together, and pushes them apart. */
  double shrink = 1;
  if (plan->dense && sizes.quantile) shrink = cbrt(sizes_fraction(plan->spread) / DENSE_SIZES_FRACTION);
  else if (plan->dense) shrink = cbrt(RANDOM_FRACTION / DENSE_FRACTION);
  double begin = core->progress_begin, end = core->progress_end;
  double placed = plan->dense ? begin + PLACING_SHARE * (end - begin) : end;
  Status status = check_memory(core, &region, &sizes, plan->dense);
  progress_stage(core, core->progress_what, begin, placed);
  if (status == SCREE_OK) status = fill(core, &region, &sizes, shrink, samples);
  progress_stage(core, core->progress_what, placed, end);
  if (status == SCREE_OK && plan->dense) status = relax_samples(core, &region, &sizes, samples);
  samples->origin = region.origin;
  if (region.volume > 0) samples->fraction = solid_volume(samples, plan->radius) / region.volume;
  sizes_destroy(core, &sizes);
  if (status != SCREE_OK) samples_destroy(core, samples);
  return status;
}

void samples_destroy(Core *core, Samples *samples) {
  memory_drop(core, &samples->x);
  memory_drop(core, &samples->y);
  memory_drop(core, &samples->z);
  memory_drop(core, &samples->radius);
  samples->count = 0;
}
