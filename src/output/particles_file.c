#include "output/particles_file.h"

const char *frame_format_name(FrameFormat format) {
  static const char *const names[] = {"ply", "vtp", "compact", "none"};
  return names[format];
}

Status particles_write(Core *core, FrameWriter *writer, const char *path, const ScreeParticles *particles,
                       double time) {
  switch (writer->format) {
  case FRAME_PLY: return particles_write_ply(core, writer->committer, path, particles, time);
  case FRAME_VTP: return particles_write_vtp(core, writer->committer, path, particles, time);
  case FRAME_COMPACT: return particles_write_compact(core, writer, path, particles, time);
  case FRAME_NONE: break;
  }
  return SCREE_OK;
}
