/* Depth as the sun sees it: a square map laid round everything that casts shadows. */
#include "render/internal.h"

static View shadow_view(const Renderer *renderer, int size) {
  View sun = {.sun = true, .width = size, .height = size};
  Vec3 middle = vec3_scale(vec3_add(renderer->caster_low, renderer->caster_high), 0.5);
  sun.forward = vec3_scale(renderer->to_sun, -1);
  vec3_frame(sun.forward, &sun.right, &sun.up);
  double half = 1e-6, deep = 1e-6;
  for (int corner = 0; corner < 8; corner++) {
    Vec3 p = vec3(corner & 1 ? renderer->caster_high.x : renderer->caster_low.x,
                  corner & 2 ? renderer->caster_high.y : renderer->caster_low.y,
                  corner & 4 ? renderer->caster_high.z : renderer->caster_low.z);
    p = vec3_sub(p, middle);
    half = fmax(half, fmax(fabs(vec3_dot(p, sun.right)), fabs(vec3_dot(p, sun.up))));
    deep = fmax(deep, fabs(vec3_dot(p, sun.forward)));
  }
  half *= 1.02;
  sun.near = 0;
  sun.far = 2.04 * deep;
  sun.eye = vec3_madd(middle, sun.forward, -1.02 * deep);
  sun.focal = size / (2 * half);
  sun.view = mat4_view(sun.eye, sun.right, sun.up, sun.forward);
  sun.projection = mat4_orthographic(half, sun.near, sun.far);
  sun.both = mat4_mul(&sun.projection, &sun.view);
  return sun;
}

Status pass_shadow_draw(Renderer *renderer, bool changed) {
  const Gl *gl = &renderer->gl;
  int size = gl->software ? 1536 : 4096;
  if (size > gl->texture_limit) size = gl->texture_limit;
  TRY(gl_target(&renderer->core, gl, &renderer->shadow, size, size, (GlTargetPlan){.depth = true}));
  renderer->sun = shadow_view(renderer, size);
  TRY(pass_grains_upload(renderer, &renderer->sun, &renderer->sun_grains, changed));
  gl_target_bind(gl, &renderer->shadow);
  gl->Clear(GL_DEPTH_BUFFER_BIT);
  pass_grains_draw(renderer, &renderer->sun, &renderer->sun_grains);
  pass_meshes_draw(renderer, &renderer->sun);
  return SCREE_OK;
}
