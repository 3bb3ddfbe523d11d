/* Building: top down by the surface area heuristic over bins, then the moments from the leaves up. */
#include <float.h>

#include "geometry/bvh_nodes.h"

enum { BINS = 16, SAH_DEPTH = 48 };

typedef struct Box {
  float low[3], high[3];
} Box;

static Box box_empty(void) { return (Box){{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}}; }
static void box_add(Box *box, const Box *other) {
  for (int k = 0; k < 3; k++) {
    if (other->low[k] < box->low[k]) box->low[k] = other->low[k];
    if (other->high[k] > box->high[k]) box->high[k] = other->high[k];
  }
}
static float box_area(const Box *box) {
  float x = box->high[0] - box->low[0], y = box->high[1] - box->low[1], z = box->high[2] - box->low[2];
  return x * y + y * z + z * x;
}

typedef struct Builder {
  Bvh *bvh;
  Box *boxes; /* of the triangles, by their number in the mesh */
} Builder;

static float center_of(const Box *box, int axis) { return 0.5f * (box->low[axis] + box->high[axis]); }

static Box triangle_box(const Mesh *mesh, int64_t t, Vec3 origin) {
  Box box = box_empty();
  for (int c = 0; c < 3; c++) {
    Vec3 p = vec3_sub(mesh->vertices[mesh->triangles[t][c]], origin);
    for (int k = 0; k < 3; k++) {
      float value = (float)vec3_get(p, k);
      /* One step outwards holds what the rounding to float lost. */
      float below = nextafterf(value, -FLT_MAX), above = nextafterf(value, FLT_MAX);
      if (below < box.low[k]) box.low[k] = below;
      if (above > box.high[k]) box.high[k] = above;
    }
  }
  return box;
}

/* Splits order[b, e) where the heuristic is least; returns the middle, or b when no plane parts the centres. */
static int64_t split_by_bins(Builder *builder, int64_t b, int64_t e, const Box *centers) {
  int axis = 0;
  for (int k = 1; k < 3; k++)
    if (centers->high[k] - centers->low[k] > centers->high[axis] - centers->low[axis]) axis = k;
  float low = centers->low[axis], width = centers->high[axis] - low;
  if (!(width > 0)) return b;
  float scale = (float)BINS * 0.9999f / width;
  int32_t *order = builder->bvh->order;
  Box bins[BINS];
  int64_t counts[BINS] = {0};
  for (int k = 0; k < BINS; k++) bins[k] = box_empty();
  for (int64_t i = b; i < e; i++) {
    const Box *box = &builder->boxes[order[i]];
    int bin = (int)((center_of(box, axis) - low) * scale);
    counts[bin]++;
    box_add(&bins[bin], box);
  }
  float right_cost[BINS];
  Box box = box_empty();
  int64_t count = 0;
  for (int k = BINS - 1; k > 0; k--) {
    box_add(&box, &bins[k]);
    count += counts[k];
    right_cost[k] = count ? box_area(&box) * (float)count : 0;
  }
  int best = -1;
  float best_cost = FLT_MAX;
  box = box_empty();
  count = 0;
  for (int k = 1; k < BINS; k++) {
    box_add(&box, &bins[k - 1]);
    count += counts[k - 1];
    if (count == 0 || count == e - b) continue;
    float cost = box_area(&box) * (float)count + right_cost[k];
    if (cost < best_cost) best_cost = cost, best = k;
  }
  if (best < 0) return b;
  int64_t i = b, j = e;
  while (i < j) {
    int bin = (int)((center_of(&builder->boxes[order[i]], axis) - low) * scale);
    if (bin < best) {
      i++;
    } else {
      int32_t swap = order[i];
      order[i] = order[--j];
      order[j] = swap;
    }
  }
  return i;
}

typedef struct Task {
  int64_t node, begin, end;
  int depth;
} Task;

static void build_nodes(Builder *builder) {
  Bvh *bvh = builder->bvh;
  Task stack[2 * BVH_DEPTH_MAX];
  int top = 0;
  stack[top++] = (Task){0, 0, bvh->mesh.triangle_count, 0};
  bvh->node_count = 1;
  while (top > 0) {
    Task task = stack[--top];
    Box box = box_empty(), centers = box_empty();
    for (int64_t i = task.begin; i < task.end; i++) {
      const Box *triangle = &builder->boxes[bvh->order[i]];
      Box center;
      for (int k = 0; k < 3; k++) center.low[k] = center.high[k] = center_of(triangle, k);
      box_add(&box, triangle);
      box_add(&centers, &center);
    }
    BvhNode *node = &bvh->nodes[task.node];
    for (int k = 0; k < 3; k++) node->low[k] = box.low[k], node->high[k] = box.high[k];
    int64_t count = task.end - task.begin;
    if (count <= BVH_LEAF_MAX) {
      node->first = (int32_t)task.begin;
      node->count = (int32_t)count;
      continue;
    }
    /* Below SAH_DEPTH halves only: 31 more levels hold any mesh, so the depth stays under BVH_DEPTH_MAX. */
    int64_t middle = task.depth < SAH_DEPTH ? split_by_bins(builder, task.begin, task.end, &centers) : task.begin;
    if (middle == task.begin) middle = task.begin + count / 2;
    node->first = (int32_t)bvh->node_count;
    node->count = 0;
    stack[top++] = (Task){bvh->node_count + 1, middle, task.end, task.depth + 1};
    stack[top++] = (Task){bvh->node_count, task.begin, middle, task.depth + 1};
    bvh->node_count += 2;
  }
}

/* Moments in double, until they are complete. */
typedef struct Sum {
  Vec3 center, normal;
  double area, radius;
  double slope[6];
} Sum;

static void slope_add(double slope[6], Vec3 d, Vec3 n) {
  slope[0] += d.x * n.x;
  slope[1] += d.y * n.y;
  slope[2] += d.z * n.z;
  slope[3] += 0.5 * (d.x * n.y + d.y * n.x);
  slope[4] += 0.5 * (d.y * n.z + d.z * n.y);
  slope[5] += 0.5 * (d.z * n.x + d.x * n.z);
}

static Vec3 node_center(const BvhNode *node) {
  return vec3(0.5 * ((double)node->low[0] + (double)node->high[0]),
              0.5 * ((double)node->low[1] + (double)node->high[1]),
              0.5 * ((double)node->low[2] + (double)node->high[2]));
}

static Sum leaf_sum(const Bvh *bvh, const BvhNode *node) {
  Sum sum = {0};
  Vec3 weighted = vec3(0, 0, 0);
  for (int32_t t = node->first; t < node->first + node->count; t++) {
    const BvhTriangle *triangle = &bvh->triangles[t];
    Vec3 normal = vec3_scale(vec3_cross(triangle->ab, triangle->ac), 0.5);
    Vec3 middle = vec3_madd(triangle->a, vec3_add(triangle->ab, triangle->ac), 1.0 / 3);
    double area = vec3_length(normal);
    sum.area += area;
    sum.normal = vec3_add(sum.normal, normal);
    weighted = vec3_madd(weighted, middle, area);
  }
  sum.center = sum.area > 0 ? vec3_scale(weighted, 1 / sum.area) : node_center(node);
  for (int32_t t = node->first; t < node->first + node->count; t++) {
    const BvhTriangle *triangle = &bvh->triangles[t];
    Vec3 normal = vec3_scale(vec3_cross(triangle->ab, triangle->ac), 0.5);
    Vec3 d = vec3_sub(triangle->a, sum.center);
    /* Over one triangle the deviation from its own middle integrates to nothing. */
    slope_add(sum.slope, vec3_madd(d, vec3_add(triangle->ab, triangle->ac), 1.0 / 3), normal);
    sum.radius = fmax(sum.radius, vec3_length(d));
    sum.radius = fmax(sum.radius, vec3_length(vec3_add(d, triangle->ab)));
    sum.radius = fmax(sum.radius, vec3_length(vec3_add(d, triangle->ac)));
  }
  return sum;
}

static Sum inner_sum(const Sum *left, const Sum *right, const BvhNode *node) {
  Sum sum = {.area = left->area + right->area, .normal = vec3_add(left->normal, right->normal)};
  sum.center = node_center(node);
  if (sum.area > 0)
    sum.center = vec3_scale(vec3_madd(vec3_scale(left->center, left->area), right->center, right->area), 1 / sum.area);
  for (int side = 0; side < 2; side++) {
    const Sum *child = side ? right : left;
    Vec3 shift = vec3_sub(child->center, sum.center);
    for (int k = 0; k < 6; k++) sum.slope[k] += child->slope[k];
    slope_add(sum.slope, shift, child->normal);
    sum.radius = fmax(sum.radius, vec3_length(shift) + child->radius);
  }
  Vec3 corner;
  corner.x = fmax((double)node->high[0] - sum.center.x, sum.center.x - (double)node->low[0]);
  corner.y = fmax((double)node->high[1] - sum.center.y, sum.center.y - (double)node->low[1]);
  corner.z = fmax((double)node->high[2] - sum.center.z, sum.center.z - (double)node->low[2]);
  sum.radius = fmin(sum.radius, vec3_length(corner));
  return sum;
}

static void build_sums(const Bvh *bvh, Sum *sums) {
  /* Children come after their parent. */
  for (int64_t n = bvh->node_count - 1; n >= 0; n--) {
    const BvhNode *node = &bvh->nodes[n];
    sums[n] = node->count ? leaf_sum(bvh, node) : inner_sum(&sums[node->first], &sums[node->first + 1], node);
  }
}

static void wide_lane(Bvh *bvh, int64_t w, int lane, const BvhNode *node, const Sum *sum) {
  BvhWide *wide = &bvh->wide[w];
  BvhMoments *moments = &bvh->moments[w];
  double scale = bvh->scale, area = scale * scale, volume = area * scale;
  for (int k = 0; k < 3; k++) {
    /* Powers of two scale without rounding, so the boxes stay outside. */
    wide->low[k][lane] = (float)((double)node->low[k] * scale);
    wide->high[k][lane] = (float)((double)node->high[k] * scale);
    moments->center[k][lane] = (float)(vec3_get(sum->center, k) * scale);
    moments->normal[k][lane] = (float)(vec3_get(sum->normal, k) * area);
  }
  for (int k = 0; k < 6; k++) moments->slope[k][lane] = (float)(sum->slope[k] * volume);
  moments->radius[lane] = (float)(sum->radius * scale) * 1.00001f;
  wide->first[lane] = node->first;
  wide->count[lane] = node->count;
  wide->used |= 1u << lane;
}

/* From afar a lane without triangles is nothing. */
static void wide_lane_empty(BvhMoments *moments, int lane) {
  for (int k = 0; k < 3; k++) moments->center[k][lane] = 1e9f;
}

static float node_area(const BvhNode *node) {
  float x = node->high[0] - node->low[0], y = node->high[1] - node->low[1], z = node->high[2] - node->low[2];
  return x * y + y * z + z * x;
}

/* Gathers up to eight descendants of a node: again and again the largest inner one is replaced by its two children. */
static int fold(const Bvh *bvh, int32_t root, int32_t members[LANES]) {
  int count = 1;
  members[0] = root;
  while (count < LANES) {
    int largest = -1;
    for (int k = 0; k < count; k++) {
      if (bvh->nodes[members[k]].count) continue;
      if (largest < 0 || node_area(&bvh->nodes[members[k]]) > node_area(&bvh->nodes[members[largest]])) largest = k;
    }
    if (largest < 0) break;
    int32_t first = bvh->nodes[members[largest]].first;
    members[largest] = first;
    members[count++] = first + 1;
  }
  return count;
}

static void pack_leaf(Bvh *bvh, const BvhNode *node) {
  BvhPack *pack = &bvh->packs[bvh->pack_count++];
  for (int lane = 0; lane < node->count; lane++) {
    const BvhTriangle *triangle = &bvh->triangles[node->first + lane];
    Vec3 third = vec3_scale(vec3_add(triangle->ab, triangle->ac), 1.0 / 3);
    double radius = fmax(vec3_length(vec3_sub(triangle->ab, third)), vec3_length(vec3_sub(triangle->ac, third)));
    pack->radius[lane] = (float)(fmax(radius, vec3_length(third)) * bvh->scale) * 1.00001f;
    for (int k = 0; k < 3; k++) {
      pack->a[k][lane] = (float)(vec3_get(triangle->a, k) * bvh->scale);
      pack->ab[k][lane] = (float)(vec3_get(triangle->ab, k) * bvh->scale);
      pack->ac[k][lane] = (float)(vec3_get(triangle->ac, k) * bvh->scale);
    }
  }
}

/* source[w]: the binary node that wide node w stands for. Wide nodes are appended while they are gone through. */
static void build_wide(Bvh *bvh, const Sum *sums, int32_t *source) {
  source[0] = 0;
  bvh->wide_count = 1;
  for (int64_t w = 0; w < bvh->wide_count; w++) {
    int32_t members[LANES];
    int count = fold(bvh, source[w], members);
    BvhWide *wide = &bvh->wide[w];
    for (int lane = 0; lane < LANES; lane++) {
      if (lane >= count) {
        wide_lane_empty(&bvh->moments[w], lane);
        continue;
      }
      const BvhNode *node = &bvh->nodes[members[lane]];
      wide_lane(bvh, w, lane, node, &sums[members[lane]]);
      if (node->count) {
        wide->pack[lane] = (int32_t)bvh->pack_count;
        pack_leaf(bvh, node);
      } else {
        source[bvh->wide_count] = members[lane];
        wide->first[lane] = (int32_t)bvh->wide_count++;
      }
    }
  }
}

static void copy_triangles(Bvh *bvh) {
  const Mesh *mesh = &bvh->mesh;
  for (int64_t i = 0; i < mesh->triangle_count; i++) {
    const int32_t *corner = mesh->triangles[bvh->order[i]];
    Vec3 a = mesh->vertices[corner[0]];
    bvh->triangles[i] = (BvhTriangle){vec3_sub(a, bvh->origin), vec3_sub(mesh->vertices[corner[1]], a),
                                      vec3_sub(mesh->vertices[corner[2]], a)};
  }
}

typedef struct Temporary {
  Sum *sums;
  int32_t *source;
} Temporary;

static Status build(Core *core, Builder *builder, Temporary *temporary) {
  Bvh *bvh = builder->bvh;
  int64_t count = bvh->mesh.triangle_count;
  TRY(memory_new(core, &builder->boxes, count, "bvh"));
  TRY(memory_new(core, &bvh->order, count, "bvh"));
  TRY(memory_new(core, &bvh->triangles, count, "bvh"));
  TRY(memory_new(core, &bvh->nodes, 2 * count, "bvh"));
  for (int64_t t = 0; t < count; t++) {
    bvh->order[t] = (int32_t)t;
    builder->boxes[t] = triangle_box(&bvh->mesh, t, bvh->origin);
  }
  build_nodes(builder);
  memory_drop(core, &builder->boxes);
  copy_triangles(bvh);
  TRY(memory_new(core, &temporary->sums, bvh->node_count, "bvh"));
  TRY(memory_new(core, &temporary->source, bvh->node_count, "bvh"));
  build_sums(bvh, temporary->sums);
  /* A wide node has at least two members unless it is the root, so half of the binary ones bounds their number;
   * one more than half of them are leaves. */
  TRY(memory_new(core, &bvh->wide, bvh->node_count / 2 + 1, "bvh"));
  TRY(memory_new(core, &bvh->moments, bvh->node_count / 2 + 1, "bvh"));
  TRY(memory_new(core, &bvh->packs, bvh->node_count / 2 + 1, "bvh"));
  build_wide(bvh, temporary->sums, temporary->source);
  return SCREE_OK;
}

Status bvh_build(Core *core, const Mesh *mesh, Bvh **bvh) {
  *bvh = NULL;
  if (mesh->triangle_count <= 0 || mesh->triangle_count >= INT32_MAX / 2)
    return fail(core, SCREE_BAD_ARGUMENT, "a tree over %lld triangles", (long long)mesh->triangle_count);
  TRY(memory_new(core, bvh, 1, "bvh"));
  Vec3 low, high;
  mesh_bounds(mesh, &low, &high);
  (*bvh)->mesh = *mesh;
  (*bvh)->origin = vec3_scale(vec3_add(low, high), 0.5);
  (*bvh)->extent = fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z)) / 2;
  int exponent; /* of the power of two that is not below the extent */
  if (frexp((*bvh)->extent, &exponent) == 0.5) exponent--;
  (*bvh)->scale = (*bvh)->extent > 0 ? ldexp(1, -exponent) : 1;
  (*bvh)->wide_kernels = simd_wide(core);
  Builder builder = {.bvh = *bvh};
  Temporary temporary = {0};
  Status status = build(core, &builder, &temporary);
  memory_drop(core, &builder.boxes);
  memory_drop(core, &temporary.sums);
  memory_drop(core, &temporary.source);
  if (status != SCREE_OK) {
    bvh_destroy(core, *bvh);
    *bvh = NULL;
  }
  return status;
}

void bvh_destroy(Core *core, Bvh *bvh) {
  if (!bvh) return;
  memory_drop(core, &bvh->nodes);
  memory_drop(core, &bvh->wide);
  memory_drop(core, &bvh->moments);
  memory_drop(core, &bvh->packs);
  memory_drop(core, &bvh->triangles);
  memory_drop(core, &bvh->order);
  memory_drop(core, &bvh);
}
