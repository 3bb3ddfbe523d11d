/* What a contact of p2 is made of, once a step: spring, damper, adhesion (Holz 2014, Eq. 21 and 34 to 36), bonds of
 * cohesive grains, and what is left of its remembered forces. One text for CPU and devices, in double: the passes get
 * floats. */
#ifndef METHODS_P2_P2_SLOT_LAW_H
#define METHODS_P2_P2_SLOT_LAW_H

#include "core/vec_law.h"
#include "methods/p2/p2_law.h"

/* A stiffness left to us where there is adhesion: the grain's own weight presses its contact in by this share of the
 * radius. A rigid contact has no area, so nothing would stick. */
#define P2_ADHESIVE_SINK 0.02

/* Such a spring is soft, and adhesion keeps a contact as deep as something once pressed it: under a tool grains would
 * end inside each other. Deeper than this share of the smaller radius they are parted like rigid ones. A stiffness that
 * the scene gives is left alone. */
#define P2_ADHESIVE_CORE 0.25

/* A spring that is stiffer than this many masses per squared step begins each step without remembered forces: few
 * iterations do not undo a wrong guess in it, and the heap boils. */
#define P2_FOLLOWED 4.0

#define P2_BORNE_EVER 1e30f /* overlap that is never parted */
#define P2_RIGID 1e300      /* stiffness from here on is infinite */

/* Of a material; NaN: left to us. */
typedef struct P2Material {
  double stiffness, damping, adhesion;
} P2Material;

VEC_INLINE int p2_is_auto(double value) { return value != value; }
VEC_INLINE int p2_is_rigid(double stiffness) { return stiffness > P2_RIGID; }
VEC_INLINE double p2_lesser(double a, double b) { return a < b ? a : b; }

/* Two of something in series, each worth twice the contact's share: equal ones give their own value. */
VEC_INLINE double p2_in_series(double a, double b) {
  if (p2_is_rigid(a)) return p2_is_rigid(b) ? a : 2 * b;
  if (p2_is_rigid(b)) return 2 * a;
  return a + b > 0 ? 2 * a * b / (a + b) : 0;
}

/* `rigid` is what an infinite stiffness is; `gravity` is what weighs in the step, m/s2. */
VEC_INLINE double p2_stiffness(P2Material material, double mass, double radius, double gravity, double rigid) {
  if (!p2_is_auto(material.stiffness)) return material.stiffness;
  if (!(material.adhesion > 0)) return rigid;
  const double weight = mass * gravity;
  return weight / (P2_ADHESIVE_SINK * radius);
}

/* Critical, and more where the step is too long to follow the spring: otherwise it throws the grain back out. */
VEC_INLINE double p2_critical(double stiffness, double mass, double dt) {
  const double critical = 2 * VEC_SQRT(stiffness * mass);
  return critical + 2 * stiffness * dt;
}

/* Contact area (Eq. 36). */
VEC_INLINE double p2_area(double depth, double smaller_radius) {
  const double z = p2_lesser(depth > 0 ? depth : 0, smaller_radius);
  const double open = z / smaller_radius - 1;
  return 3.14159265358979323846 * smaller_radius * smaller_radius * (1 - open * open);
}

/* One side of a contact: a grain. Of a solid the first side's own numbers count, and its weight. */
typedef struct P2Side {
  P2Material material;
  double mass, radius, weight; /* the last: inverse, split among the contacts of a body */
} P2Side;

/* What the two are to each other. */
typedef struct P2Meeting {
  int pair, mixed;         /* two grains; of two materials */
  float gap, predicted;    /* at the step's start; after the prediction */
  float tension, friction; /* of the bond, times h^2; coefficient of sticking */
  int averaging;           /* as in the paper */
  double dt, gravity, rigid;
} P2Meeting;

/* A contact's numbers: see P2_SLOT_FIELDS. */
typedef struct P2Made {
  double stiffness, damping, mass; /* of the contact; the reduced one */
  float within, spring, damper, cap, grip, pull, soft;
  float normal; /* what is remembered along it */
  int forgets;  /* all that is remembered */
} P2Made;

/* With the force as the unknown: see p2_normal_split. */
VEC_INLINE P2Made p2_split_spring(P2Made made, double dt) {
  if (p2_is_rigid(made.stiffness)) {
    made.within = P2_EVER; /* it may only push, so it needs no leave to */
    made.spring = 1;
    made.damper = 0;
    return made;
  }
  const double k = made.stiffness * dt * dt, c = made.damping * dt;
  if (k > P2_FOLLOWED * made.mass) made.forgets = 1;
  if (!(k + c > 0)) made.within = -P2_EVER; /* neither spring nor damper: no contact */
  made.spring = k + c > 0 ? (float)(k / (k + c)) : 0;
  made.damper = k + c > 0 ? (float)(1 / (k + c)) : 1;
  return made;
}

/* All but the spring and damper of the paper's way, where `normal` is what is remembered along the contact. */
VEC_INLINE P2Made p2_made(P2Meeting meets, P2Side own, P2Side other, float normal) {
  P2Made made;
  double stiffness = p2_stiffness(own.material, own.mass, own.radius, meets.gravity, meets.rigid);
  double damping = own.material.damping, adhesion = own.material.adhesion, smaller = own.radius;
  if (meets.pair) {
    stiffness =
        p2_in_series(stiffness, p2_stiffness(other.material, other.mass, other.radius, meets.gravity, meets.rigid));
    if (meets.mixed) {
      damping = p2_in_series(damping, other.material.damping);
      adhesion = VEC_SQRT(adhesion * other.material.adhesion);
    }
    smaller = p2_lesser(smaller, other.radius);
  }
  made.stiffness = stiffness;
  made.mass = 1 / (own.weight + other.weight);
  if (p2_is_auto(damping)) damping = p2_is_rigid(stiffness) ? 0 : p2_critical(stiffness, made.mass, meets.dt);
  made.damping = damping;
  made.soft = P2_BORNE_EVER;
  if (p2_is_auto(own.material.stiffness)) made.soft = (float)(P2_ADHESIVE_CORE * smaller);
  if (p2_is_rigid(stiffness)) made.soft = 0;
  const double area = adhesion > 0 ? p2_area(-(double)meets.gap, smaller) : 0;
  made.cap = made.grip = (float)(adhesion * area * meets.dt * meets.dt);
  if (meets.tension > 0) {
    PositionMultipliers last;
    last.normal = normal;
    last.friction = vec_zero();
    made.cap = position_bond(last, meets.gap, meets.tension, (float)own.radius, (float)other.radius);
    made.grip = meets.friction * made.cap;
  }
  /* What is remembered of a contact that pulled is adhesion's, as far as the contact can still bear it. */
  made.normal = normal < -made.cap ? -made.cap : normal;
  made.pull = made.normal < 0 ? made.normal : 0;
  made.forgets = 0;
  /* The paper decides at the prediction what acts, once a step. In substeps a contact acts from the first one on that
   * would overlap without it: before that its damper must not push. One that pressed in the last step goes on: a
   * prediction that opens it by a hair must not cost it its remembered forces. Where it really opens, spring and damper
   * both ask for tension and get none. */
  const int predicted = meets.averaging && meets.predicted <= 0;
  made.within = predicted || made.cap > 0 || made.normal > 0 ? P2_EVER : 0;
  made.spring = made.damper = 0;
  return made;
}

/* Whether it acts or is likely to join: all rigid ones count, as in pbd. */
VEC_INLINE int p2_is_likely(P2Made made, float predicted, float nominal_radius) {
  return p2_is_rigid(made.stiffness) ||
         (predicted < P2_LIKELY_GAP * nominal_radius && made.within >= (predicted <= 0 ? 0 : P2_EVER));
}

/* ---- error reduction by the distance to the ground ---- */

#define P2_UPRIGHT 0.5f /* a contact rests on its partner when its normal is within 60 degrees of upright */

/* Steps to the ground of two grains; 0: nothing connects them with it. More than a step: they do not touch yet. */
VEC_INLINE float p2_level_tilt(int own, int other) {
  const int below = other - own;
  if (own == 0 || other == 0) return 0;
  return (float)(below > 1 ? 1 : below < -1 ? -1 : below);
}

/* ---- how far a contact may send a grain ----
 *
 * Contacts that cannot all be met (a grain crushed between a wall and a tool that nothing stops) push without end. No
 * honest one makes a grain faster than the fastest grain, `square` being that of its displacement, or than `way`, which
 * the solids have (a springy contact may throw a grain at twice the tool's speed). */
#define P2_LIMIT_ROUNDING 1e-5 /* of a displacement that is summed over substeps */
VEC_INLINE float p2_longest(double way, float square) {
  const double fastest = VEC_SQRT((double)square) * (1 + P2_LIMIT_ROUNDING);
  return (float)(fastest > way ? fastest : way);
}

#endif
