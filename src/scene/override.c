/* `--set path=value` on the tree, before it is interpreted: what it sets is checked like what the file says. */
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "scene/suggest.h"
#include "scene/tree.h"

enum { PART_MAX = 128 };

/* One part of a path: a name, or an index into a list. */
typedef struct Part {
  char name[PART_MAX];
  int64_t index; /* -1: a name */
} Part;

typedef struct Walk {
  Tree *tree;
  const char *label; /* `--set path` */
  const char *at;    /* what is left of the path */
  const char *end;
} Walk;

#define fail_set(walk, ...)                                                                                            \
  fail_at((walk)->tree->core, SCREE_BAD_INPUT, (walk)->label, (ScreeSource){0, 0}, __VA_ARGS__)

static Status next_part(Walk *walk, Part *part) {
  bool bracket = *walk->at == '[';
  const char *start = walk->at + bracket;
  const char *stop = start;
  while (stop < walk->end && *stop != (bracket ? ']' : '.') && (bracket || *stop != '[')) stop++;
  int64_t length = stop - start;
  if (length == 0 || length >= PART_MAX || (bracket && stop == walk->end))
    return fail_set(walk, "not a path: write it as method.iterations or bodies[0].density");
  memcpy(part->name, start, (size_t)length);
  part->name[length] = 0;
  part->index = -1;
  bool whole = number_parse_integer(part->name, &part->index) == NUMBER_GOOD && part->index >= 0;
  if (!whole) part->index = -1;
  if (bracket && !whole) return fail_set(walk, "'[%s]' is not an index: entries count from 0", part->name);
  walk->at = stop + bracket;
  if (walk->at < walk->end && *walk->at == '.') {
    walk->at++;
    if (walk->at == walk->end) return fail_set(walk, "the path ends in a point");
  } else if (walk->at < walk->end && *walk->at != '[') {
    return fail_set(walk, "not a path: write it as method.iterations or bodies[0].density");
  }
  return SCREE_OK;
}

static Status entry_of_list(Walk *walk, Node *list, const char *list_name, const Part *part, Node **entry) {
  int64_t index = 0;
  Suggestion near = suggest_begin(part->name);
  for (Node *child = list->first; child; child = child->next, index++) {
    const Node *name = node_find(child, "name");
    if (part->index == index || (part->index < 0 && name && name->text && strcmp(name->text, part->name) == 0)) {
      *entry = child;
      return SCREE_OK;
    }
    if (name && name->text) suggest_offer(&near, name->text);
  }
  char text[SUGGEST_TEXT];
  if (part->index >= 0)
    return fail_set(walk, "'%s' has %d entries, counted from 0: there is no %lld", list_name, list->count,
                    (long long)part->index);
  return fail_set(walk, "no entry of '%s' is named '%s'%s", list_name, part->name, suggest_text(&near, text));
}

static Status new_map_entry(Walk *walk, Node *map, const char *key, Node **entry) {
  Core *core = walk->tree->core;
  Arena *arena = &walk->tree->arena;
  if (++walk->tree->nodes > TREE_NODES_MAX) return fail_set(walk, "too much in one scene");
  TRY(arena_new(core, arena, entry, 1));
  (*entry)->kind = NODE_NOTHING;
  (*entry)->set = walk->label;
  TRY(arena_text(core, arena, key, (int64_t)strlen(key), &(*entry)->key));
  if (map->last) map->last->next = *entry;
  else map->first = *entry;
  map->last = *entry;
  map->count++;
  return SCREE_OK;
}

/* The child that the part names. What is missing in a mapping is made, so that defaults can be set too, but a
 * misspelt material would be a new one that nothing uses. */
static Status step_into(Walk *walk, Node *node, const char *name, const Part *part, Node **child) {
  char shown[SHOWN_MAX];
  if (node->kind == NODE_LIST) return entry_of_list(walk, node, name, part, child);
  if (node->kind == NODE_NOTHING && !node->quoted) node->kind = NODE_MAP;
  if (node->kind != NODE_MAP)
    return fail_set(walk, "'%s' is %s and has no part '%s'", name, node_shown(node, shown), part->name);
  *child = node_find(node, part->name);
  if (*child) return SCREE_OK;
  if (strcmp(name, "materials") == 0 && node->count > 0 && walk->at < walk->end) {
    Suggestion near = suggest_begin(part->name);
    char text[SUGGEST_TEXT];
    for (const Node *known = node->first; known; known = known->next) suggest_offer(&near, known->key);
    return fail_set(walk, "there is no material '%s'%s", part->name, suggest_text(&near, text));
  }
  if (walk->at < walk->end && *walk->at == '[')
    return fail_set(walk, "the scene has no '%s': set it as a whole", part->name);
  return new_map_entry(walk, node, part->name, child);
}

static void replace(Node *target, const Node *value) {
  if (!target->set) target->written = target->text;
  target->first = value->first;
  target->last = value->last;
  target->text = value->text;
  target->set = value->set;
  target->at = value->at;
  target->count = value->count;
  target->kind = value->kind;
  target->quoted = value->quoted;
}

Status tree_override(Tree *tree, const char *assignment) {
  char shown[SHOWN_MAX], label[SHOWN_MAX + 16];
  const char *equals = strchr(assignment, '=');
  if (!equals || equals == assignment)
    return fail(tree->core, SCREE_BAD_INPUT, "--set %s: write it as path=value", text_shown(assignment, shown));
  if (!tree->root || tree->root->kind != NODE_MAP) return SCREE_OK; /* the interpreter will say so */
  char path[SHOWN_MAX];
  snprintf(path, sizeof path, "%.*s", (int)(equals - assignment < SHOWN_MAX ? equals - assignment : SHOWN_MAX),
           assignment);
  snprintf(label, sizeof label, "--set %s", text_shown(path, shown));
  Walk walk = {.tree = tree, .at = assignment, .end = equals};
  TRY(arena_text(tree->core, &tree->arena, label, (int64_t)strlen(label), &walk.label));

  Node *node = tree->root;
  char name[PART_MAX] = "scene";
  while (walk.at < walk.end) {
    Part part;
    TRY(next_part(&walk, &part));
    Node *child;
    TRY(step_into(&walk, node, name, &part, &child));
    node = child;
    memcpy(name, part.name, sizeof name);
  }
  Node *value;
  TRY(tree_parse(tree, equals + 1, strlen(equals + 1), walk.label, true, &value));
  if (value) replace(node, value);
  else node->kind = NODE_NOTHING;
  node->set = walk.label;
  return SCREE_OK;
}
