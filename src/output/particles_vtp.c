/* VTP: VTK's XML PolyData, arrays inline as base64. Inline base64 (and not raw appended data) keeps the file valid XML,
 * so that other XML readers than VTK's can open it as well. All points form one poly-vertex cell: ParaView draws
 * nothing without cells, and one cell a point would double the file. */
#include "core/vec.h"
#include "output/base64.h"
#include "output/committer.h"
#include "output/number.h"
#include "output/particles_file.h"
#include "output/stream.h"

static Base64 begin_array(Stream *stream, const char *type, const char *name, int components, int64_t bytes) {
  stream_print(stream, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">\n", type, name,
               components);
  Base64 base64 = {.stream = stream};
  uint64_t size = (uint64_t)bytes;
  base64_put(&base64, &size, sizeof size);
  return base64;
}

static void end_array(Base64 *base64) {
  base64_end(base64);
  stream_print(base64->stream, "\n</DataArray>\n");
}

static void put_array(Stream *stream, const char *type, const char *name, const void *data, int64_t bytes) {
  Base64 base64 = begin_array(stream, type, name, 1, bytes);
  base64_put(&base64, data, bytes);
  end_array(&base64);
}

static void put_triples(Stream *stream, const char *name, const ScreeParticles *p, const float *const columns[3],
                        ScreeVec3 origin) {
  Base64 base64 = begin_array(stream, "Float32", name, 3, 12 * p->count);
  for (int64_t i = 0; i < p->count && stream->end.why == 0; i++) {
    float triple[3] = {(float)(origin.x + columns[0][i]), (float)(origin.y + columns[1][i]),
                       (float)(origin.z + columns[2][i])};
    base64_put(&base64, triple, sizeof triple);
  }
  end_array(&base64);
}

static void put_cell(Stream *stream, int64_t count) {
  stream_print(stream, "<Verts>\n");
  Base64 base64 = begin_array(stream, "Int64", "connectivity", 1, 8 * count);
  for (int64_t i = 0; i < count && stream->end.why == 0; i++) base64_put(&base64, &i, sizeof i);
  end_array(&base64);
  put_array(stream, "Int64", "offsets", &count, count > 0 ? 8 : 0);
  stream_print(stream, "</Verts>\n");
}

/* Everything up to the piece, which is left open. */
static void begin_piece(Stream *stream, const char *path, int64_t points, int64_t verts, int64_t polys, double time) {
  stream_open(stream, path);
  stream_print(stream, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                       "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n");
  stream_print(stream,
               "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">%s"
               "</DataArray>\n</FieldData>\n",
               number_csv(time).text);
  stream_print(stream,
               "<Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\" NumberOfLines=\"0\" NumberOfStrips=\"0\" ",
               (long long)points, (long long)verts);
  stream_print(stream, "NumberOfPolys=\"%lld\">\n<Points>\n", (long long)polys);
}

static Status end_piece(Core *core, Committer *committer, Stream *stream) {
  stream_print(stream, "</Piece>\n</PolyData>\n</VTKFile>\n");
  return committer_take(core, committer, stream);
}

Status particles_write_vtp(Core *core, Committer *committer, const char *path, const ScreeParticles *particles,
                           double time) {
  const ScreeParticles *p = particles;
  const float *const positions[3] = {p->x, p->y, p->z}, *const velocities[3] = {p->vx, p->vy, p->vz};
  Stream stream;
  begin_piece(&stream, path, p->count, p->count > 0, 0, time);
  put_triples(&stream, "points", p, positions, p->origin);
  stream_print(&stream, "</Points>\n<PointData Scalars=\"radius\" Vectors=\"velocity\">\n");
  put_triples(&stream, "velocity", p, velocities, (ScreeVec3){0, 0, 0});
  put_array(&stream, "Float32", "radius", p->radius, 4 * p->count);
  put_array(&stream, "UInt32", "id", p->id, 4 * p->count);
  put_array(&stream, "UInt8", "material", p->material, p->count);
  stream_print(&stream, "</PointData>\n");
  put_cell(&stream, p->count);
  return end_piece(core, committer, &stream);
}

static void put_solid_points(Base64 *base64, const SolidSurface *solid) {
  for (int64_t v = 0; v < solid->mesh.vertex_count; v++) {
    const float *at = &solid->mesh.vertices[3 * v];
    Vec3 p = vec3_add(quat_rotate(solid->pose.rotation, vec3((double)at[0], (double)at[1], (double)at[2])),
                      solid->pose.position);
    const float triple[3] = {(float)p.x, (float)p.y, (float)p.z};
    base64_put(base64, triple, sizeof triple);
  }
}

/* Triangles of all solids, each told by its number. */
Status solids_write_vtp(Core *core, const char *path, const SolidSurface *solids, int32_t count, double time) {
  int64_t points = 0, polys = 0;
  for (int32_t k = 0; k < count; k++) {
    points += solids[k].mesh.vertex_count;
    polys += solids[k].mesh.triangle_count;
  }
  Stream stream;
  begin_piece(&stream, path, points, 0, polys, time);
  Base64 base64 = begin_array(&stream, "Float32", "points", 3, 12 * points);
  for (int32_t k = 0; k < count; k++) put_solid_points(&base64, &solids[k]);
  end_array(&base64);
  stream_print(&stream, "</Points>\n<CellData Scalars=\"body\">\n");
  base64 = begin_array(&stream, "Int32", "body", 1, 4 * polys);
  for (int32_t k = 0; k < count; k++)
    for (int64_t t = 0; t < solids[k].mesh.triangle_count; t++)
      base64_put(&base64, &solids[k].number, sizeof solids[k].number);
  end_array(&base64);
  stream_print(&stream, "</CellData>\n<Polys>\n");
  base64 = begin_array(&stream, "Int64", "connectivity", 1, 24 * polys);
  int64_t first = 0;
  for (int32_t k = 0; k < count; first += solids[k].mesh.vertex_count, k++)
    for (int64_t c = 0; c < 3 * solids[k].mesh.triangle_count; c++) {
      int64_t corner = first + solids[k].mesh.triangles[c];
      base64_put(&base64, &corner, sizeof corner);
    }
  end_array(&base64);
  base64 = begin_array(&stream, "Int64", "offsets", 1, 8 * polys);
  for (int64_t end = 3; end <= 3 * polys; end += 3) base64_put(&base64, &end, sizeof end);
  end_array(&base64);
  stream_print(&stream, "</Polys>\n");
  return end_piece(core, NULL, &stream);
}
