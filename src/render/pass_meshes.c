/* Bodies, mechanisms and heightfields: triangles with smooth normals where the surface is smooth. */
#include "render/internal.h"

#include <string.h>

const char *const shader_mesh_vertex = "in vec3 a_a;\n"
                                       "in vec3 a_b;\n"
                                       "uniform mat4 u_pose;\n"
                                       "uniform mat4 u_both;\n"
                                       "uniform float u_nearer;\n" /* share of the depth that it is drawn nearer */
                                       "out vec3 v_normal;\n"
                                       "out vec3 v_point;\n"
                                       "void main() {\n"
                                       "  vec4 p = u_pose * vec4(a_a, 1.0);\n"
                                       "  v_point = p.xyz;\n"
                                       "  v_normal = (u_pose * vec4(a_b, 0.0)).xyz;\n"
                                       "  gl_Position = u_both * p;\n"
                                       "  gl_Position.z -= u_nearer * gl_Position.w;\n"
                                       "}\n";

/* A heightfield is made of grains too small to draw. Specks vary its colour as that of grains does, and tilt its
 * normal; they are as large as a pixel or two wherever one looks, and where that doubles, one size fades into the next.
 */
static const char *const mesh_fragment =
    "in vec3 v_normal;\n"
    "in vec3 v_point;\n"
    "uniform vec4 u_color;\n" /* and the kind */
    "uniform vec2 u_sand;\n"  /* size of the wide pattern and of the smallest speck, m; 0: smooth paint */
    "uniform sampler2D u_noise_map;\n"
    "layout(location = 0) out vec4 o_albedo;\n"
    "layout(location = 1) out vec4 o_normal;\n"
    "vec4 speck(vec2 at) {\n"
    "  ivec2 cell = ivec2(floor(at));\n"
    "  uint m = uint(cell.x) * 0x9e3779b1u ^ uint(cell.y) * 0x85ebca77u;\n"
    "  m = (m ^ (m >> 15)) * 0x2c1b3c6du;\n"
    "  m = (m ^ (m >> 12)) * 0x297a2d39u;\n"
    "  m ^= m >> 15;\n"
    "  return vec4(m & 255u, (m >> 8) & 255u, (m >> 16) & 255u, m >> 24) / 255.0;\n"
    "}\n"
    "void main() {\n"
    "  vec3 n = normalize(v_normal);\n"
    "  vec3 color = u_color.rgb;\n"
    "  if (u_sand.x > 0.0) {\n"
    "    vec2 at = n.z * n.z > 0.4 ? v_point.xy : abs(n.x) > abs(n.y) ? v_point.yz : v_point.xz;\n"
    "    float pixel = min(length(dFdx(v_point)), length(dFdy(v_point)));\n"
    "    float level = log2(max(1.6 * pixel, u_sand.y)), whole = floor(level);\n"
    "    at *= exp2(-whole);\n"
    "    vec4 s = mix(speck(at), speck(0.5 * at + 7.0), level - whole);\n"
    "    float wide = texture(u_noise_map, v_point.xy / u_sand.x).r, grey = dot(color, vec3(0.333));\n"
    "    color = mix(color, grey * vec3(1.24, 1.1, 0.96), 0.1 + 0.35 * s.y * s.y);\n"
    "    color *= (0.72 + 0.42 * s.x) * (0.9 + 0.2 * wide);\n"
    "    n = normalize(n + 0.9 * (vec3(s.zw, s.y) - 0.5));\n"
    "  } else if (!gl_FrontFacing) n = -n;\n"
    "  o_albedo = vec4(color, u_color.a);\n"
    "  o_normal = vec4(n * 0.5 + 0.5, 0.0);\n"
    "}\n";

static const char *const mesh_sun_fragment = "void main() {}\n";

Status pass_meshes_create(Renderer *renderer) {
  TRY(gl_program(&renderer->core, &renderer->gl, "mesh", "", shader_mesh_vertex, mesh_fragment,
                 &renderer->mesh_program));
  return gl_program(&renderer->core, &renderer->gl, "mesh shadow", "", shader_mesh_vertex, mesh_sun_fragment,
                    &renderer->mesh_shadow_program);
}

typedef struct MeshCorner {
  float x, y, z, nx, ny, nz;
} MeshCorner;

/* Scratch of one upload: unit face normals weighted by area, and which triangles meet in a vertex. */
typedef struct MeshBuild {
  Vec3 *faces;
  int64_t *first;
  int64_t *meeting;
  MeshCorner *corners;
  float *edges;
  int64_t edge_ends;
} MeshBuild;

static Vec3 mesh_vertex_at(const ScreeMeshView *mesh, uint32_t vertex) {
  const float *p = &mesh->vertices[3 * (int64_t)vertex];
  return vec3(p[0], p[1], p[2]);
}

static bool mesh_sound(const ScreeMeshView *mesh) {
  if (mesh->triangle_count < 1 || mesh->vertex_count < 3 || !mesh->vertices || !mesh->triangles) return false;
  for (int64_t k = 0; k < 3 * mesh->triangle_count; k++)
    if (mesh->triangles[k] >= mesh->vertex_count) return false;
  return true;
}

static void mesh_adjacency(const ScreeMeshView *mesh, MeshBuild *build) {
  for (int64_t t = 0; t < mesh->triangle_count; t++) {
    const uint32_t *v = &mesh->triangles[3 * t];
    Vec3 a = mesh_vertex_at(mesh, v[0]), b = mesh_vertex_at(mesh, v[1]), c = mesh_vertex_at(mesh, v[2]);
    build->faces[t] = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
    for (int k = 0; k < 3; k++) build->first[v[k] + 1]++;
  }
  for (int64_t v = 0; v < mesh->vertex_count; v++) build->first[v + 1] += build->first[v];
  for (int64_t k = 3 * mesh->triangle_count - 1; k >= 0; k--) {
    /* Filled from behind: `first[v + 1]` walks down to where `first[v]` belongs. */
    build->meeting[--build->first[mesh->triangles[k] + 1]] = k / 3;
  }
  /* Now first[v + 1] is the start of v; shift it back. */
  memmove(build->first, build->first + 1, (size_t)mesh->vertex_count * sizeof *build->first);
  build->first[mesh->vertex_count] = 3 * mesh->triangle_count;
}

enum { MESH_CREASE_DEGREES = 40 };
static const double mesh_crease_cosine = 0.766044443118978;

/* A corner's normal is the mean of the faces that meet there and do not bend away by more than the crease angle. */
static void mesh_corners(const ScreeMeshView *mesh, MeshBuild *build) {
  for (int64_t t = 0; t < mesh->triangle_count; t++) {
    Vec3 own = vec3_normalize(build->faces[t]);
    for (int k = 0; k < 3; k++) {
      uint32_t v = mesh->triangles[3 * t + k];
      Vec3 sum = vec3(0, 0, 0);
      for (int64_t m = build->first[v]; m < build->first[v + 1]; m++) {
        Vec3 other = build->faces[build->meeting[m]];
        if (vec3_dot(own, vec3_normalize(other)) > mesh_crease_cosine) sum = vec3_add(sum, other);
      }
      sum = vec3_normalize(vec3_length(sum) > 0 ? sum : own);
      const float *p = &mesh->vertices[3 * (int64_t)v];
      build->corners[3 * t + k] = (MeshCorner){p[0], p[1], p[2], (float)sum.x, (float)sum.y, (float)sum.z};
    }
  }
}

/* Edges where the surface bends sharply or ends: what makes a glass box visible. */
static void mesh_edges(const ScreeMeshView *mesh, MeshBuild *build) {
  for (int64_t t = 0; t < mesh->triangle_count; t++) {
    Vec3 own = vec3_normalize(build->faces[t]);
    for (int k = 0; k < 3; k++) {
      uint32_t a = mesh->triangles[3 * t + k], b = mesh->triangles[3 * t + (k + 1) % 3];
      bool sharp = true, mine = true;
      for (int64_t m = build->first[a]; m < build->first[a + 1]; m++) {
        int64_t other = build->meeting[m];
        const uint32_t *v = &mesh->triangles[3 * other];
        if (other == t || (v[0] != b && v[1] != b && v[2] != b)) continue;
        if (vec3_dot(own, vec3_normalize(build->faces[other])) > mesh_crease_cosine) sharp = false;
        if (other < t) mine = false;
      }
      if (!sharp || !mine) continue;
      memcpy(&build->edges[3 * build->edge_ends++], &mesh->vertices[3 * (int64_t)a], 3 * sizeof(float));
      memcpy(&build->edges[3 * build->edge_ends++], &mesh->vertices[3 * (int64_t)b], 3 * sizeof(float));
    }
  }
}

static void mesh_build_destroy(Core *core, MeshBuild *build) {
  memory_drop(core, &build->faces);
  memory_drop(core, &build->first);
  memory_drop(core, &build->meeting);
  memory_drop(core, &build->corners);
  memory_drop(core, &build->edges);
}

static Status mesh_build(Core *core, const ScreeMeshView *mesh, bool edges, MeshBuild *build) {
  *build = (MeshBuild){0};
  TRY(memory_new(core, &build->faces, mesh->triangle_count, "mesh for drawing"));
  TRY(memory_new(core, &build->first, mesh->vertex_count + 2, "mesh for drawing"));
  TRY(memory_new(core, &build->meeting, 3 * mesh->triangle_count, "mesh for drawing"));
  TRY(memory_new(core, &build->corners, 3 * mesh->triangle_count, "mesh for drawing"));
  if (edges) TRY(memory_new(core, &build->edges, 18 * mesh->triangle_count, "mesh for drawing"));
  mesh_adjacency(mesh, build);
  mesh_corners(mesh, build);
  if (edges) mesh_edges(mesh, build);
  return SCREE_OK;
}

static void mesh_fill(const Gl *gl, GLuint *buffer, GLuint *array, const void *data, int64_t bytes, bool normals) {
  GLsizei stride = normals ? (GLsizei)sizeof(MeshCorner) : 3 * (GLsizei)sizeof(float);
  if (!*buffer) {
    gl->GenBuffers(1, buffer);
    gl->GenVertexArrays(1, array);
    gl->BindVertexArray(*array);
    gl->BindBuffer(GL_ARRAY_BUFFER, *buffer);
    gl->EnableVertexAttribArray(GL_SLOT_A);
    gl->VertexAttribPointer(GL_SLOT_A, 3, GL_FLOAT, GL_FALSE, stride, NULL);
    if (normals) {
      gl->EnableVertexAttribArray(GL_SLOT_B);
      gl->VertexAttribPointer(GL_SLOT_B, 3, GL_FLOAT, GL_FALSE, stride, (void *)(3 * sizeof(float)));
    }
  }
  gl->BindBuffer(GL_ARRAY_BUFFER, *buffer);
  gl->BufferData(GL_ARRAY_BUFFER, (GLsizeiptr)bytes, data, GL_STATIC_DRAW);
}

/* Solids without a key share nothing: they are told apart by their place in the frame. Glass has edges besides. */
static uint64_t mesh_key(const Renderer *renderer, const RenderSolid *solid) {
  uint64_t key = solid->mesh_key ? solid->mesh_key : ~(uint64_t)(solid - renderer->frame->solids);
  return 2 * key + (solid->look == RENDER_GLASS);
}

MeshUpload *pass_meshes_find(Renderer *renderer, const RenderSolid *solid) {
  uint64_t key = mesh_key(renderer, solid);
  for (int64_t k = 0; k < renderer->mesh_count; k++)
    if (renderer->meshes[k].key == key) return &renderer->meshes[k];
  return NULL;
}

static Status mesh_upload(Renderer *renderer, const RenderSolid *solid) {
  MeshUpload *upload = pass_meshes_find(renderer, solid);
  uint64_t version = renderer->frame->version;
  if (upload && (solid->mesh_key || (version && upload->version == version))) {
    upload->used = renderer->pictures;
    return SCREE_OK;
  }
  if (!upload) {
    TRY(memory_grow(&renderer->core, &renderer->meshes, renderer->mesh_count + 1, "uploaded meshes"));
    upload = &renderer->meshes[renderer->mesh_count++];
    *upload = (MeshUpload){.key = mesh_key(renderer, solid)};
  }
  upload->used = renderer->pictures;
  upload->version = version;
  upload->corners = upload->edge_ends = 0;
  renderer->statistics.mesh_uploads++;
  if (!mesh_sound(&solid->mesh)) return SCREE_OK;
  MeshBuild build;
  Status status = mesh_build(&renderer->core, &solid->mesh, solid->look == RENDER_GLASS, &build);
  if (status == SCREE_OK) {
    upload->corners = 3 * solid->mesh.triangle_count;
    upload->edge_ends = build.edge_ends;
    mesh_fill(&renderer->gl, &upload->buffer, &upload->array, build.corners,
              upload->corners * (int64_t)sizeof(MeshCorner), true);
    if (upload->edge_ends)
      mesh_fill(&renderer->gl, &upload->edge_buffer, &upload->edge_array, build.edges,
                upload->edge_ends * 3 * (int64_t)sizeof(float), false);
    upload->low = upload->high = mesh_vertex_at(&solid->mesh, solid->mesh.triangles[0]);
    for (int64_t k = 1; k < upload->corners; k++) {
      Vec3 p = mesh_vertex_at(&solid->mesh, solid->mesh.triangles[k]);
      upload->low = vec3_min(upload->low, p);
      upload->high = vec3_max(upload->high, p);
    }
  }
  mesh_build_destroy(&renderer->core, &build);
  return status;
}

static void mesh_forget(const Gl *gl, MeshUpload *upload) {
  if (upload->buffer) gl->DeleteBuffers(1, &upload->buffer);
  if (upload->array) gl->DeleteVertexArrays(1, &upload->array);
  if (upload->edge_buffer) gl->DeleteBuffers(1, &upload->edge_buffer);
  if (upload->edge_array) gl->DeleteVertexArrays(1, &upload->edge_array);
}

/* Uploads what is new, forgets what has not been drawn for a while, and widens the scene's bounds. */
Status pass_meshes_upload(Renderer *renderer) {
  const RenderFrame *frame = renderer->frame;
  for (int32_t s = 0; s < frame->solid_count; s++) TRY(mesh_upload(renderer, &frame->solids[s]));
  for (int64_t k = renderer->mesh_count - 1; k >= 0; k--)
    if (renderer->meshes[k].used + 64 < renderer->pictures) {
      mesh_forget(&renderer->gl, &renderer->meshes[k]);
      renderer->meshes[k] = renderer->meshes[--renderer->mesh_count];
    }
  for (int32_t s = 0; s < frame->solid_count; s++) {
    const RenderSolid *solid = &frame->solids[s];
    const MeshUpload *upload = pass_meshes_find(renderer, solid);
    if (solid->hidden || !upload->corners) continue;
    Vec3 at = vec3_sub(solid->pose.position, frame->grains.origin);
    for (int corner = 0; corner < 8; corner++) {
      Vec3 p = vec3(corner & 1 ? upload->high.x : upload->low.x, corner & 2 ? upload->high.y : upload->low.y,
                    corner & 4 ? upload->high.z : upload->low.z);
      p = vec3_add(at, quat_rotate(quat_normalize(solid->pose.rotation), p));
      if (!vec3_finite(p)) continue;
      renderer->scene_low = vec3_min(renderer->scene_low, p);
      renderer->scene_high = vec3_max(renderer->scene_high, p);
      if (solid->look == RENDER_GLASS) continue;
      renderer->caster_low = vec3_min(renderer->caster_low, p);
      renderer->caster_high = vec3_max(renderer->caster_high, p);
    }
  }
  return SCREE_OK;
}

Mat4 pass_meshes_pose(const Renderer *renderer, const RenderSolid *solid) {
  return mat4_pose(vec3_sub(solid->pose.position, renderer->frame->grains.origin), solid->pose.rotation);
}

void pass_meshes_draw(Renderer *renderer, const View *view) {
  const Gl *gl = &renderer->gl;
  GLuint program = view->sun ? renderer->mesh_shadow_program : renderer->mesh_program;
  gl->UseProgram(program);
  gl->UniformMatrix4fv(gl_at(gl, program, "u_both"), 1, GL_FALSE, view->both.m);
  if (!view->sun) {
    gl->Uniform1i(gl_at(gl, program, "u_noise_map"), 0);
    gl_texture_bind(gl, 0, renderer->ground_texture);
  }
  for (int32_t s = 0; s < renderer->frame->solid_count; s++) {
    const RenderSolid *solid = &renderer->frame->solids[s];
    const MeshUpload *upload = pass_meshes_find(renderer, solid);
    if (solid->look == RENDER_GLASS || solid->hidden || !upload->corners) continue;
    Mat4 pose = pass_meshes_pose(renderer, solid);
    gl->UniformMatrix4fv(gl_at(gl, program, "u_pose"), 1, GL_FALSE, pose.m);
    if (!view->sun) {
      bool granular = solid->look == RENDER_GRANULAR;
      float kind = kind_alpha(granular ? KIND_GRANULAR : KIND_MESH);
      double size = vec3_length(vec3_sub(upload->high, upload->low));
      gl->Uniform4f(gl_at(gl, program, "u_color"), solid->color[0], solid->color[1], solid->color[2], kind);
      gl->Uniform2f(gl_at(gl, program, "u_sand"), granular ? (float)exp2(round(log2(0.5 * size))) : 0.f,
                    (float)(size / 3000));
    }
    gl->BindVertexArray(upload->array);
    gl->DrawArrays(GL_TRIANGLES, 0, (GLsizei)upload->corners);
  }
}

void pass_meshes_destroy(Renderer *renderer) {
  for (int64_t k = 0; k < renderer->mesh_count; k++) mesh_forget(&renderer->gl, &renderer->meshes[k]);
  memory_drop(&renderer->core, &renderer->meshes);
  renderer->gl.DeleteProgram(renderer->mesh_program);
  renderer->gl.DeleteProgram(renderer->mesh_shadow_program);
}
