/* Forces of contacts, eight abreast: what contact_law.h needs is gathered, what it returns is added to the grains. */
#include "methods/dem/contact_kernels.h"
#include "methods/dem/lanes.h"

enum { AHEAD = 4 }; /* groups whose rows are fetched beforehand */

/* ---- gather ---- */

typedef struct Side {
  ContactSide side;
  Wide column; /* of the constants; of a grain: its material */
} Side;

WIDE_INLINE Side load_grains(const float (*rows)[4], const int32_t *quads) {
  Side s;
  Wide x, y, z;
  wide_gather4(rows, quads, &x, &y, &z, &s.side.radius);
  wide_gather4(rows + 1, quads, &s.side.velocity.x, &s.side.velocity.y, &s.side.velocity.z, &s.side.inverse_mass);
  wide_gather4(rows + 2, quads, &s.side.spin.x, &s.side.spin.y, &s.side.spin.z, &s.column);
  s.side.position = (ContactPosition){(WideInt)x, (WideInt)y, (WideInt)z};
  return s;
}

WIDE_INLINE LaneVec3 load_vector(const float (*from)[LANES]) {
  return vec_make(wide_load(from[0]), wide_load(from[1]), wide_load(from[2]));
}

WIDE_INLINE Side load_solids(const float (*from)[LANES]) {
  LaneVec3 point = load_vector(from + SURFACE_POINT);
  return (Side){.side = {.position = {(WideInt)point.x, (WideInt)point.y, (WideInt)point.z},
                         .velocity = load_vector(from + SURFACE_VELOCITY),
                         .spin = load_vector(from + SURFACE_SPIN),
                         .radius = wide_load(from[SURFACE_RADIUS]),
                         .inverse_mass = wide_load(from[SURFACE_INVERSE_MASS])},
                .column = wide_load(from[SURFACE_COLUMN])};
}

WIDE_INLINE ContactConstants set_constants(const DemConstants *one) {
#define DEM_SET(name) .name = wide_set(one->name),
  return (ContactConstants){CONTACT_CONSTANTS(DEM_SET)};
#undef DEM_SET
}

/* Each lane's own. It is rarely called, and a copy of it in each loop would be the larger part of them. */
static __attribute__((noinline)) void mixed_constants(const DemConstantsTable *table, Wide at,
                                                      ContactConstants *mixed) {
  for (int l = 0; l < LANES; l++) {
    const DemConstants *one = &table->items[(int32_t)at[l]];
#define DEM_SET_LANE(name) mixed->name[l] = one->name;
    CONTACT_CONSTANTS(DEM_SET_LANE)
#undef DEM_SET_LANE
  }
}

/* Nearly always the eight contacts have the same constants. */
WIDE_INLINE ContactConstants load_constants(const DemConstantsTable *table, Wide row, Wide column) {
  Wide at = row * wide_set((float)table->columns) + column, first = wide_set(at[0]);
  ContactConstants constants = set_constants(&table->items[(int32_t)at[0]]);
  if (wide_bits(wide_less(at, first) | wide_less(first, at)) == 0) return constants;
  ContactConstants mixed; /* a copy: what a pointer leads to would not stay in registers */
  mixed_constants(table, at, &mixed);
  return mixed;
}

/* What the loop is compiled for, or, where it is not a constant, what it asks at every group. */
typedef struct Kind {
  bool solid, outer, rolling, one_material, bonds;
} Kind;

WIDE_INLINE ContactSprings load_springs(const float *from, Kind kind) {
  const float(*lanes)[LANES] = (const float(*)[LANES])from;
  ContactSprings s = {.shear = load_vector(lanes)};
  if (kind.rolling) s.rolling = load_vector(lanes + 3);
  s.slides = contact_stored_slides(s.shear.x);
  if (kind.bonds) {
    s.bonded = contact_stored_bonded(s.shear.y);
    s.shear.y = contact_without_bit(s.shear.y);
  }
  return s;
}

/* ---- scatter ---- */

WIDE_INLINE void store_springs(float *to, Kind kind, ContactSprings s) {
  wide_store(to, contact_store_slides(s.shear.x, s.slides));
  wide_store(to + LANES, kind.bonds ? contact_store_bonded(s.shear.y, s.bonded) : s.shear.y);
  wide_store(to + 2 * LANES, s.shear.z);
  if (!kind.rolling) return;
  wide_store(to + 3 * LANES, s.rolling.x);
  wide_store(to + 4 * LANES, s.rolling.y);
  wide_store(to + 5 * LANES, s.rolling.z);
}

/* Where the forces of contacts go. */
typedef struct Target {
  float *sums;               /* of the grains of the window */
  const int32_t *first;      /* quads */
  const int32_t *second;     /* quads; pairs only */
  int32_t base;              /* quads of the window's first row */
  float (*exerted)[DEM_SUM]; /* boundary contacts and outer pairs: on the first grain */
} Target;

/* Adds eight contacts one after the other. Where they have a grain in common the next load waits for the last store,
 * but there is work enough until then. `reversed`: the second grain gets the opposite, see ContactForces. */
WIDE_INLINE void add_quads(const Target *target, int64_t at, int part, Kind kind, LaneVec3 value, bool reversed) {
  WideQuad q[LANES];
  turn_to_quads(value, q);
  for (int l = 0; l < LANES; l++) {
    if (kind.solid || kind.outer) *(WideQuad *)(target->exerted[at + l] + 4 * part) = q[l];
    if (kind.outer) continue;
    WideQuad *own = (WideQuad *)(target->sums + 4 * (target->first[at + l] - target->base + part));
    *own += q[l];
    if (kind.solid) continue;
    WideQuad *other = (WideQuad *)(target->sums + 4 * (target->second[at + l] - target->base + part));
    if (reversed) *other -= q[l];
    else *other += q[l];
  }
}

WIDE_INLINE void add_forces(const Target *target, int64_t at, Kind kind, ContactForces f) {
  add_quads(target, at, 0, kind, f.force, true);
  add_quads(target, at, 1, kind, f.lever, false);
  if (kind.rolling) add_quads(target, at, 2, kind, f.moment, true);
}

/* ---- a group of eight ---- */

/* What all groups share. */
typedef struct Common {
  Wide quantum, dt;
  ContactConstants constants; /* where there is one material */
} Common;

/* Returns the squared frequencies of the contacts. */
WIDE_INLINE Wide group_forces(const DemStep *work, const DemContacts *contacts, int64_t group, const Target *target,
                              const Common *common, Kind kind) {
  const float(*rows)[4] = (const float(*)[4])work->rows.quads;
  float *memory = contacts->springs + group * work->topology->spring_size * LANES;
  const ContactSwitches switches = {kind.solid, kind.rolling, work->settings->cap_total, kind.bonds};
  ContactSurface surface = {vec_zero(), wide_set(0)};
  Side a = load_grains(rows, contacts->first + group * LANES), b;
  if (kind.solid) {
    const float(*solids)[LANES] = (const float(*)[LANES])contacts->surfaces + group * DEM_SURFACE;
    b = load_solids(solids);
    surface = (ContactSurface){load_vector(solids + SURFACE_FACE), wide_load(solids[SURFACE_CURVATURE])};
  } else {
    b = load_grains(rows, contacts->second + group * LANES);
  }
  ContactGeometry geometry = contact_geometry(a.side, b.side, surface, common->quantum, switches);
  Mask acts = geometry.touches;
  if (kind.bonds) {
    Mask bonded = contact_stored_bonded(wide_load(memory + LANES));
    acts = contact_holds(geometry, bonded, a.side.radius, b.side.radius);
  }
  if (!mask_any(acts)) {
    ContactForces none = contact_no_forces();
    store_springs(memory, kind, none.springs);
    if (kind.solid || kind.outer) add_forces(target, group * LANES, kind, none);
    return none.frequency_squared;
  }
  ContactConstants constants =
      kind.one_material ? common->constants : load_constants(work->constants, a.column, b.column);
  ContactForces forces =
      contact_forces(a.side, b.side, surface, geometry, constants, load_springs(memory, kind), common->dt, switches);
  store_springs(memory, kind, forces.springs);
  add_forces(target, group * LANES, kind, forces);
  return forces.frequency_squared;
}

WIDE_INLINE float groups(const DemStep *work, const DemContacts *contacts, int64_t b, int64_t e, const Target *target,
                         Kind kind) {
  Common common = {.quantum = wide_set((float)work->topology->quantum), .dt = wide_set(work->dt)};
  if (kind.one_material) common.constants = set_constants(work->constants->items);
  Wide stiffest = wide_set(0);
  for (int64_t g = b / LANES; g < e / LANES; g++) {
    if (!kind.solid && (g + AHEAD) * LANES < e)
      for (int l = 0; l < LANES; l++) __builtin_prefetch(work->rows.quads[contacts->second[(g + AHEAD) * LANES + l]]);
    stiffest = wide_max(stiffest, group_forces(work, contacts, g, target, &common, kind));
  }
  float largest = 0;
  for (int l = 0; l < LANES; l++) largest = stiffest[l] > largest ? stiffest[l] : largest;
  return largest;
}

/* Spheres of one material that roll have a loop of their own: it is what nearly all scenes are. */
float KERNEL(dem_pair_forces)(const DemStep *work, int64_t b, int64_t e, int64_t base, float (*sums)[DEM_SUM]) {
  const DemContacts *pairs = &work->topology->pairs;
  const Target target = {sums[0], pairs->first, pairs->second, (int32_t)(DEM_ROW * base), NULL};
  bool rolling = work->settings->rolling, one_material = work->constants->rows == 1, bonds = work->settings->bonds;
  if (rolling && one_material && !bonds)
    return groups(work, pairs, b, e, &target, (Kind){.rolling = true, .one_material = true});
  return groups(work, pairs, b, e, &target, (Kind){.rolling = rolling, .one_material = one_material, .bonds = bonds});
}

float KERNEL(dem_outer_forces)(const DemStep *work, int64_t b, int64_t e) {
  const Target target = {.exerted = work->forces.outer};
  return groups(work, &work->topology->outer, b, e, &target,
                (Kind){.outer = true, .rolling = work->settings->rolling, .bonds = work->settings->bonds});
}

float KERNEL(dem_boundary_forces)(const DemStep *work, int64_t b, int64_t e, int64_t base, float (*sums)[DEM_SUM],
                                  float (*exerted)[DEM_SUM]) {
  const DemContacts *boundary = &work->topology->boundary;
  const Target target = {sums[0], boundary->first, NULL, (int32_t)(DEM_ROW * base), exerted - b};
  return groups(work, boundary, b, e, &target, (Kind){.solid = true, .rolling = work->settings->rolling});
}
