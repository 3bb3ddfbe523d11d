/* The terrain's place in a world: made after the bodies, stepped after the method, shown as a mesh. */
#include <math.h>

#include "core/rng.h"
#include "sampling/radii.h"
#include "world/world.h"

Status world_terrain_create(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  const ScreeTerrainDef *def = scene->terrain;
  State *state = &world->state;
  if (!def) return SCREE_OK;
  char path[SCREE_FILE_MAX] = "";
  TerrainPlan plan = {.scene = scene, .exchange = world->method->particle == PARTICLE_GRAIN};
  if (def->png && *def->png) {
    TRY(world_resolve_file(world, &world->core, def->png, def->source, path, sizeof path));
    plan.png = path;
  }
  const ScreeMaterialDef *stuff = &state->materials.items[materials_find(&state->materials, def->material)].definition;
  for (int k = 0; k < PACKING_GRAINS; k++)
    plan.radii[k] = (float)radii_draw(state->radius, stuff->radius_spread, stuff->radius_distribution,
                                      rng_bits(state->seed, (uint64_t)k, 1, RNG_RADIUS));
  return ground_create(&world->core, state, &plan, &world->ground);
}

/* The surface as floats, for drawing and files. */
Status world_terrain_mesh(ScreeWorld *world) {
  const Terrain *terrain = world->state.terrain;
  if (!terrain) return SCREE_OK;
  if (!world->terrain_vertices) {
    TRY(memory_new(&world->core, &world->terrain_vertices, 3 * terrain->count, "drawing"));
    TRY(memory_new(&world->core, &world->terrain_triangles, 3 * ground_triangle_count(terrain), "drawing"));
    ground_triangles(terrain, world->terrain_triangles);
  }
  ground_vertices(&world->state, world->terrain_vertices);
  return SCREE_OK;
}

Status world_terrain(ScreeWorld *world, double dt) {
  if (!world->ground) return SCREE_OK;
  double raised = 0;
  Status status = ground_step(&world->core, world->ground, &world->state, &world->scratch, dt, &raised);
  world->solids_moved += raised;
  world->surfaces_moved += raised;
  return status;
}

/* Of the columns, with what the queue has not yet made of grains and has not yet taken away. */
double world_terrain_mass(const ScreeWorld *world) {
  const Terrain *terrain = world->state.terrain;
  const Queue *queue = &world->state.queue;
  if (!terrain) return 0;
  double mass = terrain_kg(terrain, terrain_units(terrain));
  for (int64_t k = 0; k < queue->birth_count; k++)
    if (queue->births[k].reason == REASON_EXHUME) mass += (double)queue->births[k].mass;
  for (int64_t k = 0; k < queue->death_count; k++)
    if (queue->deaths[k].reason == REASON_BURY) mass -= (double)queue->deaths[k].mass;
  return mass;
}

ScreeMeshView scree_world_terrain(const ScreeWorld *world) {
  const Terrain *terrain = world->state.terrain;
  if (!terrain) return (ScreeMeshView){0};
  return (ScreeMeshView){.vertex_count = terrain->count,
                         .triangle_count = ground_triangle_count(terrain),
                         .vertices = world->terrain_vertices,
                         .triangles = world->terrain_triangles};
}
