/* Scene files: YAML to definitions and back, and the parameter table as data. */
#ifndef SCREE_SCENE_H
#define SCREE_SCENE_H

#include "scree/definitions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A loaded scene: owns the strings and arrays of its definition. */
typedef struct ScreeScene ScreeScene;

/* Called for each warning, with the line as it should be shown (`file:line:col: warning: ...`). */
typedef void (*ScreeWarningFunction)(void *context, const char *line);

typedef struct ScreeSceneOptions {
  const char *const *sets; /* `path=value` overrides, as of --set */
  int32_t set_count;
  ScreeWarningFunction warning; /* NULL: warnings are dropped */
  void *warning_context;
} ScreeSceneOptions;

/* Reads a scene file. Everything that can be known without simulating is checked here. options may be NULL. */
SCREE_API ScreeStatus scree_scene_load(const char *path, const ScreeSceneOptions *options, ScreeScene **scene,
                                       ScreeError *error);

/* The same from text in memory; `name` is used in messages, `folder` for the files it names (NULL: none may be named).
 */
SCREE_API ScreeStatus scree_scene_parse(const char *text, size_t length, const char *name, const char *folder,
                                        const ScreeSceneOptions *options, ScreeScene **scene, ScreeError *error);

/* The definition lives as long as the scene. */
SCREE_API const ScreeSceneDef *scree_scene_definition(const ScreeScene *scene);
SCREE_API void scree_scene_free(ScreeScene *scene);

/* The scene as understood, every default filled in, as YAML; free with scree_text_free. */
SCREE_API ScreeStatus scree_scene_write(const ScreeSceneDef *definition, char **text, ScreeError *error);
SCREE_API void scree_text_free(char *text);

/* A scene as it was written (nothing checked but the syntax, nothing filled in) as JSON; free with scree_text_free. */
SCREE_API ScreeStatus scree_scene_json(const char *text, size_t length, const char *name, char **json,
                                       ScreeError *error);

/* Resolves `path`, `paper/name` or `name` of a shipped scene to a path. */
SCREE_API ScreeStatus scree_scene_find(const char *name, char *path, size_t size, ScreeError *error);

/* Lists the shipped scenes: calls visit with `paper/name`, the path and the title; a non-zero answer stops. */
SCREE_API ScreeStatus scree_scene_list(int (*visit)(void *context, const char *name, const char *path,
                                                    const char *title),
                                       void *context, ScreeError *error);

/* One row of the parameter table. */
typedef enum ScreeParameterKind {
  SCREE_KIND_REAL,
  SCREE_KIND_INT,
  SCREE_KIND_BOOL,
  SCREE_KIND_VEC2,
  SCREE_KIND_VEC3,
  SCREE_KIND_QUAT,
  SCREE_KIND_TEXT,
  SCREE_KIND_NAME,
  SCREE_KIND_FILE,
  SCREE_KIND_CHOICE
} ScreeParameterKind;

typedef struct ScreeParameter {
  const char *section; /* "method", "material", "boundary", ... */
  const char *name;
  ScreeParameterKind kind;
  const char *default_text; /* as written in a scene; "auto" or "required" */
  double low, high;
  double usual_low, usual_high;
  const char *unit;    /* or the words of a choice, separated by '|' */
  const char *readers; /* methods that read it, as far as the row says: ask scree_parameter_readers */
  const char *help;
  size_t offset; /* of the member in the section's definition struct */
} ScreeParameter;

/* The table, in order of sections; NULL beyond its end. A key that several methods have is there once. */
SCREE_API int32_t scree_parameter_count(void);
SCREE_API const ScreeParameter *scree_parameter(int32_t index);
/* Names of the methods (of a probe's key: of the kinds) that read it, separated by blanks; "" when all do. Returns
 * text. */
SCREE_API const char *scree_parameter_readers(const ScreeParameter *parameter, char *text, size_t size);

/* A kind of probe, by SCREE_PROBE_...; NULL beyond SCREE_PROBE_KINDS. */
typedef struct ScreeProbeInfo {
  const char *kind;
  const char *unit;
  const char *columns; /* what follows the probe's name in a header, separated by ','; "" for a scalar */
  const char *keys;    /* that it reads beside name and kind, separated by blanks */
  const char *help;
} ScreeProbeInfo;
SCREE_API const ScreeProbeInfo *scree_probe_info(int32_t kind);

#ifdef __cplusplus
}
#endif
#endif
