/* Materials, what grains come from and go to, the ground, events. */
#include <math.h>
#include <string.h>

#include "scene/reader.h"
#include "scene/suggest.h"

enum { MATERIALS_MAX = 255 }; /* a grain stores its material in a byte */

static Status read_material(Reader *reader, const Node *node, ScreeMaterialDef *material) {
  Mapping mapping = {.what = "a material", .parts = {{SECTION_material, material}}, .part_count = 1};
  TRY(check_name(reader, node, node->key));
  TRY(arena_text(reader->core, reader->arena, node->key, (int64_t)strlen(node->key), &material->name));
  material->source = node_source(node);
  TRY(read_mapping(reader, node, &mapping));
  const Node *kinetic = node_find(node, "friction_kinetic");
  const Node *given = kinetic ? kinetic : node_find(node, "friction_static");
  if (given && material->friction_kinetic > material->friction_static)
    warn(reader, key_place(reader->tree, given), "friction_kinetic %g is more than friction_static %g",
         material->friction_kinetic, material->friction_static);
  if (material->grain_density < material->density)
    warn(reader, key_place(reader->tree, node_find(node, "grain_density")),
         "grain_density %g is less than the bulk density %g", material->grain_density, material->density);
  return SCREE_OK;
}

static Status read_materials(Reader *reader) {
  const Node *node = node_find(reader->tree->root, "materials");
  bool none = !node || node->kind == NODE_NOTHING || (node->kind == NODE_MAP && node->count == 0);
  if (!none) TRY(expect_kind(reader, node, NODE_MAP, "a mapping from names to materials"));
  if (!none && node->count > MATERIALS_MAX)
    return fail_here(reader->tree, key_place(reader->tree, node), "%d materials: at most %d are possible", node->count,
                     MATERIALS_MAX);
  int32_t count = none ? 1 : node->count;
  ScreeMaterialDef *list;
  TRY(arena_new(reader->core, reader->arena, &list, count));
  reader->scene->materials = list;
  reader->scene->material_count = count;
  if (none) {
    list[0] = scree_material_default("sand");
    return SCREE_OK;
  }
  int32_t k = 0;
  for (const Node *child = node->first; child; child = child->next) TRY(read_material(reader, child, &list[k++]));
  return SCREE_OK;
}

/* The first material unless another is named. */
static Status resolve_material(Reader *reader, const Node *map, const char **name) {
  const ScreeSceneDef *scene = reader->scene;
  const Node *node = node_find(map, "material");
  char shown[SHOWN_MAX], text[SUGGEST_TEXT];
  if (!**name) {
    *name = scene->materials[0].name;
    return SCREE_OK;
  }
  Suggestion near = suggest_begin(*name);
  for (int32_t k = 0; k < scene->material_count; k++) {
    if (strcmp(scene->materials[k].name, *name) == 0) return SCREE_OK;
    suggest_offer(&near, scene->materials[k].name);
  }
  return fail_here(reader->tree, node_place(reader->tree, node), "there is no material '%s'%s",
                   text_shown(*name, shown), suggest_text(&near, text));
}

static Status read_grains(Reader *reader, const Node *node, void *entry) {
  static const char *const words[] = {"fill", NULL};
  ScreeGrainsDef *grains = entry;
  Mapping mapping = {
      .what = "an entry of 'grains'", .parts = {{SECTION_grains, grains}}, .part_count = 1, .words = words};
  grains->source = node_source(node);
  TRY(read_mapping(reader, node, &mapping));
  TRY(resolve_material(reader, node, &grains->material));
  const Node *fill = node_find(node, "fill");
  if (!fill)
    return fail_here(reader->tree, key_place(reader->tree, node),
                     "an entry of 'grains' needs the key 'fill': the shape that is filled");
  TRY(expect_kind(reader, fill, NODE_MAP, "a shape such as {box: {min: [0,0,0], max: [1,1,1]}}"));
  Mapping shape = {
      .what = "'fill'", .parts = {{SECTION_placement, &grains->fill}}, .part_count = 1, .place = SHAPE_OF_FILL};
  TRY(read_mapping(reader, fill, &shape));
  return read_shape(reader, fill, SHAPE_OF_FILL, false, &grains->fill);
}

static Status read_emitter(Reader *reader, const Node *node, void *entry) {
  ScreeEmitterDef *emitter = entry;
  Mapping mapping = {
      .what = "an emitter", .parts = {{SECTION_emitter, emitter}}, .part_count = 1, .place = SHAPE_OF_EMITTER};
  emitter->source = node_source(node);
  emitter->shape = scree_shape_default(SCREE_SHAPE_DISC);
  TRY(read_mapping(reader, node, &mapping));
  TRY(resolve_material(reader, node, &emitter->material));
  const Node *until = node_find(node, "until");
  if (emitter->until < emitter->from)
    return fail_here(reader->tree, node_place(reader->tree, until), "'until' %g s is before 'from' %g s",
                     emitter->until, emitter->from);
  if (node_find(node, "disc")) return read_shape(reader, node, SHAPE_OF_EMITTER, false, &emitter->shape);
  emitter->shape.source = emitter->source;
  return SCREE_OK;
}

static Status read_sink(Reader *reader, const Node *node, void *entry) {
  ScreeSinkDef *sink = entry;
  Mapping mapping = {
      .what = "a sink", .parts = {{SECTION_placement, &sink->shape}}, .part_count = 1, .place = SHAPE_OF_SINK};
  sink->source = node_source(node);
  TRY(read_mapping(reader, node, &mapping));
  return read_shape(reader, node, SHAPE_OF_SINK, false, &sink->shape);
}

static Status read_event(Reader *reader, const Node *node, void *entry) {
  static const char *const words[] = {"impulse", NULL};
  ScreeEventDef *event = entry;
  Mapping mapping = {.what = "an event", .parts = {{SECTION_event, event}}, .part_count = 1, .words = words};
  event->source = node_source(node);
  TRY(read_mapping(reader, node, &mapping));
  const Node *impulse = node_find(node, "impulse");
  if (!impulse)
    return fail_here(reader->tree, key_place(reader->tree, node), "an event needs the key 'impulse': what happens");
  Mapping what = {.what = "'impulse'", .parts = {{SECTION_impulse, &event->impulse}}, .part_count = 1};
  return read_mapping(reader, impulse, &what);
}

static Status read_terrain(Reader *reader) {
  const Node *node = node_find(reader->tree->root, "terrain");
  if (!node || node->kind == NODE_NOTHING) return SCREE_OK;
  ScreeTerrainDef *terrain;
  TRY(arena_new(reader->core, reader->arena, &terrain, 1));
  Mapping mapping = {.what = "'terrain'", .parts = {{SECTION_terrain, terrain}}, .part_count = 1};
  terrain->source = node_source(node);
  TRY(read_mapping(reader, node, &mapping));
  TRY(resolve_material(reader, node, &terrain->material));
  if (*terrain->png && terrain->height > 0)
    warn(reader, key_place(reader->tree, node_find(node, "height")), "'height' is not read: 'png' gives the heights");
  reader->scene->terrain = terrain;
  return SCREE_OK;
}

static Status read_upsample(Reader *reader) {
  const Node *node = node_find(reader->tree->root, "upsample");
  if (!node || node->kind == NODE_NOTHING) return SCREE_OK;
  ScreeUpsampleDef *upsample;
  TRY(arena_new(reader->core, reader->arena, &upsample, 1));
  Mapping mapping = {.what = "'upsample'", .parts = {{SECTION_upsample, upsample}}, .part_count = 1};
  upsample->source = node_source(node);
  TRY(read_mapping(reader, node, &mapping));
  if (upsample->radius >= reader->scene->method.radius)
    warn(reader, key_place(reader->tree, node), "fine grains of radius %g are not finer than the particles of %g",
         upsample->radius, reader->scene->method.radius);
  reader->scene->upsample = upsample;
  return SCREE_OK;
}

Status read_sources(Reader *reader) {
  ScreeSceneDef *scene = reader->scene;
  TRY(read_materials(reader));
  TRY(read_list(reader, "grains", read_grains, (void **)&scene->grains, sizeof *scene->grains, &scene->grains_count));
  TRY(read_list(reader, "emitters", read_emitter, (void **)&scene->emitters, sizeof *scene->emitters,
                &scene->emitter_count));
  TRY(read_list(reader, "sinks", read_sink, (void **)&scene->sinks, sizeof *scene->sinks, &scene->sink_count));
  TRY(read_list(reader, "events", read_event, (void **)&scene->events, sizeof *scene->events, &scene->event_count));
  TRY(read_terrain(reader));
  return read_upsample(reader);
}
