/* Title and legend: painted on the CPU into a small picture and laid over the finished one. */
#include "render/internal.h"

#include <stdio.h>

static const char *const overlay_vertex =
    "uniform vec4 u_box;\n" /* left, top, right, bottom in clip space */
    "out vec2 v_uv;\n"
    "void main() {\n"
    "  v_uv = vec2(gl_VertexID == 1 || gl_VertexID == 3 ? 1.0 : 0.0, gl_VertexID >= 2 ? 1.0 : 0.0);\n"
    "  gl_Position = vec4(mix(u_box.xy, u_box.zw, v_uv), 0.0, 1.0);\n"
    "}\n";
static const char *const overlay_fragment = "uniform sampler2D u_map;\n"
                                            "in vec2 v_uv;\n"
                                            "out vec4 o_color;\n"
                                            "void main() { o_color = texture(u_map, v_uv); }\n";

Status pass_overlay_create(Renderer *renderer) {
  const Gl *gl = &renderer->gl;
  gl->GenTextures(1, &renderer->overlay_texture);
  gl->BindTexture(GL_TEXTURE_2D, renderer->overlay_texture);
  gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  return gl_program(&renderer->core, gl, "overlay", "", overlay_vertex, overlay_fragment, &renderer->overlay_program);
}

static void overlay_lay(Renderer *renderer, const Image *image, int x, int y) {
  const Gl *gl = &renderer->gl;
  GLuint program = renderer->overlay_program;
  float width = (float)renderer->settings.width, height = (float)renderer->settings.height;
  gl->UseProgram(program);
  gl->Uniform1i(gl_at(gl, program, "u_map"), 0);
  gl->Uniform4f(gl_at(gl, program, "u_box"), (float)x / width * 2 - 1, 1 - (float)y / height * 2,
                (float)(x + image->width) / width * 2 - 1, 1 - (float)(y + image->height) / height * 2);
  gl_texture_bind(gl, 0, renderer->overlay_texture);
  gl->TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, image->width, image->height, 0, GL_RGBA, GL_UNSIGNED_BYTE, image->pixels);
  gl_target_bind(gl, &renderer->picture);
  gl->Enable(GL_BLEND);
  gl->BlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  gl->ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_FALSE);
  gl->BindVertexArray(renderer->empty_array);
  gl->DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  gl->ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  gl->Disable(GL_BLEND);
}

static const ImageColor overlay_ink = {255, 255, 255, 255}, overlay_ground = {28, 31, 36, 165};

static Status overlay_legend(Renderer *renderer, double size, Image *image) {
  const RenderLegend *legend = &renderer->legend;
  double pad = size;
  int bar = (int)(size * 14), width = (int)(bar + 5 * pad), height = (int)(6.4 * size);
  ScreeError error;
  if (image_create(image, width, height, &error) != SCREE_OK)
    return fail(&renderer->core, error.status, "%s", error.message);
  image_fill(image, overlay_ground);
  char text[64];
  snprintf(text, sizeof text, "%s (%s)", legend->name, legend->unit);
  text_draw(image, 2.5 * pad, 1.9 * size, size, text, overlay_ink);
  for (int x = 0; x < bar; x++) {
    uint8_t rgb[3];
    scale_map((double)x / (bar - 1), rgb);
    image_fill_box(image, (int)(2.5 * pad) + x, (int)(2.6 * size), 1, (int)(1.2 * size),
                   (ImageColor){rgb[0], rgb[1], rgb[2], 255});
  }
  for (int k = 0; k <= 2; k++) {
    snprintf(text, sizeof text, "%.6g", legend->low + (legend->high - legend->low) * 0.5 * k);
    double wide = text_width(0.85 * size, text);
    text_draw(image, 2.5 * pad + bar * 0.5 * k - wide * 0.5, 5.3 * size, 0.85 * size, text, overlay_ink);
  }
  return SCREE_OK;
}

static Status overlay_title(Renderer *renderer, double size, Image *image) {
  const char *title = renderer->frame->title;
  int width = (int)ceil(text_width(size, title) + 2.4 * size), height = (int)(2.8 * size);
  if (width > renderer->settings.width) width = renderer->settings.width;
  ScreeError error;
  if (image_create(image, width, height, &error) != SCREE_OK)
    return fail(&renderer->core, error.status, "%s", error.message);
  image_fill(image, overlay_ground);
  text_draw(image, 1.2 * size, 1.85 * size, size, title, overlay_ink);
  return SCREE_OK;
}

Status pass_overlay_draw(Renderer *renderer) {
  double size = fmax(8, renderer->settings.height / 55.0);
  int margin = (int)size;
  Image image = {0};
  Status status = SCREE_OK;
  if (renderer->settings.legend && renderer->legend.name) {
    status = overlay_legend(renderer, size, &image);
    if (status == SCREE_OK)
      overlay_lay(renderer, &image, renderer->settings.width - image.width - margin,
                  renderer->settings.height - image.height - margin);
  }
  if (status == SCREE_OK && renderer->settings.title && renderer->frame->title && *renderer->frame->title) {
    status = overlay_title(renderer, 1.4 * size, &image);
    if (status == SCREE_OK) overlay_lay(renderer, &image, margin, margin);
  }
  image_destroy(&image);
  return status;
}

void pass_overlay_destroy(Renderer *renderer) {
  renderer->gl.DeleteProgram(renderer->overlay_program);
  renderer->gl.DeleteTextures(1, &renderer->overlay_texture);
}
