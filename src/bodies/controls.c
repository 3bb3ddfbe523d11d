#define _GNU_SOURCE /* strtod_l */

#include "bodies/controls.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"

enum { CELL_MAX = 128, COLUMNS_MAX = 4096 };
static const int64_t FILE_MOST = 256ll << 20;

/* A place in the text. Cells are trimmed and end at a comma or the end of the line. */
typedef struct Reader {
  Core *core;
  const char *name;
  const char *at, *end;
  const char *line_begin;
  int line;
  locale_t locale; /* numbers are written with a point, whatever the host program's locale says */
} Reader;

static Status wrong(const Reader *reader, const char *at, const char *what, const char *detail) {
  ScreeSource place = {reader->line, (int)(at - reader->line_begin) + 1};
  return fail_at(reader->core, SCREE_BAD_INPUT, reader->name, place, "%s%s%s", what, detail ? ": " : "",
                 detail ? detail : "");
}

static void next_line(Reader *reader) {
  while (reader->at < reader->end && *reader->at != '\n') reader->at++;
  if (reader->at < reader->end) reader->at++;
  reader->line_begin = reader->at;
  reader->line++;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Skips empty lines and comments; false at the end of the text. */
static bool find_row(Reader *reader) {
  for (; reader->at < reader->end; next_line(reader)) {
    const char *at = reader->at;
    while (at < reader->end && is_blank(*at)) at++;
    if (at < reader->end && *at != '\n' && *at != '#') return true;
  }
  return false;
}

/* Copies the next cell of the row; *last says whether the row ends behind it. */
static Status read_cell(Reader *reader, char cell[CELL_MAX], const char **begin, bool *last) {
  const char *at = reader->at;
  while (at < reader->end && is_blank(*at)) at++;
  *begin = at;
  const char *stop = at;
  while (stop < reader->end && *stop != ',' && *stop != '\n') stop++;
  *last = stop == reader->end || *stop == '\n';
  reader->at = *last ? stop : stop + 1;
  while (stop > at && is_blank(stop[-1])) stop--;
  if (stop - at >= CELL_MAX) return wrong(reader, at, "cell is too long", NULL);
  memcpy(cell, at, (size_t)(stop - at));
  cell[stop - at] = 0;
  return SCREE_OK;
}

static Status read_number(Reader *reader, const char *cell, const char *begin, double *value) {
  char *stop;
  *value = strtod_l(cell, &stop, reader->locale);
  /* strtod also knows hexadecimal, nan and inf; a control signal does not */
  if (!cell[0] || *stop || cell[strspn(cell, "0123456789+-.eE")]) return wrong(reader, begin, "not a number", cell);
  if (!isfinite(*value)) return wrong(reader, begin, "number is too large", cell);
  return SCREE_OK;
}

static Status read_header(Reader *reader, ActuatorLookup lookup, void *context, Controls *controls) {
  char cell[CELL_MAX];
  const char *begin;
  bool last;
  if (!find_row(reader)) return wrong(reader, reader->at, "file is empty", NULL);
  TRY(read_cell(reader, cell, &begin, &last));
  if (strcmp(cell, "time") != 0) return wrong(reader, begin, "header must begin with 'time'", NULL);
  while (!last) {
    TRY(read_cell(reader, cell, &begin, &last));
    int32_t actuator = lookup(context, cell);
    if (actuator < 0) return wrong(reader, begin, "the mechanism has no such actuator", cell);
    for (int32_t k = 0; k < controls->column_count; k++)
      if (controls->actuators[k] == actuator) return wrong(reader, begin, "actuator appears twice", cell);
    if (controls->column_count == COLUMNS_MAX) return wrong(reader, begin, "too many columns", NULL);
    TRY(memory_grow(reader->core, &controls->actuators, controls->column_count + 1, "controls"));
    controls->actuators[controls->column_count++] = actuator;
  }
  if (controls->column_count == 0) return wrong(reader, begin, "header names no actuator", NULL);
  next_line(reader);
  return SCREE_OK;
}

static Status read_row(Reader *reader, Controls *controls) {
  char cell[CELL_MAX];
  const char *begin;
  bool last;
  int64_t row = controls->row_count;
  TRY(memory_grow(reader->core, &controls->times, row + 1, "controls"));
  TRY(memory_grow(reader->core, &controls->values, (row + 1) * controls->column_count, "controls"));
  TRY(read_cell(reader, cell, &begin, &last));
  TRY(read_number(reader, cell, begin, &controls->times[row]));
  if (row > 0 && !(controls->times[row] > controls->times[row - 1]))
    return wrong(reader, begin, "times must ascend", cell);
  for (int32_t k = 0; k < controls->column_count; k++) {
    if (last) return wrong(reader, reader->at, "row has fewer cells than the header", NULL);
    TRY(read_cell(reader, cell, &begin, &last));
    TRY(read_number(reader, cell, begin, &controls->values[row * controls->column_count + k]));
  }
  if (!last) return wrong(reader, reader->at, "row has more cells than the header", NULL);
  controls->row_count++;
  next_line(reader);
  return SCREE_OK;
}

static Status read_table(Reader *reader, ActuatorLookup lookup, void *context, Controls *controls) {
  TRY(read_header(reader, lookup, context, controls));
  while (find_row(reader)) TRY(read_row(reader, controls));
  return controls->row_count > 0 ? SCREE_OK : wrong(reader, reader->at, "file has no rows", NULL);
}

Status controls_parse(Core *core, const char *name, const char *text, int64_t size, ActuatorLookup lookup,
                      void *context, Controls *controls) {
  *controls = (Controls){0};
  Reader reader = {.core = core, .name = name, .at = text, .end = text + size, .line = 1};
  if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) reader.at += 3;
  reader.line_begin = reader.at;
  reader.locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!reader.locale) return fail(core, SCREE_NO_MEMORY, "no memory for the plain locale");
  Status status = read_table(&reader, lookup, context, controls);
  freelocale(reader.locale);
  if (status != SCREE_OK) controls_destroy(core, controls);
  return status;
}

Status controls_load(Core *core, const char *path, ActuatorLookup lookup, void *context, Controls *controls) {
  *controls = (Controls){0};
  char *text;
  int64_t size;
  TRY(files_read(core, path, FILE_MOST, &text, &size));
  Status status = controls_parse(core, path, text, size, lookup, context, controls);
  memory_drop(core, &text);
  return status;
}

void controls_destroy(Core *core, Controls *controls) {
  memory_drop(core, &controls->times);
  memory_drop(core, &controls->values);
  memory_drop(core, &controls->actuators);
  *controls = (Controls){0};
}

double controls_value(const Controls *controls, int32_t column, double time) {
  int64_t low = -1, high = controls->row_count;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (controls->times[middle] <= time) low = middle;
    else high = middle;
  }
  const double *values = controls->values + column;
  int64_t stride = controls->column_count;
  if (low < 0) return values[0];
  if (high == controls->row_count) return values[low * stride];
  double share = (time - controls->times[low]) / (controls->times[high] - controls->times[low]);
  return values[low * stride] + share * (values[high * stride] - values[low * stride]);
}
