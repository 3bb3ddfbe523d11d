#ifndef METHODS_FLIP_TRANSFER_SHARPEN_KERNELS_H
#define METHODS_FLIP_TRANSFER_SHARPEN_KERNELS_H

#include "methods/flip/fields.h"

/* Faces of one axis. Those that do not settle exchange nothing. */
typedef struct Smoothing {
  const FlipGrid *grid;
  const float *mass, *settle;
  int along; /* axis of the neighbours */
  const float *from;
  float *to;  /* what smoothing takes from it */
  float *sum; /* to is added to it */
} Smoothing;

/* In strips [b, e). */
KERNEL_DECLARE(void, flip_smoothing, (const Smoothing *smoothing, int64_t b, int64_t e));

#endif
