#include "geometry/heightfield.h"

#include <math.h>

#include "core/memory.h"
#include "geometry/heightfield_shared.h"

Status heightfield_create(Core *core, int32_t nx, int32_t ny, double cell, Heightfield **field) {
  TRY(memory_new(core, field, 1, "heightfield"));
  **field = (Heightfield){.nx = nx, .ny = ny, .cell = cell};
  return memory_new(core, &(*field)->heights, (int64_t)nx * ny, "heightfield");
}

void heightfield_destroy(Core *core, Heightfield *field) {
  if (!field) return;
  memory_drop(core, &field->heights);
  memory_drop(core, &field);
}

void heightfield_bound(Heightfield *field) {
  field->highest = -INFINITY;
  for (int64_t k = 0; k < (int64_t)field->nx * field->ny; k++)
    if (field->heights[k] > field->highest) field->highest = field->heights[k];
}

double heightfield_height(const Heightfield *field, double x, double y) { return heights_over(*field, x, y); }

void heightfield_distance(const Heightfield *field, Vec3 p, double reach, double *distance, Vec3 *normal) {
  const ShapePoint found = heights_point(*field, p, reach);
  *distance = found.distance;
  *normal = found.normal;
}

bool heightfield_ray(const Heightfield *field, Vec3 origin, Vec3 direction, double reach, double *distance,
                     Vec3 *normal) {
  /* Steps of a quarter cell, then halving: enough for picking, and blind only to what is thinner. */
  double step = 0.25 * field->cell, t = 0, last = 0;
  double far = fmin(reach, 2 * (heightfield_size_x(field) + heightfield_size_y(field)) + fabs(origin.z) + 1);
  for (t = 0; t <= far; t += step) {
    Vec3 p = vec3_madd(origin, direction, t);
    bool over = p.x >= 0 && p.y >= 0 && p.x <= heightfield_size_x(field) && p.y <= heightfield_size_y(field);
    if (over && p.z <= heightfield_height(field, p.x, p.y)) break;
    last = t;
  }
  if (t > far) return false;
  for (int k = 0; k < 40; k++) {
    double middle = 0.5 * (last + t);
    Vec3 p = vec3_madd(origin, direction, middle);
    if (p.z <= heightfield_height(field, p.x, p.y)) t = middle;
    else last = middle;
  }
  double unused;
  *distance = t;
  heightfield_distance(field, vec3_madd(origin, direction, t), field->cell, &unused, normal);
  return true;
}
