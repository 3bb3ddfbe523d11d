#include "geometry/mesh_builder.h"

#include <string.h>

#include "core/rng.h"

static uint64_t position_hash(Vec3 p) {
  uint64_t bits[3];
  memcpy(bits, &p, sizeof bits);
  return rng_mix(bits[0] ^ rng_mix(bits[1] ^ rng_mix(bits[2])));
}

static Status vertex_set_grow(Core *core, VertexSet *set) {
  int64_t slot_count = set->slot_count ? set->slot_count * 2 : 1 << 10;
  int32_t *slots = NULL;
  TRY(memory_new(core, &slots, slot_count, "mesh vertices"));
  for (int64_t v = 0; v < set->count; v++) {
    uint64_t k = position_hash(set->vertices[v]) & (uint64_t)(slot_count - 1);
    while (slots[k]) k = (k + 1) & (uint64_t)(slot_count - 1);
    slots[k] = (int32_t)v + 1;
  }
  memory_drop(core, &set->slots);
  set->slots = slots;
  set->slot_count = slot_count;
  return SCREE_OK;
}

Status vertex_set_add(Core *core, VertexSet *set, Vec3 p, int32_t *index) {
  p = vec3_add(p, vec3(0, 0, 0)); /* -0 becomes 0: equal positions must have equal bits */
  if (2 * set->count >= set->slot_count) TRY(vertex_set_grow(core, set));
  uint64_t mask = (uint64_t)(set->slot_count - 1), k = position_hash(p) & mask;
  for (; set->slots[k]; k = (k + 1) & mask) {
    const Vec3 *q = &set->vertices[set->slots[k] - 1];
    if (q->x == p.x && q->y == p.y && q->z == p.z) {
      *index = set->slots[k] - 1;
      return SCREE_OK;
    }
  }
  if (set->count == set->capacity) {
    if (set->count >= INT32_MAX - 1) return fail(core, SCREE_BAD_INPUT, "a mesh holds at most 2^31 vertices");
    TRY(memory_grow(core, &set->vertices, set->count + 1, "mesh vertices"));
    set->capacity = memory_size(set->vertices) / (int64_t)sizeof *set->vertices;
  }
  set->vertices[set->count++] = p;
  set->slots[k] = (int32_t)set->count;
  *index = (int32_t)set->count - 1;
  return SCREE_OK;
}

Status builder_reserve(MeshBuilder *builder, int64_t vertices, int64_t triangles) {
  if (vertices > builder->vertex_capacity) {
    if (vertices >= INT32_MAX)
      return fail_at(builder->core, SCREE_BAD_INPUT, builder->name, (ScreeSource){0, 0},
                     "a mesh holds at most 2^31 vertices");
    TRY(memory_grow(builder->core, &builder->vertices, vertices, "mesh vertices"));
    builder->vertex_capacity = memory_size(builder->vertices) / (int64_t)sizeof *builder->vertices;
  }
  if (triangles > builder->triangle_capacity) {
    if (triangles >= INT32_MAX)
      return fail_at(builder->core, SCREE_BAD_INPUT, builder->name, (ScreeSource){0, 0},
                     "a mesh holds at most 2^31 triangles");
    TRY(memory_grow(builder->core, &builder->triangles, triangles, "mesh triangles"));
    builder->triangle_capacity = memory_size(builder->triangles) / (int64_t)sizeof *builder->triangles;
  }
  return SCREE_OK;
}

Status builder_vertex(MeshBuilder *builder, Vec3 p) {
  if (builder->vertex_count == builder->vertex_capacity) TRY(builder_reserve(builder, builder->vertex_count + 1, 0));
  builder->vertices[builder->vertex_count++] = p;
  return SCREE_OK;
}

Status builder_triangle(MeshBuilder *builder, int32_t a, int32_t b, int32_t c) {
  if (builder->triangle_count == builder->triangle_capacity)
    TRY(builder_reserve(builder, 0, builder->triangle_count + 1));
  int32_t *triangle = builder->triangles[builder->triangle_count++];
  triangle[0] = a;
  triangle[1] = b;
  triangle[2] = c;
  return SCREE_OK;
}

Status builder_polygon(MeshBuilder *builder, const int32_t *corners, int64_t count) {
  if (count == 3) return builder_triangle(builder, corners[0], corners[1], corners[2]);
  if (count >= INT32_MAX) return fail(builder->core, SCREE_BAD_INPUT, "%s: a face of too many corners", builder->name);
  TRY(memory_grow(builder->core, &builder->polygons, builder->polygon_size + count + 1, "mesh polygons"));
  memcpy(builder->polygons + builder->polygon_size, corners, (size_t)count * sizeof *corners);
  builder->polygon_size += count;
  builder->polygons[builder->polygon_size++] = (int32_t)count;
  return SCREE_OK;
}

static Status triangulate_polygons(MeshBuilder *builder) {
  for (int64_t end = builder->polygon_size; end > 0;) {
    int64_t count = builder->polygons[end - 1], begin = end - 1 - count;
    TRY(builder_reserve(builder, 0, builder->triangle_count + count - 2));
    TRY(polygon_triangulate(builder->core, builder->vertices, builder->polygons + begin, count,
                            builder->triangles + builder->triangle_count));
    builder->triangle_count += count - 2;
    end = begin;
  }
  return SCREE_OK;
}

/* Numbers the vertices by first use, which also gives neighbours in the file neighbouring places in memory. */
static Status merge_vertices(MeshBuilder *builder) {
  int32_t *index = NULL;
  TRY(memory_new(builder->core, &index, builder->vertex_count, "mesh vertices"));
  Status status = SCREE_OK;
  for (int64_t t = 0; status == SCREE_OK && t < builder->triangle_count; t++) {
    for (int k = 0; k < 3 && status == SCREE_OK; k++) {
      int32_t *corner = &builder->triangles[t][k];
      int32_t merged = index[*corner] - 1;
      if (merged < 0) {
        status = vertex_set_add(builder->core, &builder->set, builder->vertices[*corner], &merged);
        index[*corner] = merged + 1;
      }
      *corner = merged;
    }
  }
  memory_drop(builder->core, &index);
  return status;
}

static Status finish(MeshBuilder *builder, Mesh *mesh) {
  TRY(triangulate_polygons(builder));
  if (builder->triangle_count == 0)
    return fail_at(builder->core, SCREE_BAD_INPUT, builder->name, (ScreeSource){0, 0}, "no triangles in this file");
  if (builder->vertex_count) TRY(merge_vertices(builder));
  mesh->vertices = builder->set.vertices;
  mesh->vertex_count = builder->set.count;
  mesh->triangles = builder->triangles;
  mesh->triangle_count = builder->triangle_count;
  builder->set.vertices = NULL;
  builder->triangles = NULL;
  return SCREE_OK;
}

Status builder_finish(MeshBuilder *builder, Status status, Mesh *mesh) {
  *mesh = (Mesh){0};
  if (status == SCREE_OK) status = finish(builder, mesh);
  memory_drop(builder->core, &builder->vertices);
  memory_drop(builder->core, &builder->triangles);
  memory_drop(builder->core, &builder->polygons);
  memory_drop(builder->core, &builder->set.vertices);
  memory_drop(builder->core, &builder->set.slots);
  return status;
}
