#include "methods/sph/view.h"
#include "methods/sph/wall_law.h"

WIDE_INLINE LaneVec3 ray_at(const SphRays *rays, int k) {
  return vec_make(wide_load(rays->x + k), wide_load(rays->y + k), wide_load(rays->z + k));
}

void KERNEL(sph_view_face)(const SphRays *rays, SphView *view, int32_t solid, const float normal[3], float distance) {
  LaneVec3 n = vec_make(real(normal[0]), real(normal[1]), real(normal[2]));
  for (int k = 0; k < VIEW_RAYS; k += LANES) {
    Real cosine = real(0) - vec_dot(n, ray_at(rays, k));
    Real before = wide_load(view->t + k), t = real(distance) / real_max(cosine, real(1e-6f));
    Mask first = real_less(t, before);
    wide_store(view->t + k, real_select(first, t, before));
    for (int c = 0; c < 3; c++)
      wide_store(view->normal[c] + k, real_select(first, real(normal[c]), wide_load(view->normal[c] + k)));
    for (unsigned bits = wide_bits(first); bits; bits &= bits - 1) view->solid[k + __builtin_ctz(bits)] = solid;
  }
}

/* Of that flat wall, by the rays. */
WIDE_INLINE void sum_flat(const SphRays *rays, LaneVec3 n, float distance, float *share, float *slope) {
  Real shares = real(0), slopes = real(0);
  for (int k = 0; k < VIEW_RAYS; k += LANES) {
    Real cosine = real_max(real(0) - vec_dot(n, ray_at(rays, k)), real(1e-6f));
    WallShare wall = wall_seen(real(distance) / cosine, cosine);
    shares += wall.share;
    slopes += wall.slope;
  }
  *share = wide_sum(shares);
  *slope = wide_sum(slopes);
}

/* A few rays that say nothing about a wall do not scale the others. */
static float scale_of(float exact, float sum) {
  const float least = 0.8f * 2 / VIEW_RAYS, most = 1.25f * 2 / VIEW_RAYS, usual = 2.0f / VIEW_RAYS;
  if (!(exact > 0) || !(sum > 0)) return usual;
  float scale = exact / sum;
  return scale < least ? least : scale > most ? most : scale;
}

void KERNEL(sph_view_sum)(const SphRays *rays, SphView *view, const float normal[3], float distance) {
  LaneVec3 n = vec_make(real(normal[0]), real(normal[1]), real(normal[2]));
  WallShare exact = wall_flat(real(distance));
  float share, slope;
  sum_flat(rays, n, distance, &share, &slope);
  Real share_scale = real(scale_of(exact.share[0], share)), slope_scale = real(scale_of(exact.slope[0], slope));
  for (int k = 0; k < VIEW_RAYS; k += LANES) {
    LaneVec3 face =
        vec_make(wide_load(view->normal[0] + k), wide_load(view->normal[1] + k), wide_load(view->normal[2] + k));
    WallShare wall = wall_seen(wide_load(view->t + k), real(0) - vec_dot(face, ray_at(rays, k)));
    wide_store(view->share + k, wall.share * share_scale);
    wide_store(view->slope + k, wall.slope * slope_scale);
  }
}
