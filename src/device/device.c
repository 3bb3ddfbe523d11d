/* Which devices there are, and the life of one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/internal.h"

enum { PLATFORMS_MAX = 16, DEVICES_MAX = 64 };
/* Work items of a launch. At a microsecond each, slower than any kernel here on one core of a CPU, the first takes a
 * second; a graphics card that takes longer for the second has a fiftieth of the speed of those of today. */
enum { PIECE_PROCESSOR = 1 << 20, PIECE_CARD = 1 << 22 };

/* A device may be of several kinds: it counts once. Returns how many there are now. */
static int32_t add_devices(cl_device_id found[DEVICES_MAX], int32_t count, const cl_device_id *more, cl_uint many) {
  for (cl_uint k = 0; k < many && count < DEVICES_MAX; k++) {
    bool known = false;
    for (int32_t j = 0; j < count; j++) known |= found[j] == more[k];
    if (!known) found[count++] = more[k];
  }
  return count;
}

/* Graphics cards first, then others; within a kind in the order of the drivers. */
static int32_t find_devices(cl_device_id found[DEVICES_MAX]) {
  static const cl_device_type kinds[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU};
  cl_platform_id platforms[PLATFORMS_MAX];
  cl_uint platform_count = 0;
  int32_t count = 0;
  if (clGetPlatformIDs(PLATFORMS_MAX, platforms, &platform_count) != CL_SUCCESS) return 0;
  if (platform_count > PLATFORMS_MAX) platform_count = PLATFORMS_MAX;
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
    for (cl_uint p = 0; p < platform_count; p++) {
      cl_device_id more[DEVICES_MAX];
      cl_uint here = 0;
      if (clGetDeviceIDs(platforms[p], kinds[kind], DEVICES_MAX, more, &here) != CL_SUCCESS) continue;
      count = add_devices(found, count, more, here < DEVICES_MAX ? here : DEVICES_MAX);
    }
  return count;
}

int32_t device_count(void) {
  cl_device_id found[DEVICES_MAX];
  return find_devices(found);
}

static void text_of(cl_device_id id, cl_device_info what, char *text, size_t size) {
  if (clGetDeviceInfo(id, what, size, text, NULL) != CL_SUCCESS) snprintf(text, size, "?");
  text[size - 1] = 0;
}

static uint64_t number_of(cl_device_id id, cl_device_info what) {
  cl_ulong value = 0;
  return clGetDeviceInfo(id, what, sizeof value, &value, NULL) == CL_SUCCESS ? value : 0;
}

static void describe(cl_device_id id, ScreeDeviceInfo *info) {
  *info = (ScreeDeviceInfo){.exact = false};
  text_of(id, CL_DEVICE_NAME, info->name, sizeof info->name);
  text_of(id, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
  text_of(id, CL_DEVICE_VERSION, info->version, sizeof info->version);
  info->memory_bytes = (int64_t)number_of(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  info->buffer_bytes = (int64_t)number_of(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  cl_device_fp_config config = 0;
  const cl_device_fp_config wanted =
      CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT | CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
  clGetDeviceInfo(id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
  info->exact = (config & wanted) == wanted;
}

Status device_describe(int32_t index, ScreeDeviceInfo *info) {
  cl_device_id found[DEVICES_MAX];
  if (index < 0 || index >= find_devices(found)) return SCREE_BAD_ARGUMENT;
  describe(found[index], info);
  return SCREE_OK;
}

Status device_check(Core *core, const Device *device, cl_int code, const char *doing) {
  const char *why = NULL;
  switch (code) {
  case CL_SUCCESS: return SCREE_OK;
  case CL_MEM_OBJECT_ALLOCATION_FAILURE:
  case CL_OUT_OF_RESOURCES:
  case CL_OUT_OF_HOST_MEMORY:
    return fail(core, SCREE_NO_MEMORY, "opencl:%d (%s): out of memory: %s", device->index, device->info.name, doing);
  case CL_DEVICE_NOT_AVAILABLE: why = "the device is lost"; break;
  case CL_INVALID_COMMAND_QUEUE: why = "the device is lost: its queue is gone"; break;
  case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: why = "a command before it failed"; break;
  case CL_INVALID_KERNEL_ARGS: why = "an argument is missing"; break;
  case CL_INVALID_WORK_GROUP_SIZE: why = "the groups are larger than the device has them"; break;
  default: break;
  }
  if (why) return fail(core, SCREE_FAILED, "opencl:%d (%s): %s: %s", device->index, device->info.name, doing, why);
  return fail(core, SCREE_FAILED, "opencl:%d (%s): %s: error %d", device->index, device->info.name, doing, code);
}

static Status open_queue(Core *core, Device *device) {
  cl_int code = CL_SUCCESS;
  device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, &code);
  TRY(device_check(core, device, code, "opening it"));
  for (int timed = 0; timed < 2; timed++) {
    device->queues[timed] =
        clCreateCommandQueue(device->context, device->id, timed ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    TRY(device_check(core, device, code, "making a queue"));
  }
  device->queue = device->queues[device->timed];
  return SCREE_OK;
}

Status device_open(Core *core, int32_t index, Device **device) {
  cl_device_id found[DEVICES_MAX];
  if (index < 0 || index >= find_devices(found))
    return fail(core, SCREE_BAD_INPUT, "there is no device opencl:%d", index);
  TRY(memory_new(core, device, 1, "device"));
  (*device)->core = core;
  (*device)->index = index;
  (*device)->id = found[index];
  describe(found[index], &(*device)->info);
  (*device)->timed = true;
  (*device)->piece = device_is_processor(*device) ? PIECE_PROCESSOR : PIECE_CARD;
  TRY(open_queue(core, *device));
  if (!(*device)->info.exact)
    log_line(core, SCREE_LOG_WARNING,
             "opencl:%d (%s) does not round divisions and roots as the CPU does: results differ in their bits", index,
             (*device)->info.name);
  return SCREE_OK;
}

void device_close(Core *core, Device *device) {
  if (!device) return;
  if (device->queue) clFinish(device->queue);
  if (device->stage) clEnqueueUnmapMemObject(device->queue, device->stage_buffer, device->stage, 0, NULL, NULL);
  if (device->stage_buffer) clReleaseMemObject(device->stage_buffer);
  for (int64_t k = 0; k < device->event_count; k++) clReleaseEvent(device->events[k].event);
  for (int timed = 0; timed < 2; timed++)
    if (device->queues[timed]) clReleaseCommandQueue(device->queues[timed]);
  if (device->context) clReleaseContext(device->context);
  memory_drop(core, &device->events);
  memory_free(&core->memory, device);
}

const ScreeDeviceInfo *device_info(const Device *device) { return &device->info; }

bool device_is_processor(const Device *device) {
  cl_device_type type = 0;
  clGetDeviceInfo(device->id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
  return !(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR));
}

bool device_has_doubles(const Device *device) {
  cl_device_fp_config config = 0;
  return clGetDeviceInfo(device->id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, NULL) == CL_SUCCESS && config;
}
