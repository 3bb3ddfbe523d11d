/* The one list of particle fields. Allocation, growth, sort, removal, checkpoint and hash are made from it.
 *
 * X(type, name, hashed, meaning), grouped by the phase that writes them. Methods add fields of their own at run time
 * with particles_add_field; these take part in everything alike. */
#ifndef STATE_FIELDS_H
#define STATE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#define PARTICLE_FIELDS(X)                                                                                             \
  /* commit */                                                                                                         \
  X(float, x, true, "position, relative to the state's origin, m")                                                     \
  X(float, y, true, "")                                                                                                \
  X(float, z, true, "")                                                                                                \
  X(float, low_x, true, "what the float position could not hold: real position = x + low_x")                           \
  X(float, low_y, true, "")                                                                                            \
  X(float, low_z, true, "")                                                                                            \
  /* method: prepare and step */                                                                                       \
  X(float, dx, false, "displacement of the step in progress (afterwards: of the last step), m")                        \
  X(float, dy, false, "")                                                                                              \
  X(float, dz, false, "")                                                                                              \
  X(float, vx, true, "velocity, m/s")                                                                                  \
  X(float, vy, true, "")                                                                                               \
  X(float, vz, true, "")                                                                                               \
  /* birth */                                                                                                          \
  X(float, radius, true, "m")                                                                                          \
  X(float, mass, true, "kg")                                                                                           \
  X(uint32_t, id, true, "from 1, never used again")                                                                    \
  X(uint8_t, material, true, "index into the materials")                                                               \
  /* neighbours */                                                                                                     \
  X(float, built_x, false, "position when the neighbour lists were built")                                             \
  X(float, built_y, false, "")                                                                                         \
  X(float, built_z, false, "")                                                                                         \
  X(float, clear, false, "no solid was nearer than this then, m; 0 or less: not known")

enum { FIELDS_MAX = 96, FIELD_NAME_MAX = 24 };

typedef struct Field {
  char name[FIELD_NAME_MAX];
  int32_t size; /* bytes of one element */
  bool hashed;
  void **data; /* where the array's address is kept */
} Field;

#endif
