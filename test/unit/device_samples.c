/* Contact by samples on an OpenCL device gives the bits of the CPU, with pbd and p2: of walls, of what follows a path,
 * of free bodies, which shape matching holds together, and of parts of a mechanism. In tests the device is PoCL. */
#include <math.h>

#include "device_fixture.h"

static const char *const methods[] = {"pbd", "p2"};
enum { METHODS = sizeof methods / sizeof *methods };

static void small_scene(Small *s, int method, const char *name) {
  small_tank(s, name, methods[method], 0.02, 0.5);
  s->materials[0].friction_static = 0.4, s->materials[0].friction_kinetic = 0.3;
}

static void sample_bodies(Small *s) {
  for (int32_t k = 0; k < s->scene.body_count; k++) s->bodies[k].contact = SCREE_CONTACT_SAMPLES;
}

/* The tank itself, and a wall in it that is as thick as a grain. */
static void walls(void **state) {
  (void)state;
  for (int method = 0; method < METHODS; method++) {
    Small s;
    small_scene(&s, method, "sampled walls");
    s.boundaries[0].contact = SCREE_CONTACT_SAMPLES;
    s.boundaries[2] =
        scree_boundary_default(scree_shape_box((ScreeVec3){-0.03, -0.2, 0}, (ScreeVec3){0.03, 0.2, 0.15}));
    s.boundaries[2].contact = SCREE_CONTACT_SAMPLES;
    s.scene.boundary_count = 3;
    if (method) s.materials[1].stiffness = 3000, s.scene.method.p2.sleep_speed = 0.2;
    assert_same_frames(&s.scene, 12);
  }
}

/* Every shape, turned, two of them on a path; some touch by samples and some by distance. */
static void what_follows_a_path(void **state) {
  (void)state;
  for (int method = 0; method < METHODS; method++)
    for (int all = 0; all < 2; all++) {
      Small s;
      small_scene(&s, method, all ? "sampled shapes" : "some sampled shapes");
      small_shapes(&s);
      sample_bodies(&s);
      if (!all) s.bodies[1].contact = s.bodies[3].contact = SCREE_CONTACT_DISTANCE;
      if (all) s.materials[0] = scree_material_default("sand"); /* of an angle: it rolls */
      s.materials[1].radius_spread = all ? 0.3 : 0;
      assert_same_frames(&s.scene, 18);
    }
}

/* Many samples, and one that has too few to be told a rotation of. */
static void bodies(Small *s, int method, const char *name) {
  small_scene(s, method, name);
  small_bodies(s);
  s->bodies[3] = scree_body_default("pebble", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.03));
  s->bodies[3].shape.position = (ScreeVec3){-0.15, -0.15, 0.7};
  s->scene.body_count = 4;
  sample_bodies(s);
  if (method) return;
  s->scene.method.pbd.memory = true;
}

static void free_bodies(void **state) {
  (void)state;
  for (int method = 0; method < METHODS; method++)
    for (int turning = 0; turning < 2; turning++) {
      Small s;
      bodies(&s, method, turning ? "sampled bodies among grains that turn" : "sampled bodies");
      if (turning) s.materials[0] = scree_material_default("sand");
      if (turning) s.bodies[0].contact = SCREE_CONTACT_DISTANCE;
      assert_same_frames(&s.scene, 20);
    }
}

static void settings(void **state) {
  (void)state;
  Small s;
  bodies(&s, 0, "nothing is remembered");
  s.scene.method.pbd.memory = false;
  assert_same_frames(&s.scene, 14);
  bodies(&s, 0, "nothing is solved");
  s.scene.method.pbd.iterations = 0;
  assert_same_frames(&s.scene, 4);
  bodies(&s, 0, "far apart"); /* bins are hashed */
  s.grains[1].fill = scree_shape_box((ScreeVec3){900, -300, 50}, (ScreeVec3){900.3, -299.7, 50.3});
  s.materials[0].radius_spread = 0.3;
  assert_same_frames(&s.scene, 14);
  bodies(&s, 1, "springs and adhesion");
  s.materials[0].stiffness = 400, s.materials[1].adhesion = 800;
  assert_same_frames(&s.scene, 14);
}

static void births_deaths_throws(void **state) {
  (void)state;
  Small s;
  bodies(&s, 0, "busy");
  small_busy(&s, 0.1);
  assert_same_frames(&s.scene, 20);
}

static void checkpoints_go_across(void **state) {
  (void)state;
  Small s;
  bodies(&s, 0, "checkpoint");
  assert_same_across(&s.scene, 10, 18);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(walls),    cmocka_unit_test(what_follows_a_path),  cmocka_unit_test(free_bodies),
      cmocka_unit_test(settings), cmocka_unit_test(births_deaths_throws), cmocka_unit_test(checkpoints_go_across),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
