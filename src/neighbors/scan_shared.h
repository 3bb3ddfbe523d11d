/* Sizes of the kernels that add up (scan.cl). */
#ifndef NEIGHBORS_SCAN_SHARED_H
#define NEIGHBORS_SCAN_SHARED_H

enum {
  SCAN_GROUP = 256,                    /* work items of a group */
  SCAN_EACH = 8,                       /* numbers an item */
  SCAN_BLOCK = SCAN_GROUP * SCAN_EACH, /* numbers a group */
  SCAN_FEW = 64                        /* blocks: a launch takes longer than looking at the sums of so many */
};

#endif
