/* Wavefront OBJ: `v` and `f` lines; everything else is passed over.
 *
 * Read twice: all vertices first, then the faces, so that a face may refer to vertices further down. */
#include "geometry/mesh_builder.h"
#include "geometry/text.h"

typedef struct ObjReader {
  Text text;
  MeshBuilder *builder;
  int64_t vertices_so_far; /* negative indices count from here */
  int32_t *corners;        /* of the face in progress */
} ObjReader;

/* The keyword of the line: 'v', 'f' or 0 for any other; the reader then stands behind it. */
static char keyword(Text *text) {
  if (!text_skip_blanks(text)) return 0;
  const char *word;
  int64_t length = text_word(text, &word);
  return length == 1 && (*word == 'v' || *word == 'f') ? *word : 0;
}

static Status read_vertex(ObjReader *reader) {
  double p[3];
  for (int k = 0; k < 3; k++) {
    text_skip_blanks(&reader->text);
    TRY(text_number(&reader->text, &p[k]));
  }
  Vec3 vertex = vec3(p[0], p[1], p[2]);
  if (!mesh_coordinate_good(vertex)) return text_fail(&reader->text, "coordinates beyond %g", MESH_COORDINATE_MAX);
  return builder_vertex(reader->builder, vertex);
}

/* One corner: v, v/vt, v//vn or v/vt/vn. */
static Status read_corner(ObjReader *reader, int32_t *corner) {
  Text *text = &reader->text;
  int64_t index = 0, count = reader->builder->vertex_count;
  Text before = *text;
  TRY(text_integer(text, &index));
  int64_t resolved = index < 0 ? reader->vertices_so_far + index : index - 1;
  if (resolved < 0 || resolved >= count) {
    return text_fail(&before, "a face refers to vertex %lld, but there are %lld", (long long)index,
                     (long long)(index < 0 ? reader->vertices_so_far : count));
  }
  const char *rest;
  int64_t length = text_word(text, &rest);
  for (int64_t k = 0; k < length; k++) {
    bool good = rest[k] == '/' || rest[k] == '-' || (rest[k] >= '0' && rest[k] <= '9');
    if (k == 0) good = rest[k] == '/';
    if (!good) return text_fail(&before, "'%.*s' is not a face corner", (int)(length < 40 ? length : 40), before.at);
  }
  *corner = (int32_t)resolved;
  return SCREE_OK;
}

static Status read_face(ObjReader *reader) {
  Text start = reader->text;
  int64_t count = 0;
  while (text_skip_blanks(&reader->text)) {
    if (*reader->text.at == '#') break;
    TRY(memory_grow(start.core, &reader->corners, count + 1, "face corners"));
    TRY(read_corner(reader, &reader->corners[count++]));
  }
  if (count < 3) return text_fail(&start, "a face with %lld corners", (long long)count);
  return builder_polygon(reader->builder, reader->corners, count);
}

static Status read_lines(ObjReader *reader, char wanted) {
  Text *text = &reader->text;
  while (text->at < text->end) {
    char word = keyword(text);
    if (word == 'v') reader->vertices_so_far++;
    if (word == wanted) TRY(word == 'v' ? read_vertex(reader) : read_face(reader));
    text_next_line(text);
  }
  return SCREE_OK;
}

static Status read_obj(ObjReader *reader, const void *data, int64_t size) {
  MeshBuilder *builder = reader->builder;
  text_begin(&reader->text, builder->core, builder->name, data, size);
  TRY(read_lines(reader, 'v'));
  reader->vertices_so_far = 0;
  text_begin(&reader->text, builder->core, builder->name, data, size);
  return read_lines(reader, 'f');
}

Status mesh_parse_obj(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh) {
  MeshBuilder builder = {.core = core, .name = name};
  ObjReader reader = {.builder = &builder};
  Status status = read_obj(&reader, data, size);
  memory_drop(core, &reader.corners);
  return builder_finish(&builder, status, mesh);
}
