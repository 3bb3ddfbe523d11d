#include "geometry/mesh.h"

#include <string.h>

#include "geometry/mesh_builder.h"

void mesh_destroy(Core *core, Mesh *mesh) {
  memory_drop(core, &mesh->vertices);
  memory_drop(core, &mesh->triangles);
  *mesh = (Mesh){0};
}

static Status copy_into(MeshBuilder *builder, const double *vertices, int64_t vertex_count, const int64_t *triangles,
                        int64_t triangle_count) {
  TRY(builder_reserve(builder, vertex_count, triangle_count));
  for (int64_t v = 0; v < vertex_count; v++) {
    Vec3 p = vec3(vertices[3 * v], vertices[3 * v + 1], vertices[3 * v + 2]);
    if (!mesh_coordinate_good(p))
      return fail(builder->core, SCREE_BAD_ARGUMENT, "vertex %lld of a mesh is not finite or beyond %g", (long long)v,
                  MESH_COORDINATE_MAX);
    TRY(builder_vertex(builder, p));
  }
  for (int64_t t = 0; t < triangle_count; t++) {
    const int64_t *corner = triangles + 3 * t;
    for (int k = 0; k < 3; k++)
      if (corner[k] < 0 || corner[k] >= vertex_count)
        return fail(builder->core, SCREE_BAD_ARGUMENT, "triangle %lld of a mesh refers to vertex %lld of %lld",
                    (long long)t, (long long)corner[k], (long long)vertex_count);
    TRY(builder_triangle(builder, (int32_t)corner[0], (int32_t)corner[1], (int32_t)corner[2]));
  }
  return SCREE_OK;
}

Status mesh_copy(Core *core, const double *vertices, int64_t vertex_count, const int64_t *triangles,
                 int64_t triangle_count, Mesh *mesh) {
  *mesh = (Mesh){0};
  if (!vertices || !triangles || vertex_count <= 0 || triangle_count <= 0)
    return fail(core, SCREE_BAD_ARGUMENT, "a mesh without triangles");
  MeshBuilder builder = {.core = core, .name = "mesh"};
  Status status = copy_into(&builder, vertices, vertex_count, triangles, triangle_count);
  return builder_finish(&builder, status, mesh);
}

Status mesh_transform(Core *core, Mesh *mesh, double scale, Quat rotation, Vec3 position) {
  if (!(scale > 0) || !isfinite(scale) || !vec3_finite(position))
    return fail(core, SCREE_BAD_ARGUMENT, "a mesh is scaled by a positive number and moved by a finite one");
  rotation = quat_normalize(rotation);
  bool turned = rotation.x != 0 || rotation.y != 0 || rotation.z != 0;
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    Vec3 p = vec3_scale(mesh->vertices[v], scale);
    if (turned) p = quat_rotate(rotation, p);
    mesh->vertices[v] = vec3_add(p, position);
  }
  return SCREE_OK;
}

void mesh_bounds(const Mesh *mesh, Vec3 *low, Vec3 *high) {
  *low = vec3(INFINITY, INFINITY, INFINITY);
  *high = vec3(-INFINITY, -INFINITY, -INFINITY);
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    *low = vec3_min(*low, mesh->vertices[v]);
    *high = vec3_max(*high, mesh->vertices[v]);
  }
}

MassProperties mesh_mass_properties(const Mesh *mesh) {
  MassProperties mass = {0};
  if (mesh->triangle_count == 0) return mass;
  /* Tetrahedra from the middle of the mesh to each triangle, signed: far from the origin nothing is lost. */
  Vec3 low, high;
  mesh_bounds(mesh, &low, &high);
  Vec3 middle = vec3_scale(vec3_add(low, high), 0.5);
  double volume = 0, moment[3] = {0}, second[6] = {0}; /* second: xx yy zz xy yz zx */
  for (int64_t t = 0; t < mesh->triangle_count; t++) {
    Vec3 a = vec3_sub(mesh->vertices[mesh->triangles[t][0]], middle);
    Vec3 b = vec3_sub(mesh->vertices[mesh->triangles[t][1]], middle);
    Vec3 c = vec3_sub(mesh->vertices[mesh->triangles[t][2]], middle);
    double six = vec3_dot(a, vec3_cross(b, c)); /* times the volume of the tetrahedron */
    Vec3 s = vec3_add(a, vec3_add(b, c));
    volume += six / 6;
    moment[0] += six * s.x / 24;
    moment[1] += six * s.y / 24;
    moment[2] += six * s.z / 24;
    second[0] += six / 120 * (s.x * s.x + a.x * a.x + b.x * b.x + c.x * c.x);
    second[1] += six / 120 * (s.y * s.y + a.y * a.y + b.y * b.y + c.y * c.y);
    second[2] += six / 120 * (s.z * s.z + a.z * a.z + b.z * b.z + c.z * c.z);
    second[3] += six / 120 * (s.x * s.y + a.x * a.y + b.x * b.y + c.x * c.y);
    second[4] += six / 120 * (s.y * s.z + a.y * a.z + b.y * b.z + c.y * c.z);
    second[5] += six / 120 * (s.z * s.x + a.z * a.x + b.z * b.x + c.z * c.x);
  }
  mass.volume = volume;
  if (volume == 0) {
    mass.center = middle;
    return mass;
  }
  Vec3 d = vec3(moment[0] / volume, moment[1] / volume, moment[2] / volume);
  mass.center = vec3_add(middle, d);
  double xx = second[0] - volume * d.x * d.x, yy = second[1] - volume * d.y * d.y, zz = second[2] - volume * d.z * d.z;
  double xy = second[3] - volume * d.x * d.y, yz = second[4] - volume * d.y * d.z, zx = second[5] - volume * d.z * d.x;
  mass.inertia = (Mat3){{{yy + zz, -xy, -zx}, {-xy, xx + zz, -yz}, {-zx, -yz, xx + yy}}};
  return mass;
}
