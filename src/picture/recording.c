#include "picture/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/frames.h"
#include "render/mesh_file.h"

enum { BODY_NAME = 64 };

typedef struct BodyName {
  char text[BODY_NAME];
} BodyName;

typedef struct BodyRow {
  int64_t frame;
  ScreePose pose;
} BodyRow;

struct Recording {
  char folder[SCREE_FILE_MAX];
  Frames *frames;
  ScreeScene *scene;
  ScreeSceneDef plain; /* when there is no scene.yaml that can be read */
  const ScreeSceneDef *definition;
  const char *missing; /* in its pictures; NULL: nothing */
  ScreeError trouble;
  SceneFrame frame;
  BodyRow *rows; /* by frame, then by body */
  int64_t row_count;
  BodyName *names; /* of the bodies of a frame */
  int64_t name_count;
  ScreeMeshView terrain;
};

/* frame,time,name,x,y,z,qw,qx,qy,qz,...; false when the line is not a whole row, as the last one of a run that is
 * still going on may be. */
static bool row_parse(char *line, BodyRow *row, BodyName *name) {
  char *at;
  row->frame = (int64_t)strtod(line, &at);
  if (at == line || *at != ',') return false;
  strtod(at + 1, &at);
  if (*at++ != ',') return false;
  const char *named = at;
  if (*at == '"')
    for (at++; *at; at++)
      if (*at == '"' && *++at != '"') break;
  at = strchr(at, ',');
  snprintf(name->text, sizeof name->text, "%.*s", at ? (int)(at - named) : 0, named);
  double *values[7] = {&row->pose.position.x, &row->pose.position.y, &row->pose.position.z, &row->pose.rotation.w,
                       &row->pose.rotation.x, &row->pose.rotation.y, &row->pose.rotation.z};
  for (int k = 0; k < 7; k++) {
    if (!at || *at != ',') return false;
    char *begin = at + 1;
    *values[k] = strtod(begin, &at);
    if (at == begin) return false;
  }
  return true;
}

static void recording_bodies(Recording *recording) {
  char path[SCREE_FILE_MAX + 32], line[1024];
  snprintf(path, sizeof path, "%s/bodies.csv", recording->folder);
  FILE *file = fopen(path, "r");
  int64_t room = 0;
  while (file && fgets(line, sizeof line, file)) {
    BodyRow row;
    BodyName name;
    if (!row_parse(line, &row, &name)) continue;
    if (recording->row_count == 0 || row.frame == recording->rows[0].frame) {
      BodyName *grown = realloc(recording->names, (size_t)(recording->name_count + 1) * sizeof *grown);
      if (!grown) break;
      recording->names = grown;
      recording->names[recording->name_count++] = name;
    }
    if (recording->row_count == room) {
      room = room ? 2 * room : 256;
      BodyRow *grown = realloc(recording->rows, (size_t)room * sizeof *grown);
      if (!grown) break;
      recording->rows = grown;
    }
    recording->rows[recording->row_count++] = row;
  }
  if (file) fclose(file);
}

/* Surfaces and colours of the solids, from a world that has nothing else. */
static ScreeStatus recording_solids(Recording *recording, ScreeError *error) {
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = 1;
  ScreeWorld *world = NULL;
  ScreeStatus status = scree_world_create_solids(recording->definition, &options, &world, error);
  if (status == SCREE_OK) status = scene_frame_create(&recording->frame, world, 1, error);
  scree_world_destroy(world);
  return status;
}

static ScreeStatus recording_fail(Recording *recording, ScreeError *error, const char *folder, const char *message) {
  recording_close(recording);
  if (error) {
    *error = (ScreeError){.status = SCREE_BAD_INPUT};
    snprintf(error->file, sizeof error->file, "%s", folder);
    snprintf(error->message, sizeof error->message, "%s", message);
  }
  return SCREE_BAD_INPUT;
}

ScreeStatus recording_open(const char *folder, bool fine, Recording **result, ScreeError *error) {
  *result = NULL;
  Recording *recording = calloc(1, sizeof *recording);
  if (!recording) return recording_fail(recording, error, folder, "no memory");
  snprintf(recording->folder, sizeof recording->folder, "%s", folder);
  ScreeStatus status = frames_open(folder, fine ? "grains" : "coarse", &recording->frames, error);
  if (status == SCREE_OK && fine && frames_count(recording->frames) == 0) {
    frames_close(recording->frames);
    recording->frames = NULL;
    status = frames_open(folder, "coarse", &recording->frames, error);
  }
  if (status != SCREE_OK) {
    recording_close(recording);
    return status;
  }
  if (frames_count(recording->frames) == 0)
    return recording_fail(recording, error, folder, "there are no frames in this folder");
  char path[SCREE_FILE_MAX + 32];
  snprintf(path, sizeof path, "%s/scene.yaml", folder);
  recording->plain = scree_scene_default();
  recording->definition = &recording->plain;
  if (scree_scene_load(path, NULL, &recording->scene, &recording->trouble) == SCREE_OK) {
    recording->definition = scree_scene_definition(recording->scene);
    recording->missing = recording_solids(recording, &recording->trouble) == SCREE_OK ? NULL : "walls and bodies";
    recording_bodies(recording);
  } else {
    recording->missing = access(path, F_OK) == 0 ? "camera, walls and bodies" : NULL;
  }
  *result = recording;
  return SCREE_OK;
}

void recording_close(Recording *recording) {
  if (!recording) return;
  if (recording->frames) frames_close(recording->frames);
  scene_frame_destroy(&recording->frame);
  mesh_file_free(&recording->terrain);
  scree_scene_free(recording->scene);
  free(recording->rows);
  free(recording->names);
  free(recording);
}

int64_t recording_count(const Recording *recording) { return frames_count(recording->frames); }
int64_t recording_number(const Recording *recording, int64_t k) { return frames_number(recording->frames, k); }
const ScreeSceneDef *recording_definition(const Recording *recording) { return recording->definition; }
const char *recording_missing(const Recording *recording, const ScreeError **trouble) {
  *trouble = &recording->trouble;
  return recording->missing;
}

const char *recording_solid_name(const Recording *recording, int32_t number) {
  const ScreeSceneDef *scene = recording->definition;
  int32_t body = number - scene->boundary_count - 1;
  if (number >= 1 && number <= scene->boundary_count) return scene->boundaries[number - 1].name;
  return body >= 0 && body < recording->name_count ? recording->names[body].text : "";
}

/* Where keyframes put a boundary: bodies.csv has rows for bodies only. Turns shorter than half a circle differ from
 * the simulated slerp by less than can be seen. */
static ScreePose keyed_pose(const ScreeKeyDef *keys, int32_t count, double time) {
  int32_t after = 0;
  while (after < count && keys[after].t <= time) after++;
  const ScreeKeyDef *a = &keys[after > 0 ? after - 1 : 0], *b = &keys[after < count ? after : count - 1];
  double w = b->t > a->t ? (time - a->t) / (b->t - a->t) : 0;
  ScreeQuat p = a->rotation, q = b->rotation;
  double side = p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z < 0 ? -w : w;
  return (ScreePose){
      {a->position.x + w * (b->position.x - a->position.x), a->position.y + w * (b->position.y - a->position.y),
       a->position.z + w * (b->position.z - a->position.z)},
      {p.w * (1 - w) + q.w * side, p.x * (1 - w) + q.x * side, p.y * (1 - w) + q.y * side, p.z * (1 - w) + q.z * side}};
}

/* The rows of a frame stand in the order of the bodies' ids. */
static void recording_poses(Recording *recording, int64_t number) {
  int64_t low = 0, high = recording->row_count;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (recording->rows[middle].frame < number) low = middle + 1;
    else high = middle;
  }
  int32_t boundaries = recording->definition->boundary_count;
  for (int32_t k = 0; k < recording->frame.frame.solid_count; k++) {
    int64_t row = low + recording->frame.solid_bodies[k] - boundaries - 1;
    if (recording->frame.solid_bodies[k] > boundaries && row < recording->row_count &&
        recording->rows[row].frame == number)
      recording->frame.solids[k].pose = recording->rows[row].pose;
    int32_t boundary = recording->frame.solid_bodies[k] - 1;
    if (boundary < 0 || boundary >= boundaries || recording->definition->boundaries[boundary].key_count == 0) continue;
    const ScreeBoundaryDef *keyed = &recording->definition->boundaries[boundary];
    recording->frame.solids[k].pose = keyed_pose(keyed->keys, keyed->key_count, recording->frame.time);
  }
}

static void recording_terrain(Recording *recording, int64_t number) {
  if (!recording->definition->terrain || !recording->frame.solids) return;
  char path[SCREE_FILE_MAX + 48];
  snprintf(path, sizeof path, "%s/terrain_%06lld.ply", recording->folder, (long long)number);
  mesh_file_free(&recording->terrain);
  if (mesh_file_read(path, (ScreeVec3){0, 0, 0}, &recording->terrain, NULL) == SCREE_OK)
    scene_frame_terrain(&recording->frame, recording->definition, recording->terrain, (ScreeVec3){0, 0, 0});
}

/* Bodies and terrain of the k-th frame; its particles are not touched. */
SceneFrame *recording_pose(Recording *recording, int64_t k) {
  recording->frame.index = recording_number(recording, k);
  recording->frame.time = (double)recording->frame.index / recording->definition->frame_rate;
  recording_poses(recording, recording->frame.index);
  recording_terrain(recording, recording->frame.index);
  return &recording->frame;
}

ScreeStatus recording_read(Recording *recording, int64_t k, SceneFrame **scene, ScreeError *error) {
  ScreeParticles particles;
  double time = 0;
  ScreeStatus status = frames_read(recording->frames, k, &particles, &time, error);
  if (status != SCREE_OK) return status;
  recording->frame.index = recording_number(recording, k);
  recording->frame.time = time == time ? time : (double)recording->frame.index / recording->definition->frame_rate;
  scene_frame_particles(&recording->frame, particles);
  recording_poses(recording, recording->frame.index);
  recording_terrain(recording, recording->frame.index);
  *scene = &recording->frame;
  return SCREE_OK;
}

bool recording_has_velocity(const Recording *recording) { return frames_columns(recording->frames) & FRAME_VELOCITY; }
bool recording_has_id(const Recording *recording) { return frames_columns(recording->frames) & FRAME_ID; }
