#include "methods/dem/contact_constants.h"

#include <math.h>

#include "methods/common/cohesion.h"

/* Defaults of a material. Young's modulus is soft, as usual for grains in bulk: under a metre of sand the penetration
 * is below one percent, and steps are some hundred times longer than with that of quartz. */
#define YOUNG 5e7
#define RESTITUTION 0.5
#define ROLLING_FRICTION 0.1
#define SHEAR_DAMPING_SHARE 0.5

/* Radii that bonds may press grains into each other without other load. */
#define BOND_PENETRATION 0.2

enum { RESTITUTION_STEPS = 400, BISECTIONS = 40 };
#define DAMPING_MOST 20.0

/* The unit problem x'' = -x^(3/2) - a x^(1/4) x' from x = 0, x' = 1, by the classical Runge-Kutta rule. It ends when
 * the force would pull. */
static double unit_force(double a, double x, double v) {
  double root = sqrt(x > 0 ? x : 0);
  return -x * root - a * sqrt(root) * v;
}

double dem_restitution(double a) {
  double x = 0, v = 1, dt = 4.0 / RESTITUTION_STEPS;
  for (int k = 0; k < 100 * RESTITUTION_STEPS; k++) {
    double k1 = unit_force(a, x, v), x2 = x + 0.5 * dt * v, v2 = v + 0.5 * dt * k1;
    double k2 = unit_force(a, x2, v2), x3 = x + 0.5 * dt * v2, v3 = v + 0.5 * dt * k2;
    double k3 = unit_force(a, x3, v3), x4 = x + dt * v3, v4 = v + dt * k3;
    double k4 = unit_force(a, x4, v4);
    double next_x = x + dt / 6 * (v + 2 * v2 + 2 * v3 + v4), next_v = v + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    if (next_v < 0 && unit_force(a, next_x, next_v) >= 0) return -next_v;
    if (next_x <= 0) return -next_v;
    x = next_x;
    v = next_v;
  }
  return 0; /* it creeps apart */
}

double dem_damping_for(double restitution) {
  double low = 0, high = DAMPING_MOST;
  if (restitution >= 1) return 0;
  for (int k = 0; k < BISECTIONS; k++) {
    double middle = 0.5 * (low + high);
    if (dem_restitution(middle) > restitution) low = middle;
    else high = middle;
  }
  return 0.5 * (low + high);
}

/* Those found last: a bisection takes a third of a millisecond, and thousands of pairs have few restitutions. */
enum { DAMPINGS_KEPT = 64 };
typedef struct Dampings {
  double restitution[DAMPINGS_KEPT], damping[DAMPINGS_KEPT];
  int64_t found;
} Dampings;

static double damping_for(Dampings *kept, double restitution) {
  for (int64_t k = 0; k < kept->found && k < DAMPINGS_KEPT; k++)
    if (kept->restitution[k] == restitution) return kept->damping[k];
  int64_t at = kept->found++ % DAMPINGS_KEPT;
  kept->restitution[at] = restitution;
  kept->damping[at] = dem_damping_for(restitution);
  return kept->damping[at];
}

/* A material with its defaults. stiffness 0: from Young's modulus. */
typedef struct Grain {
  double stiffness, modulus; /* modulus: E / (1 - nu^2) */
  double shear, shear_ratio;
  double damping, shear_damping; /* < 0: by restitution */
  double restitution, mu_static, mu_kinetic, mu_rolling, tension;
} Grain;

static double known(double value, double otherwise) { return scree_is_auto(value) ? otherwise : value; }

static Grain grain_of(const ScreeMaterialDef *def) {
  double nu = def->poisson;
  return (Grain){.stiffness = known(def->stiffness_n, 0),
                 .modulus = known(def->young, YOUNG) / (1 - nu * nu),
                 .shear = known(def->stiffness_t, -1),
                 .shear_ratio = 2 * (1 - nu) / (2 - nu),
                 .damping = known(def->damping_n, -1),
                 .shear_damping = known(def->damping_t, -1),
                 .restitution = known(def->restitution, RESTITUTION),
                 .mu_static = def->friction_static,
                 .mu_kinetic = fmin(def->friction_kinetic, def->friction_static),
                 .mu_rolling = known(def->rolling_friction, ROLLING_FRICTION),
                 .tension = cohesion_tension(def)};
}

/* Two springs in series, times two: the constant of two equal ones is their own. */
static double in_series(double a, double b) { return a + b > 0 ? 2 * a * b / (a + b) : 0; }
static double mean(double a, double b) { return sqrt(a * b); }

/* Each material brings half of a contact's compliance and damping; friction, restitution and tension are geometric
 * means. Where one material gives a constant and the other not, that constant is the contact's. */
static DemConstants combine(const Grain *a, const Grain *b, Dampings *kept) {
  DemConstants constants = {0};
  bool fixed = a->stiffness > 0 || b->stiffness > 0;
  double stiffness =
      a->stiffness > 0 && b->stiffness > 0 ? in_series(a->stiffness, b->stiffness) : fmax(a->stiffness, b->stiffness);
  constants.stiffness = (float)(fixed ? stiffness : 4.0 / 3 * 0.5 * in_series(a->modulus, b->modulus));
  constants.fixed = fixed ? 1 : 0;
  constants.rooted = fixed ? 0 : 1;
  bool printed = a->damping >= 0 || b->damping >= 0;
  constants.damping_mass = (float)(printed ? 0.5 * (fmax(a->damping, 0) + fmax(b->damping, 0)) : 0);
  if (printed && (a->damping < 0 || b->damping < 0)) constants.damping_mass *= 2;
  constants.damping_root = (float)(printed ? 0 : damping_for(kept, mean(a->restitution, b->restitution)));
  if (a->shear >= 0 || b->shear >= 0)
    constants.shear_fixed =
        (float)(a->shear >= 0 && b->shear >= 0 ? in_series(a->shear, b->shear) : fmax(a->shear, b->shear));
  else
    constants.shear_ratio =
        (float)(1.5 * in_series(a->shear_ratio, b->shear_ratio)); /* 3/2 k sqrt(h): slope of Hertz */
  constants.opening = constants.shear_ratio > 0 ? 0.5f : 0;
  if (a->shear_damping >= 0 || b->shear_damping >= 0)
    constants.shear_damping_mass =
        (float)(a->shear_damping >= 0 && b->shear_damping >= 0 ? 0.5 * (a->shear_damping + b->shear_damping)
                                                               : fmax(a->shear_damping, b->shear_damping));
  else constants.shear_damping_share = (float)SHEAR_DAMPING_SHARE;
  constants.mu_static = (float)mean(a->mu_static, b->mu_static);
  constants.mu_kinetic = (float)mean(a->mu_kinetic, b->mu_kinetic);
  constants.mu_rolling = (float)mean(a->mu_rolling, b->mu_rolling);
  constants.tension = (float)mean(a->tension, b->tension);
  return constants;
}

/* What meets solids: the friction of the bulk. */
static Grain wall_side_of(const Material *material) {
  Grain side = grain_of(&material->definition);
  side.mu_static = material->wall_static;
  side.mu_kinetic = fmin(material->wall_kinetic, material->wall_static);
  return side;
}

/* A solid counts as the grain's own material, with its own friction and with what it gives itself. Nothing sticks to
 * it. */
static Grain solid_of(const Solid *solid, const Grain *grain) {
  Grain side = *grain;
  side.tension = 0;
  side.mu_static = solid->friction_static;
  side.mu_kinetic = fmin(solid->friction_kinetic, solid->friction_static);
  if (!scree_is_auto(solid->stiffness_n)) {
    /* The paper's own k_n of an object (Section 5.2) is that of the contact, not half of it. */
    side.stiffness = solid->stiffness_n;
  }
  if (!scree_is_auto(solid->restitution)) side.restitution = solid->restitution;
  return side;
}

/* Friction and rolling friction at a solid. */
static void rub_on_solid(const Material *material, const Grain *grain, const Grain *solid, DemConstants *constants) {
  double still = material_on_solid(material, grain->mu_static, solid->mu_static);
  constants->mu_static = (float)still;
  constants->mu_kinetic = (float)material_on_solid(material, grain->mu_kinetic, solid->mu_kinetic);
  if (material->of_angle) constants->mu_rolling = (float)material_rolling_on_solid(material, still);
}

Status dem_constants_create(Core *core, const State *state, DemConstantsTable *constants) {
  const Materials *materials = &state->materials;
  constants->rows = materials->count;
  constants->columns = materials->count + state->solids.count;
  TRY(memory_new(core, &constants->items, (int64_t)constants->rows * constants->columns, "contact constants"));
  Dampings kept = {.found = 0};
  for (int32_t a = 0; a < constants->rows; a++) {
    Grain grain = grain_of(&materials->items[a].definition), at_walls = wall_side_of(&materials->items[a]);
    DemConstants *row = constants->items + (int64_t)a * constants->columns;
    for (int32_t b = 0; b < materials->count; b++) {
      Grain other = grain_of(&materials->items[b].definition);
      row[b] = combine(&grain, &other, &kept);
    }
    for (int32_t b = 0; b < state->solids.count; b++) {
      const Solid *solid = &state->solids.items[b];
      Grain side = solid_of(solid, &at_walls);
      row[materials->count + b] = combine(&at_walls, &side, &kept);
      rub_on_solid(&materials->items[a], &at_walls, &side, &row[materials->count + b]);
      if (!scree_is_auto(solid->stiffness_n)) {
        row[materials->count + b].stiffness = (float)solid->stiffness_n;
        row[materials->count + b].fixed = 1;
        row[materials->count + b].rooted = 0;
      }
    }
  }
  return SCREE_OK;
}

bool dem_constants_bond(const DemConstantsTable *constants) {
  for (int64_t k = 0; k < (int64_t)constants->rows * constants->columns; k++)
    if (constants->items[k].tension > 0) return true;
  return false;
}

Status dem_constants_check(Core *core, const State *state, const DemConstantsTable *constants) {
  double reduced = 0.5 * state->radius;
  for (int32_t a = 0; a < constants->rows; a++) {
    const DemConstants *own = &constants->items[(int64_t)a * constants->columns + a];
    const ScreeMaterialDef *material = &state->materials.items[a].definition;
    double share = dem_hertz(own, reduced) * sqrt(BOND_PENETRATION * state->radius) * BOND_PENETRATION * state->radius /
                   ((double)own->tension * reduced * reduced);
    if (share < 1)
      return fail(core, SCREE_BAD_INPUT,
                  "a cohesion of %g Pa would press grains of '%s' more than %g radii into each other: at most %.3g Pa "
                  "with contacts this soft",
                  material->cohesion, material->name, BOND_PENETRATION, share * material->cohesion);
  }
  return SCREE_OK;
}

bool dem_constants_roll(const DemConstantsTable *constants) {
  for (int64_t k = 0; k < (int64_t)constants->rows * constants->columns; k++)
    if (constants->items[k].mu_rolling > 0) return true;
  return false;
}

void dem_constants_destroy(Core *core, DemConstantsTable *constants) { memory_drop(core, &constants->items); }

double dem_hertz(const DemConstants *constants, double reduced) {
  return (double)constants->stiffness * sqrt((double)constants->fixed + (double)constants->rooted * reduced);
}

double dem_frequency_squared(const DemConstants *constants, double radius, double mass, double share) {
  double reduced = 0.5 * radius, root = sqrt(share * radius);
  double k = dem_hertz(constants, reduced);
  double normal = 1.5 * k * root, shear = (double)constants->shear_fixed + (double)constants->shear_ratio * k * root;
  return fmax(normal, shear) / (0.5 * mass);
}
