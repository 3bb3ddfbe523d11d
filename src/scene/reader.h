/* From nodes to definitions: values by their row of the parameter table, mappings by section. */
#ifndef SCENE_READER_H
#define SCENE_READER_H

#include "parameters/table.h"
#include "scene/tree.h"

enum { WARNINGS_MAX = 100, NAME_LENGTH_MAX = 63, TEXT_LENGTH_MAX = 4000 };

typedef struct Warning Warning;
typedef struct Reader {
  Core *core;
  Tree *tree;
  Arena *arena; /* of the scene: what definitions point to */
  const ScreeSceneOptions *options;
  int warnings;
  Warning *first_warning, *last_warning;
  ScreeSceneDef *scene;
  const char *reader;        /* the method, or the kind of the probe in hand; NULL: nobody yet */
  char readers[READERS_MAX]; /* the method and who else reads keys of this scene */
  NameSet solids;            /* names of boundaries and bodies */
  NameSet probes;            /* their names */
  NameSet columns;           /* of probes.csv */
} Reader;

void warn(Reader *reader, Place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Hands them to the caller's function. */
void say_warnings(Reader *reader);

/* Where a shape stands. */
typedef enum ShapePlace {
  SHAPE_NOWHERE,
  SHAPE_OF_FILL,
  SHAPE_OF_EMITTER,
  SHAPE_OF_SINK,
  SHAPE_OF_BOUNDARY,
  SHAPE_OF_BODY,
  SHAPE_OF_PROBE
} ShapePlace;

/* A mapping whose keys come from the rows of sections, from the shapes that may stand there, and from `words` that the
 * caller reads itself. */
typedef struct MappingPart {
  Section section;
  void *definition;
} MappingPart;
typedef struct Mapping {
  const char *what; /* `a boundary`, for messages */
  MappingPart parts[3];
  int part_count;
  ShapePlace place;         /* its shape is read by read_shape */
  const char *const *words; /* NULL-terminated, or NULL */
} Mapping;

/* Says so where nobody in the scene reads the key. */
void warn_unread(Reader *reader, const Node *node, const ScreeParameter *row);

/* Defaults first, then every key; unknown ones and missing required ones are refused. NODE_NOTHING reads as {}. */
Status read_mapping(Reader *reader, const Node *node, const Mapping *mapping);

/* One value into its member. */
Status read_value(Reader *reader, const Node *node, const ScreeParameter *row, void *member);
/* Letters, digits, _ and -: fit for columns of a table, paths of --set and names of files. */
Status check_name(Reader *reader, const Node *node, const char *name);
Status expect_kind(Reader *reader, const Node *node, NodeKind kind, const char *expected);
ScreeSource node_source(const Node *node);

/* shapes.c: the words of shapes, those of SCREE_SHAPES and `mesh`. */
#define SHAPE_WORD_ONE(...) +1
enum { SHAPE_WORD_MESH = SCREE_SHAPES(SHAPE_WORD_ONE), SHAPE_WORDS };
const char *shape_word(int index);
bool shape_stands(ShapePlace place, int index);   /* whether it may stand there */
int shape_at(ShapePlace place, const char *word); /* its index; -1: none that may stand there */
/* Reads the one shape among the keys of a mapping. optional: SCREE_SHAPE_NONE when there is none. */
Status read_shape(Reader *reader, const Node *map, ShapePlace place, bool optional, ScreeShapeDef *shape);

/* solids.c, sources.c: sections of a scene. */
typedef Status (*EntryReader)(Reader *reader, const Node *node, void *entry);
Status read_list(Reader *reader, const char *key, EntryReader read, void **entries, int64_t size, int32_t *count);
Status read_solids(Reader *reader);
Status read_sources(Reader *reader);
Status read_probes(Reader *reader);

/* interpret.c */
Status scene_interpret(Reader *reader);

#endif
