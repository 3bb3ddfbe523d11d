#include "render/gl.h"

#include <stdio.h>
#include <string.h>

Status gl_load(Core *core, Gl *gl, RenderLoader loader) {
  *gl = (Gl){0};
#define GL_LOAD(type, function)                                                                                        \
  gl->function = (type)loader("gl" #function);                                                                         \
  if (!gl->function) return fail(core, SCREE_BAD_INPUT, "the OpenGL driver has no gl" #function);
  GL_FUNCTIONS(GL_LOAD)
#undef GL_LOAD
  const char *version = (const char *)gl->GetString(GL_VERSION);
  const char *device = (const char *)gl->GetString(GL_RENDERER);
  if (!version || !device) return fail(core, SCREE_BAD_INPUT, "no OpenGL context is current");
  gl->es = strncmp(version, "OpenGL ES", 9) == 0;
  gl->device = device;
  gl->software = strstr(device, "llvmpipe") || strstr(device, "softpipe") || strstr(device, "SwiftShader");
  float range[2] = {1, 1};
  const GLenum aliased = 0x846D; /* ES's GL_ALIASED_POINT_SIZE_RANGE, which the header of desktop GL lacks */
  gl->GetFloatv(gl->es ? aliased : GL_POINT_SIZE_RANGE, range);
  gl->point_limit = range[1];
  gl->GetIntegerv(GL_MAX_TEXTURE_SIZE, &gl->texture_limit);
  while (gl->GetError() != GL_NO_ERROR) continue;
  return SCREE_OK;
}

static Status gl_shader(Core *core, const Gl *gl, const char *name, GLenum stage, const char *common, const char *body,
                        GLuint *shader) {
  const char *version = gl->es ? "#version 300 es\nprecision highp float;\nprecision highp int;\n"
                                 "precision highp sampler2D;\n"
                               : "#version 330 core\n";
  const char *parts[] = {version, common, body};
  *shader = gl->CreateShader(stage);
  gl->ShaderSource(*shader, 3, parts, NULL);
  gl->CompileShader(*shader);
  GLint good = 0;
  gl->GetShaderiv(*shader, GL_COMPILE_STATUS, &good);
  if (good) return SCREE_OK;
  char said[400] = "";
  gl->GetShaderInfoLog(*shader, sizeof said, NULL, said);
  for (char *c = said; *c; c++)
    if (*c == '\n') *c = ' ';
  gl->DeleteShader(*shader);
  return fail(core, SCREE_BAD_INPUT, "the OpenGL driver refuses the %s shader: %s", name, said);
}

Status gl_program(Core *core, const Gl *gl, const char *name, const char *common, const char *vertex,
                  const char *fragment, GLuint *program) {
  GLuint stages[2];
  TRY(gl_shader(core, gl, name, GL_VERTEX_SHADER, common, vertex, &stages[0]));
  Status status = gl_shader(core, gl, name, GL_FRAGMENT_SHADER, common, fragment, &stages[1]);
  if (status != SCREE_OK) {
    gl->DeleteShader(stages[0]);
    return status;
  }
  GLuint made = gl->CreateProgram();
  gl->AttachShader(made, stages[0]);
  gl->AttachShader(made, stages[1]);
  gl->BindAttribLocation(made, GL_SLOT_A, "a_a");
  gl->BindAttribLocation(made, GL_SLOT_B, "a_b");
  gl->BindAttribLocation(made, GL_SLOT_C, "a_c");
  gl->LinkProgram(made);
  gl->DeleteShader(stages[0]);
  gl->DeleteShader(stages[1]);
  GLint good = 0;
  gl->GetProgramiv(made, GL_LINK_STATUS, &good);
  if (!good) {
    char said[400] = "";
    gl->GetProgramInfoLog(made, sizeof said, NULL, said);
    gl->DeleteProgram(made);
    return fail(core, SCREE_BAD_INPUT, "the OpenGL driver cannot link the %s shader: %s", name, said);
  }
  *program = made;
  return SCREE_OK;
}

const char *const gl_whole_vertex = "out vec2 v_uv;\n"
                                    "void main() {\n"
                                    "  v_uv = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);\n"
                                    "  gl_Position = vec4(v_uv * 2.0 - 1.0, 0.0, 1.0);\n"
                                    "}\n";

void gl_draw_whole(const Gl *gl, GLuint vertex_array) {
  gl->BindVertexArray(vertex_array);
  gl->DrawArrays(GL_TRIANGLES, 0, 3);
}

static GLuint gl_texture(const Gl *gl, int width, int height, GLenum internal, bool linear) {
  GLenum format = GL_RGBA, type = GL_UNSIGNED_BYTE;
  if (internal == GL_R8) format = GL_RED;
  if (internal == GL_RG8) format = GL_RG;
  if (internal == GL_RGB10_A2) type = GL_UNSIGNED_INT_2_10_10_10_REV;
  if (internal == GL_DEPTH_COMPONENT24) format = GL_DEPTH_COMPONENT, type = GL_UNSIGNED_INT;
  GLuint texture;
  gl->GenTextures(1, &texture);
  gl->BindTexture(GL_TEXTURE_2D, texture);
  gl->TexImage2D(GL_TEXTURE_2D, 0, (GLint)internal, width, height, 0, format, type, NULL);
  GLint filter = linear ? GL_LINEAR : GL_NEAREST;
  gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
  gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
  gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return texture;
}

Status gl_target(Core *core, const Gl *gl, GlTarget *target, int width, int height, GlTargetPlan plan) {
  if (target->frame && target->width == width && target->height == height &&
      (!plan.shared_depth || plan.shared_depth == target->depth))
    return SCREE_OK;
  gl_target_destroy(gl, target);
  *target = (GlTarget){.width = width, .height = height};
  gl->GenFramebuffers(1, &target->frame);
  gl->BindFramebuffer(GL_FRAMEBUFFER, target->frame);
  GLenum buffers[2] = {GL_NONE, GL_NONE};
  for (int k = 0; k < 2; k++)
    if (plan.color[k]) {
      target->color[k] = gl_texture(gl, width, height, plan.color[k], plan.linear);
      buffers[k] = GL_COLOR_ATTACHMENT0 + (GLenum)k;
      gl->FramebufferTexture2D(GL_FRAMEBUFFER, buffers[k], GL_TEXTURE_2D, target->color[k], 0);
    }
  if (plan.depth) target->depth = gl_texture(gl, width, height, GL_DEPTH_COMPONENT24, false);
  GLuint depth = plan.shared_depth ? plan.shared_depth : target->depth;
  if (depth) gl->FramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, depth, 0);
  gl->DrawBuffers(2, buffers);
  if (gl->CheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE && gl->GetError() == GL_NO_ERROR)
    return SCREE_OK;
  gl_target_destroy(gl, target);
  return fail(core, SCREE_NO_MEMORY, "the OpenGL driver cannot make a picture of %d x %d", width, height);
}

void gl_target_destroy(const Gl *gl, GlTarget *target) {
  if (target->frame) gl->DeleteFramebuffers(1, &target->frame);
  gl->DeleteTextures(2, target->color);
  if (target->depth) gl->DeleteTextures(1, &target->depth);
  *target = (GlTarget){0};
}

void gl_target_bind(const Gl *gl, const GlTarget *target) {
  gl->BindFramebuffer(GL_FRAMEBUFFER, target->frame);
  gl->Viewport(0, 0, target->width, target->height);
}

void gl_texture_bind(const Gl *gl, int unit, GLuint texture) {
  gl->ActiveTexture(GL_TEXTURE0 + (GLenum)unit);
  gl->BindTexture(GL_TEXTURE_2D, texture);
}
