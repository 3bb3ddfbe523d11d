/* Is a mesh a proper surface? Edges are matched by sorting, triangles that disagree with their neighbours turned. */
#include <stdlib.h>

#include "geometry/mesh.h"

/* A side of a triangle, filed under the smaller of its two vertices. */
typedef struct Side {
  int32_t other; /* the larger vertex */
  uint32_t half; /* 3 triangle + corner at which it starts */
} Side;

typedef struct Topology {
  int64_t *begin; /* sides of vertex v: begin[v] .. begin[v + 1] */
  Side *sides;
  uint32_t *partner; /* of a half: the one half on the other side, or MESH_NO_PARTNER */
  int64_t open_edges, flipped_edges;
} Topology;

static int side_order(const void *left, const void *right) {
  const Side *a = left, *b = right;
  if (a->other != b->other) return a->other < b->other ? -1 : 1;
  return a->half < b->half ? -1 : a->half > b->half;
}

static void half_ends(const Mesh *mesh, uint32_t half, int32_t *from, int32_t *to) {
  const int32_t *corner = mesh->triangles[half / 3];
  *from = corner[half % 3];
  *to = corner[(half + 1) % 3];
}

static void topology_destroy(Core *core, Topology *topology) {
  memory_drop(core, &topology->begin);
  memory_drop(core, &topology->sides);
  memory_drop(core, &topology->partner);
}

/* Sides of one edge: all with the same two vertices. */
static void count_edge(const Mesh *mesh, Topology *topology, const Side *sides, int64_t count) {
  int64_t balance = 0;
  for (int64_t k = 0; k < count; k++) {
    int32_t from, to;
    half_ends(mesh, sides[k].half, &from, &to);
    balance += from < to ? 1 : -1;
  }
  if (count % 2) topology->open_edges++;
  else if (balance != 0) topology->flipped_edges++;
  if (count == 2) {
    topology->partner[sides[0].half] = sides[1].half;
    topology->partner[sides[1].half] = sides[0].half;
  }
}

static Status topology_build(Core *core, const Mesh *mesh, Topology *topology) {
  int64_t halves = 3 * mesh->triangle_count;
  TRY(memory_new(core, &topology->begin, mesh->vertex_count + 2, "mesh edges"));
  TRY(memory_new(core, &topology->sides, halves, "mesh edges"));
  TRY(memory_new(core, &topology->partner, halves, "mesh edges"));
  int64_t *begin = topology->begin;
  for (int64_t h = 0; h < halves; h++) {
    int32_t from, to;
    half_ends(mesh, (uint32_t)h, &from, &to);
    begin[(from < to ? from : to) + 2]++;
    topology->partner[h] = MESH_NO_PARTNER;
  }
  for (int64_t v = 1; v <= mesh->vertex_count; v++) begin[v + 1] += begin[v];
  for (int64_t h = 0; h < halves; h++) {
    int32_t from, to;
    half_ends(mesh, (uint32_t)h, &from, &to);
    topology->sides[begin[(from < to ? from : to) + 1]++] = (Side){from < to ? to : from, (uint32_t)h};
  }
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    int64_t b = begin[v], e = begin[v + 1];
    qsort(topology->sides + b, (size_t)(e - b), sizeof(Side), side_order);
    for (int64_t k = b; k < e;) {
      int64_t first = k;
      while (k < e && topology->sides[k].other == topology->sides[first].other) k++;
      count_edge(mesh, topology, topology->sides + first, k - first);
    }
  }
  return SCREE_OK;
}

static double triangle_area(const Mesh *mesh, int64_t t, double *longest) {
  const int32_t *corner = mesh->triangles[t];
  Vec3 a = mesh->vertices[corner[0]];
  Vec3 ab = vec3_sub(mesh->vertices[corner[1]], a), ac = vec3_sub(mesh->vertices[corner[2]], a);
  Vec3 bc = vec3_sub(ac, ab);
  *longest = sqrt(fmax(vec3_dot(ab, ab), fmax(vec3_dot(ac, ac), vec3_dot(bc, bc))));
  return 0.5 * vec3_length(vec3_cross(ab, ac));
}

/* A height of 1e-14 of the longest side is below what the coordinates can say; sides of less than 1e-30 are rubbish
 * whose cubes would vanish. */
static bool is_degenerate(const Mesh *mesh, int64_t t) {
  const int32_t *corner = mesh->triangles[t];
  if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) return true;
  double longest;
  double area = triangle_area(mesh, t, &longest);
  return !(longest > 1e-30 && area > 0.5e-14 * longest * longest);
}

static void drop_triangles(Mesh *mesh, bool (*bad)(const Mesh *mesh, int64_t t), int64_t *dropped) {
  int64_t kept = 0;
  for (int64_t t = 0; t < mesh->triangle_count; t++) {
    if (bad(mesh, t)) continue;
    for (int k = 0; k < 3; k++) mesh->triangles[kept][k] = mesh->triangles[t][k];
    kept++;
  }
  *dropped += mesh->triangle_count - kept;
  mesh->triangle_count = kept;
}

static bool has_repeated_corner(const Mesh *mesh, int64_t t) {
  const int32_t *corner = mesh->triangles[t];
  return corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0];
}

static void turn_triangle(Mesh *mesh, int64_t t) {
  int32_t corner = mesh->triangles[t][1];
  mesh->triangles[t][1] = mesh->triangles[t][2];
  mesh->triangles[t][2] = corner;
}

/* side[t]: 0 not seen, 1 as the first triangle of its part, 2 the other way round. Walks over the part that hangs
 * together through edges of exactly two triangles; false when it has no two sides (a Moebius band). */
static bool orient_part(const Mesh *mesh, const Topology *topology, int64_t start, uint8_t *side, int32_t *queue,
                        int64_t *size) {
  bool orientable = true;
  int64_t head = 0, tail = 0;
  queue[tail++] = (int32_t)start;
  side[start] = 1;
  while (head < tail) {
    int32_t t = queue[head++];
    for (int k = 0; k < 3; k++) {
      uint32_t half = 3 * (uint32_t)t + (uint32_t)k, partner = topology->partner[half];
      if (partner == MESH_NO_PARTNER) continue;
      int32_t from, to, other_from, other_to;
      half_ends(mesh, half, &from, &to);
      half_ends(mesh, partner, &other_from, &other_to);
      uint8_t wanted = from == other_from ? 3 - side[t] : side[t];
      int64_t u = partner / 3;
      if (side[u] == 0) {
        side[u] = wanted;
        queue[tail++] = (int32_t)u;
      } else if (side[u] != wanted) {
        orientable = false;
      }
    }
  }
  *size = tail;
  return orientable;
}

/* The side that has the lesser area is turned: a few flipped triangles, not the mesh around them. */
static int64_t turn_lesser_side(Mesh *mesh, const uint8_t *side, const int32_t *part, int64_t size) {
  double area[3] = {0}, longest;
  for (int64_t k = 0; k < size; k++) area[side[part[k]]] += triangle_area(mesh, part[k], &longest);
  uint8_t wrong = area[1] >= area[2] ? 2 : 1;
  int64_t turned = 0;
  for (int64_t k = 0; k < size; k++) {
    if (side[part[k]] != wrong) continue;
    turn_triangle(mesh, part[k]);
    turned++;
  }
  return turned;
}

static Status turn_flipped(Core *core, Mesh *mesh, const Topology *topology, int64_t *turned) {
  uint8_t *side = NULL;
  int32_t *queue = NULL;
  Status status = memory_new(core, &side, mesh->triangle_count, "mesh parts");
  if (status == SCREE_OK) status = memory_new(core, &queue, mesh->triangle_count, "mesh parts");
  for (int64_t t = 0; status == SCREE_OK && t < mesh->triangle_count; t++) {
    if (side[t]) continue;
    int64_t size = 0;
    if (orient_part(mesh, topology, t, side, queue, &size)) *turned += turn_lesser_side(mesh, side, queue, size);
  }
  memory_drop(core, &side);
  memory_drop(core, &queue);
  return status;
}

Status mesh_partners(Core *core, const Mesh *mesh, uint32_t **partner) {
  Topology topology = {0};
  Status status = topology_build(core, mesh, &topology);
  if (status == SCREE_OK) {
    *partner = topology.partner;
    topology.partner = NULL;
  }
  topology_destroy(core, &topology);
  return status;
}

static Status check_edges(Core *core, Mesh *mesh, MeshFindings *findings) {
  Topology topology = {0};
  Status status = topology_build(core, mesh, &topology);
  if (status == SCREE_OK) {
    findings->open_edges = topology.open_edges;
    findings->flipped_edges = topology.flipped_edges;
    if (topology.flipped_edges) status = turn_flipped(core, mesh, &topology, &findings->turned);
  }
  topology_destroy(core, &topology);
  if (status == SCREE_OK && findings->turned) {
    Topology mended = {0};
    status = topology_build(core, mesh, &mended);
    findings->closed = mended.open_edges == 0 && mended.flipped_edges == 0;
    topology_destroy(core, &mended);
  } else {
    findings->closed = findings->open_edges == 0 && findings->flipped_edges == 0;
  }
  return status;
}

/* Vertices that only dropped triangles had would still count for the bounds. */
static Status drop_unused_vertices(Core *core, Mesh *mesh) {
  int32_t *place = NULL;
  TRY(memory_new(core, &place, mesh->vertex_count, "mesh vertices"));
  for (int64_t t = 0; t < mesh->triangle_count; t++)
    for (int k = 0; k < 3; k++) place[mesh->triangles[t][k]] = 1;
  int64_t kept = 0;
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    if (!place[v]) continue;
    mesh->vertices[kept] = mesh->vertices[v];
    place[v] = (int32_t)kept++;
  }
  for (int64_t t = 0; t < mesh->triangle_count; t++)
    for (int k = 0; k < 3; k++) mesh->triangles[t][k] = place[mesh->triangles[t][k]];
  mesh->vertex_count = kept;
  memory_drop(core, &place);
  return SCREE_OK;
}

Status mesh_check(Core *core, Mesh *mesh, MeshFindings *findings) {
  *findings = (MeshFindings){0};
  /* Triangles between points on a line are left until the edges are matched: they join their neighbours. */
  drop_triangles(mesh, has_repeated_corner, &findings->degenerate);
  TRY(check_edges(core, mesh, findings));
  drop_triangles(mesh, is_degenerate, &findings->degenerate);
  if (mesh->triangle_count == 0) return fail(core, SCREE_BAD_INPUT, "a mesh whose triangles have no area");
  if (findings->degenerate) TRY(drop_unused_vertices(core, mesh));
  if (findings->closed && mesh_mass_properties(mesh).volume < 0) {
    for (int64_t t = 0; t < mesh->triangle_count; t++) turn_triangle(mesh, t);
    findings->inside_out = true;
  }
  return SCREE_OK;
}
