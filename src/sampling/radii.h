/* Distributions of grain radii. The nominal radius is the mean. Plain arithmetic only: the same bits on any machine. */
#ifndef SAMPLING_RADII_H
#define SAMPLING_RADII_H

#include <stdint.h>

/* A radius from random bits. uniform: radius * (1 +- spread). lognormal: sigma = spread of the logarithm. distribution:
 * SCREE_RADII_... */
double radii_draw(double radius, double spread, int distribution, uint64_t bits);
/* Smallest and largest radius that can be drawn. */
double radii_smallest(double radius, double spread, int distribution);
double radii_largest(double radius, double spread, int distribution);
/* Mean volume of a grain, for turning a mass rate into a count. */
double radii_mean_volume(double radius, double spread, int distribution);

#endif
