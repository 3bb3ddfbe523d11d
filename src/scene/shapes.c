/* Shapes: one key of a mapping, such as `box: {...}` or `mesh: file`. */
#include <stdio.h>
#include <string.h>

#include "scene/reader.h"
#include "core/vec.h"

typedef struct ShapeWord {
  const char *word, *places;
  ScreeShapeKind kind;
  Section section;
} ShapeWord;

#define SHAPE_ENTRY(id, word, type, rows, places, where) {#word, places, SCREE_SHAPE_##id, SECTION_##word},
static const ShapeWord shapes[SHAPE_WORDS] = {
    SCREE_SHAPES(SHAPE_ENTRY){"mesh", "fill sink boundary body", SCREE_SHAPE_MESH, SECTION_placement}};

static const struct {
  const char *name, *called;
} places[] = {[SHAPE_NOWHERE] = {"", ""},
              [SHAPE_OF_FILL] = {"fill", "'fill'"},
              [SHAPE_OF_EMITTER] = {"emitter", "an emitter"},
              [SHAPE_OF_SINK] = {"sink", "a sink"},
              [SHAPE_OF_BOUNDARY] = {"boundary", "a boundary"},
              [SHAPE_OF_BODY] = {"body", "a body"},
              [SHAPE_OF_PROBE] = {"probe", "a probe"}};

const char *shape_word(int index) { return shapes[index].word; }

bool shape_stands(ShapePlace place, int index) {
  return place != SHAPE_NOWHERE && word_index(shapes[index].places, ' ', places[place].name) >= 0;
}

int shape_at(ShapePlace place, const char *word) {
  for (int k = 0; k < SHAPE_WORDS; k++)
    if (strcmp(shapes[k].word, word) == 0 && shape_stands(place, k)) return k;
  return -1;
}

static Status check_box(Reader *reader, const Node *node, const ScreeBoxDef *box) {
  if (box->min.x < box->max.x && box->min.y < box->max.y && box->min.z < box->max.z) return SCREE_OK;
  const Node *max = node_find(node, "max");
  return fail_here(reader->tree, node_place(reader->tree, max ? max : node),
                   "the box is empty: min [%g, %g, %g] must be below max [%g, %g, %g]", box->min.x, box->min.y,
                   box->min.z, box->max.x, box->max.y, box->max.z);
}

/* A direction has no length, but must have one to be normalised. */
static Status check_directions(Reader *reader, const Node *node, Section section, const void *definition) {
  static const char *const keys[] = {"normal", "direction"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const ScreeParameter *row = section_find(section, keys[k]);
    if (!row || vec3_length(*(const Vec3 *)parameter_value(definition, row)) > 1e-9) continue;
    const Node *child = node_find(node, row->name);
    return fail_here(reader->tree, node_place(reader->tree, child ? child : node), "'%s' must not be zero", row->name);
  }
  return SCREE_OK;
}

/* What stands on a base is centred on the origin of a body that gives none. */
static void center_height(Section section, void *definition) {
  const ScreeParameter *base = section_find(section, "base"), *height = section_find(section, "height");
  if (!base || !height) return;
  Vec3 *at = parameter_member(definition, base);
  at->z = -*(const double *)parameter_value(definition, height) / 2;
}

static Status read_plain(Reader *reader, const Node *node, const char *what, Section section, void *definition) {
  Mapping mapping = {.what = what, .parts = {{section, definition}}, .part_count = 1};
  return read_mapping(reader, node, &mapping);
}

/* A body's shape is centred on its origin unless it says otherwise. */
static Status read_box(Reader *reader, const Node *node, bool body, ScreeBoxDef *box) {
  if (!body || node_find(node, "min") || node_find(node, "max")) {
    TRY(read_plain(reader, node, body ? "a box with corners" : "a box", SECTION_box, box));
    return check_box(reader, node, box);
  }
  SizedBox sized;
  TRY(read_plain(reader, node, "the box of a body", SECTION_sized_box, &sized));
  box->max = vec3_scale(sized.size, 0.5);
  box->min = vec3_scale(sized.size, -0.5);
  return SCREE_OK;
}

static Status read_mesh(Reader *reader, const Node *node, ScreeMeshDef *mesh) {
  static const ScreeParameter file = {.name = "mesh", .kind = SCREE_KIND_FILE, .default_text = "required", .unit = ""};
  TRY(read_value(reader, node, &file, &mesh->file));
  if (*mesh->file) return SCREE_OK;
  return fail_here(reader->tree, node_place(reader->tree, node), "'mesh': the name of a file is empty");
}

static Status read_named_shape(Reader *reader, const Node *node, ShapePlace place, ScreeShapeDef *shape) {
  bool body = place == SHAPE_OF_BODY;
  const ShapeWord *word = &shapes[shape_at(place, node->key)];
  void *definition = &shape->box; /* shapes share one place */
  char what[WORD_MAX];
  shape->kind = word->kind;
  if (word->kind == SCREE_SHAPE_MESH) return read_mesh(reader, node, &shape->mesh);
  if (word->kind == SCREE_SHAPE_BOX) return read_box(reader, node, body, &shape->box);
  snprintf(what, sizeof what, "a %s", word->word);
  TRY(read_plain(reader, node, what, word->section, definition));
  if (body && !node_find(node, "base")) center_height(word->section, definition);
  return check_directions(reader, node, word->section, definition);
}

/* A plain shape of a fill or a sink says itself where it stands, and only meshes are scaled. */
static Status check_placement(Reader *reader, const Node *map, ShapePlace place, const ScreeShapeDef *shape) {
  if (shape->kind == SCREE_SHAPE_MESH) return SCREE_OK;
  static const char *const keys[] = {"scale", "position", "rotation"};
  int count = place == SHAPE_OF_FILL || place == SHAPE_OF_SINK ? 3 : 1;
  for (int k = 0; k < count; k++) {
    const Node *node = node_find(map, keys[k]);
    bool identity = k == 0 && node && node->text && shape->scale == 1;
    if (node && !identity)
      return fail_here(reader->tree, key_place(reader->tree, node), "'%s' goes with a mesh only", keys[k]);
  }
  return SCREE_OK;
}

Status read_shape(Reader *reader, const Node *map, ShapePlace place, bool optional, ScreeShapeDef *shape) {
  const Node *found = NULL;
  shape->kind = SCREE_SHAPE_NONE;
  shape->source = node_source(map);
  for (const Node *child = map->first; child; child = child->next) {
    if (shape_at(place, child->key) < 0) continue;
    if (found)
      return fail_here(reader->tree, key_place(reader->tree, child), "%s has one shape, and '%s' was given already",
                       places[place].called, found->key);
    found = child;
  }
  if (!found) {
    if (optional) return SCREE_OK;
    char words[256] = "";
    for (int k = 0; k < SHAPE_WORDS; k++) {
      size_t used = strlen(words);
      if (shape_stands(place, k)) snprintf(words + used, sizeof words - used, "%s%s", used ? ", " : "", shapes[k].word);
    }
    return fail_here(reader->tree, key_place(reader->tree, map), "%s needs a shape: one of %s", places[place].called,
                     words);
  }
  TRY(read_named_shape(reader, found, place, shape));
  shape->source = node_source(found);
  return check_placement(reader, map, place, shape);
}
