#include "python/glue/many.h"

enum { POSE_NUMBERS = 7, STATE_NUMBERS = POSE_NUMBERS + 6 };

ScreeStatus scree_many_set_pose(ScreeWorld *const *worlds, int32_t count, ScreeBodyId body, const double *poses,
                                ScreeError *error) {
  for (int32_t k = 0; k < count; k++, poses += POSE_NUMBERS) {
    const ScreePose pose = {{poses[0], poses[1], poses[2]}, {poses[3], poses[4], poses[5], poses[6]}};
    ScreeStatus status = scree_world_set_pose(worlds[k], body, pose, error);
    if (status != SCREE_OK) return status;
  }
  return SCREE_OK;
}

ScreeStatus scree_many_body(ScreeWorld *const *worlds, int32_t count, ScreeBodyId body, double *states) {
  for (int32_t k = 0; k < count; k++) {
    ScreeBodyState state;
    ScreeStatus status = scree_world_body(worlds[k], body, &state);
    if (status != SCREE_OK) return status;
    const ScreePose *pose = &state.pose;
    const double numbers[STATE_NUMBERS] = {pose->position.x, pose->position.y, pose->position.z, pose->rotation.w,
                                           pose->rotation.x, pose->rotation.y, pose->rotation.z, state.force.x,
                                           state.force.y,    state.force.z,    state.torque.x,   state.torque.y,
                                           state.torque.z};
    for (int n = 0; n < STATE_NUMBERS; n++) *states++ = numbers[n];
  }
  return SCREE_OK;
}
