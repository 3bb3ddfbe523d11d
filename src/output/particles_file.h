/* Frames of particles as files: PLY (binary little-endian), VTP (VTK's XML PolyData) and compact ones (compact.h).
 * Coordinates are those of the world, origin added in double and rounded once. */
#ifndef OUTPUT_PARTICLES_FILE_H
#define OUTPUT_PARTICLES_FILE_H

#include "output/committer.h"

typedef enum FrameFormat { FRAME_PLY, FRAME_VTP, FRAME_COMPACT, FRAME_NONE } FrameFormat;

/* Columns that compact frames may be without. */
enum { FRAME_VELOCITY = 1, FRAME_ID = 2 };

/* "ply", "vtp", "compact": also the ending of the file. */
const char *frame_format_name(FrameFormat format);

/* Room in which compact frames are made. */
typedef struct CompactBuffers {
  uint64_t *places;
  uint32_t *velocities, *ids;
} CompactBuffers;
void compact_buffers_destroy(Core *core, CompactBuffers *buffers);

typedef struct FrameWriter {
  FrameFormat format;
  unsigned columns;     /* of compact frames */
  Committer *committer; /* ends the files; NULL: they are ended at once */
  CompactBuffers buffers;
} FrameWriter;

/* In the writer's format; compact ones on the threads of the core. */
Status particles_write(Core *core, FrameWriter *writer, const char *path, const ScreeParticles *particles, double time);

Status particles_write_ply(Core *core, Committer *committer, const char *path, const ScreeParticles *particles,
                           double time);
Status particles_write_vtp(Core *core, Committer *committer, const char *path, const ScreeParticles *particles,
                           double time);
Status particles_write_compact(Core *core, FrameWriter *writer, const char *path, const ScreeParticles *particles,
                               double time);

/* A triangle mesh whose vertices are relative to `origin`, as PLY. */
Status mesh_write_ply(Core *core, Committer *committer, const char *path, const ScreeMeshView *mesh, ScreeVec3 origin,
                      double time);

/* The surface of a solid, in its own frame, and where it is. */
typedef struct SolidSurface {
  ScreeMeshView mesh;
  ScreePose pose;
  int32_t number; /* of the solid in the scene: boundaries from 1, then bodies; 0: the terrain */
} SolidSurface;

/* Triangles in the world, with the cell array `body`: the number of the solid. */
Status solids_write_vtp(Core *core, const char *path, const SolidSurface *solids, int32_t count, double time);

#endif
