/* Scene text, then an optional NUL and one `--set`. What is understood must be written so that it is understood again
 * and comes out the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scree/scree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *context, const char *line) {
  (void)context;
  if (strchr(line, '\n')) abort();
}

static char *write_text(const ScreeScene *scene) {
  char *text;
  ScreeError error;
  if (scree_scene_write(scree_scene_definition(scene), &text, &error) != SCREE_OK) abort();
  return text;
}

static void check_again(const ScreeScene *scene) {
  char *first = write_text(scene);
  ScreeScene *again;
  ScreeError error;
  if (scree_scene_parse(first, strlen(first), "again", "assets", NULL, &again, &error) != SCREE_OK) {
    fprintf(stderr, "%s\n%d:%d: %s\n", first, error.line, error.column, error.message);
    abort();
  }
  char *second = write_text(again);
  if (strcmp(first, second) != 0) {
    fprintf(stderr, "%s\n-----\n%s\n", first, second);
    abort();
  }
  scree_text_free(first);
  scree_text_free(second);
  scree_scene_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t length = size;
  const uint8_t *gap = size > 0 ? memchr(data, 0, size) : NULL;
  char set[200] = "";
  if (gap) {
    length = (size_t)(gap - data);
    size_t rest = size - length - 1;
    if (rest >= sizeof set) rest = sizeof set - 1;
    memcpy(set, gap + 1, rest);
  }
  const char *sets[] = {set};
  ScreeSceneOptions options = {.sets = sets, .set_count = set[0] ? 1 : 0, .warning = ignore};
  ScreeScene *scene;
  ScreeError error;
  ScreeStatus status =
      scree_scene_parse(length ? (const char *)data : "", length, "fuzz", "assets", &options, &scene, &error);
  if (status == SCREE_OK) {
    check_again(scene);
    scree_scene_free(scene);
  } else if (strchr(error.message, '\n')) {
    abort();
  }
  return 0;
}
