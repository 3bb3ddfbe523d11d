/* Loops over all particles, eight abreast; what is left over at the end of a range one by one, in lane 0. */
#include "world/world_kernels.h"

#include "core/lane.h"

WIDE_INLINE Wide load_some(const float *from, int64_t left) { return left < LANES ? (Wide){from[0]} : wide_load(from); }
WIDE_INLINE void store_some(float *to, Wide values, int64_t left) {
  if (left < LANES) to[0] = values[0];
  else wide_store(to, values);
}

int64_t KERNEL(world_leaving)(const Particles *p, int64_t b, int64_t e, float allowed, uint8_t *moved) {
  const Wide square = wide_set(allowed * allowed);
  int64_t count = 0;
  for (int64_t i = b, left = e - b; left > 0;) {
    Wide x = load_some(p->x + i, left) + load_some(p->dx + i, left) - load_some(p->built_x + i, left);
    Wide y = load_some(p->y + i, left) + load_some(p->dy + i, left) - load_some(p->built_y + i, left);
    Wide z = load_some(p->z + i, left) + load_some(p->dz + i, left) - load_some(p->built_z + i, left);
    unsigned gone = ~wide_bits(wide_less_equal(x * x + y * y + z * z, square)); /* a NaN is */
    int here = left < LANES ? 1 : LANES;
    gone &= (1u << here) - 1;
    for (int l = 0; l < here; l++) moved[i - b + l] = (uint8_t)(gone >> l & 1);
    count += __builtin_popcount(gone);
    i += here;
    left -= here;
  }
  return count;
}

/* x + low += d without losing what a float of x's size cannot hold (Knuth's two-sum). */
WIDE_INLINE Wide move(float *x, float *low, const float *d, int64_t left) {
  Wide before = load_some(x, left), small = load_some(low, left) + load_some(d, left);
  Wide sum = before + small, back = sum - before;
  store_some(low, (before - (sum - back)) + (small - back), left);
  store_some(x, sum, left);
  return sum;
}

double KERNEL(world_move)(void *context, int64_t b, int64_t e) {
  Particles *p = context;
  Wide largest = wide_set(0), check = wide_set(0);
  for (int64_t i = b, left = e - b; left > 0;) {
    Wide x = move(p->x + i, p->low_x + i, p->dx + i, left);
    Wide y = move(p->y + i, p->low_y + i, p->dy + i, left);
    Wide z = move(p->z + i, p->low_z + i, p->dz + i, left);
    LaneVec3 v = {load_some(p->vx + i, left), load_some(p->vy + i, left), load_some(p->vz + i, left)};
    Wide speed = vec_dot(v, v);
    largest = wide_max(speed, largest);
    check = check + ((x - x) + (y - y) + (z - z) + (speed - speed)); /* zero, or NaN where one is not finite */
    int here = left < LANES ? 1 : LANES;
    i += here;
    left -= here;
  }
  float most = 0;
  for (int l = 0; l < LANES; l++) most = largest[l] > most ? largest[l] : most;
  return (double)(most + wide_sum(check));
}
