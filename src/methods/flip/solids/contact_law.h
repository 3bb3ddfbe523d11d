/* What a solid takes of a cell, and of the velocity of a particle that meets it. */
#ifndef METHODS_FLIP_SOLIDS_CONTACT_LAW_H
#define METHODS_FLIP_SOLIDS_CONTACT_LAW_H

#include "core/lane.h"

/* Free share of a box (Section 2.4: the antialiased phi_s): a plane at this distance from its middle cuts it. `width`
 * is the extent of the box across the plane. */
LANE_INLINE Real free_share(Real distance, Real width) {
  Real share = real(0.5f) + distance / width;
  return real_select(real_less(share, real(0)), real(0), real_select(real_less(real(1), share), real(1), share));
}

/* Coulomb's law for a collision that took `stopped` from a particle's speed along the normal: the part of its
 * tangential velocity of that length that friction takes, from 0 to 1. */
LANE_INLINE Real coulomb_share(Real friction, Real stopped, Real length) {
  Real most = friction * stopped;
  return real_select(real_less(most, length), most / length, real(1));
}

#endif
