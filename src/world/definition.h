/* The world's own copy of a scene definition: strings and arrays included. */
#ifndef WORLD_DEFINITION_H
#define WORLD_DEFINITION_H

#include "core/core.h"
#include "scree/definitions.h"

typedef struct Definition {
  ScreeSceneDef scene;
  ScreeMaterialDef *materials; /* scene.materials, writable: autos are resolved here */
  char *text;                  /* all strings, one after the other */
  int64_t text_used;
  void **blocks; /* copied arrays */
  int32_t block_count, block_capacity;
} Definition;

Status definition_copy(Core *core, const ScreeSceneDef *from, Definition *to);
void definition_destroy(Core *core, Definition *definition);
/* A zeroed array that lives as long as the definition. */
Status definition_block(Core *core, Definition *definition, int64_t count, int64_t size, void **block);
/* Identifies a scene for checkpoints: everything that changes the motion, not title, camera or duration. */
Status definition_hash(Core *core, const ScreeSceneDef *scene, uint64_t *hash);

#endif
