/* The passes over slots; see p2_kernels.c. */
#ifndef METHODS_P2_KERNELS_H
#define METHODS_P2_KERNELS_H

#include "methods/p2/contacts.h"

KERNEL_DECLARE(void, p2_batch_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, p2_turning_batch_pass, (void *work, int64_t b, int64_t e, int thread));
KERNEL_DECLARE(void, p2_average_pass, (void *work, int64_t b, int64_t e, int thread));

#endif
