#include "world/definition.h"

#include <string.h>

#include "core/hash.h"
#include "scree/scene.h"

/* Strings are measured first and copied second by the same walk, so that they share one block. */
typedef struct Walk {
  Core *core;
  Definition *to;
  bool copying;
} Walk;

static void keep_text(Walk *walk, const char **text) {
  if (!*text) return;
  size_t size = strlen(*text) + 1;
  if (walk->copying) {
    char *place = walk->to->text + walk->to->text_used;
    memcpy(place, *text, size);
    *text = place;
  }
  walk->to->text_used += (int64_t)size;
}

#define KEEP_REAL(member)
#define KEEP_INT(member)
#define KEEP_BOOL(member)
#define KEEP_VEC2(member)
#define KEEP_VEC3(member)
#define KEEP_QUAT(member)
#define KEEP_CHOICE(member)
#define KEEP_TEXT(member) keep_text(walk, &def->member);
#define KEEP_NAME(member) keep_text(walk, &def->member);
#define KEEP_FILE(member) keep_text(walk, &def->member);
#define KEEP(kind, member, ...) KEEP_##kind(member)

static void keep_shape(Walk *walk, ScreeShapeDef *def) {
  if (def->kind == SCREE_SHAPE_MESH) keep_text(walk, &def->mesh.file);
}
static void keep_material(Walk *walk, ScreeMaterialDef *def) {
  keep_text(walk, &def->name);
  SCREE_MATERIAL_PARAMETERS(KEEP)
}
static void keep_grains(Walk *walk, ScreeGrainsDef *def) {
  SCREE_GRAINS_PARAMETERS(KEEP)
  keep_shape(walk, &def->fill);
}
static void keep_emitter(Walk *walk, ScreeEmitterDef *def) { SCREE_EMITTER_PARAMETERS(KEEP) }
static void keep_sink(Walk *walk, ScreeSinkDef *def) { keep_shape(walk, &def->shape); }
static void keep_boundary(Walk *walk, ScreeBoundaryDef *def) {
  SCREE_BOUNDARY_PARAMETERS(KEEP)
  keep_shape(walk, &def->shape);
}
static void keep_body(Walk *walk, ScreeBodyDef *def) {
  SCREE_BODY_PARAMETERS(KEEP)
  keep_shape(walk, &def->shape);
}
static void keep_event(Walk *walk, ScreeEventDef *def) {
  (void)walk;
  (void)def;
}
static void keep_probe(Walk *walk, ScreeProbeDef *def){SCREE_PROBE_PARAMETERS(KEEP)}

Status definition_block(Core *core, Definition *definition, int64_t count, int64_t size, void **block) {
  *block = NULL;
  if (definition->block_count == definition->block_capacity) {
    TRY(memory_grow(core, &definition->blocks, definition->block_count + 16, "definition"));
    definition->block_capacity = definition->block_count + 16;
  }
  TRY(memory_new_(core, block, count, size, "definition"));
  definition->blocks[definition->block_count++] = *block;
  return SCREE_OK;
}

/* An array of its own for the copy. */
static Status own(Walk *walk, const void *from, int64_t count, int64_t size, void **to) {
  *to = NULL;
  if (count <= 0 || !from) return SCREE_OK;
  TRY(definition_block(walk->core, walk->to, count, size, to));
  memcpy(*to, from, (size_t)(count * size));
  return SCREE_OK;
}

static Status own_keys(Walk *walk, const ScreeKeyDef **keys, int32_t count) {
  void *copy = NULL;
  TRY(own(walk, *keys, count, sizeof **keys, &copy));
  *keys = copy;
  return SCREE_OK;
}

static Status own_mesh(Walk *walk, ScreeShapeDef *shape) {
  if (shape->kind != SCREE_SHAPE_MESH || shape->mesh.file) return SCREE_OK;
  void *copy = NULL;
  TRY(own(walk, shape->mesh.vertices, shape->mesh.vertex_count * 3, sizeof(double), &copy));
  shape->mesh.vertices = copy;
  TRY(own(walk, shape->mesh.triangles, shape->mesh.triangle_count * 3, sizeof(int64_t), &copy));
  shape->mesh.triangles = copy;
  return SCREE_OK;
}

/* Arrays become the definition's own; afterwards the casts below may write to them. */
static Status own_arrays(Walk *walk) {
  ScreeSceneDef *scene = &walk->to->scene;
  void *copy = NULL;
#define OWN_LIST(type, list, list_count)                                                                               \
  TRY(own(walk, scene->list, scene->list_count, sizeof(type), &copy));                                                 \
  scene->list = copy;
  SCREE_SCENE_LISTS(OWN_LIST)
#undef OWN_LIST
  TRY(own(walk, scene->mechanism, scene->mechanism ? 1 : 0, sizeof *scene->mechanism, &copy));
  scene->mechanism = copy;
  TRY(own(walk, scene->terrain, scene->terrain ? 1 : 0, sizeof *scene->terrain, &copy));
  scene->terrain = copy;
  TRY(own(walk, scene->upsample, scene->upsample ? 1 : 0, sizeof *scene->upsample, &copy));
  scene->upsample = copy;
  for (int32_t k = 0; k < scene->grains_count; k++) TRY(own_mesh(walk, (ScreeShapeDef *)&scene->grains[k].fill));
  for (int32_t k = 0; k < scene->boundary_count; k++) {
    ScreeBoundaryDef *boundary = (ScreeBoundaryDef *)&scene->boundaries[k];
    TRY(own_keys(walk, &boundary->keys, boundary->key_count));
    TRY(own_mesh(walk, &boundary->shape));
  }
  for (int32_t k = 0; k < scene->body_count; k++) {
    ScreeBodyDef *body = (ScreeBodyDef *)&scene->bodies[k];
    TRY(own_keys(walk, &body->keys, body->key_count));
    TRY(own_mesh(walk, &body->shape));
  }
  for (int32_t k = 0; k < scene->sink_count; k++) TRY(own_mesh(walk, (ScreeShapeDef *)&scene->sinks[k].shape));
  return SCREE_OK;
}

static void keep_strings(Walk *walk) {
  ScreeSceneDef *def = &walk->to->scene;
  keep_text(walk, &def->name);
  keep_text(walk, &def->file);
  keep_text(walk, &def->folder);
  SCREE_SCENE_PARAMETERS(KEEP)
  keep_text(walk, &def->method.name);
  for (int32_t k = 0; k < def->material_count; k++) keep_material(walk, (ScreeMaterialDef *)&def->materials[k]);
  for (int32_t k = 0; k < def->grains_count; k++) keep_grains(walk, (ScreeGrainsDef *)&def->grains[k]);
  for (int32_t k = 0; k < def->emitter_count; k++) keep_emitter(walk, (ScreeEmitterDef *)&def->emitters[k]);
  for (int32_t k = 0; k < def->sink_count; k++) keep_sink(walk, (ScreeSinkDef *)&def->sinks[k]);
  for (int32_t k = 0; k < def->boundary_count; k++) keep_boundary(walk, (ScreeBoundaryDef *)&def->boundaries[k]);
  for (int32_t k = 0; k < def->body_count; k++) keep_body(walk, (ScreeBodyDef *)&def->bodies[k]);
  for (int32_t k = 0; k < def->event_count; k++) keep_event(walk, (ScreeEventDef *)&def->events[k]);
  for (int32_t k = 0; k < def->probe_count; k++) keep_probe(walk, (ScreeProbeDef *)&def->probes[k]);
  if (def->mechanism) {
    keep_text(walk, &((ScreeMechanismDef *)def->mechanism)->mjcf);
    keep_text(walk, &((ScreeMechanismDef *)def->mechanism)->controls);
  }
  if (def->terrain) {
    keep_text(walk, &((ScreeTerrainDef *)def->terrain)->material);
    keep_text(walk, &((ScreeTerrainDef *)def->terrain)->png);
  }
}

Status definition_copy(Core *core, const ScreeSceneDef *from, Definition *to) {
  *to = (Definition){.scene = *from};
  Walk walk = {.core = core, .to = to};
  TRY(own_arrays(&walk));
  keep_strings(&walk);
  TRY(memory_new(core, &to->text, to->text_used, "definition"));
  to->text_used = 0;
  walk.copying = true;
  keep_strings(&walk);
  to->materials = (ScreeMaterialDef *)to->scene.materials;
  return SCREE_OK;
}

void definition_destroy(Core *core, Definition *definition) {
  for (int32_t k = 0; k < definition->block_count; k++) memory_drop(core, &definition->blocks[k]);
  memory_drop(core, &definition->blocks);
  memory_drop(core, &definition->text);
  *definition = (Definition){0};
}

Status definition_hash(Core *core, const ScreeSceneDef *scene, uint64_t *hash) {
  ScreeSceneDef moving = *scene;
  ScreeSceneDef plain = scree_scene_default();
  moving.title = "";
  moving.duration = plain.duration;
  moving.camera = plain.camera;
  char *text = NULL;
  ScreeError error;
  if (scree_scene_write(&moving, &text, &error) != SCREE_OK) return fail(core, error.status, "%s", error.message);
  *hash = hash_bytes(text, strlen(text), 0);
  scree_text_free(text);
  return SCREE_OK;
}
