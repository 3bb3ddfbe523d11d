/* From a file or a block of memory to a mesh: which format it is, and reading without trust. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "geometry/mesh_builder.h"
#include "geometry/text.h"

/* A binary STL of this size has 160 million triangles. */
#define MESH_FILE_MAX ((int64_t)8 << 30)

static const ScreeSource nowhere = {0, 0};

static Status read_all(Core *core, const char *path, int file, int64_t size, char *data) {
  for (int64_t at = 0; at < size;) {
    ssize_t got = read(file, data + at, (size_t)(size - at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_at(core, SCREE_BAD_INPUT, path, nowhere, "cannot be read: %s", strerror(errno));
    if (got == 0)
      return fail_at(core, SCREE_BAD_INPUT, path, nowhere, "byte %lld: the file became shorter while it was read",
                     (long long)at);
    at += got;
  }
  return SCREE_OK;
}

static Status file_open(Core *core, const char *path, int *file, int64_t *size) {
  struct stat about;
  /* Without O_NONBLOCK opening a fifo would wait for its writer. */
  *file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (*file < 0) return fail_at(core, SCREE_BAD_INPUT, path, nowhere, "cannot be opened: %s", strerror(errno));
  const char *wrong = NULL;
  if (fstat(*file, &about) != 0) wrong = strerror(errno);
  else if (S_ISDIR(about.st_mode)) wrong = "is a directory, not a mesh";
  else if (!S_ISREG(about.st_mode)) wrong = "is not a regular file";
  else if (about.st_size == 0) wrong = "is empty";
  else if (about.st_size > MESH_FILE_MAX) wrong = "is larger than 8 GB";
  if (wrong) {
    close(*file);
    return fail_at(core, SCREE_BAD_INPUT, path, nowhere, "%s", wrong);
  }
  *size = about.st_size;
  return SCREE_OK;
}

typedef Status (*MeshParser)(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh);

static bool has_extension(const char *name, const char *extension) {
  const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
  if (!dot || (slash && slash > dot)) return extension[0] == '\0';
  return text_is(dot + 1, (int64_t)strlen(dot + 1), extension);
}

/* A PLY file says what it is; the others are known by their extension, and only without one by their looks. */
static MeshParser choose_parser(const char *name, const void *data, int64_t size) {
  if (size >= 4 && memcmp(data, "ply", 3) == 0 && text_is_break(((const char *)data)[3])) return mesh_parse_ply;
  if (has_extension(name, "obj")) return mesh_parse_obj;
  if (has_extension(name, "stl")) return mesh_parse_stl;
  if (!has_extension(name, "")) return mesh_parse_other;
  return mesh_stl_plausible(data, size) ? mesh_parse_stl : mesh_parse_obj;
}

/* Whether the chunks of a GLB, each a length, a kind and so many bytes, lie within it: Assimp takes memory for what the
 * length says. */
static bool chunks_fit(const unsigned char *data, int64_t size) {
  for (int64_t at = 12; at + 8 <= size;) {
    int64_t length = data[at] | data[at + 1] << 8 | data[at + 2] << 16 | (int64_t)data[at + 3] << 24;
    if (length > size - at - 8) return false;
    at += 8 + length;
  }
  return true;
}

/* What the name promises and the bytes do not hold; NULL: nothing. Assimp would try each of its many formats. */
static const char *broken_promise(const char *name, const char *data, int64_t size) {
  int64_t at = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < size && (data[at] == ' ' || data[at] == '\t' || text_is_break(data[at]))) at++;
  if (has_extension(name, "ply") && choose_parser(name, data, size) != mesh_parse_ply)
    return "a PLY file begins with the line 'ply'";
  if (has_extension(name, "gltf") && (at == size || data[at] != '{')) return "a glTF file begins with '{'";
  if (has_extension(name, "glb") && (size < 4 || memcmp(data, "glTF", 4) != 0)) return "a GLB file begins with 'glTF'";
  if (has_extension(name, "glb") && !chunks_fit((const unsigned char *)data, size))
    return "a chunk is longer than the file";
  return NULL;
}

Status mesh_parse(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh) {
  *mesh = (Mesh){0};
  if (size <= 0) return fail_at(core, SCREE_BAD_INPUT, name, nowhere, "is empty");
  const char *broken = broken_promise(name, data, size);
  if (broken) return fail_at(core, SCREE_BAD_INPUT, name, (ScreeSource){1, 1}, "%s", broken);
  Status status = choose_parser(name, data, size)(core, name, data, size, mesh);
  /* Failures that know no place, such as of memory, get the file at least. */
  if (status != SCREE_OK && !core->error.file[0]) snprintf(core->error.file, sizeof core->error.file, "%s", name);
  return status;
}

Status mesh_load(Core *core, const char *path, Mesh *mesh) {
  *mesh = (Mesh){0};
  int file = -1;
  int64_t size = 0;
  TRY(file_open(core, path, &file, &size));
  char *data = NULL;
  Status status = memory_new(core, &data, size, "mesh file");
  if (status == SCREE_OK) status = read_all(core, path, file, size, data);
  close(file);
  if (status == SCREE_OK) {
    bool other = choose_parser(path, data, size) == mesh_parse_other && !broken_promise(path, data, size);
    if (other) status = mesh_parse_other(core, path, NULL, 0, mesh);
    else status = mesh_parse(core, path, data, size, mesh);
  }
  memory_drop(core, &data);
  return status;
}
