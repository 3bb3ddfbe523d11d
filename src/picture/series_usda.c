/* USD in text: one file that Houdini, Omniverse and newer Blender read. Grains are Points with widths, velocities and
 * ids, solids are Meshes that move; a frame is a time sample. An attribute holds all its samples, so frames are read
 * once for each attribute, and no more than one is in memory. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "output/number.h"
#include "output/stream.h"
#include "picture/recording.h"
#include "picture/series.h"

typedef struct Usda {
  Core core;
  Stream stream;
  Recording *recording;
} Usda;

typedef void (*Sample)(Usda *usda, const SceneFrame *scene);

static void put_points(Usda *usda, const SceneFrame *scene) {
  const ScreeParticles *p = &scene->frame.grains;
  for (int64_t i = 0; i < p->count; i++)
    stream_print(&usda->stream, "%s(%.7g, %.7g, %.7g)", i ? ", " : "", p->origin.x + (double)p->x[i],
                 p->origin.y + (double)p->y[i], p->origin.z + (double)p->z[i]);
}

static void put_velocities(Usda *usda, const SceneFrame *scene) {
  const ScreeParticles *p = &scene->frame.grains;
  for (int64_t i = 0; i < p->count; i++)
    stream_print(&usda->stream, "%s(%.5g, %.5g, %.5g)", i ? ", " : "", (double)p->vx[i], (double)p->vy[i],
                 (double)p->vz[i]);
}

static void put_widths(Usda *usda, const SceneFrame *scene) {
  const ScreeParticles *p = &scene->frame.grains;
  for (int64_t i = 0; i < p->count; i++) stream_print(&usda->stream, "%s%.6g", i ? ", " : "", 2 * (double)p->radius[i]);
}

static void put_ids(Usda *usda, const SceneFrame *scene) {
  const ScreeParticles *p = &scene->frame.grains;
  for (int64_t i = 0; i < p->count; i++) stream_print(&usda->stream, "%s%u", i ? ", " : "", p->id[i]);
}

static void put_color(Stream *stream, const float color[3]) {
  stream_print(stream, "(%.4g, %.4g, %.4g)", (double)color[0], (double)color[1], (double)color[2]);
}

static void put_colors(Usda *usda, const SceneFrame *scene) {
  const ScreeParticles *p = &scene->frame.grains;
  static const float grey[3] = {0.5f, 0.5f, 0.5f};
  for (int64_t i = 0; i < p->count; i++) {
    if (i) stream_print(&usda->stream, ", ");
    put_color(&usda->stream,
              p->material[i] < scene->frame.material_count ? scene->frame.materials[p->material[i]].color : grey);
  }
}

static Status put_samples(Usda *usda, const char *declaration, Sample sample) {
  stream_print(&usda->stream, "        %s.timeSamples = {\n", declaration);
  for (int64_t k = 0; k < recording_count(usda->recording); k++) {
    SceneFrame *scene = NULL;
    ScreeError error;
    Status status = recording_read(usda->recording, k, &scene, &error);
    if (status != SCREE_OK) {
      usda->core.error = error;
      return status;
    }
    stream_print(&usda->stream, "            %lld: [", (long long)recording_number(usda->recording, k));
    sample(usda, scene);
    stream_print(&usda->stream, "],\n");
  }
  stream_print(&usda->stream, "        }\n");
  return SCREE_OK;
}

static Status put_grains(Usda *usda) {
  stream_print(&usda->stream, "    def Points \"grains\"\n    {\n");
  TRY(put_samples(usda, "point3f[] points", put_points));
  if (recording_has_velocity(usda->recording)) TRY(put_samples(usda, "vector3f[] velocities", put_velocities));
  TRY(put_samples(usda, "float[] widths", put_widths));
  if (recording_has_id(usda->recording)) TRY(put_samples(usda, "int64[] ids", put_ids));
  stream_print(&usda->stream, "        color3f[] primvars:displayColor (\n            interpolation = \"vertex\"\n"
                              "        )\n");
  TRY(put_samples(usda, "color3f[] primvars:displayColor", put_colors));
  stream_print(&usda->stream, "    }\n");
  return SCREE_OK;
}

/* ---- solids ---- */

static void put_vertices(Stream *stream, const ScreeMeshView *mesh) {
  for (int64_t v = 0; v < mesh->vertex_count; v++)
    stream_print(stream, "%s(%.7g, %.7g, %.7g)", v ? ", " : "", (double)mesh->vertices[3 * v],
                 (double)mesh->vertices[3 * v + 1], (double)mesh->vertices[3 * v + 2]);
}

static void put_surface(Stream *stream, const RenderSolid *solid) {
  const ScreeMeshView *mesh = &solid->mesh;
  stream_print(stream, "        uniform token subdivisionScheme = \"none\"\n        int[] faceVertexCounts = [");
  for (int64_t t = 0; t < mesh->triangle_count; t++) stream_print(stream, t ? ", 3" : "3");
  stream_print(stream, "]\n        int[] faceVertexIndices = [");
  for (int64_t c = 0; c < 3 * mesh->triangle_count; c++)
    stream_print(stream, "%s%u", c ? ", " : "", mesh->triangles[c]);
  stream_print(stream, "]\n        color3f[] primvars:displayColor = [");
  put_color(stream, solid->color);
  stream_print(stream, "]\n");
}

/* Solids that move: bodies, boundaries with keyframes. */
static void put_motion(Usda *usda, int32_t solid) {
  Stream *stream = &usda->stream;
  for (int turn = 0; turn < 2; turn++) {
    stream_print(stream, "        %s.timeSamples = {\n", turn ? "quatf xformOp:orient" : "double3 xformOp:translate");
    for (int64_t k = 0; k < recording_count(usda->recording); k++) {
      ScreePose pose = recording_pose(usda->recording, k)->frame.solids[solid].pose;
      ScreeVec3 p = pose.position;
      ScreeQuat q = pose.rotation;
      stream_print(stream, "            %lld: ", (long long)recording_number(usda->recording, k));
      if (turn) stream_print(stream, "(%.7g, %.7g, %.7g, %.7g),\n", q.w, q.x, q.y, q.z);
      else stream_print(stream, "(%.9g, %.9g, %.9g),\n", p.x, p.y, p.z);
    }
    stream_print(stream, "        }\n");
  }
  stream_print(stream, "        uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n");
}

static void put_terrain_samples(Usda *usda, int32_t solid) {
  stream_print(&usda->stream, "        point3f[] points.timeSamples = {\n");
  for (int64_t k = 0; k < recording_count(usda->recording); k++) {
    const SceneFrame *scene = recording_pose(usda->recording, k);
    stream_print(&usda->stream, "            %lld: [", (long long)recording_number(usda->recording, k));
    put_vertices(&usda->stream, &scene->frame.solids[solid].mesh);
    stream_print(&usda->stream, "],\n");
  }
  stream_print(&usda->stream, "        }\n");
}

/* Letters, digits and underscores, and the solid's number, which makes it the only one of its name. */
static void put_name(Usda *usda, int32_t number) {
  char name[64] = "solid";
  const char *given = recording_solid_name(usda->recording, number);
  if (given && *given) snprintf(name, sizeof name, "%s", given);
  for (char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  stream_print(&usda->stream, "    def Mesh \"%s%s_%d\"\n    {\n", isdigit((unsigned char)name[0]) ? "_" : "", name,
               number);
}

static void put_solids(Usda *usda) {
  const SceneFrame *scene = recording_pose(usda->recording, 0);
  for (int32_t k = 0; k < scene->frame.solid_count; k++) {
    const RenderSolid *solid = &scene->frame.solids[k];
    int32_t number = scene->solid_bodies[k];
    if (solid->hidden || number == SOLID_TERRAIN_SIDES || solid->mesh.triangle_count == 0) continue;
    if (number == SOLID_TERRAIN) stream_print(&usda->stream, "    def Mesh \"terrain\"\n    {\n");
    else put_name(usda, number);
    put_surface(&usda->stream, solid);
    if (number == SOLID_TERRAIN) {
      put_terrain_samples(usda, k);
    } else {
      stream_print(&usda->stream, "        point3f[] points = [");
      put_vertices(&usda->stream, &solid->mesh);
      stream_print(&usda->stream, "]\n");
      put_motion(usda, k);
    }
    stream_print(&usda->stream, "    }\n");
    scene = recording_pose(usda->recording, 0);
  }
}

static Status write_usda(Usda *usda, const char *path) {
  Stream *stream = &usda->stream;
  int64_t count = recording_count(usda->recording);
  stream_open(stream, path);
  stream_print(stream, "#usda 1.0\n(\n    defaultPrim = \"scree\"\n    startTimeCode = %lld\n    endTimeCode = %lld\n",
               (long long)recording_number(usda->recording, 0),
               (long long)recording_number(usda->recording, count - 1));
  stream_print(stream, "    timeCodesPerSecond = %s\n    metersPerUnit = 1\n    upAxis = \"Z\"\n)\n\n",
               number_csv(recording_definition(usda->recording)->frame_rate).text);
  stream_print(stream, "def Xform \"scree\"\n{\n");
  Status status = put_grains(usda);
  put_solids(usda);
  stream_print(stream, "}\n");
  if (status != SCREE_OK && stream->end.why == 0) stream->end.why = EIO; /* nothing half-written appears */
  Status committed = stream_commit(&usda->core, stream);
  return status != SCREE_OK ? status : committed;
}

ScreeStatus series_write_usda(const char *from, const char *path, ScreeError *error) {
  Core core = {0};
  memory_create(&core.memory, 0);
  Usda *usda = NULL; /* the stream's buffer is large */
  ScreeStatus status = memory_new(&core, &usda, 1, "usda");
  if (status != SCREE_OK) return core_report(&core, status, error);
  usda->core = core;
  status = recording_open(from, true, &usda->recording, error);
  if (status == SCREE_OK) {
    status = core_report(&usda->core, write_usda(usda, path), error);
    recording_close(usda->recording);
  }
  memory_drop(&core, &usda);
  return status;
}
