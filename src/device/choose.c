/* The words that name a device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"

Status device_find(Core *core, const char *text, int32_t *index) {
  static const char prefix[] = "opencl";
  *index = DEVICE_CPU;
  if (strcmp(text, "cpu") == 0) return SCREE_OK;
  const char *rest = text + sizeof prefix - 1;
  if (strncmp(text, prefix, sizeof prefix - 1) != 0 || (*rest && *rest != ':'))
    return fail(core, SCREE_BAD_INPUT, "device '%s': expected cpu, opencl or opencl:N", text);
  char *end = NULL;
  errno = 0;
  long number = *rest ? strtol(rest + 1, &end, 10) : 0;
  if (*rest && (end == rest + 1 || *end || errno || number < 0 || rest[1] == '+' || rest[1] == ' '))
    return fail(core, SCREE_BAD_INPUT, "device '%s': expected cpu, opencl or opencl:N", text);
  int32_t count = device_count();
  if (number >= count)
    return fail(core, SCREE_BAD_INPUT, "device '%s' is not there: %d OpenCL devices were found (scree list devices)",
                text, count);
  *index = (int32_t)number;
  return SCREE_OK;
}
