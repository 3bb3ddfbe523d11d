/* flip: sand as a continuum after Narain 2010. Numbers in brackets are the lines of its Fig. 8.
 *
 * Departures. Weights near solids are shared among the nodes that are not inside them, and densities are those of the
 * free volume (the paper's are of the whole cell, and its Eq. 27 takes the share out again). Walls stand anywhere, cut
 * cells and faces by their shares, and closed faces stop sand at once. The yield surface is the cone unless `box` (as
 * printed) or `planes` is asked for; friction is solved for all components at once and minimises the kinetic energy
 * itself, without the paper's weight. Faces with little sand bear no stress, and sand at the surface rides on those
 * that do (surface.c). Shapes advance by (1 + dt J) A (1 + dt J)^T, which is Eq. 28 to first order and stays positive.
 * Sand under pressure takes on a small share of the grid's velocity (`settle`): what FLIP leaves between the nodes
 * would otherwise never come to rest. Loose sand may go farther than half a cell in a step. See docs/methods/flip.md.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/solids/solids.h"
#include "methods/flip/transfer/transfer.h"
#include "methods/flip/flip.h"
#include "methods/flip/transfer/shapes.h"
#include "methods/flip/stress/stress.h"

/* A step of half a cell is two radii; sand at rest is solved this often at least. */
#define FLIP_TIME_STEP (1.0 / 60)
/* Solids may go half a cell in a step, in radii. */
#define SOLID_WAY 2
/* Cells of cached distances to meshes, and how far strips ask (solids.c), in radii. */
#define DISTANCE_CELL 1.5
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
  if (scree_is_auto(definition->cell)) definition->cell = 4 * definition->radius;
  if (definition->cell < 2 * definition->radius)
    return fail(core, SCREE_BAD_INPUT, "cell %g m is smaller than two radii (%g m): a cell holds at least one particle",
                definition->cell, 2 * definition->radius);
  flip->settings = (FlipSettings){.cell = definition->cell,
                                  .iterations = (int)definition->staggered,
                                  .staggered_tolerance = definition->staggered_tolerance,
                                  .scheme = definition->yield_surface,
                                  .pulling = definition->pulling,
                                  .shapes = definition->shapes,
                                  .tolerance = definition->tolerance,
                                  .solver_steps = (int)definition->solver_steps,
                                  .friction_steps = (int)definition->friction_steps,
                                  .way = definition->cfl * definition->radius / definition->cell,
                                  .settle = definition->settle};
  flip->settings.loose_way = fmax(definition->cfl, definition->loose_cfl) * definition->radius / definition->cell;
  flip->speed = -1;
  for (int k = 0; k < 2; k++) {
    flip->grid[k].cell = definition->cell;
    grid_align(&flip->grid[k], state->origin, lowest_container(state));
  }
  if (flip->settings.shapes) TRY(shapes_create(core, state, &flip->shapes));
  state->solid_way = SOLID_WAY;
  state->distance_cell = DISTANCE_CELL;
  state->distance_band = DISTANCE_BAND * fmax(1, definition->cell / (4 * definition->radius));
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    Vec3 size = vec3_sub(solid->shape.bounds_high, solid->shape.bounds_low);
    double least = fmin(size.x, fmin(size.y, size.z));
    if (!solid->shape.inside && solid->shape.kind != SCREE_SHAPE_PLANE && least < definition->cell)
      log_line(core, SCREE_LOG_WARNING, "'%s' is %g m thin and a grid cell is %g m: the sand will hardly see it",
               solid->name, least, definition->cell);
  }
  return SCREE_OK;
}

static MethodReach flip_reach(const void *data) {
  const Flip *flip = data;
  return (MethodReach){.cell = (float)flip->settings.cell}; /* particles that are near in the grid are so in memory */
}

/* What gravity moves in a step is not borne: it may go farther than pressed sand (way_of_cell). In the pressed sand's
 * measure it is as much less. */
static double fall_of(const FlipSettings *settings, const State *state) {
  return vec3_length(state->gravity) / fmin(UNPRESSED_WAY, settings->loose_way / settings->way);
}

/* Section 4: no particle moves more than half a cell. They move as the grid does, and where a cell holds less, sand may
 * go farther (way_of_cell). Solves (v + g dt) dt <= way for dt. */
static double flip_largest_step(const void *data, const State *state) {
  const Flip *flip = data;
  double v = flip->speed < 0 ? particles_fastest(&state->particles) : flip->speed;
  double way = flip->settings.way * flip->settings.cell, g = fall_of(&flip->settings, state);
  return g > 0 ? 2 * way / (v + sqrt(v * v + 4 * g * way)) : v > 0 ? way / v : INFINITY;
}

/* How far a solid may go off its way in a step by what sand does to it, in cells. When a ball comes to a stop the
 * stress before it changes from that of its way down; in longer steps neither the solve nor what it begins with
 * (predict.c) follows that. */
#define SWERVE 0.1

/* The largest acceleration of the faces of bodies that sand is at. */
static double swerving_of(const FlipWork *work) {
  double largest = 0;
  for (int32_t b = 0; b < work->body_count; b++) {
    const Solid *solid = &work->state->solids.items[work->bodies[b].solid];
    double load[6], motion[6];
    for (int i = 0; i < 6; i++) load[i] = wrench_get(solid, i);
    solid_answer(solid, load, motion);
    for (int a = 0; a < 3 && solid->motion == MOTION_FREE; a++) motion[a] += vec3_get(work->state->gravity, a);
    for (int64_t k = 0; k < work->face_count; k++)
      if (work->faces[k].body == b) largest = fmax(largest, fabs(coupled_speed(&work->faces[k], motion)));
  }
  return largest;
}

/* The speed of sand that would ask for the step that bodies ask for. */
static double speed_for_bodies(const FlipWork *work) {
  double swerving = swerving_of(work), cell = work->grid->cell;
  if (!(swerving > 0)) return 0;
  double dt = sqrt(SWERVE * cell / swerving);
  return work->settings->way * cell / dt - fall_of(work->settings, work->state) * dt;
}

/* ---- memory of a step ---- */

static Status kept_reserve(Core *core, FlipKept *kept, int64_t strips) {
  TRY(memory_grow(core, &kept->pressure, strips * STRIP, "flip stresses"));
  TRY(memory_grow(core, &kept->shift, strips * STRIP, "flip stresses"));
  for (int k = 0; k < STRESSES; k++) TRY(memory_grow(core, &kept->stress[k], strips * STRIP, "flip stresses"));
  return memory_grow(core, &kept->record, strips, "flip distances");
}

static Status take_fields(FlipWork *work) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  FlipFields *f = &work->fields;
  int64_t cells = work_cells(work), strips = work->grid->strips, count = work->order->count + LANES;
  float **scalars[] = {&f->free, &f->room[0], &f->room[1],  &f->room[2],  &f->room[3],
                       &f->fill, &f->usable,  &f->strength, &f->cohesion, &f->borne};
  float **vectors[] = {f->open,   f->wall_v, f->mass,   f->velocity, f->lightness, f->flux, f->gain,
                       f->change, f->stop,   f->settle, f->moved,    f->speed,     f->ease};
  for (size_t k = 0; k < sizeof scalars / sizeof *scalars; k++) {
    TRY(scratch_take(core, scratch, scalars[k], cells, "grid"));
    memset(*scalars[k], 0, sizeof(float) * STRIP);
  }
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    for (int a = 0; a < 3; a++) {
      if (a == 0) TRY(scratch_take(core, scratch, &vectors[k][0], 3 * cells, "grid"));
      vectors[k][a] = vectors[k][0] + a * cells;
      memset(vectors[k][a], 0, sizeof(float) * STRIP);
    }
  for (int a = 0; a < 3; a++) {
    TRY(scratch_take(core, scratch, &f->owner[a], cells, "grid"));
    memset(f->owner[a], 0xff, sizeof(int16_t) * STRIP);
  }
  for (int g = 0; g < 4; g++) {
    TRY(scratch_take(core, scratch, &f->valid[g], strips, "grid"));
    f->valid[g][0] = 0;
  }
  for (int a = 0; a < 3; a++) {
    TRY(scratch_take(core, scratch, &f->strong[a], strips, "grid"));
    f->strong[a][0] = 0;
  }
  TRY(scratch_take(core, scratch, &f->riders, strips, "grid"));
  TRY(scratch_take(core, scratch, &f->near, strips, "grid"));
  TRY(scratch_take(core, scratch, &f->normed, strips, "grid"));
  f->near[0] = f->normed[0] = 0;
  SortedParcels *s = &work->sorted;
  float **sorted[] = {&s->norm[0], &s->norm[1], &s->norm[2], &s->norm[3], &s->volume, &s->strength, &s->cohesion};
  for (size_t k = 0; k < sizeof sorted / sizeof *sorted - (work->mixed ? 0 : 3); k++) {
    TRY(scratch_take(core, scratch, sorted[k], count, "sorted particles"));
    memset(*sorted[k] + count - LANES, 0, sizeof(float) * LANES);
  }
  TRY(scratch_take(core, scratch, &s->rides, count, "sorted particles"));
  return grid_rows(core, scratch, work->grid, &work->rows);
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
  TRY(flip_carry(work, before, kept_before));
  TRY(take_fields(work));
  profile_end(step->profile, "grid", began);

  began = profile_begin();
  TRY(flip_solids_find(work));
  profile_end(step->profile, "solids", began);

  began = profile_begin();
  flip_sort_materials(work);
  TRY(flip_to_grid(work)); /* [1] */
  profile_end(step->profile, "to_grid", began);

  began = profile_begin();
  flip_set_tolerance(work);
  TRY(flip_correct_density(work)); /* [2] */
  profile_end(step->profile, "density", began);

  TRY(flip_solve_stresses(work)); /* [3] to [5] */

  began = profile_begin();
  TRY(flip_from_grid(work)); /* [6] */
  profile_end(step->profile, "from_grid", began);
  work->speed = fmax(work->speed, speed_for_bodies(work));

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
  work.rest_specific = (float)(1 / state->materials.items[0].definition.density);
  int mark = scratch_mark(step->scratch);
  Status status = advance(flip, &work);
  scratch_release(step->core, step->scratch, mark);
  flip->speed = work.speed;
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
  TRY(archive_array(core, archive, kept->shift, strips * STRIP));
  for (int k = 0; k < STRESSES; k++) TRY(archive_array(core, archive, kept->stress[k], strips * STRIP));
  if (!archive->loading) return SCREE_OK;
  if (strips >= INT32_MAX / STRIP) return archive_bad(core, archive, "too many cells");
  for (int64_t s = 2; s < strips; s++)
    if (grid->key[s] <= grid->key[s - 1]) return archive_bad(core, archive, "cells are not in order");
  for (int64_t s = 0; s < strips; s++) kept->record[s] = RECORD_UNKNOWN;
  grid->strips = (int32_t)strips;
  return grid_link(core, grid);
}

static void flip_destroy(Core *core, void *data) {
  Flip *flip = data;
  if (!flip) return;
  for (int k = 0; k < 2; k++) {
    grid_destroy(core, &flip->grid[k]);
    memory_drop(core, &flip->kept[k].pressure);
    memory_drop(core, &flip->kept[k].shift);
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
    .seeding = SEED_PARCELS,
    .parcel_jitter = 0.5f,
    .cfl = 2,
    .own_cfl = true,
    .create = flip_create,
    .reach = flip_reach,
    .largest_step = flip_largest_step,
    .prepare = flip_prepare,
    .step = flip_step,
    .archive = flip_archive,
    .destroy = flip_destroy,
    .pressure = flip_pressure,
};
