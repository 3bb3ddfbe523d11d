/* A body more in a world that runs. Everything that has a row per solid follows; the solid's number is the next one, so
 * contacts that know solids by their number keep what they remember. */
#include "world/world.h"

static Status follow_solids(ScreeWorld *world, int32_t first) {
  Core *core = &world->core;
  TRY(world_cache_distances(world, first));
  TRY(world_sample_solids(world, first));
  TRY(world_prepare_drawing(world));
  if (world->method->solids_changed) TRY(world->method->solids_changed(core, &world->state, world->method_data));
  if (world->ground) TRY(ground_follow_solids(core, world->ground, &world->state));
  return world->upsample ? upsample_follow_solids(core, world->upsample, &world->state) : SCREE_OK;
}

static Status add_body(ScreeWorld *world, const ScreeBodyDef *definition) {
  Core *core = &world->core;
  State *state = &world->state;
  int32_t first = state->solids.count;
  int64_t samples = state->samples.count;
  BodiesPlan plan = {.scene = &world->definition.scene, .resolve = world_resolve_file, .resolve_context = world};
  TRY(world_needs_grains(world));
  TRY(bodies_add(core, world->bodies, state, &plan, definition));
  world->neighbors_stale = true;
  world->solids_moved = world->surfaces_moved = INFINITY;
  Status status = follow_solids(world, first);
  if (status == SCREE_OK) return SCREE_OK;
  state->samples.count = samples;
  if (world->drawn_count > first) {
    world->drawn_count = first;
    memory_drop(core, &world->drawn_vertices[first]);
    memory_drop(core, &world->drawn_triangles[first]);
  }
  bodies_drop_last(core, world->bodies, state);
  return status;
}

ScreeStatus scree_world_add_body(ScreeWorld *world, const ScreeBodyDef *definition, ScreeBodyId *body,
                                 ScreeError *error) {
  Status status = add_body(world, definition);
  *body = status == SCREE_OK ? world->state.solids.count : 0;
  return core_report(&world->core, status, error);
}
