/* OpenCL 1.2 devices: what there is, memory, programs, launches, times. The only room that knows OpenCL.
 *
 * A kernel (`*.cl`, in the room of what it computes) is a loop over a law: it includes the same `*_law.h` and
 * core/lane.h as the CPU. Both are embedded in the library (cmake/embed.cmake). With FP_CONTRACT off and correctly
 * rounded division and roots a device then gives the bits of the CPU; one that cannot do so (`exact`) runs with a
 * warning.
 *
 * Work is queued in order; device_finish, device_read and device_use wait for it, and device_write of much data.
 * Failures of the device (a program that does not build, memory that is not there, a device that is lost) are statuses
 * with one line. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "core/core.h"

typedef struct Device Device;
typedef struct DeviceProgram DeviceProgram;
typedef struct DeviceKernel DeviceKernel;

enum { DEVICE_CPU = -1 };

/* "cpu" (*index = DEVICE_CPU), "opencl" (the first one) or "opencl:N". SCREE_BAD_INPUT where there is no such thing. */
Status device_find(Core *core, const char *text, int32_t *index);

int32_t device_count(void);
/* SCREE_BAD_ARGUMENT where there are not so many. */
Status device_describe(int32_t index, ScreeDeviceInfo *info);

Status device_open(Core *core, int32_t index, Device **device);
void device_close(Core *core, Device *device);
const ScreeDeviceInfo *device_info(const Device *device);
/* Whether it is a processor: work items run one after another, and local memory is no nearer than other. */
bool device_is_processor(const Device *device);

bool device_has_doubles(const Device *device);

/* Memory on the device. What it begins with is not known; label: static text. */
typedef struct DeviceBuffer {
  void *handle;
  int64_t bytes;
} DeviceBuffer;

static inline void device_swap(DeviceBuffer *a, DeviceBuffer *b) {
  const DeviceBuffer other = *a;
  *a = *b;
  *b = other;
}

/* Makes it at least so large; a buffer that grows gets some room to spare, and its first `keep` bytes stay. */
Status device_reserve(Core *core, Device *device, DeviceBuffer *buffer, int64_t bytes, int64_t keep, const char *label);
void device_release(Device *device, DeviceBuffer *buffer);
/* A part of another's memory, which begins at a multiple of DEVICE_SLICE bytes; to be released before that. */
enum { DEVICE_SLICE = 4096 };
Status device_slice(Core *core, Device *device, const DeviceBuffer *whole, int64_t begin, int64_t bytes,
                    DeviceBuffer *slice);
/* Copies over the bus. The data may be used again when device_write returns. */
Status device_write(Core *core, Device *device, const DeviceBuffer *buffer, int64_t offset, int64_t bytes,
                    const void *data);
Status device_read(Core *core, Device *device, const DeviceBuffer *buffer, int64_t offset, int64_t bytes, void *data);
/* Several at once, which are waited for once. */
typedef struct DeviceRead {
  const DeviceBuffer *buffer;
  int64_t offset, bytes;
  void *data;
} DeviceRead;
enum { DEVICE_READS_MAX = 32 };
Status device_read_many(Core *core, Device *device, const DeviceRead *reads, int count);
/* On the device; `offset` is that in `to`. */
Status device_copy(Core *core, Device *device, const DeviceBuffer *from, const DeviceBuffer *to, int64_t offset,
                   int64_t bytes);
Status device_clear(Core *core, Device *device, const DeviceBuffer *buffer, int64_t bytes);
/* Waits for all that was queued. */
Status device_finish(Core *core, Device *device);

/* A program from the embedded source of that name ("upsample/fine.cl"), with macros ("-DX=1") or "". */
Status device_build(Core *core, Device *device, const char *source, const char *macros, DeviceProgram **program);
void device_program_free(Core *core, DeviceProgram *program);
/* `name` and `phase` are static texts; its times are added up under both. */
Status device_kernel(Core *core, DeviceProgram *program, const char *name, const char *phase, DeviceKernel **kernel);
void device_kernel_free(Core *core, DeviceKernel *kernel);

typedef struct DeviceArgument {
  const void *value; /* size 0: a DeviceBuffer */
  int64_t size;
} DeviceArgument;
#define DEVICE_BUFFER(buffer) ((DeviceArgument){(buffer), 0})
#define DEVICE_VALUE(value) ((DeviceArgument){&(value), (int64_t)sizeof(value)})
/* The arguments of a launch, and how many they are. */
#define DEVICE_ARGUMENTS(...)                                                                                          \
  (DeviceArgument[]){__VA_ARGS__}, (int)(sizeof((DeviceArgument[]){__VA_ARGS__}) / sizeof(DeviceArgument))

/* For lists of kernels, X(name, phase), and of buffers, X(name): members of a struct; and what `core` makes of them and
 * gives back, where `d` points to the struct, which has its `program` and its `device`. */
#define DEVICE_KERNEL_MEMBER(name, phase) DeviceKernel *name;
#define DEVICE_KERNEL_MAKE(name, phase) TRY(device_kernel(core, d->program, #name, phase, &d->name));
#define DEVICE_KERNEL_FREE(name, phase) device_kernel_free(core, d->name), d->name = NULL;
#define DEVICE_BUFFER_MEMBER(name) DeviceBuffer name;
#define DEVICE_BUFFER_POINTER(name) const DeviceBuffer *name;
#define DEVICE_BUFFER_RELEASE(name) device_release(d->device, &d->name);

/* A work item for each of [begin, end), in groups of `group`, and some more that fill the last group: kernels look at
 * their number. Many are launched in pieces, so that none runs longer than a second. */
Status device_launch(Core *core, DeviceKernel *kernel, int64_t begin, int64_t end, int64_t group,
                     const DeviceArgument *arguments, int count);

typedef struct DeviceUse {
  int64_t memory, memory_peak; /* bytes */
  int64_t up, down;            /* bytes over the bus */
  int64_t commands, waits;     /* that were queued; how often the host waited for the device */
  int32_t phase_count, kernel_count;
  const ScreePhase *phases;  /* from the device's events: all calls, at the mean time of those that were timed */
  const ScreePhase *kernels; /* the same, by the kernels' names */
} DeviceUse;
/* Which commands are timed: an event for each takes the host twice as long as queueing it does (11 and 5 us on an
 * H200), and copies take as long where a queue could time them and is not asked to; so there are two queues. Of a run
 * one frame in DEVICE_TIMED_FRAMES is timed, the first of all among them, and the others are taken to be like those;
 * commands before the first frame are, too. Setting it forgets the times so far. */
typedef enum DeviceTimes { DEVICE_TIMES_SOME, DEVICE_TIMES_ALL, DEVICE_TIMES_NONE } DeviceTimes;
enum { DEVICE_TIMED_FRAMES = 16 };
void device_set_times(Device *device, DeviceTimes times);
void device_begin_frame(Device *device);
/* Waits for all that was queued, which does not count; or times are those of commands that are known to be over. */
DeviceUse device_use(Device *device);
DeviceUse device_use_so_far(Device *device);

#endif
