/* Fig. 5 of Holz 2014: a block of grains beside a wall slumps into a slope; the better a solver converges, the steeper
 * it stands. */
#ifndef BENCH_SLOPE_H
#define BENCH_SLOPE_H

#include "bench/gauss_seidel.h"
#include "scree/scree.h"
#include "world/world.h"

typedef struct SlopeCase {
  bool sequential, averaging, memory;
  int iterations;
  double error_reduction;
  int64_t seed;
  bool ground; /* error reduction by steps to the ground */
} SlopeCase;

typedef struct SlopeResult {
  double angle; /* deg */
  double load;  /* on the floor, share of the weight */
  double depth; /* largest overlap at the end, share of the radius */
} SlopeResult;

/* Of the wedge against the wall at x = 0 that has the grains' centre of mass: a triangle's lies at a third of its
 * sides. (A line through the highest grains of a slope five grains wide scatters by 8 degrees from seed to seed, this
 * by 1.) */
static inline double slope_angle(const ScreeWorld *world) {
  ScreeParticles p = scree_world_particles(world);
  double x = 0, z = 0;
  for (int64_t i = 0; i < p.count; i++) {
    x += (double)p.x[i] + p.origin.x;
    z += (double)p.z[i] + p.origin.z;
  }
  return x > 0 ? atan(z / x) * 180 / 3.14159265358979323846 : 0;
}

static inline ScreeStatus slope_run(const SlopeCase *c, double seconds, SlopeResult *result, ScreeError *error) {
  double length = 1.2;
  ScreeMaterialDef sand = scree_material_default("sand");
  sand.friction_static = sand.friction_kinetic = 0.577;
  ScreeGrainsDef grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){0, -0.1, 0}, (ScreeVec3){0.4, 0.1, 0.7}));
  ScreeBoundaryDef walls[2] = {
      scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1})),
      scree_boundary_default(scree_shape_box((ScreeVec3){0, -0.1, -1}, (ScreeVec3){length, 0.1, 3}))};
  walls[0].name = "floor";
  walls[0].friction_static = walls[0].friction_kinetic = 0.577;
  walls[1].inside = true;
  walls[1].friction_static = walls[1].friction_kinetic = 0;
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "slope";
  scene.seed = c->seed;
  scene.method = scree_method_default("p2");
  scene.method.radius = 0.02;
  scene.method.time_step = 0.005;
  scene.method.p2.iterations = c->iterations;
  scene.method.p2.error_reduction = c->error_reduction;
  scene.method.p2.error_reduction_by = c->ground ? SCREE_ERROR_GROUND : SCREE_ERROR_TILT;
  scene.method.p2.averaging = c->averaging;
  scene.method.p2.memory = c->memory;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.grains = &grains;
  scene.grains_count = 1;
  scene.boundaries = walls;
  scene.boundary_count = 2;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = 1;
  ScreeWorld *world = NULL;
  ScreeStatus status = scree_world_create(&scene, &options, &world, error);
  if (status != SCREE_OK) return status;
  Method twin = gauss_seidel_method();
  if (c->sequential) world->method = &twin;
  while (status == SCREE_OK && scree_world_time(world) < seconds - 1e-9) status = scree_world_frame(world, error);
  ScreeBodyState floor;
  if (status == SCREE_OK) status = scree_world_body(world, scree_world_find_body(world, "floor"), &floor);
  if (status == SCREE_OK)
    *result = (SlopeResult){slope_angle(world), -floor.force.z / (world_mass(world) * 9.81), world_overlap(world)};
  scree_world_destroy(world);
  return status;
}

#endif
