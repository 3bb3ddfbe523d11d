/* pbd: coarse grains after Sommer 2022, Section 3 (and Macklin 2014). Line numbers are those of its Algorithm 1.
 *
 * Departures, each selectable back to the paper's way: mass splitting instead of averaging (it keeps momentum, and
 * the floor then carries the weight exactly); friction limited by the penetration depth over the whole step instead
 * of 2 r; forces of contacts, friction's above all, remembered across steps, so that a pile does not creep. See
 * docs/methods/pbd.md. */
#include <math.h>

#include "methods/common/position.h"
#include "methods/common/position_calibration.h"
#include "methods/common/position_device.h"
#include "methods/common/position_pressure.h"
#include "methods/common/still_calibration.h"
#include "methods/pbd/pbd.h"

#define PBD_TIME_STEP 0.005 /* Section 5.2 */

typedef struct Pbd {
  PositionSettings settings;
  PositionSearch search;
  ContactMemory memory;
  PositionSpin spin;
  double last_h;          /* substep of the last step */
  PositionDevice *device; /* NULL: it runs on the CPU */
} Pbd;

static const Calibration *pbd_calibration(const ScreeMethodDef *definition) {
  return definition->pbd.averaging ? &STILL_CALIBRATION : &POSITION_CALIBRATION;
}

static Status pbd_create(Core *core, State *state, ScreeMethodDef *definition, void **data) {
  Pbd *pbd = NULL;
  TRY(memory_new(core, &pbd, 1, "pbd"));
  *data = pbd;
  if (scree_is_auto(definition->time_step)) definition->time_step = PBD_TIME_STEP;
  if (scree_is_auto(definition->cfl)) definition->cfl = POSITION_CFL;
  pbd->settings = (PositionSettings){
      .iterations = (int)definition->pbd.iterations,
      .stabilization = (int)definition->pbd.stabilization,
      .relaxation = definition->pbd.averaging ? 1 : (float)definition->pbd.relaxation,
      .averaging = definition->pbd.averaging,
      .memory = definition->pbd.memory && !definition->pbd.averaging,
      .shift_share = definition->pbd.averaging ? 0 : POSITION_SHIFT_SHARE,
      .slop = !definition->pbd.averaging,
      .mass_scaling = (float)definition->pbd.mass_scaling,
      .second_rows = true,
      .time_step = definition->time_step,
      .printed_limit = definition->pbd.friction_limit == SCREE_FRICTION_PRINTED,
  };
  if (pbd->settings.averaging && position_cohesive(&pbd->settings, &state->materials))
    log_line(core, SCREE_LOG_WARNING, "'cohesion' is not read by pbd with averaging");
  TRY(position_add_spin(core, state, &pbd->settings, &pbd->spin));
  return pbd->settings.memory ? contact_memory_create(core, &pbd->memory, &state->particles) : SCREE_OK;
}

static double pbd_largest_step(const void *data, const State *state) {
  return position_impact_step(&((const Pbd *)data)->settings, state);
}

/* Multipliers are displacements: half the step, a quarter of them. */
static float history_scale(const Pbd *pbd, double h) {
  double ratio = pbd->last_h > 0 ? h / pbd->last_h : 0;
  return (float)(ratio * ratio);
}

static Status pbd_step(void *data, Step *step) {
  Pbd *pbd = data;
  int mark = scratch_mark(step->scratch);
  double h = position_substep(&pbd->settings, step);
  PositionStep work;
  double began = profile_begin();
  Status status = position_begin(step, &pbd->settings, &pbd->search, &pbd->memory, &pbd->spin, history_scale(pbd, h),
                                 &work); /* lines 5, 6, 13 */
  profile_end(step->profile, "contacts", began);
  began = profile_begin();
  if (status == SCREE_OK) status = position_stabilize(&work); /* lines 7 to 12 */
  profile_end(step->profile, "stabilize", began);
  began = profile_begin();
  if (status == SCREE_OK) status = position_solve(&work); /* lines 14 to 17 */
  profile_end(step->profile, "solve", began);
  began = profile_begin();
  if (status == SCREE_OK) status = position_end(&work); /* lines 18 to 20 */
  profile_end(step->profile, "finish", began);
  scratch_release(step->core, step->scratch, mark);
  pbd->last_h = h;
  return status;
}

static Status pbd_archive(Core *core, Archive *archive, void *data) {
  Pbd *pbd = data;
  if (archive->loading) position_search_forget(&pbd->search);
  TRY(archive_value(core, archive, &pbd->last_h));
  return contact_memory_archive(core, archive, &pbd->memory);
}

static Status pbd_check(Core *core, const Archive *archive, const State *state, const void *data) {
  const Pbd *pbd = data;
  if (!(pbd->last_h >= 0) || !isfinite(pbd->last_h))
    return archive_refuse(core, archive, "a last substep of %g s", pbd->last_h);
  return contact_memory_check(core, archive, &pbd->memory, state->particles.count);
}

static void pbd_destroy(Core *core, void *data) {
  Pbd *pbd = data;
  if (!pbd) return;
  position_device_close(core, pbd->device);
  contact_memory_destroy(core, &pbd->memory);
  position_search_destroy(core, &pbd->search);
  memory_drop(core, &pbd);
}

/* Without memory nothing is left of the contacts after a step. */
static Status pbd_pressure(Core *core, const State *state, const void *data, float *pressure) {
  const Pbd *pbd = data;
  if (!pbd->settings.memory) return SCREE_BAD_INPUT;
  position_pressure(core, state, &pbd->memory, pbd->last_h, pressure);
  return SCREE_OK;
}

static Status pbd_device_open(Core *core, State *state, void *data) {
  Pbd *pbd = data;
  return position_device_open(core, state, "methods/common/position_average.cl", &pbd->device);
}

static Status pbd_device_prepare(void *data, Step *step) {
  return position_device_predict(((Pbd *)data)->device, step);
}

static Status pbd_device_step(void *data, Step *step) {
  Pbd *pbd = data;
  int mark = scratch_mark(step->scratch);
  double h = position_substep(&pbd->settings, step);
  Status status = position_device_step(pbd->device, step, &pbd->settings, &pbd->search, &pbd->memory, &pbd->spin,
                                       history_scale(pbd, h), NULL);
  scratch_release(step->core, step->scratch, mark);
  pbd->last_h = h;
  return status;
}

static int pbd_device_wanted(void *data, DeviceRead *reads) {
  return position_device_wanted(((Pbd *)data)->device, reads);
}

static void pbd_device_counted(void *data, Step *step, const int32_t *words, double fastest) {
  (void)words, (void)fastest;
  position_device_told(((Pbd *)data)->device, step->state);
}

static bool pbd_device_looks(const void *data, const State *state) {
  return position_impact_looks(&((const Pbd *)data)->settings, state);
}

static Status pbd_device_fetch(Core *core, void *data) {
  Pbd *pbd = data;
  return position_device_fetch(core, pbd->device, &pbd->memory);
}

static void pbd_device_forget(void *data) { position_device_forget(((Pbd *)data)->device); }

static void pbd_device_close(Core *core, void *data) {
  Pbd *pbd = data;
  position_device_close(core, pbd->device);
  pbd->device = NULL;
}

static const MethodDevice PBD_DEVICE = {
    .open = pbd_device_open,
    .prepare = pbd_device_prepare,
    .step = pbd_device_step,
    .wanted = pbd_device_wanted,
    .counted = pbd_device_counted,
    .looks = pbd_device_looks,
    .fetch = pbd_device_fetch,
    .forget = pbd_device_forget,
    .close = pbd_device_close,
};

const Method METHOD_PBD = {
    .info = {.name = "pbd", .summary = "position-based grains in real time", .paper = "sommer2022"},
    .particle = PARTICLE_GRAIN,
    .calibration = pbd_calibration,
    .create = pbd_create,
    .needs = position_needs,
    .largest_step = pbd_largest_step,
    .prepare = position_predict, /* lines 1 to 4 */
    .step = pbd_step,
    .archive = pbd_archive,
    .check = pbd_check,
    .destroy = pbd_destroy,
    .pressure = pbd_pressure,
    .device = METHOD_DEVICE(&PBD_DEVICE),
};
