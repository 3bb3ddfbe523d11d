/* What differs between releases of MuJoCo, 2.2 to 3.x, in one place. Written from the headers of 2.2.2, which it is
 * built and tested with, and the documented changes since; docs/bodies.md lists them. */
#ifndef BODIES_MUJOCO_API_H
#define BODIES_MUJOCO_API_H

#include <mujoco/mujoco.h>
#include <string.h>

#if mjVERSION_HEADER < 220
#error "MuJoCo is older than 2.2"
#endif

/* Puts a file into the virtual file system; false: it is full. 3.2 has no fields there any more. */
static inline bool mujoco_add_file(mjVFS *files, const char *name, const void *data, int size) {
#if mjVERSION_HEADER >= 320
  return mj_addBufferVFS(files, name, data, size) == 0;
#else
  if (mj_makeEmptyFileVFS(files, name, size) != 0) return false;
  memcpy(files->filedata[files->nfile - 1], data, (size_t)size);
  return true;
#endif
}

/* Room for contacts and constraint rows. Since 2.3.0 they are taken from one arena as they come, and only its size is
 * given. Returns the bytes that mj_makeData will take. */
static inline double mujoco_make_room(mjModel *model, int contacts, int rows) {
  double stack = 5.0 * rows * rows + 16.0 * rows * model->nv + 16.0 * model->nv * model->nv + 65536;
#if mjVERSION_HEADER >= 230
  double bytes = 8 * stack + 16.0 * rows * rows + 24.0 * rows * model->nv + 1000.0 * contacts;
  if (bytes > (double)model->narena && bytes < 2e9) model->narena = (int)bytes;
  return (double)model->narena;
#else
  if (contacts > model->nconmax) model->nconmax = contacts;
  if (rows > model->njmax) model->njmax = rows;
  if (stack > model->nstack && stack < 2.5e8) model->nstack = (int)stack;
  return 8.0 * model->nstack + 16.0 * model->njmax * (double)model->njmax + 24.0 * model->njmax * (double)model->nv +
         1000.0 * model->nconmax;
#endif
}

/* Of an excluded or explicit pair of bodies. */
static inline bool mujoco_is_pair(int signature, int body_a, int body_b) {
#if mjVERSION_HEADER >= 230
  int low = 0;
#else
  int low = 1;
#endif
  int a = body_a + low, b = body_b + low;
  return signature == (a << 16) + b || signature == (b << 16) + a;
}

/* An empty contact of two geoms; the normal looks from the first to the second. */
static inline void mujoco_clear_contact(mjContact *contact, int first, int second) {
  memset(contact, 0, sizeof *contact);
#if mjVERSION_HEADER >= 300
  contact->geom[0] = first, contact->geom[1] = second;
  for (int k = 0; k < 2; k++) contact->flex[k] = contact->elem[k] = contact->vert[k] = -1;
#endif
  contact->geom1 = first, contact->geom2 = second;
  contact->efc_address = -1;
}
static inline int mujoco_contact_geom(const mjContact *contact, int side) {
  return side == 0 ? contact->geom1 : contact->geom2;
}

/* After mj_makeConstraint. */
static inline void mujoco_project_constraints(const mjModel *model, mjData *data) {
#if mjVERSION_HEADER >= 300
  mj_island(model, data);
#endif
  mj_projectConstraint(model, data);
}

#endif
