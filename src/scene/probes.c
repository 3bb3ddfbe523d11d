/* Probes: their targets and the columns that they make. */
#include <stdio.h>
#include <string.h>

#include "scene/reader.h"
#include "scene/suggest.h"

/* Endings of the columns of probes.csv, by kind. */
static const char *const scalar[] = {"", NULL};
static const char *const vector[] = {"_x", "_y", "_z", NULL};
static const char *const pose[] = {"_x",  "_y",  "_z",  "_qw", "_qx", "_qy", "_qz",
                                   "_vx", "_vy", "_vz", "_wx", "_wy", "_wz", NULL};
static const char *const energies[] = {"_kinetic", "_potential", NULL};

static const char *const *column_endings(int kind) {
  switch (kind) {
  case SCREE_PROBE_FORCE_ON: return vector;
  case SCREE_PROBE_POSE_OF: return pose;
  case SCREE_PROBE_ENERGY: return energies;
  default: return scalar;
  }
}

static Status claim_columns(Reader *reader, const Node *map, const ScreeProbeDef *probe) {
  const Node *name = node_find(map, "name");
  Place place = name ? node_place(reader->tree, name) : key_place(reader->tree, map);
  for (const char *const *ending = column_endings(probe->kind); *ending; ending++) {
    char column[NAME_LENGTH_MAX + 16];
    const char *kept;
    bool fresh;
    snprintf(column, sizeof column, "%s%s", probe->name, *ending);
    TRY(arena_text(reader->core, &reader->tree->arena, column, (int64_t)strlen(column), &kept));
    TRY(names_add(reader->core, &reader->tree->arena, &reader->columns, kept, &fresh));
    if (!fresh)
      return fail_here(reader->tree, place, "probe '%s' would make a second column '%s' in probes.csv", probe->name,
                       column);
  }
  return SCREE_OK;
}

static Status check_target(Reader *reader, const Node *map, const ScreeProbeDef *probe) {
  const ScreeSceneDef *scene = reader->scene;
  const Node *target = node_find(map, "target");
  if (probe->kind != SCREE_PROBE_FORCE_ON && probe->kind != SCREE_PROBE_POSE_OF) return SCREE_OK;
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
static Status read_kind(Reader *reader, const Node *map, char kind[WORD_MAX]) {
  SectionRows rows = section_rows(SECTION_probe);
  const Node *node = node_find(map, "kind");
  for (int k = 0; node && k < rows.count; k++) {
    if (strcmp(rows.rows[k].name, "kind") != 0) continue;
    int value = -1;
    TRY(read_value(reader, node, &rows.rows[k], &value));
    if (word_at(rows.rows[k].unit, '|', value, kind)) reader->reader = kind;
  }
  return SCREE_OK;
}

static Status read_probe(Reader *reader, const Node *node, void *entry) {
  ScreeProbeDef *probe = entry;
  char kind[WORD_MAX] = "";
  Mapping mapping = {
      .what = "a probe", .parts = {{SECTION_probe, probe}}, .part_count = 1, .words = shape_words(SHAPE_OF_PROBE)};
  probe->source = node_source(node);
  probe->box = scree_shape_default(SCREE_SHAPE_NONE);
  TRY(read_kind(reader, node, kind));
  TRY(read_mapping(reader, node, &mapping));
  if (!*probe->name) TRY(arena_text(reader->core, reader->arena, kind, (int64_t)strlen(kind), &probe->name));
  else TRY(check_name(reader, node_find(node, "name"), probe->name));
  TRY(read_shape(reader, node, SHAPE_OF_PROBE, true, &probe->box));
  const Node *box = node_find(node, "box");
  if (box && probe->kind != SCREE_PROBE_PACKING && probe->kind != SCREE_PROBE_MASS_IN)
    warn(reader, key_place(reader->tree, box), "'box' is not read by probes of kind '%s' (only by packing mass_in)",
         kind);
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
