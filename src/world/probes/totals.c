/* Sums over all particles that probes ask for by name: on the CPU, or, where the particles are on a device, there. Then
 * nothing of the particles comes down but a number for each thousand. */
#include <string.h>

#include "world/probes/probes.h"

struct ProbesDevice {
  Device *device;
  DeviceProgram *program;
  DeviceKernel *total;
  DeviceBuffer sums;
  double *here;
  int64_t asked; /* totals that are under way */
};

/* ---- on the CPU ---- */

typedef struct Totalling {
  const State *state;
  const ProbeTotal *total;
  const float *spin[3];
} Totalling;

#define ADD_UP(term)                                                                                                   \
  for (int64_t i = b; i < e; i++) sum += (term)

static double total_chunk(void *context, int64_t b, int64_t e) {
  const Totalling *t = context;
  const Particles *p = &t->state->particles;
  const ProbeTotal *total = t->total;
  double sum = 0;
  switch (total->what) {
  case TOTAL_CROSSED: ADD_UP(total_crossed(p->mass[i], p->z[i], p->dz[i], total->height)); break;
  case TOTAL_KINETIC: ADD_UP(total_kinetic(p->mass[i], p->vx[i], p->vy[i], p->vz[i])); break;
  case TOTAL_TURNING:
    ADD_UP(total_turning(p->mass[i], p->radius[i], t->spin[0][i], t->spin[1][i], t->spin[2][i]));
    break;
  case TOTAL_MASS: ADD_UP(total_mass(p->mass[i], total->low, total->high, state_position(t->state, i))); break;
  default: ADD_UP(total_potential(p->mass[i], total->gravity, state_position(t->state, i))); break;
  }
  return sum;
}

static const char *const SPINS[3] = {"spin_x", "spin_y", "spin_z"};

static double total_here(ScreeWorld *world, const ProbeTotal *total) {
  Totalling totalling = {.state = &world->state, .total = total};
  for (int c = 0; c < 3 && total->what == TOTAL_TURNING; c++)
    totalling.spin[c] = *particles_field(&world->state.particles, SPINS[c]);
  return probe_sum(world, total_chunk, &totalling);
}

/* ---- on a device ---- */

static Status open_device(ScreeWorld *world) {
  Core *core = &world->core;
  ProbesDevice **device = &world->probes_device;
  if (*device) return SCREE_OK;
  TRY(memory_new(core, device, 1, "probes on a device"));
  (*device)->device = world->device;
  TRY(device_build(core, world->device, "world/probes.cl", "", &(*device)->program));
  return device_kernel(core, (*device)->program, "probe_total", "device probes", &(*device)->total);
}

void world_probes_leave_device(ScreeWorld *world) {
  Core *core = &world->core;
  ProbesDevice *device = world->probes_device;
  if (!device) return;
  device_release(device->device, &device->sums);
  device_kernel_free(core, device->total);
  device_program_free(core, device->program);
  memory_drop(core, &device->here);
  memory_drop(core, &world->probes_device);
}

static int64_t chunks_of(const ScreeWorld *world) {
  return parallel_chunks(0, world->state.particles.count, PROBE_CHUNK);
}

#define FIELD(name) DEVICE_BUFFER(mirror_buffer(mirror, particles, name, otherwise))
static Status launch(ScreeWorld *world, ProbesDevice *d, const ProbeTotal *total) {
  Mirror *mirror = world->state.mirror;
  const Particles *particles = &world->state.particles;
  const DeviceBuffer *otherwise = &mirror_field(mirror, particles, "x")->buffer;
  const int32_t count = (int32_t)particles->count, first = (int32_t)(d->asked * chunks_of(world));
  d->asked++;
  return device_launch(&world->core, d->total, 0, chunks_of(world) * PROBE_GROUP, PROBE_GROUP,
                       DEVICE_ARGUMENTS(DEVICE_VALUE(*total), DEVICE_VALUE(count), DEVICE_VALUE(first), FIELD("x"),
                                        FIELD("y"), FIELD("z"), FIELD("low_x"), FIELD("low_y"), FIELD("low_z"),
                                        FIELD("dz"), FIELD("vx"), FIELD("vy"), FIELD("vz"), FIELD("mass"),
                                        FIELD("radius"), FIELD(SPINS[0]), FIELD(SPINS[1]), FIELD(SPINS[2]),
                                        DEVICE_BUFFER(&d->sums)));
}

/* What sums look at. */
#define TOTAL_READS (SET_X | SET_LOW | SET_D | SET_V | SET_BIRTH)

/* Whether all of it is on the device. A method need not have its spins there. */
static bool is_there(const ScreeWorld *world) {
  Mirror *mirror = world->state.mirror;
  const Particles *p = &world->state.particles;
  if (!world->on_device || p->count == 0 || !mirror_field(mirror, p, "x")->there) return false;
  for (int c = 0; c < 3; c++)
    if (particles_field(p, SPINS[c]) && !mirror_field(mirror, p, SPINS[c])->there) return false;
  return true;
}

/* ---- all probes ---- */

static int totals_of(const ScreeWorld *world, const Probe *probe, bool in_steps, ProbeTotal totals[PROBE_TOTALS]) {
  const ProbeKind *kind = probe_kind(probe);
  if (!kind->totals || in_steps != (kind->step != NULL)) return 0;
  const State *state = &world->state;
  for (int k = 0; k < PROBE_TOTALS; k++)
    totals[k] = (ProbeTotal){.origin = state->origin,
                             .gravity = state->gravity,
                             .low = vec3(-INFINITY, -INFINITY, -INFINITY),
                             .high = vec3(INFINITY, INFINITY, INFINITY)};
  return kind->totals(world, probe, totals);
}

static Status begin_there(ScreeWorld *world, bool in_steps, int64_t asked) {
  const int64_t bytes = asked * chunks_of(world) * (int64_t)sizeof(double);
  TRY(mirror_send(&world->core, world->state.mirror, &world->state.particles, TOTAL_READS));
  TRY(open_device(world));
  ProbesDevice *d = world->probes_device;
  TRY(device_reserve(&world->core, world->device, &d->sums, bytes, 0, "sums of probes"));
  TRY(memory_grow(&world->core, &d->here, asked * chunks_of(world), "sums of probes"));
  for (int32_t k = 0; k < world->definition.scene.probe_count; k++) {
    ProbeTotal totals[PROBE_TOTALS];
    const int count = totals_of(world, &world->probes[k], in_steps, totals);
    for (int t = 0; t < count; t++) TRY(launch(world, d, &totals[t]));
  }
  return SCREE_OK;
}

/* How many are asked for; those of particles that are on the host are made. */
static Status begin_here(ScreeWorld *world, bool in_steps, bool there, int64_t *asked) {
  *asked = 0;
  for (int32_t k = 0; k < world->definition.scene.probe_count; k++) {
    ProbeTotal totals[PROBE_TOTALS];
    const int count = totals_of(world, &world->probes[k], in_steps, totals);
    *asked += count;
    if (count > 0 && !there) TRY(world_to_host(world, TOTAL_READS | SET_ADDED));
    for (int t = 0; t < count && !there; t++) world->probes[k].totals[t] = total_here(world, &totals[t]);
  }
  return SCREE_OK;
}

Status probes_totals_begin(ScreeWorld *world, bool in_steps, DeviceRead *read) {
  const bool there = is_there(world);
  int64_t asked = 0;
  *read = (DeviceRead){.bytes = 0};
  if (world->probes_device) world->probes_device->asked = 0;
  TRY(begin_here(world, in_steps, there, &asked));
  if (asked == 0 || !there) return SCREE_OK;
  TRY(begin_there(world, in_steps, asked));
  const ProbesDevice *d = world->probes_device;
  *read = (DeviceRead){&d->sums, 0, asked * chunks_of(world) * (int64_t)sizeof(double), d->here};
  return SCREE_OK;
}

void probes_totals_end(ScreeWorld *world, bool in_steps) {
  const ProbesDevice *d = world->probes_device;
  const double *from = d ? d->here : NULL;
  if (!d || d->asked == 0) return;
  for (int32_t k = 0; k < world->definition.scene.probe_count; k++) {
    ProbeTotal totals[PROBE_TOTALS];
    const int count = totals_of(world, &world->probes[k], in_steps, totals);
    for (int t = 0; t < count; t++) {
      double sum = 0;
      for (int64_t c = 0; c < chunks_of(world); c++) sum += *from++;
      world->probes[k].totals[t] = sum;
    }
  }
}
