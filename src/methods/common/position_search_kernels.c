/* The loops of the search. */
#include "methods/common/position_search.h"
#include "neighbors/bins_search.h"

typedef struct Spot {
  float x, y, z, radius;
} Spot;

WIDE_INLINE Spot spot_of(const BinPoints *points, int64_t i) {
  Spot spot = {points->x[i], points->y[i], points->z[i], points->radius ? points->radius[i] : 0};
  if (!points->dx) return spot;
  spot.x += points->dx[i];
  spot.y += points->dy[i];
  spot.z += points->dz[i];
  return spot;
}

/* Takes a grain out of what it has found. */
WIDE_INLINE int32_t *drop_self(int32_t *found, const int32_t *end, int32_t self) {
  int32_t *to = found;
  const WideInt own = self - (WideInt){0};
  for (const int32_t *from = found; from < end; from += LANES) {
    unsigned others = ~wide_bits(wide_int_equal(wide_load_int(from), own)) & 0xff;
    if (end - from < LANES) others &= (1u << (end - from)) - 1;
    wide_pack(to, others, from, pack_lanes);
    to += __builtin_popcount(others);
  }
  return to;
}

/* Where bins fall together, by a hash, what is found there may be far away; and what is rounding for the largest of
 * radii that differ need not be for the smallest. */
static int32_t *keep_near(const SearchJob *job, Spot spot, int32_t *found, const int32_t *end) {
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
  const int32_t *limit = out + room;
  for (int64_t i = b; i < e; i++) {
    Spot spot = spot_of(&queries, i);
    BinPlace place = bins_place(&bins, spot.x, spot.y, spot.z, spot.radius);
    count[i - b] = 0;
    if (!job->same && !bins_cover(&bins, place)) continue;
    int32_t *end = bins_near(&bins, place, differ, out, limit);
    if (!end) return i;
    if (job->same) end = drop_self(out, end, (int32_t)i);
    if (bins.hashed || differ) end = keep_near(job, spot, out, end);
    count[i - b] = (int32_t)(end - out);
    out = end;
  }
  return e;
}

int64_t KERNEL(position_search_pass)(const SearchJob *job, int64_t b, int64_t e, int64_t room, int32_t *out,
                                     int32_t *count) {
  return job->bins->differ ? search_rows(job, b, e, room, out, count, true)
                           : search_rows(job, b, e, room, out, count, false);
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
