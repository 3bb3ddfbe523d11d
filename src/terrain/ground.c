/* Making the terrain, and its step. */
#include <stdio.h>
#include <string.h>

#include "core/portable.h"
#include "terrain/parts.h"

enum { PASSES_PER_STEP = 8, COLUMNS_MAX = 1 << 28, BYTES_PER_COLUMN = 96 };

#define EXCHANGE_INTERVAL (1.0 / 60) /* s */
/* Columns are pressed and given back whenever a body has gone this share of a cell or of a radius, the smaller. */
#define TRAVEL_SHARE 0.1
/* Spheres of one size pack no denser. */
#define DENSEST_FRACTION 0.74

static Status refuse(Core *core, const TerrainPlan *plan, const char *what) {
  return fail_at(core, SCREE_BAD_INPUT, plan->scene->file, plan->scene->terrain->source, "terrain: %s", what);
}

static Status count_columns(Core *core, const TerrainPlan *plan, int32_t *nx, int32_t *ny) {
  const ScreeTerrainDef *def = plan->scene->terrain;
  if (!(def->cell > 0) || !(def->size.x > 0) || !(def->size.y > 0) ||
      !isfinite(def->size.x + def->size.y + def->base) || !isfinite(def->origin.x + def->origin.y))
    return refuse(core, plan, "size and cell must be positive, origin and base finite");
  double x = fmax(1, round(def->size.x / def->cell)), y = fmax(1, round(def->size.y / def->cell));
  if (!(x * y <= COLUMNS_MAX) || x * y * BYTES_PER_COLUMN > (double)memory_left(&core->memory)) {
    char words[160];
    snprintf(words, sizeof words, "%.3g columns would need %.3g GB, more than there is: a larger cell", x * y,
             x * y * BYTES_PER_COLUMN / 1e9);
    return refuse(core, plan, words);
  }
  *nx = (int32_t)x;
  *ny = (int32_t)y;
  if (fabs(x * def->cell - def->size.x) > 1e-6 * def->cell || fabs(y * def->cell - def->size.y) > 1e-6 * def->cell)
    log_warning_at(core, plan->scene->file, def->source,
                   "terrain: size is not a whole number of cells: %g x %g m is used", x * def->cell, y * def->cell);
  return SCREE_OK;
}

static Status read_heights(Core *core, const TerrainPlan *plan, Heightfield *field) {
  const ScreeTerrainDef *def = plan->scene->terrain;
  int64_t count = (int64_t)field->nx * field->ny;
  if (plan->png)
    TRY(picture_heights(core, plan->png, plan->scene->file, def->source, field->nx, field->ny, def->height_range,
                        field->heights));
  for (int64_t k = 0; k < count; k++) {
    double x = def->origin.x + ((double)(k % field->nx) + 0.5) * def->cell;
    double y = def->origin.y + ((double)(k / field->nx) + 0.5) * def->cell;
    if (def->height_at) field->heights[k] = def->height_at(def->height_context, x, y);
    else if (!plan->png) field->heights[k] = def->height;
    if (!(field->heights[k] >= 0) || !(field->heights[k] <= 1e6))
      return refuse(core, plan, "heights must be between 0 and 1e6 m");
  }
  return SCREE_OK;
}

/* The unit of mass: so small that a grain is a whole number of them, so large that all the ground can be counted. */
static Status choose_unit(Core *core, const TerrainPlan *plan, double grain, double total, double *unit) {
  int grain_exponent, total_exponent;
  frexp(grain, &grain_exponent);
  frexp(fmax(16 * total, grain), &total_exponent);
  int exponent = grain_exponent - 24 - 20;
  if (total_exponent - 62 > exponent) exponent = total_exponent - 62;
  if (exponent > grain_exponent - 24 - 4)
    return refuse(core, plan, "the ground has more than 4e9 times the mass of a grain: larger grains, or less ground");
  *unit = ldexp(1, exponent);
  return SCREE_OK;
}

static Status create_columns(Core *core, State *state, const TerrainPlan *plan, const Heightfield *field) {
  const ScreeTerrainDef *def = plan->scene->terrain;
  const ScreeMaterialDef *stuff = &state->materials.items[materials_find(&state->materials, def->material)].definition;
  Terrain *t = state->terrain;
  *t = (Terrain){.nx = field->nx,
                 .ny = field->ny,
                 .count = (int64_t)field->nx * field->ny,
                 .cell = def->cell,
                 .area = def->cell * def->cell,
                 .origin = {def->origin.x, def->origin.y, def->base},
                 .material = materials_find(&state->materials, def->material),
                 .loose = stuff->density,
                 .tiles_x = (field->nx + TERRAIN_TILE - 1) / TERRAIN_TILE,
                 .tiles_y = (field->ny + TERRAIN_TILE - 1) / TERRAIN_TILE};
  double volume = 0, r = state->radius;
  for (int64_t k = 0; k < t->count; k++) volume += t->area * field->heights[k];
  TRY(choose_unit(core, plan, 4.0 / 3 * M_PI * r * r * r * stuff->grain_density, volume * t->loose, &t->unit));
#define TERRAIN_NEW(type, name) TRY(memory_new(core, &t->name, t->count, "terrain"));
  TERRAIN_COLUMNS(TERRAIN_NEW)
#undef TERRAIN_NEW
  TRY(memory_new(core, &t->awake, (int64_t)t->tiles_x * t->tiles_y, "terrain"));
  for (int64_t k = 0; k < t->count; k++) {
    t->mass[k] = terrain_units_of(t, field->heights[k] * t->area * t->loose);
    t->bulk[k] = t->loose;
    ground_wake(t, k); /* a start may be steeper than it can stay */
  }
  return SCREE_OK;
}

static Status add_solid(Core *core, State *state, const TerrainPlan *plan, Heightfield *field) {
  const Material *stuff = &state->materials.items[state->terrain->material];
  if (solids_find(&state->solids, "terrain") >= 0)
    return refuse(core, plan, "no boundary or body may be called 'terrain'");
  Solid *solid = NULL;
  TRY(solids_add(core, &state->solids, &solid));
  snprintf(solid->name, sizeof solid->name, "terrain");
  solid->is_boundary = true;
  solid->motion = MOTION_FIXED;
  solid->contact = SCREE_CONTACT_DISTANCE;
  solid->friction_static = stuff->wall_static;
  solid->friction_kinetic = stuff->wall_kinetic;
  solid->source = plan->scene->terrain->source;
  solid->position = state->terrain->origin;
  shape_take_heights(&solid->shape, field);
  solid_refresh(solid);
  state->terrain->solid = state->solids.count - 1;
  return SCREE_OK;
}

/* Angles at which slopes slide, and what resists bodies. */
static void take_material(Ground *ground, const Material *stuff) {
  double angle = stuff->definition.friction_angle_deg;
  double begin = scree_is_auto(ground->theta_out_deg) ? angle : ground->theta_out_deg;
  double end = scree_is_auto(ground->theta_stop_deg) ? angle : ground->theta_stop_deg;
  double a = portable_tan(begin * M_PI / 180), b = portable_tan(end * M_PI / 180);
  ground->tan_high = fmax(a, b);
  ground->tan_low = fmin(a, b);
  ground->tan_bed = fmin(ground->tan_low, stuff->wall_static);
  ground_law_create(&stuff->definition, &ground->law);
}

void ground_follow_material(Ground *ground, State *state) {
  const Terrain *t = state->terrain;
  const Material *stuff = &state->materials.items[t->material];
  Solid *solid = &state->solids.items[t->solid];
  solid->friction_static = stuff->wall_static;
  solid->friction_kinetic = stuff->wall_kinetic;
  take_material(ground, stuff);
}

static Status create_work(Core *core, State *state, const TerrainPlan *plan, Ground *ground) {
  const ScreeTerrainDef *def = plan->scene->terrain;
  const Terrain *t = state->terrain;
  const ScreeMaterialDef *stuff = &state->materials.items[t->material].definition;
  ground->theta_out_deg = def->theta_out_deg;
  ground->theta_stop_deg = def->theta_stop_deg;
  take_material(ground, &state->materials.items[t->material]);
  ground->fraction = def->erosion_fraction;
  ground->compaction = def->compaction;
  ground->densest = fmax(DENSEST_FRACTION * stuff->grain_density, stuff->density);
  ground->exchange = plan->exchange && def->exchange;
  int64_t tiles = (int64_t)t->tiles_x * t->tiles_y;
  TRY(memory_new(core, &ground->moves, t->count, "terrain"));
  TRY(memory_new(core, &ground->mask, t->count, "terrain"));
  TRY(memory_new(core, &ground->target, t->count, "terrain"));
  TRY(memory_new(core, &ground->list, t->count, "terrain"));
  TRY(memory_new(core, &ground->level, t->count, "terrain"));
  TRY(memory_new(core, &ground->changed, tiles, "terrain"));
  TRY(memory_new(core, &ground->may_slide, tiles, "terrain"));
  TRY(memory_new(core, &ground->tiles, tiles, "terrain"));
  if (!ground->exchange) return SCREE_OK;
  TRY(packing_create(core, &ground->packing, plan->radii, stuff->density, stuff->grain_density, state->seed));
  return particles_add_floats(core, &state->particles, "rest", 1, false, (void **)&state->terrain->rest);
}

static Status create(Core *core, State *state, const TerrainPlan *plan, Ground *ground) {
  int32_t nx = 0, ny = 0;
  TRY(count_columns(core, plan, &nx, &ny));
  Heightfield *field = NULL;
  TRY(heightfield_create(core, nx, ny, plan->scene->terrain->cell, &field));
  Status status = read_heights(core, plan, field);
  if (status == SCREE_OK) status = memory_new(core, &state->terrain, 1, "terrain");
  if (status == SCREE_OK) status = create_columns(core, state, plan, field);
  if (status == SCREE_OK) {
    heightfield_bound(field);
    status = add_solid(core, state, plan, field);
  }
  if (status != SCREE_OK) {
    heightfield_destroy(core, field);
    return status;
  }
  for (int64_t k = 0; k < state->terrain->count; k++) ground_show(state, k);
  TRY(create_work(core, state, plan, ground));
  return ground_follow_solids(core, ground, state);
}

Status ground_create(Core *core, State *state, const TerrainPlan *plan, Ground **ground) {
  TRY(memory_new(core, ground, 1, "terrain"));
  Status status = create(core, state, plan, *ground);
  if (status != SCREE_OK) {
    ground_destroy(core, *ground);
    *ground = NULL;
  }
  return status;
}

void ground_destroy(Core *core, Ground *ground) {
  if (!ground) return;
  for (int32_t k = 0; k < ground->surface_count; k++) memory_drop(core, &ground->surfaces[k].elements);
  memory_drop(core, &ground->surfaces);
  memory_drop(core, &ground->moves);
  memory_drop(core, &ground->mask);
  memory_drop(core, &ground->target);
  memory_drop(core, &ground->list);
  memory_drop(core, &ground->level);
  memory_drop(core, &ground->changed);
  memory_drop(core, &ground->may_slide);
  memory_drop(core, &ground->tiles);
  memory_drop(core, &ground->touches);
  memory_drop(core, &ground->touched);
  memory_drop(core, &ground->motions);
  memory_drop(core, &ground);
}

bool ground_exchanges(const Ground *ground) { return ground->exchange; }

/* Farthest that a body near the ground goes in the step. */
static double bodies_travel(const Ground *ground, const State *state, double dt) {
  double farthest = 0, reach = ground_field(state)->highest + 16 * state->radius;
  for (int32_t s = 0; s < ground->surface_count; s++) {
    Vec3 low, high;
    if (!ground_feels(ground, state, s)) continue;
    ground_body_box(state, &state->solids.items[s], &low, &high);
    if (low.z <= reach) farthest = fmax(farthest, ground_surface_speed(&state->solids.items[s]) * dt);
  }
  return farthest;
}

Status ground_step(Core *core, Ground *ground, State *state, Scratch *scratch, double dt, double *raised) {
  Terrain *t = state->terrain;
  int64_t exhumed = t->exhumed; /* once a step: grains to be born are not yet in the way of others */
  *raised = 0;
  t->travel += bodies_travel(ground, state, dt);
  if (t->travel > TRAVEL_SHARE * fmin(t->cell, state->radius)) {
    t->travel = 0;
    if (ground->exchange) TRY(ground_exhume(core, ground, state, scratch, DISTURBED_BY_BODIES));
    TRY(ground_press(core, ground, state, scratch));
  }
  TRY(ground_resist(core, ground, state, dt));
  if (ground->exchange && t->exhumed == exhumed && memchr(t->awake, 1, (size_t)t->tiles_x * (size_t)t->tiles_y))
    TRY(ground_exhume(core, ground, state, scratch, DISTURBED_BY_SLOPES));
  ground_erode(core, ground, state, PASSES_PER_STEP);
  if (ground->exchange && state->time >= t->next_exchange - 1e-9) {
    t->next_exchange = state->time + EXCHANGE_INTERVAL;
    if (t->exhumed == exhumed) TRY(ground_exhume(core, ground, state, scratch, DISTURBED_BY_HITS));
    TRY(ground_bury(core, ground, state, scratch, EXCHANGE_INTERVAL));
  }
  if (!ground->exchange) return SCREE_OK;
  ground_settle(core, state, dt);
  *raised = ground_show_pending(ground, state, dt);
  return SCREE_OK;
}
