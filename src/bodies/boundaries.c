/* Walls: solids that no force moves. They come first in the table, in the order of the scene. */
#include "bodies/parts.h"

Status boundaries_add(Core *core, Bodies *bodies, State *state, const BodiesPlan *plan) {
  const ScreeSceneDef *scene = plan->scene;
  for (int32_t k = 0; k < scene->boundary_count; k++) {
    const ScreeBoundaryDef *definition = &scene->boundaries[k];
    SolidPlan wall = {.name = definition->name,
                      .kind = "boundary",
                      .number = k + 1,
                      .source = definition->source,
                      .shape = &definition->shape,
                      .inside = definition->inside,
                      .motion = definition->key_count > 0 ? MOTION_KEYFRAMES : MOTION_FIXED,
                      .contact = definition->contact,
                      .friction_static = definition->friction_static,
                      .friction_kinetic = definition->friction_kinetic,
                      .stiffness_n = definition->stiffness_n,
                      .restitution = definition->restitution,
                      .keys = definition->keys,
                      .key_count = definition->key_count};
    Solid *solid;
    TRY(bodies_add_solid(core, bodies, state, plan, &wall, &solid));
    solid->is_boundary = true;
    state->solids.boundary_count = state->solids.count;
  }
  return SCREE_OK;
}
