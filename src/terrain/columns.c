/* Single columns, and the surface as a mesh. */
#include <string.h>

#include "terrain/parts.h"

void ground_show(State *state, int64_t k) {
  Terrain *t = state->terrain;
  double full = terrain_full(t, k);
  if (t->pending[k] > full) t->pending[k] = full;
  double height = full - t->pending[k];
  Solid *solid = &state->solids.items[t->solid];
  Heightfield *field = solid->shape.heights;
  field->heights[k] = height;
  if (height > field->highest) {
    field->highest = height;
    solid->shape.bounds_high.z = height;
  }
}

void ground_add(Terrain *t, int64_t k, int64_t units, double bulk) {
  if (units <= 0) return;
  double volume = (double)t->mass[k] / t->bulk[k] + (double)units / bulk;
  t->mass[k] += units;
  t->bulk[k] = (double)t->mass[k] / volume;
}

void ground_wake(Terrain *t, int64_t k) {
  int32_t i = (int32_t)(k % t->nx) / TERRAIN_TILE, j = (int32_t)(k / t->nx) / TERRAIN_TILE;
  t->awake[(int64_t)j * t->tiles_x + i] = 1;
}

void ground_load(Terrain *t, Vec3 at, double radius) {
  double reach = radius + 0.5 * t->cell;
  int64_t first = column_of(t, at.x - reach, at.y - reach), last = column_of(t, at.x + reach, at.y + reach);
  for (int64_t j = first / t->nx; j <= last / t->nx; j++)
    memset(t->loaded + j * t->nx + first % t->nx, 1, (size_t)(last % t->nx - first % t->nx + 1));
}

Corners ground_corners(const Terrain *t, double x, double y) {
  double u = fmin(fmax(x / t->cell - 0.5, 0), t->nx - 1), v = fmin(fmax(y / t->cell - 0.5, 0), t->ny - 1);
  int32_t i = (int32_t)u, j = (int32_t)v, ii = i + 1 < t->nx ? i + 1 : i, jj = j + 1 < t->ny ? j + 1 : j;
  u -= i;
  v -= j;
  return (Corners){{column_at(t, i, j), column_at(t, ii, j), column_at(t, i, jj), column_at(t, ii, jj)},
                   {(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v}};
}

void ground_split(const Corners *corners, int64_t units, int64_t parts[4]) {
  int64_t left = units;
  int largest = 0;
  for (int c = 0; c < 4; c++) {
    parts[c] = (int64_t)((double)units * corners->weight[c]);
    if (parts[c] > left) parts[c] = left;
    left -= parts[c];
    if (corners->weight[c] > corners->weight[largest]) largest = c;
  }
  parts[largest] += left;
}

int64_t ground_triangle_count(const Terrain *t) { return 2 * (int64_t)(t->nx - 1) * (t->ny - 1); }

void ground_vertices(const State *state, float *vertices) {
  const Terrain *t = state->terrain;
  const double *heights = ground_field(state)->heights;
  Vec3 corner = vec3_sub(t->origin, state->origin);
  for (int64_t k = 0; k < t->count; k++) {
    vertices[3 * k] = (float)(corner.x + ((double)(k % t->nx) + 0.5) * t->cell);
    vertices[3 * k + 1] = (float)(corner.y + ((double)(k / t->nx) + 0.5) * t->cell);
    vertices[3 * k + 2] = (float)(corner.z + heights[k]);
  }
}

void ground_triangles(const Terrain *t, uint32_t *triangles) {
  int64_t at = 0;
  for (int32_t j = 0; j + 1 < t->ny; j++)
    for (int32_t i = 0; i + 1 < t->nx; i++) {
      const uint32_t a = (uint32_t)column_at(t, i, j), b = a + 1, d = a + (uint32_t)t->nx, c = d + 1;
      const uint32_t corners[6] = {a, b, c, a, c, d};
      for (int n = 0; n < 6; n++) triangles[at++] = corners[n];
    }
}
