/* Loading of MuJoCo mechanisms. */
#ifdef SCREE_HAVE_MUJOCO

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "bodies/mechanism_parts.h"
#include "bodies/mjcf.h"
#include "bodies/mujoco_guard.h"

/* ---- the model ---- */

typedef struct Loading {
  const Mjcf *mjcf;
  mjVFS *files;
  Mechanism *mechanism;
  bool full;
  char error[1024];
} Loading;

static void load_model(void *context) {
  Loading *loading = context;
  const Mjcf *mjcf = loading->mjcf;
  for (int32_t k = 0; k < mjcf->count; k++) {
    const MjcfFile *file = &mjcf->files[k];
    if (!mujoco_add_file(loading->files, file->name, file->data, (int)file->size)) {
      loading->full = true;
      return;
    }
  }
  loading->mechanism->model =
      mj_loadXML(mjcf->files[0].name, loading->files, loading->error, (int)sizeof loading->error);
  mj_freeLastXML();
}

/* The number behind a word of MuJoCo's message, or 0. */
static int number_behind(const char *message, const char *word) {
  const char *found = strstr(message, word);
  if (!found) return 0;
  found += strlen(word) + strspn(found + strlen(word), " =");
  int value = atoi(found);
  return value > 0 ? value : 0;
}

/* The word that MuJoCo does not know: a value, an attribute or an element; false: that is not what is wrong. Such words
 * are mistakes, or come from models of a newer release. */
static bool unknown_word(const char *message, char word[64]) {
  static const char *const complaints[] = {"invalid keyword: '", "unrecognized attribute: '", "unrecognized element"};
  for (size_t k = 0; k < sizeof complaints / sizeof *complaints; k++) {
    const char *found = strstr(message, complaints[k]);
    if (!found) continue;
    found = k < 2 ? found + strlen(complaints[k]) : strstr(found, "Element '");
    if (!found) return false;
    if (k == 2) found += strlen("Element '");
    int length = (int)strcspn(found, "'");
    return snprintf(word, 64, "%.*s", length, found) < 64 && length > 0;
  }
  return false;
}

static Status describe_error(Core *core, const Loading *loading, const char *path) {
  const char *message = loading->error, *file;
  ScreeSource place = {0, 0};
  char word[64];
  if (unknown_word(message, word) && mjcf_find_word(core, loading->mjcf, word, &file, &place))
    return fail_at(
        core, SCREE_BAD_INPUT, file, place,
        "asks for '%s', which MuJoCo %s does not know: a mistake, or the model is for a newer release (build "
        "with MUJOCO_DIR, see docs/bodies.md)",
        word, mj_versionString());
  if (!loading->mjcf->has_includes) {
    place.line = number_behind(message, "Line number");
    if (place.line == 0) place.line = number_behind(message, "line");
    place.column = number_behind(message, "column");
    if (place.line > 0 && place.column == 0) place.column = 1;
  }
  char line[512];
  size_t at = 0;
  for (const char *c = message; *c && at + 1 < sizeof line; c++) {
    char letter = *c == '\n' || *c == '\r' ? ' ' : *c;
    if (letter != ' ' || (at > 0 && line[at - 1] != ' ')) line[at++] = letter;
  }
  while (at > 0 && line[at - 1] == ' ') at--;
  line[at] = 0;
  return fail_at(core, SCREE_BAD_INPUT, path, place, "%s", line[0] ? line : "MuJoCo could not read the model");
}

static Status compile_model(Core *core, Mechanism *mechanism, const Mjcf *mjcf, const char *path) {
  Loading *loading;
  TRY(memory_new(core, &loading, 1, "mechanism"));
  loading->mjcf = mjcf;
  loading->mechanism = mechanism;
  Status status = memory_new(core, &loading->files, 1, "mechanism files");
  if (status == SCREE_OK) {
    mj_defaultVFS(loading->files);
    status = mujoco_guarded(core, SCREE_BAD_INPUT, true, load_model, loading);
    if (status == SCREE_OK && loading->full)
      status = fail_at(core, SCREE_BAD_INPUT, path, (ScreeSource){0, 0}, "has more or larger files than MuJoCo takes");
    else if (status == SCREE_OK && !mechanism->model) status = describe_error(core, loading, path);
    else if (status == SCREE_OK && loading->error[0])
      log_warning_at(core, path, (ScreeSource){0, 0}, "%.400s", loading->error);
    mj_deleteVFS(loading->files);
  }
  memory_drop(core, &loading->files);
  memory_drop(core, &loading);
  return status;
}

/* MuJoCo's own guess is a hundred contacts, whatever the model; many colliding geoms need more, and so do parts that
 * touch the scene and each other. Returns the bytes that its data will take. */
static double make_room_for_contacts(mjModel *model) {
  enum { OF_A_GEOM = 10, OF_A_PART = 16, CONTACTS_MOST = 400, ROWS_MOST = 2000 }; /* a matrix of rows squared is kept */
  int colliding = 0, moving = 0;
  for (int geom = 0; geom < model->ngeom; geom++)
    if (model->geom_contype[geom] || model->geom_conaffinity[geom]) colliding++;
  for (int body = 0; body < model->nbody; body++) moving += model->body_weldid[body] != 0;
  /* Cones that are round are truer; models with contacts of their own keep what they ask for. */
  if (colliding == 0) model->opt.cone = mjCONE_ELLIPTIC;
  int64_t wanted = (int64_t)OF_A_GEOM * colliding + (int64_t)OF_A_PART * moving + 100;
  int contacts = wanted < CONTACTS_MOST ? (int)wanted : CONTACTS_MOST;
  int rows = 4 * contacts + 2 * model->njnt;
  return mujoco_make_room(model, contacts, rows < ROWS_MOST ? rows : ROWS_MOST);
}

static void make_data(void *context) {
  Mechanism *mechanism = context;
  mechanism->data = mj_makeData(mechanism->model);
}

static Status check_model(Core *core, const mjModel *model, double bytes, const char *path) {
  const ScreeSource nowhere = {0, 0};
  if (!(model->opt.timestep >= 1e-6) || !(model->opt.timestep <= 1))
    return fail_at(core, SCREE_BAD_INPUT, path, nowhere, "timestep %g is not between 1e-6 and 1 s",
                   model->opt.timestep);
  if (bytes > (double)memory_left(&core->memory))
    return fail_at(core, SCREE_NO_MEMORY, path, nowhere, "the mechanism would need %.3g bytes", bytes);
  return SCREE_OK;
}

/* ---- the start ---- */

/* Whether an actuator holds a joint of one degree of freedom at the angle (or place) that its control says. */
static bool is_servo(const mjModel *model, int actuator, int *joint) {
  *joint = model->actuator_trnid[2 * actuator];
  const double *gain = model->actuator_gainprm + mjNGAIN * actuator;
  const double *bias = model->actuator_biasprm + mjNBIAS * actuator;
  return model->actuator_trntype[actuator] == mjTRN_JOINT && model->actuator_dyntype[actuator] == mjDYN_NONE &&
         model->actuator_gaintype[actuator] == mjGAIN_FIXED && model->actuator_biastype[actuator] == mjBIAS_AFFINE &&
         bias[0] == 0 && gain[0] > 0 && bias[1] == -gain[0] && model->actuator_gear[6 * actuator] != 0 &&
         (model->jnt_type[*joint] == mjJNT_HINGE || model->jnt_type[*joint] == mjJNT_SLIDE);
}

/* The first keyframe of the model, if it has one, is the start. Otherwise servos begin where their first control value
 * wants them: a machine that jerks from the pose it was drawn in through the sand to where the signal begins is never
 * what is meant. */
static void set_start(void *context) {
  Mechanism *mechanism = context;
  mjModel *model = mechanism->model;
  mjData *data = mechanism->data;
  if (model->nkey > 0) mj_resetDataKeyframe(model, data, 0);
  for (int k = 0; k < model->nu; k++) {
    double value = data->ctrl[k];
    if (model->actuator_ctrllimited[k])
      value = fmin(fmax(value, model->actuator_ctrlrange[2 * k]), model->actuator_ctrlrange[2 * k + 1]);
    mechanism->base[k] = value;
  }
  mechanism_set_controls(mechanism, data->time);
  for (int k = 0; k < model->nu && model->nkey == 0; k++) {
    int joint;
    if (!is_servo(model, k, &joint)) continue;
    double value = data->ctrl[k];
    if (model->actuator_ctrllimited[k])
      value = fmin(fmax(value, model->actuator_ctrlrange[2 * k]), model->actuator_ctrlrange[2 * k + 1]);
    data->qpos[model->jnt_qposadr[joint]] = value / model->actuator_gear[6 * k];
  }
  mechanism_kinematics(mechanism);
}

static int32_t find_actuator(void *context, const char *name) {
  const Mechanism *mechanism = context;
  return mj_name2id(mechanism->model, mjOBJ_ACTUATOR, name);
}

static Status load_controls(Core *core, Mechanism *mechanism, const BodiesPlan *plan) {
  const ScreeMechanismDef *definition = plan->scene->mechanism;
  for (int k = 0; k < mechanism->model->nu; k++) {
    mechanism->held[k] = NAN;
    mechanism->columns[k] = -1;
  }
  if (!definition->controls || !definition->controls[0]) return SCREE_OK;
  char path[SCREE_FILE_MAX];
  TRY(plan->resolve(plan->resolve_context, core, definition->controls, definition->source, path, sizeof path));
  TRY(controls_load(core, path, find_actuator, mechanism, &mechanism->controls));
  for (int32_t k = 0; k < mechanism->controls.column_count; k++)
    mechanism->columns[mechanism->controls.actuators[k]] = k;
  return SCREE_OK;
}

static Status make_arrays(Core *core, Mechanism *mechanism) {
  const mjModel *model = mechanism->model;
  TRY(memory_new(core, &mechanism->geom_solids, model->ngeom + 1, "mechanism"));
  TRY(memory_new(core, &mechanism->base, model->nu + 1, "mechanism"));
  TRY(memory_new(core, &mechanism->held, model->nu + 1, "mechanism"));
  TRY(memory_new(core, &mechanism->columns, model->nu + 1, "mechanism"));
  TRY(memory_new(core, &mechanism->rows, 12 * (int64_t)model->nv + 1, "mechanism"));
  TRY(memory_new(core, &mechanism->drive, model->nv + 1, "mechanism"));
  TRY(memory_new(core, &mechanism->warm, model->nv + 1, "mechanism"));
  TRY(memory_new(core, &mechanism->inertia, (int64_t)model->nv * model->nv + 1, "mechanism"));
  return memory_new(core, &mechanism->saved, (int64_t)model->nq + 2 * (int64_t)model->nv + model->na + 1, "mechanism");
}

static Status load(Core *core, State *state, const BodiesPlan *plan, Mechanism *mechanism) {
  const ScreeMechanismDef *definition = plan->scene->mechanism;
  char path[SCREE_FILE_MAX];
  TRY(plan->resolve(plan->resolve_context, core, definition->mjcf, definition->source, path, sizeof path));
  Mjcf mjcf;
  TRY(mjcf_gather(core, plan, path, &mjcf));
  for (int32_t k = 0; k < mjcf.count; k++)
    mechanism->contents = hash_bytes(mjcf.files[k].data, (size_t)mjcf.files[k].size, mechanism->contents);
  Status status = compile_model(core, mechanism, &mjcf, path);
  mjcf_destroy(core, &mjcf);
  TRY(status);
  mjModel *model = mechanism->model;
  TRY(check_model(core, model, make_room_for_contacts(model), path));
  mechanism->anchor = mj_name2id(model, mjOBJ_GEOM, MJCF_ANCHOR);
  if (mechanism->anchor < 0) return fail_at(core, SCREE_BAD_INPUT, path, (ScreeSource){0, 0}, "has no bodies");
  mechanism->model_step = model->opt.timestep;
  mechanism->offset = definition->position;
  model->opt.gravity[0] = state->gravity.x, model->opt.gravity[1] = state->gravity.y;
  model->opt.gravity[2] = state->gravity.z;
  TRY(mujoco_guarded(core, SCREE_NO_MEMORY, false, make_data, mechanism));
  if (!mechanism->data) return fail(core, SCREE_NO_MEMORY, "no memory for the mechanism");
  mechanism->data->time = state->time;
  TRY(make_arrays(core, mechanism));
  TRY(load_controls(core, mechanism, plan));
  TRY(mujoco_guarded(core, SCREE_BAD_INPUT, false, set_start, mechanism));
  TRY(mechanism_add_solids(core, state, plan, mechanism));
  mechanism_tell_solids(mechanism, state);
  return SCREE_OK;
}

Status mechanism_create(Core *core, State *state, const BodiesPlan *plan, Mechanism **mechanism) {
  *mechanism = NULL;
  Mechanism *made;
  TRY(memory_new(core, &made, 1, "mechanism"));
  /* Numbers in XML and in the meshes that are handed over are written with a point. */
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t before = plain ? uselocale(plain) : (locale_t)0;
  Status status = load(core, state, plan, made);
  if (plain) {
    uselocale(before);
    freelocale(plain);
  }
  if (status != SCREE_OK) mechanism_destroy(core, made);
  else *mechanism = made;
  return status;
}

void mechanism_destroy(Core *core, Mechanism *mechanism) {
  if (!mechanism) return;
  mj_deleteData(mechanism->data);
  mj_deleteModel(mechanism->model);
  controls_destroy(core, &mechanism->controls);
  memory_drop(core, &mechanism->links);
  memory_drop(core, &mechanism->geom_solids);
  memory_drop(core, &mechanism->base);
  memory_drop(core, &mechanism->held);
  memory_drop(core, &mechanism->columns);
  memory_drop(core, &mechanism->rows);
  memory_drop(core, &mechanism->inertia);
  memory_drop(core, &mechanism->drive);
  memory_drop(core, &mechanism->mobility);
  memory_drop(core, &mechanism->columns_of_all);
  memory_drop(core, &mechanism->warm);
  mechanism_touch_destroy(core, mechanism);
  memory_drop(core, &mechanism->saved);
  memory_drop(core, &mechanism);
}

#else
typedef int mechanism_load_is_not_built;
#endif
