#include "methods/dem/boundary_contacts.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/dem/reaction_law.h"
#include "methods/dem/surface_law.h"
#include "methods/dem/topology.h"

/* Key of what is touched: solid and face, or ~sample. */
static int32_t key_of(int32_t solid, int face) { return solid * SOLID_FACES + face; }

bool dem_boundary_is_flat(const Solid *solid) {
  return solid->motion == MOTION_FIXED &&
         (solid->shape.kind == SCREE_SHAPE_PLANE || (solid->shape.kind == SCREE_SHAPE_BOX && solid->shape.inside));
}

double dem_boundary_lag(const DemStep *work, bool movable) {
  double dt = work->step->dt;
  return (work->settings->verlet ? dt : 0) - movable_pose_time(movable, dt);
}

double dem_boundary_inverse_mass(const Solid *solid) {
  return solid_is_movable(solid) && solid->mass > 0 ? 1 / solid->mass : 0;
}

/* Where the grain is at the time of the forces, in the world frame. */
static Vec3 place_of(const DemStep *work, int64_t i) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  double share = work->settings->verlet ? 1 : 0;
  return vec3(state->origin.x + (double)p->x[i] + ((double)p->low_x[i] + share * (double)p->dx[i]),
              state->origin.y + (double)p->y[i] + ((double)p->low_y[i] + share * (double)p->dy[i]),
              state->origin.z + (double)p->z[i] + ((double)p->low_z[i] + share * (double)p->dz[i]));
}

static SurfaceMotion motion_of(const Solid *solid) {
  return (SurfaceMotion){solid->center, solid->velocity, solid->spin};
}

static int nearest_points(const DemStep *work, const Solid *solid, Vec3 at, double reach,
                          ShapePoint touch[SHAPE_CONTACTS_MAX]) {
  const Vec3 seen = surface_seen(motion_of(solid), at, dem_boundary_lag(work, solid_is_movable(solid)));
  return solid_touches(solid, seen, reach, touch);
}

/* ---- surfaces ---- */

typedef struct Surface {
  Vec3 point; /* relative to the state's origin */
  Vec3 face;  /* normal of a flat face at rest; zero: none */
  Vec3 velocity, spin;
  double radius, inverse_mass, column;
} Surface;

static void store_surface(const DemStep *work, DemContacts *contacts, int64_t at, const Surface *surface) {
  float(*to)[LANES] = contacts->surfaces + at / LANES * DEM_SURFACE;
  const double point[3] = {surface->point.x, surface->point.y, surface->point.z};
  for (int c = 0; c < 3; c++) {
    const uint32_t bits = surface_quanta(point[c], work->topology->quantum);
    memcpy(&to[SURFACE_POINT + c][at % LANES], &bits, sizeof bits);
  }
  const double rest[] = {surface->face.x,
                         surface->face.y,
                         surface->face.z,
                         surface->velocity.x,
                         surface->velocity.y,
                         surface->velocity.z,
                         surface->spin.x,
                         surface->spin.y,
                         surface->spin.z,
                         surface->radius,
                         surface->radius > 0 ? 1 / surface->radius : 0,
                         surface->inverse_mass,
                         surface->column};
  for (int c = SURFACE_FACE; c < DEM_SURFACE; c++) to[c][at % LANES] = (float)rest[c - SURFACE_FACE];
}

static const Surface NO_SURFACE = {.radius = -INFINITY};

static Surface surface_at(const DemStep *work, int32_t index, Vec3 at, double radius, const ShapePoint *touch) {
  const State *state = work->step->state;
  const Solid *solid = &state->solids.items[index];
  Surface surface = {.point = vec3_sub(surface_point(at, touch->normal, touch->distance, radius), state->origin),
                     .velocity = surface_point_velocity(motion_of(solid), at, touch->normal, touch->distance),
                     .spin = solid->spin,
                     .inverse_mass = dem_boundary_inverse_mass(solid),
                     .column = state->materials.count + index};
  return surface;
}

/* A flat face at rest. The point is the foot of where the grain was when the lists were made: it is the same whenever
 * the surface is asked for. */
static void flatten(const DemStep *work, int64_t i, int32_t key, const ShapePoint *touch, Surface *surface) {
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const Solid *solid = &state->solids.items[key / SOLID_FACES];
  const Vec3 built = vec3((double)p->built_x[i], (double)p->built_y[i], (double)p->built_z[i]);
  const double reach = (double)p->radius[i] + 2 * (double)state->contacts.skin;
  ShapePoint there[SHAPE_CONTACTS_MAX];
  int found = solid_touches(solid, vec3_add(state->origin, built), reach, there), k = 0;
  while (k < found && solid_face(solid, &there[k]) != key % SOLID_FACES) k++;
  surface->face = touch->normal;
  if (k < found) surface->point = vec3_madd(built, there[k].normal, -there[k].distance);
  else surface->point = vec3_sub(vec3_madd(place_of(work, i), touch->normal, -touch->distance), state->origin);
}

/* The velocity is that of the centre of the sample: the law adds what its spin gives the surface. */
static Surface surface_of_sample(const DemStep *work, int32_t sample) {
  const State *state = work->step->state;
  const SolidSamples *s = &state->samples;
  const Solid *solid = &state->solids.items[s->solid[sample]];
  double lag = dem_boundary_lag(work, solid_is_movable(solid));
  Vec3 velocity = vec3((double)s->vx[sample], (double)s->vy[sample], (double)s->vz[sample]);
  Vec3 point = vec3((double)s->x[sample], (double)s->y[sample], (double)s->z[sample]);
  return (Surface){.point = vec3_madd(point, velocity, lag),
                   .velocity = velocity,
                   .spin = solid->spin,
                   .radius = (double)s->radius,
                   .inverse_mass = dem_boundary_inverse_mass(solid),
                   .column = state->materials.count + s->solid[sample]};
}

/* Which of the points that a grain touches a solid in is that of a listed contact; -1: none. Those of its face; a grain
 * that has gone over an edge of a mesh since it was listed touches another one, and the contacts that have lost theirs
 * go on with those that are new, in order. */
static int point_of_key(const DemStep *work, int64_t i, int32_t key, const ShapePoint *touch, int found) {
  const DemContacts *contacts = &work->topology->boundary;
  const Solid *solid = &work->step->state->solids.items[key / SOLID_FACES];
  int lost = 0, claimed = 0;
  for (int k = 0; k < found; k++)
    if (solid_face(solid, &touch[k]) == key % SOLID_FACES) return k;
  if (!solid->shape.faces.meet) return -1;
  for (int32_t c = contacts->start[i]; c < contacts->start[i + 1]; c++) {
    const int32_t other = contacts->key[c];
    if (other == DEM_NOBODY || other < 0 || other / SOLID_FACES != key / SOLID_FACES) continue;
    bool there = false;
    for (int k = 0; k < found; k++)
      if (solid_face(solid, &touch[k]) == other % SOLID_FACES) claimed |= 1 << k, there = true;
    lost += !there && other < key;
  }
  for (int k = 0; k < found; k++)
    if (!(claimed & 1 << k) && lost-- == 0) return k;
  return -1;
}

static Surface surface_by_key(const DemStep *work, int64_t i, int32_t key) {
  if (key < 0) return surface_of_sample(work, ~key);
  const Solid *solid = &work->step->state->solids.items[key / SOLID_FACES];
  double radius = (double)work->step->state->particles.radius[i];
  Vec3 at = place_of(work, i);
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  int found = nearest_points(work, solid, at, radius, touch), k = point_of_key(work, i, key, touch, found);
  return k < 0 ? NO_SURFACE : surface_at(work, key / SOLID_FACES, at, radius, &touch[k]);
}

void dem_boundary_refresh(const DemStep *work, int64_t b, int64_t e) {
  DemContacts *contacts = &work->topology->boundary;
  if (!work->topology->refreshes) return;
  for (int64_t k = b; k < e; k++) {
    int32_t key = contacts->key[k];
    if (key == DEM_NOBODY || (key >= 0 && dem_boundary_is_flat(&work->step->state->solids.items[key / SOLID_FACES])))
      continue;
    Surface surface = surface_by_key(work, contacts->first[k] / DEM_ROW, key);
    store_surface(work, contacts, k, &surface);
  }
}

/* ---- which may touch soon ---- */

typedef struct BoundaryListing {
  const DemStep *work;
  DemTopology *fresh;
  bool by_distance, by_samples;
} BoundaryListing;

/* Keys of the contacts with one listed solid, ascending. A moving solid may come from as far as the list reaches. */
static int near_keys(const BoundaryListing *listing, int64_t i, int64_t entry, ShapePoint touch[SHAPE_CONTACTS_MAX],
                     int32_t keys[SHAPE_CONTACTS_MAX]) {
  const State *state = listing->work->step->state;
  int32_t index = state->contacts.solids.list.index[entry];
  const Solid *solid = &state->solids.items[index];
  double margin =
      solid->motion == MOTION_FIXED ? (double)listing->fresh->margin[i / DEM_OCTET] : 2 * (double)state->contacts.skin;
  int found = nearest_points(listing->work, solid, place_of(listing->work, i),
                             (double)state->particles.radius[i] + margin, touch);
  /* The points come nearest first. Sums in that order would depend on when the list was made. */
  for (int k = 0; k < found; k++) {
    ShapePoint point = touch[k];
    int32_t key = key_of(index, solid_face(solid, &point));
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

static void count_contacts(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const BoundaryListing *listing = context;
  const Contacts *contacts = &listing->work->step->state->contacts;
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  int32_t keys[SHAPE_CONTACTS_MAX];
  for (int64_t i = b; i < e; i++) {
    int64_t count = 0;
    if (listing->by_distance)
      for (int64_t k = contacts->solids.list.start[i]; k < contacts->solids.list.start[i + 1]; k++)
        count += near_keys(listing, i, k, touch, keys);
    if (listing->by_samples) count += contacts->samples.list.start[i + 1] - contacts->samples.list.start[i];
    listing->fresh->boundary.start[i + 1] = (int32_t)count;
  }
}

/* Where a contact was among those of a grain; -1: it was not there. One that is `alone` with its solid is that which
 * was alone with it, whichever face it is: a grain goes over the edges of a mesh. */
static int32_t contact_before(const DemTopology *old, int64_t row, int32_t key, bool alone) {
  int32_t before = -1;
  for (int32_t k = old->boundary.start[row]; k < old->boundary.start[row + 1]; k++) {
    const int32_t other = old->boundary.key[k];
    if (other == key) return k;
    if (!alone || other == DEM_NOBODY || other < 0 || other / SOLID_FACES != key / SOLID_FACES) continue;
    if (before >= 0) alone = false;
    before = k;
  }
  return alone ? before : -1;
}

static void carry_contact(const BoundaryListing *listing, int64_t i, int32_t key, bool alone, int64_t to) {
  const DemTopology *old = listing->work->topology;
  int64_t row = listing->work->fields->row[i] - 1;
  if (row < 0 || row >= old->grains) return;
  int32_t k = contact_before(old, row, key, alone);
  if (k >= 0) dem_carry_springs(old, &old->boundary, k, listing->fresh, &listing->fresh->boundary, to, 1);
}

static void add_contact(const BoundaryListing *listing, int64_t i, int32_t key, bool alone, const Surface *surface,
                        int64_t at) {
  DemContacts *contacts = &listing->fresh->boundary;
  contacts->first[at] = (int32_t)(DEM_ROW * i);
  contacts->key[at] = key;
  store_surface(listing->work, contacts, at, surface);
  carry_contact(listing, i, key, alone, at);
}

static void fill_contacts(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const BoundaryListing *listing = context;
  const DemStep *work = listing->work;
  const State *state = work->step->state;
  const NeighborList *near_solids = &state->contacts.solids.list, *samples = &state->contacts.samples.list;
  DemContacts *contacts = &listing->fresh->boundary;
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  int32_t keys[SHAPE_CONTACTS_MAX];
  for (int64_t i = b; i < e; i++) {
    int64_t at = contacts->start[i];
    if (listing->by_distance)
      for (int64_t k = near_solids->start[i]; k < near_solids->start[i + 1]; k++) {
        int found = near_keys(listing, i, k, touch, keys);
        for (int f = 0; f < found; f++) {
          Surface surface =
              surface_at(work, keys[f] / SOLID_FACES, place_of(work, i), (double)state->particles.radius[i], &touch[f]);
          if (dem_boundary_is_flat(&state->solids.items[keys[f] / SOLID_FACES]))
            flatten(work, i, keys[f], &touch[f], &surface);
          add_contact(listing, i, keys[f], found == 1, &surface, at++);
        }
      }
    if (listing->by_samples)
      for (int64_t k = samples->start[i]; k < samples->start[i + 1]; k++)
        add_contact(listing, i, ~samples->index[k], false, &NO_SURFACE, at++);
    for (; at < contacts->start[i + 1]; at++) { /* the window's last: padding */
      contacts->first[at] = (int32_t)(DEM_ROW * i);
      contacts->key[at] = DEM_NOBODY;
      store_surface(work, contacts, at, &NO_SURFACE);
    }
  }
}

Status dem_boundary_list(DemStep *work, DemTopology *fresh) {
  Core *core = work->step->core;
  const Contacts *contacts = &work->step->state->contacts;
  int64_t grains = work->rows.grains;
  BoundaryListing listing = {work, fresh, contacts->solids.list.count == grains && contacts->solids.list.entries > 0,
                             contacts->samples.list.count == grains && contacts->samples.list.entries > 0};
  TRY(memory_new(core, &fresh->boundary.start, grains + 1, "contacts"));
  parallel_for(core, 0, grains, DEM_CHUNK, count_contacts, &listing);
  int64_t count;
  TRY(dem_starts(core, fresh, fresh->boundary.start, &count, &fresh->fullest_boundary));
  TRY(dem_contacts_room(core, &fresh->boundary, &fresh->boundary.key, count, fresh->spring_size));
  TRY(memory_new(core, &fresh->boundary.surfaces, count / LANES * DEM_SURFACE, "contacts"));
  parallel_for(core, 0, grains, DEM_CHUNK, fill_contacts, &listing);
  fresh->refreshes = listing.by_samples;
  const Solids *all = &work->step->state->solids;
  for (int32_t k = 0; k < all->count; k++) fresh->refreshes = fresh->refreshes || !dem_boundary_is_flat(&all->items[k]);
  return SCREE_OK;
}

/* ---- reactions ---- */

/* Sums in the fixed point of the wrench, so that the order does not matter. */
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

static Vec3 contact_point(const DemStep *work, int64_t i, int64_t k) {
  const DemTopology *t = work->topology;
  const float(*surface)[LANES] = (const float(*)[LANES])t->boundary.surfaces + k / LANES * DEM_SURFACE;
  const int lane = (int)(k % LANES);
  const float *row = work->rows.quads[DEM_ROW * i];
  int32_t at[3], point[3];
  memcpy(at, row, sizeof at);
  double offset[3];
  for (int c = 0; c < 3; c++) {
    memcpy(&point[c], &surface[SURFACE_POINT + c][lane], sizeof point[c]);
    offset[c] = (double)(int32_t)((uint32_t)point[c] - (uint32_t)at[c]) * t->quantum;
  }
  const Vec3 arm =
      reaction_arm(vec3(offset[0], offset[1], offset[2]), surface[SURFACE_FACE][lane], surface[SURFACE_FACE + 1][lane],
                   surface[SURFACE_FACE + 2][lane], row[3], surface[SURFACE_RADIUS][lane]);
  return vec3_add(place_of(work, i), arm);
}

static void react(const DemStep *work, int64_t k, const float *result, Reaction *reaction) {
  State *state = work->step->state;
  const DemContacts *contacts = &work->topology->boundary;
  int32_t key = contacts->key[k];
  int32_t index = key < 0 ? state->samples.solid[~key] : key / SOLID_FACES;
  if (index != reaction->solid) reaction_flush(state, reaction);
  reaction->solid = index;
  Vec3 force = vec3(-(double)result[0], -(double)result[1], -(double)result[2]), torque = vec3(0, 0, 0);
  if (work->settings->rolling) torque = vec3(-(double)result[8], -(double)result[9], -(double)result[10]);
  Vec3 arm = vec3_sub(contact_point(work, contacts->first[k] / DEM_ROW, k), state->solids.items[index].center);
  torque = vec3_add(torque, vec3_cross(arm, force));
  const double parts[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
  for (int c = 0; c < 6; c++) reaction->parts[c] += wrench_units(parts[c]);
}

void dem_boundary_react(const DemStep *work, int64_t b, int64_t e, const float (*exerted)[DEM_SUM]) {
  Reaction reaction = {.solid = -1};
  for (int64_t k = b; k < e; k++) {
    const float *result = exerted[k - b];
    if (result[0] != 0 || result[1] != 0 || result[2] != 0) react(work, k, result, &reaction);
  }
  reaction_flush(work->step->state, &reaction);
}
