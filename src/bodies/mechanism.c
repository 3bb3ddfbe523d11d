/* The MuJoCo mechanism in time. Loading and shapes are in mechanism_load.c and mechanism_shapes.c. */
#ifdef SCREE_HAVE_MUJOCO

#include <math.h>
#include <string.h>

#include "bodies/mechanism_parts.h"
#include "bodies/mujoco_guard.h"
#include "bodies/parts.h"

/* Beyond these a state counts as blown up; MuJoCo's own bound is 1e10. */
static const double STATE_MOST = 1e9;
/* A step that MuJoCo could not take is tried again with so many times the substeps, so many times. */
enum { RETRY_FACTOR = 4, RETRIES = 3 };

bool mechanism_owns(const Mechanism *mechanism, int32_t solid) {
  return mechanism && mechanism->link_count > 0 && solid >= mechanism->links[0].solid &&
         solid <= mechanism->links[mechanism->link_count - 1].solid;
}

int32_t mechanism_find_geom(const Mechanism *mechanism, const char *name) {
  int geom = mj_name2id(mechanism->model, mjOBJ_GEOM, name);
  return geom < 0 ? -1 : mechanism->geom_solids[geom];
}

/* Everything that follows from qpos and qvel and that solids are told: mj_step leaves it as it was before the step. */
void mechanism_kinematics(void *context) {
  Mechanism *mechanism = context;
  mj_kinematics(mechanism->model, mechanism->data);
  mj_comPos(mechanism->model, mechanism->data);
  mj_crb(mechanism->model, mechanism->data);
  mj_factorM(mechanism->model, mechanism->data);
  mj_comVel(mechanism->model, mechanism->data);
}

void mechanism_tell_solids(const Mechanism *mechanism, State *state) {
  const mjData *data = mechanism->data;
  for (int32_t k = 0; k < mechanism->link_count; k++) {
    const Link *link = &mechanism->links[k];
    if (link->body < 0) continue;
    Solid *solid = &state->solids.items[link->solid];
    solid->position = vec3_add(mechanism->offset, vec3_of(data->xpos + 3 * link->body));
    solid->rotation = quat_normalize(quat_of(data->xquat + 4 * link->body));
    solid->center = vec3_add(mechanism->offset, vec3_of(data->xipos + 3 * link->body));
    double velocity[6]; /* turning first; of the centre of mass, world axes */
    mj_objectVelocity(mechanism->model, data, mjOBJ_BODY, link->body, velocity, 0);
    solid->spin = vec3_of(velocity);
    solid->velocity = vec3_of(velocity + 3);
  }
}

void mechanism_refresh(Mechanism *mechanism, State *state) {
  int nv = mechanism->model->nv;
  double *jacobian = mechanism->rows, *solved = mechanism->rows + 6 * nv;
  for (int32_t k = 0; k < mechanism->link_count; k++) {
    const Link *link = &mechanism->links[k];
    if (!link->moves || nv == 0) continue;
    Solid *solid = &state->solids.items[link->solid];
    mj_jacBodyCom(mechanism->model, mechanism->data, jacobian, jacobian + 3 * nv, link->body);
    mj_solveM(mechanism->model, mechanism->data, solved, jacobian, 6);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) {
        double sum = 0;
        for (int v = 0; v < nv; v++) sum += jacobian[i * nv + v] * solved[j * nv + v];
        solid->inverse_inertia[i][j] = sum;
      }
  }
}

/* ---- controls ---- */

int32_t mechanism_control_count(const Mechanism *mechanism) { return mechanism->model->nu; }

static double control_at(const Mechanism *mechanism, int32_t control, double time) {
  if (!isnan(mechanism->held[control])) return mechanism->held[control];
  int32_t column = mechanism->columns[control];
  return column < 0 ? mechanism->base[control] : controls_value(&mechanism->controls, column, time);
}

void mechanism_set_controls(Mechanism *mechanism, double time) {
  for (int k = 0; k < mechanism->model->nu; k++) mechanism->data->ctrl[k] = control_at(mechanism, k, time);
}

void mechanism_control(const Mechanism *mechanism, int32_t control, const char **name, double *value, double *low,
                       double *high) {
  const mjModel *model = mechanism->model;
  bool limited = model->actuator_ctrllimited[control];
  const char *given = mj_id2name(model, mjOBJ_ACTUATOR, control);
  if (name) *name = given ? given : "";
  if (value) *value = control_at(mechanism, control, mechanism->data->time);
  if (low) *low = limited ? model->actuator_ctrlrange[2 * control] : -INFINITY;
  if (high) *high = limited ? model->actuator_ctrlrange[2 * control + 1] : INFINITY;
}

void mechanism_set_control(Mechanism *mechanism, int32_t control, double value) {
  double low, high;
  mechanism_control(mechanism, control, NULL, NULL, &low, &high);
  mechanism->held[control] = fmin(fmax(value, low), high);
}

void mechanism_release_control(Mechanism *mechanism, int32_t control) { mechanism->held[control] = NAN; }

/* ---- the step ---- */

/* Copies what a step starts from, in one direction or the other. */
static void exchange_state(Mechanism *mechanism, bool restore) {
  const mjModel *model = mechanism->model;
  mjData *data = mechanism->data;
  struct {
    double *numbers;
    int count;
  } parts[] = {{data->qpos, model->nq},
               {data->qvel, model->nv},
               {data->act, model->na},
               {data->qacc_warmstart, model->nv},
               {&data->time, 1}};
  double *saved = mechanism->saved;
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    size_t bytes = sizeof(double) * (size_t)parts[k].count;
    if (restore && bytes) memcpy(parts[k].numbers, saved, bytes);
    else if (bytes) memcpy(saved, parts[k].numbers, bytes);
    saved += parts[k].count;
  }
}

static void apply_wrenches(Mechanism *mechanism, State *state, const RigidContacts *contacts, const WrenchRule *rule) {
  double dt = rule->dt;
  double *applied = mechanism->data->xfrc_applied;
  memset(applied, 0, sizeof(double) * 6 * (size_t)mechanism->model->nbody);
  for (int32_t k = 0; k < mechanism->link_count; k++) {
    const Link *link = &mechanism->links[k];
    if (!link->moves) continue;
    const Solid *solid = &state->solids.items[link->solid];
    Vec3 force, torque;
    solid_applied_wrench(state, solid, rule, &force, &torque);
    const Vec3 *impulse = contacts->impulses[link->solid];
    force = vec3_madd(vec3_add(force, solid->outside_force), impulse[0], 1 / dt);
    torque = vec3_madd(vec3_add(torque, solid->outside_torque), impulse[1], 1 / dt);
    const double parts[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
    memcpy(applied + 6 * link->body, parts, sizeof parts);
  }
}

/* Acceleration of a part that is the grains' doing. */
static void grain_acceleration(const Solid *solid, double acceleration[6]) {
  double load[6];
  for (int i = 0; i < 6; i++) load[i] = wrench_get(solid, i);
  solid_apply_mobility(solid, load, acceleration);
}

/* What the step changed of a part's motion without the grains. Motors, joints and stops take up a load by as much and
 * no more than it pushes; a sudden change (a hit between two parts) is over when the next step begins and must not be
 * taken for one that goes on. */
static void measure_drive(Solid *solid, Vec3 velocity, Vec3 spin, Vec3 gravity, double dt) {
  double pushed[6];
  grain_acceleration(solid, pushed);
  Vec3 change[2] = {vec3_scale(vec3_sub(solid->velocity, velocity), 1 / dt),
                    vec3_scale(vec3_sub(solid->spin, spin), 1 / dt)};
  double weight = vec3_length(gravity), arm = solid_extent(solid, solid->center_in_shape);
  for (int part = 0; part < 2; part++) {
    Vec3 grains = vec3_of(pushed + 3 * part), other = vec3_sub(change[part], grains);
    double most = vec3_length(grains) + (part == 0 ? weight : weight / fmax(arm, 1e-9));
    double found = vec3_length(other);
    if (found > most) other = vec3_scale(other, most / found);
    const double kept[3] = {other.x, other.y, other.z};
    memcpy(solid->driven + 3 * part, kept, sizeof kept);
  }
}

static bool all_within(const double *numbers, int count) {
  for (int k = 0; k < count; k++)
    if (!(fabs(numbers[k]) < STATE_MOST)) return false;
  return true;
}

/* Whether MuJoCo met a number that it would not go on with (it then starts over from the model's rest pose). */
static bool step_was_bad(Mechanism *mechanism) {
  mjData *data = mechanism->data;
  static const int kinds[] = {mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC};
  bool bad = !all_within(data->qpos, mechanism->model->nq) || !all_within(data->qvel, mechanism->model->nv) ||
             !all_within(data->act, mechanism->model->na);
  for (int k = 0; k < 3; k++) {
    bad = bad || data->warning[kinds[k]].number > 0;
    data->warning[kinds[k]].number = 0;
  }
  return bad;
}

typedef struct Substeps {
  Mechanism *mechanism;
  double begin, dt;
  int64_t count;
  bool bad;
} Substeps;

/* The grains' wrench is held over the substeps: it is the mean over the step already. */
static void take_substeps(void *context) {
  Substeps *substeps = context;
  Mechanism *mechanism = substeps->mechanism;
  double h = substeps->dt / (double)substeps->count;
  mechanism->model->opt.timestep = h;
  for (int64_t k = 0; k < substeps->count && !substeps->bad; k++) {
    mechanism_set_controls(mechanism, substeps->begin + h * (double)k);
    mj_step(mechanism->model, mechanism->data);
    substeps->bad = step_was_bad(mechanism);
  }
  if (substeps->bad) return;
  mechanism->data->time = substeps->begin + substeps->dt;
  mechanism_kinematics(mechanism);
}

static int64_t dropped_contacts(const mjData *data) {
  return (int64_t)data->warning[mjWARN_CONTACTFULL].number + data->warning[mjWARN_CNSTRFULL].number;
}

/* Poses and velocities after the step, and what drove the parts in it. */
static void tell_motion(Mechanism *mechanism, State *state, double dt) {
  for (int32_t k = 0; k < mechanism->link_count; k++) {
    Link *link = &mechanism->links[k];
    link->velocity = state->solids.items[link->solid].velocity;
    link->spin = state->solids.items[link->solid].spin;
  }
  mechanism_tell_solids(mechanism, state);
  for (int32_t k = 0; k < mechanism->link_count; k++) {
    const Link *link = &mechanism->links[k];
    if (link->moves) measure_drive(&state->solids.items[link->solid], link->velocity, link->spin, state->gravity, dt);
  }
}

Status mechanism_advance(Core *core, Mechanism *mechanism, State *state, const RigidContacts *contacts,
                         const WrenchRule *rule) {
  double dt = rule->dt;
  if (mechanism->broken) return fail(core, SCREE_FAILED, "the mechanism has failed in an earlier step");
  double *gravity = mechanism->model->opt.gravity;
  gravity[0] = state->gravity.x, gravity[1] = state->gravity.y, gravity[2] = state->gravity.z;
  exchange_state(mechanism, false);
  Substeps substeps = {.mechanism = mechanism, .begin = state->time, .dt = dt};
  substeps.count = (int64_t)fmax(1, ceil(dt / mechanism->model_step - 1e-9));
  int64_t dropped = dropped_contacts(mechanism->data);
  for (int attempt = 0;; attempt++) {
    apply_wrenches(mechanism, state, contacts, rule);
    substeps.bad = false;
    mechanism->broken = true; /* until it has come back */
    TRY(mujoco_guarded(core, SCREE_FAILED, false, take_substeps, &substeps));
    if (!substeps.bad) break;
    if (attempt == RETRIES)
      return fail(core, SCREE_FAILED, "the mechanism blew up at %g s, even with steps of %g s", state->time,
                  dt / (double)substeps.count);
    exchange_state(mechanism, true);
    substeps.count *= RETRY_FACTOR;
    state_count(state, "mechanism_retried_steps", 1);
  }
  mechanism->broken = false;
  if (dropped_contacts(mechanism->data) > dropped)
    state_count(state, "mechanism_dropped_contacts", dropped_contacts(mechanism->data) - dropped);
  tell_motion(mechanism, state, dt);
  return SCREE_OK;
}

/* ---- checkpoint ---- */

Status mechanism_archive(Core *core, Archive *archive, Mechanism *mechanism, State *state) {
  TRY(archive_section(core, archive, "mechanism"));
  const mjModel *model = mechanism->model;
  mjData *data = mechanism->data;
  const int sizes[] = {model->nq, model->nv, model->na, model->nu, model->nbody};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    int size = sizes[k];
    TRY(archive_value(core, archive, &size));
    if (size != sizes[k]) return archive_bad(core, archive, "checkpoint has another mechanism");
  }
  TRY(archive_array(core, archive, data->qpos, model->nq));
  TRY(archive_array(core, archive, data->qvel, model->nv));
  TRY(archive_array(core, archive, data->act, model->na));
  TRY(archive_array(core, archive, data->ctrl, model->nu));
  TRY(archive_array(core, archive, data->qacc_warmstart, model->nv));
  TRY(archive_array(core, archive, data->xfrc_applied, 6 * (int64_t)model->nbody));
  TRY(archive_array(core, archive, mechanism->held, model->nu));
  TRY(archive_value(core, archive, &data->time));
  if (!archive->loading) return SCREE_OK;
  if (!all_within(data->qpos, model->nq) || !all_within(data->qvel, model->nv) || !all_within(data->act, model->na) ||
      !all_within(data->qacc_warmstart, model->nv) || !isfinite(data->time))
    return archive_bad(core, archive, "state of the mechanism is not finite");
  mechanism->broken = true;
  TRY(mujoco_guarded(core, SCREE_BAD_INPUT, false, mechanism_kinematics, mechanism));
  mechanism->broken = false;
  mechanism_tell_solids(mechanism, state);
  return SCREE_OK;
}

#else
typedef int mechanism_is_not_built;
#endif
