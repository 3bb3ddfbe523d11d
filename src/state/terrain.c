#include "state/terrain.h"

#include "core/hash.h"

int64_t terrain_units(const Terrain *terrain) {
  int64_t sum = 0;
  for (int64_t k = 0; k < terrain->count; k++) sum += terrain->mass[k];
  return sum;
}

/* Higher than any ground, m, and denser, kg/m^3. */
#define GROUND_MOST 1e7

/* A file may lie: what the step divides by or takes for granted is looked at. */
static Status check_columns(Core *core, const Archive *archive, const Terrain *terrain, const double *heights) {
  int64_t left = INT64_MAX;
  for (int64_t k = 0; k < terrain->count; k++) {
    if (terrain->mass[k] < 0 || terrain->mass[k] > left || !(terrain->bulk[k] > 0 && terrain->bulk[k] < GROUND_MOST) ||
        !(terrain_full(terrain, k) < GROUND_MOST) || !(fabs(heights[k]) < GROUND_MOST) ||
        !(terrain->pending[k] >= 0 && terrain->pending[k] < GROUND_MOST) || !(fabs(terrain->around[k]) < GROUND_MOST) ||
        terrain->sliding[k] > 1 || terrain->covered[k] > 1 || terrain->loaded[k] > 1)
      return archive_bad(core, archive, "a column of the terrain that cannot be");
    left -= terrain->mass[k];
  }
  for (int64_t k = 0; k < (int64_t)terrain->tiles_x * terrain->tiles_y; k++)
    if (terrain->awake[k] > 1) return archive_bad(core, archive, "a tile of the terrain that cannot be");
  if (!isfinite(terrain->next_exchange) || !isfinite(terrain->travel) || !isfinite(terrain->settled_at) ||
      terrain->some_pending > 1 || terrain->buried < 0 || terrain->exhumed < 0)
    return archive_bad(core, archive, "a terrain that cannot be");
  return SCREE_OK;
}

Status terrain_archive(Core *core, Archive *archive, Terrain *terrain, Solids *solids) {
  TRY(archive_section(core, archive, "terrain"));
  int64_t count = terrain->count;
  TRY(archive_count(core, archive, &count, (int64_t)sizeof *terrain->mass));
  if (count != terrain->count) return archive_bad(core, archive, "checkpoint has another number of columns");
  Shape *shape = &solids->items[terrain->solid].shape;
#define TERRAIN_ARCHIVE(type, name) TRY(archive_array(core, archive, terrain->name, count));
  TERRAIN_COLUMNS(TERRAIN_ARCHIVE)
#undef TERRAIN_ARCHIVE
  TRY(archive_array(core, archive, shape->heights->heights, count));
  TRY(archive_array(core, archive, terrain->awake, (int64_t)terrain->tiles_x * terrain->tiles_y));
  TRY(archive_value(core, archive, &terrain->next_exchange));
  TRY(archive_value(core, archive, &terrain->some_pending));
  TRY(archive_value(core, archive, &terrain->travel));
  TRY(archive_value(core, archive, &terrain->settled_at));
  TRY(archive_value(core, archive, &terrain->buried));
  TRY(archive_value(core, archive, &terrain->exhumed));
  if (!archive->loading) return SCREE_OK;
  TRY(check_columns(core, archive, terrain, shape->heights->heights));
  heightfield_bound(shape->heights);
  shape_bound_heights(shape);
  return SCREE_OK;
}

uint64_t terrain_hash(const Terrain *terrain) {
  uint64_t hash = hash_bytes(terrain->mass, sizeof *terrain->mass * (size_t)terrain->count, 0);
  hash = hash_bytes(terrain->bulk, sizeof *terrain->bulk * (size_t)terrain->count, hash);
  return hash_bytes(terrain->pending, sizeof *terrain->pending * (size_t)terrain->count, hash);
}

void terrain_destroy(Core *core, Terrain *terrain) {
  if (!terrain) return;
#define TERRAIN_DROP(type, name) memory_drop(core, &terrain->name);
  TERRAIN_COLUMNS(TERRAIN_DROP)
#undef TERRAIN_DROP
  memory_drop(core, &terrain->awake);
  memory_drop(core, &terrain);
}
