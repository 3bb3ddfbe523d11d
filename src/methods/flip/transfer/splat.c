/* Particles to the grid (Section 3, line 1 of Fig. 8). */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/transfer/node_fields_kernels.h"
#include "methods/flip/transfer/splat_kernels.h"
#include "methods/flip/transfer/transfer.h"

enum { SORT_CHUNK = 4096 };

/* Faces that hold less of their volume than this move nothing and are moved by nothing. */
#define PHI_LEAST 1e-5f

/* Faces that hold more than this bear stresses, see bearing_faces.c. A bed whose surface passes the middle of a cell
 * fills the face above to an eighth, one that passes a sixth of a cell higher to a fifth: the pressure of a cell begins
 * as small as that while the surface climbs into it. Lighter faces make friction harder to solve, in proportion. */
#define PHI_BEARING 0.2f
/* The same for faces beside a cell that was pressed in the last step: particles that creep to and fro would otherwise
 * take the support from some sand of a slope again and again. */
#define PHI_STAYS_BEARING 0.15f

/* s_max of Eq. 15 is sqrt(2/3) of the cone's pure shear, which is tan(theta) p + cohesion: in the shear of a long slope
 * that flows, p is the normal stress, so that it comes to rest at theta. */
#define LIMIT_OVER_SHEAR 0.81649658f
static float material_alpha(const FlipWork *work, int32_t material) {
  return LIMIT_OVER_SHEAR * work->friction[material];
}
static float material_cohesion(const ScreeMaterialDef *material) {
  return LIMIT_OVER_SHEAR * (float)material->cohesion;
}

static void sort_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  FlipWork *work = context;
  const Particles *p = &work->state->particles;
  const Materials *materials = &work->state->materials;
  TransferStage *to = &work->transfer;
  float specific[MATERIALS_MAX], alpha[MATERIALS_MAX], cohesion[MATERIALS_MAX];
  for (int32_t m = 0; m < materials->count; m++) {
    specific[m] = (float)(1 / materials->items[m].definition.density);
    alpha[m] = material_alpha(work, m);
    cohesion[m] = material_cohesion(&materials->items[m].definition);
  }
  for (int64_t k = b; k < e; k++) {
    uint8_t m = p->material[work->order->index[k]];
    to->volume[k] = work->order->mass[k] * specific[m];
    to->alpha_volume[k] = to->volume[k] * alpha[m];
    to->cohesion_volume[k] = to->volume[k] * cohesion[m];
  }
}

void flip_sort_materials(FlipWork *work) {
  if (work->mixed) parallel_for(work->core, 0, work->order->count, SORT_CHUNK, sort_chunk, work);
}

/* ---- to the grid ---- */

typedef struct RowSplat {
  const FlipWork *work;
  const Splat *splat;
} RowSplat;

static void block_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const RowSplat *to = context;
  const GridRows *rows = &to->work->rows;
  for (int64_t block = b; block < e; block++)
    for (int32_t row = rows->blocks[block][0]; row < rows->blocks[block][1]; row++)
      KERNEL_CALL(to->work->core, flip_splat)(to->splat, rows->strips[row][0], rows->strips[row][1]);
}

/* All strips, colour by colour. */
static void splat_rows(const FlipWork *work, const Splat *splat) {
  RowSplat to = {work, splat};
  for (int color = 0; color < ROW_COLORS; color++)
    parallel_for(work->core, work->rows.start[color], work->rows.start[color + 1], 1, block_chunk, &to);
}

typedef void (*NodeKernel)(const NodeSums *sums, int64_t b, int64_t e);

typedef struct ToGrid {
  FlipWork *work;
  float (*sums)[NODE_SUMS], (*others)[NODE_SUMS]; /* see NodeSums */
  NodeSums nodes;
  NodeKernel find; /* at work on them */
  uint8_t *taken;  /* strips whose faces are found again, once restricted particles are known; NULL before */
} ToGrid;

/* m/s^2. Crowded sand is pushed apart without gravity, too, and what that leaves between the nodes has to be lost there
 * as well. The sand's own motion gives no rate that could be told from that of a flow under gravity. */
#define LEAST_GRAVITY 1.6

/* 1/s: sand falls through a share of a cell in the time that its noise is lost in, whatever the size of the cell. */
static double settle_rate(const FlipWork *work) {
  double g = fmax(LEAST_GRAVITY, vec3_length(work->state->gravity));
  return work->settings->settle * sqrt(g / work->grid->cell);
}

static void find_node_sums(ToGrid *to) {
  const FlipWork *work = to->work;
  const ScreeMaterialDef *only = &work->state->materials.items[0].definition;
  NodeSums *nodes = &to->nodes;
  nodes->grid = work->grid;
  nodes->sums = (const float(*)[NODE_SUMS])to->sums;
  nodes->others = (const float(*)[NODE_SUMS])to->others;
  nodes->one_alpha = material_alpha(work, 0);
  nodes->one_cohesion = material_cohesion(only);
  nodes->one_specific_volume = work->specific_volume;
  nodes->volume = (float)(work->grid->cell * work->grid->cell * work->grid->cell);
  nodes->least = PHI_LEAST;
  nodes->bearing = PHI_BEARING;
  nodes->stays_bearing = PHI_STAYS_BEARING;
  nodes->dense = PHI_DENSE;
  nodes->pressure = work->kept->pressure;
  nodes->settle = (float)fmin(1, settle_rate(work) * work->dt);
  nodes->body_of_solid = work->solids.body_of_solid;
  nodes->fields = work->fields;
  for (int a = 0; a < 3; a++) nodes->gained[a] = (float)(vec3_get(work->state->gravity, a) * work->dt);
}

static void nodes_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const ToGrid *to = context;
  to->find(&to->nodes, b, e);
}

/* Fields of all strips from the sums, by one of the kernels. */
static void find_fields(ToGrid *to, NodeKernel find) {
  to->find = find;
  parallel_for(to->work->core, 1, to->work->grid->strips, STRIP_CHUNK, nodes_chunk, to);
}

static void empty_faces(float (*sums)[NODE_SUMS], int64_t strip) {
  for (int64_t at = strip * STRIP; sums && at < (strip + 1) * STRIP; at++)
    memset(&sums[at][AT_X], 0, sizeof(float) * (AT_CENTRE_TOO - AT_X));
}

/* Strips whose faces must be found again have nothing in them. */
static void empty_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const ToGrid *to = context;
  for (int64_t strip = b; strip < e; strip++) {
    to->taken[strip] = flip_restricted_near(to->work, (int32_t)strip);
    if (!to->taken[strip]) continue;
    empty_faces(to->sums, strip);
    empty_faces(to->others, strip);
  }
}

/* Sums of all nodes, or of the faces in the strips that are taken. */
static void splat_all(const ToGrid *to) {
  const FlipWork *work = to->work;
  const TransferStage *s = &work->transfer;
  const FlipFields *f = &work->fields;
  bool again = to->taken != NULL;
  Splat splat = {.grid = work->grid,
                 .start = work->order->start,
                 .x = work->order->x,
                 .y = work->order->y,
                 .z = work->order->z,
                 .face = work->order->mass,
                 .norm = (const float *const *)s->norm,
                 .normed = again ? f->sand.normed : f->solid.near,
                 .taken = to->taken,
                 .sums = to->sums};
  if (again) {
    splat.restricted = s->restricted;
    splat.restricted_lanes = f->sand.restricted;
    for (int a = 0; a < 3; a++) splat.bearing[a] = f->sand.bearing[a];
  } else {
    splat.centre[0] = work->mixed ? s->volume : work->order->mass;
    splat.centre[1] = work->mixed ? s->alpha_volume : NULL;
  }
  for (int a = 0; a < 3; a++) splat.velocity[a] = work->order->velocity[a];
  splat_rows(work, &splat);
  if (!work->mixed) return;
  splat.face = s->volume;
  splat.centre[0] = again ? NULL : s->cohesion_volume;
  splat.centre[1] = NULL;
  for (int a = 0; a < 3; a++) splat.velocity[a] = NULL;
  splat.sums = to->others;
  splat_rows(work, &splat);
}

static Status take_node_sums(ToGrid *to) {
  Core *core = to->work->core;
  Scratch *scratch = to->work->step->scratch;
  int64_t cells = work_cells(to->work), strips = to->work->grid->strips;
  TRY(scratch_take(core, scratch, &to->sums, cells, "sums of particles"));
  grid_clear(core, to->sums[0], cells * NODE_SUMS);
  if (to->work->mixed) {
    TRY(scratch_take(core, scratch, &to->others, cells, "sums of particles"));
    grid_clear(core, to->others[0], cells * NODE_SUMS);
  }
  uint8_t **bytes[] = {&to->nodes.bears[0],  &to->nodes.bears[1],  &to->nodes.bears[2], &to->nodes.closed[0],
                       &to->nodes.closed[1], &to->nodes.closed[2], &to->nodes.touch};
  for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++) {
    TRY(scratch_take(core, scratch, bytes[k], strips, "strips"));
    (*bytes[k])[0] = 0;
  }
  find_node_sums(to);
  return SCREE_OK;
}

Status flip_particles_to_grid(FlipWork *work) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int64_t strips = work->grid->strips;
  ToGrid to = {.work = work};
  uint8_t *taken;
  int mark = scratch_mark(scratch);
  TRY(take_node_sums(&to));
  TRY(scratch_take(core, scratch, &taken, strips, "strips"));
  taken[0] = 0;
  splat_all(&to);
  find_fields(&to, KERNEL_CALL(core, flip_find_bearing));
  flip_restrict_particles(work);
  to.taken = taken;
  parallel_for(core, 1, strips, STRIP_CHUNK, empty_chunk, &to);
  splat_all(&to);
  find_fields(&to, KERNEL_CALL(core, flip_node_fields));
  find_fields(&to, KERNEL_CALL(core, flip_cell_fields));
  find_fields(&to, KERNEL_CALL(core, flip_settle_fields));
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}
