/* Ambient occlusion from depth and normals, at half the resolution: how much of the sky the surroundings take from a
 * point. Samples reach from the gap between two grains to the size of a heap, spaced evenly in the logarithm of the
 * distance, so that one pass darkens both the crevices and the foot of a slope. */
#include "render/internal.h"

static const char *const occlusion_fragment =
    "uniform sampler2D u_depth_map;\n"
    "uniform sampler2D u_normal_map;\n"
    "uniform vec4 u_window;\n" /* width, height and focal length of the whole picture, largest offset; pixels */
    "uniform vec2 u_depth;\n"
    "uniform vec2 u_reach;\n" /* metres */
    "uniform mat4 u_view;\n"
    "out vec4 o_light;\n"
    "const int samples = 8;\n"
    "vec3 point_at(ivec2 at) {\n"
    "  float z = texelFetch(u_depth_map, at, 0).r;\n"
    "  float d = u_depth.y / (z - u_depth.x);\n"
    "  return vec3((vec2(at) + 0.5 - 0.5 * u_window.xy) / u_window.z, -1.0) * d;\n"
    "}\n"
    "void main() {\n"
    "  ivec2 at = min(ivec2(gl_FragCoord.xy) * 2, ivec2(u_window.xy) - 1);\n"
    "  if (texelFetch(u_depth_map, at, 0).r >= 1.0) { o_light = vec4(1.0); return; }\n"
    "  vec3 p = point_at(at);\n"
    "  vec3 n = (u_view * vec4(texelFetch(u_normal_map, at, 0).rgb * 2.0 - 1.0, 0.0)).xyz;\n"
    "  float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));\n"
    "  float pixels = u_window.z / -p.z;\n"
    "  float ratio = log2(u_reach.y / u_reach.x) / float(samples);\n"
    "  float step_up = exp2(ratio), wanted = u_reach.x * exp2(ratio * noise) * pixels;\n"
    "  float turn = 6.2831853 * noise;\n"
    "  vec2 dir = vec2(cos(turn), sin(turn));\n"
    "  float taken = 0.0;\n"
    "  for (int i = 0; i < samples; i++) {\n"
    "    float reach = clamp(wanted, 2.0, u_window.w);\n"
    "    ivec2 to = at + ivec2(floor(reach * dir + 0.5));\n"
    "    wanted *= step_up;\n"
    "    dir = vec2(-0.73736888 * dir.x - 0.67549029 * dir.y, 0.67549029 * dir.x - 0.73736888 * dir.y);\n"
    "    vec3 v = point_at(clamp(to, ivec2(0), ivec2(u_window.xy) - 1)) - p;\n"
    "    float away = dot(v, v);\n"
    "    float far = reach / pixels;\n"
    "    taken += max(dot(v, n) * inversesqrt(away + 1e-12) - 0.12, 0.0) / (1.0 + away * away / (16.0 * far * far * "
    "far "
    "* far));\n"
    "  }\n"
    "  o_light = vec4(clamp(1.0 - 2.3 * taken / float(samples), 0.0, 1.0));\n"
    "}\n";

/* Takes the noise out within what lies at the same depth. */
static const char *const occlusion_blur_fragment =
    "uniform sampler2D u_light_map;\n"
    "uniform sampler2D u_depth_map;\n"
    "uniform vec4 u_window;\n"
    "uniform vec2 u_depth;\n"
    "uniform float u_thick;\n"
    "out vec4 o_light;\n"
    "float distance_at(ivec2 at) {\n"
    "  return u_depth.y / (texelFetch(u_depth_map, min(at * 2, ivec2(u_window.xy) - 1), 0).r - u_depth.x);\n"
    "}\n"
    "void main() {\n"
    "  ivec2 at = ivec2(gl_FragCoord.xy);\n"
    "  ivec2 last = textureSize(u_light_map, 0) - 1;\n"
    "  float here = distance_at(at);\n"
    "  float sum = 0.0, weight = 0.0;\n"
    "  for (int y = -1; y <= 1; y++)\n"
    "    for (int x = -1; x <= 1; x++) {\n"
    "      ivec2 to = clamp(at + ivec2(x, y), ivec2(0), last);\n"
    "      float w = 1.0 / (1.0 + abs(distance_at(to) - here) / u_thick);\n"
    "      sum += w * texelFetch(u_light_map, to, 0).r;\n"
    "      weight += w;\n"
    "    }\n"
    "  o_light = vec4(sum / weight);\n"
    "}\n";

Status pass_occlusion_create(Renderer *renderer) {
  TRY(gl_program(&renderer->core, &renderer->gl, "occlusion", "", gl_whole_vertex, occlusion_fragment,
                 &renderer->occlusion_program));
  return gl_program(&renderer->core, &renderer->gl, "occlusion blur", "", gl_whole_vertex, occlusion_blur_fragment,
                    &renderer->occlusion_blur_program);
}

static void occlusion_uniforms(const Renderer *renderer, GLuint program, double far_pixels) {
  const Gl *gl = &renderer->gl;
  const View *view = &renderer->camera;
  double span = view->far - view->near;
  gl->UseProgram(program);
  gl->Uniform4f(gl_at(gl, program, "u_window"), (float)view->width, (float)view->height, (float)view->focal,
                (float)far_pixels);
  gl->Uniform2f(gl_at(gl, program, "u_depth"), (float)(view->far / span), (float)(-view->far * view->near / span));
  gl->Uniform1i(gl_at(gl, program, "u_depth_map"), 0);
  gl_texture_bind(gl, 0, renderer->scene.depth);
}

Status pass_occlusion_draw(Renderer *renderer) {
  const Gl *gl = &renderer->gl;
  const View *view = &renderer->camera;
  int width = (view->width + 1) / 2, height = (view->height + 1) / 2;
  for (int k = 0; k < 2; k++)
    TRY(gl_target(&renderer->core, gl, &renderer->occlusion[k], width, height,
                  (GlTargetPlan){.color = {GL_R8}, .linear = true}));
  double size = vec3_length(vec3_sub(renderer->scene_high, renderer->scene_low));
  double smallest = renderer->bounds.drawable ? 1.2 * renderer->bounds.mean_radius : 0.004 * size;
  double largest = fmax(8 * smallest, 0.07 * size);
  GLuint program = renderer->occlusion_program;
  occlusion_uniforms(renderer, program, view->height / 6.0);
  gl->Uniform2f(gl_at(gl, program, "u_reach"), (float)smallest, (float)largest);
  gl->UniformMatrix4fv(gl_at(gl, program, "u_view"), 1, GL_FALSE, view->view.m);
  gl->Uniform1i(gl_at(gl, program, "u_normal_map"), 1);
  gl_texture_bind(gl, 1, renderer->scene.color[1]);
  gl_target_bind(gl, &renderer->occlusion[0]);
  gl_draw_whole(gl, renderer->empty_array);
  program = renderer->occlusion_blur_program;
  occlusion_uniforms(renderer, program, 0);
  gl->Uniform1f(gl_at(gl, program, "u_thick"), (float)(2 * smallest));
  gl->Uniform1i(gl_at(gl, program, "u_light_map"), 1);
  gl_texture_bind(gl, 1, renderer->occlusion[0].color[0]);
  gl_target_bind(gl, &renderer->occlusion[1]);
  gl_draw_whole(gl, renderer->empty_array);
  return SCREE_OK;
}

void pass_occlusion_destroy(Renderer *renderer) {
  renderer->gl.DeleteProgram(renderer->occlusion_program);
  renderer->gl.DeleteProgram(renderer->occlusion_blur_program);
}
