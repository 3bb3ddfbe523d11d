/* The passes over slots; see position_kernels.c. */
#ifndef METHODS_COMMON_POSITION_KERNELS_H
#define METHODS_COMMON_POSITION_KERNELS_H

#include "methods/common/position.h"

/* Over grains, unlike the others: rows from the particles, velocities and displacements back into them. */
KERNEL_DECLARE(void, position_start_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_key_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_deal_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_place_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_finish_pass, (void *work, int64_t b, int64_t e, int thread));
/* Over slices. */
KERNEL_DECLARE(void, position_load_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_recall_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_slot_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_warm_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_shift_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_batch_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_bond_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_turning_batch_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_turning_bond_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, position_sum_boundary, (const PositionStep *work, int64_t b, int64_t e));
KERNEL_DECLARE(void, position_average_pass, (void *work, int64_t b, int64_t e, int thread));
/* Deepest overlap of two grains, as a share of their mean radius, in these slices. */
KERNEL_DECLARE(double, position_overlap_pass, (void *work, int64_t b, int64_t e));

/* Sums over samples [b, e) of their mass m, m a and m a a^T (xx, xy, xz, yy, yz, zz), a being the way from `from`. */
enum { POSITION_SAMPLE_SUMS = 10 };
KERNEL_DECLARE(void, position_sum_samples,
               (const SolidSamples *s, int64_t b, int64_t e, Vec3 from, double sums[POSITION_SAMPLE_SUMS]));

#endif
