/* What the files about MuJoCo share. */
#ifndef BODIES_MECHANISM_PARTS_H
#define BODIES_MECHANISM_PARTS_H

#include "bodies/controls.h"
#include "bodies/mechanism.h"
#include "bodies/mujoco_api.h"
#include "bodies/parts.h"

/* A solid that is made of geoms of a MuJoCo body. */
typedef struct Link {
  int32_t solid;
  int body;
  bool moves; /* false: welded to the world, or a geom of the world itself */
} Link;

/* A place of one solid near the surface of another; one of them is a part that moves. */
typedef struct PartContact {
  int32_t a, b; /* solids: a touches with a place, b with its surface */
  TouchPlace place;
  Vec3 surface, normal; /* in the frame of b; the normal looks out of b */
  int contact;          /* of MuJoCo's list in this substep; -1: apart */
  double gap;
  Vec3 drift; /* m/s, velocity of b less that of a as far as MuJoCo does not know it */
} PartContact;

typedef struct Candidates Candidates; /* mechanism_touch.c */

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
  double *base;           /* value at the start, where the control file says nothing */
  double *held;           /* value set through the API, NaN when released */
  int32_t *columns;       /* of the control file, or -1 */
  double *rows;           /* 12 nv numbers: J and M^-1 J^T of one body */
  double *mobility;       /* of all links, 6 by 6 blocks; made where there is terrain */
  double *columns_of_all; /* 12 nv numbers for each link: J and M^-1 J^T */
  double *inertia;        /* nv^2: of the joints in a step, factored */
  double *drive;          /* nv: accelerations of the joints in the step without grains */
  double *saved;          /* state before the step, for another try with shorter substeps */
  double *warm;           /* nv: where the solver began when it last computed accelerations */
  bool broken;
  uint64_t contents; /* hash of its files */
  /* mechanism_touch.c */
  const State *state;  /* whose solids its parts touch */
  int anchor;          /* geom that stands for the walls of the scene */
  TouchPlaces *places; /* by solid */
  double *allowed;     /* by link and solid: depth of overlap that is left; infinite: they do not touch */
  int32_t solid_count; /* that it knows */
  int32_t row_length;  /* of a link in `allowed` */
  PartContact *touches;
  int32_t touch_count;
  Candidates *candidates; /* while contacts are looked for */
};

/* Makes one solid per body that has geoms, and per plane and geom of the world body. */
Status mechanism_add_solids(Core *core, State *state, const BodiesPlan *plan, Mechanism *mechanism);

/* Finds which parts are near what, for the next step, which takes about dt. */
Status mechanism_find_touches(Core *core, Mechanism *mechanism, const State *state, double dt);
Status mechanism_touch_archive(Core *core, Archive *archive, Mechanism *mechanism);
void mechanism_touch_destroy(Core *core, Mechanism *mechanism);
/* When qpos and qvel are those of a step's end: what parts touch there, and the accelerations that follow. Tells the
 * solids. dt is how long the next step may be. */
Status mechanism_settle(Core *core, Mechanism *mechanism, State *state, double dt);
/* Between mj_step1 and mj_step2: adds the contacts, `left` seconds before the step's end. false: there are none. */
bool mechanism_add_contacts(Mechanism *mechanism, const State *state, double left);
/* Adds to the matrix of the joints what contacts resist that are pressed. */
void mechanism_resist_contacts(const Mechanism *mechanism, double *matrix);

/* Forward kinematics and the factorised inertia for qpos and qvel; context is the mechanism, call it guarded. */
void mechanism_kinematics(void *context);
/* Writes poses and velocities of the solids. */
void mechanism_tell_solids(const Mechanism *mechanism, State *state);
/* Writes data->ctrl for that time. */
void mechanism_set_controls(Mechanism *mechanism, double time);

static inline Quat quat_of(const double *q) { return (Quat){q[0], q[1], q[2], q[3]}; }

#endif
