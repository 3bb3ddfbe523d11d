/* Solids: what grains touch. Walls (boundaries) and bodies share one table, so a method knows one kind of partner.
 *
 * Contract between bodies/ and the methods: before the step a solid offers pose, velocity, shape and inverse inertia;
 * during it the method adds wrenches; after it bodies/ advances what moves. */
#ifndef STATE_SOLIDS_H
#define STATE_SOLIDS_H

#include "core/archive.h"
#include "core/core.h"
#include "core/vec.h"
#include "geometry/shape.h"
#include "state/wrench_law.h"

/* How a method finds the wrench on a solid. */
typedef enum SolidCoupling {
  COUPLING_EXPLICIT, /* from the motion that the solid has; the wrench then moves it */
  COUPLING_SOLVED    /* together with the solid's motion in the step: it may stop a solid at once */
} SolidCoupling;

/* How far the surface of a solid may go in a step, in radii, where grains touch it by its distance and the coupling is
 * explicit: a surface that passes the centre of a grain would push it in the wrong direction. */
#define SURFACE_DISPLACEMENT 0.5

typedef enum Motion { MOTION_FIXED, MOTION_KEYFRAMES, MOTION_FREE, MOTION_MECHANISM } Motion;

enum { SOLID_NAME_MAX = 64 };

/* Force and torque about the centre of mass in 64-bit fixed point: exact and free of order, so any thread may add. */
typedef struct Wrench {
  _Atomic int64_t part[6];
} Wrench;

typedef struct Solid {
  char name[SOLID_NAME_MAX];
  bool is_boundary;
  Motion motion;
  int contact; /* SCREE_CONTACT_... */
  Shape shape;
  double friction_static, friction_kinetic;
  double stiffness_n, restitution; /* of a contact with it (dem); NaN: the grain's */
  ScreeSource source;

  /* written by bodies/ */
  Vec3 position; /* of the shape's frame, world */
  Quat rotation;
  Vec3 center;   /* of mass, world */
  Vec3 velocity; /* of the centre of mass */
  Vec3 spin;     /* angular velocity, world axes */
  double mass;   /* 0: nothing moves it */
  Vec3 center_in_shape;
  Mat3 inertia; /* about the centre of mass, in the shape's frame */
  /* Acceleration of (centre, spin) per unit (force, torque about the centre), world axes: zero for walls and
   * keyframed bodies, diag(1/m, I^-1) for free ones, the projected operator for parts of mechanisms, with what
   * motors, springs and dampers answer within the step. */
  double inverse_inertia[6][6];
  Vec3 outside_force, outside_torque; /* set through the API */
  /* Parts of mechanisms: acceleration of (centre, spin) in the step without grains: by motors, joints, stops and
   * gravity. A method that moves bodies inside its solve starts from it; without it a part would move as if no motor
   * held it. */
  double driven[6];

  /* written by methods during the step */
  Wrench wrench; /* of the grains, over the step in progress, N and N m */
  /* Of a free body in a method that solves in substeps: by how much velocity and spin at the step's end exceed their
   * means over the step, which it is moved with. bodies/ clears them. */
  Vec3 velocity_gain, spin_gain;

  /* written by world/ */
  Vec3 impulse, angular_impulse;  /* sums of wrench * dt over the frame */
  Vec3 frame_force, frame_torque; /* means over the last finished frame */

  /* surface or volume samples, when the method or `contact: samples` wants them */
  int64_t sample_begin, sample_end; /* in State.samples */
  double sample_reach;              /* how far the spheres of its samples stand out of its surface, m */
} Solid;

/* Solids that forces on one of them move together: parts of a mechanism, by its joints. */
typedef struct SolidGroup {
  int32_t first, count;   /* solids; 0: none */
  const double *mobility; /* 6 count by 6 count: acceleration (centre, spin) of one per wrench on another, as in
                           * Solid.inverse_inertia, whose blocks are on its diagonal; zero for those that do not move */
} SolidGroup;

typedef struct Solids {
  Solid *items;
  int32_t count;
  int32_t boundary_count; /* boundaries come first */
  SolidGroup machine;     /* written by bodies/ where there is terrain, which carries machines as a whole */
} Solids;

/* What many contacts in a row push a solid with, summed up before it is told: threads that all add to the floor would
 * wait for each other. Begin with {0}; wrench_sum_end tells what is left. */
typedef struct WrenchSum {
  Solid *solid;
  int64_t part[6];
} WrenchSum;

static inline void wrench_sum_end(WrenchSum *sum) {
  for (int k = 0; k < 6 && sum->solid; k++)
    atomic_fetch_add_explicit(&sum->solid->wrench.part[k], sum->part[k], memory_order_relaxed);
  *sum = (WrenchSum){0};
}
static inline void wrench_sum_push(WrenchSum *sum, Solid *solid, Vec3 force, Vec3 torque) {
  const double parts[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
  if (sum->solid != solid) wrench_sum_end(sum);
  sum->solid = solid;
  for (int k = 0; k < 6; k++) /* wraps as the atomic sums do */
    sum->part[k] = (int64_t)((uint64_t)sum->part[k] + (uint64_t)wrench_units(parts[k]));
}
static inline void wrench_sum_add(WrenchSum *sum, Solid *solid, Vec3 force, Vec3 point) {
  wrench_sum_push(sum, solid, force, vec3_cross(vec3_sub(point, solid->center), force));
}
static inline void wrench_add(Solid *solid, Vec3 force, Vec3 point) {
  WrenchSum sum = {0};
  wrench_sum_add(&sum, solid, force, point);
  wrench_sum_end(&sum);
}
static inline void wrench_add_torque(Solid *solid, Vec3 torque) {
  const double parts[3] = {torque.x, torque.y, torque.z};
  for (int k = 0; k < 3; k++)
    atomic_fetch_add_explicit(&solid->wrench.part[3 + k], wrench_units(parts[k]), memory_order_relaxed);
}
static inline double wrench_get(const Solid *solid, int part) {
  return (double)atomic_load_explicit(&solid->wrench.part[part], memory_order_relaxed) * 0x1p-30;
}
static inline Vec3 wrench_force(const Solid *solid) {
  return vec3(wrench_get(solid, 0), wrench_get(solid, 1), wrench_get(solid, 2));
}
static inline Vec3 wrench_torque(const Solid *solid) {
  return vec3(wrench_get(solid, 3), wrench_get(solid, 4), wrench_get(solid, 5));
}
void wrench_clear(Solid *solid);

static inline Vec3 solid_to_local(const Solid *solid, Vec3 world) {
  return quat_rotate(quat_conjugate(solid->rotation), vec3_sub(world, solid->position));
}
static inline Vec3 solid_to_world(const Solid *solid, Vec3 local) {
  return vec3_add(quat_rotate(solid->rotation, local), solid->position);
}
static inline bool solid_is_turned(const Solid *solid) {
  return solid->rotation.w != 1 || solid->rotation.x != 0 || solid->rotation.y != 0 || solid->rotation.z != 0;
}
/* Whether grains touch its samples; else they touch it by its distance. */
static inline bool solid_is_sampled(const Solid *solid) {
  return solid->contact == SCREE_CONTACT_SAMPLES && solid->sample_end > solid->sample_begin;
}
static inline Vec3 solid_velocity_at(const Solid *solid, Vec3 world) {
  return vec3_add(solid->velocity, vec3_cross(solid->spin, vec3_sub(world, solid->center)));
}
/* Whether forces move it. */
static inline bool solid_is_movable(const Solid *solid) {
  return solid->motion == MOTION_FREE || solid->motion == MOTION_MECHANISM;
}
/* The columns of row i of the inverse inertia that may not be zero: [first, returned). */
static inline int solid_mobility_columns(const Solid *solid, int i, int *first) {
  bool free = solid->motion == MOTION_FREE;
  *first = !free ? 0 : i < 3 ? i : 3;
  return free && i < 3 ? i + 1 : 6;
}
/* Acceleration (centre, spin) by a wrench (force, torque about the centre of mass); impulses change velocities so. */
static inline void solid_apply_mobility(const Solid *solid, const double wrench[6], double motion[6]) {
  for (int i = 0; i < 6; i++) {
    int first, end = solid_mobility_columns(solid, i, &first);
    motion[i] = 0;
    for (int j = first; j < end; j++) motion[i] += solid->inverse_inertia[i][j] * wrench[j];
  }
}
/* Change of the point's velocity along the direction per unit impulse along it, 1/kg. */
static inline double solid_mobility(const Solid *solid, Vec3 point, Vec3 direction) {
  if (!solid_is_movable(solid)) return 0;
  Vec3 turn = vec3_cross(vec3_sub(point, solid->center), direction);
  const double parts[6] = {direction.x, direction.y, direction.z, turn.x, turn.y, turn.z};
  double sum = 0;
  for (int i = 0; i < 6; i++) {
    int first, end = solid_mobility_columns(solid, i, &first);
    for (int j = first; j < end; j++) sum += parts[i] * solid->inverse_inertia[i][j] * parts[j];
  }
  return sum;
}
/* Whether a point of the world is inside. */
bool solid_contains(const Solid *solid, Vec3 world);
/* Recomputes centre and, for free bodies, inverse inertia from the pose. */
void solid_refresh(Solid *solid);

/* Appends a solid; the table may move. */
Status solids_add(Core *core, Solids *solids, Solid **solid);
/* 0-based index, or -1. */
int32_t solids_find(const Solids *solids, const char *name);
Status solids_archive(Core *core, Archive *archive, Solids *solids);
uint64_t solids_hash(const Solids *solids);
void solids_destroy(Core *core, Solids *solids);

#endif
