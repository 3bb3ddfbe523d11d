/* Planes that grains lie on: a wide floor, drawn once per plane as a square that reaches far beyond the scene and
 * fades into the horizon. */
#include "render/internal.h"

static const char *const ground_vertex =
    "uniform mat4 u_both;\n"
    "uniform vec3 u_point;\n"
    "uniform vec3 u_along;\n"
    "uniform vec3 u_across;\n"
    "void main() {\n"
    "  vec2 corner = vec2(gl_VertexID == 1 || gl_VertexID == 3 ? 1.0 : -1.0, gl_VertexID >= 2 ? 1.0 : -1.0);\n"
    "  gl_Position = u_both * vec4(u_point + u_along * corner.x + u_across * corner.y, 1.0);\n"
    "}\n";

static const char *const ground_fragment = "uniform vec3 u_normal;\n"
                                           "uniform vec4 u_color;\n"
                                           "layout(location = 0) out vec4 o_albedo;\n"
                                           "layout(location = 1) out vec4 o_normal;\n"
                                           "void main() {\n"
                                           "  o_albedo = u_color;\n"
                                           "  o_normal = vec4(u_normal * 0.5 + 0.5, 0.0);\n"
                                           "}\n";

Status pass_ground_create(Renderer *renderer) {
  return gl_program(&renderer->core, &renderer->gl, "ground", "", ground_vertex, ground_fragment,
                    &renderer->ground_program);
}

void pass_ground_draw(Renderer *renderer) {
  const Gl *gl = &renderer->gl;
  GLuint program = renderer->ground_program;
  gl->UseProgram(program);
  gl->UniformMatrix4fv(gl_at(gl, program, "u_both"), 1, GL_FALSE, renderer->camera.both.m);
  gl->Uniform4f(gl_at(gl, program, "u_color"), 0.63f, 0.645f, 0.65f, (float)KIND_GROUND / KIND_COUNT);
  Vec3 middle = vec3_scale(vec3_add(renderer->scene_low, renderer->scene_high), 0.5);
  for (int32_t k = 0; k < renderer->frame->ground_count; k++) {
    Vec3 normal = vec3_normalize(renderer->frame->grounds[k].normal);
    Vec3 point = vec3_sub(renderer->frame->grounds[k].point, renderer->frame->grains.origin);
    /* Below the plane one sees through it. */
    if (vec3_dot(vec3_sub(renderer->camera.eye, point), normal) <= 0) continue;
    Vec3 along, across;
    vec3_frame(normal, &along, &across);
    double reach = renderer->camera.far;
    Vec3 at = vec3_madd(middle, normal, vec3_dot(vec3_sub(point, middle), normal));
    along = vec3_scale(along, reach);
    across = vec3_scale(across, reach);
    gl->Uniform3f(gl_at(gl, program, "u_point"), (float)at.x, (float)at.y, (float)at.z);
    gl->Uniform3f(gl_at(gl, program, "u_along"), (float)along.x, (float)along.y, (float)along.z);
    gl->Uniform3f(gl_at(gl, program, "u_across"), (float)across.x, (float)across.y, (float)across.z);
    gl->Uniform3f(gl_at(gl, program, "u_normal"), (float)normal.x, (float)normal.y, (float)normal.z);
    gl->BindVertexArray(renderer->empty_array);
    gl->DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  }
}

void pass_ground_destroy(Renderer *renderer) { renderer->gl.DeleteProgram(renderer->ground_program); }
