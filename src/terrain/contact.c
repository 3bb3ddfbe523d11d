/* Which columns a body is over, and how low it comes there. */
#include "terrain/parts.h"

double ground_surface_speed(const Solid *solid) {
  Vec3 low = vec3_sub(solid->shape.bounds_low, solid->center_in_shape);
  Vec3 high = vec3_sub(solid->shape.bounds_high, solid->center_in_shape);
  double arm = vec3_length(vec3_max(vec3_max(low, vec3_scale(low, -1)), vec3_max(high, vec3_scale(high, -1))));
  return vec3_length(solid->velocity) + (isfinite(arm) ? arm : 0) * vec3_length(solid->spin);
}

bool ground_feels(const Ground *ground, const State *state, int32_t index) {
  const Solid *solid = &state->solids.items[index];
  if (!ground->surfaces[index].felt) return false;
  return solid->motion != MOTION_FIXED || ground_surface_speed(solid) > 0;
}

void ground_body_box(const State *state, const Solid *solid, Vec3 *low, Vec3 *high) {
  Mat3 turn = mat3_from_quat(solid->rotation);
  Vec3 a = solid->shape.bounds_low, b = solid->shape.bounds_high;
  Vec3 middle = solid_to_world(solid, vec3_scale(vec3_add(a, b), 0.5)), half = vec3_scale(vec3_sub(b, a), 0.5);
  middle = vec3_sub(middle, state->terrain->origin);
  double reach[3];
  for (int r = 0; r < 3; r++)
    reach[r] = fabs(turn.m[r][0]) * half.x + fabs(turn.m[r][1]) * half.y + fabs(turn.m[r][2]) * half.z;
  *low = vec3(middle.x - reach[0], middle.y - reach[1], middle.z - reach[2]);
  *high = vec3(middle.x + reach[0], middle.y + reach[1], middle.z + reach[2]);
}

static int32_t clamp_column(double at, int32_t n) { return at < 0 ? 0 : at > n ? n : (int32_t)at; }

bool ground_range(const State *state, Vec3 low, Vec3 high, double margin, ColumnRange *range) {
  const Terrain *t = state->terrain;
  if (!vec3_finite(low) || !vec3_finite(high)) return false;
  *range = (ColumnRange){
      clamp_column(floor((low.x - margin) / t->cell), t->nx), clamp_column(ceil((high.x + margin) / t->cell), t->nx),
      clamp_column(floor((low.y - margin) / t->cell), t->ny), clamp_column(ceil((high.y + margin) / t->cell), t->ny)};
  return range->x0 < range->x1 && range->y0 < range->y1;
}

double ground_underside(const State *state, const Solid *solid, double x, double y, double from) {
  Vec3 start = vec3_add(state->terrain->origin, vec3(x, y, from));
  Quat back = quat_conjugate(solid->rotation);
  double distance;
  Vec3 normal;
  bool hit = shape_ray(&solid->shape, quat_rotate(back, vec3_sub(start, solid->position)),
                       quat_rotate(back, vec3(0, 0, 1)), INFINITY, &distance, &normal);
  return hit ? from + distance : (double)INFINITY;
}
