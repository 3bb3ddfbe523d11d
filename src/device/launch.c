/* Kernels are queued in pieces; events say how long each took. */
#include <string.h>

#include "core/parallel.h"
#include "device/internal.h"

/* Items in one piece: at a microsecond each, slower than any kernel here on one core of a CPU, it takes a second. */
enum { PIECE = 1 << 20, EVENTS_MOST = 4096 };

/* The entry of that name, a new one where there is none; when there are more than there is room for, the last takes the
 * rest. */
static int entry_of(ScreePhase *entries, int32_t *count, int most, const char *name) {
  for (int k = 0; k < *count; k++)
    if (strcmp(entries[k].name, name) == 0) return k;
  if (*count == most) return most - 1;
  entries[*count] = (ScreePhase){.name = name};
  return (*count)++;
}

int device_phase(Device *device, const char *name) {
  return entry_of(device->phases, &device->use.phase_count, PHASES_MAX, name);
}

int device_kernel_number(Device *device, const char *name) {
  return entry_of(device->kernels, &device->use.kernel_count, KERNELS_MAX, name);
}

static void add_time(ScreePhase *entry, double seconds) {
  entry->seconds += seconds;
  entry->calls++;
}

/* Events of commands that are done, which is so for all after a wait. */
static Status add_up(Core *core, Device *device) {
  Status status = SCREE_OK;
  for (int64_t k = 0; k < device->event_count; k++) {
    DeviceEvent *at = &device->events[k];
    cl_ulong begin = 0, end = 0;
    cl_int done = CL_COMPLETE;
    clGetEventInfo(at->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof done, &done, NULL);
    if (done < 0 && status == SCREE_OK) status = device_check(core, device, done, device->phases[at->phase].name);
    clGetEventProfilingInfo(at->event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
    clGetEventProfilingInfo(at->event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    const double seconds = end > begin ? 1e-9 * (double)(end - begin) : 0;
    add_time(&device->phases[at->phase], seconds);
    if (at->kernel != NO_KERNEL) add_time(&device->kernels[at->kernel], seconds);
    clReleaseEvent(at->event);
  }
  device->event_count = 0;
  return status;
}

Status device_finish(Core *core, Device *device) {
  TRY(device_check(core, device, clFinish(device->queue), "waiting for it"));
  return add_up(core, device);
}

Status device_note(Core *core, Device *device, cl_event event, int phase, int kernel) {
  Status status = memory_grow(core, &device->events, device->event_count + 1, "device events");
  if (status != SCREE_OK) {
    clReleaseEvent(event);
    return status;
  }
  device->events[device->event_count++] = (DeviceEvent){event, phase, kernel};
  return device->event_count < EVENTS_MOST ? SCREE_OK : device_finish(core, device);
}

static Status set_arguments(Core *core, DeviceKernel *kernel, const DeviceArgument *arguments, int count) {
  for (int k = 0; k < count; k++) {
    const DeviceBuffer *buffer = arguments[k].value;
    const void *value = arguments[k].size > 0 ? arguments[k].value : &buffer->handle;
    size_t size = arguments[k].size > 0 ? (size_t)arguments[k].size : sizeof(cl_mem);
    cl_int code = clSetKernelArg(kernel->kernel, (cl_uint)k, size, value);
    TRY(device_check(core, kernel->device, code, "an argument of a kernel"));
  }
  return SCREE_OK;
}

Status device_launch(Core *core, DeviceKernel *kernel, int64_t begin, int64_t end, int64_t group,
                     const DeviceArgument *arguments, int count) {
  Device *device = kernel->device;
  TRY(set_arguments(core, kernel, arguments, count));
  for (int64_t b = begin; b < end; b += PIECE) {
    int64_t items = end - b < PIECE ? end - b : PIECE;
    size_t offset = (size_t)b, local = (size_t)group, global = ((size_t)items + local - 1) / local * local;
    cl_event event = NULL;
    cl_int code = clEnqueueNDRangeKernel(device->queue, kernel->kernel, 1, &offset, &global, &local, 0, NULL, &event);
    TRY(device_check(core, device, code, device->phases[kernel->phase].name));
    TRY(device_note(core, device, event, kernel->phase, kernel->number));
  }
  return SCREE_OK;
}
