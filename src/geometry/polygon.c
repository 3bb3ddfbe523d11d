/* Cutting polygons into triangles by clipping ears.
 *
 * Whatever the outcome for a twisted or self-crossing polygon, each of its edges is the edge of exactly one triangle
 * with the same sense, and all others come in opposite pairs: a closed surface stays closed. */
#include "geometry/mesh_builder.h"

typedef struct Corner {
  double x, y; /* in the polygon's plane, counter-clockwise */
  int32_t next, previous;
  int32_t vertex;
  bool reflex;  /* may lie in somebody's ear */
  bool refused; /* was no ear when last looked at */
} Corner;

/* Newell's normal: right for concave polygons, the best fit for twisted ones. */
static Vec3 polygon_normal(const Vec3 *vertices, const int32_t *corners, int64_t count) {
  Vec3 normal = vec3(0, 0, 0), origin = vertices[corners[0]];
  for (int64_t i = 0; i < count; i++) {
    Vec3 a = vec3_sub(vertices[corners[i]], origin);
    Vec3 b = vec3_sub(vertices[corners[i + 1 < count ? i + 1 : 0]], origin);
    normal = vec3_add(normal, vec3_cross(a, b));
  }
  return normal;
}

static double turn(const Corner *a, const Corner *b, const Corner *c) {
  return (b->x - a->x) * (c->y - b->y) - (b->y - a->y) * (c->x - b->x);
}

static double turn_at(const Corner *ring, int32_t i) {
  return turn(&ring[ring[i].previous], &ring[i], &ring[ring[i].next]);
}

static bool same_place(const Corner *a, const Corner *b) { return a->x == b->x && a->y == b->y; }

static bool is_ear(const Corner *ring, int32_t i) {
  const Corner *a = &ring[ring[i].previous], *b = &ring[i], *c = &ring[ring[i].next];
  if (turn(a, b, c) <= 0) return false;
  for (int32_t k = c->next; &ring[k] != a; k = ring[k].next) {
    const Corner *p = &ring[k];
    if (!p->reflex || same_place(p, a) || same_place(p, b) || same_place(p, c)) continue;
    if (turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0) return false;
  }
  return true;
}

/* Takes corner i out of the ring. */
static void clip(Corner *ring, int32_t i, int32_t triangle[3]) {
  int32_t before = ring[i].previous, after = ring[i].next;
  triangle[0] = ring[before].vertex;
  triangle[1] = ring[i].vertex;
  triangle[2] = ring[after].vertex;
  ring[before].next = after;
  ring[after].previous = before;
  for (int side = 0; side < 2; side++) {
    int32_t k = side ? after : before;
    ring[k].refused = false;
    /* A reflex corner can become convex; never the other way in a simple polygon. */
    ring[k].reflex = turn_at(ring, k) <= 0;
  }
}

static void clip_ears(Corner *ring, int64_t count, int32_t (*triangles)[3]) {
  int32_t i = 0;
  int64_t made = 0, waited = 0;
  bool looked_again = false;
  while (made < count - 2) {
    bool ear = !ring[i].refused && is_ear(ring, i);
    bool stuck = waited > count - made;
    if (stuck && !looked_again) {
      /* Corners far away can free an ear too: forget all refusals once. */
      int32_t k = i;
      do ring[k].refused = false;
      while ((k = ring[k].next) != i);
      looked_again = true;
      waited = 0;
    } else if (ear || stuck) {
      int32_t next = ring[i].next;
      clip(ring, i, triangles[made++]);
      looked_again = false;
      waited = 0;
      i = ring[next].next; /* leave the neighbour for later: gives rounder triangles than a fan */
    } else {
      ring[i].refused = true;
      waited++;
      i = ring[i].next;
    }
  }
}

Status polygon_triangulate(Core *core, const Vec3 *vertices, const int32_t *corners, int64_t count,
                           int32_t (*triangles)[3]) {
  enum { ON_STACK = 32 };
  Corner few[ON_STACK], *ring = few, *many = NULL;
  if (count > ON_STACK) TRY(memory_new(core, &many, count, "polygon"));
  if (many) ring = many;
  Vec3 normal = vec3_normalize(polygon_normal(vertices, corners, count)), u, v;
  if (!(vec3_length(normal) > 0.5)) normal = vec3(0, 0, 1);
  vec3_frame(normal, &u, &v);
  for (int64_t i = 0; i < count; i++) {
    Vec3 p = vec3_sub(vertices[corners[i]], vertices[corners[0]]);
    ring[i] = (Corner){.x = vec3_dot(p, u), .y = vec3_dot(p, v), .vertex = corners[i]};
    ring[i].next = (int32_t)(i + 1 < count ? i + 1 : 0);
    ring[i].previous = (int32_t)(i > 0 ? i - 1 : count - 1);
  }
  int64_t reflex = 0;
  for (int32_t i = 0; i < count; i++) {
    ring[i].reflex = turn_at(ring, i) <= 0;
    reflex += turn_at(ring, i) < 0;
  }
  Status status = SCREE_OK;
  if (reflex == 0) {
    for (int64_t i = 0; i < count - 2; i++)
      for (int k = 0; k < 3; k++) triangles[i][k] = corners[k == 0 ? 0 : i + k];
  } else if (count > POLYGON_CONCAVE_MAX) {
    status = fail(core, SCREE_BAD_INPUT, "a concave face of %lld corners (at most %d can be cut into triangles)",
                  (long long)count, POLYGON_CONCAVE_MAX);
  } else {
    clip_ears(ring, count, triangles);
  }
  memory_drop(core, &many);
  return status;
}
