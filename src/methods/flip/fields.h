/* What the grid carries through a step. Every array has grid_cells() elements unless said otherwise; a face field is
 * that of the cell's lower face along the axis, an edge field that of the edge at its two lower sides. */
#ifndef METHODS_FLIP_FIELDS_H
#define METHODS_FLIP_FIELDS_H

#include "methods/flip/grid/grid.h"
#include "methods/method.h"

/* Components of the frictional stress: xx yy zz at centres, then xy yz xz at edges. */
enum { S_XX, S_YY, S_ZZ, S_XY, S_YZ, S_XZ, STRESSES };

/* Solids as a strip sees them: what of its octants and lower faces is free, whose the faces are, and the signed
 * distance at the corners of its cells, in cells. */
typedef struct StripSolids {
  float octant[8][STRIP]; /* free share, x lowest bit */
  float open[3][STRIP];   /* free share of the lower faces */
  float distance[CORNERS];
  int16_t owner[3][STRIP]; /* solid nearest to the face; -1: none near */
  int16_t nearest[STRIP];  /* and to the cell */
  uint8_t cut;             /* lanes that are not wholly free, a bit each */
  bool touched;            /* some solid was near enough to be asked */
} StripSolids;

/* What fixed solids leave of the strips that they are near. Strips say which of these is theirs, so that no more than
 * the number goes with them from step to step. */
typedef struct SolidRecords {
  StripSolids *items; /* the first is that of all strips that they are far from */
  int64_t room;
} SolidRecords;
enum { RECORD_FREE = 0, RECORD_UNKNOWN = -1 };

/* Carried from step to step by the key of the strip: stresses to start the solvers from, distances of fixed solids. */
typedef struct FlipKept {
  float *pressure;         /* Pa */
  float *stress[STRESSES]; /* Pa */
  float *shift;            /* potential of the density correction */
  int32_t *record;         /* per strip, in SolidRecords */
} FlipKept;

typedef struct FlipFields {
  /* solids */
  float *free;        /* share of the cell that is not solid */
  float *open[3];     /* share of the face that is not solid */
  float *wall_v[3];   /* velocity of the solid at a face that is not wholly open, m/s */
  int16_t *owner[3];  /* whose it is; -1: none */
  uint8_t *near;      /* per strip: some node round it is not wholly free, weights need their norm */
  uint8_t *normed;    /* per strip: the same, or some of its particles ride */
  uint8_t *valid[4];  /* per strip, a bit per lane: node of centres (0) or faces (1 + axis) that carries sand */
  uint8_t *strong[3]; /* per strip, a bit per lane: faces that have enough sand to bear stresses, or that are closed */
  uint8_t *riders;    /* per strip, a bit per lane: particles ride on strong faces alone, see surface.c */
  float *room[4];     /* kernel-weighted free volume round the node, in cells: 1 away from solids */
  /* sand */
  float *fill;         /* volume of the sand over that of the cell */
  float *usable;       /* 1 where every face of the cell has sand to move or is a wall: stresses lose nothing there */
  float *strength;     /* largest shear stress over pressure: alpha */
  float *cohesion;     /* Pa */
  float *borne;        /* Pa: shear stress that the edges of the cell bear */
  float *mass[3];      /* kg */
  float *velocity[3];  /* m/s, with gravity's share of the step */
  float *lightness[3]; /* 1 / density, m^3/kg */
  float *flux[3];      /* open fill velocity + (1 - open) wall_v: Eq. 7 and 25 in one */
  float *gain[3];      /* what a force density does to the flux: open fill / density */
  float *speed[3];     /* open velocity + (1 - open) wall_v: what friction evens out */
  float *ease[3];      /* what a force density does to it: open / density */
  /* results */
  float *change[3]; /* of the velocity by stresses and walls */
  float *stop[3];   /* the part of walls in it */
  float *settle[3]; /* share of its own velocity that a particle gives up for the grid\'s */
  float *moved[3];  /* displacement of the density correction, m */
} FlipFields;

#endif
