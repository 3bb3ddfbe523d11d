/* The contact law (Section 3.2), eight pairs abreast, and the gathering of its results. */
#include "methods/dem/contact_kernels.h"

#define TINY 1e-30f
#define TURN_MOST 0.2f /* of a spring's square that one step may turn into the tangent plane */

enum { AHEAD = 3, REFS_AHEAD = 24 }; /* groups and pairs that are fetched beforehand */

typedef struct Vec {
  Wide x, y, z;
} Vec;

WIDE_INLINE Vec vec_add(Vec a, Vec b) { return (Vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
WIDE_INLINE Vec vec_sub(Vec a, Vec b) { return (Vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
WIDE_INLINE Vec vec_mul(Vec a, Wide s) { return (Vec){a.x * s, a.y * s, a.z * s}; }
WIDE_INLINE Wide vec_dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
WIDE_INLINE Vec vec_cross(Vec a, Vec b) {
  return (Vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
WIDE_INLINE Vec vec_mask(WideInt mask, Vec a) {
  return (Vec){(Wide)(mask & (WideInt)a.x), (Wide)(mask & (WideInt)a.y), (Wide)(mask & (WideInt)a.z)};
}
WIDE_INLINE Vec vec_select(WideInt mask, Vec yes, Vec no) {
  return (Vec){wide_select(mask, yes.x, no.x), wide_select(mask, yes.y, no.y), wide_select(mask, yes.z, no.z)};
}

typedef float Quad __attribute__((vector_size(16), aligned(4)));

/* Four floats from each of eight places, turned into four wide values; and back. */
WIDE_INLINE void load_quads(const float *const at[LANES], Wide *x, Wide *y, Wide *z, Wide *w) {
#define QUAD_PAIR(a, b) __builtin_shufflevector(*(const Quad *)at[a], *(const Quad *)at[b], 0, 1, 2, 3, 4, 5, 6, 7)
  Wide r0 = QUAD_PAIR(0, 4), r1 = QUAD_PAIR(1, 5), r2 = QUAD_PAIR(2, 6), r3 = QUAD_PAIR(3, 7);
#undef QUAD_PAIR
  Wide t0 = __builtin_shufflevector(r0, r1, 0, 8, 1, 9, 4, 12, 5, 13);
  Wide t1 = __builtin_shufflevector(r0, r1, 2, 10, 3, 11, 6, 14, 7, 15);
  Wide t2 = __builtin_shufflevector(r2, r3, 0, 8, 1, 9, 4, 12, 5, 13);
  Wide t3 = __builtin_shufflevector(r2, r3, 2, 10, 3, 11, 6, 14, 7, 15);
  *x = __builtin_shufflevector(t0, t2, 0, 1, 8, 9, 4, 5, 12, 13);
  *y = __builtin_shufflevector(t0, t2, 2, 3, 10, 11, 6, 7, 14, 15);
  *z = __builtin_shufflevector(t1, t3, 0, 1, 8, 9, 4, 5, 12, 13);
  *w = __builtin_shufflevector(t1, t3, 2, 3, 10, 11, 6, 7, 14, 15);
}

WIDE_INLINE void store_quads(float *const at[LANES], int lanes, Wide x, Wide y, Wide z, Wide w) {
  Wide t0 = __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13); /* x0 y0 x1 y1, x4 y4 x5 y5 */
  Wide t1 = __builtin_shufflevector(z, w, 0, 8, 1, 9, 4, 12, 5, 13);
  Wide t2 = __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15); /* x2 y2 x3 y3, x6 .. */
  Wide t3 = __builtin_shufflevector(z, w, 2, 10, 3, 11, 6, 14, 7, 15);
  Wide q[4] = {__builtin_shufflevector(t0, t1, 0, 1, 8, 9, 4, 5, 12, 13),
               __builtin_shufflevector(t0, t1, 2, 3, 10, 11, 6, 7, 14, 15),
               __builtin_shufflevector(t2, t3, 0, 1, 8, 9, 4, 5, 12, 13),
               __builtin_shufflevector(t2, t3, 2, 3, 10, 11, 6, 7, 14, 15)};
  if (lanes == LANES) {
    for (int k = 0; k < 4; k++) {
      *(Quad *)at[k] = __builtin_shufflevector(q[k], q[k], 0, 1, 2, 3);
      *(Quad *)at[k + 4] = __builtin_shufflevector(q[k], q[k], 4, 5, 6, 7);
    }
    return;
  }
  for (int k = 0; k < lanes; k++)
    for (int c = 0; c < 4; c++) at[k][c] = q[k & 3][(k & 4) + c];
}

/* Eight floats of which the last may not be there. */
WIDE_INLINE Wide load_some(const float *from, int lanes) {
  if (lanes == LANES) return wide_load(from);
  Wide wide = {0};
  for (int l = 0; l < lanes; l++) wide[l] = from[l];
  return wide;
}

/* Verlet's velocities are those of the step's middle: right for the springs, which they stretch over the step; the
 * dampers lag by half a step. */
void KERNEL(dem_row_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const DemStep *work = context;
  const Particles *p = &work->step->state->particles;
  float *const *spin = work->fields->spin;
  Wide moved = wide_set(work->settings->verlet ? 1 : 0), turned = wide_set(work->settings->rotation ? 1 : 0);
  Wide farthest = wide_set(0);
  for (int64_t i = b; i < e; i += LANES) {
    int lanes = e - i < LANES ? (int)(e - i) : LANES;
    Vec way = {load_some(p->dx + i, lanes), load_some(p->dy + i, lanes), load_some(p->dz + i, lanes)};
    farthest = wide_max(farthest, vec_dot(way, way));
    float *at[4][LANES];
    for (int q = 0; q < 4; q++)
      for (int l = 0; l < LANES; l++) at[q][l] = work->rows[4 * (i + l) + q];
    Wide radius = load_some(p->radius + i, lanes), mass = load_some(p->mass + i, lanes), material = {0};
    for (int l = 0; l < lanes; l++) material[l] = (float)p->material[i + l];
    store_quads(at[0], lanes, load_some(p->x + i, lanes), load_some(p->y + i, lanes), load_some(p->z + i, lanes),
                radius);
    store_quads(at[1], lanes, load_some(p->low_x + i, lanes) + moved * way.x,
                load_some(p->low_y + i, lanes) + moved * way.y, load_some(p->low_z + i, lanes) + moved * way.z,
                wide_set(1) / mass);
    store_quads(at[2], lanes, load_some(p->vx + i, lanes), load_some(p->vy + i, lanes), load_some(p->vz + i, lanes),
                wide_set(1) / radius);
    store_quads(at[3], lanes, turned * load_some(spin[0] + i, lanes), turned * load_some(spin[1] + i, lanes),
                turned * load_some(spin[2] + i, lanes), material);
  }
  float largest = 0;
  for (int l = 0; l < LANES; l++) largest = farthest[l] > largest ? farthest[l] : largest;
  work->farthest[b / DEM_CHUNK] = largest;
}

/* One side of eight pairs. */
typedef struct Side {
  Vec x, e, v, w;
  Wide radius, inverse_mass, curvature, column;
} Side;

WIDE_INLINE Side load_side(const float (*rows)[4], const int32_t *quads) {
  Side s;
  wide_gather4(rows, quads, &s.x.x, &s.x.y, &s.x.z, &s.radius);
  wide_gather4(rows + 1, quads, &s.e.x, &s.e.y, &s.e.z, &s.inverse_mass);
  wide_gather4(rows + 2, quads, &s.v.x, &s.v.y, &s.v.z, &s.curvature);
  wide_gather4(rows + 3, quads, &s.w.x, &s.w.y, &s.w.z, &s.column);
  return s;
}

typedef struct WideLaw {
#define DEM_WIDE_MEMBER(name) Wide name;
  DEM_LAW_FIELDS(DEM_WIDE_MEMBER)
#undef DEM_WIDE_MEMBER
} WideLaw;

/* Nearly always the eight pairs have one law. */
WIDE_INLINE WideLaw load_law(const DemLaws *laws, Wide row, Wide column) {
  Wide at = row * wide_set((float)laws->columns) + column, first = wide_set(at[0]);
  const DemLaw *law = &laws->items[(int32_t)at[0]];
#define DEM_WIDE_SET(name) .name = wide_set(law->name),
  WideLaw wide = {DEM_LAW_FIELDS(DEM_WIDE_SET)};
#undef DEM_WIDE_SET
  if (wide_bits(wide_less(at, first) | wide_less(first, at)) == 0) return wide;
  for (int l = 1; l < LANES; l++) {
    law = &laws->items[(int32_t)at[l]];
#define DEM_WIDE_LANE(name) wide.name[l] = law->name;
    DEM_LAW_FIELDS(DEM_WIDE_LANE)
#undef DEM_WIDE_LANE
  }
  return wide;
}

/* A spring with its damper, cut at Coulomb's limit. `spring` advances; answers what it exerts. */
WIDE_INLINE Vec hold(Vec *spring, Vec rate, Wide stiffness_dt, Wide damping, Wide limit_static, Wide limit_kinetic,
                     bool cap_total, WideInt *slides) {
  Vec advanced = vec_sub(*spring, vec_mul(rate, stiffness_dt)), viscous = vec_mul(rate, damping);
  Vec tried = cap_total ? vec_sub(advanced, viscous) : advanced;
  Wide size = wide_sqrt(vec_dot(tried, tried));
  Wide limit = wide_select(*slides, limit_kinetic, limit_static);
  WideInt slips = wide_less(limit, size);
  Vec cut = vec_mul(tried, wide_select(slips, limit_kinetic / wide_max(size, wide_set(TINY)), wide_set(1)));
  *slides = slips;
  /* What the spring holds is such that with its damper it gives the limit. */
  *spring = cap_total ? vec_select(slips, vec_add(cut, viscous), advanced) : cut;
  return cap_total ? cut : vec_sub(cut, viscous);
}

/* Turns a spring that was tangential a step ago into the tangent plane of now, its length kept (to second order). */
WIDE_INLINE Vec turn_into_plane(Vec spring, Vec normal) {
  Wide out = vec_dot(spring, normal);
  Vec flat = vec_sub(spring, vec_mul(normal, out));
  Wide square = out * out / wide_max(vec_dot(flat, flat), wide_set(TINY));
  return vec_mul(flat, wide_set(1) + wide_set(0.5f) * wide_min(square, wide_set(TURN_MOST)));
}

typedef struct Springs {
  Vec shear, roll;
  WideInt slides;
} Springs;

/* The last bit of the first float says whether the contact slides: one bit is cheaper than a float more per contact. */
WIDE_INLINE Springs load_springs(const DemPairs *pairs, int64_t at) {
  const float *low[LANES], *high[LANES];
  for (int l = 0; l < LANES; l++) {
    low[l] = pairs->history + (int64_t)pairs->unit[at + l] * DEM_HISTORY;
    high[l] = low[l] + 2;
  }
  Springs s;
  Wide again;
  load_quads(low, &s.shear.x, &s.shear.y, &s.shear.z, &s.roll.x);
  load_quads(high, &again, &s.roll.x, &s.roll.y, &s.roll.z);
  s.slides = -((WideInt)s.shear.x & 1);
  return s;
}

WIDE_INLINE void store_springs(const DemPairs *pairs, int64_t at, int lanes, Springs s) {
  float *low[LANES], *high[LANES];
  for (int l = 0; l < LANES; l++) {
    low[l] = pairs->history + (int64_t)pairs->unit[at + l] * DEM_HISTORY;
    high[l] = low[l] + 2;
  }
  Wide marked = (Wide)(((WideInt)s.shear.x & ~1) | (s.slides & 1));
  store_quads(low, lanes, marked, s.shear.y, s.shear.z, s.roll.x);
  store_quads(high, lanes, s.shear.z, s.roll.x, s.roll.y, s.roll.z);
}

WIDE_INLINE void store_results(const DemPairs *pairs, int64_t at, Vec force, Vec lever, Vec moment) {
  float *low[LANES], *high[LANES];
  for (int l = 0; l < LANES; l++) {
    low[l] = pairs->result + (at + l) * DEM_RESULT;
    high[l] = low[l] + 4;
  }
  store_quads(low, LANES, force.x, force.y, force.z, lever.x);
  store_quads(high, LANES, lever.y, lever.z, moment.x, moment.y);
  for (int l = 0; l < LANES; l++) low[l][8] = moment.z[l];
}

/* Geometry of eight pairs. n points from the second to the first. */
typedef struct Touch {
  Vec normal;
  Wide apart, radii, overlap;
  WideInt touches;
} Touch;

WIDE_INLINE Touch touch(const Side *a, const Side *b) {
  Touch t;
  /* Differences of like parts first: what a float position cannot hold is not lost in it. */
  Vec r = vec_add(vec_sub(a->x, b->x), vec_sub(a->e, b->e));
  t.apart = wide_sqrt(vec_dot(r, r));
  t.radii = a->radius + b->radius;
  Wide depth = t.radii - t.apart;
  t.touches = wide_less(wide_set(0), depth) & wide_less(wide_set(TINY), t.apart);
  t.overlap = (Wide)(t.touches & (WideInt)depth);
  t.normal = vec_mul(r, wide_set(1) / wide_max(t.apart, wide_set(TINY)));
  return t;
}

/* Forces of one group; answers the squared frequencies of the contacts. */
WIDE_INLINE Wide contact(const DemStep *work, const DemPairs *pairs, int64_t at, int lanes) {
  Wide zero = wide_set(0), one = wide_set(1), dt = wide_set(work->dt);
  Side a = load_side((const float(*)[4])work->rows, pairs->first + at),
       b = load_side((const float(*)[4])work->rows, pairs->second + at);
  Touch t = touch(&a, &b);
  Vec none = {zero, zero, zero};
  if (wide_bits(t.touches) == 0) {
    store_springs(pairs, at, lanes, (Springs){none, none, t.touches});
    store_results(pairs, at, none, none, none);
    return zero;
  }
  WideLaw law = load_law(work->laws, a.column, b.column);
  Wide mass = one / (a.inverse_mass + b.inverse_mass), reduced = one / (a.curvature + b.curvature);
  Wide root = wide_sqrt(t.overlap);
  Wide stiffness = (law.stiffness_fixed + law.stiffness_root * wide_sqrt(reduced)) * root;
  Wide damping = law.damping_mass * mass + law.damping_root * wide_sqrt(stiffness * mass);

  /* Normal force: Hertz and its damper, which never pulls. */
  Vec relative = vec_sub(a.v, b.v);
  Wide parting = vec_dot(relative, t.normal);
  Wide pressure = wide_max(stiffness * t.overlap - damping * parting, zero);

  /* Shear: the surfaces' velocity against each other. */
  Wide share = t.apart / t.radii;
  Vec turning = vec_mul(vec_add(vec_mul(a.w, a.radius), vec_mul(b.w, b.radius)), share);
  Vec sliding = vec_sub(vec_sub(relative, vec_mul(t.normal, parting)), vec_cross(turning, t.normal));
  Wide shear = law.shear_fixed + law.shear_ratio * stiffness;
  Wide shear_damping = law.shear_damping_mass * mass + law.shear_damping_share * damping;
  Springs springs = load_springs(pairs, at);
  springs.shear = turn_into_plane(springs.shear, t.normal);
  /* A contact that opens loses the shear force that its shrinking area held (Mindlin's constant only). */
  Wide opened = wide_select(wide_less(zero, law.shear_ratio), wide_max(parting, zero) * dt * wide_set(0.5f), zero);
  springs.shear = vec_mul(springs.shear, t.overlap / wide_max(t.overlap + opened, wide_set(TINY)));
  Vec friction = hold(&springs.shear, sliding, shear * dt, shear_damping, law.mu_static * pressure,
                      law.mu_kinetic * pressure, work->settings->cap_total, &springs.slides);

  /* Rolling and twisting: the same on the relative spin, with the effective radius as its arm. */
  Wide arm = reduced * reduced, limit = law.mu_rolling * reduced * pressure;
  WideInt rolls = {0};
  Vec moment =
      hold(&springs.roll, vec_sub(a.w, b.w), shear * arm * dt, shear_damping * arm, limit, limit, true, &rolls);

  Vec force = vec_add(friction, vec_mul(t.normal, pressure - law.tension * reduced * t.overlap));
  Vec lever = vec_mul(vec_cross(t.normal, force), share);
  springs =
      (Springs){vec_mask(t.touches, springs.shear), vec_mask(t.touches, springs.roll), t.touches & springs.slides};
  store_springs(pairs, at, lanes, springs);
  store_results(pairs, at, vec_mask(t.touches, force), vec_mask(t.touches, lever), vec_mask(t.touches, moment));
  Wide square = wide_max(wide_set(1.5f) * stiffness, shear) / mass;
  return (Wide)(t.touches & (WideInt)square);
}

void KERNEL(dem_force_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const DemPass *pass = context;
  Wide stiffest = wide_set(0);
  for (int64_t g = b; g < e; g++) {
    int64_t left = pass->pairs->count - g * LANES;
    if (g + AHEAD < e)
      for (int l = 0; l < LANES; l++)
        __builtin_prefetch(pass->work->rows[pass->pairs->second[(g + AHEAD) * LANES + l]]);
    stiffest = wide_max(stiffest, contact(pass->work, pass->pairs, g * LANES, left < LANES ? (int)left : LANES));
  }
  float largest = 0;
  for (int l = 0; l < LANES; l++) largest = stiffest[l] > largest ? stiffest[l] : largest;
  pass->stiffest[b / pass->chunk] = largest;
}

/* Sums of results. */
typedef struct Sum {
  Quad low, high;
  float last;
} Sum;

WIDE_INLINE void sum_add(Sum *sum, const float *result) {
  sum->low += *(const Quad *)result;
  sum->high += *(const Quad *)(result + 4);
  sum->last += result[8];
}

static inline void sum_ghosts(const DemPairs *ghosts, const NeighborList *list, int64_t per_entry, int64_t i,
                              Sum *sum) {
  if (ghosts->count == 0) return;
  for (int64_t g = list->start[i] * per_entry; g < list->start[i + 1] * per_entry; g++)
    sum_add(sum, ghosts->result + g * DEM_RESULT);
}

/* Contact accelerations of the grains from the results of their contacts, and the kick by them and by gravity. */
void KERNEL(dem_gather_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const DemStep *work = context;
  const State *state = work->step->state;
  const DemFields *fields = work->fields;
  const DemTopology *topology = work->topology;
  Particles *p = &work->step->state->particles;
  const float *results = work->pairs.result;
  /* Verlet has kicked half already; Euler kicks once and whole. */
  float kick = work->settings->verlet ? 0.5f * work->dt : work->dt;
  float gain[3] = {(float)state->gravity.x, (float)state->gravity.y, (float)state->gravity.z};
  float *velocity[3] = {p->vx, p->vy, p->vz}, *way[3] = {p->dx, p->dy, p->dz};
  for (int64_t i = b; i < e; i++) {
    Sum own = {0}, other = {0};
    for (int64_t k = topology->owned[i]; k < topology->owned[i + 1]; k++) sum_add(&own, results + k * DEM_RESULT);
    for (int64_t k = topology->others[i]; k < topology->others[i + 1]; k++) {
      const float *ahead = results + (int64_t)topology->refs[k + REFS_AHEAD] * DEM_RESULT;
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + DEM_RESULT - 1);
      sum_add(&other, results + (int64_t)topology->refs[k] * DEM_RESULT);
    }
    sum_ghosts(&work->solids, &state->contacts.solids.list, DEM_GHOSTS, i, &own);
    sum_ghosts(&work->samples, &state->contacts.samples.list, 1, i, &own);
    /* The reaction turns the force and the rolling moment round, not the lever: both arms point to the contact. */
    float per_mass = 1 / p->mass[i], radius = p->radius[i], per_inertia = 2.5f * per_mass / (radius * radius);
    float force[3] = {own.low[0] - other.low[0], own.low[1] - other.low[1], own.low[2] - other.low[2]};
    float torque[3] = {own.high[2] - other.high[2] - radius * (own.low[3] + other.low[3]),
                       own.high[3] - other.high[3] - radius * (own.high[0] + other.high[0]),
                       own.last - other.last - radius * (own.high[1] + other.high[1])};
    for (int c = 0; c < 3; c++) {
      float acceleration = force[c] * per_mass;
      velocity[c][i] += (acceleration + gain[c]) * kick;
      if (work->settings->verlet) fields->acceleration[c][i] = acceleration;
      else way[c][i] = velocity[c][i] * work->dt;
    }
    if (!work->settings->rotation) continue;
    for (int c = 0; c < 3; c++) {
      float turning = torque[c] * per_inertia;
      fields->spin[c][i] += turning * kick;
      if (work->settings->verlet) fields->turning[c][i] = turning;
    }
  }
}
