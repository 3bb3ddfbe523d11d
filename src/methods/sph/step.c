/* sph: sand as an incompressible fluid with friction, after Neder 2023. Equation numbers are the paper's.
 *
 * The unknowns of a step are the pressure and the frictional stress of every parcel and the friction of walls. Both are
 * found in one relaxed Jacobi iteration over two passes: the velocity under the stress at hand (Eq. 13 to 16), and the
 * strain of that velocity with the stress that should stop it (Eq. 6 to 12, 19, 20). All have a warm start: sand
 * at rest needs no search, and friction has a memory.
 *
 * Departures, with reasons in docs/methods/sph.md: volumes instead of masses, so that materials of different density
 * share a face; a pair's stresses are added without their densities, which makes the divergence the exact transpose of
 * the gradient, at walls too; compression is taken back by moving parcels, not by speeding them up; the deviator, the
 * signs, the yield bound, the clamp and the stopping rule are put right. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#define LANE_SCALAR /* one parcel at a time */
#include "core/portable.h"
#include "methods/sph/contact.h"
#include "methods/sph/pressure_law.h"
#include "methods/sph/solver.h"
#include "methods/sph/sph_device.h"
#include "methods/sph/sph_kernels.h"
#include "methods/sph/stress_law.h"
#include "neighbors/neighbors.h"

#define SKIN 0.25f
/* Collisions: in the usual step a pair loses this share of its approach, and never more than that. */
#define COLLISION 0.1
#define COLLISION_MOST 0.25
/* Of sqrt(spacing / g): the step unless one is asked for. */
#define USUAL_STEP 0.08
#define USUAL_STEP_WEIGHTLESS 0.004
/* Sand that falls into sand faster than this many radii a step is pressed together by more than the tolerance. */
#define SPH_CFL 0.3
/* Of the lightest parcel: a free body weighs this at least. Forces are known to rounding and to the tolerance, and what
 * they leave unbalanced on a body has to be small against its weight: with a thousandth a ball in a bed of four layers
 * is still thrown out of it, with a hundredth it stays. */
#define LEAST_BODY 1e-2
/* Mean compression at the beginning of a step, as multiple of the tolerance, that deserves a warning. */
#define COMPRESSED 10
/* Of the tolerance, the compression of a parcel that makes no pressure: where friction is, that is. Sand without it is
 * never locked. */
#define SLACK 0.1
/* Of its stress, what sand keeps for the next step when it is compressed and has no free volume to expand into: a
 * stress that does not help would grow from step to step. */
#define SQUEEZED_KEPT 0.5f

const SphStatistics *sph_statistics(const void *data) { return &((const Sph *)data)->statistics; }

SphPasses *sph_passes(void *data) { return &((Sph *)data)->passes; }

static void read_materials(const State *state, Sph *sph) {
  for (int32_t k = 0; k < state->materials.count; k++) {
    const ScreeMaterialDef *def = &state->materials.items[k].definition;
    double friction = portable_tan(def->friction_angle_deg * M_PI / 180);
    sph->materials[k] = (SphMaterial){.friction = (float)(sqrt(2) * friction),
                                      .cohesion = (float)(sqrt(2) * def->cohesion),
                                      .wall_friction = (float)friction};
  }
}

/* In which a parcel that falls from rest stays near its neighbours. */
static double longest_step(const State *state) {
  double g = vec3_length(state->gravity);
  return g > 0 ? 0.5 * sqrt(2 * state->radius / g) : INFINITY;
}

/* The recommended step. */
static double usual_step(const State *state) {
  double g = vec3_length(state->gravity);
  return g > 0 ? USUAL_STEP * sqrt(2 * state->radius / g) : USUAL_STEP_WEIGHTLESS;
}

static Status sph_create(Core *core, State *state, ScreeMethodDef *definition, void **data) {
  Sph *sph = NULL;
  TRY(memory_new(core, &sph, 1, "sph"));
  *data = sph;
  sph->settings = (SphSettings){.compression = definition->sph.compression,
                                .shear = definition->sph.strain,
                                .most_iterations = definition->sph.max_iterations,
                                .drag = definition->sph.drag,
                                .memory = definition->sph.memory};
  sph->passes = (SphPasses){.bound = KERNEL_CALL(core, sph_bound_pass),
                            .velocity = KERNEL_CALL(core, sph_velocity_pass),
                            .stress = KERNEL_CALL(core, sph_stress_pass)};
  if (scree_is_auto(definition->time_step)) definition->time_step = usual_step(state);
  if (scree_is_auto(definition->cfl)) definition->cfl = SPH_CFL;
  double longest = longest_step(state);
  if (definition->time_step > longest) {
    log_line(core, SCREE_LOG_WARNING, "time_step %g s is too long for parcels this small: limited to %.3g s",
             definition->time_step, longest);
    definition->time_step = longest;
  }
  sph->lattice_square = spline_lattice_square();
  sph->layer = spline_layer();
  sph_rays_make(&sph->rays);
  read_materials(state, sph);
  sph->least_body = INFINITY;
  for (int32_t k = 0; k < state->materials.count; k++)
    sph->least_body = fmin(sph->least_body, LEAST_BODY * state->materials.items[k].definition.density);
  sph->least_body *= 8 * state->radius * state->radius * state->radius;
  Particles *p = &state->particles;
  TRY(particles_add_floats(core, p, "sph_pressure", 1, true, (void **)&sph->fields.pressure));
  TRY(particles_add_floats(core, p, "sph_shear", 6, true, (void **)&sph->fields.shear));
  return particles_add_field(core, p, "sph_grip", (int32_t)sizeof *sph->fields.grip, true, (void **)&sph->fields.grip);
}

static MethodNeeds sph_needs(const void *data) {
  const Sph *sph = data;
  MethodNeeds needs = method_needs_default();
  needs.least_body = sph->least_body;
  needs.neighbors = NEIGHBORS_LISTED;
  needs.pairs = (float)SPLINE_SUPPORT;
  needs.solids = 2 * (float)SPLINE_SUPPORT; /* whatever may stand between two parcels */
  needs.skin = SKIN;
  return needs;
}

static double sph_largest_step(const void *data, const State *state) {
  (void)data;
  return longest_step(state);
}

/* ---- samples of solids ---- */

/* Akinci's volumes: a sample's own number density says how much of the wall it stands for. A layer of them, one radius
 * below the surface, then counts as a layer of parcels does. */
Status sph_weigh_samples(Core *core, const State *state, Sph *sph) {
  const SolidSamples *samples = &state->samples;
  if (sph->sample_count == samples->count) return SCREE_OK;
  double d = 2 * state->radius;
  TRY(memory_grow(core, &sph->sample_volume, samples->count, "sph samples"));
  CellGrid *grid = NULL;
  NeighborList list = {0};
  Points points = {samples->count, samples->x, samples->y, samples->z, samples->id};
  TRY(cell_grid_create(core, &grid));
  float reach = (float)(SPLINE_SUPPORT * d);
  Status status = cell_grid_build(core, grid, points, reach);
  if (status == SCREE_OK) status = neighbor_list_build(core, grid, points, points, reach, NULL, NULL, &list);
  for (int64_t i = 0; i < samples->count && status == SCREE_OK; i++) {
    double sum = 1;
    for (int64_t k = list.start[i]; k < list.start[i + 1]; k++) {
      int32_t j = list.index[k];
      if (samples->solid[i] != samples->solid[j]) continue;
      Vec3 apart = vec3((double)(samples->x[i] - samples->x[j]), (double)(samples->y[i] - samples->y[j]),
                        (double)(samples->z[i] - samples->z[j]));
      sum += spline_shape(vec3_length(apart) / d);
    }
    sph->sample_volume[i] = (float)(spline_plane(0) * M_PI / sum);
  }
  neighbor_list_destroy(core, &list);
  cell_grid_destroy(core, grid);
  if (status == SCREE_OK) sph->sample_count = samples->count;
  return status;
}

/* ---- a step ---- */

/* All arrays but those whose size walls.c and air.c find out. */
static Status take_arrays(SphWork *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  int64_t padded = work->slices * LANES;
  SphPairs *pairs = &work->pairs;
  SphPressure *pressure = &work->pressure;
  SphShear *shear = &work->shear;
  SphMotion *motion = &work->motion;
  float **arrays[] = {
      &pairs->sum[0],        &pairs->sum[1],        &pairs->sum[2],      &pairs->square,         &pressure->density,
      &pressure->source,     &pressure->gain,       &pressure->mobility, &pressure->pressure,    &shear->gain,
      &shear->friction,      &shear->cohesion,      &shear->wall_weight, &shear->surface_weight, &shear->bound,
      &shear->shear[0],      &shear->shear[1],      &shear->shear[2],    &shear->shear[3],       &shear->shear[4],
      &shear->shear[5],      &motion->start[0],     &motion->start[1],   &motion->start[2],      &motion->wall_gain[0],
      &motion->wall_gain[1], &motion->wall_gain[2], &work->shift[0],     &work->shift[1],        &work->shift[2]};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    TRY(scratch_take(core, scratch, arrays[k], padded, "sph"));
  TRY(scratch_take(core, scratch, &pairs->place, padded, "sph"));
  TRY(scratch_take(core, scratch, &pairs->slot_start, work->slices, "sph"));
  TRY(scratch_take(core, scratch, &pairs->width, work->slices, "sph"));
  TRY(scratch_take(core, scratch, &motion->velocity, padded, "sph"));
  TRY(scratch_take(core, scratch, &motion->stress, padded, "sph"));
  TRY(scratch_take(core, scratch, &work->walls.start, work->count + 1, "sph"));
  int64_t chunks = parallel_chunks(0, work->slices, SPH_SLICE_CHUNK);
  TRY(scratch_take(core, scratch, &work->control.residual, chunks, "sph"));
  for (int64_t i = work->count; i < padded; i++) {
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) (*arrays[k])[i] = 0;
    pressure->source[i] = 1; /* neither dense nor thin */
    for (int c = 0; c < 4; c++) motion->velocity[i][c] = 0;
    for (int c = 0; c < 8; c++) motion->stress[i][c] = 0;
  }
  return SCREE_OK;
}

typedef struct Setup {
  SphWork *work;
  const Sph *sph;
} Setup;

static LaneVec3 gradient_sum(const SphWork *work, int64_t i) {
  float *const *sum = work->pairs.sum;
  return vec_make(sum[0][i], sum[1][i], sum[2][i]);
}

/* Diagonals of the iteration. */
static void gains_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Setup *setup = context;
  SphWork *work = setup->work;
  float dt = work->control.dt, volume = work->control.volume, spacing = work->control.spacing;
  float lattice = (float)setup->sph->lattice_square / (spacing * spacing);
  for (int64_t i = b; i < e; i++) {
    float inverse = work->pairs.place[i][3], solids = 0;
    LaneVec3 walls = vec_zero();
    for (int32_t k = work->walls.start[i]; k < work->walls.start[i + 1]; k++) {
      const SphContact *contact = &work->walls.contacts[k];
      walls = vec_sub(walls, vec_mul(contact_normal(contact), contact->slope));
      solids += contact->slope * contact->slope * contact->mobility;
    }
    LaneVec3 sum = vec_add(gradient_sum(work, i), walls);
    float shell = vec_dot(sum, sum);
    float diagonal = pressure_diagonal(shell, work->pairs.square[i], solids, inverse, lattice);
    work->pressure.mobility[i] = pressure_mobility(dt, volume, inverse);
    work->pressure.gain[i] = pressure_gain(dt, volume, diagonal);
    work->shear.gain[i] = stress_gain(dt, volume, inverse, lattice, shell);
  }
}

/* Weights of confinement of the sides of a parcel that are not neighbours. A wall counts as the layer of parcels that
 * it stands for. What then makes the gradients add up to something is missing: the layer above a free surface, or part
 * of one. */
static void weigh_sides(const Setup *setup, int64_t i) {
  SphWork *work = setup->work;
  const SplineLayer *layer = &setup->sph->layer;
  float walls = 0;
  LaneVec3 sum = vec_mul(gradient_sum(work, i), work->control.spacing);
  for (int32_t k = work->walls.start[i]; k < work->walls.start[i + 1]; k++) {
    const SphContact *contact = &work->walls.contacts[k];
    float share = real_min(contact->share / WALL_AT_REST, 1);
    walls += share * (float)layer->length;
    sum = vec_sub(sum, vec_mul(contact_normal(contact), share * (float)layer->sum));
  }
  float surface = real_sqrt(vec_dot(sum, sum)) * (float)(layer->length / layer->sum);
  work->shear.wall_weight[i] = SPH_GRADIENT_STEPS * walls;
  work->shear.surface_weight[i] = SPH_GRADIENT_STEPS * surface;
}

/* What the iteration begins with: source, bounds, and the stress that the last step left. */
static void begin_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Setup *setup = context;
  SphWork *work = setup->work;
  const Particles *p = &work->step->state->particles;
  bool memory = work->settings->memory;
  for (int64_t i = b; i < e; i++) {
    const SphMaterial *material = &work->materials[p->material[i]];
    float density = work->pressure.density[i], *stress = work->motion.stress[i];
    work->shear.friction[i] = material->friction;
    work->shear.cohesion[i] = stress_cohesion(material->cohesion, density);
    weigh_sides(setup, i);
    work->pressure.source[i] =
        pressure_source(density, work->control.slack * real_min(material->friction, 1), work->control.pace);
    work->pressure.pressure[i] = memory ? work->fields.pressure[i] : 0;
    for (int c = 0; c < 6; c++) {
      work->shear.shear[c][i] = memory ? work->fields.shear[i][c] : 0;
      stress[c] = work->shear.shear[c][i] - (c < 3 ? work->pressure.pressure[i] : 0);
    }
    stress[STRESS_PRESSURE] = work->pressure.pressure[i];
    stress[7] = 0;
    sph_walls_begin(work, i);
  }
}

/* A pressure by itself, into the row of stress of a parcel: what walls answer, and no start velocity. */
static void press_alone(SphWork *work, int64_t i, float pressure) {
  float *stress = work->motion.stress[i], gain[3] = {0, 0, 0};
  for (int c = 0; c < 8; c++) stress[c] = c < 3 ? -pressure : 0;
  stress[STRESS_PRESSURE] = pressure;
  for (int32_t k = work->walls.start[i]; k < work->walls.start[i + 1]; k++) {
    const SphContact *contact = &work->walls.contacts[k];
    for (int c = 0; c < 3; c++) gain[c] += work->pressure.mobility[i] * contact->slope * pressure * contact->normal[c];
  }
  for (int c = 0; c < 3; c++) work->motion.wall_gain[c][i] = gain[c], work->motion.start[c][i] = 0;
}

/* The pressure that would take back the compression at hand in one relaxed pass. */
static void shift_begin_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  for (int64_t i = b; i < e; i++)
    press_alone(work, i, pressure_of_shift(work->pressure.density[i], work->pressure.gain[i]));
}

static void shift_end_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  for (int64_t i = b; i < e; i++)
    for (int c = 0; c < 3; c++) work->shift[c][i] = work->control.dt * work->motion.velocity[i][c];
}

/* Moves the places so that compression is taken back without making speed. */
static void shift_places(SphWork *work) {
  Core *core = work->step->core;
  parallel_for(core, 0, work->count, SPH_CHUNK, shift_begin_chunk, work);
  parallel_for(core, 0, work->slices, SPH_SLICE_CHUNK, work->passes->velocity, work);
  parallel_for(core, 0, work->count, SPH_CHUNK, shift_end_chunk, work);
}

static double compressed_chunk(void *context, int64_t b, int64_t e) {
  const SphWork *work = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++) sum += (double)density_excess(work->pressure.density[i]);
  return sum;
}

static double misfit_chunk(void *context, int64_t b, int64_t e) {
  const SphWork *work = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++) sum += (double)pressure_misfit(work->pressure.density[i]);
  return sum;
}

/* The relaxed Jacobi iteration of Algorithm 1, with its condition inverted: it ends when the residuals are small, those
 * of compression and expansion below `most`. */
static void iterate(SphWork *work, double most, SphStatistics *statistics) {
  Core *core = work->step->core;
  int64_t chunks = parallel_chunks(0, work->slices, SPH_SLICE_CHUNK), iterations = 0;
  double mean[RESIDUALS];
  for (bool solved = false; !solved && iterations < work->settings->most_iterations; iterations++) {
    if (iterations % BOUND_EVERY == 0) parallel_for(core, 0, work->slices, SPH_SLICE_CHUNK, work->passes->bound, work);
    parallel_for(core, 0, work->slices, SPH_SLICE_CHUNK, work->passes->velocity, work);
    sph_walls_follow(work);
    parallel_for(core, 0, work->slices, SPH_SLICE_CHUNK, work->passes->stress, work);
    for (int r = 0; r < RESIDUALS; r++) {
      mean[r] = 0;
      for (int64_t k = 0; k < chunks; k++) mean[r] += work->control.residual[k][r];
      mean[r] /= (double)work->count;
    }
    solved = iterations + 1 >= LEAST_ITERATIONS && mean[RESIDUAL_COMPRESSION] <= most &&
             mean[RESIDUAL_EXPANSION] <= most &&
             sqrt(mean[RESIDUAL_SHEAR]) <= work->settings->shear + FLOWING_SHARE * sqrt(mean[FLOWING]);
  }
  parallel_for(core, 0, work->slices, SPH_SLICE_CHUNK, work->passes->velocity, work);
  statistics->iterations = iterations;
  statistics->compression = mean[RESIDUAL_COMPRESSION];
  statistics->expansion = mean[RESIDUAL_EXPANSION];
  statistics->shear = sqrt(mean[RESIDUAL_SHEAR]);
}

static void settle(SphWork *work, int64_t i) {
  const float *down = work->control.down;
  LaneSym s = stress_settled(work->shear.friction[i], work->fields.pressure[i], vec_make(down[0], down[1], down[2]));
  const float all[6] = {s.xx, s.yy, s.zz, s.xy, s.xz, s.yz};
  memcpy(work->fields.shear[i], all, sizeof all);
}

static void finish_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  Particles *p = &work->step->state->particles;
  for (int64_t i = b; i < e; i++) {
    const float *v = work->motion.velocity[i];
    p->vx[i] = v[0];
    p->vy[i] = v[1];
    p->vz[i] = v[2];
    p->dx[i] = v[0] * work->control.dt + work->shift[0][i];
    p->dy[i] = v[1] * work->control.dt + work->shift[1][i];
    p->dz[i] = v[2] * work->control.dt + work->shift[2][i];
    work->fields.pressure[i] = work->control.kept * work->pressure.pressure[i];
    for (int c = 0; c < 6; c++) work->fields.shear[i][c] = work->control.held * work->shear.shear[c][i];
    if (work->control.settles) settle(work, i);
  }
}

/* Pairs and walls at the places of now, densities and diagonals. */
static Status look(Sph *sph, SphWork *work) {
  Core *core = work->step->core;
  Profile *profile = work->step->profile;
  double began = profile_begin();
  TRY(sph_shield_find(work));
  TRY(sph_pairs_find(work));
  profile_end(profile, "pairs", began);
  began = profile_begin();
  TRY(sph_weigh_samples(core, work->step->state, sph));
  TRY(sph_walls_find(work, &sph->rays, sph->sample_volume));
  sph_walls_weigh(work);
  sph_walls_split(work);
  profile_end(profile, "walls", began);
  Setup setup = {work, sph};
  parallel_for(core, 0, work->count, SPH_CHUNK, gains_chunk, &setup);
  return SCREE_OK;
}

static double mean_of(SphWork *work, ParallelSumBody chunk) {
  return parallel_sum(work->step->core, 0, work->count, SPH_CHUNK, chunk, work) / (double)work->count;
}

/* ---- the beginning ---- */

/* Compression may be moved apart, and what seats may come closer, too: its pressure has something to take away from. */
static void loosen_begin_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  const float gains = sph_loosening(work).gains;
  for (int64_t i = b; i < e; i++) {
    float pressure = pressure_of_seat(work->pressure.density[i], work->pressure.gain[i], gains);
    work->shear.friction[i] = work->shear.cohesion[i] = work->shear.wall_weight[i] = work->shear.surface_weight[i] = 0;
    work->pressure.source[i] = work->pressure.density[i];
    work->pressure.pressure[i] = pressure;
    for (int c = 0; c < 6; c++) work->shear.shear[c][i] = 0;
    for (int32_t k = work->walls.start[i]; k < work->walls.start[i + 1]; k++) {
      SphContact *contact = &work->walls.contacts[k];
      contact->friction = 0;
      for (int c = 0; c < 3; c++) contact->velocity[c] = contact->grip[c] = 0;
    }
    press_alone(work, i, pressure);
  }
}

/* The velocity that this pressure would make is taken away beforehand. */
static void loosen_balance_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  for (int64_t i = b; i < e; i++)
    for (int c = 0; c < 3; c++) work->motion.start[c][i] = -work->motion.velocity[i][c];
}

static void loosen_end_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  Particles *p = &work->step->state->particles;
  float most = LOOSEN_MOST * work->control.spacing;
  for (int64_t i = b; i < e; i++) {
    LaneVec3 way =
        vec_mul(vec_make(work->motion.velocity[i][0], work->motion.velocity[i][1], work->motion.velocity[i][2]),
                work->control.dt);
    float length = real_sqrt(vec_dot(way, way));
    if (length > most) way = vec_mul(way, most / length);
    p->x[i] += way.x;
    p->y[i] += way.y;
    p->z[i] += way.z;
  }
}

SphLoosening sph_loosening(const SphWork *work) {
  const double tolerance = work->settings->compression;
  const State *state = work->step->state;
  bool seat = false; /* sand without friction finds its place by itself */
  for (int32_t k = 0; k < state->materials.count && state->step == 0; k++) seat |= work->materials[k].friction > 0;
  return (SphLoosening){.seat = seat,
                        .gains = seat ? SEAT_GAINS : 0,
                        .passes = seat ? SEAT_PASSES : LOOSEN_PASSES,
                        .above = (seat ? SEATED : LOOSE) * tolerance,
                        .most = (seat ? SEAT_SHARE : STEP_SHARE) * tolerance};
}

/* A fill may squeeze its parcels a little to fit between walls. Sand that is pressed into a tank keeps that: friction
 * locks it. So what is too dense at the beginning is moved apart, without weight or friction, before it bears any
 * stress, and what is too loose in the first step moved together. Returns whether it was. */
static Status loosen(Sph *sph, SphWork *work, bool *dense) {
  Core *core = work->step->core;
  const SphLoosening loosening = sph_loosening(work);
  SphStatistics unused;
  for (int pass = 0; pass < loosening.passes; pass++) {
    int mark = scratch_mark(work->step->scratch);
    TRY(look(sph, work));
    *dense = mean_of(work, loosening.seat ? misfit_chunk : compressed_chunk) > loosening.above;
    if (*dense) {
      work->walls.moving_count = 0;
      parallel_for(core, 0, work->count, SPH_CHUNK, loosen_begin_chunk, work);
      parallel_for(core, 0, work->slices, SPH_SLICE_CHUNK, work->passes->velocity, work);
      parallel_for(core, 0, work->count, SPH_CHUNK, loosen_balance_chunk, work);
      iterate(work, loosening.most, &unused);
      parallel_for(core, 0, work->count, SPH_CHUNK, loosen_end_chunk, work);
    }
    scratch_release(core, work->step->scratch, mark);
    if (!*dense) break;
  }
  return SCREE_OK;
}

void sph_account(Sph *sph, SphWork *work, bool dense) {
  SphStatistics *statistics = &sph->statistics;
  State *state = work->step->state;
  bool met = statistics->compression <= STEP_SHARE * work->settings->compression;
  bool compressed = statistics->compression_before > COMPRESSED * work->settings->compression;
  statistics->all_iterations += statistics->iterations;
  statistics->steps++;
  if (!met) state_count(state, "compression_not_met", 1);
  if (compressed) state_count(state, "compressed_steps", 1);
  work->control.kept = dense ? 0 : compressed && !met ? SQUEEZED_KEPT : 1;
  work->control.held = state->step < FORGET_STEPS ? 0 : work->control.kept;
  work->control.settles = state->step < FORGET_STEPS && vec3_length(state->gravity) > 0;
}

static Status solve(Sph *sph, SphWork *work) {
  Core *core = work->step->core;
  Step *step = work->step;
  SphStatistics *statistics = &sph->statistics;
  bool dense = false;
  TRY(take_arrays(work));
  if (step->state->step < LOOSEN_STEPS) TRY(loosen(sph, work, &dense));
  TRY(look(sph, work));
  double began = profile_begin();
  statistics->compression_before = mean_of(work, compressed_chunk);
  Setup setup = {work, sph};
  shift_places(work);
  TRY(sph_air_start(work));
  parallel_for(core, 0, work->count, SPH_CHUNK, begin_chunk, &setup);
  profile_end(step->profile, "forces", began);
  began = profile_begin();
  iterate(work, STEP_SHARE * work->settings->compression, statistics);
  profile_end(step->profile, "pressure", began);
  int64_t slots = 0;
  for (int64_t g = 0; g < work->slices; g++) slots += work->pairs.width[g];
  statistics->pairs = slots * LANES;
  int64_t bounds = (statistics->iterations + BOUND_EVERY - 1) / BOUND_EVERY;
  statistics->visits += (2 * statistics->iterations + bounds + 1) * slots * LANES;
  sph_account(sph, work, dense);
  parallel_for(core, 0, work->count, SPH_CHUNK, finish_chunk, work);
  sph_walls_keep(work);
  sph_walls_load(work);
  return SCREE_OK;
}

SphWork sph_set_up(Sph *sph, Step *step) {
  const State *state = step->state;
  const int64_t count = state->particles.count;
  double spacing = 2 * state->radius, usual = usual_step(state), g = vec3_length(state->gravity);
  Vec3 down = g > 0 ? vec3_scale(state->gravity, 1 / g) : vec3(0, 0, 0);
  return (SphWork){.step = step,
                   .settings = &sph->settings,
                   .materials = sph->materials,
                   .passes = &sph->passes,
                   .fields = sph->fields,
                   .count = count,
                   .slices = (count + LANES - 1) / LANES,
                   .control = {.dt = (float)step->dt,
                               .spacing = (float)spacing,
                               .volume = (float)(spacing * spacing * spacing),
                               .pace = (float)fmin(step->dt / usual, 1),
                               .slack = (float)(SLACK * sph->settings.compression),
                               .down = {(float)down.x, (float)down.y, (float)down.z},
                               .collision = (float)fmin(COLLISION * step->dt / usual, COLLISION_MOST)},
                   .pairs.gradient_step = (float)(1 / (SPH_GRADIENT_STEPS * spacing)),
                   .walls.rows = count};
}

static Status sph_step(void *data, Step *step) {
  Sph *sph = data;
  if (step->state->particles.count == 0) return SCREE_OK;
  SphWork work = sph_set_up(sph, step);
  int mark = scratch_mark(step->scratch);
  Status status = solve(sph, &work);
  scratch_release(step->core, step->scratch, mark);
  return status;
}

static void sph_destroy(Core *core, void *data) {
  Sph *sph = data;
  if (!sph) return;
  sph_device_close(core, sph);
  memory_drop(core, &sph->sample_volume);
  memory_drop(core, &sph);
}

static Status sph_materials_changed(Core *core, const State *state, void *data) {
  (void)core;
  read_materials(state, data);
  return SCREE_OK;
}

static Status sph_pressure(Core *core, const State *state, const void *data, float *pressure) {
  (void)core;
  const Sph *sph = data;
  for (int64_t i = 0; i < state->particles.count; i++) pressure[i] = sph->fields.pressure[i];
  return SCREE_OK;
}

static Status sph_check(Core *core, const Archive *archive, const State *state, const void *data) {
  const Sph *sph = data;
  bool finite = true;
  for (int64_t i = 0; i < state->particles.count; i++)
    for (int k = 0; k < SPH_GRIPS; k++) finite = finite && floats_finite(sph->fields.grip[i][k].force, 3);
  return finite ? SCREE_OK : archive_refuse(core, archive, "friction of a wall is not finite");
}

const Method METHOD_SPH = {
    .info = {.name = "sph", .summary = "incompressible granular fluid with friction (IISPH)", .paper = "neder2023"},
    .particle = PARTICLE_PARCEL,
    .create = sph_create,
    .needs = sph_needs,
    .largest_step = sph_largest_step,
    .step = sph_step,
    .check = sph_check,
    .destroy = sph_destroy,
    .materials_changed = sph_materials_changed,
    .pressure = sph_pressure,
    .device = METHOD_DEVICE(&SPH_DEVICE),
};
