/* Walls and bodies: distances for blocks of fine grains, and what happens when they touch. */
#include <math.h>

#include "core/parallel.h"
#include "upsample/internal.h"

/* A fine grain is put out of a solid when it is deeper in it than this share of its radius: one that was put out once
 * is not put out again by rounding. */
#define SLOP 1e-3f
enum { MARCH_STEPS = 64, PROJECTIONS = 3, CORNERS = 8 };
/* Half the extent that counts for planes when they turn. */
#define PLANE_EXTENT 100.0

Status solids_view_create(Core *core, Upsample *up, const State *state) {
  double radius = up->coarse_radius;
  TRY(memory_grow(core, &up->solids, state->solids.count, "upsampling"));
  int32_t known = up->solid_count;
  up->solid_count = state->solids.count;
  for (int32_t k = known; k < up->solid_count; k++) {
    const Solid *solid = &state->solids.items[k];
    FineSolid *view = &up->solids[k];
    view->shape = solid->shape;
    view->friction_static = solid->friction_static;
    view->friction_kinetic = solid->friction_kinetic;
    view->position[0] = solid->position;
    view->rotation[0] = solid->rotation;
    if (solid->shape.kind != SCREE_SHAPE_MESH || !solid->shape.findings.closed) continue;
    if (solid->shape.grid && (double)solid->shape.grid->band >= DISTANCE_BAND * radius) continue;
    double cell = fmax(up->definition.radius, DISTANCE_CELL * radius);
    TRY(distance_grid_build(core, &view->shape, cell, DISTANCE_BAND * radius, &view->cache));
    view->shape.grid = view->cache;
  }
  return SCREE_OK;
}

static void view_place(FineSolid *view, int when, Vec3 origin) {
  Mat3 turn = mat3_transpose(mat3_from_quat(view->rotation[when]));
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) view->turn[when][r][c] = (float)turn.m[r][c];
  Vec3 shift = vec3_sub(origin, view->position[when]);
  for (int r = 0; r < 3; r++) view->shift[when][r] = (float)vec3_get(shift, r);
}

/* The way of a point is a convex function of the point: a corner of the bounds goes farthest. */
static double view_moved(const FineSolid *view) {
  double farthest = 0;
  for (int corner = 0; corner < CORNERS; corner++) {
    double at[3];
    for (int axis = 0; axis < 3; axis++) {
      double low = vec3_get(view->shape.bounds_low, axis), high = vec3_get(view->shape.bounds_high, axis);
      at[axis] = corner >> axis & 1 ? fmin(high, PLANE_EXTENT) : fmax(low, -PLANE_EXTENT);
    }
    Vec3 local = vec3(at[0], at[1], at[2]);
    Vec3 way = vec3_sub(vec3_add(quat_rotate(view->rotation[1], local), view->position[1]),
                        vec3_add(quat_rotate(view->rotation[0], local), view->position[0]));
    farthest = fmax(farthest, vec3_length(way));
  }
  return farthest;
}

void solids_view_refresh(Upsample *up, const State *state) {
  for (int32_t k = 0; k < up->solid_count; k++) {
    const Solid *solid = &state->solids.items[k];
    FineSolid *view = &up->solids[k];
    view->sampled = solid->sample_end > solid->sample_begin;
    view->position[1] = solid->position;
    view->rotation[1] = solid->rotation;
    view->moved = view_moved(view);
    for (int when = 0; when < 2; when++) view_place(view, when, state->origin);
    Vec3 drift = vec3_sub(view->position[1], view->position[0]);
    for (int axis = 0; axis < 3; axis++) view->drift[axis] = (float)vec3_get(drift, axis);
  }
}

void solids_view_commit(Upsample *up) {
  for (int32_t k = 0; k < up->solid_count; k++) {
    up->solids[k].position[0] = up->solids[k].position[1];
    up->solids[k].rotation[0] = up->solids[k].rotation[1];
  }
}

static inline void to_local(const FineSolid *view, int when, float x, float y, float z, float local[3]) {
  float at[3] = {x + view->shift[when][0], y + view->shift[when][1], z + view->shift[when][2]};
  for (int r = 0; r < 3; r++)
    local[r] = view->turn[when][r][0] * at[0] + view->turn[when][r][1] * at[1] + view->turn[when][r][2] * at[2];
}

static inline void to_world_axes(const FineSolid *view, int when, const float v[3], float world[3]) {
  for (int c = 0; c < 3; c++)
    world[c] = view->turn[when][0][c] * v[0] + view->turn[when][1][c] * v[1] + view->turn[when][2][c] * v[2];
}

/* How far the point of the solid went in the frame that is at `local` in its frame. */
static inline void way_of_point(const FineSolid *view, const float local[3], float way[3]) {
  float before[3], after[3];
  to_world_axes(view, 0, local, before);
  to_world_axes(view, 1, local, after);
  for (int axis = 0; axis < 3; axis++) way[axis] = view->moved > 0 ? after[axis] - before[axis] + view->drift[axis] : 0;
}

double solid_view_gap(const FineSolid *view, const float bounds[6], int when) {
  float center[3], local[3];
  double half2 = 0, outside2 = 0;
  for (int axis = 0; axis < 3; axis++) {
    center[axis] = 0.5f * (bounds[axis] + bounds[3 + axis]);
    double half = 0.5 * ((double)bounds[3 + axis] - (double)bounds[axis]);
    half2 += half * half;
  }
  to_local(view, when, center[0], center[1], center[2], local);
  const Shape *shape = &view->shape;
  double half = sqrt(half2);
  if (!shape->inside && shape->kind != SCREE_SHAPE_PLANE) {
    for (int axis = 0; axis < 3; axis++) {
      double out = fmax(vec3_get(shape->bounds_low, axis) - (double)local[axis],
                        (double)local[axis] - vec3_get(shape->bounds_high, axis));
      if (out > 0) outside2 += out * out;
    }
    if (outside2 > 4 * half2) return sqrt(outside2) - half;
  }
  double reach = shape->grid ? (double)shape->grid->band : INFINITY;
  Vec3 at = vec3((double)local[0], (double)local[1], (double)local[2]);
  return shape_distance(shape, at, reach).distance - half;
}

/* Beyond the band of a cache a distance has only its sign. */
static bool is_known(const FineSolid *view, float distance) {
  return !view->shape.grid || fabsf(distance) < 0.999f * view->shape.grid->band;
}

/* Distances and normals of a block in the shape's axes. */
typedef struct Answers {
  float x[FINE_BLOCK], y[FINE_BLOCK], z[FINE_BLOCK]; /* local */
  float distance[FINE_BLOCK], nx[FINE_BLOCK], ny[FINE_BLOCK], nz[FINE_BLOCK];
} Answers;

static void ask(const Core *core, const FineSolid *view, int when, int64_t count, const float *x, const float *y,
                const float *z, double reach, Answers *a) {
  for (int64_t i = 0; i < count; i++) {
    float local[3];
    to_local(view, when, x[i], y[i], z[i], local);
    a->x[i] = local[0], a->y[i] = local[1], a->z[i] = local[2];
  }
  if (view->shape.grid && reach > (double)view->shape.grid->band) reach = (double)view->shape.grid->band;
  shape_distance_range(core, &view->shape, count, a->x, a->y, a->z, reach, a->distance, a->nx, a->ny, a->nz);
}

bool walls_before(const Core *core, const Upsample *up, const float bounds[6], double reach, FineBlock *block) {
  Answers a;
  bool any = false;
  for (int32_t k = 0; k < up->solid_count; k++) {
    const FineSolid *view = &up->solids[k];
    if (solid_view_gap(view, bounds, 0) >= reach) continue;
    ask(core, view, 0, block->padded, block->x, block->y, block->z, reach, &a);
    for (int64_t i = 0; i < block->padded; i++) {
      bool known = is_known(view, a.distance[i]);
      if (!any) block->gap[i] = INFINITY, block->nx[i] = block->ny[i] = block->nz[i] = 0;
      if (!known || a.distance[i] >= block->gap[i]) continue;
      float local[3] = {a.nx[i], a.ny[i], a.nz[i]}, normal[3];
      to_world_axes(view, 0, local, normal);
      block->gap[i] = a.distance[i];
      block->nx[i] = normal[0], block->ny[i] = normal[1], block->nz[i] = normal[2];
    }
    any = true;
  }
  return any;
}

/* A plane wall sampled with spheres of radius r has 0.547 / (pi r^2) of them per area (random touching discs). Their
 * weights, integrated over the plane at distance d, are 9/4 * 0.547 (1 - d^2 / 9 r^2)^4 = 1.23 q^4, and the largest is
 * q^3: what the samples would do in the mean, from the distance alone. */
#define WALL_WEIGHT 1.23f

void walls_weigh(const Core *core, const Upsample *up, const FineLaw *law, const float bounds[6], FineBlock *block) {
  Answers a;
  double reach = sqrt((double)law->reach2);
  for (int32_t k = 0; k < up->solid_count; k++) {
    const FineSolid *view = &up->solids[k];
    if (view->sampled || solid_view_gap(view, bounds, 1) >= reach) continue;
    ask(core, view, 1, block->count, block->x, block->y, block->z, reach, &a);
    for (int64_t i = 0; i < block->count; i++) {
      if ((law->body_rule && !(block->sum[i] > 0)) || !is_known(view, a.distance[i])) continue;
      float d = a.distance[i] > 0 ? a.distance[i] : 0, t = law->reach2 - d * d;
      if (!(t > 0)) continue;
      float weight = WALL_WEIGHT * t * t * t * (t / law->reach2), local[3] = {a.x[i], a.y[i], a.z[i]}, way[3];
      way_of_point(view, local, way);
      block->sum[i] += weight;
      block->sum_x[i] += weight * way[0] / law->dt;
      block->sum_y[i] += weight * way[1] / law->dt;
      block->sum_z[i] += weight * way[2] / law->dt;
      if (t > block->top[i]) block->top[i] = t;
    }
  }
}

typedef struct Touch {
  const FineSolid *view;
  const Materials *materials;
  float dt;
} Touch;

/* The grain has come to the solid: it keeps no speed into it, and friction takes what it may of the speed along it.
 * Grains that only go with the coarse ones (loose 0) have had their friction there. */
static void stop_grain(const Touch *touch, FineBlock *block, int64_t i, const float local[3], const float normal[3]) {
  float way[3];
  way_of_point(touch->view, local, way);
  float *v[3] = {&block->vx[i], &block->vy[i], &block->vz[i]}, rate = 1 / touch->dt, slip[3];
  float into = 0;
  for (int k = 0; k < 3; k++) slip[k] = *v[k] - way[k] * rate, into += slip[k] * normal[k];
  if (into > 0) return;
  float size2 = 0;
  for (int k = 0; k < 3; k++) slip[k] -= into * normal[k], size2 += slip[k] * slip[k];
  const ScreeMaterialDef *stuff = &touch->materials->items[block->material[i]].definition;
  double grip = sqrt(stuff->friction_static * touch->view->friction_static);
  double drag = sqrt(stuff->friction_kinetic * touch->view->friction_kinetic);
  float size = sqrtf(size2), press = block->loose[i] > 0 ? -into : 0, keep = 1;
  if (size <= (float)grip * press) keep = 0;
  else if (size > 0) keep = 1 - fminf((float)drag * press / size, 1);
  for (int k = 0; k < 3; k++) *v[k] = way[k] * rate + keep * slip[k];
  block->to_x[i] = block->x[i] + touch->dt * *v[0];
  block->to_y[i] = block->y[i] + touch->dt * *v[1];
  block->to_z[i] = block->z[i] + touch->dt * *v[2];
}

/* A grain that may have gone through: follows its way in the solid's frame and is left where it first touches. */
static bool march(const FineSolid *view, const FineBlock *block, int64_t i, float hit[3]) {
  float from[3], to[3];
  to_local(view, 0, block->x[i], block->y[i], block->z[i], from);
  to_local(view, 1, block->to_x[i], block->to_y[i], block->to_z[i], to);
  double length2 = 0, radius = (double)block->radius[i];
  for (int k = 0; k < 3; k++) length2 += (double)(to[k] - from[k]) * (double)(to[k] - from[k]);
  double length = sqrt(length2), at = 0;
  for (int step = 0; step < MARCH_STEPS && at < length; step++) {
    Vec3 p = vec3((double)from[0] + (double)(to[0] - from[0]) * at / length,
                  (double)from[1] + (double)(to[1] - from[1]) * at / length,
                  (double)from[2] + (double)(to[2] - from[2]) * at / length);
    double d =
        shape_distance(&view->shape, p, view->shape.grid ? (double)view->shape.grid->band : length + radius).distance;
    if (d < 0.5 * radius) {
      hit[0] = (float)p.x, hit[1] = (float)p.y, hit[2] = (float)p.z;
      return true;
    }
    at += fmax(d - 0.5 * radius, 0.25 * radius);
  }
  return false;
}

static void march_block(const Core *core, const FineSolid *view, FineBlock *block, double reach) {
  Answers a;
  ask(core, view, 0, block->count, block->x, block->y, block->z, reach, &a);
  for (int64_t i = 0; i < block->count; i++) {
    float dx = block->to_x[i] - block->x[i], dy = block->to_y[i] - block->y[i], dz = block->to_z[i] - block->z[i];
    double way = sqrt((double)(dx * dx + dy * dy + dz * dz)) + view->moved;
    float hit[3], world[3];
    if (way < (double)block->radius[i] || way < (double)(a.distance[i] - block->radius[i])) continue;
    if (!march(view, block, i, hit)) continue;
    to_world_axes(view, 1, hit, world);
    block->to_x[i] = world[0] - view->shift[1][0];
    block->to_y[i] = world[1] - view->shift[1][1];
    block->to_z[i] = world[2] - view->shift[1][2];
  }
}

/* One look at one solid. Answers whether a grain was in it. */
static bool put_out(const Core *core, const Touch *touch, FineBlock *block, bool first) {
  const FineSolid *view = touch->view;
  Answers a;
  float largest = 0;
  bool any = false;
  for (int64_t i = 0; i < block->count; i++) largest = fmaxf(largest, block->radius[i]);
  ask(core, view, 1, block->count, block->to_x, block->to_y, block->to_z, 2 * (double)largest, &a);
  for (int64_t i = 0; i < block->count; i++) {
    float radius = block->radius[i], depth = radius - a.distance[i];
    if (!(depth > (first ? 0 : SLOP * radius))) continue;
    float local_normal[3] = {a.nx[i], a.ny[i], a.nz[i]}, local[3] = {a.x[i], a.y[i], a.z[i]}, normal[3];
    to_world_axes(view, 1, local_normal, normal);
    any = true;
    if (first) stop_grain(touch, block, i, local, normal);
    else {
      block->to_x[i] += depth * normal[0];
      block->to_y[i] += depth * normal[1];
      block->to_z[i] += depth * normal[2];
    }
  }
  return any;
}

void walls_after(const Core *core, const Upsample *up, const State *state, const float bounds[6], double dt,
                 FineBlock *block) {
  if (up->solid_count == 0) return;
  double radius = 0, smallest = INFINITY, farthest = (double)block->farthest;
  for (int64_t i = 0; i < block->count; i++) {
    radius = fmax(radius, (double)block->radius[i]);
    smallest = fmin(smallest, (double)block->radius[i]);
  }
  uint64_t touched = 0; /* solids beyond the 64th are looked at every time */
  for (int round = 0; round <= PROJECTIONS; round++) {
    bool any = false;
    for (int32_t k = 0; k < up->solid_count; k++) {
      const FineSolid *view = &up->solids[k];
      uint64_t bit = k < 64 ? 1ull << k : 0;
      if (round > 0 && bit && !(touched & bit)) continue;
      if (round == 0) {
        double reach = farthest + radius + view->moved;
        if (solid_view_gap(view, bounds, 1) >= reach) continue;
        touched |= bit;
        if (farthest + view->moved > smallest) march_block(core, view, block, reach);
      }
      Touch touch = {view, &state->materials, (float)dt};
      any |= put_out(core, &touch, block, round == 0);
    }
    if (!any) break;
  }
}
