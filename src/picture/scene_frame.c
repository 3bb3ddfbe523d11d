#include "picture/scene_frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ScreeStatus frame_no_memory(ScreeError *error) {
  if (error) {
    *error = (ScreeError){.status = SCREE_NO_MEMORY};
    snprintf(error->message, sizeof error->message, "no memory for the frame to be drawn");
  }
  return SCREE_NO_MEMORY;
}

static void frame_color(ScreeVec3 from, float to[3]) {
  to[0] = (float)from.x, to[1] = (float)from.y, to[2] = (float)from.z;
}

/* Paint for machines and bodies: by what the name says it is, else one after the other. */
static void frame_paint(const char *name, int32_t index, float color[3]) {
  static const struct {
    const char *word;
    float color[3];
  } known[] = {
      {"bucket", {0.42f, 0.43f, 0.45f}},  {"blade", {0.45f, 0.46f, 0.48f}},    {"excavator", {0.22f, 0.23f, 0.25f}},
      {"chassis", {0.22f, 0.23f, 0.25f}}, {"track", {0.20f, 0.20f, 0.21f}},    {"wheel", {0.30f, 0.30f, 0.32f}},
      {"cab", {0.28f, 0.36f, 0.42f}},     {"boom", {0.93f, 0.66f, 0.12f}},     {"stick", {0.93f, 0.66f, 0.12f}},
      {"house", {0.90f, 0.62f, 0.10f}},   {"bed", {0.93f, 0.66f, 0.12f}},      {"truck", {0.20f, 0.34f, 0.46f}},
      {"rock", {0.48f, 0.46f, 0.43f}},    {"squirrel", {0.62f, 0.36f, 0.18f}}, {"plank", {0.66f, 0.48f, 0.30f}},
      {"stand", {0.45f, 0.34f, 0.24f}},   {"gate", {0.35f, 0.45f, 0.55f}}};
  static const float others[][3] = {{0.70f, 0.24f, 0.18f}, {0.20f, 0.42f, 0.62f}, {0.30f, 0.52f, 0.34f},
                                    {0.62f, 0.44f, 0.66f}, {0.85f, 0.55f, 0.20f}, {0.45f, 0.47f, 0.50f}};
  for (size_t k = 0; name && k < sizeof known / sizeof *known; k++)
    if (strstr(name, known[k].word)) {
      memcpy(color, known[k].color, 3 * sizeof(float));
      return;
    }
  memcpy(color, others[(uint32_t)index % (sizeof others / sizeof *others)], 3 * sizeof(float));
}

static void frame_materials(SceneFrame *scene, const ScreeSceneDef *definition) {
  for (int32_t k = 0; k < definition->material_count; k++) {
    const ScreeMaterialDef *material = &definition->materials[k];
    double density = material->grain_density > 0 ? material->grain_density : material->density / 0.6;
    scene->materials[k] = (RenderMaterial){
        {(float)material->color.x, (float)material->color.y, (float)material->color.z}, (float)density};
  }
  scene->frame.materials = scene->materials;
  scene->frame.material_count = definition->material_count;
  ScreeVec3 g = definition->gravity;
  scene->frame.gravity = sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
}

/* Copies a mesh in one block: vertices, then triangles. */
static bool frame_copy_mesh(SceneFrame *scene, ScreeMeshView *mesh) {
  size_t vertices = (size_t)mesh->vertex_count * 3 * sizeof(float);
  size_t triangles = (size_t)mesh->triangle_count * 3 * sizeof(uint32_t);
  char *block = malloc(vertices + triangles + 1);
  if (!block) return false;
  memcpy(block, mesh->vertices, vertices);
  memcpy(block + vertices, mesh->triangles, triangles);
  mesh->vertices = (const float *)block;
  mesh->triangles = (const uint32_t *)(block + vertices);
  scene->meshes[scene->mesh_count++] = block;
  return true;
}

/* A plane is ground when grains can lie on it; upright ones are walls that would only hide the sand. */
static bool frame_plane(SceneFrame *scene, const ScreeBoundaryDef *boundary) {
  if (boundary->shape.kind != SCREE_SHAPE_PLANE) return false;
  ScreeVec3 normal = boundary->shape.plane.normal;
  double length = sqrt(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
  if (length > 0 && normal.z > 0.5 * length)
    scene->grounds[scene->frame.ground_count++] = (RenderGround){boundary->shape.plane.point, normal};
  return true;
}

/* Mechanisms have floors of their own, squares without thickness: ground too, unless there is one. */
static bool frame_floor(SceneFrame *scene, const ScreeMeshView *mesh, const ScreePose *pose) {
  if (mesh->vertex_count != 4 || fabs(pose->rotation.x) + fabs(pose->rotation.y) > 1e-6) return false;
  for (int64_t v = 0; v < mesh->vertex_count; v++)
    if (mesh->vertices[3 * v + 2] != 0) return false;
  if (scene->frame.ground_count == 0)
    scene->grounds[scene->frame.ground_count++] = (RenderGround){pose->position, {0, 0, 1}};
  return true;
}

/* The sun stands to the left of where the scene's camera is, and half as high as it can: what lies before the camera is
 * lit, and every slope of it differently. */
static ScreeVec3 frame_sun(const ScreeSceneDef *definition) {
  Camera camera = scene_camera(definition);
  double turn = atan2(camera.eye.y - camera.target.y, camera.eye.x - camera.target.x) - 1.25, high = 0.72;
  return (ScreeVec3){cos(turn) * cos(high), sin(turn) * cos(high), sin(high)};
}

/* A container that stands nowhere gets a table to stand on, as deep as its keys take it. */
static void frame_table(SceneFrame *scene, const ScreeWorld *world) {
  const ScreeSceneDef *definition = scree_world_definition(world);
  ScreeVec3 lowest = {0, 0, INFINITY};
  if (scene->frame.ground_count > 0 || definition->sink_count > 0 || definition->terrain) return;
  for (int32_t k = 0; k < scene->frame.solid_count; k++) {
    const RenderSolid *solid = &scene->solids[k];
    if (solid->look != RENDER_GLASS) continue;
    const ScreeBoundaryDef *boundary = &definition->boundaries[scene->solid_bodies[k] - 1];
    double down = 0;
    for (int32_t key = 0; key < boundary->key_count; key++)
      down = fmin(down, boundary->keys[key].position.z - boundary->keys[0].position.z);
    for (int64_t v = 0; v < solid->mesh.vertex_count; v++)
      lowest.z = fmin(lowest.z, solid->pose.position.z + down + solid->mesh.vertices[3 * v + 2]);
  }
  if (isfinite(lowest.z)) scene->grounds[scene->frame.ground_count++] = (RenderGround){lowest, {0, 0, 1}};
}

static bool frame_solid(SceneFrame *scene, const ScreeWorld *world, int32_t body) {
  const ScreeSceneDef *definition = scree_world_definition(world);
  const ScreeBoundaryDef *boundary = body <= definition->boundary_count ? &definition->boundaries[body - 1] : NULL;
  if (boundary && frame_plane(scene, boundary)) return true;
  ScreeBodyState state;
  RenderSolid solid = {.mesh_key = scene->keys * 65536 + (uint64_t)body};
  if (scree_world_body(world, body, &state) != SCREE_OK ||
      scree_world_body_mesh(world, body, &solid.mesh) != SCREE_OK || solid.mesh.triangle_count == 0)
    return true;
  if (!boundary && frame_floor(scene, &solid.mesh, &state.pose)) return true;
  if (!frame_copy_mesh(scene, &solid.mesh)) return false;
  solid.pose = state.pose;
  int32_t own = body - definition->boundary_count - 1; /* among the bodies of the scene */
  ScreeVec3 wanted = {NAN, NAN, NAN};
  if (boundary) wanted = boundary->color;
  else if (own < definition->body_count) wanted = definition->bodies[own].color;
  if (boundary && boundary->inside) solid.look = RENDER_GLASS;
  if (!scree_is_auto(wanted.x)) frame_color(wanted, solid.color);
  else if (solid.look == RENDER_GLASS) frame_color((ScreeVec3){0.72, 0.84, 0.90}, solid.color);
  else if (boundary) frame_color((ScreeVec3){0.55, 0.56, 0.58}, solid.color);
  else frame_paint(state.name, body, solid.color);
  scene->solid_bodies[scene->frame.solid_count] = body;
  scene->solids[scene->frame.solid_count++] = solid;
  return true;
}

static bool frame_room(void *block, size_t bytes) {
  void **pointer = block, *grown = realloc(*pointer, bytes + 1);
  if (grown) *pointer = grown;
  return grown != NULL;
}

/* Bodies that the frame does not know yet; two places are kept free for the terrain and its sides. */
static bool frame_follow_bodies(SceneFrame *scene, const ScreeWorld *world) {
  int32_t count = scree_world_body_count(world);
  if (count <= scene->body_count && scene->solids) return true;
  size_t room = (size_t)count + 2;
  bool good = frame_room(&scene->solids, room * sizeof *scene->solids) &&
              frame_room(&scene->solid_bodies, room * sizeof *scene->solid_bodies) &&
              frame_room(&scene->grounds, room * sizeof *scene->grounds) &&
              frame_room(&scene->meshes, room * sizeof *scene->meshes);
  for (; good && scene->body_count < count; scene->body_count++)
    good = frame_solid(scene, world, scene->body_count + 1);
  scene->frame.solids = scene->solids;
  scene->frame.grounds = scene->grounds;
  return good;
}

ScreeStatus scene_frame_create(SceneFrame *scene, const ScreeWorld *world, uint64_t keys, ScreeError *error) {
  const ScreeSceneDef *definition = scree_world_definition(world);
  *scene = (SceneFrame){.keys = keys};
  scene->materials = calloc((size_t)definition->material_count + 1, sizeof *scene->materials);
  if (scene->materials) frame_materials(scene, definition);
  if (!scene->materials || !frame_follow_bodies(scene, world)) {
    scene_frame_destroy(scene);
    return frame_no_memory(error);
  }
  frame_table(scene, world);
  scene->frame.to_sun = frame_sun(definition);
  return SCREE_OK;
}

void scene_frame_destroy(SceneFrame *scene) {
  for (int32_t k = 0; k < scene->mesh_count; k++) free(scene->meshes[k]);
  free(scene->meshes);
  free(scene->materials);
  free(scene->solids);
  free(scene->solid_bodies);
  free(scene->grounds);
  free(scene->columns);
  free(scene->ids);
  free(scene->kinds);
  free(scene->pressure);
  free(scene->side_vertices);
  free(scene->side_triangles);
  free(scene->terrain_vertices);
  free(scene->terrain_triangles);
  *scene = (SceneFrame){0};
}

/* ---- terrain ---- */

static void terrain_color(const ScreeSceneDef *definition, float color[3]) {
  frame_color((ScreeVec3){0.85, 0.70, 0.45}, color);
  for (int32_t k = 0; k < definition->material_count; k++)
    if (strcmp(definition->materials[k].name, definition->terrain->material) == 0)
      frame_color(definition->materials[k].color, color);
}

/* The solid of that mark; made when there is none. */
static RenderSolid *terrain_solid(SceneFrame *scene, const ScreeSceneDef *definition, int32_t mark) {
  for (int32_t k = 0; k < scene->frame.solid_count; k++)
    if (scene->solid_bodies[k] == mark) return &scene->solids[k];
  int32_t at = scene->frame.solid_count++;
  scene->solid_bodies[at] = mark;
  scene->solids[at] = (RenderSolid){.look = RENDER_GRANULAR, .pose = {.rotation = {1, 0, 0, 0}}};
  terrain_color(definition, scene->solids[at].color);
  return &scene->solids[at];
}

typedef struct RimPoint {
  double along; /* from the first corner, against the clock as seen from above */
  int64_t vertex;
} RimPoint;

static int rim_order(const void *a, const void *b) {
  double x = ((const RimPoint *)a)->along, y = ((const RimPoint *)b)->along;
  return (x > y) - (x < y);
}

/* The vertices on the four sides of a rectangle of columns, whatever their order in the mesh; NULL without memory. */
static RimPoint *rim_find(const ScreeMeshView *mesh, int64_t *count) {
  float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int64_t v = 0; v < mesh->vertex_count; v++)
    for (int k = 0; k < 2; k++) {
      low[k] = fminf(low[k], mesh->vertices[3 * v + k]);
      high[k] = fmaxf(high[k], mesh->vertices[3 * v + k]);
    }
  double wide = (double)high[0] - (double)low[0], deep = (double)high[1] - (double)low[1];
  RimPoint *rim = malloc(((size_t)mesh->vertex_count + 1) * sizeof *rim);
  *count = 0;
  for (int64_t v = 0; rim && v < mesh->vertex_count; v++) {
    float x = mesh->vertices[3 * v], y = mesh->vertices[3 * v + 1];
    double right = (double)x - (double)low[0], up = (double)y - (double)low[1], along = -1;
    if (y == low[1]) along = right;
    else if (x == high[0]) along = wide + up;
    else if (y == high[1]) along = 2 * wide + deep - right;
    else if (x == low[0]) along = 2 * (wide + deep) - up;
    if (along >= 0) rim[(*count)++] = (RimPoint){along, v};
  }
  if (rim) qsort(rim, (size_t)*count, sizeof *rim, rim_order);
  return rim;
}

/* Round the rim: a vertex of the surface and one below it at the base. */
static bool terrain_sides(SceneFrame *scene, const ScreeMeshView *mesh, float base, ScreeMeshView *sides) {
  int64_t count;
  RimPoint *rim = rim_find(mesh, &count);
  *sides = (ScreeMeshView){0};
  bool good = rim && frame_room(&scene->side_vertices, (size_t)count * 6 * sizeof(float)) &&
              frame_room(&scene->side_triangles, (size_t)count * 6 * sizeof(uint32_t));
  for (int64_t k = 0; good && k < count; k++) {
    const float *from = &mesh->vertices[3 * rim[k].vertex];
    memcpy(&scene->side_vertices[6 * k], from, 3 * sizeof(float));
    memcpy(&scene->side_vertices[6 * k + 3], (float[3]){from[0], from[1], base}, 3 * sizeof(float));
    uint32_t top = (uint32_t)(2 * k), next = (uint32_t)(2 * ((k + 1) % count));
    memcpy(&scene->side_triangles[6 * k], (uint32_t[6]){top + 1, next + 1, next, top + 1, next, top},
           6 * sizeof(uint32_t));
  }
  free(rim);
  if (good) *sides = (ScreeMeshView){2 * count, 2 * count, scene->side_vertices, scene->side_triangles};
  return good;
}

bool scene_frame_terrain(SceneFrame *scene, const ScreeSceneDef *definition, ScreeMeshView mesh, ScreeVec3 origin) {
  if (mesh.triangle_count == 0 || !definition->terrain || !scene->solids) return true;
  RenderSolid *surface = terrain_solid(scene, definition, SOLID_TERRAIN);
  surface->mesh = mesh;
  surface->pose.position = origin;
  RenderSolid *sides = terrain_solid(scene, definition, SOLID_TERRAIN_SIDES);
  sides->pose.position = origin;
  ScreeVec3 corner = {definition->terrain->origin.x, definition->terrain->origin.y, definition->terrain->base};
  if (scene->frame.ground_count == 0) scene->grounds[scene->frame.ground_count++] = (RenderGround){corner, {0, 0, 1}};
  return terrain_sides(scene, &mesh, (float)(corner.z - origin.z), &sides->mesh);
}

void scene_frame_particles(SceneFrame *scene, ScreeParticles particles) {
  scene->frame.grains = particles;
  scene->frame.version++;
}

/* NULL where the method knows no pressure: the renderer then shows the weight of what lies above. */
static bool frame_pressure(SceneFrame *scene, const ScreeWorld *world, bool fine) {
  int64_t count = scene->frame.grains.count;
  scene->frame.pressure = NULL;
  if (!scene->wants_pressure) return true;
  if (count > scene->pressure_room) {
    if (!frame_room(&scene->pressure, (size_t)count * sizeof *scene->pressure)) return false;
    scene->pressure_room = count;
  }
  if (count > 0 && scree_world_pressure(world, fine, scene->pressure)) scene->frame.pressure = scene->pressure;
  return true;
}

ScreeStatus scene_frame_view(SceneFrame *scene, const ScreeWorld *world, bool fine, ScreeError *error) {
  ScreeParticles grains = scree_world_grains(world);
  fine = fine && grains.count > 0;
  scene_frame_particles(scene, fine ? grains : scree_world_particles(world));
  if (!frame_follow_bodies(scene, world) || !frame_pressure(scene, world, fine)) return frame_no_memory(error);
  scene->time = scree_world_time(world);
  scene->index = scree_world_frame_index(world);
  for (int32_t k = 0; k < scene->frame.solid_count; k++) {
    ScreeBodyState state;
    if (scene->solid_bodies[k] > 0 && scree_world_body(world, scene->solid_bodies[k], &state) == SCREE_OK)
      scene->solids[k].pose = state.pose;
  }
  bool good = scene_frame_terrain(scene, scree_world_definition(world), scree_world_terrain(world),
                                  scree_world_particles(world).origin);
  return good ? SCREE_OK : frame_no_memory(error);
}

static bool frame_copy_grains(SceneFrame *scene) {
  ScreeParticles *grains = &scene->frame.grains;
  size_t count = (size_t)grains->count;
  if (grains->count > scene->column_room) {
    size_t room = count + count / 4;
    if (!frame_room(&scene->columns, SCENE_FRAME_COLUMNS * room * sizeof(float)) ||
        !frame_room(&scene->ids, room * sizeof(uint32_t)) || !frame_room(&scene->kinds, room))
      return false;
    scene->column_room = (int64_t)room;
  }
  const float **columns[SCENE_FRAME_COLUMNS] = {&grains->x,  &grains->y,  &grains->z,     &grains->vx,
                                                &grains->vy, &grains->vz, &grains->radius};
  for (int k = 0; k < SCENE_FRAME_COLUMNS; k++) {
    float *to = scene->columns + (size_t)k * (size_t)scene->column_room;
    if (count) memcpy(to, *columns[k], count * sizeof(float));
    *columns[k] = to;
  }
  if (count) memcpy(scene->ids, grains->id, count * sizeof(uint32_t));
  if (count) memcpy(scene->kinds, grains->material, count);
  grains->id = scene->ids;
  grains->material = scene->kinds;
  return true;
}

static bool frame_copy_terrain(SceneFrame *scene, ScreeMeshView *mesh) {
  size_t vertices = (size_t)mesh->vertex_count * 3 * sizeof(float);
  size_t triangles = (size_t)mesh->triangle_count * 3 * sizeof(uint32_t);
  if (mesh->vertex_count > scene->vertex_room) {
    if (!frame_room(&scene->terrain_vertices, vertices)) return false;
    scene->vertex_room = mesh->vertex_count;
  }
  if (mesh->triangle_count > scene->triangle_room) {
    if (!frame_room(&scene->terrain_triangles, triangles)) return false;
    scene->triangle_room = mesh->triangle_count;
  }
  if (vertices) memcpy(scene->terrain_vertices, mesh->vertices, vertices);
  if (triangles) memcpy(scene->terrain_triangles, mesh->triangles, triangles);
  mesh->vertices = scene->terrain_vertices;
  mesh->triangles = scene->terrain_triangles;
  return true;
}

ScreeStatus scene_frame_take(SceneFrame *scene, const ScreeWorld *world, bool fine, ScreeError *error) {
  ScreeStatus status = scene_frame_view(scene, world, fine, error);
  if (status != SCREE_OK) return status;
  bool good = frame_copy_grains(scene);
  for (int32_t k = 0; good && k < scene->frame.solid_count; k++)
    if (scene->solid_bodies[k] == SOLID_TERRAIN) good = frame_copy_terrain(scene, &scene->solids[k].mesh);
  if (good) return SCREE_OK;
  scene->frame.grains.count = 0;
  return frame_no_memory(error);
}
