/* The contract of a method: a small table of functions over the shared state.
 *
 * A method owns one folder and its private data. It may add particle fields (particles_add_field) and remember what
 * belongs to a contact (common/contact_memory.h). See docs/adding_a_method.md. */
#ifndef METHODS_METHOD_H
#define METHODS_METHOD_H

#include <math.h>

#include "core/archive.h"
#include "core/profile.h"
#include "core/scratch.h"
#include "methods/calibration.h"
#include "scree/definitions.h"
#include "state/state.h"

/* What a particle is, and so how fills and emitters make it.
 * Grains: spheres of the grain density, sampled at random; max_overlap is reported, and terrain takes and gives them.
 * Points: made like grains, but they meet nothing. Parcels: bulk material of volume (2 radius)^3 and the material's
 * bulk density; fills begin on a lattice of that spacing, at rest density whatever `start` says. */
typedef enum ParticleKind { PARTICLE_GRAIN, PARTICLE_POINT, PARTICLE_PARCEL } ParticleKind;

/* How the world tells a method what is near each particle. */
typedef enum NeighborUse {
  NEIGHBORS_NONE,    /* not at all; particles are sorted once a frame, for memory's sake */
  NEIGHBORS_LISTED,  /* lists of pairs, samples and solids (Contacts), rebuilt when something has moved half the skin
                        and at the first step of a frame */
  NEIGHBORS_SEARCHED /* the method finds its pairs itself, looks at all near solids anew in every step and measures
                        the overlap when Step.measure_overlap asks for it. The near solids are bits (Contacts.near),
                        kept up for particles that have moved on */
} NeighborUse;

/* Who keeps to method.cfl. */
typedef enum CflRule {
  CFL_BY_WORLD, /* the world, from the speeds of the particles */
  CFL_BY_METHOD /* `largest_step`: particles do not move with their own speeds */
} CflRule;

/* What a method needs from the world; begin with method_needs_default(). */
typedef struct MethodNeeds {
  NeighborUse neighbors;
  float pairs;  /* listed: neighbours nearer than this many sums of radii */
  float solids; /* listed, searched: solids nearer than this many radii */
  float skin;   /* how much farther both go, in nominal radii */
  float margin; /* searched: solids farther away than this many nominal radii change nothing; below skin */
  double cell;  /* m: particles are sorted by cells of this side; NaN: as wide as pairs reach */

  double distance_cell; /* side of the cells in which distances to meshes are cached, in radii */
  double distance_band; /* how far from a mesh they are, in radii; lists with their skin are covered in any case */

  CflRule cfl;
  SolidCoupling coupling;
  double solid_displacement; /* how far the surface of a solid may go in a step, in radii */
  double least_body;         /* kg: a free body that weighs less is taken to weigh this */

  float parcel_jitter; /* how far, in radii, a parcel of a fill may lie off its lattice point along each axis */
} MethodNeeds;

/* Nothing about the surroundings. Cells of half a radius keep the error of a curved wall far below what a grain
 * feels. */
static inline MethodNeeds method_needs_default(void) {
  return (MethodNeeds){.neighbors = NEIGHBORS_NONE,
                       .skin = 1,
                       .cell = NAN,
                       .distance_cell = 0.5,
                       .distance_band = 3,
                       .cfl = CFL_BY_WORLD,
                       .coupling = COUPLING_EXPLICIT,
                       .solid_displacement = SURFACE_DISPLACEMENT};
}

/* What `auto` means for method.cfl, unless `create` has resolved it: farthest displacement of a particle in a step, in
 * radii. */
#define METHOD_CFL 1.0

/* What a step is given; prepare writes `farthest`. */
typedef struct Step {
  Core *core;
  State *state;
  Scratch *scratch; /* leave it as deep as it was */
  Profile *profile;
  double dt;
  double uncut;         /* dt without the CFL rule and the bodies' */
  bool measure_overlap; /* NEIGHBORS_SEARCHED, last step of a frame: Contacts.overlap is wanted */
  double farthest; /* m, written by prepare where it knows: no particle goes farther in this step; INFINITY if not */
} Step;

/* What the table of a method names as its device form: nothing where the library is built without devices, so that the
 * linker leaves out what would never run. */
#ifdef SCREE_HAVE_OPENCL
#define METHOD_DEVICE(form) (form)
#else
#define METHOD_DEVICE(form) (0 ? (form) : NULL)
#endif

/* NEIGHBORS_LISTED: what a method on a device wants of the lists on the host, too. */
typedef enum ListsHere {
  LISTS_NOT_HERE,
  LISTS_SOLIDS_HERE, /* which solids and samples are near a particle */
  LISTS_ALL_HERE     /* the host makes the lists */
} ListsHere;

enum { METHOD_READS_MAX = 4 };

/* A method on a device, where State.mirror has the fields of the particles. It gives the bits of the CPU. */
typedef struct MethodDevice {
  /* What the scene has that the method cannot do there, as a noun; NULL: nothing. Asked before every step: bodies are
   * added and materials changed while a world runs. What it names makes all of the method run on the CPU. Without it
   * there is nothing. */
  const char *(*missing)(const void *data, const State *state);
  /* Kernels and private data. State.mirror is there. */
  Status (*open)(Core *core, State *state, void *data);
  /* As those of the method; they read and write the device's copies. */
  Status (*prepare)(void *data, Step *step);
  Status (*step)(void *data, Step *step);
  /* NEIGHBORS_LISTED: what prepare has counted in State.mirror's words, from MIRROR_METHOD_WORD on; lists are about to
   * be made anew, and `needs` is asked for their skin. */
  void (*surveyed)(void *data, const int32_t *words);
  /* The same: asked whenever lists are about to be made anew. NULL: nothing. */
  ListsHere (*lists)(const void *data, const State *state);
  /* What comes down with those counters: reads into memory of its own, METHOD_READS_MAX at most; how many. NULL: none.
   */
  int (*wanted)(void *data, struct DeviceRead *reads);
  /* What all of the step has counted there, and the square of the largest speed, before wrenches are used. NULL: it
   * does not count. */
  void (*counted)(void *data, Step *step, const int32_t *words, double fastest);
  /* Whether largest_step looks at particles now: they come to the host before it. NULL: it never does. */
  bool (*looks)(const void *data, const State *state);
  /* Private data comes to the host, for a checkpoint, a picture or the CPU; or the host's counts from now on. */
  Status (*fetch)(Core *core, void *data);
  void (*forget)(void *data);
  /* Gives back what `open` has taken: the method goes on on the CPU. */
  void (*close)(Core *core, void *data);
} MethodDevice;

typedef struct Method {
  ScreeMethodInfo info;
  ParticleKind particle;
  /* What its contacts are for sand of an angle. NULL: it has no contacts whose friction is not the bulk's. */
  const Calibration *(*calibration)(const ScreeMethodDef *definition);
  /* Reads its parameters (already range-checked), resolves `auto` ones in `definition`, allocates private data. */
  Status (*create)(Core *core, State *state, ScreeMethodDef *definition, void **data);
  /* Read after create and again in every step: reach and skin may change in the course of a run. */
  MethodNeeds (*needs)(const void *data);
  /* The longest step that is stable now; INFINITY when only the CFL rule limits it. */
  double (*largest_step)(const void *data, const State *state);
  /* Writes dx, dy, dz: where particles would go unhindered. Neighbours are searched at x + dx. NULL: no motion. */
  Status (*prepare)(void *data, Step *step);
  /* Writes final dx, dy, dz and vx, vy, vz, and wrenches on solids. The world then commits x += dx. */
  Status (*step)(void *data, Step *step);
  /* Private data that is not in fields, in both directions. NULL: none. */
  Status (*archive)(Core *core, Archive *archive, void *data);
  /* A checkpoint was loaded, state and private data. Refuses (archive_refuse) what a step could not bear: every index
   * and number of this method's own data and fields, but for particles_add_floats's. NULL: nothing to look at. */
  Status (*check)(Core *core, const Archive *archive, const State *state, const void *data);
  void (*destroy)(Core *core, void *data);
  /* A body was appended to the table of solids: what has a row for each of them is made anew. NULL: nothing has. */
  Status (*solids_changed)(Core *core, const State *state, void *data);
  /* Friction, cohesion or rolling friction of a material changed. NULL: nothing keeps what follows from them. */
  Status (*materials_changed)(Core *core, const State *state, void *data);
  /* Pressure of the material at every particle, Pa, as of the last step. Asked between steps, for pictures; changes
   * nothing. NULL: the method knows none. */
  Status (*pressure)(Core *core, const State *state, const void *data, float *pressure);
  const MethodDevice *device; /* NULL: it has no device form */
} Method;

#endif
