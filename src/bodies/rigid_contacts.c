#include "bodies/rigid_contacts.h"

#include <math.h>

#include "bodies/parts.h"

enum { ITERATIONS = 24 };
static const double PUSH_SHARE = 0.2;  /* of a penetration that is undone in a step */
static const double PUSH_SPEED = 1;    /* m/s, at most, by that */
static const double REST_DEPTH = 1e-4; /* m, left in so that resting contacts stay contacts */

Status rigid_contacts_create(Core *core, const State *state, const Mechanism *mechanism, RigidContacts *contacts) {
  *contacts = (RigidContacts){.solid_count = state->solids.count};
  TRY(memory_new(core, &contacts->touching, state->solids.count + 1, "rigid contacts"));
  TRY(memory_new(core, &contacts->impulses, state->solids.count + 1, "rigid contacts"));
  for (int32_t k = 0; k < state->solids.count; k++)
    if (state->solids.items[k].motion == MOTION_FREE)
      touch_add_shape(&contacts->touching[k], &state->solids.items[k].shape);
    else if (mechanism_owns(mechanism, k)) mechanism_touch_places(mechanism, k, &contacts->touching[k]);
  return SCREE_OK;
}

void rigid_contacts_destroy(Core *core, RigidContacts *contacts) {
  memory_drop(core, &contacts->touching);
  memory_drop(core, &contacts->contacts);
  memory_drop(core, &contacts->impulses);
  *contacts = (RigidContacts){0};
}

/* Of the point that both share: change of their relative velocity per unit impulse. */
static double pair_mobility(const State *state, const RigidContact *contact, Vec3 direction) {
  return solid_mobility(&state->solids.items[contact->a], contact->point, direction) +
         solid_mobility(&state->solids.items[contact->b], contact->point, direction);
}

/* ---- finding contacts ---- */

static double surface_speed(const Solid *solid) { return solid_surface_speed(solid, solid->velocity, solid->spin); }

static Status touch_pair(Core *core, RigidContacts *contacts, const State *state, int32_t a, int32_t b, double dt) {
  const Solid *body = &state->solids.items[a], *other = &state->solids.items[b];
  const TouchPlaces *touching = &contacts->touching[a];
  double extent = solid_extent(body, body->center_in_shape);
  double ahead = (surface_speed(body) + surface_speed(other)) * dt + 1e-3 * extent;
  TouchFound found[SHAPE_CONTACTS_MAX];
  if (!touch_is_near(body, other, ahead)) return SCREE_OK;
  for (int32_t k = 0; k < touching->count; k++) {
    int count = touch_find(&touching->places[k], body, other, ahead, found);
    for (int j = 0; j < count; j++) {
      TRY(memory_grow(core, &contacts->contacts, contacts->count + 1, "rigid contacts"));
      RigidContact *contact = &contacts->contacts[contacts->count++];
      *contact = (RigidContact){.a = a,
                                .b = b,
                                .point = found[j].point,
                                .normal = found[j].normal,
                                .gap = found[j].gap,
                                .friction = sqrt(body->friction_static * other->friction_static)};
      contact->mobility = pair_mobility(state, contact, contact->normal);
    }
  }
  return SCREE_OK;
}

/* Whether a's places are held against b's surface here. */
static bool meet(const RigidContacts *contacts, const State *state, int32_t a, int32_t b) {
  const Solid *body = &state->solids.items[a], *other = &state->solids.items[b];
  if (a == b || contacts->touching[a].count == 0) return false;
  if (other->shape.kind == SCREE_SHAPE_HEIGHTFIELD) return false; /* it yields: terrain/ pushes back */
  return body->motion == MOTION_FREE || (body->motion == MOTION_MECHANISM && other->motion == MOTION_FREE);
}

/* ---- impulses ---- */

static void push(RigidContacts *contacts, Solid *solid, int32_t index, Vec3 impulse, Vec3 point) {
  if (!solid_is_movable(solid)) return;
  Vec3 turn = vec3_cross(vec3_sub(point, solid->center), impulse);
  contacts->impulses[index][0] = vec3_add(contacts->impulses[index][0], impulse);
  contacts->impulses[index][1] = vec3_add(contacts->impulses[index][1], turn);
  const double wrench[6] = {impulse.x, impulse.y, impulse.z, turn.x, turn.y, turn.z};
  double change[6];
  solid_apply_mobility(solid, wrench, change);
  solid->velocity = vec3_add(solid->velocity, vec3_of(change));
  solid->spin = vec3_add(solid->spin, vec3_of(change + 3));
}

static Vec3 approach(const State *state, const RigidContact *contact) {
  const Solid *body = &state->solids.items[contact->a], *other = &state->solids.items[contact->b];
  Vec3 velocity = solid_velocity_at(body, contact->point);
  return other->motion == MOTION_FIXED ? velocity : vec3_sub(velocity, solid_velocity_at(other, contact->point));
}

static void push_both(RigidContacts *contacts, State *state, const RigidContact *contact, Vec3 impulse) {
  push(contacts, &state->solids.items[contact->a], contact->a, impulse, contact->point);
  push(contacts, &state->solids.items[contact->b], contact->b, vec3_scale(impulse, -1), contact->point);
}

static void solve_friction(RigidContacts *contacts, State *state, RigidContact *contact) {
  Vec3 slip = approach(state, contact);
  slip = vec3_madd(slip, contact->normal, -vec3_dot(slip, contact->normal));
  double speed = vec3_length(slip);
  if (!(speed > 0)) return;
  double mobility = pair_mobility(state, contact, vec3_scale(slip, 1 / speed));
  if (!(mobility > 0)) return;
  Vec3 total = vec3_madd(contact->friction_impulse, slip, -1 / mobility);
  double most = contact->friction * contact->impulse, length = vec3_length(total);
  if (length > most) total = vec3_scale(total, most / length);
  push_both(contacts, state, contact, vec3_sub(total, contact->friction_impulse));
  contact->friction_impulse = total;
}

/* Returns whether it touches: what does not leaves everything as it is. */
static bool solve_contact(RigidContacts *contacts, State *state, RigidContact *contact, double dt) {
  /* what the gap allows, or what a penetration asks for */
  double wanted =
      contact->gap > 0 ? -contact->gap / dt : fmin(PUSH_SPEED, PUSH_SHARE * fmax(0, -contact->gap - REST_DEPTH) / dt);
  if (!(contact->mobility > 0)) return false;
  double before = contact->impulse;
  contact->impulse =
      fmax(0, before + (wanted - vec3_dot(approach(state, contact), contact->normal)) / contact->mobility);
  bool rubs = vec3_dot(contact->friction_impulse, contact->friction_impulse) > 0;
  if (before == 0 && contact->impulse == 0 && !rubs) return false;
  push_both(contacts, state, contact, vec3_scale(contact->normal, contact->impulse - before));
  solve_friction(contacts, state, contact);
  return true;
}

Status rigid_contacts_solve(Core *core, RigidContacts *contacts, State *state, double dt) {
  contacts->count = 0;
  for (int32_t k = 0; k < contacts->solid_count; k++)
    contacts->impulses[k][0] = contacts->impulses[k][1] = vec3(0, 0, 0);
  for (int32_t a = 0; a < contacts->solid_count; a++) {
    for (int32_t b = 0; b < contacts->solid_count; b++)
      if (meet(contacts, state, a, b)) TRY(touch_pair(core, contacts, state, a, b, dt));
  }
  bool any = true;
  for (int k = 0; k < ITERATIONS && any; k++) {
    any = false;
    for (int64_t c = 0; c < contacts->count; c++) any |= solve_contact(contacts, state, &contacts->contacts[c], dt);
  }
  return SCREE_OK;
}
