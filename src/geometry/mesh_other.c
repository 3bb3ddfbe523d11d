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
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What Assimp reads beside the file (a glTF's buffers) must be regular files of the same folder or below it: a mesh
 * must not make the program read what its owner did not offer, nor wait for a fifo. */
typedef struct Folder {
  char prefix[4096]; /* with the last slash */
} Folder;

static size_t file_read(struct aiFile *file, char *buffer, size_t size, size_t count) {
  return fread(buffer, size, count, (FILE *)file->UserData);
}
static size_t file_write(struct aiFile *file, const char *buffer, size_t size, size_t count) {
  (void)file, (void)buffer, (void)size, (void)count;
  return 0;
}
static size_t file_tell(struct aiFile *file) { return (size_t)ftell((FILE *)file->UserData); }
static size_t file_size(struct aiFile *file) {
  struct stat about;
  return fstat(fileno((FILE *)file->UserData), &about) == 0 ? (size_t)about.st_size : 0;
}
static enum aiReturn file_seek(struct aiFile *file, size_t offset, enum aiOrigin origin) {
  int whence = origin == aiOrigin_SET ? SEEK_SET : origin == aiOrigin_CUR ? SEEK_CUR : SEEK_END;
  return fseek((FILE *)file->UserData, (long)offset, whence) == 0 ? aiReturn_SUCCESS : aiReturn_FAILURE;
}
static void file_flush(struct aiFile *file) { (void)file; }

static struct aiFile *folder_open(struct aiFileIO *io, const char *path, const char *mode) {
  const Folder *folder = (const Folder *)io->UserData;
  size_t length = strlen(folder->prefix);
  if (strchr(mode, 'w') || strncmp(path, folder->prefix, length) != 0) return NULL;
  if (path[length] == '/' || strstr(path + length, "..")) return NULL;
  int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat about;
  if (descriptor < 0) return NULL;
  FILE *stream = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) ? fdopen(descriptor, "rb") : NULL;
  if (!stream) {
    close(descriptor);
    return NULL;
  }
  struct aiFile *file = calloc(1, sizeof *file);
  if (!file) {
    fclose(stream);
    return NULL;
  }
  *file = (struct aiFile){file_read, file_write, file_tell, file_size, file_seek, file_flush, (char *)stream};
  return file;
}

static void folder_close(struct aiFileIO *io, struct aiFile *file) {
  (void)io;
  if (!file) return;
  fclose((FILE *)file->UserData);
  free(file);
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
  const struct aiScene *scene = NULL;
  if (data) {
    if (size < UINT32_MAX) scene = aiImportFileFromMemory(data, (unsigned)size, steps, extension);
  } else {
    Folder folder;
    const char *slash = strrchr(name, '/');
    snprintf(folder.prefix, sizeof folder.prefix, "%.*s", slash ? (int)(slash + 1 - name) : 0, name);
    struct aiFileIO io = {folder_open, folder_close, (char *)&folder};
    scene = aiImportFileEx(name, steps, &io);
  }
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
