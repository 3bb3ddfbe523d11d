#include "methods/flip/solids/solid_union.h"

#include <math.h>

#include "methods/flip/solids/solids.h"

/* Places round a point: offsets from it in cells, and the surface that is nearest there. */
enum { AROUND = 26 };
typedef struct Surroundings {
  float offset[AROUND][3];
  NearSurface nearest[AROUND];
} Surroundings;

/* What a place sees that is no farther from the point than `radius`, which is in a solid, is no farther than twice
 * that. */
static double reach_of(float radius) { return 2 * (double)(radius + TOUCHING); }

void placed_add(PlacedSolids *placed, double cell, const Solid *solid, int32_t index, Vec3 at, const Mat3 *turn) {
  if (!solid_out_of_reach(solid, at, reach_of(DEPTH_MOST) * cell))
    placed->items[placed->count++] = (PlacedSolid){solid, index, at, *turn};
}

/* Of all solids but one (-1: of all), at the first `count` places, which are no farther than `radius`. */
static void find_nearest(const Core *core, double cell, const PlacedSolids *placed, int32_t but, float radius,
                         int count, Surroundings *s) {
  for (int k = 0; k < count; k++) s->nearest[k] = (NearSurface){.d = FAR, .solid = -1};
  for (int32_t i = 0; i < placed->count; i++) {
    const PlacedSolid *solid = &placed->items[i];
    float x[AROUND], y[AROUND], z[AROUND], d[AROUND], n[3][AROUND];
    if (solid->index == but || solid_out_of_reach(solid->solid, solid->at, reach_of(radius) * cell)) continue;
    Mat3 back = mat3_transpose(solid->turn);
    for (int k = 0; k < count; k++) {
      Vec3 offset = vec3((double)s->offset[k][0], (double)s->offset[k][1], (double)s->offset[k][2]);
      Vec3 to = vec3_madd(solid->at, mat3_apply(&back, offset), cell);
      x[k] = (float)to.x, y[k] = (float)to.y, z[k] = (float)to.z;
    }
    shape_distance_range(core, &solid->solid->shape, count, x, y, z, (double)FAR * cell, d, n[0], n[1], n[2]);
    for (int k = 0; k < count; k++) {
      NearSurface here = {.d = d[k] / (float)cell, .solid = solid->index};
      if (!(here.d < s->nearest[k].d)) continue;
      for (int a = 0; a < 3 && here.d > TOUCHING; a++) /* of use outside of all alone */
        for (int c = 0; c < 3; c++) here.normal[a] += (float)solid->turn.m[a][c] * n[c][k];
      s->nearest[k] = here;
    }
  }
}

bool surface_is_covered(const Core *core, double cell, const PlacedSolids *placed, const NearSurface *surface) {
  Surroundings s;
  for (int a = 0; a < 3; a++) s.offset[0][a] = -surface->d * surface->normal[a];
  find_nearest(core, cell, placed, surface->solid, fabsf(surface->d), 1, &s);
  return s.nearest[0].d < TOUCHING;
}

static void set_shell(Surroundings *s, float radius) {
  int k = 0;
  for (int c = 0; c < 27; c++) {
    int at[3] = {c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1};
    int square = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
    if (square == 0) continue;
    for (int a = 0; a < 3; a++) s->offset[k][a] = radius * (float)at[a] / sqrtf((float)square);
    k++;
  }
}

/* Looks in shells for places outside of all solids. There the least distance is true, and the plane of the surface that
 * it leads to says how deep the point is: no less deep than in the solid that it is deepest in, and of several planes
 * the one that it is least deep below. */
NearSurface union_surface(const Core *core, double cell, const PlacedSolids *placed, const NearSurface *deepest,
                          float depth) {
  Surroundings s;
  NearSurface found = *deepest;
  float known = deepest->d + TOUCHING;
  bool any = false;
  found.d = -depth;
  for (float radius = 0.125f; radius <= depth && !any; radius *= 2) {
    set_shell(&s, radius);
    find_nearest(core, cell, placed, -1, radius, AROUND, &s);
    for (int k = 0; k < AROUND; k++) {
      NearSurface *here = &s.nearest[k];
      if (here->d <= TOUCHING || here->solid < 0) continue;
      for (int a = 0; a < 3; a++) here->d -= s.offset[k][a] * here->normal[a];
      if (here->d <= found.d || here->d > known) continue;
      found = *here;
      any = true;
    }
  }
  return found;
}
