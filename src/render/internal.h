/* What the passes of the renderer share. */
#ifndef RENDER_INTERNAL_H
#define RENDER_INTERNAL_H

#include "core/parallel.h"
#include "core/timer.h"
#include "core/vec.h"
#include "render/gl.h"

/* Column-major, as OpenGL wants it. */
typedef struct Mat4 {
  float m[16];
} Mat4;
Mat4 mat4_mul(const Mat4 *a, const Mat4 *b);
/* Rigid motion, and its use as a view: rows are the axes. */
Mat4 mat4_pose(Vec3 position, Quat rotation);
Mat4 mat4_view(Vec3 eye, Vec3 right, Vec3 up, Vec3 forward);
Mat4 mat4_perspective(double focal_x, double focal_y, double near, double far);
Mat4 mat4_orthographic(double half, double near, double far);

/* A grain as it is uploaded: centre relative to the frame's origin, radius, colour. */
typedef struct GrainVertex {
  float x, y, z, radius;
  uint8_t color[4]; /* linear light would band: sRGB, the shader decodes; the fourth is a random byte of the grain */
} GrainVertex;

typedef struct GrainBounds {
  Vec3 low, high;
  Vec3 mean, spread; /* of the centres: standard deviation along each axis */
  double mean_radius, largest_radius;
  int64_t drawable; /* finite and of positive radius */
} GrainBounds;

/* The view that a pass draws with: the camera's or the sun's. */
typedef struct View {
  bool sun;                     /* orthographic */
  Vec3 eye, right, up, forward; /* relative to the frame's origin */
  int width, height;
  double focal; /* pixels at distance 1; sun: pixels per metre */
  double near, far;
  Mat4 view, projection, both;
} View;

typedef struct MeshUpload {
  uint64_t key;
  uint64_t used;    /* picture in which it was drawn last */
  uint64_t version; /* of the frame that it came with */
  GLuint buffer, array, edge_buffer, edge_array;
  int64_t corners, edge_ends;
  Vec3 low, high;
} MeshUpload;

typedef struct GrainDraw {
  GLuint buffer, array, quad_array;
  int64_t count;
} GrainDraw;

struct Renderer {
  Core core;
  Gl gl;
  GLuint empty_array;
  RenderSettings settings;
  const RenderFrame *frame; /* while drawing */
  uint64_t pictures;

  /* grains as packed on the CPU */
  GrainVertex *packed;
  int64_t packed_count;
  uint64_t packed_version;
  RenderColor packed_color;
  double packed_low, packed_high;
  GrainBounds bounds;
  float *values;           /* what colours stand for */
  RenderColor scale_color; /* the mode that scale_low and scale_high were gathered for */
  double scale_low, scale_high;
  RenderLegend legend;
  GrainVertex *chosen; /* what culling left */
  uint32_t *nearest;   /* depth that is covered, per cell and per tile; float bits */
  uint8_t *kept;       /* per grain: left by culling */
  GrainDraw camera_grains, sun_grains;
  GLuint grain_program, grain_quad_program, grain_shadow_program;

  /* solids */
  MeshUpload *meshes;
  int64_t mesh_count;
  GLuint mesh_program, mesh_shadow_program, glass_program, edge_program, ground_program;
  Vec3 scene_low, scene_high;   /* grains and solids, relative to the origin */
  Vec3 caster_low, caster_high; /* what casts shadows: stray grains and glass left out */
  GLuint ground_texture;        /* noise, for the ground and for heightfields */

  /* views and light */
  View camera, sun;
  Vec3 to_sun;

  /* targets */
  GlTarget scene;  /* albedo and kind, normal, depth */
  GlTarget shadow; /* depth from the sun */
  GlTarget occlusion[2];
  GlTarget lit;     /* shaded, tone-mapped */
  GlTarget picture; /* at the size asked for */
  GLuint occlusion_program, occlusion_blur_program, shade_programs[2], smooth_program, reduce_program;

  /* overlay */
  GLuint overlay_program, overlay_texture;

  bool timing;
  double stage_began;
  RenderStatistics statistics;
};

/* Kinds of surface, in the alpha of the albedo; below 128 it is a grain and a random number of its own. */
enum { KIND_GRAIN, KIND_MESH, KIND_GROUND, KIND_GRANULAR };
static inline float kind_alpha(int kind) { return (float)(128 + 32 * kind) / 255.f; }

/* GLSL that several passes share. */
extern const char *const shader_mesh_vertex; /* v_point and v_normal in the world; uniforms u_pose, u_both, u_nearer */
extern const char *const shader_light;       /* to_linear, to_display, sky_color(direction), sky_ambient, sun_color */

/* pack.c: colours and packed grains, once per version of the frame. */
Status pack_grains(Renderer *renderer, bool *changed);
/* scale.c: what the colours stand for. */
Status scale_values(Renderer *renderer);
RenderLegend scale_legend(const Renderer *renderer);
void scale_map(double t, uint8_t rgb[3]);
/* cull.c: leaves out what cannot be seen; gives the grains to upload. */
Status cull_grains(Renderer *renderer, const View *view, const GrainVertex **grains, int64_t *count);

/* One create, draw and destroy per pass. */
Status pass_grains_create(Renderer *renderer);
Status pass_grains_upload(Renderer *renderer, const View *view, GrainDraw *draw, bool changed);
void pass_grains_draw(Renderer *renderer, const View *view, const GrainDraw *draw);
void pass_grains_destroy(Renderer *renderer);
Status pass_meshes_create(Renderer *renderer);
Status pass_meshes_upload(Renderer *renderer);
void pass_meshes_draw(Renderer *renderer, const View *view);
void pass_meshes_destroy(Renderer *renderer);
MeshUpload *pass_meshes_find(Renderer *renderer, const RenderSolid *solid);
Mat4 pass_meshes_pose(const Renderer *renderer, const RenderSolid *solid);
Status pass_glass_create(Renderer *renderer);
void pass_glass_draw(Renderer *renderer);
void pass_glass_destroy(Renderer *renderer);
Status pass_ground_create(Renderer *renderer);
void pass_ground_draw(Renderer *renderer);
void pass_ground_destroy(Renderer *renderer);
Status pass_shadow_draw(Renderer *renderer, bool changed);
Status pass_occlusion_create(Renderer *renderer);
Status pass_occlusion_draw(Renderer *renderer);
void pass_occlusion_destroy(Renderer *renderer);
Status pass_shade_create(Renderer *renderer);
Status pass_shade_draw(Renderer *renderer);
void pass_shade_destroy(Renderer *renderer);
Status pass_antialias_create(Renderer *renderer);
Status pass_antialias_draw(Renderer *renderer);
void pass_antialias_destroy(Renderer *renderer);
Status pass_overlay_create(Renderer *renderer);
Status pass_overlay_draw(Renderer *renderer);
void pass_overlay_destroy(Renderer *renderer);

/* Ends a timed stage. */
void renderer_stage(Renderer *renderer, RenderStage stage);

#endif
