#include "methods/dem/touches.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/dem/pairs.h"

#define NEAREST                                                                                                        \
  0.05 /* radii: a centre nearer to a surface, or behind it, is treated as this near: the normal stays                 \
        */

/* Key of what is touched: solid and face, or ~sample. */
enum { FACES = 8, NOTHING = INT32_MAX };

static int32_t key_of(int32_t solid, int face) { return solid * FACES + face; }

static bool is_movable(const Solid *solid) { return solid->motion == MOTION_FREE || solid->motion == MOTION_MECHANISM; }

/* Faces that stand still are known from their nearest point on: the kernel finds the distance by itself. */
static bool is_flat(const Solid *solid) {
  return solid->motion == MOTION_FIXED &&
         (solid->shape.kind == SCREE_SHAPE_PLANE || (solid->shape.kind == SCREE_SHAPE_BOX && solid->shape.inside));
}

/* How long after the time of a solid's pose the forces are taken: poses are the step's end for solids that follow a
 * path and its start for free ones; Verlet wants the end, Euler the start. */
static double pose_lag(const DemStep *work, const Solid *solid) {
  double dt = work->step->dt;
  if (work->settings->verlet) return is_movable(solid) ? dt : 0;
  return is_movable(solid) ? 0 : -dt;
}

static double solid_inverse_mass(const Solid *solid) {
  return is_movable(solid) && solid->mass > 0 ? 1 / solid->mass : 0;
}

/* Faces of a container keep their springs apart. */
static int face_of(const Solid *solid, Vec3 normal) {
  if (!solid->shape.inside || (solid->shape.kind != SCREE_SHAPE_BOX && solid->shape.kind != SCREE_SHAPE_CYLINDER))
    return 0;
  Vec3 n = solid->rotation.w == 1 ? normal : quat_rotate(quat_conjugate(solid->rotation), normal);
  if (fabs(n.z) > 0.7) return n.z > 0 ? 1 : 2;
  if (solid->shape.kind == SCREE_SHAPE_CYLINDER) return 0;
  if (fabs(n.y) > 0.7) return n.y > 0 ? 3 : 4;
  return n.x > 0 ? 5 : 6;
}

/* Where the grain is when the forces are taken, world frame. */
static Vec3 place_of(const DemStep *work, int64_t i) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  double moved = work->settings->verlet ? 1 : 0;
  return vec3(state->origin.x + (double)p->x[i] + ((double)p->low_x[i] + moved * (double)p->dx[i]),
              state->origin.y + (double)p->y[i] + ((double)p->low_y[i] + moved * (double)p->dy[i]),
              state->origin.z + (double)p->z[i] + ((double)p->low_z[i] + moved * (double)p->dz[i]));
}

static int touches_of(const DemStep *work, const Solid *solid, Vec3 at, double reach,
                      ShapePoint touch[SHAPE_CONTACTS_MAX]) {
  double lag = pose_lag(work, solid);
  Vec3 seen = lag != 0 ? vec3_madd(at, solid_velocity_at(solid, at), -lag) : at;
  /* Most walls are not turned: that saves their quaternion. */
  return solid->rotation.w == 1 ? shape_contacts(&solid->shape, vec3_sub(seen, solid->position), reach, touch)
                                : solid_contacts(solid, seen, reach, touch);
}

/* ---- ghosts ---- */

typedef struct Ghost {
  Vec3 point; /* relative to the state's origin */
  Vec3 face;  /* normal of a face that stands still; zero: none */
  Vec3 velocity, spin;
  double radius, inverse_mass, column;
} Ghost;

static void set_ghost(const DemStep *work, DemContacts *solids, int64_t at, const Ghost *ghost) {
  float(*to)[LANES] = solids->ghost + at / LANES * DEM_GHOST;
  const double point[3] = {ghost->point.x, ghost->point.y, ghost->point.z};
  for (int c = 0; c < 3; c++) {
    double turns = point[c] / work->topology->quantum * 0x1p-32;
    /* To the nearest: a wall is where it is, whichever grain asks for it and when. */
    uint32_t bits = (uint32_t)(int64_t)((turns - floor(turns)) * 0x1p32 + 0.5);
    memcpy(&to[c][at % LANES], &bits, sizeof bits);
  }
  const double rest[] = {ghost->face.x,
                         ghost->face.y,
                         ghost->face.z,
                         ghost->velocity.x,
                         ghost->velocity.y,
                         ghost->velocity.z,
                         ghost->spin.x,
                         ghost->spin.y,
                         ghost->spin.z,
                         ghost->radius,
                         ghost->radius > 0 ? 1 / ghost->radius : 0,
                         ghost->inverse_mass,
                         ghost->column};
  for (int c = 3; c < DEM_GHOST; c++) to[c][at % LANES] = (float)rest[c - 3];
}

static const Ghost NO_GHOST = {.radius = -INFINITY};

static Ghost ghost_at(const DemStep *work, int32_t index, Vec3 at, double radius, const ShapePoint *touch) {
  const State *state = work->step->state;
  const Solid *solid = &state->solids.items[index];
  double away = fmax(touch->distance, NEAREST * radius);
  Ghost ghost = {.point = vec3_sub(vec3_madd(at, touch->normal, -away), state->origin),
                 .velocity = solid_velocity_at(solid, vec3_madd(at, touch->normal, -touch->distance)),
                 .spin = solid->spin,
                 .inverse_mass = solid_inverse_mass(solid),
                 .column = state->materials.count + index};
  if (!is_flat(solid)) return ghost;
  ghost.face = touch->normal;
  ghost.point = vec3_sub(vec3_madd(at, touch->normal, -touch->distance), state->origin);
  return ghost;
}

/* Its velocity is that of its centre: the lever of its own radius is the kernel's. */
static Ghost ghost_of_sample(const DemStep *work, int32_t sample) {
  const State *state = work->step->state;
  const SolidSamples *s = &state->samples;
  const Solid *solid = &state->solids.items[s->solid[sample]];
  double lag = pose_lag(work, solid);
  Vec3 velocity = vec3((double)s->vx[sample], (double)s->vy[sample], (double)s->vz[sample]);
  Vec3 point = vec3((double)s->x[sample], (double)s->y[sample], (double)s->z[sample]);
  return (Ghost){.point = vec3_madd(point, velocity, lag),
                 .velocity = velocity,
                 .spin = solid->spin,
                 .radius = (double)s->radius,
                 .inverse_mass = solid_inverse_mass(solid),
                 .column = state->materials.count + s->solid[sample]};
}

static Ghost ghost_by_key(const DemStep *work, int64_t i, int32_t key) {
  if (key < 0) return ghost_of_sample(work, ~key);
  const Solid *solid = &work->step->state->solids.items[key / FACES];
  double radius = (double)work->step->state->particles.radius[i];
  Vec3 at = place_of(work, i);
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  int found = touches_of(work, solid, at, radius, touch);
  for (int k = 0; k < found; k++)
    if (face_of(solid, touch[k].normal) == key % FACES) return ghost_at(work, key / FACES, at, radius, &touch[k]);
  return NO_GHOST;
}

void dem_touches_refresh(const DemStep *work, int64_t b, int64_t e) {
  DemContacts *solids = &work->topology->solids;
  if (!work->topology->any_moves) return;
  for (int64_t k = b; k < e; k++) {
    int32_t key = solids->partner[k];
    if (key == NOTHING || (key >= 0 && is_flat(&work->step->state->solids.items[key / FACES]))) continue;
    Ghost ghost = ghost_by_key(work, solids->first[k] / DEM_ROW, key);
    set_ghost(work, solids, k, &ghost);
  }
}

/* ---- which are nearly there ---- */

typedef struct TouchListing {
  const DemStep *work;
  DemTopology *fresh;
  bool by_distance, by_samples;
} TouchListing;

/* Keys of the contacts with one listed solid. A solid that moves may come from as far as the list reaches. */
static int near_keys(const TouchListing *listing, int64_t i, int64_t entry, ShapePoint touch[SHAPE_CONTACTS_MAX],
                     int32_t keys[SHAPE_CONTACTS_MAX]) {
  const State *state = listing->work->step->state;
  int32_t index = state->contacts.solids.list.index[entry];
  const Solid *solid = &state->solids.items[index];
  double margin =
      solid->motion == MOTION_FIXED ? (double)listing->fresh->margin[i / DEM_FLOCK] : 2 * (double)state->contacts.skin;
  int found =
      touches_of(listing->work, solid, place_of(listing->work, i), (double)state->particles.radius[i] + margin, touch);
  /* By their faces: nearest first, as they come, the order of the sums would depend on when the list was made. */
  for (int k = 0; k < found; k++) {
    ShapePoint point = touch[k];
    int32_t key = key_of(index, face_of(solid, point.normal));
    int at = k;
    for (; at > 0 && keys[at - 1] > key; at--) {
      keys[at] = keys[at - 1];
      touch[at] = touch[at - 1];
    }
    keys[at] = key;
    touch[at] = point;
  }
  return found;
}

static void count_touches(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const TouchListing *listing = context;
  const Contacts *contacts = &listing->work->step->state->contacts;
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  int32_t keys[SHAPE_CONTACTS_MAX];
  for (int64_t i = b; i < e; i++) {
    int64_t count = 0;
    if (listing->by_distance)
      for (int64_t k = contacts->solids.list.start[i]; k < contacts->solids.list.start[i + 1]; k++)
        count += near_keys(listing, i, k, touch, keys);
    if (listing->by_samples) count += contacts->samples.list.start[i + 1] - contacts->samples.list.start[i];
    listing->fresh->solids.start[i + 1] = (int32_t)count;
  }
}

static void carry_touch(const TouchListing *listing, int64_t i, int32_t key, int64_t to) {
  const DemTopology *old = listing->work->topology;
  int64_t row = listing->work->fields->row[i] - 1;
  if (row < 0 || row >= old->grains) return;
  for (int32_t k = old->solids.start[row]; k < old->solids.start[row + 1]; k++)
    if (old->solids.partner[k] == key) {
      dem_carry_springs(old, &old->solids, k, listing->fresh, &listing->fresh->solids, to, 1);
      return;
    }
}

static void add_touch(const TouchListing *listing, int64_t i, int32_t key, const Ghost *ghost, int64_t at) {
  DemContacts *solids = &listing->fresh->solids;
  solids->first[at] = (int32_t)(DEM_ROW * i);
  solids->partner[at] = key;
  set_ghost(listing->work, solids, at, ghost);
  carry_touch(listing, i, key, at);
}

static void fill_touches(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const TouchListing *listing = context;
  const DemStep *work = listing->work;
  const State *state = work->step->state;
  const Contacts *contacts = &state->contacts;
  DemContacts *solids = &listing->fresh->solids;
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  int32_t keys[SHAPE_CONTACTS_MAX];
  for (int64_t i = b; i < e; i++) {
    int64_t at = solids->start[i];
    if (listing->by_distance)
      for (int64_t k = contacts->solids.list.start[i]; k < contacts->solids.list.start[i + 1]; k++) {
        int found = near_keys(listing, i, k, touch, keys);
        for (int f = 0; f < found; f++) {
          Ghost ghost =
              ghost_at(work, keys[f] / FACES, place_of(work, i), (double)state->particles.radius[i], &touch[f]);
          add_touch(listing, i, keys[f], &ghost, at++);
        }
      }
    if (listing->by_samples)
      for (int64_t k = contacts->samples.list.start[i]; k < contacts->samples.list.start[i + 1]; k++)
        add_touch(listing, i, ~contacts->samples.list.index[k], &NO_GHOST, at++);
    for (; at < solids->start[i + 1]; at++) { /* the slab's last: padding */
      solids->first[at] = (int32_t)(DEM_ROW * i);
      solids->partner[at] = NOTHING;
      set_ghost(work, solids, at, &NO_GHOST);
    }
  }
}

Status dem_touches_list(DemStep *work, DemTopology *fresh) {
  Core *core = work->step->core;
  const Contacts *contacts = &work->step->state->contacts;
  int64_t grains = work->grains;
  TouchListing listing = {work, fresh, contacts->solids.list.count == grains && contacts->solids.list.entries > 0,
                          contacts->samples.list.count == grains && contacts->samples.list.entries > 0};
  TRY(memory_new(core, &fresh->solids.start, grains + 1, "contacts"));
  parallel_for(core, 0, grains, DEM_CHUNK, count_touches, &listing);
  int64_t count = dem_starts(fresh, fresh->solids.start, &fresh->slab_solids);
  TRY(dem_contacts_room(core, &fresh->solids, count, fresh->spring_size));
  TRY(memory_new(core, &fresh->solids.ghost, count / LANES * DEM_GHOST, "contacts"));
  parallel_for(core, 0, grains, DEM_CHUNK, fill_touches, &listing);
  fresh->any_moves = listing.by_samples;
  const Solids *all = &work->step->state->solids;
  for (int32_t k = 0; k < all->count; k++) fresh->any_moves = fresh->any_moves || !is_flat(&all->items[k]);
  return SCREE_OK;
}

/* ---- reactions ---- */

/* Adds up in the wrench's own fixed point, so that the sum stays free of order. */
typedef struct Reaction {
  int32_t solid;
  int64_t parts[6];
} Reaction;

static void reaction_flush(State *state, Reaction *reaction) {
  if (reaction->solid < 0) return;
  Wrench *wrench = &state->solids.items[reaction->solid].wrench;
  for (int k = 0; k < 6; k++) atomic_fetch_add_explicit(&wrench->part[k], reaction->parts[k], memory_order_relaxed);
  *reaction = (Reaction){.solid = -1};
}

/* The touched point lies on the line of centres, divided as the radii are; of a flat partner, on the surface. */
static Vec3 touched_point(const DemStep *work, int64_t i, int64_t k) {
  const DemTopology *t = work->topology;
  const float(*ghost)[LANES] = (const float(*)[LANES])t->solids.ghost + k / LANES * DEM_GHOST;
  int lane = (int)(k % LANES);
  int32_t at[3], point[3];
  memcpy(at, work->rows[DEM_ROW * i], sizeof at);
  double way[3], along = 0, flat = 0;
  for (int c = 0; c < 3; c++) {
    memcpy(&point[c], &ghost[c][lane], sizeof point[c]);
    way[c] = (double)(int32_t)((uint32_t)point[c] - (uint32_t)at[c]) * t->quantum;
    along += way[c] * (double)ghost[3 + c][lane];
    flat += (double)(ghost[3 + c][lane] * ghost[3 + c][lane]);
  }
  Vec3 to = vec3(way[0], way[1], way[2]);
  if (flat > 0.5)
    to = vec3(along * (double)ghost[3][lane], along * (double)ghost[4][lane], along * (double)ghost[5][lane]);
  double own = (double)work->rows[DEM_ROW * i][3], radius = (double)ghost[12][lane];
  return vec3_madd(place_of(work, i), to, own / (own + radius));
}

static void push(const DemStep *work, int64_t k, const float *result, Reaction *reaction) {
  State *state = work->step->state;
  const DemContacts *solids = &work->topology->solids;
  int32_t key = solids->partner[k];
  int32_t index = key < 0 ? state->samples.solid[~key] : key / FACES;
  if (index != reaction->solid) reaction_flush(state, reaction);
  reaction->solid = index;
  Vec3 force = vec3(-(double)result[0], -(double)result[1], -(double)result[2]), torque = vec3(0, 0, 0);
  if (work->settings->rolling) torque = vec3(-(double)result[8], -(double)result[9], -(double)result[10]);
  Vec3 arm = vec3_sub(touched_point(work, solids->first[k] / DEM_ROW, k), state->solids.items[index].center);
  torque = vec3_add(torque, vec3_cross(arm, force));
  const double parts[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
  for (int c = 0; c < 6; c++) reaction->parts[c] += (int64_t)(parts[c] * 0x1p30);
}

void dem_touches_push(const DemStep *work, int64_t b, int64_t e, const float (*results)[DEM_SUM]) {
  Reaction reaction = {.solid = -1};
  for (int64_t k = b; k < e; k++) {
    const float *result = results[k - b];
    if (result[0] != 0 || result[1] != 0 || result[2] != 0) push(work, k, result, &reaction);
  }
  reaction_flush(work->step->state, &reaction);
}
