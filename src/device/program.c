/* Programs: embedded sources, with what they include put in its place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/internal.h"

enum { INCLUDES_MAX = 64, DEPTH_MAX = 16, LOG_TEXT = 300 };

/* The text of a program while it grows. */
typedef struct Text {
  Core *core;
  char *data;
  int64_t size;
  const DeviceSource *included[INCLUDES_MAX];
  int included_count;
} Text;

static const DeviceSource *find_source(const char *name, size_t length) {
  for (int k = 0; k < device_source_count; k++)
    if (strlen(device_sources[k].name) == length && strncmp(device_sources[k].name, name, length) == 0)
      return &device_sources[k];
  return NULL;
}

static Status add(Text *text, const char *from, size_t size) {
  TRY(memory_grow(text->core, &text->data, text->size + (int64_t)size + 1, "source of a program"));
  memcpy(text->data + text->size, from, size);
  text->size += (int64_t)size;
  text->data[text->size] = 0;
  return SCREE_OK;
}

/* The file that a line includes by `#include "name"`; NULL: none that is embedded. Others stay as they are: they stand
 * in branches for other targets. */
static const DeviceSource *included_by(const char *line, size_t length) {
  static const char word[] = "#include \"";
  size_t begin = sizeof word - 1, end = begin;
  if (length <= begin || strncmp(line, word, begin) != 0) return NULL;
  while (end < length && line[end] != '"') end++;
  return find_source(line + begin, end - begin);
}

static Status add_source(Text *text, const DeviceSource *source, int depth);

/* A header without a guard, which is meant to be included with several meanings of its macros. */
static bool is_template(const DeviceSource *source) {
  static const char guard[] = "#ifndef ";
  const char *at = (const char *)source->text, *end = at + source->size - sizeof guard;
  while (at < end && memcmp(at, guard, sizeof guard - 1) != 0) at++;
  return at >= end && strcmp(strrchr(source->name, '.'), ".h") == 0;
}

static Status add_include(Text *text, const DeviceSource *source, int depth) {
  if (is_template(source)) return add_source(text, source, depth);
  for (int k = 0; k < text->included_count; k++)
    if (text->included[k] == source) return SCREE_OK;
  if (text->included_count == INCLUDES_MAX || depth == DEPTH_MAX)
    return fail(text->core, SCREE_FAILED, "kernels: '%s' includes too much", source->name);
  text->included[text->included_count++] = source;
  return add_source(text, source, depth);
}

static Status add_source(Text *text, const DeviceSource *source, int depth) {
  const char *at = (const char *)source->text, *end = at + source->size;
  while (at < end) {
    const char *next = memchr(at, '\n', (size_t)(end - at));
    next = next ? next + 1 : end;
    const DeviceSource *other = included_by(at, (size_t)(next - at));
    TRY(other ? add_include(text, other, depth + 1) : add(text, at, (size_t)(next - at)));
    at = next;
  }
  return SCREE_OK;
}

/* The first line of the compiler's log that names an error, for a message of one line. */
static Status build_failed(Core *core, const Device *device, cl_program program, const char *source) {
  size_t size = 0;
  char *log = NULL, line[LOG_TEXT] = "no reason given";
  clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  TRY(memory_new(core, &log, (int64_t)size + 1, "log of a compiler"));
  clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
  const char *at = strstr(log, "error");
  if (!at) at = log;
  if (*at) snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
  memory_drop(core, &log);
  return fail(core, SCREE_FAILED, "opencl:%d (%s): building %s failed: %s", device->index, device->info.name, source,
              line);
}

static Status compile(Core *core, Device *device, const Text *text, const char *source, const char *macros,
                      cl_program *program) {
  char options[256];
  const char *lines = text->data;
  cl_int code = CL_SUCCESS;
  *program = clCreateProgramWithSource(device->context, 1, &lines, NULL, &code);
  TRY(device_check(core, device, code, "making a program"));
  snprintf(options, sizeof options, "-cl-std=CL1.2 %s %s",
           device->info.exact ? "-cl-fp32-correctly-rounded-divide-sqrt" : "", macros);
  code = clBuildProgram(*program, 1, &device->id, options, NULL, NULL);
  if (code == CL_BUILD_PROGRAM_FAILURE) return build_failed(core, device, *program, source);
  return device_check(core, device, code, "building a program");
}

Status device_build(Core *core, Device *device, const char *source, const char *macros, DeviceProgram **program) {
  static const char strict[] = "#pragma OPENCL FP_CONTRACT OFF\n";
  const DeviceSource *file = find_source(source, strlen(source));
  if (!file) return fail(core, SCREE_FAILED, "kernels: '%s' is not embedded", source);
  Text text = {.core = core};
  cl_program made = NULL;
  Status status = add(&text, strict, sizeof strict - 1);
  if (status == SCREE_OK) status = add_source(&text, file, 0);
  if (status == SCREE_OK) status = compile(core, device, &text, source, macros, &made);
  memory_drop(core, &text.data);
  if (status == SCREE_OK) status = memory_new(core, program, 1, "program");
  if (status == SCREE_OK) **program = (DeviceProgram){device, made};
  else if (made) clReleaseProgram(made);
  return status;
}

void device_program_free(Core *core, DeviceProgram *program) {
  if (!program) return;
  clReleaseProgram(program->program);
  memory_free(&core->memory, program);
}

Status device_kernel(Core *core, DeviceProgram *program, const char *name, const char *phase, DeviceKernel **kernel) {
  cl_int code = CL_SUCCESS;
  cl_kernel made = clCreateKernel(program->program, name, &code);
  TRY(device_check(core, program->device, code, name));
  Status status = memory_new(core, kernel, 1, "kernel");
  if (status == SCREE_OK)
    **kernel = (DeviceKernel){.device = program->device,
                              .kernel = made,
                              .phase = device_phase(program->device, phase),
                              .number = device_kernel_number(program->device, name),
                              .memory_at = -1};
  else clReleaseKernel(made);
  return status;
}

void device_kernel_free(Core *core, DeviceKernel *kernel) {
  if (!kernel) return;
  clReleaseKernel(kernel->kernel);
  memory_free(&core->memory, kernel);
}
