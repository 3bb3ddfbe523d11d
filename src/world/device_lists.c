/* Particles are sorted on a device, and who is near which solid is found there; for methods that have lists, who is
 * near whom too. */
#include <math.h>

#include "core/parallel.h"
#include "world/on_device.h"

/* Everybody has left the place where he was known: a square is never less than this. */
#define ALL_LEAVE NAN

/* Whether solids near particles can be found there. */
static bool solids_are_there(const ScreeWorld *world, const MethodNeeds *needs) {
  const Solids *solids = &world->state.solids;
  return !(needs->solids > 0) || !solids_mirror_missing(solids, world_solid_reach(world, needs));
}

/* All of it on the host. */
static Status rebuild_on_host(ScreeWorld *world, const MethodNeeds *needs) {
  TRY(world_to_host(world, SET_PARTICLES));
  world_wrote_on_host(world, SET_PARTICLES);
  TRY(world_rebuild_lists(world, needs));
  TRY(world_to_device(world, SET_PARTICLES));
  return list_device_send(&world->core, world->device, &world->state.contacts.particles.list,
                          &world->state.mirror->pairs);
}

/* Particles are now known where they are about to go; who is near solids there. */
static Status anchor_and_look(ScreeWorld *world, const MethodNeeds *needs, float skin) {
  State *state = &world->state;
  const NearSolids near = world_near_solids(world, needs, skin, true);
  LeaveShared shared = world_leave_shared(world, &near);
  shared.allowed = ALL_LEAVE;
  if (!(needs->solids > 0)) shared.solids = 0;
  TRY(solids_mirror_send(&world->core, world->device, &state->mirror->solids, &state->solids));
  world->on_device->gone_known += state->particles.count; /* nobody has moved on */
  return world_launch_leave(world, &shared);
}

/* When particles have gone up, were born or died. */
static Status survey_radii(ScreeWorld *world) {
  const MirrorField *radius = mirror_field(world->state.mirror, &world->state.particles, "radius");
  if (world->on_device->radii_sent == radius->sent) return SCREE_OK;
  TRY(world_to_host(world, SET_FIELD(radius)));
  world->on_device->radii_sent = radius->sent;
  world_survey_radii(world);
  return SCREE_OK;
}

/* One field, from its buffer into a spare one, which it keeps. */
static Status permute_field(ScreeWorld *world, const Field *field, const DeviceBuffer *order, DeviceBuffer *buffer) {
  WorldDevice *d = world->on_device;
  const bool words = field->size % (int32_t)sizeof(int32_t) == 0;
  const int32_t count = (int32_t)world->state.particles.count,
                each = words ? field->size / (int32_t)sizeof(int32_t) : field->size;
  TRY(device_reserve(&world->core, world->device, &d->spare, buffer->bytes, 0, "particles"));
  if (words)
    TRY(WORLD_LAUNCH(world_permute_words, (int64_t)count * each, DEVICE_VALUE(count), DEVICE_VALUE(each),
                     DEVICE_BUFFER(order), DEVICE_BUFFER(buffer), WORLD_HERE(spare)));
  else
    TRY(WORLD_LAUNCH(world_permute_bytes, (int64_t)count * each, DEVICE_VALUE(count), DEVICE_VALUE(each),
                     DEVICE_BUFFER(order), DEVICE_BUFFER(buffer), WORLD_HERE(spare)));
  device_swap(buffer, &d->spare);
  return SCREE_OK;
}

/* Fields of one word, some together. */
static Status permute_together(ScreeWorld *world, const DeviceBuffer *order, DeviceBuffer *const *fields,
                               int32_t some) {
  WorldDevice *d = world->on_device;
  const int32_t count = (int32_t)world->state.particles.count;
  const DeviceBuffer *from[WORLD_TOGETHER];
  for (int32_t k = 0; k < WORLD_TOGETHER; k++) {
    from[k] = fields[k < some ? k : 0];
    TRY(device_reserve(&world->core, world->device, &d->spares[k], from[k]->bytes, 0, "particles"));
  }
  TRY(WORLD_LAUNCH(world_permute_fields, count, DEVICE_VALUE(count), DEVICE_VALUE(some), DEVICE_BUFFER(order),
                   DEVICE_BUFFER(from[0]), DEVICE_BUFFER(from[1]), DEVICE_BUFFER(from[2]), DEVICE_BUFFER(from[3]),
                   DEVICE_BUFFER(&d->spares[0]), DEVICE_BUFFER(&d->spares[1]), DEVICE_BUFFER(&d->spares[2]),
                   DEVICE_BUFFER(&d->spares[3])));
  for (int32_t k = 0; k < some; k++) device_swap(fields[k], &d->spares[k]);
  return SCREE_OK;
}

static Status permute_there(ScreeWorld *world, const DeviceBuffer *order) {
  const Particles *p = &world->state.particles;
  world->state.mirror->sorts++;
  DeviceBuffer *together[WORLD_TOGETHER];
  int32_t some = 0;
  for (int32_t f = 0; f < p->field_count; f++) {
    DeviceBuffer *buffer = &world->state.mirror->fields[f].buffer;
    if (!p->fields[f].mirrored) continue;
    if (p->fields[f].size != (int32_t)sizeof(int32_t)) TRY(permute_field(world, &p->fields[f], order, buffer));
    else together[some++] = buffer;
    if (some == WORLD_TOGETHER) TRY(permute_together(world, order, together, some));
    some %= WORLD_TOGETHER;
  }
  return some > 0 ? permute_together(world, order, together, some) : SCREE_OK;
}

/* Where the device has all fields of a method with lists, copies on the host are given up: nothing goes over the bus.
 * Otherwise the order comes down. */
static bool all_are_there(const Particles *p, bool lists) {
  bool all = lists;
  for (int32_t f = 0; f < p->field_count; f++) all &= p->fields[f].mirrored;
  return all;
}

/* Fields that the device does not have change places on the host, with those of the others that are valid there. */
static Status permute_here(ScreeWorld *world, const int32_t *order) {
  Particles *p = &world->state.particles;
  bool here[FIELDS_MAX];
  for (int32_t f = 0; f < p->field_count; f++) here[f] = !p->fields[f].mirrored || world->state.mirror->fields[f].here;
  return particles_permute_some(&world->core, p, &world->scratch, order, p->count, here);
}

/* The host knows who is not finite. */
static Status refuse(ScreeWorld *world, const MethodNeeds *needs) {
  TRY(world_to_host(world, SET_PARTICLES));
  world_wrote_on_host(world, SET_PARTICLES);
  return world_rebuild_lists(world, needs);
}

/* Particles in their new order, and the pairs; with their number comes down what the host wants of each particle. */
static Status sort_and_find(ScreeWorld *world, const DeviceBuffer *order, ListsHere wants, float reach) {
  Mirror *mirror = world->state.mirror;
  const Particles *p = &world->state.particles;
  const bool lists = world_needs(world).neighbors == NEIGHBORS_LISTED, all = all_are_there(p, lists);
  int32_t *order_here = NULL;
  DeviceRead reads[2];
  MirrorField *near = mirror_field(mirror, p, "near_solids");
  int count = 0, mark = scratch_mark(&world->scratch);
  TRY(permute_there(world, order));
  if (!all) TRY(scratch_take(&world->core, &world->scratch, &order_here, p->count, "order"));
  if (!all) reads[count++] = (DeviceRead){order, 0, p->count * (int64_t)sizeof *order_here, order_here};
  if (wants == LISTS_SOLIDS_HERE)
    reads[count++] = (DeviceRead){&near->buffer, 0, p->count * world->near_words * (int64_t)sizeof *world->near_solids,
                                  world->near_solids};
  if (lists) TRY(list_maker_find(&world->core, mirror->lists, reach, reads, count, &mirror->pairs));
  else TRY(device_read_many(&world->core, world->device, reads, count));
  if (all) mirror_wrote_there(mirror, p, SET_PARTICLES);
  else TRY(permute_here(world, order_here));
  if (wants == LISTS_SOLIDS_HERE) near->here = true;
  scratch_release(&world->core, &world->scratch, mark);
  return SCREE_OK;
}

static Status list_there(ScreeWorld *world, const MethodNeeds *needs, ListsHere wants, float skin) {
  Mirror *mirror = world->state.mirror;
  const Particles *p = &world->state.particles;
  const ListReach reach = world_list_reach(world, needs, skin);
#define OF(name) &mirror_field(mirror, p, #name)->buffer
  const ListPoints points = {.count = p->count,
                             .x = OF(built_x),
                             .y = OF(built_y),
                             .z = OF(built_z),
                             .id = OF(id),
                             .radius = world->radii_differ ? OF(radius) : NULL,
                             .share = reach.share};
#undef OF
  const DeviceBuffer *order = NULL;
  bool finite = true;
  TRY(list_maker_order(&world->core, mirror->lists, &points, reach.cell, &finite, &order));
  if (!finite) return refuse(world, needs);
  world->outermost = list_maker_outermost(mirror->lists);
  return sort_and_find(world, order, wants, reach.pairs);
}

/* What the host looks for of solids and samples. */
static Status list_solids_here(ScreeWorld *world, const MethodNeeds *needs, float skin) {
  if (world->state.samples.count > 0) TRY(world_to_host(world, SET_BUILT | SET_BIRTH));
  TRY(world_list_samples(world, needs, skin));
  return world_list_known_solids(world, needs);
}

Status world_rebuild_on_device(ScreeWorld *world, const MethodNeeds *needs) {
  Contacts *contacts = &world->state.contacts;
  const MethodDevice *method = world->method->device;
  const ListsHere here = method->lists ? method->lists(world->method_data, &world->state) : LISTS_NOT_HERE;
  const float skin = needs->skin * (float)world->state.radius;
  if (here == LISTS_ALL_HERE || !solids_are_there(world, needs)) return rebuild_on_host(world, needs);
  TRY(world_to_device(world, SET_PARTICLES));
  TRY(survey_radii(world));
  TRY(anchor_and_look(world, needs, skin));
  TRY(list_there(world, needs, here, skin));
  world->moved_on = 0;
  int mark = scratch_mark(&world->scratch);
  if (here == LISTS_SOLIDS_HERE) TRY(list_solids_here(world, needs, skin));
  scratch_release(&world->core, &world->scratch, mark);
  world_lists_are_new(world, needs, skin);
  contacts->elsewhere = needs->neighbors == NEIGHBORS_LISTED;
  return SCREE_OK;
}

Status world_lists_to_host(ScreeWorld *world) {
  Contacts *contacts = &world->state.contacts;
  const MethodNeeds needs = world_needs(world);
  if (!contacts->elsewhere) return SCREE_OK;
  TRY(world_to_host(world, SET_PARTICLES));
  TRY(list_device_fetch(&world->core, world->device, &world->state.mirror->pairs, &contacts->particles.list));
  TRY(world_list_known_solids(world, &needs));
  contacts->elsewhere = false;
  return SCREE_OK;
}

static double deepest_chunk(void *context, int64_t b, int64_t e) {
  const double *deepest = context;
  double largest = 0;
  for (int64_t k = b; k < e; k++) largest = fmax(largest, deepest[k]);
  return largest;
}

Status world_overlap_on_device(ScreeWorld *world, double *overlap) {
  const ListDevice *pairs = &world->state.mirror->pairs;
  const int32_t count = (int32_t)world->state.particles.count;
  const int64_t groups = parallel_chunks(0, count, WORLD_GROUP), bytes = groups * (int64_t)sizeof(double);
  double *deepest = NULL;
  if (world->method->particle != PARTICLE_GRAIN || pairs->count != count) return SCREE_OK;
  TRY(world_to_device(world, SET_X | SET_BIRTH));
  TRY(device_reserve(&world->core, world->device, &world->on_device->deepest, bytes + 1, 0, "overlaps"));
  TRY(WORLD_LAUNCH(world_overlap, count, DEVICE_VALUE(count), WORLD_FIELD3(x, y, z), WORLD_FIELD(radius),
                   DEVICE_BUFFER(&pairs->start), DEVICE_BUFFER(&pairs->index), WORLD_HERE(deepest)));
  int mark = scratch_mark(&world->scratch);
  TRY(scratch_take(&world->core, &world->scratch, &deepest, groups, "overlaps"));
  TRY(device_read(&world->core, world->device, &world->on_device->deepest, 0, bytes, deepest));
  *overlap = parallel_max(&world->core, 0, groups, WORLD_GROUP, 0, deepest_chunk, deepest);
  scratch_release(&world->core, &world->scratch, mark);
  return SCREE_OK;
}
