/* Fine grains on a device: what goes up and down in a frame, and the order of its kernels (fine.cl).
 *
 * The table of grains lives there. In a frame go up: the coarse grains in the order of their cells, where the method
 * does not have them there (coarse_device.c), the poses of solids and the born; and come down: how many are left to the
 * host, and those. That are the ones whose path crosses a solid or that touch a mesh with sharp edges (walls.c does
 * both in double), that are stuck between solids, and that may be in a sink. */
#define LANE_SCALAR /* laws for one grain */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "geometry/shape_kernels.h"
#include "state/solids_there_shared.h"
#include "upsample/internal.h"

/* Records of grains that are left to the host: room for this share of all, and for so many at least. */
enum { RECORDS_SHARE = 16, RECORDS_LEAST = 256 };
_Static_assert(sizeof(FineRecord) >= 4 * RECORDS_SHARE, "an order of all grains has room where the records are");
/* Room round a sink within which the host decides, m, and per m of distance from the origin: far more than rounding. */
#define SINK_MARGIN 1e-3
#define SINK_ROUNDING 1e-5

const int64_t fine_field_sizes[FIELDS] = {
#define FINE_SIZE_OF(type, name) (int64_t)sizeof(type),
    FINE_FIELDS(FINE_SIZE_OF)
#undef FINE_SIZE_OF
};

#define FINE_KERNELS(X)                                                                                                \
  X(fine_paper, "device fine grains")                                                                                  \
  X(fine_better, "device fine grains")                                                                                 \
  X(fine_count, "device counts")                                                                                       \
  X(fine_results, "device walls")                                                                                      \
  X(fine_near_sinks, "device deaths")                                                                                  \
  X(fine_places, "device deaths")                                                                                      \
  X(fine_keep_words, "device deaths")                                                                                  \
  X(fine_keep_bytes, "device deaths")

struct FineDevice {
  Device *device;
  DeviceProgram *program;
  FINE_KERNELS(DEVICE_KERNEL_MEMBER)
  CoarseDevice *coarse; /* NULL: the device has no doubles, and particles are on the host */
  SettleDevice *settle; /* NULL likewise: the host looks at grains closer */
  TableDevice *table;
  SolidsMirror shapes; /* of the solids, without poses */
  bool here;           /* the device has the grains; else the host's table counts */
  bool fetched;        /* the host's table holds as well */
  bool births_fetched; /* of that, at least radius, id and material hold */
  int64_t room;        /* for records */
  DeviceBuffer fields[FIELDS], frame, rows[2], start[2], solids, friction, counts, records, results, words, late,
      counters, dead, sinks;
  SolidShared *solids_shared;
  FineRecord *host_records;
  FineResult *host_results;
};

/* -1: there is none. */
static int form_of(const Shape *shape) {
  switch (shape->kind) {
  case SCREE_SHAPE_PLANE: return FORM_PLANE;
  case SCREE_SHAPE_SPHERE: return FORM_SPHERE;
  case SCREE_SHAPE_CAPSULE: return FORM_CAPSULE;
  case SCREE_SHAPE_BOX: return FORM_BOX;
  case SCREE_SHAPE_CYLINDER: return FORM_CYLINDER;
  case SCREE_SHAPE_MESH: return shape->grid ? FORM_GRID : -1;
  default: return -1;
  }
}

bool solid_has_form(const FineSolid *solid) { return form_of(&solid->shape) >= 0; }

static Status make_kernels(Core *core, FineDevice *d) {
  const char *macros = device_is_processor(d->device) ? "" : "-DFINE_GROUPS";
  TRY(device_build(core, d->device, "upsample/fine.cl", macros, &d->program));
  FINE_KERNELS(DEVICE_KERNEL_MAKE)
  return device_reserve(core, d->device, &d->counters, COUNT_WORDS * sizeof(uint32_t), 0, "counters");
}

Status fine_device_create(Core *core, Upsample *up, State *state, Device *device) {
  TRY(memory_new(core, &up->device, 1, "fine grains of a device"));
  up->device->device = device;
  up->coarse_grid.wraps = up->sample_grid.wraps = true;
  TRY(make_kernels(core, up->device));
  TRY(table_device_create(core, device, &up->device->table));
  up->device->here = fine_device_places(up);
  if (!device_has_doubles(device)) return SCREE_OK;
  TRY(coarse_device_create(core, state, device, &up->device->coarse));
  return settle_device_create(core, device, &up->device->settle);
}

void fine_device_destroy(Core *core, Upsample *up) {
  FineDevice *d = up->device;
  if (!d) return;
  DeviceBuffer *const buffers[] = {&d->frame,  &d->rows[0],  &d->rows[1],  &d->start[0], &d->start[1],
                                   &d->solids, &d->friction, &d->counts,   &d->records,  &d->results,
                                   &d->words,  &d->late,     &d->counters, &d->dead,     &d->sinks};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) device_release(d->device, buffers[k]);
  for (int f = 0; f < FIELDS; f++) device_release(d->device, &d->fields[f]);
  FINE_KERNELS(DEVICE_KERNEL_FREE)
  coarse_device_destroy(core, d->coarse);
  settle_device_destroy(core, d->settle);
  table_device_destroy(core, d->table);
  solids_mirror_drop(core, d->device, &d->shapes);
  device_program_free(core, d->program);
  memory_drop(core, &d->solids_shared);
  memory_drop(core, &d->host_records);
  memory_drop(core, &d->host_results);
  up->coarse_grid.wraps = up->sample_grid.wraps = false;
  memory_drop(core, &up->device);
}

/* ---- the table ---- */

static void host_fields(const FineGrains *grains, void *fields[FIELDS]) {
#define FINE_FIELD_OF(type, name) fields[FIELD_##name] = grains->name;
  FINE_FIELDS(FINE_FIELD_OF)
#undef FINE_FIELD_OF
}

static Status reserve(Core *core, FineDevice *d, int64_t count, int64_t keep) {
  for (int f = 0; f < FIELDS; f++)
    TRY(device_reserve(core, d->device, &d->fields[f], count * fine_field_sizes[f], keep * fine_field_sizes[f],
                       "fine grains"));
  const int64_t share = (count + RECORDS_SHARE - 1) / RECORDS_SHARE;
  d->room = share > RECORDS_LEAST ? share : RECORDS_LEAST;
  TRY(device_reserve(core, d->device, &d->records, d->room * (int64_t)sizeof(FineRecord), 0, "grains at solids"));
  return device_reserve(core, d->device, &d->words, count * 4, 0, "lists of fine grains");
}

Status fine_device_begin(Core *core, Upsample *up) {
  table_device_placed(up->device->table);
  return reserve(core, up->device, up->grains.count, 0);
}

void fine_device_forget(Upsample *up) { up->device->here = false; }

/* Copies grains of the host to where they begin in the table there. */
static Status send(Core *core, FineDevice *d, const FineGrains *grains, int64_t first) {
  void *fields[FIELDS];
  host_fields(grains, fields);
  for (int f = 0; f < FIELDS; f++)
    TRY(device_write(core, d->device, &d->fields[f], first * fine_field_sizes[f], grains->count * fine_field_sizes[f],
                     fields[f]));
  return SCREE_OK;
}

static Status bring_here(Core *core, const Upsample *up) {
  FineDevice *d = up->device;
  if (d->here) return SCREE_OK;
  TRY(reserve(core, d, up->grains.count, 0));
  TRY(send(core, d, &up->grains, 0));
  d->here = d->fetched = d->births_fetched = true;
  return SCREE_OK;
}

bool fine_device_holds(const Upsample *up) { return up->device && up->device->here; }

bool fine_device_places(const Upsample *up) { return up->device && table_device_places(up->device->table); }

/* The host's table no longer holds. */
static void changed(FineDevice *d) { d->fetched = d->births_fetched = false; }

Status fine_device_place(Core *core, Upsample *up, const Samples *samples, FinePlacing placing) {
  FineDevice *d = up->device;
  const int64_t count = up->grains.count + samples->count;
  if (count > INT32_MAX - FINE_BLOCK) return fine_too_many(core, count);
  TRY(reserve(core, d, count, up->grains.count));
  TRY(table_device_place(core, d->table, samples, &placing, d->fields));
  up->grains.count = count;
  changed(d);
  return SCREE_OK;
}

Status fine_device_sort(Core *core, Upsample *up) {
  FineDevice *d = up->device;
  const int64_t count = up->grains.count;
  TRY(bring_here(core, up));
  TRY(table_device_sort(core, d->table, count, up->definition.radius, d->fields, &d->words, &d->records));
  changed(d);
  fine_sorted(up);
  return reserve(core, d, count, 0); /* words and records may have changed places */
}

Status fine_device_fetch(Core *core, Upsample *up) {
  FineDevice *d = up->device;
  void *fields[FIELDS];
  if (!d->here || d->fetched) return SCREE_OK;
  if (up->grains.capacity < up->grains.count) {
    fine_grains_drop(core, &up->grains);
    d->births_fetched = false;
    TRY(fine_reserve(core, &up->grains, up->grains.count));
  }
  host_fields(&up->grains, fields);
  for (int f = 0; f < FIELDS; f++) {
    bool of_birth = f == FIELD_radius || f == FIELD_id || f == FIELD_material;
    if (of_birth && d->births_fetched) continue;
    TRY(device_read(core, d->device, &d->fields[f], 0, up->grains.count * fine_field_sizes[f], fields[f]));
  }
  d->fetched = d->births_fetched = true;
  return fine_forget_blocks(core, up, 0);
}

/* ---- solids ---- */

static void share_solid(const FineSolid *view, SolidShared *to) {
  to->form = form_of(&view->shape);
  to->sampled = view->sampled;
  to->sign = view->shape.inside ? -1.0f : 1.0f;
  to->known = solid_known_distance(view);
  to->moves = view->moved > 0;
  to->moved = (float)view->moved;
  to->doubt = (float)view->doubt;
  to->lag = (float)(view->moved + view->doubt);
  for (int when = 0; when < 2; when++) to->axes[when] = view->axes[when];
  memcpy(to->drift, view->drift, sizeof to->drift);
  if (to->form == FORM_GRID) {
    to->grid = grid_frame(view->shape.grid);
    return;
  }
  PlainShape plain = shape_plain(&view->shape);
  memcpy(to->a, plain.a, sizeof to->a);
  memcpy(to->b, plain.b, sizeof to->b);
  to->radius = plain.radius, to->height = plain.height;
}

/* Distance grids and listed triangles go up once; where each begins is in solids_shared. Solids of the state may have
 * other grids. */
static Status send_shapes(Core *core, Upsample *up, const State *state) {
  FineDevice *d = up->device;
  Solids views = {.count = up->solid_count};
  TRY(memory_grow(core, &d->solids_shared, up->solid_count + 1, "solids of a device"));
  if (d->shapes.there && d->shapes.count == up->solid_count) return SCREE_OK;
  if (d->settle) TRY(settle_device_list(core, up, state));
  TRY(memory_new(core, &views.items, up->solid_count, "solids of a device"));
  for (int32_t k = 0; k < up->solid_count; k++) {
    const FineSolid *view = &up->solids[k];
    views.items[k] = (Solid){.shape = view->shape, .rotation = quat_identity()};
    views.items[k].shape.faces = (MeshFaces){.meet = view->listed > 0, .lists = view->lists};
  }
  Status status = solids_mirror_send(core, d->device, &d->shapes, &views);
  memory_drop(core, &views.items);
  for (int32_t k = 0; k < up->solid_count && status == SCREE_OK; k++) {
    d->solids_shared[k].table = d->shapes.there[k].table;
    d->solids_shared[k].values = d->shapes.there[k].values;
  }
  return status;
}

static Status send_friction(Core *core, const Upsample *up, const State *state) {
  FineDevice *d = up->device;
  int64_t pairs = (int64_t)state->materials.count * up->solid_count;
  float(*friction)[2] = NULL;
  TRY(memory_new(core, &friction, pairs + 1, "friction"));
  for (int32_t m = 0; m < state->materials.count; m++)
    for (int32_t k = 0; k < up->solid_count; k++) {
      const Material *material = &state->materials.items[m];
      friction[m * up->solid_count + k][0] = solid_friction_static(&up->solids[k], material);
      friction[m * up->solid_count + k][1] = solid_friction_kinetic(&up->solids[k], material);
    }
  int64_t bytes = (pairs + 1) * (int64_t)sizeof *friction;
  Status status = device_reserve(core, d->device, &d->friction, bytes, 0, "friction");
  if (status == SCREE_OK) status = device_write(core, d->device, &d->friction, 0, bytes, friction);
  memory_drop(core, &friction);
  return status;
}

static Status send_solids(Core *core, Upsample *up, const State *state) {
  FineDevice *d = up->device;
  TRY(send_shapes(core, up, state));
  for (int32_t k = 0; k < up->solid_count; k++) share_solid(&up->solids[k], &d->solids_shared[k]);
  int64_t bytes = (up->solid_count + 1) * (int64_t)sizeof *d->solids_shared;
  TRY(device_reserve(core, d->device, &d->solids, bytes, 0, "solids"));
  TRY(device_write(core, d->device, &d->solids, 0, bytes, d->solids_shared));
  return send_friction(core, up, state);
}

/* ---- a frame ---- */

static Status send_coarse(Core *core, FineDevice *d, int which, const CoarseGrid *grid, const CoarseSet *set,
                          CoarseTable *table) {
  int64_t rows = set->count * (int64_t)sizeof *set->rows;
  *table = (CoarseTable){.count = (int)set->count};
  TRY(device_reserve(core, d->device, &d->rows[which], rows + 32, 0, "coarse grains"));
  TRY(device_reserve(core, d->device, &d->start[which], 64, 0, "coarse cells"));
  if (set->count == 0) return SCREE_OK;
  *table = grid->table;
  int64_t cells = (coarse_grid_cells(grid) + 1) * 4;
  TRY(device_reserve(core, d->device, &d->start[which], cells, 0, "coarse cells"));
  TRY(device_write(core, d->device, &d->rows[which], 0, rows, set->rows));
  return device_write(core, d->device, &d->start[which], 0, cells, grid->start);
}

/* The coarse grains, and the cells that fine ones are counted in. */
static Status gather_coarse(Advance *a, Scratch *scratch, FineFrame *frame) {
  Core *core = a->core;
  Upsample *up = a->up;
  FineDevice *d = up->device;
  CoarseThere there = {.rows = &d->rows[0], .start = &d->start[0], .words = &d->counters, .word = COUNT_BOX};
  if (a->state->mirror) {
    TRY(coarse_device_gather(core, d->coarse, up, a->state, a->dt, &there));
    TRY(coarse_gather_samples(core, up, a->state, scratch, &a->sets));
    frame->grains = there.table;
  } else {
    TRY(coarse_gather(core, up, a->state, scratch, a->dt, &a->sets));
    TRY(send_coarse(core, d, 0, &up->coarse_grid, &a->sets.grains, &frame->grains));
    coarse_bounds(core, &a->sets.grains, there.bounds);
  }
  TRY(send_coarse(core, d, 1, &up->sample_grid, &a->sets.samples, &frame->samples));
  if (a->paper) return SCREE_OK;
  TRY(stir_prepare(core, up, a->state->particles.count, there.bounds, &a->stir));
  frame->cells = a->stir.cells;
  return SCREE_OK;
}

static Status send_frame(Advance *a, FineFrame frame) {
  Core *core = a->core;
  Upsample *up = a->up;
  FineDevice *d = up->device;
  double reach = sqrt((double)a->parameters.reach2);
  frame.parameters = a->parameters;
  frame.solid_count = up->solid_count;
  frame.reach = (float)reach;
  frame.most = (float)(reach - up->lag);
  frame.room = (int)d->room;
  TRY(send_solids(core, up, a->state));
  TRY(device_reserve(core, d->device, &d->frame, sizeof frame, 0, "frame"));
  return device_write(core, d->device, &d->frame, 0, sizeof frame, &frame);
}

static Status launch_paper(Advance *a) {
  FineDevice *d = a->up->device;
  const DeviceBuffer *f = d->fields;
  const int32_t count = (int32_t)a->up->grains.count;
  const DeviceArgument arguments[] = {
      DEVICE_VALUE(count),         DEVICE_BUFFER(&d->frame),          DEVICE_BUFFER(&f[FIELD_x]),
      DEVICE_BUFFER(&f[FIELD_y]),  DEVICE_BUFFER(&f[FIELD_z]),        DEVICE_BUFFER(&f[FIELD_vx]),
      DEVICE_BUFFER(&f[FIELD_vy]), DEVICE_BUFFER(&f[FIELD_vz]),       DEVICE_BUFFER(&d->start[0]),
      DEVICE_BUFFER(&d->rows[0]),  DEVICE_BUFFER(&d->start[1]),       DEVICE_BUFFER(&d->rows[1]),
      DEVICE_BUFFER(&d->solids),   DEVICE_BUFFER(&d->shapes.numbers), DEVICE_BUFFER(&d->shapes.values),
      DEVICE_BUFFER(&d->counters)};
  return device_launch(a->core, d->fine_paper, 0, count, FINE_GROUP, arguments, sizeof arguments / sizeof *arguments);
}

static Status count_cells(Advance *a) {
  FineDevice *d = a->up->device;
  const DeviceBuffer *f = d->fields;
  const int32_t count = (int32_t)a->up->grains.count;
  int64_t bytes = stir_cells(&a->stir) * 4;
  TRY(device_reserve(a->core, d->device, &d->counts, bytes, 0, "counts of fine grains"));
  TRY(device_clear(a->core, d->device, &d->counts, bytes));
  const DeviceArgument arguments[] = {DEVICE_VALUE(count),        DEVICE_BUFFER(&d->frame),
                                      DEVICE_BUFFER(&f[FIELD_x]), DEVICE_BUFFER(&f[FIELD_y]),
                                      DEVICE_BUFFER(&f[FIELD_z]), DEVICE_BUFFER(&d->counts)};
  return device_launch(a->core, d->fine_count, 0, count, FINE_GROUP, arguments, sizeof arguments / sizeof *arguments);
}

/* All grains (listed 0), or those of a list. */
static Status launch_better(Advance *a, const DeviceBuffer *list, int32_t listed, const DeviceBuffer *late) {
  FineDevice *d = a->up->device;
  const DeviceBuffer *f = d->fields;
  const int32_t count = listed ? listed : (int32_t)a->up->grains.count;
  const DeviceArgument arguments[] = {DEVICE_VALUE(count),
                                      DEVICE_BUFFER(&d->frame),
                                      DEVICE_BUFFER(&f[FIELD_x]),
                                      DEVICE_BUFFER(&f[FIELD_y]),
                                      DEVICE_BUFFER(&f[FIELD_z]),
                                      DEVICE_BUFFER(&f[FIELD_vx]),
                                      DEVICE_BUFFER(&f[FIELD_vy]),
                                      DEVICE_BUFFER(&f[FIELD_vz]),
                                      DEVICE_BUFFER(&f[FIELD_radius]),
                                      DEVICE_BUFFER(&f[FIELD_material]),
                                      DEVICE_BUFFER(&d->start[0]),
                                      DEVICE_BUFFER(&d->rows[0]),
                                      DEVICE_BUFFER(&d->solids),
                                      DEVICE_BUFFER(&d->shapes.numbers),
                                      DEVICE_BUFFER(&d->shapes.values),
                                      DEVICE_BUFFER(&d->friction),
                                      DEVICE_BUFFER(&d->counts),
                                      DEVICE_BUFFER(&d->records),
                                      DEVICE_BUFFER(list),
                                      DEVICE_VALUE(listed),
                                      DEVICE_BUFFER(late),
                                      DEVICE_BUFFER(&d->counters)};
  return device_launch(a->core, d->fine_better, 0, count, FINE_GROUP, arguments, sizeof arguments / sizeof *arguments);
}

/* Puts grains out of solids on the host. */
static Status settle_here(Advance *a, Scratch *scratch, const DeviceBuffer *records, int64_t count) {
  Core *core = a->core;
  FineDevice *d = a->up->device;
  const DeviceBuffer *f = d->fields;
  if (count == 0) return SCREE_OK;
  int64_t bytes = count * (int64_t)sizeof(FineResult);
  TRY(memory_grow(core, &d->host_records, count, "grains at solids"));
  TRY(memory_grow(core, &d->host_results, count, "grains at solids"));
  TRY(device_read(core, d->device, records, 0, count * (int64_t)sizeof(FineRecord), d->host_records));
  TRY(walls_records(core, a->up, a->state, scratch, a->dt, sqrt((double)a->parameters.reach2), count, d->host_records,
                    d->host_results));
  TRY(device_reserve(core, d->device, &d->results, bytes, 0, "grains at solids"));
  TRY(device_write(core, d->device, &d->results, 0, bytes, d->host_results));
  const int32_t many = (int32_t)count;
  const DeviceArgument arguments[] = {DEVICE_VALUE(many),          DEVICE_BUFFER(&d->results),
                                      DEVICE_BUFFER(&f[FIELD_x]),  DEVICE_BUFFER(&f[FIELD_y]),
                                      DEVICE_BUFFER(&f[FIELD_z]),  DEVICE_BUFFER(&f[FIELD_vx]),
                                      DEVICE_BUFFER(&f[FIELD_vy]), DEVICE_BUFFER(&f[FIELD_vz])};
  return device_launch(core, d->fine_results, 0, count, FINE_GROUP, arguments, sizeof arguments / sizeof *arguments);
}

/* On the device, before it is known how many there are. */
static Status settle_there(Advance *a) {
  FineDevice *d = a->up->device;
  const DeviceBuffer *f = d->fields;
  const SettleGrains grains = {.frame = &d->frame,
                               .records = &d->records,
                               .x = &f[FIELD_x],
                               .y = &f[FIELD_y],
                               .z = &f[FIELD_z],
                               .vx = &f[FIELD_vx],
                               .vy = &f[FIELD_vy],
                               .vz = &f[FIELD_vz],
                               .solids = &d->solids,
                               .friction = &d->friction,
                               .counters = &d->counters,
                               .shapes = &d->shapes};
  if (!d->settle || a->up->solid_count == 0) return SCREE_OK;
  return settle_device_look(a->core, d->settle, a->up, sqrt((double)a->parameters.reach2), d->room, &grains);
}

static Status read_counters(Core *core, FineDevice *d, uint32_t counters[COUNT_WORDS]) {
  return device_read(core, d->device, &d->counters, 0, COUNT_WORDS * sizeof *counters, counters);
}

static Status clear_counters(Core *core, FineDevice *d) {
  return device_clear(core, d->device, &d->counters, COUNT_WORDS * (int64_t)sizeof(uint32_t));
}

static Status not_finite(const Advance *a) {
  return fail(a->core, SCREE_FAILED, "a fine grain is not finite at t = %.6g s", a->state->time);
}

/* What the kernels of a frame have counted. */
static Status end_move(Advance *a, uint32_t counters[COUNT_WORDS]) {
  FineDevice *d = a->up->device;
  TRY(read_counters(a->core, d, counters));
  if (counters[COUNT_BAD]) return not_finite(a);
  atomic_fetch_add(&a->effort, counters[COUNT_EFFORT] * (int64_t)FINE_GROUP);
  return SCREE_OK;
}

/* Grains that found no room among the records come again, until there are none. */
static Status move_better(Advance *a, Scratch *scratch, uint32_t counters[COUNT_WORDS]) {
  Core *core = a->core;
  FineDevice *d = a->up->device;
  DeviceBuffer *list = &d->late, *late = &d->words;
  TRY(count_cells(a));
  TRY(device_reserve(core, d->device, &d->late, 4, 0, "lists of fine grains"));
  TRY(launch_better(a, list, 0, late));
  TRY(settle_there(a));
  TRY(end_move(a, counters));
  int64_t left = counters[COUNT_LEFT];
  for (int64_t found = counters[COUNT_RECORDS]; found > 0;) {
    uint32_t more[COUNT_WORDS];
    const int32_t listed = found > d->room ? (int32_t)(found - d->room) : 0;
    if (d->settle) TRY(settle_here(a, scratch, settle_left(d->settle), left));
    else TRY(settle_here(a, scratch, &d->records, found - listed));
    if (!listed) break;
    TRY(clear_counters(core, d));
    DeviceBuffer *other = list;
    list = late, late = other;
    TRY(device_reserve(core, d->device, late, listed * (int64_t)4, 0, "lists of fine grains"));
    TRY(launch_better(a, list, listed, late));
    TRY(settle_there(a));
    TRY(end_move(a, more));
    found = more[COUNT_RECORDS];
    left = more[COUNT_LEFT];
  }
  return SCREE_OK;
}

static Status move_paper(Advance *a, uint32_t counters[COUNT_WORDS]) {
  TRY(launch_paper(a));
  return end_move(a, counters);
}

Status fine_device_move(Advance *a, Scratch *scratch) {
  FineDevice *d = a->up->device;
  FineFrame frame = {.reach = 0};
  uint32_t counters[COUNT_WORDS];
  TRY(clear_counters(a->core, d));
  TRY(gather_coarse(a, scratch, &frame));
  if (a->up->grains.count > 0) {
    TRY(bring_here(a->core, a->up));
    d->fetched = false;
    TRY(send_frame(a, frame));
    TRY(a->paper ? move_paper(a, counters) : move_better(a, scratch, counters));
  } else {
    TRY(read_counters(a->core, d, counters));
  }
  if (a->state->mirror && a->state->particles.count > 0) coarse_device_boxed(d->coarse, a->state, counters + COUNT_BOX);
  return SCREE_OK;
}

/* ---- births and deaths ---- */

Status fine_device_births(Core *core, Upsample *up) {
  FineDevice *d = up->device;
  const int64_t first = up->grains.count, count = first + up->born.count;
  if (up->born.count == 0) return SCREE_OK;
  if (count > INT32_MAX - FINE_BLOCK) return fine_too_many(core, count);
  TRY(reserve(core, d, count, first));
  TRY(send(core, d, &up->born, first));
  up->grains.count = count;
  up->born.count = 0;
  changed(d);
  return SCREE_OK;
}

static void share_sink(const Solid *sink, Vec3 origin, SinkShared *to) {
  FineSolid view = {.shape = sink->shape};
  *to = (SinkShared){.margin = (float)SINK_MARGIN, .rounding = (float)SINK_ROUNDING};
  view.position[1] = sink->position;
  view.rotation[1] = sink->rotation;
  solid_view_place(&view, 1, origin);
  if (sink->shape.kind == SCREE_SHAPE_MESH || form_of(&sink->shape) < 0) { /* the box round it */
    view.shape.kind = SCREE_SHAPE_BOX;
    for (int k = 0; k < 3; k++) {
      double low = vec3_get(sink->shape.bounds_low, k), high = vec3_get(sink->shape.bounds_high, k);
      view.shape.numbers.a[k] = 0.5 * (low + high), view.shape.numbers.b[k] = 0.5 * (high - low);
    }
  }
  share_solid(&view, &to->solid);
}

static Status find_near_sinks(Core *core, Upsample *up, const State *state, const Solids *sinks, int64_t *found) {
  FineDevice *d = up->device;
  const DeviceBuffer *f = d->fields;
  const int32_t count = (int32_t)up->grains.count, sink_count = sinks->count;
  uint32_t counters[COUNT_WORDS];
  SinkShared *shared = NULL;
  int64_t bytes = sink_count * (int64_t)sizeof *shared;
  TRY(memory_new(core, &shared, sink_count, "sinks"));
  for (int32_t k = 0; k < sink_count; k++) share_sink(&sinks->items[k], state->origin, &shared[k]);
  Status status = device_reserve(core, d->device, &d->sinks, bytes, 0, "sinks");
  if (status == SCREE_OK) status = device_write(core, d->device, &d->sinks, 0, bytes, shared);
  memory_drop(core, &shared);
  TRY(status);
  TRY(clear_counters(core, d));
  const DeviceArgument arguments[] = {
      DEVICE_VALUE(count),        DEVICE_BUFFER(&d->sinks),   DEVICE_VALUE(sink_count), DEVICE_BUFFER(&f[FIELD_x]),
      DEVICE_BUFFER(&f[FIELD_y]), DEVICE_BUFFER(&f[FIELD_z]), DEVICE_BUFFER(&d->words), DEVICE_BUFFER(&d->counters)};
  TRY(device_launch(core, d->fine_near_sinks, 0, count, FINE_GROUP, arguments, sizeof arguments / sizeof *arguments));
  TRY(read_counters(core, d, counters));
  *found = counters[COUNT_FOUND];
  return SCREE_OK;
}

/* Places of the found, as x, y, z and number. */
static Status read_places(Core *core, Upsample *up, int64_t found, float (*places)[4]) {
  FineDevice *d = up->device;
  const DeviceBuffer *f = d->fields;
  int64_t most = d->records.bytes / (int64_t)sizeof *places;
  for (int64_t b = 0; b < found; b += most) {
    const int32_t first = (int32_t)b, many = (int32_t)(found - b < most ? found - b : most);
    const DeviceArgument arguments[] = {
        DEVICE_VALUE(first),        DEVICE_VALUE(many),         DEVICE_BUFFER(&d->words),  DEVICE_BUFFER(&f[FIELD_x]),
        DEVICE_BUFFER(&f[FIELD_y]), DEVICE_BUFFER(&f[FIELD_z]), DEVICE_BUFFER(&d->records)};
    TRY(device_launch(core, d->fine_places, 0, many, FINE_GROUP, arguments, sizeof arguments / sizeof *arguments));
    TRY(device_read(core, d->device, &d->records, 0, many * (int64_t)sizeof *places, places + b));
  }
  return SCREE_OK;
}

static int ascending(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return x < y ? -1 : x > y;
}

/* Which of the found are in a sink, ascending; the list takes the place of the places. */
static int64_t list_dead(const State *state, const Solids *sinks, int64_t found, float (*places)[4], int32_t *dead) {
  int64_t count = 0;
  for (int64_t k = 0; k < found; k++) {
    Vec3 at = vec3_add(state->origin, vec3((double)places[k][0], (double)places[k][1], (double)places[k][2]));
    bool gone = false;
    for (int32_t s = 0; s < sinks->count && !gone; s++) gone = solid_contains(&sinks->items[s], at);
    if (gone) memcpy(&dead[count++], &places[k][3], sizeof *dead);
  }
  qsort(dead, (size_t)count, sizeof *dead, ascending);
  return count;
}

/* Closes the gaps that the dead leave: those before the first stay where they are. */
static Status remove_dead(Core *core, Upsample *up, const int32_t *dead, int64_t count) {
  FineDevice *d = up->device;
  const int32_t first = dead[0], left = (int32_t)(up->grains.count - count), many = (int32_t)count;
  TRY(device_reserve(core, d->device, &d->dead, count * 4, 0, "dead fine grains"));
  TRY(device_write(core, d->device, &d->dead, 0, count * 4, dead));
  for (int f = 0; f < FIELDS && left > first; f++) {
    const DeviceArgument arguments[] = {DEVICE_VALUE(first), DEVICE_VALUE(left),           DEVICE_BUFFER(&d->dead),
                                        DEVICE_VALUE(many),  DEVICE_BUFFER(&d->fields[f]), DEVICE_BUFFER(&d->words)};
    DeviceKernel *kernel = fine_field_sizes[f] == 4 ? d->fine_keep_words : d->fine_keep_bytes;
    TRY(device_launch(core, kernel, 0, left - first, FINE_GROUP, arguments, sizeof arguments / sizeof *arguments));
    TRY(device_copy(core, d->device, &d->words, &d->fields[f], first * fine_field_sizes[f],
                    (left - first) * fine_field_sizes[f]));
  }
  up->grains.count = left;
  changed(d);
  return SCREE_OK;
}

Status fine_device_deaths(Core *core, Upsample *up, const State *state, const Solids *sinks) {
  if (sinks->count == 0 || up->grains.count == 0) return SCREE_OK;
  TRY(bring_here(core, up));
  int64_t found = 0;
  float(*places)[4] = NULL;
  int32_t *dead = NULL;
  TRY(find_near_sinks(core, up, state, sinks, &found));
  if (found == 0) return SCREE_OK;
  Status status = memory_new(core, &places, found, "drained");
  if (status == SCREE_OK) status = memory_new(core, &dead, found, "drained");
  if (status == SCREE_OK) status = read_places(core, up, found, places);
  int64_t count = status == SCREE_OK ? list_dead(state, sinks, found, places, dead) : 0;
  if (count > 0) status = remove_dead(core, up, dead, count);
  memory_drop(core, &places);
  memory_drop(core, &dead);
  return status;
}
