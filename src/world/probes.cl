/* Sums of probes over the particles of a device: what world/probes/totals.c adds up on the CPU, in the same order. */
#include "core/lane.h"
#include "world/probes_shared.h"

#define TOTAL_FIELDS                                                                                                   \
  global const float *x, global const float *y, global const float *z, global const float *low_x,                      \
      global const float *low_y, global const float *low_z, global const float *dz, global const float *vx,            \
      global const float *vy, global const float *vz, global const float *mass, global const float *radius,            \
      global const float *spin_x, global const float *spin_y, global const float *spin_z

static double term_of(ProbeTotal total, int i, TOTAL_FIELDS) {
  switch (total.what) {
  case TOTAL_CROSSED: return total_crossed(mass[i], z[i], dz[i], total.height);
  case TOTAL_KINETIC: return total_kinetic(mass[i], vx[i], vy[i], vz[i]);
  case TOTAL_TURNING: return total_turning(mass[i], radius[i], spin_x[i], spin_y[i], spin_z[i]);
  default: break;
  }
  const Vec3 at = total_place(total.origin, x[i], y[i], z[i], low_x[i], low_y[i], low_z[i]);
  if (total.what == TOTAL_MASS) return total_mass(mass[i], total.low, total.high, at);
  return total_potential(mass[i], total.gravity, at);
}

/* A group for each chunk; its first item adds up what all have found. */
kernel void probe_total(ProbeTotal total, int count, int first, TOTAL_FIELDS, global double *sums) {
  local double term[PROBE_CHUNK];
  const int chunk = (int)get_global_id(0) / PROBE_GROUP, begin = chunk * PROBE_CHUNK,
            many = min(count - begin, (int)PROBE_CHUNK);
  for (int k = (int)get_local_id(0); k < many; k += PROBE_GROUP)
    term[k] =
        term_of(total, begin + k, x, y, z, low_x, low_y, low_z, dz, vx, vy, vz, mass, radius, spin_x, spin_y, spin_z);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) != 0) return;
  double sum = 0;
  for (int k = 0; k < many; k++) sum += term[k];
  sums[first + chunk] = sum;
}
