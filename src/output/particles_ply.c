/* PLY, binary little-endian. The columns are fixed: other people's scripts read them. */
#include "output/committer.h"
#include "output/number.h"
#include "output/particles_file.h"
#include "output/stream.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frames are written as they lie in memory, little-endian"
#endif

static void put_header(Stream *stream, double time) {
  stream_print(stream, "ply\nformat binary_little_endian 1.0\ncomment scree %s\ncomment time %s\n", scree_version(),
               number_csv(time).text);
}

/* One row: seven floats, the id, the material; no padding. */
enum { ROW_BYTES = 7 * 4 + 4 + 1 };

static void put_row(Stream *stream, const ScreeParticles *p, int64_t i) {
  float numbers[7] = {(float)(p->origin.x + p->x[i]),
                      (float)(p->origin.y + p->y[i]),
                      (float)(p->origin.z + p->z[i]),
                      p->vx[i],
                      p->vy[i],
                      p->vz[i],
                      p->radius[i]};
  unsigned char row[ROW_BYTES];
  memcpy(row, numbers, sizeof numbers);
  memcpy(row + sizeof numbers, &p->id[i], 4);
  row[ROW_BYTES - 1] = p->material[i];
  stream_write(stream, row, ROW_BYTES);
}

Status particles_write_ply(Core *core, Committer *committer, const char *path, const ScreeParticles *particles,
                           double time) {
  Stream stream;
  stream_open(&stream, path);
  put_header(&stream, time);
  stream_print(&stream, "element vertex %lld\n", (long long)particles->count);
  static const char *const columns[] = {"x", "y", "z", "vx", "vy", "vz", "radius"};
  for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
    stream_print(&stream, "property float %s\n", columns[k]);
  stream_print(&stream, "property uint id\nproperty uchar material\nend_header\n");
  for (int64_t i = 0; i < particles->count && stream.end.why == 0; i++) put_row(&stream, particles, i);
  return committer_take(core, committer, &stream);
}

Status mesh_write_ply(Core *core, Committer *committer, const char *path, const ScreeMeshView *mesh, ScreeVec3 origin,
                      double time) {
  Stream stream;
  stream_open(&stream, path);
  put_header(&stream, time);
  stream_print(&stream, "element vertex %lld\nproperty float x\nproperty float y\nproperty float z\n",
               (long long)mesh->vertex_count);
  stream_print(&stream, "element face %lld\nproperty list uchar uint vertex_indices\nend_header\n",
               (long long)mesh->triangle_count);
  for (int64_t v = 0; v < mesh->vertex_count && stream.end.why == 0; v++) {
    const float *local = mesh->vertices + 3 * v;
    float corner[3] = {(float)(origin.x + local[0]), (float)(origin.y + local[1]), (float)(origin.z + local[2])};
    stream_write(&stream, corner, sizeof corner);
  }
  for (int64_t t = 0; t < mesh->triangle_count && stream.end.why == 0; t++) {
    stream_write(&stream, "\3", 1);
    stream_write(&stream, mesh->triangles + 3 * t, 3 * 4);
  }
  return committer_take(core, committer, &stream);
}
