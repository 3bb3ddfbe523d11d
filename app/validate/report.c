#include "app/validate/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/validate/plot.h"
#include "output/number.h"
#include "output/output.h"

static const char *level_word(Level level) {
  static const char *const words[] = {"quick", "coarse", "fine"};
  return words[level];
}

static const char *verdict(const Row *row) { return row->failed ? "failed" : row_passes(row) ? "ok" : "missed"; }

/* A number of the table, or nothing where the law has none. */
typedef struct Cell {
  char text[24];
} Cell;
static Cell cell(double value) {
  Cell cell = {""};
  if (isfinite(value)) snprintf(cell.text, sizeof cell.text, "%.4g", value);
  return cell;
}

void results_print(const Report *report) {
  printf("%-10s %-6s %-22s %10s %10s %-19s %-11s %-7s %s\n", "law", "method", "case", "measured", "law says", "band",
         "unit", "verdict", "note");
  int missed = 0;
  for (int k = 0; k < report->row_count; k++) {
    const Row *row = &report->rows[k];
    char band[64];
    snprintf(band, sizeof band, "%s to %s", cell(row->low).text, cell(row->high).text);
    printf("%-10s %-6s %-22s %10s %10s %-19s %-11s %-7s %s\n", row->law->name, row->method, row->label,
           cell(row->measured).text, cell(row->expected).text, row->failed ? "" : band, row->unit, verdict(row),
           row->note);
    missed += !row_passes(row);
  }
  printf("%d of %d within their bands, %s, %.0f s\n", report->row_count - missed, report->row_count,
         level_word(report->level), report->seconds);
}

/* Text as a JSON string; messages may hold anything. */
static void put_string(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; text++) {
    unsigned char letter = (unsigned char)*text;
    if (letter == '"' || letter == '\\') fprintf(file, "\\%c", letter);
    else if (letter < 0x20) fprintf(file, "\\u%04x", letter);
    else fputc(letter, file);
  }
  fputc('"', file);
}

static void put_member(FILE *file, const char *key, const char *text) {
  fprintf(file, "\"%s\": ", key);
  put_string(file, text);
  fputs(", ", file);
}

/* The last member of an object. */
static void put_last(FILE *file, const char *key, const char *text) {
  fprintf(file, "\"%s\": ", key);
  put_string(file, text);
  fputc('}', file);
}

static void put_laws(FILE *file, const Report *report) {
  fputs(" \"laws\": [", file);
  for (int k = 0; k < report->options->law_count; k++) {
    const Law *law = law_at(report->options->laws[k]);
    fputs(k ? ",\n  {" : "\n  {", file);
    put_member(file, "name", law->name);
    put_member(file, "title", law->title);
    put_member(file, "reference", law->reference);
    put_member(file, "band", law->band);
    put_member(file, "scene", law->scene);
    put_last(file, "measure", law->measure);
  }
  fputs("],\n", file);
}

static void put_rows(FILE *file, const Report *report) {
  fputs(" \"rows\": [", file);
  for (int k = 0; k < report->row_count; k++) {
    const Row *row = &report->rows[k];
    fputs(k ? ",\n  {" : "\n  {", file);
    put_member(file, "law", row->law->name);
    put_member(file, "method", row->method);
    put_member(file, "case", row->label);
    fprintf(file, "\"measured\": %s, \"law_says\": %s, \"low\": %s, \"high\": %s, ", number_json(row->measured).text,
            number_json(row->expected).text, number_json(row->low).text, number_json(row->high).text);
    put_member(file, "unit", row->unit);
    put_member(file, "verdict", verdict(row));
    put_last(file, "note", row->note);
  }
  fputs("],\n", file);
}

static void put_runs(FILE *file, const Report *report) {
  fputs(" \"runs\": [", file);
  for (int k = 0; k < report->run_count; k++) {
    const Run *run = report->runs[k];
    fputs(k ? ",\n  {" : "\n  {", file);
    put_member(file, "law", run->law->name);
    put_member(file, "method", run->method);
    put_member(file, "case", run->label);
    fprintf(file, "\"seconds\": %.2f, \"values\": [", run->seconds);
    for (int v = 0; v < RUN_VALUES; v++) fprintf(file, "%s%s", v ? ", " : "", number_json(run->values[v]).text);
    fputs("], \"points\": [", file);
    for (int64_t p = 0; p < run->points; p++) fprintf(file, "%s[%.5g, %.5g]", p ? ", " : "", run->x[p], run->y[p]);
    fputs("]}", file);
  }
  fputs("]}\n", file);
}

static ScreeStatus write_json(const Report *report, ScreeError *error) {
  char *text = NULL, path[SCREE_FILE_MAX];
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  if (file) {
    fprintf(file, "{\"scree\": \"%s\", \"level\": \"%s\", \"seconds\": %.1f,\n", scree_version(),
            level_word(report->level), report->seconds);
    put_laws(file, report);
    put_rows(file, report);
    put_runs(file, report);
  }
  ScreeStatus status = SCREE_OK;
  if (!file || fclose(file) != 0) {
    *error = (ScreeError){.status = SCREE_NO_MEMORY, .message = "no memory for the report"};
    status = SCREE_NO_MEMORY;
  }
  snprintf(path, sizeof path, "%.480s/report.json", report->options->folder);
  if (status == SCREE_OK) status = output_text(path, text, error);
  if (status == SCREE_OK) printf("%s\n", path);
  free(text);
  return status;
}

ScreeStatus results_write(const Report *report, ScreeError *error) {
  ScreeStatus status = output_make_folder(report->options->folder, error);
  if (status == SCREE_OK) status = write_json(report, error);
  for (int k = 0; k < report->options->law_count && status == SCREE_OK; k++) {
    const Law *law = law_at(report->options->laws[k]);
    for (int row = 0; row < report->row_count; row++)
      if (report->rows[row].law == law) {
        status = plot_law(report, law, error);
        break;
      }
  }
  return status;
}
