/* The laws of sph with one lane. */
#define LANE_SCALAR
#include "laws.h"

void laws_scalar(float in[LAW_INPUTS][LAW_LANES], float out[LAW_OUTPUTS][LAW_LANES]) {
  for (int lane = 0; lane < LAW_LANES; lane++) {
    Real one[LAW_INPUTS];
    LawOutputs found = {0};
    for (int k = 0; k < LAW_INPUTS; k++) one[k] = in[k][lane];
    laws_all(one, &found);
    for (int k = 0; k < found.count; k++) out[k][lane] = found.values[k];
  }
}
