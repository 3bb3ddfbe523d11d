/* The same scene on the CPU and on a device, frame by frame. In tests the device is PoCL. */
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

#endif
