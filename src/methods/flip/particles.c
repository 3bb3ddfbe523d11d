/* Particles to the grid and back (Section 3, after Brackbill and Ruppel 1986). */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/beside.h"
#include "methods/flip/stress.h"
#include "methods/flip/transfer_kernels.h"

enum { FROM_CHUNK = 64 };

/* Faces that hold less of their volume than this move nothing and are moved by nothing. */
#define FILL_LEAST 1e-5f

/* Faces that hold more than this bear stresses, see surface.c. A bed whose surface passes the middle of a cell fills
 * the face above to an eighth, one that passes a sixth of a cell higher to a fifth: the pressure of a cell begins as
 * small as that while the surface climbs into it. Lighter faces make friction harder to solve, in proportion. */
#define FILL_STRONG 0.2f

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
  bool again;    /* who rides is known */
} ToGrid;

/* What the sums of a node mean. */
static void faces_chunk(const ToGrid *to, int64_t b, int64_t e) {
  FlipWork *work = to->work;
  FlipFields *f = &work->fields;
  const Splat *splat = &to->splat;
  float volume = (float)(work->grid->cell * work->grid->cell * work->grid->cell), inverse = 1 / volume;
  const ScreeMaterialDef *only = &work->state->materials.items[0].definition;
  float strength = material_strength(only), cohesion = (float)only->cohesion;
  for (int64_t at = b * STRIP; at < e * STRIP; at++) {
    float sand = splat->volume[at];
    f->fill[at] = f->free[at] * sand * inverse / f->room[0][at];
    f->strength[at] = !work->mixed ? strength : sand > 0 ? splat->strength[at] / sand : 0;
    f->cohesion[at] = !work->mixed ? cohesion : sand > 0 ? splat->cohesion[at] / sand : 0;
    for (int a = 0; a < 3; a++) {
      bool valid = f->valid[1 + a][at / STRIP] >> (at % STRIP) & 1; /* what fell on others belongs to these already */
      float mass = valid ? splat->mass[a][at] : 0, open = f->open[a][at], room = f->room[1 + a][at];
      float bulk = !valid ? 0 : work->mixed ? splat->bulk[a][at] : mass * work->rest_specific;
      float fill = bulk * inverse / room;
      bool some = fill > FILL_LEAST;
      float velocity = mass > 0 ? splat->momentum[a][at] / mass + to->gain[a] : 0;
      f->mass[a][at] = mass;
      f->velocity[a][at] = velocity;
      uint8_t *bits = &f->strong[a][at / STRIP], bit = (uint8_t)(1u << at % STRIP);
      if (!to->again) {
        *bits = at % STRIP ? *bits : 0;
        if (valid && (fill > FILL_STRONG || !(open > 0))) *bits |= bit;
      }
      bool strong = some && *bits & bit;
      f->lightness[a][at] = strong && open > 0 ? volume * room / mass : 0;
      f->flux[a][at] = (some ? open * fill * velocity : 0) + (1 - open) * f->wall_v[a][at];
      f->gain[a][at] = strong ? open * bulk / mass : 0;
      f->speed[a][at] = open * velocity + (1 - open) * f->wall_v[a][at];
      f->ease[a][at] = open * f->lightness[a][at];
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

static void again_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const ToGrid *to = context;
  for (int64_t strip = b; strip < e; strip++) {
    if (!flip_surface_at(to->work, (int32_t)strip)) continue;
    KERNEL_CALL(to->work->core, flip_splat)(&to->splat, strip, strip + 1);
    faces_chunk(to, strip, strip + 1);
  }
}

/* Grains touch each other in dense cells, and solids where cells have closed faces. */
static bool grains_touch(const FlipWork *work, int32_t cell) {
  const FlipFields *f = &work->fields;
  bool touch = f->fill[cell] > FILL_DENSE * f->free[cell];
  for (int a = 0; a < 3 && !touch && f->fill[cell] > 0; a++)
    for (int side = 0; side < 2; side++) {
      int32_t face = side ? cell_above(work->grid, cell, a) : cell;
      touch = touch || (f->owner[a][face] >= 0 && !(f->open[a][face] > 0));
    }
  return touch;
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
    bool touch = grains_touch(work, (int32_t)at);
    for (int a = 0; a < 3; a++) {
      int32_t low = cell_below(work->grid, (int32_t)at, a);
      f->settle[a][at] = f->mass[a][at] > 0 && (touch || grains_touch(work, low)) ? settle : 0;
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
  parallel_for(core, 1, work->grid->strips, STRIP_CHUNK, to_grid_chunk, &to);
  flip_find_riders(work);
  to.again = true;
  for (int a = 0; a < 3; a++) {
    to.splat.parcels.strong[a] = work->fields.strong[a];
    to.splat.parcels.loose[a] = work->sorted.loose[a];
  }
  parallel_for(core, 1, work->grid->strips, STRIP_CHUNK, again_chunk, &to);
  parallel_for(core, 1, work->grid->strips, STRIP_CHUNK, usable_chunk, work);
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}

/* ---- back ---- */

typedef struct FromGrid {
  FlipWork *work;
  Gather gather;
  float *speed; /* largest of a chunk of strips */
} FromGrid;

/* How far the sand of a cell may go in a step, in cells: half a full cell's worth of it where it is pressed, and twice
 * that where it is not: then it meets nothing before the next cell. */
static float way_of_cell(const FlipWork *work, int64_t cell) {
  float least = (float)work->settings->way, most = (float)work->settings->loose_way;
  if (work->kept->pressure[cell] == 0) least = fminf(2 * least, most);
  float fill = work->fields.fill[cell], free = work->fields.free[cell];
  float way = fill > 0 ? least * free / fill : most;
  return way < least ? least : way > most ? most : way;
}

/* Those off the grid. */
static void move_lost(const FromGrid *from) {
  Particles *p = &from->work->state->particles;
  float *velocity[3] = {p->vx, p->vy, p->vz}, *way_of[3] = {p->dx, p->dy, p->dz}, dt = (float)from->work->dt;
  for (int64_t k = 0; k < from->work->order->lost; k++)
    for (int a = 0; a < 3; a++) {
      int32_t i = from->work->order->index[k];
      velocity[a][i] += from->gather.gain[a];
      way_of[a][i] = dt * velocity[a][i];
    }
}

/* Whether the friction of what solids stop in this cell is solved for (limit_at_walls in friction.c): its faces have
 * sand that can bear it. */
static bool rubs_on_the_grid(const FlipWork *work, int32_t cell) {
  const FlipFields *f = &work->fields;
  bool strong = true;
  for (int a = 0; a < 3 && strong; a++) {
    int32_t above = cell_above(work->grid, cell, a);
    bool low = f->strong[a][cell / STRIP] >> (cell % STRIP) & 1,
         high = f->strong[a][above / STRIP] >> (above % STRIP) & 1;
    strong = low || high;
  }
  return strong;
}

/* Answers the largest speed, as FlipWork.speed counts it. */
static float move_strip(const FromGrid *from, int64_t strip) {
  const FlipWork *work = from->work;
  const Gather *g = &from->gather;
  Particles *p = &work->state->particles;
  bool near = work->fields.near[strip];
  StopWindow window;
  uint32_t stops = near ? strip_stops(work, (int32_t)strip, &window) : 0,
           walls = near ? strip_walls(work->solids[strip]) : 0;
  float side = (float)work->grid->cell, half = (float)work->settings->way, largest = 0;
  int32_t place[3];
  strip_place(work->grid->key[strip], place);
  for (int lane = 0; lane < STRIP; lane++) {
    int64_t cell = strip * STRIP + lane;
    if (work->order->start[cell] == work->order->start[cell + 1]) continue;
    float most = way_of_cell(work, cell), share = half / most, longest = most * side;
    float long_way = most > half ? half * half * side * side * 1.0001f : INFINITY;
    bool stopped = stops >> lane & 1, walled = walls >> lane & 1;
    for (int32_t k = work->order->start[cell]; k < work->order->start[cell + 1]; k++) {
      int32_t i = work->order->index[k];
      float way[3], v[3], square = g->out_square[k];
      for (int a = 0; a < 3; a++) {
        float w = g->out_way[a][k];
        way[a] = w < -longest ? -longest : w > longest ? longest : w;
        v[a] = g->out_velocity[a][k];
      }
      largest = square * share * share > largest ? square * share * share : largest;
      bool far = way[0] * way[0] + way[1] * way[1] + way[2] * way[2] > long_way;
      if (far || stopped || walled) {
        Beside beside = beside_of(work, strip, place, k, near);
        const float norm[3] = {work->sorted.norm[1][k], work->sorted.norm[2][k], work->sorted.norm[3][k]};
        if (stopped && !rubs_on_the_grid(work, (int32_t)cell)) beside_rub(&beside, &window, norm, v, way);
        if (far) beside_fly(&beside, way, v);
        else if (walled) beside_keep_out(&beside, way, v);
      }
      p->vx[i] = v[0], p->vy[i] = v[1], p->vz[i] = v[2];
      p->dx[i] = way[0], p->dy[i] = way[1], p->dz[i] = way[2];
    }
  }
  return sqrtf(largest);
}

static void from_grid_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const FromGrid *from = context;
  KERNEL_CALL(from->work->core, flip_gather)(&from->gather, b, e);
  float largest = 0;
  for (int64_t strip = b; strip < e; strip++) {
    float speed = move_strip(from, strip);
    largest = speed > largest ? speed : largest;
  }
  from->speed[b / FROM_CHUNK] = largest;
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
                .dt = (float)work->dt,
                .inverse_cell = (float)(1 / work->grid->cell),
                .near = f->near,
                .riders = f->riders,
                .rides = work->sorted.rides};
  int64_t room = work->order->count + LANES;
  for (int a = 0; a < 3; a++) {
    g->norm[a] = work->sorted.norm[1 + a];
    g->valid[a] = f->valid[1 + a];
    g->strong[a] = f->strong[a];
    g->velocity[a] = f->velocity[a];
    g->change[a] = f->change[a];
    g->moved[a] = f->moved[a];
    g->settle[a] = f->settle[a];
    g->before[a] = work->sorted.velocity[a];
    g->gain[a] = (float)(vec3_get(work->state->gravity, a) * work->dt);
    TRY(scratch_take(core, scratch, &g->out_velocity[a], room, "velocity at particles"));
    TRY(scratch_take(core, scratch, &g->out_way[a], room, "velocity at particles"));
  }
  TRY(scratch_take(core, scratch, &g->out_square, room, "velocity at particles"));
  if (work->settings->shapes)
    for (int k = 0; k < 9; k++) {
      TRY(scratch_take(core, scratch, &work->gradient[k], room, "gradient at particles"));
      g->gradient[k] = work->gradient[k];
    }
  int64_t chunks = work->grid->strips / FROM_CHUNK + 1;
  TRY(scratch_take(core, scratch, &from.speed, chunks, "speeds"));
  memset(from.speed, 0, sizeof(float) * (size_t)chunks);
  move_lost(&from);
  parallel_for(core, 1, work->grid->strips, FROM_CHUNK, from_grid_chunk, &from);
  for (int64_t c = 0; c < chunks; c++) work->speed = fmax(work->speed, (double)from.speed[c]);
  return SCREE_OK;
}
