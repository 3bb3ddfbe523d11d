/* sph: sand as an incompressible fluid with friction, after Neder 2023. Equation numbers are the paper's.
 *
 * The unknowns of a step are the pressure and the frictional stress of every parcel and the friction of walls. Both are
 * found in one relaxed Jacobi iteration over two passes: the velocity under the stress at hand (Eq. 13 to 16), and the
 * strain of that velocity with the stress that should stop it (Eq. 6 to 12, 19, 20). All begin with what they were in
 * the step before: sand at rest then needs no search, and friction has a memory.
 *
 * Departures, with reasons in docs/methods/sph.md: volumes instead of masses, so that materials of different density
 * share a face; a pair's stresses are added without their densities, which makes the divergence the exact transpose of
 * the gradient, at walls too; compression is taken back by moving parcels, not by speeding them up; the deviator, the
 * signs, the yield bound, the clamp and the stopping rule are put right. */
#include <math.h>

#include "core/parallel.h"
#include "methods/sph/sph.h"
#include "methods/sph/sph_kernels.h"
#include "methods/sph/spline.h"
#include "methods/sph/work.h"
#include "neighbors/neighbors.h"

enum { SPH_CHUNK = 1024, LEAST_ITERATIONS = 2 };
/* Iterations for which the bound of friction stays. With a bound that does not move the search for friction is convex
 * and takes fewer iterations than with one that follows the pressure at once. */
enum { BOUND_EVERY = 4 };

#define SKIN 0.25f
/* The relaxed steps. With the usual 0.5 the two together do not converge but swing for ever, a little, in every step:
 * piles then creep. */
#define OMEGA_PRESSURE 0.3f
#define OMEGA_SHEAR 0.3f
/* Of the tolerance, what one step may leave: compression of several steps adds up until the shift takes it back. */
#define STEP_SHARE 0.2
/* Sand that flows need not know its friction better than this share. */
#define FLOWING_SHARE 0.02
/* Collisions: in the usual step a pair loses this share of its approach, and never more than that. */
#define COLLISION 0.1
#define COLLISION_MOST 0.25
/* Compression is taken back in two ways. A shift of the places makes no speed, but is local: one relaxed pass of it,
 * for at most so much compression. The pressure of the step takes a small share more, which reaches far; less in a
 * shorter step, because speed made in steps that speed makes shorter would grow without end where there is no room. */
#define MOST_SHIFT 0.1f
#define SPEED_SHARE 0.1f
#define MOST_COMPRESSION 0.005f
/* Cohesion fades where a parcel has lost its neighbours: a cloud does not hold together. */
#define COHESION_FROM 0.5f
#define COHESION_FULL 0.8f
/* Of sqrt(spacing / g): the step unless one is asked for. */
#define USUAL_STEP 0.08
#define USUAL_STEP_WEIGHTLESS 0.004
/* Mean compression at the beginning of a step, as multiple of the tolerance, that deserves a warning. */
#define COMPRESSED 10
/* Of its stress, what sand keeps for the next step when it is pressed together and found no room: none helps, and one
 * that is kept would grow from step to step. */
#define SQUEEZED_KEPT 0.5f

typedef struct Sph {
  SphSettings settings;
  SphFields fields;
  SphMaterial materials[MATERIALS_MAX];
  double usual_step;     /* s */
  double lattice_square; /* over 1 / spacing^2 */
  SplineLayer layer;
  float *sample_volume; /* over that of a parcel */
  int64_t sample_count;
  SphStatistics statistics;
} Sph;

const SphStatistics *sph_statistics(const void *data) { return &((const Sph *)data)->statistics; }

static void read_materials(const State *state, Sph *sph) {
  for (int32_t k = 0; k < state->materials.count; k++) {
    const ScreeMaterialDef *def = &state->materials.items[k].definition;
    double angle = def->friction_angle_deg * M_PI / 180, share = sqrt(2) * sin(angle);
    if (sph->settings.fault == FAULT_YIELD) share = sin(angle);
    sph->materials[k] = (SphMaterial){
        .friction = (float)share, .cohesion = (float)(sqrt(2) * def->cohesion), .wall_friction = (float)tan(angle)};
  }
}

/* In which a parcel that falls from rest stays near its neighbours. */
static double longest_step(const State *state) {
  double g = vec3_length(state->gravity);
  return g > 0 ? 0.5 * sqrt(2 * state->radius / g) : INFINITY;
}

static Status sph_create(Core *core, State *state, ScreeMethodDef *definition, void **data) {
  Sph *sph = NULL;
  TRY(memory_new(core, &sph, 1, "sph"));
  *data = sph;
  double g = vec3_length(state->gravity);
  sph->settings = (SphSettings){.compression = definition->compression,
                                .shear = definition->strain,
                                .most_iterations = definition->max_iterations,
                                .drag = definition->drag,
                                .memory = definition->memory,
                                .fault = definition->fault};
  double usual = g > 0 ? USUAL_STEP * sqrt(2 * state->radius / g) : USUAL_STEP_WEIGHTLESS;
  if (scree_is_auto(definition->time_step)) definition->time_step = usual;
  double longest = longest_step(state);
  if (definition->time_step > longest) {
    log_line(core, SCREE_LOG_WARNING, "time_step %g s is too long for parcels this small: limited to %.3g s",
             definition->time_step, longest);
    definition->time_step = longest;
  }
  sph->usual_step = usual;
  sph->lattice_square = spline_lattice_square();
  sph->layer = spline_layer();
  read_materials(state, sph);
  Particles *p = &state->particles;
  TRY(particles_add_field(core, p, "sph_pressure", sizeof(float), true, (void **)&sph->fields.pressure));
  TRY(particles_add_field(core, p, "sph_shear", (int32_t)sizeof *sph->fields.shear, true, (void **)&sph->fields.shear));
  return particles_add_field(core, p, "sph_grip", (int32_t)sizeof *sph->fields.grip, true, (void **)&sph->fields.grip);
}

static MethodReach sph_reach(const void *data) {
  (void)data;
  return (MethodReach){.pairs = (float)SPLINE_SUPPORT, .solids = 2 * (float)WALL_REACH, .skin = SKIN};
}

static double sph_largest_step(const void *data, const State *state) {
  (void)data;
  return longest_step(state);
}

/* ---- samples of solids ---- */

/* Akinci's volumes: a sample's own number density says how much of the wall it stands for. A layer of them, one radius
 * below the surface, then counts as a layer of parcels does. */
static Status weigh_samples(Core *core, const State *state, Sph *sph) {
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

static Status take_arrays(SphWork *work) {
  Core *core = work->step->core;
  Scratch *scratch = work->step->scratch;
  int64_t padded = work->groups * LANES;
  float **arrays[] = {
      &work->density,     &work->square,       &work->pressure,     &work->mobility,   &work->pressure_gain,
      &work->wall_around, &work->none_around,  &work->bound,        &work->shear_gain, &work->friction,
      &work->cohesion,    &work->sum[0],       &work->sum[1],       &work->sum[2],     &work->start[0],
      &work->start[1],    &work->start[2],     &work->wall_gain[0], &work->shift[0],   &work->shift[1],
      &work->shift[2],    &work->wall_gain[1], &work->wall_gain[2], &work->shear[0],   &work->shear[1],
      &work->shear[2],    &work->shear[3],     &work->shear[4],     &work->shear[5]};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    TRY(scratch_take(core, scratch, arrays[k], padded, "sph"));
  TRY(scratch_take(core, scratch, &work->place, padded, "sph"));
  TRY(scratch_take(core, scratch, &work->velocity, padded, "sph"));
  TRY(scratch_take(core, scratch, &work->stress, padded, "sph"));
  TRY(scratch_take(core, scratch, &work->slice, work->groups, "sph"));
  TRY(scratch_take(core, scratch, &work->width, work->groups, "sph"));
  TRY(scratch_take(core, scratch, &work->wall_start, work->count + 1, "sph"));
  int64_t chunks = parallel_chunks(0, work->groups, SPH_GROUP_CHUNK);
  TRY(scratch_take(core, scratch, &work->residual, chunks, "sph"));
  for (int64_t i = work->count; i < padded; i++) {
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) (*arrays[k])[i] = 0;
    work->density[i] = 1; /* neither dense nor thin */
    for (int c = 0; c < 4; c++) work->velocity[i][c] = 0;
    for (int c = 0; c < 8; c++) work->stress[i][c] = 0;
  }
  return SCREE_OK;
}

typedef struct Setup {
  SphWork *work;
  const Sph *sph;
} Setup;

/* Diagonals. */
static void gains_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Setup *setup = context;
  SphWork *work = setup->work;
  float dt = work->dt, volume = work->volume;
  float lattice = (float)setup->sph->lattice_square / (work->spacing * work->spacing);
  for (int64_t i = b; i < e; i++) {
    float inverse = work->place[i][3], sum[3], wall[3] = {0, 0, 0}, yielding = 0;
    for (int c = 0; c < 3; c++) sum[c] = work->sum[c][i];
    for (int32_t k = work->wall_start[i]; k < work->wall_start[i + 1]; k++) {
      const SphWall *at = &work->walls[k];
      for (int c = 0; c < 3; c++) wall[c] -= at->slope * at->normal[c];
      yielding += at->slope * at->slope * at->yielding;
    }
    float shell = 0;
    for (int c = 0; c < 3; c++) shell += (sum[c] + wall[c]) * (sum[c] + wall[c]);
    float diagonal = shell * inverse + work->square[i] + yielding, least = 0.05f * lattice * inverse;
    work->mobility[i] = dt * volume * inverse;
    work->pressure_gain[i] = OMEGA_PRESSURE / (dt * dt * volume * (diagonal > least ? diagonal : least));
    /* D of a full, symmetric neighbourhood, at this dt, density and mass; more where a surface makes it lopsided. */
    work->shear_gain[i] = OMEGA_SHEAR / (dt * volume * inverse * (lattice + shell));
  }
}

/* The sides of a parcel that are not neighbours. A wall counts as the layer of parcels that it stands for. What then
 * makes the gradients add up to something is missing: the layer above a free surface, or part of one. */
static void find_around(const Setup *setup, int64_t i) {
  SphWork *work = setup->work;
  const SplineLayer *layer = &setup->sph->layer;
  float walls = 0, sum[3];
  for (int c = 0; c < 3; c++) sum[c] = work->sum[c][i] * work->spacing;
  for (int32_t k = work->wall_start[i]; k < work->wall_start[i + 1]; k++) {
    const SphWall *wall = &work->walls[k];
    float share = fminf(wall->share / (float)WALL_AT_REST, 1);
    walls += share * (float)layer->length;
    for (int c = 0; c < 3; c++) sum[c] -= share * (float)layer->sum * wall->normal[c];
  }
  float none = sqrtf(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) * (float)(layer->length / layer->sum);
  work->wall_around[i] = SPH_GRADIENT_STEPS * walls;
  work->none_around[i] = SPH_GRADIENT_STEPS * none;
}

/* Bounds, and the stress that the step before left. */
static void setup_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Setup *setup = context;
  SphWork *work = setup->work;
  const Particles *p = &work->step->state->particles;
  for (int64_t i = b; i < e; i++) {
    const SphMaterial *material = &work->materials[p->material[i]];
    float filled = (work->density[i] - COHESION_FROM) / (COHESION_FULL - COHESION_FROM);
    work->friction[i] = material->friction;
    find_around(setup, i);
    work->cohesion[i] = material->cohesion * (filled < 0 ? 0 : filled > 1 ? 1 : filled);
    if (work->density[i] > 1) {
      float more = SPEED_SHARE * (work->density[i] - 1);
      work->density[i] = 1 + work->pace * (more < MOST_COMPRESSION ? more : MOST_COMPRESSION);
    }
    bool memory = work->settings->memory;
    work->pressure[i] = memory ? work->fields.pressure[i] : 0;
    for (int c = 0; c < 6; c++) {
      work->shear[c][i] = memory ? work->fields.shear[i][c] : 0;
      work->stress[i][c] = work->shear[c][i] - (c < 3 ? work->pressure[i] : 0);
    }
    work->stress[i][STRESS_PRESSURE] = work->pressure[i];
    work->stress[i][7] = 0;
    sph_walls_begin(work, i);
  }
}

/* The pressure that would take back the compression at hand in one relaxed pass, into the rows of stress. */
static void shift_begin_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Setup *setup = context;
  SphWork *work = setup->work;
  for (int64_t i = b; i < e; i++) {
    float more = work->density[i] > 1 ? work->density[i] - 1 : 0;
    if (more > MOST_SHIFT) more = MOST_SHIFT;
    float pressure = more * work->pressure_gain[i], gain[3] = {0, 0, 0};
    for (int c = 0; c < 8; c++) work->stress[i][c] = c < 3 ? -pressure : 0;
    for (int32_t k = work->wall_start[i]; k < work->wall_start[i + 1]; k++)
      for (int c = 0; c < 3; c++)
        gain[c] += work->mobility[i] * work->walls[k].slope * pressure * work->walls[k].normal[c];
    for (int c = 0; c < 3; c++) work->wall_gain[c][i] = gain[c], work->start[c][i] = 0;
  }
}

static void shift_end_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Setup *setup = context;
  SphWork *work = setup->work;
  for (int64_t i = b; i < e; i++)
    for (int c = 0; c < 3; c++) work->shift[c][i] = work->dt * work->velocity[i][c];
}

static double compressed_chunk(void *context, int64_t b, int64_t e) {
  const SphWork *work = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++) sum += work->density[i] > 1 ? (double)(work->density[i] - 1) : 0;
  return sum;
}

/* The relaxed Jacobi iteration of Algorithm 1, with its condition the right way round. */
static void iterate(SphWork *work, SphStatistics *statistics) {
  Core *core = work->step->core;
  int64_t chunks = parallel_chunks(0, work->groups, SPH_GROUP_CHUNK), iterations = 0;
  double mean[RESIDUALS], most = STEP_SHARE * work->settings->compression;
  for (bool solved = false; !solved && iterations < work->settings->most_iterations; iterations++) {
    if (iterations % BOUND_EVERY == 0)
      parallel_for(core, 0, work->groups, SPH_GROUP_CHUNK, KERNEL_CALL(core, sph_bound_pass), work);
    parallel_for(core, 0, work->groups, SPH_GROUP_CHUNK, KERNEL_CALL(core, sph_velocity_pass), work);
    sph_walls_follow(work);
    parallel_for(core, 0, work->groups, SPH_GROUP_CHUNK, KERNEL_CALL(core, sph_stress_pass), work);
    for (int r = 0; r < RESIDUALS; r++) {
      mean[r] = 0;
      for (int64_t k = 0; k < chunks; k++) mean[r] += work->residual[k][r];
      mean[r] /= (double)work->count;
    }
    solved = iterations + 1 >= LEAST_ITERATIONS && mean[RESIDUAL_COMPRESSION] <= most &&
             mean[RESIDUAL_EXPANSION] <= most &&
             sqrt(mean[RESIDUAL_SHEAR]) <= work->settings->shear + FLOWING_SHARE * sqrt(mean[FLOWING]);
  }
  parallel_for(core, 0, work->groups, SPH_GROUP_CHUNK, KERNEL_CALL(core, sph_velocity_pass), work);
  statistics->iterations = iterations;
  statistics->compression = mean[RESIDUAL_COMPRESSION];
  statistics->expansion = mean[RESIDUAL_EXPANSION];
  statistics->shear = sqrt(mean[RESIDUAL_SHEAR]);
}

static void finish_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  SphWork *work = context;
  Particles *p = &work->step->state->particles;
  for (int64_t i = b; i < e; i++) {
    const float *v = work->velocity[i];
    p->vx[i] = v[0];
    p->vy[i] = v[1];
    p->vz[i] = v[2];
    p->dx[i] = v[0] * work->dt + work->shift[0][i];
    p->dy[i] = v[1] * work->dt + work->shift[1][i];
    p->dz[i] = v[2] * work->dt + work->shift[2][i];
    work->fields.pressure[i] = work->kept * work->pressure[i];
    for (int c = 0; c < 6; c++) work->fields.shear[i][c] = work->kept * work->shear[c][i];
  }
}

/* The printed method strains the velocity that the step began with. */
static Status begin_fault(SphWork *work) {
  work->trace_share = work->settings->fault == FAULT_HALF_TRACE ? 0.5f : 1.0f / 3;
  work->absolute = work->settings->fault == FAULT_ABSOLUTE;
  bool face = work->settings->fault == FAULT_FACE_D;
  for (int c = 0; c < 6; c++) work->shear_weight[c] = face && c == 0 ? 1 / 2.1f : 1;
  if (work->settings->fault != FAULT_OLD_STRAIN) return SCREE_OK;
  float(*rows)[4] = NULL;
  const Particles *p = &work->step->state->particles;
  TRY(scratch_take(work->step->core, work->step->scratch, &rows, work->groups * LANES, "sph"));
  for (int64_t i = 0; i < work->groups * LANES; i++) {
    bool known = i < work->count;
    rows[i][0] = known ? p->vx[i] : 0;
    rows[i][1] = known ? p->vy[i] : 0;
    rows[i][2] = known ? p->vz[i] : 0;
    rows[i][3] = 0;
  }
  work->strained = (const float(*)[4])rows;
  return SCREE_OK;
}

static Status solve(Sph *sph, SphWork *work) {
  Core *core = work->step->core;
  Step *step = work->step;
  SphStatistics *statistics = &sph->statistics;
  double began = profile_begin();
  TRY(take_arrays(work));
  TRY(sph_pairs_find(work));
  profile_end(step->profile, "pairs", began);
  began = profile_begin();
  TRY(weigh_samples(core, step->state, sph));
  TRY(sph_walls_find(work, sph->sample_volume));
  sph_walls_split(work);
  profile_end(step->profile, "walls", began);
  began = profile_begin();
  statistics->compression_before =
      parallel_sum(core, 0, work->count, SPH_CHUNK, compressed_chunk, work) / (double)work->count;
  Setup setup = {work, sph};
  parallel_for(core, 0, work->count, SPH_CHUNK, gains_chunk, &setup);
  parallel_for(core, 0, work->count, SPH_CHUNK, shift_begin_chunk, &setup);
  parallel_for(core, 0, work->groups, SPH_GROUP_CHUNK, KERNEL_CALL(core, sph_velocity_pass), work);
  parallel_for(core, 0, work->count, SPH_CHUNK, shift_end_chunk, &setup);
  TRY(sph_air_start(work));
  parallel_for(core, 0, work->count, SPH_CHUNK, setup_chunk, &setup);
  TRY(begin_fault(work));
  profile_end(step->profile, "forces", began);
  began = profile_begin();
  iterate(work, statistics);
  profile_end(step->profile, "pressure", began);
  statistics->all_iterations += statistics->iterations;
  statistics->steps++;
  int64_t slots = 0;
  for (int64_t g = 0; g < work->groups; g++) slots += work->width[g];
  statistics->pairs = slots * LANES;
  int64_t bounds = (statistics->iterations + BOUND_EVERY - 1) / BOUND_EVERY;
  statistics->visits += (2 * statistics->iterations + bounds + 1) * slots * LANES;
  bool met = statistics->compression <= STEP_SHARE * work->settings->compression;
  bool compressed = statistics->compression_before > COMPRESSED * work->settings->compression;
  if (!met) state_count(step->state, "compression_not_met", 1);
  if (compressed) state_count(step->state, "compressed_steps", 1);
  work->kept = compressed && !met ? SQUEEZED_KEPT : 1;
  parallel_for(core, 0, work->count, SPH_CHUNK, finish_chunk, work);
  sph_walls_keep(work);
  sph_walls_push(work);
  return SCREE_OK;
}

static Status sph_step(void *data, Step *step) {
  Sph *sph = data;
  State *state = step->state;
  int64_t count = state->particles.count;
  if (count == 0) return SCREE_OK;
  double spacing = 2 * state->radius;
  SphWork work = {.step = step,
                  .settings = &sph->settings,
                  .materials = sph->materials,
                  .fields = sph->fields,
                  .count = count,
                  .groups = (count + LANES - 1) / LANES,
                  .dt = (float)step->dt,
                  .pace = (float)fmin(step->dt / sph->usual_step, 1),
                  .collision = (float)fmin(COLLISION * step->dt / sph->usual_step, COLLISION_MOST),
                  .spacing = (float)spacing,
                  .gradient_step = (float)(1 / (SPH_GRADIENT_STEPS * spacing)),
                  .volume = (float)(spacing * spacing * spacing)};
  int mark = scratch_mark(step->scratch);
  Status status = solve(sph, &work);
  scratch_release(step->core, step->scratch, mark);
  return status;
}

static void sph_destroy(Core *core, void *data) {
  Sph *sph = data;
  if (!sph) return;
  memory_drop(core, &sph->sample_volume);
  memory_drop(core, &sph);
}

static Status sph_pressure(Core *core, const State *state, const void *data, float *pressure) {
  (void)core;
  const Sph *sph = data;
  for (int64_t i = 0; i < state->particles.count; i++) pressure[i] = sph->fields.pressure[i];
  return SCREE_OK;
}

const Method METHOD_SPH = {
    .info = {.name = "sph", .summary = "incompressible granular fluid with friction (IISPH)", .paper = "neder2023"},
    .seeding = SEED_PARCELS,
    .cfl = 0.3, /* sand that falls into sand faster than this is pressed together by more than the tolerance */
    .create = sph_create,
    .reach = sph_reach,
    .largest_step = sph_largest_step,
    .step = sph_step,
    .destroy = sph_destroy,
    .pressure = sph_pressure,
};
