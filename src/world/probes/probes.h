/* Kinds of probes from inside. A kind is one file of this folder that defines PROBE_<ID>, and one row of SCREE_PROBES
 * in scree/parameters.h. See docs/adding_a_probe.md. */
#ifndef WORLD_PROBES_PROBES_H
#define WORLD_PROBES_PROBES_H

#include "core/parallel.h"
#include "parameters/table.h"
#include "world/world.h"

/* A probe of a world. What it measures is in `state`. */
struct Probe {
  const ScreeProbeDef *definition;
  ScreeProbeState state;
  char endings[SCREE_PROBE_VALUES_MAX][WORD_MAX]; /* what state.suffixes points to */
  int32_t solid;                                  /* of kinds with the key `target`: its index; -1 otherwise */
  void *data;                                     /* the kind's own, of its size; NULL: none */
};

typedef struct ProbeKind {
  int64_t size; /* of data, which begins as zeros; 0: none */
  /* Makes what else is needed. NULL: nothing is. */
  Status (*create)(ScreeWorld *world, Probe *probe);
  /* In each step, when the displacement is final and before x moves. NULL: nothing. */
  void (*step)(ScreeWorld *world, Probe *probe);
  StateSet step_reads; /* what of the particles it looks at */
  /* At the end of a frame, and once at the start with 0 seconds: writes state.values, which are finite. */
  Status (*frame)(ScreeWorld *world, Probe *probe, double seconds);
  /* What of data is needed beyond a frame, in both directions. NULL: nothing. */
  Status (*archive)(ScreeWorld *world, Probe *probe, Archive *archive);
} ProbeKind;

#define PROBE_DECLARE(id, ...) extern const ProbeKind PROBE_##id;
SCREE_PROBES(PROBE_DECLARE)

/* Sums over all particles; the same for any number of threads. */
double probe_sum(ScreeWorld *world, ParallelSumBody body, void *context);

/* The box of a probe, for sums over the particles in it. */
typedef struct ProbeBox {
  const State *state;
  Vec3 low, high; /* infinite where the scene gives no box */
} ProbeBox;
ProbeBox probe_box(const ScreeWorld *world, const Probe *probe);
static inline bool probe_box_holds(const ProbeBox *box, Vec3 at) {
  return at.x >= box->low.x && at.x < box->high.x && at.y >= box->low.y && at.y < box->high.y && at.z >= box->low.z &&
         at.z < box->high.z;
}

double probe_mass(ScreeWorld *world, const ProbeBox *box); /* kg, of the particles in it */

static inline const Solid *probe_target(const ScreeWorld *world, const Probe *probe) {
  return &world->state.solids.items[probe->solid];
}

#endif
