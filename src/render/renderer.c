/* A picture from a frame: one short function that names the passes in their order. */
#include "render/internal.h"

#include <stdlib.h>
#include <string.h>

RenderSettings render_settings_default(void) {
  return (RenderSettings){.width = 1280,
                          .height = 720,
                          .low = NAN,
                          .high = NAN,
                          .shadows = true,
                          .occlusion = true,
                          .legend = true,
                          .antialias = RENDER_SMOOTH};
}

static Status renderer_passes(Renderer *renderer, RenderLoader loader) {
  TRY(gl_load(&renderer->core, &renderer->gl, loader));
  renderer->gl.GenVertexArrays(1, &renderer->empty_array);
  TRY(pass_grains_create(renderer));
  TRY(pass_meshes_create(renderer));
  TRY(pass_glass_create(renderer));
  TRY(pass_ground_create(renderer));
  TRY(pass_occlusion_create(renderer));
  TRY(pass_shade_create(renderer));
  TRY(pass_antialias_create(renderer));
  return pass_overlay_create(renderer);
}

ScreeStatus renderer_create(RenderLoader loader, int32_t threads, Renderer **result, ScreeError *error) {
  *result = NULL;
  Renderer *renderer = calloc(1, sizeof *renderer);
  ScreeWorldOptions options = {.threads = threads};
  Core failed = {0};
  if (!renderer) return core_report(&failed, fail(&failed, SCREE_NO_MEMORY, "no memory for the renderer"), error);
  Status status = core_create(&renderer->core, &options);
  if (status != SCREE_OK) {
    status = core_report(&renderer->core, status, error);
    free(renderer);
    return status;
  }
  status = renderer_passes(renderer, loader);
  if (status != SCREE_OK) {
    core_report(&renderer->core, status, error);
    renderer_destroy(renderer);
    return status;
  }
  renderer->scale_color = RENDER_COLOR_COUNT;
  renderer->statistics.device = renderer->gl.device;
  renderer->statistics.software = renderer->gl.software;
  *result = renderer;
  return SCREE_OK;
}

void renderer_destroy(Renderer *renderer) {
  if (!renderer) return;
  const Gl *gl = &renderer->gl;
  if (gl->Viewport) { /* the last of the list: everything was loaded */
    pass_grains_destroy(renderer);
    pass_meshes_destroy(renderer);
    pass_glass_destroy(renderer);
    pass_ground_destroy(renderer);
    pass_occlusion_destroy(renderer);
    pass_shade_destroy(renderer);
    pass_antialias_destroy(renderer);
    pass_overlay_destroy(renderer);
    GlTarget *targets[] = {&renderer->scene,        &renderer->shadow, &renderer->occlusion[0],
                           &renderer->occlusion[1], &renderer->lit,    &renderer->picture};
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) gl_target_destroy(gl, targets[k]);
    gl->DeleteVertexArrays(1, &renderer->empty_array);
  }
  memory_drop(&renderer->core, &renderer->packed);
  memory_drop(&renderer->core, &renderer->values);
  memory_drop(&renderer->core, &renderer->chosen);
  memory_drop(&renderer->core, &renderer->nearest);
  memory_drop(&renderer->core, &renderer->kept);
  core_destroy(&renderer->core);
  free(renderer);
}

void renderer_stage(Renderer *renderer, RenderStage stage) {
  if (renderer->timing) renderer->gl.Finish();
  double now = timer_now();
  renderer->statistics.seconds[stage] = now - renderer->stage_began;
  renderer->stage_began = now;
}

/* Everything that is drawn lies in these bounds, the ground apart. */
static void renderer_bounds(Renderer *renderer, const Camera *camera) {
  Vec3 target = vec3_sub(camera->target, renderer->frame->grains.origin);
  if (!(renderer->scene_low.x <= renderer->scene_high.x)) {
    renderer->scene_low = vec3_sub(target, vec3(0.5, 0.5, 0.5));
    renderer->scene_high = vec3_add(target, vec3(0.5, 0.5, 0.5));
  }
  if (renderer->caster_low.x <= renderer->caster_high.x) return;
  renderer->caster_low = renderer->scene_low;
  renderer->caster_high = renderer->scene_high;
}

static void renderer_view(Renderer *renderer, const Camera *camera) {
  View *view = &renderer->camera;
  int scale = renderer->settings.antialias == RENDER_SUPERSAMPLE ? 2 : 1;
  *view = (View){.width = scale * renderer->settings.width, .height = scale * renderer->settings.height};
  view->eye = vec3_sub(camera->eye, renderer->frame->grains.origin);
  camera_axes(camera, &view->right, &view->up, &view->forward);
  double half = tan(camera->fov_deg * 3.14159265358979323846 / 360);
  view->focal = view->height / (2 * half);
  Vec3 inside = vec3_min(vec3_max(view->eye, renderer->scene_low), renderer->scene_high);
  double size = vec3_length(vec3_sub(renderer->scene_high, renderer->scene_low));
  double near = vec3_length(vec3_sub(view->eye, inside));
  view->far = near + 2 * size;
  if (renderer->frame->ground_count) view->far = near + 30 * size;
  /* A plane of the box may be nearer along the axis than the nearest corner is away. */
  view->near = fmax(0.5 * near, view->far * 2e-4);
  double angle = atan(half * hypot(1, (double)view->width / view->height));
  view->near = fmax(fmin(view->near, near * cos(angle) * 0.98), view->far * 2e-4);
  view->view = mat4_view(view->eye, view->right, view->up, view->forward);
  view->projection =
      mat4_perspective(view->focal * 2 / view->width, view->focal * 2 / view->height, view->near, view->far);
  view->both = mat4_mul(&view->projection, &view->view);
}

static Status renderer_scene(Renderer *renderer, bool changed) {
  const Gl *gl = &renderer->gl;
  const View *view = &renderer->camera;
  TRY(gl_target(&renderer->core, gl, &renderer->scene, view->width, view->height,
                (GlTargetPlan){.color = {GL_RGBA8, GL_RGB10_A2}, .depth = true}));
  TRY(pass_grains_upload(renderer, view, &renderer->camera_grains, changed));
  renderer->statistics.drawn = renderer->camera_grains.count;
  renderer_stage(renderer, RENDER_STAGE_CULL);
  gl_target_bind(gl, &renderer->scene);
  gl->ClearColor(0, 0, 0, 0);
  gl->Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  pass_grains_draw(renderer, view, &renderer->camera_grains);
  renderer_stage(renderer, RENDER_STAGE_GRAINS);
  pass_meshes_draw(renderer, view);
  pass_ground_draw(renderer);
  renderer_stage(renderer, RENDER_STAGE_SOLIDS);
  return SCREE_OK;
}

/* Glass lies over what has been shaded, hidden by the same depth. */
static Status renderer_glass(Renderer *renderer) {
  bool any = false;
  for (int32_t s = 0; s < renderer->frame->solid_count; s++) any |= renderer->frame->solids[s].look == RENDER_GLASS;
  if (!any) return SCREE_OK;
  const Gl *gl = &renderer->gl;
  gl_target_bind(gl, &renderer->lit);
  gl->FramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, renderer->scene.depth, 0);
  pass_glass_draw(renderer);
  gl->FramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, 0, 0);
  return SCREE_OK;
}

static Status renderer_picture(Renderer *renderer, const Camera *camera) {
  const Gl *gl = &renderer->gl;
  bool changed;
  renderer->stage_began = timer_now();
  Vec3 sun = renderer->frame->to_sun;
  bool given = vec3_finite(sun) && vec3_length(sun) > 0;
  renderer->to_sun = vec3_normalize(given ? sun : vec3(-0.26, -0.66, 0.7));
  TRY(pack_grains(renderer, &changed));
  renderer_stage(renderer, RENDER_STAGE_PACK);
  renderer->scene_low = renderer->bounds.low;
  renderer->scene_high = renderer->bounds.high;
  /* Of the grains those near the others: one that flew off must not make everyone's shadow coarse. */
  Vec3 near = vec3_scale(renderer->bounds.spread, 4);
  renderer->caster_low = vec3_max(renderer->bounds.low, vec3_sub(renderer->bounds.mean, near));
  renderer->caster_high = vec3_min(renderer->bounds.high, vec3_add(renderer->bounds.mean, near));
  TRY(pass_meshes_upload(renderer));
  renderer_bounds(renderer, camera);
  renderer_view(renderer, camera);
  gl->Disable(GL_BLEND);
  gl->Disable(GL_CULL_FACE);
  gl->Enable(GL_DEPTH_TEST);
  gl->DepthMask(GL_TRUE);
  gl->DepthFunc(GL_LESS);
  TRY(renderer_scene(renderer, changed));
  if (renderer->settings.shadows) TRY(pass_shadow_draw(renderer, changed));
  renderer_stage(renderer, RENDER_STAGE_SHADOW);
  gl->Disable(GL_DEPTH_TEST);
  if (renderer->settings.occlusion) TRY(pass_occlusion_draw(renderer));
  renderer_stage(renderer, RENDER_STAGE_OCCLUSION);
  TRY(pass_shade_draw(renderer));
  renderer_stage(renderer, RENDER_STAGE_SHADE);
  TRY(renderer_glass(renderer));
  gl->Disable(GL_DEPTH_TEST);
  TRY(pass_antialias_draw(renderer));
  TRY(pass_overlay_draw(renderer));
  renderer_stage(renderer, RENDER_STAGE_FINISH);
  return SCREE_OK;
}

static Status renderer_check(Renderer *renderer, const RenderFrame *frame, const Camera *camera,
                             const RenderSettings *settings) {
  Core *core = &renderer->core;
  int scale = settings->antialias == RENDER_SUPERSAMPLE ? 2 : 1, most = renderer->gl.texture_limit / scale;
  if (settings->width < 1 || settings->height < 1 || settings->width > most || settings->height > most)
    return fail(core, SCREE_BAD_ARGUMENT, "a picture has between 1 and %d pixels on a side here", most);
  if (!camera_valid(camera)) return fail(core, SCREE_BAD_ARGUMENT, "the camera looks nowhere: eye and target coincide");
  if ((unsigned)settings->color >= RENDER_COLOR_COUNT) return fail(core, SCREE_BAD_ARGUMENT, "unknown colour mode");
  if (frame->grains.count < 0 || frame->grains.count > INT32_MAX)
    return fail(core, SCREE_BAD_ARGUMENT, "%lld grains cannot be drawn", (long long)frame->grains.count);
  return SCREE_OK;
}

ScreeStatus renderer_draw(Renderer *renderer, const RenderFrame *frame, const Camera *camera,
                          const RenderSettings *settings, ScreeError *error) {
  Status status = renderer_check(renderer, frame, camera, settings);
  if (status == SCREE_OK) {
    renderer->settings = *settings;
    renderer->frame = frame;
    renderer->pictures++;
    renderer->statistics.grains = frame->grains.count;
    status = renderer_picture(renderer, camera);
    renderer->frame = NULL;
  }
  return core_report(&renderer->core, status, error);
}

void renderer_present(Renderer *renderer, int width, int height) {
  const Gl *gl = &renderer->gl;
  gl->BindFramebuffer(GL_READ_FRAMEBUFFER, renderer->picture.frame);
  gl->BindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
  gl->BlitFramebuffer(0, 0, renderer->picture.width, renderer->picture.height, 0, 0, width, height, GL_COLOR_BUFFER_BIT,
                      GL_LINEAR);
  gl->BindFramebuffer(GL_FRAMEBUFFER, 0);
  gl->Viewport(0, 0, width, height);
}

ScreeStatus renderer_read(Renderer *renderer, Image *image, ScreeError *error) {
  const Gl *gl = &renderer->gl;
  int width = renderer->picture.width, height = renderer->picture.height;
  if (!renderer->picture.frame)
    return core_report(&renderer->core, fail(&renderer->core, SCREE_BAD_ARGUMENT, "nothing was drawn yet"), error);
  ScreeStatus status = image_create(image, width, height, error);
  if (status != SCREE_OK) return status;
  gl->BindFramebuffer(GL_READ_FRAMEBUFFER, renderer->picture.frame);
  gl->PixelStorei(GL_PACK_ALIGNMENT, 4);
  gl->ReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, image->pixels);
  /* OpenGL counts rows from below. */
  size_t row = 4 * (size_t)width;
  char *kept = memory_get(&renderer->core.memory, (int64_t)row, 1, "row of a picture");
  if (!kept)
    return core_report(&renderer->core, fail(&renderer->core, SCREE_NO_MEMORY, "no memory for the picture"), error);
  for (int y = 0; y < height / 2; y++) {
    uint8_t *above = &image->pixels[(size_t)y * row], *below = &image->pixels[(size_t)(height - 1 - y) * row];
    memcpy(kept, above, row);
    memcpy(above, below, row);
    memcpy(below, kept, row);
  }
  memory_free(&renderer->core.memory, kept);
  return SCREE_OK;
}

ScreeStatus renderer_read_depth(Renderer *renderer, float *depth, ScreeError *error) {
  const Gl *gl = &renderer->gl;
  Core *core = &renderer->core;
  const View *view = &renderer->camera;
  int width = renderer->settings.width, height = renderer->settings.height;
  if (!renderer->picture.frame)
    return core_report(core, fail(core, SCREE_BAD_ARGUMENT, "nothing was drawn yet"), error);
  /* Several to a pixel where the picture is reduced: the nearest counts. */
  int scale = view->width / width;
  float *drawn = memory_get(&core->memory, (int64_t)view->width * view->height, sizeof *drawn, "depth of a picture");
  if (!drawn) return core_report(core, fail(core, SCREE_NO_MEMORY, "no memory for the depth of a picture"), error);
  gl->BindFramebuffer(GL_READ_FRAMEBUFFER, renderer->scene.frame);
  gl->PixelStorei(GL_PACK_ALIGNMENT, 4);
  gl->ReadPixels(0, 0, view->width, view->height, GL_DEPTH_COMPONENT, GL_FLOAT, drawn);
  double span = view->far - view->near;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      float z = 1;
      for (int k = 0; k < scale * scale; k++)
        z = fminf(z, drawn[(size_t)(scale * (height - 1 - y) + k / scale) * (size_t)view->width +
                           (size_t)(scale * x + k % scale)]);
      depth[(size_t)y * (size_t)width + (size_t)x] =
          z < 1 ? (float)(view->far * view->near / (view->far - (double)z * span)) : INFINITY;
    }
  memory_free(&core->memory, drawn);
  return SCREE_OK;
}

RenderLegend renderer_legend(const Renderer *renderer) { return renderer->legend; }
RenderStatistics renderer_statistics(const Renderer *renderer) { return renderer->statistics; }
void renderer_set_timing(Renderer *renderer, bool timing) { renderer->timing = timing; }
