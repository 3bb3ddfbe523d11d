/* From the angle of a sand to the contacts that make it: the data of `scree calibrate`.
 *
 * The friction of a contact is not that of the bulk. Grains that cannot turn interlock and stand steeper than the angle
 * of their contacts, grains that roll stand flatter; by how much depends on the method's solver. A method whose contact
 * keys are coefficients of contacts has a table of what was measured. */
#ifndef METHODS_CALIBRATION_H
#define METHODS_CALIBRATION_H

#include <math.h>
#include <stdbool.h>

typedef struct CalibratedContact {
  double angle_deg; /* of the bulk */
  double friction_static, friction_kinetic, rolling_friction;
} CalibratedContact;

/* Rows by ascending angle; between them, linear. */
typedef struct Calibration {
  const CalibratedContact *rows;
  int count;
} Calibration;

#define CALIBRATION_OF(contacts)                                                                                       \
  { (contacts), sizeof(contacts) / sizeof *(contacts) }

/* Heaps may be so much off the angle asked for (`scree validate heap`): that far beyond its ends a table still holds.
 */
#define CALIBRATION_BAND_DEG 2.0

static inline double calibration_low(const Calibration *calibration) {
  return calibration->rows[0].angle_deg - CALIBRATION_BAND_DEG;
}
static inline double calibration_high(const Calibration *calibration) {
  return calibration->rows[calibration->count - 1].angle_deg + CALIBRATION_BAND_DEG;
}

/* False: the method can't have that angle; it has those from calibration_low to calibration_high. */
static inline bool calibration_at(const Calibration *calibration, double angle_deg, CalibratedContact *contact) {
  const CalibratedContact *rows = calibration->rows;
  int last = calibration->count - 1, k = 1;
  if (!(angle_deg >= calibration_low(calibration) && angle_deg <= calibration_high(calibration))) return false;
  while (k < last && angle_deg > rows[k].angle_deg) k++;
  const CalibratedContact *a = &rows[k - 1], *b = &rows[k];
  double s = fmin(fmax((angle_deg - a->angle_deg) / (b->angle_deg - a->angle_deg), 0), 1);
  *contact = (CalibratedContact){angle_deg, a->friction_static + s * (b->friction_static - a->friction_static),
                                 a->friction_kinetic + s * (b->friction_kinetic - a->friction_kinetic),
                                 a->rolling_friction + s * (b->rolling_friction - a->rolling_friction)};
  return true;
}

#endif
