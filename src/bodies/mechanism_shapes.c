/* Shapes of a mechanism's bodies. A body of one plain geom that is not turned against it keeps the exact shape; any
 * other becomes one mesh in the body's frame, in which parts may overlap (inside is where the winding number is). */
#ifdef SCREE_HAVE_MUJOCO

#include "bodies/mechanism_parts.h"

#include <stdio.h>
#include <string.h>

enum { CIRCLE_SEGMENTS = 48 };

typedef struct Assembly {
  double *vertices;
  int64_t *triangles;
  int64_t vertex_count, triangle_count;
} Assembly;

static void assembly_destroy(Core *core, Assembly *assembly) {
  memory_drop(core, &assembly->vertices);
  memory_drop(core, &assembly->triangles);
}

/* Room for more vertices and triangles; the counts are left. */
static Status assembly_reserve(Core *core, Assembly *assembly, int64_t vertices, int64_t triangles) {
  TRY(memory_grow(core, &assembly->vertices, 3 * (assembly->vertex_count + vertices), "mechanism mesh"));
  return memory_grow(core, &assembly->triangles, 3 * (assembly->triangle_count + triangles), "mechanism mesh");
}

static void put_vertex(Assembly *assembly, const ScreePose *pose, Vec3 local) {
  Vec3 v = vec3_add(quat_rotate(pose->rotation, local), pose->position);
  memcpy(assembly->vertices + 3 * assembly->vertex_count++, &(double[3]){v.x, v.y, v.z}, 3 * sizeof(double));
}

static void put_triangle(Assembly *assembly, int64_t base, const int32_t corners[3]) {
  int64_t *triangle = assembly->triangles + 3 * assembly->triangle_count++;
  for (int k = 0; k < 3; k++) triangle[k] = base + corners[k];
}

/* A mesh of the model. MuJoCo has moved its vertices to the frame of its inertia; the geom's pose undoes that. */
static Status add_model_mesh(Core *core, Assembly *assembly, const mjModel *model, int mesh, const ScreePose *pose) {
  if (mesh < 0) return SCREE_OK;
  int64_t base = assembly->vertex_count, vertices = model->mesh_vertnum[mesh], faces = model->mesh_facenum[mesh];
  TRY(assembly_reserve(core, assembly, vertices, faces));
  const float *v = model->mesh_vert + 3 * (int64_t)model->mesh_vertadr[mesh];
  const int *f = model->mesh_face + 3 * (int64_t)model->mesh_faceadr[mesh];
  for (int64_t k = 0; k < vertices; k++) put_vertex(assembly, pose, vec3(v[3 * k], v[3 * k + 1], v[3 * k + 2]));
  for (int64_t k = 0; k < faces; k++) put_triangle(assembly, base, (int32_t[3]){f[3 * k], f[3 * k + 1], f[3 * k + 2]});
  return SCREE_OK;
}

static Status make_plain_mesh(Core *core, int type, const double *size, Mesh *mesh) {
  Vec3 half = vec3_of(size), foot = vec3(0, 0, -size[1]);
  switch (type) {
  case mjGEOM_BOX: return mesh_make_box(core, vec3_scale(half, -1), half, mesh);
  case mjGEOM_CYLINDER: return mesh_make_cylinder(core, foot, size[0], 2 * size[1], CIRCLE_SEGMENTS, mesh);
  case mjGEOM_CAPSULE: return mesh_make_capsule(core, foot, size[0], 2 * size[1], CIRCLE_SEGMENTS, mesh);
  case mjGEOM_SPHERE: return mesh_make_sphere(core, vec3(0, 0, 0), size[0], CIRCLE_SEGMENTS, mesh);
  default:
    TRY(mesh_make_sphere(core, vec3(0, 0, 0), 1, CIRCLE_SEGMENTS, mesh));
    for (int64_t k = 0; k < mesh->vertex_count; k++) {
      Vec3 *v = &mesh->vertices[k];
      *v = vec3(v->x * half.x, v->y * half.y, v->z * half.z);
    }
    return SCREE_OK;
  }
}

static Status add_geom(Core *core, Assembly *assembly, const mjModel *model, int geom, const ScreePose *pose) {
  if (model->geom_type[geom] == mjGEOM_MESH)
    return add_model_mesh(core, assembly, model, model->geom_dataid[geom], pose);
  Mesh mesh = {0};
  TRY(make_plain_mesh(core, model->geom_type[geom], model->geom_size + 3 * geom, &mesh));
  Status status = assembly_reserve(core, assembly, mesh.vertex_count, mesh.triangle_count);
  if (status == SCREE_OK) {
    int64_t base = assembly->vertex_count;
    for (int64_t k = 0; k < mesh.vertex_count; k++) put_vertex(assembly, pose, mesh.vertices[k]);
    for (int64_t k = 0; k < mesh.triangle_count; k++) put_triangle(assembly, base, mesh.triangles[k]);
  }
  mesh_destroy(core, &mesh);
  return status;
}

/* The exact shape of a geom that stands at `pose` in the solid's frame; false when there is none. */
static bool plain_shape(const mjModel *model, int geom, const ScreePose *pose, ScreeShapeDef *shape) {
  const double *size = model->geom_size + 3 * geom;
  Vec3 p = pose->position, q = vec3(pose->rotation.x, pose->rotation.y, pose->rotation.z);
  bool turned = vec3_length(q) > 1e-9;
  switch (model->geom_type[geom]) {
  case mjGEOM_PLANE:
    shape->kind = SCREE_SHAPE_PLANE;
    shape->plane = (ScreePlaneDef){.point = p, .normal = quat_rotate(pose->rotation, vec3(0, 0, 1))};
    return true;
  case mjGEOM_SPHERE:
    shape->kind = SCREE_SHAPE_SPHERE;
    shape->sphere = (ScreeSphereDef){.center = p, .radius = size[0]};
    return true;
  case mjGEOM_BOX:
    shape->kind = SCREE_SHAPE_BOX;
    shape->box = (ScreeBoxDef){.min = vec3_sub(p, vec3_of(size)), .max = vec3_add(p, vec3_of(size))};
    return !turned;
  case mjGEOM_CAPSULE:
    shape->kind = SCREE_SHAPE_CAPSULE;
    shape->capsule = (ScreeCapsuleDef){.base = vec3(p.x, p.y, p.z - size[1]), .radius = size[0], .height = 2 * size[1]};
    return !turned;
  case mjGEOM_CYLINDER:
    shape->kind = SCREE_SHAPE_CYLINDER;
    shape->cylinder =
        (ScreeCylinderDef){.base = vec3(p.x, p.y, p.z - size[1]), .radius = size[0], .height = 2 * size[1]};
    return !turned;
  default: return false;
  }
}

/* The geoms of a body that make one solid. */
typedef struct Part {
  int body;
  int geoms[1024];
  int count;
  bool in_geom_frame; /* the solid's frame is the (only) geom's, not the body's */
} Part;

static ScreePose part_pose(const mjModel *model, const Part *part, int geom) {
  if (part->in_geom_frame) return (ScreePose){vec3(0, 0, 0), quat_identity()};
  return (ScreePose){vec3_of(model->geom_pos + 3 * geom), quat_normalize(quat_of(model->geom_quat + 4 * geom))};
}

static Status part_shape(Core *core, const mjModel *model, const Part *part, const char *file, Shape *shape) {
  ScreeShapeDef definition = {.kind = SCREE_SHAPE_MESH, .rotation = quat_identity(), .scale = 1};
  ScreePose pose = part_pose(model, part, part->geoms[0]);
  if (part->count == 1 && plain_shape(model, part->geoms[0], &pose, &definition))
    return shape_create(core, &definition, false, NULL, file, shape);
  Assembly assembly = {0};
  Status status = SCREE_OK;
  for (int k = 0; k < part->count && status == SCREE_OK; k++) {
    pose = part_pose(model, part, part->geoms[k]);
    status = add_geom(core, &assembly, model, part->geoms[k], &pose);
  }
  if (status == SCREE_OK) {
    definition.kind = SCREE_SHAPE_MESH;
    definition.mesh = (ScreeMeshDef){.vertices = assembly.vertices,
                                     .triangles = assembly.triangles,
                                     .vertex_count = assembly.vertex_count,
                                     .triangle_count = assembly.triangle_count};
    status = shape_create(core, &definition, false, NULL, file, shape);
  }
  assembly_destroy(core, &assembly);
  return status;
}

/* As the model counts its geoms: without ours. */
static int geom_number(const Mechanism *mechanism, int geom) { return geom - (geom > mechanism->anchor); }

/* Name of the body, or of the geom when that is a solid of its own. */
static Status name_part(Core *core, const State *state, const BodiesPlan *plan, const Mechanism *mechanism,
                        const Part *part, char name[SOLID_NAME_MAX]) {
  const mjModel *model = mechanism->model;
  bool of_geom = part->in_geom_frame;
  const char *given =
      of_geom ? mj_id2name(model, mjOBJ_GEOM, part->geoms[0]) : mj_id2name(model, mjOBJ_BODY, part->body);
  int length = given && given[0] ? snprintf(name, SOLID_NAME_MAX, "%s", given)
                                 : snprintf(name, SOLID_NAME_MAX, of_geom ? "mechanism_geom_%d" : "mechanism_body_%d",
                                            of_geom ? geom_number(mechanism, part->geoms[0]) : part->body);
  const ScreeMechanismDef *definition = plan->scene->mechanism;
  if (length >= SOLID_NAME_MAX)
    return fail_at(core, SCREE_BAD_INPUT, plan->scene->file, definition->source,
                   "name '%.40s...' in '%s' is longer than %d letters", given, definition->mjcf, SOLID_NAME_MAX - 1);
  if (solids_find(&state->solids, name) < 0) return SCREE_OK;
  if (!of_geom)
    return fail_at(core, SCREE_BAD_INPUT, plan->scene->file, definition->source,
                   "'%s' has a body '%s', and so has the scene", definition->mjcf, name);
  char other[SOLID_NAME_MAX];
  snprintf(other, sizeof other, "mechanism_geom_%d", geom_number(mechanism, part->geoms[0]));
  log_warning_at(core, plan->scene->file, definition->source,
                 "'%s' is a geom of '%s' and something else as well: the geom is called '%s'", name, definition->mjcf,
                 other);
  memcpy(name, other, sizeof other);
  return SCREE_OK;
}

static void weigh_part(const mjModel *model, const Part *part, Solid *solid) {
  int body = part->body;
  solid->mass = model->body_mass[body];
  solid->center_in_shape = vec3_of(model->body_ipos + 3 * body);
  const double *moments = model->body_inertia + 3 * body;
  Mat3 turn = mat3_from_quat(quat_normalize(quat_of(model->body_iquat + 4 * body)));
  Mat3 principal = {{{moments[0], 0, 0}, {0, moments[1], 0}, {0, 0, moments[2]}}};
  solid->inertia = mat3_mul(turn, mat3_mul(principal, mat3_transpose(turn)));
}

static Status add_part(Core *core, State *state, const BodiesPlan *plan, Mechanism *mechanism, const Part *part) {
  const ScreeMechanismDef *definition = plan->scene->mechanism;
  const mjModel *model = mechanism->model;
  char name[SOLID_NAME_MAX];
  TRY(name_part(core, state, plan, mechanism, part, name));
  TRY(memory_grow(core, &mechanism->links, mechanism->link_count + 1, "mechanism"));
  Shape shape = {0};
  TRY(part_shape(core, model, part, plan->scene->file, &shape));
  Solid *solid;
  Status status = solids_add(core, &state->solids, &solid);
  if (status != SCREE_OK) {
    shape_destroy(core, &shape);
    return status;
  }
  bool moves = model->body_weldid[part->body] != 0;
  snprintf(solid->name, sizeof solid->name, "%s", name);
  solid->shape = shape;
  solid->motion = moves ? MOTION_MECHANISM : MOTION_FIXED;
  solid->contact = SCREE_CONTACT_DISTANCE;
  solid->friction_static = definition->friction_static;
  solid->friction_kinetic = definition->friction_kinetic;
  solid->stiffness_n = definition->stiffness_n;
  solid->restitution = definition->restitution;
  solid->source = definition->source;
  if (moves) weigh_part(model, part, solid);
  if (part->in_geom_frame) {
    /* fixed for good: the pose of the geom at the start */
    int geom = part->geoms[0];
    double rotation[4];
    mju_mat2Quat(rotation, mechanism->data->geom_xmat + 9 * geom);
    solid->position = vec3_add(mechanism->offset, vec3_of(mechanism->data->geom_xpos + 3 * geom));
    solid->rotation = quat_normalize(quat_of(rotation));
    solid_refresh(solid);
  }
  int32_t index = state->solids.count - 1;
  mechanism->links[mechanism->link_count++] =
      (Link){.solid = index, .body = part->in_geom_frame ? -1 : part->body, .moves = moves};
  for (int k = 0; k < part->count; k++) mechanism->geom_solids[part->geoms[k]] = index;
  return SCREE_OK;
}

Status mechanism_add_solids(Core *core, State *state, const BodiesPlan *plan, Mechanism *mechanism) {
  const mjModel *model = mechanism->model;
  const ScreeMechanismDef *definition = plan->scene->mechanism;
  for (int geom = 0; geom < model->ngeom; geom++) mechanism->geom_solids[geom] = -1;
  for (int body = 0; body < model->nbody; body++) {
    Part whole = {.body = body};
    for (int k = 0; k < model->body_geomnum[body]; k++) {
      int geom = model->body_geomadr[body] + k, type = model->geom_type[geom];
      if (geom == mechanism->anchor) continue;
      if (type == mjGEOM_HFIELD) {
        log_warning_at(core, plan->scene->file, definition->source,
                       "'%s' has a height field, which grains do not feel: use terrain", definition->mjcf);
      } else if (body == 0 || type == mjGEOM_PLANE) {
        Part single = {.body = body, .geoms = {geom}, .count = 1, .in_geom_frame = true};
        TRY(add_part(core, state, plan, mechanism, &single));
      } else if (whole.count == (int)(sizeof whole.geoms / sizeof *whole.geoms)) {
        return fail_at(core, SCREE_BAD_INPUT, plan->scene->file, definition->source,
                       "a body of '%s' has more than %d geoms", definition->mjcf, whole.count);
      } else {
        whole.geoms[whole.count++] = geom;
      }
    }
    if (whole.count > 0) TRY(add_part(core, state, plan, mechanism, &whole));
  }
  return SCREE_OK;
}

#else
typedef int mechanism_shapes_is_not_built;
#endif
