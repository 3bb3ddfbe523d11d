/* The contacts of a step: factors, adhesion and the decision what acts, once before the iterations. */
#define LANE_SCALAR /* slots are looked at one by one */
#include "methods/p2/contacts.h"

#include <math.h>

#include "methods/common/position_law.h"

enum { CONTACTS_CHUNK = 64 };

/* A stiffness left to us where there is adhesion: the grain's own weight presses its contact in by this share of the
 * radius. A rigid contact has no area, so nothing would stick. */
#define ADHESIVE_SINK 0.02

/* Such a spring is soft, and adhesion keeps a contact as deep as something once pressed it: under a tool grains would
 * end inside each other. Deeper than this share of the smaller radius they are parted like rigid ones. A stiffness that
 * the scene gives is left alone. */
#define ADHESIVE_CORE 0.25

/* A spring that is stiffer than this many masses per squared step begins each step without remembered forces: few
 * iterations do not undo a wrong guess in it, and the heap boils. */
#define FOLLOWED 4.0

double p2_root(double x, int n) {
  if (!(x > 0) || n <= 1) return x > 0 ? x : 0;
  if (x >= 1) return 1;
  /* Newton from above falls monotonically: about -log x linear steps, then a few quadratic ones. */
  double y = 1;
  for (int k = 0; k < 1000; k++) {
    double power = 1, base = y;
    for (int rest = n - 1; rest > 0; rest >>= 1, base *= base)
      if (rest & 1) power *= base;
    double next = power > 0 ? y - (y - x / power) / n : y * (1 - 1.0 / n);
    if (!(next < y)) break;
    y = next;
  }
  return y;
}

P2Factors p2_factors(double stiffness, double damping, double mass, double dt, int iterations) {
  if (isinf(stiffness)) return (P2Factors){1, 0};
  double spring = dt * dt * stiffness / mass, damper = dt * damping / mass;
  if (!(spring + damper > 0)) return (P2Factors){0, 0};
  if (isinf(damper)) return (P2Factors){0, 1};
  double whole = 1 + spring + damper; /* Eq. 21 */
  double c = damper / whole, alpha = 1 / whole;
  double root = p2_root(alpha, iterations);
  double part = (1 - root) / (1 - alpha); /* Eq. 28 */
  return (P2Factors){1 - c * part - root, c * part};
}

double p2_contact_area(double depth, double smaller_radius) {
  double z = fmin(fmax(depth, 0), smaller_radius);
  double open = z / smaller_radius - 1;
  return 3.14159265358979323846 * smaller_radius * smaller_radius * (1 - open * open);
}

/* Two of something in series, each worth twice the contact's share: equal ones give their own value. */
static double in_series(double a, double b) {
  if (isinf(a)) return isinf(b) ? a : 2 * b;
  if (isinf(b)) return 2 * a;
  return a + b > 0 ? 2 * a * b / (a + b) : 0;
}

/* One slot's numbers, and the last factors: neighbours mostly have the same masses. */
typedef struct Maker {
  const PositionStep *work;
  P2Contacts *contacts;
  double stiffness, damping, mass; /* what `factors` are of */
  P2Factors factors;
} Maker;

static double stiffness_of(const Maker *maker, const ScreeMaterialDef *material, int64_t i) {
  if (!scree_is_auto(material->stiffness)) return material->stiffness;
  if (!(material->adhesion > 0)) return INFINITY;
  const State *state = maker->work->step->state;
  const Particles *p = &state->particles;
  double weight = (double)p->mass[i] * fmax(vec3_length(state->gravity), 1);
  return weight / (ADHESIVE_SINK * (double)p->radius[i]);
}

/* Critical, and more where the step is too long to follow the spring: otherwise it throws the grain back out. */
static double damping_of(double stiffness, double mass, double dt) {
  double critical = 2 * sqrt(stiffness * mass);
  return critical + 2 * stiffness * dt;
}

static void set_factors(Maker *maker, int64_t slot, double stiffness, double damping, double mass) {
  P2Contacts *contacts = maker->contacts;
  const PositionSlots *s = &maker->work->layout.slots;
  double dt = (double)maker->work->h;
  if (isnan(damping)) damping = isinf(stiffness) ? 0 : damping_of(stiffness, mass, dt);
  if (maker->work->settings->averaging) {
    if (stiffness != maker->stiffness || damping != maker->damping || mass != maker->mass) {
      maker->factors = p2_factors(stiffness, damping, mass, dt, maker->work->settings->iterations);
      maker->stiffness = stiffness;
      maker->damping = damping;
      maker->mass = mass;
    }
    contacts->spring[slot] = (float)maker->factors.spring;
    contacts->damper[slot] = (float)maker->factors.damper;
    if (!(maker->factors.spring + maker->factors.damper > 0)) contacts->within[slot] = -P2_EVER;
    return;
  }
  if (isinf(stiffness)) {
    contacts->within[slot] = P2_EVER; /* it may only push, so it needs no leave to */
    contacts->spring[slot] = 1;
    contacts->damper[slot] = 0;
    return;
  }
  double k = stiffness * dt * dt, c = damping * dt;
  if (k > FOLLOWED * mass) s->ln[slot] = s->ltx[slot] = s->lty[slot] = s->ltz[slot] = 0;
  if (!(k + c > 0)) contacts->within[slot] = -P2_EVER; /* neither spring nor damper: no contact */
  contacts->spring[slot] = k + c > 0 ? (float)(k / (k + c)) : 0;
  contacts->damper[slot] = k + c > 0 ? (float)(1 / (k + c)) : 1;
}

float p2_predicted_gap(const PositionStep *work, int64_t i, int64_t slot) {
  const PositionSlots *s = &work->layout.slots;
  const float *own = work->rows.now[i], *other = work->rows.now[s->partner[slot]];
  float approach =
      (own[0] - other[0]) * s->nx[slot] + (own[1] - other[1]) * s->ny[slot] + (own[2] - other[2]) * s->nz[slot];
  return s->gap[slot] + (float)work->substeps * approach;
}

/* Fills a slot; whether the contact acts or is likely to join. */
static bool make_slot(Maker *maker, int64_t i, int64_t slot) {
  const PositionStep *work = maker->work;
  P2Contacts *contacts = maker->contacts;
  const PositionSlots *s = &work->layout.slots;
  const State *state = work->step->state;
  const Particles *p = &state->particles;
  const ScreeMaterialDef *own = &state->materials.items[p->material[i]].definition;
  int32_t j = s->partner[slot];
  double stiffness = stiffness_of(maker, own, i), damping = own->damping, adhesion = own->adhesion;
  double smaller = (double)p->radius[i], weight = (double)work->rows.w[i];
  if (j < work->padded) {
    const ScreeMaterialDef *other = &state->materials.items[p->material[j]].definition;
    stiffness = in_series(stiffness, stiffness_of(maker, other, j));
    if (own != other) {
      damping = in_series(damping, other->damping); /* NaN, critical, when either is */
      adhesion = sqrt(adhesion * other->adhesion);
    }
    smaller = fmin(smaller, (double)p->radius[j]);
    weight += (double)work->rows.w[j];
  } else {
    const BoundaryContact *contact = &work->layout.boundary[j - work->layout.boundary_row];
    int64_t shared = work->settings->averaging ? 1 : atomic_load(&work->bodies.items[contact->solid].boundary);
    weight += (double)work->rows.now[j][3] / (double)(shared > 0 ? shared : 1);
  }
  s->soft[slot] = isinf(stiffness)                ? 0
                  : scree_is_auto(own->stiffness) ? (float)(ADHESIVE_CORE * smaller)
                                                  : POSITION_FAR;
  double area = adhesion > 0 ? p2_contact_area(-(double)s->gap[slot], smaller) : 0;
  float gap = p2_predicted_gap(work, i, slot);
  contacts->cap[slot] = contacts->grip[slot] = (float)(adhesion * area * (double)work->h * (double)work->h);
  float tension = position_of_kind(work, work->layout.tension, slot);
  if (tension > 0) {
    PositionMultipliers last = {.normal = s->ln[slot]};
    contacts->cap[slot] = position_bond(last, s->gap[slot], tension, p->radius[i], p->radius[j]);
    contacts->grip[slot] = position_friction(work, slot)[0] * contacts->cap[slot];
  }
  /* What is remembered of a contact that pulled is adhesion's, as far as the contact can still bear it. */
  s->ln[slot] = fmaxf(s->ln[slot], -contacts->cap[slot]);
  contacts->pull[slot] = fminf(s->ln[slot], 0);
  /* The paper decides at the prediction what acts, once a step. In substeps a contact acts from the first one on that
   * would overlap without it: before that its damper must not push. One that pressed in the last step goes on: a
   * prediction that opens it by a hair must not cost it its remembered forces. Where it really opens, spring and damper
   * both ask for tension and get none. */
  bool predicted = work->settings->averaging && gap <= 0;
  contacts->within[slot] = predicted || contacts->cap[slot] > 0 || s->ln[slot] > 0 ? P2_EVER : 0;
  set_factors(maker, slot, stiffness, damping, 1 / weight);
  /* All rigid ones count, as in pbd. */
  return isinf(stiffness) ||
         (gap < P2_LIKELY_GAP * (float)state->radius && contacts->within[slot] >= (gap <= 0 ? 0 : P2_EVER));
}

/* An unused lane never acts. */
static void clear_slot(const PositionStep *work, int64_t slot) {
  P2Contacts *contacts = work->method_contacts;
  contacts->within[slot] = -P2_EVER;
  contacts->spring[slot] = contacts->cap[slot] = contacts->grip[slot] = contacts->pull[slot] =
      work->layout.slots.soft[slot] = 0;
  contacts->damper[slot] = 1;
}

/* The contacts of a lane that act or are likely to join: its mass is split among them alone. */
static void make_lane(Maker *maker, int64_t slice, int lane) {
  const PositionStep *work = maker->work;
  const PositionSlots *slots = &work->layout.slots;
  const float relaxation = work->settings->relaxation;
  int64_t i = slots->grain[slice * SLICE + lane];
  int all = 0;
  for (int batch = 0; batch < POSITION_BATCHES; batch++) {
    int likely = 0;
    int64_t end = position_rows_begin(slots, slice, batch + 1) * SLICE;
    for (int64_t slot = position_rows_begin(slots, slice, batch) * SLICE + lane; slot < end; slot += SLICE) {
      if (position_slot_used(slots, i, slot)) likely += make_slot(maker, i, slot);
      else clear_slot(work, slot);
    }
    all += likely;
    if (i < work->count)
      work->rows.lanes.split[batch][slice * SLICE + lane] =
          work->rows.w[i] * fmaxf((float)likely / position_relaxation(work, batch), 1);
  }
  if (i >= work->count) return;
  work->rows.last[i][3] = work->rows.w[i] * fmaxf((float)all / relaxation, 1);
  if (!work->settings->averaging) work->rows.now[i][3] = work->rows.lanes.split[0][slice * SLICE + lane];
}

static void contacts_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PositionStep *work = context;
  Maker maker = {.work = work, .contacts = work->method_contacts, .mass = -1};
  for (int64_t s = b; s < e; s++)
    for (int lane = 0; lane < SLICE; lane++) make_lane(&maker, s, lane);
}

static bool is_rigid(const ScreeMaterialDef *material) {
  return scree_is_auto(material->stiffness) && !(material->adhesion > 0);
}

bool p2_any_springs(const Materials *materials) {
  for (int32_t k = 0; k < materials->count; k++)
    if (!is_rigid(&materials->items[k].definition)) return true;
  return false;
}

bool p2_all_rigid(const Materials *materials, const P2Settings *settings) {
  return !settings->position.averaging && !(settings->error_reduction > 0) && !p2_any_springs(materials);
}

Status p2_contacts_create(PositionStep *work, const P2Settings *settings, P2Contacts *contacts) {
  Core *core = work->step->core;
  int64_t slots = work->layout.slots.rows * SLICE;
  *contacts = (P2Contacts){.settings = settings};
  contacts->rigid = p2_all_rigid(&work->step->state->materials, settings);
  work->method_contacts = contacts;
  if (contacts->rigid) return SCREE_OK;
#define P2_TAKE(type, name) TRY(scratch_take(core, work->step->scratch, &contacts->name, slots, "contacts"));
  P2_SLOT_FIELDS(P2_TAKE)
#undef P2_TAKE
  TRY(scratch_take(core, work->step->scratch, &work->layout.slots.soft, slots, "contacts"));
  parallel_for(core, 0, work->layout.slots.slices, CONTACTS_CHUNK, contacts_chunk, work);
  return SCREE_OK;
}

/* ---- old overlap ---- */

Status p2_part(PositionStep *work) {
  const Materials *materials = &work->step->state->materials;
  int32_t ours = 0;
  for (int32_t k = 0; k < materials->count; k++) ours += scree_is_auto(materials->items[k].definition.stiffness);
  return work->settings->memory && ours > 0 ? position_stabilize(work) : SCREE_OK;
}
