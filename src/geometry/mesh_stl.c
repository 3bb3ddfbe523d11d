/* STL, binary and ASCII. Corners of equal position become one vertex. */
#include <string.h>

#include "geometry/mesh_builder.h"
#include "geometry/text.h"

enum { STL_HEADER = 84, STL_RECORD = 50 };

static uint32_t little_u32(const unsigned char *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double little_float(const unsigned char *p) {
  uint32_t bits = little_u32(p);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static int64_t promised(const void *data) { return little_u32((const unsigned char *)data + 80); }

static bool binary_fits(const void *data, int64_t size) {
  return size >= STL_HEADER && size == STL_HEADER + STL_RECORD * promised(data);
}

static bool begins_solid(const void *data, int64_t size) {
  const char *text = data;
  int64_t k = 0;
  while (k < size && (text_is_blank(text[k]) || text_is_break(text[k]))) k++;
  return size - k >= 5 && text_is(text + k, 5, "solid");
}

bool mesh_stl_plausible(const void *data, int64_t size) { return binary_fits(data, size) || begins_solid(data, size); }

/* Many programs begin the 80 free bytes of a binary file with "solid": the length decides, and where that is odd too,
 * whether the start has bytes that no text has. */
static bool is_binary(const void *data, int64_t size) {
  if (binary_fits(data, size)) return true;
  if (!begins_solid(data, size)) return true;
  const unsigned char *bytes = data;
  for (int64_t k = 0; k < size && k < 512; k++)
    if (bytes[k] == 0) return true;
  return false;
}

static Status read_binary(MeshBuilder *builder, const unsigned char *data, int64_t size) {
  ScreeSource nowhere = {0, 0};
  if (size < STL_HEADER)
    return fail_at(builder->core, SCREE_BAD_INPUT, builder->name, nowhere,
                   "byte %lld: the file ends within the header of a binary STL", (long long)size);
  int64_t count = promised(data), held = (size - STL_HEADER) / STL_RECORD;
  if (count > held)
    return fail_at(builder->core, SCREE_BAD_INPUT, builder->name, nowhere,
                   "byte %lld: the file ends after %lld of the %lld triangles that its header promises",
                   (long long)size, (long long)held, (long long)count);
  TRY(builder_reserve(builder, 0, count));
  for (int64_t t = 0; t < count; t++) {
    const unsigned char *record = data + STL_HEADER + STL_RECORD * t;
    int32_t corner[3];
    for (int k = 0; k < 3; k++) {
      const unsigned char *at = record + 12 * (k + 1);
      Vec3 p = vec3(little_float(at), little_float(at + 4), little_float(at + 8));
      if (!mesh_coordinate_good(p))
        return fail_at(builder->core, SCREE_BAD_INPUT, builder->name, nowhere,
                       "byte %lld: triangle %lld has coordinates that are not finite or beyond %g",
                       (long long)(at - data), (long long)t, MESH_COORDINATE_MAX);
      TRY(vertex_set_add(builder->core, &builder->set, p, &corner[k]));
    }
    TRY(builder_triangle(builder, corner[0], corner[1], corner[2]));
  }
  return SCREE_OK;
}

static Status read_corner(MeshBuilder *builder, Text *text, int32_t *corner) {
  double p[3];
  for (int k = 0; k < 3; k++) {
    if (!text_skip_space(text)) return text_fail(text, "the file ends within a vertex");
    TRY(text_number(text, &p[k]));
  }
  Vec3 vertex = vec3(p[0], p[1], p[2]);
  if (!mesh_coordinate_good(vertex)) return text_fail(text, "coordinates beyond %g", MESH_COORDINATE_MAX);
  return vertex_set_add(builder->core, &builder->set, vertex, corner);
}

static Status read_ascii(MeshBuilder *builder, const void *data, int64_t size) {
  Text text;
  text_begin(&text, builder->core, builder->name, data, size);
  int32_t corner[3];
  int corners = 0;
  bool in_facet = false, in_solid = false;
  while (text_skip_space(&text)) {
    Text at = text;
    const char *word;
    int64_t length = text_word(&text, &word);
    if (text_is(word, length, "vertex")) {
      if (!in_facet || corners == 3) return text_fail(&at, "a vertex that belongs to no triangle");
      TRY(read_corner(builder, &text, &corner[corners++]));
    } else if (text_is(word, length, "endfacet")) {
      if (corners != 3) return text_fail(&at, "a facet with %d vertices", corners);
      TRY(builder_triangle(builder, corner[0], corner[1], corner[2]));
      in_facet = false;
    } else if (text_is(word, length, "facet")) {
      if (in_facet) return text_fail(&at, "a facet within a facet");
      in_facet = true;
      corners = 0;
      text_next_line(&text); /* the normal follows from the corners */
    } else if (text_is(word, length, "solid") || text_is(word, length, "endsolid")) {
      in_solid = text_is(word, length, "solid");
      text_next_line(&text);
    } else if (!text_is(word, length, "outer") && !text_is(word, length, "loop") && !text_is(word, length, "endloop")) {
      return text_fail(&at, "'%.*s' does not belong into an STL file", (int)(length < 40 ? length : 40), word);
    }
  }
  if (in_facet || in_solid) return text_fail(&text, "the file ends before endsolid");
  return SCREE_OK;
}

Status mesh_parse_stl(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh) {
  MeshBuilder builder = {.core = core, .name = name};
  Status status = is_binary(data, size) ? read_binary(&builder, data, size) : read_ascii(&builder, data, size);
  return builder_finish(&builder, status, mesh);
}
