/* Frames of particles as files: PLY (binary little-endian) and VTP (VTK's XML PolyData). Coordinates are those of the
 * world, origin added in double and rounded to float once. A committer, where there is one, ends the file. */
#ifndef OUTPUT_PARTICLES_FILE_H
#define OUTPUT_PARTICLES_FILE_H

#include "output/committer.h"

typedef enum FrameFormat { FRAME_PLY, FRAME_VTP, FRAME_NONE } FrameFormat;

/* "ply", "vtp": also the ending of the file. */
const char *frame_format_name(FrameFormat format);

Status particles_write_ply(Core *core, Committer *committer, const char *path, const ScreeParticles *particles,
                           double time);
Status particles_write_vtp(Core *core, Committer *committer, const char *path, const ScreeParticles *particles,
                           double time);
Status particles_write(Core *core, Committer *committer, const char *path, FrameFormat format,
                       const ScreeParticles *particles, double time);

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
