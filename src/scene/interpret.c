/* A tree to a scene definition: the top level and what stands there alone. */
#include <string.h>

#include "core/number.h"
#include "scene/reader.h"
#include "scene/suggest.h"
#include "scree/world.h"

static const char *const top_words[] = {"scree",   "method",     "materials", "grains",    "emitters",
                                        "sinks",   "boundaries", "bodies",    "mechanism", "events",
                                        "terrain", "upsample",   "camera",    "probes",    NULL};

static Status check_version(Reader *reader) {
  const Node *root = reader->tree->root, *node = node_find(root, "scree");
  char shown[SHOWN_MAX];
  int64_t version = 0;
  if (!node)
    return fail_here(reader->tree, node_place(reader->tree, root),
                     "the scene needs the key 'scree': the version of the format, written 'scree: 1'");
  if (node->kind != NODE_SCALAR || node->quoted || number_parse_integer(node->text, &version) != NUMBER_GOOD)
    return fail_here(reader->tree, node_place(reader->tree, node), "'scree': expected the version 1, found %s",
                     node_shown(node, shown));
  if (version == 1) return SCREE_OK;
  return fail_here(reader->tree, node_place(reader->tree, node),
                   "version %lld of the format is not known: this program reads version 1", (long long)version);
}

static Status check_method(Reader *reader, const Node *node) {
  const char *name = reader->scene->method.name;
  char shown[SHOWN_MAX], text[SUGGEST_TEXT], known[256] = "";
  Suggestion near = suggest_begin(name);
  for (int32_t k = 0; k < scree_method_count(); k++) {
    const char *candidate = scree_method_info(k)->name;
    if (strcmp(candidate, name) == 0) return SCREE_OK;
    suggest_offer(&near, candidate);
    if (strlen(known) + strlen(candidate) + 3 < sizeof known) {
      if (k > 0) strcat(known, ", ");
      strcat(known, candidate);
    }
  }
  return fail_here(reader->tree, node_place(reader->tree, node), "unknown method '%s'%s; this program has %s",
                   text_shown(name, shown), suggest_text(&near, text), known);
}

static void list_readers(Reader *reader) {
  const Node *root = reader->tree->root, *fine = node_find(root, "upsample"), *ground = node_find(root, "terrain");
  const Node *mode = fine && fine->kind == NODE_MAP ? node_find(fine, "mode") : NULL;
  const ScreeParameter *row = section_find(SECTION_upsample, "mode");
  const char *word = !fine || fine->kind == NODE_NOTHING ? NULL
                     : mode && mode->kind == NODE_SCALAR && word_index(row->unit, '|', mode->text) >= 0
                         ? mode->text
                         : row->default_text;
  readers_of_scene(reader->reader, word, ground && ground->kind != NODE_NOTHING, reader->readers);
}

static Status read_method(Reader *reader) {
  const Node *node = node_find(reader->tree->root, "method");
  if (!node)
    return fail_here(reader->tree, node_place(reader->tree, reader->tree->root),
                     "the scene needs the key 'method', such as 'method: {name: pbd}'");
  ScreeMethodDef *method = &reader->scene->method;
  Mapping mapping = {.what = "'method'", .parts = {{SECTION_method, method}}, .part_count = 1};
  method->source = node_source(node);
  /* The name first: it decides which of the other keys are read. */
  const Node *name = node_find(node, "name");
  if (name && name->kind == NODE_SCALAR) {
    method->name = name->text;
    TRY(check_method(reader, name));
    reader->reader = name->text;
    list_readers(reader);
  }
  const Node *step = node_find(node, "time_step");
  method->borrowed_step =
      name && name->written && method->name && strcmp(name->written, method->name) != 0 && step && !step->set;
  return read_mapping(reader, node, &mapping);
}

static Status read_camera(Reader *reader) {
  const Node *node = node_find(reader->tree->root, "camera");
  if (!node) return SCREE_OK;
  ScreeCameraDef *camera = &reader->scene->camera;
  Mapping mapping = {.what = "'camera'", .parts = {{SECTION_camera, camera}}, .part_count = 1};
  camera->source = node_source(node);
  TRY(read_mapping(reader, node, &mapping));
  if (camera->eye.x == camera->target.x && camera->eye.y == camera->target.y && camera->eye.z == camera->target.z)
    return fail_here(reader->tree, key_place(reader->tree, node), "the camera's eye and target are the same point");
  return SCREE_OK;
}

/* Of the scene itself: they are read before it is known who reads them. */
static void warn_top_keys(Reader *reader) {
  for (const Node *child = reader->tree->root->first; child; child = child->next) {
    const ScreeParameter *row = section_find(SECTION_scene, child->key);
    if (row && !parameter_is_default(row, reader->scene)) warn_unread(reader, child, row);
  }
}

Status scene_interpret(Reader *reader) {
  Node *root = reader->tree->root;
  ScreeSceneDef *scene = reader->scene;
  if (!root || root->kind == NODE_NOTHING)
    return fail_at(reader->core, SCREE_BAD_INPUT, reader->tree->name, (ScreeSource){1, 1}, "the scene is empty");
  TRY(expect_kind(reader, root, NODE_MAP, "a scene: a mapping that starts with 'scree: 1'"));
  Mapping top = {.what = "the scene", .parts = {{SECTION_scene, scene}}, .part_count = 1, .words = top_words};
  TRY(read_mapping(reader, root, &top));
  TRY(check_version(reader));
  TRY(read_method(reader));
  TRY(read_sources(reader));
  TRY(read_solids(reader));
  TRY(read_probes(reader));
  TRY(read_camera(reader));
  warn_top_keys(reader);
  if (scene->grains_count + scene->emitter_count == 0 && !scene->terrain)
    return fail_here(reader->tree, node_place(reader->tree, root),
                     "the scene has no source of grains: it needs 'grains', 'emitters' or 'terrain'");
  return SCREE_OK;
}
