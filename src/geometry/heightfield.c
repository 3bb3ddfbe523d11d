#include "geometry/heightfield.h"

#include <math.h>

#include "core/memory.h"
#include "geometry/triangle_law.h"

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

/* Vertices -1 and n stand on the border, as high as the outermost. */
static inline double vertex_place(int32_t i, int32_t n, double cell) {
  return i < 0 ? 0 : i >= n ? n * cell : (i + 0.5) * cell;
}

static inline Vec3 vertex(const Heightfield *field, int32_t i, int32_t j) {
  int32_t ci = i < 0 ? 0 : i >= field->nx ? field->nx - 1 : i, cj = j < 0 ? 0 : j >= field->ny ? field->ny - 1 : j;
  return vec3(vertex_place(i, field->nx, field->cell), vertex_place(j, field->ny, field->cell),
              field->heights[(int64_t)cj * field->nx + ci]);
}

/* The square (by its lowest vertex, -1 .. n - 1) that holds a coordinate. What is not a number is in the first: a grain
 * that has flown off is found where its step ends. */
static inline int32_t square_of(double x, double cell, int32_t n) {
  double at = floor(x / cell - 0.5);
  return at > n - 1 ? n - 1 : at > -1 ? (int32_t)at : -1;
}

double heightfield_height(const Heightfield *field, double x, double y) {
  x = fmin(fmax(x, 0), heightfield_size_x(field));
  y = fmin(fmax(y, 0), heightfield_size_y(field));
  int32_t i = square_of(x, field->cell, field->nx), j = square_of(y, field->cell, field->ny);
  Vec3 low = vertex(field, i, j), high = vertex(field, i + 1, j + 1);
  double u = (x - low.x) / (high.x - low.x), v = (y - low.y) / (high.y - low.y);
  double corner = u > v ? vertex(field, i + 1, j).z : vertex(field, i, j + 1).z;
  double small = fmin(u, v), large = fmax(u, v);
  return low.z + (corner - low.z) * (large - small) + (high.z - low.z) * small;
}

typedef struct Nearest {
  double square; /* of the distance */
  Vec3 point, normal;
} Nearest;

static void try_triangle(Nearest *nearest, Vec3 a, Vec3 b, Vec3 c, Vec3 p) {
  BvhTriangle triangle = {.a = a, .ab = vec3_sub(b, a), .ac = vec3_sub(c, a)};
  Vec3 normal = vec3_cross(triangle.ab, triangle.ac);
  double area2 = vec3_dot(normal, normal), off = vec3_dot(normal, vec3_sub(p, a));
  if (off * off > nearest->square * area2) return; /* its plane is farther already */
  Vec3 closest = triangle_closest(&triangle, p), away = vec3_sub(p, closest);
  double square = vec3_dot(away, away);
  if (square < nearest->square) *nearest = (Nearest){square, closest, normal};
}

static void try_square(const Heightfield *field, Nearest *nearest, int32_t i, int32_t j, Vec3 p) {
  Vec3 a = vertex(field, i, j), b = vertex(field, i + 1, j), c = vertex(field, i + 1, j + 1),
       d = vertex(field, i, j + 1);
  double low = fmin(fmin(a.z, b.z), fmin(c.z, d.z)), high = fmax(fmax(a.z, b.z), fmax(c.z, d.z));
  double out = fmax(fmax(low - p.z, p.z - high), 0);
  if (out * out > nearest->square) return;
  try_triangle(nearest, a, b, c, p);
  try_triangle(nearest, a, c, d, p);
}

/* The surface's point nearest to p, within `reach` of it. */
static bool search(const Heightfield *field, Vec3 p, double reach, Nearest *nearest) {
  int32_t i0 = square_of(p.x - reach, field->cell, field->nx), i1 = square_of(p.x + reach, field->cell, field->nx);
  int32_t j0 = square_of(p.y - reach, field->cell, field->ny), j1 = square_of(p.y + reach, field->cell, field->ny);
  double limit = reach * reach * (1 + 1e-12);
  *nearest = (Nearest){.square = limit};
  int32_t home_i = square_of(p.x, field->cell, field->nx), home_j = square_of(p.y, field->cell, field->ny);
  try_square(field, nearest, home_i, home_j, p); /* mostly the one: the others are then refused by their planes */
  for (int32_t j = j0; j <= j1; j++)
    for (int32_t i = i0; i <= i1; i++)
      if (i != home_i || j != home_j) try_square(field, nearest, i, j, p);
  return nearest->square < limit;
}

/* Out through a side: p is below the surface. */
static void side_distance(const Heightfield *field, Vec3 p, double *distance, Vec3 *normal) {
  const double deep[4] = {p.x, heightfield_size_x(field) - p.x, p.y, heightfield_size_y(field) - p.y};
  static const Vec3 out[4] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}};
  for (int k = 0; k < 4; k++)
    if (-deep[k] > *distance) {
      *distance = -deep[k];
      *normal = out[k];
    }
}

void heightfield_distance(const Heightfield *field, Vec3 p, double reach, double *distance, Vec3 *normal) {
  double x = fmin(fmax(p.x, 0), heightfield_size_x(field)), y = fmin(fmax(p.y, 0), heightfield_size_y(field));
  double surface = heightfield_height(field, x, y);
  double aside = sqrt((p.x - x) * (p.x - x) + (p.y - y) * (p.y - y));
  if (aside > 0 && p.z <= surface) {
    *distance = aside;
    *normal = vec3((p.x - x) / aside, (p.y - y) / aside, 0);
    return;
  }
  double sign = p.z < surface ? -1 : 1, above = p.z - surface;
  double most = sqrt(above * above + aside * aside), cap = HEIGHTFIELD_SEARCH * field->cell;
  double radius = fmin(most, fmin(reach * (1 + 1e-9), cap));
  Nearest nearest;
  if (!search(field, p, radius * (1 + 1e-9), &nearest)) {
    *distance = sign * radius;
    *normal = vec3(0, 0, 1);
  } else {
    Vec3 away = vec3_sub(p, nearest.point);
    double length = sqrt(nearest.square);
    *distance = sign * length;
    *normal = length > 1e-9 * field->cell ? vec3_scale(away, sign / length) : vec3_normalize(nearest.normal);
  }
  if (sign < 0) side_distance(field, p, distance, normal);
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
