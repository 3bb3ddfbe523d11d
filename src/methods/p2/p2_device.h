/* p2 on a device: p2.cl has the kernels of what it has besides the position-based family. */
#ifndef METHODS_P2_P2_DEVICE_H
#define METHODS_P2_P2_DEVICE_H

#include "methods/method.h"
#include "methods/p2/contacts.h"

extern const MethodDevice P2_DEVICE;

void p2_device_close(Core *core, P2Device *device);

#endif
