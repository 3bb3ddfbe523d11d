/* Boundaries, bodies and their keys, the mechanism. */
#include <string.h>

#include "scene/reader.h"
#include "core/vec.h"

static Status read_key(Reader *reader, const Node *node, ScreeKeyDef *key) {
  Mapping mapping = {.what = "a key", .parts = {{SECTION_key, key}}, .part_count = 1};
  TRY(expect_kind(reader, node, NODE_MAP, "a mapping {key: value, ...}"));
  key->source = node_source(node);
  return read_mapping(reader, node, &mapping);
}

static Status read_keys(Reader *reader, const Node *map, const ScreeKeyDef **keys, int32_t *count) {
  const Node *node = node_find(map, "keys");
  *keys = NULL;
  *count = 0;
  if (!node || node->kind == NODE_NOTHING) return SCREE_OK;
  TRY(expect_kind(reader, node, NODE_LIST, "a list of mappings"));
  ScreeKeyDef *list;
  TRY(arena_new(reader->core, reader->arena, &list, node->count));
  int32_t k = 0;
  for (const Node *child = node->first; child; child = child->next, k++) {
    TRY(read_key(reader, child, &list[k]));
    const Node *t = node_find(child, "t");
    if (k > 0 && !(list[k].t > list[k - 1].t))
      return fail_here(reader->tree, node_place(reader->tree, t ? t : child),
                       "keys must ascend in time: t = %g comes after t = %g", list[k].t, list[k - 1].t);
  }
  *keys = list;
  *count = node->count;
  return SCREE_OK;
}

/* Boundaries and bodies share their names: probes and programs ask for either. */
static Status claim_name(Reader *reader, const Node *map, const char *name) {
  const Node *node = node_find(map, "name");
  if (!node || !*name) return SCREE_OK;
  TRY(check_name(reader, node, name));
  bool fresh;
  TRY(names_add(reader->core, &reader->tree->arena, &reader->solids, name, &fresh));
  if (fresh) return SCREE_OK;
  return fail_here(reader->tree, node_place(reader->tree, node), "another boundary or body is named '%s'", name);
}

static void warn_friction(Reader *reader, const Node *map, double sticking, double sliding) {
  const Node *node = node_find(map, "friction_kinetic");
  if (!node) node = node_find(map, "friction_static");
  if (node && sliding > sticking && !node_find(map, "friction_angle_deg"))
    warn(reader, key_place(reader->tree, node), "friction_kinetic %g is more than friction_static %g", sliding,
         sticking);
}

static bool is_zero(ScreeVec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

static void warn_placement(Reader *reader, const Node *map, const ScreeShapeDef *shape) {
  const Node *node = node_find(map, "position");
  if (node && !is_zero(shape->position))
    warn(reader, key_place(reader->tree, node), "'position' is not read: the keys say where it is");
}

static const char *const solid_words[] = {"keys", NULL};

static Status read_boundary(Reader *reader, const Node *node, void *entry) {
  ScreeBoundaryDef *boundary = entry;
  Mapping mapping = {.what = "a boundary",
                     .parts = {{SECTION_boundary, boundary}, {SECTION_placement, &boundary->shape}},
                     .part_count = 2,
                     .place = SHAPE_OF_BOUNDARY,
                     .words = solid_words};
  boundary->source = node_source(node);
  TRY(read_mapping(reader, node, &mapping));
  TRY(read_shape(reader, node, SHAPE_OF_BOUNDARY, false, &boundary->shape));
  TRY(read_keys(reader, node, &boundary->keys, &boundary->key_count));
  warn_friction(reader, node, boundary->friction_static, boundary->friction_kinetic);
  if (boundary->key_count > 0) warn_placement(reader, node, &boundary->shape);
  if (boundary->inside && boundary->shape.kind == SCREE_SHAPE_PLANE)
    warn(reader, key_place(reader->tree, node_find(node, "inside")),
         "'inside' has no meaning for a plane: its normal points towards the grains");
  return claim_name(reader, node, boundary->name);
}

static Status read_body(Reader *reader, const Node *node, void *entry) {
  ScreeBodyDef *body = entry;
  Mapping mapping = {.what = "a body",
                     .parts = {{SECTION_body, body}, {SECTION_placement, &body->shape}},
                     .part_count = 2,
                     .place = SHAPE_OF_BODY,
                     .words = solid_words};
  body->source = node_source(node);
  TRY(read_mapping(reader, node, &mapping));
  TRY(read_shape(reader, node, SHAPE_OF_BODY, false, &body->shape));
  TRY(read_keys(reader, node, &body->keys, &body->key_count));
  warn_friction(reader, node, body->friction_static, body->friction_kinetic);
  const Node *motion = node_find(node, "motion"), *keys = node_find(node, "keys");
  if (body->motion == SCREE_MOTION_KEYFRAMES && body->key_count == 0)
    return fail_here(reader->tree, node_place(reader->tree, keys ? keys : motion),
                     "'motion: keyframes' needs 'keys' with at least one entry");
  if (body->motion == SCREE_MOTION_KEYFRAMES) warn_placement(reader, node, &body->shape);
  if (body->motion != SCREE_MOTION_KEYFRAMES && body->key_count > 0)
    warn(reader, key_place(reader->tree, keys), "'keys' are not read: write 'motion: keyframes'");
  if (body->motion != SCREE_MOTION_FREE && !(is_zero(body->velocity) && is_zero(body->spin)))
    warn(reader, key_place(reader->tree, node), "'velocity' and 'spin' are read by bodies with 'motion: free' only");
  return claim_name(reader, node, body->name);
}

static Status read_mechanism(Reader *reader) {
  const Node *node = node_find(reader->tree->root, "mechanism");
  if (!node || node->kind == NODE_NOTHING) return SCREE_OK;
  ScreeMechanismDef *mechanism;
  TRY(arena_new(reader->core, reader->arena, &mechanism, 1));
  Mapping mapping = {.what = "'mechanism'", .parts = {{SECTION_mechanism, mechanism}}, .part_count = 1};
  mechanism->source = node_source(node);
  TRY(read_mapping(reader, node, &mapping));
  if (!*mechanism->mjcf)
    return fail_here(reader->tree, node_place(reader->tree, node_find(node, "mjcf")),
                     "'mjcf': the name of a file is empty");
  reader->scene->mechanism = mechanism;
  return SCREE_OK;
}

Status read_solids(Reader *reader) {
  ScreeSceneDef *scene = reader->scene;
  TRY(read_list(reader, "boundaries", read_boundary, (void **)&scene->boundaries, sizeof *scene->boundaries,
                &scene->boundary_count));
  TRY(read_list(reader, "bodies", read_body, (void **)&scene->bodies, sizeof *scene->bodies, &scene->body_count));
  return read_mechanism(reader);
}
