/* Measures on plain numbers: what a law reads off particles and series. */
#ifndef VALIDATE_MEASURE_H
#define VALIDATE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* Rings about the vertical axis through the origin, `width` wide: volume of what lies in them over their area. */
enum { RINGS_MOST = 1024 };
typedef struct Rings {
  double width;
  double volume[RINGS_MOST];
} Rings;
void rings_add(Rings *rings, double x, double y, double volume);
double rings_thickness(const Rings *rings, int ring);
/* Where the mean thickness falls to this: between the middles of the outermost ring that exceeds it and of the next
 * one, so that a spreading front moves on evenly and not by rings. 0 when none exceeds it. */
double rings_radius(const Rings *rings, double thickness);

/* First time at which the series has reached the share of its last value and is not below it afterwards. */
double series_reached(const double *time, const double *value, int64_t count, double share);

/* Least squares of y over x. */
typedef struct Line {
  double slope, offset;
  double strays; /* largest |y - line| */
} Line;
Line line_fit(const double *x, const double *y, int64_t count);

/* How a vessel empties, from the share that is left over time: from 80 to 20 %, in four parts. */
typedef struct Discharge {
  bool emptied;  /* down to 20 % */
  double rate;   /* shares a second */
  double strays; /* largest |rate of a part / rate - 1| */
} Discharge;
Discharge discharge_of(const double *time, const double *left, int64_t count);

/* The length of Janssen's law that fits loads best: load = length (1 - exp(-weight / length)), all in weights of a fill
 * as high as the vessel is wide. */
typedef struct Saturation {
  double length;
  double strays; /* largest |load / law - 1| */
} Saturation;
Saturation saturation_of(const double *weight, const double *load, int64_t count);

typedef struct Spread {
  double mean, deviation; /* of one sample */
} Spread;
Spread spread_of(const double *values, int64_t count);

#endif
