/* glTF and other formats through Assimp, where it is built in. */
#include <string.h>

#include "geometry/mesh_builder.h"
#include "geometry/text.h"

#ifdef SCREE_HAVE_ASSIMP

#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What Assimp reads beside the file (a glTF's buffers) must be regular files of the same folder or below it, links
 * followed: a mesh must not make the program read what its owner did not offer, nor wait for a fifo. Beside a mesh in
 * memory there is nothing. */
typedef struct Offered {
  const char *name;
  const void *data; /* NULL: the file itself is read */
  size_t size;
  char folder[PATH_MAX]; /* real path */
} Offered;

typedef struct Opened {
  struct aiFile file;
  FILE *stream;
  size_t size;
} Opened;

static FILE *stream_of(struct aiFile *file) { return ((Opened *)file->UserData)->stream; }

static size_t file_read(struct aiFile *file, char *buffer, size_t size, size_t count) {
  return fread(buffer, size, count, stream_of(file));
}
static size_t file_write(struct aiFile *file, const char *buffer, size_t size, size_t count) {
  (void)file, (void)buffer, (void)size, (void)count;
  return 0;
}
static size_t file_tell(struct aiFile *file) { return (size_t)ftell(stream_of(file)); }
static size_t file_size(struct aiFile *file) { return ((Opened *)file->UserData)->size; }
static enum aiReturn file_seek(struct aiFile *file, size_t offset, enum aiOrigin origin) {
  int whence = origin == aiOrigin_SET ? SEEK_SET : origin == aiOrigin_CUR ? SEEK_CUR : SEEK_END;
  return fseek(stream_of(file), (long)offset, whence) == 0 ? aiReturn_SUCCESS : aiReturn_FAILURE;
}
static void file_flush(struct aiFile *file) { (void)file; }

static FILE *open_beside(const Offered *offered, const char *path, size_t *size) {
  char real[PATH_MAX];
  size_t length = strlen(offered->folder);
  if (!realpath(path, real) || strncmp(real, offered->folder, length) != 0 || real[length] != '/') return NULL;
  int descriptor = open(real, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  struct stat about;
  if (descriptor < 0) return NULL;
  FILE *stream = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) ? fdopen(descriptor, "rb") : NULL;
  if (!stream) close(descriptor);
  else *size = (size_t)about.st_size;
  return stream;
}

static struct aiFile *offered_open(struct aiFileIO *io, const char *path, const char *mode) {
  const Offered *offered = (const Offered *)io->UserData;
  Opened *opened = strchr(mode, 'w') ? NULL : calloc(1, sizeof *opened);
  if (!opened) return NULL;
  if (!offered->data) opened->stream = open_beside(offered, path, &opened->size);
  else if (strcmp(path, offered->name) == 0) {
    opened->stream = fmemopen((void *)offered->data, offered->size, "rb");
    opened->size = offered->size;
  }
  if (!opened->stream) {
    free(opened);
    return NULL;
  }
  opened->file = (struct aiFile){file_read, file_write, file_tell, file_size, file_seek, file_flush, (char *)opened};
  return &opened->file;
}

static void offered_close(struct aiFileIO *io, struct aiFile *file) {
  (void)io;
  if (!file) return;
  fclose(stream_of(file));
  free((Opened *)file->UserData);
}

static void real_folder(const char *name, char folder[PATH_MAX]) {
  char real[PATH_MAX];
  snprintf(folder, PATH_MAX, "%s", realpath(name, real) ? real : "");
  char *slash = strrchr(folder, '/');
  if (slash) *slash = 0;
}

static Status copy_scene(MeshBuilder *builder, const struct aiScene *scene, bool y_up) {
  ScreeSource nowhere = {0, 0};
  for (unsigned m = 0; m < scene->mNumMeshes; m++) {
    const struct aiMesh *part = scene->mMeshes[m];
    int64_t first = builder->vertex_count;
    TRY(builder_reserve(builder, first + part->mNumVertices, builder->triangle_count + part->mNumFaces));
    for (unsigned v = 0; v < part->mNumVertices; v++) {
      struct aiVector3D q = part->mVertices[v];
      Vec3 p = y_up ? vec3((double)q.x, -(double)q.z, (double)q.y) : vec3((double)q.x, (double)q.y, (double)q.z);
      if (!mesh_coordinate_good(p))
        return fail_at(builder->core, SCREE_BAD_INPUT, builder->name, nowhere,
                       "vertex %u of mesh %u is not finite or beyond %g", v, m, MESH_COORDINATE_MAX);
      TRY(builder_vertex(builder, p));
    }
    for (unsigned f = 0; f < part->mNumFaces; f++) {
      const struct aiFace *face = &part->mFaces[f];
      if (face->mNumIndices != 3) continue; /* points and lines */
      for (int k = 0; k < 3; k++)
        if (face->mIndices[k] >= part->mNumVertices)
          return fail_at(builder->core, SCREE_BAD_INPUT, builder->name, nowhere,
                         "face %u of mesh %u refers to a vertex that is not there", f, m);
      TRY(builder_triangle(builder, (int32_t)(first + face->mIndices[0]), (int32_t)(first + face->mIndices[1]),
                           (int32_t)(first + face->mIndices[2])));
    }
  }
  return SCREE_OK;
}

Status mesh_parse_other(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh) {
  const unsigned steps = aiProcess_Triangulate | aiProcess_PreTransformVertices | aiProcess_ValidateDataStructure;
  const char *dot = strrchr(name, '.'), *extension = dot ? dot + 1 : "";
  Offered offered = {.name = name, .data = data, .size = (size_t)size};
  if (!data) real_folder(name, offered.folder);
  struct aiFileIO io = {offered_open, offered_close, (char *)&offered};
  const struct aiScene *scene = !data || size > 0 ? aiImportFileEx(name, steps, &io) : NULL;
  if (!scene)
    return fail_at(core, SCREE_BAD_INPUT, name, (ScreeSource){0, 0}, "cannot be read as a mesh: %s",
                   aiGetErrorString());
  MeshBuilder builder = {.core = core, .name = name};
  /* glTF defines y as up; the others say nothing reliable. */
  bool y_up =
      text_is(extension, (int64_t)strlen(extension), "gltf") || text_is(extension, (int64_t)strlen(extension), "glb");
  Status status = copy_scene(&builder, scene, y_up);
  aiReleaseImport(scene);
  return builder_finish(&builder, status, mesh);
}

#else

Status mesh_parse_other(Core *core, const char *name, const void *data, int64_t size, Mesh *mesh) {
  (void)data, (void)size;
  *mesh = (Mesh){0};
  return fail_at(core, SCREE_BAD_INPUT, name, (ScreeSource){0, 0},
                 "unknown kind of mesh: OBJ, STL and PLY are built in, others need Assimp");
}

#endif
