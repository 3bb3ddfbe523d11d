/* Grains: one point each, turned into a sphere pixel by pixel by meeting the ray through the pixel with the sphere, so
 * that outline, normal and depth are those of the sphere under perspective. Where a grain is larger than the largest
 * point of the driver, a quad takes its place. */
#include "render/internal.h"

#include <stddef.h>

static const char *const grain_common =
    "struct Sprite { vec2 center; float half_size; };\n" /* in pixels of the target, from its middle */
    "uniform mat4 u_view;\n"
    "uniform vec4 u_window;\n" /* width, height, focal length in pixels, smallest radius in pixels */
    "uniform vec2 u_depth;\n"  /* window depth = u_depth.x + u_depth.y / distance along the axis */
    "uniform vec2 u_range;\n"  /* sizes in pixels that this program draws: above x, up to y */
    /* The outline of a sphere under perspective is an ellipse whose long axis points at the middle of the picture:
     * with t the tangent of the angle to the centre and s that of the half angle under which the sphere is seen, it
     * reaches from tan(a - b) to tan(a + b). */
    "bool sprite_of(vec3 c, float r, out Sprite sprite) {\n"
    "  float d2 = dot(c, c) - r * r;\n"
    "  float d = -c.z;\n"
    "  if (d2 <= 0.0 || d <= r) return false;\n"
    "  float s2 = r * r / d2;\n"
    "  float t2 = dot(c.xy, c.xy) / (d * d);\n"
    "  float k = 1.0 - t2 * s2;\n"
    "  if (k <= 0.0) return false;\n"
    "  sprite.center = c.xy / d * (1.0 + s2) / k * u_window.z;\n"
    "  sprite.half_size = sqrt(s2) * (1.0 + t2) / k * u_window.z;\n"
    "  return true;\n"
    "}\n"
    "float grain_radius(vec3 c, float r) { return max(r, u_window.w * -c.z / u_window.z); }\n";

#define GRAIN_VERTEX_BEGIN                                                                                             \
  "in vec4 a_a;\n"                                                                                                     \
  "in vec4 a_b;\n"                                                                                                     \
  "flat out vec4 v_sphere;\n"                                                                                          \
  "flat out vec4 v_color;\n"                                                                                           \
  "void main() {\n"                                                                                                    \
  "  vec3 c = (u_view * vec4(a_a.xyz, 1.0)).xyz;\n"                                                                    \
  "  float r = grain_radius(c, a_a.w);\n"                                                                              \
  "  Sprite sprite;\n"                                                                                                 \
  "  gl_Position = vec4(2.0, 2.0, 2.0, 1.0);\n" /* nowhere */                                                          \
  "  gl_PointSize = 1.0;\n"                                                                                            \
  "  v_sphere = vec4(c, r);\n"                                                                                         \
  "  v_color = a_b;\n"                                                                                                 \
  "  if (a_a.w <= 0.0 || !sprite_of(c, r, sprite)) return;\n"

static const char *const grain_point_vertex = GRAIN_VERTEX_BEGIN
    "  float size = 2.0 * sprite.half_size + 1.0;\n"
    "  if (size > u_range.y) return;\n"
    "  gl_PointSize = size;\n"
    "  gl_Position = vec4(sprite.center * 2.0 / u_window.xy, clamp(2.0 * (u_depth.x + u_depth.y / -c.z) - 1.0, -1.0, "
    "1.0), 1.0);\n"
    "}\n";

static const char *const grain_quad_vertex = GRAIN_VERTEX_BEGIN
    /* A point whose centre is out of the picture is not drawn at all, even if it reaches into it. */
    "  if (2.0 * sprite.half_size + 1.0 <= u_range.x && all(lessThan(abs(sprite.center), 0.5 * u_window.xy))) return;\n"
    "  vec2 corner = vec2(gl_VertexID == 1 || gl_VertexID == 3 ? 1.0 : -1.0, gl_VertexID >= 2 ? 1.0 : -1.0);\n"
    "  gl_Position = vec4((sprite.center + corner * (sprite.half_size + 0.5)) * 2.0 / u_window.xy, 0.0, 1.0);\n"
    "}\n";

/* The closest approach of the ray to the centre is found first and the rest is measured from there: the textbook
 * discriminant subtracts the squares of distances, which leaves nothing of a grain of 1 cm at 20 m in floats. */
static const char *const grain_fragment =
    "flat in vec4 v_sphere;\n"
    "flat in vec4 v_color;\n"
    "uniform mat4 u_view_turn;\n" /* view to world, rotation only */
    "layout(location = 0) out vec4 o_albedo;\n"
    "layout(location = 1) out vec4 o_normal;\n"
    "void main() {\n"
    "  vec3 ray = vec3((gl_FragCoord.xy - 0.5 * u_window.xy) / u_window.z, -1.0);\n"
    "  float a = 1.0 / dot(ray, ray);\n"
    "  float along = dot(ray, v_sphere.xyz) * a;\n"
    "  vec3 q = ray * along - v_sphere.xyz;\n"
    "  float h2 = v_sphere.w * v_sphere.w - dot(q, q);\n"
    "  if (h2 < 0.0) discard;\n"
    "  float back = sqrt(h2 * a);\n"
    "  vec3 n = (q - ray * back) / v_sphere.w;\n"
    "  gl_FragDepth = u_depth.x + u_depth.y / (along - back);\n"
    "  o_albedo = vec4(v_color.rgb, v_color.a * 0.498);\n"
    "  o_normal = vec4((u_view_turn * vec4(n, 0.0)).xyz * 0.5 + 0.5, 0.0);\n"
    "}\n";

/* From the sun: parallel rays, so the outline is a circle; only depth is kept. */
static const char *const grain_sun_vertex =
    "in vec4 a_a;\n"
    "uniform mat4 u_both;\n"
    "uniform vec4 u_sun;\n" /* pixels per metre, depth per metre, largest point, - */
    "flat out vec3 v_disc;\n"
    "void main() {\n"
    "  gl_Position = a_a.w > 0.0 ? u_both * vec4(a_a.xyz, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);\n"
    "  gl_PointSize = min(max(2.0 * a_a.w * u_sun.x, 1.0), u_sun.z);\n"
    "  v_disc = vec3(gl_Position.z * 0.5 + 0.5, a_a.w * u_sun.y, 0.0);\n"
    "}\n";
static const char *const grain_sun_fragment = "flat in vec3 v_disc;\n"
                                              "void main() {\n"
                                              "  vec2 p = gl_PointCoord * 2.0 - 1.0;\n"
                                              "  float h2 = 1.0 - dot(p, p);\n"
                                              "  if (h2 < 0.0) discard;\n"
                                              "  gl_FragDepth = v_disc.x - v_disc.y * sqrt(h2);\n"
                                              "}\n";

Status pass_grains_create(Renderer *renderer) {
  Core *core = &renderer->core;
  const Gl *gl = &renderer->gl;
  TRY(gl_program(core, gl, "grain", grain_common, grain_point_vertex, grain_fragment, &renderer->grain_program));
  TRY(gl_program(core, gl, "near grain", grain_common, grain_quad_vertex, grain_fragment,
                 &renderer->grain_quad_program));
  return gl_program(core, gl, "grain shadow", "", grain_sun_vertex, grain_sun_fragment,
                    &renderer->grain_shadow_program);
}

static void grain_attributes(const Gl *gl, GLuint buffer, GLuint *array, GLuint divisor) {
  gl->GenVertexArrays(1, array);
  gl->BindVertexArray(*array);
  gl->BindBuffer(GL_ARRAY_BUFFER, buffer);
  gl->EnableVertexAttribArray(GL_SLOT_A);
  gl->EnableVertexAttribArray(GL_SLOT_B);
  gl->VertexAttribPointer(GL_SLOT_A, 4, GL_FLOAT, GL_FALSE, sizeof(GrainVertex), NULL);
  gl->VertexAttribPointer(GL_SLOT_B, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof(GrainVertex),
                          (void *)offsetof(GrainVertex, color));
  gl->VertexAttribDivisor(GL_SLOT_A, divisor);
  gl->VertexAttribDivisor(GL_SLOT_B, divisor);
}

/* On the CPU's driver each view gets the grains that it can see. A graphics card gets all of them, once per frame, and
 * the sun draws from the camera's buffer. */
Status pass_grains_upload(Renderer *renderer, const View *view, GrainDraw *draw, bool changed) {
  const Gl *gl = &renderer->gl;
  const GrainVertex *grains = renderer->packed;
  int64_t count = renderer->packed_count;
  if (gl->software) {
    TRY(cull_grains(renderer, view, &grains, &count));
  } else if (view->sun) {
    *draw = renderer->camera_grains;
    return SCREE_OK;
  } else if (!changed && draw->buffer) {
    return SCREE_OK;
  }
  if (!draw->buffer) {
    gl->GenBuffers(1, &draw->buffer);
    grain_attributes(gl, draw->buffer, &draw->array, 0);
    grain_attributes(gl, draw->buffer, &draw->quad_array, 1);
  }
  gl->BindBuffer(GL_ARRAY_BUFFER, draw->buffer);
  gl->BufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(count * (int64_t)sizeof *grains), grains, GL_STREAM_DRAW);
  draw->count = count;
  renderer->statistics.uploads++;
  return SCREE_OK;
}

static void grain_camera_uniforms(const Renderer *renderer, const View *view, GLuint program) {
  const Gl *gl = &renderer->gl;
  gl->UseProgram(program);
  gl->UniformMatrix4fv(gl_at(gl, program, "u_view"), 1, GL_FALSE, view->view.m);
  Mat4 turn = {{(float)view->right.x, (float)view->right.y, (float)view->right.z, 0, (float)view->up.x,
                (float)view->up.y, (float)view->up.z, 0, (float)-view->forward.x, (float)-view->forward.y,
                (float)-view->forward.z, 0, 0, 0, 0, 1}};
  gl->UniformMatrix4fv(gl_at(gl, program, "u_view_turn"), 1, GL_FALSE, turn.m);
  gl->Uniform4f(gl_at(gl, program, "u_window"), (float)view->width, (float)view->height, (float)view->focal, 0.6f);
  double span = view->far - view->near;
  gl->Uniform2f(gl_at(gl, program, "u_depth"), (float)(view->far / span), (float)(-view->far * view->near / span));
  gl->Uniform2f(gl_at(gl, program, "u_range"), gl->point_limit, gl->point_limit);
}

/* Whether any grain can come out larger than the largest point, or so large that half of it would be missed at the
 * edge of the picture. */
static bool grain_quads_needed(const Renderer *renderer, const View *view) {
  double nearest = INFINITY;
  const GrainBounds *b = &renderer->bounds;
  Vec3 inside = vec3_min(vec3_max(view->eye, b->low), b->high);
  nearest = vec3_length(vec3_sub(view->eye, inside)) * 0.5; /* along the axis it may be less than to the box */
  return nearest <= 2 * b->largest_radius ||
         2 * b->largest_radius * view->focal / (nearest - b->largest_radius) * 2 > fmin(16, renderer->gl.point_limit);
}

void pass_grains_draw(Renderer *renderer, const View *view, const GrainDraw *draw) {
  const Gl *gl = &renderer->gl;
  if (!draw->count) return;
  if (!gl->es) gl->Enable(GL_PROGRAM_POINT_SIZE);
  GLsizei count = (GLsizei)draw->count;
  if (view->sun) {
    GLuint program = renderer->grain_shadow_program;
    gl->UseProgram(program);
    gl->UniformMatrix4fv(gl_at(gl, program, "u_both"), 1, GL_FALSE, view->both.m);
    gl->Uniform4f(gl_at(gl, program, "u_sun"), (float)view->focal, (float)(1 / (view->far - view->near)),
                  gl->point_limit, 0);
    gl->BindVertexArray(draw->array);
    gl->DrawArrays(GL_POINTS, 0, count);
    return;
  }
  grain_camera_uniforms(renderer, view, renderer->grain_program);
  gl->BindVertexArray(draw->array);
  gl->DrawArrays(GL_POINTS, 0, count);
  if (grain_quads_needed(renderer, view)) {
    grain_camera_uniforms(renderer, view, renderer->grain_quad_program);
    gl->BindVertexArray(draw->quad_array);
    gl->DrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, count);
  }
}

static void grain_draw_destroy(const Gl *gl, GrainDraw *draw) {
  if (draw->buffer) gl->DeleteBuffers(1, &draw->buffer);
  if (draw->array) gl->DeleteVertexArrays(1, &draw->array);
  if (draw->quad_array) gl->DeleteVertexArrays(1, &draw->quad_array);
}

void pass_grains_destroy(Renderer *renderer) {
  const Gl *gl = &renderer->gl;
  if (renderer->sun_grains.buffer != renderer->camera_grains.buffer) grain_draw_destroy(gl, &renderer->sun_grains);
  grain_draw_destroy(gl, &renderer->camera_grains);
  gl->DeleteProgram(renderer->grain_program);
  gl->DeleteProgram(renderer->grain_quad_program);
  gl->DeleteProgram(renderer->grain_shadow_program);
}
