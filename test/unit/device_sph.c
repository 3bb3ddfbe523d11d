/* sph on an OpenCL device gives the bits of the CPU, frame by frame: whatever its settings, whatever the sand meets,
 * moves or is moved by, through births, deaths, throws and checkpoints. What has no device form makes it run on the
 * CPU, which is said. */
#include <math.h>

#include "device_fixture.h"
#include "everything_fixture.h"

#define ARM "test/cli/render_arm.xml"

static void small_scene(Small *s, const char *name) {
  small_tank(s, name, "sph", 0.05, 0.5);
  s->materials[1].density = 2000, s->materials[1].friction_angle_deg = 20, s->materials[1].cohesion = 200;
}

static void materials_and_settings(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "two materials");
  assert_same_frames(&s.scene, 12);
  small_scene(&s, "nothing is remembered");
  s.scene.method.sph.memory = false;
  assert_same_frames(&s.scene, 4);
  small_scene(&s, "iterations run out");
  s.scene.method.sph.max_iterations = 3;
  assert_same_frames(&s.scene, 5);
  small_scene(&s, "exact");
  s.scene.method.sph.compression = 1e-5, s.scene.method.sph.strain = 1e-6;
  assert_same_frames(&s.scene, 2);
  small_scene(&s, "wind");
  s.scene.wind = (ScreeVec3){6, 2, -1};
  assert_same_frames(&s.scene, 6);
  small_scene(&s, "no air, no weight, no walls");
  s.scene.method.sph.drag = 0;
  s.scene.gravity = (ScreeVec3){0, 0, 0};
  s.scene.boundary_count = 0;
  assert_same_frames(&s.scene, 4);
}

/* Two fills at one place: parcels that coincide, and sand twice as dense as it may be. */
static void parcels_in_parcels(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "parcels in parcels");
  s.scene.method.radius = 0.04;
  s.grains[1].fill = s.grains[0].fill;
  s.grains[0].velocity = s.grains[1].velocity = (ScreeVec3){0, 0, 0};
  assert_same_frames(&s.scene, 3);
}

/* More than a group of parcels at rest, with a thin wall between them: pairs that it hides. */
static void a_bed_with_a_thin_wall(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "thin wall");
  s.scene.method.radius = 0.02;
  s.boundaries[1] =
      scree_boundary_default(scree_shape_box((ScreeVec3){-0.004, -0.3, -0.1}, (ScreeVec3){0.004, 0.3, 0.3}));
  s.boundaries[2] = scree_boundary_default(scree_shape_box((ScreeVec3){0.1, 0, 0.02}, (ScreeVec3){0.2, 0.1, 0.1}));
  s.boundaries[2].contact = SCREE_CONTACT_SAMPLES;
  for (int k = 0; k < 2; k++) {
    s.grains[k].fill =
        scree_shape_box((ScreeVec3){k ? 0.01 : -0.25, -0.25, 0}, (ScreeVec3){k ? 0.25 : -0.01, 0.25, 0.2});
    s.grains[k].velocity = (ScreeVec3){0, 0, 0};
  }
  s.scene.boundary_count = 3;
  assert_same_frames(&s.scene, 3);
}

/* Every shape, turned, one on a path, a mesh that is free, and a ball. */
static void solids_of_all_shapes(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "shapes");
  ScreeShapeDef shapes[] = {scree_shape_box((ScreeVec3){-0.08, -0.08, -0.05}, (ScreeVec3){0.08, 0.08, 0.05}),
                            scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.08), scree_shape_default(SCREE_SHAPE_CYLINDER),
                            scree_shape_default(SCREE_SHAPE_CAPSULE), scree_shape_mesh_file("rock_1.obj")};
  shapes[2].cylinder = (ScreeCylinderDef){.base = {0, 0, -0.1}, .radius = 0.06, .height = 0.2};
  shapes[3].capsule = (ScreeCapsuleDef){.base = {0, 0, -0.1}, .radius = 0.05, .height = 0.2};
  enum { BODIES = sizeof shapes / sizeof *shapes };
  s.keys[0] = s.keys[1] = scree_key_default();
  s.keys[1].t = 0.3;
  s.keys[0].position = (ScreeVec3){-0.15, 0, 0.12}, s.keys[1].position = (ScreeVec3){0.1, 0.1, 0.1};
  s.keys[1].rotation = (ScreeQuat){0.7, 0, 0.7, 0.1};
  for (int k = 0; k < BODIES; k++) {
    static const char *const names[BODIES] = {"box", "sphere", "cylinder", "capsule", "mesh"};
    s.bodies[k] = scree_body_default(names[k], shapes[k]);
    s.bodies[k].motion = k == 1 || k == 4 ? SCREE_MOTION_FREE : SCREE_MOTION_FIXED;
    s.bodies[k].shape.position = (ScreeVec3){-0.2 + 0.1 * k, 0.1 * (k % 3) - 0.1, 0.12};
    s.bodies[k].shape.rotation = (ScreeQuat){0.9, 0.2 * k, 0.3, -0.1};
  }
  s.bodies[0].motion = SCREE_MOTION_KEYFRAMES, s.bodies[0].keys = s.keys, s.bodies[0].key_count = 2;
  for (int k = 0; k < 2; k++)
    s.grains[k].fill = scree_shape_box((ScreeVec3){k ? 0 : -0.2, -0.2, 0.3}, (ScreeVec3){k ? 0.2 : 0, 0.2, 0.6});
  s.scene.bodies = s.bodies, s.scene.body_count = BODIES;
  assert_same_frames(&s.scene, 10);
}

/* Solids that sand does not move: the device finds what parcels see of them, along rays too. */
static void solids_that_stand(Small *s, const char *name) {
  small_scene(s, name);
  small_shapes(s);
  ScreeBodyDef *thin = &s->bodies[s->scene.body_count++];
  *thin = scree_body_default("thin", scree_shape_box((ScreeVec3){-0.2, -0.003, -0.1}, (ScreeVec3){0.2, 0.003, 0.1}));
  thin->motion = SCREE_MOTION_FIXED;
  thin->shape.position = (ScreeVec3){0.2, 0.1, 0.12};
  thin->shape.rotation = (ScreeQuat){0.9, 0.2, 0.3, -0.1};
}

static void solids_that_sand_does_not_move(void **state) {
  (void)state;
  Small s;
  solids_that_stand(&s, "standing shapes");
  assert_same_frames(&s.scene, 10);
  solids_that_stand(&s, "standing shapes, across");
  assert_same_across(&s.scene, 5, 8);
  solids_that_stand(&s, "standing shapes and air");
  s.scene.wind = (ScreeVec3){6, 2, -1};
  assert_same_frames(&s.scene, 5);
}

/* A floor of slats, more of them near a parcel than it remembers friction of. */
static void a_floor_of_slats(void **state) {
  (void)state;
  enum { SLATS = 12 };
  Small s;
  ScreeBodyDef slats[SLATS];
  char names[SLATS][8];
  small_scene(&s, "slats");
  for (int k = 0; k < SLATS; k++) {
    snprintf(names[k], sizeof names[k], "slat%d", k);
    slats[k] = scree_body_default(names[k], scree_shape_box((ScreeVec3){0, -0.25, 0}, (ScreeVec3){0.03, 0.25, 0.02}));
    slats[k].motion = SCREE_MOTION_FIXED;
    slats[k].shape.position = (ScreeVec3){-0.25 + 0.04 * k, 0, 0.1 + 0.003 * (k % 3)};
  }
  s.scene.bodies = slats, s.scene.body_count = SLATS;
  for (int k = 0; k < 2; k++)
    s.grains[k].fill = scree_shape_box((ScreeVec3){k ? 0 : -0.2, -0.2, 0.16}, (ScreeVec3){k ? 0.2 : 0, 0.2, 0.4});
  assert_same_frames(&s.scene, 8);
}

/* Births, deaths, a throw, a free ball, a paddle, fine grains, and a mechanism. */
static void everything_at_once(void **state) {
  (void)state;
  Everything e;
  everything(&e, EVERYTHING_SPH, 0.12, 5, ARM);
  assert_same_frames(&e.scene, 14);
#ifdef SCREE_HAVE_MUJOCO
  everything(&e, EVERYTHING_MECHANISM, 0.12, 5, ARM);
  ScreeMethodDef sph = scree_method_default("sph");
  sph.radius = e.scene.method.radius;
  e.scene.method = sph;
  assert_same_frames(&e.scene, 8);
#endif
}

static void checkpoints_go_across(void **state) {
  (void)state;
  Everything e;
  everything(&e, EVERYTHING_SPH, 0.12, 5, ARM);
  assert_same_across(&e.scene, 6, 10);
}

/* What a program sees and does between frames. */
static void programs_look_and_steer(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "steered");
  ScreeWorld *worlds[2] = {world_on(&s.scene, "cpu"), world_on(&s.scene, "opencl")};
  float *pressure[2];
  ScreeError error;
  for (int w = 0; w < 2; w++) {
    ScreeWorld *world = worlds[w];
    run_frames(world, 6);
    pressure[w] = calloc((size_t)scree_world_particles(world).count, sizeof **pressure);
    assert_true(scree_world_pressure(world, false, pressure[w]));
    assert_done(scree_world_impulse(world, (ScreeVec3){0, 0, 0}, 0.2, 1, &error));
    ScreeMaterialDef sand = scree_world_definition(world)->materials[0];
    sand.friction_angle_deg = 45;
    assert_done(scree_world_set_material(world, &sand, &error));
    run_frames(world, 3);
    ScreeBodyDef ball = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.06));
    ScreeBodyId body;
    ball.shape.position = (ScreeVec3){0, 0, 0.4};
    assert_done(scree_world_add_body(world, &ball, &body, &error));
    run_frames(world, 6);
  }
  assert_memory_equal(pressure[0], pressure[1], sizeof **pressure * (size_t)scree_world_particles(worlds[0]).count);
  assert_same(worlds[0], worlds[1], "steered");
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

static void notes_say_what_is_missing(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "terrain");
  ScreeTerrainDef terrain = scree_terrain_default("sand");
  terrain.origin = (ScreeVec2){-0.25, -0.25}, terrain.size = (ScreeVec2){0.5, 0.5}, terrain.cell = 0.05;
  s.scene.terrain = &terrain;
  assert_missing(&s.scene, "sph has no device form for terrain");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(materials_and_settings),
      cmocka_unit_test(parcels_in_parcels),
      cmocka_unit_test(a_bed_with_a_thin_wall),
      cmocka_unit_test(solids_of_all_shapes),
      cmocka_unit_test(solids_that_sand_does_not_move),
      cmocka_unit_test(a_floor_of_slats),
      cmocka_unit_test(everything_at_once),
      cmocka_unit_test(checkpoints_go_across),
      cmocka_unit_test(programs_look_and_steer),
      cmocka_unit_test(what_blows_up_is_a_status),
      cmocka_unit_test(notes_say_what_is_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
