#include "methods/flip/solids/solids.h"
#define LANE_SCALAR /* particles are treated one by one */
#include "methods/common/solid_friction_law.h"
#include "methods/flip/solids/contact_law.h"

#include "methods/flip/solids/boundary_contact.h"
#include "methods/flip/solids/seams.h"

#include <math.h>
#include <string.h>

#include "methods/flip/stress/stress.h"

/* Pieces of a long displacement, in cells. */
#define PIECE 0.5f
/* Longest displacement that is followed, in cells: the rule of loose sand allows far less. */
#define TRACED_MOST 1e6f
/* Distances that strips do not know are larger, in cells. */
#define KNOWN 1.0f
/* Corners that are nearer lie on a surface, in cells: beyond them is the solid. */
#define AT_SURFACE 0.01f
/* Particles are put back so far out of a solid, in cells, that rounding does not put them into it again. */
#define CLEARANCE 1e-4f

/* Distance and its gradient (per cell) at a particle, from the corners of its strip. A place that is not a number has a
 * distance that is not: the step is refused when it is committed. */
float strip_distance_at(const StripSolids *solids, float x, float y, float z, float gradient[3]) {
  int lane = x > 0 ? (x < STRIP ? (int)x : STRIP - 1) : 0;
  float fx = x - (float)lane, value = 0;
  gradient[0] = gradient[1] = gradient[2] = 0;
  for (int c = 0; c < 8; c++) {
    float d = solids->distance[((c >> 2) * 2 + (c >> 1 & 1)) * 9 + lane + (c & 1)];
    float wx = c & 1 ? fx : 1 - fx, wy = c & 2 ? y : 1 - y, wz = c & 4 ? z : 1 - z;
    value += d * wx * wy * wz;
    gradient[0] += (c & 1 ? d : -d) * wy * wz;
    gradient[1] += (c & 2 ? d : -d) * wx * wz;
    gradient[2] += (c & 4 ? d : -d) * wx * wy;
  }
  return value;
}

/* The solid gets what the particle has lost: the vector times `times`, m/s. */
static void add_solid_impulse(const BoundaryContact *contact, const float u[3], float times) {
  const State *state = contact->work->state;
  double push = (double)(times * state->particles.mass[contact->index]) / contact->work->dt;
  wrench_add(contact->solid, vec3((double)u[0] * push, (double)u[1] * push, (double)u[2] * push),
             state_position(state, contact->index));
}

/* Coulomb's law for a collision that took `stop` from the particle's speed along the unit vector n. The displacement,
 * if it is given, gets shorter by as much: the grid would otherwise go on moving sand along the floor. */
static void apply_friction(const BoundaryContact *contact, const float n[3], float stop, float v[3],
                           float displacement[3]) {
  if (!contact->solid || !(stop > 0)) return;
  float u[3], along = 0, length = 0;
  for (int a = 0; a < 3; a++) {
    u[a] = v[a] - contact->solid_velocity[a];
    along += u[a] * n[a];
  }
  for (int a = 0; a < 3; a++) {
    u[a] -= along * n[a];
    length += u[a] * u[a];
  }
  length = sqrtf(length);
  if (!(length > 0)) return;
  float sand = contact->work->friction[contact->work->state->particles.material[contact->index]];
  float share = coulomb_share(solid_friction(sand, (float)contact->solid->friction_static), stop, length);
  for (int a = 0; a < 3; a++) {
    v[a] -= share * u[a];
    if (displacement) displacement[a] -= share * u[a] * (float)contact->work->dt;
  }
  add_solid_impulse(contact, u, share);
}

/* A solid stops what runs into it with that speed, against the unit vector n. */
static void collide(const BoundaryContact *contact, const float n[3], float stop, float v[3]) {
  for (int a = 0; a < 3; a++) v[a] += stop * n[a];
  if (contact->solid) add_solid_impulse(contact, n, -stop);
  apply_friction(contact, n, stop, v, NULL);
}

void contact_friction(const BoundaryContact *contact, const StopWindow *window, const float norm[3], float v[3],
                      float displacement[3]) {
  float stop[3], size = 0;
  for (int a = 0; a < 3; a++) {
    int low[3];
    float upper[3], sum = 0;
    for (int k = 0; k < 3; k++) {
      float t = contact->at[k] + (k == a ? 1 : 0.5f);
      int last = k == 0 ? STRIP : 1; /* rounding may put a particle just below a border on it */
      low[k] = (int)t < last ? (int)t : last;
      upper[k] = t - (float)low[k];
    }
    for (int c = 0; c < 8; c++) {
      int row = (low[2] + (c >> 2)) * 3 + low[1] + (c >> 1 & 1);
      sum += window->stop[a][row][low[0] + (c & 1)] * (c & 1 ? upper[0] : 1 - upper[0]) *
             (c & 2 ? upper[1] : 1 - upper[1]) * (c & 4 ? upper[2] : 1 - upper[2]);
    }
    stop[a] = sum * norm[a];
    size += stop[a] * stop[a];
  }
  size = sqrtf(size);
  if (!(size > 1e-7f)) return;
  const float n[3] = {stop[0] / size, stop[1] / size, stop[2] / size};
  apply_friction(contact, n, size, v, displacement);
}

static Solid *nearest_solid(const FlipWork *work, int64_t strip, int lane) {
  int16_t owner = work->solids.strips[strip]->nearest[lane];
  for (int a = 0; a < 3 && owner < 0; a++) owner = work->solids.strips[strip]->owner[a][lane];
  return owner < 0 ? NULL : &work->state->solids.items[owner];
}

float contact_solid_motion(const FlipWork *work, int64_t strip, int lane) {
  const Solid *solid = nearest_solid(work, strip, lane);
  if (!solid) return 0;
  double cell = work->grid->cell;
  Vec3 middle = vec3_add(strip_origin(work, (int32_t)strip), vec3((lane + 0.5) * cell, 0.5 * cell, 0.5 * cell));
  double speed = vec3_length(solid_velocity_at(solid, middle)) + vec3_length(solid->spin) * cell; /* anywhere in it */
  return (float)(0.5 * work->dt * speed / cell);
}

BoundaryContact contact_of(const FlipWork *work, int64_t strip, const int32_t place[3], int32_t k, bool solid) {
  const FlipOrder *order = work->order;
  BoundaryContact contact = {
      .work = work,
      .strip = strip,
      .place = {place[0], place[1], place[2]},
      .at = {order->x[k] - (float)place[0], order->y[k] - (float)place[1], order->z[k] - (float)place[2]},
      .index = order->index[k]};
  contact.solid = solid ? nearest_solid(work, strip, strip_lane(contact.at[0])) : NULL;
  if (!contact.solid) return contact;
  Vec3 v = solid_velocity_at(contact.solid, state_position(work->state, contact.index));
  contact.solid_velocity[0] = (float)v.x;
  contact.solid_velocity[1] = (float)v.y;
  contact.solid_velocity[2] = (float)v.z;
  return contact;
}

void strip_stops(const FlipWork *work, int32_t strip, StopWindow *window) {
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(work->grid, strip, row % 3 - 1, row / 3 - 1);
    int64_t before = (int64_t)work->grid->near[at][X_LOW] * STRIP + STRIP - 1;
    int64_t behind = (int64_t)work->grid->near[at][X_HIGH] * STRIP;
    for (int a = 0; a < 3; a++) {
      const float *stop = work->fields.stress.stopped[a];
      float *to = window->stop[a][row];
      to[0] = stop[before];
      memcpy(to + 1, stop + (int64_t)at * STRIP, sizeof(float) * STRIP);
      to[STRIP + 1] = stop[behind];
    }
  }
}

uint32_t strip_walls(const StripSolids *solids) {
  uint32_t columns = 0; /* bit k: corners at the lower side of lane k */
  for (int c = 0; c <= STRIP; c++) {
    const float *d = solids->distance + c;
    float least = fminf(fminf(d[0], d[9]), fminf(d[18], d[27]));
    columns |= (least < AT_SURFACE ? 1u : 0u) << c;
  }
  uint32_t cells = columns | columns >> 1;
  return cells | cells >> 1 | cells << 1;
}

/* Whether a particle that has come to `at` (from the strip's lower corner) meets dense sand that lies or is slower: in
 * a stream it goes on. */
static bool is_dense_at(const BoundaryContact *contact, const float at[3], const float v[3]) {
  const FlipWork *work = contact->work;
  const FlipFields *f = &work->fields;
  int32_t cell[3];
  for (int a = 0; a < 3; a++) cell[a] = contact->place[a] + (int32_t)floorf(at[a]);
  int32_t strip = grid_find(work->grid, strip_key(cell[0], cell[1], cell[2]));
  if (strip == 0) return false;
  int32_t here = strip * STRIP + (cell[0] & (STRIP - 1));
  if (!(f->sand.phi[here] > PHI_DENSE * f->solid.free_volume[here])) return false;
  float along = 0, square = 0;
  for (int a = 0; a < 3; a++) {
    along += 0.5f * (f->sand.velocity[a][here] + f->sand.velocity[a][cell_above(work->grid, here, a)]) * v[a];
    square += v[a] * v[a];
  }
  return work->kept->pressure[here] != 0 || along < 0.5f * square;
}

static bool same_cell(const float a[3], const float b[3]) {
  return floorf(a[0]) == floorf(b[0]) && floorf(a[1]) == floorf(b[1]) && floorf(a[2]) == floorf(b[2]);
}

/* A point at that time of the step, in a solid's frame. */
static Vec3 local_at(const FlipWork *work, const Solid *solid, Vec3 point, double time) {
  Vec3 moving = solid_velocity_at(solid, point);
  return solid_to_local(solid, vec3_madd(point, moving, solid_pose_time(solid, work->dt) - time));
}

/* The surface that the point is below; d is 0 or more: it is not in the solid. */
static NearSurface surface_above(const BoundaryContact *contact, int32_t index, Vec3 point, double time) {
  const FlipWork *work = contact->work;
  const Core *core = work->core;
  double cell = work->grid->cell;
  const Solid *solids = work->state->solids.items;
  NearSurface surface = {.d = FAR, .solid = index};
  Vec3 local = local_at(work, &solids[index], point, time);
  if (solid_out_of_reach(&solids[index], local, 0)) return surface;
  float x = (float)local.x, y = (float)local.y, z = (float)local.z, n[3];
  shape_distance_range(core, &solids[index].shape, 1, &x, &y, &z, cell, &surface.d, &n[0], &n[1], &n[2]);
  if (!(surface.d < 0)) return surface;
  Mat3 turn = mat3_from_quat(solids[index].rotation);
  Vec3 out = mat3_apply(&turn, vec3((double)n[0], (double)n[1], (double)n[2]));
  for (int a = 0; a < 3; a++) surface.normal[a] = (float)vec3_get(out, a);
  surface.d /= (float)cell;
  PlacedSolids near = {.items = contact->room};
  for (int32_t s = 0; s < work->state->solids.count; s++) {
    turn = mat3_from_quat(solids[s].rotation);
    placed_add(&near, cell, &solids[s], s, local_at(work, &solids[s], point, time), &turn);
  }
  if (!surface_is_covered(core, cell, &near, &surface)) return surface;
  return union_surface(core, cell, &near, &surface, DEPTH_MOST);
}

/* Puts a point out of a solid that it is in at that time of the step; the rest of the displacement goes along the
 * surface. */
static void put_out(const BoundaryContact *contact, int32_t index, double time, float to[3], float piece[3],
                    float v[3]) {
  const FlipWork *work = contact->work;
  Vec3 point = vec3_madd(strip_origin(work, (int32_t)contact->strip), vec3((double)to[0], (double)to[1], (double)to[2]),
                         work->grid->cell);
  NearSurface surface = surface_above(contact, index, point, time);
  if (!(surface.d < 0)) return;
  BoundaryContact touching = *contact;
  touching.solid = &work->state->solids.items[surface.solid];
  Vec3 moving = solid_velocity_at(touching.solid, point);
  const float *n = surface.normal;
  float into = 0, ahead = 0, push = surface.d < -PIECE ? -PIECE : surface.d - CLEARANCE;
  for (int a = 0; a < 3; a++) {
    touching.solid_velocity[a] = (float)vec3_get(moving, a);
    into += (v[a] - touching.solid_velocity[a]) * n[a];
    ahead += piece[a] * n[a];
  }
  for (int a = 0; a < 3; a++) {
    to[a] -= push * n[a];
    if (ahead < 0) piece[a] -= ahead * n[a];
  }
  if (into < 0) collide(&touching, n, -into, v);
}

void contact_keep_out(const BoundaryContact *contact, float displacement[3], float v[3]) {
  const FlipWork *work = contact->work;
  float cell = (float)work->grid->cell, to[3], none[3] = {0};
  for (int a = 0; a < 3; a++) to[a] = contact->at[a] + displacement[a] / cell;
  for (int32_t s = 0; s < work->state->solids.count; s++) put_out(contact, s, work->dt, to, none, v);
  for (int a = 0; a < 3; a++) displacement[a] = (to[a] - contact->at[a]) * cell;
}

/* The particle stays beside the solid, which takes the speed that it would have gone on with. */
void contact_stop_at_seams(const BoundaryContact *contact, float displacement[3], float v[3]) {
  const FlipWork *work = contact->work;
  float to[3], along = 0, square = 0;
  for (int a = 0; a < 3; a++) to[a] = contact->at[a] + displacement[a] / (float)work->grid->cell;
  seams_put_out(work, contact->place, to);
  if (!seams_part(work, contact->place, contact->at, to)) {
    for (int a = 0; a < 3; a++) displacement[a] = (to[a] - contact->at[a]) * (float)work->grid->cell;
    return;
  }
  for (int a = 0; a < 3; a++) {
    along += (v[a] - contact->solid_velocity[a]) * displacement[a];
    square += displacement[a] * displacement[a];
  }
  if (along > 0 && contact->solid) add_solid_impulse(contact, displacement, along / square);
  for (int a = 0; a < 3; a++) {
    if (along > 0) v[a] -= along / square * displacement[a];
    displacement[a] = contact->solid_velocity[a] * (float)work->dt;
  }
}

void contact_trace(const BoundaryContact *contact, float displacement[3], float v[3]) {
  const FlipWork *work = contact->work;
  float cell = (float)work->grid->cell, gradient[3], piece[3], to[3];
  float length =
      sqrtf(displacement[0] * displacement[0] + displacement[1] * displacement[1] + displacement[2] * displacement[2]) /
      cell;
  if (!(length < TRACED_MOST)) return; /* or not a number */
  int pieces = (int)ceilf(length / PIECE);
  /* The strip knows how far the solids are, but not beyond a cell. */
  const float *at = contact->at;
  float clear = strip_distance_at(work->solids.strips[contact->strip], at[0], at[1], at[2], gradient);
  bool meets = (clear < KNOWN ? clear : KNOWN) < length + 0.1f;
  for (int a = 0; a < 3; a++) {
    to[a] = at[a];
    piece[a] = displacement[a] / (cell * (float)pieces);
  }
  for (int k = 0; k < pieces; k++) {
    float from[3];
    for (int a = 0; a < 3; a++) {
      from[a] = to[a];
      to[a] += piece[a];
    }
    for (int32_t s = 0; meets && s < work->state->solids.count; s++)
      put_out(contact, s, work->dt * (k + 1) / pieces, to, piece, v);
    if (meets && seams_part(work, contact->place, from, to)) {
      memcpy(to, from, sizeof to);
      break;
    }
    if (!same_cell(from, to) && is_dense_at(contact, to, v)) break;
  }
  for (int a = 0; a < 3; a++) displacement[a] = (to[a] - at[a]) * cell;
}
