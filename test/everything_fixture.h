/* Small scenes in which everything happens at once: births and deaths, a free ball, a driven paddle, fine grains,
 * probes, terrain, a mechanism; method after method. */
#ifndef TEST_EVERYTHING_FIXTURE_H
#define TEST_EVERYTHING_FIXTURE_H

#include <string.h>

#include "scree/scree.h"

enum {
  EVERYTHING_PBD,
  EVERYTHING_P2,
  EVERYTHING_DEM,
  EVERYTHING_SPH,
  EVERYTHING_FLIP,
  EVERYTHING_NONE,
  EVERYTHING_POINTS,  /* flip with shapes and render points */
  EVERYTHING_TERRAIN, /* pbd on ground that takes and gives grains */
  EVERYTHING_MECHANISM,
  EVERYTHING_TERRAIN_SPH, /* ground that keeps its columns: parcels lie on it */
  EVERYTHING_TERRAIN_FLIP,
  EVERYTHING_COUNT
};

typedef struct Everything {
  ScreeMaterialDef materials[2];
  ScreeGrainsDef grains[2];
  ScreeEmitterDef emitter;
  ScreeSinkDef sink;
  ScreeBoundaryDef tank;
  ScreeBodyDef bodies[2];
  ScreeKeyDef keys[2];
  ScreeEventDef bang;
  ScreeProbeDef probes[3];
  ScreeUpsampleDef upsample;
  ScreeTerrainDef terrain;
  ScreeMechanismDef mechanism;
  ScreeSceneDef scene;
} Everything;

static inline void everything_fill(Everything *e, double half) {
  e->materials[0] = scree_material_default("sand");
  e->materials[1] = scree_material_default("gravel");
  for (int k = 0; k < 2; k++) {
    e->materials[k].radius_spread = 0.2;
    e->materials[k].young = 1e6;
    ScreeVec3 low = {k ? 0 : -half, -half, 0.03}, high = {k ? half : 0, half, 0.03 + half};
    e->grains[k] = scree_grains_default(k ? "gravel" : "sand", scree_shape_box(low, high));
  }
  e->materials[1].friction_angle_deg = 25;
  e->emitter = scree_emitter_default("sand");
  e->emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 4 * half}, .radius = 0.6 * half, .direction = {0, 0, -1}};
  e->emitter.rate = 40;
  e->emitter.speed = 1;
  e->sink.shape = scree_shape_box((ScreeVec3){0.4 * half, 0.4 * half, -1}, (ScreeVec3){2 * half, 2 * half, 0.05});
  e->tank = scree_boundary_default(scree_shape_box((ScreeVec3){-half, -half, 0}, (ScreeVec3){half, half, 20 * half}));
  e->tank.inside = true;
}

static inline void everything_bodies(Everything *e, double half) {
  e->bodies[0] = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.35 * half));
  e->bodies[0].shape.position = (ScreeVec3){0.1 * half, 0.2 * half, 2.2 * half};
  e->bodies[1] = scree_body_default(
      "paddle", scree_shape_box((ScreeVec3){-0.1 * half, -0.3 * half, 0}, (ScreeVec3){0.1 * half, 0.3 * half, half}));
  for (int k = 0; k < 2; k++) e->keys[k] = scree_key_default();
  e->keys[0].position = (ScreeVec3){-0.6 * half, 0, 0.05};
  e->keys[1].position = (ScreeVec3){0.6 * half, 0, 0.05};
  e->keys[1].t = 2;
  e->bodies[1].motion = SCREE_MOTION_KEYFRAMES;
  e->bodies[1].keys = e->keys;
  e->bodies[1].key_count = 2;
  e->bang = scree_event_default();
  e->bang.t = 0.1;
  e->bang.impulse = (ScreeImpulseDef){.center = {0, 0, 0.05}, .radius = 0.5 * half, .speed = 2};
}

static inline const char *everything_method(int which) {
  static const char *const methods[EVERYTHING_COUNT] = {"pbd",  "p2",  "dem", "sph", "flip", "none",
                                                        "flip", "pbd", "p2",  "sph", "flip"};
  return methods[which];
}

static inline void everything_terrain(Everything *e, double half) {
  e->terrain = scree_terrain_default("sand");
  e->terrain.origin = (ScreeVec2){-half, -half};
  e->terrain.size = (ScreeVec2){2 * half, 2 * half};
  e->terrain.cell = half / 4;
  e->terrain.height = 0.4 * half;
  e->scene.terrain = &e->terrain;
  for (int k = 0; k < 2; k++) e->grains[k].fill.position.z = e->terrain.height;
  e->keys[0].position.z = e->keys[1].position.z = 0.3 * half;
}

/* `half` is half the side of the tank, `across` how many grains lie along it. `arm` is a file with a mechanism. */
static inline void everything(Everything *e, int which, double half, double across, const char *arm) {
  memset(e, 0, sizeof *e);
  everything_fill(e, half);
  everything_bodies(e, half);
  ScreeSceneDef *scene = &e->scene;
  *scene = scree_scene_default();
  scene->name = "everything";
  scene->method = scree_method_default(everything_method(which));
  scene->method.radius = half / across;
  scene->materials = e->materials;
  scene->material_count = 2;
  scene->grains = e->grains;
  scene->grains_count = 2;
  scene->emitters = &e->emitter;
  scene->emitter_count = 1;
  scene->sinks = &e->sink;
  scene->sink_count = 1;
  scene->boundaries = &e->tank;
  scene->boundary_count = 1;
  scene->bodies = e->bodies;
  scene->body_count = 2;
  scene->events = &e->bang;
  scene->event_count = 1;
  e->probes[0] = scree_probe_default("creep", SCREE_PROBE_CREEP);
  e->probes[1] = scree_probe_default("later", SCREE_PROBE_CREEP);
  e->probes[1].from = 0.05;
  scene->probes = e->probes;
  scene->probe_count = 2;
  e->upsample = scree_upsample_default(0.45 * scene->method.radius);
  scene->upsample = &e->upsample;
  if (which == EVERYTHING_P2) e->upsample.mode = SCREE_UPSAMPLE_PAPER;
  if (which == EVERYTHING_POINTS) {
    e->upsample.mode = SCREE_UPSAMPLE_POINTS;
    scene->method.flip.shapes = true;
  }
  if (which == EVERYTHING_TERRAIN || which == EVERYTHING_TERRAIN_SPH || which == EVERYTHING_TERRAIN_FLIP)
    everything_terrain(e, half);
  if (which == EVERYTHING_TERRAIN) scene->grains_count = 0; /* its grains come out of the ground */
  if (which == EVERYTHING_MECHANISM) {
    e->mechanism = scree_mechanism_default(arm);
    scene->mechanism = &e->mechanism;
  }
}

#endif
