/* The contract of a method: a small table of functions over the shared state.
 *
 * A method owns one folder and its private data. It may add particle fields (particles_add_field) and remember what
 * belongs to a contact (common/contact_memory.h). See docs/adding_a_method.md. */
#ifndef METHODS_METHOD_H
#define METHODS_METHOD_H

#include "core/archive.h"
#include "core/profile.h"
#include "core/scratch.h"
#include "scree/definitions.h"
#include "state/state.h"

/* What a method wants to know about its surroundings. */
typedef struct MethodReach {
  float pairs;  /* neighbours nearer than this many sums of radii are listed; 0: none wanted */
  float solids; /* solids nearer than this many radii are listed; 0: none wanted */
  float skin;   /* listed that much farther, in nominal radii; lists are rebuilt when something moved half of it */
  float margin; /* above 0: the method looks at all near solids anew in every step, and solids farther away than this
                   many nominal radii change nothing; they are then not listed but kept up as bits: Contacts.near. It
                   wants no pairs */
  float cell;   /* m: particles are sorted by cells of this side; 0: as wide as pairs reach */
  bool samples; /* wants solids as sample points even where the scene does not ask for them */
} MethodReach;

/* What a particle stands for, and so how fills and emitters make it.
 * Grains: a sphere of the grain density, sampled at random. Parcels: bulk material of volume (2 radius)^3 and the
 * material's bulk density; fills begin on a lattice of that spacing, at rest density whatever `start` says. */
typedef enum Seeding { SEED_GRAINS, SEED_PARCELS } Seeding;

/* What a step is given. */
typedef struct Step {
  Core *core;
  State *state;
  Scratch *scratch; /* leave it as deep as it was */
  Profile *profile;
  double dt;
  bool ends_frame; /* a method without lists then measures the overlap */
} Step;

typedef struct Method {
  ScreeMethodInfo info;
  bool has_overlap; /* particles are spheres that should not overlap: report max_overlap */
  Seeding seeding;
  float parcel_jitter; /* how far, in radii, a parcel of a fill may lie off its lattice point along each axis */
  double cfl;          /* what `auto` means for it: farthest way of a particle in a step, in radii; 0: 1 */
  bool own_cfl;        /* `largest_step` keeps to cfl itself: particles do not move with their own speeds */
  /* Reads its parameters (already range-checked), resolves `auto` ones in `definition`, allocates private data. */
  Status (*create)(Core *core, State *state, ScreeMethodDef *definition, void **data);
  MethodReach (*reach)(const void *data);
  /* The longest step that is stable now; INFINITY when only the CFL rule limits it. */
  double (*largest_step)(const void *data, const State *state);
  /* Writes dx, dy, dz: where particles would go unhindered. Neighbours are searched at x + dx. NULL: no motion. */
  Status (*prepare)(void *data, Step *step);
  /* Writes final dx, dy, dz and vx, vy, vz, and wrenches on solids. The world then commits x += dx. */
  Status (*step)(void *data, Step *step);
  /* Private data that is not in fields, in both directions. NULL: none. */
  Status (*archive)(Core *core, Archive *archive, void *data);
  void (*destroy)(Core *core, void *data);
  /* A body was appended to the table of solids: what has a row for each of them is made anew. NULL: nothing has. */
  Status (*solids_changed)(Core *core, const State *state, void *data);
  /* Pressure of the material at every particle, Pa, as of the last step. Asked between steps, for pictures; changes
   * nothing. NULL: the method knows none. */
  Status (*pressure)(Core *core, const State *state, const void *data, float *pressure);
} Method;

#endif
