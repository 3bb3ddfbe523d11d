/* Probes: their targets and the columns that they make. */
#include <stdio.h>
#include <string.h>

#include "scene/reader.h"
#include "scene/suggest.h"

static Status claim_columns(Reader *reader, const Node *map, const ScreeProbeDef *probe) {
  const Node *name = node_find(map, "name");
  Place place = name ? node_place(reader->tree, name) : key_place(reader->tree, map);
  char ending[WORD_MAX];
  for (int k = 0; probe_column(probe->kind, k, ending); k++) {
    char column[NAME_LENGTH_MAX + WORD_MAX];
    const char *kept;
    bool fresh;
    snprintf(column, sizeof column, "%s%s", probe->name, ending);
    TRY(arena_text(reader->core, &reader->tree->arena, column, (int64_t)strlen(column), &kept));
    TRY(names_add(reader->core, &reader->tree->arena, &reader->columns, kept, &fresh));
    if (!fresh)
      return fail_here(reader->tree, place, "probe '%s' would make a second column '%s' in probes.csv", probe->name,
                       column);
  }
  bool first;
  TRY(names_add(reader->core, &reader->tree->arena, &reader->probes, probe->name, &first));
  if (!first)
    return fail_here(reader->tree, place, "another probe is named '%s': its name is a key of report.json", probe->name);
  return SCREE_OK;
}

static bool probe_reads(const ScreeProbeDef *probe, const char *key) {
  return word_index(scree_probe_info(probe->kind)->keys, ' ', key) >= 0;
}

static Status check_target(Reader *reader, const Node *map, const ScreeProbeDef *probe) {
  const ScreeSceneDef *scene = reader->scene;
  const Node *target = node_find(map, "target");
  if (!probe_reads(probe, "target")) return SCREE_OK;
  if (!*probe->target)
    return fail_here(reader->tree, target ? node_place(reader->tree, target) : key_place(reader->tree, map),
                     "a probe of kind '%s' needs the key 'target': name of a boundary or body", reader->reader);
  Suggestion near = suggest_begin(probe->target);
  for (int32_t k = 0; k < scene->boundary_count + scene->body_count; k++) {
    const char *name =
        k < scene->boundary_count ? scene->boundaries[k].name : scene->bodies[k - scene->boundary_count].name;
    if (strcmp(name, probe->target) == 0) return SCREE_OK;
    suggest_offer(&near, name);
  }
  if (scene->terrain && strcmp(probe->target, "terrain") == 0) return SCREE_OK;
  if (scene->mechanism) return SCREE_OK; /* its names are known only to whoever reads the model */
  char shown[SHOWN_MAX], text[SUGGEST_TEXT];
  return fail_here(reader->tree, node_place(reader->tree, target), "there is no boundary or body '%s'%s",
                   text_shown(probe->target, shown), suggest_text(&near, text));
}

/* The kind decides which other keys are read, so it is read before them. */
static Status read_kind(Reader *reader, const Node *map) {
  const ScreeParameter *row = section_find(SECTION_probe, "kind");
  const Node *node = node_find(map, row->name);
  if (!node) return SCREE_OK;
  int value = -1;
  TRY(read_value(reader, node, row, &value));
  reader->reader = scree_probe_info(value)->kind;
  return SCREE_OK;
}

static Status read_probe(Reader *reader, const Node *node, void *entry) {
  ScreeProbeDef *probe = entry;
  Mapping mapping = {.what = "a probe", .parts = {{SECTION_probe, probe}}, .part_count = 1, .place = SHAPE_OF_PROBE};
  probe->source = node_source(node);
  probe->box = scree_shape_default(SCREE_SHAPE_NONE);
  TRY(read_kind(reader, node));
  TRY(read_mapping(reader, node, &mapping));
  const char *kind = scree_probe_info(probe->kind)->kind;
  if (!*probe->name) TRY(arena_text(reader->core, reader->arena, kind, (int64_t)strlen(kind), &probe->name));
  else TRY(check_name(reader, node_find(node, "name"), probe->name));
  TRY(read_shape(reader, node, SHAPE_OF_PROBE, true, &probe->box));
  const Node *box = node_find(node, "box");
  char readers[READERS_MAX];
  if (box && !probe_reads(probe, "box"))
    warn(reader, key_place(reader->tree, box), "'box' is not read by probes of kind '%s' (only by %s)", kind,
         probe_kinds_with("box", readers));
  TRY(check_target(reader, node, probe));
  return claim_columns(reader, node, probe);
}

Status read_probes(Reader *reader) {
  ScreeSceneDef *scene = reader->scene;
  const char *method = reader->reader;
  bool fresh;
  TRY(names_add(reader->core, &reader->tree->arena, &reader->columns, "frame", &fresh));
  TRY(names_add(reader->core, &reader->tree->arena, &reader->columns, "time", &fresh));
  Status status =
      read_list(reader, "probes", read_probe, (void **)&scene->probes, sizeof *scene->probes, &scene->probe_count);
  reader->reader = method;
  return status;
}
