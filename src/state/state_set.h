/* Sets of parts of the state, one bit each: every field of src/state/fields.h, and what is not a field. The phases of a
 * step say with them what they read and what they write (world/step.c); whoever runs a phase elsewhere knows by them
 * what to copy there and back. Counters of warnings are no part: every phase may count. */
#ifndef STATE_STATE_SET_H
#define STATE_STATE_SET_H

#include <stdint.h>

#include "state/fields.h"

typedef uint64_t StateSet;

enum {
#define STATE_SET_NUMBER(type, name, hashed, floats, meaning) STATE_SET_NUMBER_##name,
  PARTICLE_FIELDS(STATE_SET_NUMBER)
#undef STATE_SET_NUMBER
      STATE_SET_FIELDS, /* how many there are; what is no field follows */
};

#define SET_FIELD(name) ((StateSet)1 << STATE_SET_NUMBER_##name)
#define SET_PART(number) ((StateSet)1 << (STATE_SET_FIELDS + (number)))

/* Fields that go together. */
#define SET_X (SET_FIELD(x) | SET_FIELD(y) | SET_FIELD(z))
#define SET_LOW (SET_FIELD(low_x) | SET_FIELD(low_y) | SET_FIELD(low_z))
#define SET_D (SET_FIELD(dx) | SET_FIELD(dy) | SET_FIELD(dz))
#define SET_V (SET_FIELD(vx) | SET_FIELD(vy) | SET_FIELD(vz))
#define SET_BIRTH (SET_FIELD(radius) | SET_FIELD(mass) | SET_FIELD(id) | SET_FIELD(material))
#define SET_BUILT (SET_FIELD(built_x) | SET_FIELD(built_y) | SET_FIELD(built_z) | SET_FIELD(clear))
/* Fields that methods, terrain and world have added at run time. */
#define SET_ADDED SET_PART(0)
/* All of them, and so their number and order. */
#define SET_PARTICLES (SET_PART(0) | (((StateSet)1 << STATE_SET_FIELDS) - 1))

#define SET_SOLIDS SET_PART(1)   /* pose, twist, inverse inertia, drive */
#define SET_WRENCHES SET_PART(2) /* of particles on solids, in the step in progress */
#define SET_IMPULSES SET_PART(3) /* their sums over the frame, and the means of the last one */
#define SET_SAMPLES SET_PART(4)  /* of solids: place and velocity */
#define SET_CONTACTS SET_PART(5) /* neighbour lists and near solids */
#define SET_TERRAIN SET_PART(6)  /* columns and surface */
#define SET_QUEUE SET_PART(7)    /* births and deaths */
#define SET_CLOCK SET_PART(8)    /* time, step, frame */
enum { STATE_SET_PARTS = 9 };

#define SET_ALL (((StateSet)1 << (STATE_SET_FIELDS + STATE_SET_PARTS)) - 1)

#endif
