/* dem on an OpenCL device gives the bits of the CPU, frame by frame: whatever the material, the integrator and what the
 * grains meet, through births, deaths, throws and checkpoints. What has no device form makes it run on the CPU. */
#include <math.h>
#include <string.h>

#include "device_fixture.h"

/* Soft grains. */
static void small_scene(Small *s, const char *name) {
  small_tank(s, name, "dem", 0.02, 0.4);
  for (int k = 0; k < 2; k++) {
    s->materials[k].young = k ? 2e6 : 1e6;
    s->materials[k].friction_static = 0.4, s->materials[k].friction_kinetic = 0.3;
    s->materials[k].rolling_friction = 0;
  }
  s->boundaries[1].shape.plane.normal.y = 0.3;
}

static void materials(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "two materials");
  assert_same_frames(&s.scene, 8);
  small_scene(&s, "one material");
  s.scene.material_count = s.scene.grains_count = 1;
  assert_same_frames(&s.scene, 6);
  small_scene(&s, "rolling, radii, bonds");
  s.materials[0].radius_spread = 0.4;
  s.materials[0].rolling_friction = 0.2;
  s.materials[1].cohesion = 300;
  assert_same_frames(&s.scene, 10);
  small_scene(&s, "bonds without rolling");
  s.materials[0].cohesion = 200;
  assert_same_frames(&s.scene, 5);
  small_scene(&s, "the print");
  for (int k = 0; k < 2; k++) {
    s.materials[k].stiffness_n = 1e5, s.materials[k].stiffness_t = 3e3;
    s.materials[k].damping_n = 60, s.materials[k].damping_t = 20;
  }
  s.scene.method.dem.rotation = false;
  s.scene.method.dem.shear_cap = SCREE_SHEAR_SPRING;
  assert_same_frames(&s.scene, 6);
}

static void settings(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "Euler");
  s.scene.method.dem.integrator = SCREE_INTEGRATOR_EULER;
  s.materials[0].rolling_friction = 0.1;
  assert_same_frames(&s.scene, 6);
  small_scene(&s, "no solids");
  s.scene.boundary_count = 0;
  assert_same_frames(&s.scene, 3);
  small_scene(&s, "a kilometre away");
  for (int k = 0; k < 2; k++) s.boundaries[k].shape.position = s.grains[k].fill.position = (ScreeVec3){1000, -700, 30};
  assert_same_frames(&s.scene, 4);
  small_scene(&s, "overlapping");
  s.grains[1].fill = scree_shape_box((ScreeVec3){-0.1, -0.1, 0.05}, (ScreeVec3){0.1, 0.1, 0.3});
  assert_same_frames(&s.scene, 4);
}

/* More grains than a window of the CPU has, at rest and then stirred. */
static void a_bed(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "bed");
  s.scene.method.radius = 0.01;
  s.materials[0].rolling_friction = 0.1;
  s.materials[0].young = 3e5;
  s.grains[0].fill = scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.25, 0.25, 0.3});
  s.grains[0].start = SCREE_START_DENSE;
  s.grains[0].velocity = (ScreeVec3){0.5, 0, 0};
  s.boundaries[0].shape = scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.25, 0.25, 1});
  s.scene.material_count = s.scene.grains_count = s.scene.boundary_count = 1;
  assert_same_frames(&s.scene, 2);
}

/* Every shape, turned; two of them on a path, in a drum that turns or a box that shakes. */
static void shapes(Small *s, bool drum) {
  static const char *const names[] = {"box", "sphere", "cylinder", "capsule", "around"};
  small_scene(s, drum ? "shapes in a drum" : "shapes in a box");
  ScreeShapeDef all[] = {scree_shape_box((ScreeVec3){-0.08, -0.08, -0.05}, (ScreeVec3){0.08, 0.08, 0.05}),
                         scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.08), scree_shape_default(SCREE_SHAPE_CYLINDER),
                         scree_shape_default(SCREE_SHAPE_CAPSULE), scree_shape_default(SCREE_SHAPE_CYLINDER)};
  all[2].cylinder = (ScreeCylinderDef){.base = {0, 0, -0.1}, .radius = 0.06, .height = 0.2};
  all[3].capsule = (ScreeCapsuleDef){.base = {0, 0, -0.1}, .radius = 0.05, .height = 0.2};
  all[4].cylinder = (ScreeCylinderDef){.base = {0, 0, -0.3}, .radius = 0.35, .height = 0.9};
  s->keys[0] = s->keys[1] = scree_key_default();
  s->keys[1].t = 0.2;
  s->keys[0].position = (ScreeVec3){-0.15, 0, 0.12}, s->keys[1].position = (ScreeVec3){0.1, 0.1, 0.1};
  s->keys[1].rotation = (ScreeQuat){0.7, 0, 0.7, 0.1};
  for (int k = 0; k < 5; k++) {
    s->bodies[k] = scree_body_default(names[k], all[k]);
    s->bodies[k].motion = SCREE_MOTION_FIXED;
    s->bodies[k].shape.position = (ScreeVec3){-0.2 + 0.1 * k, 0.1 * (k % 3) - 0.1, 0.1};
    s->bodies[k].shape.rotation = (ScreeQuat){0.9, 0.2 * k, 0.3, -0.1};
  }
  s->bodies[0].motion = SCREE_MOTION_KEYFRAMES, s->bodies[0].keys = s->keys, s->bodies[0].key_count = 2;
  for (int k = 0; k < 2; k++) { /* the box shakes */
    s->shaking[k] = scree_key_default();
    s->shaking[k].t = 0.05 * k;
    s->shaking[k].position = (ScreeVec3){0.02 * k, 0, 0.03 * k};
    s->shaking[k].rotation = (ScreeQuat){1, 0, 0.1 * k, 0};
  }
  s->boundaries[0].keys = s->shaking, s->boundaries[0].key_count = 2;
  s->materials[0].radius_spread = 0.2, s->materials[0].rolling_friction = 0.1;
  for (int k = 0; k < 2; k++)
    s->grains[k].fill = scree_shape_box((ScreeVec3){k ? 0 : -0.2, -0.2, 0.3}, (ScreeVec3){k ? 0.2 : 0, 0.2, 0.45});
  s->scene.bodies = s->bodies, s->scene.body_count = 4;
  if (!drum) return;
  s->boundaries[0] = scree_boundary_default(all[4]);
  s->boundaries[0].inside = true;
  s->boundaries[0].shape.rotation = (ScreeQuat){0.9, 0.2, 0.1, 0};
  s->scene.boundary_count = 1;
}

static void solids_of_all_shapes(void **state) {
  (void)state;
  Small s;
  shapes(&s, true);
  assert_same_frames(&s.scene, 10);
  shapes(&s, false);
  s.scene.method.dem.integrator = SCREE_INTEGRATOR_EULER;
  assert_same_frames(&s.scene, 6);
}

/* What sand moves, and what moves sand: both integrators, and steps of different length while it falls in. */
static void bodies_and_mechanisms(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "free bodies");
  small_bodies(&s);
  s.scene.body_count = 2; /* the third is a mesh */
  s.materials[0].rolling_friction = 0.1;
  assert_same_frames(&s.scene, 12);
  s.scene.method.dem.integrator = SCREE_INTEGRATOR_EULER;
  assert_same_frames(&s.scene, 8);
  small_scene(&s, "a mechanism"); /* an arm of plain shapes */
  s.machine = scree_mechanism_default("test/cli/render_arm.xml");
  s.scene.mechanism = &s.machine;
  assert_same_frames(&s.scene, 8);
  small_scene(&s, "bodies and a checkpoint");
  small_bodies(&s);
  s.scene.body_count = 2;
  assert_same_across(&s.scene, 6, 10);
}

/* Grains so far apart that cells are not counted; one more that leaves the others far behind. */
static void far_apart(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "far apart");
  s.boundaries[0] = s.boundaries[1];
  s.boundaries[0].shape = scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1});
  s.grains[1].fill.position = (ScreeVec3){700, -900, 80};
  s.grains[1].velocity = (ScreeVec3){30, 0, 2};
  s.scene.boundary_count = 1;
  assert_same_frames(&s.scene, 6);
  s.materials[0].radius_spread = 0.4;
  assert_same_frames(&s.scene, 4);
}

static void busy(Small *s) {
  small_scene(s, "births and deaths");
  s->materials[0].rolling_friction = 0.1;
  small_busy(s, 0.05);
}

static void births_deaths_throws(void **state) {
  (void)state;
  Small s;
  busy(&s);
  assert_same_frames(&s.scene, 9);
  busy(&s);
  s.emitter.from = 0.03; /* nobody is there before */
  s.scene.grains_count = 0;
  assert_same_frames(&s.scene, 5);
}

/* Springs go across as well. */
static void checkpoints_go_across(void **state) {
  (void)state;
  Small s;
  busy(&s);
  s.materials[1].cohesion = 200;
  assert_same_across(&s.scene, 5, 9);
}

/* What a program sees and does between frames. */
static void programs_look_and_steer(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "steered");
  s.materials[0].rolling_friction = 0.1;
  ScreeWorld *worlds[2] = {world_on(&s.scene, "cpu"), world_on(&s.scene, "opencl")};
  ScreeError error;
  float *pressure[2];
  for (int w = 0; w < 2; w++) {
    ScreeWorld *world = worlds[w];
    run_frames(world, 4);
    pressure[w] = calloc((size_t)scree_world_particles(world).count, sizeof **pressure);
    assert_true(scree_world_pressure(world, false, pressure[w]));
    assert_done(scree_world_impulse(world, (ScreeVec3){0, 0, 0}, 0.2, 1, &error));
    ScreeMaterialDef sand = scree_world_definition(world)->materials[0];
    sand.cohesion = 200; /* its grains bond from now on */
    assert_done(scree_world_set_material(world, &sand, &error));
    run_frames(world, 3);
  }
  assert_memory_equal(pressure[0], pressure[1], sizeof **pressure * (size_t)scree_world_particles(worlds[0]).count);
  assert_same(worlds[0], worlds[1], "steered");
  for (int k = 0; k < 2; k++) { /* a mesh has no device form: the CPU goes on */
    for (int w = 0; w < 2; w++) {
      ScreeBodyDef ball = scree_body_default(k ? "rock" : "ball", k ? scree_shape_mesh_file("rock_1.obj")
                                                                    : scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.06));
      ScreeBodyId body;
      ball.shape.position = (ScreeVec3){0, 0, 0.6 + 0.4 * k};
      assert_done(scree_world_add_body(worlds[w], &ball, &body, &error));
      run_frames(worlds[w], 3);
    }
    assert_same(worlds[0], worlds[1], k ? "with a rock" : "with a ball");
  }
  assert_note(worlds[1], "nothing runs on opencl:0: dem has no device form for meshes");
  for (int w = 0; w < 2; w++) {
    scree_world_destroy(worlds[w]);
    free(pressure[w]);
  }
}

static void what_blows_up_is_a_status(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "blows up");
  assert_same_failure(&s.scene, 3e38);
}

/* What has no device form. */
static void notes_say_what_is_missing(void **state) {
  (void)state;
  static const char *const missing[] = {"dem has no device form for meshes",
                                        "dem has no device form for contact by samples"};
  for (int k = 0; k < 2; k++) {
    Small s;
    small_scene(&s, "notes");
    s.bodies[0] = scree_body_default("ball", k == 0 ? scree_shape_mesh_file("rock_1.obj")
                                                    : scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.06));
    s.bodies[0].shape.position = (ScreeVec3){0, 0, 1};
    s.bodies[0].motion = SCREE_MOTION_FIXED;
    if (k == 1) s.bodies[0].contact = SCREE_CONTACT_SAMPLES;
    s.scene.bodies = s.bodies, s.scene.body_count = 1;
    assert_missing(&s.scene, missing[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(materials),
      cmocka_unit_test(settings),
      cmocka_unit_test(a_bed),
      cmocka_unit_test(solids_of_all_shapes),
      cmocka_unit_test(bodies_and_mechanisms),
      cmocka_unit_test(far_apart),
      cmocka_unit_test(births_deaths_throws),
      cmocka_unit_test(checkpoints_go_across),
      cmocka_unit_test(programs_look_and_steer),
      cmocka_unit_test(what_blows_up_is_a_status),
      cmocka_unit_test(notes_say_what_is_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
