#include "app/viewer/simulation.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum WishKind { WISH_IMPULSE, WISH_DROP, WISH_CONTROL } WishKind;
typedef struct Wish {
  WishKind kind;
  ScreeVec3 at;
  double radius, value;
  int32_t control;
  SimulationObject object;
} Wish;
enum { WISHES_MOST = 64, BUFFERS = 3 };

struct Simulation {
  SimulationPlan plan;
  ScreeWorld *world;
  double phase_seconds[SIMULATION_LINES];
  int64_t steps_before;
  uint64_t published;

  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t woken;
  /* under the lock */
  bool stop, paused, fine, pressure, changed;
  double speed;
  int64_t wanted_steps;
  Wish wishes[WISHES_MOST];
  int wish_count;
  SimulationReport report;
  SceneFrame *buffers[BUFFERS]; /* 0: being filled, 1: newest, 2: being drawn */
  bool newer;
  SceneFrame storage[BUFFERS];
};

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void describe(Simulation *simulation, const ScreeError *error, bool failed) {
  pthread_mutex_lock(&simulation->lock);
  simulation->report.failed = failed;
  scree_error_line(error, simulation->report.message, sizeof simulation->report.message);
  pthread_mutex_unlock(&simulation->lock);
}

/* A body of that size, named and numbered so that no two are alike. */
static ScreeStatus drop(Simulation *simulation, const Wish *wish, ScreeError *error) {
  static const char *const words[] = {
#define OBJECT_WORD(constant, word) word,
      SIMULATION_OBJECTS(OBJECT_WORD)
#undef OBJECT_WORD
  };
  double half = wish->radius;
  ScreeShapeDef shape = scree_shape_sphere((ScreeVec3){0, 0, 0}, half);
  if (wish->object == OBJECT_BLOCK) {
    shape = scree_shape_box((ScreeVec3){-half, -half, -half}, (ScreeVec3){half, half, half});
    shape.rotation = (ScreeQuat){0.88, 0.32, 0.21, 0.28}; /* corner first */
  } else if (wish->object == OBJECT_ROLLER) {
    shape = scree_shape_default(SCREE_SHAPE_CYLINDER);
    shape.cylinder = (ScreeCylinderDef){.base = {0, 0, -half}, .radius = 0.6 * half, .height = 2 * half};
    shape.rotation = (ScreeQuat){0.75, 0.6, 0.28, 0};
  }
  shape.position = wish->at;
  char name[SIMULATION_NAME];
  snprintf(name, sizeof name, "dropped_%s_%d", words[wish->object], simulation->report.dropped + 1);
  ScreeBodyDef body = scree_body_default(name, shape);
  body.density = wish->value;
  ScreeBodyId made;
  ScreeStatus status = scree_world_add_body(simulation->world, &body, &made, error);
  if (status == SCREE_OK) {
    pthread_mutex_lock(&simulation->lock);
    simulation->report.dropped++;
    pthread_mutex_unlock(&simulation->lock);
  }
  return status;
}

static void grant(Simulation *simulation, const Wish *wish) {
  ScreeError error;
  ScreeStatus status = SCREE_OK;
  switch (wish->kind) {
  case WISH_IMPULSE:
    status = scree_world_impulse(simulation->world, wish->at, wish->radius, wish->value, &error);
    break;
  case WISH_CONTROL: status = scree_world_set_control(simulation->world, wish->control, wish->value, &error); break;
  case WISH_DROP: status = drop(simulation, wish, &error); break;
  }
  if (status != SCREE_OK) describe(simulation, &error, false);
}

static void report_energy(const Simulation *simulation, SimulationReport *report) {
  ScreeParticles p = scree_world_particles(simulation->world);
  ScreeStatistics statistics;
  scree_world_statistics(simulation->world, &statistics);
  ScreeVec3 g = simulation->plan.definition->gravity;
  double volume = 0, kinetic = 0, x = 0, y = 0, z = 0;
  for (int64_t i = 0; i < p.count; i++) {
    double share = (double)p.radius[i] * p.radius[i] * p.radius[i];
    volume += share;
    kinetic += share * ((double)p.vx[i] * p.vx[i] + (double)p.vy[i] * p.vy[i] + (double)p.vz[i] * p.vz[i]) / 2;
    x += share * p.x[i], y += share * p.y[i], z += share * p.z[i];
  }
  if (volume > 0)
    report->middle = (ScreeVec3){p.origin.x + x / volume, p.origin.y + y / volume, p.origin.z + z / volume};
  double potential = -volume * (g.x * report->middle.x + g.y * report->middle.y + g.z * report->middle.z);
  double density = volume > 0 ? statistics.mass_final / volume : 0;
  report->kinetic = kinetic * density;
  report->potential = potential * density;
}

static void report_lists(Simulation *simulation, SimulationReport *report) {
  const ScreeWorld *world = simulation->world;
  ScreeStatistics statistics;
  scree_world_statistics(world, &statistics);
  double steps = fmax((double)(statistics.steps - simulation->steps_before), 1);
  simulation->steps_before = statistics.steps;
  report->phase_count = statistics.phase_count < SIMULATION_LINES ? statistics.phase_count : SIMULATION_LINES;
  for (int32_t k = 0; k < report->phase_count; k++) {
    const ScreePhase *phase = &statistics.phases[k];
    snprintf(report->phases[k].name, SIMULATION_NAME, "%s", phase->name);
    report->phases[k].value = 1e3 * (phase->seconds - simulation->phase_seconds[k]) / steps;
    simulation->phase_seconds[k] = phase->seconds;
  }
  report->probe_count = 0;
  for (int32_t id = 1; id <= scree_world_probe_count(world); id++) {
    ScreeProbeState probe;
    if (scree_world_probe(world, id, &probe) != SCREE_OK) continue;
    for (int32_t v = 0; v < probe.value_count && report->probe_count < SIMULATION_LINES; v++) {
      SimulationLine *line = &report->probes[report->probe_count++];
      snprintf(line->name, sizeof line->name, "%.30s%.12s", probe.name, probe.suffixes[v] ? probe.suffixes[v] : "");
      snprintf(line->unit, sizeof line->unit, "%.15s", probe.unit ? probe.unit : "");
      line->value = probe.values[v];
    }
  }
  report->control_count = 0;
  for (int32_t id = 1; id <= scree_world_control_count(world) && id <= SIMULATION_CONTROLS; id++) {
    SimulationControl *control = &report->controls[report->control_count];
    const char *name;
    if (scree_world_control(world, id, &name, &control->value, &control->low, &control->high) != SCREE_OK) continue;
    snprintf(control->name, sizeof control->name, "%s", name);
    report->control_count++;
  }
}

static void report_tool(const Simulation *simulation, SimulationReport *report) {
  report->tool[0] = 0;
  for (int32_t id = 1; id <= scree_world_body_count(simulation->world); id++) {
    ScreeBodyState body;
    if (scree_world_body(simulation->world, id, &body) != SCREE_OK || !body.name) continue;
    if (!strstr(body.name, "bucket") && !strstr(body.name, "blade")) continue;
    snprintf(report->tool, sizeof report->tool, "%s", body.name);
    report->tool_force = body.force;
    return;
  }
}

/* Makes the newest frame of the world as it is. */
static ScreeStatus publish(Simulation *simulation, double seconds, ScreeError *error) {
  pthread_mutex_lock(&simulation->lock);
  SceneFrame *back = simulation->buffers[0];
  bool fine = simulation->fine;
  back->wants_pressure = simulation->pressure;
  SimulationReport report = simulation->report;
  pthread_mutex_unlock(&simulation->lock);
  ScreeStatus status = scene_frame_take(back, simulation->world, fine, error);
  if (status != SCREE_OK) return status;
  /* The three buffers take turns: their frames are told apart by one counter. */
  back->frame.version = simulation->plan.keys * ((uint64_t)1 << 40) + ++simulation->published;
  report_energy(simulation, &report);
  report_lists(simulation, &report);
  report_tool(simulation, &report);
  ScreeStatistics statistics;
  scree_world_statistics(simulation->world, &statistics);
  report.ready = true;
  report.time = scree_world_time(simulation->world);
  report.frame = scree_world_frame_index(simulation->world);
  report.steps = statistics.steps;
  report.coarse = statistics.coarse;
  report.grains = statistics.grains;
  if (seconds > 0) report.frame_ms = 1e3 * seconds;
  pthread_mutex_lock(&simulation->lock);
  report.paused = simulation->paused;
  simulation->report = report;
  simulation->buffers[0] = simulation->buffers[1];
  simulation->buffers[1] = back;
  simulation->newer = true;
  pthread_mutex_unlock(&simulation->lock);
  return SCREE_OK;
}

static void prepare(void *context, const char *what, double done) {
  Simulation *simulation = context;
  pthread_mutex_lock(&simulation->lock);
  simulation->report.preparing = what;
  simulation->report.prepared = done;
  pthread_mutex_unlock(&simulation->lock);
}

static ScreeStatus create_world(Simulation *simulation, ScreeError *error) {
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = simulation->plan.threads;
  options.device = simulation->plan.device;
  options.progress = prepare;
  options.progress_context = simulation;
  ScreeStatus status = scree_world_create(simulation->plan.definition, &options, &simulation->world, error);
  if (status != SCREE_OK) return status;
  const char *note = scree_world_device_note(simulation->world);
  if (*note) fprintf(stderr, "note: %s\n", note);
  for (int k = 0; k < BUFFERS && status == SCREE_OK; k++)
    status = scene_frame_create(&simulation->storage[k], simulation->world, simulation->plan.keys, error);
  return status;
}

/* Waits for something to do; false when it is to end. Wishes are moved to `wishes`. */
static bool wait_for_work(Simulation *simulation, Wish *wishes, int *wish_count, bool *step, double due) {
  bool go;
  pthread_mutex_lock(&simulation->lock);
  for (;;) {
    bool running = !simulation->paused || simulation->wanted_steps > 0;
    double wait = due - now_seconds();
    if (simulation->stop || simulation->wish_count || simulation->changed) break;
    if (running && (wait <= 0 || simulation->wanted_steps > 0)) break;
    if (!running) {
      pthread_cond_wait(&simulation->woken, &simulation->lock);
    } else {
      struct timespec until;
      clock_gettime(CLOCK_REALTIME, &until);
      double at = (double)until.tv_nsec * 1e-9 + fmin(wait, 0.25);
      until.tv_sec += (time_t)at;
      until.tv_nsec = (long)((at - floor(at)) * 1e9);
      pthread_cond_timedwait(&simulation->woken, &simulation->lock, &until);
    }
  }
  *wish_count = simulation->wish_count;
  memcpy(wishes, simulation->wishes, (size_t)simulation->wish_count * sizeof *wishes);
  simulation->wish_count = 0;
  simulation->changed = false;
  *step = simulation->wanted_steps > 0 || (!simulation->paused && now_seconds() >= due);
  if (simulation->wanted_steps > 0) simulation->wanted_steps--;
  go = !simulation->stop;
  pthread_mutex_unlock(&simulation->lock);
  return go;
}

static void *run(void *context) {
  Simulation *simulation = context;
  ScreeError error;
  ScreeStatus status = create_world(simulation, &error);
  if (status == SCREE_OK) status = publish(simulation, 0, &error);
  double due = now_seconds();
  Wish wishes[WISHES_MOST];
  int wish_count;
  bool step;
  while (status == SCREE_OK && wait_for_work(simulation, wishes, &wish_count, &step, due)) {
    for (int k = 0; k < wish_count; k++) grant(simulation, &wishes[k]);
    double began = now_seconds();
    if (step) status = scree_world_frame(simulation->world, &error);
    if (status == SCREE_OK) status = publish(simulation, step ? now_seconds() - began : 0, &error);
    pthread_mutex_lock(&simulation->lock);
    double speed = simulation->speed;
    pthread_mutex_unlock(&simulation->lock);
    /* In step with the wall clock, without catching up on what was lost. */
    if (step) due = speed > 0 ? fmax(due + 1 / (simulation->plan.definition->frame_rate * speed), began) : began;
  }
  if (simulation->world) {
    pthread_mutex_lock(&simulation->lock);
    simulation->report.hash = scree_world_state_hash(simulation->world);
    pthread_mutex_unlock(&simulation->lock);
  }
  if (status != SCREE_OK) describe(simulation, &error, true);
  return NULL;
}

ScreeStatus simulation_start(const SimulationPlan *plan, Simulation **result, ScreeError *error) {
  *result = NULL;
  Simulation *simulation = calloc(1, sizeof *simulation);
  if (error) *error = (ScreeError){.status = SCREE_NO_MEMORY, .message = "no memory for the simulation"};
  if (!simulation) return SCREE_NO_MEMORY;
  simulation->plan = *plan;
  simulation->paused = plan->paused;
  simulation->fine = plan->fine;
  simulation->speed = plan->speed;
  for (int k = 0; k < BUFFERS; k++) simulation->buffers[k] = &simulation->storage[k];
  pthread_mutex_init(&simulation->lock, NULL);
  pthread_cond_init(&simulation->woken, NULL);
  if (pthread_create(&simulation->thread, NULL, run, simulation) != 0) {
    free(simulation);
    return SCREE_NO_MEMORY;
  }
  *result = simulation;
  return SCREE_OK;
}

static void wake(Simulation *simulation) {
  pthread_cond_signal(&simulation->woken);
  pthread_mutex_unlock(&simulation->lock);
}

void simulation_stop(Simulation *simulation, SimulationReport *report) {
  if (!simulation) return;
  pthread_mutex_lock(&simulation->lock);
  simulation->stop = true;
  wake(simulation);
  pthread_join(simulation->thread, NULL);
  if (report) *report = simulation->report;
  for (int k = 0; k < BUFFERS; k++) scene_frame_destroy(&simulation->storage[k]);
  scree_world_destroy(simulation->world);
  pthread_mutex_destroy(&simulation->lock);
  pthread_cond_destroy(&simulation->woken);
  free(simulation);
}

const SceneFrame *simulation_frame(Simulation *simulation) {
  pthread_mutex_lock(&simulation->lock);
  if (simulation->newer) {
    SceneFrame *drawn = simulation->buffers[2];
    simulation->buffers[2] = simulation->buffers[1];
    simulation->buffers[1] = drawn;
    simulation->newer = false;
  }
  const SceneFrame *frame = simulation->report.ready ? simulation->buffers[2] : NULL;
  pthread_mutex_unlock(&simulation->lock);
  return frame;
}

void simulation_report(Simulation *simulation, SimulationReport *report) {
  pthread_mutex_lock(&simulation->lock);
  *report = simulation->report;
  report->paused = simulation->paused;
  pthread_mutex_unlock(&simulation->lock);
}

void simulation_pause(Simulation *simulation, bool paused) {
  pthread_mutex_lock(&simulation->lock);
  simulation->paused = paused;
  wake(simulation);
}

void simulation_step(Simulation *simulation) {
  pthread_mutex_lock(&simulation->lock);
  simulation->wanted_steps++;
  wake(simulation);
}

void simulation_speed(Simulation *simulation, double speed) {
  pthread_mutex_lock(&simulation->lock);
  simulation->speed = speed;
  wake(simulation);
}

void simulation_fine(Simulation *simulation, bool fine) {
  pthread_mutex_lock(&simulation->lock);
  simulation->fine = fine;
  simulation->changed = true;
  wake(simulation);
}

void simulation_pressure(Simulation *simulation, bool wanted) {
  pthread_mutex_lock(&simulation->lock);
  if (simulation->pressure != wanted) {
    simulation->pressure = wanted;
    simulation->changed = true;
    pthread_cond_signal(&simulation->woken);
  }
  pthread_mutex_unlock(&simulation->lock);
}

static void post(Simulation *simulation, Wish wish) {
  pthread_mutex_lock(&simulation->lock);
  if (simulation->wish_count < WISHES_MOST) simulation->wishes[simulation->wish_count++] = wish;
  wake(simulation);
}

void simulation_impulse(Simulation *simulation, ScreeVec3 center, double radius, double speed) {
  post(simulation, (Wish){.kind = WISH_IMPULSE, .at = center, .radius = radius, .value = speed});
}

void simulation_drop(Simulation *simulation, SimulationObject object, ScreeVec3 from, double size, double density) {
  post(simulation, (Wish){.kind = WISH_DROP, .object = object, .at = from, .radius = 0.5 * size, .value = density});
}

void simulation_control(Simulation *simulation, int32_t control, double value) {
  post(simulation, (Wish){.kind = WISH_CONTROL, .control = control + 1, .value = value});
}
