/* A scene as it was written, as JSON: for languages that have no reader of YAML. Keys keep their order; nothing is
 * checked but the syntax and nothing is filled in. */
#include <string.h>

#include "core/number.h"
#include "core/text.h"
#include "scene/scene.h"
#include "scene/tree.h"

typedef struct Json {
  Core *core;
  Text text;
} Json;

#define put(json, ...) text_add((json)->core, &(json)->text, __VA_ARGS__)

static void put_text(Json *json, const char *text) {
  put(json, "\"");
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') put(json, "\\%c", c);
    else if (c < 0x20) put(json, "\\u%04x", c);
    else put(json, "%c", c);
  }
  put(json, "\"");
}

/* A plain scalar is a number, a truth value or nothing where it looks like one. */
static void put_scalar(Json *json, const Node *node) {
  char number[NUMBER_TEXT];
  double real;
  int64_t integer;
  if (node->quoted) put_text(json, node->text);
  else if (number_parse_integer(node->text, &integer) == NUMBER_GOOD) put(json, "%lld", (long long)integer);
  else if (number_parse(node->text, &real) == NUMBER_GOOD) put(json, "%s", number_print(real, number));
  else if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0) put(json, "%s", node->text);
  else put_text(json, node->text);
}

/* As deep as the tree may be: TREE_DEPTH_MAX. */
static void put_node(Json *json, const Node *node) {
  if (!node || node->kind == NODE_NOTHING) {
    put(json, "null");
    return;
  }
  if (node->kind == NODE_SCALAR) {
    put_scalar(json, node);
    return;
  }
  put(json, node->kind == NODE_MAP ? "{" : "[");
  for (const Node *child = node->first; child; child = child->next) {
    if (child != node->first) put(json, ", ");
    if (node->kind == NODE_MAP) {
      put_text(json, child->key);
      put(json, ": ");
    }
    put_node(json, child);
  }
  put(json, node->kind == NODE_MAP ? "}" : "]");
}

ScreeStatus scree_scene_json(const char *text, size_t length, const char *name, char **result, ScreeError *error) {
  Core core;
  *result = NULL;
  Status status = scene_core_create(&core);
  Tree tree = {.core = &core, .name = name ? name : "scene"};
  Json json = {.core = &core};
  if (status == SCREE_OK) status = tree_parse(&tree, text, length, tree.name, false, &tree.root);
  if (status == SCREE_OK) {
    put_node(&json, tree.root);
    status = text_finish(&core, &json.text, result);
  }
  tree_destroy(&tree);
  status = core_report(&core, status, error);
  core_destroy(&core);
  return status;
}
