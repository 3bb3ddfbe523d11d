/* Made by `scree calibrate`; do not edit. Contacts of dem and the angle of the heaps that they make: grains of
 * one radius, poured slowly on a rough floor; heaps of one size. */
#ifndef METHODS_DEM_CALIBRATION_H
#define METHODS_DEM_CALIBRATION_H

#include "methods/calibration.h"

/* angle_deg, friction_static, friction_kinetic, rolling_friction */
/* clang-format off */
static const CalibratedContact DEM_CONTACTS[] = {
    {14.4, 0.15, 0.15, 0.05},
    {18.9, 0.3, 0.3, 0.05},
    {21.5, 0.5, 0.5, 0.05},
    {26.4, 0.5, 0.5, 0.1},
    {31.1, 0.5, 0.5, 0.15},
    {35.5, 0.5, 0.5, 0.2},
    {42.1, 0.5, 0.5, 0.4},
};
/* clang-format on */

static const Calibration DEM_CALIBRATION = CALIBRATION_OF(DEM_CONTACTS);

#endif
