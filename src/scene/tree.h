/* YAML text to a tree of nodes that know their line and column.
 *
 * Input is hostile: depth, number of nodes and of anchors are bounded while events arrive, aliases are copied within
 * the same budget of nodes, keys are unique, and a file is one document. */
#ifndef SCENE_TREE_H
#define SCENE_TREE_H

#include "scene/arena.h"

enum { TREE_DEPTH_MAX = 32, TREE_NODES_MAX = 1 << 20, TREE_ANCHORS_MAX = 1000, TREE_BYTES_MAX = 64 << 20 };

typedef enum NodeKind { NODE_NOTHING, NODE_SCALAR, NODE_LIST, NODE_MAP } NodeKind;

typedef struct Node {
  struct Node *next;         /* in the list or map that holds it */
  struct Node *first, *last; /* of a list or map */
  const char *key;           /* in a map */
  const char *text;          /* of a scalar */
  const char *set;           /* `--set path` when it came from there, else NULL */
  const char *written;       /* the file's text of a scalar that `--set` replaced, else NULL */
  ScreeSource key_at, at;
  int32_t count;
  NodeKind kind;
  bool quoted;
} Node;

typedef struct Tree {
  Core *core;
  Arena arena;
  const char *name; /* of the file, for messages */
  int64_t nodes;
  Node *root; /* NULL when the text is empty */
} Tree;

/* name may be `--set path`, when set is true: then nothing has a line. */
Status tree_parse(Tree *tree, const char *text, size_t length, const char *name, bool set, Node **root);
void tree_destroy(Tree *tree);

Node *node_find(const Node *map, const char *key); /* NULL when there is none or `map` is no map */

/* Applies `path=value`. */
Status tree_override(Tree *tree, const char *assignment);

/* A node as messages show it: `the number-like text`, shortened, without control characters. */
enum { SHOWN_MAX = 96 };
const char *node_shown(const Node *node, char shown[SHOWN_MAX]);
const char *text_shown(const char *text, char shown[SHOWN_MAX]);

/* Where a message about a node, or about its key, points to. */
typedef struct Place {
  const char *file;
  ScreeSource at;
} Place;
Place node_place(const Tree *tree, const Node *node);
Place key_place(const Tree *tree, const Node *node);
#define fail_here(tree, place, ...) fail_at((tree)->core, SCREE_BAD_INPUT, (place).file, (place).at, __VA_ARGS__)

#endif
