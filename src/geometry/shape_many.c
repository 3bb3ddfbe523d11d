#include "core/parallel.h"
#include "geometry/shape_kernels.h"

PlainShape shape_plain(const Shape *shape) {
  PlainShape plain = {.kind = shape->kind, .radius = (float)shape->radius, .height = (float)shape->height};
  plain.sign = shape->inside ? -1.0f : 1.0f;
  const ShapeNumbers *numbers = &shape->numbers;
  for (int k = 0; k < 3; k++) plain.a[k] = (float)numbers->a[k], plain.b[k] = (float)numbers->b[k];
  return plain;
}

static void exact_point(const Shape *shape, const ManyPoints *points, int64_t i, double reach) {
  Vec3 p = vec3((double)points->x[i], (double)points->y[i], (double)points->z[i]);
  ShapePoint answer = shape_distance(shape, p, reach);
  points->distance[i] = (float)answer.distance;
  points->nx[i] = (float)answer.normal.x;
  points->ny[i] = (float)answer.normal.y;
  points->nz[i] = (float)answer.normal.z;
}

void shape_distance_range(const Core *core, const Shape *shape, int64_t count, const float *x, const float *y,
                          const float *z, double reach, float *distance, float *nx, float *ny, float *nz) {
  ManyPoints points = {count, x, y, z, distance, nx, ny, nz};
  bool plain_kind = shape->kind != SCREE_SHAPE_MESH && shape->kind != SCREE_SHAPE_HEIGHTFIELD;
  if (plain_kind) {
    PlainShape plain = shape_plain(shape);
    KERNEL_CALL(core, plain_distance_many)(&plain, &points);
  } else if (shape->grid) {
    KERNEL_CALL(core, grid_distance_many)(shape->grid, shape->inside ? -1.0f : 1.0f, &points);
    if (!(reach > (double)shape->grid->band)) return;
    for (int64_t i = 0; i < count; i++)
      if (fabsf(distance[i]) > shape->grid->band) exact_point(shape, &points, i, reach);
  } else {
    for (int64_t i = 0; i < count; i++) exact_point(shape, &points, i, reach);
  }
}

void shape_distance_only(const Core *core, const Shape *shape, int64_t count, const float *x, const float *y,
                         const float *z, double reach, float *distance) {
  enum { MANY = 128 };
  if (shape->kind == SCREE_SHAPE_MESH && shape->grid && !(reach > (double)shape->grid->band)) {
    float sign = shape->inside ? -1.0f : 1.0f;
    int64_t done = KERNEL16_CALL(core, grid_value_many)(shape->grid, sign, 0, count, x, y, z, distance);
    if (done < count) KERNEL_CALL(core, grid_value_many)(shape->grid, sign, done, count, x, y, z, distance);
    return;
  }
  for (int64_t i = 0; i < count; i += MANY) {
    _Alignas(32) float normals[3][MANY];
    int64_t few = count - i < MANY ? count - i : MANY;
    shape_distance_range(core, shape, few, x + i, y + i, z + i, reach, distance + i, normals[0], normals[1],
                         normals[2]);
  }
}

double shape_distance_known(const Shape *shape, double reach) {
  if (shape->kind != SCREE_SHAPE_MESH) return INFINITY;
  return shape->grid && !(reach > (double)shape->grid->band) ? (double)shape->grid->band : reach;
}

typedef struct ManyTask {
  const Core *core;
  const Shape *shape;
  ManyPoints points;
  double reach;
} ManyTask;

static void many_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const ManyTask *task = context;
  const ManyPoints *p = &task->points;
  shape_distance_range(task->core, task->shape, e - b, p->x + b, p->y + b, p->z + b, task->reach, p->distance + b,
                       p->nx + b, p->ny + b, p->nz + b);
}

void shape_distance_many(Core *core, const Shape *shape, int64_t count, const float *x, const float *y, const float *z,
                         double reach, float *distance, float *nx, float *ny, float *nz) {
  ManyTask task = {core, shape, {count, x, y, z, distance, nx, ny, nz}, reach};
  parallel_for(core, 0, count, shape->kind == SCREE_SHAPE_MESH && !shape->grid ? 256 : 4096, many_chunk, &task);
}
