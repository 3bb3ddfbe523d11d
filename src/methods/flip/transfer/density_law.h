/* Densities and fluxes of the grid from what particles leave at its nodes (Sections 2.2, 2.4, 4.1). */
#ifndef METHODS_FLIP_TRANSFER_DENSITY_LAW_H
#define METHODS_FLIP_TRANSFER_DENSITY_LAW_H

#include "core/lane.h"

/* Volume fraction phi: volume of sand at rest density over the free volume under the kernel. */
LANE_INLINE Real volume_fraction(Real sand, Real inverse_cell_volume, Real kernel_volume) {
  return sand * inverse_cell_volume / kernel_volume;
}

/* A mixture's mean of a property, from its sum weighted with volume (Section 4.1). */
LANE_INLINE Real mixture_mean(Real weighted, Real volume) {
  return real_select(real_less(real(0), volume), weighted / volume, real(0));
}

typedef struct FaceState {
  Real velocity;        /* with gravity's share of the step */
  Real specific_volume; /* 1 / density; 0: no stress acts */
  Real flux, flux_mobility;
  Real joint_velocity, mobility;
} FaceState;

/* A face of which the share `open` is free and holds sand to the fraction phi; the rest moves with a solid. `moves`:
 * there is enough sand to be moved; `bears`: and to bear stress. The sand bears the share `borne` of what acts on the
 * face (borne_share in fields.h), the solid the rest: they gain from each other what they lose.
 * The flux is that of Eq. 7 with the moving solid of Eq. 25 in it. */
LANE_INLINE FaceState face_state(Real mass, Real momentum, Real phi, Real open, Real borne, Real solid_velocity,
                                 Real gained, Real cell_volume, Mask moves, Mask bears) {
  FaceState to;
  Real solid = (real(1) - open) * solid_velocity;
  to.velocity = real_select(real_less(real(0), mass), momentum / mass + gained, real(0));
  to.specific_volume = real_select(bears & real_less(real(0), open), cell_volume * borne / mass, real(0));
  to.flux = real_select(moves, open * phi * to.velocity, real(0)) + solid;
  to.flux_mobility = open * phi * to.specific_volume;
  to.joint_velocity = open * to.velocity + solid;
  to.mobility = open * to.specific_volume;
  return to;
}

#endif
