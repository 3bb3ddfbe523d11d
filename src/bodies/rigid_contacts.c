#include "bodies/rigid_contacts.h"

#include <math.h>

#include "bodies/parts.h"

enum { ITERATIONS = 24 };
static const double PUSH_SHARE = 0.2;  /* of a penetration that is undone in a step */
static const double PUSH_SPEED = 1;    /* m/s, at most, by that */
static const double REST_DEPTH = 1e-4; /* m, left in so that resting contacts stay contacts */

/* ---- the points ---- */

static void add_point(TouchPoints *touching, Vec3 point) {
  if (touching->count < TOUCH_POINTS_MAX) touching->points[touching->count++] = point;
}

/* The vertices that lie farthest in directions spread evenly over the sphere: those of the hull that matter most. */
static void add_outermost(TouchPoints *touching, const Mesh *mesh) {
  const double golden = M_PI * (3 - sqrt(5));
  for (int k = 0; k < TOUCH_POINTS_MAX; k++) {
    double z = 1 - (2 * k + 1.0) / TOUCH_POINTS_MAX, r = sqrt(1 - z * z);
    Vec3 direction = vec3(r * cos(golden * k), r * sin(golden * k), z);
    int64_t best = -1;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
      if (best < 0 || vec3_dot(mesh->vertices[v], direction) > vec3_dot(mesh->vertices[best], direction)) best = v;
    if (best < 0) return;
    bool known = false;
    for (int32_t j = 0; j < touching->count && !known; j++)
      known = vec3_length(vec3_sub(touching->points[j], mesh->vertices[best])) == 0;
    if (!known) add_point(touching, mesh->vertices[best]);
  }
}

static void find_points(const Shape *shape, TouchPoints *touching) {
  if (shape->kind == SCREE_SHAPE_MESH) {
    add_outermost(touching, &shape->mesh);
    return;
  }
  Vec3 corners[SHAPE_CORNERS_MAX];
  int count = shape_corners(shape, corners, &touching->radius);
  for (int k = 0; k < count; k++) add_point(touching, corners[k]);
}

Status rigid_contacts_create(Core *core, const State *state, RigidContacts *contacts) {
  *contacts = (RigidContacts){.solid_count = state->solids.count};
  TRY(memory_new(core, &contacts->touching, state->solids.count + 1, "rigid contacts"));
  TRY(memory_new(core, &contacts->impulses, state->solids.count + 1, "rigid contacts"));
  for (int32_t k = 0; k < state->solids.count; k++)
    if (state->solids.items[k].motion == MOTION_FREE)
      find_points(&state->solids.items[k].shape, &contacts->touching[k]);
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
  const TouchPoints *touching = &contacts->touching[a];
  double extent = solid_extent(body, body->center_in_shape);
  double ahead = (surface_speed(body) + surface_speed(other)) * dt + 1e-3 * extent;
  ShapePoint found[SHAPE_CONTACTS_MAX];
  if (solid_contacts(other, body->center, extent + ahead, found) == 0) return SCREE_OK;
  for (int32_t k = 0; k < touching->count; k++) {
    Vec3 point = solid_to_world(body, touching->points[k]);
    int count = solid_contacts(other, point, touching->radius + ahead, found);
    for (int j = 0; j < count; j++) {
      double gap = found[j].distance - touching->radius;
      if (!(gap < ahead)) continue;
      TRY(memory_grow(core, &contacts->contacts, contacts->count + 1, "rigid contacts"));
      RigidContact *contact = &contacts->contacts[contacts->count++];
      *contact = (RigidContact){.a = a,
                                .b = b,
                                .point = vec3_madd(point, found[j].normal, -touching->radius),
                                .normal = found[j].normal,
                                .gap = gap,
                                .friction = sqrt(body->friction_static * other->friction_static)};
      contact->mobility = pair_mobility(state, contact, contact->normal);
    }
  }
  return SCREE_OK;
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
    if (contacts->touching[a].count == 0) continue;
    for (int32_t b = 0; b < contacts->solid_count; b++)
      if (b != a && state->solids.items[b].shape.kind != SCREE_SHAPE_HEIGHTFIELD) /* it yields: terrain/ pushes back */
        TRY(touch_pair(core, contacts, state, a, b, dt));
  }
  bool any = true;
  for (int k = 0; k < ITERATIONS && any; k++) {
    any = false;
    for (int64_t c = 0; c < contacts->count; c++) any |= solve_contact(contacts, state, &contacts->contacts[c], dt);
  }
  return SCREE_OK;
}
