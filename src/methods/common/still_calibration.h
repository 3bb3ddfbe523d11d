/* Contacts of grains that do not turn, and the angle of the heaps that they make: for `averaging`, the papers' form of
 * pbd and p2. Measured with split masses (app/validate/samples/pbd_still.csv, as position_calibration.h); 6000 grains.
 */
#ifndef METHODS_COMMON_STILL_CALIBRATION_H
#define METHODS_COMMON_STILL_CALIBRATION_H

#include "methods/calibration.h"

/* angle_deg, friction_static, friction_kinetic, rolling_friction */
static const CalibratedContact STILL_CONTACTS[] = {
    {15.5, 0.03, 0.03, 0}, {19.5, 0.06, 0.06, 0}, {24.5, 0.1, 0.1, 0},
    {30.8, 0.15, 0.15, 0}, {34.7, 0.2, 0.2, 0},   {44.9, 0.3, 0.3, 0},
};
static const Calibration STILL_CALIBRATION = CALIBRATION_OF(STILL_CONTACTS);

#endif
