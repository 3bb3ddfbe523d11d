/* Closest point and winding number through the wide tree, eight children or triangles at a time.
 *
 * Single precision only sorts out what cannot matter, with a margin for its rounding; what is left is computed in
 * double. So the closest point is exact, and the same for both builds of this file. */
#include <float.h>

#include "core/portable.h"
#include "geometry/bvh_nodes.h"
#include "geometry/triangle_law.h"

static const double PI = 3.14159265358979323846;

typedef struct Pending {
  float least; /* squared distance of its box */
  int32_t first, count, pack;
} Pending;

/* Squared distances to the boxes of eight children. */
WIDE_INLINE Wide box_distances(const BvhWide *node, const float p[3]) {
  Wide sum = wide_set(0);
  for (int k = 0; k < 3; k++) {
    Wide at = wide_set(p[k]);
    Wide gap = wide_max(wide_max(wide_load(node->low[k]) - at, at - wide_load(node->high[k])), wide_set(0));
    sum += gap * gap;
  }
  return sum;
}

/* The way down is a chain of cache misses: what is likely next is fetched while its siblings are sorted. */
static inline void prefetch_child(const Bvh *bvh, const BvhWide *node, int lane) {
  const char *block =
      node->count[lane] ? (const char *)&bvh->packs[node->pack[lane]] : (const char *)&bvh->wide[node->first[lane]];
  for (int line = 0; line < 5; line++) __builtin_prefetch(block + 64 * line);
}

/* Puts the children that may hold something nearer on the stack, the nearest last. */
static inline int push_children(const Bvh *bvh, int32_t n, const float p[3], float limit, Pending *stack, int top) {
  const BvhWide *node = &bvh->wide[n];
  Wide least = box_distances(node, p);
  unsigned bits = wide_bits(wide_less_equal(least, wide_set(limit))) & node->used;
  int bottom = top;
  while (bits) {
    int lane = __builtin_ctz(bits);
    bits &= bits - 1;
    prefetch_child(bvh, node, lane);
    Pending child = {least[lane], node->first[lane], node->count[lane], node->pack[lane]};
    int at = top++;
    for (; at > bottom && stack[at - 1].least < child.least; at--) stack[at] = stack[at - 1];
    stack[at] = child;
  }
  return top;
}

WIDE_INLINE Wide wide_dot(const Wide a[3], const Wide b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
WIDE_INLINE void wide_cross(const Wide a[3], const Wide b[3], Wide out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Squared distance of p, given from the start of a segment, to the segment. */
WIDE_INLINE Wide segment_distance2(const Wide p[3], const Wide side[3]) {
  const Wide zero = wide_set(0), one = wide_set(1);
  Wide along = wide_dot(p, side) / wide_max(wide_dot(side, side), wide_set(FLT_MIN));
  along = wide_min(wide_max(along, zero), one);
  Wide d[3];
  for (int k = 0; k < 3; k++) d[k] = p[k] - along * side[k];
  return wide_dot(d, d);
}

/* Squared distances to the triangles of a leaf. The least of three segments and, over the triangle, its
 * plane: unlike a choice of region by barycentric signs this is well conditioned for needles too, so that rounding
 * moves the result by no more than it moves the corners. */
WIDE_INLINE Wide triangle_distances(const BvhPack *pack, const float p[3]) {
  const Wide zero = wide_set(0);
  Wide ab[3], ac[3], bc[3], ap[3], bp[3], normal[3], edge[3];
  for (int k = 0; k < 3; k++) {
    ab[k] = wide_load(pack->ab[k]);
    ac[k] = wide_load(pack->ac[k]);
    bc[k] = ac[k] - ab[k];
    ap[k] = wide_set(p[k]) - wide_load(pack->a[k]);
    bp[k] = ap[k] - ab[k];
  }
  Wide least = wide_min(segment_distance2(ap, ab), wide_min(segment_distance2(ap, ac), segment_distance2(bp, bc)));
  wide_cross(ab, ac, normal);
  wide_cross(ab, ap, edge);
  WideInt over = wide_less_equal(zero, wide_dot(edge, normal));
  wide_cross(ap, ac, edge);
  over &= wide_less_equal(zero, wide_dot(edge, normal));
  wide_cross(bc, bp, edge);
  over &= wide_less_equal(zero, wide_dot(edge, normal));
  Wide size = wide_dot(normal, normal), height = wide_dot(ap, normal);
  over &= wide_less(wide_set(FLT_MIN), size);
  return wide_select(over, wide_min(least, height * height / wide_max(size, wide_set(FLT_MIN))), least);
}

/* What a scaled distance in single precision may be off by, generously: the extent is at most 1. */
static inline double rounding(const float at[3]) {
  return 2e-6 * (double)(fabsf(at[0]) + fabsf(at[1]) + fabsf(at[2]) + 3);
}

/* The scaled square that a distance in single precision must not pass. */
static inline float limit_of(const Bvh *bvh, double best, double slack) {
  double reach = sqrt(best) * bvh->scale + slack;
  return reach < 1e18 ? (float)(reach * reach) : 1e36f;
}

WIDE_INLINE int nearest_lane(Wide least, unsigned bits) {
  int best = __builtin_ctz(bits);
  for (bits &= bits - 1; bits; bits &= bits - 1) {
    int lane = __builtin_ctz(bits);
    if (least[lane] < least[best]) best = lane;
  }
  return best;
}

void KERNEL(bvh_closest_kernel)(const Bvh *bvh, Vec3 p, NearestPoint *nearest) {
  const float at[3] = {(float)(p.x * bvh->scale), (float)(p.y * bvh->scale), (float)(p.z * bvh->scale)};
  double slack = rounding(at);
  NearestPoint best = *nearest;
  float limit = limit_of(bvh, best.square, slack);
  Pending stack[(LANES - 1) * BVH_DEPTH_MAX + 1];
  int top = push_children(bvh, 0, at, limit, stack, 0);
  while (top > 0) {
    Pending pending = stack[--top];
    if (pending.least > limit) continue;
    if (pending.count == 0) {
      top = push_children(bvh, pending.first, at, limit, stack, top);
      continue;
    }
    Wide least = triangle_distances(&bvh->packs[pending.pack], at);
    unsigned lanes = (1u << pending.count) - 1;
    for (unsigned bits; (bits = lanes & wide_bits(wide_less_equal(least, wide_set(limit)))) != 0;) {
      int lane = nearest_lane(least, bits);
      lanes &= ~(1u << lane);
      const double before = best.square;
      best = nearest_look(best, &bvh->triangles[pending.first + lane], pending.first + lane, p);
      if (best.square < before) limit = limit_of(bvh, best.square, slack);
    }
  }
  *nearest = best;
}

int64_t KERNEL(bvh_near_kernel)(const Bvh *bvh, Vec3 p, double reach, int64_t capacity, int32_t *places) {
  const float at[3] = {(float)(p.x * bvh->scale), (float)(p.y * bvh->scale), (float)(p.z * bvh->scale)};
  float limit = limit_of(bvh, reach * reach, rounding(at));
  int64_t found = 0;
  Pending stack[(LANES - 1) * BVH_DEPTH_MAX + 1];
  int top = push_children(bvh, 0, at, limit, stack, 0);
  while (top > 0 && found <= capacity) {
    Pending pending = stack[--top];
    if (pending.count == 0) {
      top = push_children(bvh, pending.first, at, limit, stack, top);
      continue;
    }
    Wide least = triangle_distances(&bvh->packs[pending.pack], at);
    unsigned bits = ((1u << pending.count) - 1) & wide_bits(wide_less_equal(least, wide_set(limit)));
    for (; bits; bits &= bits - 1, found++)
      if (found < capacity) places[found] = pending.first + __builtin_ctz(bits);
  }
  return found;
}

/* Sum of solid angles without an arctangent for each: half the angle of a triangle is the argument of a complex
 * number (van Oosterom and Strackee 1983), arguments add under multiplication, and full turns are counted. */
typedef struct AngleSum {
  double re, im;
  int turns;
} AngleSum;

static void angle_add(AngleSum *sum, const BvhTriangle *triangle, Vec3 p) {
  Vec3 a = vec3_sub(triangle->a, p), b = vec3_add(a, triangle->ab), c = vec3_add(a, triangle->ac);
  double la = vec3_length(a), lb = vec3_length(b), lc = vec3_length(c);
  double im = vec3_dot(a, vec3_cross(triangle->ab, triangle->ac));
  double re = la * lb * lc + vec3_dot(a, b) * lc + vec3_dot(b, c) * la + vec3_dot(c, a) * lb;
  double size = fabs(re) + fabs(im);
  /* On a corner, or in the triangle's plane: nothing, the mean of both sides where the point lies on it. */
  if (!(size > 0) || im == 0) return;
  re /= size;
  im /= size;
  double product_re = sum->re * re - sum->im * im, product_im = sum->re * im + sum->im * re;
  /* Each factor turns by less than half a turn, so crossing the negative axis shows in the signs. */
  if (im > 0 && sum->im >= 0 && product_im < 0) sum->turns++;
  if (im < 0 && sum->im < 0 && product_im >= 0) sum->turns--;
  double length = fabs(product_re) + fabs(product_im);
  sum->re = product_re / length;
  sum->im = product_im / length + 0.0; /* never -0, whose argument would be -pi */
}

/* Far enough for the expansion: 2 radii, as Barill et al. 2018 take. The worst error seen is 0.05 (coarse meshes),
 * which is far from 1/2, and 3 radii would cost twice the time for 0.016. A single triangle has one term only. */
#define WINDING_FAR 2.0f
#define WINDING_FAR_TRIANGLE 3.0f
/* Nearer than this (squared, of an extent of 1) nothing is far, however small it is: the cube of the distance would not
 * be a normal float, and what is divided by it not finite. */
#define WINDING_NEAR 1e-24f

WIDE_INLINE WideInt winding_far(Wide limit, Wide distance2) {
  return wide_less(wide_max(limit * limit, wide_set(WINDING_NEAR)), distance2);
}

/* Adds the dipoles of the leaf's triangles that are far; returns the others as bits. */
WIDE_INLINE unsigned leaf_winding(const BvhPack *pack, int32_t count, const float p[3], Wide *sum) {
  Wide ab[3], ac[3], d[3], normal[3];
  for (int k = 0; k < 3; k++) {
    ab[k] = wide_load(pack->ab[k]);
    ac[k] = wide_load(pack->ac[k]);
    d[k] = wide_load(pack->a[k]) - wide_set(p[k]) + (ab[k] + ac[k]) * wide_set(1.0f / 3);
  }
  wide_cross(ab, ac, normal);
  Wide distance2 = wide_dot(d, d), dipole = wide_set(0.5f) * wide_dot(normal, d);
  Wide limit = wide_set(WINDING_FAR_TRIANGLE) * wide_load(pack->radius);
  const WideInt lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  WideInt used = wide_int_less(lanes, (WideInt){0} + count);
  WideInt far = winding_far(limit, distance2) & used;
  Wide held = wide_select(far, distance2, wide_set(1));
  *sum += wide_select(far, dipole / (held * wide_sqrt(held)), wide_set(0));
  return wide_bits(used & ~far);
}

/* The same for eight children with both terms. */
WIDE_INLINE unsigned node_winding(const BvhMoments *node, const float p[3], Wide *sum) {
  Wide d[3], distance2 = wide_set(0), dipole = wide_set(0);
  for (int k = 0; k < 3; k++) {
    d[k] = wide_load(node->center[k]) - wide_set(p[k]);
    distance2 += d[k] * d[k];
    dipole += wide_load(node->normal[k]) * d[k];
  }
  Wide limit = wide_set(WINDING_FAR) * wide_load(node->radius);
  WideInt far = winding_far(limit, distance2);
  Wide m[6];
  for (int k = 0; k < 6; k++) m[k] = wide_load(node->slope[k]);
  Wide quadric = m[0] * d[0] * d[0] + m[1] * d[1] * d[1] + m[2] * d[2] * d[2] +
                 wide_set(2) * (m[3] * d[0] * d[1] + m[4] * d[1] * d[2] + m[5] * d[2] * d[0]);
  Wide held = wide_select(far, distance2, wide_set(1));
  Wide term = (dipole + m[0] + m[1] + m[2] - wide_set(3) * quadric / held) / (held * wide_sqrt(held));
  *sum += wide_select(far, term, wide_set(0));
  return wide_bits(~far);
}

double KERNEL(bvh_winding_kernel)(const Bvh *bvh, Vec3 p) {
  const float at[3] = {(float)(p.x * bvh->scale), (float)(p.y * bvh->scale), (float)(p.z * bvh->scale)};
  Wide far_sum = wide_set(0);
  AngleSum near_sum = {1, 0, 0};
  int32_t stack[(LANES - 1) * BVH_DEPTH_MAX + 1];
  int top = 0;
  stack[top++] = 0;
  while (top > 0) {
    int32_t n = stack[--top];
    const BvhWide *node = &bvh->wide[n];
    for (unsigned bits = node_winding(&bvh->moments[n], at, &far_sum) & node->used; bits; bits &= bits - 1) {
      int lane = __builtin_ctz(bits);
      if (node->count[lane] == 0) {
        stack[top++] = node->first[lane];
        continue;
      }
      unsigned close = leaf_winding(&bvh->packs[node->pack[lane]], node->count[lane], at, &far_sum);
      for (; close; close &= close - 1)
        angle_add(&near_sum, &bvh->triangles[node->first[lane] + __builtin_ctz(close)], p);
    }
  }
  double near_angle = portable_atan2(near_sum.im, near_sum.re) + 2 * PI * near_sum.turns;
  return (double)wide_sum(far_sum) / (4 * PI) + near_angle / (2 * PI);
}
