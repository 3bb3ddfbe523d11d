/* The MuJoCo mechanism in time. Loading and shapes are in mechanism_load.c and mechanism_shapes.c. */
#ifdef SCREE_HAVE_MUJOCO

#include <math.h>
#include <string.h>

#include "core/hash.h"
#include "bodies/mechanism_parts.h"
#include "bodies/mujoco_guard.h"
#include "bodies/parts.h"

/* Beyond these a state counts as blown up; MuJoCo's own bound is 1e10. */
static const double STATE_MOST = 1e9;
/* A step that MuJoCo could not take is tried again with so many times the substeps, so many times. */
enum { RETRY_FACTOR = 4, RETRIES = 3 };
/* A joint is at its stop within this share of its range, and there resists as so many times its inertia. */
#define STOP_MARGIN 1e-4
#define STOP_RESISTANCE 100.0

bool mechanism_owns(const Mechanism *mechanism, int32_t solid) {
  return mechanism && mechanism->link_count > 0 && solid >= mechanism->links[0].solid &&
         solid <= mechanism->links[mechanism->link_count - 1].solid;
}

int32_t mechanism_find_geom(const Mechanism *mechanism, const char *name) {
  int geom = mj_name2id(mechanism->model, mjOBJ_GEOM, name);
  return geom < 0 ? -1 : mechanism->geom_solids[geom];
}

/* The first half of a step: positions, velocities and contacts, `left` seconds before our step's end. Returns whether
 * parts touch something. */
static bool begin_step(Mechanism *mechanism, double left) {
  mj_step1(mechanism->model, mechanism->data);
  return mechanism->state && mechanism_add_contacts(mechanism, mechanism->state, left);
}

/* Everything that follows from qpos and qvel and that solids are told, and the accelerations that motors, joints, stops
 * and gravity give: mj_step leaves it as it was before the step. */
void mechanism_kinematics(void *context) {
  Mechanism *mechanism = context;
  memset(mechanism->data->xfrc_applied, 0, sizeof(double) * 6 * (size_t)mechanism->model->nbody);
  mechanism_set_controls(mechanism, mechanism->data->time);
  mechanism->model->opt.timestep = mechanism->model_step;
  if (mechanism->model->nv > 0)
    memcpy(mechanism->warm, mechanism->data->qacc_warmstart, sizeof(double) * (size_t)mechanism->model->nv);
  begin_step(mechanism, 0);
  mj_fwdActuation(mechanism->model, mechanism->data);
  mj_fwdAcceleration(mechanism->model, mechanism->data);
  mj_fwdConstraint(mechanism->model, mechanism->data);
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

/* What answers to the motion of a joint within a step beside its inertia: springs, dampers, motors and stops. A motor
 * that holds its part (a servo) is so known to what pushes on the part: it gives way by as much as it will. Taken from
 * positions, speeds and controls alone, so that a run that is resumed finds the same. */
typedef struct Answer {
  double stiffness, damping; /* force per way and per speed */
} Answer;

static Answer joint_answer(const Mechanism *mechanism, int joint) {
  const mjModel *model = mechanism->model;
  const mjData *data = mechanism->data;
  int place = model->jnt_qposadr[joint], dof = model->jnt_dofadr[joint];
  Answer answer = {model->jnt_stiffness[joint], model->dof_damping[dof]};
  for (int k = 0; k < model->nu; k++) {
    if (model->actuator_trntype[k] != mjTRN_JOINT || model->actuator_trnid[2 * k] != joint ||
        model->actuator_biastype[k] != mjBIAS_AFFINE || model->actuator_gaintype[k] != mjGAIN_FIXED)
      continue;
    const double *bias = model->actuator_biasprm + mjNBIAS * k, gear = model->actuator_gear[6 * k];
    double force = model->actuator_gainprm[mjNGAIN * k] * data->ctrl[k] + bias[0] +
                   gear * (bias[1] * data->qpos[place] + bias[2] * data->qvel[dof]);
    const double *most = model->actuator_forcerange + 2 * k;
    if (model->actuator_forcelimited[k] && !(force > most[0] && force < most[1])) continue;
    answer.stiffness -= gear * gear * bias[1];
    answer.damping -= gear * gear * bias[2];
  }
  return (Answer){fmax(answer.stiffness, 0), fmax(answer.damping, 0)};
}

static bool at_stop(const Mechanism *mechanism, int joint) {
  const double *range = mechanism->model->jnt_range + 2 * joint, margin = STOP_MARGIN * (range[1] - range[0]);
  double at = mechanism->data->qpos[mechanism->model->jnt_qposadr[joint]];
  return mechanism->model->jnt_limited[joint] && (at < range[0] + margin || at > range[1] - margin);
}

/* The step that the joints would take without grains, by the implicit rule: (M + dt D + dt^2 K) a = f - dt K v, f being
 * the force of now. Leaves the matrix factored in `inertia` and a in `drive`. Explicit accelerations, or those of the
 * last step, would miss how stiff motors answer within the step: sand on a servo would swing. false: there is no
 * inertia (joints of massless bodies). */
static bool predict_joints(Mechanism *mechanism, double dt) {
  const mjModel *model = mechanism->model;
  const mjData *data = mechanism->data;
  int nv = model->nv;
  double *a = mechanism->inertia, *force = mechanism->rows;
  mj_fullM(model, a, data->qM);
  mju_mulMatVec(force, a, data->qacc, nv, nv);
  for (int joint = 0; joint < model->njnt; joint++) {
    int dof = model->jnt_dofadr[joint];
    if (model->jnt_type[joint] != mjJNT_SLIDE && model->jnt_type[joint] != mjJNT_HINGE) continue;
    Answer answer = joint_answer(mechanism, joint);
    force[dof] -= dt * answer.stiffness * data->qvel[dof];
    a[dof * nv + dof] *= at_stop(mechanism, joint) ? STOP_RESISTANCE : 1;
    a[dof * nv + dof] += dt * (answer.damping + dt * answer.stiffness);
  }
  mechanism_resist_contacts(mechanism, a);
  if (mju_cholFactor(a, nv, 0) < nv) return false;
  mju_cholSolve(mechanism->drive, a, force, nv);
  return true;
}

/* The mobility of each link by wrenches on each other one: J_i M^-1 J_j^T. */
static Status couple_links(Core *core, Mechanism *mechanism, State *state) {
  int64_t links = mechanism->link_count, nv = mechanism->model->nv, all = 6 * links;
  if (!mechanism->mobility) {
    TRY(memory_new(core, &mechanism->mobility, all * all, "mechanism"));
    TRY(memory_new(core, &mechanism->columns_of_all, 2 * all * nv, "mechanism"));
  }
  double *jacobians = mechanism->columns_of_all, *solved = jacobians + all * nv;
  for (int64_t k = 0; k < links; k++) {
    double *rows = jacobians + 6 * k * nv;
    if (!mechanism->links[k].moves) memset(rows, 0, sizeof(double) * (size_t)(6 * nv));
    else mj_jacBodyCom(mechanism->model, mechanism->data, rows, rows + 3 * nv, mechanism->links[k].body);
  }
  for (int64_t i = 0; i < all; i++) mju_cholSolve(solved + i * nv, mechanism->inertia, jacobians + i * nv, (int)nv);
  for (int64_t i = 0; i < all; i++)
    for (int64_t j = 0; j < all; j++) {
      double sum = 0;
      for (int64_t v = 0; v < nv; v++) sum += jacobians[i * nv + v] * solved[j * nv + v];
      mechanism->mobility[i * all + j] = sum;
    }
  state->solids.machine = (SolidGroup){mechanism->links[0].solid, (int32_t)links, mechanism->mobility};
  return SCREE_OK;
}

Status mechanism_refresh(Core *core, Mechanism *mechanism, State *state, double dt) {
  int nv = mechanism->model->nv;
  double *jacobian = mechanism->rows, *solved = mechanism->rows + 6 * nv;
  if (nv == 0 || !predict_joints(mechanism, dt)) return SCREE_OK;
  for (int32_t k = 0; k < mechanism->link_count; k++) {
    const Link *link = &mechanism->links[k];
    if (!link->moves) continue;
    Solid *solid = &state->solids.items[link->solid];
    mj_jacBodyCom(mechanism->model, mechanism->data, jacobian, jacobian + 3 * nv, link->body);
    mju_mulMatVec(solid->driven, jacobian, mechanism->drive, 6, nv);
    for (int i = 0; i < 6; i++) mju_cholSolve(solved + i * nv, mechanism->inertia, jacobian + i * nv, nv);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) {
        double sum = 0;
        for (int v = 0; v < nv; v++) sum += jacobian[i * nv + v] * solved[j * nv + v];
        solid->inverse_inertia[i][j] = sum;
      }
  }
  return state->terrain && mechanism->link_count > 0 ? couple_links(core, mechanism, state) : SCREE_OK;
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
    bool runge = mechanism->model->opt.integrator == mjINT_RK4;
    if (begin_step(mechanism, substeps->dt - h * (double)k) || !runge) mj_step2(mechanism->model, mechanism->data);
    else mj_step(mechanism->model, mechanism->data); /* its stages between would not know what parts touch */
    substeps->bad = step_was_bad(mechanism);
  }
  if (substeps->bad) return;
  mechanism->data->time = substeps->begin + substeps->dt;
}

static void place_parts(void *context) {
  Mechanism *mechanism = context;
  mj_kinematics(mechanism->model, mechanism->data);
  mj_comPos(mechanism->model, mechanism->data);
  mj_comVel(mechanism->model, mechanism->data);
}

Status mechanism_settle(Core *core, Mechanism *mechanism, State *state, double dt) {
  mechanism->broken = true; /* until it has come back */
  TRY(mujoco_guarded(core, SCREE_FAILED, false, place_parts, mechanism));
  mechanism_tell_solids(mechanism, state);
  TRY(mechanism_find_touches(core, mechanism, state, dt));
  TRY(mujoco_guarded(core, SCREE_FAILED, false, mechanism_kinematics, mechanism));
  mechanism_tell_solids(mechanism, state);
  mechanism->broken = false;
  return SCREE_OK;
}

static int64_t dropped_contacts(const mjData *data) {
  return (int64_t)data->warning[mjWARN_CONTACTFULL].number + data->warning[mjWARN_CNSTRFULL].number;
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
  return mechanism_settle(core, mechanism, state, rule->longest_step);
}

/* ---- checkpoint ---- */

uint64_t mechanism_contents(const Mechanism *mechanism) {
  const Controls *controls = &mechanism->controls;
  size_t rows = (size_t)controls->row_count, columns = (size_t)controls->column_count;
  uint64_t hash = mechanism->contents;
  if (rows > 0) hash = hash_bytes(controls->times, rows * sizeof *controls->times, hash);
  if (rows * columns > 0) hash = hash_bytes(controls->values, rows * columns * sizeof *controls->values, hash);
  return hash;
}

Status mechanism_archive(Core *core, Archive *archive, Mechanism *mechanism, State *state, double longest_step) {
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
  TRY(archive_array(core, archive, mechanism->warm, model->nv));
  TRY(archive_array(core, archive, data->xfrc_applied, 6 * (int64_t)model->nbody));
  TRY(archive_array(core, archive, mechanism->held, model->nu));
  TRY(archive_value(core, archive, &data->time));
  TRY(mechanism_touch_archive(core, archive, mechanism));
  if (!archive->loading) return SCREE_OK;
  if (!all_within(data->qpos, model->nq) || !all_within(data->qvel, model->nv) || !all_within(data->act, model->na) ||
      !all_within(mechanism->warm, model->nv) || !all_within(data->ctrl, model->nu) ||
      !doubles_finite(data->xfrc_applied, 6 * (int64_t)model->nbody) || !isfinite(data->time))
    return archive_bad(core, archive, "state of the mechanism is not finite");
  if (model->nv > 0) memcpy(data->qacc_warmstart, mechanism->warm, sizeof(double) * (size_t)model->nv);
  return mechanism_settle(core, mechanism, state, longest_step);
}

#else
typedef int mechanism_is_not_built;
#endif
