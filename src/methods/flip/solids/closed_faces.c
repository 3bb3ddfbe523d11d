/* Sand at closed faces. What runs into one takes its velocity: an inelastic collision. What would leave one, at a wall
 * that leans over it or below a body, is pressed to it by the cell beside it: it leaves only if more pulls it away than
 * that. Bodies take the impulse at once with it, so that a light one under much sand is not thrown back and forth.
 *
 * No stress of the grid acts on a closed face, whose open share is none. If the pressure of its cell did not hold the
 * half cell of sand there, that would fall freely in every step from walls and bodies that it is pressed to, crowd the
 * next cell, and be pushed back by the density correction: beds on a slope crept so, and bodies rocked. */
#include "methods/flip/solids/solids.h"
#define LANE_SCALAR /* there are few closed faces: they are treated one by one */
#include "methods/common/solid_friction_law.h"
#include "methods/flip/solids/contact_law.h"
#include "methods/flip/stress/friction_law.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/stress/stress.h"

/* Whether the sand at a closed face moves into the wall. Free cells on both sides: it stops the sand in both
 * directions. */
static bool runs_in(const FlipWork *work, int32_t face, int axis, double against) {
  const uint8_t *valid = work->fields.solid.valid[0];
  int32_t low = cell_below(work->grid, face, axis);
  bool here = valid[face / STRIP] >> (face % STRIP) & 1, below = valid[low / STRIP] >> (low % STRIP) & 1;
  if (here && below) return true;
  return here ? against < 0 : below && against > 0;
}

/* Whether the sand of a cell is full or lies on what is below, directly or on one layer that does. */
static bool lies(const FlipWork *work, int32_t cell) {
  bool down = false, solid = false;
  int axis = work_downward(work, &down);
  for (int layer = 0; layer < 2 && cell >= STRIP; layer++) {
    if (flip_is_full(&work->fields, cell)) return true;
    if (axis < 0) return false;
    if (flip_lies_on(work, cell, axis, down, &solid) || solid) return true;
    cell = down ? cell_below(work->grid, cell, axis) : cell_above(work->grid, cell, axis);
  }
  return false;
}

/* The cell of sand beside a closed face, and the face across that cell. */
typedef struct FaceBeside {
  int32_t cell, across;
} FaceBeside;

static FaceBeside beside_face(const FlipWork *work, int32_t face, int axis) {
  bool here = work->fields.solid.valid[0][face / STRIP] >> (face % STRIP) & 1;
  if (here) return (FaceBeside){face, cell_above(work->grid, face, axis)};
  int32_t low = cell_below(work->grid, face, axis);
  return (FaceBeside){low, low};
}

/* What gravity has given sand in the step against the solid at the face. */
static double gained_along(const FlipWork *work, int32_t face, int axis, int along) {
  const Solid *solid = &work->state->solids.items[work->fields.solid.owner[axis][face]];
  return solid->motion == MOTION_FREE ? 0 : vec3_get(work->state->gravity, along) * work->dt;
}

/* Speed that the pressure of the cell (of the last step) can take from sand at the face. */
static double held_by_pressure(const FlipWork *work, int32_t face, int axis, int32_t cell) {
  double side = work->grid->cell, pressure = (double)work->kept->pressure[cell];
  return pressure > 0 ? work->dt * side * side * pressure / (double)work->fields.sand.mass[axis][face] : 0;
}

/* What sand that leaves a closed face keeps of its speed against the solid. Its cell's pressure holds it to the face. A
 * full cell takes no more from there than left it by the face across before the step (`out`); and sand that lies goes
 * no faster than that, since the friction below it acts there but not at the closed face. */
static double leaving_speed(const FlipWork *work, int32_t face, int axis, int32_t cell, double leaving, double out) {
  leaving -= held_by_pressure(work, face, axis, cell);
  if (leaving > 0 && lies(work, cell)) leaving = fmin(leaving, out);
  return fmax(leaving, 0);
}

static double leaving_along(const FlipWork *work, int32_t face, int axis, double against) {
  FaceBeside beside = beside_face(work, face, axis);
  double sign = against > 0 ? 1 : -1, out = (double)work->fields.sand.velocity[axis][beside.across] -
                                            gained_along(work, face, axis, axis) -
                                            (double)work->fields.solid.velocity[axis][face];
  return sign * leaving_speed(work, face, axis, beside.cell, fabs(against), sign * out);
}

/* ---- planes across the grid ---- */

/* What a wall takes from the sand at a closed face, m/s along the axis. */
typedef struct WallStop {
  double change;  /* of the sand's velocity */
  double stopped; /* part of it that presses on the wall */
} WallStop;

/* Whether the wall at a closed face lies across the grid: its faces are then steps of a plane that sand slides along.
 */
static bool crosses_grid(const FlipWork *work, int32_t face, int axis, float n[3]) {
  const StripSolids *solids = work->solids.strips[face / STRIP];
  const uint8_t *valid = work->fields.solid.valid[0];
  int32_t low = cell_below(work->grid, face, axis);
  bool here = valid[face / STRIP] >> (face % STRIP) & 1, below = valid[low / STRIP] >> (low % STRIP) & 1;
  for (int a = 0; a < 3; a++) n[a] = solids->normal[axis][a][face % STRIP];
  return here != below && (here ? n[axis] > 0 : n[axis] < 0) && !lies_along_grid(n);
}

/* Velocity of the sand against the solid at a face: along the other axes the mean of the four faces round it. */
static void motion_against(const FlipWork *work, int32_t face, int axis, double u[3]) {
  const FlipFields *f = &work->fields;
  const Solid *solid = &work->state->solids.items[f->solid.owner[axis][face]];
  Vec3 point = face_point(strip_origin(work, face / STRIP), work->grid->cell, face % STRIP, axis),
       moving = solid_velocity_at(solid, point);
  int32_t low = cell_below(work->grid, face, axis);
  for (int a = 0; a < 3; a++) {
    const int32_t round[4] = {face, low, cell_above(work->grid, face, a), cell_above(work->grid, low, a)};
    double mass = 0, sum = 0;
    for (int k = 0; k < (a == axis ? 1 : 4); k++) {
      mass += (double)f->sand.mass[a][round[k]];
      sum += (double)f->sand.mass[a][round[k]] * (double)f->sand.velocity[a][round[k]];
    }
    u[a] = mass > 0 ? sum / mass - vec3_get(moving, a) : 0;
  }
}

/* What is left of the speed along a plane, by its part along the axis of the face, when friction has taken `taken` of
 * it. The friction of what lies above acts at open faces alone: sand that lies goes no faster than the sand across the
 * cell did before the step (`across`), if the plane can hold it with what presses on it (`most`). Sand that slides,
 * much faster than gravity makes it in a step (`gained`), is not held. */
static double slip_left(double slip, double taken, double across, double gained, double most) {
  double left = slip - taken * slip, speed = across * left > 0 ? fabs(across) : 0,
         excess = fmin(fabs(left) - fmax(speed, 2 * speed - gained), most);
  if (!(excess > 0)) return left;
  return left > 0 ? left - excess : left + excess;
}

/* Sand that runs into a plane, or is held to it, goes on along it, but for friction. What its faces took one by one
 * would hold it on the steps that the grid sees. */
static WallStop stop_at_plane(const FlipWork *work, int32_t face, int axis, const float normal[3]) {
  const FlipFields *f = &work->fields;
  FaceBeside beside = beside_face(work, face, axis);
  const double n[3] = {(double)normal[0], (double)normal[1], (double)normal[2]};
  double u[3], along = 0, out = 0, square = 0, held = held_by_pressure(work, face, axis, beside.cell);
  double across = (double)(f->sand.velocity[axis][beside.across] - f->sand.velocity[axis][face]);
  motion_against(work, face, axis, u);
  for (int a = 0; a < 3; a++) along += n[a] * u[a];
  for (int a = 0; a < 3; a++) {
    out += n[a] * (u[a] - gained_along(work, face, axis, a) + (a == axis ? across : 0));
    square += (u[a] - along * n[a]) * (u[a] - along * n[a]);
  }
  double stop = along > 0 ? leaving_speed(work, face, axis, beside.cell, along, out) - along : -along;
  const Solid *solid = &work->state->solids.items[f->solid.owner[axis][face]];
  float friction = solid_friction(CONE_SHEAR * f->sand.alpha[beside.cell], (float)solid->friction_static),
        taken = coulomb_share(friction, (float)(along > 0 ? held : -along), (float)sqrt(square));
  double gained = gained_along(work, face, axis, axis), slip = u[axis] - along * n[axis];
  double left =
      slip_left(slip, (double)taken, u[axis] - gained + across - out * n[axis],
                vec3_length(work->state->gravity) * work->dt, lies(work, beside.cell) ? (double)friction * held : 0);
  return (WallStop){stop * n[axis] + left - slip, along < 0 ? stop * n[axis] : 0};
}

static WallStop stop_at_face(const FlipWork *work, int32_t face, int axis) {
  const FlipFields *f = &work->fields;
  float n[3];
  if (crosses_grid(work, face, axis, n)) return stop_at_plane(work, face, axis, n);
  float against = f->sand.velocity[axis][face] - f->solid.velocity[axis][face];
  bool in = runs_in(work, face, axis, (double)against);
  if (!in) against -= (float)leaving_along(work, face, axis, (double)against);
  return (WallStop){(double)-against, in ? (double)-against : 0};
}

static void add_wall_force(FlipWork *work, int32_t face, int axis, int16_t owner, double force, WrenchSum *sum) {
  int32_t place[3];
  strip_place(work->grid->key[face / STRIP], place);
  const double *shift = work->grid->shift, cell = work->grid->cell;
  double at[3] = {(double)(place[0] + face % STRIP) + 0.5, (double)place[1] + 0.5, (double)place[2] + 0.5};
  at[axis] -= 0.5;
  Vec3 point =
      vec3(work->state->origin.x + (at[0] - shift[0]) * cell, work->state->origin.y + (at[1] - shift[1]) * cell,
           work->state->origin.z + (at[2] - shift[2]) * cell);
  Vec3 push = vec3(axis == 0 ? force : 0, axis == 1 ? force : 0, axis == 2 ? force : 0);
  wrench_sum_add(sum, &work->state->solids.items[owner], push, point);
}

static void stop_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  FlipFields *f = &work->fields;
  WrenchSum sum = {0};
  for (int64_t strip = b; strip < e; strip++) {
    if (!f->solid.near[strip]) continue;
    for (int32_t at = (int32_t)strip * STRIP; at < ((int32_t)strip + 1) * STRIP; at++)
      for (int a = 0; a < 3; a++) {
        int16_t owner = f->solid.owner[a][at];
        if (f->solid.open[a][at] > 0 || !(f->sand.mass[a][at] > 0) || owner < 0 ||
            work->solids.body_of_solid[owner] >= 0)
          continue;
        WallStop stop = stop_at_face(work, at, a);
        f->stress.change[a][at] = (float)stop.change;
        f->stress.stopped[a][at] = (float)stop.stopped;
        add_wall_force(work, at, a, owner, (double)(f->sand.mass[a][at] * -(float)stop.change) / work->dt, &sum);
      }
  }
  wrench_sum_end(&sum);
}

/* Gauss with pivots, for `count` right sides; false when singular. */
static bool solve6(double m[6][6], double (*x)[6], int count) {
  for (int k = 0; k < 6; k++) {
    int pivot = k;
    for (int r = k + 1; r < 6; r++)
      if (fabs(m[r][k]) > fabs(m[pivot][k])) pivot = r;
    if (!(fabs(m[pivot][k]) > 1e-300)) return false;
    for (int c = 0; c < 6; c++) {
      double swap = m[k][c];
      m[k][c] = m[pivot][c];
      m[pivot][c] = swap;
    }
    for (int n = 0; n < count; n++) {
      double swap = x[n][k];
      x[n][k] = x[n][pivot];
      x[n][pivot] = swap;
    }
    for (int r = 0; r < 6; r++) {
      if (r == k) continue;
      double share = m[r][k] / m[k][k];
      for (int c = k; c < 6; c++) m[r][c] -= share * m[k][c];
      for (int n = 0; n < count; n++) x[n][r] -= share * x[n][k];
    }
  }
  for (int n = 0; n < count; n++)
    for (int k = 0; k < 6; k++) x[n][k] /= m[k][k];
  return true;
}

/* Whether the face's sand goes with its body; `in`: it runs into it. */
static bool stopped_by(const FlipWork *work, const CoupledFace *face, int32_t body, bool *in) {
  const FlipFields *f = &work->fields;
  if (face->body != body || f->solid.open[face->axis][face->face] > 0 || !(f->sand.mass[face->axis][face->face] > 0))
    return false;
  double against = (double)f->sand.velocity[face->axis][face->face] - (double)f->solid.velocity[face->axis][face->face];
  *in = runs_in(work, face->face, face->axis, against);
  return *in || leaving_along(work, face->face, face->axis, against) == 0;
}

/* V = V0 + M^-1 sum m (v - n V) n, solved for V. From there on the body and that sand are one: S = sum m n n^T adds to
 * its mass, and (M + S)^-1 = (1 + M^-1 S)^-1 M^-1 is what stresses move. V is far from the end of the step: a free body
 * that rests falls there with gravity's share of the step, and what holds a part pushes with all that lies on it. */
static void stop_at_body(FlipWork *work, int32_t index) {
  CoupledBody *body = &work->solids.bodies[index];
  FlipFields *f = &work->fields;
  double sum[6][6] = {{0}}, push[6] = {0}, m[6][6], x[7][6]; /* the velocity, then columns of the inverse */
  bool any = false;
  for (int64_t k = 0; k < work->solids.face_count; k++) {
    CoupledFace *face = &work->solids.faces[k];
    if (!stopped_by(work, face, index, &face->runs_in)) continue;
    double unit[6] = {0}, mass = (double)f->sand.mass[face->axis][face->face];
    coupled_add_force(face, 1, unit);
    for (int r = 0; r < 6; r++) {
      push[r] += mass * (double)f->sand.velocity[face->axis][face->face] * unit[r];
      for (int c = 0; c < 6; c++) sum[r][c] += mass * unit[r] * unit[c];
    }
    any = face->stopped = true;
  }
  if (!any) return;
  for (int r = 0; r < 6; r++) {
    x[6][r] = body->velocity[r];
    for (int c = 0; c < 6; c++) {
      m[r][c] = r == c;
      for (int k = 0; k < 6; k++) m[r][c] += body->inverse[r][k] * sum[k][c];
      x[6][r] += body->inverse[r][c] * push[c];
      x[c][r] = body->inverse[r][c];
    }
  }
  if (!solve6(m, x, 7)) {
    for (int64_t k = 0; k < work->solids.face_count; k++)
      if (work->solids.faces[k].body == index) work->solids.faces[k].stopped = false;
    return;
  }
  memcpy(body->velocity, x[6], sizeof x[6]);
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 6; c++) body->inverse[r][c] = x[c][r];
}

/* What the faces of bodies take from the sand, when stresses have changed the velocities of bodies by `change` (NULL:
 * not yet). */
static void stop_with_bodies(FlipWork *work, double (*change)[6]) {
  FlipFields *f = &work->fields;
  for (int64_t k = 0; k < work->solids.face_count; k++) {
    CoupledFace *face = &work->solids.faces[k];
    if (!face->stopped) continue;
    double stop = coupled_velocity(face, work->solids.bodies[face->body].velocity) -
                  (double)f->sand.velocity[face->axis][face->face];
    if (change) stop += coupled_velocity(face, change[face->body]);
    face->stop = stop;
    f->stress.change[face->axis][face->face] = (float)stop;
    f->stress.stopped[face->axis][face->face] = face->runs_in ? (float)stop : 0;
  }
}

void flip_move_stopped(FlipWork *work) {
  if (work->solids.face_count == 0) return;
  flip_accelerate_bodies_by_stress(work, work->kept->pressure, work->kept->stress, work->dt);
  stop_with_bodies(work, work->stress.body_change);
}

Status flip_stop_at_closed_faces(FlipWork *work) {
  FlipFields *f = &work->fields;
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, stop_chunk, work);
  for (int32_t k = 0; k < work->solids.body_count; k++) stop_at_body(work, k);
  stop_with_bodies(work, NULL);
  for (int64_t k = 0; k < work->solids.face_count; k++) {
    const CoupledFace *face = &work->solids.faces[k];
    float speed = (float)coupled_velocity(face, work->solids.bodies[face->body].velocity);
    f->sand.flux[face->axis][face->face] += face->share * (speed - f->solid.velocity[face->axis][face->face]);
    f->sand.joint_velocity[face->axis][face->face] += face->share * (speed - f->solid.velocity[face->axis][face->face]);
    f->solid.velocity[face->axis][face->face] = speed;
  }
  return SCREE_OK;
}

/* What stresses do to the solids whose faces are not wholly open (Eq. 23). */
static void push_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  const FlipFields *f = &work->fields;
  double area = work->grid->cell * work->grid->cell;
  WrenchSum sum = {0};
  for (int64_t strip = b; strip < e; strip++) {
    if (!f->solid.near[strip]) continue;
    for (int32_t at = (int32_t)strip * STRIP; at < ((int32_t)strip + 1) * STRIP; at++)
      for (int a = 0; a < 3; a++) {
        int16_t owner = f->solid.owner[a][at];
        if (owner < 0 || !(f->solid.open[a][at] < 1)) continue;
        double force = flip_stress_force(work, work->kept->stress, at, a) - (double)work->kept->pressure[at] +
                       (double)work->kept->pressure[cell_below(work->grid, at, a)];
        double share = 1 - (double)borne_share(&f->solid, a, at, work->solids.body_of_solid[owner] >= 0);
        if (force != 0) add_wall_force(work, at, a, owner, force * area * share, &sum);
      }
  }
  wrench_sum_end(&sum);
}

void flip_add_wrenches(FlipWork *work) {
  const FlipFields *f = &work->fields;
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, push_chunk, work);
  for (int64_t k = 0; k < work->solids.face_count; k++) {
    const CoupledFace *face = &work->solids.faces[k];
    double mass = (double)f->sand.mass[face->axis][face->face];
    if (face->stopped) coupled_add_force(face, -mass * face->stop, work->solids.bodies[face->body].impulse);
  }
  for (int32_t k = 0; k < work->solids.body_count; k++) {
    const double *j = work->solids.bodies[k].impulse, per = 1 / work->dt;
    Solid *solid = &work->state->solids.items[work->solids.bodies[k].solid];
    wrench_add(solid, vec3(j[0] * per, j[1] * per, j[2] * per), solid->center);
    wrench_add_torque(solid, vec3(j[3] * per, j[4] * per, j[5] * per));
  }
}
