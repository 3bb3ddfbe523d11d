/* From the shaded picture to the one that is shown: plain copy, edges smoothed along their direction, or the mean of
 * 2 x 2 pixels where the picture was drawn at twice the size. */
#include "render/internal.h"

/* Where neighbouring pixels differ in brightness there is an edge; its direction is at right angles to the gradient
 * over the four corners. Two samples on either side along it make up the smoothed colour; a second, longer pair is
 * taken if it does not bring in brightness from outside the neighbourhood, which would be another edge. */
static const char *const smooth_fragment =
    "uniform sampler2D u_map;\n"
    "in vec2 v_uv;\n"
    "out vec4 o_color;\n"
    "void main() {\n"
    "  ivec2 at = ivec2(gl_FragCoord.xy), last = textureSize(u_map, 0) - 1;\n"
    "  vec2 step_of = 1.0 / vec2(last + 1);\n"
    "  ivec2 less = max(at - 1, ivec2(0)), more = min(at + 1, last);\n"
    "  vec4 here = texelFetch(u_map, at, 0);\n"
    "  float m = here.a;\n" /* brightness */
    "  float a = texelFetch(u_map, less, 0).a;\n"
    "  float b = texelFetch(u_map, ivec2(more.x, less.y), 0).a;\n"
    "  float c = texelFetch(u_map, ivec2(less.x, more.y), 0).a;\n"
    "  float d = texelFetch(u_map, more, 0).a;\n"
    "  float low = min(m, min(min(a, b), min(c, d))), high = max(m, max(max(a, b), max(c, d)));\n"
    "  o_color = vec4(here.rgb, 1.0);\n"
    "  if (high - low < max(0.03, 0.1 * high)) return;\n"
    "  vec2 along = vec2((c + d) - (a + b), (a + c) - (b + d));\n"
    "  float size = max(abs(along.x), abs(along.y));\n"
    "  if (size < 1e-4) return;\n"
    "  along *= step_of / size;\n"
    "  vec4 close = 0.5 * (textureLod(u_map, v_uv + 0.33 * along, 0.0) + textureLod(u_map, v_uv - 0.33 * along, "
    "0.0));\n"
    "  vec4 wide = 0.5 * close + 0.25 * (textureLod(u_map, v_uv + along, 0.0) + textureLod(u_map, v_uv - along, "
    "0.0));\n"
    "  o_color = vec4(wide.a < low || wide.a > high ? close.rgb : wide.rgb, 1.0);\n"
    "}\n";

static const char *const reduce_fragment = "uniform sampler2D u_map;\n"
                                           "in vec2 v_uv;\n"
                                           "out vec4 o_color;\n"
                                           /* Linear sampling at the middle of four pixels is their mean. */
                                           "void main() { o_color = vec4(textureLod(u_map, v_uv, 0.0).rgb, 1.0); }\n";

Status pass_antialias_create(Renderer *renderer) {
  TRY(gl_program(&renderer->core, &renderer->gl, "smoothing", "", gl_whole_vertex, smooth_fragment,
                 &renderer->smooth_program));
  return gl_program(&renderer->core, &renderer->gl, "reduction", "", gl_whole_vertex, reduce_fragment,
                    &renderer->reduce_program);
}

Status pass_antialias_draw(Renderer *renderer) {
  const Gl *gl = &renderer->gl;
  TRY(gl_target(&renderer->core, gl, &renderer->picture, renderer->settings.width, renderer->settings.height,
                (GlTargetPlan){.color = {GL_RGBA8}, .linear = true}));
  GLuint program = renderer->settings.antialias == RENDER_SMOOTH ? renderer->smooth_program : renderer->reduce_program;
  gl->UseProgram(program);
  gl->Uniform1i(gl_at(gl, program, "u_map"), 0);
  gl_texture_bind(gl, 0, renderer->lit.color[0]);
  gl_target_bind(gl, &renderer->picture);
  gl_draw_whole(gl, renderer->empty_array);
  return SCREE_OK;
}

void pass_antialias_destroy(Renderer *renderer) {
  renderer->gl.DeleteProgram(renderer->smooth_program);
  renderer->gl.DeleteProgram(renderer->reduce_program);
}
