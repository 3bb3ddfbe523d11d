#include "methods/flip/solids/solids.h"
#define LANE_SCALAR /* particles are treated one by one */
#include "methods/flip/solids/contact_law.h"

#include "methods/flip/solids/boundary_contact.h"

#include <math.h>
#include <string.h>

#include "methods/flip/stress/stress.h"

/* Pieces of a long displacement, in cells. */
#define PIECE 0.5f
/* Distances that strips do not know are larger, in cells. */
#define KNOWN 1.0f

/* Distance and its gradient (per cell) at a particle, from the corners of its strip. */
float strip_distance_at(const StripSolids *solids, float x, float y, float z, float gradient[3]) {
  int lane = (int)x;
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
  float share = coulomb_share((float)contact->solid->friction_static, stop, length);
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
      low[k] = (int)t;
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

void contact_keep_out(const BoundaryContact *contact, float displacement[3], float v[3]) {
  const StripSolids *solids = contact->work->solids.strips[contact->strip];
  float cell = (float)contact->work->grid->cell, to[3], gradient[3];
  float rest = 0.5f * (float)contact->work->dt; /* strips know where solids are in the middle of the step */
  for (int a = 0; a < 3; a++) {
    to[a] = contact->at[a] + (displacement[a] - rest * contact->solid_velocity[a]) / cell;
    float most = a == 0 ? (float)STRIP - 1e-5f : 1 - 1e-6f;
    to[a] = to[a] < 0 ? 0 : to[a] > most ? most : to[a]; /* the strip knows no more; half a cell further at most */
  }
  float distance = strip_distance_at(solids, to[0], to[1], to[2], gradient);
  if (!(distance < 0)) return;
  float length = sqrtf(gradient[0] * gradient[0] + gradient[1] * gradient[1] + gradient[2] * gradient[2]);
  if (!(length > 1e-3f)) return;
  float into = 0, push = distance / length;
  push = push < -0.5f ? -0.5f : push;
  for (int a = 0; a < 3; a++) {
    gradient[a] /= length;
    into += (v[a] - contact->solid_velocity[a]) * gradient[a];
  }
  for (int a = 0; a < 3; a++) displacement[a] -= push * cell * gradient[a];
  if (!(into < 0)) return;
  collide(contact, gradient, -into, v);
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
  contact.solid = solid ? nearest_solid(work, strip, (int)contact.at[0]) : NULL;
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
    columns |= (d[0] < 0 || d[9] < 0 || d[18] < 0 || d[27] < 0 ? 1u : 0u) << c;
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

/* Puts a point out of a solid that it is in at that time of the step; the rest of the displacement goes along the
 * surface. */
static void put_out(const BoundaryContact *contact, int32_t index, double time, float to[3], float piece[3],
                    float v[3]) {
  const FlipWork *work = contact->work;
  BoundaryContact touching = *contact;
  touching.solid = &work->state->solids.items[index];
  double cell = work->grid->cell;
  Vec3 point =
      vec3_madd(strip_origin(work, (int32_t)contact->strip), vec3((double)to[0], (double)to[1], (double)to[2]), cell);
  Vec3 moving = solid_velocity_at(touching.solid, point);
  Vec3 local =
      solid_to_local(touching.solid, vec3_madd(point, moving, solid_pose_time(touching.solid, work->dt) - time));
  if (solid_out_of_reach(touching.solid, local, 0)) return;
  float x = (float)local.x, y = (float)local.y, z = (float)local.z, distance, n[3];
  shape_distance_range(work->core, &touching.solid->shape, 1, &x, &y, &z, cell, &distance, &n[0], &n[1], &n[2]);
  if (!(distance < 0)) return;
  Mat3 turn = mat3_from_quat(touching.solid->rotation);
  Vec3 out = mat3_apply(&turn, vec3((double)n[0], (double)n[1], (double)n[2]));
  float into = 0, ahead = 0, push = distance / (float)cell;
  push = push < -PIECE ? -PIECE : push;
  for (int a = 0; a < 3; a++) {
    n[a] = (float)vec3_get(out, a);
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

void contact_trace(const BoundaryContact *contact, float displacement[3], float v[3]) {
  const FlipWork *work = contact->work;
  float cell = (float)work->grid->cell, gradient[3], piece[3], to[3];
  float length =
      sqrtf(displacement[0] * displacement[0] + displacement[1] * displacement[1] + displacement[2] * displacement[2]) /
      cell;
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
    if (!same_cell(from, to) && is_dense_at(contact, to, v)) break;
  }
  for (int a = 0; a < 3; a++) displacement[a] = (to[a] - at[a]) * cell;
}
