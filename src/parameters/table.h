/* The rows of scree/parameters.h as data, by section, and what follows from them: defaults, ranges, who reads a key. */
#ifndef PARAMETERS_TABLE_H
#define PARAMETERS_TABLE_H

#include "scree/definitions.h"
#include "scree/scene.h"

/* A sized box is the box of a body that is given no corners. */
typedef struct SizedBox {
  SCREE_SIZED_BOX_PARAMETERS(SCREE_MEMBER)
} SizedBox;

/* X(section, struct, rows, where it stands in a scene). Those of shapes follow: SCREE_SHAPES. */
#define SECTIONS(X)                                                                                                    \
  X(scene, ScreeSceneDef, SCREE_SCENE_PARAMETERS, "at the top")                                                        \
  X(method, ScreeMethodDef, SCREE_METHOD_PARAMETERS, "`method: {...}`")                                                \
  X(material, ScreeMaterialDef, SCREE_MATERIAL_PARAMETERS, "`materials: {NAME: {...}, ...}`")                          \
  X(grains, ScreeGrainsDef, SCREE_GRAINS_PARAMETERS, "`grains: [{...}, ...]`")                                         \
  X(emitter, ScreeEmitterDef, SCREE_EMITTER_PARAMETERS, "`emitters: [{...}, ...]`")                                    \
  X(boundary, ScreeBoundaryDef, SCREE_BOUNDARY_PARAMETERS, "`boundaries: [{...}, ...]`")                               \
  X(body, ScreeBodyDef, SCREE_BODY_PARAMETERS, "`bodies: [{...}, ...]`")                                               \
  X(placement, ScreeShapeDef, SCREE_PLACEMENT_PARAMETERS,                                                              \
    "in boundaries and bodies, and beside `mesh:` in fills and sinks")                                                 \
  X(key, ScreeKeyDef, SCREE_KEY_PARAMETERS, "`keys: [{...}, ...]` of a boundary or body")                              \
  X(mechanism, ScreeMechanismDef, SCREE_MECHANISM_PARAMETERS, "`mechanism: {...}`")                                    \
  X(event, ScreeEventDef, SCREE_EVENT_PARAMETERS, "`events: [{...}, ...]`")                                            \
  X(impulse, ScreeImpulseDef, SCREE_IMPULSE_PARAMETERS, "`impulse: {...}` of an event")                                \
  X(terrain, ScreeTerrainDef, SCREE_TERRAIN_PARAMETERS, "`terrain: {...}`")                                            \
  X(upsample, ScreeUpsampleDef, SCREE_UPSAMPLE_PARAMETERS, "`upsample: {...}`")                                        \
  X(camera, ScreeCameraDef, SCREE_CAMERA_PARAMETERS, "`camera: {...}`")                                                \
  X(probe, ScreeProbeDef, SCREE_PROBE_PARAMETERS, "`probes: [{...}, ...]`")                                            \
  X(sized_box, SizedBox, SCREE_SIZED_BOX_PARAMETERS, "`box: {...}` of a body, instead of corners")

#define SECTION_ID(name, ...) SECTION_##name,
#define SHAPE_SECTION_ID(id, word, ...) SECTION_##word,
typedef enum Section { SECTIONS(SECTION_ID) SCREE_SHAPES(SHAPE_SECTION_ID) SECTION_COUNT } Section;

typedef struct SectionInfo {
  const char *name;
  const char *where;
  int count; /* of rows */
} SectionInfo;
SectionInfo section_info(Section section);
/* Each key once: of those that several methods have, the row of the first. */
const ScreeParameter *section_row(Section section, int index);
const ScreeParameter *section_find(Section section, const char *key); /* NULL: no such key */

/* Sets every member of the section's struct to its default; required ones become NULL, NaN or -1. */
void section_defaults(Section section, void *definition);

static inline void *parameter_member(void *definition, const ScreeParameter *row) {
  return (char *)definition + row->offset;
}
static inline const void *parameter_value(const void *definition, const ScreeParameter *row) {
  return (const char *)definition + row->offset;
}
/* Where the value lies that `reader` reads: of a key that several methods have, each has a member of its own. */
const ScreeParameter *parameter_of_reader(const ScreeParameter *row, const char *reader);
/* Gives every method that has the key of the row the value that the row's member has. */
void parameter_share(const ScreeParameter *row, void *definition);

/* Components of a kind that is stored as doubles: 1 to 4; 0 for others. */
int parameter_components(ScreeParameterKind kind);
bool parameter_is(const ScreeParameter *row, const char *default_text); /* "auto", "required" */
/* Equal values, NaN equal to NaN, strings by content. */
bool parameter_equal(const ScreeParameter *row, const void *a, const void *b);
bool parameter_is_default(const ScreeParameter *row, const void *definition);
typedef enum ParameterRange { RANGE_USUAL, RANGE_ODD, RANGE_ILLEGAL } ParameterRange;
ParameterRange parameter_range(const ScreeParameter *row, double value);
/* Whether one of `readers` (who there is in a scene, or a probe's kind; separated by blanks) reads the key. */
bool parameter_read_by(const ScreeParameter *row, const char *readers);

/* The box round a shape of SCREE_SHAPES in its own frame, as far as its keys tell: by min and max, by centre and
 * radius, by base, radius and height. False: they do not. */
bool shape_extent(const ScreeShapeDef *shape, ScreeVec3 *center, ScreeVec3 *half);

enum { READERS_MAX = 200 };
/* Who reads keys in a scene: the method, fine grains (upsample) and their mode (NULL: none), terrain. */
const char *readers_of_scene(const char *method, const char *upsample_mode, bool terrain, char text[READERS_MAX]);
/* Kinds of probes that read the key, separated by blanks. */
const char *probe_kinds_with(const char *key, char text[READERS_MAX]);
/* Endings of the columns of a kind: the index-th, "" for a scalar; false when there are fewer. */
enum { WORD_MAX = 40 };
bool probe_column(int kind, int index, char ending[WORD_MAX]);

/* Words of a list with the separator: the index-th; false when there are fewer. */
bool word_at(const char *list, char separator, int index, char word[WORD_MAX]);
int word_index(const char *list, char separator, const char *word); /* -1: not among them */

#endif
