/* Probes: what is measured, once a frame. Each kind is a file of its own. */
#include "world/probes/probes.h"

#include <string.h>

#define PROBE_ENTRY(id, ...) &PROBE_##id,
static const ProbeKind *const KINDS[] = {SCREE_PROBES(PROBE_ENTRY)};

const ProbeKind *probe_kind(const Probe *probe) { return KINDS[probe->definition->kind]; }

static Status create_probe(ScreeWorld *world, Probe *probe, const ScreeProbeDef *def) {
  const ScreeProbeInfo *info = scree_probe_info(def->kind);
  if (!info) return world_fail_at(world, SCREE_BAD_INPUT, def->source, "probe '%s' is of no known kind", def->name);
  probe->definition = def;
  probe->state.name = def->name;
  probe->state.unit = info->unit;
  int32_t *count = &probe->state.value_count;
  for (; *count < SCREE_PROBE_VALUES_MAX && probe_column(def->kind, *count, probe->endings[*count]); ++*count)
    probe->state.suffixes[*count] = probe->endings[*count];
  probe->solid = -1;
  if (word_index(info->keys, ' ', "target") >= 0) {
    probe->solid = bodies_find(world->bodies, &world->state, def->target);
    if (probe->solid < 0)
      return world_fail_at(world, SCREE_BAD_INPUT, def->source, "probe '%s': nothing is called '%s'", def->name,
                           def->target);
  }
  const ProbeKind *kind = probe_kind(probe);
  if (kind->size) TRY(memory_new_(&world->core, &probe->data, 1, kind->size, "probes"));
  return kind->create ? kind->create(world, probe) : SCREE_OK;
}

Status world_probes_create(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  TRY(memory_new(&world->core, &world->probes, scene->probe_count, "probes"));
  for (int32_t k = 0; k < scene->probe_count; k++) TRY(create_probe(world, &world->probes[k], &scene->probes[k]));
  return SCREE_OK;
}

void world_probes_destroy(ScreeWorld *world) {
  for (int32_t k = 0; world->probes && k < world->definition.scene.probe_count; k++)
    memory_drop(&world->core, &world->probes[k].data);
  memory_drop(&world->core, &world->probes);
}

bool world_probes_look(const ScreeWorld *world) {
  for (int32_t k = 0; k < world->definition.scene.probe_count; k++)
    if (probe_kind(&world->probes[k])->looks) return true;
  return false;
}

Status world_probes_step_begin(ScreeWorld *world, DeviceRead *read) { return probes_totals_begin(world, true, read); }

void world_probes_step_end(ScreeWorld *world) {
  probes_totals_end(world, true);
  for (int32_t k = 0; k < world->definition.scene.probe_count; k++) {
    const ProbeKind *kind = probe_kind(&world->probes[k]);
    if (kind->step) kind->step(world, &world->probes[k]);
  }
}

Status world_probes_frame(ScreeWorld *world, double frame_seconds) {
  DeviceRead read;
  TRY(probes_totals_begin(world, false, &read));
  if (read.bytes > 0) TRY(device_read_many(&world->core, world->device, &read, 1));
  probes_totals_end(world, false);
  for (int32_t k = 0; k < world->definition.scene.probe_count; k++)
    TRY(probe_kind(&world->probes[k])->frame(world, &world->probes[k], frame_seconds));
  return SCREE_OK;
}

Status world_probes_archive(ScreeWorld *world, Archive *archive) {
  TRY(archive_section(&world->core, archive, "probes"));
  for (int32_t k = 0; k < world->definition.scene.probe_count; k++) {
    Probe *probe = &world->probes[k];
    if (probe_kind(probe)->archive) TRY(probe_kind(probe)->archive(world, probe, archive));
    TRY(archive_value(&world->core, archive, &probe->state.values));
  }
  return SCREE_OK;
}

ScreeProbeState world_probe_state(const ScreeWorld *world, int32_t index) { return world->probes[index].state; }

double probe_sum(ScreeWorld *world, ParallelSumBody body, void *context) {
  return parallel_sum(&world->core, 0, world->state.particles.count, PROBE_CHUNK, body, context);
}

ProbeBox probe_box(const ScreeWorld *world, const Probe *probe) {
  const ScreeShapeDef *shape = &probe->definition->box;
  if (shape->kind != SCREE_SHAPE_BOX)
    return (ProbeBox){&world->state, vec3(-INFINITY, -INFINITY, -INFINITY), vec3(INFINITY, INFINITY, INFINITY)};
  return (ProbeBox){&world->state, shape->box.min, shape->box.max};
}

static double mass_chunk(void *context, int64_t b, int64_t e) {
  const ProbeBox *box = context;
  double sum = 0;
  for (int64_t i = b; i < e; i++)
    if (probe_box_holds(box, state_position(box->state, i))) sum += (double)box->state->particles.mass[i];
  return sum;
}

double probe_mass(ScreeWorld *world, const ProbeBox *box) { return probe_sum(world, mass_chunk, (void *)box); }
