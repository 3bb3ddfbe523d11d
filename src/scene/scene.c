#include "scene/scene.h"

Status scene_core_create(Core *core) {
  ScreeWorldOptions options = {.threads = 1};
  return core_create(core, &options);
}

/* Blocks know their size; the account that they were taken from is gone with the call that made them. */
void scree_text_free(char *text) {
  Memory memory;
  memory_create(&memory, 0);
  memory_free(&memory, text);
}
