/* Numbers into laws and out of them, the same text for eight lanes and for one. A test of laws is <name>.c with
 * <name>.parts/laws.h, which defines laws_all over these and LAW_FOUND, how many it puts out, and
 * <name>.parts/scalar.c: see law_compare.h. */
#ifndef TEST_LAW_VALUES_H
#define TEST_LAW_VALUES_H

#include "core/lane.h"

enum { LAW_INPUTS = 32, LAW_OUTPUTS = 104, LAW_LANES = 8 };

/* The scalar side: one lane after the other. */
void laws_scalar(float in[LAW_INPUTS][LAW_LANES], float out[LAW_OUTPUTS][LAW_LANES]);

typedef struct LawOutputs {
  int count;
  Real values[LAW_OUTPUTS];
} LawOutputs;

LANE_INLINE void put(LawOutputs *out, Real value) { out->values[out->count++] = value; }
LANE_INLINE void put_vec(LawOutputs *out, LaneVec3 v) { put(out, v.x), put(out, v.y), put(out, v.z); }
LANE_INLINE void put_mask(LawOutputs *out, Mask mask) { put(out, real_select(mask, real(1), real(0))); }

LANE_INLINE LaneVec3 take_vec(const Real *in) { return vec_make(in[0], in[1], in[2]); }
LANE_INLINE LaneVec3 take_unit(const Real *in) {
  LaneVec3 v = take_vec(in);
  return vec_mul(v, real(1) / real_sqrt(vec_dot(v, v) + real(1e-6f)));
}

#endif
