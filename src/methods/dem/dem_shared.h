/* What the host and the kernels of dem hand each other (dem.cl). Numbers have four bytes. */
#ifndef METHODS_DEM_DEM_SHARED_H
#define METHODS_DEM_DEM_SHARED_H

#include "geometry/mesh_faces_shared.h"

enum { DEM_GROUP = 64 };

/* A step. */
typedef struct DemShared {
  int count;
  int verlet, rotation; /* whether */
  int columns;          /* of the table of constants */
  int words;            /* where those of the step begin */
  float dt, gravity[3];
  float quantum, per_quantum; /* powers of two */
} DemShared;

/* Words of a step: squares of the longest displacement, of the largest frequency and of the largest acceleration by
 * contacts and gravity, as the bits of floats. Then twelve for each solid: the reactions on it, six sums of 64 bits,
 * the lower half first. */
enum { DEM_WORD_LONGEST, DEM_WORD_STIFFEST, DEM_WORD_ACCELERATION, DEM_WORD_REACTIONS = 4, DEM_REACTION_WORDS = 12 };

/* An entry of a grain's list: the other grain, and whether the two have springs. */
#define DEM_HAS_SPRINGS (1u << 31)

enum { DEM_SOLID_FACES = MESH_FACE_NUMBERS };

/* A contact with a solid that may touch: see ContactSide and ContactSurface. Of a solid that moves or is not flat the
 * surface is found in every step. */
typedef struct DemWall {
  int key, solid, face_number, found_anew;
  int point[3]; /* quanta */
  float face[3], velocity[3], spin[3], radius, curvature, inverse_mass, column;
} DemWall;

/* Lists that are made anew. */
typedef struct DemListShared {
  double margin;         /* m: how far a grain looks for solids, beyond its radius */
  int count, last_count; /* grains now, and in the last lists */
  int window;            /* grains of one: the order of sums */
  int words;             /* of 32 bits, which say what solids are near a grain */
  int solids, materials; /* how many there are */
} DemListShared;

/* By how many seconds forces are later than poses: of solids that are led, and of those that sand moves. */
typedef struct DemLagShared {
  double led, movable;
} DemLagShared;

/* Doubles: the state's origin; then of each solid centre, velocity, spin, inverse mass, and whether sand moves it and
 * whether it is flat and at rest. */
enum {
  DEM_ORIGIN_DOUBLES = 3,
  DEM_SOLID_CENTER = 0,
  DEM_SOLID_VELOCITY = 3,
  DEM_SOLID_SPIN = 6,
  DEM_SOLID_INVERSE_MASS = 9,
  DEM_SOLID_MOVABLE,
  DEM_SOLID_FLAT,
  DEM_SOLID_DOUBLES
};

#endif
