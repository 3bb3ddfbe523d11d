/* Mechanisms of a build without MuJoCo: a clear message instead of a silent nothing. */
#ifndef SCREE_HAVE_MUJOCO

#include "bodies/mechanism.h"

Status mechanism_create(Core *core, State *state, const BodiesPlan *plan, Mechanism **mechanism) {
  (void)state;
  *mechanism = NULL;
  return fail_at(core, SCREE_BAD_INPUT, plan->scene->file, plan->scene->mechanism->source,
                 "this build of scree has no mechanisms: MuJoCo was missing when it was made (see `make deps`)");
}
void mechanism_destroy(Core *core, Mechanism *mechanism) { (void)core, (void)mechanism; }
bool mechanism_owns(const Mechanism *mechanism, int32_t solid) { return (void)mechanism, (void)solid, false; }
int32_t mechanism_find_geom(const Mechanism *mechanism, const char *name) { return (void)mechanism, (void)name, -1; }
Status mechanism_touch_create(Core *core, Mechanism *mechanism, State *state) {
  return (void)core, (void)mechanism, (void)state, SCREE_OK;
}
void mechanism_touch_cut(Mechanism *mechanism, int32_t solid_count) { (void)mechanism, (void)solid_count; }
void mechanism_touch_places(const Mechanism *mechanism, int32_t solid, TouchPlaces *places) {
  (void)mechanism, (void)solid, (void)places;
}
Status mechanism_refresh(Core *core, Mechanism *mechanism, State *state, double dt) {
  return (void)core, (void)mechanism, (void)state, (void)dt, SCREE_OK;
}
Status mechanism_advance(Core *core, Mechanism *mechanism, State *state, const RigidContacts *contacts,
                         const WrenchRule *rule) {
  return (void)core, (void)mechanism, (void)state, (void)contacts, (void)rule, SCREE_OK;
}
int32_t mechanism_control_count(const Mechanism *mechanism) { return (void)mechanism, 0; }
void mechanism_control(const Mechanism *mechanism, int32_t control, const char **name, double *value, double *low,
                       double *high) {
  (void)mechanism, (void)control, (void)name, (void)value, (void)low, (void)high;
}
void mechanism_set_control(Mechanism *mechanism, int32_t control, double value) {
  (void)mechanism, (void)control, (void)value;
}
void mechanism_release_control(Mechanism *mechanism, int32_t control) { (void)mechanism, (void)control; }
uint64_t mechanism_contents(const Mechanism *mechanism) { return (void)mechanism, 0; }
Status mechanism_archive(Core *core, Archive *archive, Mechanism *mechanism, State *state, double longest_step) {
  return (void)core, (void)archive, (void)mechanism, (void)state, (void)longest_step, SCREE_OK;
}

#else
typedef int mechanism_absent_is_not_built;
#endif
