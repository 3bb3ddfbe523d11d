/* The files of a mechanism: the input is several, apart by NUL, in a folder of their own: the model, what it includes
 * (a.xml, b.xml), a mesh (m.obj) and a picture (p.png). Whatever they name, nothing outside the folder is read: beside
 * it lies a file with a mark that must never be among what was gathered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bodies/mjcf.h"

enum { FILES = 5 };
#define SECRET "v 0 0 0 SECRET-OF-ANOTHER-FOLDER"

static const char *const NAMES[FILES] = {"model.xml", "a.xml", "b.xml", "m.obj", "p.png"};
static char folder[64];

static void put(const char *name, const void *data, size_t size) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size) abort();
  fclose(file);
}

static void make_folder(void) {
  char outer[48], link[128], path[128];
  snprintf(outer, sizeof outer, "/dev/shm/scree_mjcf_%ld", (long)getpid());
  snprintf(folder, sizeof folder, "%s/inner", outer);
  if (mkdir(outer, 0700) != 0 || mkdir(folder, 0700) != 0) abort();
  put("../secret.obj", SECRET, sizeof SECRET - 1);
  put("../secret.xml", "<mujoco>" SECRET, sizeof "<mujoco>" SECRET - 1);
  put("../secret.png", SECRET, sizeof SECRET - 1);
  snprintf(link, sizeof link, "%s/l.png", folder);
  snprintf(path, sizeof path, "%s/secret.png", outer);
  if (symlink(path, link) != 0) abort();
}

static Status resolve(void *context, Core *core, const char *file, ScreeSource at, char *path, size_t size) {
  (void)context, (void)path, (void)size;
  return fail_at(core, SCREE_BAD_INPUT, "scene", at, "'%s' is not there", file);
}

static bool holds_secret(const void *data, int64_t size) {
  const int64_t length = (int64_t)sizeof SECRET - 1;
  for (int64_t b = 0; b + length <= size; b++)
    if (memcmp((const char *)data + b, SECRET, (size_t)length) == 0) return true;
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (holds_secret(data, (int64_t)size)) return 0; /* it knows the mark itself */
  if (!folder[0]) make_folder();
  const uint8_t *at = data, *end = data + size;
  for (int k = 0; k < FILES; k++) {
    const uint8_t *stop = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
    if (!stop) stop = end;
    put(NAMES[k], at, (size_t)(stop - at));
    at = stop < end ? stop + 1 : end;
  }
  Core core = {0};
  memory_create(&core.memory, (int64_t)1 << 28);
  ScreeSceneDef scene = {0};
  BodiesPlan plan = {.scene = &scene, .resolve = resolve};
  Mjcf mjcf;
  char path[128];
  snprintf(path, sizeof path, "%s/model.xml", folder);
  if (mjcf_gather(&core, &plan, path, &mjcf) == SCREE_OK) {
    for (int32_t k = 0; k < mjcf.count; k++)
      if (holds_secret(mjcf.files[k].data, mjcf.files[k].size)) abort();
    mjcf_destroy(&core, &mjcf);
  }
  if (core.memory.used != 0) abort();
  return 0;
}
