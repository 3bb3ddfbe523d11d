/* Terrain on an OpenCL device gives the bits of the CPU, with pbd and p2: grains on a heightfield, what rolls over its
 * edge, bodies that press it, and grains that become ground and ground that becomes grains. In tests the device is
 * PoCL. */
#include <math.h>

#include "device_fixture.h"

static const char *const methods[] = {"pbd", "p2"};
enum { METHODS = sizeof methods / sizeof *methods };

/* Steep enough to slide, with a step in it. */
static double hilly(void *context, double x, double y) {
  (void)context;
  return 0.1 + 0.05 * sin(17 * x) * cos(13 * y) + (x > 0.05 ? 0.06 : 0);
}

static void small_scene(Small *s, ScreeTerrainDef *ground, int method, const char *name) {
  small_tank(s, name, methods[method], 0.22, 0.5);
  *ground = scree_terrain_default("sand");
  ground->size = (ScreeVec2){0.5, 0.5}, ground->cell = 0.05;
  ground->origin = (ScreeVec2){-0.25, -0.25};
  ground->height_at = hilly;
  ground->exchange = false;
  s->scene.terrain = ground;
}

static void grains_on_a_surface(void **state) {
  (void)state;
  for (int method = 0; method < METHODS; method++) {
    Small s;
    ScreeTerrainDef ground;
    small_scene(&s, &ground, method, "hills");
    assert_same_frames(&s.scene, 14);
    small_scene(&s, &ground, method, "over the edge"); /* some land beside it, some in its sides */
    ground.size = (ScreeVec2){0.3, 0.25}, ground.cell = 0.02, ground.base = -0.05;
    s.materials[0].radius_spread = 0.3;
    s.scene.boundary_count = 1;
    assert_same_frames(&s.scene, 14);
  }
}

/* Bodies that fall on it, one of them touched by samples; it erodes. */
static void bodies_press(void **state) {
  (void)state;
  for (int method = 0; method < METHODS; method++) {
    Small s;
    ScreeTerrainDef ground;
    small_scene(&s, &ground, method, "pressed");
    small_bodies(&s);
    s.bodies[1].contact = SCREE_CONTACT_SAMPLES;
    ground.theta_out_deg = 25, ground.theta_stop_deg = 20;
    assert_same_frames(&s.scene, 20);
  }
}

/* A plough on a path digs grains out; others come to rest and become ground. */
static void exchange(void **state) {
  (void)state;
  for (int method = 0; method < METHODS; method++) {
    Small s;
    ScreeTerrainDef ground;
    small_scene(&s, &ground, method, "exchange");
    ground.exchange = true;
    ground.cell = 0.1, ground.height_at = NULL, ground.height = 0.15;
    ground.theta_out_deg = 32, ground.theta_stop_deg = 28;
    s.scene.boundary_count = 1;
    s.keys[0] = s.keys[1] = scree_key_default();
    s.keys[0].position = (ScreeVec3){-0.3, 0, 0.14}, s.keys[1].position = (ScreeVec3){0.2, 0, 0.1};
    s.keys[1].t = 0.5;
    s.bodies[0] =
        scree_body_default("plough", scree_shape_box((ScreeVec3){-0.03, -0.15, -0.05}, (ScreeVec3){0.03, 0.15, 0.1}));
    s.bodies[0].motion = SCREE_MOTION_KEYFRAMES, s.bodies[0].keys = s.keys, s.bodies[0].key_count = 2;
    s.scene.bodies = s.bodies, s.scene.body_count = 1;
    assert_same_frames(&s.scene, 40);
    if (!method) assert_same_across(&s.scene, 12, 20);
  }
}

/* Most of a deep bed becomes ground. It begins at rest, so that the smallest of numbers count. */
static void a_bed_becomes_ground(void **state) {
  (void)state;
  Small s;
  ScreeTerrainDef ground;
  small_scene(&s, &ground, 0, "deep bed");
  s.scene.method.radius = 0.025;
  ground.exchange = true;
  ground.cell = 0.1, ground.height_at = NULL, ground.height = 0.1;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-0.25, -0.25, 0.1}, (ScreeVec3){0.25, 0.25, 0.4});
  s.grains[0].start = SCREE_START_DENSE;
  s.grains[0].velocity = (ScreeVec3){0, 0, 0};
  s.scene.boundary_count = s.scene.grains_count = 1;
  assert_same_frames(&s.scene, 45);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(grains_on_a_surface), cmocka_unit_test(bodies_press),
                                     cmocka_unit_test(exchange), cmocka_unit_test(a_bed_becomes_ground)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
