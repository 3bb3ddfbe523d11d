#include "geometry/triangle_kernels.h"

/* Far from every block, and its square is no overflow. */
#define FAR_CORNER 1e15f

static void put(TriangleList *list, int64_t k, int row, Vec3 v) {
  list->row[row][k] = (float)v.x, list->row[row + 1][k] = (float)v.y, list->row[row + 2][k] = (float)v.z;
}

void triangle_list_push(TriangleList *list, const Vec3 v[3]) {
  int64_t k = list->count++;
  Vec3 normal = vec3_normalize(vec3_cross(vec3_sub(v[1], v[0]), vec3_sub(v[2], v[0])));
  for (int c = 0; c < 3; c++) {
    Vec3 edge = vec3_sub(v[(c + 1) % 3], v[c]);
    double square = vec3_dot(edge, edge);
    put(list, k, 3 * c, v[c]);
    put(list, k, 13 + 3 * c, vec3_cross(normal, edge));
    list->row[22 + c][k] = square > 0 ? (float)(1 / square) : 0;
  }
  put(list, k, 9, normal);
  list->row[12][k] = (float)vec3_dot(normal, v[0]);
}

void triangle_list_end(TriangleList *list) {
  for (int64_t k = list->count; k % LANES != 0; k++)
    for (int r = 0; r < TRIANGLE_ROWS; r++) list->row[r][k] = r < 9 ? FAR_CORNER : 0;
}
