#define LANE_SCALAR /* pairs are looked at one by one */
#include "methods/dem/pairs.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/dem/touches.h"

/* Contacts are nearly there when nearer than the margins of both grains. Wide ones cost pairs that do not touch, in
 * every step, in proportion to themselves; narrow ones are used up soon, and making the list takes as long as a few
 * steps. A flock's margin is what it would go in as many steps as the list shall hold at its way of now, and a share of
 * the mean way of all, for what is slow now may be hit; so one fast grain in a bed at rest widens its own margin alone.
 * The sum of both costs is least where the list holds for a number, which was measured, over the root of the mean
 * margin of a step in nominal radii. It holds for so many steps at least, and no margin becomes so narrow that rounding
 * would matter. */
#define MEAN_SHARE 0.7
#define HOLD_ROOT 0.7
#define STEPS_TO_HOLD 10
#define MARGIN_LEAST 0.001 /* nominal radii */

typedef struct Listing {
  const DemStep *work;
  const DemTopology *old;
  DemTopology *fresh;
  uint8_t *near; /* per entry of the list, of those behind their grain */
} Listing;

int64_t dem_starts(const DemTopology *topology, int32_t *start, int64_t *fullest) {
  int64_t at = 0, began = 0, grains = topology->grains;
  *fullest = 0;
  start[0] = 0;
  for (int64_t i = 0; i < grains; i++) {
    at += start[i + 1];
    if ((i + 1) % topology->slab == 0 || i + 1 == grains) {
      at = dem_padded(at);
      if (at - began > *fullest) *fullest = at - began;
      began = at;
    }
    start[i + 1] = (int32_t)at;
  }
  return at;
}

Status dem_contacts_room(Core *core, DemContacts *contacts, int64_t count, int32_t spring_size) {
  contacts->count = count;
  TRY(memory_new(core, &contacts->first, count, "contacts"));
  TRY(memory_new(core, &contacts->partner, count, "contacts"));
  return memory_new(core, &contacts->springs, count * spring_size, "contacts");
}

void dem_contacts_drop(Core *core, DemContacts *contacts) {
  memory_drop(core, &contacts->start);
  memory_drop(core, &contacts->first);
  memory_drop(core, &contacts->partner);
  memory_drop(core, &contacts->springs);
  memory_drop(core, &contacts->ghost);
  contacts->count = 0;
}

void dem_carry_springs(const DemTopology *old, const DemContacts *old_contacts, int64_t from, const DemTopology *fresh,
                       DemContacts *contacts, int64_t to, float sign) {
  for (int c = 0; c < fresh->spring_size; c++)
    *dem_spring(fresh, contacts, to, c) = sign * *dem_spring(old, old_contacts, from, c);
}

/* ---- pairs of grains ---- */

static bool is_near(const DemStep *work, const float *margin, int64_t i, int64_t j) {
  const float *a = work->rows[DEM_ROW * i], *b = work->rows[DEM_ROW * j];
  ContactPosition at, other;
  memcpy(&at, a, sizeof at);
  memcpy(&other, b, sizeof other);
  float reach = a[3] + b[3] + (margin[i / DEM_FLOCK] + margin[j / DEM_FLOCK]);
  return contact_is_near(at, other, (float)work->topology->quantum, reach);
}

/* Where the entries behind the grain itself begin: rows are ascending. */
static int64_t behind(const NeighborList *list, int64_t i) {
  int64_t k = list->start[i];
  while (k < list->start[i + 1] && list->index[k] < i) k++;
  return k;
}

static void find_near(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Listing *listing = context;
  const NeighborList *list = &listing->work->step->state->contacts.particles.list;
  int64_t length = listing->fresh->slab;
  for (int64_t i = b; i < e; i++) {
    int64_t end = (i / length + 1) * length;
    int32_t inner = 0, outer = 0;
    for (int64_t k = behind(list, i); k < list->start[i + 1]; k++) {
      int32_t j = list->index[k];
      bool near = is_near(listing->work, listing->fresh->margin, i, j);
      listing->near[k] = near;
      inner += near && j < end;
      outer += near && j >= end;
    }
    listing->fresh->pairs.start[i + 1] = inner;
    listing->fresh->outer.start[i + 1] = outer;
  }
}

/* The springs of grains that stood at rows a and b, wherever those are now. */
static void carry_pair(const Listing *listing, int32_t a, int32_t b, DemContacts *contacts, int64_t to) {
  const DemTopology *old = listing->old;
  int32_t low = a < b ? a : b, high = a < b ? b : a;
  if (low < 0 || high >= old->grains) return;
  const DemContacts *from = low / old->slab == high / old->slab ? &old->pairs : &old->outer;
  for (int32_t k = from->start[low]; k < from->start[low + 1]; k++)
    if (from->partner[k] == DEM_ROW * high) {
      dem_carry_springs(old, from, k, listing->fresh, contacts, to, a < b ? 1.f : -1.f);
      return;
    }
}

/* The slab's last are padding: a grain with itself touches nothing. */
static void pad(DemContacts *contacts, int64_t i, int64_t at) {
  for (; at < contacts->start[i + 1]; at++) contacts->first[at] = contacts->partner[at] = (int32_t)(DEM_ROW * i);
}

static void fill_pairs(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Listing *listing = context;
  const NeighborList *list = &listing->work->step->state->contacts.particles.list;
  const int32_t *row = listing->work->fields->row;
  DemContacts *pairs = &listing->fresh->pairs, *outer = &listing->fresh->outer;
  for (int64_t i = b; i < e; i++) {
    int64_t at = pairs->start[i], out = outer->start[i], end = (i / listing->fresh->slab + 1) * listing->fresh->slab;
    for (int64_t k = behind(list, i); k < list->start[i + 1]; k++) {
      int32_t j = list->index[k];
      if (!listing->near[k]) continue;
      DemContacts *to = j < end ? pairs : outer;
      int64_t place = j < end ? at++ : out++;
      to->first[place] = (int32_t)(DEM_ROW * i);
      to->partner[place] = DEM_ROW * j;
      carry_pair(listing, row[i] - 1, row[j] - 1, to, place);
    }
    pad(pairs, i, at);
    pad(outer, i, out);
  }
}

/* Which outer pairs reach into each slab, in their order. */
static Status list_inbox(Core *core, DemTopology *fresh) {
  const DemContacts *outer = &fresh->outer;
  int64_t in_slab = DEM_ROW * fresh->slab; /* quads */
  TRY(memory_new(core, &fresh->inbox_start, fresh->slabs + 1, "contacts"));
  int32_t *start = fresh->inbox_start + 1;
  for (int64_t k = 0; k < outer->count; k++)
    if (outer->partner[k] != outer->first[k]) start[outer->partner[k] / in_slab]++;
  int32_t entries = 0;
  for (int64_t s = 0; s < fresh->slabs; s++) {
    entries += start[s];
    start[s] = entries - start[s];
  }
  TRY(memory_new(core, &fresh->inbox, entries, "contacts"));
  for (int64_t k = 0; k < outer->count; k++)
    if (outer->partner[k] != outer->first[k]) fresh->inbox[start[outer->partner[k] / in_slab]++] = (int32_t)k;
  return SCREE_OK;
}

static Status list_pairs(DemStep *work, Listing *listing) {
  Core *core = work->step->core;
  DemTopology *fresh = listing->fresh;
  const NeighborList *list = &work->step->state->contacts.particles.list;
  int64_t grains = work->grains, fullest;
  TRY(memory_new(core, &fresh->pairs.start, grains + 1, "contacts"));
  TRY(memory_new(core, &fresh->outer.start, grains + 1, "contacts"));
  TRY(scratch_take(core, work->step->scratch, &listing->near, list->entries, "near"));
  parallel_for(core, 0, grains, DEM_CHUNK, find_near, listing);
  DemContacts *both[2] = {&fresh->pairs, &fresh->outer};
  for (int k = 0; k < 2; k++)
    TRY(dem_contacts_room(core, both[k], dem_starts(fresh, both[k]->start, &fullest), fresh->spring_size));
  parallel_for(core, 0, grains, DEM_CHUNK, fill_pairs, listing);
  return list_inbox(core, fresh);
}

/* ---- the whole ---- */

static Status choose_margins(const DemStep *work, DemTopology *fresh) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  int64_t flocks = dem_flocks(fresh->grains);
  TRY(memory_new(core, &fresh->margin, flocks, "contacts"));
  TRY(memory_new(core, &fresh->gone, flocks, "contacts"));
  double sum = 0;
  for (int64_t k = 0; k < flocks; k++) sum += (double)work->ways[k];
  double share = flocks > 0 ? MEAN_SHARE * sum / (double)flocks : 0;
  double mean = (share + share / MEAN_SHARE) / state->radius;
  double held = fmax(mean > 0 ? HOLD_ROOT / sqrt(mean) : 0, STEPS_TO_HOLD);
  double least = MARGIN_LEAST * state->radius, most = 0.5 * (double)state->contacts.skin;
  for (int64_t k = 0; k < flocks; k++)
    fresh->margin[k] = (float)fmin(fmax(held * ((double)work->ways[k] + share), least), most);
  return SCREE_OK;
}

static Status renew(DemStep *work, DemTopology *fresh) {
  Listing listing = {.work = work, .old = work->topology, .fresh = fresh};
  TRY(choose_margins(work, fresh));
  TRY(list_pairs(work, &listing));
  return dem_touches_list(work, fresh);
}

/* Counts the step's ways; answers whether none has become too long. */
static bool margins_hold(const DemTopology *t, const float *ways) {
  bool hold = true;
  for (int64_t k = 0; k < dem_flocks(t->grains); k++) {
    t->gone[k] += ways[k];
    hold &= t->gone[k] < t->margin[k];
  }
  return hold;
}

Status dem_topology_update(DemStep *work) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  DemTopology *t = work->topology;
  if (t->builds == state->contacts.builds && t->grains == work->grains && margins_hold(t, work->ways)) return SCREE_OK;
  DemTopology fresh = {.builds = state->contacts.builds,
                       .grains = work->grains,
                       .spring_size = work->settings->rolling ? 6 : 3,
                       .quantum = t->quantum,
                       .slab = dem_slab_for(work->grains)};
  fresh.slabs = (fresh.grains + fresh.slab - 1) / fresh.slab;
  int mark = scratch_mark(work->step->scratch);
  Status status = renew(work, &fresh);
  scratch_release(core, work->step->scratch, mark);
  if (status != SCREE_OK) {
    dem_topology_destroy(core, &fresh);
    return status;
  }
  for (int64_t i = 0; i < work->grains; i++) work->fields->row[i] = (int32_t)i + 1;
  dem_topology_destroy(core, t);
  *t = fresh;
  return SCREE_OK;
}

void dem_topology_destroy(Core *core, DemTopology *topology) {
  dem_contacts_drop(core, &topology->pairs);
  dem_contacts_drop(core, &topology->outer);
  dem_contacts_drop(core, &topology->solids);
  memory_drop(core, &topology->margin);
  memory_drop(core, &topology->gone);
  memory_drop(core, &topology->inbox_start);
  memory_drop(core, &topology->inbox);
}

/* ---- checkpoints ---- */

static Status archive_contacts(Core *core, Archive *archive, DemTopology *t, DemContacts *contacts) {
  int64_t bytes = (int64_t)sizeof(int32_t) + t->spring_size * (int64_t)sizeof(float);
  TRY(archive_count(core, archive, &contacts->count, bytes));
  if (archive->loading) {
    if (contacts->count % LANES != 0 || contacts->count > INT32_MAX)
      return archive_bad(core, archive, "contacts of no sensible number");
    TRY(memory_new(core, &contacts->start, t->grains + 1, "contacts"));
    TRY(dem_contacts_room(core, contacts, contacts->count, t->spring_size));
  }
  TRY(archive_array(core, archive, contacts->start, t->grains + 1));
  TRY(archive_array(core, archive, contacts->partner, contacts->count));
  TRY(archive_array(core, archive, contacts->springs, contacts->count * t->spring_size));
  for (int64_t i = 0; i < t->grains && archive->loading; i++)
    if (contacts->start[0] != 0 || contacts->start[i] > contacts->start[i + 1] ||
        contacts->start[t->grains] != contacts->count)
      return archive_bad(core, archive, "contacts in disorder");
  return SCREE_OK;
}

/* What the next topology, which the next step makes, takes from this one. */
Status dem_topology_archive(Core *core, Archive *archive, DemTopology *t) {
  if (archive->loading) dem_topology_destroy(core, t);
  TRY(archive_section(core, archive, "dem contacts"));
  TRY(archive_value(core, archive, &t->spring_size));
  TRY(archive_count(core, archive, &t->grains, 2 * (int64_t)sizeof(int32_t)));
  t->builds = -1;
  if (t->grains == 0) return SCREE_OK;
  if (archive->loading && ((t->spring_size != 3 && t->spring_size != 6) || t->grains >= INT32_MAX / DEM_ROW))
    return archive_bad(core, archive, "contacts of no sensible size");
  t->slab = dem_slab_for(t->grains);
  TRY(archive_contacts(core, archive, t, &t->pairs));
  TRY(archive_contacts(core, archive, t, &t->outer));
  return archive_contacts(core, archive, t, &t->solids);
}
