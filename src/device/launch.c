/* Kernels are queued in pieces; events say how long each took. */
#include <string.h>

#include "core/parallel.h"
#include "device/internal.h"

enum { EVENTS_MOST = 4096 };

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

static void add_time(DeviceTime *time, double seconds) {
  time->seconds += seconds;
  time->timed++;
}

Status device_add_up(Core *core, Device *device) {
  Status status = SCREE_OK;
  const int64_t count = device->events_done;
  for (int64_t k = 0; k < count; k++) {
    DeviceEvent *at = &device->events[k];
    cl_ulong begin = 0, end = 0;
    cl_int done = CL_COMPLETE;
    clGetEventInfo(at->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof done, &done, NULL);
    if (done < 0 && status == SCREE_OK) status = device_check(core, device, done, device->phases[at->phase].name);
    clGetEventProfilingInfo(at->event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
    clGetEventProfilingInfo(at->event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    const double seconds = end > begin ? 1e-9 * (double)(end - begin) : 0;
    add_time(&device->phase_times[at->phase], seconds);
    if (at->kernel != NO_KERNEL) add_time(&device->kernel_times[at->kernel], seconds);
    clReleaseEvent(at->event);
  }
  memmove(device->events, device->events + count, sizeof *device->events * (size_t)(device->event_count - count));
  device->event_count -= count;
  device->events_done = 0;
  return status;
}

void device_over(Device *device) {
  device->events_done = device->event_count;
  device->staged = 0;
}

Status device_finish(Core *core, Device *device) {
  device->use.waits++;
  TRY(device_check(core, device, clFinish(device->queue), "waiting for it"));
  device_over(device);
  return device_add_up(core, device);
}

Status device_note(Core *core, Device *device, cl_event event, int phase, int kernel) {
  device->use.commands++;
  device->phases[phase].calls++;
  if (kernel != NO_KERNEL) device->kernels[kernel].calls++;
  if (!event) return SCREE_OK;
  Status status = memory_grow(core, &device->events, device->event_count + 1, "device events");
  if (status != SCREE_OK) {
    clReleaseEvent(event);
    return status;
  }
  device->events[device->event_count++] = (DeviceEvent){event, phase, kernel};
  return device->event_count < EVENTS_MOST ? SCREE_OK : device_finish(core, device);
}

/* Whether an argument is what it was, which is told of small ones; notes it. */
static bool argument_stands(ArgumentSet *set, size_t size, const void *value) {
  if (size > ARGUMENT_BYTES) return false;
  if (set->size == size && memcmp(set->value, value, size) == 0) return true;
  set->size = size;
  memcpy(set->value, value, size);
  return false;
}

/* Most are what they were in the launch before, and setting one takes a driver as long as a hundred instructions. New
 * memory may be where other memory was: all are set then. */
static Status set_arguments(Core *core, DeviceKernel *kernel, const DeviceArgument *arguments, int count) {
  if (kernel->memory_at != kernel->device->memory_at) memset(kernel->set, 0, sizeof kernel->set);
  kernel->memory_at = kernel->device->memory_at;
  for (int k = 0; k < count; k++) {
    const DeviceBuffer *buffer = arguments[k].value;
    const void *value = arguments[k].size > 0 ? arguments[k].value : &buffer->handle;
    size_t size = arguments[k].size > 0 ? (size_t)arguments[k].size : sizeof(cl_mem);
    if (k < ARGUMENTS_MAX && argument_stands(&kernel->set[k], size, value)) continue;
    cl_int code = clSetKernelArg(kernel->kernel, (cl_uint)k, size, value);
    TRY(device_check(core, kernel->device, code, "an argument of a kernel"));
  }
  return SCREE_OK;
}

Status device_launch(Core *core, DeviceKernel *kernel, int64_t begin, int64_t end, int64_t group,
                     const DeviceArgument *arguments, int count) {
  Device *device = kernel->device;
  TRY(set_arguments(core, kernel, arguments, count));
  for (int64_t b = begin; b < end; b += device->piece) {
    int64_t items = end - b < device->piece ? end - b : device->piece;
    size_t offset = (size_t)b, local = (size_t)group, global = ((size_t)items + local - 1) / local * local;
    cl_event event;
    cl_int code = clEnqueueNDRangeKernel(device->queue, kernel->kernel, 1, &offset, &global, &local, 0, NULL,
                                         device_event(device, &event));
    TRY(device_check(core, device, code, device->phases[kernel->phase].name));
    TRY(device_note(core, device, event, kernel->phase, kernel->number));
  }
  return SCREE_OK;
}

/* ---- which commands are timed ---- */

static void forget_times(ScreePhase *entries, DeviceTime *times, int32_t count) {
  for (int32_t k = 0; k < count; k++) {
    entries[k].calls = 0;
    times[k] = (DeviceTime){.timed = 0};
  }
}

/* What is under way is waited for, as the queues know nothing of each other. */
static void use_queue(Device *device, bool timed) {
  (void)device_finish(device->core, device); /* what fails here fails again where it matters */
  device->use.waits--;
  device->timed = timed;
  device->queue = device->queues[timed];
}

void device_set_times(Device *device, DeviceTimes times) {
  use_queue(device, times != DEVICE_TIMES_NONE);
  forget_times(device->phases, device->phase_times, device->use.phase_count);
  forget_times(device->kernels, device->kernel_times, device->use.kernel_count);
  device->times = times;
}

void device_begin_frame(Device *device) {
  const bool timed = device->frames % DEVICE_TIMED_FRAMES == 0;
  if (device->times == DEVICE_TIMES_SOME && timed != device->timed) use_queue(device, timed);
  device->frames++;
}

/* All calls, at the mean time of those that were timed. */
static void tell_times(ScreePhase *entries, const DeviceTime *times, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    entries[k].seconds =
        times[k].timed > 0 ? times[k].seconds * ((double)entries[k].calls / (double)times[k].timed) : 0;
}

DeviceUse device_use(Device *device) {
  (void)device_finish(device->core, device); /* what fails here fails again where it matters */
  device->use.waits--;
  return device_use_so_far(device);
}

DeviceUse device_use_so_far(Device *device) {
  (void)device_add_up(device->core, device);
  DeviceUse use = device->use;
  tell_times(device->phases, device->phase_times, use.phase_count);
  tell_times(device->kernels, device->kernel_times, use.kernel_count);
  use.phases = device->phases;
  use.kernels = device->kernels;
  return use;
}
