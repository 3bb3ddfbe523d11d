/* What the host hands to the kernel that looks at fine grains closer (settle.cl), of each solid. */
#ifndef UPSAMPLE_SETTLE_DEVICE_SHARED_H
#define UPSAMPLE_SETTLE_DEVICE_SHARED_H

typedef struct SettleSolid {
  double moved, doubt; /* m, as FineSolid has them */
  double diagonal;     /* m, of a mesh's bounds */
  double listed;       /* m: its triangles are listed for spheres of this reach; 0: for none */
} SettleSolid;

#endif
