/* The passes of the iteration that find pressure and friction. */
#include "methods/sph/pressure_law.h"
#include "methods/sph/slots.h"
#include "methods/sph/sph_kernels.h"
#include "methods/sph/stress_law.h"

void KERNEL(sph_bound_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  SphShear *shear = &work->shear;
  for (int64_t g = b; g < e; g++) {
    const SphSlot *slot = work->pairs.slots + work->pairs.slot_start[g], *end = slot + work->pairs.width[g];
    Real load = real(0), weight = real(0);
    for (; slot < end; slot++) {
      LaneVec3 gradient = load_gradient(slot);
      Real length = real_sqrt(vec_dot(gradient, gradient));
      load += gather_every(work->motion.stress[0] + STRESS_PRESSURE, 2, slot->row) * length;
      weight += length;
    }
    int64_t i = g * LANES;
    Real confinement = stress_confinement(load, weight, wide_load(work->pressure.pressure + i),
                                          wide_load(shear->wall_weight + i), wide_load(shear->surface_weight + i));
    wide_store(shear->bound + i,
               stress_bound(wide_load(shear->friction + i), confinement, wide_load(shear->cohesion + i)));
  }
}

/* Eq. 6 over the neighbours of a slice. */
WIDE_INLINE LaneSym velocity_gradient(const SphWork *work, const float (*velocity)[4], int64_t g) {
  const SphSlot *slot = work->pairs.slots + work->pairs.slot_start[g], *end = slot + work->pairs.width[g];
  LaneSym sum = sym_zero();
  LaneVec3 v;
  Real unused;
  for (; slot < end; slot++) {
    LaneVec3 gradient = load_gradient(slot);
    gather_rows(velocity[0], 1, slot->row, &v.x, &v.y, &v.z, &unused);
    sum = sym_add(sum, gradient_term(v, gradient));
  }
  int64_t i = g * LANES;
  turn_rows(velocity[i], 1, &v.x, &v.y, &v.z, &unused);
  return gradient_total(sum, work->pairs.gradient_step, v, load_vec(work->pairs.sum, i));
}

WIDE_INLINE LaneSym load_sym(float *const parts[6], int64_t i) {
  return sym_make(wide_load(parts[0] + i), wide_load(parts[1] + i), wide_load(parts[2] + i), wide_load(parts[3] + i),
                  wide_load(parts[4] + i), wide_load(parts[5] + i));
}
WIDE_INLINE void store_sym(float *const parts[6], int64_t i, LaneSym s) {
  wide_store(parts[0] + i, s.xx);
  wide_store(parts[1] + i, s.yy);
  wide_store(parts[2] + i, s.zz);
  wide_store(parts[3] + i, s.xy);
  wide_store(parts[4] + i, s.xz);
  wide_store(parts[5] + i, s.yz);
}

/* What walls add to it. */
WIDE_INLINE LaneSym add_walls(const SphWork *work, int64_t i, LaneSym gradient) {
  float rows[6][LANES] __attribute__((aligned(32)));
  float *const parts[6] = {rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]};
  store_sym(parts, 0, gradient);
  KERNEL(sph_walls_strain)(work, i, rows);
  return load_sym(parts, 0);
}

/* Sums over the parcels of a chunk. */
typedef struct Residual {
  Real compression, expansion, shear, flowing;
} Residual;

WIDE_INLINE void update_pressure(SphWork *work, int64_t i, Real divergence, Residual *residual) {
  const SphPressure *stage = &work->pressure;
  Real before = wide_load(stage->pressure + i), gain = wide_load(stage->gain + i);
  Real error = pressure_error(wide_load(stage->source + i), work->control.dt, divergence);
  Real after = pressure_update(before, gain, error);
  residual->compression += pressure_compression(error);
  residual->expansion += pressure_expansion(before, after, gain);
  wide_store(stage->pressure + i, after);
}

WIDE_INLINE void update_shear(SphWork *work, int64_t i, LaneSym strain, Residual *residual) {
  const SphShear *stage = &work->shear;
  Real gain = wide_load(stage->gain + i);
  LaneSym before = load_sym(stage->shear, i);
  LaneSym after = stress_project(stress_correct(before, gain, strain), wide_load(stage->bound + i));
  residual->shear += stress_residual(before, after, gain, work->control.dt);
  residual->flowing += strain_square(strain, work->control.dt);
  store_sym(stage->shear, i, after);
}

WIDE_INLINE void store_rows(SphWork *work, int64_t i) {
  for (int k = 0; k < LANES; k++) {
    float *row = work->motion.stress[i + k], p = work->pressure.pressure[i + k];
    for (int c = 0; c < 3; c++) row[c] = work->shear.shear[c][i + k] - p;
    for (int c = 3; c < 6; c++) row[c] = work->shear.shear[c][i + k];
    row[STRESS_PRESSURE] = p;
  }
}

void KERNEL(sph_stress_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  Residual residual = {real(0), real(0), real(0), real(0)};
  for (int64_t g = b; g < e; g++) {
    int64_t i = g * LANES, last = i + LANES < work->count ? i + LANES : work->count;
    bool walls = work->walls.start[last] > work->walls.start[i];
    LaneSym gradient = velocity_gradient(work, (const float(*)[4])work->motion.velocity, g);
    if (walls) gradient = add_walls(work, i, gradient);
    update_pressure(work, i, sym_trace(gradient), &residual);
    update_shear(work, i, strain_deviator(gradient), &residual);
    if (walls) KERNEL(sph_walls_react)(work, i, last);
    store_rows(work, i);
  }
  double *sums = work->control.residual[b / SPH_SLICE_CHUNK];
  sums[RESIDUAL_COMPRESSION] = (double)wide_sum(residual.compression);
  sums[RESIDUAL_EXPANSION] = (double)wide_sum(residual.expansion);
  sums[RESIDUAL_SHEAR] = (double)wide_sum(residual.shear);
  sums[FLOWING] = (double)wide_sum(residual.flowing);
}
