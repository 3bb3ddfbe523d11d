#include "geometry/grid_lanes.h"
#include "geometry/shape_kernels.h"

int64_t KERNEL(grid_value_many)(const DistanceGrid *grid, float sign, int64_t from, int64_t count, const float *x,
                                const float *y, const float *z, float *distance) {
  const GridFrame frame = grid_frame(grid);
  int64_t i = from;
  for (; i < count && (LANE_WIDTH == LANES || i + LANE_WIDTH <= count); i += LANE_WIDTH) {
    GridCells cells;
    grid_cells(
        grid, frame,
        vec_make(lane_load_few(x + i, count - i), lane_load_few(y + i, count - i), lane_load_few(z + i, count - i)),
        &cells);
    Real value = trilinear(cells.corners, cells.at).value;
    value = real(sign) * grid_value(frame, cells.known, cells.inside_far, value);
    lane_store_few(distance + i, value, count - i);
  }
  return i;
}
