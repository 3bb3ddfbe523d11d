/* Made by `scree calibrate`; do not edit. Contacts of pbd p2 and the angle of the heaps that they make: grains of
 * one radius, poured slowly on a rough floor; heaps of 6000 grains, +1.44 degrees for each factor e in grains. */
#ifndef METHODS_POSITION_CALIBRATION_H
#define METHODS_POSITION_CALIBRATION_H

#include "methods/calibration.h"

/* angle_deg, friction_static, friction_kinetic, rolling_friction */
/* clang-format off */
static const CalibratedContact POSITION_CONTACTS[] = {
    {15.5, 0.1, 0.1, 0.05},
    {19.1, 0.2, 0.2, 0.05},
    {20.8, 0.3, 0.3, 0.05},
    {24.0, 0.5, 0.5, 0.05},
    {28.7, 0.8, 0.8, 0.05},
    {34.6, 0.8, 0.8, 0.1},
    {37.2, 0.8, 0.8, 0.15},
    {39.9, 0.8, 0.8, 0.2},
    {42.7, 0.8, 0.8, 0.3},
};
/* clang-format on */

static const Calibration POSITION_CALIBRATION = CALIBRATION_OF(POSITION_CONTACTS);

#endif
