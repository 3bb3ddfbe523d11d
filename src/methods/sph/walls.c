/* Boundary contacts: by distance (what a parcel sees of the solids round it, see view.h) or by samples (Akinci 2012).
 * Either way a contact has a share of the parcel's density and a normal. The solid bears minus the force of the
 * contact. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#define LANE_SCALAR /* one contact at a time */
#include "methods/sph/contact.h"
#include "methods/sph/spline.h"
#include "methods/sph/view.h"
#include "methods/sph/walls_shared.h"

enum { WALL_CHUNK = 256 };

typedef struct Finder {
  SphWork *work;
  const float *sample_volume; /* over that of a parcel */
  const SphRays *rays;
  int32_t *found; /* contacts of each row */
} Finder;

/* Samples of one solid that begin at *k of the particle's row; moves *k behind them. */
static Sum sum_samples(const Finder *finder, int64_t i, int64_t *k, int64_t end) {
  const SphWork *work = finder->work;
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const SolidSamples *samples = &state->samples;
  const int32_t *index = state->contacts.samples.list.index;
  int32_t solid = samples->solid[index[*k]];
  double d = (double)work->control.spacing, weights = 0;
  Sum sum = {0};
  Vec3 middle = vec3(0, 0, 0);
  for (; *k < end && samples->solid[index[*k]] == solid; ++*k) {
    int32_t s = index[*k];
    Vec3 apart =
        vec3((double)(p->x[i] - samples->x[s]), (double)(p->y[i] - samples->y[s]), (double)(p->z[i] - samples->z[s]));
    double distance = vec3_length(apart), q = distance / d;
    if (!(q < SPLINE_SUPPORT) || !(distance > 0)) continue;
    double volume = (double)finder->sample_volume[s] / M_PI, share = volume * spline_shape(q);
    sum.share += share;
    sum.slope = vec3_madd(sum.slope, apart, -volume * spline_slope(q) / (d * distance));
    middle = vec3_madd(middle, apart, share);
    weights += share;
  }
  double slope = vec3_length(sum.slope);
  WallShare stiff = wall_stiffen((float)sum.share, (float)slope);
  sum.share = (double)stiff.share;
  if (slope > 0) sum.slope = vec3_scale(sum.slope, (double)stiff.slope / slope);
  if (weights > 0) middle = vec3_scale(middle, 1 / weights);
  sum.point = vec3_sub(state_position(state, i), middle);
  return sum;
}

static SphContact make_contact(const SphWork *work, int64_t i, int32_t index, const Sum *sum) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const Solid *solid = &state->solids.items[index];
  SphContact contact = {.particle = (int32_t)i, .solid = index};
  const WallSolid there = {.center = solid->center,
                           .velocity = solid->velocity,
                           .spin = solid->spin,
                           .rotation = solid->rotation,
                           .friction_static = solid->friction_static,
                           .friction_kinetic = solid->friction_kinetic,
                           .turned = solid_is_turned(solid),
                           .index = index};
  const Vec3 own = vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
  const WallTouch touch = wall_touch(*sum, there, own, work->materials[p->material[i]].wall_friction, work->control.dt,
                                     SLIPPING * state->radius);
  if (!(touch.slope > 0)) return contact;
  contact.face = touch.face;
  for (int c = 0; c < 3; c++) {
    contact.normal[c] = touch.normal[c];
    contact.velocity[c] = touch.velocity[c];
    contact.point[c] = vec3_get(sum->point, c);
  }
  contact.share = touch.share;
  contact.slope = touch.slope;
  contact.friction = touch.friction;
  contact.mass = p->mass[i];
  return contact;
}

/* ---- by distance ---- */

static const NeighborList *near_solids(const SphWork *work) { return &work->step->state->contacts.solids.list; }

static Around look_around(const SphWork *work, int64_t i, Vec3 at) {
  const State *state = work->step->state;
  const NeighborList *solids = near_solids(work);
  double reach = (double)(WALL_SUPPORT * work->control.spacing);
  double far = (double)(WALL_FAR * work->control.spacing);
  Around around;
  around_begin(&around);
  for (int64_t k = solids->start[i]; k < solids->start[i + 1]; k++) {
    const Solid *solid = &state->solids.items[solids->index[k]];
    ShapePoint faces[SHAPE_CONTACTS_MAX];
    bool outer =
        solid->shape.kind == SCREE_SHAPE_PLANE || (solid->shape.inside && solid->shape.kind == SCREE_SHAPE_BOX);
    int count = solid_contacts(solid, at, outer ? far : reach, faces);
    for (int f = 0; f < count; f++) around_add(&around, faces[f], solids->index[k]);
    if (count > 0 && around.flat && !outer)
      around.flat = sph_view_is_flat(&solid->shape, solid_to_local(solid, at), &faces[0], reach);
  }
  return around;
}

static void view_from(const Finder *finder, int64_t i, Vec3 at, SphView *view) {
  const SphWork *work = finder->work;
  const State *state = work->step->state;
  const Core *core = work->step->core;
  const NeighborList *solids = near_solids(work);
  double d = (double)work->control.spacing, reach = (double)WALL_SUPPORT * d;
  sph_view_begin(view);
  for (int64_t k = solids->start[i]; k < solids->start[i + 1]; k++) {
    int32_t index = solids->index[k];
    const Solid *solid = &state->solids.items[index];
    ShapePoint faces[SHAPE_CONTACTS_MAX];
    int count = solid_contacts(solid, at, reach, faces);
    if (count == 0) continue;
    if (!sph_view_is_flat(&solid->shape, solid_to_local(solid, at), &faces[0], reach)) {
      sph_view_solid(core, finder->rays, view, solid, index, at, faces[0].distance, d);
      continue;
    }
    for (int f = 0; f < count; f++) {
      const float n[3] = {(float)faces[f].normal.x, (float)faces[f].normal.y, (float)faces[f].normal.z};
      KERNEL_CALL(core, sph_view_face)(finder->rays, view, index, n, (float)(faces[f].distance / d));
    }
  }
}

/* Where a parcel sees from: out of solids, and a little away from them. */
static Vec3 lift(const SphWork *work, int64_t i, Vec3 at, Around *around) {
  double least = (double)(VIEW_LEAST * work->control.spacing);
  for (int k = 0; k < LIFTS_MOST && around->count > 0 && around->nearest.distance < least; k++) {
    at = vec3_madd(at, around->nearest.normal, least - around->nearest.distance);
    *around = look_around(work, i, at);
  }
  return at;
}

/* Rays that see the same side of the same solid are one contact. */
static int find_sides(const Finder *finder, int64_t i, Around around, SphContact *contacts) {
  const SphWork *work = finder->work;
  const State *state = work->step->state;
  double d = (double)work->control.spacing;
  Vec3 here = state_position(state, i), from = lift(work, i, here, &around), lifted = vec3_sub(from, here);
  if (around.count == 0) return 0;
  SphView view;
  view_from(finder, i, from, &view);
  const float n[3] = {(float)around.nearest.normal.x, (float)around.nearest.normal.y, (float)around.nearest.normal.z};
  KERNEL_CALL(work->step->core, sph_view_sum)
  (finder->rays, &view, n, (float)(around.nearest.distance / d));
  sph_view_square(finder->rays, &view);
  int32_t face[VIEW_RAYS], solid[VIEW_RAYS];
  SideSum sums[VIEW_RAYS];
  int count = 0, made = 0;
  for (int k = 0; k < VIEW_RAYS; k++) {
    if (view.solid[k] < 0 || !(view.share[k] > 0)) continue;
    const LaneVec3 face_normal = vec_make(view.normal[0][k], view.normal[1][k], view.normal[2][k]);
    const LaneVec3 ray = vec_make(finder->rays->x[k], finder->rays->y[k], finder->rays->z[k]);
    const Solid *seen = &state->solids.items[view.solid[k]];
    const int32_t mine = wall_face(view.solid[k], solid_is_turned(seen), seen->rotation,
                                   vec3((double)face_normal.x, (double)face_normal.y, (double)face_normal.z));
    int at = 0;
    while (at < count && face[at] != mine) at++;
    if (at == count) {
      face[count] = mine;
      solid[count] = view.solid[k];
      sums[count++] = side_begin();
    }
    side_add(&sums[at], face_normal, ray, view.share[k], view.slope[k], view.t[k], d);
  }
  for (int at = 0; at < count; at++) {
    const Sum sum = side_end(sums[at], from, lifted);
    contacts[made] = make_contact(work, i, solid[at], &sum);
    if (contacts[made].slope > 0) made++;
  }
  return made;
}

/* Half spaces, mostly one. Returns -1 when they are not square. */
static int find_square(const SphWork *work, int64_t i, Vec3 here, const Around *around, SphContact *contacts) {
  const float d = work->control.spacing;
  SphSquare square = around_square(around, d);
  if (!square_weigh(&square)) return -1;
  int made = 0;
  for (int f = 0; f < square.count; f++) {
    const Sum sum = sum_of_face(around, &square, f, here, d);
    contacts[made] = make_contact(work, i, around->solids[f], &sum);
    if (contacts[made].slope > 0) made++;
  }
  return made;
}

static int find_by_distance(const Finder *finder, int64_t i, SphContact *contacts) {
  const SphWork *work = finder->work;
  const NeighborList *solids = near_solids(work);
  if (!solids->start || solids->start[i] == solids->start[i + 1]) return 0;
  Vec3 here = state_position(work->step->state, i);
  Around around = look_around(work, i, here);
  if (around.count == 0) return 0;
  if (around.flat && around.count <= SQUARE_MOST) {
    int made = find_square(work, i, here, &around, contacts);
    if (made >= 0) return made;
  }
  return find_sides(finder, i, around, contacts);
}

/* ---- all contacts of a parcel ---- */

/* Friction remembered from the last step. What is known of no contact in particular is shared out among those of which
 * nothing is known. */
static void recall(const SphWork *work, SphContact *contacts, int count) {
  if (count == 0 || !work->settings->memory) return;
  const SphGrip *known = work->fields.grip[contacts[0].particle], *others = NULL;
  float unknown = 0;
  for (int k = 0; k < SPH_GRIPS; k++)
    if (known[k].face == GRIP_OF_OTHERS) others = &known[k];
  for (int a = 0; a < count; a++) {
    bool found = false;
    for (int k = 0; k < SPH_GRIPS && !found; k++) {
      found = known[k].face == contacts[a].face;
      for (int c = 0; c < 3 && found; c++) contacts[a].grip[c] = known[k].force[c];
    }
    contacts[a].known = found;
    if (!found) unknown += contacts[a].share;
  }
  for (int a = 0; a < count && others && unknown > 0; a++)
    for (int c = 0; c < 3 && !contacts[a].known; c++)
      contacts[a].grip[c] = others->force[c] * contacts[a].share / unknown;
}

/* Contacts of a parcel that look in the same direction stop its slip together: each takes its part of it. */
static void divide_slip(const SphWork *work, SphContact *contacts, int count) {
  for (int a = 0; a < count; a++) {
    float all = 0;
    for (int c = 0; c < count; c++)
      all += wall_in_common(contact_normal(&contacts[a]), contact_normal(&contacts[c]), contacts[c].share);
    contacts[a].part = wall_part(contacts[a].share, all);
    contacts[a].grip_gain =
        wall_grip_gain(contacts[a].part, work->step->state->particles.mass[contacts[a].particle], work->control.dt);
  }
}

static void find_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Finder *finder = context;
  SphWork *work = finder->work;
  const State *state = work->step->state;
  const NeighborList *samples = &state->contacts.samples.list;
  for (int64_t r = b; r < e; r++) {
    const int64_t i = sph_row_parcel(work, r);
    SphContact *contacts = work->walls.contacts + work->walls.start[r];
    int count = find_by_distance(finder, i, contacts);
    if (samples->start)
      for (int64_t k = samples->start[i]; k < samples->start[i + 1];) {
        int32_t solid = state->samples.solid[samples->index[k]];
        Sum sum = sum_samples(finder, i, &k, samples->start[i + 1]);
        contacts[count] = make_contact(work, i, solid, &sum);
        if (contacts[count].slope > 0) count++;
      }
    divide_slip(work, contacts, count);
    recall(work, contacts, count);
    finder->found[r] = count;
  }
}

/* Contacts that a parcel may have. */
static int64_t most_contacts(const SphWork *work, int64_t i) {
  const State *state = work->step->state;
  const NeighborList *solids = near_solids(work), *samples = &state->contacts.samples.list;
  int64_t most = 0, near = solids->start ? solids->start[i + 1] - solids->start[i] : 0;
  if (near > 0)
    most = near == 1 && state->solids.items[solids->index[solids->start[i]]].shape.kind == SCREE_SHAPE_PLANE ? 1
           : SIDES * near < VIEW_RAYS ? SIDES * near
                                      : VIEW_RAYS;
  if (!samples->start) return most;
  int32_t before = -1;
  for (int64_t k = samples->start[i]; k < samples->start[i + 1]; k++) {
    int32_t solid = state->samples.solid[samples->index[k]];
    most += solid != before;
    before = solid;
  }
  return most;
}

bool sph_walls_possible(const State *state, int64_t i) {
  const NeighborList *solids = &state->contacts.solids.list, *samples = &state->contacts.samples.list;
  return (solids->start && solids->start[i] < solids->start[i + 1]) ||
         (samples->start && samples->start[i] < samples->start[i + 1]);
}

static void most_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  for (int64_t r = b; r < e; r++) work->walls.start[r] = (int32_t)most_contacts(work, sph_row_parcel(work, r));
}

static Status take_contacts(SphWork *work) {
  int64_t total = 0;
  parallel_for(work->step->core, 0, work->walls.rows, 4 * WALL_CHUNK, most_chunk, work);
  for (int64_t r = 0; r < work->walls.rows; r++) {
    int32_t most = work->walls.start[r];
    work->walls.start[r] = (int32_t)total;
    total += most;
    if (total > INT32_MAX) return fail(work->step->core, SCREE_NO_MEMORY, "too many boundary contacts");
  }
  work->walls.start[work->walls.rows] = (int32_t)total;
  return scratch_take(work->step->core, work->step->scratch, &work->walls.contacts, total, "sph walls");
}

/* Puts those that were found behind each other: parcels away from walls, which are most, have none. */
static void close_gaps(SphWork *work, const int32_t *found) {
  int32_t total = 0;
  for (int64_t r = 0; r < work->walls.rows; r++) {
    SphContact *from = work->walls.contacts + work->walls.start[r];
    if (found[r] > 0) memmove(work->walls.contacts + total, from, (size_t)found[r] * sizeof *from);
    work->walls.start[r] = total;
    total += found[r];
  }
  work->walls.start[work->walls.rows] = total;
  work->walls.count = total;
}

bool sph_can_move(const Solid *solid) {
  return solid->inverse_inertia[0][0] > 0 || solid->inverse_inertia[1][1] > 0 || solid->inverse_inertia[2][2] > 0 ||
         solid->inverse_inertia[5][5] > 0 || solid->inverse_inertia[4][4] > 0 || solid->inverse_inertia[3][3] > 0;
}

static Status list_moving(SphWork *work) {
  const State *state = work->step->state;
  int32_t *moving = NULL;
  TRY(scratch_take(work->step->core, work->step->scratch, &moving, work->walls.count, "sph moved walls"));
  bool any = false;
  for (int32_t k = 0; k < state->solids.count; k++) any |= sph_can_move(&state->solids.items[k]);
  work->walls.moving_count = 0;
  for (int64_t k = 0; k < work->walls.count && any; k++)
    if (work->walls.contacts[k].slope > 0 && sph_can_move(&state->solids.items[work->walls.contacts[k].solid]))
      moving[work->walls.moving_count++] = (int32_t)k;
  work->walls.moving = moving;
  return SCREE_OK;
}

Status sph_walls_find(SphWork *work, const SphRays *rays, const float *sample_volume) {
  Core *core = work->step->core;
  Finder finder = {work, sample_volume, rays, NULL};
  TRY(take_contacts(work));
  TRY(scratch_take(core, work->step->scratch, &finder.found, work->walls.rows, "sph walls"));
  parallel_for(core, 0, work->walls.rows, WALL_CHUNK, find_chunk, &finder);
  close_gaps(work, finder.found);
  return list_moving(work);
}

/* What lies behind samples and another wall counts once; the slopes are those of what remains. */
static float share_edges(SphWork *work, SphContact *walls, int count) {
  const Solid *solids = work->step->state->solids.items;
  float twice = 0;
  for (int a = 0; a < count; a++) {
    float left = 1;
    for (int c = 0; c < count; c++) {
      if (c == a || !(solid_is_sampled(&solids[walls[a].solid]) || solid_is_sampled(&solids[walls[c].solid]))) continue;
      float common = wall_common(contact_normal(&walls[a]), contact_normal(&walls[c]));
      common *= real_min(walls[c].share, 1);
      twice += 0.5f * common * real_min(walls[a].share, 1);
      left -= common;
    }
    walls[a].slope *= real_max(left, 0);
  }
  return twice;
}

float sph_walls_twice(SphWork *work, int64_t row) {
  SphContact *walls = work->walls.contacts + work->walls.start[row];
  int count = work->walls.start[row + 1] - work->walls.start[row];
  if (!work->step->state->contacts.samples.list.start || count < 2) return 0;
  return share_edges(work, walls, count);
}

static void weigh_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  for (int64_t r = b; r < e; r++) {
    const int64_t i = sph_row_parcel(work, r);
    for (int32_t k = work->walls.start[r]; k < work->walls.start[r + 1]; k++)
      work->pressure.density[i] += work->walls.contacts[k].share;
    work->pressure.density[i] -= sph_walls_twice(work, r);
  }
}

void sph_walls_weigh(SphWork *work) {
  parallel_for(work->step->core, 0, work->walls.rows, 4 * WALL_CHUNK, weigh_chunk, work);
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

static void keep_grips(const SphContact *contacts, int count, SphGrip *known) {
  GripKeeper keeper;
  LaneVec3 all = vec_zero();
  grips_begin(&keeper, count);
  for (int k = 0; k < count; k++) {
    const float *grip = contacts[k].grip;
    grips_add(&keeper, contacts[k].face, contacts[k].share, vec_make(grip[0], grip[1], grip[2]));
    all = vec_add(all, vec_make(grip[0], grip[1], grip[2]));
  }
  grips_end(&keeper, count, all);
  memcpy(known, keeper.known, sizeof keeper.known);
}

static void keep_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  const bool held = work->control.held > 0;
  for (int64_t r = b; r < e; r++)
    keep_grips(work->walls.contacts + work->walls.start[r], held ? work->walls.start[r + 1] - work->walls.start[r] : 0,
               work->fields.grip[sph_row_parcel(work, r)]);
}

void sph_walls_keep(SphWork *work) {
  parallel_for(work->step->core, 0, work->walls.rows, 4 * WALL_CHUNK, keep_chunk, work);
}

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

/* Motion of a solid at the step's end under the load of the grains. */
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
    if (!sph_can_move(solid)) continue;
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
      double share = (double)contacts, mass = (double)contact->mass;
      double aside = fmax(solid_mobility(solid, point_of(contact), t1), solid_mobility(solid, point_of(contact), t2));
      contact->mobility = (float)(share * solid_mobility(solid, point_of(contact), normal));
      contact->grip_gain =
          (float)(0.5 * (double)contact->part / ((1 / mass + share * aside) * (double)work->control.dt));
    }
  }
}
