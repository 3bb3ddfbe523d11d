/* The two laws of motion for blocks of fine grains. */
#include "upsample/motion_law.h"
#include "core/lane_memory.h"
#include "upsample/upsample_kernels.h"

/* Stores the velocity and where it takes the grains. Returns zero, or a NaN where one of the places is not finite. */
LANE_INLINE Real store_motion(FineBlock *block, int64_t g, float dt, LaneVec3 velocity) {
  LaneVec3 end = moved_position(lane_load3(block->x + g, block->y + g, block->z + g), velocity, dt);
  lane_store3(block->vx + g, block->vy + g, block->vz + g, velocity);
  lane_store3(block->end_x + g, block->end_y + g, block->end_z + g, end);
  return (end.x - end.x) + (end.y - end.y) + (end.z - end.z);
}

LANE_INLINE WeightedSums load_sums(const FineSums *sums, int64_t g) {
  return (WeightedSums){lane_load(sums->weight + g), lane_load3(sums->vx + g, sums->vy + g, sums->vz + g),
                        lane_load(sums->top + g), lane_load(sums->square + g)};
}

void KERNEL(fine_move_paper)(const FineParameters *parameters, const FineSums *sums, FineBlock *block,
                             FineMotion *motion) {
  const FineParameters p = *parameters;
  Real check = real(0);
  for (int64_t g = 0; g < block->padded; g += LANE_WIDTH) {
    LaneVec3 velocity = lane_load3(block->vx + g, block->vy + g, block->vz + g);
    check += store_motion(block, g, p.dt, paper_velocity(p, load_sums(sums, g), velocity));
  }
  motion->finite = wide_sum(check) == 0;
}

void KERNEL(fine_move_better)(const FineParameters *parameters, const FineSums *sums, FineBlock *block,
                              FineMotion *motion) {
  const FineParameters p = *parameters;
  Real check = real(0), fastest = real(0);
  for (int64_t g = 0; g < block->padded; g += LANE_WIDTH) {
    LaneVec3 velocity = lane_load3(block->vx + g, block->vy + g, block->vz + g);
    BetterMotion better = better_motion(p, load_sums(sums, g), velocity);
    lane_store(motion->spread + g, better.spread);
    lane_store(motion->loose + g, better.loose);
    check += store_motion(block, g, p.dt, better.velocity);
    fastest = real_max(speed_bound(p, better), fastest);
  }
  motion->finite = wide_sum(check) == 0;
  motion->farthest = p.dt * wide_most(fastest);
}
