/* What parts of a mechanism touch: walls, keyframed bodies and each other.
 *
 * Where they touch is found with the signed distances that grains see as well: MuJoCo's own contacts know neither the
 * scene nor concave meshes. What follows from it is left to MuJoCo's solver, where motors, joints, limits, equality
 * constraints and all contacts of the machine are solved together: impulses of our own, with the inverse inertia of one
 * part at a time, would not see that four wheels carry one truck. So contacts are handed to MuJoCo (mj_addContact) in
 * every substep; walls are there as a geom of the world that collides with nothing (mjcf.c). Free bodies are not: they
 * meet the parts in rigid_contacts.c.
 *
 * Pairs of bodies that the model itself lets collide stay MuJoCo's; pairs that it excludes, and a body and its parent,
 * do not touch. Neither do parts that overlap at the start (machines are drawn so), nor a part and a wall that it sits
 * deep in: it is mounted there. A part that is a little inside a wall may stay as deep as it is: it is not thrown out,
 * and the depth that it is allowed shrinks as it comes out. */
#ifdef SCREE_HAVE_MUJOCO

#include <math.h>
#include <string.h>

#include "bodies/mechanism_parts.h"
#include "core/portable.h"

enum { CONTACTS_MAX = 8, CANDIDATES_MAX = 3 * 2 * TOUCH_PLACES_MAX, RIM_POINTS = 16 };
static const double MOUNTED_SHARE = 0.2;  /* of half the least size of a part: deeper in a wall it is mounted */
static const double OVERLAP_SHARE = 1e-3; /* of a part's size: deeper in another part at the start they do not touch */
/* Of what presses on it a contact gives way by so much: the rest of MuJoCo's impedance. */
static const double GIVES_WAY = 1e-3;
/* A penetration is undone by so much in a substep, and with no more than so many m/s. */
static const double PUSH_SHARE = 0.2, PUSH_SPEED = 0.5;
/* Contacts that are pressed resist grains as so many times the inertia behind them. */
static const double CONTACT_RESISTANCE = 100.0;

static int32_t link_of(const Mechanism *mechanism, int32_t solid) {
  return mechanism_owns(mechanism, solid) ? solid - mechanism->links[0].solid : -1;
}
static bool moves(const Mechanism *mechanism, int32_t solid) {
  int32_t link = link_of(mechanism, solid);
  return link >= 0 && mechanism->links[link].moves;
}
/* The depth that a pair is allowed; infinite: it does not touch. One of the two is a part that moves. */
static double *allowed_depth(const Mechanism *mechanism, int32_t a, int32_t b) {
  bool swap = !moves(mechanism, a) || (moves(mechanism, b) && b < a);
  return &mechanism->allowed[(int64_t)link_of(mechanism, swap ? b : a) * mechanism->row_length + (swap ? a : b)];
}

static double surface_speed(const Solid *solid) { return solid_surface_speed(solid, solid->velocity, solid->spin); }

/* ---- places ---- */

static TouchPlace placed(TouchPlace place, const SolidPose *pose) {
  place.center = vec3_add(quat_rotate(pose->rotation, place.center), pose->position);
  place.axis = quat_rotate(pose->rotation, place.axis);
  return place;
}

static void add_box(TouchPlaces *places, const double *half, const SolidPose *pose) {
  for (int axis = 0; axis < 3; axis++)
    for (int edge = 0; edge < 4; edge++) {
      double at[3] = {0}, along[3] = {0};
      at[(axis + 1) % 3] = edge & 1 ? half[(axis + 1) % 3] : -half[(axis + 1) % 3];
      at[(axis + 2) % 3] = edge & 2 ? half[(axis + 2) % 3] : -half[(axis + 2) % 3];
      along[axis] = 1;
      TouchPlace line = {.center = vec3_of(at), .axis = vec3_of(along), .half = half[axis]};
      touch_add(places, placed(line, pose));
      for (int end = -1; axis == 0 && end <= 1; end += 2)
        touch_add(places, placed((TouchPlace){.center = vec3_madd(line.center, line.axis, end * half[0])}, pose));
    }
}

/* Spheres, capsules and cylinders. A cylinder has points on its rims too, for when it stands on its end. */
static void add_round(TouchPlaces *places, int type, const double *size, const SolidPose *pose) {
  const Vec3 axis = vec3(0, 0, 1);
  if (type == mjGEOM_SPHERE) {
    touch_add(places, placed((TouchPlace){.radius = size[0]}, pose));
    return;
  }
  bool is_cylinder = type == mjGEOM_CYLINDER;
  touch_add(places, placed((TouchPlace){.radius = size[0], .axis = axis, .half = size[1], .round = is_cylinder}, pose));
  for (int end = -1; end <= 1; end += 2) {
    TouchPlace place = {.center = vec3(0, 0, end * size[1]), .axis = axis};
    if (is_cylinder) place.rim = size[0];
    else place.radius = size[0];
    touch_add(places, placed(place, pose));
    for (int k = 0; is_cylinder && k < RIM_POINTS; k++) {
      double angle = 2 * M_PI * k / RIM_POINTS;
      Vec3 out = vec3(size[0] * portable_cos(angle), size[0] * portable_sin(angle), 0);
      touch_add(places, placed((TouchPlace){.center = vec3_add(place.center, out)}, pose));
    }
  }
}

/* Vertices of a geom's surface as the solid has them are not told apart there: those of the whole part serve. */
static void find_part_places(const Mechanism *mechanism, const Solid *solid, const Link *link, TouchPlaces *places) {
  const mjModel *model = mechanism->model;
  bool other = false;
  for (int k = 0; link->body >= 0 && k < model->body_geomnum[link->body]; k++) {
    int geom = model->body_geomadr[link->body] + k, type = model->geom_type[geom];
    const SolidPose pose = {vec3_of(model->geom_pos + 3 * geom), quat_normalize(quat_of(model->geom_quat + 4 * geom))};
    if (type == mjGEOM_BOX) add_box(places, model->geom_size + 3 * geom, &pose);
    else if (type == mjGEOM_SPHERE || type == mjGEOM_CAPSULE || type == mjGEOM_CYLINDER)
      add_round(places, type, model->geom_size + 3 * geom, &pose);
    else other = true;
  }
  if (other && solid->shape.kind == SCREE_SHAPE_MESH) touch_add_shape(places, &solid->shape);
}

void mechanism_touch_places(const Mechanism *mechanism, int32_t solid, TouchPlaces *places) {
  *places = mechanism->places[solid];
}

/* ---- pairs ---- */

static bool signed_pair(const int *signatures, int count, int body_a, int body_b) {
  for (int k = 0; k < count; k++)
    if (mujoco_is_pair(signatures[k], body_a, body_b)) return true;
  return false;
}

/* Whether MuJoCo collides geoms of these bodies itself. */
static bool model_collides(const mjModel *model, int body_a, int body_b) {
  if (signed_pair(model->pair_signature, model->npair, body_a, body_b)) return true;
  for (int i = 0; i < model->body_geomnum[body_a]; i++)
    for (int j = 0; j < model->body_geomnum[body_b]; j++) {
      int a = model->body_geomadr[body_a] + i, b = model->body_geomadr[body_b] + j;
      if ((model->geom_contype[a] & model->geom_conaffinity[b]) ||
          (model->geom_contype[b] & model->geom_conaffinity[a]))
        return true;
    }
  return false;
}

static int body_of(const Mechanism *mechanism, int32_t link) {
  return mechanism->links[link].body < 0 ? 0 : mechanism->links[link].body;
}

static bool may_touch(const Mechanism *mechanism, const State *state, int32_t a, int32_t b) {
  const Solid *other = &state->solids.items[b];
  if (other->motion == MOTION_FREE || other->shape.kind == SCREE_SHAPE_HEIGHTFIELD) return false;
  int32_t link = link_of(mechanism, b);
  if (link < 0) return true;
  const mjModel *model = mechanism->model;
  int body_a = body_of(mechanism, link_of(mechanism, a)), body_b = body_of(mechanism, link);
  if (body_a == body_b || (body_b > 0 && model->body_parentid[body_a] == body_b) ||
      model->body_parentid[body_b] == body_a)
    return false;
  return !model_collides(model, body_a, body_b) &&
         !signed_pair(model->exclude_signature, model->nexclude, body_a, body_b);
}

/* ---- finding ---- */

struct Candidates {
  PartContact found[CANDIDATES_MAX];
  Vec3 points[CANDIDATES_MAX];
  double gaps[CANDIDATES_MAX];
  int count;
  double depth; /* deepest */
};

/* Places of a near the surface of b. */
static void find_candidates(const Mechanism *mechanism, const State *state, int32_t a, int32_t b, double ahead,
                            Candidates *candidates) {
  const Solid *solid = &state->solids.items[a], *other = &state->solids.items[b];
  const TouchPlaces *places = &mechanism->places[a];
  Quat back = quat_conjugate(other->rotation);
  for (int32_t k = 0; k < places->count; k++) {
    TouchFound found[SHAPE_CONTACTS_MAX];
    int count = touch_find(&places->places[k], solid, other, ahead, found);
    for (int j = 0; j < count && candidates->count < CANDIDATES_MAX; j++) {
      Vec3 surface = vec3_madd(found[j].point, found[j].normal, -found[j].gap);
      candidates->found[candidates->count] = (PartContact){.a = a,
                                                           .b = b,
                                                           .place = found[j].place,
                                                           .surface = solid_to_local(other, surface),
                                                           .normal = quat_rotate(back, found[j].normal)};
      candidates->gaps[candidates->count] = found[j].gap;
      candidates->points[candidates->count++] = found[j].point;
      candidates->depth = fmax(candidates->depth, -found[j].gap);
    }
  }
}

/* Both ways: a corner of the one may meet a face of the other. */
static void find_pair(const Mechanism *mechanism, const State *state, int32_t a, int32_t b, double ahead,
                      Candidates *candidates) {
  const Solid *solid = &state->solids.items[a], *other = &state->solids.items[b];
  candidates->count = 0;
  candidates->depth = 0;
  if (!touch_is_near(solid, other, ahead)) return;
  find_candidates(mechanism, state, a, b, ahead, candidates);
  find_candidates(mechanism, state, b, a, ahead, candidates);
}

/* The deepest, then always the one farthest from those that are kept: as few as hold a part on a face. */
static Status keep_some(Core *core, Mechanism *mechanism, Candidates *candidates) {
  double apart[CANDIDATES_MAX];
  for (int k = 0; k < candidates->count; k++) apart[k] = INFINITY;
  for (int kept = 0; kept < CONTACTS_MAX && kept < candidates->count; kept++) {
    int best = 0;
    for (int k = 1; k < candidates->count; k++)
      if (kept == 0 ? candidates->gaps[k] < candidates->gaps[best] : apart[k] > apart[best]) best = k;
    if (!(apart[best] > 0)) break;
    TRY(memory_grow(core, &mechanism->touches, mechanism->touch_count + 1, "mechanism"));
    mechanism->touches[mechanism->touch_count++] = candidates->found[best];
    for (int k = 0; k < candidates->count; k++)
      apart[k] = fmin(apart[k], vec3_length(vec3_sub(candidates->points[k], candidates->points[best])));
  }
  return SCREE_OK;
}

Status mechanism_find_touches(Core *core, Mechanism *mechanism, const State *state, double dt) {
  mechanism->touch_count = 0;
  for (int32_t k = 0; k < mechanism->link_count; k++) {
    int32_t a = mechanism->links[k].solid;
    for (int32_t b = 0; mechanism->links[k].moves && b < mechanism->solid_count; b++) {
      double *allowed = &mechanism->allowed[(int64_t)k * mechanism->row_length + b];
      if (isinf(*allowed)) continue;
      const Solid *solid = &state->solids.items[a], *other = &state->solids.items[b];
      /* as far as they may come before they are looked for again: what stands may be driven at once */
      double ahead = 2 * (surface_speed(solid) + surface_speed(other)) * dt + state->radius +
                     1e-2 * solid_extent(solid, solid->center_in_shape);
      find_pair(mechanism, state, a, b, ahead + *allowed, mechanism->candidates);
      *allowed = fmin(*allowed, mechanism->candidates->depth);
      TRY(keep_some(core, mechanism, mechanism->candidates));
    }
  }
  return SCREE_OK;
}

/* ---- the start ---- */

static double least_half(const Solid *solid) {
  Vec3 size = vec3_scale(vec3_sub(solid->shape.bounds_high, solid->shape.bounds_low), 0.5);
  return fmin(size.x, fmin(size.y, size.z));
}

static void start_pair(Mechanism *mechanism, const State *state, int32_t a, int32_t b, double *allowed) {
  const Solid *solid = &state->solids.items[a], *other = &state->solids.items[b];
  find_pair(mechanism, state, a, b, 0, mechanism->candidates);
  double depth = mechanism->candidates->depth;
  bool of_machine = link_of(mechanism, b) >= 0;
  double most =
      of_machine ? OVERLAP_SHARE * solid_extent(solid, solid->center_in_shape)
                 : MOUNTED_SHARE * fmin(least_half(solid), other->shape.kind == SCREE_SHAPE_PLANE || other->shape.inside
                                                               ? INFINITY
                                                               : least_half(other));
  *allowed = depth > most ? (double)INFINITY : depth;
}

Status mechanism_touch_create(Core *core, Mechanism *mechanism, State *state) {
  int32_t before = mechanism->solid_count, count = state->solids.count;
  double *allowed;
  TRY(memory_grow(core, &mechanism->places, count, "mechanism"));
  if (!mechanism->candidates) TRY(memory_new(core, &mechanism->candidates, 1, "mechanism"));
  TRY(memory_new(core, &allowed, (int64_t)mechanism->link_count * count + 1, "mechanism"));
  for (int32_t k = before; k < count; k++) {
    const Solid *solid = &state->solids.items[k];
    mechanism->places[k].count = 0;
    int32_t link = link_of(mechanism, k);
    if (link >= 0) find_part_places(mechanism, solid, &mechanism->links[link], &mechanism->places[k]);
    else if (!solid->shape.inside && solid->motion != MOTION_FREE)
      touch_add_shape(&mechanism->places[k], &solid->shape);
  }
  for (int32_t k = 0; k < mechanism->link_count; k++)
    for (int32_t b = 0; b < count; b++) {
      int32_t a = mechanism->links[k].solid;
      double *pair = &allowed[(int64_t)k * count + b];
      if (b < before) *pair = mechanism->allowed[(int64_t)k * mechanism->row_length + b];
      else if (!mechanism->links[k].moves || b == a || (moves(mechanism, b) && b < a) ||
               !may_touch(mechanism, state, a, b))
        *pair = INFINITY;
      else start_pair(mechanism, state, a, b, pair);
    }
  memory_drop(core, &mechanism->allowed);
  mechanism->allowed = allowed;
  mechanism->solid_count = mechanism->row_length = count;
  mechanism->state = state;
  return mechanism_settle(core, mechanism, state, 0);
}

void mechanism_touch_cut(Mechanism *mechanism, int32_t solid_count) {
  if (mechanism->solid_count <= solid_count) return;
  mechanism->solid_count = solid_count;
  int32_t kept = 0;
  for (int32_t k = 0; k < mechanism->touch_count; k++) {
    const PartContact *touch = &mechanism->touches[k];
    if (touch->a < solid_count && touch->b < solid_count) mechanism->touches[kept++] = *touch;
  }
  mechanism->touch_count = kept;
}

Status mechanism_touch_archive(Core *core, Archive *archive, Mechanism *mechanism) {
  int32_t count = mechanism->solid_count;
  TRY(archive_value(core, archive, &count));
  if (count != mechanism->solid_count) return archive_bad(core, archive, "checkpoint has another number of solids");
  for (int32_t k = 0; k < mechanism->link_count; k++) {
    double *row = mechanism->allowed + (int64_t)k * mechanism->row_length;
    TRY(archive_array(core, archive, row, count));
    for (int32_t b = 0; b < count; b++)
      if (!(row[b] >= 0)) return archive_bad(core, archive, "depth of a contact is not a number");
  }
  return SCREE_OK;
}

void mechanism_touch_destroy(Core *core, Mechanism *mechanism) {
  memory_drop(core, &mechanism->places);
  memory_drop(core, &mechanism->allowed);
  memory_drop(core, &mechanism->touches);
  memory_drop(core, &mechanism->candidates);
}

/* ---- handing over ---- */

/* Where a solid is `left` seconds before the step's end. */
static SolidPose pose_now(const Mechanism *mechanism, const State *state, int32_t index, double left) {
  const Solid *solid = &state->solids.items[index];
  int32_t link = link_of(mechanism, index);
  if (link >= 0 && mechanism->links[link].body >= 0) {
    int body = mechanism->links[link].body;
    return (SolidPose){vec3_add(mechanism->offset, vec3_of(mechanism->data->xpos + 3 * body)),
                       quat_normalize(quat_of(mechanism->data->xquat + 4 * body))};
  }
  if (solid->motion != MOTION_KEYFRAMES) return (SolidPose){solid->position, solid->rotation};
  return solid_pose_after(solid, -left);
}

static int geom_of(const Mechanism *mechanism, int32_t solid) {
  int32_t link = link_of(mechanism, solid);
  return link >= 0 && mechanism->links[link].moves ? mechanism->model->body_geomadr[mechanism->links[link].body]
                                                   : mechanism->anchor;
}

static void make_frame(Vec3 normal, double frame[9]) {
  Vec3 other = fabs(normal.x) < 0.5 ? vec3(1, 0, 0) : vec3(0, 1, 0);
  Vec3 first = vec3_normalize(vec3_madd(other, normal, -vec3_dot(other, normal)));
  Vec3 second = vec3_cross(normal, first);
  const double rows[9] = {normal.x, normal.y, normal.z, first.x, first.y, first.z, second.x, second.y, second.z};
  memcpy(frame, rows, sizeof rows);
}

static bool make_contact(const Mechanism *mechanism, const State *state, PartContact *touch, double left,
                         mjContact *contact) {
  const Solid *solid = &state->solids.items[touch->a], *other = &state->solids.items[touch->b];
  SolidPose a = pose_now(mechanism, state, touch->a, left), b = pose_now(mechanism, state, touch->b, left);
  Vec3 normal = quat_rotate(b.rotation, touch->normal), point;
  Vec3 surface = vec3_add(quat_rotate(b.rotation, touch->surface), b.position);
  if (!touch_point(&touch->place, &a, normal, &point)) return false;
  double gap = vec3_dot(vec3_sub(point, surface), normal) + *allowed_depth(mechanism, touch->a, touch->b);
  double h = mechanism->model->opt.timestep;
  /* The gap counts before it is closed: what would come farther than it in the substep is stopped at the surface. */
  if (!(gap < 2 * h * (surface_speed(solid) + surface_speed(other)) + 1e-2 * state->radius + 1e-4)) return false;
  touch->gap = gap;
  Vec3 middle = vec3_sub(vec3_madd(point, normal, -0.5 * gap), mechanism->offset);
  double mu = sqrt(solid->friction_static * other->friction_static);
  mujoco_clear_contact(contact, geom_of(mechanism, touch->b), geom_of(mechanism, touch->a));
  contact->dist = fmin(gap, 0);
  contact->includemargin = 1e-6;
  contact->pos[0] = middle.x, contact->pos[1] = middle.y, contact->pos[2] = middle.z;
  make_frame(normal, contact->frame);
  contact->dim = mu > 1e-5 ? 3 : 1;
  const double friction[5] = {mu, mu, 0.005, 1e-4, 1e-4};
  memcpy(contact->friction, friction, sizeof friction);
  contact->solref[0] = 0.02, contact->solref[1] = 1; /* not used: see set_references */
  const double impedance[mjNIMP] = {1 - GIVES_WAY, 1 - GIVES_WAY, 1e-3, 0.5, 2};
  memcpy(contact->solimp, impedance, sizeof impedance);
  /* What MuJoCo takes for the world may be on a path of its own. */
  Vec3 still = vec3(0, 0, 0);
  Vec3 world_a = moves(mechanism, touch->a) ? still : solid_velocity_at(solid, point);
  Vec3 world_b = moves(mechanism, touch->b) ? still : solid_velocity_at(other, point);
  touch->drift = left > 0 ? vec3_sub(world_b, world_a) : still;
  return true;
}

static bool is_pyramid(const Mechanism *mechanism, const mjContact *contact) {
  return contact->dim > 1 && mechanism->model->opt.cone == mjCONE_PYRAMIDAL;
}
static int contact_rows(const Mechanism *mechanism, const mjContact *contact) {
  return contact->dim == 1 ? 1 : is_pyramid(mechanism, contact) ? 4 : 3;
}

/* Says which acceleration each row of a contact asks for at least. MuJoCo's own reference is a spring and damper of
 * many substeps, into which a part that arrives fast dives by centimetres. Ours is what brings the relative velocity at
 * the substep's end to what the gap allows: nearer by the gap and no more, out of a penetration slowly, and no slip.
 * Walls on a path have a velocity that MuJoCo does not know: the drift. Rows of a pyramid are the normal plus or minus
 * a direction of friction, and so are their velocities. */
static void set_references(Mechanism *mechanism, const PartContact *touch) {
  mjData *data = mechanism->data;
  const mjContact *contact = &data->contact[touch->contact];
  if (contact->efc_address < 0) return;
  double h = mechanism->model->opt.timestep, along[3];
  double wanted = touch->gap > 0 ? -touch->gap / h : fmin(PUSH_SPEED, -PUSH_SHARE * touch->gap / h);
  mju_mulMatVec(along, contact->frame, (double[3]){touch->drift.x, touch->drift.y, touch->drift.z}, 3, 3);
  bool pyramid = is_pyramid(mechanism, contact);
  for (int k = 0; k < contact_rows(mechanism, contact); k++) {
    int row = contact->efc_address + k;
    double wall = pyramid ? along[0] + (k % 2 ? -1 : 1) * contact->friction[k / 2] * along[1 + k / 2] : along[k];
    data->efc_aref[row] = ((k == 0 || pyramid ? wanted : 0) + wall - data->efc_vel[row]) / h;
  }
}

/* How parts move against each other at a contact, by the joints: of the second less of the first. */
static void contact_jacobian(const Mechanism *mechanism, const mjContact *contact, double *jacobian, double *other) {
  const mjModel *model = mechanism->model;
  mj_jac(model, mechanism->data, jacobian, NULL, contact->pos, model->geom_bodyid[mujoco_contact_geom(contact, 1)]);
  mj_jac(model, mechanism->data, other, NULL, contact->pos, model->geom_bodyid[mujoco_contact_geom(contact, 0)]);
  for (int v = 0; v < 3 * model->nv; v++) jacobian[v] -= other[v];
}

/* J M^-1 J^T of one direction at a contact; `row` gets J. */
static double mobility_along(const Mechanism *mechanism, const double *direction, const double *jacobian, double *row,
                             double *solved) {
  int nv = mechanism->model->nv;
  double mobility = 0;
  for (int v = 0; v < nv; v++)
    row[v] = direction[0] * jacobian[v] + direction[1] * jacobian[nv + v] + direction[2] * jacobian[2 * nv + v];
  mj_solveM(mechanism->model, mechanism->data, solved, row, 1);
  for (int v = 0; v < nv; v++) mobility += row[v] * solved[v];
  return mobility;
}

/* MuJoCo takes what a contact gives way by from the inverse mass of its bodies at their centres. A wheel whose centre
 * is on its hinge has none: the rows of its contacts would be as good as rigid, more of them than joints, and the solve
 * would end at any speed. So a contact gives way by its share of what the parts can move there in the direction in
 * which that is most. */
static void set_softness(Mechanism *mechanism, const PartContact *touch) {
  mjData *data = mechanism->data;
  const mjContact *contact = &data->contact[touch->contact];
  int nv = mechanism->model->nv, first = contact->efc_address;
  if (first < 0) return;
  double *jacobian = mechanism->rows, *other = mechanism->rows + 3 * nv, most = 0;
  contact_jacobian(mechanism, contact, jacobian, other);
  for (int axis = 0; axis < 3; axis++)
    most = fmax(most, mobility_along(mechanism, contact->frame + 3 * axis, jacobian, other, other + nv));
  double factor = GIVES_WAY / (1 - GIVES_WAY) * most / data->efc_R[first];
  for (int row = first; factor > 1 && row < first + contact_rows(mechanism, contact); row++) {
    data->efc_R[row] *= factor;
    data->efc_D[row] = 1 / data->efc_R[row];
  }
}

bool mechanism_add_contacts(Mechanism *mechanism, const State *state, double left) {
  const mjModel *model = mechanism->model;
  mjData *data = mechanism->data;
  int first = data->ncon;
  for (int32_t k = 0; k < mechanism->touch_count; k++) {
    mjContact contact;
    mechanism->touches[k].contact = -1;
    if (!make_contact(mechanism, state, &mechanism->touches[k], left, &contact)) continue;
    if (mj_addContact(model, data, &contact) == 0) mechanism->touches[k].contact = data->ncon - 1;
  }
  if (data->ncon == first) return false;
  mj_makeConstraint(model, data);
  for (int32_t k = 0; k < mechanism->touch_count; k++)
    if (mechanism->touches[k].contact >= 0) set_softness(mechanism, &mechanism->touches[k]);
  mujoco_project_constraints(model, data);
  mj_fwdVelocity(model, data);
  for (int32_t k = 0; k < mechanism->touch_count; k++)
    if (mechanism->touches[k].contact >= 0) set_references(mechanism, &mechanism->touches[k]);
  return true;
}

/* ---- resistance ---- */

/* Adds w J^T J of one direction at a contact to the matrix of the joints. */
static void resist_along(const Mechanism *mechanism, const double *direction, const double *jacobian, double *row,
                         double *solved, double *matrix) {
  const mjModel *model = mechanism->model;
  int nv = model->nv;
  double mobility = mobility_along(mechanism, direction, jacobian, row, solved);
  if (!(mobility > 1e-12)) return;
  for (int i = 0; i < nv; i++)
    for (int j = 0; j < nv; j++) matrix[i * nv + j] += CONTACT_RESISTANCE / mobility * row[i] * row[j];
}

void mechanism_resist_contacts(const Mechanism *mechanism, double *matrix) {
  const mjModel *model = mechanism->model;
  const mjData *data = mechanism->data;
  int nv = model->nv;
  double *jacobian = mechanism->rows, *other = mechanism->rows + 3 * nv, *row = mechanism->rows + 6 * nv;
  for (int k = 0; k < data->ncon; k++) {
    const mjContact *contact = &data->contact[k];
    double force[6];
    if (contact->efc_address < 0) continue;
    mj_contactForce(model, data, k, force);
    if (!(force[0] > 0)) continue;
    contact_jacobian(mechanism, contact, jacobian, other);
    bool sticks =
        contact->dim > 1 && sqrt(force[1] * force[1] + force[2] * force[2]) < 0.95 * contact->friction[0] * force[0];
    for (int axis = 0; axis < (sticks ? 3 : 1); axis++)
      resist_along(mechanism, contact->frame + 3 * axis, jacobian, row, row + nv, matrix);
  }
}

#else
typedef int mechanism_touch_is_not_built;
#endif
