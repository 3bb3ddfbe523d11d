/* Scene files: reading, parsing, freeing. */
#include <stdio.h>
#include <string.h>

#include "core/files.h"
#include "scene/reader.h"
#include "scene/scene.h"

struct ScreeScene {
  Arena arena; /* holds this struct too */
  ScreeSceneDef definition;
};

/* `scenes/a/hourglass.yaml` is called hourglass. */
static Status short_name(Core *core, Arena *arena, const char *file, const char **name) {
  const char *slash = strrchr(file, '/');
  const char *start = slash ? slash + 1 : file;
  const char *dot = strrchr(start, '.');
  int64_t length = dot && dot > start ? dot - start : (int64_t)strlen(start);
  return arena_text(core, arena, length > 0 ? start : "scene", length > 0 ? length : 5, name);
}

static Status build_definition(Core *core, Tree *tree, Arena *arena, const char *folder,
                               const ScreeSceneOptions *options, ScreeSceneDef *definition) {
  *definition = scree_scene_default();
  TRY(short_name(core, arena, tree->name, &definition->name));
  TRY(arena_text(core, arena, tree->name, (int64_t)strlen(tree->name), &definition->file));
  if (folder) TRY(arena_text(core, arena, folder, (int64_t)strlen(folder), &definition->folder));
  for (int32_t k = 0; options && k < options->set_count; k++) TRY(tree_override(tree, options->sets[k]));
  Reader reader = {.core = core, .tree = tree, .arena = arena, .options = options, .scene = definition};
  TRY(scene_interpret(&reader));
  say_warnings(&reader);
  return SCREE_OK;
}

static Status parse(Core *core, const char *text, size_t length, const char *name, const char *folder,
                    const ScreeSceneOptions *options, ScreeScene **scene) {
  Arena arena = {0};
  Tree tree = {.core = core, .name = name};
  ScreeScene *made = NULL;
  Status status = arena_new(core, &arena, &made, 1);
  if (status == SCREE_OK) status = tree_parse(&tree, text, length, name, false, &tree.root);
  if (status == SCREE_OK) status = build_definition(core, &tree, &arena, folder, options, &made->definition);
  tree_destroy(&tree);
  if (status != SCREE_OK) {
    arena_destroy(&core->memory, &arena);
    return status;
  }
  made->arena = arena;
  *scene = made;
  return SCREE_OK;
}

ScreeStatus scree_scene_parse(const char *text, size_t length, const char *name, const char *folder,
                              const ScreeSceneOptions *options, ScreeScene **scene, ScreeError *error) {
  Core core;
  if (scene) *scene = NULL;
  Status status = scene_core_create(&core);
  if (status == SCREE_OK && (!text || !scene)) status = fail(&core, SCREE_BAD_ARGUMENT, "text or scene is NULL");
  if (status == SCREE_OK) status = parse(&core, text, length, name ? name : "scene", folder, options, scene);
  status = core_report(&core, status, error);
  core_destroy(&core);
  return status;
}

static Status load(Core *core, const char *path, const ScreeSceneOptions *options, ScreeScene **scene) {
  char *text;
  int64_t size;
  char folder[SCREE_FILE_MAX] = ".";
  const char *slash = strrchr(path, '/');
  size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
  if (length >= sizeof folder) return fail(core, SCREE_BAD_INPUT, "the path is too long: %.100s...", path);
  if (length > 0) snprintf(folder, sizeof folder, "%.*s", (int)length, path);
  TRY(files_read(core, path, TREE_BYTES_MAX, &text, &size));
  Status status = parse(core, text, (size_t)size, path, folder, options, scene);
  memory_drop(core, &text);
  return status;
}

ScreeStatus scree_scene_load(const char *path, const ScreeSceneOptions *options, ScreeScene **scene,
                             ScreeError *error) {
  Core core;
  if (scene) *scene = NULL;
  Status status = scene_core_create(&core);
  if (status == SCREE_OK && (!path || !scene)) status = fail(&core, SCREE_BAD_ARGUMENT, "path or scene is NULL");
  if (status == SCREE_OK) status = load(&core, path, options, scene);
  status = core_report(&core, status, error);
  core_destroy(&core);
  return status;
}

const ScreeSceneDef *scree_scene_definition(const ScreeScene *scene) { return scene ? &scene->definition : NULL; }

void scree_scene_free(ScreeScene *scene) {
  if (!scene) return;
  /* Blocks know their size; the account that they were taken from is gone with the call that made them. */
  Memory memory;
  memory_create(&memory, 0);
  Arena arena = scene->arena;
  arena_destroy(&memory, &arena);
}
