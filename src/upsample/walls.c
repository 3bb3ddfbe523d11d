/* What walls and bodies do to blocks of fine grains. */
#include <math.h>

#include "upsample/internal.h"

enum { MARCH_STEPS = 64, PROJECTIONS = 3 };

/* Beyond the band of a cache a distance has only its sign. */
static float known_distance(const FineSolid *view) {
  return view->shape.grid ? 0.999f * view->shape.grid->band : INFINITY;
}

static void ask_distance(const Core *core, const FineSolid *view, int when, int64_t count, const float *x,
                         const float *y, const float *z, double reach, FineAnswers *a) {
  KERNEL_CALL(core, fine_to_local)(&view->axes[when], x, y, z, count, a);
  if (view->shape.grid && reach > (double)view->shape.grid->band) reach = (double)view->shape.grid->band;
  shape_distance_only(core, &view->shape, count, a->x, a->y, a->z, reach, a->distance);
}

static void ask(const Core *core, const FineSolid *view, int when, int64_t count, const float *x, const float *y,
                const float *z, double reach, FineAnswers *a) {
  KERNEL_CALL(core, fine_to_local)(&view->axes[when], x, y, z, count, a);
  if (view->shape.grid && reach > (double)view->shape.grid->band) reach = (double)view->shape.grid->band;
  shape_distance_range(core, &view->shape, count, a->x, a->y, a->z, reach, a->distance, a->nx, a->ny, a->nz);
}

/* Runs of groups of eight grains that may be within reach of a solid, as ranges of grains. */
typedef struct Runs {
  int count;
  int64_t begin[FINE_GROUPS], end[FINE_GROUPS];
} Runs;

static void find_runs(const Core *core, const FineSolid *view, int when, const FineBlock *block,
                      const FineGroups *groups, double reach, Runs *runs) {
  FineAnswers a;
  int64_t count = block->padded / LANES;
  float largest = 0, margin = (float)(reach + solid_view_error(view));
  for (int64_t g = 0; g < count; g++) largest = groups->half[g] > largest ? groups->half[g] : largest;
  ask_distance(core, view, when, count, groups->x, groups->y, groups->z, (double)(margin + largest), &a);
  runs->count = 0;
  bool open = false;
  for (int64_t g = 0; g < count; g++) {
    bool near = !(a.distance[g] - 1.00001f * groups->half[g] >= margin);
    if (near && !open) runs->begin[runs->count] = g * LANES;
    if (near) runs->end[open ? runs->count - 1 : runs->count++] = (g + 1) * LANES;
    open = near;
  }
}

static bool is_near(const Surroundings *near, int32_t solid, int when, const float bounds[6], double reach) {
  return !(near->gaps[solid][when] >= reach) && solid_view_gap(&near->up->solids[solid], bounds, when) < reach;
}

void walls_before(const Core *core, const Surroundings *near, const float bounds[6], double reach, FineBlock *block) {
  FineAnswers a;
  FineGroups groups;
  Runs runs;
  block->walled = block->deep = false;
  block->nearest_moved = 0;
  for (int32_t k = 0; k < near->up->solid_count; k++) {
    const FineSolid *view = &near->up->solids[k];
    if (!is_near(near, k, 0, bounds, reach)) continue;
    if (!block->walled) {
      KERNEL_CALL(core, fine_groups)(block->boxes, &groups);
      for (int64_t i = 0; i < block->padded; i++)
        block->gap[i] = INFINITY, block->nx[i] = block->ny[i] = block->nz[i] = 0;
    }
    block->walled = true;
    block->nearest_moved = fmaxf(block->nearest_moved, (float)(view->moved + view->doubt));
    find_runs(core, view, 0, block, &groups, reach, &runs);
    for (int r = 0; r < runs.count; r++) {
      int64_t b = runs.begin[r], e = runs.end[r];
      ask(core, view, 0, e - b, block->x + b, block->y + b, block->z + b, reach, &a);
      block->deep |= KERNEL_CALL(core, fine_nearest)(&view->axes[0], &a, known_distance(view), b, e, block);
    }
  }
}

/* How far the solid went in the frame where the grains are that were asked for. */
static void ways_of(const FineSolid *view, int64_t count, const FineAnswers *a, float ways[3][FINE_BLOCK]) {
  for (int64_t i = 0; i < count; i++) {
    float local[3] = {a->x[i], a->y[i], a->z[i]}, way[3];
    solid_way(view, local, way);
    for (int axis = 0; axis < 3; axis++) ways[axis][i] = way[axis];
  }
}

void walls_weigh(const Core *core, const Surroundings *near, const FineLaw *law, const float bounds[6],
                 FineBlock *block) {
  FineAnswers a;
  FineGroups groups;
  Runs runs;
  float ways[3][FINE_BLOCK];
  const float *const each[3] = {ways[0], ways[1], ways[2]};
  double reach = sqrt((double)law->reach2);
  bool grouped = false;
  for (int32_t k = 0; k < near->up->solid_count; k++) {
    const FineSolid *view = &near->up->solids[k];
    if (view->sampled || !is_near(near, k, 1, bounds, reach)) continue;
    if (!grouped) KERNEL_CALL(core, fine_groups)(block->boxes, &groups);
    grouped = true;
    find_runs(core, view, 1, block, &groups, reach, &runs);
    for (int r = 0; r < runs.count; r++) {
      int64_t b = runs.begin[r], e = runs.end[r];
      ask_distance(core, view, 1, e - b, block->x + b, block->y + b, block->z + b, reach, &a);
      if (view->moved > 0) ways_of(view, e - b, &a, ways);
      KERNEL_CALL(core, fine_add_wall)
      (law, &a, known_distance(view), view->moved > 0 ? each : NULL, b, e, block);
    }
  }
}

/* Grains of a block that may touch a solid. */
typedef struct Touch {
  const FineSolid *view;
  const Materials *materials;
  float dt;
  int64_t count;
  int32_t list[FINE_BLOCK + LANES];
} Touch;

/* The grain has come to the solid: it keeps no speed into it, and friction takes what it may of the speed along it, at
 * the first look. Grains that only go with the coarse ones (loose 0) have had their friction there. */
static void stop_grain(const Touch *touch, FineBlock *block, int64_t i, bool first, const float local[3],
                       const float normal[3]) {
  float way[3];
  solid_way(touch->view, local, way);
  float *v[3] = {&block->vx[i], &block->vy[i], &block->vz[i]}, rate = 1 / touch->dt, slip[3];
  float into = 0;
  for (int k = 0; k < 3; k++) slip[k] = *v[k] - way[k] * rate, into += slip[k] * normal[k];
  if (into > 0) return;
  float size2 = 0;
  for (int k = 0; k < 3; k++) slip[k] -= into * normal[k], size2 += slip[k] * slip[k];
  const ScreeMaterialDef *stuff = &touch->materials->items[block->material[i]].definition;
  double grip = sqrt(stuff->friction_static * touch->view->friction_static);
  double drag = sqrt(stuff->friction_kinetic * touch->view->friction_kinetic);
  float size = sqrtf(size2), press = first && block->loose[i] > 0 ? -into : 0, keep = 1;
  if (size <= (float)grip * press) keep = 0;
  else if (size > 0) keep = 1 - fminf((float)drag * press / size, 1);
  for (int k = 0; k < 3; k++) *v[k] = way[k] * rate + keep * slip[k];
  if (!first) return;
  block->to_x[i] = block->x[i] + touch->dt * *v[0];
  block->to_y[i] = block->y[i] + touch->dt * *v[1];
  block->to_z[i] = block->z[i] + touch->dt * *v[2];
}

/* A grain that may have gone through: follows its way in the solid's frame and is left where it first touches, or where
 * it came with all steps. `distance` is that of the end. After the first look one that begins in the solid is let go:
 * it is on its way out. */
static bool march(const FineSolid *view, const FineBlock *block, int64_t i, bool first, double distance, float hit[3]) {
  const float begin[3] = {block->x[i], block->y[i], block->z[i]},
              end[3] = {block->to_x[i], block->to_y[i], block->to_z[i]};
  float from[3], to[3];
  solid_to_view(view, 0, begin, from);
  solid_to_view(view, 1, end, to);
  double length2 = 0, radius = (double)block->radius[i];
  for (int k = 0; k < 3; k++) length2 += (double)(to[k] - from[k]) * (double)(to[k] - from[k]);
  double length = sqrt(length2), at = 0, far = view->shape.grid ? (double)view->shape.grid->band : length + radius;
  for (int step = 0; at < length; step++) {
    Vec3 p = vec3((double)from[0] + (double)(to[0] - from[0]) * at / length,
                  (double)from[1] + (double)(to[1] - from[1]) * at / length,
                  (double)from[2] + (double)(to[2] - from[2]) * at / length);
    double d = fmin(shape_distance(&view->shape, p, far).distance, far);
    if (d < 0.5 * radius || step == MARCH_STEPS) {
      hit[0] = (float)p.x, hit[1] = (float)p.y, hit[2] = (float)p.z;
      return first || at > 0;
    }
    if (length - at + view->doubt <= d + distance - radius) return false;
    at += fmax(d - 0.5 * radius, 0.25 * radius);
  }
  return false;
}

/* Distances of the listed grains, at their beginning or at their end. */
static void ask_listed(const Core *core, const Touch *touch, const FineBlock *block, int when, double reach,
                       FineAnswers *a) {
  const float *const from[3] = {when ? block->to_x : block->x, when ? block->to_y : block->y,
                                when ? block->to_z : block->z};
  float at[3][FINE_BLOCK];
  for (int axis = 0; axis < 3; axis++)
    for (int64_t k = 0; k < touch->count; k++) at[axis][k] = from[axis][touch->list[k]];
  ask(core, touch->view, when, touch->count, at[0], at[1], at[2], reach, a);
}

static float way_of(const FineBlock *block, int64_t i) {
  float dx = block->to_x[i] - block->x[i], dy = block->to_y[i] - block->y[i], dz = block->to_z[i] - block->z[i];
  return sqrtf(dx * dx + dy * dy + dz * dz);
}

/* `a` has the distances at the end, known up to `reach`. On a way of length L between distances d and e no point is
 * nearer than (d + e - L) / 2: only where that may be less than half a radius is the way followed. What is left on its
 * way has been moved: it is `stuck`. */
static void march_listed(const Core *core, const Touch *touch, FineBlock *block, bool first, double near_reach,
                         double reach, FineAnswers *a, bool stuck[FINE_BLOCK]) {
  const FineSolid *view = touch->view;
  bool any = false;
  for (int64_t k = 0; k < touch->count; k++) {
    int64_t i = touch->list[k];
    double way = (double)way_of(block, i) + view->moved, radius = (double)block->radius[i];
    double begin = block->walled ? fmin((double)block->gap[i], near_reach) : near_reach;
    double end = fmin((double)a->distance[k], reach);
    float hit[3], world[3];
    if (way < radius || (!block->deep && way + view->doubt <= begin + end - radius)) continue;
    if (!march(view, block, i, first, end, hit)) continue;
    any = stuck[i] = true;
    solid_to_world_axes(view, 1, hit, world);
    block->to_x[i] = world[0] - view->axes[1].shift[0];
    block->to_y[i] = world[1] - view->axes[1].shift[1];
    block->to_z[i] = world[2] - view->axes[1].shift[2];
    block->farthest = fmaxf(block->farthest, way_of(block, i));
  }
  if (any) ask_listed(core, touch, block, 1, reach, a);
}

/* Grains that may touch a solid with sharp edges, by the mesh itself. */
static void ask_exactly(const Touch *touch, const FineBlock *block, FineAnswers *a) {
  Shape exact = touch->view->shape;
  double doubt = touch->view->doubt;
  exact.grid = NULL;
  for (int64_t k = 0; k < touch->count; k++) {
    double radius = (double)block->radius[touch->list[k]];
    if ((double)a->distance[k] > radius + doubt || (double)a->distance[k] < -4 * radius) continue;
    Vec3 at = vec3((double)a->x[k], (double)a->y[k], (double)a->z[k]);
    double cached = (double)a->distance[k], far = radius + 3 * doubt;
    bool sided = fabs(cached) > 1.5 * doubt; /* too far from the surface to be on the other side of it */
    ShapePoint point = sided ? shape_distance_sided(&exact, at, far, cached < 0) : shape_distance(&exact, at, far);
    a->distance[k] = (float)point.distance;
    a->nx[k] = (float)point.normal.x, a->ny[k] = (float)point.normal.y, a->nz[k] = (float)point.normal.z;
  }
}

/* One look at one solid, whose distances are known. `stuck` are those that were in it and have been moved. */
static void put_out(const Touch *touch, FineBlock *block, bool first, FineAnswers *a, bool stuck[FINE_BLOCK]) {
  const FineSolid *view = touch->view;
  if (view->doubt > 0) ask_exactly(touch, block, a);
  for (int64_t k = 0; k < touch->count; k++) {
    int64_t i = touch->list[k];
    float radius = block->radius[i], depth = radius - a->distance[k];
    if (!(depth > (first ? 0 : SLOP * radius))) continue;
    float local_normal[3] = {a->nx[k], a->ny[k], a->nz[k]}, local[3] = {a->x[k], a->y[k], a->z[k]}, normal[3];
    solid_to_world_axes(view, 1, local_normal, normal);
    stuck[i] = true;
    stop_grain(touch, block, i, first, local, normal);
    if (!first) {
      block->to_x[i] += depth * normal[0];
      block->to_y[i] += depth * normal[1];
      block->to_z[i] += depth * normal[2];
    }
    block->farthest = fmaxf(block->farthest, way_of(block, i));
  }
}

/* Grains that cannot come to a solid in this frame need no look at it: what is known of them at its beginning says so.
 */
static void find_touching(const Core *core, const Surroundings *near, double reach, const FineBlock *block,
                          Touch *touch) {
  float free = (float)(reach - near->up->moved);
  if (!block->deep) {
    touch->count = KERNEL_CALL(core, fine_may_touch)(block, block->nearest_moved, free, near->up->pack, touch->list);
    return;
  }
  touch->count = block->count;
  for (int32_t i = 0; i < (int32_t)block->count; i++) touch->list[i] = i;
}

/* What was in no solid was not moved and need not be looked at again. */
static void keep_stuck(Touch *touch, const bool *stuck) {
  int64_t count = 0;
  for (int64_t k = 0; k < touch->count; k++)
    if (stuck[touch->list[k]]) touch->list[count++] = touch->list[k];
  touch->count = count;
}

/* A grain is done with when it was in no solid in a whole round, of those that the block's grains may have come to by
 * then: a solid that moves pushes them farther than they went themselves. What three rounds do not free is led out by
 * itself. */
void walls_after(const Core *core, const Surroundings *near, const State *state, const float bounds[6], double dt,
                 double reach, FineBlock *block) {
  const Upsample *up = near->up;
  Touch touch = {.materials = &state->materials, .dt = (float)dt};
  FineAnswers a;
  if (up->solid_count == 0) return;
  find_touching(core, near, reach, block, &touch);
  if (touch.count == 0) return;
  double radius = 0, smallest = INFINITY;
  for (int64_t k = 0; k < touch.count; k++) {
    double here = (double)block->radius[touch.list[k]];
    radius = here > radius ? here : radius;
    smallest = here < smallest ? here : smallest;
  }
  for (int round = 0; round <= PROJECTIONS && touch.count > 0; round++) {
    bool stuck[FINE_BLOCK] = {false};
    for (int32_t k = 0; k < up->solid_count; k++) {
      const FineSolid *view = &up->solids[k];
      double way = (double)block->farthest + view->moved, far = way + radius;
      if (!is_near(near, k, 1, bounds, far)) continue;
      bool fast = way > smallest;
      touch.view = view;
      ask_listed(core, &touch, block, 1, fast ? fmax(2 * radius, far) : 2 * radius, &a);
      if (fast) march_listed(core, &touch, block, round == 0, reach, fmax(2 * radius, far), &a, stuck);
      put_out(&touch, block, round == 0, &a, stuck);
    }
    keep_stuck(&touch, stuck);
  }
  for (int64_t k = 0; k < touch.count; k++) {
    int64_t i = touch.list[k];
    Vec3 at = vec3((double)block->to_x[i], (double)block->to_y[i], (double)block->to_z[i]);
    solids_put_out(up, (double)block->radius[i], &at);
    block->to_x[i] = (float)at.x, block->to_y[i] = (float)at.y, block->to_z[i] = (float)at.z;
  }
}

int64_t walls_touching(const Core *core, const Upsample *up, int64_t count, const float *x, const float *y,
                       const float *z, const float *radius, int32_t list[FINE_BLOCK]) {
  FineAnswers a;
  float bounds[6];
  bool touches[FINE_BLOCK] = {false};
  double largest = 0;
  for (int64_t i = 0; i < count; i++) largest = fmax(largest, (double)radius[i]);
  KERNEL_CALL(core, fine_bounds)(x, y, z, count, bounds);
  for (int32_t k = 0; k < up->solid_count; k++) {
    const FineSolid *view = &up->solids[k];
    double reach = largest + view->doubt;
    if (!(solid_view_gap(view, bounds, 1) < reach)) continue;
    ask_distance(core, view, 1, count, x, y, z, 2 * reach, &a);
    for (int64_t i = 0; i < count; i++) touches[i] |= !(a.distance[i] >= radius[i] + (float)view->doubt);
  }
  int64_t found = 0;
  for (int32_t i = 0; i < (int32_t)count; i++)
    if (touches[i]) list[found++] = i;
  return found;
}
