/* What moves solids: free rigid motion, keyframes, MuJoCo mechanisms. */
#ifndef BODIES_BODIES_H
#define BODIES_BODIES_H

#include "core/archive.h"
#include "scree/definitions.h"
#include "state/state.h"

typedef struct Bodies Bodies;

/* Resolves a file name of the scene to a path that may be read: beside the scene or in the shipped assets, never
 * outside. Implemented by world/. */
typedef Status (*FileResolver)(void *context, Core *core, const char *file, ScreeSource at, char *path, size_t size);

typedef struct BodiesPlan {
  const ScreeSceneDef *scene;
  FileResolver resolve;
  void *resolve_context;
} BodiesPlan;

/* Adds the solids of boundaries (first), bodies and the mechanism to state->solids and sets their poses for t = 0. */
Status bodies_create(Core *core, State *state, const BodiesPlan *plan, Bodies **bodies);
void bodies_destroy(Core *core, Bodies *bodies);

/* Adds a body to a state that is running, behind all solids; and takes the last one away again. */
Status bodies_add(Core *core, Bodies *bodies, State *state, const BodiesPlan *plan, const ScreeBodyDef *definition);
void bodies_drop_last(Core *core, Bodies *bodies, State *state);

/* 0-based index of the solid that a probe means by this name: a boundary, a body, a body of the mechanism, or a geom of
 * the mechanism (the solid it is part of). -1: none. */
int32_t bodies_find(const Bodies *bodies, const State *state, const char *name);

/* Before the method's step over [time, time + dt]: poses of the keyframed and set solids at the END of the step are
 * what contacts are computed against, velocities are the mean over it (so grains feel exactly the motion). Free and
 * mechanism bodies keep the pose they have. Refreshes inverse inertias. */
Status bodies_refresh(Core *core, Bodies *bodies, State *state, double dt);
/* After it: advances free bodies and the mechanism by dt under gravity, wrenches and outside forces. Reads the wrenches
 * and leaves them: whoever owns the step clears them before the next. */
Status bodies_advance(Core *core, Bodies *bodies, State *state, double dt);

/* How the method couples with solids, and how far their surfaces may go in a step, in nominal radii. Until it is
 * called: explicitly, half a radius. */
void bodies_couple(Bodies *bodies, SolidCoupling coupling, double displacement);
/* The least that a free body weighs for the method, in kg: lighter ones, now and later, are taken to weigh that. */
void bodies_weigh_least(Core *core, Bodies *bodies, State *state, double least);
/* Longest step, not above `longest`, in which no point of a solid's surface moves farther than that (a whole radius
 * where the coupling is explicit and grains touch the samples of a free body). */
double bodies_largest_step(const Core *core, const Bodies *bodies, const State *state, double longest);

/* API requests, see scree/world.h. A solid that is not free goes to the pose within `over` seconds and stays there: its
 * keys no longer count. */
Status bodies_set_pose(Core *core, Bodies *bodies, State *state, int32_t solid, ScreePose pose, double over);
Status bodies_set_velocity(Core *core, Bodies *bodies, State *state, int32_t solid, Vec3 velocity, Vec3 spin);
Status bodies_set_force(Core *core, Bodies *bodies, State *state, int32_t solid, Vec3 force, Vec3 torque);
int32_t bodies_control_count(const Bodies *bodies);
Status bodies_control(const Bodies *bodies, int32_t control, const char **name, double *value, double *low,
                      double *high);
Status bodies_set_control(Core *core, Bodies *bodies, int32_t control, double value);
void bodies_release_control(Bodies *bodies, int32_t control);

/* Hash of the files of the mechanism; 0: there is none. */
uint64_t bodies_contents(const Bodies *bodies);
Status bodies_archive(Core *core, Archive *archive, Bodies *bodies, State *state);

#endif
