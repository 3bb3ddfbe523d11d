/* Mesh files of every kind, good and hostile; mass properties. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "geometry/mesh.h"

static const double PI = 3.14159265358979323846;

/* A file in memory that grows. */
typedef struct Bytes {
  char data[1 << 16];
  int64_t size;
} Bytes;

static void put(Bytes *bytes, const void *data, size_t size) {
  assert_true((size_t)bytes->size + size <= sizeof bytes->data);
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += (int64_t)size;
}
static void put_text(Bytes *bytes, const char *text) { put(bytes, text, strlen(text)); }
static void put_number(Bytes *bytes, const void *value, size_t size, bool big) {
  char swapped[8];
  for (size_t k = 0; k < size; k++) swapped[k] = ((const char *)value)[big ? size - 1 - k : k];
  put(bytes, swapped, size);
}
static void put_float(Bytes *bytes, double value, bool big) {
  float single = (float)value;
  put_number(bytes, &single, 4, big);
}
static void put_int(Bytes *bytes, int32_t value, bool big) { put_number(bytes, &value, 4, big); }

static Status parse(Core *core, const char *name, const char *text, Mesh *mesh) {
  return mesh_parse(core, name, text, (int64_t)strlen(text), mesh);
}

/* The unit cube with sides 1, 2, 3, closed and outward. */
static void check_block(Core *core, Mesh *mesh) {
  MeshFindings findings;
  assert_int_equal(mesh->vertex_count, 8);
  assert_int_equal(mesh->triangle_count, 12);
  assert_ok(core, mesh_check(core, mesh, &findings));
  assert_true(findings.closed && !findings.inside_out);
  MassProperties mass = mesh_mass_properties(mesh);
  assert_near(mass.volume, 6, 1e-12);
  assert_near(mass.center.z, 1.5, 1e-12);
  mesh_destroy(core, mesh);
}

static const char block_vertices[] =
    "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 1 2 0\nv 0 0 3\nv 1 0 3 1.0 0.5 0.5\nv 0 2 3\nv 1 2 3\n";

static void obj_in_its_spellings(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh mesh;
  char text[2048];
  snprintf(text, sizeof text,
           "# a block\nmtllib x.mtl\n%sf 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n",
           block_vertices);
  assert_ok(&core, parse(&core, "block.obj", text, &mesh));
  check_block(&core, &mesh);
  /* Relative indices, texture and normal indices, a comment behind a face, an escaped line break, CRLF, no last break
   */
  snprintf(
      text, sizeof text,
      "%svt 0 0\nvn 0 0 1\nf -8/1/1 -6/1/1 -5/1/1 -7/1/1 # bottom\r\nf 5//1 6//1 \\\r\n  8//1 7//1\r\n\r\ng sides\n"
      "f 1/1 2/1 6/1 5/1\n\tf 3 7 8 4\nf  1   5 7 3 \no x\ns off\nf 2 4 8 6",
      block_vertices);
  assert_ok(&core, parse(&core, "BLOCK.OBJ", text, &mesh));
  check_block(&core, &mesh);
  /* Faces before their vertices, and only CR as a line break. */
  snprintf(text, sizeof text, "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n%s", block_vertices);
  for (char *c = text; *c; c++)
    if (*c == '\n') *c = '\r';
  assert_ok(&core, parse(&core, "block", text, &mesh));
  check_block(&core, &mesh);
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

static void numbers_are_read_exactly(void **state) {
  (void)state;
  Core core = test_core(1);
  static const char *const numbers[] = {"1",
                                        "-1.5",
                                        "+.25",
                                        "5.",
                                        "1e3",
                                        "1E-3",
                                        "0.1",
                                        "3.14159265358979323846",
                                        "1e-300",
                                        "123456789012345678901234567890e-20",
                                        "0.000000000000000000000000123",
                                        "1.7976931348623157e-308",
                                        "-0",
                                        "4.35",
                                        "0.3333333333333333148",
                                        "123456.789e-3",
                                        "9007199254740993e-5"};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    char text[256];
    Mesh mesh;
    snprintf(text, sizeof text, "v %s 0 0\nv 1e11 1 0\nv 0 1e11 1\nf 1 2 3", numbers[k]);
    assert_ok(&core, parse(&core, "n.obj", text, &mesh));
    double expected = strtod(numbers[k], NULL);
    assert_near(mesh.vertices[0].x, expected, fabs(expected) * 2.3e-16);
    mesh_destroy(&core, &mesh);
  }
  core_destroy(&core);
}

/* Area of a polygon's triangles, all turned the same way: right only when they do not overlap. */
static void check_polygon(Core *core, const char *text, int64_t triangles, double area) {
  Mesh mesh;
  assert_ok(core, parse(core, "polygon.obj", text, &mesh));
  assert_int_equal(mesh.triangle_count, triangles);
  double sum = 0, sum_of_sizes = 0;
  for (int64_t t = 0; t < triangles; t++) {
    Vec3 a = mesh.vertices[mesh.triangles[t][0]];
    Vec3 ab = vec3_sub(mesh.vertices[mesh.triangles[t][1]], a), ac = vec3_sub(mesh.vertices[mesh.triangles[t][2]], a);
    Vec3 cross = vec3_cross(ab, ac);
    sum += 0.5 * cross.z;
    sum_of_sizes += 0.5 * vec3_length(cross);
  }
  assert_near(sum, area, 1e-12);
  assert_near(sum_of_sizes, fabs(area), 1e-12);
  mesh_destroy(core, &mesh);
}

static void concave_polygons(void **state) {
  (void)state;
  Core core = test_core(1);
  check_polygon(&core, "v 0 0 1\nv 2 0 1\nv 2 2 1\nv 1 0.5 1\nv 0 2 1\nf 1 2 3 4 5", 3, 2.5);
  check_polygon(&core, "v 0 0 1\nv 2 0 1\nv 2 2 1\nv 1 0.5 1\nv 0 2 1\nf 5 4 3 2 1", 3, -2.5);
  /* An arrow whose fan from the first corner would overlap itself. */
  check_polygon(&core, "v 1 0.5 0\nv 0 2 0\nv 0 0 0\nv 2 0 0\nv 2 2 0\nf 1 2 3 4 5", 3, 2.5);
  /* Corners in line, and a hole joined to the outside by a seam of two equal edges. */
  check_polygon(&core, "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nf 1 2 3 4 5", 3, 4);
  check_polygon(&core, "v 0 0 0\nv 3 0 0\nv 3 3 0\nv 0 3 0\nv 1 1 0\nv 1 2 0\nv 2 2 0\nv 2 1 0\nf 1 2 3 4 1 5 6 7 8 5",
                8, 8);
  /* A comb of 40 teeth. */
  char text[8192];
  int used = 0, corners = 0;
  for (int k = 0; k < 40; k++) {
    used += snprintf(text + used, sizeof text - (size_t)used, "v %d 1 0\nv %g 2 0\n", -k, -k - 0.5);
    corners += 2;
  }
  used += snprintf(text + used, sizeof text - (size_t)used, "v -40 1 0\nv -40 0 0\nv 0 0 0\nf");
  corners += 3;
  for (int k = 1; k <= corners; k++) used += snprintf(text + used, sizeof text - (size_t)used, " %d", k);
  check_polygon(&core, text, corners - 2, 40 + 20);
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

static const int block_quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                      {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
static Vec3 block_corner(int k) { return vec3(k & 1 ? 1 : 0, k & 2 ? 2 : 0, k & 4 ? 3 : 0); }

static void binary_stl(Bytes *bytes, const char *header, uint32_t promised) {
  static const int pick[2][3] = {{0, 1, 2}, {0, 2, 3}};
  char start[80] = {0};
  snprintf(start, sizeof start, "%s", header);
  put(bytes, start, sizeof start);
  put_int(bytes, (int32_t)promised, false);
  for (int t = 0; t < 12; t++) {
    for (int k = 0; k < 3; k++) put_float(bytes, 0, false);
    for (int k = 0; k < 3; k++) {
      Vec3 p = block_corner(block_quads[t / 2][pick[t % 2][k]]);
      put_float(bytes, p.x, false);
      put_float(bytes, p.y, false);
      put_float(bytes, p.z, false);
    }
    put(bytes, "\0\0", 2);
  }
}

static void stl_both_ways(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh mesh;
  Bytes bytes = {.size = 0};
  binary_stl(&bytes, "some program", 12);
  assert_ok(&core, mesh_parse(&core, "block.stl", bytes.data, bytes.size, &mesh));
  check_block(&core, &mesh);
  bytes.size = 0;
  binary_stl(&bytes, "solid that is binary all the same", 12);
  assert_ok(&core, mesh_parse(&core, "block.stl", bytes.data, bytes.size, &mesh));
  check_block(&core, &mesh);
  bytes.size = 0;
  put_text(&bytes, "solid block of wood\r\n");
  for (int t = 0; t < 12; t++) {
    static const int pick[2][3] = {{0, 1, 2}, {0, 2, 3}};
    put_text(&bytes, "  facet normal nan 0 0\n    outer loop\n");
    for (int k = 0; k < 3; k++) {
      char line[80];
      Vec3 p = block_corner(block_quads[t / 2][pick[t % 2][k]]);
      snprintf(line, sizeof line, "      VERTEX %.9e %.9e %.9e\n", p.x, p.y, p.z);
      put_text(&bytes, line);
    }
    put_text(&bytes, "    endloop\n  endfacet\n");
  }
  int64_t complete = bytes.size;
  put_text(&bytes, "endsolid block of wood\n");
  assert_ok(&core, mesh_parse(&core, "block.stl", bytes.data, bytes.size, &mesh));
  check_block(&core, &mesh);
  assert_int_equal(mesh_parse(&core, "cut.stl", bytes.data, complete, &mesh), SCREE_BAD_INPUT);
  assert_non_null(strstr(core.error.message, "endsolid"));
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

/* format: 0 ASCII, 1 little, 2 big. Extra elements, properties and lists on all sides. */
static void make_ply(Bytes *bytes, int format) {
  static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  char line[200];
  bool big = format == 2;
  snprintf(line, sizeof line, "ply\nformat %s 1.0\ncomment made by a test\nobj_info x\n", names[format]);
  put_text(bytes, line);
  put_text(
      bytes,
      "element camera 1\nproperty list uchar double matrix\nproperty int8 flag\n"
      "element vertex 8\nproperty float x\nproperty uchar red\nproperty double y\nproperty float z\n"
      "property list ushort float weights\nelement face 6\nproperty uchar kind\n"
      "property list uchar int vertex_indices\nproperty float quality\nelement nothing 1000000000000\nend_header\n");
  double two = 2.5;
  if (format == 0) put_text(bytes, "2 2.5 nan -3\n");
  else {
    put(bytes, "\2", 1);
    put_number(bytes, &two, 8, big);
    put_number(bytes, &two, 8, big);
    put(bytes, "\375", 1);
  }
  for (int k = 0; k < 8; k++) {
    Vec3 p = block_corner(k);
    if (format == 0) {
      snprintf(line, sizeof line, "%g 255 %g %g %s\n", p.x, p.y, p.z, k % 2 ? "0" : "2 0.5 inf");
      put_text(bytes, line);
      continue;
    }
    uint16_t weights = k % 2 ? 0 : 2;
    put_float(bytes, p.x, big);
    put(bytes, "\377", 1);
    put_number(bytes, &p.y, 8, big);
    put_float(bytes, p.z, big);
    put_number(bytes, &weights, 2, big);
    for (int w = 0; w < weights; w++) put_float(bytes, 0.5, big);
  }
  for (int f = 0; f < 6; f++) {
    const int *q = block_quads[f];
    if (format == 0) {
      snprintf(line, sizeof line, "1 4 %d %d %d %d 0.5\n", q[0], q[1], q[2], q[3]);
      put_text(bytes, line);
      continue;
    }
    put(bytes, "\1\4", 2);
    for (int k = 0; k < 4; k++) put_int(bytes, q[k], big);
    put_float(bytes, 0.5, big);
  }
}

static void ply_in_three_formats(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh mesh;
  for (int format = 0; format < 3; format++) {
    Bytes bytes = {.size = 0};
    make_ply(&bytes, format);
    assert_ok(&core, mesh_parse(&core, "block.ply", bytes.data, bytes.size, &mesh));
    check_block(&core, &mesh);
    /* Cut anywhere: an error that names the file, and nothing kept. */
    for (int64_t size = 1; size < bytes.size - (format ? 0 : 5); size += 7) {
      assert_int_equal(mesh_parse(&core, "cut.ply", bytes.data, size, &mesh), SCREE_BAD_INPUT);
      assert_string_equal(core.error.file, "cut.ply");
      assert_true(core.error.line > 0 || strstr(core.error.message, "byte") || strstr(core.error.message, "no tri"));
      core_report(&core, SCREE_OK, NULL);
    }
  }
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

static void refused(Core *core, const char *name, const void *data, int64_t size, int line, const char *says) {
  Mesh mesh;
  int64_t before = core->memory.used;
  atomic_store(&core->memory.peak, before);
  assert_int_equal(mesh_parse(core, name, data, size, &mesh), SCREE_BAD_INPUT);
  if (!strstr(core->error.message, says)) print_error("said: %s\n", core->error.message);
  assert_non_null(strstr(core->error.message, says));
  assert_string_equal(core->error.file, name);
  if (line) assert_int_equal(core->error.line, line);
  assert_int_equal(core->memory.used, before);
  /* In proportion to what the file holds, whatever it promises. */
  assert_true(core->memory.peak - before < 200000 + 40 * size);
  assert_null(mesh.vertices);
  core_report(core, SCREE_OK, NULL);
}

static void refused_text(Core *core, const char *name, const char *text, int line, const char *says) {
  refused(core, name, text, (int64_t)strlen(text), line, says);
}

static void hostile_files(void **state) {
  (void)state;
  Core core = test_core(1);
  refused_text(&core, "e.obj", "", 0, "empty");
  refused_text(&core, "e.obj", "# nothing\n", 0, "no triangles");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", 0, "no triangles");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0\nv 0 1 0\nf 1 2 3\n", 2, "number");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n", 2, "nan");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0 inf\nv 0 1 0\nf 1 2 3\n", 2, "inf");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0 1e999\nv 0 1 0\nf 1 2 3\n", 2, "1e999");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0 1e30\nv 0 1 0\nf 1 2 3\n", 2, "beyond");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0 12oo\nv 0 1 0\nf 1 2 3\n", 2, "12oo");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 4\n", 5, "vertex 4");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", 4, "vertex 0");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", 4, "vertex -4");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999999\n", 4, "too large");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", 4, "2 corners");
  refused_text(&core, "e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3x\n", 4, "corner");
  refused_text(&core, "e.stl", "solid x\nendsolid x\n", 0, "no triangles");
  refused_text(&core, "e.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 x\n", 4, "'x'");
  refused_text(&core, "e.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendloop\nendfacet\n", 6,
               "1 vert");
  refused_text(&core, "e.stl", "solid x\nwhat\n", 2, "what");
  refused_text(&core, "e.stl", "short", 0, "byte 5");
  refused_text(&core, "e.ply", "plx\n", 1, "begins");
  refused_text(&core, "e.ply",
               "ply\nformat ascii 1.0\nelement vertex 1099511627776\nproperty float x\nproperty float y\n"
               "property float z\nend_header\n0 0 0\n",
               0, "promises");
  refused_text(&core, "e.ply",
               "ply\nformat ascii 1.0\nelement face 1000\nproperty list int int vertex_indices\n"
               "end_header\n3 0 1 2\n",
               0, "");
  refused_text(&core, "e.ply",
               "ply\nformat binary_little_endian 1.0\nelement face 1099511627776\n"
               "property list uchar int vertex_indices\nend_header\nxxxx",
               0, "promises");
  refused_text(&core, "e.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n", 0,
               "x, y and z");
  refused_text(&core, "e.ply", "ply\nformat ascii 1.0\nproperty float x\nend_header\n", 3, "before");
  refused_text(&core, "e.ply", "ply\nformat ascii 1.0\nelement vertex -3\nend_header\n", 3, "negative");
  refused_text(&core, "e.ply",
               "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
               "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
               13, "not there");
  refused_text(&core, "e.ply",
               "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
               "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n"
               "4000000000 0 1 2\n",
               13, "longer");
  Bytes bytes = {.size = 0};
  binary_stl(&bytes, "x", 0xffffffffu);
  refused(&core, "e.stl", bytes.data, bytes.size, 0, "4294967295");
  bytes.size = 0;
  binary_stl(&bytes, "solid x", 12);
  float nan = NAN;
  memcpy(bytes.data + 84 + 50 * 3 + 16, &nan, 4);
  refused(&core, "e.stl", bytes.data, bytes.size, 0, "byte 246");
  refused(&core, "cut.stl", bytes.data, bytes.size - 1, 0, "11 of the 12");
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

static void not_files(void **state) {
  (void)state;
  Core core = test_core(1);
  char folder[256], path[300];
  snprintf(folder, sizeof folder, "%s/scree_mesh_XXXXXX", P_tmpdir);
  assert_non_null(mkdtemp(folder));
  Mesh mesh;
  assert_int_equal(mesh_load(&core, folder, &mesh), SCREE_BAD_INPUT);
  assert_non_null(strstr(core.error.message, "directory"));
  core_report(&core, SCREE_OK, NULL);
  snprintf(path, sizeof path, "%s/pipe.stl", folder);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(mesh_load(&core, path, &mesh), SCREE_BAD_INPUT); /* and does not wait */
  assert_non_null(strstr(core.error.message, "regular"));
  core_report(&core, SCREE_OK, NULL);
  unlink(path);
  snprintf(path, sizeof path, "%s/none.stl", folder);
  assert_int_equal(mesh_load(&core, path, &mesh), SCREE_BAD_INPUT);
  core_report(&core, SCREE_OK, NULL);
  FILE *file = fopen(path, "wb");
  fclose(file);
  assert_int_equal(mesh_load(&core, path, &mesh), SCREE_BAD_INPUT);
  assert_non_null(strstr(core.error.message, "empty"));
  core_report(&core, SCREE_OK, NULL);
  file = fopen(path, "wb");
  Bytes bytes = {.size = 0};
  binary_stl(&bytes, "solid", 12);
  fwrite(bytes.data, 1, (size_t)bytes.size, file);
  fclose(file);
  assert_ok(&core, mesh_load(&core, path, &mesh));
  check_block(&core, &mesh);
  unlink(path);
  rmdir(folder);
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

#ifdef SCREE_HAVE_ASSIMP
/* One triangle with its buffer in the file; y is up in glTF, so (0, 1, 0) stands. And one that reaches for a file
 * outside of its folder. */
static void gltf_through_assimp(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh mesh;
  const char *text =
      "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
      "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
      "\"buffers\":[{\"uri\":\"data:application/octet-stream;base64,"
      "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\",\"byteLength\":36}],"
      "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":36}],"
      "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"min\":[0,0,0],"
      "\"max\":[1,1,0]}]}";
  assert_ok(&core, parse(&core, "t.gltf", text, &mesh));
  assert_int_equal(mesh.triangle_count, 1);
  Vec3 low, high;
  mesh_bounds(&mesh, &low, &high);
  assert_near(high.z, 1, 1e-7);
  assert_near(high.y, 0, 1e-7);
  mesh_destroy(&core, &mesh);
  assert_int_equal(parse(&core, "t.gltf", "{\"asset\":", &mesh), SCREE_BAD_INPUT);
  core_report(&core, SCREE_OK, NULL);
  assert_int_equal(parse(&core, "t.nonsense", "hello", &mesh), SCREE_BAD_INPUT);
  core_destroy(&core);
}

static void write_gltf(const char *path, const char *uri) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file,
          "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
          "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
          "\"buffers\":[{\"uri\":\"%s\",\"byteLength\":36}],"
          "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":36}],"
          "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}]}",
          uri);
  fclose(file);
}

/* Buffers lie in the folder or below it. Neither '..' nor an absolute path nor a link leads out. */
static void gltf_stays_in_its_folder(void **state) {
  (void)state;
  const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  char folder[] = "/tmp/scree_gltf_XXXXXX", path[256], command[256];
  assert_non_null(mkdtemp(folder));
  snprintf(command, sizeof command, "mkdir -p %s/in/below && ln -s ../out.bin %s/in/link.bin && ln -s .. %s/in/up",
           folder, folder, folder);
  assert_int_equal(system(command), 0);
  const char *const files[] = {"out.bin", "in/beside.bin", "in/below/below.bin", "in/a..b.bin"};
  for (int k = 0; k < 4; k++) {
    snprintf(path, sizeof path, "%s/%s", folder, files[k]);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(corners, sizeof corners, 1, file), 1);
    fclose(file);
  }
  char absolute[256];
  snprintf(absolute, sizeof absolute, "%s/out.bin", folder);
  const struct {
    const char *uri;
    bool allowed;
  } tries[] = {{"beside.bin", true},
               {"below/below.bin", true},
               {"a..b.bin", true},
               {"../out.bin", false},
               {absolute, false},
               {"link.bin", false},
               {"up/out.bin", false},
               {"below/../../out.bin", false},
               {"file:///etc/hostname", false},
               {"%2e%2e/out.bin", false}};
  Core core = test_core(1);
  snprintf(path, sizeof path, "%s/in/mesh.gltf", folder);
  for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
    Mesh mesh;
    write_gltf(path, tries[k].uri);
    Status status = mesh_load(&core, path, &mesh);
    if ((status == SCREE_OK) != tries[k].allowed) print_error("%s: status %d\n", tries[k].uri, status);
    assert_int_equal(status == SCREE_OK, tries[k].allowed);
    if (status == SCREE_OK) mesh_destroy(&core, &mesh);
    core_report(&core, SCREE_OK, NULL);
  }
  core_destroy(&core);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}
#endif

static void near_share(double value, double expected, double share) {
  assert_near(value, expected, share * fabs(expected));
}

static void mass_properties(void **state) {
  (void)state;
  Core core = test_core(1);
  Mesh mesh;
  Vec3 far = vec3(1000, -2000, 500);
  assert_ok(&core, mesh_make_box(&core, far, vec3_add(far, vec3(1, 2, 3)), &mesh));
  MassProperties mass = mesh_mass_properties(&mesh);
  near_share(mass.volume, 6, 1e-12);
  near_share(mass.center.x, 1000.5, 1e-12);
  near_share(mass.inertia.m[0][0], 6 * (4 + 9) / 12.0, 1e-11);
  near_share(mass.inertia.m[1][1], 6 * (1 + 9) / 12.0, 1e-11);
  near_share(mass.inertia.m[2][2], 6 * (1 + 4) / 12.0, 1e-11);
  assert_near(mass.inertia.m[0][1], 0, 1e-10);
  mesh_destroy(&core, &mesh);
  /* With 96 segments a circle's polygon lacks 0.07 % of its area. */
  assert_ok(&core, mesh_make_sphere(&core, vec3(0.1, 0.2, 0.3), 0.5, 96, &mesh));
  mass = mesh_mass_properties(&mesh);
  near_share(mass.volume, 4 * PI / 3 * 0.125, 0.005);
  assert_near(mass.center.y, 0.2, 1e-12);
  near_share(mass.inertia.m[0][0], 0.4 * 4 * PI / 3 * 0.125 * 0.25, 0.005);
  near_share(mass.inertia.m[2][2], 0.4 * 4 * PI / 3 * 0.125 * 0.25, 0.005);
  mesh_destroy(&core, &mesh);
  assert_ok(&core, mesh_make_torus(&core, 1, 0.3, 160, &mesh));
  mass = mesh_mass_properties(&mesh);
  double volume = 2 * PI * PI * 0.09;
  near_share(mass.volume, volume, 0.005);
  near_share(mass.inertia.m[2][2], volume * (1 + 0.75 * 0.09), 0.005);
  near_share(mass.inertia.m[0][0], volume * (0.5 + 0.625 * 0.09), 0.005);
  MeshFindings findings;
  assert_ok(&core, mesh_check(&core, &mesh, &findings));
  assert_true(findings.closed && !findings.inside_out && findings.degenerate == 0);
  mesh_destroy(&core, &mesh);
  assert_ok(&core, mesh_make_capsule(&core, vec3(0, 0, 0), 0.5, 1, 64, &mesh));
  assert_ok(&core, mesh_check(&core, &mesh, &findings));
  assert_true(findings.closed && !findings.inside_out && findings.degenerate == 0);
  mesh_destroy(&core, &mesh);
  assert_ok(&core, mesh_make_cylinder(&core, vec3(0, 0, 0), 0.5, 1, 64, &mesh));
  assert_ok(&core, mesh_check(&core, &mesh, &findings));
  assert_true(findings.closed && !findings.inside_out && findings.degenerate == 0);
  mesh_destroy(&core, &mesh);
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

static void findings_of_odd_meshes(void **state) {
  (void)state;
  Core core = test_core(1);
  MeshFindings findings;
  Mesh mesh;
  /* A box without its lid has four open edges; a triangle of no area beside it is dropped. */
  char text[1024];
  snprintf(text, sizeof text,
           "%sf 1 3 4 2\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\nv 9 9 9\nv 10 9 9\nv 12 9 9\nf 9 10 11\nf 1 2 2\n",
           block_vertices);
  assert_ok(&core, parse(&core, "pan.obj", text, &mesh));
  assert_ok(&core, mesh_check(&core, &mesh, &findings));
  assert_int_equal(findings.degenerate, 2);
  assert_int_equal(findings.open_edges, 4 + 3);
  assert_false(findings.closed);
  assert_int_equal(mesh.triangle_count, 10);
  mesh_destroy(&core, &mesh);
  /* A Moebius band has no two sides: it is left alone. */
  int used = 0;
  for (int k = 0; k < 8; k++) {
    double a = 2 * PI * k / 8;
    for (int s = -1; s < 2; s += 2)
      used += snprintf(text + used, sizeof text - (size_t)used, "v %.4f %.4f %.4f\n",
                       cos(a) * (1 + 0.3 * s * cos(a / 2)), sin(a) * (1 + 0.3 * s * cos(a / 2)), 0.3 * s * sin(a / 2));
  }
  for (int k = 0; k < 8; k++) {
    int a = 2 * k + 1, b = a + 1, c = k < 7 ? a + 2 : 2, d = k < 7 ? a + 3 : 1;
    used += snprintf(text + used, sizeof text - (size_t)used, "f %d %d %d\nf %d %d %d\n", a, c, d, a, d, b);
  }
  assert_ok(&core, parse(&core, "band.obj", text, &mesh));
  assert_ok(&core, mesh_check(&core, &mesh, &findings));
  assert_int_equal(findings.turned, 0);
  assert_int_equal(findings.open_edges, 16);
  assert_false(findings.closed);
  mesh_destroy(&core, &mesh);
  const double flat[9] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  const int64_t triangle[3] = {0, 1, 2}, outside[3] = {0, 1, 3};
  assert_ok(&core, mesh_copy(&core, flat, 3, triangle, 1, &mesh));
  assert_int_equal(mesh_check(&core, &mesh, &findings), SCREE_BAD_INPUT);
  mesh_destroy(&core, &mesh);
  core_report(&core, SCREE_OK, NULL);
  assert_int_equal(mesh_copy(&core, flat, 3, outside, 1, &mesh), SCREE_BAD_ARGUMENT);
  core_destroy(&core);
  assert_int_equal(core.memory.used, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(obj_in_its_spellings),
      cmocka_unit_test(numbers_are_read_exactly),
      cmocka_unit_test(concave_polygons),
      cmocka_unit_test(stl_both_ways),
      cmocka_unit_test(ply_in_three_formats),
      cmocka_unit_test(hostile_files),
      cmocka_unit_test(not_files),
      cmocka_unit_test(mass_properties),
      cmocka_unit_test(findings_of_odd_meshes),
#ifdef SCREE_HAVE_ASSIMP
      cmocka_unit_test(gltf_through_assimp),
      cmocka_unit_test(gltf_stays_in_its_folder),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
