/* What src/bodies uses of MuJoCo's API, in the browser. MuJoCo is there a module of its own (npm's @mujoco/mujoco),
 * with a memory of its own: models and data here are copies of what it has, brought up to date by each call. The fields
 * are listed once, in tables; mujoco_bridge.c makes the copies from them. Names and numbers are MuJoCo's 3.14. */
#ifndef WEB_MUJOCO_MUJOCO_H
#define WEB_MUJOCO_MUJOCO_H

#include <stddef.h>

#define mjVERSION_HEADER 3014000

enum { mjNBIAS = 10, mjNGAIN = 10, mjNREF = 2, mjNIMP = 5 };
enum { mjCONE_PYRAMIDAL, mjCONE_ELLIPTIC };
enum { mjINT_EULER, mjINT_RK4 };
enum { mjTRN_JOINT = 0, mjBIAS_AFFINE = 1, mjGAIN_FIXED = 0, mjDYN_NONE = 0 };
enum { mjJNT_SLIDE = 2, mjJNT_HINGE = 3 };
enum { mjOBJ_BODY = 1, mjOBJ_GEOM = 5, mjOBJ_ACTUATOR = 19 };
enum {
  mjGEOM_PLANE,
  mjGEOM_HFIELD,
  mjGEOM_SPHERE,
  mjGEOM_CAPSULE,
  mjGEOM_ELLIPSOID,
  mjGEOM_CYLINDER,
  mjGEOM_BOX,
  mjGEOM_MESH
};
enum {
  mjWARN_INERTIA,
  mjWARN_CONTACTFULL,
  mjWARN_CNSTRFULL,
  mjWARN_BADQPOS,
  mjWARN_BADQVEL,
  mjWARN_BADQACC,
  mjWARN_BADCTRL,
  mjNWARNING
};

#define MJ_MODEL_COUNTS(X) X(nq) X(nv) X(nu) X(na) X(nbody) X(njnt) X(ngeom) X(nkey) X(npair) X(nexclude)
#define MJ_MODEL_ARRAYS(X)                                                                                             \
  X(int, jnt_type)                                                                                                     \
  X(int, jnt_qposadr)                                                                                                  \
  X(int, jnt_dofadr)                                                                                                   \
  X(double, jnt_range)                                                                                                 \
  X(double, jnt_stiffness)                                                                                             \
  X(unsigned char, jnt_limited)                                                                                        \
  X(double, dof_damping)                                                                                               \
  X(int, body_parentid)                                                                                                \
  X(int, body_weldid)                                                                                                  \
  X(int, body_geomnum)                                                                                                 \
  X(int, body_geomadr)                                                                                                 \
  X(double, body_mass)                                                                                                 \
  X(double, body_ipos)                                                                                                 \
  X(double, body_iquat)                                                                                                \
  X(double, body_inertia)                                                                                              \
  X(int, geom_bodyid)                                                                                                  \
  X(int, geom_type)                                                                                                    \
  X(int, geom_contype)                                                                                                 \
  X(int, geom_conaffinity)                                                                                             \
  X(int, geom_dataid)                                                                                                  \
  X(double, geom_pos)                                                                                                  \
  X(double, geom_quat)                                                                                                 \
  X(double, geom_size)                                                                                                 \
  X(int, pair_signature)                                                                                               \
  X(int, exclude_signature)                                                                                            \
  X(int, mesh_vertadr)                                                                                                 \
  X(int, mesh_vertnum)                                                                                                 \
  X(int, mesh_faceadr)                                                                                                 \
  X(int, mesh_facenum)                                                                                                 \
  X(float, mesh_vert)                                                                                                  \
  X(int, mesh_face)                                                                                                    \
  X(int, actuator_trntype)                                                                                             \
  X(int, actuator_trnid)                                                                                               \
  X(int, actuator_dyntype)                                                                                             \
  X(int, actuator_gaintype)                                                                                            \
  X(int, actuator_biastype)                                                                                            \
  X(double, actuator_gainprm)                                                                                          \
  X(double, actuator_biasprm)                                                                                          \
  X(double, actuator_gear)                                                                                             \
  X(double, actuator_ctrlrange)                                                                                        \
  X(double, actuator_forcerange)                                                                                       \
  X(unsigned char, actuator_ctrllimited)                                                                               \
  X(unsigned char, actuator_forcelimited)
/* Goes there before each call and comes back after it. */
#define MJ_DATA_STATE(X) X(qpos) X(qvel) X(act) X(ctrl) X(xfrc_applied) X(qacc_warmstart)
/* Comes back. */
#define MJ_DATA_RESULTS(X) X(qacc) X(xpos) X(xquat) X(xipos) X(geom_xpos) X(geom_xmat)

typedef struct mjModel {
  int handle; /* of the model and its data over there */
#define MJ_COUNT(name) int name;
#define MJ_ARRAY(type, name) type *name;
  MJ_MODEL_COUNTS(MJ_COUNT)
  MJ_MODEL_ARRAYS(MJ_ARRAY)
#undef MJ_COUNT
#undef MJ_ARRAY
  long narena;
  struct {
    double timestep, gravity[3];
    int cone, integrator;
  } opt;
} mjModel;

/* Numbers first, then whole numbers: mujoco_bridge.c copies each kind in one piece. */
typedef struct mjContact {
  double dist, includemargin, pos[3], frame[9], friction[5], solref[mjNREF], solimp[mjNIMP];
  int dim, efc_address, geom1, geom2, geom[2], flex[2], elem[2], vert[2];
} mjContact;

typedef struct mjData {
  int handle;
  double time;
#define MJ_NUMBERS(name) double *name;
  MJ_DATA_STATE(MJ_NUMBERS)
  MJ_DATA_RESULTS(MJ_NUMBERS)
#undef MJ_NUMBERS
  double *qM; /* stays over there: mj_fullM asks for it */
  int ncon, nefc;
  mjContact *contact;
  double *efc_aref, *efc_R, *efc_D, *efc_vel; /* of one block; all but the last go there too */
  int contact_room, row_room;
  struct {
    int lastinfo, number;
  } warning[mjNWARNING];
} mjData;

typedef struct mjVFS {
  int count; /* the files themselves are over there */
} mjVFS;

extern void (*mju_user_error)(const char *);
extern void (*mju_user_warning)(const char *);

void mj_defaultVFS(mjVFS *vfs);
int mj_addBufferVFS(mjVFS *vfs, const char *name, const void *buffer, int nbuffer);
void mj_deleteVFS(mjVFS *vfs);
mjModel *mj_loadXML(const char *filename, const mjVFS *vfs, char *error, int error_sz);
void mj_freeLastXML(void);
void mj_deleteModel(mjModel *model);
mjData *mj_makeData(const mjModel *model);
void mj_deleteData(mjData *data);
void mj_resetDataKeyframe(const mjModel *model, mjData *data, int key);
void mj_step(const mjModel *model, mjData *data);
void mj_step1(const mjModel *model, mjData *data);
void mj_step2(const mjModel *model, mjData *data);
void mj_kinematics(const mjModel *model, mjData *data);
void mj_comPos(const mjModel *model, mjData *data);
void mj_comVel(const mjModel *model, mjData *data);
void mj_makeConstraint(const mjModel *model, mjData *data);
void mj_island(const mjModel *model, mjData *data);
void mj_projectConstraint(const mjModel *model, mjData *data);
void mj_fwdVelocity(const mjModel *model, mjData *data);
void mj_fwdActuation(const mjModel *model, mjData *data);
void mj_fwdAcceleration(const mjModel *model, mjData *data);
void mj_fwdConstraint(const mjModel *model, mjData *data);
int mj_addContact(const mjModel *model, mjData *data, const mjContact *contact);
void mj_contactForce(const mjModel *model, const mjData *data, int id, double result[6]);
void mj_jac(const mjModel *model, const mjData *data, double *jacp, double *jacr, const double point[3], int body);
void mj_solveM(const mjModel *model, mjData *data, double *x, const double *y, int n);
const char *mj_versionString(void);
int mj_name2id(const mjModel *model, int type, const char *name);
const char *mj_id2name(const mjModel *model, int type, int id);
void mj_objectVelocity(const mjModel *model, const mjData *data, int objtype, int objid, double res[6], int flg_local);
void mj_jacBodyCom(const mjModel *model, const mjData *data, double *jacp, double *jacr, int body);
void mj_fullM(const mjModel *model, double *dst, const double *M);
void mju_mulMatVec(double *res, const double *mat, const double *vec, int nr, int nc);
int mju_cholFactor(double *mat, int n, double mindiag);
void mju_cholSolve(double *res, const double *mat, const double *vec, int n);
void mju_mat2Quat(double quat[4], const double mat[9]);

#endif
