/* Operators on the strips: gradient, divergence, their transposes, and the return to the yield surface. */
#ifndef METHODS_FLIP_STRESS_KERNELS_H
#define METHODS_FLIP_STRESS_KERNELS_H

#include "methods/flip/fields.h"

#define CAP_LEAST 1e-12f /* Pa: less is none, its square would not be a number */

/* Kernels run over [b, e) of a list of strips, or over strips b to e where there is none. */
static inline int32_t strip_of(const int32_t *list, int64_t n) { return list ? list[n] : (int32_t)n; }

/* The largest of a field's elements, and 0. */
KERNEL_DECLARE(float, flip_largest, (const float *field, int64_t count));

/* y = c D^T gain D p, the pressure's matrix (Eq. 10, 30). */
typedef struct PressureOperator {
  const FlipGrid *grid;
  const int32_t *strips;
  const float *gain[3];
  const float *p;
  float *y;
  float factor; /* dt^2 / cell^2 */
} PressureOperator;
KERNEL_DECLARE(void, flip_pressure_apply, (const PressureOperator *o, int64_t b, int64_t e));

/* An approximate inverse of that matrix L + D + L^T on the free cells, (1 - D^-1 L^T) D^-1 (1 - L D^-1): the two ends
 * of a symmetric Gauss-Seidel sweep, without its order. `lower` is the first half, of what `from`
 * has on the free cells; `upper` the second. */
typedef struct PressureInverse {
  const FlipGrid *grid;
  const int32_t *strips;
  const float *gain[3];
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

/* out = in + gain (factor_p (p - p below) + factor_s D2 s); any of p and s may be NULL. */
typedef struct FaceUpdate {
  const FlipGrid *grid;
  const int32_t *strips;
  const float *in[3], *gain[3];
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

/* The friction solve: a step down the gradient of Eq. 17 from y, then back to the yield surface. */
typedef struct FrictionStep {
  const FlipGrid *grid;
  const int32_t *strips;
  const float *flux[3]; /* with the stresses y in it */
  float *x[STRESSES];   /* iterate */
  float *y[STRESSES];   /* extrapolated iterate */
  float *trial[STRESSES];
  const float *limit;    /* at centres: alpha p + cohesion */
  const float *cap[3];   /* at edges: largest shear stress */
  const float *per[3];   /* 1 / cap^2; 0 where that is none, and at walls: such edges count for no cell */
  const float *grip[3];  /* the same for the edges at walls alone */
  float *slip[3];        /* at edges: what walls leave of the stress */
  const uint8_t *walled; /* per strip, a bit per shear component: it has edges at walls */
  float *scale;      /* at centres: how fast the cell yields, times its limit; last pass: scale of the edges round it */
  float *share[3];   /* at edges: 1 / sum of the limits round it, times the edge's pace; 0: is not scaled */
  float *part[3];    /* at centres: 1 / number of the edges round it that count, by component */
  const float *pace; /* at centres: step length times dt / cell; an edge takes the least round it */
  float momentum;
  int scheme; /* SCREE_YIELD_... */
  /* The last pass, after which every bound is kept. The shear comes first: a cell's diagonal takes what the edges round
   * it leave, and edges are scaled only where they are too much by themselves, by the least scale of the cells. */
  bool strict;
} FrictionStep;
/* pace = factor / (stiffness times the largest ease of the cell's faces, `least` at least): less than one over the
 * largest eigenvalue if that ease were everywhere. */
typedef struct FrictionPace {
  const FlipGrid *grid;
  const int32_t *strips;
  const float *ease[3];
  const float *limit;
  float least, stiffness, factor;
  float *pace;
} FrictionPace;
enum { PACE_TOTAL, PACE_COUNT, PACE_SUMS }; /* over cells that bear some stress */
KERNEL_DECLARE(void, flip_friction_pace, (const FrictionPace *o, int64_t b, int64_t e, double sums[PACE_SUMS]));

enum { FRICTION_MOVED, FRICTION_TURNED, FRICTION_SIZE, FRICTION_SUMS };
/* The largest stress of a cell or edge over what is allowed. */
KERNEL_DECLARE(float, flip_friction_excess, (const FrictionStep *o, int64_t b, int64_t e));
/* Fills `part`, and multiplies `share` by the pace. */
KERNEL_DECLARE(void, flip_friction_parts, (const FrictionStep *o, int64_t b, int64_t e));
KERNEL_DECLARE(void, flip_friction_trial, (const FrictionStep *o, int64_t b, int64_t e));
KERNEL_DECLARE(void, flip_friction_scale, (const FrictionStep *o, int64_t b, int64_t e));
KERNEL_DECLARE(void, flip_friction_return, (const FrictionStep *o, int64_t b, int64_t e, double sums[FRICTION_SUMS]));

/* Mean over the four cells round each edge of a field at centres, counting only cells that are free; times factor. None
 * where one of the four faces at the edge is open and has no sand to move. */
typedef struct EdgeMean {
  const FlipGrid *grid;
  const int32_t *strips;
  const float *field, *free, *load;
  const float *lightness[3], *open[3];
  float *out[3];   /* xy, yz, xz */
  float *share[3]; /* 1 / sum of the loads of the cells round the edge; 0 where that is none */
  float *per[3];   /* 1 / out^2; 0 where that is none */
  float factor;
} EdgeMean;
KERNEL_DECLARE(void, flip_edge_mean, (const EdgeMean *o, int64_t b, int64_t e));

#endif
