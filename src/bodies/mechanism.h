/* A mechanism: a MuJoCo model whose bodies are solids of the state. Everything that knows MuJoCo is behind this. */
#ifndef BODIES_MECHANISM_H
#define BODIES_MECHANISM_H

#include "bodies/bodies.h"
#include "bodies/rigid_contacts.h"

typedef struct WrenchRule WrenchRule; /* parts.h */

/* Loads the model of plan->scene->mechanism and appends its solids. */
Status mechanism_create(Core *core, State *state, const BodiesPlan *plan, Mechanism **mechanism);
void mechanism_destroy(Core *core, Mechanism *mechanism);

/* Whether the mechanism made this solid. */
bool mechanism_owns(const Mechanism *mechanism, int32_t solid);
/* The solid that a geom of this name belongs to, or -1. */
int32_t mechanism_find_geom(const Mechanism *mechanism, const char *name);

/* When all solids are there, and when one was added: what its parts touch. The second is for when the last ones were
 * taken away again. */
Status mechanism_touch_create(Core *core, Mechanism *mechanism, State *state);
void mechanism_touch_cut(Mechanism *mechanism, int32_t solid_count);
/* Where one of its solids touches others. */
void mechanism_touch_places(const Mechanism *mechanism, int32_t solid, TouchPlaces *places);

/* Fills the inverse inertias J M^-1 J^T of its solids, and where there is terrain those between them. */
Status mechanism_refresh(Core *core, Mechanism *mechanism, State *state, double dt);
/* `contacts` holds the impulses that free bodies gave to its solids in this step. */
Status mechanism_advance(Core *core, Mechanism *mechanism, State *state, const RigidContacts *contacts,
                         const WrenchRule *rule);

int32_t mechanism_control_count(const Mechanism *mechanism);
void mechanism_control(const Mechanism *mechanism, int32_t control, const char **name, double *value, double *low,
                       double *high);
void mechanism_set_control(Mechanism *mechanism, int32_t control, double value);
void mechanism_release_control(Mechanism *mechanism, int32_t control);

/* Hash of all files that it was made of, and of its controls. */
uint64_t mechanism_contents(const Mechanism *mechanism);
Status mechanism_archive(Core *core, Archive *archive, Mechanism *mechanism, State *state, double longest_step);

#endif
