/* Made by `scree calibrate`; do not edit. Contacts of dem and the angle of the heaps that they make: grains of
 * one radius, poured slowly on a rough floor; heaps of one size. */
#ifndef METHODS_DEM_CALIBRATION_H
#define METHODS_DEM_CALIBRATION_H

#include "methods/calibration.h"

/* angle_deg, friction_static, friction_kinetic, rolling_friction */
/* clang-format off */
static const CalibratedContact DEM_CONTACTS[] = {
    {20.5, 0.06, 0.06, 0.02},
    {24.6, 0.2, 0.2, 0.02},
    {29.4, 0.8, 0.8, 0.02},
    {30.9, 0.8, 0.8, 0.05},
    {33.2, 0.8, 0.8, 0.1},
    {36.8, 0.8, 0.8, 0.2},
    {42.6, 0.8, 0.8, 0.4},
};
/* clang-format on */

static const Calibration DEM_CALIBRATION = CALIBRATION_OF(DEM_CONTACTS);

#endif
