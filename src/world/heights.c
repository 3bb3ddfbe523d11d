/* The surface as a map of heights: what a camera that looks straight down would measure. */
#include <math.h>

#include "geometry/heightfield.h"
#include "world/world.h"

enum { CELLS_MAX = 1 << 15 }; /* on a side */

/* First cell whose middle lies at or behind `at`, which is counted in cells from the corner. */
static int32_t cell_from(double at, int32_t count) {
  double cell = ceil(at - 0.5);
  return cell < 0 ? 0 : cell > count ? count : (int32_t)cell;
}

static void lift(float *height, double z) {
  if (!(*height >= (float)z)) *height = (float)z;
}

static void map_terrain(const State *state, const ScreeHeightMap *map, float *heights) {
  const Terrain *terrain = state->terrain;
  const Heightfield *field = state->solids.items[terrain->solid].shape.heights;
  for (int32_t j = 0; j < map->ny; j++)
    for (int32_t i = 0; i < map->nx; i++) {
      double x = map->corner.x + (i + 0.5) * map->cell - terrain->origin.x;
      double y = map->corner.y + (j + 0.5) * map->cell - terrain->origin.y;
      if (x < 0 || y < 0 || x > heightfield_size_x(field) || y > heightfield_size_y(field)) continue;
      lift(&heights[(int64_t)j * map->nx + i], terrain->origin.z + heightfield_height(field, x, y));
    }
}

static void map_particles(const State *state, const ScreeHeightMap *map, float *heights) {
  const Particles *p = &state->particles;
  for (int64_t k = 0; k < p->count; k++) {
    double x = (state->origin.x + (double)p->x[k] - map->corner.x) / map->cell;
    double y = (state->origin.y + (double)p->y[k] - map->corner.y) / map->cell;
    double z = state->origin.z + (double)p->z[k], r = (double)p->radius[k] / map->cell;
    if (!(x + r > 0 && y + r > 0 && x - r < map->nx && y - r < map->ny)) continue;
    for (int32_t j = cell_from(y - r, map->ny); j < map->ny && j + 0.5 <= y + r; j++)
      for (int32_t i = cell_from(x - r, map->nx); i < map->nx && i + 0.5 <= x + r; i++) {
        double dx = i + 0.5 - x, dy = j + 0.5 - y, left = r * r - dx * dx - dy * dy;
        if (left >= 0) lift(&heights[(int64_t)j * map->nx + i], z + sqrt(left) * map->cell);
      }
  }
}

ScreeStatus scree_world_heights(const ScreeWorld *world, const ScreeHeightMap *map, float *heights, ScreeError *error) {
  Core *core = &((ScreeWorld *)world)->core;
  if (!(map->cell > 0) || !isfinite(map->cell) || !isfinite(map->corner.x) || !isfinite(map->corner.y) || map->nx < 1 ||
      map->ny < 1 || map->nx > CELLS_MAX || map->ny > CELLS_MAX)
    return core_report(
        core,
        fail(core, SCREE_BAD_ARGUMENT,
             "a map of heights needs a corner, cells that are larger than 0, and 1 to %d of them on a side", CELLS_MAX),
        error);
  Status status = world_to_host((ScreeWorld *)world, SET_X | SET_BIRTH);
  if (status != SCREE_OK) return core_report(core, status, error);
  const float nothing = -INFINITY;
  int64_t count = (int64_t)map->nx * map->ny;
  for (int64_t k = 0; k < count; k++) heights[k] = nothing;
  if (world->state.terrain) map_terrain(&world->state, map, heights);
  map_particles(&world->state, map, heights);
  for (int64_t k = 0; k < count; k++)
    if (heights[k] == nothing) heights[k] = map->empty;
  return SCREE_OK;
}
