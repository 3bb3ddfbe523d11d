/* Boundary contacts: by distance (a flat wall of smeared layers at the nearest face, after the volume maps of Bender
 * 2019) or by samples (Akinci 2012). Either way a contact has a share of the parcel's density and a normal. The solid
 * bears minus the force of the contact. */
#include <math.h>

#include "core/parallel.h"
#define LANE_SCALAR /* one contact at a time */
#include "methods/sph/contact.h"
#include "methods/sph/spline.h"

enum { WALL_CHUNK = 256 };

/* A grain that slips faster than this many radii per step has kinetic friction. */
#define SLIPPING 0.02

typedef struct Finder {
  SphWork *work;
  const float *sample_volume; /* over that of a parcel */
} Finder;

/* What a face or the samples of one solid add up to. */
typedef struct Sum {
  double share;
  Vec3 slope; /* 1/m */
  Vec3 point;
  double nearest;
} Sum;

static Sum sum_face(const SphWork *work, const ShapePoint *face, Vec3 at) {
  double d = (double)work->control.spacing, distance = face->distance, slope;
  Sum sum = {.nearest = INFINITY};
  if (!(distance < WALL_SUPPORT * d)) return sum;
  spline_wall(distance / d, &sum.share, &slope);
  sum.slope = vec3_scale(face->normal, slope / d);
  sum.point = vec3_madd(at, face->normal, -distance);
  sum.nearest = distance;
  return sum;
}

/* Only a box that is met from inside has several contacts with a parcel; any other solid has the nearest one. */
static bool has_faces(const Solid *solid) { return solid->shape.inside && solid->shape.kind == SCREE_SHAPE_BOX; }

/* By which friction is found again; 0 is no face. */
static int32_t face_of(const State *state, int32_t index, Vec3 normal) {
  return SOLID_FACES * (index + 1) + solid_face(&state->solids.items[index], normal);
}

/* Samples of one solid that begin at *k of the particle's row; moves *k behind them. */
static Sum sum_samples(const Finder *finder, int64_t i, int64_t *k, int64_t end) {
  const SphWork *work = finder->work;
  const State *state = work->step->state;
  const SolidSamples *samples = &state->samples;
  const int32_t *index = state->contacts.samples.list.index;
  int32_t solid = samples->solid[index[*k]];
  double d = (double)work->control.spacing, weights = 0;
  Sum sum = {.nearest = INFINITY};
  Vec3 middle = vec3(0, 0, 0);
  for (; *k < end && samples->solid[index[*k]] == solid; ++*k) {
    int32_t s = index[*k];
    Vec3 apart =
        vec3((double)(work->pairs.place[i][0] - samples->x[s]), (double)(work->pairs.place[i][1] - samples->y[s]),
             (double)(work->pairs.place[i][2] - samples->z[s]));
    double distance = vec3_length(apart), q = distance / d;
    if (!(q < SPLINE_SUPPORT) || !(distance > 0)) continue;
    double volume = (double)finder->sample_volume[s] / M_PI, share = volume * spline_shape(q);
    sum.share += share;
    sum.slope = vec3_madd(sum.slope, apart, -volume * spline_slope(q) / (d * distance));
    middle = vec3_madd(middle, apart, share);
    weights += share;
    sum.nearest = fmin(sum.nearest, distance);
  }
  double slope = vec3_length(sum.slope), steeper = slope;
  spline_wall_stiffen(&sum.share, &steeper);
  if (slope > 0) sum.slope = vec3_scale(sum.slope, steeper / slope);
  if (weights > 0) middle = vec3_scale(middle, 1 / weights);
  sum.point = vec3_sub(state_position(state, i), middle);
  return sum;
}

/* Friction remembered from the last step. */
static void recall(const SphWork *work, SphContact *contact) {
  const SphGrip *known = work->fields.grip[contact->particle];
  if (!work->settings->memory) return;
  for (int k = 0; k < SPH_WALLS_MAX; k++)
    if (known[k].face == contact->face)
      for (int c = 0; c < 3; c++) contact->grip[c] = known[k].force[c];
}

static SphContact make_contact(const SphWork *work, int64_t i, int32_t index, const Sum *sum) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const Solid *solid = &state->solids.items[index];
  SphContact contact = {.particle = (int32_t)i, .solid = index};
  double slope = vec3_length(sum->slope);
  if (!(sum->share > 0) || !(slope > 0)) return contact;
  contact.face = face_of(state, index, vec3_scale(sum->slope, 1 / slope));
  Vec3 normal = vec3_scale(sum->slope, 1 / slope), velocity = solid_velocity_at(solid, sum->point);
  Vec3 slip = vec3_sub(vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]), velocity);
  slip = vec3_madd(slip, normal, -vec3_dot(slip, normal));
  bool sliding = vec3_length(slip) * (double)work->control.dt > SLIPPING * state->radius;
  double own = (double)work->materials[p->material[i]].wall_friction;
  for (int c = 0; c < 3; c++) {
    contact.normal[c] = (float)vec3_get(normal, c);
    contact.velocity[c] = (float)vec3_get(velocity, c);
    contact.point[c] = vec3_get(sum->point, c);
  }
  contact.share = (float)sum->share;
  contact.slope = (float)slope;
  contact.friction = (float)sqrt(own * (sliding ? solid->friction_kinetic : solid->friction_static));
  contact.grip_gain = 0.5f * p->mass[i] / work->control.dt;
  recall(work, &contact);
  return contact;
}

/* What lies behind two walls counts once; the slopes are those of what remains. */
static void share_edges(SphWork *work, int64_t i) {
  SphContact *walls = work->walls.contacts + work->walls.start[i];
  int count = work->walls.start[i + 1] - work->walls.start[i];
  float share[SPH_WALLS_MAX], left[SPH_WALLS_MAX], twice = 0;
  for (int a = 0; a < count; a++) share[a] = walls[a].share < 1 ? walls[a].share : 1, left[a] = 1;
  for (int a = 0; a < count; a++)
    for (int c = a + 1; c < count; c++) {
      float common = wall_common(contact_normal(&walls[a]), contact_normal(&walls[c]));
      twice += common * share[a] * share[c];
      left[a] -= common * share[c];
      left[c] -= common * share[a];
    }
  for (int a = 0; a < count; a++) {
    work->pressure.density[i] += walls[a].share;
    walls[a].slope *= left[a] > 0 ? left[a] : 0;
  }
  work->pressure.density[i] -= twice;
}

static void find_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Finder *finder = context;
  SphWork *work = finder->work;
  const State *state = work->step->state;
  const NeighborList *solids = &state->contacts.solids.list, *samples = &state->contacts.samples.list;
  for (int64_t i = b; i < e; i++) {
    int32_t at = work->walls.start[i], end = work->walls.start[i + 1];
    if (solids->start)
      for (int64_t k = solids->start[i]; k < solids->start[i + 1] && at < end; k++) {
        ShapePoint faces[SHAPE_CONTACTS_MAX];
        Vec3 here = state_position(state, i);
        double reach = WALL_SUPPORT * (double)work->control.spacing;
        int count = solid_contacts(&state->solids.items[solids->index[k]], here, reach, faces);
        for (int f = 0; f < count && at < end; f++) {
          Sum sum = sum_face(work, &faces[f], here);
          work->walls.contacts[at++] = make_contact(work, i, solids->index[k], &sum);
        }
      }
    if (samples->start)
      for (int64_t k = samples->start[i]; k < samples->start[i + 1] && at < end;) {
        int32_t solid = state->samples.solid[samples->index[k]];
        Sum sum = sum_samples(finder, i, &k, samples->start[i + 1]);
        work->walls.contacts[at++] = make_contact(work, i, solid, &sum);
      }
    while (at < end) work->walls.contacts[at++] = (SphContact){.particle = (int32_t)i};
    share_edges(work, i);
  }
}

/* Space for each parcel's contacts: at most SPH_WALLS_MAX of them. */
static Status take_contacts(SphWork *work) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  const NeighborList *solids = &state->contacts.solids.list, *samples = &state->contacts.samples.list;
  int64_t total = 0;
  for (int64_t i = 0; i < work->count; i++) {
    work->walls.start[i] = (int32_t)total;
    int64_t most = 0;
    if (solids->start)
      for (int64_t k = solids->start[i]; k < solids->start[i + 1]; k++)
        most += has_faces(&state->solids.items[solids->index[k]]) ? SHAPE_CONTACTS_MAX : 1;
    if (samples->start) {
      int32_t before = -1;
      for (int64_t k = samples->start[i]; k < samples->start[i + 1]; k++) {
        int32_t solid = state->samples.solid[samples->index[k]];
        most += solid != before;
        before = solid;
      }
    }
    total += most < SPH_WALLS_MAX ? most : SPH_WALLS_MAX;
  }
  work->walls.start[work->count] = (int32_t)total;
  work->walls.count = total;
  return scratch_take(core, work->step->scratch, &work->walls.contacts, total, "sph walls");
}

static bool can_move(const Solid *solid) {
  return solid->inverse_inertia[0][0] > 0 || solid->inverse_inertia[1][1] > 0 || solid->inverse_inertia[2][2] > 0 ||
         solid->inverse_inertia[5][5] > 0 || solid->inverse_inertia[4][4] > 0 || solid->inverse_inertia[3][3] > 0;
}

static Status list_moving(SphWork *work) {
  const State *state = work->step->state;
  int32_t *moving = NULL;
  TRY(scratch_take(work->step->core, work->step->scratch, &moving, work->walls.count, "sph moved walls"));
  work->walls.moving_count = 0;
  for (int64_t k = 0; k < work->walls.count; k++)
    if (work->walls.contacts[k].slope > 0 && can_move(&state->solids.items[work->walls.contacts[k].solid]))
      moving[work->walls.moving_count++] = (int32_t)k;
  work->walls.moving = moving;
  return SCREE_OK;
}

Status sph_walls_find(SphWork *work, const float *sample_volume) {
  TRY(take_contacts(work));
  Finder finder = {work, sample_volume};
  parallel_for(work->step->core, 0, work->count, WALL_CHUNK, find_chunk, &finder);
  return list_moving(work);
}

void sph_walls_begin(SphWork *work, int64_t i) {
  double force[3] = {0, 0, 0};
  const float *s = work->motion.stress[i];
  LaneSym stress = {s[0], s[1], s[2], s[3], s[4], s[5]};
  for (int32_t k = work->walls.start[i]; k < work->walls.start[i + 1]; k++) {
    SphContact *contact = &work->walls.contacts[k];
    float normal_stress = -sym_along(stress, contact_normal(contact));
    contact->normal_force = wall_normal_force(normal_stress, contact->slope, work->control.volume);
    for (int c = 0; c < 3; c++) force[c] += (double)(contact->normal_force * contact->normal[c] + contact->grip[c]);
  }
  double gain = (double)(work->control.dt * work->pairs.place[i][3]);
  for (int c = 0; c < 3; c++) work->motion.wall_gain[c][i] = (float)(gain * force[c]);
}

static void keep_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  for (int64_t i = b; i < e; i++) {
    SphGrip *known = work->fields.grip[i];
    for (int k = 0; k < SPH_WALLS_MAX; k++) known[k] = (SphGrip){0};
    for (int32_t k = work->walls.start[i]; k < work->walls.start[i + 1]; k++, known++) {
      const SphContact *contact = &work->walls.contacts[k];
      if (!(contact->slope > 0)) continue;
      known->face = contact->face;
      for (int c = 0; c < 3; c++) known->force[c] = contact->grip[c];
    }
  }
}

void sph_walls_keep(SphWork *work) { parallel_for(work->step->core, 0, work->count, 4 * WALL_CHUNK, keep_chunk, work); }

static Vec3 force_of(const SphContact *contact) {
  return vec3((double)(contact->normal_force * contact->normal[0] + contact->grip[0]),
              (double)(contact->normal_force * contact->normal[1] + contact->grip[1]),
              (double)(contact->normal_force * contact->normal[2] + contact->grip[2]));
}
static Vec3 point_of(const SphContact *contact) {
  return vec3(contact->point[0], contact->point[1], contact->point[2]);
}

static void load_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  for (int64_t k = b; k < e; k++) {
    const SphContact *contact = &work->walls.contacts[k];
    if (contact->slope > 0)
      wrench_add(&work->step->state->solids.items[contact->solid], vec3_scale(force_of(contact), -1),
                 point_of(contact));
  }
}

void sph_walls_load(SphWork *work) {
  parallel_for(work->step->core, 0, work->walls.count, 4 * WALL_CHUNK, load_chunk, work);
}

/* Motion of a solid at the step's end under the load of the grains. What holds or drives a part of a mechanism does so
 * as in the last step: without it sand would follow a loaded bed down that a motor holds, and end up inside it. */
static void move_under_load(const State *state, const Solid *solid, Vec3 force, Vec3 torque, double dt, Vec3 *velocity,
                            Vec3 *spin) {
  Vec3 pull = vec3(solid->driven[0], solid->driven[1], solid->driven[2]);
  Vec3 twist = vec3(solid->driven[3], solid->driven[4], solid->driven[5]);
  if (solid->motion == MOTION_FREE) {
    pull = state->gravity;
    twist = vec3(0, 0, 0);
    force = vec3_add(force, solid->outside_force);
    torque = vec3_add(torque, solid->outside_torque);
  }
  const double load[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
  double gain[6];
  solid_apply_mobility(solid, load, gain);
  *velocity = vec3_madd(solid->velocity, vec3_add(pull, vec3(gain[0], gain[1], gain[2])), dt);
  *spin = vec3_madd(solid->spin, vec3_add(twist, vec3(gain[3], gain[4], gain[5])), dt);
}

/* In the order of the contacts, on one thread: there are few, and the sum does not depend on threads. */
void sph_walls_follow(SphWork *work) {
  State *state = work->step->state;
  for (int32_t s = 0; s < state->solids.count && work->walls.moving_count > 0; s++) {
    Solid *solid = &state->solids.items[s];
    if (!can_move(solid)) continue;
    Vec3 force = vec3(0, 0, 0), torque = vec3(0, 0, 0), velocity, spin;
    for (int64_t k = 0; k < work->walls.moving_count; k++) {
      const SphContact *contact = &work->walls.contacts[work->walls.moving[k]];
      if (contact->solid != s) continue;
      Vec3 reaction = vec3_scale(force_of(contact), -1);
      force = vec3_add(force, reaction);
      torque = vec3_add(torque, vec3_cross(vec3_sub(point_of(contact), solid->center), reaction));
    }
    move_under_load(state, solid, force, torque, (double)work->control.dt, &velocity, &spin);
    for (int64_t k = 0; k < work->walls.moving_count; k++) {
      SphContact *contact = &work->walls.contacts[work->walls.moving[k]];
      if (contact->solid != s) continue;
      Vec3 at = vec3_add(velocity, vec3_cross(spin, vec3_sub(point_of(contact), solid->center)));
      contact->velocity[0] = (float)at.x;
      contact->velocity[1] = (float)at.y;
      contact->velocity[2] = (float)at.z;
    }
  }
}

/* Every contact of a movable solid is relaxed with the solid's mobility times its number of contacts: all of them move
 * it at once, and would overshoot together. */
void sph_walls_split(SphWork *work) {
  State *state = work->step->state;
  for (int32_t s = 0; s < state->solids.count && work->walls.moving_count > 0; s++) {
    int64_t contacts = 0;
    for (int64_t k = 0; k < work->walls.moving_count; k++)
      contacts += work->walls.contacts[work->walls.moving[k]].solid == s;
    for (int64_t k = 0; k < work->walls.moving_count; k++) {
      SphContact *contact = &work->walls.contacts[work->walls.moving[k]];
      if (contact->solid != s) continue;
      Vec3 normal = vec3((double)contact->normal[0], (double)contact->normal[1], (double)contact->normal[2]), t1, t2;
      vec3_frame(normal, &t1, &t2);
      const Solid *solid = &state->solids.items[s];
      double share = (double)contacts, mass = (double)state->particles.mass[contact->particle];
      double aside = fmax(solid_mobility(solid, point_of(contact), t1), solid_mobility(solid, point_of(contact), t2));
      contact->mobility = (float)(share * solid_mobility(solid, point_of(contact), normal));
      contact->grip_gain = (float)(0.5 / ((1 / mass + share * aside) * (double)work->control.dt));
    }
  }
}
