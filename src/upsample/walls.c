/* What solids do to blocks of fine grains. */
#define LANE_SCALAR /* laws for one grain */
#include <math.h>

#include "core/parallel.h"
#include "upsample/internal.h"

typedef const Shape *ExactShape;
static double exact_distance(ExactShape shape, Vec3 at, double reach) {
  return shape_distance(shape, at, reach).distance;
}
#include "upsample/settle_shared.h"

/* Beyond the band of a cache a distance has only its sign. */
float solid_known_distance(const FineSolid *view) {
  return view->shape.grid ? 0.999f * view->shape.grid->band : INFINITY;
}

static void ask_distance(const Core *core, const FineSolid *view, int when, int64_t count, const float *x,
                         const float *y, const float *z, double reach, FineDistances *a) {
  KERNEL_CALL(core, fine_to_local)(&view->axes[when], x, y, z, count, a);
  if (view->shape.grid && reach > (double)view->shape.grid->band) reach = (double)view->shape.grid->band;
  shape_distance_only(core, &view->shape, count, a->x, a->y, a->z, reach, a->distance);
}

static void ask(const Core *core, const FineSolid *view, int when, int64_t count, const float *x, const float *y,
                const float *z, double reach, FineDistances *a) {
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
  FineDistances a;
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

void walls_before(const Core *core, const Surroundings *near, const float bounds[6], double reach,
                  const FineBlock *block, FineWalls *walls) {
  FineDistances a;
  FineGroups groups;
  Runs runs;
  walls->any = false;
  for (int32_t k = 0; k < near->up->solid_count; k++) {
    const FineSolid *view = &near->up->solids[k];
    if (!is_near(near, k, 0, bounds, reach)) continue;
    if (!walls->any) {
      KERNEL_CALL(core, fine_groups)(block->boxes, &groups);
      for (int64_t i = 0; i < block->padded; i++)
        walls->gap[i] = walls->clear[i] = INFINITY, walls->nx[i] = walls->ny[i] = walls->nz[i] = 0;
    }
    walls->any = true;
    float lag = (float)(view->moved + view->doubt);
    find_runs(core, view, 0, block, &groups, reach, &runs);
    for (int r = 0; r < runs.count; r++) {
      int64_t b = runs.begin[r], e = runs.end[r];
      ask(core, view, 0, e - b, block->x + b, block->y + b, block->z + b, reach, &a);
      KERNEL_CALL(core, fine_nearest)(&view->axes[0], &a, solid_known_distance(view), (float)reach, lag, b, e, walls);
    }
  }
}

/* How far the solid moved in the frame at the places of the grains. */
static void displacements_of(const FineSolid *view, int64_t count, const FineDistances *a, float to[3][FINE_BLOCK]) {
  for (int64_t i = 0; i < count; i++) {
    float local[3] = {a->x[i], a->y[i], a->z[i]}, displacement[3];
    solid_displacement(view, local, displacement);
    for (int axis = 0; axis < 3; axis++) to[axis][i] = displacement[axis];
  }
}

void walls_weigh(const Core *core, const Surroundings *near, const FineParameters *parameters, const float bounds[6],
                 const FineBlock *block, FineSums *sums) {
  FineDistances a;
  FineGroups groups;
  Runs runs;
  float displacements[3][FINE_BLOCK];
  const float *const each[3] = {displacements[0], displacements[1], displacements[2]};
  double reach = sqrt((double)parameters->reach2);
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
      if (view->moved > 0) displacements_of(view, e - b, &a, displacements);
      KERNEL_CALL(core, fine_add_wall)
      (parameters, &a, solid_known_distance(view), view->moved > 0 ? each : NULL, b, e, sums);
    }
  }
}

/* Grains of a block that may touch a solid. walls_after fills it; `view` is the solid that is looked at. */
typedef struct Touch {
  const FineSolid *view;
  const Materials *materials;
  FineBlock *block;
  const FineWalls *walls;
  FineMotion *motion;
  float dt;
  int64_t count;
  int32_t list[FINE_BLOCK + LANES];
} Touch;

/* The grain has come to the solid, at `local` in its frame. Friction acts at the first look, and not on grains that
 * only go with the coarse ones. */
static void stop_grain(const Touch *touch, int64_t i, bool first, const float local[3], const float normal[3]) {
  FineBlock *block = touch->block;
  float displacement[3];
  solid_displacement(touch->view, local, displacement);
  const Material *material = &touch->materials->items[block->material[i]];
  LaneVec3 wall = vec_mul(vec_make(displacement[0], displacement[1], displacement[2]), 1 / touch->dt);
  StoppedGrain grain =
      stop_at_wall(vec_make(block->vx[i], block->vy[i], block->vz[i]), wall, vec_make(normal[0], normal[1], normal[2]),
                   solid_friction_static(touch->view, material), solid_friction_kinetic(touch->view, material),
                   -(first && touch->motion->loose[i] > 0));
  if (!grain.stops) return;
  block->vx[i] = grain.velocity.x, block->vy[i] = grain.velocity.y, block->vz[i] = grain.velocity.z;
  if (!first) return;
  LaneVec3 end = moved_position(vec_make(block->x[i], block->y[i], block->z[i]), grain.velocity, touch->dt);
  block->end_x[i] = end.x, block->end_y[i] = end.y, block->end_z[i] = end.z;
}

/* A grain that may have gone through a solid: its displacement in the solid's frame is followed. */
static bool march(const FineSolid *view, const FineBlock *block, int64_t i, bool first, double distance, float hit[3]) {
  const float begin[3] = {block->x[i], block->y[i], block->z[i]},
              end[3] = {block->end_x[i], block->end_y[i], block->end_z[i]};
  float from[3], to[3];
  solid_to_view(view, 0, begin, from);
  solid_to_view(view, 1, end, to);
  const double band = view->shape.grid ? (double)view->shape.grid->band : 0;
  return march_path(&view->shape, from, to, (double)block->radius[i], view->doubt, band, distance, first, hit);
}

/* Distances of the listed grains, at their beginning or at their end. */
static void ask_listed(const Core *core, const Touch *touch, int when, double reach, FineDistances *a) {
  const FineBlock *block = touch->block;
  const float *const from[3] = {when ? block->end_x : block->x, when ? block->end_y : block->y,
                                when ? block->end_z : block->z};
  float at[3][FINE_BLOCK];
  for (int axis = 0; axis < 3; axis++)
    for (int64_t k = 0; k < touch->count; k++) at[axis][k] = from[axis][touch->list[k]];
  ask(core, touch->view, when, touch->count, at[0], at[1], at[2], reach, a);
}

static float displacement_of(const FineBlock *block, int64_t i) {
  float dx = block->end_x[i] - block->x[i], dy = block->end_y[i] - block->y[i], dz = block->end_z[i] - block->z[i];
  return sqrtf(dx * dx + dy * dy + dz * dz);
}

/* How far from the ends of their paths distances of the listed grains must be known: from those that go farther than
 * their radius (*fast: there are some) so far that it shows whether they may have gone through the solid. */
static double listed_reach(const Touch *touch, bool *fast) {
  double reach = 0;
  *fast = false;
  for (int64_t k = 0; k < touch->count; k++) {
    int64_t i = touch->list[k];
    double length = (double)displacement_of(touch->block, i) + touch->view->moved;
    double radius = (double)touch->block->radius[i];
    *fast |= !(length < radius);
    reach = fmax(reach, length < radius ? 2 * radius : march_reach(length, radius));
  }
  return reach;
}

/* `a` has the distances at the end, known up to `reach`. A grain that is left on its path has been moved: it is
 * `stuck`.
 */
static void march_listed(const Core *core, const Touch *touch, bool first, double near_reach, double reach,
                         FineDistances *a, bool stuck[FINE_BLOCK]) {
  const FineSolid *view = touch->view;
  FineBlock *block = touch->block;
  bool any = false;
  for (int64_t k = 0; k < touch->count; k++) {
    int64_t i = touch->list[k];
    double length = (double)displacement_of(block, i) + view->moved, radius = (double)block->radius[i];
    if (length < radius) continue;
    double begin = touch->walls->any ? fmin((double)touch->walls->gap[i], near_reach) : near_reach;
    double end = fmin((double)a->distance[k], march_reach(length, radius));
    bool deep = touch->walls->any && touch->walls->clear[i] == WALL_NO_CLEARANCE;
    float hit[3], world[3];
    if (!deep && march_is_clear(length, radius, view->doubt, begin, end)) continue;
    if (!march(view, block, i, first, end, hit)) continue;
    any = stuck[i] = true;
    solid_to_world_axes(view, 1, hit, world);
    block->end_x[i] = world[0] - view->axes[1].shift[0];
    block->end_y[i] = world[1] - view->axes[1].shift[1];
    block->end_z[i] = world[2] - view->axes[1].shift[2];
    touch->motion->farthest = fmaxf(touch->motion->farthest, displacement_of(block, i));
  }
  if (any) ask_listed(core, touch, 1, reach, a);
}

/* Grains that may touch a solid with sharp edges, by the mesh itself. */
static void ask_exactly(const Touch *touch, FineDistances *a) {
  Shape exact = touch->view->shape;
  double doubt = touch->view->doubt;
  exact.grid = NULL;
  for (int64_t k = 0; k < touch->count; k++) {
    double radius = (double)touch->block->radius[touch->list[k]], cached = (double)a->distance[k];
    if (!asks_mesh(cached, radius, doubt)) continue;
    Vec3 at = vec3((double)a->x[k], (double)a->y[k], (double)a->z[k]);
    double far = asked_reach(radius, doubt);
    ShapePoint point =
        is_sided(cached, doubt) ? shape_distance_sided(&exact, at, far, cached < 0) : shape_distance(&exact, at, far);
    a->distance[k] = (float)point.distance;
    a->nx[k] = (float)point.normal.x, a->ny[k] = (float)point.normal.y, a->nz[k] = (float)point.normal.z;
  }
}

/* One look at one solid, whose distances are known. `stuck` are the grains that were in it and have been moved. */
static void put_out(const Touch *touch, bool first, FineDistances *a, bool stuck[FINE_BLOCK]) {
  const FineSolid *view = touch->view;
  FineBlock *block = touch->block;
  if (view->doubt > 0) ask_exactly(touch, a);
  for (int64_t k = 0; k < touch->count; k++) {
    int64_t i = touch->list[k];
    float radius = block->radius[i], penetration = radius - a->distance[k];
    if (!(penetration > (first ? 0 : SLOP * radius))) continue;
    float local_normal[3] = {a->nx[k], a->ny[k], a->nz[k]}, local[3] = {a->x[k], a->y[k], a->z[k]}, normal[3];
    solid_to_world_axes(view, 1, local_normal, normal);
    stuck[i] = true;
    stop_grain(touch, i, first, local, normal);
    if (!first) {
      block->end_x[i] += penetration * normal[0];
      block->end_y[i] += penetration * normal[1];
      block->end_z[i] += penetration * normal[2];
    }
    touch->motion->farthest = fmaxf(touch->motion->farthest, displacement_of(block, i));
  }
}

/* Grains that cannot come to a solid in this frame need no look at it: what is known of them at its beginning says so.
 */
static void find_touching(const Core *core, const Upsample *up, double reach, Touch *touch) {
  const FineBlock *block = touch->block;
  touch->count = KERNEL_CALL(core, fine_may_touch)(block, touch->walls, (float)(reach - up->lag), touch->list);
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
                 double reach, FineStages *stages) {
  const Upsample *up = near->up;
  FineBlock *block = &stages->block;
  Touch touch = {.materials = &state->materials,
                 .block = block,
                 .walls = &stages->walls,
                 .motion = &stages->motion,
                 .dt = (float)dt};
  FineDistances a;
  if (up->solid_count == 0) return;
  find_touching(core, up, reach, &touch);
  if (touch.count == 0) return;
  double radius = 0;
  for (int64_t k = 0; k < touch.count; k++) radius = fmax(radius, (double)block->radius[touch.list[k]]);
  for (int round = 0; round < WALL_ROUNDS && touch.count > 0; round++) {
    bool stuck[FINE_BLOCK] = {false};
    for (int32_t k = 0; k < up->solid_count; k++) {
      const FineSolid *view = &up->solids[k];
      if (!is_near(near, k, 1, bounds, (double)stages->motion.farthest + view->moved + radius)) continue;
      touch.view = view;
      bool fast = false;
      double known = listed_reach(&touch, &fast);
      ask_listed(core, &touch, 1, known, &a);
      if (fast) march_listed(core, &touch, round == 0, reach, known, &a, stuck);
      put_out(&touch, round == 0, &a, stuck);
    }
    keep_stuck(&touch, stuck);
  }
  for (int64_t k = 0; k < touch.count; k++) {
    int64_t i = touch.list[k];
    Vec3 at = vec3((double)block->end_x[i], (double)block->end_y[i], (double)block->end_z[i]);
    solids_put_out(up, (double)block->radius[i], &at);
    block->end_x[i] = (float)at.x, block->end_y[i] = (float)at.y, block->end_z[i] = (float)at.z;
  }
}

/* Grains of a device, FINE_BLOCK at a time. */
typedef struct RecordsWork {
  const Core *core;
  const Upsample *up;
  const State *state;
  Surroundings near;
  double dt, reach;
  const FineRecord *records;
  FineResult *results;
} RecordsWork;

static void record_load(const FineRecord *from, int64_t i, FineStages *s) {
  for (int axis = 0; axis < 3; axis++) {
    s->block.copies[axis][i] = from->at[axis];
    s->block.copies[3 + axis][i] = from->velocity[axis];
    s->block.ends[axis][i] = from->end[axis];
  }
  s->motion.loose[i] = from->loose;
  s->walls.gap[i] = from->gap;
  s->walls.clear[i] = from->clear;
}

static void records_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const RecordsWork *work = context;
  FineStages s = {.block = {.count = e - b, .padded = FINE_BLOCK}, .walls = {.any = true}};
  float radius[FINE_BLOCK] = {0}, bounds[6];
  uint8_t material[FINE_BLOCK] = {0};
  FineBlock *block = &s.block;
  block->x = block->copies[0], block->y = block->copies[1], block->z = block->copies[2];
  block->vx = block->copies[3], block->vy = block->copies[4], block->vz = block->copies[5];
  block->end_x = block->ends[0], block->end_y = block->ends[1], block->end_z = block->ends[2];
  block->radius = radius, block->material = material;
  for (int64_t i = 0; i < e - b; i++) {
    record_load(&work->records[b + i], i, &s);
    radius[i] = work->records[b + i].radius;
    material[i] = (uint8_t)work->records[b + i].material;
    s.motion.farthest = fmaxf(s.motion.farthest, 1.0001f * displacement_of(block, i));
  }
  KERNEL_CALL(work->core, fine_bounds)(block->x, block->y, block->z, e - b, bounds);
  walls_after(work->core, &work->near, work->state, bounds, work->dt, work->reach, &s);
  for (int64_t i = 0; i < e - b; i++)
    work->results[b + i] = (FineResult){.end = {block->end_x[i], block->end_y[i], block->end_z[i]},
                                        .velocity = {block->vx[i], block->vy[i], block->vz[i]},
                                        .index = work->records[b + i].index};
}

Status walls_records(Core *core, const Upsample *up, const State *state, Scratch *scratch, double dt, double reach,
                     int64_t count, const FineRecord *records, FineResult *results) {
  int mark = scratch_mark(scratch);
  RecordsWork work = {
      .core = core, .up = up, .state = state, .dt = dt, .reach = reach, .records = records, .results = results};
  double(*gaps)[2] = NULL;
  TRY(scratch_take(core, scratch, &gaps, up->solid_count + 1, "gaps"));
  for (int32_t k = 0; k < up->solid_count; k++) gaps[k][0] = gaps[k][1] = -INFINITY;
  work.near = (Surroundings){up, gaps};
  parallel_for(core, 0, count, FINE_BLOCK, records_chunk, &work);
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}

int64_t walls_touching(const Core *core, const Upsample *up, int64_t count, const float *x, const float *y,
                       const float *z, const float *radius, int32_t list[FINE_BLOCK]) {
  FineDistances a;
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
