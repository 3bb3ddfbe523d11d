#include "scene/tree.h"

#include <stdio.h>
#include <string.h>

#include <yaml.h>

typedef struct Anchor {
  struct Anchor *next;
  const char *name;
  Node *node;
  bool done; /* its node is complete */
} Anchor;

typedef struct Builder {
  Tree *tree;
  yaml_parser_t parser;
  yaml_event_t event; /* the current one; the next deletes it */
  const char *text;
  size_t length;
  const char *name;
  bool set;
  Anchor *anchors; /* newest first */
  int anchor_count;
} Builder;

static ScreeSource source_of(const Builder *builder, yaml_mark_t mark) {
  if (builder->set) return (ScreeSource){0, 0};
  return (ScreeSource){(int)(mark.line < INT32_MAX ? mark.line + 1 : INT32_MAX),
                       (int)(mark.column < INT32_MAX ? mark.column + 1 : INT32_MAX)};
}

#define fail_mark(builder, mark, ...)                                                                                  \
  fail_at((builder)->tree->core, SCREE_BAD_INPUT, (builder)->name, source_of((builder), (mark)), __VA_ARGS__)

/* The reader knows only the byte. */
static yaml_mark_t mark_of_byte(const Builder *builder, size_t byte) {
  yaml_mark_t mark = {0};
  for (size_t k = 0; k < byte && k < builder->length; k++) {
    if (builder->text[k] == '\n') {
      mark.line++;
      mark.column = 0;
    } else if (((unsigned char)builder->text[k] & 0xc0) != 0x80) mark.column++;
  }
  return mark;
}

static Status fail_yaml(Builder *builder) {
  const yaml_parser_t *parser = &builder->parser;
  const char *problem = parser->problem ? parser->problem : "it cannot be read";
  if (parser->error == YAML_MEMORY_ERROR) return fail(builder->tree->core, SCREE_NO_MEMORY, "out of memory: YAML");
  if (parser->error == YAML_READER_ERROR)
    return fail_mark(builder, mark_of_byte(builder, parser->problem_offset), "not a text file: %s", problem);
  if (parser->context && !builder->set)
    return fail_mark(builder, parser->problem_mark, "not valid YAML: %s %s (line %lld)", problem, parser->context,
                     (long long)parser->context_mark.line + 1);
  return fail_mark(builder, parser->problem_mark, "not valid YAML: %s", problem);
}

static Status next_event(Builder *builder) {
  yaml_event_delete(&builder->event);
  return yaml_parser_parse(&builder->parser, &builder->event) ? SCREE_OK : fail_yaml(builder);
}

static Status new_node(Builder *builder, NodeKind kind, yaml_mark_t mark, Node **node) {
  Tree *tree = builder->tree;
  if (++tree->nodes > TREE_NODES_MAX)
    return fail_mark(builder, mark, "too much in one scene: more than %d values, aliases expanded", TREE_NODES_MAX);
  TRY(arena_new(tree->core, &tree->arena, node, 1));
  (*node)->kind = kind;
  (*node)->at = source_of(builder, mark);
  (*node)->set = builder->set ? builder->name : NULL;
  return SCREE_OK;
}

static void append(Node *parent, Node *child) {
  if (parent->last) parent->last->next = child;
  else parent->first = child;
  parent->last = child;
  parent->count++;
}

/* A copy keeps the lines of the original: that is where its text stands. */
static Status copy_node(Builder *builder, const Node *from, yaml_mark_t mark, Node **copy) {
  Node *to = NULL;
  TRY(new_node(builder, from->kind, mark, &to));
  to->at = from->at;
  to->text = from->text;
  to->quoted = from->quoted;
  for (const Node *child = from->first; child; child = child->next) {
    Node *twin = NULL;
    TRY(copy_node(builder, child, mark, &twin));
    twin->key = child->key;
    twin->key_at = child->key_at;
    append(to, twin);
  }
  *copy = to;
  return SCREE_OK;
}

static int depth_of(const Node *node) {
  int deepest = 0;
  for (const Node *child = node->first; child; child = child->next) {
    int depth = depth_of(child);
    if (depth > deepest) deepest = depth;
  }
  return deepest + 1;
}

static Status build_alias(Builder *builder, int depth, Node **node) {
  yaml_mark_t mark = builder->event.start_mark;
  const char *name = (const char *)builder->event.data.alias.anchor;
  char shown[SHOWN_MAX];
  Anchor *anchor = builder->anchors;
  while (anchor && strcmp(anchor->name, name) != 0) anchor = anchor->next;
  if (!anchor) return fail_mark(builder, mark, "there is no anchor &%s before this", text_shown(name, shown));
  if (!anchor->done) return fail_mark(builder, mark, "the anchor &%s contains itself", text_shown(name, shown));
  if (depth + depth_of(anchor->node) > TREE_DEPTH_MAX)
    return fail_mark(builder, mark, "nested deeper than %d levels", TREE_DEPTH_MAX);
  return copy_node(builder, anchor->node, mark, node);
}

static Status add_anchor(Builder *builder, const yaml_char_t *name, Node *node, Anchor **anchor) {
  *anchor = NULL;
  if (!name) return SCREE_OK;
  Tree *tree = builder->tree;
  if (++builder->anchor_count > TREE_ANCHORS_MAX)
    return fail_mark(builder, builder->event.start_mark, "more than %d anchors", TREE_ANCHORS_MAX);
  TRY(arena_new(tree->core, &tree->arena, anchor, 1));
  TRY(arena_text(tree->core, &tree->arena, (const char *)name, (int64_t)strlen((const char *)name), &(*anchor)->name));
  (*anchor)->node = node;
  (*anchor)->next = builder->anchors;
  builder->anchors = *anchor;
  return SCREE_OK;
}

static Status refuse_tag(Builder *builder, const yaml_char_t *tag) {
  char shown[SHOWN_MAX];
  if (!tag) return SCREE_OK;
  return fail_mark(builder, builder->event.start_mark, "tags such as '%s' are not used in scenes",
                   text_shown((const char *)tag, shown));
}

static Status copy_scalar(Builder *builder, const char **text) {
  Tree *tree = builder->tree;
  const char *value = (const char *)builder->event.data.scalar.value;
  size_t length = builder->event.data.scalar.length;
  if (memchr(value, 0, length))
    return fail_mark(builder, builder->event.start_mark, "text must not hold a NUL character");
  return arena_text(tree->core, &tree->arena, value, (int64_t)length, text);
}

static bool is_nothing(const char *text) {
  return !*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 || strcmp(text, "Null") == 0 ||
         strcmp(text, "NULL") == 0;
}

static Status build_scalar(Builder *builder, Node **node) {
  TRY(refuse_tag(builder, builder->event.data.scalar.tag));
  TRY(new_node(builder, NODE_SCALAR, builder->event.start_mark, node));
  (*node)->quoted = builder->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  TRY(copy_scalar(builder, &(*node)->text));
  if (!(*node)->quoted && is_nothing((*node)->text)) (*node)->kind = NODE_NOTHING;
  Anchor *anchor;
  TRY(add_anchor(builder, builder->event.data.scalar.anchor, *node, &anchor));
  if (anchor) anchor->done = true;
  return SCREE_OK;
}

static Status build(Builder *builder, int depth, Node **node);

static Status build_list(Builder *builder, int depth, Node **node) {
  TRY(refuse_tag(builder, builder->event.data.sequence_start.tag));
  TRY(new_node(builder, NODE_LIST, builder->event.start_mark, node));
  Anchor *anchor;
  TRY(add_anchor(builder, builder->event.data.sequence_start.anchor, *node, &anchor));
  for (;;) {
    TRY(next_event(builder));
    if (builder->event.type == YAML_SEQUENCE_END_EVENT) break;
    Node *child;
    TRY(build(builder, depth + 1, &child));
    append(*node, child);
  }
  if (anchor) anchor->done = true;
  return SCREE_OK;
}

static Status build_key(Builder *builder, const char **key) {
  if (builder->event.type != YAML_SCALAR_EVENT)
    return fail_mark(builder, builder->event.start_mark, "a key must be plain text");
  TRY(refuse_tag(builder, builder->event.data.scalar.tag));
  if (builder->event.data.scalar.anchor)
    return fail_mark(builder, builder->event.start_mark, "a key cannot be an anchor");
  return copy_scalar(builder, key);
}

static Status build_map(Builder *builder, int depth, Node **node) {
  Tree *tree = builder->tree;
  TRY(refuse_tag(builder, builder->event.data.mapping_start.tag));
  TRY(new_node(builder, NODE_MAP, builder->event.start_mark, node));
  Anchor *anchor;
  TRY(add_anchor(builder, builder->event.data.mapping_start.anchor, *node, &anchor));
  NameSet keys = {0};
  for (;;) {
    TRY(next_event(builder));
    if (builder->event.type == YAML_MAPPING_END_EVENT) break;
    const char *key;
    yaml_mark_t mark = builder->event.start_mark;
    TRY(build_key(builder, &key));
    bool fresh;
    TRY(names_add(tree->core, &tree->arena, &keys, key, &fresh));
    if (!fresh) {
      char shown[SHOWN_MAX];
      Node *earlier = node_find(*node, key);
      return fail_mark(builder, mark, "key '%s' is given twice (first at line %d)", text_shown(key, shown),
                       earlier->key_at.line);
    }
    TRY(next_event(builder));
    Node *child;
    TRY(build(builder, depth + 1, &child));
    child->key = key;
    child->key_at = source_of(builder, mark);
    append(*node, child);
  }
  if (anchor) anchor->done = true;
  return SCREE_OK;
}

static Status build(Builder *builder, int depth, Node **node) {
  *node = NULL;
  if (depth > TREE_DEPTH_MAX)
    return fail_mark(builder, builder->event.start_mark, "nested deeper than %d levels", TREE_DEPTH_MAX);
  switch (builder->event.type) {
  case YAML_SCALAR_EVENT: return build_scalar(builder, node);
  case YAML_ALIAS_EVENT: return build_alias(builder, depth, node);
  case YAML_SEQUENCE_START_EVENT: return build_list(builder, depth, node);
  case YAML_MAPPING_START_EVENT: return build_map(builder, depth, node);
  default: return fail_mark(builder, builder->event.start_mark, "not valid YAML: a value is missing");
  }
}

static Status build_document(Builder *builder, Node **root) {
  TRY(next_event(builder)); /* stream start */
  TRY(next_event(builder));
  if (builder->event.type == YAML_STREAM_END_EVENT) return SCREE_OK;
  TRY(next_event(builder)); /* behind document start */
  TRY(build(builder, 1, root));
  TRY(next_event(builder)); /* document end */
  TRY(next_event(builder));
  if (builder->event.type != YAML_STREAM_END_EVENT)
    return fail_mark(builder, builder->event.start_mark, "a second document starts here: a scene is one document");
  return SCREE_OK;
}

Status tree_parse(Tree *tree, const char *text, size_t length, const char *name, bool set, Node **root) {
  *root = NULL;
  Builder builder = {.tree = tree, .text = text, .length = length, .name = name, .set = set};
  if (length > TREE_BYTES_MAX)
    return fail_at(tree->core, SCREE_BAD_INPUT, name, (ScreeSource){0, 0}, "has %lld bytes, at most %d are read",
                   (long long)length, TREE_BYTES_MAX);
  if (!yaml_parser_initialize(&builder.parser)) return fail(tree->core, SCREE_NO_MEMORY, "out of memory: YAML");
  yaml_parser_set_input_string(&builder.parser, (const unsigned char *)text, length);
  Status status = build_document(&builder, root);
  yaml_event_delete(&builder.event);
  yaml_parser_delete(&builder.parser);
  return status;
}

void tree_destroy(Tree *tree) { arena_destroy(&tree->core->memory, &tree->arena); }

Node *node_find(const Node *map, const char *key) {
  if (!map || map->kind != NODE_MAP) return NULL;
  for (Node *child = map->first; child; child = child->next)
    if (strcmp(child->key, key) == 0) return child;
  return NULL;
}

const char *text_shown(const char *text, char shown[SHOWN_MAX]) {
  size_t used = 0;
  for (; *text && used < SHOWN_MAX - 8; text++) shown[used++] = (unsigned char)*text < 32 || *text == 127 ? ' ' : *text;
  if (*text) {
    /* Do not cut a character of several bytes. */
    while (used > 0 && ((unsigned char)shown[used - 1] & 0xc0) == 0x80) used--;
    if (used > 0 && (unsigned char)shown[used - 1] >= 0xc0) used--;
    memcpy(shown + used, "...", 3);
    used += 3;
  }
  shown[used] = 0;
  return shown;
}

const char *node_shown(const Node *node, char shown[SHOWN_MAX]) {
  char text[SHOWN_MAX];
  switch (node->kind) {
  case NODE_NOTHING: return "nothing";
  case NODE_LIST: snprintf(shown, SHOWN_MAX, "a list of %d", node->count); return shown;
  case NODE_MAP: return "a mapping";
  case NODE_SCALAR: break;
  }
  text_shown(node->text, text);
  text[SHOWN_MAX - 12] = 0;
  snprintf(shown, SHOWN_MAX, node->quoted ? "the text \"%s\"" : "'%s'", text);
  return shown;
}

Place node_place(const Tree *tree, const Node *node) {
  if (node->set) return (Place){node->set, {0, 0}};
  return (Place){tree->name, node->at};
}

Place key_place(const Tree *tree, const Node *node) {
  if (node->set) return (Place){node->set, {0, 0}};
  return (Place){tree->name, node->key ? node->key_at : node->at};
}
