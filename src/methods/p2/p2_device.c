#include "methods/p2/p2_device.h"

#include <math.h>

#include "methods/common/position_launch.h"
#include "methods/p2/p2_shared.h"

#define P2_KERNELS(X)                                                                                                  \
  X(p2_fastest, "device contacts")                                                                                     \
  X(p2_walls, "device contacts")                                                                                       \
  X(p2_make, "device contacts")                                                                                        \
  X(p2_masses, "device contacts")                                                                                      \
  X(p2_turn, "device contacts")                                                                                        \
  X(p2_roll_slots, "device contacts")                                                                                  \
  X(p2_ground, "device contacts")                                                                                      \
  X(p2_climb, "device contacts")                                                                                       \
  X(p2_tilt, "device contacts")                                                                                        \
  X(p2_average_pass, "device solve")                                                                                   \
  X(p2_ties, "device finish")                                                                                          \
  X(p2_bear, "device finish")                                                                                          \
  X(p2_batch_pass, "device solve")                                                                                     \
  X(p2_limit, "device finish")                                                                                         \
  X(p2_sleep, "device finish")                                                                                         \
  X(p2_wake, "device finish")

/* Numbers of every slot, bytes of each; where they are not needed, of none. */
#define P2_SLOT_BUFFERS(X)                                                                                             \
  X(law, sizeof(float[4]), p2.springs)                                                                                 \
  X(within, sizeof(float), p2.springs)                                                                                 \
  X(pull, sizeof(float), p2.springs)                                                                                   \
  X(soft, sizeof(float), p2.springs)                                                                                   \
  X(tilt, sizeof(float), p2.reduces)                                                                                   \
  X(roll, sizeof(float[4]), p2.rolls)
#define P2_BUFFERS(X)                                                                                                  \
  X(law) X(within) X(pull) X(soft) X(tilt) X(roll) X(likely) X(likely_walls) X(materials) X(level) X(ties) X(more)
#define P2_REST_FIELDS(X) X(p2_rest_x) X(p2_rest_y) X(p2_rest_z) X(p2_held_x) X(p2_held_y) X(p2_held_z)

struct P2Device {
  PositionDevice *position;
  Device *device;
  DeviceProgram *program; /* the family's */
  P2_KERNELS(DEVICE_KERNEL_MEMBER)
  P2_BUFFERS(DEVICE_BUFFER_MEMBER)
  P2_REST_FIELDS(DEVICE_BUFFER_POINTER)
  SentTable sent_materials;
};

enum { GRAPH_STEPS = 12 };

/* What a step has at hand. */
typedef struct P2Launcher {
  P2 *p2;
  P2Shared shared;
} P2Launcher;

#define P2_LAUNCH(name, items, ...)                                                                                    \
  position_launch(l, d->name, (items), DEVICE_ARGUMENTS(DEVICE_VALUE(l->step), __VA_ARGS__))
#define OWN(name) DEVICE_BUFFER(&d->name)
#define OWN_FIELD(name) DEVICE_BUFFER(d->name)
#define P2_STEP DEVICE_VALUE(extra->shared)
#define SLOTS_OF_GRAINS HERE(pairs), HERE(walls), HERE(rows), HERE(begin), HERE(key)
#define REST                                                                                                           \
  OWN_FIELD(p2_rest_x), OWN_FIELD(p2_rest_y), OWN_FIELD(p2_rest_z), OWN_FIELD(p2_held_x), OWN_FIELD(p2_held_y),        \
      OWN_FIELD(p2_held_z)

static Status open_device(Core *core, State *state, void *data) {
  P2 *p2 = data;
  TRY(memory_new(core, &p2->device, 1, "grains on a device"));
  P2Device *d = p2->device;
#define P2_MIRROR(name)                                                                                                \
  if (p2->settings.sleep_speed > 0) particles_mirror_field(&state->particles, #name);
  P2_REST_FIELDS(P2_MIRROR)
#undef P2_MIRROR
  TRY(position_device_open(core, state, "methods/p2/p2_graph.cl", &d->position));
  d->device = d->position->device;
  d->program = d->position->program;
  P2_KERNELS(DEVICE_KERNEL_MAKE)
  return mirror_words_reserve(core, state->mirror, MIRROR_METHOD_WORD + P2_WORDS);
}

void p2_device_close(Core *core, P2Device *d) {
  if (!d) return;
  if (d->position) {
    P2_BUFFERS(DEVICE_BUFFER_RELEASE)
    P2_KERNELS(DEVICE_KERNEL_FREE)
  }
  memory_drop(core, &d->sent_materials.data);
  position_device_close(core, d->position);
  memory_free(&core->memory, d);
}

static void close_device(Core *core, void *data) {
  P2 *p2 = data;
  p2_device_close(core, p2->device);
  p2->device = NULL;
}

static Status prepare(void *data, Step *step) { return position_device_predict(((P2 *)data)->device->position, step); }

/* ---- contacts ---- */

static Status reserve(const Launcher *l, P2Device *d, P2Shared p2) {
  const int64_t count = l->step.count, slots = l->d->slot_count;
#define P2_TAKE(name, size, needed)                                                                                    \
  TRY(device_reserve(l->core, d->device, &d->name, ((needed) ? slots : 1) * (int64_t)(size), 0, "contacts"));
  P2_SLOT_BUFFERS(P2_TAKE)
#undef P2_TAKE
  TRY(device_reserve(l->core, d->device, &d->likely, (p2.springs ? count : 1) * (int64_t)sizeof(int32_t[4]), 0,
                     "contacts"));
  TRY(device_reserve(l->core, d->device, &d->likely_walls, (p2.springs ? count : 1) * (int64_t)sizeof(int32_t), 0,
                     "contacts"));
  const int64_t graph = (p2.levels || p2.tied ? count : 1) * (int64_t)sizeof(int32_t);
  TRY(device_reserve(l->core, d->device, &d->level, graph, 0, "contact graph"));
  TRY(device_reserve(l->core, d->device, &d->ties, graph, 0, "contact graph"));
  return device_reserve(l->core, d->device, &d->more, sizeof(int32_t), 0, "contact graph");
}

/* Through the graph of the contacts, as far as it goes: a launch for a step, and a look whether there is more for some
 * of them. */
typedef Status (*GraphStep)(const Launcher *l, const P2Launcher *extra, P2Device *d, int32_t from);
static Status walk_graph(const Launcher *l, const P2Launcher *extra, P2Device *d, GraphStep step) {
  int32_t more = 1;
  for (int32_t from = 1; more; from += GRAPH_STEPS) {
    TRY(device_clear(l->core, d->device, &d->more, sizeof more));
    for (int32_t k = 0; k < GRAPH_STEPS; k++) TRY(step(l, extra, d, from + k));
    TRY(device_read(l->core, d->device, &d->more, 0, sizeof more, &more));
  }
  return SCREE_OK;
}

static Status climb(const Launcher *l, const P2Launcher *extra, P2Device *d, int32_t from) {
  return P2_LAUNCH(p2_climb, l->step.count, P2_STEP, DEVICE_VALUE(from), HERE(pairs), HERE(rows), HERE(begin),
                   HERE(key), HERE(pose), HERE(now), OWN(level), OWN(more));
}

/* Error reduction by the distance to the ground. */
static Status find_levels(const Launcher *l, const P2Launcher *extra, P2Device *d) {
  TRY(P2_LAUNCH(p2_ground, l->step.count, P2_STEP, HERE(walls), HERE(rows), HERE(begin), HERE(key), HERE(pose),
                HERE(boundary), HERE(bodies), HERE(now), HERE(wall_now), OWN(level)));
  TRY(walk_graph(l, extra, d, climb));
  return P2_LAUNCH(p2_tilt, l->step.count, P2_STEP, HERE(pairs), HERE(rows), HERE(begin), HERE(key), OWN(level),
                   OWN(tilt));
}

static Status bear(const Launcher *l, const P2Launcher *extra, P2Device *d, int32_t from) {
  (void)extra;
  return P2_LAUNCH(p2_bear, l->step.count, DEVICE_VALUE(from), HERE(pairs), HERE(rows), HERE(begin), HERE(key),
                   HERE(kept), OWN(ties), OWN(level), OWN(more));
}

/* Who is tied to a solid: where the levels were, which are used up by then. */
static Status find_borne(const Launcher *l, const P2Launcher *extra, P2Device *d) {
  TRY(P2_LAUNCH(p2_ties, l->step.count, P2_STEP, HERE(pairs), HERE(walls), HERE(rows), HERE(begin), HERE(kept),
                HERE(kind), HERE(mu), OWN(law), OWN(pull), OWN(ties), OWN(level)));
  return walk_graph(l, extra, d, bear);
}

static Status send_materials(const Launcher *l, P2Device *d) {
  const Materials *materials = &l->work->step->state->materials;
  double table[256][P2_MATERIAL_DOUBLES];
  for (int32_t k = 0; k < materials->count; k++) {
    const ScreeMaterialDef *own = &materials->items[k].definition;
    table[k][0] = own->stiffness, table[k][1] = own->damping, table[k][2] = own->adhesion;
  }
  return position_send_table(l, &d->sent_materials, &d->materials, table, materials->count * (int64_t)sizeof *table);
}

/* Rows of contacts with solids, before anything pushes. */
static Status begin_walls(const Launcher *l, P2Device *d) {
  return P2_LAUNCH(p2_walls, l->step.boundary_count, HERE(boundary), HERE(bodies), HERE(touched), HERE(motions),
                   HERE(wall_now));
}

static Status make_contacts(const Launcher *l, const P2Launcher *extra, P2Device *d) {
  const int64_t count = l->step.count;
  TRY(send_materials(l, d));
  TRY(begin_walls(l, d));
  TRY(P2_LAUNCH(p2_make, count, P2_STEP, SLOTS_OF_GRAINS, HERE(kept), HERE(pose), HERE(kind), HERE(mu), HERE(tension),
                OWN(materials), FIELD(material), FIELD(mass), FIELD(radius), HERE(push), HERE(now), HERE(wall_now),
                HERE(boundary), HERE(touched), OWN(law), OWN(within), OWN(pull), OWN(soft), OWN(tilt), OWN(likely),
                OWN(likely_walls)));
  if (extra->shared.levels) TRY(find_levels(l, extra, d));
  if (l->step.averaging) return SCREE_OK;
  TRY(P2_LAUNCH(p2_masses, count, OWN(likely), OWN(likely_walls), HERE(push), HERE(now), HERE(last)));
  if (!extra->shared.rolls) return SCREE_OK;
  /* The rows of `ahead` are free once the partners are found. */
  TRY(P2_LAUNCH(p2_turn, count, P2_STEP, SLOTS_OF_GRAINS, HERE(pose), HERE(boundary), HERE(bodies), FIELD3(vx, vy, vz),
                FIELD(radius), HERE(ahead)));
  return P2_LAUNCH(p2_roll_slots, count, SLOTS_OF_GRAINS, HERE(pose), FIELD(radius), OWN(law), HERE(ahead), OWN(roll));
}

static Status lay_out(Launcher *l, void *data) {
  P2Launcher *extra = data;
  P2Device *d = extra->p2->device;
  const State *state = l->work->step->state;
  const int32_t count = l->step.count, word = extra->shared.words + P2_WORD_FASTEST;
#define P2_FIND(name) d->name = mirror_buffer(state->mirror, &state->particles, #name, &l->d->nothing);
  P2_REST_FIELDS(P2_FIND)
#undef P2_FIND
  TRY(reserve(l, d, extra->shared));
  TRY(position_launch(l, d->p2_fastest, count,
                      DEVICE_ARGUMENTS(DEVICE_VALUE(count), DEVICE_VALUE(word), FIELD3(dx, dy, dz),
                                       DEVICE_BUFFER(&state->mirror->words.buffer))));
  if (!p2_parts(l->work)) l->stabilization = 0;
  if (!extra->shared.springs) return SCREE_OK;
  l->step.soft = 1;
  l->soft = &d->soft;
  return make_contacts(l, extra, d);
}

static Status solve_batch(const Launcher *l, void *data, int32_t batch, int32_t last) {
  const P2Launcher *extra = data;
  P2Device *d = extra->p2->device;
  return P2_LAUNCH(p2_batch_pass, l->step.count, P2_STEP, DEVICE_VALUE(batch), DEVICE_VALUE(last), SLOTS_OF_GRAINS,
                   HERE(kept), HERE(pose), HERE(kind), HERE(mu), HERE(rolling), OWN(law), OWN(within), OWN(pull),
                   OWN(soft), OWN(tilt), OWN(roll), OWN(likely), OWN(likely_walls), HERE(now), HERE(next), HERE(last),
                   HERE(last_next), HERE(turn), HERE(turn_next), HERE(push), HERE(total), HERE(left), HERE(before),
                   HERE(torque), HERE(wall_now), HERE(wall_last), HERE(wall_rim), HERE(sums));
}

static Status average(const Launcher *l, void *data) {
  const P2Launcher *extra = data;
  P2Device *d = extra->p2->device;
  return P2_LAUNCH(p2_average_pass, l->step.count, P2_STEP, SLOTS_OF_GRAINS, HERE(kept), HERE(pose), HERE(kind),
                   HERE(mu), OWN(law), OWN(within), OWN(pull), OWN(soft), OWN(tilt), HERE(now), HERE(next), HERE(last),
                   HERE(push), HERE(wall_now), HERE(wall_last));
}

/* The limit, and sleep. The rows of `next` and `ahead` are free once the passes are over. */
static Status solved(const Launcher *l, void *data) {
  const P2Launcher *extra = data;
  P2Device *d = extra->p2->device;
  const int64_t count = l->step.count;
  TRY(P2_LAUNCH(p2_limit, count, P2_STEP, HERE(now), HERE(total),
                DEVICE_BUFFER(&l->work->step->state->mirror->words.buffer)));
  if (!(extra->p2->settings.sleep_speed > 0)) return SCREE_OK;
  if (l->work->settings->iterations < 1) TRY(begin_walls(l, d));
  if (extra->shared.tied) TRY(find_borne(l, extra, d));
  TRY(P2_LAUNCH(p2_sleep, count, P2_STEP, SLOTS_OF_GRAINS, HERE(kept), HERE(pose), HERE(kind), HERE(mu), OWN(law),
                OWN(pull), FIELD(mass), HERE(now), HERE(total), HERE(wall_now), REST, OWN(level), HERE(next),
                HERE(ahead)));
  return P2_LAUNCH(p2_wake, count, P2_STEP, HERE(next), HERE(ahead), HERE(now), HERE(total), HERE(turn), REST);
}

/* ---- a step ---- */

static P2Shared shared_step(const P2 *p2, const Step *step, double h) {
  const State *state = step->state;
  const P2Settings *settings = &p2->settings;
  const Vec3 down = vec3_normalize(state->gravity);
  const bool springs = !p2_all_rigid(&state->materials, settings);
  return (P2Shared){.dt = (double)(float)h,
                    .gravity = fmax(vec3_length(state->gravity), 1),
                    .rigid = INFINITY,
                    .way = p2_way_of_solids(step, settings),
                    .springs = springs,
                    .rolls = springs && settings->position.sticky && !settings->position.averaging,
                    .reduces = settings->error_reduction > 0,
                    .words = mirror_words_begin(state->mirror) + MIRROR_METHOD_WORD,
                    .step_dt = (float)step->dt,
                    .slow = settings->sleep_speed * (float)step->dt,
                    .error_reduction = settings->error_reduction,
                    .down = {(float)down.x, (float)down.y, (float)down.z},
                    .radius = (float)state->radius,
                    .iterations = settings->position.iterations,
                    .levels = settings->error_reduction > 0 && settings->ground,
                    .tied =
                        settings->sleep_speed > 0 && (settings->position.averaging || settings->error_reduction > 0)};
}

static Status step_on_device(void *data, Step *step) {
  P2 *p2 = data;
  const PositionSettings *settings = &p2->settings.position;
  const double h = position_substep(settings, step);
  P2Launcher launcher = {.p2 = p2, .shared = shared_step(p2, step, h)};
  const PositionExtra extra = {.data = &launcher,
                               .lay_out = lay_out,
                               .solve_batch = launcher.shared.springs ? solve_batch : NULL,
                               .average = average,
                               .solved = solved};
  const int mark = scratch_mark(step->scratch);
  const Status status = position_device_step(p2->device->position, step, settings, &p2->search, &p2->memory, &p2->spin,
                                             p2_history_scale(p2, h), &extra);
  scratch_release(step->core, step->scratch, mark);
  p2->last_h = h;
  return status;
}

static int wanted(void *data, DeviceRead *reads) {
  return position_device_wanted(((P2 *)data)->device->position, reads);
}

static void counted(void *data, Step *step, const int32_t *words, double fastest) {
  (void)fastest;
  position_device_told(((P2 *)data)->device->position, step->state);
  if (words[P2_WORD_LIMITED] > 0) state_count(step->state, "speed_limited_grains", words[P2_WORD_LIMITED]);
}

static bool looks(const void *data, const State *state) {
  return position_impact_looks(&((const P2 *)data)->settings.position, state);
}

static Status fetch(Core *core, void *data) {
  P2 *p2 = data;
  return position_device_fetch(core, p2->device->position, &p2->memory);
}

static void forget(void *data) { position_device_forget(((P2 *)data)->device->position); }

const MethodDevice P2_DEVICE = {
    .open = open_device,
    .prepare = prepare,
    .step = step_on_device,
    .wanted = wanted,
    .counted = counted,
    .looks = looks,
    .fetch = fetch,
    .forget = forget,
    .close = close_device,
};
