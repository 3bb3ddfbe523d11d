/* The shipped scenes: DATA/scenes/<paper>/<name>.yaml. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files.h"
#include "core/paths.h"
#include "scene/arena.h"
#include "scene/scene.h"
#include "scene/suggest.h"
#include "scene/tree.h"

/* A bare name belongs to the first paper of this list that has it; other folders follow in alphabetical order. */
static const char *const papers[] = {"sommer2022", "holz2014", "papadimitriou2012", "neder2023", "narain2010"};
enum { PAPER_COUNT = sizeof papers / sizeof *papers };

typedef struct Shipped {
  const char *name; /* `paper/name` */
  const char *path;
  int rank;
} Shipped;

typedef struct Shelf {
  Core *core;
  Arena arena;
  Shipped *scenes; /* in order of precedence */
  int64_t count;
} Shelf;

static int rank_of(const char *folder) {
  int rank = 0;
  while (rank < PAPER_COUNT && strcmp(papers[rank], folder) != 0) rank++;
  return rank;
}

static int compare_shipped(const void *a, const void *b) {
  const Shipped *x = a, *y = b;
  return x->rank != y->rank ? x->rank - y->rank : strcmp(x->name, y->name);
}

static Status put_on_shelf(Shelf *shelf, const char *root, const char *folder, const char *file) {
  char path[PATH_MAX], name[PATH_MAX];
  size_t length = strlen(file);
  if (length <= 5 || strcmp(file + length - 5, ".yaml") != 0 || file[0] == '.') return SCREE_OK;
  if (snprintf(path, sizeof path, "%s/%s/%s", root, folder, file) >= (int)sizeof path) return SCREE_OK;
  snprintf(name, sizeof name, "%.255s/%.*s", folder, (int)(length - 5), file);
  Shipped scene = {.rank = rank_of(folder)};
  TRY(arena_text(shelf->core, &shelf->arena, path, (int64_t)strlen(path), &scene.path));
  TRY(arena_text(shelf->core, &shelf->arena, name, (int64_t)strlen(name), &scene.name));
  TRY(memory_grow(shelf->core, &shelf->scenes, shelf->count + 1, "list of scenes"));
  shelf->scenes[shelf->count++] = scene;
  return SCREE_OK;
}

static Status fill_shelf(Shelf *shelf) {
  char root[PATH_MAX], folder[PATH_MAX];
  DIR *top = opendir(paths_data("scenes", root, sizeof root));
  Status status = SCREE_OK;
  for (struct dirent *paper; top && status == SCREE_OK && (paper = readdir(top));) {
    if (paper->d_name[0] == '.') continue;
    if (snprintf(folder, sizeof folder, "%s/%s", root, paper->d_name) >= (int)sizeof folder) continue;
    DIR *inner = opendir(folder);
    for (struct dirent *file; inner && status == SCREE_OK && (file = readdir(inner));)
      status = put_on_shelf(shelf, root, paper->d_name, file->d_name);
    if (inner) closedir(inner);
  }
  if (top) closedir(top);
  if (status == SCREE_OK && shelf->count > 1)
    qsort(shelf->scenes, (size_t)shelf->count, sizeof *shelf->scenes, compare_shipped);
  return status;
}

static void clear_shelf(Shelf *shelf) {
  memory_drop(shelf->core, &shelf->scenes);
  arena_destroy(&shelf->core->memory, &shelf->arena);
}

static Status write_path(Core *core, const char *found, char *path, size_t size) {
  if (snprintf(path, size, "%s", found) < (int)size) return SCREE_OK;
  return fail(core, SCREE_BAD_INPUT, "the path is too long: %.100s...", found);
}

static Status find(Shelf *shelf, const char *name, char *path, size_t size) {
  Core *core = shelf->core;
  struct stat about;
  bool exists = stat(name, &about) == 0;
  if (exists && !S_ISDIR(about.st_mode)) return write_path(core, name, path, size);
  TRY(fill_shelf(shelf));
  char shown[SHOWN_MAX], text[SUGGEST_TEXT];
  size_t length = strlen(name);
  if (length > 5 && strcmp(name + length - 5, ".yaml") == 0) length -= 5;
  Suggestion near = suggest_begin(name);
  for (int64_t k = 0; k < shelf->count; k++) {
    const char *whole = shelf->scenes[k].name, *bare = strrchr(whole, '/') + 1;
    if ((strlen(whole) == length && strncmp(whole, name, length) == 0) ||
        (strlen(bare) == length && strncmp(bare, name, length) == 0))
      return write_path(core, shelf->scenes[k].path, path, size);
    suggest_offer(&near, strchr(name, '/') ? whole : bare);
  }
  if (exists) return fail_at(core, SCREE_BAD_INPUT, name, (ScreeSource){0, 0}, "is a folder, not a scene file");
  return fail(core, SCREE_BAD_INPUT, "there is no scene '%s': neither a file nor a shipped one%s",
              text_shown(name, shown), suggest_text(&near, text));
}

ScreeStatus scree_scene_find(const char *name, char *path, size_t size, ScreeError *error) {
  Core core;
  Status status = scene_core_create(&core);
  Shelf shelf = {.core = &core};
  if (status == SCREE_OK && (!name || !path || size == 0))
    status = fail(&core, SCREE_BAD_ARGUMENT, "name or path is NULL");
  if (status == SCREE_OK) status = find(&shelf, name, path, size);
  clear_shelf(&shelf);
  status = core_report(&core, status, error);
  core_destroy(&core);
  return status;
}

/* The title is shown even of a scene that is not right otherwise; "" when it cannot be known. */
static const char *title_of(Tree *tree, const char *path) {
  char *text;
  int64_t size;
  Node *root = NULL;
  if (files_read(tree->core, path, TREE_BYTES_MAX, &text, &size) == SCREE_OK) {
    if (tree_parse(tree, text, (size_t)size, path, false, &root) != SCREE_OK) root = NULL;
    memory_drop(tree->core, &text);
  }
  core_report(tree->core, SCREE_OK, NULL);
  const Node *title = node_find(root, "title");
  return title && title->kind == NODE_SCALAR ? title->text : "";
}

ScreeStatus scree_scene_list(int (*visit)(void *context, const char *name, const char *path, const char *title),
                             void *context, ScreeError *error) {
  Core core;
  Status status = scene_core_create(&core);
  Shelf shelf = {.core = &core};
  if (status == SCREE_OK && !visit) status = fail(&core, SCREE_BAD_ARGUMENT, "visit is NULL");
  if (status == SCREE_OK) status = fill_shelf(&shelf);
  for (int64_t k = 0; status == SCREE_OK && k < shelf.count; k++) {
    Tree tree = {.core = &core, .name = shelf.scenes[k].path};
    int stop = visit(context, shelf.scenes[k].name, shelf.scenes[k].path, title_of(&tree, shelf.scenes[k].path));
    tree_destroy(&tree);
    if (stop) break;
  }
  clear_shelf(&shelf);
  status = core_report(&core, status, error);
  core_destroy(&core);
  return status;
}
