/* Boundary contacts inside the stress pass, one at a time: few parcels of a slice have any. */
#define LANE_SCALAR
#include "methods/sph/contact.h"
#include "methods/sph/sph_kernels.h"

void KERNEL(sph_walls_strain)(const SphWork *work, int64_t i, float (*gradient)[LANES]) {
  for (int lane = 0; lane < LANES && i + lane < work->count; lane++)
    for (int32_t k = work->walls.start[i + lane]; k < work->walls.start[i + lane + 1]; k++) {
      const SphContact *contact = &work->walls.contacts[k];
      LaneVec3 normal = contact_normal(contact);
      Real leaving = vec_dot(contact_velocity(work, contact), normal);
      LaneSym add = wall_gradient(normal, leaving * contact->slope);
      gradient[0][lane] += add.xx, gradient[1][lane] += add.yy, gradient[2][lane] += add.zz;
      gradient[3][lane] += add.xy, gradient[4][lane] += add.xz, gradient[5][lane] += add.yz;
    }
}

static void react(SphWork *work, int64_t i) {
  float *const *s = work->shear.shear;
  LaneSym shear = {s[0][i], s[1][i], s[2][i], s[3][i], s[4][i], s[5][i]};
  LaneVec3 force = vec_zero();
  for (int32_t k = work->walls.start[i]; k < work->walls.start[i + 1]; k++) {
    SphContact *contact = &work->walls.contacts[k];
    LaneVec3 normal = contact_normal(contact), grip = vec_make(contact->grip[0], contact->grip[1], contact->grip[2]);
    Real stress = work->pressure.pressure[i] - sym_along(shear, normal);
    contact->normal_force = wall_normal_force(stress, contact->slope, work->control.volume);
    grip = wall_friction(grip, contact_velocity(work, contact), normal, contact->grip_gain,
                         contact->friction * contact->normal_force);
    contact->grip[0] = grip.x;
    contact->grip[1] = grip.y;
    contact->grip[2] = grip.z;
    force = vec_add(force, vec_add(vec_mul(normal, contact->normal_force), grip));
  }
  force = vec_mul(force, work->pressure.mobility[i] / work->control.volume);
  work->motion.wall_gain[0][i] = force.x;
  work->motion.wall_gain[1][i] = force.y;
  work->motion.wall_gain[2][i] = force.z;
}

void KERNEL(sph_walls_react)(SphWork *work, int64_t b, int64_t e) {
  for (int64_t i = b; i < e; i++)
    if (work->walls.start[i] < work->walls.start[i + 1]) react(work, i);
}
