/* Layers at the surface that are too thin for a pressure of their own.
 *
 * A cell that is less than half full has no pressure: kept as it is, it could never be filled. But the sand in it lies
 * on what is below and presses to the sides as deep sand does. A layer of depth h on a full cell or on a solid has the
 * mean pressure rho g h^2 / (2 cell) over the side of a cell. Without it nothing drives the topmost h of a slope,
 * although friction holds it: a slope at which sand flows D deep would be steeper by h / D, a tenth for heaps of a few
 * cells.
 *
 * What lies below bears the weight of the layer already (its mass is on the face between the two); so the pressure acts
 * along the axes across gravity alone, before the stresses are solved for, which friction then answers. It is a force
 * between cells: it makes no momentum, for it acts only where both faces of a cell have sand to move. */
#define LANE_SCALAR /* there are few such cells: they are treated one by one */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/stress/pressure_law.h"
#include "methods/flip/stress/stress.h"

typedef struct ThinLayers {
  FlipWork *work;
  int axis; /* of gravity */
  bool down;
  float gravity; /* along it, m/s^2 */
  float *pressure;
  uint8_t *some; /* per strip: it has such a cell */
} ThinLayers;

/* Mean density of the sand in a cell. */
static float density_of(const FlipWork *work, int32_t cell) {
  if (!work->mixed) return 1 / work->specific_volume;
  float mass = 0, volume = 0;
  for (int32_t k = work->order->start[cell]; k < work->order->start[cell + 1]; k++) {
    mass += work->order->mass[k];
    volume += work->transfer.volume[k];
  }
  return volume > 0 ? mass / volume : 0;
}

bool flip_lies_on(const FlipWork *work, int32_t cell, int axis, bool down, bool *on_solid) {
  const FlipFields *f = &work->fields;
  int32_t above = cell_above(work->grid, cell, axis), face = down ? cell : above,
          under = down ? cell_below(work->grid, cell, axis) : above;
  *on_solid = !(f->solid.open[axis][face] > 0) && f->solid.owner[axis][face] >= 0;
  return under >= STRIP && f->solid.free_volume[under] - f->sand.phi[under] < PHI_NEARLY * f->solid.free_volume[under];
}

/* Depth of the layer in a cell, in cells; 0: it has none, or a pressure of its own. */
static float depth_of(const ThinLayers *layers, int32_t cell) {
  const FlipWork *work = layers->work;
  const FlipFields *f = &work->fields;
  float phi = f->sand.phi[cell];
  if (!(phi > 0) || f->solid.free_volume[cell] < 1 || (f->sand.usable[cell] > 0 && phi > PHI_RESTING)) return 0;
  bool solid = false, full = flip_lies_on(work, cell, layers->axis, layers->down, &solid);
  int32_t under =
      layers->down ? cell_below(work->grid, cell, layers->axis) : cell_above(work->grid, cell, layers->axis);
  if (!full && !solid && !(work->kept->pressure[under] > 0)) return 0;
  return layer_depth(phi, solid ? real(KERNEL_BELOW) : real(0));
}

static void depths_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const ThinLayers *layers = context;
  FlipWork *work = layers->work;
  float *depth = work->fields.stress.layer_depth;
  for (int64_t strip = b; strip < e; strip++) {
    layers->some[strip] = 0;
    for (int32_t at = (int32_t)strip * STRIP; at < ((int32_t)strip + 1) * STRIP; at++) {
      depth[at] = layers->axis < 0 ? 0 : depth_of(layers, at);
      layers->pressure[at] = 0;
      if (!(depth[at] > 0)) continue;
      layers->some[strip] = 1;
      layers->pressure[at] =
          layer_pressure(depth[at], layers->gravity * (float)work->grid->cell * density_of(work, at));
    }
  }
}

/* A face that sand alone is at, and that has enough of it. */
static bool takes_push(const FlipFields *f, int32_t face, int axis) {
  return f->sand.specific_volume[axis][face] > 0 && f->solid.open[axis][face] >= 1;
}

static void push_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const ThinLayers *layers = context;
  FlipWork *work = layers->work;
  const FlipGrid *grid = work->grid;
  FlipFields *f = &work->fields;
  const float factor = (float)(work->dt / grid->cell);
  for (int64_t strip = b; strip < e; strip++)
    for (int a = 0; a < 3; a++) {
      if (a == layers->axis || !(layers->some[strip] || layers->some[grid->near[strip][2 * a]])) continue;
      for (int32_t at = (int32_t)strip * STRIP; at < ((int32_t)strip + 1) * STRIP; at++) {
        if (!takes_push(f, at, a)) continue;
        int32_t low = cell_below(grid, at, a);
        float here = takes_push(f, cell_above(grid, at, a), a) ? layers->pressure[at] : 0,
              below = takes_push(f, low, a) ? layers->pressure[low] : 0, push = factor * (below - here);
        f->stress.change[a][at] += push * f->sand.specific_volume[a][at];
        f->sand.flux[a][at] += push * f->sand.flux_mobility[a][at];
        f->sand.joint_velocity[a][at] += push * f->sand.mobility[a][at];
      }
    }
}

Status flip_push_thin_layers(FlipWork *work) {
  Scratch *scratch = work->step->scratch;
  ThinLayers layers = {.work = work};
  int64_t strips = work->grid->strips;
  int mark = scratch_mark(scratch);
  TRY(scratch_take(work->core, scratch, &layers.pressure, work_cells(work), "thin layers"));
  TRY(scratch_take(work->core, scratch, &layers.some, strips, "thin layers"));
  memset(layers.pressure, 0, sizeof(float) * STRIP);
  layers.some[0] = 0;
  layers.axis = work_downward(work, &layers.down);
  if (layers.axis >= 0) layers.gravity = (float)fabs(vec3_get(work->state->gravity, layers.axis));
  parallel_for(work->core, 1, strips, STRIP_CHUNK, depths_chunk, &layers);
  if (layers.axis >= 0) parallel_for(work->core, 1, strips, STRIP_CHUNK, push_chunk, &layers);
  scratch_release(work->core, scratch, mark);
  return SCREE_OK;
}
