/* Poses over time: keys of the scene, or a pose that the API asked for. */
#ifndef BODIES_KEYFRAMES_H
#define BODIES_KEYFRAMES_H

#include "core/archive.h"
#include "core/core.h"
#include "core/vec.h"
#include "scree/definitions.h"
#include "scree/world.h"

typedef struct Key {
  double time;
  ScreePose pose;
} Key;

typedef struct Track {
  Key *keys; /* strictly ascending times */
  int32_t count;
  bool driven; /* the API has taken over: from `begin.pose` to `end.pose`, then held */
  Key begin, end;
} Track;

/* Copies and checks keys; `scene` is for messages. */
Status track_create(Core *core, const ScreeKeyDef *keys, int32_t count, const char *scene, Track *track);
void track_destroy(Core *core, Track *track);

/* Whether the track says anything at all; a fixed solid that nobody moves has nothing to say. */
static inline bool track_moves(const Track *track) { return track->driven || track->count > 0; }
ScreePose track_pose(const Track *track, double time);
/* From now on the pose goes from `from` to `to` within `over` seconds and stays there. */
void track_drive(Track *track, double now, ScreePose from, ScreePose to, double over);
/* The longest step from `time` in which no point within `extent` of the frame's origin moves farther than `allowed`. */
double track_largest_step(const Track *track, double time, double extent, double allowed);

Status track_archive(Core *core, Archive *archive, Track *track);

#endif
