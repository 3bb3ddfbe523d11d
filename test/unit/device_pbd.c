/* pbd on an OpenCL device gives the bits of the CPU, frame by frame: whatever the material, whatever the grains meet,
 * through births, deaths, throws and checkpoints. What has no device form makes it run on the CPU, which is said. In
 * tests the device is PoCL. */
#include <math.h>
#include <string.h>

#include "device_fixture.h"

static void small_scene(Small *s, const char *name) {
  small_tank(s, name, "pbd", 0.02, 0.5);
  s->materials[0].friction_static = 0.4, s->materials[0].friction_kinetic = 0.3;
  s->materials[1].friction_static = 0.7, s->materials[1].friction_kinetic = 0.5;
}

/* Materials, radii, cohesion, turning grains, and the settings of the method. */
static void materials_and_settings(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "plain");
  assert_same_frames(&s.scene, 20);
  small_scene(&s, "one material");
  s.scene.material_count = s.scene.grains_count = 1;
  assert_same_frames(&s.scene, 12);
  small_scene(&s, "turning, radii, cohesion");
  s.materials[0] = scree_material_default("sand"); /* of an angle: it rolls */
  s.materials[0].radius_spread = 0.4;
  s.materials[1].cohesion = 300;
  assert_same_frames(&s.scene, 20);
  small_scene(&s, "no memory");
  s.scene.method.pbd.memory = false;
  assert_same_frames(&s.scene, 6);
  small_scene(&s, "nothing is solved");
  s.scene.method.pbd.iterations = 0;
  assert_same_frames(&s.scene, 3);
  small_scene(&s, "no stabilization");
  s.scene.method.pbd.stabilization = 0;
  assert_same_frames(&s.scene, 6);
  small_scene(&s, "no solids");
  s.scene.boundary_count = 0;
  assert_same_frames(&s.scene, 6);
}

/* As in the papers, among solids that stand, follow a path and are free, by distance and by samples. */
static void iterations_of_the_papers(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    static const char *const names[] = {"averaged", "averaged, printed limit", "averaged, bodies", "averaged, nothing"};
    Small s;
    small_scene(&s, names[kind]);
    s.scene.method.pbd.averaging = true;
    s.materials[0].radius_spread = 0.3;
    if (kind == 1) s.scene.method.pbd.friction_limit = SCREE_FRICTION_PRINTED;
    if (kind == 1) small_shapes(&s);
    if (kind == 2) small_bodies(&s), s.bodies[1].contact = s.bodies[2].contact = SCREE_CONTACT_SAMPLES;
    if (kind == 3) s.scene.method.pbd.iterations = 0;
    assert_same_frames(&s.scene, kind == 3 ? 3 : 16);
  }
}

static void masses_by_height(void **state) {
  (void)state;
  for (int averaging = 0; averaging < 2; averaging++) {
    Small s;
    small_scene(&s, averaging ? "scaled masses, averaged" : "scaled masses");
    s.scene.method.pbd.averaging = averaging;
    s.scene.method.pbd.mass_scaling = 4;
    if (!averaging) s.scene.method.pbd.memory = true; /* bodies pin grains */
    s.scene.gravity = (ScreeVec3){1, -0.5, -9};
    small_bodies(&s);
    assert_same_frames(&s.scene, 18);
  }
}

/* A thousand grains at rest, of which most of a window touch the tank. */
static void a_dense_bed(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "bed");
  s.scene.method.radius = 0.01;
  s.materials[0] = scree_material_default("sand");
  s.grains[0].fill = scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.2, 0.2, 0.2});
  s.grains[0].start = SCREE_START_DENSE;
  s.grains[0].velocity = (ScreeVec3){0, 0, 0};
  s.boundaries[0].shape = scree_shape_box((ScreeVec3){0, 0, 0}, (ScreeVec3){0.2, 0.2, 1});
  s.scene.material_count = s.scene.grains_count = s.scene.boundary_count = 1;
  assert_same_frames(&s.scene, 8);
}

/* Grains that are far away from each other: bins are hashed. */
static void far_apart(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "far apart");
  s.grains[1].fill = scree_shape_box((ScreeVec3){900, -300, 50}, (ScreeVec3){900.3, -299.7, 50.3});
  assert_same_frames(&s.scene, 10);
  s.materials[0].radius_spread = 0.3;
  assert_same_frames(&s.scene, 6);
}

static void solids_of_all_shapes(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "shapes");
  small_shapes(&s);
  s.materials[0] = scree_material_default("sand");
  s.materials[0].radius_spread = 0.2;
  assert_same_frames(&s.scene, 24);
}

/* A mesh with inner edges, in which grains touch several faces: from outside, from inside, turned, on a fast path. */
static void meshes_with_inner_edges(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "hopper");
  s.boundaries[1] = scree_boundary_default(scree_shape_mesh_file("hopper.obj"));
  s.boundaries[1].shape.scale = 0.4;
  s.boundaries[1].shape.position = (ScreeVec3){0.02, 0, 0.1};
  s.boundaries[1].shape.rotation = (ScreeQuat){0.98, 0.1, 0.05, 0.1};
  s.materials[0] = scree_material_default("sand");
  s.materials[0].radius_spread = 0.3;
  for (int k = 0; k < 2; k++)
    s.grains[k].fill = scree_shape_box((ScreeVec3){k ? 0 : -0.2, -0.2, 0.5}, (ScreeVec3){k ? 0.2 : 0, 0.2, 0.8});
  assert_same_frames(&s.scene, 24);
  small_scene(&s, "squat glass");
  s.boundaries[0] = scree_boundary_default(scree_shape_mesh_file("hourglass_squat.obj"));
  s.boundaries[0].inside = true;
  s.boundaries[0].shape.scale = 0.4;
  s.keys[0] = s.keys[1] = scree_key_default();
  s.keys[1].t = 0.2, s.keys[1].position = (ScreeVec3){0.5, 0, 0.1}, s.keys[1].rotation = (ScreeQuat){0.9, 0, 0.4, 0};
  s.bodies[0] = scree_body_default("rock", scree_shape_mesh_file("rock_1.obj"));
  s.bodies[0].motion = SCREE_MOTION_KEYFRAMES, s.bodies[0].keys = s.keys, s.bodies[0].key_count = 2;
  s.scene.bodies = s.bodies, s.scene.body_count = 1;
  s.scene.boundary_count = 1;
  assert_same_frames(&s.scene, 12);
}

/* A chute and a bowl without a bottom: still, on a path, free; beside a closed mesh and springs of p2. */
static void open_meshes(void **state) {
  (void)state;
  static const double corners[] = {-0.2, -0.2, 0.15, 0.2, -0.2, 0.1, 0.2, 0.2, 0.1, -0.2, 0.2, 0.15, 0, 0, 0.02};
  static const int64_t sides[] = {1, 0, 4, 2, 1, 4, 3, 2, 4}; /* one is left out */
  for (int kind = 0; kind < 5; kind++) {
    static const char *const names[] = {"open", "open, from inside", "open, on a path", "open, free", "open, p2"};
    Small s;
    small_scene(&s, names[kind]);
    ScreeShapeDef chute = scree_shape_default(SCREE_SHAPE_MESH);
    chute.mesh.vertices = corners, chute.mesh.vertex_count = 5;
    chute.mesh.triangles = sides, chute.mesh.triangle_count = 3;
    s.materials[0].radius_spread = 0.3;
    if (kind == 4) {
      s.scene.method = scree_method_default("p2"), s.scene.method.radius = 0.03;
      s.materials[0].stiffness = 3000;
    }
    s.boundaries[2] = scree_boundary_default(chute);
    s.boundaries[2].inside = kind == 1;
    s.bodies[0] = scree_body_default("rock", scree_shape_mesh_file("rock_1.obj"));
    s.bodies[0].shape.position = (ScreeVec3){0.1, 0, 0.8};
    s.bodies[1] = scree_body_default("chute", chute);
    s.keys[0] = s.keys[1] = scree_key_default();
    s.keys[1].t = 0.3, s.keys[1].position = (ScreeVec3){0, 0.05, 0.1},
    s.keys[1].rotation = (ScreeQuat){0.9, 0.2, 0, 0.3};
    s.bodies[1].motion = kind == 2 ? SCREE_MOTION_KEYFRAMES : SCREE_MOTION_FREE;
    if (kind == 2) s.bodies[1].keys = s.keys, s.bodies[1].key_count = 2;
    if (kind == 3) s.bodies[1].mass = 3, s.bodies[1].shape.position = (ScreeVec3){0, 0, 0.5};
    s.scene.boundary_count = kind == 2 || kind == 3 ? 2 : 3;
    s.scene.bodies = s.bodies, s.scene.body_count = kind == 2 || kind == 3 ? 2 : 1;
    if (kind == 4) s.scene.method.time_step = 0.004;
    for (int k = 0; k < 2; k++)
      s.grains[k].fill = scree_shape_box((ScreeVec3){k ? 0 : -0.2, -0.2, 0.25}, (ScreeVec3){k ? 0.2 : 0, 0.2, 0.5});
    assert_same_frames(&s.scene, 16);
  }
}

/* More solids than one word of bits has room for, closer to each other than a grain is wide, of which some move. */
static void many_solids(void **state) {
  (void)state;
  enum { SLATS = 80 };
  ScreeBodyDef slats[SLATS];
  char names[SLATS][16];
  Small s;
  small_scene(&s, "slats");
  s.keys[0] = s.keys[1] = scree_key_default();
  s.keys[1].t = 0.1, s.keys[1].position = (ScreeVec3){0, 0, 0.1};
  for (int k = 0; k < SLATS; k++) {
    const double x = -0.24 + 0.006 * k;
    snprintf(names[k], sizeof names[k], "slat_%d", k);
    slats[k] = scree_body_default(names[k], scree_shape_box((ScreeVec3){x, -0.2, 0}, (ScreeVec3){x + 0.004, 0.2, 0.2}));
    slats[k].motion = k % 20 == 7 ? SCREE_MOTION_KEYFRAMES : SCREE_MOTION_FIXED;
    if (k % 20 == 7) slats[k].keys = s.keys, slats[k].key_count = 2;
  }
  for (int k = 0; k < 2; k++)
    s.grains[k].fill = scree_shape_box((ScreeVec3){k ? 0 : -0.2, -0.2, 0.25}, (ScreeVec3){k ? 0.2 : 0, 0.2, 0.5});
  s.scene.bodies = slats, s.scene.body_count = SLATS;
  assert_same_frames(&s.scene, 14);
}

/* In every substep. */
static void machines(void **state) {
  (void)state;
  for (int turning = 0; turning < 2; turning++) {
    Small s;
    small_scene(&s, "wheel");
    small_machine(&s);
    if (turning) s.materials[0] = scree_material_default("sand");
    s.scene.method.pbd.memory = true;
    assert_same_frames(&s.scene, 16);
  }
}

static void free_bodies(void **state) {
  (void)state;
  for (int turning = 0; turning < 2; turning++) {
    Small s;
    small_scene(&s, "free bodies");
    small_bodies(&s);
    if (turning) s.materials[0] = scree_material_default("sand");
    s.scene.method.pbd.memory = true;
    assert_same_frames(&s.scene, 24);
  }
}

static void busy(Small *s) {
  small_scene(s, "births and deaths");
  small_busy(s, 0.1);
}

static void births_deaths_throws(void **state) {
  (void)state;
  Small s;
  busy(&s);
  assert_same_frames(&s.scene, 30);
  busy(&s);
  s.emitter.from = 0.03; /* nobody is there before */
  s.scene.grains_count = 0;
  assert_same_frames(&s.scene, 12);
  busy(&s); /* the largest die, and in the order of those that stay a body is pushed */
  small_bodies(&s);
  s.materials[1].radius_spread = 0.3;
  s.sink.shape = scree_shape_box((ScreeVec3){0.05, -1, -1}, (ScreeVec3){1, 1, 0.3});
  assert_same_frames(&s.scene, 24);
}

/* Most of a thousand grains are in a sink at once, more than are told of at first; so many are near where others pour.
 * In the end sinks are meshes, which the host looks into. */
static void many_are_born_and_die_at_once(void **state) {
  (void)state;
  for (int mesh = 0; mesh < 2; mesh++) {
    Small s;
    busy(&s);
    s.scene.method.radius = 0.02;
    s.scene.events = NULL, s.scene.event_count = 0;
    s.emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 0.3}, .radius = 0.2, .direction = {0, 0, -1}};
    s.emitter.rate = 400;
    s.sink.shape = scree_shape_box((ScreeVec3){-1, -0.15, -1}, (ScreeVec3){1, 1, 2});
    if (mesh) s.sink.shape = scree_shape_mesh_file("rock_1.obj");
    assert_same_frames(&s.scene, 4);
    assert_same_across(&s.scene, 2, 4);
  }
}

/* Who is born goes over the bus, and nobody else. */
static void births_take_no_fields_along(void **state) {
  (void)state;
  enum { FRAMES = 6, MOST = 24000 /* bytes of a step; fields of all grains are ten times as many */ };
  Small s;
  small_scene(&s, "poured");
  small_busy(&s, 1e9);
  s.scene.method.radius = 0.02;
  s.scene.sinks = NULL, s.scene.sink_count = 0;
  s.scene.probes = NULL, s.scene.probe_count = 0;
  s.emitter.rate = 300;
  ScreeWorld *device = world_on(&s.scene, "opencl");
  run_frames(device, 3);
  ScreeStatistics before, after;
  scree_world_statistics(device, &before);
  const int64_t steps = scree_world_step_index(device);
  run_frames(device, FRAMES);
  scree_world_statistics(device, &after);
  const int64_t bytes = after.bus_bytes_up + after.bus_bytes_down - before.bus_bytes_up - before.bus_bytes_down;
  assert_true(after.coarse > before.coarse + 10);
  assert_in_range(bytes, 1, MOST * (scree_world_step_index(device) - steps));
  scree_world_destroy(device);
}

static void checkpoints_go_across(void **state) {
  (void)state;
  Small s;
  busy(&s);
  assert_same_across(&s.scene, 10, 18);
}

/* What a program sees and does between frames. */
static void programs_look_and_steer(void **state) {
  (void)state;
  enum { CELLS = 8 };
  Small s;
  small_scene(&s, "steered");
  ScreeWorld *worlds[2] = {world_on(&s.scene, "cpu"), world_on(&s.scene, "opencl")};
  ScreeError error;
  float heights[2][CELLS * CELLS], *pressure[2];
  const ScreeHeightMap map = {.corner = {-0.25, -0.25}, .cell = 0.5 / CELLS, .nx = CELLS, .ny = CELLS};
  for (int w = 0; w < 2; w++) {
    ScreeWorld *world = worlds[w];
    run_frames(world, 6);
    assert_done(scree_world_heights(world, &map, heights[w], &error));
    pressure[w] = calloc((size_t)scree_world_particles(world).count, sizeof **pressure);
    assert_true(scree_world_pressure(world, false, pressure[w]));
    assert_done(scree_world_impulse(world, (ScreeVec3){0, 0, 0}, 0.2, 1, &error));
    ScreeMaterialDef sand = scree_world_definition(world)->materials[0];
    sand.rolling_friction = 0.1; /* its grains turn from now on */
    assert_done(scree_world_set_material(world, &sand, &error));
    run_frames(world, 6);
    sand.rolling_friction = NAN;
    assert_done(scree_world_set_material(world, &sand, &error));
    run_frames(world, 2);
  }
  assert_memory_equal(heights[0], heights[1], sizeof heights[0]);
  assert_memory_equal(pressure[0], pressure[1], sizeof **pressure * (size_t)scree_world_particles(worlds[0]).count);
  assert_same(worlds[0], worlds[1], "steered");
  for (int sampled = 0; sampled < 2; sampled++) {
    for (int w = 0; w < 2; w++) {
      ScreeBodyDef ball =
          scree_body_default(sampled ? "other" : "ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.06));
      ScreeBodyId body;
      ball.shape.position = (ScreeVec3){0.1 * sampled, 0, 0.6};
      if (sampled) ball.contact = SCREE_CONTACT_SAMPLES;
      assert_done(scree_world_add_body(worlds[w], &ball, &body, &error));
      run_frames(worlds[w], 6);
    }
    assert_same(worlds[0], worlds[1], "with a ball");
    assert_note(worlds[1], "pbd runs on opencl:0");
  }
  for (int w = 0; w < 2; w++) {
    scree_world_destroy(worlds[w]);
    free(pressure[w]);
  }
}

static void what_blows_up_is_a_status(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "blows up");
  assert_same_failure(&s.scene, 1e22);
  assert_same_failure(&s.scene, 3e38);
}

/* What has no device form. */
static void notes_say_what_is_missing(void **state) {
  (void)state;
  Small s;
  small_scene(&s, "notes");
  s.scene.method = scree_method_default("flip"), s.scene.method.radius = 0.03;
  assert_missing(&s.scene, "flip has no device form, and the scene has no fine grains");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(materials_and_settings),
      cmocka_unit_test(iterations_of_the_papers),
      cmocka_unit_test(masses_by_height),
      cmocka_unit_test(a_dense_bed),
      cmocka_unit_test(far_apart),
      cmocka_unit_test(solids_of_all_shapes),
      cmocka_unit_test(meshes_with_inner_edges),
      cmocka_unit_test(open_meshes),
      cmocka_unit_test(many_solids),
      cmocka_unit_test(machines),
      cmocka_unit_test(free_bodies),
      cmocka_unit_test(births_deaths_throws),
      cmocka_unit_test(many_are_born_and_die_at_once),
      cmocka_unit_test(births_take_no_fields_along),
      cmocka_unit_test(checkpoints_go_across),
      cmocka_unit_test(programs_look_and_steer),
      cmocka_unit_test(what_blows_up_is_a_status),
      cmocka_unit_test(notes_say_what_is_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
