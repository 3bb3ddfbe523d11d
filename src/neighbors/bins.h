/* Points dealt to bins for the searches of one step: made anew wherever the points are, so that there is nothing to
 * keep up. For methods that look for partners in every step anyhow; others have lists (neighbors.h).
 *
 * Coordinates are whole numbers, BINS_REACH of them a little more than the largest reach. Bins lie in rows along x. A
 * row is two reaches wide and high, a bin one reach long: what is within reach of a place lies in two by two rows,
 * and in each of them in three bins that follow each other, which are one run of points. A run is compared sixteen
 * points at a time, by the lower 16 bits of the coordinates (two more of them are below one, so that squares keep their
 * upper half): differences of up to four reaches are told apart, and none in these rows is larger. Rounding is always
 * towards finding, by at most a thousandth of the reach.
 *
 * While the box round all points has not many more bins than there are points, bins are numbered through, along x, then
 * z, then y, much as sorted particles follow each other (grid.h): a thread that has the first of the particles in one
 * loop has the first of the bins in the next, and what it needs in its own cache. (With y before z two fifths of the
 * particles of a heap that is wider than high changed threads.) Otherwise row (y, z) begins at hash(y, z) of a table
 * and runs on from there, modulo its size, so that a stray grain costs nothing. What only falls together there is found
 * too: whoever cares looks at the distance. */
#ifndef NEIGHBORS_BINS_H
#define NEIGHBORS_BINS_H

#include "core/core.h"
#include "core/scratch.h"
#include "core/simd.h"
#include "neighbors/bins_law.h"

/* Points, where they are or, with displacements, where they are about to go. */
typedef struct BinPoints {
  int64_t count;
  const float *x, *y, *z;
  const float *dx, *dy, *dz; /* or NULL */
  const float *radius;       /* NULL: the reach of all pairs is the same */
} BinPoints;

typedef struct Bins {
  int64_t count;
  double scale; /* units a metre */
  float far;    /* m: farther points are folded onto this, which brings no two further apart */
  bool hashed;
  int32_t low[3], size[3]; /* bins along x, rows along y and z: the first, and how many */
  uint32_t mask;           /* of the table */
  int32_t *start;          /* first point of each entry, and one more */
  int16_t *x, *y, *z;      /* in the order of the bins; there is something to read behind the last */
  bool differ;             /* radii do */
  int16_t *radius;         /* then; half of the margin included */
  int16_t limit;           /* otherwise: what squares of distances are below */
  int32_t *index;          /* which point */
  float margin;
} Bins; /* zero before the first use */

/* A pair is found when it is nearer than the sum of its radii and the margin; without radii when it is nearer than the
 * reach, which otherwise no pair's may exceed. Memory of an earlier call is used again. Positions that are not finite
 * are refused. */
Status bins_fill(Core *core, Scratch *scratch, BinPoints points, float reach, float margin, Bins *bins);
void bins_destroy(Core *core, Bins *bins);

/* Units of points [b, e) along each axis, into three arrays; returns whether all were finite. */
KERNEL_DECLARE(bool, bins_units,
               (const BinPoints *points, const Bins *bins, int64_t b, int64_t e, int32_t *const units[3]));

/* Units, first and last, of the places of some points. */
typedef struct BinBox {
  int32_t low[3], high[3];
} BinBox;

/* For whoever deals the points himself: units and reach; how many bins there are, which are those of the last time;
 * and, when the points' box is known, whether these serve. If not they are chosen anew. */
Status bins_begin(Core *core, int64_t points, bool differ, float reach, float margin, Bins *bins);
int64_t bins_entry_count(Bins *bins);
bool bins_served(Bins *bins, const BinBox *box);

/* Entries of points [b, e), which mean something when the bins hold their box, and what the bins keep of them: x, y and
 * z in 16 bits each. There is to be room for a multiple of LANES points. Returns whether all were finite. */
KERNEL_DECLARE(bool, bins_entries,
               (const BinPoints *points, const Bins *bins, int64_t b, int64_t e, int32_t *entry, uint64_t *kept,
                BinBox *box));
/* Points [b, e) by buckets, entry >> shift, in their order, and where each bucket ends. */
enum { BINS_BUCKETS_MAX = 2048 };
KERNEL_DECLARE(void, bins_deal,
               (const int32_t *entry, int64_t b, int64_t e, int shift, int64_t buckets, int32_t *ends, int32_t *dealt));
/* Counts become sums of those before, on top of `from`. */
KERNEL_DECLARE(void, bins_sum, (int32_t * counts, int64_t count, int32_t from));

#endif
