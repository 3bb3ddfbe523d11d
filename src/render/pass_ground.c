/* Planes that grains lie on: a wide floor, drawn once per plane as a square that reaches far beyond the scene and
 * fades into the horizon. Its surface is that of trowelled concrete: a little noise, from hand's breadths to metres of
 * the scene's own size. */
#include "render/internal.h"

static const char *const ground_vertex =
    "uniform mat4 u_both;\n"
    "uniform vec3 u_point;\n"
    "uniform vec3 u_along;\n"
    "uniform vec3 u_across;\n"
    "uniform vec3 u_tiles;\n" /* where the middle of the square lies in the pattern, and how far its side is away */
    "out vec2 v_at;\n"
    "void main() {\n"
    "  vec2 corner = vec2(gl_VertexID == 1 || gl_VertexID == 3 ? 1.0 : -1.0, gl_VertexID >= 2 ? 1.0 : -1.0);\n"
    "  v_at = u_tiles.xy + corner * u_tiles.z;\n"
    "  gl_Position = u_both * vec4(u_point + u_along * corner.x + u_across * corner.y, 1.0);\n"
    "}\n";

static const char *const ground_fragment =
    "uniform vec3 u_normal;\n"
    "uniform vec4 u_color;\n"
    "uniform sampler2D u_noise_map;\n"
    "in vec2 v_at;\n"
    "layout(location = 0) out vec4 o_albedo;\n"
    "layout(location = 1) out vec4 o_normal;\n"
    "void main() {\n"
    "  o_albedo = vec4(u_color.rgb * (0.88 + 0.24 * texture(u_noise_map, v_at).r), u_color.a);\n"
    "  o_normal = vec4(u_normal * 0.5 + 0.5, 0.0);\n"
    "}\n";

enum { NOISE_SIDE = 512 };

static uint32_t ground_hash(uint32_t x, uint32_t y) {
  uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca77u;
  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  h = (h ^ (h >> 12)) * 0x297a2d39u;
  return h ^ (h >> 15);
}

/* Smooth noise whose cells are `cell` pixels wide; it repeats at the side of the picture. */
static double ground_wave(int x, int y, int cell) {
  int cells = NOISE_SIDE / cell, i = x / cell, j = y / cell;
  double u = (double)(x % cell) / cell, v = (double)(y % cell) / cell, corner[2][2];
  for (int b = 0; b < 2; b++)
    for (int a = 0; a < 2; a++)
      corner[b][a] =
          (ground_hash((uint32_t)((i + a) % cells) + 977u * (uint32_t)cell, (uint32_t)((j + b) % cells)) & 0xffff) /
          65535.0;
  u *= u * (3 - 2 * u);
  v *= v * (3 - 2 * v);
  double low = corner[0][0] + (corner[0][1] - corner[0][0]) * u;
  double high = corner[1][0] + (corner[1][1] - corner[1][0]) * u;
  return low + (high - low) * v - 0.5;
}

static void ground_noise(uint8_t *pixels) {
  for (int y = 0; y < NOISE_SIDE; y++)
    for (int x = 0; x < NOISE_SIDE; x++) {
      double sum = 0.5, weight = 0.5;
      for (int cell = 128; cell >= 1; cell /= 2, weight *= 0.72) sum += weight * ground_wave(x, y, cell);
      sum = sum < 0 ? 0 : sum > 1 ? 1 : sum;
      pixels[y * NOISE_SIDE + x] = (uint8_t)(255 * sum + 0.5);
    }
}

Status pass_ground_create(Renderer *renderer) {
  const Gl *gl = &renderer->gl;
  uint8_t *pixels = NULL;
  TRY(memory_new(&renderer->core, &pixels, NOISE_SIDE * NOISE_SIDE, "surface of the ground"));
  ground_noise(pixels);
  gl->GenTextures(1, &renderer->ground_texture);
  gl->BindTexture(GL_TEXTURE_2D, renderer->ground_texture);
  gl->TexImage2D(GL_TEXTURE_2D, 0, GL_R8, NOISE_SIDE, NOISE_SIDE, 0, GL_RED, GL_UNSIGNED_BYTE, pixels);
  memory_drop(&renderer->core, &pixels);
  gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_NEAREST);
  gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  gl->GenerateMipmap(GL_TEXTURE_2D);
  return gl_program(&renderer->core, gl, "ground", "", ground_vertex, ground_fragment, &renderer->ground_program);
}

static void ground_vector(const Gl *gl, GLuint program, const char *name, Vec3 v) {
  gl->Uniform3f(gl_at(gl, program, name), (float)v.x, (float)v.y, (float)v.z);
}

void pass_ground_draw(Renderer *renderer) {
  const Gl *gl = &renderer->gl;
  GLuint program = renderer->ground_program;
  gl->UseProgram(program);
  gl->UniformMatrix4fv(gl_at(gl, program, "u_both"), 1, GL_FALSE, renderer->camera.both.m);
  gl->Uniform4f(gl_at(gl, program, "u_color"), 0.555f, 0.555f, 0.56f, kind_alpha(KIND_GROUND));
  gl->Uniform1i(gl_at(gl, program, "u_noise_map"), 0);
  gl_texture_bind(gl, 0, renderer->ground_texture);
  Vec3 middle = vec3_scale(vec3_add(renderer->scene_low, renderer->scene_high), 0.5);
  double size = vec3_length(vec3_sub(renderer->scene_high, renderer->scene_low));
  for (int32_t k = 0; k < renderer->frame->ground_count; k++) {
    Vec3 normal = vec3_normalize(renderer->frame->grounds[k].normal);
    Vec3 point = vec3_sub(renderer->frame->grounds[k].point, renderer->frame->grains.origin);
    /* Below the plane one sees through it. */
    if (vec3_dot(vec3_sub(renderer->camera.eye, point), normal) <= 0) continue;
    Vec3 along, across;
    vec3_frame(normal, &along, &across);
    double reach = renderer->camera.far;
    Vec3 at = vec3_madd(middle, normal, vec3_dot(vec3_sub(point, middle), normal));
    /* The size is a power of two, so that the pattern does not swim when the scene grows a little. */
    double tile = exp2(round(log2(fmax(size, 1e-6)))) * 1.2;
    Vec3 from = vec3_scale(vec3_sub(at, point), 1 / tile);
    ground_vector(gl, program, "u_tiles", vec3(vec3_dot(from, along), vec3_dot(from, across), reach / tile));
    ground_vector(gl, program, "u_point", at);
    ground_vector(gl, program, "u_along", vec3_scale(along, reach));
    ground_vector(gl, program, "u_across", vec3_scale(across, reach));
    ground_vector(gl, program, "u_normal", normal);
    gl->BindVertexArray(renderer->empty_array);
    gl->DrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  }
}

void pass_ground_destroy(Renderer *renderer) {
  renderer->gl.DeleteProgram(renderer->ground_program);
  renderer->gl.DeleteTextures(1, &renderer->ground_texture);
}
