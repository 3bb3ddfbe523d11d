/* What the files about MuJoCo share. */
#ifndef BODIES_MECHANISM_PARTS_H
#define BODIES_MECHANISM_PARTS_H

#include <mujoco/mujoco.h>

#include "bodies/controls.h"
#include "bodies/mechanism.h"
#include "bodies/parts.h"

/* A solid that is made of geoms of a MuJoCo body. */
typedef struct Link {
  int32_t solid;
  int body;
  bool moves;          /* false: welded to the world, or a geom of the world itself */
  Vec3 velocity, spin; /* before the step */
} Link;

struct Mechanism {
  mjModel *model;
  mjData *data;
  double model_step; /* what the MJCF asks for; model->opt.timestep is a whole fraction of ours */
  Vec3 offset;       /* where the model's origin stands in the world */
  Link *links;
  int32_t link_count;
  int32_t *geom_solids; /* by geom; -1: grains do not feel it */
  Controls controls;
  /* by actuator */
  double *base;     /* value at the start, where the control file says nothing */
  double *held;     /* value set through the API, NaN when released */
  int32_t *columns; /* of the control file, or -1 */
  double *rows;     /* 12 nv numbers: J and M^-1 J^T of one body */
  double *saved;    /* state before the step, for another try with shorter substeps */
  bool broken;
};

/* Makes one solid per body that has geoms, and per plane and geom of the world body. */
Status mechanism_add_solids(Core *core, State *state, const BodiesPlan *plan, Mechanism *mechanism);

/* Forward kinematics and the factorised inertia for qpos and qvel; context is the mechanism, call it guarded. */
void mechanism_kinematics(void *context);
/* Writes poses and velocities of the solids. */
void mechanism_tell_solids(const Mechanism *mechanism, State *state);
/* Writes data->ctrl for that time. */
void mechanism_set_controls(Mechanism *mechanism, double time);

static inline Quat quat_of(const double *q) { return (Quat){q[0], q[1], q[2], q[3]}; }

#endif
