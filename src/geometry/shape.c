#include "geometry/shape.h"

#include <stdio.h>

#include "geometry/distance_grid.h"
#include "geometry/mesh_nearest_shared.h"
#include "geometry/shapes/shapes.h"

#define PLAIN_REAL double
#define PLAIN_SHAPE ShapeNumbers
#define PLAIN(name) plain_##name
#define PLAIN_SQRT sqrt
#include "geometry/shape_plain.h"

/* One line about what was odd; nothing when nothing was. */
static void report_findings(Core *core, const char *name, const MeshFindings *findings) {
  if (findings->open_edges)
    log_warning_at(core, name, (ScreeSource){0, 0},
                   "the mesh is open (%lld edges): inside is where the winding number is above 1/2",
                   (long long)findings->open_edges);
  if (findings->turned || findings->inside_out || findings->degenerate)
    log_line(core, SCREE_LOG_INFO, "%s: mended: %lld triangles of no area dropped, %lld flipped ones turned%s", name,
             (long long)findings->degenerate, (long long)findings->turned,
             findings->inside_out ? ", the whole mesh was inside out" : "");
}

static Status create_mesh(Core *core, const ScreeShapeDef *definition, const char *file, const char *scene,
                          Shape *shape) {
  const ScreeMeshDef *mesh = &definition->mesh;
  const char *name = file ? file : scene;
  if (file) TRY(mesh_load(core, file, &shape->mesh));
  else TRY(mesh_copy(core, mesh->vertices, mesh->vertex_count, mesh->triangles, mesh->triangle_count, &shape->mesh));
  if (!(definition->scale > 0)) return shape_refuse(core, definition, scene, "a mesh needs a positive scale");
  TRY(mesh_transform(core, &shape->mesh, definition->scale, quat_identity(), vec3(0, 0, 0)));
  Status status = mesh_check(core, &shape->mesh, &shape->findings);
  if (status == SCREE_BAD_INPUT && name && !core->error.file[0])
    snprintf(core->error.file, sizeof core->error.file, "%s", name);
  TRY(status);
  report_findings(core, name ? name : "mesh", &shape->findings);
  mesh_bounds(&shape->mesh, &shape->bounds_low, &shape->bounds_high);
  shape->low = shape->bounds_low;
  shape->high = shape->bounds_high;
  shape->mass = mesh_mass_properties(&shape->mesh);
  return bvh_build(core, &shape->mesh, &shape->bvh);
}

static Status create(Core *core, const ScreeShapeDef *definition, const char *file, const char *scene, Shape *shape) {
  const ShapeKind *kind = shape_kind(definition->kind);
  if (kind) return kind->create(core, definition, scene, shape);
  switch (definition->kind) {
  case SCREE_SHAPE_MESH: return create_mesh(core, definition, file, scene, shape);
  case SCREE_SHAPE_DISC: return shape_refuse(core, definition, scene, "a disc has no inside");
  case SCREE_SHAPE_HEIGHTFIELD: return shape_refuse(core, definition, scene, "a heightfield is made by terrain");
  default: return shape_refuse(core, definition, scene, "a shape is missing");
  }
}

static void note_numbers(Shape *shape) {
  const ShapeKind *kind = shape_kind(shape->kind);
  ShapeNumbers *numbers = &shape->numbers;
  *numbers = (ShapeNumbers){.radius = shape->radius, .height = shape->height};
  for (int k = 0; k < 3; k++) numbers->a[k] = vec3_get(shape->low, k), numbers->b[k] = vec3_get(shape->high, k);
  if (kind && kind->vectors) kind->vectors(shape, numbers->a, numbers->b);
}

Status shape_create(Core *core, const ScreeShapeDef *definition, bool inside, const char *file, const char *scene,
                    Shape *shape) {
  /* A plane has no inside: its normal says on which side grains live. */
  *shape = (Shape){.kind = definition->kind, .inside = inside && definition->kind != SCREE_SHAPE_PLANE};
  Status status = create(core, definition, file, scene, shape);
  note_numbers(shape);
  shape->volume = fabs(shape->mass.volume);
  if (status != SCREE_OK) shape_destroy(core, shape);
  else if (inside) shape->mass = (MassProperties){0};
  return status;
}

void shape_destroy(Core *core, Shape *shape) {
  bvh_destroy(core, shape->bvh);
  distance_grid_destroy(core, shape->grid);
  mesh_faces_destroy(core, &shape->faces);
  heightfield_destroy(core, shape->heights);
  mesh_destroy(core, &shape->mesh);
  shape->bvh = NULL;
  shape->grid = NULL;
  shape->heights = NULL;
}

void shape_bound_heights(Shape *shape) {
  const Heightfield *field = shape->heights;
  shape->bounds_low = vec3(0, 0, -INFINITY);
  shape->bounds_high = vec3(heightfield_size_x(field), heightfield_size_y(field), field->highest);
}

void shape_take_heights(Shape *shape, Heightfield *heights) {
  *shape = (Shape){.kind = SCREE_SHAPE_HEIGHTFIELD, .heights = heights};
  shape_bound_heights(shape);
}

enum { SURFACE_DETAIL = 48 };

Status shape_make_surface(Core *core, Shape *shape, double extent) {
  if (shape->mesh.triangle_count) return SCREE_OK;
  const ShapeKind *kind = shape_kind(shape->kind);
  if (!kind) return fail(core, SCREE_BAD_ARGUMENT, "this shape has no surface");
  return kind->mesh(core, shape, SURFACE_DETAIL, extent, &shape->mesh);
}

Status shape_fine_surface(Core *core, const Shape *shape, int detail, Mesh *mesh, bool *curved) {
  const ShapeKind *kind = vec3_finite(shape->bounds_high) ? shape_kind(shape->kind) : NULL;
  if (!kind) return fail(core, SCREE_BAD_ARGUMENT, "this kind of shape has no surface to sample");
  *curved = kind->curved;
  return kind->mesh(core, shape, detail, 0, mesh);
}

int shape_corners(const Shape *shape, Vec3 points[SHAPE_CORNERS_MAX], double *radius) {
  const ShapeKind *kind = shape_kind(shape->kind);
  *radius = 0;
  return kind && kind->corners ? kind->corners(shape, points, radius) : 0;
}

static ShapePoint plain_point(const Shape *shape, Vec3 p) {
  plain_Point answer = {INFINITY, 0, 0, 1};
#define PLAIN_CASE(id, word, ...)                                                                                      \
  case SCREE_SHAPE_##id: answer = plain_##word##_point(p.x, p.y, p.z, &shape->numbers); break;
  switch (shape->kind) {
    SCREE_SOLID_SHAPES(PLAIN_CASE)
  default: break;
  }
  return (ShapePoint){.distance = answer.distance, .normal = vec3(answer.x, answer.y, answer.z)};
}

/* Beyond `reach` only the sign is wanted. */
static ShapePoint mesh_point_sided(const Shape *shape, Vec3 p, double reach, bool contained) {
  const BvhHit hit = bvh_closest(shape->bvh, p, reach);
  const double sign = contained ? -1 : 1, diagonal = vec3_length(vec3_sub(shape->bounds_high, shape->bounds_low));
  if (hit.triangle < 0) return mesh_point_beyond(reach, sign);
  return mesh_point_beside(p, hit.point, hit.distance, sign, diagonal, hit.normal);
}

static ShapePoint mesh_point(const Shape *shape, Vec3 p, double reach) {
  bool within_bounds = p.x >= shape->bounds_low.x && p.x <= shape->bounds_high.x && p.y >= shape->bounds_low.y &&
                       p.y <= shape->bounds_high.y && p.z >= shape->bounds_low.z && p.z <= shape->bounds_high.z;
  /* No point outside the bounds of a closed mesh is inside it. */
  bool contained = (within_bounds || !shape->findings.closed) && bvh_winding(shape->bvh, p) > 0.5;
  return mesh_point_sided(shape, p, reach, contained);
}

static ShapePoint turned(const Shape *shape, ShapePoint point) {
  return shape->inside ? shape_point_turned(point) : point;
}

ShapePoint shape_distance(const Shape *shape, Vec3 point, double reach) {
  if (shape->kind == SCREE_SHAPE_HEIGHTFIELD) {
    ShapePoint found;
    heightfield_distance(shape->heights, point, reach, &found.distance, &found.normal);
    return found;
  }
  if (shape->kind != SCREE_SHAPE_MESH) return turned(shape, plain_point(shape, point));
  ShapePoint answer;
  if (shape->grid && distance_grid_point(shape->grid, point, reach, &answer)) return turned(shape, answer);
  return turned(shape, mesh_point(shape, point, reach));
}

ShapePoint shape_distance_sided(const Shape *shape, Vec3 point, double reach, bool contained) {
  if (shape->kind != SCREE_SHAPE_MESH) return shape_distance(shape, point, reach);
  return turned(shape, mesh_point_sided(shape, point, reach, contained != shape->inside));
}

int shape_contacts(const Shape *shape, Vec3 p, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  const ShapeKind *kind = shape_kind(shape->kind);
  /* Faces are those of a container; a plane is none but has its one face. */
  bool faces = kind && kind->faces && shape->inside != (shape->kind == SCREE_SHAPE_PLANE);
  if (faces) return kind->faces(shape, p, reach, contacts);
  ShapePoint point = shape_distance(shape, p, reach);
  return shape_keep_contact(contacts, 0, reach, point.distance, point.normal);
}

bool shape_contains(const Shape *shape, Vec3 point) {
  if (shape->kind == SCREE_SHAPE_MESH) {
    ShapePoint answer;
    if (!shape->grid || !distance_grid_point(shape->grid, point, 0, &answer)) answer = mesh_point(shape, point, 0);
    return (answer.distance < 0) != shape->inside;
  }
  if (shape->kind == SCREE_SHAPE_HEIGHTFIELD) return shape_distance(shape, point, shape->heights->cell).distance < 0;
  return turned(shape, plain_point(shape, point)).distance < 0;
}
