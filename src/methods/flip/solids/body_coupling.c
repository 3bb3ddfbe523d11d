/* Bodies that move with the sand: their faces, and their part in the solves (Eq. 21, 22, 25, 26). */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/solids/solids.h"
#include "methods/flip/stress/stress.h"

/* ---- bodies and their faces ---- */

Status flip_list_bodies(FlipWork *work) {
  const Solids *solids = &work->state->solids;
  TRY(scratch_take(work->core, work->step->scratch, &work->solids.bodies, solids->count + 1, "bodies"));
  TRY(scratch_take(work->core, work->step->scratch, &work->solids.body_of_solid, solids->count + 1, "bodies"));
  work->solids.body_count = 0;
  for (int32_t k = 0; k < solids->count; k++) {
    const Solid *solid = &solids->items[k];
    work->solids.body_of_solid[k] = -1;
    if (solid->motion != MOTION_FREE && solid->motion != MOTION_MECHANISM) continue;
    CoupledBody *body = &work->solids.bodies[work->solids.body_count];
    *body = (CoupledBody){.solid = k};
    memcpy(body->inverse, solid->inverse_inertia, sizeof body->inverse);
    /* What holds or drives a part of a mechanism does so as in the last step. */
    const double *driven = solid->driven;
    Vec3 push = vec3(driven[0], driven[1], driven[2]), twist = vec3(driven[3], driven[4], driven[5]);
    if (solid->motion == MOTION_FREE) {
      push = vec3_madd(work->state->gravity, solid->outside_force, solid->mass > 0 ? 1 / solid->mass : 0);
      twist = vec3(0, 0, 0);
    }
    Vec3 v = vec3_madd(solid->velocity, push, work->dt), spin = vec3_madd(solid->spin, twist, work->dt);
    const double start[6] = {v.x, v.y, v.z, spin.x, spin.y, spin.z};
    memcpy(body->velocity, start, sizeof start);
    work->solids.body_of_solid[k] = (int16_t)work->solids.body_count++;
  }
  return SCREE_OK;
}

Status flip_list_faces(FlipWork *work) {
  FlipFields *f = &work->fields;
  work->solids.face_count = 0;
  work->solids.faces = NULL;
  if (work->solids.body_count == 0) return SCREE_OK;
  for (int pass = 0; pass < 2; pass++) {
    int64_t count = 0;
    for (int64_t strip = 1; strip < work->grid->strips; strip++) {
      if (!strip_meets_moving(work, strip)) continue;
      for (int lane = 0; lane < STRIP; lane++)
        for (int a = 0; a < 3; a++) {
          int64_t at = strip * STRIP + lane;
          int16_t owner = f->solid.owner[a][at];
          if (owner < 0 || !(f->solid.open[a][at] < 1) || work->solids.body_of_solid[owner] < 0) continue;
          if (pass == 1) {
            Vec3 face = face_point(strip_origin(work, (int32_t)strip), work->grid->cell, lane, a);
            Vec3 arm = vec3_sub(face, work->state->solids.items[owner].center);
            work->solids.faces[count] = (CoupledFace){.face = (int32_t)at,
                                                      .low = cell_below(work->grid, (int32_t)at, a),
                                                      .axis = (int16_t)a,
                                                      .body = work->solids.body_of_solid[owner],
                                                      .share = 1 - f->solid.open[a][at],
                                                      .arm = {(float)arm.x, (float)arm.y, (float)arm.z}};
          }
          count++;
        }
    }
    if (pass == 0) TRY(scratch_take(work->core, work->step->scratch, &work->solids.faces, count + 1, "coupled faces"));
    work->solids.face_count = count;
  }
  return SCREE_OK;
}

void flip_set_body_velocities(FlipWork *work) {
  for (int64_t k = 0; k < work->solids.face_count; k++) {
    const CoupledFace *face = &work->solids.faces[k];
    work->fields.solid.velocity[face->axis][face->face] =
        (float)coupled_velocity(face, work->solids.bodies[face->body].velocity);
  }
}

/* ---- in the solves ---- */

/* Whether a cell that may bear stress lies within one cell of the face's. */
static bool stress_reaches(const FlipWork *work, int32_t face) {
  const FlipGrid *grid = work->grid;
  const float *usable = work->fields.sand.usable;
  int lane = face % STRIP;
  for (int row = 0; row < 9; row++) {
    int64_t at = (int64_t)grid_row(grid, face / STRIP, row % 3 - 1, row / 3 - 1) * STRIP;
    const int32_t *near = grid->near[at / STRIP];
    float before = lane > 0 ? usable[at + lane - 1] : usable[(int64_t)near[X_LOW] * STRIP + STRIP - 1];
    float behind = lane < STRIP - 1 ? usable[at + lane + 1] : usable[(int64_t)near[X_HIGH] * STRIP];
    if (usable[at + lane] > 0 || before > 0 || behind > 0) return true;
  }
  return false;
}

/* The traces of their parts of J M^-1 J^T. */
static void find_body_norms(FlipWork *work) {
  memset(work->stress.body_norm, 0, sizeof *work->stress.body_norm * (size_t)(work->solids.body_count + 1));
  for (int64_t k = 0; k < work->solids.face_count; k++) {
    const CoupledFace *face = &work->solids.faces[k];
    double unit[6] = {0}, sum = 0;
    coupled_add_force(face, 1, unit);
    for (int r = 0; r < 6; r++)
      for (int c = 0; c < 6; c++) sum += unit[r] * work->solids.bodies[face->body].inverse[r][c] * unit[c];
    work->stress.body_norm[face->body] += work->grid->cell * (double)(face->share * face->share) * sum;
  }
}

Status flip_couple_bodies(FlipWork *work) {
  Core *core = work->core;
  Scratch *scratch = work->step->scratch;
  if (work->solids.face_count > 0) {
    int64_t kept = 0;
    for (int64_t k = 0; k < work->solids.face_count; k++)
      if (work->solids.faces[k].stopped || stress_reaches(work, work->solids.faces[k].face))
        work->solids.faces[kept++] = work->solids.faces[k];
    work->solids.face_count = kept;
  }
  int64_t parts = (parallel_chunks(0, work->solids.face_count, FACE_CHUNK) + 1) * (work->solids.body_count + 1);
  TRY(scratch_take(core, scratch, &work->stress.wrench_parts, parts, "bodies"));
  TRY(scratch_take(core, scratch, &work->stress.body_norm, work->solids.body_count + 1, "bodies"));
  find_body_norms(work);
  TRY(scratch_take(core, scratch, &work->stress.body_wrench, work->solids.body_count + 1, "bodies"));
  return scratch_take(core, scratch, &work->stress.body_change, work->solids.body_count + 1, "bodies");
}

typedef struct Coupling {
  FlipWork *work;
  const float *pressure;
  float *const *stress;
} Coupling;

static void wrench_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Coupling *coupling = context;
  const FlipWork *work = coupling->work;
  double(*wrench)[6] = work->stress.wrench_parts + b / FACE_CHUNK * work->solids.body_count;
  double area = work->grid->cell * work->grid->cell;
  memset(wrench, 0, sizeof *wrench * (size_t)work->solids.body_count);
  for (int64_t k = b; k < e; k++) {
    const CoupledFace *face = &work->solids.faces[k];
    double force = 0;
    if (coupling->pressure) force += (double)coupling->pressure[face->low] - (double)coupling->pressure[face->face];
    if (coupling->stress) force += flip_stress_force(work, coupling->stress, face->face, face->axis);
    if (force != 0) coupled_add_force(face, force * area * (double)face->share, wrench[face->body]);
  }
}

void flip_accelerate_bodies(FlipWork *work, double dt) {
  for (int32_t k = 0; k < work->solids.body_count; k++)
    for (int r = 0; r < 6; r++) {
      double sum = 0;
      for (int c = 0; c < 6; c++) sum += work->solids.bodies[k].inverse[r][c] * work->stress.body_wrench[k][c];
      work->stress.body_change[k][r] = dt * sum;
    }
}

void flip_accelerate_bodies_by_parts(FlipWork *work, int64_t chunks, double dt) {
  memset(work->stress.body_wrench, 0, sizeof *work->stress.body_wrench * (size_t)work->solids.body_count);
  for (int64_t c = 0; c < chunks; c++)
    for (int32_t k = 0; k < work->solids.body_count; k++)
      for (int r = 0; r < 6; r++)
        work->stress.body_wrench[k][r] += work->stress.wrench_parts[c * work->solids.body_count + k][r];
  flip_accelerate_bodies(work, dt);
}

void flip_accelerate_bodies_by_stress(FlipWork *work, const float *pressure, float *const *stress, double dt) {
  Coupling coupling = {work, pressure, stress};
  parallel_for(work->core, 0, work->solids.face_count, FACE_CHUNK, wrench_chunk, &coupling);
  flip_accelerate_bodies_by_parts(work, parallel_chunks(0, work->solids.face_count, FACE_CHUNK), dt);
}

typedef struct FaceFlux {
  const FlipWork *work;
  float *const *flux;
} FaceFlux;

static void flux_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const FaceFlux *to = context;
  for (int64_t k = b; k < e; k++) {
    const CoupledFace *face = &to->work->solids.faces[k];
    to->flux[face->axis][face->face] +=
        (float)((double)face->share * coupled_velocity(face, to->work->stress.body_change[face->body]));
  }
}

void flip_add_body_flux(const FlipWork *work, float *const flux[3]) {
  FaceFlux to = {work, flux};
  parallel_for(work->core, 0, work->solids.face_count, FACE_CHUNK, flux_chunk, &to);
}
