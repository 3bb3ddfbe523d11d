/* Made by `scree calibrate`; do not edit. Contacts of pbd p2 and the angle of the heaps that they make: grains of
 * one radius, poured slowly on a rough floor; heaps of one size. */
#ifndef METHODS_POSITION_CALIBRATION_H
#define METHODS_POSITION_CALIBRATION_H

#include "methods/calibration.h"

/* angle_deg, friction_static, friction_kinetic, rolling_friction */
/* clang-format off */
static const CalibratedContact POSITION_CONTACTS[] = {
    {19.9, 0.06, 0.06, 0.02},
    {21.4, 0.1, 0.1, 0.02},
    {25.1, 0.2, 0.2, 0.02},
    {28.3, 0.4, 0.4, 0.02},
    {29.9, 0.8, 0.8, 0.02},
    {32.4, 0.8, 0.8, 0.05},
    {34.5, 0.8, 0.8, 0.1},
    {36.2, 0.8, 0.8, 0.15},
    {39.7, 0.8, 0.8, 0.2},
    {42.3, 0.8, 0.8, 0.3},
};
/* clang-format on */

static const Calibration POSITION_CALIBRATION = CALIBRATION_OF(POSITION_CONTACTS);

#endif
