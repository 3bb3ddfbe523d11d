/* What the host hands to the kernels of the table of fine grains (table.cl). */
#ifndef UPSAMPLE_TABLE_SHARED_H
#define UPSAMPLE_TABLE_SHARED_H

enum {
  TABLE_GROUP = 128, /* work items of a group */
  /* Grains that are put in order together, so many an item; and the fewest that are told apart. */
  WINDOW_EACH = 8,
  WINDOW = TABLE_GROUP * WINDOW_EACH,
  WINDOW_LEAST = 32,
  /* Grains of a block are made by so many items. */
  PLACE_ITEMS = 32,
  KEY_BITS = 30, /* of a cell's number are sorted by at once */
  CELL_BITS = 20 /* of a cell on one axis, at most */
};

/* Grains of a fill. */
typedef struct PlaceShared {
  double side, nominal; /* of a block; radius, m */
  double from[3];       /* the samples' origin in the world of the grains */
  float velocity[3];
  float radius; /* where all are equal */
  int radii;    /* whether they differ */
  int blocks;
  int first; /* of the table */
  unsigned id;
  int material;
} PlaceShared;

/* Cells along a Hilbert curve. */
typedef struct OrderShared {
  float low[3], inverse;
  int count, bits; /* grains; of a cell on one axis */
} OrderShared;

#endif
