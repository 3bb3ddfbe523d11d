#include "scene/reference.h"

#include <string.h>

#include "core/number.h"
#include "core/text.h"
#include "scene/reference_page.h"
#include "scene/scene.h"
#include "parameters/table.h"

#define put(core, text, ...) text_add((core), (text), __VA_ARGS__)

static const char *kind_name(ScreeParameterKind kind) {
  switch (kind) {
  case SCREE_KIND_REAL: return "number";
  case SCREE_KIND_INT: return "whole number";
  case SCREE_KIND_BOOL: return "true or false";
  case SCREE_KIND_VEC2: return "2 numbers";
  case SCREE_KIND_VEC3: return "3 numbers";
  case SCREE_KIND_QUAT: return "4 numbers";
  case SCREE_KIND_TEXT: return "text";
  case SCREE_KIND_NAME: return "name";
  case SCREE_KIND_FILE: return "file";
  case SCREE_KIND_CHOICE: return "word";
  }
  return "";
}

static bool has_range(const ScreeParameter *row) {
  return row->kind == SCREE_KIND_INT || parameter_components(row->kind) > 0;
}

static const char *default_shown(const ScreeParameter *row) { return *row->default_text ? row->default_text : "\"\""; }

/* `a|b` would end a cell. */
static void put_choices(Core *core, Text *text, const char *words, const char *quote) {
  char word[WORD_MAX];
  for (int k = 0; word_at(words, '|', k, word); k++) put(core, text, "%s%s%s%s", k ? " " : "", quote, word, quote);
}

static void put_markdown_row(Core *core, Text *text, const ScreeParameter *row) {
  char low[NUMBER_TEXT], high[NUMBER_TEXT], readers[READERS_MAX];
  put(core, text, "| `%s` | ", row->name);
  if (row->kind == SCREE_KIND_CHOICE) put_choices(core, text, row->unit, "`");
  else put(core, text, "%s", kind_name(row->kind));
  put(core, text, " | %s | %s%s%s | ", row->kind == SCREE_KIND_CHOICE ? "" : row->unit,
      parameter_is(row, "required") ? "" : "`", default_shown(row), parameter_is(row, "required") ? "" : "`");
  if (has_range(row))
    put(core, text, "%s to %s", number_print_short(row->low, low), number_print_short(row->high, high));
  put(core, text, " | %s | %s |\n", scree_parameter_readers(row, readers, sizeof readers), row->help);
}

static void put_plain_row(Core *core, Text *text, const ScreeParameter *row) {
  put(core, text, "  %-20s %-14s %-22s ", row->name, kind_name(row->kind), default_shown(row));
  if (row->kind == SCREE_KIND_CHOICE) put_choices(core, text, row->unit, "");
  else put(core, text, "%-8s", row->unit);
  char low[NUMBER_TEXT], high[NUMBER_TEXT], readers[READERS_MAX];
  if (has_range(row))
    put(core, text, " %7s to %-6s", number_print_short(row->low, low), number_print_short(row->high, high));
  put(core, text, "  %s", row->help);
  if (*scree_parameter_readers(row, readers, sizeof readers)) put(core, text, " (%s)", readers);
  put(core, text, "\n");
}

static void put_section(Core *core, Text *text, Section section, bool markdown) {
  SectionInfo info = section_info(section);
  if (markdown)
    put(core, text,
        "\n### %s\n%s\n\n| key | type | unit | default | range | read by | what it is "
        "|\n|---|---|---|---|---|---|---|\n",
        info.name, info.where);
  else put(core, text, "%s: %s\n", info.name, info.where);
  for (int k = 0; k < info.count; k++) {
    if (markdown) put_markdown_row(core, text, section_row(section, k));
    else put_plain_row(core, text, section_row(section, k));
  }
  if (!markdown) put(core, text, "\n");
}

static void put_shapes(Core *core, Text *text) {
  put(core, text, "A shape is one key of its entry:");
  for (int k = 0; k < SHAPE_WORD_MESH; k++) put(core, text, " `%s`,", shape_word(k));
  put(core, text, " each with a mapping,\nor `mesh` with the name of a file.\n\n");
  put(core, text, "| where | shapes | placed by |\n|---|---|---|\n");
  for (size_t p = 0; p < sizeof page_places / sizeof *page_places; p++) {
    put(core, text, "| %s |", page_places[p].where);
    for (int k = 0; k < SHAPE_WORDS; k++)
      if (shape_stands(page_places[p].place, k)) put(core, text, " %s", shape_word(k));
    put(core, text, " | %s |\n", page_places[p].placed_by);
  }
}

static void put_probes(Core *core, Text *text) {
  put(core, text,
      "## Probes\nWhat is measured once a frame: a row of probes.csv, last and mean value in "
      "report.json.\n\n| kind | unit | columns | keys | what it is |\n|---|---|---|---|---|\n");
  for (int kind = 0; kind < SCREE_PROBE_KINDS; kind++) {
    const ScreeProbeInfo *probe = scree_probe_info(kind);
    put(core, text, "| `%s` | %s | `<name>%s` | %s | %s |\n", probe->kind, probe->unit, probe->columns, probe->keys,
        probe->help);
  }
}

ScreeStatus scene_reference(bool markdown, char **result, ScreeError *error) {
  Core core;
  *result = NULL;
  Status status = scene_core_create(&core);
  if (status == SCREE_OK) {
    Text text = {0};
    if (markdown) {
      put(&core, &text, "%s", page_head);
      put_shapes(&core, &text);
      put(&core, &text, "%s", page_rest);
      put_probes(&core, &text);
      put(&core, &text, "%s", page_keys);
    }
    for (int section = 0; section < SECTION_COUNT; section++) put_section(&core, &text, (Section)section, markdown);
    status = text_finish(&core, &text, result);
  }
  status = core_report(&core, status, error);
  core_destroy(&core);
  return status;
}
