#define LANE_SCALAR /* pairs are looked at one by one */
#include "methods/dem/topology.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/dem/boundary_contacts.h"

/* A pair is in the topology when it is nearer than the margins of both grains. Wide margins cost pairs that do not
 * touch, in every step, in proportion to themselves. Narrow ones are soon used up, and a new topology takes as long as
 * a few steps. The margin of an octet is what it moves in as many steps as the topology shall hold: its longest
 * displacement of now and MEAN_SHARE of the mean over all, since what is slow now may be hit. So one fast grain in a
 * bed at rest widens its own margin alone. The cost is least where the topology holds for HOLD_ROOT (measured) over the
 * root of the mean margin of a step in nominal radii. It holds for STEPS_TO_HOLD at least, and no margin is so narrow
 * that rounding would matter. */
#define MEAN_SHARE 0.7
#define HOLD_ROOT 0.7
#define STEPS_TO_HOLD 10
#define MARGIN_LEAST 0.001 /* nominal radii */

typedef struct Listing {
  const DemStep *work;
  const DemTopology *old;
  DemTopology *fresh;
  uint8_t *near; /* per entry of the neighbour list that is behind its grain */
} Listing;

typedef struct Starts {
  const DemTopology *topology;
  int32_t *start;  /* numbers, then first contacts, of each grain */
  int64_t *begins; /* of each window */
} Starts;

static void sum_window(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Starts *starts = context;
  int64_t sum = 0;
  for (int64_t i = b; i < e; i++) sum += starts->start[i + 1];
  starts->begins[b / starts->topology->window] = dem_padded(sum);
}

static void start_window(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Starts *starts = context;
  int64_t at = starts->begins[b / starts->topology->window];
  for (int64_t i = b; i < e; i++) starts->start[i + 1] = (int32_t)(at += starts->start[i + 1]);
  starts->start[e] = (int32_t)dem_padded(at);
}

Status dem_starts(Core *core, const DemTopology *topology, int32_t *start, int64_t *count, int64_t *fullest) {
  Starts starts = {.topology = topology, .start = start};
  int64_t windows = parallel_chunks(0, topology->grains, topology->window);
  *count = *fullest = 0;
  start[0] = 0;
  TRY(memory_new(core, &starts.begins, windows, "contacts"));
  parallel_for(core, 0, topology->grains, topology->window, sum_window, &starts);
  for (int64_t w = 0; w < windows; w++) {
    int64_t here = starts.begins[w];
    starts.begins[w] = *count;
    *count += here;
    if (here > *fullest) *fullest = here;
  }
  parallel_for(core, 0, topology->grains, topology->window, start_window, &starts);
  memory_drop(core, &starts.begins);
  return SCREE_OK;
}

Status dem_contacts_room(Core *core, DemContacts *contacts, int32_t **partner, int64_t count, int32_t spring_size) {
  contacts->count = count;
  TRY(memory_new(core, &contacts->first, count, "contacts"));
  TRY(memory_new(core, partner, count, "contacts"));
  return memory_new(core, &contacts->springs, count * spring_size, "contacts");
}

void dem_contacts_drop(Core *core, DemContacts *contacts) {
  memory_drop(core, &contacts->start);
  memory_drop(core, &contacts->first);
  memory_drop(core, &contacts->second);
  memory_drop(core, &contacts->key);
  memory_drop(core, &contacts->springs);
  memory_drop(core, &contacts->surfaces);
  contacts->count = 0;
}

void dem_carry_springs(const DemTopology *old, const DemContacts *old_contacts, int64_t from, const DemTopology *fresh,
                       DemContacts *contacts, int64_t to, float sign) {
  for (int c = 0; c < fresh->spring_size; c++)
    *dem_spring(fresh, contacts, to, c) = sign * *dem_spring(old, old_contacts, from, c);
}

/* ---- pairs of grains ---- */

static bool is_near(const DemStep *work, const float *margin, int64_t i, int64_t j) {
  const float *a = work->rows.quads[DEM_ROW * i], *b = work->rows.quads[DEM_ROW * j];
  ContactPosition at, other;
  memcpy(&at, a, sizeof at);
  memcpy(&other, b, sizeof other);
  float reach = a[3] + b[3] + (margin[i / DEM_OCTET] + margin[j / DEM_OCTET]);
  if (work->settings->bonds) reach += bond_reach(bond_radius(a[3], b[3]));
  return contact_is_near(at, other, (float)work->topology->quantum, reach);
}

/* The first entry of grain i that is behind it in storage: entries ascend. */
static int64_t behind(const NeighborList *list, int64_t i) {
  int64_t k = list->start[i];
  while (k < list->start[i + 1] && list->index[k] < i) k++;
  return k;
}

static void find_near(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Listing *listing = context;
  const NeighborList *list = &listing->work->step->state->contacts.particles.list;
  int64_t length = listing->fresh->window;
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

/* Carries the springs of the grains whose rows were a and b in the old topology. */
static void carry_pair(const Listing *listing, int32_t a, int32_t b, DemContacts *contacts, int64_t to) {
  const DemTopology *old = listing->old;
  int32_t low = a < b ? a : b, high = a < b ? b : a;
  if (low < 0 || high >= old->grains) return;
  const DemContacts *from = low / old->window == high / old->window ? &old->pairs : &old->outer;
  for (int32_t k = from->start[low]; k < from->start[low + 1]; k++)
    if (from->second[k] == DEM_ROW * high) {
      dem_carry_springs(old, from, k, listing->fresh, contacts, to, a < b ? 1.f : -1.f);
      return;
    }
}

/* The last contacts of a window are padding: a grain with itself does not touch. */
static void pad(DemContacts *contacts, int64_t i, int64_t at) {
  for (; at < contacts->start[i + 1]; at++) contacts->first[at] = contacts->second[at] = (int32_t)(DEM_ROW * i);
}

static void fill_pairs(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Listing *listing = context;
  const NeighborList *list = &listing->work->step->state->contacts.particles.list;
  const int32_t *row = listing->work->fields->row;
  DemContacts *pairs = &listing->fresh->pairs, *outer = &listing->fresh->outer;
  for (int64_t i = b; i < e; i++) {
    int64_t at = pairs->start[i], out = outer->start[i],
            end = (i / listing->fresh->window + 1) * listing->fresh->window;
    for (int64_t k = behind(list, i); k < list->start[i + 1]; k++) {
      int32_t j = list->index[k];
      if (!listing->near[k]) continue;
      DemContacts *to = j < end ? pairs : outer;
      int64_t place = j < end ? at++ : out++;
      to->first[place] = (int32_t)(DEM_ROW * i);
      to->second[place] = DEM_ROW * j;
      carry_pair(listing, row[i] - 1, row[j] - 1, to, place);
    }
    pad(pairs, i, at);
    pad(outer, i, out);
  }
}

/* Runs of outer pairs, each with its own count, then place, for every window that they reach into. */
enum { INCOMING_RUNS = 64 };
typedef struct Incoming {
  DemTopology *topology;
  int32_t *places; /* [run][window] */
  int64_t runs;
  bool place;
} Incoming;

static void incoming_run(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Incoming *incoming = context;
  const DemContacts *outer = &incoming->topology->outer;
  uint32_t in_window = (uint32_t)(DEM_ROW * incoming->topology->window); /* quads */
  for (int64_t run = b; run < e; run++) {
    int32_t *places = incoming->places + run * incoming->topology->windows;
    int64_t end = (run + 1) * outer->count / incoming->runs;
    for (int64_t k = run * outer->count / incoming->runs; k < end; k++) {
      if (outer->second[k] == outer->first[k]) continue;
      int32_t *at = &places[(uint32_t)outer->second[k] / in_window];
      if (incoming->place) incoming->topology->incoming[*at] = (int32_t)k;
      ++*at;
    }
  }
}

/* Lists the outer pairs that reach into each window, in their order. */
static Status list_incoming(Core *core, Scratch *scratch, DemTopology *fresh) {
  Incoming incoming = {.topology = fresh, .runs = INCOMING_RUNS};
  int64_t windows = fresh->windows;
  TRY(memory_new(core, &fresh->incoming_start, windows + 1, "contacts"));
  TRY(scratch_take(core, scratch, &incoming.places, INCOMING_RUNS * windows, "contacts"));
  memset(incoming.places, 0, sizeof *incoming.places * (size_t)(INCOMING_RUNS * windows));
  parallel_for(core, 0, INCOMING_RUNS, 1, incoming_run, &incoming);
  int32_t entries = 0;
  for (int64_t w = 0; w < windows; w++) {
    for (int64_t run = 0; run < INCOMING_RUNS; run++) {
      int32_t *at = &incoming.places[run * windows + w], here = *at;
      *at = entries;
      entries += here;
    }
    fresh->incoming_start[w + 1] = entries;
  }
  TRY(memory_new(core, &fresh->incoming, entries, "contacts"));
  incoming.place = true;
  parallel_for(core, 0, INCOMING_RUNS, 1, incoming_run, &incoming);
  return SCREE_OK;
}

static Status list_pairs(DemStep *work, Listing *listing) {
  Core *core = work->step->core;
  DemTopology *fresh = listing->fresh;
  const NeighborList *list = &work->step->state->contacts.particles.list;
  int64_t grains = work->rows.grains, count, fullest;
  TRY(memory_new(core, &fresh->pairs.start, grains + 1, "contacts"));
  TRY(memory_new(core, &fresh->outer.start, grains + 1, "contacts"));
  TRY(scratch_take(core, work->step->scratch, &listing->near, list->entries, "near"));
  parallel_for(core, 0, grains, DEM_CHUNK, find_near, listing);
  DemContacts *both[2] = {&fresh->pairs, &fresh->outer};
  for (int k = 0; k < 2; k++) {
    TRY(dem_starts(core, fresh, both[k]->start, &count, &fullest));
    TRY(dem_contacts_room(core, both[k], &both[k]->second, count, fresh->spring_size));
  }
  parallel_for(core, 0, grains, DEM_CHUNK, fill_pairs, listing);
  return list_incoming(core, work->step->scratch, fresh);
}

/* ---- all contacts ---- */

typedef struct Margins {
  const float *longest; /* displacement of the step, per octet */
  float *margin;
  double held, share, least, most; /* steps; m */
} Margins;

static double sum_longest(void *context, int64_t b, int64_t e) {
  const Margins *margins = context;
  double sum = 0;
  for (int64_t k = b; k < e; k++) sum += (double)margins->longest[k];
  return sum;
}

static void margin_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Margins *m = context;
  for (int64_t k = b; k < e; k++)
    m->margin[k] = (float)fmin(fmax(m->held * ((double)m->longest[k] + m->share), m->least), m->most);
}

static Status choose_margins(const DemStep *work, DemTopology *fresh) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  int64_t octets = dem_octets(fresh->grains);
  TRY(memory_new(core, &fresh->margin, octets, "contacts"));
  TRY(memory_new(core, &fresh->travelled, octets, "contacts"));
  Margins margins = {.longest = work->rows.longest, .margin = fresh->margin};
  double sum = parallel_sum(core, 0, octets, DEM_CHUNK, sum_longest, &margins);
  margins.share = octets > 0 ? MEAN_SHARE * sum / (double)octets : 0;
  double mean = (margins.share + margins.share / MEAN_SHARE) / state->radius;
  margins.held = fmax(mean > 0 ? HOLD_ROOT / sqrt(mean) : 0, STEPS_TO_HOLD);
  margins.least = MARGIN_LEAST * state->radius;
  margins.most = 0.5 * (double)state->contacts.skin;
  parallel_for(core, 0, octets, DEM_CHUNK, margin_chunk, &margins);
  return SCREE_OK;
}

static Status renew(DemStep *work, DemTopology *fresh) {
  Listing listing = {.work = work, .old = work->topology, .fresh = fresh};
  TRY(choose_margins(work, fresh));
  TRY(list_pairs(work, &listing));
  return dem_boundary_list(work, fresh);
}

typedef struct Travel {
  const DemTopology *topology;
  const float *longest; /* displacement of the step, per octet */
} Travel;

/* Above zero where an octet has used up its margin. */
static double travel_chunk(void *context, int64_t b, int64_t e) {
  const Travel *travel = context;
  const DemTopology *t = travel->topology;
  double most = -1;
  for (int64_t k = b; k < e; k++) {
    t->travelled[k] += travel->longest[k];
    if (!(t->travelled[k] < t->margin[k])) most = 1;
  }
  return most;
}

/* Adds the displacements of the step. Returns whether no octet may have moved farther than its margin. */
static bool margins_hold(Core *core, const DemTopology *t, const float *longest) {
  Travel travel = {t, longest};
  return parallel_max(core, 0, dem_octets(t->grains), DEM_CHUNK, -1, travel_chunk, &travel) < 0;
}

static void number_rows(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  int32_t *row = context;
  for (int64_t i = b; i < e; i++) row[i] = (int32_t)i + 1;
}

Status dem_topology_update(DemStep *work) {
  Core *core = work->step->core;
  const State *state = work->step->state;
  DemTopology *t = work->topology;
  if (t->builds == state->contacts.builds && t->grains == work->rows.grains &&
      margins_hold(core, t, work->rows.longest))
    return SCREE_OK;
  DemTopology fresh = {.builds = state->contacts.builds,
                       .grains = work->rows.grains,
                       .spring_size = dem_spring_size(work->settings),
                       .quantum = t->quantum,
                       .window = dem_window_for(work->rows.grains)};
  fresh.windows = (fresh.grains + fresh.window - 1) / fresh.window;
  int mark = scratch_mark(work->step->scratch);
  Status status = renew(work, &fresh);
  scratch_release(core, work->step->scratch, mark);
  if (status != SCREE_OK) {
    dem_topology_destroy(core, &fresh);
    return status;
  }
  parallel_for(core, 0, work->rows.grains, DEM_CHUNK, number_rows, work->fields->row);
  dem_topology_destroy(core, t);
  *t = fresh;
  return SCREE_OK;
}

void dem_topology_destroy(Core *core, DemTopology *topology) {
  dem_contacts_drop(core, &topology->pairs);
  dem_contacts_drop(core, &topology->outer);
  dem_contacts_drop(core, &topology->boundary);
  memory_drop(core, &topology->margin);
  memory_drop(core, &topology->travelled);
  memory_drop(core, &topology->incoming_start);
  memory_drop(core, &topology->incoming);
}

/* ---- checkpoints ---- */

static Status archive_contacts(Core *core, Archive *archive, DemTopology *t, DemContacts *contacts, int32_t **partner) {
  int64_t bytes = (int64_t)sizeof(int32_t) + t->spring_size * (int64_t)sizeof(float);
  TRY(archive_count(core, archive, &contacts->count, bytes));
  if (archive->loading) {
    if (contacts->count % LANES != 0 || contacts->count > INT32_MAX)
      return archive_bad(core, archive, "contacts of no sensible number");
    TRY(memory_new(core, &contacts->start, t->grains + 1, "contacts"));
    TRY(dem_contacts_room(core, contacts, partner, contacts->count, t->spring_size));
  }
  TRY(archive_array(core, archive, contacts->start, t->grains + 1));
  TRY(archive_array(core, archive, *partner, contacts->count));
  TRY(archive_array(core, archive, contacts->springs, contacts->count * t->spring_size));
  for (int64_t i = 0; i < t->grains && archive->loading; i++)
    if (contacts->start[0] != 0 || contacts->start[i] > contacts->start[i + 1] ||
        contacts->start[t->grains] != contacts->count)
      return archive_bad(core, archive, "contacts in disorder");
  if (archive->loading && !floats_finite(contacts->springs, contacts->count * t->spring_size))
    return archive_bad(core, archive, "a spring that is not finite");
  return SCREE_OK;
}

/* The next step makes a new topology; the checkpoint holds what it takes from this one. */
Status dem_topology_archive(Core *core, Archive *archive, DemTopology *t) {
  if (archive->loading) dem_topology_destroy(core, t);
  TRY(archive_section(core, archive, "dem contacts"));
  TRY(archive_value(core, archive, &t->spring_size));
  TRY(archive_count(core, archive, &t->grains, 2 * (int64_t)sizeof(int32_t)));
  t->builds = -1;
  if (t->grains == 0) return SCREE_OK;
  if (archive->loading && ((t->spring_size != 3 && t->spring_size != 6) || t->grains >= INT32_MAX / DEM_ROW))
    return archive_bad(core, archive, "contacts of no sensible size");
  t->window = dem_window_for(t->grains);
  TRY(archive_contacts(core, archive, t, &t->pairs, &t->pairs.second));
  TRY(archive_contacts(core, archive, t, &t->outer, &t->outer.second));
  return archive_contacts(core, archive, t, &t->boundary, &t->boundary.key);
}
