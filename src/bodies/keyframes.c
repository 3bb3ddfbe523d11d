#include "bodies/keyframes.h"

static ScreePose pose_between(const Key *a, const Key *b, double time) {
  double length = b->time - a->time;
  double share = length > 0 ? (time - a->time) / length : 1;
  /* Sums of steps miss the end by round-off; the last digit of the displacement is not left over for the next step. */
  if (share <= 0) return a->pose;
  if (share >= 1 - 1e-9) return b->pose;
  Vec3 displacement = vec3_sub(b->pose.position, a->pose.position);
  return (ScreePose){.position = vec3_madd(a->pose.position, displacement, share),
                     .rotation = quat_slerp(a->pose.rotation, b->pose.rotation, share)};
}

Status track_create(Core *core, const ScreeKeyDef *keys, int32_t count, const char *scene, Track *track) {
  *track = (Track){0};
  if (count <= 0) return SCREE_OK;
  TRY(memory_new(core, &track->keys, count, "keyframes"));
  for (int32_t k = 0; k < count; k++) {
    if (!isfinite(keys[k].t) || !vec3_finite(keys[k].position) || !quat_usable(keys[k].rotation)) {
      track_destroy(core, track);
      return fail_at(core, SCREE_BAD_INPUT, scene, keys[k].source, "key %d is not a finite pose", (int)k + 1);
    }
    if (k > 0 && !(keys[k].t > keys[k - 1].t)) {
      track_destroy(core, track);
      return fail_at(core, SCREE_BAD_INPUT, scene, keys[k].source, "key %d: times must ascend, %g follows %g",
                     (int)k + 1, keys[k].t, keys[k - 1].t);
    }
    track->keys[k] = (Key){keys[k].t, {keys[k].position, quat_normalize(keys[k].rotation)}};
  }
  track->count = count;
  return SCREE_OK;
}

void track_destroy(Core *core, Track *track) {
  memory_drop(core, &track->keys);
  *track = (Track){0};
}

/* The last key at or before the time; -1 before the first. */
static int32_t key_before(const Track *track, double time) {
  int32_t low = -1, high = track->count;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (track->keys[middle].time <= time) low = middle;
    else high = middle;
  }
  return low;
}

ScreePose track_pose(const Track *track, double time) {
  if (track->driven) return pose_between(&track->begin, &track->end, time);
  int32_t before = key_before(track, time);
  if (before < 0) return track->keys[0].pose;
  if (before == track->count - 1) return track->keys[before].pose;
  return pose_between(&track->keys[before], &track->keys[before + 1], time);
}

void track_drive(Track *track, double now, ScreePose from, ScreePose to, double over) {
  track->driven = true;
  to.rotation = quat_normalize(to.rotation);
  track->begin = (Key){now, from};
  track->end = (Key){now + fmax(over, 0), to};
}

/* Largest speed of a point within `extent` of the origin between two keys. */
static double segment_speed(const Key *a, const Key *b, double extent) {
  double length = vec3_length(vec3_sub(b->pose.position, a->pose.position));
  double angle = vec3_length(quat_to_vector(quat_mul(b->pose.rotation, quat_conjugate(a->pose.rotation))));
  double duration = b->time - a->time;
  return duration > 0 ? (length + angle * extent) / duration : 0;
}

static double way_step(const Key *a, const Key *b, double time, double extent, double allowed) {
  if (time >= b->time) return INFINITY;
  double speed = segment_speed(a, b, extent);
  double wait = fmax(0, a->time - time);
  return speed > 0 ? wait + allowed / speed : INFINITY;
}

double track_largest_step(const Track *track, double time, double extent, double allowed) {
  if (track->driven) return way_step(&track->begin, &track->end, time, extent, allowed);
  double step = INFINITY;
  int32_t before = key_before(track, time);
  for (int32_t k = before < 0 ? 0 : before; k + 1 < track->count && track->keys[k].time < time + step; k++)
    step = fmin(step, way_step(&track->keys[k], &track->keys[k + 1], time, extent, allowed));
  return step;
}

Status track_archive(Core *core, Archive *archive, Track *track) {
  uint8_t driven = track->driven;
  TRY(archive_value(core, archive, &driven));
  track->driven = driven != 0;
  if (!track->driven) return SCREE_OK;
  Key *ends[] = {&track->begin, &track->end};
  for (int k = 0; k < 2; k++) {
    TRY(archive_value(core, archive, &ends[k]->time));
    TRY(archive_value(core, archive, &ends[k]->pose.position));
    TRY(archive_value(core, archive, &ends[k]->pose.rotation));
    if (!isfinite(ends[k]->time) || !vec3_finite(ends[k]->pose.position) || !quat_usable(ends[k]->pose.rotation))
      return archive_bad(core, archive, "pose of a body is not finite");
  }
  if (track->end.time < track->begin.time) return archive_bad(core, archive, "a body that goes back in time");
  return SCREE_OK;
}
