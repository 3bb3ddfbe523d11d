#include "scene/reference.h"

#include <string.h>

#include "core/number.h"
#include "core/text.h"
#include "scene/reference_page.h"
#include "scene/scene.h"
#include "scene/table.h"

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
  char low[NUMBER_TEXT], high[NUMBER_TEXT];
  put(core, text, "| `%s` | ", row->name);
  if (row->kind == SCREE_KIND_CHOICE) put_choices(core, text, row->unit, "`");
  else put(core, text, "%s", kind_name(row->kind));
  put(core, text, " | %s | %s%s%s | ", row->kind == SCREE_KIND_CHOICE ? "" : row->unit,
      parameter_is(row, "required") ? "" : "`", default_shown(row), parameter_is(row, "required") ? "" : "`");
  if (has_range(row))
    put(core, text, "%s to %s", number_print_short(row->low, low), number_print_short(row->high, high));
  put(core, text, " | %s | %s |\n", row->readers, row->help);
}

static void put_plain_row(Core *core, Text *text, const ScreeParameter *row) {
  put(core, text, "  %-20s %-14s %-22s ", row->name, kind_name(row->kind), default_shown(row));
  if (row->kind == SCREE_KIND_CHOICE) put_choices(core, text, row->unit, "");
  else put(core, text, "%-8s", row->unit);
  char low[NUMBER_TEXT], high[NUMBER_TEXT];
  if (has_range(row))
    put(core, text, " %7s to %-6s", number_print_short(row->low, low), number_print_short(row->high, high));
  put(core, text, "  %s", row->help);
  if (*row->readers) put(core, text, " (%s)", row->readers);
  put(core, text, "\n");
}

static void put_section(Core *core, Text *text, SectionRows rows, bool markdown) {
  if (markdown)
    put(core, text,
        "\n### %s\n%s\n\n| key | type | unit | default | range | read by | what it is "
        "|\n|---|---|---|---|---|---|---|\n",
        rows.name, rows.where);
  else put(core, text, "%s: %s\n", rows.name, rows.where);
  for (int k = 0; k < rows.count; k++) {
    if (markdown) put_markdown_row(core, text, &rows.rows[k]);
    else put_plain_row(core, text, &rows.rows[k]);
  }
  if (!markdown) put(core, text, "\n");
}

ScreeStatus scene_reference(bool markdown, char **result, ScreeError *error) {
  Core core;
  *result = NULL;
  Status status = scene_core_create(&core);
  if (status == SCREE_OK) {
    Text text = {0};
    if (markdown) text_add_bytes(&core, &text, page_head, (int64_t)strlen(page_head));
    for (int section = 0; section < SECTION_COUNT; section++)
      put_section(&core, &text, section_rows((Section)section), markdown);
    status = text_finish(&core, &text, result);
  }
  status = core_report(&core, status, error);
  core_destroy(&core);
  return status;
}
