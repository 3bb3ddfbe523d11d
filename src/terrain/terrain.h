/* Heightfield mathematics after Papadimitriou 2012 (chapters 4 and 6.3), and the exchange of grains and columns.
 *
 * One step of the terrain, in this order: bodies that move are felt for (contact.c), the columns resist them with a
 * force (resistance.c), give way to grains where grains should be (exhume.c) or are pressed down and aside (press.c),
 * slopes that are too steep erode (erosion.c), and now and then resting grains become ground (bury.c). */
#ifndef TERRAIN_TERRAIN_H
#define TERRAIN_TERRAIN_H

#include "core/scratch.h"
#include "state/state.h"

enum { PACKING_GRAINS = 400 };

/* What the world knows and the terrain needs. */
typedef struct TerrainPlan {
  const ScreeSceneDef *scene;  /* scene->terrain is there, its material resolved */
  const char *png;             /* path that may be read; NULL: none */
  bool exchange;               /* the method's particles are grains that can become ground */
  float radii[PACKING_GRAINS]; /* drawn from the material's distribution, m */
} TerrainPlan;

typedef struct Ground Ground;

/* Makes state->terrain and its solid. */
Status ground_create(Core *core, State *state, const TerrainPlan *plan, Ground **ground);
/* When solids were added. */
Status ground_follow_solids(Core *core, Ground *ground, State *state);
/* When its material changed. */
void ground_follow_material(Ground *ground, State *state);
void ground_destroy(Core *core, Ground *ground);

/* Whether grains become ground and ground becomes grains. */
bool ground_exchanges(const Ground *ground);

/* One step. `raised` is how far the surface may have come nearer to a grain, m. */
Status ground_step(Core *core, Ground *ground, State *state, Scratch *scratch, double dt, double *raised);

/* Erosion alone, at most so many passes; returns how many were needed (as many as allowed: it has not ended). */
int ground_erode(Core *core, Ground *ground, State *state, int passes);
/* Displacement alone, by the bodies as they stand. */
Status ground_press(Core *core, Ground *ground, State *state, Scratch *scratch);

/* One vertex per column, relative to the state's origin; two triangles per square between four. */
int64_t ground_triangle_count(const Terrain *terrain);
void ground_vertices(const State *state, float *vertices);
void ground_triangles(const Terrain *terrain, uint32_t *triangles);

#endif
