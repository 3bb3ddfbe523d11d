#include "app/validate/measure.h"

#include <math.h>

void rings_add(Rings *rings, double x, double y, double volume) {
  double ring = sqrt(x * x + y * y) / rings->width;
  if (ring < RINGS_MOST) rings->volume[(int)ring] += volume; /* what has run farther is a grain or two */
}

double rings_thickness(const Rings *rings, int ring) {
  return rings->volume[ring] / (M_PI * rings->width * rings->width * (2 * ring + 1));
}

double rings_radius(const Rings *rings, double thickness) {
  int ring = RINGS_MOST - 1;
  while (ring >= 0 && rings_thickness(rings, ring) <= thickness) ring--;
  if (ring < 0) return 0;
  double inner = rings_thickness(rings, ring), outer = ring + 1 < RINGS_MOST ? rings_thickness(rings, ring + 1) : 0;
  return (ring + 0.5 + (inner - thickness) / (inner - outer)) * rings->width;
}

double series_reached(const double *time, const double *value, int64_t count, double share) {
  if (count < 1) return 0;
  int64_t first = count - 1;
  while (first > 0 && value[first - 1] >= share * value[count - 1]) first--;
  return time[first];
}

Line line_fit(const double *x, const double *y, int64_t count) {
  double mx = 0, my = 0, xx = 0, xy = 0;
  for (int64_t k = 0; k < count; k++) {
    mx += x[k] / (double)count;
    my += y[k] / (double)count;
  }
  for (int64_t k = 0; k < count; k++) {
    xx += (x[k] - mx) * (x[k] - mx);
    xy += (x[k] - mx) * (y[k] - my);
  }
  Line line = {.slope = xx > 0 ? xy / xx : 0};
  line.offset = my - line.slope * mx;
  for (int64_t k = 0; k < count; k++) line.strays = fmax(line.strays, fabs(y[k] - line.offset - line.slope * x[k]));
  return line;
}

/* When so much was left; false: never. */
static bool left_at(const double *time, const double *left, int64_t count, double share, double *when) {
  for (int64_t k = 1; k < count; k++)
    if (left[k] <= share) {
      double part = left[k - 1] > left[k] ? (left[k - 1] - share) / (left[k - 1] - left[k]) : 1;
      *when = time[k - 1] + part * (time[k] - time[k - 1]);
      return true;
    }
  return false;
}

Discharge discharge_of(const double *time, const double *left, int64_t count) {
  enum { PARTS = 4 };
  double when[PARTS + 1];
  for (int k = 0; k <= PARTS; k++)
    if (!left_at(time, left, count, 0.8 - 0.6 * k / PARTS, &when[k])) return (Discharge){.strays = 1};
  Discharge discharge = {.emptied = true, .rate = 0.6 / (when[PARTS] - when[0])};
  for (int k = 0; k < PARTS; k++)
    discharge.strays = fmax(discharge.strays, fabs(0.6 / PARTS / (when[k + 1] - when[k]) / discharge.rate - 1));
  return discharge;
}

static double saturation_strays(double length, const double *weight, const double *load, int64_t count) {
  double strays = 0;
  for (int64_t k = 0; k < count; k++)
    strays = fmax(strays, fabs(load[k] / (length * (1 - exp(-weight[k] / length))) - 1));
  return strays;
}

Saturation saturation_of(const double *weight, const double *load, int64_t count) {
  Saturation best = {.length = 0.01, .strays = INFINITY};
  for (double length = 0.01; length < 100; length *= 1.002) { /* strays may have several minima */
    double strays = saturation_strays(length, weight, load, count);
    if (strays < best.strays) best = (Saturation){length, strays};
  }
  return best;
}

Spread spread_of(const double *values, int64_t count) {
  Spread spread = {0};
  for (int64_t k = 0; k < count; k++) spread.mean += values[k] / (double)count;
  for (int64_t k = 0; k < count; k++)
    spread.deviation += (values[k] - spread.mean) * (values[k] - spread.mean) / (double)(count > 1 ? count - 1 : 1);
  spread.deviation = sqrt(spread.deviation);
  return spread;
}
