#include "methods/flip/transfer/node_fields_kernels.h"
#include "methods/flip/transfer/density_law.h"

/* The sums of the nodes of a strip, kind by kind. */
WIDE_INLINE void node_columns(const float (*nodes)[NODE_SUMS], Wide column[NODE_SUMS]) {
  for (int h = 0; h < NODE_SUMS; h += 4)
    wide_turn4(wide_rows(nodes[0] + h, nodes[4] + h), wide_rows(nodes[1] + h, nodes[5] + h),
               wide_rows(nodes[2] + h, nodes[6] + h), wide_rows(nodes[3] + h, nodes[7] + h), &column[h], &column[h + 1],
               &column[h + 2], &column[h + 3]);
}

typedef struct FaceSums {
  Wide mass, phi;
} FaceSums;

/* What fell on faces that are not valid belongs to others already. */
WIDE_INLINE FaceSums face_sums(const NodeSums *sums, int64_t strip, int a, const Wide *own, const Wide *others) {
  const Wide zero = wide_set(0);
  WideInt valid = wide_lanes(sums->fields.solid.valid[1 + a][strip]);
  FaceSums face;
  face.mass = wide_select(valid, own[AT_X + 2 * a], zero);
  Wide volume =
      sums->others ? wide_select(valid, others[AT_X + 2 * a], zero) : face.mass * wide_set(sums->one_specific_volume);
  face.phi = volume_fraction(volume, wide_set(1 / sums->volume),
                             wide_load(sums->fields.solid.kernel_volume[1 + a] + strip * STRIP));
  return face;
}

/* Bits of the cells below those of a strip, or above them, from a byte per strip. */
static inline uint32_t bits_below(const FlipGrid *grid, const uint8_t *bits, int64_t strip, int axis) {
  uint32_t beside = bits[grid->near[strip][2 * axis]];
  return axis == 0 ? ((uint32_t)bits[strip] << 1 | beside >> (STRIP - 1)) & 255 : beside;
}
static inline uint32_t bits_above(const FlipGrid *grid, const uint8_t *bits, int64_t strip, int axis) {
  uint32_t beside = bits[grid->near[strip][2 * axis + 1]];
  return axis == 0 ? (uint32_t)bits[strip] >> 1 | (beside & 1) << (STRIP - 1) : beside;
}

WIDE_INLINE uint32_t positive(const float *field) { return wide_bits(wide_less(wide_set(0), wide_load(field))); }

/* Lanes whose cells were pressed, or those below them. */
WIDE_INLINE uint32_t pressed_beside(const NodeSums *sums, int64_t strip, int axis) {
  uint32_t own = positive(sums->pressure + strip * STRIP);
  int64_t below = sums->grid->near[strip][2 * axis];
  if (axis > 0) return own | positive(sums->pressure + below * STRIP);
  return own | own << 1 | (sums->pressure[below * STRIP + STRIP - 1] > 0 ? 1u : 0u);
}

void KERNEL(flip_find_bearing)(const NodeSums *sums, int64_t b, int64_t e) {
  const FlipFields *f = &sums->fields;
  for (int64_t strip = b; strip < e; strip++) {
    Wide own[NODE_SUMS], others[NODE_SUMS];
    node_columns(sums->sums + strip * STRIP, own);
    node_columns((sums->others ? sums->others : sums->sums) + strip * STRIP, others);
    for (int a = 0; a < 3; a++) {
      Wide phi = face_sums(sums, strip, a, own, others).phi;
      uint32_t full = wide_bits(wide_less(wide_set(sums->bearing), phi)),
               nearly = wide_bits(wide_less(wide_set(sums->stays_bearing), phi)),
               open = positive(f->solid.open[a] + strip * STRIP);
      if (nearly & ~full) full |= nearly & pressed_beside(sums, strip, a);
      f->sand.bearing[a][strip] = (uint8_t)((full | ~open) & f->solid.valid[1 + a][strip]);
    }
  }
}

WIDE_INLINE void face_fields(const NodeSums *sums, int64_t strip, int a, const Wide *own, const Wide *others) {
  const FlipFields *f = &sums->fields;
  const Wide zero = wide_set(0);
  int64_t at = strip * STRIP;
  FaceSums face = face_sums(sums, strip, a, own, others);
  Wide open = wide_load(f->solid.open[a] + at);
  WideInt moves = wide_less(wide_set(sums->least), face.phi), bears = moves & wide_lanes(f->sand.bearing[a][strip]);
  uint32_t owned = 0;
  float borne[STRIP];
  for (int lane = 0; lane < STRIP; lane++) {
    int16_t owner = f->solid.owner[a][at + lane];
    owned |= (owner >= 0 ? 1u : 0u) << lane;
    borne[lane] = borne_share(&f->solid, a, at + lane, owner < 0 || sums->body_of_solid[owner] >= 0);
  }
  FaceState state =
      face_state(face.mass, own[AT_X_TOO + 2 * a], face.phi, open, wide_load(borne),
                 wide_load(f->solid.velocity[a] + at), wide_set(sums->gained[a]), wide_set(sums->volume), moves, bears);
  wide_store(f->sand.mass[a] + at, face.mass);
  wide_store(f->sand.velocity[a] + at, state.velocity);
  wide_store(f->sand.specific_volume[a] + at, state.specific_volume);
  wide_store(f->sand.flux[a] + at, state.flux);
  wide_store(f->sand.flux_mobility[a] + at, state.flux_mobility);
  wide_store(f->sand.joint_velocity[a] + at, state.joint_velocity);
  wide_store(f->sand.mobility[a] + at, state.mobility);
  wide_store(f->stress.change[a] + at, zero);
  wide_store(f->stress.correction[a] + at, zero);
  wide_store(f->stress.stopped[a] + at, zero);
  uint32_t closed = owned & ~wide_bits(wide_less(zero, open));
  sums->closed[a][strip] = (uint8_t)closed;
  sums->bears[a][strip] = (uint8_t)(closed | wide_bits(wide_less(zero, state.specific_volume)));
}

void KERNEL(flip_node_fields)(const NodeSums *sums, int64_t b, int64_t e) {
  const FlipFields *f = &sums->fields;
  const bool mixed = sums->others != NULL;
  for (int64_t strip = b; strip < e; strip++) {
    int64_t at = strip * STRIP;
    Wide own[NODE_SUMS], others[NODE_SUMS];
    node_columns(sums->sums + at, own);
    node_columns((mixed ? sums->others : sums->sums) + at, others);
    Wide sand = own[AT_CENTRE];
    if (!mixed) sand = sand * wide_set(sums->one_specific_volume);
    wide_store(f->sand.phi + at,
               volume_fraction(wide_load(f->solid.free_volume + at) * sand, wide_set(1 / sums->volume),
                               wide_load(f->solid.kernel_volume[0] + at)));

    wide_store(f->sand.alpha + at, mixed ? mixture_mean(own[AT_CENTRE_TOO], sand) : wide_set(sums->one_alpha));
    wide_store(f->sand.cohesion + at, mixed ? mixture_mean(others[AT_CENTRE], sand) : wide_set(sums->one_cohesion));
    for (int a = 0; a < 3; a++) face_fields(sums, strip, a, own, others);
  }
}

/* Stress on a face without sand would push nothing: momentum would be lost. Grains touch each other in dense cells, and
 * solids where cells have closed faces. */
void KERNEL(flip_cell_fields)(const NodeSums *sums, int64_t b, int64_t e) {
  const FlipFields *f = &sums->fields;
  for (int64_t strip = b; strip < e; strip++) {
    Wide phi = wide_load(f->sand.phi + strip * STRIP), free_volume = wide_load(f->solid.free_volume + strip * STRIP);
    uint32_t some = wide_bits(wide_less(wide_set(0), phi)),
             usable = some & wide_bits(wide_less(wide_set(0), free_volume)), closed = 0;
    for (int a = 0; a < 3; a++) {
      usable &= sums->bears[a][strip] & bits_above(sums->grid, sums->bears[a], strip, a);
      closed |= sums->closed[a][strip] | bits_above(sums->grid, sums->closed[a], strip, a);
    }
    uint32_t dense = wide_bits(wide_less(wide_set(sums->dense) * free_volume, phi));
    sums->touch[strip] = (uint8_t)(dense | (some & closed));
    wide_store(f->sand.usable + strip * STRIP, wide_select(wide_lanes(usable), wide_set(1), wide_set(0)));
  }
}

/* Where grains touch, what moves between the nodes is lost in collisions. Exchanged face by face with what the face had
 * before the step: no momentum is made. */
void KERNEL(flip_settle_fields)(const NodeSums *sums, int64_t b, int64_t e) {
  const FlipFields *f = &sums->fields;
  const Wide zero = wide_set(0);
  for (int64_t strip = b; strip < e; strip++)
    for (int a = 0; a < 3; a++) {
      WideInt touch = wide_lanes(sums->touch[strip] | bits_below(sums->grid, sums->touch, strip, a));
      WideInt moves = wide_less(zero, wide_load(f->sand.mass[a] + strip * STRIP));
      wide_store(f->sand.settle[a] + strip * STRIP, wide_select(touch & moves, wide_set(sums->settle), zero));
    }
}
