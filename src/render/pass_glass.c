/* Containers: thin shells of glass, drawn over the finished picture so that the sand inside stays visible. Faces seen
 * at a grazing angle mirror the sky; sharp edges are drawn as lines, since flat glass has no other outline. */
#include "render/internal.h"

static const char *const glass_fragment =
    "in vec3 v_normal;\n"
    "in vec3 v_point;\n"
    "uniform vec3 u_eye;\n"
    "uniform vec3 u_tint;\n"
    "out vec4 o_color;\n"
    "void main() {\n"
    "  vec3 view = normalize(u_eye - v_point);\n"
    "  vec3 n = normalize(v_normal);\n"
    "  float side = dot(n, view);\n"
    "  if (side < 0.0) n = -n;\n"
    "  float rim = pow(1.0 - abs(side), 3.0);\n"
    "  vec3 mirrored = reflect(-view, n);\n"
    "  float glint = pow(max(dot(mirrored, u_to_sun), 0.0), 180.0);\n"
    "  vec3 color = mix(to_linear(u_tint) * 0.6, sky_color(mirrored), 0.2 + 0.4 * rim);\n"
    "  float alpha = clamp(0.07 + 0.6 * rim + 0.8 * glint, 0.0, 0.9);\n"
    "  o_color = vec4(to_display(color + sun_color * glint), dithered(vec3(alpha), gl_FragCoord.xy).r);\n"
    "}\n";

static const char *const edge_fragment = "uniform vec4 u_line;\n"
                                         "out vec4 o_color;\n"
                                         "void main() { o_color = u_line; }\n";

Status pass_glass_create(Renderer *renderer) {
  TRY(gl_program(&renderer->core, &renderer->gl, "glass", shader_light, shader_mesh_vertex, glass_fragment,
                 &renderer->glass_program));
  return gl_program(&renderer->core, &renderer->gl, "edge", shader_light, shader_mesh_vertex, edge_fragment,
                    &renderer->edge_program);
}

/* A little nearer than it is: a glass that stands on the ground wins against it. */
static void glass_place(const Renderer *renderer, GLuint program, const Mat4 *pose) {
  const Gl *gl = &renderer->gl;
  gl->UseProgram(program);
  gl->UniformMatrix4fv(gl_at(gl, program, "u_both"), 1, GL_FALSE, renderer->camera.both.m);
  gl->UniformMatrix4fv(gl_at(gl, program, "u_pose"), 1, GL_FALSE, pose->m);
  gl->Uniform1f(gl_at(gl, program, "u_nearer"), 2e-4f);
}

static void glass_faces(Renderer *renderer, const RenderSolid *solid, const MeshUpload *upload, const Mat4 *pose) {
  const Gl *gl = &renderer->gl;
  GLuint program = renderer->glass_program;
  glass_place(renderer, program, pose);
  Vec3 eye = renderer->camera.eye, sun = renderer->to_sun;
  gl->Uniform3f(gl_at(gl, program, "u_eye"), (float)eye.x, (float)eye.y, (float)eye.z);
  gl->Uniform3f(gl_at(gl, program, "u_to_sun"), (float)sun.x, (float)sun.y, (float)sun.z);
  gl->Uniform3f(gl_at(gl, program, "u_tint"), solid->color[0], solid->color[1], solid->color[2]);
  gl->BindVertexArray(upload->array);
  gl->Enable(GL_CULL_FACE);
  const GLenum hidden[] = {GL_FRONT, GL_BACK};
  for (int side = 0; side < 2; side++) {
    gl->CullFace(hidden[side]);
    gl->DrawArrays(GL_TRIANGLES, 0, (GLsizei)upload->corners);
  }
  gl->Disable(GL_CULL_FACE);
}

static void glass_edges(Renderer *renderer, const MeshUpload *upload, const Mat4 *pose) {
  const Gl *gl = &renderer->gl;
  GLuint program = renderer->edge_program;
  glass_place(renderer, program, pose);
  gl->Uniform4f(gl_at(gl, program, "u_line"), 0.95f, 0.98f, 1.f, 0.75f);
  gl->BindVertexArray(upload->edge_array);
  gl->DrawArrays(GL_LINES, 0, (GLsizei)upload->edge_ends);
}

void pass_glass_draw(Renderer *renderer) {
  const Gl *gl = &renderer->gl;
  gl->Enable(GL_BLEND);
  gl->BlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  gl->Enable(GL_DEPTH_TEST);
  gl->DepthMask(GL_FALSE);
  gl->ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_FALSE);
  for (int32_t s = 0; s < renderer->frame->solid_count; s++) {
    const RenderSolid *solid = &renderer->frame->solids[s];
    const MeshUpload *upload = pass_meshes_find(renderer, solid);
    if (solid->look != RENDER_GLASS || solid->hidden || !upload->corners) continue;
    Mat4 pose = pass_meshes_pose(renderer, solid);
    glass_faces(renderer, solid, upload, &pose);
    if (upload->edge_ends) glass_edges(renderer, upload, &pose);
  }
  gl->ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  gl->DepthMask(GL_TRUE);
  gl->Disable(GL_BLEND);
}

void pass_glass_destroy(Renderer *renderer) {
  renderer->gl.DeleteProgram(renderer->glass_program);
  renderer->gl.DeleteProgram(renderer->edge_program);
}
