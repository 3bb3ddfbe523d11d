/* Making a world from a definition, and taking it apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/paths.h"
#include "core/simd.h"
#include "parameters/table.h"
#include "sampling/radii.h"
#include "world/world.h"

/* The origin is put at the middle of the grains, on a coarse lattice: most scenes keep (0, 0, 0), and one a kilometre
 * away has the same precision. */
#define ORIGIN_LATTICE 16.0

ScreeWorldOptions scree_world_options_default(void) { return (ScreeWorldOptions){.log_level = SCREE_LOG_WARNING}; }

static Status remember_file(ScreeWorld *world, Core *core, const char *name, const char *path) {
  for (int32_t k = 0; k < world->file_count; k++)
    if (strcmp(world->files[k].name, name) == 0) return SCREE_OK;
  TRY(memory_grow(core, &world->files, world->file_count + 1, "files"));
  WorldFile *file = &world->files[world->file_count++];
  snprintf(file->name, sizeof file->name, "%s", name);
  snprintf(file->path, sizeof file->path, "%s", path);
  return SCREE_OK;
}

Status world_resolve_file(void *context, Core *core, const char *file, ScreeSource at, char *path, size_t size) {
  ScreeWorld *world = context;
  PathsOrigin origin = {world->definition.scene.file, at};
  TRY(paths_resolve(core, world->definition.scene.folder, world->assets, file, origin, path, size));
  return remember_file(world, core, file, path);
}

int32_t scree_world_file_count(const ScreeWorld *world) { return world ? world->file_count : 0; }

void scree_world_file(const ScreeWorld *world, int32_t file, const char **name, const char **path) {
  bool known = world && file >= 0 && file < world->file_count;
  *name = known ? world->files[file].name : "";
  *path = known ? world->files[file].path : "";
}

Status world_make_shape(ScreeWorld *world, const ScreeShapeDef *definition, bool inside, Shape *shape) {
  char path[SCREE_FILE_MAX] = "";
  if (definition->kind == SCREE_SHAPE_MESH && definition->mesh.file)
    TRY(world_resolve_file(world, &world->core, definition->mesh.file, definition->source, path, sizeof path));
  return shape_create(&world->core, definition, inside, path, world->definition.scene.file, shape);
}

/* Scene files are checked as they are read; definitions that a program fills in are checked here, by the same table. A
 * time step of 0 would never end. */
static Status check_method(ScreeWorld *world) {
  const ScreeMethodDef *method = &world->definition.scene.method;
  const ScreeParameter *row;
  for (int k = 0; (row = section_row(SECTION_method, k)); k++) {
    row = parameter_of_reader(row, method->name);
    const void *member = parameter_value(method, row);
    double value = NAN;
    if (row->kind == SCREE_KIND_REAL) value = *(const double *)member;
    else if (row->kind == SCREE_KIND_INT) value = (double)*(const int64_t *)member;
    if (!scree_is_auto(value) && parameter_range(row, value) == RANGE_ILLEGAL)
      return world_fail_at(world, SCREE_BAD_INPUT, method->source, "method.%s must lie between %g and %g", row->name,
                           row->low, row->high);
  }
  return SCREE_OK;
}

static Status check_basics(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  world->method = world_find_method(scene->method.name);
  if (!world->method)
    return world_fail_at(world, SCREE_BAD_INPUT, scene->method.source, "no method is called '%s'",
                         scene->method.name ? scene->method.name : "");
  TRY(check_method(world));
  if (scene->grains_count == 0 && scene->emitter_count == 0 && !scene->terrain)
    return fail_at(&world->core, SCREE_BAD_INPUT, scene->file, (ScreeSource){0, 0},
                   "a scene needs a source of grains: grains, emitters or terrain");
  if (!(scene->frame_rate > 0) || !(scene->method.radius > 0) || !vec3_finite(scene->gravity))
    return fail_at(&world->core, SCREE_BAD_INPUT, scene->file, (ScreeSource){0, 0},
                   "frame_rate and method.radius must be positive, gravity finite");
  if (scene->material_count > MATERIALS_MAX)
    return fail(&world->core, SCREE_BAD_INPUT, "%d materials: at most %d are possible", scene->material_count,
                MATERIALS_MAX);
  return SCREE_OK;
}

static Status need_material(ScreeWorld *world, const char *name, ScreeSource at) {
  if (name && materials_find(&world->state.materials, name) >= 0) return SCREE_OK;
  return world_fail_at(world, SCREE_BAD_INPUT, at, "no material is called '%s'", name ? name : "");
}

static Status create_materials(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  Materials *materials = &world->state.materials;
  materials->count = scene->material_count;
  for (int32_t k = 0; k < scene->material_count; k++) {
    ScreeMaterialDef *def = &world->definition.materials[k];
    if (!(def->density > 0)) return world_fail_at(world, SCREE_BAD_INPUT, def->source, "density must be positive");
    TRY(world_resolve_material(world, def, &materials->items[k]));
  }
  for (int32_t k = 0; k < scene->grains_count; k++)
    TRY(need_material(world, scene->grains[k].material, scene->grains[k].source));
  for (int32_t k = 0; k < scene->emitter_count; k++)
    TRY(need_material(world, scene->emitters[k].material, scene->emitters[k].source));
  if (scene->terrain) TRY(need_material(world, scene->terrain->material, scene->terrain->source));
  return SCREE_OK;
}

/* The shapes of the fills: the origin depends on them, and grains are put into them. A mesh is loaded once for both. */
static Status make_fills(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  TRY(memory_new(&world->core, &world->fills, scene->grains_count, "fills"));
  for (int32_t k = 0; k < scene->grains_count; k++) {
    progress_part(&world->core, "loading fills", k, scene->grains_count);
    TRY(world_make_shape(world, &scene->grains[k].fill, false, &world->fills[k]));
  }
  return SCREE_OK;
}

static void drop_fills(ScreeWorld *world) {
  for (int32_t k = 0; world->fills && k < world->definition.scene.grains_count; k++)
    shape_destroy(&world->core, &world->fills[k]);
  memory_drop(&world->core, &world->fills);
}

/* Middle of the places where grains start. */
static void choose_origin(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  Vec3 low = vec3(INFINITY, INFINITY, INFINITY), high = vec3(-INFINITY, -INFINITY, -INFINITY);
  for (int32_t k = 0; k < scene->grains_count; k++) {
    const ScreeShapeDef *fill = &scene->grains[k].fill;
    const Shape *shape = &world->fills[k];
    for (int corner = 0; corner < 8; corner++) {
      Vec3 at = vec3(corner & 1 ? shape->bounds_high.x : shape->bounds_low.x,
                     corner & 2 ? shape->bounds_high.y : shape->bounds_low.y,
                     corner & 4 ? shape->bounds_high.z : shape->bounds_low.z);
      at = vec3_add(quat_rotate(fill->rotation, at), fill->position);
      low = vec3_min(low, at);
      high = vec3_max(high, at);
    }
  }
  for (int32_t k = 0; k < scene->emitter_count; k++) {
    low = vec3_min(low, scene->emitters[k].shape.disc.center);
    high = vec3_max(high, scene->emitters[k].shape.disc.center);
  }
  if (scene->terrain) {
    const ScreeTerrainDef *terrain = scene->terrain;
    low = vec3_min(low, vec3(terrain->origin.x, terrain->origin.y, terrain->base));
    high =
        vec3_max(high, vec3(terrain->origin.x + terrain->size.x, terrain->origin.y + terrain->size.y, terrain->base));
  }
  Vec3 middle = vec3_scale(vec3_add(low, high), 0.5 / ORIGIN_LATTICE);
  if (vec3_finite(middle))
    world->state.origin = vec3_scale(vec3(round(middle.x), round(middle.y), round(middle.z)), ORIGIN_LATTICE);
}

double world_solid_reach(const ScreeWorld *world, const MethodNeeds *needs) {
  const Materials *materials = &world->state.materials;
  double largest = world->state.radius;
  for (int32_t k = 0; k < materials->count && !world->state.parcels; k++) {
    const ScreeMaterialDef *material = &materials->items[k].definition;
    largest = fmax(largest, radii_largest(world->state.radius, material->radius_spread, material->radius_distribution));
  }
  return (double)needs->solids * largest + (double)needs->skin * world->state.radius;
}

/* Wheels of a cascade, stones of a wall: the same mesh many times. The solids from `first` on have had the same plan.
 */
static Status copy_distance(ScreeWorld *world, int32_t first, int32_t k) {
  const Solid *items = world->state.solids.items;
  bool copied = false;
  for (int32_t j = first; j < k && !copied; j++)
    TRY(shape_copy_distance(&world->core, &items[j].shape, &world->state.solids.items[k].shape, &copied));
  return SCREE_OK;
}

/* Grains need their distance to a mesh many times a step: a grid has it for those near it, and where its cells suffice
 * for fine grains, for those too. */
Status world_cache_distances(ScreeWorld *world, int32_t first) {
  Solids *solids = &world->state.solids;
  double radius = world->state.radius;
  MethodNeeds needs = world_needs(world);
  double band = needs.distance_band;
  if (needs.neighbors != NEIGHBORS_NONE) band = fmax(band, (double)(needs.solids + 2 * needs.skin));
  const ScreeUpsampleDef *upsample = world->definition.scene.upsample;
  double fine = upsample ? upsample_distance_band(&world->state) : 0;
  for (int32_t k = first; k < solids->count; k++) {
    Shape *shape = &solids->items[k].shape;
    progress_part(&world->core, "making distance grids", k - first, solids->count - first);
    TRY(shape_find_faces(&world->core, shape));
    if (shape->kind == SCREE_SHAPE_MESH) TRY(copy_distance(world, first, k));
    TRY(shape_cache_distance(&world->core, shape, needs.distance_cell * radius, band * radius, fine));
    TRY(shape_cache_faces(&world->core, shape, world_solid_reach(world, &needs)));
  }
  return SCREE_OK;
}

static Status create_sinks(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  for (int32_t k = 0; k < scene->sink_count; k++) {
    Solid *sink = NULL;
    TRY(solids_add(&world->core, &world->sinks, &sink));
    TRY(world_make_shape(world, &scene->sinks[k].shape, false, &sink->shape));
    sink->position = scene->sinks[k].shape.position;
    sink->rotation = scene->sinks[k].shape.rotation;
  }
  return SCREE_OK;
}

/* Methods, shapes and fine grains know no files: what they refuse stands where the scene describes it. */
static Status place_error(ScreeWorld *world, Status status, ScreeSource source) {
  ScreeError *error = &world->core.error;
  const char *file = world->definition.scene.file;
  if (status != SCREE_BAD_INPUT || !file || error->file[0]) return status;
  snprintf(error->file, sizeof error->file, "%s", file);
  error->line = source.line;
  error->column = source.column;
  return status;
}

static Status create_method(ScreeWorld *world) {
  ScreeSceneDef *scene = &world->definition.scene;
  Status status = world->method->create(&world->core, &world->state, &scene->method, &world->method_data);
  TRY(place_error(world, status, scene->method.source));
  if (scree_is_auto(scene->method.cfl)) scene->method.cfl = METHOD_CFL;
  MethodNeeds needs = world_needs(world);
  bodies_couple(world->bodies, needs.coupling, needs.solid_displacement);
  bodies_weigh_least(&world->core, world->bodies, &world->state, needs.least_body);
  return SCREE_OK;
}

/* What the definition says, checked: materials, gravity, the method's name. */
static Status create_definition(ScreeWorld *world, const ScreeSceneDef *definition, const ScreeWorldOptions *options) {
  Core *core = &world->core;
  State *state = &world->state;
  TRY(core_create(core, options));
  scratch_create(&world->scratch);
  if (options && options->assets) snprintf(world->assets, sizeof world->assets, "%s", options->assets);
  else paths_data("assets", world->assets, sizeof world->assets);
  TRY(definition_copy(core, definition, &world->definition));
  const ScreeSceneDef *scene = &world->definition.scene;
  TRY(check_basics(world));
  state->gravity = scene->gravity;
  state->wind = scene->wind;
  state->seed = (uint64_t)scene->seed;
  state->radius = scene->method.radius;
  state->parcels = world->method->particle == PARTICLE_PARCEL;
  state_count(state, "cfl_limited_steps", 0);
  return create_materials(world);
}

static Status create_bodies(ScreeWorld *world) {
  BodiesPlan plan = {.scene = &world->definition.scene, .resolve = world_resolve_file, .resolve_context = world};
  TRY(particles_create(&world->core, &world->state.particles));
  progress_part(&world->core, "loading solids", 0, 1);
  return bodies_create(&world->core, &world->state, &plan, &world->bodies);
}

/* Everything but the grains: definition, materials, solids, method, probes. */
static Status create_parts(ScreeWorld *world, const ScreeSceneDef *definition, const ScreeWorldOptions *options) {
  Core *core = &world->core;
  TRY(create_definition(world, definition, options));
  TRY(world_open_device(world, options));
  const ScreeSceneDef *scene = &world->definition.scene;
  TRY(make_fills(world));
  choose_origin(world);
  TRY(cell_grid_create(core, &world->grid));
  TRY(cell_grid_create(core, &world->sample_grid));
  TRY(create_bodies(world));
  TRY(world_terrain_create(world));
  TRY(create_method(world));
  TRY(place_error(world, world_cache_distances(world, 0), (ScreeSource){0, 0}));
  TRY(create_sinks(world));
  TRY(world_take_contents(world));
  TRY(memory_new(core, &world->emitters, scene->emitter_count, "emitters"));
  TRY(memory_new(core, &world->events_done, scene->event_count, "events"));
  return world_probes_create(world);
}

static Status create_upsample(ScreeWorld *world) {
  const ScreeUpsampleDef *fine = world->definition.scene.upsample;
  if (!fine) return SCREE_OK;
  return place_error(world, upsample_create(&world->core, &world->state, fine, &world->upsample), fine->source);
}

static Status create(ScreeWorld *world, const ScreeSceneDef *definition, const ScreeWorldOptions *options) {
  TRY(create_parts(world, definition, options));
  TRY(world_sample_solids(world, 0));
  TRY(create_upsample(world));
  TRY(world_near_create(world));
  if (world->device) TRY(world_use_device(world));
  if (!options || !options->unfilled) TRY(place_error(world, world_fill(world), (ScreeSource){0, 0}));
  drop_fills(world);
  TRY(world_prepare_drawing(world));
  TRY(world_terrain_mesh(world));
  world->tally.max_overlap = world->method->particle == PARTICLE_GRAIN ? 0 : NAN;
  world->neighbors_stale = true;
  world->core.progress = NULL; /* only the start is told of: bodies that are added later are sampled too */
  return world_probes_frame(world, 0);
}

/* No fill is loaded, nothing is sampled, no distance grid is made: it takes as long as reading the solids does. */
static Status create_solids(ScreeWorld *world, const ScreeSceneDef *definition, const ScreeWorldOptions *options) {
  world->solids_only = true;
  TRY(create_definition(world, definition, options));
  TRY(create_bodies(world));
  return world_prepare_drawing(world);
}

static Status check(ScreeWorld *world, const ScreeSceneDef *definition, const ScreeWorldOptions *options) {
  TRY(create_parts(world, definition, options));
  TRY(create_upsample(world));
  return world_check_fills(world);
}

static ScreeWorld *allocate(ScreeError *error) {
  ScreeWorld *world = calloc(1, sizeof *world);
  if (!world && error) *error = (ScreeError){.status = SCREE_NO_MEMORY, .message = "out of memory for a world"};
  return world;
}

ScreeStatus scree_world_check(const ScreeSceneDef *definition, const ScreeWorldOptions *options, ScreeError *error) {
  ScreeWorld *world = allocate(error);
  if (!world) return SCREE_NO_MEMORY;
  Status status = core_report(&world->core, check(world, definition, options), error);
  scree_world_destroy(world);
  return status;
}

typedef Status (*CreateFunction)(ScreeWorld *, const ScreeSceneDef *, const ScreeWorldOptions *);

static ScreeStatus create_with(CreateFunction function, const ScreeSceneDef *definition,
                               const ScreeWorldOptions *options, ScreeWorld **world, ScreeError *error) {
  *world = allocate(error);
  if (!*world) return SCREE_NO_MEMORY;
  Status status = function(*world, definition, options);
  core_report(&(*world)->core, status, error);
  if (status != SCREE_OK) {
    scree_world_destroy(*world);
    *world = NULL;
  }
  return status;
}

ScreeStatus scree_world_create(const ScreeSceneDef *definition, const ScreeWorldOptions *options, ScreeWorld **world,
                               ScreeError *error) {
  return create_with(create, definition, options, world, error);
}

ScreeStatus scree_world_create_solids(const ScreeSceneDef *definition, const ScreeWorldOptions *options,
                                      ScreeWorld **world, ScreeError *error) {
  return create_with(create_solids, definition, options, world, error);
}

Status world_can_load(ScreeWorld *world) {
  if (!world->solids_only) return SCREE_OK;
  return fail(&world->core, SCREE_BAD_ARGUMENT, "this world has solids alone: it can be looked at, not simulated");
}

Status world_needs_grains(ScreeWorld *world) {
  TRY(world_can_load(world));
  if (!world->half_loaded) return SCREE_OK;
  return fail(&world->core, SCREE_BAD_ARGUMENT,
              "this world was to be loaded, which failed half-way: load a good checkpoint, reset it or make it anew");
}

void scree_world_destroy(ScreeWorld *world) {
  if (!world) return;
  Core *core = &world->core;
  state_destroy(core, &world->state); /* first: its fields' pointers lie in the method's data and in the probes */
  if (world->method && world->method->destroy) world->method->destroy(core, world->method_data);
  upsample_destroy(core, world->upsample);
  world_leave_device(world);
  device_close(core, world->device);
  ground_destroy(core, world->ground);
  if (world->bodies) bodies_destroy(core, world->bodies);
  for (int32_t k = 0; k < world->drawn_count; k++) {
    memory_drop(core, &world->drawn_vertices[k]);
    memory_drop(core, &world->drawn_triangles[k]);
  }
  memory_drop(core, &world->drawn_vertices);
  memory_drop(core, &world->drawn_triangles);
  memory_drop(core, &world->near_many);
  memory_drop(core, &world->terrain_vertices);
  memory_drop(core, &world->terrain_triangles);
  memory_drop(core, &world->contents);
  memory_drop(core, &world->files);
  memory_drop(core, &world->emitters);
  memory_drop(core, &world->events_done);
  world_probes_destroy(world);
  solids_destroy(core, &world->sinks);
  if (world->grid) cell_grid_destroy(core, world->grid);
  if (world->sample_grid) cell_grid_destroy(core, world->sample_grid);
  drop_fills(world);
  definition_destroy(core, &world->definition);
  scratch_destroy(core, &world->scratch);
  core_destroy(core);
  free(world);
}
