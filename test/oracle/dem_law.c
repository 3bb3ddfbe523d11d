/* dem's laws, one contact or grain at a time (LANE_SCALAR, as a work item of a device computes them), against the
 * kernels, which compute eight abreast: the same bits, on both SIMD levels. */
#define LANE_SCALAR
#include "check.h"
#include "core/rng.h"
#include "methods/dem/contact_kernels.h"
#include "methods/dem/integrate_law.h"

#define RADIUS 0.005f
#define QUANTUM 0x1p-32
enum { CONTACTS = 1024, GRAINS = 2 * CONTACTS, STEPS = 5, MATERIALS = 3, COLUMNS = MATERIALS + 1, SPRINGS = 6 };

typedef struct Bench {
  _Alignas(32) float rows[GRAINS * DEM_ROW][4];
  _Alignas(32) float sums[GRAINS][DEM_SUM];
  _Alignas(32) float exerted[CONTACTS][DEM_SUM];
  _Alignas(32) float springs[CONTACTS * SPRINGS];
  _Alignas(32) float surfaces[CONTACTS / LANES * DEM_SURFACE][LANES];
  int32_t first[CONTACTS], second[CONTACTS];
  DemConstants constants[MATERIALS * COLUMNS];
} Bench;

/* How often each kind of contact came up. */
typedef struct Seen {
  int touching, apart, coincident, sliding, sticking, held;
} Seen;

static float random_from(uint64_t what, uint64_t k, float low, float high) {
  return low + (high - low) * (float)rng_unit(rng_bits(11, what, k, RNG_TEST));
}

static void random_vector(uint64_t what, uint64_t k, float size, float to[3]) {
  for (uint64_t c = 0; c < 3; c++) to[c] = random_from(what, 3 * k + c, -size, size);
}

/* Constants of every form: printed and derived ones, with and without cohesion. */
static void fill_constants(Bench *bench) {
  for (uint64_t k = 0; k < MATERIALS * COLUMNS; k++) {
    bool printed = k % 2 == 0;
    bench->constants[k] = (DemConstants){.stiffness = printed ? 2e5f : random_from(1, k, 1e6f, 1e7f),
                                         .fixed = printed ? 1 : 0,
                                         .rooted = printed ? 0 : 1,
                                         .damping_mass = printed ? 100 : 0,
                                         .damping_root = printed ? 0 : random_from(2, k, 0, 1),
                                         .shear_fixed = printed ? 5e3f : 0,
                                         .shear_ratio = printed ? 0 : 1.2f,
                                         .opening = printed ? 0 : 0.5f,
                                         .shear_damping_mass = printed ? 50 : 0,
                                         .shear_damping_share = printed ? 0 : 0.5f,
                                         .mu_static = random_from(3, k, 0.3f, 0.6f),
                                         .mu_kinetic = random_from(4, k, 0.1f, 0.3f),
                                         .mu_rolling = random_from(5, k, 0, 0.2f),
                                         .tension = k % 3 == 0 ? 500 : 0};
  }
}

/* The distance of two centres over the sum of their radii. In each fourth group nothing touches. */
static float distance_share(int k, int step) {
  if (k / LANES % 4 == 3) return random_from(6, (uint64_t)k, 1.0001f, 1.2f);
  if (k % LANES == 0) return 0;
  if (k % LANES == 1) return step % 2 ? 0.99f : 1.01f; /* opens and closes */
  return random_from(7, (uint64_t)k, 0.95f, 1);
}

static void store_bits(float *to, int32_t bits) { memcpy(to, &bits, sizeof bits); }
static int32_t bits_of(float value) {
  int32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Places and velocities of a step. From step to step a pair turns a little; its speeds go from creeping to fast. */
static void move(Bench *bench, int step) {
  static const float speeds[] = {1e-4f, 1e-3f, 0.03f, 0.3f, 3};
  for (int k = 0; k < CONTACTS; k++) {
    float(*a)[4] = bench->rows + bench->first[k], (*b)[4] = bench->rows + bench->second[k];
    float(*surface)[LANES] = bench->surfaces + k / LANES * DEM_SURFACE;
    int lane = k % LANES;
    uint64_t id = (uint64_t)(k + CONTACTS * step);
    float toward[3], turn[3], size = speeds[(k / 3 + step) % 5];
    random_vector(8, (uint64_t)k, 1, toward);
    random_vector(9, id, 0.01f, turn);
    for (int c = 0; c < 3; c++) toward[c] += turn[c];
    float length = sqrtf(toward[0] * toward[0] + toward[1] * toward[1] + toward[2] * toward[2]);
    bool by_sample = k % 2 == 0;
    for (int c = 0; c < 3; c++) {
      uint32_t at = (uint32_t)rng_bits(12, (uint64_t)k, (uint64_t)c, RNG_TEST); /* anywhere: differences wrap round */
      float apart = distance_share(k, step) * toward[c] / length;
      store_bits(&a[0][c], (int32_t)at);
      store_bits(&b[0][c], (int32_t)(at - (uint32_t)(int32_t)(apart * (a[0][3] + b[0][3]) / (float)QUANTUM)));
      float reach = a[0][3] + (by_sample ? surface[SURFACE_RADIUS][lane] : 0);
      store_bits(&surface[SURFACE_POINT + c][lane],
                 (int32_t)(at - (uint32_t)(int32_t)(apart * reach / (float)QUANTUM)));
      surface[SURFACE_FACE + c][lane] = k % 4 == 1 ? toward[c] / length : 0;
      surface[SURFACE_VELOCITY + c][lane] = random_from(13, 3 * id + (uint64_t)c, -size, size);
      surface[SURFACE_SPIN + c][lane] = random_from(14, 3 * id + (uint64_t)c, -size, size) / RADIUS;
    }
    random_vector(15, id, size, a[1]);
    random_vector(16, id, size, b[1]);
    random_vector(17, id, size / RADIUS, a[2]);
    random_vector(18, id, size / RADIUS, b[2]);
  }
}

static void begin(Bench *bench, int materials) {
  memset(bench, 0, sizeof *bench);
  fill_constants(bench);
  for (int k = 0; k < GRAINS; k++) {
    float radius = random_from(19, (uint64_t)k, 0.7f, 1.3f) * RADIUS;
    bench->rows[DEM_ROW * k][3] = radius;
    bench->rows[DEM_ROW * k + 1][3] = 1 / (1e4f * radius * radius * radius);
    bench->rows[DEM_ROW * k + 2][3] = (float)(k / 3 % materials);
  }
  for (int k = 0; k < CONTACTS; k++) {
    float(*surface)[LANES] = bench->surfaces + k / LANES * DEM_SURFACE;
    int lane = k % LANES;
    bool by_sample = k % 2 == 0;
    bench->first[k] = DEM_ROW * 2 * k;
    bench->second[k] = DEM_ROW * (2 * k + 1);
    surface[SURFACE_RADIUS][lane] = by_sample ? 0.5f * RADIUS : k % 16 == 15 ? -INFINITY : 0;
    surface[SURFACE_CURVATURE][lane] = by_sample ? 2 / RADIUS : 0;
    surface[SURFACE_INVERSE_MASS][lane] = k % 5 == 0 ? 10 : 0;
    surface[SURFACE_COLUMN][lane] = (float)materials;
  }
}

static LaneVec3 vector_of(const float from[3]) { return vec_make(from[0], from[1], from[2]); }

static ContactSide grain_side(const Bench *bench, int32_t quad) {
  const float(*row)[4] = bench->rows + quad;
  return (ContactSide){.position = {bits_of(row[0][0]), bits_of(row[0][1]), bits_of(row[0][2])},
                       .velocity = vector_of(row[1]),
                       .spin = vector_of(row[2]),
                       .radius = row[0][3],
                       .inverse_mass = row[1][3]};
}

static LaneVec3 lane_vector(const float (*from)[LANES], int lane) {
  return vec_make(from[0][lane], from[1][lane], from[2][lane]);
}

static ContactSide solid_side(const float (*surface)[LANES], int lane) {
  return (ContactSide){.position = {bits_of(surface[0][lane]), bits_of(surface[1][lane]), bits_of(surface[2][lane])},
                       .velocity = lane_vector(surface + SURFACE_VELOCITY, lane),
                       .spin = lane_vector(surface + SURFACE_SPIN, lane),
                       .radius = surface[SURFACE_RADIUS][lane],
                       .inverse_mass = surface[SURFACE_INVERSE_MASS][lane]};
}

/* Contact k by the law alone. Springs are those before the step. */
static ContactForces forces_of(const Bench *bench, int k, int columns, float dt, ContactSwitches switches, Seen *seen) {
  int lane = k % LANES, spring_size = switches.rolling ? 6 : 3;
  const float(*surface)[LANES] = bench->surfaces + k / LANES * DEM_SURFACE;
  const float(*spring)[LANES] = (const float(*)[LANES])bench->springs + k / LANES * spring_size;
  ContactSide a = grain_side(bench, bench->first[k]);
  ContactSide b = switches.solid ? solid_side(surface, lane) : grain_side(bench, bench->second[k]);
  ContactSurface of = {lane_vector(surface + SURFACE_FACE, lane), surface[SURFACE_CURVATURE][lane]};
  ContactGeometry geometry = contact_geometry(a, b, of, (float)QUANTUM, switches);
  float column = switches.solid ? surface[SURFACE_COLUMN][lane] : bench->rows[bench->second[k] + 2][3];
  const DemConstants *one = &bench->constants[(int)bench->rows[bench->first[k] + 2][3] * columns + (int)column];
#define SET(name) .name = one->name,
  ContactConstants constants = {CONTACT_CONSTANTS(SET)};
#undef SET
  ContactSprings springs = {.shear = lane_vector(spring, lane)};
  springs.slides = contact_stored_slides(springs.shear.x);
  if (switches.bonds) {
    springs.bonded = contact_stored_bonded(springs.shear.y);
    springs.shear.y = contact_without_bit(springs.shear.y);
  }
  if (switches.rolling) springs.rolling = lane_vector(spring + 3, lane);
  /* A work item returns early; a lane beside one that touches computes what is not selected. */
  bool holds = switches.bonds && contact_holds(geometry, springs.bonded, a.radius, b.radius);
  bool early = !geometry.touches && !holds && k % 3 == 0;
  ContactForces f = early ? contact_no_forces() : contact_forces(a, b, of, geometry, constants, springs, dt, switches);
  seen->touching += geometry.touches != 0;
  seen->held += holds && !geometry.touches;
  seen->coincident += geometry.square == 0;
  seen->apart += !geometry.touches && geometry.square > 0;
  seen->sliding += f.springs.slides != 0;
  seen->sticking += geometry.touches && !f.springs.slides;
  return f;
}

static void assert_same(const float *found, float expected, const char *what, int k) {
  if (bits_of(*found) == bits_of(expected)) return;
  print_error("contact or grain %d, %s: %.9g instead of %.9g\n", k, what, (double)*found, (double)expected);
  _fail(__FILE__, __LINE__);
}

static void assert_same_vector(const float *found, LaneVec3 expected, const char *what, int k) {
  assert_same(found, expected.x, what, k);
  assert_same(found + 1, expected.y, what, k);
  assert_same(found + 2, expected.z, what, k);
}

/* The kernel has added to sums that were zero, and has stored the springs. */
static void assert_scattered(const Bench *bench, int k, const ContactForces *f, ContactSwitches switches, bool outer) {
  const LaneVec3 parts[3] = {f->force, f->lever, f->moment};
  for (int part = 0; part < (switches.rolling ? 3 : 2); part++) {
    LaneVec3 first = vec_add(vec_zero(), parts[part]);
    LaneVec3 second = part == 1 ? first : vec_sub(vec_zero(), parts[part]);
    if (!outer) assert_same_vector(bench->sums[2 * k] + 4 * part, first, "sum of the first", k);
    if (outer || switches.solid) assert_same_vector(bench->exerted[k] + 4 * part, parts[part], "exerted", k);
    else assert_same_vector(bench->sums[2 * k + 1] + 4 * part, second, "sum of the second", k);
  }
  const float(*spring)[LANES] = (const float(*)[LANES])bench->springs + k / LANES * (switches.rolling ? 6 : 3);
  float shear_y = f->springs.shear.y;
  if (switches.bonds) shear_y = contact_store_bonded(shear_y, f->springs.bonded);
  const float springs[SPRINGS] = {contact_store_slides(f->springs.shear.x, f->springs.slides),
                                  shear_y,
                                  f->springs.shear.z,
                                  f->springs.rolling.x,
                                  f->springs.rolling.y,
                                  f->springs.rolling.z};
  for (int c = 0; c < (switches.rolling ? 6 : 3); c++) assert_same(&spring[c][k % LANES], springs[c], "spring", k);
}

static void compare_contacts(const Core *core, int materials, ContactSwitches switches, bool outer, Seen *seen) {
  static Bench bench;
  static ContactForces expected[CONTACTS];
  int columns = materials + 1;
  DemTopology topology = {.spring_size = switches.rolling ? 6 : 3, .quantum = QUANTUM};
  DemSettings settings = {.rolling = switches.rolling, .cap_total = switches.cap_total, .bonds = switches.bonds};
  DemConstantsTable table = {bench.constants, materials, columns};
  DemContacts contacts = {.count = CONTACTS, .first = bench.first, .second = bench.second, .springs = bench.springs};
  contacts.surfaces = bench.surfaces;
  topology.pairs = topology.outer = topology.boundary = contacts;
  DemStep work = {.dt = 1e-5f, .settings = &settings, .constants = &table, .topology = &topology};
  work.rows.quads = bench.rows;
  work.forces.outer = bench.exerted;
  begin(&bench, materials);
  for (int step = 0; step < STEPS; step++) {
    float largest = 0, found;
    move(&bench, step);
    memset(bench.sums, 0, sizeof bench.sums);
    for (int k = 0; k < CONTACTS; k++) {
      expected[k] = forces_of(&bench, k, columns, work.dt, switches, seen);
      largest = fmaxf(largest, expected[k].frequency_squared);
    }
    if (outer) found = KERNEL_CALL(core, dem_outer_forces)(&work, 0, CONTACTS);
    else if (switches.solid)
      found = KERNEL_CALL(core, dem_boundary_forces)(&work, 0, CONTACTS, 0, bench.sums, bench.exerted);
    else found = KERNEL_CALL(core, dem_pair_forces)(&work, 0, CONTACTS, 0, bench.sums);
    for (int k = 0; k < CONTACTS; k++) assert_scattered(&bench, k, &expected[k], switches, outer);
    assert_same(&found, largest, "frequency", step);
  }
}

static void eight_contacts_are_eight_times_one(void **state) {
  (void)state;
  enum { PAIRS, OUTER, BOUNDARY, LOOPS };
  for (int loop = 0; loop < LOOPS; loop++)
    for (int k = 0; k < 32; k++) {
      Core core = {.baseline_simd = k & 1};
      ContactSwitches switches = {
          .solid = loop == BOUNDARY, .rolling = k & 2, .cap_total = k & 4, .bonds = loop != BOUNDARY && k & 16};
      Seen seen = {0};
      compare_contacts(&core, k & 8 ? MATERIALS : 1, switches, loop == OUTER, &seen);
      if (k == 31)
        print_message("loop %d: %d touching, %d apart, %d coincident, %d sliding, %d sticking, %d held apart\n", loop,
                      seen.touching, seen.apart, seen.coincident, seen.sliding, seen.sticking, seen.held);
      assert_true(seen.touching > 1000 && seen.apart > 500 && seen.sliding > 200 && seen.sticking > 200);
      assert_true(loop == BOUNDARY || seen.coincident > 100);
      assert_true(!switches.bonds || seen.held > 100);
    }
}

/* ---- kicks ---- */

enum { KICKED = 61 }; /* not a multiple of LANES */

typedef struct Grains {
  float velocity[3][KICKED], displacement[3][KICKED], spin[3][KICKED];
  float acceleration[3][KICKED], angular_acceleration[3][KICKED], radius[KICKED], mass[KICKED];
} Grains;

static LaneVec3 three(float (*const from)[KICKED], int i) { return vec_make(from[0][i], from[1][i], from[2][i]); }

static void assert_three(float (*const found)[KICKED], int i, LaneVec3 expected, const char *what) {
  const float at[3] = {found[0][i], found[1][i], found[2][i]};
  assert_same_vector(at, expected, what, i);
}

static void fill_grains(Grains *grains, float (*sums)[DEM_SUM]) {
  for (uint64_t i = 0; i < KICKED; i++) {
    for (uint64_t c = 0; c < 3; c++) {
      grains->velocity[c][i] = random_from(20 + c, i, -1, 1);
      grains->spin[c][i] = random_from(23 + c, i, -100, 100);
    }
    for (uint64_t c = 0; c < DEM_SUM; c++) sums[i][c] = random_from(26 + c, i, -0.01f, 0.01f);
    grains->radius[i] = random_from(40, i, 0.5f, 1) * RADIUS;
    grains->mass[i] = random_from(41, i, 1e-3f, 1e-2f);
  }
}

static void compare_kicks(const Core *core, bool verlet) {
  static State state;
  static _Alignas(32) float sums[(KICKED + LANES) / LANES * LANES][DEM_SUM];
  Grains grains = {0}, before;
  fill_grains(&grains, sums);
  before = grains;
  Step step = {.state = &state};
  DemSettings settings = {.verlet = verlet, .rotation = true};
  DemFields fields;
  for (int c = 0; c < 3; c++) {
    fields.spin[c] = grains.spin[c];
    fields.acceleration[c] = grains.acceleration[c];
    fields.angular_acceleration[c] = grains.angular_acceleration[c];
  }
  state.gravity = vec3(0.1, -0.2, -9.81);
  Particles *p = &state.particles;
  p->vx = grains.velocity[0], p->vy = grains.velocity[1], p->vz = grains.velocity[2];
  p->dx = grains.displacement[0], p->dy = grains.displacement[1], p->dz = grains.displacement[2];
  p->radius = grains.radius, p->mass = grains.mass;
  DemStep work = {.step = &step, .dt = 1e-4f, .settings = &settings, .fields = &fields};
  KERNEL_CALL(core, dem_kick_window)(&work, 0, KICKED, (const float(*)[DEM_SUM])sums);
  float dt = verlet ? 0.5f * work.dt : work.dt;
  LaneVec3 gravity = vec_make(0.1f, -0.2f, -9.81f);
  for (int i = 0; i < KICKED; i++) {
    float inverse_mass = 1 / grains.mass[i];
    LaneVec3 acceleration = vec_mul(vector_of(sums[i]), inverse_mass);
    LaneVec3 angular =
        integrate_angular_acceleration(vector_of(sums[i] + 4), vector_of(sums[i] + 8), grains.radius[i], inverse_mass);
    LaneVec3 velocity = integrate_velocity(three(before.velocity, i), acceleration, gravity, dt);
    assert_three(grains.velocity, i, velocity, "velocity");
    assert_three(grains.spin, i, integrate_spin(three(before.spin, i), angular, dt), "spin");
    if (verlet) assert_three(grains.acceleration, i, acceleration, "acceleration");
    if (verlet) assert_three(grains.angular_acceleration, i, angular, "angular acceleration");
    else assert_three(grains.displacement, i, vec_mul(velocity, dt), "displacement");
  }
}

static void eight_kicks_are_eight_times_one(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    Core core = {.baseline_simd = k & 1};
    compare_kicks(&core, k & 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(eight_contacts_are_eight_times_one),
                                     cmocka_unit_test(eight_kicks_are_eight_times_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
