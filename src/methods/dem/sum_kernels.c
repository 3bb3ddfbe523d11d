/* Kicks by what the contacts exert and by gravity. */
#include "methods/dem/contact_kernels.h"
#include "methods/dem/lanes.h"

/* Eight values of an array: of neighbours in it, or one by one. */
WIDE_INLINE Wide load_at(const float *from, const int32_t *who, bool together) {
  if (together) return wide_load(from + who[0]);
  return (Wide){from[who[0]], from[who[1]], from[who[2]], from[who[3]],
                from[who[4]], from[who[5]], from[who[6]], from[who[7]]};
}
WIDE_INLINE void store_at(float *to, const int32_t *who, int lanes, bool together, Wide value) {
  if (together) {
    wide_store(to + who[0], value);
    return;
  }
  for (int l = 0; l < lanes; l++) to[who[l]] = value[l];
}

/* Kicks eight grains, the first `lanes` of them, by their sums. Verlet has kicked half already; Euler kicks once and
 * whole, and then knows its way. `more`: a part that was missing is added to what has been done. */
WIDE_INLINE void kick(const DemStep *work, const float (*sums)[DEM_SUM], const int32_t *who, int lanes, bool together,
                      bool more) {
  Particles *p = &work->step->state->particles;
  const DemFields *fields = work->fields;
  Vec3 g = work->step->state->gravity;
  bool verlet = work->settings->verlet;
  Wide dt = wide_set(verlet ? 0.5f * work->dt : work->dt), zero = wide_set(0);
  Wide gain[3] = {wide_set((float)g.x), wide_set((float)g.y), wide_set((float)g.z)};
  Wide force[3], lever[3], moment[3];
  load_quads(sums[0], DEM_SUM, &force[0], &force[1], &force[2]);
  Wide per_mass = wide_set(1) / load_at(p->mass, who, together);
  float *velocity[3] = {p->vx, p->vy, p->vz}, *way[3] = {p->dx, p->dy, p->dz};
  for (int c = 0; c < 3; c++) {
    Wide acceleration = force[c] * per_mass, before = zero;
    Wide v = load_at(velocity[c], who, together) + (acceleration + (more ? zero : gain[c])) * dt;
    store_at(velocity[c], who, lanes, together, v);
    if (verlet && more) before = load_at(fields->acceleration[c], who, together);
    if (verlet) store_at(fields->acceleration[c], who, lanes, together, before + acceleration);
    else store_at(way[c], who, lanes, together, v * dt);
  }
  if (!work->settings->rotation) return;
  load_quads(sums[0] + 4, DEM_SUM, &lever[0], &lever[1], &lever[2]);
  load_quads(sums[0] + 8, DEM_SUM, &moment[0], &moment[1], &moment[2]);
  Wide radius = load_at(p->radius, who, together), per_inertia = wide_set(2.5f) * per_mass / (radius * radius);
  for (int c = 0; c < 3; c++) {
    Wide turning = (moment[c] - radius * lever[c]) * per_inertia, before = zero;
    store_at(fields->spin[c], who, lanes, together, load_at(fields->spin[c], who, together) + turning * dt);
    if (verlet && more) before = load_at(fields->turning[c], who, together);
    if (verlet) store_at(fields->turning[c], who, lanes, together, before + turning);
  }
}

void KERNEL(dem_kick_slab)(const DemStep *work, int64_t b, int64_t e, const float (*sums)[DEM_SUM]) {
  int64_t whole = b + (e - b) / LANES * LANES;
  for (int64_t i = b; i < whole; i += LANES) {
    const int32_t who = (int32_t)i;
    kick(work, sums + (i - b), &who, LANES, true, false);
  }
  if (whole == e) return;
  int32_t who[LANES];
  for (int l = 0; l < LANES; l++) who[l] = (int32_t)(whole + l < e ? whole + l : whole);
  kick(work, sums + (whole - b), who, (int)(e - whole), false, false);
}

void KERNEL(dem_late_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const DemStep *work = context;
  const DemTopology *t = work->topology;
  for (int64_t k = b; k < e; k += LANES) {
    int lanes = e - k < LANES ? (int)(e - k) : LANES;
    int32_t who[LANES];
    _Alignas(32) float sums[LANES][DEM_SUM] = {{0}};
    for (int l = 0; l < LANES; l++) who[l] = t->late[k + (l < lanes ? l : 0)];
    for (int l = 0; l < lanes; l++) {
      WideQuad parts[3] = {{0}, {0}, {0}};
      int count = work->settings->rolling ? 3 : 2;
      for (int64_t ref = t->late_start[k + l]; ref < t->late_start[k + l + 1]; ref++) {
        __builtin_prefetch(work->outbox[t->refs[ref + DEM_SPARE]]);
        for (int c = 0; c < count; c++) parts[c] += *(const WideQuad *)(work->outbox[t->refs[ref]] + 4 * c);
      }
      for (int c = 0; c < 3; c++) *(WideQuad *)(sums[l] + 4 * c) = parts[c];
    }
    kick(work, (const float(*)[DEM_SUM])sums, who, lanes, false, true);
  }
}
