#include "geometry/sides.h"

#include <string.h>

/* With a border of one round the points, so that neighbours need no test of range. */
enum { PADDED = SIDES_MOST + 2, PADDED_COUNT = PADDED * PADDED * PADDED };

static int padded_index(int side, int k) {
  return ((k / (side * side) + 1) * PADDED + k / side % side + 1) * PADDED + k % side + 1;
}
static int plain_index(int side, int padded) {
  return ((padded / (PADDED * PADDED) - 1) * side + padded / PADDED % PADDED - 1) * side + padded % PADDED - 1;
}

/* Points whose surroundings are joined to those of the first in the queue: the balls that reach up to the surface from
 * both meet, so no surface lies between. Fills the queue with them. */
static int join_points(float spacing, const float *distance, uint8_t *seen, int16_t *queue) {
  const float lengths[4] = {0, spacing, spacing * 1.4143f, spacing * 1.7321f};
  int count = 1;
  for (int k = 0; k < count; k++)
    for (int dz = -1; dz <= 1; dz++)
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
          int other = queue[k] + (dz * PADDED + dy) * PADDED + dx;
          if (seen[other] || distance[queue[k]] + distance[other] <= lengths[dx * dx + dy * dy + dz * dz]) continue;
          seen[other] = 1;
          queue[count++] = (int16_t)other;
        }
  return count;
}

void find_sides(int side, float spacing, const float *distance, SidesAsk ask, const void *context, uint8_t *inside) {
  float padded[PADDED_COUNT];
  uint8_t seen[PADDED_COUNT], within[PADDED_COUNT];
  int16_t queue[SIDES_MOST * SIDES_MOST * SIDES_MOST];
  int total = side * side * side;
  memset(seen, 1, sizeof seen);
  for (int k = 0; k < total; k++) padded[padded_index(side, k)] = distance[k], seen[padded_index(side, k)] = 0;
  for (int k = 0; k < total; k++) {
    int first = padded_index(side, k);
    if (!seen[first]) {
      seen[first] = 1, queue[0] = (int16_t)first;
      int count = join_points(spacing * 1.001f, padded, seen, queue), deepest = first;
      for (int i = 0; i < count; i++)
        if (padded[queue[i]] > padded[deepest]) deepest = queue[i];
      bool is_inside = ask(context, plain_index(side, deepest));
      for (int i = 0; i < count; i++) within[queue[i]] = is_inside;
    }
    inside[k] = within[first];
  }
}
