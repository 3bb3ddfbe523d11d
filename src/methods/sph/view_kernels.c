#include "methods/sph/view.h"
#include "methods/sph/view_law.h"

WIDE_INLINE LaneVec3 ray_at(const SphRays *rays, int k) {
  return vec_make(wide_load(rays->x + k), wide_load(rays->y + k), wide_load(rays->z + k));
}

void KERNEL(sph_view_face)(const SphRays *rays, SphView *view, int32_t solid, const float normal[3], float distance) {
  LaneVec3 n = vec_make(real(normal[0]), real(normal[1]), real(normal[2]));
  for (int k = 0; k < VIEW_RAYS; k += LANES) {
    Real before = wide_load(view->t + k);
    ViewHit hit = view_face(n, ray_at(rays, k), distance, before);
    Mask first = hit.first;
    wide_store(view->t + k, real_select(first, hit.t, before));
    for (int c = 0; c < 3; c++)
      wide_store(view->normal[c] + k, real_select(first, real(normal[c]), wide_load(view->normal[c] + k)));
    for (unsigned bits = wide_bits(first); bits; bits &= bits - 1) view->solid[k + __builtin_ctz(bits)] = solid;
  }
}

/* Of that flat wall, by the rays. */
WIDE_INLINE void sum_flat(const SphRays *rays, LaneVec3 n, float distance, float *share, float *slope) {
  Real shares = real(0), slopes = real(0);
  for (int k = 0; k < VIEW_RAYS; k += LANES) {
    WallShare wall = view_flat(n, ray_at(rays, k), distance);
    shares += wall.share;
    slopes += wall.slope;
  }
  *share = wide_sum(shares);
  *slope = wide_sum(slopes);
}

void KERNEL(sph_view_sum)(const SphRays *rays, SphView *view, const float normal[3], float distance) {
  LaneVec3 n = vec_make(real(normal[0]), real(normal[1]), real(normal[2]));
  WallShare exact = wall_flat(real(distance));
  float share, slope;
  sum_flat(rays, n, distance, &share, &slope);
  Real share_scale = real(view_scale(exact.share[0], share, USUAL_SCALE)),
       slope_scale = real(view_scale(exact.slope[0], slope, USUAL_SCALE));
  for (int k = 0; k < VIEW_RAYS; k += LANES) {
    LaneVec3 face =
        vec_make(wide_load(view->normal[0] + k), wide_load(view->normal[1] + k), wide_load(view->normal[2] + k));
    WallShare wall = view_seen(face, ray_at(rays, k), wide_load(view->t + k));
    wide_store(view->share + k, wall.share * share_scale);
    wide_store(view->slope + k, wall.slope * slope_scale);
  }
}
