#include "output/frame_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/base64.h"

Status frame_damaged(Core *core, const char *path, const char *what) {
  return fail_at(core, SCREE_BAD_INPUT, path, (ScreeSource){0, 0}, "damaged frame: %s", what);
}

Status frame_columns_create(Core *core, FrameColumns *columns, int64_t count) {
  columns->count = count;
  columns->time = NAN;
  columns->origin = (ScreeVec3){0, 0, 0};
  columns->columns = FRAME_VELOCITY | FRAME_ID;
  TRY(memory_new(core, &columns->numbers, COLUMN_FLOATS * count + 1, "frame"));
  TRY(memory_new(core, &columns->ids, count + 1, "frame"));
  return memory_new(core, &columns->materials, count + 1, "frame");
}

void frame_columns_destroy(Core *core, FrameColumns *columns) {
  memory_drop(core, &columns->numbers);
  memory_drop(core, &columns->ids);
  memory_drop(core, &columns->materials);
  columns->count = 0;
}

/* ---- PLY ---- */

typedef enum PlyType {
  PLY_INT8,
  PLY_UINT8,
  PLY_INT16,
  PLY_UINT16,
  PLY_INT32,
  PLY_UINT32,
  PLY_FLOAT,
  PLY_DOUBLE
} PlyType;

static const struct {
  const char *name, *sized_name;
  PlyType type;
  int bytes;
} ply_types[] = {{"char", "int8", PLY_INT8, 1},      {"uchar", "uint8", PLY_UINT8, 1},
                 {"short", "int16", PLY_INT16, 2},   {"ushort", "uint16", PLY_UINT16, 2},
                 {"int", "int32", PLY_INT32, 4},     {"uint", "uint32", PLY_UINT32, 4},
                 {"float", "float32", PLY_FLOAT, 4}, {"double", "float64", PLY_DOUBLE, 8}};

enum { PLY_COLUMNS = COLUMN_FLOATS + 2, PLY_ID = COLUMN_FLOATS, PLY_MATERIAL };
static const char *const ply_names[PLY_COLUMNS] = {"x", "y", "z", "vx", "vy", "vz", "radius", "id", "material"};

typedef struct PlyHeader {
  bool little_endian, in_vertex, has_vertex, ended;
  int64_t count, row; /* bytes of a row */
  double time;
  int64_t offsets[PLY_COLUMNS]; /* in a row; -1: not there */
  PlyType types[PLY_COLUMNS];
} PlyHeader;

static double ply_value(const unsigned char *at, PlyType type) {
  int8_t i8;
  int16_t i16;
  uint16_t u16;
  int32_t i32;
  uint32_t u32;
  float f;
  double d;
#define AS(variable) (memcpy(&(variable), at, sizeof(variable)), (double)(variable))
  switch (type) {
  case PLY_INT8: return AS(i8);
  case PLY_UINT8: return at[0];
  case PLY_INT16: return AS(i16);
  case PLY_UINT16: return AS(u16);
  case PLY_INT32: return AS(i32);
  case PLY_UINT32: return AS(u32);
  case PLY_FLOAT: return AS(f);
  case PLY_DOUBLE: return AS(d);
  }
#undef AS
  return 0;
}

static const char *ply_property(PlyHeader *header, const char *line) {
  char type[32], name[64];
  if (sscanf(line, "property %31s %63s", type, name) != 2) return "unreadable property";
  for (size_t t = 0; t < sizeof ply_types / sizeof *ply_types; t++) {
    if (strcmp(type, ply_types[t].name) != 0 && strcmp(type, ply_types[t].sized_name) != 0) continue;
    for (int c = 0; c < PLY_COLUMNS; c++)
      if (strcmp(name, ply_names[c]) == 0) {
        header->offsets[c] = header->row;
        header->types[c] = ply_types[t].type;
      }
    header->row += ply_types[t].bytes;
    return NULL;
  }
  return "particles have properties of an unknown type";
}

static const char *ply_line(PlyHeader *header, const char *line) {
  char word[32];
  if (sscanf(line, "%31s", word) != 1) return NULL;
  if (strcmp(word, "format") == 0) header->little_endian = strstr(line, "binary_little_endian") != NULL;
  else if (strcmp(word, "comment") == 0) sscanf(line, "comment time %lf", &header->time);
  else if (strcmp(word, "element") == 0) {
    long long count = -1;
    bool vertex = strncmp(line, "element vertex ", 15) == 0;
    if (!vertex && !header->has_vertex) return "particles are not its first element";
    header->in_vertex = vertex;
    if (!vertex) return NULL;
    if (header->has_vertex || sscanf(line + 15, "%lld", &count) != 1 || count < 0) return "wrong number of particles";
    header->has_vertex = true;
    header->count = count;
  } else if (strcmp(word, "property") == 0) return header->in_vertex ? ply_property(header, line) : NULL;
  else if (strcmp(word, "end_header") == 0) header->ended = true;
  return NULL;
}

/* Returns what is wrong, or NULL; *at moves behind the header. */
static const char *ply_header(PlyHeader *header, const char *data, int64_t size, int64_t *at) {
  *header = (PlyHeader){.time = NAN};
  for (int c = 0; c < PLY_COLUMNS; c++) header->offsets[c] = -1;
  if (size < 4 || memcmp(data, "ply", 3) != 0) return "not a PLY file";
  while (!header->ended) {
    char line[256];
    int64_t length = 0;
    while (*at + length < size && data[*at + length] != '\n') length++;
    if (*at + length >= size) return "header ends early";
    if (length >= (int64_t)sizeof line) return "header has an endless line";
    memcpy(line, data + *at, (size_t)length);
    line[length] = 0;
    *at += length + 1;
    const char *wrong = ply_line(header, line);
    if (wrong) return wrong;
  }
  if (!header->little_endian) return "not binary little-endian";
  for (int c = COLUMN_X; c <= COLUMN_Z; c++)
    if (header->offsets[c] < 0) return "no particles with x, y, z";
  if (header->count > (size - *at) / header->row) return "promises more particles than it holds";
  return NULL;
}

/* Of one row; the columns that it has. */
static void ply_row(const PlyHeader *header, const unsigned char *row, int64_t i, FrameColumns *columns) {
  for (int c = 0; c < PLY_COLUMNS; c++) {
    if (header->offsets[c] < 0) continue;
    double value = ply_value(row + header->offsets[c], header->types[c]);
    if (c < COLUMN_FLOATS) columns->numbers[c * header->count + i] = (float)value;
    else if (c == PLY_ID) columns->ids[i] = value >= 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
    else columns->materials[i] = value >= 0 && value <= UINT8_MAX ? (uint8_t)value : 0;
  }
}

/* Whether the columns are those that scree writes, in that order. */
static bool ply_ours(const PlyHeader *header) {
  for (int c = 0; c < PLY_COLUMNS; c++) {
    PlyType type = c < COLUMN_FLOATS ? PLY_FLOAT : c == PLY_ID ? PLY_UINT32 : PLY_UINT8;
    if (header->offsets[c] != 4 * c || header->types[c] != type) return false;
  }
  return header->row == 4 * PLY_MATERIAL + 1;
}

static void ply_rows(const PlyHeader *header, const unsigned char *rows, FrameColumns *columns) {
  bool ours = ply_ours(header);
  int64_t n = header->count;
  for (int64_t i = 0; i < n; i++) {
    const unsigned char *row = rows + i * header->row;
    if (!ours) {
      ply_row(header, row, i, columns);
      continue;
    }
    for (int c = 0; c < COLUMN_FLOATS; c++) memcpy(&columns->numbers[c * n + i], row + 4 * c, 4);
    memcpy(&columns->ids[i], row + 4 * PLY_ID, 4);
    columns->materials[i] = row[4 * PLY_MATERIAL];
  }
}

Status frame_read_ply(Core *core, const char *path, const char *data, int64_t size, FrameColumns *columns) {
  PlyHeader header;
  int64_t at = 0;
  const char *wrong = ply_header(&header, data, size, &at);
  if (wrong) return frame_damaged(core, path, wrong);
  TRY(frame_columns_create(core, columns, header.count));
  columns->time = header.time;
  columns->columns =
      (header.offsets[COLUMN_VX] >= 0 ? FRAME_VELOCITY : 0u) | (header.offsets[PLY_ID] >= 0 ? FRAME_ID : 0u);
  ply_rows(&header, (const unsigned char *)data + at, columns);
  return SCREE_OK;
}

/* ---- VTP: files of our own writer ---- */

/* The text of the array `name`, up to the tag that ends it; NULL when it is not there in the expected form. */
static const char *vtp_array(const char *data, const char *name, const char *type, int64_t *length) {
  char tag[96];
  snprintf(tag, sizeof tag, "<DataArray type=\"%s\" Name=\"%s\"", type, name);
  const char *at = strstr(data, tag);
  const char *text = at ? strchr(at, '>') : NULL;
  const char *format = at ? strstr(at, "format=\"binary\"") : NULL;
  const char *end = text ? strchr(text, '<') : NULL;
  if (!end || !format || format > text) return NULL;
  *length = end - text - 1;
  return text + 1;
}

/* Decodes an array of `bytes` bytes into block + 8, its length before it. */
static bool vtp_decode(const char *data, const char *name, const char *type, char *block, int64_t bytes) {
  int64_t length = 0;
  const char *text = vtp_array(data, name, type, &length);
  uint64_t promised = 0;
  if (!text || base64_decode(text, length, block, bytes + 8) != bytes + 8) return false;
  memcpy(&promised, block, sizeof promised);
  return promised == (uint64_t)bytes;
}

static void split_triples(const char *block, float *columns, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) memcpy(&columns[k * count + i], block + 4 * (3 * i + k), 4);
}

static bool vtp_columns(const char *data, char *block, FrameColumns *columns) {
  int64_t n = columns->count;
  if (!vtp_decode(data, "points", "Float32", block, 12 * n)) return false;
  split_triples(block + 8, columns->numbers + COLUMN_X * n, n);
  if (!vtp_decode(data, "velocity", "Float32", block, 12 * n)) return false;
  split_triples(block + 8, columns->numbers + COLUMN_VX * n, n);
  if (!vtp_decode(data, "radius", "Float32", block, 4 * n)) return false;
  memcpy(columns->numbers + COLUMN_RADIUS * n, block + 8, (size_t)(4 * n));
  if (!vtp_decode(data, "id", "UInt32", block, 4 * n)) return false;
  memcpy(columns->ids, block + 8, (size_t)(4 * n));
  if (!vtp_decode(data, "material", "UInt8", block, n)) return false;
  memcpy(columns->materials, block + 8, (size_t)n);
  return true;
}

Status frame_read_vtp(Core *core, const char *path, const char *data, int64_t size, FrameColumns *columns) {
  const char *points = strstr(data, "NumberOfPoints=\"");
  long long count = -1;
  if (!points || !strstr(data, "header_type=\"UInt64\"") || sscanf(points + 16, "%lld", &count) != 1 || count < 0)
    return frame_damaged(core, path, "not a VTP file of scree");
  if (count > size / 16) return frame_damaged(core, path, "promises more particles than it holds");
  TRY(frame_columns_create(core, columns, count));
  const char *time = strstr(data, "Name=\"TimeValue\"");
  time = time ? strchr(time, '>') : NULL;
  if (time) columns->time = strtod(time + 1, NULL);
  char *block = NULL;
  TRY(memory_new(core, &block, 12 * count + 8, "frame"));
  bool good = vtp_columns(data, block, columns);
  memory_drop(core, &block);
  return good ? SCREE_OK : frame_damaged(core, path, "an array is missing or incomplete");
}
