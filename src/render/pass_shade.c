/* Light: sun with soft shadows, sky with occlusion, and the tone curve; once per pixel, after everything opaque has
 * been drawn, so that hidden grains cost no light. */
#include "render/internal.h"

#include <stdio.h>

static const char *const shade_fragment =
    "uniform sampler2D u_albedo_map;\n"
    "uniform sampler2D u_normal_map;\n"
    "uniform sampler2D u_depth_map;\n"
    "uniform sampler2D u_light_map;\n"
    "uniform sampler2D u_sun_map;\n"
    "uniform vec4 u_window;\n" /* width, height, focal length; softness */
    "uniform vec2 u_depth;\n"
    "uniform vec3 u_eye;\n"
    "uniform vec3 u_right;\n"
    "uniform vec3 u_up;\n"
    "uniform vec3 u_forward;\n"
    "uniform mat4 u_sun_both;\n"
    "uniform vec4 u_sun;\n"   /* size of the map, pixels per metre, depth in metres, grain radius */
    "uniform vec4 u_scene;\n" /* middle and half size */
    "uniform float u_open;\n" /* 1: no occlusion */
    "out vec4 o_color;\n"
    "float noise_at(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))); }\n"
    /* Turns a direction by the golden angle: the points of a sunflower, without a sine for each. */
    "vec2 next(vec2 v) { return vec2(-0.73736888 * v.x - 0.67549029 * v.y, 0.67549029 * v.x - 0.73736888 * v.y); }\n"
    /* No grain of sand is a ball: two folded waves over the sphere, shifted by the grain's own number, tilt the normal
     * as broken faces would. */
    "vec3 chipped(vec3 n, float own, float much) {\n"
    "  vec3 at = n * 0.55 + n.yzx * 0.45 + own * vec3(3.7, 5.3, 7.9);\n"
    "  vec3 large = abs(fract(at) - 0.5) - 0.25;\n"
    "  vec3 small = abs(fract(at.zxy * 1.7 - n.zxy * 0.6) - 0.5) - 0.25;\n"
    "  return normalize(n + much * (1.5 * large + 0.8 * small));\n"
    "}\n"
    "float vignette(vec2 at) {\n"
    "  vec2 off = at / u_window.xy - 0.5;\n"
    "  return 1.0 - 0.35 * dot(off, off);\n"
    "}\n"
    /* Blockers near by first: their mean distance gives the width of the penumbra, over which the comparison is then
     * averaged. */
    "float sunlight(vec3 p, vec3 n, bool grain) {\n"
    "  float away = (grain ? 1.0 : 0.35) * u_sun.w + 1.5 / u_sun.y;\n"
    "  vec4 q = u_sun_both * vec4(p + n * 0.5 * away + u_to_sun * away, 1.0);\n"
    "  vec3 at = q.xyz * 0.5 + 0.5;\n"
    "  if (any(lessThan(at.xy, vec2(0.0))) || any(greaterThan(at.xy, vec2(1.0)))) return 1.0;\n"
    /* Ground behind everything that is drawn lies beyond the map's depth, but not beyond its shadows. */
    "  at.z = min(at.z, 0.99999);\n"
    "  float turn = 6.2831853 * noise_at(gl_FragCoord.xy);\n"
    "  vec2 to = vec2(cos(turn), sin(turn));\n"
    "  float wide = clamp(0.05 * u_scene.w * u_sun.y, 2.0, 12.0) / u_sun.x;\n"
    "  const int half_taps = TAPS / 2;\n"
    "  float blockers = 0.0, depth = 0.0;\n"
    "  for (int i = 0; i < half_taps; i++) {\n"
    "    float z = textureLod(u_sun_map, at.xy + wide * sqrt((float(i) + 0.5) / float(half_taps)) * to, 0.0).r;\n"
    "    to = next(to);\n"
    "    if (z < at.z) { blockers += 1.0; depth += z; }\n"
    "  }\n"
    "  if (blockers < 0.5) return 1.0;\n"
    "  float gap = (at.z - depth / blockers) * u_sun.z;\n"
    "  float penumbra = clamp(gap * u_window.w * u_sun.y, 1.2, 16.0) / u_sun.x;\n"
    "  float lit = 0.0;\n"
    "  for (int i = 0; i < TAPS; i++) {\n"
    "    float z = textureLod(u_sun_map, at.xy + penumbra * sqrt((float(i) + 0.5) / float(TAPS)) * to, 0.0).r;\n"
    "    lit += z < at.z ? 0.0 : 1.0;\n"
    "    to = next(to);\n"
    "  }\n"
    "  return lit / float(TAPS);\n"
    "}\n"
    "void main() {\n"
    "  ivec2 at = ivec2(gl_FragCoord.xy);\n"
    "  vec2 slope = (gl_FragCoord.xy - 0.5 * u_window.xy) / u_window.z;\n"
    "  vec3 ray = u_forward + slope.x * u_right + slope.y * u_up;\n"
    "  float z = texelFetch(u_depth_map, at, 0).r;\n"
    "  if (z >= 1.0) {\n"
    "    vec3 sky = sky_color(normalize(ray)) * vignette(gl_FragCoord.xy);\n"
    "    o_color = vec4(dithered(to_display(sky), gl_FragCoord.xy), 1.0);\n"
    "    o_color.a = dot(o_color.rgb, vec3(0.3, 0.59, 0.11));\n"
    "    return;\n"
    "  }\n"
    "  vec4 albedo = texelFetch(u_albedo_map, at, 0);\n"
    "  bool grain = albedo.a < 0.5;\n"
    "  int kind = grain ? 0 : int((albedo.a * 255.0 - 112.0) / 32.0);\n"
    "  vec3 n = normalize(texelFetch(u_normal_map, at, 0).rgb * 2.0 - 1.0);\n"
    "  float away = u_depth.y / (z - u_depth.x);\n"
    "  vec3 p = u_eye + ray * away;\n"
    "  vec3 base = to_linear(albedo.rgb), smooth_n = n;\n"
    "  float own = albedo.a * 2.0, open = max(texture(u_light_map, gl_FragCoord.xy / u_window.xy).r, u_open);\n"
    "  vec3 view = -normalize(ray);\n"
    "  if (grain)\n"
    "    n = chipped(n, own, clamp(u_sun.w * u_window.z / away * 0.3 - 0.2, 0.35, 1.0));\n"
    "  float facing = dot(n, u_to_sun);\n"
    /* Light wanders through loose sand: the dark side of a grain is never black. */
    "  float sun = grain ? max((facing + 0.18) / 1.18, 0.0) : max(facing, 0.0);\n"
    "#if SHADOWS\n"
    "  if (sun > 0.0) sun *= sunlight(p, smooth_n, grain);\n"
    "#endif\n"
    /* In a crevice of a bright material the light goes to and fro: it darkens less, and takes on more colour. */
    "  vec3 sky = vec3(open) / (vec3(1.0) - base * (1.0 - open) * 0.7);\n"
    "  vec3 color = base * (sun_color * sun * mix(1.0, open, grain ? 0.5 : 0.2) + 0.55 * sky_ambient(n) * sky);\n"
    "  vec3 h = normalize(view + u_to_sun);\n"
    "  float rim = 1.0 - max(dot(n, view), 0.0), glint = max(dot(n, h), 0.0);\n"
    "  rim *= rim;\n"
    "  rim *= rim;\n"
    "  glint *= glint;\n"
    "  glint *= glint;\n"
    "  glint *= glint;\n"
    "  glint *= glint;\n"
    /* Faces of quartz catch the sun; paint is smoother, and mirrors the sky besides. */
    "  if (grain) color += sun_color * sun * glint * (own > 0.8 ? 0.22 : 0.05);\n"
    "  if (kind == 1) {\n"
    "    color += sun_color * 0.32 * sun * glint * glint * glint * glint;\n"
    "    color += (0.03 + 0.22 * rim) * open * sky_color(reflect(-view, n));\n"
    "  }\n"
    "  if (kind == 2) {\n"
    "    float far = length(p - u_scene.xyz) / u_scene.w;\n"
    "    vec3 level = normalize(vec3(ray.xy, max(ray.z, -0.02 * length(ray.xy))));\n"
    "    far = far * far;\n"
    "    color = mix(sky_color(level), color, 1.0 / (1.0 + 0.0022 * far));\n"
    "  }\n"
    "  o_color = vec4(dithered(to_display(color * vignette(gl_FragCoord.xy)), gl_FragCoord.xy), 1.0);\n"
    "  o_color.a = dot(o_color.rgb, vec3(0.3, 0.59, 0.11));\n" /* for finding edges */
    "}\n";

Status pass_shade_create(Renderer *renderer) {
  /* Two programs: the CPU's driver runs through both sides of every condition, also of one that never holds. */
  for (int shadows = 0; shadows < 2; shadows++) {
    char common[4096];
    snprintf(common, sizeof common, "#define SHADOWS %d\nconst int TAPS = %d;\n%s", shadows,
             renderer->gl.software ? 10 : 24, shader_light);
    TRY(gl_program(&renderer->core, &renderer->gl, "shading", common, gl_whole_vertex, shade_fragment,
                   &renderer->shade_programs[shadows]));
  }
  return SCREE_OK;
}

static void shade_vector(const Gl *gl, GLuint program, const char *name, Vec3 v) {
  gl->Uniform3f(gl_at(gl, program, name), (float)v.x, (float)v.y, (float)v.z);
}

Status pass_shade_draw(Renderer *renderer) {
  const Gl *gl = &renderer->gl;
  const View *view = &renderer->camera;
  TRY(gl_target(&renderer->core, gl, &renderer->lit, view->width, view->height,
                (GlTargetPlan){.color = {GL_RGBA8}, .linear = true}));
  GLuint program = renderer->shade_programs[renderer->settings.shadows];
  gl->UseProgram(program);
  const char *const maps[] = {"u_albedo_map", "u_normal_map", "u_depth_map", "u_light_map", "u_sun_map"};
  const GLuint textures[] = {renderer->scene.color[0], renderer->scene.color[1], renderer->scene.depth,
                             renderer->occlusion[1].color[0], renderer->shadow.depth};
  for (int k = 0; k < 5; k++) {
    gl->Uniform1i(gl_at(gl, program, maps[k]), k);
    gl_texture_bind(gl, k, textures[k]);
  }
  double span = view->far - view->near;
  Vec3 middle = vec3_scale(vec3_add(renderer->scene_low, renderer->scene_high), 0.5);
  double half = 0.5 * vec3_length(vec3_sub(renderer->scene_high, renderer->scene_low));
  gl->Uniform4f(gl_at(gl, program, "u_window"), (float)view->width, (float)view->height, (float)view->focal, 0.06f);
  gl->Uniform2f(gl_at(gl, program, "u_depth"), (float)(view->far / span), (float)(-view->far * view->near / span));
  shade_vector(gl, program, "u_eye", view->eye);
  shade_vector(gl, program, "u_right", view->right);
  shade_vector(gl, program, "u_up", view->up);
  shade_vector(gl, program, "u_forward", view->forward);
  shade_vector(gl, program, "u_to_sun", renderer->to_sun);
  gl->UniformMatrix4fv(gl_at(gl, program, "u_sun_both"), 1, GL_FALSE, renderer->sun.both.m);
  gl->Uniform4f(gl_at(gl, program, "u_sun"), (float)renderer->shadow.width, (float)renderer->sun.focal,
                (float)(renderer->sun.far - renderer->sun.near), (float)renderer->bounds.mean_radius);
  gl->Uniform4f(gl_at(gl, program, "u_scene"), (float)middle.x, (float)middle.y, (float)middle.z, (float)half);
  gl->Uniform1f(gl_at(gl, program, "u_open"), renderer->settings.occlusion ? 0.f : 1.f);
  gl_target_bind(gl, &renderer->lit);
  gl_draw_whole(gl, renderer->empty_array);
  return SCREE_OK;
}

void pass_shade_destroy(Renderer *renderer) {
  for (int k = 0; k < 2; k++) renderer->gl.DeleteProgram(renderer->shade_programs[k]);
}
