#include "bench/bench.h"

#include <errno.h>
#include <math.h>
#include <string.h>

double bench_ratio(const BenchRow *row) { return row->reference > 0 ? row->ours / row->reference : (double)NAN; }

/* Three significant digits, without an exponent where that is readable; "-" for a NaN. */
static void number_text(double value, char text[32]) {
  double size = fabs(value);
  if (isnan(value)) snprintf(text, 32, "-");
  else if (size != 0 && (size < 1e-3 || size >= 1e7)) snprintf(text, 32, "%.3g", value);
  else snprintf(text, 32, "%.*f", size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3, value);
}

BenchWords bench_threads(int threads) {
  BenchWords words;
  snprintf(words.text, sizeof words.text, "%d thread%s", threads, threads == 1 ? "" : "s");
  return words;
}

typedef struct Columns {
  int name, ours, reference, ratio, unit;
} Columns;

static void row_texts(const BenchRow *row, char ours[32], char reference[32], char ratio[32]) {
  number_text(row->ours, ours);
  number_text(row->reference > 0 ? row->reference : (double)NAN, reference);
  number_text(bench_ratio(row), ratio);
}

static void print_line(FILE *file, Columns w, const char *name, const char *ours, const char *reference,
                       const char *ratio, const char *unit, const char *note) {
  fprintf(file, "%-*s  %*s  %*s  %*s  %-*s%s%s\n", w.name, name, w.ours, ours, w.reference, reference, w.ratio, ratio,
          w.unit, unit, *note ? "  " : "", note);
}

static int wider(int width, const char *text) {
  int length = (int)strlen(text);
  return length > width ? length : width;
}

bool bench_wants(const BenchTable *table, const char *name) {
  return !table->only || strstr(name, table->only) != NULL;
}

bool bench_wants_any(const BenchTable *table, const char *const *names, int count) {
  for (int k = 0; k < count; k++)
    if (bench_wants(table, names[k])) return true;
  return false;
}

Status bench_row(Core *core, BenchTable *table, BenchRow row) {
  if (!bench_wants(table, row.name)) return SCREE_OK;
  TRY(memory_grow(core, &table->rows, table->count + 1, "benchmark"));
  if (!row.unit) row.unit = "";
  table->rows[table->count++] = row;
  if (table->progress) {
    char ours[32], reference[32], ratio[32];
    row_texts(&row, ours, reference, ratio);
    fprintf(table->progress, "%s: %s %s\n", row.name, ours, row.unit);
    fflush(table->progress);
  }
  return SCREE_OK;
}

void bench_figure(BenchTable *table, const char *name, double value) {
  if (table->figure_count < BENCH_FIGURES_MAX) table->figures[table->figure_count++] = (BenchFigure){name, value};
}

void bench_table_print(const BenchTable *table, FILE *file) {
  char ours[32], reference[32], ratio[32];
  Columns w = {.name = (int)strlen(table->suite), .ours = 4, .reference = 9, .ratio = 5, .unit = 4};
  for (int64_t i = 0; i < table->count; i++) {
    const BenchRow *row = &table->rows[i];
    row_texts(row, ours, reference, ratio);
    w = (Columns){wider(w.name, row->name), wider(w.ours, ours), wider(w.reference, reference), wider(w.ratio, ratio),
                  wider(w.unit, row->unit)};
  }
  print_line(file, w, table->suite, "ours", "reference", "ratio", "unit", "");
  int width = w.name + w.ours + w.reference + w.ratio + w.unit + 8;
  for (int k = 0; k < width; k++) fputc('-', file);
  fputc('\n', file);
  for (int64_t i = 0; i < table->count; i++) {
    const BenchRow *row = &table->rows[i];
    row_texts(row, ours, reference, ratio);
    print_line(file, w, row->name, ours, reference, ratio, row->unit, row->note);
  }
  for (int k = 0; k < table->figure_count; k++) {
    number_text(table->figures[k].value, ours);
    fprintf(file, "%s: %s\n", table->figures[k].name, ours);
  }
  if (table->counts) fprintf(file, "What counts is %s.\n", table->counts);
  if (table->quick) fprintf(file, "Only tried out: the figures say nothing.\n");
}

static void write_text(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') fprintf(file, "\\%c", c);
    else if (c < 0x20) fprintf(file, "\\u%04x", c);
    else fputc(c, file);
  }
  fputc('"', file);
}

static void write_number(FILE *file, const char *key, double value) {
  if (isfinite(value)) fprintf(file, ", \"%s\": %.6g", key, value);
  else fprintf(file, ", \"%s\": null", key);
}

static void write_table(FILE *file, const BenchTable *table) {
  fprintf(file, "{\"suite\": ");
  write_text(file, table->suite);
  fprintf(file, ", \"threads\": %d, \"quick\": %s, \"counts\": ", table->threads, table->quick ? "true" : "false");
  write_text(file, table->counts ? table->counts : "");
  for (int k = 0; k < table->figure_count; k++) write_number(file, table->figures[k].name, table->figures[k].value);
  fprintf(file, ",\n \"rows\": [");
  for (int64_t i = 0; i < table->count; i++) {
    const BenchRow *row = &table->rows[i];
    fprintf(file, "%s\n  {\"name\": ", i ? "," : "");
    write_text(file, row->name);
    write_number(file, "ours", row->ours);
    write_number(file, "reference", row->reference > 0 ? row->reference : (double)NAN);
    write_number(file, "ratio", bench_ratio(row));
    fprintf(file, ", \"unit\": ");
    write_text(file, row->unit);
    fprintf(file, ", \"note\": ");
    write_text(file, row->note);
    fputc('}', file);
  }
  fprintf(file, "\n ]}\n");
}

Status bench_table_write(Core *core, const BenchTable *table, const char *path) {
  char part[SCREE_FILE_MAX];
  if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
    return fail(core, SCREE_CANNOT_WRITE, "%s: the name is too long", path);
  FILE *file = fopen(part, "w");
  if (!file) return fail(core, SCREE_CANNOT_WRITE, "%s: %s", path, strerror(errno));
  write_table(file, table);
  bool written = !ferror(file);
  written &= fclose(file) == 0;
  if (written && rename(part, path) == 0) return SCREE_OK;
  Status status = fail(core, SCREE_CANNOT_WRITE, "%s: %s", path, strerror(errno));
  remove(part);
  return status;
}

void bench_table_destroy(Core *core, BenchTable *table) {
  memory_drop(core, &table->rows);
  table->count = 0;
}
