/* The passes that give velocity: under stress, by collisions, and how much of the air reaches a parcel. */
#include "methods/sph/air_law.h"
#include "methods/sph/density_law.h"
#include "methods/sph/force_law.h"
#include "methods/sph/slots.h"
#include "methods/sph/sph_kernels.h"

void KERNEL(sph_velocity_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  SphMotion *motion = &work->motion;
  const float *rows = motion->stress[0];
  for (int64_t g = b; g < e; g++) {
    const SphSlot *slot = work->pairs.slots + work->pairs.slot_start[g], *end = slot + work->pairs.width[g];
    LaneVec3 force = vec_zero();
    LaneSym stress;
    Real pressure, unused;
    for (; slot < end; slot++) {
      LaneVec3 gradient = load_gradient(slot);
      gather_rows(rows, 2, slot->row, &stress.xx, &stress.yy, &stress.zz, &stress.xy);
      gather_rows(rows + 4, 2, slot->row, &stress.xz, &stress.yz, &pressure, &unused);
      force = vec_add(force, force_term(stress, gradient));
    }
    int64_t i = g * LANES;
    turn_rows(rows + 8 * i, 2, &stress.xx, &stress.yy, &stress.zz, &stress.xy);
    turn_rows(rows + 8 * i + 4, 2, &stress.xz, &stress.yz, &pressure, &unused);
    force = force_total(force, work->pairs.gradient_step, stress, load_vec(work->pairs.sum, i));
    LaneVec3 velocity = force_velocity(load_vec(motion->start, i), wide_load(work->pressure.mobility + i), force,
                                       load_vec(motion->wall_gain, i));
    float v[3][LANES] __attribute__((aligned(32)));
    wide_store(v[0], velocity.x);
    wide_store(v[1], velocity.y);
    wide_store(v[2], velocity.z);
    for (int k = 0; k < LANES; k++)
      for (int c = 0; c < 3; c++) motion->velocity[i + k][c] = v[c][k];
  }
}

void KERNEL(sph_collision_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  const float(*rows)[4] = (const float(*)[4])work->motion.velocity;
  Real share = real(2 * work->control.collision / SPH_GRADIENT_STEPS);
  for (int64_t g = b; g < e; g++) {
    const SphSlot *slot = work->pairs.slots + work->pairs.slot_start[g], *end = slot + work->pairs.width[g];
    int64_t i = g * LANES;
    LaneVec3 own, other, lost = vec_zero();
    Real own_mass, other_mass;
    turn_rows(rows[i], 1, &own.x, &own.y, &own.z, &own_mass);
    for (; slot < end; slot++) {
      LaneVec3 gradient = load_gradient(slot);
      gather_rows(rows[0], 1, slot->row, &other.x, &other.y, &other.z, &other_mass);
      lost = vec_add(lost, collision_term(own, own_mass, other, other_mass, gradient));
    }
    store_vec(work->motion.start, i, vec_add(load_vec(work->motion.start, i), vec_mul(lost, share)));
  }
}

void KERNEL(sph_occlusion_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphOcclusion *air = context;
  const SphPairs *pairs = &air->work->pairs;
  for (int64_t g = b; g < e; g++) {
    const SphSlot *slot = pairs->slots + pairs->slot_start[g], *end = slot + pairs->width[g];
    int64_t i = g * LANES;
    LaneVec3 stream = load_vec(air->stream, i);
    Real shield = real(0);
    for (; slot < end; slot++) shield = real_max(shield, air_shield(stream, load_gradient(slot)));
    wide_store(air->open + i, air_open(stream, shield));
  }
}
