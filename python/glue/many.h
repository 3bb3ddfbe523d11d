/* What the Python package asks of many worlds in one call: a loop in Python would take as long as a small world's
 * frame. */
#ifndef PYTHON_MANY_H
#define PYTHON_MANY_H

#include "scree/world.h"

/* Sets the pose (x y z, then w x y z of a unit quaternion, seven numbers for each world) of the same body in each. Ends
 * at the first that fails. */
SCREE_API ScreeStatus scree_many_set_pose(ScreeWorld *const *worlds, int32_t count, ScreeBodyId body,
                                          const double *poses, ScreeError *error);
/* Pose, force and torque (7, 3 and 3 numbers) of the same body in each. */
SCREE_API ScreeStatus scree_many_body(ScreeWorld *const *worlds, int32_t count, ScreeBodyId body, double *states);

#endif
