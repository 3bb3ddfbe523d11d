/* The names of the colour modes. */
#include "render/frame.h"

#include <string.h>

#define COLOR_WORD(constant, word) word,
static const char *const color_names[] = {RENDER_COLORS(COLOR_WORD)};

const char *render_color_name(RenderColor color) {
  return (unsigned)color < RENDER_COLOR_COUNT ? color_names[color] : "unknown";
}

bool render_color_find(const char *name, RenderColor *color) {
  for (int k = 0; k < RENDER_COLOR_COUNT; k++)
    if (strcmp(name, color_names[k]) == 0) {
      *color = (RenderColor)k;
      return true;
    }
  return false;
}
