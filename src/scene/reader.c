#include "scene/reader.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "core/paths.h"
#include "scene/suggest.h"

struct Warning {
  Warning *next;
  char line[];
};

/* Warnings wait until the scene has been understood: a scene that is refused says its one line and nothing else. */
void warn(Reader *reader, Place place, const char *format, ...) {
  if (!reader->options || !reader->options->warning || reader->warnings > WARNINGS_MAX) return;
  char line[SCREE_MESSAGE_MAX + SCREE_FILE_MAX];
  int used = 0;
  if (++reader->warnings > WARNINGS_MAX) place = (Place){reader->tree->name, {0, 0}};
  if (place.at.line > 0)
    used = snprintf(line, sizeof line, "%.400s:%d:%d: warning: ", place.file, place.at.line, place.at.column);
  else used = snprintf(line, sizeof line, "%.400s: warning: ", place.file);
  va_list list;
  va_start(list, format);
  if (reader->warnings <= WARNINGS_MAX) vsnprintf(line + used, sizeof line - (size_t)used, format, list);
  else snprintf(line + used, sizeof line - (size_t)used, "more than %d warnings, the rest is not shown", WARNINGS_MAX);
  va_end(list);
  char *block;
  size_t length = strlen(line);
  if (arena_new(reader->core, &reader->tree->arena, &block, (int64_t)(sizeof(Warning) + length + 1)) != SCREE_OK)
    return;
  Warning *warning = (Warning *)(void *)block;
  memcpy(warning->line, line, length);
  if (reader->last_warning) reader->last_warning->next = warning;
  else reader->first_warning = warning;
  reader->last_warning = warning;
}

void say_warnings(Reader *reader) {
  for (const Warning *warning = reader->first_warning; warning; warning = warning->next)
    reader->options->warning(reader->options->warning_context, warning->line);
}

ScreeSource node_source(const Node *node) { return node->key ? node->key_at : node->at; }

Status expect_kind(Reader *reader, const Node *node, NodeKind kind, const char *expected) {
  char shown[SHOWN_MAX], key[SHOWN_MAX];
  if (node->kind == kind) return SCREE_OK;
  Place place = node_place(reader->tree, node);
  if (!node->key) return fail_here(reader->tree, place, "expected %s, found %s", expected, node_shown(node, shown));
  return fail_here(reader->tree, place, "'%s': expected %s, found %s", text_shown(node->key, key), expected,
                   node_shown(node, shown));
}

/* ---- values ---- */

static Status fail_type(Reader *reader, const Node *node, const ScreeParameter *row, const char *expected) {
  char shown[SHOWN_MAX];
  return fail_here(reader->tree, node_place(reader->tree, node), "'%s': expected %s, found %s", row->name, expected,
                   node_shown(node, shown));
}

static const char *unit_after(const ScreeParameter *row, char text[WORD_MAX]) {
  text[0] = 0;
  if (*row->unit) snprintf(text, WORD_MAX, " %s", row->unit);
  return text;
}

static Status check_range(Reader *reader, const Node *node, const ScreeParameter *row, double value) {
  char low[NUMBER_TEXT], high[NUMBER_TEXT], unit[WORD_MAX], shown[SHOWN_MAX];
  ParameterRange range = parameter_range(row, value);
  if (range == RANGE_ILLEGAL) {
    if (row->high >= SCREE_BIG)
      return fail_here(reader->tree, node_place(reader->tree, node), "'%s' must be at least %s%s, found %s", row->name,
                       number_print_short(row->low, low), unit_after(row, unit), node_shown(node, shown));
    return fail_here(reader->tree, node_place(reader->tree, node), "'%s' must be between %s and %s%s, found %s",
                     row->name, number_print_short(row->low, low), number_print_short(row->high, high),
                     unit_after(row, unit), node_shown(node, shown));
  }
  if (range == RANGE_ODD)
    warn(reader, node_place(reader->tree, node), "'%s' is %s%s: usual values are %s to %s", row->name,
         text_shown(node->text, shown), unit_after(row, unit), number_print_short(row->usual_low, low),
         number_print_short(row->usual_high, high));
  return SCREE_OK;
}

static Status read_number(Reader *reader, const Node *node, const ScreeParameter *row, double *value) {
  char shown[SHOWN_MAX];
  if (node->kind != NODE_SCALAR || node->quoted) return fail_type(reader, node, row, "a number");
  switch (number_parse(node->text, value)) {
  case NUMBER_GOOD: return check_range(reader, node, row, *value);
  case NUMBER_INFINITE:
    return fail_here(reader->tree, node_place(reader->tree, node), "'%s' must be a finite number, found %s", row->name,
                     node_shown(node, shown));
  case NUMBER_NONE: break;
  }
  return fail_type(reader, node, row, parameter_is(row, "auto") ? "a number or auto" : "a number");
}

static Status read_integer(Reader *reader, const Node *node, const ScreeParameter *row, int64_t *value) {
  const char *expected = parameter_is(row, "auto") ? "a whole number or auto" : "a whole number";
  if (node->kind != NODE_SCALAR || node->quoted) return fail_type(reader, node, row, expected);
  switch (number_parse_integer(node->text, value)) {
  case NUMBER_GOOD: return check_range(reader, node, row, (double)*value);
  case NUMBER_INFINITE: return check_range(reader, node, row, node->text[0] == '-' ? -INFINITY : INFINITY);
  case NUMBER_NONE: break;
  }
  return fail_type(reader, node, row, expected);
}

static Status read_vector(Reader *reader, const Node *node, const ScreeParameter *row, double *values) {
  int count = parameter_components(row->kind);
  char expected[WORD_MAX];
  snprintf(expected, sizeof expected, "a list of %d numbers", count);
  if (node->kind != NODE_LIST || node->count != count) return fail_type(reader, node, row, expected);
  int k = 0;
  for (const Node *child = node->first; child; child = child->next, k++)
    TRY(read_number(reader, child, row, &values[k]));
  return SCREE_OK;
}

static Status read_quaternion(Reader *reader, const Node *node, const ScreeParameter *row, ScreeQuat *value) {
  double q[4] = {0};
  TRY(read_vector(reader, node, row, q));
  double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(square > 1e-12))
    return fail_here(reader->tree, node_place(reader->tree, node), "'%s' must not be the zero quaternion", row->name);
  /* A quaternion that was normalised before stays as it is, to the bit. */
  double scale = fabs(square - 1) < 4e-15 ? 1 : 1 / sqrt(square);
  for (int k = 0; k < 4; k++) q[k] = fmax(-1, fmin(1, q[k] * scale)); /* rounding must not leave the legal range */
  *value = (ScreeQuat){q[0], q[1], q[2], q[3]};
  return SCREE_OK;
}

static Status read_truth(Reader *reader, const Node *node, const ScreeParameter *row, bool *value) {
  if (node->kind == NODE_SCALAR && !node->quoted) {
    const char *text = node->text;
    *value = strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "TRUE") == 0;
    if (*value || strcmp(text, "false") == 0 || strcmp(text, "False") == 0 || strcmp(text, "FALSE") == 0)
      return SCREE_OK;
  }
  return fail_type(reader, node, row, "true or false");
}

static Status read_choice(Reader *reader, const Node *node, const ScreeParameter *row, int *value) {
  char words[SCREE_MESSAGE_MAX / 2], known[WORD_MAX], text[SUGGEST_TEXT], shown[SHOWN_MAX];
  size_t used = 0;
  Suggestion near = suggest_begin(node->kind == NODE_SCALAR ? node->text : "");
  for (int k = 0; word_at(row->unit, '|', k, known); k++) {
    if (node->kind == NODE_SCALAR && strcmp(node->text, known) == 0) {
      *value = k;
      return SCREE_OK;
    }
    /* The words live in the table; the suggestion needs a string of its own. */
    Suggestion one = suggest_begin(near.word);
    suggest_offer(&one, known);
    if (one.best && one.distance < near.distance) {
      near.distance = one.distance;
      suggest_text(&one, text);
    }
    int more = snprintf(words + used, sizeof words - used, "%s%s", k ? ", " : "", known);
    if (more > 0 && used + (size_t)more < sizeof words) used += (size_t)more;
  }
  return fail_here(reader->tree, node_place(reader->tree, node), "'%s': expected one of %s, found %s%s", row->name,
                   words, node_shown(node, shown), near.distance < INT_MAX ? text : "");
}

static Status read_string(Reader *reader, const Node *node, const ScreeParameter *row, const char **value) {
  if (node->kind != NODE_SCALAR)
    return fail_type(reader, node, row, row->kind == SCREE_KIND_FILE ? "the name of a file" : "text");
  size_t length = strlen(node->text);
  size_t most = row->kind == SCREE_KIND_TEXT ? TEXT_LENGTH_MAX : row->kind == SCREE_KIND_FILE ? 255 : NAME_LENGTH_MAX;
  if (length > most)
    return fail_here(reader->tree, node_place(reader->tree, node), "'%s' has %zu characters, at most %zu are read",
                     row->name, length, most);
  if (row->kind == SCREE_KIND_FILE && length > 0) {
    char path[PATH_MAX];
    Place place = node_place(reader->tree, node);
    if (!reader->scene->folder)
      return fail_here(reader->tree, place, "'%s': a scene that is not a file cannot name files", row->name);
    TRY(paths_resolve(reader->core, reader->scene->folder, NULL, node->text, (PathsOrigin){place.file, place.at}, path,
                      sizeof path));
  }
  return arena_text(reader->core, reader->arena, node->text, (int64_t)length, value);
}

Status read_value(Reader *reader, const Node *node, const ScreeParameter *row, void *member) {
  bool is_auto = node->kind == NODE_SCALAR && !node->quoted && strcmp(node->text, "auto") == 0;
  if (is_auto && parameter_is(row, "auto")) return SCREE_OK; /* which the default has made it already */
  switch (row->kind) {
  case SCREE_KIND_REAL: return read_number(reader, node, row, member);
  case SCREE_KIND_INT: return read_integer(reader, node, row, member);
  case SCREE_KIND_BOOL: return read_truth(reader, node, row, member);
  case SCREE_KIND_VEC2:
  case SCREE_KIND_VEC3: return read_vector(reader, node, row, member);
  case SCREE_KIND_QUAT: return read_quaternion(reader, node, row, member);
  case SCREE_KIND_TEXT:
  case SCREE_KIND_NAME:
  case SCREE_KIND_FILE: return read_string(reader, node, row, member);
  case SCREE_KIND_CHOICE: return read_choice(reader, node, row, member);
  }
  return SCREE_OK;
}

Status check_name(Reader *reader, const Node *node, const char *name) {
  char shown[SHOWN_MAX];
  Place place = node->key && node->key == name ? key_place(reader->tree, node) : node_place(reader->tree, node);
  size_t length = strlen(name);
  bool good = length > 0 && length <= NAME_LENGTH_MAX;
  for (const char *c = name; good && *c; c++) good = (isalnum((unsigned char)*c) && *c > 0) || *c == '_' || *c == '-';
  if (good) return SCREE_OK;
  return fail_here(reader->tree, place, "'%s' is no name: 1 to %d letters a-z, digits, _ or -", text_shown(name, shown),
                   NAME_LENGTH_MAX);
}

/* ---- mappings ---- */

static Status fail_unknown(Reader *reader, const Node *node, const Mapping *mapping) {
  char shown[SHOWN_MAX], text[SUGGEST_TEXT];
  Suggestion near = suggest_begin(node->key);
  for (int part = 0; part < mapping->part_count; part++) {
    Section section = mapping->parts[part].section;
    for (int k = 0; k < section_info(section).count; k++) suggest_offer(&near, section_row(section, k)->name);
  }
  for (int k = 0; k < SHAPE_WORDS; k++)
    if (shape_stands(mapping->place, k)) suggest_offer(&near, shape_word(k));
  for (const char *const *word = mapping->words; word && *word; word++) suggest_offer(&near, *word);
  if (near.best)
    return fail_here(reader->tree, key_place(reader->tree, node), "unknown key '%s'%s", text_shown(node->key, shown),
                     suggest_text(&near, text));
  return fail_here(reader->tree, key_place(reader->tree, node), "unknown key '%s' in %s", text_shown(node->key, shown),
                   mapping->what);
}

void warn_unread(Reader *reader, const Node *node, const ScreeParameter *row) {
  bool probe = strcmp(row->section, "probe") == 0, fine = strcmp(row->section, "upsample") == 0;
  if (!reader->reader || parameter_read_by(row, probe ? reader->reader : reader->readers)) return;
  char readers[READERS_MAX], mode[WORD_MAX] = "";
  if (fine) word_at(reader->readers, ' ', 1, mode);
  warn(reader, key_place(reader->tree, node), "'%s' is not read by %s '%s' (only by %s)", row->name,
       probe  ? "probes of kind"
       : fine ? "mode"
              : "method",
       fine ? mode : reader->reader, scree_parameter_readers(row, readers, sizeof readers));
}

Status read_mapping(Reader *reader, const Node *node, const Mapping *mapping) {
  for (int k = 0; k < mapping->part_count; k++)
    section_defaults(mapping->parts[k].section, mapping->parts[k].definition);
  if (node->kind != NODE_NOTHING) TRY(expect_kind(reader, node, NODE_MAP, "a mapping {key: value, ...}"));
  for (const Node *child = node->first; child; child = child->next) {
    const ScreeParameter *row = NULL;
    int part = 0;
    for (; part < mapping->part_count && !row; part++) row = section_find(mapping->parts[part].section, child->key);
    if (row) {
      void *definition = mapping->parts[part - 1].definition;
      TRY(read_value(reader, child, row, parameter_member(definition, row)));
      parameter_share(row, definition);
      warn_unread(reader, child, row);
      continue;
    }
    const char *const *word = mapping->words;
    while (word && *word && strcmp(*word, child->key) != 0) word++;
    bool known = (word && *word) || shape_at(mapping->place, child->key) >= 0;
    if (!known) return fail_unknown(reader, child, mapping);
  }
  for (int part = 0; part < mapping->part_count; part++) {
    const ScreeParameter *row;
    for (int k = 0; (row = section_row(mapping->parts[part].section, k)); k++)
      if (parameter_is(row, "required") && !node_find(node, row->name))
        return fail_here(reader->tree, key_place(reader->tree, node), "%s needs the key '%s': %s", mapping->what,
                         row->name, row->help);
  }
  return SCREE_OK;
}

Status read_list(Reader *reader, const char *key, EntryReader read, void **entries, int64_t size, int32_t *count) {
  const Node *node = node_find(reader->tree->root, key);
  *entries = NULL;
  *count = 0;
  if (!node || node->kind == NODE_NOTHING) return SCREE_OK;
  TRY(expect_kind(reader, node, NODE_LIST, "a list of mappings"));
  TRY(arena_new_(reader->core, reader->arena, entries, node->count, size));
  for (const Node *child = node->first; child; child = child->next) {
    TRY(expect_kind(reader, child, NODE_MAP, "a mapping {key: value, ...}"));
    TRY(read(reader, child, (char *)*entries + size * *count));
    ++*count;
  }
  return SCREE_OK;
}
