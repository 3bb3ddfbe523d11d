#include "neighbors/boxes.h"

/* Halves, quarters, eighths: every lane ends with the least or the most of all. */
WIDE_INLINE float wide_least(Wide v) {
  v = wide_min(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = wide_min(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  v = wide_min(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
  return v[0];
}
WIDE_INLINE float wide_most(Wide v) { return -wide_least(-v); }

/* Eight points, of which the last ones may be missing: then the first stands in for them. */
WIDE_INLINE Wide load_points(const float *from, int64_t left) {
  if (__builtin_expect(left >= LANES, 1)) return wide_load(from);
  Wide some = wide_set(from[0]);
  for (int64_t k = 1; k < left; k++) some[k] = from[k];
  return some;
}

void KERNEL(boxes_fill)(const BoxTree *tree, int level, int64_t b, int64_t e) {
  const float *const points[3] = {tree->points.x, tree->points.y, tree->points.z};
  for (int64_t n = b; n < e; n++) {
    float(*box)[LANES] = tree->eight[level][n / LANES];
    for (int axis = 0; axis < 3; axis++) {
      Wide low, high;
      if (level == 0) low = high = load_points(points[axis] + n * LANES, tree->points.count - n * LANES);
      else {
        low = wide_load(tree->eight[level - 1][n][axis]);
        high = wide_load(tree->eight[level - 1][n][axis + 3]);
      }
      box[axis][n % LANES] = wide_least(low);
      box[axis + 3][n % LANES] = wide_most(high);
    }
  }
}

/* Which of eight boxes are within the square of a distance. */
WIDE_INLINE unsigned boxes_near(const float box[6][LANES], const Wide at[3], Wide limit) {
  Wide square = wide_set(0);
  for (int axis = 0; axis < 3; axis++) {
    Wide away = wide_max(wide_load(box[axis]) - at[axis], at[axis] - wide_load(box[axis + 3]));
    away = wide_max(away, wide_set(0));
    square = square + away * away;
  }
  return wide_bits(wide_less_equal(square, limit));
}

/* Which of eight points are within reach. The last eight may repeat some of those before. */
WIDE_INLINE unsigned points_near(const BoxTree *tree, int64_t *first, const Wide at[3], float radius, float reach) {
  Points p = tree->points;
  int64_t wanted = *first;
  if (__builtin_expect(wanted + LANES > p.count, 0)) *first = p.count - LANES;
  Wide dx = wide_load(p.x + *first) - at[0], dy = wide_load(p.y + *first) - at[1], dz = wide_load(p.z + *first) - at[2];
  Wide far = wide_set(reach);
  if (tree->radius) far = reach * (radius + wide_load(tree->radius + *first));
  unsigned bits = wide_bits(wide_less_equal(dx * dx + dy * dy + dz * dz, far * far));
  return bits >> (wanted - *first) << (wanted - *first);
}

/* Distances from boxes are rounded otherwise than those from points. */
#define BOX_SLACK 1.0001f

int64_t KERNEL(boxes_row)(const BoxTree *tree, BoxQuery query, float reach, int64_t room, int64_t *looks,
                          int32_t *out) {
  static const int32_t abreast[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
  const Wide at[3] = {wide_set(query.x), wide_set(query.y), wide_set(query.z)};
  float far = tree->radius ? reach * (query.radius + tree->radius_most) : reach;
  const Wide limit = wide_set(far * far * BOX_SLACK);
  int64_t first[BOX_LEVELS], count = 0;
  unsigned bits[BOX_LEVELS];
  int level = tree->levels - 1;
  first[level] = 0;
  bits[level] = boxes_near(tree->eight[level][0], at, limit);
  while (level < tree->levels) {
    if (bits[level] == 0) {
      level++;
      continue;
    }
    int64_t below = first[level] + __builtin_ctz(bits[level]);
    bits[level] &= bits[level] - 1;
    if (level > 0) {
      level--;
      first[level] = LANES * below;
      bits[level] = boxes_near(tree->eight[level][below], at, limit);
      continue;
    }
    if (--*looks < 0 || count + LANES > room) return -1;
    int64_t points = LANES * below;
    unsigned near = points_near(tree, &points, at, query.radius, reach);
    int32_t eight[LANES];
    *(WideIntUnaligned *)eight = wide_load_int(abreast) + (int32_t)points;
    wide_pack(out + count, near, eight, pack_lanes);
    count += __builtin_popcount(near);
  }
  return count;
}
