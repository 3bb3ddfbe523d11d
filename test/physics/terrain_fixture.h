/* Small worlds with terrain. */
#ifndef TEST_TERRAIN_FIXTURE_H
#define TEST_TERRAIN_FIXTURE_H

#include <math.h>
#include <string.h>

#include "terrain/parts.h"
#include "world/world.h"
#include "world_fixture.h"

typedef struct Setup {
  ScreeMaterialDef sand;
  ScreeTerrainDef terrain;
  ScreeGrainsDef grains;
  ScreeBoundaryDef tray;
  ScreeBodyDef body;
  ScreeKeyDef keys[3];
  ScreeSceneDef scene;
} Setup;

static inline void set_up(Setup *s, const char *method, double radius, double side, double cell, double height) {
  s->sand = scree_material_default("sand");
  s->terrain = scree_terrain_default("sand");
  s->terrain.size = (ScreeVec2){side, side};
  s->terrain.cell = cell;
  s->terrain.height = height;
  s->scene = scree_scene_default();
  s->scene.name = "ground";
  s->scene.method = scree_method_default(method);
  s->scene.method.radius = radius;
  s->scene.materials = &s->sand;
  s->scene.material_count = 1;
  s->scene.terrain = &s->terrain;
}

/* Grains, and walls round the ground that keep them there. */
static inline void set_fill(Setup *s, ScreeShapeDef fill, double top) {
  s->grains = scree_grains_default("sand", fill);
  s->scene.grains = &s->grains;
  s->scene.grains_count = 1;
  s->tray = scree_boundary_default(
      scree_shape_box((ScreeVec3){0, 0, -0.5}, (ScreeVec3){s->terrain.size.x, s->terrain.size.y, top}));
  s->tray.inside = true;
  s->scene.boundaries = &s->tray;
  s->scene.boundary_count = 1;
}

static inline ScreeWorld *make(const ScreeSceneDef *scene) { return world_of(scene, 1); }

static inline double total_mass(ScreeWorld *world) {
  ScreeStatistics statistics;
  scree_world_statistics(world, &statistics);
  return statistics.mass_final;
}

/* Mean height of the tops of the grains, or of the ground where there are none, within a radius of the middle. */
static inline double pile_height(const ScreeWorld *world, double middle, double radius) {
  const State *state = &world->state;
  enum { N = 12 };
  double sum = 0;
  int count = 0;
  for (int a = 0; a < N; a++)
    for (int b = 0; b < N; b++) {
      double x = middle + radius * ((a + 0.5) / N * 2 - 1), y = middle + radius * ((b + 0.5) / N * 2 - 1);
      double top = heightfield_height(ground_field(state), x, y);
      for (int64_t i = 0; i < state->particles.count; i++) {
        Vec3 at = state_position(state, i);
        double r = (double)state->particles.radius[i], square = (at.x - x) * (at.x - x) + (at.y - y) * (at.y - y);
        if (square < r * r) top = fmax(top, at.z + sqrt(r * r - square));
      }
      sum += top;
      count++;
    }
  return sum / count;
}

/* A cylinder of grains slumps to a pile on a bare terrain. */
static inline double slump(const char *method, bool exchange, uint64_t seed, int64_t *buried) {
  Setup s;
  set_up(&s, method, 0.012, 1.2, 0.05, 0);
  s.sand.friction_static = s.sand.friction_kinetic = 0.6;
  s.sand.young = 2e6;
  s.sand.rolling_friction = 0.4; /* dem: a pile as high as the others' has something to bury */
  s.terrain.exchange = exchange;
  ScreeShapeDef fill = scree_shape_default(SCREE_SHAPE_CYLINDER);
  fill.cylinder = (ScreeCylinderDef){.base = {0.6, 0.6, 0.01}, .radius = 0.22, .height = 0.5};
  set_fill(&s, fill, 3);
  s.scene.seed = seed;
  ScreeWorld *world = make(&s.scene);
  double mass = total_mass(world);
  run_seconds(world, 2.5);
  double height = pile_height(world, 0.6, 0.1);
  *buried = world->state.terrain->buried;
  print_message("%s, exchange %s: %.4f m, %lld grains left, %lld buried\n", method, exchange ? "on" : "off", height,
                (long long)world->state.particles.count, (long long)*buried);
  assert_true(fabs(total_mass(world) / mass - 1) < 1e-12);
  scree_world_destroy(world);
  return height;
}

/* Exchange changes the height by less than 3 %. One pile scatters by that much: means over seeds are compared. */
static inline void check_slump(const char *method, uint64_t seeds) {
  double off = 0, on = 0;
  for (uint64_t seed = 1; seed <= seeds; seed++) {
    int64_t none, buried;
    off += slump(method, false, seed, &none);
    on += slump(method, true, seed, &buried);
    assert_int_equal(none, 0);
    assert_true(buried > 800);
  }
  print_message("%s: %.2f %%\n", method, 100 * (on / off - 1));
  assert_true(fabs(on / off - 1) < 0.03);
}

#endif
