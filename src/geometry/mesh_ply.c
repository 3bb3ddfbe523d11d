/* PLY: ASCII, binary little and big endian, with any further elements, properties and lists. */
#include <stdio.h>
#include <string.h>

#include "geometry/mesh_builder.h"
#include "geometry/text.h"

typedef enum PlyType { PLY_NONE, PLY_I8, PLY_U8, PLY_I16, PLY_U16, PLY_I32, PLY_U32, PLY_F32, PLY_F64 } PlyType;
typedef enum PlyRole { ROLE_SKIP, ROLE_X, ROLE_Y, ROLE_Z, ROLE_CORNERS } PlyRole;
typedef enum PlyFormat { PLY_UNKNOWN, PLY_ASCII, PLY_LITTLE, PLY_BIG } PlyFormat;

typedef struct PlyProperty {
  PlyType count_type; /* of a list; PLY_NONE: a single value */
  PlyType type;
  PlyRole role;
} PlyProperty;

typedef struct PlyElement {
  enum { PLY_OTHER, PLY_VERTEX, PLY_FACE } kind;
  int64_t count;
  int property_begin, property_end;
} PlyElement;

enum { PLY_ELEMENTS_MAX = 64, PLY_PROPERTIES_MAX = 512 };

typedef struct PlyReader {
  Text text;
  const char *data;
  MeshBuilder *builder;
  PlyFormat format;
  PlyElement elements[PLY_ELEMENTS_MAX];
  int element_count;
  PlyProperty properties[PLY_PROPERTIES_MAX];
  int property_count;
  int64_t vertex_count; /* promised */
  int32_t *corners;
} PlyReader;

static int type_size(PlyType type) {
  static const int sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 8};
  return sizes[type];
}

static PlyType type_named(const char *word, int64_t length) {
  static const struct {
    const char *name;
    PlyType type;
  } names[] = {{"char", PLY_I8},   {"uchar", PLY_U8},   {"short", PLY_I16},   {"ushort", PLY_U16},
               {"int", PLY_I32},   {"uint", PLY_U32},   {"float", PLY_F32},   {"double", PLY_F64},
               {"int8", PLY_I8},   {"uint8", PLY_U8},   {"int16", PLY_I16},   {"uint16", PLY_U16},
               {"int32", PLY_I32}, {"uint32", PLY_U32}, {"float32", PLY_F32}, {"float64", PLY_F64}};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (text_is(word, length, names[k].name)) return names[k].type;
  return PLY_NONE;
}

static int64_t next_word(Text *text, const char **word) {
  text_skip_blanks(text);
  return text_word(text, word);
}

static Status read_type(Text *text, PlyType *type) {
  text_skip_blanks(text);
  Text at = *text;
  const char *word;
  int64_t length = text_word(text, &word);
  *type = type_named(word, length);
  if (*type == PLY_NONE) return text_fail(&at, "'%.*s' is not a type of PLY", (int)(length < 40 ? length : 40), word);
  return SCREE_OK;
}

static Status read_format(PlyReader *reader) {
  const char *word;
  int64_t length = next_word(&reader->text, &word);
  if (text_is(word, length, "ascii")) reader->format = PLY_ASCII;
  else if (text_is(word, length, "binary_little_endian")) reader->format = PLY_LITTLE;
  else if (text_is(word, length, "binary_big_endian")) reader->format = PLY_BIG;
  else return text_fail(&reader->text, "unknown format '%.*s'", (int)(length < 40 ? length : 40), word);
  return SCREE_OK;
}

static Status read_element(PlyReader *reader) {
  if (reader->element_count == PLY_ELEMENTS_MAX)
    return text_fail(&reader->text, "more than %d elements", PLY_ELEMENTS_MAX);
  PlyElement *element = &reader->elements[reader->element_count++];
  *element = (PlyElement){.property_begin = reader->property_count, .property_end = reader->property_count};
  const char *word;
  int64_t length = next_word(&reader->text, &word);
  if (text_is(word, length, "vertex")) element->kind = PLY_VERTEX;
  else if (text_is(word, length, "face")) element->kind = PLY_FACE;
  text_skip_blanks(&reader->text);
  TRY(text_integer(&reader->text, &element->count));
  if (element->count < 0) return text_fail(&reader->text, "an element with a negative count");
  if (element->kind == PLY_VERTEX) {
    if (reader->vertex_count) return text_fail(&reader->text, "a second element of vertices");
    reader->vertex_count = element->count;
  }
  return SCREE_OK;
}

static PlyRole role_of(const PlyElement *element, bool list, const char *word, int64_t length) {
  if (element->kind == PLY_VERTEX && !list) {
    if (text_is(word, length, "x")) return ROLE_X;
    if (text_is(word, length, "y")) return ROLE_Y;
    if (text_is(word, length, "z")) return ROLE_Z;
  }
  if (element->kind == PLY_FACE && list &&
      (text_is(word, length, "vertex_indices") || text_is(word, length, "vertex_index")))
    return ROLE_CORNERS;
  return ROLE_SKIP;
}

static Status read_property(PlyReader *reader) {
  if (reader->element_count == 0) return text_fail(&reader->text, "a property before the first element");
  if (reader->property_count == PLY_PROPERTIES_MAX)
    return text_fail(&reader->text, "more than %d properties", PLY_PROPERTIES_MAX);
  PlyElement *element = &reader->elements[reader->element_count - 1];
  PlyProperty *property = &reader->properties[reader->property_count++];
  *property = (PlyProperty){0};
  element->property_end = reader->property_count;
  Text at = reader->text;
  const char *word;
  int64_t length = next_word(&reader->text, &word);
  bool list = text_is(word, length, "list");
  if (list) {
    TRY(read_type(&reader->text, &property->count_type));
    if (property->count_type >= PLY_F32) return text_fail(&reader->text, "a list is counted in whole numbers");
  } else {
    reader->text = at;
  }
  TRY(read_type(&reader->text, &property->type));
  length = next_word(&reader->text, &word);
  property->role = role_of(element, list, word, length);
  return SCREE_OK;
}

/* Through the line of end_header: the body begins at the very next byte. */
static Status read_header(PlyReader *reader) {
  Text *text = &reader->text;
  text_next_line(text); /* "ply" */
  for (;;) {
    if (!text_skip_space(text)) return text_fail(text, "the file ends within its header");
    Text at = *text;
    const char *word;
    int64_t length = text_word(text, &word);
    if (text_is(word, length, "end_header")) break;
    if (text_is(word, length, "format")) TRY(read_format(reader));
    else if (text_is(word, length, "element")) TRY(read_element(reader));
    else if (text_is(word, length, "property")) TRY(read_property(reader));
    else if (!text_is(word, length, "comment") && !text_is(word, length, "obj_info"))
      return text_fail(&at, "'%.*s' does not belong into a PLY header", (int)(length < 40 ? length : 40), word);
    text_next_line(text);
  }
  text_next_line(text);
  if (reader->format == PLY_UNKNOWN) return text_fail(text, "the header names no format");
  return SCREE_OK;
}

/* The place for messages: a line of an ASCII file, a byte of a binary one. */
static Status ply_fail(const PlyReader *reader, const char *what) {
  if (reader->format == PLY_ASCII) return text_fail(&reader->text, "%s", what);
  return fail_at(reader->text.core, SCREE_BAD_INPUT, reader->text.name, (ScreeSource){0, 0}, "byte %lld: %s",
                 (long long)(reader->text.at - reader->data), what);
}

static double decode(PlyType type, uint64_t bits) {
  float single;
  double real;
  uint32_t low = (uint32_t)bits;
  switch (type) {
  case PLY_I8: return (int8_t)bits;
  case PLY_U8: return (uint8_t)bits;
  case PLY_I16: return (int16_t)bits;
  case PLY_U16: return (uint16_t)bits;
  case PLY_I32: return (int32_t)bits;
  case PLY_U32: return low;
  case PLY_F32: memcpy(&single, &low, sizeof single); return (double)single;
  case PLY_F64: memcpy(&real, &bits, sizeof real); return real;
  case PLY_NONE: break;
  }
  return 0;
}

static Status read_value(PlyReader *reader, PlyType type, double *value) {
  Text *text = &reader->text;
  if (reader->format == PLY_ASCII) {
    if (!text_skip_space(text)) return text_fail(text, "the file ends before the data that its header promises");
    return text_number(text, value);
  }
  int size = type_size(type);
  if (text->end - text->at < size) return ply_fail(reader, "the file ends before the data that its header promises");
  uint64_t bits = 0;
  for (int k = 0; k < size; k++)
    bits |= (uint64_t)(unsigned char)text->at[k] << 8 * (reader->format == PLY_LITTLE ? k : size - 1 - k);
  text->at += size;
  *value = decode(type, bits);
  return SCREE_OK;
}

static Status skip_value(PlyReader *reader, PlyType type) {
  Text *text = &reader->text;
  if (reader->format == PLY_ASCII) {
    /* Not parsed: what is skipped may be NaN. */
    const char *word;
    if (!text_skip_space(text)) return text_fail(text, "the file ends before the data that its header promises");
    text_word(text, &word);
    return SCREE_OK;
  }
  double ignored;
  return read_value(reader, type, &ignored);
}

static Status read_list(PlyReader *reader, const PlyProperty *property) {
  double length = 0;
  TRY(read_value(reader, property->count_type, &length));
  if (!(length >= 0 && length <= (double)(reader->text.end - reader->text.at) + 1))
    return ply_fail(reader, "a list longer than the rest of the file");
  int64_t count = (int64_t)length;
  if (property->role != ROLE_CORNERS) {
    for (int64_t k = 0; k < count; k++) TRY(skip_value(reader, property->type));
    return SCREE_OK;
  }
  if (count < 3) return ply_fail(reader, "a face with fewer than three corners");
  for (int64_t k = 0; k < count; k++) {
    double index = 0;
    TRY(read_value(reader, property->type, &index));
    if (!(index >= 0 && index < (double)reader->vertex_count))
      return ply_fail(reader, "a face refers to a vertex that is not there");
    TRY(memory_grow(reader->text.core, &reader->corners, k + 1, "face corners"));
    reader->corners[k] = (int32_t)index;
  }
  return builder_polygon(reader->builder, reader->corners, count);
}

static Status read_row(PlyReader *reader, const PlyElement *element) {
  Vec3 p = vec3(0, 0, 0);
  for (int k = element->property_begin; k < element->property_end; k++) {
    const PlyProperty *property = &reader->properties[k];
    if (property->count_type != PLY_NONE) TRY(read_list(reader, property));
    else if (property->role == ROLE_X) TRY(read_value(reader, property->type, &p.x));
    else if (property->role == ROLE_Y) TRY(read_value(reader, property->type, &p.y));
    else if (property->role == ROLE_Z) TRY(read_value(reader, property->type, &p.z));
    else TRY(skip_value(reader, property->type));
  }
  if (element->kind != PLY_VERTEX) return SCREE_OK;
  if (!mesh_coordinate_good(p)) return ply_fail(reader, "coordinates that are not finite or too large");
  return builder_vertex(reader->builder, p);
}

/* Refuses promises that the rest of the file cannot hold, before anything is done for them. */
static Status check_promise(const PlyReader *reader, const PlyElement *element) {
  int64_t least = 0, rest = reader->text.end - reader->text.at;
  for (int k = element->property_begin; k < element->property_end; k++) {
    const PlyProperty *property = &reader->properties[k];
    PlyType type = property->count_type != PLY_NONE ? property->count_type : property->type;
    least += reader->format == PLY_ASCII ? 2 : type_size(type); /* a digit and a blank, but for the last */
  }
  if (least > 0 && element->count > (rest + 1) / least) {
    char what[160];
    snprintf(what, sizeof what, "the header promises %lld elements of at least %lld bytes, but %lld bytes are left",
             (long long)element->count, (long long)least, (long long)rest);
    return ply_fail(reader, what);
  }
  return SCREE_OK;
}

static Status check_roles(const PlyReader *reader, const PlyElement *element) {
  int found = 0, corners = 0;
  for (int k = element->property_begin; k < element->property_end; k++) {
    if (reader->properties[k].role == ROLE_CORNERS) corners++;
    else if (reader->properties[k].role != ROLE_SKIP) found |= 1 << reader->properties[k].role;
  }
  if (element->kind == PLY_VERTEX && found != (1 << ROLE_X | 1 << ROLE_Y | 1 << ROLE_Z))
    return ply_fail(reader, "vertices need x, y and z");
  if (element->kind == PLY_FACE && corners != 1) return ply_fail(reader, "faces need one list vertex_indices");
  return SCREE_OK;
}

static Status read_ply(PlyReader *reader) {
  TRY(read_header(reader));
  if (reader->vertex_count >= INT32_MAX) return text_fail(&reader->text, "the header promises too many vertices");
  for (int e = 0; e < reader->element_count; e++) {
    const PlyElement *element = &reader->elements[e];
    TRY(check_roles(reader, element));
    TRY(check_promise(reader, element));
    if (element->property_begin == element->property_end) continue;
    for (int64_t i = 0; i < element->count; i++) TRY(read_row(reader, element));
  }
  return SCREE_OK;
}

Status mesh_parse_ply(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh) {
  MeshBuilder builder = {.core = core, .name = name};
  PlyReader *reader = NULL;
  TRY(memory_new(core, &reader, 1, "PLY reader"));
  reader->builder = &builder;
  reader->data = data;
  text_begin(&reader->text, core, name, data, size);
  Status status = read_ply(reader);
  memory_drop(core, &reader->corners);
  memory_drop(core, &reader);
  return builder_finish(&builder, status, mesh);
}
