/* What a picture is made from. A frame only points at arrays that belong to somebody else (a world, a file that was
 * read, a copy made for drawing); the renderer reads them during renderer_draw and keeps nothing but uploads. */
#ifndef RENDER_FRAME_H
#define RENDER_FRAME_H

#include "scree/world.h"

/* X(constant, word): how grains are coloured. */
#define RENDER_COLORS(X)                                                                                               \
  X(RENDER_COLOR_MATERIAL, "material")                                                                                 \
  X(RENDER_COLOR_SPEED, "speed")                                                                                       \
  X(RENDER_COLOR_HEIGHT, "height")                                                                                     \
  X(RENDER_COLOR_PRESSURE, "pressure")                                                                                 \
  X(RENDER_COLOR_DEPTH, "depth")                                                                                       \
  X(RENDER_COLOR_ID, "id")
#define RENDER_COLOR_CONSTANT(constant, word) constant,
typedef enum RenderColor { RENDER_COLORS(RENDER_COLOR_CONSTANT) RENDER_COLOR_COUNT } RenderColor;

const char *render_color_name(RenderColor color);
/* false when there is no such mode. */
bool render_color_find(const char *name, RenderColor *color);

typedef struct RenderMaterial {
  float color[3];      /* as in the scene: sRGB, 0 to 1 */
  float grain_density; /* kg/m^3, for the pressure of the column above; 0: unknown */
} RenderMaterial;

typedef enum RenderLook {
  RENDER_SOLID,   /* an opaque body */
  RENDER_GLASS,   /* a container: a thin shell that does not hide what is inside */
  RENDER_GRANULAR /* a surface of the material itself, as a heightfield is */
} RenderLook;

typedef struct RenderSolid {
  ScreeMeshView mesh; /* in the solid's own frame */
  uint64_t mesh_key;  /* same key, same triangles: they are uploaded once. 0: once for each version of the frame */
  ScreePose pose;     /* in the world */
  float color[3];
  RenderLook look;
  bool hidden; /* not drawn, and not counted as part of the scene */
} RenderSolid;

/* A plane that grains lie on, drawn as ground that fades into the distance. */
typedef struct RenderGround {
  ScreeVec3 point, normal;
} RenderGround;

typedef struct RenderFrame {
  ScreeParticles grains;
  const float *pressure; /* Pa per grain, or NULL: the weight of the column above is shown instead */
  uint64_t version;      /* same version, same grains: nothing is uploaded again. 0: they are new in every frame */
  double gravity;        /* m/s^2, for that weight */
  int32_t material_count;
  const RenderMaterial *materials;
  int32_t solid_count;
  const RenderSolid *solids;
  int32_t ground_count;
  const RenderGround *grounds;
  ScreeVec3 to_sun;  /* its direction; zero: somewhere to the left of where scenes are seen from */
  const char *title; /* drawn when the settings say so; may be NULL */
} RenderFrame;

#endif
