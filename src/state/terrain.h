/* The terrain: columns of material below every particle method. terrain/ does the mathematics; this is what changes in
 * the course of a run, what is saved and what is hashed.
 *
 * A column holds its mass in whole units of a power of two of a kilogram, so that what moves from column to column and
 * between columns and grains is exact, and a bulk density of its own, which compaction raises. Its surface stands at
 * mass / (density area) - pending: what exchange has put into a column but does not show yet, lest the surface jump
 * into the grains above it. Heights are kept in the solid's heightfield, where every method meets them. */
#ifndef STATE_TERRAIN_H
#define STATE_TERRAIN_H

#include "core/archive.h"
#include "state/particles.h"
#include "state/solids.h"

enum { TERRAIN_TILE = 16 }; /* columns along the side of a tile; erosion is switched on and off by tiles */

/* Per column: X(type, name). */
#define TERRAIN_COLUMNS(X)                                                                                             \
  X(int64_t, mass)    /* units */                                                                                      \
  X(double, bulk)     /* kg/m^3 */                                                                                     \
  X(double, pending)  /* m */                                                                                          \
  X(double, around)   /* m, covered columns: height of the ground round the contact */                                 \
  X(uint8_t, sliding) /* erodes until its slopes are below the lower angle */                                          \
  X(uint8_t, covered) /* a body presses on it */                                                                       \
  X(uint8_t, loaded)  /* grains lie on it */

typedef struct Terrain {
  int32_t nx, ny;
  int64_t count;
  double cell, area;
  Vec3 origin;      /* lowest corner at the hard ground, world */
  int32_t material; /* 0-based */
  int32_t solid;    /* whose shape is the surface */
  double unit;      /* kg */
  double loose;     /* kg/m^3, of what was moved */
#define TERRAIN_MEMBER(type, name) type *name;
  TERRAIN_COLUMNS(TERRAIN_MEMBER)
#undef TERRAIN_MEMBER
  int32_t tiles_x, tiles_y;
  uint8_t *awake;          /* per tile: something there may erode */
  float *rest;             /* field of the particles: seconds at rest; below 0: seconds that it still settles */
  double settled_at;       /* s, when the last grain has settled after an exchange */
  double next_exchange;    /* s, time of the next look at resting grains */
  uint8_t some_pending;    /* a column may have material that is to show */
  double travel;           /* m, farthest that a body has gone since columns were last pressed or given back */
  int64_t buried, exhumed; /* grains so far */
} Terrain;

/* Whole units of a mass. What a checkpoint or a scene may hold must not be more than a number of them can be. */
#define TERRAIN_UNITS_MOST 4e18
static inline int64_t terrain_units_of(const Terrain *terrain, double kg) {
  double units = kg / terrain->unit;
  return (int64_t)(units < TERRAIN_UNITS_MOST ? units : TERRAIN_UNITS_MOST);
}
static inline double terrain_kg(const Terrain *terrain, int64_t units) { return (double)units * terrain->unit; }
/* How high the column would stand if all of it showed. */
static inline double terrain_full(const Terrain *terrain, int64_t k) {
  return (double)terrain->mass[k] * terrain->unit / (terrain->bulk[k] * terrain->area);
}
/* Of all columns. */
int64_t terrain_units(const Terrain *terrain);

Status terrain_archive(Core *core, Archive *archive, Terrain *terrain, Solids *solids);
uint64_t terrain_hash(const Terrain *terrain);
void terrain_destroy(Core *core, Terrain *terrain);

#endif
