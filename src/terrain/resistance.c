/* The force that the ground gives back to a body.
 *
 * Every element of a body's surface that moves into the ground meets at most the pressure at which the ground yields,
 *     p = K(n) rho g z + N_c c + rho v_n^2,
 * with the depth z below the ground round the contact, the bulk density rho of the column, the cohesion c, the speed
 * v_n into the ground, and a factor for the direction n in which the element looks: down, Terzaghi's bearing factor
 * N_q = exp(pi tan phi) tan^2(45 + phi/2); sideways, the passive earth pressure K_p = tan^2(45 + phi/2); up, the weight
 * on it alone; in between by the square of the cosine. The last term is the momentum of what is thrown aside: it stops
 * what falls. Friction is Coulomb's on top of that.
 *
 * Like friction, this pressure is a bound, not a spring: the ground takes as much of it as stops the motion. Impulses
 * of all elements are scaled together such that they never do more than stop the body along themselves, so that they
 * only take energy, for any step, and a body comes to rest where its weight is borne. The paper lets the columns carry
 * the weight and no more. Parts of a mechanism are one body here that moves in many ways: each in turn is stopped with
 * what all of them then do, by the mobility of one part under forces on another. */
#include <stdlib.h>
#include <string.h>

#include "core/portable.h"
#include "terrain/parts.h"

enum { ROUNDS = 6, ROUNDS_TOGETHER = 24, PIECES_MAX = 200000 };
#define LOOK_AHEAD 0.75    /* cells: where ground is looked for in front of an element */
#define HARD_PRESSURE 1e9  /* Pa, of the ground below the columns */
#define SINKING_SPEED 1e-6 /* m/s: slower is at rest */
#define CREEP_SPEED 1e-3   /* m/s: driven bodies slower than this meet a share of the pressure */

void ground_law_create(const ScreeMaterialDef *material, SoilLaw *law) {
  double phi = material->friction_angle_deg * M_PI / 180, half = portable_tan(M_PI / 4 + phi / 2);
  law->passive = half * half;
  law->bearing = portable_exp(M_PI * portable_tan(phi)) * law->passive;
  law->cohesion_factor = phi > 1e-6 ? (law->bearing - 1) / portable_tan(phi) : 2 + M_PI;
  law->cohesion = material->cohesion;
  law->inertia = 1;
}

double ground_pressure(const SoilLaw *law, double bulk, double gravity, double depth, Vec3 normal, double speed) {
  double upright = normal.z * normal.z, steep = normal.z < 0 ? law->bearing : 1;
  double factor = law->passive + (steep - law->passive) * upright;
  double v = fmax(speed, 0);
  return factor * bulk * gravity * depth + law->cohesion_factor * law->cohesion * (normal.z < 0 ? upright : 0) +
         law->inertia * bulk * v * v;
}

/* An element in touch with the ground. */
struct GroundTouch {
  Vec3 point, normal; /* world */
  double most, taken; /* impulse along the normal, N s */
  double bulk, depth, area;
  bool hard;
  Vec3 friction; /* impulse so far */
};
typedef struct GroundTouch Touch;

/* ---- elements ---- */

typedef struct Piece {
  int64_t key;
  Vec3 point, normal; /* times area */
  double area;
} Piece;

static int by_key(const void *a, const void *b) {
  const Piece *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->point.x != y->point.x) return x->point.x < y->point.x ? -1 : 1;
  if (x->point.y != y->point.y) return x->point.y < y->point.y ? -1 : 1;
  return x->point.z < y->point.z ? -1 : x->point.z > y->point.z;
}

/* Pieces in the same cube of the space that look the same way are one element. */
static int64_t piece_key(Vec3 point, Vec3 normal, Vec3 low, double cell) {
  int64_t key = 0;
  for (int axis = 0; axis < 3; axis++) {
    int64_t at = (int64_t)((vec3_get(point, axis) - vec3_get(low, axis)) / cell);
    int64_t side = vec3_get(normal, axis) > 0.5 ? 2 : vec3_get(normal, axis) < -0.5 ? 1 : 0;
    key = (key * 16384 + (at < 16384 ? at : 16383)) * 3 + side;
  }
  return key;
}

/* Cuts a triangle into cuts^2 like ones. */
static void cut_triangle(const Mesh *mesh, int64_t triangle, int cuts, Vec3 low, double cell, Piece *pieces) {
  const int32_t *corner = mesh->triangles[triangle];
  Vec3 a = mesh->vertices[corner[0]], u = vec3_scale(vec3_sub(mesh->vertices[corner[1]], a), 1.0 / cuts),
       v = vec3_scale(vec3_sub(mesh->vertices[corner[2]], a), 1.0 / cuts), cross = vec3_cross(u, v);
  double area = 0.5 * vec3_length(cross);
  Vec3 normal = vec3_normalize(cross);
  for (int i = 0; i < cuts; i++)
    for (int j = 0; i + j < cuts; j++)
      for (int half = 0; half < (i + j + 1 < cuts ? 2 : 1); half++) {
        double third = half ? 2.0 / 3 : 1.0 / 3;
        Vec3 point = vec3_madd(vec3_madd(a, u, i + third), v, j + third);
        *pieces++ =
            (Piece){piece_key(point, normal, low, cell), vec3_scale(point, area), vec3_scale(normal, area), area};
      }
}

static double longest_edge(const Mesh *mesh, int64_t triangle) {
  const int32_t *c = mesh->triangles[triangle];
  double longest = 0;
  for (int n = 0; n < 3; n++)
    longest = fmax(longest, vec3_length(vec3_sub(mesh->vertices[c[n]], mesh->vertices[c[(n + 1) % 3]])));
  return longest;
}

static Status cut_surface(Core *core, const Mesh *mesh, Vec3 low, double cell, Piece **pieces, int64_t *count) {
  double size = 0.5 * cell;
  for (;; size *= 1.5) { /* coarser where there would be too many */
    *count = 0;
    for (int64_t n = 0; n < mesh->triangle_count; n++) {
      double cuts = ceil(longest_edge(mesh, n) / size);
      *count += cuts < 1e4 ? (int64_t)(cuts * cuts) + (cuts < 1) : PIECES_MAX;
    }
    if (*count < PIECES_MAX || size > 1e3 * cell + longest_edge(mesh, 0)) break;
  }
  TRY(memory_new(core, pieces, *count, "surface pieces"));
  int64_t at = 0;
  for (int64_t n = 0; n < mesh->triangle_count; n++) {
    int cuts = (int)fmax(1, ceil(longest_edge(mesh, n) / size));
    if (at + (int64_t)cuts * cuts > *count) break;
    cut_triangle(mesh, n, cuts, low, cell, *pieces + at);
    at += (int64_t)cuts * cuts;
  }
  *count = at;
  qsort(*pieces, (size_t)*count, sizeof **pieces, by_key);
  return SCREE_OK;
}

static Status create_elements(Core *core, Shape *shape, double cell, BodySurface *surface) {
  TRY(shape_make_surface(core, shape, 0));
  Piece *pieces = NULL;
  int64_t count = 0;
  TRY(cut_surface(core, &shape->mesh, shape->bounds_low, cell, &pieces, &count));
  Status status = memory_new(core, &surface->elements, count, "surface elements");
  for (int64_t n = 0; status == SCREE_OK && n < count;) {
    Piece sum = {.key = pieces[n].key};
    for (; n < count && pieces[n].key == sum.key; n++) {
      sum.point = vec3_add(sum.point, pieces[n].point);
      sum.normal = vec3_add(sum.normal, pieces[n].normal);
      sum.area += pieces[n].area;
    }
    double length = vec3_length(sum.normal);
    if (!(length > 0)) continue;
    surface->elements[surface->count++] =
        (Element){vec3_scale(sum.point, 1 / sum.area), vec3_scale(sum.normal, 1 / length), sum.area};
  }
  memory_drop(core, &pieces);
  surface->felt = status == SCREE_OK;
  return status;
}

Status ground_follow_solids(Core *core, Ground *ground, State *state) {
  TRY(memory_grow(core, &ground->surfaces, state->solids.count, "surface elements"));
  for (; ground->surface_count < state->solids.count; ground->surface_count++) {
    int32_t k = ground->surface_count;
    ground->surfaces[k] = (BodySurface){0};
    Shape *shape = &state->solids.items[k].shape;
    bool solid = shape->kind != SCREE_SHAPE_HEIGHTFIELD && shape->kind != SCREE_SHAPE_PLANE && !shape->inside;
    if (solid) TRY(create_elements(core, shape, state->terrain->cell, &ground->surfaces[k]));
  }
  int64_t most = 1; /* parts of a mechanism are looked at together */
  for (int32_t k = 0; k < ground->surface_count; k++) most += ground->surfaces[k].count;
  return memory_grow(core, &ground->touches, most, "touched elements");
}

/* ---- impulses ---- */

typedef struct Motion6 {
  double v[6]; /* velocity of the centre, spin */
} Motion6;

/* What moves together: one body, or all parts of a mechanism. */
typedef struct Moving {
  const State *state;
  int32_t first, count;   /* solids */
  const double *mobility; /* of one on another; NULL: a body alone */
  Motion6 *motions;       /* one each, at the step's end */
} Moving;

static Vec3 velocity_at(const Motion6 *motion, const Solid *solid, Vec3 point) {
  Vec3 spin = vec3(motion->v[3], motion->v[4], motion->v[5]);
  return vec3_add(vec3(motion->v[0], motion->v[1], motion->v[2]), vec3_cross(spin, vec3_sub(point, solid->center)));
}

static void add_impulse(double sum[6], const Solid *solid, Vec3 impulse, Vec3 point) {
  Vec3 turn = vec3_cross(vec3_sub(point, solid->center), impulse);
  const double parts[6] = {impulse.x, impulse.y, impulse.z, turn.x, turn.y, turn.z};
  for (int n = 0; n < 6; n++) sum[n] += parts[n];
}

/* How a member moves by impulses on another. */
static void change_by(const Moving *moving, int32_t member, int32_t on, const double impulse[6], double change[6]) {
  if (!moving->mobility) {
    solid_apply_mobility(&moving->state->solids.items[moving->first], impulse, change);
    return;
  }
  int64_t all = 6 * (int64_t)moving->count;
  for (int i = 0; i < 6; i++) {
    const double *row = moving->mobility + (6 * member + i) * all + 6 * on;
    change[i] = 0;
    for (int j = 0; j < 6; j++) change[i] += row[j] * impulse[j];
  }
}

/* The share of these impulses on a member that stops its motion along them, at most 1; all members take it up. */
static double apply_share(Moving *moving, int32_t member, const double impulse[6]) {
  double change[6], along = 0, yields = 0;
  change_by(moving, member, member, impulse, change);
  for (int i = 0; i < 6; i++) {
    along += impulse[i] * moving->motions[member].v[i];
    yields += impulse[i] * change[i];
  }
  if (!(along < 0)) return 0;
  double share = yields > 0 ? fmin(1, -along / yields) : 1;
  for (int32_t k = 0; k < moving->count; k++) {
    change_by(moving, k, member, impulse, change);
    for (int i = 0; i < 6; i++) moving->motions[k].v[i] += share * change[i];
  }
  return share;
}

/* How all would move over the step without the ground. */
static void free_motion(Moving *moving, double dt) {
  const Solid *solids = &moving->state->solids.items[moving->first];
  for (int32_t k = 0; k < moving->count; k++) {
    const Solid *solid = &solids[k];
    moving->motions[k] = (Motion6){
        {solid->velocity.x, solid->velocity.y, solid->velocity.z, solid->spin.x, solid->spin.y, solid->spin.z}};
    for (int i = 0; i < 3 && solid->motion == MOTION_FREE; i++)
      moving->motions[k].v[i] += vec3_get(moving->state->gravity, i) * dt;
    for (int i = 0; i < 6 && solid->motion == MOTION_MECHANISM; i++) moving->motions[k].v[i] += solid->driven[i] * dt;
  }
  for (int32_t on = 0; on < moving->count; on++) {
    const Solid *solid = &solids[on];
    Vec3 force = vec3_add(wrench_force(solid), solid->outside_force);
    Vec3 torque = vec3_add(wrench_torque(solid), solid->outside_torque);
    const double push[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
    for (int32_t k = 0; k < moving->count; k++) {
      double change[6];
      change_by(moving, k, on, push, change);
      for (int i = 0; i < 6; i++) moving->motions[k].v[i] += change[i] * dt;
    }
  }
}

/* Whether ground lies in front of the element, and how deep the element is in it. */
static bool find_touch(const State *state, const Solid *solid, const Mat3 *turn, const Element *element, Touch *touch) {
  const Terrain *t = state->terrain;
  const Heightfield *field = ground_field(state);
  Vec3 point = vec3_add(mat3_apply(turn, element->point), solid->position);
  if (point.z - t->origin.z > field->highest) return false;
  Vec3 normal = mat3_apply(turn, element->normal);
  Vec3 at = vec3_sub(point, t->origin);
  Vec3 ahead = vec3_madd(at, normal, LOOK_AHEAD * t->cell);
  if (!(ahead.x >= 0 && ahead.y >= 0 && ahead.x <= heightfield_size_x(field) && ahead.y <= heightfield_size_y(field)))
    return false;
  int64_t k = column_of(t, ahead.x, ahead.y);
  *touch =
      (Touch){.point = point, .normal = normal, .bulk = t->covered[k] ? t->loose : t->bulk[k], .area = element->area};
  if (at.z <= 0) { /* the hard ground below the columns */
    touch->hard = true;
    return normal.z < 0;
  }
  if (!(ahead.z < field->highest) || !(ahead.z < heightfield_height(field, ahead.x, ahead.y))) return false;
  double depth = (t->covered[k] ? t->around[k] : field->heights[k]) - at.z;
  touch->depth = depth;
  return depth > 0;
}

/* The touched elements of one member. */
typedef struct Touched {
  const Solid *solid;
  Touch *touches;
  int64_t count;
  double mu;
} Touched;

/* The normal impulses. */
static void push_back(Moving *moving, int32_t member, const Touched *touched, bool driven) {
  const Solid *solid = touched->solid;
  double sum[6] = {0};
  const Motion6 before = moving->motions[member];
  for (int64_t n = 0; n < touched->count; n++) {
    const Touch *touch = &touched->touches[n];
    double speed = vec3_dot(velocity_at(&before, solid, touch->point), touch->normal);
    double ramp = driven ? fmin(1, speed / CREEP_SPEED) : 1;
    double more = speed > 0 ? fmax(0, ramp * touch->most - touch->taken) : 0;
    add_impulse(sum, solid, vec3_scale(touch->normal, -more), touch->point);
  }
  double share = apply_share(moving, member, sum);
  for (int64_t n = 0; n < touched->count; n++) {
    Touch *touch = &touched->touches[n];
    double speed = vec3_dot(velocity_at(&before, solid, touch->point), touch->normal);
    double ramp = driven ? fmin(1, speed / CREEP_SPEED) : 1;
    if (speed > 0) touch->taken += share * fmax(0, ramp * touch->most - touch->taken);
  }
}

static void rub(Moving *moving, int32_t member, const Touched *touched) {
  const Motion6 before = moving->motions[member];
  double sum[6] = {0};
  for (int pass = 0; pass < 2; pass++) {
    double share = pass == 0 ? 0 : apply_share(moving, member, sum);
    for (int64_t n = 0; n < touched->count; n++) {
      Touch *touch = &touched->touches[n];
      Vec3 v = velocity_at(&before, touched->solid, touch->point);
      Vec3 slip = vec3_madd(v, touch->normal, -vec3_dot(v, touch->normal));
      double speed = vec3_length(slip), left = touched->mu * touch->taken - vec3_length(touch->friction);
      if (!(speed > 1e-12) || !(left > 0)) continue;
      Vec3 more = vec3_scale(slip, -left / speed);
      if (pass == 0) add_impulse(sum, touched->solid, more, touch->point);
      else touch->friction = vec3_madd(touch->friction, more, share);
    }
  }
}

/* Whether an element still moves into the ground that could be resisted. */
static bool still_sinks(const Touched *touched, const Motion6 *motion) {
  for (int64_t n = 0; n < touched->count; n++) {
    const Touch *touch = &touched->touches[n];
    if (touch->taken < touch->most * (1 - 1e-9) &&
        vec3_dot(velocity_at(motion, touched->solid, touch->point), touch->normal) > SINKING_SPEED)
      return true;
  }
  return false;
}

/* The elements of a body that touch the ground, and how much each can bear. A driven body goes where it is driven,
 * through the hard ground if need be: nothing resists it. */
static Touched find_touched(const Ground *ground, const State *state, int32_t index, const Motion6 *motion, double dt,
                            Touch *touches) {
  const Terrain *t = state->terrain;
  const Solid *solid = &state->solids.items[index];
  const BodySurface *surface = &ground->surfaces[index];
  bool driven = !solid_is_movable(solid);
  Mat3 turn = mat3_from_quat(solid->rotation);
  double gravity = fmax(0, -state->gravity.z);
  Touched touched = {.solid = solid, .touches = touches};
  touched.mu = sqrt(solid->friction_kinetic * state->materials.items[t->material].wall_kinetic);
  for (int64_t n = 0; n < surface->count; n++) {
    Touch *touch = &touches[touched.count];
    if (!find_touch(state, solid, &turn, &surface->elements[n], touch)) continue;
    double speed = vec3_dot(velocity_at(motion, solid, touch->point), touch->normal);
    double pressure = ground_pressure(&ground->law, touch->bulk, gravity, touch->depth, touch->normal, speed);
    if (touch->hard && driven) touch->area = 0;
    touch->most = (touch->hard ? HARD_PRESSURE : pressure) * touch->area * dt;
    touched.count++;
  }
  return touched;
}

static bool reaches_ground(const Ground *ground, const State *state, int32_t index) {
  Vec3 low, high;
  ColumnRange range;
  if (!ground_feels(ground, state, index)) return false;
  ground_body_box(state, &state->solids.items[index], &low, &high);
  return !(low.z > ground_field(state)->highest) && ground_range(state, low, high, 0, &range);
}

/* Member after member meets the ground, until none sinks: one round for a body alone is all of it, while the wheels of
 * a truck take turns to bear it. */
static void resist(Ground *ground, State *state, Moving *moving, Touched *touched, double dt) {
  Solid *earth = &state->solids.items[state->terrain->solid];
  Touch *touches = ground->touches;
  free_motion(moving, dt);
  for (int32_t k = 0; k < moving->count; k++) {
    int32_t index = moving->first + k;
    touched[k] = (Touched){0};
    if (!reaches_ground(ground, state, index)) continue;
    touched[k] = find_touched(ground, state, index, &moving->motions[k], dt, touches);
    touches += touched[k].count;
  }
  bool driven = !moving->mobility && !solid_is_movable(&state->solids.items[moving->first]);
  bool sinks = touches > ground->touches;
  for (int round = 0; sinks && round < (moving->mobility ? ROUNDS_TOGETHER : ROUNDS); round++) {
    sinks = false;
    for (int32_t k = 0; k < moving->count; k++) {
      if (touched[k].count == 0) continue;
      push_back(moving, k, &touched[k], driven);
      rub(moving, k, &touched[k]);
      sinks = sinks || (!driven && still_sinks(&touched[k], &moving->motions[k]));
    }
  }
  for (int32_t k = 0; k < moving->count; k++)
    for (int64_t n = 0; n < touched[k].count; n++) {
      const Touch *touch = &touched[k].touches[n];
      Vec3 impulse = vec3_madd(touch->friction, touch->normal, -touch->taken);
      wrench_add(&state->solids.items[moving->first + k], vec3_scale(impulse, 1 / dt), touch->point);
      wrench_add(earth, vec3_scale(impulse, -1 / dt), touch->point);
    }
}

Status ground_resist(Core *core, Ground *ground, State *state, double dt) {
  const SolidGroup *machine = &state->solids.machine;
  if (!(dt > 0)) return SCREE_OK;
  TRY(memory_grow(core, &ground->motions, 6 * ((int64_t)machine->count + 1), "touched elements"));
  TRY(memory_grow(core, &ground->touched, machine->count + 1, "touched elements"));
  for (int32_t s = 0; s < ground->surface_count; s++) {
    bool together = machine->count > 0 && s >= machine->first && s < machine->first + machine->count;
    if (!together && !reaches_ground(ground, state, s)) continue;
    Moving moving = {.state = state, .first = s, .count = 1, .motions = (Motion6 *)ground->motions};
    if (together) {
      moving.count = machine->count;
      moving.mobility = machine->mobility;
      s += machine->count - 1;
    }
    resist(ground, state, &moving, ground->touched, dt);
  }
  return SCREE_OK;
}
