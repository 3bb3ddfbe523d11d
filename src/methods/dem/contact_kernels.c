/* The contact law (Section 3.2), eight contacts abreast. */
#include "methods/dem/contact_kernels.h"
#include "methods/dem/lanes.h"

#define TINY 1e-30f
#define TURN_LEAST 1e-7f /* of a spring's square that turns out of the plane in a step: less than floats notice */
#define TURN_MOST 0.2f
/* A centre nearer to a face than this many radii, or behind it, is treated as this near: the normal stays. */
#define NEAREST 0.05f

enum { AHEAD = 4 }; /* groups whose rows are fetched beforehand */

/* ---- sides ---- */

typedef struct Side {
  WideInt x, y, z;
  LaneVec3 v, w;
  Wide radius, inverse_mass, column;
} Side;

WIDE_INLINE Side load_side(const float (*rows)[4], const int32_t *quads) {
  Side s;
  Wide x, y, z;
  wide_gather4(rows, quads, &x, &y, &z, &s.radius);
  wide_gather4(rows + 1, quads, &s.v.x, &s.v.y, &s.v.z, &s.inverse_mass);
  wide_gather4(rows + 2, quads, &s.w.x, &s.w.y, &s.w.z, &s.column);
  s.x = (WideInt)x;
  s.y = (WideInt)y;
  s.z = (WideInt)z;
  return s;
}

WIDE_INLINE Side load_ghost(const float (*ghost)[LANES], LaneVec3 *face, Wide *curvature) {
  Side s;
  s.x = wide_load_int((const int32_t *)ghost[0]);
  s.y = wide_load_int((const int32_t *)ghost[1]);
  s.z = wide_load_int((const int32_t *)ghost[2]);
  *face = (LaneVec3){wide_load(ghost[3]), wide_load(ghost[4]), wide_load(ghost[5])};
  s.v = (LaneVec3){wide_load(ghost[6]), wide_load(ghost[7]), wide_load(ghost[8])};
  s.w = (LaneVec3){wide_load(ghost[9]), wide_load(ghost[10]), wide_load(ghost[11])};
  s.radius = wide_load(ghost[12]);
  *curvature = wide_load(ghost[13]);
  s.inverse_mass = wide_load(ghost[14]);
  s.column = wide_load(ghost[15]);
  return s;
}

WIDE_INLINE LaneVec3 between(const Side *a, const Side *b, Wide quantum) {
  return (LaneVec3){__builtin_convertvector(a->x - b->x, Wide) * quantum,
                    __builtin_convertvector(a->y - b->y, Wide) * quantum,
                    __builtin_convertvector(a->z - b->z, Wide) * quantum};
}

typedef struct WideLaw {
#define DEM_WIDE_MEMBER(name) Wide name;
  DEM_LAW_FIELDS(DEM_WIDE_MEMBER)
#undef DEM_WIDE_MEMBER
} WideLaw;

WIDE_INLINE WideLaw set_law(const DemLaw *law) {
#define DEM_WIDE_SET(name) .name = wide_set(law->name),
  return (WideLaw){DEM_LAW_FIELDS(DEM_WIDE_SET)};
#undef DEM_WIDE_SET
}

/* Nearly always the eight contacts have one law. */
WIDE_INLINE WideLaw load_law(const DemLaws *laws, Wide row, Wide column) {
  Wide at = row * wide_set((float)laws->columns) + column, first = wide_set(at[0]);
  const DemLaw *law = &laws->items[(int32_t)at[0]];
  WideLaw wide = set_law(law);
  if (wide_bits(wide_less(at, first) | wide_less(first, at)) == 0) return wide;
  for (int l = 1; l < LANES; l++) {
    law = &laws->items[(int32_t)at[l]];
#define DEM_WIDE_LANE(name) wide.name[l] = law->name;
    DEM_LAW_FIELDS(DEM_WIDE_LANE)
#undef DEM_WIDE_LANE
  }
  return wide;
}

/* ---- springs ---- */

typedef struct Springs {
  LaneVec3 shear, roll;
  WideInt slides;
} Springs;

/* The last bit of the first float says whether the contact slides: one bit is cheaper than a float more per contact. */
WIDE_INLINE Springs load_springs(const float *from, bool rolling) {
  Springs s = {.shear = {wide_load(from), wide_load(from + LANES), wide_load(from + 2 * LANES)}};
  if (rolling)
    s.roll = (LaneVec3){wide_load(from + 3 * LANES), wide_load(from + 4 * LANES), wide_load(from + 5 * LANES)};
  s.slides = -((WideInt)s.shear.x & 1);
  return s;
}

WIDE_INLINE void store_springs(float *to, bool rolling, Springs s) {
  wide_store(to, (Wide)(((WideInt)s.shear.x & ~1) | (s.slides & 1)));
  wide_store(to + LANES, s.shear.y);
  wide_store(to + 2 * LANES, s.shear.z);
  if (!rolling) return;
  wide_store(to + 3 * LANES, s.roll.x);
  wide_store(to + 4 * LANES, s.roll.y);
  wide_store(to + 5 * LANES, s.roll.z);
}

/* A spring with its damper, cut at Coulomb's limit. `spring` advances; answers what it exerts. */
WIDE_INLINE LaneVec3 hold(LaneVec3 *spring, LaneVec3 rate, Wide stiffness_dt, Wide damping, Wide limit_static,
                          Wide limit_kinetic, bool cap_total, WideInt live, WideInt *slides) {
  LaneVec3 advanced = vec_sub(*spring, vec_mul(rate, stiffness_dt)), viscous = vec_mul(rate, damping);
  LaneVec3 tried = cap_total ? vec_sub(advanced, viscous) : advanced;
  Wide square = vec_dot(tried, tried), limit = wide_select(*slides, limit_kinetic, limit_static);
  WideInt slips = wide_less(limit * limit, square) & live;
  *slides = slips;
  *spring = advanced;
  if (wide_bits(slips)) {
    LaneVec3 cut = vec_mul(tried, limit_kinetic / wide_max(wide_sqrt(square), wide_set(TINY)));
    /* What the spring holds is such that with its damper it gives the limit. */
    *spring = vec_select(slips, cap_total ? vec_add(cut, viscous) : cut, advanced);
    tried = vec_select(slips, cut, tried);
  }
  return cap_total ? tried : vec_sub(tried, viscous);
}

/* Turns a spring that was tangential a step ago into the tangent plane of now, its length kept (to second order). */
WIDE_INLINE LaneVec3 turn_into_plane(LaneVec3 spring, LaneVec3 normal) {
  Wide out = vec_dot(spring, normal);
  LaneVec3 flat = vec_sub(spring, vec_mul(normal, out));
  Wide square = out * out, length = vec_dot(flat, flat);
  WideInt much = wide_less(length * wide_set(TURN_LEAST), square);
  if (wide_bits(much) == 0) return flat;
  Wide share = wide_min(square / wide_max(length, wide_set(TINY)), wide_set(TURN_MOST));
  return vec_mul(flat, wide_select(much, wide_set(1) + wide_set(0.5f) * share, wide_set(1)));
}

/* ---- the law ---- */

/* What a build of the loop takes as known. */
typedef struct Kind {
  bool solid, outer, rolling, one_law;
} Kind;

/* What all groups share. */
typedef struct Common {
  Wide quantum, dt;
  WideLaw law;
} Common;

/* Geometry of eight contacts. n points from the second to the first. */
typedef struct Touch {
  LaneVec3 r;
  Wide square, radii;
  WideInt touches;
  Wide curvature; /* of a solid's surface */
} Touch;

WIDE_INLINE Touch touch_of(const Side *a, const float (*ghost)[LANES], Side *b, Wide quantum, bool solid) {
  Touch t = {.curvature = wide_set(0)};
  LaneVec3 face = {t.curvature, t.curvature, t.curvature};
  if (solid) *b = load_ghost(ghost, &face, &t.curvature);
  t.r = between(a, b, quantum);
  t.radii = a->radius + b->radius;
  if (solid) {
    Wide away = wide_max(vec_dot(t.r, face), a->radius * wide_set(NEAREST));
    WideInt flat = wide_less(wide_set(0.5f), vec_dot(face, face));
    t.r = vec_select(flat, vec_mul(face, away), t.r);
  }
  t.square = vec_dot(t.r, t.r);
  t.touches = wide_less(t.square, t.radii * t.radii) & wide_less(wide_set(TINY), t.square);
  if (solid) t.touches &= wide_less(wide_set(0), t.radii);
  return t;
}

/* Adds what eight contacts exert to the sums of their grains, one after the other: where grains follow each other the
 * next load waits for the last store, but there is work enough until then. The reaction turns the force and the rolling
 * moment round, not the lever: both arms point to the contact. */
typedef struct Target {
  float *sums;               /* of the slab's first grain */
  const int32_t *first;      /* quads */
  const int32_t *second;     /* quads; of the slab's own pairs */
  int32_t base;              /* quads of the slab's first row */
  float (*results)[DEM_SUM]; /* solids and outer pairs: on the first grain */
} Target;

WIDE_INLINE void add_quads(const Target *target, int64_t at, int part, Kind kind, LaneVec3 value, bool turns_round) {
  WideQuad q[LANES];
  turn_to_quads(value, q);
  for (int l = 0; l < LANES; l++) {
    if (kind.solid || kind.outer) *(WideQuad *)(target->results[at + l] + 4 * part) = q[l];
    if (kind.outer) continue;
    WideQuad *own = (WideQuad *)(target->sums + 4 * (target->first[at + l] - target->base + part));
    *own += q[l];
    if (kind.solid) continue;
    WideQuad *other = (WideQuad *)(target->sums + 4 * (target->second[at + l] - target->base + part));
    if (turns_round) *other -= q[l];
    else *other += q[l];
  }
}

WIDE_INLINE void add_results(const Target *target, int64_t at, Kind kind, LaneVec3 force, LaneVec3 lever,
                             LaneVec3 moment) {
  add_quads(target, at, 0, kind, force, true);
  add_quads(target, at, 1, kind, lever, false);
  if (kind.rolling) add_quads(target, at, 2, kind, moment, true);
}

/* Forces of one group; answers the squared frequencies of the contacts. */
WIDE_INLINE Wide contact(const DemStep *work, const DemContacts *contacts, int64_t group, const Target *target,
                         const Common *common, Kind kind) {
  Wide zero = wide_set(0), one = wide_set(1), dt = common->dt;
  const float(*rows)[4] = (const float(*)[4])work->rows;
  float *memory = contacts->springs + group * work->topology->spring_size * LANES;
  Side a = load_side(rows, contacts->first + group * LANES), b;
  if (!kind.solid) b = load_side(rows, contacts->partner + group * LANES);
  const float(*ghost)[LANES] = kind.solid ? (const float(*)[LANES])contacts->ghost + group * DEM_GHOST : NULL;
  Touch t = touch_of(&a, ghost, &b, common->quantum, kind.solid);
  LaneVec3 none = {zero, zero, zero};
  if (wide_bits(t.touches) == 0) {
    store_springs(memory, kind.rolling, (Springs){none, none, t.touches});
    if (kind.solid || kind.outer) add_results(target, group * LANES, kind, none, none, none);
    return zero;
  }
  WideLaw law = kind.one_law ? common->law : load_law(work->laws, a.column, b.column);
  Wide apart = wide_sqrt(t.square), masses = a.inverse_mass + b.inverse_mass, both = masses * t.radii;
  /* One division serves three: the product is of the order of 1 / radius, so nothing leaves the range of floats. */
  Wide inverse = one / wide_max(both * apart, wide_set(TINY));
  Wide mass = inverse * t.radii * apart, per_radii = inverse * masses * apart;
  LaneVec3 normal = vec_mul(t.r, inverse * both);
  Wide overlap = (Wide)(t.touches & (WideInt)(t.radii - apart));
  Wide reduced = kind.solid ? a.radius / (one + a.radius * t.curvature) : a.radius * b.radius * per_radii;
  Wide stiffness = law.stiffness * wide_sqrt(overlap * (law.fixed + law.rooted * reduced));
  Wide damping = law.damping_mass * mass + law.damping_root * wide_sqrt(stiffness * mass);

  /* Normal force: Hertz and its damper, which never pulls. */
  LaneVec3 relative = vec_sub(a.v, b.v);
  Wide parting = vec_dot(relative, normal);
  Wide pressure = wide_max(stiffness * overlap - damping * parting, zero);

  /* Shear: the surfaces' velocity against each other. */
  Wide share = apart * per_radii;
  LaneVec3 turning = vec_mul(vec_add(vec_mul(a.w, a.radius), vec_mul(b.w, b.radius)), share);
  LaneVec3 sliding = vec_sub(vec_sub(relative, vec_mul(normal, parting)), vec_cross(turning, normal));
  Wide shear = law.shear_fixed + law.shear_ratio * stiffness;
  Wide shear_damping = law.shear_damping_mass * mass + law.shear_damping_share * damping;
  Springs springs = load_springs(memory, kind.rolling);
  springs.shear = turn_into_plane(springs.shear, normal);
  /* A contact that opens loses the shear force that its shrinking area held (Mindlin's constant only). */
  Wide opened = law.opening * wide_max(parting, zero) * dt;
  springs.shear = vec_mul(springs.shear, overlap / wide_max(overlap + opened, wide_set(TINY)));
  LaneVec3 friction = hold(&springs.shear, sliding, shear * dt, shear_damping, law.mu_static * pressure,
                           law.mu_kinetic * pressure, work->settings->cap_total, t.touches, &springs.slides);

  /* Rolling and twisting: the same on the relative spin, with the effective radius as its arm. */
  LaneVec3 moment = none;
  if (kind.rolling) {
    Wide arm = reduced * reduced, limit = law.mu_rolling * reduced * pressure;
    WideInt rolls = {0};
    moment = hold(&springs.roll, vec_sub(a.w, b.w), shear * arm * dt, shear_damping * arm, limit, limit, true,
                  t.touches, &rolls);
  }

  LaneVec3 force = vec_add(friction, vec_mul(normal, pressure - law.tension * reduced * overlap));
  LaneVec3 lever = vec_mul(vec_cross(normal, force), share);
  springs =
      (Springs){vec_mask(t.touches, springs.shear), vec_mask(t.touches, springs.roll), t.touches & springs.slides};
  store_springs(memory, kind.rolling, springs);
  add_results(target, group * LANES, kind, vec_mask(t.touches, force), vec_mask(t.touches, lever),
              vec_mask(t.touches, moment));
  return (Wide)(t.touches & (WideInt)(wide_max(wide_set(1.5f) * stiffness, shear) * masses));
}

WIDE_INLINE float groups(const DemStep *work, const DemContacts *contacts, int64_t b, int64_t e, const Target *target,
                         Kind kind) {
  Common common = {.quantum = wide_set((float)work->topology->quantum), .dt = wide_set(work->dt)};
  if (kind.one_law) common.law = set_law(work->laws->items);
  Wide stiffest = wide_set(0);
  for (int64_t g = b / LANES; g < e / LANES; g++) {
    if (!kind.solid && (g + AHEAD) * LANES < e)
      for (int l = 0; l < LANES; l++) __builtin_prefetch(work->rows[contacts->partner[(g + AHEAD) * LANES + l]]);
    stiffest = wide_max(stiffest, contact(work, contacts, g, target, &common, kind));
  }
  float largest = 0;
  for (int l = 0; l < LANES; l++) largest = stiffest[l] > largest ? stiffest[l] : largest;
  return largest;
}

float KERNEL(dem_pair_forces)(const DemStep *work, int64_t b, int64_t e, int64_t base, float (*sums)[DEM_SUM]) {
  const DemContacts *pairs = &work->topology->pairs;
  const Target target = {sums[0], pairs->first, pairs->partner, (int32_t)(DEM_ROW * base), NULL};
  bool one_law = work->laws->rows == 1;
  if (work->settings->rolling)
    return one_law ? groups(work, pairs, b, e, &target, (Kind){.rolling = true, .one_law = true})
                   : groups(work, pairs, b, e, &target, (Kind){.rolling = true});
  return one_law ? groups(work, pairs, b, e, &target, (Kind){.one_law = true})
                 : groups(work, pairs, b, e, &target, (Kind){0});
}

float KERNEL(dem_outer_forces)(const DemStep *work, int64_t b, int64_t e) {
  const DemContacts *outer = &work->topology->outer;
  const Target target = {.results = work->outbox};
  return work->settings->rolling ? groups(work, outer, b, e, &target, (Kind){.outer = true, .rolling = true})
                                 : groups(work, outer, b, e, &target, (Kind){.outer = true});
}

float KERNEL(dem_solid_forces)(const DemStep *work, int64_t b, int64_t e, int64_t base, float (*sums)[DEM_SUM],
                               float (*results)[DEM_SUM]) {
  const DemContacts *solids = &work->topology->solids;
  const Target target = {sums[0], solids->first, NULL, (int32_t)(DEM_ROW * base), results - b};
  return work->settings->rolling ? groups(work, solids, b, e, &target, (Kind){.solid = true, .rolling = true})
                                 : groups(work, solids, b, e, &target, (Kind){.solid = true});
}
