/* Where the slots of a grain stand, and what is remembered of them: for the kernels of the position-based family. */
#ifndef METHODS_COMMON_POSITION_SLOTS_CL
#define METHODS_COMMON_POSITION_SLOTS_CL

#include "methods/common/position_shared.h"

static LaneVec3 vec_of(float4 row) { return vec_make(row.x, row.y, row.z); }
static float4 row_of(LaneVec3 v, float fourth) { return (float4)(v.x, v.y, v.z, fourth); }
static LaneVec3 load3(global const float *x, global const float *y, global const float *z, int i) {
  return vec_make(x[i], y[i], z[i]);
}

/* The first slot of grain i in a batch; the next ones follow every POSITION_ABREAST. Slots are places of the memory, of
 * which the first POSITION_ABREAST are nobody's. */
static int first_slot(global const int *rows, global const int *begin, int i, int batch) {
  int s = i / POSITION_ABREAST;
  return (1 + rows[s] + begin[s * POSITION_BATCHES + batch]) * POSITION_ABREAST + i % POSITION_ABREAST;
}

/* Where grain i's contacts with solids begin: they are counted behind the rows of the slices, on top of these. */
static int first_wall(PositionShared step, global const int *rows, int i) {
  return rows[step.slices + 1 + i] - rows[step.slices];
}

/* Where the memory has grain i's contact with a partner; 0, where all is zero, when it has not. It mostly has it at
 * *next, where it is looked for first. */
static uint remembered_at(PositionShared step, uint first, uint held, global const uint *key, uint wanted, uint *next) {
  uint end = first + held * POSITION_ABREAST;
  for (uint k = *next; k < end; k += POSITION_ABREAST)
    if (key[k] == wanted) {
      *next = k + POSITION_ABREAST;
      return k;
    }
  for (uint k = first; k < min(*next, end); k += POSITION_ABREAST)
    if (key[k] == wanted) {
      *next = k + POSITION_ABREAST;
      return k;
    }
  return 0;
}

/* How many places of the memory are grain i's: none where it lies about them. */
static uint held_by(PositionShared step, global const uint *row, global const uint *held, int i) {
  if (!step.memory || held[i] == 0) return 0;
  ulong last = (ulong)row[i] + (ulong)(held[i] - 1) * POSITION_ABREAST;
  return last < step.places ? held[i] : 0;
}

static int contacts_of(int4 pairs, int walls, int batch) {
  switch (batch) {
  case 0: return pairs.x;
  case 1: return pairs.y;
  case 2: return pairs.z;
  case 3: return pairs.w;
  default: return walls;
  }
}

#endif
