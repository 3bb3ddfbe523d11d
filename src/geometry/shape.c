#include "geometry/shape.h"

#include <stdio.h>

#include "geometry/distance_grid.h"

#define PLAIN_REAL double
#define PLAIN(name) plain_##name
#define PLAIN_SQRT sqrt
#include "geometry/shape_plain.h"

static const double PI = 3.14159265358979323846;

static Status bad(Core *core, const ScreeShapeDef *definition, const char *scene, const char *what) {
  return fail_at(core, SCREE_BAD_INPUT, scene, definition->source, "%s", what);
}

static Status create_box(Core *core, const ScreeShapeDef *definition, const char *scene, Shape *shape) {
  Vec3 low = vec3_scale(definition->box.min, definition->scale),
       high = vec3_scale(definition->box.max, definition->scale);
  if (!vec3_finite(low) || !vec3_finite(high) || !(low.x < high.x && low.y < high.y && low.z < high.z))
    return bad(core, definition, scene, "a box needs min below max on every axis");
  shape->low = shape->bounds_low = low;
  shape->high = shape->bounds_high = high;
  Vec3 size = vec3_sub(high, low), square = vec3(size.x * size.x, size.y * size.y, size.z * size.z);
  double volume = size.x * size.y * size.z;
  shape->mass.volume = volume;
  shape->mass.center = vec3_scale(vec3_add(low, high), 0.5);
  shape->mass.inertia.m[0][0] = volume * (square.y + square.z) / 12;
  shape->mass.inertia.m[1][1] = volume * (square.x + square.z) / 12;
  shape->mass.inertia.m[2][2] = volume * (square.x + square.y) / 12;
  return SCREE_OK;
}

static Status create_sphere(Core *core, const ScreeShapeDef *definition, const char *scene, Shape *shape) {
  double radius = definition->sphere.radius * definition->scale;
  shape->low = shape->high = vec3_scale(definition->sphere.center, definition->scale);
  shape->radius = radius;
  if (!(radius > 0) || !isfinite(radius) || !vec3_finite(shape->low))
    return bad(core, definition, scene, "a sphere needs a finite centre and a positive radius");
  shape->bounds_low = vec3_sub(shape->low, vec3(radius, radius, radius));
  shape->bounds_high = vec3_add(shape->low, vec3(radius, radius, radius));
  shape->mass.volume = 4 * PI / 3 * radius * radius * radius;
  shape->mass.center = shape->low;
  for (int k = 0; k < 3; k++) shape->mass.inertia.m[k][k] = 0.4 * shape->mass.volume * radius * radius;
  return SCREE_OK;
}

/* Both stand on z; a capsule has its caps below and above. */
static Status create_round(Core *core, const ScreeShapeDef *definition, const char *scene, Shape *shape) {
  bool capsule = definition->kind == SCREE_SHAPE_CAPSULE;
  Vec3 base = capsule ? definition->capsule.base : definition->cylinder.base;
  double radius = capsule ? definition->capsule.radius : definition->cylinder.radius;
  double height = capsule ? definition->capsule.height : definition->cylinder.height;
  base = vec3_scale(base, definition->scale);
  radius *= definition->scale;
  height *= definition->scale;
  if (!vec3_finite(base) || !(radius > 0) || !(capsule ? height >= 0 : height > 0) || !isfinite(radius + height))
    return bad(core, definition, scene, "a cylinder or capsule needs a positive radius and height");
  shape->low = base;
  shape->high = vec3(base.x, base.y, base.z + height);
  shape->radius = radius;
  shape->height = height;
  double cap = capsule ? radius : 0;
  shape->bounds_low = vec3(base.x - radius, base.y - radius, base.z - cap);
  shape->bounds_high = vec3(base.x + radius, base.y + radius, base.z + height + cap);
  double r2 = radius * radius, tube = PI * r2 * height, ball = capsule ? 4 * PI / 3 * r2 * radius : 0;
  shape->mass.volume = tube + ball;
  shape->mass.center = vec3(base.x, base.y, base.z + height / 2);
  /* Half a ball has its centre 3/8 of the radius from the cut. */
  double offset = height / 2 + 0.375 * radius, half_ball = 83.0 / 320 * ball * r2 + ball * offset * offset;
  double across = tube * (3 * r2 + height * height) / 12 + half_ball;
  shape->mass.inertia.m[0][0] = shape->mass.inertia.m[1][1] = across;
  shape->mass.inertia.m[2][2] = tube * r2 / 2 + 0.4 * ball * r2;
  return SCREE_OK;
}

static Status create_plane(Core *core, const ScreeShapeDef *definition, const char *scene, Shape *shape) {
  shape->low = vec3_scale(definition->plane.point, definition->scale);
  shape->high = vec3_normalize(definition->plane.normal);
  if (!vec3_finite(shape->low) || !(fabs(vec3_length(shape->high) - 1) < 1e-6))
    return bad(core, definition, scene, "a plane needs a finite point and a normal that is not zero");
  shape->bounds_low = vec3(-INFINITY, -INFINITY, -INFINITY);
  shape->bounds_high = vec3(INFINITY, INFINITY, INFINITY);
  return SCREE_OK;
}

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
  if (!(definition->scale > 0)) return bad(core, definition, scene, "a mesh needs a positive scale");
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
  switch (definition->kind) {
  case SCREE_SHAPE_BOX: return create_box(core, definition, scene, shape);
  case SCREE_SHAPE_SPHERE: return create_sphere(core, definition, scene, shape);
  case SCREE_SHAPE_CYLINDER:
  case SCREE_SHAPE_CAPSULE: return create_round(core, definition, scene, shape);
  case SCREE_SHAPE_PLANE: return create_plane(core, definition, scene, shape);
  case SCREE_SHAPE_MESH: return create_mesh(core, definition, file, scene, shape);
  case SCREE_SHAPE_DISC: return bad(core, definition, scene, "a disc has no inside");
  case SCREE_SHAPE_HEIGHTFIELD: return bad(core, definition, scene, "a heightfield is made by terrain");
  case SCREE_SHAPE_NONE: break;
  }
  return bad(core, definition, scene, "a shape is missing");
}

Status shape_create(Core *core, const ScreeShapeDef *definition, bool inside, const char *file, const char *scene,
                    Shape *shape) {
  *shape = (Shape){.kind = definition->kind, .inside = inside};
  Status status = create(core, definition, file, scene, shape);
  if (status != SCREE_OK) shape_destroy(core, shape);
  else if (inside) shape->mass = (MassProperties){0};
  return status;
}

void shape_destroy(Core *core, Shape *shape) {
  bvh_destroy(core, shape->bvh);
  distance_grid_destroy(core, shape->grid);
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

static Status make_plane(Core *core, const Shape *shape, double extent, Mesh *mesh) {
  Vec3 u, v;
  vec3_frame(shape->high, &u, &v);
  double vertices[12];
  static const int64_t triangles[6] = {0, 1, 2, 0, 2, 3};
  for (int k = 0; k < 4; k++) {
    double a = (k == 0 || k == 3 ? -0.5 : 0.5) * extent, b = (k < 2 ? -0.5 : 0.5) * extent;
    Vec3 p = vec3_madd(vec3_madd(shape->low, u, a), v, b);
    vertices[3 * k] = p.x;
    vertices[3 * k + 1] = p.y;
    vertices[3 * k + 2] = p.z;
  }
  return mesh_copy(core, vertices, 4, triangles, 2, mesh);
}

Status shape_make_surface(Core *core, Shape *shape, double extent) {
  if (shape->mesh.triangle_count) return SCREE_OK;
  Mesh *mesh = &shape->mesh;
  switch (shape->kind) {
  case SCREE_SHAPE_BOX: return mesh_make_box(core, shape->low, shape->high, mesh);
  case SCREE_SHAPE_SPHERE: return mesh_make_sphere(core, shape->low, shape->radius, SURFACE_DETAIL, mesh);
  case SCREE_SHAPE_CYLINDER:
    return mesh_make_cylinder(core, shape->low, shape->radius, shape->height, SURFACE_DETAIL, mesh);
  case SCREE_SHAPE_CAPSULE:
    return mesh_make_capsule(core, shape->low, shape->radius, shape->height, SURFACE_DETAIL, mesh);
  case SCREE_SHAPE_PLANE: return make_plane(core, shape, extent, mesh);
  default: return fail(core, SCREE_BAD_ARGUMENT, "this shape has no surface");
  }
}

static ShapePoint plain_point(const Shape *shape, Vec3 p) {
  const double low[3] = {shape->low.x, shape->low.y, shape->low.z};
  const double high[3] = {shape->high.x, shape->high.y, shape->high.z};
  plain_Point answer = {INFINITY, 0, 0, 1};
  switch (shape->kind) {
  case SCREE_SHAPE_BOX: {
    double center[3], half[3];
    for (int k = 0; k < 3; k++) center[k] = 0.5 * (low[k] + high[k]), half[k] = 0.5 * (high[k] - low[k]);
    answer = plain_box_point(p.x, p.y, p.z, center, half);
    break;
  }
  case SCREE_SHAPE_SPHERE: answer = plain_sphere_point(p.x, p.y, p.z, low, shape->radius); break;
  case SCREE_SHAPE_CYLINDER: answer = plain_cylinder_point(p.x, p.y, p.z, low, shape->radius, shape->height); break;
  case SCREE_SHAPE_CAPSULE: answer = plain_capsule_point(p.x, p.y, p.z, low, shape->radius, shape->height); break;
  case SCREE_SHAPE_PLANE: answer = plain_plane_point(p.x, p.y, p.z, low, high); break;
  default: break;
  }
  return (ShapePoint){answer.distance, vec3(answer.x, answer.y, answer.z)};
}

/* Beyond `reach` only the sign is wanted. */
static ShapePoint mesh_point_sided(const Shape *shape, Vec3 p, double reach, bool contained) {
  BvhHit hit = bvh_closest(shape->bvh, p, reach);
  Vec3 outward = vec3_sub(p, hit.point);
  double length = vec3_length(outward), sign = contained ? -1 : 1;
  if (hit.triangle < 0) {
    double beyond = isfinite(reach) ? reach * (1 + 1e-9) + 1e-300 : INFINITY;
    return (ShapePoint){sign * beyond, vec3(0, 0, 1)};
  }
  /* So close to the surface the difference is rounding: the triangle's own normal is better. */
  Vec3 size = vec3_sub(shape->bounds_high, shape->bounds_low);
  double tiny = 1e-12 * (vec3_length(size) + vec3_length(p));
  return (ShapePoint){sign * hit.distance, length > tiny ? vec3_scale(outward, sign / length) : hit.normal};
}

static ShapePoint mesh_point(const Shape *shape, Vec3 p, double reach) {
  bool within_bounds = p.x >= shape->bounds_low.x && p.x <= shape->bounds_high.x && p.y >= shape->bounds_low.y &&
                       p.y <= shape->bounds_high.y && p.z >= shape->bounds_low.z && p.z <= shape->bounds_high.z;
  /* No point outside the bounds of a closed mesh is inside it. */
  bool contained = (within_bounds || !shape->findings.closed) && bvh_winding(shape->bvh, p) > 0.5;
  return mesh_point_sided(shape, p, reach, contained);
}

static ShapePoint turned(const Shape *shape, ShapePoint point) {
  if (!shape->inside) return point;
  return (ShapePoint){-point.distance, vec3_scale(point.normal, -1)};
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

/* Keeps the nearest, in order. */
static int keep_contact(ShapePoint contacts[SHAPE_CONTACTS_MAX], int count, double reach, double distance,
                        Vec3 normal) {
  if (!(distance <= reach)) return count;
  int k = count < SHAPE_CONTACTS_MAX ? count : SHAPE_CONTACTS_MAX - 1;
  if (count == SHAPE_CONTACTS_MAX && distance >= contacts[k].distance) return count;
  for (; k > 0 && contacts[k - 1].distance > distance; k--) contacts[k] = contacts[k - 1];
  contacts[k] = (ShapePoint){distance, normal};
  return count < SHAPE_CONTACTS_MAX ? count + 1 : count;
}

int shape_contacts(const Shape *shape, Vec3 p, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  int count = 0;
  Vec3 low = shape->low, high = shape->high;
  if (shape->kind == SCREE_SHAPE_PLANE && !shape->inside)
    return keep_contact(contacts, count, reach, vec3_dot(vec3_sub(p, low), high), high);
  if (shape->inside && shape->kind == SCREE_SHAPE_BOX) {
    count = keep_contact(contacts, count, reach, p.z - low.z, vec3(0, 0, 1));
    count = keep_contact(contacts, count, reach, high.z - p.z, vec3(0, 0, -1));
    count = keep_contact(contacts, count, reach, p.x - low.x, vec3(1, 0, 0));
    count = keep_contact(contacts, count, reach, high.x - p.x, vec3(-1, 0, 0));
    count = keep_contact(contacts, count, reach, p.y - low.y, vec3(0, 1, 0));
    return keep_contact(contacts, count, reach, high.y - p.y, vec3(0, -1, 0));
  }
  if (shape->inside && shape->kind == SCREE_SHAPE_CYLINDER) {
    double x = p.x - low.x, y = p.y - low.y, across = sqrt(x * x + y * y);
    Vec3 inward = across > 0 ? vec3(-x / across, -y / across, 0) : vec3(-1, 0, 0);
    count = keep_contact(contacts, count, reach, p.z - low.z, vec3(0, 0, 1));
    count = keep_contact(contacts, count, reach, low.z + shape->height - p.z, vec3(0, 0, -1));
    return keep_contact(contacts, count, reach, shape->radius - across, inward);
  }
  ShapePoint point = shape_distance(shape, p, reach);
  return keep_contact(contacts, count, reach, point.distance, point.normal);
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
