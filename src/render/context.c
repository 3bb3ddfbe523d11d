/* A GL context without a window. libEGL is opened at run time, so that a program starts on machines without it. */
#include "render/render.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define EGL_FUNCTIONS(X)                                                                                               \
  X(PFNEGLGETPROCADDRESSPROC, GetProcAddress)                                                                          \
  X(PFNEGLINITIALIZEPROC, Initialize)                                                                                  \
  X(PFNEGLTERMINATEPROC, Terminate)                                                                                    \
  X(PFNEGLBINDAPIPROC, BindAPI)                                                                                        \
  X(PFNEGLCHOOSECONFIGPROC, ChooseConfig)                                                                              \
  X(PFNEGLCREATECONTEXTPROC, CreateContext)                                                                            \
  X(PFNEGLDESTROYCONTEXTPROC, DestroyContext)                                                                          \
  X(PFNEGLMAKECURRENTPROC, MakeCurrent)
#define EGL_MEMBER(type, name) type name;

struct RenderContext {
  EGL_FUNCTIONS(EGL_MEMBER)
  void *library;
  EGLDisplay display;
  EGLContext context;
};

static ScreeStatus context_fail(RenderContext *context, ScreeError *error, const char *message) {
  render_context_destroy(context);
  if (error) {
    *error = (ScreeError){.status = SCREE_BAD_INPUT};
    snprintf(error->message, sizeof error->message, "cannot draw without a window: %s", message);
  }
  return SCREE_BAD_INPUT;
}

static EGLDisplay context_display(const RenderContext *context) {
  PFNEGLGETPLATFORMDISPLAYEXTPROC get =
      (PFNEGLGETPLATFORMDISPLAYEXTPROC)context->GetProcAddress("eglGetPlatformDisplayEXT");
  PFNEGLQUERYDEVICESEXTPROC devices = (PFNEGLQUERYDEVICESEXTPROC)context->GetProcAddress("eglQueryDevicesEXT");
  if (!get) return EGL_NO_DISPLAY;
  /* A graphics card first, where its driver offers devices; then Mesa's surfaceless platform, which also runs on the
   * CPU alone. EGL_PLATFORM=surfaceless asks for the latter at once. */
  EGLDeviceEXT found[16];
  EGLint count = 0, major, minor;
  const char *wish = getenv("EGL_PLATFORM");
  if (!wish && devices && devices(16, found, &count))
    for (EGLint k = 0; k < count; k++) {
      EGLDisplay display = get(EGL_PLATFORM_DEVICE_EXT, found[k], NULL);
      if (display != EGL_NO_DISPLAY && context->Initialize(display, &major, &minor)) return display;
    }
  EGLDisplay display = get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  if (display != EGL_NO_DISPLAY && context->Initialize(display, &major, &minor)) return display;
  return EGL_NO_DISPLAY;
}

ScreeStatus render_context_create(RenderApi api, RenderContext **result, ScreeError *error) {
  *result = NULL;
  RenderContext *context = calloc(1, sizeof *context);
  if (!context) return context_fail(context, error, "out of memory");
  context->library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!context->library) return context_fail(context, error, "EGL (libEGL.so.1) is not installed");
#define EGL_LOAD(type, function)                                                                                       \
  context->function = (type)dlsym(context->library, "egl" #function);                                                  \
  if (!context->function) return context_fail(context, error, "libEGL has no egl" #function);
  EGL_FUNCTIONS(EGL_LOAD)
  context->display = context_display(context);
  if (context->display == EGL_NO_DISPLAY) return context_fail(context, error, "EGL finds no device and no CPU driver");
  const EGLint wishes[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE,
                           api == RENDER_GLES ? EGL_OPENGL_ES3_BIT : EGL_OPENGL_BIT, EGL_NONE};
  const EGLint core_profile[] = {
      EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  const EGLint embedded[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0, EGL_NONE};
  EGLConfig config;
  EGLint count = 0;
  context->BindAPI(api == RENDER_GLES ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
  if (!context->ChooseConfig(context->display, wishes, &config, 1, &count) || count < 1)
    return context_fail(context, error, "EGL has no suitable configuration");
  context->context =
      context->CreateContext(context->display, config, EGL_NO_CONTEXT, api == RENDER_GLES ? embedded : core_profile);
  if (context->context == EGL_NO_CONTEXT) return context_fail(context, error, "the driver lacks OpenGL 3.3");
  if (!context->MakeCurrent(context->display, EGL_NO_SURFACE, EGL_NO_SURFACE, context->context))
    return context_fail(context, error, "the driver cannot work without a surface");
  *result = context;
  return SCREE_OK;
}

RenderLoader render_context_loader(const RenderContext *context) { return (RenderLoader)context->GetProcAddress; }

void render_context_destroy(RenderContext *context) {
  if (!context) return;
  if (context->context) {
    context->MakeCurrent(context->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    context->DestroyContext(context->display, context->context);
  }
  if (context->display) context->Terminate(context->display);
  /* The library stays open: drivers leave threads and exit handlers behind that would run into unmapped code. */
  free(context);
}
