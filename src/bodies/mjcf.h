/* The files of a mechanism, gathered before MuJoCo sees any of them.
 *
 * MuJoCo opens whatever a model names. Here the XML is scanned for references first (include, mesh, texture, height
 * field, skin), each is looked up beside the model or among the shipped assets, never outside, read by us, and handed
 * over from memory. Meshes are parsed by our own loaders and written anew, so that MuJoCo's parsers only ever see
 * clean files. Knows nothing of MuJoCo's API. */
#ifndef BODIES_MJCF_H
#define BODIES_MJCF_H

#include "bodies/bodies.h"

enum { MJCF_NAME_MAX = 256 };
/* Name of a geom of the world that is added to every model: it collides with nothing and stands for the scene. */
#define MJCF_ANCHOR "scree anchor"

typedef struct MjcfFile {
  char name[MJCF_NAME_MAX];  /* without folders, lower case: how MuJoCo looks files up */
  char path[SCREE_FILE_MAX]; /* of XML, for messages; "": no XML */
  char *data;
  int64_t size;
} MjcfFile;

typedef struct Mjcf {
  MjcfFile *files; /* the model itself is the first */
  int32_t count;
  int64_t behind_root; /* place in the model behind the start of its root element; 0: it has nothing in it */
  int root_line;
  bool has_includes; /* line numbers of MuJoCo's messages may be those of an included file */
} Mjcf;

/* `path` is the resolved model file. Errors name the XML file and the line. */
Status mjcf_gather(Core *core, const BodiesPlan *plan, const char *path, Mjcf *mjcf);
/* The file and place where an element, an attribute or a whole value is first called so; false: nowhere. */
bool mjcf_find_word(Core *core, const Mjcf *mjcf, const char *word, const char **path, ScreeSource *place);
void mjcf_destroy(Core *core, Mjcf *mjcf);

#endif
