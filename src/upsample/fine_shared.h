/* What the host hands to the kernels of fine grains (fine.cl): one text for both, of numbers of four bytes. */
#ifndef UPSAMPLE_FINE_SHARED_H
#define UPSAMPLE_FINE_SHARED_H

#include "geometry/grid_law.h"
#include "upsample/coarse_shared.h"
#include "upsample/crowd_law.h"
#include "upsample/motion_law.h"
#include "upsample/wall_law.h"

enum { FINE_GROUP = 128 }; /* work items of a group */

/* Rounds of looks at all solids; what they do not free is led out by itself (wedge.c). */
enum { WALL_ROUNDS = 4 };
/* A fine grain is put out of a solid when it penetrates it by more than this share of its radius: one that was put out
 * once is not put out again by rounding. */
#define SLOP 1e-3f

/* The kinds of solids that have a device form. */
enum { FORM_PLANE, FORM_SPHERE, FORM_CAPSULE, FORM_BOX, FORM_CYLINDER, FORM_GRID };

typedef struct SolidShared {
  int form;
  int sampled;                            /* coarse samples stand for it in the paper's mode */
  float a[3], b[3], radius, height, sign; /* as PlainShape has them */
  GridFrame grid;
  int table, values; /* of the grid: where they begin in those of all */
  float known;       /* beyond this a distance has only its sign */
  int moves;
  float moved, doubt, lag;
  FineAxes axes[2];
  float drift[3];
} SolidShared;

/* A frame. */
typedef struct FineFrame {
  FineParameters parameters;
  CountCells cells;
  CoarseTable grains, samples;
  int solid_count;
  float reach; /* of the weights, m */
  float most;  /* clearance of a grain that no solid is in reach of */
  int room;    /* for grains that are looked at closer */
} FineFrame;

/* A grain that is put out of solids by a closer look, on the device (settle.cl) or by the host: where it begins and
 * would end, and what is known of it. */
typedef struct FineRecord {
  float at[3], end[3], velocity[3];
  float radius, loose, gap, clear;
  int index, material, unused;
} FineRecord;

/* What comes of it. */
typedef struct FineResult {
  float end[3], velocity[3];
  int index, unused;
} FineResult;

/* Words that kernels count in. */
enum {
  COUNT_RECORDS,
  COUNT_LEFT, /* of them, to the host */
  COUNT_BAD,
  COUNT_FOUND,
  COUNT_EFFORT, /* of groups */
  COUNT_BOX,    /* round the coarse grains of the frame to come */
  COUNT_WORDS = COUNT_BOX + COARSE_BOX_WORDS
};

/* A sink, roughly: the host looks at what may be in it. */
typedef struct SinkShared {
  SolidShared solid;
  float margin, rounding; /* m; per m from the origin */
} SinkShared;

#endif
