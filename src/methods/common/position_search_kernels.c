/* The loops of the search. */
#include "methods/common/position_search.h"
#include "neighbors/bins_search.h"

typedef struct Spot {
  float x, y, z, radius;
} Spot;

WIDE_INLINE Spot spot_of(const BinPoints *points, int64_t i) {
  Spot spot = {points->x[i], points->y[i], points->z[i], points->radius[i]};
  if (!points->dx) return spot;
  spot.x += points->dx[i];
  spot.y += points->dy[i];
  spot.z += points->dz[i];
  return spot;
}

/* Where bins fall together, by a hash, what is found there may be far away; and what is rounding for the largest of
 * radii that differ need not be for the smallest. */
static int32_t *keep_near(const SearchJob *job, int64_t i, int32_t *found, const int32_t *end) {
  const Spot spot = spot_of(&job->queries, i);
  int32_t *to = found;
  for (const int32_t *from = found; from < end; from++) {
    if (job->same && *from == i) continue;
    Spot other = spot_of(&job->grains, *from);
    float x = other.x - spot.x, y = other.y - spot.y, z = other.z - spot.z;
    float reach = spot.radius + other.radius + job->margin;
    if (x * x + y * y + z * z < reach * reach) *to++ = *from;
  }
  return to;
}

WIDE_INLINE int64_t search_places(const SearchJob *job, int64_t b, int64_t e, int64_t room, int32_t *out,
                                  int32_t *count, bool differ) {
  const Bins bins = *job->bins; /* copies: for all the compiler knows the stores below might change the originals */
  const BinPoints queries = job->queries;
  const int32_t *limit = out + room - BINS_SPILL;
  int32_t x[SEARCH_BLOCK], y[SEARCH_BLOCK], z[SEARCH_BLOCK];
  KERNEL(bins_units)(&job->queries, job->bins, b, e, (int32_t *const[3]){x, y, z});
  for (int64_t i = b; i < e; i++) {
    BinPlace place = {x[i - b], y[i - b], z[i - b], differ ? bins_radius(&bins, queries.radius[i]) : 0};
    count[i - b] = 0;
    if (!bins_cover(&bins, place)) continue;
    int32_t *last = bins_near(&bins, place, differ, out, limit);
    if (last > limit) return i;
    if (bins.hashed || differ) last = keep_near(job, i, out, last);
    count[i - b] = (int32_t)(last - out);
    out = last;
  }
  return e;
}

/* The bin of the k-th point. */
static int64_t bin_of(const Bins *bins, int64_t k) {
  int64_t low = 0, high = (int64_t)bins->size[0] * bins->size[1] * bins->size[2];
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    if (bins->start[middle] <= k) low = middle;
    else high = middle;
  }
  return low;
}

WIDE_INLINE int64_t search_points(const SearchJob *job, int64_t b, int64_t e, int64_t room, int32_t *out,
                                  int32_t *count, bool differ) {
  const Bins bins = *job->bins;
  const int32_t *limit = out + room - BINS_SPILL;
  int64_t k = b;
  for (int64_t bin = bin_of(&bins, b); k < e; bin++) {
    while (bins.start[bin + 1] <= k) bin++; /* two of three are empty */
    const int64_t end = bins.start[bin + 1] < e ? bins.start[bin + 1] : e;
    const BinRound round = bins_round(&bins, bin);
    for (; k < end; k++) {
      int32_t *last = bins_near_point(&bins, &round, k, differ, out, limit);
      if (last > limit) return k;
      if (differ) last = keep_near(job, bins.index[k], out, last);
      count[k - b] = (int32_t)(last - out);
      out = last;
    }
  }
  return e;
}

int64_t KERNEL(position_search_pass)(const SearchJob *job, int64_t b, int64_t e, int64_t room, int32_t *out,
                                     int32_t *count) {
  if (search_order(job))
    return job->bins->differ ? search_points(job, b, e, room, out, count, true)
                             : search_points(job, b, e, room, out, count, false);
  return job->bins->differ ? search_places(job, b, e, room, out, count, true)
                           : search_places(job, b, e, room, out, count, false);
}

float KERNEL(position_radii)(const float *radius, int64_t count, bool *differ) {
  Wide most = wide_set(count > 0 ? radius[0] : 0), least = most;
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    most = wide_max(most, wide_load(radius + i));
    least = wide_min(least, wide_load(radius + i));
  }
  for (; i < count; i++) {
    most = wide_max(most, wide_set(radius[i]));
    least = wide_min(least, wide_set(radius[i]));
  }
  float largest = most[0], smallest = least[0];
  for (int l = 1; l < LANES; l++) {
    largest = most[l] > largest ? most[l] : largest;
    smallest = least[l] < smallest ? least[l] : smallest;
  }
  *differ = largest != smallest;
  return largest;
}
