/* Staggered projections (Section 2.5): friction for the pressure there is, then pressure for that friction. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/solids/solids.h"
#include "methods/flip/stress/operator_kernels.h"
#include "methods/flip/stress/stress.h"
#include "methods/flip/transfer/transfer.h"

typedef struct Faces {
  FlipWork *work;
  FaceUpdate update;
} Faces;

static void update_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Faces *faces = context;
  KERNEL_CALL(faces->work->core, flip_face_update)(&faces->update, b, e);
}

/* What friction finds with the pressure in it (speed), or the pressure with the friction in it (flux); bodies included.
 */
static void flux_with(FlipWork *work, bool pressure, float *const out[3]) {
  FlipFields *f = &work->fields;
  double factor = work->dt / work->grid->cell;
  Faces faces = {.work = work};
  faces.update = (FaceUpdate){.grid = work->grid, .factor_p = (float)-factor, .factor_s = (float)factor};
  for (int a = 0; a < 3; a++) {
    faces.update.in[a] = pressure ? f->sand.joint_velocity[a] : f->sand.flux[a];
    faces.update.mobility[a] = pressure ? f->sand.mobility[a] : f->stress.pressure_mobility[a];
    faces.update.out[a] = out[a];
  }
  if (pressure) faces.update.p = work->kept->pressure;
  for (int k = 0; k < STRESSES && !pressure; k++) faces.update.s[k] = work->kept->stress[k];
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, update_chunk, &faces);
  if (work->solids.face_count == 0) return;
  flip_accelerate_bodies_by_stress(work, pressure ? work->kept->pressure : NULL, pressure ? NULL : work->kept->stress,
                                   work->dt);
  flip_add_body_flux(work, out);
}

typedef struct Velocities {
  FlipWork *work;
  float *const *gained; /* by stresses and walls */
  float *const *sharp;  /* velocity that particles settle to, with `fall` */
  float fall[3];        /* by gravity */
} Velocities;

static void velocity_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Velocities *v = context;
  FlipFields *f = &v->work->fields;
  for (int a = 0; a < 3; a++)
    for (int64_t at = b * STRIP; at < e * STRIP; at++) {
      f->stress.change[a][at] = v->gained[a][at] + f->sand.settle[a][at] * (v->sharp[a][at] - v->fall[a]);
      f->sand.velocity[a][at] += v->gained[a][at];
    }
}

/* Eq. 5 and 27: densities are those of the free part of a face's volume, so that its share cancels. */
static void accelerate(FlipWork *work, float *const none[3], float *const sharp[3]) {
  FlipFields *f = &work->fields;
  double factor = work->dt / work->grid->cell;
  Faces faces = {.work = work};
  faces.update = (FaceUpdate){
      .grid = work->grid, .p = work->kept->pressure, .factor_p = (float)-factor, .factor_s = (float)factor};
  for (int k = 0; k < STRESSES; k++) faces.update.s[k] = work->kept->stress[k];
  for (int a = 0; a < 3; a++) {
    faces.update.in[a] = f->stress.change[a];
    faces.update.mobility[a] = f->sand.specific_volume[a];
    faces.update.out[a] = none[a];
  }
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, update_chunk, &faces);
  Vec3 g = work->state->gravity;
  Velocities v = {work, none, sharp, {(float)(g.x * work->dt), (float)(g.y * work->dt), (float)(g.z * work->dt)}};
  parallel_for(work->core, 1, work->grid->strips, STRIP_CHUNK, velocity_chunk, &v);
}

static Status project(FlipWork *work, float *const flux[3], float *before) {
  int64_t cells = work_cells(work);
  double wanted = work->settings->staggered_tolerance;
  for (int k = 0; k < work->settings->iterations; k++) {
    double began = profile_begin();
    if (wanted > 0) memcpy(before, work->kept->pressure, sizeof(float) * (size_t)cells);
    flux_with(work, true, flux);
    TRY(flip_solve_friction(work, flux, k + 1 == work->settings->iterations));
    profile_end(work->step->profile, "friction", began);
    began = profile_begin();
    flux_with(work, false, flux);
    TRY(flip_solve_pressure(work, flux));
    flip_move_stopped(work);
    profile_end(work->step->profile, "pressure", began);
    if (!(wanted > 0)) continue;
    double moved = 0, size = 0;
    for (int64_t at = 0; at < cells; at++) {
      double d = (double)work->kept->pressure[at] - (double)before[at];
      moved += d * d;
      size += (double)work->kept->pressure[at] * (double)work->kept->pressure[at];
    }
    if (moved <= wanted * wanted * size) break;
  }
  return SCREE_OK;
}

Status flip_solve_stresses(FlipWork *work) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  int64_t cells = work_cells(work);
  int mark = scratch_mark(scratch);
  float *flux[3], *sharp[3], *before = NULL;
  for (int a = 0; a < 3; a++) {
    TRY(scratch_take(core, scratch, &flux[a], cells, "flux"));
    memset(flux[a], 0, sizeof(float) * STRIP);
    TRY(scratch_take(core, scratch, &sharp[a], cells, "velocity"));
  }
  TRY(scratch_take(core, scratch, &before, cells, "flux"));
  flip_find_unfilled(work);
  TRY(flip_stop_at_closed_faces(work));
  TRY(flip_push_thin_layers(work));
  flip_set_fluxes(work);
  TRY(flip_couple_bodies(work));
  double began = profile_begin();
  TRY(flip_scale_warm_start(work));
  profile_end(work->step->profile, "friction", began);
  Status status = project(work, flux, before);
  if (status == SCREE_OK) status = flip_sharpen(work, sharp);
  if (status == SCREE_OK) {
    accelerate(work, flux, sharp);
    flip_add_wrenches(work);
  }
  scratch_release(core, scratch, mark);
  return status;
}
