/* Warm start: the solves begin with the stresses of the last step.
 *
 * They lie at the same cells, but for the frictional stress near solids that move: it goes with them. Friction is found
 * in few steps from where it begins; left behind by half a cell, the stress before a ball that drives into sand would
 * never be found, and the ball would come a tenth deeper. (The pressure is found in every solve.) */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/grid/strip_set.h"
#include "methods/flip/solids/solids.h"
#include "methods/flip/stress/stress.h"
#include "methods/flip/stress/warm_start_kernels.h"

/* Displacements below, in cells, are none. */
#define DISPLACEMENT_LEAST 0.06f

typedef struct MovingSolid {
  const Solid *solid;
  double extent; /* of its box, from its centre */
} MovingSolid;

typedef struct WarmStart {
  FlipWork *work;
  const FlipGrid *from_grid;
  const FlipKept *from;
  MovingSolid *moving;
  int32_t count;
  uint8_t *stressed; /* per strip of the last step, a bit a lane: there is stress */
} WarmStart;

static bool is_moving(const Solid *solid) {
  return solid->motion != MOTION_FIXED && solid->shape.kind != SCREE_SHAPE_PLANE &&
         (vec3_length(solid->velocity) > 0 || vec3_length(solid->spin) > 0);
}

static Status list_moving(WarmStart *warm) {
  FlipWork *work = warm->work;
  const Solids *solids = &work->state->solids;
  TRY(scratch_take(work->core, work->step->scratch, &warm->moving, solids->count + 1, "solids"));
  for (int32_t k = 0; k < solids->count; k++) {
    const Solid *solid = &solids->items[k];
    if (!is_moving(solid)) continue;
    warm->moving[warm->count++] = (MovingSolid){solid, solid_half_width(solid)};
  }
  return SCREE_OK;
}

static void stressed_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const WarmStart *warm = context;
  for (int64_t strip = b; strip < e; strip++) {
    uint32_t lanes = 0;
    for (int k = 0; k < STRESSES; k++)
      for (int lane = 0; lane < STRIP; lane++)
        lanes |= (warm->from->stress[k][strip * STRIP + lane] != 0 ? 1u : 0u) << lane;
    warm->stressed[strip] = (uint8_t)lanes;
  }
}

/* How far, in cells, the stress goes in the step at the middles of a strip's cells; false: nowhere worth it. */
static bool strip_displacement(const WarmStart *warm, int32_t strip, float displacement[3][STRIP]) {
  const FlipWork *work = warm->work;
  double cell = work->grid->cell, reach = WARM_START_REACH * cell, per = work->dt / cell;
  Vec3 first = vec3_add(strip_origin(work, strip), vec3(0.5 * cell, 0.5 * cell, 0.5 * cell));
  float longest = 0, most[STRIP] = {0};
  memset(displacement, 0, sizeof(float[3][STRIP]));
  for (int32_t k = 0; k < warm->count; k++) {
    const Solid *solid = warm->moving[k].solid;
    double extent = warm->moving[k].extent, range = extent + reach + 0.5 * STRIP * cell;
    Vec3 from = vec3_sub(first, solid->center), middle = vec3(from.x + 0.5 * (STRIP - 1) * cell, from.y, from.z);
    if (vec3_dot(middle, middle) > range * range) continue;
    /* The velocity of a rigid body goes linearly along the strip. */
    Vec3 v = vec3_scale(solid_velocity_at(solid, first), per);
    StripMotion motion = {.x = from.x,
                          .across = from.y * from.y + from.z * from.z,
                          .cell = cell,
                          .extent = extent,
                          .reach = reach,
                          .displacement = {v.x, v.y, v.z},
                          .more = {0, solid->spin.z * per * cell, -solid->spin.y * per * cell}};
    float here = KERNEL_CALL(work->core, flip_strip_displacement)(&motion, most, displacement);
    longest = here > longest ? here : longest;
  }
  return longest > DISPLACEMENT_LEAST;
}

/* Cells and weights whose stress comes to a cell. */
typedef struct Source {
  int32_t cell[8];
  float weight[8];
  uint64_t key[4]; /* of the rows that were looked up last */
  int32_t strip[4];
} Source;

static void find_source(const FlipGrid *grid, const int32_t low[3], const float upper[3], Source *source) {
  for (int row = 0; row < 4; row++) {
    float weight = (row & 1 ? upper[1] : 1 - upper[1]) * (row & 2 ? upper[2] : 1 - upper[2]);
    for (int x = 0; x < 2; x++) {
      uint64_t key = strip_key(low[0] + x, low[1] + (row & 1), low[2] + (row >> 1));
      if (source->key[row] != key) {
        source->key[row] = key;
        source->strip[row] = grid_find(grid, key);
      }
      source->cell[2 * row + x] = source->strip[row] * STRIP + ((low[0] + x) & (STRIP - 1));
      source->weight[2 * row + x] = weight * (x ? upper[0] : 1 - upper[0]);
    }
  }
}

/* Cells that come from different places, one by one. */
static void advect_cells(const WarmStart *warm, int32_t strip, const int32_t place[3], float back[3][STRIP],
                         float upper[3][STRIP]) {
  Source source = {.key = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
  for (int lane = 0; lane < STRIP; lane++) {
    int32_t low[3];
    for (int a = 0; a < 3; a++) low[a] = place[a] + (a == 0 ? lane : 0) + (int32_t)back[a][lane];
    find_source(warm->from_grid, low, (const float[3]){upper[0][lane], upper[1][lane], upper[2][lane]}, &source);
    for (int k = 0; k < STRESSES; k++) {
      const float *stress = warm->from->stress[k];
      float sum = 0;
      for (int n = 0; n < 8; n++) sum += source.weight[n] * stress[source.cell[n]];
      warm->work->kept->stress[k][(int64_t)strip * STRIP + lane] = sum;
    }
  }
}

/* The frictional stress of a strip, from where it was. */
static void advect_stress(const WarmStart *warm, int32_t strip, float displacement[3][STRIP]) {
  const FlipGrid *grid = warm->from_grid;
  int32_t place[3];
  float back[3][STRIP];
  StripSource source;
  bool together = true;
  strip_place(warm->work->grid->key[strip], place);
  for (int a = 0; a < 3; a++)
    for (int lane = 0; lane < STRIP; lane++) {
      back[a][lane] = floorf(-displacement[a][lane]);
      source.upper[a][lane] = -displacement[a][lane] - back[a][lane];
      together = together && back[a][lane] == back[a][0];
    }
  if (!together || !(back[0][0] == 0 || back[0][0] == -1)) {
    advect_cells(warm, strip, place, back, source.upper);
    return;
  }
  source.behind = back[0][0] == 0;
  for (int row = 0; row < 4; row++) {
    uint64_t key =
        strip_key(place[0], place[1] + (int32_t)back[1][0] + (row & 1), place[2] + (int32_t)back[2][0] + (row >> 1));
    int32_t at = source.at[row] = grid_find(grid, key);
    source.beside[row] =
        at ? grid->near[at][source.behind ? X_HIGH : X_LOW] : grid_find(grid, source.behind ? key + 1 : key - 1);
  }
  KERNEL_CALL(warm->work->core, flip_advect_stress)
  (&source, warm->from->stress, warm->work->kept->stress, (int64_t)strip * STRIP);
}

static void copy_strip(const WarmStart *warm, int32_t strip, int32_t old) {
  FlipKept *kept = warm->work->kept;
  int64_t to = (int64_t)strip * STRIP, from = (int64_t)old * STRIP;
  float displacement[3][STRIP];
  bool moves = warm->count > 0 && grid_any_round(warm->from_grid, warm->stressed, old) &&
               strip_displacement(warm, strip, displacement);
  memcpy(kept->pressure + to, warm->from->pressure + from, sizeof(float) * STRIP);
  memcpy(kept->correction_potential + to, warm->from->correction_potential + from, sizeof(float) * STRIP);
  kept->record[strip] = warm->from->record[old];
  if (moves) advect_stress(warm, strip, displacement);
  else
    for (int k = 0; k < STRESSES; k++)
      memcpy(kept->stress[k] + to, warm->from->stress[k] + from, sizeof(float) * STRIP);
}

static void new_strip(FlipKept *kept, int32_t strip) {
  int64_t to = (int64_t)strip * STRIP;
  memset(kept->pressure + to, 0, sizeof(float) * STRIP);
  memset(kept->correction_potential + to, 0, sizeof(float) * STRIP);
  for (int k = 0; k < STRESSES; k++) memset(kept->stress[k] + to, 0, sizeof(float) * STRIP);
  kept->record[strip] = RECORD_UNKNOWN;
}

/* Both grids have their strips in the order of the keys. */
static void strips_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const WarmStart *warm = context;
  const FlipGrid *from = warm->from_grid;
  const uint64_t *key = warm->work->grid->key;
  int32_t old = 1;
  if (from->strips > 1) old += (int32_t)strip_keys_below(from->key + 1, from->strips - 1, key[b]);
  for (int32_t strip = (int32_t)b; strip < (int32_t)e; strip++) {
    while (old < from->strips && from->key[old] < key[strip]) old++;
    if (old < from->strips && from->key[old] == key[strip]) copy_strip(warm, strip, old);
    else new_strip(warm->work->kept, strip);
  }
}

Status flip_warm_start(FlipWork *work, const FlipGrid *grid, const FlipKept *kept) {
  WarmStart warm = {.work = work, .from_grid = grid, .from = kept};
  int mark = scratch_mark(work->step->scratch);
  TRY(list_moving(&warm));
  TRY(scratch_take(work->core, work->step->scratch, &warm.stressed, grid->strips + 1, "strips"));
  warm.stressed[0] = 0;
  if (warm.count > 0) parallel_for(work->core, 1, grid->strips, STRIP_CHUNK, stressed_chunk, &warm);
  new_strip(work->kept, 0);
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, strips_chunk, &warm);
  scratch_release(work->core, work->step->scratch, mark);
  return SCREE_OK;
}
