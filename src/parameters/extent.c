#include "parameters/table.h"

/* The value of a key of a shape; NULL: it has no such key. */
static const void *value_of(const ScreeShapeDef *shape, const char *key) {
#define SHAPE_VALUE(id, word, ...)                                                                                     \
  if (shape->kind == SCREE_SHAPE_##id) {                                                                               \
    const ScreeParameter *row = section_find(SECTION_##word, key);                                                     \
    return row ? parameter_value(&shape->word, row) : NULL;                                                            \
  }
  SCREE_SHAPES(SHAPE_VALUE)
  return NULL;
}

bool shape_extent(const ScreeShapeDef *shape, ScreeVec3 *center, ScreeVec3 *half) {
  const ScreeVec3 *low = value_of(shape, "min"), *high = value_of(shape, "max");
  const ScreeVec3 *middle = value_of(shape, "center"), *base = value_of(shape, "base");
  const double *radius = value_of(shape, "radius"), *height = value_of(shape, "height");
  if (low && high) {
    *half = (ScreeVec3){(high->x - low->x) / 2, (high->y - low->y) / 2, (high->z - low->z) / 2};
    *center = (ScreeVec3){(low->x + high->x) / 2, (low->y + high->y) / 2, (low->z + high->z) / 2};
  } else if (middle && radius) {
    *half = (ScreeVec3){*radius, *radius, *radius};
    *center = *middle;
  } else if (base && radius && height) {
    *half = (ScreeVec3){*radius, *radius, *height / 2};
    *center = (ScreeVec3){base->x, base->y, base->z + *height / 2};
  } else {
    return false;
  }
  return true;
}
