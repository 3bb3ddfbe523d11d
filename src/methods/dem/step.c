/* dem: discrete elements after Papadimitriou 2012 (Lee and Herrmann 1992): Section 3.2 is the law of a contact, Section
 * 6.2 the integration.
 *
 * Departures, each of which a scene can undo: Coulomb's limit cuts the whole shear force, not the spring alone; the
 * damping follows from a restitution that does not depend on speed, not from gamma_n; the shear stiffness follows
 * Mindlin; grains turn and resist rolling. The printed integrators drop the time step; here they have it. See
 * docs/methods/dem.md. */
#include <math.h>

#include "core/parallel.h"
#include "core/portable.h"
#include "methods/dem/calibration_table.h"
#include "methods/dem/contact_kernels.h"
#include "methods/dem/dem.h"
#include "methods/dem/dem_device.h"
#include "methods/dem/topology.h"
#include "methods/dem/pressure.h"
#include "methods/dem/relax.h"
#include "state/mirror.h"

/* In nominal radii. Where grains are fast the skin is as wide as lets lists live for SKIN_STEPS, within bounds. */
#define SKIN 0.3f
#define SKIN_MOST 0.8f
#define SKIN_STEPS 16
/* The step is chosen for a penetration of this share of the radius; deeper contacts shorten it while they last. */
#define USUAL_PENETRATION 0.01
/* Beyond this many times 1 / frequency a grain with a dozen contacts may gain energy. */
#define LONGEST 0.5
/* Step times damping rate: as chosen, and as accepted from a scene. One damper is stable up to 2; a grain has several.
 */
#define USUAL_DAMPED 0.2
#define LONGEST_DAMPED 0.4
/* Radii that a grain may go in a step: a contact is seen from its beginning on, whatever the speed of the approach. */
#define DEM_CFL 0.1
/* Penetration at the start, in radii, that is left to the forces. More is relaxed, for RELAX_STEPS at most. */
#define START_PENETRATION 0.02
enum { RELAX_STEPS = 300 };

typedef struct Reaction {
  int64_t parts[6]; /* as in Wrench */
} Reaction;

typedef struct Dem {
  DemSettings settings;
  DemFields fields;
  DemConstantsTable constants;
  DemTopology topology;
  double radius;       /* m, nominal */
  double safety;       /* of the step, over 1 / frequency */
  double frequency;    /* of the stiffest contact of the last step, 1/s */
  double last_step;    /* s */
  Reaction *reactions; /* per solid: what the contacts exerted on it in the last step */
  int64_t reaction_count;
  DemRows rows;      /* of the step in progress */
  double longest;    /* m, longest displacement of a grain in it */
  int64_t relaxed;   /* steps that moved an overlapping start apart; -1: it is done */
  DemDevice *device; /* NULL: on the CPU */
  bool counts;       /* the step in progress there has forces */
  bool reacted;      /* and solids have been told of them */
} Dem;

static double smallest_radius(double radius, const ScreeMaterialDef *material) {
  if (material->radius_distribution == SCREE_RADII_UNIFORM) return radius * (1 - material->radius_spread);
  return radius *
         portable_exp(-2.5 * material->radius_spread - 0.5 * material->radius_spread * material->radius_spread);
}

/* What limits the step, over all pairs of materials. */
typedef struct Rates {
  double frequency; /* at the usual penetration, 1/s */
  double damping;   /* of dampers that do not depend on penetration, 1/s */
  double share;     /* of dampers that do: damping over frequency */
} Rates;

static Rates usual_rates(const Dem *dem, const State *state) {
  double square = 0;
  Rates rates = {0};
  for (int32_t a = 0; a < dem->constants.rows; a++) {
    const ScreeMaterialDef *material = &state->materials.items[a].definition;
    double radius = smallest_radius(state->radius, material);
    double mass = 4.0 / 3 * M_PI * radius * radius * radius * material->grain_density;
    for (int32_t b = 0; b < dem->constants.columns; b++) {
      const DemConstants *constants = &dem->constants.items[a * dem->constants.columns + b];
      square = fmax(square, dem_frequency_squared(constants, radius, mass, USUAL_PENETRATION));
      rates.damping = fmax(rates.damping, fmax((double)constants->damping_mass, (double)constants->shear_damping_mass));
      /* The damper is set by force over penetration, the frequency by the slope of the force, 3/2 of it. */
      rates.share = fmax(rates.share, (double)constants->damping_root * sqrt(2.0 / 3));
    }
  }
  rates.frequency = sqrt(square);
  return rates;
}

/* A stable step as a share of 1 / frequency, `share` at most. Strong dampers, as a small restitution needs them, want a
 * shorter step than springs. */
static double stable_share(const Rates *rates, double share, double damped) {
  return rates->share > 0 ? fmin(share, damped / rates->share) : share;
}

static Status choose_step(Core *core, const State *state, ScreeMethodDef *definition, Dem *dem) {
  Rates rates = usual_rates(dem, state);
  double safety = stable_share(&rates, definition->dem.step_safety, USUAL_DAMPED);
  double most = stable_share(&rates, LONGEST, LONGEST_DAMPED);
  double damped = rates.damping > 0 ? USUAL_DAMPED / rates.damping : INFINITY;
  double recommended = fmin(rates.frequency > 0 ? safety / rates.frequency : INFINITY, damped);
  double longest = fmin(rates.frequency > 0 ? most / rates.frequency : INFINITY, damped);
  if (definition->borrowed_step && definition->time_step > longest) {
    log_line(core, SCREE_LOG_WARNING, "time_step %g s was written for another method and is too long for dem: left out",
             definition->time_step);
    definition->time_step = NAN;
  }
  if (scree_is_auto(definition->time_step)) {
    definition->time_step = isfinite(recommended) ? recommended : 1e-3;
    dem->safety = safety;
    log_line(core, SCREE_LOG_INFO, "dem: time step %.3g s, %.2g of what the stiffest contact would bear",
             definition->time_step, definition->time_step / longest);
    return SCREE_OK;
  }
  dem->safety = most;
  if (definition->time_step > longest)
    return fail(core, SCREE_BAD_INPUT,
                "time_step %g s is too long for grains this stiff and light: at most %.4g s (auto: %.4g s)",
                definition->time_step, longest, recommended);
  return SCREE_OK;
}

static Status add_fields(Core *core, State *state, Dem *dem) {
  static const char *const names[3][3] = {{"spin_x", "spin_y", "spin_z"},
                                          {"contact_ax", "contact_ay", "contact_az"},
                                          {"turning_x", "turning_y", "turning_z"}};
  float **arrays[3] = {dem->fields.spin, dem->fields.acceleration, dem->fields.angular_acceleration};
  for (int k = 0; k < 3; k++)
    for (int c = 0; c < 3; c++)
      if (k == 0 || dem->settings.verlet)
        TRY(particles_add_floats(core, &state->particles, names[k][c], 1, k == 0, (void **)&arrays[k][c]));
  return particles_add_field(core, &state->particles, "contact_row", (int32_t)sizeof(int32_t), false,
                             (void **)&dem->fields.row);
}

static const Calibration *dem_calibration(const ScreeMethodDef *definition) {
  (void)definition;
  return &DEM_CALIBRATION;
}

static Status dem_create(Core *core, State *state, ScreeMethodDef *definition, void **data) {
  Dem *dem = NULL;
  TRY(memory_new(core, &dem, 1, "dem"));
  *data = dem;
  dem->settings = (DemSettings){.verlet = definition->dem.integrator == SCREE_INTEGRATOR_VERLET,
                                .rotation = definition->dem.rotation,
                                .cap_total = definition->dem.shear_cap == SCREE_SHEAR_TOTAL};
  TRY(dem_constants_create(core, state, &dem->constants));
  TRY(dem_constants_check(core, state, &dem->constants));
  dem->settings.bonds = dem_constants_bond(&dem->constants);
  dem->settings.rolling = dem->settings.rotation && dem_constants_roll(&dem->constants);
  dem->topology.builds = -1;
  dem->radius = state->radius;
  TRY(choose_step(core, state, definition, dem));
  if (scree_is_auto(definition->cfl)) definition->cfl = DEM_CFL;
  return add_fields(core, state, dem);
}

static MethodNeeds dem_needs(const void *data) {
  const Dem *dem = data;
  float wanted = (float)(2 * SKIN_STEPS * dem->longest / dem->radius);
  MethodNeeds needs = method_needs_default();
  needs.neighbors = NEIGHBORS_LISTED;
  needs.pairs = needs.solids = 1;
  if (dem->settings.bonds) needs.pairs += BOND_REACH / 4; /* R is at most a quarter of the sum of the radii */
  needs.skin = fminf(fmaxf(wanted, SKIN), SKIN_MOST);
  return needs;
}

static double dem_largest_step(const void *data, const State *state) {
  const Dem *dem = data;
  (void)state;
  return dem->frequency > 0 ? dem->safety / dem->frequency : INFINITY;
}

static DemStep begin_step(Dem *dem, Step *step) {
  return (DemStep){.step = step,
                   .settings = &dem->settings,
                   .topology = &dem->topology,
                   .constants = &dem->constants,
                   .fields = &dem->fields,
                   .dt = (float)step->dt,
                   .rows = dem->rows};
}

static double longest_chunk(void *context, int64_t b, int64_t e) {
  const float *longest = context;
  float most = 0;
  for (int64_t k = b; k < e; k++) most = fmaxf(most, longest[k]);
  return (double)most;
}

static Status dem_prepare(void *data, Step *step) {
  Dem *dem = data;
  dem->rows.grains = step->state->particles.count;
  int64_t octets = dem_octets(dem->rows.grains);
  TRY(memory_grow(step->core, &dem->rows.quads, DEM_ROW * dem->rows.grains, "rows"));
  TRY(memory_grow(step->core, &dem->rows.longest, octets, "displacements"));
  DemStep work = begin_step(dem, step);
  /* The neighbour search rarely changes the order of grains: these rows nearly always serve the step. */
  dem_contacts_fill(&work, KERNEL_CALL(step->core, dem_kick_and_row_pass));
  dem->longest = parallel_max(step->core, 0, octets, DEM_CHUNK, 0, longest_chunk, dem->rows.longest);
  if (dem->relaxed < 0) step->farthest = dem->longest; /* a relaxation moves grains farther */
  return SCREE_OK;
}

/* A contact's force kicks a grain for half of the step that computed it and half of the next, and a solid for all of
 * the first. Where the two steps differ in length the solid gets the difference here. Momentum is kept to the last bit
 * of a float. Where a step is a tiny part of the one before, the difference is as much as a wrench can be. */
static void balance_reactions(Dem *dem, Step *step) {
  const Solids *solids = &step->state->solids;
  double share = dem->settings.verlet && dem->last_step > 0 ? 0.5 * (1 - dem->last_step / step->dt) : 0;
  for (int64_t k = 0; k < dem->reaction_count; k++)
    for (int c = 0; c < 6; c++) {
      _Atomic int64_t *part = &solids->items[k].wrench.part[c];
      int64_t *last = &dem->reactions[k].parts[c];
      int64_t more = wrench_units(share * (double)*last * 0x1p-30), now = atomic_load(part);
      atomic_store(part, (int64_t)((uint64_t)now + (uint64_t)more));
      *last = now;
    }
  dem->last_step = step->dt;
}

static Status room_for_reactions(Dem *dem, const Step *step) {
  TRY(memory_grow(step->core, &dem->reactions, step->state->solids.count, "reactions"));
  dem->reaction_count = step->state->solids.count;
  return SCREE_OK;
}

static Status forces_and_kick(Dem *dem, DemStep *work) {
  Step *step = work->step;
  double began = profile_begin(), stiffest;
  TRY(dem_contacts_begin(work));
  TRY(room_for_reactions(dem, step));
  profile_end(step->profile, "contacts", began);
  began = profile_begin();
  TRY(dem_contacts_forces(work, &stiffest));
  balance_reactions(dem, step);
  profile_end(step->profile, "forces", began);
  dem->frequency = sqrt(stiffest);
  return SCREE_OK;
}

/* A step in which grains that overlap at the start are moved apart and no force acts. `done`: there are none left. */
static Status relax_start(Dem *dem, Step *step, bool *done) {
  double deepest;
  TRY(dem_relax(step, START_PENETRATION, &deepest));
  *done = deepest <= START_PENETRATION;
  if (*done) {
    dem->relaxed = -1;
    return SCREE_OK;
  }
  if (dem->relaxed == 0)
    log_line(step->core, SCREE_LOG_WARNING,
             "grains overlap at the start, by up to %.2g radii: they are moved apart first", deepest);
  state_count(step->state, "relaxed_start_steps", 1);
  if (++dem->relaxed > RELAX_STEPS)
    return fail(step->core, SCREE_FAILED,
                "grains overlap at the start by %.2g radii and cannot be moved apart: there is no room for them",
                deepest);
  return SCREE_OK;
}

static Status dem_step(void *data, Step *step) {
  Dem *dem = data;
  bool started = dem->relaxed < 0;
  if (!started) TRY(relax_start(dem, step, &started));
  if (!started) return SCREE_OK;
  DemStep work = begin_step(dem, step);
  int mark = scratch_mark(step->scratch);
  Status status = forces_and_kick(dem, &work);
  scratch_release(step->core, step->scratch, mark);
  return status;
}

static Status dem_archive(Core *core, Archive *archive, void *data) {
  Dem *dem = data;
  TRY(archive_value(core, archive, &dem->frequency));
  TRY(archive_value(core, archive, &dem->last_step));
  TRY(archive_value(core, archive, &dem->relaxed));
  TRY(archive_count(core, archive, &dem->reaction_count, (int64_t)sizeof *dem->reactions));
  if (archive->loading) TRY(memory_grow(core, &dem->reactions, dem->reaction_count, "reactions"));
  TRY(archive_array(core, archive, dem->reactions, dem->reaction_count));
  return dem_topology_archive(core, archive, &dem->topology);
}

/* What no step ends with: units of wrench_units, s. */
#define REACTION_MOST (1ll << 60)
#define LAST_STEP_MOST 1.0

static Status dem_check(Core *core, const Archive *archive, const State *state, const void *data) {
  const Dem *dem = data;
  const DemTopology *t = &dem->topology;
  if (!(dem->frequency >= 0) || !isfinite(dem->frequency) ||
      !(dem->last_step >= 0 && dem->last_step <= LAST_STEP_MOST) || dem->relaxed < -1 || dem->relaxed > RELAX_STEPS ||
      dem->reaction_count > state->solids.count)
    return archive_refuse(core, archive, "the last step of dem cannot have been");
  for (int64_t k = 0; k < dem->reaction_count; k++)
    for (int c = 0; c < 6; c++)
      if (dem->reactions[k].parts[c] > REACTION_MOST || dem->reactions[k].parts[c] < -REACTION_MOST)
        return archive_refuse(core, archive, "a reaction on '%s' beyond reason", state->solids.items[k].name);
  if (t->grains > 0 && t->spring_size != dem_spring_size(&dem->settings))
    return archive_refuse(core, archive, "springs of %d numbers", t->spring_size);
  for (int64_t i = 0; i < state->particles.count; i++)
    if (dem->fields.row[i] < 0 || dem->fields.row[i] > t->grains)
      return archive_refuse(core, archive, "the contacts of grain %u are nowhere", state->particles.id[i]);
  return SCREE_OK;
}

static void dem_destroy(Core *core, void *data) {
  Dem *dem = data;
  if (!dem) return;
  dem_device_close(core, dem->device);
  dem_constants_destroy(core, &dem->constants);
  dem_topology_destroy(core, &dem->topology);
  memory_drop(core, &dem->reactions);
  memory_drop(core, &dem->rows.quads);
  memory_drop(core, &dem->rows.longest);
  memory_drop(core, &dem);
}

static Status dem_contacts_changed(Core *core, const State *state, void *data) {
  Dem *dem = data;
  DemConstantsTable constants = {0};
  Status status = dem_constants_create(core, state, &constants);
  if (status == SCREE_OK) status = dem_constants_check(core, state, &constants);
  if (status != SCREE_OK) {
    dem_constants_destroy(core, &constants);
    return status;
  }
  dem_constants_destroy(core, &dem->constants);
  dem->constants = constants;
  dem->settings.bonds = dem_constants_bond(&constants);
  if (dem->device) dem_device_change(dem->device);
  return SCREE_OK;
}

static Status dem_write_pressure(Core *core, const State *state, const void *data, float *pressure) {
  dem_pressure(core, state, &((const Dem *)data)->constants, pressure);
  return SCREE_OK;
}

/* ---- on a device ---- */

static const char *dem_missing(const void *data, const State *state) {
  (void)data;
  return dem_device_missing(state);
}

static Status dem_open(Core *core, State *state, void *data) {
  return dem_device_open(core, state, &((Dem *)data)->device);
}

/* Euler's steps are not as long as predicted: how long they are is then counted as on the CPU. */
static Status dem_prepare_there(void *data, Step *step) {
  Dem *dem = data;
  DemStep work = begin_step(dem, step);
  TRY(dem_device_kick(dem->device, &work));
  if (dem->relaxed >= 0) return SCREE_OK;
  if (dem->settings.verlet) step->farthest = dem_device_farthest(dem->device, step->dt);
  else TRY(dem_device_longest(step, &step->farthest));
  return SCREE_OK;
}

static void dem_surveyed(void *data, const int32_t *words) { ((Dem *)data)->longest = dem_device_displacement(words); }

/* A start that is relaxed is so on the host, by lists that it makes. */
static ListsHere dem_lists(const void *data, const State *state) {
  (void)state;
  return ((const Dem *)data)->relaxed >= 0 ? LISTS_ALL_HERE : LISTS_NOT_HERE;
}

static Status relax_there(Dem *dem, Step *step, bool *done) {
  State *state = step->state;
  TRY(mirror_fetch(step->core, state->mirror, &state->particles, SET_X | SET_LOW | SET_D | SET_BIRTH));
  TRY(relax_start(dem, step, done));
  if (*done) return SCREE_OK;
  mirror_wrote_here(state->mirror, &state->particles, SET_D);
  return mirror_send(step->core, state->mirror, &state->particles, SET_D);
}

static void react_there(Dem *dem, Step *step, const int32_t *words) {
  dem->reacted = true;
  dem_device_react(words, step->state);
  balance_reactions(dem, step);
}

/* Solids that forces move are told before they move: all others when the step ends. */
static Status tell_movable(Dem *dem, Step *step) {
  Mirror *mirror = step->state->mirror;
  bool movable = false;
  for (int32_t k = 0; k < step->state->solids.count; k++) movable |= solid_is_movable(&step->state->solids.items[k]);
  if (!movable) return SCREE_OK;
  TRY(mirror_words_read(step->core, mirror));
  react_there(dem, step, mirror->words.here + MIRROR_METHOD_WORD);
  return SCREE_OK;
}

static Status dem_step_there(void *data, Step *step) {
  Dem *dem = data;
  dem->counts = dem->relaxed < 0;
  dem->reacted = false;
  if (!dem->counts) TRY(relax_there(dem, step, &dem->counts));
  if (!dem->counts) return SCREE_OK;
  DemStep work = begin_step(dem, step);
  TRY(room_for_reactions(dem, step));
  TRY(dem_device_forces(dem->device, &work));
  return tell_movable(dem, step);
}

static void dem_counted(void *data, Step *step, const int32_t *words, double fastest) {
  Dem *dem = data;
  dem->longest = dem_device_displacement(words);
  if (!dem->counts) return;
  dem->frequency = sqrt(dem_device_stiffest(words));
  if (!dem->reacted) react_there(dem, step, words);
  dem_device_note_speeds(dem->device, words, fastest);
}

static Status dem_fetch(Core *core, void *data) {
  Dem *dem = data;
  return dem_device_fetch(core, dem->device, &dem->topology);
}

static void dem_forget(void *data) { dem_device_forget(((Dem *)data)->device); }

static void dem_close(Core *core, void *data) {
  Dem *dem = data;
  dem_device_close(core, dem->device);
  dem->device = NULL;
}

static const MethodDevice DEM_DEVICE = {.missing = dem_missing,
                                        .open = dem_open,
                                        .prepare = dem_prepare_there,
                                        .step = dem_step_there,
                                        .surveyed = dem_surveyed,
                                        .lists = dem_lists,
                                        .counted = dem_counted,
                                        .fetch = dem_fetch,
                                        .forget = dem_forget,
                                        .close = dem_close};

const Method METHOD_DEM = {
    .info = {.name = "dem",
             .summary = "discrete elements: Hertz contacts with shear springs",
             .paper = "papadimitriou2012"},
    .particle = PARTICLE_GRAIN,
    .calibration = dem_calibration,
    .create = dem_create,
    .needs = dem_needs,
    .largest_step = dem_largest_step,
    .prepare = dem_prepare,
    .step = dem_step,
    .archive = dem_archive,
    .check = dem_check,
    .destroy = dem_destroy,
    .solids_changed = dem_contacts_changed,
    .materials_changed = dem_contacts_changed,
    .pressure = dem_write_pressure,
    .device = METHOD_DEVICE(&DEM_DEVICE),
};
