/* This build has no OpenCL: there are no devices, and nobody comes further than opening one. */
#include "device/device.h"

static Status none(Core *core) {
  return fail(core, SCREE_BAD_INPUT, "this build has no OpenCL (`make deps` installs what it needs)");
}

int32_t device_count(void) { return 0; }

Status device_describe(int32_t index, ScreeDeviceInfo *info) {
  (void)index, (void)info;
  return SCREE_BAD_ARGUMENT;
}

Status device_open(Core *core, int32_t index, Device **device) {
  (void)index, (void)device;
  return none(core);
}

void device_close(Core *core, Device *device) { (void)core, (void)device; }

const ScreeDeviceInfo *device_info(const Device *device) {
  static const ScreeDeviceInfo nothing = {.exact = false};
  (void)device;
  return &nothing;
}

bool device_is_processor(const Device *device) {
  (void)device;
  return true;
}

bool device_has_doubles(const Device *device) {
  (void)device;
  return false;
}

Status device_reserve(Core *core, Device *device, DeviceBuffer *buffer, int64_t bytes, int64_t keep,
                      const char *label) {
  (void)device, (void)buffer, (void)bytes, (void)keep, (void)label;
  return none(core);
}

Status device_slice(Core *core, Device *device, const DeviceBuffer *whole, int64_t begin, int64_t bytes,
                    DeviceBuffer *slice) {
  (void)device, (void)whole, (void)begin, (void)bytes, (void)slice;
  return none(core);
}

void device_release(Device *device, DeviceBuffer *buffer) { (void)device, (void)buffer; }

Status device_write(Core *core, Device *device, const DeviceBuffer *buffer, int64_t offset, int64_t bytes,
                    const void *data) {
  (void)device, (void)buffer, (void)offset, (void)bytes, (void)data;
  return none(core);
}

Status device_read(Core *core, Device *device, const DeviceBuffer *buffer, int64_t offset, int64_t bytes, void *data) {
  (void)device, (void)buffer, (void)offset, (void)bytes, (void)data;
  return none(core);
}

Status device_read_many(Core *core, Device *device, const DeviceRead *reads, int count) {
  (void)device, (void)reads, (void)count;
  return none(core);
}

Status device_copy(Core *core, Device *device, const DeviceBuffer *from, const DeviceBuffer *to, int64_t offset,
                   int64_t bytes) {
  (void)device, (void)from, (void)to, (void)offset, (void)bytes;
  return none(core);
}

Status device_clear(Core *core, Device *device, const DeviceBuffer *buffer, int64_t bytes) {
  (void)device, (void)buffer, (void)bytes;
  return none(core);
}

Status device_finish(Core *core, Device *device) {
  (void)device;
  return none(core);
}

Status device_build(Core *core, Device *device, const char *source, const char *macros, DeviceProgram **program) {
  (void)device, (void)source, (void)macros, (void)program;
  return none(core);
}

void device_program_free(Core *core, DeviceProgram *program) { (void)core, (void)program; }

Status device_kernel(Core *core, DeviceProgram *program, const char *name, const char *phase, DeviceKernel **kernel) {
  (void)program, (void)name, (void)phase, (void)kernel;
  return none(core);
}

void device_kernel_free(Core *core, DeviceKernel *kernel) { (void)core, (void)kernel; }

Status device_launch(Core *core, DeviceKernel *kernel, int64_t begin, int64_t end, int64_t group,
                     const DeviceArgument *arguments, int count) {
  (void)kernel, (void)begin, (void)end, (void)group, (void)arguments, (void)count;
  return none(core);
}

DeviceUse device_use(Device *device) {
  (void)device;
  return (DeviceUse){.memory = 0};
}

DeviceUse device_use_so_far(Device *device) { return device_use(device); }

void device_set_times(Device *device, DeviceTimes times) { (void)device, (void)times; }
void device_begin_frame(Device *device) { (void)device; }
