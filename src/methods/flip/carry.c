/* What the solves begin with: stresses and distances of the last step.
 *
 * They lie at the same cells, but for the frictional stress near solids that move: it goes with them. Friction is found
 * in few steps from where it begins; left behind by half a cell, the stress before a ball that drives into sand would
 * never be found, and the ball would come a tenth deeper. (The pressure finds its way in every solve.) */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/work.h"

/* How far from a solid, in cells, the stress still moves with it; less and less on the way there. */
#define CARRY_REACH 20
/* Ways below, in cells, are none. */
#define WAY_LEAST 0.06f

typedef struct Carrier {
  const Solid *solid;
  double extent; /* of its box, from its centre */
} Carrier;

typedef struct Carry {
  FlipWork *work;
  const FlipGrid *from_grid;
  const FlipKept *from;
  Carrier *carriers;
  int32_t count;
  uint8_t *stressed; /* per strip of the last step, a bit a lane: there is stress */
} Carry;

static bool is_carrier(const Solid *solid) {
  return solid->motion != MOTION_FIXED && solid->shape.kind != SCREE_SHAPE_PLANE &&
         (vec3_length(solid->velocity) > 0 || vec3_length(solid->spin) > 0);
}

static Status list_carriers(Carry *carry) {
  FlipWork *work = carry->work;
  const Solids *solids = &work->state->solids;
  TRY(scratch_take(work->core, work->step->scratch, &carry->carriers, solids->count + 1, "solids"));
  for (int32_t k = 0; k < solids->count; k++) {
    const Solid *solid = &solids->items[k];
    if (!is_carrier(solid)) continue;
    Vec3 size = vec3_sub(solid->shape.bounds_high, solid->shape.bounds_low);
    carry->carriers[carry->count++] = (Carrier){solid, 0.5 * fmax(size.x, fmax(size.y, size.z))};
  }
  return SCREE_OK;
}

static void stressed_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Carry *carry = context;
  for (int64_t strip = b; strip < e; strip++) {
    uint32_t lanes = 0;
    for (int k = 0; k < STRESSES; k++)
      for (int lane = 0; lane < STRIP; lane++)
        lanes |= (carry->from->stress[k][strip * STRIP + lane] != 0 ? 1u : 0u) << lane;
    carry->stressed[strip] = (uint8_t)lanes;
  }
}

/* How far, in cells, the stress goes in the step at the middles of a strip's cells; false: nowhere worth it. */
static bool strip_way(const Carry *carry, int32_t strip, float way[STRIP][3]) {
  const FlipWork *work = carry->work;
  double cell = work->grid->cell, reach = CARRY_REACH * cell, per = work->dt / cell;
  Vec3 first = vec3_add(strip_origin(work, strip), vec3(0.5 * cell, 0.5 * cell, 0.5 * cell));
  float longest = 0, most[STRIP] = {0};
  memset(way, 0, sizeof(float[STRIP][3]));
  for (int32_t k = 0; k < carry->count; k++) {
    const Solid *solid = carry->carriers[k].solid;
    double extent = carry->carriers[k].extent;
    Vec3 from = vec3_sub(first, solid->center), middle = vec3(from.x + 0.5 * (STRIP - 1) * cell, from.y, from.z);
    if (vec3_length(middle) > extent + reach + 0.5 * STRIP * cell) continue;
    /* The velocity of a rigid body goes linearly along the strip. */
    Vec3 v = vec3_scale(solid_velocity_at(solid, first), per),
         more = vec3(0, solid->spin.z * per * cell, -solid->spin.y * per * cell);
    double across = from.y * from.y + from.z * from.z;
    for (int lane = 0; lane < STRIP; lane++) {
      double x = from.x + lane * cell, far = sqrt(x * x + across) - extent;
      float weight = far < 0 ? 1 : (float)(1 - far / reach);
      if (!(weight > most[lane])) continue;
      most[lane] = weight;
      way[lane][0] = weight * (float)v.x;
      way[lane][1] = weight * (float)(v.y + lane * more.y);
      way[lane][2] = weight * (float)(v.z + lane * more.z);
      for (int a = 0; a < 3; a++) longest = fmaxf(longest, fabsf(way[lane][a]));
    }
  }
  return longest > WAY_LEAST;
}

/* Cells and weights whose stress comes to a cell. */
typedef struct Source {
  int32_t cell[8];
  float weight[8];
  uint64_t key[4]; /* of the rows that were looked up last */
  int32_t strip[4];
} Source;

static void find_source(const FlipGrid *grid, const int32_t place[3], const float way[3], Source *source) {
  int32_t low[3];
  float upper[3];
  for (int a = 0; a < 3; a++) {
    float back = floorf(-way[a]);
    low[a] = place[a] + (int32_t)back;
    upper[a] = -way[a] - back;
  }
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

/* The frictional stress of a strip, from where it was. */
static void carry_stress(const Carry *carry, int32_t strip, float way[STRIP][3]) {
  int32_t place[3];
  strip_place(carry->work->grid->key[strip], place);
  Source source = {.key = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
  for (int lane = 0; lane < STRIP; lane++) {
    const int32_t at[3] = {place[0] + lane, place[1], place[2]};
    find_source(carry->from_grid, at, way[lane], &source);
    for (int k = 0; k < STRESSES; k++) {
      const float *stress = carry->from->stress[k];
      float sum = 0;
      for (int n = 0; n < 8; n++) sum += source.weight[n] * stress[source.cell[n]];
      carry->work->kept->stress[k][(int64_t)strip * STRIP + lane] = sum;
    }
  }
}

/* New strips have none. */
static void carry_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Carry *carry = context;
  FlipKept *kept = carry->work->kept;
  for (int64_t strip = b; strip < e; strip++) {
    int64_t to = strip * STRIP;
    int32_t old = strip > 0 ? grid_find(carry->from_grid, carry->work->grid->key[strip]) : 0;
    float way[STRIP][3];
    bool moves = carry->count > 0 && old > 0 && grid_any_round(carry->from_grid, carry->stressed, old) &&
                 strip_way(carry, (int32_t)strip, way);
    if (old > 0) {
      int64_t from = (int64_t)old * STRIP;
      memcpy(kept->pressure + to, carry->from->pressure + from, sizeof(float) * STRIP);
      memcpy(kept->shift + to, carry->from->shift + from, sizeof(float) * STRIP);
      for (int k = 0; k < STRESSES && !moves; k++)
        memcpy(kept->stress[k] + to, carry->from->stress[k] + from, sizeof(float) * STRIP);
      kept->solids[strip] = carry->from->solids[old];
    } else {
      memset(kept->pressure + to, 0, sizeof(float) * STRIP);
      memset(kept->shift + to, 0, sizeof(float) * STRIP);
      for (int k = 0; k < STRESSES; k++) memset(kept->stress[k] + to, 0, sizeof(float) * STRIP);
      kept->solids[strip].known = false;
    }
    if (moves) carry_stress(carry, (int32_t)strip, way);
  }
}

Status flip_carry(FlipWork *work, const FlipGrid *grid, const FlipKept *kept) {
  Carry carry = {.work = work, .from_grid = grid, .from = kept};
  int mark = scratch_mark(work->step->scratch);
  TRY(list_carriers(&carry));
  TRY(scratch_take(work->core, work->step->scratch, &carry.stressed, grid->strips + 1, "strips"));
  carry.stressed[0] = 0;
  if (carry.count > 0) parallel_for(work->core, 1, grid->strips, STRIP_CHUNK, stressed_chunk, &carry);
  parallel_for(work->core, 0, work->grid->strips, STRIP_CHUNK, carry_chunk, &carry);
  scratch_release(work->core, work->step->scratch, mark);
  return SCREE_OK;
}
