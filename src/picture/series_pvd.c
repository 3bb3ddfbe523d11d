/* A .pvd names the files of a time series: ParaView opens it as one data set with several parts. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "output/frames.h"
#include "output/number.h"
#include "output/stream.h"
#include "picture/recording.h"
#include "picture/series.h"

static Status put_kind(Core *core, Stream *stream, const char *folder, const char *kind, int part, double rate) {
  Frames *frames = NULL;
  ScreeError error;
  Status status = frames_open(folder, kind, &frames, &error);
  if (status != SCREE_OK) {
    core->error = error;
    return status;
  }
  for (int64_t k = 0; k < frames_count(frames); k++) {
    int64_t number = frames_number(frames, k);
    char path[SCREE_FILE_MAX];
    frame_name_write(path, sizeof path, folder, kind, number, FRAME_VTP);
    if (access(path, R_OK) != 0) continue;
    stream_print(stream, "<DataSet timestep=\"%s\" part=\"%d\" name=\"%s\" file=\"%s_%06lld.vtp\"/>\n",
                 number_csv((double)number / rate).text, part, kind, kind, (long long)number);
  }
  frames_close(frames);
  return SCREE_OK;
}

/* Solids that are drawn; the terrain's sides are only drawn. */
static int32_t take_solids(const SceneFrame *scene, SolidSurface *surfaces) {
  int32_t count = 0;
  for (int32_t k = 0; k < scene->frame.solid_count; k++) {
    const RenderSolid *solid = &scene->frame.solids[k];
    if (solid->hidden || scene->solid_bodies[k] == SOLID_TERRAIN_SIDES || solid->mesh.triangle_count == 0) continue;
    surfaces[count++] = (SolidSurface){solid->mesh, solid->pose, scene->solid_bodies[k]};
  }
  return count;
}

static Status put_solids(Core *core, Stream *stream, Recording *recording, const char *folder, int part, double rate) {
  for (int64_t k = 0; k < recording_count(recording); k++) {
    const SceneFrame *scene = recording_pose(recording, k);
    SolidSurface *surfaces = NULL;
    TRY(memory_new(core, &surfaces, scene->frame.solid_count + 1, "surfaces"));
    int32_t count = take_solids(scene, surfaces);
    char path[SCREE_FILE_MAX];
    int64_t number = recording_number(recording, k);
    frame_name_write(path, sizeof path, folder, "bodies", number, FRAME_VTP);
    Status status = count > 0 ? solids_write_vtp(core, path, surfaces, count, (double)number / rate) : SCREE_OK;
    memory_drop(core, &surfaces);
    TRY(status);
    if (count > 0)
      stream_print(stream, "<DataSet timestep=\"%s\" part=\"%d\" name=\"bodies\" file=\"bodies_%06lld.vtp\"/>\n",
                   number_csv((double)number / rate).text, part, (long long)number);
  }
  return SCREE_OK;
}

static Status write_pvd(Core *core, Recording *recording, const char *to) {
  char path[SCREE_FILE_MAX];
  if (snprintf(path, sizeof path, "%s/frames.pvd", to) >= (int)sizeof path)
    return fail(core, SCREE_CANNOT_WRITE, "path is too long: %.100s...", to);
  double rate = recording_definition(recording)->frame_rate;
  Stream stream;
  stream_open(&stream, path);
  stream_print(&stream, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                        "byte_order=\"LittleEndian\">\n<Collection>\n");
  Status status = put_kind(core, &stream, to, "coarse", 0, rate);
  if (status == SCREE_OK) status = put_kind(core, &stream, to, "grains", 1, rate);
  if (status == SCREE_OK) status = put_solids(core, &stream, recording, to, 2, rate);
  stream_print(&stream, "</Collection>\n</VTKFile>\n");
  if (status != SCREE_OK && stream.end.why == 0) stream.end.why = EIO; /* nothing half-written appears */
  Status committed = stream_commit(core, &stream);
  return status == SCREE_OK ? committed : status;
}

ScreeStatus series_write_pvd(const char *from, const char *to, ScreeError *error) {
  Recording *recording = NULL;
  ScreeStatus status = recording_open(from, false, &recording, error);
  if (status != SCREE_OK) return status;
  Core core = {0};
  memory_create(&core.memory, 0);
  status = core_report(&core, write_pvd(&core, recording, to), error);
  recording_close(recording);
  return status;
}
