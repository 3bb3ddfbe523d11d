/* Counts of fine grains in cells, and the displacement from crowded to sparse ones. */
#include <string.h>

#include "core/lane_memory.h"
#include "upsample/upsample_kernels.h"

void KERNEL(fine_cells)(const CountCells *count_cells, const float *x, const float *y, const float *z, int64_t count,
                        int32_t index[FINE_BLOCK], int32_t slot[FINE_BLOCK]) {
  const CountCells cells = *count_cells;
  const int low = (1 << STIR_SLOT_BITS) - 1;
  for (int64_t i = 0; i < count; i += LANE_WIDTH) { /* FINE_BLOCK is a multiple of the lanes */
    Int cx = cell_of(cells, lane_load_few(x + i, count - i));
    Int cy = cell_of(cells, lane_load_few(y + i, count - i));
    Int cz = cell_of(cells, lane_load_few(z + i, count - i));
    Int cell = cell_join(cells, cx & cells.mask[0], cy & cells.mask[1], cz & cells.mask[2]);
    if (!cells.folded) {
      Mask counts = cell_in_room(cells, 0, cx) & cell_in_room(cells, 1, cy) & cell_in_room(cells, 2, cz);
      cell = int_mask(counts, cell + 1) - 1;
    }
    Int place = (cx & low) | (cy & low) << STIR_SLOT_BITS | (cz & low) << (2 * STIR_SLOT_BITS);
    memcpy(index + i, &cell, sizeof cell);
    memcpy(slot + i, &place, sizeof place);
  }
}

/* The counts at the corners of the cube of cell centres round each of eight places. */
LANE_INLINE Corners corner_counts(CountCells cells, const uint32_t *counts, const Int base[3]) {
  _Alignas(32) int32_t at[LANE_WIDTH];
  Corners corners;
  Int x[2] = {base[0] & cells.mask[0], (base[0] + 1) & cells.mask[0]};
  bool wraps = mask_any(int_equal(x[0], (Int){0} + cells.mask[0]));
  for (int row = 0; row < 4; row++) {
    Int y = (base[1] + (row & 1)) & cells.mask[1], z = (base[2] + (row >> 1)) & cells.mask[2];
    Wide pair[2];
    if (!wraps) {
      Int first = cell_join(cells, x[0], y, z);
      memcpy(at, &first, sizeof at);
      wide_gather2((const float *)counts, at, &pair[0], &pair[1]);
    } else
      for (int side = 0; side < 2; side++)
        pair[side] = wide_gather((const float *)counts, cell_join(cells, x[side], y, z));
    for (int side = 0; side < 2; side++) corners.v[2 * row + side] = real_from_int(real_bits(pair[side]));
  }
  return corners;
}

void KERNEL(fine_stir)(const CountCells *count_cells, const uint32_t *counts, const FineParameters *parameters,
                       const FineWalls *walls, const FineMotion *motion, FineBlock *block) {
  const CountCells cells = *count_cells;
  const Real least = real(CROWD_LEAST / cells.inverse), keep_off = real(CROWD_KEEP_OFF / cells.inverse);
  const Real share = real(parameters->stir * parameters->dt);
  for (int64_t i = 0; i < block->padded; i += LANE_WIDTH) {
    Real longest = share * lane_load(motion->spread + i);
    Mask stirs = real_less(least, longest);
    if (!mask_any(stirs)) continue;
    CountPlace place = count_place(cells, lane_load3(block->x + i, block->y + i, block->z + i));
    LaneVec3 gradient = crowd_gradient(corner_counts(cells, counts, place.base), place.part);
    LaneVec3 displacement = crowd_displacement(gradient, longest, stirs);
    if (walls->any)
      displacement = crowd_keep_off(displacement, lane_load(walls->gap + i), keep_off,
                                    lane_load3(walls->nx + i, walls->ny + i, walls->nz + i));
    LaneVec3 end = lane_load3(block->end_x + i, block->end_y + i, block->end_z + i);
    lane_store3(block->end_x + i, block->end_y + i, block->end_z + i, vec_add(end, displacement));
  }
}
