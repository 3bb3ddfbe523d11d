/* Memory on the device, and the bus. */
#include <stdio.h>
#include <string.h>

#include "device/internal.h"

#define GROWTH_BYTES ((int64_t)8 << 20)

static double megabytes(int64_t bytes) { return (double)bytes / 1048576; }

void device_release(Device *device, DeviceBuffer *buffer) {
  if (buffer->handle) {
    clReleaseMemObject(buffer->handle);
    device->memory_at++;
    device->use.memory -= buffer->bytes;
  }
  *buffer = (DeviceBuffer){.handle = NULL};
}

static Status check_room(Core *core, const Device *device, int64_t bytes, const char *label) {
  const ScreeDeviceInfo *info = &device->info;
  if (device->use.memory + bytes > info->memory_bytes)
    return fail(core, SCREE_NO_MEMORY, "opencl:%d (%s): %s: %.0f MB besides %.0f MB, the device has %.0f MB",
                device->index, info->name, label, megabytes(bytes), megabytes(device->use.memory),
                megabytes(info->memory_bytes));
  return SCREE_OK;
}

/* Drivers may give more in one piece than the device says: they are asked. */
static Status make_buffer(Core *core, Device *device, const char *label, DeviceBuffer *buffer) {
  const ScreeDeviceInfo *info = &device->info;
  cl_int code = CL_SUCCESS;
  TRY(check_room(core, device, buffer->bytes, label));
  buffer->handle = clCreateBuffer(device->context, CL_MEM_READ_WRITE, (size_t)buffer->bytes, NULL, &code);
  if (code == CL_INVALID_BUFFER_SIZE)
    return fail(core, SCREE_NO_MEMORY, "opencl:%d (%s): %s: %.0f MB in one piece, the device allows %.0f MB",
                device->index, info->name, label, megabytes(buffer->bytes), megabytes(info->buffer_bytes));
  return device_check(core, device, code, label);
}

/* A buffer that had to grow a little will do so again: there is room to spare, of large ones a smaller share. */
static int64_t grown(int64_t bytes) {
  return bytes / 8 < GROWTH_BYTES ? bytes / 8 : bytes / 64 < GROWTH_BYTES ? GROWTH_BYTES : bytes / 64;
}

Status device_reserve(Core *core, Device *device, DeviceBuffer *buffer, int64_t bytes, int64_t keep,
                      const char *label) {
  if (bytes <= buffer->bytes) return SCREE_OK;
  const int64_t spare = buffer->bytes + grown(buffer->bytes);
  DeviceBuffer larger = {.bytes = bytes < spare && buffer->bytes > 0 ? spare : bytes};
  larger.bytes = (larger.bytes + 63) / 64 * 64;
  if (keep == 0) device_release(device, buffer);
  TRY(make_buffer(core, device, label, &larger));
  device->memory_at++;
  device->use.memory += larger.bytes;
  if (device->use.memory > device->use.memory_peak) device->use.memory_peak = device->use.memory;
  Status status = keep > 0 ? device_copy(core, device, buffer, &larger, 0, keep) : SCREE_OK;
  if (status != SCREE_OK) {
    device_release(device, &larger);
    return status;
  }
  device_release(device, buffer); /* OpenCL keeps it until the copy is done */
  *buffer = larger;
  return SCREE_OK;
}

Status device_slice(Core *core, Device *device, const DeviceBuffer *whole, int64_t begin, int64_t bytes,
                    DeviceBuffer *slice) {
  const cl_buffer_region region = {(size_t)begin, (size_t)bytes};
  cl_int code = CL_SUCCESS;
  device_release(device, slice);
  slice->handle = clCreateSubBuffer(whole->handle, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  device->memory_at++;
  return device_check(core, device, code, "a part of memory");
}

/* Small data goes over the bus by way of memory that stays where it is: a device fetches it from there when it comes to
 * it, and nobody waits. NULL where there is no room. */
static Status stage_room(Core *core, Device *device, int64_t bytes, char **room) {
  *room = NULL;
  if (bytes > STAGE_BYTES / 4) return SCREE_OK;
  if (!device->stage) {
    cl_int code = CL_SUCCESS;
    device->stage_buffer =
        clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, STAGE_BYTES, NULL, &code);
    TRY(device_check(core, device, code, "memory of the bus"));
    device->stage = clEnqueueMapBuffer(device->queue, device->stage_buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                       STAGE_BYTES, 0, NULL, NULL, &code);
    TRY(device_check(core, device, code, "memory of the bus"));
  }
  if (device->staged + bytes > STAGE_BYTES) TRY(device_finish(core, device));
  *room = device->stage + device->staged;
  device->staged += (bytes + 63) / 64 * 64;
  return SCREE_OK;
}

Status device_write(Core *core, Device *device, const DeviceBuffer *buffer, int64_t offset, int64_t bytes,
                    const void *data) {
  cl_event event;
  char *room = NULL;
  if (bytes == 0) return SCREE_OK;
  TRY(stage_room(core, device, bytes, &room));
  if (room) memcpy(room, data, (size_t)bytes);
  device->use.waits += room == NULL;
  cl_int code = clEnqueueWriteBuffer(device->queue, buffer->handle, room ? CL_FALSE : CL_TRUE, (size_t)offset,
                                     (size_t)bytes, room ? room : data, 0, NULL, device_event(device, &event));
  TRY(device_check(core, device, code, "copying to it"));
  device->use.up += bytes;
  return device_note(core, device, event, device_phase(device, "device copies"), NO_KERNEL);
}

/* One of several reads; `room`: where it comes to first, NULL: where it is wanted. The last is waited for here where
 * commands are not timed. */
static Status begin_read(Core *core, Device *device, const DeviceRead *read, char *room, bool last, cl_event *waited) {
  cl_event event;
  const cl_bool waits = last && !device->timed ? CL_TRUE : CL_FALSE;
  cl_int code =
      clEnqueueReadBuffer(device->queue, read->buffer->handle, waits, (size_t)read->offset, (size_t)read->bytes,
                          room ? room : read->data, 0, NULL, device_event(device, &event));
  TRY(device_check(core, device, code, "copying from it"));
  device->use.down += read->bytes;
  if (event && last) *waited = clRetainEvent(event) == CL_SUCCESS ? event : NULL;
  return device_note(core, device, event, device_phase(device, "device copies"), NO_KERNEL);
}

/* While the device gets there, times of earlier commands are added up. */
static Status end_reads(Core *core, Device *device, cl_event last) {
  device->use.waits++;
  if (!last) {
    device_over(device);
    return SCREE_OK;
  }
  cl_int code = clFlush(device->queue);
  Status status = device_add_up(core, device);
  if (code == CL_SUCCESS) code = clWaitForEvents(1, &last);
  TRY(device_check(core, device, code, "copying from it"));
  device_over(device);
  return status;
}

Status device_read_many(Core *core, Device *device, const DeviceRead *reads, int count) {
  char *rooms[DEVICE_READS_MAX] = {NULL};
  cl_event waited = NULL;
  int64_t bytes = 0;
  int last = 0;
  Status status = SCREE_OK;
  for (int k = 0; k < count; k++) {
    bytes += (reads[k].bytes + 63) / 64 * 64;
    if (reads[k].bytes > 0) last = k;
  }
  if (bytes == 0) return SCREE_OK;
  if (bytes <= STAGE_BYTES / 4) TRY(stage_room(core, device, bytes, &rooms[0]));
  for (int k = 1; k < count && rooms[0]; k++) rooms[k] = rooms[k - 1] + (reads[k - 1].bytes + 63) / 64 * 64;
  for (int k = 0; k < count && status == SCREE_OK; k++)
    if (reads[k].bytes > 0) status = begin_read(core, device, &reads[k], rooms[k], k == last, &waited);
  if (status == SCREE_OK) status = end_reads(core, device, waited);
  if (waited) clReleaseEvent(waited);
  for (int k = 0; k < count && rooms[0] && status == SCREE_OK; k++)
    memcpy(reads[k].data, rooms[k], (size_t)reads[k].bytes);
  return status;
}

Status device_read(Core *core, Device *device, const DeviceBuffer *buffer, int64_t offset, int64_t bytes, void *data) {
  const DeviceRead read = {buffer, offset, bytes, data};
  return device_read_many(core, device, &read, 1);
}

Status device_copy(Core *core, Device *device, const DeviceBuffer *from, const DeviceBuffer *to, int64_t offset,
                   int64_t bytes) {
  cl_event event;
  if (bytes == 0) return SCREE_OK;
  cl_int code = clEnqueueCopyBuffer(device->queue, from->handle, to->handle, 0, (size_t)offset, (size_t)bytes, 0, NULL,
                                    device_event(device, &event));
  TRY(device_check(core, device, code, "copying on it"));
  return device_note(core, device, event, device_phase(device, "device moves"), NO_KERNEL);
}

Status device_clear(Core *core, Device *device, const DeviceBuffer *buffer, int64_t bytes) {
  const cl_uint zero = 0;
  cl_event event;
  if (bytes == 0) return SCREE_OK;
  cl_int code = clEnqueueFillBuffer(device->queue, buffer->handle, &zero, sizeof zero, 0, (size_t)bytes, 0, NULL,
                                    device_event(device, &event));
  TRY(device_check(core, device, code, "clearing memory"));
  return device_note(core, device, event, device_phase(device, "device moves"), NO_KERNEL);
}
