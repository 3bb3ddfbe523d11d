/* What a container leaves to the process: limits of control groups (cgroup v1 and v2) on memory and processor time. */
#ifndef CORE_LIMITS_H
#define CORE_LIMITS_H

#include <stdint.h>

/* `root` stands before /proc and /sys: "" for those of this machine. */

/* Bytes that the process may use, the least of its group and all above it; INT64_MAX: no group says. */
int64_t limits_memory(const char *root);
/* Processors that it may keep busy on average, a whole number, rounded up; INT32_MAX: no group says. */
int32_t limits_processors(const char *root);

#endif
