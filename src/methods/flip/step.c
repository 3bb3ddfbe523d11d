/* flip: sand as a continuum after Narain 2010. Numbers in brackets are the lines of its Fig. 8.
 *
 * Departures. Weights near solids are shared among the nodes that are not inside them, and densities are those of the
 * free volume (the paper's are of the whole cell, and its Eq. 27 takes the share out again). Walls stand anywhere, cut
 * cells and faces by their shares, and closed faces stop sand at once. The yield surface is the cone unless `box` (as
 * printed) or `planes` is asked for; friction is solved for all components at once and minimises the kinetic energy
 * itself, without the paper's weight. Faces with little sand bear no stress, and particles at the surface give to those
 * alone that do (transfer/bearing_faces.c). Shapes advance by (1 + dt J) A (1 + dt J)^T, which is Eq. 28 to first order
 * and stays positive. Dense sand loses what the grid does not see of its velocity (`settle`): what FLIP leaves between
 * the nodes would otherwise never come to rest. Loose sand may go farther than half a cell in a step. See
 * docs/methods/flip.md.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/portable.h"
#include "methods/flip/flip.h"
#include "methods/flip/solids/solids.h"
#include "methods/flip/stress/stress.h"
#include "methods/flip/transfer/shapes.h"
#include "methods/flip/transfer/transfer.h"

/* A step of half a cell is two radii; sand at rest is solved this often at least. */
#define FLIP_TIME_STEP (1.0 / 60)
/* Sand that falls freely may go half a cell of the default size in a step, and so may solids; in radii. */
#define FLIP_CFL 2.0
#define SOLID_DISPLACEMENT 2.0
/* Cells of cached distances to meshes, and how far strips query them (solids/solids.c), in radii. Inner edges are
 * rounded by a share of such a cell: with 1.5, cells beside them seemed to have free volume in the wall, and sand crept
 * there. */
#define DISTANCE_CELL 0.5
#define DISTANCE_BAND 7.5

typedef struct Flip {
  FlipSettings settings;
  FlipGrid grid[2]; /* now, and of the step before */
  FlipKept kept[2];
  SolidRecords records;
  int now;
  FlipOrder order;
  FlipShapes shapes;
  FlipReport report; /* of the run */
  double speed;      /* in the last step, see FlipWork; below 0: not known */
  double distance_band;
} Flip;

const FlipReport *flip_report(const void *data) { return &((const Flip *)data)->report; }

/* Where the fixed container that reaches lowest along x begins, m; INFINITY: there is none. */
static double lowest_container(const State *state) {
  double lowest = INFINITY;
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    const Shape *shape = &solid->shape;
    if (!shape->inside || solid->motion != MOTION_FIXED) continue;
    for (int corner = 0; corner < 8; corner++) {
      Vec3 at = vec3(corner & 1 ? shape->bounds_high.x : shape->bounds_low.x,
                     corner & 2 ? shape->bounds_high.y : shape->bounds_low.y,
                     corner & 4 ? shape->bounds_high.z : shape->bounds_low.z);
      lowest = fmin(lowest, solid->position.x + quat_rotate(solid->rotation, at).x);
    }
  }
  return lowest;
}

static Status flip_create(Core *core, State *state, ScreeMethodDef *definition, void **data) {
  Flip *flip = NULL;
  TRY(memory_new(core, &flip, 1, "flip"));
  *data = flip;
  if (scree_is_auto(definition->time_step)) definition->time_step = FLIP_TIME_STEP;
  if (scree_is_auto(definition->cfl)) definition->cfl = FLIP_CFL;
  if (scree_is_auto(definition->flip.cell)) definition->flip.cell = 4 * definition->radius;
  if (definition->flip.cell < 2 * definition->radius)
    return fail(core, SCREE_BAD_INPUT, "cell %g m is smaller than two radii (%g m): a cell holds at least one particle",
                definition->flip.cell, 2 * definition->radius);
  flip->settings = (FlipSettings){.cell = definition->flip.cell,
                                  .iterations = (int)definition->flip.staggered,
                                  .staggered_tolerance = definition->flip.staggered_tolerance,
                                  .scheme = definition->flip.yield_surface,
                                  .pulling = definition->flip.pulling,
                                  .shapes = definition->flip.shapes,
                                  .tolerance = definition->flip.tolerance,
                                  .solver_steps = (int)definition->flip.solver_steps,
                                  .friction_steps = (int)definition->flip.friction_steps,
                                  .displacement = definition->cfl * definition->radius / definition->flip.cell,
                                  .settle = definition->flip.settle};
  flip->settings.loose_displacement =
      fmax(definition->cfl, definition->flip.loose_cfl) * definition->radius / definition->flip.cell;
  flip->speed = -1;
  for (int k = 0; k < 2; k++) {
    flip->grid[k].cell = definition->flip.cell;
    grid_align(&flip->grid[k], state->origin, lowest_container(state));
  }
  if (flip->settings.shapes) TRY(shapes_create(core, state, &flip->shapes));
  flip->distance_band = DISTANCE_BAND * fmax(1, definition->flip.cell / (4 * definition->radius));
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    Vec3 size = vec3_sub(solid->shape.bounds_high, solid->shape.bounds_low);
    double least = fmin(size.x, fmin(size.y, size.z));
    if (!solid->shape.inside && solid->shape.kind != SCREE_SHAPE_PLANE && least < definition->flip.cell)
      log_line(core, SCREE_LOG_WARNING, "'%s' is %g m thin and a grid cell is %g m: the sand will hardly see it",
               solid->name, least, definition->flip.cell);
  }
  return SCREE_OK;
}

static MethodNeeds flip_needs(const void *data) {
  const Flip *flip = data;
  MethodNeeds needs = method_needs_default();
  needs.cell = flip->settings.cell; /* particles that are near in the grid are so in memory */
  needs.distance_cell = DISTANCE_CELL;
  needs.distance_band = flip->distance_band;
  needs.cfl = CFL_BY_METHOD;
  needs.coupling = COUPLING_SOLVED;
  needs.solid_displacement = SOLID_DISPLACEMENT;
  needs.parcel_jitter = 0.5f;
  return needs;
}

/* What gravity moves in a step is not borne: it may move farther than pressed sand
 * (largest_displacement). In the pressed sand's
 * measure it is as much less. */
static double counted_gravity(const FlipSettings *settings, const State *state) {
  return vec3_length(state->gravity) / fmin(UNPRESSED_FACTOR, settings->loose_displacement / settings->displacement);
}

/* Section 4: no particle moves more than half a cell. They move as the grid does, and where a cell holds less, sand may
 * move farther (largest_displacement). Solves (v + g dt) dt <= displacement for dt. */
static double flip_largest_step(const void *data, const State *state) {
  const Flip *flip = data;
  double v = flip->speed < 0 ? particles_fastest(&state->particles) : flip->speed;
  double displacement = flip->settings.displacement * flip->settings.cell, g = counted_gravity(&flip->settings, state);
  return g > 0 ? 2 * displacement / (v + sqrt(v * v + 4 * g * displacement)) : v > 0 ? displacement / v : INFINITY;
}

/* How far the sand may push a solid off its path in a step, in cells. When a ball comes to a stop, the stress before it
 * changes; in longer steps neither the solve nor the warm start follows that. */
#define BODY_DEVIATION 0.1

/* The largest acceleration of the faces of bodies that sand is at. */
static double largest_body_acceleration(const FlipWork *work) {
  double largest = 0;
  for (int32_t b = 0; b < work->solids.body_count; b++) {
    const Solid *solid = &work->state->solids.items[work->solids.bodies[b].solid];
    double load[6], motion[6];
    for (int i = 0; i < 6; i++) load[i] = wrench_get(solid, i);
    solid_apply_mobility(solid, load, motion);
    for (int a = 0; a < 3 && solid->motion == MOTION_FREE; a++) motion[a] += vec3_get(work->state->gravity, a);
    for (int64_t k = 0; k < work->solids.face_count; k++)
      if (work->solids.faces[k].body == b)
        largest = fmax(largest, fabs(coupled_velocity(&work->solids.faces[k], motion)));
  }
  return largest;
}

/* The speed of sand that would need the step that bodies need. */
static double speed_for_bodies(const FlipWork *work) {
  double acceleration = largest_body_acceleration(work), cell = work->grid->cell;
  if (!(acceleration > 0)) return 0;
  double dt = sqrt(BODY_DEVIATION * cell / acceleration);
  return work->settings->displacement * cell / dt - counted_gravity(work->settings, work->state) * dt;
}

/* ---- memory of a step ---- */

static Status kept_reserve(Core *core, FlipKept *kept, int64_t strips) {
  TRY(memory_grow(core, &kept->pressure, strips * STRIP, "flip stresses"));
  TRY(memory_grow(core, &kept->correction_potential, strips * STRIP, "flip stresses"));
  for (int k = 0; k < STRESSES; k++) TRY(memory_grow(core, &kept->stress[k], strips * STRIP, "flip stresses"));
  return memory_grow(core, &kept->record, strips, "flip distances");
}

typedef struct Taking {
  FlipWork *work;
  int64_t cells, strips;
} Taking;

/* Strip 0, which stands for all that do not exist, holds zeros in every field. */
static Status take_scalar(const Taking *t, float **field) {
  TRY(scratch_take(t->work->core, t->work->step->scratch, field, t->cells, "grid"));
  memset(*field, 0, sizeof(float) * STRIP);
  return SCREE_OK;
}

static Status take_vector(const Taking *t, float *field[3]) {
  TRY(scratch_take(t->work->core, t->work->step->scratch, &field[0], 3 * t->cells, "grid"));
  for (int a = 0; a < 3; a++) {
    field[a] = field[0] + a * t->cells;
    memset(field[a], 0, sizeof(float) * STRIP);
  }
  return SCREE_OK;
}

static Status take_bits(const Taking *t, uint8_t **bits) {
  TRY(scratch_take(t->work->core, t->work->step->scratch, bits, t->strips, "grid"));
  (*bits)[0] = 0;
  return SCREE_OK;
}

static Status take_solid_fields(const Taking *t, SolidFields *f) {
  TRY(take_scalar(t, &f->free_volume));
  for (int g = 0; g < 4; g++) TRY(take_scalar(t, &f->kernel_volume[g]));
  TRY(take_vector(t, f->open));
  TRY(take_vector(t, f->velocity));
  for (int a = 0; a < 3; a++) {
    TRY(scratch_take(t->work->core, t->work->step->scratch, &f->owner[a], t->cells, "grid"));
    memset(f->owner[a], 0xff, sizeof(int16_t) * STRIP);
  }
  for (int g = 0; g < 4; g++) TRY(take_bits(t, &f->valid[g]));
  return take_bits(t, &f->near);
}

static Status take_sand_fields(const Taking *t, SandFields *f) {
  float **scalars[] = {&f->phi, &f->usable, &f->alpha, &f->cohesion};
  float **vectors[] = {f->mass,          f->velocity,       f->specific_volume, f->flux,
                       f->flux_mobility, f->joint_velocity, f->mobility,        f->settle};
  for (size_t k = 0; k < sizeof scalars / sizeof *scalars; k++) TRY(take_scalar(t, scalars[k]));
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) TRY(take_vector(t, vectors[k]));
  for (int a = 0; a < 3; a++) TRY(take_bits(t, &f->bearing[a]));
  TRY(take_bits(t, &f->restricted));
  return take_bits(t, &f->normed);
}

static Status take_stress_fields(const Taking *t, StressFields *f) {
  TRY(take_scalar(t, &f->layer_depth));
  TRY(take_scalar(t, &f->edge_limit));
  TRY(take_scalar(t, &f->unfilled));
  TRY(take_vector(t, f->pressure_mobility));
  TRY(take_vector(t, f->change));
  TRY(take_vector(t, f->stopped));
  return take_vector(t, f->correction);
}

/* Of the particles in the order of cells; kernels read whole registers. */
static Status take_transfer(FlipWork *work, TransferStage *s) {
  int64_t count = work->order->count + LANES;
  float **arrays[] = {&s->norm[0], &s->norm[1],      &s->norm[2],        &s->norm[3],
                      &s->volume,  &s->alpha_volume, &s->cohesion_volume};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays - (work->mixed ? 0 : 3); k++) {
    TRY(scratch_take(work->core, work->step->scratch, arrays[k], count, "sorted particles"));
    memset(*arrays[k] + count - LANES, 0, sizeof(float) * LANES);
  }
  return scratch_take(work->core, work->step->scratch, &s->restricted, count, "sorted particles");
}

static Status take_stages(FlipWork *work) {
  Taking taking = {.work = work, .cells = work_cells(work), .strips = work->grid->strips};
  TRY(take_solid_fields(&taking, &work->fields.solid));
  TRY(take_sand_fields(&taking, &work->fields.sand));
  TRY(take_stress_fields(&taking, &work->fields.stress));
  TRY(take_transfer(work, &work->transfer));
  return grid_rows(work->core, work->step->scratch, work->grid, &work->rows);
}

/* ---- the step ---- */

static Status advance(Flip *flip, FlipWork *work) {
  Step *step = work->step;
  double began = profile_begin();
  FlipGrid *before = &flip->grid[flip->now];
  FlipKept *kept_before = &flip->kept[flip->now];
  flip->now = !flip->now;
  work->grid = &flip->grid[flip->now];
  work->kept = &flip->kept[flip->now];
  work->order = &flip->order;
  TRY(grid_build(work->core, step->scratch, &work->state->particles, work->grid, work->order));
  TRY(kept_reserve(work->core, work->kept, work->grid->strips));
  TRY(flip_warm_start(work, before, kept_before));
  TRY(take_stages(work));
  profile_end(step->profile, "grid", began);

  began = profile_begin();
  TRY(flip_find_solids(work));
  profile_end(step->profile, "solids", began);

  began = profile_begin();
  flip_sort_materials(work);
  TRY(flip_particles_to_grid(work)); /* [1] */
  profile_end(step->profile, "to_grid", began);

  began = profile_begin();
  flip_set_tolerance(work);
  TRY(flip_correct_density(work)); /* [2] */
  profile_end(step->profile, "density", began);

  TRY(flip_solve_stresses(work)); /* [3] to [5] */

  began = profile_begin();
  TRY(flip_grid_to_particles(work)); /* [6] */
  profile_end(step->profile, "from_grid", began);
  work->advection.speed = fmax(work->advection.speed, speed_for_bodies(work));

  began = profile_begin();
  if (work->shapes) TRY(shapes_advance(work->shapes, work));
  profile_end(step->profile, "shapes", began);
  return SCREE_OK;
}

static Status flip_prepare(void *data, Step *step) {
  Flip *flip = data;
  if (flip->settings.shapes) shapes_born(&flip->shapes, step->state);
  return SCREE_OK;
}

static void add_solves(FlipSolves *total, const FlipSolves *one) {
  total->solves += one->solves;
  total->steps += one->steps;
  total->unfinished += one->unfinished;
  total->residual = fmax(total->residual, one->residual);
  total->complementarity = fmax(total->complementarity, one->complementarity);
  total->violation = fmax(total->violation, one->violation);
}

/* Steps that did not keep what they must, in the report of the run: 0 is what they should say. */
static const char *const MISSES[] = {"pressure_not_converged", "density_not_converged", "complementarity_missed",
                                     "yield_surface_exceeded"};
/* How far round-off may carry a stress beyond its bound, as a share of it. */
#define BOUND_SLACK 1e-5

static void count_misses(State *state, const FlipReport *step, double tolerance) {
  const bool missed[] = {step->pressure.unfinished > 0, step->density.unfinished > 0,
                         step->pressure.complementarity > tolerance, step->friction.violation > BOUND_SLACK};
  for (size_t k = 0; k < sizeof missed / sizeof *missed; k++) state_count(state, MISSES[k], missed[k]);
}

static Status flip_step(void *data, Step *step) {
  Flip *flip = data;
  State *state = step->state;
  FlipWork work = {.core = step->core, .step = step, .state = state, .settings = &flip->settings, .dt = step->dt};
  work.records = &flip->records;
  work.shapes = flip->settings.shapes ? &flip->shapes : NULL;
  work.mixed = state->materials.count > 1;
  work.specific_volume = (float)(1 / state->materials.items[0].definition.density);
  for (int32_t k = 0; k < state->materials.count; k++)
    work.friction[k] = (float)portable_tan(state->materials.items[k].definition.friction_angle_deg * M_PI / 180);
  int mark = scratch_mark(step->scratch);
  Status status = advance(flip, &work);
  scratch_release(step->core, step->scratch, mark);
  flip->speed = work.advection.speed;
  add_solves(&flip->report.pressure, &work.report.pressure);
  add_solves(&flip->report.density, &work.report.density);
  add_solves(&flip->report.friction, &work.report.friction);
  flip->report.densest = work.report.densest;
  count_misses(state, &work.report, flip->settings.tolerance);
  return status;
}

static Status flip_archive(Core *core, Archive *archive, void *data) {
  Flip *flip = data;
  FlipGrid *grid = &flip->grid[flip->now];
  FlipKept *kept = &flip->kept[flip->now];
  int64_t strips = grid->strips;
  TRY(archive_section(core, archive, "flip"));
  TRY(archive_value(core, archive, &flip->speed));
  TRY(shapes_archive(core, archive, &flip->shapes));
  TRY(archive_count(core, archive, &strips, (int64_t)sizeof(uint64_t) + 8 * STRIP * (int64_t)sizeof(float)));
  if (strips == 0) return SCREE_OK;
  TRY(memory_grow(core, &grid->key, strips, "flip grid"));
  TRY(kept_reserve(core, kept, strips));
  TRY(archive_array(core, archive, grid->key, strips));
  TRY(archive_array(core, archive, kept->pressure, strips * STRIP));
  TRY(archive_array(core, archive, kept->correction_potential, strips * STRIP));
  for (int k = 0; k < STRESSES; k++) TRY(archive_array(core, archive, kept->stress[k], strips * STRIP));
  if (!archive->loading) return SCREE_OK;
  if (strips >= INT32_MAX / STRIP) return archive_bad(core, archive, "too many cells");
  for (int64_t s = 1; s < strips; s++)
    if (grid->key[s] >> (3 * GRID_BITS) || (s > 1 && grid->key[s] <= grid->key[s - 1]))
      return archive_bad(core, archive, "cells are not in order");
  for (int64_t s = 0; s < strips; s++) kept->record[s] = RECORD_UNKNOWN;
  grid->strips = (int32_t)strips;
  return grid_link(core, grid);
}

static Status flip_check(Core *core, const Archive *archive, const State *state, const void *data) {
  const Flip *flip = data;
  const FlipKept *kept = &flip->kept[flip->now];
  const FlipGrid *grid = &flip->grid[flip->now];
  int64_t cells = (int64_t)grid->strips * STRIP;
  bool finite = isfinite(flip->speed);
  if (cells > 0) {
    finite = finite && floats_finite(kept->pressure, cells) && floats_finite(kept->correction_potential, cells);
    for (int k = 0; k < STRESSES; k++) finite = finite && floats_finite(kept->stress[k], cells);
  }
  if (!finite) return archive_refuse(core, archive, "a stress is not finite");
  return shapes_check(core, archive, state, &flip->shapes);
}

static void flip_destroy(Core *core, void *data) {
  Flip *flip = data;
  if (!flip) return;
  for (int k = 0; k < 2; k++) {
    grid_destroy(core, &flip->grid[k]);
    memory_drop(core, &flip->kept[k].pressure);
    memory_drop(core, &flip->kept[k].correction_potential);
    for (int s = 0; s < STRESSES; s++) memory_drop(core, &flip->kept[k].stress[s]);
    memory_drop(core, &flip->kept[k].record);
  }
  memory_drop(core, &flip->records.items);
  shapes_destroy(core, &flip->shapes);
  memory_drop(core, &flip->order.start);
  memory_drop(core, &flip);
}

/* Of the cell that a particle is in. */
static Status flip_pressure(Core *core, const State *state, const void *data, float *pressure) {
  const Flip *flip = data;
  (void)core;
  const FlipGrid *grid = &flip->grid[flip->now];
  const Particles *p = &state->particles;
  for (int64_t i = 0; i < p->count; i++) {
    double inverse = 1 / grid->cell;
    float x = (float)((double)p->x[i] * inverse + grid->shift[0]),
          y = (float)((double)p->y[i] * inverse + grid->shift[1]),
          z = (float)((double)p->z[i] * inverse + grid->shift[2]);
    pressure[i] = 0;
    if (!(fmaxf(fmaxf(fabsf(x), fabsf(y)), fabsf(z)) < (float)GRID_LIMIT)) continue;
    int32_t cell = (int32_t)floorf(x);
    int32_t strip = grid_find(grid, strip_key(cell, (int32_t)floorf(y), (int32_t)floorf(z)));
    if (strip > 0) pressure[i] = flip->kept[flip->now].pressure[(int64_t)strip * STRIP + (cell & (STRIP - 1))];
  }
  return SCREE_OK;
}

const Method METHOD_FLIP = {
    .info = {.name = "flip", .summary = "sand as a continuum on particles and a sparse grid", .paper = "narain2010"},
    .particle = PARTICLE_PARCEL,
    .create = flip_create,
    .needs = flip_needs,
    .largest_step = flip_largest_step,
    .prepare = flip_prepare,
    .step = flip_step,
    .archive = flip_archive,
    .check = flip_check,
    .destroy = flip_destroy,
    .pressure = flip_pressure,
};
