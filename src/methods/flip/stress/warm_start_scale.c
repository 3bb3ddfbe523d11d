/* Scale of the warm start near bodies.
 *
 * Solves begin with the stresses of the last step. When sand stops a body these are the stresses of its motion before,
 * and in the step in which it comes to rest they would throw it back: friction is found in some dozens of iterations,
 * which take away of such a wide stress only a part. So the warm start near a body, w sigma with w falling from 1 at
 * the body to 0 at CARRY_REACH, is first multiplied by the one number that leaves least kinetic energy of sand and
 * bodies. With u the velocities that the whole warm start leads to and d = dt M^-1 J (w sigma) the part of w sigma in
 * them, a multiple t leaves
 *
 *   E(t) = 1/2 |u - (1 - t) d|^2,   least at t = 1 - <u, d> / <d, d>,   <a, b> = sum of m a b.
 *
 * No more than 1 is taken, since more pressure than before is for the solves to find. Pressure and friction are scaled
 * alike: what is within the yield surface stays there. Sand and bodies feel the same stress: momentum is kept. */
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/solids/solids.h"
#include "methods/flip/stress/operator_kernels.h"
#include "methods/flip/stress/stress.h"

/* The stress near one body. */
typedef struct BodyStress {
  FlipWork *work;
  const Solid *solid;
  float *weight, *pressure, *stress[STRESSES]; /* w, w p, w s; 0 where w is */
  uint8_t *lanes;                              /* per strip, a bit per lane: w > 0 */
  StripList strips;                            /* that feel it */
  float *part[3], *all[3];                     /* d and u at the faces */
  double (*part_wrench)[6], (*part_change)[6]; /* the same of the bodies: J (w sigma), d */
  float scale;                                 /* t */
} BodyStress;

static Status take_memory(BodyStress *near_body) {
  FlipWork *work = near_body->work;
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int64_t cells = work_cells(work);
  float **fields[] = {&near_body->weight,  &near_body->pressure, &near_body->part[0], &near_body->part[1],
                      &near_body->part[2], &near_body->all[0],   &near_body->all[1],  &near_body->all[2]};
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
    TRY(scratch_take(core, scratch, fields[k], cells, "prediction"));
  for (int k = 0; k < STRESSES; k++) TRY(scratch_take(core, scratch, &near_body->stress[k], cells, "prediction"));
  TRY(scratch_take(core, scratch, &near_body->lanes, work->grid->strips, "prediction"));
  TRY(scratch_take(core, scratch, &near_body->part_wrench, work->solids.body_count, "prediction"));
  return scratch_take(core, scratch, &near_body->part_change, work->solids.body_count, "prediction");
}

/* w in the cells of a strip; returns where it is not 0, a bit a lane. */
static uint32_t weight_strip(const BodyStress *near_body, int64_t strip, float weight[STRIP]) {
  double cell = near_body->work->grid->cell, extent = solid_half_width(near_body->solid),
         reach = WARM_START_REACH * cell;
  double farthest = extent + reach + 0.5 * STRIP * cell;
  Vec3 first = vec3_add(strip_origin(near_body->work, (int32_t)strip), vec3(0.5 * cell, 0.5 * cell, 0.5 * cell));
  Vec3 from = vec3_sub(first, near_body->solid->center), middle = vec3_add(from, vec3(0.5 * (STRIP - 1) * cell, 0, 0));
  uint32_t lanes = 0;
  memset(weight, 0, sizeof(float) * STRIP);
  if (strip == 0 || vec3_dot(middle, middle) > farthest * farthest) return 0;
  for (int lane = 0; lane < STRIP; lane++) {
    double here = 1 - (vec3_length(vec3_add(from, vec3(lane * cell, 0, 0))) - extent) / reach;
    if (!(here > 0)) continue;
    weight[lane] = (float)fmin(1, here);
    lanes |= 1u << lane;
  }
  return lanes;
}

static void weigh_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const BodyStress *near_body = context;
  const FlipKept *kept = near_body->work->kept;
  for (int64_t strip = b; strip < e; strip++) {
    const float *weight = near_body->weight + strip * STRIP;
    near_body->lanes[strip] = (uint8_t)weight_strip(near_body, strip, near_body->weight + strip * STRIP);
    for (int lane = 0; lane < STRIP; lane++) {
      int64_t at = strip * STRIP + lane;
      near_body->pressure[at] = weight[lane] * kept->pressure[at];
      for (int k = 0; k < STRESSES; k++) near_body->stress[k][at] = weight[lane] * kept->stress[k][at];
    }
  }
}

/* d and u at the faces. */
static void push_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const BodyStress *near_body = context;
  const FlipWork *work = near_body->work;
  const FlipFields *f = &work->fields;
  double factor = work->dt / work->grid->cell;
  FaceUpdate part = {.grid = work->grid,
                     .strips = near_body->strips.strips,
                     .p = near_body->pressure,
                     .factor_p = (float)-factor,
                     .factor_s = (float)factor};
  FaceUpdate all = part;
  all.p = work->kept->pressure;
  for (int k = 0; k < STRESSES; k++) {
    part.s[k] = near_body->stress[k];
    all.s[k] = work->kept->stress[k];
  }
  for (int a = 0; a < 3; a++) {
    part.mobility[a] = all.mobility[a] = f->sand.specific_volume[a];
    part.out[a] = near_body->part[a];
    all.out[a] = near_body->all[a];
    all.in[a] = f->stress.change[a];
  }
  KERNEL_CALL(work->core, flip_face_update)(&part, b, e);
  KERNEL_CALL(work->core, flip_face_update)(&all, b, e);
  for (int64_t n = b; n < e; n++)
    for (int64_t at = (int64_t)part.strips[n] * STRIP; at < ((int64_t)part.strips[n] + 1) * STRIP; at++)
      for (int a = 0; a < 3; a++) near_body->all[a][at] += f->sand.velocity[a][at];
}

/* <with, d> of the faces. */
typedef struct Product {
  const BodyStress *near_body;
  float *const *with;
} Product;

static double product_chunk(void *context, int64_t b, int64_t e) {
  const Product *product = context;
  const BodyStress *near_body = product->near_body;
  double sum = 0;
  for (int64_t n = b; n < e; n++)
    for (int64_t at = (int64_t)near_body->strips.strips[n] * STRIP;
         at < ((int64_t)near_body->strips.strips[n] + 1) * STRIP; at++)
      for (int a = 0; a < 3; a++)
        sum += (double)near_body->work->fields.sand.mass[a][at] * (double)near_body->part[a][at] *
               (double)product->with[a][at];
  return sum;
}

static double product_at_faces(const BodyStress *near_body, float *const with[3]) {
  Product product = {near_body, with};
  return parallel_sum(near_body->work->core, 0, near_body->strips.count, STRIP_CHUNK, product_chunk, &product);
}

/* The multiple t, from 0 to 1. */
static float best_scale(BodyStress *near_body) {
  FlipWork *work = near_body->work;
  size_t size = sizeof *work->stress.body_wrench * (size_t)work->solids.body_count;
  parallel_for(work->core, 0, near_body->strips.count, STRIP_CHUNK, push_chunk, near_body);
  double along = product_at_faces(near_body, near_body->all), own = product_at_faces(near_body, near_body->part);
  flip_accelerate_bodies_by_stress(work, near_body->pressure, near_body->stress, work->dt);
  memcpy(near_body->part_wrench, work->stress.body_wrench, size);
  memcpy(near_body->part_change, work->stress.body_change, size);
  flip_accelerate_bodies_by_stress(work, work->kept->pressure, work->kept->stress, work->dt);
  for (int32_t k = 0; k < work->solids.body_count; k++)
    for (int i = 0; i < 6; i++) {
      double impulse = work->dt * near_body->part_wrench[k][i]; /* m d */
      along += impulse * (work->solids.bodies[k].velocity[i] + work->stress.body_change[k][i]);
      own += impulse * near_body->part_change[k][i];
    }
  return own > 0 ? (float)fmax(0, fmin(1, 1 - along / own)) : 1;
}

static void scale_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const BodyStress *near_body = context;
  const FlipKept *kept = near_body->work->kept;
  for (int64_t n = b; n < e; n++) {
    int64_t first = (int64_t)near_body->strips.strips[n] * STRIP;
    for (int64_t at = first; at < first + STRIP; at++) {
      float scale = 1 + (near_body->scale - 1) * near_body->weight[at];
      kept->pressure[at] *= scale;
      for (int k = 0; k < STRESSES; k++) kept->stress[k][at] *= scale;
    }
  }
}

/* Whether the warm start would drive the body at the end of the step: while it only slows it down, it is none too
 * large. What else moves a part of a mechanism, or holds it, is not known here. */
static bool drives_body(FlipWork *work, int32_t body) {
  double power = 0;
  if (work->state->solids.items[work->solids.bodies[body].solid].motion != MOTION_FREE) return false;
  flip_accelerate_bodies_by_stress(work, work->kept->pressure, work->kept->stress, work->dt);
  for (int i = 0; i < 6; i++)
    power +=
        work->stress.body_wrench[body][i] * (work->solids.bodies[body].velocity[i] + work->stress.body_change[body][i]);
  return power > 0;
}

static Status scale_at(FlipWork *work, int32_t body) {
  BodyStress near_body = {.work = work, .solid = &work->state->solids.items[work->solids.bodies[body].solid]};
  int mark = scratch_mark(work->step->scratch);
  TRY(take_memory(&near_body));
  parallel_for(work->core, 0, work->grid->strips, STRIP_CHUNK, weigh_chunk, &near_body);
  TRY(grid_list_strips(work->core, work->step->scratch, work->grid, near_body.lanes, true, &near_body.strips));
  near_body.scale = best_scale(&near_body);
  if (near_body.scale < 1) parallel_for(work->core, 0, near_body.strips.count, STRIP_CHUNK, scale_chunk, &near_body);
  scratch_release(work->core, work->step->scratch, mark);
  return SCREE_OK;
}

Status flip_scale_warm_start(FlipWork *work) {
  if (work->solids.face_count == 0) return SCREE_OK;
  for (int32_t k = 0; k < work->solids.body_count; k++)
    if (drives_body(work, k)) TRY(scale_at(work, k));
  return SCREE_OK;
}
