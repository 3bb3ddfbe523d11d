/* The contacts of a step: factors, adhesion and the decision what acts, once before the iterations. */
#define LANE_SCALAR /* slots are looked at one by one */
#include "methods/p2/contacts.h"

#include <math.h>

#include "methods/p2/p2_factor_shared.h"

enum { CONTACTS_CHUNK = 64 };

double p2_contact_area(double depth, double smaller_radius) { return p2_area(depth, smaller_radius); }

/* One slot's numbers, and the last factors: neighbours mostly have the same masses. */
typedef struct Maker {
  const PositionStep *work;
  P2Contacts *contacts;
  double stiffness, damping, mass; /* what `factors` are of */
  P2Factors factors;
} Maker;

/* The paper's factors of a spring and a damper (Eq. 28). */
static void average_spring(Maker *maker, P2Made *made) {
  if (made->stiffness != maker->stiffness || made->damping != maker->damping || made->mass != maker->mass) {
    maker->factors = p2_factors(made->stiffness, made->damping, made->mass, (double)maker->work->h,
                                maker->work->settings->iterations);
    maker->stiffness = made->stiffness;
    maker->damping = made->damping;
    maker->mass = made->mass;
  }
  *made = p2_average_spring(*made, maker->factors);
}

static P2Material p2_material(const ScreeMaterialDef *definition) {
  return (P2Material){definition->stiffness, definition->damping, definition->adhesion};
}

static P2Side side_of(const PositionStep *work, int64_t i) {
  const Particles *p = &work->step->state->particles;
  return (P2Side){p2_material(&work->step->state->materials.items[p->material[i]].definition), (double)p->mass[i],
                  (double)p->radius[i], (double)work->rows.w[i]};
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
  const bool averaging = work->settings->averaging;
  const int32_t j = s->partner[slot];
  const P2Side own = side_of(work, i);
  P2Side other = own;
  P2Meeting meets = {.pair = j < work->padded,
                     .gap = s->gap[slot],
                     .predicted = p2_predicted_gap(work, i, slot),
                     .tension = position_of_kind(work, work->layout.tension, slot),
                     .friction = position_friction(work, slot)[0],
                     .averaging = averaging,
                     .dt = (double)work->h,
                     .gravity = fmax(vec3_length(state->gravity), 1),
                     .rigid = INFINITY};
  if (meets.pair) {
    other = side_of(work, j);
    meets.mixed = state->particles.material[i] != state->particles.material[j];
  } else {
    const BoundaryContact *contact = &work->layout.boundary[j - work->layout.boundary_row];
    const int64_t shared = averaging ? 1 : atomic_load(&work->bodies.items[contact->solid].boundary);
    other.weight = (double)work->rows.now[j][3] / (double)(shared > 0 ? shared : 1);
  }
  P2Made made = p2_made(meets, own, other, s->ln[slot]);
  if (averaging) average_spring(maker, &made);
  else made = p2_split_spring(made, meets.dt);
  s->ln[slot] = made.normal;
  if (made.forgets) s->ln[slot] = s->ltx[slot] = s->lty[slot] = s->ltz[slot] = 0;
  s->soft[slot] = made.soft;
#define P2_KEEP(type, name) contacts->name[slot] = made.name;
  P2_SLOT_FIELDS(P2_KEEP)
#undef P2_KEEP
  return p2_is_likely(made, meets.predicted, (float)state->radius);
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

bool p2_parts(const PositionStep *work) {
  const Materials *materials = &work->step->state->materials;
  int32_t ours = 0;
  for (int32_t k = 0; k < materials->count; k++) ours += scree_is_auto(materials->items[k].definition.stiffness);
  return work->settings->memory && ours > 0;
}

Status p2_part(PositionStep *work) { return p2_parts(work) ? position_stabilize(work) : SCREE_OK; }
