/* What the files that a scene names hold, as hashes: a run goes on with the meshes, the mechanism, the controls and the
 * picture that it began with, or not at all. What counts is what was read, not where it lies or what it is called. */
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "world/world.h"

static Status add(ScreeWorld *world, uint64_t hash, const char *kind, const char *name) {
  TRY(memory_grow(&world->core, &world->contents, world->content_count + 1, "contents"));
  WorldContent *content = &world->contents[world->content_count++];
  *content = (WorldContent){.hash = hash};
  snprintf(content->what, sizeof content->what, "%s%s%s%s", kind, name[0] ? " '" : "", name, name[0] ? "'" : "");
  return SCREE_OK;
}

static Status add_mesh(ScreeWorld *world, const Shape *shape, const char *kind, const char *name) {
  if (shape->kind != SCREE_SHAPE_MESH) return SCREE_OK;
  const Mesh *mesh = &shape->mesh;
  uint64_t hash = hash_bytes(mesh->vertices, sizeof *mesh->vertices * (size_t)mesh->vertex_count, 0);
  return add(world, hash_bytes(mesh->triangles, sizeof *mesh->triangles * (size_t)mesh->triangle_count, hash), kind,
             name);
}

Status world_take_contents(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  const State *state = &world->state;
  for (int32_t k = 0; k < scene->grains_count; k++) TRY(add_mesh(world, &world->fills[k], "the mesh of a fill", ""));
  for (int32_t k = 0; k < state->solids.count; k++)
    TRY(add_mesh(world, &state->solids.items[k].shape, "the mesh of", state->solids.items[k].name));
  for (int32_t k = 0; k < world->sinks.count; k++)
    TRY(add_mesh(world, &world->sinks.items[k].shape, "the mesh of a sink", ""));
  if (scene->mechanism) TRY(add(world, bodies_contents(world->bodies), "the mechanism or its controls", ""));
  if (!state->terrain) return SCREE_OK;
  const double *heights = state->solids.items[state->terrain->solid].shape.heights->heights;
  uint64_t hash = hash_bytes(heights, sizeof *heights * (size_t)state->terrain->count, 0);
  return add(world, hash, "the heights of the terrain", "");
}

Status world_contents_archive(ScreeWorld *world, Archive *archive) {
  Core *core = &world->core;
  int64_t count = world->content_count;
  TRY(archive_section(core, archive, "contents"));
  TRY(archive_count(core, archive, &count, (int64_t)sizeof(uint64_t)));
  if (count != world->content_count) return archive_bad(core, archive, "checkpoint has another number of files");
  for (int32_t k = 0; k < world->content_count; k++) {
    uint64_t hash = world->contents[k].hash;
    TRY(archive_value(core, archive, &hash));
    if (hash != world->contents[k].hash)
      return fail_at(core, SCREE_BAD_INPUT, archive->name, (ScreeSource){0, 0},
                     "was written with another file: %s has changed since; put the old file back, or start anew",
                     world->contents[k].what);
  }
  return SCREE_OK;
}
