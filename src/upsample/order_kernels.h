/* Loops of the order of fine grains. */
#ifndef UPSAMPLE_ORDER_KERNELS_H
#define UPSAMPLE_ORDER_KERNELS_H

#include "core/simd.h"

typedef struct FinePlace {
  _Alignas(16) float at[3];
  int32_t index;
} FinePlace;

enum { ORDER_FEW = 128 };

KERNEL_DECLARE(void, order_range, (const FinePlace *places, int64_t count, float bounds[6]));
/* Puts the `left` lowest along an axis first; at most ORDER_FEW places. */
KERNEL_DECLARE(void, order_split_few, (FinePlace * places, int64_t count, int64_t left, int axis));

#endif
