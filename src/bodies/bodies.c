#include "bodies/bodies.h"

#include <stdio.h>
#include <string.h>

#include "bodies/bodies_kernels.h"
#include "bodies/parts.h"

/* ---- making solids ---- */

static Status name_solid(Core *core, const State *state, const ScreeSceneDef *scene, const SolidPlan *plan,
                         char name[SOLID_NAME_MAX]) {
  if (!plan->name || !plan->name[0]) {
    snprintf(name, SOLID_NAME_MAX, "%s_%d", plan->kind, (int)plan->number);
  } else if (strlen(plan->name) >= SOLID_NAME_MAX) {
    return fail_at(core, SCREE_BAD_INPUT, scene->file, plan->source, "name '%.40s...' is longer than %d letters",
                   plan->name, SOLID_NAME_MAX - 1);
  } else {
    snprintf(name, SOLID_NAME_MAX, "%s", plan->name);
  }
  if (solids_find(&state->solids, name) >= 0)
    return fail_at(core, SCREE_BAD_INPUT, scene->file, plan->source, "two boundaries or bodies are called '%s'", name);
  return SCREE_OK;
}

static Status make_shape(Core *core, const BodiesPlan *plan, const SolidPlan *solid_plan, Shape *shape) {
  const ScreeShapeDef *definition = solid_plan->shape;
  char path[SCREE_FILE_MAX];
  const char *file = NULL;
  if (definition->kind == SCREE_SHAPE_MESH && definition->mesh.file) {
    TRY(plan->resolve(plan->resolve_context, core, definition->mesh.file, definition->source, path, sizeof path));
    file = path;
  }
  return shape_create(core, definition, solid_plan->inside, file, plan->scene->file, shape);
}

Status bodies_add_solid(Core *core, Bodies *bodies, State *state, const BodiesPlan *plan, const SolidPlan *solid_plan,
                        Solid **solid) {
  const ScreeShapeDef *place = solid_plan->shape;
  const char *scene = plan->scene->file;
  char name[SOLID_NAME_MAX];
  TRY(name_solid(core, state, plan->scene, solid_plan, name));
  if (!vec3_finite(place->position) || !vec3_finite(vec3(place->rotation.x, place->rotation.y, place->rotation.z)) ||
      !isfinite(place->rotation.w))
    return fail_at(core, SCREE_BAD_INPUT, scene, solid_plan->source, "'%s' has no finite pose", name);
  TRY(memory_grow(core, &bodies->tracks, bodies->track_count + 1, "tracks"));
  Track *track = &bodies->tracks[bodies->track_count];
  TRY(track_create(core, solid_plan->keys, solid_plan->key_count, scene, track));
  bodies->track_count++;

  Shape shape = {0};
  TRY(make_shape(core, plan, solid_plan, &shape));
  Status status = solids_add(core, &state->solids, solid);
  if (status != SCREE_OK) {
    shape_destroy(core, &shape);
    return status;
  }
  Solid *made = *solid;
  snprintf(made->name, sizeof made->name, "%s", name);
  made->shape = shape;
  made->motion = solid_plan->motion;
  made->contact = solid_plan->contact;
  made->friction_static = solid_plan->friction_static;
  made->friction_kinetic = solid_plan->friction_kinetic;
  made->stiffness_n = solid_plan->stiffness_n;
  made->restitution = solid_plan->restitution;
  made->source = solid_plan->source;
  made->position = place->position;
  made->rotation = quat_normalize(place->rotation);
  if (shape.mass.volume > 0 && vec3_finite(shape.mass.center)) made->center_in_shape = shape.mass.center;
  if (track->count > 0) {
    ScreePose start = track_pose(track, state->time);
    made->position = start.position;
    made->rotation = start.rotation;
  }
  solid_refresh(made);
  return SCREE_OK;
}

/* Mass and inertia of a free body; an error when its shape cannot have any. */
static Status weigh(Core *core, const ScreeSceneDef *scene, const ScreeBodyDef *definition, Solid *solid) {
  const MassProperties *unit = &solid->shape.mass;
  if (!(unit->volume > 0) || !isfinite(unit->volume))
    return fail_at(core, SCREE_BAD_INPUT, scene->file, definition->source,
                   "free body '%s' has a shape that encloses nothing (volume %g m^3): it has no mass", solid->name,
                   unit->volume);
  solid->mass = scree_is_auto(definition->mass) ? definition->density * unit->volume : definition->mass;
  if (!(solid->mass > 0) || !isfinite(solid->mass))
    return fail_at(core, SCREE_BAD_INPUT, scene->file, definition->source, "free body '%s' has the mass %g kg",
                   solid->name, solid->mass);
  solid->inertia = mat3_scale(unit->inertia, solid->mass / unit->volume);
  double moments[3];
  Mat3 axes, inverse;
  mat3_eigen_symmetric(solid->inertia, moments, &axes);
  if (!(moments[0] > 0) || !isfinite(moments[2]) || !mat3_invert(solid->inertia, &inverse))
    return fail_at(core, SCREE_BAD_INPUT, scene->file, definition->source,
                   "free body '%s' has no usable inertia (moments %g, %g, %g kg m^2): is its mesh closed?", solid->name,
                   moments[0], moments[1], moments[2]);
  return SCREE_OK;
}

/* Whatever a step leaves of the balance of forces moves what weighs next to nothing at once across the sand. */
static void weigh_least(Core *core, const Bodies *bodies, Solid *solid) {
  if (solid->motion != MOTION_FREE || solid->mass >= bodies->least_mass) return;
  log_line(core, SCREE_LOG_WARNING,
           "body '%s' weighs %.3g kg, too little for these grains: it is taken to weigh %.3g kg", solid->name,
           solid->mass, bodies->least_mass);
  solid->inertia = mat3_scale(solid->inertia, bodies->least_mass / solid->mass);
  solid->mass = bodies->least_mass;
  solid_refresh(solid);
}

void bodies_weigh_least(Core *core, Bodies *bodies, State *state, double least) {
  bodies->least_mass = least;
  for (int32_t k = 0; k < state->solids.count; k++) weigh_least(core, bodies, &state->solids.items[k]);
}

static Status add_body(Core *core, Bodies *bodies, State *state, const BodiesPlan *plan, const ScreeBodyDef *definition,
                       int32_t number) {
  static const Motion motions[] = {MOTION_FREE, MOTION_KEYFRAMES, MOTION_FIXED};
  Motion motion = motions[definition->motion];
  if (motion == MOTION_KEYFRAMES && definition->key_count <= 0)
    return fail_at(core, SCREE_BAD_INPUT, plan->scene->file, definition->source,
                   "body with motion: keyframes has no keys");
  if (motion != MOTION_KEYFRAMES && definition->key_count > 0 &&
      definition->source.line == 0) /* files: said by the reader */
    log_warning_at(core, plan->scene->file, definition->source, "keys are read only with motion: keyframes");
  SolidPlan body = {.name = definition->name,
                    .kind = "body",
                    .number = number,
                    .source = definition->source,
                    .shape = &definition->shape,
                    .motion = motion,
                    .contact = definition->contact,
                    .friction_static = definition->friction_static,
                    .friction_kinetic = definition->friction_kinetic,
                    .stiffness_n = definition->stiffness_n,
                    .restitution = definition->restitution,
                    .keys = definition->keys,
                    .key_count = motion == MOTION_KEYFRAMES ? definition->key_count : 0};
  Solid *solid = NULL;
  TRY(bodies_add_solid(core, bodies, state, plan, &body, &solid));
  if (motion != MOTION_FREE) return SCREE_OK;
  if (!vec3_finite(definition->velocity) || !vec3_finite(definition->spin))
    return fail_at(core, SCREE_BAD_INPUT, plan->scene->file, definition->source, "'%s' has no finite velocity",
                   solid->name);
  TRY(weigh(core, plan->scene, definition, solid));
  solid->velocity = definition->velocity;
  solid->spin = definition->spin;
  solid_refresh(solid);
  weigh_least(core, bodies, solid);
  return SCREE_OK;
}

static Status fill_table(Core *core, Bodies *bodies, State *state, const BodiesPlan *plan) {
  TRY(boundaries_add(core, bodies, state, plan));
  for (int32_t k = 0; k < plan->scene->body_count; k++)
    TRY(add_body(core, bodies, state, plan, &plan->scene->bodies[k], k + 1));
  if (plan->scene->mechanism) TRY(mechanism_create(core, state, plan, &bodies->mechanism));
  return SCREE_OK;
}

Status bodies_create(Core *core, State *state, const BodiesPlan *plan, Bodies **bodies) {
  *bodies = NULL;
  Bodies *made;
  TRY(memory_new(core, &made, 1, "bodies"));
  bodies_couple(made, COUPLING_EXPLICIT, SURFACE_DISPLACEMENT);
  Status status = fill_table(core, made, state, plan);
  if (status == SCREE_OK && made->mechanism) status = mechanism_touch_create(core, made->mechanism, state);
  if (status == SCREE_OK) status = rigid_contacts_create(core, state, made->mechanism, &made->contacts);
  if (status == SCREE_OK) status = bodies_refresh(core, made, state, 0);
  if (status != SCREE_OK) bodies_destroy(core, made);
  else *bodies = made;
  return status;
}

void bodies_destroy(Core *core, Bodies *bodies) {
  if (!bodies) return;
  for (int32_t k = 0; k < bodies->track_count; k++) track_destroy(core, &bodies->tracks[k]);
  memory_drop(core, &bodies->tracks);
  rigid_contacts_destroy(core, &bodies->contacts);
  mechanism_destroy(core, bodies->mechanism);
  memory_drop(core, &bodies);
}

void bodies_drop_last(Core *core, Bodies *bodies, State *state) {
  Solid *last = &state->solids.items[--state->solids.count];
  shape_destroy(core, &last->shape);
  if (bodies->track_count > state->solids.count) track_destroy(core, &bodies->tracks[--bodies->track_count]);
  if (bodies->contacts.solid_count > state->solids.count) bodies->contacts.solid_count = state->solids.count;
  if (bodies->mechanism) mechanism_touch_cut(bodies->mechanism, state->solids.count);
}

Status bodies_add(Core *core, Bodies *bodies, State *state, const BodiesPlan *plan, const ScreeBodyDef *definition) {
  int32_t before = state->solids.count;
  /* Parts of the mechanism get tracks that say nothing, so that the new one's stands at its own place. */
  TRY(memory_grow(core, &bodies->tracks, before + 1, "tracks"));
  bodies->track_count = before;
  Status status = add_body(core, bodies, state, plan, definition, before + 1);
  RigidContacts contacts = {0};
  if (status == SCREE_OK && bodies->mechanism) status = mechanism_touch_create(core, bodies->mechanism, state);
  if (status == SCREE_OK) status = rigid_contacts_create(core, state, bodies->mechanism, &contacts);
  if (status == SCREE_OK) {
    rigid_contacts_destroy(core, &bodies->contacts);
    bodies->contacts = contacts;
    return SCREE_OK;
  }
  rigid_contacts_destroy(core, &contacts);
  if (state->solids.count > before) bodies_drop_last(core, bodies, state);
  else if (bodies->track_count > before) track_destroy(core, &bodies->tracks[--bodies->track_count]);
  return status;
}

int32_t bodies_find(const Bodies *bodies, const State *state, const char *name) {
  int32_t solid = solids_find(&state->solids, name);
  return solid < 0 && bodies->mechanism ? mechanism_find_geom(bodies->mechanism, name) : solid;
}

/* ---- motion ---- */

/* Moves a keyframed solid to its pose at the end of the step, with the velocities that bring it there. */
static void follow_track(const Track *track, Solid *solid, double time, double dt) {
  Vec3 old_center = solid->center;
  Quat old_rotation = solid->rotation;
  ScreePose pose = track_pose(track, time + dt);
  solid->position = pose.position;
  solid->rotation = pose.rotation;
  solid_refresh(solid);
  if (!(dt > 0)) return;
  solid->velocity = vec3_scale(vec3_sub(solid->center, old_center), 1 / dt);
  solid->spin = vec3_scale(quat_to_vector(quat_mul(solid->rotation, quat_conjugate(old_rotation))), 1 / dt);
}

Status bodies_refresh(Core *core, Bodies *bodies, State *state, double dt) {
  for (int32_t k = 0; k < bodies->track_count; k++) {
    Solid *solid = &state->solids.items[k];
    if (solid->motion != MOTION_FREE && track_moves(&bodies->tracks[k]))
      follow_track(&bodies->tracks[k], solid, state->time, dt);
    else solid_refresh(solid);
  }
  return bodies->mechanism ? mechanism_refresh(core, bodies->mechanism, state, dt) : SCREE_OK;
}

/* Of grains and of all solids but one, m/s. */
static double fastest_round(const State *state, const Solid *body, Core *core) {
  /* It is rarely asked. A device that cannot say has failed, and the next that it is asked for says so. */
  if (state->mirror && mirror_fetch(core, state->mirror, &state->particles, SET_V) != SCREE_OK) return 0;
  double fastest = particles_fastest(&state->particles);
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    if (solid != body) fastest = fmax(fastest, solid_surface_speed(solid, solid->velocity, solid->spin));
  }
  return fastest;
}

/* Down to the smallest share that matters of the largest wrench there is. */
enum { SHARE_BISECTIONS = 60 };

/* The speed at which the solid would have the kinetic energy of that motion (centre, spin) without turning: a hit that
 * does not bounce makes it no larger, while it may well make some point of the surface faster. */
static double speed_of_energy(const Solid *solid, const double motion[6]) {
  Vec3 velocity = vec3_of(motion), spin = quat_rotate(quat_conjugate(solid->rotation), vec3_of(motion + 3));
  double turning = solid->mass > 0 ? vec3_dot(spin, mat3_apply(&solid->inertia, spin)) / solid->mass : 0;
  return sqrt(vec3_dot(velocity, velocity) + turning);
}

/* The share of a change of motion after which the solid is no faster than `most`. */
static double share_within(const Solid *solid, const double motion[6], const double change[6], double most) {
  double low = 0, high = 1;
  for (int k = 0; k <= SHARE_BISECTIONS && low < 1; k++) {
    double share = k == 0 ? 1 : 0.5 * (low + high), after[6];
    for (int i = 0; i < 6; i++) after[i] = motion[i] + share * change[i];
    if (speed_of_energy(solid, after) > most) high = share;
    else low = share;
  }
  return low;
}

/* What a solid's motion would be at the end of the step without any grains. */
static void motion_without_grains(const State *state, const Solid *solid, double dt, double motion[6]) {
  const Vec3 now[2] = {solid->velocity, solid->spin}, force = solid->outside_force, torque = solid->outside_torque;
  const double load[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
  double other[6];
  if (solid->motion == MOTION_MECHANISM) memcpy(other, solid->driven, sizeof other);
  else solid_apply_mobility(solid, load, other);
  for (int i = 0; i < 6; i++) {
    if (i < 3 && solid->motion == MOTION_FREE) other[i] += vec3_get(state->gravity, i);
    motion[i] = vec3_get(now[i / 3], i % 3) + dt * other[i];
  }
}

/* How much of the acceleration by grains a solid may have: all of it, or less than 1. */
static double applied_share(const State *state, const Solid *solid, const double acceleration[6],
                            const WrenchRule *rule) {
  double dt = rule->dt;
  if (rule->coupling == COUPLING_EXPLICIT) {
    double found = solid_surface_speed(solid, vec3_of(acceleration), vec3_of(acceleration + 3));
    double most = 2 * state->radius / (rule->longest_step * rule->longest_step);
    return found > most ? most / found : 1;
  }
  const Vec3 now[2] = {solid->velocity, solid->spin};
  double before[6], motion[6], change[6];
  motion_without_grains(state, solid, dt, motion);
  for (int i = 0; i < 6; i++) {
    before[i] = vec3_get(now[i / 3], i % 3);
    change[i] = dt * acceleration[i];
  }
  double most = fmax(speed_of_energy(solid, before), speed_of_energy(solid, motion));
  if (share_within(solid, motion, change, most) >= 1) return 1;
  return share_within(solid, motion, change, fmax(most, fastest_round(state, solid, rule->core)));
}

bool solid_applied_wrench(State *state, const Solid *solid, const WrenchRule *rule, Vec3 *force, Vec3 *torque) {
  *force = wrench_force(solid);
  *torque = wrench_torque(solid);
  if (!(state->radius > 0) || !(rule->longest_step > 0)) return true;
  double parts[6], acceleration[6];
  for (int i = 0; i < 6; i++) parts[i] = wrench_get(solid, i);
  solid_apply_mobility(solid, parts, acceleration);
  double share = applied_share(state, solid, acceleration, rule);
  if (share >= 1) return true;
  *force = vec3_scale(*force, share);
  *torque = vec3_scale(*torque, share);
  state_count(state, "wrench_limited", 1);
  return false;
}

/* A body that something else stops too goes where its velocities at the step's end bring it: its means over the step
 * know nothing of that. */
static void forget_gain(Solid *solid) { solid->velocity_gain = solid->spin_gain = vec3(0, 0, 0); }

Status bodies_advance(Core *core, Bodies *bodies, State *state, double dt) {
  if (!(dt > 0)) return SCREE_OK;
  bodies->longest_step = fmax(bodies->longest_step, dt);
  const WrenchRule rule = {.core = core, .coupling = bodies->coupling, .dt = dt, .longest_step = bodies->longest_step};
  for (int32_t k = 0; k < bodies->track_count; k++) {
    Solid *solid = &state->solids.items[k];
    if (solid->motion != MOTION_FREE) continue;
    Vec3 force, torque;
    if (!solid_applied_wrench(state, solid, &rule, &force, &torque)) forget_gain(solid);
    rigid_kick(solid, state->gravity, vec3_add(force, solid->outside_force), vec3_add(torque, solid->outside_torque),
               dt);
  }
  TRY(rigid_contacts_solve(core, &bodies->contacts, state, dt));
  for (int32_t k = 0; k < bodies->track_count; k++) {
    Solid *solid = &state->solids.items[k];
    if (solid->motion != MOTION_FREE) continue;
    if (rigid_contacts_pushed(&bodies->contacts, k)) forget_gain(solid);
    TRY(rigid_drift(core, solid, dt));
  }
  if (!bodies->mechanism) return SCREE_OK;
  return mechanism_advance(core, bodies->mechanism, state, &bodies->contacts, &rule);
}

/* Of any of a body's samples, m/s. */
static double fastest_sample(const Core *core, const State *state, const Solid *solid) {
  Quat back = quat_conjugate(solid->rotation);
  LocalMotion motion = {.center = solid->center_in_shape,
                        .velocity = quat_rotate(back, solid->velocity),
                        .spin = quat_rotate(back, solid->spin)};
  return sqrt(
      KERNEL_CALL(core, bodies_fastest_sample)(&state->samples, solid->sample_begin, solid->sample_end, &motion));
}

static double speed_of_point(Vec3 velocity, Vec3 spin, Vec3 arm) {
  return vec3_length(vec3_add(velocity, vec3_cross(spin, arm)));
}

/* Of any point of its surface, m/s. Its speed is a convex function of the place: largest at a vertex of a mesh, and no
 * larger anywhere in a box than at a corner. (The distance to a corner times the spin would be 1.7 times as much for a
 * wheel as wide as it is high: it turns about its axis.) */
static double fastest_point(const Solid *solid) {
  const Shape *shape = &solid->shape;
  Quat back = quat_conjugate(solid->rotation);
  Vec3 v = quat_rotate(back, solid->velocity), spin = quat_rotate(back, solid->spin), center = solid->center_in_shape;
  double fastest = 0;
  if (shape->kind == SCREE_SHAPE_SPHERE)
    return speed_of_point(v, spin, vec3_sub(shape->low, center)) + vec3_length(spin) * shape->radius;
  if (shape->kind == SCREE_SHAPE_MESH) {
    for (int64_t k = 0; k < shape->mesh.vertex_count; k++)
      fastest = fmax(fastest, speed_of_point(v, spin, vec3_sub(shape->mesh.vertices[k], center)));
    return fastest;
  }
  Vec3 low = vec3_sub(shape->bounds_low, center), high = vec3_sub(shape->bounds_high, center);
  for (int c = 0; c < 8; c++)
    fastest = fmax(
        fastest, speed_of_point(v, spin, vec3(c & 1 ? high.x : low.x, c & 2 ? high.y : low.y, c & 4 ? high.z : low.z)));
  return fastest;
}

/* Samples go as far as grains in a step, in radii. */
#define SAMPLE_DISPLACEMENT 1.0

void bodies_couple(Bodies *bodies, SolidCoupling coupling, double displacement) {
  bodies->coupling = coupling;
  bodies->displacement = displacement;
}

double bodies_largest_step(const Core *core, const Bodies *bodies, const State *state, double longest) {
  if (!(state->radius > 0)) return longest;
  double step = longest, allowed = bodies->displacement * state->radius;
  for (int32_t k = 0; k < state->solids.count; k++) {
    const Solid *solid = &state->solids.items[k];
    if (solid->motion == MOTION_FREE && solid_is_sampled(solid) && bodies->coupling == COUPLING_EXPLICIT) {
      double most = solid_surface_speed(solid, solid->velocity, solid->spin) * (1 + 1e-6); /* samples are floats */
      double far = SAMPLE_DISPLACEMENT * state->radius;
      double speed = most * step > far ? fastest_sample(core, state, solid) : 0;
      if (speed > 0) step = fmin(step, far / speed);
    } else if (solid->motion == MOTION_FREE || solid->motion == MOTION_MECHANISM) {
      double speed = solid_surface_speed(solid, solid->velocity, solid->spin);
      if (speed * step > allowed && solid->shape.kind != SCREE_SHAPE_PLANE) speed = fastest_point(solid);
      if (speed > 0) step = fmin(step, allowed / speed);
    } else if (k < bodies->track_count && track_moves(&bodies->tracks[k])) {
      double extent = solid_extent(solid, vec3(0, 0, 0));
      step = fmin(step, track_largest_step(&bodies->tracks[k], state->time, extent, allowed));
    }
  }
  return step;
}

/* ---- requests of the API ---- */

static Status solid_of(Core *core, const State *state, int32_t index, Solid **solid) {
  if (index < 0 || index >= state->solids.count)
    return fail(core, SCREE_BAD_ARGUMENT, "there is no body %d", (int)index + 1);
  *solid = &state->solids.items[index];
  return SCREE_OK;
}

static Status refuse_mechanism(Core *core, const Bodies *bodies, int32_t index, const Solid *solid) {
  if (!mechanism_owns(bodies->mechanism, index)) return SCREE_OK;
  return fail(core, SCREE_BAD_ARGUMENT, "'%s' is part of the mechanism: its motors move it", solid->name);
}

Status bodies_set_pose(Core *core, Bodies *bodies, State *state, int32_t index, ScreePose pose, double over) {
  Solid *solid = NULL;
  TRY(solid_of(core, state, index, &solid));
  TRY(refuse_mechanism(core, bodies, index, solid));
  double square = pose.rotation.w * pose.rotation.w + pose.rotation.x * pose.rotation.x +
                  pose.rotation.y * pose.rotation.y + pose.rotation.z * pose.rotation.z;
  if (!vec3_finite(pose.position) || !isfinite(square) || !(square > 1e-12) || !isfinite(over))
    return fail(core, SCREE_BAD_ARGUMENT, "the pose for '%s' is not finite", solid->name);
  if (solid->motion != MOTION_FREE) {
    track_drive(&bodies->tracks[index], state->time, (ScreePose){solid->position, solid->rotation}, pose, over);
    return SCREE_OK;
  }
  solid->position = pose.position;
  solid->rotation = quat_normalize(pose.rotation);
  solid_refresh(solid);
  return SCREE_OK;
}

Status bodies_set_velocity(Core *core, Bodies *bodies, State *state, int32_t index, Vec3 velocity, Vec3 spin) {
  Solid *solid = NULL;
  TRY(solid_of(core, state, index, &solid));
  TRY(refuse_mechanism(core, bodies, index, solid));
  if (solid->motion != MOTION_FREE)
    return fail(core, SCREE_BAD_ARGUMENT, "'%s' is not free: set its pose instead", solid->name);
  if (!vec3_finite(velocity) || !vec3_finite(spin))
    return fail(core, SCREE_BAD_ARGUMENT, "the velocity for '%s' is not finite", solid->name);
  solid->velocity = velocity;
  solid->spin = spin;
  return SCREE_OK;
}

Status bodies_set_force(Core *core, Bodies *bodies, State *state, int32_t index, Vec3 force, Vec3 torque) {
  (void)bodies;
  Solid *solid = NULL;
  TRY(solid_of(core, state, index, &solid));
  if (!vec3_finite(force) || !vec3_finite(torque))
    return fail(core, SCREE_BAD_ARGUMENT, "the force for '%s' is not finite", solid->name);
  solid->outside_force = force;
  solid->outside_torque = torque;
  return SCREE_OK;
}

int32_t bodies_control_count(const Bodies *bodies) {
  return bodies->mechanism ? mechanism_control_count(bodies->mechanism) : 0;
}

Status bodies_control(const Bodies *bodies, int32_t control, const char **name, double *value, double *low,
                      double *high) {
  if (control < 0 || control >= bodies_control_count(bodies)) return SCREE_BAD_ARGUMENT;
  mechanism_control(bodies->mechanism, control, name, value, low, high);
  return SCREE_OK;
}

Status bodies_set_control(Core *core, Bodies *bodies, int32_t control, double value) {
  if (control < 0 || control >= bodies_control_count(bodies))
    return fail(core, SCREE_BAD_ARGUMENT, "there is no control %d", (int)control + 1);
  if (!isfinite(value))
    return fail(core, SCREE_BAD_ARGUMENT, "the value for control %d is not finite", (int)control + 1);
  mechanism_set_control(bodies->mechanism, control, value);
  return SCREE_OK;
}

void bodies_release_control(Bodies *bodies, int32_t control) {
  if (control >= 0 && control < bodies_control_count(bodies)) mechanism_release_control(bodies->mechanism, control);
}

uint64_t bodies_contents(const Bodies *bodies) { return bodies->mechanism ? mechanism_contents(bodies->mechanism) : 0; }

Status bodies_archive(Core *core, Archive *archive, Bodies *bodies, State *state) {
  TRY(archive_section(core, archive, "bodies"));
  TRY(archive_value(core, archive, &bodies->longest_step));
  if (!isfinite(bodies->longest_step)) return archive_bad(core, archive, "length of a step is not finite");
  int64_t count = bodies->track_count;
  TRY(archive_count(core, archive, &count, 1));
  if (count != bodies->track_count) return archive_bad(core, archive, "checkpoint has another number of bodies");
  for (int32_t k = 0; k < bodies->track_count; k++) TRY(track_archive(core, archive, &bodies->tracks[k]));
  return bodies->mechanism ? mechanism_archive(core, archive, bodies->mechanism, state, bodies->longest_step)
                           : SCREE_OK;
}
