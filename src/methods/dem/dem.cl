/* dem on a device: loops over its laws, one work item a grain.
 *
 * Every contact is computed by both of its grains, with the one that is stored first as the first partner in both: so
 * nothing is handed from one to the other, and both get the same bits. A grain adds up what its contacts exert in the
 * order of the CPU, which is that of its list. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#include "core/lane.h"
#include "methods/dem/contact_law.h"
#include "methods/dem/dem_shared.h"
#include "methods/dem/integrate_law.h"
#include "methods/dem/quantum_law.h"
#include "methods/dem/reaction_law.h"
#include "methods/dem/surface_law.h"
/* dem has no device form with terrain. With its surface in what solids are asked, which some kernels ask at two places,
 * NVIDIA's compiler (driver 580.159, H200) makes code that reads outside of memory; PoCL and Oclgrind run the same text. */
#define SOLIDS_WITHOUT_HEIGHTS
#include "state/solids.cl"
#include "state/wrench_sums.cl"

#ifndef DEM_ROLLING /* what a program is built for */
#define DEM_ROLLING 1
#define DEM_BONDS 1
#define DEM_CAP_TOTAL 1
#define DEM_FLAT 0 /* all solids are flat and at rest: their surfaces are known */
#endif
#define DEM_SPRING 3 /* parts of a contact's springs, shear and rolling: they are read and written whole */
#if DEM_ROLLING
typedef float2 SpringPart;
#else
typedef float SpringPart;
#endif
#define DEM_CHUNK 32                     /* entries of a list that are looked at together */
#define DEM_ABREAST 4                    /* of which so many are on their way from memory at once */

static LaneVec3 load_vector(global const float *x, global const float *y, global const float *z, int i) {
  return vec_make(x[i], y[i], z[i]);
}

static void store_vector(global float *x, global float *y, global float *z, int i, LaneVec3 v) {
  x[i] = v.x, y[i] = v.y, z[i] = v.z;
}

static LaneVec3 vector_of(float4 quad) { return vec_make(quad.x, quad.y, quad.z); }
static float4 quad_of(LaneVec3 v, float fourth) { return (float4)(v.x, v.y, v.z, fourth); }

/* ---- rows ---- */

/* As row_kernels.c: place, motion and turning of a grain, four numbers each. */
#define ROW_FIELDS                                                                                                     \
  global const float *x, global const float *y, global const float *z, global const float *low_x,                     \
      global const float *low_y, global const float *low_z, global const float *radius, global const float *mass,     \
      global const uchar *material
#define ROW_NAMES x, y, z, low_x, low_y, low_z, radius, mass, material
#define ROWS global float4 *place, global float4 *motion, global float4 *turn

static int quanta(float high, float low, DemShared step) {
  return (int)quantum_of((double)high, (double)low, (double)step.per_quantum);
}

static void fill_row(DemShared step, int i, LaneVec3 velocity, LaneVec3 displacement, LaneVec3 spin, ROW_FIELDS, ROWS) {
  LaneVec3 moved = vec_mul(displacement, step.verlet ? 1.f : 0.f), turned = vec_mul(spin, step.rotation ? 1.f : 0.f);
  place[i] = (float4)(as_float(quanta(x[i], low_x[i] + moved.x, step)),
                      as_float(quanta(y[i], low_y[i] + moved.y, step)),
                      as_float(quanta(z[i], low_z[i] + moved.z, step)), radius[i]);
  motion[i] = quad_of(velocity, 1.f / mass[i]);
  turn[i] = quad_of(turned, (float)material[i]);
}

kernel void dem_rows(DemShared step, ROW_FIELDS, global const float *vx, global const float *vy, global const float *vz,
                     global const float *dx, global const float *dy, global const float *dz,
                     global const float *spin_x, global const float *spin_y, global const float *spin_z, ROWS) {
  int i = (int)get_global_id(0);
  if (i >= step.count) return;
  fill_row(step, i, load_vector(vx, vy, vz, i), load_vector(dx, dy, dz, i), load_vector(spin_x, spin_y, spin_z, i),
           ROW_NAMES, place, motion, turn);
}

/* The first half of velocity Verlet; Euler predicts the displacement. */
kernel void dem_kick(DemShared step, ROW_FIELDS, global float *vx, global float *vy, global float *vz,
                     global float *dx, global float *dy, global float *dz, global float *spin_x, global float *spin_y,
                     global float *spin_z, global const float *contact_ax, global const float *contact_ay,
                     global const float *contact_az, global const float *turning_x, global const float *turning_y,
                     global const float *turning_z, ROWS, global int *words) {
  local int longest;
  int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) longest = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < step.count) {
    const float half_dt = 0.5f * step.dt;
    LaneVec3 velocity = load_vector(vx, vy, vz, i), spin = load_vector(spin_x, spin_y, spin_z, i);
    if (step.verlet) {
      velocity = integrate_velocity(velocity, load_vector(contact_ax, contact_ay, contact_az, i),
                                    vec_make(step.gravity[0], step.gravity[1], step.gravity[2]), half_dt);
      store_vector(vx, vy, vz, i, velocity);
    }
    LaneVec3 displacement = vec_mul(velocity, step.dt);
    store_vector(dx, dy, dz, i, displacement);
    if (step.verlet && step.rotation) {
      spin = integrate_spin(spin, load_vector(turning_x, turning_y, turning_z, i), half_dt);
      store_vector(spin_x, spin_y, spin_z, i, spin);
    }
    fill_row(step, i, velocity, displacement, spin, ROW_NAMES, place, motion, turn);
    atomic_max(&longest, as_int(vec_dot(displacement, displacement)));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_max(&words[step.words + DEM_WORD_LONGEST], longest);
}

/* ---- lists ---- */

static bool has_springs(int entry) { return ((unsigned)entry & DEM_HAS_SPRINGS) != 0; }

/* Entries of the last lists that have springs. */
kernel void dem_count_kept(int grains, global const long *start, global const int *partner, global int *counts) {
  int i = (int)get_global_id(0), count = 0;
  if (i >= grains) return;
  for (long k = start[i]; k < start[i + 1]; k++) count += has_springs(partner[k]);
  counts[i] = count;
}

kernel void dem_keep(int grains, global const long *start, global const int *partner, global const SpringPart *springs,
                     global const long *kept_start, global int *kept_partner, global SpringPart *kept_springs) {
  int i = (int)get_global_id(0);
  if (i >= grains) return;
  long to = kept_start[i];
  for (long k = start[i]; k < start[i + 1]; k++) {
    if (!has_springs(partner[k])) continue;
    kept_partner[to] = partner[k];
    for (int q = 0; q < DEM_SPRING; q++) kept_springs[DEM_SPRING * to + q] = springs[DEM_SPRING * k + q];
    to++;
  }
}

/* Springs of the entry, from the last lists, where these two had any. */
static int carry(DemListShared lists, int i, int j, global const int *row, global const long *last_start,
                 global const int *last_partner, global const SpringPart *last_springs, global SpringPart *to) {
  int own = row[i] - 1, other = row[j] - 1;
  if (own < 0 || other < 0 || own >= lists.last_count || other >= lists.last_count) return j;
  float sign = (own < other) == (i < j) ? 1.f : -1.f;
  for (long k = last_start[own]; k < last_start[own + 1]; k++)
    if (last_partner[k] == (int)((unsigned)other | DEM_HAS_SPRINGS)) {
      for (int q = 0; q < DEM_SPRING; q++) to[q] = sign * last_springs[DEM_SPRING * k + q];
      return (int)((unsigned)j | DEM_HAS_SPRINGS);
    }
  return j;
}

/* In the order in which the CPU adds up: grains of later windows, of earlier ones, of the same; each by storage. */
kernel void dem_list(DemListShared lists, global const long *start, global const int *index, global const int *row,
                     global const long *last_start, global const int *last_partner, global const SpringPart *last_springs,
                     global int *partner, global SpringPart *springs) {
  int i = (int)get_global_id(0);
  if (i >= lists.count) return;
  long at = start[i];
  for (int pass = 0; pass < 3; pass++)
    for (long k = start[i]; k < start[i + 1]; k++) {
      int j = index[k], kind = j / lists.window == i / lists.window ? 2 : j > i ? 0 : 1;
      if (kind != pass) continue;
      partner[at] = carry(lists, i, j, row, last_start, last_partner, last_springs, springs + DEM_SPRING * at);
      at++;
    }
}

/* ---- solids ---- */

/* Poses and shapes; the state's origin and how solids move (see DEM_SOLID_DOUBLES). */
typedef struct Solids {
  SolidsThere there;
  global const double *frame;
  DemLagShared lag;
} Solids;

static Vec3 of_doubles(global const double *from) { return vec3(from[0], from[1], from[2]); }

static global const double *frame_of(Solids solids, int solid) {
  return solids.frame + DEM_ORIGIN_DOUBLES + DEM_SOLID_DOUBLES * solid;
}

static SurfaceMotion motion_of(Solids solids, int solid) {
  global const double *from = frame_of(solids, solid);
  const SurfaceMotion motion = {of_doubles(from + DEM_SOLID_CENTER), of_doubles(from + DEM_SOLID_VELOCITY),
                                of_doubles(from + DEM_SOLID_SPIN)};
  return motion;
}

#define PLACES                                                                                                         \
  global const float *x, global const float *y, global const float *z, global const float *low_x,                     \
      global const float *low_y, global const float *low_z, global const float *dx, global const float *dy,           \
      global const float *dz

/* Where a grain is at the time of the forces, in the world frame. */
static Vec3 place_of(DemShared step, int i, global const double *frame, PLACES) {
  const double share = step.verlet ? 1 : 0;
  return vec3(frame[0] + (double)x[i] + ((double)low_x[i] + share * (double)dx[i]),
              frame[1] + (double)y[i] + ((double)low_y[i] + share * (double)dy[i]),
              frame[2] + (double)z[i] + ((double)low_z[i] + share * (double)dz[i]));
}

/* Points of a solid within reach of a place, in its frame. */
static int touches_of(Solids solids, int index, Vec3 at, double reach, ShapePoint touch[SHAPE_CONTACTS_MAX]) {
  global const SolidThere *solid = solids.there.solid + index;
  const double lag = frame_of(solids, index)[DEM_SOLID_MOVABLE] != 0 ? solids.lag.movable : solids.lag.led;
  return touches_there(solids.there, solid, solid_local(solid, surface_seen(motion_of(solids, index), at, lag)), reach,
                       touch);
}

static void set_point(DemShared step, DemWall *wall, Vec3 point) {
  const double quantum = (double)step.quantum;
  wall->point[0] = (int)surface_quanta(point.x, quantum);
  wall->point[1] = (int)surface_quanta(point.y, quantum);
  wall->point[2] = (int)surface_quanta(point.z, quantum);
}

static void store_floats(float to[3], Vec3 from) {
  to[0] = (float)from.x, to[1] = (float)from.y, to[2] = (float)from.z;
}

/* ---- contacts with solids that may come about while the lists hold ---- */

/* Who of a grain's contacts with a solid: its point and its key. */
typedef struct Near {
  ShapePoint point;
  Vec3 normal;
  int key;
} Near;

/* Those with one solid, by their keys. The points come nearest first: sums in that order would depend on when the list
 * was made. */
static int near_of(DemListShared lists, Solids solids, int index, Vec3 at, double radius,
                   Near near[SHAPE_CONTACTS_MAX]) {
  global const SolidThere *solid = solids.there.solid + index;
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  const int found = touches_of(solids, index, at, radius + lists.margin, touch);
  for (int k = 0; k < found; k++) {
    Near own = {touch[k], solid_direction(solid, touch[k].normal), 0};
    own.key = index * DEM_SOLID_FACES + face_there(solid, own.normal, touch[k].face);
    int to = k;
    for (; to > 0 && near[to - 1].key > own.key; to--) near[to] = near[to - 1];
    near[to] = own;
  }
  return found;
}

#define NEAR_WALLS                                                                                                     \
  global const uint *near_bits, global const double *frame, DemLagShared lag, SOLIDS_THERE, PLACES,                   \
      global const float *radius

/* How many. */
kernel void dem_count_walls(DemListShared lists, DemShared step, NEAR_WALLS, global int *counts) {
  int i = (int)get_global_id(0), count = 0;
  if (i >= lists.count) return;
  const Solids solids = {solids_there(solid, numbers, values, triangle), frame, lag};
  for (int word = 0; word < lists.words; word++)
    for (uint bits = near_bits[i * lists.words + word]; bits != 0; bits &= bits - 1) {
      Near near[SHAPE_CONTACTS_MAX];
      count += near_of(lists, solids, 32 * word + 31 - (int)clz(bits & (0u - bits)),
                       place_of(step, i, frame, x, y, z, low_x, low_y, low_z, dx, dy, dz), (double)radius[i], near);
    }
  counts[i] = count;
}

/* A flat face at rest: the foot of where the grain was when the lists were made, or of where it is. */
static Vec3 foot_of(DemListShared lists, Solids solids, DemWall wall, Near near, Vec3 at, Vec3 built, double radius) {
  global const SolidThere *solid = solids.there.solid + wall.solid;
  const Vec3 origin = of_doubles(solids.frame);
  ShapePoint there[SHAPE_CONTACTS_MAX];
  const int found = touches_there(solids.there, solid, solid_local(solid, vec3_add(origin, built)),
                                  radius + lists.margin, there);
  for (int k = 0; k < found; k++) {
    const Vec3 normal = solid_direction(solid, there[k].normal);
    if (face_there(solid, normal, there[k].face) == wall.face_number)
      return vec3_madd(built, normal, -there[k].distance);
  }
  return vec3_sub(vec3_madd(at, near.normal, -near.point.distance), origin);
}

/* Springs of the contact, from the last lists, where the grain had it. */
static void carry_wall(DemListShared lists, int own, int key, global const long *last_start,
                       global const int *last_key, global const SpringPart *last_springs, global SpringPart *to) {
  for (int q = 0; q < DEM_SPRING; q++) to[q] = 0;
  if (own < 0 || own >= lists.last_count) return;
  for (long p = last_start[own]; p < last_start[own + 1]; p++)
    if (last_key[p] == key)
      for (int q = 0; q < DEM_SPRING; q++) to[q] = last_springs[DEM_SPRING * p + q];
}

kernel void dem_fill_walls(DemListShared lists, DemShared step, NEAR_WALLS, global const float *built_x,
                           global const float *built_y, global const float *built_z, global const long *start,
                           global const int *row, global const long *last_start, global const int *last_key,
                           global const SpringPart *last_springs, global int *key, global DemWall *walls,
                           global SpringPart *springs) {
  int i = (int)get_global_id(0);
  if (i >= lists.count || start[i] == start[i + 1]) return;
  const Solids solids = {solids_there(solid, numbers, values, triangle), frame, lag};
  const Vec3 at = place_of(step, i, frame, x, y, z, low_x, low_y, low_z, dx, dy, dz);
  const Vec3 built = vec3((double)built_x[i], (double)built_y[i], (double)built_z[i]);
  long to = start[i];
  for (int word = 0; word < lists.words; word++)
    for (uint bits = near_bits[i * lists.words + word]; bits != 0; bits &= bits - 1) {
      const int index = 32 * word + 31 - (int)clz(bits & (0u - bits));
      const SurfaceMotion motion = motion_of(solids, index);
      global const double *own = frame_of(solids, index);
      Near near[SHAPE_CONTACTS_MAX];
      const int found = near_of(lists, solids, index, at, (double)radius[i], near);
      for (int k = 0; k < found; k++, to++) {
        DemWall wall = {.key = near[k].key, .solid = index, .face_number = near[k].key % DEM_SOLID_FACES};
        const double distance = near[k].point.distance;
        Vec3 point = vec3_sub(surface_point(at, near[k].normal, distance, (double)radius[i]), of_doubles(frame));
        wall.found_anew = own[DEM_SOLID_FLAT] == 0;
        if (!wall.found_anew) {
          store_floats(wall.face, near[k].normal);
          point = foot_of(lists, solids, wall, near[k], at, built, (double)radius[i]);
        }
        set_point(step, &wall, point);
        store_floats(wall.velocity, surface_point_velocity(motion, at, near[k].normal, distance));
        store_floats(wall.spin, motion.spin);
        wall.inverse_mass = (float)own[DEM_SOLID_INVERSE_MASS];
        wall.column = (float)(lists.materials + index);
        walls[to] = wall;
        key[to] = wall.key;
        carry_wall(lists, row[i] - 1, wall.key, last_start, last_key, last_springs, springs + DEM_SPRING * to);
      }
    }
}

/* Where the lists are from now on. */
kernel void dem_number(int count, global int *row) {
  int i = (int)get_global_id(0);
  if (i < count) row[i] = i + 1;
}

/* ---- forces ---- */

typedef struct Grain {
  ContactSide side;
  float column;
} Grain;

static ContactPosition position_of(float4 place) {
  ContactPosition p = {as_int(place.x), as_int(place.y), as_int(place.z)};
  return p;
}

static Grain grain_of(float4 place, float4 motion, float4 turn) {
  Grain g;
  g.side.position = position_of(place);
  g.side.radius = place.w;
  g.side.velocity = vector_of(motion);
  g.side.inverse_mass = motion.w;
  g.side.spin = vector_of(turn);
  g.column = turn.w;
  return g;
}

static ContactConstants load_constants(global const float *table, float row, float column, int columns) {
  global const ContactConstants *at = (global const ContactConstants *)table;
  return at[(int)(row * (float)columns + column)];
}

static ContactSprings load_springs(global const SpringPart *from, bool bonds) {
  ContactSprings s;
#if DEM_ROLLING
  const SpringPart first = from[0], second = from[1], third = from[2];
  s.shear = vec_make(first.x, first.y, second.x);
  s.rolling = vec_make(second.y, third.x, third.y);
#else
  s.shear = vec_make(from[0], from[1], from[2]);
  s.rolling = vec_zero();
#endif
  s.slides = contact_stored_slides(s.shear.x);
  s.bonded = 0;
  if (bonds) {
    s.bonded = contact_stored_bonded(s.shear.y);
    s.shear.y = contact_without_bit(s.shear.y);
  }
  return s;
}

static void store_springs(global SpringPart *to, ContactSprings s, bool bonds) {
  const float x = contact_store_slides(s.shear.x, s.slides);
  const float y = bonds ? contact_store_bonded(s.shear.y, s.bonded) : s.shear.y;
#if DEM_ROLLING
  to[0] = (SpringPart)(x, y);
  to[1] = (SpringPart)(s.shear.z, s.rolling.x);
  to[2] = (SpringPart)(s.rolling.y, s.rolling.z);
#else
  to[0] = x, to[1] = y, to[2] = s.shear.z;
#endif
}

/* Sums of a grain over its contacts. */
typedef struct Sums {
  LaneVec3 force, lever, moment;
  float stiffest;
} Sums;

static ContactSwitches switches_of(bool solid) {
  ContactSwitches s = {solid, DEM_ROLLING, DEM_CAP_TOTAL, DEM_BONDS && !solid};
  return s;
}

/* The contact of grain i with j. */
static void add_pair(DemShared step, int i, Grain own, int entry, global const float *constants,
                     global const float4 *place, global const float4 *motion, global const float4 *turn,
                     global int *partner, global SpringPart *springs, Sums *sums) {
  const int j = (int)((unsigned)entry & ~DEM_HAS_SPRINGS);
  const ContactSurface surface = {vec_zero(), 0};
  const ContactSwitches switches = switches_of(false);
  const bool had = has_springs(entry), first = i < j;
  Grain other = grain_of(place[j], motion[j], turn[j]), a = first ? own : other, b = first ? other : own;
  ContactGeometry geometry = contact_geometry(a.side, b.side, surface, step.quantum, switches);
  ContactSprings before = contact_no_forces().springs;
  if (had) before = load_springs(springs, DEM_BONDS);
  Mask acts = geometry.touches;
  if (DEM_BONDS) acts = contact_holds(geometry, before.bonded, a.side.radius, b.side.radius);
  if (!acts) {
    if (had) *partner = j;
    return;
  }
  ContactConstants k = load_constants(constants, a.column, b.column, step.columns);
  ContactForces f = contact_forces(a.side, b.side, surface, geometry, k, before, step.dt, switches);
  store_springs(springs, f.springs, DEM_BONDS);
  if (!had) *partner = (int)((unsigned)j | DEM_HAS_SPRINGS);
  sums->force = first ? vec_add(sums->force, f.force) : vec_sub(sums->force, f.force);
  sums->lever = vec_add(sums->lever, f.lever);
  if (DEM_ROLLING) sums->moment = first ? vec_add(sums->moment, f.moment) : vec_sub(sums->moment, f.moment);
  sums->stiffest = real_max(sums->stiffest, f.frequency_squared);
}

/* Those that may act, of a chunk of a list, as bits. */
static unsigned looked_at(DemShared step, ContactPosition at, float radius, global const int *partner, int count,
                          global const float4 *place) {
  unsigned some = 0;
  for (int k = 0; k < count; k += DEM_ABREAST) {
    unsigned entry[DEM_ABREAST];
    float4 other[DEM_ABREAST];
    for (int l = 0; l < DEM_ABREAST; l++) entry[l] = (unsigned)partner[min(k + l, count - 1)];
    for (int l = 0; l < DEM_ABREAST; l++) other[l] = place[entry[l] & ~DEM_HAS_SPRINGS];
    for (int l = 0; l < DEM_ABREAST; l++) {
      const Mask near = contact_is_near(at, position_of(other[l]), step.quantum, radius + other[l].w);
      if (k + l < count && (near || (entry[l] & DEM_HAS_SPRINGS))) some |= 1u << (k + l);
    }
  }
  return some;
}

/* ---- contacts with solids ---- */

/* As boundary_contacts.c: the point of the solid that a grain of this radius at `at` is in, by the face that is listed.
 */
static void find_surface(DemShared step, Solids solids, Vec3 at, float radius, DemWall *wall) {
  global const SolidThere *solid = solids.there.solid + wall->solid;
  const SurfaceMotion motion = motion_of(solids, wall->solid);
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  Vec3 normal = vec3(0, 0, 0);
  int k = 0, count = touches_of(solids, wall->solid, at, (double)radius, touch);
  for (; k < count; k++) {
    normal = solid_direction(solid, touch[k].normal);
    if (face_there(solid, normal, touch[k].face) == wall->face_number) break;
  }
  wall->radius = k < count ? 0.f : -INFINITY;
  if (k == count) return;
  set_point(step, wall,
            vec3_sub(surface_point(at, normal, touch[k].distance, (double)radius), of_doubles(solids.frame)));
  store_floats(wall->velocity, surface_point_velocity(motion, at, normal, touch[k].distance));
  store_floats(wall->spin, motion.spin);
}

/* What a contact exerts on its solid; `at`: where the grain is. */
static void react(DemShared step, Grain own, DemWall wall, ContactForces f, Vec3 at, Solids solids,
                  global int *words) {
  if (f.force.x == 0 && f.force.y == 0 && f.force.z == 0) return;
  const ContactPosition from = own.side.position;
  const double quantum = (double)step.quantum;
  const Vec3 to = vec3((double)int_wrapping_sub(wall.point[0], from.x) * quantum,
                       (double)int_wrapping_sub(wall.point[1], from.y) * quantum,
                       (double)int_wrapping_sub(wall.point[2], from.z) * quantum);
  const Vec3 point =
      vec3_add(at, reaction_arm(to, wall.face[0], wall.face[1], wall.face[2], own.side.radius, wall.radius));
  const Vec3 force = vec3(-(double)f.force.x, -(double)f.force.y, -(double)f.force.z);
  Vec3 torque = vec3(0, 0, 0);
  if (DEM_ROLLING) torque = vec3(-(double)f.moment.x, -(double)f.moment.y, -(double)f.moment.z);
  torque = vec3_add(torque, vec3_cross(vec3_sub(point, motion_of(solids, wall.solid).center), force));
  global int *sums = words + DEM_WORD_REACTIONS + DEM_REACTION_WORDS * wall.solid;
  add_long(sums, wrench_units(force.x));
  add_long(sums + 2, wrench_units(force.y));
  add_long(sums + 4, wrench_units(force.z));
  add_long(sums + 6, wrench_units(torque.x));
  add_long(sums + 8, wrench_units(torque.y));
  add_long(sums + 10, wrench_units(torque.z));
}

static void add_wall(DemShared step, Grain own, DemWall wall, global const float *constants, global SpringPart *springs,
                     Vec3 at, Solids solids, global int *words, Sums *sums) {
  const ContactSwitches switches = switches_of(true);
  ContactSide solid;
  ContactSurface surface;
  if (!DEM_FLAT && wall.found_anew) find_surface(step, solids, at, own.side.radius, &wall);
  solid.position.x = wall.point[0], solid.position.y = wall.point[1], solid.position.z = wall.point[2];
  solid.velocity = vec_make(wall.velocity[0], wall.velocity[1], wall.velocity[2]);
  solid.spin = vec_make(wall.spin[0], wall.spin[1], wall.spin[2]);
  solid.radius = wall.radius;
  solid.inverse_mass = wall.inverse_mass;
  surface.face = vec_make(wall.face[0], wall.face[1], wall.face[2]);
  surface.curvature = wall.curvature;
  ContactGeometry geometry = contact_geometry(own.side, solid, surface, step.quantum, switches);
  ContactForces f = contact_no_forces();
  if (geometry.touches) {
    ContactConstants k = load_constants(constants, own.column, wall.column, step.columns);
    f = contact_forces(own.side, solid, surface, geometry, k, load_springs(springs, false), step.dt, switches);
    react(step, own, wall, f, at, solids, words);
  }
  store_springs(springs, f.springs, false);
  sums->force = vec_add(sums->force, f.force);
  sums->lever = vec_add(sums->lever, f.lever);
  if (DEM_ROLLING) sums->moment = vec_add(sums->moment, f.moment);
  sums->stiffest = real_max(sums->stiffest, f.frequency_squared);
}

/* Verlet has kicked half already. Euler kicks once, for the whole step, and then knows its displacement. Returns the
 * square of the acceleration. */
static float kick(DemShared step, int i, float radius, float inverse_mass, Sums sums, global float *vx,
                  global float *vy, global float *vz, global float *dx, global float *dy, global float *dz,
                  global float *spin_x, global float *spin_y, global float *spin_z, global float *contact_ax,
                  global float *contact_ay, global float *contact_az, global float *turning_x,
                  global float *turning_y, global float *turning_z) {
  const float dt = step.verlet ? 0.5f * step.dt : step.dt;
  const LaneVec3 gravity = vec_make(step.gravity[0], step.gravity[1], step.gravity[2]);
  LaneVec3 acceleration = vec_mul(sums.force, inverse_mass);
  LaneVec3 v = integrate_velocity(load_vector(vx, vy, vz, i), acceleration, gravity, dt);
  LaneVec3 all = vec_add(acceleration, gravity);
  store_vector(vx, vy, vz, i, v);
  if (step.verlet) store_vector(contact_ax, contact_ay, contact_az, i, acceleration);
  else store_vector(dx, dy, dz, i, vec_mul(v, dt));
  if (step.rotation) {
    LaneVec3 angular = integrate_angular_acceleration(sums.lever, sums.moment, radius, inverse_mass);
    LaneVec3 spin = integrate_spin(load_vector(spin_x, spin_y, spin_z, i), angular, dt);
    store_vector(spin_x, spin_y, spin_z, i, spin);
    if (step.verlet) store_vector(turning_x, turning_y, turning_z, i, angular);
  }
  return vec_dot(all, all);
}

kernel void dem_forces(DemShared step, global const float *constants, global const float4 *place,
                       global const float4 *motion, global const float4 *turn, global const long *start,
                       global int *partner, global SpringPart *springs, global const long *wall_start,
                       global const DemWall *walls, global SpringPart *wall_springs, global const double *frame,
                       DemLagShared lag, SOLIDS_THERE,
                       global const float *x, global const float *y, global const float *z,
                       global const float *low_x, global const float *low_y, global const float *low_z,
                       global float *vx, global float *vy, global float *vz, global float *dx, global float *dy,
                       global float *dz, global float *spin_x, global float *spin_y, global float *spin_z,
                       global float *contact_ax, global float *contact_ay, global float *contact_az,
                       global float *turning_x, global float *turning_y, global float *turning_z,
                       global int *words) {
  local int stiffest, acceleration;
  int i = (int)get_global_id(0);
  if (get_local_id(0) == 0) stiffest = acceleration = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < step.count) {
    const Grain own = grain_of(place[i], motion[i], turn[i]);
    Sums sums = {vec_zero(), vec_zero(), vec_zero(), 0};
    const long end = start[i + 1];
    for (long from = start[i]; from < end; from += DEM_CHUNK) {
      const int count = end - from < DEM_CHUNK ? (int)(end - from) : DEM_CHUNK;
      unsigned some = looked_at(step, own.side.position, own.side.radius, partner + from, count, place);
      for (; some; some &= some - 1) {
        const long k = from + 31 - (int)clz(some & (0u - some));
        add_pair(step, i, own, partner[k], constants, place, motion, turn, partner + k, springs + DEM_SPRING * k,
                 &sums);
      }
    }
    const long last = wall_start[i + 1];
    if (wall_start[i] < last) {
      const Vec3 at = place_of(step, i, frame, x, y, z, low_x, low_y, low_z, dx, dy, dz);
      const Solids solids = {solids_there(solid, numbers, values, triangle), frame, lag};
      for (long k = wall_start[i]; k < last; k++)
        add_wall(step, own, walls[k], constants, wall_springs + DEM_SPRING * k, at, solids, words + step.words, &sums);
    }
    float square = kick(step, i, own.side.radius, own.side.inverse_mass, sums, vx, vy, vz, dx, dy, dz, spin_x, spin_y,
                        spin_z, contact_ax, contact_ay, contact_az, turning_x, turning_y, turning_z);
    atomic_max(&stiffest, as_int(sums.stiffest));
    atomic_max(&acceleration, as_int(square));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    atomic_max(&words[step.words + DEM_WORD_STIFFEST], stiffest);
    atomic_max(&words[step.words + DEM_WORD_ACCELERATION], acceleration);
  }
}
