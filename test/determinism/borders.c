/* Where the grains of two threads touch, each has a second row: the same bits for any number of threads, when contacts
 * ask what their partner is (several materials, grains at one place), when there is not room enough for all second
 * rows, and in every way of solving. */
#include "grains_fixture.h"

enum { FRAMES = 8, GRAINS_AT_A_POINT = 300, MATERIALS = 3 };

/* A block of three materials that collapses. */
static void layered_scene(GrainScene *s, const char *method) {
  grain_scene(s, method, 0.02);
  add_floor(s);
  const char *names[MATERIALS] = {"sand", "gravel", "ice"};
  for (int k = 0; k < MATERIALS; k++) {
    s->materials[k] = scree_material_default(names[k]);
    s->materials[k].friction_static = s->materials[k].friction_kinetic = 0.1 + 0.3 * k;
    double low = 0.02 + 0.1 * k;
    s->grains[k] =
        scree_grains_default(names[k], scree_shape_box((ScreeVec3){-0.3, -0.3, low}, (ScreeVec3){0.3, 0.3, low + 0.1}));
  }
  s->def.material_count = s->def.grains_count = MATERIALS;
}

/* Every seventh grain has a twin at the same place. */
static uint64_t hash_after(const GrainScene *s, int threads, bool baseline) {
  ScreeWorld *world = world_with(&s->def, threads, baseline);
  int64_t count = world->state.particles.count;
  for (int64_t i = 0; i < count; i += 7) {
    const Particles *p = &world->state.particles;
    add_grain(world, state_position(&world->state, i), vec3(0, 0, 0), (double)p->radius[i], p->material[i]);
  }
  return last_hash(world, FRAMES);
}

static void compare(const GrainScene *s) {
  uint64_t one = hash_after(s, 1, false);
  assert_true(hash_after(s, 2, false) == one);
  assert_true(hash_after(s, 3, true) == one);
  /* More threads than windows: there all is border. */
  if (!SANITIZED) assert_true(hash_after(s, 16, false) == one);
}

static void materials_and_twins(void **state) {
  (void)state;
  const char *const methods[] = {"pbd", "p2"};
  for (int k = 0; k < 2; k++) {
    GrainScene s;
    layered_scene(&s, methods[k]);
    compare(&s);
  }
}

static void every_way_of_solving(void **state) {
  (void)state;
  GrainScene s;
  layered_scene(&s, "pbd");
  s.def.method.pbd.averaging = true;
  compare(&s);
  layered_scene(&s, "pbd");
  s.def.method.pbd.memory = false;
  compare(&s);
  layered_scene(&s, "pbd");
  s.def.method.pbd.iterations = 1;
  s.def.method.pbd.stabilization = 0;
  compare(&s);
  layered_scene(&s, "p2");
  s.materials[1].adhesion = 1000;
  compare(&s);
}

/* More contacts across the borders than there is room for. */
static void a_crowd_at_one_place(void **state) {
  (void)state;
  uint64_t hash[3];
  for (int k = 0; k < 3; k++) {
    GrainScene s;
    grain_scene(&s, "pbd", 0.02);
    add_floor(&s);
    ScreeWorld *world = world_with(&s.def, 1 + 2 * k, false);
    for (int g = 0; g < GRAINS_AT_A_POINT; g++) add_grain(world, vec3(0, 0, 0.5), vec3(0, 0, 0), 0.02, 0);
    hash[k] = last_hash(world, FRAMES);
  }
  assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(materials_and_twins),
      cmocka_unit_test(every_way_of_solving),
      cmocka_unit_test(a_crowd_at_one_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
