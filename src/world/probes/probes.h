/* Kinds of probes from inside. A kind is one file of this folder that defines PROBE_<ID>, and one row of SCREE_PROBES
 * in scree/parameters.h. See docs/adding_a_probe.md. */
#ifndef WORLD_PROBES_PROBES_H
#define WORLD_PROBES_PROBES_H

#include "core/parallel.h"
#include "core/vec.h"
#include "parameters/table.h"
#include "world/probes_shared.h"
#include "world/world.h"

enum { PROBE_TOTALS = 3 };

/* A probe of a world. What it measures is in `state`. */
struct Probe {
  const ScreeProbeDef *definition;
  ScreeProbeState state;
  char endings[SCREE_PROBE_VALUES_MAX][WORD_MAX]; /* what state.suffixes points to */
  int32_t solid;                                  /* of kinds with the key `target`: its index; -1 otherwise */
  void *data;                                     /* the kind's own, of its size; NULL: none */
  double totals[PROBE_TOTALS];                    /* what the kind has asked for, summed up */
};

typedef struct ProbeKind {
  int64_t size; /* of data, which begins as zeros; 0: none */
  /* Makes what else is needed. NULL: nothing is. */
  Status (*create)(ScreeWorld *world, Probe *probe);
  /* In each step, after totals have been made: when the displacement is final and before x moves. NULL: nothing. */
  void (*step)(ScreeWorld *world, Probe *probe);
  /* What is to be summed up over all particles before `step`, or, where there is none, before `frame`: sets what
   * differs in these, which begin with what holds for all, and returns how many. Particles on a device are summed up
   * there. */
  int (*totals)(const ScreeWorld *world, const Probe *probe, ProbeTotal totals[PROBE_TOTALS]);
  bool looks; /* `frame` looks at places, speeds or masses of particles besides */
  /* At the end of a frame, and once at the start with 0 seconds: writes state.values, which are finite. */
  Status (*frame)(ScreeWorld *world, Probe *probe, double seconds);
  /* What of data is needed beyond a frame, in both directions. NULL: nothing. */
  Status (*archive)(ScreeWorld *world, Probe *probe, Archive *archive);
} ProbeKind;

#define PROBE_DECLARE(id, ...) extern const ProbeKind PROBE_##id;
SCREE_PROBES(PROBE_DECLARE)

const ProbeKind *probe_kind(const Probe *probe);

/* totals.c. *read: what is to come down before probes_totals_end; 0 bytes: nothing. */
Status probes_totals_begin(ScreeWorld *world, bool in_steps, DeviceRead *read);
void probes_totals_end(ScreeWorld *world, bool in_steps);

/* Sums over all particles; the same for any number of threads. */
double probe_sum(ScreeWorld *world, ParallelSumBody body, void *context);

/* The box of a probe, for sums over the particles in it. */
typedef struct ProbeBox {
  const State *state;
  Vec3 low, high; /* infinite where the scene gives no box */
} ProbeBox;
ProbeBox probe_box(const ScreeWorld *world, const Probe *probe);
static inline bool probe_box_holds(const ProbeBox *box, Vec3 at) { return total_holds(box->low, box->high, at); }

double probe_mass(ScreeWorld *world, const ProbeBox *box); /* kg, of the particles in it */

static inline const Solid *probe_target(const ScreeWorld *world, const Probe *probe) {
  return &world->state.solids.items[probe->solid];
}

#endif
