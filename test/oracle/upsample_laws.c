/* The laws of upsampling with one lane against the kernels with eight and sixteen: the same bits on random input. */
#define LANE_SCALAR

#include "check.h"
#include "core/rng.h"
#include "upsample/upsample_kernels.h"

enum { COARSE = 300, CELL_BITS = 3, CELLS = 1 << 3 * CELL_BITS };
#define REACH2 (0.09f * 0.09f)
#define SIDE 0.3f

static uint64_t next_bits;

static float draw(float low, float high) {
  next_bits = rng_mix(next_bits + 1);
  return low + (high - low) * rng_unitf(next_bits);
}

static void draw_many(float *to, int64_t count, float low, float high) {
  for (int64_t i = 0; i < count; i++) to[i] = draw(low, high);
}

typedef struct Stages {
  FineBlock block;
  FineWalls walls;
  FineSums sums;
  FineMotion motion;
} Stages;

/* One set of kernels: those of one build. */
typedef struct Build {
  const char *name;
  bool runs;
  void (*boxes)(const float *, const float *, const float *, int64_t, FineBoxes *, float *);
  void (*coarse_near)(const CoarseSet *, int64_t, int64_t, const float *, float, Candidates *);
  void (*candidates_narrow)(const Candidates *, const float *, float, Candidates *);
  int64_t (*sums)(const CoarseSet *, const Candidates *, int32_t *, float, bool, const FineBlock *, const FineWalls *,
                  FineSums *);
  void (*add_samples)(const CoarseSet *, const Candidates *, int32_t *, float, bool, const FineBlock *, FineSums *);
  void (*move_paper)(const FineParameters *, const FineSums *, FineBlock *, FineMotion *);
  void (*move_better)(const FineParameters *, const FineSums *, FineBlock *, FineMotion *);
  void (*stir)(const CountCells *, const uint32_t *, const FineParameters *, const FineWalls *, const FineMotion *,
               FineBlock *);
  void (*cells)(const CountCells *, const float *, const float *, const float *, int64_t, int32_t *, int32_t *);
  void (*to_local)(const FineAxes *, const float *, const float *, const float *, int64_t, FineDistances *);
  void (*nearest)(const FineAxes *, const FineDistances *, float, float, float, int64_t, int64_t, FineWalls *);
  void (*add_wall)(const FineParameters *, const FineDistances *, float, const float *const *, int64_t, int64_t,
                   FineSums *);
  int64_t (*may_touch)(const FineBlock *, const FineWalls *, float, int32_t *);
} Build;

#define BUILD(level, level16, available)                                                                               \
  {                                                                                                                    \
#level16, available, fine_boxes_##level, coarse_near_##level16, candidates_narrow_##level16, fine_sums_##level16,  \
        fine_add_samples_##level16, fine_move_paper_##level, fine_move_better_##level, fine_stir_##level,              \
        fine_cells_##level, fine_to_local_##level, fine_nearest_##level, fine_add_wall_##level, fine_may_touch_##level \
  }

static const Core PLAIN_CORE = {.baseline_simd = false};

static int builds(Build list[3]) {
  int count = 0;
  list[count++] = (Build)BUILD(base, base, true);
#ifdef SCREE_HAVE_V3
  list[count++] = (Build)BUILD(v3, v3, simd_wide(&PLAIN_CORE));
#endif
#ifdef SCREE_HAVE_V4
  list[count++] = (Build)BUILD(v3, v4, simd_sixteen(&PLAIN_CORE));
#endif
  return count;
}

/* What all builds are given. */
typedef struct Input {
  int64_t count;
  _Alignas(64) float fields[6][FINE_BLOCK];
  float radius[FINE_BLOCK];
  FineBoxes boxes;
  float bounds[6];
  CoarseRow rows[COARSE];
  float at[3][COARSE + LANES_MOST];
  CoarseSet set;
  FineWalls walls;
  FineDistances distances;
  float displacement[3][FINE_BLOCK];
  FineAxes axes;
  FineParameters parameters;
  CountCells cells;
  uint32_t counts[CELLS];
} Input;

static void draw_unit(float n[3]) {
  for (int axis = 0; axis < 3; axis++) n[axis] = draw(-1, 1);
  float size = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int axis = 0; axis < 3; axis++) n[axis] = size > 0 ? n[axis] / size : 0;
}

static void draw_walls(Input *in, bool walled) {
  in->walls = (FineWalls){.any = walled};
  for (int64_t i = 0; i < FINE_BLOCK; i++) {
    float n[3];
    draw_unit(n);
    bool near = draw(0, 1) < 0.5f;
    in->walls.gap[i] = near ? draw(-0.01f, 0.1f) : INFINITY;
    in->walls.clear[i] = in->walls.gap[i] - 0.003f;
    in->walls.nx[i] = near ? n[0] : 0, in->walls.ny[i] = near ? n[1] : 0, in->walls.nz[i] = near ? n[2] : 0;
    draw_unit(n);
    in->distances.nx[i] = n[0], in->distances.ny[i] = n[1], in->distances.nz[i] = n[2];
  }
  draw_many(in->distances.distance, FINE_BLOCK, -0.05f, 0.12f);
  for (int axis = 0; axis < 3; axis++) draw_many(in->displacement[axis], FINE_BLOCK, -0.01f, 0.01f);
  for (int k = 0; k < 9; k++) in->axes.turn[k / 3][k % 3] = draw(-1, 1);
  for (int axis = 0; axis < 3; axis++) in->axes.shift[axis] = draw(-1, 1);
  in->axes.turned = draw(0, 1) < 0.5f;
}

static void draw_input(Input *in, int64_t count, bool walled, bool windy) {
  in->count = count;
  for (int f = 0; f < 6; f++) {
    draw_many(in->fields[f], count, f < 3 ? 0 : -1, f < 3 ? SIDE : 1);
    for (int64_t i = count; i < FINE_BLOCK; i++) in->fields[f][i] = in->fields[f][count - 1];
  }
  draw_many(in->radius, FINE_BLOCK, 0.005f, 0.02f);
  fine_boxes_base(in->fields[0], in->fields[1], in->fields[2], count, &in->boxes, in->bounds);
  in->set = (CoarseSet){COARSE, in->rows, in->at[0], in->at[1], in->at[2]};
  for (int axis = 0; axis < 3; axis++) draw_many(in->at[axis], COARSE, -0.1f, SIDE + 0.1f);
  for (int k = 0; k < COARSE; k++) {
    bool rests = draw(0, 1) < 0.3f;
    float v[3];
    for (int axis = 0; axis < 3; axis++) v[axis] = rests ? 0 : draw(-1, 1);
    in->rows[k] = (CoarseRow){
        in->at[0][k], in->at[1][k], in->at[2][k], v[0], v[1], v[2], v[0] * v[0] + v[1] * v[1] + v[2] * v[2], 0};
  }
  draw_walls(in, walled);
  in->parameters = (FineParameters){.reach2 = REACH2,
                                    .dt = 0.0167f,
                                    .gain = {0, 0.01f, -0.1638f},
                                    .covered2 = 0.051f * 0.051f,
                                    .free2 = 0.0525f * 0.0525f,
                                    .stir = 0.5f,
                                    .wind = {windy ? 8.0f : 0.3f, -2, 0.5f},
                                    .air_drag = windy ? 0.2f : 0,
                                    .gravity = 9.81f,
                                    .blow = windy ? 13.6f : 0,
                                    .body_rule = draw(0, 1) < 0.5f};
  in->cells = (CountCells){.inverse = 1 / 0.045f, .shift = {CELL_BITS, 2 * CELL_BITS}};
  for (int axis = 0; axis < 3; axis++) in->cells.mask[axis] = (1 << CELL_BITS) - 1, in->cells.low[axis] = axis;
  in->cells.folded = windy;
  for (int k = 0; k < CELLS; k++) in->counts[k] = draw(0, 1) < 0.2f ? 0 : (uint32_t)draw(0, 40);
}

static void stages_begin(const Input *in, Stages *s) {
  memset(s, 0, sizeof *s);
  s->block.count = in->count;
  s->block.padded = (in->count + LANES_MOST - 1) / LANES_MOST * LANES_MOST;
  memcpy(s->block.copies, in->fields, sizeof in->fields);
  s->block.x = s->block.copies[0], s->block.y = s->block.copies[1], s->block.z = s->block.copies[2];
  s->block.vx = s->block.copies[3], s->block.vy = s->block.copies[4], s->block.vz = s->block.copies[5];
  s->block.end_x = s->block.ends[0], s->block.end_y = s->block.ends[1], s->block.end_z = s->block.ends[2];
  s->block.boxes = &in->boxes;
  s->block.radius = in->radius;
  s->walls = in->walls;
}

/* ---- one lane ---- */

static LaneVec3 triple(const float *x, const float *y, const float *z, int64_t i) { return vec_make(x[i], y[i], z[i]); }

static void put(LaneVec3 v, float *x, float *y, float *z, int64_t i) { x[i] = v.x, y[i] = v.y, z[i] = v.z; }

static WeightedSums sums_at(const FineSums *s, int64_t i) {
  return (WeightedSums){s->weight[i], triple(s->vx, s->vy, s->vz, i), s->top[i], s->square[i]};
}

static void sums_put(WeightedSums v, FineSums *s, int64_t i) {
  s->weight[i] = v.weight, s->top[i] = v.top, s->square[i] = v.square;
  put(v.velocity, s->vx, s->vy, s->vz, i);
}

/* Over all coarse grains: those out of reach add nothing. */
static WeightedSums sum_one(const Input *in, const Stages *s, int64_t i, bool walled, bool squares) {
  WeightedSums sums = sums_zero();
  for (int k = 0; k < COARSE; k++) {
    const CoarseRow *row = &in->rows[k];
    LaneVec3 offset = vec_sub(triple(s->block.x, s->block.y, s->block.z, i), vec_make(row->x, row->y, row->z));
    Real t = pair_nearness(offset, REACH2);
    if (walled)
      t = pair_nearness_in_front(t, offset, s->walls.gap[i], triple(s->walls.nx, s->walls.ny, s->walls.nz, i));
    sums = sums_add_pair(sums, t, vec_make(row->vx, row->vy, row->vz), row->square, squares);
  }
  return sums;
}

static void one_lane_better(const Input *in, Stages *s) {
  FineBlock *b = &s->block;
  FineWalls *w = &s->walls;
  const CountCells *cells = &in->cells;
  float fastest = 0;
  for (int64_t i = 0; i < b->padded; i++) {
    sums_put(sum_one(in, s, i, w->any, true), &s->sums, i);
    BetterMotion motion = better_motion(in->parameters, sums_at(&s->sums, i), triple(b->vx, b->vy, b->vz, i));
    s->motion.loose[i] = motion.loose, s->motion.spread[i] = motion.spread;
    fastest = fmaxf(fastest, speed_bound(in->parameters, motion));
    put(motion.velocity, b->vx, b->vy, b->vz, i);
    LaneVec3 end = moved_position(triple(b->x, b->y, b->z, i), motion.velocity, in->parameters.dt);
    float longest = in->parameters.stir * in->parameters.dt * motion.spread;
    CountPlace place = count_place(*cells, triple(b->x, b->y, b->z, i));
    Corners corners;
    for (int k = 0; k < 8; k++) {
      Int x = (place.base[0] + (k & 1)) & cells->mask[0], y = (place.base[1] + (k >> 1 & 1)) & cells->mask[1];
      Int z = (place.base[2] + (k >> 2)) & cells->mask[2];
      corners.v[k] = (float)in->counts[cell_join(*cells, x, y, z)];
    }
    Mask stirs = real_less(CROWD_LEAST / cells->inverse, longest);
    LaneVec3 push = crowd_displacement(crowd_gradient(corners, place.part), longest, stirs);
    if (w->any) push = crowd_keep_off(push, w->gap[i], CROWD_KEEP_OFF / cells->inverse, triple(w->nx, w->ny, w->nz, i));
    put(stirs ? vec_add(end, push) : end, b->end_x, b->end_y, b->end_z, i);
  }
  s->motion.finite = true;
  s->motion.farthest = in->parameters.dt * fastest;
}

static void one_lane_paper(const Input *in, Stages *s) {
  FineBlock *b = &s->block;
  const FineParameters p = in->parameters;
  for (int64_t i = 0; i < b->padded; i++) {
    WeightedSums sums = sum_one(in, s, i, false, false);
    sums = sums_add_samples(sums, sum_one(in, s, i, false, false), p.body_rule);
    WallWeight wall = wall_weight(in->distances.distance[i], 0.1f, p.reach2, sums.weight, p.body_rule);
    LaneVec3 velocity = vec_mul(triple(in->displacement[0], in->displacement[1], in->displacement[2], i), 1 / p.dt);
    sums.weight += wall.weight;
    sums.top = real_max(wall.t, sums.top);
    sums.velocity = vec_add(sums.velocity, vec_mul(velocity, wall.weight));
    sums_put(sums, &s->sums, i);
    velocity = paper_velocity(p, sums, triple(b->vx, b->vy, b->vz, i));
    put(velocity, b->vx, b->vy, b->vz, i);
    put(moved_position(triple(b->x, b->y, b->z, i), velocity, p.dt), b->end_x, b->end_y, b->end_z, i);
  }
  s->motion.finite = true;
}

/* ---- comparisons ---- */

static void assert_bits(const char *build, const char *what, const float *a, const float *b, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (memcmp(&a[i], &b[i], sizeof *a) != 0) {
      print_error("%s: %s of grain %d is %.9g, with one lane %.9g\n", build, what, (int)i, (double)a[i], (double)b[i]);
      _fail(__FILE__, __LINE__);
    }
}

static void assert_stages(const Build *build, const Stages *a, const Stages *b) {
  int64_t count = a->block.padded;
#define SAME(member) assert_bits(build->name, #member, a->member, b->member, count)
  SAME(sums.weight), SAME(sums.vx), SAME(sums.vy), SAME(sums.vz), SAME(sums.top), SAME(sums.square);
  SAME(block.vx), SAME(block.vy), SAME(block.vz), SAME(block.end_x), SAME(block.end_y), SAME(block.end_z);
  SAME(motion.loose), SAME(motion.spread);
#undef SAME
  assert_bits(build->name, "farthest", &a->motion.farthest, &b->motion.farthest, 1);
  assert_true(a->motion.finite && b->motion.finite);
}

typedef struct Near {
  float x[COARSE + LANES_MOST], y[COARSE + LANES_MOST], z[COARSE + LANES_MOST];
  int32_t index[COARSE + LANES_MOST], list[COARSE + LANES_MOST];
  Candidates found;
} Near;

/* The candidates of the block, in two steps as a run does it. */
static void find_near(const Build *build, const Input *in, Near *near) {
  static Near all;
  all.found = (Candidates){0, all.x, all.y, all.z, all.index};
  near->found = (Candidates){0, near->x, near->y, near->z, near->index};
  const float wide[6] = {-0.1f, -0.1f, -0.1f, SIDE + 0.1f, SIDE + 0.1f, SIDE + 0.1f};
  build->coarse_near(&in->set, 0, COARSE, wide, REACH2, &all.found);
  assert_int_equal(all.found.count, COARSE);
  build->candidates_narrow(&all.found, in->bounds, REACH2, &near->found);
}

static void compare(const Input *in) {
  static Stages one, many;
  static Near near;
  const float *const displacement[3] = {in->displacement[0], in->displacement[1], in->displacement[2]};
  Build list[3];
  int count = builds(list);
  for (int k = 0; k < count; k++) {
    const Build *build = &list[k];
    if (!build->runs) continue;
    find_near(build, in, &near);
    stages_begin(in, &one);
    stages_begin(in, &many);
    one_lane_better(in, &one);
    build->sums(&in->set, &near.found, near.list, REACH2, true, &many.block, &many.walls, &many.sums);
    build->move_better(&in->parameters, &many.sums, &many.block, &many.motion);
    build->stir(&in->cells, in->counts, &in->parameters, &many.walls, &many.motion, &many.block);
    assert_stages(build, &many, &one);
    stages_begin(in, &one);
    stages_begin(in, &many);
    many.walls.any = false;
    one_lane_paper(in, &one);
    build->sums(&in->set, &near.found, near.list, REACH2, false, &many.block, &many.walls, &many.sums);
    build->add_samples(&in->set, &near.found, near.list, REACH2, in->parameters.body_rule, &many.block, &many.sums);
    build->add_wall(&in->parameters, &in->distances, 0.1f, displacement, 0, many.block.padded, &many.sums);
    build->move_paper(&in->parameters, &many.sums, &many.block, &many.motion);
    assert_stages(build, &many, &one);
  }
}

static void test_motion(void **state) {
  (void)state;
  static Input in;
  for (int trial = 0; trial < 24; trial++) {
    next_bits = (uint64_t)trial;
    draw_input(&in, trial % 3 == 0 ? FINE_BLOCK : 1 + trial * 5, trial & 1, trial & 2);
    compare(&in);
  }
}

static void compare_walls(const Build *build, const Input *in) {
  const int64_t count = in->count, padded = (count + LANES_MOST - 1) / LANES_MOST * LANES_MOST;
  static FineDistances local;
  static Stages one, many;
  int32_t list[FINE_BLOCK + LANES], cell[FINE_BLOCK], slot[FINE_BLOCK];
  stages_begin(in, &one);
  stages_begin(in, &many);
  build->to_local(&in->axes, in->fields[0], in->fields[1], in->fields[2], count, &local);
  build->cells(&in->cells, in->fields[0], in->fields[1], in->fields[2], count, cell, slot);
  for (int64_t i = 0; i < count; i++) {
    LaneVec3 at = triple(in->fields[0], in->fields[1], in->fields[2], i), own = axes_to_local(in->axes, at);
    assert_bits(build->name, "local x", &local.x[i], &own.x, 1);
    assert_bits(build->name, "local y", &local.y[i], &own.y, 1);
    assert_bits(build->name, "local z", &local.z[i], &own.z, 1);
    int x = cell_of(in->cells, at.x), y = cell_of(in->cells, at.y), z = cell_of(in->cells, at.z);
    bool counts = cell_in_room(in->cells, 0, x) && cell_in_room(in->cells, 1, y) && cell_in_room(in->cells, 2, z);
    const int32_t *mask = in->cells.mask;
    int expected_cell = cell_join(in->cells, x & mask[0], y & mask[1], z & mask[2]);
    assert_int_equal(cell[i], counts || in->cells.folded ? expected_cell : -1);
  }
  build->nearest(&in->axes, &in->distances, 0.04f, 0.035f, 0.003f, 0, padded, &many.walls);
  for (int64_t i = 0; i < padded; i++) {
    float distance = in->distances.distance[i];
    LaneVec3 normal = triple(in->distances.nx, in->distances.ny, in->distances.nz, i);
    one.walls.clear[i] = wall_clearance(one.walls.clear[i], distance, 0.04f, 0.035f, 0.003f);
    if (distance <= -0.04f) assert_true(one.walls.clear[i] == WALL_NO_CLEARANCE);
    if (!wall_is_nearer(distance, 0.04f, 0.035f, one.walls.gap[i])) continue;
    one.walls.gap[i] = distance;
    put(axes_to_world(in->axes, normal), one.walls.nx, one.walls.ny, one.walls.nz, i);
  }
  assert_bits(build->name, "clear", many.walls.clear, one.walls.clear, padded);
  assert_bits(build->name, "gap", many.walls.gap, one.walls.gap, padded);
  assert_bits(build->name, "nx", many.walls.nx, one.walls.nx, padded);
  assert_bits(build->name, "nz", many.walls.nz, one.walls.nz, padded);
  for (int axis = 0; axis < 3; axis++)
    for (int64_t i = 0; i < FINE_BLOCK; i++) many.block.ends[axis][i] = in->fields[axis][i] + in->displacement[axis][i];
  int64_t touching = build->may_touch(&many.block, &many.walls, 0.025f, list), expected = 0;
  for (int64_t i = 0; i < count; i++) {
    LaneVec3 move = vec_sub(triple(many.block.end_x, many.block.end_y, many.block.end_z, i),
                            triple(many.block.x, many.block.y, many.block.z, i));
    Real clearance = many.walls.any ? real_min(many.walls.clear[i], 0.025f) : 0.025f;
    if (wall_may_touch(in->radius[i], clearance, move)) assert_int_equal(list[expected++], i);
  }
  assert_int_equal(touching, expected);
}

static void test_walls(void **state) {
  (void)state;
  static Input in;
  Build list[3];
  int count = builds(list);
  for (int trial = 0; trial < 24; trial++) {
    next_bits = 1000 + (uint64_t)trial;
    draw_input(&in, trial % 3 == 0 ? FINE_BLOCK : 1 + trial * 5, trial & 1, false);
    for (int k = 0; k < count; k++)
      if (list[k].runs) compare_walls(&list[k], &in);
  }
}

/* A grain that slides on a wall: Coulomb friction with the speed that was lost into it. */
static void test_contact(void **state) {
  (void)state;
  LaneVec3 up = vec_make(0, 0, 1), wall = vec_make(0.5f, 0, 0.25f);
  StoppedGrain grain = stop_at_wall(vec_make(2.5f, 0, -0.75f), wall, up, 0.75f, 0.5f, -1);
  assert_true(grain.stops); /* slips at 2 m/s, loses 0.5 * 1 m/s */
  assert_near(grain.velocity.x, 2, 1e-6);
  assert_near(grain.velocity.z, 0.25, 1e-6);
  grain = stop_at_wall(vec_make(2.5f, 0, -0.75f), wall, up, 0.75f, 0.5f, 0);
  assert_near(grain.velocity.x, 2.5, 1e-6); /* without friction */
  grain = stop_at_wall(vec_make(1, 0, -0.75f), wall, up, 0.75f, 0.5f, -1);
  assert_near(grain.velocity.x, 0.5, 1e-6); /* sticks */
  grain = stop_at_wall(vec_make(1, 0, 0.5f), wall, up, 0.75f, 0.5f, -1);
  assert_false(grain.stops); /* leaves */
  assert_near(grain.velocity.z, 0.5, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_motion), cmocka_unit_test(test_walls),
                                     cmocka_unit_test(test_contact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
