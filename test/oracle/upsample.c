/* The velocity of fine grains against a twin that adds up all pairs in double precision. */
#include <stdlib.h>

#include "world/world.h"
#include "world_fixture.h"

enum { FRAMES = 4 };
#define RADIUS 0.03
#define FINE 0.01

typedef struct Case {
  int mode;
  bool rule;
  bool samples; /* the wall is made of samples */
  bool wall;
  double air_drag;
} Case;

/* Two blocks that meet, an explosion in the middle, and a plate at the side. */
static ScreeWorld *make(const Case *c) {
  ScreeMaterialDef sand = scree_material_default("sand");
  ScreeGrainsDef grains[2] = {
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.3, -0.2, 0}, (ScreeVec3){0, 0.2, 0.3})),
      scree_grains_default("sand", scree_shape_box((ScreeVec3){0.02, -0.2, 0}, (ScreeVec3){0.3, 0.2, 0.3}))};
  grains[0].velocity = (ScreeVec3){1, 0.2, 0};
  grains[1].velocity = (ScreeVec3){-0.7, 0, 0.3};
  ScreeEventDef bang = scree_event_default();
  bang.t = 0;
  bang.impulse = (ScreeImpulseDef){.center = {0.02, 0.01, 0.15}, .radius = 0.25, .speed = 1.5};
  ScreeBoundaryDef plate =
      scree_boundary_default(scree_shape_box((ScreeVec3){-0.4, -0.4, -0.1}, (ScreeVec3){0.4, 0.4, -0.02}));
  plate.contact = c->samples ? SCREE_CONTACT_SAMPLES : SCREE_CONTACT_DISTANCE;
  ScreeUpsampleDef upsample = scree_upsample_default(FINE);
  upsample.mode = c->mode;
  upsample.body_rule = c->rule;
  upsample.air_drag = c->air_drag;
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "twin";
  scene.wind = (ScreeVec3){3, 1, 0};
  scene.method = scree_method_default("none");
  scene.method.radius = RADIUS;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.grains = grains;
  scene.grains_count = 2;
  scene.events = &bang;
  scene.event_count = 1;
  scene.boundaries = &plate;
  scene.boundary_count = c->wall ? 1 : 0;
  scene.upsample = &upsample;
  return world_of(&scene, 2);
}

typedef struct Grain {
  Vec3 at, velocity;
} Grain;

/* By id, so that sorting does not matter. Ids run from 1 to count. */
static Grain *grains_by_id(const ScreeParticles p) {
  Grain *grains = calloc((size_t)p.count + 1, sizeof *grains);
  for (int64_t i = 0; i < p.count; i++)
    grains[p.id[i]] = (Grain){vec3((double)p.x[i], (double)p.y[i], (double)p.z[i]),
                              vec3((double)p.vx[i], (double)p.vy[i], (double)p.vz[i])};
  return grains;
}

typedef struct Sums {
  double sum, largest, fastest;
  Vec3 velocity;
} Sums;

static void add(Sums *s, double weight, double largest, Vec3 velocity) {
  if (weight <= 0) return;
  s->sum += weight;
  s->largest = fmax(s->largest, largest);
  s->velocity = vec3_madd(s->velocity, velocity, weight);
  s->fastest = fmax(s->fastest, vec3_length(velocity));
}

static double weight_at(Vec3 a, Vec3 b) {
  double q = 1 - vec3_dot(vec3_sub(a, b), vec3_sub(a, b)) / (9 * RADIUS * RADIUS);
  return q > 0 ? q * q * q : 0;
}

/* Section 4 as printed. Returns how near the case is to the border between the branches of alpha. */
static double twin_paper(const ScreeWorld *world, const Case *c, const Grain *coarse, int64_t count, const Grain *fine,
                         double dt, Vec3 *velocity, double *scale) {
  Sums s = {0};
  for (int64_t j = 1; j <= count; j++) {
    double w = weight_at(fine->at, coarse[j].at);
    add(&s, w, w, coarse[j].velocity);
  }
  bool near = s.sum > 0;
  const SolidSamples *samples = &world->state.samples;
  if (near || !c->rule)
    for (int64_t j = 0; j < samples->count; j++) {
      double w = weight_at(fine->at, vec3((double)samples->x[j], (double)samples->y[j], (double)samples->z[j]));
      add(&s, w, w, vec3(0, 0, 0));
    }
  if (c->wall && !c->samples && (near || !c->rule)) {
    const Solid *plate = &world->state.solids.items[0];
    double d = fmax(shape_distance(&plate->shape, solid_to_local(plate, fine->at), 1).distance, 0);
    double q = fmax(1 - d * d / (9 * RADIUS * RADIUS), 0);
    add(&s, 1.23 * q * q * q * q, q * q * q, vec3(0, 0, 0));
  }
  const double c1 = 512.0 / 729.0, c2 = 0.6;
  double ratio = s.sum > 0 ? s.largest / s.sum : 1;
  double alpha = s.largest <= c1 || ratio >= c2 ? 1 - s.largest : 0;
  Vec3 mean = s.sum > 0 ? vec3_scale(s.velocity, 1 / s.sum) : vec3(0, 0, 0);
  Vec3 own = vec3_madd(fine->velocity, world->state.gravity, dt);
  *velocity = vec3_madd(vec3_scale(mean, 1 - alpha), own, alpha);
  *scale = fmax(s.fastest, vec3_length(own));
  return fmin(fabs(s.largest - c1), fabs(ratio - c2));
}

/* Mode better: coarse grains where they were, with the velocity of their displacement in the frame. */
static double twin_better(const ScreeWorld *world, const Case *c, const Grain *before, const Grain *after,
                          int64_t count, const Grain *fine, double dt, Vec3 *velocity, double *scale) {
  Sums s = {0};
  for (int64_t j = 1; j <= count; j++) {
    double w = weight_at(fine->at, before[j].at);
    add(&s, w, w, vec3_scale(vec3_sub(after[j].at, before[j].at), 1 / dt));
  }
  Vec3 mean = s.sum > 0 ? vec3_scale(s.velocity, 1 / s.sum) : vec3(0, 0, 0);
  double near2 = 9 * (1 - cbrt(s.largest)); /* in coarse radii */
  double alpha = fmin(fmax((near2 - 1.70 * 1.70) / (1.75 * 1.75 - 1.70 * 1.70), 0), 1);
  Vec3 wind = world->state.wind;
  double k = c->air_drag * vec3_length(vec3_sub(wind, fine->velocity)) * dt;
  Vec3 own = vec3_scale(vec3_madd(vec3_madd(fine->velocity, world->state.gravity, dt), wind, k), 1 / (1 + k));
  *velocity = vec3_madd(vec3_scale(mean, 1 - alpha), own, alpha);
  *scale = fmax(s.fastest, vec3_length(own));
  return 1;
}

static void compare(const Case *c) {
  ScreeWorld *world = make(c);
  double dt = 1 / world->definition.scene.frame_rate, worst = 0;
  int64_t borders = 0, compared = 0;
  for (int frame = 0; frame < FRAMES; frame++) {
    Grain *coarse_before = grains_by_id(scree_world_particles(world)),
          *before = grains_by_id(scree_world_grains(world));
    ScreeError error;
    assert_int_equal(scree_world_frame(world, &error), SCREE_OK);
    ScreeParticles coarse = scree_world_particles(world), fine = scree_world_grains(world);
    Grain *coarse_after = grains_by_id(coarse), *after = grains_by_id(fine);
    for (int64_t i = 1; i <= fine.count; i++) {
      Vec3 expected;
      double scale, border;
      if (c->mode == SCREE_UPSAMPLE_PAPER)
        border = twin_paper(world, c, coarse_after, coarse.count, &before[i], dt, &expected, &scale);
      else border = twin_better(world, c, coarse_before, coarse_after, coarse.count, &before[i], dt, &expected, &scale);
      if (border < 1e-5) {
        borders++;
        continue;
      }
      worst = fmax(worst, vec3_length(vec3_sub(after[i].velocity, expected)) / scale);
      compared++;
    }
    free(coarse_before);
    free(before);
    free(coarse_after);
    free(after);
  }
  print_message("worst %.2g of %lld, %lld at a border\n", worst, (long long)compared, (long long)borders);
  assert_true(compared > 4000 && borders * 1000 < compared);
  assert_true(worst < 1e-5);
  scree_world_destroy(world);
}

static void the_papers_rule(void **state) {
  (void)state;
  compare(&(Case){.mode = SCREE_UPSAMPLE_PAPER, .rule = true});
}
static void the_papers_rule_with_samples(void **state) {
  (void)state;
  compare(&(Case){.mode = SCREE_UPSAMPLE_PAPER, .rule = true, .wall = true, .samples = true});
  compare(&(Case){.mode = SCREE_UPSAMPLE_PAPER, .rule = false, .wall = true, .samples = true});
}
static void the_papers_rule_by_distance(void **state) {
  (void)state;
  compare(&(Case){.mode = SCREE_UPSAMPLE_PAPER, .rule = true, .wall = true});
  compare(&(Case){.mode = SCREE_UPSAMPLE_PAPER, .rule = false, .wall = true});
}
static void the_better_way(void **state) {
  (void)state;
  compare(&(Case){.mode = SCREE_UPSAMPLE_BETTER});
  compare(&(Case){.mode = SCREE_UPSAMPLE_BETTER, .air_drag = 0.3});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_papers_rule),
      cmocka_unit_test(the_papers_rule_with_samples),
      cmocka_unit_test(the_papers_rule_by_distance),
      cmocka_unit_test(the_better_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
