/* p2 on an OpenCL device gives the bits of the CPU, frame by frame: rigid contacts and springs, adhesion, bonds, error
 * reduction and sleep, beside whatever the grains meet, through births, deaths, throws and checkpoints. In tests the
 * device is PoCL. */
#include <math.h>
#include <string.h>

#include "device_fixture.h"

static void small_scene(Small *s, const char *name) {
  small_tank(s, name, "p2", 0.02, 0.5);
  s->materials[0].friction_static = 0.4, s->materials[0].friction_kinetic = 0.3;
  s->materials[1].friction_static = 0.7, s->materials[1].friction_kinetic = 0.5;
}

/* The first is a stiff spring, or a soft one; the second a spring with a damper of its own. */
static void springs(Small *s, bool soft) {
  s->materials[0].stiffness = soft ? 400 : 4e5;
  s->materials[1].stiffness = 3000, s->materials[1].damping = 4;
}

static void rigid_contacts(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "plain");
  assert_same_frames(&s.scene, 16);
  small_scene(&s, "turning, radii, cohesion");
  s.materials[0] = scree_material_default("sand"); /* of an angle: it rolls */
  s.materials[0].radius_spread = 0.4;
  s.materials[1].cohesion = 300;
  assert_same_frames(&s.scene, 16);
  small_scene(&s, "no memory");
  s.scene.method.p2.memory = false;
  assert_same_frames(&s.scene, 6);
  small_scene(&s, "nothing is solved");
  s.scene.method.p2.iterations = 0;
  assert_same_frames(&s.scene, 3);
}

static void springs_and_dampers(void **state) {
  (void)state;
  Small s;
  for (int soft = 0; soft < 2; soft++) {
    small_scene(&s, soft ? "soft springs" : "stiff springs");
    springs(&s, soft);
    assert_same_frames(&s.scene, 16);
  }
  small_scene(&s, "springs without memory");
  springs(&s, true);
  s.scene.method.p2.memory = false;
  assert_same_frames(&s.scene, 8);
  small_scene(&s, "one spring, one rigid, turning, bonds");
  s.materials[0] = scree_material_default("sand");
  s.materials[0].stiffness = 2000;
  s.materials[0].radius_spread = 0.3;
  s.materials[1].cohesion = 300;
  assert_same_frames(&s.scene, 16);
  small_scene(&s, "neither spring nor damper");
  s.materials[0].stiffness = s.materials[0].damping = 0;
  assert_same_frames(&s.scene, 6);
}

/* Lumps that turn. */
static void adhesion(void **state) {
  (void)state;
  Small s;
  for (int own = 0; own < 2; own++) {
    small_scene(&s, own ? "adhesion and springs" : "adhesion");
    s.materials[0].adhesion = 2000;
    if (own) s.materials[1].adhesion = 500, s.materials[1].stiffness = 2000;
    assert_same_frames(&s.scene, 16);
  }
}

static void error_reduction(void **state) {
  (void)state;
  Small s;
  for (int soft = 0; soft < 2; soft++) {
    small_scene(&s, soft ? "errors of springs" : "errors");
    if (soft) springs(&s, true);
    s.scene.method.p2.error_reduction = 0.5;
    assert_same_frames(&s.scene, 12);
  }
}

/* What sleeps on the floor, on what moves, and wakes by what falls on it. */
static void sleep_and_wake(void **state) {
  (void)state;
  Small s;
  for (int kind = 0; kind < 3; kind++) {
    static const char *const names[] = {"rigid sleepers", "springy sleepers", "sticky sleepers that roll"};
    small_scene(&s, names[kind]);
    small_shapes(&s);
    if (kind == 1) springs(&s, true);
    if (kind == 2) s.materials[0] = scree_material_default("sand"), s.materials[1].adhesion = 1000;
    s.scene.method.p2.sleep_speed = 0.3;
    assert_same_frames(&s.scene, 20);
  }
}

/* A plate that nothing stops crushes grains: they are not thrown. */
static void speeds_are_limited(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "crushed");
  s.keys[0] = s.keys[1] = scree_key_default();
  s.keys[0].position = (ScreeVec3){0, 0, 0.6};
  s.keys[1].t = 0.2, s.keys[1].position = (ScreeVec3){0, 0, 0.03};
  s.bodies[0] = scree_body_default("press", scree_shape_box((ScreeVec3){-0.2, -0.2, 0}, (ScreeVec3){0.2, 0.2, 0.1}));
  s.bodies[0].motion = SCREE_MOTION_KEYFRAMES, s.bodies[0].keys = s.keys, s.bodies[0].key_count = 2;
  s.scene.bodies = s.bodies, s.scene.body_count = 1;
  assert_same_frames(&s.scene, 16);
  ScreeStatistics now;
  ScreeWorld *device = world_on(&s.scene, "opencl");
  run_frames(device, 16);
  scree_world_statistics(device, &now);
  int64_t limited = 0;
  for (int k = 0; k < now.warning_count; k++)
    if (strcmp(now.warnings[k].name, "speed_limited_grains") == 0) limited = now.warnings[k].count;
  assert_true(limited > 0);
  scree_world_destroy(device);
}

static void solids_of_all_shapes(void **state) {
  (void)state;
  Small s;
  for (int soft = 0; soft < 2; soft++) {
    small_scene(&s, soft ? "shapes and springs" : "shapes");
    small_shapes(&s);
    if (soft) springs(&s, true);
    assert_same_frames(&s.scene, 16);
  }
}

static void machines_and_bodies(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    static const char *const names[] = {"wheel", "bodies", "wheel and springs", "bodies and springs"};
    Small s;
    small_scene(&s, names[kind]);
    if (kind % 2 == 0) small_machine(&s);
    else small_bodies(&s);
    if (kind > 1) springs(&s, true);
    if (kind == 1) s.materials[0] = scree_material_default("sand");
    assert_same_frames(&s.scene, 16);
  }
}

static void busy(Small *s, bool soft) {
  small_scene(s, "births and deaths");
  small_busy(s, 0.1);
  if (soft) springs(s, true);
  s->scene.method.p2.sleep_speed = 0.05;
}

static void births_deaths_throws(void **state) {
  (void)state;
  Small s;
  for (int soft = 0; soft < 2; soft++) {
    busy(&s, soft);
    assert_same_frames(&s.scene, 20);
  }
}

static void checkpoints_go_across(void **state) {
  (void)state;
  Small s;
  for (int soft = 0; soft < 2; soft++) {
    busy(&s, soft);
    assert_same_across(&s.scene, 10, 16);
  }
}

static void what_blows_up_is_a_status(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "blows up");
  assert_same_failure(&s.scene, 3e38);
}

/* As in the paper: with springs, adhesion, error reduction both ways, sleep of what is tied to solids, and bodies that
 * move. */
static void iterations_of_the_paper(void **state) {
  (void)state;
  for (int kind = 0; kind < 6; kind++) {
    static const char *const names[] = {"averaged",         "averaged springs",        "averaged, adhesion",
                                        "averaged, shapes", "averaged, errors, sleep", "averaged, bodies"};
    Small s;
    small_scene(&s, names[kind]);
    s.scene.method.p2.averaging = true;
    s.materials[0].radius_spread = 0.3;
    if (kind == 1 || kind == 5) springs(&s, kind == 5);
    if (kind == 2) s.materials[0].adhesion = 2000;
    if (kind == 3) small_shapes(&s), s.scene.method.p2.sleep_speed = 0.3;
    if (kind == 4) s.scene.method.p2.error_reduction = 0.5, s.scene.method.p2.sleep_speed = 0.3;
    if (kind == 5) small_bodies(&s), s.bodies[1].contact = SCREE_CONTACT_SAMPLES;
    assert_same_frames(&s.scene, 18);
  }
}

/* Steps through the graph of the contacts: more of them than a look takes. */
static void levels_and_chains(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    static const char *const names[] = {"levels", "levels of springs", "levels, averaged, sleep", "a column"};
    Small s;
    small_scene(&s, names[kind]);
    s.scene.method.p2.error_reduction = 0.5;
    s.scene.method.p2.error_reduction_by = SCREE_ERROR_GROUND;
    if (kind == 1) springs(&s, true);
    if (kind >= 2) s.scene.method.p2.averaging = true, s.scene.method.p2.sleep_speed = 0.5;
    if (kind == 3) { /* twenty-odd grains above each other */
      s.grains[0].fill = scree_shape_box((ScreeVec3){-0.05, -0.05, 0}, (ScreeVec3){0.05, 0.05, 1.6});
      s.grains[0].start = SCREE_START_DENSE;
      s.grains[0].velocity = (ScreeVec3){0, 0, 0};
      s.boundaries[0].shape = scree_shape_box((ScreeVec3){-0.05, -0.05, 0}, (ScreeVec3){0.05, 0.05, 2});
      s.scene.grains_count = s.scene.boundary_count = 1;
    }
    assert_same_frames(&s.scene, 14);
  }
  Small s;
  small_scene(&s, "sleep, and nothing is solved");
  small_shapes(&s);
  s.scene.method.p2.sleep_speed = 0.3;
  s.scene.method.p2.iterations = 0;
  assert_same_frames(&s.scene, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rigid_contacts),
      cmocka_unit_test(springs_and_dampers),
      cmocka_unit_test(adhesion),
      cmocka_unit_test(error_reduction),
      cmocka_unit_test(sleep_and_wake),
      cmocka_unit_test(speeds_are_limited),
      cmocka_unit_test(solids_of_all_shapes),
      cmocka_unit_test(machines_and_bodies),
      cmocka_unit_test(births_deaths_throws),
      cmocka_unit_test(checkpoints_go_across),
      cmocka_unit_test(what_blows_up_is_a_status),
      cmocka_unit_test(iterations_of_the_paper),
      cmocka_unit_test(levels_and_chains),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
