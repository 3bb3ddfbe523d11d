/* The same scene on the CPU and on a device, frame by frame, and small scenes for that. In tests the device is PoCL. */
#ifndef TEST_DEVICE_FIXTURE_H
#define TEST_DEVICE_FIXTURE_H

#include <string.h>

#include "world_fixture.h"

static inline void assert_same(const ScreeWorld *cpu, const ScreeWorld *device, const char *what) {
  ScreeStatistics here, there;
  scree_world_statistics(cpu, &here);
  scree_world_statistics(device, &there);
  if (scree_world_state_hash(cpu) != scree_world_state_hash(device))
    print_error("%s: frame %d differs\n", what, (int)scree_world_frame_index(cpu));
  assert_true(scree_world_state_hash(cpu) == scree_world_state_hash(device));
  assert_true(here.steps == there.steps && here.coarse == there.coarse);
  assert_memory_equal(&here.max_overlap, &there.max_overlap, sizeof here.max_overlap); /* of parcels: NaN */
  assert_true(here.max_speed == there.max_speed);
  assert_int_equal(here.warning_count, there.warning_count);
  for (int k = 0; k < here.warning_count; k++) {
    assert_string_equal(here.warnings[k].name, there.warnings[k].name);
    assert_int_equal(here.warnings[k].count, there.warnings[k].count);
  }
  for (ScreeBodyId k = 1; k <= scree_world_body_count(cpu); k++) {
    ScreeBodyState one, other;
    assert_int_equal(scree_world_body(cpu, k, &one), SCREE_OK);
    assert_int_equal(scree_world_body(device, k, &other), SCREE_OK);
    assert_memory_equal(&one.force, &other.force, sizeof one.force);
    assert_memory_equal(&one.torque, &other.torque, sizeof one.torque);
  }
  for (ScreeProbeId k = 1; k <= scree_world_probe_count(cpu); k++) {
    ScreeProbeState one, other;
    assert_int_equal(scree_world_probe(cpu, k, &one), SCREE_OK);
    assert_int_equal(scree_world_probe(device, k, &other), SCREE_OK);
    assert_memory_equal(one.values, other.values, sizeof *one.values * (size_t)one.value_count);
  }
}

static inline void assert_note(const ScreeWorld *world, const char *text) {
  if (!strstr(scree_world_device_note(world), text)) print_error("note: %s\n", scree_world_device_note(world));
  assert_non_null(strstr(scree_world_device_note(world), text));
}

static inline void assert_same_frames(const ScreeSceneDef *scene, int frames) {
  char note[64];
  const char *what = scene->upsample ? "and fine grains on" : "runs on";
  snprintf(note, sizeof note, "%s %s opencl:0", scene->method.name, what);
  ScreeWorld *cpu = world_on(scene, "cpu"), *device = world_on(scene, "opencl");
  assert_note(device, note);
  for (int k = 0; k < frames; k++) {
    run_frames(cpu, 1);
    run_frames(device, 1);
    assert_same(cpu, device, scene->name);
  }
  ScreeStatistics now;
  scree_world_statistics(device, &now);
  assert_true(now.device_memory_peak_bytes > 0 && now.bus_bytes_up > 0 && now.bus_bytes_down > 0);
  scree_world_destroy(cpu);
  scree_world_destroy(device);
}

/* A checkpoint of one goes on on the other, both ways. */
static inline void assert_same_across(const ScreeSceneDef *scene, int half, int all) {
  for (int to = 0; to < 2; to++) {
    ScreeWorld *from = world_on(scene, to ? "cpu" : "opencl"), *other = world_on(scene, to ? "opencl" : "cpu");
    run_frames(from, half);
    run_frames(other, 2); /* what it had is replaced */
    world_hand_over(from, other);
    for (int k = half; k < all; k++) {
      run_frames(from, 1);
      run_frames(other, 1);
      assert_same(from, other, "checkpoint");
    }
    scree_world_destroy(from);
    scree_world_destroy(other);
  }
}

/* What has no device form is said, and runs on the CPU. */
static inline void assert_missing(const ScreeSceneDef *scene, const char *missing) {
  ScreeWorld *cpu = world_on(scene, "cpu"), *device = world_on(scene, "opencl");
  assert_note(device, missing);
  assert_note(device, "nothing runs on opencl:0");
  run_frames(cpu, 2);
  run_frames(device, 2);
  assert_same(cpu, device, missing);
  scree_world_destroy(cpu);
  scree_world_destroy(device);
}

/* Who is thrown so fast that he is not finite any more is told of as by the CPU. */
static inline void assert_same_failure(const ScreeSceneDef *scene, double speed) {
  ScreeError errors[2], error;
  for (int w = 0; w < 2; w++) {
    ScreeWorld *world = world_on(scene, w ? "opencl" : "cpu");
    run_frames(world, 1);
    assert_done(scree_world_impulse(world, (ScreeVec3){0, 0, 0}, 0.3, speed, &error));
    ScreeStatus status = SCREE_OK;
    for (int k = 0; k < 3 && status == SCREE_OK; k++) status = scree_world_step(world, &errors[w]);
    assert_int_equal(status, SCREE_FAILED);
    scree_world_destroy(world);
  }
  assert_string_equal(errors[0].message, errors[1].message);
}

/* ---- small scenes ---- */

typedef struct Small {
  ScreeMaterialDef materials[2];
  ScreeGrainsDef grains[2];
  ScreeBoundaryDef boundaries[3];
  ScreeBodyDef bodies[6];
  ScreeKeyDef keys[2], shaking[2];
  ScreeEmitterDef emitter;
  ScreeSinkDef sink;
  ScreeEventDef bang;
  ScreeProbeDef probes[3];
  ScreeMechanismDef machine;
  ScreeSceneDef scene;
} Small;

/* Two materials side by side, which fall into a tank with a slope in it: some two hundred particles up to `top`. */
static inline void small_tank(Small *s, const char *name, const char *method, double bottom, double top) {
  *s = (Small){.scene = scree_scene_default()};
  for (int k = 0; k < 2; k++) {
    s->materials[k] = scree_material_default(k ? "gravel" : "sand");
    s->grains[k] = scree_grains_default(k ? "gravel" : "sand", scree_shape_box((ScreeVec3){k ? 0 : -0.2, -0.2, bottom},
                                                                               (ScreeVec3){k ? 0.2 : 0, 0.2, top}));
    s->grains[k].velocity = (ScreeVec3){0.4, 0.2, -1};
  }
  s->boundaries[0] = scree_boundary_default(scree_shape_box((ScreeVec3){-0.25, -0.25, 0}, (ScreeVec3){0.25, 0.25, 2}));
  s->boundaries[0].inside = true;
  s->boundaries[1] = scree_boundary_default(scree_shape_plane((ScreeVec3){0.2, 0, 0}, (ScreeVec3){-1, 0, 1}));
  s->scene.name = name;
  s->scene.method = scree_method_default(method);
  s->scene.method.radius = 0.03;
  s->scene.materials = s->materials, s->scene.material_count = 2;
  s->scene.grains = s->grains, s->scene.grains_count = 2;
  s->scene.boundaries = s->boundaries, s->scene.boundary_count = 2;
}

/* Births, deaths, a throw at that time, and probes. */
static inline void small_busy(Small *s, double thrown) {
  s->emitter = scree_emitter_default("sand");
  s->emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 0.8}, .radius = 0.1, .direction = {0, 0, -1}};
  s->emitter.rate = 40;
  s->emitter.speed = 1;
  s->sink.shape = scree_shape_box((ScreeVec3){-1, 0.1, -1}, (ScreeVec3){1, 1, 0.08});
  s->bang.t = thrown;
  s->bang.impulse = (ScreeImpulseDef){.center = {0, 0, 0}, .radius = 0.3, .speed = 2};
  s->probes[0] = scree_probe_default("energy", SCREE_PROBE_ENERGY);
  s->probes[1] = scree_probe_default("flow", SCREE_PROBE_FLOW);
  s->probes[1].plane_z = 0.5;
  s->probes[2] = scree_probe_default("creep", SCREE_PROBE_CREEP);
  s->scene.emitters = &s->emitter, s->scene.emitter_count = 1;
  s->scene.sinks = &s->sink, s->scene.sink_count = 1;
  s->scene.events = &s->bang, s->scene.event_count = 1;
  s->scene.probes = s->probes, s->scene.probe_count = 3;
}

/* Every plain shape and a mesh, turned; a box and the mesh follow a path. */
static inline void small_shapes(Small *s) {
  static const char *const names[] = {"box", "sphere", "cylinder", "capsule", "mesh"};
  ScreeShapeDef shapes[] = {scree_shape_box((ScreeVec3){-0.08, -0.08, -0.05}, (ScreeVec3){0.08, 0.08, 0.05}),
                            scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.08), scree_shape_default(SCREE_SHAPE_CYLINDER),
                            scree_shape_default(SCREE_SHAPE_CAPSULE), scree_shape_mesh_file("rock_1.obj")};
  enum { BODIES = sizeof shapes / sizeof *shapes };
  shapes[2].cylinder = (ScreeCylinderDef){.base = {0, 0, -0.1}, .radius = 0.06, .height = 0.2};
  shapes[3].capsule = (ScreeCapsuleDef){.base = {0, 0, -0.1}, .radius = 0.05, .height = 0.2};
  s->keys[0] = s->keys[1] = scree_key_default();
  s->keys[1].t = 0.3;
  s->keys[0].position = (ScreeVec3){-0.15, 0, 0.12}, s->keys[1].position = (ScreeVec3){0.1, 0.1, 0.1};
  s->keys[1].rotation = (ScreeQuat){0.7, 0, 0.7, 0.1};
  for (int k = 0; k < BODIES; k++) {
    s->bodies[k] = scree_body_default(names[k], shapes[k]);
    s->bodies[k].motion = SCREE_MOTION_FIXED;
    s->bodies[k].shape.position = (ScreeVec3){-0.2 + 0.1 * k, 0.1 * (k % 3) - 0.1, 0.1};
    s->bodies[k].shape.rotation = (ScreeQuat){0.9, 0.2 * k, 0.3, -0.1};
  }
  for (int k = 0; k < BODIES; k += BODIES - 1) {
    s->bodies[k].motion = SCREE_MOTION_KEYFRAMES;
    s->bodies[k].keys = s->keys, s->bodies[k].key_count = 2;
  }
  for (int k = 0; k < 2; k++)
    s->grains[k].fill = scree_shape_box((ScreeVec3){k ? 0 : -0.2, -0.2, 0.3}, (ScreeVec3){k ? 0.2 : 0, 0.2, 0.6});
  s->scene.bodies = s->bodies, s->scene.body_count = BODIES;
}

/* Parts of a mechanism, which grains push and which push them. */
static inline void small_machine(Small *s) {
  s->scene.mechanism = &s->machine;
  s->machine = scree_mechanism_default("paddle_wheel.xml");
  for (int k = 0; k < 2; k++)
    s->grains[k].fill = scree_shape_box((ScreeVec3){k ? 0 : -0.2, -0.2, 0.5}, (ScreeVec3){k ? 0.2 : 0, 0.2, 0.9});
}

/* Free bodies: light and heavy ones, which press grains against floor and walls; two turn as they fall. */
static inline void small_bodies(Small *s) {
  static const char *const names[] = {"plate", "ball", "rock"};
  const ScreeShapeDef shapes[] = {scree_shape_box((ScreeVec3){-0.15, -0.15, -0.02}, (ScreeVec3){0.15, 0.15, 0.02}),
                                  scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.07), scree_shape_mesh_file("rock_1.obj")};
  for (int k = 0; k < 3; k++) {
    s->bodies[k] = scree_body_default(names[k], shapes[k]);
    s->bodies[k].density = k == 1 ? 300 : 8000;
    s->bodies[k].shape.position = (ScreeVec3){k == 1 ? 0.15 : -0.05, 0.1 * k - 0.1, 0.75 + 0.15 * k};
    s->bodies[k].spin = (ScreeVec3){0, 2.0 * k, 1};
  }
  s->scene.bodies = s->bodies, s->scene.body_count = 3;
}

#endif
