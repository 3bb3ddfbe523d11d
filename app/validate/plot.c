#include "app/validate/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/image.h"

enum { PLOT_WIDTH = 1200, PLOT_HEIGHT = 520, PLOT_TOP = 56, PLOT_BOTTOM = 56, PLOT_LEFT = 84, PLOT_GAP = 70 };
enum { LINES_RIGHT = 690, BANDS_LEFT = LINES_RIGHT + PLOT_GAP, BANDS_RIGHT = PLOT_WIDTH - 20 };

static const ImageColor ink = {40, 42, 46, 255}, faint = {222, 224, 228, 255}, inside = {214, 236, 214, 255};
static const ImageColor colors[] = {
    {31, 119, 180, 255}, {23, 190, 207, 255}, {214, 39, 40, 255}, {44, 160, 44, 255}, {148, 103, 189, 255}};
enum { COLOR_COUNT = sizeof colors / sizeof *colors };

/* Among those that simulate, so that a method has its colour in every plot. */
static int method_number(const char *method) {
  int number = 0;
  for (int32_t k = 0; k < scree_method_count() && strcmp(scree_method_info(k)->name, method) != 0; k++)
    number += scree_method_info(k)->paper[0] != 0;
  return number;
}
static ImageColor method_color(const char *method) { return colors[method_number(method) % COLOR_COUNT]; }

/* ---- strokes ---- */

static void blend(Image *image, int x, int y, ImageColor color, double cover) {
  if (x < 0 || y < 0 || x >= image->width || y >= image->height) return;
  uint8_t *pixel = &image->pixels[4 * ((size_t)y * (size_t)image->width + (size_t)x)];
  const uint8_t from[3] = {color.r, color.g, color.b};
  for (int c = 0; c < 3; c++) pixel[c] = (uint8_t)(from[c] * cover + pixel[c] * (1 - cover) + 0.5);
}

/* A line with round ends; a dot where both are the same. */
static void stroke(Image *image, double x0, double y0, double x1, double y1, double width, ImageColor color) {
  double dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy, half = width / 2 + 1;
  for (int y = (int)floor(fmin(y0, y1) - half); y <= (int)ceil(fmax(y0, y1) + half); y++)
    for (int x = (int)floor(fmin(x0, x1) - half); x <= (int)ceil(fmax(x0, x1) + half); x++) {
      double t = square > 0 ? ((x + 0.5 - x0) * dx + (y + 0.5 - y0) * dy) / square : 0;
      t = fmin(fmax(t, 0), 1);
      double cover = width / 2 + 0.5 - hypot(x + 0.5 - x0 - t * dx, y + 0.5 - y0 - t * dy);
      if (cover > 0) blend(image, x, y, color, fmin(cover, 1));
    }
}

/* ---- axes ---- */

typedef struct Axis {
  double low, high; /* in numbers */
  double from, to;  /* in pixels */
} Axis;
static double place(const Axis *axis, double value) {
  return axis->from + (axis->to - axis->from) * (value - axis->low) / (axis->high - axis->low);
}

static void widen(Axis *axis, double value) {
  if (!isfinite(value)) return;
  axis->low = fmin(axis->low, value);
  axis->high = fmax(axis->high, value);
}

/* 1, 2 or 5 times a power of ten, about a fifth of the range. */
static double tick_of(const Axis *axis) {
  double rough = (axis->high - axis->low) / 5, power = pow(10, floor(log10(rough))), digit = rough / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

static void end_axis(Axis *axis) {
  if (!(axis->low <= axis->high)) axis->low = 0, axis->high = 1;
  double pad = axis->high > axis->low ? 0.05 * (axis->high - axis->low) : fmax(0.5 * fabs(axis->high), 0.5);
  axis->low -= pad;
  axis->high += pad;
}

static void draw_axes(Image *image, const Axis *x, const Axis *y, const Law *law) {
  char text[32];
  for (double step = tick_of(x), at = ceil(x->low / step) * step; at <= x->high; at += step) {
    stroke(image, place(x, at), y->from, place(x, at), y->to, 1, faint);
    snprintf(text, sizeof text, "%.4g", fabs(at) < 1e-9 * step ? 0 : at);
    text_draw(image, place(x, at) - text_width(8, text) / 2, y->from + 17, 8, text, ink);
  }
  for (double step = tick_of(y), at = ceil(y->low / step) * step; at <= y->high; at += step) {
    stroke(image, x->from, place(y, at), x->to, place(y, at), 1, faint);
    snprintf(text, sizeof text, "%.4g", fabs(at) < 1e-9 * step ? 0 : at);
    text_draw(image, x->from - text_width(8, text) - 8, place(y, at) + 4, 8, text, ink);
  }
  stroke(image, x->from, y->from, x->to, y->from, 1.5, ink);
  stroke(image, x->from, y->from, x->from, y->to, 1.5, ink);
  text_draw(image, (x->from + x->to - text_width(9, law->x_label)) / 2, y->from + 40, 9, law->x_label, ink);
  text_draw(image, x->from, y->to - 8, 9, law->y_label, ink);
}

/* ---- the two halves ---- */

static void draw_lines(Image *image, const Report *report, const Law *law) {
  Axis x = {INFINITY, -INFINITY, PLOT_LEFT, LINES_RIGHT},
       y = {INFINITY, -INFINITY, PLOT_HEIGHT - PLOT_BOTTOM, PLOT_TOP};
  for (int k = 0; k < report->run_count; k++)
    for (int64_t p = 0; report->runs[k]->law == law && p < report->runs[k]->points; p++) {
      widen(&x, report->runs[k]->x[p]);
      widen(&y, report->runs[k]->y[p]);
    }
  end_axis(&x);
  if (law->curve) widen(&y, law->curve(x.low)), widen(&y, law->curve(x.high));
  end_axis(&y);
  draw_axes(image, &x, &y, law);
  enum { PIECES = 100 };
  for (int k = 0; law->curve && k < PIECES; k += 2) { /* dashed */
    double a = x.low + (x.high - x.low) * k / PIECES, b = x.low + (x.high - x.low) * (k + 1) / PIECES;
    stroke(image, place(&x, a), place(&y, law->curve(a)), place(&x, b), place(&y, law->curve(b)), 1.5, ink);
  }
  for (int k = 0; k < report->run_count; k++) {
    const Run *run = report->runs[k];
    if (run->law != law) continue;
    ImageColor color = method_color(run->method);
    for (int64_t p = 0; p < run->points; p++) {
      double px = place(&x, run->x[p]), py = place(&y, run->y[p]);
      int64_t q = p + 1 < run->points ? p + 1 : p;
      if (run->points > 8) stroke(image, px, py, place(&x, run->x[q]), place(&y, run->y[q]), 1.6, color);
      else
        stroke(image, px + 2 * method_number(run->method) - 4, py, px + 2 * method_number(run->method) - 4, py, 5,
               color);
    }
  }
}

/* Where in its band a row lies: 0 at the lower end, 1 at the upper; what is well inside an open one lies at 0.8. */
static double in_band(const Row *row) {
  double at = isfinite(row->high) ? (row->measured - row->low) / (row->high - row->low)
                                  : fmin(row->measured / row->low - 1, 0.8);
  if (row->failed || !isfinite(at)) return -0.6;
  return fmin(fmax(at, -0.6), 1.6);
}

/* Cases stand below each other; a dot for each method. */
static void draw_bands(Image *image, const Report *report, const Law *law) {
  const Row *first[64];
  int count = 0;
  for (int k = 0; k < report->row_count && count < 64; k++) {
    bool known = report->rows[k].law != law;
    for (int c = 0; c < count; c++) known = known || strcmp(first[c]->label, report->rows[k].label) == 0;
    if (!known) first[count++] = &report->rows[k];
  }
  Axis x = {-0.7, 1.7, BANDS_LEFT + 110, BANDS_RIGHT};
  double high = PLOT_HEIGHT - PLOT_BOTTOM - PLOT_TOP, row = fmin(44, high / fmax(count, 1));
  text_draw(image, BANDS_LEFT, PLOT_TOP - 8, 9, "measured, in its band (green)", ink);
  for (int c = 0; c < count; c++) {
    double y = PLOT_TOP + 12 + (c + 0.5) * row;
    image_fill_box(image, (int)place(&x, 0), (int)(y - 0.35 * row), (int)(place(&x, 1) - place(&x, 0)),
                   (int)(0.7 * row), inside);
    stroke(image, x.from, y, x.to, y, 1, faint);
    text_draw(image, BANDS_LEFT, y + 4, 7.5, first[c]->label, ink);
    for (int k = 0; k < report->row_count; k++) {
      const Row *one = &report->rows[k];
      if (one->law != law || strcmp(one->label, first[c]->label) != 0) continue;
      double at = place(&x, in_band(one)), up = (method_number(one->method) - 2) * fmin(3, row / 8);
      stroke(image, at, y + up, at, y + up, 7, method_color(one->method));
    }
  }
}

static void draw_legend(Image *image, const Report *report) {
  double x = PLOT_LEFT + 10;
  for (int k = 0; k < report->options->method_count; k++) {
    const char *method = report->options->methods[k];
    stroke(image, x, PLOT_HEIGHT - 8, x + 18, PLOT_HEIGHT - 8, 4, method_color(method));
    text_draw(image, x + 26, PLOT_HEIGHT - 4, 8, method, ink);
    x += 46 + text_width(8, method);
  }
}

ScreeStatus plot_law(const Report *report, const Law *law, ScreeError *error) {
  Image image = {0};
  char path[SCREE_FILE_MAX];
  ScreeStatus status = image_create(&image, PLOT_WIDTH, PLOT_HEIGHT, error);
  if (status != SCREE_OK) return status;
  image_fill(&image, (ImageColor){255, 255, 255, 255});
  text_draw(&image, PLOT_LEFT, 22, 11, law->title, ink);
  draw_lines(&image, report, law);
  draw_bands(&image, report, law);
  draw_legend(&image, report);
  snprintf(path, sizeof path, "%.400s/%s.png", report->options->folder, law->name);
  status = image_write_png(&image, path, error);
  image_destroy(&image);
  return status;
}
