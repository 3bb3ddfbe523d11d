/* The contact of p2: spring and damper along the normal, Coulomb friction, adhesion (Holz 2014, Section 6).
 *
 * Two solvers of the same contact. Averaging is the paper's: every iteration applies the factors of Eq. 28. Splitting
 * (default) keeps the spring-damper's force f as an unknown of its own and asks for
 *     f + k C + c v = 0   with  lambda = f dt^2,
 * which for one contact is Eq. 21 after the first iteration and after any later one, and for many contacts converges
 * to the forces of implicit Euler, which averaging does not. */
#ifndef METHODS_P2_CONTACTS_H
#define METHODS_P2_CONTACTS_H

#include "methods/common/position.h"
#include "methods/p2/p2_law.h"

/* Contact area (Eq. 36). */
double p2_contact_area(double depth, double smaller_radius);

typedef struct P2Settings {
  PositionSettings position;
  float error_reduction; /* epsilon of Eq. 37 */
  bool ground;           /* it goes by the contact graph's distance to the ground */
  float sleep_speed;     /* m/s; 0: no sleeping */
  float calm_speed;      /* m/s: one that the longest step allows by the CFL rule */
} P2Settings;

/* What a slot has besides PositionSlots. The slot's ln is the sum of press and pull. Contacts that are all rigid have
 * none of it: see P2Contacts. */
#define P2_SLOT_FIELDS(X)                                                                                              \
  X(float, within) /* with a gap of at most this the contact acts: huge where the prediction overlaps */               \
  X(float, spring) /* averaging: k' of Eq. 28; splitting: k dt^2 / (k dt^2 + c dt) */                                  \
  X(float, damper) /* averaging: c' of Eq. 28; splitting: 1 / (k dt^2 + c dt), the contact's compliance */             \
  X(float, cap)    /* adhesion: most that it holds, as a multiplier (Eq. 34, 35); or a bond of cohesive grains */      \
  X(float, grip)   /* what that adds to the limit of friction: the cap; mu times it where a bond shifts the cone */    \
  X(float, pull)   /* adhesion's part of the normal multiplier, between -cap and 0 */

/* One step's contacts; PositionStep.method_contacts points to it. */
typedef struct P2Contacts {
  const P2Settings *settings;
  bool rigid; /* k infinite, no adhesion, forces as unknowns: the projection that pbd iterates, and no fields below */
  float longest; /* m: no contact sends a grain farther in this step */
#define P2_SLOT_MEMBER(type, name) type *name;
  P2_SLOT_FIELDS(P2_SLOT_MEMBER)
#undef P2_SLOT_MEMBER
  float *roll[3]; /* sticky contacts: how far the two go by turning as one, which is neither sliding nor opening; or
                     NULL */
  float *tilt;    /* error reduction: what Eq. 37 takes from 1; or NULL */
} P2Contacts;

/* A slot's numbers before an iteration. */
typedef struct P2Slot {
  float within, spring, damper, cap, grip, pull;
} P2Slot;
static inline P2Slot p2_slot(const P2Contacts *contacts, int64_t slot) {
  if (contacts->rigid) return (P2Slot){.within = P2_EVER, .spring = 1};
  return (P2Slot){contacts->within[slot], contacts->spring[slot], contacts->damper[slot],
                  contacts->cap[slot],    contacts->grip[slot],   contacts->pull[slot]};
}

/* Gap between the slot's partners after the prediction. */
float p2_predicted_gap(const PositionStep *work, int64_t i, int64_t slot);

/* Whether a material's contacts are not rigid. */
bool p2_any_springs(const Materials *materials);
/* Whether contacts need nothing but what pbd iterates. */
bool p2_all_rigid(const Materials *materials, const P2Settings *settings);
/* Fills the contacts of the slots that position_begin laid out; in scratch. */
Status p2_contacts_create(PositionStep *work, const P2Settings *settings, P2Contacts *contacts);

/* Moves overlapping grains whose contact is rigid apart without giving them speed (pbd's stabilisation). Overlap of a
 * spring is its load and stays, but for what lies deeper than the core of a spring that we made up. Only where forces
 * are remembered: the paper's way has nothing but overlap to tell a contact what it carries. */
bool p2_parts(const PositionStep *work);
Status p2_part(PositionStep *work);

/* Finds out how sticky lumps turn; before the iterations. */
Status p2_turn(PositionStep *work);

/* Finds out who of each pair moves more (Section 7); before the iterations. */
Status p2_reduce_errors(PositionStep *work);

/* Fields of the particles: velocity of what each grain rests on, and what sleeping holds back of its own, m/s. */
typedef struct P2Rest {
  float *x, *y, *z;
  float *held_x, *held_y, *held_z;
} P2Rest;
/* Grains at rest take exactly the motion of what they rest on. After the iterations. */
Status p2_sleep(PositionStep *work, const P2Settings *settings, P2Rest *rest);

typedef struct P2Device P2Device;

/* What METHOD_P2 keeps between steps. */
typedef struct P2 {
  P2Settings settings;
  PositionSearch search;
  ContactMemory memory;
  PositionSpin spin;
  P2Rest rest;
  double last_h;
  P2Device *device; /* NULL: it runs on the CPU */
} P2;

/* Multipliers are displacements: half the step, a quarter of them. `h`: the substep that begins. */
float p2_history_scale(const P2 *p2, double h);
/* How far the scene and its solids let a grain go in the step, m. */
double p2_way_of_solids(const Step *step, const P2Settings *settings);

/* A step but for its iterations; another solver of the same contacts may stand between. */
Status p2_begin(P2 *p2, Step *step, PositionStep *work, P2Contacts *contacts);
Status p2_end(P2 *p2, PositionStep *work);

#endif
