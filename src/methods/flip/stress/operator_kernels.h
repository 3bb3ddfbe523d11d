/* Operators on the strips: gradient, divergence and their transposes. */
#ifndef METHODS_FLIP_STRESS_OPERATOR_KERNELS_H
#define METHODS_FLIP_STRESS_OPERATOR_KERNELS_H

#include "methods/flip/fields.h"

/* Kernels run over [b, e) of a list of strips, or over strips b to e where there is none. */
static inline int32_t strip_of(const int32_t *list, int64_t n) { return list ? list[n] : (int32_t)n; }

/* The largest of a field's elements, and 0. */
KERNEL_DECLARE(float, flip_largest, (const float *field, int64_t count));

/* y = c D^T mobility D p, the pressure's matrix (Eq. 10, 30). */
typedef struct PressureOperator {
  const FlipGrid *grid;
  const int32_t *strips;
  const float *mobility[3];
  const float *p;
  float *y;
  float factor; /* dt^2 / cell^2 */
} PressureOperator;
KERNEL_DECLARE(void, flip_pressure_apply, (const PressureOperator *o, int64_t b, int64_t e));

/* An approximate inverse of that matrix L + D + L^T on the unknown cells, (1 - D^-1 L^T) D^-1 (1 - L D^-1): the two
 * ends of a symmetric Gauss-Seidel sweep, without its order. `lower` is the first half, of what `from` has on the
 * unknown cells; `upper` the second. */
typedef struct PressureInverse {
  const FlipGrid *grid;
  const int32_t *strips;
  const float *mobility[3];
  const float *inverse; /* 1 / diagonal */
  const uint8_t *free;  /* per strip, a bit per lane */
  const float *from;
  float *to;
  float factor;
} PressureInverse;
/* 1 / diagonal, 0 where that is none. */
KERNEL_DECLARE(void, flip_pressure_diagonal, (const PressureInverse *o, int64_t b, int64_t e, float *inverse));
KERNEL_DECLARE(void, flip_pressure_lower, (const PressureInverse *o, int64_t b, int64_t e));
KERNEL_DECLARE(void, flip_pressure_upper, (const PressureInverse *o, int64_t b, int64_t e));

/* out = in + mobility (factor_p (p - p below) + factor_s D2 s); any of p and s may be NULL. */
typedef struct FaceUpdate {
  const FlipGrid *grid;
  const int32_t *strips;
  const float *in[3], *mobility[3];
  const float *p;
  const float *s[STRESSES];
  float *out[3];
  float factor_p, factor_s;
} FaceUpdate;
KERNEL_DECLARE(void, flip_face_update, (const FaceUpdate *o, int64_t b, int64_t e));

/* out = c (sum of flux out of the cell) + base; base may be NULL. */
typedef struct Divergence {
  const FlipGrid *grid;
  const float *flux[3];
  const float *base;
  float *out;
  float factor;
} Divergence;
KERNEL_DECLARE(void, flip_divergence, (const Divergence *o, int64_t b, int64_t e));

#endif
