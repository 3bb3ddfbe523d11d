/* The box round places, found by all items of a group together. */
#ifndef UPSAMPLE_BOX_CL
#define UPSAMPLE_BOX_CL

#include "upsample/coarse_shared.h"

/* Makes the box wider; items that only fill the group are not active. */
static void widen_box(local uint *here, global uint *box, LaneVec3 at, bool active) {
  const int item = (int)get_local_id(0);
  if (item < COARSE_BOX_WORDS) here[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const float place[3] = {at.x, at.y, at.z};
  for (int axis = 0; axis < 3 && active; axis++) {
    const uint key = float_key(as_uint(place[axis]));
    atomic_max(&here[COARSE_BOX_LOW + axis], ~key);
    atomic_max(&here[COARSE_BOX_HIGH + axis], key);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < COARSE_BOX_WORDS) atomic_max(&box[item], here[item]);
}

#endif
