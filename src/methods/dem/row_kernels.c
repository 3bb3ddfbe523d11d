/* Fills the rows of grains and, while their values are at hand, does the first half of velocity Verlet. */
#include "methods/dem/contact_kernels.h"
#include "methods/dem/integrate_law.h"
#include "methods/dem/lanes.h"
#include "methods/dem/quantum_law.h"

/* (high + low) / quantum modulo 2^32, as an integer. */
WIDE_INLINE WideInt fixed_point(Wide high, Wide low, double per_quantum) {
  WideQuad parts[2][2] = {
      {__builtin_shufflevector(high, high, 0, 1, 2, 3), __builtin_shufflevector(high, high, 4, 5, 6, 7)},
      {__builtin_shufflevector(low, low, 0, 1, 2, 3), __builtin_shufflevector(low, low, 4, 5, 6, 7)}};
  QuantumBits bits[2];
  for (int h = 0; h < 2; h++)
    bits[h] = quantum_of(__builtin_convertvector(parts[0][h], QuantumReal),
                         __builtin_convertvector(parts[1][h], QuantumReal), per_quantum);
  return __builtin_shufflevector(bits[0], bits[1], 0, 2, 4, 6, 8, 10, 12, 14);
}

WIDE_INLINE Wide load_bytes(const uint8_t *from, int lanes) {
  typedef uint8_t Bytes __attribute__((vector_size(8)));
  Bytes bytes = {0};
  if (lanes == LANES) __builtin_memcpy(&bytes, from, sizeof bytes);
  else
    for (int l = 0; l < lanes; l++) bytes[l] = from[l];
  return __builtin_convertvector(__builtin_convertvector(bytes, WideInt), Wide);
}

/* Length of the longest of eight displacements. */
WIDE_INLINE float longest(LaneVec3 displacement) {
  Wide square = vec_dot(displacement, displacement);
  square = wide_max(square, __builtin_shufflevector(square, square, 4, 5, 6, 7, 0, 1, 2, 3));
  square = wide_max(square, __builtin_shufflevector(square, square, 2, 3, 0, 1, 6, 7, 4, 5));
  return wide_sqrt(wide_max(square, __builtin_shufflevector(square, square, 1, 0, 3, 2, 5, 4, 7, 6)))[0];
}

/* What is the same for all grains of a step. */
typedef struct Pass {
  double per_quantum;
  Wide dt, half;
  LaneVec3 gravity;
  Wide moved, turned; /* 1 or 0 */
} Pass;

WIDE_INLINE Pass pass_of(const DemStep *work) {
  Vec3 g = work->step->state->gravity;
  return (Pass){.per_quantum = 1 / work->topology->quantum,
                .dt = wide_set(work->dt),
                .half = wide_set(0.5f * work->dt),
                .gravity = {wide_set((float)g.x), wide_set((float)g.y), wide_set((float)g.z)},
                .moved = wide_set(work->settings->verlet ? 1 : 0),
                .turned = wide_set(work->settings->rotation ? 1 : 0)};
}

typedef struct Course {
  LaneVec3 velocity, displacement, spin;
} Course;

/* The first half of velocity Verlet. Euler only predicts the displacement here; its forces replace the prediction. */
WIDE_INLINE Course kick(const DemStep *work, const Pass *pass, int64_t i, int lanes) {
  const Particles *p = &work->step->state->particles;
  const DemFields *fields = work->fields;
  float *const velocity[3] = {p->vx, p->vy, p->vz}, *const displacement[3] = {p->dx, p->dy, p->dz};
  Course m = {.velocity = load_three(velocity, i, lanes), .spin = load_three(fields->spin, i, lanes)};
  if (work->settings->verlet) {
    m.velocity = integrate_velocity(m.velocity, load_three(fields->acceleration, i, lanes), pass->gravity, pass->half);
    store_three(velocity, i, lanes, m.velocity);
  }
  m.displacement = vec_mul(m.velocity, pass->dt);
  store_three(displacement, i, lanes, m.displacement);
  if (work->settings->verlet && work->settings->rotation) {
    m.spin = integrate_spin(m.spin, load_three(fields->angular_acceleration, i, lanes), pass->half);
    store_three(fields->spin, i, lanes, m.spin);
  }
  return m;
}

WIDE_INLINE Course course_of(const DemStep *work, int64_t i, int lanes) {
  const Particles *p = &work->step->state->particles;
  float *const velocity[3] = {p->vx, p->vy, p->vz}, *const displacement[3] = {p->dx, p->dy, p->dz};
  return (Course){load_three(velocity, i, lanes), load_three(displacement, i, lanes),
                  load_three(work->fields->spin, i, lanes)};
}

/* The velocities in Verlet's rows are those of the middle of the step. That is right for the springs, which they
 * stretch over the step; the dampers lag by half a step. */
WIDE_INLINE void fill(const DemStep *work, const Pass *pass, int64_t i, int lanes, Course m) {
  const Particles *p = &work->step->state->particles;
  float *at = work->rows.quads[DEM_ROW * i];
  work->rows.longest[i / DEM_OCTET] = longest(m.displacement);
  LaneVec3 moved = vec_mul(m.displacement, pass->moved), spin = vec_mul(m.spin, pass->turned);
  WideInt x = fixed_point(load_some(p->x + i, lanes), load_some(p->low_x + i, lanes) + moved.x, pass->per_quantum);
  WideInt y = fixed_point(load_some(p->y + i, lanes), load_some(p->low_y + i, lanes) + moved.y, pass->per_quantum);
  WideInt z = fixed_point(load_some(p->z + i, lanes), load_some(p->low_z + i, lanes) + moved.z, pass->per_quantum);
  Wide radius = load_some(p->radius + i, lanes), inverse_mass = wide_set(1) / load_some(p->mass + i, lanes);
  store_quads(at, 4 * DEM_ROW, lanes, (Wide)x, (Wide)y, (Wide)z, radius);
  store_quads(at + 4, 4 * DEM_ROW, lanes, m.velocity.x, m.velocity.y, m.velocity.z, inverse_mass);
  store_quads(at + 8, 4 * DEM_ROW, lanes, spin.x, spin.y, spin.z, load_bytes(p->material + i, lanes));
}

WIDE_INLINE void fill_all(const DemStep *work, int64_t b, int64_t e, bool kicks) {
  Pass pass = pass_of(work);
  int64_t whole = b + (e - b) / LANES * LANES;
  int rest = (int)(e - whole);
  for (int64_t i = b; i < whole; i += LANES)
    fill(work, &pass, i, LANES, kicks ? kick(work, &pass, i, LANES) : course_of(work, i, LANES));
  if (rest > 0) fill(work, &pass, whole, rest, kicks ? kick(work, &pass, whole, rest) : course_of(work, whole, rest));
}

void KERNEL(dem_row_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  fill_all(context, b, e, false);
}

void KERNEL(dem_kick_and_row_pass)(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  fill_all(context, b, e, true);
}
