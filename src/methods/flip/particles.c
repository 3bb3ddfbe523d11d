/* Particles to the grid and back (Section 3, after Brackbill and Ruppel 1986). */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/transfer_kernels.h"
#include "methods/flip/stress.h"

enum { FACE_CHUNK = 256 };

/* Faces that hold less of their volume than this move nothing and are moved by nothing. */
#define FILL_LEAST 1e-5f

#define FILL_DENSE 0.35f

/* alpha = sqrt(2/3) sin(theta) */
static float material_strength(const ScreeMaterialDef *material) {
  return (float)(sqrt(2.0 / 3) * sin(material->friction_angle_deg * M_PI / 180));
}

static void sort_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  const Particles *p = &work->state->particles;
  const Materials *materials = &work->state->materials;
  SortedParcels *to = &work->sorted;
  float specific[MATERIALS_MAX], strength[MATERIALS_MAX], cohesion[MATERIALS_MAX];
  for (int32_t m = 0; m < materials->count; m++) {
    specific[m] = (float)(1 / materials->items[m].definition.density);
    strength[m] = material_strength(&materials->items[m].definition);
    cohesion[m] = (float)materials->items[m].definition.cohesion;
  }
  for (int64_t k = b; k < e; k++) {
    int32_t i = work->order->index[k];
    float mass = p->mass[i];
    uint8_t m = p->material[i];
    to->volume[k] = mass * specific[m] * to->norm[0][k];
    for (int a = 0; a < 3; a++) to->mass[a][k] = mass * to->norm[1 + a][k];
    to->velocity[0][k] = p->vx[i];
    to->velocity[1][k] = p->vy[i];
    to->velocity[2][k] = p->vz[i];
    if (!work->mixed) continue;
    to->specific[k] = specific[m];
    to->strength[k] = strength[m];
    to->cohesion[k] = cohesion[m];
  }
}

Status flip_sort_parcels(FlipWork *work) {
  parallel_for(work->core, 0, work->order->count, SORT_CHUNK, sort_chunk, work);
  return SCREE_OK;
}

typedef struct ToGrid {
  FlipWork *work;
  Splat splat;
  float gain[3]; /* g dt */
} ToGrid;

/* What the sums of a node mean. */
static void faces_chunk(const ToGrid *to, int64_t b, int64_t e) {
  FlipWork *work = to->work;
  FlipFields *f = &work->fields;
  const Splat *splat = &to->splat;
  float volume = (float)(work->grid->cell * work->grid->cell * work->grid->cell), inverse = 1 / volume;
  const ScreeMaterialDef *only = &work->state->materials.items[0].definition;
  for (int64_t at = b * STRIP; at < e * STRIP; at++) {
    float sand = splat->volume[at];
    f->fill[at] = f->free[at] * sand * inverse / f->room[0][at];
    f->strength[at] = !work->mixed ? material_strength(only) : sand > 0 ? splat->strength[at] / sand : 0;
    f->cohesion[at] = !work->mixed ? (float)only->cohesion : sand > 0 ? splat->cohesion[at] / sand : 0;
    for (int a = 0; a < 3; a++) {
      bool valid = f->valid[1 + a][at / STRIP] >> (at % STRIP) & 1; /* what fell on others belongs to these already */
      float mass = valid ? splat->mass[a][at] : 0, open = f->open[a][at], room = f->room[1 + a][at];
      float bulk = !valid ? 0 : work->mixed ? splat->bulk[a][at] : mass * work->rest_specific;
      float fill = bulk * inverse / room;
      bool some = fill > FILL_LEAST;
      float velocity = mass > 0 ? splat->momentum[a][at] / mass + to->gain[a] : 0;
      f->mass[a][at] = mass;
      f->velocity[a][at] = velocity;
      f->lightness[a][at] = some && open > 0 ? volume * room / mass : 0;
      f->flux[a][at] = (some ? open * fill * velocity : 0) + (1 - open) * f->wall_v[a][at];
      f->gain[a][at] = some ? open * bulk / mass : 0;
      f->change[a][at] = 0;
      f->moved[a][at] = 0;
      f->stop[a][at] = 0;
    }
  }
}

static void to_grid_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const ToGrid *to = context;
  KERNEL_CALL(to->work->core, flip_splat)(&to->splat, b, e);
  faces_chunk(to, b, e);
}

/* Stress on a face without sand would push nothing: momentum would be lost. */
static void usable_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  FlipFields *f = &work->fields;
  float settle = (float)fmin(1, work->settings->settle * work->dt);
  for (int64_t at = b * STRIP; at < e * STRIP; at++) {
    bool usable = f->free[at] > 0 && f->fill[at] > 0;
    for (int a = 0; a < 3 && usable; a++)
      for (int side = 0; side < 2 && usable; side++) {
        int32_t face = side ? cell_above(work->grid, (int32_t)at, a) : (int32_t)at;
        bool wall = f->owner[a][face] >= 0 && !(f->open[a][face] > 0);
        usable = f->lightness[a][face] > 0 || wall;
      }
    f->usable[at] = usable;
    /* Where grains touch, what moves between the nodes is lost in collisions. Exchanged face by face with what the face
     * had before the step: no momentum is made. */
    for (int a = 0; a < 3; a++) {
      int32_t low = cell_below(work->grid, (int32_t)at, a);
      bool dense = f->fill[at] > FILL_DENSE * f->free[at] || f->fill[low] > FILL_DENSE * f->free[low];
      f->settle[a][at] = dense && f->mass[a][at] > 0 ? settle : 0;
    }
  }
}

Status flip_to_grid(FlipWork *work) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int64_t cells = work_cells(work);
  const SortedParcels *s = &work->sorted;
  ToGrid to = {.work = work};
  to.splat.parcels = (Parcels){.grid = work->grid,
                               .start = work->order->start,
                               .x = work->order->x,
                               .y = work->order->y,
                               .z = work->order->z,
                               .volume = s->volume,
                               .mass = {s->mass[0], s->mass[1], s->mass[2]},
                               .velocity = {s->velocity[0], s->velocity[1], s->velocity[2]},
                               .specific = work->mixed ? s->specific : NULL,
                               .strength = s->strength,
                               .cohesion = s->cohesion};
  int mark = scratch_mark(scratch);
  float **arrays[] = {&to.splat.volume,      &to.splat.strength, &to.splat.cohesion,    &to.splat.mass[0],
                      &to.splat.mass[1],     &to.splat.mass[2],  &to.splat.momentum[0], &to.splat.momentum[1],
                      &to.splat.momentum[2], &to.splat.bulk[0],  &to.splat.bulk[1],     &to.splat.bulk[2]};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    TRY(scratch_take(core, scratch, arrays[k], cells, "sums of particles"));
  Vec3 g = work->state->gravity;
  to.gain[0] = (float)(g.x * work->dt);
  to.gain[1] = (float)(g.y * work->dt);
  to.gain[2] = (float)(g.z * work->dt);
  parallel_for(core, 1, work->grid->strips, STRIP_CHUNK / 4, to_grid_chunk, &to);
  parallel_for(core, 1, work->grid->strips, STRIP_CHUNK / 4, usable_chunk, work);
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}

/* ---- back ---- */

typedef struct FromGrid {
  FlipWork *work;
  Gather gather;
  float gain[3];
} FromGrid;

/* Distance and its gradient (per cell) at a particle, from the corners of its strip. */
float flip_distance_at(const StripSolids *solids, float x, float y, float z, float gradient[3]) {
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

/* A particle beside a solid. */
typedef struct Beside {
  const FlipWork *work;
  int64_t strip;
  float at[3];   /* from the strip's lower corner, in cells */
  int32_t index; /* of the particle */
  Solid *solid;  /* the nearest; NULL: none */
  float wall_v[3];
} Beside;

/* Coulomb's law for a hit that took `stop` from the particle's speed along the unit vector n. */
static void rub(const Beside *beside, const float n[3], float stop, float v[3]) {
  if (!beside->solid || !(stop > 0)) return;
  float u[3], along = 0, length = 0;
  for (int a = 0; a < 3; a++) {
    u[a] = v[a] - beside->wall_v[a];
    along += u[a] * n[a];
  }
  for (int a = 0; a < 3; a++) {
    u[a] -= along * n[a];
    length += u[a] * u[a];
  }
  length = sqrtf(length);
  float most = (float)beside->solid->friction_static * stop;
  if (!(length > 0)) return;
  float share = most < length ? most / length : 1;
  for (int a = 0; a < 3; a++) v[a] -= share * u[a];
  const State *state = beside->work->state;
  double push = (double)(share * state->particles.mass[beside->index]) / beside->work->dt;
  wrench_add(beside->solid, vec3((double)u[0] * push, (double)u[1] * push, (double)u[2] * push),
             state_position(state, beside->index));
}

/* Closed faces stop sand whether or not there is enough of it to bear a pressure; friction goes with it. */
static void rub_at_stops(const Beside *beside, const float norm[3], float v[3]) {
  const FlipWork *work = beside->work;
  float stop[3], size = 0;
  for (int a = 0; a < 3; a++) {
    const float *field = work->fields.stop[a];
    int low[3];
    float upper[3], sum = 0;
    for (int k = 0; k < 3; k++) {
      float t = beside->at[k] + (k == a ? 1 : 0.5f);
      low[k] = (int)t;
      upper[k] = t - (float)low[k];
    }
    for (int c = 0; c < 8; c++) {
      int32_t row = grid_row(work->grid, (int32_t)beside->strip, low[1] + (c >> 1 & 1) - 1, low[2] + (c >> 2) - 1);
      int lane = low[0] + (c & 1) - 1;
      if (lane < 0) row = work->grid->near[row][X_LOW];
      if (lane >= STRIP) row = work->grid->near[row][X_HIGH];
      sum += field[(int64_t)row * STRIP + (lane & (STRIP - 1))] * (c & 1 ? upper[0] : 1 - upper[0]) *
             (c & 2 ? upper[1] : 1 - upper[1]) * (c & 4 ? upper[2] : 1 - upper[2]);
    }
    stop[a] = sum * norm[a];
    size += stop[a] * stop[a];
  }
  size = sqrtf(size);
  if (!(size > 1e-7f)) return;
  const float n[3] = {stop[0] / size, stop[1] / size, stop[2] / size};
  rub(beside, n, size, v);
}

/* A particle stays out of solids: what the grid is too coarse to stop is put back onto the surface, and the speed into
 * it is taken away. */
static void keep_out(const Beside *beside, float way[3], float v[3]) {
  const StripSolids *solids = &beside->work->solids[beside->strip];
  float cell = (float)beside->work->grid->cell, to[3], gradient[3];
  for (int a = 0; a < 3; a++) {
    to[a] = beside->at[a] + way[a] / cell;
    float most = a == 0 ? (float)STRIP - 1e-5f : 1 - 1e-6f;
    to[a] = to[a] < 0 ? 0 : to[a] > most ? most : to[a]; /* the strip knows no more; half a cell further at most */
  }
  float distance = flip_distance_at(solids, to[0], to[1], to[2], gradient);
  if (!(distance < 0)) return;
  float length = sqrtf(gradient[0] * gradient[0] + gradient[1] * gradient[1] + gradient[2] * gradient[2]);
  if (!(length > 1e-3f)) return;
  float into = 0, push = distance / length;
  push = push < -0.5f ? -0.5f : push;
  for (int a = 0; a < 3; a++) {
    gradient[a] /= length;
    into += (v[a] - beside->wall_v[a]) * gradient[a];
  }
  for (int a = 0; a < 3; a++) way[a] -= push * cell * gradient[a];
  if (!(into < 0)) return;
  for (int a = 0; a < 3; a++) v[a] -= into * gradient[a];
  rub(beside, gradient, -into, v);
}

static Beside beside_of(const FlipWork *work, int64_t strip, const int32_t place[3], int32_t k) {
  const FlipOrder *order = work->order;
  Beside beside = {.work = work,
                   .strip = strip,
                   .at = {order->x[k] - (float)place[0], order->y[k] - (float)place[1], order->z[k] - (float)place[2]},
                   .index = order->index[k]};
  int16_t owner = work->solids[strip].nearest[(int)beside.at[0]];
  for (int a = 0; a < 3 && owner < 0; a++) owner = work->solids[strip].owner[a][(int)beside.at[0]];
  if (owner < 0) return beside;
  beside.solid = &work->state->solids.items[owner];
  Vec3 v = solid_velocity_at(beside.solid, state_position(work->state, beside.index));
  beside.wall_v[0] = (float)v.x;
  beside.wall_v[1] = (float)v.y;
  beside.wall_v[2] = (float)v.z;
  return beside;
}

/* Whether walls stopped sand at a node round the strip. */
static bool strip_is_stopped(const FlipWork *work, int32_t strip) {
  float sum = 0;
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(work->grid, strip, row % 3 - 1, row / 3 - 1);
    const int32_t strips[3] = {at, work->grid->near[at][X_LOW], work->grid->near[at][X_HIGH]};
    for (int k = 0; k < 3; k++)
      for (int a = 0; a < 3; a++)
        for (int lane = 0; lane < STRIP; lane++) sum += fabsf(work->fields.stop[a][(int64_t)strips[k] * STRIP + lane]);
  }
  return sum > 0;
}

static void move_strip(const FromGrid *from, int64_t strip) {
  const FlipWork *work = from->work;
  const Gather *g = &from->gather;
  Particles *p = &work->state->particles;
  float dt = (float)work->dt, most = 0.5f * (float)work->grid->cell;
  float *velocity[3] = {p->vx, p->vy, p->vz}, *way_of[3] = {p->dx, p->dy, p->dz};
  bool near = strip > 0 && work->fields.near[strip];
  bool stopped = near && strip_is_stopped(work, (int32_t)strip);
  int32_t place[3];
  strip_place(work->grid->key[strip], place);
  for (int lane = 0; lane < STRIP; lane++) {
    int64_t cell = strip * STRIP + lane;
    for (int32_t k = work->order->start[cell]; k < work->order->start[cell + 1]; k++) {
      int32_t i = work->order->index[k];
      float way[3], v[3];
      for (int a = 0; a < 3; a++) {
        bool on_grid = work->sorted.norm[1 + a][k] > 0;
        v[a] = velocity[a][i] + from->gain[a];
        float grid_v = on_grid ? g->out_velocity[a][k] : v[a];
        if (on_grid) v[a] += g->out_change[a][k] - g->out_settle[a][k] * velocity[a][i];
        float w = dt * grid_v + (on_grid ? g->out_moved[a][k] : 0);
        way[a] = strip > 0 ? (w < -most ? -most : w > most ? most : w) : dt * v[a];
      }
      if (near) {
        Beside beside = beside_of(work, strip, place, k);
        const float norm[3] = {work->sorted.norm[1][k], work->sorted.norm[2][k], work->sorted.norm[3][k]};
        if (stopped) rub_at_stops(&beside, norm, v);
        keep_out(&beside, way, v);
      }
      for (int a = 0; a < 3; a++) {
        velocity[a][i] = v[a];
        way_of[a][i] = way[a];
      }
    }
  }
}

static void from_grid_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const FromGrid *from = context;
  KERNEL_CALL(from->work->core, flip_gather)(&from->gather, b > 0 ? b : 1, e);
  for (int64_t strip = b; strip < e; strip++) move_strip(from, strip);
}

Status flip_from_grid(FlipWork *work) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  FlipFields *f = &work->fields;
  FromGrid from = {.work = work};
  Gather *g = &from.gather;
  *g = (Gather){.grid = work->grid,
                .start = work->order->start,
                .x = work->order->x,
                .y = work->order->y,
                .z = work->order->z,
                .inverse_cell = (float)(1 / work->grid->cell)};
  int64_t room = work->order->count + LANES;
  for (int a = 0; a < 3; a++) {
    g->norm[a] = work->sorted.norm[1 + a];
    g->velocity[a] = f->velocity[a];
    g->change[a] = f->change[a];
    g->moved[a] = f->moved[a];
    g->settle[a] = f->settle[a];
    TRY(scratch_take(core, scratch, &g->out_velocity[a], room, "velocity at particles"));
    TRY(scratch_take(core, scratch, &g->out_change[a], room, "velocity at particles"));
    TRY(scratch_take(core, scratch, &g->out_moved[a], room, "velocity at particles"));
    TRY(scratch_take(core, scratch, &g->out_settle[a], room, "velocity at particles"));
  }
  if (work->settings->shapes)
    for (int k = 0; k < 9; k++) {
      TRY(scratch_take(core, scratch, &work->gradient[k], room, "gradient at particles"));
      g->gradient[k] = work->gradient[k];
    }
  Vec3 gravity = work->state->gravity;
  from.gain[0] = (float)(gravity.x * work->dt);
  from.gain[1] = (float)(gravity.y * work->dt);
  from.gain[2] = (float)(gravity.z * work->dt);
  parallel_for(core, 0, work->grid->strips, STRIP_CHUNK / 4, from_grid_chunk, &from);
  return SCREE_OK;
}
