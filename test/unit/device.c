/* Fine grains on an OpenCL device give the bits of the CPU: whatever moves them, whatever they meet, through births,
 * deaths and checkpoints. What a device cannot do is a status with one line. In tests the device is PoCL. */
#include <math.h>
#include <string.h>

#include "device/device.h"
#include "everything_fixture.h"
#include "neighbors/scan_device.h"
#include "neighbors/scan_shared.h"
#include "upsample/internal.h"
#include "upsample_fixture.h"
#include "world/probes/probes.h"
#include "world_fixture.h"

static void assert_on_device(const ScreeWorld *world) {
  ScreeStatistics now;
  scree_world_statistics(world, &now);
  assert_string_equal(now.device, "opencl:0");
  assert_non_null(strstr(scree_world_device_note(world), "fine grains on opencl:0"));
  assert_true(now.device_memory_peak_bytes > 0 && now.bus_bytes_up > 0);
}

/* Frame by frame. Returns how many fine grains were there at the end. */
static int64_t assert_same_frames(const ScreeSceneDef *scene, int frames) {
  ScreeWorld *cpu = world_on(scene, "cpu"), *device = world_on(scene, "opencl");
  assert_string_equal(scree_world_device_note(cpu), "");
  for (int k = 0; k < frames; k++) {
    run_frames(cpu, 1);
    run_frames(device, 1);
    if (scree_world_grains_hash(cpu) != scree_world_grains_hash(device))
      print_error("%s, mode %d: frame %d differs\n", scene->name, scene->upsample->mode, k + 1);
    assert_true(scree_world_grains_hash(cpu) == scree_world_grains_hash(device));
    assert_true(scree_world_state_hash(cpu) == scree_world_state_hash(device));
  }
  int64_t count = scree_world_grains(device).count;
  assert_int_equal(count, scree_world_grains(cpu).count);
  assert_on_device(device);
  scree_world_destroy(cpu);
  scree_world_destroy(device);
  return count;
}

static void everything_is_the_same(void **state) {
  (void)state;
  const char *arm = "unused";
  Everything e;
  for (int which = EVERYTHING_PBD; which <= EVERYTHING_NONE; which++)
    for (int mode = SCREE_UPSAMPLE_BETTER; mode <= SCREE_UPSAMPLE_PAPER; mode++) {
      everything(&e, which, 0.15, 7, arm);
      e.upsample.mode = mode;
      e.scene.wind = (ScreeVec3){4, 1, 0};
      assert_true(assert_same_frames(&e.scene, 16) > 0);
    }
}

/* Sand of pbd beside one wall, with fine grains. */
static ScreeSceneDef sand_scene(const char *name, double radius, const ScreeMaterialDef *sand,
                                const ScreeGrainsDef *grains, int32_t grains_count, const ScreeBoundaryDef *wall,
                                const ScreeUpsampleDef *upsample) {
  ScreeSceneDef scene = scree_scene_default();
  scene.name = name;
  scene.method = scree_method_default("pbd");
  scene.method.radius = radius;
  scene.materials = sand, scene.material_count = 1;
  scene.grains = grains, scene.grains_count = grains_count;
  scene.boundaries = wall, scene.boundary_count = 1;
  scene.upsample = upsample;
  return scene;
}

/* Solids of every plain shape, turned, moved and at rest, that fast grains meet; and closed meshes with sharp edges. */
static void solids_of_all_shapes(void **state) {
  (void)state;
  ScreeMaterialDef sand = scree_material_default("sand");
  sand.radius_spread = 0.3;
  ScreeGrainsDef grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.3, -0.3, 0.6}, (ScreeVec3){0.3, 0.3, 0.8}));
  grains.velocity = (ScreeVec3){0.3, 0.1, -3};
  ScreeShapeDef shapes[] = {scree_shape_box((ScreeVec3){-0.1, -0.1, -0.05}, (ScreeVec3){0.1, 0.1, 0.05}),
                            scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.1), scree_shape_default(SCREE_SHAPE_CYLINDER),
                            scree_shape_default(SCREE_SHAPE_CAPSULE), scree_shape_mesh_file("rock_1.obj")};
  shapes[2].cylinder = (ScreeCylinderDef){.base = {0, 0, -0.1}, .radius = 0.08, .height = 0.2};
  shapes[3].capsule = (ScreeCapsuleDef){.base = {0, 0, -0.1}, .radius = 0.06, .height = 0.2};
  enum { BODIES = sizeof shapes / sizeof *shapes };
  ScreeBodyDef bodies[BODIES];
  ScreeKeyDef keys[2] = {scree_key_default(), scree_key_default()};
  keys[1].t = 0.5;
  for (int k = 0; k < BODIES; k++) {
    static const char *const names[BODIES] = {"box", "sphere", "cylinder", "capsule", "mesh"};
    bodies[k] = scree_body_default(names[k], shapes[k]);
    bodies[k].motion = SCREE_MOTION_FIXED;
    bodies[k].shape.position = (ScreeVec3){-0.24 + 0.12 * k, 0.1 * (k % 3) - 0.1, 0.3};
    bodies[k].shape.rotation = (ScreeQuat){0.9, 0.2 * k, 0.3, -0.1};
  }
  keys[0].position = (ScreeVec3){-0.2, 0, 0.3}, keys[1].position = (ScreeVec3){0.2, 0.1, 0.25};
  keys[1].rotation = (ScreeQuat){0.7, 0, 0.7, 0.1};
  bodies[0].motion = SCREE_MOTION_KEYFRAMES, bodies[0].keys = keys, bodies[0].key_count = 2;
  ScreeBoundaryDef floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0.1, 0, 1}));
  ScreeUpsampleDef upsample = scree_upsample_default(0.008);
  ScreeSceneDef scene = sand_scene("shapes", 0.025, &sand, &grains, 1, &floor, &upsample);
  scene.bodies = bodies, scene.body_count = BODIES;
  for (upsample.mode = SCREE_UPSAMPLE_BETTER; upsample.mode <= SCREE_UPSAMPLE_PAPER; upsample.mode++)
    assert_same_frames(&scene, 20);
}

static void a_mesh_that_holds_them(void **state) {
  (void)state;
  const char *const sets[] = {"method.radius=0.07", "upsample.radius=0.022"};
  for (int mode = SCREE_UPSAMPLE_BETTER; mode <= SCREE_UPSAMPLE_PAPER; mode++) {
    char path[SCREE_FILE_MAX];
    ScreeScene *loaded = NULL;
    ScreeError error;
    ScreeSceneOptions options = {.sets = sets, .set_count = 2};
    assert_done(scree_scene_find("sommer2022/hourglass", path, sizeof path, &error));
    assert_done(scree_scene_load(path, &options, &loaded, &error));
    ScreeSceneDef scene = *scree_scene_definition(loaded);
    ScreeUpsampleDef upsample = *scene.upsample;
    upsample.mode = mode;
    scene.upsample = &upsample;
    assert_true(assert_same_frames(&scene, 20) > 15000);
    scree_scene_free(loaded);
  }
}

/* A block with slanting sides, as a mesh: sharp edges and corners all round. */
static ScreeShapeDef slanting_block(double half, double height) {
  static double vertices[2][24];
  static const int64_t triangles[] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                      1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
  static int next = 0;
  double *at = vertices[next++ % 2];
  for (int k = 0; k < 8; k++) {
    const double side = k < 4 ? half : 1.3 * half;
    at[3 * k] = k % 4 == 0 || k % 4 == 3 ? -side : side;
    at[3 * k + 1] = k % 4 < 2 ? -side : side;
    at[3 * k + 2] = k < 4 ? 0 : height;
  }
  ScreeShapeDef shape = scree_shape_default(SCREE_SHAPE_MESH);
  shape.mesh = (ScreeMeshDef){.vertices = at, .triangles = triangles, .vertex_count = 8, .triangle_count = 12};
  return shape;
}

/* Fast grains in a tub of one mesh, with a block of another that goes through them: those at the walls are looked at
 * closer on the device, and next to nothing of them comes down. */
static void meshes_with_sharp_edges(void **state) {
  (void)state;
  enum { FRAMES = 16, MOST = 8192 };
  ScreeMaterialDef sand = scree_material_default("sand");
  sand.radius_spread = 0.3;
  ScreeGrainsDef grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.15, -0.15, 0.3}, (ScreeVec3){0.15, 0.15, 0.5}));
  grains.velocity = (ScreeVec3){4, 1.5, -6};
  ScreeBoundaryDef tub = scree_boundary_default(slanting_block(0.25, 0.6));
  tub.inside = true;
  ScreeBodyDef block = scree_body_default("block", slanting_block(0.06, 0.1));
  ScreeKeyDef keys[2] = {scree_key_default(), scree_key_default()};
  keys[0].position = (ScreeVec3){-0.15, 0, 0.1}, keys[1].position = (ScreeVec3){0.15, 0.05, 0.05};
  keys[1].rotation = (ScreeQuat){0.7, 0.2, 0.7, 0.1}, keys[1].t = 0.4;
  block.motion = SCREE_MOTION_KEYFRAMES, block.keys = keys, block.key_count = 2;
  ScreeUpsampleDef upsample = scree_upsample_default(0.004);
  ScreeSceneDef scene = sand_scene("sharp edges", 0.02, &sand, &grains, 1, &tub, &upsample);
  scene.bodies = &block, scene.body_count = 1;
  assert_true(assert_same_frames(&scene, FRAMES) > 10000);
  ScreeWorld *device = world_on(&scene, "opencl");
  assert_true(device->upsample->solids[0].doubt > 0 && device->upsample->solids[1].doubt > 0);
  const int64_t before = device_use(device->device).down;
  run_frames(device, FRAMES);
  assert_in_range(device_use(device->device).down - before, 1, FRAMES * MOST);
  scree_world_destroy(device);
}

/* Heaps three kilometres apart: cells of both fall together in the tables, which are too small for all between. */
static void heaps_far_apart(void **state) {
  (void)state;
  ScreeMaterialDef sand = scree_material_default("sand");
  ScreeGrainsDef grains[3];
  ScreeBoundaryDef floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  ScreeUpsampleDef upsample = scree_upsample_default(0.015);
  for (int k = 0; k < 3; k++) {
    const ScreeVec3 at = {3000.07 * (k > 0) - 1500, k == 2 ? 1999.9 : 0, 0.02};
    grains[k] = scree_grains_default("sand", scree_shape_box(at, (ScreeVec3){at.x + 0.3, at.y + 0.3, at.z + 0.5}));
    grains[k].velocity = (ScreeVec3){1, 0.5 * k, -1};
  }
  ScreeSceneDef scene = sand_scene("far apart", 0.04, &sand, grains, 3, &floor, &upsample);
  for (upsample.mode = SCREE_UPSAMPLE_BETTER; upsample.mode <= SCREE_UPSAMPLE_PAPER; upsample.mode++)
    assert_true(assert_same_frames(&scene, 8) > 3000);
}

/* Of the table of a world's fine grains, the longest side of the box round a group, in radii, on average. */
static double group_width(const ScreeWorld *world) {
  const ScreeParticles fine = scree_world_grains(world);
  const float *const places[3] = {fine.x, fine.y, fine.z};
  double sum = 0;
  int64_t groups = 0;
  for (int64_t b = 0; b + FINE_GROUP <= fine.count; b += FINE_GROUP, groups++) {
    float widest = 0;
    for (int axis = 0; axis < 3; axis++) {
      float low = INFINITY, high = -INFINITY;
      for (int64_t i = b; i < b + FINE_GROUP; i++) {
        low = fminf(low, places[axis][i]);
        high = fmaxf(high, places[axis][i]);
      }
      widest = fmaxf(widest, high - low);
    }
    sum += (double)widest;
  }
  return sum / (double)groups / world->definition.scene.upsample->radius;
}

/* Fills that a tile makes and small ones, turned and cut off at a wall, with radii that are equal and that differ, at
 * random and dense: they come into being on the device, and their table is put in order there. */
static void fills_are_placed_there(void **state) {
  (void)state;
  ScreeMaterialDef sands[2] = {scree_material_default("even"), scree_material_default("mixed")};
  sands[1].radius_spread = 0.3;
  sands[1].radius_distribution = SCREE_RADII_LOGNORMAL;
  ScreeGrainsDef grains[4];
  for (int k = 0; k < 4; k++) {
    const double half = k < 3 ? 0.17 : 0.06;
    grains[k] = scree_grains_default(k == 1 ? "mixed" : "even", scree_shape_box((ScreeVec3){-half, -half, -half},
                                                                                (ScreeVec3){half, half, 1.3 * half}));
    grains[k].fill.position = (ScreeVec3){0.5 * k, 0.1 * k, 0.15};
    grains[k].fill.rotation = (ScreeQuat){0.9, 0.1 * k, 0.2, -0.1 * k};
    grains[k].velocity = (ScreeVec3){0.3 * k, 0.1, -0.5};
  }
  grains[2].start = SCREE_START_DENSE;
  ScreeBoundaryDef floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0.1, 0, 1}));
  ScreeUpsampleDef upsample = scree_upsample_default(0.006);
  ScreeSceneDef scene = sand_scene("placed", 0.03, sands, grains, 4, &floor, &upsample);
  scene.material_count = 2;
  scene.method = scree_method_default("none");
  scene.method.radius = 0.03;
  ScreeWorld *cpu = world_on(&scene, "cpu"), *device = world_on(&scene, "opencl");
  const int64_t count = upsample_grains(device->upsample)->count;
  assert_true(count > 55000);
  assert_null(upsample_grains(device->upsample)->x); /* the host has no room for them, and most never were there */
  assert_in_range(device_use(device->device).up, 1, 16 * count);
  assert_true(scree_world_grains_hash(cpu) == scree_world_grains_hash(device));
  for (int k = 0; k < 3; k++) {
    device->upsample->storage.unsorted = true;
    run_frames(cpu, 1);
    run_frames(device, 1);
    assert_true(scree_world_grains_hash(cpu) == scree_world_grains_hash(device));
  }
  assert_true(group_width(device) < 1.3 * group_width(cpu));
  scree_world_destroy(cpu);
  scree_world_destroy(device);
}

/* An emitter over a sink: a table that begins empty, grows and is put in order again. */
static void a_table_that_begins_empty(void **state) {
  (void)state;
  ScreeMaterialDef sand = scree_material_default("sand");
  ScreeEmitterDef emitter = scree_emitter_default("sand");
  ScreeShapeDef sink = scree_shape_box((ScreeVec3){-1, -1, -1}, (ScreeVec3){1, 1, 0.15});
  ScreeBoundaryDef floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  ScreeUpsampleDef upsample = scree_upsample_default(0.006);
  ScreeSceneDef scene = sand_scene("emitted", 0.02, &sand, NULL, 0, &floor, &upsample);
  emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 0.4}, .radius = 0.08, .direction = {0, 0, -1}};
  emitter.rate = 400;
  emitter.speed = 1.5;
  scene.emitters = &emitter, scene.emitter_count = 1;
  ScreeSinkDef drain = {.shape = sink};
  scene.sinks = &drain, scene.sink_count = 1;
  assert_true(assert_same_frames(&scene, 24) > 500);
}

/* Sums that a device makes, of more grains than a chunk has; and a mesh that is added while fine grains are there. */
static void probes_and_a_mesh_that_is_added(void **state) {
  (void)state;
  ScreeMaterialDef sand = scree_material_default("sand");
  sand.radius_spread = 0.2;
  sand.rolling_friction = 0.1;
  ScreeGrainsDef grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.2, -0.2, 0.02}, (ScreeVec3){0.2, 0.2, 0.6}));
  ScreeBoundaryDef floor = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  ScreeProbeDef probes[4] = {
      scree_probe_default("flow", SCREE_PROBE_FLOW), scree_probe_default("mass", SCREE_PROBE_MASS_IN),
      scree_probe_default("energy", SCREE_PROBE_ENERGY), scree_probe_default("creep", SCREE_PROBE_CREEP)};
  probes[0].plane_z = 0.2;
  probes[1].box = scree_shape_box((ScreeVec3){-0.1, -1, 0}, (ScreeVec3){1, 1, 0.3});
  ScreeUpsampleDef upsample = scree_upsample_default(0.008);
  ScreeSceneDef scene = sand_scene("probes", 0.018, &sand, &grains, 1, &floor, &upsample);
  scene.probes = probes;
  for (scene.probe_count = 3; scene.probe_count <= 4; scene.probe_count++) { /* the last looks at grains itself */
    ScreeWorld *worlds[2] = {world_on(&scene, "cpu"), world_on(&scene, "opencl")};
    for (int k = 0; k < 12; k++) {
      for (int w = 0; w < 2; w++) {
        ScreeBodyDef block = scree_body_default("block", slanting_block(0.06, 0.1));
        ScreeBodyId body;
        ScreeError error;
        block.shape.position = (ScreeVec3){0.05, 0, 0.75};
        block.density = 4000;
        if (k == 5) assert_done(scree_world_add_body(worlds[w], &block, &body, &error));
        run_frames(worlds[w], 1);
      }
      for (int p = 0; p < scene.probe_count; p++)
        assert_memory_equal(worlds[0]->probes[p].state.values, worlds[1]->probes[p].state.values,
                            sizeof worlds[0]->probes[p].state.values);
      assert_true(scree_world_grains_hash(worlds[0]) == scree_world_grains_hash(worlds[1]));
    }
    assert_true(worlds[0]->state.particles.count > PROBE_CHUNK && worlds[1]->probes_device);
    assert_true(worlds[0]->probes[0].state.values[0] != 0);
    for (int w = 0; w < 2; w++) scree_world_destroy(worlds[w]);
  }
}

/* A checkpoint of one goes on on the other. */
static void checkpoints_go_across(void **state) {
  (void)state;
  enum { HALF = 6, ALL = 14 };
  Everything e;
  for (int mode = SCREE_UPSAMPLE_BETTER; mode <= SCREE_UPSAMPLE_PAPER; mode++)
    for (int to = 0; to < 2; to++) {
      everything(&e, EVERYTHING_PBD, 0.15, 7, "unused");
      e.upsample.mode = mode;
      ScreeWorld *from = world_on(&e.scene, to ? "cpu" : "opencl"),
                 *other = world_on(&e.scene, to ? "opencl:0" : "cpu");
      run_frames(from, HALF);
      run_frames(other, 2); /* what it had is replaced */
      world_hand_over(from, other);
      run_frames(from, ALL - HALF);
      run_frames(other, ALL - HALF);
      assert_true(scree_world_grains_hash(from) == scree_world_grains_hash(other));
      assert_true(scree_world_state_hash(from) == scree_world_state_hash(other));
      scree_world_destroy(from);
      scree_world_destroy(other);
    }
}

/* Solids that have no form on a device send the fine grains to the CPU, and that is said. */
static void what_has_no_form_runs_on_the_cpu(void **state) {
  (void)state;
  Everything e;
  everything(&e, EVERYTHING_TERRAIN, 0.15, 7, "unused");
  ScreeWorld *cpu = world_on(&e.scene, "cpu"), *device = world_on(&e.scene, "opencl");
  assert_non_null(strstr(scree_world_device_note(device), "fine grains on the CPU"));
  run_frames(cpu, 6);
  run_frames(device, 6);
  assert_true(scree_world_grains_hash(cpu) == scree_world_grains_hash(device));
  assert_true(scree_world_state_hash(cpu) == scree_world_state_hash(device));
  scree_world_destroy(cpu);
  scree_world_destroy(device);
}

static void a_device_that_is_not_there(void **state) {
  (void)state;
  static const char *const names[] = {"opencl:99", "opencl:-1", "opencl:", "opencl:x",
                                      "opencl:0x", "cuda",      "",        "opencl:99999999999"};
  Everything e;
  everything(&e, EVERYTHING_NONE, 0.15, 5, "unused");
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    ScreeWorldOptions options = scree_world_options_default();
    ScreeWorld *world = NULL;
    ScreeError error;
    options.device = names[k];
    assert_int_equal(scree_world_create(&e.scene, &options, &world, &error), SCREE_BAD_INPUT);
    assert_int_equal(scree_exit_code(error.status), 2);
    assert_null(world);
    assert_non_null(strstr(error.message, names[k]));
  }
}

static void with_device(void (*use)(Core *core, Device *device)) {
  Core core;
  Device *device = NULL;
  ScreeWorldOptions options = scree_world_options_default();
  assert_int_equal(core_create(&core, &options), SCREE_OK);
  int64_t before = core.memory.used;
  assert_int_equal(device_open(&core, 0, &device), SCREE_OK);
  use(&core, device);
  device_close(&core, device);
  assert_int_equal(core.memory.used, before);
  core_destroy(&core);
}

static void use_too_much(Core *core, Device *device) {
  DeviceBuffer small = {.handle = NULL}, large = {.handle = NULL};
  const ScreeDeviceInfo *info = device_info(device);
  assert_int_equal(device_reserve(core, device, &small, 1000, 0, "small"), SCREE_OK);
  assert_int_equal(device_reserve(core, device, &large, info->buffer_bytes + 1, 0, "large"), SCREE_NO_MEMORY);
  ScreeError error;
  core_report(core, SCREE_NO_MEMORY, &error);
  assert_non_null(strstr(error.message, "large"));
  assert_non_null(strstr(error.message, "in one piece"));
  device_release(device, &small);
  assert_int_equal(device_use(device).memory, 0);
  assert_true(device_use(device).memory_peak >= 1000);
}

static void too_much_memory_is_a_status(void **state) {
  (void)state;
  with_device(use_too_much);
}

static void build_nonsense(Core *core, Device *device) {
  DeviceProgram *program = NULL;
  ScreeError error;
  assert_int_equal(device_build(core, device, "upsample/fine.cl", "-Dkernel=nonsense", &program), SCREE_FAILED);
  core_report(core, SCREE_FAILED, &error);
  assert_non_null(strstr(error.message, "building upsample/fine.cl failed"));
  assert_null(strchr(error.message, '\n'));
  assert_int_equal(device_build(core, device, "no/such.cl", "", &program), SCREE_FAILED);
  core_report(core, SCREE_FAILED, &error);
  assert_null(program);
}

static void a_build_that_fails_is_a_status(void **state) {
  (void)state;
  with_device(build_nonsense);
}

/* More work items than one launch takes: the gaps that every third leaves are closed. */
static void close_gaps(Core *core, Device *device) {
  enum { COUNT = 2500000, DEAD = COUNT / 3 };
  int32_t *words = malloc(sizeof *words * COUNT), *dead = malloc(sizeof *dead * DEAD);
  const int32_t first = 0, left = COUNT - DEAD, many = DEAD;
  DeviceProgram *program = NULL;
  DeviceKernel *kernel = NULL;
  DeviceBuffer from = {.handle = NULL}, to = {.handle = NULL}, gone = {.handle = NULL};
  for (int32_t k = 0; k < COUNT; k++) words[k] = 7 * k;
  for (int32_t k = 0; k < DEAD; k++) dead[k] = 3 * k + 1;
  assert_int_equal(device_build(core, device, "upsample/fine.cl", "", &program), SCREE_OK);
  assert_int_equal(device_kernel(core, program, "fine_keep_words", "gaps", &kernel), SCREE_OK);
  assert_int_equal(device_reserve(core, device, &from, 4 * COUNT, 0, "from"), SCREE_OK);
  assert_int_equal(device_reserve(core, device, &to, 4 * COUNT, 0, "to"), SCREE_OK);
  assert_int_equal(device_reserve(core, device, &gone, 4 * DEAD, 0, "gone"), SCREE_OK);
  assert_int_equal(device_write(core, device, &from, 0, 4 * COUNT, words), SCREE_OK);
  assert_int_equal(device_write(core, device, &gone, 0, 4 * DEAD, dead), SCREE_OK);
  const DeviceArgument arguments[] = {DEVICE_VALUE(first), DEVICE_VALUE(left),   DEVICE_BUFFER(&gone),
                                      DEVICE_VALUE(many),  DEVICE_BUFFER(&from), DEVICE_BUFFER(&to)};
  assert_int_equal(device_launch(core, kernel, 0, left, FINE_GROUP, arguments, 6), SCREE_OK);
  assert_int_equal(device_read(core, device, &to, 0, 4 * (int64_t)left, words), SCREE_OK);
  assert_int_equal(device_finish(core, device), SCREE_OK);
  for (int32_t k = 0; k < left; k++) assert_int_equal(words[k], 7 * (k + k / 2 + k % 2));
  DeviceUse use = device_use(device);
  assert_int_equal(use.up, 4 * (COUNT + DEAD));
  assert_int_equal(use.down, 4 * (int64_t)left);
  bool timed = false;
  for (int32_t k = 0; k < use.phase_count; k++)
    timed |= strcmp(use.phases[k].name, "gaps") == 0 && use.phases[k].calls == 2 && use.phases[k].seconds > 0;
  assert_true(timed);
  device_kernel_free(core, kernel);
  device_program_free(core, program);
  device_release(device, &from);
  device_release(device, &to);
  device_release(device, &gone);
  free(words);
  free(dead);
}

static void many_items_take_several_launches(void **state) {
  (void)state;
  with_device(close_gaps);
}

/* Numbers of one block, of few, and of so many that their sums are added up by themselves. */
static void add_up(Core *core, Device *device) {
  static const int32_t counts[] = {1, SCAN_BLOCK, SCAN_BLOCK + 1, SCAN_FEW * SCAN_BLOCK, SCAN_FEW * SCAN_BLOCK + 1};
  enum { MOST = SCAN_FEW * SCAN_BLOCK + 1 };
  int32_t *words = malloc(sizeof *words * MOST);
  DeviceProgram *program = NULL;
  DeviceBuffer values = {.handle = NULL};
  ScanDevice scan = {.device = NULL};
  assert_int_equal(device_build(core, device, "neighbors/scan.cl", "", &program), SCREE_OK);
  assert_int_equal(scan_open(core, device, program, &scan), SCREE_OK);
  assert_int_equal(device_reserve(core, device, &values, 4 * MOST, 0, "values"), SCREE_OK);
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    for (int32_t k = 0; k < counts[c]; k++) words[k] = k % 5;
    assert_int_equal(device_write(core, device, &values, 0, 4 * (int64_t)counts[c], words), SCREE_OK);
    assert_int_equal(scan_run(core, &scan, &values, counts[c]), SCREE_OK);
    assert_int_equal(device_read(core, device, &values, 0, 4 * (int64_t)counts[c], words), SCREE_OK);
    for (int32_t k = 0, sum = 0; k < counts[c]; sum += k++ % 5) assert_int_equal(words[k], sum);
  }
  scan_close(core, &scan);
  device_program_free(core, program);
  device_release(device, &values);
  free(words);
}

static void sums_of_those_before(void **state) {
  (void)state;
  with_device(add_up);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_device_that_is_not_there),       cmocka_unit_test(too_much_memory_is_a_status),
      cmocka_unit_test(a_build_that_fails_is_a_status),   cmocka_unit_test(many_items_take_several_launches),
      cmocka_unit_test(everything_is_the_same),           cmocka_unit_test(solids_of_all_shapes),
      cmocka_unit_test(a_mesh_that_holds_them),           cmocka_unit_test(checkpoints_go_across),
      cmocka_unit_test(what_has_no_form_runs_on_the_cpu), cmocka_unit_test(sums_of_those_before),
      cmocka_unit_test(fills_are_placed_there),           cmocka_unit_test(a_table_that_begins_empty),
      cmocka_unit_test(meshes_with_sharp_edges),          cmocka_unit_test(heaps_far_apart),
      cmocka_unit_test(probes_and_a_mesh_that_is_added),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
