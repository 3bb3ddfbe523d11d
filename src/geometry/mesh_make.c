/* Surfaces of plain shapes. All are closed, with outward triangles. */
#include "core/portable.h"
#include "geometry/mesh_builder.h"

static const double PI = 3.14159265358979323846;

Status mesh_make_box(Core *core, Vec3 low, Vec3 high, Mesh *mesh) {
  static const int32_t faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                      {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  MeshBuilder builder = {.core = core, .name = "box"};
  Status status = builder_reserve(&builder, 8, 12);
  for (int k = 0; k < 8 && status == SCREE_OK; k++)
    status = builder_vertex(&builder, vec3(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z));
  for (int f = 0; f < 6 && status == SCREE_OK; f++) status = builder_polygon(&builder, faces[f], 4);
  return builder_finish(&builder, status, mesh);
}

/* A surface of revolution about z: `rings` circles of (radius, height) from the bottom to the top, in `detail`
 * segments. A ring of radius 0 is a single point, so that the surface closes there. */
static Status revolve(MeshBuilder *builder, Vec3 center, const double (*profile)[2], int rings, int detail) {
  TRY(builder_reserve(builder, (int64_t)rings * detail, 2 * (int64_t)rings * detail));
  for (int r = 0; r < rings; r++) {
    for (int s = 0; s < detail; s++) {
      double angle = 2 * PI * s / detail;
      TRY(builder_vertex(builder, vec3(center.x + profile[r][0] * portable_cos(angle),
                                       center.y + profile[r][0] * portable_sin(angle), center.z + profile[r][1])));
    }
  }
  for (int r = 0; r + 1 < rings; r++) {
    for (int s = 0; s < detail; s++) {
      int32_t a = r * detail + s, b = r * detail + (s + 1) % detail, c = a + detail, d = b + detail;
      if (profile[r][0] > 0) TRY(builder_triangle(builder, a, b, d));
      if (profile[r + 1][0] > 0 || profile[r][0] == 0) TRY(builder_triangle(builder, a, d, c));
    }
  }
  return SCREE_OK;
}

static Status make_revolved(Core *core, const char *name, Vec3 center, const double (*profile)[2], int rings,
                            int detail, Mesh *mesh) {
  MeshBuilder builder = {.core = core, .name = name};
  Status status = revolve(&builder, center, profile, rings, detail);
  return builder_finish(&builder, status, mesh);
}

enum { DETAIL_MAX = 4096 };
static int good_detail(int detail) { return detail < 4 ? 4 : detail > DETAIL_MAX ? DETAIL_MAX : detail; }

/* Rings of two half spheres with `gap` between their centres; the lower centre is at height 0. */
static Status make_round(Core *core, Vec3 center, double radius, double gap, int detail, Mesh *mesh) {
  detail = good_detail(detail);
  int quarter = detail / 4, rings = 0;
  double(*profile)[2] = NULL;
  TRY(memory_new(core, &profile, 2 * (quarter + 1), "mesh rings"));
  for (int half = 0; half < 2; half++) {
    for (int k = half && gap == 0 ? 1 : 0; k <= quarter; k++) {
      double angle = 0.5 * PI * (half ? k : k - quarter) / quarter;
      bool pole = half ? k == quarter : k == 0;
      profile[rings][0] = pole ? 0 : radius * portable_cos(angle);
      profile[rings++][1] = radius * portable_sin(angle) + (half ? gap : 0);
    }
  }
  Status status = make_revolved(core, "sphere", center, (const double(*)[2])profile, rings, detail, mesh);
  memory_drop(core, &profile);
  return status;
}

Status mesh_make_sphere(Core *core, Vec3 center, double radius, int detail, Mesh *mesh) {
  return make_round(core, center, radius, 0, detail, mesh);
}

Status mesh_make_capsule(Core *core, Vec3 base, double radius, double height, int detail, Mesh *mesh) {
  return make_round(core, base, radius, height, detail, mesh);
}

Status mesh_make_cylinder(Core *core, Vec3 base, double radius, double height, int detail, Mesh *mesh) {
  const double profile[4][2] = {{0, 0}, {radius, 0}, {radius, height}, {0, height}};
  return make_revolved(core, "cylinder", base, profile, 4, good_detail(detail), mesh);
}

/* `detail` segments round the large circle, half as many round the tube. */
Status mesh_make_torus(Core *core, double major, double minor, int detail, Mesh *mesh) {
  detail = good_detail(detail);
  int tube = detail / 2 < 4 ? 4 : detail / 2;
  MeshBuilder builder = {.core = core, .name = "torus"};
  Status status = builder_reserve(&builder, (int64_t)detail * tube, 2 * (int64_t)detail * tube);
  for (int s = 0; s < detail && status == SCREE_OK; s++) {
    for (int k = 0; k < tube && status == SCREE_OK; k++) {
      double u = 2 * PI * s / detail, v = 2 * PI * k / tube, ring = major + minor * portable_cos(v);
      status = builder_vertex(&builder, vec3(ring * portable_cos(u), ring * portable_sin(u), minor * portable_sin(v)));
    }
  }
  for (int s = 0; s < detail && status == SCREE_OK; s++) {
    for (int k = 0; k < tube && status == SCREE_OK; k++) {
      int32_t a = s * tube + k, b = (s + 1) % detail * tube + k;
      int32_t c = s * tube + (k + 1) % tube, d = (s + 1) % detail * tube + (k + 1) % tube;
      status = builder_triangle(&builder, a, b, d);
      if (status == SCREE_OK) status = builder_triangle(&builder, a, d, c);
    }
  }
  return builder_finish(&builder, status, mesh);
}
