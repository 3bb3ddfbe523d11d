/* The loops over pairs of sph, eight particles side by side. */
#include "methods/sph/sph_kernels.h"

#include "core/rng.h"
#include "methods/sph/spline.h"

#define INVERSE_PI 0.318309886f
/* Two parcels nearer than this share of the spacing have no direction of their own. */
#define COINCIDENT 1e-4f
/* What pushes such a pair apart, as the kernel's slope does at q = 0.15. */
#define COINCIDENT_PUSH 0.13f

/* Four floats of each neighbour, as four wide values; where a row has `wide` times four floats, from `base` on. */
WIDE_INLINE void gather_rows(const float *base, size_t wide, const uint32_t *row, Wide *x, Wide *y, Wide *z, Wide *w) {
  wide_turn4(wide_rows(base + wide * row[0], base + wide * row[4]),
             wide_rows(base + wide * row[1], base + wide * row[5]),
             wide_rows(base + wide * row[2], base + wide * row[6]),
             wide_rows(base + wide * row[3], base + wide * row[7]), x, y, z, w);
}
/* The same of eight rows that follow each other. */
WIDE_INLINE void turn_rows(const float *base, size_t wide, Wide *x, Wide *y, Wide *z, Wide *w) {
  static const uint32_t row[LANES] = {0, 4, 8, 12, 16, 20, 24, 28};
  gather_rows(base, wide, row, x, y, z, w);
}

/* One float of each neighbour. */
WIDE_INLINE Wide gather_every(const float *base, size_t wide, const uint32_t *row) {
  Wide out;
  for (int k = 0; k < LANES; k++) out[k] = base[wide * row[k]];
  return out;
}

/* Slots are read one after the other and from farther away than the gathered rows; the processor alone does not ask for
 * them early enough. Asked for so many slots ahead they come at nearly twice the rate. */
#define SLOTS_AHEAD 48

/* A slot's gradients, in its steps. */
WIDE_INLINE void load_gradient(const SphSlot *slot, Wide *x, Wide *y, Wide *z) {
  const char *ahead = (const char *)(slot + SLOTS_AHEAD);
  __builtin_prefetch(ahead);
  __builtin_prefetch(ahead + 64);
#if defined(__AVX2__) /* which the compiler would take apart */
  *x = (Wide)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)slot->x)));
  *y = (Wide)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)slot->y)));
  *z = (Wide)_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)slot->z)));
#else
  typedef int16_t Narrow __attribute__((vector_size(16), aligned(2), may_alias));
  *x = __builtin_convertvector(*(const Narrow *)slot->x, Wide);
  *y = __builtin_convertvector(*(const Narrow *)slot->y, Wide);
  *z = __builtin_convertvector(*(const Narrow *)slot->z, Wide);
#endif
}
/* Nearest whole number, the same for both signs. */
WIDE_INLINE WideInt round_evenly(Wide a) {
  Wide half = wide_set(0.5f);
  return __builtin_convertvector(a + wide_select(wide_less(a, wide_set(0)), -half, half), WideInt);
}

/* ---- pairs ---- */

/* What one particle's row adds up to. */
typedef struct RowSums {
  Wide density, x, y, z, square;
} RowSums;

/* Coincident parcels: some direction, opposite for the two of a pair. */
static void part_coincident(const SphWork *work, int64_t i, int32_t j, int32_t gradient[3]) {
  const uint32_t *id = work->step->state->particles.id;
  uint32_t low = id[i] < id[j] ? id[i] : id[j], high = id[i] < id[j] ? id[j] : id[i];
  uint64_t bits = rng_bits(low, high, 0, RNG_TEST);
  float direction[3], square = 0;
  for (int c = 0; c < 3; c++, bits = rng_mix(bits)) {
    direction[c] = 2 * rng_unitf(bits) - 1;
    square += direction[c] * direction[c];
  }
  float size = COINCIDENT_PUSH * SPH_GRADIENT_STEPS / __builtin_sqrtf(square + 1e-6f);
  if (id[i] < id[j]) size = -size;
  for (int c = 0; c < 3; c++) gradient[c] = (int32_t)(size * direction[c]);
}

/* Eight neighbours of particle i: those within the support are put into the lane's next slots. */
WIDE_INLINE int add_eight(const SphWork *work, int64_t i, int lane, const int32_t *others, int valid, SphSlot *slots,
                          RowSums *sums) {
  const float *own = work->place[i];
  Wide x, y, z, weight, inverse = wide_set(1 / work->spacing);
  wide_gather4((const float(*)[4])work->place, others, &x, &y, &z, &weight);
  x = wide_set(own[0]) - x, y = wide_set(own[1]) - y, z = wide_set(own[2]) - z;
  Wide q = wide_sqrt(x * x + y * y + z * z) * inverse;
  unsigned bits = wide_bits(wide_less(q, wide_set((float)SPLINE_SUPPORT))) & ((1u << valid) - 1);
  if (!bits) return 0;
  Wide u = wide_max(wide_set(2) - q, wide_set(0)), one = wide_set(1);
  WideInt inner = wide_less(q, one);
  Wide shape = wide_select(inner, one + q * q * (wide_set(0.75f) * q - wide_set(1.5f)), wide_set(0.25f) * u * u * u);
  Wide slope = wide_select(inner, wide_set(2.25f) * q - wide_set(3), wide_set(-0.75f) * u * u / wide_max(q, one));
  slope = slope * wide_set(INVERSE_PI * SPH_GRADIENT_STEPS) * inverse;
  int32_t at[3][LANES] __attribute__((aligned(32)));
  *(WideInt *)at[0] = round_evenly(slope * x);
  *(WideInt *)at[1] = round_evenly(slope * y);
  *(WideInt *)at[2] = round_evenly(slope * z);
  unsigned coincident = wide_bits(wide_less(q, wide_set(COINCIDENT))) & bits;
  for (; coincident; coincident &= coincident - 1) {
    int k = __builtin_ctz(coincident);
    int32_t gradient[3];
    part_coincident(work, i, others[k], gradient);
    for (int c = 0; c < 3; c++) at[c][k] = gradient[c];
  }
  int found = 0;
  for (unsigned rest = bits; rest; rest &= rest - 1) {
    int k = __builtin_ctz(rest);
    SphSlot *slot = slots + found++;
    slot->row[lane] = 4 * (uint32_t)others[k];
    slot->x[lane] = (int16_t)at[0][k];
    slot->y[lane] = (int16_t)at[1][k];
    slot->z[lane] = (int16_t)at[2][k];
  }
  WideInt used;
  for (int k = 0; k < LANES; k++) used[k] = -(int32_t)(bits >> k & 1);
  Wide gx = __builtin_convertvector(*(WideInt *)at[0] & used, Wide);
  Wide gy = __builtin_convertvector(*(WideInt *)at[1] & used, Wide);
  Wide gz = __builtin_convertvector(*(WideInt *)at[2] & used, Wide);
  sums->density += wide_select(used, shape, wide_set(0));
  sums->x += gx;
  sums->y += gy;
  sums->z += gz;
  sums->square += (gx * gx + gy * gy + gz * gz) * weight;
  return found;
}

static int row_pairs(const SphWork *work, int64_t i, int lane, SphSlot *slots) {
  const NeighborList *list = &work->step->state->contacts.particles.list;
  int64_t begin = list->start[i], end = list->start[i + 1];
  int found = 0;
  RowSums sums = {wide_set(0), wide_set(0), wide_set(0), wide_set(0), wide_set(0)};
  int64_t k = begin;
  for (; k + LANES <= end; k += LANES) found += add_eight(work, i, lane, list->index + k, LANES, slots + found, &sums);
  if (k < end) {
    int32_t tail[LANES];
    for (int c = 0; c < LANES; c++) tail[c] = k + c < end ? list->index[k + c] : (int32_t)i;
    found += add_eight(work, i, lane, tail, (int)(end - k), slots + found, &sums);
  }
  work->density[i] = (1 + wide_sum(sums.density)) * INVERSE_PI;
  float step = work->gradient_step;
  work->sum[0][i] = step * wide_sum(sums.x);
  work->sum[1][i] = step * wide_sum(sums.y);
  work->sum[2][i] = step * wide_sum(sums.z);
  work->square[i] = step * step * wide_sum(sums.square);
  return found;
}

void KERNEL(sph_pair_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  for (int64_t g = b; g < e; g++) {
    SphSlot *slots = work->slots + work->slice[g];
    int found[LANES], most = 0;
    for (int lane = 0; lane < LANES; lane++) {
      int64_t i = g * LANES + lane;
      found[lane] = i < work->count ? row_pairs(work, i, lane, slots) : 0;
      if (found[lane] > most) most = found[lane];
    }
    for (int lane = 0; lane < LANES; lane++)
      for (int k = found[lane]; k < most; k++) {
        int64_t i = g * LANES + lane;
        slots[k].row[lane] = 4 * (uint32_t)(i < work->count ? i : work->count - 1);
        slots[k].x[lane] = slots[k].y[lane] = slots[k].z[lane] = 0;
      }
    work->width[g] = most;
  }
}

/* ---- velocity under stress: Eq. 13 to 16 with the sign of the divergence of a stress ---- */

void KERNEL(sph_velocity_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  const float *stress = work->stress[0];
  for (int64_t g = b; g < e; g++) {
    const SphSlot *slot = work->slots + work->slice[g], *end = slot + work->width[g];
    Wide fx = wide_set(0), fy = wide_set(0), fz = wide_set(0), step = wide_set(work->gradient_step);
    Wide xx, yy, zz, xy, xz, yz, gx, gy, gz, rest, more;
    for (; slot < end; slot++) {
      load_gradient(slot, &gx, &gy, &gz);
      gather_rows(stress, 2, slot->row, &xx, &yy, &zz, &xy);
      gather_rows(stress + 4, 2, slot->row, &xz, &yz, &rest, &more);
      fx += xx * gx + xy * gy + xz * gz;
      fy += xy * gx + yy * gy + yz * gz;
      fz += xz * gx + yz * gy + zz * gz;
    }
    int64_t i = g * LANES;
    turn_rows(stress + 8 * i, 2, &xx, &yy, &zz, &xy);
    turn_rows(stress + 8 * i + 4, 2, &xz, &yz, &rest, &more);
    Wide sx = wide_load(work->sum[0] + i), sy = wide_load(work->sum[1] + i), sz = wide_load(work->sum[2] + i);
    fx = step * fx + (xx * sx + xy * sy + xz * sz);
    fy = step * fy + (xy * sx + yy * sy + yz * sz);
    fz = step * fz + (xz * sx + yz * sy + zz * sz);
    Wide mobility = wide_load(work->mobility + i);
    float v[3][LANES] __attribute__((aligned(32)));
    wide_store(v[0], wide_load(work->start[0] + i) + mobility * fx + wide_load(work->wall_gain[0] + i));
    wide_store(v[1], wide_load(work->start[1] + i) + mobility * fy + wide_load(work->wall_gain[1] + i));
    wide_store(v[2], wide_load(work->start[2] + i) + mobility * fz + wide_load(work->wall_gain[2] + i));
    for (int k = 0; k < LANES; k++)
      for (int c = 0; c < 3; c++) work->velocity[i + k][c] = v[c][k];
  }
}

/* ---- what presses on a parcel, and so how much friction it bears: Eq. 12 ---- */

void KERNEL(sph_bound_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  for (int64_t g = b; g < e; g++) {
    const SphSlot *slot = work->slots + work->slice[g], *end = slot + work->width[g];
    Wide load = wide_set(0), around = load, gx, gy, gz;
    for (; slot < end; slot++) {
      load_gradient(slot, &gx, &gy, &gz);
      Wide length = wide_sqrt(gx * gx + gy * gy + gz * gz);
      load += gather_every(work->stress[0] + STRESS_PRESSURE, 2, slot->row) * length;
      around += length;
    }
    int64_t i = g * LANES;
    Wide walls = wide_load(work->wall_around + i);
    load += walls * wide_load(work->pressure + i);
    around += walls + wide_load(work->none_around + i);
    Wide pressed = load / wide_max(around, wide_set(1));
    wide_store(work->bound + i, wide_load(work->friction + i) * pressed + wide_load(work->cohesion + i));
  }
}

/* ---- stress from strain ---- */

/* Of the velocity gradient (Eq. 6) only the symmetric part is needed: six sums, which fit into registers where nine do
 * not. Off the diagonal the two parts are added, not halved. */
enum { XX, YY, ZZ, XY, XZ, YZ, GRADIENT };

WIDE_INLINE void velocity_gradient(const SphWork *work, const float (*velocity)[4], int64_t g, Wide l[GRADIENT]) {
  const SphSlot *slot = work->slots + work->slice[g], *end = slot + work->width[g];
  Wide xx = wide_set(0), yy = xx, zz = xx, xy = xx, xz = xx, yz = xx, x, y, z, gx, gy, gz, rest;
  for (; slot < end; slot++) {
    load_gradient(slot, &gx, &gy, &gz);
    gather_rows(velocity[0], 1, slot->row, &x, &y, &z, &rest);
    xx += x * gx, yy += y * gy, zz += z * gz;
    xy += x * gy + y * gx, xz += x * gz + z * gx, yz += y * gz + z * gy;
  }
  int64_t i = g * LANES;
  turn_rows(velocity[i], 1, &x, &y, &z, &rest);
  Wide sx = wide_load(work->sum[0] + i), sy = wide_load(work->sum[1] + i), sz = wide_load(work->sum[2] + i);
  Wide step = wide_set(work->gradient_step);
  l[XX] = step * xx - x * sx, l[YY] = step * yy - y * sy, l[ZZ] = step * zz - z * sz;
  l[XY] = step * xy - (x * sy + y * sx), l[XZ] = step * xz - (x * sz + z * sx), l[YZ] = step * yz - (y * sz + z * sy);
}

/* Speed at which a particle leaves a wall. */
WIDE_INLINE float leaving_speed(const SphWork *work, const SphWall *wall) {
  const float *v = work->velocity[wall->particle], *n = wall->normal, *u = wall->velocity;
  return (v[0] - u[0]) * n[0] + (v[1] - u[1]) * n[1] + (v[2] - u[2]) * n[2];
}

/* A wall resists along its normal: only that part of the velocity gradient is its. */
static void add_walls(const SphWork *work, int64_t i, int lane, float (*l)[LANES]) {
  for (int32_t k = work->wall_start[i]; k < work->wall_start[i + 1]; k++) {
    const SphWall *wall = &work->walls[k];
    const float *n = wall->normal;
    float rate = leaving_speed(work, wall) * wall->slope;
    l[XX][lane] += rate * n[0] * n[0], l[YY][lane] += rate * n[1] * n[1], l[ZZ][lane] += rate * n[2] * n[2];
    rate *= 2;
    l[XY][lane] += rate * n[0] * n[1], l[XZ][lane] += rate * n[0] * n[2], l[YZ][lane] += rate * n[1] * n[2];
  }
}

/* Forces of the walls under the new stress: the normal stress there, and Coulomb friction that stops the slip. */
static void push_walls(SphWork *work, int64_t i, float pressure, const float s[6]) {
  float force[3] = {0, 0, 0};
  for (int32_t k = work->wall_start[i]; k < work->wall_start[i + 1]; k++) {
    SphWall *wall = &work->walls[k];
    const float *n = wall->normal, *v = work->velocity[i], *u = wall->velocity;
    float across = s[0] * n[0] * n[0] + s[1] * n[1] * n[1] + s[2] * n[2] * n[2] +
                   2 * (s[3] * n[0] * n[1] + s[4] * n[0] * n[2] + s[5] * n[1] * n[2]);
    float normal = pressure - across, leaving = leaving_speed(work, wall);
    wall->push = work->volume * wall->slope * (normal > 0 ? normal : 0);
    float square = 0, along = 0, limit = wall->friction * wall->push;
    for (int c = 0; c < 3; c++) {
      wall->grip[c] -= wall->grip_gain * (v[c] - u[c] - leaving * n[c]);
      along += wall->grip[c] * n[c];
    }
    for (int c = 0; c < 3; c++) {
      wall->grip[c] -= along * n[c];
      square += wall->grip[c] * wall->grip[c];
    }
    float scale = square > limit * limit ? limit / __builtin_sqrtf(square) : 1;
    for (int c = 0; c < 3; c++) {
      wall->grip[c] *= scale;
      force[c] += wall->push * n[c] + wall->grip[c];
    }
  }
  float gain = work->mobility[i] / work->volume;
  for (int c = 0; c < 3; c++) work->wall_gain[c][i] = gain * force[c];
}

/* How far a pass is from the solution, per particle. */
typedef struct Residual {
  Wide compression; /* of the predicted density */
  Wide expansion;   /* below rest density although pressed: too much pressure */
  Wide shear;       /* square of the strain of the step that friction should stop and does not yet */
  Wide flowing;     /* square of the strain of the step in all */
} Residual;

/* Eq. 20 with the clamp, Eq. 9 to 12: the relaxed correction, projected back onto the yield surface. */
WIDE_INLINE void update_stress(SphWork *work, int64_t i, const Wide l[GRADIENT], const Wide e[GRADIENT],
                               Residual *residual) {
  Wide zero = wide_set(0), half = wide_set(0.5f);
  Wide trace = l[XX] + l[YY] + l[ZZ];
  Wide error = wide_load(work->density + i) - wide_set(work->dt) * trace - wide_set(1);
  Wide before = wide_load(work->pressure + i), grow = wide_load(work->pressure_gain + i);
  Wide pressure = wide_max(before + grow * error, zero);
  residual->compression += wide_max(error, work->absolute ? zero - error : zero);
  residual->expansion += wide_max(before - pressure, zero) / wide_max(grow, wide_set(1e-30f));
  wide_store(work->pressure + i, pressure);
  Wide left = (e[XX] + e[YY] + e[ZZ]) * wide_set(work->trace_share);
  Wide strain[6] = {e[XX] - left, e[YY] - left, e[ZZ] - left, e[XY] * half, e[XZ] * half, e[YZ] * half};
  Wide s[6], gain = wide_load(work->shear_gain + i);
  for (int c = 0; c < 6; c++)
    s[c] = wide_load(work->shear[c] + i) + gain * (strain[c] * wide_set(work->shear_weight[c]));
  Wide square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + wide_set(2) * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]);
  Wide scale = wide_min(wide_load(work->bound + i) / wide_sqrt(wide_max(square, wide_set(1e-30f))), wide_set(1));
  Wide change = zero;
  for (int c = 0; c < 6; c++) {
    Wide off = s[c] * scale - wide_load(work->shear[c] + i);
    change += off * off * wide_set(c < 3 ? 1 : 2);
    wide_store(work->shear[c] + i, s[c] * scale);
  }
  Wide rate = strain[0] * strain[0] + strain[1] * strain[1] + strain[2] * strain[2] +
              wide_set(2) * (strain[3] * strain[3] + strain[4] * strain[4] + strain[5] * strain[5]);
  Wide stopped = wide_set(work->dt) / wide_max(gain, wide_set(1e-30f));
  residual->flowing += rate * wide_set(work->dt * work->dt);
  residual->shear += change * stopped * stopped;
}

WIDE_INLINE void store_stress(SphWork *work, int64_t i) {
  for (int k = 0; k < LANES; k++) {
    float *row = work->stress[i + k], p = work->pressure[i + k];
    for (int c = 0; c < 3; c++) row[c] = work->shear[c][i + k] - p;
    for (int c = 3; c < 6; c++) row[c] = work->shear[c][i + k];
    row[STRESS_PRESSURE] = p;
  }
}

WIDE_INLINE void walls_before(const SphWork *work, int64_t i, Wide l[GRADIENT]) {
  float parts[GRADIENT][LANES] __attribute__((aligned(32)));
  for (int c = 0; c < GRADIENT; c++) wide_store(parts[c], l[c]);
  for (int k = 0; k < LANES && i + k < work->count; k++) add_walls(work, i + k, k, parts);
  for (int c = 0; c < GRADIENT; c++) l[c] = wide_load(parts[c]);
}

void KERNEL(sph_stress_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  Residual residual = {wide_set(0), wide_set(0), wide_set(0), wide_set(0)};
  for (int64_t g = b; g < e; g++) {
    int64_t i = g * LANES, last = i + LANES < work->count ? i + LANES : work->count;
    bool walls = work->wall_start[last] > work->wall_start[i];
    Wide l[GRADIENT], strain[GRADIENT];
    velocity_gradient(work, (const float(*)[4])work->velocity, g, l);
    if (walls) walls_before(work, i, l);
    for (int c = 0; c < GRADIENT; c++) strain[c] = l[c];
    if (work->strained) velocity_gradient(work, work->strained, g, strain);
    update_stress(work, i, l, strain, &residual);
    if (walls)
      for (int64_t k = i; k < last; k++) {
        if (work->wall_start[k] == work->wall_start[k + 1]) continue;
        float s[6];
        for (int c = 0; c < 6; c++) s[c] = work->shear[c][k];
        push_walls(work, k, work->pressure[k], s);
      }
    store_stress(work, i);
  }
  double *sums = work->residual[b / SPH_GROUP_CHUNK];
  sums[RESIDUAL_COMPRESSION] = (double)wide_sum(residual.compression);
  sums[RESIDUAL_EXPANSION] = (double)wide_sum(residual.expansion);
  sums[RESIDUAL_SHEAR] = (double)wide_sum(residual.shear);
  sums[FLOWING] = (double)wide_sum(residual.flowing);
}

/* ---- collisions ---- */

void KERNEL(sph_collision_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  const float(*velocity)[4] = (const float(*)[4])work->velocity;
  Wide zero = wide_set(0), tiny = wide_set(1e-20f);
  Wide share = wide_set(2 * work->collision / SPH_GRADIENT_STEPS);
  for (int64_t g = b; g < e; g++) {
    const SphSlot *slot = work->slots + work->slice[g], *end = slot + work->width[g];
    int64_t i = g * LANES;
    Wide vx, vy, vz, mass, x, y, z, gx, gy, gz, other, lost_x = zero, lost_y = zero, lost_z = zero;
    turn_rows(velocity[i], 1, &vx, &vy, &vz, &mass);
    for (; slot < end; slot++) {
      load_gradient(slot, &gx, &gy, &gz);
      gather_rows(velocity[0], 1, slot->row, &x, &y, &z, &other);
      Wide rate = (x - vx) * gx + (y - vy) * gy + (z - vz) * gz;
      rate = wide_min(rate, zero) / wide_sqrt(gx * gx + gy * gy + gz * gz + tiny);
      rate *= other / (mass + other + tiny);
      lost_x += rate * gx, lost_y += rate * gy, lost_z += rate * gz;
    }
    wide_store(work->start[0] + i, wide_load(work->start[0] + i) + share * lost_x);
    wide_store(work->start[1] + i, wide_load(work->start[1] + i) + share * lost_y);
    wide_store(work->start[2] + i, wide_load(work->start[2] + i) + share * lost_z);
  }
}

/* ---- air ---- */

void KERNEL(sph_occlusion_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphOcclusion *air = context;
  const SphWork *work = air->work;
  for (int64_t g = b; g < e; g++) {
    const SphSlot *slot = work->slots + work->slice[g], *end = slot + work->width[g];
    int64_t i = g * LANES;
    Wide x = wide_load(air->stream[0] + i), y = wide_load(air->stream[1] + i), z = wide_load(air->stream[2] + i);
    Wide speed = wide_sqrt(x * x + y * y + z * z), shield = wide_set(0), tiny = wide_set(1e-20f), gx, gy, gz;
    for (; slot < end; slot++) {
      load_gradient(slot, &gx, &gy, &gz);
      /* The gradient points at the neighbour; one that stands upstream shields. */
      Wide against = wide_set(0) - (x * gx + y * gy + z * gz);
      shield = wide_max(shield, against / wide_sqrt(gx * gx + gy * gy + gz * gz + tiny));
    }
    Wide open = wide_set(1) - shield / wide_max(speed, wide_set(1e-12f));
    wide_store(air->open + i, wide_max(open, wide_set(0)));
  }
}
