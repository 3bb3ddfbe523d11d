/* Second rows, where the shares of two threads meet.
 *
 * A core that reads what another has just written takes the line away from it: that other's next look at it takes as
 * long as a few hundred instructions, and so does the first one. Displacements are read by all neighbours and written
 * anew in every pass; the third of the grains next to such a border took up to twice as long as the others. So a grain
 * that touches one of another thread's has a second row behind those of the grains: written with its own after every
 * pass, and read by the other thread's grains alone. Second rows follow each other, so that few lines go across.
 *
 * They hold what the first ones hold: results do not depend on where the borders are, nor on whether there is room for
 * a second row. */
#ifndef METHODS_COMMON_POSITION_BORDERS_H
#define METHODS_COMMON_POSITION_BORDERS_H

#include "methods/common/position.h"

/* Of a thread. */
typedef struct PositionRooms {
  SearchRoom borders, crossings;
} PositionRooms;

/* Rows [first, end) that the thread has whose share the window is in. */
typedef struct PositionShare {
  int32_t first, end;
} PositionShare;
PositionShare position_share_of(const PositionStep *work, int64_t window);

/* The grain of a row, or the row where it is no grain's. */
static inline int32_t position_partner(const PositionStep *work, int32_t row) {
  return row >= work->padded && row < work->layout.boundary_row ? work->borders.grain[row - work->padded] : row;
}

/* Shares of the threads, by what the windows' passes cost; room for second rows. */
void position_share_out(PositionStep *work);
Status position_take_borders(PositionStep *work);
/* What was found in a window, slice by slice: as many in its first half, and in all. */
enum { POSITION_CROSSINGS_MOST = 512 };
typedef struct PositionFound {
  int32_t borders[2], crossings[2];
  int32_t border[POSITION_WINDOW];
  int32_t crossing[POSITION_CROSSINGS_MOST]; /* slots whose partners are other threads' */
} PositionFound;
/* Of the window that begins with slice b. */
void position_keep_borders(PositionStep *work, int64_t b, const PositionFound *found, int thread);
/* When all are found: its crossings go to the second rows from now on. */
void position_set_crossings(PositionStep *work, const PositionWindow *window);
/* Slices [b, e), a window or a half of one. Their grains' second rows become what the first ones are: */
void position_copy_borders(const PositionStep *work, int64_t b, int64_t e, float (*rows)[4]);
/* Their partners are the grains again: no pass comes after this one. */
void position_clear_crossings(const PositionStep *work, int64_t b, int64_t e);

#endif
