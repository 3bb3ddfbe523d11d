/* Which grains samples of solids may touch: kernels of the position-based family. */
#include "methods/common/position_boundary.cl"
#include "neighbors/bins.cl"

/* Where bins fall together, by a hash, what is found there may be far away; and what is rounding for the largest of
 * radii that differ need not be for the smallest. */
static bool really_near(float4 own, float4 other, float margin) {
  float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z, reach = own.w + other.w + margin;
  return x * x + y * y + z * z < reach * reach;
}

static bool sample_touches(PositionShared step, BoundarySearch search, SampleWay way, float4 at, float4 low, Vec3 d) {
  const SampleGrain grain = {vec3_of(at), vec3_of(low), d, at.w};
  return boundary_sample(grain, way, search.sample_radius, step.margin).touches != 0;
}

/* A sample looks for its grains: `sampled` counts those of each grain. Once it is known where a grain's contacts are,
 * `touching` gets its samples, behind what it touches by distance; in which order is chance. */
kernel void position_find_samples(PositionShared step, BoundarySearch search, BinsShared bins,
                                  global const int *restrict start, global const int4 *restrict point,
                                  global const float4 *restrict ahead, global const float4 *restrict at,
                                  global const float4 *restrict low, global const float *restrict dx,
                                  global const float *restrict dy, global const float *restrict dz,
                                  global const float *restrict local_x, global const float *restrict local_y,
                                  global const float *restrict local_z, global const int *restrict owner,
                                  global const SolidThere *restrict solids, global const BoundaryBody *restrict bodies,
                                  global const int *restrict rows, global float4 *restrict sample_at,
                                  global int *restrict sampled, global int *restrict touching) {
  const int k = (int)get_global_id(0);
  if (k >= search.samples) return;
  const int of = owner[k];
  const SampleBody body = sample_body(search, solids, bodies, of);
  const Vec3 in_shape = vec3((double)local_x[k], (double)local_y[k], (double)local_z[k]);
  const Vec3 there = vec3_add(quat_rotate(solids[of].rotation, in_shape), solids[of].position);
  const Vec3 origin = vec3(search.origin[0], search.origin[1], search.origin[2]);
  float4 own = row_of_vec3(vec3_sub(there, origin), search.sample_radius);
  const SampleWay way = boundary_sample_way(body, vec3_of(own));
  sample_at[k] = own;
  if (body.movable) own += row_of_vec3(way.way, 0);
  const int4 place = bins_place(bins, search.scale, own);
  if (!bins_cover(bins, place)) return;
  const bool looks = bins.hashed || bins.differ;
  const BinRuns runs = bins_runs(bins, start, place);
  for (int run = 0; run < runs.count; run++)
    for (int p = runs.first[run]; p < runs.end[run]; p++) {
      const int i = point[p].z;
      if (!bins_near(bins, bins_spot(place), point[p])) continue;
      if (looks && !really_near(own, ahead[i], bins.margin)) continue;
      const Vec3 d = vec3((double)dx[i], (double)dy[i], (double)dz[i]);
      if (!sample_touches(step, search, way, at[i], low[i], d)) continue;
      if (search.fill) touching[first_wall(step, rows, i + 1) - atomic_dec(&sampled[i])] = k;
      else atomic_inc(&sampled[i]);
    }
}
