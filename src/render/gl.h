/* OpenGL as this renderer uses it: the functions (one list), shaders from one source for both dialects, and targets. */
#ifndef RENDER_GL_H
#define RENDER_GL_H

#include <GL/glcorearb.h>

#include "core/core.h"
#include "render/render.h"

/* X(type, name without the gl) */
#define GL_FUNCTIONS(X)                                                                                                \
  X(PFNGLACTIVETEXTUREPROC, ActiveTexture)                                                                             \
  X(PFNGLATTACHSHADERPROC, AttachShader)                                                                               \
  X(PFNGLBINDATTRIBLOCATIONPROC, BindAttribLocation)                                                                   \
  X(PFNGLBINDBUFFERPROC, BindBuffer)                                                                                   \
  X(PFNGLBINDFRAMEBUFFERPROC, BindFramebuffer)                                                                         \
  X(PFNGLBINDTEXTUREPROC, BindTexture)                                                                                 \
  X(PFNGLBINDVERTEXARRAYPROC, BindVertexArray)                                                                         \
  X(PFNGLBLENDFUNCPROC, BlendFunc)                                                                                     \
  X(PFNGLBLITFRAMEBUFFERPROC, BlitFramebuffer)                                                                         \
  X(PFNGLBUFFERDATAPROC, BufferData)                                                                                   \
  X(PFNGLCHECKFRAMEBUFFERSTATUSPROC, CheckFramebufferStatus)                                                           \
  X(PFNGLCLEARPROC, Clear)                                                                                             \
  X(PFNGLCLEARCOLORPROC, ClearColor)                                                                                   \
  X(PFNGLCOLORMASKPROC, ColorMask)                                                                                     \
  X(PFNGLCOMPILESHADERPROC, CompileShader)                                                                             \
  X(PFNGLCREATEPROGRAMPROC, CreateProgram)                                                                             \
  X(PFNGLCREATESHADERPROC, CreateShader)                                                                               \
  X(PFNGLCULLFACEPROC, CullFace)                                                                                       \
  X(PFNGLDELETEBUFFERSPROC, DeleteBuffers)                                                                             \
  X(PFNGLDELETEFRAMEBUFFERSPROC, DeleteFramebuffers)                                                                   \
  X(PFNGLDELETEPROGRAMPROC, DeleteProgram)                                                                             \
  X(PFNGLDELETESHADERPROC, DeleteShader)                                                                               \
  X(PFNGLDELETETEXTURESPROC, DeleteTextures)                                                                           \
  X(PFNGLDELETEVERTEXARRAYSPROC, DeleteVertexArrays)                                                                   \
  X(PFNGLDEPTHFUNCPROC, DepthFunc)                                                                                     \
  X(PFNGLDEPTHMASKPROC, DepthMask)                                                                                     \
  X(PFNGLDISABLEPROC, Disable)                                                                                         \
  X(PFNGLDRAWARRAYSPROC, DrawArrays)                                                                                   \
  X(PFNGLDRAWARRAYSINSTANCEDPROC, DrawArraysInstanced)                                                                 \
  X(PFNGLDRAWBUFFERSPROC, DrawBuffers)                                                                                 \
  X(PFNGLENABLEPROC, Enable)                                                                                           \
  X(PFNGLENABLEVERTEXATTRIBARRAYPROC, EnableVertexAttribArray)                                                         \
  X(PFNGLFINISHPROC, Finish)                                                                                           \
  X(PFNGLFRAMEBUFFERTEXTURE2DPROC, FramebufferTexture2D)                                                               \
  X(PFNGLGENBUFFERSPROC, GenBuffers)                                                                                   \
  X(PFNGLGENFRAMEBUFFERSPROC, GenFramebuffers)                                                                         \
  X(PFNGLGENTEXTURESPROC, GenTextures)                                                                                 \
  X(PFNGLGENVERTEXARRAYSPROC, GenVertexArrays)                                                                         \
  X(PFNGLGENERATEMIPMAPPROC, GenerateMipmap)                                                                           \
  X(PFNGLGETERRORPROC, GetError)                                                                                       \
  X(PFNGLGETFLOATVPROC, GetFloatv)                                                                                     \
  X(PFNGLGETINTEGERVPROC, GetIntegerv)                                                                                 \
  X(PFNGLGETPROGRAMINFOLOGPROC, GetProgramInfoLog)                                                                     \
  X(PFNGLGETPROGRAMIVPROC, GetProgramiv)                                                                               \
  X(PFNGLGETSHADERINFOLOGPROC, GetShaderInfoLog)                                                                       \
  X(PFNGLGETSHADERIVPROC, GetShaderiv)                                                                                 \
  X(PFNGLGETSTRINGPROC, GetString)                                                                                     \
  X(PFNGLGETUNIFORMLOCATIONPROC, GetUniformLocation)                                                                   \
  X(PFNGLLINKPROGRAMPROC, LinkProgram)                                                                                 \
  X(PFNGLPIXELSTOREIPROC, PixelStorei)                                                                                 \
  X(PFNGLREADPIXELSPROC, ReadPixels)                                                                                   \
  X(PFNGLSHADERSOURCEPROC, ShaderSource)                                                                               \
  X(PFNGLTEXIMAGE2DPROC, TexImage2D)                                                                                   \
  X(PFNGLTEXPARAMETERIPROC, TexParameteri)                                                                             \
  X(PFNGLUNIFORM1FPROC, Uniform1f)                                                                                     \
  X(PFNGLUNIFORM1IPROC, Uniform1i)                                                                                     \
  X(PFNGLUNIFORM2FPROC, Uniform2f)                                                                                     \
  X(PFNGLUNIFORM3FPROC, Uniform3f)                                                                                     \
  X(PFNGLUNIFORM4FPROC, Uniform4f)                                                                                     \
  X(PFNGLUNIFORMMATRIX4FVPROC, UniformMatrix4fv)                                                                       \
  X(PFNGLUSEPROGRAMPROC, UseProgram)                                                                                   \
  X(PFNGLVERTEXATTRIBDIVISORPROC, VertexAttribDivisor)                                                                 \
  X(PFNGLVERTEXATTRIBPOINTERPROC, VertexAttribPointer)                                                                 \
  X(PFNGLVIEWPORTPROC, Viewport)

#define GL_MEMBER(type, name) type name;
typedef struct Gl {
  GL_FUNCTIONS(GL_MEMBER)
  bool es;
  bool software;
  float point_limit; /* largest point in pixels */
  GLint texture_limit;
  const char *device;
} Gl;

Status gl_load(Core *core, Gl *gl, RenderLoader loader);

/* Attribute slots, the same in every program. */
enum { GL_SLOT_A, GL_SLOT_B, GL_SLOT_C };

/* `common` and the stages are put behind a header that hides the difference of the dialects; attributes are a_a, a_b,
 * a_c in slots 0 to 2. */
Status gl_program(Core *core, const Gl *gl, const char *name, const char *common, const char *vertex,
                  const char *fragment, GLuint *program);
/* Vertex stage of a pass over the whole target: one triangle without any buffer; gives v_uv. */
extern const char *const gl_whole_vertex;
void gl_draw_whole(const Gl *gl, GLuint vertex_array);

typedef struct GlTarget {
  int width, height;
  GLuint frame;
  GLuint color[2];
  GLuint depth;
} GlTarget;

typedef struct GlTargetPlan {
  GLenum color[2]; /* internal formats; 0: none */
  bool depth;
  GLuint shared_depth; /* use this depth texture instead of an own one */
  bool linear;         /* colour is sampled with interpolation */
} GlTargetPlan;

/* Makes the target of that size, or keeps it when it has it already. */
Status gl_target(Core *core, const Gl *gl, GlTarget *target, int width, int height, GlTargetPlan plan);
void gl_target_destroy(const Gl *gl, GlTarget *target);
void gl_target_bind(const Gl *gl, const GlTarget *target);
void gl_texture_bind(const Gl *gl, int unit, GLuint texture);

static inline GLint gl_at(const Gl *gl, GLuint program, const char *name) {
  return gl->GetUniformLocation(program, name);
}

#endif
