#include "methods/dem/contacts.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/dem/contact_kernels.h"

enum { GROUP_CHUNK = 256, GHOST_CHUNK = 1024 };

/* A centre nearer to a surface than this many radii, or behind it, is treated as this near: the normal stays. */
#define NEAREST 0.05

static int64_t padded(int64_t count) { return (count + LANES - 1) / LANES * LANES; }

/* ---- pairs ---- */

typedef struct Listing {
  const DemStep *work;
  float margin;
} Listing;

/* Which entries are nearly in touch, by the rows; both sides of a pair come to the same answer, bit for bit. What is
 * not has no springs. */
static void find_near(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Listing *listing = context;
  const DemStep *work = listing->work;
  ContactList *pairs = &work->step->state->contacts.particles;
  const NeighborList *list = &pairs->list;
  const uint32_t *id = work->step->state->particles.id;
  DemTopology *t = work->topology;
  for (int64_t i = b; i < e; i++) {
    const float(*own)[4] = (const float(*)[4])work->rows + 4 * i;
    int64_t owned = 0, others = 0;
    for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
      int32_t j = list->index[k];
      const float(*other)[4] = (const float(*)[4])work->rows + 4 * (int64_t)j;
      float x = (own[0][0] - other[0][0]) + (own[1][0] - other[1][0]);
      float y = (own[0][1] - other[0][1]) + (own[1][1] - other[1][1]);
      float z = (own[0][2] - other[0][2]) + (own[1][2] - other[1][2]);
      float reach = own[0][3] + other[0][3] + listing->margin;
      bool near = x * x + y * y + z * z < reach * reach, first = id[i] < id[j];
      t->near[k] = near;
      owned += near & first;
      others += near & !first;
      if (!near && first) memset(pairs->history + k * DEM_HISTORY, 0, sizeof(float) * DEM_HISTORY);
    }
    t->owned[i + 1] = owned;
    t->others[i + 1] = others;
  }
}

static void own_pairs(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Listing *listing = context;
  const NeighborList *list = &listing->work->step->state->contacts.particles.list;
  const uint32_t *id = listing->work->step->state->particles.id;
  const DemTopology *t = listing->work->topology;
  for (int64_t i = b; i < e; i++) {
    int64_t pair = t->owned[i], ref = t->others[i];
    for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
      int32_t j = list->index[k];
      if (!t->near[k]) continue;
      if (id[i] < id[j]) {
        t->first[pair] = (int32_t)(4 * i);
        t->second[pair] = 4 * j;
        t->unit[pair++] = (int32_t)k;
        continue;
      }
      /* The pair stands in j's row: as far in as j owns near partners before i. */
      int64_t at = t->owned[j];
      for (int64_t m = list->start[j]; list->index[m] != i; m++) at += t->near[m] && id[j] < id[list->index[m]];
      t->refs[ref++] = (int32_t)at;
    }
  }
}

static Status topology_room(Core *core, DemTopology *t, int64_t pairs) {
  if (memory_size(t->first) >= padded(pairs) * (int64_t)sizeof *t->first &&
      memory_size(t->refs) >= (pairs + DEM_SPARE) * (int64_t)sizeof *t->refs)
    return SCREE_OK;
  memory_drop(core, &t->first);
  memory_drop(core, &t->second);
  memory_drop(core, &t->unit);
  memory_drop(core, &t->refs);
  int64_t room = padded(pairs + pairs / 16 + LANES);
  TRY(memory_new(core, &t->first, room, "pairs"));
  TRY(memory_new(core, &t->second, room, "pairs"));
  TRY(memory_new(core, &t->unit, room, "pairs"));
  return memory_new(core, &t->refs, room + DEM_SPARE, "pairs");
}

/* Grains are nearly in touch when nearer than this, in nominal radii. */
#define NEARLY 0.04

static Status topology_update(DemStep *work, double moved) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  DemTopology *t = work->topology;
  const NeighborList *list = &state->contacts.particles.list;
  double margin = NEARLY * state->radius;
  t->moved += moved;
  if (t->builds == state->contacts.builds && t->grains == list->count && 2 * t->moved < margin) return SCREE_OK;
  int64_t grains = list->count;
  t->builds = -1;
  t->moved = 0;
  TRY(memory_grow(core, &t->owned, grains + 1, "pairs"));
  TRY(memory_grow(core, &t->others, grains + 1, "pairs"));
  TRY(memory_grow(core, &t->near, list->entries, "pairs"));
  Listing listing = {work, (float)margin};
  t->owned[0] = t->others[0] = 0;
  parallel_for(core, 0, grains, DEM_CHUNK, find_near, &listing);
  for (int64_t i = 0; i < grains; i++) {
    t->owned[i + 1] += t->owned[i];
    t->others[i + 1] += t->others[i];
  }
  int64_t pairs = t->owned[grains];
  TRY(topology_room(core, t, pairs));
  parallel_for(core, 0, grains, DEM_CHUNK, own_pairs, &listing);
  for (int64_t k = pairs; k < padded(pairs); k++) {
    t->first[k] = t->second[k] = (int32_t)(4 * grains); /* the row that touches nothing */
    t->unit[k] = 0;
  }
  memset(t->refs + pairs, 0, sizeof *t->refs * DEM_SPARE);
  t->builds = state->contacts.builds;
  t->grains = grains;
  return SCREE_OK;
}

void dem_topology_destroy(Core *core, DemTopology *topology) {
  memory_drop(core, &topology->near);
  memory_drop(core, &topology->owned);
  memory_drop(core, &topology->others);
  memory_drop(core, &topology->refs);
  memory_drop(core, &topology->first);
  memory_drop(core, &topology->second);
  memory_drop(core, &topology->unit);
}

/* ---- rows ---- */

static void set_row(const DemStep *work, int64_t row, Vec3 velocity, Vec3 spin, const float *where, float radius,
                    double inverse_mass, float column) {
  const float full[DEM_ROW] = {where[0],          where[1],          where[2],          radius,
                               where[3],          where[4],          where[5],          (float)inverse_mass,
                               (float)velocity.x, (float)velocity.y, (float)velocity.z, radius > 0 ? 1 / radius : 0,
                               (float)spin.x,     (float)spin.y,     (float)spin.z,     column};
  memcpy(work->rows[4 * row], full, sizeof full);
}

/* ---- contacts with solids ---- */

static bool is_movable(const Solid *solid) { return solid->motion == MOTION_FREE || solid->motion == MOTION_MECHANISM; }

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

/* Faces of a container keep their springs apart: by the axis of the face in the container's own frame. */
static int ghost_slot(const Solid *solid, Vec3 normal) {
  if (!solid->shape.inside || (solid->shape.kind != SCREE_SHAPE_BOX && solid->shape.kind != SCREE_SHAPE_CYLINDER))
    return 0;
  Vec3 local = solid->rotation.w == 1 ? normal : quat_rotate(quat_conjugate(solid->rotation), normal);
  if (fabs(local.z) > 0.7) return 2;
  return solid->shape.kind == SCREE_SHAPE_BOX && fabs(local.y) > 0.7 ? 1 : 0;
}

static void find_by_distance(const DemStep *work, int64_t i, int64_t entry) {
  const State *state = work->step->state;
  const float(*row)[4] = (const float(*)[4])work->rows + 4 * i;
  int32_t index = state->contacts.solids.list.index[entry];
  const Solid *solid = &state->solids.items[index];
  float radius = row[0][3], column = (float)(state->materials.count + index);
  Vec3 at = vec3(state->origin.x + (double)row[0][0] + (double)row[1][0],
                 state->origin.y + (double)row[0][1] + (double)row[1][1],
                 state->origin.z + (double)row[0][2] + (double)row[1][2]);
  double lag = pose_lag(work, solid);
  Vec3 seen = lag != 0 ? vec3_madd(at, solid_velocity_at(solid, at), -lag) : at;
  ShapePoint touch[SHAPE_CONTACTS_MAX];
  /* Most walls are not turned: that saves their quaternion. */
  bool upright = solid->rotation.w == 1;
  int found = upright ? shape_contacts(&solid->shape, vec3_sub(seen, solid->position), (double)radius, touch)
                      : solid_contacts(solid, seen, (double)radius, touch);
  for (int k = 0; k < found; k++) {
    int64_t ghost = entry * DEM_GHOSTS + ghost_slot(solid, touch[k].normal);
    Vec3 n = touch[k].normal, velocity = solid_velocity_at(solid, vec3_madd(at, n, -touch[k].distance));
    double away = fmax(touch[k].distance, NEAREST * (double)radius);
    const float where[6] = {row[0][0],
                            row[0][1],
                            row[0][2],
                            (float)((double)row[1][0] - n.x * away),
                            (float)((double)row[1][1] - n.y * away),
                            (float)((double)row[1][2] - n.z * away)};
    set_row(work, work->pad + 1 + ghost, velocity, solid->spin, where, 0, solid_inverse_mass(solid), column);
    work->solids.first[ghost] = (int32_t)(4 * i);
    work->solids.second[ghost] = (int32_t)(4 * (work->pad + 1 + ghost));
  }
}

static void find_by_sample(const DemStep *work, int64_t i, int64_t entry) {
  const State *state = work->step->state;
  const SolidSamples *s = &state->samples;
  int32_t sample = state->contacts.samples.list.index[entry];
  const Solid *solid = &state->solids.items[s->solid[sample]];
  float lag = (float)pose_lag(work, solid);
  const float where[6] = {s->x[sample],        s->y[sample],        s->z[sample],
                          lag * s->vx[sample], lag * s->vy[sample], lag * s->vz[sample]};
  int64_t row = work->pad + 1 + work->solids.count + entry;
  /* Its velocity is that of its centre: the lever of its own radius is the kernel's. */
  set_row(work, row, vec3((double)s->vx[sample], (double)s->vy[sample], (double)s->vz[sample]), solid->spin, where,
          s->radius, solid_inverse_mass(solid), (float)(state->materials.count + s->solid[sample]));
  work->samples.first[entry] = (int32_t)(4 * i);
  work->samples.second[entry] = (int32_t)(4 * row);
}

static void find_ghosts(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const DemStep *work = context;
  const Contacts *contacts = &work->step->state->contacts;
  const int64_t *solids = contacts->solids.list.start, *samples = contacts->samples.list.start;
  for (int64_t i = b; i < e; i++) {
    if (work->solids.count > 0)
      for (int64_t k = solids[i]; k < solids[i + 1]; k++) find_by_distance(work, i, k);
    if (work->samples.count > 0)
      for (int64_t k = samples[i]; k < samples[i + 1]; k++) find_by_sample(work, i, k);
  }
}

static Status take_ghosts(const DemStep *work, int64_t count, float *history, DemPairs *ghosts) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  int64_t room = padded(count);
  *ghosts = (DemPairs){.count = count, .history = history};
  TRY(scratch_take(core, scratch, &ghosts->first, room, "ghosts"));
  TRY(scratch_take(core, scratch, &ghosts->second, room, "ghosts"));
  TRY(scratch_take(core, scratch, &ghosts->unit, room, "ghosts"));
  TRY(scratch_take(core, scratch, &ghosts->result, room * DEM_RESULT, "ghost results"));
  for (int64_t k = 0; k < room; k++) {
    ghosts->first[k] = ghosts->second[k] = (int32_t)(4 * work->pad);
    ghosts->unit[k] = k < count ? (int32_t)k : 0;
  }
  return SCREE_OK;
}

/* The grains' rows, and the pairs that matter with grains there. */
static Status fill_rows(DemStep *work) {
  Core *core = work->step->core;
  int64_t chunks = parallel_chunks(0, work->pad, DEM_CHUNK);
  int mark = scratch_mark(work->step->scratch);
  const float nowhere[6] = {0};
  set_row(work, work->pad, vec3(0, 0, 0), vec3(0, 0, 0), nowhere, 1, 1, 0);
  TRY(scratch_take(core, work->step->scratch, &work->farthest, chunks, "farthest"));
  parallel_for(core, 0, work->pad, DEM_CHUNK, KERNEL_CALL(core, dem_row_pass), work);
  double square = 0;
  for (int64_t k = 0; k < chunks; k++) square = fmax(square, (double)work->farthest[k]);
  scratch_release(core, work->step->scratch, mark);
  return topology_update(work, sqrt(square));
}

Status dem_contacts_begin(DemStep *work) {
  Core *core = work->step->core;
  State *state = work->step->state;
  Scratch *scratch = work->step->scratch;
  Contacts *contacts = &state->contacts;
  int64_t grains = state->particles.count;
  int64_t solids = contacts->solids.list.count == grains ? contacts->solids.list.entries * DEM_GHOSTS : 0;
  int64_t samples = contacts->samples.list.count == grains ? contacts->samples.list.entries : 0;
  work->pad = grains;
  work->row_count = grains + 1 + solids + samples;
  TRY(scratch_take(core, scratch, &work->rows, 4 * work->row_count, "rows"));
  TRY(fill_rows(work));
  DemTopology *t = work->topology;
  work->pairs = (DemPairs){t->owned[grains], t->first, t->second, t->unit, contacts->particles.history, NULL};
  TRY(scratch_take(core, scratch, &work->pairs.result, padded(work->pairs.count) * DEM_RESULT, "results"));
  TRY(take_ghosts(work, solids, contacts->solids.history, &work->solids));
  TRY(take_ghosts(work, samples, contacts->samples.history, &work->samples));
  if (solids + samples > 0) parallel_for(core, 0, grains, DEM_CHUNK, find_ghosts, work);
  return SCREE_OK;
}

static Status forces_of(DemStep *work, DemPairs *pairs, double *stiffest) {
  Core *core = work->step->core;
  int64_t groups = padded(pairs->count) / LANES, chunks = parallel_chunks(0, groups, GROUP_CHUNK);
  int mark = scratch_mark(work->step->scratch);
  DemPass pass = {.work = work, .pairs = pairs, .chunk = GROUP_CHUNK};
  TRY(scratch_take(core, work->step->scratch, &pass.stiffest, chunks, "stiffest"));
  parallel_for(core, 0, groups, GROUP_CHUNK, KERNEL_CALL(core, dem_force_pass), &pass);
  for (int64_t k = 0; k < chunks; k++) *stiffest = fmax(*stiffest, (double)pass.stiffest[k]);
  scratch_release(core, work->step->scratch, mark);
  return SCREE_OK;
}

Status dem_contacts_forces(DemStep *work, double *stiffest) {
  *stiffest = 0;
  TRY(forces_of(work, &work->pairs, stiffest));
  TRY(forces_of(work, &work->solids, stiffest));
  return forces_of(work, &work->samples, stiffest);
}

void dem_contacts_gather(DemStep *work) {
  Core *core = work->step->core;
  parallel_for(core, 0, work->step->state->particles.count, DEM_CHUNK, KERNEL_CALL(core, dem_gather_pass), work);
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

static void push(const DemStep *work, const DemPairs *ghosts, int64_t g, Reaction *reaction) {
  State *state = work->step->state;
  const float *result = ghosts->result + g * DEM_RESULT;
  const float(*row)[4] = (const float(*)[4])work->rows + ghosts->second[g];
  const float(*own)[4] = (const float(*)[4])work->rows + ghosts->first[g];
  int32_t index = (int32_t)row[3][3] - state->materials.count;
  if (index != reaction->solid) reaction_flush(state, reaction);
  reaction->solid = index;
  const Solid *solid = &state->solids.items[index];
  Vec3 force = vec3(-(double)result[0], -(double)result[1], -(double)result[2]);
  Vec3 moment = vec3(-(double)result[6], -(double)result[7], -(double)result[8]);
  /* The touched point lies on the line of centres, divided as the radii are. */
  double share = (double)row[0][3] / (double)(row[0][3] + own[0][3]);
  double point[3];
  for (int c = 0; c < 3; c++) {
    double from = (double)row[0][c] + (double)row[1][c], to = (double)own[0][c] + (double)own[1][c];
    point[c] = from + (to - from) * share;
  }
  Vec3 arm = vec3_sub(vec3_add(state->origin, vec3(point[0], point[1], point[2])), solid->center);
  Vec3 torque = vec3_add(moment, vec3_cross(arm, force));
  const double parts[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
  for (int k = 0; k < 6; k++) reaction->parts[k] += (int64_t)(parts[k] * 0x1p30);
}

typedef struct Pushes {
  const DemStep *work;
  const DemPairs *ghosts;
} Pushes;

static void push_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Pushes *pushes = context;
  Reaction reaction = {.solid = -1};
  for (int64_t g = b; g < e; g++)
    if (pushes->ghosts->second[g] != 4 * pushes->work->pad) push(pushes->work, pushes->ghosts, g, &reaction);
  reaction_flush(pushes->work->step->state, &reaction);
}

void dem_contacts_push_solids(DemStep *work) {
  Pushes solids = {work, &work->solids}, samples = {work, &work->samples};
  parallel_for(work->step->core, 0, work->solids.count, GHOST_CHUNK, push_chunk, &solids);
  parallel_for(work->step->core, 0, work->samples.count, GHOST_CHUNK, push_chunk, &samples);
}
