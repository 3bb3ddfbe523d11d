/* The loops of the search. */
#include "methods/common/position_search.h"
#include "neighbors/bins_search.h"

enum { BLOCK = 128 }; /* queries whose units are computed at a time */

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
    Spot other = spot_of(&job->grains, *from);
    float x = other.x - spot.x, y = other.y - spot.y, z = other.z - spot.z;
    float reach = spot.radius + other.radius + job->margin;
    if (x * x + y * y + z * z < reach * reach) *to++ = *from;
  }
  return to;
}

WIDE_INLINE int64_t search_rows(const SearchJob *job, int64_t b, int64_t e, int64_t room, int32_t *out, int32_t *count,
                                bool differ) {
  const Bins bins = *job->bins; /* copies: for all the compiler knows the stores below might change the originals */
  const BinPoints queries = job->queries;
  const int32_t *limit = out + room - BINS_SPILL;
  const bool same = job->same;
  int32_t x[BLOCK], y[BLOCK], z[BLOCK];
  for (int64_t block = b; block < e; block += BLOCK) {
    int64_t end = block + BLOCK < e ? block + BLOCK : e;
    KERNEL(bins_units)(&job->queries, job->bins, block, end, (int32_t *const[3]){x, y, z});
    for (int64_t i = block; i < end; i++) {
      BinPlace place = {x[i - block], y[i - block], z[i - block], differ ? bins_radius(&bins, queries.radius[i]) : 0};
      count[i - b] = 0;
      if (!same && !bins_cover(&bins, place)) continue;
      int32_t *last = bins_near(&bins, place, differ, out, limit);
      if (!last) return i;
      if (bins.hashed || differ) last = keep_near(job, i, out, last);
      count[i - b] = (int32_t)(last - out);
      out = last;
    }
  }
  return e;
}

int64_t KERNEL(position_search_pass)(const SearchJob *job, int64_t b, int64_t e, int64_t room, int32_t *out,
                                     int32_t *count) {
  return job->bins->differ ? search_rows(job, b, e, room, out, count, true)
                           : search_rows(job, b, e, room, out, count, false);
}

/* (To look for oneself right after the search would be to wait for what it has just written.) */
void KERNEL(position_others_pass)(const int32_t *found, int64_t b, int64_t e, int32_t *count, int32_t *to) {
  for (int64_t i = b; i < e; i++) {
    const int32_t *end = found + count[i - b];
    const WideInt own = (int32_t)i - (WideInt){0};
    for (; end - found > LANES; found += LANES) {
      unsigned others = ~wide_bits(wide_int_equal(wide_load_int(found), own)) & 0xff;
      wide_pack(to, others, found, pack_lanes);
      to += __builtin_popcount(others);
    }
    unsigned others = ~wide_bits(wide_int_equal(wide_load_int(found), own)) & ((1u << (end - found)) - 1);
    wide_pack(to, others, found, pack_lanes);
    to += __builtin_popcount(others);
    found = end;
    count[i - b]--;
  }
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
