/* The `..._default()` functions of scree/definitions.h, all from the parameter table. */
#include "scree/definitions.h"

#include "parameters/table.h"

ScreeMethodDef scree_method_default(const char *name) {
  ScreeMethodDef method = {0};
  section_defaults(SECTION_method, &method);
  method.name = name;
  return method;
}

ScreeSceneDef scree_scene_default(void) {
  ScreeSceneDef scene = {.name = "scene"};
  section_defaults(SECTION_scene, &scene);
  scene.method = scree_method_default(NULL);
  section_defaults(SECTION_camera, &scene.camera);
  return scene;
}

ScreeMaterialDef scree_material_default(const char *name) {
  ScreeMaterialDef material = {0};
  section_defaults(SECTION_material, &material);
  material.name = name;
  return material;
}

ScreeGrainsDef scree_grains_default(const char *material, ScreeShapeDef fill) {
  ScreeGrainsDef grains = {.fill = fill};
  section_defaults(SECTION_grains, &grains);
  grains.material = material;
  return grains;
}

ScreeEmitterDef scree_emitter_default(const char *material) {
  ScreeEmitterDef emitter = {.shape = scree_shape_default(SCREE_SHAPE_DISC)};
  section_defaults(SECTION_emitter, &emitter);
  emitter.material = material;
  return emitter;
}

ScreeBoundaryDef scree_boundary_default(ScreeShapeDef shape) {
  ScreeBoundaryDef boundary = {.shape = shape};
  section_defaults(SECTION_boundary, &boundary);
  return boundary;
}

ScreeBodyDef scree_body_default(const char *name, ScreeShapeDef shape) {
  ScreeBodyDef body = {.shape = shape};
  section_defaults(SECTION_body, &body);
  body.name = name ? name : "";
  return body;
}

ScreeKeyDef scree_key_default(void) {
  ScreeKeyDef key = {0};
  section_defaults(SECTION_key, &key);
  return key;
}

ScreeMechanismDef scree_mechanism_default(const char *mjcf) {
  ScreeMechanismDef mechanism = {0};
  section_defaults(SECTION_mechanism, &mechanism);
  mechanism.mjcf = mjcf;
  return mechanism;
}

ScreeEventDef scree_event_default(void) {
  ScreeEventDef event = {0};
  section_defaults(SECTION_event, &event);
  section_defaults(SECTION_impulse, &event.impulse);
  return event;
}

ScreeTerrainDef scree_terrain_default(const char *material) {
  ScreeTerrainDef terrain = {0};
  section_defaults(SECTION_terrain, &terrain);
  terrain.material = material;
  return terrain;
}

ScreeUpsampleDef scree_upsample_default(double radius) {
  ScreeUpsampleDef upsample = {0};
  section_defaults(SECTION_upsample, &upsample);
  upsample.radius = radius;
  return upsample;
}

ScreeProbeDef scree_probe_default(const char *name, int kind) {
  ScreeProbeDef probe = {.box = scree_shape_default(SCREE_SHAPE_NONE)};
  section_defaults(SECTION_probe, &probe);
  probe.name = name;
  probe.kind = kind;
  return probe;
}

ScreeShapeDef scree_shape_default(ScreeShapeKind kind) {
  ScreeShapeDef shape = {.kind = kind};
  section_defaults(SECTION_placement, &shape);
#define DEFAULTS(id, word, ...)                                                                                        \
  if (kind == SCREE_SHAPE_##id) section_defaults(SECTION_##word, &shape.word);
  SCREE_SHAPES(DEFAULTS)
  return shape;
}

ScreeShapeDef scree_shape_box(ScreeVec3 min, ScreeVec3 max) {
  ScreeShapeDef shape = scree_shape_default(SCREE_SHAPE_BOX);
  shape.box = (ScreeBoxDef){.min = min, .max = max};
  return shape;
}

ScreeShapeDef scree_shape_sphere(ScreeVec3 center, double radius) {
  ScreeShapeDef shape = scree_shape_default(SCREE_SHAPE_SPHERE);
  shape.sphere = (ScreeSphereDef){.center = center, .radius = radius};
  return shape;
}

ScreeShapeDef scree_shape_plane(ScreeVec3 point, ScreeVec3 normal) {
  ScreeShapeDef shape = scree_shape_default(SCREE_SHAPE_PLANE);
  shape.plane = (ScreePlaneDef){.point = point, .normal = normal};
  return shape;
}

ScreeShapeDef scree_shape_mesh_file(const char *file) {
  ScreeShapeDef shape = scree_shape_default(SCREE_SHAPE_MESH);
  shape.mesh.file = file;
  return shape;
}
