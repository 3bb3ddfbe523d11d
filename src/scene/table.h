/* The rows of scree/parameters.h as data, by section, and the defaults that follow from them. */
#ifndef SCENE_TABLE_H
#define SCENE_TABLE_H

#include "scree/definitions.h"
#include "scree/scene.h"

/* X(section, struct, rows, where it stands in a scene). A sized box is the box of a body that is given no corners. */
typedef struct SizedBox {
  SCREE_SIZED_BOX_PARAMETERS(SCREE_MEMBER)
} SizedBox;

#define SECTIONS(X)                                                                                                    \
  X(scene, SCREE_SCENE_PARAMETERS, "at the top")                                                                       \
  X(method, SCREE_METHOD_PARAMETERS, "`method: {...}`")                                                                \
  X(material, SCREE_MATERIAL_PARAMETERS, "`materials: {NAME: {...}, ...}`")                                            \
  X(grains, SCREE_GRAINS_PARAMETERS, "`grains: [{...}, ...]`")                                                         \
  X(emitter, SCREE_EMITTER_PARAMETERS, "`emitters: [{...}, ...]`")                                                     \
  X(boundary, SCREE_BOUNDARY_PARAMETERS, "`boundaries: [{...}, ...]`")                                                 \
  X(body, SCREE_BODY_PARAMETERS, "`bodies: [{...}, ...]`")                                                             \
  X(placement, SCREE_PLACEMENT_PARAMETERS, "in boundaries and bodies, and beside `mesh:` in fills and sinks")          \
  X(key, SCREE_KEY_PARAMETERS, "`keys: [{...}, ...]` of a boundary or body")                                           \
  X(mechanism, SCREE_MECHANISM_PARAMETERS, "`mechanism: {...}`")                                                       \
  X(event, SCREE_EVENT_PARAMETERS, "`events: [{...}, ...]`")                                                           \
  X(impulse, SCREE_IMPULSE_PARAMETERS, "`impulse: {...}` of an event")                                                 \
  X(terrain, SCREE_TERRAIN_PARAMETERS, "`terrain: {...}`")                                                             \
  X(upsample, SCREE_UPSAMPLE_PARAMETERS, "`upsample: {...}`")                                                          \
  X(camera, SCREE_CAMERA_PARAMETERS, "`camera: {...}`")                                                                \
  X(probe, SCREE_PROBE_PARAMETERS, "`probes: [{...}, ...]`")                                                           \
  X(box, SCREE_BOX_PARAMETERS, "`box: {...}`")                                                                         \
  X(sized_box, SCREE_SIZED_BOX_PARAMETERS, "`box: {...}` of a body, instead of corners")                               \
  X(sphere, SCREE_SPHERE_PARAMETERS, "`sphere: {...}`")                                                                \
  X(cylinder, SCREE_CYLINDER_PARAMETERS, "`cylinder: {...}`")                                                          \
  X(capsule, SCREE_CAPSULE_PARAMETERS, "`capsule: {...}`")                                                             \
  X(plane, SCREE_PLANE_PARAMETERS, "`plane: {...}` of boundaries and sinks")                                           \
  X(disc, SCREE_DISC_PARAMETERS, "`disc: {...}` of an emitter")

#define SECTION_ID(name, rows, where) SECTION_##name,
typedef enum Section { SECTIONS(SECTION_ID) SECTION_COUNT } Section;

typedef struct SectionRows {
  const char *name;
  const char *where;
  const ScreeParameter *rows;
  int count;
} SectionRows;
SectionRows section_rows(Section section);

/* Sets every member of the section's struct to its default; required ones become NULL, NaN or -1. */
void section_defaults(Section section, void *definition);

static inline void *parameter_member(void *definition, const ScreeParameter *row) {
  return (char *)definition + row->offset;
}
static inline const void *parameter_value(const void *definition, const ScreeParameter *row) {
  return (const char *)definition + row->offset;
}
/* Components of a kind that is stored as doubles: 1 to 4; 0 for others. */
int parameter_components(ScreeParameterKind kind);
bool parameter_is(const ScreeParameter *row, const char *default_text); /* "auto", "required" */
/* Equal values, NaN equal to NaN, strings by content. */
bool parameter_equal(const ScreeParameter *row, const void *a, const void *b);
bool parameter_is_default(const ScreeParameter *row, const void *definition);
/* Whether `reader` (a method, or a probe's kind) reads the key. */
bool parameter_read_by(const ScreeParameter *row, const char *reader);

/* Words of a choice, or readers: the index-th of a list with the separator; false when there are fewer. */
enum { WORD_MAX = 40 };
bool word_at(const char *list, char separator, int index, char word[WORD_MAX]);
int word_index(const char *list, char separator, const char *word); /* -1: not among them */

#endif
