/* What changes while a world runs, between two steps: gravity, materials, emitters. */
#include <math.h>
#include <string.h>

#include "parameters/table.h"
#include "world/world.h"

static Status check_range(ScreeWorld *world, const char *what, const ScreeParameter *row, double value) {
  if (scree_is_auto(value) && strcmp(row->default_text, "auto") == 0) return SCREE_OK;
  if (isfinite(value) && parameter_range(row, value) != RANGE_ILLEGAL) return SCREE_OK;
  return fail(&world->core, SCREE_BAD_ARGUMENT, "%s%s must lie between %g and %g", what, row->name, row->low,
              row->high);
}

static Status check_vector(ScreeWorld *world, const char *what, const ScreeParameter *row, ScreeVec3 value) {
  TRY(check_range(world, what, row, value.x));
  TRY(check_range(world, what, row, value.y));
  return check_range(world, what, row, value.z);
}

ScreeStatus scree_world_set_gravity(ScreeWorld *world, ScreeVec3 gravity, ScreeError *error) {
  Status status = check_vector(world, "", section_find(SECTION_scene, "gravity"), gravity);
  if (status == SCREE_OK) world->state.gravity = world->definition.scene.gravity = gravity;
  return core_report(&world->core, status, error);
}

/* ---- materials ---- */

/* What particles were born with, and what the length of a step was chosen by, stays. */
static bool may_change(const char *key) {
  static const char *const keys[] = {"friction_static", "friction_kinetic", "friction_angle_deg",
                                     "cohesion",        "rolling_friction", "color"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
    if (strcmp(keys[k], key) == 0) return true;
  return false;
}

static bool same_value(const ScreeParameter *row, const ScreeMaterialDef *a, const ScreeMaterialDef *b) {
  const void *x = parameter_value(a, row), *y = parameter_value(b, row);
  if (row->kind == SCREE_KIND_CHOICE) return *(const int *)x == *(const int *)y;
  double v = *(const double *)x, w = *(const double *)y;
  return v == w || (scree_is_auto(v) && scree_is_auto(w));
}

static Status check_material(ScreeWorld *world, const ScreeMaterialDef *old, const ScreeMaterialDef *new) {
  for (int k = 0; k < section_info(SECTION_material).count; k++) {
    const ScreeParameter *row = section_row(SECTION_material, k);
    const void *value = parameter_value(new, row);
    if (!may_change(row->name)) {
      if (!same_value(row, old, new))
        return fail(&world->core, SCREE_BAD_ARGUMENT, "'%s' of a material cannot change while a world runs", row->name);
    } else if (row->kind == SCREE_KIND_VEC3) {
      TRY(check_vector(world, "a material's ", row, *(const ScreeVec3 *)value));
    } else {
      TRY(check_range(world, "a material's ", row, *(const double *)value));
    }
  }
  return SCREE_OK;
}

static Status set_material(ScreeWorld *world, const ScreeMaterialDef *material) {
  State *state = &world->state;
  int32_t k = material->name ? materials_find(&state->materials, material->name) : -1;
  if (k < 0)
    return fail(&world->core, SCREE_BAD_ARGUMENT, "no material is called '%s'", material->name ? material->name : "");
  ScreeMaterialDef *def = &world->definition.materials[k], kept = *def, new = *material;
  new.name = def->name;
  new.source = def->source;
  TRY(check_material(world, def, &new));
  Material before = state->materials.items[k];
  *def = new;
  Status status = world_resolve_material(world, def, &state->materials.items[k]);
  if (status == SCREE_BAD_INPUT) status = SCREE_BAD_ARGUMENT;
  if (status == SCREE_OK && world->method->materials_changed)
    status = world->method->materials_changed(&world->core, state, world->method_data);
  if (status != SCREE_OK) {
    *def = kept;
    state->materials.items[k] = before;
    return status;
  }
  if (world->ground) ground_follow_material(world->ground, state);
  return SCREE_OK;
}

ScreeStatus scree_world_set_material(ScreeWorld *world, const ScreeMaterialDef *material, ScreeError *error) {
  return core_report(&world->core, set_material(world, material), error);
}

/* ---- emitters ---- */

/* The definition as the world keeps it: its material is one of the world's. */
static Status check_emitter(ScreeWorld *world, const ScreeEmitterDef *from, ScreeEmitterDef *to) {
  const Materials *materials = &world->state.materials;
  int32_t material = from->material ? materials_find(materials, from->material) : -1;
  if (material < 0)
    return fail(&world->core, SCREE_BAD_ARGUMENT, "no material is called '%s'", from->material ? from->material : "");
  const ScreeDiscDef *disc = &from->shape.disc;
  if (from->shape.kind != SCREE_SHAPE_DISC || !vec3_finite(disc->center) || !vec3_finite(disc->direction) ||
      !(vec3_length(disc->direction) > 0) || !(disc->radius > 0) || !isfinite(disc->radius))
    return fail(&world->core, SCREE_BAD_ARGUMENT, "an emitter is a disc with a radius and a direction");
  for (int k = 0; k < section_info(SECTION_emitter).count; k++) {
    const ScreeParameter *row = section_row(SECTION_emitter, k);
    if (row->kind == SCREE_KIND_REAL)
      TRY(check_range(world, "an emitter's ", row, *(const double *)parameter_value(from, row)));
  }
  *to = *from;
  to->material = materials->items[material].definition.name;
  return SCREE_OK;
}

static Status add_emitter(ScreeWorld *world, const ScreeEmitterDef *definition) {
  Core *core = &world->core;
  ScreeSceneDef *scene = &world->definition.scene;
  int32_t count = scene->emitter_count;
  ScreeEmitterDef made, *all = NULL;
  TRY(check_emitter(world, definition, &made));
  TRY(memory_grow(core, &world->emitters, count + 1, "emitters"));
  world->emitters[count] = (Emitter){0};
  TRY(definition_block(core, &world->definition, count + 1, (int64_t)sizeof *all, (void **)&all));
  if (count > 0) memcpy(all, scene->emitters, sizeof *all * (size_t)count);
  all[count] = made;
  scene->emitters = all;
  scene->emitter_count = count + 1;
  return SCREE_OK;
}

ScreeStatus scree_world_add_emitter(ScreeWorld *world, const ScreeEmitterDef *definition, ScreeEmitterId *emitter,
                                    ScreeError *error) {
  Status status = add_emitter(world, definition);
  *emitter = status == SCREE_OK ? world->definition.scene.emitter_count : 0;
  return core_report(&world->core, status, error);
}

ScreeStatus scree_world_set_emitter(ScreeWorld *world, ScreeEmitterId emitter, const ScreeEmitterDef *definition,
                                    ScreeError *error) {
  Status status = SCREE_OK;
  if (emitter < 1 || emitter > world->definition.scene.emitter_count)
    status = fail(&world->core, SCREE_BAD_ARGUMENT, "there is no emitter %d", emitter);
  else status = check_emitter(world, definition, (ScreeEmitterDef *)&world->definition.scene.emitters[emitter - 1]);
  return core_report(&world->core, status, error);
}
