/* The calls of mujoco/mujoco.h, handed to MuJoCo's own module, which the worker keeps as Module.mujoco
 * (page/mujoco_bridge.js). Both modules run in the same thread: a call goes there and comes back within a step. */
#include <emscripten.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mujoco/mujoco.h>

void (*mju_user_error)(const char *);
void (*mju_user_warning)(const char *);

enum { MESSAGE_ROOM = 1024 };
/* In the order of page/mujoco_bridge.js. */
enum { OPTIONS = 6 };   /* time step, gravity, cone, integrator */
enum { ROW_KINDS = 4 }; /* aref, R, D, vel: rows of constraints */
enum { COUNT_CONTACTS, COUNT_ROWS, COUNT_CONTACTS_FULL, COUNT_ROWS_FULL, COUNTS };
_Static_assert(sizeof(mjContact) == 26 * sizeof(double) + 12 * sizeof(int), "numbers, then whole numbers");

/* clang-format off */
/* Every call is given the memory as it is now: it may have grown. */
EM_JS(int, bridge_there, (void), { return Module.mujoco ? 1 : 0; });
EM_JS(void, bridge_file, (const char *name, const void *data, int size), {
  Module.mujoco.addFile(UTF8ToString(name), HEAPU8.slice(data, data + size));
});
EM_JS(int, bridge_load, (const char *name, char *error, int room), {
  const answer = Module.mujoco.load(UTF8ToString(name));
  if (answer.message) stringToUTF8(answer.message, error, room);
  return answer.handle;
});
EM_JS(void, bridge_delete, (int handle), { Module.mujoco.delete(handle).forEach((place) => _free(place)); });
EM_JS(int, bridge_count, (int handle, const char *name), { return Module.mujoco.count(handle, UTF8ToString(name)); });
EM_JS(int, bridge_bytes, (int handle, const char *name), { return Module.mujoco.array(handle, UTF8ToString(name)).byteLength; });
EM_JS(void, bridge_copy, (int handle, const char *name, void *to), {
  const from = Module.mujoco.array(handle, UTF8ToString(name));
  HEAPU8.set(new Uint8Array(from.buffer, from.byteOffset, from.byteLength), to);
});
EM_JS(void, bridge_options, (int handle, double *to), { HEAPF64.set(Module.mujoco.options(handle), to / 8); });
EM_JS(int, bridge_data, (int handle, double arena), { return Module.mujoco.makeData(handle, arena) ? 1 : 0; });
EM_JS(void, bridge_bind, (int handle, const char *name, double *at, int goes_there), {
  Module.mujoco.bind(handle, UTF8ToString(name), at, goes_there !== 0);
});
EM_JS(int, bridge_run, (int handle, const char *task, int key, double *options, double *rows, int row_room, double *time, int *counts, char *error, int room), {
  const mujoco = Module.mujoco;
  const answer = mujoco.run(HEAPF64, handle, mujoco.word(task, () => UTF8ToString(task)), key, options, rows, row_room, HEAPF64[time / 8]);
  if (answer.message) {
    stringToUTF8(answer.message, error, room);
    return 1;
  }
  HEAPF64[time / 8] = answer.time;
  HEAP32.set(answer.counts, counts / 4);
  return 0;
});
EM_JS(void, bridge_contacts, (int handle, void *to, int size), { Module.mujoco.contacts(HEAPF64, HEAP32, handle, to, size); });
EM_JS(void, bridge_rows, (int handle, double *to, int row_room), { Module.mujoco.rows(HEAPF64, handle, to, row_room); });
EM_JS(int, bridge_add_contact, (int handle, const void *from), { return Module.mujoco.addContact(HEAPF64, HEAP32, handle, from); });
EM_JS(void, bridge_contact_force, (int handle, int id, double *to), { HEAPF64.set(Module.mujoco.contactForce(handle, id), to / 8); });
EM_JS(void, bridge_point_jacobian, (int handle, const double *point, int body, double *moves, double *turns), {
  const found = Module.mujoco.pointJacobian(handle, HEAPF64.slice(point / 8, point / 8 + 3), body);
  if (moves) HEAPF64.set(found.moves, moves / 8);
  if (turns) HEAPF64.set(found.turns, turns / 8);
});
EM_JS(void, bridge_solve, (int handle, double *to, const double *from, int size), {
  HEAPF64.set(Module.mujoco.solve(handle, HEAPF64.slice(from / 8, from / 8 + size)), to / 8);
});
EM_JS(int, bridge_id, (int handle, int type, const char *name), { return Module.mujoco.id(handle, type, UTF8ToString(name)); });
EM_JS(const char *, bridge_name, (int handle, int type, int id), {
  return Module.mujoco.name(handle, type, id, (text) => {
    const size = lengthBytesUTF8(text) + 1;
    const place = _malloc(size);
    if (place) stringToUTF8(text, place, size);
    return place;
  });
});
EM_JS(void, bridge_velocity, (int handle, int type, int id, double *to, int local), {
  HEAPF64.set(Module.mujoco.velocity(handle, type, id, local), to / 8);
});
EM_JS(void, bridge_jacobian, (int handle, int body, double *moves, double *turns), {
  const found = Module.mujoco.jacobian(handle, body);
  HEAPF64.set(found.moves, moves / 8);
  HEAPF64.set(found.turns, turns / 8);
});
EM_JS(void, bridge_inertia, (int handle, double *to), { HEAPF64.set(Module.mujoco.inertia(handle), to / 8); });
/* clang-format on */

/* ---- files ---- */

void mj_defaultVFS(mjVFS *vfs) { vfs->count = 0; }

int mj_addBufferVFS(mjVFS *vfs, const char *name, const void *buffer, int nbuffer) {
  if (bridge_there()) bridge_file(name, buffer, nbuffer);
  vfs->count++;
  return 0;
}

void mj_deleteVFS(mjVFS *vfs) { vfs->count = 0; }
void mj_freeLastXML(void) {} /* it goes with the model */

/* ---- the model ---- */

static bool copy_model(mjModel *model) {
#define COPY_COUNT(member) model->member = bridge_count(model->handle, #member);
  MJ_MODEL_COUNTS(COPY_COUNT)
#undef COPY_COUNT
#define COPY_ARRAY(type, member)                                                                                       \
  model->member = malloc((size_t)bridge_bytes(model->handle, #member) + 1);                                            \
  if (!model->member) return false;                                                                                    \
  bridge_copy(model->handle, #member, model->member);
  MJ_MODEL_ARRAYS(COPY_ARRAY)
#undef COPY_ARRAY
  double options[OPTIONS];
  bridge_options(model->handle, options);
  model->narena = (long)bridge_count(model->handle, "narena");
  model->opt.timestep = options[0];
  memcpy(model->opt.gravity, options + 1, sizeof model->opt.gravity);
  model->opt.cone = (int)options[4];
  model->opt.integrator = (int)options[5];
  return true;
}

mjModel *mj_loadXML(const char *filename, const mjVFS *vfs, char *error, int error_sz) {
  if (!bridge_there()) {
    snprintf(error, (size_t)error_sz, "mechanisms need MuJoCo, which this page has not loaded");
    return NULL;
  }
  mjModel *model = calloc(1, sizeof *model);
  if (!model) return NULL;
  (void)vfs;
  model->handle = bridge_load(filename, error, error_sz);
  if (model->handle == 0 || !copy_model(model)) {
    mj_deleteModel(model);
    return NULL;
  }
  return model;
}

void mj_deleteModel(mjModel *model) {
  if (!model) return;
  if (model->handle) bridge_delete(model->handle);
#define FREE_ARRAY(type, member) free(model->member);
  MJ_MODEL_ARRAYS(FREE_ARRAY)
#undef FREE_ARRAY
  free(model);
}

int mj_name2id(const mjModel *model, int type, const char *name) { return bridge_id(model->handle, type, name); }
const char *mj_id2name(const mjModel *model, int type, int id) { return bridge_name(model->handle, type, id); }

/* ---- its data ---- */

mjData *mj_makeData(const mjModel *model) {
  if (!bridge_data(model->handle, (double)model->narena)) return NULL;
  mjData *data = calloc(1, sizeof *data);
  if (!data) return NULL;
  data->handle = model->handle;
  bool whole = true;
#define BIND(member, goes_there)                                                                                       \
  data->member = malloc((size_t)bridge_bytes(data->handle, #member) + 1);                                              \
  whole = whole && data->member;                                                                                       \
  if (whole)                                                                                                           \
    bridge_copy(data->handle, #member, data->member), bridge_bind(data->handle, #member, data->member, goes_there);
#define BIND_STATE(member) BIND(member, 1)
#define BIND_RESULT(member) BIND(member, 0)
  MJ_DATA_STATE(BIND_STATE)
  MJ_DATA_RESULTS(BIND_RESULT)
#undef BIND_STATE
#undef BIND_RESULT
#undef BIND
  if (whole) return data;
  mj_deleteData(data);
  return NULL;
}

void mj_deleteData(mjData *data) {
  if (!data) return;
#define FREE_NUMBERS(member) free(data->member);
  MJ_DATA_STATE(FREE_NUMBERS)
  MJ_DATA_RESULTS(FREE_NUMBERS)
#undef FREE_NUMBERS
  free(data->contact);
  free(data->efc_aref);
  free(data);
}

/* An error of MuJoCo goes to the handler, which does not come back. */
static void complain(const char *message) {
  if (mju_user_error) mju_user_error(message);
}

/* Room for at least that many contacts and rows of constraints. */
static bool make_room(mjData *data, int contacts, int rows) {
  if (contacts > data->contact_room) {
    mjContact *grown = realloc(data->contact, sizeof *grown * (size_t)(2 * contacts));
    if (!grown) return false;
    data->contact = grown;
    data->contact_room = 2 * contacts;
  }
  if (rows > data->row_room) {
    double *block = realloc(data->efc_aref, sizeof *block * ROW_KINDS * (size_t)(2 * rows));
    if (!block) return false;
    data->row_room = 2 * rows;
    data->efc_aref = block;
    data->efc_R = block + data->row_room;
    data->efc_D = data->efc_R + data->row_room;
    data->efc_vel = data->efc_D + data->row_room;
  }
  return true;
}

/* Contacts and rows change in some tasks only, and take long to copy. */
static void run(const mjModel *model, mjData *data, const char *task, int key, bool contacts_change) {
  double options[OPTIONS] = {model->opt.timestep,   model->opt.gravity[0], model->opt.gravity[1],
                             model->opt.gravity[2], model->opt.cone,       model->opt.integrator};
  char error[MESSAGE_ROOM] = "";
  int counts[COUNTS] = {0};
  double *rows = data->nefc > 0 ? data->efc_aref : NULL;
  if (bridge_run(data->handle, task, key, options, rows, data->row_room, &data->time, counts, error, sizeof error)) {
    complain(error);
    return;
  }
  data->ncon = counts[COUNT_CONTACTS];
  data->nefc = counts[COUNT_ROWS];
  data->warning[mjWARN_CONTACTFULL].number = counts[COUNT_CONTACTS_FULL];
  data->warning[mjWARN_CNSTRFULL].number = counts[COUNT_ROWS_FULL];
  if (!contacts_change) return;
  if (!make_room(data, data->ncon, data->nefc)) {
    complain("no memory for the contacts of the mechanism");
    return;
  }
  if (data->ncon > 0) bridge_contacts(data->handle, data->contact, sizeof *data->contact);
  if (data->nefc > 0) bridge_rows(data->handle, data->efc_aref, data->row_room);
}

void mj_resetDataKeyframe(const mjModel *model, mjData *data, int key) {
  run(model, data, "mj_resetDataKeyframe", key, true);
}
#define RUN(task, contacts_change)                                                                                     \
  void task(const mjModel *model, mjData *data) { run(model, data, #task, -1, contacts_change); }
RUN(mj_step, true)
RUN(mj_step1, true)
RUN(mj_step2, false)
RUN(mj_kinematics, false)
RUN(mj_comPos, false)
RUN(mj_comVel, false)
RUN(mj_makeConstraint, true)
RUN(mj_island, true)
RUN(mj_projectConstraint, true)
RUN(mj_fwdVelocity, true)
RUN(mj_fwdActuation, false)
RUN(mj_fwdAcceleration, false)
RUN(mj_fwdConstraint, false)
#undef RUN

int mj_addContact(const mjModel *model, mjData *data, const mjContact *contact) {
  (void)model;
  int count = bridge_add_contact(data->handle, contact);
  if (count < 0) return 1;
  data->ncon = count;
  return 0;
}

void mj_contactForce(const mjModel *model, const mjData *data, int id, double result[6]) {
  (void)model;
  bridge_contact_force(data->handle, id, result);
}

void mj_jac(const mjModel *model, const mjData *data, double *jacp, double *jacr, const double point[3], int body) {
  (void)model;
  bridge_point_jacobian(data->handle, point, body, jacp, jacr);
}

void mj_solveM(const mjModel *model, mjData *data, double *x, const double *y, int n) {
  for (int k = 0; k < n; k++) bridge_solve(data->handle, x + k * model->nv, y + k * model->nv, model->nv);
}

const char *mj_versionString(void) { return "3.14.0"; }

void mj_objectVelocity(const mjModel *model, const mjData *data, int objtype, int objid, double res[6], int flg_local) {
  (void)model;
  bridge_velocity(data->handle, objtype, objid, res, flg_local);
}
void mj_jacBodyCom(const mjModel *model, const mjData *data, double *jacp, double *jacr, int body) {
  (void)model;
  bridge_jacobian(data->handle, body, jacp, jacr);
}
void mj_fullM(const mjModel *model, double *dst, const double *M) {
  (void)M;
  bridge_inertia(model->handle, dst);
}

/* ---- small matrices: not worth the way ---- */

void mju_mulMatVec(double *res, const double *mat, const double *vec, int nr, int nc) {
  for (int r = 0; r < nr; r++) {
    double sum = 0;
    for (int c = 0; c < nc; c++) sum += mat[r * nc + c] * vec[c];
    res[r] = sum;
  }
}

int mju_cholFactor(double *mat, int n, double mindiag) {
  int rank = n;
  for (int j = 0; j < n; j++) {
    double diagonal = mat[j * n + j];
    for (int k = 0; k < j; k++) diagonal -= mat[j * n + k] * mat[j * n + k];
    if (diagonal < fmax(mindiag, 1e-15)) {
      diagonal = fmax(mindiag, 1e-15);
      rank--;
    }
    mat[j * n + j] = sqrt(diagonal);
    for (int i = j + 1; i < n; i++) {
      double sum = mat[i * n + j];
      for (int k = 0; k < j; k++) sum -= mat[i * n + k] * mat[j * n + k];
      mat[i * n + j] = sum / mat[j * n + j];
    }
  }
  return rank;
}

void mju_cholSolve(double *res, const double *mat, const double *vec, int n) {
  for (int i = 0; i < n; i++) {
    double sum = vec[i];
    for (int k = 0; k < i; k++) sum -= mat[i * n + k] * res[k];
    res[i] = sum / mat[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    double sum = res[i];
    for (int k = i + 1; k < n; k++) sum -= mat[k * n + i] * res[k];
    res[i] = sum / mat[i * n + i];
  }
}

void mju_mat2Quat(double quat[4], const double mat[9]) {
  double trace[4] = {mat[0] + mat[4] + mat[8], mat[0] - mat[4] - mat[8], mat[4] - mat[0] - mat[8],
                     mat[8] - mat[0] - mat[4]};
  double parts[4][4] = {{0, mat[7] - mat[5], mat[2] - mat[6], mat[3] - mat[1]},
                        {mat[7] - mat[5], 0, mat[1] + mat[3], mat[2] + mat[6]},
                        {mat[2] - mat[6], mat[1] + mat[3], 0, mat[5] + mat[7]},
                        {mat[3] - mat[1], mat[2] + mat[6], mat[5] + mat[7], 0}};
  int best = 0;
  for (int k = 1; k < 4; k++)
    if (trace[k] > trace[best]) best = k;
  double twice = sqrt(1 + trace[best]);
  for (int k = 0; k < 4; k++) quat[k] = k == best ? 0.5 * twice : 0.5 * parts[best][k] / twice;
}
