/* Births, deaths and throws where particles are on a device: records of those that it concerns go over the bus, and no
 * fields. Methods with lists, whose own memory knows particles by their places, have births and deaths done on the
 * host. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "world/births.h"
#include "world/on_device.h"

enum { GATHERED_FEW = 512 }; /* of a list come down with the counters */

static GatherShared gather_shared(const ScreeWorld *world, int word, int64_t room) {
  const State *state = &world->state;
  return (GatherShared){.origin = {state->origin.x, state->origin.y, state->origin.z},
                        .count = (int)state->particles.count,
                        .counter = mirror_words_begin(state->mirror) + word,
                        .room = (int)room};
}

/* ---- sinks and emitters ---- */

bool world_sinks_are_there(const ScreeWorld *world) {
  for (int32_t k = 0; k < world->sinks.count; k++) {
    const int kind = (int)world->sinks.items[k].shape.kind;
    if (kind == SCREE_SHAPE_MESH || kind == SCREE_SHAPE_HEIGHTFIELD) return false;
  }
  return true;
}

static Status launch_drain(ScreeWorld *world) {
  WorldDevice *d = world->on_device;
  const int32_t sinks = world->sinks.count, count = (int32_t)world->state.particles.count;
  const GatherShared gather = gather_shared(world, WORD_DRAINED, d->drained_here.room);
  const SolidsMirror *solids = &d->sinks;
  TRY(solids_mirror_send(&world->core, world->device, &d->sinks, &world->sinks));
  return WORLD_LAUNCH(world_drain, count, DEVICE_VALUE(gather), DEVICE_VALUE(sinks), WORLD_FIELD3(x, y, z),
                      WORLD_FIELD3(low_x, low_y, low_z), WORLD_FIELD(id), DEVICE_BUFFER(&solids->solid),
                      DEVICE_BUFFER(&world->state.mirror->words.buffer), WORLD_HERE(drained));
}

/* Whether any emitter pours in the step that ends; the clock does not say so yet. */
static bool any_pours(const ScreeWorld *world, double dt) {
  for (int32_t k = 0; k < world->definition.scene.emitter_count; k++)
    if (world_emitter_pours(world, k, world->state.time + dt, dt)) return true;
  return false;
}

static Status launch_crowd(ScreeWorld *world, double dt) {
  WorldDevice *d = world->on_device;
  const int32_t count = (int32_t)world->state.particles.count;
  const GatherShared gather = gather_shared(world, WORD_CROWD, d->crowd_here.room);
  for (int32_t k = 0; k < world->definition.scene.emitter_count; k++) {
    if (!world_emitter_pours(world, k, world->state.time + dt, dt)) continue;
    const Crowding near = world_emitter_crowding(world, k, dt);
    TRY(WORLD_LAUNCH(world_crowd, count, DEVICE_VALUE(gather), DEVICE_VALUE(k), DEVICE_VALUE(near.reach),
                     DEVICE_VALUE(near.x), DEVICE_VALUE(near.y), DEVICE_VALUE(near.z), WORLD_FIELD3(x, y, z),
                     WORLD_FIELD(radius), DEVICE_BUFFER(&world->state.mirror->words.buffer), WORLD_HERE(crowd)));
  }
  return SCREE_OK;
}

/* Room for a list, on both sides. */
#define RESERVE_LIST(list, buffer, wanted)                                                                             \
  do {                                                                                                                 \
    (list)->room = (wanted);                                                                                           \
    TRY(memory_grow(&world->core, &(list)->items, (wanted), "particles that are born or die"));                        \
    TRY(device_reserve(&world->core, world->device, (buffer), (wanted) * (int64_t)sizeof *(list)->items, 0,            \
                       "particles that are born or die"));                                                             \
  } while (0)

Status world_gather_begin(ScreeWorld *world, double dt, DeviceRead *reads, int *count) {
  WorldDevice *d = world->on_device;
  WorldDrained *drained = &d->drained_here;
  WorldCrowd *crowd = &d->crowd_here;
  if (world->sinks.count > 0 && world_sinks_are_there(world)) {
    TRY(world_to_device(world, SET_BIRTH));
    if (drained->room == 0) RESERVE_LIST(drained, &d->drained, GATHERED_FEW);
    TRY(launch_drain(world));
    reads[(*count)++] = (DeviceRead){&d->drained, 0, GATHERED_FEW * (int64_t)sizeof *drained->items, drained->items};
  }
  if (any_pours(world, dt)) {
    TRY(world_to_device(world, SET_BIRTH));
    if (crowd->room == 0) RESERVE_LIST(crowd, &d->crowd, GATHERED_FEW);
    TRY(launch_crowd(world, dt));
    reads[(*count)++] = (DeviceRead){&d->crowd, 0, GATHERED_FEW * (int64_t)sizeof *crowd->items, crowd->items};
  }
  return SCREE_OK;
}

/* Counts anew from zero. */
static Status clear_word(ScreeWorld *world, int word) {
  const MirrorWords *words = &world->state.mirror->words;
  const int32_t zero = 0;
  return device_write(&world->core, world->device, &words->buffer,
                      (mirror_words_begin(world->state.mirror) + word) * (int64_t)sizeof zero, sizeof zero, &zero);
}

Status world_gather_end(ScreeWorld *world, double dt) {
  WorldDevice *d = world->on_device;
  WorldDrained *drained = &d->drained_here;
  WorldCrowd *crowd = &d->crowd_here;
  const int32_t *words = world->state.mirror->words.here;
  drained->count = words[WORD_DRAINED];
  crowd->count = words[WORD_CROWD];
  if (drained->count > drained->room) {
    RESERVE_LIST(drained, &d->drained, 2 * drained->count);
    TRY(clear_word(world, WORD_DRAINED));
    TRY(launch_drain(world));
  }
  if (crowd->count > crowd->room) {
    RESERVE_LIST(crowd, &d->crowd, 2 * crowd->count);
    TRY(clear_word(world, WORD_CROWD));
    TRY(launch_crowd(world, dt));
  }
  const int64_t more_drained = drained->count > GATHERED_FEW ? drained->count : 0,
                more_crowd = crowd->count > GATHERED_FEW ? crowd->count : 0;
  const DeviceRead reads[] = {
      {&d->drained, 0, more_drained * (int64_t)sizeof *drained->items, drained->items},
      {&d->crowd, 0, more_crowd * (int64_t)sizeof *crowd->items, crowd->items},
  };
  return device_read_many(&world->core, world->device, reads, 2);
}

static int by_index(const void *a, const void *b) {
  const int x = ((const DrainedThere *)a)->index, y = ((const DrainedThere *)b)->index;
  return (x > y) - (x < y);
}

Status world_drain_there(ScreeWorld *world) {
  const WorldDrained *drained = &world->on_device->drained_here;
  if (drained->count == 0) return SCREE_OK;
  qsort(drained->items, (size_t)drained->count, sizeof *drained->items, by_index);
  for (int64_t k = 0; k < drained->count; k++)
    TRY(queue_death(&world->core, &world->state.queue, drained->items[k].id, REASON_SINK, 0));
  return SCREE_OK;
}

Status world_crowd_there(ScreeWorld *world, int32_t emitter, int64_t spare, Crowd *crowd) {
  const WorldCrowd *there = &world->on_device->crowd_here;
  TRY(world_crowd_reserve(world, there->count + spare, crowd));
  for (int64_t k = 0; k < there->count; k++) {
    const CrowdThere *one = &there->items[k];
    if (one->emitter == emitter) crowd_add(crowd, one->x, one->y, one->z, one->radius);
  }
  return SCREE_OK;
}

/* ---- deaths ---- */

bool world_births_are_there(const ScreeWorld *world) {
  return world->on_device && world_needs(world).neighbors == NEIGHBORS_SEARCHED;
}

static int dead_by_index(const void *a, const void *b) {
  const int x = ((const DeadThere *)a)->index, y = ((const DeadThere *)b)->index;
  return (x > y) - (x < y);
}

Status world_find_dead_there(ScreeWorld *world, int32_t *dead, int64_t *found) {
  Core *core = &world->core;
  WorldDevice *d = world->on_device;
  Mirror *mirror = world->state.mirror;
  const Queue *queue = &world->state.queue;
  const int64_t most = queue->death_count;
  const int32_t wanted = (int32_t)most, count = (int32_t)world->state.particles.count;
  uint32_t *ids = NULL;
  DeadThere *records = NULL;
  TRY(scratch_take(core, &world->scratch, &ids, most, "dead"));
  TRY(scratch_take(core, &world->scratch, &records, most, "dead"));
  for (int64_t k = 0; k < most; k++) ids[k] = queue->deaths[k].id;
  TRY(world_to_device(world, SET_X | SET_BIRTH));
  TRY(device_reserve(core, world->device, &d->dead_ids, most * (int64_t)sizeof *ids, 0, "dead"));
  TRY(device_reserve(core, world->device, &d->dead, most * (int64_t)sizeof *records, 0, "dead"));
  TRY(device_write(core, world->device, &d->dead_ids, 0, most * (int64_t)sizeof *ids, ids));
  const GatherShared gather = gather_shared(world, WORD_DEAD, most);
  TRY(WORLD_LAUNCH(world_find_dead, count, DEVICE_VALUE(gather), DEVICE_VALUE(wanted), WORLD_HERE(dead_ids),
                   WORLD_FIELD3(x, y, z), WORLD_FIELD(mass), WORLD_FIELD(id), DEVICE_BUFFER(&mirror->words.buffer),
                   WORLD_HERE(dead)));
  const DeviceRead reads[] = {mirror_words_wanted(mirror), {&d->dead, 0, most * (int64_t)sizeof *records, records}};
  TRY(device_read_many(core, world->device, reads, 2));
  *found = mirror->words.here[WORD_DEAD];
  qsort(records, (size_t)*found, sizeof *records, dead_by_index);
  for (int64_t k = 0; k < *found; k++) {
    dead[k] = records[k].index;
    world_note_death(world, records[k].id, records[k].x, records[k].y, records[k].z, records[k].mass);
  }
  return SCREE_OK;
}

/* ---- fields ---- */

/* Fields of one word that are valid there, some at a time; others one by one. */
typedef struct EachField {
  Status (*some)(ScreeWorld *world, const int32_t *fields, int32_t count, void *context);
  Status (*other)(ScreeWorld *world, int32_t field, void *context);
  void *context;
} EachField;

static Status each_field(ScreeWorld *world, const EachField *each) {
  const Particles *p = &world->state.particles;
  int32_t together[WORLD_TOGETHER], some = 0;
  for (int32_t f = 0; f < p->field_count; f++) {
    if (!p->fields[f].mirrored || !world->state.mirror->fields[f].there) continue;
    if (p->fields[f].size != (int32_t)sizeof(int32_t)) TRY(each->other(world, f, each->context));
    else together[some++] = f;
    if (some == WORLD_TOGETHER) TRY(each->some(world, together, some, each->context));
    some %= WORLD_TOGETHER;
  }
  return some > 0 ? each->some(world, together, some, each->context) : SCREE_OK;
}

/* Those that are not there are named, too, and not looked at. */
#define FIELD_THERE(k) DEVICE_BUFFER(&world->state.mirror->fields[fields[(k) < some ? (k) : 0]].buffer)
#define FIELDS_THERE FIELD_THERE(0), FIELD_THERE(1), FIELD_THERE(2), FIELD_THERE(3)

static Status close_some(ScreeWorld *world, const int32_t *fields, int32_t some, void *context) {
  const int32_t gaps = *(const int32_t *)context;
  return WORLD_LAUNCH(world_close_gaps, gaps, DEVICE_VALUE(gaps), DEVICE_VALUE(some), WORLD_HERE(gaps), FIELDS_THERE);
}

static Status close_other(ScreeWorld *world, int32_t field, void *context) {
  const int32_t gaps = *(const int32_t *)context, bytes = world->state.particles.fields[field].size;
  return WORLD_LAUNCH(world_close_gaps_bytes, (int64_t)gaps * bytes, DEVICE_VALUE(gaps), DEVICE_VALUE(bytes),
                      WORLD_HERE(gaps), DEVICE_BUFFER(&world->state.mirror->fields[field].buffer));
}

Status world_remove_there(ScreeWorld *world, const int32_t *dead, int64_t count) {
  WorldDevice *d = world->on_device;
  ParticleGaps at = particles_gaps(&world->state.particles, dead, count);
  int32_t(*gaps)[2] = NULL, found = 0;
  TRY(scratch_take(&world->core, &world->scratch, &gaps, count, "dead"));
  while (particles_next_gap(&at, &gaps[found][0], &gaps[found][1])) found++;
  if (count > 0) world->state.mirror->sorts++;
  d->radii_sent = -1; /* the largest may be gone */
  if (found == 0) return SCREE_OK;
  TRY(device_reserve(&world->core, world->device, &d->gaps, found * (int64_t)sizeof *gaps, 0, "dead"));
  TRY(device_write(&world->core, world->device, &d->gaps, 0, found * (int64_t)sizeof *gaps, gaps));
  return each_field(world, &(EachField){close_some, close_other, &found});
}

/* ---- births ---- */

/* Who is born, from `first` on; their fields of one word go up together. */
typedef struct Bearing {
  int64_t first, count;
  int32_t placed;  /* fields so far */
  int32_t *packed; /* one behind the other; NULL: they are there already */
} Bearing;

static Status pack_some(ScreeWorld *world, const int32_t *fields, int32_t some, void *context) {
  Bearing *bearing = context;
  const Particles *p = &world->state.particles;
  const size_t bytes = sizeof *bearing->packed * (size_t)bearing->count;
  for (int32_t k = 0; k < some; k++)
    memcpy(bearing->packed + bearing->count * bearing->placed++,
           (const int32_t *)*p->fields[fields[k]].data + bearing->first, bytes);
  return SCREE_OK;
}

static Status reserve_field(ScreeWorld *world, int32_t field, const Bearing *bearing) {
  const int64_t size = world->state.particles.fields[field].size;
  return device_reserve(&world->core, world->device, &world->state.mirror->fields[field].buffer,
                        (bearing->first + bearing->count) * size, bearing->first * size, "particles");
}

static Status write_other(ScreeWorld *world, int32_t field, void *context) {
  const Bearing *bearing = context;
  const Field *own = &world->state.particles.fields[field];
  TRY(reserve_field(world, field, bearing));
  return device_write(&world->core, world->device, &world->state.mirror->fields[field].buffer,
                      bearing->first * own->size, bearing->count * own->size,
                      (const char *)*own->data + bearing->first * own->size);
}

static Status place_some(ScreeWorld *world, const int32_t *fields, int32_t some, void *context) {
  Bearing *bearing = context;
  const int32_t count = (int32_t)bearing->count, first = (int32_t)bearing->first, begin = count * bearing->placed;
  for (int32_t k = 0; k < some; k++) TRY(reserve_field(world, fields[k], bearing));
  bearing->placed += some;
  return WORLD_LAUNCH(world_place_born, count, DEVICE_VALUE(count), DEVICE_VALUE(first), DEVICE_VALUE(some),
                      DEVICE_VALUE(begin), WORLD_HERE(born), FIELDS_THERE);
}

static Status placed_already(ScreeWorld *world, int32_t field, void *context) {
  (void)world, (void)field, (void)context;
  return SCREE_OK;
}

Status world_place_born_there(ScreeWorld *world, int64_t first) {
  WorldDevice *d = world->on_device;
  Bearing bearing = {.first = first, .count = world->state.particles.count - first};
  const int64_t most = world->state.particles.field_count * bearing.count;
  TRY(scratch_take(&world->core, &world->scratch, &bearing.packed, most, "born"));
  TRY(each_field(world, &(EachField){pack_some, write_other, &bearing}));
  const int64_t bytes = bearing.placed * bearing.count * (int64_t)sizeof *bearing.packed;
  TRY(device_reserve(&world->core, world->device, &d->born, bytes, 0, "born"));
  TRY(device_write(&world->core, world->device, &d->born, 0, bytes, bearing.packed));
  bearing.placed = 0;
  d->radii_sent = -1; /* there may be larger ones */
  return each_field(world, &(EachField){place_some, placed_already, &bearing});
}

/* ---- throws ---- */

Status world_throw_there(ScreeWorld *world, Vec3 center, double radius, double speed) {
  const int32_t count = (int32_t)world->state.particles.count;
  const GatherShared gather = gather_shared(world, WORD_THROWN, 0);
  TRY(world_to_device(world, SET_X | SET_LOW | SET_V));
  TRY(WORLD_LAUNCH(world_throw, count, DEVICE_VALUE(gather), DEVICE_VALUE(center.x), DEVICE_VALUE(center.y),
                   DEVICE_VALUE(center.z), DEVICE_VALUE(radius), DEVICE_VALUE(speed), WORLD_FIELD3(x, y, z),
                   WORLD_FIELD3(low_x, low_y, low_z), WORLD_FIELD3(vx, vy, vz),
                   DEVICE_BUFFER(&world->state.mirror->words.buffer)));
  mirror_wrote_there(world->state.mirror, &world->state.particles, SET_V);
  return SCREE_OK;
}
