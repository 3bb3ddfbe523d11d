/* Loops of compact frames, over tiles of grains that follow each other in storage. */
#ifndef OUTPUT_COMPACT_KERNELS_H
#define OUTPUT_COMPACT_KERNELS_H

#include "core/simd.h"

enum { COMPACT_TILE = 512 };

/* The range of some numbers. */
typedef struct CompactBounds {
  float low, high;
  bool numbers; /* all of them are: no NaN */
} CompactBounds;
KERNEL_DECLARE(CompactBounds, compact_bounds, (const float *x, int64_t count));

typedef struct CompactBits {
  uint32_t low, high;
} CompactBits;
/* The range of the bits of floats, as whole numbers without a sign. */
KERNEL_DECLARE(CompactBits, compact_bits, (const float *x, int64_t count));

/* Whole numbers of steps along an axis, counted from a place that is below all grains of the tile and less than
 * COMPACT_FAR steps below: the caller has looked. shift has the half that makes the rounding down one to the nearest.
 */
#define COMPACT_FAR INT32_MAX
static inline double compact_place(float x, double origin, double per_step, double shift) {
  return (origin + (double)x) * per_step + shift;
}
KERNEL_DECLARE(void, compact_steps,
               (const float *x, int64_t count, double origin, double per_step, double shift, int32_t *steps));

/* Codes of radii in a table that is spread evenly over the bits of floats. */
KERNEL_DECLARE(void, compact_codes, (const float *radius, int64_t count, uint32_t low, double scale, uint8_t *codes));

/* Three numbers of 16 bits, the material and the code of the radius. */
KERNEL_DECLARE(void, compact_places,
               (const int32_t *x, const int32_t *y, const int32_t *z, const uint8_t *material, const uint8_t *codes,
                int64_t count, uint64_t *places));

/* Returns false where a velocity is not finite. */
KERNEL_DECLARE(bool, compact_velocities,
               (const float *vx, const float *vy, const float *vz, int64_t count, uint32_t *velocities));

#endif
