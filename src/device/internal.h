/* What the files of this room share. */
#ifndef DEVICE_INTERNAL_H
#define DEVICE_INTERNAL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "device/device.h"

enum {
  PHASES_MAX = 32,
  STAGE_BYTES = 1 << 22,
  ARGUMENTS_MAX = 40,
  ARGUMENT_BYTES = 192,
  KERNELS_MAX = 160,
  NO_KERNEL = -1
};

/* A command whose times are not added up yet. */
typedef struct DeviceEvent {
  cl_event event;
  int phase, kernel;
} DeviceEvent;

/* Times of commands of one name. */
typedef struct DeviceTime {
  double seconds;
  int64_t timed; /* commands that these are of */
} DeviceTime;

struct Device {
  Core *core; /* of who opened it: its memory */
  ScreeDeviceInfo info;
  int32_t index;
  cl_device_id id;
  cl_context context;
  cl_command_queue queues[2], queue; /* not timed, and timed; which of them is in use */
  DeviceUse use;
  ScreePhase phases[PHASES_MAX], kernels[KERNELS_MAX];
  DeviceTime phase_times[PHASES_MAX], kernel_times[KERNELS_MAX];
  DeviceTimes times;
  bool timed;     /* commands are now */
  int64_t frames; /* that have begun */
  DeviceEvent *events;
  int64_t piece; /* work items of a launch at most */
  int64_t event_count;
  int64_t events_done; /* so many of them are those of commands that are known to be over */
  cl_mem stage_buffer; /* host memory that the device reaches by itself: what is on its way */
  char *stage;
  int64_t staged;    /* bytes of it that commands still need */
  int64_t memory_at; /* how often memory has been taken or given back */
};

/* What an argument was set to. */
typedef struct ArgumentSet {
  size_t size;
  char value[ARGUMENT_BYTES];
} ArgumentSet;

struct DeviceProgram {
  Device *device;
  cl_program program;
};

struct DeviceKernel {
  Device *device;
  cl_kernel kernel;
  int phase, number; /* in the device's tables */
  ArgumentSet set[ARGUMENTS_MAX];
  int64_t memory_at; /* of the device, when they were set */
};

/* What an OpenCL call has come to, as a status: `doing` is what was tried. */
Status device_check(Core *core, const Device *device, cl_int code, const char *doing);
/* The phase of that name, a new one where there is none. */
int device_phase(Device *device, const char *name);
int device_kernel_number(Device *device, const char *name);
/* Where the event of a command goes that is about to be queued: NULL where it is not timed. */
static inline cl_event *device_event(const Device *device, cl_event *event) {
  *event = NULL;
  return device->timed ? event : NULL;
}
/* Takes note of a command that was queued, NO_KERNEL where it is none. */
Status device_note(Core *core, Device *device, cl_event event, int phase, int kernel);

/* All commands before this moment are over. */
void device_over(Device *device);
/* Adds up the times of commands that are known to be over. */
Status device_add_up(Core *core, Device *device);

/* An embedded file: cmake/embed.cmake makes the table. */
typedef struct DeviceSource {
  const char *name; /* "core/lane.h" */
  const unsigned char *text;
  size_t size;
} DeviceSource;
extern const DeviceSource device_sources[];
extern const int device_source_count;

#endif
