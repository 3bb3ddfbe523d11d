/* A world as the renderer wants it: which solids are glass, ground or paint, and where everything is now. */
#ifndef PICTURE_SCENE_FRAME_H
#define PICTURE_SCENE_FRAME_H

#include "render/render.h"
#include "scree/scree.h"

enum { SCENE_FRAME_COLUMNS = 7 };

enum { SOLID_TERRAIN = 0, SOLID_TERRAIN_SIDES = -1 };

typedef struct SceneFrame {
  RenderFrame frame;
  RenderMaterial *materials;
  RenderSolid *solids;
  int32_t *solid_bodies; /* id of the body that a solid is, or one of those below */
  RenderGround *grounds;
  uint64_t keys;       /* tells the meshes of several worlds apart */
  int32_t body_count;  /* of the world's, looked at so far */
  bool wants_pressure; /* set by whoever colours by it */
  float *pressure;
  int64_t pressure_room;
  double time;
  int64_t index;
  /* what scene_frame_take copied: x y z vx vy vz radius, id, material, terrain */
  float *columns;
  uint32_t *ids;
  uint8_t *kinds;
  float *side_vertices; /* of the terrain, down to its base */
  uint32_t *side_triangles;
  float *terrain_vertices;
  uint32_t *terrain_triangles;
  int64_t column_room, vertex_room, triangle_room;
  /* meshes of the solids, copied once */
  void **meshes;
  int32_t mesh_count;
} SceneFrame;

/* Looks at the world once: materials, solids and their triangles. `keys` tells meshes of several worlds apart. */
ScreeStatus scene_frame_create(SceneFrame *scene, const ScreeWorld *world, uint64_t keys, ScreeError *error);
void scene_frame_destroy(SceneFrame *scene);

/* Points the frame at the world as it is now; good until the world moves on. fine: the fine grains, where there are
 * any. Bodies that were added to the world since are taken in. */
ScreeStatus scene_frame_view(SceneFrame *scene, const ScreeWorld *world, bool fine, ScreeError *error);
/* The same as a copy, so that the world may move on while it is drawn. */
ScreeStatus scene_frame_take(SceneFrame *scene, const ScreeWorld *world, bool fine, ScreeError *error);
/* Points the frame at particles from elsewhere, as from a file. */
void scene_frame_particles(SceneFrame *scene, ScreeParticles particles);

/* Points the frame at the terrain as it is now, rows of columns as scree_world_terrain gives them, and adds its sides
 * and the ground that it lies on. false when there is no memory. */
bool scene_frame_terrain(SceneFrame *scene, const ScreeSceneDef *definition, ScreeMeshView mesh, ScreeVec3 origin);
/* scene_camera.c: the scene's camera; one that takes in all that it describes where it has none. */
Camera scene_camera(const ScreeSceneDef *definition);

#endif
