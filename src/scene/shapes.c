/* Shapes: one key of a mapping, such as `box: {...}` or `mesh: file`. */
#include <string.h>

#include "scene/reader.h"
#include "core/vec.h"

static const char *const fill_words[] = {"box", "sphere", "cylinder", "capsule", "mesh", NULL};
static const char *const emitter_words[] = {"disc", NULL};
static const char *const sink_words[] = {"box", "sphere", "cylinder", "capsule", "mesh", "plane", NULL};
static const char *const boundary_words[] = {"plane", "box", "sphere", "cylinder", "capsule", "mesh", "keys", NULL};
static const char *const body_words[] = {"box", "sphere", "cylinder", "capsule", "mesh", "keys", NULL};
static const char *const probe_words[] = {"box", NULL};

const char *const *shape_words(ShapePlace place) {
  static const char *const *const words[] = {fill_words,     emitter_words, sink_words,
                                             boundary_words, body_words,    probe_words};
  return words[place];
}

static const char *const place_names[] = {"'fill'", "an emitter", "a sink", "a boundary", "a body", "a probe"};

static Status check_box(Reader *reader, const Node *node, const ScreeBoxDef *box) {
  if (box->min.x < box->max.x && box->min.y < box->max.y && box->min.z < box->max.z) return SCREE_OK;
  const Node *max = node_find(node, "max");
  return fail_here(reader->tree, node_place(reader->tree, max ? max : node),
                   "the box is empty: min [%g, %g, %g] must be below max [%g, %g, %g]", box->min.x, box->min.y,
                   box->min.z, box->max.x, box->max.y, box->max.z);
}

static Status check_direction(Reader *reader, const Node *node, const char *key, Vec3 direction) {
  if (vec3_length(direction) > 1e-9) return SCREE_OK;
  const Node *child = node_find(node, key);
  return fail_here(reader->tree, node_place(reader->tree, child ? child : node), "'%s' must not be zero", key);
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

static Status read_named_shape(Reader *reader, const Node *node, ShapePlace place, ScreeShapeDef *shape) {
  bool body = place == SHAPE_OF_BODY;
  bool centred = body && !node_find(node, "base");
  const char *word = node->key;
  if (strcmp(word, "box") == 0) {
    shape->kind = SCREE_SHAPE_BOX;
    return read_box(reader, node, body, &shape->box);
  }
  if (strcmp(word, "sphere") == 0) {
    shape->kind = SCREE_SHAPE_SPHERE;
    return read_plain(reader, node, "a sphere", SECTION_sphere, &shape->sphere);
  }
  if (strcmp(word, "cylinder") == 0) {
    shape->kind = SCREE_SHAPE_CYLINDER;
    TRY(read_plain(reader, node, "a cylinder", SECTION_cylinder, &shape->cylinder));
    if (centred) shape->cylinder.base.z = -shape->cylinder.height / 2;
    return SCREE_OK;
  }
  if (strcmp(word, "capsule") == 0) {
    shape->kind = SCREE_SHAPE_CAPSULE;
    TRY(read_plain(reader, node, "a capsule", SECTION_capsule, &shape->capsule));
    if (centred) shape->capsule.base.z = -shape->capsule.height / 2;
    return SCREE_OK;
  }
  if (strcmp(word, "plane") == 0) {
    shape->kind = SCREE_SHAPE_PLANE;
    TRY(read_plain(reader, node, "a plane", SECTION_plane, &shape->plane));
    return check_direction(reader, node, "normal", shape->plane.normal);
  }
  if (strcmp(word, "disc") == 0) {
    shape->kind = SCREE_SHAPE_DISC;
    TRY(read_plain(reader, node, "a disc", SECTION_disc, &shape->disc));
    return check_direction(reader, node, "direction", shape->disc.direction);
  }
  static const ScreeParameter file = {.name = "mesh", .kind = SCREE_KIND_FILE, .default_text = "required", .unit = ""};
  shape->kind = SCREE_SHAPE_MESH;
  TRY(read_value(reader, node, &file, &shape->mesh.file));
  if (*shape->mesh.file) return SCREE_OK;
  return fail_here(reader->tree, node_place(reader->tree, node), "'mesh': the name of a file is empty");
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
    const char *const *word = shape_words(place);
    while (*word && strcmp(*word, child->key) != 0) word++;
    if (!*word || strcmp(*word, "keys") == 0) continue;
    if (found)
      return fail_here(reader->tree, key_place(reader->tree, child), "%s has one shape, and '%s' was given already",
                       place_names[place], found->key);
    found = child;
  }
  if (!found) {
    if (optional) return SCREE_OK;
    char words[128] = "";
    for (const char *const *word = shape_words(place); *word; word++) {
      if (strcmp(*word, "keys") == 0) continue;
      if (word != shape_words(place)) strcat(words, ", ");
      strcat(words, *word);
    }
    return fail_here(reader->tree, key_place(reader->tree, map), "%s needs a shape: one of %s", place_names[place],
                     words);
  }
  TRY(read_named_shape(reader, found, place, shape));
  shape->source = node_source(found);
  return check_placement(reader, map, place, shape);
}
