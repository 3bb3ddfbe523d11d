/* p2: parallel particles after Holz 2014. Equation numbers are the paper's.
 *
 * Departures, each selectable back to the paper's way: mass splitting with the contact's force as the unknown instead
 * of averaging (it keeps momentum, and forces converge to the spring-damper's); contacts begin with the last step's
 * forces; caps hold for the sum over the iterations; sleeping knows what a grain rests on. See docs/methods/p2.md. */
#define LANE_SCALAR /* grains are looked at one by one */
#include <math.h>

#include "methods/common/position_calibration.h"
#include "methods/common/position_pressure.h"
#include "methods/common/still_calibration.h"
#include "methods/p2/contacts.h"
#include "methods/p2/p2.h"
#include "methods/p2/p2_device.h"
#include "methods/p2/p2_kernels.h"
#include "methods/p2/p2_rest_law.h"
#include "methods/p2/p2_slot_law.h"

enum { LIMIT_CHUNK = 1024 };
#define P2_TIME_STEP 0.005
/* A springy contact may throw a grain at twice the tool's speed; a little less, so that gravity does not make it more.
 */
#define SOLID_THROWS 1.9
/* How fast a grain may get whatever moves, in speeds that would cut the longest step. */
#define CALM_SPEED 2

static Status add_rest(Core *core, Particles *particles, P2Rest *rest) {
  const struct {
    const char *name;
    float **field;
  } fields[] = {{"p2_rest_x", &rest->x},      {"p2_rest_y", &rest->y},      {"p2_rest_z", &rest->z},
                {"p2_held_x", &rest->held_x}, {"p2_held_y", &rest->held_y}, {"p2_held_z", &rest->held_z}};
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
    TRY(particles_add_floats(core, particles, fields[k].name, 1, true, (void **)fields[k].field));
  return SCREE_OK;
}

static bool any_sticks(const Materials *materials) {
  for (int32_t k = 0; k < materials->count; k++)
    if (materials->items[k].definition.adhesion > 0) return true;
  return false;
}

static const Calibration *p2_calibration(const ScreeMethodDef *definition) {
  return definition->p2.averaging ? &STILL_CALIBRATION : &POSITION_CALIBRATION;
}

static Status p2_create(Core *core, State *state, ScreeMethodDef *definition, void **data) {
  P2 *p2 = NULL;
  TRY(memory_new(core, &p2, 1, "p2"));
  *data = p2;
  if (scree_is_auto(definition->time_step)) definition->time_step = P2_TIME_STEP;
  if (scree_is_auto(definition->cfl)) definition->cfl = POSITION_CFL;
  p2->settings = (P2Settings){
      .position =
          {
              .iterations = (int)definition->p2.iterations,
              .stabilization = (int)definition->p2.stabilization,
              .shift_share = POSITION_SHIFT_SHARE,
              .slop = true,
              .time_step = definition->time_step,
              .sticky = any_sticks(&state->materials),
              .adhesion = true,
              .relaxation = (float)definition->p2.relaxation,
              .averaging = definition->p2.averaging,
              /* Remembered forces push both grains alike, error reduction does not. */
              .memory = definition->p2.memory && !definition->p2.averaging && !(definition->p2.error_reduction > 0),
          },
      .error_reduction = (float)definition->p2.error_reduction,
      .ground = definition->p2.error_reduction_by == SCREE_ERROR_GROUND,
      .sleep_speed = (float)definition->p2.sleep_speed,
      .calm_speed = (float)(CALM_SPEED * definition->cfl * definition->radius / definition->time_step),
  };
  p2->settings.position.second_rows = p2_all_rigid(&state->materials, &p2->settings);
  p2->settings.position.springs = !definition->p2.averaging && p2_any_springs(&state->materials);
  TRY(position_add_spin(core, state, &p2->settings.position, &p2->spin));
  if (p2->settings.position.memory) TRY(contact_memory_create(core, &p2->memory, &state->particles));
  return p2->settings.sleep_speed > 0 ? add_rest(core, &state->particles, &p2->rest) : SCREE_OK;
}

/* At the speed that the fastest would end the step with, without contacts: the last substep has the fall of all. */
static double fastest_chunk(void *context, int64_t b, int64_t e) {
  const PositionStep *work = context;
  const Particles *p = &work->step->state->particles;
  float fastest = 0;
  for (int64_t i = b; i < e; i++)
    fastest = fmaxf(fastest, p->dx[i] * p->dx[i] + p->dy[i] * p->dy[i] + p->dz[i] * p->dz[i]);
  return (double)fastest;
}

double p2_way_of_solids(const Step *step, const P2Settings *settings) {
  const Solids *solids = &step->state->solids;
  double way = (double)settings->calm_speed * step->dt;
  for (int32_t k = 0; k < solids->count; k++) {
    const Solid *solid = &solids->items[k];
    double spin = vec3_length(solid->spin), speed = vec3_length(solid->velocity);
    if (spin > 0) {
      Vec3 low = vec3_sub(solid->shape.bounds_low, solid->center_in_shape);
      Vec3 high = vec3_sub(solid->shape.bounds_high, solid->center_in_shape);
      speed += spin * vec3_length(vec3_max(vec3_scale(low, -1), high));
    }
    if (isfinite(speed)) way = fmax(way, SOLID_THROWS * speed * step->dt);
  }
  return way;
}

static float longest_displacement(PositionStep *work, const P2Settings *settings) {
  const double square = parallel_max(work->step->core, 0, work->count, LIMIT_CHUNK, 0, fastest_chunk, work);
  return p2_longest(p2_way_of_solids(work->step, settings), (float)square);
}

float p2_history_scale(const P2 *p2, double h) {
  const double ratio = p2->last_h > 0 ? h / p2->last_h : 0;
  return (float)(ratio * ratio);
}

Status p2_begin(P2 *p2, Step *step, PositionStep *work, P2Contacts *contacts) {
  const double h = position_substep(&p2->settings.position, step);
  TRY(position_begin(step, &p2->settings.position, &p2->search, &p2->memory, &p2->spin, p2_history_scale(p2, h), work));
  p2->last_h = h;
  TRY(p2_contacts_create(work, &p2->settings, contacts)); /* factors of Eq. 21 and 28, caps of Eq. 35 and 36 */
  TRY(p2_turn(work));                                     /* ours: sliding of lumps that turn */
  TRY(p2_reduce_errors(work));                            /* Eq. 37 */
  contacts->longest = longest_displacement(work, &p2->settings);
  return p2_part(work); /* ours: pbd's stabilisation */
}

static double limit_chunk(void *context, int64_t b, int64_t e) {
  PositionStep *work = context;
  const P2Contacts *contacts = work->method_contacts;
  float longest = contacts->longest;
  int64_t limited = 0;
  for (int64_t i = b; i < e; i++) {
    float *d = work->rows.now[i], *total = work->rows.total[i];
    const P2Limited kept = p2_limited(vec_make(d[0], d[1], d[2]), (float)work->substeps, longest);
    if (!kept.cut) continue;
    const LaneVec3 whole = vec_mul(kept.d, (float)work->substeps);
    d[0] = kept.d.x, d[1] = kept.d.y, d[2] = kept.d.z;
    total[0] = whole.x, total[1] = whole.y, total[2] = whole.z;
    limited++;
  }
  return (double)limited;
}

Status p2_end(P2 *p2, PositionStep *work) {
  double limited = parallel_sum(work->step->core, 0, work->count, LIMIT_CHUNK, limit_chunk, work);
  if (limited > 0) state_count(work->step->state, "speed_limited_grains", (int64_t)limited);
  TRY(p2_sleep(work, &p2->settings, &p2->rest)); /* Section 7 */
  return position_end(work);                     /* Eq. 3 and, for solids, 34 */
}

/* Eq. 23 and 30 to 33 for every contact, averaged (Eq. 9) or with the masses split. */
static double p2_largest_step(const void *data, const State *state) {
  return position_impact_step(&((const P2 *)data)->settings.position, state);
}

static Status p2_solve(PositionStep *work) {
  const Core *core = work->step->core;
  const P2Contacts *contacts = work->method_contacts;
  bool averaging = work->settings->averaging;
  if (contacts->rigid) return position_solve(work);
  if (averaging) return position_iterate_averaged(work, KERNEL_CALL(core, p2_average_pass));
  return position_iterate(work,
                          work->turning ? KERNEL_CALL(core, p2_turning_batch_pass) : KERNEL_CALL(core, p2_batch_pass));
}

static Status p2_step(void *data, Step *step) {
  P2 *p2 = data;
  int mark = scratch_mark(step->scratch);
  PositionStep work;
  P2Contacts contacts;
  double began = profile_begin();
  Status status = p2_begin(p2, step, &work, &contacts);
  profile_end(step->profile, "contacts", began);
  began = profile_begin();
  if (status == SCREE_OK) status = p2_solve(&work);
  profile_end(step->profile, "solve", began);
  began = profile_begin();
  if (status == SCREE_OK) status = p2_end(p2, &work);
  profile_end(step->profile, "finish", began);
  scratch_release(step->core, step->scratch, mark);
  return status;
}

static Status p2_archive(Core *core, Archive *archive, void *data) {
  P2 *p2 = data;
  if (archive->loading) position_search_forget(&p2->search);
  TRY(archive_value(core, archive, &p2->last_h));
  return contact_memory_archive(core, archive, &p2->memory);
}

static Status p2_check(Core *core, const Archive *archive, const State *state, const void *data) {
  const P2 *p2 = data;
  if (!(p2->last_h >= 0) || !isfinite(p2->last_h))
    return archive_refuse(core, archive, "a last substep of %g s", p2->last_h);
  return contact_memory_check(core, archive, &p2->memory, state->particles.count);
}

static void p2_destroy(Core *core, void *data) {
  P2 *p2 = data;
  if (!p2) return;
  p2_device_close(core, p2->device);
  contact_memory_destroy(core, &p2->memory);
  position_search_destroy(core, &p2->search);
  memory_drop(core, &p2);
}

/* Without memory nothing is left of the contacts after a step. */
static Status p2_pressure(Core *core, const State *state, const void *data, float *pressure) {
  const P2 *p2 = data;
  if (!p2->settings.position.memory) return SCREE_BAD_INPUT;
  position_pressure(core, state, &p2->memory, p2->last_h, pressure);
  return SCREE_OK;
}

const Method METHOD_P2 = {
    .info = {.name = "p2", .summary = "parallel particles: springs, dampers, friction, adhesion", .paper = "holz2014"},
    .particle = PARTICLE_GRAIN,
    .calibration = p2_calibration,
    .create = p2_create,
    .needs = position_needs,
    .largest_step = p2_largest_step,
    .prepare = position_predict, /* Eq. 2 */
    .step = p2_step,
    .archive = p2_archive,
    .check = p2_check,
    .destroy = p2_destroy,
    .pressure = p2_pressure,
    .device = METHOD_DEVICE(&P2_DEVICE),
};
