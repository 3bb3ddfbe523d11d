/* The one list of particle fields. Allocation, growth, sort, removal, checkpoint and hash are made from it.
 *
 * X(type, name, hashed, floats, meaning), grouped by the phase that writes them. Methods add fields of their own at run
 * time with particles_add_field and particles_add_floats; these take part in everything alike. What is not known yet is
 * NaN or infinite in built and clear: they do not count as floats. */
#ifndef STATE_FIELDS_H
#define STATE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#define PARTICLE_FIELDS(X)                                                                                             \
  /* commit */                                                                                                         \
  X(float, x, true, 1, "position, relative to the state's origin, m")                                                  \
  X(float, y, true, 1, "")                                                                                             \
  X(float, z, true, 1, "")                                                                                             \
  X(float, low_x, true, 1, "what the float position could not hold: real position = x + low_x")                        \
  X(float, low_y, true, 1, "")                                                                                         \
  X(float, low_z, true, 1, "")                                                                                         \
  /* method: prepare and step */                                                                                       \
  X(float, dx, false, 1, "displacement of the step in progress (afterwards: of the last step), m")                     \
  X(float, dy, false, 1, "")                                                                                           \
  X(float, dz, false, 1, "")                                                                                           \
  X(float, vx, true, 1, "velocity, m/s")                                                                               \
  X(float, vy, true, 1, "")                                                                                            \
  X(float, vz, true, 1, "")                                                                                            \
  /* birth */                                                                                                          \
  X(float, radius, true, 1, "m")                                                                                       \
  X(float, mass, true, 1, "kg")                                                                                        \
  X(uint32_t, id, true, 0, "from 1, never used again")                                                                 \
  X(uint8_t, material, true, 0, "index into the materials")                                                            \
  /* neighbours */                                                                                                     \
  X(float, built_x, false, 0, "position when the neighbour lists were built")                                          \
  X(float, built_y, false, 0, "")                                                                                      \
  X(float, built_z, false, 0, "")                                                                                      \
  X(float, clear, false, 0, "no solid was nearer than this then, m; 0 or less: not known")

enum { FIELDS_MAX = 96, FIELD_NAME_MAX = 24 };

typedef struct Field {
  char name[FIELD_NAME_MAX];
  int32_t size; /* bytes of one element */
  bool hashed;
  bool mirrored;  /* has a copy on a device, where the particles are on one: mirror.h */
  int32_t floats; /* that an element is made of and that are finite between frames; 0: it is something else */
  void **data;    /* where the array's address is kept */
} Field;

#endif
