/* What a particle can touch: samples of solids, neighbour lists, solids within reach. Lists live for as long as
 * nothing has moved half the skin. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "world/world.h"
#include "world/world_kernels.h"

enum { SURROUND_GRAIN = 128, SAMPLES_GRAIN = 64 };

/* Of what may be moved: sums of floats may be off by a little; and so may differences of places far from the origin, by
 * this share of their coordinates. What sums allow is then what measuring would say: how far grains go in a step may
 * be known better on one machine than on another. */
#define SUMS_SUFFICE 0.999
#define PLACES_ARE_OFF (3 * 0x1p-23)
enum { SORTED_FOR = 8 }; /* so often, on average, a particle may move on before the particles are sorted again */

/* Samples ride on their solids. */
static void place_samples(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  State *state = context;
  SolidSamples *s = &state->samples;
  for (int64_t k = b; k < e; k++) {
    const Solid *solid = &state->solids.items[s->solid[k]];
    Vec3 at = solid_to_world(solid, vec3((double)s->local_x[k], (double)s->local_y[k], (double)s->local_z[k]));
    Vec3 velocity = solid_velocity_at(solid, at);
    s->x[k] = (float)(at.x - state->origin.x);
    s->y[k] = (float)(at.y - state->origin.y);
    s->z[k] = (float)(at.z - state->origin.z);
    s->vx[k] = (float)velocity.x;
    s->vy[k] = (float)velocity.y;
    s->vz[k] = (float)velocity.z;
  }
}

/* Farthest that the surface of a solid may have come in a step: of all, and of those that are touched by distance. */
void world_solids_step(ScreeWorld *world, double dt) {
  const State *state = &world->state;
  double farthest = 0, surfaces = 0;
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    double moved = solid_surface_speed(solid, solid->velocity, solid->spin) * dt;
    farthest = fmax(farthest, moved);
    if (!solid_is_sampled(solid)) surfaces = fmax(surfaces, moved);
  }
  world->solids_moved += farthest;
  world->surfaces_moved += surfaces;
}

/* Particles that have left the place where they are known by more than they may. */
typedef struct Leaving {
  Particles *particles;
  float allowed; /* m */
  NearSolids near;
  int64_t (*find)(const Particles *p, int64_t b, int64_t e, float allowed, uint8_t *moved);
} Leaving;

/* Particles are now known where they are about to go. One has come nearer to solids by at most what it and they have
 * moved. */
static inline void anchor(Particles *p, int64_t i) {
  float x = p->x[i] + p->dx[i], y = p->y[i] + p->dy[i], z = p->z[i] + p->dz[i];
  float mx = x - p->built_x[i], my = y - p->built_y[i], mz = z - p->built_z[i];
  p->clear[i] -= sqrtf(mx * mx + my * my + mz * mz);
  p->built_x[i] = x;
  p->built_y[i] = y;
  p->built_z[i] = z;
}

static void anchor_all(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Particles *p = context;
  for (int64_t i = b; i < e; i++) anchor(p, i);
}

/* They are known where they are now from now on, and asked about solids there. */
static double leaving_chunk(void *context, int64_t b, int64_t e) {
  const Leaving *leaving = context;
  uint8_t moved[NEAR_GRAIN];
  int64_t count = leaving->find(leaving->particles, b, e, leaving->allowed, moved);
  for (int64_t i = b; i < e && count > 0; i++)
    if (moved[i - b]) anchor(leaving->particles, i);
  if (count > 0 || leaving->near.closer > 0) world_look_near(&leaving->near, b, e, moved);
  return (double)count;
}

static double outermost_chunk(void *context, int64_t b, int64_t e) {
  const Particles *p = context;
  float most = 0;
  for (int64_t i = b; i < e; i++)
    most = fmaxf(fmaxf(most, fabsf(p->built_x[i])), fmaxf(fabsf(p->built_y[i]), fabsf(p->built_z[i])));
  return (double)most;
}

static Points anchors(const Particles *p) { return (Points){p->count, p->built_x, p->built_y, p->built_z, p->id}; }

/* Sorts the particles into cell order. */
static Status sort_particles(ScreeWorld *world, float cell) {
  Core *core = &world->core;
  Particles *p = &world->state.particles;
  int32_t *order = NULL;
  int mark = scratch_mark(&world->scratch);
  TRY(scratch_take(core, &world->scratch, &order, p->count, "order"));
  TRY(cell_grid_order(core, world->grid, &world->scratch, anchors(p), cell, order));
  TRY(particles_permute(core, p, &world->scratch, order, p->count));
  scratch_release(core, &world->scratch, mark);
  return SCREE_OK;
}

typedef struct Search {
  ListReach reach;
  float *radius; /* with their share of the skin in them; NULL: all the same */
} Search;

typedef struct Radii {
  const float *from;
  float *to;
  float skin;
} Radii;

static void radii_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Radii *radii = context;
  for (int64_t i = b; i < e; i++) radii->to[i] = radii->from[i] + radii->skin;
}

static double largest_chunk(void *context, int64_t b, int64_t e) {
  const Particles *p = context;
  float largest = 0;
  for (int64_t i = b; i < e; i++) largest = p->radius[i] > largest ? p->radius[i] : largest;
  return (double)largest;
}

static double other_chunk(void *context, int64_t b, int64_t e) {
  const Particles *p = context;
  bool other = false;
  for (int64_t i = b; i < e; i++) other |= p->radius[i] != p->radius[0];
  return other;
}

/* Radii are born with the particles. */
void world_survey_radii(ScreeWorld *world) {
  Core *core = &world->core;
  Particles *p = &world->state.particles;
  world->radius_largest = (float)parallel_max(core, 0, p->count, SURROUND_GRAIN, 0, largest_chunk, p);
  world->radii_differ = parallel_max(core, 0, p->count, SURROUND_GRAIN, 0, other_chunk, p) > 0;
}

ListReach world_list_reach(const ScreeWorld *world, const MethodNeeds *needs, float skin) {
  ListReach reach = {.factor = needs->pairs > 0 ? needs->pairs : 1, .skin = skin};
  reach.share = 0.5f * skin / reach.factor;
  reach.pairs = reach.factor * 2 * world->radius_largest + skin;
  reach.cell = reach.pairs * 1.00001f; /* sums of floats differ by their order */
  if (!isnan(needs->cell)) reach.cell = (float)needs->cell;
  if (world->radii_differ) reach.pairs = reach.factor;
  return reach;
}

static Status plan_search(ScreeWorld *world, const MethodNeeds *needs, float skin, Search *search) {
  Core *core = &world->core;
  const Particles *p = &world->state.particles;
  *search = (Search){.reach = world_list_reach(world, needs, skin)};
  if (!world->radii_differ) return SCREE_OK;
  TRY(scratch_take(core, &world->scratch, &search->radius, p->count, "radii"));
  Radii radii = {p->radius, search->radius, search->reach.share};
  parallel_for(core, 0, p->count, SURROUND_GRAIN, radii_chunk, &radii);
  return SCREE_OK;
}

/* Samples of solids near each particle. */
static Status list_samples(ScreeWorld *world, const Search *search) {
  Core *core = &world->core;
  State *state = &world->state;
  const SolidSamples *s = &state->samples;
  if (s->count == 0) return SCREE_OK;
  Points samples = {s->count, s->x, s->y, s->z, s->id};
  float *radius = NULL;
  float reach = search->reach.factor * (world->radius_largest + s->radius) + search->reach.skin;
  TRY(cell_grid_hash(core, world->sample_grid, samples, reach * 1.00001f)); /* sums of floats, again */
  if (search->radius) {
    reach = search->reach.factor;
    TRY(scratch_take(core, &world->scratch, &radius, s->count, "sample radii"));
    for (int64_t k = 0; k < s->count; k++) radius[k] = s->radius + search->reach.share;
  }
  return neighbor_list_build(core, world->sample_grid, anchors(&state->particles), samples, reach, search->radius,
                             radius, &state->contacts.samples.list);
}

Status world_list_samples(ScreeWorld *world, const MethodNeeds *needs, float skin) {
  Search search;
  if (world->state.samples.count == 0) return SCREE_OK;
  TRY(plan_search(world, needs, skin, &search));
  return list_samples(world, &search);
}

void world_lists_are_new(ScreeWorld *world, const MethodNeeds *needs, float skin) {
  Contacts *contacts = &world->state.contacts;
  contacts->reach = needs->pairs;
  contacts->skin = skin;
  contacts->builds++;
  contacts->elsewhere = false;
  world->lists_known = true;
  world->neighbors_stale = false;
  world->grains_moved = 0;
  world->solids_moved = world->surfaces_moved = 0;
}

/* All lists, from where particles are known. */
static Status build_lists(ScreeWorld *world, const MethodNeeds *needs, const Search *search) {
  Core *core = &world->core;
  NeighborList *pairs = &world->state.contacts.particles.list;
  Points points = anchors(&world->state.particles);
  const float reach = search->reach.pairs;
  if (needs->pairs > 0) {
    TRY(cell_grid_build(core, world->grid, points, search->reach.cell));
    TRY(neighbor_list_build(core, world->grid, points, points, reach, search->radius, search->radius, pairs));
    TRY(list_samples(world, search));
  }
  TRY(world_list_solids(world, needs, search->reach.skin));
  world_lists_are_new(world, needs, search->reach.skin);
  return SCREE_OK;
}

static Status rebuild(ScreeWorld *world, const MethodNeeds *needs) {
  Particles *p = &world->state.particles;
  float skin = needs->skin * (float)world->state.radius;
  Search search;
  parallel_for(&world->core, 0, p->count, SURROUND_GRAIN, anchor_all, p);
  world->outermost = parallel_max(&world->core, 0, p->count, SURROUND_GRAIN, 0, outermost_chunk, p);
  world_survey_radii(world);
  TRY(plan_search(world, needs, skin, &search));
  TRY(sort_particles(world, search.reach.cell));
  if (search.radius) TRY(plan_search(world, needs, skin, &search)); /* radii in the new order */
  world->moved_on = 0;
  return build_lists(world, needs, &search);
}

/* A resumed run knows where particles are known, but not the list. Who was born since, the last ones, is not in it. */
static Status restore(ScreeWorld *world, const MethodNeeds *needs) {
  Particles *p = &world->state.particles;
  int64_t all = p->count;
  while (p->count > 0 && isnan(p->built_x[p->count - 1])) p->count--;
  Status status = build_lists(world, needs, &(Search){.reach.skin = world->state.contacts.skin});
  p->count = all;
  return status;
}

float world_allowed(const ScreeWorld *world, const MethodNeeds *needs) {
  return 0.5f * (world->state.contacts.skin - needs->margin * (float)world->state.radius);
}

bool world_must_sort_after(const ScreeWorld *world, int64_t more) {
  return world->moved_on + more > SORTED_FOR * world->state.particles.count;
}

/* For NEIGHBORS_SEARCHED: near solids beyond those that matter change nothing, nor does the time at which they were
 * found, so only particles that moved too far are looked at anew. Now and then the particles are sorted, for memory's
 * sake. When that is depends on nothing that a checkpoint does not hold. */
Status world_keep_up(ScreeWorld *world, const MethodNeeds *needs) {
  Core *core = &world->core;
  State *state = &world->state;
  Particles *p = &state->particles;
  if (world->neighbors_stale) return rebuild(world, needs);
  if (!world->lists_known) TRY(restore(world, needs));
  float skin = state->contacts.skin, allowed = world_allowed(world, needs);
  bool closer = world->surfaces_moved > (double)allowed;
  Leaving leaving = {.particles = p, .allowed = allowed, .find = KERNEL_CALL(core, world_leaving)};
  leaving.near = world_near_solids(world, needs, skin, closer);
  world->moved_on += (int64_t)parallel_sum(core, 0, p->count, NEAR_GRAIN, leaving_chunk, &leaving);
  if (closer) world->surfaces_moved = 0;
  return world_must_sort_after(world, 0) ? rebuild(world, needs) : SCREE_OK;
}

static double moved_chunk(void *context, int64_t b, int64_t e) {
  const Particles *p = context;
  float largest = 0, check = 0;
  for (int64_t i = b; i < e; i++) {
    float x = p->x[i] + p->dx[i] - p->built_x[i], y = p->y[i] + p->dy[i] - p->built_y[i],
          z = p->z[i] + p->dz[i] - p->built_z[i];
    float square = x * x + y * y + z * z;
    largest = square > largest ? square : largest;
    check += square - square; /* a NaN forces a rebuild, which refuses it */
  }
  return (double)(largest + check);
}

/* Where the farthest displacement of each step is known, nothing is looked at until they add up to too much. */
ListsAge world_lists_age(ScreeWorld *world, const MethodNeeds *needs, double farthest) {
  double allowed = 0.5 * (double)world->state.contacts.skin;
  if (world->neighbors_stale) return LISTS_STALE;
  if (needs->neighbors == NEIGHBORS_NONE) return LISTS_GOOD;
  if (world->solids_moved > allowed) return LISTS_STALE;
  world->grains_moved += farthest;
  const double off = PLACES_ARE_OFF * (world->outermost + allowed);
  return world->grains_moved <= SUMS_SUFFICE * allowed - off ? LISTS_GOOD : LISTS_UNKNOWN;
}

ListsAge world_lists_measured(ScreeWorld *world, double square) {
  double allowed = 0.5 * (double)world->state.contacts.skin;
  world->grains_moved = sqrt(square);
  return square <= allowed * allowed ? LISTS_GOOD : LISTS_STALE;
}

Status world_rebuild_lists(ScreeWorld *world, const MethodNeeds *needs) {
  int mark = scratch_mark(&world->scratch);
  Status status = rebuild(world, needs);
  scratch_release(&world->core, &world->scratch, mark);
  return status;
}

static Status refresh_lists(ScreeWorld *world, const MethodNeeds *needs, double farthest) {
  Particles *p = &world->state.particles;
  ListsAge age = world_lists_age(world, needs, farthest);
  if (age == LISTS_UNKNOWN)
    age =
        world_lists_measured(world, parallel_max(&world->core, 0, p->count, SURROUND_GRAIN, 0, moved_chunk, (void *)p));
  return age == LISTS_GOOD ? SCREE_OK : world_rebuild_lists(world, needs);
}

void world_place_samples(ScreeWorld *world) {
  parallel_for(&world->core, 0, world->state.samples.count, SAMPLES_GRAIN, place_samples, &world->state);
}

Status world_refresh_surroundings(ScreeWorld *world, const Step *step) {
  MethodNeeds needs = world_needs(world);
  world_place_samples(world);
  world_solids_step(world, step->dt);
  int mark = scratch_mark(&world->scratch);
  Status status = SCREE_OK;
  if (needs.neighbors == NEIGHBORS_SEARCHED) status = world_keep_up(world, &needs);
  else status = refresh_lists(world, &needs, step->farthest);
  scratch_release(&world->core, &world->scratch, mark);
  return status;
}
