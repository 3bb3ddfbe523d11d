/* Pressure for pictures: the method's own at the particles, and what the fine grains between them take from it. */
#include "core/parallel.h"
#include "world/world.h"

enum { SHARE_CHUNK = 2048 };

/* Particles within this many radii of a fine grain count for it, as they do for its motion. */
#define SHARE_REACH 3.0f

typedef struct Share {
  const Particles *particles;
  const FineGrains *fine;
  const CellGrid *grid;
  const float *pressure; /* of the particles */
  float reach2;
  float *result;
} Share;

static void share_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Share *share = context;
  const Particles *p = share->particles;
  const int32_t *index = cell_grid_index(share->grid);
  for (int64_t i = b; i < e; i++) {
    float x = share->fine->x[i], y = share->fine->y[i], z = share->fine->z[i], sum = 0, weights = 0;
    int32_t at[3];
    int64_t ranges[CELL_RANGES_MAX][2];
    cell_grid_coordinate(share->grid, x, y, z, at);
    int count = cell_grid_around(share->grid, at, ranges);
    for (int r = 0; r < count; r++)
      for (int64_t k = ranges[r][0]; k < ranges[r][1]; k++) {
        int32_t j = index[k];
        float dx = p->x[j] - x, dy = p->y[j] - y, dz = p->z[j] - z;
        float t = share->reach2 - dx * dx - dy * dy - dz * dz;
        if (!(t > 0)) continue;
        sum += t * t * t * share->pressure[j];
        weights += t * t * t;
      }
    share->result[i] = weights > 0 ? sum / weights : 0;
  }
}

static Status share_pressure(ScreeWorld *world, const float *pressure, float *result) {
  Core *core = &world->core;
  const Particles *p = &world->state.particles;
  float reach = SHARE_REACH * (float)world->state.radius;
  CellGrid *grid = NULL;
  TRY(cell_grid_create(core, &grid));
  Status status = cell_grid_build(core, grid, particles_points(p), reach);
  if (status == SCREE_OK) status = upsample_fetch(core, world->upsample);
  if (status == SCREE_OK) {
    const FineGrains *fine = upsample_grains(world->upsample);
    Share share = {p, fine, grid, pressure, reach * reach, result};
    parallel_for(core, 0, fine->count, SHARE_CHUNK, share_chunk, &share);
  }
  cell_grid_destroy(core, grid);
  return status;
}

bool scree_world_pressure(const ScreeWorld *world, bool fine, float *pressure) {
  /* Threads and the memory ledger are used, nothing of the simulation changes. */
  ScreeWorld *inside = (ScreeWorld *)world;
  const Method *method = world->method;
  if (world->solids_only || !method->pressure || (fine && !world->upsample)) return false;
  if (world_method_to_host(inside) != SCREE_OK || world_lists_to_host(inside) != SCREE_OK) return false;
  if (!fine) return method->pressure(&inside->core, &world->state, world->method_data, pressure) == SCREE_OK;
  float *coarse = NULL;
  Status status = memory_new(&inside->core, &coarse, world->state.particles.count, "pressure");
  if (status == SCREE_OK) status = method->pressure(&inside->core, &world->state, world->method_data, coarse);
  if (status == SCREE_OK) status = share_pressure(inside, coarse, pressure);
  memory_drop(&inside->core, &coarse);
  return status == SCREE_OK;
}
