/* Definition structs: what a world is made from. A program fills them itself (start from the `..._default()`
 * functions) or loads them from a scene file (scene.h). Nothing here owns anything: strings and arrays belong to
 * whoever made them and must live until scree_world_create has returned. */
#ifndef SCREE_DEFINITIONS_H
#define SCREE_DEFINITIONS_H

#include "scree/parameters.h"
#include "scree/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a kind of parameter is stored. */
typedef double ScreeKind_REAL;
typedef int64_t ScreeKind_INT;
typedef bool ScreeKind_BOOL;
typedef ScreeVec2 ScreeKind_VEC2;
typedef ScreeVec3 ScreeKind_VEC3;
typedef ScreeQuat ScreeKind_QUAT;
typedef const char *ScreeKind_TEXT;
typedef const char *ScreeKind_NAME;
typedef const char *ScreeKind_FILE;
typedef int ScreeKind_CHOICE;
#define SCREE_MEMBER(kind, name, ...) ScreeKind_##kind name;

/* Choices, probes and shapes: their numbers are the order of the lists in parameters.h. */
enum { SCREE_STARTS(SCREE_CHOICE_ID) };
enum { SCREE_RADIUS_DISTRIBUTIONS(SCREE_CHOICE_ID) };
enum { SCREE_CONTACTS(SCREE_CHOICE_ID) };
enum { SCREE_FRICTION_LIMITS(SCREE_CHOICE_ID) };
enum { SCREE_ERROR_ORDERS(SCREE_CHOICE_ID) };
enum { SCREE_INTEGRATORS(SCREE_CHOICE_ID) };
enum { SCREE_SHEAR_CAPS(SCREE_CHOICE_ID) };
enum { SCREE_YIELD_SURFACES(SCREE_CHOICE_ID) };
enum { SCREE_UPSAMPLE_MODES(SCREE_CHOICE_ID) };
enum { SCREE_MOTIONS(SCREE_CHOICE_ID) };
enum { SCREE_PROBES(SCREE_PROBE_ID) SCREE_PROBE_KINDS };

/* Shapes. A box body is a box whose min and max are -size/2 and size/2; capsule and cylinder bodies and those of
 * boundaries stand on `base`, their axis is z. */
#define SCREE_SHAPE_ID(id, ...) SCREE_SHAPE_##id,
typedef enum ScreeShapeKind {
  SCREE_SHAPE_NONE,
  SCREE_SHAPES(SCREE_SHAPE_ID) /* SCREE_SHAPE_BOX, ... */
  SCREE_SHAPE_MESH,
  SCREE_SHAPE_HEIGHTFIELD /* the terrain's: made by the world, not by a definition */
} ScreeShapeKind;

#define SCREE_SHAPE_STRUCT(id, word, type, rows, ...)                                                                  \
  typedef struct type {                                                                                                \
    rows(SCREE_MEMBER)                                                                                                 \
  } type;
SCREE_SHAPES(SCREE_SHAPE_STRUCT)

/* A triangle mesh: a file, or triangles in memory (when file is NULL). */
typedef struct ScreeMeshDef {
  const char *file;
  const double *vertices;   /* x y z each */
  const int64_t *triangles; /* three vertices each, counter-clockwise seen from outside */
  int64_t vertex_count;
  int64_t triangle_count;
} ScreeMeshDef;

#define SCREE_SHAPE_MEMBER(id, word, type, ...) type word;
typedef struct ScreeShapeDef {
  ScreeSource source;
  ScreeShapeKind kind;
  SCREE_PLACEMENT_PARAMETERS(SCREE_MEMBER)
  union {
    SCREE_SHAPES(SCREE_SHAPE_MEMBER) /* box, sphere, ... */
    ScreeMeshDef mesh;
  };
} ScreeShapeDef;

/* What a method reads beside the members that all have; a method's own are in the struct of its name. */
#define SCREE_METHOD_STRUCT(method, type, rows)                                                                        \
  typedef struct type {                                                                                                \
    rows(SCREE_MEMBER)                                                                                                 \
  } type;
SCREE_METHODS(SCREE_METHOD_STRUCT)

#define SCREE_METHOD_MEMBER(method, type, rows) type method;
typedef struct ScreeMethodDef {
  ScreeSource source;
  bool borrowed_step; /* time_step was written for another method: a wish, not a demand */
  SCREE_METHOD_PARAMETERS(SCREE_MEMBER)
  SCREE_METHODS(SCREE_METHOD_MEMBER) /* pbd, p2, dem, sph, flip */
} ScreeMethodDef;

typedef struct ScreeMaterialDef {
  ScreeSource source;
  const char *name;
  SCREE_MATERIAL_PARAMETERS(SCREE_MEMBER)
} ScreeMaterialDef;

typedef struct ScreeGrainsDef {
  ScreeSource source;
  SCREE_GRAINS_PARAMETERS(SCREE_MEMBER)
  ScreeShapeDef fill;
} ScreeGrainsDef;

typedef struct ScreeEmitterDef {
  ScreeSource source;
  SCREE_EMITTER_PARAMETERS(SCREE_MEMBER)
  ScreeShapeDef shape; /* a disc */
} ScreeEmitterDef;

typedef struct ScreeSinkDef {
  ScreeSource source;
  ScreeShapeDef shape;
} ScreeSinkDef;

typedef struct ScreeKeyDef {
  ScreeSource source;
  SCREE_KEY_PARAMETERS(SCREE_MEMBER)
} ScreeKeyDef;

typedef struct ScreeBoundaryDef {
  ScreeSource source;
  SCREE_BOUNDARY_PARAMETERS(SCREE_MEMBER)
  ScreeShapeDef shape;
  const ScreeKeyDef *keys;
  int32_t key_count;
} ScreeBoundaryDef;

typedef struct ScreeBodyDef {
  ScreeSource source;
  SCREE_BODY_PARAMETERS(SCREE_MEMBER)
  ScreeShapeDef shape;
  const ScreeKeyDef *keys;
  int32_t key_count;
} ScreeBodyDef;

typedef struct ScreeMechanismDef {
  ScreeSource source;
  SCREE_MECHANISM_PARAMETERS(SCREE_MEMBER)
} ScreeMechanismDef;

typedef struct ScreeImpulseDef {
  SCREE_IMPULSE_PARAMETERS(SCREE_MEMBER)
} ScreeImpulseDef;

typedef struct ScreeEventDef {
  ScreeSource source;
  SCREE_EVENT_PARAMETERS(SCREE_MEMBER)
  ScreeImpulseDef impulse;
} ScreeEventDef;

typedef struct ScreeTerrainDef {
  ScreeSource source;
  SCREE_TERRAIN_PARAMETERS(SCREE_MEMBER)
  /* For programs: height of the material over the base at a point of the world, in place of `height` and `png`. It is
   * asked once for the middle of every column while the world is made. NULL: none. */
  double (*height_at)(void *context, double x, double y);
  void *height_context;
} ScreeTerrainDef;

typedef struct ScreeUpsampleDef {
  ScreeSource source;
  SCREE_UPSAMPLE_PARAMETERS(SCREE_MEMBER)
} ScreeUpsampleDef;

typedef struct ScreeCameraDef {
  ScreeSource source;
  SCREE_CAMERA_PARAMETERS(SCREE_MEMBER)
} ScreeCameraDef;

typedef struct ScreeProbeDef {
  ScreeSource source;
  SCREE_PROBE_PARAMETERS(SCREE_MEMBER)
  ScreeShapeDef box; /* of kinds that have one: SCREE_SHAPE_BOX, or SCREE_SHAPE_NONE for everywhere */
} ScreeProbeDef;

/* The lists of a scene: X(struct, list, count). */
#define SCREE_SCENE_LISTS(X)                                                                                           \
  X(ScreeMaterialDef, materials, material_count)                                                                       \
  X(ScreeGrainsDef, grains, grains_count)                                                                              \
  X(ScreeEmitterDef, emitters, emitter_count)                                                                          \
  X(ScreeSinkDef, sinks, sink_count)                                                                                   \
  X(ScreeBoundaryDef, boundaries, boundary_count)                                                                      \
  X(ScreeBodyDef, bodies, body_count)                                                                                  \
  X(ScreeEventDef, events, event_count)                                                                                \
  X(ScreeProbeDef, probes, probe_count)
#define SCREE_LIST_MEMBER(type, list, count)                                                                           \
  const type *list;                                                                                                    \
  int32_t count;

typedef struct ScreeSceneDef {
  const char *name;   /* short name, used for output folders and reports */
  const char *file;   /* the scene file, for messages; NULL when made by a program */
  const char *folder; /* files are looked up here and in the shipped assets; NULL: the current folder */
  SCREE_SCENE_PARAMETERS(SCREE_MEMBER)
  SCREE_SCENE_LISTS(SCREE_LIST_MEMBER)
  ScreeMethodDef method;
  ScreeCameraDef camera;
  const ScreeMechanismDef *mechanism; /* NULL: none */
  const ScreeTerrainDef *terrain;     /* NULL: none */
  const ScreeUpsampleDef *upsample;   /* NULL: none */
} ScreeSceneDef;

/* Every struct with all its parameters at their defaults; required ones are NULL, NaN or -1. */
SCREE_API ScreeSceneDef scree_scene_default(void);
SCREE_API ScreeMethodDef scree_method_default(const char *name);
SCREE_API ScreeMaterialDef scree_material_default(const char *name);
SCREE_API ScreeGrainsDef scree_grains_default(const char *material, ScreeShapeDef fill);
SCREE_API ScreeEmitterDef scree_emitter_default(const char *material);
SCREE_API ScreeBoundaryDef scree_boundary_default(ScreeShapeDef shape);
SCREE_API ScreeBodyDef scree_body_default(const char *name, ScreeShapeDef shape);
SCREE_API ScreeKeyDef scree_key_default(void);
SCREE_API ScreeMechanismDef scree_mechanism_default(const char *mjcf);
SCREE_API ScreeEventDef scree_event_default(void);
SCREE_API ScreeTerrainDef scree_terrain_default(const char *material);
SCREE_API ScreeUpsampleDef scree_upsample_default(double radius);
SCREE_API ScreeProbeDef scree_probe_default(const char *name, int kind);

/* A shape of that kind with its defaults, and the usual ones at once. */
SCREE_API ScreeShapeDef scree_shape_default(ScreeShapeKind kind);
SCREE_API ScreeShapeDef scree_shape_box(ScreeVec3 min, ScreeVec3 max);
SCREE_API ScreeShapeDef scree_shape_sphere(ScreeVec3 center, double radius);
SCREE_API ScreeShapeDef scree_shape_plane(ScreeVec3 point, ScreeVec3 normal);
SCREE_API ScreeShapeDef scree_shape_mesh_file(const char *file);

#ifdef __cplusplus
}
#endif
#endif
