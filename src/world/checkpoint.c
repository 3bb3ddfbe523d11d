/* Checkpoints: a header that identifies version and scene, and one archive of everything that changes. */
#include <string.h>

#include "core/files.h"
#include "core/hash.h"
#include "world/world.h"

#define CHECKPOINT_MAGIC "SCREECKP"
enum { CHECKPOINT_FORMAT = 6, CHECKPOINT_VERSION_MAX = 24 };
#define SKIN_MOST 100.0 /* of neighbour lists, in nominal radii: no method's is a tenth of it */

typedef struct CheckpointHeader {
  char magic[8];
  uint32_t format;
  uint32_t header_size;
  char version[CHECKPOINT_VERSION_MAX];
  uint64_t scene;
  int64_t payload_size;
  uint64_t payload_hash;
} CheckpointHeader;

Status world_archive(ScreeWorld *world, Archive *archive) {
  Core *core = &world->core;
  TRY(world_contents_archive(world, archive));
  TRY(state_archive(core, archive, &world->state));
  TRY(archive_section(core, archive, "tally"));
  TRY(archive_value(core, archive, &world->tally));
  TRY(archive_bools(core, archive, &world->neighbors_stale, 1));
  TRY(archive_value(core, archive, &world->moved_on));
  TRY(archive_value(core, archive, &world->state.contacts.skin));
  TRY(archive_array(core, archive, world->emitters, world->definition.scene.emitter_count));
  TRY(archive_bools(core, archive, world->events_done, world->definition.scene.event_count));
  TRY(counters_archive(core, archive, &world->state));
  TRY(world_probes_archive(world, archive));
  TRY(bodies_archive(core, archive, world->bodies, &world->state));
  TRY(archive_section(core, archive, "method"));
  if (world->method->archive) TRY(world->method->archive(core, archive, world->method_data));
  if (world->upsample) TRY(upsample_archive(core, archive, world->upsample));
  return archive_section(core, archive, "end");
}

/* Room for the particles, which are most of it, and an eighth more: grown piece by piece it would be copied as often as
 * it is written. */
Status world_archive_begin(ScreeWorld *world, Archive *archive) {
  const Particles *p = &world->state.particles;
  int64_t bytes = 0;
  archive_save(archive);
  if (world->frame_open)
    return fail(&world->core, SCREE_BAD_ARGUMENT, "a checkpoint is taken between frames: call scree_world_frame first");
  TRY(world_method_to_host(world));
  for (int32_t f = 0; f < p->field_count; f++) bytes += p->count * p->fields[f].size;
  return memory_grow(&world->core, &archive->data, bytes + bytes / 8 + 1, "checkpoint");
}

/* What an emitter owes is cut at the end of every step (births.c). */
static Status check_emitters(ScreeWorld *world, const Archive *archive) {
  const ScreeSceneDef *scene = &world->definition.scene;
  for (int32_t k = 0; k < scene->emitter_count; k++) {
    const ScreeEmitterDef *def = &scene->emitters[k];
    const Emitter *emitter = &world->emitters[k];
    double most = 4 * world_emitted_mass(world, def) + def->rate / scene->frame_rate;
    if (!(emitter->debt >= -most && emitter->debt <= most * (1 + 1e-9)) || emitter->poured >> 48)
      return archive_refuse(&world->core, archive, "emitter %d owes %g kg", k + 1, emitter->debt);
  }
  return SCREE_OK;
}

static Status check_tally(ScreeWorld *world, const Archive *archive) {
  const Tally *tally = &world->tally;
  float skin = world->state.contacts.skin;
  const double numbers[] = {tally->mass_initial, tally->mass_emitted, tally->mass_removed, tally->max_speed,
                            tally->speed}; /* max_overlap is NaN where overlap has no meaning */
  bool good = doubles_finite(numbers, 5) && tally->speed >= 0 && world->moved_on >= 0;
  good = good && world->state.time == (double)world->state.frame / world->definition.scene.frame_rate;
  good = good && skin >= 0 && (double)skin <= SKIN_MOST * world->state.radius;
  return good ? SCREE_OK : archive_refuse(&world->core, archive, "its sums cannot be");
}

/* All of it was read: now what any part says about another can be looked at. */
static Status check_loaded(ScreeWorld *world, const Archive *archive) {
  Core *core = &world->core;
  TRY(state_check(core, archive, &world->state));
  TRY(check_tally(world, archive));
  TRY(check_emitters(world, archive));
  TRY(world_near_check(world, archive));
  if (world->method->check) TRY(world->method->check(core, archive, &world->state, world->method_data));
  return world->upsample ? upsample_check(core, archive, world->upsample, &world->state) : SCREE_OK;
}

Status world_archive_load(ScreeWorld *world, const char *name, const void *data, int64_t size) {
  Archive archive;
  archive_load(&archive, name, data, size);
  world->half_loaded = true;
  Status status = world_archive(world, &archive);
  if (status == SCREE_OK) status = check_loaded(world, &archive);
  if (status == SCREE_OK) status = world_terrain_mesh(world);
  if (status == SCREE_OK && archive.at != archive.size)
    status = archive_bad(&world->core, &archive, "more than was expected");
  const Status told = world_loaded_on_host(world);
  if (status == SCREE_OK) status = told;
  world->half_loaded = status != SCREE_OK;
  world->frame_open = world->lists_known = false;
  world->solids_moved = world->surfaces_moved = INFINITY; /* since when the archive does not say */
  return status;
}

static Status save(ScreeWorld *world, const char *path) {
  Core *core = &world->core;
  Archive archive;
  CheckpointHeader header = {.magic = CHECKPOINT_MAGIC, .format = CHECKPOINT_FORMAT, .header_size = sizeof header};
  strncpy(header.version, scree_version(), sizeof header.version - 1);
  Status status = world_archive_begin(world, &archive);
  if (status == SCREE_OK) status = definition_hash(core, &world->definition.scene, &header.scene);
  if (status == SCREE_OK) status = archive_value(core, &archive, &header);
  if (status == SCREE_OK) status = world_archive(world, &archive);
  if (status == SCREE_OK) {
    header.payload_size = archive.size - (int64_t)sizeof header;
    header.payload_hash = hash_bytes(archive.data + sizeof header, (size_t)header.payload_size, 0);
    memcpy(archive.data, &header, sizeof header);
    status = files_write(core, path, archive.data, archive.size);
  }
  archive_destroy(core, &archive);
  return status;
}

static Status check_header(ScreeWorld *world, const char *path, const char *data, int64_t size) {
  Core *core = &world->core;
  const ScreeSource nowhere = {0, 0};
  CheckpointHeader header = {0};
  if (size >= (int64_t)sizeof header) memcpy(&header, data, sizeof header);
  if (memcmp(header.magic, CHECKPOINT_MAGIC, sizeof header.magic) != 0)
    return fail_at(core, SCREE_BAD_INPUT, path, nowhere, "is not a checkpoint of scree");
  header.version[CHECKPOINT_VERSION_MAX - 1] = 0;
  if (header.format != CHECKPOINT_FORMAT || header.header_size != sizeof header ||
      strcmp(header.version, scree_version()) != 0)
    return fail_at(core, SCREE_BAD_INPUT, path, nowhere, "was written by scree %s (format %u), this is %s (format %d)",
                   header.version, header.format, scree_version(), CHECKPOINT_FORMAT);
  if (header.payload_size != size - (int64_t)sizeof header)
    return fail_at(core, SCREE_BAD_INPUT, path, nowhere, "is truncated: %lld bytes of %lld", (long long)size,
                   (long long)(header.payload_size + (int64_t)sizeof header));
  if (hash_bytes(data + sizeof header, (size_t)header.payload_size, 0) != header.payload_hash)
    return fail_at(core, SCREE_BAD_INPUT, path, nowhere, "is damaged: its check sum does not fit");
  uint64_t scene = 0;
  TRY(definition_hash(core, &world->definition.scene, &scene));
  if (scene != header.scene)
    return fail_at(core, SCREE_BAD_INPUT, path, nowhere, "belongs to another scene (or other settings of this one)");
  return SCREE_OK;
}

static Status load(ScreeWorld *world, const char *path) {
  Core *core = &world->core;
  char *data = NULL;
  int64_t size = 0;
  TRY(files_read(core, path, INT64_MAX / 4, &data, &size));
  Status status = check_header(world, path, data, size);
  if (status == SCREE_OK)
    status = world_archive_load(world, path, data + sizeof(CheckpointHeader), size - (int64_t)sizeof(CheckpointHeader));
  memory_drop(core, &data);
  return status;
}

ScreeStatus scree_world_save(const ScreeWorld *world, const char *path, ScreeError *error) {
  /* Saving changes nothing but the error and the memory ledger of the world's core. */
  ScreeWorld *writable = (ScreeWorld *)world;
  Status status = world_needs_grains(writable);
  return core_report(&writable->core, status == SCREE_OK ? save(writable, path) : status, error);
}

ScreeStatus scree_world_load(ScreeWorld *world, const char *path, ScreeError *error) {
  Status status = world_can_load(world);
  return core_report(&world->core, status == SCREE_OK ? load(world, path) : status, error);
}
