/* Solids and blocks of fine grains, eight at a time. */
#include <string.h>

#include "core/lane_memory.h"
#include "upsample/upsample_kernels.h"
#include "upsample/weight_law.h"

void KERNEL(fine_to_local)(const FineAxes *axes, const float *x, const float *y, const float *z, int64_t count,
                           FineDistances *to) {
  const FineAxes own = *axes;
  for (int64_t i = 0; i < count; i += LANE_WIDTH) {
    LaneVec3 at =
        vec_make(lane_load_few(x + i, count - i), lane_load_few(y + i, count - i), lane_load_few(z + i, count - i));
    lane_store3(to->x + i, to->y + i, to->z + i, axes_to_local(own, at));
  }
}

void KERNEL(fine_nearest)(const FineAxes *axes, const FineDistances *distances, float known, float reach, float lag,
                          int64_t b, int64_t e, FineWalls *walls) {
  const FineAxes own = *axes;
  for (int64_t i = b; i < e; i += LANE_WIDTH) {
    Real distance = lane_load(distances->distance + i - b), gap = lane_load(walls->gap + i);
    Mask nearer = wall_is_nearer(distance, real(known), real(reach), gap);
    Real clear = lane_load(walls->clear + i);
    lane_store(walls->clear + i, wall_clearance(clear, distance, real(known), real(reach), real(lag)));
    if (!mask_any(nearer)) continue;
    LaneVec3 normal = lane_load3(distances->nx + i - b, distances->ny + i - b, distances->nz + i - b);
    LaneVec3 before = lane_load3(walls->nx + i, walls->ny + i, walls->nz + i);
    lane_store(walls->gap + i, real_select(nearer, distance, gap));
    lane_store3(walls->nx + i, walls->ny + i, walls->nz + i, vec_select(nearer, axes_to_world(own, normal), before));
  }
}

void KERNEL(fine_add_wall)(const FineParameters *parameters, const FineDistances *distances, float known,
                           const float *const displacement[3], int64_t b, int64_t e, FineSums *sums) {
  const float reach2 = parameters->reach2;
  const Real rate = real(1 / parameters->dt);
  for (int64_t i = b; i < e; i += LANE_WIDTH) {
    Real weight = lane_load(sums->weight + i);
    WallWeight wall =
        wall_weight(lane_load(distances->distance + i - b), real(known), reach2, weight, parameters->body_rule);
    lane_store(sums->weight + i, weight + wall.weight);
    lane_store(sums->top + i, real_max(wall.t, lane_load(sums->top + i)));
    if (!displacement) continue;
    LaneVec3 velocity =
        vec_mul(lane_load3(displacement[0] + i - b, displacement[1] + i - b, displacement[2] + i - b), rate);
    LaneVec3 before = lane_load3(sums->vx + i, sums->vy + i, sums->vz + i);
    lane_store3(sums->vx + i, sums->vy + i, sums->vz + i, vec_add(before, vec_mul(velocity, wall.weight)));
  }
}

int64_t KERNEL(fine_may_touch)(const FineBlock *block, const FineWalls *walls, float most, int32_t *list) {
  int64_t count = 0;
  for (int64_t i = 0; i < block->count; i += LANE_WIDTH) {
    LaneVec3 displacement = vec_sub(lane_load3(block->end_x + i, block->end_y + i, block->end_z + i),
                                    lane_load3(block->x + i, block->y + i, block->z + i));
    Real clearance = real(most);
    if (walls->any) clearance = real_min(lane_load(walls->clear + i), clearance);
    int64_t left = block->count - i < LANE_WIDTH ? block->count - i : LANE_WIDTH;
    Real radius = lane_load_few(block->radius + i, left);
    unsigned bits = lane_bits(wall_may_touch(radius, clearance, displacement)) & ((1u << left) - 1);
    if (!bits) continue;
    int32_t index[LANE_WIDTH];
    for (int lane = 0; lane < LANE_WIDTH; lane++) index[lane] = (int32_t)i + lane;
    lane_pack(list + count, bits, index);
    count += __builtin_popcount(bits);
  }
  return count;
}
