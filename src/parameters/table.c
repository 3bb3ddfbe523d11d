#include "parameters/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"

/* ---- rows ---- */

typedef struct Rows {
  const ScreeParameter *items;
  int count;
} Rows;

/* A row knows its section and its struct through what the function around it declares. */
#define ROW(kind_, name_, default_, low_, high_, usual_low_, usual_high_, unit_, readers_, help_)                      \
  {.section = section,                                                                                                 \
   .name = #name_,                                                                                                     \
   .kind = SCREE_KIND_##kind_,                                                                                         \
   .default_text = default_,                                                                                           \
   .low = low_,                                                                                                        \
   .high = high_,                                                                                                      \
   .usual_low = usual_low_,                                                                                            \
   .usual_high = usual_high_,                                                                                          \
   .unit = unit_,                                                                                                      \
   .readers = readers_,                                                                                                \
   .help = help_,                                                                                                      \
   .offset = BASE + offsetof(Owner, name_)},
/* Who reads a row in the list of a method is said by that list. */
#define METHOD_ROW(kind, name, default_, low, high, usual_low, usual_high, unit, readers, help)                        \
  ROW(kind, name, default_, low, high, usual_low, usual_high, unit, method, help)

#define ROWS(section_name, method_name, type, base, items_)                                                            \
  {                                                                                                                    \
    enum { BASE = base };                                                                                              \
    typedef type Owner;                                                                                                \
    static const char section[] = section_name, method[] = method_name;                                                \
    static const ScreeParameter items[] = {items_};                                                                    \
    (void)method;                                                                                                      \
    return (Rows){items, (int)(sizeof items / sizeof *items)};                                                         \
  }
#define SECTION_ROWS(name, type, rows, where) static Rows name##_rows(void) ROWS(#name, "", type, 0, rows(ROW))
#define SHAPE_ROWS(id, word, type, rows, ...) static Rows word##_rows(void) ROWS(#word, "", type, 0, rows(ROW))
#define METHOD_ROWS(name, type, rows)                                                                                  \
  static Rows rows_of_##name(void) ROWS("method", #name, type, offsetof(ScreeMethodDef, name), rows(METHOD_ROW))
SECTIONS(SECTION_ROWS)
SCREE_SHAPES(SHAPE_ROWS)
SCREE_METHODS(METHOD_ROWS)

#define SECTION_ENTRY(name, type, rows, where) {#name, where, name##_rows},
#define SHAPE_ENTRY(id, word, type, rows, places, where) {#word, "`" #word ": {...}`" where, word##_rows},
static const struct {
  const char *name, *where;
  Rows (*rows)(void);
} sections[] = {SECTIONS(SECTION_ENTRY) SCREE_SHAPES(SHAPE_ENTRY)};

#define METHOD_ENTRY(name, type, rows) {#name, rows_of_##name},
static const struct {
  const char *name;
  Rows (*rows)(void);
} methods[] = {SCREE_METHODS(METHOD_ENTRY)};
enum { METHODS = sizeof methods / sizeof *methods };

/* ---- lookup ---- */

static const ScreeParameter *find_in(Rows rows, const char *key) {
  for (int k = 0; k < rows.count; k++)
    if (strcmp(rows.items[k].name, key) == 0) return &rows.items[k];
  return NULL;
}

/* The method before which nobody has the key, or METHODS. */
static int first_method_with(const char *key) {
  int k = 0;
  while (k < METHODS && !find_in(methods[k].rows(), key)) k++;
  return k;
}

const ScreeParameter *section_row(Section section, int index) {
  Rows rows = sections[section].rows();
  if (index < rows.count) return &rows.items[index];
  index -= rows.count;
  for (int m = 0; section == SECTION_method && m < METHODS; m++) {
    rows = methods[m].rows();
    for (int k = 0; k < rows.count; k++)
      if (first_method_with(rows.items[k].name) == m && index-- == 0) return &rows.items[k];
  }
  return NULL;
}

SectionInfo section_info(Section section) {
  SectionInfo info = {sections[section].name, sections[section].where, 0};
  while (section_row(section, info.count)) info.count++;
  return info;
}

const ScreeParameter *section_find(Section section, const char *key) {
  const ScreeParameter *row = find_in(sections[section].rows(), key);
  int method = section == SECTION_method && !row ? first_method_with(key) : METHODS;
  return method < METHODS ? find_in(methods[method].rows(), key) : row;
}

int32_t scree_parameter_count(void) {
  int32_t count = 0;
  for (int section = 0; section < SECTION_COUNT; section++) count += section_info((Section)section).count;
  return count;
}

const ScreeParameter *scree_parameter(int32_t index) {
  for (int section = 0; section < SECTION_COUNT && index >= 0; section++) {
    int32_t count = section_info((Section)section).count;
    if (index < count) return section_row((Section)section, index);
    index -= count;
  }
  return NULL;
}

/* ---- readers ---- */

static bool of_method(const ScreeParameter *row) { return strcmp(row->section, "method") == 0 && *row->readers; }
static bool of_probe(const ScreeParameter *row) { return strcmp(row->section, "probe") == 0; }

const ScreeParameter *parameter_of_reader(const ScreeParameter *row, const char *reader) {
  for (int m = 0; of_method(row) && m < METHODS; m++) {
    const ScreeParameter *own = strcmp(methods[m].name, reader) == 0 ? find_in(methods[m].rows(), row->name) : NULL;
    if (own) return own;
  }
  return row;
}

static size_t parameter_size(ScreeParameterKind kind) {
  switch (kind) {
  case SCREE_KIND_INT: return sizeof(int64_t);
  case SCREE_KIND_BOOL: return sizeof(bool);
  case SCREE_KIND_TEXT:
  case SCREE_KIND_NAME:
  case SCREE_KIND_FILE: return sizeof(const char *);
  case SCREE_KIND_CHOICE: return sizeof(int);
  default: return (size_t)parameter_components(kind) * sizeof(double);
  }
}

void parameter_share(const ScreeParameter *row, void *definition) {
  for (int m = 0; of_method(row) && m < METHODS; m++) {
    const ScreeParameter *other = find_in(methods[m].rows(), row->name);
    if (other && other != row)
      memcpy(parameter_member(definition, other), parameter_value(definition, row), parameter_size(row->kind));
  }
}

/* Adds a word to a list with blanks. */
static void add_word(char *text, size_t size, const char *word) {
  size_t used = strlen(text);
  if (used < size) snprintf(text + used, size - used, "%s%s", used ? " " : "", word);
}

#define PROBE_INFO(id, kind, unit, columns, keys, help) {#kind, unit, columns, keys, help},
static const ScreeProbeInfo probes[] = {SCREE_PROBES(PROBE_INFO)};

const ScreeProbeInfo *scree_probe_info(int32_t kind) {
  return kind >= 0 && kind < SCREE_PROBE_KINDS ? &probes[kind] : NULL;
}

bool probe_column(int kind, int index, char ending[WORD_MAX]) {
  ending[0] = 0;
  const char *columns = probes[kind].columns;
  return *columns ? word_at(columns, ',', index, ending) : index == 0;
}

const char *probe_kinds_with(const char *key, char text[READERS_MAX]) {
  text[0] = 0;
  for (int k = 0; k < SCREE_PROBE_KINDS; k++)
    if (word_index(probes[k].keys, ' ', key) >= 0) add_word(text, READERS_MAX, probes[k].kind);
  return text;
}

const char *scree_parameter_readers(const ScreeParameter *row, char *text, size_t size) {
  char kinds[READERS_MAX];
  if (size == 0) return "";
  text[0] = 0;
  if (of_probe(row)) snprintf(text, size, "%s", probe_kinds_with(row->name, kinds));
  else if (!of_method(row)) snprintf(text, size, "%s", row->readers);
  else
    for (int m = 0; m < METHODS; m++)
      if (find_in(methods[m].rows(), row->name)) add_word(text, size, methods[m].name);
  return text;
}

bool parameter_read_by(const ScreeParameter *row, const char *readers) {
  char known[READERS_MAX], reader[WORD_MAX];
  scree_parameter_readers(row, known, sizeof known);
  bool read = !*known;
  for (int k = 0; !read && word_at(readers, ' ', k, reader); k++) read = word_index(known, ' ', reader) >= 0;
  return read;
}

const char *readers_of_scene(const char *method, const char *upsample_mode, bool terrain, char text[READERS_MAX]) {
  text[0] = 0;
  add_word(text, READERS_MAX, method);
  if (upsample_mode) add_word(text, READERS_MAX, upsample_mode);
  if (upsample_mode && strcmp(upsample_mode, "points") != 0) add_word(text, READERS_MAX, "upsample");
  if (terrain) add_word(text, READERS_MAX, "terrain");
  return text;
}

/* ---- values ---- */

int parameter_components(ScreeParameterKind kind) {
  switch (kind) {
  case SCREE_KIND_REAL: return 1;
  case SCREE_KIND_VEC2: return 2;
  case SCREE_KIND_VEC3: return 3;
  case SCREE_KIND_QUAT: return 4;
  default: return 0;
  }
}

bool parameter_is(const ScreeParameter *row, const char *default_text) {
  return strcmp(row->default_text, default_text) == 0;
}

bool word_at(const char *list, char separator, int index, char word[WORD_MAX]) {
  for (; index > 0; index--) {
    list = strchr(list, separator);
    if (!list) return false;
    list++;
  }
  const char *end = strchr(list, separator);
  size_t length = end ? (size_t)(end - list) : strlen(list);
  if (length == 0 || length >= WORD_MAX) return false;
  memcpy(word, list, length);
  word[length] = 0;
  return true;
}

int word_index(const char *list, char separator, const char *word) {
  char known[WORD_MAX];
  for (int index = 0; word_at(list, separator, index, known); index++)
    if (strcmp(known, word) == 0) return index;
  return -1;
}

ParameterRange parameter_range(const ScreeParameter *row, double value) {
  if (!(value >= row->low && value <= row->high)) return RANGE_ILLEGAL;
  return value < row->usual_low || value > row->usual_high ? RANGE_ODD : RANGE_USUAL;
}

/* Numbers of `[a, b, c]` or of a single one; unreadable ones (auto, required) become NaN. */
static void default_numbers(const char *text, double *values, int count) {
  for (int k = 0; k < count; k++) {
    char number[NUMBER_TEXT];
    size_t skip = strspn(text, "[, ");
    size_t length = strcspn(text + skip, ",] ");
    values[k] = NAN;
    if (length > 0 && length < sizeof number) {
      memcpy(number, text + skip, length);
      number[length] = 0;
      if (number_parse(number, &values[k]) != NUMBER_GOOD) values[k] = NAN;
    }
    text += skip + length;
  }
}

static void set_default(const ScreeParameter *row, void *member) {
  bool required = parameter_is(row, "required");
  switch (row->kind) {
  case SCREE_KIND_REAL:
  case SCREE_KIND_VEC2:
  case SCREE_KIND_VEC3:
  case SCREE_KIND_QUAT: default_numbers(row->default_text, member, parameter_components(row->kind)); break;
  case SCREE_KIND_INT:
    if (number_parse_integer(row->default_text, member) != NUMBER_GOOD) *(int64_t *)member = -1;
    break;
  case SCREE_KIND_BOOL: *(bool *)member = parameter_is(row, "true"); break;
  case SCREE_KIND_TEXT:
  case SCREE_KIND_NAME:
  case SCREE_KIND_FILE: *(const char **)member = required ? NULL : row->default_text; break;
  case SCREE_KIND_CHOICE: *(int *)member = word_index(row->unit, '|', row->default_text); break;
  }
}

static void set_defaults(Rows rows, void *definition) {
  for (int k = 0; k < rows.count; k++) set_default(&rows.items[k], parameter_member(definition, &rows.items[k]));
}

void section_defaults(Section section, void *definition) {
  set_defaults(sections[section].rows(), definition);
  for (int m = 0; section == SECTION_method && m < METHODS; m++) set_defaults(methods[m].rows(), definition);
}

bool parameter_equal(const ScreeParameter *row, const void *a, const void *b) {
  switch (row->kind) {
  case SCREE_KIND_REAL:
  case SCREE_KIND_VEC2:
  case SCREE_KIND_VEC3:
  case SCREE_KIND_QUAT:
    for (int k = 0; k < parameter_components(row->kind); k++) {
      double x = ((const double *)a)[k], y = ((const double *)b)[k];
      if (x != y && !(isnan(x) && isnan(y))) return false;
    }
    return true;
  case SCREE_KIND_INT: return *(const int64_t *)a == *(const int64_t *)b;
  case SCREE_KIND_BOOL: return *(const bool *)a == *(const bool *)b;
  case SCREE_KIND_CHOICE: return *(const int *)a == *(const int *)b;
  case SCREE_KIND_TEXT:
  case SCREE_KIND_NAME:
  case SCREE_KIND_FILE: {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    return x == y || strcmp(x ? x : "", y ? y : "") == 0;
  }
  }
  return false;
}

bool parameter_is_default(const ScreeParameter *row, const void *definition) {
  union {
    double numbers[4];
    int64_t integer;
    const char *text;
    int choice;
    bool truth;
  } usual;
  set_default(row, &usual);
  return parameter_equal(row, parameter_value(definition, row), &usual);
}
